//! The compiler, and the compilation of one shader.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tgsi::check::{Report, check_for};
use tgsi::limits::Limits;
use tgsi::text::SkippedParts;
use tgsi_diagnostics::sort_by_start;
use tgsi_ir::passes::pass_manager::{PassObserver, Passes, count_instructions};
use tgsi_ir::passes::pipeline::{self, OptLevel};
use tgsi_ir::passes::table::PassSet;
use tgsi_to_ir::{ToIrOptions, to_ir};

use crate::driver::{Code, Target};
use crate::error::CompileError;
use crate::front_end::{ReadRequest, Reader, Reading};
use crate::reflection::Reflection;
use crate::source_map::SourceMap;
use tgsi_environment::InterfaceIntegers;

/// A stage of compilation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// As converted from TGSI, or as given.
    Parsed,
    /// In SSA form, without copies and dead code.
    Ssa,
    /// Optimised for the target.
    Opt,
    /// Lowered by the target, ready for its code generation.
    Registers,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Stage; 4] = [Stage::Parsed, Stage::Ssa, Stage::Opt, Stage::Registers];

    /// The name that the command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Parsed => "parsed",
            Stage::Ssa => "ssa",
            Stage::Opt => "opt",
            Stage::Registers => "registers",
        }
    }

    /// Looks up a stage by name.
    pub fn from_name(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

/// A shader to compile.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one exists per compilation, and it is consumed at once")]
pub enum Source<'s> {
    /// TGSI that [`check`](Compiler::check) finds no error in.
    Tgsi(Cow<'s, tgsi::Shader>),
    /// Valid IR at [`Stage::Parsed`], and the places of its instructions in the source.
    Ir(Cow<'s, tgsi_ir::Shader>, SourceMap),
}

impl Source<'_> {
    /// Returns the same source, which is copied only where the compiler changes it.
    pub fn borrowed(&self) -> Source<'_> {
        match self {
            Source::Tgsi(shader) => Source::Tgsi(Cow::Borrowed(shader)),
            Source::Ir(shader, places) => Source::Ir(Cow::Borrowed(shader), places.clone()),
        }
    }
}

impl<'s> From<&'s tgsi::Shader> for Source<'s> {
    fn from(shader: &'s tgsi::Shader) -> Source<'s> {
        Source::Tgsi(Cow::Borrowed(shader))
    }
}

impl From<tgsi::Shader> for Source<'_> {
    fn from(shader: tgsi::Shader) -> Source<'static> {
        Source::Tgsi(Cow::Owned(shader))
    }
}

impl<'s> From<&'s tgsi_ir::Shader> for Source<'s> {
    fn from(shader: &'s tgsi_ir::Shader) -> Source<'s> {
        Source::Ir(Cow::Borrowed(shader), SourceMap::default())
    }
}

impl From<tgsi_ir::Shader> for Source<'_> {
    fn from(shader: tgsi_ir::Shader) -> Source<'static> {
        Source::Ir(Cow::Owned(shader), SourceMap::default())
    }
}

/// Bounds the effort spent on one shader. Once a bound is exceeded, the rest is compiled at [`OptLevel::LowerOnly`]: the code
/// is correct but less optimised. The default is unbounded.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Budget {
    /// Shaders with more instructions than this in SSA form are not optimised at all.
    pub instructions: Option<u64>,
    /// Time from the start of the compilation after which optimisation stops, at the end of the current round.
    pub time: Option<Duration>,
}

/// A target, and how shaders are compiled for it.
#[derive(Clone, Debug)]
pub struct Compiler {
    pub(crate) target: Arc<dyn Target>,
    level: OptLevel,
    limits: Limits,
    skipped: PassSet,
    budget: Budget,
}

impl Compiler {
    /// Returns a compiler with all optimisations and the default limits.
    pub fn new(target: impl Target + 'static) -> Compiler {
        Compiler::for_target(Arc::new(target))
    }

    /// Returns a compiler for a target that is chosen at run time.
    pub fn for_target(target: Arc<dyn Target>) -> Compiler {
        Compiler {
            target,
            level: OptLevel::Full,
            limits: Limits::default(),
            skipped: PassSet::default(),
            budget: Budget::default(),
        }
    }

