//! Arrays of numbers.

use super::programs::{all, fragment_program, vertex_program};
use pretty_assertions::assert_eq;
use tgsi_driver_nv40::container::{ReadError, read_binary, write_binary};
use tgsi_driver_nv40::isa::Chip;
use tgsi_driver_nv40::program::Program;

fn numbers(program: Program) -> Vec<u32> {
    let bytes = write_binary(&program).unwrap();
    bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

#[test]
fn programs_are_read_as_written() {
    for (program, _) in all() {
        assert_eq!(read_binary(&write_binary(&program).unwrap()), Ok(program));
    }
}

/// The places that the manual of the format states.
#[test]
fn numbers_have_fixed_places() {
    let program = vertex_program(Chip::Nv40);
    let words = numbers(Program::Vertex(program.clone()));
    assert_eq!(words[..7], [u32::from_le_bytes(*b"NV4P"), 1, 0, 1, 0x10f, 0x4041, 11]);
    assert_eq!(words[7..14], [13, 1, 1, 8, 5, 4, 0]);
    let tables = &words[14 + 13 * 4..];
    assert_eq!(tables[0], 10);
    assert_eq!(tables[1..5], program.literals[0].words);
    assert_eq!(tables[5..7], [8, 10]);
    assert_eq!(tables[7..23], [0, 0, 1, 1, 2, 2, 3, 3, 4, 6, 6, 7, 7, 9, 9, 10]);
    assert_eq!(tables[23..28], [0, 0, 0, 0, 15]);

    let words = numbers(Program::Fragment(fragment_program(Chip::Nv30)));
    assert_eq!(words[1..7], [0, 4, 3, 3, 0xc0, 8]);
    assert_eq!(words[7..14], [12, 0, 0, 3, 2, 1, 2]);
    assert_eq!(words[14 + 12 * 4..][..6], [3, 2, 7, 1, 9, 2]);
    let textures = &words[words.len() - 6..];
    assert_eq!(textures, [0, 1, 0, 3, 3, 0]);
}

#[test]
fn programs_are_checked() {
    let words = numbers(Program::Fragment(fragment_program(Chip::Nv40)));
    let read = |words: &[u32]| read_binary(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
    let with = |at: usize, value: u32| {
        let mut words = words.clone();
        words[at] = value;
        read(&words)
    };
    assert_eq!(read_binary(b""), Err(ReadError::Magic("NV4P")));
    assert_eq!(with(0, 1), Err(ReadError::Magic("NV4P")));
    assert_eq!(with(1, 3), Err(ReadError::Number("the chip", 3)));
    assert_eq!(with(2, 1), Err(ReadError::Number("the stage", 1)));
    assert_eq!(with(7, u32::MAX), Err(ReadError::Truncated("a table", 56)));
    assert_eq!(
        with(3, 200).unwrap_err().to_string(),
        "the program is invalid: number of registers 200 is not below 49"
    );
    assert!((0..words.len()).all(|end| read(&words[..end]).is_err()));
    let mut program = vertex_program(Chip::Nv40);
    program.branches[0] = 100;
    assert!(write_binary(&Program::Vertex(program)).is_err());
}
