//! Writes results: saturation, write masks, writable files.

use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;

use super::computed_lanes::Lanes;
use super::control_flow::Translator;
use tgsi::shader::{Dst, Instruction};
use tgsi::tables::{File, Processor};

impl Translator<'_, '_> {
    /// Returns the lanes in which to compute an instruction's result: four for a vector register; only the written ones
    /// for address registers, which are scalars.
    pub(super) fn lanes(dst: &Dst) -> Lanes {
        let mask = dst.write_mask & 0xf;
        if dst.register.file == File::Address { Lanes::compact(mask) } else { Lanes::full(mask) }
    }

    /// Writes a 32-bit result, saturated if the instruction is. Channel c is component c of the swizzled `value`.
    pub(super) fn write(&mut self, instruction: &Instruction, value: AluSrc) {
        let Some(dst) = instruction.dst.first() else { return };
        self.write_masked(instruction, dst.write_mask & 0xf, value);
    }

    /// Writes the channels of `mask`.
    pub(super) fn write_masked(&mut self, instruction: &Instruction, mask: u8, mut value: AluSrc) {
        let Some(dst) = instruction.dst.first() else { return };
        if mask == 0 {
            return;
        }
        if instruction.saturate {
            let components = self.b.body.num_components(value.def);
            value.def = self.b.alu_sized(AluOp::Fsat, components, &[value.def.into()]);
        }
        self.store(dst, mask, value);
    }

    /// Writes the words of 64-bit values, which are already saturated.
    pub(super) fn store_wide(&mut self, dst: &Dst, mask: u8, words: Def) {
        self.store(dst, mask, words.into());
    }

    /// Writes the same scalar to all channels.
    pub(super) fn write_scalar(&mut self, instruction: &Instruction, scalar: Def) {
        self.write(instruction, AluSrc::component(scalar, 0));
    }

    /// Returns a vec4 with the channels of `mask` from `value`.
    fn full_width(&mut self, value: AluSrc, mask: u8) -> Def {
        let channels = || (0..4usize).filter(|channel| mask >> channel & 1 != 0);
        if self.b.body.num_components(value.def) == 4
            && channels().all(|channel| usize::from(value.swizzle.get(channel)) == channel)
        {
            return value.def;
        }
        let lanes = Lanes::full(mask);
        let mut swizzle = Swizzle::IDENTITY;
        for (position, &channel) in lanes.channel.iter().enumerate() {
            swizzle = swizzle.with(position, value.swizzle.get(usize::from(channel)));
        }
        self.b.mov(AluSrc::new(value.def, swizzle), 4)
    }

    fn store(&mut self, dst: &Dst, mask: u8, value: AluSrc) {
        let register = &dst.register;
        match register.file {
            File::Address => {
                for channel in (0..4u8).filter(|channel| mask >> channel & 1 != 0) {
                    if let Some(&single) = self.context.address.get(&(register.index, channel)) {
                        let scalar = self.b.channel(value.def, value.swizzle.get(usize::from(channel)));
                        self.store_single(single, scalar, 1);
                    }
                }
            }
            File::Output if self.context.shader.processor == Processor::TessControl => {
                let value = self.full_width(value, mask);
                self.store_io(register, value, mask);
            }
            File::Temporary | File::Output => {
                if register.dimension.is_some_and(|outer| outer.indirect.is_none() && outer.index != 0) {
                    return;
                }
                if let Some(indirect) = register.indirect {
                    let Some((array, bounds)) = self.indirect_array(register.file, indirect) else { return };
                    let value = self.full_width(value, mask);
                    let offset = self.index_value(indirect);
                    let index = self.element_index(array.first, array.length, register.index, offset, bounds);
                    let deref = self.element_deref(&array, index);
                    self.b.store_deref(deref, value, u32::from(mask));
                    return;
                }
                self.store_register(register.file, register.index, mask, |t| t.full_width(value, mask));
            }
            _ => {}
        }
    }

    /// Stores the shadows of all written outputs to their variables: the components that some instruction writes.
    pub(super) fn store_outputs(&mut self) {
        for (register, group) in self.written_outputs() {
            let mask = self.context.written_mask(register);
            let Some(value) = self.load_register(File::Output, register) else { continue };
            let Some((deref, scalar)) = self.output_deref(group, register) else { continue };
            match scalar {
                Some(component) => {
                    let value = self.b.channel(value, component);
                    self.b.store_deref(deref, value, 1);
                }
                None => {
                    self.b.store_deref(deref, value, u32::from(mask));
                }
            }
        }
    }

    /// Returns the output registers that some instruction writes, with their groups, ascending by group.
    fn written_outputs(&self) -> Vec<(i32, usize)> {
        let mut seen = hashbrown::HashSet::new();
        let mut written = Vec::new();
        for (number, group) in self.context.output_file.groups.iter().enumerate() {
            for register in group.first..=group.last {
                if self.context.written_mask(register) != 0 && seen.insert(register) {
                    written.push((register, number));
                }
            }
        }
        written
    }

    /// Resets the shadows of all written outputs to 0 for a new vertex.
    pub(super) fn clear_shadows(&mut self) {
        let zero = self.constant_vector(&[0; 4]);
        for (register, _) in self.written_outputs() {
            self.store_register(File::Output, register, 0xf, |_| zero);
        }
    }
}
