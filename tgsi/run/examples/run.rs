//! Runs a vertex or compute shader for four lanes and prints its outputs: `cargo run -p tgsi-run --example run
//! shader.tgsi`. Constants are 1; component 0 of each input is the number of the lane.

use std::error::Error;

use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_run::{Program, run};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: run FILE")?;
    let text = std::fs::read(path)?;
    let shader = tgsi::text::parse(&text).map_err(|findings| findings[0].to_string())?.shader;
    let scan = tgsi::scan::scan(&shader);

    let mut inputs = Inputs { lanes: 4, constants: vec![vec![1f32.to_bits(); 64]], ..Inputs::default() };
    inputs.inputs = LaneRegisters::new(4, scan.num_inputs as usize);
    for register in 0..scan.num_inputs as usize {
        for lane in 0..4 {
            inputs.inputs.set(register, 0, lane, (lane as f32).to_bits());
        }
    }
    let program = Program::new(&shader)?;
    let outputs = run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default())?;
    for (register, semantic) in scan.output_semantic_name.iter().enumerate() {
        for lane in 0..4 {
            let value = [0, 1, 2, 3].map(|component| f32::from_bits(outputs.outputs.get(register, component, lane)));
            println!("lane {lane}: OUT[{register}] ({}) = {value:?}", semantic.name());
        }
    }
    println!("{} instructions executed", outputs.steps);
    Ok(())
}
