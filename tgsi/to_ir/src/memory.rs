//! Buffers, shared memory, images, atomic counters: loads, stores, sizes, barriers. Atomics are in [`super::atomics`].

use tgsi_environment::PixelFormat;
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::{AccessFlags, DescType, MemorySemantics, Scope};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::{ScalarType, TypeData};
use tgsi_ir::variable::VariableModes;

use super::control_flow::Translator;
use super::textures::alu_type;
use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, MemoryQualifiers, Opcode, OperandType, Processor, TextureTarget};

/// The resource that an operand refers to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Resource {
    /// Number of a storage buffer.
    Buffer(Def),
    /// The memory of the workgroup.
    Shared,
    /// Number of a `ubo` block: that of the constant buffer minus 1.
    Constants(Def),
    /// Buffer, byte offset of the counter in it, and the counter number that an index register adds.
    Counter { buffer: CounterBuffer, offset: i32, dynamic: Option<Def> },
    /// An image, by deref or handle.
    Image(ImageAccess),
    /// A resource that does not exist.
    Nothing,
}

/// The buffer that a counter is in.
#[derive(Clone, Copy, Debug)]
pub(super) enum CounterBuffer {
    Known(i32),
    /// A number known at run time.
    Index(Def),
}

/// The kind of access to an image.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImageAccess {
    /// Deref or handle.
    pub(super) name: Def,
    pub(super) is_handle: bool,
    pub(super) target: TextureTarget,
    pub(super) format: PixelFormat,
    pub(super) access: AccessFlags,
}

/// More counters than any buffer has.
const MAX_COUNTERS: i32 = 1 << 24;

/// Alignment of every access to buffers.
pub(super) const ALIGNMENT: [(IndexKind, i32); 2] = [(IndexKind::AlignMul, 4), (IndexKind::AlignOffset, 0)];

/// Returns the access flags for an instruction's qualifiers.
pub(super) fn access(instruction: &Instruction) -> AccessFlags {
    let qualifiers = instruction.memory.map(|memory| memory.qualifiers).unwrap_or_default();
    [
        (MemoryQualifiers::COHERENT, AccessFlags::COHERENT),
        (MemoryQualifiers::RESTRICT, AccessFlags::RESTRICT),
        (MemoryQualifiers::VOLATILE, AccessFlags::VOLATILE),
        (MemoryQualifiers::STREAM_CACHE_POLICY, AccessFlags::NON_TEMPORAL),
    ]
    .into_iter()
    .filter(|&(qualifier, _)| qualifiers.contains(qualifier))
    .fold(AccessFlags::NONE, |access, (_, flag)| access.union(flag))
}

/// Returns the type of an image's texels.
fn texel_type(format: PixelFormat) -> ScalarType {
    if format.is_sint() {
        ScalarType::Int
    } else if format.is_uint() {
        ScalarType::Uint
    } else {
        ScalarType::Float
    }
}

impl ImageAccess {
    /// Returns the indices of all image intrinsics.
    pub(super) fn indices(&self) -> arrayvec::ArrayVec<(IndexKind, i32), 6> {
        [
            (IndexKind::ImageDim, self.target.sampler_dim().to_i32()),
            (IndexKind::ImageArray, i32::from(self.target.is_array())),
            (IndexKind::Format, i32::from(self.format.value())),
            (IndexKind::Access, self.access.to_i32()),
        ]
        .into_iter()
        .collect()
    }
}

impl Translator<'_, '_> {
    /// Looks up the resource that an operand refers to.
    pub(super) fn resource(&mut self, instruction: &Instruction, src: &Src) -> Resource {
        let register = src.register;
        match register.file {
            File::Buffer => Resource::Buffer(self.index(register.index, register.indirect)),
            File::Memory => Resource::Shared,
            File::Constant | File::ConstantBuffer => {
                // The buffer is the outer index, if there is one. Block k is constant buffer k + 1.
                let (index, indirect) = match register.dimension {
                    Some(outer) => (outer.index, outer.indirect),
                    None => (register.index, register.indirect),
                };
                let buffer = self.index(index.wrapping_sub(1), indirect);
                Resource::Constants(buffer)
            }
            File::HwAtomic => {
                let dynamic = register.indirect.map(|indirect| self.index_value(indirect));
                let buffer = match register.dimension {
                    Some(outer) if outer.indirect.is_some() => {
                        CounterBuffer::Index(self.index(outer.index, outer.indirect))
                    }
                    Some(outer) => CounterBuffer::Known(outer.index),
                    None => CounterBuffer::Known(0),
                };
                Resource::Counter { buffer, offset: register.index.wrapping_mul(4), dynamic }
            }
            File::Image => Resource::Image(self.image(instruction, &register)),
            File::Temporary | File::Input | File::Immediate | File::Output | File::Address | File::SystemValue => {
                let words = self.vector(src, OperandType::Uint, 2);
                let name = self.b.alu(AluOp::Pack642x32, &[words]);
                let memory = instruction.memory.unwrap_or_default();
                Resource::Image(ImageAccess {
                    name,
                    is_handle: true,
                    target: memory.target,
                    format: memory.format,
                    access: access(instruction),
                })
            }
            File::Null | File::Sampler | File::SamplerView => Resource::Nothing,
        }
    }

