//! Long, deep and random inputs.

use std::fmt::Write;

use super::{Parsed, findings, parse};
use crate::ast::{ExprKind, Item, StmtKind};

/// The only finding.
#[track_caller]
fn only_finding(text: &str) -> String {
    let findings = findings(text);
    assert_eq!(findings.len(), 1, "{:?}", findings.iter().take(5).collect::<Vec<_>>());
    findings.into_iter().next().unwrap_or_default()
}

#[track_caller]
fn clean(text: &str) -> Parsed {
    let parsed = parse(text);
    assert_eq!(parsed.findings.len(), 0, "{:?}", parsed.findings.first());
    parsed
}

#[test]
fn long_sums_are_flat() {
    let text = format!("void main() {{ x = a{}; }}", " + a".repeat(50_000));
    let parsed = clean(&text);
    let sums = parsed.ast.exprs.iter().filter(|expr| matches!(expr.kind, ExprKind::Binary(..))).count();
    assert_eq!(sums, 50_000);
}

#[test]
fn long_chains_of_other_operators_are_flat() {
    clean(&format!("void main() {{ x{}; }}", ".x".repeat(50_000)));
    clean(&format!("void main() {{ x{}; }}", "[0]".repeat(50_000)));
    clean(&format!("void main() {{ x{}; }}", "++".repeat(50_000)));
    clean(&format!("void main() {{ x{}; }}", ", x".repeat(50_000)));
    clean(&format!("void main() {{ x = f(1{}); }}", ", 1".repeat(50_000)));
    clean(&format!("void main() {{ x = a{}; }}", " * b + c < d && e".repeat(20_000)));
}

#[test]
fn long_chains_of_selections_are_flat() {
    let parsed = clean(&format!("void main() {{ x = {}c; }}", "a ? b : ".repeat(10_000)));
    let selections = parsed.ast.exprs.iter().filter(|expr| matches!(expr.kind, ExprKind::Conditional(..))).count();
    assert_eq!(selections, 10_000);
    assert_post_order(&parsed);
}

#[test]
fn long_else_if_chains_are_flat() {
    let text = format!("void main() {{ if (a) b; {} else c; }}", "else if (a) b;".repeat(20_000));
    let parsed = clean(&text);
    let arms = parsed.ast.stmts.iter().find_map(|stmt| match stmt.kind {
        StmtKind::If { arms, .. } => Some(arms.len),
        _ => None,
    });
    assert_eq!(arms, Some(20_001));
}

#[test]
fn long_lists_work() {
    clean(&format!("float a{};", ", a".repeat(20_000)));
    clean(&format!("struct S {{ {} }};", "float a, b;".repeat(20_000)));
    clean(&format!("void f(float a{});", ", float a".repeat(20_000)));
    clean(&format!("{} void main() {{ {} }}", "float a;".repeat(20_000), "a = 1.0;".repeat(20_000)));
    clean(&format!("#version 430\nvoid main() {{ float a{}; }}", "[2]".repeat(20_000)));
    clean(&format!("#version 130\nvoid main() {{ switch (a) {{ {} }} }}", "case 1: break;".repeat(20_000)));
}

