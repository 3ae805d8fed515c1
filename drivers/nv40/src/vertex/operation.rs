//! Operations: an instruction over registers of the chip as a slot, with the facts that pairing needs.

use tgsi_vec4::simple::{Destination, File, Guard, Relative, Source};

use super::registers::{Register, Registers};
use crate::isa::vertex::{Address, ConditionWrite, Part, ScaOp, Slot, SourceKind, Unit, VecOp};
use crate::isa::{Chip, Condition, EncodeError, Mask, Predicate, Swizzle, vertex};
use crate::machine::{ADDRESSES, CONDITIONS, Code, Lookup, MachineInstruction};

/// One slot: an operation of one unit, or of both after pairing.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// The instruction.
    pub(super) slot: Slot,
    /// The channels of each operand on which results depend.
    pub(super) channels: [u8; 3],
    /// The channels of the predicate on which writes depend.
    pub(super) tests: u8,
    /// The components that are read.
    pub(super) reads: Registers,
    /// The components that are written.
    pub(super) writes: Registers,
}

/// The opcode of a unit, and the place of each operand.
enum Opcode {
    Vec(VecOp, &'static [usize]),
    Sca(ScaOp),
}

fn opcode(code: Code) -> Option<Opcode> {
    use Opcode::{Sca, Vec};
    const NONE: &[usize] = &[];
    const ONE: &[usize] = &[0];
    const TWO: &[usize] = &[0, 1];
    Some(match code {
        Code::Mov => Vec(VecOp::Mov, ONE),
        Code::Mul => Vec(VecOp::Mul, TWO),
        Code::Add => Vec(VecOp::Add, &[0, 2]),
        Code::Mad => Vec(VecOp::Mad, &[0, 1, 2]),
        Code::Dp3 => Vec(VecOp::Dp3, TWO),
        Code::Dp4 => Vec(VecOp::Dp4, TWO),
        Code::Dph => Vec(VecOp::Dph, TWO),
        Code::Dst => Vec(VecOp::Dst, TWO),
        Code::Min => Vec(VecOp::Min, TWO),
        Code::Max => Vec(VecOp::Max, TWO),
        Code::Slt => Vec(VecOp::Slt, TWO),
        Code::Sge => Vec(VecOp::Sge, TWO),
        Code::Seq => Vec(VecOp::Seq, TWO),
        Code::Sne => Vec(VecOp::Sne, TWO),
        Code::Sfl => Vec(VecOp::Sfl, NONE),
        Code::Str => Vec(VecOp::Str, NONE),
        Code::Frc => Vec(VecOp::Frc, ONE),
        Code::Flr => Vec(VecOp::Flr, ONE),
        Code::Ssg => Vec(VecOp::Ssg, ONE),
        Code::Arl => Vec(VecOp::Arl, ONE),
        Code::Arr => Vec(VecOp::Arr, ONE),
        Code::Sample(sample) if sample.lookup == Lookup::Txl => Vec(VecOp::Txl, ONE),
        Code::Rcp => Sca(ScaOp::Rcp),
        Code::Rsq => Sca(ScaOp::Rsq),
        Code::Ex2 => Sca(ScaOp::Ex2),
        Code::Lg2 => Sca(ScaOp::Lg2),
        Code::Sin => Sca(ScaOp::Sin),
        Code::Cos => Sca(ScaOp::Cos),
        Code::Lit => Sca(ScaOp::Lit),
        Code::Dp2 | Code::Dp2a | Code::Lif | Code::Lrp | Code::Pow | Code::Nrm | Code::Div | Code::Divsq => {
            return None;
        }
        Code::Ddx | Code::Ddy | Code::Kil | Code::Sample(_) => return None,
        Code::If | Code::Else | Code::EndIf | Code::Loop | Code::EndLoop | Code::Brk | Code::Cont | Code::End => {
            return None;
        }
    })
}

/// Returns a swizzle with the same components in some channels. Others repeat a component that is read.
fn normalized(swizzle: Swizzle, channels: u8) -> Swizzle {
    let is_read = |channel: usize| channels >> channel & 1 != 0;
    let Some(first) = (0..4).find(|&channel| is_read(channel)) else { return Swizzle::IDENTITY };
    let is_identity = (0..4).all(|channel| !is_read(channel) || usize::from(swizzle.0[channel]) == channel);
    if is_identity && channels.count_ones() > 1 {
        return Swizzle::IDENTITY;
    }
    let mut last = swizzle.0[first];
    Swizzle([0, 1, 2, 3].map(|channel| {
        if is_read(channel) {
            last = swizzle.0[channel];
        }
        last
    }))
}

/// Converts a guard.
pub(super) fn predicate(guard: Guard) -> Predicate {
    let swizzle = Swizzle(guard.swizzle.map(|component| component & 3));
    Predicate { register: guard.register - CONDITIONS, condition: Condition(guard.condition), swizzle }
}

/// Converts a number of a register. Negative ones are out of range of every field.
fn number<T: TryFrom<i32>>(what: &'static str, index: i32, limit: u32) -> Result<T, EncodeError> {
    T::try_from(index).map_err(|_| EncodeError::Range(what, index as u32, limit))
}

impl Operation {
    /// Converts an instruction over registers of the chip and constants. `channels` returns the
    /// channels of an operand on which the result depends.
    pub(super) fn new(
        instruction: &MachineInstruction,
        chip: Chip,
        channels: impl Fn(usize) -> u8,
    ) -> Result<Operation, EncodeError> {
        let lacks = EncodeError::Lacks(chip, "vertex instruction for an operation");
        let opcode = opcode(instruction.op.code).ok_or(lacks)?;
        let mut operation = Operation {
            slot: Slot { saturate: instruction.saturate, ..Slot::default() },
            channels: [0; 3],
            tests: 0,
            reads: Registers::default(),
            writes: Registers::default(),
        };
        let places = match opcode {
            Opcode::Vec(op, places) => {
                operation.slot.vec = Some(Part::to_condition(op, Mask::NONE));
                places
            }
            Opcode::Sca(op) => {
                operation.slot.sca = Some(Part::to_condition(op, Mask::NONE));
                &[2]
            }
        };
        if instruction.sources.len() != places.len() {
            return Err(EncodeError::Missing("an operand"));
        }
        for (at, (source, &place)) in instruction.sources.iter().zip(places).enumerate() {
            let mut source = *source;
            let mut channels = channels(at);
            // Some implementations of the scalar unit compute each component from the same one of the operand.
            if instruction.op.code.is_scalar() {
                source.swizzle = [source.swizzle[0]; 4];
                channels = 15;
            }
            operation.source(&source, place, channels, chip)?;
        }
        if let Code::Sample(sample) = instruction.op.code {
            operation.slot.texture = Some(sample.unit);
        }
        let to = instruction.destination.ok_or(EncodeError::Missing("a destination"))?;
        operation.destination(&to)?;
        if let Some(guard) = instruction.guard {
            let tests = to.mask & 15;
            operation.test(predicate(guard), tests);
        }
        operation.normalize();
        Ok(operation)
    }

