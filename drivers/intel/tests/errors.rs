//! Errors of the encoder, the decoder, the assembler and the check of programs.

use crate::generate::{Limits, instruction};
use crate::support::Choice;
use pretty_assertions::assert_eq;
use tgsi_driver_intel::isa::{
    AccessMode, Branch, Chip, Destination, Immediate, Instruction, Opcode, Operand, Predicate, PredicateControl,
    Region, Register, Source, Swizzle, Type, WriteMask, check_program, compact_program, decode, decode_program, encode,
    encode_program,
};
use tgsi_driver_intel::text::assemble;

fn add() -> Instruction {
    let sources = [Operand::linear(2, Type::F).into(), Operand::linear(3, Type::F).into()];
    Instruction::new(Opcode::Add, AccessMode::Align1, Destination::general(1, Type::F), sources)
}

#[track_caller]
fn check_encode(instruction: Instruction, expected: &str) {
    let mut words = vec![1];
    let error = encode(&instruction, Chip::Gen7, &mut words).unwrap_err();
    assert_eq!((error.to_string().as_str(), words), (expected, vec![1]));
}

fn with_sources(sources: impl IntoIterator<Item = Source>) -> Instruction {
    Instruction { sources: sources.into_iter().collect(), ..add() }
}

#[test]
fn instructions() {
    let register = |number| Source::from(Operand::linear(number, Type::F));
    check_encode(with_sources([register(2)]), "the instruction has 1 sources and needs 2");
    check_encode(Instruction { destination: None, ..add() }, "the encoding excludes an absent destination");
    check_encode(with_sources([register(128), register(3)]), "register 128 is invalid");
    check_encode(
        with_sources([Immediate::D(1).into(), register(3)]),
        "the encoding excludes a constant as this source",
    );
    let vectors = Operand::vectors(2, Type::F, Swizzle::IDENTITY);
    check_encode(
        with_sources([vectors.into(), register(3)]),
        "the encoding excludes a region of the other access mode",
    );
    let scalar = Operand::scalar(2, 3, Type::F);
    check_encode(with_sources([register(3), scalar.into()]), "offset 3 is invalid");
    let masked = Destination::vectors(1, Type::F, WriteMask(1));
    check_encode(Instruction { destination: Some(masked), ..add() }, "the encoding excludes a write mask in align1");
    let predicate = Predicate { control: PredicateControl::X, inverse: false };
    check_encode(add().with_predicate(predicate), "the encoding excludes a predicate control of the other access mode");
    let register = Register::Indirect { address: 8, offset: 0 };
    let indirect = Operand::new(register, Type::F, Region::SCALAR);
    check_encode(with_sources([indirect.into(), indirect.into()]), "address register 8 is invalid");
    let dim = Instruction { opcode: Opcode::Dim, ..add() };
    check_encode(dim, "opcode 10 is unknown");
    let nop = Instruction { no_mask: true, ..Instruction::nop() };
    check_encode(nop, "the encoding excludes fields of nop");
    check_encode(
        Instruction { compacted: true, ..add().with_no_mask().with_saturate() },
        "the instruction has no compacted form",
    );
}

#[track_caller]
fn check_decode(words: &[u32], expected: &str) {
    assert_eq!(decode(words, Chip::Gen7).unwrap_err().to_string(), expected);
}

#[test]
fn words() {
    let mut valid = Vec::new();
    encode(&add(), Chip::Gen7, &mut valid).unwrap();
    let changed = |word: usize, bits: u32| {
        let mut words = valid.clone();
        words[word] ^= bits;
        words
    };
    check_decode(&[], "the words end within an instruction");
    check_decode(&valid[..3], "the words end within an instruction");
    check_decode(&changed(0, 75), "opcode 11 is unknown");
    check_decode(&changed(0, 0x80), "reserved bits of the opcode are 0x1");
    check_decode(&changed(0, 0xa0_0000), "execution size 6 is invalid");
    check_decode(&changed(1, 2), "destination file 3 is invalid");
    check_decode(&changed(3, 1 << 25), "reserved bits of the second source are 0x1");
    check_decode(&[0x2000_0000 | 126, 1], "reserved bits of nop are 0x1");
    let mut words = valid.clone();
    words.extend([11, 0, 0, 0]);
    let error = decode_program(&words, Chip::Gen7).unwrap_err();
    assert_eq!(error.to_string(), "word 4: opcode 11 is unknown");
    let error = encode_program(&[add(), Instruction { destination: None, ..add() }], Chip::Gen7).unwrap_err();
    assert_eq!(error.to_string(), "instruction 1: the encoding excludes an absent destination");
}

