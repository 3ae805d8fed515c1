//! Trees of statements.

use pretty_assertions::assert_eq;

use super::{statements, tree};

#[test]
fn simple_statements() {
    assert_eq!(statements("; a = 1; { } { b; { c; } }"), "(;) (= a 1) ({}) ({} b ({} c))");
    assert_eq!(statements("return; return a, b; discard; break; continue;"), {
        "(return) (return (, a b)) (discard) (break) (continue)"
    });
}

#[test]
fn demote_by_extension() {
    let text = "#version 140\n#extension GL_EXT_demote_to_helper_invocation : enable\nvoid f() { demote; }";
    assert_eq!(tree(text), "(fn void f() (demote))");
    assert_eq!(tree("void f() { float demote; demote; }"), "(fn void f() (var float demote) demote)");
}

#[test]
fn branches() {
    assert_eq!(statements("if (a) b;"), "(if a b)");
    assert_eq!(statements("if (a) b; else c;"), "(if a b else c)");
    assert_eq!(statements("if (a, b) { c; } else if (d) e; else if (f) ; else { g; }"), {
        "(if (, a b) ({} c) d e f (;) else ({} g))"
    });
    assert_eq!(statements("if (a) if (b) c; else d; else e;"), "(if a (if b c else d) else e)");
    assert_eq!(statements("if (a) float b = c; else float d;"), "(if a (var float b=c) else (var float d))");
}

#[test]
fn loops() {
    assert_eq!(statements("while (a) b;"), "(while a b)");
    assert_eq!(statements("while (bool a = b < c) { d; }"), "(while (var bool a=(< b c)) ({} d))");
    assert_eq!(statements("do a; while (b);"), "(do a b)");
    assert_eq!(statements("do { a; } while (b, c);"), "(do ({} a) (, b c))");
    assert_eq!(statements("for (;;) ;"), "(for (;) - - (;))");
    assert_eq!(statements("for (a = 1; a < 2; a++, b--) { c; }"), "(for (= a 1) (< a 2) (, (a ++) (b --)) ({} c))");
    assert_eq!(statements("for (int a = 1, b; bool c = a < b;) c;"), {
        "(for (var int a=1 b) (var bool c=(< a b)) - c)"
    });
    assert_eq!(statements("for (const highp int a = 1; ; a) b;"), "(for (var const highp int a=1) - a b)");
    assert_eq!(statements("for (vec4(1.0); vec2(1.0).x > 0.0; ) b;"), { "(for vec4:(1.0) (> vec2:(1.0).x 0.0) - b)" });
}

#[test]
fn switches() {
    assert_eq!(statements("switch (a) { }"), "(switch a)");
    assert_eq!(statements("switch (a + b) { case 1: case 2: c; break; default: { d; } case e ? 3 : 4: }"), {
        "(switch (+ a b) (case 1) (case 2) c (break) (default) ({} d) (case (? e 3 4)))"
    });
}

#[test]
fn declarations_in_functions() {
    assert_eq!(statements("float a; const vec2 b = c, d[2];"), "(var float a) (var const vec2 b=c d[2])");
    assert_eq!(statements("struct S { int a; } b; S c;"), "(var (struct S {int a}) b) (var S c)");
    assert_eq!(statements("precision highp float; precise float a;"), "(precision highp float) (var precise float a)");
    assert_eq!(statements("Type a; Type[2] b; Type c[2];"), "(var Type a) (var Type[2] b) (var Type c[2])");
    assert_eq!(statements("float f(int a);"), "(proto float f(int a))");
    assert_eq!(statements("precise a; invariant b, c;"), "(qualify precise a) (qualify invariant b c)");
}
