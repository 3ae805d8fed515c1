//! Runs the fuzz target for the C interface without a fuzzer: the fixtures with all kinds of options and arguments, and
//! mutations of them, from fixed seeds.
//!
//! - `TGSIC_FUZZ_RUNS=1000000` sets the number of mutations.
//! - `TGSIC_FUZZ_CORPUS=folder` writes the inputs to a folder, as a corpus for `cargo fuzz`.

#[path = "fuzz/calls.rs"]
mod calls;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// The default number of mutated inputs.
const RUNS: u64 = 4000;
/// Maximum length of a shader.
const MAX_BYTES: usize = 3500;

/// Random numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Returns the shaders of all fixtures as text, and as tokens if the text can be parsed.
fn shaders() -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "tgsi" || e == "ir") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut shaders = Vec::new();
    for text in files.iter().flat_map(std::fs::read_to_string) {
        for case in text.split("\n; case:") {
            let case = case.split("\n; expect:").next().unwrap_or(case);
            let lines = case.lines().filter(|line| !line.starts_with(';'));
            // The lines before the shader of a case are its title.
            let lines = lines.skip_while(|line| !line.bytes().all(|b| b.is_ascii_uppercase()) && !line.contains(':'));
            let shader: String = lines.flat_map(|line| [line, "\n"]).collect();
            if shader.is_empty() || shader.len() > MAX_BYTES {
                continue;
            }
            if let Ok(parsed) = tgsi::text::parse(shader.as_bytes())
                && let Ok(words) = tgsi::tokens::encode(&parsed.shader)
            {
                shaders.push(tgsi::tokens::bytes_from_words(&words));
            }
            shaders.push(shader.into_bytes());
        }
    }
    shaders
}

/// Creates decisions for the calls, mostly those of a correct program.
fn header(random: &mut Random) -> [u8; calls::HEADER] {
    let mut header = [0; calls::HEADER];
    header[0] = match random.below(5) {
        0 => calls::LINK,
        1 => calls::RUN,
        2 => calls::VIRGL,
        _ => random.next() as u8,
    };
    if matches!(header[0], calls::LINK | calls::RUN | calls::VIRGL) {
        header[9] = random.next() as u8;
        header[13] = random.next() as u8;
    }
    header[2] = random.next() as u8;
    for byte in &mut header[3..] {
        if random.below(8) == 0 {
            *byte = random.next() as u8;
        }
    }
    header
}

/// Mutates some bytes: changes, removes, repeats or copies them from another shader.
fn change(random: &mut Random, data: &mut Vec<u8>, shaders: &[Vec<u8>]) {
    for _ in 0..random.below(5) {
        if data.is_empty() {
            break;
        }
        let at = random.below(data.len());
        let length = (1 + random.below(12)).min(data.len() - at);
        match random.below(5) {
            0 => data[at] ^= 1 << random.below(8),
            1 => drop(data.drain(at..at + length)),
            2 => {
                let copy = data[at..at + length].to_vec();
                let to = random.below(data.len());
                data.splice(to..to, copy);
            }
            3 => {
                let other = &shaders[random.below(shaders.len())];
                let from = random.below(other.len());
                let part = other[from..(from + 20).min(other.len())].to_vec();
                data.splice(at..at + length, part);
            }
            _ => data[at] = b"0123456789xyzw[]{}.,:-|()"[random.below(25)],
        }
    }
}

#[test]
fn calls_of_the_fixtures() {
    let shaders = shaders();
    assert!(shaders.len() > 1000, "{} shaders", shaders.len());
    let mut random = Random(std::env::var("TGSIC_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1));
    let corpus = std::env::var_os("TGSIC_FUZZ_CORPUS").map(PathBuf::from);
    for (number, shader) in shaders.iter().enumerate() {
        let mut input = header(&mut random).to_vec();
        input.extend(shader);
        if let Some(corpus) = &corpus {
            std::fs::write(corpus.join(format!("{number:05}")), &input).expect("a folder that can be written");
        }
        calls::calls(&input);
    }
    let runs = std::env::var("TGSIC_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    for run in 0..runs {
        let mut input = header(&mut random).to_vec();
        let mut shader = shaders[random.below(shaders.len())].clone();
        change(&mut random, &mut shader, &shaders);
        input.extend(shader);
        if run % 100_000 == 99_999 {
            eprintln!("{} runs", run + 1);
        }
        calls::calls(&input);
    }
    let linked = calls::LINKED.load(Ordering::Relaxed);
    assert!(linked > 100, "{linked} pairs linked");
    let replaced = calls::REPLACED.load(Ordering::Relaxed);
    assert!(replaced > 100, "{replaced} shaders replaced for hosts");
    #[cfg(feature = "run")]
    {
        let ran = calls::RAN.load(Ordering::Relaxed);
        assert!(ran > 100, "{ran} runs");
    }
}

/// A header alone, with every decision, and less than a header.
#[test]
fn calls_without_a_shader() {
    calls::calls(&[]);
    calls::calls(&[0; calls::HEADER - 1]);
    for byte in 0..=u8::MAX {
        for place in 0..calls::HEADER {
            let mut header = [0; calls::HEADER];
            header[place] = byte;
            calls::calls(&header);
        }
    }
}
