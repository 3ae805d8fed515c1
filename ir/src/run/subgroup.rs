//! Communication between lanes: derivatives, votes, ballots, shuffles, reductions. A quad is also a subgroup.

use super::machine::{Machine, truth};
use super::ops::{Intrinsic, Value};
use crate::alu::{AluOp, ExecutionMode, evaluate};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_environment::SUBGROUP_SIZE;

/// Evaluates a binary opcode.
fn apply(op: AluOp, bits: u8, a: u64, b: u64) -> u64 {
    let mut result = [0];
    evaluate(op, bits, 1, &[&[a], &[b]], ExecutionMode::DEFAULT, &mut result);
    result[0]
}

/// The identity element of an operation.
fn identity(op: AluOp, bits: u8) -> u64 {
    let all = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let float = |half: u64, single: f32, double: f64| match bits {
        16 => half,
        64 => double.to_bits(),
        _ => single.to_bits().into(),
    };
    match op {
        AluOp::Imul => 1,
        AluOp::Fmul => float(0x3c00, 1.0, 1.0),
        AluOp::Fmin => float(0x7c00, f32::INFINITY, f64::INFINITY),
        AluOp::Fmax => float(0xfc00, f32::NEG_INFINITY, f64::NEG_INFINITY),
        AluOp::Iand | AluOp::Umin => all,
        AluOp::Imin => all >> 1,
        AluOp::Imax => all ^ all >> 1,
        _ => 0,
    }
}

impl Machine<'_, '_> {
    /// Screen-space derivatives. Inactive lanes contribute the values they have.
    pub fn derivative(&mut self, intrinsic: &Intrinsic) {
        use IntrinsicOp as I;
        let source = self.sources(intrinsic)[0];
        let dest = intrinsic.dest;
        for component in 0..usize::from(dest.components) {
            self.set_lanes(dest, component, |machine, lane| {
                let quad = lane & !3;
                // The coarse forms use the bottom row and the left column.
                let (plus, minus) = match intrinsic.op {
                    I::DdxFine => (quad + (lane & 2) + 1, quad + (lane & 2)),
                    I::DdyFine => (quad + (lane & 1) + 2, quad + (lane & 1)),
                    I::Ddx | I::DdxCoarse => (quad + 3, quad + 2),
                    _ => (quad + 2, quad),
                };
                let (a, b) = (machine.get(source, component, plus), machine.get(source, component, minus));
                apply(AluOp::Fsub, source.bits, a, b)
            });
        }
    }

