//! Merges vectors that share sources into one; each becomes a swizzle of it.
//!
//! ```text
//! 32x3 %4 = vec3 %1, %2, %3             32x3 %4 = vec3 %1, %2, %3
//! 32x3 %5 = vec3 %2, %3, %1       =>    32x3 %5 = mov %4.yzx
//!
//! 32x2 %3 = vec2 %1.x, %2.x             32x3 %5 = vec3 %1.x, %2.x, %2.y
//! 32x2 %4 = vec2 %1.x, %2.y       =>    32x2 %3 = mov %5.xy
//!                                       32x2 %4 = mov %5.xz
//! ```
//!
//! A vector takes a copy for each value in a separate register, so fewer vectors need fewer copies. Only for vectors
//! with uses that support swizzles: vectors for other uses are best built at the use. Each vector is compared with the
//! last few of the same block that share a source.

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader, Swizzle, User};

/// The maximum number of vectors with a common source that are considered.
const WINDOW: usize = 8;

type Component = (Def, u8);
type Components = ArrayVec<Component, 4>;

/// A vector of the current block.
struct Vector {
    inst: Inst,
    parts: Components,
    /// Its position in the block.
    place: u32,
}

/// Merges vectors. With `swizzled_lookups` texture instructions swizzle too. Returns whether anything changed.
pub(crate) fn reuse_vectors(shader: &mut Shader, swizzled_lookups: bool) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        // The positions of values in the current block, from 1; 0 for values defined before it.
        let mut places: SecondaryMap<Def, u32> = SecondaryMap::new();
        for block in body.blocks_vec() {
            // Most blocks do not have two vectors to compare.
            let is_candidate = |&inst: &Inst| components(body, inst, swizzled_lookups).is_some();
            if body.insts(block).filter(is_candidate).take(2).count() < 2 {
                continue;
            }
            places.resize(body.num_defs());
            let mut vectors: Vec<Vector> = Vec::new();
            let mut by_source: FxHashMap<Def, Vec<usize>> = FxHashMap::default();
            let insts = body.insts_vec(block);
            for (place, &inst) in (1..).zip(&insts) {
                if let Some(def) = body.inst_def(inst) {
                    places[def] = place;
                }
                let Some(parts) = components(body, inst, swizzled_lookups) else { continue };
                let known = parts
                    .iter()
                    .flat_map(|(def, _)| by_source.get(def).map_or(&[][..], Vec::as_slice).iter().rev().take(WINDOW));
                let place_of = |def: Def| if is_movable(body, def) { 0 } else { places[def] };
                let found =
                    known.copied().find_map(|number| Some((number, joined(&vectors[number], &parts, place_of)?)));
                if let Some((number, all)) = found {
                    for (def, _) in &parts {
                        move_before(body, *def, &vectors[number], &mut places);
                    }
                    join(body, &mut vectors[number], inst, &parts, all);
                    for (def, _) in parts {
                        let numbers = by_source.entry(def).or_default();
                        if !numbers.contains(&number) {
                            numbers.push(number);
                        }
                    }
                    progress = true;
                    continue;
                }
                for &(def, _) in &parts {
                    let numbers = by_source.entry(def).or_default();
                    if numbers.last() != Some(&vectors.len()) {
                        numbers.push(vectors.len());
                    }
                }
                vectors.push(Vector { inst, parts, place });
            }
            for inst in insts {
                if let Some(def) = body.inst_def(inst) {
                    places[def] = 0;
                }
            }
        }
    }
    progress
}

/// The components of a 32-bit vector, if all its uses support swizzles.
fn components(body: &Body, inst: Inst, swizzled_lookups: bool) -> Option<Components> {
    body.alu_op(inst).filter(|op| op.is_vec())?;
    let def = body.inst_def(inst)?;
    let swizzles = |user: User| {
        let User::Inst(user) = user else { return false };
        body.alu_op(user).is_some_and(|op| !op.is_vec()) || swizzled_lookups && body.tex(user).is_some()
    };
    if body.bit_size(def) != 32 || body.num_sources(inst) > 4 || !body.uses_of(def).all(|s| swizzles(body.user(s))) {
        return None;
    }
    let parts = (0..body.num_sources(inst)).map(|number| {
        let source = body.source(inst, number);
        (body.src_def(source), body.swizzle(source).get(0))
    });
    Some(parts.collect())
}

/// The components of both vectors, those of the first one first, if they fit and all are defined before the first
/// vector.
fn joined(first: &Vector, parts: &Components, place_of: impl Fn(Def) -> u32) -> Option<Components> {
    let mut all = first.parts.clone();
    for part in parts {
        if !all.contains(part) {
            (place_of(part.0) < first.place).then_some(())?;
            all.try_push(*part).ok()?;
        }
    }
    Some(all)
}

