//! Bundles of the ALU as text.

use super::Printer;
use super::constant::{Reading, constant};
use super::number::general;
use crate::isa::alu::{
    AluBundle, AluOp, AluRow, Branch, Component, Condition, Constants, Expand, Output, OutputModifier, Property,
    Scalar, ScalarOperand, ScalarSource, Shrink, SourceModifier, Unit, UnitInstruction, Vector, VectorOperand,
    VectorSource, repeat,
};
use crate::isa::{Register, Role, Swizzle, Width};

use half::f16;
use std::fmt::{Result, Write};

/// The names of components.
const COMPONENTS: &[u8; 16] = b"xyzwefghijklmnop";

/// The name of a component; numbers beyond the last are invalid.
pub(super) fn component_name(index: u32) -> char {
    COMPONENTS.get(index as usize).map_or('?', |&name| name.into())
}

/// The first component of each half of a source, by the number of components of the register.
fn halves(expand: Expand, components: u32) -> [u32; 2] {
    let (half, quarter) = (components / 2, components / 4);
    match expand {
        Expand::None => [0, half],
        Expand::ReplicateLow => [0, 0],
        Expand::ReplicateHigh => [half, half],
        Expand::Swap => [half, 0],
        Expand::Low => [0, quarter],
        Expand::High => [half, half + quarter],
        Expand::LowSwap => [quarter, 0],
        Expand::HighSwap => [half + quarter, half],
    }
}

/// The width of the components of a source.
fn source_width(expand: Expand, width: Width) -> Width {
    if expand.expands() { width.half().unwrap_or(width) } else { width }
}

/// The component that a lane reads. With 64 bits, two selectors select a component; for expanded components of 32 bits
/// this is not known.
fn selected(swizzle: Swizzle, expand: Expand, width: Width, lane: u32) -> u32 {
    let [first, second] = halves(expand, source_width(expand, width).components());
    match width {
        Width::W8 if lane < 8 => first + swizzle.get(lane / 2) * 2 + lane % 2,
        Width::W8 => second + swizzle.get(lane / 2) * 2 + lane % 2,
        Width::W16 if lane >= 4 => second + swizzle.get(lane),
        Width::W64 if !expand.expands() => swizzle.get(lane * 2) / 2,
        _ => first + swizzle.get(lane),
    }
}

/// The text of selectors, for the parts in a mask of two bytes each.
pub(super) fn swizzle(swizzle: Swizzle, expand: Expand, width: Width, mask: u32) -> String {
    if expand == Expand::None && swizzle == Swizzle::IDENTITY {
        return String::new();
    }
    let mut text = String::from(".");
    let is_written = |part: u32| mask >> part & 1 != 0;
    if width == Width::W64 {
        wide_swizzle(&mut text, swizzle, expand, is_written);
        return text;
    }
    let parts = (width.bits() / 16).max(1);
    for lane in (0..8 / parts).filter(|lane| is_written(lane * parts)) {
        if width == Width::W8 {
            text.extend([0, 1].map(|byte| component_name(selected(swizzle, expand, width, lane * 2 + byte))));
        } else {
            text.push(component_name(selected(swizzle, expand, width, lane)));
        }
    }
    text
}

/// The text of selectors of components of 64 bits.
fn wide_swizzle(text: &mut String, swizzle: Swizzle, expand: Expand, is_written: impl Fn(u32) -> bool) {
    for lane in (0..2).filter(|lane| is_written(lane * 4)) {
        match expand {
            Expand::Low => text.push(component_name(swizzle.get(lane) / 2)),
            Expand::High => text.push(component_name((swizzle.get(lane + 2) + 2) / 2)),
            _ => match (swizzle.get(lane * 2), swizzle.get(lane * 2 + 1)) {
                (low, high) if high == low + 1 => text.push(if low < 2 { 'X' } else { 'Y' }),
                (low, high) => text.extend(['[', component_name(low), component_name(high), ']']),
            },
        }
    }
}

