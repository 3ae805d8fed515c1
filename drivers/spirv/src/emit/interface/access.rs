//! Loads and interpolations of inputs and outputs.
//!
//! Reads outside of an array give zero. If a dynamic index ranges over slots that no single array covers, each part is
//! read and the right one selected.

use smallvec::SmallVec;
use spirv::{BuiltIn, Capability, GlslStd450Op, Op};
use tgsi_ir::body::Swizzle;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Def, Inst, ShaderStage};

use super::instruction_access::{SlotAccess, deref_of};
use super::plan::{Segment, SlotData};
use super::slot_location::{BuiltInComponent, Slot, SlotLocation, Space};
use super::variables::storage_class;
use crate::emit::Emitter;
use crate::emit::buffers::{ArrayIndex, BoundsCheck};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

const VEC4: ValueType = ValueType::FLOAT.with_components(4);

/// How a slot is read.
#[derive(Clone, Copy)]
enum SlotReadOp {
    Load,
    Interpolate(GlslStd450Op, Option<Id>),
}

/// A slot, or an element of the array that begins with it.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub slot: Slot,
    pub element: Option<Id>,
}

/// The vertex of an access.
#[derive(Clone, Copy)]
pub(super) struct Vertex {
    pub id: Id,
    pub check: BoundsCheck,
}

