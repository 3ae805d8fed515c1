//! The general registers of a fragment program.
//!
//! | registers | contents |
//! |---|---|
//! | g0, g1 | the headers |
//! | next | the payload: optional parts, pushed constants, attributes |
//! | next | temporaries, a register for each component |
//! | next | run-time indices of surfaces, two registers |
//! | next | payloads of messages to memory |
//! | next | a header, and the parameters of lookups ([`PAYLOAD_VECTORS`]) |
//! | up to g127 | for each message to a render target its payload; the mask of samples |
//!
//! Outputs are written to the payload of their message at once. The message that ends the thread must be in g112 to
//! g127, so that it comes last.

use crate::isa::{Chip, GENERAL_REGISTERS};
use crate::machine::{Op, Program};
use crate::message::{BufferAccess, Message};
use crate::program::{DEPTH_OUTPUT, FragmentInterface, SAMPLE_MASK_OUTPUT, SECOND_COLOUR_OUTPUT};

use super::operation::FragmentOp;

/// A message to a render target.
#[derive(Clone, Copy, Debug)]
pub(super) struct TargetWrite {
    /// The render target.
    pub(super) target: u8,
    /// The first register of the payload.
    pub(super) first: u8,
    /// Whether the payload begins with a header, of two registers.
    pub(super) has_header: bool,
    /// Whether the mask of samples follows.
    pub(super) has_mask: bool,
    /// Whether the second colour follows the first one.
    pub(super) has_second: bool,
    /// Whether the depth is last.
    pub(super) has_depth: bool,
}

impl TargetWrite {
    /// The register of the mask of samples.
    pub(super) fn mask(&self) -> u8 {
        self.first + if self.has_header { 2 } else { 0 }
    }

    /// The first register of the colour.
    pub(super) fn colour(&self) -> u8 {
        self.mask() + u8::from(self.has_mask)
    }

    /// The first register of the second colour.
    pub(super) fn second(&self) -> u8 {
        self.colour() + 4
    }

    /// The register of the depth.
    pub(super) fn depth(&self) -> u8 {
        self.second() + if self.has_second { 4 } else { 0 }
    }

    /// The number of registers.
    pub(super) fn length(&self) -> u8 {
        self.depth() + u8::from(self.has_depth) - self.first
    }
}

/// The places of everything that a program has in registers.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The first register of pushed constants.
    pub(super) push: u8,
    /// The first attribute.
    pub(super) attributes: u8,
    /// The first temporary.
    pub(super) temporaries: u8,
    /// The first of two registers for run-time indices.
    pub(super) indices: u8,
    /// The first register of payloads of messages to memory.
    pub(super) memory: u8,
    /// The register of the header of lookups, which parameters follow.
    pub(super) header: u8,
    /// The register of the mask of samples as numbers of 32 bits.
    pub(super) sample_mask: Option<u8>,
    /// The messages to render targets.
    pub(super) writes: Vec<TargetWrite>,
}

/// The registers of a payload of a message to memory, and of one to the sampler with its header.
fn message_registers(op: Op) -> (u8, u8) {
    match op {
        Op::Message(Message::Sampler(_)) => (1, 0),
        Op::Fragment(FragmentOp::Spill(_)) => (2, 0),
        Op::Message(Message::ScratchRead) => (3, 0),
        Op::Message(Message::ScratchWrite { .. }) => (4, 0),
        Op::Message(Message::Buffer(message)) => {
            let data = match message.access {
                BufferAccess::Read { .. } => 0,
                BufferAccess::Write { words } => words,
                BufferAccess::Atomic { operands, .. } => operands,
            };
            (1 + data, 0)
        }
        Op::Fragment(FragmentOp::Lookup(lookup)) => (0, 1 + lookup.parameters),
        Op::Fragment(FragmentOp::Typed(message)) => (0, 1 + message.parameters),
        Op::Fragment(FragmentOp::PlaneAt { .. } | FragmentOp::Interpolate { .. }) => (2, 0),
        // Copies that exchange components.
        _ => (1, 0),
    }
}

/// Whether the surface of a message has a run-time index.
fn is_indexed(op: Op) -> bool {
    match op {
        Op::Message(Message::Sampler(message)) => message.is_indexed,
        Op::Message(Message::Buffer(message)) => message.is_indexed,
        Op::Fragment(FragmentOp::Lookup(message)) => message.is_indexed,
        Op::Fragment(FragmentOp::Typed(message)) => message.is_indexed,
        _ => false,
    }
}

impl Layout {
    /// Assigns places. The temporaries of the program need not fit.
    pub(super) fn new(program: &Program, pushed: usize, interface: &FragmentInterface, chip: Chip) -> Layout {
        let push = interface.payload.end();
        let attributes = push + pushed.div_ceil(2).min(32) as u8;
        let temporaries = attributes.saturating_add(interface.attributes.saturating_mul(2));
        let targets: Vec<u8> = (0..8).filter(|target| interface.targets >> target & 1 != 0).collect();
        let targets = if targets.is_empty() { vec![0] } else { targets };
        let has_header = targets.len() > 1 || targets[0] != 0 || interface.kills && chip == Chip::Gen7;
        let mut top = GENERAL_REGISTERS;
        let mut writes = Vec::new();
        for &target in targets.iter().rev() {
            let mut write = TargetWrite {
                target,
                first: 0,
                has_header,
                has_mask: interface.writes_sample_mask,
                has_second: interface.writes_second_colour && target == 0,
                has_depth: interface.writes_depth,
            };
            top = top.saturating_sub(write.length());
            write.first = top;
            writes.push(write);
        }
        writes.reverse();
        let sample_mask = interface.writes_sample_mask.then(|| {
            top = top.saturating_sub(1);
            top
        });
        let (mut memory, mut lookups) = (0, 0);
        for instruction in program.instructions() {
            let registers = message_registers(instruction.op);
            memory = memory.max(registers.0);
            lookups = lookups.max(registers.1);
        }
        let header = top.saturating_sub(lookups);
        let memory = header.saturating_sub(memory);
        let has_indices = program.instructions().iter().any(|instruction| is_indexed(instruction.op));
        let indices = memory.saturating_sub(if has_indices { 2 } else { 0 });
        Layout { push, attributes, temporaries, indices, memory, header, sample_mask, writes }
    }

    /// The number of vectors of four components that temporaries may be.
    pub(super) fn room(&self) -> u32 {
        u32::from(self.indices.saturating_sub(self.temporaries) / 4)
    }

    /// The register of a component of an output.
    pub(super) fn output(&self, number: u8, component: u8) -> Option<u8> {
        match number {
            DEPTH_OUTPUT => self.writes.first().map(TargetWrite::depth),
            SAMPLE_MASK_OUTPUT => self.sample_mask,
            SECOND_COLOUR_OUTPUT => {
                let write = self.writes.iter().find(|write| write.has_second)?;
                Some(write.second() + component)
            }
            target => {
                let write = self.writes.iter().find(|write| write.target == target)?;
                Some(write.colour() + component)
            }
        }
    }
}
