//! Merges ALU instructions that do the same to different components, and phis, into wider ones: what scalarising took apart, and what never was a vector.
//!
//! ```text
//! 32   %3 = fadd %1.x, %2.x     =>     32x2 %7 = fadd %1.xy, %2.xy
//! 32   %4 = fadd %1.y, %2.y            32x2 %8 = fmul %7.xy, (2.0, 3.0)
//! 32   %5 = fmul %3, 2.0               32x2 %6 = vec2 %8.x, %8.y
//! 32   %6 = fmul %4, 3.0
//! 32x2 %6 = vec2 %5, %6
//! ```
//!
//! A callback says of each instruction how many components the target does at once (a power of two; 0: it stays). Merged are, up to that width,
//! - ALU instructions that work by components, but for `mov`, with the same opcode, and for each operand the same value, or constants in both. All components
//!   of an operand must come from one group of that width (constants aside), the same in both.
//! - phis of one block whose operands, looked for through `mov` and `vec`, are the same value or constants in both for each predecessor. For edges back, whose
//!   values are not reached yet, it is enough that the same kind of instruction makes them.
//!
//! The first of two must dominate the second; the wide one takes its place, which the operands of both reach. It is exact if one was, keeps the fast-math bits
//! of both, and promises of overflow what both do. ALU instructions that read one of the two read components of the wide one at once, so that what reads equal components
//! of values that were merged is merged too; others get them by a `mov`. What is too wide to be merged with what came before waits for what comes after.
//!
//! One walk in the order of the text with a hash table. An instruction in the table stays where its hash says even if its operands are merged: operands count by the value
//! that the first of the merged ones had. Cost: linear in uses times width.

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use super::opt_cse::Table;
use super::opt_narrow_selects::chase_component;
use crate::alu::AluOp;
use crate::body::{AluFlags, Body, InstData, MAX_COMPONENTS, Shape, SourceSpec, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, User};
use crate::shader::Shader;

/// See the [module](self). `width` says how many components of an instruction the target does at once, a power of two; 0: it stays.
pub fn opt_vectorize(shader: &mut Shader, width: &dyn Fn(&Body, Inst) -> u8) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= vectorize(body, width);
    }
    progress
}

fn vectorize(body: &mut Body, width: &dyn Fn(&Body, Inst) -> u8) -> bool {
    let dominance = (!body.is_one_block()).then(|| body.dominance());
    let mut table = Table::new(body.blocks().map(|block| body.insts(block).count()).sum());
    let mut walk = Walk { origins: SecondaryMap::new(), is_seen: SecondaryMap::new() };
    let mut progress = false;
    for block in body.blocks_vec() {
        if dominance.as_ref().is_some_and(|dominance| !dominance.is_reachable(block)) {
            continue;
        }
        for inst in body.insts_vec(block) {
            // Constants and moves that lost their reader may be gone.
            if body.inst_block(inst).is_none() {
                continue;
            }
            let Some(width) = Width::of(body, inst, width) else { continue };
            let Some(hash) = walk.hash(body, inst, width) else { continue };
            let Some(first) = table.insert(hash, inst) else { continue };
            let dominates = dominance
                .as_ref()
                .is_none_or(|dominance| body.inst_block(first).is_some_and(|other| dominance.dominates(other, block)));
            if !dominates || !walk.fit(body, first, inst, width) {
                continue;
            }
            let wide = if body.is_phi(inst) { merge_phis(body, first, inst) } else { merge_alu(body, first, inst) };
            if let Some((wide, def)) = wide {
                progress = true;
                walk.replace(body, [first, inst], def);
                table.insert(hash, wide);
            }
        }
        walk.is_seen[block] = true;
    }
    progress
}

/// How many components of an instruction the target does at once.
#[derive(Clone, Copy)]
struct Width(u8);

