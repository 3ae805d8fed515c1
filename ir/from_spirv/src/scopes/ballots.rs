//! Ballots: masks of the invocations of a subgroup.
//!
//! SPIR-V's have four words. Subgroups have at most 64 invocations, so the first two matter.

use spirv::{GroupOperation, Op};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::IntrinsicOp;

use super::{BOOL, WORD, unsupported};
use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::emit::pointer::Step;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::words::Inst;

/// A ballot.
const MASK: Shape = Shape { num_components: 4, bit_size: 32 };

impl Emitter<'_, '_, '_> {
    pub(super) fn ballot_query(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        let result = match op {
            Op::GroupNonUniformBallot => {
                self.check_scope(inst)?;
                self.ballot(inst, 3)?
            }
            Op::SubgroupBallotKHR => self.ballot(inst, 2)?,
            Op::GroupNonUniformInverseBallot => {
                self.check_scope(inst)?;
                self.expect_result(inst, BOOL)?;
                let mask = self.operand(inst, 3, MASK)?;
                let own = self.subgroup_word(IntrinsicOp::LoadSubgroupInvocation);
                self.bit_of(mask, own)
            }
            Op::GroupNonUniformBallotBitExtract => {
                self.check_scope(inst)?;
                self.expect_result(inst, BOOL)?;
                let mask = self.operand(inst, 3, MASK)?;
                let number = self.index_operand(inst, 4)?;
                self.bit_of(mask, number)
            }
            Op::GroupNonUniformBallotBitCount => {
                self.check_scope(inst)?;
                self.expect_result(inst, WORD)?;
                let mask = self.operand(inst, 4, MASK)?;
                self.bit_count(inst, mask)?
            }
            Op::GroupNonUniformBallotFindLSB | Op::GroupNonUniformBallotFindMSB => {
                self.check_scope(inst)?;
                self.expect_result(inst, WORD)?;
                let mask = self.operand(inst, 3, MASK)?;
                self.find_bit(mask, op == Op::GroupNonUniformBallotFindLSB)
            }
            _ => return Ok(Outcome::Other),
        };
        Ok(Outcome::Value(Value::Vector(result)))
    }

    fn ballot(&mut self, inst: &Inst<'_>, word: usize) -> Result<Def, SpirvError> {
        self.expect_result(inst, MASK)?;
        let condition = self.operand(inst, word, BOOL)?;
        let ballot = self.b.intrinsic_def(IntrinsicOp::Ballot, &[condition], &[], Shape::new(1, 64));
        let words = self.b.alu(AluOp::Unpack642x32, &[ballot]);
        let zero = AluSrc::component(self.constant(32, &[0]), 0);
        Ok(self.b.vec(&[AluSrc::component(words, 0), AluSrc::component(words, 1), zero, zero]))
    }

    /// Whether a bit of a mask is set.
    fn bit_of(&mut self, mask: Def, number: Def) -> Def {
        let (five, one, zero) = (self.constant(32, &[5]), self.constant(32, &[1]), self.constant(32, &[0]));
        let word = self.b.alu(AluOp::Ushr, &[number, five]);
        let word = self.component_at(mask, Step::Index(word));
        // The IR takes the count modulo 32.
        let bits = self.b.alu(AluOp::Ushr, &[word, number]);
        let bit = self.b.alu(AluOp::Iand, &[bits, one]);
        self.b.alu(AluOp::Ine, &[bit, zero])
    }

    /// The words of a mask without the bits beyond the end of the subgroup.
    fn inside(&mut self, mask: Def) -> [Def; 2] {
        let size = self.subgroup_word(IntrinsicOp::LoadSubgroupSize);
        let (ones, half) = (self.constant(32, &[u32::MAX.into()]), self.constant(32, &[32]));
        let zero = self.constant(32, &[0]);
        // -1 >> -size has `size` ones, for sizes from 1 to 32.
        let negative = self.b.alu(AluOp::Ineg, &[size]);
        let some = self.b.alu(AluOp::Ushr, &[ones, negative]);
        let is_small = self.b.alu(AluOp::Uge, &[half, size]);
        let low = self.b.alu(AluOp::Bcsel, &[is_small, some, ones]);
        let high = self.b.alu(AluOp::Bcsel, &[is_small, zero, some]);
        let [x, y] = [0, 1].map(|component| self.b.channel(mask, component));
        [self.b.alu(AluOp::Iand, &[x, low]), self.b.alu(AluOp::Iand, &[y, high])]
    }

    fn bit_count(&mut self, inst: &Inst<'_>, mask: Def) -> Result<Def, SpirvError> {
        let words = match GroupOperation::from_u32(inst.word(3)) {
            Some(GroupOperation::Reduce) => self.inside(mask),
            Some(scan @ (GroupOperation::InclusiveScan | GroupOperation::ExclusiveScan)) => {
                let below = match scan {
                    GroupOperation::InclusiveScan => IntrinsicOp::LoadSubgroupLeMask,
                    _ => IntrinsicOp::LoadSubgroupLtMask,
                };
                let below = self.b.intrinsic_def(below, &[], &[], Shape::new(1, 64));
                let below = self.b.alu(AluOp::Unpack642x32, &[below]);
                [0, 1].map(|component| {
                    let (a, b) = (self.b.channel(mask, component), self.b.channel(below, component));
                    self.b.alu(AluOp::Iand, &[a, b])
                })
            }
            Some(_) => return Err(unsupported(inst, "it has no such operation")),
            None => return Err(SpirvError::Value { what: "the operation", value: inst.word(3).into() }),
        };
        let [low, high] = words.map(|word| self.b.alu(AluOp::BitCount, &[word]));
        Ok(self.b.alu(AluOp::Iadd, &[low, high]))
    }

    /// The number of the lowest or highest bit that is set.
    fn find_bit(&mut self, mask: Def, is_lowest: bool) -> Def {
        let [low, high] = self.inside(mask);
        let zero = self.constant(32, &[0]);
        let op = if is_lowest { AluOp::FindLsb } else { AluOp::UfindMsb };
        let [in_low, in_high] = [low, high].map(|word| self.b.alu(op, &[word]));
        let half = self.constant(32, &[32]);
        let in_high = self.b.alu(AluOp::Iadd, &[in_high, half]);
        // The word that decides has a bit.
        let decides = if is_lowest { low } else { high };
        let is_set = self.b.alu(AluOp::Ine, &[decides, zero]);
        let (yes, no) = if is_lowest { (in_low, in_high) } else { (in_high, in_low) };
        self.b.alu(AluOp::Bcsel, &[is_set, yes, no])
    }
}
