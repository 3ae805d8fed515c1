//! `.vpo` and `.fpo`, by the reader.

use super::programs::{fragment_interface, fragment_program, vertex_interface, vertex_program};
use pretty_assertions::assert_eq;
use tgsi_compiler::front_end::{ComponentType, Interface, Uniform, UniformMember};
use tgsi_driver_nv40::container::{
    Attribute, Constant, FragmentFile, VertexFile, read_fpo, read_vpo, write_fpo, write_vpo,
};
use tgsi_driver_nv40::isa::Chip;
use tgsi_driver_nv40::listing::TextureTarget;

/// Name, number and type of each attribute.
fn attributes(list: &[Attribute]) -> Vec<(&str, u32, &str)> {
    list.iter().map(|item| (item.name.as_deref().unwrap(), item.index, item.ty.name().unwrap())).collect()
}

/// Name, location, type and number of rows of each constant.
fn constants<I: Copy>(list: &[Constant<I>]) -> Vec<(&str, I, &str, u8)> {
    fn constant<I: Copy>(item: &Constant<I>) -> (&str, I, &str, u8) {
        let ty = if item.count > 0 { item.ty.name().unwrap() } else { "" };
        (item.name.as_deref().unwrap_or(""), item.index, ty, item.count)
    }
    list.iter().map(constant).collect()
}

#[test]
fn vertex_files_have_names() {
    let program = vertex_program(Chip::Rsx);
    let file = read_vpo(&write_vpo(&program, &vertex_interface()).unwrap()).unwrap();
    let expected = [
        ("position", 0, "float4"),
        ("normal", 2, "float3"),
        ("colour", 3, "float4"),
        ("uv[0]", 8, "float2"),
        ("bone", 1, "float"),
    ];
    assert_eq!(attributes(&file.attributes), expected);
    let expected = [
        ("mvp", 0, "float4x4", 4),
        ("", 1, "", 0),
        ("", 2, "", 0),
        ("", 3, "", 0),
        ("lights[0].position", 4, "float4", 1),
        ("lights[1].colour", 6, "float3", 1),
        ("bones", 7, "float4", 2),
        ("", 8, "", 0),
        ("bones[0]", 7, "float4", 1),
        ("bones[1]", 8, "float4", 1),
        ("on", 9, "float", 1),
        ("", 10, "float4", 1),
    ];
    assert_eq!(constants(&file.constants), expected);
    let literal = file.constants.last().unwrap();
    assert!(literal.is_internal && literal.name.is_none());
    assert_eq!(literal.value, program.literals[0].words);
    assert_eq!(file.constants[10].value, [1.0f32.to_bits(), 0, 0, 0]);
    assert_eq!(file.slots, program.slots);
    let VertexFile { registers, input_mask, output_mask, first_constant, first_slot, .. } = file;
    assert_eq!((registers, first_constant, first_slot), (1, 0, 0));
    assert_eq!(input_mask, 0b1_0000_1111);
    // Front and back colour, texture coordinate 0, the first clip plane.
    assert_eq!(output_mask, 5 | 1 << 14 | 1 << 6);
}

#[test]
fn fragment_files_have_tables() {
    let program = fragment_program(Chip::Rsx);
    let file = read_fpo(&write_fpo(&program, &fragment_interface()).unwrap()).unwrap();
    let expected =
        [("uv", 4, "float2"), ("direction", 5, "float3"), ("image", 0, "sampler2D"), ("sky[1]", 3, "samplerCUBE")];
    assert_eq!(attributes(&file.attributes), expected);
    assert_eq!(file.texture_targets()[3], TextureTarget::Cube);
    let expected = [
        ("m", None, "float2", 2),
        ("", Some(1), "", 0),
        ("m[0]", None, "float2", 1),
        ("m[1]", Some(1), "float2", 1),
        ("tint", Some(0), "float4", 1),
        ("nothing", None, "float", 1),
    ];
    let found = constants(&file.constants);
    let offsets = |index: Option<usize>| index.map(|index| file.tables[index].clone());
    assert_eq!(
        found.iter().map(|row| (row.0, row.2, row.3)).collect::<Vec<_>>(),
        expected.map(|row| (row.0, row.2, row.3))
    );
    let tint = found[4].1;
    let m1 = found[1].1;
    assert_eq!(offsets(tint), Some(program.program.offsets(2).collect()));
    assert_eq!(offsets(m1), Some(program.program.offsets(1).collect()));
    assert_eq!(offsets(tint), Some(vec![48, 144]));
    assert_eq!((found[0].1, found[2].1, found[3].1, found[5].1), (None, None, m1, None));
    // The code has the initial value of `tint` as floats.
    let value = [1.0f32, 2.0, -3.0, 4.0].map(f32::to_bits);
    assert_eq!(file.constants[4].value, value);
    let mut patched = program.program.clone();
    patched.set_constant(2, value);
    assert_eq!(file.words, patched.words);
    let FragmentFile { registers, control, texcoords, texcoords_2d, texcoords_3d, .. } = file;
    assert_eq!((registers, control), (3, 0xc0));
    assert_eq!((texcoords, texcoords_2d, texcoords_3d), (3, 1, 2));
}