    /// Sets the target.
    pub fn with_target(self, target: Arc<dyn Target>) -> Compiler {
        Compiler { target, ..self }
    }

    /// Returns a compiler like this one for shaders with these names, which the code of some targets has.
    #[must_use]
    pub fn with_names(&self, names: &crate::front_end::Interface) -> Compiler {
        match self.target.with_names(names) {
            Some(target) => self.clone().with_target(target.into()),
            None => self.clone(),
        }
    }

    /// Sets the optimisation level.
    pub fn with_level(self, level: OptLevel) -> Compiler {
        Compiler { level, ..self }
    }

    /// Sets the limits.
    pub fn with_limits(self, limits: Limits) -> Compiler {
        Compiler { limits, ..self }
    }

    /// Sets the budget.
    pub fn with_budget(self, budget: Budget) -> Compiler {
        Compiler { budget, ..self }
    }

    /// Skips some passes.
    pub fn without_passes(self, skipped: PassSet) -> Compiler {
        Compiler { skipped, ..self }
    }

    /// Returns the target.
    pub fn target(&self) -> &dyn Target {
        &*self.target
    }

    /// Returns the passes that are skipped.
    pub fn skipped(&self) -> PassSet {
        self.skipped
    }

    /// Returns the optimisation level.
    pub fn level(&self) -> OptLevel {
        self.level
    }

    /// Returns the limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the options of the conversion from TGSI.
    pub fn to_ir_options(&self) -> ToIrOptions {
        self.target.to_ir_options(self.level)
    }

    /// Returns whether shaders of this stage keep the rounding of floats that the source specifies.
    pub fn keeps_rounding(&self, stage: tgsi_ir::ShaderStage) -> bool {
        self.target.compiler_options(stage).keeps_rounding(stage)
    }

    /// Reads an input by a front end, and checks everything that the compiler relies on.
    pub fn read(&self, reader: &dyn Reader, bytes: &[u8]) -> Reading {
        reader.read(bytes, &ReadRequest { limits: &self.limits, compiler: Some(self), path: None, stage: None })
    }

    /// Reads TGSI in the dialect of the target, and checks everything that the compiler relies on.
    pub fn check(&self, source: &mut tgsi::Shader, skipped: &SkippedParts) -> Report {
        self.target.read(source);
        let mut report = check_for(source, skipped, &self.limits, self.to_ir_options().keep_subroutines);
        let findings = self.target.check(source);
        if !findings.is_empty() {
            report.diagnostics.extend(findings);
            sort_by_start(&mut report.diagnostics);
        }
        report
    }

    /// Starts the compilation of a shader.
    ///
    /// # Errors
    /// [`CompileError::ToIr`].
    pub fn start<'c>(&'c self, source: impl Into<Source<'c>>) -> Result<Compilation<'c>, CompileError> {
        let mut interface = None;
        let (ir, places) = match source.into() {
            Source::Ir(ir, places) => (ir.into_owned(), places),
            Source::Tgsi(shader) => {
                let ir = to_ir(&shader, &self.to_ir_options())?;
                let places = SourceMap::of_tgsi(&shader);
                if self.target.keeps_source() {
                    interface = Some(shader.into_owned());
                } else if self.target.keeps_interface() {
                    interface = Some(tgsi::Shader { instructions: Vec::new(), ..shader.into_owned() });
                }
                (ir, places)
            }
        };
        let (passes, level) = (self.passes(), self.level);
        Ok(Compilation { compiler: self, ir, stage: Stage::Parsed, interface, places, passes, level })
    }

    /// Resumes a compilation from IR that is already at a stage.
    pub fn resume(&self, ir: tgsi_ir::Shader, stage: Stage) -> Compilation<'_> {
        let (passes, level) = (self.passes(), self.level);
        Compilation { compiler: self, ir, stage, interface: None, places: SourceMap::default(), passes, level }
    }

    pub(crate) fn passes<'c>(&self) -> Passes<'c> {
        let deadline = self.budget.time.and_then(|time| Instant::now().checked_add(time));
        Passes::default().without(self.skipped).until(deadline)
    }

    /// Returns the IR of a shader at a stage.
    ///
    /// # Errors
    /// [`CompileError`]: the shader cannot be expressed in the IR or, for [`Stage::Registers`], by the target.
    pub fn ir_at<'c>(&'c self, stage: Stage, source: impl Into<Source<'c>>) -> Result<tgsi_ir::Shader, CompileError> {
        let mut compilation = self.start(source)?;
        compilation.advance(stage)?;
        Ok(compilation.into_ir())
    }

    /// Returns the code of a shader.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn compile<'c>(&'c self, source: impl Into<Source<'c>>) -> Result<Code, CompileError> {
        self.start(source)?.finish()
    }
}

