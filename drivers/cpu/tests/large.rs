//! Large programs: many live values, and many instructions. Compilation time is linear in the program (not tested
//! here), only operations between regions are interpreted, and the results are those of the interpreter.

#![cfg(feature = "machine-code")]

use std::fmt::Write;

use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::{Options, Program, compile};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, RunLimits};

const HEADER: &str = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\n";

fn inputs() -> Inputs {
    let mut inputs = Inputs { lanes: 44, inputs: LaneRegisters::new(44, 1), ..Inputs::default() };
    for component in 0..4 {
        for (lane, word) in inputs.inputs.component_mut(0, component).iter_mut().enumerate() {
            *word = ((lane * 7 % 44) as f32 * 0.37 - component as f32 * 2.5).to_bits();
        }
    }
    inputs
}

fn run(program: &Program) -> Outputs {
    program.run(&inputs(), &mut AnalyticResources::default(), RunLimits::default()).expect("it runs")
}

/// Compiles a shader with all options, and compares the results. Returns the program with default options, and the one
/// that is compiled quickly.
fn check(text: &str) -> [Program; 2] {
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into());
    let shader = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
    let lowered = compiler.ir_at(Stage::Registers, &shader).expect("it is lowered");
    let made = |options| compile(&lowered, options).expect("it is compiled");
    let expected = run(&made(Options { machine_code: false, ..Options::default() }));
    let programs = [false, true].map(|quick| made(Options { quick, ..Options::default() }));
    for program in programs.iter().chain([&made(Options { keep_inactive: true, ..Options::default() })]) {
        assert_eq!(program.report().refused, None);
        let found = run(program);
        for component in 0..4 {
            let [a, b] = [&expected, &found].map(|run| run.outputs.component(0, component));
            assert_eq!(a, b, "component {component}");
            assert!(a.iter().any(|&word| word != a[0]));
        }
    }
    programs
}

/// Emits a tree of conditions. Each leaf assigns different values to the temporaries.
fn tree(text: &mut String, depth: u32, first: u32, count: u32) {
    if depth == 0 {
        for temp in first..first + count {
            let _ = writeln!(text, "MAD TEMP[{temp}], IN[0].yzwx, TEMP[{temp}], IN[0].wwxx");
        }
        return;
    }
    let half = count / 2;
    let _ =
        writeln!(text, "SLT TEMP[0].x, IN[0].{}, IMM[0].xxxx\nIF TEMP[0].xxxx", ["xxxx", "yyyy"][depth as usize % 2]);
    tree(text, depth - 1, first, half);
    text.push_str("ELSE\n");
    tree(text, depth - 1, first + half, count - half);
    text.push_str("ENDIF\n");
}

#[test]
fn many_values_live_through_conditions() {
    const TEMPS: u32 = 512;
    let mut text = format!("{HEADER}DCL TEMP[0..{TEMPS}]\nIMM[0] FLT32 {{0.5, 1, 2, 4}}\n");
    for temp in 1..=TEMPS {
        let _ = writeln!(text, "ADD TEMP[{temp}], IN[0], IMM[0].{}", ["xyzw", "wzyx", "xxyy"][temp as usize % 3]);
    }
    tree(&mut text, 3, 1, TEMPS);
    text.push_str("MOV TEMP[0], IMM[0]\n");
    for temp in 1..=TEMPS {
        let _ = writeln!(text, "MAD TEMP[0], TEMP[0], IMM[0].xxxx, TEMP[{temp}]");
    }
    text.push_str("MOV OUT[0], TEMP[0]\nEND\n");
    let [usual, _] = check(&text);
    let report = usual.report();
    assert!(report.functions > 1, "it is one function");
    let constructs = ["if", "else", "endif"];
    let interpreted = usual.interpreted();
    assert!(interpreted.iter().all(|name| constructs.contains(name)), "{interpreted:?}");
}

#[test]
fn many_instructions_in_a_function() {
    let mut text = format!("{HEADER}DCL TEMP[0..1]\nMOV TEMP[0], IN[0]\n");
    // A sine is tens of instructions of code.
    for number in 0..400 {
        let _ = writeln!(text, "{} TEMP[1], TEMP[0].xxxx", ["SIN", "EX2", "COS"][number % 3]);
        let _ = writeln!(text, "MAD TEMP[0], TEMP[1].yzwx, IN[0].wxyz, TEMP[0]");
    }
    text.push_str("MOV OUT[0], TEMP[0]\nEND\n");
    let [usual, quick] = check(&text);
    assert_eq!((usual.report().functions, quick.report().functions), (1, 1));
    // It is large, so that both are the same.
    assert_eq!(usual.report().bytes, quick.report().bytes);
    let [usual, quick] = check(&format!("{HEADER}SIN OUT[0], IN[0]\nEND\n"));
    assert_ne!(usual.report().bytes, quick.report().bytes);
}
