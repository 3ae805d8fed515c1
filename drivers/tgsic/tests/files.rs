//! Tests inputs and outputs: files, folders, standard streams, and failures in the middle.

use std::process::Stdio;

use crate::common::{FRAG, Folder, WRONG, tgsic};
use pretty_assertions::assert_eq;

fn printed() -> Vec<u8> {
    tgsic(&["print"], FRAG).success().stdout
}

/// Subcommands that convert each shader, and the extension of their results.
const MAKERS: [(&[&str], &str); 6] = [
    (&["print"], "tgsi"),
    (&["encode"], "tok"),
    (&["scan"], "txt"),
    (&["scan", "--json"], "json"),
    (&["ir"], "nir"),
    (&["ir", "--dot"], "dot"),
];

#[test]
fn standard_input_is_the_default_and_a_dash() {
    for command in ["print", "encode", "check", "scan", "run", "ir", "translate", "verify"] {
        let plain = tgsic(&[command], FRAG).success();
        let dash = tgsic(&[command, "-"], FRAG).success();
        assert_eq!(plain.stdout, dash.stdout, "{command}");
        let tokens = tgsic(&["encode"], FRAG).stdout;
        let of_tokens = tgsic(&[command], &tokens).success();
        // Only text output shows its source.
        let known = |output: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(output);
            text.lines().filter(|line| command != "scan" || !line.starts_with("origin: ")).map(str::to_owned).collect()
        };
        assert_eq!(known(&of_tokens.stdout), known(&plain.stdout), "{command}");
    }
}

#[test]
fn content_decides_whatever_the_name() {
    let folder = Folder::with(&[("text.tok", FRAG)]);
    folder.write("tokens.tgsi", &tgsic(&["encode"], FRAG).stdout);
    folder.write("ir.tgsi", &tgsic(&["ir"], FRAG).stdout);
    for name in ["text.tok", "tokens.tgsi"] {
        assert_eq!(folder.run(&["print", name]).success().stdout, printed());
    }
    let translated = tgsic(&["translate"], FRAG).success().stdout;
    for name in ["text.tok", "tokens.tgsi", "ir.tgsi"] {
        assert_eq!(folder.run(&["translate", name]).success().stdout, translated, "{name}");
    }
}

#[test]
fn results_go_to_a_file() {
    let folder = Folder::with(&[("a.tgsi", FRAG)]);
    for (command, extension) in MAKERS {
        let name = format!("result.{extension}");
        let expected = folder.run(&[command, &["a.tgsi"]].concat()).success().stdout;
        let output = folder.run(&[command, &["a.tgsi", "-o", &name]].concat()).success();
        assert_eq!((output.text(), folder.read(&name)), ("", expected), "{command:?}");
    }
}

#[test]
fn a_result_replaces_a_file_whole() {
    let folder =
        Folder::with(&[("a.tgsi", FRAG), ("wrong.tgsi", WRONG), ("out", "old content, longer than the new one")]);
    folder.write("out", &[b'x'; 100_000]);
    folder.run(&["print", "a.tgsi", "-o", "out"]).success();
    assert_eq!(folder.read("out"), printed());
    // Overwrites the input itself.
    folder.run(&["print", "a.tgsi", "-o", "a.tgsi"]).success();
    assert_eq!(folder.read("a.tgsi"), printed());
    // A shader with errors leaves the existing file unchanged.
    let output = folder.run(&["translate", "wrong.tgsi", "-o", "out"]);
    assert_eq!((output.status, folder.read("out")), (1, printed()));
    let output = folder.run(&["translate", "wrong.tgsi", "-o", "new"]);
    assert_eq!(output.status, 1);
    assert_eq!(folder.list("."), ["a.tgsi", "out", "wrong.tgsi"]);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::with(&[("a.tgsi", FRAG), ("private", ""), ("plain", "")]);
    let mode = |name: &str| std::fs::metadata(folder.path(name)).expect("there").permissions().mode() & 0o777;
    std::fs::set_permissions(folder.path("private"), PermissionsExt::from_mode(0o600)).expect("changed");
    folder.run(&["print", "a.tgsi", "-o", "private"]).success();
    assert_eq!((mode("private"), folder.read("private")), (0o600, printed()));
    // A new file has default permissions.
    folder.run(&["print", "a.tgsi", "-o", "new"]).success();
    assert_eq!(mode("new"), mode("plain"));
    symlink("plain", folder.path("link")).expect("a link");
    folder.run(&["print", "a.tgsi", "-o", "link"]).success();
    assert!(folder.path("link").is_symlink());
    assert_eq!(folder.read("plain"), printed());
}

