//! The declarations and accesses of one side of a link.

use std::collections::{BTreeMap, BTreeSet};

use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData, Shape};
use crate::builder::{AluSrc, Builder};
use crate::entities::{Def, Inst, Type, Variable};
use crate::intrinsics::indices::IoSemantics;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::linking::LinkOptions;
use crate::passes::variables::opt_dead_write_vars::read_components;
use crate::shader::{Shader, ShaderStage};
use crate::slots::VaryingSlot;
use crate::types::TypeData;
use crate::variable::VariableModes;

/// Maximum number of slots of a variable to process.
const MAX_SLOTS: u32 = 1024;

/// A slot between two stages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot {
    /// Whether it is per patch.
    pub patch: bool,
    /// Its number (see [`crate::slots`]).
    pub location: i32,
}

impl Slot {
    /// Returns whether the slot only connects the stages, without a fixed function.
    pub fn is_free(self, options: &LinkOptions) -> bool {
        let Ok(number) = u8::try_from(self.location) else { return !self.patch && self.location > 255 };
        if self.patch {
            return number >= VaryingSlot::PATCH0;
        }
        match number {
            VaryingSlot::TEX0..=11 => !options.replaces_coordinates,
            VaryingSlot::FOGC | VaryingSlot::VAR0..=63 => true,
            _ => false,
        }
    }

    /// Returns whether rasteriser state may clamp it, make it flat, or choose between front and back colour.
    pub fn is_color(self) -> bool {
        !self.patch && [VaryingSlot::COL0, VaryingSlot::COL1].into_iter().any(|slot| self.location == i32::from(slot))
    }

    /// Returns the front colour of a back colour.
    pub fn front(self) -> Option<Slot> {
        let front = |slot: u8| Some(Slot { location: i32::from(slot), ..self });
        match u8::try_from(self.location) {
            Ok(VaryingSlot::BFC0) if !self.patch => front(VaryingSlot::COL0),
            Ok(VaryingSlot::BFC1) if !self.patch => front(VaryingSlot::COL1),
            _ => None,
        }
    }

    /// Returns whether linking may change the slot at all.
    fn is_varying(self, options: &LinkOptions) -> bool {
        self.is_free(options) || self.is_color() || self.front().is_some()
    }
}

/// Properties that components must share to be packed into one slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Class {
    patch: bool,
    interpolation: u8,
    centroid: bool,
    sample: bool,
    invariant: bool,
    vertices: u32,
}

impl Class {
    /// Returns whether it is per patch.
    pub fn is_patch(self) -> bool {
        self.patch
    }
}

/// The declaration of a slot.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredSlot {
    /// The variable.
    pub variable: Variable,
    /// The register of the slot.
    pub register: u32,
    /// The type of the slot.
    pub ty: Type,
    /// Number of vertices; 0 if the slot is not per vertex.
    pub vertices: u32,
}

/// An access of known location.
#[derive(Clone, Debug)]
pub struct VaryingAccess {
    /// The instruction.
    pub inst: Inst,
    /// The slot.
    pub slot: Slot,
    /// The component of the slot that corresponds to component 0 of the value.
    pub first: u8,
    /// Components of the slot that are written, or read and used.
    pub mask: u32,
    /// It accesses the variable of a vertex.
    pub is_of_vertex: bool,
}

impl VaryingAccess {
    /// Returns the index of the vertex, which changes when other accesses are rewritten.
    pub fn vertex(&self, body: &Body) -> Option<Def> {
        let (mut pointer, mut outermost) = (body.src(self.inst, 0), None);
        while let InstData::Deref { kind: DerefKind::Array, .. } = *body.inst(body.def_inst(pointer)) {
            let inst = body.def_inst(pointer);
            (pointer, outermost) = (body.src(inst, 0), Some(body.src(inst, 1)));
        }
        outermost.filter(|_| self.is_of_vertex)
    }
}

/// One side of a link.
#[derive(Debug, Default)]
pub struct LinkSide {
    /// Slots with their declarations.
    pub declared: BTreeMap<Slot, DeclaredSlot>,
    /// Loads, and interpolations of inputs, in program order.
    pub loads: Vec<VaryingAccess>,
    /// Stores, in program order.
    pub stores: Vec<VaryingAccess>,
    /// Slots that must be kept unchanged.
    pub kept: BTreeSet<Slot>,
    /// Slots with possible reads in addition to [`loads`](Self::loads).
    pub hidden_reads: BTreeSet<Slot>,
    /// Slots with possible writes in addition to [`stores`](Self::stores).
    pub hidden_writes: BTreeSet<Slot>,
    slots: BTreeMap<Variable, Vec<Slot>>,
}

