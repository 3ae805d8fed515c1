//! Conversion of instructions to words.

use super::bits::Packer;
use super::compact;
use super::message::DESCRIPTOR_BITS;
use super::operand::GENERAL_REGISTERS;
use super::{
    AccessMode, Chip, Descriptor, Destination, Detail, File, Flag, Form, Immediate, ImmediateType, Instruction,
    InvalidInstruction, Message, Opcode, Operand, PredicateControl, Region, Register, Source, WriteMask,
};

/// The number of the file of immediates.
pub(super) const IMMEDIATE_FILE: u32 = 3;

type Result<T = ()> = std::result::Result<T, InvalidInstruction>;

/// Appends the words of an instruction: four, or two if it is compacted. After an error, the words are as before.
pub fn encode(instruction: &Instruction, chip: Chip, words: &mut Vec<u32>) -> Result {
    let native = native(instruction, chip)?;
    if instruction.compacted {
        let bits = if instruction.opcode == Opcode::Nop {
            compact::NOP
        } else {
            compact::compress(native, instruction.opcode.form()).ok_or(InvalidInstruction::NotCompactable)?
        };
        words.extend([bits as u32, (bits >> 32) as u32]);
    } else {
        words.extend([0, 32, 64, 96].map(|low| (native >> low) as u32));
    }
    Ok(())
}

/// The words of an instruction without regard to compaction, except for the type of an absent source.
fn native(instruction: &Instruction, chip: Chip) -> Result<u128> {
    let Instruction { opcode, access, .. } = *instruction;
    if !opcode.is_in(chip) {
        return Err(InvalidInstruction::Opcode(opcode.row().code));
    }
    check_form(instruction)?;
    let mut word = Packer::default();
    word.put("opcode", 6, 0, opcode.row().code)?;
    if opcode.form() == Form::Nop {
        let plain = Instruction { compacted: instruction.compacted, ..Instruction::nop() };
        return if *instruction == plain { Ok(word.0) } else { Err(InvalidInstruction::Conflict("fields of nop")) };
    }
    control(&mut word, instruction)?;
    let destination = instruction.destination.as_ref();
    if opcode.form() == Form::Ternary {
        ternary(&mut word, instruction)?;
    } else if let Some(destination) = destination {
        put_destination(&mut word, destination, access)?;
        let is_wide = matches!(instruction.sources.first(), Some(Source::Immediate(Immediate::Dim(_))));
        if !is_wide {
            put_flag(&mut word, instruction.flag, 89)?;
        } else if instruction.predicate.is_some()
            || instruction.condition.is_some()
            || instruction.flag != Flag::default()
        {
            return Err(InvalidInstruction::Conflict("a flag beside a constant of 64 bits"));
        }
        word.flag(47, instruction.group.nibble);
        sources(&mut word, instruction)?;
    } else {
        put_flag(&mut word, instruction.flag, 89)?;
        word.flag(47, instruction.group.nibble);
    }
    Ok(word.0)
}

/// Checks that the instruction has the operands of its opcode.
fn check_form(instruction: &Instruction) -> Result {
    let form = instruction.opcode.form();
    if instruction.sources.len() != form.sources() {
        return Err(InvalidInstruction::Sources(instruction.sources.len(), form.sources()));
    }
    match &instruction.destination {
        None if form.has_destination() => return Err(InvalidInstruction::Conflict("an absent destination")),
        Some(_) if !form.has_destination() => return Err(InvalidInstruction::Conflict("a destination")),
        _ => {}
    }
    if !instruction.has_form() {
        return Err(InvalidInstruction::Conflict("a detail of another opcode"));
    }
    let is_condition_free = matches!(form, Form::Math | Form::Send);
    if is_condition_free && instruction.condition.is_some() {
        return Err(InvalidInstruction::Conflict("a condition of a function or message"));
    }
    if form == Form::Send && instruction.saturate {
        return Err(InvalidInstruction::Conflict("saturation of a message"));
    }
    if form == Form::Ternary && instruction.access == AccessMode::Align1 {
        return Err(InvalidInstruction::Conflict("align1 with three sources"));
    }
    Ok(())
}