#[test]
fn deep_nesting_is_one_error() {
    let deep = 20_000;
    let expressions = [
        format!("x = {}1{}", "(".repeat(deep), ")".repeat(deep)),
        format!("x = {}", "(".repeat(deep)),
        format!("x = {}1", "-".repeat(deep).replace("--", "- -")),
        format!("x = {}1", "! ".repeat(deep)),
        format!("{}1", "x = ".repeat(deep)),
        format!("x = {}", "a ? ".repeat(deep)),
        format!("x = {}b", "a ? b : c = ".repeat(deep)),
        format!("x = {}b{}", "a ? b : (".repeat(deep), ")".repeat(deep)),
        format!("x = {}", "f(".repeat(deep)),
        format!("x = {}", "a[".repeat(deep)),
        format!("x = {}", "vec4(".repeat(deep)),
        format!("x = {}", "float[".repeat(deep)),
        format!("x = {}", "a.f(".repeat(deep)),
    ];
    for expression in expressions {
        let finding = only_finding(&format!("#version 430\nvoid main() {{ {expression}; }}\n"));
        assert!(finding.contains("G0208"), "{finding}");
    }
    let statements = ["{", "if (a) ", "while (a) ", "do ", "for (;;) ", "switch (a) { case 1: ", "if (a) b; else { "];
    for statement in statements {
        let finding = only_finding(&format!("#version 430\nvoid main() {{ {}", statement.repeat(deep)));
        assert!(finding.contains("G0208"), "{finding}");
    }
    let finding = only_finding(&"struct {".repeat(deep));
    assert!(finding.contains("G0208"), "{finding}");
    let finding = only_finding(&format!("#version 420\nfloat x[] = {}", "{".repeat(deep)));
    assert!(finding.contains("G0208"), "{finding}");
    let finding = only_finding(&format!("float x{}", "[a".repeat(deep)));
    assert!(finding.contains("G0208"), "{finding}");
    let balanced = format!("void main() {{ {}{} }}", "{".repeat(deep), "}".repeat(deep));
    assert!(only_finding(&balanced).contains("G0208"));
}

/// Pieces that nest, with their ends.
const NESTED: &[(&str, &str)] = &[
    ("{", "}"),
    ("if (a) { b; } else { ", "}"),
    ("while (a) ", ""),
    ("do ", ""),
    ("for (int a = 1; a < 2; a++) ", ""),
    ("switch (a) { case 1: ", "}"),
    ("struct S { float a; ", "} s;"),
    ("x = (a + ", ")"),
    ("float[", ""),
    ("float a[", "]"),
    ("x = a ? ", ""),
    ("f(vec4(float[](1.0, ", ")))"),
];

