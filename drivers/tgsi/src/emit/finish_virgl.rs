//! Adapts a finished shader to virgl hosts: forms of registers and immediates, declarations, properties, and a check
//! that nothing remains that hosts do not support.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use tgsi::scan::needed_channels;
use tgsi::shader::{Declaration, Immediate, Instruction, Shader};
use tgsi::tables::{File, ImmediateType, Opcode, OperandType, PropertyName, Semantic};

use crate::DriverError;
use crate::consumers::opcodes::has_wide_integers;
use crate::consumers::virgl::doubles;
use crate::consumers::virgl::limits::{LimitExcess, excesses};
use crate::consumers::virgl::rules::{forgets_mask, is_scalar};

/// The maximum number of immediates of the host.
const MAX_IMMEDIATES: usize = 1024;

/// Whether a float with these bits survives printing with eight decimal digits, and prints as a float in all positions.
pub(crate) fn survives_eight_digits(word: u32) -> bool {
    let value = f32::from_bits(word);
    let is_plain = word == 0 || value.is_normal();
    is_plain && format!("{value:.7e}").parse::<f32>().is_ok_and(|read| read.to_bits() == word)
}

/// Whether hosts support an opcode. (They lack `DFRACEXP` too, but it never occurs: reading text replaces it.)
fn is_known(opcode: Opcode) -> bool {
    use Opcode::*;
    // The last opcode of TGSI; later ones are our own.
    const LAST: u8 = 251;
    opcode as u8 <= LAST
        && !has_wide_integers(opcode)
        && !opcode.info().is_sample_family
        && !matches!(
            opcode,
            Cont | Nop
                | Fma
                | Dfma
                | Dldexp
                | Arr
                | Cal
                | Bgnsub
                | Endsub
                | Switch
                | Case
                | Default
                | Endswitch
                | Pk2h
                | Pk2us
                | Pk4b
                | Pk4ub
                | Up2h
                | Up2us
                | Up4b
                | Up4ub
                | Ldexp
                | VoteAll
                | VoteAny
                | VoteEq
                | Ballot
                | ReadFirst
                | ReadInvoc
                | ReadHelper
                | Demote
                | TexLz
                | TxfLz
                | Lod
                | Img2hnd
                | Samp2hnd
                | Atomfadd
                | AtomincWrap
                | AtomdecWrap
        )
}

/// Whether hosts refuse shaders with a property.
fn is_refused(name: PropertyName) -> bool {
    matches!(
        name,
        PropertyName::NextShader
            | PropertyName::VsProhibitUcps
            | PropertyName::VsWindowSpacePosition
            | PropertyName::FsPostDepthCoverage
            | PropertyName::LayerViewportRelative
            | PropertyName::LegacyMathRules
            | PropertyName::VsBlitSgprsAmd
            | PropertyName::CsUserDataComponentsAmd
    )
}

/// Adapts a finished shader to virgl hosts.
pub(crate) fn adapt_to_hosts(shader: &mut Shader) -> Result<(), DriverError> {
    if let Some(instruction) = shader.instructions.iter().find(|i| !is_known(i.opcode)) {
        return Err(DriverError::UnsupportedOpcode { opcode: instruction.opcode });
    }
    if let Some(file) = unknown_file(shader) {
        return Err(DriverError::UnsupportedFile { file });
    }
    if let Some(LimitExcess { most, what, .. }) = excesses(shader).next() {
        return Err(DriverError::HostLimit { most, what });
    }
    let system_values = short_system_values(shader);
    let arrays = arrays_of_scalars(shader);
    for instruction in &mut shader.instructions {
        registers(instruction, &system_values);
        elements(instruction, &arrays);
        doubles::spread(instruction);
        single_component(instruction);
    }
    shader.properties.retain(|p| !is_refused(p.name));
    join_constants(shader);
    if !has_integers(shader) && shader.instructions.iter().any(|i| i.opcode == Opcode::Ucmp) {
        // Selections need the host's integer functions; an integer immediate makes the host request them.
        shader.push_immediate(Immediate::new(ImmediateType::Uint32, [0; 4]));
    }
    if shader.immediates.len() > MAX_IMMEDIATES {
        return Err(DriverError::TooManyImmediates(shader.immediates.len()));
    }
    shader.order_by_kind();
    Ok(())
}

/// A register file that hosts do not support.
fn unknown_file(shader: &Shader) -> Option<File> {
    let registers = shader.instructions.iter().flat_map(|i| i.src.iter().map(|s| s.register.file));
    registers.into_iter().find(|file| matches!(file, File::ConstantBuffer))
}

/// The registers of system values with three components, by number.
fn short_system_values(shader: &Shader) -> Vec<i32> {
    let is_short = |d: &&Declaration| {
        d.file == File::SystemValue
            && d.semantic.is_some_and(|s| {
                matches!(s.name, Semantic::BlockId | Semantic::ThreadId | Semantic::GridSize | Semantic::TessCoord)
            })
    };
    shader.declarations.iter().filter(is_short).map(|d| d.first.into()).collect()
}

