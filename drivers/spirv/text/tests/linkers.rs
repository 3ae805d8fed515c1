//! Checks that the stages of a pipeline link, translated separately and together, using linkers of other projects.
//!
//! | target | linker |
//! |---|---|
//! | GLSL, ESSL | Mesa's, of OpenGL 4.5 and OpenGL ES 3.2 |
//! | SPIR-V for OpenGL | Mesa's of OpenGL 4.5 |
//! | SPIR-V for Vulkan | `spirv-val`, and the rules for interfaces; lavapipe draws pairs |
//! | WGSL | naga's reader, and the rules for interfaces |
//!
//! All pipelines that a language can express must link; the driver must reject the others with an error. Real shaders
//! are every 48th, every 8th with `TGSIC_LONG`, or every n-th with `TGSIC_EVERY=n`. `TGSIC_ONLY=text` restricts
//! pipelines to those with the text in their name.

#[cfg(feature = "spirv-cross")]
#[path = "linkers/gl.rs"]
mod gl;
#[path = "linkers/pipelines.rs"]
mod pipelines;
#[path = "linkers/spirv.rs"]
mod spirv;
#[path = "linkers/wgsl.rs"]
mod wgsl;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pipelines::Pipeline;
use rayon::prelude::*;
use tgsi::tables::Processor;
use tgsi_compiler::front_end::{Reading, TGSI_TEXT};
use tgsi_compiler::reflection::Reflection;
use tgsi_compiler::{Compiler, Driver, Source, Target};
use tgsi_driver_spirv_text::WGSL;
use tgsi_ir::passes::linking::LinkOptions;

/// Bytes of code that Mesa compiles quickly. Larger texts are mostly arithmetic.
#[cfg(feature = "spirv-cross")]
const MAX_BYTES: usize = 50_000;

/// Mesa's messages for unsupported extensions.
#[cfg(feature = "spirv-cross")]
const LACKING: &[&str] = &["No extensions available", "' unsupported in"];

/// The code of each stage of a pipeline, with its reflection.
type Translated = Vec<(Processor, Vec<u8>, Reflection)>;

fn target(driver: &dyn Driver, options: &[&str]) -> Arc<dyn Target> {
    driver.target(options).expect("known options").into()
}

/// Translates each shader separately.
fn separately(compiler: &Compiler, pipeline: &Pipeline) -> Result<Translated, String> {
    let one = |shader: &tgsi::Shader| {
        let reflected = compiler.start(shader).and_then(|mut compilation| compilation.reflect());
        let code = compiler.compile(shader).map_err(|error| format!("{} {error}", error.code().id))?;
        let interface = reflected.ok().flatten().unwrap_or_default();
        Ok((shader.processor, code.into_bytes(), interface))
    };
    pipeline.shaders.iter().map(one).collect()
}

fn together(compiler: &Compiler, pipeline: &Pipeline, number: usize) -> Result<Translated, String> {
    let options = LinkOptions { shares_constants: number.is_multiple_of(3), ..LinkOptions::default() };
    let sources = pipeline.shaders.iter().map(Source::from).collect();
    let program = compiler.link(sources, &options).map_err(|error| error.to_string())?;
    let one = |(linked, source): (tgsi_compiler::Linked, &tgsi::Shader)| {
        let interface = linked.target.reflect(&linked.lowered).and_then(Result::ok).unwrap_or_default();
        (source.processor, linked.code.into_bytes(), interface)
    };
    Ok(program.shaders.into_iter().zip(&pipeline.shaders).map(one).collect())
}

fn wanted(pipelines: impl Iterator<Item = Pipeline>) -> Vec<Pipeline> {
    let only = std::env::var("TGSIC_ONLY").unwrap_or_default();
    pipelines.filter(|pipeline| pipeline.name.contains(&only)).collect()
}

/// Builds pipelines around real shaders.
fn real() -> Vec<Pipeline> {
    let every = crate::common::every(48, 8);
    let compiler = Compiler::for_target(target(&tgsi_driver_spirv::DRIVER, &[]));
    let read = |path: &PathBuf| {
        let bytes = std::fs::read(path).expect("a file");
        let Reading { source, .. } = compiler.read(&TGSI_TEXT, &bytes);
        let Some(Source::Tgsi(shader)) = source else { return None };
        Some((path.display().to_string(), shader.into_owned()))
    };
    let paths = crate::common::shaders(&crate::common::shared("corpus"));
    let all: Vec<(String, tgsi::Shader)> = paths.par_iter().filter_map(read).collect();
    let is_vertex = |shader: &&(String, tgsi::Shader)| shader.1.processor == Processor::Vertex;
    let writers: Vec<tgsi::Shader> = all.iter().filter(is_vertex).map(|(_, shader)| shader.clone()).collect();
    wanted(all.iter().step_by(every).enumerate().flat_map(|(number, (name, shader))| {
        let around = pipelines::around(name, shader, number);
        around.into_iter().chain(pipelines::behind_best(name, shader, &writers))
    }))
}

fn made() -> Vec<Pipeline> {
    wanted(pipelines::made().into_iter())
}

