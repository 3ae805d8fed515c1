//! Linked shaders: `spirv-val` must accept both, and a vertex shader followed by a fragment shader must compute the
//! same as before linking, in the interpreter of the IR.
//!
//! Few real shaders are available with their counterpart. Every fragment, geometry and tessellation shader is therefore
//! paired with the shader of the previous stage that writes most of its inputs: missing outputs are zero, superfluous
//! ones are removed. `TGSIC_ONLY=text` restricts the runs to readers with paths that contain the text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use crate::common::{shaders, shared};
use rayon::prelude::*;
use tgsi::tables::{File, Processor, Semantic};
use tgsi_compiler::front_end::{Reading, TGSI_TEXT};
use tgsi_compiler::{Compiler, Driver, Source, Stage};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, RunLimits};
use tgsi_ir::passes::linking::LinkOptions;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::slots::VaryingSlot;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Shader, run};

const LANES: usize = 4;

/// Returns the registers of inputs or outputs by slot.
fn registers(shader: &Shader, mode: VariableModes) -> BTreeMap<(bool, i32), usize> {
    let mut registers = BTreeMap::new();
    for (_, data) in shader.globals_with(mode) {
        let mut ty = data.ty;
        if data.per_vertex
            && let tgsi_ir::types::TypeData::Array { element, .. } = *shader.types.get(ty)
        {
            ty = element;
        }
        for number in 0..shader.types.array_elements(ty).max(1) {
            let slot = (data.patch, data.location + number as i32);
            registers.entry(slot).or_insert((data.driver_location + number) as usize);
        }
    }
    registers
}

/// Returns a pseudo-random float derived from some numbers.
fn made_up(numbers: [usize; 4]) -> u32 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for number in numbers {
        state = (state ^ number as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
    }
    ((state % 4001) as f32 / 1000.0 - 2.0).to_bits()
}

fn inputs_of(seed: usize) -> Inputs {
    // Shared by both stages, so that it does not matter which one loads them.
    let constants = (0..4).map(|buffer| (0..1024).map(|word| made_up([7, seed, buffer, word])).collect()).collect();
    Inputs {
        lanes: LANES,
        inputs: LaneRegisters::new(LANES, 0),
        constants,
        buffers: vec![vec![0; 256]; 4],
        counters: vec![vec![0; 16]; 4],
        ..Inputs::default()
    }
}

fn execute(shader: &Shader, inputs: &Inputs) -> Result<Outputs, String> {
    let mut resources = AnalyticResources::default();
    run::run(shader, inputs, &mut resources, RunLimits::of_steps(200_000)).map_err(|error| error.to_string())
}

/// Runs a vertex shader with generated attributes, and a fragment shader with its outputs. Returns the inputs of the
/// rasteriser and of the framebuffer.
fn run_both(vertex: &Shader, fragment: &Shader, seed: usize) -> Result<(BTreeMap<i32, Vec<u32>>, Outputs), String> {
    let mut inputs = inputs_of(seed);
    for register in 0..40 {
        for component in 0..4 {
            for lane in 0..LANES {
                inputs.inputs.set(register, component, lane, made_up([register, component, lane, seed]));
            }
        }
    }
    let outputs = execute(vertex, &inputs)?;
    let written = registers(vertex, VariableModes::SHADER_OUT);
    let mut inputs = inputs_of(seed);
    for ((_, slot), register) in registers(fragment, VariableModes::SHADER_IN) {
        let is_made =
            [VaryingSlot::POS, VaryingSlot::FACE, VaryingSlot::PNTC, VaryingSlot::PRIMITIVE_ID, VaryingSlot::LAYER]
                .map(i32::from);
        for component in 0..4 {
            for lane in 0..LANES {
                let word = match written.get(&(false, slot)) {
                    _ if is_made.contains(&slot) => made_up([slot as usize, component, lane, seed + 99]),
                    Some(&register) => outputs.outputs.get(register, component, lane),
                    None => 0,
                };
                inputs.inputs.set(register, component, lane, word);
            }
        }
    }
    let fixed =
        [VaryingSlot::POS, VaryingSlot::PSIZ, VaryingSlot::CLIP_DIST0, VaryingSlot::CLIP_DIST1, VaryingSlot::LAYER];
    let fixed = fixed.map(i32::from).into_iter().filter_map(|slot| {
        let register = *written.get(&(false, slot))?;
        let words = (0..4).flat_map(|component| outputs.outputs.component(register, component).to_vec());
        Some((slot, words.collect()))
    });
    let fixed = fixed.collect();
    Ok((fixed, execute(fragment, &inputs)?))
}

