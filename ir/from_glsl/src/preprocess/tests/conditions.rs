//! Conditional groups and their expressions.

use super::*;

/// The value of an expression without findings.
#[track_caller]
fn is_true(expression: &str) -> bool {
    tokens(&format!("#define ONE 1\n#define TWO 2\n#if {expression}\nyes\n#endif")) == "yes"
}

#[test]
fn expressions_are_evaluated() {
    let all = [
        "1",
        "ONE",
        "!0",
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "7 / 2 == 3",
        "-7 / 2 == -3",
        "-7 % 3 == -1",
        "1 << 4 == 16",
        "-16 >> 2 == -4",
        "5 & 3 | 8 ^ 8",
        "~0 == -1",
        "3 > 2",
        "2 >= 2",
        "1 < 2",
        "2 <= 2",
        "1 != 2",
        "!!5 == 1",
        "- -1",
        "+1",
        "1 || 0 && 0",
        "8 - 2 - 1 == 5",
        "0x1F == 31",
        "010 == 8",
        "1u",
        "0xFFFFFFFF > 0",
        "defined ONE",
        "defined(ONE) && !defined ( THREE )",
        "defined __LINE__",
        "(((((1)))))",
        "ONE + TWO == 3",
        "__VERSION__ >= 130",
        "0 || (1 || 1 / 0)",
        "!(0 && 1 / 0)",
        "defined ONE == 1",
        "2 == 1 + 1 == 0 == 0",
        "1 << 64 == 0",
    ];
    for expression in all {
        assert!(is_true(expression), "{expression}");
        assert!(!is_true(&format!("!({expression})")), "{expression}");
    }
    assert!(!is_true("1 && 0 || 0"));
}

#[test]
fn defined_may_come_from_a_macro() {
    assert!(is_true("defined(ONE)\n#define HAS defined(ONE)\n#if HAS\n#else\n#error\n#endif\n"));
    assert_eq!(tokens("#define IS(x) defined(x)\n#define A A\n#if IS(A)\n1\n#endif\ndefined"), "1 defined");
    // The operator ends with the macro.
    assert_eq!(problems("#define HAS defined(ONE\n#if !HAS\n#endif"), ["defined-syntax"]);
}

#[test]
fn expressions_are_checked() {
    for (expression, problem) in [
        ("", "missing-expression"),
        ("EMPTY", "missing-expression"),
        ("1 +", "bad-expression"),
        ("(1", "bad-expression"),
        ("1)", "bad-expression"),
        ("()", "bad-expression"),
        ("1 2", "bad-expression"),
        ("1.0", "bad-expression"),
        ("08", "bad-expression"),
        ("* 1", "bad-expression"),
        ("1 ? 2 : 3", "bad-expression"),
        ("1 = 1", "bad-expression"),
        ("'a'", "bad-expression"),
        ("99999999999999999999", "bad-expression"),
        ("1 / 0", "division-by-zero"),
        ("1 % (1 - 1)", "division-by-zero"),
        ("UNKNOWN", "undefined-is-zero"),
        ("1 + UNKNOWN / 0", "division-by-zero"),
        ("defined", "defined-syntax"),
        ("defined(", "defined-syntax"),
        ("defined(A", "defined-syntax"),
        ("defined 1", "defined-syntax"),
    ] {
        let found = problems(&format!("#define EMPTY\n#if {expression}\n#endif"));
        assert_eq!(found.first(), Some(&problem), "{expression}");
    }
    assert_eq!(problems("#if 0 && UNKNOWN\n#elif 1 || UNKNOWN\n#endif"), [""; 0]);
    assert_eq!(problems_es("#if UNKNOWN\n#endif\n#if 0 && UNKNOWN\n#endif"), ["undefined-name"]);
}

#[test]
fn branches_are_chosen() {
    let text = |first, second| format!("#if {first}\na\n#elif {second}\nb\n#else\nc\n#endif\nd");
    assert_eq!(tokens(&text(1, 1)), "a d");
    assert_eq!(tokens(&text(0, 1)), "b d");
    assert_eq!(tokens(&text(0, 0)), "c d");
    assert_eq!(tokens("#ifdef A\na\n#else\nb\n#endif\n#ifndef A\nc\n#endif"), "b c");
    // In a branch that is skipped, only groups matter.
    assert_eq!(tokens("#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 1\nc\n#endif"), "c");
    assert_eq!(
        tokens("#if 0\n#define A 1\n#error no\n@ ' \" `\n#foo\n#if )(\n#elif 1 / 0\n#endif\n#version 300\n#endif\nA"),
        "A"
    );
    assert_eq!(tokens("#if 1\na\n#elif 1 / 0\nb\n#endif"), "a");
    assert_eq!(tokens("#if 0 // comment\n/* \n#endif\n*/ x #endif\n# /* x */ endif\na"), "a");
    assert_eq!(run("#version 420\n#if 0\n// \\\n#endif\n#endif\na"), ("a".to_owned(), vec![]));
    assert_eq!(tokens("# if 1\n\t#\tif 0\n#else\na\n  #  endif\n#endif"), "a");
}

#[test]
fn groups_are_checked() {
    assert_eq!(problems("#if 1\n"), ["unterminated-group"]);
    assert_eq!(problems("#if 0\n#if 1\n"), ["unterminated-group"]);
    assert_eq!(problems("#ifdef A\n#else\n"), ["unterminated-group"]);
    assert_eq!(problems("#endif\n#else\n#elif 1"), ["without-if"; 3]);
    assert_eq!(problems("#if 1\n#else\n#else\n#endif"), ["after-else"]);
    assert_eq!(problems("#if 0\n#else\n#elif 1\n#endif"), ["after-else"]);
    assert_eq!(problems("#ifdef\n#endif\n#ifndef 1\n#endif"), ["missing-macro-name"; 2]);
    assert_eq!(problems("#ifdef A B\n#endif"), ["trailing-tokens"]);
    assert_eq!(problems("#if 1\n#else x\n#endif"), ["trailing-tokens"]);
    assert_eq!(problems("#if 0\n#else x\n#endif"), ["trailing-tokens"]);
    assert_eq!(problems("#if 1\n#endif x"), ["ignored-tokens"]);
    assert_eq!(problems("#if 1\n#endif // x"), [""; 0]);
}
