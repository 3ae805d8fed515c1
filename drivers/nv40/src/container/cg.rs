//! Binaries of NVIDIA's Cg compiler for the PlayStation 3, revision 6. All numbers are big-endian.
//!
//! | part | bytes | contents |
//! |---|---|---|
//! | header | 32 | profile, revision, size; numbers and offsets of the other parts |
//! | program | 24 or 22 | instructions, registers, masks |
//! | parameters | 48 each | type, resource, name, default value, patches, semantic |
//! | data of parameters | | default value, patches, name, semantic |
//! | code | 16 for each slot | at a multiple of 16; words of fragment programs have swapped halves |
//!
//! A matrix is followed by a parameter for each of its registers. Arrays are listed by their elements.

use tgsi_compiler::front_end::Interface;
use tgsi_ir::slots::FragResult;

use super::names::{self, Case, Named, Type};
use super::rsx::{both_sides, check_chip};
use super::uniforms::{Run, Uniforms, used_by_fragment, used_by_vertex};
use super::{ContainerError, check};
use crate::isa::fragment::ps3_bytes;
use crate::program::{FragmentProgram, Program, TextureKind, Varying, VertexProgram};

const VERTEX_PROFILE: u32 = 7003;
const FRAGMENT_PROFILE: u32 = 7004;
const REVISION: u32 = 6;
const HEADER: usize = 32;
/// The offset of the program. RPCS3 converts the header and the word after it to the order of the host; a program in
/// this word would be converted twice.
const PROGRAM: usize = 48;
const PARAMETER: usize = 48;
const SLOT: u32 = 16;

/// Numbers of resources.
mod resource {
    pub(super) const TEXTURE_UNIT: u32 = 2048;
    pub(super) const ATTRIBUTE: u32 = 2113;
    pub(super) const CONSTANT: u32 = 2178;
    /// Texture coordinates 0 to 7.
    pub(super) const TEXCOORDS: [u32; 8] = [2179, 2180, 2181, 2192, 2193, 2194, 2195, 2196];
    pub(super) const POSITION: u32 = 2243;
    pub(super) const COLOUR: u32 = 2245;
    pub(super) const POINT_SIZE: u32 = 2309;
    pub(super) const WINDOW_POSITION: u32 = 2373;
    pub(super) const FRAGMENT_COLOUR: u32 = 2757;
    pub(super) const FOG: u32 = 2917;
    pub(super) const DEPTH: u32 = 2933;
    pub(super) const UNDEFINED: u32 = 3256;
}

/// How a parameter changes.
#[derive(Clone, Copy)]
enum Variability {
    Varying = 4101,
    Uniform = 4102,
    Constant = 4103,
}

#[derive(Clone, Copy)]
enum Direction {
    In = 4097,
    Out = 4098,
}

struct Parameter {
    name: String,
    ty: u32,
    resource: u32,
    variability: Variability,
    /// The number of the constant.
    index: Option<u32>,
    default: Option<[u32; 4]>,
    /// Offsets in the code.
    patches: Vec<u32>,
    semantic: String,
    direction: Direction,
}

impl Parameter {
    fn uniform(run: &Run, ty: Type) -> Parameter {
        Parameter {
            name: run.name.clone(),
            ty: type_number(ty),
            resource: resource::UNDEFINED,
            variability: Variability::Uniform,
            index: None,
            default: None,
            patches: Vec::new(),
            semantic: String::new(),
            direction: Direction::In,
        }
    }

    fn varying(named: Named<Varying>, (resource, semantic): (u32, String), direction: Direction) -> Parameter {
        let run = Run { name: named.name, ty: named.ty, register: 0, rows: 1 };
        let uniform = Parameter::uniform(&run, run.ty);
        Parameter { resource, variability: Variability::Varying, semantic, direction, ..uniform }
    }
}

