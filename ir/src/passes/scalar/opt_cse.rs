//! Merges instructions that compute the same value if one dominates the other.
//!
//! ```text
//! before:                        after:
//!     %2 = fmul %0, %1               %2 = fmul %0, %1
//!     %3 = fmul! %1, %0              (%2 has become exact)
//!     %4 = fadd %2, %3               %4 = fadd %2, %2
//! ```
//!
//! Candidates are ALU instructions, derefs, texture instructions, constants, phis (of one block), intrinsics that may
//! be reordered, derivatives, and `terminate`/`demote` with or without condition (a second one that is dominated by an
//! equal one has no effect).
//! - The first two sources of commutative opcodes may be in either order; only relevant swizzle entries are compared.
//!   Constants that ALU instructions use are equal if the components that are read have the same bits, whatever the
//!   other components of their vectors.
//! - `exact` and fast-math bits do not matter for equality; the remaining instruction gets those of both. No-wrap flags
//!   must be equal.
//! - Undefined values are never merged. Neither are volatile accesses; accesses that are marked as reorderable are.
//! - Loads through derefs are merged for memory that no shader writes (inputs, uniforms, constant memory).
//!
//! One walk in program order with a hash table. If an equal instruction in the table does not dominate, the new one
//! takes its place.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::alu::AluOp;
use crate::body::{AluFlags, Body, CastLayout, DerefKind, InstData};
use crate::builder::AluSrc;
use crate::entities::{Inst, Use};
use crate::intrinsics::{IntrinsicKind, IntrinsicOp};
use crate::shader::Shader;

/// Flags that must be equal.
pub(super) const WRAP: u16 = AluFlags::NO_SIGNED_WRAP.0 | AluFlags::NO_UNSIGNED_WRAP.0;

/// See the [module](self).
pub fn opt_cse(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= merge_equal(body);
    }
    progress
}

/// The last instruction with each hash.
pub(super) struct Table(HashTable<(u64, Inst)>);

impl Table {
    /// Creates a table for about `count` instructions; it grows on demand.
    pub(super) fn new(count: usize) -> Table {
        Table(HashTable::with_capacity(count))
    }

    /// Returns the instruction with a hash.
    pub(super) fn get(&self, hash: u64) -> Option<Inst> {
        self.0.find(spread(hash), |&(other, _)| other == hash).map(|&(_, inst)| inst)
    }

    /// Inserts an instruction, and returns the previous one with the same hash.
    pub(super) fn insert(&mut self, hash: u64, inst: Inst) -> Option<Inst> {
        match self.0.entry(spread(hash), |&(other, _)| other == hash, |&(other, _)| spread(other)) {
            Entry::Occupied(mut entry) => Some(std::mem::replace(&mut entry.get_mut().1, inst)),
            Entry::Vacant(entry) => {
                entry.insert((hash, inst));
                None
            }
        }
    }
}

/// The table uses the low and the highest bits of a hash; [`mix`] leaves the best ones high.
fn spread(hash: u64) -> u64 {
    hash.rotate_left(26)
}

/// Maximum initial capacity of the table.
const MAX_EXPECTED: usize = 1 << 12;

/// Runs the pass on one body.
pub(crate) fn merge_equal(body: &mut Body) -> bool {
    // In a single block, program order is dominance.
    let dominance = (!body.is_one_block()).then(|| body.dominance());
    let mut table = Table::new((body.num_insts() / 16).min(MAX_EXPECTED));
    let mut removed: Vec<Inst> = Vec::new();
    let mut next_block = Some(body.start_block());
    while let Some(block) = next_block {
        next_block = body.next_block(block);
        let mut next = body.first_inst(block);
        while let Some(inst) = next {
            next = body.next_inst(inst);
            if !is_candidate(body, inst) {
                continue;
            }
            let Some(other) = table.insert(hash(body, inst), inst) else { continue };
            // Within a block the one in the table comes first.
            let dominates = dominance.as_ref().is_none_or(|dominance| {
                body.inst_block(other).is_some_and(|b| dominance.dominates(b, block)) && dominance.is_reachable(block)
            });
            if !dominates || !insts_equal(body, other, inst) {
                continue;
            }
            if let (InstData::Alu { op, flags }, Some((_, lost))) = (*body.inst(other), body.alu(inst)) {
                body.set_inst(other, InstData::Alu { op, flags: flags.union(lost) });
            }
            if let (Some(def), Some(kept)) = (body.inst_def(inst), body.inst_def(other)) {
                body.replace_all_uses(def, kept);
            }
            removed.push(inst);
            table.insert(hash(body, other), other);
        }
    }
    body.remove_insts(&removed);
    !removed.is_empty()
}

#[inline]
fn is_candidate(body: &Body, inst: Inst) -> bool {
    match *body.inst(inst) {
        InstData::Alu { .. }
        | InstData::Tex(_)
        | InstData::LoadConst { .. }
        | InstData::Phi
        | InstData::Deref { .. } => true,
        InstData::Intrinsic { op, .. } => is_candidate_intrinsic(body, inst, op),
        InstData::Undef | InstData::Call { .. } | InstData::Jump(_) | InstData::ParallelCopy(_) => false,
    }
}

