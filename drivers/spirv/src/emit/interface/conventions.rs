//! Conventions that differ between OpenGL and Vulkan: depth range, direction of y, pixel centres, two-sided colours,
//! point sizes, user clip planes.

use smallvec::SmallVec;
use spirv::{BuiltIn, Op};
use tgsi_ir::body::Swizzle;
use tgsi_ir::slots::VaryingSlot;
use tgsi_ir::{Def, Inst, ShaderStage};

use super::instruction_access::SlotAccess;
use super::plan::SlotData;
use super::slot_location::{Slot, SlotLocation};
use crate::emit::Emitter;
use crate::emit::parameters::Parameter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};
use crate::options::Origin;

const VEC4: ValueType = ValueType::FLOAT.with_components(4);

impl Emitter<'_> {
    /// Returns whether the rasteriser may come next, according to the shader.
    pub(super) fn is_last(&self) -> bool {
        let stage = self.shader.stage;
        matches!(stage, ShaderStage::Vertex | ShaderStage::TessEval | ShaderStage::Geometry)
            && !matches!(
                self.shader.info.next_stage,
                Some(ShaderStage::TessCtrl | ShaderStage::TessEval | ShaderStage::Geometry)
            )
    }

    /// Returns whether positions are transformed when they are written.
    pub(super) fn moves_positions(&self) -> bool {
        (self.options.depth_minus_one_to_one || self.options.flip_y || self.is_in_window()) && self.is_last()
    }

    /// Returns whether positions are window coordinates, with 1 / w.
    fn is_in_window(&self) -> bool {
        self.shader.stage == ShaderStage::Vertex && self.shader.info.vs.window_space_position
    }

    /// Returns a position as the rasteriser expects it.
    pub(super) fn position(&mut self, value: Id) -> Id {
        if !self.moves_positions() {
            return value;
        }
        let mut parts: SmallVec<[Id; 4]> =
            (0..4).map(|component| self.take(value, VEC4, Swizzle::replicate(component), 1)).collect();
        if self.is_in_window() {
            // The viewport transform, which follows Vulkan's order, maps this back to the window position.
            return self.position_of_window(value, parts[3]);
        }
        if self.options.flip_y {
            parts[1] = self.pure_of(Op::FNegate, ValueType::FLOAT, &[parts[1]]);
        }
        if self.options.depth_minus_one_to_one {
            let sum = self.pure_of(Op::FAdd, ValueType::FLOAT, &[parts[2], parts[3]]);
            let half = self.module.float(0.5);
            parts[2] = self.pure_of(Op::FMul, ValueType::FLOAT, &[sum, half]);
        }
        self.pure_of(Op::CompositeConstruct, VEC4, &parts)
    }

    /// Converts a window position with last component 1 / w to clip space.
    fn position_of_window(&mut self, value: Id, inverse_w: Id) -> Id {
        let scale = self.parameter(Parameter::WindowScale, 0);
        let offset = self.parameter(Parameter::WindowOffset, 0);
        let one = self.module.float(1.0);
        let w = self.pure_of(Op::FDiv, ValueType::FLOAT, &[one, inverse_w]);
        let scaled = self.pure_of(Op::FMul, VEC4, &[value, scale]);
        let moved = self.pure_of(Op::FAdd, VEC4, &[scaled, offset]);
        let product = self.pure_of(Op::VectorTimesScalar, VEC4, &[moved, w]);
        let mut parts: SmallVec<[Id; 4]> =
            (0..3).map(|component| self.take(product, VEC4, Swizzle::replicate(component), 1)).collect();
        parts.push(w);
        self.pure_of(Op::CompositeConstruct, VEC4, &parts)
    }

    /// Returns the coordinates within a point, relative to the host's origin.
    pub(in crate::emit) fn point_coordinate(&mut self, value: Id) -> Id {
        if !self.options.point_origin_lower_left {
            return value;
        }
        let vec2 = ValueType::FLOAT.with_components(2);
        let [x, y] = [0, 1].map(|component| self.take(value, vec2, Swizzle::replicate(component), 1));
        let one = self.module.float(1.0);
        let y = self.pure_of(Op::FSub, ValueType::FLOAT, &[one, y]);
        self.pure_of(Op::CompositeConstruct, vec2, &[x, y])
    }

    /// Converts the position of a fragment to the shader's conventions.
    pub(in crate::emit) fn fragment_coordinate(&mut self, value: Id) -> Id {
        let info = &self.shader.info.fs;
        let flips = match self.options.origin {
            Origin::UpperLeft => !info.origin_upper_left,
            Origin::LowerLeft => info.origin_upper_left,
            Origin::OfShader => false,
        };
        let moves = info.pixel_center_integer;
        if !flips && !moves {
            return value;
        }
        let half = self.module.float(0.5);
        let mut parts: SmallVec<[Id; 4]> =
            (0..4).map(|component| self.take(value, VEC4, Swizzle::replicate(component), 1)).collect();
        if flips {
            let height = self.parameter(Parameter::FragmentHeight, 0);
            parts[1] = self.pure_of(Op::FSub, ValueType::FLOAT, &[height, parts[1]]);
        }
        if moves {
            for part in &mut parts[..2] {
                *part = self.pure_of(Op::FSub, ValueType::FLOAT, &[*part, half]);
            }
        }
        self.pure_of(Op::CompositeConstruct, VEC4, &parts)
    }

    /// Loads whether the primitive is front-facing.
    pub(in crate::emit) fn is_front_facing(&mut self) -> Id {
        let variable = self.built_in(BuiltIn::FrontFacing, ValueType::BOOL);
        self.pure_of(Op::Load, ValueType::BOOL, &[variable])
    }

    /// Returns the slot of the back colour, if colours are two-sided.
    pub(super) fn back_color(&self, slot: Slot, data: SlotData) -> Option<(Slot, SlotData)> {
        if !self.options.two_sided || self.shader.stage != ShaderStage::Fragment {
            return None;
        }
        let back = slot.back_color()?;
        let place = match &self.options.locations.inputs {
            Some(locations) => {
                let location = locations.get(&(false, back.location))?.location;
                SlotLocation::Located { location, source: 0 }
            }
            None => back.place(self.shader.stage, 0, 0),
        };
        Some((back, SlotData { place, ..data }))
    }

    /// Returns TGSI's name of a slot.
    fn semantic_name(&self, slot: Slot) -> String {
        let semantic = self.semantic_of(slot);
        semantic.map_or(slot.location.to_string(), |(name, index)| format!("{}[{index}]", name.name()))
    }

    /// Emits the code before the first instruction.
    pub(in crate::emit) fn at_start(&mut self) -> Result<(), SpirvError> {
        self.io.plan = super::plan::Plan::new(self.shader, self.body, &self.classes, self.options);
        if let Some((slot, location)) = self.io.plan.beyond {
            return Err(SpirvError::NoLocation { name: self.semantic_name(slot), location });
        }
        if let Some((first, second, location)) = self.io.plan.clash {
            let [first, second] = [first, second].map(|slot| self.semantic_name(slot));
            return Err(SpirvError::Location { first, second, location });
        }
        if self.clips_by_planes() {
            self.io.plan.distances[1].clip = u32::from(self.options.user_clip_planes.min(8));
        }
        self.plan_stream_output()?;
        self.declare_unwritten();
        if self.shader.stage != ShaderStage::Geometry {
            self.before_vertex();
        }
        Ok(())
    }

    /// Emits the code before each vertex: a point size, if the shader writes none, and in WGSL a position.
    pub(super) fn before_vertex(&mut self) {
        let position =
            Slot { is_output: true, location: i32::from(VaryingSlot::POS), space: super::slot_location::Space::Single };
        if self.options.wgsl && self.shader.stage == ShaderStage::Vertex && !self.io.plan.is_written(position) {
            let variable = self.built_in_variable(true, BuiltIn::Position, VEC4, None, 0);
            let ty = self.module.value_type(VEC4);
            let zero = self.module.null(ty);
            self.push(Op::Store, &[variable.0, zero.0]);
        }
        if self.options.point_size && self.is_last() && !self.io.plan.writes_point_size {
            let variable = self.built_in_variable(true, BuiltIn::PointSize, ValueType::FLOAT, None, 0);
            let one = self.module.float(1.0);
            self.push(Op::Store, &[variable.0, one.0]);
        }
    }

    /// Emits the code before each return: copies for stream output.
    pub(in crate::emit) fn at_end(&mut self) -> Result<(), SpirvError> {
        if self.shader.stage == ShaderStage::Geometry { Ok(()) } else { self.capture_outputs() }
    }

    /// Returns whether clip distances are computed from user clip planes.
    fn clips_by_planes(&self) -> bool {
        self.options.user_clip_planes > 0
            && self.is_last()
            && !self.io.plan.writes_clip_distances
            && !self.shader.info.prohibit_ucps
            && !self.is_in_window()
    }

    /// Emits the distances from user clip planes when the clipped position is stored to `slot`.
    pub(super) fn store_clip_distances(
        &mut self,
        inst: Inst,
        slot: Slot,
        access: &SlotAccess,
        value: Def,
        mask: u32,
    ) -> Result<(), SpirvError> {
        if !self.clips_by_planes() || slot.space != super::slot_location::Space::Single {
            return Ok(());
        }
        let clip_vertex = Slot { location: i32::from(VaryingSlot::CLIP_VERTEX), ..slot };
        let clipped = match self.io.plan.slot(clip_vertex) {
            Some(_) => clip_vertex,
            None => Slot { location: i32::from(VaryingSlot::POS), ..slot },
        };
        if slot != clipped {
            return Ok(());
        }
        if access.component != 0 || self.body.num_components(value) != 4 || mask & 15 != 15 {
            return Err(SpirvError::Unsupported { inst, what: "a clipped vertex that is written in parts" });
        }
        let value = self.value(value, Class::Float)?;
        let count = u32::from(self.options.user_clip_planes.min(8));
        let variable = self.built_in_variable(true, BuiltIn::ClipDistance, ValueType::FLOAT, Some(count), 0);
        let float = self.module.value_type(ValueType::FLOAT);
        let pointer_type = self.module.pointer_type(spirv::StorageClass::Output, float);
        for number in 0..count {
            let plane = self.parameter(Parameter::ClipPlanes, number);
            let distance = self.pure_of(Op::Dot, ValueType::FLOAT, &[value, plane]);
            let index = self.module.uint(number);
            let pointer = self.pure(Op::AccessChain, pointer_type, &[variable.0, index.0]);
            self.push(Op::Store, &[pointer.0, distance.0]);
        }
        Ok(())
    }
}
