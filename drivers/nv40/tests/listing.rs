//! Texts of programs.

use crate::golden::{FRAGMENT, VERTEX};
use crate::support::Choice;
use pretty_assertions::assert_eq;
use tgsi_driver_nv40::isa::fragment::{self, Flow, FragmentOp, Instruction, Register, Scale};
use tgsi_driver_nv40::isa::vertex::{self, Address, Branch, ConditionWrite, Part, ScaOp, Slot, Source, Unit, VecOp};
use tgsi_driver_nv40::isa::{Chip, Condition, Mask, Predicate, Swizzle};
use tgsi_driver_nv40::listing::{TextureTarget, fragment as fragment_text, vertex as vertex_text};

const TARGETS: [TextureTarget; 16] = [TextureTarget::D2; 16];

#[test]
fn golden_vertex_words() {
    for (text, words) in VERTEX {
        let listing = vertex_text(&[words], Chip::Nv40);
        assert_eq!(listing.lines().nth(2), Some(text));
        assert_eq!(listing.lines().last(), Some("END"));
    }
}

#[test]
fn golden_fragment_words() {
    for (text, words) in FRAGMENT {
        assert_eq!(fragment_text(words, Chip::Nv40, &TARGETS).lines().nth(2), Some(text));
    }
}

#[test]
fn pairs_and_labels() {
    let temporary = |number| Some(Source::temporary(number));
    let slots = [
        Slot {
            vec: Some(Part { op: VecOp::Mul, register: Some(1), mask: Mask(3), output_mask: Mask(3) }),
            sca: Some(Part::to_register(ScaOp::Rsq, 2, Mask(8))),
            sources: [temporary(3), Some(Source::constant()), Some(Source { abs: true, ..Source::temporary(4) })],
            constant: Some(3),
            output: Some(7),
            indexes_constant: true,
            address: Some(Address { register: 0, component: 1 }),
            writes_condition: Some(ConditionWrite { unit: Unit::Vec, register: 1 }),
            ..Slot::default()
        },
        Slot {
            sca: Some(Part::to_condition(ScaOp::Bra, Mask::ALL)),
            branch: Some(Branch { target: 0, boolean: None }),
            predicate: Some(Predicate { register: 1, condition: Condition::LE, swizzle: Swizzle::replicate(1) }),
            ..Slot::default()
        },
        Slot { end: true, ..Slot::default() },
    ];
    let words = slots.map(|slot| vertex::encode(&slot, Chip::Nv40).unwrap());
    let expected = "!!ARBvp1.0
OPTION NV_vertex_program3;
BB1:
MULC1 R1.xy, R3, c[A0.y + 3];
MUL o[TEX0].xy, R3, c[A0.y + 3]; # paired
RSQ R2.w, |R4.x|; # paired
BRA BB1(LE1.y);
NOP;
END
";
    assert_eq!(vertex_text(&words, Chip::Nv40), expected);
}

#[test]
fn constructs_end_at_their_slots() {
    let less = Predicate { condition: Condition::LT, ..Predicate::ALWAYS };
    let new = Instruction::new;
    let flow = |op, flow| Instruction { mask: Mask::NONE, flow: Some(flow), predicate: less, ..new(op) };
    let mov = Instruction { destination: Some(Register::R(1)), scale: Scale::Half, ..new(FragmentOp::Mov) };
    let instructions = [
        flow(FragmentOp::Rep, Flow::Repeat { count: 5, start: 5, step: 5, end: 6 }),
        flow(FragmentOp::If, Flow::If { otherwise: 4, end: 6 }),
        mov,
        Instruction { mask: Mask::NONE, predicate: less, ..new(FragmentOp::Brk) },
        flow(FragmentOp::If, Flow::If { otherwise: 6, end: 6 }),
        mov,
        Instruction { end: true, ..mov },
    ];
    let mut words = Vec::new();
    for instruction in &instructions {
        fragment::encode(instruction, Chip::Nv40, &mut words).unwrap();
    }
    let expected = "!!ARBfp1.0
OPTION NV_fragment_program2;
REP {5};
IF (LT);
MOVR R1, R0; # result * 0.5
BRK (LT);
ELSE;
IF (LT);
MOVR R1, R0; # result * 0.5
ENDIF;
ENDIF;
ENDREP;
MOVR R1, R0; # result * 0.5
END
";
    assert_eq!(fragment_text(&words, Chip::Nv40, &TARGETS), expected);
}

/// Any words have a text, of a line for each slot at least.
#[test]
fn any_words_have_a_text() {
    let mut choice = Choice::new(3);
    for _ in 0..2000 {
        let chip = choice.chip();
        let words: Vec<_> = (0..choice.below(8)).map(|_| choice.words()).collect();
        assert!(vertex_text(&words, chip).lines().count() >= words.len() + 3);
        let words = words.concat();
        fragment_text(&words[..words.len() - choice.below(words.len() + 1)], chip, &TARGETS);
    }
}

/// Each opcode has a text that begins with its name.
#[test]
fn each_opcode_has_a_text() {
    for row in FragmentOp::table() {
        let chip = if Chip::Nv40.is_in(row.chips) { Chip::Nv40 } else { Chip::Nv30 };
        let flow = match row.op {
            FragmentOp::If => Some(Flow::If { otherwise: 1, end: 1 }),
            FragmentOp::Loop | FragmentOp::Rep => Some(Flow::Repeat { count: 1, start: 0, step: 1, end: 1 }),
            FragmentOp::Cal => Some(Flow::Call { target: 0 }),
            _ => None,
        };
        let texture = (row.class == fragment::Class::Texture).then_some(2);
        let mut words = Vec::new();
        fragment::encode(&Instruction { flow, texture, ..Instruction::new(row.op) }, chip, &mut words).unwrap();
        let text = fragment_text(&words, chip, &TARGETS);
        assert!(text.lines().any(|line| line.starts_with(row.name)), "{text}");
    }
}
