//! Replaces uses of the sources of a `vecN` by uses of the vector.
//!
//! ```text
//! 32   %3 = fadd %1, %2                           32   %3 = fadd %1, %2
//! 32x2 %4 = vec2 %3, %1.x                  =>     32x2 %4 = vec2 %3, %1.x
//! 32   %5 = fmul %3, %2                           32   %5 = fmul %4.x, %2
//! ```
//!
//! Must run right before [`lower_vec_to_regs`](crate::lower_vec_to_regs()), which writes a source of a vector directly
//! into the register if it has no other use. (`nir_move_vec_src_uses_to_dest`.)
//!
//! A use of a value `v` is replaced by the vector if
//!
//! 1. the user is an ALU instruction: intrinsics, textures, phis and `if`s read whole values;
//! 2. the vector dominates the user, and is not the user itself;
//! 3. all components that it reads of `v` are in the vector. If a component occurs several times the first one is
//!    taken, and of several such vectors the first one in program order (at most [`MAX_VECTORS`] are considered);
//! 4. the vector does not only feed an output store: such a vector is often written to the output directly;
//! 5. `v` is not a constant, if [`MoveVecSrcOptions::skip_constants`] is set: backends with constant operands would
//!    replace a free operand by a register. Undefined values are never replaced;
//! 6. `v` is not defined by a `vecN`: such a value already has a register;
//! 7. `v` has at most [`MoveVecSrcOptions::max_bit_size`] bits: the uses of the sources of a vector that does not
//!    become a register are not replaced.
//!
//! The replacement is always correct, since the component of the vector *is* the value. Linear in the sources, as the
//! number of vectors considered per use is limited.

use tgsi_ir::analysis::{Dominance, InstOrder};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Def, Inst, InstData, Shader, Swizzle, Use, User};

/// The maximum number of vectors with the same source that are considered for a use.
pub const MAX_VECTORS: usize = 8;

/// The uses that are not replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoveVecSrcOptions {
    /// Keep uses of constants (Intel; Midgard, where constants are embedded in the code).
    pub skip_constants: bool,
    /// Keep uses of values with more bits. 32 for backends that keep two 64-bit components in a register.
    pub max_bit_size: u8,
}

impl Default for MoveVecSrcOptions {
    fn default() -> MoveVecSrcOptions {
        MoveVecSrcOptions { skip_constants: false, max_bit_size: 64 }
    }
}

/// Replaces uses of the sources of vectors by the vectors, see the [module](self). Returns whether anything changed.
pub fn move_vec_src_uses_to_dest(shader: &mut Shader, options: MoveVecSrcOptions) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        // Sources change, components do not: these analyses stay valid.
        let (order, dominance) = (body.inst_order(), body.dominance());
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                if let Some(def) = body.inst_def(inst)
                    && may_look_for(body, inst, def, options)
                {
                    progress |= move_uses(body, &order, &dominance, def);
                }
            }
        }
    }
    progress
}

fn may_look_for(body: &Body, inst: Inst, def: Def, options: MoveVecSrcOptions) -> bool {
    let skipped = match body.inst(inst) {
        InstData::Undef => true,
        InstData::LoadConst { .. } => options.skip_constants,
        InstData::Alu { op, .. } => op.is_vec(),
        _ => false,
    };
    !skipped && body.bit_size(def) <= options.max_bit_size
}

/// A vector and the components of a value in it.
struct Vector {
    inst: Inst,
    result: Def,
    /// For each component of the value the first component of the vector that holds it.
    components: [Option<u8>; 16],
}

fn move_uses(body: &mut Body, order: &InstOrder, dominance: &Dominance, def: Def) -> bool {
    let mut vectors: Vec<Inst> = Vec::new();
    let mut readers: Vec<Use> = Vec::new();
    for source in body.uses_of(def) {
        let Some(user) = body.user(source).inst() else { continue };
        match body.alu_op(user) {
            Some(op) if op.is_vec() => {
                vectors.push(user);
                readers.push(source);
            }
            Some(_) => readers.push(source),
            None => {}
        }
    }
    if vectors.is_empty() || readers.len() == vectors.len() && vectors.len() == 1 {
        return false;
    }
    vectors.sort_unstable_by_key(|&inst| order.index(inst));
    vectors.dedup();
    let vectors: Vec<Vector> = vectors.into_iter().filter_map(|inst| vector(body, inst, def)).collect();
    let mut progress = false;
    for reader in readers {
        let before = |v: &&Vector| comes_before(body, order, dominance, v.inst, reader);
        let fits =
            vectors.iter().take(MAX_VECTORS).filter(before).find_map(|v| Some((v.result, moved(body, reader, v)?)));
        if let Some((result, swizzle)) = fits {
            body.set_src(reader, result);
            body.set_swizzle(reader, swizzle);
            progress = true;
        }
    }
    progress
}

/// Returns the components of a vector that hold a value; none if the vector only feeds an output store.
fn vector(body: &Body, inst: Inst, def: Def) -> Option<Vector> {
    let result = body.inst_def(inst)?;
    if let Some(only) = body.single_use(result)
        && is_output_store(body, body.user(only))
    {
        return None;
    }
    let mut components = [None; 16];
    for (number, source) in body.sources(inst).enumerate() {
        if body.src_def(source) == def
            && let Some(slot) = components.get_mut(usize::from(body.swizzle(source).get(0)))
        {
            slot.get_or_insert(number as u8);
        }
    }
    Some(Vector { inst, result, components })
}

fn is_output_store(body: &Body, user: User) -> bool {
    let Some(inst) = user.inst() else { return false };
    match body.intrinsic(inst) {
        Some(IntrinsicOp::StoreOutput) => true,
        Some(IntrinsicOp::StoreDeref) => body.deref_modes(body.src(inst, 0)) == VariableModes::SHADER_OUT,
        _ => false,
    }
}

/// Whether a vector dominates a use.
fn comes_before(body: &Body, order: &InstOrder, dominance: &Dominance, vector: Inst, source: Use) -> bool {
    let Some(reader) = body.user(source).inst() else { return false };
    let (Some(made), Some(read)) = (body.inst_block(vector), body.inst_block(reader)) else { return false };
    if made == read { order.index(vector) < order.index(reader) } else { dominance.dominates(made, read) }
}

/// Returns the swizzle for a use to read the vector instead; none if it reads a component that the vector does not
/// have.
fn moved(body: &Body, source: Use, vector: &Vector) -> Option<Swizzle> {
    let reader = body.user(source).inst()?;
    let old = body.swizzle(source);
    let components = body.alu_src_components(reader, body.source_number(source));
    let mut selectors = [0u8; 16];
    for (component, selector) in selectors.iter_mut().enumerate().take(components) {
        *selector = (*vector.components.get(usize::from(old.get(component)))?)?;
    }
    Some(Swizzle::new(&selectors[..components]))
}
