//! Tests control over the passes: levels, skipped passes, where to stop, and intermediate output.

use crate::common::{FRAG, Folder, demo_shaders, tgsic};

/// A loop of four iterations, two equal products, and an `if` that can become a selection.
const LOOP: &str = "FRAG
DCL IN[0], GENERIC[0], PERSPECTIVE
DCL OUT[0], COLOR
DCL CONST[0][0..1]
DCL TEMP[0..2]
IMM[0] INT32 {4, 1, 0, 0}
IMM[1] FLT32 {0.5, 1.0, 0.0, 2.0}
MUL TEMP[0], IN[0], CONST[0][0]
MUL TEMP[2], IN[0], CONST[0][0]
ADD TEMP[0], TEMP[0], TEMP[2]
MOV TEMP[1].x, IMM[0].zzzz
BGNLOOP
ISGE TEMP[1].y, TEMP[1].xxxx, IMM[0].xxxx
UIF TEMP[1].yyyy
BRK
ENDIF
MAD TEMP[0], TEMP[0], IMM[1].xxxx, CONST[0][1]
UADD TEMP[1].x, TEMP[1].xxxx, IMM[0].yyyy
ENDLOOP
FSLT TEMP[1].x, TEMP[0].xxxx, IMM[1].yyyy
UIF TEMP[1].xxxx
MOV TEMP[0].x, CONST[0][1].yyyy
ENDIF
MOV OUT[0], TEMP[0]
END
";

/// Splits the output of `--print-changed` into header lines and the text below each.
fn sections(text: &str) -> Vec<(&str, &str)> {
    let parts = text.split("\n// ").map(|part| part.trim_start_matches("// "));
    parts.map(|part| part.split_once('\n').expect("a header line")).collect()
}

/// Returns the number of runs and changes of a pass from the table on standard error.
fn row(table: &str, pass: &str) -> (usize, usize) {
    let words = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = words.into_iter().find(|words| words.first() == Some(&pass)).unwrap_or_else(|| panic!("{pass}: {table}"));
    (row[1].parse().expect("runs"), row[2].parse().expect("changes"))
}

#[test]
fn levels_say_how_far_the_optimiser_goes() {
    let count = |level: &str, opcode: &str| {
        let output = tgsic(&["translate", "-O", level], LOOP).success();
        output.text().lines().filter(|line| line.split_whitespace().nth(1) == Some(opcode)).count()
    };
    for (level, loops, ifs, mads) in [("0", 1, 2, 1), ("1", 1, 1, 1), ("2", 0, 0, 4)] {
        let counts = ["BGNLOOP", "UIF", "MAD"].map(|opcode| count(level, opcode));
        assert_eq!(counts, [loops, ifs, mads], "-O {level}");
        let ir = tgsic(&["ir", "--stage", "opt", "-O", level], LOOP).success();
        assert_eq!(ir.text().contains("loop {"), loops > 0, "-O {level}: {}", ir.text());
        let verified = tgsic(&["verify", "-O", level], LOOP).success();
        assert!(verified.text().starts_with("1 shaders: 1 equal"), "{}", verified.text());
    }
    let plain = tgsic(&["translate"], LOOP).success();
    assert_eq!(plain.stdout, tgsic(&["translate", "-O2"], LOOP).success().stdout);
    for wrong in ["3", "-1", "s", ""] {
        assert_eq!(tgsic(&["translate", "-O", wrong], LOOP).status, 2, "{wrong}");
    }
}

