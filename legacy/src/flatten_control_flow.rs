//! Converts all `if`s to selections, for hardware without branches, or returns why that is impossible.
//!
//! ```text
//! if %c {                                         32 %3 = fadd %1, %2
//!     32 %3 = fadd %1, %2                         32 %5 = @load_reg (%r)
//!     @store_reg (%3, %r)                   =>    32 %6 = bcsel %c, %3, %5
//! } else {                                                @store_reg (%6, %r)
//!     @demote                                     1  %7 = inot %c
//! }                                                       @demote_if (%7)
//! 32 %4 = phi b1: %3, b2: %1                      32 %4 = bcsel %c, %3, %1
//! ```
//!
//! Works on SSA and, later, on code with registers: a store under a condition becomes a store of a selection between
//! the new value and the old one. Both sides are then always executed. The conditions for that:
//!
//! 1. Control flow is structured and has no loops (unroll first), no jumps (lower returns first) and no calls (inline
//!    first).
//! 2. Conditions are 1-bit booleans or 32-bit ones, of any representation in which 0 is false. Selections by 32-bit
//!    ones are `b32csel`, so a target without it flattens before `lower_bool_to_float` or `lower_bool_to_int32`.
//! 3. A side may contain ALU instructions, constants, undefined values and derefs, and loads and texture fetches that
//!    may be speculated ([`Speculation`]).
//!    [`CompilerOptions::speculate_loads`](tgsi_ir::options::CompilerOptions::speculate_loads) declares that the
//!    target's hardware tolerates reads at any address.
//! 4. A side may contain derivatives and fetches with implicit derivatives: they were undefined where some invocations
//!    did not execute them, and flattening only adds invocations.
//! 5. A side may contain `terminate` and `demote`, with or without a condition: the condition of the `if` is added.
//! 6. A side may contain stores to registers and private variables: the old value is loaded before. Stores to output
//!    variables are allowed if [`FlattenOptions::read_outputs`] is set, because the old value is read from the output.
//! 7. Nothing else is allowed: other stores, atomics, barriers, emitted vertices, loads of memory that others write.
//!
//! The whole shader is checked before it is changed: an error leaves it unmodified. The error names the first construct
//! in program order. An `if` marked `dont_flatten` is flattened like the others, since there is no alternative. One
//! walk without recursion, inner `if`s first; an instruction is moved once per `if` that it leaves.

use log::trace;
use tgsi_ir::alu::AluOp;
use tgsi_ir::analysis::Speculation;
use tgsi_ir::body::{CfNode, CfParent, JumpKind};
use tgsi_ir::builder::AluSrc;
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Block, Body, Builder, Cursor, Def, If, Inst, InstData, Shader};
use thiserror::Error;

use crate::chase::{accessed_register, is_load_reg, is_store_reg};

/// The capabilities of the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlattenOptions {
    /// Outputs can be read.
    pub read_outputs: bool,
}

/// Why control flow cannot be flattened.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FlattenError {
    /// Blocks are connected by `goto`.
    #[error("the control flow is not structured")]
    Unstructured,
    /// A loop.
    #[error("the loop that begins with {block} must be unrolled first")]
    Loop {
        /// The first block of its body.
        block: Block,
    },
    /// A jump other than the end of an `if`.
    #[error("{inst} jumps: {kind}")]
    Jump {
        /// The jump.
        inst: Inst,
        /// Its name.
        kind: &'static str,
    },
    /// The condition of an `if` has a type that selections do not support.
    #[error("the condition of the if after {block} has {bits} bits")]
    Condition {
        /// The block before the `if`.
        block: Block,
        /// Bits of the condition.
        bits: u8,
    },
    /// An instruction that must not run unless its condition holds.
    #[error("{inst} ({name}) must not run unless its condition holds")]
    Conditional {
        /// The instruction.
        inst: Inst,
        /// Its kind.
        name: &'static str,
    },
    /// An output is stored under a condition, and the target cannot read outputs.
    #[error("{inst} stores an output under a condition, and outputs cannot be read")]
    Output {
        /// The store.
        inst: Inst,
    },
}

/// Flattens the control flow of all functions, see the [module](self). Returns whether there was any.
///
/// # Errors
/// Returns the first construct that cannot be flattened. The shader is then unchanged.
pub fn flatten_control_flow(
    shader: &mut Shader,
    compiler: &CompilerOptions,
    options: FlattenOptions,
) -> Result<bool, FlattenError> {
    let (bodies, speculation) = Speculation::with_bodies(shader, compiler);
    let bodies: Vec<&mut Body> = bodies.collect();
    for body in &bodies {
        can_flatten(body, &speculation, options)?;
    }
    let mut count = 0;
    for body in bodies {
        let mut next = Some(body.start_block());
        while let Some(block) = next {
            let mut here = block;
            if let Some(CfNode::If(id)) = body.node_before(block) {
                here = flatten_if(body, id);
                count += 1;
            }
            next = body.next_block(here);
        }
    }
    trace!("flatten_control_flow: {count} ifs");
    Ok(count > 0)
}