/// Returns the body of a shader that has exactly one.
pub fn only_body(shader: &Shader) -> Option<&Body> {
    let entry = shader.entry_point()?;
    let has_one = shader.functions.values().filter(|function| function.body.is_some()).count() == 1;
    shader.functions[entry].body.as_ref().filter(|_| has_one)
}

/// Like [`only_body`], mutable.
pub fn only_body_mut(shader: &mut Shader) -> Option<&mut Body> {
    only_body(shader)?;
    let entry = shader.entry_point()?;
    shader.functions[entry].body.as_mut()
}

/// Returns the variable of a deref and the indices applied to it.
fn path(body: &Body, deref: Def) -> Option<(Variable, Vec<Def>)> {
    let (mut at, mut indices) = (deref, Vec::new());
    loop {
        let inst = body.def_inst(at);
        match *body.inst(inst) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                indices.reverse();
                return Some((variable, indices));
            }
            InstData::Deref { kind: DerefKind::Array, .. } => {
                indices.push(body.src(inst, 1));
                at = body.src(inst, 0);
            }
            // Only the variable matters for accesses below these.
            InstData::Deref {
                kind: DerefKind::Struct(_) | DerefKind::ArrayWildcard | DerefKind::PtrAsArray, ..
            } => {
                at = body.src(inst, 0);
                indices.push(at);
                indices.push(at);
            }
            _ => return None,
        }
    }
}

