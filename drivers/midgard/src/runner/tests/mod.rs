//! Runs of hand-written programs.

mod compute;
mod fragment;
mod textures;
mod vertex;

use tgsi_compiler::RunError;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, RunLimits, SystemValue};

use super::run_program;
use crate::isa::alu::{AluBundle, AluOp, Branch, BranchOp, Condition, Constants, Scalar, ScalarSource, Unit};
use crate::isa::alu::{Vector, VectorSource};
use crate::isa::load_store::{LoadStore, LoadStoreBundle, LoadStoreOp, Operand};
use crate::isa::{Body, Bundle, Chip, LoadStoreRegister, Register, Swizzle, Tag, encode_program};
use crate::program::{Program, Slot, Stage, Varying};

fn r(number: u8) -> Register {
    Register::new(number).unwrap()
}

fn operand(register: LoadStoreRegister, component: u8) -> Operand {
    Operand { register, component }
}

/// A vector operation on 32 bits.
fn vector(op: AluOp, destination: u8, a: u8, b: u8) -> Vector {
    Vector::new(op, r(destination), VectorSource::new(op, r(a)), VectorSource::new(op, r(b)).into())
}

/// A bundle with a vector operation.
fn bundle(vector: Vector) -> AluBundle {
    let units = vector.op.row().units;
    let mut bundle = AluBundle::default();
    if units.contains(Unit::Vmul) {
        bundle.vmul = Some(vector);
    } else {
        bundle.vadd = Some(vector);
    }
    bundle
}

fn alu(op: AluOp, destination: u8, a: u8, b: u8) -> Body {
    Body::Alu(bundle(vector(op, destination, a, b)))
}

/// A copy of a register.
fn copy(destination: u8, source: u8) -> Body {
    alu(AluOp::Imov, destination, 24, source)
}

/// A copy of the first component of a register to components of another one, two bits of the mask for each.
fn spread(destination: u8, mask: u8, source: u8) -> Vector {
    let first = VectorSource { swizzle: Swizzle::new([0; 4]), ..VectorSource::new(AluOp::Imov, r(source)) };
    Vector { mask, ..Vector::new(AluOp::Imov, r(destination), VectorSource::new(AluOp::Imov, r(24)), first.into()) }
}

/// A bundle that sets a register to constants.
fn constant(destination: u8, value: [u32; 4]) -> Body {
    Body::Alu(AluBundle { constants: Some(Constants(value)), ..bundle(vector(AluOp::Imov, destination, 24, 26)) })
}

/// A branch on a component of a register, in a bundle of one quadword.
fn branch(op: BranchOp, (register, component): (u8, u8), offset: i8, target: Tag) -> Body {
    let source = |number, component| ScalarSource::new(AluOp::Imov, r(number), component);
    let condition = Scalar::new(AluOp::Imov, r(31), 3, source(24, 0), source(register, component));
    let branch = Branch::Conditional { op, condition: Condition::True, target, offset };
    Body::Alu(AluBundle { smul: Some(condition), branch: Some(branch), ..AluBundle::default() })
}

fn load_store(instruction: LoadStore) -> Body {
    Body::LoadStore(LoadStoreBundle([Some(instruction), None]))
}

/// A load of an attribute, varying or special value.
fn entry(op: LoadStoreOp, register: u8, number: i32) -> Body {
    load_store(LoadStore { offset: number << 9, ..LoadStore::new(op, r(register)) })
}

/// A load of a row of a uniform buffer.
fn uniform_row(register: u8, buffer: u8, row: i32) -> Body {
    let argument =
        Operand { register: LoadStoreRegister::from_code(u32::from(buffer) >> 2).unwrap(), component: buffer & 3 };
    let offset = (row * 16) << 2 | 1;
    load_store(LoadStore { argument, offset, ..LoadStore::new(LoadStoreOp::LdUbo128, r(register)) })
}

