//! Accesses to textures, images, buffers and counters, beside the interpreter of the IR.

use pretty_assertions::assert_eq;
use std::sync::Arc;
use tgsi_compiler::{Compiler, Driver, Source, Stage};
use tgsi_driver_midgard::container::read_program_json;
use tgsi_driver_midgard::program::{Program, SystemRow};
use tgsi_driver_midgard::{DRIVER, runner};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Resources, RunLimits, SystemValue};

fn compiler() -> Compiler {
    Compiler::for_target(Arc::from(DRIVER.target(&[]).unwrap()))
}

/// The inputs of all tests: four fragments.
fn inputs(constants: [u32; 8]) -> Inputs {
    let lanes = 4;
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 2), ..Inputs::default() };
    for lane in 0..lanes {
        for component in 0..4 {
            let value = 0.25 + lane as f32 * 0.5 + component as f32;
            inputs.inputs.set(0, component, lane, value.to_bits());
            inputs.inputs.set(1, component, lane, (lane * 4 + component) as u32);
        }
    }
    inputs.constants =
        (0..4).map(|buffer| constants.iter().map(|word| word.wrapping_add(16 * buffer)).collect()).collect();
    inputs.buffers = (0..3).map(|buffer| (0..64).map(|byte| byte * 2 + buffer).collect()).collect();
    inputs.counters = vec![vec![7, 8, 9]];
    inputs.framebuffer = LaneRegisters::new(lanes, 1);
    inputs.framebuffer.set(0, 1, 2, 5_f32.to_bits());
    inputs.system_values.insert(SystemValue::SampleId, vec![vec![2; lanes]]);
    inputs
}

/// Compiles and runs a shader, and compares all results with those of the interpreter.
#[track_caller]
fn check(text: &str, constants: [u32; 8]) -> Program {
    let shader = tgsi::text::parse(text.as_bytes()).unwrap().shader;
    let compiler = compiler();
    let ir = compiler.ir_at(Stage::Parsed, Source::from(&shader)).unwrap();
    let code = compiler.compile(&shader).unwrap();
    let inputs = inputs(constants);
    let mut expected_textures = AnalyticResources::default();
    let expected = tgsi_ir::run::run(&ir, &inputs, &mut expected_textures, RunLimits::default()).unwrap();
    let mut textures = AnalyticResources::default();
    let run = runner(compiler.target(), &code).unwrap().unwrap();
    let found = run.run(&inputs, &mut textures, RunLimits::default()).unwrap();
    for register in 0..2 {
        for component in 0..4 {
            let word = |outputs: &LaneRegisters, lane| outputs.get(register, component, lane);
            for lane in (0..4).filter(|&lane| expected.live[lane]) {
                let (expected, found) = (word(&expected.outputs, lane), word(&found.outputs, lane));
                assert_eq!(found, expected, "OUT[{register}] component {component} of lane {lane}");
            }
        }
    }
    assert_eq!(found.live, expected.live);
    assert_eq!(found.buffers, expected.buffers);
    assert_eq!(found.counters, expected.counters);
    assert_eq!(textures.stored_texels(), expected_textures.stored_texels());
    read_program_json(&code.auxiliary_files()[0].text).unwrap()
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let shader = tgsi::text::parse(text.as_bytes()).unwrap().shader;
    let error = compiler().compile(&shader).unwrap_err();
    assert_eq!((error.code().id, error.to_string().as_str()), ("T2503", expected));
}

#[test]
fn outputs_without_a_target() {
    let expected = "Midgard has no output without a render target";
    check_error("FRAG\nDCL IN[0], GENERIC[0], CONSTANT\nDCL OUT[0]\nMOV OUT[0], IN[0]\nEND\n", expected);
}

#[test]
fn image_numbers() {
    let text = "FRAG\nDCL IN[1], GENERIC[1], CONSTANT\nDCL OUT[0], COLOR\n\
        DCL IMAGE[0..2], 2D, PIPE_FORMAT_R32_UINT, WR\nDCL CONST[0][0..1]\nDCL ADDR[0]\n\
        UARL ADDR[0].x, CONST[0][0].xxxx\n\
        LOAD OUT[0], IMAGE[ADDR[0].x], IN[1].xyxx, 2D, PIPE_FORMAT_R32_UINT\n\
        STORE IMAGE[ADDR[0].x+1], IN[1].zwzz, IN[1], 2D, PIPE_FORMAT_R32_UINT\nEND\n";
    for number in [0, 1, u32::MAX] {
        check(text, [number; 8]);
    }
}

