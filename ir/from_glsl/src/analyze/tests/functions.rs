//! Functions: declarations, overloads, recursion, parameters.

use super::*;

#[test]
fn arguments_match_parameters() {
    only(
        "no-overload",
        Fragment,
        &[
            "float f(float a) { return a; } void main() { f(1); }",
            "#version 120\nvoid f(out float a) { a = 1.0; } void main() { int b; f(b); }",
            "float f(float a) { return a; } void main() { f(); }",
            "void main() { float a = sin(1.0, 2.0); }",
        ],
    );
    clean(Fragment, &["#version 120\nfloat f(float a) { return a; } void main() { f(1); }"]);
    only(
        "ambiguous-call",
        Fragment,
        &["#version 130\nfloat f(float a, int b) { return a; } float f(int a, float b) { return b; } void main() { \
             f(1, 2); }"],
    );
    assert_eq!(
        findings("#version 120\nfloat f(vec2 a, out int b) { b = 1; return a.x; }\nvoid main() {\n    f(1.0, 2);\n}\n"),
        ["4:5 G0308 no function `f` takes (float, int) (there is f(vec2, out int))"]
    );
}

#[test]
fn recursion_is_an_error() {
    only(
        "recursion",
        Fragment,
        &[
            "float f(float a) { return f(a); }",
            "float g(float a); float f(float a) { return g(a); } float g(float a) { return f(a); }",
        ],
    );
    clean(
        Fragment,
        &["float f(float a) { return a; } float g(float a) { return f(f(a)); } float h() { return g(f(1.0)); }"],
    );
}

#[test]
fn functions_are_defined_once() {
    only("function-defined-twice", Fragment, &["float f() { return 1.0; } float f() { return 2.0; }"]);
    only(
        "function-mismatch",
        Fragment,
        &[
            "float f(); vec2 f() { return vec2(1.0); }",
            "void f(in float a); void f(out float a) { a = 1.0; }",
            "void f(const in float a); void f(in float a) { }",
            "#version 100\nprecision mediump float; float f(); highp float f() { return 1.0; }",
        ],
    );
    only("redeclared", Fragment, &["#version 100\nint f(int a); int f(int a);"]);
    clean(
        Fragment,
        &["float f(); float f(); float f() { return 1.0; }", "#version 100\nint f(int a); int f(int a) { return a; }"],
    );
    only("main-signature", Fragment, &["float main() { return 1.0; }", "void main(float a) { }"]);
}

#[test]
fn functions_of_the_language_are_replaced() {
    clean(
        Fragment,
        &[
            "float sin(float a) { return a; } void main() { float a = sin(1.0); }",
            "void main() { vec2 a = sin(vec2(1.0)); } float sin(float a) { return a; }",
            "#version 120\nfloat sin(float a) { return a; } void main() { float a = sin(1); }",
        ],
    );
    // Of several functions, none is that of the language.
    only(
        "no-overload",
        Fragment,
        &[
            "float sin(float a) { return a; } void main() { vec2 a = sin(vec2(1.0)); }",
            "#version 120\nfloat exp(float a, float b) { return a; } void main() { float a = exp(1.0); }",
        ],
    );
    only(
        "redeclared",
        Fragment,
        &[
            "#version 300 es\nprecision mediump float; float sin(float a) { return a; } void main() { }",
            "#version 100\nprecision mediump float; float sin(float a) { return a; } void main() { }",
            "#version 100\nprecision mediump float; float sin(float a); void main() { }",
        ],
    );
    // Version 1.00 es adds overloads to those of the language.
    clean(
        Fragment,
        &["#version 100\nprecision mediump float; float sin(float a, float b) { return a; } \
           void main() { vec2 a = sin(vec2(sin(1.0, 2.0))); }"],
    );
}

