//! Bundles of the ALU.

use tgsi_vec4::Constants;
use tgsi_vec4::simple::{File, Instruction, Source};

use super::Numbering;
use crate::MidgardError;
use crate::isa::alu::{
    AluBundle, AluOp, Branch, BranchOp, Clamp, Component, Condition, Constants as EmbeddedConstants, Output,
    OutputModifier, Property, Scalar, ScalarOperand, ScalarSource, SourceModifier, Unit, Vector, VectorOperand,
    VectorSource,
};
use crate::isa::{Chip, InvalidInstruction, Register, Swizzle, Tag};
use crate::machine::{
    CONDITION, COORDINATES, DEPTH_ONLY, MachineInstruction, OPERANDS, Op, PIPELINE, TEXELS, WRITE_OUT,
};
use crate::schedule::{BundledInstruction, Embedded, Place, channels, clamp, immediate, opcode};

impl Numbering {
    /// The register of an operand.
    pub(super) fn register(self, file: File, index: i32) -> Option<Register> {
        let number = match file {
            File::Temporary => i32::try_from(self.first).ok()? + index,
            File::Uniform => 23 - index,
            File::Constant => Register::CONSTANTS.number().into(),
            File::Special => match u8::try_from(index).ok()? {
                index @ OPERANDS..COORDINATES => 26 + i32::from(index - OPERANDS),
                index @ COORDINATES..TEXELS => 28 + i32::from(index - COORDINATES),
                index @ TEXELS..CONDITION if self.chip.aliases_texture_registers() => i32::from(index - TEXELS),
                index @ TEXELS..CONDITION => 28 + i32::from(index - TEXELS),
                CONDITION => 31,
                index @ PIPELINE..WRITE_OUT => 24 + i32::from(index - PIPELINE),
                index => i32::from(index - WRITE_OUT),
            },
            File::Input | File::Output => return None,
        };
        Register::new(u8::try_from(number).ok()?)
    }
}

/// Emits bundles of the ALU.
pub(super) struct AluEmitter<'a> {
    constants: &'a Constants,
    numbering: Numbering,
    embedded: Embedded,
}

/// The instruction without its place.
fn unplaced(member: &BundledInstruction) -> MachineInstruction {
    let Instruction { op, saturate, guard, destination, sources } = member.clone();
    Instruction { op: op.op, saturate, guard, destination, sources }
}

/// The value of r1.z in a write-out: the target, and the sample in the lowest bits.
fn target_number(target: u8) -> u16 {
    if target == DEPTH_ONLY { DEPTH_ONLY.into() } else { u16::from(target) << 8 }
}

