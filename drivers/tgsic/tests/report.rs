//! Tests `report`: two runs compared, as text, JSON and lines of shader-db.

use crate::common::{FRAG, Folder, WRONG};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const OLD: &str = "shaders/a - FS shader: 100 inst, 5 temps\nshaders/b - VS shader: 10 inst, 1 temps\n\
                   shaders/lost - FS shader: 3 inst, 1 temps\nRESULT shaders/a ok\nRESULT shaders/lost ok\n";
const NEW: &str = "STAT shaders/a - FS shader: 90 inst, 6 temps\nSTAT shaders/b - VS shader: 10 inst, 1 temps\n\
                   STAT shaders/gained - CS shader: 3 inst, 1 temps\nRESULT shaders/a ok\nRESULT shaders/lost nolink\n";

/// Creates a folder with two runs: each has one shader that the other lacks, and the new one has more instructions for
/// the third.
fn runs() -> Folder {
    let double = FRAG.replace("MOV OUT[0], TEMP[0]", "MOV TEMP[0], TEMP[0]\nADD OUT[0], TEMP[0], IMM[0]");
    let double = double.replace("DCL TEMP[0]", "DCL TEMP[0]\nIMM[0] FLT32 {0.0, 0.0, 0.0, 0.0}");
    let folder = Folder::with(&[("a.tgsi", FRAG), ("b.tgsi", &double), ("c.tgsi", FRAG)]);
    for (run, arguments) in [("old", &["-O", "0", "a.tgsi", "b.tgsi"]), ("new", &["-O", "2", "c.tgsi", "b.tgsi"])] {
        let output = folder.run(&[&["translate", "--json", "--texts"][..], arguments].concat()).success();
        folder.write(run, &output.stdout);
    }
    folder
}

#[test]
fn text_has_the_form_of_shader_db() {
    let folder = Folder::with(&[("old", OLD), ("new", NEW)]);
    let output = folder.run(&["report", "old", "new"]).success();
    let pad = |name: &str| format!("{name:50}");
    let expected = format!(
        "inst helped:   {}100 -> 90 (-10.00%)\n\ntemps HURT:   {}5 -> 6 (20.00%)\n\n\
         LOST:   shaders/lost FS\n\nGAINED: shaders/gained CS\n\nRESULT: shaders/lost: ok -> nolink\n\n\
         == VS: 1 shaders in both runs\n\
         total inst in shared programs: 10 -> 10 (0.00%)\ninst in affected programs: 0 -> 0\nhelped: 0\nHURT: 0\n\n\
         total temps in shared programs: 1 -> 1 (0.00%)\ntemps in affected programs: 0 -> 0\nhelped: 0\nHURT: 0\n\n\
         No changes.\n\n\
         == FS: 1 shaders in both runs\n\
         total inst in shared programs: 100 -> 90 (-10.00%)\ninst in affected programs: 100 -> 90 (-10.00%)\n\
         helped: 1\nHURT: 0\n\n\
         total temps in shared programs: 5 -> 6 (20.00%)\ntemps in affected programs: 5 -> 6 (20.00%)\n\
         helped: 0\nHURT: 1\n\nLOST:   1\nGAINED: 0\n\n\
         == CS: 0 shaders in both runs\nLOST:   0\nGAINED: 1\n\n\
         == all: 2 shaders in both runs\n\
         total inst in shared programs: 110 -> 100 (-9.09%)\ninst in affected programs: 100 -> 90 (-10.00%)\n\
         helped: 1\nHURT: 0\n\n\
         total temps in shared programs: 6 -> 7 (16.67%)\ntemps in affected programs: 5 -> 6 (20.00%)\n\
         helped: 0\nHURT: 1\n\nLOST:   1\nGAINED: 1\n\nresults of files: ok -> nolink 1, ok -> ok 1\n",
        pad("shaders/a FS: "),
        pad("shaders/a FS: "),
    );
    assert_eq!(output.text(), expected);
    let none = folder.run(&["report", "--most", "0", "old", "new"]).success();
    assert!(none.text().starts_with("== VS"), "{}", none.text());
}

