//! Two accesses become one.

use super::address::{Entry, memory_bits};
use crate::alu::AluOp;
use crate::body::{Body, InstData, Shape, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::Def;
use crate::intrinsics::IndexKind;

/// What two accesses become.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merged {
    pub(super) bit_size: u8,
    pub(super) num_components: u8,
    /// Bits from the start of the low to that of the high one.
    pub(super) distance: u32,
}

/// Part of a value that stands at a bit of a vector of components of another size.
fn extract(b: &mut Builder<'_>, from: Def, first_bit: u32, shape: Shape) -> Def {
    let bits = u32::from(b.body.bit_size(from));
    let (count, wanted) = (shape.num_components, u32::from(memory_bits(shape.bit_size)));
    let value = if bits == wanted {
        let first = (first_bit / bits) as u8;
        let selectors: Vec<u8> = (0..count).map(|i| first + i).collect();
        b.mov(AluSrc::new(from, Swizzle::new(&selectors)), count)
    } else {
        let parts: Vec<Def> = (0..u32::from(count))
            .map(|component| {
                let at = first_bit + component * wanted;
                if wanted < bits { cut(b, from, at, wanted) } else { join(b, from, at, wanted) }
            })
            .collect();
        b.vec_of(&parts)
    };
    if shape.bit_size != 1 {
        return value;
    }
    let zero = b.constant(32, &vec![0; usize::from(count)]);
    b.alu(AluOp::Ine, &[value, zero])
}

/// So many bits out of the middle of a component.
fn cut(b: &mut Builder<'_>, from: Def, at: u32, wanted: u32) -> Def {
    let bits = u32::from(b.body.bit_size(from));
    let mut part = b.channel(from, (at / bits) as u8);
    if !at.is_multiple_of(bits) {
        let count = b.u32_const(at % bits);
        part = b.alu(AluOp::Ushr, &[part, count]);
    }
    let op = match wanted {
        8 => AluOp::U2u8,
        16 => AluOp::U2u16,
        _ => AluOp::U2u32,
    };
    b.alu(op, &[part])
}

/// A component out of several smaller ones.
fn join(b: &mut Builder<'_>, from: Def, at: u32, wanted: u32) -> Def {
    let bits = u32::from(b.body.bit_size(from));
    let op = match wanted {
        16 => AluOp::U2u16,
        32 => AluOp::U2u32,
        _ => AluOp::U2u64,
    };
    let mut value: Option<Def> = None;
    for piece in 0..wanted / bits {
        let part = b.channel(from, (at / bits + piece) as u8);
        let mut part = b.alu(op, &[part]);
        if piece != 0 {
            let count = b.u32_const(piece * bits);
            part = b.alu(AluOp::Ishl, &[part, count]);
        }
        value = Some(value.map_or(part, |value| b.alu(AluOp::Ior, &[value, part])));
    }
    value.unwrap_or(from)
}

/// The indices of the low access but for what the merger changes.
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
                // -1 is without end.
                if value(low) == -1 || value(high) == -1 { -1 } else { (b.max(d) - a.min(c)) as i32 }
            }
            _ => value(low),
        };
        indices.push((kind, number));
    }
    indices
}

/// Two loads become one where the first of them stands.
pub(super) fn merge_loads(body: &mut Body, low: &Entry, high: &Entry, merged: Merged) -> Entry {
    let first = if low.place < high.place { low } else { high };
    let mut indices = indices(body, low, high, 0);
    let mut sources: Vec<Def> = body.sources(first.inst).map(|s| body.src_def(s)).collect();
    let mut b = Builder::new(body, Cursor::Before(first.inst));
    if first.place != low.place {
        // The low address need not be there yet: what the high one has in common with it is.
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
    let shape = Shape::new(merged.num_components, merged.bit_size);
    let load = b.intrinsic_def(low.op, &sources, &indices, shape);
    for (entry, at) in [(low, 0), (high, merged.distance)] {
        let shape = Shape::new(entry.num_components, entry.bit_size);
        let part = extract(&mut b, load, at, shape);
        if let Some(def) = b.body.inst_def(entry.inst) {
            b.body.replace_all_uses(def, part);
        }
    }
    let inst = body.def_inst(load);
    body.remove_inst(low.inst);
    body.remove_inst(high.inst);
    Entry { inst, place: first.place, num_components: merged.num_components, bit_size: merged.bit_size, ..*low }
}

/// Two stores become one where the second of them stands.
pub(super) fn merge_stores(body: &mut Body, low: &Entry, high: &Entry, merged: Merged) -> Entry {
    let (first, second) = if low.place < high.place { (low, high) } else { (high, low) };
    let bits = u32::from(merged.bit_size);
    // For each new component: the last store that writes it, and the bit of that store's value where it begins.
    let mut writers: Vec<Option<(Def, u32)>> = vec![None; usize::from(merged.num_components)];
    for entry in [first, second] {
        let start = if std::ptr::eq(entry, low) { 0 } else { merged.distance };
        let mask = body.index(entry.inst, IndexKind::WriteMask) as u32;
        let value = body.src(entry.inst, entry.sources.value.unwrap_or(0));
        let own = u32::from(entry.bit_size);
        for component in (0..u32::from(entry.num_components)).filter(|c| mask >> c & 1 != 0) {
            for piece in 0..own / bits {
                let bit = component * own + piece * bits;
                if let Some(writer) = writers.get_mut(((start + bit) / bits) as usize) {
                    *writer = Some((value, bit));
                }
            }
        }
    }
    let mask = writers.iter().enumerate().fold(0u32, |mask, (i, w)| mask | u32::from(w.is_some()) << i);
    let indices = indices(body, low, high, mask as i32);
    let mut sources: Vec<Def> = body.sources(low.inst).map(|s| body.src_def(s)).collect();
    let mut b = Builder::new(body, Cursor::Before(second.inst));
    let mut undef: Option<Def> = None;
    let parts: Vec<AluSrc> = writers
        .iter()
        .map(|writer| match *writer {
            Some((value, bit)) if u32::from(b.body.bit_size(value)) == bits => {
                AluSrc::component(value, (bit / bits) as u8)
            }
            Some((value, bit)) => AluSrc::component(cut(&mut b, value, bit, bits), 0),
            None => AluSrc::component(*undef.get_or_insert_with(|| b.undef(1, merged.bit_size)), 0),
        })
        .collect();
    sources[low.sources.value.unwrap_or(0)] = b.vec(&parts);
    let inst = b.intrinsic(low.op, &sources, &indices, None);
    debug_assert!(matches!(body.inst(inst), InstData::Intrinsic { .. }));
    body.remove_inst(low.inst);
    body.remove_inst(high.inst);
    Entry { inst, place: second.place, num_components: merged.num_components, bit_size: merged.bit_size, ..*low }
}
