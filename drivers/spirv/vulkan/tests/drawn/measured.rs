//! Measures the times of frames and of vertices on the device and by `driver:cpu`, alternating for each shader.
//!
//! Run them with one thread each (`LP_NUM_THREADS=0`, `taskset -c 0`) and without a shader cache
//! (`MESA_SHADER_CACHE_DISABLE=true`), in a release build; `TGSIC_EVERY=n` selects every n-th shader.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tgsi::tables::Processor;
use tgsi_compiler::reflection::{Resource, ResourceKind, Varying};
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::sampler::{Format, MipFilter, Sampler, Shape, Size, Texture, Textures};
use tgsi_driver_cpu::{HostResources, NoResources, Options, Program, Shared};
use tgsi_environment::{Inputs, LaneRegisters, Outputs, RunLimits, Vec4};
use tgsi_spirv_vulkan::draw::{Drawing, PixelFormat, Texture as VulkanTexture, draw, time_of};

use super::{
    DrawnShader, SIZE, compile, drawn_in, has_other_interface, is_kept, is_out_of_scope, limit_constants,
    uniform_inputs, uniforms,
};
use crate::runs::{corpus, inputs, parsed, texts};

/// Pixels of each side of the measured frames.
const FRAME: u32 = 1024;

/// Returns the median.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the duration in milliseconds, and the result.
fn milliseconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = std::time::Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64() * 1000.0, result)
}

/// Returns the real shaders that satisfy a condition.
fn subjects(processor: Processor, takes: impl Fn(&DrawnShader) -> bool) -> Vec<(PathBuf, DrawnShader)> {
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

/// Compiles a shader by `driver:cpu`.
fn program(subject: &DrawnShader) -> Option<Program> {
    let cpu = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("the options").into());
    let lowered = cpu.ir_at(Stage::Registers, &subject.source).ok()?;
    tgsi_driver_cpu::compile(&lowered, Options::default()).ok()
}

/// Returns the milliseconds of the fastest of `times` runs except the first, in the same memory.
fn time_here(program: &Program, frame: &Inputs, resources: &dyn HostResources, times: u32) -> Option<f64> {
    let mut outputs = Outputs::default();
    let mut fastest = f64::INFINITY;
    for number in 0..times {
        let (time, run) = milliseconds(|| program.run_into(frame, resources, RunLimits::default(), &mut outputs));
        run.ok()?;
        fastest = if number == 0 { fastest } else { fastest.min(time) };
    }
    Some(fastest)
}

/// Repeats the inputs of the first lane in all lanes.
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

