//! The scan: a summary of a shader for drivers, gathered in one pass over its items in stream order.
//!
//! Field names (also in JSON) are those of Mesa's `tgsi_shader_info`. Tables indexed by register
//! ([`ShaderScan::input_usage_mask`] and so on) have at most 80 entries; the counts are
//! exact. A scan never
//! fails: errors in a shader are ignored here and reported by the check.

mod info;
mod read_mask;
mod resources;

use std::collections::BTreeMap;

use crate::shader::{Declaration, Dst, Indirect, Instruction, Register, Shader, ShaderItem, Src};
use crate::tables::{
    File, Interpolation, InterpolationLocation, Opcode, Primitive, Processor, PropertyName, ReturnType, Semantic,
    TextureTarget,
};

pub use info::{FileSet, MAX_SCANNED_CONSTANT_BUFFERS, OpcodeCount, PerFile, PropertyValues, ShaderScan};
use read_mask::read_mask;
#[doc(hidden)]
pub use read_mask::{needed_channels, needed_mask};
pub use resources::{Resource, ResourceUses, resources};

/// Maximum length of the tables indexed by input, output and system value register: drivers support no more.
const MAX_SCANNED_REGISTERS: usize = 80;

/// Length of the tables indexed by sampler and sampler view.
const MAX_SCANNED_VIEWS: usize = 128;

/// Scans `shader`.
pub fn scan(shader: &Shader) -> ShaderScan {
    let mut scan = ShaderScan::new(shader.processor);
    for item in shader.items() {
        match item {
            ShaderItem::Declaration(_, declaration) => scan.declaration(declaration),
            ShaderItem::Immediate(index, _) => {
                scan.immediate_count += 1;
                let register = index.min(usize::from(u16::MAX)) as u16;
                scan.registers(File::Immediate, register, register);
            }
            ShaderItem::Property(_, property) => {
                let value = property.data.first().copied().unwrap_or(0);
                scan.properties.0[property.name as usize] = value;
                match property.name {
                    PropertyName::NumClipdistEnabled => scan.num_written_clipdistance = value,
                    PropertyName::NumCulldistEnabled => scan.num_written_culldistance = value,
                    _ => {}
                }
            }
            ShaderItem::Instruction(_, instruction) => scan.instruction(instruction),
        }
    }
    if shader.processor == Processor::Geometry {
        let primitive = Primitive::from_value(scan.properties[PropertyName::GsInputPrimitive]);
        let vertices = u32::from(primitive.unwrap_or(Primitive::Points).input_vertices());
        scan.file_count[File::Input] = vertices;
        scan.file_max[File::Input] = scan.file_max[File::Input].max(vertices as i32 - 1);
        scan.file_mask[File::Input] = (1 << vertices) - 1;
    }
    scan.instruction_count = scan.num_instructions;
    scan.temporaries = count_temporaries(shader);
    scan
}

/// Returns the number of different declared `TEMP` registers.
pub fn count_temporaries(shader: &Shader) -> u32 {
    let temporaries = shader.declarations.iter().filter(|d| d.file == File::Temporary);
    let mut ranges: Vec<(u32, u32)> = temporaries.map(|d| (d.first.into(), d.last.into())).collect();
    ranges.sort_unstable();
    let (mut count, mut next) = (0, 0);
    for (first, last) in ranges {
        let first = first.max(next);
        if first <= last {
            count += last - first + 1;
            next = last + 1;
        }
    }
    count
}

/// Returns the bits from `first` to `last`.
fn bit_range(first: u16, last: u16) -> u64 {
    (first..=last.min(63)).fold(0, |bits, r| bits | 1 << r)
}

impl ShaderScan {
    fn new(processor: Processor) -> ShaderScan {
        let mut properties = PropertyValues::default();
        if processor == Processor::Geometry {
            properties.0[PropertyName::GsInvocations as usize] = 1;
        }
        ShaderScan {
            processor,
            properties,
            file_max: PerFile([-1; 15]),
            const_file_max: [-1; MAX_SCANNED_CONSTANT_BUFFERS],
            sampler_targets: vec![TextureTarget::Unknown; MAX_SCANNED_VIEWS],
            sampler_type: vec![ReturnType::Unorm; MAX_SCANNED_VIEWS],
            ..ShaderScan::default()
        }
    }

