//! Driver parameters: pipeline state that TGSI shaders can read and Vulkan shaders cannot. They are push constants, in
//! OpenGL a uniform block. A parameter has a fixed offset, so that stages can share the range.

use spirv::{Decoration, Op, StorageClass};
use tgsi_compiler::reflection::DriverParameter;

use super::Emitter;
use crate::module::{Class, Id, ValueType};

/// The binding of the block in OpenGL.
const OPENGL_BINDING: u32 = 83;

/// The binding of the uniform block in the portable profile, in set 0.
const PORTABLE_BINDING: u32 = 255;

/// A parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Parameter {
    /// Height of the framebuffer, for origins at the lower left.
    FragmentHeight,
    /// All bits are set if the draw is indexed.
    IsIndexed,
    /// Inner tessellation levels without a control shader.
    TessInner,
    /// Outer tessellation levels without a control shader.
    TessOuter,
    /// User clip planes.
    ClipPlanes,
    /// The scale from window to clip-space positions. Overlaps the offsets of parameters for tessellation and clipping,
    /// which window-space positions exclude.
    WindowScale,
    /// The offset from window to clip-space positions, added after scaling.
    WindowOffset,
    /// The first vertex of the draw, or the base added to its indices.
    FirstVertex,
    /// The first instance of the draw.
    BaseInstance,
    /// The number of the draw.
    DrawId,
    /// The number of dimensions of the grid.
    WorkDim,
    /// User data for compute shaders.
    UserData,
}

/// The parameters of compute shaders, in the order of their offsets.
const OF_COMPUTE: &[Parameter] = &[Parameter::WorkDim, Parameter::UserData];

/// The parameters of the other stages, in the order of their offsets.
const OF_GRAPHICS: &[Parameter] = &[
    Parameter::FragmentHeight,
    Parameter::IsIndexed,
    Parameter::TessInner,
    Parameter::TessOuter,
    Parameter::ClipPlanes,
    Parameter::FirstVertex,
    Parameter::BaseInstance,
    Parameter::DrawId,
];

impl Parameter {
    const fn name(self) -> &'static str {
        match self {
            Parameter::FragmentHeight => "frag_height",
            Parameter::IsIndexed => "is_indexed",
            Parameter::TessInner => "tess_inner",
            Parameter::TessOuter => "tess_outer",
            Parameter::ClipPlanes => "clip_planes",
            Parameter::WindowScale => "window_scale",
            Parameter::WindowOffset => "window_offset",
            Parameter::FirstVertex => "first_vertex",
            Parameter::BaseInstance => "base_instance",
            Parameter::DrawId => "draw_id",
            Parameter::WorkDim => "work_dim",
            Parameter::UserData => "user_data",
        }
    }

    /// Returns the offset in bytes. Offsets of compute parameters overlap those of other stages.
    const fn offset(self) -> u32 {
        match self {
            Parameter::FragmentHeight | Parameter::WorkDim => 0,
            Parameter::IsIndexed => 4,
            Parameter::TessInner => 8,
            Parameter::TessOuter | Parameter::UserData | Parameter::WindowScale => 16,
            Parameter::ClipPlanes | Parameter::WindowOffset => 32,
            Parameter::FirstVertex => 160,
            Parameter::BaseInstance => 164,
            Parameter::DrawId => 168,
        }
    }

    const fn ty(self) -> ValueType {
        match self {
            Parameter::FragmentHeight => ValueType::FLOAT,
            Parameter::IsIndexed | Parameter::WorkDim => ValueType::UINT,
            Parameter::FirstVertex | Parameter::BaseInstance | Parameter::DrawId => ValueType::INT,
            Parameter::TessInner => ValueType::FLOAT.with_components(2),
            Parameter::TessOuter | Parameter::ClipPlanes | Parameter::WindowScale | Parameter::WindowOffset => {
                ValueType::FLOAT.with_components(4)
            }
            Parameter::UserData => ValueType::UINT.with_components(4),
        }
    }

    /// Returns the number of elements, 0 if it is not an array.
    fn elements(self, user_clip_planes: u8) -> u32 {
        match self {
            Parameter::ClipPlanes => u32::from(user_clip_planes.clamp(1, 8)),
            Parameter::UserData => 2,
            _ => 0,
        }
    }
}

