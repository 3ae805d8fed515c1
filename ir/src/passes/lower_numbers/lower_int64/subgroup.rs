//! Lowers intrinsics that exchange 64-bit integers between the invocations of a subgroup: reads, votes and logic act on
//! each half; sums act on three pieces of 24 bits, of which 256 can be added in a word.
//!
//! Other reductions (products, minima, maxima) cannot be split and are kept.

use super::pair::Pair;
use crate::alu::AluOp;
use crate::body::{Body, Shape, SourceSpec};
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::options::Int64Ops;
use crate::passes::lower_numbers::arithmetic::Arithmetic;
use crate::shader::Shader;

/// Lowers all such intrinsics. Returns whether anything changed.
pub(super) fn lower_intrinsics(shader: &mut Shader, wanted: Int64Ops) -> bool {
    let all = Int64Ops::SHUFFLE.union(Int64Ops::VOTE).union(Int64Ops::SCAN_REDUCE);
    if wanted.0 & all.0 == 0 {
        return false;
    }
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| {
            let (Some(op), Some(def)) = (body.intrinsic(inst), body.inst_def(inst)) else { return false };
            let Some((way, family)) = way(body, inst, op) else { return false };
            if !wanted.contains(family) || body.bit_size(body.src(inst, 0)) != 64 {
                return false;
            }
            let new = lower(body, inst, way);
            body.replace_all_uses(def, new);
            body.remove_inst(inst);
            true
        });
    }
    progress
}

/// How to split an intrinsic.
#[derive(Clone, Copy)]
enum SplitMethod {
    /// Each half separately.
    Halves,
    /// Both halves must agree.
    Both,
    /// Three pieces, added up.
    Pieces,
}

fn way(body: &Body, inst: Inst, op: IntrinsicOp) -> Option<(SplitMethod, Int64Ops)> {
    use IntrinsicOp as I;
    Some(match op {
        I::ReadInvocation | I::ReadFirstInvocation | I::Shuffle | I::ShuffleXor | I::ShuffleUp | I::ShuffleDown => {
            (SplitMethod::Halves, Int64Ops::SHUFFLE)
        }
        I::Rotate | I::QuadBroadcast | I::QuadSwapHorizontal | I::QuadSwapVertical | I::QuadSwapDiagonal => {
            (SplitMethod::Halves, Int64Ops::SHUFFLE)
        }
        I::VoteIeq => (SplitMethod::Both, Int64Ops::VOTE),
        I::Reduce | I::InclusiveScan | I::ExclusiveScan => {
            let number = body.index(inst, IndexKind::ReductionOp) as usize;
            let way = match AluOp::ALL.get(number)? {
                AluOp::Iand | AluOp::Ior | AluOp::Ixor => SplitMethod::Halves,
                AluOp::Iadd => SplitMethod::Pieces,
                _ => return None,
            };
            (way, Int64Ops::SCAN_REDUCE)
        }
        _ => return None,
    })
}

fn lower(body: &mut Body, inst: Inst, way: SplitMethod) -> Def {
    let value = body.src(inst, 0);
    let components = body.num_components(value);
    let data = *body.inst(inst);
    let others: arrayvec::ArrayVec<SourceSpec, 4> =
        body.sources(inst).skip(1).take(4).map(|source| SourceSpec::plain(body.src_def(source))).collect();
    let bits = if let SplitMethod::Both = way { body.inst_def(inst).map_or(1, |def| body.bit_size(def)) } else { 32 };
    let result = if let SplitMethod::Both = way { 1 } else { components };
    let mut m = Arithmetic::before(body, inst, components);
    let part = |m: &mut Arithmetic<'_>, word: Def| {
        let mut sources: arrayvec::ArrayVec<SourceSpec, 5> = others.iter().copied().collect();
        sources.insert(0, SourceSpec::plain(word));
        let made = m.builder.build(data, &sources, Some(Shape::new(result, bits)));
        m.builder.body.inst_def(made).unwrap_or(word)
    };
    let halves = m.split(value);
    match way {
        SplitMethod::Halves => {
            let pair = Pair { lo: part(&mut m, halves.lo), hi: part(&mut m, halves.hi) };
            m.join(pair)
        }
        SplitMethod::Both => {
            let (lo, hi) = (part(&mut m, halves.lo), part(&mut m, halves.hi));
            m.components = 1;
            m.iand(lo, hi)
        }
        SplitMethod::Pieces => {
            let low = m.iand_imm(halves.lo, 0xff_ffff);
            let middle = m.ushr_imm(halves.lo, 24);
            let upper = m.ishl_imm(halves.hi, 8);
            let middle = m.ior(middle, upper);
            let middle = m.iand_imm(middle, 0xff_ffff);
            let high = m.ushr_imm(halves.hi, 16);
            let [low, middle, high] = [low, middle, high].map(|piece| part(&mut m, piece));
            let zero = m.int(0);
            // middle * 2^24, with the upper 8 bits carried over, and high * 2^48.
            let (lo, over) = (m.ishl_imm(middle, 24), m.ushr_imm(middle, 8));
            let sum = m.add_word64(Pair { lo, hi: over }, low);
            let top = m.ishl_imm(high, 16);
            let sum = m.add64(sum, Pair { lo: zero, hi: top });
            m.join(sum)
        }
    }
}
