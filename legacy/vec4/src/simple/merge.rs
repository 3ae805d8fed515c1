//! Merging of instructions that do the same to different components, and copies of constants.

use std::hash::{Hash, Hasher};

use arrayvec::ArrayVec;
use rustc_hash::FxHasher;

use super::{BY_MASK, Destination, File, Instruction, Results, SimpleMachine, Source};
use crate::access::RegisterAccess;
use crate::{Allocate, Constants, HoistConstants, Merge, Vectorize};

/// The words that a source reads from a row.
fn words(constants: &Constants, source: &Source) -> [u32; 4] {
    let row = constants.row(source.index);
    source.swizzle.map(|c| row[usize::from(c & 3)])
}

/// Combines two sources: channels of `of_b` are those of `b`.
fn combined(constants: &mut Constants, a: &Source, b: &Source, of_b: u8) -> Option<Source> {
    let mut both = *a;
    let channels = (0..4).filter(|c| of_b >> c & 1 != 0);
    if a.differs_in_swizzle(b) {
        channels.for_each(|c| both.swizzle[c] = b.swizzle[c]);
        return Some(both);
    }
    let are_rows = [a, b].iter().all(|source| source.file == File::Constant && source.relative.is_none());
    if !are_rows || (a.absolute, a.negate) != (b.absolute, b.negate) {
        return None;
    }
    let (mut row, other) = (words(constants, a), words(constants, b));
    channels.for_each(|c| row[c] = other[c]);
    Some(Source { index: constants.intern(row), swizzle: [0, 1, 2, 3], ..both })
}

/// Makes an instruction read all its constants from one row, if they have four different words at most.
pub fn join_rows<M: SimpleMachine>(constants: &mut Constants, instruction: &mut Instruction<M::Op>) {
    let info = M::info(instruction.op);
    let is_row = |source: &Source| source.file == File::Constant && source.relative.is_none();
    if instruction.registers_of(is_row) <= 1 {
        return;
    }
    let mut distinct: ArrayVec<u32, 4> = ArrayVec::new();
    for (number, source) in instruction.sources.iter().enumerate().filter(|(_, source)| is_row(source)) {
        let words = words(constants, source);
        for c in (0..4).filter(|c| instruction.channels(&info, number) >> c & 1 != 0) {
            if !distinct.contains(&words[c]) && distinct.try_push(words[c]).is_err() {
                return;
            }
        }
    }
    let row = [0, 1, 2, 3].map(|c| distinct.get(c).copied().unwrap_or(0));
    let index = constants.intern(row);
    for source in instruction.sources.iter_mut().filter(|source| is_row(source)) {
        let place = |word: u32| row.iter().position(|&other| other == word).unwrap_or(0) as u8;
        source.swizzle = words(constants, source).map(place);
        source.index = index;
    }
}

impl<M: SimpleMachine> Merge for M {
    fn merged(
        &self,
        constants: &mut Constants,
        a: &Instruction<M::Op>,
        _: &RegisterAccess<M::Op>,
        b: &Instruction<M::Op>,
    ) -> Option<Instruction<M::Op>> {
        let (to, other) = (a.destination?, b.destination?);
        let is_same_register = Destination { mask: to.mask, ..other } == to && to.relative.is_none();
        let is_other = a.op != b.op || a.saturate != b.saturate || a.sources.len() != b.sources.len();
        if is_other || !is_same_register || to.mask & other.mask != 0 {
            return None;
        }
        let info = M::info(a.op);
        let mut both = a.clone();
        both.destination = Some(Destination { mask: to.mask | other.mask, ..to });
        match (&mut both.guard, b.guard) {
            (None, None) => {}
            (Some(guard), Some(of_b)) if (guard.register, guard.condition) == (of_b.register, of_b.condition) => {
                (0..4).filter(|c| other.mask >> c & 1 != 0).for_each(|c| guard.swizzle[c] = of_b.swizzle[c]);
            }
            _ => return None,
        }
        for (number, (x, y)) in both.sources.iter_mut().zip(&b.sources).enumerate() {
            let reads_mask = info.reads[number] == BY_MASK && info.results != Results::Replicated;
            if reads_mask {
                let (of_a, of_b) = (a.channels(&info, number), b.channels(&info, number));
                if of_a & of_b != 0 {
                    return None;
                }
                *x = combined(constants, x, y, of_b)?;
                // Channels without use read something that is read anyway.
                let first = (0..4).find(|c| of_a >> c & 1 != 0).unwrap_or(0);
                for c in (0..4).filter(|c| (of_a | of_b) >> c & 1 == 0) {
                    x.swizzle[c] = x.swizzle[first];
                }
            } else if !x.differs_in_swizzle(y)
                || (0..4).any(|c| a.channels(&info, number) >> c & 1 != 0 && x.swizzle[c] != y.swizzle[c])
            {
                return None;
            }
        }
        join_rows::<M>(constants, &mut both);
        (self.accepts(&both) && !self.overwrites_itself(&both)).then_some(both)
    }
}

impl<M: SimpleMachine> Vectorize for M {
    fn hash(&self, instruction: &Instruction<M::Op>) -> u32 {
        let mut hasher = FxHasher::default();
        (instruction.op, instruction.saturate).hash(&mut hasher);
        for source in &instruction.sources {
            let index = if source.file == File::Constant { 0 } else { source.index };
            (source.file, index, source.relative).hash(&mut hasher);
        }
        hasher.finish() as u32
    }

    fn moved_to(
        &self,
        instruction: &Instruction<M::Op>,
        other: &Instruction<M::Op>,
        mask: u8,
        from: [u8; 4],
    ) -> Instruction<M::Op> {
        let mut moved = instruction.clone();
        moved.permute(&M::info(instruction.op), mask, from);
        moved.destination = other.destination.map(|to| Destination { mask, ..to });
        moved
    }
}

impl<M: SimpleMachine> HoistConstants for M {
    fn constant_copy(&self, constants: &Constants, copy: &Instruction<M::Op>) -> Option<[u32; 4]> {
        let from = copy.sources.first()?;
        let is_row = from.file == File::Constant && from.relative.is_none() && from.is_plain() && !copy.saturate;
        is_row.then(|| words(constants, from))
    }

    fn new_constant_copy(&self, constants: &mut Constants, temp: u32, mask: u8, words: [u32; 4]) -> Instruction<M::Op> {
        let to = Destination::new(File::Temporary, temp as i32, mask);
        Instruction::new(M::COPY, Some(to), [Source::new(File::Constant, constants.intern(words))])
    }
}
