//! Tests `--limit`: each limit from both sides, for every language, and invalid settings.

use crate::common::{FRAG, Folder, tgsic};
use pretty_assertions::assert_eq;

const TEXT: &str = "FRAG\nPROPERTY SEPARABLE_PROGRAM 1\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0..3]\n\
                    IMM[0] FLT32 {1, 2, 3, 4}\nIF IN[0].xxxx\nCAL :5\nENDIF\nADD OUT[0], CONST[1], IMM[0]\nEND\nBGNSUB\nKILL\nENDSUB\n";

/// Checks that a shader passes with a limit of exactly its size, and fails with the expected code below that.
#[test]
fn limits_have_two_sides() {
    let tokens = tgsic(&["encode"], TEXT).success().stdout;
    for (name, takes, code) in [
        ("text-bytes", TEXT.len(), "T0100"),
        ("instructions", 8, "T0104"),
        ("declarations", 4, "T0105"),
        ("immediates", 1, "T0106"),
        ("registers", 4, "T0107"),
        ("tokens", tokens.len() / 4, "T0108"),
        ("nesting", 1, "T0309"),
    ] {
        let input = if name == "tokens" { &tokens[..] } else { TEXT.as_bytes() };
        for command in ["check", "translate", "ir", "run", "verify"] {
            let run = |value: usize| {
                let setting = format!("{name}={value}");
                tgsic(&[command, "--limit", &setting, "--error-format", "gcc"], input)
            };
            let enough = run(takes);
            assert_eq!((enough.status, enough.stderr.as_str()), (0, ""), "{command} {name}");
            let short = run(takes - 1);
            assert_eq!(short.status, 1, "{command} {name}");
            assert!(short.stderr.contains(&format!("[{code}]\n")), "{command} {name}: {}", short.stderr);
            assert!(short.stderr.starts_with("<stdin>:"), "{command} {name}: {}", short.stderr);
        }
    }
}

#[test]
fn calls_and_runs_have_two_sides() {
    let calls = "FRAG\nCAL :3\nCAL :3\nEND\nBGNSUB\nKILL\nENDSUB\n";
    let check = |text: &str, setting: &str| {
        tgsic(&["translate", "--driver-option", "no_subroutines", "--limit", setting], text).status
    };
    let calls = calls.replace("KILL\n", &"KILL\n".repeat(8));
    assert_eq!((check(&calls, "expansion=8"), check(&calls, "expansion=7")), (0, 1));
    let once = calls.replacen("CAL :3\n", "NOP\n", 1);
    assert_eq!(check(&once, "expansion=0"), 0, "a single call is not copied");
    let large = calls.replacen("KILL\n", &"KILL\n".repeat(600), 1);
    for command in ["check", "translate"] {
        assert_eq!(tgsic(&[command, "--limit=expansion=0"], &large).status, 0, "there are subroutines");
    }
    let virgl = tgsic(&["translate", "--dialect=virgl", "--limit=expansion=7"], &calls);
    let error = "without subroutines 8 instructions would be copied to inline calls; 7 is the limit";
    assert!(virgl.status == 1 && virgl.stderr.contains(error), "{}", virgl.stderr);

    let run = |setting: &str| tgsic(&["run", "--limit", setting], FRAG);
    let steps = FRAG.lines().filter(|line| !line.starts_with("DCL") && !line.starts_with("IMM")).count() - 1;
    assert_eq!(run(&format!("steps={steps}")).status, 0);
    let short = run(&format!("steps={}", steps - 1));
    assert!(short.status == 1 && short.stderr.contains("[T0625]"), "{}", short.stderr);
    let array = "FRAG\nDCL OUT[0], COLOR\nDCL TEMP[0..63]\nMOV OUT[0], TEMP[3]\nEND\n";
    let run = |setting: &str| tgsic(&["run", "--limit", setting], array);
    // 65 registers of 16 bytes for 4 lanes.
    assert_eq!(run("memory=4160").status, 0);
    let short = run("memory=4096");
    assert!(short.status == 1 && short.stderr.contains("[T0624]"), "{}", short.stderr);
    let ir = tgsic(&["ir"], array).success().stdout;
    assert_eq!(tgsic(&["run", "--limit", "memory=100000"], &ir).status, 0);
    let short = tgsic(&["run", "--limit", "memory=16"], &ir);
    assert!(short.status == 1 && short.stderr.contains("[T1402]"), "{}", short.stderr);
    let short = tgsic(&["check", "--limit=text-bytes=100"], &ir);
    assert!(short.status == 1 && short.stderr.contains("T0802"), "{}", short.stderr);
}

