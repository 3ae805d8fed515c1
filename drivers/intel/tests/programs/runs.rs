//! Runs of compiled programs, also of damaged ones.

use super::{GEOMETRY, VERTEX, program};
use tgsi_compiler::{AuxiliaryFile, Code, CodeSize, Driver, ObjectFile, RunError, Runner};
use tgsi_driver_intel::container::program_json;
use tgsi_driver_intel::program::Program;
use tgsi_driver_intel::{DRIVER, runner};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, RunLimits};

/// The runner of a program.
fn runner_of(program: &Program) -> Result<Box<dyn Runner>, RunError> {
    let json = AuxiliaryFile { extension: "eu.json", text: program_json(program) };
    let object = ObjectFile { bytes: Vec::new(), size: CodeSize::default(), auxiliary_files: vec![json] };
    let target = DRIVER.target(&[]).expect("no options");
    runner(&*target, &Code::Object(Box::new(object))).expect("a target of the driver")
}

fn run(program: &Program, inputs: &Inputs, steps: u64) -> Result<Outputs, RunError> {
    runner_of(program)?.run(inputs, &mut AnalyticResources::default(), RunLimits::of_steps(steps))
}

#[test]
fn an_odd_number_of_vertices_runs() {
    let text = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nMUL OUT[0], IN[0], IN[0].wzyx\nEND\n";
    let program = program(text, &[]);
    let mut inputs = Inputs { lanes: 3, inputs: LaneRegisters::new(3, 1), ..Inputs::default() };
    for lane in 0..3 {
        (0..4).for_each(|c| inputs.inputs.set(0, c, lane, ((lane + c) as f32).to_bits()));
    }
    let outputs = run(&program, &inputs, 100).expect("a short program").outputs;
    for lane in 0..3 {
        let found = [0, 1, 2, 3].map(|c| f32::from_bits(outputs.get(0, c, lane)));
        assert_eq!(found, [0, 1, 2, 3].map(|c: usize| ((lane + c) * (lane + 3 - c)) as f32));
    }
}

#[test]
fn primitives_end_after_their_last_vertex() {
    let vertices = (0..3).map(|vertex| vec![[vertex, 0, 0, 0], [0; 4]]).collect();
    let inputs = Inputs { lanes: 2, vertices, ..Inputs::default() };
    let outputs = run(&program(GEOMETRY, &[]), &inputs, 1000).expect("a short program");
    let lengths: Vec<usize> = outputs.emitted[0].iter().map(Vec::len).collect();
    assert_eq!(lengths, [2, 1, 2, 1]);
    assert_eq!(outputs.emitted[0][2][1][0], [2, 0, 0, 0]);
}

#[test]
fn runs_have_limits() {
    let inputs = Inputs { lanes: 1, ..Inputs::default() };
    assert!(matches!(run(&program(VERTEX, &[]), &inputs, 5), Err(RunError::StepLimit(_))));
}

#[test]
fn damaged_programs_are_errors() {
    for text in [VERTEX, GEOMETRY] {
        let mut program = program(text, &["no_compaction"]);
        let words = program.kernel().words.clone();
        let kernel = match &mut program {
            Program::Vertex(program) => &mut program.kernel,
            Program::Geometry(program) => &mut program.kernel,
            Program::Fragment(program) => &mut program.kernel,
        };
        // Without its end, and with an unknown opcode.
        kernel.words.truncate(words.len() - 2);
        assert!(matches!(runner_of(&program), Err(RunError::Code(_))));
    }
}
