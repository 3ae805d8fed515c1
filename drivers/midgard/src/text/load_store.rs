//! Load/store instructions as text.

use super::Printer;
use super::alu::{component_name, swizzle};
use super::number::offset;
use crate::isa::alu::Expand;
use crate::isa::load_store::{Class, LoadStore, LoadStoreBundle, Operand};
use crate::isa::{LoadStoreRegister, Register, Role, Swizzle, Width};

use std::fmt::{Result, Write};

/// The part of the offset that belongs to the attribute or selector; the rest is that of the vertex.
const VERTEX_BITS: u32 = 9;

fn written_register(register: Register) -> String {
    let index = register.index_in_role();
    match register.role() {
        Role::LoadStore => format!("AL{index}"),
        Role::Texture => format!("AT{index}"),
        Role::Condition => "PC_SP".to_owned(),
        _ => format!("R{}", register.number()),
    }
}

fn operand(operand: Operand) -> String {
    format!("{}.{}", operand.register.name(), component_name(operand.component.into()))
}

/// The mask, with the selector of each written component.
fn mask(mask: u8, swizzle: Swizzle) -> String {
    let name = |index| if mask >> index & 1 != 0 { component_name(swizzle.get(index)) } else { '~' };
    (0..4).map(name).collect()
}

fn shift(shift: u8) -> String {
    if shift == 0 { String::new() } else { format!(" << {shift}") }
}

/// The mask of a store, with two bits for a component.
fn stored_mask(mask: u8) -> u32 {
    (0..4).filter(|index| mask >> index & 1 != 0).fold(0, |bits, index| bits | 3 << (2 * index))
}

impl Printer {
    pub(super) fn load_store(&mut self, f: &mut dyn Write, bundle: &LoadStoreBundle) -> Result {
        for instruction in bundle.0.iter().flatten() {
            self.load_store_instruction(f, instruction)?;
        }
        Ok(())
    }

    fn load_store_instruction(&mut self, f: &mut dyn Write, instruction: &LoadStore) -> Result {
        let class = instruction.op.row().class;
        if class == Class::Trap {
            return writeln!(f, "{} 0x{:X}", instruction.op.row().name, instruction.offset);
        }
        write!(f, "{}{} {}", instruction.op.row().name, suffixes(instruction), data(instruction))?;
        if class == Class::Uniform {
            write!(f, "{}", uniform(instruction))?;
        }
        if class.has_address() {
            write!(f, ", {}", self.address(instruction))?;
        }
        if class.is_conversion() {
            let selectors = swizzle(instruction.swizzle, Expand::None, Width::W32, 0xff);
            write!(f, ", {}{selectors}", instruction.argument.register.name())?;
        }
        if let Some(value) = instruction.atomic_operand() {
            write!(f, ", {}", operand(value))?;
        }
        if class == Class::CompareExchange {
            write!(f, ", {}", operand(instruction.index))?;
        }
        if class == Class::Special || class.has_attribute() {
            let index = operand(instruction.index);
            let distance = offset(instruction.offset >> VERTEX_BITS);
            write!(f, ", {index}{}{distance}", shift(instruction.shift))?;
        }
        if class.has_attribute() {
            write!(f, "{}", vertex(instruction))?;
        }
        if matches!(class, Class::Pack | Class::Unpack) {
            write!(f, ", 0x{:X}", instruction.offset << 4 | i32::from(instruction.shift))?;
        }
        if !class.is_store() {
            self.write_register(instruction.register);
        }
        writeln!(f)
    }

    fn address(&self, instruction: &LoadStore) -> String {
        let mut terms = Vec::new();
        if instruction.argument.register != LoadStoreRegister::Zero || self.options.verbose {
            let component = component_name(instruction.argument.component.into());
            let width = if instruction.is_wide { 64 } else { 32 };
            terms.push(format!("{}.u{width}.{component}", instruction.argument.register.name()));
        }
        let has_index = instruction.op.row().class != Class::CompareExchange;
        if has_index && instruction.index.register != LoadStoreRegister::Zero {
            let format = instruction.index_format.name();
            let component = component_name(instruction.index.component.into());
            let register = instruction.index.register.name();
            terms.push(format!("{register}{format}.{component}{}", shift(instruction.shift)));
        }
        terms.join(" + ") + &offset(instruction.offset)
    }
}

/// The suffixes of the name.
fn suffixes(instruction: &LoadStore) -> String {
    let class = instruction.op.row().class;
    if class.has_attribute() {
        let format = instruction.index_format.code();
        let infers = if format & 1 != 0 { ".a32" } else { "" };
        let table = match (class, format >> 1) {
            (Class::Attribute, 1) => ".secondary",
            (Class::Varying | Class::StoreVarying, 0) => ".primary",
            _ => "",
        };
        return format!("{infers}{table}");
    }
    match class {
        Class::Cubemap | Class::Project if instruction.is_wide => ".f32".to_owned(),
        Class::Cubemap | Class::Project => ".f16".to_owned(),
        _ => String::new(),
    }
}

/// The register that is written or stored.
fn data(instruction: &LoadStore) -> String {
    let class = instruction.op.row().class;
    if let Some(register) = instruction.stored_register() {
        let selectors = swizzle(instruction.swizzle, Expand::None, Width::W32, stored_mask(instruction.mask));
        return format!("{}{selectors}", register.name());
    }
    let selects =
        !class.is_atomic() && (!class.is_conversion() || matches!(class, Class::Address | Class::ImageAddress));
    let selectors = if selects { instruction.swizzle } else { Swizzle::IDENTITY };
    format!("{}.{}", written_register(instruction.register), mask(instruction.mask, selectors))
}

/// The buffer and the index of a load of uniforms.
fn uniform(instruction: &LoadStore) -> String {
    let buffer = match instruction.uniform_buffer() {
        Some(number) => number.to_string(),
        None => operand(instruction.argument),
    };
    let index = operand(instruction.index);
    format!(", {buffer}, {index}{}{}", shift(instruction.shift), offset(instruction.offset >> 2))
}

/// The vertex of an attribute, or the coordinates of an image.
fn vertex(instruction: &LoadStore) -> String {
    let (register, component) = (instruction.argument.register.name(), instruction.argument.component.into());
    let component = component_name(component);
    if instruction.op.row().class.is_image() {
        let width = if instruction.is_wide { 64 } else { 32 };
        return format!(", {register}.u{width}.{component}");
    }
    let unused = 32 - VERTEX_BITS;
    let distance = if instruction.is_wide { offset(instruction.offset << unused >> unused) } else { String::new() };
    format!(", {register}.{component}{distance}")
}
