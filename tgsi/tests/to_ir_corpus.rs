//! Conversion to the IR of every shader of the shared corpus, and of large generated ones.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, Opcode, Processor};
use tgsi::to_ir::{ToIrOptions, to_ir};
use tgsi::{Shader, text};

/// The shared data, or none after saying that the test is skipped.
fn shared(path: &str, test: &str) -> Option<PathBuf> {
    let root = std::env::var_os("TGSIC_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let path = root.join(path);
    if !path.exists() {
        eprintln!("{test}: SKIPPED, no {}", path.display());
        return None;
    }
    Some(path)
}

fn shaders(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            shaders(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "tgsi") {
            found.push(path);
        }
    }
}

#[test]
fn corpus_converts() {
    let Some(corpus) = shared("corpus", "corpus_converts") else { return };
    let mut files = Vec::new();
    shaders(&corpus, &mut files);
    files.sort();
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
