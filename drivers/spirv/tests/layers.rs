//! Checks the layering of the driver's folders, from words to the walk over a shader: no folder imports a later one.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `src` in order: each may import from earlier ones.
const LAYERS: [&str; 4] = ["module", "plan", "lower", "emit"];

/// Files of `src` that folders may import from. They import from no folder except `module` (for classes of values).
const ROOT: [&str; 3] = ["error", "options", "stream_output"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn no_folder_imports_a_later_one() {
    let mut wrong = crate::module_paths::wrong_imports(&source(), &LAYERS, &ROOT);
    for file in ROOT {
        let path = source().join(file).with_extension("rs");
        let is_allowed = |name: &str| ROOT.contains(&name) || name == "module";
        wrong.extend(crate::module_paths::wrong_names(&source(), &path, is_allowed));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_is_in_the_list() {
    for entry in fs::read_dir(source()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            assert!(LAYERS.contains(&&*name), "{name} has no place in the order");
        } else {
            let is_known = ROOT.contains(&&*name) || matches!(&*name, "lib" | "driver" | "disassemble");
            assert!(is_known, "{name}.rs is not in the list of files");
        }
    }
}
