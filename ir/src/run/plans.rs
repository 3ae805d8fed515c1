//! The parts of a program that are precomputed for memory, images, inputs and outputs.

use super::error::RunError;
use super::layout::{MAX_CELLS, NULL, VectorLeaf};
use super::ops::Value;
use crate::intrinsics::IntrinsicOp;
use crate::types::ScalarType;

/// A deref instruction: computes its address from the parent's.
#[derive(Clone, Copy, Debug)]
pub(super) struct DerefStep {
    /// The resulting address.
    pub dest: Value,
    /// The parent's address; has no components if it is 0.
    pub parent: Value,
    /// The index; has no components if absent.
    pub index: Value,
    /// Number of elements; `u32::MAX` if unbounded.
    pub bound: u32,
    /// Distance between elements.
    pub stride: u32,
    /// Offset of the field.
    pub offset: u32,
}

impl DerefStep {
    /// Computes the address from the parent's address and an index.
    pub fn address(&self, parent: u32, index: i64) -> u32 {
        if parent == NULL || (self.bound != u32::MAX && !(0..i64::from(self.bound)).contains(&index)) {
            return NULL;
        }
        let distance = index.saturating_mul(self.stride.into()).saturating_add(self.offset.into());
        u32::try_from(distance.saturating_add(parent.into())).unwrap_or(NULL)
    }
}

/// The precomputed steps of a `copy_deref`.
#[derive(Clone, Debug)]
pub(super) struct CopyPlan {
    /// The vectors that the type of the destination consists of.
    pub leaves: Vec<VectorLeaf>,
    /// The same vectors in the source, whose layout may differ.
    pub source_leaves: Vec<VectorLeaf>,
    /// Offsets in the destination and in the source for all combinations of wildcard indices.
    pub offsets: Vec<(u32, u32)>,
}

impl CopyPlan {
    /// Makes a plan from the vectors of both types and the wildcards, given as number of elements, distance in the
    /// destination, and distance in the source.
    pub fn new(
        leaves: Vec<VectorLeaf>,
        source_leaves: Vec<VectorLeaf>,
        loops: Vec<(u32, u32, u32)>,
    ) -> Result<CopyPlan, RunError> {
        let total = loops.iter().fold(leaves.len() as u64, |n, &(count, _, _)| n.saturating_mul(count.into()));
        if total > u64::from(MAX_CELLS) {
            return Err(RunError::TooLarge { words: total });
        }
        let mut offsets = vec![(0u32, 0u32)];
        for (count, dest, source) in loops {
            let mut next = Vec::with_capacity(offsets.len() * count as usize);
            for &(d, s) in &offsets {
                for number in 0..count {
                    next.push((d.wrapping_add(dest.wrapping_mul(number)), s.wrapping_add(source.wrapping_mul(number))));
                }
            }
            offsets = next;
        }
        Ok(CopyPlan { leaves, source_leaves, offsets })
    }
}

/// An image intrinsic, split into how it specifies the image and its action.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImagePlan {
    /// How the image is specified.
    pub naming: ImageNaming,
    /// The action on the image.
    pub action: ImageAction,
}

/// How an image intrinsic specifies its image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ImageNaming {
    Deref,
    Index,
    Handle,
}

/// The action of an image intrinsic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ImageAction {
    Load,
    SparseLoad,
    Store,
    Atomic,
    AtomicSwap,
    Size,
    Levels,
    Samples,
}

impl ImagePlan {
    /// Splits an image intrinsic; `None` for other intrinsics and for those without counterpart in the environment.
    pub fn new(op: IntrinsicOp) -> Option<ImagePlan> {
        use ImageAction::*;
        use ImageNaming::*;
        use IntrinsicOp as I;
        let (naming, action) = match op {
            I::ImageDerefLoad => (Deref, Load),
            I::ImageLoad => (Index, Load),
            I::BindlessImageLoad => (Handle, Load),
            I::ImageDerefSparseLoad => (Deref, SparseLoad),
            I::ImageSparseLoad => (Index, SparseLoad),
            I::BindlessImageSparseLoad => (Handle, SparseLoad),
            I::ImageDerefStore => (Deref, Store),
            I::ImageStore => (Index, Store),
            I::BindlessImageStore => (Handle, Store),
            I::ImageDerefAtomic => (Deref, Atomic),
            I::ImageAtomic => (Index, Atomic),
            I::BindlessImageAtomic => (Handle, Atomic),
            I::ImageDerefAtomicSwap => (Deref, AtomicSwap),
            I::ImageAtomicSwap => (Index, AtomicSwap),
            I::BindlessImageAtomicSwap => (Handle, AtomicSwap),
            I::ImageDerefSize => (Deref, Size),
            I::ImageSize => (Index, Size),
            I::BindlessImageSize => (Handle, Size),
            I::ImageDerefLevels => (Deref, Levels),
            I::ImageLevels => (Index, Levels),
            I::BindlessImageLevels => (Handle, Levels),
            I::ImageDerefSamples => (Deref, Samples),
            I::ImageSamples => (Index, Samples),
            I::BindlessImageSamples => (Handle, Samples),
            _ => return None,
        };
        Some(ImagePlan { naming, action })
    }
}

/// A cell and its register word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// Cell, relative to the start of its memory.
    pub cell: u32,
    /// Vertex of a per-vertex array.
    pub vertex: u32,
    pub register: u32,
    pub component: u8,
    /// Type of the component.
    pub scalar: ScalarType,
}

/// All cells of inputs and outputs.
#[derive(Debug, Default)]
pub(super) struct IoPlan {
    pub inputs: Vec<Link>,
    pub vertex_inputs: Vec<Link>,
    pub uniforms: Vec<Link>,
    pub framebuffer: Vec<Link>,
    /// `register` is the number of the system value, `component` its word.
    pub system_values: Vec<Link>,
    /// Outputs with a value per lane.
    pub outputs: Vec<Link>,
    pub vertex_outputs: Vec<Link>,
    /// Outputs shared by all lanes.
    pub patch_outputs: Vec<Link>,
    /// Words of initialisers: address, word.
    pub initial: Vec<(u32, u32)>,
    /// Number of output registers.
    pub output_registers: u32,
}
