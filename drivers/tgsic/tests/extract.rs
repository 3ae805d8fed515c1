//! Tests shaders in texts that contain more: `extract`, and all other commands.

use crate::common::{Folder, repository, tgsic};
use pretty_assertions::assert_eq;

/// A vertex shader with prefixes, a message in between, a fragment shader, and one that is cut off.
const LOG: &str = "\
started
host: VERT
host: DCL IN[0]
host: DCL OUT[0], POSITION
host: 60 frames
host:   0: MOV OUT[0], IN[0]
host:   1: END
host: FRAG
host: DCL IN[0], GENERIC[0], PERSPECTIVE
host: DCL OUT[0], COLOR
host:   0: MOV OUT[0], IN[0]
host:   1: END
";

const CUT: &str = "host: FRAG\nhost: DCL OUT[0], COLOR\nhost:   0: MOV OUT[0], CON";

#[test]
fn shaders_are_listed_and_written() {
    let folder = Folder::new();
    folder.write("a/x.log", LOG.as_bytes());
    let output = folder.run(&["extract", "a/x.log", "--out-dir", "out"]);
    let expected = "a/x.log:2: VERT, lines 2 to 7 -> out/a/x-1.vert.tgsi\n\
                    a/x.log:8: FRAG, lines 8 to 12 -> out/a/x-2.frag.tgsi\n";
    assert_eq!((output.status, output.text()), (0, expected), "{}", output.stderr);
    assert!(output.stderr.contains("warning[T0806]: 1 line of the text is not TGSI"), "{}", output.stderr);
    let written = std::fs::read_to_string(folder.path("out/a/x-2.frag.tgsi")).unwrap();
    assert_eq!(
        written,
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\n  0: MOV OUT[0], IN[0]\n  1: END\n"
    );
    // Each is a shader.
    let output = folder.run(&["check", "out/a/x-1.vert.tgsi", "out/a/x-2.frag.tgsi"]);
    assert_eq!((output.status, output.stderr.as_str()), (0, ""));

    let output = folder.run(&["extract", "a/x.log", "--list"]);
    assert_eq!(output.text(), "a/x.log:2: VERT, lines 2 to 7\na/x.log:8: FRAG, lines 8 to 12\n");
    let output = folder.run(&["extract", "a/x.log", "--json"]);
    let stages: Vec<String> = output
        .text()
        .lines()
        .map(|line| {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            format!("{} {} {} {}", object["stage"], object["line"], object["skipped"], object["complete"])
        })
        .collect();
    assert_eq!(stages, ["\"VERT\" 2 1 true", "\"FRAG\" 8 0 true"]);
}

#[test]
fn one_shader_is_printed() {
    let one = LOG.split("host: FRAG").next().unwrap();
    let output = tgsic(&["extract"], one);
    assert_eq!(
        (output.status, output.text()),
        (0, "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\n  0: MOV OUT[0], IN[0]\n  1: END\n")
    );
    let folder = Folder::new();
    let output = folder.run_on(&["extract", "-o", "x.tgsi"], one.as_bytes());
    assert_eq!((output.status, output.text()), (0, ""));
    assert!(std::fs::read_to_string(folder.path("x.tgsi")).unwrap().starts_with("VERT\n"));
}