impl LinkSide {
    /// Collects the outputs or the inputs of a shader; `None` if there is more than one function.
    pub fn of(shader: &Shader, is_output: bool, options: &LinkOptions) -> Option<LinkSide> {
        let body = only_body(shader)?;
        let mut side = LinkSide::default();
        side.declare(shader, is_output, options);
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            side.visit(shader, body, inst, is_output);
        }
        Some(side)
    }

    fn declare(&mut self, shader: &Shader, is_output: bool, options: &LinkOptions) {
        let mode = if is_output { VariableModes::SHADER_OUT } else { VariableModes::SHADER_IN };
        for (variable, data) in shader.globals_with(mode) {
            let (mut ty, mut vertices) = (data.ty, 0);
            if let (true, &TypeData::Array { element, length, .. }) = (data.per_vertex, shader.types.get(ty)) {
                (ty, vertices) = (element, length.max(1));
            }
            let count = shader.types.array_elements(ty).max(1);
            let mut element = ty;
            if let &TypeData::Array { element: inner, .. } = shader.types.get(ty) {
                element = inner;
            }
            let is_plain = shader
                .types
                .as_vector(element)
                .is_some_and(|(scalar, components)| scalar.bit_size() == 32 && components <= 4)
                && count <= MAX_SLOTS
                && !(data.compact || data.per_view || data.per_primitive || data.fb_fetch_output)
                && data.streams == 0
                && data.index == 0;
            for number in 0..count.min(MAX_SLOTS) {
                let slot = Slot { patch: data.patch, location: data.location.wrapping_add(number as i32) };
                if !slot.is_varying(options) {
                    continue;
                }
                let register = data.driver_location.wrapping_add(number);
                let is_captured = is_output && options.captured.contains(&register);
                let is_second = self.declared.contains_key(&slot);
                self.declared.entry(slot).or_insert(DeclaredSlot { variable, register, ty: element, vertices });
                self.slots.entry(variable).or_default().push(slot);
                if !is_plain || is_captured || is_second || !slot.is_free(options) {
                    self.kept.insert(slot);
                }
                if is_captured {
                    self.hidden_reads.insert(slot);
                }
            }
        }
    }

    fn hide(&mut self, variable: Variable, reads: bool, writes: bool) {
        for &slot in self.slots.get(&variable).into_iter().flatten() {
            self.kept.insert(slot);
            if reads {
                self.hidden_reads.insert(slot);
            }
            if writes {
                self.hidden_writes.insert(slot);
            }
        }
    }

    fn visit(&mut self, shader: &Shader, body: &Body, inst: Inst, is_output: bool) {
        use IntrinsicOp::*;
        let mode = if is_output { VariableModes::SHADER_OUT } else { VariableModes::SHADER_IN };
        if matches!(body.inst(inst), InstData::Deref { .. }) {
            return;
        }
        let op = body.intrinsic(inst);
        let is_known = matches!(
            op,
            Some(LoadDeref | StoreDeref | InterpDerefAtCentroid | InterpDerefAtSample | InterpDerefAtOffset)
        );
        for source in body.sources(inst) {
            let deref = body.src_def(source);
            let InstData::Deref { modes, .. } = *body.inst(body.def_inst(deref)) else { continue };
            if !modes.intersects(mode) {
                continue;
            }
            let Some((variable, indices)) = path(body, deref) else {
                let all: Vec<Variable> = self.slots.keys().copied().collect();
                all.into_iter().for_each(|variable| self.hide(variable, true, true));
                continue;
            };
            let access = match is_known && body.source_number(source) == 0 {
                true => self.access(shader, body, inst, variable, &indices),
                false => None,
            };
            let is_store = op == Some(StoreDeref);
            match access {
                Some(access) if is_store => self.stores.push(access),
                Some(access) => self.loads.push(access),
                None => self.hide(variable, !is_store, !is_known || is_store),
            }
        }
        let is_lowered = match op {
            Some(LoadInput | LoadPerVertexInput | LoadInputVertex | LoadInterpolatedInput) => !is_output,
            Some(LoadOutput | LoadPerVertexOutput | StoreOutput | StorePerVertexOutput) => is_output,
            _ => false,
        };
        if is_lowered {
            // It names a slot and a register, which must both be kept.
            let semantics = IoSemantics::from_i32(body.index(inst, IndexKind::IoSemantics));
            let first = i32::from(semantics.location);
            let slots = first..first + i32::from(semantics.num_slots).max(1);
            let base = body.base(inst);
            let count = match op.and_then(|op| op.info().index_slot(IndexKind::Range)) {
                Some(_) => body.index(inst, IndexKind::Range) as u32,
                None => 1,
            };
            let registers = base..base.saturating_add(count.max(u32::from(semantics.num_slots)));
            let named: Vec<Variable> = self
                .declared
                .iter()
                .filter(|(slot, declared)| slots.contains(&slot.location) || registers.contains(&declared.register))
                .map(|(_, declared)| declared.variable)
                .collect();
            named.into_iter().for_each(|variable| self.hide(variable, true, true));
        }
    }

    /// Returns an access if its location is known and it accesses whole vectors.
    fn access(
        &self,
        shader: &Shader,
        body: &Body,
        inst: Inst,
        variable: Variable,
        indices: &[Def],
    ) -> Option<VaryingAccess> {
        let slots = self.slots.get(&variable)?;
        let data = &shader.variables[variable];
        let (mut indices, mut ty, mut is_of_vertex) = (indices.iter(), data.ty, false);
        if let (true, &TypeData::Array { element, .. }) = (data.per_vertex, shader.types.get(ty)) {
            indices.next()?;
            (ty, is_of_vertex) = (element, true);
        }
        let mut number = 0;
        if let &TypeData::Array { element, length, .. } = shader.types.get(ty) {
            let index = body.constant_component(*indices.next()?, 0)?;
            number = u32::try_from(index).ok().filter(|&index| index < length)?;
            ty = element;
        }
        if indices.next().is_some() || shader.types.as_vector(ty).is_none() {
            return None;
        }
        let location = data.location.wrapping_add(number as i32);
        let slot = slots[slots.binary_search_by_key(&location, |slot| slot.location).ok()?];
        let first = data.location_frac & 3;
        let (components, mask) = match body.inst_def(inst) {
            Some(def) => (body.num_components(def), read_components(body, def)),
            None => (body.num_components(body.src(inst, 1)), body.write_mask(inst)),
        };
        let all = (1u32 << components) - 1;
        let mask = (mask & all) << first;
        (first + components <= 4).then_some(VaryingAccess { inst, slot, first, mask, is_of_vertex })
    }

    /// Returns the components of each slot that are read.
    pub fn reads(&self) -> BTreeMap<Slot, u32> {
        masks(&self.loads, &self.hidden_reads)
    }

    /// Returns the components of each slot that are written.
    pub fn writes(&self) -> BTreeMap<Slot, u32> {
        masks(&self.stores, &self.hidden_writes)
    }

    /// Returns all slots of a variable.
    pub fn slots_of(&self, variable: Variable) -> &[Slot] {
        self.slots.get(&variable).map_or(&[], Vec::as_slice)
    }

    /// Returns the variables with their slots.
    pub fn variables(&self) -> impl Iterator<Item = (Variable, &[Slot])> {
        self.slots.iter().map(|(&variable, slots)| (variable, slots.as_slice()))
    }

    /// Returns the properties that components must share with a slot to be packed together, from both sides.
    pub fn class(&self, shader: &Shader, slot: Slot, other: Option<(&LinkSide, &Shader)>) -> Option<Class> {
        let own = self.declared.get(&slot)?;
        let data = &shader.variables[own.variable];
        let is_fragment = shader.stage == ShaderStage::Fragment;
        let invariant = other.and_then(|(side, shader)| {
            let declared = side.declared.get(&slot)?;
            Some(shader.variables[declared.variable].invariant)
        });
        let vertices = other.and_then(|(side, _)| side.declared.get(&slot)).map_or(0, |declared| declared.vertices);
        Some(Class {
            patch: slot.patch,
            interpolation: if is_fragment { data.interpolation as u8 } else { 0 },
            centroid: is_fragment && data.centroid,
            sample: is_fragment && data.sample,
            invariant: invariant.unwrap_or(false),
            vertices: own.vertices << 16 | vertices,
        })
    }
}

