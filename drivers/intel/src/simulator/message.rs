//! Messages: their common fields, payload and response.

use super::state::State;
use super::thread::Surroundings;
use super::{Environment, Lanes, Simd, Trap, buffer, render, sampler, surface, urb};
use crate::isa::{Descriptor, File, GENERAL_REGISTERS, Instruction, Register, SharedFunction};

/// A register of a payload or of a response.
pub(super) type Words = [u32; 8];

/// The bits of descriptors in registers.
const DESCRIPTOR: u32 = 0x1fff_ffff;

/// The unit that sends messages.
pub(super) struct Unit<'a> {
    pub(super) state: &'a mut State,
    pub(super) scratch: &'a mut Vec<u8>,
    pub(super) surroundings: Surroundings,
    pub(super) environment: &'a mut dyn Environment,
}

/// A message.
pub(super) struct Request {
    pub(super) at: usize,
    pub(super) function: SharedFunction,
    /// The bits of the receiver and the lengths.
    pub(super) descriptor: u32,
    /// The header, if the message has one: one register, two for render targets.
    pub(super) header: Option<Words>,
    /// The registers of the payload, without the header.
    pub(super) payload: Vec<Words>,
    /// The first byte of the response, unless it is dropped.
    destination: Option<i64>,
    /// The number of registers of the response.
    pub(super) response: usize,
    /// The channel of the thread that is the first one of the instruction.
    pub(super) first_channel: u8,
    /// The number of channels of the instruction.
    pub(super) channels: u32,
    /// The enabled channels, the first one of the group lowest.
    pub(super) enabled: u32,
    pub(super) end_of_thread: bool,
}

impl Request {
    /// The bits `high` to `low` of the descriptor.
    pub(super) fn field(&self, high: u32, low: u32) -> u32 {
        self.descriptor >> low & ((1 << (high - low + 1)) - 1)
    }

    /// The surface, an index of the binding table.
    pub(super) fn surface(&self) -> u8 {
        self.field(7, 0) as u8
    }

    /// The trap of a message without a known definition.
    pub(super) fn undefined(&self) -> Trap {
        Trap::Message(self.at, self.function, self.descriptor)
    }

    /// The header of a message that needs one.
    pub(super) fn needed_header(&self) -> Result<Words, Trap> {
        self.header.ok_or_else(|| self.undefined())
    }

    /// Returns a register of the payload.
    pub(super) fn register(&self, index: usize) -> Result<Words, Trap> {
        self.payload.get(index).copied().ok_or_else(|| self.undefined())
    }

    /// Returns a word for each lane of SIMD8 or SIMD16, from a register of the payload on.
    pub(super) fn lanes(&self, first: usize, simd: Simd) -> Result<Lanes, Trap> {
        let mut lanes = [0; 16];
        for (index, lanes) in lanes.chunks_mut(8).enumerate().take(simd.registers()) {
            lanes.copy_from_slice(&self.register(first + index)?);
        }
        Ok(lanes)
    }

    /// The enabled lanes. Vectors of SIMD4x2 are enabled if one of their components is.
    pub(super) fn active(&self, simd: Simd) -> u16 {
        match simd {
            Simd::X4x2 => u16::from(self.enabled & 15 != 0) | u16::from(self.enabled & 0xf0 != 0) << 1,
            Simd::X8 => self.enabled as u16 & 0xff,
            Simd::X16 => self.enabled as u16,
        }
    }
}

