//! Compares loads with dynamic indices in machine code with the interpreter: constants, buffers, shared memory and
//! arrays, with indices that are uniform, divergent, and at or beyond the end. All of it is machine code.

#![cfg(feature = "machine-code")]

use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::{Options, compile};
use tgsi_environment::SystemValue;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_ir::run::run;

const LANES: usize = 72;

/// `IN[0].x` is usually an index in bounds, `.y` near the end, `.z` arbitrary, `.w` uniform.
fn inputs() -> Inputs {
    let mut inputs =
        Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, 5), shared_size: 100, ..Inputs::default() };
    for lane in 0..LANES {
        let number = lane as u32;
        let words = [number % 7, 12 + number % 5, number.wrapping_mul(0x9e37_79b9) >> (number % 32), 3];
        for (component, word) in words.into_iter().enumerate() {
            inputs.inputs.set(0, component, lane, word);
            // The last register of the array does not exist.
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

/// Compiles a shader, checks that the interpreter executes only the listed operations, and compares the results of
/// both. Returns whether any of them is not zero.
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

/// Nearly all shaders have results other than zero: some only read out of bounds.
fn check_all(shaders: Vec<(String, crate::indirect::Interpreted)>) {
    let with_results = shaders.iter().filter(|(text, interpreted)| check(text, interpreted)).count();
    assert!(with_results * 10 >= shaders.len() * 9, "results of {with_results} of {} shaders", shaders.len());
}

#[test]
fn constants() {
    check_all(crate::indirect::constants());
}

#[test]
fn inputs_of_an_array() {
    check_all(crate::indirect::inputs());
}

#[test]
fn buffers() {
    check_all(crate::indirect::buffers());
}

#[test]
fn shared_memory() {
    check_all(crate::indirect::shared_memory());
}

#[test]
fn arrays() {
    check_all(crate::indirect::arrays());
}

/// Operations that depend only on constants are executed once for all quads, even in `If`s and loops: calls, loads by
/// constant indices, 64-bit operations.
#[test]
fn what_all_lanes_compute_alike() {
    let text = "FRAG\nDCL IN[0], GENERIC[0], CONSTANT\nDCL OUT[0], COLOR\nDCL OUT[1], COLOR[1]\nDCL CONST[0][0..15]\n\
                DCL TEMP[0..5]\nDCL ADDR[0]\nIMM[0] UINT32 {0, 1, 3, 5}\nIMM[1] FLT32 {1.5, 2.5, -3.5, 0.75}\n\
                U2F TEMP[0], CONST[0][1]\nEX2 TEMP[1].x, IMM[1].wwww\nBREV TEMP[1].y, CONST[0][2].yyyy\n\
                AND TEMP[2].x, CONST[0][0].xxxx, IMM[0].zzzz\nUARL ADDR[0].x, TEMP[2].xxxx\n\
                F2D TEMP[3].xy, IMM[1].xxxx\nF2D TEMP[3].zw, TEMP[0].yyyy\n\
                DFMA TEMP[4].xy, TEMP[3].xyxy, TEMP[3].zwzw, TEMP[3].xyxy\nMOV TEMP[5], IMM[0].xxxx\nBGNLOOP\n\
                USGE TEMP[2].y, TEMP[5].xxxx, IN[0].xxxx\nUIF TEMP[2].yyyy\nBRK\nENDIF\n\
                UADD TEMP[1].z, CONST[ADDR[0].x+2].zzzz, IMM[0].wwww\nPOW TEMP[1].w, TEMP[0].xxxx, IMM[1].yyyy\n\
                UADD TEMP[5].x, TEMP[5].xxxx, IMM[0].yyyy\nENDLOOP\nUIF IN[0].xxxx\nFMA TEMP[0], TEMP[0], IMM[1], IMM[1].wzyx\n\
                ENDIF\nUADD OUT[0], TEMP[1], TEMP[0]\nMOV OUT[1].xy, TEMP[4]\nMOV OUT[1].zw, TEMP[5].xxxx\nEND\n";
    assert!(check(text, &[]));
}

/// A lane that has left a loop keeps the value that it read from a buffer which other lanes continue to change.
#[test]
fn what_was_read_before_a_loop_was_left() {
    let text = "COMP\nPROPERTY CS_FIXED_BLOCK_WIDTH 72\nPROPERTY CS_FIXED_BLOCK_HEIGHT 1\nPROPERTY CS_FIXED_BLOCK_DEPTH 1\n\
                DCL SV[0], THREAD_ID\nDCL BUFFER[0]\nDCL BUFFER[1]\nDCL TEMP[0..2]\nIMM[0] UINT32 {0, 1, 3, 4}\n\
                MOV TEMP[0], IMM[0].xxxx\nBGNLOOP\nATOMUADD TEMP[1].x, BUFFER[0], IMM[0].wwww, IMM[0].yyyy\n\
                LOAD TEMP[1].x, BUFFER[0], IMM[0].wwww\nUADD TEMP[1].y, TEMP[1].xxxx, TEMP[1].xxxx\n\
                UADD TEMP[0].x, TEMP[0].xxxx, IMM[0].yyyy\nAND TEMP[2].x, SV[0].xxxx, IMM[0].zzzz\n\
                USLT TEMP[2].x, TEMP[2].xxxx, TEMP[0].xxxx\nUIF TEMP[2].xxxx\nBRK\nENDIF\nENDLOOP\n\
                AND TEMP[2].x, SV[0].xxxx, IMM[0].zzzz\nUMUL TEMP[2].x, TEMP[2].xxxx, IMM[0].wwww\n\
                STORE BUFFER[1].x, TEMP[2].xxxx, TEMP[1].yyyy\nEND\n";
    assert!(check(text, &["copies", "imul", "load_local_invocation_id", "ssbo_atomic", "store_ssbo"]));
}
