//! Removes redundant communication between two consecutive stages.
//!
//! ```text
//! before:                                         after:
//!     // vertex shader
//!     @store_deref (&out_0, %a)                       @store_deref (&out_0, %a)
//!     @store_deref (&out_1, (1.0, 2.0))               // constant: moves to the consumer
//!     @store_deref (&out_2, %a)                       // the same as out_0
//!     @store_deref (&out_3, %b)                       // unread
//!     // fragment shader
//!     %0 = @load_deref (&in_1)                        %0 = load_const (1.0, 2.0)
//!     %1 = @load_deref (&in_2)                        %1 = @load_deref (&in_0)
//!     %2 = @load_deref (&in_4)                        %2 = load_const (0, 0)       // unwritten
//! ```
//!
//! All decisions are per component, but a written value moves to the consumer only together with the whole part of its
//! slot that is read: a partly constant vector would have to be reassembled. The pass keeps outputs with a fixed
//! function (position, point size, clip distances, layer, viewport), outputs captured by stream output, and those with
//! run-time indices. It keeps colours too, because rasteriser state may clamp them, make them flat, or select the back
//! colour; only constants from 0 to 1 are unaffected. A back colour is kept if its front colour is.
//!
//! A component is constant if all stores write the same value, and either one of them is always executed or the value
//! is zero, with which outputs start. With [`LinkOptions::shares_constants`] a value that is loaded from a constant
//! buffer is loaded by the consumer instead. Two components are equal if every store of one is paired with a store of
//! the same value to the other. This is checked for vertex and tessellation evaluation shaders only, which have outputs
//! that are read only at the end, by no other invocation.
//!
//! Dead code is left to other passes. Linear except for sorting the slots.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::varyings::{
    Class, LinkSide, Slot, SlotPath, VaryingAccess, keep_alike, only_body, only_body_mut, read_alike, remove_unused,
    scalar_of,
};
use super::{LinkOptions, LinkReport};
use crate::body::{Body, CfParent, DerefKind, InstData, JumpKind, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::scalar::opt_dce;
use crate::shader::{Shader, ShaderStage};

/// A component of a slot.
type Component = (Slot, u8);

/// The consumer's replacement for a component.
#[derive(Clone, Copy, Debug)]
enum Replacement {
    /// A constant with these bits.
    Constant(u32),
    /// A component of a load of the producer.
    Load(Inst, u8),
    /// An equal component.
    Same(Component),
}

/// A store of a component, for comparison with others: its block, the value, and the value's component.
type Write = (Block, Def, u8);

/// See the [module](self).
pub fn link_varyings(producer: &mut Shader, consumer: &mut Shader, options: &LinkOptions) -> LinkReport {
    let mut report = LinkReport::default();
    producer.info.next_stage = Some(consumer.stage);
    let (Some(mut outputs), Some(mut inputs)) =
        (LinkSide::of(producer, true, options), LinkSide::of(consumer, false, options))
    else {
        return report;
    };
    keep_alike(&mut outputs, &mut inputs);
    report.slots_before = inputs.reads().values().filter(|&&mask| mask != 0).count() as u32;
    let replacements = find_replacements(producer, consumer, &outputs, &inputs, options);
    replace_reads(producer, consumer, &inputs, &replacements, &mut report);
    if report.is_changed() {
        opt_dce(consumer);
        if let Some(again) = LinkSide::of(consumer, false, options) {
            let kept = std::mem::take(&mut inputs.kept);
            inputs = again;
            inputs.kept.extend(kept);
        }
    }
    remove_unread(producer, &outputs, &inputs, &mut report);
    remove_unused(consumer, false, options);
    remove_unused(producer, true, options);
    report.slots_after = inputs.reads().values().filter(|&&mask| mask != 0).count() as u32;
    report
}

/// Finds the components that the consumer can compute without the slot.
fn find_replacements(
    producer: &Shader,
    consumer: &Shader,
    outputs: &LinkSide,
    inputs: &LinkSide,
    options: &LinkOptions,
) -> BTreeMap<Component, Replacement> {
    let (mut unwritten, mut found) = (BTreeMap::new(), BTreeMap::new());
    let (reads, writes) = (inputs.reads(), outputs.writes());
    for (&slot, &mask) in &reads {
        let mut written = writes.get(&slot).copied().unwrap_or(0);
        if slot.is_color() && (written != 0 || writes.keys().any(|other| other.front() == Some(slot))) {
            // The rasteriser may select the back colour, whichever components of it are written.
            written = 15;
        }
        for component in (0..4).filter(|c| mask & !written & 1 << c != 0) {
            unwritten.insert((slot, component), Replacement::Constant(0));
        }
    }
    if !matches!(producer.stage, ShaderStage::Vertex | ShaderStage::TessEval) {
        return unwritten;
    }
    let Some(body) = only_body(producer) else { return unwritten };
    if ends_early(body) {
        return unwritten;
    }
    let has_same_buffers =
        options.shares_constants && producer.info.first_ubo_is_default_ubo == consumer.info.first_ubo_is_default_ubo;
    let mut same: BTreeMap<(Class, Vec<Write>), Component> = BTreeMap::new();
    for ((slot, component), stores) in component_writes(body, outputs) {
        let is_read = reads.get(&slot).is_some_and(|mask| mask >> component & 1 != 0);
        if !is_read || outputs.hidden_writes.contains(&slot) || slot.front().is_some() {
            continue;
        }
        let is_color = slot.is_color();
        let has_back = is_color && writes.keys().any(|other| other.front() == Some(slot));
        if has_back || (outputs.kept.contains(&slot) && !is_color) {
            continue;
        }
        let Some(class) = inputs.class(consumer, slot, Some((outputs, producer))) else { continue };
        let always = stores.iter().any(|&(block, ..)| body.block_parent(block) == Some(CfParent::Function));
        let first = stores[0];
        let is_one = stores.iter().all(|&(_, def, c)| (def, c) == (first.1, first.2));
        let constant = |&(_, def, c): &Write| body.constant_component(def, usize::from(c)).map(|bits| bits as u32);
        if let Some(bits) = constant(&first)
            && stores.iter().all(|store| constant(store) == Some(bits))
            && (always || bits == 0)
        {
            if !is_color || (0.0..=1.0).contains(&f32::from_bits(bits)) {
                found.insert((slot, component), Replacement::Constant(bits));
            }
            continue;
        }
        if is_color {
            continue;
        }
        let inst = body.def_inst(first.1);
        if has_same_buffers && is_one && always && is_constant_load(body, inst) {
            found.insert((slot, component), Replacement::Load(inst, first.2));
            continue;
        }
        match same.entry((class, stores)) {
            Entry::Occupied(entry) => {
                found.insert((slot, component), Replacement::Same(*entry.get()));
            }
            Entry::Vacant(entry) => {
                entry.insert((slot, component));
            }
        }
    }
    // A partly known vector would have to be reassembled.
    let is_known = |slot: Slot| {
        let mask = reads.get(&slot).copied().unwrap_or(0);
        (0..4)
            .filter(|c| mask >> c & 1 != 0)
            .all(|c| found.contains_key(&(slot, c)) || unwritten.contains_key(&(slot, c)))
    };
    let whole: Vec<(Component, Replacement)> =
        found.iter().filter(|((slot, _), _)| is_known(*slot)).map(|(&component, &by)| (component, by)).collect();
    unwritten.extend(whole);
    unwritten
}

/// Returns whether an invocation may end before the last block.
fn ends_early(body: &Body) -> bool {
    let ends = |block| {
        let jump = body.block_jump(block).map(|(_, kind)| kind);
        matches!(jump, Some(JumpKind::Return | JumpKind::Halt | JumpKind::Goto(_) | JumpKind::GotoIf { .. }))
    };
    body.blocks().any(ends)
}

/// Returns the stores of each component, in program order.
fn component_writes(body: &Body, outputs: &LinkSide) -> BTreeMap<Component, Vec<Write>> {
    let mut writes: BTreeMap<Component, Vec<Write>> = BTreeMap::new();
    for store in &outputs.stores {
        let Some(block) = body.inst_block(store.inst) else { continue };
        let value = body.src(store.inst, 1);
        for component in (0..4u8).filter(|c| store.mask >> c & 1 != 0) {
            let (def, of_def) = scalar_of(body, value, component - store.first);
            let stores = writes.entry((store.slot, component)).or_default();
            // The last store in a block counts.
            if stores.last().is_some_and(|&(last, ..)| last == block) {
                stores.pop();
            }
            stores.push((block, def, of_def));
        }
    }
    writes
}

/// Returns whether an instruction loads from a constant address of a constant buffer.
fn is_constant_load(body: &Body, inst: Inst) -> bool {
    use IntrinsicOp::{LoadUbo, LoadUboVec4, LoadUniform};
    matches!(body.intrinsic(inst), Some(LoadUniform | LoadUbo | LoadUboVec4))
        && body.sources(inst).all(|source| body.def_constant(body.src_def(source)).is_some())
        && body.inst_def(inst).is_some_and(|def| body.bit_size(def) == 32)
}

/// Returns whether a load reads a vertex that exists in any primitive.
fn has_vertex(body: &Body, access: &VaryingAccess, vertices: u32) -> bool {
    let Some(vertex) = access.vertex(body) else { return true };
    body.constant_component(vertex, 0).is_some_and(|number| number < u64::from(vertices))
}

fn replace_reads(
    producer: &Shader,
    consumer: &mut Shader,
    inputs: &LinkSide,
    replacements: &BTreeMap<Component, Replacement>,
    report: &mut LinkReport,
) {
    let Some(from) = only_body(producer) else { return };
    let mut counted = BTreeSet::new();
    let mut uniforms = 0;
    for load in &inputs.loads {
        let declared = inputs.declared.get(&load.slot);
        let Some(body) = only_body(consumer) else { return };
        let vertices = match consumer.stage {
            // The sizes of arrays of patches are upper bounds.
            ShaderStage::Geometry => declared.map_or(0, |declared| declared.vertices),
            _ => 0,
        };
        let is_there = has_vertex(body, load, vertices);
        let of = |component: u8| {
            let replacement = replacements.get(&(load.slot, component)).copied()?;
            match replacement {
                // A read from a missing vertex gives zero as well.
                Replacement::Constant(0) | Replacement::Same(_) => Some(replacement),
                Replacement::Constant(_) | Replacement::Load(..) => is_there.then_some(replacement),
            }
        };
        let parts: [Option<Replacement>; 4] =
            std::array::from_fn(|c| (load.mask >> c & 1 != 0).then(|| of(c as u8)).flatten());
        if parts.iter().all(Option::is_none) {
            continue;
        }
        for (component, part) in (0..4u8).zip(&parts) {
            let Some(part) = part else { continue };
            if counted.insert((load.slot, component)) {
                match part {
                    Replacement::Constant(0) => report.zeros += 1,
                    Replacement::Constant(_) => report.constants += 1,
                    Replacement::Load(..) => report.uniforms += 1,
                    Replacement::Same(_) => report.duplicates += 1,
                }
            }
        }
        let routes = parts.map(|part| match part {
            Some(Replacement::Same((slot, component))) => inputs.declared.get(&slot).map(|declared| {
                let frac = consumer.variables[declared.variable].location_frac & 3;
                (SlotPath::to(consumer, declared.variable, slot), component - frac.min(component))
            }),
            _ => None,
        });
        let Some(body) = only_body_mut(consumer) else { return };
        let Some(def) = body.inst_def(load.inst) else { continue };
        let (count, vertex) = (body.num_components(def), load.vertex(body));
        let mut b = Builder::new(body, Cursor::After(load.inst));
        let sources: arrayvec::ArrayVec<AluSrc, 4> = (0..count.min(4))
            .map(|number| {
                let component = usize::from(load.first + number);
                match (parts[component], routes[component]) {
                    (Some(Replacement::Constant(bits)), _) => b.u32_const(bits).into(),
                    (Some(Replacement::Load(inst, component)), _) => {
                        uniforms = uniforms.max(constant_end(from, inst));
                        AluSrc::component(copy_load(&mut b, from, inst), component)
                    }
                    (Some(Replacement::Same(_)), Some((route, component))) => {
                        let value = read_alike(&mut b, load.inst, route, vertex);
                        AluSrc::component(value, component)
                    }
                    _ => AluSrc::component(def, number),
                }
            })
            .collect();
        let value = b.vec(&sources);
        let inst = b.body.def_inst(value);
        b.body.replace_uses_except(def, value, inst);
    }
    consumer.num_uniforms = consumer.num_uniforms.max(uniforms);
    if report.uniforms > 0 {
        consumer.info.num_ubos = consumer.info.num_ubos.max(producer.info.num_ubos);
    }
}

/// Returns the index after the last vec4 of the default constant buffer that a load reads.
fn constant_end(body: &Body, inst: Inst) -> u32 {
    if body.intrinsic(inst) != Some(IntrinsicOp::LoadUniform) {
        return 0;
    }
    let offset = body.constant_component(body.src(inst, 0), 0).unwrap_or(0) as u32;
    offset.saturating_add(body.base(inst)).saturating_add(1)
}

/// Copies a load from a constant address into another shader.
fn copy_load(b: &mut Builder<'_>, from: &Body, inst: Inst) -> Def {
    let InstData::Intrinsic { op, .. } = *from.inst(inst) else { return b.u32_const(0) };
    let sources: arrayvec::ArrayVec<Def, 4> = from
        .sources(inst)
        .map(|source| {
            let def = from.src_def(source);
            b.constant(from.bit_size(def), from.def_constant(def).unwrap_or(&[0]))
        })
        .collect();
    let kinds = op.info().indices;
    let indices: arrayvec::ArrayVec<(IndexKind, i32), 16> =
        kinds.iter().map(|&kind| (kind, from.index(inst, kind))).collect();
    let shape = from.inst_def(inst).map_or(Shape::new(4, 32), |def| from.shape(def));
    b.intrinsic_def(op, &sources, &indices, shape)
}

/// Removes stores to unread outputs.
fn remove_unread(producer: &mut Shader, outputs: &LinkSide, inputs: &LinkSide, report: &mut LinkReport) {
    let mut read = inputs.reads();
    for (slot, mask) in outputs.reads() {
        *read.entry(slot).or_default() |= mask;
    }
    let mask_of = |slot: Slot| {
        let own = read.get(&slot).copied().unwrap_or(0);
        own | slot.front().and_then(|front| read.get(&front)).copied().unwrap_or(0)
    };
    // Variables with run-time indices are removed as a whole or kept.
    let stays = |variable| outputs.slots_of(variable).iter().any(|&slot| mask_of(slot) != 0);
    let unread: BTreeSet<Variable> =
        outputs.variables().filter(|&(variable, _)| !stays(variable)).map(|(variable, _)| variable).collect();
    let mut counted = BTreeSet::new();
    let Some(body) = only_body_mut(producer) else { return };
    for store in &outputs.stores {
        let mut mask = mask_of(store.slot);
        if outputs.kept.contains(&store.slot) {
            let variable = outputs.declared.get(&store.slot).map(|declared| declared.variable);
            let is_unread = variable.is_some_and(|variable| unread.contains(&variable));
            mask = if is_unread { 0 } else { 15 };
        }
        let left = store.mask & mask;
        if left == store.mask && left != 0 {
            continue;
        }
        let gone = (0..4u8).filter(|c| (store.mask & !left) >> c & 1 != 0);
        report.removed += gone.filter(|&c| counted.insert((store.slot, c))).count() as u32;
        if left == 0 {
            body.remove_inst(store.inst);
        } else {
            body.set_write_mask(store.inst, left >> store.first);
        }
    }
    report.removed += remove_indexed_stores(body, &unread);
}

/// Removes all stores to variables, whatever their indices.
fn remove_indexed_stores(body: &mut Body, variables: &BTreeSet<Variable>) -> u32 {
    if variables.is_empty() {
        return 0;
    }
    let mut stores = Vec::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        if body.intrinsic(inst) != Some(IntrinsicOp::StoreDeref) {
            continue;
        }
        let mut at = body.src(inst, 0);
        while let InstData::Deref { kind, .. } = *body.inst(body.def_inst(at)) {
            match kind {
                DerefKind::Var(variable) => {
                    if variables.contains(&variable) {
                        stores.push(inst);
                    }
                    break;
                }
                DerefKind::Cast(_) => break,
                _ => at = body.src(body.def_inst(at), 0),
            }
        }
    }
    for &inst in &stores {
        body.remove_inst(inst);
    }
    4 * stores.len() as u32
}