fn control(word: &mut Packer, instruction: &Instruction) -> Result {
    let access = instruction.access;
    word.put("access mode", 8, 8, access.code())?;
    word.flag(9, instruction.no_mask);
    word.flag(10, instruction.dependency.no_clear);
    word.flag(11, instruction.dependency.no_check);
    word.put("quarter", 13, 12, instruction.group.quarter)?;
    word.put("thread control", 15, 14, instruction.thread.code())?;
    if let Some(predicate) = instruction.predicate {
        word.put("predicate control", 19, 16, predicate_code(predicate.control, access)?)?;
        word.flag(20, predicate.inverse);
    }
    word.put("execution size", 23, 21, instruction.size.code())?;
    let shared = match &instruction.detail {
        Detail::Math(function) => function.code(),
        Detail::Message(message) => message.function.code(),
        Detail::None | Detail::Branch(_) => instruction.condition.map_or(0, |condition| condition.code()),
    };
    word.put("condition", 27, 24, shared)?;
    word.flag(28, instruction.accumulator_write);
    word.flag(30, instruction.breakpoint);
    word.flag(31, instruction.saturate);
    Ok(())
}

fn predicate_code(control: PredicateControl, access: AccessMode) -> Result<u32> {
    control.code(access).ok_or(InvalidInstruction::Conflict("a predicate control of the other access mode"))
}

fn put_flag(word: &mut Packer, flag: Flag, low: u32) -> Result {
    word.put("flag half", low, low, flag.half)?;
    word.put("flag register", low + 1, low + 1, flag.register)
}

/// Returns the number of a direct register. Its offset must be a multiple of the size of its elements.
fn register_number(file: File, number: u8, offset: u8, size: u32) -> Result<u8> {
    if file == File::Grf && number >= GENERAL_REGISTERS {
        return Err(InvalidInstruction::Field("register", number.into()));
    }
    if !u32::from(offset).is_multiple_of(size) {
        return Err(InvalidInstruction::Field("offset", offset.into()));
    }
    Ok(number)
}

/// Returns the multiple of a unit that an offset is.
fn scaled(offset: u8, unit: u8) -> Result<u8> {
    let is_valid = offset.is_multiple_of(unit);
    if is_valid { Ok(offset / unit) } else { Err(InvalidInstruction::Field("offset", offset.into())) }
}

/// Returns the ten bits of the offset of an indirect register.
fn indirect_offset(offset: i16, access: AccessMode) -> Result<u32> {
    let is_aligned = access == AccessMode::Align1 || offset % 16 == 0;
    if (-512..512).contains(&offset) && is_aligned {
        Ok(u32::from(offset as u16 & 0x3ff))
    } else {
        Err(InvalidInstruction::Field("indirect offset", offset as u32))
    }
}

fn put_destination(word: &mut Packer, destination: &Destination, access: AccessMode) -> Result {
    let Destination { register, ty, stride, mask } = *destination;
    word.put("type", 36, 34, ty.code())?;
    word.put("stride", 62, 61, stride.code())?;
    if access == AccessMode::Align1 && mask != WriteMask::XYZW {
        return Err(InvalidInstruction::Conflict("a write mask in align1"));
    }
    match register {
        Register::Direct { file, number, offset } => {
            word.put("file", 33, 32, file.code())?;
            word.put("register", 60, 53, register_number(file, number, offset, ty.size())?)?;
            match access {
                AccessMode::Align1 => word.put("offset", 52, 48, offset)?,
                AccessMode::Align16 => word.put("offset", 52, 52, scaled(offset, 16)?)?,
            }
        }
        Register::Indirect { address, offset } => {
            word.put("file", 33, 32, File::Grf.code())?;
            word.flag(63, true);
            word.put("address register", 60, 58, address)?;
            let offset = indirect_offset(offset, access)?;
            match access {
                AccessMode::Align1 => word.put("indirect offset", 57, 48, offset)?,
                AccessMode::Align16 => word.put("indirect offset", 57, 52, offset >> 4)?,
            }
        }
    }
    if access == AccessMode::Align16 {
        word.put("write mask", 51, 48, mask.0)?;
    }
    Ok(())
}

