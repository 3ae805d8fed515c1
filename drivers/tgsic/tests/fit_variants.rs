//! Tests of `fit --variants`.

use crate::common::{FRAG, Folder};
use pretty_assertions::assert_eq;
use serde_json::Value;

const LIT: &str = "#version 120\nuniform sampler2D image;\nvarying vec2 at;\nvoid main() {\n    \
                   vec4 color = texture2D(image, at);\n#ifdef RIPPLE\n    for (int i = 0; i < RIPPLE; i++) \
                   color = texture2D(image, color.xy);\n#endif\n    gl_FragColor = color;\n}\n";
const SETS: &str = "# The options of the game.\nplain:\nripple: -D RIPPLE=2\n\nstrong: -DRIPPLE=4 # too much\n";

#[test]
fn each_shader_is_measured_with_each_set() {
    let folder = Folder::with(&[("lit.frag", LIT), ("a.tgsi", FRAG), ("sets", SETS)]);
    let fit = |options: &[&str]| {
        folder.run(&[&["fit", "--variants", "sets", "lit.frag", "a.tgsi", "--target"], options].concat())
    };
    let output = fit(&["i915,nv40"]);
    let expected = "shader             i915                nv40\n\
                    lit.frag [plain]   fits                fits\n\
                    lit.frag [ripple]  fits                fits\n\
                    lit.frag [strong]  texture-phases 5/4  fits\n\
                    a.tgsi             fits                fits\n\
                    total              3 of 4 fit          4 of 4 fit\n";
    assert_eq!((output.status, output.text()), (1, expected));
    assert!(
        output.stderr.starts_with("lit.frag [strong]:7:38: error: 5 texture phases, i915 has 4"),
        "{}",
        output.stderr
    );
    // The definitions of a set are those after the definitions of the command line.
    let more = fit(&["i915", "--front-end-option", "define=RIPPLE=7", "--json"]);
    let objects = more.text().lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let fits: Vec<_> = objects.map(|object| (object["f"].clone(), object["fits"].clone())).collect();
    let expected =
        [("lit.frag [plain]", false), ("lit.frag [ripple]", true), ("lit.frag [strong]", false), ("a.tgsi", true)];
    assert_eq!(fits, expected.map(|(name, fits)| (Value::from(name), Value::from(fits))));
    // The listing and the page have each variant.
    let lines = fit(&["nv40", "--lines", "--html", "page.html"]).success();
    assert_eq!(lines.text().matches("  vec4 color = texture2D(image, at);\n").count(), 3);
    let page = String::from_utf8(folder.read("page.html")).expect("text");
    assert!(page.contains("\"lit.frag [strong]\"") && page.matches("vec4 color = texture2D").count() == 1);
    // Files that cannot be read are reported in their place.
    let missing = folder.run(&["fit", "--variants", "sets", "--target", "nv40,nv30", "none.frag", "lit.frag"]);
    assert_eq!((missing.status, missing.text().lines().count()), (2, 5));
}

#[test]
fn wrong_sets_are_errors_with_a_place() {
    let folder = Folder::with(&[
        ("lit.frag", LIT),
        ("form", "a: -D A\nb: A\n"),
        ("twice", "a: -D A\n b: -D B\na:\n"),
        ("empty", "# nothing\n"),
        ("quote", "a: -D \"A=1 + 2\nb:\n"),
    ]);
    folder.write("bytes", b"a: -D A\xff\n");
    let fit = |sets: &str, options: &[&str]| {
        folder.run(&[&["fit", "--target", "i915", "--variants", sets, "lit.frag"], options].concat())
    };
    for (sets, message) in [
        (
            "form",
            "form:2:4: `A` is not a definition (a line is a name and definitions: `shadows: -D SHADOWS=1 -D FOO`)",
        ),
        ("twice", "twice:3:1: there is another set with the name `a` (each set needs its own name)"),
        ("empty", "empty:1:1: the file has no sets of definitions (a line is a name and definitions: "),
        ("quote", "quote:1:7: the quote does not end (quote a definition with blanks: "),
        ("bytes", "bytes:1:8: the line is not UTF-8 (save the file as UTF-8)"),
        ("none", "cannot read none: "),
    ] {
        let output = fit(sets, &[]);
        assert_eq!((output.status, output.text()), (2, ""), "{sets}");
        assert!(output.stderr.starts_with(&format!("tgsic: {message}")), "{}", output.stderr);
    }
    let json = fit("form", &["--error-format", "json"]);
    let object: Value = serde_json::from_str(&json.stderr).expect("JSON");
    assert_eq!((&object["line"], &object["column"], &object["code"]), (&2.into(), &4.into(), &"T0816".into()));
}