impl Width {
    /// None if the instruction is not one to be merged.
    fn of(body: &Body, inst: Inst, width: &dyn Fn(&Body, Inst) -> u8) -> Option<Width> {
        let def = body.inst_def(inst)?;
        let is_candidate = match *body.inst(inst) {
            InstData::Alu { op, .. } => {
                let info = op.info();
                op != AluOp::Mov && info.output_size == 0 && info.input_sizes.iter().all(|&size| size == 0)
            }
            InstData::Phi => true,
            _ => false,
        };
        if !is_candidate {
            return None;
        }
        let width = Width(width(body, inst));
        let fits = body.num_components(def) < width.0
            && (body.is_phi(inst)
                || (0..body.num_sources(inst)).all(|number| width.reads_one_group(body, inst, number)));
        fits.then_some(width)
    }

    fn reads_one_group(self, body: &Body, inst: Inst, number: usize) -> bool {
        let source = body.source(inst, number);
        let (swizzle, count) = (body.swizzle(source), body.alu_src_components(inst, number));
        body.def_constant(body.src_def(source)).is_some()
            || swizzle.iter(count).all(|component| self.group(component) == self.group(swizzle.get(0)))
    }

    /// The group of components that a component is in.
    fn group(self, component: u8) -> u8 {
        component / self.0.max(1)
    }
}

struct Walk {
    /// Of a value that merging made: that of the first of the merged instructions when the walk came to it.
    origins: SecondaryMap<Def, PackedOption<Def>>,
    /// Blocks that the walk has left.
    is_seen: SecondaryMap<Block, bool>,
}

fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// What makes a value, as far as it shows before the walk gets there.
fn kind(body: &Body, def: Def) -> u64 {
    match *body.inst(body.def_inst(def)) {
        InstData::Alu { op, .. } => mix(1, op as u64),
        InstData::Intrinsic { op, .. } => mix(2, op as u64),
        InstData::LoadConst { .. } => 3,
        InstData::Phi => 4,
        InstData::Tex(_) => 5,
        InstData::Undef => 6,
        _ => 7,
    }
}

impl Walk {
    /// What an operand counts as: equal for the same values and for all constants of a size.
    fn operand(&self, body: &Body, def: Def) -> u64 {
        let what = match body.def_constant(def) {
            Some(_) => u64::MAX,
            None => self.origins[def].expand().unwrap_or(def).as_u32().into(),
        };
        mix(what, body.bit_size(def).into())
    }

    /// The same for whatever may be merged; none for what cannot be.
    fn hash(&self, body: &Body, inst: Inst, width: Width) -> Option<u64> {
        let shape = body.shape(body.inst_def(inst)?);
        let seed = mix(u64::from(width.0), shape.bit_size.into());
        Some(match *body.inst(inst) {
            InstData::Alu { op, .. } => body.sources(inst).fold(mix(seed, op as u64), |hash, source| {
                let def = body.src_def(source);
                let is_constant = body.def_constant(def).is_some();
                let group = if is_constant { 0 } else { width.group(body.swizzle(source).get(0)) };
                mix(mix(hash, self.operand(body, def)), group.into())
            }),
            InstData::Phi => {
                let sum = body.phi_sources(inst).fold(0u64, |sum, (from, source)| {
                    let (def, _) = chase_component(body, body.src_def(source), 0);
                    let operand = if self.is_seen[from] { self.operand(body, def) } else { kind(body, def) };
                    sum.wrapping_add(mix(operand, from.as_u32().into()))
                });
                mix(mix(seed, body.inst_block(inst)?.as_u32().into()), sum)
            }
            _ => return None,
        })
    }

