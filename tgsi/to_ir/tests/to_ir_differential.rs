//! The TGSI interpreter against that of the IR, on every shader of the shared corpus with synthetic inputs: covers
//! stages, resources and opcodes without recorded results.

use std::collections::BTreeMap;

use crate::common::{shaders, shared};
use tgsi::tables::{File, Opcode, Processor, PropertyName};
use tgsi::{Shader, text};
use tgsi_environment::Random;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, Resources, RunLimits};
use tgsi_run::{Program, run};
use tgsi_to_ir::{ToIrOptions, to_ir};

/// Synthetic words.
struct Words(Random);

impl Words {
    fn next(&mut self) -> u32 {
        self.0.bits() as u32
    }

    /// Seed 0: floats in [-2, 2]; 1: small integers; 2: small integers as floats.
    fn word(&mut self, seed: u64) -> u32 {
        let bits = self.next();
        match seed {
            0 => (bits as f32 / 1_073_741_824.0 - 2.0).to_bits(),
            1 => bits % 6,
            _ => ((bits % 6) as f32 - 1.0).to_bits(),
        }
    }
}

fn inputs(shader: &Shader, seed: u64) -> Inputs {
    let mut words = Words(Random::new(seed * 77 + 5));
    let lanes = match shader.processor {
        Processor::TessControl => shader.property(PropertyName::TcsVerticesOut).unwrap_or(4).clamp(1, 32) as usize,
        _ => 4,
    };
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 0), ..Inputs::default() };
    let count = |file| {
        shader.declarations.iter().filter(|d| d.file == file).map(|d| usize::from(d.last) + 1).max().unwrap_or(0)
    };
    for register in 0..count(File::Input).max(1) {
        for component in 0..4 {
            for lane in 0..lanes {
                inputs.inputs.set(register, component, lane, words.word(seed));
            }
        }
    }
    let vertices = match shader.processor {
        Processor::Geometry => shader
            .property(PropertyName::GsInputPrimitive)
            .and_then(tgsi::tables::Primitive::from_value)
            .map_or(6, |primitive| usize::from(primitive.input_vertices())),
        Processor::TessControl | Processor::TessEval => 32,
        _ => 0,
    };
    for _ in 0..vertices {
        let vertex = (0..count(File::Input)).map(|_| std::array::from_fn(|_| words.word(seed))).collect();
        inputs.vertices.push(vertex);
    }
    if shader.processor == Processor::Geometry {
        // Inputs come only from vertices.
        inputs.inputs = LaneRegisters::new(lanes, 0);
    }
    for declaration in shader.declarations.iter().filter(|d| d.file == File::SystemValue) {
        if let Some(value) = declaration.semantic.and_then(|semantic| semantic.name.system_value()) {
            let boolean = value.bit_size() == 1;
            let rows = usize::from(value.num_components()) * usize::from(value.bit_size().div_ceil(32));
            let mut row = || {
                (0..lanes)
                    .map(|lane| match (boolean, words.next() & 1) {
                        (true, bit) => bit.wrapping_neg(),
                        (false, _) => lane as u32 + (words.next() & 1),
                    })
                    .collect()
            };
            inputs.system_values.insert(value, (0..rows).map(|_| row()).collect());
        }
    }
    inputs.constants = (0..8).map(|_| (0..1024).map(|_| words.word(seed)).collect()).collect();
    inputs.buffers = (0..8).map(|_| (0..1024u32).map(|_| words.next() as u8 & 0x1f).collect()).collect();
    inputs.counters = (0..4).map(|_| (0..32).map(|_| words.next() & 0xff).collect()).collect();
    inputs.shared_size = 4096;
    inputs.framebuffer = LaneRegisters::new(lanes, 0);
    for lane in 0..lanes {
        inputs.framebuffer.set(0, 0, lane, words.word(0));
    }
    inputs
}

fn close(a: u32, b: u32) -> bool {
    tgsi_run::vectors::Agreement::of(a, b) != tgsi_run::vectors::Agreement::Different
}

fn compare_words<'a>(
    what: &str,
    a: impl IntoIterator<Item = &'a u32>,
    b: impl IntoIterator<Item = &'a u32>,
    found: &mut Vec<String>,
) {
    let (a, b): (Vec<_>, Vec<_>) = (a.into_iter().collect(), b.into_iter().collect());
    if a.len() != b.len() {
        found.push(format!("{what}: {} words, through the IR {}", a.len(), b.len()));
    }
    for (place, (&&a, &&b)) in a.iter().zip(&b).enumerate() {
        if !close(a, b) {
            found.push(format!("{what} word {place}: {a:08x}, through the IR {b:08x}"));
            return;
        }
    }
}