fn masks(accesses: &[VaryingAccess], hidden: &BTreeSet<Slot>) -> BTreeMap<Slot, u32> {
    let mut masks: BTreeMap<Slot, u32> = hidden.iter().map(|&slot| (slot, 15)).collect();
    for access in accesses {
        *masks.entry(access.slot).or_default() |= access.mask;
    }
    masks
}

/// Makes both sides keep the same slots, including all slots of a variable with a kept slot.
pub fn keep_alike(a: &mut LinkSide, b: &mut LinkSide) {
    let mut work: Vec<Slot> = a.kept.union(&b.kept).copied().collect();
    while let Some(slot) = work.pop() {
        for side in [&mut *a, &mut *b] {
            side.kept.insert(slot);
            let Some(declared) = side.declared.get(&slot) else { continue };
            let others: Vec<Slot> = side.slots_of(declared.variable).to_vec();
            for other in others {
                if side.kept.insert(other) {
                    work.push(other);
                }
            }
        }
    }
}

/// Returns the origin of a component of a value, through copies and vectors.
pub fn scalar_of(body: &Body, def: Def, component: u8) -> (Def, u8) {
    /// Enough for the output of translators.
    const LONGEST_CHAIN: usize = 32;
    let (mut def, mut component) = (def, component);
    for _ in 0..LONGEST_CHAIN {
        let inst = body.def_inst(def);
        let number = match body.alu(inst) {
            Some((AluOp::Mov, _)) => 0,
            Some((op, _)) if op.is_vec() && usize::from(component) < body.num_sources(inst) => usize::from(component),
            _ => break,
        };
        let source = AluSrc::of(body, body.source(inst, number));
        let selector = if number == 0 && body.alu_op(inst) == Some(AluOp::Mov) { component } else { 0 };
        (def, component) = (source.def, source.swizzle.get(usize::from(selector)));
    }
    (def, component)
}

/// The path from a variable to one of its slots.
#[derive(Clone, Copy, Debug)]
pub struct SlotPath {
    variable: Variable,
    mode: VariableModes,
    ty: Type,
    of_vertex: Option<Type>,
    /// The type of an element, and the index of the slot's element.
    element: Option<(Type, u32)>,
    /// The components of the slot that the variable has.
    shape: Shape,
}

impl SlotPath {
    /// Returns the path to a slot.
    pub fn to(shader: &Shader, variable: Variable, slot: Slot) -> SlotPath {
        let data = &shader.variables[variable];
        let (mut inner, mut of_vertex, mut element) = (data.ty, None, None);
        if let (true, &TypeData::Array { element, .. }) = (data.per_vertex, shader.types.get(inner)) {
            (inner, of_vertex) = (element, Some(element));
        }
        if let &TypeData::Array { element: of_slot, .. } = shader.types.get(inner) {
            element = Some((of_slot, slot.location.wrapping_sub(data.location) as u32));
        }
        let components = shader.types.as_vector(element.map_or(inner, |(of_slot, _)| of_slot));
        let shape = Shape::new(components.map_or(4, |(_, components)| components), 32);
        SlotPath { variable, mode: data.mode, ty: data.ty, of_vertex, element, shape }
    }

