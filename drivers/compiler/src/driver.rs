//! The interface of drivers: [`Driver`] describes a driver, [`Target`] is the driver with its options set.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;

use tgsi::text::PrintOptions;
use tgsi_diagnostics::Diagnostic;
use tgsi_diagnostics::ErrorCode;
use tgsi_diagnostics::suggest;
use tgsi_ir::alu::AluOp;
use tgsi_to_ir::ToIrOptions;

use tgsi_environment::{Inputs, Outputs, Resources, RunLimits};
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline::Level;
use tgsi_ir::shader::Stage;
use thiserror::Error;

use crate::error::TargetError;
use crate::fit::Fit;
use crate::interface_integers::InterfaceIntegers;

/// A driver: its name, its options, and the constructor of its targets.
pub trait Driver: Debug + Send + Sync {
    /// The name that the command line and fixtures use.
    fn name(&self) -> &'static str;

    /// One sentence for `--help`.
    fn about(&self) -> &'static str;

    /// Extension of files with its code.
    fn file_extension(&self) -> &'static str;

    /// Whether its code is binary and not for terminals.
    fn is_binary(&self) -> bool {
        false
    }

    /// Whether its code has a [`Runner`], which the registry finds. Without one, checks of meaning end before the code.
    fn can_run(&self) -> bool {
        false
    }

    /// Options that must be set for code that is to be run. Checks of meaning set them.
    fn run_options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Options that make text of code that is binary, in the form of its usual disassembler. Empty if the code says
    /// all, so that the registry can print it.
    fn assembly_options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Operations that what runs the code may round otherwise than the IR says. If there are any, it need not keep what
    /// they and sums and products make of NaN and infinities either. Empty if interpreters run it.
    fn approximate_ops(&self) -> &'static [AluOp] {
        &[]
    }

    /// The options, in the order in which they are listed.
    fn options(&self) -> &'static [DriverOption];

    /// The target profiles, in the order in which they are listed: names for sets of facts about a consumer, which may
    /// differ between stages. [`target`](Self::target) takes them as it takes options.
    fn profiles(&self) -> &'static [DriverOption] {
        &[]
    }

    /// The codes of its errors.
    fn error_codes(&self) -> &'static [ErrorCode];

    /// The driver with the options or profiles of these names set.
    ///
    /// # Errors
    /// [`UnknownOption`].
    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption>;

    /// Sets of options, each in one string with commas between, under which every shader means the same. Fixtures with
    /// inputs run with all of them.
    fn variants(&self) -> &'static [&'static str] {
        &[]
    }
}

/// The name of a target profile of a driver.
///
/// # Errors
/// [`UnknownProfile`].
pub fn profile_named(driver: &dyn Driver, name: &str) -> Result<&'static str, UnknownProfile> {
    let profiles = driver.profiles();
    let found = profiles.iter().find(|profile| profile.name == name);
    found.map(|profile| profile.name).ok_or_else(|| UnknownProfile {
        name: name.to_owned(),
        driver: driver.name(),
        near: suggest(name, profiles.iter().map(|profile| profile.name)),
        profiles,
    })
}

/// The error for an unknown name of a target profile.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("the driver `{driver}` has no target `{name}`{}; there are {}", hint(.near), names(.profiles))]
pub struct UnknownProfile {
    /// The name.
    pub name: String,
    /// The driver.
    pub driver: &'static str,
    /// The profile whose name is nearest, if one is near.
    pub near: Option<&'static str>,
    /// The profiles of the driver.
    pub profiles: &'static [DriverOption],
}

fn hint(near: &Option<&str>) -> String {
    near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default()
}

/// An option of a driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DriverOption {
    /// Its name.
    pub name: &'static str,
    /// Its effect, in one sentence.
    pub about: &'static str,
}

/// The error for an unknown option name, or for a value that an option does not take.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}", problem.clone().unwrap_or_else(|| format!("no driver option `{name}`; there are {}", names(.options))))]
pub struct UnknownOption {
    /// The name.
    pub name: String,
    /// The options of the driver.
    pub options: &'static [DriverOption],
    /// What is wrong with the value, if the option takes one.
    pub problem: Option<String>,
}

