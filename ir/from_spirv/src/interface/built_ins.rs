//! Built-ins: which of them a stage has, their types, and where they are.

use spirv::{BuiltIn, Decoration};
use tgsi_environment::SystemValue;
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::slots::{FragResult, VaryingSlot};
use tgsi_ir::types::ScalarType;
use tgsi_ir::variable::{VariableData, VariableModes};

use crate::emit::Context;
use crate::emit::storage::{Packed, Storage, System};
use crate::error::SpirvError;
use crate::interface::locations::Layout;
use crate::interface::{Port, PortVariable, is_mask};
use crate::options::Environment;
use crate::types::{TypeData, TypeId};

/// The type of a built-in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Floats(u8),
    Integers(u8),
    Boolean,
    /// An array of floats with at most this length.
    Array(u32),
    /// An array of integers, of which the first has all bits that exist.
    Mask,
}

/// Where a built-in is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// A slot, from a component on.
    Slot(u8, u8),
    /// The vector of tessellation levels in a slot.
    Levels(u8),
    Distances,
    System(System),
}

fn form(built_in: BuiltIn) -> Form {
    use BuiltIn as B;
    match built_in {
        B::Position | B::FragCoord => Form::Floats(4),
        B::TessCoord => Form::Floats(3),
        B::PointCoord | B::SamplePosition => Form::Floats(2),
        B::PointSize | B::FragDepth => Form::Floats(1),
        B::ClipDistance | B::CullDistance => Form::Array(8),
        B::TessLevelOuter => Form::Array(4),
        B::TessLevelInner => Form::Array(2),
        B::FrontFacing | B::HelperInvocation => Form::Boolean,
        B::SampleMask | B::ViewportMaskNV => Form::Mask,
        B::SubgroupEqMask | B::SubgroupGeMask | B::SubgroupGtMask | B::SubgroupLeMask | B::SubgroupLtMask => {
            Form::Integers(4)
        }
        B::NumWorkgroups | B::WorkgroupSize | B::WorkgroupId | B::LocalInvocationId | B::GlobalInvocationId => {
            Form::Integers(3)
        }
        _ => Form::Integers(1),
    }
}

/// Where an output is.
fn output_place(built_in: BuiltIn, stage: ShaderStage) -> Option<Place> {
    use BuiltIn as B;
    use ShaderStage::{Fragment, Geometry, TessCtrl, TessEval, Vertex};
    let is_before_rasterizer = matches!(stage, Vertex | TessEval | Geometry);
    let (place, exists) = match built_in {
        B::Position => (Place::Slot(VaryingSlot::POS, 0), is_before_rasterizer || stage == TessCtrl),
        B::PointSize => (Place::Slot(VaryingSlot::PSIZ, 0), is_before_rasterizer || stage == TessCtrl),
        B::ClipDistance | B::CullDistance => (Place::Distances, is_before_rasterizer || stage == TessCtrl),
        B::Layer => (Place::Slot(VaryingSlot::LAYER, 0), is_before_rasterizer),
        B::ViewportIndex => (Place::Slot(VaryingSlot::VIEWPORT, 0), is_before_rasterizer),
        B::ViewportMaskNV => (Place::Slot(VaryingSlot::VIEWPORT_MASK, 0), is_before_rasterizer),
        B::PrimitiveId => (Place::Slot(VaryingSlot::PRIMITIVE_ID, 0), stage == Geometry),
        B::TessLevelOuter => (Place::Levels(VaryingSlot::TESS_LEVEL_OUTER), stage == TessCtrl),
        B::TessLevelInner => (Place::Levels(VaryingSlot::TESS_LEVEL_INNER), stage == TessCtrl),
        // Depth is in z of its register, stencil in y.
        B::FragDepth => (Place::Slot(FragResult::DEPTH, 2), stage == Fragment),
        B::FragStencilRefEXT => (Place::Slot(FragResult::STENCIL, 1), stage == Fragment),
        B::SampleMask => (Place::Slot(FragResult::SAMPLE_MASK, 0), stage == Fragment),
        _ => return None,
    };
    exists.then_some(place)
}

