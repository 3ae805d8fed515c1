//! Merges two accesses.

use super::MAX_WORDS;
use super::address::Entry;
use crate::alu::AluOp;
use crate::body::{Body, Shape, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::Def;
use crate::intrinsics::IndexKind;

/// The result of a merge.
#[derive(Clone, Copy, Debug)]
pub(super) struct MergedAccess {
    num_components: u8,
    /// Number of words from the start of the low access to the start of the high one.
    distance: u8,
}

impl MergedAccess {
    /// Returns the result of merging two accesses; the high one starts no later than the low one ends.
    pub(super) fn of(low: &Entry, high: &Entry) -> Option<MergedAccess> {
        let bytes = high.offset - low.offset;
        let (distance, words) = (bytes / 4, low.bytes().max(bytes + high.bytes()) / 4);
        let is_aligned = bytes % 4 == 0 && low.align_offset.is_multiple_of(4) && low.align_mul >= 4;
        let fits = is_aligned && words <= MAX_WORDS;
        fits.then_some(MergedAccess { num_components: words as u8, distance: distance as u8 })
    }
}

/// Returns the indices of the low access, updated for the merge.
fn indices(body: &Body, low: &Entry, high: &Entry, write_mask: i32) -> Vec<(IndexKind, i32)> {
    let mut indices: Vec<(IndexKind, i32)> = Vec::new();
    for &kind in low.op.info().indices {
        let value = |entry: &Entry| body.index(entry.inst, kind);
        let number = match kind {
            IndexKind::AlignMul => low.align_mul as i32,
            IndexKind::AlignOffset => low.align_offset as i32,
            IndexKind::WriteMask => write_mask,
            IndexKind::RangeBase => value(low).min(value(high)),
            IndexKind::Range => {
                let bounds = |entry: &Entry| {
                    let base = i64::from(body.index(entry.inst, IndexKind::RangeBase));
                    (base, base + i64::from(value(entry)))
                };
                let ((a, b), (c, d)) = (bounds(low), bounds(high));
                // -1 means unbounded.
                if value(low) == -1 || value(high) == -1 { -1 } else { (b.max(d) - a.min(c)) as i32 }
            }
            _ => value(low),
        };
        indices.push((kind, number));
    }
    indices
}

/// Merges two loads at the position of the first.
pub(super) fn merge_loads(body: &mut Body, low: &Entry, high: &Entry, merged: MergedAccess) -> Entry {
    let first = if low.position < high.position { low } else { high };
    let mut indices = indices(body, low, high, 0);
    let mut sources: Vec<Def> = body.sources(first.inst).map(|s| body.src_def(s)).collect();
    let mut b = Builder::new(body, Cursor::Before(first.inst));
    if first.position != low.position {
        // The low address may not be available yet: it is computed from the high one.
        let has_base = high.op.info().index_slot(IndexKind::Base).is_some();
        let base = if has_base { b.body.index(high.inst, IndexKind::Base) } else { 0 };
        let offset = &mut sources[first.sources.offset];
        *offset = if low.has_terms {
            let back = b.u32_const((low.offset - high.offset) as u32);
            b.alu(AluOp::Iadd, &[*offset, back])
        } else {
            b.u32_const((low.offset as u32).wrapping_sub(base as u32))
        };
        for (kind, value) in &mut indices {
            if *kind == IndexKind::Base {
                *value = base;
            }
        }
    }
    let shape = Shape::new(merged.num_components, 32);
    let load = b.intrinsic_def(low.op, &sources, &indices, shape);
    for (entry, at) in [(low, 0), (high, merged.distance)] {
        let selectors: Vec<u8> = (at..at + entry.num_components).collect();
        let part = b.mov(AluSrc::new(load, Swizzle::new(&selectors)), entry.num_components);
        if let Some(def) = b.body.inst_def(entry.inst) {
            b.body.replace_all_uses(def, part);
        }
    }
    let inst = body.def_inst(load);
    body.remove_inst(low.inst);
    body.remove_inst(high.inst);
    Entry { inst, position: first.position, num_components: merged.num_components, ..*low }
}

/// Merges two stores at the position of the second.
pub(super) fn merge_stores(body: &mut Body, low: &Entry, high: &Entry, merged: MergedAccess) -> Entry {
    let (first, second) = if low.position < high.position { (low, high) } else { (high, low) };
    // For each new component: the last store that writes it, as a component of that store's value.
    let mut writers: Vec<Option<AluSrc>> = vec![None; usize::from(merged.num_components)];
    for entry in [first, second] {
        let start = if std::ptr::eq(entry, low) { 0 } else { merged.distance };
        let mask = body.write_mask(entry.inst);
        let value = body.src(entry.inst, entry.sources.value.unwrap_or(0));
        for component in (0..entry.num_components).filter(|c| mask >> c & 1 != 0) {
            if let Some(writer) = writers.get_mut(usize::from(start + component)) {
                *writer = Some(AluSrc::component(value, component));
            }
        }
    }
    let mask = writers.iter().enumerate().fold(0u32, |mask, (i, w)| mask | u32::from(w.is_some()) << i);
    let indices = indices(body, low, high, mask as i32);
    let mut sources: Vec<Def> = body.sources(low.inst).map(|s| body.src_def(s)).collect();
    let mut b = Builder::new(body, Cursor::Before(second.inst));
    let mut undef: Option<Def> = None;
    let mut nothing = || AluSrc::component(*undef.get_or_insert_with(|| b.undef(1, 32)), 0);
    let parts: Vec<AluSrc> = writers.iter().map(|writer| writer.unwrap_or_else(&mut nothing)).collect();
    sources[low.sources.value.unwrap_or(0)] = b.vec(&parts);
    let inst = b.intrinsic(low.op, &sources, &indices, None);
    body.remove_inst(low.inst);
    body.remove_inst(high.inst);
    Entry { inst, position: second.position, num_components: merged.num_components, ..*low }
}