/// The link failures, and how often the driver rejected a shader.
#[derive(Default)]
struct Report {
    linked: usize,
    refused: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Report {
    /// Fails if a pipeline does not link, or if fewer than the share `least` remain to be linked.
    fn assert(&self, name: &str, least: f64) {
        let all = self.linked + self.refused.values().sum::<usize>() + self.wrong.len();
        println!("{name}: {} of {all} link, {} do not; refused: {:#?}", self.linked, self.wrong.len(), self.refused);
        let some = &self.wrong[..self.wrong.len().min(20)];
        assert!(some.is_empty(), "{name}: {} of {all} do not link:\n{}", self.wrong.len(), some.join("\n"));
        let share = self.linked as f64 / all.max(1) as f64;
        assert!(share >= least, "{name}: only {} of {all} were left to be linked", self.linked);
    }
}

/// Translates pipelines separately and together, and names each. Pipelines that the driver rejects are counted.
fn translate(compiler: &Compiler, pipelines: &[Pipeline], report: &mut Report) -> Vec<(String, Translated)> {
    let both = |(number, pipeline): (usize, &Pipeline)| {
        let separate = pipeline.is_complete.then(|| separately(compiler, pipeline));
        let separate = separate.map(|result| (format!("{}, separately", pipeline.name), result));
        let linked = (format!("{}, together", pipeline.name), together(compiler, pipeline, number));
        separate.into_iter().chain([linked])
    };
    let results: Vec<_> = pipelines.par_iter().enumerate().flat_map_iter(both).collect();
    let mut translated = Vec::new();
    for (name, result) in results {
        match result {
            Ok(code) => translated.push((name, code)),
            Err(error) => *report.refused.entry(error.lines().next().unwrap_or_default().to_owned()).or_default() += 1,
        }
    }
    translated
}

#[cfg(feature = "spirv-cross")]
const fn suffix(stage: Processor) -> &'static str {
    match stage {
        Processor::Vertex => "vert",
        Processor::Fragment => "frag",
        Processor::Geometry => "geom",
        Processor::TessControl => "tesc",
        Processor::TessEval => "tese",
        Processor::Compute | Processor::Task | Processor::Mesh => "comp",
    }
}

/// Returns Mesa's linkers; prints a message if they are missing.
#[cfg(feature = "spirv-cross")]
fn mesa() -> Option<&'static gl::Linkers> {
    static LINKERS: std::sync::LazyLock<Result<gl::Linkers, String>> = std::sync::LazyLock::new(gl::Linkers::new);
    LINKERS
        .as_ref()
        .map_err(|reason| {
            println!("skipped: linkers of OpenGL and OpenGL ES: {reason}");
            assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: {reason}");
        })
        .ok()
}

#[cfg(feature = "spirv-cross")]
fn by_mesa(driver: &dyn Driver, options: &[&str], api: gl::Api, pipelines: &[Pipeline]) -> Option<Report> {
    let linkers = mesa()?;
    let compiler = Compiler::for_target(target(driver, options));
    let mut report = Report::default();
    let mut translated = translate(&compiler, pipelines, &mut report);
    let before = translated.len();
    translated.retain(|(_, shaders)| shaders.iter().all(|(_, code, _)| code.len() < MAX_BYTES));
    if translated.len() < before {
        report.refused.insert("too large for this test".to_owned(), before - translated.len());
    }
    let program = |shaders: &Translated| gl::Program {
        api,
        shaders: shaders.iter().map(|(stage, code, _)| (suffix(*stage), code.clone())).collect(),
    };
    let programs: Vec<gl::Program> = translated.iter().map(|(_, shaders)| program(shaders)).collect();
    let mut said = linkers.link(&programs);
    for (number, (name, _)) in translated.into_iter().enumerate() {
        match said.remove(&number) {
            None => report.linked += 1,
            Some(message) if LACKING.iter().any(|part| message.contains(part)) => {
                *report.refused.entry("Mesa lacks an extension".to_owned()).or_default() += 1;
            }
            Some(message) => report.wrong.push(format!("{name}: {message}")),
        }
    }
    Some(report)
}

#[cfg(feature = "spirv-cross")]
fn assert_by_mesa(pipelines: &[Pipeline], least: [f64; 4]) {
    use tgsi_driver_spirv_text::{ESSL, GLSL};
    let ways: [(&str, &dyn Driver, &[&str], gl::Api); 4] = [
        ("GLSL 4.50", &GLSL, &[], gl::Api::Gl),
        ("GLSL 4.30", &GLSL, &["glsl430"], gl::Api::Gl),
        ("ESSL 3.20", &ESSL, &[], gl::Api::Es),
        ("SPIR-V for OpenGL", &tgsi_driver_spirv::DRIVER, &["opengl4.6"], gl::Api::Spirv),
    ];
    for ((name, driver, options, api), least) in ways.into_iter().zip(least) {
        if let Some(report) = by_mesa(driver, options, api, pipelines) {
            report.assert(name, least);
        }
    }
}

#[test]
#[cfg(feature = "spirv-cross")]
fn made_pipelines_link_in_opengl() {
    assert_by_mesa(&made(), [1.0, 1.0, 1.0, 0.98]);
}

