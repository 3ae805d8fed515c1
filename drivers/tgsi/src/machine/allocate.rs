//! The allocation interface of TGSI: constraints on components of temporaries, and renaming.

use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};
use tgsi_vec4::{Allocate, Location, SwizzleConstraint, Traits};

use super::access::{PLAIN, channels};
use super::operands::{first_half, overwrites_itself, read_by_second_half};
use super::{RegisterAccess, Tgsi, access, virtual_temp};
use crate::consumers::opcodes::{is_componentwise, is_permutable, is_replicated, moves_in_pairs, reads_resource};
use crate::consumers::virgl::doubles;

/// The file and index of a register at a location.
#[inline]
fn named(location: Location, first_temp: u32) -> (File, i32) {
    match location.register.as_output() {
        Some(output) => (File::Output, output as i32),
        None => (File::Temporary, (first_temp as usize + location.register.as_temp().unwrap_or_default()) as i32),
    }
}

impl Tgsi {
    /// Whether an opcode of doubles reads the same operands wherever its result is.
    #[inline]
    fn spreads(&self, opcode: Opcode) -> bool {
        self.rules.is_single_double(opcode)
    }

    /// Renames the result of an instruction; the channels that it computes move along.
    fn rename_result(&self, instruction: &mut Instruction, first_temp: u32, location: impl Fn(usize) -> Location) {
        let opcode = instruction.opcode;
        let Some(dst) = instruction.dst.first_mut().filter(|d| d.register.indirect.is_none()) else { return };
        let Some(temp) = virtual_temp(dst.register.file, dst.register.index, first_temp) else { return };
        let location = location(temp);
        (dst.register.file, dst.register.index) = named(location, first_temp);
        let to = location.components;
        if opcode == Opcode::Store || to == [0, 1, 2, 3] {
            return;
        }
        let old = dst.write_mask;
        dst.write_mask = (0..4).filter(|c| old & 1 << c != 0).fold(0, |mask, c| mask | 1 << to[c]);
        if is_replicated(opcode) || self.spreads(opcode) {
            return;
        }
        if is_componentwise(opcode) {
            for src in &mut instruction.src {
                let swizzle = src.swizzle;
                for c in (0..4).filter(|c| old & 1 << c != 0) {
                    src.swizzle[usize::from(to[c])] = swizzle[c];
                }
            }
        } else if moves_in_pairs(opcode) && to == [2, 3, 0, 1] {
            for src in &mut instruction.src {
                let [x, y, z, w] = src.swizzle;
                src.swizzle = [z, w, x, y];
            }
        }
    }
}

impl Allocate for Tgsi {
    #[inline]
    fn constrain(
        &self,
        instruction: &Instruction,
        access: &RegisterAccess,
        first_temp: u32,
        mut narrow: impl FnMut(usize, SwizzleConstraint),
    ) {
        let keeps = self.rules.keeps_places(instruction);
        if !keeps && !access.traits.any(Traits::CONSTRAINS) {
            return;
        }
        let written = access.written().and_then(|w| w.temp());
        if keeps {
            if let Some(temp) = written {
                narrow(temp, SwizzleConstraint::Fixed);
            }
            return;
        }
        let info = instruction.opcode.info();
        if !is_permutable(instruction.opcode)
            && let Some(temp) = written
        {
            let to = match self.rules.is_single_double(instruction.opcode) {
                true if !info.dst_type.is_64bit() => SwizzleConstraint::Any,
                true => SwizzleConstraint::Pairs,
                false if moves_in_pairs(instruction.opcode) => SwizzleConstraint::Pairs,
                false => SwizzleConstraint::Fixed,
            };
            narrow(temp, to);
        }
        if self.prefers_xy(instruction.opcode)
            && let Some(temp) = written
        {
            narrow(temp, SwizzleConstraint::WithinHalves);
        }
        for (number, src) in instruction.src.iter().enumerate() {
            if src.register.file != File::Temporary || src.register.indirect.is_some() {
                continue;
            }
            let Some(temp) = virtual_temp(File::Temporary, src.register.index, first_temp) else { continue };
            let resource = info.is_tex && number + 1 == usize::from(info.num_src)
                || number == 0 && reads_resource(instruction.opcode);
            if resource || number == 0 && info.is_tex && self.options.unswizzled_coordinates {
                narrow(temp, SwizzleConstraint::Fixed);
            } else if info.src_types.get(number).is_some_and(|t| t.is_64bit()) {
                narrow(temp, SwizzleConstraint::Pairs);
            }
        }
        if instruction.opcode == Opcode::Store
            && let Some(dst) = instruction.dst.first()
            && let Some(temp) = virtual_temp(dst.register.file, dst.register.index, first_temp)
        {
            narrow(temp, SwizzleConstraint::Fixed);
        }
    }