#[test]
fn image_atomics() {
    for (op, operands) in
        [("ATOMUADD", "IN[1].zzzz"), ("ATOMXCHG", "IN[1].wwww"), ("ATOMCAS", "IN[1].xxxx, IN[1].wwww")]
    {
        let text = format!(
            "FRAG\nDCL IN[1], GENERIC[1], CONSTANT\nDCL OUT[0], COLOR\nDCL TEMP[0]\n\
            DCL IMAGE[0..2], 2D, PIPE_FORMAT_R32_UINT, WR\nDCL CONST[0][0..1]\nDCL ADDR[0]\n\
            UARL ADDR[0].x, CONST[0][0].xxxx\n\
            {op} TEMP[0].x, IMAGE[ADDR[0].x], IN[1].xyxx, {operands}, 2D, PIPE_FORMAT_R32_UINT\n\
            {op} TEMP[0].y, IMAGE[2], IN[1].xyxx, {operands}, 2D, PIPE_FORMAT_R32_UINT\n\
            MOV OUT[0], TEMP[0].xyxy\nEND\n"
        );
        check(&text, [1; 8]);
    }
}

#[test]
fn samples_and_layers_of_images() {
    for (target, coordinates) in
        [("2D_MSAA", "IN[1].xyzw"), ("2D_ARRAY_MSAA", "IN[1].xyzw"), ("1D_ARRAY", "IN[1].xyxx")]
    {
        let text = format!(
            "FRAG\nDCL IN[1], GENERIC[1], CONSTANT\nDCL OUT[0], COLOR\n\
            DCL IMAGE[0], {target}, PIPE_FORMAT_R32_UINT, WR\n\
            LOAD OUT[0], IMAGE[0], {coordinates}, {target}, PIPE_FORMAT_R32_UINT\n\
            STORE IMAGE[0], {coordinates}, IN[1].wzyx, {target}, PIPE_FORMAT_R32_UINT\nEND\n"
        );
        check(&text, [0; 8]);
    }
}

/// Coordinates beyond 16 bits are beyond each image.
#[test]
fn far_coordinates_do_not_wrap() {
    let text = "FRAG\nDCL IN[1], GENERIC[1], CONSTANT\nDCL IMAGE[0], 2D, PIPE_FORMAT_R32_UINT, WR\nDCL CONST[0][0..1]\n\
        STORE IMAGE[0], CONST[0][0].xyxx, IN[1], 2D, PIPE_FORMAT_R32_UINT\nEND\n";
    let shader = tgsi::text::parse(text.as_bytes()).unwrap().shader;
    let compiler = compiler();
    let code = compiler.compile(&shader).unwrap();
    let run = runner(compiler.target(), &code).unwrap().unwrap();
    let mut textures = AnalyticResources::default();
    run.run(&inputs([0x1_0003, 0xfffe_0001, 0, 0, 0, 0, 0, 0]), &mut textures, RunLimits::default()).unwrap();
    let texels: Vec<_> = textures.stored_texels().into_keys().collect();
    assert_eq!(texels, [(0, [0x7fff, 0xffff_8000, 0], 0)]);
}

#[test]
fn texture_numbers() {
    for (lookup, target) in [
        ("TEX TEMP[0], IN[0], SAMP[ADDR[0].x]", "2D"),
        ("TXL TEMP[0], IN[0], SAMP[ADDR[0].x+1]", "2D"),
        ("TXB TEMP[0], IN[0], SAMP[ADDR[0].x]", "CUBE"),
        ("TXF TEMP[0], IN[1], SAMP[ADDR[0].x]", "2D_ARRAY"),
        ("TXQ TEMP[0], IN[1].yyyy, SAMP[ADDR[0].x]", "3D"),
        ("TXQ TEMP[0], CONST[0][1].xxxx, SAMP[1]", "2D"),
    ] {
        let text = format!(
            "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL IN[1], GENERIC[1], CONSTANT\nDCL OUT[0], COLOR\n\
            DCL SAMP[0..2]\nDCL SVIEW[0..2], {target}, FLOAT\nDCL CONST[0][0..1]\nDCL ADDR[0]\nDCL TEMP[0]\n\
            UARL ADDR[0].x, CONST[0][0].xxxx\n{lookup}, {target}\nMOV OUT[0], TEMP[0]\nEND\n"
        );
        for number in [0, 1] {
            check(&text, [number; 8]);
        }
    }
}

/// The size of a level is a row of system values.
#[test]
fn level_sizes() {
    let text = "FRAG\nDCL OUT[0].xyz, COLOR\nDCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT\nIMM[0] UINT32 {6, 0, 0, 0}\n\
        TXQ OUT[0].xyz, IMM[0].xxxx, SAMP[0], 2D\nEND\n";
    let program = check(text, [0; 8]);
    assert_eq!(program.system_rows, [SystemRow::TextureSize { texture: 0, level: 6 }]);
}

