//! Syntax that versions lack.

use pretty_assertions::assert_eq;

use super::{findings, parse, tree};

/// The messages and hints about statements in a version.
fn in_version(version: &str, text: &str) -> Vec<String> {
    let text = format!("#version {version}\n{text}\n");
    let findings = parse(&text).findings;
    findings.iter().map(|f| format!("{} {}; {}", f.code.id, f.message, f.hint.as_deref().unwrap_or("-"))).collect()
}

#[test]
fn precisions_in_desktop_versions() {
    let hint = "a shader in GLSL ES needs `#version 100` or the option `--glsl es100`; otherwise it needs #version 130";
    let text = "precision highp float; varying mediump vec2 a; lowp float f() { precision lowp int; }";
    let message = format!("G0221 `precision` is not a keyword in GLSL 1.10; {hint}");
    assert_eq!(in_version("110", text), [message]);
    assert_eq!(in_version("130", text), [""; 0]);
    let tree = tree_of_errors(text);
    assert_eq!(tree, {
        "(precision highp float)\n(var varying mediump vec2 a)\n(fn lowp float f() (precision lowp int))"
    });
}

fn in_function(version: &str, text: &str) -> Vec<String> {
    in_version(version, &format!("void f() {{ {text} }}"))
}

#[test]
fn operators_on_integers() {
    let hint = "needs #version 130 or GL_EXT_gpu_shader4";
    for (text, message) in [
        ("a % b;", "there is no operator `%`"),
        ("a %= b;", "there is no operator `%`"),
        ("a & b;", "there are no operators on bits"),
        ("a ^= b;", "there are no operators on bits"),
        ("~a;", "there are no operators on bits"),
        ("a << b;", "there are no shifts"),
        ("a >>= b;", "there are no shifts"),
    ] {
        assert_eq!(in_function("120", text), [format!("G0209 {message} in GLSL 1.20; {hint}")]);
        assert_eq!(in_function("130", text), [""; 0]);
        assert_eq!(in_function("300 es", text), [""; 0]);
    }
    assert_eq!(in_function("100", "a % b;"), ["G0209 there is no operator `%` in GLSL 1.00 es; needs #version 300 es"]);
    let text = "#extension GL_EXT_gpu_shader4 : enable\nvoid f() { a & b; }";
    assert_eq!(in_version("120", text), [""; 0]);
}

#[test]
fn arrays() {
    assert_eq!(
        in_function("110", "float[2](a, b);"),
        ["G0209 there are no array constructors in GLSL 1.10; needs #version 120"]
    );
    assert_eq!(in_function("110", "a.length();"), ["G0209 there are no methods in GLSL 1.10; needs #version 120"]);
    assert_eq!(
        in_function("110", "float[2] a;"),
        ["G0291 array dimensions follow the type in GLSL 1.10; needs #version 120"]
    );
    let hint = "needs #version 430 or GL_ARB_arrays_of_arrays";
    for text in ["float a[2][3];", "float[2] a[3];", "float[2][3][4] a;"] {
        let message = format!("G0209 there are no arrays of arrays in GLSL 3.30 core; {hint}");
        assert_eq!(in_function("330", text), [message]);
        assert_eq!(in_function("310 es", text), [""; 0]);
    }
    assert_eq!(in_version("330", "void f(float[2] a[3]);").len(), 1);
    assert_eq!(
        in_function("410", "float a[] = { 1.0, 2.0 };"),
        ["G0209 there are no initialiser lists in GLSL 4.10 core; needs #version 420 or \
             GL_ARB_shading_language_420pack"]
    );
    assert_eq!(
        in_function("320 es", "float a[] = { 1.0 };"),
        ["G0209 there are no initialiser lists in GLSL 3.20 es; no version of GLSL ES has it"]
    );
}

#[test]
fn storage() {
    assert_eq!(
        in_version("120", "in vec4 a;"),
        ["G0209 `in` and `out` are qualifiers of parameters only in GLSL 1.20; needs #version 130 or \
         GL_EXT_gpu_shader4 or GL_ARB_explicit_attrib_location or GL_ARB_separate_shader_objects or \
         GL_ARB_fragment_coord_conventions"]
    );
    assert_eq!(
        in_version("130", "uniform B { float a; };"),
        ["G0209 there are no uniform blocks in GLSL 1.30; needs #version 140 or GL_ARB_uniform_buffer_object"]
    );
    assert_eq!(
        in_version("140", "uniform B { float a; } b;"),
        ["G0209 blocks have no instance names in GLSL 1.40; needs #version 150"]
    );
    assert_eq!(in_version("310 es", "in B { vec4 a; } b;").len(), 1);
    assert_eq!(in_version("140", "out B { vec4 a; };").len(), 1);
}

#[test]
fn keywords_of_later_versions() {
    let layout = in_version("120", "layout(location = 0) attribute vec4 a;");
    assert!(
        layout.len() == 1
            && layout[0].starts_with("G0221 `layout` is not a keyword in GLSL 1.20; needs #version 140 or")
    );
    assert_eq!(
        in_version("110", "flat varying vec4 a;"),
        ["G0221 `flat` is not a keyword in GLSL 1.10; needs #version 130 or GL_EXT_gpu_shader4"]
    );
    assert_eq!(
        in_version("110", "invariant gl_Position;"),
        ["G0221 `invariant` is not a keyword in GLSL 1.10; needs #version 120"]
    );
    assert_eq!(
        in_function("120", "uint a = uint(b);"),
        ["G0221 `uint` is not a keyword in GLSL 1.20; needs #version 130"]
    );
    assert_eq!(in_version("420", "buffer B { float a; };").len(), 1);
}

#[test]
fn reserved_words_are_reported_once() {
    for text in [
        "void f() { switch (a) { case 1: b; break; default: c; } }",
        "uniform sampler3DRect a;",
        "half a = half(b);",
        "inline float f() { return 1.0; }",
        "static const float a = 1.0;",
        "class C { float a; };",
        "enum E { a, b };",
        "typedef float real;",
        "template <class T> void f();",
        "void f() { goto a; }",
        "void f() { a = sizeof(b); }",
        "namespace n { float a; }",
        "unsigned int a;",
        "double a; void f() { dvec2[2](b, c); }",
    ] {
        let findings = findings(text);
        assert!(!findings.is_empty() && findings.iter().all(|finding| finding.contains(" G0104 ")), "{findings:?}");
    }
}

#[test]
fn newer_syntax_is_in_the_tree() {
    let parsed = parse("void f() { switch (a) { case 1: b; } c % d; }");
    let tree = super::print(&parsed.ast, &parsed.interner);
    assert_eq!(tree, "(fn void f() (switch a (case 1) b) (% c d))");
    assert_eq!(tree_of_errors("uint a; flat varying vec4 b;"), "(var <error> a)\n(var flat varying vec4 b)");
}

fn tree_of_errors(text: &str) -> String {
    let parsed = parse(text);
    assert!(parsed.findings.iter().any(tgsi_diagnostics::Diagnostic::is_error));
    super::print(&parsed.ast, &parsed.interner)
}

#[test]
fn old_syntax_stays() {
    assert_eq!(tree("#version 110\nvoid f() { float a[2]; a[1] = 1.0; }"), {
        "(fn void f() (var float a[2]) (= a[1] 1.0))"
    });
}