    /// Counts `first..=last` of `file` as declared.
    fn registers(&mut self, file: File, first: u16, last: u16) {
        let count = u32::from(last.saturating_sub(first)) + 1;
        let mask = if count >= 32 { u32::MAX } else { ((1u32 << count) - 1).rotate_left(u32::from(first) % 32) };
        self.file_mask[file] |= mask;
        self.file_count[file] = self.file_count[file].saturating_add(count);
        self.file_max[file] = self.file_max[file].max(last.into());
    }

    fn declaration(&mut self, d: &Declaration) {
        if d.first > d.last {
            return;
        }
        self.registers(d.file, d.first, d.last);
        match d.file {
            File::Constant => {
                if let Some(max) = self.const_file_max.get_mut(usize::from(d.dimension.unwrap_or(0))) {
                    *max = (*max).max(d.last.into());
                    self.const_buffers_declared |= 1 << d.dimension.unwrap_or(0);
                }
            }
            File::Input => self.input(d),
            File::Output => self.output(d),
            File::SystemValue => self.system_value(d),
            File::Sampler => self.samplers_declared |= bit_range(d.first, d.last) as u32,
            File::SamplerView => {
                let view = d.sampler_view.unwrap_or_default();
                for r in usize::from(d.first)..=usize::from(d.last).min(MAX_SCANNED_VIEWS - 1) {
                    self.sampler_targets[r] = view.target;
                    self.sampler_type[r] = view.return_types[0];
                }
            }
            File::Image => {
                self.images_declared |= bit_range(d.first, d.last);
                if d.image.unwrap_or_default().target == TextureTarget::Buffer {
                    self.images_buffers |= bit_range(d.first, d.last);
                }
            }
            File::Buffer => self.shader_buffers_declared |= bit_range(d.first, d.last) as u32,
            File::HwAtomic => self.hw_atomic_declared |= bit_range(d.first, d.last) as u32,
            File::Null | File::Temporary | File::Address | File::Immediate | File::Memory | File::ConstantBuffer => {}
        }
    }

    fn input(&mut self, d: &Declaration) {
        let (name, index) = d.semantic.map_or((Semantic::Position, 0), |s| (s.name, s.index));
        self.num_inputs = self.num_inputs.max(u32::from(d.last) + 1);
        let length = (self.num_inputs as usize).min(MAX_SCANNED_REGISTERS);
        self.input_semantic_name.resize(length, Semantic::Position);
        self.input_semantic_index.resize(length, 0);
        self.input_interpolate.resize(length, Interpolation::Constant);
        self.input_interpolate_loc.resize(length, InterpolationLocation::Center);
        self.input_usage_mask.resize(length, 0);
        for r in usize::from(d.first)..(usize::from(d.last) + 1).min(length) {
            self.input_semantic_name[r] = name;
            self.input_semantic_index[r] = index.wrapping_add((r - usize::from(d.first)) as u16) as u8;
            self.input_interpolate[r] = d.interpolation.map_or(Interpolation::Constant, |i| i.mode);
            self.input_interpolate_loc[r] = d.interpolation.map_or(InterpolationLocation::Center, |i| i.location);
        }
        if let Some(array) = d.array() {
            self.input_array_first.insert(array, d.first);
        }
        self.uses_primid |= name == Semantic::PrimitiveId;
        self.uses_frontface |= name == Semantic::Face;
    }