#[test]
fn buffer_numbers() {
    let text = "FRAG\nDCL IN[1], GENERIC[1], CONSTANT\nDCL OUT[0], COLOR\nDCL CONST[0][0..1]\nDCL CONST[1][0..1]\n\
        DCL CONST[2][0..1]\nDCL CONST[3][0..1]\nDCL BUFFER[0..2]\nDCL ADDR[0..1]\nDCL TEMP[0..1]\n\
        UARL ADDR[0].x, CONST[0][0].xxxx\nMOV TEMP[0], CONST[ADDR[0].x+1][1]\n\
        LOAD TEMP[1].x, BUFFER[ADDR[0].x], IN[1].xxxx\nSTORE BUFFER[ADDR[0].x].x, IN[1].yyyy, IN[1]\n\
        RESQ TEMP[1].y, BUFFER[ADDR[0].x]\nATOMUADD TEMP[1].z, BUFFER[ADDR[0].x], IN[1].xxxx, IN[1].wwww\n\
        MOV TEMP[1].w, TEMP[0].xxxx\nMOV OUT[0], TEMP[1]\nEND\n";
    for number in [0, 1] {
        check(text, [number; 8]);
    }
}

/// A run-time row whose offset has more than 32 bits is 0.
#[test]
fn rows_beyond_the_end() {
    let text = "FRAG\nDCL OUT[0], COLOR\nDCL CONST[0][0..1]\nDCL ADDR[0]\nUARL ADDR[0].x, CONST[0][0].xxxx\n\
        MOV OUT[0], CONST[0][ADDR[0].x+1]\nEND\n";
    for row in [0, 1, u32::MAX, 0x1000_0000, 0x0fff_ffff] {
        check(text, [row; 8]);
    }
}

#[test]
fn counters() {
    let text = "FRAG\nDCL IN[1], GENERIC[1], CONSTANT\nDCL OUT[0], COLOR\nDCL HWATOMIC[0][0..2]\nDCL TEMP[0]\n\
        IMM[0] UINT32 {0, 1, 2, 9}\nATOMUADD TEMP[0].x, HWATOMIC[0][0], IMM[0].xxxx, IN[1].wwww\n\
        ATOMCAS TEMP[0].y, HWATOMIC[0][2], IMM[0].xxxx, IMM[0].wwww, IN[1].yyyy\n\
        LOAD TEMP[0].z, HWATOMIC[0][1], IMM[0].xxxx\nMOV OUT[0], TEMP[0].xyzz\nEND\n";
    check(text, [0; 8]);
}

/// Gradients select a level by a size; the level changes w only.
#[test]
fn gradients() {
    let text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0].xyz, COLOR\nDCL SAMP[0]\n\
        DCL SVIEW[0], CUBE, FLOAT\nDCL CONST[0][0..1]\n\
        TXD OUT[0].xyz, IN[0], CONST[0][0], CONST[0][1], SAMP[0], CUBE\nEND\n";
    let program = check(text, [1_f32.to_bits(); 8]);
    assert_eq!(program.system_rows, [SystemRow::TextureSize { texture: 0, level: 0 }]);
}

/// Projectors divide coordinates and references, and not layers.
#[test]
fn projectors() {
    let text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], SHADOW2D, FLOAT\n\
        DCL TEMP[0]\nIMM[0] FLT32 {2.0, 0.0, 0.0, 0.0}\nMOV TEMP[0], IN[0]\nMOV TEMP[0].w, IMM[0].xxxx\n\
        TXP OUT[0], TEMP[0], SAMP[0], SHADOW2D\nEND\n";
    check(text, [0; 8]);
}

#[test]
fn framebuffer() {
    check(
        "FRAG\nDCL OUT[0], COLOR[0]\nDCL TEMP[0]\nFBFETCH TEMP[0], OUT[0]\nADD OUT[0], TEMP[0], TEMP[0]\nEND\n",
        [0; 8],
    );
}

/// Discarded fragments are helpers afterwards, as the difference to the neighbour shows.
#[test]
fn discarded_fragments_are_helpers() {
    let text = "FRAG\nDCL IN[1], GENERIC[1], CONSTANT\nDCL OUT[0], COLOR\nDCL TEMP[0]\n\
        IMM[0] UINT32 {12, 1065353216, 0, 0}\nUSEQ TEMP[0].x, IN[1].xxxx, IMM[0].xxxx\nUIF TEMP[0].xxxx\nDEMOTE\n\
        ENDIF\nREAD_HELPER TEMP[0].x\nAND TEMP[0].x, TEMP[0].xxxx, IMM[0].yyyy\nDDX OUT[0], TEMP[0].xxxx\nEND\n";
    check(text, [0; 8]);
}

/// Features without a form are errors.
#[test]
fn missing_features() {
    let text = "FRAG\nDCL OUT[0], SAMPLEMASK\nIMM[0] UINT32 {1, 0, 0, 0}\nMOV OUT[0].x, IMM[0].xxxx\nEND\n";
    check_error(text, "Midgard has no output of sample masks");
    let text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDDX_FINE OUT[0], IN[0]\nEND\n";
    check_error(text, "Midgard has no fine derivatives");
}