    fn image(&mut self, instruction: &Instruction, register: &Register) -> ImageAccess {
        let declared = self.context.declaration_of(File::Image, register.index).and_then(|d| d.image);
        let memory = instruction.memory.unwrap_or_default();
        let target = match (instruction.memory, declared) {
            (Some(memory), _) if memory.target != TextureTarget::Unknown => memory.target,
            (_, Some(declared)) => declared.target,
            _ => TextureTarget::Buffer,
        };
        // An instruction without a format uses that of the declaration.
        let format = match declared {
            Some(declared) if memory.format == PixelFormat::NONE => declared.format,
            _ => memory.format,
        };
        let result = texel_type(format);
        let ty = self.context.ir.types.intern(TypeData::Image {
            dim: target.sampler_dim(),
            array: target.is_array(),
            result,
        });
        let name = self.resource_deref("image", register, ty, VariableModes::IMAGE);
        let access = access(instruction);
        self.note_image(name, format, access, declared.is_none_or(|declared| declared.writable));
        let info = &mut self.context.ir.info;
        // Masks have 64 bits, but an index may address a thousand times as many units.
        let (first, last) = match register.indirect {
            Some(indirect) => self
                .context
                .array_bounds
                .get(&(File::Image, indirect.array_id))
                .or_else(|| self.context.file_bounds.get(&File::Image))
                .copied()
                .unwrap_or_default(),
            None => (register.index, register.index),
        };
        for unit in first.max(0)..=last.min(63) {
            info.images_used |= 1 << unit;
            if target == TextureTarget::Buffer {
                info.image_buffers |= 1 << unit;
            }
            if target.is_msaa() {
                info.msaa_images |= 1 << unit;
            }
        }
        ImageAccess { name, is_handle: false, target, format, access }
    }

    /// Records format and qualifiers at the variable of an image.
    fn note_image(&mut self, deref: Def, format: PixelFormat, access: AccessFlags, writable: bool) {
        if let Some(variable) = self.deref_variable(deref) {
            let data = &mut self.context.ir.variables[variable];
            data.image_format = format;
            data.access = data.access.union(access);
            if !writable {
                data.access = data.access.union(AccessFlags::NON_WRITEABLE);
            }
        }
    }

    /// Returns the coordinates (a vec4) and the sample of an image access.
    pub(super) fn texel(&mut self, src: &Src, target: TextureTarget) -> (Def, Def) {
        let coordinate = self.vector(src, OperandType::Uint, 4);
        let sample = if target.is_msaa() { self.b.channel(coordinate, 3) } else { self.constant(0) };
        (coordinate, sample)
    }

    /// Translates a memory opcode.
    pub(super) fn memory(&mut self, instruction: &Instruction) {
        match instruction.opcode {
            Opcode::Load => self.load_memory(instruction),
            Opcode::Store => self.store_memory(instruction),
            Opcode::Resq => self.query_resource(instruction),
            Opcode::Img2hnd => self.handle(instruction, DescType::Image),
            Opcode::Barrier => self.barrier(),
            Opcode::Membar => self.memory_barrier(instruction),
            _ => self.atomic(instruction),
        }
    }

