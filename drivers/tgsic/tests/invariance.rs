//! Tests that the same expression has the same bits in two programs: a position must not depend on other results of the
//! program.

use crate::common::{Folder, files_below, shared};
use pretty_assertions::assert_eq;

/// A position as the sum of four columns, with another output that reads a part of it.
const COLUMNS: &str = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nDCL CONST[0][0..3]\nDCL TEMP[0..3]\n\
    MUL TEMP[0], CONST[0][1], IN[0].yyyy\nMUL TEMP[1], CONST[0][0], IN[0].xxxx\nADD TEMP[0], TEMP[0], TEMP[1]\n\
    MUL TEMP[2], CONST[0][2], IN[0].zzzz\nADD TEMP[3], TEMP[0], TEMP[2]\nADD OUT[0], TEMP[3], CONST[0][3]\n\
    MOV OUT[1], IN[0]\nEND\n";

/// The same with opcodes that some consumers round differently.
const COMPOUND: &str = "VERT\nDCL IN[0]\nDCL IN[1]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nDCL CONST[0][0..3]\nDCL TEMP[0..3]\n\
    IMM[0] FLT32 { 1.0, 0.5, 2.0, 0.0 }\n\
    MUL TEMP[0], CONST[0][1], IN[0].yyyy\nMAD TEMP[1], CONST[0][0], IN[0].xxxx, TEMP[0]\nLRP TEMP[2], IN[1].xxxx, TEMP[1], CONST[0][2]\n\
    DP3 TEMP[3].x, TEMP[2], IN[1]\nADD TEMP[0], TEMP[2], -CONST[0][3]\nMAD OUT[0], TEMP[0], TEMP[3].xxxx, TEMP[1]\n\
    MUL TEMP[0], IN[1], IMM[0].zzzz\nADD OUT[1], TEMP[0], IN[0]\nEND\n";

#[test]
fn positions_do_not_depend_on_who_reads_their_parts() {
    let folder = Folder::new();
    folder.write("columns.tgsi", COLUMNS.as_bytes());
    folder.write("compound.tgsi", COMPOUND.as_bytes());
    let verify = ["verify", "--invariance=64", "columns.tgsi", "compound.tgsi"];
    for options in [&["-O0"][..], &["-O1"], &["-O2"], &["--dialect", "virgl"], &["--driver-option", "no_mad"]] {
        let output = folder.run(&[&verify, options].concat()).success();
        assert_eq!(output.text(), "2 shaders: 2 equal in all variants, 0 different, 0 errors\n", "{options:?}");
    }
    // The comparison finds differences where rounding is free.
    let output = folder.run(&[&verify[..], &["--fast"]].concat());
    assert_eq!(output.status, 1);
    assert!(output.text().contains("2 shaders: 0 equal in all variants, 2 different, 0 errors\n"), "{}", output.text());
}

#[test]
fn hosts_get_the_bits_of_the_source() {
    let folder = Folder::new();
    let text = COMPOUND.replace(
        "VERT\nDCL IN[0]\nDCL IN[1]",
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL IN[1], GENERIC[1], PERSPECTIVE",
    );
    let text = text.replace("OUT[0], POSITION", "OUT[0], COLOR").replace("OUT[1], GENERIC[0]", "OUT[1], COLOR[1]");
    folder.write("frag.tgsi", text.as_bytes());
    for options in [&["--dialect", "virgl"][..], &["--driver-option", "keep_rounding"]] {
        let output = folder.run(&[&["verify", "--exact", "frag.tgsi"], options].concat()).success();
        assert_eq!(output.text(), "1 shaders: 1 equal at every stage, 0 different, 0 errors\n", "{options:?}");
    }
    let mads = |options: &[&str]| {
        let output = folder.run(&[&["translate", "frag.tgsi"], options].concat()).success();
        output.text().matches("MAD ").count()
    };
    assert_eq!(mads(&["--dialect", "virgl"]), 2);
    assert_eq!(mads(&["--dialect", "virgl", "--fast"]), 3, "a product and a sum");
}

/// Tests real shaders, every fourth or with `TGSIC_LONG` all, at every level and for both dialects.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn real_shaders_have_the_same_bits_in_all_variants() {
    let root = shared();
    let folder = Folder::new();
    let files = files_below(&root.join("corpus"), "tgsi");
    assert!(files.len() > 1000, "{}", files.len());
    let every = if std::env::var_os("TGSIC_LONG").is_some() { 1 } else { 4 };
    let files: Vec<&str> = files.iter().filter_map(|path| path.to_str()).step_by(every).collect();
    let runs = [
        (&["--invariance=8"][..], ""),
        (&["--invariance=2", "-O0"], ""),
        (&["--invariance=2", "-O1"], ""),
        (&["--invariance=4", "--dialect", "virgl"], "is not part of the dialect"),
    ];
    for (options, allowed) in runs {
        let output = folder.run(&[&["verify"], options, &files].concat());
        assert!(output.text().contains(" 0 different"), "{options:?}: {}", output.text());
        let equal = output.text().split(" shaders: ").nth(1).and_then(|rest| rest.split(' ').next());
        assert!(
            equal.and_then(|count| count.parse().ok()).is_some_and(|count: usize| count > 700 / every),
            "{options:?}"
        );
        let unexpected = |line: &&str| !line.contains(" shaders: ") && (allowed.is_empty() || !line.contains(allowed));
        assert_eq!(output.text().lines().find(unexpected), None, "{options:?}");
    }
}
