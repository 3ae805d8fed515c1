//! Copy propagation in both directions.

use super::{Destination, File, Info, Instruction, Results, SimpleMachine, Source};
use crate::reaching_definitions::ReachingDefinitions;
use crate::{Constants, PropagateBackward, PropagateCopies, Reg};

impl<M: SimpleMachine> PropagateCopies for M {
    type Source = Source;

    fn sources(&self, instruction: &Instruction<M::Op>) -> usize {
        instruction.sources.len()
    }

    fn replaceable(&self, instruction: &Instruction<M::Op>, source: usize, first_temp: u32) -> Option<(Reg, [u8; 4])> {
        let source = instruction.sources.get(source).filter(|source| source.relative.is_none())?;
        source.file.virtual_temp(source.index, first_temp)?;
        Some((source.file.register(source.index, first_temp)?, source.swizzle))
    }

    fn copied_component(&self, copy: &Instruction<M::Op>, component: u8) -> Option<u8> {
        let from = copy.sources.first().filter(|from| !copy.saturate && from.file != File::Output)?;
        Some(from.swizzle[usize::from(component & 3)] & 3)
    }

    fn is_kept(
        &self,
        copy: &Instruction<M::Op>,
        component: u8,
        since: usize,
        definitions: &ReachingDefinitions,
        first_temp: u32,
    ) -> bool {
        let Some(from) = copy.sources.first() else { return false };
        if let Some(relative) = from.relative {
            let is_index_kept = relative.read().is_some_and(|(index, mask)| definitions.is_kept(index, mask, since));
            return is_index_kept && (from.file != File::Temporary || definitions.are_fixed_kept(since));
        }
        let register = from.file.register(from.index, first_temp);
        register.is_none_or(|register| definitions.is_kept(register, 1 << component, since))
    }

    fn propagated(
        &self,
        constants: &mut Constants,
        instruction: &Instruction<M::Op>,
        source: usize,
        copies: &[Option<(&Instruction<M::Op>, u8)>; 4],
    ) -> Option<Source> {
        let (first, component) = copies.iter().flatten().next()?;
        let mut new = *first.sources.first()?;
        new.swizzle = [*component; 4];
        let mut row = [0; 4];
        let mut has_rows = false;
        for (c, copy) in copies.iter().enumerate() {
            let Some((copy, component)) = copy else { continue };
            let from = copy.sources.first()?;
            new.swizzle[c] = *component;
            if from.file == File::Constant {
                row[c] = constants.row(from.index)[usize::from(*component & 3)];
            }
            if !from.differs_in_swizzle(&new) {
                let are_rows = from.file == File::Constant && new.file == File::Constant;
                if !are_rows || (from.absolute, from.negate) != (new.absolute, new.negate) {
                    return None;
                }
                has_rows = true;
            }
        }
        if has_rows {
            new = Source { index: constants.intern(row), swizzle: [0, 1, 2, 3], ..new };
        }
        let old = instruction.sources.get(source)?;
        if old.absolute {
            (new.absolute, new.negate) = (true, old.negate);
        } else {
            new.negate ^= old.negate;
        }
        let mut changed = instruction.clone();
        *changed.sources.get_mut(source)? = new;
        self.accepts(&changed).then_some(new)
    }

    fn set_source(&self, instruction: &mut Instruction<M::Op>, source: usize, new: Source) {
        if let Some(source) = instruction.sources.get_mut(source) {
            *source = new;
        }
    }
}

impl<M: SimpleMachine> PropagateBackward for M {
    fn may_take_copy(&self, producer: &Instruction<M::Op>, copy: &Instruction<M::Op>, mask: u8, from: [u8; 4]) -> bool {
        let info = M::info(producer.op);
        let is_in_place = || mask == producer.mask() && (0..4).all(|c| mask >> c & 1 == 0 || from[c] == c as u8);
        let fits = match info.results {
            Results::Componentwise | Results::Replicated => true,
            Results::Fixed => is_in_place(),
            Results::Pairs => false,
        };
        // A guarded producer keeps components of its register.
        if !fits || producer.guard.is_some() || info.flow.is_some() || info.stores_whole {
            return false;
        }
        let mut new = producer.clone();
        self.take_copy(&mut new, copy, mask, from);
        self.accepts(&new)
    }

    fn may_split(&self, producer: &Instruction<M::Op>) -> bool {
        let Info { results, has_effect, .. } = M::info(producer.op);
        results == Results::Componentwise && !has_effect
    }

    fn take_copy(&self, producer: &mut Instruction<M::Op>, copy: &Instruction<M::Op>, mask: u8, from: [u8; 4]) {
        producer.permute(&M::info(producer.op), mask, from);
        producer.destination = copy.destination.map(|to| Destination { mask, ..to });
        producer.saturate |= copy.saturate;
    }
}