    fn load_memory(&mut self, instruction: &Instruction) {
        let (Some(&name), Some(&address)) = (instruction.src.first(), instruction.src.get(1)) else { return };
        let mask = instruction.dst.first().map_or(0, |dst| dst.write_mask & 0xf);
        if mask == 0 {
            return;
        }
        // A load covers the components up to the last written one.
        let count = 8 - mask.leading_zeros() as u8;
        let shape = Shape::new(count, 32);
        let flags = (IndexKind::Access, access(instruction).to_i32());
        let resource = self.resource(instruction, &name);
        let value = match resource {
            Resource::Buffer(number) => {
                let offset = self.scalar(&address, OperandType::Uint, 0);
                self.b.intrinsic_def(
                    IntrinsicOp::LoadSsbo,
                    &[number, offset],
                    &[flags, ALIGNMENT[0], ALIGNMENT[1]],
                    shape,
                )
            }
            Resource::Shared => {
                let offset = self.scalar(&address, OperandType::Uint, 0);
                self.b.intrinsic_def(IntrinsicOp::LoadShared, &[offset], &ALIGNMENT, shape)
            }
            Resource::Constants(block) => {
                let offset = self.scalar(&address, OperandType::Uint, 0);
                let indices = [flags, ALIGNMENT[0], ALIGNMENT[1], (IndexKind::RangeBase, 0), (IndexKind::Range, -1)];
                self.b.intrinsic_def(IntrinsicOp::LoadUbo, &[block, offset], &indices, shape)
            }
            Resource::Counter { buffer, offset, dynamic } => {
                let (address, offset) = self.counter_address(&address, dynamic, offset);
                let shape = Shape::new(1, 32);
                let value = self.in_counter_buffer(buffer, offset, address, |t, counter| {
                    t.b.intrinsic_def(IntrinsicOp::AtomicCounterRead, &[counter.address], &counter.indices, shape)
                });
                // One word in every channel, as for atomics.
                self.write(instruction, AluSrc::new(value, Swizzle::replicate(0)));
                return;
            }
            Resource::Image(image) => {
                let value = self.load_image(&image, &address);
                let swizzle = Swizzle::new(&name.swizzle.map(|component| component & 3));
                self.write(instruction, AluSrc::new(value, swizzle));
                return;
            }
            Resource::Nothing => self.constant_vector(&[0; 4]),
        };
        self.write(instruction, value.into());
    }

    fn load_image(&mut self, image: &ImageAccess, address: &Src) -> Def {
        let (coordinate, sample) = self.texel(address, image.target);
        let level = self.constant(0);
        let mut indices = image.indices();
        indices.push((IndexKind::DestType, alu_type(texel_type(image.format)).to_i32()));
        let op = if image.is_handle { IntrinsicOp::BindlessImageLoad } else { IntrinsicOp::ImageDerefLoad };
        self.b.intrinsic_def(op, &[image.name, coordinate, sample, level], &indices, Shape::new(4, 32))
    }

    fn store_memory(&mut self, instruction: &Instruction) {
        let Some(dst) = instruction.dst.first() else { return };
        let (Some(&address), Some(&value)) = (instruction.src.first(), instruction.src.get(1)) else { return };
        let mask = dst.write_mask & 0xf;
        let resource = self.resource(instruction, &Src::new(dst.register));
        self.context.ir.info.writes_memory = true;
        if mask == 0 && !matches!(resource, Resource::Image(_)) {
            return;
        }
        let count = 8 - mask.max(1).leading_zeros() as u8;
        let write_mask = (IndexKind::WriteMask, i32::from(mask));
        match resource {
            Resource::Buffer(number) => {
                let offset = self.scalar(&address, OperandType::Uint, 0);
                let value = self.vector(&value, OperandType::Float, count);
                let flags = (IndexKind::Access, access(instruction).to_i32());
                let indices = [write_mask, flags, ALIGNMENT[0], ALIGNMENT[1]];
                self.b.intrinsic(IntrinsicOp::StoreSsbo, &[value, number, offset], &indices, None);
            }
            Resource::Shared => {
                let offset = self.scalar(&address, OperandType::Uint, 0);
                let value = self.vector(&value, OperandType::Float, count);
                let indices = [write_mask, ALIGNMENT[0], ALIGNMENT[1]];
                self.b.intrinsic(IntrinsicOp::StoreShared, &[value, offset], &indices, None);
            }
            Resource::Image(image) => {
                let (coordinate, sample) = self.texel(&address, image.target);
                let value = self.vector(&value, OperandType::Float, 4);
                let level = self.constant(0);
                let mut indices = image.indices();
                indices.push((IndexKind::SrcType, alu_type(texel_type(image.format)).to_i32()));
                let op = if image.is_handle { IntrinsicOp::BindlessImageStore } else { IntrinsicOp::ImageDerefStore };
                self.b.intrinsic(op, &[image.name, coordinate, sample, value, level], &indices, None);
            }
            // Checked shaders store to no other resource.
            Resource::Counter { .. } | Resource::Constants(_) | Resource::Nothing => {}
        }
    }

