//! Round trips of fragment instructions.

use crate::support::Choice;
use pretty_assertions::assert_eq;
use tgsi_driver_nv40::isa::fragment::{
    Clamp, Class, Flow, FragmentOp, Instruction, Precision, Register, Scale, Source, SourceKind, decode, encode,
};
use tgsi_driver_nv40::isa::{Chip, DecodeError, EncodeError, Mask};

fn words(instruction: &Instruction, chip: Chip) -> Result<Vec<u32>, EncodeError> {
    let mut words = Vec::new();
    encode(instruction, chip, &mut words).map(|()| words)
}

/// Any words decode without a panic, and a decoded instruction survives the way through words.
#[test]
fn any_words_decode() {
    let mut choice = Choice::new(1);
    let mut decoded = [0; 3];
    for _ in 0..300_000 {
        let chip = choice.chip();
        let mut input = [choice.words(), choice.words()].concat();
        // Valid scales and clamps are rare in random words.
        if choice.is() {
            input[2] &= 0x8007_ffff;
        }
        input.truncate(4 + choice.below(5));
        let Ok(instruction) = decode(&input, chip) else { continue };
        decoded[chip as usize] += 1;
        let again = words(&instruction, chip).unwrap_or_else(|error| panic!("{input:08x?} {instruction:#?}: {error}"));
        assert_eq!(decode(&again, chip), Ok(instruction));
        assert_eq!(again.len() as u32, instruction.slots() * 4);
    }
    assert!(decoded.iter().all(|&count| count > 300), "{decoded:?}");
}

fn register(choice: &mut Choice, chip: Chip) -> Register {
    let limits = &chip.limits().fragment;
    if choice.is() {
        Register::R(choice.below(limits.full.into()) as u8)
    } else {
        Register::H(choice.below(limits.half.into()) as u8)
    }
}

fn source(choice: &mut Choice, chip: Chip) -> Source {
    let register = register(choice, chip);
    Source {
        kind: choice.of(&[SourceKind::Register(register), SourceKind::Input, SourceKind::Constant]),
        swizzle: choice.swizzle(),
        negate: choice.is(),
        abs: choice.is(),
        clamp: choice.of(&[Clamp::None, Clamp::Fp16, Clamp::Two, Clamp::One, Clamp::Unit, Clamp::Five]),
    }
}

/// A random instruction that the chip can encode.
fn instruction(choice: &mut Choice, chip: Chip) -> Instruction {
    let limits = &chip.limits().fragment;
    let has_all = chip != Chip::Nv30;
    let rows: Vec<_> = FragmentOp::table().iter().filter(|row| chip.is_in(row.chips)).collect();
    let row = choice.of(&rows);
    let is_flow = row.class == Class::Flow;
    let mut instruction = Instruction {
        destination: choice.is().then(|| register(choice, chip)),
        mask: choice.mask(),
        writes_condition: choice.is().then(|| choice.below(limits.conditions.into()) as u8),
        precision: choice
            .of(&[Precision::Fp32, Precision::Fp16, Precision::Fx12, Precision::Fx9][..3 + has_all as usize]),
        saturate: choice.is(),
        expands: choice.is(),
        predicate: choice.predicate(limits.conditions),
        texture: (row.class == Class::Texture).then(|| choice.below(16) as u8),
        end: choice.is(),
        ..Instruction::new(row.op)
    };
    let mut slot = || choice.below(1 << 29) as u32;
    if is_flow {
        instruction.flow = match row.op {
            FragmentOp::If => Some(Flow::If { otherwise: slot(), end: slot() }),
            FragmentOp::Loop | FragmentOp::Rep => {
                let end = slot();
                let mut byte = || choice.bits() as u8;
                Some(Flow::Repeat { count: byte(), start: byte(), step: byte(), end })
            }
            FragmentOp::Cal => Some(Flow::Call { target: slot() }),
            _ => None,
        };
        return instruction;
    }
    instruction.sources = [(); 3].map(|()| source(choice, chip));
    let uses = |kind| instruction.sources.iter().any(|source| source.kind == kind);
    instruction.input = uses(SourceKind::Input).then(|| choice.below(limits.inputs.into()) as u8);
    instruction.constant = uses(SourceKind::Constant).then(|| choice.words());
    instruction.input_offset = choice.below(1 << 11) as u16;
    instruction.indexes_input = has_all && choice.is();
    instruction.disables_perspective = choice.is();
    instruction.scale =
        choice.of(&[Scale::One, Scale::Two, Scale::Four, Scale::Eight, Scale::Half, Scale::Quarter, Scale::Eighth]);
    instruction
}