#[test]
fn nesting_needs_a_small_stack() {
    let parse_all = || {
        for (open, close) in NESTED {
            let text = format!("#version 430\nvoid main() {{ {} {} }}", open.repeat(254), close.repeat(254));
            parse(&text);
        }
    };
    // The second half of the default stack of a thread is for others.
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(parse_all).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn nesting_up_to_the_limit_works() {
    let deep = 250;
    clean(&format!("void main() {{ x = {}1{}; }}", "(".repeat(deep), ")".repeat(deep)));
    clean(&format!("void main() {{ {}{} }}", "{".repeat(deep), "}".repeat(deep)));
    clean(&format!("void main() {{ {} ; }}", "if (a) ".repeat(deep)));
}

#[test]
fn many_errors_end() {
    for piece in
        ["}", ")", "x = 1;", "float;;", "void f() { x = ; }", "%", "{", "struct {", "1", "if", "case 1:", "[", ","]
    {
        for head in ["", "void main() {", "struct S {", "void f(", "float x = ", "layout("] {
            let text = format!("{head}{}", piece.repeat(20_000));
            assert!(parse(&text).findings.len() <= 200, "{head}{piece}");
        }
    }
}

#[test]
fn errors_do_not_read_ahead_repeatedly() {
    // 400,000 tokens: an algorithm that read to the end at each of them would not end.
    for piece in ["a[{}", "a[ }", "a[(", "f(", "(;", "a[if(b)", "float a[", "struct{", "a?", "half b[", "else a["] {
        for head in ["", "void main() {"] {
            parse(&format!("{head}{}", piece.repeat(100_000)));
        }
    }
}

#[test]
fn empty_texts_have_no_items() {
    for text in ["", "\n", "// comment", "#version 100\n", "/* */ \r\n"] {
        assert_eq!(clean(text).ast.items.len(), 0);
    }
}

/// Every expression and its operands are consecutive, in post-order.
fn assert_post_order(parsed: &Parsed) {
    let mut starts: Vec<u32> = Vec::new();
    for (id, expr) in parsed.ast.exprs.iter().enumerate() {
        let id = id as u32;
        let mut operands: Vec<u32> = match expr.kind {
            ExprKind::Unary(_, a) | ExprKind::Step { operand: a, .. } | ExprKind::Field(a, _) => vec![a.0],
            ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Comma(a, b) | ExprKind::Index(a, b) => {
                vec![a.0, b.0]
            }
            ExprKind::Conditional(a, b, c) => vec![a.0, b.0, c.0],
            ExprKind::Call(_, list) | ExprKind::Braces(list) => parsed.ast.list(list).iter().map(|id| id.0).collect(),
            ExprKind::Construct(ty, list) => {
                let lengths = parsed.ast.list(ty.dimensions).iter().filter_map(|dimension| dimension.length);
                lengths.chain(parsed.ast.list(list).iter().copied()).map(|id| id.0).collect()
            }
            ExprKind::Method(base, _, list) | ExprKind::Invoke(base, list) => {
                std::iter::once(base).chain(parsed.ast.list(list).iter().copied()).map(|id| id.0).collect()
            }
            ExprKind::Name(_)
            | ExprKind::Int { .. }
            | ExprKind::Int64 { .. }
            | ExprKind::Float(_)
            | ExprKind::Double(_)
            | ExprKind::Bool(_)
            | ExprKind::Error => Vec::new(),
        };
        let first = operands.first().map_or(id, |&operand| starts[operand as usize]);
        operands.push(id);
        for pair in operands.windows(2) {
            let end = if pair[1] == id { id } else { starts[pair[1] as usize] };
            assert_eq!(pair[0] + 1, end, "operands of {expr:?} are not consecutive");
        }
        starts.push(first);
    }
}

/// A generator of numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

const WORDS: &str = "\
    float vec4 int void struct S x y f main if else for while do switch case default return break discard const \
    uniform in out layout precision highp invariant subroutine true 1 2.5 3u ( ) ( ) [ ] { } { } ; ; ; , . = += + - \
    * / % ? : ++ -- ! ~ < >= == && ^^ || & << unsigned half inline sample buffer location gl_Position # uint double \
    length";

const SEEDS: &[&str] = &[
    "#version 430\nlayout(std140, binding = 2) uniform B { mat4 m; vec4 v[3]; } b[2];\n\
     struct S { float a; } s = { 1.0 }; out vec4 color;\n\
     void main() { for (int i = 0; i < 3; i++) { if (s.a > 1.0) color += b[1].v[i] * m2(i ? 1 : 2);\n\
     else discard; } switch (int(s.a)) { case 1: break; default: color = vec4[2](vec4(1.0), vec4(2.0))[1].xyzw; } }",
    "precision highp float; invariant varying vec3 n; vec4 f(const in vec2 a[2], inout float); void main() {\n\
     while (bool b = true) { do { a--; continue; } while (!b); return; } }",
];

/// The number of random texts.
fn rounds() -> usize {
    std::env::var("TGSIC_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(4_000)
}

#[test]
fn random_tokens_do_not_panic() {
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for round in 0..rounds() {
        let mut text = ["", "#version 100\n", "#version 460\n", "#version 320 es\n"][round % 4].to_owned();
        for _ in 0..random.below(80) {
            let _ = write!(text, "{} ", all[random.below(all.len())]);
        }
        assert_post_order(&parse(&text));
    }
}

#[test]
fn mutated_shaders_do_not_panic() {
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..rounds() {
        let mut words: Vec<&str> = SEEDS[round % SEEDS.len()].split_inclusive([' ', '(', ')', ';', ',', '.']).collect();
        for _ in 0..1 + random.below(4) {
            let at = random.below(words.len());
            match random.below(4) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, all[random.below(all.len())]),
                2 => words[at] = all[random.below(all.len())],
                _ => {
                    let other = random.below(words.len());
                    words.swap(at, other);
                }
            }
        }
        let text = words.concat();
        let parsed = parse(&text);
        assert_post_order(&parsed);
        assert!(parsed.ast.items.iter().all(|item| matches!(item, Item::Declaration(_) | Item::Function { .. })));
    }
}
