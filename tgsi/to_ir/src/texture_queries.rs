//! Texture queries that fetch no texels: sizes, levels, samples, handles.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{Shape, TexOp, TexSrcKind};
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::DescType;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use super::control_flow::Translator;
use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, Opcode, OperandType, TextureTarget};

impl Translator<'_, '_> {
    /// Translates a query.
    pub(super) fn texture_query(&mut self, instruction: &Instruction) {
        match instruction.opcode {
            Opcode::Txq | Opcode::Sviewinfo => self.query_size(instruction),
            Opcode::Txqs => {
                if let Some(samples) = self.query_samples(instruction) {
                    self.write_first(instruction, samples);
                }
            }
            Opcode::SamplePos => self.sample_position(instruction),
            Opcode::SampleInfo => {
                let samples = self.samples(instruction);
                let samples = self.b.alu(AluOp::U2f32, &[samples]);
                self.write_first(instruction, samples);
            }
            Opcode::Samp2hnd => self.handle(instruction, DescType::TextureSampler),
            // The others are lookups.
            _ => {}
        }
    }

    /// Writes a value to x and zeros to the other channels.
    pub(super) fn write_first(&mut self, instruction: &Instruction, value: Def) {
        let zero = AluSrc::component(self.constant(0), 0);
        self.write_channels(instruction, |_, channel| if channel == 0 { AluSrc::component(value, 0) } else { zero });
    }

    fn query_target(&self, instruction: &Instruction) -> TextureTarget {
        let (view, _) = instruction.opcode.texture_operands();
        match instruction.src.get(view) {
            Some(view) => self.texture_target(instruction, view),
            None => TextureTarget::Texture2D,
        }
    }

    fn query_size(&mut self, instruction: &Instruction) {
        let Some(&level) = instruction.src.first() else { return };
        let mask = instruction.dst.first().map_or(0, |dst| dst.write_mask & 0xf);
        let target = self.query_target(instruction);
        let checks = instruction.opcode == Opcode::Sviewinfo;
        let level = self.scalar(&level, OperandType::Uint, 0);
        // The sizes come first: a driver with one instruction for both finds the levels after them.
        let mut size = None;
        if mask & 7 != 0 {
            let Some(mut lookup) = self.start_lookup(instruction, TexOp::Txs, target, false) else { return };
            let _ = lookup.sources.try_push((TexSrcKind::Lod, level));
            let def = self.b.texture(lookup.data, &lookup.sources);
            size = Some((def, self.b.body.num_components(def)));
        }
        let mut levels = None;
        if mask & 8 != 0 || checks {
            let Some(lookup) = self.start_lookup(instruction, TexOp::QueryLevels, target, false) else { return };
            levels = Some(self.b.texture(lookup.data, &lookup.sources));
        }
        if let (true, Some((size, components)), Some(levels)) = (checks, &mut size, levels) {
            // A level beyond the last has size 0.
            let exists = self.b.alu(AluOp::Ult, &[level, levels]);
            let zero = AluSrc::component(self.constant(0), 0);
            let sources = [AluSrc::component(exists, 0), (*size).into(), zero];
            *size = self.b.alu_sized(AluOp::Bcsel, *components, &sources);
        }
        let zero = AluSrc::component(self.constant(0), 0);
        self.write_channels(instruction, |_, channel| match (channel, size, levels) {
            (3, _, Some(levels)) => AluSrc::component(levels, 0),
            (0..3, Some((size, components)), _) if channel < components => AluSrc::component(size, channel),
            _ => zero,
        });
    }

    fn query_samples(&mut self, instruction: &Instruction) -> Option<Def> {
        let target = self.query_target(instruction);
        let lookup = self.start_lookup(instruction, TexOp::TextureSamples, target, false)?;
        Some(self.b.texture(lookup.data, &lookup.sources))
    }

    /// Whether a query of samples is about a view.
    fn is_view(&self, instruction: &Instruction) -> bool {
        instruction.src.first().is_some_and(|src| src.register.file == File::SamplerView)
    }

    /// Returns the samples of a view. An operand that is not a view denotes the render target, which is only known to
    /// have a sample.
    fn samples(&mut self, instruction: &Instruction) -> Def {
        let samples = if self.is_view(instruction) { self.query_samples(instruction) } else { None };
        samples.unwrap_or_else(|| self.constant(1))
    }

    /// Translates the position of a sample in the standard pattern for the view's number of samples. The render target
    /// has one sample, at the centre, for every sample number.
    fn sample_position(&mut self, instruction: &Instruction) {
        let Some(&number) = instruction.src.get(1) else { return };
        let position = if self.is_view(instruction) {
            let target = self.query_target(instruction);
            let number = self.scalar(&number, OperandType::Uint, 0);
            let Some(mut lookup) = self.start_lookup(instruction, TexOp::SamplePos, target, false) else { return };
            lookup.push(TexSrcKind::MsIndex, number);
            self.b.texture(lookup.data, &lookup.sources)
        } else {
            self.b.constant(32, &[u64::from(0.5f32.to_bits()); 2])
        };
        let zero = AluSrc::component(self.constant(0), 0);
        self.write_channels(
            instruction,
            |_, channel| {
                if channel < 2 { AluSrc::component(position, channel) } else { zero }
            },
        );
    }

    /// Writes the 64-bit handle of a unit to xy.
    pub(super) fn handle(&mut self, instruction: &Instruction, kind: DescType) {
        let Some(src) = instruction.src.first() else { return };
        let Src { register: Register { index, indirect, .. }, .. } = *src;
        let offset = match indirect {
            Some(indirect) => self.index_value(indirect),
            None => self.constant(0),
        };
        let indices = [(IndexKind::DescSet, 0), (IndexKind::Binding, index), (IndexKind::DescType, kind.to_i32())];
        let unit = self.b.intrinsic_def(IntrinsicOp::VulkanResourceIndex, &[offset], &indices, Shape::new(1, 32));
        let indices = [(IndexKind::DescType, kind.to_i32())];
        let handle = self.b.intrinsic_def(IntrinsicOp::LoadVulkanDescriptor, &[unit], &indices, Shape::new(1, 64));
        let words = self.b.alu(AluOp::Unpack642x32, &[handle]);
        self.write_two(instruction, words);
    }
}
