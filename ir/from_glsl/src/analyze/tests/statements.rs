//! Scopes, jumps, loops and switches.

use super::*;

#[test]
fn names_are_declared_once_in_a_scope() {
    only_in_bodies("redeclared", 110, &["float a = 1.0; float a = 2.0;", "for (int a = 0; a < 1; a++) { int a = 2; }"]);
    clean_bodies(110, &["float a = 1.0; { float a = 2.0; }", "for (int a = 0; a < 1; a++) { { int a = 2; } }"]);
    only(
        "redeclared",
        Fragment,
        &["void f(float a) { float a = 1.0; } void main() {}", "float f(float a, float a) { return a; }"],
    );
    only("redeclared", Fragment, &["uniform float a; varying float a; void main() {}", "struct T { float a, a; };"]);
}

#[test]
fn initialisers_do_not_see_their_variable() {
    clean_bodies(110, &["float a = 1.0; { float a = a; }"]);
    only_in_bodies("undeclared", 110, &["float a = a;"]);
}

#[test]
fn conditions_declare_variables() {
    clean_bodies(110, &["while (bool b = u > 1.0) { if (b) break; }", "for (; bool b = u > 1.0;) { if (b) break; }"]);
}

#[test]
fn jumps_leave_statements() {
    only_in_bodies("jump-outside", 130, &["break;", "continue;", "switch (i) { case 1: continue; }"]);
    clean_bodies(
        130,
        &["while (true) { switch (i) { case 1: continue; default: break; } }", "do { break; } while (true);"],
    );
    let demote = "#extension GL_EXT_demote_to_helper_invocation : require\nvoid main() { demote; }";
    only("wrong-stage", Vertex, &["void main() { discard; }", demote]);
    clean(Fragment, &[demote]);
}

#[test]
fn switches_have_different_constant_labels() {
    only_in_bodies(
        "switch-label",
        130,
        &[
            "switch (i) { case 1: break; case 1: break; }",
            "switch (i) { default: break; default: break; }",
            "switch (i) { case 1: break; case 2: }",
        ],
    );
    only_in_bodies("not-constant", 130, &["switch (i) { case i: break; }"]);
    only_in_bodies("wrong-type", 130, &["switch (u) { default: break; }", "switch (i) { case 1.0: break; }"]);
    clean_bodies(130, &["switch (i) { case 0: case 1: { break; } default: break; }", "switch (i) { }"]);
    let found = check_unit(&body(120, "switch (i) { default: break; }"), Fragment);
    assert!(found.iter().any(|finding| finding.is_error()), "{found:?}");
}

#[test]
fn returns_have_the_type_of_the_function() {
    only(
        "return-value",
        Fragment,
        &["void f() { return 1.0; }", "float f(float a) { if (a > 1.0) return; return a; }"],
    );
    only("no-return", Fragment, &["float f() { }"]);
    only("wrong-type", Fragment, &["float f() { return 1; }", "#version 120\nint f() { return 1.0; }"]);
    // The text of 1.20 leaves results out of conversions, other compilers convert them.
    only("lenient", Fragment, &["#version 120\nfloat f() { return 1; }"]);
    clean(Fragment, &["#version 420\nfloat f() { return 1; }"]);
}

#[test]
fn long_chains_work() {
    let chain = "else if (u > 1.0) a = 1.0; ".repeat(20_000);
    clean_bodies(
        110,
        &[&format!("float a = 0.0; if (u < 0.0) a = 2.0; {chain}"), &format!("float a = u{};", " + u".repeat(50_000))],
    );
}
