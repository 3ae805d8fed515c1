//! Virtual temporaries get registers: copies are coalesced, values are packed into the components of few registers.
//!
//! 0. Results that the machine [stores whole](super::Machine::stores_whole) are separated from what they
//!    would destroy.
//! 1. Every component of a virtual temporary has *segments*: stretches of the program in which it holds something
//!    that is still needed.
//! 2. A *bundle* is a set of temporaries that share a register, with the component (*position*) of each of their
//!    components. At first each is a bundle of its own. A copy between two bundles merges them if their components
//!    can be assigned so that source and destination coincide and nothing else overlaps. Components that hold copies
//!    of one value may overlap.
//! 3. Bundles, by their first segment, go into the first register with room for them under some permutation of their
//!    components.
//!
//! Which permutations a bundle may have depends on the instructions that write it ([`Freedom`]): those that work
//! channel by channel can write any component, because swizzles are free, or those of a half; pairs must stay pairs;
//! lookups and loads write where they write.
//!
//! Everything is linear in the number of segments times the number of registers in use.

mod assign;
mod coalesce;
mod outputs;
mod rewrite;
mod segments;
mod separate;
mod writers;

use super::access::Access;
use super::{Machine, Program, Reg, RegisterCopy, Traits};
use segments::Segments;
use writers::Sources;

/// The permutations that the components of a temporary allow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freedom {
    /// Any component anywhere.
    Any,
    /// Components may be swapped within each half.
    WithinHalves,
    /// The halves may be swapped.
    Pairs,
    /// As they are.
    Fixed,
}

impl Freedom {
    /// The permutations that both allow.
    pub(super) fn and(self, other: Freedom) -> Freedom {
        match (self, other) {
            (Freedom::Any, freedom) | (freedom, Freedom::Any) => freedom,
            _ if self == other => self,
            _ => Freedom::Fixed,
        }
    }
}

/// Where a virtual temporary is: the register, a virtual temporary by number or an output, and the component of it that
/// each component is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Location {
    /// The register.
    pub register: Reg,
    /// Its component for each component.
    pub components: [u8; 4],
}

/// Questions of allocation to a machine: how free the components of its temporaries are, and to rename them.
pub trait Allocate: Machine {
    /// Narrows the freedom of the virtual temporaries of an instruction, by number.
    fn constrain(
        &self,
        instruction: &Self::Instruction,
        access: &Access<Self::Opcode>,
        first_temp: u32,
        narrow: impl FnMut(usize, Freedom),
    );

    /// Renames the virtual temporaries that an instruction reads.
    fn rename_reads(
        &self,
        instruction: &mut Self::Instruction,
        first_temp: u32,
        location: impl FnMut(usize) -> Option<Location>,
    );

    /// Renames the virtual temporaries that an instruction reads and writes, and brings its access up to date. The
    /// channels that it computes move with the components of what it writes. Returns whether there was any.
    fn rename(
        &self,
        instruction: &mut Self::Instruction,
        access: &mut Access<Self::Opcode>,
        first_temp: u32,
        location: impl Fn(usize) -> Location,
    ) -> bool;

    /// Makes an instruction write the same components of a virtual temporary (counted with the fixed ones), and returns
    /// the copy from there to where it has written before, if it has.
    fn redirect(&self, instruction: &mut Self::Instruction, temp: u32) -> Option<Self::Instruction>;

    /// Virtual temporaries and the components of them that an instruction reads after it has written a part of its
    /// result.
    #[inline]
    fn late_reads(
        &self,
        _instruction: &Self::Instruction,
        _access: &Access<Self::Opcode>,
        _first_temp: u32,
        _read: impl FnMut(usize, u8),
    ) {
    }

    /// Whether an instruction would overwrite what it has still to read, now that temporaries are registers.
    #[inline]
    fn overwrites_itself(&self, _instruction: &Self::Instruction) -> bool {
        false
    }

    /// Whether the target forbids any results in outputs.
    #[inline]
    fn restricts_outputs(&self) -> bool {
        false
    }

    /// How few outputs the result of an instruction may go to directly: those whose [`output_limit`] is not less. 0: to
    /// every output.
    ///
    /// [`output_limit`]: Self::output_limit
    #[inline]
    fn output_restriction(&self, _instruction: &Self::Instruction) -> u8 {
        0
    }

    /// The greatest [`output_restriction`](Self::output_restriction) of instructions that may write an output. `None`:
    /// only copies may.
    #[inline]
    fn output_limit(&self, _output: usize) -> Option<u8> {
        Some(u8::MAX)
    }
}

/// How much [`allocate`] does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Only numbering: one register to a temporary.
    Number,
    /// Copies are coalesced; values that have nothing to do with each other have registers of their own, for machines
    /// with an allocator behind.
    Coalesce {
        /// A component that holds a value that was written once is written by nothing else, for machines with a
        /// scheduler behind: a second write would have to wait for the readers of the first.
        once: bool,
        /// The copies that make one vector are one instruction in the end: where some of them stay, the others are no
        /// gain if they vanish, and what then reads and writes the same register is not joined.
        joined: bool,
    },
    /// All that fits shares registers.
    Pack,
}

