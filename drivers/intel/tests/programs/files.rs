//! The code, listings and JSON.

use super::{GEOMETRY, VERTEX, code, program};
use tgsi_compiler::Code;
use tgsi_driver_intel::container::{program_json, read_program_json, words_to_bytes};
use tgsi_driver_intel::text::assemble;

#[test]
fn the_code_is_the_words() {
    let Code::Object(object) = code(VERTEX, &[]) else { panic!("not an object file") };
    let program = program(VERTEX, &[]);
    assert_eq!(object.bytes, words_to_bytes(&program.kernel().words));
    assert!(object.size.instructions > 20 && object.size.temporaries != 0);
}

#[test]
fn listings_can_be_assembled() {
    for text in [VERTEX, GEOMETRY] {
        let Code::Text(listing) = code(text, &["listing"]) else { panic!("not text") };
        let program = program(text, &[]);
        let kernel = program.kernel();
        let instructions = assemble(&listing, kernel.chip).expect("the listing");
        assert_eq!(instructions, super::instructions(kernel));
    }
}

#[test]
fn programs_are_read_as_written() {
    for text in [VERTEX, GEOMETRY] {
        let program = program(text, &["hsw"]);
        let json = program_json(&program);
        assert_eq!(read_program_json(&json), Ok(program));
        // Any text without its end is an error, not a panic.
        assert!((0..json.len()).step_by(7).all(|end| read_program_json(&json[..end]).is_err()));
        assert!(read_program_json(&json.replace("\"hsw\"", "\"snb\"")).is_err());
    }
}
