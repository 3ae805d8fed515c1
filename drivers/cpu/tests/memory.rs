//! Loads by run-time indices in machine code, against the interpreter: constants, buffers, shared memory and arrays, with
//! indices that are the same in all lanes, differ, and lie at or behind the end. All of it is machine code.

#![cfg(feature = "machine-code")]

mod indirect;

use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::{Options, compile};
use tgsi_ir::run::{AnalyticResources, Inputs, LaneRegisters, RunLimits, run};
use tgsi_ir::system_value::SystemValue;

const LANES: usize = 72;

/// `IN[0].x` is nearly always an index inside, `.y` near the end of what there is, `.z` anything, `.w` the same in all
/// lanes.
fn inputs() -> Inputs {
    let mut inputs =
        Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, 5), shared_size: 100, ..Inputs::default() };
    for lane in 0..LANES {
        let number = lane as u32;
        let words = [number % 7, 12 + number % 5, number.wrapping_mul(0x9e37_79b9) >> (number % 32), 3];
        for (component, word) in words.into_iter().enumerate() {
            inputs.inputs.set(0, component, lane, word);
            // The last register of the array is not there.
            for register in 1..5 {
                inputs.inputs.set(register, component, lane, number * 100 + register as u32 * 10 + component as u32);
            }
        }
    }
    let ids = (0..LANES as u32).collect::<Vec<u32>>();
    inputs.system_values.insert(SystemValue::LocalInvocationId, vec![ids, vec![0; LANES], vec![0; LANES]]);
    // Constants end within a vector.
    inputs.constants = vec![(0..61).map(|word| word * 3 + 1).collect(), (0..55).map(|word| word * 5 + 2).collect()];
    inputs.buffers = vec![(0..=u8::MAX).collect(), (0..64).collect()];
    inputs
}

/// Compiles a shader, checks that the interpreter executes only what is named, and compares the results of both. Returns
/// whether there are any but zeros.
fn check(text: &str, interpreted: &[&str]) -> bool {
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into());
    let shader = tgsi::text::parse(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).shader;
    let lowered = compiler.ir_at(Stage::Registers, &shader).expect("it is lowered");
    let expected = run(&lowered, &inputs(), &mut AnalyticResources::default(), RunLimits::default()).expect("it runs");
    for keep_inactive in [false, true] {
        let program = compile(&lowered, Options { keep_inactive, ..Options::default() }).expect("it is compiled");
        let names = program.interpreted();
        assert!(names.iter().all(|name| interpreted.contains(name)), "{names:?} is interpreted of\n{text}");
        let found = program.run(&inputs(), &mut AnalyticResources::default(), RunLimits::default()).expect("it runs");
        for register in 0..expected.outputs.len() {
            for component in 0..4 {
                let [a, b] = [&expected, &found].map(|run| run.outputs.component(register, component));
                assert_eq!(a, b, "output {register}.{component}, keep {keep_inactive}, of\n{text}");
            }
        }
        assert_eq!((&expected.buffers, &expected.shared), (&found.buffers, &found.shared), "memory, of\n{text}");
    }
    let components = (0..expected.outputs.len() * 4).map(|at| expected.outputs.component(at / 4, at % 4));
    let changed = expected.buffers.iter().zip(inputs().buffers).any(|(after, before)| *after != before);
    changed || components.flatten().any(|&word| word != 0)
}

/// Of nearly all shaders something comes out: some only read what is not there.
fn check_all(shaders: Vec<(String, indirect::Interpreted)>) {
    let with_results = shaders.iter().filter(|(text, interpreted)| check(text, interpreted)).count();
    assert!(with_results * 10 >= shaders.len() * 9, "results of {with_results} of {} shaders", shaders.len());
}

#[test]
fn constants() {
    check_all(indirect::constants());
}

#[test]
fn inputs_of_an_array() {
    check_all(indirect::inputs());
}

#[test]
fn buffers() {
    check_all(indirect::buffers());
}

#[test]
fn shared_memory() {
    check_all(indirect::shared_memory());
}

#[test]
fn arrays() {
    check_all(indirect::arrays());
}