fn can_flatten(body: &Body, speculation: &Speculation<'_>, options: FlattenOptions) -> Result<(), FlattenError> {
    if !body.structured {
        return Err(FlattenError::Unstructured);
    }
    for block in body.blocks() {
        if let Some(CfNode::Loop(id)) = body.node_after(block) {
            return Err(FlattenError::Loop { block: body.loop_body(id).first });
        }
        let is_conditional = matches!(body.block_parent(block), Some(CfParent::Then(_) | CfParent::Else(_)));
        for inst in body.insts(block) {
            if let Some(kind) = body.jump(inst) {
                return Err(FlattenError::Jump { inst, kind: jump_name(kind) });
            }
            if is_conditional {
                can_run_always(body, speculation, options, inst)?;
            }
        }
        if let Some(id) = body.following_if(block) {
            let bits = body.bit_size(body.src_def(body.if_condition(id)));
            if !matches!(bits, 1 | 32) {
                return Err(FlattenError::Condition { block, bits });
            }
        }
    }
    Ok(())
}

fn can_run_always(
    body: &Body,
    speculation: &Speculation<'_>,
    options: FlattenOptions,
    inst: Inst,
) -> Result<(), FlattenError> {
    let refused = |name| Err(FlattenError::Conditional { inst, name });
    match *body.inst(inst) {
        InstData::Phi | InstData::LoadConst { .. } | InstData::Undef | InstData::Deref { .. } => Ok(()),
        InstData::Alu { op, .. } => {
            if speculation.allows(body, inst) {
                Ok(())
            } else {
                refused(op.name())
            }
        }
        InstData::Tex(_) => {
            if speculation.allows(body, inst) {
                Ok(())
            } else {
                refused("a texture fetch")
            }
        }
        InstData::Call { .. } => refused("call"),
        InstData::Jump(kind) => Err(FlattenError::Jump { inst, kind: jump_name(kind) }),
        InstData::ParallelCopy(_) => refused("a parallel copy"),
        InstData::Intrinsic { op, .. } => match store_kind(body, inst) {
            Some(StoreKind::Output) if !options.read_outputs => Err(FlattenError::Output { inst }),
            Some(_) => Ok(()),
            None if discard(op).is_some() || is_load_reg(body, inst) => Ok(()),
            None if is_harmless(body, inst, op) && speculation.allows(body, inst) => Ok(()),
            None => refused(op.name()),
        },
    }
}

/// Whether an intrinsic has no effect and does not observe effects of others, so that its place and the set of
/// invocations that execute it do not matter.
fn is_harmless(body: &Body, inst: Inst, op: IntrinsicOp) -> bool {
    let info = op.info();
    let access = match info.index_slot(IndexKind::Access) {
        Some(_) => AccessFlags::from_i32(body.index(inst, IndexKind::Access)),
        None => AccessFlags::from_i32(0),
    };
    match op {
        _ if access.contains(AccessFlags::VOLATILE) => false,
        _ if access.contains(AccessFlags::CAN_REORDER) => info.can_eliminate,
        _ if info.kind == IntrinsicKind::Derivative => true,
        IntrinsicOp::LoadDeref => {
            let private = VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP);
            let modes = body.deref_modes(body.src(inst, 0));
            let constant = VariableModes::READ_ONLY.contains(modes) && !modes.intersects(VariableModes::SYSTEM_VALUE);
            modes != VariableModes::NONE && (private.contains(modes) || constant)
        }
        _ => info.can_eliminate && info.can_reorder,
    }
}

fn jump_name(kind: JumpKind) -> &'static str {
    match kind {
        JumpKind::Break => "break",
        JumpKind::Continue => "continue",
        JumpKind::Return => "return",
        JumpKind::Halt => "halt",
        JumpKind::Goto(_) | JumpKind::GotoIf { .. } => "goto",
    }
}

/// The destination of a store under a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StoreKind {
    Register,
    Variable,
    Output,
}

fn store_kind(body: &Body, inst: Inst) -> Option<StoreKind> {
    if is_store_reg(body, inst) {
        return Some(StoreKind::Register);
    }
    if body.intrinsic(inst) != Some(IntrinsicOp::StoreDeref) {
        return None;
    }
    match body.deref_modes(body.src(inst, 0)) {
        VariableModes::FUNCTION_TEMP | VariableModes::SHADER_TEMP => Some(StoreKind::Variable),
        VariableModes::SHADER_OUT => Some(StoreKind::Output),
        _ => None,
    }
}

