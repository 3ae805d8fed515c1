//! Emits declarations: those collected by selection, and the inputs, outputs and constants used by the final
//! instructions, with the components used.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use tgsi::builder::{Io, RegisterArray, ShaderBuilder};
use tgsi::shader::{DeclarationImage, DeclarationInterpolation, Instruction};
use tgsi::tables::{File, Interpolation, InterpolationLocation, Opcode, Processor, Semantic};
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_to_ir::slots::{processor_of, semantic_of};

use crate::select::declared::{ArrayKey, ImageUse, IoFile, IoVariable, ShaderDeclarations};

/// The processor of a stage that TGSI can express.
pub(crate) const fn processor(stage: ShaderStage) -> Option<Processor> {
    if matches!(stage, ShaderStage::Task | ShaderStage::Mesh) { None } else { Some(processor_of(stage)) }
}

impl ShaderDeclarations {
    /// Declares everything with the builder and gives array numbers their final values.
    pub(crate) fn declare(&self, shader: &Shader, builder: &mut ShaderBuilder, instructions: &mut [Instruction]) {
        self.declare_inputs_and_outputs(shader, builder, instructions);
        for &semantic in &self.system_values {
            builder.system_value(semantic, 0);
        }
        let narrow = |n: u32| n.min(0x7fff) as u16;
        for &unit in &self.samplers {
            builder.sampler(narrow(unit));
        }
        for (&unit, &(target, returns)) in &self.views {
            builder.sampler_view(narrow(unit), target, [returns; 4]);
        }
        for (&unit, usage) in &self.images {
            let ImageUse { target, format, writable } = *usage;
            builder.image(narrow(unit), DeclarationImage { target, raw: false, writable, format });
        }
        for (&number, &atomic) in &self.buffers {
            builder.buffer(narrow(number), atomic);
        }
        for &memory in &self.memories {
            builder.memory(memory);
        }
        // Only constants that are still used are declared, except for indirect accesses, which need whole ranges.
        let mut direct: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut indirect = false;
        for instruction in instructions.iter() {
            for src in instruction.src.iter().filter(|s| s.register.file == File::Constant) {
                let buffer = src.register.dimension.map_or(0, |d| d.index);
                let dynamic =
                    src.register.indirect.is_some() || src.register.dimension.is_some_and(|d| d.indirect.is_some());
                indirect |= dynamic;
                if !dynamic && let (Ok(buffer), Ok(index)) = (u32::try_from(buffer), u32::try_from(src.register.index))
                {
                    direct.insert((buffer, index));
                }
            }
        }
        for &(buffer, index) in &direct {
            builder.constant(narrow(buffer), narrow(index));
        }
        if indirect {
            for (&buffer, ranges) in &self.constants {
                for &(first, last) in ranges {
                    builder.constant_range(narrow(buffer), narrow(first), narrow(last));
                }
            }
        }
        for &buffer in &self.constant_buffers {
            builder.constant_buffer(narrow(buffer));
        }
        self.declare_counters(builder, instructions);
    }

    /// Declares counters, and sets the array numbers of accesses through run-time indices.
    fn declare_counters(&self, builder: &mut ShaderBuilder, instructions: &mut [Instruction]) {
        let mut arrays: BTreeMap<(i32, i32), RegisterArray> = BTreeMap::new();
        for (&number, ranges) in &self.counters {
            let buffer = number.clamp(0, 0x7fff) as u16;
            // Ranges must not overlap those already declared.
            let mut declared = -1;
            for &(first, last) in ranges {
                let (first, last) = (first.max(declared + 1).clamp(0, 0x7fff), last.clamp(0, 0x7fff));
                if last <= declared || first > last {
                    continue;
                }
                declared = last;
                if first == last {
                    builder.hw_atomic(buffer, first as u16);
                } else {
                    let array = builder.hw_atomic_array(buffer, first as u16, (last - first) as u16 + 1);
                    arrays.insert((number, first), array);
                }
            }
        }
        for instruction in instructions {
            for register in instruction.registers_mut().filter(|register| register.file == File::HwAtomic) {
                let buffer = register.dimension.filter(|d| d.indirect.is_none()).map_or(0, |d| d.index);
                let Some(indirect) = register.indirect.as_mut().filter(|i| i.array_id != 0) else { continue };
                let array = arrays.range((buffer, i32::MIN)..=(buffer, register.index)).next_back();
                let holds = |array: &RegisterArray| register.index < i32::from(array.first) + i32::from(array.size);
                indirect.array_id = array.filter(|(_, array)| holds(array)).map_or(0, |(_, array)| array.array_id);
            }
        }
    }

