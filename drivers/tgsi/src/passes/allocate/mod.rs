//! Virtual temporaries get registers: copies are coalesced, values are packed into the components of few `TEMP`s.
//!
//! 0. Results that the target [stores whole](crate::TgsiOptions::whole_results) are [separated](separate) from what
//!    they would destroy.
//! 1. Every component of a virtual temporary has *segments*: stretches of the program in which it holds something that is still needed.
//! 2. A *bundle* is a set of temporaries that share a register, with the component (*position*) of each of their components. At first each is a
//!    bundle of its own. A `MOV` between two bundles merges them if their components can be placed so that source and destination coincide and
//!    nothing else overlaps. Components that hold copies of one value may overlap.
//! 3. Bundles, by their first segment, go into the first register with room for them at some placement of their components.
//!
//! Which placements a bundle may have depends on the instructions that write it: those that work channel by channel can write any component, because
//! swizzles are free; 64-bit values must stay in pairs; lookups and loads write where they write.
//!
//! Everything is linear in the number of segments times the number of registers in use.

mod assign;
mod coalesce;
mod outputs;
mod rewrite;
mod segments;
mod separate;

use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};

use crate::machine::Program;
use crate::machine::access::{Access, Traits};
use crate::target::opcodes::{is_permutable, moves_in_pairs, reads_resource};
use segments::Segments;

/// How the components of a bundle may be placed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Freedom {
    /// Any component anywhere.
    Any,
    /// The halves may be swapped.
    Pairs,
    /// As they are.
    Fixed,
}

type Permutation = [u8; 4];

const IDENTITY: Permutation = [0, 1, 2, 3];

/// Placements, the identity first.
const PERMUTATIONS: [Permutation; 24] = [
    [0, 1, 2, 3],
    [1, 0, 2, 3],
    [0, 2, 1, 3],
    [2, 1, 0, 3],
    [0, 3, 2, 1],
    [3, 1, 2, 0],
    [0, 1, 3, 2],
    [2, 0, 1, 3],
    [1, 2, 0, 3],
    [3, 0, 2, 1],
    [1, 3, 2, 0],
    [2, 3, 0, 1],
    [3, 2, 1, 0],
    [1, 0, 3, 2],
    [0, 2, 3, 1],
    [0, 3, 1, 2],
    [2, 1, 3, 0],
    [3, 1, 0, 2],
    [2, 0, 3, 1],
    [3, 0, 1, 2],
    [1, 2, 3, 0],
    [3, 2, 0, 1],
    [1, 3, 0, 2],
    [2, 3, 1, 0],
];

fn placements(freedom: Freedom) -> &'static [Permutation] {
    const PAIRS: [Permutation; 2] = [[0, 1, 2, 3], [2, 3, 0, 1]];
    match freedom {
        Freedom::Any => &PERMUTATIONS,
        Freedom::Pairs => &PAIRS,
        Freedom::Fixed => &PAIRS[..1],
    }
}

/// Ends lists.
const NONE: u32 = u32::MAX;

/// Temporaries that share a register.
struct Bundle {
    /// First segment of each position.
    positions: [u32; 4],
    /// How many segments each position has.
    counts: [u32; 4],
    freedom: Freedom,
    /// First and last member.
    members: (u32, u32),
    /// The output that the bundle is.
    output: Option<i32>,
}

impl Bundle {
    fn is_empty(&self, position: usize) -> bool {
        self.positions[position] == NONE
    }
}

struct Allocation {
    segments: Segments,
    bundles: Vec<Bundle>,
    bundle_of: Vec<u32>,
    /// Position of each component of a temporary within its bundle.
    place_of: Vec<Permutation>,
    /// The next member of the same bundle.
    next_member: Vec<u32>,
}

impl Allocation {
    /// Moves the positions of a bundle: its members are elsewhere in it then.
    fn permute_members(&mut self, bundle: usize, p: Permutation) {
        let mut member = self.bundles[bundle].members.0;
        while member != NONE {
            let place = &mut self.place_of[member as usize];
            *place = place.map(|k| p[usize::from(k)]);
            member = self.next_member[member as usize];
        }
    }
}

/// Allocates. Afterwards temporaries are numbered from 0 without gaps; returns how many there are, arrays included. With `optimize` off nothing but
/// numbering happens: one register to a temporary.
pub(crate) fn allocate(program: &mut Program, optimize: bool, may_write_outputs_early: bool) -> u32 {
    separate::separate_results(program);
    let mut allocation = Allocation::of(program);
    if optimize {
        coalesce::coalesce(program, &mut allocation);
        if may_write_outputs_early {
            outputs::become_outputs(program, &mut allocation);
        }
    }
    let count = assign::assign(program, &mut allocation, optimize);
    rewrite::rewrite(program, &allocation, optimize);
    program.num_temps = program.first_temp + count;
    program.note_change();
    separate::keep_operands(program);
    program.num_temps
}

