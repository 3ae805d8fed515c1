//! Tests results and messages after a failed operation: whole files or none, one message that names the path, the right
//! status.

#![cfg(unix)]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{FRAG, Folder, WRONG, tgsic};
use pretty_assertions::assert_eq;

/// Every subcommand that writes a result, with the arguments that it needs.
const WRITERS: [&[&str]; 8] =
    [&["print"], &["encode"], &["scan"], &["ir"], &["translate"], &["run"], &["verify"], &["explain", "--list"]];

fn is_there(path: &str) -> bool {
    let there = Path::new(path).exists();
    if !there {
        println!("skipped: there is no {path}");
    }
    there
}

/// With a full disk under standard output, there is one message and status 2.
#[test]
fn standard_output_is_full() {
    if !is_there("/dev/full") {
        return;
    }
    let folder = Folder::with(&[("a.tgsi", FRAG), ("b.tgsi", FRAG)]);
    for writer in WRITERS {
        let files: &[&str] = match writer[0] {
            "explain" => &[],
            "run" => &["a.tgsi"],
            _ => &["a.tgsi", "b.tgsi"],
        };
        let mut command = folder.command(&[writer, files].concat());
        let full = File::options().write(true).open("/dev/full").expect("opened");
        let output = command.stdin(Stdio::null()).stdout(full).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{writer:?}: {message}");
        assert_eq!(message, "tgsic: cannot write <stdout>: No space left on device (os error 28)\n", "{writer:?}");
    }
}

/// If standard error is full or closed, there is no message, but the status is right.
#[test]
fn standard_error_is_full() {
    if !is_there("/dev/full") {
        return;
    }
    let folder = Folder::with(&[("a.tgsi", FRAG), ("wrong.tgsi", WRONG)]);
    for (arguments, status) in [
        (&["check", "wrong.tgsi"][..], 1),
        (&["check", "wrong.tgsi", "wrong.tgsi"], 1),
        (&["check", "wrong.tgsi", "--error-format", "json"], 1),
        (&["print", "missing.tgsi"], 2),
        (&["translate", "a.tgsi", "--time-passes"], 0),
        (&["translate", "a.tgsi", "-vv"], 0),
    ] {
        let mut command = folder.command(arguments);
        let full = File::options().write(true).open("/dev/full").expect("opened");
        let output = command.stdin(Stdio::null()).stderr(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    }
}

/// If the disk is full in the middle of a file, the old file stays and no other file appears. A limit on the size of
/// files simulates the disk.
#[test]
fn files_are_whole_or_not_at_all() {
    let many: String = (0..4000).map(|i| format!("MOV TEMP[0], TEMP[{}]\n", i % 2)).collect();
    let long = format!("FRAG\nDCL TEMP[0..1]\n{many}END\n");
    let folder = Folder::with(&[("a.tgsi", &long), ("old", "as it was")]);
    let bounded = |arguments: &str| {
        let mut shell = Command::new("sh");
        let program = env!("CARGO_BIN_EXE_tgsic");
        // One block of 512 or 1024 bytes; the signal would otherwise end the program.
        shell.args(["-c", &format!("trap '' XFSZ; ulimit -f 1; exec {program} {arguments}")]);
        shell.current_dir(folder.path(".")).env_remove("RUST_BACKTRACE");
        crate::common::run(shell, b"")
    };
    for (arguments, path) in [
        ("print a.tgsi -o old", "old"),
        ("encode a.tgsi -o new", "new"),
        ("print a.tgsi -o a.tgsi", "a.tgsi"),
        ("print a.tgsi --out-dir out", "out/a.tgsi"),
    ] {
        let output = bounded(arguments);
        assert_eq!(
            (output.status, output.stderr.as_str()),
            (2, format!("tgsic: cannot write {path}: File too large (os error 27)\n").as_str()),
            "{arguments}"
        );
    }
    assert_eq!(folder.read("old"), b"as it was");
    assert_eq!(folder.read("a.tgsi"), long.as_bytes());
    assert_eq!((folder.list("."), folder.list("out")), (vec!["a.tgsi".into(), "old".into(), "out".into()], vec![]));
}

/// An obstacle is named, and stays unchanged.
#[test]
fn something_else_stands_in_the_place() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("folder/keep", ""), ("out/a.tgsi/keep", ""), ("file", "")]);
    symlink("loop", folder.path("loop")).expect("a link");
    for (target, why) in [
        ("folder", "Is a directory"),
        ("folder/", "Is a directory"),
        ("file/a", "Not a directory"),
        ("none/a", "No such file or directory"),
        ("loop", "too many links"),
    ] {
        let output = folder.run(&["print", "a.tgsi", "-o", target]);
        let start = format!("tgsic: cannot write {target}: {why}");
        assert!(output.status == 2 && output.stderr.starts_with(&start), "{target}: {}", output.stderr);
        assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    }
    let output = folder.run(&["print", "a.tgsi", "--out-dir", "out"]);
    assert_eq!(output.status, 2);
    assert!(output.stderr.starts_with("tgsic: cannot write out/a.tgsi: Is a directory"), "{}", output.stderr);
    let output = folder.run(&["print", "a.tgsi", "--out-dir", "file"]);
    assert!(output.status == 2 && output.stderr.starts_with("tgsic: cannot write file: "), "{}", output.stderr);
    assert_eq!(folder.list("."), ["a.tgsi", "file", "folder", "loop", "out"]);
    assert_eq!((folder.list("folder"), folder.list("out/a.tgsi")), (vec!["keep".into()], vec!["keep".into()]));
}

