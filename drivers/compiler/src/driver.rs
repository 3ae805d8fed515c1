//! The interface of drivers: [`Driver`] describes a driver, [`Target`] is the driver with its options set.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;

use tgsi::text::PrintOptions;
use tgsi_diagnostics::Diagnostic;
use tgsi_diagnostics::ErrorCode;
use tgsi_diagnostics::suggest;
use tgsi_environment::InterfaceIntegers;
use tgsi_ir::alu::AluOp;
use tgsi_to_ir::ToIrOptions;

use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline::OptLevel;
use tgsi_ir::shader::ShaderStage;
use thiserror::Error;

use crate::error::TargetError;
use crate::fit::Fit;
use crate::reflection::Reflection;

/// A driver: its name, its options, and the constructor of its targets.
pub trait Driver: Debug + Send + Sync {
    /// The name that the command line and fixtures use.
    fn name(&self) -> &'static str;

    /// One sentence for `--help`.
    fn about(&self) -> &'static str;

    /// File extension of its code.
    fn file_extension(&self) -> &'static str;

    /// Whether its code is binary and must not be written to terminals.
    fn is_binary(&self) -> bool {
        false
    }

    /// Options that turn binary code into text, in the form of its usual disassembler. Empty if the code is
    /// self-contained, so that the registry can disassemble it.
    fn assembly_options(&self) -> &'static [&'static str] {
        &[]
    }

    /// The options, in listing order.
    fn options(&self) -> &'static [DriverOption];

    /// The target profiles, in listing order: names for sets of facts about a consumer, which may differ between
    /// stages. [`target`](Self::target) accepts them like options.
    fn profiles(&self) -> &'static [DriverOption] {
        &[]
    }

    /// The codes of its errors.
    fn error_codes(&self) -> &'static [ErrorCode];

    /// The pages of its error codes, in the format of [`tgsi::explain`].
    fn explanations(&self) -> &'static str {
        ""
    }

    /// Returns a target with the given options or profiles set.
    ///
    /// # Errors
    /// [`UnknownOption`].
    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption>;

    /// Sets of options, each a comma-separated string, that do not change the meaning of any shader. Fixtures with
    /// inputs run with all of them.
    fn variants(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Looks up the name of a target profile of a driver.
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
#[non_exhaustive]
pub struct UnknownProfile {
    /// The name.
    pub name: String,
    /// The driver.
    pub driver: &'static str,
    /// The closest profile name, if one is close.
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

/// The error for an unknown option name, or for an invalid value of an option.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}", problem.clone().unwrap_or_else(|| no_option(name, .options)))]
pub struct UnknownOption {
    /// The name.
    pub name: String,
    /// The options of the driver.
    pub options: &'static [DriverOption],
    /// The error in the value, if the option takes one.
    pub problem: Option<String>,
}

impl UnknownOption {
    /// Returns the error for a name that is not an option.
    pub fn new(name: &str, options: &'static [DriverOption]) -> UnknownOption {
        UnknownOption { name: name.to_owned(), options, problem: None }
    }
}

fn no_option(name: &str, options: &[DriverOption]) -> String {
    let similar = suggest(name, options.iter().map(|option| option.name));
    let hint = similar.map(|similar| format!("; `{similar}` is similar")).unwrap_or_default();
    format!("no driver option `{name}`{hint}; there are {}", names(options))
}

fn names(options: &[DriverOption]) -> String {
    if options.is_empty() {
        return "none".to_owned();
    }
    options.iter().map(|option| option.name).collect::<Vec<_>>().join(", ")
}

/// A slot between two linked stages. Languages that compare the declarations of both sides need the reader's
/// interpolation at the writer, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
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

/// Slots between two stages, by whether they are per-patch and by slot (see [`tgsi_ir::slots`]). Locations are numbered
/// from 0; consecutive slots have consecutive locations, and patches come last.
pub type SlotLocations = BTreeMap<(bool, i32), LinkedSlot>;

/// The limits of a target's accesses to textures and images, with which substitutes for real ones can differ from those
/// of the IR. The default has no limits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct TextureLimits {
    /// The bits of coordinates of images, if they are fewer than 32. Coordinates beyond the signed numbers of these
    /// bits become the first or the last one, which no image has.
    pub coordinate_bits: Option<u8>,
    /// The number of images, if it is bounded: loads from others are 0, and stores have no effect.
    pub images: Option<u32>,
    /// The last level that queries of sizes distinguish.
    pub last_level: Option<u32>,
    /// Whether lookups with gradients are lookups at an explicit level, that of
    /// [`lower_gradients`](fn@tgsi_ir::passes::lower_resources::lower_gradients).
    pub lacks_gradients: bool,
}

/// The ways in which results of a target's code may differ from those of the IR. By default, all bits are equal.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Fidelity {
    /// There are no integers: integers of a source may become floats.
    pub lacks_integers: bool,
    /// There is no select instruction: values are multiplied by 0 or 1, and the value that is not selected must be
    /// finite.
    pub lacks_selections: bool,
    /// Floats cannot be compared: they are subtracted, and must be finite.
    pub lacks_comparisons: bool,
    /// Operations that lowering replaces by others with approximately equal results. For sums and dot products:
    /// products are added without rounding them.
    pub approximations: &'static [AluOp],
    /// Operations that the executor of the code may round differently from the IR. If there are any, their results for
    /// NaN and infinities may differ too, as may those of sums and products. Empty if interpreters run the code.
    pub device_ops: &'static [AluOp],
    /// A load that is partly beyond the end of a buffer gives the words that exist. In the IR it is 0.
    pub loads_words: bool,
    /// Addresses of words in buffers are rounded down to multiples of four.
    pub aligns_addresses: bool,
    /// The limits of textures and images.
    pub textures: TextureLimits,
}