    /// A branch with an unknown target, always or if any component passes.
    pub(super) fn branch(predicate: Option<Predicate>) -> Operation {
        let mut branch = Operation {
            slot: Slot {
                sca: Some(Part::to_condition(ScaOp::Bra, Mask::ALL)),
                branch: Some(vertex::Branch::default()),
                ..Slot::default()
            },
            channels: [0; 3],
            tests: 0,
            reads: Registers::default(),
            writes: Registers::default(),
        };
        if let Some(predicate) = predicate {
            branch.test(predicate, 15);
        }
        branch
    }

    fn test(&mut self, predicate: Predicate, tests: u8) {
        self.slot.predicate = Some(predicate);
        self.tests = tests;
        for channel in (0..4).filter(|channel| tests >> channel & 1 != 0) {
            self.reads.add(Register::Special(predicate.register), 1 << (predicate.swizzle.0[channel] & 3));
        }
    }

    fn index(&mut self, relative: Relative) -> Result<(), EncodeError> {
        let register = relative.register.checked_sub(ADDRESSES).ok_or(EncodeError::Missing("an address register"))?;
        let address = Address { register, component: relative.component & 3 };
        self.reads.add(Register::Special(relative.register), 1 << address.component);
        if self.slot.address.replace(address).is_some_and(|other| other != address) {
            return Err(EncodeError::Conflict("two indices"));
        }
        Ok(())
    }