/// The emitter's state for parameters.
#[derive(Debug, Default)]
pub struct Parameters {
    variable: Option<Id>,
    /// The members in order of declaration.
    members: Vec<Parameter>,
    /// The parameters that the shader reads, without duplicates.
    used: Vec<Parameter>,
}

impl Emitter<'_> {
    fn parameter_storage(&self) -> StorageClass {
        // Few languages have push constants.
        let uniform = self.options.opengl || self.options.portable;
        if uniform { StorageClass::Uniform } else { StorageClass::PushConstant }
    }

    /// Returns the number of elements of a parameter, 0 if it is not an array.
    fn parameter_elements(&self, parameter: Parameter) -> u32 {
        // In a block without gaps, a fixed length keeps the offsets of later members independent of options.
        parameter.elements(if self.options.portable { 8 } else { self.options.user_clip_planes })
    }

    /// Returns the member index of a parameter. In the portable profile the block contains all parameters up to the
    /// last one used, since some languages cannot declare a block with gaps.
    fn parameter_member(&mut self, parameter: Parameter) -> usize {
        let all = if self.shader.stage == tgsi_ir::ShaderStage::Compute { OF_COMPUTE } else { OF_GRAPHICS };
        let number = all.iter().position(|&member| member == parameter).filter(|_| self.options.portable);
        let Parameters { members, used, .. } = &mut self.parameters;
        if !used.contains(&parameter) {
            used.push(parameter);
        }
        match number {
            Some(number) => {
                let known = members.len();
                members.extend(all.iter().take(number + 1).skip(known));
                number
            }
            None => members.iter().position(|&member| member == parameter).unwrap_or_else(|| {
                members.push(parameter);
                members.len() - 1
            }),
        }
    }

    /// Loads a parameter, or an element of it.
    pub(super) fn parameter(&mut self, parameter: Parameter, element: u32) -> Id {
        let variable = *self.parameters.variable.get_or_insert_with(|| self.module.id());
        let member = self.parameter_member(parameter);
        let ty = self.module.value_type(parameter.ty());
        let pointer = self.module.pointer_type(self.parameter_storage(), ty);
        let mut operands: smallvec::SmallVec<[u32; 3]> =
            smallvec::smallvec![variable.0, self.module.uint(member as u32).0];
        if self.parameter_elements(parameter) > 0 {
            operands.push(self.module.uint(element).0);
        }
        let pointer = self.pure(Op::AccessChain, pointer, &operands);
        self.pure(Op::Load, ty, &[pointer.0])
    }

    /// Declares the block, once all members are known.
    pub(super) fn declare_parameters(&mut self) {
        let Some(variable) = self.parameters.variable else { return };
        let Parameters { members, used, .. } = std::mem::take(&mut self.parameters);
        let mut types = Vec::new();
        let mut offsets = Vec::new();
        for &member in &members {
            let mut ty = self.module.value_type(member.ty());
            let elements = self.parameter_elements(member);
            if elements > 0 {
                ty = self.module.array_type(ty, elements, Some(16));
            }
            types.push(ty.0);
            offsets.push([member.offset()]);
            let size = u32::from(member.ty().components) * 4 * elements.max(1);
            if !used.contains(&member) {
                continue;
            }
            self.reflection.driver_parameters.push(DriverParameter {
                name: member.name(),
                offset: member.offset(),
                size,
                ty: match member.ty().class {
                    Class::Float => "float",
                    Class::Int => "int",
                    _ => "uint",
                },
            });
        }
        let mut decorations: Vec<crate::module::TypeDecoration<'_>> = vec![(None, Decoration::Block, &[])];
        for (number, offset) in (0u32..).zip(&offsets) {
            decorations.push((Some(number), Decoration::Offset, offset));
        }
        let block = self.module.decorated_type(Op::TypeStruct, &types, &decorations);
        let storage = self.parameter_storage();
        self.module.declare_variable(variable, block, storage, None);
        if self.options.portable {
            self.module.decorate(variable, Decoration::DescriptorSet, &[0]);
            self.module.decorate(variable, Decoration::Binding, &[PORTABLE_BINDING]);
        } else if self.options.opengl {
            self.module.decorate(variable, Decoration::Binding, &[OPENGL_BINDING]);
        }
        if self.options.names {
            self.module.name(variable, "driver_parameters");
            for (number, member) in (0u32..).zip(&members) {
                self.module.name_member(block, number, member.name());
            }
        }
    }
}
