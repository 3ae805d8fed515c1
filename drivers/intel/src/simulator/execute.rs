//! Instructions that compute: elements of channels are read, and results and flags written.

use super::alu;
use super::state::State;
use super::thread::part;
use super::value::{Value, compare};
use super::{Lanes, Trap, math};
use crate::isa::{
    AccessMode, Condition, Destination, File, ImmediateType, Instruction, MathFunction, Opcode, Operand, Register,
    Source, Type,
};

/// An instruction on a thread.
pub(super) struct Execution<'a> {
    pub(super) state: &'a mut State,
    pub(super) instruction: &'a Instruction,
    /// The channels that are enabled, without the predicate. The lowest bit is the first channel of the group.
    pub(super) channels: u32,
    /// The channels for which the predicate holds.
    pub(super) predicate: u32,
    pub(super) flush_denormals: bool,
    /// The results of `pln`, if the surroundings state them.
    pub(super) plane: Option<Lanes>,
}

/// The result of a channel.
#[derive(Clone, Copy)]
struct Outcome {
    bits: u32,
    /// The value for accumulators.
    wide: i64,
    /// Whether the condition holds.
    holds: bool,
    /// The value of the accumulator that the instruction writes implicitly.
    accumulator: Option<i64>,
}

impl Execution<'_> {
    /// Executes the instruction.
    pub(super) fn run(&mut self) -> Result<(), Trap> {
        let channels = self.instruction.size.channels();
        let part = part(self.instruction);
        for first in (0..channels).step_by(part as usize) {
            self.run_part(first, first + part)?;
        }
        Ok(())
    }

    fn run_part(&mut self, first: u32, end: u32) -> Result<(), Trap> {
        let Instruction { opcode, condition, flag, .. } = *self.instruction;
        let Some(destination) = self.instruction.destination else { return Ok(()) };
        let is_selection = opcode == Opcode::Sel;
        let enabled = if is_selection { self.channels } else { self.channels & self.predicate };
        let mut outcomes = [None; 32];
        for channel in first..end {
            if enabled >> channel & 1 != 0 {
                outcomes[channel as usize] = Some(self.channel(channel, &destination)?);
            }
        }
        let group = self.instruction.group.first_channel();
        let (mut mask, mut bits) = (0u32, 0u32);
        for channel in first..end {
            let Some(outcome) = outcomes[channel as usize] else { continue };
            self.state.write(&destination, channel, outcome.bits, outcome.wide)?;
            if let Some(value) = outcome.accumulator
                && destination.mask.contains((channel & 3) as u8)
            {
                *self.state.accumulator(group, channel, self.accumulator_elements())? = value;
            }
            let bit = 1u32.checked_shl(group + channel).unwrap_or(0);
            mask |= bit;
            bits |= if outcome.holds { bit } else { 0 };
        }
        if condition.is_some() && opcode.writes_flag() {
            self.state.set_flag(flag, mask, bits);
        }
        self.write_remainders(first, end, enabled, &destination)
    }

    /// The number of elements of the accumulators for implicit accesses.
    fn accumulator_elements(&self) -> u32 {
        let is_float = self.instruction.sources.iter().any(|source| match source {
            Source::Register(operand) => operand.ty == Type::F,
            Source::Immediate(constant) => matches!(constant.ty(), ImmediateType::F | ImmediateType::Vf),
        });
        if is_float || part(self.instruction) > 8 { 16 } else { 8 }
    }

    /// The number that a channel reads.
    fn source(&self, index: usize, channel: u32) -> Result<Value, Trap> {
        let value = self.state.source(&self.instruction.sources[index], channel)?;
        Ok(self.flushed(value))
    }

    fn flushed(&self, value: Value) -> Value {
        if self.flush_denormals { value.flushed() } else { value }
    }

    /// The operand of an instruction that has no constant there.
    fn operand(&self, index: usize) -> Result<&Operand, Trap> {
        let operand = self.instruction.sources[index].operand();
        operand.ok_or(Trap::Undefined(self.state.at, "a constant as a vector of coefficients"))
    }

    fn channel(&mut self, channel: u32, destination: &Destination) -> Result<Outcome, Trap> {
        let Instruction { opcode, condition, .. } = *self.instruction;
        if let Some(words) = self.plane {
            let bits = words[(channel & 15) as usize];
            let outcome = self.outcome(Value::Float(f32::from_bits(bits)), destination);
            return Ok(Outcome { bits: if self.instruction.saturate { outcome.bits } else { bits }, ..outcome });
        }
        match opcode {
            Opcode::Mov if self.is_raw(0, destination) => return self.moved(0, channel, destination),
            Opcode::Sel => return self.selected(channel, destination),
            Opcode::Cmp | Opcode::Cmpn => {
                let (a, b) = (self.source(0, channel)?, self.source(1, channel)?);
                let is_unordered = opcode == Opcode::Cmpn && b.float().is_nan();
                let holds = condition.is_some_and(|condition| compare(condition, a, b)) || is_unordered;
                let bits = if holds { u32::MAX } else { 0 };
                return Ok(Outcome { bits, wide: (bits as i32).into(), holds, accumulator: None });
            }
            _ => {}
        }
        let (value, accumulator) = self.result(channel)?;
        let wide = match value {
            Value::Integer(value) => value,
            Value::Float(value) => value.to_bits().into(),
        };
        let outcome = self.outcome(value, destination);
        Ok(match accumulator {
            Some(value) => Outcome { accumulator: Some(value), ..outcome },
            None => Outcome { accumulator: self.instruction.accumulator_write.then_some(wide), ..outcome },
        })
    }

    /// Converts a result to the type of the destination.
    fn outcome(&self, value: Value, destination: &Destination) -> Outcome {
        let ty = destination.ty;
        let result = self.flushed(self.flushed(value).converted(ty, self.instruction.saturate));
        let wide = match (value, result) {
            (Value::Integer(value), Value::Integer(_)) if !self.instruction.saturate => value,
            (_, Value::Integer(value)) => value,
            (_, Value::Float(value)) => value.to_bits().into(),
        };
        let holds = self.instruction.condition.is_some_and(|condition| match condition {
            Condition::O => match value {
                Value::Integer(value) => {
                    ty.is_integer() && value != Value::Integer(value).converted(ty, false).integer()
                }
                Value::Float(value) => value.is_infinite(),
            },
            condition => compare(condition, result, Value::Integer(0)),
        });
        Outcome { bits: result.bits(), wide, holds, accumulator: None }
    }

    /// Whether a source is copied without conversion, so that floats keep all bits.
    fn is_raw(&self, index: usize, destination: &Destination) -> bool {
        let is_plain = match &self.instruction.sources[index] {
            Source::Register(operand) => operand.ty == destination.ty && !operand.negate && !operand.absolute,
            Source::Immediate(constant) => constant.ty() == ImmediateType::F && destination.ty == Type::F,
        };
        is_plain && !self.instruction.saturate && destination.ty == Type::F
    }

    fn moved(&self, index: usize, channel: u32, destination: &Destination) -> Result<Outcome, Trap> {
        let value = self.state.source(&self.instruction.sources[index], channel)?;
        let bits = value.bits();
        let accumulator = self.instruction.accumulator_write.then_some(bits.into());
        Ok(Outcome { bits, wide: bits.into(), accumulator, ..self.outcome(value, destination) })
    }

    fn selected(&self, channel: u32, destination: &Destination) -> Result<Outcome, Trap> {
        let is_first = match self.instruction.condition {
            None => self.predicate >> channel & 1 != 0,
            Some(condition) => {
                let (a, b) = (self.source(0, channel)?, self.source(1, channel)?);
                // The minimum and the maximum of a number and NaN are the number.
                let is_extremum = matches!(condition, Condition::L | Condition::Ge);
                compare(condition, a, b) || is_extremum && b.float().is_nan()
            }
        };
        let index = usize::from(!is_first);
        if self.is_raw(index, destination) {
            return self.moved(index, channel, destination);
        }
        Ok(self.outcome(self.source(index, channel)?, destination))
    }

    /// Returns the result of a channel, and the value of the accumulator if the opcode states it.
    fn result(&mut self, channel: u32) -> Result<(Value, Option<i64>), Trap> {
        let opcode = self.instruction.opcode;
        let undefined = Trap::Undefined(self.state.at, opcode.name());
        let group = self.instruction.group.first_channel();
        let result = match opcode {
            Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph => self.dot(channel)?,
            Opcode::Line => {
                let [p, _, _, r] = self.coefficients()?;
                Value::Float(p * self.source(1, channel)?.float() + r)
            }
            Opcode::Pln => self.plane(channel)?,
            Opcode::Math => {
                let function = self.instruction.math_function().ok_or(undefined)?;
                let second = if function.sources() > 1 { self.source(1, channel)? } else { Value::Integer(0) };
                let is_unsigned = self.instruction.destination.is_some_and(|destination| !destination.ty.is_signed());
                let first = self.source(0, channel)?;
                math::function(function, first, second, is_unsigned).ok_or(undefined)?
            }
            Opcode::Mac => {
                let value = *self.state.accumulator(group, channel, self.accumulator_elements())?;
                let (a, b) = (self.source(0, channel)?, self.source(1, channel)?);
                match (a, b) {
                    (Value::Integer(a), Value::Integer(b)) => Value::Integer(a.wrapping_mul(b).wrapping_add(value)),
                    _ => Value::Float(a.float() * b.float() + f32::from_bits(value as u32)),
                }
            }
            Opcode::Mach => {
                let value = *self.state.accumulator(group, channel, self.accumulator_elements())?;
                let (a, b) = (self.source(0, channel)?.integer(), self.source(1, channel)?.integer());
                let sum = value.wrapping_add(a.wrapping_mul(b >> 16) << 16);
                return Ok((Value::Integer(sum >> 32), Some(sum)));
            }
            Opcode::Addc => {
                let sum = self.unsigned(0, channel)? + self.unsigned(1, channel)?;
                return Ok((Value::Integer(sum & 0xffff_ffff), Some(sum >> 32)));
            }
            Opcode::Subb => {
                let difference = self.unsigned(0, channel)? - self.unsigned(1, channel)?;
                return Ok((Value::Integer(difference & 0xffff_ffff), Some((difference < 0).into())));
            }
            _ => {
                let count = self.instruction.sources.len();
                let mut values = [Value::Integer(0); 3];
                for (index, value) in values.iter_mut().enumerate().take(count) {
                    *value = self.source(index, channel)?;
                }
                alu::compute(self.instruction, &values[..count]).ok_or(undefined)?
            }
        };
        Ok((result, None))
    }

    /// The lower 32 bits of a source.
    fn unsigned(&self, index: usize, channel: u32) -> Result<i64, Trap> {
        Ok(self.source(index, channel)?.integer() & 0xffff_ffff)
    }

    /// The dot product of the vector of a channel, from the last component on.
    fn dot(&self, channel: u32) -> Result<Value, Trap> {
        let first = channel & !3;
        let mut products = [0.0; 4];
        for (component, product) in (0..).zip(&mut products) {
            let a = self.source(0, first + component)?.float();
            *product = a * self.source(1, first + component)?.float();
        }
        let [x, y, z, w] = products;
        Ok(Value::Float(match self.instruction.opcode {
            Opcode::Dp2 => y + x,
            Opcode::Dp3 => z + y + x,
            Opcode::Dp4 => w + z + y + x,
            _ => x + y + z + self.source(1, first + 3)?.float(),
        }))
    }

    /// The vector of coefficients of the first source.
    fn coefficients(&self) -> Result<[f32; 4], Trap> {
        let operand = self.operand(0)?;
        let mut values = [0.0; 4];
        for (index, value) in (0..).zip(&mut values) {
            let number = self.state.source_at(operand, index * i64::from(operand.ty.size()))?;
            *value = self.flushed(number).float();
        }
        Ok(values)
    }

    /// The value of a plane: both coordinates of eight channels are in consecutive registers.
    fn plane(&self, channel: u32) -> Result<Value, Trap> {
        let [p, q, _, r] = self.coefficients()?;
        let operand = self.operand(1)?;
        let size = i64::from(operand.ty.size());
        let first = i64::from(channel / 8) * 16 + i64::from(channel % 8);
        let u = self.flushed(self.state.source_at(operand, first * size)?).float();
        let v = self.flushed(self.state.source_at(operand, (first + 8) * size)?).float();
        Ok(Value::Float(p * u + r + q * v))
    }

    /// Writes the remainders of a division to the register after the quotients.
    fn write_remainders(&mut self, first: u32, end: u32, enabled: u32, destination: &Destination) -> Result<(), Trap> {
        if self.instruction.math_function() != Some(MathFunction::IntDivMod) {
            return Ok(());
        }
        let Register::Direct { file: File::Grf, number, offset } = destination.register else {
            return Err(Trap::Undefined(self.state.at, "intdivmod outside of the general registers"));
        };
        let overlaps = self.instruction.sources.iter().filter_map(|source| source.operand()).any(|operand| {
            matches!(operand.register, Register::Direct { file: File::Grf, number: read, .. } if read == number)
                || matches!(operand.register, Register::Indirect { .. })
        });
        if overlaps || end > 8 || self.instruction.access == AccessMode::Align16 {
            return Err(Trap::Undefined(self.state.at, "intdivmod with the operands"));
        }
        let next = Register::Direct { file: File::Grf, number: number.saturating_add(1), offset };
        let destination = Destination { register: next, ..*destination };
        for channel in (first..end).filter(|channel| enabled >> channel & 1 != 0) {
            let (a, b) = (self.source(0, channel)?, self.source(1, channel)?);
            let value = math::remainder(a.integer(), b.integer(), !destination.ty.is_signed());
            self.state.write(&destination, channel, value as u32, value)?;
        }
        Ok(())
    }
}
