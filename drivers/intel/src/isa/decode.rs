//! Conversion of words to instructions.

use super::bits::{field, sign_extend, zero};
use super::compact;
use super::encode::{IMMEDIATE_FILE, branch_type};
use super::message::DESCRIPTOR_BITS;
use super::operand::GENERAL_REGISTERS;
use super::{
    AccessMode, Branch, Chip, Condition, Dependency, Descriptor, Destination, Detail, ExecutionSize, File, Flag, Form,
    Group, HorizontalStride, Immediate, ImmediateType, Instruction, InvalidInstruction, MathFunction, Message, Opcode,
    Operand, Predicate, PredicateControl, Region, Register, SharedFunction, Source, Swizzle, ThreadControl, Type,
    VerticalStride, Width, WriteMask,
};

use arrayvec::ArrayVec;

type Result<T> = std::result::Result<T, InvalidInstruction>;

/// The bit of the first word that marks compacted instructions.
const COMPACTED: u32 = 1 << 29;

/// Converts the first words to an instruction, and returns the number of its words.
pub fn decode(words: &[u32], chip: Chip) -> Result<(Instruction, usize)> {
    let first = *words.first().ok_or(InvalidInstruction::Truncated)?;
    let is_compacted = first & COMPACTED != 0;
    let length = if is_compacted { 2 } else { 4 };
    let words = words.get(..length).ok_or(InvalidInstruction::Truncated)?;
    let bits = words.iter().rev().fold(0, |bits, &word| bits << 32 | u128::from(word));
    let code = first & 0x7f;
    let opcode = Opcode::from_code(code, chip).ok_or(InvalidInstruction::Opcode(code))?;
    let instruction = if !is_compacted {
        native(bits, opcode, false)?
    } else if opcode == Opcode::Nop {
        match bits as u64 ^ compact::NOP {
            0 => Instruction { compacted: true, ..Instruction::nop() },
            bits => return Err(InvalidInstruction::Reserved("nop", bits as u32 | (bits >> 32) as u32)),
        }
    } else {
        native(compact::expand(bits as u64, opcode.form())?, opcode, true)?
    };
    Ok((instruction, length))
}

/// Returns the variant of a field, or an error.
fn known<T>(what: &'static str, value: u32, from_code: impl Fn(u32) -> Option<T>) -> Result<T> {
    from_code(value).ok_or(InvalidInstruction::Field(what, value))
}

fn bit(word: u128, index: u32) -> bool {
    field(word, index, index) != 0
}

fn native(word: u128, opcode: Opcode, compacted: bool) -> Result<Instruction> {
    let form = opcode.form();
    zero("the opcode", word, 7, 7)?;
    if form == Form::Nop {
        for low in [8, 32, 64, 96] {
            zero("nop", word, low | 31, low)?;
        }
        return Ok(Instruction::nop());
    }
    let access = known("access mode", field(word, 8, 8), AccessMode::from_code)?;
    let shared = field(word, 27, 24);
    let has_condition = !matches!(form, Form::Math | Form::Send);
    let condition = match shared {
        0 => None,
        code if has_condition => Some(known("condition", code, Condition::from_code)?),
        _ => None,
    };
    let saturate = bit(word, 31);
    if saturate && form == Form::Send {
        return Err(InvalidInstruction::Conflict("saturation of a message"));
    }
    let flag_low = if form == Form::Ternary { 33 } else { 89 };
    let control = Instruction {
        access,
        size: known("execution size", field(word, 23, 21), ExecutionSize::from_code)?,
        group: Group { quarter: field(word, 13, 12) as u8, nibble: bit(word, 47) },
        no_mask: bit(word, 9),
        dependency: Dependency { no_clear: bit(word, 10), no_check: bit(word, 11) },
        thread: known("thread control", field(word, 15, 14), ThreadControl::from_code)?,
        predicate: predicate(word, access)?,
        flag: Flag { register: bit(word, flag_low + 1).into(), half: bit(word, flag_low).into() },
        condition,
        saturate,
        accumulator_write: bit(word, 28),
        breakpoint: bit(word, 30),
        compacted,
        ..Instruction::plain(opcode)
    };
    match form {
        Form::Nop | Form::Plain => {
            zero("operands", word, 46, 32)?;
            zero("operands", word, 63, 48)?;
            zero("operands", word, 88, 64)?;
            zero("operands", word, 95, 91)?;
            zero("operands", word, 127, 96)?;
            Ok(control)
        }
        Form::Ternary => ternary(word, control),
        _ => with_operands(word, control),
    }
}

fn predicate(word: u128, access: AccessMode) -> Result<Option<Predicate>> {
    match field(word, 19, 16) {
        0 => zero("the predicate", word, 20, 20).map(|()| None),
        code => {
            let control = known("predicate control", code, |code| PredicateControl::from_code(code, access))?;
            Ok(Some(Predicate { control, inverse: bit(word, 20) }))
        }
    }
}

