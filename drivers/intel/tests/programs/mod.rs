//! Compiled programs: their facts, their code, their files.

mod contract;
mod errors;
mod files;
mod fragment;
mod runs;

use tgsi_compiler::{Code, Compiler, Driver};
use tgsi_driver_intel::DRIVER;
use tgsi_driver_intel::container::read_program_json;
use tgsi_driver_intel::isa::{Instruction, decode_program};
use tgsi_driver_intel::program::{GeometryProgram, Kernel, Program, VertexProgram};

/// Compiles a shader with options.
pub fn code(text: &str, options: &[&str]) -> Code {
    let shader = tgsi::text::parse(text.as_bytes()).expect("valid text").shader;
    let compiler = Compiler::for_target(DRIVER.target(options).expect("known options").into());
    compiler.compile(shader).expect("a shader with a form")
}

/// The compiled program of a shader.
pub fn program(text: &str, options: &[&str]) -> Program {
    let code = code(text, options);
    read_program_json(&code.auxiliary_files()[0].text).expect("a valid program")
}

pub fn vertex(text: &str, options: &[&str]) -> VertexProgram {
    match program(text, options) {
        Program::Vertex(program) => program,
        other => panic!("{other:?} is not a vertex program"),
    }
}

pub fn geometry(text: &str, options: &[&str]) -> GeometryProgram {
    match program(text, options) {
        Program::Geometry(program) => program,
        other => panic!("{other:?} is not a geometry program"),
    }
}

/// The instructions of a program, which break no rule.
pub fn instructions(kernel: &Kernel) -> Vec<Instruction> {
    let instructions = decode_program(&kernel.words, kernel.chip).expect("valid words");
    let broken = tgsi_driver_intel::validate::validate_program(&instructions, kernel.chip);
    assert!(broken.is_empty(), "{broken:?}");
    instructions
}

/// A vertex shader with all kinds of operands.
pub const VERTEX: &str = "VERT
DCL IN[0]
DCL IN[1]
DCL OUT[0], POSITION
DCL OUT[1], GENERIC[3]
DCL OUT[2], PSIZE
DCL OUT[3], COLOR
DCL SV[0], INSTANCEID
DCL CONST[0][0..9]
DCL CONST[1][0..3]
DCL SAMP[2]
DCL SVIEW[2], 2D, FLOAT
DCL BUFFER[0]
DCL TEMP[0..2]
DCL TEMP[3..6], ARRAY(1)
DCL ADDR[0]
IMM[0] FLT32 {1.0, 2.0, 0.5, 0.25}
UARL ADDR[0].x, IN[1].xxxx
MOV TEMP[ADDR[0].x+3](1).xy, IN[0]
MAD TEMP[0], IN[0], CONST[0][7], CONST[0][4]
ADD TEMP[0], TEMP[0], CONST[1][ADDR[0].x]
U2F TEMP[1].x, SV[0].xxxx
MUL TEMP[0], TEMP[0], TEMP[1].xxxx
TXL TEMP[2], TEMP[0], SAMP[2], 2D
STORE BUFFER[0].xw, IN[1].xxxx, TEMP[2]
ADD TEMP[2], TEMP[2], TEMP[ADDR[0].x+4](1)
MOV OUT[0], TEMP[0]
MOV OUT[1].xy, TEMP[2]
MOV OUT[2].x, TEMP[1].xxxx
MUL OUT[3], TEMP[2], IMM[0]
END
";

/// A geometry shader with two primitives.
pub const GEOMETRY: &str = "GEOM
PROPERTY GS_INPUT_PRIMITIVE TRIANGLES
PROPERTY GS_OUTPUT_PRIMITIVE TRIANGLE_STRIP
PROPERTY GS_MAX_OUTPUT_VERTICES 40
DCL IN[][0], POSITION
DCL IN[][1], GENERIC[0]
DCL OUT[0], POSITION
DCL OUT[1], GENERIC[0]
DCL SV[0], PRIMID
DCL TEMP[0]
IMM[0] UINT32 {0, 0, 0, 0}
U2F TEMP[0], SV[0].xxxx
MOV OUT[0], IN[0][0]
ADD OUT[1], IN[1][1], TEMP[0]
EMIT IMM[0].xxxx
MOV OUT[0], IN[2][0]
MOV OUT[1], IN[2][1]
EMIT IMM[0].xxxx
ENDPRIM IMM[0].xxxx
MOV OUT[0], IN[1][0]
MOV OUT[1], IN[0][1]
EMIT IMM[0].xxxx
END
";
