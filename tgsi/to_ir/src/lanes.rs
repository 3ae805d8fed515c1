//! Opcodes that access other lanes or the state of a lane: derivatives, interpolation, discard, votes, the clock.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::Scope;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{AluFlags, Swizzle};

use super::computed_lanes::Lanes;
use super::control_flow::Translator;
use tgsi::shader::{Instruction, Src};
use tgsi::tables::{File, Opcode, OperandType, Processor};

impl Translator<'_, '_> {
    /// Translates an opcode of this class.
    pub(super) fn lanes_opcode(&mut self, instruction: &Instruction) {
        match instruction.opcode {
            Opcode::Ddx => self.derivative(instruction, IntrinsicOp::Ddx),
            Opcode::Ddy => self.derivative(instruction, IntrinsicOp::Ddy),
            Opcode::DdxFine => self.derivative(instruction, IntrinsicOp::DdxFine),
            Opcode::DdyFine => self.derivative(instruction, IntrinsicOp::DdyFine),
            Opcode::ReadFirst => self.derivative(instruction, IntrinsicOp::ReadFirstInvocation),
            Opcode::ReadInvoc => self.read_invocation(instruction),
            Opcode::InterpCentroid | Opcode::InterpSample | Opcode::InterpOffset => self.interpolate(instruction),
            Opcode::Kill => {
                let op = if self.context.options.kill_is_demote { IntrinsicOp::Demote } else { IntrinsicOp::Terminate };
                self.context.ir.info.fs.uses_discard = true;
                self.b.intrinsic(op, &[], &[], None);
            }
            Opcode::KillIf => self.kill_if(instruction),
            Opcode::Demote => {
                self.context.ir.info.fs.uses_discard = true;
                self.b.intrinsic(IntrinsicOp::Demote, &[], &[], None);
            }
            Opcode::ReadHelper => {
                let flag = self.b.intrinsic_def(IntrinsicOp::IsHelperInvocation, &[], &[], Shape::new(1, 1));
                let truth = self.truth(flag.into(), 1);
                self.write_scalar(instruction, truth);
            }
            Opcode::Clock => {
                let scope = [(IndexKind::MemoryScope, Scope::Subgroup.to_i32())];
                let clock = self.b.intrinsic_def(IntrinsicOp::ShaderClock, &[], &scope, Shape::new(2, 32));
                self.write_two(instruction, clock);
            }
            Opcode::Fbfetch => self.fetch_framebuffer(instruction),
            Opcode::VoteAny | Opcode::VoteAll | Opcode::VoteEq => self.vote(instruction),
            Opcode::Ballot => {
                let Some(src) = instruction.src.first() else { return };
                let value = self.fetch_channel(src, OperandType::Float, 0);
                let zero = self.constant(0);
                let set = self.b.alu_sized(AluOp::Ine, 1, &[value, zero.into()]);
                let ballot = self.b.intrinsic_def(IntrinsicOp::Ballot, &[set], &[], Shape::new(1, 64));
                let words = self.b.alu(AluOp::Unpack642x32, &[ballot]);
                self.write_two(instruction, words);
            }
            // All other opcodes have another class.
            _ => {}
        }
    }

    /// Writes two components, followed by zeros.
    pub(super) fn write_two(&mut self, instruction: &Instruction, value: Def) {
        let zero = AluSrc::component(self.constant(0), 0);
        self.write_channels(
            instruction,
            |_, channel| if channel < 2 { AluSrc::component(value, channel) } else { zero },
        );
    }

    /// A componentwise intrinsic.
    fn derivative(&mut self, instruction: &Instruction, op: IntrinsicOp) {
        let Some(src) = instruction.src.first() else { return };
        let lanes = Lanes::compact(instruction.dst.first().map_or(1, |dst| dst.write_mask & 0xf));
        let value = self.fetch(src, OperandType::Float, lanes);
        let value = self.b.mov(value, lanes.count);
        let def = self.b.intrinsic_def(op, &[value], &[], Shape::new(lanes.count, 32));
        self.write(instruction, lanes.by_channel(def));
    }

    fn read_invocation(&mut self, instruction: &Instruction) {
        let (Some(src), Some(number)) = (instruction.src.first(), instruction.src.get(1)) else { return };
        let lanes = Lanes::compact(instruction.dst.first().map_or(1, |dst| dst.write_mask & 0xf));
        let value = self.fetch(src, OperandType::Float, lanes);
        let value = self.b.mov(value, lanes.count);
        let number = self.scalar(number, OperandType::Uint, 0);
        let shape = Shape::new(lanes.count, 32);
        let def = self.b.intrinsic_def(IntrinsicOp::ReadInvocation, &[value, number], &[], shape);
        self.write(instruction, lanes.by_channel(def));
    }

