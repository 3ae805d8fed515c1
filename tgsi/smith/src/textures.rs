//! Texture instructions of both families.

use arrayvec::ArrayVec;

use super::generator::Generator;
use super::registers::RegisterType;
use tgsi::check::{Support, support};
use tgsi::scan::needed_channels;
use tgsi::shader::{Instruction, InstructionMemory, InstructionTexture, Src, TextureOffset};
use tgsi::tables::{Opcode, Processor, ReturnType, TextureTarget};

/// Number of units.
const UNITS: usize = 4;

/// Targets of the `TEX` family.
const TARGETS: [TextureTarget; 18] = {
    use TextureTarget::*;
    [
        Texture2D,
        Texture1D,
        Texture3D,
        Cube,
        Rect,
        Shadow1D,
        Shadow2D,
        ShadowRect,
        Texture1DArray,
        Texture2DArray,
        Shadow1DArray,
        Shadow2DArray,
        ShadowCube,
        Texture2DMsaa,
        Texture2DArrayMsaa,
        CubeArray,
        ShadowCubeArray,
        Buffer,
    ]
};

/// Targets of hardware without integers.
const FLOAT_TARGETS: [TextureTarget; 8] = {
    use TextureTarget::*;
    [Texture2D, Texture1D, Texture3D, Cube, Rect, Shadow1D, Shadow2D, ShadowRect]
};

/// Lookups of hardware without integers.
const FLOAT_LOOKUPS: [Opcode; 5] = [Opcode::Tex, Opcode::Txb, Opcode::Txl, Opcode::Txd, Opcode::Txp];

const LOOKUPS: [Opcode; 15] = {
    use Opcode::*;
    [Tex, Txb, Txl, Txd, Txp, Txf, TxfLz, TexLz, Tg4, Lodq, Txq, Txqs, Tex2, Txb2, Txl2]
};

const SAMPLES: [Opcode; 13] = {
    use Opcode::*;
    [
        Sample, SampleB, SampleC, SampleCLz, SampleD, SampleL, SampleI, SampleIMs, Gather4, Sviewinfo, SamplePos,
        SampleInfo, Lod,
    ]
};

/// Whether a lookup of the `TEX` family supports a target.
fn is_defined(lookup: Opcode, target: TextureTarget) -> bool {
    support(lookup, target) == Support::Defined && (lookup != Opcode::Tex2 || target == TextureTarget::ShadowCubeArray)
}

