//! What is said of accesses to storage buffers and images: that nobody writes there, that they may be moved, that nobody reads.
//!
//! ```text
//! before (nothing writes to a buffer):             after:
//!     %1 = @load_ssbo (%0, %0) (access=none)           %1 = @load_ssbo (%0, %0) (access=readonly|reorderable)
//! ```
//!
//! - A load is `readonly` if the shader writes to no buffer (image) at all, as two units may be bound to the same one; or if it is said to be `restrict`, its unit is constant, and there is no write to that
//!   unit nor to one that is not known.
//! - What is found to be `readonly` and is not volatile is `reorderable`, so that equal loads become one and loads move. (Where the source says `readonly` another unit may still write to the same
//!   buffer.)
//! - With `infer_non_readable` a store is `writeonly` under the same conditions on reads.
//!
//! Texel buffers are buffers and images. All functions of the shader count. Two walks over the code.

use std::collections::BTreeSet;

use crate::body::{Body, InstData};
use crate::entities::Inst;
use crate::intrinsics::indices::{Access, SamplerDim};
use crate::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use crate::shader::Shader;
use crate::variable::VariableModes;

/// Memory that buffers of some kind stand for.
const BUFFERS: VariableModes = VariableModes(VariableModes::MEM_SSBO.0 | VariableModes::MEM_GLOBAL.0);

/// What is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Buffer,
    Image,
    TexelBuffer,
}

/// An access.
#[derive(Clone, Copy, Debug)]
struct Use {
    class: Class,
    /// The unit, if it is known.
    unit: Option<u64>,
    reads: bool,
    writes: bool,
}

/// Units that are touched in one way.
#[derive(Default)]
struct Touched {
    any: bool,
    /// One that is not known.
    unknown: bool,
    units: BTreeSet<u64>,
}

impl Touched {
    fn add(&mut self, unit: Option<u64>) {
        self.any = true;
        match unit {
            Some(unit) => self.units.extend([unit]),
            None => self.unknown = true,
        }
    }

    /// Whether what a unit stands for is touched. If it is another one's only, that is no matter where units do not share what they stand for.
    fn reaches(&self, unit: Option<u64>, is_restricted: bool) -> bool {
        match unit.filter(|_| is_restricted) {
            Some(unit) => self.unknown || self.units.contains(&unit),
            None => self.any,
        }
    }
}

/// What is touched of one class, in both ways.
#[derive(Default)]
struct Summary {
    read: Touched,
    written: Touched,
}

#[derive(Default)]
struct Summaries {
    buffers: Summary,
    images: Summary,
}

impl Summaries {
    fn add(&mut self, access: Use) {
        let Use { class, unit, reads, writes } = access;
        // A texel buffer is an image of its unit, and some buffer.
        let buffer_unit = if class == Class::Buffer { unit } else { None };
        let image_unit = if class == Class::Buffer { None } else { unit };
        for (summary, unit, concerned) in [
            (&mut self.buffers, buffer_unit, class != Class::Image),
            (&mut self.images, image_unit, class != Class::Buffer),
        ] {
            if concerned && reads {
                summary.read.add(unit);
            }
            if concerned && writes {
                summary.written.add(unit);
            }
        }
    }

    fn reaches(&self, access: Use, is_restricted: bool, of: impl Fn(&Summary) -> &Touched) -> bool {
        let own = match access.class {
            Class::Buffer => &self.buffers,
            Class::Image | Class::TexelBuffer => &self.images,
        };
        // Storage buffers are touched by number; whether one of them is a texel buffer nobody knows.
        let others = access.class == Class::TexelBuffer && !is_restricted && of(&self.buffers).any;
        others || of(own).reaches(access.unit, is_restricted)
    }
}

/// See the [module](self).
pub fn opt_access(shader: &mut Shader, infer_non_readable: bool) -> bool {
    let mut summaries = Summaries::default();
    for body in shader.functions.values().filter_map(|f| f.body.as_ref()) {
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            if matches!(body.inst(inst), InstData::Call { indirect: true, .. }) {
                return false;
            }
            if let Some(access) = use_of(body, inst) {
                summaries.add(access);
            }
        }
    }
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            let mut next = body.first_inst(block);
            while let Some(inst) = next {
                next = body.next_inst(inst);
                progress |= describe(body, inst, &summaries, infer_non_readable);
            }
        }
    }
    progress
}