#[test]
fn json_says_everything() {
    let folder = Folder::with(&[("old", OLD), ("new", NEW)]);
    let output = folder.run(&["report", "--json", "old", "new"]).success();
    let object: Value = serde_json::from_str(output.text()).expect("JSON");
    assert_eq!(object["old"], json!({ "f": "old", "shaders": 3, "microseconds": null }));
    let summary = &object["summaries"][0];
    assert_eq!((&summary["stage"], &summary["shared"]), (&Value::Null, &json!(2)));
    assert_eq!(
        summary["totals"]["inst"],
        json!({ "old": 110, "new": 100, "affected_old": 100, "affected_new": 90, "helped": 1, "hurt": 0 })
    );
    let stages: Vec<&Value> = object["summaries"].as_array().expect("a list").iter().map(|s| &s["stage"]).collect();
    assert_eq!(stages, [&Value::Null, &json!("VS"), &json!("FS"), &json!("CS")]);
    assert_eq!(object["lost"], json!([{ "f": "shaders/lost", "stage": "FS", "number": 0 }]));
    assert_eq!(object["gained"], json!([{ "f": "shaders/gained", "stage": "CS", "number": 0 }]));
    assert_eq!(object["results"], json!([{ "f": "shaders/lost", "old": "ok", "new": "nolink" }]));
    assert_eq!(
        object["programs"][0],
        json!({
            "f": "shaders/a", "stage": "FS", "number": 0, "old": { "inst": 100, "temps": 5 },
            "new": { "inst": 90, "temps": 6 }, "helped": ["inst"], "hurt": ["temps"],
        })
    );
    assert_eq!(object["programs"].as_array().map(Vec::len), Some(4));
}

#[test]
fn our_runs_are_compared() {
    let folder = runs();
    let output = folder.run(&["report", "old", "new"]).success();
    for line in
        ["LOST:   a.tgsi FS", "GAINED: c.tgsi FS", "== all: 1 shaders in both runs", "Total CPU time (seconds): "]
    {
        assert!(output.text().lines().any(|found| found.starts_with(line)), "{line}: {}", output.text());
    }
    // A shader that cannot be translated is lost; runs may come from standard input, and compressed.
    folder.write("b.tgsi", WRONG.as_bytes());
    let broken = folder.run(&["translate", "--json", "b.tgsi", "c.tgsi"]);
    assert_eq!(broken.status, 1);
    let output = folder.run_on(&["report", "new", "-"], &broken.stdout).success();
    assert!(output.text().contains("LOST:   b.tgsi FS\n"), "{}", output.text());
}

