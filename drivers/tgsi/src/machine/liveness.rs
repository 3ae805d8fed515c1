//! Which registers are live where blocks meet.
//!
//! A walk backward over the whole list knows what is live from what it meets, but where a block does not lead to the next one alone. What is kept is the
//! difference there: the registers that are live otherwise at the end of a block than at the start of the block behind it in the list. Most registers live
//! within a block and never differ; the others are followed one after the other, from access to access: [`Regions`] know what may be passed over in between. Time
//! and space are those of the accesses, not of all that is live everywhere.

use super::Program;
use super::flow::{Block, blocks};
use super::regions::Regions;

const NONE: u32 = u32::MAX;

/// What is live where blocks meet.
#[derive(Debug)]
pub(crate) struct Liveness {
    /// The blocks.
    pub(crate) blocks: Vec<Block>,
    /// Where the changes of each block start.
    starts: Vec<u32>,
    changes: Vec<(u32, u8)>,
    at_start: Vec<(u32, u8)>,
}

/// What a block does to a register that is not of that block alone.
struct Entry {
    block: u32,
    /// Components read before the block writes them.
    exposed: u8,
    /// Components written.
    defined: u8,
    /// The entry of the same register in an earlier block.
    earlier: u32,
}

/// What the current block does to a register.
#[derive(Clone, Copy)]
struct State {
    block: u32,
    exposed: u8,
    defined: u8,
    is_global: bool,
    /// The last entry.
    entry: u32,
}

/// The entries of the registers that several blocks access, or that a block reads before it writes them.
struct Entries {
    states: Vec<State>,
    entries: Vec<Entry>,
    globals: Vec<u32>,
}

