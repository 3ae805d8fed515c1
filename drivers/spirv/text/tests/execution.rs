//! Checks that texts compute the same as their shaders: reads them back as SPIR-V, runs them on Vulkan, and compares
//! with the interpreter of the IR and with recorded results. WGSL is read by naga, GLSL, ESSL and HLSL by glslang. All
//! are compute shaders of the harness; arithmetic, control flow, memory and communication are tested, not
//! textures and varyings.
//!
//! Of real shaders and recorded results every 96th shader runs, every 32nd with `TGSIC_LONG`, or every n-th with
//! `TGSIC_EVERY=n`. `TGSIC_ONLY=text` restricts the runs to paths that contain the text.

#[path = "../../harness/tests/runs/mod.rs"]
mod runs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::read_back::Reader;
use rayon::prelude::*;
use runs::{LIMITS, close, corpus, declared, difference, inputs, is_wanted, parsed, repository, texts, without_nan};
use tgsi_compiler::{Code, Compiler, Runner, Stage, Target};
use tgsi_driver_spirv::SpirvOptions;
#[cfg(feature = "spirv-cross")]
use tgsi_driver_spirv_text::{ESSL, GLSL, HLSL};
use tgsi_driver_spirv_text::{Text, TextError, WGSL};
use tgsi_environment::AnalyticResources;
use tgsi_environment::SamplerDim;
use tgsi_ir::shader::Shader;
use tgsi_run::vectors::{Agreement, UninitialisedWords, Vector, as_recorded};
use tgsi_spirv_vulkan::HarnessTarget;

/// Shaders that take a device longer than a minute to compile, or that may give different results on different devices;
/// the same as in the tests of modules.
const LEFT_OUT: &[&str] = &[
    "max-input-components.geom",
    "tes-input-mat2_2.tesc",
    "trivial.compute-4.comp",
    "r600_query.comp",
    "glsl-fs-log2.frag",
    "frag-lit.frag",
];

/// The names of slower shaders are printed.
const SLOW: Duration = Duration::from_secs(10);

/// A language that is read back.
struct ReadBackLanguage {
    text: &'static Text,
    module: Compiler,
    reader: Reader,
    /// 1D textures are not lowered.
    one_dimensional: bool,
}

impl ReadBackLanguage {
    /// `profile` is the SPIR-V driver's profile for the text's modules.
    fn new(text: &'static Text, profile: &str, reader: Reader) -> ReadBackLanguage {
        let mut options = SpirvOptions::default();
        options.set(profile).expect("a profile");
        let one_dimensional = options.one_dimensional;
        ReadBackLanguage { text, module: Compiler::new(HarnessTarget::new(options)), reader, one_dimensional }
    }

    /// Returns a lowered shader, and the runner of its text read back.
    fn made(&self, source: &tgsi::Shader) -> Result<Result<LoweredShader, String>, String> {
        let mut compilation = self.module.start(source).map_err(|error| error.to_string())?;
        compilation.advance(Stage::Registers).map_err(|error| error.to_string())?;
        let lowered = compilation.ir().clone();
        let module = compilation.finish().map_err(|error| error.to_string())?.into_bytes();
        let module: Vec<u32> = module.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let text = match self.text.translate_module(&module) {
            Ok(text) => text,
            Err(error @ TextError::Lacks(..)) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error.to_string()),
        };
        let code = Code::Binary(crate::read_back::read_back(self.reader, &text, &module)?);
        let runner = tgsi_spirv_vulkan::runner(self.module.target(), &code).ok_or("no runner")?;
        Ok(Ok((lowered, runner.map_err(|error| error.to_string())?)))
    }
}

/// A lowered shader, and the runner of its text.
type LoweredShader = (Shader, Box<dyn Runner>);

