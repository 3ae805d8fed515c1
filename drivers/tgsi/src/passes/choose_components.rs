//! Assigns values to the components with the fewest copies on the target, where operands support few swizzles.
//!
//! ```text
//! ADD TEMP[0].xy, IN[0].yxyy, IMM[0].xxxx        ADD TEMP[0].xy, IN[0], IMM[0].xxxx
//! MUL TEMP[1].xy, TEMP[0].yxxx, IN[1]        =>  MUL TEMP[1].xy, TEMP[0], IN[1]
//!
//! MAD TEMP[0], IN[0].xyxy, IMM[0], CONST[0]      MAD TEMP[0].xy, IN[0], IMM[0], CONST[0]
//! TEX TEMP[1], TEMP[0], SAMP[0], 2D          =>  MAD TEMP[3].xy, IN[0], IMM[0].zwww, CONST[0].zwww
//! TEX TEMP[2], TEMP[0].zwww, SAMP[0], 2D         TEX TEMP[1], TEMP[0], SAMP[0], 2D
//!                                                TEX TEMP[2], TEMP[3], SAMP[0], 2D
//! ```
//!
//! Visits temporaries in the order of their numbers. Chooses the order of components with the fewest target
//! instructions for the accesses to the temporary. Components that are never read together are split into separate
//! temporaries where that saves more.

use rustc_hash::FxHashMap;
use tgsi::shader::{Dst, Instruction, Register};
use tgsi::tables::{File, Opcode};
use tgsi_vec4::allocate::{Allocate, Location, SwizzleConstraint, freedoms};
use tgsi_vec4::{Machine, Reg, Traits};

use crate::consumers::fit::r300::copies_of_components;
use crate::machine::{Program, RegisterAccess, Tgsi, virtual_temp};

/// The maximum number of instructions that access a temporary.
const MAX_ACCESSES: usize = 64;

/// An order of components.
type Order = [u8; 4];

const IN_ORDER: Order = [0, 1, 2, 3];

/// All other orders.
#[rustfmt::skip]
const ORDERS: [Order; 23] = [
    [1, 0, 2, 3], [0, 2, 1, 3], [2, 1, 0, 3], [0, 3, 2, 1], [3, 1, 2, 0], [0, 1, 3, 2], [2, 0, 1, 3], [1, 2, 0, 3],
    [3, 0, 2, 1], [1, 3, 2, 0], [2, 3, 0, 1], [3, 2, 1, 0], [1, 0, 3, 2], [0, 2, 3, 1], [0, 3, 1, 2], [2, 1, 3, 0],
    [3, 1, 0, 2], [2, 0, 3, 1], [3, 0, 1, 2], [1, 2, 3, 0], [3, 2, 0, 1], [1, 3, 0, 2], [2, 3, 1, 0],
];

/// The place of an instruction.
#[derive(Clone, Copy)]
enum ProgramPosition {
    /// An instruction of the program.
    At(usize),
    /// One of the instructions inserted into it.
    New(usize),
    /// Not yet inserted: before an instruction of the program.
    Before(usize),
}

/// An instruction that accesses a temporary.
#[derive(Clone)]
struct TempUse {
    place: ProgramPosition,
    instruction: Instruction,
    access: RegisterAccess,
}

/// The best order for a temporary depends on other temporaries, before and after it.
const ROUNDS: usize = 4;

/// The extent of the search for components that become separate values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SplitScope {
    /// The instructions that write and read the components.
    Values,
    /// Also operands used only there: they can be split as well.
    Operands,
}

/// Chooses components. Returns whether anything changed.
pub(crate) fn choose_components(program: &mut Program, scope: SplitScope) -> bool {
    let rounds = (0..ROUNDS).take_while(|_| choose_once(program, scope)).count();
    rounds > 0
}

