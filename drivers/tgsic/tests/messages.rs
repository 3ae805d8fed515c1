//! Tests output on standard error: findings with their positions, colours, the record of passes.

use crate::common::{FRAG, Folder, WRONG, tgsic};
use pretty_assertions::assert_eq;

/// A finding in a single shader is shown with the line, a caret and a hint.
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

/// With several shaders, each finding takes a line.
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
    // A stage without TGSI shaders.
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

/// Findings that cannot be shown with a caret (in very long lines) take one line; bytes that are not text are harmless.
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
        b"#version 330\nvoid main() {\n",
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
    let quiet = tgsic(&["translate"], FRAG).success();
    let verbose = tgsic(&["translate", "-v"], FRAG);
    assert_eq!((verbose.status, &verbose.stdout), (0, &quiet.stdout));
    let lines: Vec<&str> = verbose.stderr.lines().collect();
    assert!(
        !lines.is_empty() && lines.iter().all(|l| l.contains("changed") && l.contains(" instructions, ")),
        "{lines:#?}"
    );
    let more = tgsic(&["translate", "-vv"], FRAG);
    assert!(more.stderr.contains("no change") && more.stderr.lines().count() > lines.len(), "{}", more.stderr);
    // The variable takes precedence over the flag.
    let with_variable = |filter: &str, arguments: &[&str]| {
        let folder = Folder::new();
        let mut command = folder.command(arguments);
        command.env("TGSIC_LOG", filter);
        crate::common::run(command, FRAG.as_bytes()).stderr
    };
    assert_eq!(with_variable("debug", &["translate"]).lines().count(), lines.len());
    assert_eq!(with_variable("off", &["translate", "-vv"]), "");
    assert!(with_variable("tgsi_ir::passes=trace", &["translate"]).contains("no change"));
}

/// A shader with an error that has a note and a warning.
const NOTED: &str = "FRAG\nDCL OUT[0], COLOR\nDCL TEMP[0..1]\nMOV OUT[0], TEMP[2]\nEND\n";

/// The note about a conflict is shown with its line.
#[test]
fn notes_are_shown_in_the_source() {
    let expected = "\
error[T0402]: TEMP[2] is not declared
  ┌─ <stdin>:4:13
  │
3 │ DCL TEMP[0..1]
  │     ---------- these registers are declared
4 │ MOV OUT[0], TEMP[2]
  │             ^^^^^^^
  │
  = hint: declare the register, or widen the range that is declared

";
    let output = tgsic(&["check", "-q"], NOTED);
    assert_eq!((output.status, output.stderr.as_str()), (1, expected));
}

/// Parser and check report in one run, and each reports only its own findings.
#[test]
fn errors_of_parser_and_check_come_together() {
    let text = "FRAG\nDCL OUT[0], COLOR\nMOOV OUT[0], OUT[0]\nMOV OUT[0], TEMP[2]\nELSE\nEND\n";
    for command in ["check", "translate", "run", "verify"] {
        let output = tgsic(&[command, "--error-format", "gcc"], text);
        assert_eq!(output.status, 1);
        assert_eq!(
            output.stderr,
            "<stdin>:3:1: error: unknown opcode `MOOV` (did you mean `MOV`?) [T0003]\n\
             <stdin>:4:13: error: TEMP[2] is not declared (declare the register, or widen the range that is declared) [T0402]\n\
             <stdin>:5:1: error: ELSE without IF (each kind of block has its own closing and dividing instructions) [T0301]\n",
            "{command}"
        );
    }
}

