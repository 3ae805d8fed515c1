//! Copy propagation for TGSI: the sources that may replace a copied one, and the producers that can absorb a copy of
//! their result.

use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, Opcode, OperandType};
use tgsi_vec4::reaching_definitions::ReachingDefinitions;
use tgsi_vec4::{PropagateBackward, PropagateCopies, Reg};

use super::operands::{apply_modifiers, is_value, permute, same_register};
use super::{Immediates, Tgsi, register};
use crate::consumers::opcodes::{is_componentwise, is_narrowing, is_permutable, takes_modifiers};

/// Whether components of a register, possibly indexed, still hold the values that the instruction at `since` read.
pub(crate) fn is_kept(
    read: &Register,
    mask: u8,
    since: usize,
    definitions: &ReachingDefinitions,
    first_temp: u32,
) -> bool {
    if read.indirect.is_some() || read.dimension.is_some() {
        let indices = [read.indirect, read.dimension.and_then(|d| d.indirect)];
        let is_index_kept = |file, index, component: u8| {
            register(file, index, first_temp)
                .is_some_and(|index| index.dense().is_some() && definitions.is_kept(index, 1 << (component & 3), since))
        };
        if indices.into_iter().flatten().any(|i| !is_index_kept(i.file, i.index, i.component)) {
            return false;
        }
    }
    match read.file {
        File::Temporary if read.indirect.is_some() || read.index < first_temp as i32 => {
            definitions.are_fixed_kept(since)
        }
        File::Temporary | File::Address => {
            register(read.file, read.index, first_temp).is_some_and(|read| definitions.is_kept(read, mask, since))
        }
        File::Constant | File::Input | File::Immediate | File::SystemValue => true,
        _ => false,
    }
}

/// Whether a source is a value that may be in any register.
#[inline]
fn is_free_value(instruction: &Instruction, source: usize) -> bool {
    let info = instruction.opcode.info();
    let resource = (info.is_tex && source + 1 == usize::from(info.num_src))
        || (source == 0
            && (info.is_store && instruction.opcode != Opcode::Store
                || matches!(
                    instruction.opcode,
                    Opcode::Load
                        | Opcode::Resq
                        | Opcode::Fbfetch
                        | Opcode::InterpCentroid
                        | Opcode::InterpOffset
                        | Opcode::InterpSample
                )));
    !resource
}

impl PropagateCopies for Tgsi {
    type Source = Src;

    #[inline]
    fn sources(&self, instruction: &Instruction) -> usize {
        instruction.src.len()
    }

    #[inline]
    fn replaceable(&self, instruction: &Instruction, source: usize, first_temp: u32) -> Option<(Reg, [u8; 4])> {
        let src = instruction.src.get(source)?;
        if src.register.file != File::Temporary
            || src.register.indirect.is_some()
            || !is_free_value(instruction, source)
        {
            return None;
        }
        let register = register(File::Temporary, src.register.index, first_temp)?;
        register.dense().map(|_| (register, src.swizzle))
    }

    #[inline]
    fn copied_component(&self, copy: &Instruction, component: u8) -> Option<u8> {
        let from = copy.src.first()?;
        let is_copy = !copy.saturate && is_value(from) && from.register.file != File::Output;
        is_copy.then(|| from.swizzle[usize::from(component & 3)] & 3)
    }

    #[inline]
    fn is_kept(
        &self,
        copy: &Instruction,
        component: u8,
        since: usize,
        definitions: &ReachingDefinitions,
        first_temp: u32,
    ) -> bool {
        copy.src.first().is_some_and(|src| is_kept(&src.register, 1 << component, since, definitions, first_temp))
    }

