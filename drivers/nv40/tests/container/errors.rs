//! Programs that a file cannot represent.

use super::programs::{fragment_interface, fragment_program, vertex_interface, vertex_program};
use pretty_assertions::assert_eq;
use tgsi_compiler::front_end::{ComponentType, Interface, Uniform, UniformMember};
use tgsi_driver_nv40::container::{
    ContainerError, ReadError, read_fpo, read_vpo, write_c, write_cg, write_fpo, write_vpo,
};
use tgsi_driver_nv40::isa::{Chip, EncodeError};
use tgsi_driver_nv40::program::Program;

fn one(name: &str, member: UniformMember, registers: u32) -> Interface {
    let mut interface = Interface::default();
    let register = member.register;
    interface.uniforms = vec![Uniform::new(name.into(), String::new(), register, registers, vec![member])];
    interface
}

fn float(register: u32) -> UniformMember {
    UniformMember::new(String::new(), ComponentType::Float, 4, 1, register)
}

fn vertex_error(interface: &Interface) -> ContainerError {
    write_vpo(&vertex_program(Chip::Rsx), interface).unwrap_err()
}

#[test]
fn formats_of_the_playstation_have_no_geforce_fx() {
    let vertex = vertex_program(Chip::Nv30);
    let fragment = fragment_program(Chip::Nv30);
    let interface = Interface::default();
    assert_eq!(write_vpo(&vertex, &interface), Err(ContainerError::Chip("vpo", Chip::Nv30)));
    assert_eq!(write_fpo(&fragment, &interface), Err(ContainerError::Chip("fpo", Chip::Nv30)));
    let cg = write_cg(&Program::Fragment(fragment), &interface);
    assert_eq!(cg.unwrap_err().to_string(), "Cg files have no programs for nv30");
}

#[test]
fn names_have_limits() {
    let long = "x".repeat(1025);
    let cases = [(long.as_str(), "is longer than 1024 bytes"), ("", "is empty"), ("a\0b", "contains a zero byte")];
    for (name, reason) in cases {
        let error = vertex_error(&one(name, float(0), 1));
        assert_eq!(error, ContainerError::Name(name.to_owned(), reason));
    }
    assert!(write_vpo(&vertex_program(Chip::Rsx), &one(&long[1..], float(0), 1)).is_ok());
    let error = write_c(&Program::Vertex(vertex_program(Chip::Rsx)), &Interface::default(), "1a").unwrap_err();
    assert_eq!(error.to_string(), "the name `1a` is not an identifier of C");
}

#[test]
fn lookups_ignore_case() {
    let mut interface = vertex_interface();
    interface.uniforms[3].name = "MVP".to_owned();
    assert_eq!(vertex_error(&interface), ContainerError::Ambiguous("mvp".into(), "MVP".into()));
    let mut interface = fragment_interface();
    interface.samplers[0].name = "UV".to_owned();
    let error = write_fpo(&fragment_program(Chip::Rsx), &interface).unwrap_err();
    assert_eq!(error, ContainerError::Ambiguous("uv".into(), "UV".into()));
    // Lookups in Cg binaries do not.
    assert!(write_cg(&Program::Fragment(fragment_program(Chip::Rsx)), &interface).is_ok());
}

#[test]
fn uniforms_have_limits() {
    let double = UniformMember::new(String::new(), ComponentType::Double, 2, 1, 0);
    let error = vertex_error(&one("d", double, 1));
    assert_eq!(error.to_string(), "uniform `d` has components of 64 bits");
    let mut part = float(0);
    (part.component, part.rows) = (2, 1);
    assert_eq!(vertex_error(&one("p", part, 1)).to_string(), "uniform `p` is in a part of a register");
    assert_eq!(vertex_error(&one("u", float(468), 1)), ContainerError::Limit("constants", 469, 468));
    assert_eq!(
        vertex_error(&one("u", float(u32::MAX), u32::MAX)),
        ContainerError::Limit("registers", u64::from(u32::MAX) * 2, 65536)
    );
    let mut many = float(0);
    many.length = Some(60000);
    let error = write_fpo(&fragment_program(Chip::Rsx), &one("a", many, 60000));
    assert!(error.is_ok());
    let mut twice = one("a", float(0), 60000);
    twice.uniforms[0].members[0].length = Some(60000);
    twice.uniforms.extend(one("b", float(0), 60000).uniforms);
    twice.uniforms[1].members[0].length = Some(60000);
    let error = write_fpo(&fragment_program(Chip::Rsx), &twice).unwrap_err();
    assert_eq!(error, ContainerError::Limit("constants", 65536, 65535));
}

