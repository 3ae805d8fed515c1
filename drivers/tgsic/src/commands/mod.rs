//! The subcommands.

mod check;
mod convert;
mod draw;
mod explain;
mod extract;
mod fit;
mod ir;
mod link;
mod manual;
pub mod passes;
mod proxy;
mod recorded;
mod reduce;
mod report;
mod run;
mod scan;
mod smith;
mod translate;
mod value_line;
mod verify;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tgsi_compiler::AuxiliaryFile;
use tgsi_ir::shader::ShaderStage;

use crate::args::{Arguments, Command, Files};
use crate::diagnostics::Reporter;
use crate::input::{InputPath, ShaderError, Source};
use crate::output::FileFormat;
use crate::plan::Plan;
use crate::policy::WarningPolicy;
use crate::status::{Failure, Status};
use crate::{batch, output};

/// Runs the subcommand. Errors in shaders have been shown when it returns.
pub fn dispatch(arguments: &Arguments) -> Result<Status, Failure> {
    let color = arguments.global.color;
    match &arguments.command {
        Command::Print { files, mesa, hex_floats } => convert::print(files, *mesa, *hex_floats, color),
        Command::Encode { files } => convert::encode(files, color),
        Command::Check(arguments) => check::check(arguments, color),
        Command::Limits => {
            output::write_stdout(crate::limits::table().as_bytes())?;
            Ok(Status::Success)
        }
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { out_dir } => manual::pages(out_dir.as_deref()),
        Command::Languages => {
            output::write_stdout(crate::front_ends::table().as_bytes())?;
            Ok(Status::Success)
        }
        Command::Explain { codes, list } => explain::explain(codes, *list),
        Command::Extract(arguments) => extract::extract(arguments, color),
        Command::Scan { files, json } => scan::scan(files, *json, color),
        Command::Run(arguments) => run::run(arguments, color),
        Command::Draw(arguments) => draw::draw(arguments, color),
        Command::Ir(arguments) => ir::ir(arguments, color),
        Command::Passes => passes::list(),
        Command::Translate {
            files,
            json,
            texts,
            shader_db,
            mesa,
            time_passes,
            assembly,
            reflect,
            warnings,
            passes,
        } => {
            let lines = match (json, shader_db, reflect) {
                (true, ..) => Some(translate::Lines::Json { texts: *texts }),
                (_, true, _) => Some(translate::Lines::ShaderDb),
                (_, _, true) => Some(translate::Lines::Interface),
                _ => None,
            };
            let form = translate::Report { lines, mesa: *mesa, time_passes: *time_passes, assembly: *assembly };
            let plan = if *assembly { Plan::to_be_printed } else { Plan::from_arguments }(passes)?;
            translate::translate(files, &plan, form, &WarningPolicy::new(warnings), color)
        }
        Command::Link(arguments) => link::link(arguments, color),
        Command::Report(arguments) => report::report(arguments),
        Command::Fit(arguments) => fit::fit(arguments, color),
        Command::Verify(arguments) => verify::verify(arguments, color),
        Command::Reduce(arguments) => reduce::reduce(arguments, color),
        Command::Smith(arguments) => smith::smith(arguments),
        Command::Proxy(arguments) => proxy::proxy(arguments),
        Command::ServeRuns => {
            tgsi_registry::serve_runs().map_err(|error| Failure::Usage(format!("cannot answer: {error}")))?;
            Ok(Status::Success)
        }
        Command::ProxyGuard { socket } => Ok(proxy::guard::guard(socket)),
    }
}

/// The result for one shader.
pub struct ShaderOutput {
    /// The output.
    pub content: Vec<u8>,
    /// Files that accompany the output.
    pub auxiliary_files: Vec<AuxiliaryFile>,
    /// Warnings to show.
    pub warnings: Vec<tgsi_diagnostics::Diagnostic>,
    /// A line for standard output if the content is written elsewhere.
    pub line: Option<String>,
}

impl ShaderOutput {
    /// Wraps content without anything else.
    pub fn new(content: Vec<u8>) -> ShaderOutput {
        ShaderOutput { content, auxiliary_files: Vec::new(), warnings: Vec::new(), line: None }
    }
}

