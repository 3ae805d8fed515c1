//! Loads by run-time indices in machine code, against the interpreter: constants, buffers, shared memory and arrays, with
//! indices that are the same in all lanes, differ, and lie at or behind the end. All of it is machine code.

#![cfg(feature = "machine-code")]

use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::{Options, compile};
use tgsi_ir::run::{AnalyticResources, Inputs, LaneRegisters, RunLimits, run};
use tgsi_ir::system_value::SystemValue;

const LANES: usize = 72;

/// `IN[0].x` is nearly always an index inside, `.y` near the end of what there is, `.z` anything, `.w` the same in all
/// lanes.
fn inputs() -> Inputs {
    let mut inputs =
        Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, 1), shared_size: 100, ..Inputs::default() };
    for lane in 0..LANES {
        let number = lane as u32;
        let words = [number % 7, 12 + number % 5, number.wrapping_mul(0x9e37_79b9) >> (number % 32), 3];
        for (component, word) in words.into_iter().enumerate() {
            inputs.inputs.set(0, component, lane, word);
        }
    }
    let ids = (0..LANES as u32).collect::<Vec<u32>>();
    inputs.system_values.insert(SystemValue::LocalInvocationId, vec![ids, vec![0; LANES], vec![0; LANES]]);
    // Constants end within a vector.
    inputs.constants = vec![(0..61).map(|word| word * 3 + 1).collect(), (0..55).map(|word| word * 5 + 2).collect()];
    inputs.buffers = vec![(0..=u8::MAX).collect(), (0..64).collect()];
    inputs
}

/// Compiles a shader, checks that the interpreter executes only what is named, and compares the results of both.
fn check(text: &str, interpreted: &[&str]) {
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
    let written = (0..expected.outputs.len()).flat_map(|register| expected.outputs.component(register, 0));
    let bytes = expected.buffers.iter().zip(inputs().buffers).any(|(after, before)| *after != before);
    assert!(written.copied().any(|word| word != 0) || bytes, "nothing comes out of\n{text}");
}

fn vertex(declarations: &str, body: &str) -> String {
    format!("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\n{declarations}\n{body}\nEND\n")
}

#[test]
fn constants() {
    for component in ["xxxx", "yyyy", "zzzz", "wwww"] {
        for (file, buffers) in
            [("CONST[0]", "DCL CONST[0][0..15]"), ("CONST[1]", "DCL CONST[0][0]\nDCL CONST[1][0..15]")]
        {
            let address = format!("UARL ADDR[0].x, IN[0].{component}\n");
            for (mask, swizzle) in [("xyzw", "xyzw"), ("xy", "zwzw"), ("xyz", "yzwx"), ("x", "wwww")] {
                check(
                    &vertex(
                        &format!("{buffers}\nDCL ADDR[0]"),
                        &format!(
                            "{address}MOV OUT[0], IN[0]\nMOV OUT[1], CONST[0][0]\n\
                             MOV OUT[1].{mask}, {file}[ADDR[0].x+1].{swizzle}"
                        ),
                    ),
                    &[],
                );
            }
            check(
                &vertex(
                    &format!("{buffers}\nDCL ADDR[0]\nDCL TEMP[0]"),
                    &format!("{address}DADD TEMP[0], {file}[ADDR[0].x], {file}[ADDR[0].x+1]\nMOV OUT[0], TEMP[0]"),
                ),
                &[],
            );
        }
    }
}

#[test]
fn buffers() {
    for component in ["xxxx", "yyyy", "zzzz", "wwww"] {
        for mask in ["x", "xy", "xyz", "xyzw"] {
            let body = format!(
                "USHR TEMP[0].x, IN[0].{component}, IMM[0].xxxx\nSHL TEMP[0].x, TEMP[0].xxxx, IMM[0].yyyy\n\
                 MOV TEMP[1], IMM[0]\nLOAD TEMP[1].{mask}, BUFFER[1], TEMP[0].xxxx\nMOV OUT[1], TEMP[1]\n\
                 LOAD TEMP[1].{mask}, BUFFER[0], IN[0].{component}\nMOV OUT[0], TEMP[1]"
            );
            check(&vertex("DCL BUFFER[0]\nDCL BUFFER[1]\nDCL TEMP[0..1]\nIMM[0] UINT32 {0, 2, 7, 9}", &body), &[]);
        }
    }
}