#[test]
fn random_instructions_survive() {
    let mut choice = Choice::new(2);
    for _ in 0..100_000 {
        let chip = choice.chip();
        let instruction = instruction(&mut choice, chip);
        let words = words(&instruction, chip).unwrap_or_else(|error| panic!("{chip} {instruction:#?}: {error}"));
        assert_eq!(decode(&words, chip), Ok(instruction), "{chip} {words:08x?}");
    }
}

/// An instruction that uses each field, so that each flipped bit survives or is an error.
#[test]
fn each_bit_alone_survives() {
    let base = Instruction {
        destination: Some(Register::R(1)),
        writes_condition: Some(0),
        sources: [Source::input(), Source::constant(), Source::full(1)],
        input: Some(0),
        constant: Some([1, 2, 3, 4]),
        texture: Some(0),
        ..Instruction::new(FragmentOp::Txd)
    };
    let original = words(&base, Chip::Nv40).unwrap();
    let (mut survived, mut dropped) = (0, 0);
    for bit in 0..256 {
        let mut flipped = original.clone();
        flipped[bit / 32] ^= 1 << (bit % 32);
        let Ok(decoded) = decode(&flipped, Chip::Nv40) else { continue };
        if decoded == base {
            dropped += 1;
            continue;
        }
        let changes_use = decoded.op != base.op
            || decoded.destination.is_none()
            || decoded.writes_condition.is_none()
            || decoded.sources.map(|source| source.kind) != base.sources.map(|source| source.kind);
        if !changes_use || bit >= 128 {
            assert_eq!(words(&decoded, Chip::Nv40).unwrap(), flipped, "bit {bit}");
            survived += 1;
        }
    }
    assert!(survived > 190, "{survived}");
    // The registers of the two operands that are not registers.
    assert_eq!(dropped, 14);
}

#[test]
fn each_opcode_survives() {
    for (at, row) in FragmentOp::table().iter().enumerate() {
        assert_eq!(row.op as usize, at);
    }
    for chip in Chip::ALL {
        for row in FragmentOp::table() {
            let flow = match row.op {
                FragmentOp::If => Some(Flow::If { otherwise: 1, end: 2 }),
                FragmentOp::Loop | FragmentOp::Rep => Some(Flow::Repeat { count: 3, start: 4, step: 5, end: 6 }),
                FragmentOp::Cal => Some(Flow::Call { target: 7 }),
                _ => None,
            };
            let texture = (row.class == Class::Texture).then_some(15);
            let instruction = Instruction { flow, texture, ..Instruction::new(row.op) };
            if chip.is_in(row.chips) {
                assert_eq!(decode(&words(&instruction, chip).unwrap(), chip), Ok(instruction));
            } else {
                assert_eq!(words(&instruction, chip), Err(EncodeError::Lacks(chip, row.name)));
            }
        }
    }
}

#[test]
fn impossible_instructions_are_errors() {
    let mov = Instruction { destination: Some(Register::R(31)), ..Instruction::new(FragmentOp::Mov) };
    assert!(words(&mov, Chip::Nv30).is_ok());
    let far = Instruction { destination: Some(Register::R(32)), ..mov };
    assert_eq!(words(&far, Chip::Nv30), Err(EncodeError::Range("register R", 32, 32)));
    let fx9 = Instruction { precision: Precision::Fx9, ..mov };
    assert_eq!(words(&fx9, Chip::Nv30), Err(EncodeError::Lacks(Chip::Nv30, "precision fx9")));
    let constant = Instruction { constant: Some([0; 4]), ..mov };
    assert_eq!(words(&constant, Chip::Nv40), Err(EncodeError::Unused("a constant")));
    let missing = Instruction { sources: [Source::constant(); 3], ..mov };
    assert_eq!(words(&missing, Chip::Nv40), Err(EncodeError::Missing("a constant")));
    let flow = Instruction { mask: Mask::NONE, ..Instruction::new(FragmentOp::If) };
    assert_eq!(words(&flow, Chip::Nv40), Err(EncodeError::Missing("flow targets of the opcode")));
    let mut cut = words(&Instruction { constant: Some([0; 4]), ..missing }, Chip::Nv40).unwrap();
    cut.pop();
    assert_eq!(decode(&cut, Chip::Nv40), Err(DecodeError::Truncated));
}
