//! Side tables for data that most instructions do not have: constant indices of intrinsics, layouts of casts.
//!
//! They keep the arena of instructions small, which passes walk often. Rows of constant indices are immutable and
//! shared between equal ones, of which a shader has few.

use cranelift_entity::PrimaryMap;

use super::{Body, CastLayout, DerefKind, InstData, MAX_INDICES};
use crate::entities::{Cast, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};

/// Size of the cache of rows, which is indexed by a hash of their values.
const REMEMBERED: usize = 64;

/// The constant indices of an intrinsic: a row in the pool of its body. The default is a row of zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Indices(u32);

/// The side tables of a body.
#[derive(Clone, Debug)]
pub(super) struct Details {
    /// Rows of [`MAX_INDICES`], the first one zero.
    indices: Vec<[i32; MAX_INDICES]>,
    /// The row last added for each hash.
    remembered: [Indices; REMEMBERED],
    casts: PrimaryMap<Cast, CastLayout>,
}

impl Default for Details {
    fn default() -> Details {
        Details {
            indices: vec![[0; MAX_INDICES]],
            remembered: [Indices::default(); REMEMBERED],
            casts: PrimaryMap::new(),
        }
    }
}

impl Details {
    #[inline]
    fn row(&self, indices: Indices) -> &[i32; MAX_INDICES] {
        self.indices.get(indices.0 as usize).unwrap_or(&[0; MAX_INDICES])
    }
}

impl Body {
    /// Adds constant indices, in the order of the table, to the pool, for use in [`InstData::Intrinsic`].
    #[inline]
    pub fn push_indices(&mut self, values: [i32; MAX_INDICES]) -> Indices {
        let hash =
            values.iter().fold(0u32, |hash, &value| (hash.rotate_left(5) ^ value as u32).wrapping_mul(0x9e37_79b1));
        let remembered = &mut self.details.remembered[hash as usize >> 26];
        if self.details.indices[remembered.0 as usize] != values {
            *remembered = Indices(self.details.indices.len() as u32);
            self.details.indices.push(values);
        }
        *remembered
    }

    /// All constant indices of an intrinsic, in the order of the table; zeros for other instructions.
    #[inline]
    pub fn inst_indices(&self, inst: Inst) -> &[i32; MAX_INDICES] {
        match *self.inst(inst) {
            InstData::Intrinsic { indices, .. } => self.details.row(indices),
            _ => &[0; MAX_INDICES],
        }
    }

    /// A constant index of an intrinsic; 0 if it has no such index.
    #[inline]
    pub fn index(&self, inst: Inst, kind: IndexKind) -> i32 {
        match *self.inst(inst) {
            InstData::Intrinsic { op, indices, .. } => {
                op.info().index_slot(kind).map_or(0, |slot| self.details.row(indices)[slot])
            }
            _ => 0,
        }
    }

    /// The components that a store writes, bit 0 = first; 0 for instructions without a write mask.
    ///
    /// Masks of components are `u32` in the IR: values have up to 16 components, and `1 << 16` must be a number.
    #[inline]
    pub fn write_mask(&self, inst: Inst) -> u32 {
        self.index(inst, IndexKind::WriteMask) as u32
    }

    /// Sets the components that a store writes; ignored for instructions without a write mask.
    pub fn set_write_mask(&mut self, inst: Inst, mask: u32) {
        self.set_index(inst, IndexKind::WriteMask, mask as i32);
    }

    /// The constant part of the number of a register, slot or byte that an intrinsic accesses; 0 if it has none.
    #[inline]
    pub fn base(&self, inst: Inst) -> u32 {
        self.index(inst, IndexKind::Base) as u32
    }

    /// The first component of a slot that an intrinsic accesses, from 0 to 3.
    #[inline]
    pub fn component(&self, inst: Inst) -> u8 {
        (self.index(inst, IndexKind::Component) & 3) as u8
    }

    /// Sets a constant index of an intrinsic; ignored if the intrinsic has no such index.
    pub fn set_index(&mut self, inst: Inst, kind: IndexKind, value: i32) {
        let InstData::Intrinsic { op, num_components, indices } = *self.inst(inst) else { return };
        let Some(slot) = op.info().index_slot(kind) else { return };
        let mut values = *self.details.row(indices);
        values[slot] = value;
        let indices = self.push_indices(values);
        self.insts[inst].data = InstData::Intrinsic { op, num_components, indices };
        self.changed_insts();
    }

    /// Makes the constant indices of an intrinsic from pairs; the others are 0.
    pub fn indices(op: IntrinsicOp, values: &[(IndexKind, i32)]) -> [i32; MAX_INDICES] {
        let mut indices = [0; MAX_INDICES];
        for &(kind, value) in values {
            match op.info().index_slot(kind) {
                Some(slot) => indices[slot] = value,
                None => debug_assert!(false, "{} has no index {}", op.name(), kind.name()),
            }
        }
        indices
    }

    /// Adds the layout of a cast to its table, for use in [`DerefKind::Cast`].
    pub fn push_cast(&mut self, layout: CastLayout) -> Cast {
        self.details.casts.push(layout)
    }

    /// The layout of a cast.
    pub fn cast(&self, cast: Cast) -> CastLayout {
        self.details.casts.get(cast).copied().unwrap_or_default()
    }

    /// Whether two kinds of derefs of this body are equal.
    pub fn deref_kinds_equal(&self, a: DerefKind, b: DerefKind) -> bool {
        match (a, b) {
            (DerefKind::Cast(a), DerefKind::Cast(b)) => self.cast(a) == self.cast(b),
            _ => a == b,
        }
    }
}