/// Measures a drawing of few pixels, which is mostly compilation, then a frame, the second in the same memory. The
/// device additionally rasterises and interpolates; `driver:cpu` runs the shader for the same number of fragments.
#[test]
#[ignore = "it measures"]
fn frames_are_measured() {
    // The current fixed cost of a drawing, whatever the shader is.
    let trivial = parsed(b"FRAG\nDCL OUT[0], COLOR\nIMM[0] FLT32 {1, 1, 1, 1}\nMOV OUT[0], IMM[0]\nEND\n");
    let trivial = trivial.and_then(compile).expect("a shader");
    let empty = uniform_inputs(&trivial, 0);
    let (mut compiles, mut frames, mut both) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ours_compile, mut theirs_compile) = (Vec::new(), Vec::new());
    for (file, subject) in subjects(Processor::Fragment, |subject| is_out_of_scope(subject).is_none()) {
        let inputs = uniform_inputs(&subject, 1);
        let (fixed, _) = milliseconds(|| drawn_in(&trivial, &empty, SIZE, draw));
        let (first, pixels) = milliseconds(|| drawn_in(&subject, &inputs, SIZE, draw));
        let (Ok(_), Ok(time)) = (pixels, drawn_in(&subject, &inputs, FRAME, time_of)) else { continue };
        let theirs_first = (first - fixed).max(0.0);
        let theirs_frame = time.as_secs_f64() * 1000.0;
        let (ours_first, program) = milliseconds(|| program(&subject));
        let Some(program) = program else { continue };
        let frame = spread(&inputs, (FRAME * FRAME) as usize);
        let Some(ours_frame) = time_here(&program, &frame, &NoResources, 2) else { continue };
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

/// Texels of each side of the texture.
const TEXELS: u32 = 256;

/// Returns whether a shader uses only 2D float textures, and constants.
fn has_plain_textures(subject: &DrawnShader) -> bool {
    let resources = &subject.interface.resources;
    let is_texture =
        |resource: &Resource| resource.kind == ResourceKind::CombinedTexture && resource.about == "2d float";
    let is_plain = |resource: &Resource| is_texture(resource) && resource.count == 1;
    resources.iter().any(is_texture)
        && resources.iter().all(|resource| resource.kind == ResourceKind::ConstantBuffer || is_plain(resource))
        && has_other_interface(subject).is_none()
}

/// Measures frames of shaders with textures; every input covers the texture once. The device additionally rasterises
/// and interpolates; here fragments have their inputs. Texels are bytes, filtered linearly.
#[test]
#[ignore = "it measures"]
fn textured_frames_are_measured() {
    let texels: Vec<u8> = (0..TEXELS * TEXELS).flat_map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let size = Size::of_image(TEXELS, TEXELS);
    let texture = Texture::with_texels(Shape::D2, Format::Rgba8Unorm, size, 1, texels.clone()).expect("a texture");
    let mut textures = Textures::new();
    textures.set_default(Arc::new(texture), Sampler { mip_filter: MipFilter::None, ..Sampler::default() });
    let mut ratios = Vec::new();
    for (file, subject) in subjects(Processor::Fragment, has_plain_textures) {
        let inputs = uniform_inputs(&subject, 1);
        let theirs = textured_on_device(&subject, &inputs, &texels);
        let ours = textured_here(&subject, &inputs, &textures);
        let (Some(theirs), Some(ours)) = (theirs, ours) else { continue };
        println!("{theirs:8.2} and {ours:8.2} ms: {}", file.file_name().unwrap_or_default().display());
        ratios.push(theirs / ours);
    }
    println!("{} shaders, ours is {:.2} times as fast at the median", ratios.len(), median(&mut ratios));
}

/// Returns the milliseconds of a frame on the device.
fn textured_on_device(subject: &DrawnShader, inputs: &Inputs, texels: &[u8]) -> Option<f64> {
    let mut vertex = String::from("VERT\nDCL IN[0]\nDCL IN[1]\nDCL OUT[0], POSITION\n");
    let mut moves = String::from("MOV OUT[0], IN[0]\n");
    let names = subject.interface.inputs.iter();
    let names = names.map(|input| (input.semantic.as_deref().unwrap_or("GENERIC"), input.index));
    for (output, (semantic, index)) in (1..).zip(names.collect::<BTreeSet<_>>()) {
        vertex += &format!("DCL OUT[{output}], {semantic}[{index}]\n");
        moves += &format!("MOV OUT[{output}], IN[1]\n");
    }
    let vertex = compile(parsed((vertex + &moves + "END\n").as_bytes())?)?;
    let corners = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]];
    let attributes = [
        corners.map(|[x, y]| [2.0 * x - 1.0, 2.0 * y - 1.0, 0.5, 1.0]).to_vec(),
        corners.map(|[x, y]| [x, y, 0.5, 1.0]).to_vec(),
    ];
    let resources = subject.interface.resources.iter();
    let textures: Vec<VulkanTexture> = resources
        .filter(|resource| resource.kind == ResourceKind::CombinedTexture)
        .map(|resource| VulkanTexture {
            set: resource.set,
            binding: resource.binding,
            size: (TEXELS, TEXELS),
            texels: texels.to_vec(),
        })
        .collect();
    let drawing = Drawing {
        vertex: &vertex.code,
        fragment: &subject.code,
        size: (FRAME, FRAME),
        format: PixelFormat::Rgba32Float,
        attributes: &attributes,
        uniforms: &uniforms(subject, inputs),
        textures: &textures,
    };
    let times = (0..3).map(|_| time_of(&drawing).map(|time| time.as_secs_f64() * 1000.0));
    times.collect::<Result<Vec<f64>, String>>().ok()?.into_iter().reduce(f64::min)
}

/// Returns the milliseconds of the same number of fragments by `driver:cpu`.
fn textured_here(subject: &DrawnShader, inputs: &Inputs, textures: &Textures) -> Option<f64> {
    let cpu = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("the options").into());
    let lowered = cpu.ir_at(Stage::Registers, &subject.source).ok()?;
    let program = tgsi_driver_cpu::compile(&lowered, Options { machine_code: false, ..Options::default() }).ok()?;
    let known = program.known_units(&mut Shared(textures));
    let program = tgsi_driver_cpu::compile_with(&lowered, Options::default(), &known).ok()?;
    let mut frame = spread(inputs, (FRAME * FRAME) as usize);
    let places = (0..FRAME * FRAME).map(|lane| {
        let (quad, corner) = (lane / 4, lane % 4);
        let (x, y) = (2 * (quad % (FRAME / 2)) + corner % 2, 2 * (quad / (FRAME / 2)) + corner / 2);
        [x, y].map(|pixel| (pixel as f32 + 0.5) / FRAME as f32)
    });
    let rows: Vec<Vec4> = places.map(|[x, y]| [x, y, 0.5, 1.0].map(f32::to_bits)).collect();
    for input in &subject.interface.inputs {
        frame.inputs.set_lanes(input.register as usize, &rows, |&row| row);
    }
    time_here(&program, &frame, textures, 4)
}