#[test]
fn several_none_and_what_is_cut_off_are_errors() {
    let output = tgsic(&["extract"], LOG);
    assert_eq!(output.status, 1);
    for part in ["the text has 2 shaders: VERT at line 2, FRAG at line 8", "--out-dir"] {
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
    let output = tgsic(&["extract"], "nothing here\n");
    assert!(output.status == 1 && output.stderr.contains("T0804"), "{}", output.stderr);
    // The part that exists is written.
    let output = tgsic(&["extract"], CUT);
    assert_eq!((output.status, output.text().lines().count()), (1, 3));
    assert!(output.stderr.contains("error[T0805]") && output.stderr.contains("<stdin>:3:"), "{}", output.stderr);
}

/// Every command accepts a text with one shader; findings have positions in the whole text.
#[test]
fn commands_read_a_text_with_one_shader() {
    let one = LOG.split("host: FRAG").next().unwrap().replace("host: 60 frames\n", "");
    for command in ["print", "encode", "check", "scan", "run", "ir", "translate", "verify"] {
        let output = tgsic(&[command], &one);
        assert_eq!((output.status, output.stderr.as_str()), (0, ""), "{command}");
    }
    let wrong = one.replace("MOV OUT[0], IN[0]", "MOV OUT[0], TEMP[7]");
    for command in ["check", "translate"] {
        let output = tgsic(&[command, "--error-format", "gcc"], &wrong);
        assert!(output.stderr.starts_with("<stdin>:5:24: error: TEMP[7] is not declared"), "{}", output.stderr);
    }
    let wrong = one.replace("MOV OUT[0], IN[0]", "MOV OUT[0], INN[0]");
    let output = tgsic(&["translate", "--error-format", "gcc"], &wrong);
    assert!(output.stderr.starts_with("<stdin>:5:24: error: unknown register file `INN`"), "{}", output.stderr);
}

#[test]
fn commands_say_what_a_text_has_instead() {
    let output = tgsic(&["translate", "--error-format", "gcc"], LOG);
    let expected = "<stdin>:8:7: error: the text has 2 shaders: VERT at line 2, FRAG at line 8 \
                    (`tgsic extract --out-dir DIR` writes each to its own file) [T0803]\n";
    assert_eq!((output.status, output.stderr.as_str()), (1, expected));
    // A text that is a shader with mistakes is not searched for other shaders.
    let text = "FRAG\nDCL OUT[0], COLOR\nmvo OUT[0], IN[0]\nEND\n";
    let output = tgsic(&["check", "--error-format", "gcc"], text);
    assert!(output.stderr.starts_with("<stdin>:3:1: error: unknown opcode `mvo`"), "{}", output.stderr);
    // Text after END is ignored with a warning.
    let text = "FRAG\nDCL IN[0], COLOR, COLOR\nDCL OUT[0], COLOR\nMOV OUT[0], IN[0]\nEND\ncontext error: 7\n";
    let output = tgsic(&["check", "--error-format", "gcc"], text);
    let expected = "<stdin>:6:1: warning: the text after the shader is not TGSI and is ignored [T0807]\n";
    assert_eq!((output.status, output.stderr.as_str()), (0, expected));
}

/// Damaged texts cause no panic, and shaders found are in the text (the fuzz target `text` asserts the rest).
#[test]
fn damage_is_survived() {
    let fixture = repository().join("fixtures/tgsi/text/extract/surroundings.tgsi");
    let text = std::fs::read(fixture).unwrap();
    let mut random = tgsi_environment::Random::new(7);
    for _ in 0..2000 {
        let mut damaged = text.clone();
        for _ in 0..1 + random.bits() % 20 {
            let at = random.bits() as usize % damaged.len();
            match random.bits() % 3 {
                0 => damaged[at] = random.bits() as u8,
                1 => drop(damaged.drain(at..(at + random.bits() as usize % 40).min(damaged.len()))),
                _ => {
                    let from = random.bits() as usize % damaged.len();
                    let part = damaged[from..(from + 30).min(damaged.len())].to_vec();
                    damaged.splice(at..at, part);
                }
            }
        }
        let mut end = 0;
        for shader in tgsi::text::extract(&damaged) {
            assert!(end <= shader.span.start && shader.span.end as usize <= damaged.len());
            end = shader.span.end;
            for (offset, &byte) in shader.text.iter().enumerate().filter(|&(_, &byte)| byte != b'\n') {
                assert_eq!(damaged[shader.original(offset as u32) as usize], byte);
            }
            let _ = tgsi::text::read(&shader.text);
        }
    }
}

/// Time is linear in the length of the text: lines without end, lines without shaders, shaders without end.
#[test]
fn long_texts_take_linear_time() {
    let time = |text: &[u8]| {
        let start = std::time::Instant::now();
        let found = tgsi::text::extract(text);
        (start.elapsed(), found.len())
    };
    let pieces: [&[u8]; 9] =
        [b"A", b"MOV ", b"1:", b"(", b"DCL  ", b"FRAG\\n", b"\\", b"FRAG\nDCL IN[0],\n", b"FRAG\nDCL IN[0]\nx\n"];
    for piece in pieces {
        let text = piece.repeat((4 << 20) / piece.len());
        let (took, _) = time(&text);
        assert!(took < std::time::Duration::from_secs(20), "{}: {took:?}", String::from_utf8_lossy(piece));
    }
}