#[test]
fn variables_hide_functions_from_120_on() {
    clean(
        Fragment,
        &[
            "float f() { return 1.0; } const float f = 2.0; void main() { float a = f + f(); }",
            "void main() { float sin = 1.0; float a = sin(sin); }",
        ],
    );
    only("redeclared", Fragment, &["#version 120\nfloat f() { return 1.0; } const float f = 2.0; void main() { }"]);
    only("not-a-function", Fragment, &["#version 120\nvoid main() { float sin = 1.0; float a = sin(sin); }"]);
    only("not-a-variable", Fragment, &["float f() { return 1.0; } void main() { float a = f; }"]);
    only("redeclared", Fragment, &["struct f { float a; }; float f() { return 1.0; }"]);
}

#[test]
fn prototypes_in_functions_are_old() {
    only("lenient", Fragment, &["float f(float a) { return a; } void main() { float g(float a); }"]);
    only("needs-version", Fragment, &["#version 100\nvoid main() { lowp float g(lowp float a); }"]);
}

#[test]
fn parameters_have_types_names_and_directions() {
    only("unnamed-parameter", Fragment, &["float f(float a, float) { return a; }"]);
    clean(Fragment, &["float f(float, float); void f(void);"]);
    only("type-not-allowed", Fragment, &["float f(float a, void b);", "sampler2D f();"]);
    only("opaque-use", Fragment, &["void f(out sampler2D a);", "void f(inout sampler2D a);"]);
    only("needs-version", Fragment, &["void f(out float a[2]);"]);
    only("unsized-array", Fragment, &["void f(float a[]);"]);
    only("qualifier-not-allowed", Fragment, &["void f(uniform float a);", "uniform float f();"]);
    only("not-writable", Fragment, &["void f(const float a) { a = 1.0; }"]);
    clean(Fragment, &["float f(float a) { a = 2.0; return a; }"]);
}

#[test]
fn units_may_lack_main() {
    clean(Fragment, &["float f() { return 1.0; }", "", "void g(); void f() { g(); }"]);
    let compiled = crate::compile(b"float f() { return 1.0; }", Fragment, &GlslOptions::default());
    assert_eq!(compiled.findings.iter().map(|f| f.code.name).collect::<Vec<_>>(), ["no-main"]);
    let compiled = crate::compile(b"void f(); void main() { f(); }", Fragment, &GlslOptions::default());
    assert_eq!(compiled.findings.iter().map(|f| f.code.name).collect::<Vec<_>>(), ["function-undefined"]);
}

#[test]
fn complete_shaders_have_existing_locations() {
    let errors = |text: &str, stage: ShaderStage| -> Vec<&'static str> {
        let compiled = crate::compile(text.as_bytes(), stage, &GlslOptions::default());
        compiled.findings.iter().filter(|finding| finding.is_error()).map(|finding| finding.code.name).collect()
    };
    let unit = |text: &str| format!("#version 330\n{text} void main() {{ }}");
    assert_eq!(errors(&unit("layout(location = 16) in vec4 a;"), Vertex), ["glsl-limit"]);
    assert_eq!(errors(&unit("layout(location = 2147483647) in vec4 a;"), Vertex), ["glsl-limit"]);
    assert_eq!(errors(&unit("layout(location = 7) out vec4 a[2];"), Fragment), ["glsl-limit"]);
    assert_eq!(
        errors(&unit("layout(location = 1) out vec4 a[2]; layout(location = 2) out vec4 b;"), Fragment),
        ["location-overlap"]
    );
    // Attributes may share a location, and colours with different indices.
    assert!(errors(&unit("layout(location = 1) in vec4 a; layout(location = 1) in vec4 b;"), Vertex).is_empty());
    assert!(
        errors(&unit("layout(location = 1) out vec4 a; layout(location = 1, index = 1) out vec4 b;"), Fragment)
            .is_empty()
    );
    // A unit that is checked alone may have any.
    clean(Vertex, &["#version 330\nlayout(location = 99) in vec4 a;"]);
}

#[test]
fn variables_of_the_body_hide_parameters_in_es_1_00_alone() {
    let text = "void f(int a) { int a = 1; a++; }";
    clean(Fragment, &[&format!("#version 100\n{text}")]);
    only("redeclared", Fragment, &[text, &format!("#version 120\n{text}"), &format!("#version 300 es\n{text}")]);
}
