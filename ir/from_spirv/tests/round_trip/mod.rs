//! TGSI becomes SPIR-V, is read back and becomes TGSI again, which must compute the same as the source, in hardly more
//! instructions than a translation without SPIR-V.
//!
//! `TGSIC_ONLY=text` restricts the corpus to paths that contain the text and prints the shaders, `TGSIC_EVERY=n` to
//! every n-th shader. `TGSIC_COUNT=n` generates n shaders of each stage, `TGSIC_SEED=n` sets the first seed.
//! `TGSIC_SHOWN=n` prints n shaders that grow.

mod declared;
mod recorded;
mod registers;
mod results;

use std::collections::BTreeMap;

use rayon::prelude::*;
use tgsi::Shader;
use tgsi::shader::{Declaration, Instruction};
use tgsi::tables::{Interpolation, Opcode, Processor, PropertyName, TextureTarget};
use tgsi::text::PrintOptions;
use tgsi_compiler::front_end::{FrontEnd, Reader};
use tgsi_compiler::{Code, Compiler, Driver};
use tgsi_driver_spirv::{Origin, SpirvOptions};
use tgsi_from_spirv::SPIRV;
use tgsi_smith::Config;

use crate::common::{every, shaders, shared};
use registers::with_registers_of;
use results::{Comparison, compare};

/// The options of the SPIR-V driver: all that keep operations as they are.
const OPTIONS: [&str; 5] = ["vulkan1.3", "double_roundings", "fused_fma", "robust", "unguarded"];

/// Both ways of translation.
struct Ways {
    tgsi: Compiler,
    spirv: Compiler,
    reader: Box<dyn Reader>,
}

/// The accuracy of results that agree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Accuracy {
    /// All bits are those of the source.
    Exact,
    /// Neither translation has all bits of the source.
    LikeDirect,
    /// Only the direct translation has all bits of the source.
    Worse,
}

/// What became of a shader.
enum Outcome {
    /// It computes the same: instructions of the direct translation and of the other, and the accuracy.
    Same { direct: usize, back: usize, accuracy: Accuracy },
    /// It computes something else.
    Different(String),
    /// One of the steps refuses it.
    Refused(String),
    /// It computes something else because modules lack features that it uses.
    Lost(&'static str),
    /// There is no result to compare with.
    Unknown,
}

/// Returns the feature of a shader that modules lack, if any.
fn lost_by_modules(source: &Shader) -> Option<&'static str> {
    let compares =
        |instruction: &Instruction| instruction.texture.as_ref().is_some_and(|texture| texture.target.is_shadow());
    let compares = |instruction: &Instruction| {
        compares(instruction) || matches!(instruction.opcode, Opcode::SampleC | Opcode::SampleCLz)
    };
    if source.instructions.iter().any(compares) {
        return Some("comparing lookups, which give one number, not four");
    }
    let is_flat = |declaration: &Declaration| {
        declaration.interpolation.is_some_and(|interpolation| interpolation.mode == Interpolation::Constant)
    };
    let interpolates = |instruction: &Instruction| {
        matches!(instruction.opcode, Opcode::InterpOffset | Opcode::InterpSample | Opcode::InterpCentroid)
    };
    if source.declarations.iter().any(is_flat) && source.instructions.iter().any(interpolates) {
        return Some("interpolation of inputs that are constant");
    }
    let queries = |instruction: &Instruction| {
        let target = instruction.texture.as_ref().map(|texture| texture.target);
        match instruction.opcode {
            Opcode::Txq => target == Some(TextureTarget::Buffer),
            Opcode::Txqs => target.is_some_and(|target| !target.is_msaa()),
            opcode => matches!(opcode, Opcode::Sviewinfo | Opcode::SampleInfo),
        }
    };
    if source.instructions.iter().any(queries) {
        return Some("levels and samples of textures that have one of them");
    }
    let fetches = |instruction: &Instruction| {
        let target = instruction.texture.as_ref().map(|texture| texture.target);
        instruction.opcode == Opcode::SampleI
            || instruction.opcode == Opcode::Txf && target == Some(TextureTarget::Buffer)
    };
    if source.instructions.iter().any(fetches) {
        return Some("levels of buffers");
    }
    if source.instructions.iter().any(|instruction| instruction.opcode == Opcode::Fbfetch) {
        return Some("fetches from colour buffers, which become textures");
    }
    if source.processor == Processor::Compute && source.property(PropertyName::CsFixedBlockWidth).unwrap_or(0) == 0 {
        return Some("blocks of a size that is given later");
    }
    let emits_any_number = source.property(PropertyName::GsMaxOutputVertices).is_none();
    (source.processor == Processor::Geometry && emits_any_number).then_some("an unknown number of vertices")
}

