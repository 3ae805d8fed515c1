//! Stores of outputs.
//!
//! Writes outside of an array are dropped. If a dynamic index ranges over slots that no single array covers, each part
//! is written under a condition.

use smallvec::SmallVec;
use spirv::Op;
use tgsi_ir::{Def, Inst};

use super::access::{Target, Vertex};
use super::instruction_access::SlotAccess;
use super::plan::{Segment, SlotData};
use super::slot_location::{SlotLocation, Space};
use crate::emit::Emitter;
use crate::emit::buffers::BoundsCheck;
use crate::error::SpirvError;
use crate::module::{Id, ValueType};

impl Emitter<'_> {
    pub(super) fn store_io(&mut self, inst: Inst, access: &SlotAccess, value: Def) -> Result<(), SpirvError> {
        let body = self.body;
        let mask = body.write_mask(inst);
        if body.bit_size(value) != 32 || body.num_components(value) + access.component > 4 {
            return Err(SpirvError::Unsupported { inst, what: "a store of an output of this type" });
        }
        let vertex = self.vertex_of(access)?;
        let mut conditions: SmallVec<[Id; 2]> = SmallVec::new();
        match vertex.map(|vertex| vertex.check) {
            Some(BoundsCheck::Never) => return Ok(()),
            Some(BoundsCheck::If(condition)) => conditions.push(condition),
            _ => {}
        }
        let segments: SmallVec<[Segment; 4]> = self.io.plan.segments(self.shader, access).collect();
        let place = match access.index {
            Some(index) => Some(self.place(0, index, 0)?),
            None => None,
        };
        let is_only = segments.len() == 1;
        for segment in segments {
            let mut conditions = conditions.clone();
            let mut element = None;
            if let Some(place) = place {
                let (place, check) = self.place_in(place, segment, is_only);
                match check {
                    BoundsCheck::Never => continue,
                    BoundsCheck::If(condition) => conditions.push(condition),
                    BoundsCheck::Always => {}
                }
                element = (segment.count > 1).then(|| self.place_id(place));
            }
            let target = Target { slot: segment.slot, element };
            let condition =
                conditions.into_iter().reduce(|a, b| self.pure_of(Op::LogicalAnd, ValueType::BOOL, &[a, b]));
            match condition {
                Some(condition) => {
                    self.if_then(condition, |e| e.store_slot(inst, target, vertex, access, value, mask))?;
                }
                None => self.store_slot(inst, target, vertex, access, value, mask)?,
            }
        }
        Ok(())
    }

    fn store_slot(
        &mut self,
        inst: Inst,
        target: Target,
        vertex: Option<Vertex>,
        access: &SlotAccess,
        value: Def,
        mask: u32,
    ) -> Result<(), SpirvError> {
        let slot = target.slot;
        let Some(data) = self.io.plan.slot(slot).copied() else { return Ok(()) };
        self.store_clip_distances(inst, slot, access, value, mask)?;
        match data.place {
            SlotLocation::Nothing => Ok(()),
            SlotLocation::AllColors => {
                for location in 0..u32::from(self.options.color_buffers.max(1)) {
                    let place = SlotLocation::Located { location, source: 0 };
                    let own = SlotData { place, ..data };
                    self.store_vector(inst, target, own, vertex, access, value, mask)?;
                }
                Ok(())
            }
            SlotLocation::Located { .. } | SlotLocation::Vector(..) => {
                self.store_vector(inst, target, data, vertex, access, value, mask)
            }
            place => {
                let distances = self.io.plan.distances[1];
                for number in (0..self.body.num_components(value)).filter(|c| mask >> c & 1 != 0) {
                    let Some(part) = place.part(number + access.component, distances) else { continue };
                    let value = self.component(value, number, part.ty.class)?;
                    let pointer = self.part_pointer(slot, data, part, vertex);
                    self.push(Op::Store, &[pointer.0, value.0]);
                }
                Ok(())
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "an access in parts")]
    fn store_vector(
        &mut self,
        inst: Inst,
        target: Target,
        data: SlotData,
        vertex: Option<Vertex>,
        access: &SlotAccess,
        value: Def,
        mask: u32,
    ) -> Result<(), SpirvError> {
        let slot = target.slot;
        let mut indices: SmallVec<[Id; 4]> = SmallVec::new();
        let (variable, ty) = match data.place {
            SlotLocation::Vector(built_in, ty) => {
                let vertices = if slot.space == Space::Vertex { data.vertices } else { 0 };
                let variable = self.built_in_variable(true, built_in, ty, None, vertices);
                indices.extend(vertex.filter(|_| vertices > 0).map(|vertex| vertex.id));
                (variable, ty)
            }
            SlotLocation::Located { location, source } => {
                let port = self.port(slot, data, location, source);
                indices.extend(vertex.filter(|_| data.vertices > 0).map(|vertex| vertex.id));
                indices.extend(self.element_of(port.is_array, location - port.first, target.element));
                (port.id, port.ty)
            }
            _ => return Ok(()),
        };
        let components = self.body.num_components(value);
        let all = (1 << components) - 1;
        let first = access.component;
        let is_all = mask & all == all;
        if is_all && (components == 4 || access.is_whole) {
            let mut id = if components == 4 {
                self.value(value, ty.class)?
            } else {
                let mut parts: SmallVec<[Id; 4]> = SmallVec::new();
                for component in 0..4u8 {
                    let number = component.checked_sub(first).filter(|&number| number < components);
                    parts.push(match number {
                        Some(number) => self.component(value, number, ty.class)?,
                        None => self.module.scalar(ty, 0),
                    });
                }
                self.pure_of(Op::CompositeConstruct, ty, &parts)
            };
            if matches!(data.place, SlotLocation::Vector(spirv::BuiltIn::Position, _)) {
                self.capture_position(slot, id);
                id = self.position(id);
            }
            let pointer = self.io_pointer(true, variable, &indices, ty);
            self.push(Op::Store, &[pointer.0, id.0]);
            return Ok(());
        }
        if matches!(data.place, SlotLocation::Vector(spirv::BuiltIn::Position, _)) && self.moves_positions() {
            return Err(SpirvError::Unsupported { inst, what: "a position that is written in parts, and moved" });
        }
        for number in (0..components).filter(|c| mask >> c & 1 != 0) {
            let id = self.component(value, number, ty.class)?;
            let mut indices = indices.clone();
            indices.push(self.module.uint(u32::from(number + first)));
            let pointer = self.io_pointer(true, variable, &indices, ty.scalar());
            self.push(Op::Store, &[pointer.0, id.0]);
        }
        Ok(())
    }
}