/// Returns a program as a Cg binary.
///
/// # Errors
/// [`ContainerError`] if the format cannot represent the program.
pub fn write_cg(program: &Program, interface: &Interface) -> Result<Vec<u8>, ContainerError> {
    check::program(program)?;
    let (profile, record, parameters, code) = match program {
        Program::Vertex(program) => {
            check_chip("Cg", program.chip)?;
            let code = program.slots.as_flattened().iter().flat_map(|word| word.to_be_bytes()).collect();
            (VERTEX_PROFILE, vertex_record(program), vertex_parameters(program, interface)?, code)
        }
        Program::Fragment(program) => {
            check_chip("Cg", program.chip)?;
            let uniforms = Uniforms::new(interface, &used_by_fragment(program))?;
            let parameters = fragment_parameters(program, interface, &uniforms);
            (FRAGMENT_PROFILE, fragment_record(program), parameters, ps3_bytes(&uniforms.words(&program.program)))
        }
    };
    names::check(parameters.iter().map(|parameter| parameter.name.as_str()), Case::Matters)?;
    file(profile, &record, &parameters, &code)
}

fn file(profile: u32, record: &[u8], parameters: &[Parameter], code: &[u8]) -> Result<Vec<u8>, ContainerError> {
    let mut bytes = vec![0; PROGRAM];
    bytes.extend(record);
    pad(&mut bytes, 4);
    let first = bytes.len();
    bytes.resize(first + parameters.len() * PARAMETER, 0);
    for (number, parameter) in parameters.iter().enumerate() {
        let entry: Vec<u8> = parameter.entry(number, &mut bytes)?.into_iter().flat_map(u32::to_be_bytes).collect();
        bytes[first + number * PARAMETER..][..PARAMETER].copy_from_slice(&entry);
    }
    pad(&mut bytes, SLOT as usize);
    let start = bytes.len();
    bytes.extend(code);
    let header = [
        profile,
        REVISION,
        number(bytes.len())?,
        number(parameters.len())?,
        number(first)?,
        PROGRAM as u32,
        number(code.len())?,
        number(start)?,
    ];
    let header: Vec<u8> = header.into_iter().flat_map(u32::to_be_bytes).collect();
    bytes[..HEADER].copy_from_slice(&header);
    Ok(bytes)
}

fn number(number: usize) -> Result<u32, ContainerError> {
    u32::try_from(number).map_err(|_| ContainerError::Limit("bytes", number as u64, u32::MAX.into()))
}

fn pad(bytes: &mut Vec<u8>, multiple: usize) {
    bytes.resize(bytes.len().next_multiple_of(multiple), 0);
}

impl Parameter {
    /// Appends the data of the parameter; returns its entry. The name follows the patches; readers derive their number
    /// from its offset.
    fn entry(&self, number: usize, bytes: &mut Vec<u8>) -> Result<[u32; 12], ContainerError> {
        let put = |bytes: &mut Vec<u8>, words: &[u32]| {
            let offset = self::number(bytes.len());
            bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
            offset
        };
        let put_text = |bytes: &mut Vec<u8>, text: &str| {
            let offset = self::number(bytes.len());
            bytes.extend(text.as_bytes());
            bytes.push(0);
            offset
        };
        let default = self.default.map_or(Ok(0), |value| put(bytes, &value))?;
        let semantic = if self.semantic.is_empty() { 0 } else { put_text(bytes, &self.semantic)? };
        pad(bytes, 4);
        let patches = if self.patches.is_empty() {
            0
        } else {
            put(bytes, &[&[self.patches.len() as u32], &self.patches[..]].concat())?
        };
        let name = put_text(bytes, &self.name)?;
        pad(bytes, 4);
        Ok([
            self.ty,
            self.resource,
            self.variability as u32,
            self.index.unwrap_or(u32::MAX),
            name,
            default,
            patches,
            semantic,
            self.direction as u32,
            self::number(number)?,
            1,
            0,
        ])
    }
}