/// The text of the mask of a destination.
fn mask(vector: &Vector) -> String {
    if vector.shrink.is_none() && vector.mask == 0xff {
        return String::new();
    }
    let parts = (vector.width.bits() / 16).max(1);
    let group = (1_u32 << parts) - 1;
    let first = if vector.shrink == Some(Shrink::Upper) { vector.width.components() } else { 0 };
    let mut text = String::from(".");
    let mut is_partial = false;
    for lane in 0..8 / parts {
        let bits = u32::from(vector.mask) >> (lane * parts) & group;
        is_partial |= bits != 0 && bits != group;
        match vector.width {
            _ if bits & 1 == 0 => {}
            Width::W8 => text.extend([lane * 2, lane * 2 + 1].map(component_name)),
            _ => text.push(component_name(first + lane)),
        }
    }
    if is_partial {
        text += &format!(" /* {:X} */", vector.mask);
    }
    text
}

fn modifier(modifier: SourceModifier, expands: bool) -> String {
    match modifier {
        SourceModifier::Integer(extension) if expands => extension.name().to_owned(),
        SourceModifier::Integer(_) => String::new(),
        SourceModifier::Float { abs, negate } => {
            let part = |is_present: bool, text: &'static str| if is_present { text } else { "" };
            [part(abs, ".abs"), part(negate, ".neg"), part(expands, ".widen")].concat()
        }
    }
}

fn output(modifier: OutputModifier, is_narrowed: bool) -> String {
    match modifier {
        OutputModifier::Float(clamp) => format!("{}{}", if is_narrowed { ".shrink" } else { "" }, clamp.name()),
        OutputModifier::Integer(narrow) if is_narrowed => narrow.name().to_owned(),
        OutputModifier::Integer(_) => String::new(),
    }
}

fn immediate(row: &AluRow, value: u16) -> String {
    if row.input.is_integer() { format!("#{value}") } else { format!("#{}", general(f16::from_bits(value).to_f64())) }
}

fn type_name(row: &AluRow) -> char {
    match row.output {
        Output::Float => 'f',
        Output::Integer => 'i',
    }
}

impl Printer {
    pub(super) fn alu(&mut self, f: &mut dyn Write, bundle: &AluBundle) -> Result {
        let constants = bundle.constants.unwrap_or(Constants([0; 4]));
        for (unit, instruction) in bundle.instructions() {
            match instruction {
                UnitInstruction::Vector(vector) => self.vector(f, unit, vector, &constants)?,
                UnitInstruction::Scalar(scalar) => self.scalar(f, unit, scalar, &constants)?,
            }
        }
        if let Some(branch) = &bundle.branch {
            self.branch(f, branch)?;
        }
        if let Some(Constants([x, y, z, w])) = bundle.constants {
            writeln!(f, "uconstants 0x{x:X}, 0x{y:X}, 0x{z:X}, 0x{w:X}")?;
        }
        if bundle.is_writeout { writeln!(f, "writeout") } else { Ok(()) }
    }

    /// Marks a register as written, and thereby not a uniform.
    pub(super) fn write_register(&mut self, register: Register) {
        if register.number() < 16 {
            self.written |= 1 << register.number();
        }
    }

    fn register(&self, register: Register, is_destination: bool) -> String {
        let number = register.number();
        let index = register.index_in_role();
        match register.role() {
            Role::WorkOrUniform if self.written >> number & 1 == 0 => format!("U{}", 23 - number),
            Role::Uniform => format!("U{}", 23 - number),
            Role::Pipeline => format!("TMP{index}"),
            Role::LoadStore => format!("AL{index}"),
            Role::Texture if is_destination => format!("AT{index}"),
            Role::Texture => format!("TA{index}"),
            Role::Condition if !is_destination => "PC_SP".to_owned(),
            _ => format!("R{number}"),
        }
    }

    fn name(&self, unit: Unit, op: AluOp) -> String {
        let unit = if self.options.verbose { format!("{}.", unit.name()) } else { String::new() };
        format!("{unit}{}.{}", op.row().name, type_name(op.row()))
    }

