//! Languages of inputs: detection, options of front ends, places of errors; manual pages and completions.

use crate::common::{Folder, tgsic};

const IR: &str = "shader: MESA_SHADER_VERTEX
decl_function main () (entrypoint)

impl main {
    block b0:
    32  %1 = load_const (0x00000001)
    32  %2 = @load_subgroup_size
    32  %3 = msad_4x8 %1, %2, %1
             @store_output (%3, %1) (base=0, range=1, wrmask=x, component=0, src_type=uint32, io location=VARYING_SLOT_POS slots=1)
    block b1:
}
";

#[test]
fn errors_of_drivers_point_into_ir_text() {
    for (driver, code) in [("tgsi", "T0702"), ("spirv", "T2002")] {
        let output = tgsic(&["translate", "--driver", driver, "--error-format", "gcc"], IR);
        assert_eq!(output.status, 1, "{}", output.stderr);
        assert!(output.stderr.starts_with("<stdin>:8:5: error: "), "{}", output.stderr);
        assert!(output.stderr.contains(code), "{}", output.stderr);
    }
}

#[test]
fn a_language_can_be_forced() {
    let output = tgsic(&["check", "--language", "ir"], "FRAG\nEND\n");
    assert_eq!(output.status, 1);
    assert!(output.stderr.contains("the text does not begin with `shader:`"), "{}", output.stderr);
}

#[test]
fn options_of_front_ends_are_known() {
    let removed = "FRAG\nDCL OUT[0], COLOR\nDCL IN[0], GENERIC[0], PERSPECTIVE\nABS OUT[0], IN[0]\nEND\n";
    assert_eq!(tgsic(&["check"], removed).status, 0);
    for arguments in [&["check", "--strict"][..], &["check", "--front-end-option", "strict"]] {
        let output = tgsic(arguments, removed);
        assert_eq!(output.status, 1, "{arguments:?}");
        assert!(output.stderr.contains("the parser of Mesa 25"), "{}", output.stderr);
    }
    let output = tgsic(&["check", "--front-end-option", "bogus"], removed);
    assert_eq!(output.status, 2);
    assert!(output.stderr.contains("no front end has an option `bogus`"), "{}", output.stderr);
}

#[test]
fn languages_are_listed() {
    let output = tgsic(&["languages"], "");
    let text = output.text();
    for front_end in tgsi_registry::front_ends() {
        assert!(text.lines().any(|line| line.starts_with(front_end.name())), "{}:\n{text}", front_end.name());
    }
}

#[test]
fn manual_pages_and_completions_name_every_command() {
    let output = tgsic(&["man"], "");
    assert!(output.text().contains(".TH tgsic 1"), "{}", output.text());
    let folder = Folder::new();
    let output = folder.run(&["man", "--out-dir", "pages"]);
    assert_eq!(output.status, 0, "{}", output.stderr);
    for command in ["translate", "verify", "proxy", "completions"] {
        assert!(folder.path(&format!("pages/tgsic-{command}.1")).exists(), "{command}");
        for shell in ["bash", "zsh", "fish"] {
            let output = tgsic(&["completions", shell], "");
            assert!(output.text().contains(command), "{command} {shell}");
        }
    }
}
