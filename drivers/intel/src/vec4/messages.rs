//! Messages: payload, descriptor, response.

use tgsi_vec4::simple::Source;

use super::emit::{Emitter, UNUSED_FLAG};
use crate::isa::{
    AccessMode, Destination, ExecutionSize, Flag, Immediate, Instruction, Opcode, Operand, Predicate, Register,
    SharedFunction, Swizzle, Type, WriteMask, arf, descriptor,
};
use crate::machine::MachineInstruction;
use crate::message::Message;

/// The word of the header with the mask of channels of messages to the URB, and its value for all channels.
const CHANNEL_MASK: (u8, u32) = (5, 0xff00);

/// A copy of eight words for all channels.
fn copy_register(to: u8, from: u8) -> Instruction {
    let (to, from) = (Destination::general(to, Type::Ud), Operand::linear(from, Type::Ud));
    Instruction::new(Opcode::Mov, AccessMode::Align1, to, [from.into()]).with_no_mask()
}

/// One word of a register, as a destination.
fn word_of(register: u8, word: u8, ty: Type) -> Destination {
    Destination::new(Register::general(register).at(word * 4), ty)
}

/// An instruction on one word.
fn scalar(opcode: Opcode, to: Destination, sources: impl IntoIterator<Item = crate::isa::Source>) -> Instruction {
    Instruction::new(opcode, AccessMode::Align1, to, sources).with_size(ExecutionSize::X1).with_no_mask()
}

/// The function bits of a write to the URB.
fn urb_write(row: u32, is_complete: bool) -> u32 {
    const INTERLEAVED: u32 = 1 << 14;
    // Interleaved slots of both vertices share 256 bits.
    row << 3 | INTERLEAVED | u32::from(is_complete) << 15
}

impl Emitter<'_> {
    /// A message with its payload from a register on.
    fn send(&mut self, function: SharedFunction, bits: u32, to: Destination, payload: u8) -> Instruction {
        let payload = Operand::vectors(payload, Type::F, Swizzle::IDENTITY);
        Instruction::send(function, bits, AccessMode::Align16, to, payload)
    }

    /// The end of a vertex program: writes the entries.
    pub(super) fn write_vertex(&mut self) {
        let writes = self.operands.layout.writes.clone();
        for (number, message) in writes.iter().enumerate() {
            let is_last = number + 1 == writes.len();
            self.instructions.push(copy_register(message.header, 0));
            let (word, mask) = CHANNEL_MASK;
            let to = word_of(message.header, word, Type::Ud);
            let from = Operand::scalar(0, word * 4, Type::Ud);
            self.instructions.push(scalar(Opcode::Or, to, [from.into(), Immediate::Ud(mask).into()]));
            let bits = urb_write(u32::from(message.first) / 2, is_last);
            let bits = descriptor(bits, true, 0, message.length().into());
            let send = self.send(SharedFunction::Urb, bits, Destination::null(Type::F), message.header);
            self.instructions.push(if is_last { send.with_end_of_thread() } else { send });
        }
    }

    /// Copies a source to a register of a payload.
    fn load_payload(&mut self, register: u8, source: &Source, channels: u8) -> Option<()> {
        let operand = self.operands.operand(source, Type::Ud, channels)?;
        let to = Destination::vectors(register, Type::Ud, WriteMask(channels));
        self.instructions.push(Instruction::vector(Opcode::Mov, to, [operand.into()]));
        Some(())
    }

    /// The offsets of both vertices in a payload, from the place of a vector in scratch space.
    fn load_offsets(&mut self, register: u8, place: &Source) -> Option<()> {
        let from = self.operands.register(place)?;
        let component = place.swizzle[0] & 3;
        let of = |word: u8| Operand::scalar(from, word * 4, Type::D);
        let first = scalar(Opcode::Mov, word_of(register, 0, Type::D), [of(component).into()]);
        let one = Immediate::D(1).into();
        let second = scalar(Opcode::Add, word_of(register, 4, Type::D), [of(component + 4).into(), one]);
        self.instructions.extend([first, second]);
        Some(())
    }

    /// Sets the flags of components of both vertices in the register that nothing else reads.
    fn set_flags(&mut self, mask: u8) {
        let Flag { register, half } = UNUSED_FLAG;
        let flag = Register::architecture(arf::FLAG + register).at(half * 2);
        let to = Destination::new(flag, Type::Uw);
        let bits = u16::from(mask) | u16::from(mask) << 4;
        self.instructions.push(scalar(Opcode::Mov, to, [Immediate::Uw(bits).into()]));
    }

    /// A message of a program.
    pub(super) fn message(&mut self, instruction: &MachineInstruction, message: Message) -> Option<()> {
        let payload = self.operands.layout.payload;
        let sources = &instruction.sources;
        let to = match &instruction.destination {
            Some(to) => self.operands.destination(to, Type::F)?.masked(WriteMask::XYZW),
            None => Destination::null(Type::F),
        };
        match message {
            Message::Constant { surface } => {
                let number = sources.first()?;
                // The number may be read where it is.
                let is_in_x = number.swizzle[0] == 0;
                let place = if is_in_x { self.operands.register(number)? } else { payload };
                if !is_in_x {
                    self.load_payload(payload, number, 1)?;
                }
                const LOAD: u32 = 7;
                let bits = descriptor(u32::from(surface) | LOAD << 12, false, 1, 1);
                let send = self.send(SharedFunction::Sampler, bits, to, place);
                self.instructions.push(send);
            }
            Message::ScratchRead => {
                self.instructions.push(copy_register(payload, 0));
                self.load_offsets(payload + 1, sources.first()?)?;
                const READ: u32 = 2;
                let bits = descriptor(SCRATCH_SURFACE | READ << 14, true, 1, 2);
                let send = self.send(SharedFunction::DataCache, bits, to, payload);
                self.instructions.push(send);
            }
            Message::ScratchWrite { mask } => {
                self.instructions.push(copy_register(payload, 0));
                self.load_offsets(payload + 1, sources.first()?)?;
                self.load_payload(payload + 2, sources.get(1)?, mask)?;
                const WRITE: u32 = 10;
                let bits = descriptor(SCRATCH_SURFACE | WRITE << 14, true, 0, 3);
                let mut send = self.send(SharedFunction::DataCache, bits, to, payload);
                if mask != 15 {
                    // The enabled channels decide on the words that are stored.
                    self.set_flags(mask);
                    send = send.with_predicate(Predicate::NORMAL).with_flag(UNUSED_FLAG);
                }
                self.instructions.push(send);
            }
        }
        Some(())
    }
}

/// The surface of scratch space: memory without a surface.
const SCRATCH_SURFACE: u32 = 255;