    #[inline]
    fn rename_reads(
        &self,
        instruction: &mut Instruction,
        first_temp: u32,
        mut location: impl FnMut(usize) -> Option<Location>,
    ) {
        for src in instruction.src.iter_mut().filter(|s| s.register.indirect.is_none()) {
            if let Some(temp) = virtual_temp(src.register.file, src.register.index, first_temp)
                && let Some(new) = location(temp)
            {
                (src.register.file, src.register.index) = named(new, first_temp);
                src.swizzle = src.swizzle.map(|c| new.components[usize::from(c & 3)]);
            }
        }
        for offset in instruction.texture.iter_mut().flat_map(|t| &mut t.offsets) {
            if let Some(temp) = virtual_temp(offset.file, offset.index, first_temp)
                && let Some(new) = location(temp)
            {
                (offset.file, offset.index) = named(new, first_temp);
                offset.swizzle = offset.swizzle.map(|c| new.components[usize::from(c & 3)]);
            }
        }
    }

    #[inline]
    fn rename(
        &self,
        instruction: &mut Instruction,
        access: &mut RegisterAccess,
        first_temp: u32,
        location: impl Fn(usize) -> Location,
    ) -> bool {
        let temps = || access.reads().iter().copied().chain(access.written()).filter_map(|a| a.temp());
        if temps().next().is_none() && !instruction.src.iter().any(|s| s.register.file == File::Temporary) {
            return false;
        }
        if self.spreads(instruction.opcode) {
            doubles::spread(instruction);
        }
        let is_temporary = temps().all(|temp| location(temp).register.as_temp().is_some());
        self.rename_reads(instruction, first_temp, |temp| Some(location(temp)));
        self.rename_result(instruction, first_temp, &location);
        if !is_temporary {
            *access = access::of(instruction, first_temp);
            return true;
        }
        access.rename(|temp| {
            let Location { register, components } = location(temp);
            (register.as_temp().unwrap_or_default() as u32, components)
        });
        let mask = instruction.dst.first().filter(|_| access.traits.any(PLAIN)).map(|dst| dst.write_mask & 0xf);
        for (source, src) in instruction.src.iter().enumerate() {
            access.source(source, channels(instruction, source, mask), src.swizzle);
        }
        true
    }

    fn redirect(&self, instruction: &mut Instruction, temp: u32) -> Option<Instruction> {
        let dst = instruction.dst.first_mut()?;
        let temp = Register::new(File::Temporary, temp as i32);
        let target = std::mem::replace(dst, Dst::new(temp).masked(dst.write_mask));
        let mut copy = Instruction::new(Opcode::Mov);
        copy.dst.push(target);
        copy.src.push(Src::new(temp));
        Some(copy)
    }

    /// Operands of the second half in registers that the first half may write are live until both halves are done. If
    /// each half reads the same half of its operands, they are not reported, as results often share such registers.
    #[inline]
    fn late_reads(
        &self,
        instruction: &Instruction,
        _access: &RegisterAccess,
        first_temp: u32,
        mut read: impl FnMut(usize, u8),
    ) {
        if self.options.wide_reads_before_writes || first_half(instruction) == 0 {
            return;
        }
        let written = instruction.dst.first().map(|dst| dst.register);
        for (source, src) in instruction.src.iter().enumerate() {
            let is_direct = src.register.indirect.is_none() && written != Some(src.register);
            let temp = virtual_temp(src.register.file, src.register.index, first_temp).filter(|_| is_direct);
            let late = read_by_second_half(instruction, source);
            let is_wide = instruction.opcode.info().src_types.get(source).is_some_and(|t| t.is_64bit());
            if let Some(temp) = temp
                && !(is_wide && late & 0b0011 == 0)
            {
                read(temp, late);
            }
        }
    }

    #[inline]
    fn overwrites_itself(&self, instruction: &Instruction) -> bool {
        !self.options.wide_reads_before_writes && overwrites_itself(instruction)
    }

    #[inline]
    fn restricts_outputs(&self) -> bool {
        !self.rules.allow_all()
    }

    #[inline]
    fn output_restriction(&self, instruction: &Instruction) -> u8 {
        self.rules.output_restriction(instruction)
    }

    #[inline]
    fn output_limit(&self, output: usize) -> Option<u8> {
        self.rules.output_limit(output as i32)
    }
}
