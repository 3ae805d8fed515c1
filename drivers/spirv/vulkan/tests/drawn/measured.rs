//! Times of frames and of vertices on the device and by `driver:cpu`, in turns, one shader after the other.
//!
//! Run them with one thread for both (`LP_NUM_THREADS=0`, `taskset -c 0`) and without a cache of shaders
//! (`MESA_SHADER_CACHE_DISABLE=true`), in a release build; `TGSIC_EVERY=n` takes every n-th shader.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tgsi::tables::Processor;
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::resources::NoResources;
use tgsi_driver_cpu::{Limits, Options};
use tgsi_ir::run::{Inputs, LaneRegisters, Outputs};
use tgsi_spirv_vulkan::draw::{Drawing, PixelFormat, draw_in_time};

use super::runs::{corpus, inputs, parsed, texts};
use super::{
    SIZE, Subject, compile, drawn_in, is_kept, is_out_of_scope, limit_constants, list, number, uniform_inputs, uniforms,
};

/// Pixels of each side of the frames that are measured.
const FRAME: u32 = 1024;

/// Middle of some times.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Milliseconds that something takes.
fn milliseconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = std::time::Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64() * 1000.0, result)
}

/// Real shaders that a condition takes.
fn subjects(processor: Processor, takes: impl Fn(&Subject) -> bool) -> Vec<(PathBuf, Subject)> {
    let every = std::env::var("TGSIC_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(1usize);
    let mut subjects = Vec::new();
    for file in texts(corpus()) {
        let Some(source) = parsed(&std::fs::read(&file).expect("a file")) else { continue };
        if source.processor == processor
            && let Some(subject) = compile(source).filter(&takes)
        {
            subjects.push((file, subject));
        }
    }
    subjects.into_iter().step_by(every).collect()
}

/// What `driver:cpu` makes of a shader.
fn program(subject: &Subject) -> Option<tgsi_driver_cpu::Program> {
    let cpu = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("the options").into());
    let lowered = cpu.ir_at(Stage::Registers, &subject.source).ok()?;
    tgsi_driver_cpu::compile(&lowered, Options::default()).ok()
}

/// The inputs of the first lane in so many.
fn spread(inputs: &Inputs, lanes: usize) -> Inputs {
    let mut spread = Inputs { lanes, helpers: Vec::new(), ..inputs.clone() };
    spread.inputs = LaneRegisters::new(lanes, inputs.inputs.len());
    for register in 0..inputs.inputs.len() {
        for component in 0..4 {
            let word = inputs.inputs.get(register, component, 0);
            spread.inputs.component_mut(register, component).fill(word);
        }
    }
    for row in spread.system_values.values_mut().flatten() {
        let word = row.first().copied().unwrap_or(0);
        row.clear();
        row.resize(lanes, word);
    }
    spread
}

/// A drawing of few pixels, which is mostly compilation, then a frame. The device rasterises and interpolates besides;
/// the other runs the shader for as many fragments.
#[test]
#[ignore = "it measures"]
fn frames_are_measured() {
    // What a drawing takes whatever the shader is.
    let trivial = parsed(b"FRAG\nDCL OUT[0], COLOR\nIMM[0] FLT32 {1, 1, 1, 1}\nMOV OUT[0], IMM[0]\nEND\n");
    let trivial = trivial.and_then(compile).expect("a shader");
    let empty = uniform_inputs(&trivial, 0);
    let fixed = (0..9).map(|_| milliseconds(|| drawn_in(&trivial, &empty, SIZE)).0).fold(f64::INFINITY, f64::min);
    println!("a drawing of few pixels by a trivial shader: {fixed:.2} ms");
    let (mut compiles, mut frames, mut both) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ours_compile, mut theirs_compile) = (Vec::new(), Vec::new());
    for (file, subject) in subjects(Processor::Fragment, |subject| is_out_of_scope(subject).is_none()) {
        let inputs = uniform_inputs(&subject, 1);
        let (first, pixels) = milliseconds(|| drawn_in(&subject, &inputs, SIZE));
        if pixels.is_err() {
            continue;
        }
        let theirs_first = (first - fixed).max(0.0);
        let (large, _) = milliseconds(|| drawn_in(&subject, &inputs, FRAME));
        let theirs_frame = (large - first).max(0.001);
        let (ours_first, program) = milliseconds(|| program(&subject));
        let Some(program) = program else { continue };
        let frame = spread(&inputs, (FRAME * FRAME) as usize);
        let (ours_frame, run) = milliseconds(|| program.run_quads(&frame, &NoResources, Limits::default()));
        if run.is_err() {
            continue;
        }
        println!(
            "compiled in {theirs_first:8.2} and {ours_first:7.2} ms, frame in {theirs_frame:8.2} and {ours_frame:8.2} ms: {}",
            file.file_name().unwrap_or_default().display()
        );
        ours_compile.push(ours_first);
        theirs_compile.push(theirs_first);
        compiles.push(ours_first / theirs_first.max(0.001));
        frames.push(theirs_frame / ours_frame);
        both.push((theirs_first + theirs_frame) / (ours_first + ours_frame));
    }
    println!(
        "{} shaders, medians: compiled in {:.2} and {:.2} ms, ours takes {:.3} of the time; frames {:.2} times as fast, \
         both together {:.2} times",
        frames.len(),
        median(&mut theirs_compile),
        median(&mut ours_compile),
        median(&mut compiles),
        median(&mut frames),
        median(&mut both),
    );
}

