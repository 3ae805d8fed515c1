//! Programs that are made by hand, with names.

use tgsi_compiler::front_end::{ComponentType, Interface, InterfaceVariable, SamplerUniform, Uniform, UniformMember};
use tgsi_driver_nv40::isa::fragment::{self, FragmentOp, Instruction, Register};
use tgsi_driver_nv40::isa::vertex::{self, Address, Branch, ConditionWrite, Part, ScaOp, Slot, Source, Unit, VecOp};
use tgsi_driver_nv40::isa::{Chip, Condition, Mask, Predicate, Swizzle};
use tgsi_driver_nv40::program::{FragmentProgram, Literal, Program, Texture, TextureKind, Varying, VertexProgram};

fn varying(register: u32, location: i32, number: u8, mask: u8) -> Varying {
    Varying { register, location, number, component: 0, mask }
}

fn moves(output: u8, input: u8) -> Slot {
    Slot {
        vec: Some(Part::to_output(VecOp::Mov, Mask::ALL)),
        sources: [Some(Source::input()), None, None],
        input: Some(input),
        output: Some(output),
        ..Slot::default()
    }
}

/// A slot that reads an input, and a constant as its second operand.
fn with_constant(op: VecOp, constant: u16) -> Slot {
    Slot {
        vec: Some(Part::to_register(op, 0, Mask(7))),
        sources: [Some(Source::input()), Some(Source::constant()), None],
        input: Some(2),
        constant: Some(constant),
        ..Slot::default()
    }
}

/// Transforms the position by `mvp` (c0 to c3), scales the normal by `lights[1].colour` (c6), `bones[i]` (c7, c8) and
/// `on` (c9), adds a literal (c10), and copies colour and texture coordinates. Fog has a clip distance.
pub fn vertex_program(chip: Chip) -> VertexProgram {
    let is_nv30 = chip == Chip::Nv30;
    let (colour, texcoord) = if is_nv30 { (3, 8) } else { (1, 7) };
    let dot = |row: u8| Slot {
        vec: Some(Part::to_output(VecOp::Dp4, Mask(1 << row))),
        sources: [Some(Source::constant()), Some(Source::input()), None],
        constant: Some(row.into()),
        input: Some(0),
        output: Some(0),
        ..Slot::default()
    };
    let indexed = Slot {
        indexes_constant: true,
        address: Some(Address { register: 0, component: 0 }),
        ..with_constant(VecOp::Mul, 7)
    };
    let slots = [
        dot(0),
        dot(1),
        dot(2),
        dot(3),
        with_constant(VecOp::Mul, 6),
        Slot {
            vec: Some(Part::to_register(VecOp::Arl, 0, Mask::X)),
            sources: [Some(Source::input().swizzled(Swizzle::replicate(0))), None, None],
            input: Some(1),
            ..Slot::default()
        },
        indexed,
        Slot {
            vec: Some(Part { op: VecOp::Mov, register: None, mask: Mask::X, output_mask: Mask::NONE }),
            sources: [Some(Source::constant()), None, None],
            constant: Some(9),
            writes_condition: Some(ConditionWrite { unit: Unit::Vec, register: 0 }),
            ..Slot::default()
        },
        Slot {
            sca: Some(Part::to_condition(ScaOp::Bra, Mask::ALL)),
            branch: Some(Branch { target: 10, boolean: None }),
            predicate: Some(Predicate { register: 0, condition: Condition::EQ, swizzle: Swizzle::replicate(0) }),
            ..Slot::default()
        },
        with_constant(VecOp::Mul, 10),
        moves(colour, 3),
        moves(texcoord, 8),
        Slot {
            vec: Some(Part::to_output(VecOp::Mov, Mask(if is_nv30 { 1 } else { 2 }))),
            sources: [Some(Source::temporary(0).swizzled(Swizzle::replicate(0))), None, None],
            output: Some(if is_nv30 { 17 } else { 5 }),
            end: true,
            ..Slot::default()
        },
    ];
    let words: Vec<_> = slots.iter().map(|slot| vertex::encode(slot, chip).expect("an instruction")).collect();
    let clip = Varying { component: u8::from(!is_nv30), ..varying(3, 17, if is_nv30 { 17 } else { 5 }, 1) };
    VertexProgram {
        chip,
        slots: words,
        temporaries: 1,
        inputs: vec![
            varying(0, 0, 0, 15),
            varying(1, 1, 2, 7),
            varying(2, 2, 3, 15),
            varying(3, 6, 8, 15),
            varying(4, 15, 1, 1),
        ],
        outputs: vec![varying(0, 0, 0, 15), varying(1, 1, colour, 15), varying(2, 4, texcoord, 15), clip],
        constants: 11,
        literals: vec![Literal { constant: 10, words: [1.0f32, -2.5, 0.0, 1e-9].map(f32::to_bits) }],
        branches: vec![8],
        constant_slots: vec![0, 1, 2, 3, 4, 6, 7, 9],
        textures: Vec::new(),
    }
}

fn member(path: &str, ty: ComponentType, rows: u8, columns: u8, register: u32) -> UniformMember {
    UniformMember::new(path.to_owned(), ty, rows, columns, register)
}

fn array(member: UniformMember, length: u32) -> UniformMember {
    let mut member = member;
    member.length = Some(length);
    member
}

fn variables(list: &[(&str, &str)]) -> Vec<InterfaceVariable> {
    let variable = |(register, &(name, ty)): (u32, &(&str, &str))| {
        InterfaceVariable::new(name.to_owned(), ty.to_owned(), 0, register)
    };
    (0..).zip(list).map(variable).collect()
}