/// Returns the register of a number. Its offset must be a multiple of the size of its elements.
fn direct(file: File, number: u32, offset: u32, ty: Type) -> Result<Register> {
    if file == File::Grf && number >= GENERAL_REGISTERS.into() {
        return Err(InvalidInstruction::Field("register", number));
    }
    if !offset.is_multiple_of(ty.size()) {
        return Err(InvalidInstruction::Field("offset", offset));
    }
    Ok(Register::Direct { file, number: number as u8, offset: offset as u8 })
}

fn destination(word: u128, access: AccessMode) -> Result<Destination> {
    let file = known("destination file", field(word, 33, 32), File::from_code)?;
    let ty = known("type", field(word, 36, 34), Type::from_code)?;
    let is_align1 = access == AccessMode::Align1;
    let register = if bit(word, 63) {
        if file != File::Grf {
            return Err(InvalidInstruction::Field("indirect file", file.code()));
        }
        let offset = if is_align1 { field(word, 57, 48) } else { field(word, 57, 52) << 4 };
        Register::Indirect { address: field(word, 60, 58) as u8, offset: sign_extend(offset, 10) as i16 }
    } else {
        let offset = if is_align1 { field(word, 52, 48) } else { field(word, 52, 52) << 4 };
        direct(file, field(word, 60, 53), offset, ty)?
    };
    let mask = if is_align1 { WriteMask::XYZW } else { WriteMask(field(word, 51, 48) as u8) };
    Ok(Destination { register, ty, stride: HorizontalStride::from_code(field(word, 62, 61)), mask })
}

/// Converts the bits of a source in registers.
fn operand(word: u128, index: u32, access: AccessMode) -> Result<Operand> {
    let (kind, low) = (37 + 5 * index, 64 + 32 * index);
    let file = known("source file", field(word, kind + 1, kind), File::from_code)?;
    let ty = known("type", field(word, kind + 4, kind + 2), Type::from_code)?;
    let get = |high: u32, lowest: u32| field(word, low + high, low + lowest);
    let vertical = known("vertical stride", get(24, 21), VerticalStride::from_code)?;
    let region = match access {
        AccessMode::Align1 => Region::Align1 {
            vertical,
            width: known("width", get(20, 18), Width::from_code)?,
            horizontal: HorizontalStride::from_code(get(17, 16)),
        },
        AccessMode::Align16 => {
            zero("a source", word, low + 20, low + 20)?;
            Region::Align16 { vertical, swizzle: Swizzle((get(19, 16) << 4 | get(3, 0)) as u8) }
        }
    };
    let is_align1 = access == AccessMode::Align1;
    let register = if get(15, 15) != 0 {
        if file != File::Grf {
            return Err(InvalidInstruction::Field("indirect file", file.code()));
        }
        let offset = if is_align1 { get(9, 0) } else { get(9, 4) << 4 };
        Register::Indirect { address: get(12, 10) as u8, offset: sign_extend(offset, 10) as i16 }
    } else {
        let offset = if is_align1 { get(4, 0) } else { get(4, 4) << 4 };
        direct(file, get(12, 5), offset, ty)?
    };
    Ok(Operand { register, ty, region, negate: get(14, 14) != 0, absolute: get(13, 13) != 0 })
}

fn source_file(word: u128, index: u32) -> u32 {
    field(word, 38 + 5 * index, 37 + 5 * index)
}

fn source_type(word: u128, index: u32) -> u32 {
    field(word, 41 + 5 * index, 39 + 5 * index)
}

fn immediate(word: u128, index: u32) -> Result<Immediate> {
    let ty = known("type", source_type(word, index), ImmediateType::from_code)?;
    let bits = field(word, 127, 96);
    Immediate::from_word(ty, bits).ok_or(InvalidInstruction::Reserved("a constant of 16 bits", bits))
}

/// Checks that the bits of an absent second source are those of the encoder.
fn check_absent(word: u128, expected_type: u32) -> Result<()> {
    if source_type(word, 1) != expected_type {
        return Err(InvalidInstruction::Field("type of an absent source", source_type(word, 1)));
    }
    zero("the file of an absent source", word, 43, 42)
}

