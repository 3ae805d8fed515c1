//! Round trips of vertex instructions.

use crate::support::Choice;
use pretty_assertions::assert_eq;
use tgsi_driver_nv40::isa::vertex::{
    Address, Boolean, Branch, BranchFields, ConditionWrite, Part, ScaOp, Slot, Source, SourceKind, Unit, VecOp, decode,
    encode,
};
use tgsi_driver_nv40::isa::{Chip, EncodeError, Mask, Predicate};

/// Any words decode without a panic, and a decoded instruction survives the way through words.
#[test]
fn any_words_decode() {
    let mut choice = Choice::new(1);
    let mut decoded = [0; 3];
    for _ in 0..200_000 {
        let chip = choice.chip();
        let mut words = choice.words();
        // Of random words for GeForce FX, too few have no reserved bits and a valid temporary.
        if chip == Chip::Nv30 && choice.is() {
            words = [words[0] & 0x01ef_ffff, words[1] & !0x2000, words[2], words[3] & !0x0780];
        }
        let Ok(slot) = decode(&words, chip) else { continue };
        decoded[chip as usize] += 1;
        let again = encode(&slot, chip).unwrap_or_else(|error| panic!("{words:08x?} {slot:#?}: {error}"));
        assert_eq!(decode(&again, chip), Ok(slot));
    }
    assert!(decoded.iter().all(|&count| count > 300), "{decoded:?}");
}

fn source(choice: &mut Choice, chip: Chip) -> Source {
    let temporary = choice.below(chip.limits().vertex.temporaries.into()) as u8;
    let kind = choice.of(&[SourceKind::Temporary(temporary), SourceKind::Input, SourceKind::Constant]);
    Source { kind, swizzle: choice.swizzle(), abs: choice.is(), negate: choice.is() }
}

/// A random instruction that the chip can encode.
fn slot(choice: &mut Choice, chip: Chip) -> Slot {
    let limits = &chip.limits().vertex;
    let is_fx = chip == Chip::Nv30;
    let vec = choice.of(VecOp::table());
    let sca = choice.of(ScaOp::table());
    let mut slot = Slot { end: choice.is(), saturate: !is_fx && choice.is(), ..Slot::default() };
    let register = choice.below(if vec.op.writes_address() { 2 } else { limits.temporaries.into() }) as u8;
    let has_vec = chip.is_in(vec.chips) && vec.op != VecOp::Nop && choice.below(4) != 0;
    if has_vec {
        let mask = Mask(1 + choice.below(15) as u8);
        slot.vec = Some(Part { op: vec.op, register: choice.is().then_some(register), mask, output_mask: Mask::NONE });
    }
    if chip.is_in(sca.chips) && sca.op != ScaOp::Nop && choice.below(4) != 0 {
        let own = choice.below(limits.temporaries.into()) as u8;
        let register = if is_fx && has_vec { slot.vec.unwrap().register } else { Some(own) };
        let mask = Mask(1 + choice.below(15) as u8);
        let is_branch = sca.branch != BranchFields::None;
        if !(is_branch && slot.reads() & 4 != 0) {
            slot.sca = Some(Part { op: sca.op, register, mask, output_mask: Mask::NONE });
        }
    }
    if choice.is() {
        slot.output = Some(choice.below(limits.outputs.into()) as u8);
        if let Some(part) = &mut slot.vec {
            part.output_mask = if is_fx { choice.mask() } else { part.mask };
        } else if let Some(part) = &mut slot.sca {
            part.output_mask = if is_fx { choice.mask() } else { part.mask };
            part.register = part.register.filter(|_| is_fx);
        }
    }
    // Beside an output mask, GeForce FX has no mask without a register.
    if let Some(part) = slot.vec.as_mut().filter(|part| is_fx && part.register.is_none()) {
        part.mask = if part.output_mask.is_empty() { part.mask } else { Mask::NONE };
    }
    if let Some(part) = slot.sca.as_mut().filter(|part| is_fx && part.register.is_none()) {
        part.mask = if part.output_mask.is_empty() { part.mask } else { Mask::NONE };
    }
    let reads = slot.reads();
    for at in (0..3).filter(|at| reads >> at & 1 != 0) {
        slot.sources[at] = Some(source(choice, chip));
    }
    let uses = |kind| slot.sources.iter().flatten().any(|source| source.kind == kind);
    slot.input = uses(SourceKind::Input).then(|| choice.below(limits.inputs.into()) as u8);
    slot.constant = uses(SourceKind::Constant).then(|| choice.below(limits.constants.into()) as u16);
    slot.indexes_constant = slot.constant.is_some() && choice.is();
    slot.indexes_input = slot.input.is_some() && !is_fx && choice.is();
    slot.indexes_output = slot.output.is_some() && !is_fx && choice.is();
    let by_op = matches!(slot.sca, Some(Part { op: ScaOp::BraA | ScaOp::Pusha | ScaOp::Popa, .. }))
        || matches!(slot.vec, Some(Part { op: VecOp::Ara, .. }));
    if by_op || slot.indexes_constant || slot.indexes_input || slot.indexes_output {
        slot.address = Some(Address { register: choice.below(2) as u8, component: choice.below(4) as u8 });
    }
    if matches!(slot.vec, Some(Part { op: VecOp::Txl, .. })) {
        slot.texture = Some(choice.below(4) as u8);
    }
    let boolean = Boolean { number: choice.below(32) as u8, taken_if: choice.is() };
    let target = choice.below(limits.slots.into()) as u16;
    slot.branch = match slot.branch_fields() {
        BranchFields::None => None,
        BranchFields::Target => Some(Branch { target, boolean: None }),
        BranchFields::Boolean => Some(Branch { target, boolean: Some(boolean) }),
    };
    let predicate = choice.predicate(limits.conditions);
    slot.predicate = choice.is().then_some(predicate);
    let unit = if is_fx && slot.vec.is_some() {
        Unit::Vec
    } else if is_fx {
        Unit::Sca
    } else {
        choice.of(&[Unit::Vec, Unit::Sca])
    };
    slot.writes_condition = choice.is().then_some(ConditionWrite { unit, register: predicate.register });
    slot
}

