//! The compiler of the algebraic rules, which runs in the build of the crate: its output and its errors.

#![allow(dead_code)]

#[macro_use]
#[path = "../src/alu/table.rs"]
#[allow(unused_imports)]
mod table;
include!("../src/options/table.rs");

#[path = "../build/check.rs"]
mod check;
#[path = "../build/infer.rs"]
mod infer;
#[path = "../build/net.rs"]
mod net;
#[path = "../build/opcodes.rs"]
mod opcodes;
#[path = "../build/parse.rs"]
mod parse;
#[path = "../build/sized_rules.rs"]
mod sized_rules;

use sized_rules::{Condition, FinishedRule, Node, Size};

/// Returns errors as `line:column: message`.
fn errors(text: &str) -> Vec<String> {
    let (_, errors) = check::check(&opcodes::opcodes(), text);
    errors.iter().map(|e| format!("{}:{}: {}", e.line, e.column, e.message)).collect()
}

fn rules(text: &str) -> Vec<FinishedRule> {
    let (rules, errors) = check::check(&opcodes::opcodes(), text);
    assert_eq!(errors, [], "{text}");
    rules
}

/// Checks the only error of a single line.
#[track_caller]
fn wrong(line: &str, expected: &str) {
    // The position must be correct on any line.
    let found = errors(&format!("# a comment\n\n{line}\n"));
    assert_eq!(found, [format!("3:{expected}")], "{line}");
}

#[test]
fn syntax() {
    wrong("exakt float: fadd(a, b) => a", "1: `exakt` is not a tag (exact, nsz, inexact, lowering)");
    wrong("exact: fadd(a, b) => a", "6: `` is not a size (any, float, int, bits, 1, 8, 16, 32, 64)");
    wrong("exact 32|31: fadd(a, b) => a", "10: `31` is not a size (any, float, int, bits, 1, 8, 16, 32, 64)");
    wrong("exact float fadd(a, b) => a", "13: expected `:`");
    wrong("exact float: fadd(a, b) = a", "25: expected `=>`");
    wrong("exact float: fadd(a, b => a", "24: expected `)`");
    wrong("exact float: fadd(a, ) => a", "22: expected an expression");
    wrong("exact float: fadd(a, b) => a when number(a)", "30: expected the end of the rule");
    wrong("exact float: fadd(a, b) => a if number(a) number(b)", "43: expected the end of the rule");
    wrong("exact float: fadd(a, bc) => a", "22: `bc` is not a variable (one letter) and has no operands");
    wrong("exact float: fadd(a, 0x) => a", "22: `0x` is not a number");
    wrong("exact float: fadd(a, ~1.5) => a", "22: `~1.5` is not a number");
    wrong("exact float: fadd(a, 1.2.3) => a", "22: `1.2.3` is not a number");
    wrong("exact float: fadd(a@7, b) => a", "21: `7` is not a size");
    wrong("exact int: iadd(a, N-x) => a", "22: expected a number");
    wrong("exact float: fdot2(v, w) => fmul(v.q, w.x)", "36: `q` does not select components");
    let deep = format!("exact float: {}a{} => a", "fneg(".repeat(20), ")".repeat(20));
    wrong(&deep, "99: nested too deeply");
}

#[test]
fn opcodes_and_operands() {
    wrong("exact float: fadd(a, fbla(b)) => a", "22: unknown opcode `fbla`");
    wrong("exact float: fadd(a, b) => fbla(b, a)", "28: unknown opcode `fbla`");
    wrong("exact float: fadd(a) => a", "14: fadd takes 2 operands, not 1");
    wrong("exact float: fneg(a, b) => a", "14: fneg takes 1 operands, not 2");
    wrong("exact float: a => fneg(a)", "14: the search must be an instruction");
    wrong("exact float: fadd!(a, b) => a", "14: `!` is only valid in replacements");
    wrong("exact float: fneg(fdot2(v.xy, w)) => fdot2(v, w)", "25: the search cannot select components");
    wrong("exact int: imad(imad(a, b, c), imad(d, e, s), imad(t, u, v)) => a", "58: too many variables");
}

#[test]
fn variables_and_labels() {
    wrong("exact float: fadd(a, 0.0) => b", "30: `b` is not in the search");
    wrong("exact float: fadd(a, b) => a if number(c)", "40: `c` is not in the search");
    wrong("exact float: fadd(a, b) => a if odd(b)", "37: expected a constant (`K`)");
    wrong("exact float: fadd(a, b) => a if number(1.0)", "40: expected a variable");
    wrong("exact float: fadd(a, b) => a if number(a, b)", "33: number takes a variable");
    wrong("exact float: fadd(x=fneg(a), b) => a if once(y)", "46: no instruction is named `y`");
    wrong("exact float: fadd(first=fneg(a), b) => a if once(second)", "50: no instruction is named `second`");
    wrong("exact float: fadd(x=fneg(a), x=fneg(b)) => a", "30: `x` is the name of two instructions");
    wrong("exact float: fadd(a, b) => x=fsub(a, b)", "28: only instructions of the search can be named");
}

