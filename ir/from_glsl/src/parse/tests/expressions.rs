//! Trees of expressions.

use pretty_assertions::assert_eq;

use super::{findings, statements, tree};

/// The tree of one expression in GLSL 4.60.
#[track_caller]
fn expression(text: &str) -> String {
    statements(&format!("{text};"))
}

#[test]
fn binary_operators_by_precedence() {
    assert_eq!(expression("a + b * c - d / e % f"), "(- (+ a (* b c)) (% (/ d e) f))");
    assert_eq!(expression("a || b ^^ c && d | e ^ f & g == h < i << j + k * l"), {
        "(|| a (^^ b (&& c (| d (^ e (& f (== g (< h (<< i (+ j (* k l)))))))))))"
    });
    assert_eq!(expression("l * k + j << i < h == g & f ^ e | d && c ^^ b || a"), {
        "(|| (^^ (&& (| (^ (& (== (< (<< (+ (* l k) j) i) h) g) f) e) d) c) b) a)"
    });
    assert_eq!(expression("a < b > c <= d >= e != f == g >> h"), "(== (!= (>= (<= (> (< a b) c) d) e) f) (>> g h))");
}

#[test]
fn binary_operators_group_to_the_left() {
    assert_eq!(expression("a - b - c - d"), "(- (- (- a b) c) d)");
    assert_eq!(expression("a - (b - c)"), "(- a (- b c))");
    assert_eq!(expression("a, b, c"), "(, (, a b) c)");
}

#[test]
fn assignments_and_conditions_group_to_the_right() {
    assert_eq!(expression("a = b += c"), "(= a (+= b c))");
    assert_eq!(expression("a ? b : c ? d : e"), "(? a b (? c d e))");
    assert_eq!(expression("a ? b ? c : d : e"), "(? a (? b c d) e)");
    assert_eq!(expression("a = b ? c : d = e"), "(= a (? b c (= d e)))");
    assert_eq!(expression("a || b ? c, d : e || f, g"), "(, (? (|| a b) (, c d) (|| e f)) g)");
    assert_eq!(expression("a = b, c = d"), "(, (= a b) (= c d))");
    assert_eq!(expression("(a ? b : c) = d"), "(= (? a b c) d)");
}

#[test]
fn all_assignments() {
    for op in ["*", "/", "%", "+", "-", "<<", ">>", "&", "^", "|", ""] {
        assert_eq!(expression(&format!("a {op}= b")), format!("({op}= a b)"));
    }
}

#[test]
fn unary_operators() {
    assert_eq!(expression("-a * +b"), "(* (- a) (+ b))");
    assert_eq!(expression("- -a"), "(- (- a))");
    assert_eq!(expression("!a && ~b"), "(&& (! a) (~ b))");
    assert_eq!(expression("-a.x[0]++"), "(- (a.x[0] ++))");
    assert_eq!(expression("++a - --b"), "(- (++ a) (-- b))");
    assert_eq!(expression("a++ + ++b"), "(+ (a ++) (++ b))");
    assert_eq!(expression("a---b"), "(- (a --) b)");
}

#[test]
fn postfix_operators() {
    assert_eq!(expression("a.xyz.x"), "a.xyz.x");
    assert_eq!(expression("a[b, c][d = 1]"), "a[(, b c)][(= d 1)]");
    assert_eq!(expression("f(a)[1].x--"), "(f(a)[1].x --)");
    assert_eq!(expression("a[1].length() + b.length()"), "(+ a[1].length() b.length())");
    assert_eq!(expression("(a + b).x"), "(+ a b).x");
    assert_eq!(expression("vec4(1.0).xyzw"), "vec4:(1.0).xyzw");
}

#[test]
fn calls_and_constructors() {
    assert_eq!(expression("f()"), "f()");
    assert_eq!(expression("f(void)"), "f()");
    assert_eq!(expression("f(a, b = c, (d, e), f ? g : h)"), "f(a (= b c) (, d e) (? f g h))");
    assert_eq!(expression("vec2(vec4(1.0, a, b, c))"), "vec2:(vec4:(1.0 a b c))");
    assert_eq!(expression("float[2](1.0, 2.0)"), "float[2]:(1.0 2.0)");
    assert_eq!(expression("float[](1.0)"), "float[]:(1.0)");
    assert_eq!(expression("float[2][n + 1](a, b)"), "float[2][(+ n 1)]:(a b)");
    assert_eq!(expression("s[1](a)"), "s[1](a)");
}

