//! Tests that every subcommand and option behaves as its help describes.

use crate::common::{FRAG, Folder, WRONG, demo_shaders, tgsic};
use pretty_assertions::assert_eq;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

const PRINTED: &str = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\n  0: ADD TEMP[0], IN[0], IN[0]\n  \
                       1: MOV OUT[0], TEMP[0]\n  2: END\n";

#[test]
fn print_makes_text_of_text_and_tokens() {
    assert_eq!(tgsic(&["print"], FRAG).success().text(), PRINTED);
    let tokens = tgsic(&["encode"], FRAG).success().stdout;
    assert_eq!(tgsic(&["print", "-"], &tokens).success().text(), PRINTED);
}

#[test]
fn print_loses_nothing_unless_told_to() {
    let shader = "FRAG\nDCL OUT[0], COLOR\nIMM[0] FLT32 {0.00001, 0x7f800001, 1.0, 0.1}\nMOV OUT[0], IMM[0]\nEND\n";
    let plain = tgsic(&["print"], shader).success();
    let tokens = |text: &[u8]| tgsic(&["encode"], text).stdout;
    assert_eq!(tokens(&plain.stdout), tokens(shader.as_bytes()));
    let mesa = tgsic(&["print", "--mesa"], shader).success();
    assert!(mesa.text().contains("IMM[0] FLT32 {    0.0000, "), "{}", mesa.text());
    let bits = tgsic(&["print", "--hex-floats"], shader).success();
    assert!(bits.text().contains("{0x3727c5ac, 0x7f800001, 0x3f800000, 0x3dcccccd}"), "{}", bits.text());
    assert_eq!(tokens(&bits.stdout), tokens(shader.as_bytes()));
}

#[test]
fn encode_writes_words() {
    let bytes = tgsic(&["encode"], "FRAG\nEND\n").success().stdout;
    assert_eq!(bytes.len() % 4, 0);
    assert_eq!(bytes[..8], [2, (bytes.len() as u8 / 4 - 2), 0, 0, 4, 0, 0, 0]);
}

#[test]
fn check_shows_findings() {
    tgsic(&["check"], FRAG).success();
    let wrong = tgsic(&["check"], WRONG);
    assert_eq!((wrong.status, wrong.text()), (1, ""));
    assert!(wrong.stderr.contains("error[T0402]: TEMP[7] is not declared"), "{}", wrong.stderr);
    // Warnings do not affect the status.
    let unused = FRAG.replace("DCL TEMP[0]\n", "DCL TEMP[0..3]\nDCL ADDR[0]\n");
    let warned = tgsic(&["check"], &unused);
    assert_eq!(warned.status, 0);
    assert!(warned.stderr.contains("warning[T0500]"), "{}", warned.stderr);
    tgsic(&["check", "--quiet"], &unused).success();
    // Errors come before warnings, and --quiet hides the warnings.
    let both = unused.replace("MOV OUT[0], TEMP[0]", "MOV OUT[0], TEMP[9]");
    let quiet = tgsic(&["check", "-q"], &both);
    assert_eq!(quiet.status, 1);
    assert!(!quiet.stderr.contains("warning"), "{}", quiet.stderr);
}

#[test]
fn check_counts_what_it_does_not_show() {
    let many: String = (0..50).map(|i| format!("DCL TEMP[{i}]\n")).collect();
    let shader = format!("FRAG\nDCL OUT[0], COLOR\n{many}MOV OUT[0], TEMP[60]\nEND\n");
    let some = tgsic(&["check"], &shader);
    assert_eq!(some.status, 1);
    assert!(some.stderr.starts_with("error[T0402]"), "{}", some.stderr);
    assert!(some.stderr.ends_with("<stdin>: 31 more not shown\n"), "{}", some.stderr);
    let all = tgsic(&["check", "--all"], &shader);
    assert_eq!(all.stderr.matches("warning[T0500]").count(), 50);
    assert!(!all.stderr.contains("not shown"), "{}", all.stderr);
}

