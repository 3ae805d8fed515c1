//! Turns a comparison of two values into a comparison of their difference with zero if that difference is computed
//! later anyway (partial redundancy elimination).
//!
//! ```text
//! before:                          after:
//!                                      %3 = fadd %x, -%y
//!     %1 = flt %x, %y                  %1 = flt %3, 0.0
//!     if %1 {                          if %1 {
//!         %2 = fadd %x, -%y
//!         ... %2 ...                       ... %3 ...
//!     }                                }
//! ```
//!
//! For targets with additions that set flags: the comparison then costs nothing. (`nir_opt_comparison_pre`.) `-%y`
//! means an `fneg`, or a constant of opposite sign. A comparison is changed if
//!
//! 1. it is `flt`, `fge`, `feq` or `fneu` of one component, with a 1-bit or 32-bit boolean, and an `if` uses it;
//! 2. no operand is the constant zero, which would already be the final form;
//! 3. an `fadd` of one component, with the same bit size, adds one operand and the negated other one, in either order.
//!    For the reversed difference, `%y - %x`, the operands of the comparison are swapped: `0.0 < %3`;
//! 4. the comparison dominates the sum, so that nothing is computed twice;
//! 5. neither is exact or must preserve signed zeros, infinities or NaN;
//! 6. for `fge`, `feq` and `fneu` one operand is known to be finite: infinity minus infinity is NaN. (`flt` of equal
//!    infinities is false either way);
//! 7. the shader does not flush denormals of that size: the difference of two close numbers must not become zero.
//!
//! Under these conditions the results have the same bits as before. The sum is computed at the comparison, even on
//! paths that do not need it. Each comparison changes once. Of several that match a sum, the latest one that dominates
//! it is used; at most [`MAX_COMPARISONS`] are tried, so that the pass is linear.

use std::collections::HashMap;

use crate::alu::{AluOp, ExecutionMode};
use crate::analysis::float_range::{FloatRange, FloatRanges};
use crate::body::{AluFlags, Body};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::shader::Shader;

/// Maximum number of comparisons of the same two values to try for a sum.
pub const MAX_COMPARISONS: usize = 8;

/// Maximum number of negations to look through.
const MAX_NEGATIONS: usize = 4;

/// See the [module](self).
pub fn opt_comparison_pre(shader: &mut Shader) -> bool {
    let mode = shader.info.float_controls_execution_mode;
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= Comparisons::default().run(body, mode);
    }
    progress
}

/// A term without its sign.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Magnitude {
    /// A component of a value.
    Value(Def, u8),
    /// A constant without its sign bit.
    Constant(u64),
}

/// A scalar operand, with its sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SignedOperand {
    magnitude: Magnitude,
    negative: bool,
    bit_size: u8,
}

impl SignedOperand {
    fn negated(self) -> SignedOperand {
        SignedOperand { negative: !self.negative, ..self }
    }

    /// Returns source `number` of an instruction with one component.
    fn of(body: &Body, inst: Inst, number: usize) -> SignedOperand {
        let AluSrc { mut def, mut swizzle } = AluSrc::of(body, body.source(inst, number));
        let mut negative = false;
        for _ in 0..MAX_NEGATIONS {
            let producer = body.def_inst(def);
            let Some((AluOp::Fneg, flags)) = body.alu(producer) else { break };
            if flags != AluFlags::NONE {
                break;
            }
            let inner = AluSrc::of(body, body.source(producer, 0));
            swizzle = swizzle.compose(inner.swizzle);
            def = inner.def;
            negative = !negative;
        }
        let (component, bit_size) = (swizzle.get(0), body.bit_size(def));
        let Some(bits) = body.constant_component(def, usize::from(component)) else {
            return SignedOperand { magnitude: Magnitude::Value(def, component), negative, bit_size };
        };
        let sign = 1u64 << (bit_size.max(1) - 1);
        negative ^= bits & sign != 0;
        SignedOperand { magnitude: Magnitude::Constant(bits & !sign), negative, bit_size }
    }

    fn is_zero(self) -> bool {
        self.magnitude == Magnitude::Constant(0)
    }

    /// Emits the operand.
    fn build(self, builder: &mut Builder<'_>) -> AluSrc {
        match self.magnitude {
            Magnitude::Value(def, component) => {
                let source = AluSrc::component(def, component);
                if !self.negative {
                    return source;
                }
                builder.alu_sized(AluOp::Fneg, 1, &[source]).into()
            }
            Magnitude::Constant(bits) => {
                let sign = if self.negative { 1u64 << (self.bit_size.max(1) - 1) } else { 0 };
                builder.constant(self.bit_size, &[bits | sign]).into()
            }
        }
    }
}

/// The two magnitudes of an operation, the smaller one first.
type Key = (Magnitude, Magnitude);