/// The registers that are arrays of scalars in the host's GLSL, with a length given by the previous stage or the
/// primitive.
fn arrays_of_scalars(shader: &Shader) -> Vec<(File, RangeInclusive<i32>)> {
    let is_array = |d: &&Declaration| {
        matches!(d.file, File::Input | File::SystemValue)
            && d.semantic
                .is_some_and(|s| matches!(s.name, Semantic::ClipDistance | Semantic::TessOuter | Semantic::TessInner))
    };
    shader.declarations.iter().filter(is_array).map(|d| (d.file, d.first.into()..=d.last.into())).collect()
}

/// Hosts access one array element for each letter of a swizzle, and there may be fewer than four: makes unused letters
/// repeat a used one.
fn elements(instruction: &mut Instruction, arrays: &[(File, RangeInclusive<i32>)]) {
    for number in 0..instruction.src.len() {
        let register = &instruction.src[number].register;
        if !arrays.iter().any(|(file, range)| *file == register.file && range.contains(&register.index)) {
            continue;
        }
        let needed = needed_channels(instruction, number);
        let swizzle = &mut instruction.src[number].swizzle;
        if let Some(first) = (0..4).find(|c| needed & 1 << c != 0) {
            let one = swizzle[first];
            for (_, letter) in swizzle.iter_mut().enumerate().filter(|(c, _)| needed & 1 << c == 0) {
                *letter = one;
            }
        }
    }
}

/// For opcodes where the host ignores the mask, the first letters of swizzles apply to the components written,
/// whichever they are.
fn single_component(instruction: &mut Instruction) {
    let mask = instruction.dst.first().map_or(0, |dst| dst.write_mask);
    if (forgets_mask(instruction.opcode) || is_scalar(instruction.opcode)) && mask.count_ones() == 1 {
        for src in &mut instruction.src {
            src.swizzle = [src.swizzle[mask.trailing_zeros() as usize & 3]; 4];
        }
    }
}

/// Adapts register forms: the first constant buffer has one index, and system values of three components have no w.
fn registers(instruction: &mut Instruction, short_system_values: &[i32]) {
    for src in &mut instruction.src {
        let register = &mut src.register;
        if register.file == File::Constant && register.dimension.is_some_and(|d| d.index == 0 && d.indirect.is_none()) {
            register.dimension = None;
        }
        if register.file == File::SystemValue && short_system_values.contains(&register.index) {
            src.swizzle = src.swizzle.map(|c| c.min(2));
        }
    }
}

/// Emits one declaration for each constant buffer, since the host takes its range for the size. The first one is not a
/// buffer in the host, and is unchanged.
fn join_constants(shader: &mut Shader) {
    let mut first: BTreeMap<u16, usize> = BTreeMap::new();
    let mut kept: Vec<Declaration> = Vec::with_capacity(shader.declarations.len());
    for mut declaration in std::mem::take(&mut shader.declarations) {
        if declaration.file == File::Constant {
            match declaration.dimension {
                Some(0) => declaration.dimension = None,
                Some(buffer) => {
                    if let Some(known) = first.get(&buffer).and_then(|&slot| kept.get_mut(slot)) {
                        known.first = known.first.min(declaration.first);
                        known.last = known.last.max(declaration.last);
                        continue;
                    }
                    first.insert(buffer, kept.len());
                }
                None => {}
            }
        }
        kept.push(declaration);
    }
    shader.declarations = kept;
}

/// Whether the shader makes the host request integers.
fn has_integers(shader: &Shader) -> bool {
    let is_integer = |t: OperandType| matches!(t, OperandType::Int | OperandType::Uint | OperandType::Double);
    let immediates = shader.immediates.iter().any(|i| i.data_type != ImmediateType::Float32);
    let instructions = shader.instructions.iter().any(|i| {
        let info = i.opcode.info();
        is_integer(info.dst_type)
            || info.src_types.iter().any(|&t| is_integer(t)) && !info.is_tex
            || i.src.iter().any(|s| s.register.file == File::Constant && s.register.dimension.is_none())
    });
    immediates || instructions
}

/// The printed type of an immediate: float only where the host reads the same value.
pub(crate) fn immediate_type(operand: OperandType, words: &[u32], counts: bool) -> ImmediateType {
    if counts {
        // Hosts recognise the steps of counters by a signed type.
        ImmediateType::Int32
    } else if operand.is_float() && !operand.is_64bit() && words.iter().all(|&word| survives_eight_digits(word)) {
        ImmediateType::Float32
    } else {
        ImmediateType::Uint32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts have a fixed table of opcodes. A new opcode belongs in the list of those that they do not support, and the
    /// IR's opcode must be lowered for them.
    #[test]
    fn new_opcodes_are_unknown() {
        let known = Opcode::ALL.iter().filter(|&&opcode| is_known(opcode)).count();
        assert_eq!(known, KNOWN, "add new opcodes to the list in is_known");
    }

    const KNOWN: usize = 164;
}
