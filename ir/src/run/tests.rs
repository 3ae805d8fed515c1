//! Handwritten shaders, one for each feature.

mod alu;
mod flow;
mod memory;
mod stages;
mod textures;
mod variables;

use super::*;
use crate::alu::AluOp;
use crate::body::{Body, JumpKind, Shape};
use crate::builder::Builder;
use crate::entities::{Def, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::ShaderStage;
use crate::types::ScalarType;
use crate::variable::{VariableData, VariableModes};

use tgsi_environment::{
    AnalyticResources, ImageTexel, LaneRegisters, MAX_LANES, TextureLookup, TextureRequest, TextureSize, Vec4,
};

const VEC4: Shape = Shape::new(4, 32);
const SCALAR: Shape = Shape::new(1, 32);

/// Inputs for `lanes` lanes; register 0: x the lane number, y its double, z 100, w the lane number as a float.
fn lanes(lanes: usize) -> Inputs {
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 1), ..Inputs::default() };
    for lane in 0..lanes {
        inputs.inputs.set(0, 0, lane, lane as u32);
        inputs.inputs.set(0, 1, lane, 2 * lane as u32);
        inputs.inputs.set(0, 2, lane, 100);
        inputs.inputs.set(0, 3, lane, (lane as f32).to_bits());
    }
    inputs
}

fn try_run(shader: &Shader, inputs: &Inputs) -> Result<Outputs, RunError> {
    run(shader, inputs, &mut AnalyticResources::default(), RunLimits::of_steps(10_000))
}

fn ran(shader: &Shader, inputs: &Inputs) -> Outputs {
    try_run(shader, inputs).unwrap_or_else(|error| panic!("{error}"))
}

/// One component of output register 0, all lanes.
fn component(outputs: &Outputs, number: usize) -> Vec<u32> {
    outputs.outputs.component(0, number).to_vec()
}

/// Lowered load of input register 0.
fn load_input(b: &mut Builder<'_>) -> Def {
    let zero = b.u32_const(0);
    b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], VEC4)
}

/// The lane number.
fn lane(b: &mut Builder<'_>) -> Def {
    let input = load_input(b);
    b.channel(input, 0)
}

/// Lowered store of a whole value to an output register.
fn store_output(b: &mut Builder<'_>, register: i32, value: Def) {
    let zero = b.u32_const(0);
    let mask = (1 << b.body.num_components(value)) - 1;
    let indices = [(IndexKind::Base, register), (IndexKind::WriteMask, mask)];
    b.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
}

/// A shader with a `main` built by a function; the returned value is stored to output register 0.
fn shader(stage: ShaderStage, build: impl FnOnce(&mut Builder<'_>) -> Def) -> Shader {
    let mut shader = Shader::new(stage);
    let mut b = Builder::at_end(shader.main_mut());
    let value = build(&mut b);
    store_output(&mut b, 0, value);
    shader
}

fn variable(
    shader: &mut Shader,
    mode: VariableModes,
    ty: crate::entities::Type,
    set: impl FnOnce(&mut VariableData),
) -> Variable {
    let mut data = VariableData::new("v", ty, mode);
    set(&mut data);
    shader.add_variable(data)
}

/// Rows become components, for whole quads and the rest; words beyond the last lane stay zero.
#[test]
fn lanes_are_set_from_rows() {
    let mut file = LaneRegisters::new(6, 1);
    let rows: Vec<u32> = (1..=9).collect();
    file.set_lanes(1, &rows, |&row| [row, row * 10, row * 100, 7]);
    for (component, factor) in [1, 10, 100].into_iter().enumerate() {
        assert_eq!(file.component(1, component), [1, 2, 3, 4, 5, 6].map(|row| row * factor));
    }
    assert_eq!((file.component(1, 3), file.component(0, 0)), (&[7; 6][..], &[0; 6][..]));
    file.set_lanes(0, &rows[..5], |&row| [row; 4]);
    assert_eq!(file.component(0, 2), [1, 2, 3, 4, 5, 0]);
    let padding: u32 = file.into_words().chunks(8).map(|component| component[6] | component[7]).sum();
    assert_eq!(padding, 0);
}