    /// Emits a pointer to the slot, of a vertex if the variable is per vertex.
    pub fn pointer(self, b: &mut Builder<'_>, vertex: Option<Def>) -> Def {
        let mut deref = b.deref_var(self.variable, self.mode, self.ty);
        if let (Some(ty), Some(vertex)) = (self.of_vertex, vertex) {
            deref = b.deref_array(deref, vertex, ty);
        }
        if let Some((ty, number)) = self.element {
            let index = b.u32_const(number);
            deref = b.deref_array(deref, index, ty);
        }
        deref
    }
}

/// Reads a slot like an existing access, of a vertex if the variable is per vertex: loads it, or interpolates it at the
/// same position.
pub fn read_alike(b: &mut Builder<'_>, inst: Inst, path: SlotPath, vertex: Option<Def>) -> Def {
    let pointer = path.pointer(b, vertex);
    let op = b.body.intrinsic(inst).unwrap_or(IntrinsicOp::LoadDeref);
    let mut sources: Vec<Def> = b.body.sources(inst).map(|source| b.body.src_def(source)).collect();
    sources[0] = pointer;
    let access = match op {
        IntrinsicOp::LoadDeref => b.body.index(inst, IndexKind::Access),
        _ => return b.intrinsic_def(op, &sources, &[], path.shape),
    };
    b.intrinsic_def(op, &sources, &[(IndexKind::Access, access)], path.shape)
}

/// Removes unreferenced variables of linkable slots, and updates the shader's information.
pub fn remove_unused(shader: &mut Shader, is_output: bool, options: &LinkOptions) {
    let mode = if is_output { VariableModes::SHADER_OUT } else { VariableModes::SHADER_IN };
    let mut named: BTreeSet<Variable> = BTreeSet::new();
    for body in shader.bodies_mut() {
        let mut derefs: Vec<Inst> = Vec::new();
        for block in body.blocks() {
            derefs.extend(body.insts(block).filter(|&inst| match *body.inst(inst) {
                InstData::Deref { modes, .. } => modes.intersects(mode),
                _ => false,
            }));
        }
        // A deref comes after the deref that it points into.
        for inst in derefs.into_iter().rev() {
            if body.inst_def(inst).is_some_and(|def| body.is_unused(def)) {
                body.remove_inst(inst);
            } else if let InstData::Deref { kind: DerefKind::Var(variable), .. } = *body.inst(inst) {
                named.insert(variable);
            }
        }
    }
    let Shader { globals, variables, .. } = shader;
    globals.retain(|&variable| {
        let data = &mut variables[variable];
        let slot = Slot { patch: data.patch, location: data.location };
        let goes = data.mode == mode && !named.contains(&variable) && slot.is_varying(options);
        let captured = is_output && options.captured.contains(&data.driver_location);
        if goes && !captured {
            data.mode = VariableModes::NONE;
        }
        !goes || captured
    });
    note_slots(shader, is_output);
}

/// Updates the masks of slots from the variables.
fn note_slots(shader: &mut Shader, is_output: bool) {
    let mode = if is_output { VariableModes::SHADER_OUT } else { VariableModes::SHADER_IN };
    let (mut slots, mut patch_slots) = (0u64, 0u32);
    for (_, data) in shader.globals_with(mode) {
        let mut ty = data.ty;
        if let (true, &TypeData::Array { element, .. }) = (data.per_vertex, shader.types.get(ty)) {
            ty = element;
        }
        for number in 0..shader.types.array_elements(ty).clamp(1, MAX_SLOTS) {
            match data.location.wrapping_add(number as i32) {
                slot @ 0..64 => slots |= 1 << slot,
                slot @ 64..96 if data.patch => patch_slots |= 1 << (slot - 64),
                _ => {}
            }
        }
    }
    let info = &mut shader.info;
    if is_output {
        (info.outputs_written, info.patch_outputs_written) = (slots, patch_slots);
    } else {
        (info.inputs_read, info.patch_inputs_read) = (slots, patch_slots);
    }
}

/// Returns the slot of the front colour of a back colour.
pub fn front_color(location: i32) -> Option<i32> {
    Slot { patch: false, location }.front().map(|slot| slot.location)
}

/// Returns the slots of an interface that need a number in the target, with the variables that declare them: slots
/// without a fixed function, and colours.
pub fn linked_slots(shader: &Shader, is_output: bool) -> BTreeMap<(bool, i32), Variable> {
    let options = LinkOptions::default();
    let mut side = LinkSide::default();
    side.declare(shader, is_output, &options);
    side.declared.iter().map(|(slot, declared)| ((slot.patch, slot.location), declared.variable)).collect()
}