fn with_operands(word: u128, control: Instruction) -> Result<Instruction> {
    let Instruction { opcode, access, compacted, .. } = control;
    let mut instruction = Instruction { destination: Some(destination(word, access)?), ..control };
    let form = opcode.form();
    let mut sources = ArrayVec::new();
    if form == Form::Unary && source_file(word, 0) == IMMEDIATE_FILE {
        check_absent(word, if compacted { 0 } else { source_type(word, 0) })?;
        if opcode == Opcode::Dim {
            if compacted {
                return Err(InvalidInstruction::NotCompactable);
            }
            if source_type(word, 0) != ImmediateType::F.code() {
                return Err(InvalidInstruction::Field("type", source_type(word, 0)));
            }
            if instruction.predicate.is_some() || instruction.condition.is_some() {
                return Err(InvalidInstruction::Conflict("a flag beside a constant of 64 bits"));
            }
            instruction.flag = Flag::default();
            sources.push(Source::Immediate(Immediate::Dim((word >> 64) as u64)));
        } else {
            zero("an absent source", word, 95, 91)?;
            zero("an absent source", word, 88, 64)?;
            sources.push(Source::Immediate(immediate(word, 0)?));
        }
        return Ok(Instruction { sources, ..instruction });
    }
    zero("the first source", word, 95, 91)?;
    sources.push(Source::Register(operand(word, 0, access)?));
    let second_file = source_file(word, 1);
    match form {
        Form::Nop | Form::Plain | Form::Ternary => {}
        Form::Unary => {
            check_absent(word, 0)?;
            zero("an absent source", word, 127, 96)?;
        }
        Form::Binary if second_file == IMMEDIATE_FILE => {
            sources.push(Source::Immediate(immediate(word, 1)?));
        }
        Form::Binary | Form::Math => {
            zero("the second source", word, 127, 121)?;
            sources.push(Source::Register(operand(word, 1, access)?));
        }
        Form::Send => instruction.detail = Detail::Message(message(word, access)?),
        Form::Branch => {
            let expected = branch_type(opcode).code();
            if second_file != IMMEDIATE_FILE || source_type(word, 1) != expected {
                return Err(InvalidInstruction::Field("type of the targets", source_type(word, 1)));
            }
            let branch = Branch { jip: field(word, 111, 96) as i16, uip: field(word, 127, 112) as i16 };
            if branch.uip != 0 && !opcode.has_uip() {
                return Err(InvalidInstruction::Conflict("an update instruction pointer"));
            }
            instruction.detail = Detail::Branch(branch);
        }
    }
    if form == Form::Math {
        let function = known("mathematics function", field(word, 27, 24), MathFunction::from_code)?;
        instruction.detail = Detail::Math(function);
    }
    Ok(Instruction { sources, ..instruction })
}

fn message(word: u128, access: AccessMode) -> Result<Message> {
    let function = known("shared function", field(word, 27, 24), SharedFunction::from_code)?;
    let descriptor = if source_file(word, 1) == IMMEDIATE_FILE {
        if source_type(word, 1) != ImmediateType::Ud.code() {
            return Err(InvalidInstruction::Field("type of the descriptor", source_type(word, 1)));
        }
        zero("the descriptor", word, 126, 96 + DESCRIPTOR_BITS)?;
        Descriptor::Immediate(field(word, 95 + DESCRIPTOR_BITS, 96))
    } else {
        zero("the descriptor", word, 126, 121)?;
        Descriptor::Register(operand(word, 1, access)?)
    };
    Ok(Message { function, descriptor, end_of_thread: bit(word, 127) })
}

fn ternary(word: u128, control: Instruction) -> Result<Instruction> {
    if control.access == AccessMode::Align1 {
        return Err(InvalidInstruction::Conflict("align1 with three sources"));
    }
    for (high, low) in [(32, 32), (35, 35), (46, 46), (48, 48), (84, 84), (105, 105), (127, 126)] {
        zero("an instruction with three sources", word, high, low)?;
    }
    let (written, read) = (field(word, 45, 44), field(word, 43, 42));
    let (written, read) = (Type::THREE_SOURCE[written as usize], Type::THREE_SOURCE[read as usize]);
    let destination = Destination {
        mask: WriteMask(field(word, 52, 49) as u8),
        ..Destination::new(direct(File::Grf, field(word, 63, 56), field(word, 55, 53) * 4, written)?, written)
    };
    let mut sources = ArrayVec::new();
    for index in 0..3 {
        let low = 64 + 21 * index;
        let swizzle = Swizzle(field(word, low + 8, low + 1) as u8);
        let region = if bit(word, low) {
            zero("the swizzle of one element", word, low + 8, low + 1)?;
            Region::SCALAR
        } else {
            Region::swizzled(swizzle)
        };
        let register = direct(File::Grf, field(word, low + 19, low + 12), field(word, low + 11, low + 9) * 4, read)?;
        let operand = Operand {
            absolute: bit(word, 36 + 2 * index),
            negate: bit(word, 37 + 2 * index),
            ..Operand::new(register, read, region)
        };
        sources.push(operand.into());
    }
    Ok(Instruction { destination: Some(destination), sources, ..control })
}
