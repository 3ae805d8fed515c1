//! Texts that are made to take long, to need much memory or to fail.

use std::fmt::Write;

use super::*;

/// Preprocesses a text. Returns the number of tokens and the names of the findings.
fn count(text: &[u8]) -> (usize, Vec<&'static str>) {
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let result = preprocess(text, &GlslOptions::default(), &mut interner, &mut findings);
    (result.tokens.tokens.len(), findings.into_vec().iter().map(|finding| finding.code.name).collect())
}

#[test]
fn macros_that_double() {
    for (levels, first) in [(25, "x"), (60, "x"), (60, ""), (25, "")] {
        let mut text = format!("#define A0 {first}\n");
        for level in 1..=levels {
            let _ = writeln!(text, "#define A{level} A{0} A{0}", level - 1);
        }
        let _ = writeln!(text, "A{levels} int y;");
        assert_eq!(count(text.as_bytes()), (1, vec!["too-many-tokens"]));
        let in_condition = format!("{text}#if A{levels}\n#endif");
        assert_eq!(count(in_condition.as_bytes()).1, ["too-many-tokens"]);
    }
    let mut text = "#version 130\n#define D(x) x x\n#define J(x) K(x)\n#define K(x) x##x\n".to_owned();
    let nested = |name: &str, levels: usize| format!("{}y{}", format!("{name}(").repeat(levels), ")".repeat(levels));
    assert_eq!(count((text.clone() + &nested("D", 40)).as_bytes()), (1, vec!["too-many-tokens"]));
    assert_eq!(count((text.clone() + &nested("J", 40)).as_bytes()), (1, vec!["too-many-tokens"]));
    text += &format!("#define MANY(x) {}\n", "x ".repeat(10_000));
    assert_eq!(count((text + &nested("MANY", 3)).as_bytes()), (1, vec!["too-many-tokens"]));
}

#[test]
fn long_chains_of_macros() {
    let mut text = String::new();
    for index in 0..100_000 {
        let _ = writeln!(text, "#define M{index} M{}", index + 1);
    }
    assert_eq!(count((text + "M0").as_bytes()), (2, vec![]));
    let mut text = String::new();
    for index in 0..20_000 {
        let _ = writeln!(text, "#define F{index}(x) F{}(x)", index + 1);
    }
    assert_eq!(count((text + "F0(1)").as_bytes()), (5, vec![]));
    let parameters: Vec<String> = (0..50_000).map(|index| format!("p{index}")).collect();
    let parameters = parameters.join(",");
    let text = format!("#define F({parameters}) {}\nF({parameters})", parameters.replace(',', "+"));
    assert_eq!(count(text.as_bytes()), (100_000, vec![]));
    let text = format!("#define F({parameters})\n{}", "F() ".repeat(100_000));
    assert_eq!(count(text.as_bytes()), (1, vec!["macro-argument-count"; 100]));
    let text = format!("#define F(x) {}\n{}", "x ".repeat(100_000), "F() ".repeat(100_000));
    assert_eq!(count(text.as_bytes()), (1, vec!["too-many-tokens"]));
}

#[test]
fn nested_invocations() {
    let text = |levels: usize| format!("#define f(x) x\n{}1{}", "f(".repeat(levels), ")".repeat(levels));
    assert_eq!(count(text(200).as_bytes()), (2, vec![]));
    assert_eq!(count(text(2_000).as_bytes()).1, ["invocations-too-deep"]);
    assert_eq!(count(text(20_000).as_bytes()).1, ["too-many-tokens"]);
    assert_eq!(count(format!("#define f(x) x\n{}", "f(".repeat(20_000)).as_bytes()).1, ["unterminated-invocation"]);
    assert_eq!(count(format!("#define f(x) x\n{}", "f ".repeat(200_000)).as_bytes()), (200_001, vec![]));
    assert_eq!(count(format!("#define f(x) x\nf({})", "(".repeat(200_000)).as_bytes()).1, ["unterminated-invocation"]);
    // Joins a name piece by piece.
    let text = format!("#define A a{}\nA", "##a".repeat(100_000));
    assert_eq!(count(text.as_bytes()).1, ["old-paste", "too-many-tokens"]);
}

