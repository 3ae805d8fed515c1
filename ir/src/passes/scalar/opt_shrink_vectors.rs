//! Removes unneeded components of vectors.
//!
//! ```text
//! before:                                        after:
//!     32x4 %1 = phi: %a, %2                          32 %1 = phi: %a.x, %2
//!     32x4 %3 = iadd %1.xxxx, %c.xxxx                32 %2 = iadd %1, %c.x
//!     32x4 %2 = vec4 %3.x, %1.y, %1.z, %1.w
//!     (only %1.x is read)
//! ```
//!
//! A component is needed if something other than a copy needs it: components are followed backwards from instructions
//! with effects, conditions, and all non-ALU instructions, through component-wise operations, vectors and phis.
//! Components that only feed themselves around a loop are not needed.
//!
//! - If one component of a phi, operation or constant is needed, only that one is kept.
//! - Otherwise components after the last needed one are removed. Inner ones are kept, so that the others keep their
//!   positions in a register; in a vector they become undefined.
//! - A value without needed components is removed.
//!
//! Linear in the uses times the components.

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;

use crate::alu::AluOp;
use crate::body::{Body, InstData, MAX_COMPONENTS, Shape, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, User};
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_shrink_vectors(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= shrink(body);
    }
    progress
}

/// Needed components of each value, as a mask.
type NeededComponents = SecondaryMap<Def, u16>;

fn full_mask(body: &Body, def: Def) -> u16 {
    (1u32 << body.num_components(def)).wrapping_sub(1) as u16
}

/// Returns whether the components of the result of an instruction are tracked separately.
fn is_followed(body: &Body, inst: Inst) -> bool {
    matches!(body.inst(inst), InstData::Alu { .. } | InstData::Phi | InstData::LoadConst { .. } | InstData::Undef)
}

/// Walks in reverse program order, so that users are visited before definitions. Where that fails (phis of loops) a
/// worklist continues.
fn find_needed(body: &Body) -> NeededComponents {
    let mut search =
        NeededSearch { needed: SecondaryMap::new(), seen: vec![false; body.num_insts()], work: Vec::new() };
    search.needed.resize(body.num_defs());
    let mut next_block = Some(body.body_list().last);
    while let Some(block) = next_block {
        next_block = body.prev_block(block);
        if let Some(id) = body.following_if(block) {
            search.need(body, body.src_def(body.if_condition(id)), u16::MAX);
        }
        let mut next = body.last_inst(block);
        while let Some(inst) = next {
            next = body.prev_inst(inst);
            search.seen[inst.as_u32() as usize] = true;
            if !is_followed(body, inst) {
                for source in body.sources(inst) {
                    search.need(body, body.src_def(source), u16::MAX);
                }
            } else if let Some(def) = body.inst_def(inst).filter(|&def| search.needed[def] != 0) {
                search.need_sources(body, inst, search.needed[def]);
            }
            while let Some((inst, new)) = search.work.pop() {
                search.need_sources(body, inst, new);
            }
        }
    }
    search.needed
}

struct NeededSearch {
    needed: NeededComponents,
    /// Instructions that the walk has visited.
    seen: Vec<bool>,
    /// Visited instructions of which more components turned out to be needed, and the mask of these.
    work: Vec<(Inst, u16)>,
}

impl NeededSearch {
    #[inline(always)]
    fn need(&mut self, body: &Body, def: Def, mask: u16) {
        let known = &mut self.needed[def];
        let new = mask & full_mask(body, def) & !*known;
        if new == 0 {
            return;
        }
        *known |= new;
        let inst = body.def_inst(def);
        if self.seen[inst.as_u32() as usize] && is_followed(body, inst) {
            self.work.push((inst, new));
        }
    }