#[test]
fn limits_are_listed() {
    let list = tgsic(&["limits"], "").success();
    assert!(list.text().contains("nesting            1024  Blocks open at a time."), "{}", list.text());
    let set = tgsic(&["limits", "--limit", "nesting=7", "--limit", "nesting=8"], "").success();
    assert!(set.text().contains("nesting               8  "), "{}", set.text());
    assert_eq!(list.text().lines().count(), 10);
    for (wrong, why) in [
        ("nestin=3", "did you mean `nesting`?"),
        ("xyzzy=3", "`tgsic limits` lists them"),
        ("nesting", "a name, `=` and a number"),
        ("nesting=-1", "`-1` is not a 64-bit number"),
        ("nesting=18446744073709551616", "is not a 64-bit number"),
    ] {
        let output = Folder::new().run(&["check", "--limit", wrong]);
        assert!(output.status == 2 && output.stderr.contains(why), "{wrong}: {}", output.stderr);
    }
    // The largest value disables a limit, and sums of limits do not overflow.
    let all =
        ["text-bytes", "tokens", "instructions", "declarations", "immediates", "registers", "expansion", "memory"];
    let most: Vec<String> = all.iter().map(|name| format!("--limit={name}={}", u64::MAX)).collect();
    tgsic(&[&["check".to_owned()], &most[..]].concat(), TEXT).success();
    let tokens = tgsic(&["encode"], TEXT).success().stdout;
    tgsic(&[&["run".to_owned()], &most[..]].concat(), tokens);
}

/// Texts of other eras are rejected at the position where Mesa 25 stops, in every subcommand; this does not apply to
/// tokens and IR.
#[test]
fn strict_takes_what_mesa_takes() {
    let plain = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nMOV OUT[0], IN[0]\nEND\n";
    let comment = plain.replace("END", "# the end\nEND");
    let old = plain.replace("MOV OUT[0], IN[0]", "SUB OUT[0], IN[0], IN[0]");
    for command in ["check", "translate", "print", "encode", "scan", "ir", "run", "verify"] {
        assert_eq!(tgsic(&[command, "--strict"], plain).status, 0, "{command}");
        for (line, text) in [(5, &comment), (4, &old)] {
            assert_eq!(tgsic(&[command], text).status, 0, "{command}");
            let strict = tgsic(&[command, "--strict", "--error-format=gcc"], text);
            assert_eq!(strict.status, 1, "{command}");
            let error = "the parser of Mesa 25 stops here, expecting DCL, IMM, PROPERTY or a current opcode [T0060]";
            assert!(
                strict.stderr.contains(&format!("<stdin>:{line}:1: error: {error}")),
                "{command}: {}",
                strict.stderr
            );
        }
    }
    let tokens = tgsic(&["encode"], plain).success().stdout;
    tgsic(&["check", "--strict"], tokens).success();
}

#[test]
fn scan_tells_where_a_text_comes_from() {
    let text = "FRAG\nDCL OUT[0], COLOR\nDCL TEMP[0..1], LOCAL\n  0: SUB TEMP[0], TEMP[1], TEMP[1]\n  1: MOV OUT[0], TEMP[0]\n  2: END\n";
    let scan = tgsic(&["scan", "--json"], text).success();
    let object: serde_json::Value = serde_json::from_str(scan.text()).expect("an object");
    let expected = serde_json::json!({"producer": "glsl_to_tgsi", "era": "Mesa 18 or older", "virgl": false});
    assert_eq!(object["origin"], expected);
    let readable = tgsic(&["scan"], text).success();
    assert!(readable.text().contains("origin: "), "{}", readable.text());
    let tokens = tgsic(&["encode"], text).success().stdout;
    assert!(!tgsic(&["scan"], tokens).success().text().contains("origin"));
}
