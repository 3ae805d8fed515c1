//! Definitions and expansions of macros.

use super::*;

#[test]
fn names_are_replaced() {
    assert_eq!(tokens("#define A 1\nA+A"), "1 + 1");
    assert_eq!(tokens("#define A B\n#define B C\nA"), "C");
    assert_eq!(tokens("#define A\nA x A"), "x");
    assert_eq!(tokens("#define A 1\n#undef A\nA"), "A");
    assert_eq!(tokens("#define float double_\nfloat"), "double_");
    assert_eq!(tokens("#undef NEVER_DEFINED\n"), "");
}

#[test]
fn arguments_are_expanded_first() {
    assert_eq!(tokens("#define ADD(a, b) a + b\nADD(1, (2, 3)) ADD(,)"), "1 + ( 2 , 3 ) +");
    assert_eq!(tokens("#define TWICE(x) x x\n#define ONE 1\nTWICE(ONE) TWICE(TWICE(2))"), "1 1 2 2 2 2");
    assert_eq!(tokens("#define F() 5\nF() F( ) F"), "5 5 F");
    assert_eq!(tokens("#define F (x)\nF(1)"), "( x ) ( 1 )");
    assert_eq!(tokens("#define G(x) (x)\nG\n(\n3\n) G"), "( 3 ) G");
    // An argument that names the macro, a name that is a macro again after its expansion, and an open parenthesis from
    // a macro.
    let text = "#define SUM(v) SUM(GAIN + (v))\n#define GAIN 7\n#define ALIAS SUM\n#define OPEN ALIAS(-\n\
                #define APPLY(m) m(PAIR)\n#define PAIR 4,5\n#define SAME(q) q\n\
                SUM(a) + SUM(SUM(b));\nALIAS(GAIN) SAME(SAME(ALIAS)(c) + SAME)(d);\nOPEN 9) APPLY(SUM);";
    let expected = "SUM(7 + (a)) + SUM(7 + (SUM(7 + (b))));\
                    SUM(7 + (7)) SUM(7 + (c)) + SAME(d); SUM(7 + (- 9)) SUM(7 + (4,5));";
    assert_eq!(tokens(text), tokens(expected));
}

#[test]
fn a_macro_does_not_expand_itself() {
    assert_eq!(tokens("#define foo foo + 1\nfoo"), "foo + 1");
    assert_eq!(tokens("#define a b\n#define b a\na b"), "a b");
    assert_eq!(tokens("#define f(x) x f\nf(1)(2)"), "1 f ( 2 )");
    assert_eq!(tokens("#define f(x) f\nf(1)(2)"), "f ( 2 )");
    // A name that was not expanded remains so in later arguments.
    assert_eq!(tokens("#define tint tint\n#define same(q) q\nsame(same(tint))"), "tint");
    assert_eq!(tokens("#define twice(v) 2 * half_of\n#define half_of(v) twice(v)\ntwice(3)(4)"), "2 * 2 * half_of");
    assert_eq!(tokens("#define same(q) q\n#define outer(v) same(inner)(v)\n#define inner(v) same(v)\nouter(6)"), "6");
}

#[test]
fn tokens_are_joined() {
    assert_eq!(
        tokens("#define CAT(a, b) a ## b\nCAT(x, 1) CAT(1, 2) CAT(<, <=) CAT(,) CAT(x,) CAT(,y)"),
        "x1 12 <<= x y"
    );
    assert_eq!(tokens("#define CAT(a, b) a ## b\n#define A 1\nCAT(A, B)"), "AB");
    assert_eq!(tokens("#define CAT(a, b) a ## b\n#define AB 7\nCAT(A, B) CAT(CA, T)(A, B)"), "7 CAT ( A , B )");
    assert_eq!(tokens("#define X(a) a ## _ ## a b\nX(p q)"), "p q_p q b");
    assert_eq!(tokens("#define V vec ## 4\nV"), "vec4");
    assert_eq!(tokens("#define E(a, b, c) a ## b ## c\nE(,,) E(1,,2) E(,x,)"), "12 x");
    assert_eq!(problems("#define A + ## x\nA"), ["bad-paste"]);
    assert_eq!(problems("#define CAT(a, b) a ## b\nCAT(/, /)"), ["bad-paste"]);
    assert_eq!(problems("#define A ## x"), ["paste-at-edge"]);
    assert_eq!(problems("#define A x ##"), ["paste-at-edge"]);
    assert_eq!(problems("#define A(x) #x"), ["stringification"]);
    assert_eq!(run("#version 110\n#define A a ## b\n#define B a ## b\nA").1, ["old-paste"]);
    assert_eq!(problems_es("#define A a ## b"), ["paste-es"]);
}

#[test]
fn redefinitions_are_equal() {
    assert_eq!(problems("#define A 1\n#define A 1\n#define A  1 // same"), [""; 0]);
    assert_eq!(problems("#define A 1\n#define A 2"), ["macro-redefinition"]);
    assert_eq!(problems("#define A 1 + 2\n#define A 1 +2"), ["macro-redefinition"]);
    assert_eq!(problems("#define A(x) x\n#define A(y) y"), ["macro-redefinition"]);
    assert_eq!(problems("#define A() 1\n#define A 1"), ["macro-redefinition"]);
    assert_eq!(problems("#define A 1\n#undef A\n#define A 2"), [""; 0]);
}

