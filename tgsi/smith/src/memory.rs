//! Buffers, shared memory, images and counters.
//!
//! Every lane has its own [`STRIDE`] bytes of each buffer, and accesses the first of them arbitrarily. These areas are
//! followed by words shared by all lanes; each of these is modified by a single kind of commutative atomic. Buffers and
//! images with even numbers hold integers, those with odd numbers floats.

use super::generator::Generator;
use super::registers::RegisterType;
use tgsi::scan::needed_channels;
use tgsi::shader::{DeclarationImage, Dst, Indirect, Instruction, InstructionMemory, Register, Src};
use tgsi::tables::{File, MemoryQualifiers, MemoryType, Opcode, PixelFormat, Processor, Semantic, TextureTarget};

/// Bytes of each lane's own area.
pub(super) const STRIDE: u32 = 96;
/// The offset, within the area, of the four words that other lanes read.
pub(super) const EXCHANGE: u32 = 80;
/// Bits of an address in the lane's own area: with four words after it less than [`EXCHANGE`].
const OWN: u32 = 0x3c;
/// The address of the shared words.
const COMMON: u32 = 8 * STRIDE;

/// Atomics that commute.
const COMMUTATIVE: [Opcode; 8] = [
    Opcode::Atomuadd,
    Opcode::Atomor,
    Opcode::Atomand,
    Opcode::Atomxor,
    Opcode::Atomumax,
    Opcode::Atomumin,
    Opcode::Atomimax,
    Opcode::Atomimin,
];

/// Atomics on integers.
const ATOMICS: [Opcode; 12] = [
    Opcode::Atomuadd,
    Opcode::Atomxchg,
    Opcode::Atomcas,
    Opcode::Atomand,
    Opcode::Atomor,
    Opcode::Atomxor,
    Opcode::Atomumin,
    Opcode::Atomumax,
    Opcode::Atomimin,
    Opcode::Atomimax,
    Opcode::AtomincWrap,
    Opcode::AtomdecWrap,
];

