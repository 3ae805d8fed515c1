//! Suggestions for names that nothing declares.

use super::*;

#[test]
fn names_of_the_shader_and_the_language_are_suggested() {
    assert_eq!(
        findings("uniform vec4 colour;\nvoid main() {\n    gl_FragColor = color;\n}\n"),
        ["3:20 G0300 `color` is not declared (did you mean `colour`?)"]
    );
    assert_eq!(
        findings("void main() {\n    gl_FragColr = vec4(1.0);\n}\n"),
        ["2:5 G0300 `gl_FragColr` is not declared (did you mean `gl_FragColor`?)"]
    );
    assert_eq!(
        findings("void main() {\n    float a = normalise(1.0);\n}\n"),
        ["2:15 G0300 `normalise` is not declared (did you mean `normalize`?)"]
    );
    assert_eq!(
        findings("struct Light { vec4 colour; } l;\nvoid main() {\n    gl_FragColor = l.color;\n}\n"),
        ["3:20 G0314 Light has no field `color` (did you mean `colour`?)"]
    );
}

#[test]
fn a_name_is_reported_once() {
    assert_eq!(codes("void main() { gl_FragColor = vec4(a, a, a, a); a = 1.0; }", Fragment), ["undeclared"]);
}

#[test]
fn errors_of_the_parser_are_not_repeated() {
    assert_eq!(codes("void main() { float a[2] = float[2](1.0, 2.0); }", Fragment), ["not-in-version"]);
    assert_eq!(codes("uniform int i; void main() { int a = i % 2; }", Fragment), ["not-in-version"]);
    assert_eq!(
        codes("void main() { float a = round(1.0) + round(2.0); a = trunc(a); }", Fragment),
        ["needs-version"; 2]
    );
}

#[test]
fn findings_are_in_the_order_of_the_source() {
    let text = "void main() {\n    float a = 1;\n    float b = 2.0 +;\n    float c = 3;\n}\n";
    assert_eq!(codes(text, Fragment), ["wrong-type", "expected-expression", "wrong-type"]);
}

#[test]
fn findings_note_declarations() {
    let notes = |text: &str| -> Vec<String> {
        let lines = LineIndex::new(text.as_bytes());
        let found = check_unit(text, Fragment);
        let notes = found.iter().flat_map(|finding| &finding.notes);
        notes.map(|note| format!("{} {}", lines.line_column(note.span.start).0, note.message)).collect()
    };
    assert_eq!(notes("uniform float u;\nvoid main() { u = 1.0; }"), ["1 its declaration"]);
    assert_eq!(notes("struct S { float a; };\nuniform S s;\nvoid main() { float a = s.b; }"), ["1 the struct"]);
    assert_eq!(notes("float f(float a) { return a; }\nvoid main() { f(1); }"), ["1 a function with this name"]);
    assert_eq!(notes("float f(float a) {\nif (a > 1.0) return; return a; }"), ["1 the function"]);
    assert_eq!(notes("uniform float u;\nvarying float u;"), ["1 the first declaration"]);
    assert_eq!(notes("#version 120\nuniform float f;\nvoid main() { f(); }"), ["2 the variable"]);
    assert_eq!(notes("void main() {\nfloat a;\nfloat b = a; }"), ["2 its declaration"]);
    assert_eq!(notes("void main() { gl_FragCoord = vec4(1.0); }"), [""; 0]);
}
