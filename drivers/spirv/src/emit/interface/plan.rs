//! The accesses of a shader to its inputs and outputs, collected before anything is emitted.
//!
//! Each slot accessed at a constant place becomes its own variable, so that slots without accesses are not declared.
//! Dynamically indexed slots become one array, if their locations are consecutive and their interpolation is the same.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::slots::VaryingSlot;
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_ir::{Body, Shader, ShaderStage, Variable};

use super::instruction_access::SlotAccess;
use super::slot_location::{Distances, Slot, SlotLocation, Space};
use crate::module::Class;
use crate::options::SpirvOptions;
use crate::plan::Classes;

/// Most slots of a variable: more than any stage has locations.
pub(super) const MAX_SLOTS: u32 = 1024;

/// Locations between stages: most devices have this many, and none has more.
pub const LOCATIONS: u32 = 32;

/// The properties of a slot.
#[derive(Clone, Copy, Debug)]
pub struct SlotData {
    /// The variable that declares it.
    pub variable: Variable,
    /// The number of its register.
    pub register: u32,
    /// Its place.
    pub place: SlotLocation,
    /// The number of vertices of its variable; 0 if the variable is not per vertex.
    pub vertices: u32,
    /// The interpolation; for an output, the interpolation in the next stage if known.
    pub interpolation: InterpMode,
    /// Interpolated at the centroid.
    pub centroid: bool,
    /// Interpolated at each sample.
    pub sample: bool,
}

/// Locations that one array covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LocationRange {
    is_output: bool,
    space: Space,
    /// First location.
    pub first: u32,
    /// The location after the last.
    pub end: u32,
}

/// Slots of an access that are elements of one array, or a single slot.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The first element.
    pub first: u32,
    /// Number of elements.
    pub count: u32,
    /// The slot of the first element.
    pub slot: Slot,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Plan {
    slots: FxHashMap<Slot, SlotData>,
    /// Slots may be combined into arrays.
    has_arrays: bool,
    pub(super) registers: FxHashMap<(bool, Space, u32), Slot>,
    runs: Vec<LocationRange>,
    /// Clip and cull distances of inputs and of outputs.
    pub distances: [Distances; 2],
    /// The shader reads outputs.
    pub reads_outputs: bool,
    /// The shader writes a point size.
    pub writes_point_size: bool,
    /// The shader writes clip distances.
    pub writes_clip_distances: bool,
    /// The shader computes derivatives, or takes the level of detail from them.
    pub derives: bool,
    /// Outputs that the shader writes.
    written: FxHashSet<Slot>,
    /// The slot accessed at each location between stages, by: whether an output, whether found by name, location.
    located: FxHashMap<(bool, bool, u32), Slot>,
    /// A slot that a linker has put at a location that does not exist.
    pub beyond: Option<(Slot, u32)>,
    /// Two slots that share a location, and that location.
    pub clash: Option<(Slot, Slot, u32)>,
    /// Loads of vertex inputs by location: counts for floats, signed and unsigned integers.
    votes: BTreeMap<u32, [u32; 3]>,
}

pub(super) fn space_of(data: &VariableData) -> Space {
    if data.per_vertex {
        Space::Vertex
    } else if data.patch {
        Space::Patch
    } else {
        Space::Single
    }
}

impl Plan {
    /// Collects the accesses of a shader.
    pub fn new(shader: &Shader, body: &Body, classes: &Classes, options: &SpirvOptions) -> Plan {
        let mut plan = Plan { has_arrays: options.io_arrays, ..Plan::default() };
        plan.declare(shader, options);
        let mut distance_slots = [0u32; 2];
        for block in body.blocks() {
            for inst in body.insts(block) {
                plan.derives |= super::kill::derives(body, inst);
                let Ok(Some(access)) = plan.access(shader, body, inst) else { continue };
                let op = body.intrinsic(inst);
                let is_load = body.inst_def(inst).is_some();
                if access.index.is_some() {
                    let runs: Vec<LocationRange> =
                        plan.segments(shader, &access).filter_map(|segment| plan.run(&segment)).collect();
                    plan.runs.extend(runs);
                }
                for slot in access.slots.iter().flatten() {
                    let Some(data) = plan.slots.get(slot) else { continue };
                    if !is_load {
                        plan.written.insert(*slot);
                    }
                    plan.reads_outputs |= is_load && slot.is_output && !access.is_fetch;
                    let own = data.place;
                    plan.locate(shader, options, *slot, own);
                    if options.two_sided
                        && let Some(back) = slot.back_color()
                    {
                        plan.locate(shader, options, back, back.place(shader.stage, 0, 0));
                    }
                    let Some(data) = plan.slots.get(slot) else { continue };
                    if let SlotLocation::Distances(first) = data.place {
                        let count = &mut distance_slots[usize::from(slot.is_output)];
                        *count = (*count).max(first / 4 + 1);
                        plan.writes_clip_distances |= slot.is_output;
                    }
                    plan.writes_point_size |= slot.is_output && slot.location == i32::from(VaryingSlot::PSIZ);
                    if let (ShaderStage::Vertex, false, SlotLocation::Located { location, .. }, Some(def), Some(_)) =
                        (shader.stage, slot.is_output, data.place, body.inst_def(inst), op)
                    {
                        let votes = plan.votes.entry(location).or_default();
                        match classes.get(def) {
                            Class::Float => votes[0] += 1,
                            Class::Int => votes[1] += 1,
                            Class::Uint | Class::Bool => votes[2] += 1,
                        }
                    }
                }
            }
        }
        plan.distances = distance_slots.map(|slots| Distances::of(shader, slots));
        if shader.stage != ShaderStage::Vertex {
            // The declared distances describe outputs.
            plan.distances[0] = match shader.stage {
                ShaderStage::Fragment => Distances::of(shader, distance_slots[0]),
                _ => Distances { clip: 4 * distance_slots[0].min(2), cull: 0 },
            };
        }
        plan.merge_runs();
        // Stream output also reads outputs that the shader does not write.
        plan.reads_outputs |= !options.stream_output.captures.is_empty();
        plan
    }

