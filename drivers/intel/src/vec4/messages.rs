//! Messages: payload, descriptor, response.

use tgsi_vec4::simple::{File, Source};

use super::emit::{Emitter, UNUSED_FLAG};
use crate::isa::{
    AccessMode, Chip, Condition, Descriptor, Destination, Detail, ExecutionSize, Flag, Immediate, Instruction,
    Message as SharedMessage, Opcode, Operand, Predicate, Region, Register, SharedFunction, Swizzle, Type,
    VerticalStride, WriteMask, arf, descriptor,
};
use crate::machine::{HeaderValue, MachineInstruction};
use crate::message::{BufferAccess, BufferMessage, Message, SamplerMessage};

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

/// The function bits of a write to the URB: interleaved slots of both vertices from a row on. Without words of 128
/// bits, rows have 256 bits.
fn urb_write(row: u32) -> u32 {
    const INTERLEAVED: u32 = 1 << 14;
    row << 3 | INTERLEAVED
}

/// The entry is complete.
const URB_COMPLETE: u32 = 1 << 15;

/// Words 3 and 4 of the header have offsets of both entries.
const URB_SLOT_OFFSETS: u32 = 1 << 16;

/// Rows have 128 bits.
const URB_OWORDS: u32 = 1;

impl Emitter<'_> {
    /// A message with its payload from a register on.
    fn send(&mut self, function: SharedFunction, bits: u32, to: Destination, payload: u8) -> Instruction {
        let payload = Operand::vectors(payload, Type::F, Swizzle::IDENTITY);
        Instruction::send(function, bits, AccessMode::Align16, to, payload)
    }

    /// The header of a message to the URB that writes all components.
    fn load_urb_header(&mut self, register: u8) {
        self.instructions.push(copy_register(register, 0));
        let (word, mask) = CHANNEL_MASK;
        let to = word_of(register, word, Type::Ud);
        let from = Operand::scalar(0, word * 4, Type::Ud);
        self.instructions.push(scalar(Opcode::Or, to, [from.into(), Immediate::Ud(mask).into()]));
    }

    /// Clears the word of the header that messages take as an offset, and that has other contents in geometry
    /// programs.
    pub(super) fn clear_header(&mut self) {
        self.instructions.push(scalar(Opcode::Mov, word_of(0, 2, Type::Ud), [Immediate::Ud(0).into()]));
    }

    /// A value in the header of geometry programs.
    pub(super) fn header_value(&mut self, instruction: &MachineInstruction, value: HeaderValue) -> Option<()> {
        let to = self.operands.destination(&instruction.destination?, Type::Ud)?;
        if value == HeaderValue::PrimitiveId {
            let number = Operand::vectors(1, Type::Ud, Swizzle::replicate(0));
            self.instructions.push(Instruction::vector(Opcode::Mov, to, [number.into()]));
            return Some(());
        }
        // The word of each half, in all of its channels: a register of the payload holds them in x.
        let register = self.operands.layout.payload;
        for half in 0..2u8 {
            let (word, shift) = if value == HeaderValue::InvocationId { (half, 27) } else { (6 + half, 0) };
            let to = word_of(register, half * 4, Type::Ud);
            let from = Operand::scalar(0, word * 4, Type::Ud);
            self.instructions.push(scalar(Opcode::Shr, to, [from.into(), Immediate::Ud(shift).into()]));
        }
        let from = Operand::vectors(register, Type::Ud, Swizzle::replicate(0));
        self.instructions.push(Instruction::vector(Opcode::Mov, to, [from.into()]));
        Some(())
    }

    /// Copies x of both halves of a source to words of a register.
    fn load_halves(&mut self, register: u8, words: [u8; 2], ty: Type, source: &Source) -> Option<()> {
        let from = self.operands.register(source)?;
        let component = source.swizzle[0] & 3;
        for (half, word) in [(0, words[0]), (4, words[1])] {
            let from = Operand::scalar(from, (component + half) * 4, ty);
            let to = Destination::new(Register::general(register).at(word * ty.size() as u8), ty);
            self.instructions.push(scalar(Opcode::Mov, to, [from.into()]));
        }
        Some(())
    }

    /// Writes the outputs of a geometry program as a vertex.
    fn emit_vertex(&mut self, offset: &Source) -> Option<()> {
        for message in self.operands.layout.writes.clone() {
            self.load_urb_header(message.header);
            self.load_halves(message.header, [3, 4], Type::Ud, offset)?;
            let bits = urb_write(self.control_size + u32::from(message.first) / 2) | URB_SLOT_OFFSETS;
            let bits = descriptor(bits, true, 0, message.length().into());
            let send = self.send(SharedFunction::Urb, bits, Destination::null(Type::F), message.header);
            self.instructions.push(send);
        }
        Some(())
    }

    /// Writes a word of control data.
    fn control_data(&mut self, data: &Source, place: &Source) -> Option<()> {
        let payload = self.operands.layout.payload;
        self.instructions.push(copy_register(payload, 0));
        self.load_halves(payload, [3, 4], Type::Ud, place)?;
        let from = self.operands.register(place)?;
        let (word, _) = CHANNEL_MASK;
        let (first, second) = (place.swizzle[1] & 3, (place.swizzle[2] & 3) + 4);
        // Halves without an active object have any content.
        let parts = [(word, first, 0xf00u32), (word + 1, second, 0xf000)];
        for (to, from_word, mask) in parts {
            let from = Operand::scalar(from, from_word * 4, Type::Ud);
            let to = word_of(payload, to, Type::Ud);
            self.instructions.push(scalar(Opcode::And, to, [from.into(), Immediate::Ud(mask).into()]));
        }
        let [a, b] = [word, word + 1].map(|word| Operand::scalar(payload, word * 4, Type::Ud));
        self.instructions.push(scalar(Opcode::Or, word_of(payload, word, Type::Ud), [a.into(), b.into()]));
        self.load_payload(payload + 1, data, 15)?;
        let bits = descriptor(urb_write(0) | URB_SLOT_OFFSETS | URB_OWORDS, true, 0, 2);
        let send = self.send(SharedFunction::Urb, bits, Destination::null(Type::F), payload);
        self.instructions.push(send);
        Some(())
    }

    /// Ends a geometry program: the header has the numbers of vertices.
    fn end_geometry(&mut self, count: &Source) -> Option<()> {
        let header = self.operands.layout.writes.last()?.header;
        self.load_urb_header(header);
        self.load_halves(header, [4, 5], Type::Uw, count)?;
        let bits = descriptor(urb_write(0), true, 0, 1);
        let send = self.send(SharedFunction::Urb, bits, Destination::null(Type::F), header);
        self.instructions.push(send.with_end_of_thread());
        Some(())
    }

    /// The end of a vertex program: writes the entries.
    pub(super) fn write_vertex(&mut self) {
        let writes = self.operands.layout.writes.clone();
        for (number, message) in writes.iter().enumerate() {
            let is_last = number + 1 == writes.len();
            self.load_urb_header(message.header);
            let bits = urb_write(u32::from(message.first) / 2) | if is_last { URB_COMPLETE } else { 0 };
            let bits = descriptor(bits, true, 0, message.length().into());
            let send = self.send(SharedFunction::Urb, bits, Destination::null(Type::F), message.header);
            self.instructions.push(if is_last { send.with_end_of_thread() } else { send });
        }
    }

    /// Copies a source to a register of a payload.
    fn load_payload(&mut self, register: u8, source: &Source, channels: u8) -> Option<()> {
        if is_in_place(source, channels) && self.operands.register(source) == Some(register) {
            return Some(());
        }
        let operand = self.operands.operand(source, Type::Ud, channels)?;
        let to = Destination::vectors(register, Type::Ud, WriteMask(channels));
        self.instructions.push(Instruction::vector(Opcode::Mov, to, [operand.into()]));
        Some(())
    }

    /// The offsets of both vertices in a payload, from the place of a vector in scratch space.
    fn load_offsets(&mut self, register: u8, place: &Source) -> Option<()> {
        if place.file == File::Constant {
            let place = self.operands.words(place)[0];
            for (word, place) in [(0, place), (4, place.wrapping_add(1))] {
                let to = word_of(register, word, Type::Ud);
                self.instructions.push(scalar(Opcode::Mov, to, [Immediate::Ud(place).into()]));
            }
            return Some(());
        }
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
        self.set_flag_bits(u16::from(mask) | u16::from(mask) << 4);
    }

    /// Sets the flags of channels in that register.
    fn set_flag_bits(&mut self, bits: u16) {
        let Flag { register, half } = UNUSED_FLAG;
        let flag = Register::architecture(arf::FLAG + register).at(half * 2);
        let to = Destination::new(flag, Type::Uw);
        self.instructions.push(scalar(Opcode::Mov, to, [Immediate::Uw(bits).into()]));
    }

    /// Sends a message with surfaces by a run-time index: for each vertex separately, as their indices may differ.
    fn send_indexed(&mut self, send: Instruction, index: &Source, factor: u32, mask: u8) -> Option<()> {
        let from = self.operands.register(index)?;
        let component = index.swizzle[0] & 3;
        let message = *send.message()?;
        let bits = message.immediate()?;
        let address = Register::architecture(arf::ADDRESS);
        let to = Destination::new(address, Type::Ud);
        let of_address = Operand::new(address, Type::Ud, Region::SCALAR);
        for vertex in 0..2u8 {
            let word = Operand::scalar(from, (4 * vertex + component) * 4, Type::Ud);
            let surface = Immediate::Ud(bits & SURFACE);
            self.instructions.push(scalar(Opcode::Add, to, [word.into(), surface.into()]));
            // An index beyond the table must not change other fields.
            let last = Immediate::Ud(if factor == 1 { LAST_SURFACE } else { LAST_UNIT });
            let mut limited = scalar(Opcode::Sel, to, [of_address.into(), last.into()]);
            limited.condition = Some(Condition::L);
            self.instructions.push(limited);
            if factor != 1 {
                let factor = Immediate::Uw(factor as u16);
                self.instructions.push(scalar(Opcode::Mul, to, [of_address.into(), factor.into()]));
            }
            // The sampler of the descriptor is that of the surface.
            let others = if factor == 1 { SURFACE } else { SURFACE | SAMPLER };
            let others = Immediate::Ud(bits & !others);
            self.instructions.push(scalar(Opcode::Or, to, [of_address.into(), others.into()]));
            self.set_flag_bits(u16::from(mask) << (4 * vertex));
            let mut send = send.clone();
            let region = Region::Align16 { vertical: VerticalStride::S0, swizzle: Swizzle::replicate(0) };
            let descriptor = Descriptor::Register(Operand::new(address, Type::Ud, region));
            send.detail = Detail::Message(SharedMessage { descriptor, ..message });
            self.instructions.push(send.with_predicate(Predicate::NORMAL).with_flag(UNUSED_FLAG));
        }
        Some(())
    }

    /// A message to the sampler.
    fn sampler(&mut self, message: SamplerMessage, sources: &[Source], to: Destination) -> Option<()> {
        let payload = self.operands.layout.payload;
        let count = message.payload_sources();
        let vectors = sources.get(..count)?;
        let mut first = payload;
        match (message.header, vectors) {
            // A single vector may be read where it is.
            (None, [vector]) if is_in_place(vector, message.payload[0]) => first = self.operands.register(vector)?,
            _ => {
                let header = u8::from(message.header.is_some());
                if let Some(bits) = message.header {
                    self.instructions.push(copy_register(payload, 0));
                    let to = word_of(payload, 2, Type::Ud);
                    self.instructions.push(scalar(Opcode::Mov, to, [Immediate::Ud(bits).into()]));
                    let states = u32::from(message.sampler & !15) * SAMPLER_STATE_BYTES;
                    if states != 0 {
                        let to = word_of(payload, 3, Type::Ud);
                        let from = Operand::scalar(0, 12, Type::Ud);
                        self.instructions.push(scalar(Opcode::Add, to, [from.into(), Immediate::Ud(states).into()]));
                    }
                }
                for ((number, vector), channels) in (0u8..).zip(vectors).zip(message.payload) {
                    self.load_payload(payload + header + number, vector, channels)?;
                }
            }
        }
        let bits = u32::from(message.surface) | u32::from(message.sampler & 15) << 8 | (message.op as u32) << 12;
        let has_header = message.header.is_some();
        let length = count as u32 + u32::from(has_header);
        let send = self.send(SharedFunction::Sampler, descriptor(bits, has_header, 1, length), to, first);
        if message.is_indexed {
            let factor = if message.has_sampler { 0x101 } else { 1 };
            return self.send_indexed(send, sources.get(count)?, factor, 15);
        }
        self.instructions.push(send);
        Some(())
    }

    /// A message to a storage buffer. Gen7 has writes and atomic operations for eight channels only: those of x have
    /// the operands of both vertices.
    fn buffer(&mut self, message: BufferMessage, sources: &[Source], to: Destination) -> Option<()> {
        let payload = self.operands.layout.payload;
        let is_gen7 = self.chip == Chip::Gen7;
        let [_, data] = message.access.payload();
        let has_vectors = !is_gen7 || matches!(message.access, BufferAccess::Read { .. });
        self.load_payload(payload, sources.first()?, 1)?;
        let mut length = 1;
        if data != 0 && has_vectors {
            self.load_payload(payload + 1, sources.get(1)?, data)?;
            length = 2;
        } else if data != 0 {
            let vector = sources.get(1)?;
            for c in 0..data.count_ones() as u8 {
                let word = vector.swizzled([vector.swizzle[usize::from(c)]; 4]);
                self.load_payload(payload + length, &word, 1)?;
                length += 1;
            }
        }
        const EIGHT_CHANNELS: u32 = 2 << 12;
        let disabled = |words: u8| u32::from(15 << words & 15u8) << 8;
        let (kind, control) = match message.access {
            BufferAccess::Read { words } => (if is_gen7 { 5 } else { 1 }, disabled(words)),
            BufferAccess::Write { words } if is_gen7 => (13, disabled(words) | EIGHT_CHANNELS),
            BufferAccess::Write { words } => (9, disabled(words)),
            BufferAccess::Atomic { op, returns, .. } => {
                let control = u32::from(op) << 8 | u32::from(returns) << 13;
                if is_gen7 { (6, control | 1 << 12) } else { (3, control) }
            }
        };
        let function = if is_gen7 { SharedFunction::DataCache } else { SharedFunction::DataCache1 };
        let has_response = !to.register.is_null();
        let bits = u32::from(message.surface) | control | kind << 14;
        let send = self.send(function, descriptor(bits, false, has_response.into(), length.into()), to, payload);
        let mask = if has_vectors { 15 } else { 1 };
        if message.is_indexed {
            let index = sources.get(if data == 0 { 1 } else { 2 })?;
            return self.send_indexed(send, index, 1, mask);
        }
        if mask == 15 {
            self.instructions.push(send);
            return Some(());
        }
        self.set_flags(mask);
        self.instructions.push(send.with_predicate(Predicate::NORMAL).with_flag(UNUSED_FLAG));
        Some(())
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
            Message::Sampler(message) => self.sampler(message, sources, to)?,
            Message::Buffer(message) => self.buffer(message, sources, to)?,
            Message::EmitVertex => self.emit_vertex(sources.first()?)?,
            Message::ControlData => self.control_data(sources.first()?, sources.get(1)?)?,
            Message::EndGeometry => self.end_geometry(sources.first()?)?,
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

/// The last surface that a run-time index refers to.
const LAST_SURFACE: u32 = 0xef;

/// The last texture with its sampler that a run-time index refers to.
const LAST_UNIT: u32 = 0xf;

/// The surface in a descriptor.
const SURFACE: u32 = 0xff;

/// The sampler in a descriptor.
const SAMPLER: u32 = 0xf00;

/// The size of the state of a sampler.
const SAMPLER_STATE_BYTES: u32 = 16;

/// Whether components of a vector are in their places.
fn is_in_place(vector: &Source, channels: u8) -> bool {
    vector.file == File::Temporary && (0..4).all(|c| channels >> c & 1 == 0 || usize::from(vector.swizzle[c]) == c)
}

/// The surface of scratch space: memory without a surface.
const SCRATCH_SURFACE: u32 = 255;