    /// Marks the components of operands that some components of an instruction's result need.
    fn need_sources(&mut self, body: &Body, inst: Inst, mask: u16) {
        match *body.inst(inst) {
            InstData::Phi => {
                for source in body.sources(inst) {
                    self.need(body, body.src_def(source), mask);
                }
            }
            InstData::Alu { op, .. } => {
                let is_vec = op.is_vec();
                for (number, source) in body.sources(inst).enumerate() {
                    let swizzle = body.swizzle(source);
                    let read = if is_vec {
                        (mask >> number & 1) << swizzle.get(0)
                    } else if is_per_component(op, number) {
                        select_mask(swizzle, mask)
                    } else {
                        let count = body.alu_src_components(inst, number);
                        select_mask(swizzle, (1u32 << count).wrapping_sub(1) as u16)
                    };
                    self.need(body, body.src_def(source), read);
                }
            }
            _ => {}
        }
    }
}

/// Returns the components that a swizzle selects for the components of a mask.
fn select_mask(swizzle: Swizzle, mask: u16) -> u16 {
    let (mut left, mut read) = (mask, 0);
    while left != 0 {
        read |= 1 << swizzle.get(left.trailing_zeros() as usize);
        left &= left - 1;
    }
    read
}

fn is_per_component(op: AluOp, number: usize) -> bool {
    let info = op.info();
    info.output_size == 0 && info.input_sizes.get(number) == Some(&0)
}

/// The components of a value to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Plan {
    /// All components.
    #[default]
    Keep,
    /// One component.
    Scalar(u8),
    /// The first components.
    First(u8),
}

impl Plan {
    fn of(body: &Body, inst: Inst, def: Def, needed: u16) -> Plan {
        let count = body.num_components(def);
        let is_sized = match body.alu_op(inst) {
            Some(op) => op.info().output_size != 0 && !op.is_vec(),
            None => false,
        };
        if needed == full_mask(body, def) || needed == 0 || is_sized {
            return Plan::Keep;
        }
        if needed.count_ones() == 1 {
            return Plan::Scalar(needed.trailing_zeros() as u8);
        }
        let wanted = 16 - needed.leading_zeros() as u8;
        // Vectors exist for some numbers of components only.
        match (wanted..count).find(|&n| AluOp::vec(n).is_some()) {
            Some(n) => Plan::First(n),
            None => Plan::Keep,
        }
    }

    fn components(self) -> Option<(u8, u8)> {
        match self {
            Plan::Keep => None,
            Plan::Scalar(component) => Some((component, 1)),
            Plan::First(count) => Some((0, count)),
        }
    }

    /// Converts a swizzle of the old value to one of the new value. Unneeded components are arbitrary.
    fn swizzle(self, old: Swizzle) -> Swizzle {
        match self {
            Plan::Keep => old,
            Plan::Scalar(_) => Swizzle::replicate(0),
            Plan::First(count) => (0..MAX_COMPONENTS).fold(old, |s, i| if s.get(i) < count { s } else { s.with(i, 0) }),
        }
    }
}