    fn propagated(
        &self,
        immediates: &mut Immediates,
        instruction: &Instruction,
        source: usize,
        copies: &[Option<(&Instruction, u8)>; 4],
    ) -> Option<Src> {
        let src = instruction.src.get(source)?;
        let mut found: Option<Src> = None;
        let mut swizzle = [0u8; 4];
        // Words of several immediates, for a new one.
        let mut row = [0u32; 4];
        let mut different_rows = false;
        let mut first = None;
        let mut channels = 0u8;
        for (c, copy) in copies.iter().enumerate() {
            let Some((copy, selected)) = copy else { continue };
            let from = copy.src.first()?;
            swizzle[c] = *selected;
            channels |= 1 << c;
            first = first.or(Some(c));
            let plain = from.register.file == File::Immediate && !from.absolute && !from.negate;
            if plain {
                row[c] = immediates.row(from.register.index)[usize::from(*selected)];
            }
            match &found {
                None => found = Some(*from),
                Some(known) if same_register(known, from) => {}
                Some(known) if plain && super::operands::is_plain_immediate(known) => different_rows = true,
                Some(_) => return None,
            }
        }
        let (mut from, first) = (found?, first?);
        if different_rows {
            from.register = Register::new(File::Immediate, immediates.intern(row));
            swizzle = [0, 1, 2, 3];
        }
        for c in 0..4 {
            if channels & 1 << c == 0 {
                swizzle[c] = swizzle[first];
            }
        }
        let info = instruction.opcode.info();
        let wide = info.src_types.get(source).is_some_and(|t| t.is_64bit());
        if wide && from.register.file != File::Immediate {
            let split = |a: usize| swizzle[a] & 1 != 0 || swizzle[a + 1] != swizzle[a] + 1;
            if (channels & 3 != 0 && split(0)) || (channels & 12 != 0 && split(2)) {
                return None;
            }
        }
        if (from.absolute || from.negate) && !takes_modifiers(instruction.opcode, source) {
            return None;
        }
        // Index registers are scarce: keep an indirect operand in the instruction that already has it.
        let mut new = apply_modifiers(src, Src { swizzle, ..from });
        new.span = src.span;
        if self.options.unswizzled_coordinates && source == 0 && info.is_tex {
            let moves = |c: usize| channels & 1 << c != 0 && usize::from(new.swizzle[c]) != c;
            if new.negate || new.absolute || new.register.file == File::Constant || (0..4).any(moves) {
                return None;
            }
        }
        self.rules.allows_source(instruction, source, &new).then_some(new)
    }

    #[inline]
    fn set_source(&self, instruction: &mut Instruction, source: usize, new: Src) {
        if let Some(src) = instruction.src.get_mut(source) {
            *src = new;
        }
    }
}

impl PropagateBackward for Tgsi {
    fn may_take_copy(&self, producer: &Instruction, copy: &Instruction, mask: u8, from: [u8; 4]) -> bool {
        let Some(written) = producer.dst.first().map(|dst| dst.write_mask) else { return false };
        let in_place = mask == written && (0..4u8).all(|c| mask & 1 << c == 0 || from[usize::from(c)] == c);
        let is_one = mask.count_ones() == 1 && written.count_ones() == 1;
        let may_move = is_permutable(producer.opcode) || is_one && is_narrowing(producer.opcode);
        // A copy is cheaper than z and w.
        if self.prefers_xy(producer.opcode) && mask & 0b1100 != 0 && written & 0b1100 == 0 {
            return false;
        }
        let info = producer.opcode.info();
        if !in_place && !may_move || info.is_store {
            return false;
        }
        let saturable =
            is_permutable(producer.opcode) && (info.dst_type == OperandType::Float || producer.opcode == Opcode::Mov);
        if copy.saturate && !saturable {
            return false;
        }
        self.rules.allow_all() || {
            let mut new = producer.clone();
            self.take_copy(&mut new, copy, mask, from);
            self.rules.allows(&new)
        }
    }

    /// Opcodes that are one instruction on every target. Others may take several: `CMP`, `LRP`, comparisons, integers.
    /// Excludes Radeons, where the driver's own compiler optimises a result and its copies better.
    fn may_split(&self, producer: &Instruction) -> bool {
        use Opcode::{Add, Mad, Max, Min, Mul};
        !self.options.unoptimized_ra && matches!(producer.opcode, Add | Mad | Max | Min | Mul)
    }

    fn take_copy(&self, producer: &mut Instruction, copy: &Instruction, mask: u8, from: [u8; 4]) {
        if is_componentwise(producer.opcode) {
            permute(producer, mask, from);
        }
        if let (Some(dst), Some(to)) = (producer.dst.first_mut(), copy.dst.first()) {
            dst.register = to.register;
            dst.write_mask = mask;
        }
        producer.saturate |= copy.saturate;
    }
}