/// Returns whether two words are equal, or nearly equal floats.
fn is_close(a: u32, b: u32) -> bool {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    a == b || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-4 * x.abs().max(y.abs()).max(1e-3)
}

/// Compares two runs.
fn compare(a: &(BTreeMap<i32, Vec<u32>>, Outputs), b: &(BTreeMap<i32, Vec<u32>>, Outputs)) -> Result<(), String> {
    for (slot, words) in &a.0 {
        let other = b.0.get(slot).ok_or_else(|| format!("slot {slot} has gone"))?;
        if words.iter().zip(other).any(|(&x, &y)| !is_close(x, y)) {
            return Err(format!("slot {slot}: {words:x?} and {other:x?}"));
        }
    }
    let (a, b) = (&a.1, &b.1);
    if a.live != b.live {
        return Err(format!("live {:?} and {:?}", a.live, b.live));
    }
    for register in 0..a.outputs.len().max(b.outputs.len()) {
        for component in 0..4 {
            for lane in (0..LANES).filter(|&lane| a.live.get(lane) == Some(&true)) {
                let (x, y) = (a.outputs.get(register, component, lane), b.outputs.get(register, component, lane));
                if !is_close(x, y) {
                    return Err(format!("OUT[{register}].{component} lane {lane}: {x:#x} and {y:#x}"));
                }
            }
        }
    }
    if a.buffers == b.buffers { Ok(()) } else { Err("buffers".to_owned()) }
}

/// A real shader.
struct CorpusShader {
    path: PathBuf,
    shader: tgsi::Shader,
    /// The result of translating it alone.
    lowered: Shader,
}

fn read(compiler: &Compiler, text: &[u8], path: PathBuf) -> Option<CorpusShader> {
    let Reading { source, .. } = compiler.read(&TGSI_TEXT, text);
    let Some(Source::Tgsi(shader)) = source else { return None };
    let shader = shader.into_owned();
    let lowered = compiler.ir_at(Stage::Registers, &shader).ok()?;
    Some(CorpusShader { path, shader, lowered })
}

