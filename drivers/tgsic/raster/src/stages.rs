//! The tessellation and geometry stages: from the outputs of vertices to those of others, and primitives between them.
//!
//! ```text
//! vertices ──assemble──> patches ──tessellation──> vertices, primitives ──geometry──> vertices, primitives
//! ```

use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, Outputs, SystemValue, Vec4};

use crate::domain::{Domain, Spacing, subdivide};
use crate::primitives::{Form, Primitive, Provoking, Topology, assemble, primitive, strip};
use crate::workgroups::set_subgroups;

/// The output registers of a vertex.
pub type Registers = Vec<Vec4>;

/// The value of inputs that no stage wrote.
pub const UNWRITTEN: Vec4 = [0; 4];

/// Vertices, and primitives between them, each with the number of the primitive of the draw that it is a part of.
pub type Primitives = (Vec<Registers>, Vec<(u32, Primitive)>);

/// A stage to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The tessellation control stage.
    Control,
    /// The tessellation evaluation stage.
    Evaluation,
    /// The geometry stage.
    Geometry,
}

/// Moves the outputs of a stage to the input registers of the next.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Link {
    /// Register of the input, and of the output with its slot.
    moves: Vec<(usize, Option<usize>)>,
    registers: usize,
}

impl Link {
    /// The link that gives each input register the value of an output register, if there is one.
    pub fn new(moves: Vec<(usize, Option<usize>)>) -> Link {
        let registers = moves.iter().map(|(register, _)| register + 1).max().unwrap_or(0);
        Link { moves, registers }
    }

    /// The input registers for the outputs of a vertex.
    pub fn inputs(&self, outputs: &[Vec4]) -> Registers {
        let mut inputs = vec![UNWRITTEN; self.registers];
        for &(to, from) in &self.moves {
            if let (Some(to), Some(from)) = (inputs.get_mut(to), from.and_then(|from| outputs.get(from))) {
                *to = *from;
            }
        }
        inputs
    }
}

/// The registers of each lane.
pub fn registers_of_lanes(file: &LaneRegisters, lanes: usize) -> Vec<Registers> {
    let of_lane = |lane: usize| {
        (0..file.len()).map(|register| std::array::from_fn(|component| file.get(register, component, lane))).collect()
    };
    (0..lanes).map(of_lane).collect()
}

/// The control stage.
#[derive(Clone, PartialEq, Debug)]
pub struct Control {
    /// From the vertex stage.
    pub from_vertices: Link,
    /// Vertices of its patches: its invocations.
    pub vertices: usize,
    /// The registers of the outer and the inner levels.
    pub levels: [Option<usize>; 2],
}

/// Both stages of tessellation.
#[derive(Clone, PartialEq, Debug)]
pub struct Tessellation {
    /// The control stage; without one, patches stay as they are.
    pub control: Option<Control>,
    /// To the evaluation stage, by vertex and by patch.
    pub to_evaluation: [Link; 2],
    /// The levels without a control stage.
    pub default_levels: ([f32; 4], [f32; 2]),
    /// The inputs of the evaluation stage that hold the outer and the inner levels.
    pub level_inputs: [Option<usize>; 2],
    /// The shape of the domain.
    pub domain: Domain,
    /// The way to round levels.
    pub spacing: Spacing,
    /// Whether triangles are counter-clockwise in the domain.
    pub is_counter_clockwise: bool,
    /// Whether the primitives are points.
    pub has_points: bool,
}

/// A patch after the control stage.
struct Patch {
    vertices: Vec<Registers>,
    registers: Registers,
    outer: [f32; 4],
    inner: [f32; 2],
}

impl Tessellation {
    /// Processes a patch: the outputs of its vertices. Adds its vertices and primitives to those that are done.
    ///
    /// # Errors
    /// A run failed.
    pub fn run<E>(
        &self,
        patch: &[&Registers],
        number: u32,
        done: &mut Primitives,
        run: &mut dyn FnMut(Stage, &mut Inputs) -> Result<Outputs, E>,
    ) -> Result<(), E> {
        let Patch { vertices, registers, outer, inner } = self.controlled(patch, number, run)?;
        let mut parts = subdivide(self.domain, self.spacing, outer, inner);
        if self.has_points {
            parts.primitives = (0..parts.points.len()).map(|point| Primitive::Point([point])).collect();
        } else if !self.is_counter_clockwise {
            for primitive in &mut parts.primitives {
                if let Primitive::Triangle([_, b, c]) = primitive {
                    std::mem::swap(b, c);
                }
            }
        }
        let vertices: Vec<Registers> = vertices.iter().map(|vertex| self.to_evaluation[0].inputs(vertex)).collect();
        let mut patch_inputs = self.to_evaluation[1].inputs(&registers);
        let [x, y] = inner;
        for (register, level) in self.level_inputs.into_iter().zip([outer, [x, y, 0.0, 0.0]]) {
            if let Some(register) = register.and_then(|register| patch_inputs.get_mut(register)) {
                *register = level.map(f32::to_bits);
            }
        }
        let (all, primitives) = done;
        primitives.extend(parts.primitives.iter().map(|primitive| (number, primitive.moved(all.len()))));
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
            let all_lanes = |level: f32| vec![level.to_bits(); lanes];
            values.insert(SystemValue::TessLevelOuter, outer.map(all_lanes).to_vec());
            values.insert(SystemValue::TessLevelInner, inner.map(all_lanes).to_vec());
            set_subgroups(&mut inputs);
            let outputs = run(Stage::Evaluation, &mut inputs)?;
            all.extend(registers_of_lanes(&outputs.outputs, lanes));
        }
        Ok(())
    }

    /// Runs the control stage for a patch.
    fn controlled<E>(
        &self,
        patch: &[&Registers],
        number: u32,
        run: &mut dyn FnMut(Stage, &mut Inputs) -> Result<Outputs, E>,
    ) -> Result<Patch, E> {
        let (outer, inner) = self.default_levels;
        let Some(control) = &self.control else {
            let vertices = patch.iter().copied().cloned().collect();
            return Ok(Patch { vertices, registers: Registers::new(), outer, inner });
        };
        let lanes = control.vertices.clamp(1, MAX_LANES);
        let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 0), ..Inputs::default() };
        inputs.vertices = patch.iter().map(|outputs| control.from_vertices.inputs(outputs)).collect();
        let values = &mut inputs.system_values;
        values.insert(SystemValue::InvocationId, vec![(0..lanes as u32).collect()]);
        values.insert(SystemValue::PrimitiveId, vec![vec![number; lanes]]);
        values.insert(SystemValue::VerticesIn, vec![vec![patch.len() as u32; lanes]]);
        set_subgroups(&mut inputs);
        let outputs = run(Stage::Control, &mut inputs)?;
        let registers = registers_of_lanes(&outputs.outputs, 1).pop().unwrap_or_default();
        let level = |at: Option<usize>| -> [f32; 4] {
            let words = at.and_then(|register| registers.get(register)).copied().unwrap_or(UNWRITTEN);
            words.map(f32::from_bits)
        };
        let [outer, [x, y, ..]] = control.levels.map(level);
        Ok(Patch { vertices: outputs.vertices, registers, outer, inner: [x, y] })
    }
}

