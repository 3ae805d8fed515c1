//! The geometry stage of a draw.

use tgsi_raster::primitives::{Form, Provoking};
use tgsi_raster::stages::Geometry;

use super::link::link;
use super::stage::Stage;

/// The stage of a shader that follows another.
pub(crate) fn geometry(before: &Stage<'_>, stage: &Stage<'_>) -> Geometry {
    let info = &stage.ir().info.gs;
    Geometry {
        link: link(&before.outputs, &stage.inputs, false),
        invocations: info.invocations.max(1) as usize,
        form: match info.output_primitive.as_str() {
            "POINTS" => Form::Points,
            "LINE_STRIP" | "LINES" => Form::Lines,
            _ => Form::Triangles,
        },
        provoking: Provoking::First,
    }
}