fn names(options: &[DriverOption]) -> String {
    if options.is_empty() {
        return "none".to_owned();
    }
    options.iter().map(|option| option.name).collect::<Vec<_>>().join(", ")
}

/// A slot between two stages that are linked. Languages that compare the declarations of both sides need the reader's
/// interpolation at the writer, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkedSlot {
    /// The location.
    pub location: u32,
    /// Interpolation at the reader.
    pub interpolation: InterpMode,
    /// Whether the reader interpolates at the centroid.
    pub centroid: bool,
    /// Whether the reader interpolates at each sample.
    pub sample: bool,
}

/// Slots between two stages: of a patch or not, and the slot (see [`tgsi_ir::slots`]). Locations are numbered from 0;
/// those of consecutive slots are consecutive, patches come last.
pub type SlotLocations = BTreeMap<(bool, i32), LinkedSlot>;

/// A driver with its options set. The compiler calls the methods in this order.
pub trait Target: Any + Debug + Send + Sync {
    /// Reads a source in the dialect of the target, where that gives TGSI another meaning.
    fn read(&self, source: &mut tgsi::Shader) {
        let _ = source;
    }

    /// Findings about a source that was read: what readers of the code have no room for, whatever the translation does.
    fn check(&self, source: &tgsi::Shader) -> Vec<Diagnostic> {
        let _ = source;
        Vec::new()
    }

    /// The options of the conversion from TGSI.
    fn to_ir_options(&self, level: Level) -> ToIrOptions {
        let _ = level;
        ToIrOptions::default()
    }

    /// The same target for a shader whose inputs or outputs have these locations, because it was linked with the shader
    /// before or behind it; `None` for a side that was not linked. `None` if the target gives no locations.
    fn with_locations(
        &self,
        inputs: Option<&SlotLocations>,
        outputs: Option<&SlotLocations>,
    ) -> Option<Box<dyn Target>> {
        let _ = (inputs, outputs);
        None
    }

    /// The same target for the next shader of a program in which a shader has this code, where the stages of a program
    /// share what code numbers, such as bindings. `None` if they do not.
    fn behind(&self, code: &Code) -> Option<Box<dyn Target>> {
        let _ = code;
        None
    }

    /// The registers of outputs that somebody beside the next stage reads, such as stream output.
    fn captured_outputs(&self) -> Vec<u32> {
        Vec::new()
    }

    /// The properties of the target that the optimiser needs, for shaders of a stage.
    fn compiler_options(&self, stage: Stage) -> CompilerOptions;

    /// Whether shaders of a stage may use integers. Otherwise integers that a source has may come out as floats.
    fn has_integers(&self, _stage: Stage) -> bool {
        true
    }

    /// The integers at the interface of an optimised shader that code of the target reads and writes as floats; `None`
    /// if the target has integers in the stage of the shader.
    ///
    /// # Errors
    /// Those of [`lower`](Self::lower).
    fn interface_integers(
        &self,
        optimized: &tgsi_ir::Shader,
    ) -> Result<Option<InterfaceIntegers>, Box<dyn TargetError>> {
        let _ = optimized;
        Ok(None)
    }

    /// Whether shaders of a stage can select a value. Otherwise values are multiplied by 0 or 1, and what is not
    /// selected must be finite.
    fn has_selections(&self, _stage: Stage) -> bool {
        true
    }