/// Sets the 32 bits of a source from bit `low` on, without those of its file and type.
fn put_operand(word: &mut Packer, operand: &Operand, access: AccessMode, low: u32) -> Result {
    let at = |bit: u32| low + bit;
    word.flag(at(13), operand.absolute);
    word.flag(at(14), operand.negate);
    match (operand.region, access) {
        (Region::Align1 { vertical, width, horizontal }, AccessMode::Align1) => {
            word.put("vertical stride", at(24), at(21), vertical.code())?;
            word.put("width", at(20), at(18), width.code())?;
            word.put("horizontal stride", at(17), at(16), horizontal.code())?;
        }
        (Region::Align16 { vertical, swizzle }, AccessMode::Align16) => {
            word.put("vertical stride", at(24), at(21), vertical.code())?;
            word.put("swizzle", at(19), at(16), swizzle.0 >> 4)?;
            word.put("swizzle", at(3), at(0), swizzle.0 & 15)?;
        }
        _ => return Err(InvalidInstruction::Conflict("a region of the other access mode")),
    }
    match operand.register {
        Register::Direct { file, number, offset } => {
            word.put("register", at(12), at(5), register_number(file, number, offset, operand.ty.size())?)?;
            match access {
                AccessMode::Align1 => word.put("offset", at(4), at(0), offset),
                AccessMode::Align16 => word.put("offset", at(4), at(4), scaled(offset, 16)?),
            }
        }
        Register::Indirect { address, offset } => {
            word.flag(at(15), true);
            word.put("address register", at(12), at(10), address)?;
            let offset = indirect_offset(offset, access)?;
            match access {
                AccessMode::Align1 => word.put("indirect offset", at(9), at(0), offset),
                AccessMode::Align16 => word.put("indirect offset", at(9), at(4), offset >> 4),
            }
        }
    }
}

fn put_file_and_type(word: &mut Packer, index: usize, file: u32, ty: u32) -> Result {
    let low = 37 + 5 * index as u32;
    word.put("file", low + 1, low, file)?;
    word.put("type", low + 4, low + 2, ty)
}

fn operand_file(operand: &Operand) -> u32 {
    match operand.register {
        Register::Direct { file, .. } => file.code(),
        Register::Indirect { .. } => File::Grf.code(),
    }
}

fn put_register_source(word: &mut Packer, index: usize, operand: &Operand, access: AccessMode) -> Result {
    put_file_and_type(word, index, operand_file(operand), operand.ty.code())?;
    put_operand(word, operand, access, 64 + 32 * index as u32)
}

fn sources(word: &mut Packer, instruction: &Instruction) -> Result {
    let access = instruction.access;
    let last = instruction.sources.len().saturating_sub(1);
    for (index, source) in instruction.sources.iter().enumerate() {
        match source {
            Source::Register(operand) => put_register_source(word, index, operand, access)?,
            Source::Immediate(_) if index != last || instruction.detail != Detail::None => {
                return Err(InvalidInstruction::Conflict("a constant as this source"));
            }
            Source::Immediate(immediate) => {
                let ty = immediate.ty().code();
                put_file_and_type(word, index, IMMEDIATE_FILE, ty)?;
                if index == 0 && !instruction.compacted {
                    // The absent second source has the type of the first one.
                    put_file_and_type(word, 1, File::Arf.code(), ty)?;
                }
                word.put("constant", 127, 96, immediate.word())?;
                let is_dim = instruction.opcode == Opcode::Dim;
                match *immediate {
                    Immediate::Dim(bits) if is_dim => word.put("constant", 95, 64, bits as u32)?,
                    Immediate::Dim(_) => return Err(InvalidInstruction::Conflict("a constant of 64 bits")),
                    Immediate::F(_) if is_dim => return Err(InvalidInstruction::Conflict("a constant of 32 bits")),
                    _ => {}
                }
            }
        }
    }
    match &instruction.detail {
        Detail::None | Detail::Math(_) => Ok(()),
        Detail::Message(message) => put_message(word, message, access),
        Detail::Branch(branch) => {
            put_file_and_type(word, 1, IMMEDIATE_FILE, branch_type(instruction.opcode).code())?;
            word.put("branch", 111, 96, branch.jip as u16)?;
            if branch.uip != 0 && !instruction.opcode.has_uip() {
                return Err(InvalidInstruction::Conflict("an update instruction pointer"));
            }
            word.put("branch", 127, 112, branch.uip as u16)
        }
    }
}

