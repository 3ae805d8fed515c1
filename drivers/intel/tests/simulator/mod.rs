//! Execution of programs.

mod alu;
mod flow;
mod memory;
mod messages;
mod random;
mod regions;

use tgsi_driver_intel::isa::Chip;
use tgsi_driver_intel::simulator::{Environment, Launch, Registers, RunResult, Simulator, Trap};
use tgsi_driver_intel::text::assemble;

/// Surroundings without contents.
pub struct Nothing;

impl Environment for Nothing {}

/// The eight words of a register: floats, which are repeated.
pub fn floats(values: &[f32]) -> [u32; 8] {
    std::array::from_fn(|index| values[index % values.len()].to_bits())
}

/// The eight words of a register: integers, which are repeated.
pub fn words(values: &[i64]) -> [u32; 8] {
    std::array::from_fn(|index| values[index % values.len()] as u32)
}

/// The words of a register from 16 halves, which are repeated.
pub fn halves(values: &[i32]) -> [u32; 8] {
    let half = |index: usize| values[index % values.len()] as u32 & 0xffff;
    std::array::from_fn(|index| half(2 * index) | half(2 * index + 1) << 16)
}

pub fn simulator(text: &str, chip: Chip) -> Simulator {
    let program = assemble(text, chip).unwrap_or_else(|error| panic!("{error}: {text}"));
    Simulator::from_instructions(program, chip)
}

/// A thread with contents of registers.
pub fn launch(contents: &[(u8, [u32; 8])]) -> Launch {
    let mut registers = Registers::default();
    for &(register, words) in contents {
        registers.set_words(register, words);
    }
    Launch { registers, ..Launch::default() }
}

pub fn trap(text: &str, chip: Chip) -> Trap {
    let launch = launch(&[(1, words(&[0, 1, 2, 3, 4, 5, 6, 7]))]);
    simulator(text, chip).run(&launch, &mut Nothing).expect_err(text)
}

pub fn run(text: &str, contents: &[(u8, [u32; 8])]) -> RunResult {
    let results = Chip::ALL.map(|chip| simulator(text, chip).run(&launch(contents), &mut Nothing));
    let [first, second] = results.map(|result| result.unwrap_or_else(|trap| panic!("{trap}: {text}")));
    assert_eq!(first, second, "{text}");
    first
}
