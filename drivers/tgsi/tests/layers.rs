//! The folders of the driver are layered, from the target to the finished shader: no folder imports from a later one.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `src` in order: each may import from those before it.
const LAYERS: [&str; 6] = ["consumers", "lower", "machine", "select", "passes", "emit"];

/// The items of `error.rs`, which depends on no folder.
const ROOT: [&str; 2] = ["DriverError", "Located"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn no_folder_imports_a_later_one() {
    let wrong = crate::module_paths::wrong_imports(&source(), &LAYERS, &ROOT);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_is_in_the_list() {
    for entry in fs::read_dir(source()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            assert!(LAYERS.contains(&&*name), "{name} has no place in the order");
        } else {
            assert!(matches!(&*name, "lib.rs" | "driver.rs" | "error.rs" | "pipeline.rs"), "files belong in folders");
        }
    }
}