/// The type of the constant that holds the targets.
pub(super) fn branch_type(opcode: Opcode) -> ImmediateType {
    match opcode {
        Opcode::Break | Opcode::Cont | Opcode::Halt => ImmediateType::D,
        _ => ImmediateType::W,
    }
}

fn put_message(word: &mut Packer, message: &Message, access: AccessMode) -> Result {
    word.flag(127, message.end_of_thread);
    match &message.descriptor {
        Descriptor::Immediate(bits) => {
            put_file_and_type(word, 1, IMMEDIATE_FILE, ImmediateType::Ud.code())?;
            word.put("descriptor", 95 + DESCRIPTOR_BITS, 96, *bits)
        }
        Descriptor::Register(operand) => put_register_source(word, 1, operand, access),
    }
}

/// The last word of an instruction with a message.
pub(crate) fn message_word(message: &Message, access: AccessMode) -> Option<u32> {
    let mut word = Packer::default();
    put_message(&mut word, message, access).ok()?;
    Some((word.0 >> 96) as u32)
}

fn ternary(word: &mut Packer, instruction: &Instruction) -> Result {
    let Some(destination) = &instruction.destination else { return Ok(()) };
    put_flag(word, instruction.flag, 33)?;
    word.flag(47, instruction.group.nibble);
    let code = |ty: super::Type| ty.three_source_code().ok_or(InvalidInstruction::Field("type", ty.code()));
    word.put("type", 45, 44, code(destination.ty)?)?;
    if destination.stride.elements() != 1 {
        return Err(InvalidInstruction::Conflict("a stride with three sources"));
    }
    let (number, offset) = ternary_register(destination.register, destination.ty)?;
    word.put("register", 63, 56, number)?;
    word.put("offset", 55, 53, offset)?;
    word.put("write mask", 52, 49, destination.mask.0)?;
    let mut ty = None;
    for (index, source) in (0..).zip(&instruction.sources) {
        let Source::Register(operand) = source else {
            return Err(InvalidInstruction::Conflict("a constant with three sources"));
        };
        if *ty.get_or_insert(operand.ty) != operand.ty {
            return Err(InvalidInstruction::Conflict("sources of different types"));
        }
        word.flag(36 + 2 * index, operand.absolute);
        word.flag(37 + 2 * index, operand.negate);
        let low = 64 + 21 * index;
        let (number, offset) = ternary_register(operand.register, operand.ty)?;
        match operand.region {
            Region::SCALAR => word.flag(low, true),
            Region::Align16 { vertical: super::VerticalStride::S4, swizzle } => {
                word.put("swizzle", low + 8, low + 1, swizzle.0)?;
            }
            _ => return Err(InvalidInstruction::Conflict("a region with three sources")),
        }
        word.put("offset", low + 11, low + 9, offset)?;
        word.put("register", low + 19, low + 12, number)?;
    }
    if let Some(ty) = ty {
        word.put("type", 43, 42, code(ty)?)?;
    }
    Ok(())
}

/// Returns the number and the offset in units of four bytes.
fn ternary_register(register: Register, ty: super::Type) -> Result<(u8, u8)> {
    match register {
        Register::Direct { file: File::Grf, number, offset } => {
            Ok((register_number(File::Grf, number, offset, ty.size())?, scaled(offset, 4)?))
        }
        _ => Err(InvalidInstruction::Conflict("this register with three sources")),
    }
}
