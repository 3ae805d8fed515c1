//! What is shown on standard error: findings with their places, colours, the record of passes.

mod common;

use common::{FRAG, Folder, WRONG, tgsic};
use pretty_assertions::assert_eq;

/// A finding of one shader is shown with the line, a caret and a hint.
#[test]
fn findings_are_shown_in_the_source() {
    let expected = "\
error[T0402]: TEMP[7] is not declared
  ┌─ <stdin>:5:13
  │
5 │ MOV OUT[0], TEMP[7]
  │             ^^^^^^^
  │
  = hint: declare the register, or widen the range that is declared

";
    for command in ["check", "translate", "ir", "run", "verify"] {
        let output = tgsic(&[command], WRONG);
        assert_eq!((output.status, output.stderr.as_str()), (1, expected), "{command}");
    }
}

#[test]
fn all_errors_of_a_text_are_shown() {
    let text = "FRAG\nDCL OUT[0], COLOUR\nMOV OUT[0], TEMP[0\nFOO OUT[0]\nEND\n";
    let output = tgsic(&["check"], text);
    assert_eq!(output.status, 1);
    assert_eq!(output.stderr.matches("error[").count(), 3, "{}", output.stderr);
    for part in ["<stdin>:2:13", "<stdin>:3:", "<stdin>:4:1", "hint: did you mean `COLOR`?"] {
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    }
}

/// Of several shaders each finding takes a line.
#[test]
fn findings_of_many_take_a_line_each() {
    let folder = Folder::with(&[("a.tgsi", WRONG), ("b.tgsi", "FRAG\nFOO\n"), ("c.tgsi", FRAG)]);
    let output = folder.run(&["check", "a.tgsi", "b.tgsi", "c.tgsi"]);
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", output.stderr);
    assert!(lines[0].starts_with("a.tgsi:5:13: error: TEMP[7] is not declared ("), "{}", lines[0]);
    assert!(lines[1].starts_with("b.tgsi:2:1: error: "), "{}", lines[1]);
}

#[test]
fn findings_of_tokens_name_the_word() {
    let tokens = |text: &str| tgsic(&["encode"], text).stdout;
    let output = tgsic(&["check"], tokens(WRONG));
    assert_eq!(output.status, 1);
    assert!(output.stderr.starts_with("<stdin>: error: word 7: TEMP[7] is not declared ("), "{}", output.stderr);
    let whole = tokens(FRAG);
    let output = tgsic(&["check"], &whole[..whole.len() - 4]);
    assert_eq!(output.status, 1);
    assert!(output.stderr.starts_with("<stdin>: error: word "), "{}", output.stderr);
    let output = tgsic(&["check"], &whole[..whole.len() - 1]);
    assert!(output.stderr.starts_with("<stdin>: error: byte "), "{}", output.stderr);
    // A stage that there are no shaders of.
    let mut task = tokens("FRAG\nEND\n");
    task[4] = 6;
    for command in ["check", "translate"] {
        let output = tgsic(&[command], &task);
        assert_eq!(output.status, 1);
        assert!(
            output.stderr.starts_with("<stdin>: error: word 1: TGSI cannot express TASK shaders"),
            "{}",
            output.stderr
        );
    }
}

/// What cannot be shown with a caret (endless lines) is shown in a line; bytes that are no text do no harm.
#[test]
fn odd_texts_are_shown() {
    let long = format!("FRAG\nMOV {}\n", "x".repeat(10_000));
    let output = tgsic(&["check"], &long);
    assert_eq!(output.status, 1);
    assert!(output.stderr.starts_with("<stdin>:2:"), "{}", &output.stderr[..200]);
    for text in [
        &b"FRAG\nMOV \xff\xfe\0 OUT[0]\nEND\n"[..],
        b"FRAG\r\nFOO\r\n",
        b"\xef\xbb\xbfFRAG\nFOO\n",
        "FRAG\nMOVÄ\n".as_bytes(),
    ] {
        let output = tgsic(&["check"], text);
        assert_eq!(output.status, 1);
        assert!(output.stderr.contains("<stdin>:2:"), "{}", output.stderr);
    }
}

#[test]
fn inputs_that_are_no_shaders() {
    for input in [
        &b""[..],
        b"\n\n",
        b"hello",
        b"\0",
        b"\x02\0\0\0",
        &[0xff; 64],
        b"{\"a\": 1}",
        b"#version 330\nvoid main() {}\n",
    ] {
        for command in ["print", "encode", "check", "scan", "run", "ir", "translate", "verify"] {
            let output = tgsic(&[command], input);
            assert_eq!(output.status, 1, "{command} {input:?}");
            assert!(output.stderr.contains("error") && !output.stderr.contains("panicked"), "{}", output.stderr);
        }
    }
}

#[test]
fn colours_come_when_wanted() {
    let colours = |arguments: &[&str]| tgsic(arguments, WRONG).stderr.contains("\u{1b}[");
    assert!(!colours(&["check"]), "not into a pipe");
    assert!(!colours(&["check", "--color", "auto"]));
    assert!(!colours(&["check", "--color", "never"]));
    assert!(colours(&["check", "--color", "always"]));
    assert!(colours(&["--color", "always", "check"]), "before the subcommand as well");
}

#[test]
fn verbose_shows_passes() {
    let quiet = tgsic(&["translate"], FRAG).well();
    let verbose = tgsic(&["translate", "-v"], FRAG);
    assert_eq!((verbose.status, &verbose.stdout), (0, &quiet.stdout));
    let lines: Vec<&str> = verbose.stderr.lines().collect();
    assert!(
        !lines.is_empty() && lines.iter().all(|l| l.contains("changed") && l.contains(" instructions, ")),
        "{lines:#?}"
    );
    let more = tgsic(&["translate", "-vv"], FRAG);
    assert!(more.stderr.contains("no change") && more.stderr.lines().count() > lines.len(), "{}", more.stderr);
    // The variable goes before the flag.
    let with_variable = |filter: &str, arguments: &[&str]| {
        let folder = Folder::new();
        let mut command = folder.command(arguments);
        command.env("TGSIC_LOG", filter);
        common::run(command, FRAG.as_bytes()).stderr
    };
    assert_eq!(with_variable("debug", &["translate"]).lines().count(), lines.len());
    assert_eq!(with_variable("off", &["translate", "-vv"]), "");
    assert!(with_variable("tgsi_ir::passes=trace", &["translate"]).contains("no change"));
}