/// Whether a value is an input or constant at a constant index, which can be read anywhere.
fn is_movable(body: &Body, def: Def) -> bool {
    let inst = body.def_inst(def);
    body.def_constant(def).is_some()
        || matches!(
            body.intrinsic(inst),
            Some(IntrinsicOp::LoadInput | IntrinsicOp::LoadUbo | IntrinsicOp::LoadUniform)
        ) && body.sources(inst).all(|source| body.def_constant(body.src_def(source)).is_some())
}

/// Moves such a value before a vector that precedes it, together with its constant indices.
fn move_before(body: &mut Body, def: Def, vector: &Vector, places: &mut SecondaryMap<Def, u32>) {
    // A value moved before another vector has the position of that vector, where a third one may be.
    if places[def] < vector.place {
        return;
    }
    let inst = body.def_inst(def);
    for number in 0..body.num_sources(inst) {
        let index = body.src(inst, number);
        if places[index] >= vector.place {
            body.move_inst(Cursor::Before(vector.inst), body.def_inst(index));
            places[index] = vector.place - 1;
        }
    }
    body.move_inst(Cursor::Before(vector.inst), inst);
    places[def] = vector.place - 1;
}

fn join(body: &mut Body, first: &mut Vector, second: Inst, parts: &Components, all: Components) {
    let (Some(old), Some(def)) = (body.inst_def(first.inst), body.inst_def(second)) else { return };
    if all.len() > first.parts.len() {
        let sources: ArrayVec<AluSrc, 4> =
            all.iter().map(|&(def, component)| AluSrc::component(def, component)).collect();
        let count = body.num_components(old);
        let vector = Builder::new(body, Cursor::Before(first.inst)).vec(&sources);
        read_instead(body, old, AluSrc::new(vector, Swizzle::IDENTITY), count, first.inst);
        body.remove_inst(first.inst);
        first.inst = body.def_inst(vector);
        first.parts = all;
    }
    let Some(whole) = body.inst_def(first.inst) else { return };
    let mut swizzle = [0u8; 4];
    for (channel, part) in parts.iter().enumerate() {
        swizzle[channel] = first.parts.iter().position(|other| other == part).unwrap_or_default() as u8;
    }
    let count = body.num_components(def);
    read_instead(body, def, AluSrc::new(whole, Swizzle::new(&swizzle)), count, second);
    body.remove_inst(second);
}

/// Replaces a value by another one. Copy propagation would split the vector again for uses that do not support
/// swizzles.
fn read_instead(body: &mut Body, old: Def, new: AluSrc, count: u8, before: Inst) {
    let mut copy = None;
    for reader in body.uses_vec(old) {
        if matches!(body.user(reader), User::Inst(user) if body.alu_op(user).is_some()) {
            let composed = body.swizzle(reader).compose(new.swizzle);
            body.set_swizzle(reader, composed);
            body.set_src(reader, new.def);
        } else {
            let copy = *copy.get_or_insert_with(|| Builder::new(body, Cursor::Before(before)).mov(new, count));
            body.set_src(reader, copy);
        }
    }
}

#[cfg(test)]
mod tests {
    use tgsi_ir::ShaderStage;
    use tgsi_ir::alu::AluOp;
    use tgsi_ir::validate::validate;

    use super::*;

    #[test]
    fn what_was_moved_is_moved_on() {
        let mut shader = Shader::new(ShaderStage::Fragment);
        let mut b = Builder::at_end(shader.main_mut());
        let [a, b1, c, c1] = [1.0, 2.0, 3.0, 4.0].map(|number| b.f32_const(number));
        let parts = |x: Def, y: Def| [AluSrc::component(x, 0), AluSrc::component(y, 0)];
        let (first, second) = (b.vec(&parts(a, b1)), b.vec(&parts(c, c1)));
        // Moved before the second vector for the third, then before the first for the fourth.
        let d = b.f32_const(5.0);
        let (third, fourth) = (b.vec(&parts(c, d)), b.vec(&parts(a, d)));
        for (x, y) in [(first, second), (third, fourth)] {
            let sum = b.alu_sized(AluOp::Fadd, 2, &[x.into(), y.into()]);
            b.intrinsic(IntrinsicOp::StorePreamble, &[sum], &[], None);
        }
        validate(&shader).expect("a valid shader");
        assert!(reuse_vectors(&mut shader, true));
        validate(&shader).expect("a valid shader");
    }
}