/// A driver with its options set. The compiler calls the methods in this order.
pub trait Target: Any + Debug + Send + Sync {
    /// Adapts a source to the dialect of the target, if that interprets TGSI differently.
    fn read(&self, source: &mut tgsi::Shader) {
        let _ = source;
    }

    /// Returns findings about a source: parts that consumers of the code cannot represent, however it is translated.
    fn check(&self, source: &tgsi::Shader) -> Vec<Diagnostic> {
        let _ = source;
        Vec::new()
    }

    /// The options of the conversion from TGSI.
    fn to_ir_options(&self, level: OptLevel) -> ToIrOptions {
        let _ = level;
        ToIrOptions::default()
    }

    /// Returns this target for a shader that was linked with its neighbours, with these locations of its inputs
    /// and outputs; `None` for a side that was not linked. Returns `None` if the target assigns no locations.
    fn with_locations(
        &self,
        inputs: Option<&SlotLocations>,
        outputs: Option<&SlotLocations>,
    ) -> Option<Box<dyn Target>> {
        let _ = (inputs, outputs);
        None
    }

    /// Returns this target for a shader with these names, if the code has the names of uniforms, inputs or samplers.
    fn with_names(&self, names: &crate::front_end::Interface) -> Option<Box<dyn Target>> {
        let _ = names;
        None
    }

    /// Returns this target for the next shader of a program, after a shader with this code, if the stages of a program
    /// share a numbering, such as bindings. Otherwise returns `None`.
    fn following(&self, code: &Code) -> Option<Box<dyn Target>> {
        let _ = code;
        None
    }

