//! Shaders of piglit that must compile: all must parse without an error.
//!
//! `TGSIC_PIGLIT` names the folder with the folders `tests` and `generated_tests`; `TGSIC_PIGLIT_LIST`, if set, a file
//! to which all rejected shaders are written, then the names of those that must not compile and have no error yet.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::{messages, parse_with};
use crate::options::GlslOptions;
use crate::version::{Profile, Version};

/// The stages of parser tests, by file extension.
const STAGES: [&str; 6] = ["vert", "tesc", "tese", "geom", "frag", "comp"];

#[test]
#[ignore = "needs piglit"]
fn accepted_shaders_parse() {
    let root = std::env::var_os("TGSIC_PIGLIT").expect("TGSIC_PIGLIT names a folder");
    let mut files = Vec::new();
    for folder in ["tests", "generated_tests"] {
        collect(&Path::new(&root).join(folder), &mut files);
    }
    files.sort();
    let (mut accepted, mut clean, mut parsed, mut rejected, mut refused) = (0, 0, 0, 0, 0);
    let (mut list, mut silent) = (String::new(), String::new());
    for file in &files {
        let text = String::from_utf8_lossy(&std::fs::read(file).expect("a readable file")).into_owned();
        let Some((is_accepted, version)) = config(&text) else { continue };
        let options = GlslOptions { default_version: version, ..GlslOptions::default() };
        let result = parse_with(&text, &options);
        let error = result.findings.iter().find(|finding| finding.is_error());
        if !is_accepted {
            rejected += 1;
            refused += usize::from(error.is_some());
            if error.is_none() {
                let _ = writeln!(silent, "none {} {version}", file.display());
            }
            continue;
        }
        accepted += 1;
        clean += usize::from(error.is_none());
        match result.findings.iter().find(|finding| finding.is_error() && finding.code.id.starts_with("G02")) {
            None => parsed += 1,
            Some(_) => {
                let _ = writeln!(
                    list,
                    "{} {version}\n    {}",
                    file.display(),
                    messages(&text, &result.findings).join("\n    ")
                );
            }
        }
    }
    println!(
        "{parsed} of {accepted} accepted shaders parse, {clean} without any error; \
         {refused} of {rejected} others have an error already"
    );
    if let Some(path) = std::env::var_os("TGSIC_PIGLIT_LIST") {
        std::fs::write(path, format!("{list}{silent}")).expect("a writable file");
    }
    assert!(accepted > 0 && parsed * 100 >= accepted * 99, "{list}");
}

/// Collects the files of parser tests below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| STAGES.iter().any(|stage| extension == *stage)) {
            files.push(path);
        }
    }
}

/// Whether a shader must compile, and its version, from the comment with its configuration.
fn config(text: &str) -> Option<(bool, Version)> {
    let value = |key: &str| {
        let line = text.lines().take_while(|line| !line.contains("[end config]")).find(|line| line.contains(key))?;
        Some(line.split_once(key)?.1.trim())
    };
    let is_accepted = value("expect_result:")?.starts_with("pass");
    let mut words = value("glsl_version:")?.split_whitespace();
    let number: u16 = words.next()?.replace('.', "").parse().ok()?;
    let profile = match words.next() {
        Some("es") => Profile::Es,
        Some("compatibility") => Profile::Compatibility,
        _ if number == 100 || number == 300 && !text.contains("#version 300 core") => Profile::Es,
        _ if number >= 150 => Profile::Core,
        _ => Profile::Compatibility,
    };
    Some((is_accepted, Version { number, profile }))
}
