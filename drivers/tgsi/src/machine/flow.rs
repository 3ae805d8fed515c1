//! Blocks of the instruction list, and which temporaries are live where.

use tgsi::shader::Instruction;
use tgsi::tables::{File, Opcode};

use super::Program;
use super::operands::{for_each_read, is_flow, written};

/// A run of instructions `start..end`. Every flow instruction ends the block that it is in.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) successors: [Option<usize>; 2],
}

/// Cuts a list into blocks and joins them by their edges. A list whose blocks do not nest gives edges to the end.
pub(crate) fn blocks(instructions: &[Instruction]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut start = 0;
    for (place, instruction) in instructions.iter().enumerate() {
        if is_flow(instruction.opcode) {
            blocks.push(Block { start, end: place + 1, successors: [None; 2] });
            start = place + 1;
        }
    }
    blocks.push(Block { start, end: instructions.len(), successors: [None; 2] });

    // Blocks of the open constructs.
    struct Open {
        /// Block that ends in `IF` and waits for the other side.
        condition: Option<usize>,
        /// Blocks that jump to the end of the construct.
        to_end: Vec<usize>,
        /// First block of a loop.
        head: Option<usize>,
    }
    let mut open: Vec<Open> = Vec::new();
    for number in 0..blocks.len() {
        let next = (number + 1 < blocks.len()).then_some(number + 1);
        let last =
            blocks[number].end.checked_sub(1).filter(|&l| l >= blocks[number].start).map(|l| instructions[l].opcode);
        match last {
            Some(Opcode::If | Opcode::Uif) => {
                blocks[number].successors[0] = next;
                open.push(Open { condition: Some(number), to_end: Vec::new(), head: None });
            }
            Some(Opcode::Else) => {
                if let Some(construct) = open.last_mut() {
                    construct.to_end.push(number);
                    if let Some(condition) = construct.condition.take() {
                        blocks[condition].successors[1] = next;
                    }
                }
            }
            Some(Opcode::Endif) => {
                blocks[number].successors[0] = next;
                if let (Some(construct), Some(next)) = (open.pop(), next) {
                    if let Some(condition) = construct.condition {
                        blocks[condition].successors[1] = Some(next);
                    }
                    for from in construct.to_end {
                        blocks[from].successors[0] = Some(next);
                    }
                }
            }
            Some(Opcode::Bgnloop) => {
                blocks[number].successors[0] = next;
                open.push(Open { condition: None, to_end: Vec::new(), head: next });
            }
            Some(Opcode::Endloop) => {
                if let Some(construct) = open.pop() {
                    blocks[number].successors[0] = construct.head;
                    for from in construct.to_end {
                        blocks[from].successors[0] = next;
                    }
                }
            }
            Some(Opcode::Brk) => {
                if let Some(construct) = open.iter_mut().rev().find(|o| o.head.is_some()) {
                    construct.to_end.push(number);
                }
            }
            Some(Opcode::Cont) => {
                blocks[number].successors[0] = open.iter().rev().find_map(|o| o.head);
            }
            Some(Opcode::End) => {}
            _ => blocks[number].successors[0] = next,
        }
    }
    blocks
}

/// A set of components, four bits to a temporary.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ComponentSet(Vec<u64>);

impl ComponentSet {
    pub(crate) fn new(temps: usize) -> ComponentSet {
        ComponentSet(vec![0; temps.div_ceil(16)])
    }

    pub(crate) fn get(&self, temp: usize) -> u8 {
        self.0.get(temp / 16).map_or(0, |w| (w >> (temp % 16 * 4)) as u8 & 0xf)
    }

    pub(crate) fn insert(&mut self, temp: usize, mask: u8) {
        if let Some(word) = self.0.get_mut(temp / 16) {
            *word |= u64::from(mask) << (temp % 16 * 4);
        }
    }

    pub(crate) fn remove(&mut self, temp: usize, mask: u8) {
        if let Some(word) = self.0.get_mut(temp / 16) {
            *word &= !(u64::from(mask) << (temp % 16 * 4));
        }
    }

    /// `self |= other`; whether anything was new.
    pub(crate) fn unite(&mut self, other: &ComponentSet) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }

    /// Temporaries in the set with their components.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u8)> + '_ {
        self.0
            .iter()
            .enumerate()
            .filter(|(_, w)| **w != 0)
            .flat_map(|(i, &w)| (0..16).map(move |k| (i * 16 + k, (w >> (k * 4)) as u8 & 0xf)).filter(|(_, m)| *m != 0))
    }
}

/// Temporaries and address registers in one numbering: virtual temporaries from 0, then `ADDR`.
#[derive(Clone, Copy)]
pub(crate) struct Numbering {
    first_temp: u32,
    temps: usize,
}

/// Address registers that are told apart.
const ADDRESS_REGISTERS: usize = 8;

impl Numbering {
    pub(crate) fn of(program: &Program) -> Numbering {
        Numbering { first_temp: program.first_temp, temps: (program.num_temps - program.first_temp) as usize }
    }

