//! Random bundles and programs that are valid.

use crate::support::Choice;
use tgsi_driver_midgard::isa::alu::{
    AluBundle, AluOp, AluRow, Branch, BranchOp, CallMode, Clamp, Component, Condition, Constants, Expand, Extension,
    Narrow, Output, OutputModifier, Scalar, ScalarOperand, ScalarSource, Shrink, SourceModifier, Unit, Vector,
    VectorOperand, VectorSource, repeat,
};
use tgsi_driver_midgard::isa::load_store::{IndexFormat, LoadStore, LoadStoreBundle, LoadStoreOp, Operand};
use tgsi_driver_midgard::isa::texture::{
    Axis, Barrier, Coordinates, Dimension, Handle, Lod, Mode, Offset, PartialExecution, SamplerType, Select, Texture,
    TextureMode, TextureOp, TextureRegister,
};
use tgsi_driver_midgard::isa::{Body, Bundle, LoadStoreRegister, Register, Swizzle, Tag, Width};

fn register(choice: &mut Choice, has_constants: bool) -> Register {
    loop {
        let register = Register::new(choice.below(32) as u8).unwrap();
        if has_constants || register != Register::CONSTANTS {
            return register;
        }
    }
}

fn swizzle(choice: &mut Choice) -> Swizzle {
    if choice.is() { Swizzle::IDENTITY } else { Swizzle(choice.bits() as u8) }
}

fn modifier(choice: &mut Choice, row: &AluRow) -> SourceModifier {
    if row.input.is_integer() {
        SourceModifier::Integer(choice.of(Extension::ALL))
    } else {
        SourceModifier::Float { abs: choice.is(), negate: choice.is() }
    }
}

fn output(choice: &mut Choice, row: &AluRow, is_narrowed: bool) -> OutputModifier {
    match row.output {
        Output::Float => OutputModifier::Float(choice.of(Clamp::ALL)),
        Output::Integer if is_narrowed => OutputModifier::Integer(choice.of(Narrow::ALL)),
        Output::Integer => OutputModifier::Integer(Narrow::Low),
    }
}

fn op(choice: &mut Choice, unit: Unit) -> AluOp {
    let rows: Vec<_> = AluOp::table().iter().filter(|row| row.units.contains(unit)).collect();
    // Units of opcodes are known with less certainty than their numbers.
    if choice.below(4) == 0 { choice.of(&AluOp::table().iter().collect::<Vec<_>>()).op } else { choice.of(&rows).op }
}

fn vector_source(choice: &mut Choice, row: &AluRow, width: Width, has_constants: bool) -> VectorSource {
    let modes: Vec<_> = Expand::ALL.iter().copied().filter(|mode| mode.is_valid_for(width)).collect();
    VectorSource {
        register: register(choice, has_constants),
        modifier: modifier(choice, row),
        expand: if choice.is() { Expand::None } else { choice.of(&modes) },
        swizzle: swizzle(choice),
    }
}

fn vector(choice: &mut Choice, unit: Unit, has_constants: bool) -> Vector {
    let op = op(choice, unit);
    let row = op.row();
    let width = choice.of(Width::ALL);
    let shrink = if width == Width::W8 { None } else { choice.maybe(|choice| choice.of(Shrink::ALL)) };
    let mut vector = Vector {
        op,
        width,
        destination: register(choice, true),
        shrink,
        output: output(choice, row, shrink.is_some()),
        mask: if choice.is() { 0xff } else { choice.bits() as u8 },
        first: vector_source(choice, row, width, has_constants),
        second: VectorOperand::Immediate(choice.bits() as u16),
    };
    if choice.below(4) != 0 {
        vector.second = VectorOperand::Source(vector_source(choice, row, width, has_constants));
    }
    // Bytes are written in pairs, so that a reduction has no single component of 8 bits.
    if row.reduces != 0 && width == Width::W8 {
        vector.width = Width::W16;
        vector.shrink = None;
        vector.output = OutputModifier::none(row);
        vector.first.expand = Expand::None;
        if let VectorOperand::Source(source) = &mut vector.second {
            source.expand = Expand::None;
        }
    }
    while row.reduces != 0 && vector.components().count_ones() != 1 {
        vector.mask = choice.bits() as u8 & choice.bits() as u8;
    }
    vector
}

