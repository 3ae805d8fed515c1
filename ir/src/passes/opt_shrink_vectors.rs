//! Vectors lose the components that nothing needs.
//!
//! ```text
//! before:                                        after:
//!     32x4 %1 = phi: %a, %2                          32 %1 = phi: %a.x, %2
//!     32x4 %3 = iadd %1.xxxx, %c.xxxx                32 %2 = iadd %1, %c.x
//!     32x4 %2 = vec4 %3.x, %1.y, %1.z, %1.w
//!     (only %1.x is read)
//! ```
//!
//! A component is needed if something other than a copy needs it: components are followed backwards from instructions with effects, conditions, and
//! whatever is not ALU, through operations that work per component, vectors and phis. What only goes around a loop is needed by nobody.
//!
//! - Of a phi, an operation, a constant that one component is needed of, that one is left.
//! - Otherwise components behind the last one that is needed go. Inner ones stay, so that a register machine finds the others in their places; in a
//!   vector they become undefined.
//! - What no component is needed of goes.
//!
//! Linear in the uses times the components.

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::alu::AluOp;
use crate::body::{Body, InstData, MAX_COMPONENTS, Shape, SourceSpec, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, User};
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
type Needed = SecondaryMap<Def, u16>;

fn full_mask(body: &Body, def: Def) -> u16 {
    (1u32 << body.num_components(def)).wrapping_sub(1) as u16
}

/// Whether components of the result of an instruction are needed one by one.
fn is_followed(body: &Body, inst: Inst) -> bool {
    matches!(body.inst(inst), InstData::Alu { .. } | InstData::Phi | InstData::LoadConst { .. } | InstData::Undef)
}