#[test]
fn random_instructions_survive() {
    let mut choice = Choice::new(2);
    for _ in 0..100_000 {
        let chip = choice.chip();
        let slot = slot(&mut choice, chip);
        let words = encode(&slot, chip).unwrap_or_else(|error| panic!("{chip} {slot:#?}: {error}"));
        assert_eq!(decode(&words, chip), Ok(slot), "{chip} {words:08x?}");
    }
}

/// An instruction that uses each field, so that each flipped bit survives or is an error.
#[test]
fn each_bit_alone_survives() {
    let slot = Slot {
        vec: Some(Part { op: VecOp::Mad, register: Some(1), mask: Mask(5), output_mask: Mask(5) }),
        sca: Some(Part::to_register(ScaOp::Mov, 2, Mask(10))),
        sources: [Some(Source::input()), Some(Source::constant()), Some(Source::temporary(3))],
        input: Some(0),
        constant: Some(0),
        output: Some(0),
        address: Some(Address::default()),
        indexes_input: true,
        indexes_constant: true,
        indexes_output: true,
        predicate: Some(Predicate::ALWAYS),
        writes_condition: Some(ConditionWrite { unit: Unit::Vec, register: 0 }),
        ..Slot::default()
    };
    let words = encode(&slot, Chip::Nv40).unwrap();
    let (mut survived, mut dropped) = (0, 0);
    for bit in 0..128 {
        let mut flipped = words;
        flipped[bit / 32] ^= 1 << (bit % 32);
        let Ok(decoded) = decode(&flipped, Chip::Nv40) else { continue };
        if decoded == slot {
            dropped += 1;
            continue;
        }
        let again = encode(&decoded, Chip::Nv40).unwrap();
        // Another opcode or file of an operand, no test and no update of the condition register have fewer fields.
        let changes_use = decoded.reads() != slot.reads()
            || decoded.sources.map(|source| source.map(|source| source.kind))
                != slot.sources.map(|source| source.map(|source| source.kind))
            || decoded.predicate.is_none()
            || decoded.output.is_none()
            || decoded.vec.unwrap().output_mask.is_empty();
        if !changes_use {
            assert_eq!(again, flipped, "bit {bit}");
            survived += 1;
        }
    }
    assert!(survived > 70, "{survived}");
    // The registers of the two operands that are not temporaries.
    assert_eq!(dropped, 12);
}