#[test]
fn scan_tells_what_is_used() {
    let text = tgsic(&["scan"], FRAG).success();
    assert!(text.text().contains("num_instructions: 3\n"), "{}", text.text());
    let output = tgsic(&["scan", "--json"], FRAG).success();
    let value = json(output.text());
    assert_eq!(
        (&value["f"], &value["num_instructions"], &value["temporaries"]),
        (&"<stdin>".into(), &3.into(), &1.into())
    );
    assert_eq!(output.text().lines().count(), 1);
}

#[test]
fn run_prints_what_is_left() {
    let text = tgsic(&["run"], FRAG).success();
    let lines: Vec<&str> = text.text().lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[0].starts_with("OUT[0].x: "), "{}", lines[0]);
    assert!(lines[4].ends_with(" instructions executed"), "{}", lines[4]);
}

#[test]
fn run_gives_the_same_by_every_executor() {
    for path in demo_shaders() {
        let path = path.to_str().expect("a name");
        let out = |arguments: &[&str]| {
            let mut value = json(tgsic(&[&["run", "--json", path], arguments].concat(), "").success().text());
            let object = value.as_object_mut().expect("an object");
            let via = object.remove("via").expect("the executor");
            object.remove("steps").expect("steps");
            (via, value)
        };
        // Integral floats: nothing is rounded, in any order of additions.
        for seed in ["2", "8"] {
            let (via, expected) = out(&["--seed", seed]);
            assert_eq!(via, "tgsi");
            for executor in ["ir", "ssa", "registers", "driver:tgsi"] {
                assert_eq!(out(&["--seed", seed, "--via", executor]), (executor.into(), expected.clone()), "{path}");
            }
        }
    }
}

#[test]
fn run_json_has_a_shape() {
    let value = json(tgsic(&["run", "--json", "--seed", "1"], FRAG).success().text());
    let expected =
        ["buffers", "counters", "emitted", "f", "live", "out", "shared", "steps", "texels", "vertices", "via"];
    assert_eq!(keys(&value), expected);
    assert_eq!(value["f"], "<stdin>");
    assert_eq!(value["live"], json("[true, true, true, true]"));
    let out = value["out"]["0"].as_array().expect("components");
    assert_eq!((out.len(), out[0].as_array().map(Vec::len)), (4, Some(4)));
}

#[test]
fn run_prints_its_inputs() {
    let shader = "COMP\nPROPERTY CS_FIXED_BLOCK_WIDTH 2\nPROPERTY CS_FIXED_BLOCK_HEIGHT 1\n\
        PROPERTY CS_FIXED_BLOCK_DEPTH 1\nDCL SV[0], THREAD_ID\nDCL CONST[0][0]\nDCL MEMORY[0], SHARED\n\
        DCL TEMP[0]\nUADD TEMP[0], SV[0], CONST[0][0]\nSTORE MEMORY[0].x, SV[0], TEMP[0]\nEND\n";
    let text = tgsic(&["run", "--inputs", "--seed", "1"], shader).success();
    let line = text.text().strip_prefix("; value: lanes=2 memory=4096 SV[LOCAL_INVOCATION_ID]=({0x0 0x1} 0x0 0x0) ");
    let line = line.and_then(|rest| rest.strip_prefix("CONST[0][0]=(")?.strip_suffix(") ->\n"));
    assert_eq!(line.map(|words| words.split(' ').count()), Some(4), "{}", text.text());
}

/// For virgl hosts, `READ_HELPER` is the system value.
#[test]
fn helpers_of_generated_inputs_are_the_same_however_one_asks() {
    let shader = "FRAG\nDCL SV[0], HELPER_INVOCATION\nDCL OUT[0], COLOR\nDCL TEMP[0]\nREAD_HELPER TEMP[0].x\n\
        MOV TEMP[0].y, SV[0].xxxx\nMOV OUT[0], TEMP[0].xyxy\nEND\n";
    let inputs = tgsic(&["run", "--inputs"], shader).success();
    assert_eq!(inputs.text(), "; value: helpers={1 3} SV[HELPER_INVOCATION]=({0x0 0xffffffff 0x0 0xffffffff}) ->\n");
    tgsic(&["verify", "--dialect", "virgl"], shader).success();
}

