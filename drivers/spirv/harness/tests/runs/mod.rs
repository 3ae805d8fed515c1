//! Shaders, inputs and the comparison of runs, for tests of the harness in the interpreter and on Vulkan.
#![allow(dead_code, reason = "each test program uses a part")]

use std::path::{Path, PathBuf};

use tgsi::tables::File;
use tgsi_environment::Random;
use tgsi_environment::SystemValue;
use tgsi_environment::{Inputs, LaneRegisters, Outputs, RunLimits};
use tgsi_ir::passes::pipeline;
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_run::vectors::Agreement;

/// Sufficient for every shader that terminates.
pub const LIMITS: RunLimits = RunLimits { steps: 400_000, memory: 1 << 28 };

/// Generates inputs for shaders of a stage.
pub fn inputs(shader: &Shader, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let mut word = move || {
        let bits = random.bits();
        let small = (bits >> 8) as i32 % 9 - 1;
        match (bits >> 40) % 3 {
            0 => (((bits >> 16) as u32 as f64 / f64::from(u32::MAX)) * 4.0 - 2.0) as f32,
            1 => return small as u32,
            _ => small as f32,
        }
        .to_bits()
    };
    let size = shader.info.workgroup_size.map(|size| size.max(1) as usize);
    let lanes = match shader.stage {
        ShaderStage::Geometry => 1,
        ShaderStage::TessCtrl => (shader.info.tess.tcs_vertices_out as usize).clamp(1, 32),
        ShaderStage::Compute if size.iter().product::<usize>() <= 64 => size.iter().product(),
        _ => 4,
    };
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 24), ..Inputs::default() };
    for register in 0..24 {
        for component in 0..4 {
            for lane in 0..lanes {
                inputs.inputs.set(register, component, lane, word());
            }
        }
    }
    if matches!(shader.stage, ShaderStage::Geometry | ShaderStage::TessCtrl | ShaderStage::TessEval) {
        let count = if shader.stage == ShaderStage::Geometry { shader.info.gs.vertices_in.max(1) } else { 32 };
        inputs.vertices = (0..count).map(|_| (0..24).map(|_| std::array::from_fn(|_| word())).collect()).collect();
    }
    for &value in SystemValue::ALL {
        let words = usize::from(value.num_components()) * if value.bit_size() == 64 { 2 } else { 1 };
        let rows = (0..words).map(|component| {
            (0..lanes)
                .map(|lane| match value {
                    SystemValue::LocalInvocationIndex | SystemValue::InvocationId => lane as u32,
                    SystemValue::LocalInvocationId => {
                        [lane % size[0], lane / size[0] % size[1], lane / size[0] / size[1]][component] as u32
                    }
                    SystemValue::FragCoord | SystemValue::TessCoord | SystemValue::SamplePos => word(),
                    _ => word() % 7,
                })
                .collect()
        });
        inputs.system_values.insert(value, rows.collect());
    }
    inputs.constants = (0..4).map(|_| (0..1024).map(|_| word()).collect()).collect();
    inputs.buffers = (0..8).map(|_| (0..256).flat_map(|_| word().to_le_bytes()).collect()).collect();
    inputs.counters = (0..4).map(|_| (0..16).map(|_| word() % 9).collect()).collect();
    inputs.shared_size = 4096;
    inputs.helpers =
        (0..lanes).map(|lane| shader.stage == ShaderStage::Fragment && seed % 2 == 1 && lane == 3).collect();
    inputs.framebuffer = LaneRegisters::new(lanes, 8);
    for register in 0..8 {
        for component in 0..4 {
            for lane in 0..lanes {
                inputs.framebuffer.set(register, component, lane, word());
            }
        }
    }
    inputs
}

/// Compares words with the tolerance for recorded results of approximate functions. Devices need not preserve NaN and
/// infinities; a small negative integer is not considered one.
pub fn close(expected: u32, found: u32) -> bool {
    let is_kept = f32::from_bits(expected).is_finite() || expected >= 0xffff_ff00;
    !is_kept || Agreement::of(expected, found) != Agreement::Different
}

/// Compares as [`close`], for devices that flush denormals.
pub fn close_but_denormals(expected: u32, found: u32) -> bool {
    let flushed = |word: u32| if f32::from_bits(word).is_subnormal() { 0 } else { word };
    close(expected, found) || close(flushed(expected), flushed(found))
}

/// Replaces NaN, which devices need not preserve: a small negative integer may be read as a float, and becomes
/// positive.
pub fn without_nan(inputs: Inputs) -> Inputs {
    mapped(inputs, |word| if word > 0xff80_0000 { word.wrapping_neg() & 0xff } else { word })
}

/// Replaces denormals, which include small integers, by zero.
pub fn without_denormals(inputs: Inputs) -> Inputs {
    mapped(inputs, |word| if f32::from_bits(word).is_subnormal() { 0 } else { word })
}

/// Maps the words that a shader may read as floats.
fn mapped(mut inputs: Inputs, map: impl Fn(u32) -> u32) -> Inputs {
    let change = |word: &mut u32| *word = map(*word);
    for registers in [&mut inputs.inputs, &mut inputs.framebuffer] {
        for register in 0..registers.len() {
            for component in 0..4 {
                registers.component_mut(register, component).iter_mut().for_each(change);
            }
        }
    }
    inputs.vertices.iter_mut().flatten().flatten().for_each(change);
    inputs.constants.iter_mut().flatten().for_each(change);
    inputs.system_values.values_mut().flatten().flatten().for_each(change);
    for bytes in inputs.buffers.iter_mut().flat_map(|buffer| buffer.as_chunks_mut::<4>().0) {
        *bytes = map(u32::from_le_bytes(*bytes)).to_le_bytes();
    }
    inputs
}

