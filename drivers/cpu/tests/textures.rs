//! Texture instructions in machine code: the host gets the requests of the interpreter, loops and branches with them
//! are compiled as a whole, and panics of the host are passed on.

#![cfg(feature = "machine-code")]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::{Options, Program, compile};
use tgsi_environment::SamplerDim;
use tgsi_environment::{
    AnalyticResources, ImageTexel, Inputs, LaneRegisters, Outputs, Resources, RunLimits, TextureRequest, TextureSize,
    Vec4,
};

/// Records the requests; with `panics` set, the second one panics.
#[derive(Default)]
struct Recorder {
    requests: Vec<TextureRequest>,
    panics: bool,
    rest: AnalyticResources,
}

impl Resources for Recorder {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        self.requests.push(request.clone());
        assert!(!self.panics || self.requests.len() < 2, "no texture");
        self.rest.texture(request)
    }
    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.rest.texture_size(texture, level, dim, is_array)
    }
    fn image_load(&mut self, texel: ImageTexel) -> Vec4 {
        self.rest.image_load(texel)
    }
    fn image_store(&mut self, texel: ImageTexel, value: Vec4) {
        self.rest.image_store(texel, value);
    }
    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.rest.image_size(image, dim, is_array)
    }
    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4> {
        self.rest.stored_texels()
    }
}

/// Compiles a program without and with machine code; inactive lanes keep their words, because requests contain them.
fn programs(text: &str) -> [Program; 2] {
    let shader = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into());
    let lowered = compiler.ir_at(Stage::Registers, &shader).expect("it is lowered");
    [false, true].map(|machine_code| {
        compile(&lowered, Options { machine_code, keep_inactive: true, ..Options::default() }).expect("it is compiled")
    })
}

/// Returns lanes with their numbers as the first component.
fn lanes(count: usize) -> Inputs {
    let mut inputs = Inputs { lanes: count, inputs: LaneRegisters::new(count, 1), ..Inputs::default() };
    for component in 0..4 {
        for (lane, word) in inputs.inputs.component_mut(0, component).iter_mut().enumerate() {
            *word = (lane as f32 + component as f32 / 4.0).to_bits();
        }
    }
    inputs
}

fn run(program: &Program, inputs: &Inputs) -> (Outputs, Vec<String>) {
    let mut recorder = Recorder::default();
    let outputs = program.run(inputs, &mut recorder, RunLimits::default()).expect("it runs");
    // Code performs the lookups quad by quad.
    let mut requests: Vec<String> = recorder.requests.iter().map(|request| format!("{request:?}")).collect();
    requests.sort_unstable();
    (outputs, requests)
}

/// Compares both programs; returns the one with machine code, and the number of requests.
fn compared(text: &str, count: usize) -> (Program, usize) {
    let [interpreted, code] = programs(text);
    let inputs = lanes(count);
    let (expected, requests) = run(&interpreted, &inputs);
    let (found, found_requests) = run(&code, &inputs);
    assert_eq!(found_requests, requests);
    assert_eq!((found.outputs, found.live), (expected.outputs, expected.live));
    (code, requests.len())
}

const HEAD: &str = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SAMP[1]\n\
    DCL SVIEW[0], 2D, FLOAT\nDCL SVIEW[1], 2D, FLOAT\nDCL TEMP[0..3]\nIMM[0] FLT32 {1, 2, 3, 0}\n\
    IMM[1] FLT32 {9, 8.5, 20, 0.5}\n";

#[test]
fn a_loop_with_a_texture_is_one_function() {
    // Each lane leaves after as many iterations as its coordinate, at most three.
    let body = "MOV TEMP[0], IMM[0].wwww\nMOV TEMP[1], IMM[0].wwww\nBGNLOOP\nSGE TEMP[2].x, TEMP[1].xxxx, IN[0].xxxx\n\
        IF TEMP[2].xxxx\nBRK\nENDIF\nSGE TEMP[2].x, TEMP[1].xxxx, IMM[0].zzzz\nIF TEMP[2].xxxx\nBRK\nENDIF\n\
        MOV TEMP[3], IN[0]\nMOV TEMP[3].w, TEMP[1].xxxx\nTXL TEMP[3], TEMP[3], SAMP[1], 2D\nADD TEMP[0], TEMP[0], TEMP[3]\n\
        ADD TEMP[1].x, TEMP[1].xxxx, IMM[0].xxxx\nENDLOOP\nMOV OUT[0], TEMP[0]\nEND\n";
    let (program, requests) = compared(&format!("{HEAD}{body}"), 12);
    let report = program.report();
    assert_eq!((report.functions, report.refused.as_deref()), (1, None), "{report:?}");
    assert_eq!(program.interpreted(), Vec::<&str>::new());
    // Every quad has lanes that stay to the end.
    assert_eq!(requests, 9);
}

/// Quads without active lanes in a branch perform no lookups there; missing lanes are zero.
#[test]
fn branches_and_missing_lanes_are_as_interpreted() {
    let body = "SGE TEMP[0].x, IN[0].xxxx, IMM[1].xxxx\nIF TEMP[0].xxxx\nTXL TEMP[1], IN[0], SAMP[0], 2D\nELSE\n\
        MOV TEMP[1], IN[0]\nENDIF\nTEX TEMP[2], IN[0].yxzw, SAMP[1], 2D\nADD OUT[0], TEMP[1], TEMP[2]\nEND\n";
    let (program, requests) = compared(&format!("{HEAD}{body}"), 14);
    assert_eq!(program.report().functions, 1, "{:?}", program.report());
    assert_eq!(requests, 4 + 2);
}

#[test]
fn queries_and_kills_are_code_too() {
    let body = "SLT TEMP[0].x, IN[0].xxxx, IMM[1].yyyy\nIF TEMP[0].xxxx\nADD TEMP[1].x, IN[0].xxxx, -IMM[0].zzzz\n\
        KILL_IF TEMP[1].xxxx\nENDIF\nF2U TEMP[1], IMM[0]\nTXQ TEMP[1], TEMP[1].xxxx, SAMP[0], 2D\nU2F OUT[0], TEMP[1]\nEND\n";
    let (program, _) = compared(&format!("{HEAD}{body}"), 13);
    assert_eq!(program.report().functions, 1, "{:?}", program.report());
    let (outputs, _) = run(&program, &lanes(13));
    let expected: Vec<bool> = (0..13).map(|lane| lane >= 3).collect();
    assert_eq!(outputs.live, expected);
    assert_eq!(f32::from_bits(outputs.outputs.get(0, 0, 5)), 32.0);
}

/// A panic of the resources is resumed after the code, and no more lookups are performed.
#[test]
fn panics_of_the_host_are_handed_on() {
    let body = "TEX TEMP[0], IN[0], SAMP[0], 2D\nTEX TEMP[1], IN[0], SAMP[1], 2D\nTEX TEMP[2], TEMP[0], SAMP[1], 2D\n\
        ADD TEMP[0], TEMP[0], TEMP[1]\nADD OUT[0], TEMP[0], TEMP[2]\nEND\n";
    let [_, program] = programs(&format!("{HEAD}{body}"));
    let mut recorder = Recorder { panics: true, ..Recorder::default() };
    let inputs = lanes(8);
    let run = catch_unwind(AssertUnwindSafe(|| program.run(&inputs, &mut recorder, RunLimits::default()).map(drop)));
    let message = run.expect_err("a panic");
    assert_eq!(message.downcast_ref::<&str>(), Some(&"no texture"));
    assert_eq!(recorder.requests.len(), 2);
}