type Permutation = [u8; 4];

const IDENTITY: Permutation = [0, 1, 2, 3];

/// All of them, the identity first.
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

fn permutations(freedom: Freedom) -> &'static [Permutation] {
    const WITHIN_HALVES: [Permutation; 4] = [[0, 1, 2, 3], [1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2]];
    const PAIRS: [Permutation; 2] = [[0, 1, 2, 3], [2, 3, 0, 1]];
    match freedom {
        Freedom::Any => &PERMUTATIONS,
        Freedom::WithinHalves => &WITHIN_HALVES,
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
    /// The number of segments of each position.
    counts: [u32; 4],
    /// The component of a temporary by which each position is written, where it is not written by another one but by
    /// copies of what is there.
    writers: [u32; 4],
    freedom: Freedom,
    /// First and last member.
    members: (u32, u32),
    /// The output that the bundle is.
    output: Option<Reg>,
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
    /// Register of each temporary, once bundles have registers.
    register_of: Vec<Reg>,
    /// Position of each component of a temporary within its bundle.
    position_of: Vec<Permutation>,
    /// The next member of the same bundle.
    next_member: Vec<u32>,
    /// What components are copies of, where they are to be written once.
    sources: Option<Sources>,
}

impl Allocation {
    /// Where a temporary is, once bundles have registers.
    #[inline]
    fn location(&self, temp: usize) -> Location {
        Location { register: self.register_of[temp], components: self.position_of[temp] }
    }

    /// Moves the positions of a bundle: its members are elsewhere in it then.
    fn permute_members(&mut self, bundle: usize, p: Permutation) {
        let mut member = self.bundles[bundle].members.0;
        while member != NONE {
            let positions = &mut self.position_of[member as usize];
            *positions = positions.map(|k| p[usize::from(k)]);
            member = self.next_member[member as usize];
        }
    }
}

/// Allocates. Afterwards temporaries are numbered from 0 without gaps; returns how many there are, fixed ones included.
pub fn allocate<M: Allocate>(program: &mut Program<M>, extent: Extent, may_write_outputs_early: bool) -> u32 {
    separate::separate_results(program);
    let mut allocation = Allocation::of(program);
    let (once, joined) = match extent {
        Extent::Coalesce { once, joined } => (once, joined),
        Extent::Number | Extent::Pack => (false, false),
    };
    if once {
        allocation.keep_writes_apart(program);
    }
    let coalesces = extent != Extent::Number;
    if coalesces {
        coalesce::coalesce(program, &mut allocation, joined);
        if may_write_outputs_early {
            outputs::become_outputs(program, &mut allocation);
        }
    }
    let count = assign::assign(&mut allocation, extent == Extent::Pack);
    rewrite::rewrite(program, &allocation, coalesces);
    program.set_num_temps(program.first_temp() + count);
    separate::keep_operands(program);
    program.num_temps()
}

/// Makes temporaries one that can share a register with what is copied to them; nothing is packed. What then copies
/// registers to themselves goes.
pub fn coalesce_copies<M: Allocate>(program: &mut Program<M>) {
    separate::separate_results(program);
    let mut allocation = Allocation::of(program);
    coalesce::coalesce(program, &mut allocation, false);
    let count = assign::assign(&mut allocation, false);
    rewrite::rewrite(program, &allocation, true);
    program.set_num_temps(program.first_temp() + count);
}

/// The permutations that the components of each virtual temporary allow.
pub fn freedoms<M: Allocate>(program: &Program<M>) -> Vec<Freedom> {
    let mut freedom = vec![Freedom::Any; program.temps()];
    for (access, instruction) in program.access.iter().zip(&program.instructions) {
        program.machine.constrain(instruction, access, program.first_temp(), |temp, to| {
            if let Some(freedom) = freedom.get_mut(temp) {
                *freedom = freedom.and(to);
            }
        });
    }
    freedom
}

/// A copy between virtual temporaries.
struct Move {
    copy: RegisterCopy,
    /// Number of the temporary that is written.
    to: usize,
    /// Number of the one that is read.
    from: usize,
}

impl Move {
    /// All of a program.
    fn all<M: Machine>(program: &Program<M>) -> impl Iterator<Item = Move> {
        let copies = program.access.iter().zip(&program.instructions).filter(|(a, _)| a.traits.any(Traits::COPY));
        copies.filter_map(|(_, instruction)| {
            let copy = program.machine.register_copy(instruction, program.first_temp()).filter(|c| !c.saturates)?;
            Some(Move { copy, to: copy.to.as_temp()?, from: copy.from.as_temp()? })
        })
    }
}