#[test]
fn registers_without_names_have_numbers() {
    let interface = Interface::default();
    let file = read_vpo(&write_vpo(&vertex_program(Chip::Rsx), &interface).unwrap()).unwrap();
    assert_eq!(attributes(&file.attributes)[4], ("in4", 1, "float4"));
    let names: Vec<_> = constants(&file.constants).into_iter().map(|row| (row.0, row.1)).collect();
    let expected = [
        ("c0", 0),
        ("c1", 1),
        ("c2", 2),
        ("c3", 3),
        ("c4", 4),
        ("c5", 5),
        ("c6", 6),
        ("c7", 7),
        ("c8", 8),
        ("c9", 9),
        ("", 10),
    ];
    assert_eq!(names, expected);
    let program = fragment_program(Chip::Rsx);
    let file = read_fpo(&write_fpo(&program, &interface).unwrap()).unwrap();
    let names: Vec<_> = file.attributes.iter().map(|item| item.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["in0", "in1", "tex0", "tex3"]);
    assert_eq!(constants(&file.constants), [("c1", Some(0), "float4", 1), ("c2", Some(1), "float4", 1)]);
    assert_eq!(file.words, program.program.words);
}

/// The reader returns the contents that the writer was given.
#[test]
fn files_are_read_as_written() {
    for chip in [Chip::Nv40, Chip::Rsx] {
        for interface in [vertex_interface(), Interface::default()] {
            let file = VertexFile::new(&vertex_program(chip), &interface).unwrap();
            let bytes = file.bytes().unwrap();
            assert_eq!(read_vpo(&bytes).unwrap(), file);
            assert_eq!(bytes.len() % 16, 0);
        }
        for interface in [fragment_interface(), Interface::default()] {
            let file = FragmentFile::new(&fragment_program(chip), &interface).unwrap();
            let read = read_fpo(&file.bytes().unwrap()).unwrap();
            // Tables are numbered in the order of constants.
            assert_eq!(read.bytes().unwrap().len(), file.bytes().unwrap().len());
            assert_eq!(read.words, file.words);
            let offsets = |file: &FragmentFile| -> Vec<Option<Vec<u32>>> {
                file.constants.iter().map(|item| item.index.map(|table| file.tables[table].clone())).collect()
            };
            assert_eq!(offsets(&read), offsets(&file));
        }
    }
}

/// Matrices of each size, and arrays of them.
#[test]
fn matrices_have_types_or_columns() {
    let uniform = |columns: u8, rows: u8, length: Option<u32>| {
        let mut member = UniformMember::new(String::new(), ComponentType::Float, rows, columns, 0);
        member.length = length;
        let registers = u32::from(columns) * length.unwrap_or(1);
        let mut interface = Interface::default();
        interface.uniforms = vec![Uniform::new("m".into(), String::new(), 0, registers, vec![member])];
        let file = VertexFile::new(&vertex_program(Chip::Rsx), &interface).unwrap();
        let named = file.constants.into_iter().filter(|item| !item.is_internal && item.count > 0);
        let row = |item: Constant<u32>| {
            format!("{} {} {} {}", item.name.unwrap(), item.ty.name().unwrap(), item.index, item.count)
        };
        named.map(row).filter(|row| row.starts_with('m')).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(uniform(4, 4, None), "m float4x4 0 4");
    assert_eq!(uniform(3, 4, None), "m float3x4 0 3");
    assert_eq!(uniform(3, 3, None), "m float3x3 0 3");
    assert_eq!(uniform(4, 3, None), "m float4x3 0 4");
    assert_eq!(uniform(2, 3, None), "m float3 0 2, m[0] float3 0 1, m[1] float3 1 1");
    assert_eq!(uniform(3, 3, Some(2)), "m float3x3 0 6, m[0] float3x3 0 3, m[1] float3x3 3 3");
    let expected = "m float2 0 4, m[0] float2 0 2, m[0][0] float2 0 1, m[0][1] float2 1 1, m[1] float2 2 2, \
                    m[1][0] float2 2 1, m[1][1] float2 3 1";
    assert_eq!(uniform(2, 2, Some(2)), expected);
    // 255 rows are the most that an entry can have.
    assert!(uniform(1, 4, Some(255)).starts_with("m float4 0 255, m[0] float4 0 1, "));
    assert!(uniform(1, 4, Some(256)).starts_with("m[0] float4 0 1, m[1] float4 1 1, "));
}

/// Parts of state that share a register are one vector.
#[test]
fn parts_of_a_register_are_one_vector() {
    let mut start = UniformMember::new(".start".into(), ComponentType::Float, 1, 1, 1);
    start.component = 1;
    let members = vec![
        UniformMember::new(".color".into(), ComponentType::Float, 4, 1, 0),
        UniformMember::new(".density".into(), ComponentType::Float, 1, 1, 1),
        start,
    ];
    let mut interface = Interface::default();
    interface.uniforms = vec![Uniform::new("gl_Fog".into(), String::new(), 0, 2, members)];
    interface.uniforms[0].is_state = true;
    let file = VertexFile::new(&vertex_program(Chip::Rsx), &interface).unwrap();
    let expected = [("gl_Fog.color", 0, "float4", 1), ("gl_Fog.density,gl_Fog.start", 1, "float4", 1)];
    assert_eq!(constants(&file.constants)[..2], expected);
}