impl Generator<'_> {
    /// Computes the lane's first address, at the start.
    pub(super) fn first_address(&mut self) {
        let stride = self.builder.immediate_u32(&[STRIDE]).replicated(0);
        let base = self.builder.temporary();
        self.lane_base = Some(base);
        let dst = Dst::new(base).masked(1);
        match self.stage {
            Processor::Compute => {
                let thread = Src::new(self.declare_system_value(Semantic::ThreadId));
                let [width, height, _] = self.block;
                let width = self.builder.immediate_u32(&[width]).replicated(0);
                let height = self.builder.immediate_u32(&[height]).replicated(0);
                let sum = Src::new(base).replicated(0);
                self.emit(Opcode::Umad, Some(dst), &[thread.replicated(2), height, thread.replicated(1)]);
                self.emit(Opcode::Umad, Some(dst), &[sum, width, thread.replicated(0)]);
                self.emit(Opcode::Umul, Some(dst), &[sum, stride]);
            }
            Processor::Geometry => {
                let zero = self.builder.immediate_u32(&[0]).replicated(0);
                self.emit(Opcode::Mov, Some(dst), &[zero]);
            }
            stage => {
                let semantic =
                    if stage == Processor::TessControl { Semantic::InvocationId } else { Semantic::SubgroupInvocation };
                debug_assert!(semantic.system_value().is_some());
                let lane = Src::new(self.declare_system_value(semantic)).replicated(0);
                self.emit(Opcode::Umul, Some(dst), &[lane, stride]);
            }
        }
    }

    /// Returns the lane's first address.
    pub(super) fn lane_base(&mut self) -> Src {
        Src::new(self.lane_base.unwrap_or(Register::new(File::Temporary, 0))).replicated(0)
    }

    /// Returns the address of a word in the lane's own area, together with the next three words.
    fn own_address(&mut self) -> Src {
        let base = self.lane_base();
        let offset = if self.choices.one_in(2) {
            let bits = self.builder.immediate_u32(&[OWN]).replicated(0);
            let value = self.source(RegisterType::Integer, 1).replicated(0);
            self.compute(RegisterType::Integer, Opcode::And, &[value, bits]).replicated(0)
        } else {
            let offset = (self.choices.below(16) as u32 * 4) & OWN;
            self.builder.immediate_u32(&[offset]).replicated(0)
        };
        self.compute(RegisterType::Integer, Opcode::Uadd, &[base, offset]).replicated(self.choices.below(4))
    }

    /// Emits an access to memory.
    pub(super) fn memory(&mut self) {
        if self.lane_base.is_none() {
            return self.small_expression();
        }
        match self.choices.below(16) {
            0..9 => self.buffer(),
            9..11 => self.common(),
            11 => self.counter(),
            12 | 13 => self.load_constants(),
            14 => {
                let unit = self.choices.below(2) as u16;
                let buffer = Src::new(self.builder.buffer(unit, false));
                let mut destination = self.destination(RegisterType::Integer);
                destination.dst.write_mask = 1;
                if destination.dst.register.file == File::Output {
                    return;
                }
                self.access(Opcode::Resq, Some(destination.dst), &[buffer]);
                self.written(destination, 1);
            }
            _ => self.nothing(),
        }
    }

    /// Returns a buffer or shared memory, and the kind of its values.
    fn resource(&mut self) -> (Register, RegisterType) {
        if self.stage == Processor::Compute && self.choices.one_in(3) {
            return (self.builder.memory(MemoryType::Shared), RegisterType::Integer);
        }
        let unit = self.choices.below(2) as u16;
        let mut register = self.builder.buffer(unit, false);
        if unit == 0
            && self.choices.one_in(4)
            && let Some(&address) = self.indices.first()
        {
            // Buffer 0 or 2, depending on a value.
            for other in [1, 2] {
                self.builder.buffer(other, false);
            }
            let two = self.builder.immediate_u32(&[2]).replicated(0);
            let value = self.source(RegisterType::Integer, 1).replicated(0);
            self.emit(Opcode::And, Some(Dst::new(address).masked(1)), &[value, two]);
            if let Some(bounds) = self.state.bounds.first_mut() {
                bounds[0] = Some(2);
            }
            register.indirect = Some(Indirect { file: address.file, index: address.index, component: 0, array_id: 0 });
        }
        (register, if unit == 0 { RegisterType::Integer } else { RegisterType::Float })
    }

    fn buffer(&mut self) {
        let address = self.own_address();
        let (resource, kind) = self.resource();
        match self.choices.below(6) {
            0..2 => {
                let destination = self.destination(kind);
                self.access(Opcode::Load, Some(destination.dst), &[Src::new(resource), address]);
                self.written(destination, destination.dst.write_mask);
            }
            2..4 => {
                let mask = self.mask_of(15, kind);
                let value = self.source(kind, mask);
                self.access(Opcode::Store, Some(Dst::new(resource).masked(mask)), &[address, value]);
            }
            _ => {
                let opcode = match kind {
                    RegisterType::Integer => self.choices.of(ATOMICS),
                    _ => self.choices.of([Opcode::Atomfadd, Opcode::Atomfadd, Opcode::Atomxchg]),
                };
                self.atomic(opcode, resource, address, kind, None);
            }
        }
    }

    /// Emits an atomic with a used result.
    fn atomic(
        &mut self,
        opcode: Opcode,
        resource: Register,
        address: Src,
        kind: RegisterType,
        memory: Option<InstructionMemory>,
    ) {
        let mut sources = vec![Src::new(resource), address];
        for _ in 2..opcode.info().num_src {
            let value = self.source(kind, 1);
            sources.push(value);
        }
        let mut destination = self.destination(kind);
        destination.dst.write_mask = 1;
        if destination.dst.register.file == File::Output {
            // The components are not known before the write, so a temporary is used.
            let position = self.temporary_to_write(kind);
            destination = self.to_temporary(position, 1);
        }
        match memory {
            Some(memory) => {
                let mut instruction = Instruction::with_operands(opcode, destination.dst, &sources);
                instruction.memory = Some(memory);
                self.put(instruction);
            }
            None => self.access(opcode, Some(destination.dst), &sources),
        }
        self.written(destination, 1);
    }

    /// Emits an atomic on a word shared by all lanes.
    fn common(&mut self) {
        let number = self.choices.below(COMMUTATIVE.len());
        let opcode = COMMUTATIVE[number];
        let buffer = self.builder.buffer(0, false);
        let address = self.builder.immediate_u32(&[COMMON + 4 * number as u32]).replicated(0);
        let value = self.source(RegisterType::Integer, 1);
        let position = self.temporary_to_write(RegisterType::Scrap);
        let destination = self.to_temporary(position, 1);
        self.access(opcode, Some(destination.dst), &[Src::new(buffer), address, value]);
    }

    /// Emits an access to a hardware counter: any access if there is only one lane.
    fn counter(&mut self) {
        let counters = match self.counters {
            Some(counters) => counters,
            None => *self.counters.insert(self.builder.hw_atomic_array(0, 0, 4)),
        };
        let number = self.choices.below(4);
        let register = counters.at(number as u16);
        let zero = self.builder.immediate_u32(&[0]).replicated(0);
        if self.stage == Processor::Geometry {
            if self.choices.one_in(3) {
                let destination = self.destination(RegisterType::Integer);
                self.access(Opcode::Load, Some(destination.dst), &[Src::new(register), zero]);
                return self.written(destination, destination.dst.write_mask);
            }
            let opcode = self.choices.of([Opcode::Atomuadd, Opcode::Atomxchg, Opcode::Atomcas, Opcode::Atomand]);
            return self.atomic(opcode, register, zero, RegisterType::Integer, None);
        }
        let value = self.source(RegisterType::Integer, 1);
        let position = self.temporary_to_write(RegisterType::Scrap);
        let destination = self.to_temporary(position, 1);
        self.access(COMMUTATIVE[number], Some(destination.dst), &[Src::new(register), zero, value]);
    }

    /// Emits a load from a constant buffer as bytes.
    fn load_constants(&mut self) {
        self.builder.constant_range(0, 0, 3);
        let bits = self.builder.immediate_u32(&[0x30]).replicated(0);
        let value = self.source(RegisterType::Integer, 1).replicated(0);
        let address = self.compute(RegisterType::Integer, Opcode::And, &[value, bits]).replicated(0);
        let resource = Register::new(File::Constant, 0);
        let resource = if self.choices.one_in(2) { self.builder.constant_buffer(0) } else { resource };
        let kind = self.choices.of([RegisterType::Integer, RegisterType::Float]);
        let destination = self.destination(kind);
        self.access(Opcode::Load, Some(destination.dst), &[Src::new(resource), address]);
        self.written(destination, destination.dst.write_mask);
    }

    /// Emits an access to an image.
    pub(super) fn image(&mut self) {
        use TextureTarget::*;
        if self.lane_base.is_none() {
            return self.small_expression();
        }
        let unit = self.choices.below(2) as u16;
        let (target, format) = match self.images[usize::from(unit)] {
            Some(known) => known,
            None => {
                let target = self.choices.of([
                    Texture2D,
                    Texture1D,
                    Texture3D,
                    Cube,
                    Rect,
                    Texture1DArray,
                    Texture2DArray,
                    Buffer,
                    Texture2DMsaa,
                    Texture2DArrayMsaa,
                    CubeArray,
                ]);
                let formats = if unit == 0 {
                    ["PIPE_FORMAT_R32_UINT", "PIPE_FORMAT_R32_SINT"]
                } else {
                    ["PIPE_FORMAT_R32G32B32A32_FLOAT", "PIPE_FORMAT_R32_FLOAT"]
                };
                let format = PixelFormat::from_name(self.choices.of(formats)).unwrap_or(PixelFormat::NONE);
                *self.images[usize::from(unit)].insert((target, format))
            }
        };
        let raw = false;
        let mut resource = self.builder.image(unit, DeclarationImage { target, raw, writable: true, format });
        let kind = if unit == 0 { RegisterType::Integer } else { RegisterType::Float };
        let qualifiers = if self.choices.one_in(6) { MemoryQualifiers::RESTRICT } else { MemoryQualifiers::default() };
        let memory = InstructionMemory { qualifiers, target, format };
        let mut handle = None;
        if self.choices.one_in(6) {
            let position = self.temporary_to_write(RegisterType::Long);
            let destination = self.to_temporary(position, 3);
            let mut instruction = Instruction::with_operands(Opcode::Img2hnd, None, &[Src::new(resource)]);
            instruction.memory = Some(memory);
            self.put_instruction(instruction, destination);
            handle = Some(position);
            resource = self.temporaries[position].register;
        }
        let coordinates = self.texel();
        let mut instruction = Instruction::new(Opcode::Load);
        instruction.memory = Some(memory);
        match self.choices.below(5) {
            0 => {
                // Neither the number of samples nor the dimensions that the target lacks are used.
                instruction.opcode = Opcode::Resq;
                let mut destination = self.destination(RegisterType::Integer);
                if destination.dst.register.file == File::Output {
                    return;
                }
                destination.dst.write_mask = 1;
                instruction.src.push(Src::new(resource));
                self.put_instruction(instruction, destination);
            }
            1 | 2 => {
                let destination = self.destination(kind);
                let mut source = Src::new(resource);
                if handle.is_none() && self.choices.one_in(3) {
                    source.swizzle = std::array::from_fn(|_| self.choices.below(4) as u8);
                }
                instruction.src.extend([source, coordinates]);
                self.put_instruction(instruction, destination);
            }
            3 => {
                instruction.opcode = Opcode::Store;
                instruction.dst.push(Dst::new(resource));
                let needed = needed_channels(&instruction, 1) | 15;
                let value = self.source(kind, needed);
                instruction.src.extend([coordinates, value]);
                self.put(instruction);
            }
            _ => {
                let opcode = if kind == RegisterType::Integer {
                    self.choices.of(ATOMICS)
                } else {
                    self.choices.of([Opcode::Atomfadd, Opcode::Atomxchg])
                };
                self.atomic(opcode, resource, coordinates, kind, Some(memory));
            }
        }
    }

    /// Returns the coordinates of a texel that no other lane accesses.
    fn texel(&mut self) -> Src {
        let value = self.source(RegisterType::Integer, 15);
        let bits = self.builder.immediate_u32(&[3]).replicated(0);
        let position = self.temporary_to_write(RegisterType::Integer);
        let destination = self.to_temporary(position, 15);
        self.put_to(Opcode::And, destination, &[value, bits]);
        let coordinates = Src::new(self.temporaries[position].register);
        let base = self.lane_base();
        let x = self.to_temporary(position, 1);
        self.put_to(Opcode::Uadd, x, &[coordinates.replicated(0), base]);
        coordinates
    }
}