#[test]
fn recorded_results_hold_at_every_level() {
    let words = |word: &str| format!("\"{}\"", word.repeat(16));
    let (input, result) = (words("3f800000"), words("40000000"));
    let vector = format!(r#"{{"f":"a.tgsi","seed":0,"in":{{"0":{input}}},"out":{{"0":{result}}},"live":15}}"#);
    let folder = Folder::with(&[("a.tgsi", FRAG), ("good", &vector)]);
    for level in ["0", "1", "2"] {
        for via in ["opt", "registers", "driver:tgsi"] {
            let arguments = ["verify", "--vectors", "good", "--via", via, "-O", level, "--skip", "opt_cse"];
            let output = folder.run(&arguments).success();
            assert!(output.text().contains("1 exact"), "{via} -O {level}: {}", output.text());
        }
    }
}

#[test]
fn after_ends_with_the_first_run_of_a_pass() {
    let products = |pass: &str| {
        let output = tgsic(&["ir", "--after", pass], LOOP).success();
        output.text().matches("= fmul ").count()
    };
    // Two equal products, and one in the loop that the rules extract from a MAD.
    assert_eq!((products("opt_copy_prop"), products("opt_undef"), products("opt_cse")), (2, 3, 2));
    let loops = |pass: &str| tgsic(&["ir", "--after", pass], LOOP).success().text().contains("loop {");
    assert!(loops("opt_loop") && !loops("opt_loop_unroll"));
    // Compilation ends at the last change, before the driver's lowering.
    let shown = tgsic(&["ir", "--after", "opt_loop_unroll", "--print-changed", "--stage", "registers"], LOOP).success();
    let sections = sections(shown.text());
    let (header, last) = sections.last().expect("sections");
    assert_eq!(*header, "after opt_loop_unroll, round 1.0");
    assert_eq!(tgsic(&["ir", "--after", "opt_loop_unroll"], LOOP).success().text().trim(), last.trim());
}

#[test]
fn passes_are_known_by_name() {
    for arguments in [["ir", "--after"], ["ir", "--skip"], ["translate", "--skip"], ["verify", "--skip"]] {
        let output = tgsic(&[arguments[0], arguments[1], "opt_moon"], FRAG);
        assert_eq!((output.status, output.text()), (2, ""));
        for part in ["opt_moon", "inline_functions, ", "opt_cse, ", "opt_algebraic_distribute_src_mods]"] {
            assert!(output.stderr.contains(part), "{}", output.stderr);
        }
    }
    // A known pass that does not run.
    for arguments in [&["-O0"][..], &["--stage", "ssa"], &["--skip", "opt_if"]] {
        let output = tgsic(&[&["ir", "--after", "opt_if"], arguments].concat(), FRAG);
        assert_eq!((output.status, output.text()), (1, ""), "{arguments:?}");
        assert!(output.stderr.contains("opt_if does not run before this stage"), "{}", output.stderr);
    }
}

#[test]
fn print_changed_shows_each_change() {
    for stage in ["ssa", "opt", "registers"] {
        let shown = tgsic(&["ir", "--print-changed", "--stage", stage], LOOP).success();
        let sections = sections(shown.text());
        assert_eq!(sections[0].0, "parsed");
        assert_eq!(sections[0].1.trim(), tgsic(&["ir", "--stage", "parsed"], LOOP).success().text().trim());
        let (_, last) = sections.last().expect("sections");
        assert_eq!(last.trim(), tgsic(&["ir", "--stage", stage], LOOP).success().text().trim(), "{stage}");
        for pair in sections.windows(2) {
            assert_ne!(pair[0].1.trim(), pair[1].1.trim(), "{}", pair[1].0);
        }
        let headers: Vec<&str> = sections.iter().map(|(header, _)| *header).collect();
        assert!(headers.contains(&"after opt_copy_prop, round 0.0"), "{headers:?}");
        assert_eq!(headers.contains(&"after opt_cse, round 0.1"), stage != "ssa", "{headers:?}");
        assert_eq!(headers.contains(&"after opt_loop_unroll, round 1.0"), stage != "ssa", "{headers:?}");
        assert_eq!(headers.contains(&"registers"), stage == "registers", "{headers:?}");
        assert!(!headers.iter().any(|header| header.starts_with("after opt_if,")), "{headers:?}");
        // Each is a shader that computes the same results.
        let runs = |ir: &str| tgsic(&["run", "--via", "ir", "--json"], ir).success().text().replace(' ', "");
        let out = |json: &str| json.split("\"steps\"").next().map(str::to_string);
        let expected = out(&runs(sections[0].1));
        assert!(sections.iter().all(|(_, ir)| out(&runs(ir)) == expected), "{stage}");
    }
    assert_eq!(tgsic(&["ir", "--print-changed", "--dot"], LOOP).status, 2);
}

#[test]
fn skipped_passes_do_not_run() {
    let products = |arguments: &[&str]| {
        let output = tgsic(&[&["ir", "--stage", "opt"], arguments].concat(), LOOP).success();
        output.text().matches("= fmul ").count()
    };
    // One of two equal products is left.
    assert_eq!(products(&["--skip", "opt_cse"]), products(&[]) + 1);
    let arguments = ["--skip", "opt_loop_unroll", "--skip", "opt_peephole_select"];
    let translated = tgsic(&[&["translate"], &arguments[..]].concat(), LOOP).success();
    assert!(translated.text().contains("BGNLOOP") && translated.text().contains("UIF"), "{}", translated.text());
    let shown = tgsic(&[&["ir", "--stage", "opt", "--print-changed"], &arguments[..]].concat(), LOOP).success();
    assert!(!shown.text().contains("after opt_loop_unroll") && !shown.text().contains("after opt_peephole_select"));
    let run = tgsic(&[&["run", "--via", "opt"], &arguments[..]].concat(), LOOP).success();
    assert!(run.text().contains("OUT[0]"), "{}", run.text());
}

#[test]
fn any_pass_can_be_left_out() {
    let names = tgsic(&["ir", "--skip", "?"], FRAG).stderr;
    let list = names.split("possible values: ").nth(1).and_then(|rest| rest.split(']').next()).expect("a list");
    let paths: Vec<String> = demo_shaders().iter().map(|path| path.display().to_string()).collect();
    let folder = Folder::with(&[("loop.tgsi", LOOP)]);
    for pass in list.split(',').map(str::trim) {
        let mut arguments = vec!["verify", "--seeds", "2", "--each-pass", "--skip", pass, "loop.tgsi"];
        arguments.extend(paths.iter().map(String::as_str));
        let output = folder.run(&arguments).success();
        assert!(output.text().contains(" 0 different, 0 errors"), "{pass}: {}", output.text());
    }
}

#[test]
fn times_are_shown_on_standard_error() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("b.tgsi", LOOP)]);
    for command in [&["ir", "--stage", "opt"][..], &["translate"]] {
        let plain = folder.run(&[command, &["a.tgsi", "b.tgsi"]].concat()).success();
        let timed = folder.run(&[command, &["--time-passes", "a.tgsi", "b.tgsi"]].concat());
        assert_eq!((timed.status, &timed.stdout), (0, &plain.stdout));
        // Once for each shader; only the second has a loop.
        assert_eq!(row(&timed.stderr, "lower_returns").0, 2);
        assert_eq!(row(&timed.stderr, "opt_loop_unroll").1, 1);
        let rows: Vec<Vec<&str>> = timed.stderr.lines().skip(1).map(|l| l.split_whitespace().collect()).collect();
        let times: Vec<f64> = rows.iter().map(|row| row[3].parse().expect("a time")).collect();
        let (all, times) = times.split_last().expect("rows");
        assert!(times.is_sorted_by(|a, b| a >= b), "{}", timed.stderr);
        assert!((times.iter().sum::<f64>() - all).abs() < 0.1, "{}", timed.stderr);
        let runs: usize = rows[..rows.len() - 1].iter().map(|r| r[1].parse::<usize>().expect("runs")).sum();
        assert_eq!(row(&timed.stderr, "all").0, runs);
    }
}

