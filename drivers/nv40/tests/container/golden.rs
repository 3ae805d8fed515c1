//! The bytes of files. `TGSIC_BLESS=1` writes them.

use super::programs::{fragment_interface, fragment_program, vertex_interface, vertex_program};
use pretty_assertions::assert_eq;
use std::fmt::Write;
use std::path::Path;
use tgsi_driver_nv40::container::{write_c, write_cg, write_fpo, write_vpo};
use tgsi_driver_nv40::isa::Chip;
use tgsi_driver_nv40::program::Program;

/// Lines of 16 bytes with their offset and the printable characters.
fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (number, line) in bytes.chunks(16).enumerate() {
        let words: Vec<String> =
            line.chunks(4).map(|word| word.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
        let characters = line.iter().map(|&byte| if byte.is_ascii_graphic() { char::from(byte) } else { '.' });
        let _ = writeln!(text, "{:04x}: {:35}  {}", number * 16, words.join(" "), characters.collect::<String>());
    }
    text
}

fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/container/golden").join(name);
    if std::env::var_os("TGSIC_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected.replace('\r', ""), "{name}");
}

#[test]
fn files_have_these_bytes() {
    let (vertex, fragment) = (vertex_program(Chip::Rsx), fragment_program(Chip::Rsx));
    let (vertex_names, fragment_names) = (vertex_interface(), fragment_interface());
    check("vertex.vpo.txt", &hexadecimal(&write_vpo(&vertex, &vertex_names).unwrap()));
    check("fragment.fpo.txt", &hexadecimal(&write_fpo(&fragment, &fragment_names).unwrap()));
    let (vertex, fragment) = (Program::Vertex(vertex), Program::Fragment(fragment));
    check("vertex.vpb.txt", &hexadecimal(&write_cg(&vertex, &vertex_names).unwrap()));
    check("fragment.fpb.txt", &hexadecimal(&write_cg(&fragment, &fragment_names).unwrap()));
    check("vertex.h", &write_c(&vertex, &vertex_names, "vertex_example").unwrap());
    check("fragment.h", &write_c(&fragment, &fragment_names, "fragment_example").unwrap());
}
