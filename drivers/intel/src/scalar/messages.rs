//! Messages to the sampler and to memory.

use tgsi_vec4::simple::Source;

use super::emit::{CHOSEN, Emitter, LIVE, SAME, dword, flag_word, lanes, word};
use super::operands::Place;
use super::operation::{Lookup, TypedAccess, TypedMessage};
use super::outputs::copy_register;
use crate::isa::{
    self, AccessMode, Chip, Condition, Descriptor, Destination, Detail, Flag, Immediate, Instruction,
    Message as SharedMessage, Opcode, Operand, Predicate, Region, Register, SharedFunction, ThreadControl, Type, arf,
    descriptor,
};
use crate::machine::MachineInstruction;
use crate::message::{BufferAccess, BufferMessage, Message, SamplerMessage, SamplerOp};

/// Eight lanes, in messages to the sampler.
const SAMPLER_SIMD8: u32 = 1 << 17;
/// The surface in a descriptor.
const SURFACE: u32 = 0xff;
/// The sampler in a descriptor.
const SAMPLER: u32 = 0xf00;
/// The bits of a run-time index of textures with their samplers.
const UNIT_MASK: u32 = 0xf;
/// The bits of a run-time index of textures in runs.
const RUN_UNIT_MASK: u32 = 0x3f;
/// The size of the state of a sampler.
const SAMPLER_STATE_BYTES: u32 = 16;
/// A message for registers of the scratch space, with numbers of 32 bits for each channel.
const SCRATCH_BLOCK: u32 = 1 << 18 | 1 << 16;
/// Memory without a surface.
const STATELESS_SURFACE: u32 = 255;