/// The results for a number of shaders.
#[derive(Debug, Default)]
struct ExecutionCounts {
    equal: usize,
    /// Features that the language lacks, with the number of shaders that use them.
    refused: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl ExecutionCounts {
    /// Adds up results.
    fn sum(all: Vec<ExecutionCounts>) -> ExecutionCounts {
        let mut sum = ExecutionCounts::default();
        for one in all {
            sum.equal += one.equal;
            sum.wrong.extend(one.wrong);
            for (what, count) in one.refused {
                *sum.refused.entry(what).or_default() += count;
            }
        }
        sum
    }

    /// The result for one shader with `count` runs.
    fn of(file: &str, count: usize, start: Instant, result: Result<Result<(), String>, String>) -> ExecutionCounts {
        if start.elapsed() > SLOW {
            println!("{file}: {:.1?}", start.elapsed());
        }
        match result {
            Ok(Ok(())) => ExecutionCounts { equal: count, ..ExecutionCounts::default() },
            Ok(Err(what)) => ExecutionCounts { refused: [(what, count)].into(), ..ExecutionCounts::default() },
            Err(wrong) => ExecutionCounts { wrong: vec![format!("{file}: {wrong}")], ..ExecutionCounts::default() },
        }
    }

    fn assert(&self, name: &str, least: usize) {
        println!("{name}: {} equal, {} wrong, refused: {:#?}", self.equal, self.wrong.len(), self.refused);
        assert!(self.wrong.is_empty(), "{name}: {} wrong:\n{}", self.wrong.len(), self.wrong.join("\n"));
        let all_are_wanted = std::env::var_os("TGSIC_ONLY").is_none();
        assert!(self.equal >= least || !all_are_wanted, "{name}: {} equal, should be {least}", self.equal);
    }
}

/// Runs the texts of files with generated inputs, and compares with the interpreter.
fn run_files(way: &ReadBackLanguage, files: &[PathBuf], seeds: u64) -> ExecutionCounts {
    let one = |path: &PathBuf| {
        let source = parsed(&std::fs::read(path).expect("a file"))?;
        if tgsi::check::check(&source).has_errors() {
            return None;
        }
        let start = Instant::now();
        let result = way.made(&source).and_then(|made| {
            let (shader, runner) = match made {
                Ok(made) => made,
                Err(what) => return Ok(Err(what)),
            };
            for seed in 0..seeds {
                let inputs = declared(&source, without_nan(inputs(&shader, seed)));
                let (mut expected_texels, mut texels) = (AnalyticResources::default(), AnalyticResources::default());
                let Ok(expected) = tgsi_ir::run::run(&shader, &inputs, &mut expected_texels, LIMITS) else { continue };
                let found = runner.run(&inputs, &mut texels, LIMITS).map_err(|error| error.to_string())?;
                if let Some(difference) = difference(shader.stage, &expected, &found, &close) {
                    return Err(format!("inputs {seed}: {difference}"));
                }
            }
            Ok(Ok(()))
        });
        Some(ExecutionCounts::of(&path.display().to_string(), 1, start, result))
    };
    ExecutionCounts::sum(files.par_iter().filter(|path| is_wanted(path)).filter_map(one).collect())
}

/// Returns whether a shader has operations that devices may round differently, or exposes the bits of a NaN.
fn depends_on_device(shader: &Shader) -> bool {
    let device_ops = SpirvOptions::default().fidelity(shader.stage).device_ops;
    shader.functions.values().filter_map(|function| function.body.as_ref()).any(|body| {
        body.blocks().flat_map(|block| body.insts(block)).any(|inst| {
            body.alu_op(inst).is_some_and(|op| device_ops.contains(&op) || op.name().starts_with("pack_half"))
        })
    })
}

/// Returns whether a shader has 1D textures.
fn has_one_dimension(source: &tgsi::Shader) -> bool {
    let views = source.declarations.iter().filter_map(|declaration| Some(declaration.sampler_view.as_ref()?.target));
    let lookups = source.instructions.iter().filter_map(|instruction| Some(instruction.texture.as_ref()?.target));
    views.chain(lookups).any(|target| target.sampler_dim() == SamplerDim::Dim1D)
}

/// Runs texts with recorded inputs, and compares with the recorded results.
fn run_vectors(way: &ReadBackLanguage, file: &str, root: &Path, every: usize) -> ExecutionCounts {
    let mut by_shader: BTreeMap<String, Vec<Vector>> = BTreeMap::new();
    for line in crate::common::lines(crate::common::shared(file)) {
        let vector = Vector::parse(&line).expect("a recorded result");
        // Special values are only guaranteed in the interpreter.
        if !vector.has_special_values() {
            by_shader.entry(vector.file.clone()).or_default().push(vector);
        }
    }
    let by_shader: Vec<_> = by_shader.into_iter().filter(|(file, _)| is_wanted(Path::new(file))).collect();
    let one = |(file, vectors): &&(String, Vec<Vector>)| {
        let source = parsed(&std::fs::read(root.join(file)).expect("a file"))?;
        if LEFT_OUT.iter().any(|name| file.contains(name)) {
            return None;
        }
        // The recorded texels depend on all coordinates, including those that a texture of height 1 ignores.
        if !way.one_dimensional && has_one_dimension(&source) {
            return None;
        }
        let source = as_recorded(&source);
        let start = Instant::now();
        let result = way.made(&source).and_then(|made| {
            let (shader, runner) = match made {
                Ok(made) => made,
                Err(what) => return Ok(Err(what)),
            };
            let uninitialised = UninitialisedWords::new(&source);
            let is_open = depends_on_device(&shader);
            for vector in vectors {
                let found = runner.run(&vector.inputs(&source), &mut AnalyticResources::default(), LIMITS);
                let found = found.map_err(|error| error.to_string())?;
                let mut comparison = vector.compare(&found);
                uninitialised.excuse(&source, vector, &mut comparison);
                comparison.different.retain(|word| {
                    word.expected.is_none_or(|word| f32::from_bits(word).is_finite() || word >= 0xffff_ff00)
                });
                if is_open {
                    vector.excuse_device(&mut comparison);
                }
                if comparison.verdict() == Agreement::Different {
                    return Err(format!("seed {}: {:x?}", vector.seed, comparison.different.first()));
                }
            }
            Ok(Ok(()))
        });
        Some(ExecutionCounts::of(file, vectors.len(), start, result))
    };
    let some: Vec<&(String, Vec<Vector>)> = by_shader.iter().step_by(every).collect();
    ExecutionCounts::sum(some.par_iter().filter_map(one).collect())
}

/// The languages that are read back.
static WAYS: LazyLock<Vec<(&str, ReadBackLanguage)>> = LazyLock::new(|| {
    vec![
        ("wgsl", ReadBackLanguage::new(&WGSL, "portable", Reader::Naga)),
        #[cfg(feature = "spirv-cross")]
        ("glsl", ReadBackLanguage::new(&GLSL, "glsl", Reader::Glslang)),
        #[cfg(feature = "spirv-cross")]
        ("essl", ReadBackLanguage::new(&ESSL, "essl", Reader::GlslangEs)),
        #[cfg(feature = "spirv-cross")]
        ("hlsl", ReadBackLanguage::new(&HLSL, "hlsl", Reader::GlslangHlsl)),
    ]
});

fn every() -> usize {
    crate::common::every(96, 32)
}

/// Returns the languages that can be run here.
fn ways() -> impl Iterator<Item = &'static (&'static str, ReadBackLanguage)> {
    let lacking = tgsi_spirv_vulkan::unavailable();
    let no_glslang = std::process::Command::new("glslangValidator").arg("--version").output().is_err();
    WAYS.iter().filter(move |(name, way)| {
        let lacking = match way.reader {
            Reader::Glslang | Reader::GlslangEs | Reader::GlslangHlsl if no_glslang => {
                Some("no program glslangValidator".to_owned())
            }
            _ => lacking.clone(),
        };
        if let Some(reason) = &lacking {
            println!("skipped: {name}: {reason}");
            assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: {reason}");
        }
        lacking.is_none()
    })
}

#[test]
fn fixtures_compute_the_same() {
    for (name, way) in ways() {
        run_files(way, &texts(repository().join("fixtures/tgsi")), 2).assert(name, 30);
    }
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn real_shaders_compute_the_same() {
    let is_left_out = |path: &PathBuf| LEFT_OUT.iter().any(|name| path.to_string_lossy().contains(name));
    let files: Vec<PathBuf> = texts(corpus()).into_iter().filter(|path| !is_left_out(path)).step_by(every()).collect();
    for (name, way) in ways() {
        run_files(way, &files, 2).assert(name, 1000 / every());
    }
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn recorded_results_of_opcodes() {
    for (name, way) in ways() {
        let root = crate::common::shared("oracle");
        run_vectors(way, "oracle/opcode-vectors.jsonl.gz", &root, every()).assert(name, 1000 / every());
    }
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn recorded_results_of_real_shaders() {
    for (name, way) in ways() {
        let root = crate::common::shared("");
        run_vectors(way, "oracle/corpus-vectors.jsonl.gz", &root, every()).assert(name, 1000 / every());
    }
}