impl Unit<'_> {
    /// Sends the message of an instruction with enabled channels. Without any, the message is not sent, unless it ends
    /// the thread. Returns whether it does.
    pub(super) fn send(&mut self, instruction: &Instruction, enabled: u32) -> Result<bool, Trap> {
        let at = self.state.at;
        let message = instruction.message().ok_or(Trap::Form(at))?;
        let end_of_thread = message.end_of_thread;
        if enabled == 0 && !end_of_thread {
            return Ok(false);
        }
        let descriptor = match message.descriptor {
            Descriptor::Immediate(bits) => bits,
            Descriptor::Register(operand) => self.state.source_bits(&operand, 0)? & DESCRIPTOR,
        };
        let first = match instruction.sources[0].operand().map(|operand| operand.register) {
            Some(Register::Direct { file: File::Grf, number, .. }) => usize::from(number),
            _ => return Err(Trap::Undefined(at, "a payload outside of the general registers")),
        };
        let response = (descriptor >> 20 & 31) as usize;
        let destination = match instruction.destination.map(|destination| destination.register) {
            Some(register @ Register::Direct { file: File::Grf, number, .. }) => {
                check(at, usize::from(number), response)?;
                if register.is_null() { None } else { Some(i64::from(number) * 32) }
            }
            Some(register) if register.is_null() => None,
            _ => return Err(Trap::Undefined(at, "a response outside of the general registers")),
        };
        let length = (descriptor >> 25 & 15) as usize;
        check(at, first, length)?;
        let mut payload: Vec<Words> =
            (first..first + length).map(|number| self.state.registers.words(number as u8)).collect();
        let has_header = descriptor >> 19 & 1 != 0 && !payload.is_empty();
        let header = has_header.then(|| payload.remove(0));
        let request = Request {
            at,
            function: message.function,
            descriptor,
            header,
            payload,
            destination,
            response,
            first_channel: instruction.group.first_channel() as u8,
            channels: instruction.size.channels(),
            enabled,
            end_of_thread,
        };
        self.dispatch(&request)?;
        Ok(end_of_thread)
    }

    fn dispatch(&mut self, request: &Request) -> Result<(), Trap> {
        match request.function {
            SharedFunction::Sampler => sampler::sample(self, request),
            SharedFunction::Urb => urb::access(self, request),
            SharedFunction::RenderCache => match request.field(17, 14) {
                12 => render::write(self, request),
                _ => surface::typed_or_fence(self, request),
            },
            SharedFunction::SamplerCache | SharedFunction::ConstantCache => buffer::constant(self, request),
            SharedFunction::DataCache => buffer::data(self, request),
            SharedFunction::DataCache1 => surface::data_1(self, request),
            SharedFunction::PixelInterpolator => render::interpolate(self, request),
            SharedFunction::Gateway => {
                const BARRIER: u32 = 4;
                if request.field(2, 0) != BARRIER {
                    return Err(request.undefined());
                }
                let header = request.header.or(request.payload.first().copied()).unwrap_or_default();
                if self.environment.barrier(&header) {
                    self.state.notifications[0] = self.state.notifications[0].wrapping_add(1);
                }
                Ok(())
            }
            SharedFunction::ThreadSpawner if request.end_of_thread => {
                let header = request.header.or(request.payload.first().copied()).unwrap_or_default();
                self.environment.end(&header);
                Ok(())
            }
            SharedFunction::ThreadSpawner | SharedFunction::Null | SharedFunction::Math | SharedFunction::Cre => {
                Err(request.undefined())
            }
        }
    }

    /// Writes words of a register of the response. Registers beyond the length of the response are dropped.
    pub(super) fn respond(&mut self, request: &Request, index: usize, words: &[u32], mask: u32) {
        let Some(destination) = request.destination.filter(|_| index < request.response) else { return };
        let register = (destination / 32) as usize + index;
        for (word, &value) in words.iter().enumerate().take(8) {
            if mask >> word & 1 != 0 {
                self.state.registers.set_word(register as u8, word, value);
            }
        }
    }

    /// Writes a component of SIMD8 or SIMD16 from a register of the response on, for the enabled lanes.
    pub(super) fn respond_lanes(&mut self, request: &Request, index: usize, simd: Simd, lanes: &Lanes, active: u16) {
        for (register, words) in lanes.chunks(8).enumerate().take(simd.registers()) {
            self.respond(request, index + register, words, u32::from(active) >> (8 * register));
        }
    }
}

/// Checks that a range of registers exists.
fn check(at: usize, first: usize, length: usize) -> Result<(), Trap> {
    let end = first + length;
    if end > usize::from(GENERAL_REGISTERS) { Err(Trap::Register(at, end as i64 * 32 - 1)) } else { Ok(()) }
}
