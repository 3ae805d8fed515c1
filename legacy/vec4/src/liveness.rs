//! Liveness of registers at block boundaries.
//!
//! A backward walk over the whole list tracks liveness directly, except where the next block in the list is not the
//! only successor. Only the differences at those points are stored: the registers with a different liveness at the end
//! of a block than at the start of the next one. Most registers are live within one block only and never differ; the
//! others are followed one by one, from access to access, and the regions tell which blocks can be skipped in between.
//! Time and space are proportional to the accesses, not to the live ranges.

use super::blocks::{Block, blocks};
use super::regions::Regions;
use super::{Machine, Program};

const NONE: u32 = u32::MAX;

/// Liveness of registers at block boundaries.
#[derive(Debug)]
pub struct Liveness {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// The index of the first change of each block.
    starts: Vec<u32>,
    changes: Vec<(u32, u8)>,
    at_start: Vec<(u32, u8)>,
}

/// The effect of a block on a register accessed in several blocks.
struct Entry {
    block: u32,
    /// Components read before the block writes them.
    exposed: u8,
    /// Components written.
    defined: u8,
    /// The entry of the same register for an earlier block.
    earlier: u32,
}

/// The effect of the current block on a register.
#[derive(Clone, Copy)]
struct BlockEffect {
    block: u32,
    exposed: u8,
    defined: u8,
    is_global: bool,
    /// The last entry.
    entry: u32,
}

/// The entries of the registers that several blocks access, or that a block reads before writing.
struct Entries {
    states: Vec<BlockEffect>,
    entries: Vec<Entry>,
    globals: Vec<u32>,
}

impl Entries {
    fn of<M: Machine>(program: &Program<M>, blocks: &[Block]) -> Entries {
        let none = BlockEffect { block: NONE, exposed: 0, defined: 0, is_global: false, entry: NONE };
        let states = vec![none; program.registers()];
        let mut all = Entries { states, entries: Vec::new(), globals: Vec::new() };
        for (number, block) in blocks.iter().enumerate() {
            let number = number as u32;
            for access in &program.access[block.start..block.end] {
                for read in access.reads() {
                    if let Some(register) = read.dense() {
                        all.enter(register, number);
                        let state = &mut all.states[register];
                        state.exposed |= read.mask() & !state.defined;
                    }
                }
                if let Some((register, mask)) = access.written().and_then(|w| Some((w.dense()?, w.mask()))) {
                    all.enter(register, number);
                    all.states[register].defined |= mask;
                }
            }
        }
        for register in 0..all.states.len() {
            if all.states[register].is_global || all.states[register].exposed != 0 {
                all.close(register);
            }
        }
        all
    }

    /// Starts the access of a register in a block.
    fn enter(&mut self, register: usize, block: u32) {
        let state = &self.states[register];
        if state.block == block {
            return;
        }
        if state.block != NONE {
            self.close(register);
        }
        let state = &mut self.states[register];
        (state.block, state.exposed, state.defined) = (block, 0, 0);
    }

    /// Creates an entry for the last block that accessed a register.
    fn close(&mut self, register: usize) {
        let state = &mut self.states[register];
        if !state.is_global {
            state.is_global = true;
            self.globals.push(register as u32);
        }
        let BlockEffect { block, exposed, defined, entry, .. } = *state;
        state.entry = self.entries.len() as u32;
        self.entries.push(Entry { block, exposed, defined, earlier: entry });
    }

    /// The entries of a register, last block first.
    fn of_register(&self, register: u32) -> impl Iterator<Item = &Entry> {
        let mut next = self.states[register as usize].entry;
        std::iter::from_fn(move || {
            let entry = self.entries.get(next as usize)?;
            next = entry.earlier;
            Some(entry)
        })
    }
}

/// The predecessors of each block.
struct Predecessors {
    starts: Vec<u32>,
    blocks: Vec<u32>,
}

impl Predecessors {
    fn of(blocks: &[Block]) -> Predecessors {
        let edges = || blocks.iter().enumerate().flat_map(|(b, block)| block.successors().map(move |s| (b, s)));
        let mut starts = vec![0u32; blocks.len() + 1];
        let mut count = 0;
        for (_, to) in edges() {
            starts[to] += 1;
            count += 1;
        }
        sum_up(&mut starts);
        let mut all = vec![0u32; count];
        for (from, to) in edges() {
            starts[to] -= 1;
            all[starts[to] as usize] = from as u32;
        }
        Predecessors { starts, blocks: all }
    }

    fn get(&self, block: u32) -> &[u32] {
        &self.blocks[self.starts[block as usize] as usize..self.starts[block as usize + 1] as usize]
    }
}

