//! Sets `cfg(reference_data)` if the folder of real shaders and recorded results exists; tests that need it are ignored
//! otherwise. It is the build script of crates with such tests.

use std::env;
use std::path::{Path, PathBuf};

/// The folder is `TGSIC_SHARED`, or `shared` next to the repository. Cargo runs this again when the variable changes; a
/// folder that is created next to the repository later is only noticed after this file is touched.
pub fn main() {
    println!("cargo::rustc-check-cfg=cfg(reference_data)");
    println!("cargo::rerun-if-env-changed=TGSIC_SHARED");
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let repository = package.ancestors().find(|folder| folder.join("Cargo.lock").exists()).unwrap_or(&package);
    let folder = env::var_os("TGSIC_SHARED").map_or_else(|| repository.join("../shared"), PathBuf::from);
    let has = |part: &str| Path::new(&folder).join(part).is_dir();
    if has("corpus") && has("oracle") && has("spec") {
        println!("cargo::rustc-cfg=reference_data");
    }
}
