//! Generates a shader that has a loop, and reduces it to the smallest shader that still has one: the work after a
//! finding of a fuzzer. `cargo run -p tgsi-smith --example reduce [SEED]`.

use std::error::Error;

use tgsi::shader::Shader;
use tgsi::tables::{Opcode, Processor};
use tgsi_smith::reduce::{Limits, reduce};
use tgsi_smith::{Config, from_seed};

fn main() -> Result<(), Box<dyn Error>> {
    let seed: u64 = std::env::args().nth(1).map_or(Ok(1), |seed| seed.parse())?;
    let config = Config::default().with_stage(Processor::Fragment).with_size(60);
    // Replace this by the property to preserve, such as a crash of a compiler.
    let mut is_interesting = |shader: &Shader| shader.instructions.iter().any(|i| i.opcode == Opcode::Bgnloop);

    let mut seeds = seed..seed.saturating_add(1000);
    let shader = loop {
        let shader = from_seed(seeds.next().ok_or("no such shader")?, &config)?;
        if is_interesting(&shader) {
            break shader;
        }
    };
    let reduced = reduce(&shader, Limits::default(), &mut is_interesting);
    println!("{} instructions, reduced to {}:", shader.instructions.len(), reduced.instructions.len());
    print!("{}", tgsi::text::print(&reduced, tgsi::text::PrintOptions::default()));
    Ok(())
}