#[track_caller]
fn check_text(text: &str, expected: &str) {
    assert_eq!(assemble(text, Chip::Gen7).unwrap_err().to_string(), expected);
}

#[test]
fn text() {
    check_text("nop;\n  foo(8) g1<1>F g2<4>F;", "2:3: unknown opcode `foo`");
    check_text("dim(4) g2<1>.xDF 0x3ff0000000000000F { align16 };", "1:1: unknown opcode `dim`");
    check_text("mov(3) g1<1>F g2<4>F;", "1:5: the execution size is out of range");
    check_text("mov(8) g1<1>F x2<4>F;", "1:15: unknown register `x2`");
    check_text("mov(8) g1<1>F g2<4>Z;", "1:20: unknown type `Z`");
    check_text("mov(8) g1<1>F g2<3>F;", "1:18: the region is out of range");
    check_text("mov(8) g1<1>F g2<4>F { align16 1Q bar };", "1:35: unknown option `bar`");
    check_text("mov(8) g1<1>F g2<4>F { align16 1Q }", "1:36: expected `;`");
    check_text("mov(8) g1<1>.yxF g2<4>F { align16 };", "1:8: expected components in order");
    check_text("mov(8) g1<1>F g2<4>.xyF { align16 };", "1:15: expected one or four components");
    check_text("mov(8) g1<1>F g2<4>.xF { align1 };", "1:15: expected no swizzle in align1");
    check_text("mov(8) g1<1>UW 65536UW;", "1:16: the constant is out of range");
    check_text("mov.q(8) g1<1>UW 1UW;", "1:5: unknown condition `q`");
    check_text("(+f2.0) mov(8) g1<1>F g2<4>F;", "1:3: the flag is out of range");
    check_text("(+f0.0.any3h) mov(8) g1<1>F g2<4>F;", "1:7: unknown predicate control `.any3h`");
    check_text(
        "(+f0.0) cmp.z.f0.1(8) g1<1>F g2<4>F g3<4>F;",
        "1:1: the predicate and the condition have different flags",
    );
    check_text("while(8) JIP: A { align1 };", "1:15: label `A` is not defined");
    check_text("A: nop; A: nop;", "1:9: label `A` is defined twice");
    check_text("break(8) JIP: A { align1 }; A:", "1:17: expected `UIP:`");
    check_text("/* nop;", "1:1: the comment has no end");
    check_text("send(8) g1<1>F g2<4>F 1 foo MsgDesc: { align16 };", "1:25: unknown shared function `foo`");
    check_text("mov(8) g1<1>F g200<4>F;", "1:1: register 200 is invalid");
    check_text("mov(8) g1<1>F g2<4>F { align1 EOT };", "1:1: expected a message with `EOT`");
    check_text("mov(8) g1<1>F 99999999999999999999D;", "1:15: a constant is out of range");
}

#[test]
fn programs() {
    let branch = |jip, uip| Instruction::branch_to(Opcode::If, AccessMode::Align1, Branch { jip, uip });
    assert_eq!(check_program(&[branch(2, 2)]), Ok(()));
    let error = check_program(&[add(), branch(2, 1)]).unwrap_err();
    assert_eq!(error.to_string(), "instruction 1: no instruction begins at the target 1");
    let error = compact_program(&[branch(-2, 2)], Chip::Gen7).unwrap_err();
    assert_eq!(error.to_string(), "instruction 0: no instruction begins at the target -2");
}

/// Neither changed text nor random words end the process, and accepted text has words.
#[test]
fn random_text_and_words() {
    let mut choice = Choice::new(4);
    let limits = Limits { chip: Chip::Gen75, in_text: true };
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut text: Vec<char> = instruction(&mut choice, limits).to_string().chars().collect();
        for _ in 0..=choice.below(3) {
            let place = choice.below(text.len() as u32) as usize;
            match choice.below(3) {
                0 => drop(text.remove(place)),
                1 => text
                    .insert(place, choice.of(&['0', '9', '.', '<', '-', '(', 'x', 'g', ';', '\u{e9}', '{', '*', '/'])),
                _ => text[place] = text[choice.below(text.len() as u32) as usize],
            }
        }
        let text: String = text.into_iter().collect();
        if let Ok(program) = assemble(&text, Chip::Gen75) {
            accepted += 1;
            encode_program(&program, Chip::Gen75).unwrap();
        }
        let words: Vec<_> = (0..choice.below(9)).map(|_| choice.bits()).collect();
        if let Ok(program) = decode_program(&words, Chip::Gen75) {
            assert_eq!(encode_program(&program, Chip::Gen75).as_deref(), Ok(&words[..]));
        }
    }
    assert!(accepted > 1000, "{accepted}");
}