#[test]
fn definitions_are_checked() {
    assert_eq!(problems("#define"), ["missing-macro-name"]);
    assert_eq!(problems("#define 1"), ["missing-macro-name"]);
    assert_eq!(problems("#define GL_A 1"), ["reserved-prefix"]);
    assert_eq!(problems("#define a__b 1"), ["double-underscore"]);
    assert_eq!(problems("#define defined 1"), ["predefined-name"]);
    assert_eq!(
        problems("#define __LINE__ 1\n#undef __FILE__\n#undef __VERSION__\n#undef GL_ARB_texture_rectangle"),
        ["predefined-name"; 4]
    );
    assert_eq!(problems_es("#undef GL_ES"), ["predefined-name"]);
    assert_eq!(problems_es("#define defined 1"), ["defined-as-name"]);
    assert_eq!(problems("#define F(a, a) a"), ["duplicate-parameter"]);
    for text in
        ["#define F(", "#define F(a", "#define F(a,", "#define F(,)", "#define F(a b)", "#define F(1)", "#define F(a,)"]
    {
        assert_eq!(problems(text), ["parameter-list"], "{text}");
    }
    assert_eq!(problems("#undef"), ["missing-macro-name"]);
    assert_eq!(problems("#undef A B"), ["trailing-tokens"]);
}

#[test]
fn arguments_are_counted() {
    let macros = "#define F(a, b) a b\n#define N() n\n#define ONE(a) a\n";
    assert_eq!(problems(&format!("{macros}F(1)")), ["macro-argument-count"]);
    assert_eq!(problems(&format!("{macros}F(1, 2, 3)")), ["macro-argument-count"]);
    assert_eq!(problems(&format!("{macros}N(1) F()")), ["macro-argument-count"; 2]);
    assert_eq!(problems(&format!("{macros}ONE() F((1, 2), 3)")), [""; 0]);
    assert_eq!(problems(&format!("{macros}F(1, 2")), ["unterminated-invocation"]);
    assert_eq!(problems(&format!("{macros}#if F(1, 2\n#endif")), ["missing-expression", "unterminated-invocation"]);
}

#[test]
fn directives_between_arguments_are_executed() {
    assert_eq!(tokens("#define F(a) a\nF(\n#if 0\n1\n#else\n2\n#endif\n)"), "2");
    assert_eq!(tokens("#define F(a) a\nF\n#define X 3\n(X)"), "3");
}

#[test]
fn predefined_macros() {
    assert_eq!(tokens("__LINE__ __FILE__\n__VERSION__ __LINE__"), "2 0 130 3");
    assert_eq!(tokens("#define L __LINE__\n\nL"), "4");
    assert_eq!(tokens("#define F(x) x __LINE__\nF(\n__LINE__\n)"), "3 3");
    let names = "GL_ES GL_core_profile GL_compatibility_profile GL_es_profile GL_FRAGMENT_PRECISION_HIGH";
    let values = |version: &str| run(&format!("#version {version}\n{names}")).0;
    assert_eq!(values("120"), names);
    assert_eq!(values("140"), "GL_ES GL_core_profile GL_compatibility_profile GL_es_profile 1");
    assert_eq!(values("150"), "GL_ES 1 GL_compatibility_profile GL_es_profile 1");
    assert_eq!(values("330 compatibility"), "GL_ES GL_core_profile 1 GL_es_profile 1");
    assert_eq!(values("100"), "1 GL_core_profile GL_compatibility_profile GL_es_profile 1");
    assert_eq!(values("310 es"), "1 GL_core_profile GL_compatibility_profile 1 1");
    assert_eq!(run("__VERSION__ GL_ARB_draw_buffers GL_OES_texture_3D").0, "110 1 GL_OES_texture_3D");
    assert_eq!(run("#version 100\nGL_ARB_draw_buffers GL_OES_texture_3D").0, "GL_ARB_draw_buffers 1");
}

#[test]
fn options_define_macros() {
    let mut options = GlslOptions::default();
    for (name, text) in [("A", "1"), ("F(x)", "x + A"), ("EMPTY", ""), ("GL_MINE", "3")] {
        options.definitions.push((name.to_owned(), text.to_owned()));
    }
    assert_eq!(run_with(b"#ifdef EMPTY\nF(2) GL_MINE EMPTY\n#endif", &options), ("2 + 1 3".to_owned(), vec![]));
    for (name, text) in [("1", "1"), ("", "x"), ("__LINE__", "1"), ("F(", "1"), ("A", "/*"), ("B\nC", "")] {
        let options = GlslOptions { definitions: vec![(name.to_owned(), text.to_owned())], ..GlslOptions::default() };
        let count = usize::from(name != "B\nC");
        assert_eq!(run_with(b"x", &options).1.len(), count, "{name} {text}");
    }
}