/// Vertices that are shaded: whole triangles.
const VERTICES: usize = 3 * 349_525;
/// Vertices that `driver:cpu` is given each time.
const BATCH: usize = 4096;
/// Locations that every device has.
const LOCATIONS: u32 = 16;

/// Whether a vertex shader reads float attributes and constants only, and writes floats.
fn reads_attributes_only(subject: &Subject) -> bool {
    let interface = &subject.interface;
    let are_floats = |name| list(interface, name).iter().all(|v| v["type"] == "float");
    list(interface, "resources").iter().all(|resource| resource["kind"] == "constant_buffer")
        && list(interface, "driver_parameters").is_empty()
        && list(interface, "built_in_inputs").is_empty()
        && are_floats("inputs")
        && are_floats("outputs")
        && !list(interface, "inputs").is_empty()
        && list(interface, "inputs").iter().chain(list(interface, "outputs")).all(|v| number(v, "location") < LOCATIONS)
}

/// A fragment shader that reads every output, so that the device cannot leave out what computes one.
fn reader(subject: &Subject) -> Option<Subject> {
    let mut declarations = String::from("FRAG\nDCL OUT[0], COLOR\nDCL TEMP[0]\nIMM[0] FLT32 {0, 0, 0, 0}\n");
    let mut sum = String::from("MOV TEMP[0], IMM[0]\n");
    let outputs = list(&subject.interface, "outputs").iter();
    let names = outputs.map(|output| (output["semantic"].as_str().unwrap_or("GENERIC"), number(output, "index")));
    for (input, (semantic, index)) in names.collect::<BTreeSet<_>>().into_iter().enumerate() {
        declarations += &format!("DCL IN[{input}], {semantic}[{index}], PERSPECTIVE\n");
        sum += &format!("ADD TEMP[0], TEMP[0], IN[{input}]\n");
    }
    compile(parsed((declarations + &sum + "MOV OUT[0], TEMP[0]\nEND\n").as_bytes())?)
}

/// A million vertices from vertex buffers, four floats for each attribute. Both fetch and shade them. The device has
/// triangles without an area, which it does not rasterise, and one pixel.
#[test]
#[ignore = "it measures"]
fn vertices_are_measured() {
    let (mut ratios, mut theirs, mut ours, mut left_out) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (file, subject) in subjects(Processor::Vertex, reads_attributes_only) {
        let mut inputs = inputs(&subject.lowered, 1);
        limit_constants(&mut inputs);
        let locations = list(&subject.interface, "inputs").iter().map(|input| number(input, "location"));
        let count = locations.max().map_or(0, |last| last as usize + 1);
        let mut vertices = vec![vec![[0.0f32; 4]; VERTICES]; count];
        // Registers of the program, and which attribute each of them is.
        let mut registers = BTreeMap::new();
        for input in list(&subject.interface, "inputs") {
            let (register, location) = (number(input, "register") as usize, number(input, "location") as usize);
            let kept = |word| if is_kept(word) { f32::from_bits(word) } else { (word as i32 as f32).clamp(-9.0, 9.0) };
            let values = std::array::from_fn(|component| kept(inputs.inputs.get(register, component, 0)));
            vertices[location].fill(values);
            registers.insert(register, location);
        }
        let Some(reader) = reader(&subject) else { continue };
        let drawn = |attributes: &[Vec<[f32; 4]>]| {
            let drawing = Drawing {
                vertex: &subject.code,
                fragment: &reader.code,
                size: (1, 1),
                format: PixelFormat::Rgba32Float,
                attributes,
                uniforms: &uniforms(&subject, &inputs),
                textures: &[],
            };
            draw_in_time(&drawing).map(|(_, time)| time)
        };
        let few: Vec<Vec<[f32; 4]>> = vertices.iter().map(|attribute| attribute[..3].to_vec()).collect();
        let Some(program) = program(&subject) else { continue };
        let mut batch = spread(&inputs, BATCH);
        let mut outputs = Outputs::default();
        let mut run = || {
            let start = Instant::now();
            for first in (0..VERTICES).step_by(BATCH) {
                for (&register, &location) in &registers {
                    let fetched = &vertices[location][first..VERTICES.min(first + BATCH)];
                    batch.inputs.set_lanes(register, fetched, |&[x, y, z, w]| {
                        [x.to_bits(), y.to_bits(), z.to_bits(), w.to_bits()]
                    });
                }
                program.run_into(&batch, &NoResources, Limits::default(), &mut outputs).ok()?;
            }
            Some(start.elapsed())
        };
        let (mut first, mut all, mut here) = (Duration::MAX, Duration::MAX, Duration::MAX);
        for _ in 0..3 {
            let (Ok(of_few), Ok(of_all), Some(of_ours)) = (drawn(&few), drawn(&vertices), run()) else { break };
            (first, all, here) = (first.min(of_few), all.min(of_all), here.min(of_ours));
        }
        if here == Duration::MAX {
            left_out += 1;
            continue;
        }
        let (there, here) = (all.saturating_sub(first).as_secs_f64() * 1000.0, here.as_secs_f64() * 1000.0);
        println!("{there:8.2} and {here:8.2} ms: {}", file.file_name().unwrap_or_default().display());
        ratios.push(there / here);
        theirs.push(there);
        ours.push(here);
    }
    println!(
        "{} shaders, {left_out} not taken, {VERTICES} vertices, medians: {:.2} and {:.2} ms, ours is {:.2} times as fast",
        ratios.len(),
        median(&mut theirs),
        median(&mut ours),
        median(&mut ratios),
    );
}
