//! Words of instructions.

use crate::generate::{Limits, instruction};
use crate::support::Choice;
use pretty_assertions::assert_eq;
use tgsi_driver_intel::isa::{Chip, Opcode, compact, decode, encode};
use tgsi_driver_intel::text::{Listing, assemble};

const COUNT: u32 = 40_000;

#[test]
fn random_instructions() {
    let mut choice = Choice::new(1);
    let mut compacted = 0;
    for _ in 0..COUNT {
        let chip = choice.of(&Chip::ALL);
        let instruction = instruction(&mut choice, Limits { chip, in_text: false });
        let mut words = Vec::new();
        encode(&instruction, chip, &mut words).unwrap_or_else(|error| panic!("{error}: {instruction:#?}"));
        assert_eq!(decode(&words, chip), Ok((instruction.clone(), 4)));
        if let Some(short) = compact(&instruction, chip) {
            compacted += 1;
            words.clear();
            encode(&short, chip, &mut words).unwrap();
            assert_eq!(decode(&words, chip), Ok((short, 2)));
        }
    }
    assert!(compacted > 100, "{compacted}");
}

#[test]
fn random_words() {
    let mut choice = Choice::new(2);
    let mut valid = [0; 2];
    for index in 0..COUNT * 4 {
        let chip = choice.of(&Chip::ALL);
        // Words of instructions with a few changed bits are valid more often than random ones.
        let mut words = Vec::new();
        encode(&instruction(&mut choice, Limits { chip, in_text: false }), chip, &mut words).unwrap();
        for _ in 0..choice.below(3) {
            let bit = choice.below(128);
            words[bit as usize / 32] ^= 1 << (bit % 32);
        }
        if index % 2 == 1 {
            let opcode = choice.of(Opcode::ALL).row().code;
            words = vec![choice.bits() & !0x7f | 1 << 29 | opcode, choice.bits()];
        }
        let Ok((instruction, length)) = decode(&words, chip) else { continue };
        valid[usize::from(instruction.compacted)] += 1;
        let mut again = Vec::new();
        encode(&instruction, chip, &mut again).unwrap_or_else(|error| panic!("{error}: {instruction:#?}"));
        assert_eq!(again, words[..length]);
    }
    assert!(valid.iter().all(|&count| count > 1000), "{valid:?}");
}

#[test]
fn random_text() {
    let mut choice = Choice::new(3);
    for _ in 0..COUNT {
        let chip = choice.of(&Chip::ALL);
        let instruction = instruction(&mut choice, Limits { chip, in_text: true });
        let program = [compact(&instruction, chip).filter(|_| choice.is()).unwrap_or(instruction)];
        let text = Listing(&program).to_string();
        match assemble(&text, chip) {
            Ok(again) => assert_eq!(again, program, "{text}"),
            Err(error) => panic!("{error}\n{text}"),
        }
        let text = format!("{}\n", program[0]);
        assert_eq!(assemble(&text, chip).as_deref(), Ok(&program[..]), "{text}");
    }
}