impl Ways {
    fn new() -> Ways {
        let tgsi = tgsi_driver_tgsi::DRIVER.target(&[]).expect("no options");
        let mut spirv = SpirvOptions::default();
        OPTIONS.iter().for_each(|option| spirv.set(option).expect("known options"));
        // Coordinates of fragments and of rectangles are those of the source.
        spirv.origin = Origin::OfShader;
        spirv.analytic_textures = true;
        let reader = SPIRV.reader(&["environment=tgsic"]).expect("a known option");
        Ways { tgsi: Compiler::for_target(tgsi.into()), spirv: Compiler::new(spirv), reader }
    }

    fn direct(&self, source: &Shader) -> Result<Shader, String> {
        match self.tgsi.compile(source) {
            Ok(Code::Tgsi(shader, _)) => Ok(*shader),
            Ok(_) => Err("direct: not TGSI".to_owned()),
            Err(error) => Err(format!("direct: {error}")),
        }
    }

    fn through_spirv(&self, source: &Shader) -> Result<Shader, String> {
        let module = self.spirv.compile(source).map_err(|error| format!("to SPIR-V: {error}"))?.into_bytes();
        let reading = self.tgsi.read(&*self.reader, &module);
        let Some(read) = reading.source else { return Err(format!("from SPIR-V: {:?}", reading.findings)) };
        match self.tgsi.compile(read) {
            Ok(Code::Tgsi(shader, _)) => Ok(*shader),
            Ok(_) => Err("to TGSI: not TGSI".to_owned()),
            Err(error) => Err(format!("to TGSI: {error}")),
        }
    }

    fn outcome(&self, source: &Shader, verbose: bool) -> Outcome {
        let direct = match self.direct(source) {
            Ok(direct) => direct,
            Err(_) => return Outcome::Unknown,
        };
        let back = match self.through_spirv(source) {
            Ok(back) => back,
            Err(error) => return Outcome::Refused(error),
        };
        if verbose {
            let print = |shader| tgsi::text::print(shader, PrintOptions::default());
            println!("--- source\n{}--- direct\n{}--- back\n{}", print(source), print(&direct), print(&back));
        }
        let counts = (direct.instructions.len(), back.instructions.len());
        let limits = self.tgsi.limits().of_runs();
        let compared = with_registers_of(back, source);
        match compare(source, &compared, limits) {
            Comparison::Same { exact } => {
                let accuracy = match exact {
                    true => Accuracy::Exact,
                    false if matches!(compare(source, &direct, limits), Comparison::Same { exact: true }) => {
                        Accuracy::Worse
                    }
                    false => Accuracy::LikeDirect,
                };
                Outcome::Same { direct: counts.0, back: counts.1, accuracy }
            }
            Comparison::Unknown => Outcome::Unknown,
            // Results that the source leaves open may differ from those of the direct translation as well.
            Comparison::Different(what) => match compare(source, &direct, limits) {
                Comparison::Different(_) => Outcome::Unknown,
                _ => lost_by_modules(source).map_or(Outcome::Different(what), Outcome::Lost),
            },
        }
    }
}

/// The outcomes of many shaders.
#[derive(Default)]
struct Totals {
    same: usize,
    exact: usize,
    worse: Vec<String>,
    unknown: usize,
    lost: BTreeMap<&'static str, usize>,
    different: Vec<String>,
    refused: BTreeMap<String, Vec<String>>,
    direct: usize,
    back: usize,
    grown: Vec<(usize, usize, String)>,
}

