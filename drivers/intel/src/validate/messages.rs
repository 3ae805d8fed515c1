//! Rules of messages.

use super::Rule;
use super::facts::Facts;
use crate::isa::{Chip, Operand, Register, SharedFunction};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "send-indirect",
        message: "the payload must be a direct register",
        is_broken: |facts| payload(facts).is_some_and(|payload| matches!(payload.register, Register::Indirect { .. })),
    },
    Rule {
        name: "send-general-register",
        message: "the payload must be in general registers",
        is_broken: |facts| payload(facts).is_some_and(|payload| payload.register.is_architecture()),
    },
    Rule {
        name: "send-end-register",
        message: "the payload of a message that ends the thread must be in g112 to g127",
        is_broken: |facts| {
            let is_end = facts.instruction.message().is_some_and(|message| message.end_of_thread);
            let number = payload(facts).and_then(|payload| match payload.register {
                Register::Direct { number, .. } => Some(number),
                Register::Indirect { .. } => None,
            });
            is_end && number.is_some_and(|number| number < FIRST_END_REGISTER)
        },
    },
    Rule {
        name: "urb-header",
        message: "messages to the buffer of vertices must have a header",
        is_broken: |facts| urb(facts).is_some_and(|descriptor| descriptor >> 19 & 1 == 0),
    },
    Rule {
        name: "urb-atomic-add",
        message: "atomic additions in the buffer of vertices need Gen7.5",
        is_broken: |facts| facts.chip < Chip::Gen75 && urb(facts).is_some_and(|descriptor| descriptor & 7 == 6),
    },
    Rule {
        name: "urb-simd8",
        message: "SIMD8 writes to the buffer of vertices need Gen8",
        is_broken: |facts| urb(facts).is_some_and(|descriptor| descriptor & 7 == 7),
    },
];

/// The first register that may hold the last message of a thread.
const FIRST_END_REGISTER: u8 = 112;

fn payload<'i>(facts: &Facts<'i>) -> Option<&'i Operand> {
    facts.operands().next().filter(|_| facts.opcode().is_send())
}

/// The constant descriptor of a message to the buffer of vertices.
fn urb(facts: &Facts<'_>) -> Option<u32> {
    let message = facts.instruction.message()?;
    message.immediate().filter(|_| message.function == SharedFunction::Urb)
}
