//! `#version`, `#extension`, `#line`, `#pragma` and others.

use super::*;

/// The version of a text and the names of findings.
fn version(text: &str) -> (String, Vec<&'static str>) {
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let result = preprocess(text.as_bytes(), &GlslOptions::default(), &mut interner, &mut findings);
    let names = findings.into_vec().iter().map(|finding| finding.code.name).collect();
    (result.version.to_string(), names)
}

#[test]
fn versions_are_known() {
    for (text, expected) in [
        ("", "1.10"),
        ("#version 120", "1.20"),
        ("  # version /* */ 140 // x\n", "1.40"),
        ("\n\n// comment\n/* \n */ #version 300 es\n", "3.00 es"),
        ("#version 100", "1.00 es"),
        ("#version 150", "1.50 core"),
        ("#version 150 core", "1.50 core"),
        ("#version 460 compatibility", "4.60 compatibility"),
        ("#version 320 es", "3.20 es"),
    ] {
        assert_eq!(version(text), (expected.to_owned(), vec![]), "{text}");
    }
}

#[test]
fn versions_are_checked() {
    for (text, problem) in [
        ("#version", "version-syntax"),
        ("#version es", "version-syntax"),
        ("#version 1.10", "unknown-version"),
        ("#version 115", "unknown-version"),
        ("#version 0110", "unknown-version"),
        ("#version 18446744073709551616", "unknown-version"),
        ("#version 300", "missing-es"),
        ("#version 300 core", "unknown-profile"),
        ("#version 100 es", "unknown-profile"),
        ("#version 330 es", "unknown-profile"),
        ("#version 120 core", "unknown-profile"),
        ("#version 330 cor", "unknown-profile"),
        ("#version 330 core core", "trailing-tokens"),
        ("a\n#version 120", "version-not-first"),
        ("#define A\n#version 120", "version-not-first"),
        ("#\n#version 120", "version-not-first"),
        ("#version 120\n#version 120", "version-not-first"),
    ] {
        assert_eq!(version(text).1, [problem], "{text}");
    }
}