fn vertex_record(program: &VertexProgram) -> Vec<u8> {
    let outputs = program.output_mask();
    // A nibble for each clip plane, as in method 0x1478: bit 1 enables it.
    let clip = (0..6).filter(|plane| outputs >> (6 + plane) & 1 == 1).fold(0, |mask, plane| mask | 2 << (4 * plane));
    let record =
        [program.slots.len() as u32, 0, program.temporaries.into(), program.input_mask(), both_sides(outputs), clip];
    record.into_iter().flat_map(u32::to_be_bytes).collect()
}

fn fragment_record(program: &FragmentProgram) -> Vec<u8> {
    let inputs = program.inputs.iter().fold(0, |mask, input| {
        mask | match input.number {
            1..=2 => 5 << (input.number - 1),
            3 => 1 << 4,
            4..=11 => 1 << (input.number - 4 + 14),
            12..=13 => 1 << (input.number - 12 + 12),
            _ => 0,
        }
    });
    let mut record: Vec<u8> = [program.program.slots(), inputs, 0].into_iter().flat_map(u32::to_be_bytes).collect();
    record.extend([program.texcoords(), program.texcoords_2d(), 0].into_iter().flat_map(u16::to_be_bytes));
    record.push(program.registers.max(2));
    record.extend([!program.exports_full, program.writes_depth, program.kills].map(u8::from));
    record
}

fn vertex_parameters(program: &VertexProgram, interface: &Interface) -> Result<Vec<Parameter>, ContainerError> {
    let inputs = names::varyings(&program.inputs, &interface.inputs, "in").into_iter().map(|named| {
        let number = u32::from(named.item.number);
        Parameter::varying(named, (resource::ATTRIBUTE + number, format!("ATTR{number}")), Direction::In)
    });
    let outputs = names::varyings(&program.outputs, &interface.outputs, "out").into_iter().map(|named| {
        let output = vertex_output(&named.item);
        Parameter::varying(named, output, Direction::Out)
    });
    let mut parameters: Vec<_> = inputs.chain(outputs).collect();
    let uniforms = Uniforms::new(interface, &used_by_vertex(program, interface))?;
    let constant = |run: &Run, ty| Parameter {
        resource: resource::CONSTANT,
        index: Some(run.register),
        default: uniforms.stated_initial(run.register),
        ..Parameter::uniform(run, ty)
    };
    add_uniforms(&uniforms, constant, &mut parameters);
    add_samplers(interface, &program.textures, &mut parameters);
    for literal in &program.literals {
        let register = literal.constant.into();
        let run = Run { name: format!("internal-constant-{register}"), ty: Type::vector(4), register, rows: 1 };
        let variability = Variability::Constant;
        parameters.push(Parameter { default: Some(literal.words), variability, ..constant(&run, run.ty) });
    }
    Ok(parameters)
}

fn fragment_parameters(program: &FragmentProgram, interface: &Interface, uniforms: &Uniforms) -> Vec<Parameter> {
    let inputs = names::varyings(&program.inputs, &interface.inputs, "in").into_iter().map(|named| {
        let input = fragment_input(named.item.number);
        Parameter::varying(named, input, Direction::In)
    });
    let mut colours = 0..;
    let outputs = names::varyings(&program.outputs, &interface.outputs, "out").into_iter().map(|named| {
        let is_depth = named.item.location == i32::from(FragResult::DEPTH);
        let output = if is_depth {
            (resource::DEPTH, "DEPTH".to_owned())
        } else {
            let number = colours.next().unwrap_or(0);
            (resource::FRAGMENT_COLOUR + number, format!("COLOR{number}"))
        };
        Parameter::varying(named, output, Direction::Out)
    });
    let mut parameters: Vec<_> = inputs.chain(outputs).collect();
    let mut patches = std::collections::BTreeMap::<u32, Vec<u32>>::new();
    for patch in &program.program.patches {
        patches.entry(patch.constant).or_default().push(patch.slot * SLOT);
    }
    let uniform = |run: &Run, ty| {
        // Those of a matrix belong to its registers.
        let offsets = if matches!(ty, Type::Matrix { .. }) { None } else { patches.get(&run.register) };
        let default = uniforms.stated_initial(run.register);
        Parameter { patches: offsets.cloned().unwrap_or_default(), default, ..Parameter::uniform(run, ty) }
    };
    add_uniforms(uniforms, uniform, &mut parameters);
    add_samplers(interface, &program.textures, &mut parameters);
    parameters
}