fn is_candidate_intrinsic(body: &Body, inst: Inst, op: IntrinsicOp) -> bool {
    let info = op.info();
    match op {
        IntrinsicOp::Terminate | IntrinsicOp::TerminateIf | IntrinsicOp::Demote | IntrinsicOp::DemoteIf => true,
        _ if info.kind == IntrinsicKind::Derivative => true,
        _ => info.can_eliminate && body.can_reorder(inst, op),
    }
}

pub(super) fn mix(hash: u64, value: u64) -> u64 {
    // The multiplier of the Fx hash; the rotation spreads the entropy that the product leaves in the low bits.
    (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Returns a hash of the first components that an ALU source reads: for constants, of their values.
#[inline]
pub(super) fn source_hash(body: &Body, AluSrc { def, swizzle }: AluSrc, count: usize) -> u64 {
    match body.def_constant(def) {
        Some(values) => {
            let value = |component: u8| values.get(usize::from(component)).copied().unwrap_or(0);
            swizzle.iter(count).fold(0, |hash, component| mix(hash, value(component)))
        }
        None => mix(u64::from(def.as_u32()), swizzle.first(count)),
    }
}

/// Returns a hash of the sources of an ALU instruction; for a commutative one, the order does not matter.
#[inline]
pub(super) fn sources_hash(op: AluOp, seed: u64, count: usize, source: impl Fn(usize) -> u64) -> u64 {
    let (first, seed) = match op.is_commutative01() {
        true => (2, mix(seed, source(0).wrapping_add(source(1)))),
        false => (0, seed),
    };
    (first..count).fold(seed, |hash, number| mix(hash, source(number)))
}

/// Returns whether the sources of two ALU instructions are equal; for a commutative one, in either order.
#[inline]
pub(super) fn sources_match(op: AluOp, count: usize, same: impl Fn(usize, usize) -> bool) -> bool {
    let first = if op.is_commutative01() { 2 } else { 0 };
    (first == 0 || same(0, 0) && same(1, 1) || same(0, 1) && same(1, 0)) && (first..count).all(|i| same(i, i))
}

/// Returns a hash that is equal for instructions that [`insts_equal`] considers equal.
#[inline]
pub(crate) fn hash(body: &Body, inst: Inst) -> u64 {
    let shape = body.inst_def(inst).map_or(0, |d| {
        let shape = body.shape(d);
        u64::from(shape.num_components) << 8 | u64::from(shape.bit_size)
    });
    let plain = |seed: u64| {
        body.sources(inst).fold(seed, |h, s| mix(mix(h, u64::from(body.src_def(s).as_u32())), body.payload(s)))
    };
    let hash = match *body.inst(inst) {
        InstData::Alu { op, .. } => {
            let source = |number| {
                let count = body.alu_src_components(inst, number);
                source_hash(body, AluSrc::of(body, body.source(inst, number)), count)
            };
            sources_hash(op, mix(1, op as u64), body.num_sources(inst), source)
        }
        InstData::Deref { kind, modes, ty } => {
            let kind = match kind {
                DerefKind::Var(variable) => mix(1, u64::from(variable.as_u32())),
                DerefKind::Array => 2,
                DerefKind::ArrayWildcard => 3,
                DerefKind::PtrAsArray => 4,
                DerefKind::Struct(field) => mix(5, u64::from(field)),
                DerefKind::Cast(cast) => {
                    let CastLayout { ptr_stride, align_mul, align_offset } = body.cast(cast);
                    mix(mix(mix(6, ptr_stride.into()), align_mul.into()), align_offset.into())
                }
            };
            plain(mix(mix(mix(2, kind), modes.0.into()), ty.as_u32().into()))
        }
        InstData::Tex(_) => {
            let seed = body.tex(inst).map_or(0, |t| mix(mix(3, t.op as u64), u64::from(t.texture_index)));
            plain(seed)
        }
        InstData::LoadConst { .. } => body.constant(inst).unwrap_or(&[]).iter().fold(4, |h, &v| mix(h, v)),
        InstData::Phi => {
            // The order of the sources does not matter.
            let block = body.inst_block(inst).map_or(0, |b| u64::from(b.as_u32()));
            let sum = body
                .sources(inst)
                .fold(0u64, |sum, s| sum.wrapping_add(mix(body.payload(s), u64::from(body.src_def(s).as_u32()))));
            mix(mix(5, block), sum)
        }
        InstData::Intrinsic { op, num_components, .. } => {
            let seed = mix(mix(6, op as u64), num_components.into());
            plain(body.inst_indices(inst).iter().fold(seed, |h, &i| mix(h, i as u32 as u64)))
        }
        InstData::Call { .. } | InstData::Jump(_) | InstData::Undef | InstData::ParallelCopy(_) => 7,
    };
    mix(hash, shape)
}

/// Returns whether two instructions compute the same value from the same sources, ignoring `exact` and fast-math.
pub(crate) fn insts_equal(body: &Body, a: Inst, b: Inst) -> bool {
    let shape = |inst: Inst| body.inst_def(inst).map(|d| body.shape(d));
    if shape(a) != shape(b) || body.num_sources(a) != body.num_sources(b) {
        return false;
    }
    match (*body.inst(a), *body.inst(b)) {
        (InstData::Alu { op: x, flags: f }, InstData::Alu { op: y, flags: g }) => {
            x == y && f.0 & WRAP == g.0 & WRAP && alu_sources_equal(body, x, a, b)
        }
        (InstData::LoadConst { .. }, InstData::LoadConst { .. }) => body.constant(a) == body.constant(b),
        (InstData::Phi, InstData::Phi) => {
            body.inst_block(a) == body.inst_block(b)
                && body.phi_sources(a).zip(body.phi_sources(b)).all(|((block, s), (other_block, t))| {
                    let t = if block == other_block { Some(t) } else { body.phi_source_for(b, block) };
                    t.is_some_and(|t| body.src_def(s) == body.src_def(t))
                })
        }
        (InstData::Tex(_), InstData::Tex(_)) => body.tex(a) == body.tex(b) && sources_equal(body, a, b),
        (InstData::Deref { kind, modes, ty }, InstData::Deref { kind: other, modes: other_modes, ty: other_ty }) => {
            body.deref_kinds_equal(kind, other) && modes == other_modes && ty == other_ty && sources_equal(body, a, b)
        }
        (
            InstData::Intrinsic { op, num_components, .. },
            InstData::Intrinsic { op: other, num_components: other_components, .. },
        ) => {
            op == other
                && num_components == other_components
                && body.inst_indices(a) == body.inst_indices(b)
                && sources_equal(body, a, b)
        }
        _ => false,
    }
}

fn sources_equal(body: &Body, a: Inst, b: Inst) -> bool {
    let same = |s: Use, t: Use| body.src_def(s) == body.src_def(t) && body.payload(s) == body.payload(t);
    body.sources(a).zip(body.sources(b)).all(|(s, t)| same(s, t))
}

fn alu_sources_equal(body: &Body, op: AluOp, a: Inst, b: Inst) -> bool {
    let same = |number: usize, other: usize| {
        let count = body.alu_src_components(a, number);
        count == body.alu_src_components(b, other)
            && AluSrc::of(body, body.source(a, number)).equals(body, AluSrc::of(body, body.source(b, other)), count)
    };
    sources_match(op, body.num_sources(a), same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::builder::AluSrc;
    use crate::shader::ShaderStage;

    #[test]
    fn commuted_and_exact() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (x, y) = (b.undef(4, 32), b.undef(4, 32));
        let one = b.alu(AluOp::Fmul, &[x, y]);
        b.flags = AluFlags::EXACT;
        let two = b.alu(AluOp::Fmul, &[y, x]);
        b.flags = AluFlags::NONE;
        let other = b.alu_sized(AluOp::Fmul, 4, &[AluSrc::component(y, 1), x.into()]);
        let (c, d) = (b.u32_const(3), b.u32_const(3));
        let sum = b.alu(AluOp::Fadd, &[one, two]);
        let consts = b.alu(AluOp::Iadd, &[c, d]);
        assert!(opt_cse(&mut shader));
        assert!(!opt_cse(&mut shader));
        let body = shader.main();
        let sources = |def| (body.src(body.def_inst(def), 0), body.src(body.def_inst(def), 1));
        assert_eq!(sources(sum), (one, one));
        assert_eq!(sources(consts), (c, c));
        assert!(body.alu(body.def_inst(one)).unwrap().1.is_exact());
        assert!(body.is_def_live(other) && body.is_def_live(x) && body.is_def_live(y));
    }

    #[test]
    fn sides_of_an_if_do_not_share() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let c = b.bool_const(true);
        let x = b.undef(1, 32);
        let id = b.push_if(c);
        let left = b.alu(AluOp::Fneg, &[x]);
        let again = b.alu(AluOp::Fneg, &[x]);
        b.push_else(id);
        let right = b.alu(AluOp::Fneg, &[x]);
        b.end_if(id);
        let after = b.alu(AluOp::Fneg, &[x]);
        assert!(opt_cse(&mut shader));
        let body = shader.main();
        assert!(body.is_def_live(left) && body.is_def_live(right) && body.is_def_live(after));
        assert!(!body.is_def_live(again));
    }

    #[test]
    fn a_second_terminate_goes() {
        let mut shader = Shader::new(ShaderStage::Fragment);
        let mut b = Builder::at_end(shader.main_mut());
        let c = b.undef(1, 1);
        let first = b.intrinsic(IntrinsicOp::TerminateIf, &[c], &[], None);
        let second = b.intrinsic(IntrinsicOp::TerminateIf, &[c], &[], None);
        assert!(opt_cse(&mut shader));
        assert!(shader.main().inst_block(first).is_some() && shader.main().inst_block(second).is_none());
    }
}
