//! System values: built-in inputs and driver parameters.

use smallvec::SmallVec;
use spirv::{BuiltIn, Op};
use tgsi_ir::body::Swizzle;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Inst, ShaderStage};

use super::Emitter;
use super::parameters::Parameter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

const UVEC3: ValueType = ValueType::UINT.with_components(3);
const VEC2: ValueType = ValueType::FLOAT.with_components(2);
const VEC3: ValueType = ValueType::FLOAT.with_components(3);
const VEC4: ValueType = ValueType::FLOAT.with_components(4);

/// Returns the built-in that equals a system value.
fn plain(op: IntrinsicOp) -> Option<(BuiltIn, ValueType)> {
    use IntrinsicOp::*;
    Some(match op {
        LoadFirstVertex => (BuiltIn::BaseVertex, ValueType::INT),
        LoadBaseInstance => (BuiltIn::BaseInstance, ValueType::INT),
        LoadDrawId => (BuiltIn::DrawIndex, ValueType::INT),
        LoadInvocationId => (BuiltIn::InvocationId, ValueType::INT),
        LoadPrimitiveId => (BuiltIn::PrimitiveId, ValueType::INT),
        LoadPatchVerticesIn => (BuiltIn::PatchVertices, ValueType::INT),
        LoadTessCoord | LoadTessCoordXy => (BuiltIn::TessCoord, VEC3),
        LoadPointCoord => (BuiltIn::PointCoord, VEC2),
        LoadFrontFace => (BuiltIn::FrontFacing, ValueType::BOOL),
        LoadHelperInvocation => (BuiltIn::HelperInvocation, ValueType::BOOL),
        LoadSampleId | LoadSampleIdNoPerSample => (BuiltIn::SampleId, ValueType::INT),
        LoadSamplePos | LoadSamplePosOrCenter => (BuiltIn::SamplePosition, VEC2),
        LoadLayerId => (BuiltIn::Layer, ValueType::INT),
        LoadViewIndex => (BuiltIn::ViewIndex, ValueType::INT),
        LoadLocalInvocationId => (BuiltIn::LocalInvocationId, UVEC3),
        LoadLocalInvocationIndex => (BuiltIn::LocalInvocationIndex, ValueType::UINT),
        LoadGlobalInvocationId => (BuiltIn::GlobalInvocationId, UVEC3),
        LoadWorkgroupId => (BuiltIn::WorkgroupId, UVEC3),
        LoadNumWorkgroups => (BuiltIn::NumWorkgroups, UVEC3),
        LoadSubgroupSize => (BuiltIn::SubgroupSize, ValueType::UINT),
        LoadSubgroupInvocation => (BuiltIn::SubgroupLocalInvocationId, ValueType::UINT),
        LoadNumSubgroups => (BuiltIn::NumSubgroups, ValueType::UINT),
        LoadSubgroupId => (BuiltIn::SubgroupId, ValueType::UINT),
        _ => return None,
    })
}

/// Returns whether a stage has a built-in input; in other stages it reads as zero.
fn has(stage: ShaderStage, built_in: BuiltIn) -> bool {
    use ShaderStage::{Compute, Fragment, Geometry, TessCtrl, TessEval, Vertex};
    match built_in {
        BuiltIn::BaseVertex
        | BuiltIn::BaseInstance
        | BuiltIn::DrawIndex
        | BuiltIn::VertexIndex
        | BuiltIn::InstanceIndex => stage == Vertex,
        BuiltIn::InvocationId => matches!(stage, TessCtrl | Geometry),
        BuiltIn::PrimitiveId => matches!(stage, TessCtrl | TessEval | Geometry | Fragment),
        BuiltIn::PatchVertices => matches!(stage, TessCtrl | TessEval),
        BuiltIn::TessCoord | BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner => stage == TessEval,
        BuiltIn::PointCoord
        | BuiltIn::FrontFacing
        | BuiltIn::HelperInvocation
        | BuiltIn::SampleId
        | BuiltIn::SamplePosition
        | BuiltIn::SampleMask
        | BuiltIn::FragCoord
        | BuiltIn::Layer => stage == Fragment,
        BuiltIn::ViewIndex => stage != Compute,
        BuiltIn::LocalInvocationId
        | BuiltIn::LocalInvocationIndex
        | BuiltIn::GlobalInvocationId
        | BuiltIn::WorkgroupId
        | BuiltIn::NumWorkgroups
        | BuiltIn::NumSubgroups
        | BuiltIn::SubgroupId => stage == Compute,
        _ => true,
    }
}

