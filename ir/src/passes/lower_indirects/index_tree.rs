//! Emits a balanced tree of `if`s that determines the value of a run-time index, for the passes that turn indirect
//! accesses into direct ones.
//!
//! ```text
//! if ilt index, 2
//!     if ilt index, 1          the sides of an `if` get half of its candidates each, so n candidates take
//!         ...                  about log2 n comparisons, whatever the index is
//! ```
//!
//! Indices out of range have a separate side at each end. Comparisons are signed, so that a negative index stays
//! negative where integers later become floats. Values of the sides are joined by phis.

use std::ops::RangeInclusive;

use crate::alu::AluOp;
use crate::body::Shape;
use crate::builder::Builder;
use crate::entities::Def;

/// Emits an access to one candidate, or to none, and returns its value if it has one.
pub type AccessEmitter<'a> = dyn FnMut(&mut Builder<'_>, Option<i64>) -> Option<Def> + 'a;

/// Emits the tree at the builder's cursor: `leaf` is called for every candidate, and with `None` for indices out of
/// range. The tree distinguishes values of `index / stride`; the remainder of `index` modulo `stride` must be the same
/// each time. Either all leaves return a value of the same shape or none does.
pub fn index_tree(
    b: &mut Builder<'_>,
    index: Def,
    stride: u32,
    candidates: RangeInclusive<i64>,
    leaf: &mut AccessEmitter<'_>,
) -> Option<Def> {
    if candidates.is_empty() {
        return leaf(b, None);
    }
    // A value beyond the range of the index's type needs no side.
    let least = match b.body.bit_size(index) {
        bits @ ..64 => -1 << (bits.max(1) - 1),
        _ => i64::MIN,
    };
    let stride = i64::from(stride.max(1));
    let range = Bounds {
        first: *candidates.start(),
        last: *candidates.end(),
        low: if candidates.start() * stride > least { candidates.start() - 1 } else { *candidates.start() },
        high: if candidates.end() * stride < !least - (stride - 1) { candidates.end() + 1 } else { *candidates.end() },
    };
    side(b, index, stride, range.low, range.high, &mut |b, number| {
        let inside = (range.first..=range.last).contains(&number);
        leaf(b, inside.then_some(number))
    })
}

/// The range of the candidates, and the same including the sides for indices out of range.
struct Bounds {
    first: i64,
    last: i64,
    low: i64,
    high: i64,
}

/// Emits the part of the tree for `low` to `high`. Recursion depth is bounded by the bit size of the index.
fn side(
    b: &mut Builder<'_>,
    index: Def,
    stride: i64,
    low: i64,
    high: i64,
    leaf: &mut dyn FnMut(&mut Builder<'_>, i64) -> Option<Def>,
) -> Option<Def> {
    if low >= high {
        return leaf(b, low);
    }
    let middle = high - (high - low) / 2;
    let bits = b.body.bit_size(index);
    let bound = b.constant(bits, &[(middle * stride) as u64]);
    let is_less = b.alu(AluOp::Ilt, &[index, bound]);
    let id = b.push_if(is_less);
    let less = side(b, index, stride, low, middle - 1, leaf);
    let less_end = b.block();
    b.push_else(id);
    let other = side(b, index, stride, middle, high, leaf);
    let other_end = b.block();
    b.end_if(id);
    let (less, other) = (less?, other?);
    let shape = b.body.shape(less);
    Some(b.phi(shape, &[(less_end, less), (other_end, other)]))
}

/// Converts an index for [`index_tree()`]: sign-extends it to at least 32 bits.
pub fn wide_index(b: &mut Builder<'_>, index: Def) -> Def {
    if b.body.bit_size(index) < 32 { b.alu(AluOp::I2i32, &[index]) } else { index }
}

/// Emits a zero of a shape, the value of an out-of-range read.
pub fn zero(b: &mut Builder<'_>, shape: Shape) -> Def {
    b.constant(shape.bit_size, &[0; 16][..usize::from(shape.num_components).min(16)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intrinsics::IntrinsicOp;
    use crate::shader::{Shader, ShaderStage};

    /// Returns the candidates requested by a tree over a range, and its depth.
    fn asked(candidates: RangeInclusive<i64>, bits: u8) -> (Vec<Option<i64>>, usize) {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let mut b = Builder::at_end(shader.main_mut());
        let index = b.intrinsic_def(IntrinsicOp::LoadVertexId, &[], &[], Shape::new(1, 32));
        let index = if bits == 64 { b.alu(AluOp::I2i64, &[index]) } else { index };
        let (mut found, mut depth) = (Vec::new(), 0);
        let value = index_tree(&mut b, index, 1, candidates, &mut |b, candidate| {
            found.push(candidate);
            let mut parent = b.body.block_parent(b.block());
            let mut nesting = 0;
            while let Some(list) = parent.and_then(|p| b.body.outer(p)) {
                parent = Some(list);
                nesting += 1;
            }
            depth = depth.max(nesting);
            Some(b.u32_const(candidate.map_or(0, |c| c as u32)))
        });
        assert!(value.is_some());
        crate::validate::validate(&shader).expect("valid");
        (found, depth)
    }

    #[test]
    fn every_candidate_once_and_the_outside_at_both_ends() {
        for count in 1..40 {
            let (found, depth) = asked(3..=2 + count, 32);
            let expected: Vec<Option<i64>> =
                std::iter::once(None).chain((3..3 + count).map(Some)).chain([None]).collect();
            assert_eq!(found, expected);
            assert_eq!(depth as u32, ((count + 2) as u64).next_power_of_two().ilog2(), "{count} candidates");
        }
    }

    #[test]
    fn ends_of_the_type_have_nothing_beyond() {
        let (found, _) = asked(i64::from(i32::MIN)..=i64::from(i32::MIN) + 1, 32);
        assert_eq!(found.iter().filter(|c| c.is_none()).count(), 1);
        let (found, _) = asked(i64::from(i32::MAX)..=i64::from(i32::MAX), 32);
        assert_eq!(found.iter().filter(|c| c.is_none()).count(), 1);
        let (found, _) = asked(i64::from(i32::MAX)..=i64::from(i32::MAX), 64);
        assert_eq!(found.iter().filter(|c| c.is_none()).count(), 2);
    }

    #[test]
    fn no_candidate_is_outside() {
        #[expect(clippy::reversed_empty_ranges, reason = "that is the case")]
        let (found, depth) = asked(1..=0, 32);
        assert_eq!((found, depth), (vec![None], 0));
    }
}
