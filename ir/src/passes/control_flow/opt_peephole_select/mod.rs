//! Replaces an `if` with short sides without effects by selections.
//!
//! ```text
//! before:                                  after:
//!     if %c {                                  %1 = fadd %a, %b
//!         %1 = fadd %a, %b                     %3 = bcsel %c, %1, %a
//!     } else {
//!     }
//!     %3 = phi b1: %1, b2: %a
//! ```
//!
//! An `if` is flattened if
//! 1. each side is a single block that does not end in a jump and contains only code that may be speculated: ALU
//!    instructions, constants, derefs, and loads of inputs, uniforms, arrays of the shader and system values with
//!    indices that are known to be in range ([`Speculation`]). Texture fetches, derivatives, accesses to memory that
//!    others write and communication between invocations are not speculated. `terminate` and `demote` become
//!    conditional: `terminate_if (c)`, or `terminate_if (iand c, d)` for a `terminate_if (d)`;
//! 2. the two sides, now always executed, cost at most the limit of the options (operations that are slow on most
//!    targets count more than once, copies and modifiers not at all);
//! 3. the selections are at most as many instructions as are saved: the branches, and the copies for the phis.
//!
//! A vector that differs in some components is selected in these only. Hints are followed: an `if` marked `flatten`
//! only has to fulfil the first condition; one marked `dont_flatten` is kept.
//!
//! Nested `if`s without `else` are merged first if the code between them may be speculated.
//!
//! Limits ([`CompilerOptions::peephole_select_limit`]): 0 flattens only sides without cost; `u32::MAX`, which
//! [`CompilerOptions::lower_control_flow`] implies, flattens all sides without effects, texture fetches included.
//!
//! One walk in program order: inner `if`s come before outer ones, and an instruction is visited once per `if` that it
//! moves out of.

mod collapse;
pub(crate) mod cost;
mod select;

use crate::alu::AluOp;
use crate::analysis::Speculation;
use crate::body::{Body, CfNode, IfControl, InstData};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If};
use crate::options::CompilerOptions;
use crate::passes::control_flow::opt_conditional_discard::discard_under;
use crate::shader::Shader;

use cost::{BranchSide, side_cost};

/// See the [module](self).
pub fn opt_peephole_select(shader: &mut Shader, options: &CompilerOptions) -> bool {
    if options.keep_ifs {
        return false;
    }
    let limit = if options.lower_control_flow { u32::MAX } else { options.peephole_select_limit };
    let mut progress = false;
    let (bodies, speculation) = Speculation::with_bodies(shader, options);
    for body in bodies {
        progress |= flatten_ifs(body, &speculation, limit);
    }
    progress
}

fn flatten_ifs(body: &mut Body, speculation: &Speculation<'_>, limit: u32) -> bool {
    if !body.structured || body.is_one_block() {
        return false;
    }
    let mut progress = false;
    let mut next = Some(body.start_block());
    while let Some(block) = next {
        let mut here = block;
        if let Some(CfNode::If(id)) = body.node_before(block) {
            progress |= collapse::collapse_nested(body, speculation, id, limit);
            if let Some(joined) = flatten(body, speculation, id, limit) {
                here = joined;
                progress = true;
            }
        }
        next = body.next_block(here);
    }
    progress
}

/// Flattens an `if` if that is allowed and profitable. Returns the block that contains everything afterwards.
fn flatten(body: &mut Body, speculation: &Speculation<'_>, id: If, limit: u32) -> Option<Block> {
    let control = body.if_control(id);
    let (before, after) = (body.block_before_if(id), body.block_after_if(id));
    let (yes, no) = (body.then_list(id).single_block()?, body.else_list(id).single_block()?);
    let condition = body.src_def(body.if_condition(id));
    if control == IfControl::DontFlatten || body.block_jump(before).is_some() || !body.is_boolean(condition) {
        return None;
    }
    let (then_side, else_side) = (side_cost(body, speculation, yes, limit)?, side_cost(body, speculation, no, limit)?);
    if control != IfControl::Flatten && limit != u32::MAX {
        let computed = then_side.computed.saturating_add(else_side.computed);
        if computed > limit || !pays(body, after, [(yes, &then_side), (no, &else_side)]) {
            return None;
        }
    }
    move_side(body, yes, before, condition, true);
    move_side(body, no, before, condition, false);
    for phi in body.phis(after).collect::<Vec<_>>() {
        let sources = [yes, no].map(|side| body.phi_source_for(phi, side).map(|s| body.src_def(s)));
        let ([Some(then_value), Some(else_value)], Some(def)) = (sources, body.inst_def(phi)) else { continue };
        let value =
            select::select(&mut Builder::new(body, Cursor::BlockEnd(before)), condition, then_value, else_value);
        body.replace_all_uses(def, value);
        body.remove_inst(phi);
    }
    body.remove_node(CfNode::If(id));
    Some(before)
}

/// Returns whether the selections are at most as many instructions as the branches and copies that they replace.
fn pays(body: &Body, after: Block, sides: [(Block, &BranchSide); 2]) -> bool {
    let (mut selections, mut copies) = (0, [0u32; 2]);
    for phi in body.phis(after) {
        let Some(def) = body.inst_def(phi) else { continue };
        let values = sides.map(|(block, _)| body.phi_source_for(phi, block).map(|s| body.src_def(s)));
        let [Some(then_value), Some(else_value)] = values else { continue };
        let is_undef = |v: Def| matches!(body.inst(body.def_inst(v)), InstData::Undef);
        if then_value == else_value || is_undef(then_value) || is_undef(else_value) {
            continue;
        }
        // A vec4 machine selects two 64-bit values at once.
        let size = if body.bit_size(def) == 64 { u32::from(body.num_components(def)).div_ceil(2) } else { 1 };
        selections += size;
        for (number, value) in [then_value, else_value].into_iter().enumerate() {
            let producer = body.def_inst(value);
            let made_here = body.inst_block(producer) == Some(sides[number].0);
            let is_const = matches!(body.inst(producer), InstData::LoadConst { .. });
            // A value that is defined in the side, or is killed by the phi, can share the phi's register.
            if is_const || !(made_here || body.single_use(value).is_some()) {
                copies[number] += size;
            }
        }
    }
    let is_filled = |number: usize| sides[number].1.filled || copies[number] > 0;
    let branches = 2 + u32::from(is_filled(0) && is_filled(1));
    let conditions = sides[0].1.conditions + sides[1].1.conditions;
    selections + conditions <= branches + copies[0] + copies[1]
}

/// Moves the instructions of a side in front of the `if`; discards become conditional.
fn move_side(body: &mut Body, side: Block, before: Block, condition: Def, wanted: bool) {
    for inst in body.insts_vec(side) {
        if body.is_phi(inst) {
            continue;
        }
        body.move_inst(Cursor::BlockEnd(before), inst);
        discard_under(body, inst, condition, wanted);
    }
}

/// Returns the origin of one component of a value, through vectors and copies.
fn scalar_behind(body: &Body, mut def: Def, mut component: u8) -> AluSrc {
    // Bounded: a chain of copies as long as the program must not cost quadratic time.
    for _ in 0..8 {
        let inst = body.def_inst(def);
        let source = match body.alu_op(inst) {
            Some(AluOp::Mov) => {
                let source = body.source(inst, 0);
                component = body.swizzle(source).get(usize::from(component));
                source
            }
            Some(op) if op.is_vec_or_mov() => {
                let source = body.source(inst, usize::from(component));
                component = body.swizzle(source).get(0);
                source
            }
            _ => break,
        };
        def = body.src_def(source);
    }
    AluSrc::component(def, component)
}
