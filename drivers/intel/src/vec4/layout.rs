//! The general registers of a program.
//!
//! | registers | contents |
//! |---|---|
//! | g0 | the header |
//! | next | pushed constants, attributes |
//! | next | temporaries |
//! | next | payloads of messages |
//! | up to g127 | for each message with outputs a header and up to 14 slots |
//!
//! Outputs are written to the payload of their message at once. The message that ends the thread must be in g112 to
//! g127, so that it comes last.

use crate::isa::GENERAL_REGISTERS;
use crate::machine::{Op, Program};

/// The maximum number of slots in a message, besides the header: an even number, as slots are written in pairs.
const SLOTS: usize = 14;

/// The places of everything that a program has in registers.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The first register of pushed constants.
    pub(super) push: u8,
    /// The first attribute.
    pub(super) attributes: u8,
    /// Whether inputs have half a register each.
    pub(super) has_half_inputs: bool,
    /// The first temporary.
    pub(super) temporaries: u8,
    /// The first register of payloads of messages.
    pub(super) payload: u8,
    /// The header of each message with outputs, the first slot and the number of slots in it.
    pub(super) writes: Vec<UrbMessage>,
}

/// The registers at the start of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payload {
    /// The first register of pushed constants.
    pub(super) dispatch_start: u8,
    /// The number of pushed constants.
    pub(super) pushed: usize,
    /// The registers of inputs.
    pub(super) inputs: u32,
}

/// A message with outputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct UrbMessage {
    /// The register of the header.
    pub(super) header: u8,
    /// The first slot.
    pub(super) first: u8,
    /// The number of slots.
    pub(super) slots: u8,
}

impl UrbMessage {
    /// The length in registers: of an even number of slots and the header.
    pub(super) fn length(&self) -> u8 {
        1 + self.slots.next_multiple_of(2)
    }
}

impl Layout {
    /// Assigns places. The temporaries of the program need not fit.
    pub(super) fn new(program: &Program, payload: &Payload, slots: usize) -> Layout {
        let push = payload.dispatch_start;
        let first_attribute = push + payload.pushed.div_ceil(2).min(32) as u8;
        let temporaries = first_attribute.saturating_add(payload.inputs.min(u8::MAX.into()) as u8);
        let payload_length = program.instructions().iter().map(|instruction| match instruction.op {
            Op::Message(message) => message.payload_registers(),
            Op::Header(_) => 1,
            _ => 0,
        });
        let payload_length = payload_length.max().unwrap_or(0);
        let mut top = GENERAL_REGISTERS;
        let mut writes = Vec::new();
        let firsts: Vec<usize> = (0..slots).step_by(SLOTS).collect();
        for &first in firsts.iter().rev() {
            let count = (slots - first).min(SLOTS);
            let mut message = UrbMessage { header: 0, first: first as u8, slots: count as u8 };
            top = top.saturating_sub(message.length());
            message.header = top;
            writes.push(message);
        }
        writes.reverse();
        let message = top.saturating_sub(payload_length);
        let has_half_inputs = program.machine.has_uniform_inputs;
        Layout { push, attributes: first_attribute, has_half_inputs, temporaries, payload: message, writes }
    }

    /// The number of registers for temporaries.
    pub(super) fn room(&self) -> u32 {
        self.payload.saturating_sub(self.temporaries).into()
    }

    /// One more than the greatest register.
    pub(super) fn end(&self) -> u8 {
        GENERAL_REGISTERS
    }

    /// The register of a slot.
    pub(super) fn slot(&self, slot: u8) -> Option<u8> {
        let message = self.writes.iter().find(|m| (m.first..m.first + m.slots).contains(&slot))?;
        Some(message.header + 1 + slot - message.first)
    }
}