#[test]
fn programs_are_checked() {
    let interface = Interface::default();
    let mut program = vertex_program(Chip::Rsx);
    program.inputs[0].number = 40;
    let error = ContainerError::Program(EncodeError::Range("input", 40, 16));
    assert_eq!(write_vpo(&program, &interface), Err(error));
    let mut program = fragment_program(Chip::Rsx);
    program.program.patches[0].slot = 1000;
    assert_eq!(
        write_fpo(&program, &interface).unwrap_err().to_string(),
        "the program is invalid: slot of a uniform 1000 is not below 12"
    );
    program.program.words.pop();
    assert!(write_cg(&Program::Fragment(program), &interface).is_err());
}

/// Each offset of a file is checked.
#[test]
fn readers_check_offsets() {
    let vpo = write_vpo(&vertex_program(Chip::Rsx), &vertex_interface()).unwrap();
    let fpo = write_fpo(&fragment_program(Chip::Rsx), &fragment_interface()).unwrap();
    assert_eq!(read_vpo(&fpo), Err(ReadError::Magic("VP")));
    assert_eq!(read_fpo(&[]), Err(ReadError::Magic("FP")));
    let with = |bytes: &[u8], at: usize, value: u32| {
        let mut bytes = bytes.to_vec();
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        bytes
    };
    let word = |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let attributes = "the table of attributes";
    assert_eq!(read_vpo(&with(&vpo, 12, 8)), Err(ReadError::Offset(attributes, 8)));
    assert_eq!(read_vpo(&with(&vpo, 12, 0xffff_fff0)), Err(ReadError::Truncated(attributes, 0xffff_fff0)));
    assert!(matches!(read_vpo(&with(&vpo, 16, 0x7fff)), Err(ReadError::Truncated("the table of constants", 0x7fff))));
    assert!(matches!(read_vpo(&vpo[..vpo.len() - 1]), Err(ReadError::Truncated("the code", _))));
    let first = word(&vpo, 12);
    assert_eq!(read_vpo(&with(&vpo, first, 35)), Err(ReadError::Offset("a name", 35)));
    let end = vpo.len() as u32;
    assert_eq!(read_vpo(&with(&vpo, first, end)), Err(ReadError::Truncated("a name", end)));
    // The second constant has the first table.
    let constant = word(&fpo, 16) + 28;
    let table = word(&fpo, constant + 4);
    let text = "a table of offsets";
    assert_eq!(read_fpo(&with(&fpo, constant + 4, 0)), Err(ReadError::Offset(text, 0)));
    assert_eq!(read_fpo(&with(&fpo, table, u32::MAX)), Err(ReadError::Truncated(text, table as u32)));
    for offset in [0, 8, 0xffff_fff0, 16 * 12] {
        assert_eq!(read_fpo(&with(&fpo, table + 4, offset)), Err(ReadError::Offset("a uniform in the code", offset)));
    }
    // Tables that overlap would take more memory than the file.
    let mut bytes = fpo.clone();
    bytes.resize(bytes.len() + 600_000, 0);
    let places = [fpo.len(), fpo.len() + 4];
    for place in places {
        bytes[place..place + 4].copy_from_slice(&100_000u32.to_be_bytes());
    }
    bytes[places[1] + 4..].fill(0);
    for word in bytes[places[1] + 4..].chunks_exact_mut(4) {
        word.copy_from_slice(&16u32.to_be_bytes());
    }
    let bytes = with(&bytes, constant + 4, places[1] as u32);
    let bytes = with(&bytes, constant + 4 + 3 * 28, places[1] as u32 + 4 * 8);
    let bytes = with(&bytes, places[1] + 4 * 8, 100_000);
    assert!(read_fpo(&bytes).is_err());
}
