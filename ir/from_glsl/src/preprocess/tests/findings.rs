//! Places, notes and hints of findings.

use tgsi_diagnostics::Diagnostic;

use super::*;

/// The findings of a text.
fn findings(text: &str) -> Vec<Diagnostic> {
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    preprocess(text.as_bytes(), &GlslOptions::default(), &mut interner, &mut findings);
    findings.into_vec()
}

/// The text at the place of the first finding, its message, and those of its notes.
fn first(text: &str) -> (&str, String, Vec<(&str, String)>) {
    let all = findings(text);
    let at = |span: Span| text.get(span.start as usize..span.end as usize).unwrap_or("?");
    let finding = all.first().expect("a finding");
    let notes = finding.notes.iter().map(|note| (at(note.span), note.message.clone())).collect();
    (at(finding.span), finding.message.clone(), notes)
}

#[test]
fn places_are_exact() {
    assert_eq!(first("int a = 1 @ 2;").0, "@");
    assert_eq!(first("a \u{e4}\u{f6} b").0, "\u{e4}\u{f6}");
    assert_eq!(first("a /* b").0, "/*");
    assert_eq!(first("int half;").0, "half");
    assert_eq!(first("#version 123\n").0, "123");
    assert_eq!(first("a\n  # version 110\n").0, "# version 110");
    assert_eq!(first("#foo\n").0, "#foo");
    assert_eq!(first("#if 1 + \n#endif").0, "+");
    assert_eq!(first("#if (1 + 2\n#endif").0, "(");
    assert_eq!(first("#if 1 + (2 / 0)\n#endif").0, "/");
    assert_eq!(first("#ifdef A\n").0, "ifdef");
    assert_eq!(first("#extension GL_A : require\n").0, "GL_A");
    assert_eq!(first("#define F(a, b) a\nF(1)\n").0, "F(1)");
    assert_eq!(first("#line x y\n").0, "x y");
}

#[test]
fn notes_show_definitions() {
    let (place, message, notes) = first("#define A 1\n#define A 2\n");
    assert_eq!((place, message.as_str()), ("A", "`A` is already defined differently"));
    assert_eq!(notes, [("A", "the first definition".to_owned())]);
    let (place, _, notes) = first("#define F(a, b) a\nint x = F( 1 );\n");
    assert_eq!((place, notes), ("F( 1 )", vec![("F", "`F` is defined here".to_owned())]));
    let (place, _, notes) = first("#define BAD @\n#define OUTER(x) x + BAD\nint y = OUTER(1);\n");
    assert_eq!((place, notes), ("OUTER(1)", vec![("@", "in the expansion of `OUTER`".to_owned())]));
    // In an argument, the place is the argument's own.
    let (place, _, notes) = first("#define OUTER(x) x\nint y = OUTER(1 + @);\n");
    assert_eq!((place, notes), ("@", vec![]));
    let (place, _, notes) = first("#version 130\n#define P + ## x\nint y = P;\n");
    assert_eq!((place, notes), ("P", vec![("+", "in the expansion of `P`".to_owned())]));
    let (place, _, notes) = first("#if 1\n#else\n#else\n#endif");
    assert_eq!((place, notes), ("else", vec![("else", "the `#else`".to_owned())]));
}

#[test]
fn hints_name_remedies() {
    let hint = |text: &str| findings(text).into_iter().next().and_then(|finding| finding.hint).unwrap_or_default();
    assert_eq!(hint("#defin A"), "did you mean `#define`?");
    assert_eq!(hint("#extension GL_ARB_draw_bufers : require"), "did you mean `GL_ARB_draw_buffers`?");
    assert_eq!(hint("#version 300"), "write `#version 300 es`");
    assert!(hint("#version 123").contains("110, 120"));
    assert_eq!(hint("#extension GL_OES_texture_3D : enable"), "it extends only GLSL ES");
    assert_eq!(hint("#version 100\n#extension GL_OES_geometry_shader : enable"), "it extends GLSL ES from version 310");
    assert_eq!(hint("double x;"), "choose another name; as a keyword, it needs #version 400 or GL_ARB_gpu_shader_fp64");
    assert_eq!(hint("#version 100\ndouble x;"), "choose another name");
    assert_eq!(hint("#include <a>"), "insert the text of the file before compilation");
}

#[test]
fn warnings_are_not_errors() {
    let all = findings("#define a__b 1\n#if X\n#endif Y\n#pragma x\n#extension GL_X : enable\n#define C a##b\nx\\\ny");
    assert_eq!(all.iter().filter(|finding| finding.is_error()).count(), 0);
    assert_eq!(all.len(), 7);
}

#[test]
fn errors_after_many_warnings_count() {
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let text = "#pragma x\n".repeat(1000) + "#error\n";
    preprocess(text.as_bytes(), &GlslOptions::default(), &mut interner, &mut findings);
    assert!(findings.has_errors() && !findings.is_full());
}

#[test]
fn expansions_are_recorded() {
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let text = "#define g f\n#define f(x) [x]\na g(b) c";
    let result = preprocess(text.as_bytes(), &GlslOptions::default(), &mut interner, &mut findings);
    let tokens = &result.tokens;
    let places: Vec<&str> = (0..6)
        .map(|index| tokens.span(TokenRange::at(index)))
        .map(|span| text.get(span.start as usize..span.end as usize).unwrap_or("?"))
        .collect();
    assert_eq!(places, ["a", "g(b)", "b", "g(b)", "c", ""]);
    assert_eq!(tokens.definition(2).map(|(name, _)| interner.spelling(name).to_owned()), None);
    assert_eq!(tokens.definition(1).map(|(name, _)| interner.spelling(name).to_owned()), Some("g".to_owned()));
}
