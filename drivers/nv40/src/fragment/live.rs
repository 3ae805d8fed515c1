//! The ranges of a program in which components of registers hold values that are needed.
//!
//! Instruction `i` reads at position `2i` and writes at `2i + 1`. Rows are virtual temporaries, then outputs, then
//! special registers. Outputs are needed at the end; components that may be unwritten there are needed from the start,
//! where all registers are zero.

use tgsi_vec4::access::SPECIAL_REGISTERS;
use tgsi_vec4::blocks::{Block, ComponentSet, blocks};
use tgsi_vec4::{Reg, RegisterAccess, Traits};

use crate::machine::{DEPTH, Op, Program};

/// The number of outputs.
pub(super) const OUTPUTS: usize = DEPTH as usize + 1;

/// A range of positions, both ends included.
pub(super) type Segment = (u32, u32);

/// The ranges of all registers of a program.
pub(super) struct Live {
    temps: usize,
    /// By row and component, the last range first.
    segments: Vec<[Vec<Segment>; 4]>,
}

/// Returns the row of a register.
fn row(register: Reg, temps: usize) -> Option<usize> {
    if let Some(temp) = register.as_temp() {
        return Some(temp);
    }
    match (register.as_output(), register.dense()) {
        (Some(output), _) => (output < OUTPUTS).then_some(temps + output),
        (None, special) => Some(temps + OUTPUTS + special?),
    }
}

/// The row and the components that an instruction writes, and whether it writes all of them.
fn written(access: &RegisterAccess<Op>, temps: usize) -> Option<(usize, u8, bool)> {
    let written = access.written()?;
    let keeps = access.traits.any(Traits::GUARDED);
    Some((row(written.register(), temps)?, written.mask(), !keeps))
}

fn components(mask: u8) -> impl Iterator<Item = usize> {
    (0..4).filter(move |c| mask >> c & 1 != 0)
}

/// The registers needed at the start of each block.
fn starts(program: &Program, blocks: &[Block], at_end: &ComponentSet, rows: usize, temps: usize) -> Vec<ComponentSet> {
    let mut read = Vec::with_capacity(blocks.len());
    let mut killed = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (mut reads, mut kills) = (ComponentSet::new(rows), ComponentSet::new(rows));
        for access in &program.accesses()[block.start..block.end] {
            for components in access.reads() {
                if let Some(row) = row(components.register(), temps) {
                    reads.insert(row, components.mask() & !kills.get(row));
                }
            }
            if let Some((row, mask, true)) = written(access, temps) {
                kills.insert(row, mask);
            }
        }
        read.push(reads);
        killed.push(kills);
    }
    let mut starts = read;
    let mut changed = true;
    while changed {
        changed = false;
        for (number, block) in blocks.iter().enumerate().rev() {
            let mut needed = end_of(block, &starts, at_end, rows);
            for row in 0..rows {
                let kills = killed[number].get(row);
                if kills != 0 {
                    needed.remove(row, kills);
                }
            }
            changed |= starts[number].unite(&needed);
        }
    }
    starts
}

/// The registers needed at the end of a block.
fn end_of(block: &Block, starts: &[ComponentSet], at_end: &ComponentSet, rows: usize) -> ComponentSet {
    let mut needed = ComponentSet::new(rows);
    let mut is_last = true;
    for successor in block.successors() {
        is_last = false;
        needed.unite(&starts[successor]);
    }
    if is_last { at_end.clone() } else { needed }
}

impl Live {
    /// Computes the ranges. `outputs` has the components of outputs that are needed at the end.
    pub(super) fn of(program: &Program, outputs: [u8; OUTPUTS]) -> Live {
        let temps = program.temps();
        let rows = temps + OUTPUTS + SPECIAL_REGISTERS as usize;
        let mut at_end = ComponentSet::new(rows);
        outputs.iter().enumerate().for_each(|(output, &mask)| at_end.insert(temps + output, mask));
        let blocks = blocks(program);
        let starts = starts(program, &blocks, &at_end, rows, temps);
        let mut live = Live { temps, segments: vec![Default::default(); rows] };
        // The last position of the value that is needed after the current instruction.
        let mut open: Vec<[Option<u32>; 4]> = vec![[None; 4]; rows];
        for block in blocks.iter().rev() {
            let (start, end) = (2 * block.start as u32, 2 * block.end as u32);
            let needed = end_of(block, &starts, &at_end, rows);
            for (row, open) in open.iter_mut().enumerate() {
                let mask = if end > start { needed.get(row) } else { 0 };
                components(mask).for_each(|c| open[c] = Some(end - 1));
            }
            for index in (block.start..block.end).rev() {
                let access = &program.accesses()[index];
                let position = 2 * index as u32;
                if let Some((row, mask, is_whole)) = written(access, temps) {
                    for c in components(mask) {
                        let last = open[row][c];
                        if is_whole || last.is_none() {
                            live.add(row, c, (position + 1, last.unwrap_or(position + 1)));
                            open[row][c] = None;
                        }
                    }
                }
                for read in access.reads() {
                    if let Some(row) = row(read.register(), temps) {
                        components(read.mask()).for_each(|c| {
                            open[row][c].get_or_insert(position);
                        });
                    }
                }
            }
            for (row, open) in open.iter_mut().enumerate() {
                for (c, last) in open.iter_mut().enumerate() {
                    if let Some(last) = last.take() {
                        live.add(row, c, (start, last));
                    }
                }
            }
        }
        live
    }

    fn add(&mut self, row: usize, component: usize, segment: Segment) {
        let segments = &mut self.segments[row][component];
        match segments.last_mut() {
            Some(later) if later.0 <= segment.1 + 1 => *later = (segment.0, later.1.max(segment.1)),
            _ => segments.push(segment),
        }
    }

    /// The ranges of a virtual temporary, by component.
    pub(super) fn temp(&self, temp: usize) -> &[Vec<Segment>; 4] {
        &self.segments[temp]
    }

    /// The ranges of an output, by component.
    pub(super) fn output(&self, output: usize) -> &[Vec<Segment>; 4] {
        &self.segments[self.temps + output]
    }

    /// The components of a special register that are needed after an instruction.
    pub(super) fn special_after(&self, special: usize, index: usize) -> u8 {
        let segments = &self.segments[self.temps + OUTPUTS + special];
        let position = 2 * index as u32 + 1;
        let has = |c: &usize| {
            let first = segments[*c].partition_point(|segment| segment.0 > position);
            segments[*c].get(first).is_some_and(|segment| segment.1 > position)
        };
        (0..4).filter(has).fold(0, |mask, c| mask | 1 << c)
    }
}