#[cfg(unix)]
#[test]
fn devices_are_written_to_as_they_are() {
    let folder = Folder::with(&[("a.tgsi", FRAG)]);
    folder.run(&["print", "a.tgsi", "-o", "/dev/null"]).success();
    folder.run(&["encode", "a.tgsi", "-o", "/dev/null"]).success();
    let output = folder.run(&["print", "a.tgsi", "-o", "/dev/stdout"]).success();
    assert_eq!(output.stdout, printed());
}

#[test]
fn results_go_below_a_folder() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("x/b.frag.tgsi", FRAG), ("run/c", FRAG)]);
    for (command, extension) in MAKERS {
        let out = format!("out-{}", command.join(""));
        let files = ["a.tgsi", "./x/b.frag.tgsi", "x/../run/c"];
        let output = folder.run(&[command, &["--out-dir", &out], &files].concat()).success();
        assert_eq!(output.text(), "");
        assert_eq!(folder.list(&out), [format!("a.{extension}"), "run".into(), "x".into()]);
        assert_eq!(folder.list(&format!("{out}/x")), [format!("b.frag.{extension}")]);
    }
}

#[test]
fn paths_that_lead_out_are_kept_below_the_folder() {
    let folder = Folder::with(&[("sub/keep", ""), ("a.tgsi", FRAG)]);
    let absolute = folder.path("a.tgsi");
    let mut command = folder.command(&["print", "--out-dir", "out", "../a.tgsi"]);
    command.current_dir(folder.path("sub"));
    crate::common::run(command, b"").success();
    assert_eq!(folder.read("sub/out/a.tgsi"), printed());
    folder.run(&["print", "--out-dir", "out", absolute.to_str().expect("a name")]).success();
    let below = absolute.strip_prefix("/").expect("an absolute path");
    assert_eq!(folder.read(&format!("out/{}", below.display())), printed());
    // An absolute folder, and standard input.
    let out = folder.path("elsewhere");
    folder.run_on(&["print", "--out-dir", out.to_str().expect("a name")], FRAG.as_bytes()).success();
    assert_eq!(folder.read("elsewhere/stdin.tgsi"), printed());
}

#[test]
fn two_results_of_one_name_are_refused() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("a.tok", FRAG), ("x/a.tgsi", FRAG)]);
    let output = folder.run(&["print", "--out-dir", "out", "a.tgsi", "a.tok"]);
    assert_eq!(
        (output.status, output.stderr.as_str()),
        (2, "tgsic: a.tgsi and a.tok would both be written to out/a.tgsi\n")
    );
    assert!(!folder.path("out").exists());
    let mut command = folder.command(&["print", "--out-dir", "out", "a.tgsi", "../a.tgsi"]);
    command.current_dir(folder.path("x"));
    assert_eq!(crate::common::run(command, b"").status, 2);
}

