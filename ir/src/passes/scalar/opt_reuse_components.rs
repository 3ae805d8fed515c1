//! Replaces values by components that a wider instruction computes anyway.
//!
//! ```text
//! before:                                     after:
//!     32x4 %2 = fmul %0, %1.xxxx                  32x4 %2 = fmul %0, %1.xxxx
//!     32x2 %3 = fmul %0.zx, %1.xx
//!     32   %4 = fadd %3.x, %3.y                   32   %4 = fadd %2.z, %2.x
//! ```
//!
//! Handles component-wise ALU instructions: an instruction is removed if a single instruction that dominates it
//! computes an equal of each of its components, in any order. Equality and flags are as in
//! [`opt_cse`](mod@crate::passes::scalar::opt_cse), which merges whole instructions. Uses that cannot select components
//! get a `mov`. An instruction is kept if it is used by a phi or an instruction without a result: the components would
//! have to be copied. It is also kept if targets combine it with its use (negations, products that are added to
//! something): with another operand the use would cost an instruction. But users of a kept value are compared as if
//! they used the wider value, so that the last of a sequence of such instructions is removed, and the others become
//! dead.
//!
//! One walk in program order with a hash table of the components of vectors; of equal ones the last is kept.

use crate::algebra::replace_uses;
use cranelift_entity::SecondaryMap;

use crate::alu::AluOp;
use crate::body::{AluFlags, Body, InstData, MAX_COMPONENTS, Swizzle};
use crate::builder::AluSrc;
use crate::entities::{Def, Inst, Use, User};
use crate::passes::scalar::opt_cse::{Table, WRAP, mix, source_hash, sources_hash, sources_match};
use crate::shader::Shader;

/// Initial capacity of the table, in vectors.
const EXPECTED: usize = 16;

/// See the [module](self).
pub fn opt_reuse_components(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= reuse_components(body);
    }
    progress
}

fn reuse_components(body: &mut Body) -> bool {
    let mut walk: Option<DominanceWalk> = None;
    let mut dominance = None;
    let mut removed: Vec<Inst> = Vec::new();
    let mut next_block = Some(body.start_block());
    while let Some(block) = next_block {
        next_block = body.next_block(block);
        let mut next = body.first_inst(block);
        while let Some(inst) = next {
            next = body.next_inst(inst);
            let Some(op) = body.alu_op(inst).filter(|&op| works_by_components(op)) else { continue };
            let Some(def) = body.inst_def(inst) else { continue };
            let count = body.num_components(def);
            if count == 1 && walk.is_none() {
                continue;
            }
            let walk = walk.get_or_insert_with(|| DominanceWalk::new(body));
            if walk.reads_a_single_use(body, inst) {
                walk.passed_over[inst.as_u32() as usize] = count > 1;
                continue;
            }
            let found = walk.table.get(walk.hash(body, op, inst, 0)).and_then(|other| {
                let (value, flags) = walk.components_in(body, other, inst)?;
                let dominance = dominance.get_or_insert_with(|| body.dominance());
                let dominates = body.inst_block(other).is_some_and(|from| dominance.dominates(from, block));
                (dominates && dominance.is_reachable(block)).then_some((other, value, flags))
            });
            let Some((other, value, flags)) = found else {
                if count > 1 {
                    walk.insert(body, inst);
                }
                continue;
            };
            let only = body.single_use(value.def).and_then(|source| body.user(source).inst());
            if needs_copy(body, def) || is_fusable(body, inst, op) {
                if body.alu(other) != Some((op, flags)) {
                    // The wider instruction lacks a guarantee, such as exactness.
                    continue;
                }
                walk.aliases[def] = Some(value);
            } else {
                body.set_inst(other, InstData::Alu { op, flags });
                replace_uses(body, def, value, inst);
                removed.push(inst);
            }
            if let Some(only) = only.filter(|only| std::mem::take(&mut walk.passed_over[only.as_u32() as usize])) {
                walk.insert(body, only);
            }
        }
    }
    body.remove_insts(&removed);
    !removed.is_empty()
}

/// Returns whether replacing a value requires a copy.
fn needs_copy(body: &Body, def: Def) -> bool {
    body.uses_of(def).any(|source| match body.user(source) {
        User::Inst(user) => body.is_phi(user) || body.inst_def(user).is_none(),
        User::If(_) => false,
    })
}

/// Returns whether targets combine an instruction with its only use, or with all its uses.
fn is_fusable(body: &Body, inst: Inst, op: AluOp) -> bool {
    let only_user = |inst: Inst| {
        let user = body.user(body.single_use(body.inst_def(inst)?)?).inst()?;
        Some((user, body.alu_op(user)?))
    };
    let is_zero = |source: Use| {
        let AluSrc { def, swizzle } = AluSrc::of(body, source);
        body.constant_component(def, usize::from(swizzle.get(0))) == Some(0)
    };
    match (op, only_user(inst)) {
        (AluOp::Fneg | AluOp::Fabs | AluOp::Ineg, _) => true,
        // Products in sums, and linear interpolation.
        (AluOp::Fmul, Some((_, AluOp::Fadd))) | (AluOp::Imul, Some((_, AluOp::Iadd))) => true,
        (AluOp::Fadd, Some((user, AluOp::Fmul))) => only_user(user).is_some_and(|(_, op)| op == AluOp::Fadd),
        // Comparisons converted to numbers, and selections by sign.
        (AluOp::Flt | AluOp::Fge | AluOp::Feq | AluOp::Fneu, Some((_, AluOp::B2f32))) => true,
        (AluOp::Flt, Some((_, AluOp::Bcsel))) => body.sources(inst).any(is_zero),
        _ => false,
    }
}

