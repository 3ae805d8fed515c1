//! Operations that become one: pairs, and results with several destinations.

use super::operation::Operation;
use crate::isa::vertex::{Part, ScaOp, SourceKind, VecOp};
use crate::isa::{Chip, Mask, Predicate, Swizzle, vertex};

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

impl Operation {
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

    /// The temporary that the operation copies to the same components of an output, and the components.
    pub(super) fn exact_copy(&self) -> Option<(u8, Mask)> {
        let slot = &self.slot;
        let vec = slot.vec.filter(|vec| {
            vec.op == VecOp::Mov && vec.register.is_none() && slot.sca.is_none() && slot.output.is_some()
        })?;
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
            let is_part = vec.mask.and(mask) == mask;
            if vec.register != Some(number) || vec.op.writes_address() || !is_part {
                return None;
            }
            // Only GeForce FX has a mask for the output alone.
            if chip != Chip::Nv30 && vec.mask != mask {
                return None;
            }
            vec.output_mask = mask;
        } else if let Some(sca) = &mut slot.sca {
            let is_part = chip == Chip::Nv30 && sca.mask.and(mask) == mask;
            if sca.register != Some(number) || !is_part {
                return None;
            }
            sca.output_mask = mask;
        }
        slot.output = copy.slot.output;
        both.writes = both.writes.with(&copy.writes);
        vertex::encode(&both.slot, chip).is_ok().then_some(both)
    }
}