    fn declare(&mut self, shader: &Shader, options: &SpirvOptions) {
        let io = VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT);
        for (variable, data) in shader.globals_with(io) {
            let space = space_of(data);
            let is_output = data.mode.intersects(VariableModes::SHADER_OUT);
            // Variables without accesses may have no location.
            if data.location < 0 {
                continue;
            }
            let (mut ty, mut vertices) = (data.ty, 0);
            if let (true, &TypeData::Array { element, length, .. }) = (data.per_vertex, shader.types.get(ty)) {
                ty = element;
                vertices = if length == 0 { 32 } else { length };
            }
            for element in 0..shader.types.slots(ty).clamp(1, MAX_SLOTS) {
                let slot = Slot { is_output, space, location: data.location.wrapping_add(element as i32) };
                let register = data.driver_location.wrapping_add(element);
                self.registers.entry((is_output, space, register)).or_insert(slot);
                let mut place = slot.place(shader.stage, register, data.index);
                let (mut interpolation, mut centroid, mut sample) = (data.interpolation, data.centroid, data.sample);
                if let SlotLocation::Located { location, source } = &mut place {
                    let is_color = shader.stage == ShaderStage::Fragment && is_output;
                    if is_color && (options.dual_source || shader.info.fs.color_is_dual_source) && *location < 2 {
                        (*location, *source) = (0, *location);
                    }
                    let is_attribute = shader.stage == ShaderStage::Vertex && !is_output;
                    if let Some(locations) = options.locations.of(is_output).filter(|_| !is_color && !is_attribute) {
                        match locations.get(&(space == Space::Patch, slot.location)) {
                            Some(linked) => {
                                *location = linked.location;
                                if is_output {
                                    (interpolation, centroid, sample) =
                                        (linked.interpolation, linked.centroid, linked.sample);
                                }
                            }
                            None => place = SlotLocation::Nothing,
                        }
                    }
                }
                self.slots.entry(slot).or_insert_with(|| SlotData {
                    variable,
                    register,
                    place,
                    vertices,
                    interpolation,
                    centroid,
                    sample,
                });
            }
        }
    }

    /// Records the access to a slot between stages.
    fn locate(&mut self, shader: &Shader, options: &SpirvOptions, slot: Slot, place: SlotLocation) {
        let is_varying =
            !matches!((shader.stage, slot.is_output), (ShaderStage::Vertex, false) | (ShaderStage::Fragment, true));
        let SlotLocation::Located { location, .. } = place else { return };
        if is_varying && location >= LOCATIONS && options.locations.of(slot.is_output).is_some() && !options.portable {
            self.beyond.get_or_insert((slot, location));
        }
        if is_varying {
            let is_named = options.opengl_text && slot.space == Space::Patch;
            let other = *self.located.entry((slot.is_output, is_named, location)).or_insert(slot);
            if other != slot {
                self.clash.get_or_insert((other, slot, location));
            }
        }
    }

    /// Returns the properties of a slot.
    pub fn slot(&self, slot: Slot) -> Option<&SlotData> {
        self.slots.get(&slot)
    }

    /// Splits an access into segments that one array can cover. A slot that fits no array is a separate segment.
    pub fn segments<'a>(&'a self, shader: &'a Shader, access: &'a SlotAccess) -> impl Iterator<Item = Segment> + 'a {
        let mut next = 0;
        std::iter::from_fn(move || {
            let slots = &access.slots;
            while next < slots.len() {
                let start = next;
                next += 1;
                let Some(slot) = slots[start] else { continue };
                let follows = |at: usize| {
                    let (Some(a), Some(b)) = (slots[at - 1], slots[at]) else { return false };
                    self.follows(shader, a, b)
                };
                while next < slots.len() && follows(next) {
                    next += 1;
                }
                return Some(Segment { first: start as u32, count: (next - start) as u32, slot });
            }
            None
        })
    }

    /// Returns whether slot `b` may follow `a` in an array.
    fn follows(&self, shader: &Shader, a: Slot, b: Slot) -> bool {
        if !self.has_arrays || a.is_output && shader.stage == ShaderStage::Fragment {
            return false;
        }
        let (Some(first), Some(second)) = (self.slot(a), self.slot(b)) else { return false };
        let (SlotLocation::Located { location, .. }, SlotLocation::Located { location: next, .. }) =
            (first.place, second.place)
        else {
            return false;
        };
        let (x, y) = (&shader.variables[first.variable], &shader.variables[second.variable]);
        next == location + 1
            && (first.interpolation, first.centroid, first.sample)
                == (second.interpolation, second.centroid, second.sample)
            && (x.invariant, x.streams) == (y.invariant, y.streams)
            && first.vertices == second.vertices
    }

    /// Returns the array for a segment of several slots.
    fn run(&self, segment: &Segment) -> Option<LocationRange> {
        let SlotLocation::Located { location, .. } = self.slot(segment.slot)?.place else { return None };
        let Slot { is_output, space, .. } = segment.slot;
        (segment.count > 1).then_some(LocationRange {
            is_output,
            space,
            first: location,
            end: location + segment.count,
        })
    }

    /// Merges overlapping arrays.
    fn merge_runs(&mut self) {
        self.runs.sort_unstable();
        let mut merged: Vec<LocationRange> = Vec::new();
        for run in self.runs.drain(..) {
            match merged.last_mut() {
                Some(last) if (last.is_output, last.space) == (run.is_output, run.space) && run.first < last.end => {
                    last.end = last.end.max(run.end);
                }
                _ => merged.push(run),
            }
        }
        self.runs = merged;
    }

    /// Returns the array that covers a location.
    pub fn run_of(&self, slot: Slot, location: u32) -> Option<LocationRange> {
        self.runs.iter().copied().find(|run| {
            (run.is_output, run.space) == (slot.is_output, slot.space) && (run.first..run.end).contains(&location)
        })
    }

    /// Returns the class of vertex inputs: integers if all loads agree, else floats.
    pub fn attribute_class(&self, locations: std::ops::Range<u32>) -> Class {
        let votes = self.votes.range(locations).fold([0; 3], |[a, b, c], (_, [x, y, z])| [a + x, b + y, c + z]);
        match votes {
            [0, signed, 0] if signed > 0 => Class::Int,
            [0, _, unsigned] if unsigned > 0 => Class::Uint,
            _ => Class::Float,
        }
    }

    /// Returns the declared outputs between stages that are not accessed, with their locations. None for linked
    /// shaders.
    pub fn unwritten(&self, stage: ShaderStage, options: &SpirvOptions) -> Vec<(Slot, u32)> {
        if stage == ShaderStage::Fragment || options.locations.outputs.is_some() {
            return Vec::new();
        }
        let taken: FxHashSet<u32> = self.located.keys().filter(|key| key.0).map(|key| key.2).collect();
        let of = |(slot, data): (&Slot, &SlotData)| match data.place {
            SlotLocation::Located { location, .. } if slot.is_output && !taken.contains(&location) => {
                Some((location, *slot))
            }
            _ => None,
        };
        let unwritten: BTreeMap<u32, Slot> = self.slots.iter().filter_map(of).collect();
        unwritten.into_iter().map(|(location, slot)| (slot, location)).collect()
    }

    /// Returns whether the shader writes an output anywhere.
    pub fn is_written(&self, slot: Slot) -> bool {
        self.written.contains(&slot)
    }

    /// Returns the output slot of a register, if it has one value per invocation.
    pub fn output_of(&self, register: u32) -> Option<Slot> {
        self.registers.get(&(true, Space::Single, register)).copied()
    }

    /// Returns a location after those of all outputs.
    pub fn free_location(&self) -> u32 {
        let ends = self.slots.iter().map(|(slot, data)| match data.place {
            SlotLocation::Located { location, .. } if slot.is_output => location + 1,
            _ => 0,
        });
        ends.max().unwrap_or(0)
    }

    /// Returns the slot with this place and of the same kind as `beside`.
    pub fn find(&self, beside: Slot, place: SlotLocation) -> Option<Slot> {
        let is_beside = |slot: &Slot| (slot.is_output, slot.space) == (beside.is_output, beside.space);
        self.slots.iter().filter(|(slot, data)| is_beside(slot) && data.place == place).map(|(slot, _)| *slot).min()
    }
}