fn choose_once(program: &mut Program, scope: SplitScope) -> bool {
    let freedom = freedoms(program);
    let mut by_temp: Vec<Vec<usize>> = vec![Vec::new(); program.temps()];
    for (index, access) in program.accesses().iter().enumerate() {
        for temp in access.reads().iter().copied().chain(access.written()).filter_map(|a| a.temp()) {
            if by_temp[temp].last() != Some(&index) {
                by_temp[temp].push(index);
            }
        }
    }
    let (machine, first_temp) = (program.machine.clone(), program.first_temp());
    let mut new: Vec<(usize, Instruction)> = Vec::new();
    let mut new_at: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    let divisible: Vec<bool> = (0..by_temp.len())
        .map(|temp| {
            let reads = |access: &RegisterAccess| access.reads().iter().any(|r| r.temp() == Some(temp));
            let accesses = || by_temp[temp].iter().map(|&index| &program.accesses()[index]);
            scope == SplitScope::Operands
                && freedom[temp] == SwizzleConstraint::Any
                && accesses().all(|access| reads(access) || access.traits.any(Traits::COMPONENTWISE))
                && accesses().filter(|access| reads(access)).count() == 1
        })
        .collect();
    let mut progress = false;
    for (temp, indices) in by_temp.iter().enumerate() {
        if freedom[temp] != SwizzleConstraint::Any || indices.len() > MAX_ACCESSES {
            continue;
        }
        let use_at = |place: ProgramPosition, instruction: &Instruction| TempUse {
            place,
            instruction: instruction.clone(),
            access: machine.access(instruction, first_temp),
        };
        let mut uses: Vec<TempUse> = Vec::new();
        for &index in indices {
            let numbers = new_at.get(&index).into_iter().flatten();
            uses.extend(numbers.map(|&number| use_at(ProgramPosition::New(number), &new[number].1)));
            uses.push(use_at(ProgramPosition::At(index), &program.instructions()[index]));
        }
        let mut values = Values { machine: &machine, first_temp, divisible: None, uses };
        if values.has_least_cost() {
            continue;
        }
        let mut changes = values.choose(temp);
        while let Some(parts) = values.split_component_groups(temp, program.temps(), &divisible) {
            let _ = program.new_temp();
            values = parts;
            changes = true;
        }
        if !changes {
            continue;
        }
        progress = true;
        for TempUse { place, instruction, .. } in values.uses {
            match place {
                ProgramPosition::At(index) => program.set(index, instruction),
                ProgramPosition::New(number) => new[number].1 = instruction,
                ProgramPosition::Before(index) => {
                    new_at.entry(index).or_default().push(new.len());
                    new.push((index, instruction));
                }
            }
        }
    }
    program.remove_and_insert(&[], new);
    progress
}

/// The accesses to a temporary, including those split off.
#[derive(Clone)]
struct Values<'a> {
    machine: &'a Tgsi,
    first_temp: u32,
    /// Operands with swizzles that do not count.
    divisible: Option<&'a [bool]>,
    uses: Vec<TempUse>,
}

impl<'a> Values<'a> {
    fn cost(&self) -> u32 {
        self.uses.iter().map(|u| self.cost_of(u, usize::MAX, IN_ORDER)).sum()
    }

    /// The cost of an instruction after the components of a temporary are reordered.
    fn cost_of(&self, one: &TempUse, temp: usize, order: Order) -> u32 {
        let is_free = |of: Option<usize>| {
            let divisible = self.divisible.unwrap_or_default();
            of.is_some_and(|of| divisible.get(of) == Some(&true))
        };
        cost(&one.instruction, &one.access, self.first_temp, is_free, |of| (of == temp).then_some(order))
    }

    fn has_least_cost(&self) -> bool {
        self.cost() <= self.uses.iter().map(|u| least_cost(mask(&u.instruction), &u.access)).sum()
    }

    /// Chooses the best order of the components of a temporary. Returns whether it changed.
    fn choose(&mut self, temp: usize) -> bool {
        let order = |order: &Order| self.uses.iter().map(|u| self.cost_of(u, temp, *order)).sum::<u32>();
        let Some((least, best)) = ORDERS.iter().map(|o| (order(o), *o)).min_by_key(|(cost, _)| *cost) else {
            return false;
        };
        if least >= self.cost() {
            return false;
        }
        for TempUse { instruction, access, .. } in &mut self.uses {
            self.machine.rename(instruction, access, self.first_temp, |other| Location {
                register: Reg::temp(other as u32),
                components: if other == temp { best } else { IN_ORDER },
            });
        }
        true
    }

