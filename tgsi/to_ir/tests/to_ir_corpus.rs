//! Conversion to the IR of every shader of the shared corpus, and of large generated ones.

use std::time::{Duration, Instant};

use crate::common::{shaders, shared};
use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, Opcode, Processor};
use tgsi::{Shader, text};
use tgsi_to_ir::{ToIrOptions, to_ir};

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn corpus_converts() {
    let corpus = shared("corpus");
    let files = shaders(&corpus);
    let mut failed = Vec::new();
    let mut elapsed = Duration::ZERO;
    let mut insts = 0;
    for file in &files {
        let shader = match text::parse(&std::fs::read(file).unwrap()) {
            Ok(parsed) => parsed.shader,
            Err(errors) => {
                failed.push(format!("{}: {:?}", file.display(), errors.first()));
                continue;
            }
        };
        let start = Instant::now();
        let ir = to_ir(&shader, &ToIrOptions::default());
        elapsed += start.elapsed();
        match ir {
            Ok(ir) => insts += ir.main().num_insts(),
            Err(error) => failed.push(format!("{}: {error}", file.display())),
        }
    }
    println!("{} shaders, {insts} instructions, {elapsed:?}", files.len());
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    assert!(files.len() > 1000);
}

#[test]
fn deep_nesting_takes_neither_stack_nor_time() {
    const DEPTH: usize = 50_000;
    let mut shader = Shader::new(Processor::Fragment);
    let condition = Src::new(Register::new(File::Immediate, 0));
    for _ in 0..DEPTH {
        let mut open = Instruction::new(Opcode::If);
        open.src.push(condition);
        shader.push_instruction(open);
    }
    for _ in 0..DEPTH {
        shader.push_instruction(Instruction::new(Opcode::Endif));
    }
    shader.push_instruction(Instruction::new(Opcode::End));
    let start = Instant::now();
    let ir = to_ir(&shader, &ToIrOptions::default()).unwrap();
    let elapsed = start.elapsed();
    println!("{DEPTH} nested IFs: {elapsed:?}");
    assert_eq!(ir.main().blocks().count(), 3 * DEPTH + 1);
    // Quadratic work would take minutes.
    assert!(elapsed < Duration::from_secs(10));
}