#[test]
fn conditions() {
    wrong(
        "exact float: fadd(a, b) => a if lower_bla",
        "33: unknown condition `lower_bla` (not a switch, predicate or opcode)",
    );
    wrong("exact float: fadd(a, b) => a if bla(a)", "33: unknown condition `bla` (not a switch, predicate or opcode)");
    wrong("exact float: fadd(a, b) => a if !bla", "34: only switches of the target can be negated");
    wrong("exact float: fadd(a, b) => a if !number(a)", "34: only switches of the target can be negated");
    wrong("exact float: fadd(a, b) => a if flt(a, 1.0)", "33: only constants can be evaluated");
    wrong("exact float: fadd(a, K) => a if fadd(K, 1.0)", "33: cannot have 1 bits");
    wrong("exact float: fadd(a, b) => a if is_not(a)", "33: is_not takes a variable and an opcode");
    wrong("exact float: fadd(a, b) => a if is_not(a, fbla)", "43: unknown opcode `fbla`");
    wrong("exact float: fadd(a, b) => a if once()", "38: expected an expression");
    wrong("exact float: fadd(a, b) => a if once", "33: once takes the names of instructions");
    wrong("exact float: fadd(a, b) => a if not_exact(a)", "33: not_exact takes no operands");
    wrong("exact float: fadd(a, b) => a if 1.0", "33: expected a condition");
    wrong("exact any: i2i(x=i2i(a)) => a if wider(a)", "40: no instruction is named `a`");
    wrong("exact any: x=iadd(a, b) => a if wider(x)", "33: no size fits: 64 to 64 bits");
}

#[test]
fn sizes() {
    wrong("exact 32: u2u16(a@32) => a", "26: 32 bits where 16 bits are expected");
    wrong("exact any: flt(a, b) => fadd(a, b)", "25: cannot have 1 bits");
    wrong("exact any: fadd(a, p) => a", "20: cannot have 1 bits");
    wrong("exact 8: fadd(a, b) => a", "10: no size is possible");
    wrong("exact any: flt(a, b) => flt(c2, b)", "29: `c2` is not a variable (one letter) and has no operands");
    wrong("exact any: flt(a, b) => flt(f2f32(0.0), 1.0)", "25: a size cannot be inferred from the search");
    wrong("exact any: ubfe(a, 0, 32) => iadd(a, N)", "30: `N` and `SIGN` need an open size");
}

#[test]
fn unreachable() {
    wrong("exact float: fneg(x=fadd(a, b)) => fneg(fadd(a, b)) if once(x)", "36: the replacement equals the search");
    assert_eq!(
        errors("exact float: fadd(a, 0.0) => a\nexact float: fadd(a, 0.0) => fneg(a)"),
        ["2:14: never reached: the rule in line 1 matches first"]
    );
    // The other order of operands, and a special case.
    let general = "exact float: fmul(a, fneg(b)) => fneg(fmul(a, b))\n";
    let special = "exact float: fmul(fneg(1.0), fadd(b, c)) => fadd(b, c)\n";
    assert_eq!(errors(&format!("{general}{special}")), ["2:14: never reached: the rule in line 1 matches first"]);
    assert_eq!(errors(&format!("{special}{general}")), [""; 0]);
    // The order of the inner operands that matches first prevents a match of the outer ones; the other order allows it.
    assert_eq!(
        errors("exact bits: bcsel(ieq(a, b), a, b) => b\nexact bits: bcsel(ieq(a, b), b, a) => a"),
        ["2:13: never reached: the rule in line 1 matches first"]
    );
    // Exact code is left to a later rule.
    for class in ["nsz", "inexact"] {
        let lowering = "lowering float: fadd(a, 0.0) => fsub(a, 0.0)";
        assert_eq!(errors(&format!("{class} float: fadd(a, 0.0) => a\n{lowering}")), [""; 0]);
    }
    // Rules with conditions let later ones match; so do rules that do not apply to all instructions, rules for other
    // sizes, and rules for equal operands.
    for first in [
        "exact float: fadd(a, 0.0) => a if number(a)",
        "exact float: fadd(a, 0.0) => a if lower_fsat",
        "exact* float: fadd(a, 0.0) => a",
        "inexact float: fadd(a, 0.0) => a",
        "exact 16|64: fadd(a, 0.0) => a",
        "exact float: fadd(a, -0.0) => a",
        "exact float: fadd(a, a) => a",
        "exact float: fadd(fneg(a), b) => a",
    ] {
        assert_eq!(errors(&format!("{first}\nexact float: fadd(b, 0.0) => fneg(b)")), [""; 0], "{first}");
    }
}