#[test]
fn versions_beyond_those_of_the_target_are_errors() {
    let mut options = GlslOptions { max_version: Some(120), max_es_version: Some(100), ..GlslOptions::default() };
    options.extensions = Extensions::default();
    let messages = |text: &str, options: &GlslOptions| {
        let (mut interner, mut findings) = (Interner::new(), Findings::default());
        preprocess(text.as_bytes(), options, &mut interner, &mut findings);
        findings.into_vec().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let expected = "error[G0115]: version 130 is not supported by the target; its driver has GLSL up to 1.20";
    assert_eq!(messages("#version 130", &options), [expected]);
    // Its extensions are those of the version.
    let text = "#version 130\n#extension GL_ARB_draw_instanced : require\n";
    assert_eq!(messages(text, &options), [expected]);
    let expected = "error[G0115]: version 300 is not supported by the target; its driver has GLSL ES up to 1.00";
    assert_eq!(messages("#version 300 es", &options), [expected]);
    for fine in ["#version 120", "#version 100", ""] {
        assert_eq!(messages(fine, &options), [""; 0]);
    }
    assert_eq!(messages("#version 460", &GlslOptions::default()), [""; 0]);
}

#[test]
fn extensions_change_keywords() {
    assert_eq!(run("#extension GL_EXT_gpu_shader4 : enable\nunsigned int a;").1, [""; 0]);
    assert_eq!(run("unsigned int a;").1, ["reserved-word"]);
    assert_eq!(run("#extension GL_EXT_gpu_shader4 : warn\nunsigned int a;").1, ["keyword-of-extension"]);
    assert_eq!(run("#extension all : warn\nunsigned int a;").1, ["keyword-of-extension"]);
    assert_eq!(
        run("#extension GL_EXT_gpu_shader4 : enable\n#extension all : disable\nunsigned a;").1,
        ["reserved-word"]
    );
    assert_eq!(run("sampler2DRect a;").1, [""; 0]);
    assert_eq!(run("#extension GL_ARB_texture_rectangle : disable\nsampler2DRect a;").1, ["reserved-word"]);
    let enabled = |text: &str, extension| {
        let (mut interner, mut findings) = (Interner::new(), Findings::default());
        let result = preprocess(text.as_bytes(), &GlslOptions::default(), &mut interner, &mut findings);
        result.extensions.contains(extension)
    };
    let pack = "#version 310 es\n#extension GL_ANDROID_extension_pack_es31a : require\n";
    assert!(enabled(pack, Extension::EXTGeometryShader));
    assert!(enabled("#extension GL_ARB_draw_buffers:warn\n#extension all:disable", Extension::ARBDrawBuffers));
    assert!(!enabled("#extension GL_ARB_draw_buffers : disable", Extension::ARBDrawBuffers));
}

#[test]
fn extensions_are_checked() {
    for (text, problem) in [
        ("#extension GL_FOO_bar : require", "required-extension"),
        ("#extension GL_FOO_bar : enable", "unknown-extension"),
        ("#extension GL_FOO_bar : warn", "unknown-extension"),
        ("#extension GL_FOO_bar : disable", "unknown-extension"),
        ("#extension GL_OES_texture_3D : require", "required-extension"),
        ("#extension all : enable", "all-extensions"),
        ("#extension all : require", "all-extensions"),
        ("#extension GL_ARB_draw_buffers : on", "unknown-behaviour"),
        ("#extension GL_ARB_draw_buffers enable", "extension-syntax"),
        ("#extension GL_ARB_draw_buffers", "extension-syntax"),
        ("#extension", "extension-syntax"),
        ("#extension GL_ARB_draw_buffers : enable;", "trailing-tokens"),
        ("a\n#extension GL_ARB_draw_buffers : enable", "late-extension"),
    ] {
        assert_eq!(run(text).1, [problem], "{text}");
    }
    assert_eq!(problems_es("a\n#extension all : disable"), ["late-extension-es"]);
    assert_eq!(run("#define enable disable\n#extension GL_ARB_draw_buffers : enable\n").1, [""; 0]);
    let mut options = GlslOptions::default();
    options.extensions.set(Extension::ARBDrawBuffers, false);
    assert_eq!(run_with(b"#extension GL_ARB_draw_buffers : require", &options).1, ["required-extension"]);
    assert_eq!(run_with(b"GL_ARB_draw_buffers", &options).0, "GL_ARB_draw_buffers");
}

#[test]
fn lines_are_renumbered() {
    // Up to 1.50, the directive itself has the number.
    assert_eq!(run("#line 5\n__LINE__\n__LINE__ __FILE__\n#line 20 3\n__LINE__ __FILE__").0, "6 7 0 21 3");
    assert_eq!(run("#version 330\n#line 5\n__LINE__\n#line 20 3\n__LINE__ __FILE__").0, "5 20 3");
    assert_eq!(run("#version 100\n#line 5\n__LINE__").0, "5");
    assert_eq!(tokens("#define N 10\n#define F 2\n#line N F\n__LINE__ __FILE__"), "11 2");
    assert_eq!(tokens("#line 2 + 3 4\n__LINE__ __FILE__"), "6 4");
    for text in
        ["#line", "#line x", "#line 1.5", "#line -1", "#line 1 2 3", "#line 1 \"a\"", "#line 4294967296", "#line +"]
    {
        assert!(problems(text).contains(&"line-syntax"), "{text}");
    }
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let text = b"a\n#line 100 2\nb\nc";
    let lines = preprocess(text, &GlslOptions::default(), &mut interner, &mut findings).lines;
    assert_eq!([0, 14, 16].map(|offset| lines.line(offset)), [(1, 0), (101, 2), (102, 2)]);
    assert_eq!([0, 14, 16].map(|offset| lines.physical_line(offset)), [1, 3, 4]);
    assert!(lines.has_changes());
}

#[test]
fn pragmas_are_understood() {
    let invariant_all = |text: &str| {
        let (mut interner, mut findings) = (Interner::new(), Findings::default());
        let result = preprocess(text.as_bytes(), &GlslOptions::default(), &mut interner, &mut findings);
        (result.invariant_all.is_some(), findings.into_vec().len())
    };
    assert_eq!(invariant_all("#pragma STDGL invariant(all)"), (true, 0));
    assert_eq!(invariant_all("#define all x\n#pragma STDGL invariant ( all )"), (true, 0));
    assert_eq!(invariant_all("#pragma optimize(on)\n#pragma debug(off)\n#pragma once\n#pragma"), (false, 0));
    assert_eq!(invariant_all("#pragma parameter GAMMA \"Gamma's \u{e9}$\" 2.0 0.1 5.0 0.05"), (false, 0));
    for text in ["#pragma STDGL invariant(none)", "#pragma parameter", "#pragma optimize(maybe)", "#pragma 'x' \u{e9}"]
    {
        assert_eq!(problems(text), ["unknown-pragma"], "{text}");
    }
}

#[test]
fn other_directives() {
    assert_eq!(problems("#error \"don't\" \u{e9} // comment"), ["error-directive"]);
    assert_eq!(problems("#error"), ["error-directive"]);
    assert_eq!(problems("#include \"a.glsl\""), ["include"]);
    assert_eq!(problems("#foo bar"), ["unknown-directive"]);
    assert_eq!(problems("#1"), ["unknown-directive"]);
    assert_eq!(problems("#define A #error\nA"), ["stringification"]);
}