    /// Number of a register, none if it is not followed.
    pub(crate) fn number(self, file: File, index: i32) -> Option<usize> {
        match file {
            File::Temporary => usize::try_from(index - self.first_temp as i32).ok().filter(|&n| n < self.temps),
            File::Address => usize::try_from(index).ok().filter(|&n| n < ADDRESS_REGISTERS).map(|n| self.temps + n),
            _ => None,
        }
    }

    /// How many there are.
    pub(crate) fn len(self) -> usize {
        self.temps + ADDRESS_REGISTERS
    }

    /// How many virtual temporaries there are.
    pub(crate) fn temps(self) -> usize {
        self.temps
    }
}

/// What is live at the ends of the blocks.
///
/// Most temporaries live within one block; only the others have a place in the sets that are kept for every block, which would be large otherwise.
pub(crate) struct Liveness {
    pub(crate) blocks: Vec<Block>,
    /// Registers that are live across blocks.
    global: Vec<usize>,
    live_in: Vec<ComponentSet>,
    live_out: Vec<ComponentSet>,
    registers: usize,
}

/// Registers that more than one block accesses, or that are read before the block writes them.
fn global_registers(program: &Program, numbering: Numbering, blocks: &[Block]) -> Vec<usize> {
    let count = numbering.len();
    let mut is_global = vec![false; count];
    let mut accessed_in = vec![u32::MAX; count];
    let mut defined = vec![0u8; count];
    for (number, block) in blocks.iter().enumerate() {
        let number = number as u32;
        for instruction in &program.instructions[block.start..block.end] {
            let mut access = |file: File, index: i32, mask: u8, writes: bool| {
                let Some(register) = numbering.number(file, index) else { return };
                if accessed_in[register] != number {
                    is_global[register] |= accessed_in[register] != u32::MAX;
                    accessed_in[register] = number;
                    defined[register] = 0;
                }
                if writes {
                    defined[register] |= mask;
                } else {
                    is_global[register] |= mask & !defined[register] != 0;
                }
            };
            for_each_read(instruction, |file, index, mask| access(file, index, mask, false));
            if let Some((file, index, mask)) = written(instruction) {
                access(file, index, mask, true);
            }
        }
    }
    (0..count).filter(|&register| is_global[register]).collect()
}

impl Liveness {
    pub(crate) fn of(program: &Program) -> Liveness {
        let numbering = Numbering::of(program);
        let blocks = blocks(&program.instructions);
        let global = global_registers(program, numbering, &blocks);
        let mut place_of = vec![usize::MAX; numbering.len()];
        for (place, &register) in global.iter().enumerate() {
            place_of[register] = place;
        }
        let place = |file: File, index: i32| {
            numbering.number(file, index).map(|register| place_of[register]).filter(|&p| p != usize::MAX)
        };
        let empty = ComponentSet::new(global.len());
        let (mut uses, mut defs) = (vec![empty.clone(); blocks.len()], vec![empty.clone(); blocks.len()]);
        for (number, block) in blocks.iter().enumerate() {
            for instruction in &program.instructions[block.start..block.end] {
                for_each_read(instruction, |file, index, mask| {
                    if let Some(place) = place(file, index) {
                        let mask = mask & !defs[number].get(place);
                        uses[number].insert(place, mask);
                    }
                });
                if let Some((file, index, mask)) = written(instruction)
                    && let Some(place) = place(file, index)
                {
                    defs[number].insert(place, mask);
                }
            }
        }
        let mut live_in = uses;
        let mut live_out = vec![empty; blocks.len()];
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
        for (number, block) in blocks.iter().enumerate() {
            for successor in block.successors.into_iter().flatten() {
                predecessors[successor].push(number);
            }
        }
        let mut pending = vec![true; blocks.len()];
        let mut work: Vec<usize> = (0..blocks.len()).collect();
        while let Some(number) = work.pop() {
            pending[number] = false;
            for successor in blocks[number].successors.into_iter().flatten() {
                live_out[number].unite(&live_in[successor]);
            }
            let mut through = live_out[number].clone();
            for (a, b) in through.0.iter_mut().zip(&defs[number].0) {
                *a &= !b;
            }
            if live_in[number].unite(&through) {
                for &predecessor in &predecessors[number] {
                    if !pending[predecessor] {
                        pending[predecessor] = true;
                        work.push(predecessor);
                    }
                }
            }
        }
        Liveness { blocks, global, live_in, live_out, registers: numbering.len() }
    }

    fn spread(&self, set: Option<&ComponentSet>) -> ComponentSet {
        let mut all = ComponentSet::new(self.registers);
        for (place, mask) in set.into_iter().flat_map(ComponentSet::iter) {
            if let Some(&register) = self.global.get(place) {
                all.insert(register, mask);
            }
        }
        all
    }

    /// What is live at the end of a block.
    pub(crate) fn live_out(&self, block: usize) -> ComponentSet {
        self.spread(self.live_out.get(block))
    }

    /// What is live at the start of a block.
    pub(crate) fn live_in(&self, block: usize) -> ComponentSet {
        self.spread(self.live_in.get(block))
    }
}
