//! The library for tests: built by cargo together with them, and installed in a folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::Failed;

/// Returns the folder of the package.
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the static library that cargo built with this test: the newest one beside it.
pub fn static_library() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    let entries = std::fs::read_dir(test.parent().expect("a folder")).expect("a readable folder");
    let libraries = entries.flatten().map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libtgsi_capi-") && name.ends_with(".a")
    });
    let modified = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
    libraries.max_by_key(modified).expect("cargo builds the static library with the tests")
}

/// Runs a command that must succeed.
pub fn run(command: &mut Command) -> Result<Output, Failed> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(output);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Err(format!("{command:?}: {}\n{}{}", output.status, text(&output.stdout), text(&output.stderr)).into())
}

/// Installs the library below a folder, with the prefix `/usr`.
pub fn install(root: &Path) -> Result<(), Failed> {
    let mut install = Command::new(folder().join("install"));
    install.args(["--prefix", "/usr", "--libdir", "lib", "--destdir"]).arg(root);
    run(install.env("TGSIC_STATIC_LIBRARY", static_library()))?;
    Ok(())
}