#[test]
fn nested_groups() {
    for condition in ["#if 1\n", "#if 0\n", "#ifdef A\n", "#ifndef A\n#else\n"] {
        let text = condition.repeat(1_000_000);
        assert_eq!(count(text.as_bytes()).1, ["groups-too-deep", "unterminated-group"], "{condition}");
    }
    let text = "#if 1\n".repeat(1_000_000) + &"#endif\n".repeat(1_000_000);
    assert_eq!(count(text.as_bytes()).1, ["groups-too-deep"]);
    let text = "#if 0\n".to_owned() + &"#elif 0\n".repeat(1_000_000) + "#else\na\n#endif";
    assert_eq!(count(text.as_bytes()), (2, vec![]));
}

#[test]
fn deep_expressions() {
    let text = |open: &str, close: &str, n: usize| format!("#if {}1{}\na\n#endif", open.repeat(n), close.repeat(n));
    assert_eq!(count(text("(", ")", 20_000).as_bytes()), (2, vec![]));
    assert_eq!(count(text("(", "", 20_000).as_bytes()), (1, vec!["bad-expression"]));
    assert_eq!(count(text("", ")", 20_000).as_bytes()), (1, vec!["bad-expression"]));
    assert_eq!(count(text("!", "", 100_000).as_bytes()), (2, vec![]));
    assert_eq!(count(text("1+", "", 100_000).as_bytes()), (2, vec![]));
    assert_eq!(count(text("0||", "", 100_000).as_bytes()), (2, vec![]));
    assert_eq!(count(text("UNKNOWN||", "", 100_000).as_bytes()).1, ["undefined-is-zero"]);
}

#[test]
fn long_texts() {
    let megabyte = 1 << 20;
    assert_eq!(count("\\\n".repeat(megabyte / 2).as_bytes()), (1, vec!["line-continuation"]));
    assert_eq!(count(("a".to_owned() + &"\\\n".repeat(megabyte / 2) + "b").as_bytes()), (2, vec!["line-continuation"]));
    assert_eq!(count(("/".to_owned() + &"\\\n".repeat(megabyte / 2) + "/").as_bytes()), (1, vec!["line-continuation"]));
    assert_eq!(count("/\\\n".repeat(megabyte / 3).as_bytes()).0, 1);
    assert_eq!(count("<\\\n".repeat(megabyte / 3).as_bytes()).0, megabyte / 3 / 2 + 2);
    assert_eq!(count("*\\\n".repeat(megabyte / 3).as_bytes()).0, megabyte / 3 + 1);
    assert_eq!(
        count(("/*".to_owned() + &"*\\\n".repeat(megabyte / 3)).as_bytes()).1,
        ["unterminated-comment", "line-continuation"]
    );
    assert_eq!(count("a".repeat(megabyte).as_bytes()), (2, vec![]));
    assert_eq!(count("1".repeat(megabyte).as_bytes()), (2, vec![]));
    assert_eq!(count("#\n".repeat(megabyte / 2).as_bytes()), (1, vec![]));
    assert_eq!(count("\0".repeat(megabyte).as_bytes()).1.len(), 100);
    assert_eq!(count("\u{e9}".repeat(megabyte / 2).as_bytes()), (1, vec!["bad-character"]));
    assert_eq!(count("#line 1\n".repeat(megabyte / 8).as_bytes()), (1, vec![]));
    assert_eq!(count("#define A 1\n".repeat(megabyte / 12).as_bytes()), (1, vec![]));
    assert_eq!(count("#define A 1\n#undef A\n".repeat(megabyte / 21).as_bytes()), (1, vec![]));
    assert_eq!(count(format!("#error {}", "x ".repeat(megabyte / 2)).as_bytes()).1, ["error-directive"]);
    assert_eq!(count("#extension all : warn\n".repeat(megabyte / 22).as_bytes()), (1, vec![]));
    assert_eq!(count("a ".repeat(5 * megabyte).as_bytes()).1, [""; 0]);
    assert_eq!(count("a ".repeat(9 * megabyte).as_bytes()), (1, vec!["too-many-tokens"]));
    let options =
        GlslOptions { limits: crate::GlslLimits { text_bytes: 3, ..Default::default() }, ..Default::default() };
    assert_eq!(run_with(b"abcd", &options), (String::new(), vec!["text-too-long"]));
}