/// The words of bodies in order.
fn words(bodies: &[Body]) -> Vec<u32> {
    let tag = |body: &Body| Bundle { next: Tag::Break, body: body.clone() }.tag();
    let next = |index: usize| bodies.get(index + 1).map_or(Tag::Break, tag);
    let bundles: Vec<_> =
        bodies.iter().enumerate().map(|(index, body)| Bundle { next: next(index), body: body.clone() }).collect();
    encode_program(&bundles).unwrap()
}

/// A program without entries in tables, with system values in buffer 3.
fn program(stage: Stage, bodies: &[Body]) -> Program {
    Program {
        chip: Chip::T760,
        stage,
        words: words(bodies),
        work_registers: 8,
        uniforms: Vec::new(),
        system_buffer: 3,
        system_rows: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        results: Vec::new(),
        textures: Vec::new(),
        images: Vec::new(),
        stack: 0,
        shared: 0,
        workgroup: None,
        discards: false,
    }
}

fn varying(number: u32, slot: Slot, mask: u8) -> Varying {
    Varying { number, slot, location: 0, mask }
}

/// Inputs whose registers have the word `register << 16 | component << 8 | lane`.
fn numbered(lanes: usize, registers: usize) -> Inputs {
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, registers), ..Inputs::default() };
    for (register, component, lane) in all(registers, lanes) {
        inputs.inputs.set(register, component, lane, number(register, component, lane));
    }
    inputs
}

fn number(register: usize, component: usize, lane: usize) -> u32 {
    (register << 16 | component << 8 | lane) as u32
}

fn all(registers: usize, lanes: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..registers * 4 * lanes).map(move |index| (index / lanes / 4, index / lanes % 4, index % lanes))
}

/// Sets a system value to words by component and lane.
fn set(inputs: &mut Inputs, value: SystemValue, words: impl Fn(u32, u32) -> u32) {
    let lanes = inputs.lanes as u32;
    let component = |component| (0..lanes).map(|lane| words(component, lane)).collect();
    inputs.system_values.insert(value, (0..value.num_components().into()).map(component).collect());
}

fn run_with(program: Program, inputs: &Inputs, resources: &mut AnalyticResources) -> Result<Outputs, RunError> {
    run_program(program)?.run(inputs, resources, RunLimits::default())
}

fn run(program: Program, inputs: &Inputs) -> Outputs {
    run_with(program, inputs, &mut AnalyticResources::default()).unwrap()
}

/// A register of the outputs in a lane.
fn output(outputs: &Outputs, register: usize, lane: usize) -> [u32; 4] {
    [0, 1, 2, 3].map(|component| outputs.outputs.get(register, component, lane))
}

#[test]
fn invalid_programs() {
    let error =
        |program: Program| run_with(program, &Inputs::default(), &mut AnalyticResources::default()).unwrap_err();
    let valid = program(Stage::Vertex, &[copy(0, 1)]);
    let damaged = Program { words: vec![0; 4], ..valid.clone() };
    assert_eq!(error(damaged), RunError::Code("word 0: tag 0 is invalid".to_owned()));
    let mut truncated = program(Stage::Vertex, &[copy(0, 1), copy(1, 2)]);
    truncated.words.truncate(4);
    let found = run_with(truncated, &numbered(1, 0), &mut AnalyticResources::default());
    let expected = "bundle 0: the program ends, and the next tag is alu/4";
    assert_eq!(found, Err(RunError::Failed(expected.to_owned())));
    let row = crate::program::UniformRow { buffer: 0, row: 0 };
    let many = Program { uniforms: vec![row; 17], ..valid.clone() };
    assert_eq!(error(many), RunError::Code("registers have no place for 17 uniforms".to_owned()));
    let output = varying(0, Slot::Register(u32::MAX), 15);
    for large in [Program { stack: u32::MAX, ..valid.clone() }, Program { outputs: vec![output], ..valid.clone() }] {
        let found = run_with(large, &numbered(1, 0), &mut AnalyticResources::default());
        let expected = "the run needs more than 268435456 bytes for registers and storage";
        assert_eq!(found, Err(RunError::Failed(expected.to_owned())));
    }
}
