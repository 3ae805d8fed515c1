//! Emits the properties of the finished shader from the IR shader's info. Default values are omitted.

use tgsi::builder::ShaderBuilder;
use tgsi::tables::{Primitive, Processor, PropertyName};
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_ir::slots::FragResult;
use tgsi_ir::variable::VariableModes;

use super::declarations::processor;

/// Sets the properties.
pub(crate) fn set_properties(shader: &Shader, builder: &mut ShaderBuilder) {
    let info = &shader.info;
    let mut set = |name, value: u32| {
        if value != 0 {
            builder.property(name, value);
        }
    };
    let primitive = |name: &str| Primitive::from_name(name).map(|p| u32::from(p.value()));
    set(PropertyName::LegacyMathRules, info.use_legacy_math_rules.into());
    match shader.stage {
        ShaderStage::Vertex | ShaderStage::TessEval | ShaderStage::Geometry => {
            set(PropertyName::NumClipdistEnabled, info.clip_distance_array_size);
            set(PropertyName::NumCulldistEnabled, info.cull_distance_array_size);
            set(PropertyName::VsProhibitUcps, info.prohibit_ucps.into());
            set(PropertyName::LayerViewportRelative, info.layer_viewport_relative.into());
        }
        _ => {}
    }
    match shader.stage {
        ShaderStage::Vertex => {
            set(PropertyName::VsWindowSpacePosition, info.vs.window_space_position.into());
            set(PropertyName::VsBlitSgprsAmd, info.vs.blit_sgprs_amd);
        }
        ShaderStage::TessCtrl => set(PropertyName::TcsVerticesOut, info.tess.tcs_vertices_out),
        ShaderStage::TessEval => {
            let mode = match info.tess.primitive_mode {
                1 => Some(Primitive::Triangles),
                2 => Some(Primitive::Quads),
                3 => Some(Primitive::Lines),
                _ => None,
            };
            if let Some(mode) = mode {
                builder.property(PropertyName::TesPrimMode, mode.value().into());
            }
            let spacing = match info.tess.spacing {
                1 => Some(2),
                2 => Some(0),
                3 => Some(1),
                _ => None,
            };
            if let Some(spacing) = spacing {
                builder.property(PropertyName::TesSpacing, spacing);
            }
            builder.property(PropertyName::TesVertexOrderCw, (!info.tess.ccw).into());
            builder.property(PropertyName::TesPointMode, info.tess.point_mode.into());
        }
        ShaderStage::Geometry => {
            if let Some(value) = primitive(&info.gs.input_primitive) {
                builder.property(PropertyName::GsInputPrimitive, value);
            }
            if let Some(value) = primitive(&info.gs.output_primitive) {
                builder.property(PropertyName::GsOutputPrimitive, value);
            }
            // Without the property there is no limit.
            if info.gs.vertices_out != 0 {
                builder.property(PropertyName::GsMaxOutputVertices, info.gs.vertices_out);
            }
            builder.property(PropertyName::GsInvocations, info.gs.invocations.max(1));
        }
        ShaderStage::Fragment => {
            let all_buffers = shader
                .globals_with(VariableModes::SHADER_OUT)
                .any(|(_, data)| data.location == i32::from(FragResult::COLOR));
            set(PropertyName::FsColor0WritesAllCbufs, all_buffers.into());
            set(PropertyName::FsCoordOrigin, (!info.fs.origin_upper_left).into());
            set(PropertyName::FsCoordPixelCenter, info.fs.pixel_center_integer.into());
            set(PropertyName::FsDepthLayout, info.fs.depth_layout);
            set(PropertyName::FsEarlyDepthStencil, info.fs.early_fragment_tests.into());
            set(PropertyName::FsPostDepthCoverage, info.fs.post_depth_coverage.into());
            set(PropertyName::FsBlendEquationAdvanced, info.fs.advanced_blend_modes);
        }
        ShaderStage::Compute | ShaderStage::Kernel => {
            let [width, height, depth] = info.workgroup_size;
            if !info.workgroup_size_variable && width != 0 {
                builder.property(PropertyName::CsFixedBlockWidth, width);
                builder.property(PropertyName::CsFixedBlockHeight, height);
                builder.property(PropertyName::CsFixedBlockDepth, depth);
            }
            if info.cs.user_data_components_amd != 0 {
                builder.property(PropertyName::CsUserDataComponentsAmd, info.cs.user_data_components_amd);
            }
        }
        ShaderStage::Task | ShaderStage::Mesh => {}
    }
    if matches!(shader.stage, ShaderStage::Vertex | ShaderStage::TessEval)
        && let Some(next) = info.next_stage.and_then(processor).filter(|&p| p != Processor::Vertex)
    {
        builder.property(PropertyName::NextShader, next.value().into());
    }
}