/// A number below a bound.
fn below(random: &mut tgsi_environment::Random, bound: usize) -> usize {
    (random.bits() % bound.max(1) as u64) as usize
}

/// Pieces from which texts are made.
const PIECES: &[&str] = &[
    "#",
    "##",
    "define ",
    "undef ",
    "if ",
    "ifdef ",
    "ifndef ",
    "elif ",
    "else",
    "endif",
    "error ",
    "pragma ",
    "line ",
    "extension ",
    "version ",
    "include ",
    "300 es",
    "130",
    "GL_EXT_gpu_shader4",
    " : ",
    "enable",
    "all",
    "warn",
    "defined",
    "__LINE__",
    "__FILE__",
    "GL_ES",
    "F",
    "G",
    "A",
    "B",
    "(",
    ")",
    ",",
    "x",
    "y",
    "\n",
    "\n#",
    "\n#define ",
    "\r",
    "\\\n",
    "/*",
    "*/",
    "//",
    " ",
    "\t",
    "0",
    "1",
    "1.0",
    "0x",
    "e+",
    ".",
    "+",
    "-",
    "/",
    "%",
    "<",
    "=",
    "&&",
    "||",
    "!",
    "@",
    "'",
    "\u{e9}",
    "\0",
    "half",
    "F(",
    "F(A)",
    "G(A,B)",
    "\n#define F(x) x G(x,F)\n",
    "\n#define G(x,y) x##y F(y)\n",
    "\n#if A\n",
    "\n#endif\n",
];

#[test]
fn random_texts() {
    let mut random = tgsi_environment::Random::new(1);
    for _ in 0..5_000 {
        let pieces = below(&mut random, 40);
        let text: String = (0..pieces).filter_map(|_| PIECES.get(below(&mut random, PIECES.len()))).copied().collect();
        check(text.as_bytes());
    }
    for _ in 0..2_000 {
        let length = below(&mut random, 60);
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        check(&bytes);
    }
}

#[test]
fn mutated_texts() {
    const TEXT: &str = "#version 120\n#extension GL_ARB_texture_rectangle : enable\n\
        #define MAX(a, b) ((a) > (b) ? (a) : (b))\n\
        #define CAT(a, b) a##b\n#ifdef GL_ES\nprecision mediump float;\n#elif __VERSION__ >= 120 && !defined(X)\n\
        uniform sampler2DRect CAT(tex, 0); // comment\n#else\n#error no\n#endif\n/* block */ void main() {\n\
        gl_FragColor = vec4(MAX(1.0, 2.e-1), 0x1F, 017, CAT(1, 2)); }\n#line 7 2\n#pragma STDGL invariant(all)\n";
    let mut random = tgsi_environment::Random::new(2);
    for _ in 0..5_000 {
        let mut bytes = TEXT.as_bytes().to_vec();
        for _ in 0..=below(&mut random, 4) {
            let at = below(&mut random, bytes.len());
            match below(&mut random, 4) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..(at + below(&mut random, 8)).min(bytes.len()))),
                2 => {
                    let piece = PIECES.get(below(&mut random, PIECES.len())).copied().unwrap_or_default();
                    drop(bytes.splice(at..at, piece.bytes()));
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = random.bits() as u8;
                    }
                }
            }
        }
        check(&bytes);
    }
}

/// Preprocesses a text with small limits, and checks the invariants of the result.
fn check(text: &[u8]) {
    let mut options = GlslOptions::default();
    options.limits.tokens = 10_000;
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let result = preprocess(text, &options, &mut interner, &mut findings);
    let tokens = &result.tokens;
    assert!(matches!(tokens.tokens.last().map(|token| token.kind), Some(TokenKind::End)));
    assert!(tokens.tokens.len() <= 10_001);
    for (index, token) in tokens.tokens.iter().enumerate() {
        let span = tokens.span(TokenRange::at(index as u32));
        assert!(span.start <= span.end && span.end as usize <= text.len(), "{token:?}");
        assert!((token.expansion.0 as usize) <= tokens.expansions.len());
        if token.kind == TokenKind::Number {
            let _ = parse_number(interner.spelling(token.symbol), result.version, &result.extensions);
        }
    }
    for finding in findings.into_vec() {
        assert!(
            finding.span.start <= finding.span.end && finding.span.end as usize <= text.len().max(1),
            "{finding:?}"
        );
    }
}
