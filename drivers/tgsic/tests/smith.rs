//! Tests `smith` and `reduce`: generating shaders, checking the translation with them, and reducing shaders.

use crate::common::Folder;
use pretty_assertions::assert_eq;

#[test]
fn shaders_are_valid_and_the_same_for_a_seed() {
    let folder = Folder::new();
    folder.run(&["smith", "--seed", "5", "--count", "20", "--out-dir", "made"]).success();
    let names = folder.list("made");
    assert_eq!(names.len(), 20);
    let paths: Vec<String> = names.iter().map(|name| format!("made/{name}")).collect();
    let arguments: Vec<&str> = ["check", "--quiet"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    folder.run(&arguments).success();
    let arguments: Vec<&str> = ["verify", "--exact"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    folder.run(&arguments).success();
    let one = folder.run(&["smith", "--seed", "7"]).success();
    assert_eq!(one.stdout, folder.read("made/7.tgsi"));
}

#[test]
fn stages_and_features_are_chosen() {
    let folder = Folder::new();
    for (stage, word) in [("vert", "VERT"), ("COMP", "COMP"), ("tess_eval", "TESS_EVAL")] {
        let text = folder.run(&["smith", "--seed", "3", "--stage", stage]).success();
        assert!(text.text().starts_with(&format!("{word}\n")), "{}", text.text());
    }
    let text = folder.run(&["smith", "--count", "40", "--features", "wide,textures"]).success();
    assert!(!["BGNLOOP", "CAL", "ARRAY(", "ATOM"].iter().any(|word| text.text().contains(word)));
    // Targets that lack features.
    let text = folder.run(&["smith", "--count", "40", "--target", "r300"]).success();
    assert!(text.text().contains("ARL") && text.text().contains("TEX"), "{}", text.text());
    assert!(!["UINT32", "INT32", "UARL", "I2F", "F2I", "UIF", "GEOM"].iter().any(|word| text.text().contains(word)));
    assert_eq!(folder.run(&["smith", "--stage", "COMP", "--target", "r300"]).status, 2);
}

#[test]
fn every_stage_computes_the_same() {
    let folder = Folder::new();
    let output = folder.run(&["smith", "--verify", "--count", "300", "--opcodes", "--out-dir", "failed"]);
    assert!(output.text().contains(": 0 failed\n") && output.text().contains("MOV "), "{}", output.text());
    output.success();
    let output =
        folder.run(&["smith", "--verify", "--count", "60", "--dialect", "virgl", "--features", "flow,indirect"]);
    assert!(output.text().contains(": 0 failed\n"), "{}", output.text());
    // Targets without integers, for which code has fewer instructions.
    for target in ["nv30", "nv40", "i915", "r300", "r500", "vgpu9"] {
        let output = folder.run(&["smith", "--verify", "--count", "300", "--target", target]);
        assert!(output.text().contains(": 0 failed\n"), "{target}: {}", output.text());
    }
    // Phis of a loop that are equal only after values in the loop are.
    let output = folder.run(&["smith", "--verify", "--seed", "60073925"]);
    assert!(output.text().contains(": 0 failed\n"), "{}", output.text());
}

#[test]
fn given_shaders_are_changed() {
    let folder = Folder::new();
    folder.run(&["smith", "--seed", "1", "--count", "4", "--out-dir", "."]).success();
    let base = ["smith", "--verify", "--count", "60", "--mutate", "1.tgsi", "2.tgsi", "3.tgsi", "4.tgsi"];
    let output = folder.run(&base);
    assert!(output.text().contains(": 0 failed\n"), "{}", output.text());
    let output = folder.run(&[&base[..], &["--spoil"]].concat());
    assert!(output.text().contains(": 0 failed\n"), "{}", output.text());
}

#[test]
fn a_command_says_what_is_interesting() {
    let folder = Folder::new();
    let text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\nMOV TEMP[0], IN[0]\nIF IN[0].xxxx\n\
        SIN TEMP[0].x, IN[0].yyyy\nENDIF\nMOV OUT[0], TEMP[0]\nEND\n";
    folder.write("a.tgsi", text.as_bytes());
    let output = folder.run(&["reduce", "a.tgsi", "--while", "grep -q SIN", "-o", "b.tgsi"]);
    assert_eq!((output.status, &output.stderr[..]), (0, "2 instructions of 6 are left\n"));
    let reduced = String::from_utf8(folder.read("b.tgsi")).expect("text");
    assert!(reduced.contains("0: SIN TEMP[0].") && reduced.contains("1: END"), "{reduced}");
    // A shader without the property cannot be reduced.
    assert_eq!(folder.run(&["reduce", "a.tgsi", "--while", "grep -q COS"]).status, 2);
    assert_eq!(folder.run(&["reduce", "a.tgsi", "--verify"]).status, 2);
    assert_eq!(folder.run(&["reduce", "a.tgsi"]).status, 2);
}

#[test]
fn ir_text_is_reduced_while_it_is_valid() {
    let folder = Folder::new();
    let text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\nMOV TEMP[0], IN[0]\nIF IN[0].xxxx\n\
        SIN TEMP[0].x, IN[0].yyyy\nENDIF\nMOV OUT[0], TEMP[0]\nEND\n";
    folder.write("a.tgsi", text.as_bytes());
    let ir = folder.run(&["ir", "--stage", "parsed", "a.tgsi"]).success();
    folder.write("a.ir", ir.text().as_bytes());
    let output = folder.run(&["reduce", "a.ir", "--while", "grep -q fsin", "-o", "b.ir"]);
    assert_eq!(output.status, 0);
    assert!(
        output.stderr.ends_with(&format!(" lines of {} are left\n", ir.text().lines().count())),
        "{}",
        output.stderr
    );
    let reduced = String::from_utf8(folder.read("b.ir")).expect("text");
    assert!(reduced.contains("fsin") && !reduced.contains("if ") && !reduced.contains("store"), "{reduced}");
    assert_eq!(folder.run(&["check", "b.ir"]).status, 0);
    // The translation has no defect.
    assert_eq!(folder.run(&["reduce", "a.ir", "--verify"]).status, 2);
}
