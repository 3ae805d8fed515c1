//! JSON.

use super::programs::{all, fragment_program};
use pretty_assertions::assert_eq;
use tgsi_driver_nv40::container::{ReadError, program_json, read_program_json};
use tgsi_driver_nv40::isa::Chip;
use tgsi_driver_nv40::program::Program;

#[test]
fn programs_are_read_as_written() {
    for (program, interface) in all() {
        let text = program_json(&program, &interface);
        assert_eq!(read_program_json(&text), Ok(program));
    }
}

#[test]
fn programs_are_checked() {
    let text = program_json(&Program::Fragment(fragment_program(Chip::Nv40)), &Default::default());
    let wrong = text.replace(r#""registers":3"#, r#""registers":200"#);
    assert_eq!(
        read_program_json(&wrong).unwrap_err().to_string(),
        "the program is invalid: number of registers 200 is not below 49"
    );
    assert!(matches!(read_program_json("{"), Err(ReadError::Json(_))));
    assert!(matches!(read_program_json(&text.replace("nv40", "nv50")), Err(ReadError::Json(_))));
    // Any text without its end is an error, not a panic.
    assert!((0..text.len()).all(|end| read_program_json(&text[..end]).is_err()));
}
