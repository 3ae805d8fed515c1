//! `mutate INPUT.spv SEED COUNT FOLDER [TRANSFORMATION...]` writes `FOLDER/NAME.SEED.spv`, and prints the changes.
//!
//! With several seeds, as `0..100`, it writes a module for each. `damage` as COUNT damages the module, `define` gives
//! undefined behaviour a result.

use std::path::Path;
use std::process::ExitCode;

use tgsi_spirv_mutate::{damage, define, mutate_by};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("mutate: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let [input, seeds, count, folder, names @ ..] = arguments else {
        return Err("usage: mutate INPUT.spv SEED COUNT FOLDER [TRANSFORMATION...]".to_owned());
    };
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is not a number"));
    let seeds = match seeds.split_once("..") {
        Some((first, end)) => number(first)?..number(end)?,
        None => number(seeds)?..number(seeds)? + 1,
    };
    let bytes = std::fs::read(input).map_err(|error| format!("{input}: {error}"))?;
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect();
    let stem = Path::new(input).file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    std::fs::create_dir_all(folder).map_err(|error| format!("{folder}: {error}"))?;
    for seed in seeds {
        let (out, applied) = if count == "damage" {
            (damage(&words, seed), Vec::new())
        } else if count == "define" {
            (define(&words).map_err(|error| format!("{input}: {error}"))?, Vec::new())
        } else {
            let is_named = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
            let mutation = mutate_by(&words, seed, number(count)? as usize, is_named);
            let mutation = mutation.map_err(|error| format!("{input}: {error}"))?;
            (mutation.words, mutation.applied)
        };
        let file = Path::new(folder).join(format!("{stem}.{seed}.spv"));
        let bytes: Vec<u8> = out.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
        println!("{}: {}", file.display(), applied.join(" "));
    }
    Ok(())
}
