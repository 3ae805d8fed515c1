//! Prints the facts about a shader that a driver needs: `cargo run -p tgsi --example scan shader.tgsi`.

use std::error::Error;

use tgsi::scan::{resources, scan};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: scan FILE")?;
    let text = std::fs::read(path)?;
    let shader = tgsi::text::parse(&text).map_err(|findings| findings[0].to_string())?.shader;
    if let Some(error) = tgsi::check::check(&shader).errors().next() {
        return Err(error.to_string().into());
    }

    let scan = scan(&shader);
    println!("{}: {} instructions, {} temporaries", scan.processor.name(), scan.num_instructions, scan.temporaries);
    let inputs = scan.input_semantic_name.iter().zip(&scan.input_semantic_index).zip(&scan.input_usage_mask);
    for (register, ((semantic, index), mask)) in inputs.enumerate() {
        println!("IN[{register}]: {} {index}, components {mask:04b}", semantic.name());
    }
    let outputs = scan.output_semantic_name.iter().zip(&scan.output_semantic_index);
    for (register, (semantic, index)) in outputs.enumerate() {
        println!("OUT[{register}]: {} {index}", semantic.name());
    }
    for resource in resources(&shader) {
        println!("{}[{}]: {}", resource.file.name(), resource.binding, resource.target.name());
    }
    for (is, fact) in [(scan.uses_kill, "kills pixels"), (scan.writes_z, "writes its depth")] {
        if is {
            println!("{fact}");
        }
    }
    Ok(())
}