    fn vote(&mut self, instruction: &Instruction) {
        let Some(&src) = instruction.src.first() else { return };
        let op = match instruction.opcode {
            Opcode::VoteAny => IntrinsicOp::VoteAny,
            Opcode::VoteAll => IntrinsicOp::VoteAll,
            _ => IntrinsicOp::VoteIeq,
        };
        // Channels that read the same component share the result.
        let mut known: [Option<Def>; 4] = [None; 4];
        self.write_channels(instruction, |t, channel| {
            let component = usize::from(src.swizzle[usize::from(channel)] & 3);
            let truth = match known[component] {
                Some(def) => def,
                None => {
                    let value = t.fetch_channel(&src, OperandType::Float, channel);
                    let operand = if op == IntrinsicOp::VoteIeq {
                        t.b.mov(value, 1)
                    } else {
                        let zero = t.constant(0);
                        t.b.alu_sized(AluOp::Ine, 1, &[value, zero.into()])
                    };
                    let flag = t.b.intrinsic_def(op, &[operand], &[], Shape::new(1, 1));
                    t.truth(flag.into(), 1)
                }
            };
            known[component] = Some(truth);
            AluSrc::component(truth, 0)
        });
    }

    fn kill_if(&mut self, instruction: &Instruction) {
        let Some(src) = instruction.src.first() else { return };
        self.context.ir.info.fs.uses_discard = true;
        // Components that are read more than once are compared once.
        let mut selectors: arrayvec::ArrayVec<u8, 4> = arrayvec::ArrayVec::new();
        let mut channels = 0u8;
        for (channel, selector) in src.swizzle.iter().enumerate() {
            if !selectors.contains(selector) {
                selectors.push(*selector);
                channels |= 1 << channel;
            }
        }
        let lanes = Lanes::compact(channels);
        let value = self.fetch(src, OperandType::Float, lanes);
        let zero = AluSrc::component(self.constant(0), 0);
        // NaN must not kill, so the comparison is exact.
        self.b.flags = AluFlags::EXACT;
        let negative = self.b.alu_sized(AluOp::Flt, lanes.count, &[value, zero]);
        let any = match lanes.count {
            1 => negative,
            count => {
                let no = AluSrc::component(self.constant_of(1, &[0]), 0);
                let op =
                    [AluOp::BanyInequal2, AluOp::BanyInequal3, AluOp::BanyInequal4][usize::from(count.clamp(2, 4)) - 2];
                self.b.alu_sized(op, 1, &[negative.into(), no])
            }
        };
        let op = if self.context.options.kill_is_demote { IntrinsicOp::DemoteIf } else { IntrinsicOp::TerminateIf };
        self.b.intrinsic(op, &[any], &[], None);
    }

    fn fetch_framebuffer(&mut self, instruction: &Instruction) {
        let Some(src) = instruction.src.first() else { return };
        let deref = match src.register.file {
            File::Output if self.context.shader.processor == Processor::Fragment => {
                self.register_deref(File::Output, src.register.index, None)
            }
            _ => None,
        };
        let (value, components) = match deref {
            Some(deref) => {
                self.context.ir.info.fs.uses_fbfetch_output = true;
                self.mark_framebuffer_fetch(deref);
                let ty = self.b.body.deref_type(deref);
                let components =
                    ty.and_then(|ty| self.context.ir.types.as_vector(ty)).map_or(4, |(_, components)| components);
                (self.b.load_deref(deref, Shape::new(components, 32)), components)
            }
            None => (self.constant(0), 1),
        };
        let last = components - 1;
        let swizzle = Swizzle::new(&src.swizzle.map(|component| (component & 3).min(last)));
        self.write(instruction, AluSrc::new(value, swizzle));
    }

    fn interpolate(&mut self, instruction: &Instruction) {
        let Some(src) = instruction.src.first() else { return };
        let extra: Option<Def> = match (instruction.opcode, instruction.src.get(1)) {
            (Opcode::InterpSample, Some(sample)) => Some(self.scalar(sample, OperandType::Uint, 0)),
            (Opcode::InterpOffset, Some(offset)) => Some(self.vector(offset, OperandType::Float, 2)),
            _ => None,
        };
        let op = match instruction.opcode {
            Opcode::InterpSample => IntrinsicOp::InterpDerefAtSample,
            Opcode::InterpOffset => IntrinsicOp::InterpDerefAtOffset,
            _ => IntrinsicOp::InterpDerefAtCentroid,
        };
        let value = if src.register.file == File::Input && self.context.shader.processor == Processor::Fragment {
            self.read_io(&src.register, &mut |t, deref| {
                let sources: arrayvec::ArrayVec<Def, 2> = [Some(deref), extra].into_iter().flatten().collect();
                t.b.intrinsic_def(op, &sources, &[], Shape::new(4, 32))
            })
        } else {
            // Not an operand that can be interpolated.
            Some(self.vector(
                &Src { swizzle: [0, 1, 2, 3], absolute: false, negate: false, ..*src },
                OperandType::Float,
                4,
            ))
        };
        let value = value.unwrap_or_else(|| self.constant_vector(&[0; 4]));
        let lanes = Self::result_lanes(instruction);
        let mut swizzle = Swizzle::IDENTITY;
        for (position, &channel) in lanes.channel.iter().enumerate() {
            swizzle = swizzle.with(position, src.swizzle[usize::from(channel)] & 3);
        }
        let value = self.modified(AluSrc::new(value, swizzle), lanes.count, src, OperandType::Float);
        self.write(instruction, lanes.swizzled_by_channel(value));
    }
}