#[test]
#[cfg(feature = "spirv-cross")]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn pipelines_of_real_shaders_link_in_opengl() {
    assert_by_mesa(&real(), [0.9, 0.9, 0.7, 0.9]);
}

fn by_vulkan(pipelines: &[Pipeline]) -> Report {
    let compiler = Compiler::for_target(target(&tgsi_driver_spirv::DRIVER, &["vulkan1.1"]));
    let mut report = Report::default();
    let folder = tempfile::tempdir().expect("a folder");
    let translated = translate(&compiler, pipelines, &mut report);
    let link = |(number, (name, shaders)): (usize, &(String, Translated))| {
        let modules = shaders.iter().enumerate().try_for_each(|(stage, (_, module, _))| {
            spirv::validate(folder.path(), &format!("{number}-{stage}.spv"), module)
        });
        let pairs = || shaders.windows(2).try_for_each(|two| spirv::link(&two[0].2, &two[1].2));
        modules.and_then(|()| pairs()).map_err(|error| format!("{name}: {error}"))
    };
    let results: Vec<_> = translated.par_iter().enumerate().map(link).collect();
    for result in results {
        match result {
            Ok(()) => report.linked += 1,
            Err(error) => report.wrong.push(error),
        }
    }
    report
}

fn is_skipped_without_spirv_val() -> bool {
    let is_missing = std::process::Command::new("spirv-val").arg("--version").output().is_err();
    if is_missing {
        println!("skipped: interfaces of SPIR-V: no program spirv-val (apt-get install spirv-tools)");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: no spirv-val");
    }
    is_missing
}

#[test]
fn made_pipelines_link_in_vulkan() {
    if !is_skipped_without_spirv_val() {
        by_vulkan(&made()).assert("SPIR-V for Vulkan", 0.98);
    }
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn pipelines_of_real_shaders_link_in_vulkan() {
    if !is_skipped_without_spirv_val() {
        by_vulkan(&real()).assert("SPIR-V for Vulkan", 0.9);
    }
}

/// Draws pairs on Vulkan; the colour is the sum of all slots.
#[test]
fn made_pairs_draw_what_they_should() {
    use tgsi_spirv_vulkan::draw::{Drawing, PixelFormat, Uniform, draw};
    if let Some(reason) = tgsi_spirv_vulkan::unavailable() {
        println!("skipped: pairs of shaders on Vulkan: {reason}");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: {reason}");
        return;
    }
    let compiler = Compiler::for_target(target(&tgsi_driver_spirv::DRIVER, &["vulkan1.1"]));
    let mut constants: Vec<u8> = 1u32.to_le_bytes().repeat(4);
    constants.extend((1u16..=40).flat_map(|number| f32::from(number).to_le_bytes().repeat(4)));
    let corners = vec![[-1.0, -1.0, 0.0, 1.0], [3.0, -1.0, 0.0, 1.0], [-1.0, 3.0, 0.0, 1.0]];
    let attributes = [corners, vec![[1.0; 4]; 3]];
    for (number, (pair, expected)) in pipelines::drawn().into_iter().enumerate() {
        for translated in [separately(&compiler, &pair), together(&compiler, &pair, number)] {
            let shaders = translated.unwrap_or_else(|error| panic!("{}: {error}", pair.name));
            let uniforms: Vec<Uniform> = shaders
                .iter()
                .flat_map(|(_, _, reflection)| &reflection.resources)
                .map(|resource| Uniform { set: resource.set, binding: resource.binding, bytes: constants.clone() })
                .collect();
            let drawing = Drawing {
                vertex: &shaders[0].1,
                fragment: &shaders[1].1,
                size: (2, 2),
                format: PixelFormat::Rgba32Float,
                attributes: &attributes,
                uniforms: &uniforms,
                textures: &[],
            };
            let pixels = draw(&drawing).unwrap_or_else(|error| panic!("{}: {error}", pair.name));
            for word in pixels.chunks_exact(4) {
                let found = f32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                assert!((found - expected).abs() < 1e-3, "{}: {found}, should be {expected}", pair.name);
            }
        }
    }
}

fn by_webgpu(pipelines: &[Pipeline]) -> Report {
    let compiler = Compiler::for_target(target(&WGSL, &[]));
    let mut report = Report::default();
    let pairs: Vec<Pipeline> =
        pipelines.iter().filter(|pipeline| pipeline.shaders.len() == 2).map(Pipeline::clone).collect();
    for (name, shaders) in translate(&compiler, &pairs, &mut report) {
        let [vertex, fragment] = [0, 1].map(|stage: usize| String::from_utf8_lossy(&shaders[stage].1));
        match wgsl::link(&vertex, &fragment) {
            Ok(()) => report.linked += 1,
            Err(error) => report.wrong.push(format!("{name}: {error}")),
        }
    }
    report
}

#[test]
fn made_pairs_link_in_webgpu() {
    by_webgpu(&made()).assert("WGSL", 0.9);
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn pairs_of_real_shaders_link_in_webgpu() {
    by_webgpu(&real()).assert("WGSL", 0.8);
}
