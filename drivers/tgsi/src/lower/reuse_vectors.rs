//! Vectors whose components another vector of the same block has are that one, swizzled.
//!
//! ```text
//! 32x3 %4 = vec3 %1, %2, %3             32x3 %4 = vec3 %1, %2, %3
//! 32x3 %5 = vec3 %2, %3, %1       =>    32x3 %5 = mov %4.yzx
//! ```
//!
//! Only where readers of both are ALU instructions, which swizzle freely: what goes elsewhere is best made there. Each
//! vector is compared with the last few that share its first component.

use rustc_hash::FxHashMap;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader, Swizzle, User};

/// Vectors with a component in common that are looked at.
const WINDOW: usize = 8;

type Component = (Def, u8);

/// Replaces. Returns whether anything changed.
pub(crate) fn reuse_vectors(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            let mut vectors: FxHashMap<Component, Vec<Inst>> = FxHashMap::default();
            for inst in body.insts_vec(block) {
                let Some(parts) = components(body, inst) else { continue };
                let known = vectors.get(&parts[0]).map_or(&[][..], Vec::as_slice);
                if let Some(swizzle) = known.iter().rev().take(WINDOW).find_map(|&other| within(body, &parts, other))
                    && let Some(def) = body.inst_def(inst)
                {
                    let count = body.num_components(def);
                    let new = Builder::new(body, Cursor::Before(inst)).mov(swizzle, count);
                    body.replace_all_uses(def, new);
                    body.remove_inst(inst);
                    progress = true;
                    continue;
                }
                for part in parts {
                    vectors.entry(part).or_default().push(inst);
                }
            }
        }
    }
    progress
}

/// The components of a vector of 32 bits that only ALU instructions read.
fn components(body: &Body, inst: Inst) -> Option<arrayvec::ArrayVec<Component, 4>> {
    body.alu_op(inst).filter(|op| op.is_vec())?;
    let def = body.inst_def(inst)?;
    let is_alu = |user: User| matches!(user, User::Inst(user) if body.alu_op(user).is_some());
    if body.bit_size(def) != 32 || body.num_sources(inst) > 4 || !body.uses_of(def).all(|s| is_alu(body.user(s))) {
        return None;
    }
    let parts = (0..body.num_sources(inst)).map(|number| {
        let source = body.source(inst, number);
        (body.src_def(source), body.swizzle(source).get(0))
    });
    Some(parts.collect())
}

/// The components as a swizzle of another vector.
fn within(body: &Body, parts: &[Component], other: Inst) -> Option<AluSrc> {
    let others = components(body, other)?;
    let mut swizzle = [0u8; 4];
    for (channel, part) in parts.iter().enumerate() {
        swizzle[channel] = others.iter().position(|other| other == part)? as u8;
    }
    Some(AluSrc::new(body.inst_def(other)?, Swizzle::new(&swizzle)))
}