impl Generator<'_> {
    /// Emits a texture lookup.
    pub(super) fn texture(&mut self) {
        if self.sample_family { self.sample() } else { self.lookup() }
    }

    /// Returns a unit and its target, which is declared.
    fn unit(&mut self) -> (u16, TextureTarget) {
        let unit = self.choices.below(UNITS);
        let target = match self.targets[unit] {
            Some(target) => target,
            None => {
                let mut target = if self.integers { self.choices.of(TARGETS) } else { self.choices.of(FLOAT_TARGETS) };
                if self.sample_family && target.is_shadow() {
                    target = TextureTarget::Texture2D;
                }
                *self.targets[unit].insert(target)
            }
        };
        let number = unit as u16;
        let types = [ReturnType::Float; 4];
        self.builder.sampler_view(number, target, types);
        self.builder.sampler(number);
        (number, target)
    }

    fn lookup(&mut self) {
        use Opcode::*;
        let (unit, target) = self.unit();
        let lookup = if self.integers { self.choices.of(LOOKUPS) } else { self.choices.of(FLOAT_LOOKUPS) };
        if !is_defined(lookup, target) || lookup == Lodq && self.stage != Processor::Fragment {
            return self.small_expression();
        }
        let query = matches!(lookup, Txq | Txqs);
        let mut sampler = Src::new(self.builder.sampler(unit));
        if self.integers && self.choices.one_in(8) {
            let position = self.temporary_to_write(RegisterType::Long);
            let destination = self.to_temporary(position, 3);
            let mut instruction = Instruction::with_operands(Samp2hnd, None, &[sampler]);
            instruction.texture = Some(Box::new(InstructionTexture::new(target)));
            instruction.memory = Some(InstructionMemory::default());
            self.put_instruction(instruction, destination);
            sampler = Src::new(self.temporaries[position].register);
        }
        let offsets = if self.integers { self.offsets(lookup, target) } else { ArrayVec::new() };
        let dst = if query { RegisterType::Integer } else { RegisterType::Float };
        let destination = self.destination(dst);
        let mut instruction = Instruction::new(lookup);
        instruction.dst.push(destination.dst);
        instruction.saturate = !query && self.choices.one_in(8);
        instruction.texture = Some(Box::new(InstructionTexture { offsets, ..InstructionTexture::new(target) }));
        let count = usize::from(lookup.info().num_src);
        for number in 0..count {
            if number + 1 == count {
                instruction.src.push(sampler);
                break;
            }
            let needed = needed_channels(&instruction, number);
            let source = match lookup {
                Txq | Txf | TxfLz => self.source(RegisterType::Integer, needed),
                Tg4 if number == 1 && target != TextureTarget::ShadowCubeArray => {
                    let component = self.choices.below(4) as u32;
                    self.builder.immediate_u32(&[component]).replicated(0)
                }
                // The sign of a zero divisor affects the result.
                Txp => self.nonzero(needed),
                _ => self.source(RegisterType::Float, needed),
            };
            instruction.src.push(source);
        }
        let mask = destination.dst.write_mask;
        self.put(instruction);
        self.written(destination, mask);
    }

    /// Returns a float with a known sign of zero.
    fn nonzero(&mut self, needed: u8) -> Src {
        let source = self.source(RegisterType::Float, needed);
        let source = self.without_sign_of_zero(RegisterType::Float, source);
        self.compute(RegisterType::Float, Opcode::Mov, &[source])
    }

    /// Returns texel offsets, if the instruction supports them.
    fn offsets(&mut self, lookup: Opcode, target: TextureTarget) -> ArrayVec<TextureOffset, 4> {
        use Opcode::*;
        let cube = matches!(target.sampler_dim(), tgsi_environment::SamplerDim::Cube);
        let takes_some =
            !matches!(lookup, Txq | Txqs | Lodq | Txp) && !cube && !target.is_msaa() && target != TextureTarget::Buffer;
        let count = match lookup {
            _ if !takes_some => 0,
            Tg4 if self.choices.one_in(4) => 4,
            _ => usize::from(self.choices.one_in(3)),
        };
        (0..count)
            .map(|_| {
                let values = [0, 1, 2, u32::MAX, 7, 0xffff_fff8];
                let source = if self.choices.one_in(3) {
                    self.source(RegisterType::Integer, 7)
                } else {
                    let values = [self.choices.of(values), self.choices.of(values), self.choices.of(values)];
                    self.builder.immediate(tgsi::tables::ImmediateType::Int32, &values)
                };
                // Only registers named directly can be offsets.
                match source.register {
                    register if register.indirect.is_none() && register.dimension.is_none() => {
                        tgsi::shader::TextureOffset::from_source(source)
                    }
                    _ => {
                        let zero = self.builder.immediate_u32(&[0]).replicated(0);
                        tgsi::shader::TextureOffset::from_source(zero)
                    }
                }
            })
            .collect()
    }

    fn sample(&mut self) {
        use Opcode::*;
        let (unit, target) = self.unit();
        let opcode = self.choices.of(SAMPLES);
        let cube = matches!(target, TextureTarget::Cube | TextureTarget::CubeArray);
        let fits = match opcode {
            SampleI => !cube && !target.is_msaa(),
            SampleIMs | SamplePos | SampleInfo => target.is_msaa(),
            Sviewinfo => true,
            Gather4 => matches!(target, TextureTarget::Texture2D | TextureTarget::Texture2DArray) || cube,
            Lod | Sample | SampleB | SampleC if self.stage != Processor::Fragment => false,
            _ => target != TextureTarget::Buffer && !target.is_msaa(),
        };
        if !fits {
            return self.small_expression();
        }
        let types = [ReturnType::Float; 4];
        let mut view = Src::new(self.builder.sampler_view(unit, target, types));
        if self.choices.one_in(2) && !matches!(opcode, Sviewinfo) {
            view.swizzle = std::array::from_fn(|_| self.choices.below(4) as u8);
        }
        let sampler = Src::new(self.builder.sampler(unit));
        let dst = if opcode == Sviewinfo { RegisterType::Integer } else { RegisterType::Float };
        let destination = self.destination(dst);
        let mut instruction = Instruction::new(opcode);
        instruction.dst.push(destination.dst);
        if opcode.info().is_sample_family {
            instruction.texture = Some(Box::new(InstructionTexture::new(TextureTarget::Unknown)));
        }
        let coordinate = match opcode {
            SampleI | SampleIMs | Sviewinfo => self.source(RegisterType::Integer, 15),
            _ => self.source(RegisterType::Float, 15),
        };
        let number = |generator: &mut Self, below: usize| {
            let number = generator.choices.below(below) as u32;
            generator.builder.immediate_u32(&[number]).replicated(0)
        };
        match opcode {
            SamplePos | SampleInfo => {
                let number = number(self, 4);
                instruction.src.extend([view, number]);
            }
            Sviewinfo | SampleI => instruction.src.extend([coordinate, view]),
            SampleIMs => {
                let number = number(self, 4);
                instruction.src.extend([coordinate, view, number]);
            }
            Sample | Gather4 | Lod => instruction.src.extend([coordinate, view, sampler]),
            SampleD => {
                let (x, y) = (self.source(RegisterType::Float, 15), self.source(RegisterType::Float, 15));
                instruction.src.extend([coordinate, view, sampler, x, y]);
            }
            _ => {
                let last = self.source(RegisterType::Float, 15);
                instruction.src.extend([coordinate, view, sampler, last]);
            }
        }
        let mask = destination.dst.write_mask;
        self.put(instruction);
        self.written(destination, mask);
    }
}