/// Replaces counts by their prefix sums: the ends of runs, which become starts as the runs are filled from their ends.
fn sum_up(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

/// The state of a block for the register being followed.
#[derive(Clone, Copy, Default)]
struct BlockLiveness {
    live_in: u8,
    live_out: u8,
    defined: u8,
    is_touched: bool,
    /// Liveness does not change from here to some later block, which skips the blocks between.
    leads_over: bool,
    /// Liveness does not change from some earlier block to here.
    is_led_to: bool,
}

/// The state for the register being followed.
struct RegisterLiveness {
    /// By block, plus one, so that every block has a next one.
    known: Vec<BlockLiveness>,
    /// The blocks with a state.
    touched: Vec<u32>,
}

impl RegisterLiveness {
    fn touch(&mut self, block: u32) -> &mut BlockLiveness {
        let known = &mut self.known[block as usize];
        if !known.is_touched {
            known.is_touched = true;
            self.touched.push(block);
        }
        known
    }

    /// The components live at the end of a block, if they differ from those at the start of the next one.
    fn change(&self, block: usize) -> Option<u8> {
        let (here, next) = (&self.known[block], &self.known[block + 1]);
        let is_same = here.live_out == next.live_in || here.leads_over || next.is_led_to && !here.is_touched;
        (!is_same).then_some(here.live_out)
    }
}

impl Liveness {
    /// Computes the liveness of a program. [`Program::liveness`] caches it.
    pub fn of<M: Machine>(program: &Program<M>) -> Liveness {
        let blocks = blocks(program);
        let mut liveness = Liveness { blocks, starts: Vec::new(), changes: Vec::new(), at_start: Vec::new() };
        // A single block has no successors.
        if liveness.blocks.len() > 1 {
            let entries = Entries::of(program, &liveness.blocks);
            if !entries.globals.is_empty() {
                liveness.follow(&entries, &Regions::of(program, &liveness.blocks));
            }
        }
        liveness
    }

    /// Follows each register from its reads to its writes.
    fn follow(&mut self, entries: &Entries, regions: &Regions) {
        let predecessors = Predecessors::of(&self.blocks);
        let mut follower =
            RegisterLiveness { known: vec![BlockLiveness::default(); self.blocks.len() + 1], touched: Vec::new() };
        let mut work: Vec<(u32, u8)> = Vec::new();
        let mut found: Vec<(u32, u32, u8)> = Vec::new();
        let mut accesses: Vec<u32> = Vec::new();
        for &register in &entries.globals {
            accesses.clear();
            for entry in entries.of_register(register) {
                accesses.push(entry.block);
                follower.touch(entry.block).defined = entry.defined;
                if entry.exposed != 0 {
                    work.push((entry.block, entry.exposed));
                }
            }
            while let Some((block, mask)) = work.pop() {
                let known = &mut follower.known[block as usize];
                let new = mask & !known.live_in;
                known.live_in |= new;
                if new == 0 {
                    continue;
                }
                // The blocks of the accesses are in descending order.
                let before = accesses.get(accesses.partition_point(|&access| access >= block)).copied();
                let up = regions.way_up(block, before);
                let over = [up];
                let from = if up < block {
                    follower.known[block as usize].is_led_to = true;
                    follower.touch(up).leads_over = true;
                    &over
                } else {
                    predecessors.get(block)
                };
                for &from in from {
                    let known = follower.touch(from);
                    let through = new & !known.live_out & !known.defined;
                    known.live_out |= new;
                    if through != 0 {
                        work.push((from, through));
                    }
                }
            }
            if follower.known[0].live_in != 0 {
                self.at_start.push((register, follower.known[0].live_in));
            }
            for &block in &follower.touched {
                if let Some(live) = follower.change(block as usize) {
                    found.push((block, register, live));
                }
                let before = block.checked_sub(1).filter(|&b| !follower.known[b as usize].is_touched);
                if let Some(before) = before
                    && let Some(live) = follower.change(before as usize)
                {
                    found.push((before, register, live));
                }
            }
            while let Some(block) = follower.touched.pop() {
                follower.known[block as usize] = BlockLiveness::default();
            }
        }
        self.starts = vec![0; self.blocks.len() + 1];
        for &(block, ..) in &found {
            self.starts[block as usize] += 1;
        }
        sum_up(&mut self.starts);
        self.changes = vec![(0, 0); found.len()];
        for (block, register, live) in found {
            let slot = &mut self.starts[block as usize];
            *slot -= 1;
            self.changes[*slot as usize] = (register, live);
        }
    }

    /// The registers with a different liveness at the end of a block than at the start of the next one in the list,
    /// with the components live at the end. After the last block nothing is live.
    pub fn changes(&self, block: usize) -> &[(u32, u8)] {
        match (self.starts.get(block), self.starts.get(block + 1)) {
            (Some(&start), Some(&end)) => &self.changes[start as usize..end as usize],
            _ => &[],
        }
    }

    /// The registers live at the start of the program.
    pub fn at_start<M: Machine>(&self, program: &Program<M>) -> Vec<(u32, u8)> {
        if self.blocks.len() > 1 {
            return self.at_start.clone();
        }
        let entries = Entries::of(program, &self.blocks);
        entries.globals.iter().map(|&register| (register, entries.states[register as usize].exposed)).collect()
    }
}
