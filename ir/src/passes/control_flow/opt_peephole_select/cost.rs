//! Estimates the cost of speculating a side of an `if`, and checks whether it may be speculated.

use crate::alu::AluOp;
use crate::analysis::Speculation;
use crate::body::{Body, DerefKind, InstData};
use crate::entities::{Block, Def, Inst};
use crate::intrinsics::{IntrinsicKind, IntrinsicOp};
use crate::passes::control_flow::opt_conditional_discard::conditional_discard;
use crate::variable::VariableModes;

/// Cost per component of an operation that is scalar or slow on most hardware.
const EXPENSIVE: u32 = 2;

/// A side of an `if`.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct BranchSide {
    /// Cost of the code that is now always executed.
    pub computed: u32,
    /// Instructions that conditional discards need in addition to unconditional ones.
    pub conditions: u32,
    /// Whether it contains instructions for which a target emits code.
    pub filled: bool,
}

/// Returns the cost of a block; `None` if an instruction in it must not be speculated.
pub(super) fn side_cost(body: &Body, speculation: &Speculation<'_>, block: Block, limit: u32) -> Option<BranchSide> {
    let mut side = BranchSide::default();
    for inst in body.insts(block) {
        if conditional_discard(body, inst).is_some() {
            side.conditions += 1;
            side.filled = true;
            continue;
        }
        let cost = inst_cost(body, speculation, inst, limit)?;
        side.computed += cost;
        side.filled |= cost > 0;
    }
    Some(side)
}

/// Returns the cost of speculating an instruction; `None` if it must not be speculated.
pub(crate) fn inst_cost(body: &Body, speculation: &Speculation<'_>, inst: Inst, limit: u32) -> Option<u32> {
    if !speculation.allows(body, inst) {
        return None;
    }
    match *body.inst(inst) {
        InstData::LoadConst { .. } | InstData::Undef | InstData::Deref { .. } => Some(0),
        InstData::Alu { op, .. } => Some(alu_cost(body, inst, op)),
        InstData::Intrinsic { op, .. } => intrinsic_cost(body, inst, op, limit),
        InstData::Tex(_) => (limit == u32::MAX).then_some(1),
        // Only a malformed side begins with a phi.
        InstData::Phi | InstData::Call { .. } | InstData::Jump(_) | InstData::ParallelCopy(_) => None,
    }
}

fn alu_cost(body: &Body, inst: Inst, op: AluOp) -> u32 {
    use AluOp as O;
    let Some(def) = body.inst_def(inst) else { return 0 };
    // Computed on demand: it visits all uses, and few opcodes need it.
    let components = || read_components(body, def);
    match op {
        _ if op.is_vec_or_mov() => 0,
        // The halves of a 64-bit value are components of a register.
        O::Pack642x32 | O::Pack642x32Split | O::Unpack642x32 | O::Unpack642x32SplitX | O::Unpack642x32SplitY => 0,
        O::Fneg | O::Fabs | O::Ineg | O::Iabs | O::Fsat if body.bit_size(def) != 64 => 0,
        // The conversion is a step towards the mask, which a boolean already is.
        O::B2i32 if body.uses_of(def).all(|u| body.user(u).inst().is_some_and(|i| body.alu_op(i) == Some(O::Ineg))) => {
            0
        }
        O::Fcos | O::Fsin | O::Fexp2 | O::Flog2 | O::Fpow | O::Frcp | O::Frsq => EXPENSIVE * components(),
        O::Fdiv | O::Fsqrt | O::Fmod | O::Frem | O::Idiv | O::Irem | O::Imod | O::Udiv | O::Umod => {
            EXPENSIVE * components()
        }
        _ => {
            let wide = body.bit_size(def) == 64 || body.sources(inst).any(|s| body.bit_size(body.src_def(s)) == 64);
            if wide { EXPENSIVE * components().div_ceil(2) } else { 1 }
        }
    }
}

/// Returns the number of components of a value that are read.
fn read_components(body: &Body, def: Def) -> u32 {
    let all = u32::from(body.num_components(def));
    let mut read: u32 = 0;
    for source in body.uses_of(def) {
        let Some(user) = body.user(source).inst().filter(|&user| body.alu_op(user).is_some()) else { return all };
        let count = body.alu_src_components(user, body.source_number(source));
        read = body.swizzle(source).iter(count).fold(read, |read, c| read | 1 << c);
        if read.count_ones() == all {
            break;
        }
    }
    read.count_ones()
}

fn intrinsic_cost(body: &Body, inst: Inst, op: IntrinsicOp, limit: u32) -> Option<u32> {
    let is_constant = |def: Def| body.def_constant(def).is_some();
    match op {
        IntrinsicOp::LoadDeref => {
            let deref = body.src(inst, 0);
            let private = VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP);
            let modes = body.deref_modes(deref);
            let is_private = modes != VariableModes::NONE && private.contains(modes);
            (is_private || body.can_reorder(inst, op)).then(|| indices(body, deref))
        }
        IntrinsicOp::LoadUniform | IntrinsicOp::LoadUbo | IntrinsicOp::LoadUboVec4 => body
            .can_reorder(inst, op)
            .then(|| body.sources(inst).filter(|&s| !is_constant(body.src_def(s))).count() as u32),
        _ => {
            let info = op.info();
            let is_load = matches!(info.kind, IntrinsicKind::Io | IntrinsicKind::Sysval) && info.has_dest();
            let allowed = is_load && body.can_reorder(inst, op)
                || limit == u32::MAX && info.can_eliminate && body.can_reorder(inst, op);
            allowed.then(|| body.sources(inst).filter(|&s| !is_constant(body.src_def(s))).count() as u32)
        }
    }
}

/// Returns the number of indices of a deref path that are not constant.
fn indices(body: &Body, mut deref: Def) -> u32 {
    let mut count = 0;
    while let InstData::Deref { kind, .. } = *body.inst(body.def_inst(deref)) {
        let inst = body.def_inst(deref);
        match kind {
            DerefKind::Var(_) => break,
            DerefKind::Array | DerefKind::PtrAsArray => {
                count += u32::from(body.def_constant(body.src(inst, 1)).is_none());
            }
            DerefKind::ArrayWildcard | DerefKind::Struct(_) | DerefKind::Cast(_) => {}
        }
        if body.num_sources(inst) == 0 {
            break;
        }
        deref = body.src(inst, 0);
    }
    count
}