#[test]
fn shared_memory() {
    let text = "COMP\nPROPERTY CS_FIXED_BLOCK_WIDTH 72\nPROPERTY CS_FIXED_BLOCK_HEIGHT 1\nPROPERTY CS_FIXED_BLOCK_DEPTH 1\n\
        DCL SV[0], THREAD_ID\nDCL MEMORY[0], SHARED\nDCL BUFFER[0]\nDCL TEMP[0..2]\nIMM[0] UINT32 {2, 5, 92, 0}\n\
        SHL TEMP[0].x, SV[0].xxxx, IMM[0].xxxx\nUMUL TEMP[1].x, SV[0].xxxx, IMM[0].yyyy\n\
        STORE MEMORY[0].x, TEMP[0].xxxx, TEMP[1].xxxx\nBARRIER\n\
        LOAD TEMP[1], MEMORY[0], TEMP[0].xxxx\nUADD TEMP[1], TEMP[1], TEMP[1].wzyx\nLOAD TEMP[2].xy, MEMORY[0], IMM[0].zzzz\n\
        UADD TEMP[1].xy, TEMP[1], TEMP[2]\nSTORE BUFFER[0].xyzw, TEMP[0].xxxx, TEMP[1]\nEND\n";
    check(text, &["load_local_invocation_id", "store_shared", "barrier", "store_ssbo"]);
}

#[test]
fn arrays() {
    let declarations = "DCL TEMP[0..6], ARRAY(1)\nDCL TEMP[7..9]\nDCL ADDR[0..1]\nIMM[0] UINT32 {0, 1, 6, 4}";
    let fill: String =
        (0..7).map(|number| format!("UADD TEMP[{number}], IN[0], IMM[0].{}\n", ["xyzw", "wzyx"][number % 2])).collect();
    for component in ["xxxx", "yyyy", "zzzz", "wwww"] {
        let body = format!(
            "{fill}UARL ADDR[0].x, IN[0].{component}\nUARL ADDR[1].x, IN[0].xxxx\n\
             MOV TEMP[ADDR[0].x](1).xz, IN[0].zzzz\nMOV TEMP[2], TEMP[ADDR[1].x](1)\n\
             MOV OUT[0], TEMP[ADDR[0].x](1)\nUADD OUT[1], TEMP[ADDR[1].x](1), TEMP[2]"
        );
        check(&vertex(declarations, &body), &[]);
        // Lanes take sides and leave the loop at different times.
        let body = format!(
            "{fill}MOV TEMP[7], IMM[0].xxxx\nBGNLOOP\nUSGE TEMP[8].x, TEMP[7].xxxx, IN[0].xxxx\nUIF TEMP[8].xxxx\nBRK\nENDIF\n\
             UADD TEMP[7].x, TEMP[7].xxxx, IMM[0].yyyy\nUARL ADDR[0].x, TEMP[7].xxxx\nUARL ADDR[1].x, IN[0].{component}\n\
             AND TEMP[8].x, IN[0].{component}, IMM[0].yyyy\nUIF TEMP[8].xxxx\nUADD TEMP[ADDR[0].x](1).yw, TEMP[ADDR[1].x](1), TEMP[7].xxxx\n\
             ELSE\nUADD TEMP[ADDR[1].x](1).x, TEMP[ADDR[0].x](1), TEMP[7].xxxx\nENDIF\nENDLOOP\nUARL ADDR[0].x, IN[0].xxxx\n\
             MOV OUT[0], TEMP[ADDR[0].x](1)\nMOV OUT[1], TEMP[ADDR[1].x](1)"
        );
        check(&vertex(declarations, &body), &[]);
    }
}