fn describe(body: &mut Body, inst: Inst, summaries: &Summaries, infer_non_readable: bool) -> bool {
    let Some(found) = use_of(body, inst) else { return false };
    if body.intrinsic(inst).is_none_or(|op| op.info().index_slot(IndexKind::Access).is_none()) {
        return false;
    }
    let before = Access::from_i32(body.index(inst, IndexKind::Access));
    let is_restricted = before.contains(Access::RESTRICT);
    let mut access = before;
    match (found.reads, found.writes) {
        (true, false) if !summaries.reaches(found, is_restricted, |s| &s.written) => {
            access = access.union(Access::NON_WRITEABLE);
            if !access.contains(Access::VOLATILE) {
                access = access.union(Access::CAN_REORDER);
            }
        }
        (false, true) if infer_non_readable && !summaries.reaches(found, is_restricted, |s| &s.read) => {
            access = access.union(Access::NON_READABLE);
        }
        _ => {}
    }
    if access == before {
        return false;
    }
    body.set_index(inst, IndexKind::Access, access.to_i32());
    true
}

/// What an instruction accesses, if it is a buffer or an image.
fn use_of(body: &Body, inst: Inst) -> Option<Use> {
    use IntrinsicOp as I;
    let op = body.intrinsic(inst)?;
    let unit = |source: usize| body.constant_component(body.src(inst, source), 0);
    let buffer = |unit, reads, writes| Some(Use { class: Class::Buffer, unit, reads, writes });
    let points_at_buffer = |source: usize| body.deref_modes(body.src(inst, source)).intersects(BUFFERS);
    match op {
        I::LoadSsbo => buffer(unit(0), true, false),
        I::StoreSsbo => buffer(unit(1), false, true),
        I::SsboAtomic | I::SsboAtomicSwap => buffer(unit(0), true, true),
        // Who knows what is done with the address.
        I::LoadSsboAddress => buffer(None, true, true),
        I::LoadDeref if points_at_buffer(0) => buffer(None, true, false),
        I::StoreDeref if points_at_buffer(0) => buffer(None, false, true),
        I::CopyDeref | I::MemcpyDeref if points_at_buffer(0) || points_at_buffer(1) => {
            buffer(None, points_at_buffer(1), points_at_buffer(0))
        }
        I::DerefAtomic | I::DerefAtomicSwap if points_at_buffer(0) => buffer(None, true, true),
        I::StoreGlobal
        | I::StoreGlobal2x32
        | I::GlobalAtomic
        | I::GlobalAtomicSwap
        | I::GlobalAtomic2x32
        | I::GlobalAtomicSwap2x32 => buffer(None, true, true),
        I::LoadGlobal | I::LoadGlobal2x32 => buffer(None, true, false),
        _ if op.info().kind == IntrinsicKind::Image => image(body, inst, op),
        _ => None,
    }
}

fn image(body: &Body, inst: Inst, op: IntrinsicOp) -> Option<Use> {
    use IntrinsicOp as I;
    let (reads, writes) = match op {
        I::ImageLoad | I::ImageSparseLoad | I::ImageSamplesIdentical => (true, false),
        I::ImageDerefLoad | I::ImageDerefSparseLoad | I::ImageDerefSamplesIdentical => (true, false),
        I::BindlessImageLoad | I::BindlessImageSparseLoad | I::BindlessImageSamplesIdentical => (true, false),
        I::ImageStore | I::ImageDerefStore | I::BindlessImageStore => (false, true),
        I::ImageAtomic | I::ImageAtomicSwap | I::ImageDerefAtomic | I::ImageDerefAtomicSwap => (true, true),
        I::BindlessImageAtomic | I::BindlessImageAtomicSwap => (true, true),
        I::ImageTexelAddress | I::ImageDerefTexelAddress | I::BindlessImageTexelAddress => (true, true),
        // Sizes and the like.
        _ => return None,
    };
    // Only numbers of units tell two images apart.
    let unit = op.info().index_slot(IndexKind::RangeBase).and_then(|_| {
        let first = body.index(inst, IndexKind::RangeBase) as u32;
        let index = body.constant_component(body.src(inst, 0), 0)? as u32;
        Some(u64::from(first.wrapping_add(index)))
    });
    let is_buffer = body.index(inst, IndexKind::ImageDim) == SamplerDim::Buf as i32;
    Some(Use { class: if is_buffer { Class::TexelBuffer } else { Class::Image }, unit, reads, writes })
}
