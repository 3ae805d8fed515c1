//! Operands as text.

use super::line::Line;
use super::number::general;
use crate::isa::{
    AccessMode, Destination, File, Immediate, Operand, Region, Register, Source, Swizzle, Type, VerticalStride,
    WriteMask, arf, expand_restricted_float,
};

/// The column of the comment with the value of a constant.
const COMMENT_COLUMN: usize = 48;

/// The kinds of architecture registers whose names have a number.
pub(super) const ARCHITECTURE_NAMES: [(u8, &str); 10] = [
    (arf::ADDRESS, "a"),
    (arf::ACCUMULATOR, "acc"),
    (arf::FLAG, "f"),
    (arf::MASK, "mask"),
    (arf::MASK_STACK, "ms"),
    (arf::MASK_STACK_DEPTH, "msd"),
    (arf::STATE, "sr"),
    (arf::CONTROL, "cr"),
    (arf::NOTIFICATION, "n"),
    (arf::TIMESTAMP, "tm"),
];

/// The type and region of the thread dependency register, which are not written.
pub(super) const DEPENDENCY_TYPE: Type = Type::Uw;

/// The name of a direct register.
fn register_name(file: File, number: u8) -> String {
    if file == File::Grf {
        return format!("g{number}");
    }
    match number {
        arf::NULL => "null".to_owned(),
        arf::IP => "ip".to_owned(),
        arf::THREAD_DEPENDENCY => "tdr0".to_owned(),
        _ => match ARCHITECTURE_NAMES.iter().find(|(kind, _)| *kind == number & 0xf0) {
            Some((_, name)) => format!("{name}{}", number & 15),
            None => format!("ARF{number}"),
        },
    }
}

/// A register with the element in it, if that is not the first one or `always`.
fn place(register: Register, ty: Type, always: bool) -> String {
    match register {
        Register::Direct { file, number, offset } => {
            let name = register_name(file, number);
            if offset == 0 && !always { name } else { format!("{name}.{}", u32::from(offset) / ty.size()) }
        }
        Register::Indirect { address, offset } => {
            let word = if address == 0 { String::new() } else { format!(".{address}") };
            let offset = if offset == 0 { String::new() } else { format!(" {}", offset as u16 & 0x3ff) };
            format!("g[a0{word}{offset}]")
        }
    }
}

fn is_dependency(register: Register, ty: Type) -> bool {
    register == Register::architecture(arf::THREAD_DEPENDENCY) && ty == DEPENDENCY_TYPE
}

pub(super) const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

fn mask(mask: WriteMask) -> String {
    if mask == WriteMask::XYZW {
        return String::new();
    }
    let written = (0..4).filter(|&component| mask.contains(component)).map(|component| COMPONENTS[component as usize]);
    std::iter::once('.').chain(written).collect()
}

fn swizzle(swizzle: Swizzle) -> String {
    if swizzle == Swizzle::IDENTITY {
        return String::new();
    }
    let count = if swizzle == Swizzle::replicate(swizzle.get(0)) { 1 } else { 4 };
    let components = (0..count).map(|component| COMPONENTS[swizzle.get(component) as usize]);
    std::iter::once('.').chain(components).collect()
}

fn vertical(stride: VerticalStride) -> String {
    stride.elements().map_or("VxH".to_owned(), |elements| elements.to_string())
}

pub(super) fn destination(destination: &Destination, access: AccessMode) -> String {
    let Destination { register, ty, stride, .. } = *destination;
    if is_dependency(register, ty) && stride.elements() == 1 && destination.mask == WriteMask::XYZW {
        return "tdr0".to_owned();
    }
    let stride = if access == AccessMode::Align16 { 1 } else { stride.elements() };
    format!("{}<{stride}>{}{}", place(register, ty, false), mask(destination.mask), ty.name())
}

/// A source in registers. `is_ternary`: whether the instruction has three sources.
pub(super) fn operand(operand: &Operand, is_ternary: bool) -> String {
    let Operand { register, ty, region, negate, absolute } = *operand;
    let sign = if negate { "-" } else { "" };
    let absolute = if absolute { "(abs)" } else { "" };
    if is_dependency(register, ty) && region == Region::SCALAR {
        return format!("{sign}{absolute}tdr0");
    }
    let place = place(register, ty, is_ternary && region == Region::SCALAR);
    let region = match region {
        Region::Align1 { vertical: rows, width, horizontal } => {
            format!("<{},{},{}>", vertical(rows), width.elements(), horizontal.elements())
        }
        Region::Align16 { swizzle: components, .. } if is_ternary => format!("<4,4,1>{}", swizzle(components)),
        Region::Align16 { vertical: rows, swizzle: components } => {
            format!("<{}>{}", vertical(rows), swizzle(components))
        }
    };
    format!("{sign}{absolute}{place}{region}{}", ty.name())
}

fn immediate(line: &mut Line, immediate: Immediate) {
    match immediate {
        Immediate::Ud(bits) => line.put(&format!("0x{bits:08x}UD")),
        Immediate::D(value) => line.put(&format!("{value}D")),
        Immediate::Uw(bits) => line.put(&format!("0x{bits:04x}UW")),
        Immediate::W(value) => line.put(&format!("{value}W")),
        Immediate::Uv(bits) => line.put(&format!("0x{bits:08x}UV")),
        Immediate::V(bits) => line.put(&format!("0x{bits:08x}V")),
        Immediate::Vf(bits) => {
            line.put(&format!("0x{bits:x}VF"));
            line.pad(COMMENT_COLUMN);
            let values = bits.to_le_bytes().map(|bits| general(expand_restricted_float(bits).into()) + "F");
            line.put(&format!("/* [{}]VF */", values.join(", ")));
        }
        Immediate::F(bits) => {
            line.put(&format!("0x{bits:x}F"));
            line.pad(COMMENT_COLUMN);
            line.put(&format!(" /* {}F */", general(f32::from_bits(bits).into())));
        }
        Immediate::Dim(bits) => {
            line.put(&format!("0x{bits:x}F"));
            line.pad(COMMENT_COLUMN);
            line.put(&format!("/* {}F */", general(f64::from_bits(bits))));
        }
    }
}

/// A source of an instruction with up to two sources.
pub(super) fn source(line: &mut Line, source: &Source) {
    match source {
        Source::Register(register) => line.put(&operand(register, false)),
        Source::Immediate(constant) => immediate(line, *constant),
    }
}
