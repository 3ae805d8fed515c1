//! The stages between vertices and the rasteriser, from the declarations and properties of the shaders.

use crate::domain::{Domain, Spacing};
use crate::primitives::{Form, Provoking, Topology};
use crate::stages::{Control, Geometry, Link, Pipeline, Tessellation};
use tgsi::Shader;
use tgsi::tables::{File, Primitive, PropertyName, Semantic};

/// State of an application.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PatchState {
    /// The vertices of a patch.
    pub vertices: usize,
    /// The levels of pipelines without a tessellation control shader.
    pub default_levels: ([f32; 4], [f32; 2]),
    /// The vertex that flat inputs come from.
    pub provoking: Provoking,
}

impl Default for PatchState {
    fn default() -> PatchState {
        PatchState { vertices: 3, default_levels: ([1.0; 4], [1.0; 2]), provoking: Provoking::Last }
    }
}

/// The registers of a file with their semantics.
fn slots(shader: &Shader, file: File) -> Vec<(Semantic, u16, usize)> {
    let declarations = shader.declarations.iter().filter(|declaration| declaration.file == file);
    let slots = declarations.flat_map(|declaration| {
        let registers = declaration.first..=declaration.last;
        declaration.semantic.into_iter().flat_map(move |semantic| {
            let numbers = registers.clone().zip(semantic.index..);
            numbers.map(move |(register, index)| (semantic.name, index, usize::from(register)))
        })
    });
    slots.collect()
}

fn register_of(slots: &[(Semantic, u16, usize)], name: Semantic, index: u16) -> Option<usize> {
    slots.iter().find(|slot| (slot.0, slot.1) == (name, index)).map(|slot| slot.2)
}

/// The link between two stages. `is_patch` chooses between values of vertices and of patches.
pub fn link(before: &Shader, after: &Shader, is_patch: bool) -> Link {
    let outputs = slots(before, File::Output);
    let inputs = slots(after, File::Input);
    let of_kind = inputs.iter().filter(|(name, ..)| name.is_patch() == is_patch);
    Link::new(of_kind.map(|&(name, index, register)| (register, register_of(&outputs, name, index))).collect())
}

/// The shaders between the vertex and the fragment shader.
#[derive(Clone, Copy, Debug)]
pub struct Between<'a> {
    /// The vertex shader.
    pub vertex: &'a Shader,
    /// The tessellation control shader.
    pub control: Option<&'a Shader>,
    /// The tessellation evaluation shader.
    pub evaluation: Option<&'a Shader>,
    /// The geometry shader.
    pub geometry: Option<&'a Shader>,
}

impl<'a> Between<'a> {
    /// The last stage before the rasteriser.
    pub fn last(&self) -> &'a Shader {
        self.geometry.or(self.evaluation).unwrap_or(self.vertex)
    }

    /// The pipeline for primitives of a topology.
    pub fn pipeline(&self, topology: Topology, state: &PatchState) -> Pipeline {
        Pipeline {
            topology,
            patch_vertices: state.vertices,
            provoking: state.provoking,
            tessellation: self.evaluation.map(|evaluation| self.tessellation(evaluation, state)),
            geometry: self.geometry.map(|geometry| self.geometry(geometry, state.provoking)),
        }
    }

    fn tessellation(&self, evaluation: &Shader, state: &PatchState) -> Tessellation {
        let before = self.control.unwrap_or(self.vertex);
        let property = |name: PropertyName| evaluation.property(name);
        let inputs = slots(evaluation, File::Input);
        let levels = |slots: &[(Semantic, u16, usize)]| {
            [Semantic::TessOuter, Semantic::TessInner].map(|name| register_of(slots, name, 0))
        };
        Tessellation {
            control: self.control.map(|control| {
                let outputs = slots(control, File::Output);
                Control {
                    from_vertices: link(self.vertex, control, false),
                    vertices: control.property(PropertyName::TcsVerticesOut).unwrap_or(1) as usize,
                    levels: levels(&outputs),
                }
            }),
            to_evaluation: [false, true].map(|is_patch| link(before, evaluation, is_patch)),
            default_levels: state.default_levels,
            level_inputs: levels(&inputs),
            domain: match property(PropertyName::TesPrimMode).and_then(Primitive::from_value) {
                Some(Primitive::Quads) => Domain::Quads,
                Some(Primitive::Lines) => Domain::Isolines,
                _ => Domain::Triangles,
            },
            spacing: match property(PropertyName::TesSpacing) {
                Some(0) => Spacing::FractionalOdd,
                Some(1) => Spacing::FractionalEven,
                _ => Spacing::Equal,
            },
            is_counter_clockwise: property(PropertyName::TesVertexOrderCw) != Some(1),
            has_points: property(PropertyName::TesPointMode) == Some(1),
        }
    }

    fn geometry(&self, geometry: &Shader, provoking: Provoking) -> Geometry {
        let before = self.evaluation.unwrap_or(self.vertex);
        Geometry {
            link: link(before, geometry, false),
            invocations: geometry.property(PropertyName::GsInvocations).unwrap_or(1) as usize,
            form: match geometry.property(PropertyName::GsOutputPrimitive).and_then(Primitive::from_value) {
                Some(Primitive::Points) => Form::Points,
                Some(Primitive::Lines | Primitive::LineStrip) => Form::Lines,
                _ => Form::Triangles,
            },
            provoking,
        }
    }
}