    fn source(&mut self, source: &Source, place: usize, channels: u8, chip: Chip) -> Result<(), EncodeError> {
        let limits = &chip.limits().vertex;
        let is_indexed = source.relative.is_some();
        let kind = match source.file {
            File::Temporary if !is_indexed => {
                let number = number("temporary", source.index, limits.temporaries.into())?;
                for channel in (0..4).filter(|channel| channels >> channel & 1 != 0) {
                    self.reads.add(Register::Temporary(number), 1 << (source.swizzle[channel] & 3));
                }
                SourceKind::Temporary(number)
            }
            File::Input => {
                let number = number("input", source.index, limits.inputs.into())?;
                if self.slot.input.replace(number).is_some_and(|other| other != number)
                    || self.slot.has_source(SourceKind::Input) && self.slot.indexes_input != is_indexed
                {
                    return Err(EncodeError::Conflict("two inputs"));
                }
                self.slot.indexes_input = is_indexed;
                SourceKind::Input
            }
            File::Uniform => {
                let number = number("constant", source.index, limits.constants.into())?;
                if self.slot.constant.replace(number).is_some_and(|other| other != number)
                    || self.slot.has_source(SourceKind::Constant) && self.slot.indexes_constant != is_indexed
                {
                    return Err(EncodeError::Conflict("two constants"));
                }
                self.slot.indexes_constant = is_indexed;
                SourceKind::Constant
            }
            File::Temporary | File::Output | File::Special | File::Constant => {
                return Err(EncodeError::Lacks(chip, "operand in such a file"));
            }
        };
        if let Some(relative) = source.relative {
            self.index(relative)?;
        }
        let swizzle = Swizzle(source.swizzle.map(|component| component & 3));
        self.channels[place] = channels;
        self.slot.sources[place] = Some(vertex::Source { kind, swizzle, abs: source.absolute, negate: source.negate });
        Ok(())
    }

    fn destination(&mut self, to: &Destination) -> Result<(), EncodeError> {
        let mask = Mask(to.mask & 15);
        let mut register = None;
        let mut output_mask = Mask::NONE;
        if to.relative.is_some() && to.file != File::Output {
            return Err(EncodeError::Conflict("an index of such a register"));
        }
        match to.file {
            File::Temporary => {
                let number = number("temporary", to.index, 48)?;
                register = Some(number);
                self.writes.add(Register::Temporary(number), mask.0);
            }
            File::Output => {
                let number = number("output", to.index, 24)?;
                self.slot.output = Some(number);
                output_mask = mask;
                self.writes.add(Register::Output(number), mask.0);
                if let Some(relative) = to.relative {
                    self.index(relative)?;
                    self.slot.indexes_output = true;
                    self.writes.add_outputs();
                }
            }
            File::Special => {
                let number: u8 = number("special register", to.index, 4)?;
                self.writes.add(Register::Special(number), mask.0);
                match number.checked_sub(ADDRESSES) {
                    Some(address) => register = Some(address),
                    None => {
                        self.slot.writes_condition =
                            Some(ConditionWrite { unit: Unit::Vec, register: number - CONDITIONS });
                    }
                }
            }
            File::Input | File::Uniform | File::Constant => return Err(EncodeError::Missing("a destination")),
        }
        if let Some(vec) = &mut self.slot.vec {
            *vec = Part { op: vec.op, register, mask, output_mask };
        } else if let Some(sca) = &mut self.slot.sca {
            *sca = Part { op: sca.op, register, mask, output_mask };
        }
        Ok(())
    }

    /// Replaces components in channels without use.
    pub(super) fn normalize(&mut self) {
        for (source, channels) in self.slot.sources.iter_mut().zip(self.channels) {
            if let Some(source) = source {
                source.swizzle = normalized(source.swizzle, channels);
            }
        }
        if let Some(predicate) = &mut self.slot.predicate {
            predicate.swizzle = normalized(predicate.swizzle, self.tests);
        }
    }
}