    /// Returns the output registers that are read by something other than the next stage, such as stream output.
    fn captured_outputs(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Returns the properties of the target that the optimiser needs, for shaders of a stage.
    fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions;

    /// Returns the ways in which results of the code of shaders of a stage may differ from those of the IR, for checks.
    fn fidelity(&self, stage: ShaderStage) -> Fidelity {
        let _ = stage;
        Fidelity::default()
    }

    /// Whether shaders of a stage may read textures. A target that cannot express texture instructions in a stage
    /// declines them here, so that checks generate none; in a source, they are errors of [`lower`](Self::lower) or
    /// [`emit`](Self::emit).
    fn has_textures(&self, stage: ShaderStage) -> bool {
        let _ = stage;
        true
    }

    /// Returns the integers at the interface of an optimised shader that the target's code reads and writes as floats;
    /// `None` if the target has integers in this stage.
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

    /// Lowers optimised SSA to the form that [`emit`](Self::emit) takes. The result is still IR and can be run.
    ///
    /// # Errors
    /// The shader uses something that the target cannot express.
    fn lower(&self, shader: &mut tgsi_ir::Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>>;

    /// Whether code must keep the declarations and properties of a TGSI source, used or not.
    fn keeps_interface(&self) -> bool {
        false
    }

    /// Whether [`emit`](Self::emit) also needs the instructions of a TGSI source.
    fn keeps_source(&self) -> bool {
        false
    }

    /// Emits code for a shader from [`lower`](Self::lower). `interface` is present if the source was TGSI and the
    /// target [keeps the interface](Self::keeps_interface) or [the source](Self::keeps_source): it is the source, with
    /// instructions only if the target keeps them.
    ///
    /// Spans of the instructions of TGSI code start at the [origin](tgsi_ir::Body::origin) of the instruction in the
    /// IR, or are empty; the compiler replaces them by places in the source.
    ///
    /// # Errors
    /// The shader uses something that the target cannot express.
    fn emit(
        &self,
        lowered: tgsi_ir::Shader,
        interface: Option<&tgsi::Shader>,
        passes: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>>;

    /// The file extension of its code, if options turn the driver's binary code into text.
    fn text_extension(&self) -> Option<&'static str> {
        None
    }

    /// Returns the size of the code. Counts that the target does not know are 0.
    fn size(&self, code: &Code) -> CodeSize;

    /// Returns how much of each limit of its consumer the code uses; `None` if the target has no limits. Positions are
    /// those in the code: for TGSI, the spans of the shader.
    fn fit(&self, code: &Code) -> Option<Fit> {
        let _ = code;
        None
    }

    /// Returns options for the [reader](crate::front_end::FrontEnd::reader) of a front end, by its name, with which it
    /// accepts the language that applications can use with the target: versions, extensions, built-in constants. Empty
    /// if nothing is known of it.
    fn language_options(&self, front_end: &str) -> Vec<String> {
        let _ = front_end;
        Vec::new()
    }

    /// Returns what [`emit`](Self::emit) assigns to inputs, outputs and resources of a lowered shader, and the
    /// requirements of the code. Returns `None` if the target assigns nothing.
    ///
    /// # Errors
    /// Those of [`emit`](Self::emit).
    fn reflect(&self, lowered: &tgsi_ir::Shader) -> Option<Result<Reflection, Box<dyn TargetError>>> {
        let _ = lowered;
        None
    }
}

/// The code that a driver emits.
#[derive(Clone, Debug)]
pub enum Code {
    /// TGSI, and its print options.
    Tgsi(Box<tgsi::Shader>, PrintOptions),
    /// Text.
    Text(String),
    /// Binary code.
    Binary(Vec<u8>),
    /// An object file.
    Object(Box<ObjectFile>),
}

/// An object file, and facts that cannot easily be read from it.
#[derive(Clone, Debug)]
pub struct ObjectFile {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The size of the code in it.
    pub size: CodeSize,
    /// Files that accompany it.
    pub auxiliary_files: Vec<AuxiliaryFile>,
}

/// A file that accompanies code, such as the header of an object file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuxiliaryFile {
    /// Its file extension. The rest of the name is that of the file with the code.
    pub extension: &'static str,
    /// Its content.
    pub text: String,
}

impl Code {
    /// Returns the bytes of a file with the code.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Code::Tgsi(shader, options) => tgsi::text::print(&shader, options).into_bytes(),
            Code::Text(text) => text.into_bytes(),
            Code::Binary(bytes) => bytes,
            Code::Object(object) => object.bytes,
        }
    }

    /// Returns the files that accompany the code.
    pub fn auxiliary_files(&self) -> &[AuxiliaryFile] {
        match self {
            Code::Object(object) => &object.auxiliary_files,
            Code::Tgsi(..) | Code::Text(_) | Code::Binary(_) => &[],
        }
    }

    /// Returns the shader, if the code is TGSI.
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