    /// The active lanes of the subgroup of a lane.
    fn members(&self, lane: usize) -> impl Iterator<Item = usize> + '_ {
        let first = lane - lane % SUBGROUP_SIZE;
        (first..first + SUBGROUP_SIZE).filter(|&l| self.active.get(l).is_some_and(|&mask| mask != 0))
    }

    fn is_true(&self, value: Value, lane: usize) -> bool {
        self.get(value, 0, lane) != 0
    }

    fn same(&self, value: Value, lane: usize, floats: bool) -> bool {
        let first = self.leader(lane);
        self.members(lane).all(|other| {
            (0..usize::from(value.components)).all(|component| {
                let (a, b) = (self.get(value, component, first), self.get(value, component, other));
                if floats { apply(AluOp::Feq, value.bits, a, b) != 0 } else { a == b }
            })
        })
    }

    /// Sets the components of a ballot value from a mask of subgroup lanes.
    fn set_mask(&mut self, dest: Value, lane: usize, mask: u64) {
        for component in 0..usize::from(dest.components) {
            let shift = component as u32 * u32::from(dest.bits);
            self.set(dest, component, lane, mask.checked_shr(shift).unwrap_or(0));
        }
    }

    fn mask_of(&self, value: Value, lane: usize) -> u64 {
        (0..usize::from(value.components)).fold(0, |mask, component| {
            let shift = component as u32 * u32::from(value.bits);
            mask | self.get(value, component, lane).checked_shl(shift).unwrap_or(0)
        })
    }

    /// Executes votes, ballots and subgroup queries. Returns whether it is one of these.
    pub fn subgroup(&mut self, intrinsic: &Intrinsic) -> bool {
        use IntrinsicOp as I;
        let sources = self.sources(intrinsic);
        let dest = intrinsic.dest;
        let source = sources.first().copied().unwrap_or_default();
        for lane in 0..self.lanes {
            if self.active[lane] == 0 {
                continue;
            }
            let number = lane % SUBGROUP_SIZE;
            let bits = match intrinsic.op {
                I::VoteAny | I::QuadVoteAny => truth(self.members(lane).any(|l| self.is_true(source, l))),
                I::VoteAll | I::QuadVoteAll => truth(self.members(lane).all(|l| self.is_true(source, l))),
                I::VoteFeq | I::VoteIeq => truth(self.same(source, lane, intrinsic.op == I::VoteFeq)),
                I::Ballot | I::BallotRelaxed => {
                    let set = self.members(lane).filter(|&l| self.is_true(source, l));
                    let mask = set.fold(0, |mask, l| mask | 1 << (l % SUBGROUP_SIZE));
                    self.set_mask(dest, lane, mask);
                    continue;
                }
                I::Elect => truth(self.leader(lane) == lane),
                I::FirstInvocation => (self.leader(lane) % SUBGROUP_SIZE) as u64,
                I::LastInvocation => (self.members(lane).last().unwrap_or(lane) % SUBGROUP_SIZE) as u64,
                I::InverseBallot => truth(self.mask_of(source, lane) >> number & 1 != 0),
                I::BallotBitfieldExtract => {
                    let index = self.get(sources[1], 0, lane) as u32;
                    truth(self.mask_of(source, lane).checked_shr(index).unwrap_or(0) & 1 != 0)
                }
                I::BallotBitCountReduce | I::BallotBitCountInclusive | I::BallotBitCountExclusive => {
                    let counted = match intrinsic.op {
                        I::BallotBitCountReduce => 15,
                        I::BallotBitCountInclusive => (2 << number) - 1,
                        _ => (1 << number) - 1,
                    };
                    (self.mask_of(source, lane) & counted).count_ones().into()
                }
                I::BallotFindLsb | I::BallotFindMsb => {
                    let mask = self.mask_of(source, lane) & 15;
                    match (mask, intrinsic.op) {
                        (0, _) => u64::MAX,
                        (mask, I::BallotFindLsb) => mask.trailing_zeros().into(),
                        (mask, _) => mask.ilog2().into(),
                    }
                }
                _ => return false,
            };
            self.set(dest, 0, lane, bits);
        }
        true
    }

    /// Executes reads of other lanes. Returns whether it is one of these.
    pub fn shuffle(&mut self, intrinsic: &Intrinsic) -> bool {
        use IntrinsicOp as I;
        let sources = self.sources(intrinsic);
        let dest = intrinsic.dest;
        let Some(&source) = sources.first() else { return false };
        for lane in 0..self.lanes {
            if self.active[lane] == 0 {
                continue;
            }
            let first = lane - lane % SUBGROUP_SIZE;
            let number = (lane % SUBGROUP_SIZE) as u64;
            let operand = sources.get(1).map_or(0, |&value| self.get(value, 0, lane));
            let from = match intrinsic.op {
                I::ReadFirstInvocation | I::AsUniform => (self.leader(lane) - first) as u64,
                I::ReadInvocation | I::Shuffle | I::QuadBroadcast => operand,
                I::ShuffleXor => number ^ operand,
                I::ShuffleUp => number.wrapping_sub(operand),
                I::ShuffleDown => number.wrapping_add(operand),
                I::Rotate => {
                    let cluster = match intrinsic.index(IndexKind::ClusterSize) {
                        size @ 1..=3 => size as u64,
                        _ => SUBGROUP_SIZE as u64,
                    };
                    number / cluster * cluster + number.wrapping_add(operand) % cluster
                }
                I::QuadSwapHorizontal => number ^ 1,
                I::QuadSwapVertical => number ^ 2,
                I::QuadSwapDiagonal => number ^ 3,
                _ => return false,
            };
            for component in 0..usize::from(dest.components) {
                let bits =
                    if from < SUBGROUP_SIZE as u64 { self.get(source, component, first + from as usize) } else { 0 };
                self.set(dest, component, lane, bits);
            }
        }
        true
    }

    /// Executes `reduce`, `inclusive_scan`, `exclusive_scan`.
    pub fn reduce(&mut self, intrinsic: &Intrinsic) {
        let source = self.sources(intrinsic)[0];
        let number = intrinsic.index(IndexKind::ReductionOp) as usize;
        let op = AluOp::ALL.get(number).copied().unwrap_or(AluOp::Iadd);
        let cluster = match intrinsic.index(IndexKind::ClusterSize) {
            size @ 1..=3 if intrinsic.op == IntrinsicOp::Reduce => size as usize,
            _ => SUBGROUP_SIZE,
        };
        let dest = intrinsic.dest;
        for component in 0..usize::from(dest.components) {
            self.set_lanes(dest, component, |machine, lane| {
                let counts = |other: usize| match intrinsic.op {
                    IntrinsicOp::InclusiveScan => other <= lane,
                    IntrinsicOp::ExclusiveScan => other < lane,
                    _ => other % SUBGROUP_SIZE / cluster == lane % SUBGROUP_SIZE / cluster,
                };
                let values = machine.members(lane).filter(|&l| counts(l)).map(|l| machine.get(source, component, l));
                values.reduce(|a, b| apply(op, source.bits, a, b)).unwrap_or_else(|| identity(op, source.bits))
            });
        }
    }
}