/// The table also has the passes of the driver, under their own names.
#[test]
fn times_of_the_driver() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("b.tgsi", LOOP)]);
    let timed = |arguments: &[&str]| {
        let output = folder.run(&[arguments, &["--time-passes", "a.tgsi", "b.tgsi"]].concat());
        assert_eq!(output.status, 0, "{}", output.stderr);
        output.stderr
    };
    let lowering =
        ["registers:lower_io", "tgsi:lower_bool_to_int32", "registers:opt_cse", "registers:convert_from_ssa"];
    let lowering = lowering.into_iter().chain(["registers:lower_locals_to_regs", "registers:legacy_trivialize"]);
    let machine = ["tgsi:select", "tgsi:hoist_constants", "tgsi:allocate", "tgsi:build"];
    let translated = timed(&["translate"]);
    for name in lowering.clone().chain(machine) {
        assert_eq!(row(&translated, name).0, 2, "{name}: {translated}");
    }
    assert_eq!(row(&translated, "tgsi:select"), (2, 2));
    for name in ["simplify_cfg", "propagate_copies", "combine", "remove_dead_code", "propagate_backward", "vectorize"] {
        assert!(row(&translated, &format!("tgsi:{name}")).0 >= 2, "{name}: {translated}");
    }
    // Before dead code removal and before allocation; before and after allocation.
    for name in ["tgsi:liveness", "tgsi:merge_instructions"] {
        assert!(row(&translated, name).0 >= 4, "{name}: {translated}");
    }
    // The driver's lowering runs only for the stage `registers`.
    let registers = timed(&["ir", "--stage", "registers"]);
    for name in lowering {
        assert_eq!(row(&registers, name).0, 2, "{name}: {registers}");
    }
    assert!(!registers.contains("tgsi:select"), "{registers}");
    assert!(!timed(&["ir", "--stage", "opt"]).contains("registers:"));
    // The driver's passes cannot be skipped.
    let skipped = timed(&["translate", "--skip", "opt_cse"]);
    assert_eq!(row(&skipped, "registers:opt_cse").0, 2, "{skipped}");
    assert!(!skipped.lines().any(|line| line.starts_with("opt_cse ")), "{skipped}");
    let floats = timed(&["translate", "--driver-option", "no_native_integers"]);
    for name in ["registers:lower_int_to_float", "registers:lower_interface_integers", "registers:lower_bool_to_float"]
    {
        assert_eq!(row(&floats, name).0, 2, "{name}: {floats}");
    }
}

#[test]
fn each_pass_of_sound_shaders_is_sound() {
    let mut arguments = vec!["verify".to_string(), "--each-pass".to_string()];
    arguments.extend(demo_shaders().iter().map(|path| path.display().to_string()));
    let output = tgsic(&arguments, "").success();
    assert!(output.text().contains(" 0 different, 0 errors"), "{}", output.text());
    tgsic(&["verify", "--each-pass"], LOOP).success();
    assert_eq!(tgsic(&["verify", "--each-pass", "--vectors", "x"], "").status, 2);
}