/// Walks against the order of the text, so that an instruction is met behind its users. Where that fails (phis of loops) a work list goes on.
fn find_needed(body: &Body) -> Needed {
    let mut search = Search { needed: SecondaryMap::new(), seen: vec![false; body.num_insts()], work: Vec::new() };
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

struct Search {
    needed: Needed,
    /// Instructions that the walk has passed.
    seen: Vec<bool>,
    /// Instructions that more components are needed of than when the walk passed them, and which.
    work: Vec<(Inst, u16)>,
}

impl Search {
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

    /// What some components of the result of an instruction need.
    fn need_sources(&mut self, body: &Body, inst: Inst, mask: u16) {
        match *body.inst(inst) {
            InstData::Phi => {
                for source in body.sources(inst) {
                    self.need(body, body.src_def(source), mask);
                }
            }
            InstData::Alu { op, .. } => {
                let info = op.info();
                let is_vec = op.is_vec();
                for (number, source) in body.sources(inst).enumerate() {
                    let swizzle = body.swizzle(source);
                    let read = if is_vec {
                        (mask >> number & 1) << swizzle.get(0)
                    } else if info.output_size == 0 && info.input_sizes.get(number) == Some(&0) {
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

/// The components that a swizzle selects for the components of a mask.
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

/// What becomes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Plan {
    /// It stays.
    #[default]
    Keep,
    /// One component is left.
    Scalar(u8),
    /// The first components are left.
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
        // A vector exists for some numbers of components only.
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

    /// A selection of components of the old value as one of the new value. What nobody needs may be anything.
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
                // Undefined values may still stand for components that nothing needs.
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

    let mut plans: SecondaryMap<Def, Plan> = SecondaryMap::new();
    let mut changed: Vec<(Inst, Def, Def)> = Vec::with_capacity(planned.len());
    if !planned.is_empty() {
        plans.resize(body.num_defs());
    }
    for (inst, def, plan) in planned {
        if let Some((first, count)) = plan.components() {
            plans[def] = plan;
            let new = shrink_inst(body, inst, def, first, count);
            changed.push((inst, def, new));
        }
    }
    for &(_, def, new) in &changed {
        let mut next = body.first_use(def);
        while let Some(source) = next {
            // A source that is rewritten goes to another list.
            next = body.next_use(source);
            if let User::Inst(user) = body.user(source)
                && body.alu_op(user).is_some()
            {
                let swizzle = plans[def].swizzle(body.swizzle(source));
                body.set_src(source, new);
                body.set_swizzle(source, swizzle);
            }
        }
    }
    if changed.is_empty() {
        return progress;
    }
    let mut replacement: SecondaryMap<Def, PackedOption<Def>> = SecondaryMap::new();
    replacement.resize(body.num_defs());
    for &(_, def, new) in &changed {
        replacement[def] = new.into();
    }
    for &(inst, def, new) in changed.iter().filter(|c| body.is_phi(c.0)).collect::<Vec<_>>() {
        let Some((first, count)) = plans[def].components() else { continue };
        let sources: Vec<(Block, Def)> = body.phi_sources(inst).map(|(block, s)| (block, body.src_def(s))).collect();
        for (block, value) in sources {
            let selected = (0..count).fold(Swizzle(0), |s, i| s.with(usize::from(i), first + i));
            let operand = AluSrc::new(replacement[value].expand().unwrap_or(value), plans[value].swizzle(selected));
            let cursor = Cursor::before_jump(body, block);
            let source = Builder::new(body, cursor).mov(operand, count);
            body.add_phi_source(body.def_inst(new), block, source);
        }
    }
    let old: Vec<Inst> = changed.iter().map(|&(inst, ..)| inst).collect();
    body.remove_insts(&old);
    true
}

/// Makes components of a vector undefined that nothing needs.
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

/// The instruction for `count` components from `first` on, next to the whole; phis get their sources later.
fn shrink_inst(body: &mut Body, inst: Inst, def: Def, first: u8, count: u8) -> Def {
    let shape = Shape::new(count, body.bit_size(def));
    let moved = |swizzle: Swizzle| {
        (0..count).fold(Swizzle(0), |s, i| s.with(usize::from(i), swizzle.get(usize::from(first + i))))
    };
    match *body.inst(inst) {
        InstData::Alu { op, .. } if op.is_vec() => {
            let components: ArrayVec<AluSrc, MAX_COMPONENTS> = (first..first + count)
                .map(|i| {
                    let source = body.source(inst, usize::from(i));
                    AluSrc::component(body.src_def(source), body.swizzle(source).get(0))
                })
                .collect();
            let mut b = Builder::new(body, Cursor::Before(inst));
            match components.as_slice() {
                // A copy, even of a scalar: the value must be a new one.
                [one] => b.alu_sized(AluOp::Mov, 1, &[*one]),
                several => b.vec(several),
            }
        }
        data @ InstData::Alu { op, .. } => {
            let sources: ArrayVec<SourceSpec, MAX_COMPONENTS> = body
                .sources(inst)
                .enumerate()
                .map(|(number, source)| {
                    let swizzle = body.swizzle(source);
                    let swizzle = if is_per_component(op, number) { moved(swizzle) } else { swizzle };
                    SourceSpec::alu(body.src_def(source), swizzle)
                })
                .collect();
            let new = Builder::new(body, Cursor::Before(inst)).build(data, &sources, Some(shape));
            body.inst_def(new).unwrap_or(def)
        }
        InstData::LoadConst { .. } => {
            let values: ArrayVec<u64, MAX_COMPONENTS> =
                (first..first + count).map(|i| body.constant_component(def, usize::from(i)).unwrap_or(0)).collect();
            Builder::new(body, Cursor::Before(inst)).constant(shape.bit_size, &values)
        }
        InstData::Phi => match body.inst_block(inst) {
            Some(block) => Builder::new(body, Cursor::BlockStart(block)).phi(shape, &[]),
            None => def,
        },
        _ => Builder::new(body, Cursor::Before(inst)).undef(count, shape.bit_size),
    }
}
