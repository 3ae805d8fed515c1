//! The bytes of files. `TGSIC_BLESS=1` writes them.

use super::programs::{fragment_interface, fragment_program, vertex_interface, vertex_program};
use pretty_assertions::assert_eq;
use std::fmt::Write;
use std::path::Path;
use tgsi_driver_nv40::container::{
    FragmentFile, VertexFile, read_fpo, read_vpo, write_c, write_cg, write_fpo, write_vpo,
};
use tgsi_driver_nv40::isa::Chip;
use tgsi_driver_nv40::program::Program;

/// The bytes of [`hexadecimal`].
fn bytes(text: &str) -> Vec<u8> {
    let digits: String = text.lines().flat_map(|line| line[6..41].split(' ')).collect();
    (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..][..2], 16).unwrap()).collect()
}

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

/// PSL1GHT's assembler, given the listing of the vertex program and the types of its interface, makes this file.
#[test]
fn vertex_file_of_another_assembler() {
    let theirs = bytes(include_str!("golden/cgcomp.vpo.txt"));
    let mut file = read_vpo(&theirs).unwrap();
    assert_eq!(file.bytes().unwrap(), theirs);
    let mut interface = vertex_interface();
    interface.uniforms[3].initial = None;
    let ours = VertexFile::new(&vertex_program(Chip::Rsx), &interface).unwrap();
    // It enables the fog instead of the clip distance in its register, and initialises matrices.
    assert_eq!(file.output_mask, 5 | 1 << 14 | 1 << 4);
    file.output_mask = ours.output_mask;
    file.constants[..4].iter_mut().for_each(|constant| constant.value = [0; 4]);
    // It loses the masks of outputs in brackets, and fields of indexed constants.
    for slot in [0, 1, 2, 3, 6, 12] {
        assert_ne!(file.slots[slot], ours.slots[slot]);
        file.slots[slot] = ours.slots[slot];
    }
    assert_eq!(file, ours);
}

/// As above, of the fragment program.
#[test]
fn fragment_file_of_another_assembler() {
    let theirs = bytes(include_str!("golden/cgcomp.fpo.txt"));
    let file = read_fpo(&theirs).unwrap();
    let mut interface = fragment_interface();
    interface.uniforms[1].initial = None;
    let ours = FragmentFile::new(&fragment_program(Chip::Rsx), &interface).unwrap();
    // It has a table for each register of a parameter, empty ones too.
    let offsets = |file: &FragmentFile| -> Vec<Option<Vec<u32>>> {
        file.constants.iter().map(|constant| constant.index.map(|table| file.tables[table].clone())).collect()
    };
    assert_eq!(offsets(&file), offsets(&ours));
    assert!(theirs.len() > ours.bytes().unwrap().len());
    let without = |file: FragmentFile| {
        let mut constants = file.constants;
        constants.iter_mut().for_each(|constant| constant.index = None);
        FragmentFile { constants, tables: Vec::new(), ..file }
    };
    assert_eq!(without(file), without(ours));
}
