//! Lowers `vecN` instructions to masked writes of a register.
//!
//! ```text
//! 32   %3 = fadd %1, %2                           32x2 %3 = fadd %1.xx, %2.xx
//! 32   %4 = fmul %1, %2                                     @store_reg (%3, %r) (wrmask=x)
//! 32x2 %5 = vec2 %3, %4                    =>     32x2 %4 = fmul %1.xx, %2.xx
//! 32x2 %6 = ineg %5                                         @store_reg (%4, %r) (wrmask=y)
//!                                                 32x2 %7 = @load_reg (%r)
//!                                                 32x2 %6 = ineg %7
//! ```
//!
//! A source of the vector is *coalesced* if the vector is the only user of its value and the value is defined by a
//! component-wise ALU instruction: the instruction is widened and stores into the register itself. Every other source
//! is copied by a mov (one for all components of the same value). Undefined sources write nothing. A vector of
//! components of a single value is only a swizzle.
//!
//! Storing at the coalesced instruction, before the vector, is not a hazard: the register is new. The trivialisation
//! handles the remaining hazards.

use log::trace;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, InstData, Shader, Shape, Swizzle, User};

/// Whether an instruction may be widened to write some components of a vector: `(body, instruction, write mask)`.
pub type CoalesceFilter<'a> = &'a dyn Fn(&Body, Inst, u32) -> bool;

/// Lowers every `vecN`. `filter` (none: everything) decides whether an instruction may write given components of a
/// vector directly. Returns whether there were any vectors.
pub fn lower_vec_to_regs(shader: &mut Shader, filter: Option<CoalesceFilter<'_>>) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                if body.alu_op(inst).is_some_and(AluOp::is_vec) {
                    lower_vec(body, inst, filter);
                    progress = true;
                }
            }
        }
    }
    progress
}

fn lower_vec(body: &mut Body, vec: Inst, filter: Option<CoalesceFilter<'_>>) {
    let Some(result) = body.inst_def(vec) else { return };
    let shape = body.shape(result);
    let count = usize::from(shape.num_components);
    let sources: Vec<(Def, u8)> = body.sources(vec).map(|s| (body.src_def(s), body.swizzle(s).get(0))).collect();
    if sources.iter().all(|s| s.0 == sources[0].0) {
        let swizzle = Swizzle::new(&sources.iter().map(|s| s.1).collect::<Vec<_>>());
        let mut builder = Builder::new(body, Cursor::Before(vec));
        let moved = builder.alu_sized(AluOp::Mov, shape.num_components, &[AluSrc::new(sources[0].0, swizzle)]);
        body.replace_all_uses(result, moved);
        body.remove_inst(vec);
        return;
    }

    let handle = Builder::new(body, Cursor::Before(vec)).decl_reg(shape, 0);
    // Replaces coalesced sources of the vector until the vector is removed.
    let placeholder = Builder::new(body, Cursor::Before(vec)).undef(1, shape.bit_size);
    let mut done = 0u32;
    let mut coalesced = 0;
    for first in 0..count {
        if done & (1 << first) != 0 {
            continue;
        }
        let value = sources[first].0;
        let mask = (first..count).filter(|&i| sources[i].0 == value).fold(0, |m, i| m | 1 << i);
        done |= mask;
        if matches!(body.inst(body.def_inst(value)), InstData::Undef) {
            continue;
        }
        if can_coalesce(body, vec, value, mask, filter) {
            coalesce(body, vec, value, mask, (shape, handle), &sources, placeholder);
            coalesced += 1;
        } else {
            // Components outside the mask select component 0.
            let swizzle = Swizzle::new(
                &(0..count).map(|i| if mask & (1 << i) != 0 { sources[i].1 } else { 0 }).collect::<Vec<_>>(),
            );
            let mut builder = Builder::new(body, Cursor::Before(vec));
            let moved = builder.alu_sized(AluOp::Mov, shape.num_components, &[AluSrc::new(value, swizzle)]);
            builder.store_reg(moved, handle, 0, mask);
        }
    }
    replace_by_loads(body, result, handle);
    body.remove_inst(vec);
    body.remove_inst(body.def_inst(placeholder));
    trace!("lower_vec_to_regs: vec{count}, {coalesced} sources written directly");
}

/// Whether the producer of a source may write components of the vector directly.
fn can_coalesce(body: &Body, vec: Inst, value: Def, mask: u32, filter: Option<CoalesceFilter<'_>>) -> bool {
    if body.uses_of(value).any(|u| body.user(u) != User::Inst(vec)) {
        return false;
    }
    let producer = body.def_inst(value);
    let Some(op) = body.alu_op(producer) else { return false };
    (op.is_componentwise() || is_replicated(op)) && filter.is_none_or(|f| f(body, producer, mask))
}

/// Operations that compute one value for every component of the result.
fn is_replicated(op: AluOp) -> bool {
    matches!(
        op,
        AluOp::Fdot2Replicated
            | AluOp::Fdot3Replicated
            | AluOp::Fdot4Replicated
            | AluOp::FdphReplicated
            | AluOp::Fdot2MadReplicated
            | AluOp::Fdot3MadReplicated
            | AluOp::Fdot4MadReplicated
            | AluOp::Fdot2MadzReplicated
            | AluOp::Fdot3MadzReplicated
            | AluOp::Fdot4MadzReplicated
    )
}

/// Widens the producer of a value to the size of the vector, so that component i of the vector is computed in component
/// i, and stores the result right after.
fn coalesce(
    body: &mut Body,
    vec: Inst,
    value: Def,
    mask: u32,
    (shape, handle): (Shape, Def),
    sources: &[(Def, u8)],
    placeholder: Def,
) {
    let producer = body.def_inst(value);
    if body.alu_op(producer).is_some_and(|op| !is_replicated(op)) {
        for source in body.sources(producer) {
            let old = body.swizzle(source);
            let new: Vec<u8> = (0..usize::from(shape.num_components))
                .map(|i| if mask & (1 << i) != 0 { old.get(usize::from(sources[i].1)) } else { old.get(0) })
                .collect();
            body.set_swizzle(source, Swizzle::new(&new));
        }
    }
    // The vector must stop using the value before the value changes its shape.
    for source in body.sources(vec) {
        if body.src_def(source) == value {
            body.set_src(source, placeholder);
            body.set_swizzle(source, Swizzle::IDENTITY);
        }
    }
    body.set_shape(value, shape);
    Builder::new(body, Cursor::After(producer)).store_reg(value, handle, 0, mask);
}

/// Replaces each use of a value by a load right before the user. Uses in one instruction share the load.
fn replace_by_loads(body: &mut Body, value: Def, handle: Def) {
    let mut last: Option<(User, Def)> = None;
    let mut readers = body.uses_vec(value);
    readers.sort_by_key(|&u| match body.user(u) {
        User::Inst(inst) => (0, inst.as_u32(), u),
        User::If(id) => (1, id.as_u32(), u),
    });
    for reader in readers {
        let user = body.user(reader);
        let load = match last {
            Some((same, load)) if same == user && !user.inst().is_some_and(|i| body.is_phi(i)) => load,
            _ => {
                let cursor = Cursor::before_use(body, reader);
                Builder::new(body, cursor).load_reg(handle, 0)
            }
        };
        last = Some((user, load));
        body.set_src(reader, load);
    }
}