#[test]
fn texts_come_only_when_asked_for() {
    let folder = runs();
    let plain = folder.run(&["translate", "--json", "b.tgsi"]).success();
    let plain: Value = serde_json::from_str(plain.text()).expect("JSON");
    for key in ["source", "result", "ir", "passes"] {
        assert_eq!(plain.get(key), None, "{key}");
    }
    assert_eq!((&plain["loops_after"], &plain["instructions_before"]), (&json!(0), &json!(4)));
    let full = folder.run(&["translate", "--json", "--texts", "b.tgsi"]).success();
    let full: Value = serde_json::from_str(full.text()).expect("JSON");
    for key in plain.as_object().expect("an object").keys().filter(|key| *key != "microseconds") {
        assert_eq!(plain[key], full[key], "{key}");
    }
    assert_eq!(full["source"].as_str().map(str::as_bytes), Some(&folder.read("b.tgsi")[..]));
    let translated = folder.run(&["translate", "b.tgsi"]).success();
    assert_eq!(full["result"].as_str(), Some(translated.text()));
    let start = folder.run(&["ir", "--stage", "parsed", "b.tgsi"]).success();
    assert_eq!(full["ir"].as_str(), Some(start.text()));
    // The passes are those of `ir --print-changed`.
    let changed = folder.run(&["ir", "--stage", "registers", "--print-changed", "b.tgsi"]).success();
    let names = changed.text().lines().filter_map(|line| line.strip_prefix("// after "));
    let mut names: Vec<String> = names.map(|line| line.replace(", round", "")).collect();
    names.push("registers ".into());
    let passes = full["passes"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let found: Vec<String> =
        passes.iter().map(|pass| format!("{} {}", text(&pass["pass"]), text(&pass["round"]))).collect();
    assert_eq!(found, names);
    assert!(passes.iter().all(|pass| text(&pass["change"]).starts_with("@@ -")), "{passes:?}");
    // Tokens are shown as text.
    let tokens = folder.run(&["encode", "b.tgsi"]).success().stdout;
    let of_tokens = folder.run_on(&["translate", "--json", "--texts"], &tokens).success();
    let of_tokens: Value = serde_json::from_str(of_tokens.text()).expect("JSON");
    assert!(of_tokens["source"].as_str().is_some_and(|text| text.starts_with("FRAG\n")), "{of_tokens}");
}

#[test]
fn shader_db_can_read_ours() {
    let folder = runs();
    folder.write("a b.tgsi", FRAG.as_bytes());
    let direct = folder.run(&["translate", "--shader-db", "a b.tgsi", "c.tgsi"]).success();
    let expected = "a%20b.tgsi - FS shader: 2 inst, 0 loops, 0 temps, 0 imms, 0 spills, 0 fills\n\
                    c.tgsi - FS shader: 2 inst, 0 loops, 0 temps, 0 imms, 0 spills, 0 fills\n";
    assert_eq!(direct.text(), expected);
    // Prints the same run from a file, and the new one of two. Reading the output gives the same again.
    let json = folder.run(&["translate", "--json", "a b.tgsi", "c.tgsi"]).success();
    folder.write("run", &json.stdout);
    folder.write("again", expected.as_bytes());
    for arguments in [&["report", "--shader-db", "run"][..], &["report", "old", "run", "--shader-db"]] {
        assert_eq!(folder.run(arguments).success().text(), expected);
    }
    assert_eq!(folder.run(&["report", "--shader-db", "again"]).success().text(), expected);
    let both = folder.run(&["report", "again", "run"]).success();
    assert!(both.text().contains("No changes.\n"), "{}", both.text());
}

#[test]
fn wrong_files_are_named_with_line_and_column() {
    let folder = Folder::with(&[("good", OLD), ("empty", ""), ("tgsi", FRAG), ("page.html", "before")]);
    folder.write("broken", b"{\"f\":\"a\",\"ok\":true,\"stage\":\"FRAG\"}\n");
    folder.write("half", b"\n{\"f\":\"a\",\"o");
    folder.write("number", b"x\na - FS shader: 1 inst, 99999999999999999999999 temps\n");
    for (file, message) in [
        ("empty", "empty:1:1: the file is empty (a run is the output of `tgsic translate --json`, or lines such as"),
        ("tgsi", "tgsi:1:1: there is no shader here (a run is"),
        ("broken", "broken:1:34: missing field `instructions_after` (each line is"),
        ("half", "half:2:11: EOF while parsing a string (each line is"),
        ("number", "number:2:24: the number is too large, the largest is 9007199254740991 (no statistic"),
        ("missing", "cannot read missing: "),
        (".", "cannot read .: "),
    ] {
        for arguments in [["report", file, "good"], ["report", "good", file]] {
            let output = folder.run(&[&arguments[..], &["--html", "page.html"]].concat());
            assert_eq!((output.status, output.text()), (2, ""), "{file}");
            assert!(output.stderr.starts_with(&format!("tgsic: {message}")), "{}", output.stderr);
            assert_eq!(folder.read("page.html"), b"before");
        }
    }
    let output = folder.run(&["report", "--error-format", "json", "good", "half"]);
    let object: Value = serde_json::from_str(&output.stderr).expect("JSON");
    assert_eq!(
        (&object["file"], &object["line"], &object["column"], &object["code"]),
        (&json!("half"), &json!(2), &json!(11), &json!("T0815"))
    );
    for arguments in
        [&["report"][..], &["report", "good"], &["report", "-", "-"], &["report", "--json", "--shader-db", "good"]]
    {
        assert_eq!(folder.run(arguments).status, 2, "{arguments:?}");
    }
    // A page that cannot be written is an error, and nothing else is printed.
    let output = folder.run(&["report", "good", "good", "--html", "no/folder/page.html"]);
    assert_eq!((output.status, output.text()), (2, ""));
    assert!(output.stderr.starts_with("tgsic: cannot write no/folder/page.html: "), "{}", output.stderr);
}
