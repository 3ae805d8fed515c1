//! Small shaders in both interpreters, and the form of the converted code.

mod arithmetic;
mod control_flow;
mod memory;
mod registers;
mod textures;

use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, Resources, RunLimits};
use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::Inst;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_ir::{InstData, Shader as IrShader};

use super::{ToIrOptions, to_ir};
use tgsi::MalformedShader;
use tgsi::Shader;
use tgsi::shader::Instruction;
use tgsi::tables::{File, Opcode, Processor};
use tgsi_run::{Program, run};

fn parse(text: &str) -> Shader {
    tgsi::text::parse(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).shader
}

fn convert(text: &str) -> IrShader {
    let ir = to_ir(&parse(text), &ToIrOptions::default()).unwrap();
    if let Err(errors) = tgsi_ir::validate::validate(&ir) {
        panic!("{errors}\n{}", tgsi_ir::text::print(&ir));
    }
    ir
}

fn insts(ir: &IrShader) -> Vec<Inst> {
    let body = ir.main();
    body.blocks().flat_map(|block| body.insts_vec(block)).collect()
}

fn count_alu(ir: &IrShader, op: AluOp) -> usize {
    insts(ir).into_iter().filter(|&inst| ir.main().alu_op(inst) == Some(op)).count()
}

fn intrinsics(ir: &IrShader, op: IntrinsicOp) -> Vec<Inst> {
    insts(ir).into_iter().filter(|&inst| ir.main().intrinsic(inst) == Some(op)).collect()
}

fn variable<'a>(ir: &'a IrShader, name: &str) -> &'a VariableData {
    ir.globals.iter().map(|&v| &ir.variables[v]).find(|data| data.name == name).unwrap_or_else(|| panic!("no {name}"))
}

/// Inputs of small numbers, of a type determined by the seed: integers, floats.
fn inputs(shader: &Shader, seed: u32) -> Inputs {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let small = state >> 7 & 7;
        if seed.is_multiple_of(2) { small } else { (small as f32 * 0.75 - 2.0).to_bits() }
    };
    let lanes = 4;
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 0), ..Inputs::default() };
    if shader.processor != Processor::Geometry {
        for position in 0..8 * 4 * lanes {
            inputs.inputs.set(position / (4 * lanes), position / lanes % 4, position % lanes, word());
        }
    }
    inputs.vertices = (0..3).map(|_| (0..8).map(|_| std::array::from_fn(|_| word())).collect()).collect();
    for declaration in shader.declarations.iter().filter(|d| d.file == File::SystemValue) {
        if let Some(value) = declaration.semantic.and_then(|s| s.name.system_value()) {
            let rows = usize::from(value.num_components()) * usize::from(value.bit_size().div_ceil(32));
            let boolean = value.bit_size() == 1;
            let mut bit = || if boolean { (word() & 1).wrapping_neg() } else { word() & 7 };
            inputs.system_values.insert(value, (0..rows).map(|_| (0..lanes).map(|_| bit()).collect()).collect());
        }
    }
    inputs.constants = (0..3).map(|_| (0..64).map(|_| word()).collect()).collect();
    inputs.buffers =
        (0..2).map(|_| (0..256).map(|position| if position % 4 == 0 { word() as u8 } else { 0 }).collect()).collect();
    inputs.counters = (0..2).map(|_| (0..8).map(|_| word()).collect()).collect();
    inputs.shared_size = 256;
    inputs.framebuffer = LaneRegisters::new(lanes, 0);
    inputs.framebuffer.set(0, 1, 2, word());
    inputs
}

/// The results of a run, without the number of steps.
fn left(mut outputs: Outputs, resources: &mut AnalyticResources, registers: usize) -> String {
    outputs.steps = 0;
    let live: Vec<Vec<u32>> = (0..registers * 4)
        .map(|position| {
            (0..outputs.outputs.lanes())
                .filter(|&lane| outputs.live[lane])
                .map(|lane| outputs.outputs.get(position / 4, position % 4, lane))
                .collect()
        })
        .collect();
    outputs.outputs = LaneRegisters::new(0, 0);
    format!("{live:08x?}\n{outputs:08x?}\n{:?}", resources.stored_texels())
}