#[test]
fn literals() {
    assert_eq!(expression("f(0, 017, 0xFFu, 1.5, .5f, 2.lf, 1e2, true, false)"), {
        "f(0 15 255u 1.5 0.5 2.0lf 100.0 true false)"
    });
    assert_eq!(expression("4294967295"), "4294967295");
    let text = "#version 450\n#extension GL_ARB_gpu_shader_int64 : enable\nvoid f() { 5l + 6ul; }";
    assert_eq!(tree(text), "(fn void f() (+ 5l 6ul))");
    assert_eq!(findings("int a = 4294967296;\n").len(), 1);
}

#[test]
fn initializer_lists() {
    assert_eq!(statements("vec2 a = { 1.0, 2.0 };"), "(var vec2 a={1.0 2.0})");
    assert_eq!(statements("mat2 a = { { 1.0, b + c }, vec2(d), };"), "(var mat2 a={{1.0 (+ b c)} vec2:(d)})");
}

#[test]
fn structs_decide_what_brackets_are() {
    let head = "#version 120\nstruct S { float a; };\n";
    let inner = |text: &str| {
        let tree = tree(&format!("{head}void f() {{ {text} }}"));
        tree.lines().last().and_then(|line| Some(line.strip_prefix("(fn void f() ")?.strip_suffix(')')?.to_owned()))
    };
    assert_eq!(inner("S(1.0);").as_deref(), Some("S(1.0)"));
    assert_eq!(inner("S[2](S(1.0), S(2.0))[0].a;").as_deref(), Some("S[2]:(S(1.0) S(2.0))[0].a"));
    assert_eq!(inner("S[2] a = S[](S(1.0), S(2.0));").as_deref(), Some("(var S[2] a=S[]:(S(1.0) S(2.0)))"));
    assert_eq!(inner("float S; S[2];").as_deref(), Some("(var float S) S[2]"));
    assert_eq!(inner("S S = S(1.0); S;").as_deref(), Some("(var S S=S(1.0)) S"));
    assert_eq!(inner("{ float S; } S[1] a;").as_deref(), Some("({} (var float S)) (var S[1] a)"));
    assert_eq!(inner("for (int S = 0; S < 2; S++) S; S a;").as_deref(), {
        Some("(for (var int S=0) (< S 2) (S ++) S) (var S a)")
    });
    assert_eq!(inner("while (bool S = true) S; S a;").as_deref(), Some("(while (var bool S=true) S) (var S a)"));
    assert_eq!(inner("if (true) float S; S a;").as_deref(), Some("(if true (var float S)) (var S a)"));
}

#[test]
fn parameters_and_members_hide_structs() {
    let text =
        "#version 120\nstruct ray { float a; };\nvoid f(in float ray) { ray[0]; ray = 1.0; }\nvoid g() { ray r; }";
    assert_eq!(tree(text), {
        "(var (struct ray {float a}))\n(fn void f(in float ray) ray[0] (= ray 1.0))\n(fn void g() (var ray r))"
    });
    let text = "#version 140\nstruct S { float a; };\nuniform B { float S; };\nvoid f() { S[0]; }";
    assert!(tree(text).ends_with("(fn void f() S[0])"));
    let text = "#version 150\nstruct S { float a; };\nuniform B { float S; } b;\nvoid f() { S[2] c; }";
    assert!(tree(text).ends_with("(fn void f() (var S[2] c))"));
}

#[test]
fn tokens_of_an_expression_include_parentheses() {
    let parsed = super::parse("#version 120\nint a = (1 + 2) * f(3);\n");
    let expr = parsed
        .ast
        .exprs
        .iter()
        .find(|expr| matches!(expr.kind, crate::ast::ExprKind::Binary(crate::ast::BinaryOp::Mul, ..)));
    // `int` is token 0, `(` 3 and the last `)` 12.
    assert_eq!(expr.map(|expr| (expr.tokens.first, expr.tokens.last)), Some((3, 12)));
}
