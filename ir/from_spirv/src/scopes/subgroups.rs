//! Operations over the invocations of a subgroup: votes, reads of other invocations, reductions.
//!
//! | SPIR-V | IR |
//! |---|---|
//! | `All`, `Any` | `vote_all`, `vote_any`; so are reductions of booleans over the subgroup |
//! | `AllEqual` | of integers `vote_ieq` for each component; floats are compared with those of the first invocation |
//! | `Broadcast`, `BroadcastFirst` | `read_invocation`, `read_first_invocation` |
//! | `Elect` | the own number is that of the first invocation |
//! | `Ballot` | `ballot` of 64 bits: the upper words are zeros |
//! | other questions about ballots | arithmetic on the words (`ballots`) |
//! | shuffles, rotation, quads, reductions, scans | the intrinsics of the same names |

use spirv::{GroupOperation, Op};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::Scope as IrScope;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::ScalarType;

use super::{BOOL, types, unsupported};
use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::options::Environment;
use crate::words::Inst;

/// The types of values that a reduction has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Numbers {
    Integers,
    Floats,
    Booleans,
}

fn reduction(op: Op) -> Option<(AluOp, Numbers)> {
    use Numbers::{Booleans, Floats, Integers};
    Some(match op {
        Op::GroupNonUniformIAdd => (AluOp::Iadd, Integers),
        Op::GroupNonUniformFAdd => (AluOp::Fadd, Floats),
        Op::GroupNonUniformIMul => (AluOp::Imul, Integers),
        Op::GroupNonUniformFMul => (AluOp::Fmul, Floats),
        Op::GroupNonUniformSMin => (AluOp::Imin, Integers),
        Op::GroupNonUniformUMin => (AluOp::Umin, Integers),
        Op::GroupNonUniformFMin => (AluOp::Fmin, Floats),
        Op::GroupNonUniformSMax => (AluOp::Imax, Integers),
        Op::GroupNonUniformUMax => (AluOp::Umax, Integers),
        Op::GroupNonUniformFMax => (AluOp::Fmax, Floats),
        Op::GroupNonUniformBitwiseAnd => (AluOp::Iand, Integers),
        Op::GroupNonUniformBitwiseOr => (AluOp::Ior, Integers),
        Op::GroupNonUniformBitwiseXor => (AluOp::Ixor, Integers),
        Op::GroupNonUniformLogicalAnd => (AluOp::Iand, Booleans),
        Op::GroupNonUniformLogicalOr => (AluOp::Ior, Booleans),
        Op::GroupNonUniformLogicalXor => (AluOp::Ixor, Booleans),
        _ => return None,
    })
}