fn add_uniforms(uniforms: &Uniforms, new: impl Fn(&Run, Type) -> Parameter, parameters: &mut Vec<Parameter>) {
    for element in uniforms.leaves.iter().flat_map(|leaf| leaf.elements()) {
        parameters.push(new(&element, element.ty));
        if matches!(element.ty, Type::Matrix { .. }) {
            parameters.extend(element.columns().map(|column| new(&column, column.ty)));
        }
    }
}

fn add_samplers(interface: &Interface, textures: &[crate::program::Texture], parameters: &mut Vec<Parameter>) {
    for named in names::samplers(textures, interface) {
        let unit = u32::from(named.item.unit);
        let run = Run { name: named.name, ty: named.ty, register: 0, rows: 1 };
        let (resource, semantic) = (resource::TEXTURE_UNIT + unit, format!("TEXUNIT{unit}"));
        parameters.push(Parameter { resource, semantic, ..Parameter::uniform(&run, run.ty) });
    }
}

/// The resource and semantic of an output of a vertex program.
fn vertex_output(output: &Varying) -> (u32, String) {
    let number = u32::from(output.number);
    let first = output.chip_mask().0.trailing_zeros();
    match (number, first) {
        (0, _) => (resource::POSITION, "POSITION".to_owned()),
        (1..=2, _) => (resource::COLOUR + number - 1, format!("COLOR{}", number - 1)),
        (3..=4, _) => (resource::COLOUR + number - 1, format!("BCOL{}", number - 3)),
        (5, 0) => (resource::FOG, "FOG".to_owned()),
        (6, 0) => (resource::POINT_SIZE, "PSIZE".to_owned()),
        (5..=6, _) => (resource::UNDEFINED, format!("CLP{}", (number - 5) * 3 + first - 1)),
        (7..=14, _) => texcoord(number - 7),
        _ => texcoord(number - 15 + 8),
    }
}

/// The resource and semantic of an input of a fragment program.
fn fragment_input(number: u8) -> (u32, String) {
    match u32::from(number) {
        0 => (resource::WINDOW_POSITION, "WPOS".to_owned()),
        number @ 1..=2 => (resource::COLOUR + number - 1, format!("COLOR{}", number - 1)),
        3 => (resource::FOG, "FOG".to_owned()),
        number @ 4..=13 => texcoord(number - 4),
        _ => (resource::UNDEFINED, "FACE".to_owned()),
    }
}

fn texcoord(number: u32) -> (u32, String) {
    let resource = resource::TEXCOORDS.get(number as usize).copied().unwrap_or(resource::UNDEFINED);
    (resource, format!("TEXCOORD{number}"))
}

/// The number of a type.
fn type_number(ty: Type) -> u32 {
    match ty {
        Type::Vector { is_bool: false, size } => 1045 + u32::from(size) - 1,
        Type::Vector { is_bool: true, size: 1 } => 1114,
        Type::Vector { is_bool: true, size } => 1114 + u32::from(size),
        Type::Matrix { rows, size } => 1049 + 4 * (u32::from(rows) - 1) + u32::from(size) - 1,
        Type::Sampler(TextureKind::D1) => 1065,
        Type::Sampler(TextureKind::D2) => 1066,
        Type::Sampler(TextureKind::D3) => 1067,
        Type::Sampler(TextureKind::Rect) => 1068,
        Type::Sampler(TextureKind::Cube) => 1069,
    }
}