/// The number of shaded vertices: whole triangles.
const VERTICES: usize = 3 * 349_525;
/// The number of vertices in each call of `driver:cpu`.
const BATCH: usize = 4096;
/// The number of locations that every device has.
const LOCATIONS: u32 = 16;

/// Returns whether a vertex shader reads only float attributes and constants, and writes only floats.
fn reads_attributes_only(subject: &DrawnShader) -> bool {
    let interface = &subject.interface;
    let are_floats = |list: &[Varying]| list.iter().all(|varying| varying.ty == "float");
    interface.resources.iter().all(|resource| resource.kind == ResourceKind::ConstantBuffer)
        && interface.driver_parameters.is_empty()
        && interface.built_in_inputs.is_empty()
        && are_floats(&interface.inputs)
        && are_floats(&interface.outputs)
        && !interface.inputs.is_empty()
        && interface.inputs.iter().chain(&interface.outputs).all(|v| v.location < LOCATIONS)
}

/// Returns a fragment shader that reads every output, so that the device must compute them all.
fn reader(subject: &DrawnShader) -> Option<DrawnShader> {
    let mut declarations = String::from("FRAG\nDCL OUT[0], COLOR\nDCL TEMP[0]\nIMM[0] FLT32 {0, 0, 0, 0}\n");
    let mut sum = String::from("MOV TEMP[0], IMM[0]\n");
    let outputs = subject.interface.outputs.iter();
    let names = outputs.map(|output| (output.semantic.as_deref().unwrap_or("GENERIC"), output.index));
    for (input, (semantic, index)) in names.collect::<BTreeSet<_>>().into_iter().enumerate() {
        declarations += &format!("DCL IN[{input}], {semantic}[{index}], PERSPECTIVE\n");
        sum += &format!("ADD TEMP[0], TEMP[0], IN[{input}]\n");
    }
    compile(parsed((declarations + &sum + "MOV OUT[0], TEMP[0]\nEND\n").as_bytes())?)
}

/// Measures a million vertices from vertex buffers, four floats for each attribute. Both fetch and shade them. The
/// device draws triangles without an area, which it does not rasterise, and one pixel.
#[test]
#[ignore = "it measures"]
fn vertices_are_measured() {
    let (mut ratios, mut theirs, mut ours, mut left_out) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (file, subject) in subjects(Processor::Vertex, reads_attributes_only) {
        let mut inputs = inputs(&subject.lowered, 1);
        limit_constants(&mut inputs);
        let locations = subject.interface.inputs.iter().map(|input| input.location);
        let count = locations.max().map_or(0, |last| last as usize + 1);
        let mut vertices = vec![vec![[0.0f32; 4]; VERTICES]; count];
        // The registers of the program, and the attribute of each.
        let mut registers = BTreeMap::new();
        for input in &subject.interface.inputs {
            let (register, location) = (input.register as usize, input.location as usize);
            let kept = |word| if is_kept(word) { f32::from_bits(word) } else { (word as i32 as f32).clamp(-9.0, 9.0) };
            let values = std::array::from_fn(|component| kept(inputs.inputs.get(register, component, 0)));
            vertices[location].fill(values);
            registers.insert(register, location);
        }
        let Some(reader) = reader(&subject) else { continue };
        let drawing = Drawing {
            vertex: &subject.code,
            fragment: &reader.code,
            size: (1, 1),
            format: PixelFormat::Rgba32Float,
            attributes: &vertices,
            uniforms: &uniforms(&subject, &inputs),
            textures: &[],
        };
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
                program.run_into(&batch, &NoResources, RunLimits::default(), &mut outputs).ok()?;
            }
            Some(start.elapsed())
        };
        let (mut there, mut here) = (Duration::MAX, Duration::MAX);
        for _ in 0..3 {
            let (Ok(of_device), Some(of_ours)) = (time_of(&drawing), run()) else { break };
            (there, here) = (there.min(of_device), here.min(of_ours));
        }
        if here == Duration::MAX {
            left_out += 1;
            continue;
        }
        let [there, here] = [there, here].map(|time| time.as_secs_f64() * 1000.0);
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