    /// Splits some components into another temporary, if that costs less.
    fn split_component_groups(&self, temp: usize, other: usize, divisible: &'a [bool]) -> Option<Values<'a>> {
        let least = self.cost();
        let groups = self.groups(temp)?;
        groups.into_iter().find_map(|group| {
            let mut parts = self.split(temp, other, group)?;
            parts.divisible = Some(divisible);
            parts.choose(other);
            parts.choose(temp);
            let is_better = parts.cost() < least;
            parts.divisible = None;
            is_better.then_some(parts)
        })
    }

    /// The groups of components that are read together, if there is more than one.
    fn groups(&self, temp: usize) -> Option<Vec<u8>> {
        let mut groups: Vec<u8> = Vec::new();
        let mut join = |mask: u8| {
            let mut all = mask;
            groups.retain(|&group| {
                let meets = group & mask != 0;
                all |= if meets { group } else { 0 };
                !meets
            });
            if all != 0 {
                groups.push(all);
            }
        };
        for TempUse { instruction, access, .. } in &self.uses {
            let written = access.written().filter(|w| w.temp() == Some(temp)).map_or(0, |w| w.mask());
            if written != 0 && !access.traits.any(Traits::COMPONENTWISE) {
                join(written);
            }
            let mut found = 0;
            for (source, src) in instruction.src.iter().enumerate() {
                if virtual_temp(src.register.file, src.register.index, self.first_temp) == Some(temp) {
                    join(access.mask(source));
                    found |= access.mask(source);
                }
            }
            // Instructions that both write and read it are not split, nor are those with other reads.
            let read = access.reads().iter().filter(|r| r.temp() == Some(temp)).fold(0, |mask, r| mask | r.mask());
            if read & !found != 0 || read != 0 && written != 0 {
                return None;
            }
        }
        (groups.len() > 1).then_some(groups)
    }

    /// Moves components to another temporary.
    fn split(&self, temp: usize, other: usize, group: u8) -> Option<Values<'a>> {
        let register = Register::new(File::Temporary, (self.first_temp as usize + other) as i32);
        let mut uses = Vec::with_capacity(self.uses.len() + 1);
        for old in &self.uses {
            let mut kept = old.clone();
            let written = kept.access.written().filter(|w| w.temp() == Some(temp)).map_or(0, |w| w.mask());
            let (moved, rest) = (written & group, written & !group);
            if moved != 0 {
                let mut part = old.instruction.clone();
                part.dst[0] = Dst { register, write_mask: moved, ..part.dst[0] };
                if rest == 0 {
                    kept.instruction = part;
                } else {
                    let (ProgramPosition::At(index) | ProgramPosition::Before(index)) = old.place else { return None };
                    let access = self.machine.access(&part, self.first_temp);
                    uses.push(TempUse { place: ProgramPosition::Before(index), instruction: part, access });
                    kept.instruction.dst[0].write_mask = rest;
                }
            }
            for (source, src) in kept.instruction.src.iter_mut().enumerate() {
                let read = old.access.mask(source);
                if virtual_temp(src.register.file, src.register.index, self.first_temp) == Some(temp)
                    && read & group != 0
                {
                    src.register = register;
                }
            }
            kept.access = self.machine.access(&kept.instruction, self.first_temp);
            uses.push(kept);
        }
        Some(Values { uses, ..self.clone() })
    }
}

/// Twice the number of target instructions of the program.
pub(crate) fn cost_of_swizzles(program: &Program) -> u32 {
    let all = program.instructions().iter().zip(program.accesses());
    all.map(|(instruction, access)| cost(instruction, access, program.first_temp(), |_| false, |_| None)).sum()
}

/// The same with all operands in the swizzles that need no copies.
pub(crate) fn least_cost_of_swizzles(program: &Program) -> u32 {
    program.instructions().iter().zip(program.accesses()).map(|(i, access)| least_cost(mask(i), access)).sum()
}

/// The components that an instruction writes.
fn mask(instruction: &Instruction) -> u8 {
    instruction.dst.first().map_or(0, |dst| dst.write_mask)
}

/// The cost of an instruction with operands that need no copies.
fn least_cost(written: u8, access: &RegisterAccess) -> u32 {
    if access.traits.any(Traits::COMPONENTWISE) && written & 0b111 == 0 { 1 } else { 2 }
}

/// Twice the number of target instructions for an instruction. One that writes only w can often be paired with another
/// one. Free operands do not count; `moved` returns the order of the components of temporaries.
fn cost(
    instruction: &Instruction,
    access: &RegisterAccess,
    first_temp: u32,
    is_free: impl Fn(Option<usize>) -> bool,
    moved: impl Fn(usize) -> Option<Order>,
) -> u32 {
    let temp_of = |register: &Register| virtual_temp(register.file, register.index, first_temp);
    let is_componentwise = access.traits.any(Traits::COMPONENTWISE);
    let to = instruction.dst.first().and_then(|dst| temp_of(&dst.register)).and_then(&moved).unwrap_or(IN_ORDER);
    let old = mask(instruction);
    let written = (0..4).filter(|c| old & 1 << c != 0).fold(0u8, |mask, c| mask | 1 << to[c]);
    // Immediates are packed in the order in which they are read.
    let counted = instruction.src.iter().enumerate().filter(|(_, src)| src.register.file != File::Immediate);
    let sources = counted.filter_map(|(source, src)| {
        let temp = temp_of(&src.register);
        let from = temp.and_then(&moved).unwrap_or(IN_ORDER);
        let mut swizzle = src.swizzle.map(|c| from[usize::from(c & 3)]);
        if is_componentwise {
            let read = swizzle;
            (0..4).filter(|c| old & 1 << c != 0).for_each(|c| swizzle[usize::from(to[c])] = read[c]);
        }
        (!is_free(temp)).then_some((source, swizzle))
    });
    let least = least_cost(written, access);
    if is_componentwise {
        let parts = sources.map(|(_, swizzle)| copies_of_components(swizzle, written)).max().unwrap_or(0);
        return least * parts.max(1);
    }
    let is_lookup = access.opcode.info().is_tex || access.opcode == Opcode::KillIf;
    let copies = sources.map(|(source, swizzle)| {
        let channels = access.channels(source);
        let is_in_place = || (0..4u8).all(|c| channels & 1 << c == 0 || swizzle[usize::from(c)] == c);
        match is_lookup {
            true if source > 0 || is_in_place() => 0,
            true => copies_of_components(swizzle, channels).max(1),
            false => copies_of_components(swizzle, channels),
        }
    });
    least + 2 * copies.sum::<u32>()
}
