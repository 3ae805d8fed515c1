//! The lifted shader in the interpreter of the IR, against the original.

use std::path::{Path, PathBuf};

use tgsi_ir::passes::pipeline;
use tgsi_ir::run::random::Random;
use tgsi_ir::run::{AnalyticResources, Inputs, LaneRegisters, Outputs, Resources, RunLimits};
use tgsi_ir::shader::{Shader, Stage};
use tgsi_ir::system_value::SystemValue;

use super::{BUFFER, decode, encode, lift};

/// Enough for every shader that ends.
const LIMITS: RunLimits = RunLimits { steps: 400_000, memory: 1 << 28 };

/// Made-up inputs for shaders of a stage.
fn inputs(shader: &Shader, seed: u64) -> Inputs {
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
        Stage::Geometry => 1,
        Stage::TessCtrl => (shader.info.tess.tcs_vertices_out as usize).clamp(1, 32),
        Stage::Compute if size.iter().product::<usize>() <= 64 => size.iter().product(),
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
    if matches!(shader.stage, Stage::Geometry | Stage::TessCtrl | Stage::TessEval) {
        let count = if shader.stage == Stage::Geometry { shader.info.gs.vertices_in.max(1) } else { 32 };
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
    inputs.helpers = (0..lanes).map(|lane| shader.stage == Stage::Fragment && seed % 2 == 1 && lane == 3).collect();
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

/// Runs a lifted shader in the interpreter; every second quad is idle with a distance of eight.
fn run_lifted(
    shader: &Shader,
    layout: &super::Layout,
    inputs: &Inputs,
    distance: u32,
    resources: &mut AnalyticResources,
) -> Result<Outputs, String> {
    let encoded = encode(layout, inputs, resources, LIMITS, distance)?;
    let mut buffers = inputs.buffers.clone();
    let own = buffers.len();
    buffers.resize(BUFFER as usize + 1, Vec::new());
    buffers[BUFFER as usize] = encoded.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let lanes = inputs.lanes.div_ceil(4) * distance as usize;
    let given = Inputs {
        lanes,
        constants: inputs.constants.clone(),
        buffers,
        shared_size: inputs.shared_size,
        system_values: [(SystemValue::LocalInvocationIndex, vec![(0..lanes as u32).collect()])].into(),
        ..Inputs::default()
    };
    let limits = RunLimits::of_steps(LIMITS.steps * 20);
    let mut after = tgsi_ir::run::run(shader, &given, &mut AnalyticResources::default(), limits)
        .map_err(|error| error.to_string())?;
    let words: Vec<u32> = after.buffers[BUFFER as usize]
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    after.buffers.truncate(own);
    decode(layout, inputs, &words, after.buffers, resources)
}

/// What differs, leaving out lanes that are dead.
fn difference(stage: Stage, expected: &Outputs, found: &Outputs) -> Option<String> {
    if expected.live != found.live {
        return Some(format!("live: {:?}, should be {:?}", found.live, expected.live));
    }
    let registers = expected.outputs.len().max(found.outputs.len());
    for register in (0..registers).filter(|_| stage != Stage::Geometry) {
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
    let unlike = |what: &str| Some(format!("{what} differ"));
    if expected.vertices != found.vertices {
        return unlike("vertices");
    }
    if expected.emitted != found.emitted {
        return unlike("emitted vertices");
    }
    if expected.counters != found.counters {
        return unlike("counters");
    }
    if expected.shared != found.shared {
        return unlike("shared memory");
    }
    if expected.buffers != found.buffers {
        return unlike("buffers");
    }
    None
}

/// Which NaN it is does not matter.
fn same(expected: u32, found: u32) -> bool {
    expected == found || (f32::from_bits(expected).is_nan() && f32::from_bits(found).is_nan())
}

/// Runs an optimised shader and its lifted form.
fn compare(shader: &Shader, seeds: u64) -> Result<(), String> {
    let mut lifted = shader.clone();
    let layout = lift(&mut lifted).map_err(|error| error.to_string())?;
    if std::env::var_os("TGSIC_ONLY").is_some() {
        println!("{}", tgsi_ir::text::print(&lifted));
    }
    tgsi_ir::validate::validate(&lifted).map_err(|errors| format!("invalid: {errors:?}"))?;
    for seed in 0..seeds {
        let inputs = inputs(shader, seed);
        let mut expected_texels = AnalyticResources::default();
        let Ok(expected) = tgsi_ir::run::run(shader, &inputs, &mut expected_texels, LIMITS) else { continue };
        for distance in [4, 8] {
            let mut texels = AnalyticResources::default();
            let found = run_lifted(&lifted, &layout, &inputs, distance, &mut texels)?;
            if let Some(difference) = difference(shader.stage, &expected, &found) {
                return Err(format!("inputs {seed}: {difference}"));
            }
            if expected_texels.stored_texels() != texels.stored_texels() {
                return Err(format!("inputs {seed}: stored texels differ"));
            }
        }
    }
    Ok(())
}

/// As the compiler has it before a driver lowers it; none if it is no valid shader.
fn optimized(source: &tgsi::Shader) -> Option<Shader> {
    if tgsi::check::check(source).has_errors() {
        return None;
    }
    let mut shader = tgsi::to_ir::to_ir(source, &tgsi::to_ir::ToIrOptions::default()).ok()?;
    pipeline::into_ssa(&mut shader);
    pipeline::optimize(&mut shader, &tgsi_ir::options::CompilerOptions::default());
    Some(shader)
}

fn parsed(text: &[u8]) -> Option<tgsi::Shader> {
    tgsi::text::parse(text).ok().map(|parsed| parsed.shader)
}

/// The TGSI texts in a folder and the folders in it, in order.
fn texts(folder: PathBuf) -> Vec<PathBuf> {
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

/// Compares the shaders of files; those whose path contains `TGSIC_ONLY`.
fn compare_files(files: &[PathBuf]) -> (usize, Vec<String>) {
    let only = std::env::var("TGSIC_ONLY").unwrap_or_default();
    let (mut count, mut wrong) = (0, Vec::new());
    for file in files.iter().filter(|file| file.to_string_lossy().contains(&only)) {
        let Some(shader) = parsed(&std::fs::read(file).expect("a file")).and_then(|source| optimized(&source)) else {
            continue;
        };
        count += 1;
        if let Err(error) = compare(&shader, 4) {
            wrong.push(format!("{}: {error}", file.display()));
        }
    }
    (count, wrong)
}

fn repository() -> &'static Path {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().find(|folder| folder.join("Cargo.lock").exists()).unwrap_or(crate_folder)
}

#[test]
fn fixtures_compute_the_same() {
    let (count, wrong) = compare_files(&texts(repository().join("fixtures/tgsi")));
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 30 || std::env::var_os("TGSIC_ONLY").is_some(), "{count}");
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn real_shaders_compute_the_same() {
    let shared = std::env::var_os("TGSIC_SHARED").map_or_else(|| repository().join("../shared"), PathBuf::from);
    let (count, wrong) = compare_files(&texts(shared.join("corpus")));
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 1500 || std::env::var_os("TGSIC_ONLY").is_some(), "{count}");
}

#[test]
fn generated_shaders_compute_the_same() {
    let mut wrong = Vec::new();
    for seed in 0..300 {
        let source = tgsi::smith::from_seed(seed, &tgsi::smith::Config::default()).expect("a shader");
        if let Some(shader) = optimized(&source)
            && let Err(error) = compare(&shader, 2)
        {
            wrong.push(format!("{seed}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