/// Totals over the linked pairs.
#[derive(Default, Debug)]
struct Totals {
    pairs: usize,
    run: usize,
    not_run: usize,
    slots: [u32; 2],
    instructions: [[usize; 2]; 2],
    moved: [u32; 5],
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn real_shaders_compute_the_same_and_are_valid() {
    let target = tgsi_driver_spirv::DRIVER.target(&["vulkan1.1", "no_contraction"]).expect("known options");
    let compiler = Compiler::for_target(target.into());
    let only = std::env::var("TGSIC_ONLY").unwrap_or_default();
    let every = std::env::var("TGSIC_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(1usize);
    let paths = shaders(&shared("corpus"));
    let all: Vec<CorpusShader> =
        paths.into_par_iter().filter_map(|path| read(&compiler, &std::fs::read(&path).ok()?, path)).collect();
    let slots = |shader: &Shader, mode| registers(shader, mode).into_keys().collect::<BTreeSet<_>>();
    let outputs: Vec<_> = all.iter().map(|real| slots(&real.lowered, VariableModes::SHADER_OUT)).collect();
    let pairs: Vec<(&CorpusShader, &CorpusShader)> = all
        .iter()
        .filter(|reader| reader.path.to_string_lossy().contains(&only))
        .enumerate()
        .step_by(every)
        .filter_map(|(number, reader)| {
            let before = match reader.lowered.stage {
                ShaderStage::Fragment if number % 8 == 1 => ShaderStage::Geometry,
                ShaderStage::Fragment if number % 8 == 2 => ShaderStage::TessEval,
                ShaderStage::TessEval => ShaderStage::TessCtrl,
                ShaderStage::Fragment | ShaderStage::Geometry | ShaderStage::TessCtrl => ShaderStage::Vertex,
                _ => return None,
            };
            let read = slots(&reader.lowered, VariableModes::SHADER_IN);
            let fit = |other: usize| (read.intersection(&outputs[other]).count(), (other * 7 + number) % 64);
            let same_stage = (0..all.len()).filter(|&other| all[other].lowered.stage == before);
            Some((&all[same_stage.max_by_key(|&other| fit(other))?], reader))
        })
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let (mut totals, mut wrong) = (Totals::default(), Vec::new());
    let results: Vec<Result<Totals, String>> = pairs
        .par_iter()
        .enumerate()
        .map(|(number, (writer, reader))| {
            let name = || format!("{} {}", writer.path.display(), reader.path.display());
            let mut own = Totals { pairs: 1, ..Totals::default() };
            let sources = vec![Source::from(&writer.shader), Source::from(&reader.shader)];
            let options = LinkOptions { shares_constants: number % 2 == 0, ..LinkOptions::default() };
            let program = compiler.link(sources, &options).map_err(|e| format!("{}: {e}", name()))?;
            let report = program.reports[0];
            own.slots = [report.slots_before, report.slots_after];
            own.moved = [report.removed, report.zeros, report.constants, report.uniforms, report.duplicates];
            own.instructions = [program.shaders[0].instructions, program.shaders[1].instructions];
            if (writer.lowered.stage, reader.lowered.stage) == (ShaderStage::Vertex, ShaderStage::Fragment) {
                for seed in 0..3 {
                    let (Ok(before), Ok(after)) = (
                        run_both(&writer.lowered, &reader.lowered, seed),
                        run_both(&program.shaders[0].lowered, &program.shaders[1].lowered, seed),
                    ) else {
                        own.not_run = 1;
                        break;
                    };
                    own.run = 1;
                    compare(&before, &after).map_err(|e| format!("{}: {e}", name()))?;
                }
            }
            for (side, shader) in program.shaders.into_iter().enumerate() {
                let module = folder.path().join(format!("{number}-{side}.spv"));
                std::fs::write(&module, shader.code.into_bytes()).expect("a file");
                let output = Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(&module).output();
                let output = output.expect("spirv-val");
                if !output.status.success() {
                    let message = String::from_utf8_lossy(&output.stderr).into_owned();
                    return Err(format!("{}: {message}{}", name(), String::from_utf8_lossy(&output.stdout)));
                }
            }
            Ok(own)
        })
        .collect();
    for result in results {
        match result {
            Ok(own) => {
                totals.pairs += own.pairs;
                totals.run += own.run;
                totals.not_run += own.not_run;
                (0..2).for_each(|i| totals.slots[i] += own.slots[i]);
                (0..5).for_each(|i| totals.moved[i] += own.moved[i]);
                (0..4).for_each(|i| totals.instructions[i / 2][i % 2] += own.instructions[i / 2][i % 2]);
            }
            Err(error) => wrong.push(error),
        }
    }
    println!("{totals:?}");
    assert!(wrong.is_empty(), "{} of {} wrong\n{}", wrong.len(), pairs.len(), wrong[..wrong.len().min(12)].join("\n"));
    assert!(!only.is_empty() || every > 1 || (totals.run > 500 && totals.not_run < 40), "{totals:?}");
}

/// Gives the outputs of a vertex shader the semantics of a fragment shader's inputs, until either run out.
fn meet(vertex: &mut tgsi::Shader, fragment: &tgsi::Shader) {
    let inputs = fragment.declarations.iter().filter(|d| d.file == File::Input);
    let free = inputs.filter_map(|d| d.semantic.map(|semantic| (semantic.name, semantic.index, d.last - d.first)));
    let mut free = free.filter(|(name, ..)| matches!(name, Semantic::Generic | Semantic::TexCoord | Semantic::Color));
    let mut next = 100;
    for output in vertex.declarations.iter_mut().filter(|d| d.file == File::Output) {
        let Some(semantic) = &mut output.semantic else { continue };
        if !matches!(semantic.name, Semantic::Generic | Semantic::TexCoord | Semantic::Color) {
            continue;
        }
        match free.next() {
            Some((name, index, more)) if more >= output.last - output.first => {
                (semantic.name, semantic.index) = (name, index);
            }
            // The others need distinct semantics.
            _ => {
                (semantic.name, semantic.index) = (Semantic::Generic, next);
                next += output.last - output.first + 1;
            }
        }
    }
}

/// Links pairs of generated vertex and fragment shaders: their results must not change.
#[test]
fn generated_shaders_compute_the_same() {
    let count = std::env::var("TGSIC_COUNT").ok().and_then(|n| n.parse().ok()).unwrap_or(150u64);
    let target = tgsi_driver_spirv::DRIVER.target(&["vulkan1.3", "no_contraction", "bindless"]).expect("known options");
    let compiler = Compiler::for_target(target.into());
    let made = |stage, seed| {
        let config = tgsi_smith::Config::default().with_stage(stage);
        tgsi_smith::from_seed(seed, &config).expect("a shader")
    };
    let results: Vec<Result<(u32, u32), String>> = (0..count)
        .into_par_iter()
        .filter_map(|seed| {
            let (mut vertex, fragment) = (made(Processor::Vertex, seed), made(Processor::Fragment, seed + 7919));
            meet(&mut vertex, &fragment);
            let alone = |shader: &tgsi::Shader| compiler.ir_at(Stage::Registers, shader);
            // Shaders that SPIR-V cannot express are not the subject of this test.
            let (Ok(first), Ok(second)) = (alone(&vertex), alone(&fragment)) else { return None };
            let options = LinkOptions { shares_constants: seed % 3 == 0, ..LinkOptions::default() };
            let sources = vec![Source::from(&vertex), Source::from(&fragment)];
            let program = match compiler.link(sources, &options) {
                Ok(program) => program,
                Err(error) if error.to_string().contains("Vulkan ") => return None,
                Err(error) => return Some(Err(format!("{seed}: {error}"))),
            };
            for inputs in 0..3 {
                let before = run_both(&first, &second, inputs);
                let after = run_both(&program.shaders[0].lowered, &program.shaders[1].lowered, inputs);
                let result = match (&before, &after) {
                    (Ok(before), Ok(after)) => compare(before, after),
                    (before, after) => Err(format!("{:?} {:?}", before.as_ref().err(), after.as_ref().err())),
                };
                if let Err(error) = result {
                    return Some(Err(format!("{seed}: {error}")));
                }
            }
            Some(Ok((program.reports[0].slots_before, program.reports[0].slots_after)))
        })
        .collect();
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} of {}: {:#?}", wrong.len(), results.len(), &wrong[..wrong.len().min(10)]);
    let slots = results.iter().flatten().fold((0, 0), |(a, b), (x, y)| (a + x, b + y));
    println!("{} pairs, slots {slots:?}", results.len());
    assert!(results.len() as u64 > count / 2 && slots.1 < slots.0, "{} pairs, {slots:?}", results.len());
}

/// Unwritten parts of a dynamically indexed array read as zero.
#[test]
fn parts_of_arrays_that_nobody_writes_have_no_location() {
    let target = tgsi_driver_spirv::DRIVER.target(&["vulkan1.1"]).expect("known options");
    let compiler = Compiler::for_target(target.into());
    let vertex = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[4]\nDCL OUT[2], GENERIC[6]\nMOV OUT[0], \
                  IN[0]\nMOV OUT[1], IN[0].yxwz\nMOV OUT[2], IN[0].xxxx\nEND\n";
    let fragment = "FRAG\nDCL IN[0..2], ARRAY(1), GENERIC[4], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0]\nDCL \
                    ADDR[0]\nUARL ADDR[0].x, CONST[0].xxxx\nMOV OUT[0], IN[ADDR[0].x](1)\nEND\n";
    let sources = [vertex, fragment]
        .map(|text| compiler.read(&TGSI_TEXT, text.as_bytes()).source.unwrap_or_else(|| panic!("{text}")));
    let program = compiler.link(sources.into(), &LinkOptions::default()).expect("a program");
    let locations = |shader: &tgsi_compiler::Linked, is_output: bool| -> Vec<u32> {
        let reflection = shader.target.reflect(&shader.lowered).expect("a reflection").expect("a reflection");
        let list = if is_output { reflection.outputs } else { reflection.inputs };
        list.iter().map(|varying| varying.location).collect()
    };
    assert_eq!(locations(&program.shaders[0], true), [0, 1]);
    assert_eq!(locations(&program.shaders[1], false), [0, 1]);
    for seed in 0..3 {
        let alone = [0, 1].map(|shader| {
            let source = compiler.read(&TGSI_TEXT, [vertex, fragment][shader].as_bytes()).source;
            compiler.ir_at(Stage::Registers, source.expect("a shader")).expect("IR")
        });
        let before = run_both(&alone[0], &alone[1], seed).expect("results");
        let after = run_both(&program.shaders[0].lowered, &program.shaders[1].lowered, seed).expect("results");
        compare(&before, &after).expect("the same");
    }
}

/// Links pipelines of three and more generated shaders: each must translate, and `spirv-val` must accept it.
#[test]
fn generated_pipelines_are_valid() {
    use Processor::{Fragment, Geometry, TessControl, TessEval, Vertex};
    let target = tgsi_driver_spirv::DRIVER.target(&["vulkan1.3", "bindless"]).expect("known options");
    let compiler = Compiler::for_target(target.into());
    let folder = tempfile::tempdir().expect("a folder");
    let pipelines: [&[Processor]; 3] =
        [&[Vertex, Geometry, Fragment], &[Vertex, TessControl, TessEval, Fragment], &[TessControl, TessEval, Geometry]];
    let wrong: Vec<String> = (0..90u64)
        .into_par_iter()
        .filter_map(|seed| {
            let stages = pipelines[(seed % 3) as usize];
            let mut shaders: Vec<tgsi::Shader> = stages
                .iter()
                .map(|&stage| {
                    let config = tgsi_smith::Config::default().with_stage(stage);
                    tgsi_smith::from_seed(seed, &config).expect("a shader")
                })
                .collect();
            for first in 0..shaders.len() - 1 {
                let reader = shaders[first + 1].clone();
                meet(&mut shaders[first], &reader);
            }
            let sources = shaders.iter().map(Source::from).collect();
            let program = match compiler.link(sources, &LinkOptions::default()) {
                Ok(program) => program,
                Err(error) if error.to_string().contains("Vulkan ") => return None,
                Err(error) => return Some(format!("{seed}: {error}")),
            };
            program.shaders.into_iter().enumerate().find_map(|(place, shader)| {
                let module = folder.path().join(format!("{seed}-{place}.spv"));
                std::fs::write(&module, shader.code.into_bytes()).expect("a file");
                let output = Command::new("spirv-val").args(["--target-env", "vulkan1.3"]).arg(&module).output();
                // The tests of single shaders report a missing program.
                let output = output.ok()?;
                (!output.status.success()).then(|| format!("{seed}: {}", String::from_utf8_lossy(&output.stderr)))
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(5)]);
}