/// The common frame of subcommands that convert each shader: reads, works on all cores, writes, and reports in input
/// order. If a shader or file fails, it reports that and continues with the others.
pub fn transform(
    files: &Files,
    form: FileFormat,
    color: crate::args::Color,
    work: impl Fn(&Source) -> Result<ShaderOutput, ShaderError> + Sync + Send,
) -> Result<Status, Failure> {
    let inputs = batch::inputs(&files.files)?;
    if inputs.len() > 1 && files.output.is_some() {
        return Err(Failure::Usage("-o writes the result of one shader; use --out-dir for several".into()));
    }
    let targets = match &files.out_dir {
        Some(folder) => targets(&inputs, folder, form.extension)?,
        None => HashMap::new(),
    };
    let reporter = Reporter::for_inputs(inputs.len(), color);
    let results = batch::for_each(&inputs, |path| {
        let source = Source::read(path)?;
        let mut result = work(&source);
        if let (Ok(done), Some(target)) = (&mut result, targets.get(path)) {
            // The content is on disk now; keeping it for all shaders would only cost memory.
            output::write_files_below(target, &std::mem::take(&mut done.content), &done.auxiliary_files)?;
        }
        Ok((source, result))
    });
    let mut status = Status::Success;
    for result in results {
        status = status.max(reporter.outcome(result, |source, done: ShaderOutput| {
            reporter.diagnostics(source, &done.warnings);
            if files.out_dir.is_none() {
                match &files.output {
                    Some(path) => output::write_files(path, &done.content, &done.auxiliary_files)?,
                    None if done.line.is_some() => {}
                    None if form.binary => output::write_stdout_binary(&done.content)?,
                    None => output::write_stdout(&done.content)?,
                }
            }
            if let Some(line) = done.line {
                output::write_stdout(format!("{line}\n").as_bytes())?;
            }
            Ok(Status::Success)
        }));
    }
    Ok(status)
}

/// Maps each input to its output file below `folder`. Shaders of a pipeline that have one name, such as `a.vert` and
/// `a.frag`, keep their extensions. Other inputs with the same output file are an error, because the second would
/// overwrite the first.
fn targets<'a>(
    inputs: &'a [InputPath],
    folder: &Path,
    extension: &str,
) -> Result<HashMap<&'a InputPath, PathBuf>, Failure> {
    let target_of = |input: &InputPath, keeps_stage: bool| {
        let named = input.file.extension().and_then(OsStr::to_str).filter(|_| keeps_stage);
        let stage = input.stage.map(stage_extension).or(named.filter(|name| STAGE_EXTENSIONS.contains(name)));
        let extension = stage.map_or_else(|| extension.to_owned(), |stage| format!("{stage}.{extension}"));
        output::path_below(folder, &input.file, &extension)
    };
    let distinct: HashSet<&InputPath> = inputs.iter().collect();
    let mut inputs_of: HashMap<PathBuf, u32> = HashMap::with_capacity(distinct.len());
    for input in &distinct {
        *inputs_of.entry(target_of(input, false)).or_default() += 1;
    }
    let mut targets: HashMap<&InputPath, PathBuf> = HashMap::with_capacity(inputs.len());
    let mut taken: HashMap<PathBuf, &InputPath> = HashMap::with_capacity(inputs.len());
    for input in inputs {
        let Entry::Vacant(entry) = targets.entry(input) else { continue };
        let target = target_of(input, false);
        let is_shared = inputs_of.get(&target).is_some_and(|&count| count > 1);
        let target = if is_shared { target_of(input, true) } else { target };
        if let Some(other) = taken.insert(target.clone(), input) {
            let (a, b) = (other.file.display(), input.file.display());
            return Err(Failure::Usage(format!("{a} and {b} would both be written to {}", target.display())));
        }
        entry.insert(target);
    }
    Ok(targets)
}

/// The file extensions that name a stage.
const STAGE_EXTENSIONS: [&str; 6] = ["vert", "tesc", "tese", "geom", "frag", "comp"];

/// The usual file extension for shaders of a stage.
fn stage_extension(stage: ShaderStage) -> &'static str {
    match stage {
        ShaderStage::Vertex => "vert",
        ShaderStage::TessCtrl => "tesc",
        ShaderStage::TessEval => "tese",
        ShaderStage::Geometry => "geom",
        ShaderStage::Fragment => "frag",
        _ => "comp",
    }
}