#[test]
fn run_takes_recorded_inputs() {
    let words = format!("3fc00000{}", "00000000".repeat(15));
    let vector = format!(r#"{{"f":"x","seed":0,"in":{{"0":"{words}"}},"out":{{}},"live":15}}"#);
    let folder = Folder::with(&[("v.jsonl", &format!("\n{vector}\n")), ("a.tgsi", FRAG), ("bad.jsonl", "\n{}\n")]);
    let text = folder.run(&["run", "a.tgsi", "--vector", "v.jsonl"]).success();
    assert!(text.text().starts_with("OUT[0].x: 3 (0x40400000), 0 (0x00000000), "), "{}", text.text());
    let inputs = folder.run(&["run", "a.tgsi", "--vector", "v.jsonl", "--inputs"]).success();
    assert_eq!(inputs.text(), "; value: IN[0]=({0x3fc00000 0x0 0x0 0x0} 0x0 0x0 0x0) ->\n");
    let bad = folder.run(&["run", "a.tgsi", "--vector", "bad.jsonl"]);
    assert_eq!(bad.status, 2);
    assert!(bad.stderr.starts_with("tgsic: bad.jsonl:2: "), "{}", bad.stderr);
    let empty = folder.run_on(&["run", "a.tgsi", "--vector", "/dev/null"], b"");
    assert_eq!((empty.status, empty.stderr.as_str()), (2, "tgsic: /dev/null:1: there are no recorded results\n"));
    assert_eq!(folder.run(&["run", "a.tgsi", "--vector", "v.jsonl", "--seed", "1"]).status, 2);
}

#[test]
fn run_stops_endless_shaders() {
    let endless = "FRAG\nDCL OUT[0], COLOR\nBGNLOOP\nENDLOOP\nEND\n";
    let out = tgsic(&["run", "--max-steps", "1000"], endless);
    assert_eq!(out.status, 1);
    assert!(out.stderr.contains("<stdin>: error: ") && out.stderr.contains("1000"), "{}", out.stderr);
}

#[test]
fn ir_goes_to_every_stage() {
    for (stage, has, has_not) in [
        ("parsed", "@decl_reg", "fadd %9"),
        ("ssa", "fadd %", "@decl_reg"),
        ("registers", "@store_output", "@store_deref"),
    ] {
        let output = tgsic(&["ir", "--stage", stage], FRAG).success();
        assert!(output.text().starts_with("shader: MESA_SHADER_FRAGMENT\n"), "{stage}");
        assert!(output.text().contains(has) && !output.text().contains(has_not), "{stage}: {}", output.text());
    }
    let output = tgsic(&["ir"], FRAG).success();
    assert_eq!(output.text(), tgsic(&["ir", "--stage", "ssa"], FRAG).text());
}

#[test]
fn ir_draws_the_blocks() {
    let branch = FRAG.replace("MOV OUT[0]", "IF IN[0].xxxx\nMOV TEMP[0], IN[0]\nENDIF\nMOV OUT[0]");
    for stage in ["parsed", "ssa"] {
        let dot = tgsic(&["ir", "--dot", "--stage", stage], &branch).success();
        assert!(dot.text().starts_with("digraph \"main\" {") && dot.text().contains("0 -> "), "{}", dot.text());
        assert!(dot.text().contains("[ label = \"then\"]"), "{}", dot.text());
    }
    let calls = FRAG.replace("MOV OUT[0]", "CAL :4\nMOV OUT[0]").replace("END\n", "END\nBGNSUB\nRET\nENDSUB\n");
    let dot = tgsic(&["ir", "--dot", "--stage", "parsed"], &calls).success();
    assert_eq!(dot.text().matches("digraph").count(), 2, "{}", dot.text());
}

#[test]
fn translate_gives_tgsi_back() {
    let output = tgsic(&["translate", "--driver", "tgsi"], FRAG).success();
    assert!(output.text().contains("0: ADD OUT[0], IN[0], IN[0]\n  1: END\n"), "{}", output.text());
    tgsic(&["check"], output.text()).success();
    assert_eq!(tgsic(&["translate"], FRAG).text(), output.text());
    assert_eq!(tgsic(&["translate", "--mesa"], FRAG).text(), tgsic(&["print", "--mesa"], output.text()).text());
}

#[test]
fn translate_json_has_a_shape() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("b.tgsi", WRONG), ("c.tgsi", FRAG)]);
    let output = folder.run(&["translate", "--json", "--out-dir", "out", "a.tgsi", "b.tgsi", "c.tgsi"]);
    assert_eq!(output.status, 1);
    let rows: Vec<Value> = output.text().lines().map(json).collect();
    assert_eq!(rows.iter().map(|r| r["f"].clone()).collect::<Vec<_>>(), ["a.tgsi", "c.tgsi"]);
    let expected = [
        "f",
        "immediates_after",
        "immediates_before",
        "instructions_after",
        "instructions_before",
        "loops_after",
        "microseconds",
        "ok",
        "stage",
        "temporaries_after",
        "temporaries_before",
    ];
    assert_eq!(keys(&rows[0]), expected);
    let row = &rows[0];
    assert_eq!(
        (&row["ok"], &row["stage"], &row["instructions_before"], &row["instructions_after"]),
        (&true.into(), &"FRAG".into(), &3.into(), &2.into())
    );
    assert_eq!((&row["temporaries_before"], &row["temporaries_after"]), (&1.into(), &0.into()));
    assert_eq!(folder.list("out"), ["a.tgsi", "c.tgsi"]);
    // Without --out-dir, only the lines are printed.
    assert_eq!(folder.run(&["translate", "--json", "a.tgsi"]).success().text().lines().count(), 1);
}

