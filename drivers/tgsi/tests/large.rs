//! Shaders with more values than operands can number: the translation computes the same as the source.

use std::fmt::Write;

use crate::compile::compile;
use tgsi::Shader;
use tgsi::check::check_for;
use tgsi::limits::Limits;
use tgsi::shader::Instruction;
use tgsi::tables::Opcode;
use tgsi::text::{SkippedParts, parse};
use tgsi_driver_tgsi::TgsiOptions;
use tgsi_environment::Random;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_ir::passes::pipeline::OptLevel;

const LANES: usize = 8;

/// Generates `count` lines of integer sums and products, all different, some of them under conditions: every result is
/// used, and each bit of it.
fn shader(count: usize) -> Shader {
    let mut text = String::from("FRAG\nDCL IN[0..1], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0..7]\n");
    text.push_str("IMM[0] UINT32 {3, 2654435761, 40503, 1}\n");
    for temp in 0..7 {
        let _ = writeln!(text, "MOV TEMP[{temp}], IN[{}].{}", temp % 2, ["xyzw", "yzwx", "zwxy"][temp % 3]);
    }
    for number in 0..count {
        let (dst, a, b) = (number % 7, (number + 3) % 7, (number + 5) % 7);
        let channel = ["x", "y", "z", "w"][number / 7 % 4];
        let other = ["wzyx", "yxwz"][number % 2];
        let imm = ["xxxx", "yyyy", "zzzz", "wwww"][number % 4];
        let is_conditional = number % 50 == 17;
        if is_conditional {
            let _ = writeln!(text, "AND TEMP[7].x, TEMP[{a}].{other}, IMM[0].wwww\nUIF TEMP[7].xxxx");
        }
        let _ = writeln!(text, "UMAD TEMP[{dst}].{channel}, TEMP[{a}].{other}, IMM[0].{imm}, TEMP[{b}]");
        if is_conditional {
            text.push_str("ENDIF\n");
        }
        if number % 997 == 5 {
            let _ = writeln!(text, "MOV OUT[0].{channel}, TEMP[{dst}].{other}");
        }
    }
    text.push_str("UADD OUT[0].xw, TEMP[0], TEMP[3]\nEND\n");
    parse(text.as_bytes()).expect("valid text").shader
}

fn run(shader: &Shader) -> Vec<u32> {
    let mut random = Random::new(7);
    let mut inputs = LaneRegisters::new(LANES, 2);
    for (register, component, lane) in (0..8 * LANES).map(|i| (i % 2, i / 2 % 4, i / 8)) {
        inputs.set(register, component, lane, random.bits() as u32);
    }
    let inputs = Inputs { lanes: LANES, inputs, ..Inputs::default() };
    let program = tgsi_run::Program::new(shader).expect("a shader that runs");
    let outputs = tgsi_run::run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default());
    let outputs = outputs.expect("a run that ends").outputs;
    (0..4 * LANES).map(|i| outputs.get(0, i % 4, i / 4)).collect()
}

fn translated(shader: &Shader, options: &TgsiOptions) -> Shader {
    let result = compile(shader, options, OptLevel::Full).expect("a shader that translates");
    let keep = options.keep_subroutines(OptLevel::Full);
    let findings = check_for(&result, &SkippedParts::default(), &Limits::default(), keep).diagnostics;
    assert_eq!(findings.iter().find(|d| d.is_error()), None);
    result
}

#[test]
fn more_values_than_operands_have_numbers() {
    let source = shader(40_000);
    let whole = translated(&source, &TgsiOptions::default());
    assert_eq!(run(&whole), run(&source));
    assert!(whole.instructions.len() > 0x8000, "{} instructions are left", whole.instructions.len());
}

/// The lines of [`shader`] in subroutines of the given length, each called `calls` times.
fn in_subroutines(count: usize, length: usize, calls: usize) -> Shader {
    let mut source = shader(count);
    let end = source.instructions.pop().expect("an END");
    let is_line = |i: &Instruction| i.opcode != Opcode::Mov;
    let first = source.instructions.iter().position(is_line).expect("lines");
    let mut lines = source.instructions.split_off(first);
    let result = lines.pop().expect("a result");
    let mut subroutines = vec![Vec::new()];
    let mut depth = 0;
    for line in lines {
        let last = subroutines.last_mut().expect("one");
        depth += usize::from(line.opcode == Opcode::Uif);
        depth -= usize::from(line.opcode == Opcode::Endif);
        last.push(line);
        if depth == 0 && last.len() >= length {
            subroutines.push(Vec::new());
        }
    }
    let mut begin = source.instructions.len() + calls * subroutines.len() + 2;
    for subroutine in &subroutines {
        let mut call = Instruction::new(Opcode::Cal);
        call.label = Some(begin as u32);
        source.instructions.extend(std::iter::repeat_n(call, calls));
        begin += subroutine.len() + 2;
    }
    source.instructions.extend([result, end]);
    for subroutine in subroutines {
        source.instructions.push(Instruction::new(Opcode::Bgnsub));
        source.instructions.extend(subroutine);
        source.instructions.push(Instruction::new(Opcode::Endsub));
    }
    source
}

#[test]
fn subroutines_that_are_called_once_are_as_large_as_shaders() {
    let source = in_subroutines(100_000, 1000, 1);
    assert!(source.instructions.len() > 100_000);
    let options = TgsiOptions::default().with(|o| o.subroutines = false);
    let result = translated(&source, &options);
    assert_eq!(run(&result), run(&source));
    assert!(!result.instructions.iter().any(|i| i.opcode == Opcode::Cal));
}

#[test]
fn subroutines_that_are_called_more_than_once_stay() {
    let source = in_subroutines(100_000, 1000, 3);
    let result = translated(&source, &TgsiOptions::default());
    assert_eq!(run(&result), run(&source));
    let count = |shader: &Shader, opcode| shader.instructions.iter().filter(|i| i.opcode == opcode).count();
    // The last one has only the remainder, and is small.
    assert_eq!(count(&result, Opcode::Cal) + 3, count(&source, Opcode::Cal));
    let (length, before) = (result.instructions.len(), source.instructions.len());
    assert!(length < before + before / 20, "{length} of {before}");
    // Without subroutines they are inlined up to the limit.
    let small = in_subroutines(4_000, 1000, 3);
    let options = TgsiOptions::default().with(|o| o.subroutines = false);
    assert_eq!(run(&translated(&small, &options)), run(&small));
    let report = |keep| check_for(&source, &SkippedParts::default(), &Limits::default(), keep);
    assert!(report(None).errors().any(|e| e.code.name == "calls-too-many"));
    assert!(!report(TgsiOptions::default().keep_subroutines(OptLevel::Full)).has_errors());
}