#[test]
fn stages_of_one_name_keep_their_extensions() {
    let vertex = "void main() { gl_Position = gl_Vertex; }";
    let fragment = "void main() { gl_FragColor = vec4(1.0); }";
    let folder = Folder::with(&[("a.vert", vertex), ("a.frag", fragment), ("b.frag", fragment)]);
    for command in ["translate", "link"] {
        let files: &[&str] = if command == "link" { &["a.vert", "a.frag"] } else { &["a.vert", "a.frag", "b.frag"] };
        folder.run(&[&[command, "--out-dir", command], files].concat()).success();
        for (file, first) in [("a.vert.tgsi", b"VERT"), ("a.frag.tgsi", b"FRAG")] {
            assert!(folder.read(&format!("{command}/{file}")).starts_with(first));
        }
    }
    assert!(folder.read("translate/b.tgsi").starts_with(b"FRAG"));
}

#[cfg(feature = "nv40")]
#[test]
fn linked_shaders_have_names() {
    let vertex = "uniform mat4 transform; attribute vec4 place; varying vec4 shade;
        void main() { gl_Position = transform * place; shade = place; }";
    let fragment = "uniform vec4 tint; varying vec4 shade; void main() { gl_FragColor = tint * shade; }";
    let folder = Folder::with(&[("a.vert", vertex), ("a.frag", fragment)]);
    folder.run(&["link", "--driver", "nv40", "--target", "rsx", "--out-dir", "out", "a.vert", "a.frag"]).success();
    let has = |file: &str, name: &[u8]| folder.read(file).windows(name.len()).any(|bytes| bytes == name);
    assert!(has("out/a.vert.po", b"transform\0") && has("out/a.vert.po", b"place\0"));
    assert!(has("out/a.frag.po", b"tint\0") && folder.path("out/a.frag.fpo.json").exists());
}

#[test]
fn many_shaders_come_in_order() {
    let names: Vec<String> = (0..64).map(|i| format!("{i}.tgsi")).collect();
    let folder = Folder::new();
    for (i, name) in names.iter().enumerate() {
        folder.write(name, FRAG.replace("GENERIC[0]", &format!("GENERIC[{i}]")).as_bytes());
    }
    let output = folder.run(&[&["print".to_string()], &names[..]].concat()).success();
    let found: Vec<&str> = output.text().lines().filter(|l| l.contains("GENERIC")).collect();
    let expected: Vec<String> = (0..64).map(|i| format!("DCL IN[0], GENERIC[{i}], PERSPECTIVE")).collect();
    assert_eq!(found, expected);
}

#[test]
fn one_wrong_shader_does_not_stop_the_others() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("b.tgsi", WRONG), ("c.tgsi", FRAG)]);
    let files = ["a.tgsi", "b.tgsi", "c.tgsi"];
    let error = "b.tgsi:5:13: error: TEMP[7] is not declared (declare the register, or widen the range that is declared) [T0402]\n";
    for command in [&["translate"][..], &["ir"], &["ir", "--stage", "parsed"]] {
        let output = folder.run(&[command, &["--out-dir", "out"], &files].concat());
        assert_eq!((output.status, output.stderr.as_str(), output.text()), (1, error, ""), "{command:?}");
    }
    assert_eq!(folder.list("out"), ["a.nir", "a.tgsi", "c.nir", "c.tgsi"]);
    for command in ["check", "verify"] {
        let output = folder.run(&[&[command], &files[..]].concat());
        assert_eq!((output.status, output.stderr.as_str()), (1, error), "{command}");
    }
    // The valid ones are written to standard output.
    let output = folder.run(&[&["translate"], &files[..]].concat());
    assert_eq!((output.status, output.text().matches("END").count()), (1, 2));
}

