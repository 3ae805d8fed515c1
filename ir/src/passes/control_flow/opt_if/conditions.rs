//! Replaces the condition of an `if` by its value inside each side.
//!
//! ```text
//! before:                            after:
//!     %c = ieq %x.y, 3                   %c = ieq %x.y, 3
//!     %1 = iand %c, %d                   if %c {
//!     if %c {                                %2 = bcsel %d, %a, 3
//!         %2 = bcsel %1, %a, %x.y        } else {
//!     } else {                               %3 = bcsel false, %a, %b
//!         %3 = bcsel %1, %a, %b          }
//!     }
//! ```
//!
//! In the blocks that the first block of a side dominates, some values are known: `%c` itself, the result of one
//! operation on it (`iand`, `ior`, `inot`, conversions, selections), and the operand that an equality compares with a
//! constant.
//!
//! The regions of one value are subtrees of the dominator tree, nested or disjoint. A sweep turns them into sorted
//! intervals, in which each use is looked up: a value costs its regions plus its uses, times a logarithm.

use crate::alu::AluOp;
use crate::analysis::Dominance;
use crate::body::{Body, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Use, User};

/// Blocks in which a value is known.
#[derive(Clone, Copy)]
struct Region {
    /// The known value and its component.
    def: Def,
    component: u8,
    /// Its bits.
    bits: u64,
    start: u32,
    end: u32,
}

/// The regions of one value as intervals of the dominator tree's preorder, each with its innermost region.
struct Map<'a> {
    regions: &'a [Region],
    /// The starts of the intervals, each with its region; `None` where the value is unknown.
    intervals: Vec<(u32, Option<usize>)>,
}

impl Map<'_> {
    /// Creates a map from regions sorted by their start.
    fn new(regions: &[Region]) -> Map<'_> {
        let mut intervals: Vec<(u32, Option<usize>)> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (number, region) in regions.iter().enumerate() {
            while let Some(&last) = open.last().filter(|&&i| regions[i].end <= region.start) {
                open.pop();
                intervals.push((regions[last].end, open.last().copied()));
            }
            intervals.push((region.start, Some(number)));
            open.push(number);
        }
        while let Some(last) = open.pop() {
            intervals.push((regions[last].end, open.last().copied()));
        }
        Map { regions, intervals }
    }

    fn lookup(&self, position: u32) -> Option<&Region> {
        // The last one of the intervals that start at the same position counts.
        let number = self.intervals.partition_point(|&(start, _)| start <= position).checked_sub(1)?;
        self.intervals[number].1.map(|i| &self.regions[i])
    }
}

/// Replaces known values. Returns whether there were any.
pub(super) fn evaluate_uses(body: &mut Body) -> bool {
    let dominance = body.dominance();
    let mut regions = find_regions(body, &dominance);
    regions.sort_by_key(|r| (r.def, r.component, r.start));
    let mut progress = false;
    for of_value in regions.chunk_by(|a, b| (a.def, a.component) == (b.def, b.component)) {
        let map = Map::new(of_value);
        let (def, component) = (of_value[0].def, of_value[0].component);
        let is_condition = body.is_boolean(def) && body.num_components(def) == 1;
        for source in body.uses_vec(def) {
            if let Some(&region) = region_of(body, &dominance, &map, source) {
                progress |= replace(body, source, component, region.bits);
            } else if is_condition && let User::Inst(user) = body.user(source) {
                progress |= follow(body, &dominance, &map, user, source);
            }
        }
    }
    progress
}

fn find_regions(body: &Body, dominance: &Dominance) -> Vec<Region> {
    let mut regions = Vec::new();
    for block in body.blocks() {
        let Some(id) = body.following_if(block) else { continue };
        if !dominance.is_reachable(block) {
            continue;
        }
        let condition = body.src_def(body.if_condition(id));
        if body.def_constant(condition).is_some() {
            continue;
        }
        for (head, taken) in [(body.then_list(id).first, true), (body.else_list(id).first, false)] {
            let mut add = |def, component, bits| {
                let (start, end) = (dominance.pre_index(head), dominance.subtree_end(head));
                regions.push(Region { def, component, bits, start, end });
            };
            // A `true` of more than one bit has no known value here; `false` is 0.
            if body.is_boolean(condition) || !taken {
                add(condition, 0, u64::from(taken));
            }
            if let Some((value, bits)) = equality(body, body.def_inst(condition), taken) {
                add(value.def, value.swizzle.get(0), bits);
            }
        }
    }
    regions
}