/// Where an input is.
fn input_place(built_in: BuiltIn, stage: ShaderStage) -> Option<Place> {
    use BuiltIn as B;
    use ShaderStage::{Compute, Fragment, Geometry, TessCtrl, TessEval, Vertex};
    let has_vertices = matches!(stage, TessCtrl | TessEval | Geometry);
    let value = |value| Place::System(System::Value(value));
    let computed = Place::System(System::BuiltIn(built_in as u32));
    let (place, exists) = match built_in {
        B::Position => (Place::Slot(VaryingSlot::POS, 0), has_vertices),
        B::PointSize => (Place::Slot(VaryingSlot::PSIZ, 0), has_vertices),
        B::ClipDistance | B::CullDistance => (Place::Distances, has_vertices || stage == Fragment),
        B::Layer => (Place::Slot(VaryingSlot::LAYER, 0), stage == Fragment),
        B::ViewportIndex => (Place::Slot(VaryingSlot::VIEWPORT, 0), stage == Fragment),
        B::PrimitiveId if stage == Fragment => (Place::Slot(VaryingSlot::PRIMITIVE_ID, 0), true),
        B::PrimitiveId => (value(SystemValue::PrimitiveId), has_vertices),
        B::InvocationId => (value(SystemValue::InvocationId), matches!(stage, TessCtrl | Geometry)),
        B::TessLevelOuter => (value(SystemValue::TessLevelOuter), stage == TessEval),
        B::TessLevelInner => (value(SystemValue::TessLevelInner), stage == TessEval),
        B::TessCoord => (value(SystemValue::TessCoord), stage == TessEval),
        B::PatchVertices => (value(SystemValue::VerticesIn), matches!(stage, TessCtrl | TessEval)),
        B::VertexIndex | B::VertexId => (value(SystemValue::VertexId), stage == Vertex),
        B::InstanceIndex => (computed, stage == Vertex),
        B::InstanceId => (value(SystemValue::InstanceId), stage == Vertex),
        B::BaseVertex => (value(SystemValue::BaseVertex), stage == Vertex),
        B::BaseInstance => (value(SystemValue::BaseInstance), stage == Vertex),
        B::DrawIndex => (value(SystemValue::DrawId), stage == Vertex),
        // Not a system value: consumers without integers have an input only.
        B::FragCoord => (Place::Slot(VaryingSlot::POS, 0), stage == Fragment),
        B::PointCoord => (value(SystemValue::PointCoord), stage == Fragment),
        B::FrontFacing => (value(SystemValue::FrontFace), stage == Fragment),
        B::SampleId => (value(SystemValue::SampleId), stage == Fragment),
        B::SamplePosition => (value(SystemValue::SamplePos), stage == Fragment),
        B::SampleMask => (value(SystemValue::SampleMaskIn), stage == Fragment),
        B::HelperInvocation => (value(SystemValue::HelperInvocation), stage == Fragment),
        B::NumWorkgroups => (value(SystemValue::NumWorkgroups), stage == Compute),
        B::WorkgroupId => (value(SystemValue::WorkgroupId), stage == Compute),
        B::LocalInvocationId => (value(SystemValue::LocalInvocationId), stage == Compute),
        B::WorkgroupSize | B::GlobalInvocationId | B::LocalInvocationIndex | B::NumSubgroups | B::SubgroupId => {
            (computed, stage == Compute)
        }
        B::SubgroupSize => (value(SystemValue::SubgroupSize), true),
        B::SubgroupLocalInvocationId => (value(SystemValue::SubgroupInvocation), true),
        B::SubgroupEqMask | B::SubgroupGeMask | B::SubgroupGtMask | B::SubgroupLeMask | B::SubgroupLtMask => {
            (computed, true)
        }
        B::DeviceIndex => (Place::System(System::Zero), true),
        _ => return None,
    };
    exists.then_some(place)
}

/// Where a built-in is, for the manual; `None` if the stage does not have it.
#[cfg(test)]
pub(crate) fn place(built_in: BuiltIn, stage: ShaderStage, is_output: bool) -> Option<String> {
    let place = if is_output { output_place(built_in, stage) } else { input_place(built_in, stage) };
    let slot_name = |slot| match (stage, is_output) {
        (ShaderStage::Fragment, true) => FragResult::name(slot),
        _ => VaryingSlot::name(slot),
    };
    Some(match place? {
        Place::Slot(slot, component) => {
            let component = ["", ".y", ".z", ".w"][usize::from(component & 3)];
            format!("`{}{component}`", slot_name(slot).unwrap_or_default())
        }
        Place::Levels(slot) => format!("`{}`", slot_name(slot).unwrap_or_default()),
        Place::Distances => "`CLIP_DIST0`, `CLIP_DIST1`".to_owned(),
        Place::System(System::Value(value)) => format!("`{}`", value.name()),
        Place::System(System::BuiltIn(_)) => "computed".to_owned(),
        Place::System(System::Zero) => "0".to_owned(),
        Place::System(System::Ones | System::Words(..)) => return None,
    })
}