#[test]
fn files_that_cannot_be_read_do_not_stop_the_others() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("b.tgsi", WRONG), ("folder/x", "")]);
    for command in ["print", "encode", "check", "scan", "ir", "translate", "verify", "run"] {
        let output = folder.run(&[command, "missing.tgsi"]);
        assert_eq!(output.status, 2, "{command}");
        assert!(output.stderr.starts_with("tgsic: cannot read missing.tgsi: "), "{}", output.stderr);
        assert_eq!(folder.run(&[command, "folder"]).status, 2, "{command}");
    }
    let output = folder.run(&["print", "missing.tgsi", "a.tgsi"]);
    assert_eq!((output.status, output.stdout), (2, printed()));
    // The worst status counts.
    let output = folder.run(&["check", "b.tgsi", "missing.tgsi", "b.tgsi"]);
    assert_eq!((output.status, output.stderr.lines().count()), (2, 3), "{}", output.stderr);
    let output = folder.run(&["verify", "--vectors", "missing.jsonl"]);
    assert_eq!(output.status, 2);
}

#[test]
fn files_that_cannot_be_written_have_status_2() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("file", "")]);
    for target in ["folder/that/is/missing", "file/below", "."] {
        let output = folder.run(&["print", "a.tgsi", "-o", target]);
        assert_eq!(output.status, 2, "{target}");
        assert!(output.stderr.starts_with(&format!("tgsic: cannot write {target}: ")), "{}", output.stderr);
    }
    let output = folder.run(&["print", "a.tgsi", "--out-dir", "file"]);
    assert_eq!(output.status, 2, "{}", output.stderr);
    assert_eq!(folder.list("."), ["a.tgsi", "file"]);
    if std::path::Path::new("/dev/full").exists() {
        let output = folder.run(&["print", "a.tgsi", "-o", "/dev/full"]);
        assert_eq!(output.status, 2, "{}", output.stderr);
    }
}

#[test]
fn readers_that_go_away_are_no_error() {
    let many: String = (0..20_000).map(|i| format!("MOV TEMP[0], TEMP[{}]\n", i % 2)).collect();
    let shader = format!("FRAG\nDCL TEMP[0..1]\n{many}END\n");
    let folder = Folder::with(&[("a.tgsi", &shader), ("wrong.tgsi", &shader.replace("DCL TEMP[0..1]\n", ""))]);
    for (arguments, status) in
        [(["print", "a.tgsi"], 0), (["ir", "a.tgsi"], 0), (["run", "a.tgsi"], 0), (["check", "wrong.tgsi"], 1)]
    {
        let mut command = folder.command(&arguments);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().expect("it starts");
        drop(child.stdout.take());
        drop(child.stderr.take());
        assert_eq!(child.wait().expect("it ends").code(), Some(status), "{arguments:?}");
    }
}

/// Tokens are not written to a terminal; text is. `script` provides a terminal.
#[cfg(target_os = "linux")]
#[test]
fn tokens_stay_off_terminals() {
    use std::process::Command;
    if Command::new("script").arg("--version").output().is_err() {
        println!("tokens_stay_off_terminals: skipped, there is no program `script`");
        return;
    }
    let folder = Folder::with(&[("a.tgsi", FRAG)]);
    let on_terminal = |command: &str| {
        let command = format!("{} {command}", env!("CARGO_BIN_EXE_tgsic"));
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", &command, "/dev/null"]).current_dir(folder.path("."));
        crate::common::run(script, b"")
    };
    let refused = on_terminal("encode a.tgsi");
    assert_eq!(refused.status, 2);
    assert!(refused.text().contains("binary data is not written to a terminal"), "{}", refused.text());
    let shown = on_terminal("print a.tgsi");
    assert_eq!((shown.status, shown.text().replace('\r', "").as_bytes()), (0, &printed()[..]));
    let written = on_terminal("encode a.tgsi -o tokens");
    assert_eq!((written.status, folder.read("tokens")), (0, tgsic(&["encode"], FRAG).stdout));
    // Colours on a terminal, unless turned off.
    folder.write("wrong.tgsi", WRONG.as_bytes());
    assert!(on_terminal("check wrong.tgsi").text().contains("\u{1b}["));
    assert!(!on_terminal("check --color never wrong.tgsi").text().contains("\u{1b}["));
}