fn compare(shader: &Shader, a: &Outputs, b: &Outputs) -> Vec<String> {
    let mut found = Vec::new();
    if a.live != b.live {
        found.push(format!("live {:?}, through the IR {:?}", a.live, b.live));
    }
    let registers = a.outputs.len();
    if shader.processor != Processor::Geometry {
        for register in 0..registers {
            for component in 0..4 {
                for lane in 0..a.outputs.lanes() {
                    if !a.live[lane] {
                        continue;
                    }
                    let (x, y) = (a.outputs.get(register, component, lane), b.outputs.get(register, component, lane));
                    if !close(x, y) {
                        found.push(format!(
                            "OUT[{register}] component {component} lane {lane}: {x:08x}, through the IR {y:08x}"
                        ));
                    }
                }
            }
        }
    }
    for (vertex, (x, y)) in a.vertices.iter().zip(&b.vertices).enumerate() {
        // Patch-only registers are not in the IR's vertices.
        let shortest = x.len().min(y.len());
        compare_words(
            &format!("vertex {vertex}"),
            x[..shortest].as_flattened(),
            y[..shortest].as_flattened(),
            &mut found,
        );
    }
    for (stream, (x, y)) in a.emitted.iter().zip(&b.emitted).enumerate() {
        let flat = |primitives: &Vec<Vec<Vec<[u32; 4]>>>| -> Vec<u32> {
            primitives
                .iter()
                .flat_map(|primitive| {
                    std::iter::once(primitive.len() as u32)
                        .chain(primitive.iter().flat_map(|vertex| vertex.as_flattened().iter().copied()))
                        .collect::<Vec<_>>()
                })
                .collect()
        };
        compare_words(&format!("stream {stream}"), &flat(x), &flat(y), &mut found);
    }
    for (number, (x, y)) in a.buffers.iter().zip(&b.buffers).enumerate() {
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
        };
        compare_words(&format!("BUFFER[{number}]"), &words(x), &words(y), &mut found);
    }
    for (number, (x, y)) in a.counters.iter().zip(&b.counters).enumerate() {
        compare_words(&format!("HWATOMIC[{number}]"), x, y, &mut found);
    }
    if a.shared != b.shared {
        found.push("shared memory".into());
    }
    found
}

/// Whether the results of a shader are not determined by its text.
fn is_excused(shader: &Shader) -> bool {
    shader.instructions.iter().any(|instruction| matches!(instruction.opcode, Opcode::Clock))
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn interpreters_agree() {
    let corpus = shared("corpus");
    let files = shaders(&corpus);
    let mut failed: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let (mut runs, mut endless) = (0, 0);
    for file in &files {
        let shader = text::parse(&std::fs::read(file).unwrap()).unwrap().shader;
        if is_excused(&shader) {
            continue;
        }
        let name = file.strip_prefix(&corpus).unwrap().display().to_string();
        let mut fail = |text: String| failed.entry(name.clone()).or_insert((0, text)).0 += 1;
        let ir = to_ir(&shader, &ToIrOptions::default()).unwrap();
        if let Err(errors) = tgsi_ir::validate::validate(&ir) {
            fail(format!("invalid: {errors}"));
            continue;
        }
        let program = Program::new(&shader).unwrap();
        let ir_program = match tgsi_ir::run::Program::new(&ir) {
            Ok(program) => program,
            Err(error) => {
                fail(error.to_string());
                continue;
            }
        };
        for seed in 0..3 {
            let inputs = inputs(&shader, seed);
            let limits = RunLimits::of_steps(200_000);
            let (mut first, mut second) = (AnalyticResources::default(), AnalyticResources::default());
            let Ok(a) = run(&program, &inputs, &mut first, limits) else {
                endless += 1;
                continue;
            };
            runs += 1;
            let b = match ir_program.run(&inputs, &mut second, RunLimits::of_steps(4_000_000)) {
                Ok(outputs) => outputs,
                Err(error) => {
                    fail(format!("seed {seed}: {error}"));
                    continue;
                }
            };
            let mut found = compare(&shader, &a, &b);
            if first.stored_texels() != second.stored_texels() {
                let differs = first
                    .stored_texels()
                    .into_iter()
                    .find(|(texel, value)| second.stored_texels().get(texel) != Some(value));
                found.push(format!("images: {differs:?}"));
            }
            if let Some(text) = found.first() {
                fail(format!("seed {seed}: {text}"));
            }
        }
    }
    println!("{} shaders, {runs} runs, {endless} without end", files.len());
    for (file, (count, text)) in failed.iter().take(100) {
        println!("  {file} ({count}): {text}");
    }
    assert!(failed.is_empty(), "{} shaders disagree", failed.len());
    assert!(runs > 4000);
}