fn key(terms: [SignedOperand; 2]) -> Key {
    let [a, b] = terms.map(|term| term.magnitude);
    (a.min(b), a.max(b))
}

/// A comparison that has not been changed yet.
struct Comparison {
    inst: Inst,
    terms: [SignedOperand; 2],
}

#[derive(Default)]
struct Comparisons {
    by_terms: HashMap<Key, Vec<Comparison>>,
    ranges: FloatRanges,
}

impl Comparisons {
    fn run(mut self, body: &mut Body, mode: ExecutionMode) -> bool {
        let (dominance, order) = (body.dominance(), body.inst_order());
        let mut progress = false;
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                let Some((op, flags)) = body.alu(inst) else { continue };
                let is_scalar = body.inst_def(inst).is_some_and(|def| body.num_components(def) == 1);
                if flags != AluFlags::NONE || !is_scalar {
                    continue;
                }
                if op == AluOp::Fadd {
                    let terms = [0, 1].map(|number| SignedOperand::of(body, inst, number));
                    let Some(list) = self.by_terms.get_mut(&key(terms)) else { continue };
                    let dominates = |comparison: &Comparison| {
                        body.inst_block(comparison.inst).is_some_and(|home| match home == block {
                            true => order.index(comparison.inst) < order.index(inst),
                            false => dominance.dominates(home, block),
                        })
                    };
                    let found = list.iter().enumerate().rev().take(MAX_COMPARISONS).find_map(|(index, c)| {
                        let way = DifferenceOrder::of(c.terms, terms)?;
                        dominates(c).then_some((index, way))
                    });
                    if let Some((index, way)) = found {
                        let comparison = list.remove(index);
                        rewrite(body, &comparison, inst, terms, way);
                        progress = true;
                    }
                } else if self.is_candidate(body, inst, op, mode) {
                    let terms = [0, 1].map(|number| SignedOperand::of(body, inst, number));
                    self.by_terms.entry(key(terms)).or_default().push(Comparison { inst, terms });
                }
            }
        }
        progress
    }

    /// Checks conditions 1, 2, 6 and 7.
    fn is_candidate(&mut self, body: &Body, inst: Inst, op: AluOp, mode: ExecutionMode) -> bool {
        let takes_infinities = match op {
            AluOp::Flt | AluOp::Flt32 => true,
            AluOp::Fge | AluOp::Fge32 | AluOp::Feq | AluOp::Feq32 | AluOp::Fneu | AluOp::Fneu32 => false,
            _ => return false,
        };
        let bits = body.bit_size(body.src(inst, 0));
        let is_condition = body.inst_def(inst).is_some_and(|def| body.is_used_by_if(def));
        if !is_condition || mode.flushes_denormals(bits) {
            return false;
        }
        let sources = [0, 1].map(|number| AluSrc::of(body, body.source(inst, number)));
        let has_zero = [0, 1].iter().any(|&number| SignedOperand::of(body, inst, number).is_zero());
        !has_zero
            && (takes_infinities
                || sources.iter().any(|&source| !self.ranges.of(body, source, 1).may_be(FloatRange::INFINITE)))
    }
}

/// Which difference a sum computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DifferenceOrder {
    /// First operand of the comparison minus the second.
    Forwards,
    /// The second operand minus the first.
    Backwards,
}

impl DifferenceOrder {
    fn of([a, b]: [SignedOperand; 2], [x, y]: [SignedOperand; 2]) -> Option<DifferenceOrder> {
        let is_sum = |p: SignedOperand, q: SignedOperand| (x, y) == (p, q) || (x, y) == (q, p);
        if is_sum(a, b.negated()) {
            Some(DifferenceOrder::Forwards)
        } else {
            is_sum(a.negated(), b).then_some(DifferenceOrder::Backwards)
        }
    }
}

/// Computes the sum before the comparison, and makes the comparison use it.
fn rewrite(body: &mut Body, comparison: &Comparison, sum: Inst, terms: [SignedOperand; 2], way: DifferenceOrder) {
    let Some(op) = body.alu_op(comparison.inst) else { return };
    let (Some(old), Some(result)) = (body.inst_def(sum), body.inst_def(comparison.inst)) else { return };
    let bit_size = body.bit_size(old);
    let mut builder = Builder::new(body, Cursor::Before(comparison.inst));
    let sources = terms.map(|term| term.build(&mut builder));
    let new = builder.alu_sized(AluOp::Fadd, 1, &sources);
    let zero = builder.constant(bit_size, &[0]);
    let operands = match way {
        DifferenceOrder::Forwards => [new.into(), zero.into()],
        DifferenceOrder::Backwards => [zero.into(), new.into()],
    };
    let compared = builder.alu_sized(op, 1, &operands);
    body.replace_all_uses(result, compared);
    body.remove_inst(comparison.inst);
    body.replace_all_uses(old, new);
    body.remove_inst(sum);
}
