//! Tests of `fit` for several targets.

use crate::common::{FRAG, Folder, WRONG, tgsic};
use pretty_assertions::assert_eq;
use serde_json::Value;

/// Six lookups that depend on each other: two more than i915 and r300 have phases.
const RIPPLE: &str = "#version 110\nuniform sampler2D image;\nvarying vec2 at;\nvoid main() {\n    vec2 to = at;\n    \
                      for (int i = 0; i < 5; i++) to = texture2D(image, to).xy;\n    \
                      gl_FragColor = texture2D(image, to);\n}\n";
/// A loop without a bound, which nv40 has.
const STEPS: &str = "#version 110\nuniform int n;\nvarying vec4 a;\nvoid main() {\n    vec4 c = a;\n    \
                     for (int i = 0; i < n; i++) c = c * c + a;\n    gl_FragColor = c;\n}\n";
/// A geometry shader.
const GEOMETRY: &str = "GEOM\nPROPERTY GS_INPUT_PRIMITIVE TRIANGLES\nPROPERTY GS_OUTPUT_PRIMITIVE TRIANGLE_STRIP\n\
                        PROPERTY GS_MAX_OUTPUT_VERTICES 3\nDCL IN[][0], POSITION\nDCL OUT[0], POSITION\n\
                        IMM[0] UINT32 {0, 1, 2, 3}\nMOV OUT[0], IN[0][0]\nEMIT IMM[0].xxxx\nEND\n";
/// More arithmetic than r300 has, by an estimate.
const LONG: &str = "#version 110\nvarying vec4 a;\nuniform float s[40];\nvoid main() {\n    vec4 c = a;\n    \
                    for (int i = 0; i < 40; i++) c = sin(c * s[i]);\n    gl_FragColor = c;\n}\n";

/// Returns the lines of a matrix as cells.
fn cells(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect()
}

#[test]
fn fit_shows_a_matrix_of_several_targets() {
    let folder = Folder::with(&[("s/ripple.frag", RIPPLE), ("s/more/a.tgsi", FRAG), ("s/notes.md", "no shader")]);
    let output = folder.run(&["fit", "--target", "i915,nv40,r300", "s"]);
    assert_eq!(output.status, 1);
    let expected = "shader         i915                nv40        r300\n\
                    s/more/a.tgsi  fits                fits        fits\n\
                    s/ripple.frag  texture-phases 6/4  fits        texture-phases 6/4\n\
                    total          1 of 2 fit          2 of 2 fit  1 of 2 fit\n";
    assert_eq!(output.text(), expected);
    // The findings are those of each target alone, with places in the source.
    let alone = |target| folder.run(&["fit", "--target", target, "s"]).stderr;
    assert_eq!(output.stderr, alone("i915") + &alone("nv40") + &alone("r300"));
    assert!(output.stderr.starts_with("s/ripple.frag:6:33: error: 6 texture phases, i915"), "{}", output.stderr);
    // Targets that fit give the status 0. Names that are repeated have one column.
    let fits = folder.run(&["fit", "--target", "nv40,nv30,nv40", "s"]).success();
    assert_eq!(cells(fits.text())[0], ["shader", "nv40", "nv30"]);
}

#[test]
fn fit_shows_estimates_and_constructs_that_a_target_lacks() {
    let folder = Folder::with(&[("long.frag", LONG), ("g.tgsi", GEOMETRY)]);
    let fit = |options: &[&str]| {
        folder.run(&[&["fit", "--target", "r300,softpipe", "long.frag", "g.tgsi"], options].concat())
    };
    let output = fit(&[]);
    let rows = cells(output.text());
    assert_eq!(rows[1], ["long.frag", "may not", "fits"]);
    assert_eq!(rows[2], ["g.tgsi", "no EMIT", "fits"]);
    assert_eq!(rows[3], ["total", "0 of 2 fit, 1 may not", "2 of 2 fit"]);
    assert!(output.stderr.contains("[T0831]") && output.stderr.contains("[T0832]"), "{}", output.stderr);
    let denied = fit(&["--deny", "may-not-fit"]);
    let rows = cells(denied.text());
    assert!(rows[1][1].starts_with("alu ") && rows[1][1].ends_with("/64"), "{rows:?}");
    assert_eq!(rows[3][1], "0 of 2 fit");
    // An estimate alone is not an error.
    assert_eq!(folder.run(&["fit", "--target", "r300,nv40", "long.frag"]).status, 0);
}