    fn output(&mut self, d: &Declaration) {
        let (name, index, streams) =
            d.semantic.map_or((Semantic::Position, 0, [0; 4]), |s| (s.name, s.index, s.streams));
        self.num_outputs = self.num_outputs.max(u32::from(d.last) + 1);
        let length = (self.num_outputs as usize).min(MAX_SCANNED_REGISTERS);
        self.output_semantic_name.resize(length, Semantic::Position);
        self.output_semantic_index.resize(length, 0);
        self.output_usagemask.resize(length, 0);
        self.output_streams.resize(length, 0);
        let count = u32::from(d.last - d.first) + 1;
        let components = (0..4).filter(|c| d.usage_mask & 1 << c != 0);
        let stream_bits = components.clone().fold(0, |bits, c| bits | (streams[c] & 3) << (2 * c));
        for c in components {
            let total = &mut self.num_stream_output_components[usize::from(streams[c] & 3)];
            *total = total.saturating_add(count);
        }
        for r in usize::from(d.first)..(usize::from(d.last) + 1).min(length) {
            self.output_semantic_name[r] = name;
            self.output_semantic_index[r] = index.wrapping_add((r - usize::from(d.first)) as u16) as u8;
            self.output_usagemask[r] |= d.usage_mask;
            self.output_streams[r] |= stream_bits;
        }
        if let Some(array) = d.array() {
            self.output_array_first.insert(array, d.first);
        }
        match name {
            Semantic::ViewportIndex => self.writes_viewport_index = true,
            Semantic::Layer => self.writes_layer = true,
            Semantic::PointSize => self.writes_psize = true,
            Semantic::ClipVertex => self.writes_clipvertex = true,
            Semantic::Stencil => self.writes_stencil = true,
            Semantic::SampleMask => self.writes_samplemask = true,
            Semantic::EdgeFlag => self.writes_edgeflag = true,
            Semantic::Position if self.processor == Processor::Fragment => self.writes_z = true,
            Semantic::Position => self.writes_position = true,
            _ => {}
        }
    }

    fn system_value(&mut self, d: &Declaration) {
        let name = d.semantic.map_or(Semantic::Position, |s| s.name);
        self.num_system_values = self.num_system_values.max(u32::from(d.first) + 1);
        self.system_value_semantic_name
            .resize((self.num_system_values as usize).min(MAX_SCANNED_REGISTERS), Semantic::Position);
        if let Some(slot) = self.system_value_semantic_name.get_mut(usize::from(d.first)) {
            *slot = name;
        }
        match name {
            Semantic::InstanceId => self.uses_instanceid = true,
            Semantic::VertexId => self.uses_vertexid = true,
            Semantic::VertexIdNoBase => self.uses_vertexid_nobase = true,
            Semantic::BaseVertex => self.uses_basevertex = true,
            Semantic::PrimitiveId => self.uses_primid = true,
            Semantic::InvocationId => self.uses_invocationid = true,
            Semantic::Face => self.uses_frontface = true,
            _ => {}
        }
    }

    fn instruction(&mut self, i: &Instruction) {
        self.num_instructions += 1;
        self.opcode_count.0[i.opcode as usize] += 1;
        match i.opcode {
            Opcode::Kill | Opcode::KillIf => self.uses_kill = true,
            Opcode::Fbfetch => self.uses_fbfetch = true,
            _ => {}
        }
        for (number, src) in i.src.iter().enumerate() {
            self.source(src.register, read_mask(i, number));
            self.source_resource(i, src);
            self.index_registers(&src.register);
        }
        for offset in i.texture.iter().flat_map(|t| &t.offsets) {
            let mask = offset.swizzle.iter().fold(0, |mask, &c| mask | 1 << (c & 3));
            self.source(Register::new(offset.file, offset.index), mask);
        }
        for dst in &i.dst {
            self.index_registers(&dst.register);
            self.destination_resource(i, dst);
        }
    }