    /// Whether two instructions of the same hash can be one.
    fn fit(&self, body: &Body, first: Inst, second: Inst, width: Width) -> bool {
        let (Some(a), Some(b)) = (body.inst_def(first), body.inst_def(second)) else { return false };
        let total = body.num_components(a) + body.num_components(b);
        if body.bit_size(a) != body.bit_size(b) || total > width.0 || AluOp::vec(total).is_none() {
            return false;
        }
        let same = |a: Def, b: Def| {
            let constants = body.def_constant(a).is_some() && body.def_constant(b).is_some();
            body.bit_size(a) == body.bit_size(b) && (a == b || constants)
        };
        match (*body.inst(first), *body.inst(second)) {
            (InstData::Alu { op, .. }, InstData::Alu { op: other, .. }) => {
                op == other
                    && body.sources(first).zip(body.sources(second)).all(|(s, t)| {
                        let group = |source| width.group(body.swizzle(source).get(0));
                        let (a, b) = (body.src_def(s), body.src_def(t));
                        same(a, b) && (body.def_constant(a).is_some() || group(s) == group(t))
                    })
            }
            (InstData::Phi, InstData::Phi) => {
                body.inst_block(first) == body.inst_block(second)
                    && body.num_sources(first) == body.num_sources(second)
                    && body.phi_sources(first).all(|(from, s)| {
                        let Some(t) = body.phi_source_for(second, from) else { return false };
                        let [a, b] = [s, t].map(|source| chase_component(body, body.src_def(source), 0).0);
                        if self.is_seen[from] { same(a, b) } else { kind(body, a) == kind(body, b) }
                    })
            }
            _ => false,
        }
    }

    /// Makes everything read the wide value instead of the two, and removes these.
    fn replace(&mut self, body: &mut Body, merged: [Inst; 2], wide: Def) {
        let mut cursor = Cursor::after_inst(body, body.def_inst(wide));
        let mut offset = 0;
        for (number, inst) in merged.into_iter().enumerate() {
            let Some(def) = body.inst_def(inst) else { continue };
            if number == 0 {
                self.origins[wide] = Some(self.origins[def].expand().unwrap_or(def)).into();
            }
            let count = body.num_components(def);
            let mut part = None;
            for source in body.uses_vec(def) {
                let alu = match body.user(source) {
                    User::Inst(user) if body.alu_op(user).is_some() => Some(user),
                    _ => None,
                };
                if let Some(user) = alu {
                    let read = body.alu_src_components(user, body.source_number(source));
                    let moved = body.swizzle(source).iter(read).map(|component| component + offset);
                    let moved = moved.collect::<ArrayVec<u8, MAX_COMPONENTS>>();
                    body.set_src(source, wide);
                    body.set_swizzle(
                        source,
                        if read == 1 { Swizzle::replicate(moved[0]) } else { Swizzle::new(&moved) },
                    );
                } else {
                    let part = *part.get_or_insert_with(|| {
                        let selectors: ArrayVec<u8, MAX_COMPONENTS> = (offset..offset + count).collect();
                        let mut builder = Builder::new(body, cursor);
                        let part = builder.mov(AluSrc::new(wide, Swizzle::new(&selectors)), count);
                        cursor = builder.cursor;
                        part
                    });
                    body.set_src(source, part);
                }
            }
            offset += count;
        }
        for inst in merged {
            let operands: ArrayVec<Def, MAX_COMPONENTS> =
                body.sources(inst).take(MAX_COMPONENTS).map(|source| body.src_def(source)).collect();
            body.remove_inst(inst);
            for def in operands {
                remove_if_unused(body, def);
            }
        }
    }
}

/// Removes what only hands values on, or is a constant, once nothing reads it.
fn remove_if_unused(body: &mut Body, def: Def) {
    let inst = body.def_inst(def);
    let hands_on = match *body.inst(inst) {
        InstData::Alu { op, .. } => op.is_vec_or_mov(),
        InstData::LoadConst { .. } => true,
        _ => false,
    };
    if hands_on && body.inst_block(inst).is_some() && body.is_unused(def) {
        body.remove_inst(inst);
    }
}

type Components = ArrayVec<(Def, u8), MAX_COMPONENTS>;