impl Emitter<'_> {
    pub(super) fn emit_system_value(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        use IntrinsicOp::*;
        let body = self.body;
        let unsupported = SpirvError::UnsupportedIntrinsic { inst, op };
        let Some(def) = body.inst_def(inst) else { return Err(unsupported) };
        if let Some((built_in, ty)) = plain(op) {
            let value = match built_in {
                BuiltIn::BaseVertex | BuiltIn::BaseInstance | BuiltIn::DrawIndex => self.draw_value(built_in),
                BuiltIn::PointCoord if self.shader.stage == ShaderStage::Fragment => {
                    let value = self.built_in_value(built_in, ty);
                    self.point_coordinate(value)
                }
                built_in => self.built_in_value(built_in, ty),
            };
            return self.define_value(inst, def, value, ty);
        }
        let (value, ty) = match op {
            LoadVertexId => (self.vertex_index(), ValueType::INT),
            LoadVertexIdZeroBase => {
                let index = self.vertex_index();
                (self.without_base(index, BuiltIn::BaseVertex, self.options.base_vertex_is_zero), ValueType::INT)
            }
            LoadInstanceId => {
                let index = self.instance_index();
                // OpenGL's instance number does not include the base.
                let is_zero = self.options.base_instance_is_zero || self.options.opengl;
                (self.without_base(index, BuiltIn::BaseInstance, is_zero), ValueType::INT)
            }
            LoadBaseVertex if self.options.base_vertex_is_zero => (self.module.int(0), ValueType::INT),
            LoadBaseVertex => {
                let base = self.draw_value(BuiltIn::BaseVertex);
                if self.options.opengl {
                    (base, ValueType::INT)
                } else {
                    // In Vulkan, `BaseVertex` is the first vertex if the draw is not indexed; in TGSI it is zero then.
                    let base = self.pure_of(Op::Bitcast, ValueType::UINT, &[base]);
                    let is_indexed = self.parameter(Parameter::IsIndexed, 0);
                    (self.pure_of(Op::BitwiseAnd, ValueType::UINT, &[base, is_indexed]), ValueType::UINT)
                }
            }
            LoadIsIndexedDraw => (self.parameter(Parameter::IsIndexed, 0), ValueType::UINT),
            LoadFragCoord if self.shader.stage == ShaderStage::Fragment => {
                let value = self.built_in_value(BuiltIn::FragCoord, VEC4);
                (self.fragment_coordinate(value), VEC4)
            }
            LoadFragCoordZw if self.shader.stage == ShaderStage::Fragment => {
                let value = self.built_in_value(BuiltIn::FragCoord, VEC4);
                let component = body.component(inst);
                (self.take(value, VEC4, Swizzle::replicate(component), 1), ValueType::FLOAT)
            }
            LoadFragCoord => {
                let ty = self.module.value_type(VEC4);
                (self.module.null(ty), VEC4)
            }
            LoadFrontFaceFsign if self.shader.stage == ShaderStage::Fragment => {
                let is_front = self.is_front_facing();
                let (front, back) = (self.module.float(1.0), self.module.float(-1.0));
                (self.select(ValueType::FLOAT, is_front, front, back), ValueType::FLOAT)
            }
            LoadSampleMaskIn => (self.element_value(BuiltIn::SampleMask, ValueType::INT, 1, 0), ValueType::INT),
            LoadTessLevelOuter => (self.level(BuiltIn::TessLevelOuter, 4), VEC4),
            LoadTessLevelInner => (self.level(BuiltIn::TessLevelInner, 2), VEC2),
            LoadTessLevelOuterDefault => (self.parameter(Parameter::TessOuter, 0), VEC4),
            LoadTessLevelInnerDefault => (self.parameter(Parameter::TessInner, 0), VEC2),
            LoadWorkgroupSize if self.shader.stage == ShaderStage::Compute => (self.workgroup_size(), UVEC3),
            LoadWorkDim => (self.parameter(Parameter::WorkDim, 0), ValueType::UINT),
            LoadUserDataAmd => return self.emit_user_data(def),
            LoadUserClipPlane if self.options.user_clip_planes > 0 => {
                let number = (body.index(inst, IndexKind::UcpId).max(0) as u32)
                    .min(u32::from(self.options.user_clip_planes.min(8)) - 1);
                (self.parameter(Parameter::ClipPlanes, number), VEC4)
            }
            LoadSubgroupEqMask | LoadSubgroupGeMask | LoadSubgroupGtMask | LoadSubgroupLeMask | LoadSubgroupLtMask => {
                return self.emit_subgroup_mask(inst, op, def);
            }
            _ => return Err(unsupported),
        };
        self.define_value(inst, def, value, ty)
    }

    /// Defines a value from a built-in, converted to its components and bits.
    fn define_value(&mut self, inst: Inst, def: Def, value: Id, ty: ValueType) -> Result<(), SpirvError> {
        let (bits, count) = (self.body.bit_size(def), self.body.num_components(def));
        let count = count.min(4);
        let swizzle = Swizzle::new(&[0, 1, 2, 3].map(|component: u8| component.min(ty.components - 1)));
        let mut ty = ty;
        let mut value = value;
        if count != ty.components {
            value = self.take(value, ty, swizzle, count);
            ty = ty.with_components(count);
        }
        match (ty.bits, bits) {
            (from, to) if from == to => {}
            // A 32-bit boolean.
            (1, 32) => {
                let scalar = ValueType::new(Class::Uint, 32, 1);
                let (all, none) = (self.module.scalar(scalar, u64::from(u32::MAX)), self.module.scalar(scalar, 0));
                value = self.select(scalar, value, all, none);
                ty = scalar;
            }
            (32, 64) if ty.class != Class::Float => {
                ty = ValueType::new(Class::Uint, 64, count);
                value = self.pure_of(Op::UConvert, ty, &[value]);
            }
            _ => return Err(SpirvError::Unsupported { inst, what: "a system value of this size" }),
        }
        self.define(def, value, ty.class);
        Ok(())
    }

    /// Returns the value of a scalar or vector built-in input; zero in stages that lack it.
    pub(super) fn built_in_value(&mut self, built_in: BuiltIn, ty: ValueType) -> Id {
        let ty_id = self.module.value_type(ty);
        if !has(self.shader.stage, built_in) {
            return self.module.null(ty_id);
        }
        let variable = self.built_in(built_in, ty);
        if built_in == BuiltIn::HelperInvocation {
            // A demotion changes the value, so the load is not pure.
            return self.result(Op::Load, ty_id, &[variable.0]);
        }
        self.pure(Op::Load, ty_id, &[variable.0])
    }

    /// Returns an element of an array built-in input; zero in stages that lack it.
    fn element_value(&mut self, built_in: BuiltIn, ty: ValueType, length: u32, element: u32) -> Id {
        let ty_id = self.module.value_type(ty);
        if !has(self.shader.stage, built_in) {
            return self.module.null(ty_id);
        }
        let variable = self.built_in_variable(false, built_in, ty, Some(length), 0);
        let pointer = self.module.pointer_type(spirv::StorageClass::Input, ty_id);
        let element = self.module.uint(element);
        let pointer = self.pure(Op::AccessChain, pointer, &[variable.0, element.0]);
        self.pure(Op::Load, ty_id, &[pointer.0])
    }

    fn level(&mut self, built_in: BuiltIn, count: u32) -> Id {
        let parts: SmallVec<[Id; 4]> =
            (0..count).map(|element| self.element_value(built_in, ValueType::FLOAT, count, element)).collect();
        self.pure_of(Op::CompositeConstruct, ValueType::FLOAT.with_components(count as u8), &parts)
    }

    fn vertex_index(&mut self) -> Id {
        let built_in = if self.options.opengl { BuiltIn::VertexId } else { BuiltIn::VertexIndex };
        self.built_in_value(built_in, ValueType::INT)
    }

    fn instance_index(&mut self) -> Id {
        let built_in = if self.options.opengl { BuiltIn::InstanceId } else { BuiltIn::InstanceIndex };
        self.built_in_value(built_in, ValueType::INT)
    }

    /// Returns the first vertex, first instance or number of the draw.
    fn draw_value(&mut self, built_in: BuiltIn) -> Id {
        if self.options.draw_built_ins || self.shader.stage != ShaderStage::Vertex {
            return self.built_in_value(built_in, ValueType::INT);
        }
        let (parameter, is_zero) = match built_in {
            BuiltIn::BaseVertex => (Parameter::FirstVertex, self.options.base_vertex_is_zero),
            BuiltIn::BaseInstance => (Parameter::BaseInstance, self.options.base_instance_is_zero),
            _ => (Parameter::DrawId, false),
        };
        if is_zero { self.module.int(0) } else { self.parameter(parameter, 0) }
    }

    fn without_base(&mut self, index: Id, base: BuiltIn, is_zero: bool) -> Id {
        if is_zero || self.shader.stage != ShaderStage::Vertex {
            return index;
        }
        let base = self.draw_value(base);
        self.pure_of(Op::ISub, ValueType::INT, &[index, base])
    }

    /// Defines the eight words of user data as an array, from which only components are taken.
    fn emit_user_data(&mut self, def: Def) -> Result<(), SpirvError> {
        let words: SmallVec<[Id; 2]> = (0..2).map(|element| self.parameter(Parameter::UserData, element)).collect();
        let four = ValueType::UINT.with_components(4);
        let mut parts: SmallVec<[u32; 8]> = SmallVec::new();
        for word in words {
            for component in 0..4 {
                parts.push(self.take(word, four, Swizzle::replicate(component), 1).0);
            }
        }
        let uint = self.module.value_type(ValueType::UINT);
        let array = self.module.array_type(uint, 8, None);
        let id = self.pure(Op::CompositeConstruct, array, &parts);
        self.define(def, id, Class::Uint);
        Ok(())
    }

    /// Emits a mask of the invocations that compare with this one by number.
    fn emit_subgroup_mask(&mut self, inst: Inst, op: IntrinsicOp, def: Def) -> Result<(), SpirvError> {
        let built_in = match op {
            IntrinsicOp::LoadSubgroupEqMask => BuiltIn::SubgroupEqMask,
            IntrinsicOp::LoadSubgroupGeMask => BuiltIn::SubgroupGeMask,
            IntrinsicOp::LoadSubgroupGtMask => BuiltIn::SubgroupGtMask,
            IntrinsicOp::LoadSubgroupLeMask => BuiltIn::SubgroupLeMask,
            _ => BuiltIn::SubgroupLtMask,
        };
        let four = ValueType::UINT.with_components(4);
        let value =
            if self.options.portable { self.computed_mask(built_in) } else { self.built_in_value(built_in, four) };
        let count = self.body.num_components(def);
        let swizzle = Swizzle::new(&[0, 1, 2, 3]);
        let id = match (self.body.bit_size(def), count) {
            (32, 1..=4) => self.take(value, four, swizzle, count),
            (64, 1..=2) => {
                let words = self.take(value, four, swizzle, 2 * count);
                self.pure_of(Op::Bitcast, ValueType::new(Class::Uint, 64, count), &[words])
            }
            _ => return Err(SpirvError::Unsupported { inst, what: "a subgroup mask of this shape" }),
        };
        self.define(def, id, Class::Uint);
        Ok(())
    }

    /// Computes the first two words of a mask from the number of the invocation, which is below 64.
    fn computed_mask(&mut self, built_in: BuiltIn) -> Id {
        let number = self.built_in_value(BuiltIn::SubgroupLocalInvocationId, ValueType::UINT);
        let uint = ValueType::UINT;
        let (zero, one, all) = (self.module.uint(0), self.module.uint(1), self.module.uint(u32::MAX));
        let mut words = [zero; 4];
        for (word, first) in words.iter_mut().zip([0, 32]).take(2) {
            let first_id = self.module.uint(first);
            let end = self.module.uint(first + 32);
            // The mask of lower invocations within this word: all bits, some, or none.
            let number_within = self.pure_of(Op::ISub, uint, &[number, first_id]);
            let within = self.module.uint(31);
            let shift = self.pure_of(Op::BitwiseAnd, uint, &[number_within, within]);
            let bit = self.pure_of(Op::ShiftLeftLogical, uint, &[one, shift]);
            let is_behind = self.pure_of(Op::UGreaterThanEqual, ValueType::BOOL, &[number, end]);
            let is_before = self.pure_of(Op::ULessThan, ValueType::BOOL, &[number, first_id]);
            let is_here = self.pure_of(Op::LogicalOr, ValueType::BOOL, &[is_behind, is_before]);
            let equal = self.select(uint, is_here, zero, bit);
            let below = self.pure_of(Op::ISub, uint, &[bit, one]);
            let below = self.select(uint, is_before, zero, below);
            let below = self.select(uint, is_behind, all, below);
            let up_to = self.pure_of(Op::BitwiseOr, uint, &[below, equal]);
            *word = match built_in {
                BuiltIn::SubgroupEqMask => equal,
                BuiltIn::SubgroupLtMask => below,
                BuiltIn::SubgroupLeMask => up_to,
                BuiltIn::SubgroupGeMask => self.pure_of(Op::Not, uint, &[below]),
                _ => self.pure_of(Op::Not, uint, &[up_to]),
            };
        }
        self.pure_of(Op::CompositeConstruct, uint.with_components(4), &words)
    }
}