    /// Operations of shaders of a stage that lowering replaces by others, whose results are close but not the same.
    fn approximations(&self, stage: Stage) -> &'static [AluOp] {
        let _ = stage;
        &[]
    }

    /// Whether shaders of a stage can compare floats. Otherwise these are subtracted, and must be finite.
    fn has_comparisons(&self, _stage: Stage) -> bool {
        true
    }

    /// Lowers optimised SSA to the form that [`emit`](Self::emit) takes. It is still IR and can be run.
    ///
    /// # Errors
    /// The shader uses something that the target cannot express.
    fn lower(&self, shader: &mut tgsi_ir::Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>>;

    /// Whether code must keep the declarations and properties of a TGSI source, used or not.
    fn keeps_interface(&self) -> bool {
        false
    }

    /// Whether [`emit`](Self::emit) is to see the instructions of a TGSI source too.
    fn keeps_source(&self) -> bool {
        false
    }

    /// Code for what [`lower`](Self::lower) gave. The interface is there if the target [keeps](Self::keeps_interface)
    /// it, or the [source](Self::keeps_source), and the source was TGSI: that source, with its instructions only if the
    /// target keeps them.
    ///
    /// # Errors
    /// The shader uses something that the target cannot express.
    fn emit(
        &self,
        lowered: tgsi_ir::Shader,
        interface: Option<&tgsi::Shader>,
        passes: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>>;

    /// The extension of files with its code, if options make it text while that of the driver is binary.
    fn text_extension(&self) -> Option<&'static str> {
        None
    }

    /// The size of the code, as far as the target counts it.
    fn size(&self, code: &Code) -> CodeSize;

    /// What the code uses of each limit of its consumer; `None` if the target knows of no limits. Positions are those
    /// that the code has: of TGSI, the spans of the shader.
    fn fit(&self, code: &Code) -> Option<Fit> {
        let _ = code;
        None
    }

    /// What [`emit`](Self::emit) assigns to inputs, outputs and resources of a lowered shader, and what the code needs
    /// of its consumer: an object of JSON. `None` if the target assigns nothing.
    ///
    /// # Errors
    /// Those of [`emit`](Self::emit).
    fn reflect(&self, lowered: &tgsi_ir::Shader) -> Option<Result<String, Box<dyn TargetError>>> {
        let _ = lowered;
        None
    }
}

/// The code that a driver emits.
#[derive(Clone, Debug)]
pub enum Code {
    /// TGSI, and how it is printed.
    Tgsi(Box<tgsi::Shader>, PrintOptions),
    /// Text.
    Text(String),
    /// Binary code.
    Binary(Vec<u8>),
    /// An object file.
    Object(Box<ObjectFile>),
}

/// An object file, and what cannot be read from it without effort.
#[derive(Clone, Debug)]
pub struct ObjectFile {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The size of the code in it.
    pub size: CodeSize,
    /// Files that stand beside it.
    pub companions: Vec<Companion>,
}

/// A file that belongs to code and stands beside it, such as the header of an object file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Companion {
    /// The extension of its name, which else is that of the file with the code.
    pub extension: &'static str,
    /// Its content.
    pub text: String,
}

impl Code {
    /// The bytes of a file with the code.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Code::Tgsi(shader, options) => tgsi::text::print(&shader, options).into_bytes(),
            Code::Text(text) => text.into_bytes(),
            Code::Binary(bytes) => bytes,
            Code::Object(object) => object.bytes,
        }
    }

    /// The files that belong to the code.
    pub fn companions(&self) -> &[Companion] {
        match self {
            Code::Object(object) => &object.companions,
            Code::Tgsi(..) | Code::Text(_) | Code::Binary(_) => &[],
        }
    }

    /// The shader, if it is TGSI.
    pub fn into_tgsi(self) -> Option<tgsi::Shader> {
        match self {
            Code::Tgsi(shader, _) => Some(*shader),
            Code::Text(_) | Code::Binary(_) | Code::Object(_) => None,
        }
    }
}

/// The size of code, for reports.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CodeSize {
    /// Instructions.
    pub instructions: u32,
    /// Registers for temporary values.
    pub temporaries: u32,
    /// Registers for constants that are part of the code.
    pub immediates: u32,
}

impl From<&tgsi::Shader> for CodeSize {
    fn from(shader: &tgsi::Shader) -> CodeSize {
        CodeSize {
            instructions: shader.instructions.len() as u32,
            temporaries: tgsi::scan::count_temporaries(shader),
            immediates: shader.immediates.len() as u32,
        }
    }
}

/// Makes the [`Runner`] of code of a target; `None` if the target is of another driver.
///
/// That is a function of a driver's package and no method of [`Target`], because compilers would be linked with
/// interpreters that they never run.
pub type RunnerFn = fn(&dyn Target, &Code) -> Option<Result<Box<dyn Runner>, String>>;

/// Runs code.
pub trait Runner: Send + Sync {
    /// Runs it once for all lanes.
    ///
    /// # Errors
    /// The run failed, or did not terminate.
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, String>;

    /// Whether a run took too long on a device and was given up. Later ones are then errors at once.
    fn is_unended(&self) -> bool {
        false
    }
}
