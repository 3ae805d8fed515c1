//! The finished shader: declarations, packed immediates, labels.

use tgsi::Shader;
use tgsi::builder::ShaderBuilder;
use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, ImmediateType, Opcode, OperandType};

use super::declarations::processor;
use super::{finish_virgl, properties};
use crate::DriverError;
use crate::consumers::opcodes::takes_modifiers;
use crate::consumers::options::{Dialect, TgsiOptions};
use crate::machine::{Immediates, Program};
use crate::select::declared::ShaderDeclarations;

/// Sign bit of a float.
const SIGN: u32 = 0x8000_0000;

/// Builds the shader.
pub(crate) fn build(
    ir: &tgsi_ir::Shader,
    declared: &ShaderDeclarations,
    arrays: &[u32],
    program: Program,
    options: &TgsiOptions,
) -> Result<Shader, DriverError> {
    let processor = processor(ir.stage).ok_or(DriverError::Stage(ir.stage))?;
    let mut builder = ShaderBuilder::new(processor);
    properties::set_properties(ir, &mut builder);
    let num_temps = program.num_temps();
    let (mut instructions, immediates) = program.into_instructions();
    declared.declare(ir, &mut builder, &mut instructions);
    for &size in arrays {
        let size = u16::try_from(size).map_err(|_| DriverError::TooManyTemporaries(size))?;
        builder.temporary_array(size, false);
    }
    if num_temps > 0x7fff {
        return Err(DriverError::TooManyTemporaries(num_temps));
    }
    let in_arrays = arrays.iter().fold(0, |sum: u32, &size| sum.saturating_add(size));
    for _ in in_arrays..num_temps {
        builder.temporary();
    }
    let addresses = instructions
        .iter()
        .filter_map(|i| i.dst.first())
        .filter(|d| d.register.file == File::Address)
        .map(|d| d.register.index + 1)
        .max()
        .unwrap_or(0);
    for _ in 0..addresses {
        builder.address();
    }
    if options.single_constant_operand {
        // Rows from which an instruction reads several operands come first, so that others find their words there.
        for words in instructions.iter().filter_map(|instruction| words_together(&immediates, instruction, options)) {
            builder.immediate(ImmediateType::Float32, &words);
        }
    }
    for instruction in &mut instructions {
        pack_immediates(&mut builder, &immediates, instruction, options);
        normalize_swizzles(instruction);
        // Channels outside a narrow mask are not used.
        if options.tex_ignores_write_mask
            && instruction.opcode.info().is_tex
            && let Some(dst) = instruction.dst.first_mut().filter(|dst| dst.register.file == File::Temporary)
        {
            dst.write_mask = 0xf;
        }
    }
    // A shader with subroutines already has it before them.
    let has_end = instructions.iter().any(|instruction| instruction.opcode == Opcode::End);
    builder.append(instructions);
    if !has_end {
        builder.end();
    }
    Ok(builder.finish()?)
}

/// Reports operands with an address register that the target does not support for the file: those that lowering could
/// not make direct.
pub(crate) fn check_indirect(program: &Program, options: &TgsiOptions) -> Result<(), DriverError> {
    let is_direct_only = |file: File| match file {
        File::Input => !options.indirect_inputs,
        File::Output => !options.indirect_outputs,
        File::Temporary => !options.indirect_temporaries,
        File::Constant | File::ConstantBuffer => !options.indirect_constants,
        _ => false,
    };
    let has_two = |r: &Register| r.indirect.is_some() && r.dimension.is_some_and(|d| d.indirect.is_some());
    let is_indirect = |r: &Register| r.indirect.is_some() || r.dimension.is_some_and(|d| d.indirect.is_some());
    for instruction in program.instructions() {
        let sources = instruction.src.iter().map(|s| &s.register);
        let mut registers = sources.chain(instruction.dst.iter().map(|d| &d.register));
        if let Some(register) =
            registers.find(|r| is_direct_only(r.file) && is_indirect(r) || options.address_components < 4 && has_two(r))
        {
            return Err(DriverError::Indirect(register.file));
        }
    }
    Ok(())
}

