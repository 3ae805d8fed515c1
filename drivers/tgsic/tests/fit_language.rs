//! Tests of `fit` with the languages that the drivers of targets offer.

use crate::common::{FRAG, Folder, tgsic};
use pretty_assertions::assert_eq;

const NEW: &str = "#version 130\nin vec4 a;\nout vec4 o;\nvoid main() { o = a; }\n";
/// Derivatives in GLSL ES, which r500 has and r300 does not.
const DERIVATIVES: &str = "#version 100\n#extension GL_OES_standard_derivatives : require\nprecision mediump float;\n\
                           varying vec4 a;\nvoid main() { gl_FragColor = dFdx(a); }\n";
/// A shader that writes as many colours as the target has.
const COLORS: &str = "#version 120\nvarying vec4 a;\nvoid main() {\n    for (int i = 0; i < gl_MaxDrawBuffers; i++) \
                      gl_FragData[i] = a;\n}\n";

#[test]
fn shaders_are_read_in_the_language_of_each_target() {
    let wrong = "#version 120\nvoid main() { gl_FragColor = vec4(1.0) }\n";
    let folder = Folder::with(&[
        ("s/colors.frag", COLORS),
        ("s/derivatives.frag", DERIVATIVES),
        ("s/new.frag", NEW),
        ("s/wrong.frag", wrong),
        ("s/z.tgsi", FRAG),
    ]);
    let output = folder.run(&["fit", "--target", "i915,r300,r500,virgl", "s"]);
    let expected = "shader              i915        r300        r500        virgl\n\
                    s/colors.frag       fits        fits        fits        fits\n\
                    s/derivatives.frag  language    language    fits        fits\n\
                    s/new.frag          language    language    language    fits\n\
                    s/wrong.frag        error       error       error       error\n\
                    s/z.tgsi            fits        fits        fits        fits\n\
                    total               2 of 5 fit  2 of 5 fit  3 of 5 fit  4 of 5 fit\n";
    assert_eq!((output.status, output.text()), (1, expected));
    let errors: Vec<&str> = output.stderr.lines().collect();
    let expected = [
        "s/derivatives.frag:2:12: error: extension `GL_OES_standard_derivatives` does not exist in GLSL 1.00 es (for \
         i915, r300) (the target's driver does not have it) [G0132]",
        "s/derivatives.frag:5:30: error: `dFdx` is not in version 1.00 es (for i915, r300) (needs #version 300 es or \
         GL_OES_standard_derivatives) [G0312]",
        "s/new.frag:1:10: error: version 130 is not supported by the target; its driver has GLSL up to 1.20 (for i915, \
         r300, r500) [G0115]",
    ];
    assert_eq!(errors[..3], expected);
    // Errors of the source are those of all targets.
    assert_eq!(errors[3..], ["s/wrong.frag:2:40: error: expected `;`, found `}` (add `;` after `)`) [G0201]"]);
    // A single target is named, too.
    let alone = folder.run(&["fit", "--target", "r300", "s/new.frag"]);
    assert_eq!((alone.status, alone.text()), (1, ""));
    assert!(alone.stderr.contains("its driver has GLSL up to 1.20 (for r300)\n"), "{}", alone.stderr);
}

#[test]
fn options_of_the_command_line_take_precedence() {
    let folder = Folder::with(&[("colors.frag", COLORS), ("new.frag", NEW)]);
    let fit = |options: &[&str], file| folder.run(&[&["fit", "--target", "r300", file], options].concat());
    assert_eq!(fit(&[], "new.frag").status, 1);
    fit(&["--any-language"], "new.frag").success();
    fit(&["--front-end-option", "max-version=130"], "new.frag").success();
    fit(&[], "colors.frag").success();
    // Without the language of the target, there are eight colours.
    for options in [&["--any-language"][..], &["--front-end-option", "limit=gl_MaxDrawBuffers=8"]] {
        let output = fit(options, "colors.frag");
        assert!(output.stderr.contains("8 colour outputs, r300 has 4"), "{}", output.stderr);
    }
    // Without a target, no language is known.
    folder.run(&["fit", "new.frag"]).success();
    for (option, message) in [
        ("max-version=115", "`115` is not a version; there are 110, 120, "),
        ("limit=gl_MaxLight=8", "the language has no constant `gl_MaxLight`, did you mean `gl_MaxLights`?"),
        ("limit=gl_MaxLights=9", "`gl_MaxLights` is from 1 to 8"),
        ("limit=gl_MaxLights=x", "`gl_MaxLights` needs a number"),
        ("stage=pixel", "`pixel` is not a stage"),
    ] {
        let wrong = fit(&["--front-end-option", option], "new.frag");
        assert_eq!(wrong.status, 2, "{option}");
        assert!(wrong.stderr.contains(message), "{}", wrong.stderr);
    }
}

/// The table in the documentation is that of the profiles.
#[test]
fn languages_are_documented() {
    let table = tgsic(&["fit", "--languages", "--target", "i915,r300,r500,nv30,nv40,vgpu9"], "").success();
    let page = include_str!("../../../docs/fit.md");
    assert!(page.contains(table.text()), "docs/fit.md needs this table:\n{}", table.text());
    let all = tgsic(&["fit", "--languages"], "").success();
    let lines: Vec<&str> = all.text().lines().collect();
    assert!(lines[0].starts_with("glsl ") && lines[0].ends_with("r500  svga   vgpu9"), "{}", lines[0]);
    assert_eq!(lines.last(), Some(&"any language: generic, virgl, d3d10umd"));
    assert_eq!(tgsic(&["fit", "--languages", "a.frag"], "").status, 2);
}