impl Entries {
    fn of(program: &Program, blocks: &[Block]) -> Entries {
        let none = State { block: NONE, exposed: 0, defined: 0, is_global: false, entry: NONE };
        let states = vec![none; program.registers()];
        let mut all = Entries { states, entries: Vec::new(), globals: Vec::new() };
        for (number, block) in blocks.iter().enumerate() {
            let number = number as u32;
            for access in &program.access[block.start..block.end] {
                for read in access.reads() {
                    if read.is_dense() {
                        all.enter(read.register(), number);
                        let state = &mut all.states[read.register()];
                        state.exposed |= read.mask() & !state.defined;
                    }
                }
                if let Some(written) = access.written().filter(|w| w.is_dense()) {
                    all.enter(written.register(), number);
                    all.states[written.register()].defined |= written.mask();
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

    /// A register is accessed in a block.
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

    /// Makes an entry for the block that accessed a register last.
    fn close(&mut self, register: usize) {
        let state = &mut self.states[register];
        if !state.is_global {
            state.is_global = true;
            self.globals.push(register as u32);
        }
        let State { block, exposed, defined, entry, .. } = *state;
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

/// The blocks that lead to each block.
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

/// Counts become the sums of those up to them: ends of runs, which become starts as the runs are filled from behind.
fn sum_up(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

/// What is known of the register that is followed, in a block.
#[derive(Clone, Copy, Default)]
struct Known {
    live_in: u8,
    live_out: u8,
    defined: u8,
    is_touched: bool,
    /// What is live does not change from here to some block behind.
    leads_over: bool,
    /// What is live does not change from some block before to here.
    is_led_to: bool,
}

/// What is known of the register that is followed.
struct Follower {
    /// By block; there is one more, so that every block has one behind it.
    known: Vec<Known>,
    /// The blocks of which something is known.
    touched: Vec<u32>,
}

impl Follower {
    fn touch(&mut self, block: u32) -> &mut Known {
        let known = &mut self.known[block as usize];
        if !known.is_touched {
            known.is_touched = true;
            self.touched.push(block);
        }
        known
    }

    /// What is live at the end of a block, if it differs from what is live at the start of the one behind it.
    fn change(&self, block: usize) -> Option<u8> {
        let (here, behind) = (&self.known[block], &self.known[block + 1]);
        let is_same = here.live_out == behind.live_in || here.leads_over || behind.is_led_to && !here.is_touched;
        (!is_same).then_some(here.live_out)
    }
}

impl Liveness {
    pub(crate) fn of(program: &Program) -> Liveness {
        let blocks = blocks(program);
        let mut liveness = Liveness { blocks, starts: Vec::new(), changes: Vec::new(), at_start: Vec::new() };
        // One block leads nowhere.
        if liveness.blocks.len() > 1 {
            let entries = Entries::of(program, &liveness.blocks);
            if !entries.globals.is_empty() {
                liveness.follow(&entries, &Regions::of(program, &liveness.blocks));
            }
        }
        liveness
    }

    /// Follows each register from where it is read to where it is written.
    fn follow(&mut self, entries: &Entries, regions: &Regions) {
        let predecessors = Predecessors::of(&self.blocks);
        let mut follower = Follower { known: vec![Known::default(); self.blocks.len() + 1], touched: Vec::new() };
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
                // The blocks of the accesses descend.
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
                follower.known[block as usize] = Known::default();
            }
        }
        self.starts = vec![0; self.blocks.len() + 1];
        for &(block, ..) in &found {
            self.starts[block as usize] += 1;
        }
        sum_up(&mut self.starts);
        self.changes = vec![(0, 0); found.len()];
        for (block, register, live) in found {
            let place = &mut self.starts[block as usize];
            *place -= 1;
            self.changes[*place as usize] = (register, live);
        }
    }

    /// The registers that are live at the end of a block otherwise than at the start of the one that follows it in the list, with the components that are
    /// live at the end. At the end of the list nothing is.
    pub(crate) fn changes(&self, block: usize) -> &[(u32, u8)] {
        match (self.starts.get(block), self.starts.get(block + 1)) {
            (Some(&start), Some(&end)) => &self.changes[start as usize..end as usize],
            _ => &[],
        }
    }

    /// What is live at the start of the program that this is about.
    pub(crate) fn at_start(&self, program: &Program) -> Vec<(u32, u8)> {
        if self.blocks.len() > 1 {
            return self.at_start.clone();
        }
        let entries = Entries::of(program, &self.blocks);
        entries.globals.iter().map(|&register| (register, entries.states[register as usize].exposed)).collect()
    }
}

#[cfg(test)]
mod tests {
    use tgsi::shader::{Dst, Instruction, Register, Src};
    use tgsi::tables::{File, Opcode};

    use super::*;

    /// A small generator of random numbers.
    struct Random(u64);

    impl Random {
        fn below(&mut self, count: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % count
        }
    }

    const TEMPS: u64 = 6;

    fn instruction(opcode: Opcode, random: &mut Random) -> Instruction {
        let mut instruction = Instruction::new(opcode);
        let info = opcode.info();
        let temp = |random: &mut Random| Register::new(File::Temporary, random.below(TEMPS) as i32);
        for _ in 0..info.num_dst {
            let mask = random.below(15) as u8 + 1;
            instruction.dst.push(Dst::new(temp(random)).masked(mask));
        }
        for _ in 0..info.num_src {
            let swizzle = [0; 4].map(|_: u8| random.below(4) as u8);
            instruction.src.push(Src::new(temp(random)).swizzled(swizzle));
        }
        instruction
    }

    fn list(program: &mut Program, random: &mut Random, depth: u32, in_loop: bool) {
        for _ in 0..random.below(5) {
            match random.below(8) {
                0 | 1 if depth < 5 => {
                    program.push(instruction(Opcode::Uif, random));
                    list(program, random, depth + 1, in_loop);
                    if random.below(2) == 0 {
                        program.push(instruction(Opcode::Else, random));
                        list(program, random, depth + 1, in_loop);
                    }
                    program.push(instruction(Opcode::Endif, random));
                }
                2 if depth < 5 => {
                    program.push(instruction(Opcode::Bgnloop, random));
                    list(program, random, depth + 1, true);
                    program.push(instruction(Opcode::Uif, random));
                    program.push(instruction(Opcode::Brk, random));
                    program.push(instruction(Opcode::Endif, random));
                    list(program, random, depth + 1, true);
                    program.push(instruction(Opcode::Endloop, random));
                }
                3 if in_loop && random.below(3) == 0 => {
                    let jump = if random.below(2) == 0 { Opcode::Brk } else { Opcode::Cont };
                    program.push(instruction(jump, random));
                }
                _ if random.below(3) != 0 => program.push(instruction(Opcode::Add, random)),
                _ => {}
            }
        }
    }

    fn step(access: &super::super::access::Access, live: &mut [u8]) {
        if let Some(written) = access.written() {
            live[written.register()] &= !written.mask();
        }
        for read in access.reads() {
            live[read.register()] |= read.mask();
        }
    }

    /// Block by block until nothing changes, as it stands in books.
    fn by_iteration(program: &Program, blocks: &[Block]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let none = vec![0u8; program.registers()];
        let (mut live_in, mut live_out) = (vec![none.clone(); blocks.len()], vec![none; blocks.len()]);
        let mut changed = true;
        while changed {
            changed = false;
            for (number, block) in blocks.iter().enumerate().rev() {
                for successor in block.successors() {
                    for (out, &behind) in live_out[number].iter_mut().zip(&live_in[successor]) {
                        *out |= behind;
                    }
                }
                let mut live = live_out[number].clone();
                program.access[block.start..block.end].iter().rev().for_each(|access| step(access, &mut live));
                changed |= live != live_in[number];
                live_in[number] = live;
            }
        }
        (live_in, live_out)
    }

    /// On a way from the start of the program; elsewhere nothing is promised.
    fn reachable(blocks: &[Block]) -> Vec<bool> {
        let mut found = vec![false; blocks.len()];
        let mut work = vec![0];
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut found[block], true) {
                work.extend(blocks[block].successors());
            }
        }
        found
    }

    #[test]
    fn a_walk_with_the_changes_knows_what_is_live() {
        let mut random = Random(1);
        let mut exact = 0;
        for round in 0..3000 {
            let mut program = Program { num_temps: TEMPS as u32, ..Program::default() };
            for _ in 0..random.below(4) {
                list(&mut program, &mut random, 0, false);
            }
            let liveness = Liveness::of(&program);
            let (live_in, live_out) = by_iteration(&program, &liveness.blocks);
            let is_reachable = reachable(&liveness.blocks);
            // What is live behind an endless loop may be taken to be live in it.
            let ends_loop = |block: &Block| program.access[block.end - 1].opcode == Opcode::Endloop;
            let last = liveness.blocks.len() - 1;
            let is_exact = (0..last).all(|b| !ends_loop(&liveness.blocks[b]) || is_reachable[b + 1]);
            exact += usize::from(is_exact);
            let is_right = |found: &[u8], expected: &[u8]| match is_exact {
                true => found == expected,
                false => found.iter().zip(expected).all(|(found, expected)| expected & !found == 0),
            };
            let mut live = vec![0u8; program.registers()];
            for (number, block) in liveness.blocks.iter().enumerate().rev() {
                for &(register, mask) in liveness.changes(number) {
                    live[register as usize] = mask;
                }
                if is_reachable[number] {
                    assert!(is_right(&live, &live_out[number]), "round {round}, end of block {number}");
                }
                program.access[block.start..block.end].iter().rev().for_each(|access| step(access, &mut live));
                if is_reachable[number] {
                    assert!(is_right(&live, &live_in[number]), "round {round}, start of block {number}");
                }
            }
            let mut at_start = vec![0u8; program.registers()];
            liveness.at_start(&program).iter().for_each(|&(register, mask)| at_start[register as usize] = mask);
            assert!(is_right(&at_start, &live_in[0]), "round {round}");
        }
        assert!(exact > 1000, "{exact}");
    }
}
