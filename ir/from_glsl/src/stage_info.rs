//! The properties of a shader that layouts of `in;` and `out;` state.

use tgsi_ir::shader::{Shader, ShaderStage};

use crate::program::{DerivativeGroup, Interlock, Primitive, Program, Spacing};

/// Sets the properties of a shader by its layouts.
pub(crate) fn set_info(shader: &mut Shader, program: &Program) {
    let layout = &program.layout;
    let stage = &layout.stage;
    let info = &mut shader.info;
    info.layer_viewport_relative = layout.viewport_relative == Some(true);
    match program.stage {
        ShaderStage::Fragment => {
            let is_dual = |id| program.variable(id).traits.index.is_some_and(|index| index > 0);
            let fs = &mut info.fs;
            fs.origin_upper_left = layout.origin_upper_left;
            fs.pixel_center_integer = layout.pixel_center_integer;
            fs.early_fragment_tests = layout.early_fragment_tests;
            fs.post_depth_coverage = layout.post_depth_coverage;
            fs.inner_coverage = layout.inner_coverage;
            fs.depth_layout = layout.depth;
            if let Some(Interlock { of_sample, is_ordered }) = stage.interlock {
                *match (of_sample, is_ordered) {
                    (false, true) => &mut fs.pixel_interlock_ordered,
                    (false, false) => &mut fs.pixel_interlock_unordered,
                    (true, true) => &mut fs.sample_interlock_ordered,
                    (true, false) => &mut fs.sample_interlock_unordered,
                } = true;
            }
            fs.color_is_dual_source = program.globals.iter().copied().any(is_dual);
        }
        ShaderStage::Geometry => {
            let gs = &mut info.gs;
            gs.input_primitive = stage.input.map_or(String::new(), |primitive| name(primitive).to_owned());
            gs.vertices_in = stage.input.and_then(Primitive::vertices).unwrap_or(0);
            gs.output_primitive = stage.output.map_or(String::new(), |primitive| name(primitive).to_owned());
            gs.vertices_out = stage.max_vertices.unwrap_or(0);
            gs.invocations = stage.invocations.unwrap_or(1);
        }
        ShaderStage::TessCtrl => info.tess.tcs_vertices_out = stage.vertices.unwrap_or(1),
        ShaderStage::TessEval => {
            info.tess.primitive_mode = match stage.input {
                Some(Primitive::Triangles) => 1,
                Some(Primitive::Quads) => 2,
                Some(Primitive::Isolines) => 3,
                _ => 0,
            };
            info.tess.spacing = match stage.spacing {
                Some(Spacing::FractionalOdd) => 2,
                Some(Spacing::FractionalEven) => 3,
                Some(Spacing::Equal) | None => 1,
            };
            info.tess.ccw = stage.is_clockwise != Some(true);
            info.tess.point_mode = stage.point_mode;
        }
        ShaderStage::Compute => {
            info.workgroup_size_variable = stage.is_size_variable;
            info.workgroup_size = match stage.is_size_variable {
                true => [0; 3],
                false => stage.local_size.map(|size| size.unwrap_or(1)),
            };
            info.derivative_group = match stage.derivative_group {
                Some(DerivativeGroup::Quads) => 1,
                Some(DerivativeGroup::Linear) => 2,
                None => 0,
            };
        }
        _ => {}
    }
}

/// The name of a primitive in the IR.
fn name(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Points => "POINTS",
        Primitive::Lines => "LINES",
        Primitive::LinesAdjacency => "LINES_ADJACENCY",
        Primitive::Triangles => "TRIANGLES",
        Primitive::TrianglesAdjacency => "TRIANGLES_ADJACENCY",
        Primitive::LineStrip => "LINE_STRIP",
        Primitive::TriangleStrip => "TRIANGLE_STRIP",
        Primitive::Quads | Primitive::Isolines => "",
    }
}