    /// Records a read of the components of `mask` of a register.
    fn source(&mut self, register: Register, mask: u8) {
        let direct = usize::try_from(register.index).ok();
        // An array is represented by its first register.
        let representative = |arrays: &BTreeMap<u16, u16>| match register.indirect {
            Some(indirect) if indirect.array_id != 0 => arrays.get(&indirect.array_id).map(|&r| usize::from(r)),
            _ => direct,
        };
        match register.file {
            File::Input => {
                if self.processor == Processor::Fragment {
                    let name = representative(&self.input_array_first).and_then(|r| self.input_semantic_name.get(r));
                    self.reads_z |= name == Some(&Semantic::Position) && mask & 4 != 0;
                }
                if register.indirect.is_some() {
                    self.input_usage_mask.iter_mut().for_each(|m| *m |= mask);
                } else if let Some(usage) = direct.and_then(|r| self.input_usage_mask.get_mut(r)) {
                    *usage |= mask;
                }
            }
            File::Output if self.processor == Processor::TessControl => {
                let name = representative(&self.output_array_first).and_then(|r| self.output_semantic_name.get(r));
                match name {
                    Some(Semantic::Patch) => self.reads_perpatch_outputs = true,
                    Some(Semantic::TessInner | Semantic::TessOuter) => self.reads_tessfactor_outputs = true,
                    _ => self.reads_pervertex_outputs = true,
                }
            }
            File::SystemValue if self.processor == Processor::Compute => {
                let name = direct.and_then(|r| self.system_value_semantic_name.get(r));
                self.uses_grid_size |= name == Some(&Semantic::GridSize);
            }
            _ => {}
        }
    }

    /// Records the index registers of an operand, which are read as well.
    fn index_registers(&mut self, register: &Register) {
        if let Some(indirect) = register.indirect {
            self.indirect_files.insert(register.file);
            self.index_register(indirect);
        }
        if let Some(indirect) = register.dimension.and_then(|d| d.indirect) {
            self.dim_indirect_files.insert(register.file);
            self.index_register(indirect);
        }
    }

    fn index_register(&mut self, indirect: Indirect) {
        self.source(Register::new(indirect.file, indirect.index), 1 << (indirect.component & 3));
    }

    fn source_resource(&mut self, i: &Instruction, src: &Src) {
        let register = src.register;
        let query = matches!(i.opcode, Opcode::Resq | Opcode::Txq | Opcode::Txqs | Opcode::Lodq);
        if register.file == File::Sampler
            && !query
            && let Some(texture) = &i.texture
            && let Some(target) = usize::try_from(register.index).ok().and_then(|r| self.sampler_targets.get_mut(r))
            && *target == TextureTarget::Unknown
        {
            *target = texture.target;
        }
        if query || !accesses_memory(i.opcode) {
            return;
        }
        self.writes_memory |= i.opcode.info().is_store && counts_as_memory(register.file);
        match register.file {
            File::Buffer => {
                let buffers = self.buffers(&register);
                if i.opcode.info().is_store {
                    self.shader_buffers_atomic |= buffers;
                } else {
                    self.shader_buffers_load |= buffers;
                }
            }
            File::Image => self.image(i, &register),
            _ => {}
        }
    }

    fn destination_resource(&mut self, i: &Instruction, dst: &Dst) {
        if i.opcode != Opcode::Store {
            return;
        }
        self.writes_memory |= counts_as_memory(dst.register.file);
        match dst.register.file {
            File::Buffer => self.shader_buffers_store |= self.buffers(&dst.register),
            File::Image => self.image(i, &dst.register),
            _ => {}
        }
    }

    /// Returns the buffers that a `BUFFER` operand may access.
    fn buffers(&self, register: &Register) -> u32 {
        if register.indirect.is_some() {
            self.shader_buffers_declared
        } else {
            u32::try_from(register.index).ok().and_then(|r| 1u32.checked_shl(r)).unwrap_or(0)
        }
    }

    fn image(&mut self, i: &Instruction, register: &Register) {
        if !i.memory.is_some_and(|m| m.target.is_msaa()) {
            return;
        }
        if register.indirect.is_some() {
            self.msaa_images_declared = self.images_declared;
        } else {
            self.msaa_images_declared |=
                u32::try_from(register.index).ok().and_then(|r| 1u64.checked_shl(r)).unwrap_or(0);
        }
    }
}

/// Whether the resource operands of an opcode access memory.
fn accesses_memory(opcode: Opcode) -> bool {
    opcode == Opcode::Load || opcode.info().is_store
}

/// Whether stores to and atomics on a file count as writing memory.
fn counts_as_memory(file: File) -> bool {
    matches!(file, File::Sampler | File::SamplerView | File::Image | File::Buffer | File::HwAtomic)
}

#[cfg(test)]
mod tests;
