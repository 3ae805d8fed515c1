//! A bundle that the scheduler fills, from its last instruction to its first.

use arrayvec::ArrayVec;
use tgsi_vec4::Constants;
use tgsi_vec4::simple::Source;

use super::constants::Embedded;
use super::units::channels;
use crate::isa::alu::Unit;
use crate::machine::MachineInstruction;

/// The node of instructions that the scheduler adds.
pub(super) const ADDED: u32 = u32::MAX;

/// An instruction in a bundle: its node, and its form there.
pub(super) type Member = (u32, MachineInstruction);

/// The use of r31 in a bundle of the ALU.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Condition {
    /// No use.
    None,
    /// Selections read it as the condition that they name.
    Selection(Source),
    /// The branch reads it.
    Branch,
}

/// A bundle of the ALU.
#[derive(Clone, Debug)]
pub(super) struct AluMembers {
    /// By unit.
    pub(super) units: [Option<Member>; 5],
    pub(super) branch: Option<Member>,
    pub(super) condition: Condition,
    embedded: Embedded,
}

impl Default for AluMembers {
    fn default() -> AluMembers {
        AluMembers {
            units: Default::default(),
            branch: None,
            condition: Condition::None,
            embedded: Embedded::default(),
        }
    }
}

/// A bundle.
#[derive(Clone, Debug)]
pub(super) enum Bundle {
    Alu(Box<AluMembers>),
    LoadStore(ArrayVec<Member, 2>),
    Texture(Member),
    Barrier(Member),
}

impl AluMembers {
    /// Whether no instruction has a unit.
    pub(super) fn is_free(&self, unit: Unit) -> bool {
        self.units[unit as usize].is_none()
    }

    /// Whether there is an instruction.
    pub(super) fn has_members(&self) -> bool {
        self.units.iter().any(Option::is_some)
    }

    /// Whether there is neither an instruction nor a branch.
    pub(super) fn is_empty(&self) -> bool {
        self.branch.is_none() && !self.has_members()
    }

    /// The unit of a node.
    pub(super) fn unit_of(&self, node: u32) -> Option<Unit> {
        Unit::ALL.into_iter().find(|&unit| self.units[unit as usize].as_ref().is_some_and(|member| member.0 == node))
    }

    /// Whether the constants of an instruction fit.
    pub(super) fn has_constants(&self, instruction: &MachineInstruction, constants: &Constants) -> bool {
        self.embedded.clone().add(instruction, constants, |source| channels(instruction, source))
    }

    /// Adds an instruction, unless the unit is taken or its constants do not fit. Returns whether it was added.
    pub(super) fn add(&mut self, unit: Unit, member: Member, constants: &Constants) -> bool {
        let fits = self.is_free(unit) && self.embedded.add(&member.1, constants, |source| channels(&member.1, source));
        if fits {
            self.units[unit as usize] = Some(member);
        }
        fits
    }
}
