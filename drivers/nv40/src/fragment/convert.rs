//! Instructions with registers as those of the chip.

use tgsi_vec4::Constants;
use tgsi_vec4::simple::{File, Guard, Source as VirtualSource};

use super::allocate::register_of;
use super::conditions::Condition;
use crate::isa::fragment::{FragmentOp, Instruction, Precision, Read, Register, Scale, Source};
use crate::isa::{Chip, EncodeError, Mask, Predicate, Swizzle};
use crate::machine::{ADDRESSES, CONDITIONS, Code, Lookup, MachineInstruction};

/// An instruction of the chip, and the uniform that its constant slot receives.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) instruction: Instruction,
    pub(super) uniform: Option<u32>,
}

/// Returns the opcode of an operation; none for control flow and for operations of other stages.
pub(super) fn opcode(code: Code) -> Option<FragmentOp> {
    Some(match code {
        Code::Mov => FragmentOp::Mov,
        Code::Mul => FragmentOp::Mul,
        Code::Add => FragmentOp::Add,
        Code::Mad => FragmentOp::Mad,
        Code::Dp2 => FragmentOp::Dp2,
        Code::Dp3 => FragmentOp::Dp3,
        Code::Dp4 => FragmentOp::Dp4,
        Code::Dp2a => FragmentOp::Dp2a,
        Code::Dst => FragmentOp::Dst,
        Code::Min => FragmentOp::Min,
        Code::Max => FragmentOp::Max,
        Code::Slt => FragmentOp::Slt,
        Code::Sge => FragmentOp::Sge,
        Code::Seq => FragmentOp::Seq,
        Code::Sne => FragmentOp::Sne,
        Code::Sfl => FragmentOp::Sfl,
        Code::Str => FragmentOp::Str,
        Code::Frc => FragmentOp::Frc,
        Code::Flr => FragmentOp::Flr,
        Code::Rcp => FragmentOp::Rcp,
        Code::Rsq => FragmentOp::Rsq,
        Code::Ex2 => FragmentOp::Ex2,
        Code::Lg2 => FragmentOp::Lg2,
        Code::Sin => FragmentOp::Sin,
        Code::Cos => FragmentOp::Cos,
        Code::Lit => FragmentOp::Lit,
        Code::Lif => FragmentOp::Lif,
        Code::Lrp => FragmentOp::Lrp,
        Code::Pow => FragmentOp::Pow,
        Code::Nrm => FragmentOp::Nrm,
        Code::Div => FragmentOp::Div,
        Code::Divsq => FragmentOp::Divsq,
        Code::Ddx => FragmentOp::Ddx,
        Code::Ddy => FragmentOp::Ddy,
        Code::Kil => FragmentOp::Kil,
        Code::Sample(sample) => match sample.lookup {
            Lookup::Tex => FragmentOp::Tex,
            Lookup::Txp => FragmentOp::Txp,
            Lookup::Txb => FragmentOp::Txb,
            Lookup::Txl => FragmentOp::Txl,
            Lookup::Txd => FragmentOp::Txd,
        },
        Code::Dph | Code::Ssg | Code::Arl | Code::Arr => return None,
        Code::If | Code::Else | Code::EndIf | Code::Loop | Code::EndLoop | Code::Brk | Code::Cont | Code::End => {
            return None;
        }
    })
}

/// Returns the test of a guard.
pub(super) fn predicate(guard: Option<Guard>) -> Predicate {
    guard.map_or(Predicate::ALWAYS, |guard| Predicate {
        register: guard.register.wrapping_sub(CONDITIONS),
        condition: crate::isa::Condition(guard.condition),
        swizzle: Swizzle(guard.swizzle),
    })
}

/// What conversion needs to know.
pub(super) struct Context<'a> {
    pub(super) chip: Chip,
    pub(super) constants: &'a Constants,
    pub(super) exports_full: bool,
    /// Whether results in H registers are computed with 16 bits.
    pub(super) computes_half: bool,
}

