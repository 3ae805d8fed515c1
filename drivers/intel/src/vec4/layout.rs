//! The general registers of a vertex program.
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

use tgsi_vec4::simple::SimpleMachine;

use crate::isa::GENERAL_REGISTERS;
use crate::machine::{Machine, Op, Program};

/// The maximum number of slots in a message, besides the header: an even number, as slots are written in pairs.
const SLOTS: usize = 14;

/// The places of everything that a program has in registers.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The first register of pushed constants.
    pub(super) push: u8,
    /// The first attribute.
    pub(super) attributes: u8,
    /// The first temporary.
    pub(super) temporaries: u8,
    /// The first register of payloads of messages.
    pub(super) payload: u8,
    /// The header of each message with outputs, the first slot and the number of slots in it.
    pub(super) writes: Vec<UrbMessage>,
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
    pub(super) fn new(program: &Program, pushed: usize, attributes: u8, slots: usize) -> Layout {
        let push = 1u8;
        let first_attribute = push + pushed.div_ceil(2).min(32) as u8;
        let temporaries = first_attribute.saturating_add(attributes);
        let payload_length = program.instructions().iter().map(|instruction| match instruction.op {
            Op::Message(message) => message.payload_registers(),
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
        let payload = top.saturating_sub(payload_length);
        let _ = Machine::info;
        Layout { push, attributes: first_attribute, temporaries, payload, writes }
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