impl<'a> AluEmitter<'a> {
    pub(super) fn new(constants: &'a Constants, numbering: Numbering) -> AluEmitter<'a> {
        AluEmitter { constants, numbering, embedded: Embedded::default() }
    }

    /// Emits the members of a bundle.
    pub(super) fn emit(mut self, members: &[BundledInstruction]) -> Result<AluBundle, MidgardError> {
        let mut bundle = AluBundle::default();
        let instructions: Vec<(Place, bool, MachineInstruction)> =
            members.iter().map(|member| (member.op.place, member.op.is_vector, unplaced(member))).collect();
        let write_out = instructions.iter().find_map(|(_, _, instruction)| match instruction.op {
            Op::WriteOut { target, .. } => Some(target),
            _ => None,
        });
        for (_, _, instruction) in &instructions {
            if !self.embedded.add(instruction, self.constants, |source| channels(instruction, source)) {
                return Err(InvalidInstruction::NoConstants.into());
            }
        }
        for (place, is_vector, instruction) in &instructions {
            match place {
                Place::Unit(unit) => {
                    let is_number = instruction.op == Op::Mov
                        && instruction.destination.is_some_and(|to| {
                            to.file == File::Special && to.index == i32::from(WRITE_OUT) + 1 && to.mask == 0b0100
                        });
                    let number = write_out.filter(|_| is_number).map(target_number);
                    self.unit(&mut bundle, *unit, instruction, *is_vector, number)?;
                }
                _ => self.branch(&mut bundle, instruction),
            }
        }
        if !self.embedded.0.is_empty() {
            let mut words = [0; 4];
            words.iter_mut().zip(&self.embedded.0).for_each(|(to, &word)| *to = word);
            bundle.constants = Some(EmbeddedConstants(words));
        }
        Ok(bundle)
    }

    fn branch(&self, bundle: &mut AluBundle, instruction: &MachineInstruction) {
        let (op, condition) = match instruction.op {
            Op::WriteOut { .. } => (BranchOp::Writeout, Condition::Always),
            _ if instruction.sources.is_empty() => (BranchOp::Discard, Condition::Always),
            _ => (BranchOp::Discard, Condition::True),
        };
        bundle.is_writeout = op == BranchOp::Writeout && Chip::has_writeout_tags(self.numbering.chip);
        // Write-outs are repeated while they fail.
        let (target, offset) = match op {
            BranchOp::Writeout => (Tag::Invalid, 0),
            _ => (Tag::Break, 0),
        };
        bundle.branch = Some(Branch::Conditional { op, condition, target, offset });
    }

    fn unit(
        &self,
        bundle: &mut AluBundle,
        unit: Unit,
        instruction: &MachineInstruction,
        is_vector: bool,
        number: Option<u16>,
    ) -> Result<(), MidgardError> {
        let no_form = InvalidInstruction::Conflict("an opcode without a form");
        let op = opcode(instruction, is_vector).ok_or(no_form)?;
        match unit {
            Unit::Sadd | Unit::Smul => {
                let scalar = self.scalar(op, instruction, number).ok_or(no_form)?;
                *(if unit == Unit::Sadd { &mut bundle.sadd } else { &mut bundle.smul }) = Some(scalar);
            }
            Unit::Vmul | Unit::Vadd | Unit::Vlut => {
                let vector = self.vector(op, instruction).ok_or(no_form)?;
                *(match unit {
                    Unit::Vmul => &mut bundle.vmul,
                    Unit::Vadd => &mut bundle.vadd,
                    _ => &mut bundle.vlut,
                }) = Some(vector);
            }
        }
        Ok(())
    }

    /// The first and the second operand; conditions of selections are not operands.
    fn operands<'i>(&self, op: AluOp, instruction: &'i MachineInstruction) -> [Option<(usize, &'i Source)>; 2] {
        let first = usize::from(instruction.op == Op::Select);
        let operand = |number: usize| instruction.sources.get(number).map(|source| (number, source));
        match op.row().property {
            Property::Second => [None, operand(first)],
            _ => [operand(first), operand(first + 1)],
        }
    }

    fn output(&self, op: AluOp, instruction: &MachineInstruction) -> OutputModifier {
        match op.row().output {
            Output::Float => OutputModifier::Float(clamp(instruction)),
            Output::Integer => {
                debug_assert!(clamp(instruction) == Clamp::None, "integers are not limited");
                OutputModifier::none(op.row())
            }
        }
    }

    fn modifier(op: AluOp, source: &Source) -> SourceModifier {
        match SourceModifier::none(op.row()) {
            SourceModifier::Float { .. } => SourceModifier::Float { abs: source.absolute, negate: source.negate },
            none => none,
        }
    }

    /// The components that a source selects: of constants, those of the bundle.
    fn selectors(&self, source: &Source, used: u8) -> [u8; 4] {
        if source.file != File::Constant {
            return source.swizzle;
        }
        let row = self.constants.row(source.index);
        let first = used.trailing_zeros() as usize & 3;
        [0, 1, 2, 3].map(|c: usize| {
            let c = if used >> c & 1 != 0 { c } else { first };
            self.embedded.position(row[usize::from(source.swizzle[c] & 3)])
        })
    }

    fn vector(&self, op: AluOp, instruction: &MachineInstruction) -> Option<Vector> {
        let to = instruction.destination?;
        let immediate = immediate(instruction, self.constants, |source| channels(instruction, source));
        let source = |(number, source): (usize, &Source)| {
            Some(VectorSource {
                register: self.numbering.register(source.file, source.index)?,
                modifier: Self::modifier(op, source),
                swizzle: Swizzle::new(self.selectors(source, channels(instruction, number))),
                ..VectorSource::new(op, Register::UNUSED)
            })
        };
        let [first, second] = self.operands(op, instruction);
        let unused = VectorSource::new(op, Register::UNUSED);
        let first = first.map_or(Some(unused), source)?;
        let second = match (second, immediate) {
            (Some((number, _)), Some((operand, value))) if number == operand => VectorOperand::Immediate(value),
            (Some(operand), _) => source(operand)?.into(),
            (None, _) => unused.into(),
        };
        Some(Vector {
            output: self.output(op, instruction),
            mask: (0..4).filter(|c| to.mask >> c & 1 != 0).fold(0, |mask, c| mask | 3 << (2 * c)),
            ..Vector::new(op, self.numbering.register(to.file, to.index)?, first, second)
        })
    }

    fn scalar(&self, op: AluOp, instruction: &MachineInstruction, number: Option<u16>) -> Option<Scalar> {
        let to = instruction.destination?;
        let component = to.mask.trailing_zeros() as u8 & 3;
        let immediate = immediate(instruction, self.constants, |source| channels(instruction, source));
        let source = |(number, source): (usize, &Source)| {
            let selected = self.selectors(source, channels(instruction, number))[usize::from(component)];
            let component = match instruction.op {
                Op::FromHalf { is_upper } => Component::Half(2 * selected + u8::from(is_upper)),
                _ => Component::Full(selected),
            };
            let register = self.numbering.register(source.file, source.index)?;
            Some(ScalarSource { register, component, modifier: Self::modifier(op, source) })
        };
        let [first, second] = self.operands(op, instruction);
        let unused = ScalarSource::new(op, Register::UNUSED, 0);
        let first = first.map_or(Some(unused), source)?;
        let second = match (second, immediate, number) {
            (_, _, Some(number)) => ScalarOperand::Immediate(number),
            (Some((number, _)), Some((operand, value)), _) if number == operand => ScalarOperand::Immediate(value),
            (Some(operand), ..) => source(operand)?.into(),
            (None, ..) => unused.into(),
        };
        let to_register = self.numbering.register(to.file, to.index)?;
        let written = match instruction.op {
            Op::ToHalf => Component::Half(2 * component),
            _ => Component::Full(component),
        };
        Some(Scalar {
            component: written,
            output: self.output(op, instruction),
            ..Scalar::new(op, to_register, component, first, second)
        })
    }
}