/// A vertex shader that reads a constant with a run-time index.
const INDEXED: &str = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL CONST[0][0..3]\nDCL ADDR[0]\n\
                       UARL ADDR[0].x, IN[0].xxxx\nMOV OUT[0], CONST[0][ADDR[0].x+1]\nEND\n";

#[test]
fn driver_options_say_what_a_target_lacks() {
    let folder = Folder::with(&[("a.tgsi", INDEXED)]);
    let lacking = ["--driver-option", "no_indirect_constants", "--driver-option", "unoptimized"];
    let with = |arguments: &[&str], options: &[&str]| folder.run(&[arguments, options].concat()).success();
    let plain = with(&["translate", "a.tgsi"], &[]);
    assert!(plain.text().contains("[ADDR[0].x+1]"), "{}", plain.text());
    let direct = with(&["translate", "a.tgsi"], &lacking);
    assert!(!direct.text().contains("ADDR"), "{}", direct.text());
    let ir = with(&["ir", "--stage", "registers", "a.tgsi"], &lacking);
    assert_eq!(ir.text().matches("@load_uniform").count(), 4, "{}", ir.text());
    let verified = with(&["verify", "a.tgsi"], &lacking);
    assert_eq!(verified.text(), "1 shaders: 1 equal at every stage, 0 different, 0 errors\n");
    let results = [&[][..], &lacking[..]]
        .map(|options| with(&["run", "--via", "driver:tgsi", "--seed", "1", "a.tgsi"], options).text().to_string());
    // The results must agree, except for the number of instructions.
    let outputs = results.each_ref().map(|text| text.lines().filter(|l| l.starts_with("OUT")).collect::<Vec<_>>());
    assert!(!outputs[0].is_empty());
    assert_eq!(outputs[0], outputs[1]);
    let wrong = folder.run(&["translate", "--driver-option", "no_such", "a.tgsi"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("no_indirect_inputs"), "{}", wrong.stderr);
    // The options of the driver only.
    assert!(!wrong.stderr.contains("separate_samplers"), "{}", wrong.stderr);
    let wrong = folder.run(&["translate", "--driver", "spirv", "--driver-option", "seperate_samplers", "a.tgsi"]);
    assert_eq!(wrong.status, 2);
    assert!(
        wrong.stderr.contains("no driver option `seperate_samplers`; `separate_samplers` is similar"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn verify_runs_every_stage() {
    let paths = demo_shaders();
    let mut arguments = vec!["verify".to_string()];
    arguments.extend(paths.iter().map(|p| p.display().to_string()));
    let output = tgsic(&arguments, "").success();
    let count = paths.len();
    assert_eq!(output.text(), format!("{count} shaders: {count} equal at every stage, 0 different, 0 errors\n"));
    let output = tgsic(&["verify", "--json", "--seeds", "2"], FRAG).success();
    assert_eq!(
        json(output.text()),
        json(r#"{"shaders":1,"equal":1,"different":0,"error":0,"without_result":0,"first":[]}"#)
    );
    let output = tgsic(&["verify"], WRONG);
    assert_eq!((output.status, output.text()), (1, "1 shaders: 0 equal at every stage, 0 different, 1 errors\n"));
    assert!(output.stderr.contains("T0402"), "{}", output.stderr);
    let endless =
        tgsic(&["verify", "--seeds", "1"], "VERT\nDCL OUT[0], POSITION\nBGNLOOP\nENDLOOP\nMOV OUT[0], OUT[0]\nEND\n")
            .success();
    assert_eq!(endless.text(), "1 shaders: 0 equal at every stage, 0 different, 0 errors, 1 that do not end\n");
}

#[test]
fn verify_compares_with_recorded_results() {
    let words = |word: &str| format!("\"{}\"", word.repeat(16));
    let vector = |result: &str| {
        let (input, result) = (words("3f800000"), words(result));
        format!(r#"{{"f":"a.tgsi","seed":0,"in":{{"0":{input}}},"out":{{"0":{result}}},"live":15}}"#)
    };
    let both = format!("{}\n{}\n", vector("40000000"), vector("40400000"));
    let missing = vector("0").replace("a.tgsi", "b.tgsi");
    let folder =
        Folder::with(&[("s/a.tgsi", FRAG), ("good", &vector("40000000")), ("both", &both), ("missing", &missing)]);
    for via in ["tgsi", "ir", "ssa", "registers", "driver:tgsi"] {
        let run = |vectors: &str| folder.run(&["verify", "--vectors", vectors, "--root", "s", "--via", via, "--json"]);
        let good = json(run("good").success().text());
        let names = [
            "close",
            "different",
            "error",
            "exact",
            "first",
            "opcodes",
            "open",
            "open_words",
            "undetermined_words",
            "unended",
            "vectors",
        ];
        assert_eq!(keys(&good), names);
        assert_eq!((&good["vectors"], &good["exact"]), (&1.into(), &1.into()), "{via}");
        let both = run("both");
        let value = json(both.text());
        assert_eq!((both.status, &value["exact"], &value["different"]), (1, &1.into(), &1.into()), "{via}");
        assert_eq!(value["first"][0], "a.tgsi seed 0: OUT[0].x lane 0: recorded 40400000, found 40000000");
        let missing = run("missing");
        assert_eq!((missing.status, &json(missing.text())["error"]), (1, &1.into()));
    }
    let plain = folder.run(&["verify", "--vectors", "good", "--root", "s"]).success();
    assert_eq!(plain.text(), "1 vectors via tgsi: 1 exact, 0 close, 0 different, 0 errors\n");
}

#[test]
fn wrong_usage_has_status_2() {
    for arguments in [
        &[][..],
        &["fly"],
        &["ir", "--stage", "moon"],
        &["run", "--via", "moon"],
        &["run", "a", "b"],
        &["print", "-o", "x", "--out-dir", "y"],
        &["print", "-", "-"],
        &["print", "a", "b", "-o", "c"],
        &["check", "--color", "sometimes"],
        &["verify", "--vectors", "x", "file"],
        &["verify", "--via", "ir"],
        &["translate", "--driver", "softpipe"],
        &["translate", "--texts"],
        &["translate", "--json", "--shader-db"],
        &["report"],
    ] {
        let output = tgsic(arguments, FRAG);
        assert_eq!((output.status, output.text()), (2, ""), "{arguments:?}: {}", output.stderr);
        assert!(!output.stderr.is_empty() && !output.stderr.contains("panicked"), "{}", output.stderr);
    }
}

#[test]
fn the_dialect_of_virgl_is_read_and_written() {
    let source = "VERT\nPROPERTY NEXT_SHADER FRAG\nDCL IN[0]\nDCL IN[4]\nDCL CONST[0..3]\nDCL OUT[0], GENERIC[0]\nDCL TEMP[0..9]\n\
                  UADD TEMP[7], IN[0], CONST[1]\nMOV OUT[0], TEMP[7]\nEND\n";
    let output = tgsic(&["translate", "--dialect", "virgl"], source).success();
    let expected = "VERT\nDCL IN[0]\nDCL IN[4]\nDCL CONST[0..3]\nDCL OUT[0], GENERIC[0]\nDCL TEMP[0]\n  \
                    0: UADD TEMP[0], IN[0], CONST[1]\n  1: MOV OUT[0], TEMP[0]\n  2: END\n";
    assert_eq!(output.text(), expected);
    // In virgl's dialect, a second index left on a temporary does not make it two-dimensional.
    let slip = "TESS_CTRL\nPROPERTY TCS_VERTICES_OUT 1\nDCL IN[][0], POSITION\nDCL OUT[][0], CLIPDIST\nDCL SV[0], INVOCATIONID\n\
                DCL TEMP[0]\nDCL ADDR[0..1]\nUARL ADDR[1].x, SV[0].xxxx\nMOV TEMP[ADDR[1].x][0], IN[0][0]\nMOV OUT[0], TEMP[0]\nEND\n";
    let output = tgsic(&["translate", "--dialect", "virgl"], slip).success();
    assert!(output.text().contains("MOV OUT[ADDR[1].x][0], IN[0][0]\n"), "{}", output.text());
    tgsic(&["verify", "--dialect", "virgl"], slip).success();
    tgsic(&["check", "--dialect", "virgl"], slip).success();
    // In other dialects there is a hint.
    for command in [&["check"][..], &["check", "--dialect", "mesa"], &["translate"]] {
        let output = tgsic(command, slip);
        assert_eq!(output.status, 1);
        assert!(output.stderr.contains("valid for virgl hosts: use --dialect virgl"), "{}", output.stderr);
    }
    assert!(!tgsic(&["check"], WRONG).stderr.contains("--dialect"), "it is wrong in both dialects");
    let line = tgsic(&["ir", "--dialect", "virgl"], slip).success();
    assert!(line.text().contains("store_per_vertex_output") || line.text().contains("store_deref"), "{}", line.text());
}

#[test]
fn help_speaks_of_everything() {
    let help = tgsic(&["--help"], "").success();
    for command in ["print", "encode", "check", "scan", "run", "ir", "translate", "report", "verify"] {
        assert!(help.text().contains(&format!("\n  {command} ")), "{command}");
        let output = tgsic(&[command, "--help"], "").success();
        assert!(output.text().contains("--color") && output.text().contains("Usage: tgsic"), "{command}");
        assert_eq!(output.text().contains("--json"), output.text().contains("\nJSON: "), "{command}");
    }
    let proxy = tgsic(&["proxy", "--help"], "").success();
    for what in ["GALLIUM_DRIVER=virpipe", "/tmp/.virgl_test", "--socket-path=", "QEMU"] {
        assert!(proxy.text().contains(what), "{what}");
    }
    assert!(tgsic(&["--version"], "").success().text().starts_with("tgsic "));
}

/// Five lookups that depend on each other: one more than i915 and r300 have phases.
const CHAIN: &str = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT\n\
                     DCL TEMP[0]\nTEX TEMP[0], IN[0], SAMP[0], 2D\nTEX TEMP[0], TEMP[0], SAMP[0], 2D\n\
                     TEX TEMP[0], TEMP[0], SAMP[0], 2D\nTEX TEMP[0], TEMP[0], SAMP[0], 2D\n\
                     TEX TEMP[0], TEMP[0], SAMP[0], 2D\nMOV OUT[0], TEMP[0]\nEND\n";

#[test]
fn fit_says_what_is_used_and_what_is_too_much() {
    let fits = tgsic(&["fit", "--target", "nv30"], CHAIN).success();
    assert!(fits.text().starts_with("<stdin> (translated for nv30): FRAG fits nv30\n"), "{}", fits.text());
    for target in ["i915", "r300"] {
        let translated = tgsic(&["fit", "--target", target], CHAIN);
        assert_eq!(translated.status, 1);
        assert!(translated.text().contains("1 too many"), "{}", translated.text());
        assert!(translated.stderr.contains("<stdin>:11:1\n"), "{}", translated.stderr);
        assert!(translated.stderr.contains("error[T0830]: 5 texture phases"), "{}", translated.stderr);
        let as_is = tgsic(&["fit", "--as-is", "--target", target], CHAIN);
        assert_eq!(as_is.status, 1);
        assert!(as_is.stderr.contains("<stdin>:11:1"), "{}", as_is.stderr);
    }
    let line = json(tgsic(&["fit", "--json", "--target", "i915"], CHAIN).text());
    assert_eq!(keys(&line), ["as_is", "f", "fits", "target", "translated", "verdict"]);
    assert_eq!((&line["fits"], &line["target"]), (&Value::Bool(false), &Value::from("i915")));
    assert_eq!(keys(&line["as_is"]), ["fits", "limits", "stage", "target", "verdict"]);
    let phases = line["as_is"]["limits"].as_array().expect("limits").iter().find(|l| l["name"] == "texture-phases");
    assert_eq!(phases.expect("phases")["first"]["line"], 11);
    let phases =
        line["translated"]["limits"].as_array().expect("limits").iter().find(|l| l["name"] == "texture-phases");
    let first = &phases.expect("phases")["first"];
    assert!(
        first["column"] == 6 && first["code"].as_str().is_some_and(|code| code.starts_with("TEX OUT[0]")),
        "{first}"
    );
    let source = json(r#"{"line":11,"column":1,"code":"TEX TEMP[0], TEMP[0], SAMP[0], 2D"}"#);
    assert_eq!(first["source"], source);
    // Positions in IR text are those of its instructions.
    let ir = tgsic(&["ir"], CHAIN).success();
    let output = tgsic(&["fit", "--json", "--target", "i915"], ir.text());
    let line = json(output.text());
    let phases =
        line["translated"]["limits"].as_array().expect("limits").iter().find(|l| l["name"] == "texture-phases");
    let source = &phases.expect("phases")["first"]["source"];
    assert!(source["code"].as_str().is_some_and(|code| code.contains("tex")), "{source}");
    // IR can only be measured after translation.
    let ir = tgsic(&["ir"], FRAG).success();
    assert_eq!(tgsic(&["fit", "--as-is", "--target", "i915"], ir.text()).status, 1);
    tgsic(&["fit", "--target", "i915"], ir.text()).success();
}

#[test]
fn targets_are_named() {
    let wrong = tgsic(&["translate", "--target", "i195"], FRAG);
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("similar value exists: 'i915'"), "{}", wrong.stderr);
    let named = tgsic(&["translate", "--target", "i915"], FRAG).success();
    let option = tgsic(&["translate", "--driver-option", "unoptimized", "--target", "i915"], FRAG).success();
    assert!(named.text().starts_with("FRAG\n") && option.text().starts_with("FRAG\n"));
}
