//! Register allocation for virtual temporaries: coalesces copies and packs values into the components of few registers.
//!
//! 0. Results that the machine [stores whole](super::Machine::stores_whole) are separated from values that they would
//!    overwrite.
//! 1. Every component of a virtual temporary has *segments*: ranges of the program in which its value is live.
//! 2. A *bundle* is a set of temporaries that share a register, with the component (*position*) of each of their
//!    components. Initially each temporary is its own bundle. A copy between two bundles merges them if their
//!    components can be assigned so that source and destination coincide and nothing else overlaps. Components that
//!    hold copies of one value may overlap.
//! 3. Bundles, in order of their first segment, are assigned to the first register in which they fit under some
//!    permutation of their components.
//!
//! The permutations allowed for a bundle depend on the instructions that write it ([`SwizzleConstraint`]):
//! componentwise instructions can write any component, because swizzles are free, or any of a half; pairs must stay
//! pairs; results of lookups and loads cannot move.
//!
//! All steps are linear in the number of segments times the number of registers in use.

mod assign;
mod coalesce;
mod outputs;
mod rewrite;
mod segments;
mod separate;
mod writers;

use super::access::RegisterAccess;
use super::{Machine, Program, Reg, RegisterCopy, Traits};
use segments::Segments;
use writers::Sources;

/// The permutations allowed for the components of a temporary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SwizzleConstraint {
    /// Any permutation.
    Any,
    /// Components may be swapped within each half.
    WithinHalves,
    /// The halves may be swapped.
    Pairs,
    /// No permutation.
    Fixed,
}

impl SwizzleConstraint {
    /// The permutations allowed by both.
    pub(super) fn and(self, other: SwizzleConstraint) -> SwizzleConstraint {
        match (self, other) {
            (SwizzleConstraint::Any, freedom) | (freedom, SwizzleConstraint::Any) => freedom,
            _ if self == other => self,
            _ => SwizzleConstraint::Fixed,
        }
    }
}

/// The location of a virtual temporary: the register (a virtual temporary by number, or an output) and the component
/// that holds each component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Location {
    /// The register.
    pub register: Reg,
    /// For each component the component of the register.
    pub components: [u8; 4],
}

/// The allocation interface of a machine: the constraints on its temporaries, and renaming.
pub trait Allocate: Machine {
    /// Reports constraints on the virtual temporaries of an instruction, by number.
    fn constrain(
        &self,
        instruction: &Self::Instruction,
        access: &RegisterAccess<Self::Opcode>,
        first_temp: u32,
        narrow: impl FnMut(usize, SwizzleConstraint),
    );

    /// Renames the virtual temporaries that an instruction reads.
    fn rename_reads(
        &self,
        instruction: &mut Self::Instruction,
        first_temp: u32,
        location: impl FnMut(usize) -> Option<Location>,
    );

    /// Renames the virtual temporaries that an instruction reads and writes, and updates its access. The channels that
    /// it computes move with the components it writes. Returns whether there was any.
    fn rename(
        &self,
        instruction: &mut Self::Instruction,
        access: &mut RegisterAccess<Self::Opcode>,
        first_temp: u32,
        location: impl Fn(usize) -> Location,
    ) -> bool;

    /// Makes an instruction write the same components of a virtual temporary (numbered with the fixed ones), and
    /// returns the copy from there to the previous destination, if there was one.
    fn redirect(&self, instruction: &mut Self::Instruction, temp: u32) -> Option<Self::Instruction>;

    /// Reports the virtual temporaries, and their components, that an instruction reads after it has written a part of
    /// its result.
    #[inline]
    fn late_reads(
        &self,
        _instruction: &Self::Instruction,
        _access: &RegisterAccess<Self::Opcode>,
        _first_temp: u32,
        _read: impl FnMut(usize, u8),
    ) {
    }

    /// Whether an instruction overwrites an operand before reading it, after temporaries have become registers.
    #[inline]
    fn overwrites_itself(&self, _instruction: &Self::Instruction) -> bool {
        false
    }

    /// Whether the target restricts the results that may be written to outputs.
    #[inline]
    fn restricts_outputs(&self) -> bool {
        false
    }

    /// The restriction on the result of an instruction: it may be written directly only to outputs with an
    /// [`output_limit`] of at least this. 0 allows every output.
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

/// The extent of [`allocate`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocationMode {
    /// Only numbers the temporaries: one register for each.
    Number,
    /// Coalesces copies; unrelated values have separate registers. For machines with a register allocator in their
    /// compiler.
    Coalesce {
        /// No component that holds a value written once is written again, for machines with a scheduler in their
        /// compiler: a second write would have to wait for the readers of the first.
        once: bool,
        /// The copies that form one vector become one instruction in the end: if some of them remain, removing the
        /// others gains nothing, so temporaries are not merged for their sake.
        joined: bool,
    },
    /// Packs values into as few registers as possible.
    Pack,
}