/// The names of [`vertex_program`].
pub fn vertex_interface() -> Interface {
    use ComponentType::{Bool, Float};
    let lights = [member("[0].position", Float, 4, 1, 4), member("[1].colour", Float, 3, 1, 6)];
    let mut interface = Interface::default();
    let mut on = Uniform::new("on".to_owned(), "bool".to_owned(), 9, 1, vec![member("", Bool, 1, 1, 9)]);
    on.initial = Some(vec![1]);
    interface.uniforms = vec![
        Uniform::new("mvp".to_owned(), "mat4".to_owned(), 0, 4, vec![member("", Float, 4, 4, 0)]),
        Uniform::new("lights".to_owned(), "Light[2]".to_owned(), 4, 3, lights.to_vec()),
        Uniform::new("bones".to_owned(), "vec4[9]".to_owned(), 7, 2, vec![array(member("", Float, 4, 1, 7), 9)]),
        on,
    ];
    interface.inputs =
        variables(&[("position", "vec4"), ("normal", "vec3"), ("colour", "vec4"), ("uv", "vec2[2]"), ("bone", "int")]);
    interface.inputs.retain(|input| input.name != "bone");
    interface.inputs.push(InterfaceVariable::new("bone".to_owned(), "int".to_owned(), 15, 4));
    interface.outputs = variables(&[("gl_Position", "vec4"), ("gl_FrontColor", "vec4"), ("v", "vec4")]);
    interface
}

/// Multiplies a texture by `tint` (c2), adds it and a literal, multiplies by a column of `m` (c0, c1), and kills.
pub fn fragment_program(chip: Chip) -> FragmentProgram {
    let full = fragment::Source::full;
    let constant = fragment::Source::constant;
    let new = Instruction::new;
    let with = |op, value: [f32; 4]| Instruction {
        destination: Some(Register::R(0)),
        sources: [full(0), constant(), full(0)],
        constant: Some(value.map(f32::to_bits)),
        ..new(op)
    };
    let fetch = Instruction {
        destination: Some(Register::R(0)),
        sources: [fragment::Source::input(), full(0), full(0)],
        input: Some(4),
        input_offset: 0x7fc,
        texture: Some(0),
        ..new(FragmentOp::Tex)
    };
    let less = Predicate { condition: Condition::LT, ..Predicate::ALWAYS };
    let instructions = [
        (fetch, None),
        (Instruction { input: Some(5), texture: Some(3), destination: Some(Register::R(2)), ..fetch }, None),
        (with(FragmentOp::Mul, [0.0; 4]), Some(2)),
        (with(FragmentOp::Add, [0.5, 0.25, 0.0, 1.0]), None),
        (with(FragmentOp::Mul, [0.0; 4]), Some(1)),
        (with(FragmentOp::Add, [0.0; 4]), Some(2)),
        (Instruction { predicate: less, ..new(FragmentOp::Kil) }, None),
        (Instruction { destination: Some(Register::R(0)), end: true, ..new(FragmentOp::Mov) }, None),
    ];
    let mut program = fragment::Program::default();
    for (instruction, uniform) in &instructions {
        program.push(instruction, *uniform, chip).expect("an instruction");
    }
    FragmentProgram {
        chip,
        program,
        registers: 3,
        inputs: vec![varying(0, 4, 4, 3), varying(1, 5, 5, 7)],
        outputs: vec![varying(0, 4, 0, 15)],
        exports_full: true,
        writes_depth: false,
        kills: true,
        textures: vec![
            Texture { unit: 0, kind: TextureKind::D2, is_shadow: false },
            Texture { unit: 3, kind: TextureKind::Cube, is_shadow: false },
        ],
    }
}

/// The names of [`fragment_program`].
pub fn fragment_interface() -> Interface {
    use ComponentType::{Float, Int};
    let mut tint = Uniform::new("tint".to_owned(), "ivec4".to_owned(), 2, 1, vec![member("", Int, 4, 1, 2)]);
    tint.initial = Some(vec![1, 2, (-3i32) as u32 as u64, 4]);
    let mut interface = Interface::default();
    interface.uniforms = vec![
        Uniform::new("m".to_owned(), "mat2".to_owned(), 0, 2, vec![member("", Float, 2, 2, 0)]),
        tint,
        Uniform::new("nothing".to_owned(), "float".to_owned(), 3, 1, vec![member("", Float, 1, 1, 3)]),
    ];
    interface.samplers = vec![
        SamplerUniform::new("image".to_owned(), "sampler2D".to_owned(), 0, 1),
        SamplerUniform::new("sky".to_owned(), "samplerCube[2]".to_owned(), 2, 2),
    ];
    interface.inputs = variables(&[("uv", "vec2"), ("direction", "vec3")]);
    interface.outputs = variables(&[("gl_FragColor", "vec4")]);
    interface
}

/// All programs, with names and without.
pub fn all() -> Vec<(Program, Interface)> {
    Chip::ALL
        .iter()
        .flat_map(|&chip| {
            let (vertex, fragment) = (vertex_program(chip), fragment_program(chip));
            [
                (Program::Vertex(vertex.clone()), vertex_interface()),
                (Program::Vertex(vertex), Interface::default()),
                (Program::Fragment(fragment.clone()), fragment_interface()),
                (Program::Fragment(fragment), Interface::default()),
            ]
        })
        .collect()
}