fn component(choice: &mut Choice) -> Component {
    if choice.is() { Component::Full(choice.below(4) as u8) } else { Component::Half(choice.below(8) as u8) }
}

fn scalar_source(choice: &mut Choice, row: &AluRow, has_constants: bool) -> ScalarSource {
    ScalarSource {
        register: register(choice, has_constants),
        component: component(choice),
        modifier: modifier(choice, row),
    }
}

fn scalar(choice: &mut Choice, unit: Unit, has_constants: bool) -> Scalar {
    let op = op(choice, unit);
    let row = op.row();
    let component = component(choice);
    Scalar {
        op,
        destination: register(choice, true),
        component,
        output: output(choice, row, !component.is_full()),
        first: scalar_source(choice, row, has_constants),
        second: if choice.below(4) == 0 {
            ScalarOperand::Immediate(choice.bits() as u16)
        } else {
            ScalarOperand::Source(scalar_source(choice, row, has_constants))
        },
    }
}

fn branch(choice: &mut Choice) -> Branch {
    let (target, mode) = (choice.of(Tag::ALL), choice.of(CallMode::ALL));
    let offset = choice.below(128) as i8 - 64;
    match choice.below(3) {
        0 => Branch::Jump { mode, target, offset },
        1 => Branch::Conditional {
            op: choice.of(&BranchOp::ALL[1..]),
            condition: choice.of(Condition::ALL),
            target,
            offset,
        },
        _ => Branch::Extended {
            op: choice.of(BranchOp::ALL),
            mode,
            conditions: if choice.is() { repeat(choice.of(Condition::ALL)) } else { choice.bits() as u16 },
            target,
            offset: choice.bits() as i32 >> 9,
        },
    }
}

/// A constant with a chance of special values.
fn word(choice: &mut Choice) -> u32 {
    match choice.below(4) {
        0 => choice.of(&[0, 1, u32::MAX, 0x3f80_0000, 0x7fc0_0000, 0xffc0_0000, 0x7f80_0000, 0xff80_0000, 0x8000_0000]),
        1 => choice.below(256),
        2 => (choice.below(64) as f32 / 16.0).to_bits(),
        _ => choice.bits(),
    }
}

pub fn alu(choice: &mut Choice) -> AluBundle {
    let has_constants = choice.is();
    AluBundle {
        vmul: choice.maybe(|choice| vector(choice, Unit::Vmul, has_constants)),
        sadd: choice.maybe(|choice| scalar(choice, Unit::Sadd, has_constants)),
        vadd: choice.maybe(|choice| vector(choice, Unit::Vadd, has_constants)),
        smul: choice.maybe(|choice| scalar(choice, Unit::Smul, has_constants)),
        vlut: choice.maybe(|choice| vector(choice, Unit::Vlut, has_constants)),
        branch: if choice.below(4) == 0 { Some(branch(choice)) } else { None },
        constants: has_constants.then(|| Constants([0; 4].map(|_| word(choice)))),
        is_writeout: choice.below(8) == 0,
    }
}

fn operand(choice: &mut Choice) -> Operand {
    Operand { register: choice.of(LoadStoreRegister::ALL), component: choice.below(4) as u8 }
}

fn load_store_instruction(choice: &mut Choice) -> LoadStore {
    let row = choice.of(&LoadStoreOp::table().iter().collect::<Vec<_>>());
    let number = if row.class.is_store() { choice.below(8) } else { choice.below(32) };
    LoadStore {
        op: row.op,
        register: Register::new(number as u8).unwrap(),
        mask: if choice.is() { 15 } else { choice.below(16) as u8 },
        swizzle: swizzle(choice),
        argument: operand(choice),
        is_wide: choice.is(),
        index_format: choice.of(IndexFormat::ALL),
        index: operand(choice),
        shift: if choice.is() { 0 } else { choice.below(16) as u8 },
        offset: match choice.below(3) {
            0 => 0,
            1 => choice.bits() as i32 >> 24,
            _ => choice.bits() as i32 >> 14,
        },
    }
}

pub fn load_store(choice: &mut Choice) -> LoadStoreBundle {
    LoadStoreBundle([choice.maybe(load_store_instruction), choice.maybe(load_store_instruction)])
}

fn texture_register(choice: &mut Choice) -> TextureRegister {
    let index = choice.below(2) as u8;
    choice.of(&[TextureRegister::Full(index), TextureRegister::Lower(index), TextureRegister::Upper(index)])
}