/// Makes temporaries one that can share a register with what is copied to them; nothing is packed. The copies then copy registers to themselves.
pub(super) fn coalesce_copies(program: &mut Program) {
    separate::separate_results(program);
    let mut allocation = Allocation::of(program);
    coalesce::coalesce(program, &mut allocation);
    let count = assign::assign(program, &mut allocation, false);
    rewrite::rewrite(program, &allocation, true);
    program.num_temps = program.first_temp + count;
    program.note_change();
}

/// How the components of each virtual temporary may be placed.
pub(super) fn freedoms(program: &Program) -> Vec<Freedom> {
    let mut freedom = vec![Freedom::Any; program.temps()];
    for (access, instruction) in program.access.iter().zip(&program.instructions) {
        if access.traits.any(Traits::CONSTRAINS) || program.rules.keeps_places(instruction) {
            constrain(program, access, instruction, &mut freedom);
        }
    }
    freedom
}

/// Narrows the freedom of the temporaries of an instruction.
fn constrain(program: &Program, access: &Access, instruction: &Instruction, freedom: &mut [Freedom]) {
    let info = instruction.opcode.info();
    if program.rules.keeps_places(instruction) {
        if let Some(temp) = access.written().and_then(|w| w.temp()) {
            freedom[temp] = Freedom::Fixed;
        }
        return;
    }
    let narrow = |freedom: &mut [Freedom], temp: Option<usize>, to: Freedom| {
        if let Some(temp) = temp {
            freedom[temp] = freedom[temp].max(to);
        }
    };
    if !is_permutable(instruction.opcode) {
        let to = match program.rules.is_single_double(instruction.opcode) {
            true if !info.dst_type.is_64bit() => Freedom::Any,
            true => Freedom::Pairs,
            false if moves_in_pairs(instruction.opcode) => Freedom::Pairs,
            false => Freedom::Fixed,
        };
        narrow(freedom, access.written().and_then(|w| w.temp()), to);
    }
    for (number, src) in instruction.src.iter().enumerate() {
        if src.register.file != File::Temporary || src.register.indirect.is_some() {
            continue;
        }
        let temp = program.temp(File::Temporary, src.register.index);
        let resource =
            info.is_tex && number + 1 == usize::from(info.num_src) || number == 0 && reads_resource(instruction.opcode);
        if resource {
            narrow(freedom, temp, Freedom::Fixed);
        } else if info.src_types.get(number).is_some_and(|t| t.is_64bit()) {
            narrow(freedom, temp, Freedom::Pairs);
        }
    }
    if instruction.opcode == Opcode::Store
        && let Some(dst) = instruction.dst.first()
    {
        narrow(freedom, program.temp(dst.register.file, dst.register.index), Freedom::Fixed);
    }
}

/// A copy between temporaries that changes nothing but the places of components.
struct Move<'a> {
    dst: &'a Dst,
    src: &'a Src,
    /// Number of the temporary that is written.
    to: usize,
    /// Number of the one that is read.
    from: usize,
}

impl<'a> Move<'a> {
    fn of(program: &Program, instruction: &'a Instruction) -> Option<Move<'a>> {
        if instruction.opcode != Opcode::Mov || instruction.saturate {
            return None;
        }
        let (dst, src) = (instruction.dst.first()?, instruction.src.first()?);
        if src.negate || src.absolute || dst.register.indirect.is_some() || src.register.indirect.is_some() {
            return None;
        }
        let temporary = |r: Register| program.temp(r.file, r.index);
        Some(Move { dst, src, to: temporary(dst.register)?, from: temporary(src.register)? })
    }

    /// All of a program.
    fn all(program: &'a Program) -> impl Iterator<Item = Move<'a>> {
        let copies = program.access.iter().zip(&program.instructions).filter(|(a, _)| a.opcode == Opcode::Mov);
        copies.filter_map(|(_, instruction)| Move::of(program, instruction))
    }
}

/// Marks the numbers of outputs among the registers of temporaries.
const OUTPUT: u32 = 1 << 31;

/// The register that a temporary has become.
fn register_of(number: u32) -> (File, i32) {
    if number & OUTPUT != 0 { (File::Output, (number & !OUTPUT) as i32) } else { (File::Temporary, number as i32) }
}
