//! Programs from selection to words, executed before and after.

mod examples;
mod generator;
mod interpreter;

use super::{VertexOptions, finish};
use crate::Nv40Error;
use crate::isa::Chip;
use crate::listing;
use crate::machine::{Program, Selected};
use crate::program::VertexProgram;
use crate::simulator::{VertexInputs, VertexSimulator};
use generator::{Choice, INPUTS, UNIFORMS, selected};

/// The programs of each chip.
const PROGRAMS: u64 = 4000;

fn text(program: &Program) -> String {
    program.instructions().iter().map(|instruction| format!("{instruction}\n")).collect()
}

/// Runs the words of a program.
fn outputs(program: &VertexProgram, inputs: &[[f32; 4]], uniforms: &[[f32; 4]]) -> Vec<[f32; 4]> {
    let mut constants = uniforms.to_vec();
    constants.resize(program.constants.into(), [0.0; 4]);
    for literal in &program.literals {
        constants[usize::from(literal.constant)] = literal.words.map(f32::from_bits);
    }
    let simulator = VertexSimulator::new(&program.slots, program.chip).expect("words are instructions");
    let inputs =
        VertexInputs { inputs, constants: &constants, texture: &interpreter::texel, ..VertexInputs::default() };
    simulator.run(&inputs).expect("the program ends").outputs
}

/// Whether values are the same bits, or all NaN.
fn same(a: &[[f32; 4]], b: &[[f32; 4]]) -> bool {
    let is_same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    a.len() == b.len() && a.iter().flatten().zip(b.iter().flatten()).all(is_same)
}

/// The options under which programs are compared.
fn options() -> Vec<VertexOptions> {
    let all = VertexOptions::default();
    vec![
        VertexOptions { pairs: false, optimize: false, ..all },
        VertexOptions { optimize: false, ..all },
        VertexOptions { pairs: false, ..all },
        all,
        VertexOptions { vector_beside_branch: true, all_temporaries: true, ..all },
    ]
}

#[test]
fn words_compute_what_instructions_do() {
    let mut slots = [0; 5];
    let mut refused = 0;
    for seed in 0..PROGRAMS * 3 {
        let chip = Chip::ALL[seed as usize % 3];
        let Selected { program, .. } = &selected(seed, chip);
        let mut choice = Choice::new(seed ^ 0x5555);
        let vector = |choice: &mut Choice| [0; 4].map(|_: u8| choice.float());
        let inputs: Vec<_> = (0..INPUTS).map(|_| vector(&mut choice)).collect();
        let uniforms: Vec<_> = (0..UNIFORMS).map(|_| vector(&mut choice)).collect();
        let Some(expected) = interpreter::run(program, &inputs, &uniforms) else { continue };
        for (count, options) in slots.iter_mut().zip(options()) {
            let finished = match finish(selected(seed, chip), &options) {
                Ok(finished) => finished,
                Err(error) => {
                    assert!(
                        matches!(error, Nv40Error::TooMany { .. }),
                        "{error} in program {seed} with {options:?}\n{}",
                        text(program)
                    );
                    refused += 1;
                    continue;
                }
            };
            *count += finished.slots.len();
            let found = outputs(&finished, &inputs, &uniforms);
            assert!(
                same(&found, &expected),
                "program {seed} with {options:?}: {found:?}, expected {expected:?}\n{}\n{:?}\n{}",
                text(program),
                finished.literals,
                listing::vertex(&finished.slots, chip)
            );
        }
    }
    println!("slots {slots:?}, {refused} refused");
    assert!(slots[3] < slots[2] && slots[1] < slots[0], "{slots:?}");
    assert!(refused < 100, "{refused}");
}
