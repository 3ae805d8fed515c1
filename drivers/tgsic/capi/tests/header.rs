//! Compares the header with the one generated from the crate. `TGSIC_BLESS=1` writes it.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("a configuration");
    let bindings = cbindgen::Builder::new().with_crate(folder).with_config(config).generate().expect("a header");
    let mut header = Vec::new();
    bindings.write(&mut header);
    let header = without_safety_sections(&String::from_utf8(header).expect("a text"));
    let path = folder.join("include/tgsic.h");
    if std::env::var_os("TGSIC_BLESS").is_some() {
        std::fs::write(&path, header).expect("a written file");
    } else {
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == header, "include/tgsic.h is not current: run this test with TGSIC_BLESS=1");
    }
}

/// Removes the sections on safety, which are obvious in C, and the marks of Markdown.
fn without_safety_sections(header: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut in_section = false;
    for line in header.lines() {
        let is_comment = line.trim_start().starts_with("//");
        if line.trim() == "// # Safety" {
            in_section = true;
            // The empty line before the section.
            lines.pop();
        } else if !is_comment {
            in_section = false;
        }
        if !in_section {
            lines.push(line);
        }
    }
    lines.join("\n").replace('`', "") + "\n"
}
