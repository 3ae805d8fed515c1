//! The geometry stage.

use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, SystemValue};

use super::link::{Link, Registers};
use super::primitives::{Form, Primitive, strip};
use super::stage::Stage;
use crate::buffer::Buffer;
use crate::error::Refusal;
use tgsi_raster::workgroups::set_subgroups;

/// Runs the geometry shader for a primitive: the outputs of its vertices, adjacent ones too. Adds vertices and
/// primitives to those that it has emitted.
pub(crate) fn run(
    stage: &Stage<'_>,
    link: &Link,
    vertices: &[&Registers],
    number: u32,
    emitted: &mut (Vec<Registers>, Vec<Primitive>),
    buffers: &mut [Buffer],
) -> Result<(), Refusal> {
    let info = &stage.ir().info.gs;
    let lanes = (info.invocations.max(1) as usize).min(MAX_LANES);
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 0), ..Inputs::default() };
    inputs.vertices = vertices.iter().map(|outputs| link.inputs(outputs)).collect();
    inputs.system_values.insert(SystemValue::InvocationId, vec![(0..lanes as u32).collect()]);
    inputs.system_values.insert(SystemValue::PrimitiveId, vec![vec![number; lanes]]);
    set_subgroups(&mut inputs);
    let outputs = stage.run(&mut inputs, buffers)?;
    let form = match info.output_primitive.as_str() {
        "POINTS" => Form::Points,
        "LINE_STRIP" | "LINES" => Form::Lines,
        _ => Form::Triangles,
    };
    let [first, ..] = outputs.emitted;
    let (all, primitives) = emitted;
    for vertices in first {
        primitives.extend(strip(form, all.len(), vertices.len()));
        all.extend(vertices);
    }
    Ok(())
}
