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
    channels: [u8; 3],
    /// The channels of the predicate on which writes depend.
    tests: u8,
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
        Code::Sgt => Vec(VecOp::Sgt, TWO),
        Code::Sle => Vec(VecOp::Sle, TWO),
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

/// Combines swizzles of which some channels matter.
fn combined(a: (Swizzle, u8), b: (Swizzle, u8)) -> Option<Swizzle> {
    let mut both = a.0;
    for channel in (0..4).filter(|channel| b.1 >> channel & 1 != 0) {
        if a.1 >> channel & 1 != 0 && a.0.0[channel] != b.0.0[channel] {
            return None;
        }
        both.0[channel] = b.0.0[channel];
    }
    Some(both)
}

/// Combines fields that must be equal if both slots have them.
fn either<T: PartialEq>(a: Option<T>, b: Option<T>) -> Option<Option<T>> {
    match (a, b) {
        (Some(a), Some(b)) => (a == b).then_some(Some(a)),
        (a, b) => Some(a.or(b)),
    }
}

/// Converts a guard.
pub(super) fn predicate(guard: Guard) -> Predicate {
    let swizzle = Swizzle(guard.swizzle.map(|component| component & 3));
    Predicate {
        register: guard.register - CONDITIONS.min(guard.register),
        condition: Condition(guard.condition),
        swizzle,
    }
}

/// Converts a number of a register. Negative ones are out of range of every field.
fn number<T: TryFrom<i32>>(what: &'static str, index: i32, limit: u32) -> Result<T, EncodeError> {
    T::try_from(index).map_err(|_| EncodeError::Range(what, index as u32, limit))
}

impl Operation {
    /// Converts an instruction whose temporaries are registers and whose literals are constants. `channels` returns the
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
            operation.source(source, place, channels(at), chip)?;
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
    fn normalize(&mut self) {
        for (source, channels) in self.slot.sources.iter_mut().zip(self.channels) {
            if let Some(source) = source {
                source.swizzle = normalized(source.swizzle, channels);
            }
        }
        if let Some(predicate) = &mut self.slot.predicate {
            predicate.swizzle = normalized(predicate.swizzle, self.tests);
        }
    }

    /// Whether both units are in use.
    pub(super) fn is_pair(&self) -> bool {
        self.slot.vec.is_some() && self.slot.sca.is_some()
    }

    /// The scalar form of a move.
    fn as_scalar(&self) -> Option<Operation> {
        let vec = self.slot.vec.filter(|vec| vec.op == VecOp::Mov && self.slot.sca.is_none())?;
        if self.slot.writes_condition.is_some() {
            return None;
        }
        let mut scalar = self.clone();
        scalar.slot.vec = None;
        scalar.slot.sca =
            Some(Part { op: ScaOp::Mov, register: vec.register, mask: vec.mask, output_mask: vec.output_mask });
        scalar.slot.sources.swap(0, 2);
        scalar.channels.swap(0, 2);
        Some(scalar)
    }

    /// The form of a sum with its operands exchanged.
    fn commuted(&self) -> Option<Operation> {
        self.slot.vec.filter(|vec| vec.op == VecOp::Add)?;
        let mut commuted = self.clone();
        commuted.slot.sources.swap(0, 2);
        commuted.channels.swap(0, 2);
        Some(commuted)
    }

    /// Returns one slot with two operations, the first of which precedes the other one. Neither depends on the other.
    pub(super) fn paired(&self, later: &Operation, chip: Chip) -> Option<Operation> {
        if self.is_pair() || later.is_pair() || self.writes.meets(&later.writes) || self.writes.meets(&later.reads) {
            return None;
        }
        let candidates = [(self, later), (later, self)];
        candidates.into_iter().find_map(|(vec, sca)| {
            vec.slot.vec?;
            let scalar;
            let sca = if sca.slot.sca.is_some() {
                sca
            } else {
                scalar = sca.as_scalar()?;
                &scalar
            };
            vec.beside(sca, chip).or_else(|| vec.commuted()?.beside(sca, chip))
        })
    }