fn shrink(body: &mut Body) -> bool {
    let needed = find_needed(body);
    let mut dead: Vec<Inst> = Vec::new();
    let mut planned: Vec<(Inst, Def, Plan)> = Vec::new();
    let mut progress = false;
    let mut next_block = Some(body.start_block());
    while let Some(block) = next_block {
        next_block = body.next_block(block);
        let mut next = body.first_inst(block);
        while let Some(inst) = next {
            next = body.next_inst(inst);
            let Some(def) = body.inst_def(inst).filter(|_| is_followed(body, inst)) else { continue };
            let needed = needed[def];
            if needed == full_mask(body, def) {
                continue;
            }
            if needed == 0 {
                // Undefined values may still replace unneeded components.
                if !matches!(body.inst(inst), InstData::Undef) {
                    dead.push(inst);
                }
                continue;
            }
            progress |= forget_inner(body, inst, needed);
            let plan = Plan::of(body, inst, def, needed);
            if plan != Plan::Keep {
                planned.push((inst, def, plan));
            }
        }
    }
    progress |= !dead.is_empty();
    body.remove_insts(&dead);

    if planned.is_empty() {
        return progress;
    }
    let mut plans: SecondaryMap<Def, Plan> = SecondaryMap::new();
    plans.resize(body.num_defs());
    for &(inst, def, plan) in &planned {
        plans[def] = plan;
        if let Some((first, count)) = plan.components() {
            shrink_inst(body, inst, def, first, count);
        }
    }
    for &(_, def, plan) in &planned {
        let mut next = body.first_use(def);
        while let Some(source) = next {
            next = body.next_use(source);
            // Phis are handled below; of the other users, only ALU instructions may use a part of a value.
            if matches!(body.user(source), User::Inst(user) if body.alu_op(user).is_some()) {
                body.set_swizzle(source, plan.swizzle(body.swizzle(source)));
            }
        }
    }
    for (phi, _, plan) in planned {
        let Some((first, count)) = plan.components().filter(|_| body.is_phi(phi)) else { continue };
        let selected = (0..count).fold(Swizzle(0), |s, i| s.with(usize::from(i), first + i));
        for source in body.sources(phi) {
            let value = body.src_def(source);
            if plans[value] != plan {
                let operand = AluSrc::new(value, plans[value].swizzle(selected));
                let cursor = Cursor::before_jump(body, body.phi_predecessor(source));
                let moved = Builder::new(body, cursor).mov(operand, count);
                body.set_src(source, moved);
            }
        }
    }
    true
}

/// Makes unneeded components of a vector undefined.
fn forget_inner(body: &mut Body, inst: Inst, needed: u16) -> bool {
    if !body.alu_op(inst).is_some_and(AluOp::is_vec) {
        return false;
    }
    let mut undef = None;
    for number in (0..body.num_sources(inst)).filter(|number| needed >> number & 1 == 0) {
        let source = body.source(inst, number);
        if matches!(body.inst(body.src_inst(source)), InstData::Undef) {
            continue;
        }
        let bit_size = body.bit_size(body.src_def(source));
        let undef = *undef.get_or_insert_with(|| Builder::new(body, Cursor::Before(inst)).undef(1, bit_size));
        body.set_src(source, undef);
        body.set_swizzle(source, Swizzle::replicate(0));
    }
    undef.is_some()
}

/// Keeps `count` components of an instruction's result, starting at `first`. The sources of phis are handled later.
fn shrink_inst(body: &mut Body, inst: Inst, def: Def, first: u8, count: u8) {
    let bit_size = body.bit_size(def);
    match *body.inst(inst) {
        InstData::Alu { op, flags } if op.is_vec() => {
            if first != 0 {
                let source = body.source(inst, usize::from(first));
                let (value, swizzle) = (body.src_def(source), body.swizzle(source));
                let only = body.source(inst, 0);
                body.set_src(only, value);
                body.set_swizzle(only, swizzle);
            }
            for number in (usize::from(count)..body.num_sources(inst)).rev() {
                body.remove_source(inst, number);
            }
            let op = if count == 1 { AluOp::Mov } else { AluOp::vec(count).unwrap_or(op) };
            body.set_inst(inst, InstData::Alu { op, flags });
        }
        InstData::Alu { op, .. } => {
            for (number, source) in body.sources(inst).enumerate() {
                if is_per_component(op, number) {
                    let old = body.swizzle(source);
                    let select = |s: Swizzle, i: u8| s.with(usize::from(i), old.get(usize::from(first + i)));
                    body.set_swizzle(source, (0..count).fold(Swizzle(0), select));
                }
            }
        }
        InstData::LoadConst { .. } => {
            let values: ArrayVec<u64, MAX_COMPONENTS> =
                (first..first + count).map(|i| body.constant_component(def, usize::from(i)).unwrap_or(0)).collect();
            let start = body.push_constants(&values);
            body.set_inst(inst, InstData::LoadConst { start });
        }
        _ => {}
    }
    body.set_shape(def, Shape::new(count, bit_size));
}
