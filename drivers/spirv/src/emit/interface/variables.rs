//! The variables of inputs and outputs, each declared on first access.

use spirv::{BuiltIn, Capability, Decoration, StorageClass};
use tgsi_compiler::reflection::Varying;
use tgsi_ir::ShaderStage;
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::slots::VaryingSlot;

use super::plan::LOCATIONS;
use super::plan::SlotData;
use super::slot_location::{Slot, SlotLocation, Space, TEXCOORD, VARYING_CLASS};
use crate::emit::Emitter;
use crate::module::{Class, Id, ValueType};

const VIEWPORT_INDEX_LAYER: &str = "SPV_EXT_shader_viewport_index_layer";
const VIEWPORT_ARRAY: &str = "SPV_NV_viewport_array2";
const DRAW_PARAMETERS: &str = "SPV_KHR_shader_draw_parameters";
const SHADER_BALLOT: &str = "SPV_KHR_shader_ballot";
const MULTIVIEW: &str = "SPV_KHR_multiview";

/// A variable at a location.
#[derive(Clone, Copy, Debug)]
pub struct InterfaceVariable {
    /// The variable.
    pub id: Id,
    /// The type of an element.
    pub ty: ValueType,
    /// The location of the first element.
    pub first: u32,
    /// It is an array of elements.
    pub is_array: bool,
}

/// Returns the storage class of inputs or outputs.
pub const fn storage_class(is_output: bool) -> StorageClass {
    if is_output { StorageClass::Output } else { StorageClass::Input }
}