impl Emitter<'_, '_, '_> {
    pub(super) fn subgroup(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        use IntrinsicOp as I;
        if let Some((op, numbers)) = reduction(op) {
            self.check_scope(inst)?;
            return Ok(Outcome::Value(Value::Vector(self.reduce(inst, op, numbers)?)));
        }
        let result = match op {
            Op::GroupNonUniformElect => {
                self.check_scope(inst)?;
                self.expect_result(inst, BOOL)?;
                let own = self.subgroup_word(I::LoadSubgroupInvocation);
                let first = self.read_lane(I::ReadFirstInvocation, own, None);
                self.b.alu(AluOp::Ieq, &[own, first])
            }
            Op::GroupNonUniformAll => self.vote(inst, 3, I::VoteAll)?,
            Op::GroupNonUniformAny => self.vote(inst, 3, I::VoteAny)?,
            Op::SubgroupAllKHR => self.vote(inst, 2, I::VoteAll)?,
            Op::SubgroupAnyKHR => self.vote(inst, 2, I::VoteAny)?,
            Op::GroupNonUniformQuadAllKHR => self.vote(inst, 2, I::QuadVoteAll)?,
            Op::GroupNonUniformQuadAnyKHR => self.vote(inst, 2, I::QuadVoteAny)?,
            Op::GroupNonUniformAllEqual => self.all_equal(inst, 3)?,
            Op::SubgroupAllEqualKHR => self.all_equal(inst, 2)?,
            Op::GroupNonUniformBroadcastFirst => self.read_of(inst, 3, I::ReadFirstInvocation, None)?,
            Op::SubgroupFirstInvocationKHR => self.read_of(inst, 2, I::ReadFirstInvocation, None)?,
            Op::GroupNonUniformBroadcast => self.read_of(inst, 3, I::ReadInvocation, Some(4))?,
            Op::SubgroupReadInvocationKHR => self.read_of(inst, 2, I::ReadInvocation, Some(3))?,
            // The SPIR-V driver writes reads of an invocation like this.
            Op::GroupNonUniformShuffle if self.context.environment == Environment::Tgsic => {
                self.read_of(inst, 3, I::ReadInvocation, Some(4))?
            }
            Op::GroupNonUniformShuffle => self.read_of(inst, 3, I::Shuffle, Some(4))?,
            Op::GroupNonUniformShuffleXor => self.read_of(inst, 3, I::ShuffleXor, Some(4))?,
            Op::GroupNonUniformShuffleUp => self.read_of(inst, 3, I::ShuffleUp, Some(4))?,
            Op::GroupNonUniformShuffleDown => self.read_of(inst, 3, I::ShuffleDown, Some(4))?,
            Op::GroupNonUniformQuadBroadcast => self.read_of(inst, 3, I::QuadBroadcast, Some(4))?,
            Op::GroupNonUniformQuadSwap => {
                let swap = match self.integer(inst.word(4))? {
                    0 => I::QuadSwapHorizontal,
                    1 => I::QuadSwapVertical,
                    2 => I::QuadSwapDiagonal,
                    other => return Err(SpirvError::Value { what: "the direction", value: other.into() }),
                };
                self.read_of(inst, 3, swap, None)?
            }
            Op::GroupNonUniformRotateKHR => {
                self.check_scope(inst)?;
                let value = self.like_result(inst, 3)?;
                let distance = self.index_operand(inst, 4)?;
                let cluster = inst.words.get(5).map(|&id| self.cluster(id)).transpose()?.unwrap_or(0);
                let indices = [(IndexKind::ClusterSize, cluster)];
                let shape = self.shape(value);
                self.b.intrinsic_def(I::Rotate, &[value, distance], &indices, shape)
            }
            Op::GroupNonUniformPartitionEXT => return Err(unsupported(inst, "no target has partitions")),
            _ => return Ok(Outcome::Other),
        };
        Ok(Outcome::Value(Value::Vector(result)))
    }

    /// Checks that the scope of the operation, which precedes the other operands, is the subgroup.
    pub(super) fn check_scope(&self, inst: &Inst<'_>) -> Result<(), SpirvError> {
        match self.scope(inst.word(2))? {
            IrScope::Subgroup => Ok(()),
            _ => Err(unsupported(inst, "its scope is not the subgroup")),
        }
    }

    /// A word that describes the subgroup or the invocation.
    pub(super) fn subgroup_word(&mut self, op: IntrinsicOp) -> Def {
        self.b.intrinsic_def(op, &[], &[], super::WORD)
    }

    /// A vote about a boolean, which is behind the scope, if there is one.
    fn vote(&mut self, inst: &Inst<'_>, word: usize, op: IntrinsicOp) -> Result<Def, SpirvError> {
        if word == 3 {
            self.check_scope(inst)?;
        }
        self.expect_result(inst, BOOL)?;
        let condition = self.operand(inst, word, BOOL)?;
        Ok(self.b.intrinsic_def(op, &[condition], &[], BOOL))
    }

    fn all_equal(&mut self, inst: &Inst<'_>, word: usize) -> Result<Def, SpirvError> {
        if word == 3 {
            self.check_scope(inst)?;
        }
        self.expect_result(inst, BOOL)?;
        let value = self.vector(inst.word(word))?;
        let scalar = self.context.module.types.scalar(self.type_of(inst.word(word)));
        let is_float = scalar.is_some_and(ScalarType::is_float);
        let first = is_float.then(|| self.read_lane(IntrinsicOp::ReadFirstInvocation, value, None));
        let mut all = None;
        for component in 0..self.b.body.num_components(value) {
            let own = self.b.channel(value, component);
            let is_equal = match first {
                Some(first) => {
                    let first = self.b.channel(first, component);
                    self.b.alu(AluOp::Feq, &[own, first])
                }
                None => self.b.intrinsic_def(IntrinsicOp::VoteIeq, &[own], &[], BOOL),
            };
            all = Some(match all {
                Some(before) => self.b.alu(AluOp::Iand, &[before, is_equal]),
                None => is_equal,
            });
        }
        let all = all.unwrap_or_else(|| self.constant(1, &[1]));
        Ok(if is_float { self.b.intrinsic_def(IntrinsicOp::VoteAll, &[all], &[], BOOL) } else { all })
    }

    /// A read of other invocations' values.
    fn read_lane(&mut self, op: IntrinsicOp, value: Def, from: Option<Def>) -> Def {
        let shape = self.shape(value);
        match from {
            Some(from) => self.b.intrinsic_def(op, &[value, from], &[], shape),
            None => self.b.intrinsic_def(op, &[value], &[], shape),
        }
    }

    fn read_of(
        &mut self,
        inst: &Inst<'_>,
        word: usize,
        op: IntrinsicOp,
        from: Option<usize>,
    ) -> Result<Def, SpirvError> {
        if word == 3 {
            self.check_scope(inst)?;
        }
        let value = self.like_result(inst, word)?;
        let from = from.map(|word| self.index_operand(inst, word)).transpose()?;
        Ok(self.read_lane(op, value, from))
    }

    /// The size of clusters: a power of two.
    fn cluster(&self, id: u32) -> Result<i32, SpirvError> {
        let size = self.integer(id)?;
        match i32::try_from(size) {
            Ok(cluster) if size.is_power_of_two() => Ok(cluster),
            _ => Err(SpirvError::Value { what: "the size of clusters", value: size.into() }),
        }
    }

    fn reduce(&mut self, inst: &Inst<'_>, op: AluOp, numbers: Numbers) -> Result<Def, SpirvError> {
        let value = self.like_result(inst, 4)?;
        let shape = self.shape(value);
        let found = match self.context.module.types.scalar(self.type_of(inst.word(4))) {
            Some(ScalarType::Bool) => Numbers::Booleans,
            Some(scalar) if scalar.is_float() => Numbers::Floats,
            _ => Numbers::Integers,
        };
        if found != numbers {
            return Err(types(inst, "an operand has another type"));
        }
        let kind = inst.word(3);
        let mut cluster = 0;
        let intrinsic = match GroupOperation::from_u32(kind) {
            Some(GroupOperation::Reduce) if shape == BOOL && op != AluOp::Ixor => {
                let vote = if op == AluOp::Iand { IntrinsicOp::VoteAll } else { IntrinsicOp::VoteAny };
                return Ok(self.b.intrinsic_def(vote, &[value], &[], BOOL));
            }
            Some(GroupOperation::Reduce) => IntrinsicOp::Reduce,
            Some(GroupOperation::InclusiveScan) => IntrinsicOp::InclusiveScan,
            Some(GroupOperation::ExclusiveScan) => IntrinsicOp::ExclusiveScan,
            Some(GroupOperation::ClusteredReduce) => {
                cluster = self.cluster(inst.word(5))?;
                // Each invocation is a cluster.
                if cluster == 1 {
                    return Ok(value);
                }
                IntrinsicOp::Reduce
            }
            Some(_) => return Err(unsupported(inst, "no target has partitions")),
            None => return Err(SpirvError::Value { what: "the operation", value: kind.into() }),
        };
        let indices = [(IndexKind::ReductionOp, op as i32), (IndexKind::ClusterSize, cluster)];
        let count = if intrinsic == IntrinsicOp::Reduce { 2 } else { 1 };
        let shape = Shape::new(shape.num_components, shape.bit_size);
        Ok(self.b.intrinsic_def(intrinsic, &[value], indices.get(..count).unwrap_or_default(), shape))
    }
}