/// The printed type of an immediate: float only where the value prints exactly.
fn immediate_type(operand: OperandType, words: &[u32], counts: bool, options: &TgsiOptions) -> ImmediateType {
    if options.float_immediates {
        return ImmediateType::Float32;
    }
    if options.dialect == Dialect::Virgl {
        return finish_virgl::immediate_type(operand, words, counts);
    }
    let is_plain = |&word: &u32| {
        let value = f32::from_bits(word);
        value == 0.0 && word == 0 || value.is_normal()
    };
    if operand.is_float() && !operand.is_64bit() && words.iter().all(is_plain) {
        ImmediateType::Float32
    } else {
        ImmediateType::Uint32
    }
}

fn pack_immediates(
    builder: &mut ShaderBuilder,
    immediates: &Immediates,
    instruction: &mut Instruction,
    options: &TgsiOptions,
) {
    let opcode = instruction.opcode;
    let together = words_together(immediates, instruction, options);
    let is_counter = instruction.src.first().is_some_and(|s| s.register.file == File::HwAtomic);
    for number in 0..instruction.src.len() {
        if instruction.src[number].register.file != File::Immediate {
            continue;
        }
        let channels = tgsi::scan::needed_channels(instruction, number);
        let src = instruction.src[number];
        let row = immediates.row(src.register.index);
        let mut operand = opcode.info().src_types.get(number).copied().unwrap_or(OperandType::Uint);
        if !options.native_integers {
            operand = OperandType::Float;
        }
        let is_number = matches!(opcode, Opcode::Tg4 | Opcode::Emit | Opcode::Endprim)
            || opcode == Opcode::InterpSample && number == 1;
        if is_number && options.dialect == Dialect::Virgl {
            // Integers, regardless of the opcode table.
            operand = OperandType::Uint;
        }
        let words = src.swizzle.map(|c| row[usize::from(c & 3)]);
        let counts = number > 1 && is_counter;
        let can_negate = options.dialect == Dialect::Mesa && takes_modifiers(opcode, number);
        // With another immediate operand, prefer its row.
        let others = instruction.src.iter().enumerate().filter(|(other, src)| {
            *other != number && options.single_constant_operand && src.register.file == File::Immediate
        });
        let others: arrayvec::ArrayVec<(usize, i32), 4> =
            others.map(|(other, src)| (other, src.register.index)).take(4).collect();
        let may_negate = |row: i32| {
            can_negate && (others.is_empty() || others.iter().any(|&(other, index)| other < number && index == row))
        };
        let packed = match &together {
            Some(all) => {
                let row = builder.immediate(ImmediateType::Float32, all);
                let needed = || (0..4usize).filter(|c| channels & 1 << c != 0);
                let negate = !needed().all(|c| all.contains(&words[c]));
                let word = |c: usize| if negate { words[c] ^ SIGN } else { words[c] };
                let slot = |c: usize| all.iter().position(|w| *w == word(c)).filter(|_| channels & 1 << c != 0);
                let swizzle = [0, 1, 2, 3].map(|c| row.swizzle[slot(c).unwrap_or(0)]);
                Src { swizzle, negate, ..row }
            }
            None => {
                let type_of = |words: &[u32]| immediate_type(operand, words, counts, options);
                pack(builder, &type_of, &words, channels, &may_negate)
            }
        };
        let negate = src.negate ^ (packed.negate && !src.absolute);
        instruction.src[number] = Src { absolute: src.absolute, negate, span: src.span, ..packed };
    }
    if let Some(texture) = &mut instruction.texture {
        for offset in &mut texture.offsets {
            if offset.file == File::Immediate {
                let row = immediates.row(offset.index);
                let [x, y, z] = offset.swizzle.map(|c| row[usize::from(c & 3)]);
                let ty = if options.float_immediates { ImmediateType::Float32 } else { ImmediateType::Uint32 };
                let packed = pack(builder, &|_| ty, &[x, y, z, z], 7, &|_| false);
                offset.index = packed.register.index;
                offset.swizzle = [packed.swizzle[0], packed.swizzle[1], packed.swizzle[2]];
            }
        }
    }
}

