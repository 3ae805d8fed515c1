//! Tests object files of the CPU driver: object and header are written together or not at all.

#![cfg(unix)]

use crate::common::{FRAG, Folder, WRONG, tgsic};
use pretty_assertions::assert_eq;

const OBJECT: [&str; 3] = ["translate", "--driver", "cpu"];

fn translate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    OBJECT.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn a_header_stands_beside_an_object() {
    let folder = Folder::with(&[("a.tgsi", FRAG)]);
    folder.run(&translate(&["a.tgsi", "-o", "b.o"])).success();
    assert_eq!(folder.list("."), ["a.tgsi", "b.h", "b.o"]);
    assert!(folder.read("b.o").starts_with(b"\x7fELF") || !cfg!(target_os = "linux"));
    let header = String::from_utf8(folder.read("b.h")).expect("UTF-8");
    assert!(header.contains("extern const tgsic_object tgsic_fragment_shader;"), "{header}");

    folder.run(&translate(&["a.tgsi", "--out-dir", "out", "--driver-option", "symbol=colour"])).success();
    assert_eq!(folder.list("out"), ["a.h", "a.o"]);
    assert!(String::from_utf8_lossy(&folder.read("out/a.h")).contains("&colour"));

    // Only the object is written to standard output.
    let output = folder.run(&translate(&["a.tgsi"])).success();
    assert_eq!(output.stdout, folder.read("b.o"));
}

#[test]
fn nothing_is_half_written() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("wrong.tgsi", WRONG), ("old.o", "as it was"), ("old.h/x", "")]);
    let before = folder.list(".");
    assert_eq!(folder.run(&translate(&["wrong.tgsi", "-o", "b.o"])).status, 1);
    // A folder has the name of the header.
    let output = folder.run(&translate(&["a.tgsi", "-o", "old.o"]));
    assert_eq!(output.status, 2);
    assert!(output.stderr.contains("cannot write old.h"), "{}", output.stderr);
    assert_eq!(folder.read("old.o"), b"as it was");
    let output = folder.run(&translate(&["a.tgsi", "-o", "b.h"]));
    assert_eq!(output.status, 2);
    assert!(output.stderr.contains("the extension `h`"), "{}", output.stderr);
    // No header is written beside something that is not a file.
    folder.run(&translate(&["a.tgsi", "-o", "/dev/null"])).success();
    assert!(!std::path::Path::new("/dev/null.h").exists());
    assert_eq!(folder.list("."), before);
}

#[test]
fn options_make_text() {
    for (options, extension, part) in [
        (&["--driver-option", "ir"][..], "ir", "shader: MESA_SHADER_FRAGMENT"),
        (&["--driver-option", "code"], "clif", "function u0:"),
        (&["--assembly"], "asm", "; operations "),
        (&["--driver-option", "code", "--assembly"], "asm", "; operations "),
    ] {
        let arguments = translate(options);
        let output = tgsic(&arguments, FRAG).success();
        assert!(output.text().contains(part), "{options:?}: {}", output.text());
        let folder = Folder::with(&[("a.tgsi", FRAG)]);
        folder.run(&[&arguments[..], &["a.tgsi", "--out-dir", "out"]].concat()).success();
        assert_eq!(folder.list("out"), [format!("a.{extension}")]);
    }
    for (option, message) in [
        ("symbol=a-b", "not an identifier of C"),
        ("symbol=a,b", "not an identifier of C"),
        ("target_triple=nonsense", "nonsense"),
        ("interpret=1", "no driver option `interpret=1`"),
        ("no_such=1", "no_such"),
    ] {
        let output = tgsic(&translate(&["--driver-option", option]), FRAG);
        assert_eq!(output.status, 2, "{option}");
        assert!(output.stderr.contains(message), "{option}: {}", output.stderr);
    }
}

/// Checks and runs use the same shader without an object.
#[test]
fn what_is_run_is_no_object() {
    for arguments in [
        &["run", "--via", "driver:cpu", "--driver", "cpu"][..],
        &["run", "--via", "driver:cpu"],
        &["verify", "--driver", "cpu", "--driver-option", "symbol=x"],
        &["verify", "--driver", "cpu", "--driver-option", "code"],
    ] {
        tgsic(arguments, FRAG).success();
    }
    let sizes = |options: &[&str]| {
        let output = tgsic(&translate(&[&["--json"], options].concat()), FRAG).success();
        let line: serde_json::Value = serde_json::from_str(output.text()).expect("a line of JSON");
        ["instructions_after", "temporaries_after", "immediates_after"].map(|key| line[key].clone())
    };
    assert_eq!(sizes(&[]), sizes(&["--driver-option", "ir"]));
}

#[test]
fn linked_shaders_are_objects_too() {
    let vertex =
        "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nMOV OUT[0], IN[0]\nMOV OUT[1], IN[0]\nEND\n";
    let fragment = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nMOV OUT[0], IN[0]\nEND\n";
    let folder = Folder::with(&[("v.tgsi", vertex), ("f.tgsi", fragment)]);
    folder.run(&["link", "--driver", "cpu", "-o", "out", "v.tgsi", "f.tgsi"]).success();
    assert_eq!(folder.list("out"), ["f.h", "f.o", "v.h", "v.o"]);
    let output = folder.run(&["link", "--driver", "cpu", "v.tgsi", "f.tgsi"]).success();
    assert_eq!(output.text().matches("; operations ").count(), 2);
}
