//! The reads, writes and control flow of instructions.

use super::{File, Instruction, Results, SimpleMachine};
use crate::access::{Reg, RegisterAccess, Traits};
use crate::{Flow, Machine, RegisterCopy};

impl<M: SimpleMachine> Machine for M {
    type Instruction = Instruction<M::Op>;
    type Opcode = M::Op;

    fn access(&self, instruction: &Self::Instruction, first_temp: u32) -> RegisterAccess<M::Op> {
        let info = M::info(instruction.op);
        let guard = instruction.guard;
        let mut traits = Traits::NONE;
        traits.add(Traits::COMPONENTWISE, info.results == Results::Componentwise && info.flow.is_none());
        traits.add(Traits::REPLICATED, info.results == Results::Replicated);
        traits.add(Traits::PAIRS, info.results == Results::Pairs);
        traits.add(Traits::COPY, instruction.op == M::COPY && guard.is_none());
        traits.add(Traits::FLOW, info.flow.is_some());
        traits.add(Traits::EFFECT, info.has_effect || info.flow.is_some());
        traits.add(Traits::CONSTRAINS, matches!(info.results, Results::Fixed | Results::Pairs));
        traits.add(Traits::NARROWS, info.narrows);
        traits.add(Traits::OUTPUT_BARRIER, info.shows_outputs);
        traits.add(Traits::STORES_WHOLE, info.stores_whole);
        traits.add(Traits::GUARDED, guard.is_some() && instruction.destination.is_some());
        let mut access = RegisterAccess::new(instruction.op, traits);
        for (number, source) in instruction.sources.iter().enumerate() {
            let mask = access.source(number, instruction.channels(&info, number), source.swizzle);
            if let Some(relative) = source.relative {
                if let Some((register, mask)) = relative.read() {
                    access.read(register, mask);
                }
                access.traits.add(Traits::READS_FIXED, source.file == File::Temporary);
                access.traits.add(Traits::READS_OUTPUT, source.file == File::Output);
                continue;
            }
            let Some(register) = source.file.register(source.index, first_temp) else { continue };
            access.traits.add(Traits::READS_FIXED, register.as_fixed().is_some());
            access.traits.add(Traits::READS_OUTPUT, register.as_output().is_some());
            access.read(register, mask);
        }
        if let Some(guard) = guard
            && let Some(register) = Reg::special(guard.register.into())
        {
            let channels = instruction.destination.map_or(0xf, |to| to.mask);
            access.read(register, crate::access::swizzled(channels, guard.swizzle));
        }
        if let Some(to) = instruction.destination {
            access.traits.add(Traits::WRITES_OUTPUT, to.file == File::Output);
            if let Some(relative) = to.relative {
                if let Some((register, mask)) = relative.read() {
                    access.read(register, mask);
                }
                access.traits.add(Traits::WRITES_INDIRECT.with(Traits::WRITES_FIXED), to.file == File::Temporary);
                let somewhere = Traits::OUTPUT_BARRIER.with(Traits::WRITES_OUTPUT_SOMEWHERE);
                access.traits.add(somewhere, to.file == File::Output);
            } else if let Some(register) = to.file.register(to.index, first_temp) {
                access.traits.add(Traits::WRITES_FIXED, register.as_fixed().is_some());
                // Components that fail the test keep their value. Outputs are not live before the end.
                if guard.is_some() && register.as_output().is_none() {
                    access.read(register, to.mask);
                }
                access.write(register, to.mask);
            }
        }
        access
    }

    fn flow(op: M::Op) -> Option<Flow> {
        M::info(op).flow
    }

    fn register_copy(&self, copy: &Self::Instruction, first_temp: u32) -> Option<RegisterCopy> {
        let to = copy.destination.filter(|to| to.relative.is_none() && copy.guard.is_none())?;
        let from = copy.sources.first().filter(|from| from.relative.is_none() && from.is_plain())?;
        Some(RegisterCopy {
            to: to.file.register(to.index, first_temp)?,
            from: from.file.register(from.index, first_temp)?,
            mask: to.mask,
            swizzle: from.swizzle,
            saturates: copy.saturate,
        })
    }

    fn narrowed(&self, _: &Self::Instruction, needed: u8) -> Option<u8> {
        Some(needed)
    }

    fn set_mask(&self, instruction: &mut Self::Instruction, mask: u8) {
        if let Some(to) = &mut instruction.destination {
            to.mask = mask;
        }
    }

    fn stores_whole(&self, access: &RegisterAccess<M::Op>) -> bool {
        access.traits.any(Traits::STORES_WHOLE)
    }
}
