//! Readers accept any bytes without a panic.

use super::programs::{all, fragment_interface, fragment_program, vertex_interface, vertex_program};
use crate::support::Choice;
use tgsi_driver_nv40::container::{read_binary, read_fpo, read_vpo, write_binary, write_fpo, write_vpo};
use tgsi_driver_nv40::isa::Chip;
use tgsi_driver_nv40::listing;

/// Changes a few bytes or words, or the length.
fn damage(bytes: &[u8], choice: &mut Choice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=choice.below(3) {
        let at = choice.below(bytes.len());
        match choice.below(4) {
            0 => bytes[at] = choice.bits() as u8,
            1 => bytes[at] ^= 1 << choice.below(8),
            2 => {
                let value = choice.of(&[0, 1, 16, 35, 36, 0x100, 0x7fff_ffff, 0xffff_fff0, u32::MAX]);
                let at = at & !3;
                bytes.splice(at..(at + 4).min(bytes.len()), value.to_be_bytes());
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
    bytes
}

/// Files that are still valid can be written again and listed.
#[test]
fn damaged_files_are_read_or_rejected() {
    let vpo = write_vpo(&vertex_program(Chip::Rsx), &vertex_interface()).unwrap();
    let fpo = write_fpo(&fragment_program(Chip::Rsx), &fragment_interface()).unwrap();
    let mut choice = Choice::new(40);
    let (mut valid, mut invalid) = (0, 0);
    for _ in 0..20_000 {
        match read_vpo(&damage(&vpo, &mut choice)) {
            Ok(file) => {
                assert_eq!(read_vpo(&file.bytes().unwrap()).as_ref(), Ok(&file));
                listing::vertex(&file.slots, Chip::Rsx);
                valid += 1;
            }
            Err(error) => invalid += usize::from(!error.to_string().is_empty()),
        }
        match read_fpo(&damage(&fpo, &mut choice)) {
            Ok(file) => {
                assert_eq!(read_fpo(&file.bytes().unwrap()).as_ref(), Ok(&file));
                listing::fragment(&file.words, Chip::Rsx, &file.texture_targets());
                valid += 1;
            }
            Err(error) => invalid += usize::from(!error.to_string().is_empty()),
        }
    }
    assert!(valid > 4000 && invalid > 4000, "{valid} {invalid}");
}

#[test]
fn random_bytes_are_rejected() {
    let mut choice = Choice::new(41);
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> = (0..choice.below(200)).map(|_| choice.of(&[0, 0, 0, 1, 36, 40, 48, 255])).collect();
        for magic in [b"VP", b"FP"] {
            bytes.splice(..bytes.len().min(2), *magic);
            let _ = (read_vpo(&bytes), read_fpo(&bytes));
        }
    }
}

/// The same for arrays of numbers.
#[test]
fn damaged_arrays_are_read_or_rejected() {
    let files: Vec<_> = all().iter().map(|(program, _)| write_binary(program).unwrap()).collect();
    let mut choice = Choice::new(42);
    let (mut valid, mut invalid) = (0, 0);
    for index in 0..20_000 {
        match read_binary(&damage(&files[index % files.len()], &mut choice)) {
            Ok(program) => {
                assert_eq!(read_binary(&write_binary(&program).unwrap()).as_ref(), Ok(&program));
                valid += 1;
            }
            Err(error) => invalid += usize::from(!error.to_string().is_empty()),
        }
    }
    assert!(valid > 4000 && invalid > 4000, "{valid} {invalid}");
}