struct DominanceWalk {
    table: Table,
    /// Vectors with an operand that has no other use; they enter the table when that operand replaces another value.
    passed_over: Vec<bool>,
    /// For values that are kept, the equal components of a wider value: their users are compared by these.
    aliases: SecondaryMap<Def, Option<AluSrc>>,
}

impl DominanceWalk {
    fn new(body: &Body) -> DominanceWalk {
        DominanceWalk {
            table: Table::new(EXPECTED),
            passed_over: vec![false; body.num_insts()],
            aliases: SecondaryMap::new(),
        }
    }

    /// Returns whether an instruction has an operand with no other use and no alias, and so cannot have a duplicate.
    fn reads_a_single_use(&self, body: &Body, inst: Inst) -> bool {
        body.sources(inst).any(|source| {
            let def = body.src_def(source);
            body.is_single_use(source) && body.def_constant(def).is_none() && self.aliases[def].is_none()
        })
    }

    /// Inserts all components of a vector.
    fn insert(&mut self, body: &Body, inst: Inst) {
        let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return };
        for component in 0..body.num_components(def) {
            self.table.insert(self.hash(body, op, inst, component), inst);
        }
    }

    /// Returns the component of source `number` from which a component is computed.
    #[inline]
    fn operand(&self, body: &Body, inst: Inst, number: usize, component: u8) -> AluSrc {
        let AluSrc { def, swizzle } = AluSrc::of(body, body.source(inst, number));
        let component = swizzle.get(usize::from(component));
        match self.aliases[def] {
            Some(AluSrc { def, swizzle }) => AluSrc::component(def, swizzle.get(usize::from(component))),
            None => AluSrc::component(def, component),
        }
    }

    /// Returns a hash that is equal for equal components.
    fn hash(&self, body: &Body, op: AluOp, inst: Inst, component: u8) -> u64 {
        let seed = mix(op as u64, body.inst_def(inst).map_or(0, |def| body.bit_size(def)).into());
        let source = |number| source_hash(body, self.operand(body, inst, number, component), 1);
        sources_hash(op, seed, body.num_sources(inst), source)
    }

    /// Returns the components of one instruction among those of another, and the flags of both.
    fn components_in(&self, body: &Body, other: Inst, inst: Inst) -> Option<(AluSrc, AluFlags)> {
        let ((op, flags), (other_op, other_flags)) = (body.alu(inst)?, body.alu(other)?);
        let (def, other_def) = (body.inst_def(inst)?, body.inst_def(other)?);
        let (count, others) = (body.num_components(def), body.num_components(other_def));
        let fits = op == other_op
            && flags.0 & WRAP == other_flags.0 & WRAP
            && body.bit_size(def) == body.bit_size(other_def)
            && count <= others;
        if !fits {
            return None;
        }
        let mut swizzle = Swizzle(0);
        for component in 0..count {
            let equal = |&from: &u8| {
                let same = |a: usize, b: usize| {
                    self.operand(body, inst, a, component).equals(body, self.operand(body, other, b, from), 1)
                };
                sources_match(op, body.num_sources(inst), same)
            };
            swizzle = swizzle.with(component.into(), (0..others).find(equal)?);
        }
        let last = swizzle.get(usize::from(count.saturating_sub(1)));
        for component in usize::from(count)..MAX_COMPONENTS {
            swizzle = swizzle.with(component, last);
        }
        Some((AluSrc::new(other_def, swizzle), flags.union(other_flags)))
    }
}

/// Returns whether an opcode is component-wise and not just a copy.
fn works_by_components(op: AluOp) -> bool {
    op != AluOp::Mov && op.is_componentwise()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::shader::ShaderStage;

    #[test]
    fn subsets_permutations_and_chains() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (x, y) = (b.undef(4, 32), b.undef(1, 32));
        let factor = b.constant(32, &[1, 2, 3]);
        let two = b.constant(32, &[2]);
        let wide = b.alu_sized(AluOp::Imul, 4, &[x.into(), AluSrc::component(factor, 1)]);
        let sum = b.alu_sized(AluOp::Ior, 4, &[wide.into(), AluSrc::component(y, 0)]);
        let narrow = b.alu_sized(AluOp::Imul, 2, &[AluSrc::component(two, 0), AluSrc::new(x, Swizzle::new(&[2, 0]))]);
        let narrow_sum = b.alu_sized(AluOp::Ior, 2, &[AluSrc::component(y, 0), narrow.into()]);
        let other = b.alu_sized(AluOp::Imul, 2, &[x.into(), AluSrc::new(factor, Swizzle::new(&[1, 2]))]);
        let first = b.alu_sized(AluOp::Ior, 1, &[AluSrc::component(narrow_sum, 1), y.into()]);
        let kept = [sum, other].map(|def| b.alu_sized(AluOp::Ixor, 4, &[AluSrc::component(def, 1), y.into()]));
        assert!(opt_reuse_components(&mut shader));
        assert!(!opt_reuse_components(&mut shader));
        let body = shader.main();
        assert!(!body.is_def_live(narrow) && !body.is_def_live(narrow_sum));
        assert!(body.is_def_live(other) && kept.iter().all(|&def| body.is_def_live(def)));
        let source = AluSrc::of(body, body.source(body.def_inst(first), 0));
        assert_eq!((source.def, source.swizzle.get(0)), (sum, 0));
    }
}
