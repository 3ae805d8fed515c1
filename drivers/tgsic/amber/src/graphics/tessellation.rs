//! The tessellation stages.

use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, SystemValue, Vec4};
use tgsi_ir::slots::VaryingSlot;
use tgsi_raster::workgroups::set_subgroups;

use super::domain::{Domain, Spacing, subdivide};
use super::link::{Link, Registers, UNWRITTEN, register_of};
use super::primitives::Primitive;
use super::stage::{Stage, registers_of_lanes};
use super::vertices::floats;
use crate::buffer::Buffer;
use crate::error::Refusal;

/// Both stages.
pub(crate) struct Tessellation<'s, 'p> {
    pub control: &'s Stage<'p>,
    pub evaluation: &'s Stage<'p>,
    /// From the vertex stage to the control stage.
    pub from_vertices: Link,
    /// Between both stages, by vertex and by patch.
    pub between: [Link; 2],
}

impl<'s, 'p> Tessellation<'s, 'p> {
    pub(crate) fn new(vertex: &Stage<'_>, control: &'s Stage<'p>, evaluation: &'s Stage<'p>) -> Tessellation<'s, 'p> {
        let between = [false, true].map(|is_patch| Link::new(&control.outputs, &evaluation.inputs, is_patch));
        let from_vertices = Link::new(&vertex.outputs, &control.inputs, false);
        Tessellation { control, evaluation, from_vertices, between }
    }

    /// Processes a patch. Adds its vertices and primitives.
    pub(crate) fn run(
        &self,
        patch: &[&Registers],
        number: u32,
        done: &mut (Vec<Registers>, Vec<Primitive>),
        buffers: &mut [Buffer],
    ) -> Result<(), Refusal> {
        let (control, evaluation) = (self.control, self.evaluation);
        let lanes = (control.ir().info.tess.tcs_vertices_out.max(1) as usize).min(MAX_LANES);
        let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 0), ..Inputs::default() };
        inputs.vertices = patch.iter().map(|outputs| self.from_vertices.inputs(outputs)).collect();
        let values = &mut inputs.system_values;
        values.insert(SystemValue::InvocationId, vec![(0..lanes as u32).collect()]);
        values.insert(SystemValue::PrimitiveId, vec![vec![number; lanes]]);
        values.insert(SystemValue::VerticesIn, vec![vec![patch.len() as u32; lanes]]);
        set_subgroups(&mut inputs);
        let outputs = control.run(&mut inputs, buffers)?;
        let of_patch = registers_of_lanes(&outputs.outputs, 1).pop().unwrap_or_default();
        let level = |slot: u8| -> Vec4 {
            let register = register_of(&control.outputs, slot.into());
            register.and_then(|register| of_patch.get(register)).copied().unwrap_or(UNWRITTEN)
        };
        let (outer, inner) = (level(VaryingSlot::TESS_LEVEL_OUTER), level(VaryingSlot::TESS_LEVEL_INNER));

        // Execution modes may be in either stage.
        let [info, other] = [&evaluation.ir().info.tess, &control.ir().info.tess];
        let mode = if info.primitive_mode == 0 { other.primitive_mode } else { info.primitive_mode };
        let spacing = if info.spacing == 0 { other.spacing } else { info.spacing };
        let domain = match mode {
            2 => Domain::Quads,
            3 => Domain::Isolines,
            _ => Domain::Triangles,
        };
        let spacing = match spacing {
            2 => Spacing::FractionalOdd,
            3 => Spacing::FractionalEven,
            _ => Spacing::Equal,
        };
        let [x, y, ..] = floats(inner);
        let mut parts = subdivide(domain, spacing, floats(outer), [x, y]);
        if info.point_mode || other.point_mode {
            parts.primitives = (0..parts.points.len()).map(|point| Primitive::Point([point])).collect();
        } else if !(info.ccw || other.ccw) {
            for primitive in &mut parts.primitives {
                if let Primitive::Triangle([_, b, c]) = primitive {
                    std::mem::swap(b, c);
                }
            }
        }

        let vertices: Vec<Registers> = outputs.vertices.iter().map(|vertex| self.between[0].inputs(vertex)).collect();
        let patch_inputs = self.between[1].inputs(&of_patch);
        let (all, primitives) = done;
        let first = all.len();
        let moved = |primitive: &Primitive| match *primitive {
            Primitive::Point([a]) => Primitive::Point([first + a]),
            Primitive::Line(ends) => Primitive::Line(ends.map(|end| first + end)),
            Primitive::Triangle(corners) => Primitive::Triangle(corners.map(|corner| first + corner)),
        };
        primitives.extend(parts.primitives.iter().map(moved));
        for points in parts.points.chunks(MAX_LANES) {
            let lanes = points.len();
            let mut inputs =
                Inputs { lanes, inputs: LaneRegisters::new(lanes, patch_inputs.len()), ..Inputs::default() };
            for (register, words) in patch_inputs.iter().enumerate() {
                for (component, &word) in words.iter().enumerate() {
                    inputs.inputs.component_mut(register, component).fill(word);
                }
            }
            // A register of a vertex has no values by lane.
            inputs.vertices.clone_from(&vertices);
            let values = &mut inputs.system_values;
            let coordinate = |axis: usize| points.iter().map(|point| point[axis].to_bits()).collect();
            values.insert(SystemValue::TessCoord, [0, 1, 2].map(coordinate).to_vec());
            values.insert(SystemValue::PrimitiveId, vec![vec![number; lanes]]);
            values.insert(SystemValue::VerticesIn, vec![vec![vertices.len() as u32; lanes]]);
            values.insert(SystemValue::TessLevelOuter, outer.map(|word| vec![word; lanes]).to_vec());
            values.insert(SystemValue::TessLevelInner, [inner[0], inner[1]].map(|word| vec![word; lanes]).to_vec());
            set_subgroups(&mut inputs);
            let outputs = evaluation.run(&mut inputs, buffers)?;
            all.extend(registers_of_lanes(&outputs.outputs, lanes));
        }
        Ok(())
    }
}