    fn declare_inputs_and_outputs(
        &self,
        shader: &Shader,
        builder: &mut ShaderBuilder,
        instructions: &mut [Instruction],
    ) {
        let Some(processor) = processor(shader.stage) else { return };
        let mut masks: BTreeMap<(IoFile, u32), u8> = BTreeMap::new();
        let mut note = |file: File, index: i32, indirect: Option<u16>, mask: u8| {
            let file = match file {
                File::Input => IoFile::Input,
                File::Output => IoFile::Output,
                _ => return,
            };
            let first = match indirect {
                // An access without an array number may reach all registers.
                Some(0) => {
                    for (_, variable) in self.variables.range((file, 0)..=(file, u32::MAX)) {
                        *masks.entry((file, variable.first)).or_insert(0) |= mask;
                    }
                    return;
                }
                Some(number) => self.arrays.get(usize::from(number).wrapping_sub(1)).map_or(0, |key| key.first),
                None => index.max(0) as u32,
            };
            let register = match self.variable(file, first) {
                Some(variable) if variable.is_array => variable.first,
                _ => first,
            };
            *masks.entry((file, register)).or_insert(0) |= mask;
        };
        for instruction in instructions.iter() {
            for (number, src) in instruction.src.iter().enumerate() {
                if !matches!(src.register.file, File::Input | File::Output) {
                    continue;
                }
                let mut mask = tgsi::scan::needed_mask(instruction, number);
                if instruction.opcode == Opcode::Fbfetch {
                    mask = 0xf;
                }
                note(src.register.file, src.register.index, src.register.indirect.map(|i| i.array_id), mask);
            }
            for dst in &instruction.dst {
                note(dst.register.file, dst.register.index, dst.register.indirect.map(|i| i.array_id), dst.write_mask);
            }
        }
        let mut numbers: HashMap<ArrayKey, u16> = HashMap::new();
        for (&(file, register), &mask) in &masks {
            let variable = self.variable(file, register);
            let io = self.io(processor, file, register, mask, variable);
            match variable {
                Some(variable) if variable.is_array => {
                    let count = variable.count.min(0x7fff) as u16;
                    let array = match file {
                        IoFile::Input => builder.input_array(io, count),
                        IoFile::Output => builder.output_array(io, count),
                    };
                    numbers.insert(ArrayKey { file, first: register }, array.array_id);
                }
                _ => {
                    match file {
                        IoFile::Input => builder.input(io),
                        IoFile::Output => builder.output(io),
                    };
                }
            }
        }
        for instruction in instructions {
            let registers = instruction
                .src
                .iter_mut()
                .map(|s| &mut s.register)
                .chain(instruction.dst.iter_mut().map(|d| &mut d.register));
            for register in registers {
                if !matches!(register.file, File::Input | File::Output) {
                    continue;
                }
                if let Some(indirect) = &mut register.indirect {
                    let key = self.arrays.get(usize::from(indirect.array_id).wrapping_sub(1));
                    indirect.array_id = key.and_then(|k| numbers.get(k)).copied().unwrap_or(0);
                }
            }
        }
    }

    fn io(&self, processor: Processor, file: IoFile, register: u32, mask: u8, variable: Option<&IoVariable>) -> Io {
        let register = register.min(0x7fff) as u16;
        if (processor, file) == (Processor::Vertex, IoFile::Input) {
            return Io { usage_mask: mask, ..Io::attribute(register) };
        }
        let Some(IoVariable { data, first, .. }) = variable else {
            return Io { register: Some(register), usage_mask: mask, ..Io::new(Semantic::Generic, register) };
        };
        // Three and four 64-bit numbers have two slots.
        let location = data.location.saturating_add_unsigned(u32::from(register).saturating_sub(*first));
        let (semantic, index) =
            semantic_of(processor, file.tgsi(), location).unwrap_or((Semantic::Generic, u32::from(register)));
        let fragment_output = (processor, file) == (Processor::Fragment, IoFile::Output);
        if fragment_output && semantic == Semantic::Generic {
            // A TGSI source without a semantic for this output: it has none in the result either, since nothing refers
            // to it.
            return Io { usage_mask: mask, ..Io::attribute(register) };
        }
        let index = if fragment_output { index + data.index } else { index };
        let interpolation = ((processor, file) == (Processor::Fragment, IoFile::Input)).then(|| {
            let location = match (data.centroid, data.sample) {
                (_, true) => InterpolationLocation::Sample,
                (true, _) => InterpolationLocation::Centroid,
                _ => InterpolationLocation::Center,
            };
            let mode = match data.interpolation {
                InterpMode::Flat => Interpolation::Constant,
                InterpMode::NoPerspective => Interpolation::Linear,
                InterpMode::None if matches!(semantic, Semantic::Color) => Interpolation::Color,
                InterpMode::None | InterpMode::Smooth | InterpMode::Explicit => {
                    if semantic == Semantic::Position {
                        Interpolation::Linear
                    } else {
                        Interpolation::Perspective
                    }
                }
            };
            DeclarationInterpolation { mode, location }
        });
        let mut streams = [0; 4];
        if processor == Processor::Geometry && file == IoFile::Output {
            for (c, stream) in streams.iter_mut().enumerate().filter(|(c, _)| mask & 1 << c != 0) {
                *stream = data.streams >> (2 * c) & 3;
            }
        }
        Io {
            usage_mask: mask.max(1),
            interpolation,
            streams,
            invariant: data.invariant,
            register: Some(register),
            ..Io::new(semantic, index as u16)
        }
    }
}
