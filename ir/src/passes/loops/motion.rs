//! Queries for passes that move code between blocks: whether an instruction may move, and whether it may be speculated.

use crate::alu::ExecutionMode;
use crate::analysis::loop_info::TerminatorOutcome;
use crate::analysis::{GuaranteedToExecute, LoopAnalyzer, Speculation};
use crate::body::{Body, InstData, TexOp};
use crate::entities::{If, Inst};
use crate::intrinsics::IntrinsicKind;
use crate::passes::control_flow::opt_peephole_select::cost::inst_cost;
use crate::shader::ShaderStage;
use crate::types::TypeTable;

/// Maximum cost of an instruction that is speculated.
const CHEAP: u32 = 1;

/// Where an instruction may be moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mobility {
    /// It has effects, observes those of others, or belongs to the control flow.
    Pinned,
    /// Only up: it compares values of neighbouring invocations, which must not have diverged.
    Up,
    /// Wherever its operands are available.
    Free,
}

/// Returns whether an instruction also reads its operands in the neighbouring invocations.
pub(crate) fn reads_neighbours(body: &Body, inst: Inst, stage: ShaderStage) -> bool {
    match *body.inst(inst) {
        InstData::Intrinsic { op, .. } => op.info().kind == IntrinsicKind::Derivative,
        InstData::Tex(_) => body.tex(inst).is_some_and(|tex| {
            let implicit = match tex.op {
                TexOp::Tex | TexOp::Txb | TexOp::Lod | TexOp::TexPrefetch => true,
                TexOp::Tg4 => tex.is_gather_implicit_lod,
                TexOp::Txl | TexOp::Txd | TexOp::Txf | TexOp::TxfMs | TexOp::TxfMsFb => false,
                TexOp::Txs
                | TexOp::QueryLevels
                | TexOp::TextureSamples
                | TexOp::SamplesIdentical
                | TexOp::SamplePos => false,
            };
            // Other stages have no derivatives, and the level is 0.
            implicit && matches!(stage, ShaderStage::Fragment | ShaderStage::Compute)
        }),
        _ => false,
    }
}

/// Returns where an instruction may be moved.
pub(crate) fn mobility(body: &Body, inst: Inst, stage: ShaderStage) -> Mobility {
    match *body.inst(inst) {
        _ if reads_neighbours(body, inst, stage) => Mobility::Up,
        InstData::Alu { .. } | InstData::Deref { .. } | InstData::LoadConst { .. } | InstData::Undef => Mobility::Free,
        // The framebuffer contents may have changed.
        InstData::Tex(_) if body.tex(inst).is_some_and(|tex| tex.op == TexOp::TxfMsFb) => Mobility::Pinned,
        InstData::Tex(_) => Mobility::Free,
        InstData::Intrinsic { op, .. } if op.info().can_eliminate && body.can_reorder(inst, op) => Mobility::Free,
        InstData::Intrinsic { .. }
        | InstData::Phi
        | InstData::Call { .. }
        | InstData::Jump(_)
        | InstData::ParallelCopy(_) => Mobility::Pinned,
    }
}

/// Returns whether an instruction is harmless and cheap enough to be speculated.
pub(crate) fn is_cheap(body: &Body, speculation: &Speculation<'_>, inst: Inst) -> bool {
    inst_cost(body, speculation, inst, CHEAP).is_some_and(|cost| cost <= CHEAP)
}

/// Computes the blocks that are guaranteed to execute, including known exits of the first iteration of loops.
pub(crate) fn guaranteed_to_execute(body: &Body, types: &TypeTable, mode: ExecutionMode) -> GuaranteedToExecute {
    let mut staying: Vec<If> = Vec::new();
    if !body.loop_tree().loops.is_empty() {
        let mut analyzer = LoopAnalyzer::new(body, types, mode, 1);
        for id in body.loop_tree().loops.clone() {
            let analysis = analyzer.analyze(body, id);
            for (number, terminator) in analysis.terminators.iter().enumerate() {
                if analysis.outcome(0, number) == TerminatorOutcome::Stays {
                    staying.extend(terminator.node);
                }
            }
        }
    }
    staying.sort_unstable();
    GuaranteedToExecute::compute(body, |id| staying.binary_search(&id).is_ok())
}