    fn vector(&mut self, f: &mut dyn Write, unit: Unit, vector: &Vector, constants: &Constants) -> Result {
        let row = vector.op.row();
        self.write_register(vector.destination);
        write!(
            f,
            "{}{} {}{}{}, {}, ",
            self.name(unit, vector.op),
            vector.width.bits(),
            self.register(vector.destination, true),
            mask(vector),
            output(vector.output, vector.shrink.is_some()),
            self.vector_source(vector, &vector.first, row.property == Property::Doubles, constants),
        )?;
        match &vector.second {
            VectorOperand::Source(source) => writeln!(f, "{}", self.vector_source(vector, source, false, constants)),
            VectorOperand::Immediate(value) => writeln!(f, "{}", immediate(row, *value)),
        }
    }

    fn vector_source(&self, vector: &Vector, source: &VectorSource, is_doubled: bool, constants: &Constants) -> String {
        let (width, expand) = (vector.width, source.expand);
        if source.register == Register::CONSTANTS {
            return vector_constants(vector, source, constants);
        }
        let parts = width.bits() / 16;
        let mask = match u32::from(vector.op.row().reduces).min(width.components()) * parts {
            0 if vector.op.row().reduces == 0 => vector.mask.into(),
            read => (1 << read) - 1,
        };
        format!(
            "{}{}{}{}",
            self.register(source.register, false),
            swizzle(source.swizzle, expand, width, mask),
            if is_doubled { ".x2" } else { "" },
            modifier(source.modifier, expand.expands())
        )
    }

    fn scalar(&mut self, f: &mut dyn Write, unit: Unit, scalar: &Scalar, constants: &Constants) -> Result {
        let row = scalar.op.row();
        self.write_register(scalar.destination);
        write!(
            f,
            "{}32 {}.{}{}, {}, ",
            self.name(unit, scalar.op),
            self.register(scalar.destination, true),
            component_name(scalar.component.index().into()),
            output(scalar.output, !scalar.component.is_full()),
            self.scalar_source(row, &scalar.first, constants),
        )?;
        match &scalar.second {
            ScalarOperand::Source(source) => writeln!(f, "{}", self.scalar_source(row, source, constants)),
            ScalarOperand::Immediate(value) => writeln!(f, "{}", immediate(row, *value)),
        }
    }

    fn scalar_source(&self, row: &AluRow, source: &ScalarSource, constants: &Constants) -> String {
        let width = match source.component {
            Component::Full(_) => Width::W32,
            Component::Half(_) => Width::W16,
        };
        let index = source.component.index().into();
        if source.register == Register::CONSTANTS {
            // Mesa does not apply the extension of integers here.
            let reading = Reading { width, expands: false, modifier: source.modifier, input: row.input };
            return format!("#{}", constant(constants, index, reading));
        }
        let expands = !source.component.is_full();
        let register = self.register(source.register, false);
        format!("{register}.{}{}", component_name(index), modifier(source.modifier, expands))
    }

    fn branch(&mut self, f: &mut dyn Write, branch: &Branch) -> Result {
        match *branch {
            Branch::Jump { mode, .. } => write!(f, "br.uncond{}", mode.name())?,
            Branch::Conditional { op, condition, .. } => write!(f, "br.{}.{}", op.name(), condition.name())?,
            Branch::Extended { op, mode, conditions, .. } => {
                write!(f, "brx{}.{}.", mode.name(), op.name())?;
                match Condition::ALL.iter().find(|&&condition| repeat(condition) == conditions) {
                    Some(condition) => write!(f, "{}", condition.name())?,
                    None => write!(f, "lut{conditions:X}")?,
                }
            }
        }
        writeln!(f, " {:+} -> {}", branch.offset(), branch.target().name())
    }
}

fn vector_constants(vector: &Vector, source: &VectorSource, constants: &Constants) -> String {
    let row = vector.op.row();
    let lanes = match row.reduces {
        0 => vector.components(),
        reduces => (1 << reduces) - 1,
    };
    let reading = Reading {
        width: source_width(source.expand, vector.width),
        expands: source.expand.expands(),
        modifier: source.modifier,
        input: row.input,
    };
    let read = |lane| constant(constants, selected(source.swizzle, source.expand, vector.width, lane), reading);
    let values: Vec<_> = (0..vector.width.components()).filter(|lane| lanes >> lane & 1 != 0).map(read).collect();
    if values.len() > 1 { format!("<{}>", values.join(", ")) } else { format!("#{}", values.concat()) }
}