fn select(choice: &mut Choice) -> Select {
    Select { register: texture_register(choice), component: choice.below(4) as u8 }
}

fn coordinates(choice: &mut Choice) -> Coordinates {
    Coordinates { register: texture_register(choice), swizzle: swizzle(choice) }
}

fn handle(choice: &mut Choice) -> Handle {
    if choice.is() { Handle::Immediate(choice.bits() as u16) } else { Handle::Register(select(choice)) }
}

pub fn texture(choice: &mut Choice) -> Texture {
    let op = choice.of(TextureOp::ALL);
    if op == TextureOp::Barrier {
        return texture(choice);
    }
    let lowest = if op == TextureOp::Fetch { 8 } else { 0 };
    Texture {
        op,
        is_vertex: choice.is(),
        mode: match op {
            TextureOp::Derivative => Mode::Derivative(choice.of(Axis::ALL)),
            _ => Mode::Texture(choice.of(TextureMode::ALL)),
        },
        execution: choice.of(PartialExecution::ALL),
        dimension: choice.of(Dimension::ALL),
        sampler_type: (op != TextureOp::Move).then(|| choice.of(SamplerType::ALL)),
        texture: handle(choice),
        sampler: handle(choice),
        swizzle: swizzle(choice),
        destination: texture_register(choice),
        mask: if choice.is() { 15 } else { choice.below(16) as u8 },
        clamp: choice.of(Clamp::ALL),
        coordinates: coordinates(choice),
        offset: match choice.below(3) {
            0 => Offset::NONE,
            1 => Offset::Immediate([0; 3].map(|_| choice.below(8 + lowest) as i8 - lowest as i8)),
            _ => Offset::Register(coordinates(choice)),
        },
        lod: match choice.below(3) {
            0 => Lod::NONE,
            1 => Lod::Immediate {
                fraction: choice.bits() as u8,
                integer: if op == TextureOp::Fetch { 0 } else { choice.bits() as i8 },
            },
            _ => Lod::Register(select(choice)),
        },
        out_of_order: if choice.is() { 0 } else { choice.below(16) as u8 },
        unknown4: if choice.below(8) == 0 { choice.bits() as u8 } else { 0 },
        unknown8: if choice.below(8) == 0 { choice.below(4) as u8 } else { 0 },
    }
}

fn body(choice: &mut Choice) -> Body {
    match choice.below(8) {
        0..4 => Body::Alu(alu(choice)),
        4..6 => Body::LoadStore(load_store(choice)),
        6 => Body::Texture(texture(choice)),
        _ if choice.below(4) == 0 => Body::Barrier(Barrier { out_of_order: choice.below(16) as u8 }),
        _ => Body::Texture(texture(choice)),
    }
}

/// A bundle whose next tag is any.
pub fn bundle(choice: &mut Choice) -> Bundle {
    Bundle { next: choice.of(&Tag::ALL[1..]), body: body(choice) }
}

/// A program with matching tags and branches to its bundles.
pub fn program(choice: &mut Choice, length: usize, is_accepted: impl Fn(&Body) -> bool) -> Vec<Bundle> {
    let mut bundles = Vec::new();
    while bundles.len() < length {
        let body = body(choice);
        if is_accepted(&body) {
            bundles.push(Bundle { next: Tag::Break, body });
        }
    }
    let tags: Vec<_> = bundles.iter().map(Bundle::tag).collect();
    for (bundle, &next) in bundles.iter_mut().zip(&tags[1..]) {
        bundle.next = next;
    }
    let lengths = bundles.iter().map(|bundle| bundle.quadwords() as i32);
    let starts: Vec<_> = lengths.clone().scan(0, |end, length| Some(std::mem::replace(end, *end + length))).collect();
    let lengths: Vec<_> = lengths.collect();
    for (index, bundle) in bundles.iter_mut().enumerate() {
        let Body::Alu(AluBundle { branch: Some(branch), .. }) = &mut bundle.body else { continue };
        let found = choice.below(length as u32) as usize;
        let distance = starts[found] - starts[index] - lengths[index];
        match branch {
            Branch::Jump { target, offset, .. } | Branch::Conditional { target, offset, .. } => {
                (*target, *offset) = (tags[found], distance as i8);
            }
            Branch::Extended { target, offset, .. } => (*target, *offset) = (tags[found], distance),
        }
    }
    bundles
}
