//! `smith`: generates shaders, and checks the translation with them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;
use tgsi::Shader;
use tgsi::tables::{Opcode, Processor};
use tgsi_environment::{AnalyticResources, RunLimits};
use tgsi_run::{OpcodeCounts, Program, run_counted};
use tgsi_smith::reduce::Limits;
use tgsi_smith::{Config, FLOAT_STAGES, Features, from_seed, mutate};
use tgsi_verify::{CheckStep, Checker, Defect, DefectKind, compare, make_inputs};

use crate::args::SmithArguments;
use crate::input::Source;
use crate::output;
use crate::plan::Plan;
use crate::status::{Failure, Status};

/// Shaders between two progress updates.
const BATCH: u64 = 4096;
/// Maximum number of instructions of a run without compilation.
const STEPS: u64 = 400_000;
/// Seconds between two progress lines without a terminal.
const SECONDS_A_LINE: u64 = 60;

/// Maximum number of candidates when reducing a shader that fails.
const REDUCTION: Limits = Limits { candidates: 20_000 };

/// Generates shaders, and verifies them if requested.
pub fn smith(arguments: &SmithArguments) -> Result<Status, Failure> {
    let passes = &arguments.passes;
    let plan = if arguments.verify { Plan::to_be_run(passes, None) } else { Plan::from_arguments(passes) }?;
    let checker = Checker { seeds: arguments.inputs, exact: arguments.mutate.is_empty(), ..plan.checker() };
    let stage = arguments.stage.as_deref().and_then(Processor::from_name);
    let mut config = checker.generator_config().with_stage(stage).with_size(arguments.size);
    if !arguments.features.is_empty() {
        let features = arguments.features.iter().filter_map(|name| Features::from_name(name));
        config.features = features.fold(Features::NONE, Features::with);
    }
    if let Some(stage) = config.stage
        && !config.integers
        && !FLOAT_STAGES.contains(&stage)
    {
        return Err(Failure::Usage(format!("{stage}: a target without integers has fragment and vertex shaders only")));
    }
    let generator = Generator::new(arguments, config)?;
    if arguments.verify { verify(arguments, &plan, &checker, &generator) } else { make(arguments, &generator) }
}

/// The source of shaders.
enum Generator {
    Generated(Config),
    /// Mutations of these shaders, which keep the meaning or, with `spoil`, may break it.
    Mutated {
        shaders: Vec<Shader>,
        spoil: bool,
    },
}

impl Generator {
    fn new(arguments: &SmithArguments, config: Config) -> Result<Generator, Failure> {
        if arguments.mutate.is_empty() {
            return Ok(Generator::Generated(config));
        }
        let mut shaders = Vec::with_capacity(arguments.mutate.len());
        for path in &arguments.mutate {
            let (shader, _) = Source::read_file(path)?
                .tgsi()
                .map_err(|problem| Failure::Usage(format!("{}: {}", path.display(), problem.brief())))?;
            shaders.push(shader);
        }
        Ok(Generator::Mutated { shaders, spoil: arguments.spoil })
    }

    /// Returns the shader that the one of a seed is mutated from, if any.
    fn original(&self, seed: u64) -> Option<&Shader> {
        match self {
            Generator::Generated(_) => None,
            Generator::Mutated { shaders, .. } => shaders.get((seed % shaders.len().max(1) as u64) as usize),
        }
    }

    fn shader(&self, seed: u64) -> Result<Shader, Failure> {
        match (self, self.original(seed)) {
            (Generator::Generated(config), _) => {
                from_seed(seed, config).map_err(|error| Failure::Usage(format!("seed {seed}: {error}")))
            }
            (Generator::Mutated { spoil: true, .. }, Some(shader)) => Ok(mutate::spoil(shader, seed)),
            (Generator::Mutated { .. }, Some(shader)) => Ok(mutate::keep_meaning(shader, seed)),
            (Generator::Mutated { .. }, None) => Err(Failure::Usage("there is no shader to mutate".into())),
        }
    }
}

/// Prints or writes shaders.
fn make(arguments: &SmithArguments, generator: &Generator) -> Result<Status, Failure> {
    for seed in arguments.seed..arguments.seed.saturating_add(arguments.count) {
        let text = tgsi::text::print(&generator.shader(seed)?, Default::default());
        match &arguments.out_dir {
            Some(folder) => {
                output::write_files_below(&folder.join(format!("{seed}.tgsi")), text.as_bytes(), &[])?;
            }
            None if arguments.count > 1 => output::write_stdout(format!("; seed {seed}\n{text}\n").as_bytes())?,
            None => output::write_stdout(text.as_bytes())?,
        }
    }
    Ok(Status::Success)
}

/// A shader that fails.
struct Failed {
    seed: u64,
    defect: Defect,
    written: Option<PathBuf>,
}

/// The progress of all threads.
struct Progress {
    failed: Mutex<Vec<Failed>>,
    counts: Mutex<OpcodeCounts>,
    number: AtomicUsize,
    /// Shaders that need something that the target's machine lacks.
    beyond: AtomicUsize,
}