impl Context<'_> {
    /// Converts an instruction without control flow.
    pub(super) fn convert(&self, from: &MachineInstruction, condition: Condition) -> Result<Placed, EncodeError> {
        let lacks = |what| EncodeError::Lacks(self.chip, what);
        let op = opcode(from.op.code).ok_or_else(|| lacks("such an instruction in fragment programs"))?;
        let op = self.constant(from).unwrap_or(op);
        let mut instruction = Instruction::new(op);
        instruction.scale = from.op.scale;
        instruction.saturate = from.saturate;
        instruction.predicate = predicate(from.guard);
        if let Some(to) = from.destination {
            instruction.mask = Mask(to.mask);
            if to.relative.is_some() {
                return Err(lacks("index of registers"));
            }
            if to.file == File::Special {
                let number = u8::try_from(to.index).ok().filter(|&number| number < ADDRESSES);
                instruction.writes_condition = Some(number.ok_or_else(|| lacks("address register"))? - CONDITIONS);
            } else {
                let register = register_of(to.file, to.index, self.exports_full);
                let register = register.ok_or_else(|| lacks("register of a result"))?;
                instruction.destination = Some(register);
                if matches!(register, Register::H(_)) && self.computes_half {
                    instruction.precision = Precision::Fp16;
                }
            }
        }
        if let Condition::Written(register, _) = condition {
            instruction.writes_condition = Some(register - CONDITIONS);
        }
        if let Code::Sample(sample) = from.op.code {
            instruction.texture = Some(sample.unit);
        }
        let mut uniform = None;
        let row = op.row();
        for (number, source) in from.sources.iter().take(3).enumerate() {
            if row.reads[number] == Read::No {
                continue;
            }
            let mut swizzle = Swizzle(source.swizzle);
            if row.reads[number] == Read::Scalar {
                swizzle = Swizzle::replicate(swizzle.0[0]);
            }
            let converted = self.operand(source, &mut instruction, &mut uniform)?;
            instruction.sources[number] = Source { swizzle, negate: source.negate, abs: source.absolute, ..converted };
        }
        Ok(Placed { instruction, uniform })
    }

    fn operand(
        &self,
        source: &VirtualSource,
        instruction: &mut Instruction,
        uniform: &mut Option<u32>,
    ) -> Result<Source, EncodeError> {
        let lacks = |what| EncodeError::Lacks(self.chip, what);
        if source.relative.is_some() {
            return Err(lacks("index of registers"));
        }
        let number = u8::try_from(source.index);
        match source.file {
            File::Input => {
                let number = number.map_err(|_| lacks("such an input"))?;
                if instruction.input.is_some_and(|other| other != number) {
                    return Err(EncodeError::Conflict("two inputs"));
                }
                instruction.input = Some(number);
                Ok(Source::input())
            }
            File::Uniform | File::Constant => {
                let is_uniform = source.file == File::Uniform;
                let number = u32::try_from(source.index).ok().filter(|_| is_uniform);
                let words = if is_uniform { [0; 4] } else { self.constants.row(source.index) };
                let is_other = instruction.constant.is_some_and(|other| other != words) || *uniform != number;
                if instruction.constant.is_some() && is_other {
                    return Err(EncodeError::Conflict("two constants"));
                }
                instruction.constant = Some(words);
                *uniform = number;
                Ok(Source::constant())
            }
            File::Temporary | File::Output | File::Special => {
                let register = register_of(source.file, source.index, self.exports_full);
                let register = register.ok_or_else(|| lacks("register of an operand"))?;
                Ok(Source::new(crate::isa::fragment::SourceKind::Register(register)))
            }
        }
    }

    /// The opcode without operands that replaces a copy of 0 or 1, which saves a constant slot.
    fn constant(&self, copy: &MachineInstruction) -> Option<FragmentOp> {
        let source = copy.sources.first().filter(|source| source.file == File::Constant)?;
        if copy.op.code != Code::Mov || copy.op.scale != Scale::One {
            return None;
        }
        let row = self.constants.row(source.index);
        let value = |c: usize| {
            let value = f32::from_bits(row[usize::from(source.swizzle[c] & 3)]);
            let value = if source.absolute { value.abs() } else { value };
            let value = if source.negate { -value } else { value };
            value.to_bits()
        };
        let mut values = (0..4).filter(|c| copy.mask() >> c & 1 != 0).map(value);
        let first = values.next()?;
        let is_same = values.all(|other| other == first);
        match f32::from_bits(first) {
            _ if !is_same => None,
            1.0 => Some(FragmentOp::Str),
            _ if first == 0 => Some(FragmentOp::Sfl),
            _ => None,
        }
    }
}
