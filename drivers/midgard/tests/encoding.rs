//! Round trips.

use crate::generate;
use crate::support::Choice;
use pretty_assertions::assert_eq;
use tgsi_driver_midgard::isa::alu::AluOp;
use tgsi_driver_midgard::isa::load_store::LoadStoreOp;
use tgsi_driver_midgard::isa::{
    Bundle, Register, Role, Tag, check_program, decode, decode_program, encode, encode_program,
};

fn words(bundle: &Bundle) -> Vec<u32> {
    let mut words = Vec::new();
    encode(bundle, &mut words).unwrap_or_else(|error| panic!("{bundle:#?}: {error}"));
    words
}

#[test]
fn random_bundles_survive() {
    let mut choice = Choice::new(1);
    for _ in 0..100_000 {
        let bundle = generate::bundle(&mut choice);
        let words = words(&bundle);
        assert_eq!(words.len() as u32, bundle.quadwords() * 4);
        assert_eq!(decode(&words), Ok((bundle, words.len())), "{words:08x?}");
    }
}

/// Words that decode are those that the bundle encodes to.
fn check_words(words: &[u32]) -> bool {
    let Ok((bundle, length)) = decode(words) else { return false };
    assert_eq!(self::words(&bundle), words[..length], "{bundle:#?}");
    true
}

#[test]
fn random_words_survive() {
    let mut choice = Choice::new(2);
    let mut decoded = 0;
    for _ in 0..1_000_000 {
        let length = choice.below(18) as usize;
        let mut words: Vec<_> = (0..length).map(|_| choice.bits()).collect();
        // Few random control words are valid.
        if let Some(first) = words.first_mut().filter(|_| choice.below(8) != 0) {
            *first &= choice.of(&[0x0002_00ff, 0x0008_00ff, 0x0020_00ff, 0x0400_00ff, 0x0aaa_00ff, !0]);
        }
        decoded += u32::from(check_words(&words));
    }
    assert!(decoded > 1000, "{decoded}");
}

/// Words with some changed bits of valid bundles.
#[test]
fn changed_words_survive() {
    let mut choice = Choice::new(3);
    let mut decoded = 0;
    for _ in 0..300_000 {
        let mut words = words(&generate::bundle(&mut choice));
        words.truncate(words.len() - (choice.below(16) / 15) as usize);
        for _ in 0..=choice.below(3) {
            let word = choice.below(words.len() as u32) as usize;
            words[word] ^= 1 << choice.below(32);
        }
        decoded += u32::from(check_words(&words));
    }
    assert!(decoded > 100_000, "{decoded}");
}

#[test]
fn random_programs_survive() {
    let mut choice = Choice::new(4);
    for _ in 0..2_000 {
        let length = 1 + choice.below(10) as usize;
        let program = generate::program(&mut choice, length, |_| true);
        assert_eq!(check_program(&program), Ok(()));
        let mut words = encode_program(&program).unwrap();
        // Zeros after a program do not belong to it.
        words.extend([0; 4]);
        assert_eq!(decode_program(&words), Ok(program));
    }
}

#[test]
fn tables_are_consistent() {
    for row in AluOp::table() {
        assert_eq!(AluOp::from_code(row.code.into()), Some(row.op));
        assert_eq!(row.op.row().code, row.code);
    }
    for row in LoadStoreOp::table() {
        assert_eq!(LoadStoreOp::from_code(row.code.into()), Some(row.op));
        assert_eq!(row.op.row().code, row.code);
    }
    assert!(AluOp::table().is_sorted_by(|a, b| a.code < b.code));
    assert!(LoadStoreOp::table().is_sorted_by(|a, b| a.code < b.code));
    assert_eq!(Tag::alu(4, true), Some(Tag::AluWriteout16));
    assert_eq!(Tag::alu(5, false), None);
    let roles = [0, 8, 16, 24, 26, 28, 30, 31].map(|number| Register::new(number).unwrap().role());
    assert_eq!(roles[3], Role::Pipeline);
    assert_eq!(Register::new(32), None);
}
