//! Allocation of the register file, in which each R register holds two H registers.
//!
//! Values are assigned in the order of their first positions, each to the first register in which it fits under some
//! permutation of its components. Exported registers have fixed places, and are free until the first write of the
//! output.
//!
//! The unit is half a component: component c of Rn is units 8n + 2c and 8n + 2c + 1, component c of Hn is unit 4n + c.

use std::collections::BTreeMap;

use tgsi_vec4::allocate::freedoms;
use tgsi_vec4::simple::File;
use tgsi_vec4::{Allocate, Location, Reg, SwizzleConstraint};

use super::live::{Live, OUTPUTS, Segment};
use crate::error::Nv40Error;
use crate::isa::fragment::Register;
use crate::machine::{DEPTH, MachineInstruction, Program};

/// The numbers of registers of renamed instructions: R registers, then H registers from here.
const HALF: i32 = 256;

/// Registers beyond those of any chip that are tried, to state how many a program takes.
const MOST: u16 = 255;

/// Returns the register of an output.
pub(super) fn exported(output: i32, is_full: bool) -> Option<Register> {
    let number = usize::try_from(output).ok()?;
    match (output, is_full) {
        (DEPTH, _) => Some(Register::R(1)),
        (_, true) => [0, 2, 3, 4].get(number).copied().map(Register::R),
        (_, false) => [0, 4, 6, 8].get(number).copied().map(Register::H),
    }
}

/// Returns the register of a renamed operand.
pub(super) fn register_of(file: File, index: i32, exports_full: bool) -> Option<Register> {
    match file {
        File::Output => exported(index, exports_full),
        File::Temporary => match u8::try_from(index) {
            Ok(number) => Some(Register::R(number)),
            Err(_) => u8::try_from(index - HALF).ok().map(Register::H),
        },
        _ => None,
    }
}

/// Units of a component of a register.
pub(super) fn units(register: Register, component: usize) -> std::ops::Range<usize> {
    match register {
        Register::R(number) => {
            let first = usize::from(number) * 8 + 2 * component;
            first..first + 2
        }
        Register::H(number) => {
            let first = usize::from(number) * 4 + component;
            first..first + 1
        }
    }
}

/// The occupied positions of each unit: the last position by the first.
#[derive(Default)]
struct Occupied(Vec<BTreeMap<u32, u32>>);

impl Occupied {
    fn is_free(&self, unit: usize, segments: &[Segment]) -> bool {
        let Some(taken) = self.0.get(unit) else { return true };
        let overlaps =
            |&(first, last): &Segment| taken.range(..=last).next_back().is_some_and(|(_, &end)| end >= first);
        taken.is_empty() || !segments.iter().any(overlaps)
    }

    fn take(&mut self, unit: usize, segments: &[Segment]) {
        if self.0.len() <= unit {
            self.0.resize_with(unit + 1, BTreeMap::new);
        }
        self.0[unit].extend(segments.iter().copied());
    }

    /// The R registers with occupied units.
    fn registers(&self) -> u32 {
        self.0.len().div_ceil(8) as u32
    }
}

/// The permutations that a temporary may have, the identity first.
fn permutations(freedom: SwizzleConstraint) -> &'static [[u8; 4]] {
    const ALL: [[u8; 4]; 24] = all_permutations();
    match freedom {
        SwizzleConstraint::Any => &ALL,
        _ => &ALL[..1],
    }
}

/// All permutations in lexical order.
const fn all_permutations() -> [[u8; 4]; 24] {
    let mut all = [[0; 4]; 24];
    let mut found = 0;
    let mut number = 0u8;
    // The number has the components as digits of base 4.
    loop {
        let [x, y, z, w] = [number >> 6, number >> 4 & 3, number >> 2 & 3, number & 3];
        if 1 << x | 1 << y | 1 << z | 1 << w == 15 {
            all[found] = [x, y, z, w];
            found += 1;
        }
        if number == 255 {
            return all;
        }
        number += 1;
    }
}

/// A program with registers.
pub(super) struct Allocated {
    /// The instructions, with registers by [`register_of`].
    pub(super) instructions: Vec<MachineInstruction>,
    /// R registers that are used.
    pub(super) registers: u32,
}

/// Assigns registers. Temporaries marked in `halves` become H registers; those marked in `fixed` keep their components.
pub(super) fn allocate(
    program: &Program,
    live: &Live,
    halves: &[bool],
    fixed: &[bool],
    exports_full: bool,
) -> Result<Allocated, Nv40Error> {
    let mut occupied = Occupied::default();
    for output in 0..OUTPUTS {
        let Some(register) = exported(output as i32, exports_full) else { continue };
        for (component, segments) in live.output(output).iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            units(register, component).for_each(|unit| occupied.take(unit, segments));
        }
    }
    let freedoms = freedoms(program);
    let mut order: Vec<(u32, usize)> = Vec::with_capacity(program.temps());
    for temp in 0..program.temps() {
        // The first range is the last of the list.
        let first = live.temp(temp).iter().filter_map(|list| list.last()).map(|segment| segment.0).min();
        order.extend(first.map(|first| (first, temp)));
    }
    order.sort_unstable();
    let limits = &program.machine.chip.limits().fragment;
    let mut locations = vec![Location { register: Reg::temp(0), components: [0, 1, 2, 3] }; program.temps()];
    for (_, temp) in order {
        let freedom = if fixed.get(temp) == Some(&true) { SwizzleConstraint::Fixed } else { freedoms[temp] };
        let is_half = halves.get(temp) == Some(&true);
        let most = if is_half { limits.half.into() } else { MOST };
        let place = (0..most).find_map(|number| {
            let register = if is_half { Register::H(number as u8) } else { Register::R(number as u8) };
            // For each component of the temporary, the components of the register that are free.
            let free = live.temp(temp).each_ref().map(|segments| {
                let is_free = |component: &usize| {
                    segments.is_empty() || units(register, *component).all(|unit| occupied.is_free(unit, segments))
                };
                (0..4).filter(is_free).fold(0u8, |free, component| free | 1 << component)
            });
            let fits = |permutation: &&[u8; 4]| free.iter().zip(**permutation).all(|(free, to)| free >> to & 1 != 0);
            Some((register, *permutations(freedom).iter().find(fits)?))
        });
        let Some((register, components)) = place else { return Err(too_many(program, u32::from(MOST) + 1)) };
        for (segments, component) in live.temp(temp).iter().zip(components).filter(|(list, _)| !list.is_empty()) {
            units(register, component.into()).for_each(|unit| occupied.take(unit, segments));
        }
        let number = match register {
            Register::R(number) => u32::from(number),
            Register::H(number) => HALF as u32 + u32::from(number),
        };
        locations[temp] = Location { register: Reg::temp(number), components };
    }
    let registers = occupied.registers();
    if registers > u32::from(limits.full) {
        return Err(too_many(program, registers));
    }
    let mut instructions = program.instructions().to_vec();
    let mut accesses = program.accesses().to_vec();
    for (instruction, access) in instructions.iter_mut().zip(&mut accesses) {
        program.machine.rename(instruction, access, program.first_temp(), |temp| locations[temp]);
    }
    Ok(Allocated { instructions, registers })
}

fn too_many(program: &Program, found: u32) -> Nv40Error {
    let chip = program.machine.chip;
    let limit = chip.limits().fragment.full.into();
    Nv40Error::TooMany { what: "temporary registers", found, limit, chip }
}