impl Totals {
    fn of(outcomes: Vec<(String, Outcome)>) -> Totals {
        let mut totals = Totals::default();
        for (name, outcome) in outcomes {
            match outcome {
                Outcome::Same { direct, back, accuracy } => {
                    totals.same += 1;
                    match accuracy {
                        Accuracy::Exact => totals.exact += 1,
                        Accuracy::Worse => totals.worse.push(name.clone()),
                        Accuracy::LikeDirect => {}
                    }
                    totals.direct += direct;
                    totals.back += back;
                    if back > direct {
                        totals.grown.push((back - direct, direct, name));
                    }
                }
                Outcome::Different(what) => totals.different.push(format!("{name}: {what}")),
                Outcome::Refused(why) => totals.refused.entry(without_numbers(&why)).or_default().push(name),
                Outcome::Lost(what) => *totals.lost.entry(what).or_default() += 1,
                Outcome::Unknown => totals.unknown += 1,
            }
        }
        totals.grown.sort();
        totals
    }

    fn print(&self, name: &str) {
        let refused: usize = self.refused.values().map(Vec::len).sum();
        let (same, exact, different) = (self.same, self.exact, self.different.len());
        println!(
            "{name}: {same} same ({exact} exactly, {} less exactly than directly), {different} different, \
             {refused} refused, {} open",
            self.worse.len(),
            self.unknown
        );
        let ratio = self.back as f64 / self.direct.max(1) as f64;
        println!("instructions {} directly, {} through SPIR-V: {ratio:.4}", self.direct, self.back);
        for (why, names) in &self.refused {
            println!("  refused {:4}: {why} ({})", names.len(), names[0]);
        }
        for (what, count) in &self.lost {
            println!("  lost {count:7}: {what}");
        }
        for different in self.different.iter().take(100) {
            println!("  different: {different}");
        }
        for worse in self.worse.iter().take(20) {
            println!("  less exact: {worse}");
        }
        for (more, direct, name) in self.grown.iter().rev().take(number("TGSIC_SHOWN", 25) as usize) {
            println!("  {more} more than {direct}: {name}");
        }
    }
}

/// Returns a message without numbers, so that equal faults have equal texts.
fn without_numbers(message: &str) -> String {
    message.lines().next().unwrap_or_default().chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect()
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn the_corpus_returns() {
    let ways = Ways::new();
    let only = std::env::var("TGSIC_ONLY");
    let root = shared("corpus");
    let mut paths = shaders(&root);
    paths.retain(|path| only.as_ref().map_or(true, |only| path.to_string_lossy().contains(only)));
    let paths: Vec<_> = paths.into_iter().step_by(every(8, 1)).collect();
    let outcome = |path: &std::path::PathBuf| {
        let text = std::fs::read(path).expect("a file");
        let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
        let Ok(parsed) = tgsi::text::parse(&text) else { return (name, Outcome::Unknown) };
        (name, ways.outcome(&parsed.shader, only.is_ok()))
    };
    let totals = Totals::of(paths.par_iter().map(outcome).collect());
    totals.print("corpus");
    assert!(totals.different.is_empty(), "{} differ", totals.different.len());
    assert!(totals.back * 100 <= totals.direct * 102, "more than 2 % more instructions");
}

#[test]
fn generated_shaders_return() {
    let ways = Ways::new();
    let (count, seed) = (number("TGSIC_COUNT", 40), number("TGSIC_SEED", 1));
    let stages = [
        Processor::Vertex,
        Processor::Fragment,
        Processor::Geometry,
        Processor::TessControl,
        Processor::TessEval,
        Processor::Compute,
    ];
    let cases: Vec<_> = stages.iter().flat_map(|&stage| (seed..seed + count).map(move |seed| (stage, seed))).collect();
    let outcome = |&(stage, seed): &(Processor, u64)| {
        let shader = tgsi_smith::from_seed(seed, &Config::default().with_stage(stage)).expect("a shader");
        (format!("{} {seed}", stage.name()), ways.outcome(&shader, std::env::var_os("TGSIC_ONE").is_some()))
    };
    let totals = Totals::of(cases.par_iter().map(outcome).collect());
    totals.print("generated");
    assert!(totals.different.is_empty(), "{} differ", totals.different.len());
}