/// Returns the operand that is known, and its bits, if a comparison of integers with a constant gives `outcome`.
fn equality(body: &Body, comparison: Inst, outcome: bool) -> Option<(AluSrc, u64)> {
    match body.alu_op(comparison)? {
        AluOp::Ieq if outcome => {}
        AluOp::Ine if !outcome => {}
        _ => return None,
    }
    let operand = |number: usize| {
        let source = body.source(comparison, number);
        AluSrc::component(body.src_def(source), body.swizzle(source).get(0))
    };
    let bits = |operand: AluSrc| body.constant_component(operand.def, usize::from(operand.swizzle.get(0)));
    let (a, b) = (operand(0), operand(1));
    match (bits(a), bits(b)) {
        (None, Some(bits)) => Some((a, bits)),
        (Some(bits), None) => Some((b, bits)),
        _ => None,
    }
}

fn region_of<'a>(body: &Body, dominance: &Dominance, map: &'a Map<'_>, source: Use) -> Option<&'a Region> {
    let block = body.use_block(source)?;
    dominance.is_reachable(block).then(|| map.lookup(dominance.pre_index(block)))?
}

/// Replaces the operand of a use that reads only `component` by a constant.
fn replace(body: &mut Body, source: Use, component: u8, bits: u64) -> bool {
    let def = body.src_def(source);
    let alu = body.user(source).inst().filter(|&user| body.alu_op(user).is_some());
    let reads_only_it = match alu {
        Some(user) => {
            let count = body.alu_src_components(user, body.source_number(source));
            body.swizzle(source).iter(count).all(|c| c == component)
        }
        None => body.num_components(def) == 1,
    };
    if !reads_only_it {
        return false;
    }
    let bit_size = body.bit_size(def);
    let constant = Builder::new(body, Cursor::before_use(body, source)).constant(bit_size, &[bits]);
    body.set_src(source, constant);
    if alu.is_some() {
        body.set_swizzle(source, Swizzle::replicate(0));
    }
    true
}

/// The result of an operation on the condition where that is known.
enum FoldedResult {
    Bits(u64),
    Operand(usize),
}

/// Replaces the uses of an operation on the condition where the condition is known. `source` is the operand that reads
/// the condition.
fn follow(body: &mut Body, dominance: &Dominance, map: &Map<'_>, user: Inst, source: Use) -> bool {
    let number = body.source_number(source);
    let (Some(op), Some(result)) = (body.alu_op(user), body.inst_def(user)) else { return false };
    let is_followed = match op {
        AluOp::Iand | AluOp::Ior | AluOp::Inot | AluOp::B2i32 | AluOp::B2f32 => true,
        AluOp::Bcsel => number == 0,
        _ => false,
    };
    if !is_followed {
        return false;
    }
    let mut progress = false;
    for outer in body.uses_vec(result) {
        let Some(&region) = region_of(body, dominance, map, outer) else { continue };
        let set = region.bits != 0;
        let known = match op {
            AluOp::Iand => {
                if set {
                    FoldedResult::Operand(1 - number)
                } else {
                    FoldedResult::Bits(0)
                }
            }
            AluOp::Ior => {
                if set {
                    FoldedResult::Bits(1)
                } else {
                    FoldedResult::Operand(1 - number)
                }
            }
            AluOp::Inot => FoldedResult::Bits(u64::from(!set)),
            AluOp::B2i32 => FoldedResult::Bits(u64::from(set)),
            AluOp::B2f32 => FoldedResult::Bits(if set { u64::from(1f32.to_bits()) } else { 0 }),
            _ => FoldedResult::Operand(if set { 1 } else { 2 }),
        };
        let shape = body.shape(result);
        let operand = match known {
            FoldedResult::Operand(number) => {
                let operand = body.source(user, number);
                Some(AluSrc::new(body.src_def(operand), body.swizzle(operand)))
            }
            FoldedResult::Bits(_) => None,
        };
        // The operands are available at every use of the result.
        let mut b = Builder::new(body, Cursor::before_use(body, outer));
        let value = match (known, operand) {
            (FoldedResult::Bits(bits), _) => b.constant(shape.bit_size, &vec![bits; usize::from(shape.num_components)]),
            (_, Some(operand)) => b.mov(operand, shape.num_components),
            _ => continue,
        };
        body.set_src(outer, value);
        progress = true;
    }
    progress
}
