//! The IR of every shader of the shared corpus, after conversion and in SSA form, printed and parsed.

use std::time::{Duration, Instant};

use crate::common::{shaders, shared};
use tgsi::text;
use tgsi_ir::Shader;
use tgsi_ir::passes::pipeline;
use tgsi_ir::text::{PrintOptions, parse, print, print_with};
use tgsi_to_ir::{ToIrOptions, to_ir};

#[derive(Default)]
struct Figures {
    bytes: usize,
    printing: Duration,
    parsing: Duration,
}

/// Returns an error if the text of a shader does not round-trip.
fn check(shader: &Shader, figures: &mut Figures) -> Result<(), String> {
    let start = Instant::now();
    let printed = print(shader);
    figures.printing += start.elapsed();
    figures.bytes += printed.len();
    let start = Instant::now();
    let again = parse(&printed).map_err(|errors| errors[0].to_string())?;
    figures.parsing += start.elapsed();
    for (line, other) in printed.lines().zip(print(&again).lines()) {
        if line != other {
            return Err(format!("`{line}` became `{other}`"));
        }
    }
    let mesa = print_with(shader, PrintOptions { mesa: true });
    parse(&mesa).map_err(|errors| format!("Mesa's form: {}", errors[0]))?;
    Ok(())
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn corpus_reads_back() {
    let corpus = shared("corpus");
    let files = shaders(&corpus);
    let mut figures = Figures::default();
    let mut failed = Vec::new();
    let mut count = 0;
    for file in &files {
        let Ok(parsed) = text::parse(&std::fs::read(file).unwrap()) else { continue };
        let Ok(mut ir) = to_ir(&parsed.shader, &ToIrOptions::default()) else { continue };
        count += 1;
        if let Err(message) = check(&ir, &mut figures) {
            failed.push(format!("{}: {message}", file.display()));
        }
        pipeline::into_ssa(&mut ir);
        if let Err(message) = check(&ir, &mut figures) {
            failed.push(format!("{} in SSA: {message}", file.display()));
        }
    }
    println!(
        "{count} shaders, {} bytes, printed in {:?}, parsed in {:?}",
        figures.bytes, figures.printing, figures.parsing
    );
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    assert!(count > 1000);
}
