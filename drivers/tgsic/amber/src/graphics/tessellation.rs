//! The tessellation stages of a draw.

use tgsi_ir::slots::VaryingSlot;
use tgsi_raster::domain::{Domain, Spacing};
use tgsi_raster::stages::{Control, Tessellation};

use super::link::{link, register_of};
use super::stage::Stage;

/// The slots of the levels.
const LEVELS: [u8; 2] = [VaryingSlot::TESS_LEVEL_OUTER, VaryingSlot::TESS_LEVEL_INNER];

/// The stages of two shaders.
pub(crate) fn tessellation(vertex: &Stage<'_>, control: &Stage<'_>, evaluation: &Stage<'_>) -> Tessellation {
    // Execution modes may be in either stage.
    let [info, other] = [&evaluation.ir().info.tess, &control.ir().info.tess];
    let mode = if info.primitive_mode == 0 { other.primitive_mode } else { info.primitive_mode };
    let spacing = if info.spacing == 0 { other.spacing } else { info.spacing };
    let level = |slot: u8| register_of(&control.outputs, slot.into());
    Tessellation {
        control: Some(Control {
            from_vertices: link(&vertex.outputs, &control.inputs, false),
            vertices: other.tcs_vertices_out.max(1) as usize,
            levels: LEVELS.map(level),
        }),
        to_evaluation: [false, true].map(|is_patch| link(&control.outputs, &evaluation.inputs, is_patch)),
        default_levels: Default::default(),
        level_inputs: LEVELS.map(|slot| register_of(&evaluation.inputs, slot.into())),
        domain: match mode {
            2 => Domain::Quads,
            3 => Domain::Isolines,
            _ => Domain::Triangles,
        },
        spacing: match spacing {
            2 => Spacing::FractionalOdd,
            3 => Spacing::FractionalEven,
            _ => Spacing::Equal,
        },
        is_counter_clockwise: info.ccw || other.ccw,
        has_points: info.point_mode || other.point_mode,
    }
}