/// Every invalid line is reported, and the valid lines between them are kept.
#[test]
fn all_errors_of_a_file() {
    let text = "exact float: fadd(a, 0.0) => b\nexact float: fsub(a, 0.0) => a # right\nbla\nexact float: fmul(a) => a";
    let (rules, errors) = check::check(&opcodes::opcodes(), text);
    assert_eq!(errors.iter().map(|e| (e.line, e.column)).collect::<Vec<_>>(), [(1, 30), (3, 1), (4, 14)]);
    assert_eq!(rules.iter().map(|r| r.line).collect::<Vec<_>>(), [2]);
}

#[test]
fn inference() {
    // An open size needs a single rule.
    let [rule] = &rules("exact float: flt(a, 0.0) => false")[..] else { panic!() };
    assert_eq!((rule.sizes, rule.unknowns), (0b11100, 1));
    let Node::Op { size, operands, .. } = &rule.search else { panic!() };
    assert_eq!(*size, Size::Fixed(1));
    assert!(matches!(operands[1], Node::Literal { size: Size::Unknown(0), .. }));
    // A conversion is expanded for each size; the mask of sizes is that of the open size.
    let conversions = rules("exact any: u2f(a) => i2f(a)");
    assert_eq!(conversions.iter().map(|r| r.sizes).collect::<Vec<_>>(), [0b11111; 3]);
    let kept = rules("exact int: i2i(a) => a");
    assert_eq!(kept.iter().map(|r| r.unknowns).collect::<Vec<_>>(), [0; 4]);
    // Booleans have 1 bit; `N` is a number if the size is known.
    let [first, ..] = &rules("exact 8|16: b2i(p) => iadd(N, b2i(p))")[..] else { panic!() };
    let Node::Op { operands, .. } = &first.replacement else { panic!() };
    assert!(matches!(operands[0], Node::Literal { literal: parse::Literal::Integer(8), size: Size::Fixed(8) }));
    // `wider` conversions are expanded for each pair of sizes.
    let widened = rules("exact any: ieq(x=u2u(a), u2u(b)) => ieq(a, b) if wider(x)");
    assert_eq!(widened.len(), 1 + 2 + 3 + 4);
    assert!(widened.iter().all(|r| r.conditions.is_empty() && r.unknowns == 0));
    // An unknown that the replacement restricts is expanded unless it is the main one.
    let limited = rules("exact any: ior(ilt(a, b), ult(c, d)) => flt(b, c)");
    assert_eq!(limited.len(), 1);
    let limited = rules("exact any: ior(ilt(a, b), ult(c, d)) => iand(ilt(a, b), flt(c, d))");
    assert_eq!(limited.iter().map(|r| r.unknowns).collect::<Vec<_>>(), [1; 3]);
}

#[test]
fn names_in_conditions() {
    let [rule] = &rules(
        "inexact float: fadd(left=fmul(a, K), e) => a if once(left), is_not(e, fmul), flt(0.0, K), number(a), lower_fsat, !lower_fdot, not_exact",
    )[..] else {
        panic!()
    };
    assert!(matches!(&rule.conditions[0], Condition::Once(labels) if labels[..] == [0]));
    assert!(matches!(rule.conditions[1], Condition::IsNot(2, _)));
    assert!(matches!(rule.conditions[2], Condition::Constant(_)));
    assert_eq!(rule.conditions[3], Condition::Variable("number", 0));
    assert_eq!(rule.conditions[4], Condition::Root("not_exact"));
    assert_eq!((rule.on.count_ones(), rule.off.count_ones()), (1, 1));
}

/// The net has a rule in both orders of a commutative instruction, but once if the order does not matter.
#[test]
fn orders_in_the_net() {
    let ends = |text: &str| -> usize {
        let all = opcodes::opcodes();
        net::build(&all, &rules(text)).iter().map(|node| node.rules.len()).sum()
    };
    assert_eq!(ends("exact float: fsub(a, 1.0) => a"), 1);
    assert_eq!(ends("exact float: fadd(a, 1.0) => a"), 2);
    assert_eq!(ends("exact float: fadd(a, b) => a"), 1);
    assert_eq!(ends("exact float: fadd(a, b) => a if number(a)"), 2);
    assert_eq!(ends("exact float: fadd(fmul(a, b), fmul(a, c)) => a"), 8);
    assert_eq!(ends("exact float: fadd(fneg(a), fneg(a)) => a"), 1);
}

#[test]
fn widths_of_what_conditions_ask_about() {
    wrong(
        "inexact float: fdot2(v, 0.0) => 0.0 if finite(v)",
        "16: `v` has a different number of components than the instruction, so conditions cannot test it",
    );
    wrong(
        "inexact float: fdot2(v, K) => 0.0 if feq(K, 0.0)",
        "16: `K` has a different number of components than the instruction, so conditions cannot test it",
    );
    assert_eq!(errors("inexact float: fdot2(v, 0.0) => 0.0 if not_constant(v)"), [""; 0]);
}