/// Runs a shader in both interpreters with several inputs.
fn agree(text: &str) -> IrShader {
    let shader = parse(text);
    let ir = convert(text);
    let program = Program::new(&shader).unwrap();
    let outputs = shader.declarations.iter().filter(|d| d.file == File::Output);
    let registers = outputs.map(|d| usize::from(d.last) + 1).max().unwrap_or(0);
    for seed in 1..9 {
        let inputs = inputs(&shader, seed);
        let (mut a, mut b) = (AnalyticResources::default(), AnalyticResources::default());
        let limits = RunLimits::of_steps(100_000);
        let expected = run(&program, &inputs, &mut a, limits).unwrap();
        let found = tgsi_ir::run::run(&ir, &inputs, &mut b, limits)
            .unwrap_or_else(|error| panic!("{error}\n{text}\n{}", tgsi_ir::text::print(&ir)));
        let expected = left(expected, &mut a, registers);
        let found = left(found, &mut b, registers);
        assert!(expected == found, "seed {seed}\n{text}\n{}\n{expected}\n{found}", tgsi_ir::text::print(&ir));
    }
    ir
}

/// A shader with the given instructions: inputs 0 to 3, outputs 0 to 3, temporaries 0 to 7, two address registers.
fn with_registers(processor: &str, declarations: &str, code: &str) -> String {
    let interpolation = if processor == "FRAG" { ", GENERIC[0], LINEAR" } else { "" };
    let outputs = match processor {
        "FRAG" => "DCL OUT[0..3], COLOR",
        "COMP" => "",
        _ => "DCL OUT[0..3], GENERIC[0]",
    };
    let inputs = if processor == "COMP" { String::new() } else { format!("DCL IN[0..3]{interpolation}") };
    format!(
        "{processor}\n{inputs}\n{outputs}\nDCL TEMP[0..7]\nDCL ADDR[0..1]\nDCL CONST[0][0..7]\nDCL CONST[1][0..7]\n{declarations}\n\
         IMM[0] UINT32 {{ 0, 1, 2, 3 }}\nIMM[1] FLT32 {{ 0.0, 1.0, -0.5, 2.0 }}\nIMM[2] UINT32 {{ 4, 5, 6, 7 }}\n{code}\nEND\n"
    )
}

fn agree_in(processor: &str, declarations: &str, code: &str) -> IrShader {
    agree(&with_registers(processor, declarations, code))
}

#[test]
fn properties_are_recorded() {
    let ir = convert(
        "TESS_EVAL\nPROPERTY TES_PRIM_MODE 7\nPROPERTY TES_SPACING 1\nPROPERTY TES_VERTEX_ORDER_CW 0\nPROPERTY TES_POINT_MODE 1\nDCL IN[][0], GENERIC[2]\nDCL OUT[0], POSITION\nMOV OUT[0], IN[1][0]\nEND\n",
    );
    let tess = &ir.info.tess;
    assert_eq!((tess.primitive_mode, tess.spacing, tess.ccw, tess.point_mode), (2, 3, true, true));
    assert_eq!((ir.info.inputs_read, ir.info.outputs_written), (1 << 34, 1));
    let ir = convert(
        "COMP\nPROPERTY CS_FIXED_BLOCK_WIDTH 8\nPROPERTY CS_FIXED_BLOCK_HEIGHT 4\nPROPERTY CS_FIXED_BLOCK_DEPTH 1\nDCL BUFFER[0..2]\nDCL CONST[2][0..3]\nEND\n",
    );
    assert_eq!((ir.info.workgroup_size, ir.info.workgroup_size_variable), ([8, 4, 1], false));
    assert_eq!((ir.info.num_ssbos, ir.info.num_ubos, ir.num_uniforms), (3, 2, 0));
    let ir = convert(
        "FRAG\nPROPERTY FS_COLOR0_WRITES_ALL_CBUFS 1\nPROPERTY FS_COORD_ORIGIN LOWER_LEFT\nDCL OUT[0], COLOR\nEND\n",
    );
    assert_eq!(variable(&ir, "out_0").location, 2);
    assert!(!ir.info.fs.origin_upper_left);
}

#[test]
fn declarations_come_first_and_in_order() {
    let ir = agree_in("VERT", "", "MOV TEMP[5], IN[0]\nMOV TEMP[1], IN[1]\nADD OUT[0], TEMP[5], TEMP[1]");
    let body = ir.main();
    let first: Vec<_> = body.insts_vec(body.start_block()).into_iter().take(3).map(|inst| *body.inst(inst)).collect();
    assert!(first.iter().all(|data| matches!(data, InstData::Intrinsic { op: IntrinsicOp::DeclReg, .. })));
}
