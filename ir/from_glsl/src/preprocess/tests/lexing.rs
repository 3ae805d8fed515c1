//! Lines, comments and characters.

use super::*;

#[test]
fn operators_are_the_longest() {
    assert_eq!(tokens("a<<=b>>=c<<d>>e^^f&&g||h++--i"), "a <<= b >>= c << d >> e ^^ f && g || h ++ -- i");
    assert_eq!(tokens("+=-=*=/=%=&=^=|===!=<=>="), "+= -= *= /= %= &= ^= |= == != <= >=");
    assert_eq!(tokens("()[]{}.,;:?=+-*/%<>&|^!~"), "( ) [ ] { } . , ; : ? = + - * / % < > & | ^ ! ~");
    assert_eq!(tokens("a+++b"), "a ++ + b");
    assert_eq!(tokens("x.y.5 1.x"), "x . y .5 1.x");
}

#[test]
fn numbers_have_an_extent() {
    assert_eq!(
        tokens("1.0e+5f 1e-3-1 0xE+1 1.0.xx 1..2 0x1.x .5.5"),
        "1.0e+5f 1e-3 - 1 0xE + 1 1.0 . xx 1. .2 0x1 . x .5 .5"
    );
}

#[test]
fn lines_are_joined() {
    assert_eq!(run("#version 420\nfl\\\noat 1\\\r\n2 <\\\n<\\\n= .\\\n5 // x \\\n y\nz").0, "float 12 <<= .5 z");
    assert_eq!(run("#version 420\n#def\\\nine A \\\n 1\nA"), ("1".to_owned(), vec![]));
    assert_eq!(run("#version 420\n/\\\n* x *\\\n/ a /\\\n/ b\nc").0, "a c");
    assert_eq!(run("a\\\nb\\\nc").1, ["line-continuation"]);
    assert_eq!(run("#version 300 es\na\\\nb").1, [""; 0]);
    assert_eq!(run("a \\ \n").1, ["bad-character"]);
    assert_eq!(run("a \\").1, ["bad-character"]);
}

#[test]
fn newlines_have_four_forms() {
    for newline in ["\n", "\r", "\r\n", "\n\r"] {
        let text = ["#version 420", "#define A 1", "// comment", "A \\", "__LINE__", "", "__LINE__"].join(newline);
        assert_eq!(run(&text), ("1 5 7".to_owned(), vec![]), "{newline:?}");
    }
}

#[test]
fn comments_are_blanks() {
    assert_eq!(tokens("a/* b\n c */d // e /* f\ng/**/h"), "a d g h");
    assert_eq!(tokens("/* \u{e9} \u{0} ' */ // \u{fffd}\n a"), "a");
    assert_eq!(tokens("/* x */ # /* y */ define /* z */ A /* \n */ 1\nA"), "1");
    assert_eq!(tokens("#define F/**/(x) 1\nF(2)"), "( x ) 1 ( 2 )");
    assert_eq!(problems("/* /* */ */"), [""; 0]);
    assert_eq!(problems("a /*/ b"), ["unterminated-comment"]);
    assert_eq!(problems("a /* b *"), ["unterminated-comment"]);
    assert_eq!(problems("#if 0\n/* b"), ["unterminated-group", "unterminated-comment"]);
    assert_eq!(problems("a // b"), [""; 0]);
}

#[test]
fn characters_are_those_of_the_language() {
    for text in ["@", "$", "'", "\"", "`", "\u{e9}", "\u{0}", "\u{1}", "\u{7f}", "a\u{3b1}\u{3b2}b"] {
        assert_eq!(problems(text), ["bad-character"], "{text:?}");
    }
    assert_eq!(run_with(b"\xff\xfe a \x80", &GlslOptions::default()).1, ["bad-character"; 2]);
    // Only characters that are left after preprocessing matter.
    assert_eq!(problems("#define A '\n#if 0\n\"\n#endif\n"), [""; 0]);
    assert_eq!(tokens("\u{b}\u{c}\t a"), "a");
    assert_eq!(run(""), (String::new(), vec![]));
    assert_eq!(run("\n\r\n\r").1, [""; 0]);
}

#[test]
fn hashes_belong_to_directives() {
    assert_eq!(tokens("#\n # \n#/* */\n# // x"), "");
    assert_eq!(problems("a # b"), ["stray-hash"]);
    assert_eq!(problems("##\n#define A 1"), ["stray-hash"]);
    assert_eq!(problems("a ## b"), ["stray-hash"]);
}

#[test]
fn names_are_long() {
    let name = "a".repeat(1025);
    assert_eq!(problems(&name), [""; 0]);
    assert_eq!(problems_es(&name), ["name-too-long"]);
    assert_eq!(problems_es(&name[1..]), [""; 0]);
}
