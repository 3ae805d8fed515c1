//! Piglit's tests of `GL_ARB_gl_spirv`: files with SPIR-V text, played with each executor.

use std::path::Path;
use std::process::{Command, Stdio};

use rayon::prelude::*;

use crate::common::{Folder, files_below};
use pretty_assertions::assert_eq;

/// The tests of Debian's package.
const TESTS: &str = "/usr/lib/x86_64-linux-gnu/piglit/tests/spec/arb_gl_spirv";

/// Tests that compare results, and tests that only link.
const COUNTS: (usize, usize) = (84, 2);

#[test]
fn spirv_tests_of_piglit_pass() {
    let has_assembler = Command::new("spirv-as").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !has_assembler || !Path::new(TESTS).is_dir() {
        println!("skipped: there is no spirv-as, or no piglit");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped");
        return;
    }
    let folder = Folder::new();
    let files = files_below(Path::new(TESTS), "shader_test");
    for via in ["driver:tgsi", "driver:cpu"] {
        let play = |(number, path): (usize, &std::path::PathBuf)| {
            let (path, picture) =
                (path.to_string_lossy().into_owned(), format!("{via}-{number}.png").replace(':', "-"));
            let output = folder.run(&["draw", &path, "--via", via, "-o", &picture]);
            (path, output.status, output.stderr)
        };
        let results: Vec<(String, i32, String)> = files.par_iter().enumerate().map(play).collect();
        let failed: Vec<_> = results.iter().filter(|(_, status, _)| *status != 0).collect();
        // A property that no reflection has would be a note.
        let noted: Vec<_> = results.iter().filter(|(_, status, text)| *status == 0 && !text.is_empty()).collect();
        assert!(failed.is_empty() && noted.is_empty(), "{via}: {failed:#?} {noted:#?}");
        let count = |part: &str| files.iter().filter(|path| path.to_string_lossy().contains(part)).count();
        assert_eq!((count("/execution/"), count("/linker/")), COUNTS);
    }
}