/// Each opcode survives alone on the chips that have it, and is an error on others.
#[test]
fn each_opcode_survives() {
    for chip in Chip::ALL {
        for row in VecOp::table() {
            let mut slot = Slot { vec: Some(Part::to_register(row.op, 1, Mask::ALL)), ..Slot::default() };
            for at in (0..3).filter(|at| row.sources >> at & 1 != 0) {
                slot.sources[at] = Some(Source::temporary(at as u8));
            }
            slot.texture = (row.op == VecOp::Txl).then_some(3);
            slot.address = (row.op == VecOp::Ara).then_some(Address { register: 1, component: 0 });
            match encode(&slot, chip) {
                Ok(words) => assert_eq!(decode(&words, chip), Ok(slot)),
                Err(error) => assert_eq!((error, row.op), (EncodeError::Lacks(chip, "TXL"), VecOp::Txl)),
            }
        }
        for (at, row) in VecOp::table().iter().enumerate() {
            assert_eq!(row.op as usize, at);
        }
        for (at, row) in ScaOp::table().iter().enumerate() {
            assert_eq!(row.op as usize, at);
        }
    }
}

#[test]
fn impossible_instructions_are_errors() {
    let mov = Slot {
        vec: Some(Part::to_register(VecOp::Mov, 1, Mask::ALL)),
        sources: [Some(Source::temporary(0)), None, None],
        ..Slot::default()
    };
    let with = |change: &dyn Fn(&mut Slot)| {
        let mut slot = mov;
        change(&mut slot);
        slot
    };
    let sca = Part::to_register(ScaOp::Mov, 2, Mask::X);
    let s2 = Some(Source::temporary(1));
    let both = with(&|slot| (slot.sca, slot.sources[2]) = (Some(sca), s2));
    assert!(encode(&both, Chip::Nv40).is_ok());
    assert_eq!(encode(&both, Chip::Nv30), Err(EncodeError::Conflict("two registers")));
    let saturated = with(&|slot| slot.saturate = true);
    assert_eq!(encode(&saturated, Chip::Nv30), Err(EncodeError::Lacks(Chip::Nv30, "saturation in vertex programs")));
    let far = with(&|slot| slot.sources[0] = Some(Source::temporary(16)));
    assert_eq!(encode(&far, Chip::Nv30), Err(EncodeError::Range("temporary", 16, 16)));
    assert!(encode(&far, Chip::Nv40).is_ok());
    let unread = with(&|slot| slot.sources[1] = s2);
    assert_eq!(encode(&unread, Chip::Nv40), Err(EncodeError::Unused("operand S1")));
    let outputs = with(&|slot| {
        slot.output = Some(1);
        slot.vec = Some(Part::to_output(VecOp::Mov, Mask::ALL));
        slot.sca = Some(Part::to_output(ScaOp::Mov, Mask::ALL));
        slot.sources[2] = s2;
    });
    assert_eq!(encode(&outputs, Chip::Nv40), Err(EncodeError::Conflict("two writes of the output")));
    let conditions = with(&|slot| {
        slot.predicate = Some(Predicate::ALWAYS);
        slot.writes_condition = Some(ConditionWrite { unit: Unit::Vec, register: 1 });
    });
    assert_eq!(encode(&conditions, Chip::Nv40), Err(EncodeError::Conflict("two condition registers")));
    let conditions_only = with(&|slot| {
        slot.output = Some(1);
        slot.sca = Some(Part::to_condition(ScaOp::Mov, Mask::X));
        slot.sources[2] = s2;
    });
    let error = EncodeError::Conflict("a scalar operation that does not write the output");
    assert_eq!(encode(&conditions_only, Chip::Nv40), Err(error));
    let branch = with(&|slot| {
        slot.vec = Some(Part::to_register(VecOp::Add, 1, Mask::ALL));
        slot.sources[2] = s2;
        slot.sca = Some(Part::to_condition(ScaOp::Bra, Mask::ALL));
        slot.branch = Some(Branch::default());
    });
    assert_eq!(encode(&branch, Chip::Nv40), Err(EncodeError::Conflict("a branch and an operand S2")));
}