impl Emitter<'_> {
    /// The first register of the response of a message.
    fn response(&self, instruction: &MachineInstruction) -> Option<Destination> {
        match &instruction.destination {
            Some(to) => Some(Destination::general(self.operands.register(to, 0)?, Type::Ud)),
            None => Some(Destination::null(Type::Ud)),
        }
    }

    fn send(&mut self, function: SharedFunction, bits: u32, to: Destination, payload: u8) -> Instruction {
        let payload = Operand::linear(payload, Type::Ud);
        Instruction::send(function, bits, AccessMode::Align1, to, payload)
    }

    /// The register of a single parameter: its place, or a copy.
    fn parameter(&mut self, source: &Source) -> Option<u8> {
        if let Some(Place::Lanes(register)) = self.operands.source_place(source, 0)
            && source.is_plain()
        {
            return Some(register);
        }
        let payload = self.operands.layout.memory;
        self.load_payload(payload, source, 0)?;
        Some(payload)
    }

    pub(super) fn lookup(&mut self, instruction: &MachineInstruction, lookup: Lookup) -> Option<()> {
        let header = self.operands.layout.header;
        let mut first = header + 1;
        if lookup.parameters == 1 {
            let source = instruction.sources.first()?;
            match lookup.header {
                None => first = self.parameter(source)?,
                Some(_) => self.load_payload(first, source, 0)?,
            }
        }
        if let Some(bits) = lookup.header {
            first = header;
            self.push(copy_register(header, 0));
            self.push(word(Opcode::Mov, dword(header, 2, Type::Ud), [Immediate::Ud(bits).into()]));
            let states = u32::from(lookup.sampler & !15) * SAMPLER_STATE_BYTES;
            if states != 0 {
                let from = Operand::scalar(0, 12, Type::Ud);
                let sources = [from.into(), Immediate::Ud(states).into()];
                self.push(word(Opcode::Add, dword(header, 3, Type::Ud), sources));
            }
        }
        let has_header = lookup.header.is_some();
        let length = u32::from(lookup.parameters) + u32::from(has_header);
        let bits = u32::from(lookup.surface) | u32::from(lookup.sampler & 15) << 8 | lookup.op.code() << 12;
        let bits = descriptor(bits | SAMPLER_SIMD8, has_header, 4, length);
        let to = self.response(instruction)?;
        let send = self.send(SharedFunction::Sampler, bits, to, first);
        if lookup.is_indexed {
            let index = instruction.sources.last()?;
            let is_texture = lookup.surface < self.bindings.constants_start;
            return if is_texture {
                self.send_for_quads(&send, index, lookup.has_sampler)
            } else {
                let register = self.index_register(index, false)?;
                self.send_indexed(send, register)
            };
        }
        self.push(send);
        Some(())
    }

    /// A load of constants or a query, which have one parameter.
    fn sampler(&mut self, instruction: &MachineInstruction, message: SamplerMessage) -> Option<()> {
        if !matches!(message.op, SamplerOp::Load | SamplerOp::ResourceInfo) {
            return None;
        }
        let first = self.parameter(instruction.sources.first()?)?;
        let bits = u32::from(message.surface) | (message.op as u32) << 12 | SAMPLER_SIMD8;
        let to = self.response(instruction)?;
        let send = self.send(SharedFunction::Sampler, descriptor(bits, false, 4, 1), to, first);
        if message.is_indexed {
            let register = self.index_register(instruction.sources.get(1)?, false)?;
            return self.send_indexed(send, register);
        }
        self.push(send);
        Some(())
    }

    /// The register with a run-time index for each lane. One for all lanes is copied, and one that the message
    /// overwrites before.
    fn index_register(&mut self, index: &Source, is_overwritten: bool) -> Option<u8> {
        if let Some(Place::Lanes(register)) = self.operands.source_place(index, 0)
            && !is_overwritten
        {
            return Some(register);
        }
        let register = self.operands.layout.indices + 1;
        let index = self.operands.source(index, Type::Ud, 0)?;
        self.push(lanes(Opcode::Mov, Destination::general(register, Type::Ud), [index]).with_no_mask());
        Some(register)
    }

    /// Sets flags of the enabled lanes, and clears those of others.
    fn set_enabled(&mut self, flag: Flag) {
        let to = Destination::new(flag_word(flag), Type::Uw);
        self.push(word(Opcode::Mov, to, [Immediate::Uw(0).into()]));
        // A comparison writes the flags of enabled lanes only.
        let zero = Operand::linear(0, Type::D);
        let mut compare = lanes(Opcode::Cmp, Destination::null(Type::D), [zero.into(), zero.into()]);
        compare.thread = ThreadControl::Switch;
        self.push(compare.with_condition(Condition::Z).with_flag(flag));
    }

    /// Combines flags with others or a constant.
    fn combine_flags(&mut self, opcode: Opcode, flag: Flag, other: isa::Source) {
        let of_flag = Operand::new(flag_word(flag), Type::Uw, Region::SCALAR);
        let to = Destination::new(flag_word(flag), Type::Uw);
        self.push(word(opcode, to, [of_flag.into(), other]));
    }

    /// Loads the number of a register in the first lane with a flag into a word. Without any, it is that in the last
    /// lane.
    fn load_first(&mut self, register: u8, flag: Flag) -> (Destination, Operand) {
        let scratch = self.operands.layout.indices;
        let (number, of_number) = (dword(scratch, 0, Type::Ud), Operand::scalar(scratch, 0, Type::Ud));
        let of_flag = Operand::new(flag_word(flag), Type::Uw, Region::SCALAR);
        self.push(word(Opcode::Mov, number, [of_flag.into()]));
        self.push(word(Opcode::Fbl, number, [of_number.into()]));
        self.push(word(Opcode::And, number, [of_number.into(), Immediate::Ud(7).into()]));
        self.push(word(Opcode::Shl, number, [of_number.into(), Immediate::Ud(2).into()]));
        let place = Immediate::Ud(u32::from(register) * 32).into();
        let address = Destination::new(Register::architecture(arf::ADDRESS), Type::Uw);
        self.push(word(Opcode::Add, address, [of_number.into(), place]));
        let chosen = Operand::new(Register::Indirect { address: 0, offset: 0 }, Type::Ud, Region::SCALAR);
        self.push(word(Opcode::Mov, number, [chosen.into()]));
        (number, of_number)
    }

    /// Sends a message with a descriptor in the address register for lanes with a flag.
    fn send_by_address(&mut self, send: &Instruction, message: SharedMessage, flag: Flag) {
        let address = Operand::new(Register::architecture(arf::ADDRESS), Type::Ud, Region::SCALAR);
        let mut send = send.clone();
        send.detail = Detail::Message(SharedMessage { descriptor: Descriptor::Register(address), ..message });
        self.push(send.with_predicate(Predicate::NORMAL).with_flag(flag));
    }

    /// Sends a lookup of a texture with a run-time index: for each quad separately, with the index of its first lane
    /// that is enabled.
    fn send_for_quads(&mut self, send: &Instruction, index: &Source, has_sampler: bool) -> Option<()> {
        let register = self.index_register(index, false)?;
        let message = *send.message()?;
        let bits = message.immediate()?;
        let bindings = self.bindings;
        let first = (bits & SURFACE) - u32::from(bindings.textures_start);
        let others = bits & !(if has_sampler { SURFACE | SAMPLER } else { SURFACE });
        let has_room = bindings.constants_start - bindings.textures_start > UNIT_MASK as u8;
        let mask = Immediate::Ud(if has_room { RUN_UNIT_MASK } else { UNIT_MASK });
        for quad in 0..2u8 {
            self.set_enabled(CHOSEN);
            self.combine_flags(Opcode::And, CHOSEN, Immediate::Uw(15 << (4 * quad)).into());
            let (number, of_number) = self.load_first(register, CHOSEN);
            if has_room {
                let signed = Operand::scalar(self.operands.layout.indices, 0, Type::D);
                let mut compare =
                    word(Opcode::Cmp, Destination::null(Type::D), [signed.into(), Immediate::D(0).into()]);
                compare.thread = ThreadControl::Switch;
                self.push(compare.with_condition(Condition::L).with_flag(SAME));
            }
            self.push(word(Opcode::Add, number, [of_number.into(), Immediate::Ud(first).into()]));
            self.push(word(Opcode::And, number, [of_number.into(), mask.into()]));
            if has_room {
                // Negative indices have no texture.
                let none = word(Opcode::Mov, number, [Immediate::Ud(RUN_UNIT_MASK + 1).into()]);
                self.push(none.with_predicate(Predicate::NORMAL).with_flag(SAME));
            }
            if has_sampler {
                self.push(word(Opcode::Mul, number, [of_number.into(), Immediate::Uw(0x101).into()]));
            }
            let others = Immediate::Ud(others + u32::from(bindings.textures_start)).into();
            let address = Destination::new(Register::architecture(arf::ADDRESS), Type::Ud);
            self.push(word(Opcode::Add, address, [of_number.into(), others]));
            self.send_by_address(send, message, CHOSEN);
        }
        Some(())
    }

    /// Sends a message to a surface with a run-time index: in a loop, for the lanes with the same index each time.
    /// Surfaces beyond the last one are the one without memory that follows it.
    fn send_indexed(&mut self, send: Instruction, register: u8) -> Option<()> {
        let message = *send.message()?;
        let bits = message.immediate()?;
        let needs_live = send.predicate.is_some();
        let surface = (bits & SURFACE) as u8;
        let (start, count) = self.bindings.section(surface);
        self.set_enabled(CHOSEN);
        self.begin_loop();
        let (number, of_number) = self.load_first(register, CHOSEN);
        let indices = Operand::linear(register, Type::Ud);
        let mut compare = lanes(Opcode::Cmp, Destination::null(Type::Ud), [indices.into(), of_number.into()]);
        compare.thread = ThreadControl::Switch;
        self.push(compare.with_condition(Condition::Z).with_flag(SAME));
        let flags = |flag: Flag| Operand::new(flag_word(flag), Type::Uw, Region::SCALAR);
        self.combine_flags(Opcode::And, SAME, flags(CHOSEN).into());
        // They are done after this message.
        self.combine_flags(Opcode::Xor, CHOSEN, flags(SAME).into());
        if needs_live {
            self.combine_flags(Opcode::And, SAME, flags(LIVE).into());
        }
        if surface != start {
            let base = Immediate::Ud((surface - start).into()).into();
            self.push(word(Opcode::Add, number, [of_number.into(), base]));
        }
        let least = word(Opcode::Sel, number, [of_number.into(), Immediate::Ud(count.into()).into()]);
        self.push(least.with_condition(Condition::L));
        let address = Destination::new(Register::architecture(arf::ADDRESS), Type::Ud);
        let others = Immediate::Ud(bits - u32::from(surface - start)).into();
        self.push(word(Opcode::Add, address, [of_number.into(), others]));
        self.send_by_address(&send, message, SAME);
        self.end_loop(Predicate::NORMAL, CHOSEN);
        Some(())
    }

    /// Clears the first register of a response, for lanes that are not live.
    fn clear_response(&mut self, to: Destination) {
        if !to.register.is_null() {
            self.push(lanes(Opcode::Mov, to, [Immediate::Ud(0).into()]));
        }
    }

    /// The predicate of messages that write memory.
    fn for_live(&self, send: Instruction) -> Instruction {
        if self.has_live { send.with_predicate(Predicate::NORMAL).with_flag(LIVE) } else { send }
    }

    /// A message to a storage buffer.
    fn buffer(&mut self, instruction: &MachineInstruction, message: BufferMessage) -> Option<()> {
        let sources = &instruction.sources;
        let payload = self.operands.layout.memory;
        let [_, data] = message.access.payload();
        let count = data.count_ones() as u8;
        let is_partial = self.has_live && matches!(message.access, BufferAccess::Atomic { .. });
        let first = if data == 0 && !is_partial {
            self.parameter(sources.first()?)?
        } else {
            self.load_payload(payload, sources.first()?, 0)?;
            for c in 0..count {
                self.load_payload(payload + 1 + c, sources.get(1)?, c)?;
            }
            payload
        };
        let is_gen7 = self.chip == Chip::Gen7;
        let disabled = |words: u8| u32::from(15 << words & 15u8) << 8;
        const EIGHT_LANES: u32 = 2 << 12;
        const ATOMIC_EIGHT_LANES: u32 = 1 << 12;
        let (kind, control, response) = match message.access {
            BufferAccess::Read { words } => (if is_gen7 { 5 } else { 1 }, disabled(words) | EIGHT_LANES, words),
            BufferAccess::Write { words } => (if is_gen7 { 13 } else { 9 }, disabled(words) | EIGHT_LANES, 0),
            BufferAccess::Atomic { op, returns, .. } => {
                let control = u32::from(op) << 8 | u32::from(returns) << 13 | ATOMIC_EIGHT_LANES;
                (if is_gen7 { 6 } else { 2 }, control, u8::from(returns))
            }
        };
        let function = if is_gen7 { SharedFunction::DataCache } else { SharedFunction::DataCache1 };
        let bits = u32::from(message.surface) | control | kind << 14;
        let to = self.response(instruction)?;
        let bits = descriptor(bits, false, response.into(), u32::from(count) + 1);
        let mut index = 0;
        if message.is_indexed {
            index = self.index_register(sources.last()?, is_partial)?;
        }
        if is_partial {
            self.clear_response(to);
        }
        let mut send = self.send(function, bits, to, first);
        if !matches!(message.access, BufferAccess::Read { .. }) {
            send = self.for_live(send);
        }
        if message.is_indexed {
            return self.send_indexed(send, index);
        }
        self.push(send);
        Some(())
    }

    /// A message to a surface with a format.
    pub(super) fn typed(&mut self, instruction: &MachineInstruction, message: TypedMessage) -> Option<()> {
        let header = self.operands.layout.header;
        let is_gen7 = self.chip == Chip::Gen7;
        // The header has the mask of lanes; other words are zeros.
        let to = Destination::general(header, Type::Ud);
        self.push(lanes(Opcode::Mov, to, [Immediate::Ud(0).into()]).with_no_mask());
        self.push(word(Opcode::Mov, dword(header, 7, Type::Ud), [Immediate::Ud(0xffff).into()]));
        let (kind, control, response) = match message.access {
            TypedAccess::Read => (5, 0, 4),
            TypedAccess::Write => (13, 0, 0),
            TypedAccess::Atomic { op, returns } => {
                (6, u32::from(op) << 8 | u32::from(returns) << 13, u32::from(returns))
            }
        };
        let is_atomic = matches!(message.access, TypedAccess::Atomic { .. });
        // The lower eight lanes.
        let slots = if is_gen7 || is_atomic { 0 } else { 1 << 12 };
        let function = if is_gen7 { SharedFunction::RenderCache } else { SharedFunction::DataCache1 };
        let bits = u32::from(message.surface) | control | slots | kind << 14;
        let bits = descriptor(bits, true, response, u32::from(message.parameters) + 1);
        let to = self.response(instruction)?;
        let mut index = 0;
        if message.is_indexed {
            index = self.index_register(instruction.sources.last()?, is_atomic)?;
        }
        if is_atomic {
            self.clear_response(to);
        }
        let mut send = self.send(function, bits, to, header);
        if message.access != TypedAccess::Read {
            send = self.for_live(send);
        }
        if message.is_indexed {
            return self.send_indexed(send, index);
        }
        self.push(send);
        Some(())
    }

    /// The place in scratch space of each lane's word of the first component of a vector, in units of words, after a
    /// header.
    fn load_scratch_place(&mut self, place: &Source) -> Option<u8> {
        let payload = self.operands.layout.memory;
        self.push(copy_register(payload, 0));
        self.push(word(Opcode::Mov, dword(payload, 2, Type::Ud), [Immediate::Ud(0).into()]));
        let place = self.operands.source(place, Type::Ud, 0)?;
        let register = payload + 1;
        let to = Destination::general(register, Type::Ud);
        // A vector is 32 words; its place counts twice.
        self.push(lanes(Opcode::Mov, to, [place]));
        let own = Operand::linear(register, Type::Ud);
        self.push(lanes(Opcode::Shl, to, [own.into(), Immediate::Ud(4).into()]));
        let spare = payload + 2;
        let numbers = Immediate::Uv(0x7654_3210).into();
        self.push(lanes(Opcode::Mov, Destination::general(spare, Type::Uw), [numbers]).with_no_mask());
        self.push(lanes(Opcode::Add, to, [own.into(), Operand::linear(spare, Type::Uw).into()]));
        Some(payload)
    }

    /// Proceeds to the next component in scratch space.
    fn next_scratch_component(&mut self, payload: u8) {
        let own = Operand::linear(payload + 1, Type::Ud);
        let to = Destination::general(payload + 1, Type::Ud);
        self.push(lanes(Opcode::Add, to, [own.into(), Immediate::Ud(8).into()]));
    }

    fn scratch(&mut self, instruction: &MachineInstruction, write: Option<u8>) -> Option<()> {
        let payload = self.load_scratch_place(instruction.sources.first()?)?;
        const READ: u32 = 3;
        const WRITE: u32 = 11;
        let last = match write {
            Some(mask) => 8 - (mask & 15).leading_zeros() as u8,
            None => 4,
        };
        for c in 0..last {
            if c != 0 {
                self.next_scratch_component(payload);
            }
            match write {
                Some(mask) if mask >> c & 1 == 0 => {}
                Some(_) => {
                    self.load_payload(payload + 2, instruction.sources.get(1)?, c)?;
                    let bits = descriptor(STATELESS_SURFACE | WRITE << 14 | 2 << 8, true, 0, 3);
                    let send = self.send(SharedFunction::DataCache, bits, Destination::null(Type::Ud), payload);
                    self.push(send);
                }
                None => {
                    let to = instruction.destination?;
                    let to = Destination::general(self.operands.register(&to, c)?, Type::Ud);
                    let bits = descriptor(STATELESS_SURFACE | READ << 14 | 2 << 8, true, 1, 2);
                    let send = self.send(SharedFunction::DataCache, bits, to, payload);
                    self.push(send);
                }
            }
        }
        Some(())
    }

    /// Loads a component of a spilled vector.
    pub(super) fn fill(&mut self, instruction: &MachineInstruction, place: u16) -> Option<()> {
        let to = instruction.destination?;
        let channel = super::emit::channels(to.mask).next()?;
        let to = Destination::general(self.operands.register(&to, channel)?, Type::Ud);
        // The header is that of the thread.
        let bits = descriptor(SCRATCH_BLOCK | self.spilled(place)?, true, 1, 1);
        let send = self.send(SharedFunction::DataCache, bits, to, 0);
        self.push(send);
        Some(())
    }

    /// Stores a component of a spilled vector.
    pub(super) fn spill(&mut self, instruction: &MachineInstruction, place: u16) -> Option<()> {
        let payload = self.operands.layout.memory;
        self.push(copy_register(payload, 0));
        self.load_payload(payload + 1, instruction.sources.first()?, 0)?;
        const WRITE: u32 = 1 << 17;
        let bits = descriptor(SCRATCH_BLOCK | WRITE | self.spilled(place)?, true, 0, 2);
        let send = self.send(SharedFunction::DataCache, bits, Destination::null(Type::Ud), payload);
        self.push(send);
        Some(())
    }

    /// The place of a spilled register in scratch space, in units of registers: after arrays.
    fn spilled(&self, place: u16) -> Option<u32> {
        let place = self.spill_start.checked_add(place.into())?;
        (place < 1 << 12).then_some(place)
    }

    /// A message of a program.
    pub(super) fn message(&mut self, instruction: &MachineInstruction, message: Message) -> Option<()> {
        match message {
            Message::Sampler(message) => self.sampler(instruction, message),
            Message::Buffer(message) => self.buffer(instruction, message),
            Message::ScratchRead => self.scratch(instruction, None),
            Message::ScratchWrite { mask } => self.scratch(instruction, Some(mask)),
            Message::EmitVertex | Message::ControlData | Message::EndGeometry => None,
        }
    }
}