    /// Returns a slot with this vector operation and a scalar one.
    fn beside(&self, sca: &Operation, chip: Chip) -> Option<Operation> {
        let (vec, scalar) = (self.slot.vec?, sca.slot.sca?);
        // Implementations may execute the vector unit first.
        if sca.reads.meets(&self.writes) {
            return None;
        }
        // On GeForce FX, an update of the condition register may concern both units, and both have one register.
        let is_alone = self.slot.writes_condition.is_some() || vec.op.writes_address();
        if is_alone && (chip == Chip::Nv30 || sca.slot.branch.is_some()) {
            return None;
        }
        if self.slot.saturate != sca.slot.saturate && sca.slot.branch.is_none() {
            return None;
        }
        let mut both = self.clone();
        let slot = &mut both.slot;
        let share = |is_present: bool, a: bool, b: bool| !is_present || a == b;
        let has_both = |a: Option<u16>, b: Option<u16>| a.is_some() && b.is_some();
        if !share(
            has_both(slot.input.map(u16::from), sca.slot.input.map(u16::from)),
            slot.indexes_input,
            sca.slot.indexes_input,
        ) || !share(has_both(slot.constant, sca.slot.constant), slot.indexes_constant, sca.slot.indexes_constant)
            || !share(slot.output.is_some() && sca.slot.output.is_some(), slot.indexes_output, sca.slot.indexes_output)
        {
            return None;
        }
        slot.sca = Some(scalar);
        slot.input = either(slot.input, sca.slot.input)?;
        slot.constant = either(slot.constant, sca.slot.constant)?;
        slot.output = either(slot.output, sca.slot.output)?;
        slot.address = either(slot.address, sca.slot.address)?;
        slot.indexes_input |= sca.slot.indexes_input;
        slot.indexes_constant |= sca.slot.indexes_constant;
        slot.indexes_output |= sca.slot.indexes_output;
        slot.branch = sca.slot.branch;
        slot.sources[2] = match (slot.sources[2], sca.slot.sources[2]) {
            (Some(a), Some(b)) => {
                let swizzle = combined((a.swizzle, self.channels[2]), (b.swizzle, sca.channels[2]))?;
                (a.swizzled(swizzle) == b.swizzled(swizzle)).then_some(Some(a.swizzled(swizzle)))?
            }
            (a, b) => a.or(b),
        };
        both.channels[2] |= sca.channels[2];
        slot.predicate = match (slot.predicate, sca.slot.predicate) {
            (Some(a), Some(b)) => {
                let swizzle = combined((a.swizzle, self.tests), (b.swizzle, sca.tests))?;
                let [a, b] = [a, b].map(|predicate| Predicate { swizzle, ..predicate });
                (a == b).then_some(Some(a))?
            }
            (None, None) => None,
            _ => return None,
        };
        both.tests |= sca.tests;
        both.reads = self.reads.with(&sca.reads);
        both.writes = self.writes.with(&sca.writes);
        both.normalize();
        vertex::encode(&both.slot, chip).is_ok().then_some(both)
    }

    /// The copy that the operation makes of a temporary to the same components of an output or condition register.
    pub(super) fn exact_copy(&self) -> Option<(u8, Mask)> {
        let slot = &self.slot;
        let vec = slot.vec.filter(|vec| vec.op == VecOp::Mov && vec.register.is_none() && slot.sca.is_none())?;
        let source = slot.sources[0].filter(|source| !source.abs && !source.negate)?;
        let SourceKind::Temporary(number) = source.kind else { return None };
        let is_plain = slot.predicate.is_none() && !slot.saturate && !slot.indexes_output;
        let is_exact = (0..4).all(|c| !vec.mask.has(c) || usize::from(source.swizzle.0[c]) == c);
        (is_plain && is_exact).then_some((number, vec.mask))
    }

    /// Returns the operation with another result: that of an [exact copy](Self::exact_copy) of its temporary.
    pub(super) fn with_copy(&self, copy: &Operation, chip: Chip) -> Option<Operation> {
        let (number, mask) = copy.exact_copy()?;
        if self.is_pair() || self.slot.predicate.is_some() || self.slot.output.is_some() {
            return None;
        }
        let mut both = self.clone();
        let slot = &mut both.slot;
        if let Some(vec) = &mut slot.vec {
            let is_whole = vec.mask == mask;
            if vec.register != Some(number) || vec.op.writes_address() || !is_whole && chip != Chip::Nv30 {
                return None;
            }
            if let Some(write) = copy.slot.writes_condition {
                if !is_whole || slot.writes_condition.is_some() {
                    return None;
                }
                slot.writes_condition = Some(write);
            }
            if copy.slot.output.is_some() {
                vec.output_mask = mask;
            }
        } else if let Some(sca) = &mut slot.sca {
            if sca.register != Some(number) || chip != Chip::Nv30 || copy.slot.output.is_none() {
                return None;
            }
            sca.output_mask = mask;
        }
        slot.output = copy.slot.output;
        both.writes = self.writes.with(&copy.writes);
        vertex::encode(&both.slot, chip).is_ok().then_some(both)
    }
}