/// The words of all immediates that an instruction reads, some of them possibly negated, if there are several, they fit
/// into one row, and the target benefits.
fn words_together(
    immediates: &Immediates,
    instruction: &Instruction,
    options: &TgsiOptions,
) -> Option<arrayvec::ArrayVec<u32, 4>> {
    let is_immediate = |src: &Src| src.register.file == File::Immediate;
    let gains = options.single_constant_operand && options.float_immediates && !options.unoptimized_ra;
    if !gains || instruction.src.iter().filter(|src| is_immediate(src)).count() < 2 {
        return None;
    }
    let mut all: arrayvec::ArrayVec<u32, 4> = arrayvec::ArrayVec::new();
    for (number, src) in instruction.src.iter().enumerate().filter(|(_, src)| is_immediate(src)) {
        let channels = tgsi::scan::needed_channels(instruction, number);
        let row = immediates.row(src.register.index);
        let words = || (0..4).filter(|c| channels & 1 << c != 0).map(|c| row[usize::from(src.swizzle[c] & 3)]);
        if takes_modifiers(instruction.opcode, number) && words().all(|word| all.contains(&(word ^ SIGN))) {
            continue;
        }
        for word in words() {
            if !all.contains(&word) {
                all.try_push(word).ok()?;
            }
        }
    }
    (!all.is_empty()).then_some(all)
}

/// Finds or adds a row with the words that the channels need. If the operand may be negated, it can be a row with the
/// opposite signs.
fn pack(
    builder: &mut ShaderBuilder,
    type_of: &dyn Fn(&[u32]) -> ImmediateType,
    words: &[u32; 4],
    channels: u8,
    may_negate: &dyn Fn(i32) -> bool,
) -> Src {
    let mut distinct: arrayvec::ArrayVec<u32, 4> = arrayvec::ArrayVec::new();
    for c in (0..4).filter(|c| channels & 1 << c != 0) {
        if !distinct.contains(&words[c]) {
            distinct.push(words[c]);
        }
    }
    if distinct.is_empty() {
        distinct.push(words[0]);
    }
    let data_type = type_of(&distinct);
    let opposite: arrayvec::ArrayVec<u32, 4> = distinct.iter().map(|word| word ^ SIGN).collect();
    let negate = data_type == ImmediateType::Float32
        && !builder.has_immediate(data_type, &distinct)
        && builder.has_immediate(data_type, &opposite)
        && may_negate(builder.immediate(data_type, &opposite).register.index);
    let packed = builder.immediate(data_type, if negate { &opposite } else { &distinct });
    let mut src = Src { negate, ..Src::new(Register::new(File::Immediate, packed.register.index)) };
    for (c, word) in words.iter().enumerate() {
        let slot = distinct.iter().position(|w| w == word).filter(|_| channels & 1 << c != 0).unwrap_or(0);
        src.swizzle[c] = packed.swizzle[slot];
    }
    src
}

/// Makes unused channels repeat a used one.
fn normalize_swizzles(instruction: &mut Instruction) {
    for number in 0..instruction.src.len() {
        let channels = tgsi::scan::needed_channels(instruction, number);
        let src = &mut instruction.src[number];
        if matches!(src.register.file, File::Sampler | File::SamplerView | File::Image | File::Buffer | File::Memory) {
            continue;
        }
        let Some(first) = (0..4).find(|c| channels & 1 << c != 0) else { continue };
        // The identity swizzle is the most readable.
        if (0..4u8).all(|c| channels & 1 << c == 0 || src.swizzle[usize::from(c)] == c) && channels.count_ones() > 1 {
            src.swizzle = [0, 1, 2, 3];
            continue;
        }
        for c in 0..4 {
            if channels & 1 << c == 0 {
                src.swizzle[c] = src.swizzle[first];
            }
        }
    }
}