impl Emitter<'_> {
    /// Returns the variable of a slot at a location.
    pub(super) fn port(&mut self, slot: Slot, data: SlotData, location: u32, source: u32) -> InterfaceVariable {
        let run = self.io.plan.run_of(slot, location);
        let (first, end) = run.map_or((location, location + 1), |run| (run.first, run.end));
        let key = (slot.is_output, slot.space, first, source);
        if let Some(&port) = self.io.ports.get(&key) {
            return port;
        }
        let stage = self.shader.stage;
        let class = match (stage, slot.is_output) {
            (ShaderStage::Vertex, false) => self.attribute_class(first..end),
            (ShaderStage::Fragment, true) => {
                self.options.color_outputs.get(first as usize).map_or(Class::Float, |class| class.class())
            }
            _ => VARYING_CLASS,
        };
        let ty = ValueType::new(class, 32, 4);
        let mut ty_id = self.module.value_type(ty);
        let is_array = end - first > 1;
        if is_array {
            ty_id = self.module.array_type(ty_id, end - first, None);
        }
        if slot.space == Space::Vertex && data.vertices > 0 {
            ty_id = self.module.array_type(ty_id, data.vertices, None);
        }
        let initializer = self.output_initializer(slot, ty_id);
        let id = self.module.global_variable(ty_id, storage_class(slot.is_output), initializer);
        self.module.decorate(id, Decoration::Location, &[first]);
        let is_dual = self.options.dual_source || self.shader.info.fs.color_is_dual_source;
        if stage == ShaderStage::Fragment && slot.is_output && is_dual {
            self.module.decorate(id, Decoration::Index, &[source]);
        }
        if slot.space == Space::Patch {
            self.module.decorate(id, Decoration::Patch, &[]);
        }
        let interpolation = self.decorate_interpolation(id, slot, data);
        let variable = &self.shader.variables[data.variable];
        if slot.is_output && variable.invariant && stage != ShaderStage::Fragment {
            self.module.decorate(id, Decoration::Invariant, &[]);
        }
        let stream = u32::from(variable.streams & 3);
        let is_captured = slot.is_output && !is_array && self.capture_port(slot, id, first);
        if !is_captured
            && stage == ShaderStage::Geometry
            && slot.is_output
            && variable.streams == stream as u8 * 0x55
            && stream > 0
        {
            self.module.need(Capability::GeometryStreams);
            self.module.decorate(id, Decoration::Stream, &[stream]);
        }
        if self.options.names {
            let name = self.name_of_shared(slot, location - first, first).unwrap_or_else(|| variable.name.clone());
            self.module.name(id, &name);
        }
        for location in first..end {
            let own = SlotLocation::Located { location, source };
            let found = if location == first && !is_array { Some(slot) } else { self.io.plan.find(slot, own) };
            let shown = interpolation.filter(|_| !slot.is_output);
            self.reflect_varying(found.unwrap_or(slot), location, source, class, shown, data);
        }
        let port = InterfaceVariable { id, ty, first, is_array };
        self.io.ports.insert(key, port);
        port
    }

    /// Returns a name with the semantic of a slot whose location is more often that of another one, so that readers can
    /// distinguish them. The slot is element `element` of a variable at location `first`.
    fn name_of_shared(&self, slot: Slot, element: u32, first: u32) -> Option<String> {
        let is_shared = self.options.locations.of(slot.is_output).is_none()
            && slot.space != Space::Patch
            && match u8::try_from(slot.location).ok()? {
                VaryingSlot::CLIP_VERTEX => true,
                VaryingSlot::VAR0.. => (TEXCOORD..LOCATIONS).contains(&first),
                _ => false,
            };
        let is_varying = !matches!(
            (self.shader.stage, slot.is_output),
            (ShaderStage::Vertex, false) | (ShaderStage::Fragment, true)
        );
        if !is_shared || !is_varying {
            return None;
        }
        let (semantic, index) = self.semantic_of(slot)?;
        let index = index.checked_sub(element)?;
        Some(format!("{}_{}_{index}", if slot.is_output { "out" } else { "in" }, semantic.name()))
    }

    /// Returns TGSI's semantic of a slot.
    pub(super) fn semantic_of(&self, slot: Slot) -> Option<(tgsi::tables::Semantic, u32)> {
        let processor = tgsi_to_ir::slots::processor_of(self.shader.stage);
        let file = if slot.is_output { tgsi::tables::File::Output } else { tgsi::tables::File::Input };
        tgsi_to_ir::slots::semantic_of(processor, file, slot.location)
    }

    /// Returns the zero initializer of outputs that the shader reads or never writes, except outputs shared by
    /// invocations.
    fn output_initializer(&mut self, slot: Slot, ty: Id) -> Option<Id> {
        let is_needed = self.io.plan.reads_outputs || !self.io.plan.is_written(slot);
        (is_needed && slot.is_output && self.shader.stage != ShaderStage::TessCtrl).then(|| self.module.null(ty))
    }

    /// Declares the outputs that the source declares but does not write: the next stage may read them.
    pub(super) fn declare_unwritten(&mut self) {
        for (slot, location) in self.io.plan.unwritten(self.shader.stage, self.options) {
            if let Some(data) = self.io.plan.slot(slot).copied() {
                self.port(slot, data, location, 0);
            }
        }
    }

    fn attribute_class(&self, locations: std::ops::Range<u32>) -> Class {
        let stated = locations.clone().find_map(|location| *self.options.vertex_inputs.get(location as usize)?);
        stated.map_or_else(|| self.io.plan.attribute_class(locations), |class| class.class())
    }

    /// Decorates an interpolated variable: an input of a fragment shader, or an output that may become one. Returns the
    /// name of the interpolation.
    fn decorate_interpolation(&mut self, id: Id, slot: Slot, data: SlotData) -> Option<&'static str> {
        let is_interpolated = if slot.is_output { self.is_last() } else { self.shader.stage == ShaderStage::Fragment };
        if !is_interpolated {
            return None;
        }
        if self.is_flat(slot, data) {
            self.module.decorate(id, Decoration::Flat, &[]);
            return Some("flat");
        }
        let name = if data.interpolation == InterpMode::NoPerspective {
            self.module.decorate(id, Decoration::NoPerspective, &[]);
            "noperspective"
        } else {
            "smooth"
        };
        if data.sample && !self.options.opengl_text {
            self.module.need(Capability::SampleRateShading);
            self.module.decorate(id, Decoration::Sample, &[]);
        } else if data.centroid {
            self.module.decorate(id, Decoration::Centroid, &[]);
        }
        Some(name)
    }

    fn reflect_varying(
        &mut self,
        slot: Slot,
        location: u32,
        source: u32,
        class: Class,
        interpolation: Option<&'static str>,
        data: SlotData,
    ) {
        let is_attribute = self.shader.stage == ShaderStage::Vertex && !slot.is_output;
        let semantic = self.semantic_of(slot).filter(|_| !is_attribute);
        let varying = Varying {
            register: self.io.plan.slot(slot).map_or(data.register, |data| data.register),
            semantic: semantic.map(|(semantic, _)| semantic.name().to_owned()),
            index: semantic.map_or(0, |(_, index)| index),
            location,
            component: 0,
            components: 4,
            ty: match class {
                Class::Float => "float",
                Class::Int => "int",
                Class::Uint | Class::Bool => "uint",
            },
            source,
            patch: slot.space == Space::Patch,
            vertices: data.vertices,
            interpolation,
            sampling: match interpolation {
                Some("flat") | None => None,
                _ if data.sample => Some("sample"),
                _ if data.centroid => Some("centroid"),
                _ => None,
            },
        };
        let list = if slot.is_output { &mut self.reflection.outputs } else { &mut self.reflection.inputs };
        list.push(varying);
    }

    /// Returns the input variable of a scalar or vector built-in.
    pub(in crate::emit) fn built_in(&mut self, built_in: BuiltIn, ty: ValueType) -> Id {
        self.built_in_variable(false, built_in, ty, None, 0)
    }

    /// Returns the variable of a built-in with type `ty`, or an array of `length` of it; one per vertex if `vertices`
    /// is not 0.
    pub(in crate::emit) fn built_in_variable(
        &mut self,
        is_output: bool,
        built_in: BuiltIn,
        ty: ValueType,
        length: Option<u32>,
        vertices: u32,
    ) -> Id {
        if let Some(&id) = self.io.built_ins.get(&(is_output, built_in as u32)) {
            return id;
        }
        let is_simple = !is_output && length.is_none() && vertices == 0;
        let id = if is_simple {
            self.module.built_in_input(built_in, ty)
        } else {
            let mut ty_id = self.module.value_type(ty);
            if let Some(length) = length {
                ty_id = self.module.array_type(ty_id, length.max(1), None);
            }
            if vertices > 0 {
                ty_id = self.module.array_type(ty_id, vertices, None);
            }
            let reads = is_output && self.io.plan.reads_outputs && self.shader.stage != ShaderStage::TessCtrl;
            let initializer = reads.then(|| self.module.null(ty_id));
            let id = self.module.global_variable(ty_id, storage_class(is_output), initializer);
            self.module.decorate(id, Decoration::BuiltIn, &[built_in as u32]);
            id
        };
        self.io.built_ins.insert((is_output, built_in as u32), id);
        self.built_in_needs(is_output, built_in);
        let is_integer = matches!(ty.class, Class::Int | Class::Uint);
        if self.shader.stage == ShaderStage::Fragment && !is_output && is_integer {
            self.module.decorate(id, Decoration::Flat, &[]);
        }
        match built_in {
            BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner => self.module.decorate(id, Decoration::Patch, &[]),
            BuiltIn::Layer if is_output && self.shader.info.layer_viewport_relative => {
                self.built_in_needs(true, BuiltIn::ViewportMaskNV);
                self.module.decorate(id, Decoration::ViewportRelativeNV, &[]);
            }
            BuiltIn::Position if is_output && !self.options.unguarded => {
                self.module.decorate(id, Decoration::Invariant, &[]);
            }
            _ => {}
        }
        if is_output {
            self.emit_fragment_output_modes(built_in);
        }
        if self.options.names {
            let direction = if is_output { "out" } else { "in" };
            self.module.name(id, &format!("{direction}_{built_in:?}"));
        }
        let list = if is_output { &mut self.reflection.built_in_outputs } else { &mut self.reflection.built_in_inputs };
        list.push(format!("{built_in:?}"));
        id
    }

    /// Requires the capability and extension of a built-in.
    fn built_in_needs(&mut self, is_output: bool, built_in: BuiltIn) {
        let stage = self.shader.stage;
        let since_1_3 = Some((1, 3));
        let has_subgroups = self.module.at_least(1, 3);
        match built_in {
            BuiltIn::PointSize if matches!(stage, ShaderStage::TessCtrl | ShaderStage::TessEval) => {
                self.module.need(Capability::TessellationPointSize);
            }
            BuiltIn::PointSize if stage == ShaderStage::Geometry => self.module.need(Capability::GeometryPointSize),
            BuiltIn::ClipDistance => self.module.need(Capability::ClipDistance),
            BuiltIn::CullDistance => self.module.need(Capability::CullDistance),
            BuiltIn::Layer | BuiltIn::ViewportIndex if is_output && stage != ShaderStage::Geometry => {
                if !self.module.at_least(1, 5) {
                    self.module.need(Capability::ShaderViewportIndexLayerEXT);
                    self.module.need_extension(VIEWPORT_INDEX_LAYER, None);
                } else if built_in == BuiltIn::Layer {
                    self.module.need(Capability::ShaderLayer);
                } else {
                    self.module.need(Capability::ShaderViewportIndex);
                }
            }
            BuiltIn::ViewportIndex => self.module.need(Capability::MultiViewport),
            BuiltIn::Layer => self.module.need(Capability::Geometry),
            BuiltIn::PrimitiveId if stage == ShaderStage::Fragment => self.module.need(Capability::Geometry),
            BuiltIn::SampleId | BuiltIn::SamplePosition => self.module.need(Capability::SampleRateShading),
            BuiltIn::ViewportMaskNV => {
                self.module.need(Capability::ShaderViewportIndexLayerEXT);
                self.module.need(Capability::ShaderViewportMaskNV);
                self.module.need_extension(VIEWPORT_INDEX_LAYER, None);
                self.module.need_extension(VIEWPORT_ARRAY, None);
            }
            BuiltIn::BaseVertex | BuiltIn::BaseInstance | BuiltIn::DrawIndex => {
                self.module.need(Capability::DrawParameters);
                self.module.need_extension(DRAW_PARAMETERS, since_1_3);
            }
            BuiltIn::SubgroupSize
            | BuiltIn::SubgroupLocalInvocationId
            | BuiltIn::NumSubgroups
            | BuiltIn::SubgroupId
                if has_subgroups =>
            {
                self.module.need(Capability::GroupNonUniform);
            }
            BuiltIn::SubgroupEqMask
            | BuiltIn::SubgroupGeMask
            | BuiltIn::SubgroupGtMask
            | BuiltIn::SubgroupLeMask
            | BuiltIn::SubgroupLtMask
                if has_subgroups =>
            {
                self.module.need(Capability::GroupNonUniformBallot);
            }
            BuiltIn::SubgroupSize
            | BuiltIn::SubgroupLocalInvocationId
            | BuiltIn::SubgroupEqMask
            | BuiltIn::SubgroupGeMask
            | BuiltIn::SubgroupGtMask
            | BuiltIn::SubgroupLeMask
            | BuiltIn::SubgroupLtMask => {
                self.module.need(Capability::SubgroupBallotKHR);
                self.module.need_extension(SHADER_BALLOT, None);
            }
            BuiltIn::ViewIndex => {
                self.module.need(Capability::MultiView);
                self.module.need_extension(MULTIVIEW, since_1_3);
            }
            _ => {}
        }
    }
}

/// Returns whether a slot is a colour, which the rasteriser state may make flat.
pub fn is_color(slot: Slot) -> bool {
    u8::try_from(slot.location)
        .is_ok_and(|slot| matches!(slot, VaryingSlot::COL0 | VaryingSlot::COL1 | VaryingSlot::BFC0 | VaryingSlot::BFC1))
}