#[test]
fn inputs_that_cannot_be_read_are_named() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("secret.tgsi", FRAG), ("folder/keep", "")]);
    std::fs::set_permissions(folder.path("secret.tgsi"), PermissionsExt::from_mode(0o000)).expect("changed");
    symlink("nowhere", folder.path("link.tgsi")).expect("a link");
    // A privileged user can read this file, too.
    let readable = File::open(folder.path("secret.tgsi")).is_ok();
    for command in ["print", "check", "translate", "verify"] {
        for (path, why) in [
            ("missing.tgsi", "No such file or directory"),
            ("link.tgsi", "No such file or directory"),
            ("folder", "Is a directory"),
            ("a.tgsi/b", "Not a directory"),
            ("secret.tgsi", "Permission denied"),
        ] {
            if path == "secret.tgsi" && readable {
                continue;
            }
            let output = folder.run(&[command, path, "a.tgsi"]);
            let start = format!("tgsic: cannot read {path}: {why}");
            assert!(output.status == 2 && output.stderr.starts_with(&start), "{command} {path}: {}", output.stderr);
            assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
        }
    }
}

/// Names that are not UTF-8 work like others; messages mark the invalid bytes.
#[test]
fn names_of_any_bytes() {
    let folder = Folder::new();
    let name = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let (input, output, missing) = (name(b"\xffin\xfe.tgsi"), name(b"out\x80"), name(b"no\xff"));
    std::fs::write(folder.path(".").join(&input), FRAG).expect("written");
    let run = |arguments: &[&OsStr]| folder.run(arguments);
    let [print, check, to] = ["print", "check", "-o"].map(OsStr::new);
    run(&[print, &input, to, &output]).success();
    let printed = std::fs::read(folder.path(".").join(&output)).expect("written");
    assert_eq!(printed, tgsic(&["print"], FRAG).success().stdout);
    run(&[print, &input, OsStr::new("--out-dir"), OsStr::new("out")]).success();
    assert_eq!(std::fs::read(folder.path("out").join(&input)).expect("written"), printed);
    run(&[print, &input, to, &input]).success();
    assert_eq!(std::fs::read(folder.path(".").join(&input)).expect("written"), printed);
    let failed = run(&[print, &missing]);
    assert!(failed.status == 2 && failed.stderr.starts_with("tgsic: cannot read no\u{fffd}: "), "{}", failed.stderr);
    std::fs::write(folder.path(".").join(&input), WRONG).expect("written");
    let failed = run(&[check, &input, &input]);
    assert!(
        failed.status == 1 && failed.stderr.starts_with("\u{fffd}in\u{fffd}.tgsi:5:13: error: "),
        "{}",
        failed.stderr
    );
    let failed = run(&[check, &input, OsStr::new("--error-format=json")]);
    let object: serde_json::Value = serde_json::from_str(failed.stderr.trim()).expect("an object");
    assert_eq!((failed.status, object["file"].as_str()), (1, Some("\u{fffd}in\u{fffd}.tgsi")));
}

/// Links are written through, even if they dangle.
#[test]
fn links_are_written_through() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("sub/keep", "")]);
    symlink("sub/new", folder.path("link")).expect("a link");
    symlink("link", folder.path("second")).expect("a link");
    folder.run(&["print", "a.tgsi", "-o", "second"]).success();
    assert!(folder.path("link").is_symlink() && folder.path("second").is_symlink());
    assert_eq!(folder.list("sub"), ["keep", "new"]);
    assert_eq!(folder.read("sub/new"), tgsic(&["print"], FRAG).success().stdout);
}

/// An endless or very large input is rejected, for any kind of file.
#[test]
fn an_endless_input_ends() {
    let folder = Folder::new();
    // Larger than the memory of most machines, but sparse.
    let large = std::fs::File::create(folder.path("large")).expect("a file");
    let mut inputs = vec![];
    if large.set_len(1 << 40).is_ok() {
        inputs.push("large");
    }
    inputs.extend(["/dev/zero", "/dev/urandom"].into_iter().filter(|path| is_there(path)));
    for command in ["check", "translate", "print"] {
        for input in &inputs {
            let output = folder.run(&[command, input]);
            assert_eq!(output.status, 1, "{command} {input}: {}", output.stderr);
            assert!(output.stderr.contains("[T01"), "{command} {input}: {}", output.stderr);
        }
    }
}

/// A pipe is read up to the limit, even if it has a name.
#[test]
fn a_pipe_is_an_input() {
    let folder = Folder::new();
    let Ok(true) = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().map(|s| s.success()) else {
        return;
    };
    let written = |endless: bool| {
        let path = folder.path("pipe");
        std::thread::spawn(move || {
            let mut pipe = std::fs::File::options().write(true).open(path).expect("a pipe");
            // The reader closes the pipe early, which is an error here.
            while std::io::Write::write_all(&mut pipe, FRAG.as_bytes()).is_ok() && endless {}
        })
    };
    for (endless, status) in [(false, 0), (true, 1)] {
        let writer = written(endless);
        let output = folder.run(&["check", "pipe"]);
        assert_eq!((output.status, output.stderr.contains("[T0100]")), (status, endless), "{}", output.stderr);
        writer.join().expect("a writer");
    }
}