impl Emitter<'_> {
    pub(in crate::emit) fn emit_deref_access(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        if deref_of(self.body, inst).is_none() {
            return self.emit_local_access(inst, op);
        }
        self.emit_indexed_io(inst, op)
    }

    pub(in crate::emit) fn emit_indexed_io(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let access = self.io_access(inst)?;
        let body = self.body;
        let Some(def) = body.inst_def(inst) else {
            let value = body.src(inst, usize::from(op == IntrinsicOp::StoreDeref));
            return self.store_io(inst, &access, value);
        };
        if access.is_fetch {
            return self.emit_framebuffer_fetch(inst, &access, def);
        }
        self.load_io(inst, &access, def, SlotReadOp::Load)
    }

    pub(in crate::emit) fn emit_interpolation(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let body = self.body;
        let access = self.io_access(inst)?;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        if self.shader.stage != ShaderStage::Fragment {
            return Err(SpirvError::UnsupportedIntrinsic { inst, op });
        }
        let how = match op {
            IntrinsicOp::InterpDerefAtSample => {
                let sample = self.component(body.src(inst, 1), 0, Class::Int)?;
                SlotReadOp::Interpolate(GlslStd450Op::InterpolateAtSample, Some(sample))
            }
            IntrinsicOp::InterpDerefAtOffset => {
                let offset = self.value(body.src(inst, 1), Class::Float)?;
                SlotReadOp::Interpolate(GlslStd450Op::InterpolateAtOffset, Some(offset))
            }
            _ => SlotReadOp::Interpolate(GlslStd450Op::InterpolateAtCentroid, None),
        };
        self.load_io(inst, &access, def, how)
    }

    fn io_access(&self, inst: Inst) -> Result<SlotAccess, SpirvError> {
        match self.io.plan.access(self.shader, self.body, inst) {
            Ok(Some(access)) => Ok(access),
            Ok(None) => Err(SpirvError::NotLowered { inst, what: "an access to neither an input nor an output" }),
            Err(what) => Err(SpirvError::Unsupported { inst, what }),
        }
    }

    fn load_io(&mut self, inst: Inst, access: &SlotAccess, def: Def, how: SlotReadOp) -> Result<(), SpirvError> {
        let body = self.body;
        let count = body.num_components(def);
        if body.bit_size(def) != 32 || count + access.component > 4 {
            return Err(SpirvError::Unsupported { inst, what: "a load of an input or output of this type" });
        }
        let wanted = self.classes.get(def);
        let vertex = self.vertex_of(access)?;
        let segments: SmallVec<[Segment; 4]> = self.io.plan.segments(self.shader, access).collect();
        let mut value = None;
        if vertex.is_none_or(|vertex| vertex.check != BoundsCheck::Never) {
            if let Some(index) = access.index {
                let place = self.place(0, index, 0)?;
                let is_only = segments.len() == 1;
                for segment in segments {
                    value = Some(self.load_segment((place, is_only), segment, vertex, how, wanted, value)?);
                }
            } else if let Some(segment) = segments.first() {
                value = Some(self.load_io_slot(Target { slot: segment.slot, element: None }, vertex, how, wanted)?);
            }
        }
        let (value, class) = match value {
            Some(value) => value,
            None => {
                let ty = self.module.value_type(VEC4);
                (self.module.null(ty), Class::Float)
            }
        };
        let ty = ValueType::new(class, 32, 4);
        let first = access.component;
        let swizzle = Swizzle::new(&[first, (first + 1).min(3), (first + 2).min(3), (first + 3).min(3)]);
        let mut value = self.take(value, ty, swizzle, count);
        if let Some(Vertex { check: BoundsCheck::If(condition), .. }) = vertex {
            let ty = ty.with_components(count);
            let ty_id = self.module.value_type(ty);
            let zero = self.module.null(ty_id);
            value = self.select(ty, condition, value, zero);
        }
        self.define(def, value, class);
        Ok(())
    }

    /// Returns the index within a segment, and whether it is inside. `is_only`: there are no other segments.
    pub(super) fn place_in(&mut self, place: ArrayIndex, segment: Segment, is_only: bool) -> (ArrayIndex, BoundsCheck) {
        if let (ArrayIndex::Dynamic { .. }, 2.., true, true) = (place, segment.count, is_only, self.options.unguarded) {
            return (self.advance(place, segment.first.wrapping_neg()), BoundsCheck::Always);
        }
        if let (ArrayIndex::Dynamic { index, most }, 1) = (place, segment.count)
            && most > 0
        {
            let first = self.module.uint(segment.first);
            return (
                ArrayIndex::Constant(0),
                BoundsCheck::If(self.pure_of(Op::IEqual, ValueType::BOOL, &[index, first])),
            );
        }
        let place = match self.advance(place, segment.first.wrapping_neg()) {
            // Indices before the segment have wrapped around.
            ArrayIndex::Dynamic { index, .. } if segment.first > 0 => ArrayIndex::Dynamic { index, most: u32::MAX },
            place => place,
        };
        // The choice of the segment needs the check on robust devices, too.
        let check = match place {
            ArrayIndex::Dynamic { index, most } if most >= segment.count => {
                let count = self.module.uint(segment.count);
                BoundsCheck::If(self.is_below(index, count))
            }
            place => self.check(place, 1, segment.count),
        };
        (place, check)
    }

    /// Loads from a segment if the index is inside, else gives `other`, or zero.
    fn load_segment(
        &mut self,
        (place, is_only): (ArrayIndex, bool),
        segment: Segment,
        vertex: Option<Vertex>,
        how: SlotReadOp,
        class: Class,
        other: Option<(Id, Class)>,
    ) -> Result<(Id, Class), SpirvError> {
        let (place, condition) = self.place_in(place, segment, is_only);
        let mut index = self.place_id(place);
        if segment.count > 1 && condition != BoundsCheck::Always {
            let last = self.module.uint(segment.count - 1);
            index = self.glsl(GlslStd450Op::UMin, ValueType::UINT, &[index, last]);
        }
        let element = (segment.count > 1).then_some(index);
        let (value, made) = self.load_io_slot(Target { slot: segment.slot, element }, vertex, how, class)?;
        let ty = ValueType::new(class, 32, 4);
        let value = if made == class { value } else { self.pure_of(Op::Bitcast, ty, &[value]) };
        let BoundsCheck::If(condition) = condition else { return Ok((value, class)) };
        let other = match other {
            Some((other, _)) => other,
            None => {
                let ty = self.module.value_type(ty);
                self.module.null(ty)
            }
        };
        Ok((self.select(ty, condition, value, other), class))
    }

    /// Loads the current value of an output as a vec4 of floats.
    pub(super) fn whole_output(&mut self, slot: Slot) -> Result<Id, SpirvError> {
        let (value, class) = self.load_io_slot(Target { slot, element: None }, None, SlotReadOp::Load, Class::Float)?;
        Ok(if class == Class::Float { value } else { self.pure_of(Op::Bitcast, VEC4, &[value]) })
    }

    /// Loads a slot as a vec4; returns it with its class.
    fn load_io_slot(
        &mut self,
        target: Target,
        vertex: Option<Vertex>,
        how: SlotReadOp,
        wanted: Class,
    ) -> Result<(Id, Class), SpirvError> {
        let slot = target.slot;
        let Some(data) = self.io.plan.slot(slot).copied() else {
            let ty = self.module.value_type(VEC4);
            return Ok((self.module.null(ty), Class::Float));
        };
        let front = self.load_home(target, data, vertex, how, wanted)?;
        let Some(back) = self.back_color(slot, data) else { return Ok(front) };
        let back = self.load_home(Target { slot: back.0, ..target }, back.1, vertex, how, wanted)?;
        let is_front = self.is_front_facing();
        Ok((self.select(VEC4, is_front, front.0, back.0), front.1))
    }

    fn load_home(
        &mut self,
        target: Target,
        data: SlotData,
        vertex: Option<Vertex>,
        how: SlotReadOp,
        wanted: Class,
    ) -> Result<(Id, Class), SpirvError> {
        let slot = target.slot;
        match data.place {
            SlotLocation::Located { location, source } => {
                let port = self.port(slot, data, location, source);
                let mut indices: SmallVec<[Id; 3]> = SmallVec::new();
                indices.extend(vertex.filter(|_| data.vertices > 0).map(|vertex| vertex.id));
                indices.extend(self.element_of(port.is_array, location - port.first, target.element));
                let pointer = self.io_pointer(slot.is_output, port.id, &indices, port.ty);
                let how = match how {
                    _ if self.is_flat(slot, data) => SlotReadOp::Load,
                    SlotReadOp::Load if self.is_read_at_sample(slot, data) => {
                        let variable = self.built_in(BuiltIn::SampleId, ValueType::INT);
                        let sample = self.pure_of(Op::Load, ValueType::INT, &[variable]);
                        SlotReadOp::Interpolate(GlslStd450Op::InterpolateAtSample, Some(sample))
                    }
                    how => how,
                };
                Ok((self.read(slot.is_output, pointer, port.ty, how), port.ty.class))
            }
            SlotLocation::Vector(built_in, ty) => {
                let by_vertex = if slot.space == Space::Vertex { data.vertices } else { 0 };
                let variable = self.built_in_variable(slot.is_output, built_in, ty, None, by_vertex);
                let indices: SmallVec<[Id; 3]> =
                    vertex.filter(|_| by_vertex > 0).map(|vertex| vertex.id).into_iter().collect();
                let pointer = self.io_pointer(slot.is_output, variable, &indices, ty);
                let mut value = self.read(slot.is_output, pointer, ty, SlotReadOp::Load);
                if matches!(data.place, SlotLocation::Vector(spirv::BuiltIn::PointCoord, _)) {
                    value = self.point_coordinate(value);
                }
                if data.place == SlotLocation::Vector(spirv::BuiltIn::FragCoord, VEC4) {
                    return Ok((self.fragment_coordinate(value), Class::Float));
                }
                if ty.components == 4 {
                    return Ok((value, ty.class));
                }
                let mut parts: SmallVec<[Id; 4]> = SmallVec::new();
                parts.push(value);
                parts.extend((ty.components..4).map(|component| self.module.float(data.place.missing(component))));
                Ok((self.pure_of(Op::CompositeConstruct, VEC4, &parts), Class::Float))
            }
            SlotLocation::Nothing | SlotLocation::AllColors => {
                let ty = self.module.value_type(VEC4);
                Ok((self.module.null(ty), Class::Float))
            }
            place => {
                let distances = self.io.plan.distances[usize::from(slot.is_output)];
                let class = if wanted == Class::Bool { Class::Float } else { wanted };
                let mut parts: SmallVec<[Id; 4]> = SmallVec::new();
                for component in 0..4 {
                    let ty = ValueType::new(class, 32, 1);
                    let id = match place.part(component, distances) {
                        Some(part) => self.load_part(slot, data, part, vertex, class),
                        None => self.module.scalar(ty, u64::from(place.missing(component).to_bits())),
                    };
                    parts.push(id);
                }
                Ok((self.pure_of(Op::CompositeConstruct, ValueType::new(class, 32, 4), &parts), class))
            }
        }
    }

    /// Returns whether an input that is interpolated at each sample is declared without `sample`.
    fn is_read_at_sample(&self, slot: Slot, data: SlotData) -> bool {
        data.sample && self.options.opengl_text && self.shader.stage == ShaderStage::Fragment && !slot.is_output
    }

    /// Loads a component that is a built-in, as bits of a class.
    fn load_part(
        &mut self,
        slot: Slot,
        data: SlotData,
        part: BuiltInComponent,
        vertex: Option<Vertex>,
        class: Class,
    ) -> Id {
        let pointer = self.part_pointer(slot, data, part, vertex);
        let value = self.read(slot.is_output, pointer, part.ty, SlotReadOp::Load);
        let ty = ValueType::new(class, 32, 1);
        if part.ty.class == Class::Bool {
            // TGSI's face is 1.0 or -1.0.
            let (front, back) = (1f32.to_bits(), (-1f32).to_bits());
            let (front, back) = (self.module.scalar(ty, front.into()), self.module.scalar(ty, back.into()));
            return self.select(ty, value, front, back);
        }
        if part.ty.class == class { value } else { self.pure_of(Op::Bitcast, ty, &[value]) }
    }

    pub(super) fn part_pointer(
        &mut self,
        slot: Slot,
        data: SlotData,
        part: BuiltInComponent,
        vertex: Option<Vertex>,
    ) -> Id {
        use spirv::BuiltIn::{ClipDistance, CullDistance, PointSize};
        let by_vertex = slot.space == Space::Vertex && matches!(part.built_in, PointSize | ClipDistance | CullDistance);
        let vertices = if by_vertex { data.vertices } else { 0 };
        let length = part.element.map(|(length, _)| length);
        let variable = self.built_in_variable(slot.is_output, part.built_in, part.ty, length, vertices);
        let mut indices: SmallVec<[Id; 3]> = SmallVec::new();
        indices.extend(vertex.filter(|_| vertices > 0).map(|vertex| vertex.id));
        if let Some((_, element)) = part.element {
            indices.push(self.module.uint(element));
        }
        self.io_pointer(slot.is_output, variable, &indices, part.ty)
    }

    /// Returns the index of an element in the array of a port.
    pub(super) fn element_of(&mut self, is_array: bool, first: u32, element: Option<Id>) -> Option<Id> {
        if !is_array {
            return None;
        }
        let first_id = self.module.uint(first);
        match element {
            None => Some(first_id),
            Some(element) if first == 0 => Some(element),
            Some(element) => Some(self.pure_of(Op::IAdd, ValueType::UINT, &[element, first_id])),
        }
    }

    pub(super) fn io_pointer(&mut self, is_output: bool, variable: Id, indices: &[Id], ty: ValueType) -> Id {
        if indices.is_empty() {
            return variable;
        }
        let ty = self.module.value_type(ty);
        let ty = self.module.pointer_type(storage_class(is_output), ty);
        let operands: SmallVec<[u32; 5]> = [variable].iter().chain(indices).map(|id| id.0).collect();
        self.pure(Op::AccessChain, ty, &operands)
    }

    fn read(&mut self, is_output: bool, pointer: Id, ty: ValueType, how: SlotReadOp) -> Id {
        let ty_id = self.module.value_type(ty);
        match how {
            // Inputs do not change, so the load is pure.
            SlotReadOp::Load if !is_output => self.pure(Op::Load, ty_id, &[pointer.0]),
            SlotReadOp::Load => self.result(Op::Load, ty_id, &[pointer.0]),
            SlotReadOp::Interpolate(op, operand) => {
                self.module.need(Capability::InterpolationFunction);
                let set = self.module.glsl();
                let operands: SmallVec<[u32; 4]> =
                    [set.0, op as u32, pointer.0].into_iter().chain(operand.map(|id| id.0)).collect();
                self.result(Op::ExtInst, ty_id, &operands)
            }
        }
    }

    /// Returns the vertex of an access, with its index clamped to the array.
    pub(super) fn vertex_of(&mut self, access: &SlotAccess) -> Result<Option<Vertex>, SpirvError> {
        let Some(def) = access.vertex else { return Ok(None) };
        let body = self.body;
        let data = access.slots.iter().flatten().find_map(|slot| self.io.plan.slot(*slot));
        let vertices = data.map_or(0, |data| data.vertices);
        let place = self.place(0, def, 0)?;
        let id = self.place_id(place);
        let is_output = access.slots.iter().flatten().any(|slot| slot.is_output);
        let is_own = is_output && body.intrinsic(body.def_inst(def)) == Some(IntrinsicOp::LoadInvocationId);
        let check = if is_own { BoundsCheck::Always } else { self.check(place, 1, vertices) };
        if let BoundsCheck::If(_) = check
            && body.def_constant(def).is_none()
        {
            let last = self.module.uint(vertices.saturating_sub(1));
            let id = self.glsl(GlslStd450Op::UMin, ValueType::UINT, &[id, last]);
            return Ok(Some(Vertex { id, check }));
        }
        Ok(Some(Vertex { id, check }))
    }
}