type Permutation = [u8; 4];

const IDENTITY: Permutation = [0, 1, 2, 3];

/// All permutations, the identity first.
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

fn permutations(freedom: SwizzleConstraint) -> &'static [Permutation] {
    const WITHIN_HALVES: [Permutation; 4] = [[0, 1, 2, 3], [1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2]];
    const PAIRS: [Permutation; 2] = [[0, 1, 2, 3], [2, 3, 0, 1]];
    match freedom {
        SwizzleConstraint::Any => &PERMUTATIONS,
        SwizzleConstraint::WithinHalves => &WITHIN_HALVES,
        SwizzleConstraint::Pairs => &PAIRS,
        SwizzleConstraint::Fixed => &PAIRS[..1],
    }
}

/// Terminates lists.
const NONE: u32 = u32::MAX;

/// A set of temporaries that share a register.
struct Bundle {
    /// The first segment of each position.
    positions: [u32; 4],
    /// The number of segments of each position.
    counts: [u32; 4],
    /// The component of a temporary that writes each position, if it is the only writer apart from copies of the same
    /// value.
    writers: [u32; 4],
    freedom: SwizzleConstraint,
    /// The first and last member.
    members: (u32, u32),
    /// The output that the bundle is assigned to, if any.
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
    /// The register of each temporary, after assignment.
    register_of: Vec<Reg>,
    /// The position of each component of a temporary within its bundle.
    position_of: Vec<Permutation>,
    /// The next member of the same bundle.
    next_member: Vec<u32>,
    /// The sources of copied components, if components are to be written only once.
    sources: Option<Sources>,
}

impl Allocation {
    /// The location of a temporary, after assignment.
    #[inline]
    fn location(&self, temp: usize) -> Location {
        Location { register: self.register_of[temp], components: self.position_of[temp] }
    }

    /// Permutes the positions of a bundle and updates its members.
    fn permute_members(&mut self, bundle: usize, p: Permutation) {
        let mut member = self.bundles[bundle].members.0;
        while member != NONE {
            let positions = &mut self.position_of[member as usize];
            *positions = positions.map(|k| p[usize::from(k)]);
            member = self.next_member[member as usize];
        }
    }
}

/// Allocates registers. Afterwards temporaries are numbered from 0 without gaps; returns their number, including fixed
/// ones.
pub fn allocate<M: Allocate>(program: &mut Program<M>, extent: AllocationMode, may_write_outputs_early: bool) -> u32 {
    separate::separate_results(program);
    let mut allocation = Allocation::of(program);
    let (once, joined) = match extent {
        AllocationMode::Coalesce { once, joined } => (once, joined),
        AllocationMode::Number | AllocationMode::Pack => (false, false),
    };
    if once {
        allocation.keep_writes_apart(program);
    }
    let coalesces = extent != AllocationMode::Number;
    if coalesces {
        coalesce::coalesce(program, &mut allocation, joined);
        if may_write_outputs_early {
            outputs::become_outputs(program, &mut allocation);
        }
    }
    let count = assign::assign(&mut allocation, extent == AllocationMode::Pack);
    rewrite::rewrite(program, &allocation, coalesces);
    program.set_num_temps(program.first_temp() + count);
    separate::keep_operands(program);
    program.num_temps()
}

/// Merges temporaries with their copies where they can share a register, without packing. Removes copies of a register
/// to itself.
pub fn coalesce_copies<M: Allocate>(program: &mut Program<M>) {
    separate::separate_results(program);
    let mut allocation = Allocation::of(program);
    coalesce::coalesce(program, &mut allocation, false);
    let count = assign::assign(&mut allocation, false);
    rewrite::rewrite(program, &allocation, true);
    program.set_num_temps(program.first_temp() + count);
}

/// The permutations allowed for the components of each virtual temporary.
pub fn freedoms<M: Allocate>(program: &Program<M>) -> Vec<SwizzleConstraint> {
    let mut freedom = vec![SwizzleConstraint::Any; program.temps()];
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
    /// The number of the temporary written.
    to: usize,
    /// The number of the temporary read.
    from: usize,
}

impl Move {
    /// All such copies of a program.
    fn all<M: Machine>(program: &Program<M>) -> impl Iterator<Item = Move> {
        let copies = program.access.iter().zip(&program.instructions).filter(|(a, _)| a.traits.any(Traits::COPY));
        copies.filter_map(|(_, instruction)| {
            let copy = program.machine.register_copy(instruction, program.first_temp()).filter(|c| !c.saturates)?;
            Some(Move { copy, to: copy.to.as_temp()?, from: copy.from.as_temp()? })
        })
    }
}
