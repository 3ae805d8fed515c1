//! Benchmarks of parsing, printing, converting, optimising and translating shaders: `cargo bench -p tgsi-driver-tgsi`.
//!
//! Each benchmark runs over three kinds of text: straight-line code and nested branches of growing length, which show
//! whether the time per instruction is constant, and all shaders of the folder with reference data (`TGSIC_SHARED`, or
//! `shared` next to the repository), or else those of the fixtures. Throughput is in TGSI instructions and in bytes of
//! text per second. Inputs that take longer than [`MAX_SECONDS`] run once or twice. The whole takes several minutes,
//! and more than a gibibyte of memory for the largest nested input, which is optimised as one body. `cargo bench -p
//! tgsi-driver-tgsi -- optimising` runs one benchmark, `-- "nested 1000$"` one input, `-- --max-time 0.1` all of them
//! briefly.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use tgsi::Shader;
use tgsi::text::{PrintOptions, parse, print};
use tgsi_compiler::{Compiler, Stage};
use tgsi_driver_tgsi::TgsiOptions;
use tgsi_to_ir::{ToIrOptions, to_ir};

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

/// The shaders of a benchmark.
#[derive(Clone, Copy)]
enum Input {
    /// Instructions without control flow: how many.
    Straight(usize),
    /// Instructions in branches, nested eight deep: how many.
    Nested(usize),
    /// All shaders of the reference data, or else of the fixtures.
    Corpus,
}

const INPUTS: [Input; 9] = [
    Input::Straight(1_000),
    Input::Straight(10_000),
    Input::Straight(100_000),
    Input::Straight(1_000_000),
    Input::Nested(1_000),
    Input::Nested(10_000),
    Input::Nested(100_000),
    Input::Nested(1_000_000),
    Input::Corpus,
];

/// The time after which no further sample of an input is taken.
const MAX_SECONDS: f64 = 3.0;

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Input::Straight(count) => write!(f, "straight {count}"),
            Input::Nested(count) => write!(f, "nested {count}"),
            Input::Corpus if corpus_folder().is_dir() => write!(f, "corpus"),
            Input::Corpus => write!(f, "fixtures"),
        }
    }
}

const DECLARATIONS: &str = "FRAG\nDCL IN[0..3], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0][0..63]\nDCL TEMP[0..15]\n\
                            IMM[0] FLT32 {0.5, 2.0, -1.0, 0.25}\n";

impl Input {
    fn texts(self) -> Vec<String> {
        match self {
            Input::Straight(count) => vec![straight(count)],
            Input::Nested(count) => vec![nested(count)],
            Input::Corpus => corpus(),
        }
    }
}

/// Appends an arithmetic instruction; none occurs twice within the constants.
fn instruction(text: &mut String, number: usize) {
    let (dst, src, constant) = (number % 13, (number * 7 + 3) % 16, (number * 5) % 64);
    let line = match number % 5 {
        0 => format!("MUL TEMP[{dst}], TEMP[{src}].yzwx, CONST[0][{constant}]"),
        1 => format!("ADD TEMP[{dst}].xy, TEMP[{src}], -CONST[0][{constant}].wzyx"),
        2 => format!("MAD TEMP[{dst}], TEMP[{src}], IMM[0].xxxx, IN[{}]", number % 4),
        3 => format!("MAX TEMP[{dst}].zw, |TEMP[{src}]|, CONST[0][{constant}].xxxx"),
        _ => format!("DP4 TEMP[{dst}].x, TEMP[{src}], CONST[0][{constant}]"),
    };
    text.push_str(&line);
    text.push('\n');
}

fn straight(count: usize) -> String {
    let mut text = String::from(DECLARATIONS);
    for number in 0..count - 2 {
        instruction(&mut text, number);
    }
    text.push_str("MOV OUT[0], TEMP[0]\nEND\n");
    text
}

fn nested(count: usize) -> String {
    let mut text = String::from(DECLARATIONS);
    let mut number = 0;
    while number + 50 < count {
        for depth in 0..8 {
            let _ = writeln!(text, "FSLT TEMP[14].x, TEMP[{depth}].xxxx, CONST[0][{}].yyyy", (number + depth) % 64);
            text.push_str("UIF TEMP[14].xxxx\n");
            instruction(&mut text, number + depth);
        }
        for depth in 0..8 {
            text.push_str("ELSE\n");
            instruction(&mut text, number + 8 + depth);
            text.push_str("ENDIF\n");
        }
        number += 48;
    }
    text.push_str("MOV OUT[0], TEMP[0]\nEND\n");
    text
}