#[test]
fn fit_shows_errors_once_for_all_targets() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("b.tgsi", WRONG)]);
    let output = folder.run(&["fit", "--target", "i915,r300", "a.tgsi", "b.tgsi", "c.tgsi"]);
    assert_eq!(output.status, 2);
    let rows = cells(output.text());
    assert_eq!(rows[1..3], [vec!["a.tgsi", "fits", "fits"], vec!["b.tgsi", "error", "error"]]);
    // A file that cannot be read has no row.
    assert_eq!(rows[3], ["total", "1 of 2 fit", "1 of 2 fit"]);
    assert_eq!(output.stderr.matches("b.tgsi:5:").count(), 1, "{}", output.stderr);
    assert!(output.stderr.contains("cannot read c.tgsi"), "{}", output.stderr);
    // Errors of some targets name them.
    let folder = Folder::with(&[("steps.frag", STEPS)]);
    let output = folder.run(&["fit", "--target", "i915,nv40,r300", "steps.frag"]);
    assert_eq!((output.status, cells(output.text())[1].as_slice()), (1, &["steps.frag", "error", "fits", "error"][..]));
    assert!(output.stderr.contains("the target has no loops (for i915, r300)\n"), "{}", output.stderr);
    assert!(output.stderr.contains("steps.frag:6:"), "{}", output.stderr);
    // A driver without limits has nothing to show.
    let none = tgsic(&["fit", "--driver", "spirv", "--target", "vulkan1.0,vulkan1.1"], FRAG);
    assert_eq!(none.text(), "shader   vulkan1.0  vulkan1.1\n<stdin>  -          -\ntotal    -          -\n");
    assert_eq!((none.status, none.stderr.as_str()), (1, "<stdin>: error: the driver `spirv` has no limits\n"));
}

/// Drivers with machine code count their own instructions.
#[cfg(feature = "nv40")]
#[test]
fn fit_measures_machine_code() {
    let folder = Folder::with(&[("a.tgsi", FRAG)]);
    let output = folder.run(&["fit", "--driver", "nv40", "--target", "rsx", "a.tgsi"]).success();
    let text = output.text();
    assert!(text.starts_with("a.tgsi (translated for rsx): FRAG fits rsx\n"), "{text}");
    let registers = text.lines().find(|line| line.contains("R registers")).expect("a line of registers");
    assert!(registers.ends_with("of    48     46 left"), "{registers}");
}

#[test]
fn fit_prints_json_for_each_shader_and_target() {
    let folder = Folder::with(&[("a.tgsi", FRAG), ("ripple.frag", RIPPLE)]);
    let output = folder.run(&["fit", "--json", "--target", "i915,nv40", "a.tgsi", "ripple.frag"]);
    assert_eq!((output.status, output.stderr.as_str()), (1, ""));
    let lines: Vec<Value> = output.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let rows: Vec<_> = lines.iter().map(|l| (l["f"].as_str(), l["target"].as_str(), l["fits"].as_bool())).collect();
    let row = |file, target, fits| (Some(file), Some(target), Some(fits));
    let expected = [
        row("a.tgsi", "i915", true),
        row("a.tgsi", "nv40", true),
        row("ripple.frag", "i915", false),
        row("ripple.frag", "nv40", true),
    ];
    assert_eq!(rows, expected);
    let alone = folder.run(&["fit", "--json", "--target", "nv40", "ripple.frag"]).success();
    assert_eq!(output.text().lines().last(), alone.text().lines().last());
}

#[test]
fn fit_rejects_wrong_lists_and_empty_folders() {
    for (list, message) in [("i915,nv04", "'nv40'"), ("i915,", "a value is required"), ("i915, r300", "invalid value")]
    {
        let wrong = tgsic(&["fit", "--target", list], FRAG);
        assert_eq!(wrong.status, 2, "{list}");
        assert!(wrong.stderr.contains(message), "{}", wrong.stderr);
    }
    // Other commands have one target.
    assert_eq!(tgsic(&["translate", "--target", "i915,r300"], FRAG).status, 2);
    let folder = Folder::with(&[("s/notes.md", "no shader"), ("t/a.tgsi", FRAG)]);
    let empty = folder.run(&["fit", "--target", "i915,r300", "s"]);
    assert_eq!(empty.status, 2);
    assert!(empty.stderr.contains("no file below s "), "{}", empty.stderr);
    // Only files of the language count.
    assert_eq!(folder.run(&["fit", "--language", "glsl", "--target", "i915", "t"]).status, 2);
    let alone = folder.run(&["fit", "--target", "i915", "t"]).success();
    assert!(alone.text().starts_with("t/a.tgsi (translated for i915): FRAG fits i915\n"), "{}", alone.text());
}