/// The compilation of one shader.
pub struct Compilation<'c> {
    pub(crate) compiler: &'c Compiler,
    pub(crate) ir: tgsi_ir::Shader,
    pub(crate) stage: Stage,
    pub(crate) interface: Option<tgsi::Shader>,
    pub(crate) places: SourceMap,
    pub(crate) passes: Passes<'c>,
    pub(crate) level: OptLevel,
}

impl<'c> Compilation<'c> {
    /// Sets an observer for all further passes. If it stops the compilation, the stage stays unchanged.
    pub fn observed_by(self, observer: &'c mut dyn PassObserver) -> Self {
        Compilation { passes: self.passes.observed_by(observer), ..self }
    }

    /// Returns the current IR.
    pub fn ir(&self) -> &tgsi_ir::Shader {
        &self.ir
    }

    /// Returns the level at which the shader is optimised: lower than the compiler's once the budget is spent.
    pub fn level(&self) -> OptLevel {
        self.level
    }

    /// Returns the current IR.
    pub fn into_ir(self) -> tgsi_ir::Shader {
        self.ir
    }

    /// Advances to a stage, unless the shader is there already or an observer has stopped the compilation.
    ///
    /// # Errors
    /// [`CompileError::Target`]: the target cannot lower it.
    pub fn advance(&mut self, stage: Stage) -> Result<(), CompileError> {
        let Compilation { compiler, ir, passes, level, .. } = self;
        while self.stage < stage && !passes.stopped() {
            self.stage = match self.stage {
                Stage::Parsed => {
                    pipeline::into_ssa_with(ir, passes);
                    Stage::Ssa
                }
                Stage::Ssa => {
                    let too_large = |most: u64| count_instructions(ir) as u64 > most;
                    if compiler.budget.instructions.is_some_and(too_large) {
                        *level = OptLevel::LowerOnly;
                    }
                    let options = compiler.target.compiler_options(ir.stage);
                    pipeline::optimize_with(ir, &options, *level, passes);
                    if passes.is_late() {
                        *level = OptLevel::LowerOnly;
                    }
                    Stage::Opt
                }
                Stage::Opt | Stage::Registers => {
                    let lowered = compiler.target.lower(ir, passes);
                    lowered.map_err(|error| self.places.locate(error, Some(ir)))?;
                    Stage::Registers
                }
            };
        }
        Ok(())
    }

    /// Returns the integers at the interface that the target reads and writes as floats (see
    /// [`Target::interface_integers`]). The shader must be at [`Stage::Opt`].
    ///
    /// # Errors
    /// [`CompileError::Target`].
    pub fn interface_integers(&self) -> Result<Option<InterfaceIntegers>, CompileError> {
        self.compiler.target.interface_integers(&self.ir).map_err(|error| self.places.locate(error, None))
    }

    /// Returns the target's assignments for the interface of the shader (see [`Target::reflect`]); `None` if it assigns
    /// nothing.
    ///
    /// # Errors
    /// [`CompileError::Target`].
    pub fn reflect(&mut self) -> Result<Option<Reflection>, CompileError> {
        self.advance(Stage::Registers)?;
        self.compiler.target.reflect(&self.ir).transpose().map_err(|error| self.places.locate(error, Some(&self.ir)))
    }

    /// Compiles to code. Spans of the instructions of TGSI code are places in the source.
    ///
    /// # Errors
    /// [`CompileError::Target`].
    pub fn finish(mut self) -> Result<Code, CompileError> {
        self.advance(Stage::Registers)?;
        let Compilation { compiler, ir, interface, places, mut passes, .. } = self;
        let mut code =
            compiler.target.emit(ir, interface.as_ref(), &mut passes).map_err(|error| places.locate(error, None))?;
        if let Code::Tgsi(shader, _) = &mut code {
            places.place_instructions(shader);
        }
        Ok(code)
    }
}
