//! Constraints on the components of temporaries, and renaming.

use super::{Destination, File, Instruction, Results, SimpleMachine, Source};
use crate::access::{RegisterAccess, swizzled};
use crate::{Allocate, Location, Machine, SwizzleConstraint};

/// The file and number of a location.
fn named(location: Location, first_temp: u32) -> (File, i32) {
    match location.register.as_output() {
        Some(output) => (File::Output, output as i32),
        None => (File::Temporary, first_temp as i32 + location.register.as_temp().unwrap_or_default() as i32),
    }
}

/// The components of sources that an instruction on pairs reads for its second half.
fn late_sources<M: SimpleMachine>(instruction: &Instruction<M::Op>) -> impl Iterator<Item = (&Source, u8)> {
    let has_halves = instruction.mask() & 0b0011 != 0 && instruction.mask() & 0b1100 != 0;
    let is_late = M::info(instruction.op).results == Results::Pairs && has_halves;
    instruction.sources.iter().filter(move |_| is_late).map(|source| (source, swizzled(0b1100, source.swizzle)))
}

impl<M: SimpleMachine> Allocate for M {
    fn constrain(
        &self,
        instruction: &Instruction<M::Op>,
        access: &RegisterAccess<M::Op>,
        _: u32,
        mut narrow: impl FnMut(usize, SwizzleConstraint),
    ) {
        let Some(temp) = access.written().and_then(|written| written.temp()) else { return };
        match M::info(instruction.op).results {
            Results::Componentwise | Results::Replicated => {}
            Results::Fixed => narrow(temp, SwizzleConstraint::Fixed),
            Results::Pairs => narrow(temp, SwizzleConstraint::Pairs),
        }
    }

    fn rename_reads(
        &self,
        instruction: &mut Instruction<M::Op>,
        first_temp: u32,
        mut location: impl FnMut(usize) -> Option<Location>,
    ) {
        for source in instruction.sources.iter_mut().filter(|source| source.relative.is_none()) {
            if let Some(new) = source.file.virtual_temp(source.index, first_temp).and_then(&mut location) {
                (source.file, source.index) = named(new, first_temp);
                source.swizzle = source.swizzle.map(|c| new.components[usize::from(c & 3)]);
            }
        }
    }

    fn rename(
        &self,
        instruction: &mut Instruction<M::Op>,
        access: &mut RegisterAccess<M::Op>,
        first_temp: u32,
        location: impl Fn(usize) -> Location,
    ) -> bool {
        self.rename_reads(instruction, first_temp, |temp| Some(location(temp)));
        if let Some(to) = instruction.destination.filter(|to| to.relative.is_none())
            && let Some(new) = to.file.virtual_temp(to.index, first_temp).map(location)
        {
            let info = M::info(instruction.op);
            let mut from = [0; 4];
            (0..4).for_each(|c| from[usize::from(new.components[usize::from(c)] & 3)] = c);
            if info.results == Results::Pairs && new.components == [2, 3, 0, 1] {
                instruction.sources.iter_mut().for_each(|source| source.swizzle.rotate_left(2));
            }
            let mask = swizzled(to.mask, new.components);
            instruction.permute(&info, mask, from);
            let (file, index) = named(new, first_temp);
            instruction.destination = Some(Destination { file, index, mask, ..to });
        }
        *access = self.access(instruction, first_temp);
        true
    }

    fn redirect(&self, instruction: &mut Instruction<M::Op>, temp: u32) -> Option<Instruction<M::Op>> {
        let old = instruction.destination?;
        let temp = temp as i32;
        instruction.destination = Some(Destination::new(File::Temporary, temp, old.mask));
        Some(Instruction::new(M::COPY, Some(old), [Source::new(File::Temporary, temp)]))
    }

    fn late_reads(
        &self,
        instruction: &Instruction<M::Op>,
        _: &RegisterAccess<M::Op>,
        first_temp: u32,
        mut read: impl FnMut(usize, u8),
    ) {
        for (source, late) in late_sources::<M>(instruction).filter(|(source, _)| source.relative.is_none()) {
            if let Some(temp) = source.file.virtual_temp(source.index, first_temp) {
                read(temp, late);
            }
        }
    }

    fn overwrites_itself(&self, instruction: &Instruction<M::Op>) -> bool {
        let Some(to) = instruction.destination else { return false };
        late_sources::<M>(instruction).any(|(source, late)| {
            let may_be_same = source.file == to.file
                && (source.index == to.index || source.relative.is_some() || to.relative.is_some());
            may_be_same && late & to.mask & 0b0011 != 0
        })
    }
}