/// The geometry stage.
#[derive(Clone, PartialEq, Debug)]
pub struct Geometry {
    /// From the stage before.
    pub link: Link,
    /// Invocations for a primitive.
    pub invocations: usize,
    /// The form of its primitives.
    pub form: Form,
    /// The vertex that flat inputs come from.
    pub provoking: Provoking,
}

impl Geometry {
    /// Runs the geometry shader for a primitive: the outputs of its vertices, adjacent ones too. Adds vertices and
    /// primitives to those that it has emitted.
    ///
    /// # Errors
    /// The run failed.
    pub fn run<E>(
        &self,
        vertices: &[&Registers],
        number: u32,
        emitted: &mut Primitives,
        run: &mut dyn FnMut(Stage, &mut Inputs) -> Result<Outputs, E>,
    ) -> Result<(), E> {
        let lanes = self.invocations.clamp(1, MAX_LANES);
        let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 0), ..Inputs::default() };
        inputs.vertices = vertices.iter().map(|outputs| self.link.inputs(outputs)).collect();
        inputs.system_values.insert(SystemValue::InvocationId, vec![(0..lanes as u32).collect()]);
        inputs.system_values.insert(SystemValue::PrimitiveId, vec![vec![number; lanes]]);
        set_subgroups(&mut inputs);
        let outputs = run(Stage::Geometry, &mut inputs)?;
        let [first, ..] = outputs.emitted;
        let (all, primitives) = emitted;
        for vertices in first {
            let strip = strip(self.form, all.len(), vertices.len(), self.provoking);
            primitives.extend(strip.into_iter().map(|primitive| (number, primitive)));
            all.extend(vertices);
        }
        Ok(())
    }
}

/// The stages between vertices and the rasteriser.
#[derive(Clone, PartialEq, Debug)]
pub struct Pipeline {
    /// The way to form primitives from the vertices.
    pub topology: Topology,
    /// The vertices of a patch.
    pub patch_vertices: usize,
    /// The vertex that flat inputs come from.
    pub provoking: Provoking,
    /// Tessellation, which patches need.
    pub tessellation: Option<Tessellation>,
    /// The geometry stage.
    pub geometry: Option<Geometry>,
}

impl Pipeline {
    /// Processes the vertices of a draw: all primitives of a stage precede those of the next.
    ///
    /// # Errors
    /// A run failed.
    pub fn run<E>(
        &self,
        vertices: Vec<Registers>,
        run: &mut dyn FnMut(Stage, &mut Inputs) -> Result<Outputs, E>,
    ) -> Result<Primitives, E> {
        let assembled = assemble(self.topology, vertices.len(), self.patch_vertices, self.provoking);
        let numbers = (0..).map(|number: u32| number / self.topology.parts());
        let mut assembled: Vec<(u32, Vec<usize>)> = numbers.zip(assembled).collect();
        let (mut vertices, mut topology) = (vertices, self.topology);
        if let Some(tessellation) = &self.tessellation {
            let mut tessellated = Primitives::default();
            for (number, places) in &assembled {
                tessellation.run(&at(&vertices, places), *number, &mut tessellated, run)?;
            }
            let primitives = tessellated.1;
            topology = match primitives.first() {
                Some((_, Primitive::Point(_))) => Topology::PointList,
                Some((_, Primitive::Line(_))) => Topology::LineList,
                _ => Topology::TriangleList,
            };
            vertices = tessellated.0;
            assembled = primitives.iter().map(|(number, primitive)| (*number, primitive.places().to_vec())).collect();
        }
        let Some(geometry) = &self.geometry else {
            let primitives =
                assembled.iter().filter_map(|(number, places)| Some((*number, primitive(topology, places)?)));
            return Ok((vertices, primitives.collect()));
        };
        let mut emitted = Primitives::default();
        for (number, places) in &assembled {
            geometry.run(&at(&vertices, places), *number, &mut emitted, run)?;
        }
        Ok(emitted)
    }
}

/// The vertices at places.
fn at<'v>(vertices: &'v [Registers], places: &[usize]) -> Vec<&'v Registers> {
    places.iter().filter_map(|&place| vertices.get(place)).collect()
}