fn verify(
    arguments: &SmithArguments,
    plan: &Plan,
    checker: &Checker,
    generator: &Generator,
) -> Result<Status, Failure> {
    let begun = Instant::now();
    let progress = Progress {
        failed: Mutex::default(),
        counts: Mutex::default(),
        number: AtomicUsize::new(0),
        beyond: AtomicUsize::new(0),
    };
    let bar = ProgressBar::with_draw_target(Some(arguments.count), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} shaders, {eta} left, {msg}") {
        bar.set_style(style);
    }
    let end = arguments.seed.saturating_add(arguments.count);
    let mut next = arguments.seed;
    let mut last_line = Instant::now();
    while next < end {
        let batch_end = end.min(next.saturating_add(BATCH));
        (next..batch_end)
            .into_par_iter()
            .try_for_each(|seed| one(seed, arguments, generator, checker, &progress, &bar))?;
        next = batch_end;
        let failed = progress.number.load(Ordering::Relaxed);
        let message = format!("{failed} failed, next is --seed {next}");
        bar.set_message(message.clone());
        if bar.is_hidden() && last_line.elapsed().as_secs() >= SECONDS_A_LINE {
            last_line = Instant::now();
            eprintln!("{} shaders, {message}", next - arguments.seed);
        }
        if failed >= arguments.max_failures {
            break;
        }
    }
    bar.finish_and_clear();
    let mut failed = progress.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.sort_by_key(|failed| failed.seed);
    let mut text = String::new();
    for Failed { seed, defect, written } in &failed {
        let written = written.as_ref().map(|path| format!(" ({})", path.display())).unwrap_or_default();
        text += &format!("seed {seed}: {defect}{written}\n");
    }
    if arguments.opcodes {
        text += &opcode_table(&progress.counts.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    let beyond = match progress.beyond.into_inner() {
        0 => String::new(),
        count => format!(", {count} beyond the limits of the target"),
    };
    text += &format!(
        "{} shaders (seeds {} to {}) in {:.1} s: {} failed{beyond}{}\n",
        next - arguments.seed,
        arguments.seed,
        next.saturating_sub(1),
        begun.elapsed().as_secs_f64(),
        failed.len(),
        plan.code_not_run()
    );
    output::write_stdout(text.as_bytes())?;
    Ok(if failed.is_empty() { Status::Success } else { Status::ShaderError })
}

fn one(
    seed: u64,
    arguments: &SmithArguments,
    generator: &Generator,
    checker: &Checker,
    progress: &Progress,
    bar: &ProgressBar,
) -> Result<(), Failure> {
    if progress.number.load(Ordering::Relaxed) >= arguments.max_failures {
        return Ok(());
    }
    let shader = generator.shader(seed)?;
    let defect = if arguments.spoil {
        checker.panic_of(&shader)
    } else {
        if arguments.opcodes {
            count_opcodes(&shader, arguments.inputs, &progress.counts);
        }
        let original = generator.original(seed);
        let limits = RunLimits::of_steps(STEPS);
        let changed = original.and_then(|original| compare(original, &shader, checker.seeds, limits).defect());
        changed.or_else(|| checker.verify_generated(&shader).defect())
    };
    if defect.as_ref().is_some_and(|defect| defect.kind == DefectKind::Limit) {
        progress.beyond.fetch_add(1, Ordering::Relaxed);
    } else if let Some(defect) = defect {
        progress.number.fetch_add(1, Ordering::Relaxed);
        let mut written = None;
        if let Some(folder) = &arguments.out_dir {
            let path = folder.join(format!("{seed}.tgsi"));
            // Each smaller shader that does not terminate would take as long.
            let keep = arguments.keep
                || arguments.spoil
                || defect.step == CheckStep::Changed
                || defect.kind == DefectKind::TimedOut;
            let shader = if keep { shader } else { checker.reduce(&shader, &defect, REDUCTION) };
            let text = tgsi::text::print(&shader, Default::default());
            output::write_files_below(&path, format!("; seed {seed}: {defect}\n{text}").as_bytes(), &[])?;
            written = Some(path);
        }
        progress.failed.lock().unwrap_or_else(PoisonError::into_inner).push(Failed { seed, defect, written });
    }
    bar.inc(1);
    Ok(())
}

/// Counts the executed instructions of a shader. Runs that fail are reported elsewhere.
fn count_opcodes(shader: &Shader, inputs: u64, counts: &Mutex<OpcodeCounts>) {
    let Ok(program) = Program::new(shader) else { return };
    let mut counted = OpcodeCounts::default();
    for seed in 0..inputs {
        let (inputs, mut resources) = (make_inputs(shader, seed), AnalyticResources::default());
        let _ = run_counted(&program, &inputs, &mut resources, RunLimits::of_steps(STEPS), &mut counted);
    }
    counts.lock().unwrap_or_else(PoisonError::into_inner).add(&counted);
}

/// Formats execution counts by opcode, the rarest first.
fn opcode_table(counts: &OpcodeCounts) -> String {
    let mut rows: Vec<(u64, &str)> = Opcode::ALL.iter().map(|&opcode| (counts.of(opcode), opcode.name())).collect();
    rows.sort();
    let mut text = String::new();
    for row in rows.chunks(4) {
        let cells: Vec<String> = row.iter().map(|(count, name)| format!("{name:<14} {count:>11}")).collect();
        text += &(cells.join("   ").trim_end().to_owned() + "\n");
    }
    text
}
