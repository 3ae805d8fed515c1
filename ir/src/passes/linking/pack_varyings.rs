//! Packs the varyings between two stages into few slots, numbered from 0.
//!
//! ```text
//! before:                                         after:
//!     // vertex shader
//!     @store_deref (&out_0, %a) (wrmask=xy)           %0 = vec4 %a.x, %a.y, %b.x, %b.y
//!     @store_deref (&out_9, %b) (wrmask=xy)           @store_deref (&out_0, %0) (wrmask=xyzw)
//!     // fragment shader
//!     %1 = @load_deref (&in_9)   // %1.xy             %1 = @load_deref (&in_0)   // %1.zw
//! ```
//!
//! Components may share a slot if they have the same interpolation and agree in whether their computation is invariant.
//! The components of one slot stay together, so that one vector load reads them; the largest groups are placed first,
//! and a group keeps its components if they are free. Each slot becomes one variable with four components, so targets
//! need not support two variables in one slot. The stores of a block become one store, unless the shader itself or
//! other invocations can observe the outputs in between.
//!
//! Slots that [`link_varyings`](mod@super::link_varyings) keeps are kept here too, but renumbered: consecutive slots
//! that are indexed together are moved together. If there are more slots than numbers, the pass does nothing.
//!
//! Linear except for sorting the slots, which are few.

use std::collections::{BTreeMap, BTreeSet};