/// A value and a swizzle that give these components, which come from one value or are constants; made at the cursor if there is none.
fn operand(builder: &mut Builder<'_>, components: &Components) -> AluSrc {
    let (first, _) = components[0];
    let selectors: ArrayVec<u8, MAX_COMPONENTS> = components.iter().map(|&(_, component)| component).collect();
    if components.iter().all(|&(def, _)| def == first) {
        return AluSrc::new(first, Swizzle::new(&selectors));
    }
    let bit_size = builder.body.bit_size(first);
    let values: ArrayVec<u64, MAX_COMPONENTS> = components
        .iter()
        .filter_map(|&(def, component)| builder.body.constant_component(def, component.into()))
        .collect();
    if values.len() < components.len() {
        let parts: ArrayVec<AluSrc, MAX_COMPONENTS> =
            components.iter().map(|&(def, component)| AluSrc::component(def, component)).collect();
        return builder.vec(&parts).into();
    }
    if values.iter().all(|&value| value == values[0]) {
        return AluSrc::component(builder.constant(bit_size, &values[..1]), 0);
    }
    builder.constant(bit_size, &values).into()
}

/// The wide instruction, right after the first.
fn merge_alu(body: &mut Body, first: Inst, second: Inst) -> Option<(Inst, Def)> {
    let ((op, a), (_, b)) = (body.alu(first)?, body.alu(second)?);
    let promises = AluFlags::NO_SIGNED_WRAP.0 | AluFlags::NO_UNSIGNED_WRAP.0;
    let flags = AluFlags((a.0 | b.0) & !promises | a.0 & b.0 & promises);
    let total = body.num_components(body.inst_def(first)?) + body.num_components(body.inst_def(second)?);
    let count = body.num_sources(first);
    let mut builder = Builder::new(body, Cursor::After(first));
    let mut sources: ArrayVec<AluSrc, MAX_COMPONENTS> = ArrayVec::new();
    for number in 0..count {
        let mut components = Components::new();
        for inst in [first, second] {
            let body = &builder.body;
            let source = body.source(inst, number);
            let read = body.swizzle(source).iter(body.alu_src_components(inst, number));
            components.extend(read.map(|component| (body.src_def(source), component)));
        }
        sources.push(operand(&mut builder, &components));
    }
    builder.flags = flags;
    let def = builder.alu_sized(op, total, &sources);
    Some((body.def_inst(def), def))
}

/// The wide phi, in place of the first; both lose their operands.
fn merge_phis(body: &mut Body, first: Inst, second: Inst) -> Option<(Inst, Def)> {
    let (a, b) = (body.inst_def(first)?, body.inst_def(second)?);
    let counts = [body.num_components(a), body.num_components(b)];
    let shape = Shape::new(counts[0] + counts[1], body.bit_size(a));
    let froms: Vec<Block> = body.phi_sources(first).map(|(from, _)| from).collect();
    let mut sources = Vec::with_capacity(froms.len());
    for from in froms {
        let mut components = Components::new();
        for (phi, count) in [first, second].into_iter().zip(counts) {
            let def = body.src_def(body.phi_source_for(phi, from)?);
            components.extend((0..count).map(|component| chase_component(body, def, component)));
        }
        let cursor = Cursor::before_jump(body, from);
        let mut builder = Builder::new(body, cursor);
        let operand = operand(&mut builder, &components);
        sources.push(SourceSpec::phi(from, builder.mov(operand, shape.num_components)));
    }
    let wide = body.create_inst(InstData::Phi, &sources, Some(shape));
    body.insert_inst(Cursor::Before(first), wide);
    // They may read each other, which is no reason to take the new one apart.
    for phi in [first, second] {
        for number in (0..body.num_sources(phi)).rev() {
            let def = body.src(phi, number);
            body.remove_source(phi, number);
            remove_if_unused(body, def);
        }
    }
    Some((wide, body.inst_def(wide)?))
}