#[test]
fn forms_of_findings() {
    let gcc = tgsic(&["check", "--error-format=gcc"], NOTED);
    assert_eq!(
        gcc.stderr.lines().collect::<Vec<_>>(),
        [
            "<stdin>:4:13: error: TEMP[2] is not declared (declare the register, or widen the range that is declared) [T0402]",
            "<stdin>:3:5: note: these registers are declared",
            "<stdin>:3:5: warning: TEMP[0..1] is never used (drop the declaration) [T0500]",
        ]
    );
    let json = tgsic(&["--error-format", "json", "check"], NOTED);
    let objects: Vec<serde_json::Value> =
        json.stderr.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(objects.len(), 2);
    assert_eq!(
        objects[0],
        serde_json::json!({
            "file": "<stdin>", "severity": "error", "code": "T0402", "name": "undeclared-register",
            "message": "TEMP[2] is not declared",
            "hint": "declare the register, or widen the range that is declared",
            "line": 4, "column": 13, "end_line": 4, "end_column": 20, "byte": 50,
            "notes": [{
                "message": "these registers are declared",
                "line": 3, "column": 5, "end_line": 3, "end_column": 15, "byte": 27,
            }],
        })
    );
    // The format also applies to several shaders, with the source on request.
    let folder = Folder::with(&[("a.tgsi", NOTED), ("b.tgsi", WRONG)]);
    let human = folder.run(&["check", "--error-format", "human", "a.tgsi", "b.tgsi"]);
    assert!(human.stderr.contains("┌─ a.tgsi:4:13") && human.stderr.contains("┌─ b.tgsi:5:13"), "{}", human.stderr);
    // Tokens have words in place of lines; errors about a file have no position.
    let tokens = tgsic(&["encode"], NOTED).stdout;
    let json = tgsic(&["check", "-q", "--error-format", "json"], &tokens);
    let object: serde_json::Value = serde_json::from_str(json.stderr.trim()).expect("an object");
    assert_eq!((&object["word"], &object["line"]), (&9.into(), &serde_json::Value::Null), "{object}");
    let json = folder.run(&["check", "--error-format", "json", "none.tgsi"]);
    let object: serde_json::Value = serde_json::from_str(json.stderr.trim()).expect("an object");
    assert_eq!((json.status, &object["code"], &object["file"]), (2, &"T0810".into(), &"none.tgsi".into()));
}

#[test]
fn warnings_become_what_is_asked_for() {
    let text = "FRAG\nDCL OUT[0], COLOR\nDCL TEMP[0]\nIMM[0] FLT32 {1}\nMOV OUT[0], TEMP[0]\nEND\n";
    let severities = |arguments: &[&str]| {
        let arguments = [&["check", "--error-format=json"], arguments].concat();
        let output = tgsic(&arguments, text);
        let objects = output.stderr.lines().map(|line| serde_json::from_str(line).expect("an object"));
        let shown: Vec<String> = objects
            .map(|object: serde_json::Value| {
                let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
                format!("{} {}", text("severity"), text("code"))
            })
            .collect();
        (output.status, shown)
    };
    let shown = |list: &[&str]| list.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let (unused, short, zero) = ("warning T0500", "warning T0525", "warning T0501");
    assert_eq!(severities(&[]), (0, shown(&[short, unused, zero])));
    assert_eq!(severities(&["--deny", "T0501"]), (1, shown(&["error T0501", short, unused])));
    assert_eq!(severities(&["--deny", "never-written"]), (1, shown(&["error T0501", short, unused])));
    assert_eq!(severities(&["--allow", "T0500", "--allow", "short-immediate"]), (0, shown(&[zero])));
    assert_eq!(severities(&["--allow", "warnings"]), (0, shown(&[])));
    let denied = severities(&["--deny", "warnings", "--allow", "T0525"]);
    assert_eq!(denied, (1, shown(&["error T0500", "error T0501"])));
    // An error stays an error, and unknown codes cannot be named.
    for wrong in ["T0402", "T9999", "nonsense"] {
        assert_eq!(tgsic(&["check", "--allow", wrong], text).status, 2, "{wrong}");
    }
    // Other subcommands check for warnings only if some are denied.
    assert_eq!(tgsic(&["translate"], text).stderr, "");
    let denied = tgsic(&["translate", "--deny", "T0501"], text);
    assert!(denied.status == 1 && denied.stderr.starts_with("error[T0501]") && denied.stdout.is_empty());
    assert_eq!(tgsic(&["translate", "--deny", "T0503"], text).status, 0);
}

#[test]
fn codes_are_explained() {
    let page = tgsic(&["explain", "T0402"], "").success();
    assert!(page.text().starts_with("error[T0402] undeclared-register: An undeclared register"), "{}", page.text());
    for part in ["\nWrong:\n\n    FRAG\n", "\nRight:\n\n    FRAG\n"] {
        assert!(page.text().contains(part), "{}", page.text());
    }
    assert_eq!(tgsic(&["explain", "undeclared-register"], "").success().stdout, page.stdout);
    let list = tgsic(&["explain", "--list"], "").success();
    assert!(list.text().lines().count() > 300, "{}", list.text());
    assert!(list.text().contains("\nT0500 warning unused-declaration "), "{}", list.text());
    let wrong = tgsic(&["explain", "T9999"], "");
    assert!(wrong.status == 2 && wrong.stderr.contains("no code `T9999`"), "{}", wrong.stderr);
    assert_eq!(tgsic(&["explain"], "").status, 2);
}