use super::varyings::{
    Class, LinkSide, Slot, SlotPath, VaryingAccess, keep_alike, only_body_mut, read_alike, remove_unused,
};
use super::{LinkOptions, LinkReport};
use crate::body::{Body, InstData, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::{Shader, ShaderStage};
use crate::slots::VaryingSlot;
use crate::types::{ScalarType, TypeData};
use crate::variable::{VariableData, VariableModes};

/// Number of slots per vertex, and per patch.
const MAX_SLOTS: [usize; 2] = [32, 32];

/// Slots that are packed into one.
#[derive(Clone, Debug)]
struct Bin {
    class: Class,
    /// Mask of the components in use.
    taken: u32,
    /// The slots; the new variable is declared like that of the first.
    members: Vec<Slot>,
}

/// The new location of the components of a slot.
#[derive(Clone, Copy, Debug)]
struct PackedLocation {
    bin: usize,
    components: [Option<u8>; 4],
}

/// See the [module](self).
pub fn pack_varyings(producer: &mut Shader, consumer: &mut Shader, options: &LinkOptions) -> LinkReport {
    let mut report = LinkReport::default();
    let (Some(mut outputs), Some(mut inputs)) =
        (LinkSide::of(producer, true, options), LinkSide::of(consumer, false, options))
    else {
        return report;
    };
    keep_alike(&mut outputs, &mut inputs);
    report.slots_before = inputs.reads().values().filter(|&&mask| mask != 0).count() as u32;
    report.slots_after = report.slots_before;
    let mut needed = inputs.reads();
    for (slot, mask) in outputs.reads() {
        *needed.entry(slot).or_default() |= mask;
    }
    // Only slots that both sides declare can be moved; the others are unused, or left to `link_varyings`.
    let is_both = |slot: &Slot| outputs.declared.contains_key(slot) && inputs.declared.contains_key(slot);
    let is_kept = |slot: &Slot| outputs.kept.contains(slot) || inputs.kept.contains(slot);
    if needed.iter().any(|(slot, &mask)| mask != 0 && !is_both(slot) && !is_kept(slot)) {
        return report;
    }
    // The same holds for unused accesses.
    let is_idle = |slot: &Slot| !is_kept(slot) && needed.get(slot).is_none_or(|&mask| mask == 0);
    if outputs.stores.iter().chain(&outputs.loads).chain(&inputs.loads).any(|access| is_idle(&access.slot)) {
        return report;
    }
    let mut groups: Vec<(Class, u32, Slot)> = Vec::new();
    for (&slot, &mask) in needed.iter().filter(|(slot, mask)| **mask != 0 && !is_kept(slot)) {
        let Some(class) = inputs.class(consumer, slot, Some((&outputs, producer))) else { return report };
        groups.push((class, mask, slot));
    }
    // More groups than this exceed the numbers anyway, and packing them would take long.
    if groups.len() > 4 * (MAX_SLOTS[0] + MAX_SLOTS[1]) {
        return report;
    }
    let (bins, places) = fill(groups);
    let Some((runs, numbers)) = number(&bins, &outputs, &inputs, options) else { return report };
    report.slots_after -= (places.len() - bins.len()) as u32;
    for (shader, side, is_output) in [(&mut *producer, &outputs, true), (&mut *consumer, &inputs, false)] {
        for (&variable, &location) in &runs[usize::from(!is_output)] {
            shader.variables[variable].location = location;
        }
        let variables: Vec<Variable> =
            bins.iter().zip(&numbers).map(|(bin, &location)| declare(shader, side, bin, location)).collect();
        rewrite_loads(shader, side, &places, &variables);
        if is_output {
            rewrite_stores(shader, side, &places, &variables);
        }
        remove_unused(shader, is_output, options);
    }
    report
}

/// Packs groups into slots, the largest first.
fn fill(mut groups: Vec<(Class, u32, Slot)>) -> (Vec<Bin>, BTreeMap<Slot, PackedLocation>) {
    groups.sort_unstable_by_key(|&(class, mask, slot)| (class, std::cmp::Reverse(mask.count_ones()), slot));
    let (mut bins, mut places): (Vec<Bin>, BTreeMap<Slot, PackedLocation>) = (Vec::new(), BTreeMap::new());
    for (class, mask, slot) in groups {
        let fits = |bin: &Bin| bin.class == class && bin.taken.count_ones() + mask.count_ones() <= 4;
        let number = bins.iter().position(fits).unwrap_or(bins.len());
        if number == bins.len() {
            bins.push(Bin { class, taken: 0, members: Vec::new() });
        }
        let bin = &mut bins[number];
        let stays = bin.taken & mask == 0;
        let mut components = [None; 4];
        for component in (0..4u8).filter(|c| mask >> c & 1 != 0) {
            let own = if stays { component } else { (!bin.taken).trailing_zeros() as u8 };
            bin.taken |= 1 << own;
            components[usize::from(component)] = Some(own);
        }
        bin.members.push(slot);
        places.insert(slot, PackedLocation { bin: number, components });
    }
    (bins, places)
}

/// New locations of the kept variables, of both sides.
type NewLocations = [BTreeMap<Variable, i32>; 2];

/// Numbers the packed and the kept slots; `None` if there are too few numbers.
fn number(
    bins: &[Bin],
    outputs: &LinkSide,
    inputs: &LinkSide,
    options: &LinkOptions,
) -> Option<(NewLocations, Vec<i32>)> {
    let mut moved: NewLocations = [BTreeMap::new(), BTreeMap::new()];
    let mut locations = vec![0; bins.len()];
    for (patch, first, most) in [(false, VaryingSlot::VAR0, MAX_SLOTS[0]), (true, VaryingSlot::PATCH0, MAX_SLOTS[1])]
        .map(|(p, f, m)| (p, i32::from(f), m))
    {
        // A slot that is kept on one side is kept on the other, including captured outputs that are not read.
        let kept: BTreeSet<Slot> = outputs.kept.union(&inputs.kept).copied().collect();
        let kept: Vec<Slot> = kept.into_iter().filter(|slot| slot.patch == patch && slot.is_free(options)).collect();
        let own = bins.iter().filter(|bin| bin.class.is_patch() == patch).count();
        if kept.len() + own > most {
            return None;
        }
        let mut next = first;
        let mut new: BTreeMap<Slot, i32> = BTreeMap::new();
        for slot in kept {
            new.insert(slot, next);
            next += 1;
        }
        for (place, side) in moved.iter_mut().zip([outputs, inputs]) {
            for (variable, slots) in side.variables() {
                if let Some(&location) = slots.first().and_then(|slot| new.get(slot)) {
                    // Slots of one variable are consecutive, and all of them are kept.
                    if slots.len() as i32 != new.get(slots.last()?)? - location + 1 {
                        return None;
                    }
                    place.insert(variable, location);
                }
            }
        }
        for (location, bin) in locations.iter_mut().zip(bins) {
            if bin.class.is_patch() == patch {
                *location = next;
                next += 1;
            }
        }
    }
    Some((moved, locations))
}

/// Declares the variable of a new slot, like that of its first member.
fn declare(shader: &mut Shader, side: &LinkSide, bin: &Bin, location: i32) -> Variable {
    // Every member is declared by both sides.
    let declared = bin.members.first().and_then(|slot| side.declared.get(slot));
    let scalar = declared.and_then(|declared| shader.types.as_vector(declared.ty)).map(|(scalar, _)| scalar);
    let vector = shader.types.vector(scalar.unwrap_or(ScalarType::Float), 4);
    let Some(declared) = declared else {
        return shader.add_variable(VariableData::new("", vector, VariableModes::NONE));
    };
    let like = shader.variables[declared.variable].clone();
    let ty = match shader.types.get(like.ty) {
        &TypeData::Array { length, .. } if like.per_vertex => shader.types.array(vector, length),
        _ => vector,
    };
    let name = like.name.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = if name.len() < like.name.len() { format!("{name}{}", declared.register) } else { like.name.clone() };
    shader.add_variable(VariableData {
        name,
        ty,
        location,
        location_frac: 0,
        driver_location: declared.register,
        ..like
    })
}

fn rewrite_loads(
    shader: &mut Shader,
    side: &LinkSide,
    places: &BTreeMap<Slot, PackedLocation>,
    variables: &[Variable],
) {
    for load in &side.loads {
        let Some(place) = places.get(&load.slot) else { continue };
        let route = SlotPath::to(shader, variables[place.bin], load.slot);
        let Some(body) = only_body_mut(shader) else { return };
        let Some(def) = body.inst_def(load.inst) else { continue };
        let (count, vertex) = (body.num_components(def).min(4), load.vertex(body));
        let mut b = Builder::new(body, Cursor::Before(load.inst));
        let value = read_alike(&mut b, load.inst, route, vertex);
        // Unused components may have any available value.
        let sources: arrayvec::ArrayVec<AluSrc, 4> = (0..count)
            .map(|number| {
                let component = place.components[usize::from(load.first + number)];
                AluSrc::component(value, component.unwrap_or(0))
            })
            .collect();
        let replacement = b.vec(&sources);
        b.body.replace_all_uses(def, replacement);
        b.body.remove_inst(load.inst);
    }
}

/// The components of a slot stored by a block so far.
struct PendingSlot {
    bin: usize,
    values: [Option<(Def, u8)>; 4],
    /// The last one of the stores.
    at: Inst,
    vertex: Option<Def>,
}

fn rewrite_stores(
    shader: &mut Shader,
    side: &LinkSide,
    places: &BTreeMap<Slot, PackedLocation>,
    variables: &[Variable],
) {
    let routes: Vec<SlotPath> = variables
        .iter()
        .map(|&variable| {
            let data = &shader.variables[variable];
            SlotPath::to(shader, variable, Slot { patch: data.patch, location: data.location })
        })
        .collect();
    let stage = shader.stage;
    let stores: BTreeMap<Inst, (PackedLocation, &VaryingAccess)> =
        side.stores.iter().filter_map(|store| Some((store.inst, (*places.get(&store.slot)?, store)))).collect();
    let Some(body) = only_body_mut(shader) else { return };
    let blocks: Vec<Block> = body.blocks_vec();
    for block in blocks {
        let mut pending: BTreeMap<usize, PendingSlot> = BTreeMap::new();
        for inst in body.insts_vec(block) {
            let Some(&(place, store)) = stores.get(&inst) else {
                if shows_outputs(body, inst) {
                    std::mem::take(&mut pending).into_values().for_each(|group| flush(body, &routes, &group));
                }
                continue;
            };
            let (value, vertex) = (body.src(inst, 1), store.vertex(body));
            let mut group = match pending.remove(&place.bin) {
                // Outputs of tessellation control shaders are visible to other invocations at any time.
                Some(group) if stage != ShaderStage::TessCtrl && group.vertex == vertex => group,
                other => {
                    if let Some(group) = other {
                        flush(body, &routes, &group);
                    }
                    PendingSlot { bin: place.bin, values: [None; 4], at: inst, vertex }
                }
            };
            for component in (0..4u8).filter(|c| store.mask >> c & 1 != 0) {
                if let Some(own) = place.components[usize::from(component)] {
                    group.values[usize::from(own)] = Some((value, component - store.first));
                }
            }
            // Removes the earlier store, if it is another one.
            if group.at != inst {
                body.remove_inst(group.at);
            }
            group.at = inst;
            pending.insert(place.bin, group);
        }
        pending.into_values().for_each(|group| flush(body, &routes, &group));
    }
}

/// Returns whether an instruction makes outputs visible, to the shader itself or to others.
fn shows_outputs(body: &Body, inst: Inst) -> bool {
    use IntrinsicOp::{Barrier, EmitVertex, EmitVertexWithCounter, LoadDeref, LoadOutput, LoadPerVertexOutput};
    matches!(
        body.intrinsic(inst),
        Some(EmitVertex | EmitVertexWithCounter | Barrier | LoadDeref | LoadOutput | LoadPerVertexOutput)
    ) && body.intrinsic(inst).is_some_and(|op| op != LoadDeref || reads_output(body, inst))
}

fn reads_output(body: &Body, inst: Inst) -> bool {
    let pointer = body.def_inst(body.src(inst, 0));
    matches!(*body.inst(pointer), InstData::Deref { modes, .. }
        if modes.intersects(VariableModes::SHADER_OUT))
}

/// Replaces the last store of a group by one of all its components.
fn flush(body: &mut Body, routes: &[SlotPath], group: &PendingSlot) {
    let mut b = Builder::new(body, Cursor::Before(group.at));
    let mask = (0..4).filter(|&c| group.values[c].is_some()).fold(0, |mask, c| mask | 1 << c);
    if mask != 0 {
        let missing = if mask == 15 { None } else { Some(b.undef(1, 32)) };
        let sources: arrayvec::ArrayVec<AluSrc, 4> = group
            .values
            .iter()
            .filter_map(|value| match *value {
                Some((def, component)) => Some(AluSrc::component(def, component)),
                None => missing.map(AluSrc::from),
            })
            .collect();
        let value = b.vec(&sources);
        let pointer = routes[group.bin].pointer(&mut b, group.vertex);
        let access = b.body.index(group.at, IndexKind::Access);
        let indices = [(IndexKind::WriteMask, mask), (IndexKind::Access, access)];
        b.intrinsic(IntrinsicOp::StoreDeref, &[pointer, value], &indices, Some(Shape::new(4, 32)));
    }
    body.remove_inst(group.at);
}