/// The conditional form of an instruction that ends invocations.
fn discard(op: IntrinsicOp) -> Option<IntrinsicOp> {
    match op {
        IntrinsicOp::Terminate | IntrinsicOp::TerminateIf => Some(IntrinsicOp::TerminateIf),
        IntrinsicOp::Demote | IntrinsicOp::DemoteIf => Some(IntrinsicOp::DemoteIf),
        _ => None,
    }
}

/// Moves both sides of an `if`, which are single blocks by now, in front of it. Returns the block that then holds all
/// the code.
fn flatten_if(body: &mut Body, id: If) -> Block {
    let (before, after) = (body.block_before_if(id), body.block_after_if(id));
    let condition = body.src_def(body.if_condition(id));
    let (then_side, else_side) = (body.then_list(id).last, body.else_list(id).last);
    for (side, wanted) in [(then_side, true), (else_side, false)] {
        for inst in body.insts_vec(side) {
            body.move_inst(Cursor::BlockEnd(before), inst);
            make_conditional(body, inst, condition, wanted);
        }
    }
    for phi in body.phis(after).collect::<Vec<_>>() {
        let values = [then_side, else_side].map(|side| body.phi_source_for(phi, side).map(|s| body.src_def(s)));
        let ([Some(then_value), Some(else_value)], Some(def)) = (values, body.inst_def(phi)) else { continue };
        let value = if then_value == else_value {
            then_value
        } else {
            select(&mut Builder::new(body, Cursor::BlockEnd(before)), condition, then_value, else_value)
        };
        body.replace_all_uses(def, value);
        body.remove_inst(phi);
    }
    body.remove_node(CfNode::If(id));
    before
}

/// Emits a selection by a boolean of any kind.
fn select(builder: &mut Builder<'_>, condition: Def, yes: Def, no: Def) -> Def {
    let op = if builder.body.bit_size(condition) == 1 { AluOp::Bcsel } else { AluOp::B32csel };
    let count = builder.body.num_components(yes);
    builder.alu_sized(op, count, &[AluSrc::component(condition, 0), yes.into(), no.into()])
}

/// Restricts the effects of an instruction to invocations where the condition has the wanted value.
fn make_conditional(body: &mut Body, inst: Inst, condition: Def, wanted: bool) {
    if store_kind(body, inst).is_some() {
        return select_stored(body, inst, condition, wanted);
    }
    let Some(op) = body.intrinsic(inst).and_then(discard) else { return };
    let mut builder = Builder::new(body, Cursor::Before(inst));
    let own = (builder.body.num_sources(inst) > 0).then(|| builder.body.src(inst, 0));
    let bits = builder.body.bit_size(condition);
    let is_bit = bits == 1 && own.is_none_or(|own| builder.body.bit_size(own) == 1);
    let both = match own {
        None if wanted => condition,
        _ if is_bit => {
            let mut both = if wanted { condition } else { builder.alu(AluOp::Inot, &[condition]) };
            if let Some(own) = own {
                both = builder.alu(AluOp::Iand, &[both, own]);
            }
            both
        }
        // Numbers of any kind: only zero and non-zero are distinguished.
        _ => {
            let own = own.unwrap_or_else(|| builder.constant(32, &[u64::from(u32::MAX)]));
            let bits = builder.body.bit_size(own);
            let nothing = builder.constant(bits, &[0]);
            let (yes, no) = if wanted { (own, nothing) } else { (nothing, own) };
            select(&mut builder, condition, yes, no)
        }
    };
    builder.intrinsic(op, &[both], &[], None);
    body.remove_inst(inst);
}

/// Makes a store write the old value back where the condition does not have the wanted value.
fn select_stored(body: &mut Body, store: Inst, condition: Def, wanted: bool) {
    let mut builder = Builder::new(body, Cursor::Before(store));
    let (number, old) = match accessed_register(builder.body, store) {
        Some(register) => {
            let old = match register.indirect {
                Some(index) => builder.load_reg_indirect(register.handle, index, register.base),
                None => builder.load_reg(register.handle, register.base),
            };
            (0, old)
        }
        None => {
            let (deref, value) = (builder.body.src(store, 0), builder.body.src(store, 1));
            let shape = builder.body.shape(value);
            (1, builder.load_deref(deref, shape))
        }
    };
    let source = builder.body.source(store, number);
    let mut new = builder.body.src_def(source);
    if builder.body.index(store, IndexKind::LegacyFsat) != 0 {
        // The old value must not be clamped.
        new = builder.alu(AluOp::Fsat, &[new]);
        builder.body.set_index(store, IndexKind::LegacyFsat, 0);
    }
    let (yes, no) = if wanted { (new, old) } else { (old, new) };
    let value = select(&mut builder, condition, yes, no);
    body.set_src(source, value);
}