/// Limits inputs and constants to the declared ones: accesses beyond them are undefined.
pub fn declared(source: &tgsi::Shader, mut inputs: Inputs) -> Inputs {
    let end = |file: File, dimension: Option<u16>| {
        let declarations = source.declarations.iter().filter(|d| d.file == file);
        let of_dimension =
            declarations.filter(|d| dimension.is_none() || d.dimension.unwrap_or(0) == dimension.unwrap_or(0));
        of_dimension.map(|d| usize::from(d.last) + 1).max().unwrap_or(0)
    };
    let mut registers = LaneRegisters::new(inputs.lanes, end(File::Input, None).min(inputs.inputs.len()));
    for register in 0..registers.len() {
        for component in 0..4 {
            let words = inputs.inputs.component(register, component);
            registers.component_mut(register, component).copy_from_slice(words);
        }
    }
    inputs.inputs = registers;
    for (number, words) in (0..).zip(&mut inputs.constants) {
        words.truncate(4 * end(File::Constant, Some(number)));
    }
    inputs
}

/// Describes the words that do not agree, ignoring dead lanes.
pub fn difference(
    stage: ShaderStage,
    expected: &Outputs,
    found: &Outputs,
    same: &dyn Fn(u32, u32) -> bool,
) -> Option<String> {
    if expected.live != found.live {
        return Some(format!("live: {:?}, should be {:?}", found.live, expected.live));
    }
    let registers = expected.outputs.len().max(found.outputs.len());
    for register in (0..registers).filter(|_| stage != ShaderStage::Geometry) {
        for component in 0..4 {
            for lane in (0..expected.live.len()).filter(|&lane| expected.live[lane]) {
                let word = |outputs: &Outputs| outputs.outputs.get(register, component, lane);
                if !same(word(expected), word(found)) {
                    let (is, should) = (word(found), word(expected));
                    return Some(format!(
                        "output {register}.{component} lane {lane}: {is:08x}, should be {should:08x}"
                    ));
                }
            }
        }
    }
    let unlike = |what: &str, expected: Vec<u32>, found: Vec<u32>| {
        if expected.len() != found.len() {
            return Some(format!("{what}: {} words, should be {}", found.len(), expected.len()));
        }
        let mut words = expected.into_iter().zip(found).enumerate();
        let (number, (should, is)) = words.find(|&(_, (should, is))| !same(should, is))?;
        Some(format!("{what}, word {number}: {is:08x}, should be {should:08x}"))
    };
    let vertices = |outputs: &Outputs| outputs.vertices.as_flattened_words();
    let emitted = |outputs: &Outputs, stream: usize| {
        let primitives = outputs.emitted[stream].iter();
        primitives.flat_map(|p| [p.len() as u32].into_iter().chain(p.as_flattened_words())).collect()
    };
    let bytes = |bytes: &[u8]| -> Vec<u32> {
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        bytes.chunks(4).map(word).collect()
    };
    unlike("vertices", vertices(expected), vertices(found))
        .or_else(|| (0..4).find_map(|s| unlike("emitted vertices", emitted(expected, s), emitted(found, s))))
        .or_else(|| unlike("counters", expected.counters.concat(), found.counters.concat()))
        .or_else(|| unlike("shared memory", bytes(&expected.shared), bytes(&found.shared)))
        .or_else(|| unlike("buffers", bytes(&expected.buffers.concat()), bytes(&found.buffers.concat())))
}

trait Flattened {
    fn as_flattened_words(&self) -> Vec<u32>;
}

impl Flattened for [Vec<[u32; 4]>] {
    fn as_flattened_words(&self) -> Vec<u32> {
        self.iter().flatten().flatten().copied().collect()
    }
}

/// Returns the optimised shader before lowering; `None` if the source is invalid.
pub fn optimized(source: &tgsi::Shader) -> Option<Shader> {
    if tgsi::check::check(source).has_errors() {
        return None;
    }
    let mut shader = tgsi_to_ir::to_ir(source, &tgsi_to_ir::ToIrOptions::default()).ok()?;
    pipeline::into_ssa(&mut shader);
    pipeline::optimize(&mut shader, &tgsi_ir::options::CompilerOptions::default());
    Some(shader)
}

pub fn parsed(text: &[u8]) -> Option<tgsi::Shader> {
    tgsi::text::parse(text).ok().map(|parsed| parsed.shader)
}

/// Returns the TGSI texts in a folder and its subfolders, sorted.
pub fn texts(folder: PathBuf) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "tgsi") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the root of the repository.
pub fn repository() -> &'static Path {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().find(|folder| folder.join("Cargo.lock").exists()).unwrap_or(crate_folder)
}

/// Returns the folder of real shaders.
pub fn corpus() -> PathBuf {
    let shared = std::env::var_os("TGSIC_SHARED").map_or_else(|| repository().join("../shared"), PathBuf::from);
    shared.join("corpus")
}

/// Returns whether a file's path contains `TGSIC_ONLY`.
pub fn is_wanted(file: &Path) -> bool {
    file.to_string_lossy().contains(&std::env::var("TGSIC_ONLY").unwrap_or_default())
}

/// Returns whether `TGSIC_ONLY` is unset.
pub fn all_are_wanted() -> bool {
    std::env::var_os("TGSIC_ONLY").is_none()
}
