//! Subroutine types, functions and uniforms.

use super::*;

const TYPE: &str = "#version 400\nsubroutine float T(float a, out int b);\n";

fn units(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| format!("{TYPE}{text}")).collect()
}

#[track_caller]
fn clean_units(texts: &[&str]) {
    let texts = units(texts);
    clean(Fragment, &texts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[track_caller]
fn only_in_units(texts: &[&str]) {
    let texts = units(texts);
    only("subroutine", Fragment, &texts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn functions_implement_types() {
    clean_units(&[
        "subroutine(T) float f(float a, out int b) { b = 1; return a; }",
        "subroutine void U(); subroutine(U) void f() { }",
        "subroutine float U(float a, out int b); subroutine(T, U) float f(float a, out int b) { b = 1; return a; }",
    ]);
    let numbered = "subroutine void T(); layout(index = 3) subroutine(T) void f() { }";
    clean(Fragment, &[&format!("#version 430\n{numbered}")]);
    only("needs-version", Fragment, &[&format!("#version 400\n{numbered}")]);
    only_in_units(&[
        "subroutine(T) float f(float a, out int b);",
        "subroutine(T) float f(float a, int b) { return a; }",
        "subroutine(T) float f(int a, out int b) { b = a; return 1.0; }",
        "subroutine(T) int f(float a, out int b) { b = 1; return 1; }",
        "subroutine(U) float f(float a, out int b) { b = 1; return a; }",
        "subroutine float U(float a) { return a; }",
        "subroutine(T) float f(float a, out int b) { b = 1; return a; } void f() { }",
    ]);
    only("redeclared", Fragment, &["#version 400\nsubroutine void T(); void T() { }"]);
}

#[test]
fn uniforms_select_functions() {
    clean_units(&[
        "subroutine(T) float f(float a, out int b) { b = 1; return a; } subroutine uniform T t, s[2]; uniform int n; \
         void main() { int b; float a = t(1, b) + s[n](2.0, b) + s[0](2.0, b); }",
    ]);
    only_in_units(&["uniform T t;", "subroutine uniform float t;", "subroutine int t;", "void f() { T t; }"]);
    let call = |text: &str| format!("{TYPE}subroutine uniform T t, s; void main() {{ int b; {text} }}");
    only("no-overload", Fragment, &[&call("t(1.0);"), &call("t(true, b);")]);
    only("no-constructor", Fragment, &[&call("T(1.0, b);")]);
    only("opaque-use", Fragment, &[&call("bool c = t == s;")]);
    only("type-not-allowed", Fragment, &[&format!("{TYPE}void f(T t) {{ }}"), &format!("{TYPE}struct S {{ T t; }};")]);
}

#[test]
fn subroutines_do_not_call_themselves() {
    let text = "#version 400\nsubroutine void T(); subroutine void U(); subroutine uniform T t; subroutine uniform U u;\n\
                subroutine(T) void f() { u(); } subroutine(U) void g() { t(); }";
    only("recursion", Fragment, &[text]);
}