    /// Returns the byte offset of a counter in two parts, the second of which is known. The index register and the
    /// operand both add to the counter of the register, and only the sum must be the number of a counter. The second
    /// part is always the counter of the register, because hosts determine the indexed array from it.
    pub(super) fn counter_address(&mut self, address: &Src, dynamic: Option<Def>, offset: i32) -> (Def, i32) {
        let known = self.known_word(address, 0);
        let counters = match (known, dynamic) {
            (Some(counters), None) if counters < MAX_COUNTERS as u32 => return (self.constant(counters * 4), offset),
            (Some(counters), Some(dynamic)) => self.add_constant(dynamic, counters as i32),
            _ => {
                let counters = self.scalar(address, OperandType::Uint, 0);
                dynamic.map_or(counters, |dynamic| self.b.alu(AluOp::Iadd, &[counters, dynamic]))
            }
        };
        // Clamp the number to a range without counters at its ends, so that the byte offset cannot wrap around to an
        // existing one.
        let (least, most) = (self.constant(-MAX_COUNTERS as u32), self.constant(MAX_COUNTERS as u32));
        let counters = self.b.alu(AluOp::Imax, &[counters, least]);
        let counters = self.b.alu(AluOp::Imin, &[counters, most]);
        let two = self.constant(2);
        (self.b.alu(AluOp::Ishl, &[counters, two]), offset)
    }

    /// Translates `RESQ`: the bytes of a buffer in x (the other channels are unchanged), or the size and samples of an
    /// image.
    fn query_resource(&mut self, instruction: &Instruction) {
        let Some(&name) = instruction.src.first() else { return };
        let mask = instruction.dst.first().map_or(0, |dst| dst.write_mask & 0xf);
        let shape = Shape::new(1, 32);
        let flags = [(IndexKind::Access, access(instruction).to_i32())];
        self.context.ir.info.uses_resource_info_query = true;
        let size = match self.resource(instruction, &name) {
            Resource::Image(image) => return self.query_image(instruction, &image),
            _ if mask & 1 == 0 => return,
            Resource::Buffer(number) => self.b.intrinsic_def(IntrinsicOp::GetSsboSize, &[number], &flags, shape),
            // Checked shaders query no other resource.
            Resource::Constants(_) | Resource::Shared | Resource::Counter { .. } | Resource::Nothing => {
                self.constant(0)
            }
        };
        self.write_masked(instruction, 1, AluSrc::component(size, 0));
    }

    fn query_image(&mut self, instruction: &Instruction, image: &ImageAccess) {
        let mask = instruction.dst.first().map_or(0, |dst| dst.write_mask & 0xf);
        let indices = image.indices();
        let zero = self.constant(0);
        let components = image.target.size_components();
        let size = (mask & 7 != 0).then(|| {
            let op = if image.is_handle { IntrinsicOp::BindlessImageSize } else { IntrinsicOp::ImageDerefSize };
            self.b.intrinsic_def(op, &[image.name, zero], &indices, Shape::new(components, 32))
        });
        let samples = (mask & 8 != 0).then(|| {
            let op = if image.is_handle { IntrinsicOp::BindlessImageSamples } else { IntrinsicOp::ImageDerefSamples };
            self.b.intrinsic_def(op, &[image.name], &indices, Shape::new(1, 32))
        });
        self.write_channels(instruction, |_, channel| match (channel, size, samples) {
            (3, _, Some(samples)) => AluSrc::component(samples, 0),
            (0..3, Some(size), _) if channel < components => AluSrc::component(size, channel),
            _ => AluSrc::component(zero, 0),
        });
    }

    fn barrier(&mut self) {
        // Outputs of a tessellation control shader are shared between its invocations.
        let outputs = self.context.shader.processor == Processor::TessControl;
        let (scope, semantics, modes) = if outputs {
            (Scope::Workgroup, MemorySemantics::ACQ_REL, VariableModes::SHADER_OUT)
        } else {
            (Scope::None, MemorySemantics::NONE, VariableModes::NONE)
        };
        self.build_barrier(Scope::Workgroup, scope, semantics, modes);
    }

    fn memory_barrier(&mut self, instruction: &Instruction) {
        let bits = instruction.src.first().and_then(|src| self.known_word(src, 0)).unwrap_or(0xf);
        let scope = if bits & 16 != 0 { Scope::Workgroup } else { Scope::Device };
        let modes = [
            (1, VariableModes::MEM_SSBO),
            (2, VariableModes::MEM_SSBO),
            (4, VariableModes::IMAGE),
            (8, VariableModes::MEM_SHARED),
        ]
        .into_iter()
        .filter(|(bit, _)| bits & bit != 0)
        .fold(VariableModes::NONE, |modes, (_, mode)| modes.union(mode));
        self.build_barrier(Scope::None, scope, MemorySemantics::ACQ_REL, modes);
    }

    fn build_barrier(&mut self, execution: Scope, memory: Scope, semantics: MemorySemantics, modes: VariableModes) {
        let indices = [
            (IndexKind::ExecutionScope, execution.to_i32()),
            (IndexKind::MemoryScope, memory.to_i32()),
            (IndexKind::MemorySemantics, semantics.to_i32()),
            (IndexKind::MemoryModes, modes.0 as i32),
        ];
        self.b.intrinsic(IntrinsicOp::Barrier, &[], &indices, None);
    }
}
