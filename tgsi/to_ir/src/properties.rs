//! Converts properties and declarations to the shader info of the IR.

use std::collections::{BTreeMap, BTreeSet};

use tgsi_ir::shader::ShaderStage;
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::{VariableData, VariableModes};

use super::declarations::Context;
use tgsi::tables::{File, MemoryType, Primitive, Processor, PropertyName};

/// Bytes of shared memory of a shader that has some: TGSI does not specify the size, so this is the minimum that every
/// API guarantees.
const SHARED_MEMORY_SIZE: u32 = 32 * 1024;

/// Returns the stage of a `NEXT_SHADER` property.
fn next_stage(value: u32) -> Option<ShaderStage> {
    Processor::from_value(value).map(crate::slots::stage_of)
}

/// Returns the printed name of a primitive type.
fn primitive(value: u32) -> String {
    Primitive::from_value(value).map_or_else(String::new, |primitive| primitive.name().to_owned())
}

impl Context<'_> {
    /// Creates variables that describe the declared ranges of constant buffers (`ubo_<k>`, of vec4s, binding `k - 1`;
    /// buffer 0 is `num_uniforms` long) and of atomic counters (`counters_<k>_<first>`, binding `k`, `driver_location`
    /// the first counter). They are never dereferenced; drivers use them to emit equivalent declarations.
    pub(super) fn declare_buffers(&mut self) {
        let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
        let mut counters: BTreeSet<(u32, u32, u32)> = BTreeSet::new();
        for declaration in &self.shader.declarations {
            let buffer = u32::from(declaration.dimension.unwrap_or(0));
            let (first, last) = (u32::from(declaration.first), u32::from(declaration.last));
            match declaration.file {
                File::Constant if buffer > 0 => {
                    let size = sizes.entry(buffer).or_default();
                    *size = (*size).max(last + 1);
                }
                File::HwAtomic => {
                    counters.insert((buffer, first, last.max(first)));
                }
                _ => {}
            }
        }
        for (buffer, size) in sizes {
            let ty = self.ir.types.array(self.vec4, size);
            let mut data = VariableData::new(format!("ubo_{buffer}"), ty, VariableModes::MEM_UBO);
            data.location = -1;
            data.driver_location = buffer - 1;
            data.binding = buffer - 1;
            self.ir.add_variable(data);
        }
        for (buffer, first, last) in counters {
            let counter = self.ir.types.intern(TypeData::AtomicCounter);
            let ty = self.ir.types.array(counter, last - first + 1);
            let mut data = VariableData::new(format!("counters_{buffer}_{first}"), ty, VariableModes::UNIFORM);
            data.location = -1;
            data.driver_location = first;
            data.binding = buffer;
            self.ir.add_variable(data);
        }
    }

    /// Sets the shader's information from properties and declarations. An absent property counts as 0.
    pub(super) fn fill_info(&mut self) {
        let shader = self.shader;
        let property = |name| shader.property(name).unwrap_or(0);
        let is_set = |name| property(name) != 0;
        let count = |file| self.file_bounds.get(&file).map_or(0, |&(_, last)| last as u32 + 1);
        let (inputs, outputs) = (count(File::Input), count(File::Output));
        let (textures, images, buffers) =
            (count(File::SamplerView).max(count(File::Sampler)), count(File::Image), count(File::Buffer));
        let mut uniforms = 0;
        let mut blocks = 0;
        let mut counter_buffers = 0;
        for declaration in &shader.declarations {
            let buffer = u32::from(declaration.dimension.unwrap_or(0));
            match declaration.file {
                File::Constant if buffer == 0 => uniforms = uniforms.max(u32::from(declaration.last) + 1),
                File::Constant => blocks = blocks.max(buffer),
                File::ConstantBuffer => blocks = blocks.max(u32::from(declaration.last)),
                File::HwAtomic => counter_buffers = counter_buffers.max(buffer + 1),
                _ => {}
            }
        }

        self.ir.num_inputs = inputs;
        self.ir.num_outputs = outputs;
        self.ir.num_uniforms = uniforms;
        let info = &mut self.ir.info;
        info.name = self.options.name.clone();
        info.separate_shader = true;
        info.subgroup_size = 1;
        info.num_textures = textures;
        info.num_images = images;
        info.num_ssbos = buffers;
        info.num_ubos = blocks;
        info.num_abos = counter_buffers;
        info.next_stage = next_stage(property(PropertyName::NextShader)).or(Some(ShaderStage::Vertex));
        info.use_legacy_math_rules = is_set(PropertyName::LegacyMathRules);
        info.prohibit_ucps = is_set(PropertyName::VsProhibitUcps);
        info.layer_viewport_relative = is_set(PropertyName::LayerViewportRelative);
        info.clip_distance_array_size = property(PropertyName::NumClipdistEnabled);
        info.cull_distance_array_size = property(PropertyName::NumCulldistEnabled);
        let has_shared =
            shader.declarations.iter().any(|d| d.file == File::Memory && d.memory_type == MemoryType::Shared);
        if has_shared {
            info.shared_size = SHARED_MEMORY_SIZE;
        }
        match shader.processor {
            Processor::Vertex => {
                info.vs.window_space_position = is_set(PropertyName::VsWindowSpacePosition);
                info.vs.blit_sgprs_amd = property(PropertyName::VsBlitSgprsAmd);
            }
            Processor::TessControl => info.tess.tcs_vertices_out = property(PropertyName::TcsVerticesOut),
            Processor::TessEval => {
                // Primitive types: lines are isolines.
                info.tess.primitive_mode = match Primitive::from_value(property(PropertyName::TesPrimMode)) {
                    Some(Primitive::Triangles) => 1,
                    Some(Primitive::Quads) => 2,
                    Some(Primitive::Lines) => 3,
                    _ => 0,
                };
                // 0 fractional odd, 1 fractional even, 2 equal.
                info.tess.spacing = match property(PropertyName::TesSpacing) {
                    0 => 2,
                    1 => 3,
                    2 => 1,
                    _ => 0,
                };
                info.tess.ccw = !is_set(PropertyName::TesVertexOrderCw);
                info.tess.point_mode = is_set(PropertyName::TesPointMode);
            }
            Processor::Geometry => {
                info.gs.input_primitive = primitive(property(PropertyName::GsInputPrimitive));
                info.gs.output_primitive = primitive(property(PropertyName::GsOutputPrimitive));
                info.gs.vertices_out = property(PropertyName::GsMaxOutputVertices);
                info.gs.invocations = property(PropertyName::GsInvocations).max(1);
                info.gs.vertices_in = Primitive::from_value(property(PropertyName::GsInputPrimitive))
                    .map_or(0, |primitive| u32::from(primitive.input_vertices()));
            }
            Processor::Fragment => {
                info.fs.origin_upper_left = !is_set(PropertyName::FsCoordOrigin);
                info.fs.pixel_center_integer = is_set(PropertyName::FsCoordPixelCenter);
                info.fs.depth_layout = property(PropertyName::FsDepthLayout);
                info.fs.early_fragment_tests = is_set(PropertyName::FsEarlyDepthStencil);
                info.fs.post_depth_coverage = is_set(PropertyName::FsPostDepthCoverage);
                info.fs.advanced_blend_modes = property(PropertyName::FsBlendEquationAdvanced);
                info.fs.untyped_color_outputs = true;
            }
            Processor::Compute | Processor::Task | Processor::Mesh => {
                info.workgroup_size = [
                    property(PropertyName::CsFixedBlockWidth),
                    property(PropertyName::CsFixedBlockHeight),
                    property(PropertyName::CsFixedBlockDepth),
                ];
                info.workgroup_size_variable = info.workgroup_size.contains(&0);
                info.cs.user_data_components_amd = property(PropertyName::CsUserDataComponentsAmd);
            }
        }
    }

    /// Adds the information that is only known after translation.
    pub(super) fn finish_info(&mut self) {
        self.ir.info.fs.uses_sample_qualifier = self.shader.processor == Processor::Fragment
            && self.ir.globals_with(VariableModes::SHADER_IN).any(|(_, data)| data.sample);
        let info = &mut self.ir.info;
        info.num_textures = info.num_textures.max(128 - info.textures_used.leading_zeros());
        info.num_images = info.num_images.max(64 - info.images_used.leading_zeros());
    }
}