impl Context<'_> {
    /// Creates the port of a built-in.
    pub(super) fn built_in_port(
        &mut self,
        number: u32,
        member: u32,
        layout: &Layout,
        built_in: BuiltIn,
        name: String,
    ) -> Result<Port, SpirvError> {
        let is_output = self.is_output(number);
        let place = if is_output { output_place(built_in, self.stage) } else { input_place(built_in, self.stage) };
        let place = place.ok_or_else(|| {
            let direction = if is_output { "output" } else { "input" };
            let stage = self.stage.name().to_ascii_lowercase();
            SpirvError::BuiltIn { name: format!("{built_in:?} as an {direction} of the stage {stage}") }
        })?;
        let ty = layout.part(member).map_or(TypeId::ERROR, |part| part.ty);
        let length = self.check_form(built_in, ty)?;
        if built_in == BuiltIn::BaseVertex && self.environment == Environment::Vulkan {
            self.report_at(number, SpirvError::BaseVertex);
        }
        let name = if name.is_empty() { format!("gl_{built_in:?}") } else { name };
        let mut port = Port::new(name, ty, Storage::Error);
        port.is_output = is_output;
        port.is_patch = layout.is_patch;
        match place {
            Place::System(system) => port.storage = Storage::System(system),
            Place::Distances => self.add_distances(number, &mut port, built_in, length, layout.vertices)?,
            Place::Levels(slot) => self.add_levels(&mut port, slot, length),
            Place::Slot(slot, component) => {
                if is_mask(built_in) {
                    let (scalar, _) = self
                        .module
                        .types
                        .as_vector(self.module.types.without_arrays(ty))
                        .unwrap_or((ScalarType::Int, 1));
                    port.ty = self.module.vector_type(scalar, 1);
                }
                let data = self.built_in_data(number, member, layout, &port, slot, component)?;
                self.add_memory(&mut port, data, layout.vertices);
            }
        }
        Ok(port)
    }

    /// The data of the variable of a built-in in a separate slot.
    fn built_in_data(
        &mut self,
        number: u32,
        member: u32,
        layout: &Layout,
        port: &Port,
        slot: u8,
        component: u8,
    ) -> Result<VariableData, SpirvError> {
        let ir_type = self.ir_type(port.ty);
        let decorations = self.part_decorations(number, member, layout);
        let mut data = VariableData::new(port.name.clone(), ir_type, VariableModes::SHADER_IN);
        data.location = slot.into();
        data.location_frac = component;
        data.patch = layout.is_patch;
        data.invariant = decorations.has(Decoration::Invariant);
        if port.is_output && self.stage == ShaderStage::Geometry {
            data.streams = self.streams(&decorations)?;
        }
        if !port.is_output && self.stage == ShaderStage::Fragment {
            let is_position = slot == VaryingSlot::POS;
            data.interpolation = if is_position { InterpMode::NoPerspective } else { InterpMode::Flat };
        }
        Ok(data)
    }

    /// Checks the type of a built-in. Returns the length of an array.
    fn check_form(&self, built_in: BuiltIn, ty: TypeId) -> Result<u32, SpirvError> {
        let types = &self.module.types;
        let (element, length) = match *types.get(ty) {
            TypeData::Array { element, length, .. } => (element, Some(length)),
            _ => (ty, None),
        };
        let is_word = |scalar: ScalarType| matches!(scalar, ScalarType::Int | ScalarType::Uint);
        let fits = match (form(built_in), types.as_vector(element), length) {
            (Form::Floats(count), Some((ScalarType::Float, found)), None) => found == count,
            (Form::Integers(count), Some((scalar, found)), None) => is_word(scalar) && found == count,
            (Form::Boolean, Some((ScalarType::Bool, 1)), None) => true,
            (Form::Array(most), Some((ScalarType::Float, 1)), Some(length)) => (1..=most).contains(&length),
            // Some compilers write a scalar.
            (Form::Mask, Some((scalar, 1)), _) => is_word(scalar),
            _ => false,
        };
        if fits {
            return Ok(length.unwrap_or(1));
        }
        Err(SpirvError::Types { op: format!("{built_in:?}"), why: "a built-in has one type" })
    }

    /// Gives a port the vector of tessellation levels.
    fn add_levels(&mut self, port: &mut Port, slot: u8, length: u32) {
        let vec4 = self.shader.types.vector(ScalarType::Float, 4);
        let mut data = VariableData::new(port.name.clone(), vec4, VariableModes::SHADER_OUT);
        data.location = slot.into();
        data.patch = true;
        let variable = self.shader.add_variable(data);
        port.variables.push(PortVariable { ty: port.ty, variable, element: 0 });
        port.storage = Storage::Packed(Packed {
            vectors: [Some(variable), None],
            mode: VariableModes::SHADER_OUT,
            first: 0,
            length,
            is_arrayed: false,
        });
    }
}