fn corpus_folder() -> PathBuf {
    let root = std::env::var_os("TGSIC_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    root.join("corpus")
}

fn corpus() -> Vec<String> {
    let folder = corpus_folder();
    if folder.is_dir() {
        return texts_below(folder);
    }
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folders = ["demo", "tgsi/run", "drivers/tgsi"].map(|name| texts_below(fixtures.join(name)));
    folders.iter().flatten().flat_map(|text| cases(text)).filter(|case| is_translated(case)).collect()
}

/// Returns the TGSI files below a folder, sorted by name.
fn texts_below(folder: PathBuf) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "tgsi") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.iter().flat_map(std::fs::read_to_string).collect()
}

/// Returns the inputs of a fixture file.
fn cases(text: &str) -> impl Iterator<Item = String> {
    text.split("\n; case:").map(|case| {
        let input = case.split("\n; expect:").next().unwrap_or(case);
        // After the title.
        let lines = input.lines().skip_while(|line| !line.starts_with(|c: char| c.is_ascii_uppercase()));
        lines.filter(|line| !line.starts_with(';')).fold(String::new(), |text, line| text + line + "\n")
    })
}

/// Whether a shader translates: fixtures include errors.
fn is_translated(text: &str) -> bool {
    let Ok(parsed) = parse(text.as_bytes()) else { return false };
    let is_sound = !tgsi::check::check(&parsed.shader).diagnostics.iter().any(|d| d.is_error());
    is_sound && Compiler::new(TgsiOptions::default()).compile(&parsed.shader).is_ok()
}

fn parsed_text(text: &str) -> Shader {
    parse(text.as_bytes()).expect("valid text").shader
}

/// Runs over all shaders of an input, each prepared first.
fn run<T>(bencher: Bencher<'_, '_>, input: Input, ready: impl Fn(String, Shader) -> T, work: impl Fn(&T)) {
    let (mut bytes, mut instructions) = (0, 0);
    let make = |text: String| {
        let shader = parsed_text(&text);
        bytes += text.len();
        instructions += shader.instructions.len();
        ready(text, shader)
    };
    // Keep only the prepared values, as shaders can be large.
    let ready: Vec<T> = input.texts().into_iter().map(make).collect();
    assert!(instructions > 0, "there are shaders");
    bencher.counter(ItemsCount::new(instructions)).counter(BytesCount::new(bytes)).bench_local(|| {
        for value in &ready {
            work(value);
        }
    });
}

fn in_ir(shader: &Shader) -> tgsi_ir::Shader {
    to_ir(shader, &ToIrOptions::default()).expect("a shader that converts")
}

#[divan::bench(args = INPUTS, max_time = MAX_SECONDS)]
fn parsing(bencher: Bencher<'_, '_>, input: Input) {
    run(
        bencher,
        input,
        |text, _| text,
        |text| {
            divan::black_box(parsed_text(text));
        },
    );
}

#[divan::bench(args = INPUTS, max_time = MAX_SECONDS)]
fn printing(bencher: Bencher<'_, '_>, input: Input) {
    run(
        bencher,
        input,
        |_, shader| shader,
        |shader| {
            divan::black_box(print(shader, PrintOptions::default()));
        },
    );
}

#[divan::bench(args = INPUTS, max_time = MAX_SECONDS)]
fn converting(bencher: Bencher<'_, '_>, input: Input) {
    run(
        bencher,
        input,
        |_, shader| shader,
        |shader| {
            divan::black_box(in_ir(shader));
        },
    );
}

#[divan::bench(args = INPUTS, max_time = MAX_SECONDS)]
fn optimising(bencher: Bencher<'_, '_>, input: Input) {
    let compiler = Compiler::new(TgsiOptions::default());
    run(
        bencher,
        input,
        |_, shader| in_ir(&shader),
        |ir| {
            divan::black_box(compiler.ir_at(Stage::Opt, ir).expect("IR"));
        },
    );
}

/// Translates text to text.
#[divan::bench(args = INPUTS, max_time = MAX_SECONDS)]
fn translating(bencher: Bencher<'_, '_>, input: Input) {
    let compiler = Compiler::new(TgsiOptions::default());
    run(
        bencher,
        input,
        |text, _| text,
        |text| {
            let code = compiler.compile(parsed_text(text)).expect("a shader that translates");
            divan::black_box(code.into_bytes());
        },
    );
}
