//! Reduces instructions: deletes ranges, and replaces blocks with their contents.

use super::edit::{with_instructions, without};
use super::{Reducer, halved};
use tgsi::internals::{Structure, structure};
use tgsi::shader::{Instruction, Shader};
use tgsi::tables::{BlockPart, Opcode};

/// The first and last instruction of each block, indexed by either.
fn blocks(shader: &Shader) -> Vec<Option<(usize, usize)>> {
    let mut result = vec![None; shader.instructions.len()];
    let mut open = Vec::new();
    for (number, instruction) in shader.instructions.iter().enumerate() {
        match instruction.opcode.block() {
            Some(BlockPart::Opens) => open.push(number),
            Some(BlockPart::Closes) => {
                if let Some(first) = open.pop() {
                    (result[first], result[number]) = (Some((first, number)), Some((first, number)));
                }
            }
            Some(BlockPart::Divides) => {
                // The last instruction of a block is not known until the block is closed.
                result[number] = open.last().map(|&first| (first, first));
            }
            None => {}
        }
    }
    for number in 0..result.len() {
        if let Some((first, last)) = result[number]
            && first == last
        {
            result[number] = result[first];
        }
    }
    result
}

/// Extends a range to the smallest one that contains only whole blocks.
fn whole_blocks(blocks: &[Option<(usize, usize)>], first: usize, last: usize) -> (usize, usize) {
    let (mut first, mut last) = (first, last);
    let (mut seen_first, mut seen_last) = (first, first);
    // Visits each instruction once, because the range grows at both ends.
    let look = |number: usize, first: &mut usize, last: &mut usize| {
        if let Some((opens, closes)) = blocks.get(number).copied().flatten() {
            (*first, *last) = ((*first).min(opens), (*last).max(closes));
        }
    };
    look(first, &mut first, &mut last);
    while seen_first > first || seen_last < last {
        if seen_last < last {
            seen_last += 1;
            look(seen_last, &mut first, &mut last);
        } else {
            seen_first -= 1;
            look(seen_first, &mut first, &mut last);
        }
    }
    (first, last)
}

impl Reducer<'_> {
    /// Deletes ranges of instructions, large ones first.
    pub(super) fn delete_ranges(&mut self) -> bool {
        let mut smaller = false;
        for size in halved(self.best.instructions.len()) {
            smaller |= self.delete_of_size(size);
        }
        smaller
    }

    fn delete_of_size(&mut self, size: usize) -> bool {
        let mut smaller = false;
        let mut ends = blocks(&self.best);
        let mut end = self.best.instructions.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            let (first, last) = whole_blocks(&ends, start, end - 1);
            // A range that grew much larger than requested is tried with a larger size; a single block is tried anyway.
            let asked_for = last - first < 2 * size || ends[start] == Some((first, last)) && size == 1;
            let is_end = |i: &Instruction| i.opcode == Opcode::End;
            let deletable = asked_for && !(first == last && is_end(&self.best.instructions[first]) && ends.len() == 1);
            let candidate = without(&self.best, |number| (first..=last).contains(&number));
            if deletable && self.try_candidate(candidate) {
                smaller = true;
                ends = blocks(&self.best);
                end = first.min(self.best.instructions.len());
            } else {
                end = start;
            }
        }
        smaller
    }

    /// Replaces blocks with their contents: one side of a branch, the body of a loop, of a switch, or of a called
    /// subroutine.
    pub(super) fn unwrap_blocks(&mut self) -> bool {
        let mut smaller = false;
        let mut number = 0;
        while number < self.best.instructions.len() {
            let Ok(structure) = structure(&self.best) else { return smaller };
            let candidates = self.unwrapped(number, &structure);
            if candidates.into_iter().any(|candidate| self.try_candidate(candidate)) {
                smaller = true;
            } else {
                number += 1;
            }
        }
        smaller
    }

    /// Returns the shaders without the block that an instruction opens.
    fn unwrapped(&self, number: usize, structure: &Structure) -> Vec<Shader> {
        let shader = &self.best;
        let partner = |number: usize| structure.partner[number] as usize;
        match shader.instructions[number].opcode {
            Opcode::If | Opcode::Uif => {
                let next = partner(number);
                let is_else = shader.instructions.get(next).is_some_and(|i| i.opcode == Opcode::Else);
                if !is_else {
                    return vec![without(shader, |n| n == number || n == next)];
                }
                let end = partner(next);
                vec![
                    without(shader, |n| n == number || (next..=end).contains(&n)),
                    without(shader, |n| (number..=next).contains(&n) || n == end),
                    // The condition and the first side.
                    without(shader, |n| (next..end).contains(&n)),
                ]
            }
            Opcode::Bgnloop => {
                let end = partner(number);
                let leaves =
                    |n: usize| matches!(shader.instructions[n].opcode, Opcode::Brk | Opcode::Cont) && partner(n) == end;
                vec![without(shader, |n| n == number || n == end || leaves(n))]
            }
            Opcode::Switch => {
                let mut parts = vec![number];
                while let Some(&last) = parts.last()
                    && shader.instructions[last].opcode != Opcode::Endswitch
                    && partner(last) < shader.instructions.len()
                {
                    parts.push(partner(last));
                }
                let end = parts.last().copied().unwrap_or(number);
                let leaves = |n: usize| shader.instructions[n].opcode == Opcode::Brk && partner(n) == end;
                let mut candidates = vec![without(shader, |n| parts.contains(&n) || leaves(n))];
                // Without one label, with or without the code below it.
                for label in parts.windows(2).skip(1) {
                    candidates.push(without(shader, |n| (label[0]..label[1]).contains(&n)));
                    candidates.push(without(shader, |n| n == label[0]));
                }
                candidates
            }
            Opcode::Cal => {
                let begin = partner(number);
                let end = partner(begin);
                let body = (begin + 1..end).filter(|&n| shader.instructions[n].opcode != Opcode::Ret);
                let body: Vec<_> = body.map(|n| (None, shader.instructions[n].clone())).collect();
                let old = |n: usize| (Some(n as u32), shader.instructions[n].clone());
                let count = shader.instructions.len();
                let inlined = (0..number).map(old).chain(body).chain((number + 1..count).map(old)).collect();
                let only_call = structure.partner.iter().filter(|&&p| p as usize == begin).count() == 2;
                // Inlining one of several calls would make the shader larger.
                if only_call { vec![drop_uncalled(&with_instructions(shader, inlined))] } else { Vec::new() }
            }
            Opcode::Bgnsub => {
                let end = partner(number);
                let calls = |n: usize| shader.instructions[n].opcode == Opcode::Cal && partner(n) == number;
                vec![without(shader, |n| (number..=end).contains(&n) || calls(n))]
            }
            _ => Vec::new(),
        }
    }
}

/// Removes subroutines that are never called.
fn drop_uncalled(shader: &Shader) -> Shader {
    let Ok(structure) = structure(shader) else { return shader.clone() };
    let called = |begin: u32| shader.instructions.iter().any(|i| i.opcode == Opcode::Cal && i.label == Some(begin));
    let uncalled: Vec<(u32, u32)> =
        structure.subroutines.iter().copied().filter(|&(begin, _)| !called(begin)).collect();
    without(shader, |n| uncalled.iter().any(|&(begin, end)| (begin..=end).contains(&(n as u32))))
}
