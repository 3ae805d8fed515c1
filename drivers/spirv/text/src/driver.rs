//! The drivers: one for each language.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use tgsi_compiler::{Code, CodeSize, Driver, DriverOption, SlotLocations, Subject, Target, TargetError, UnknownOption};
use tgsi_diagnostics::ErrorCode;
use tgsi_driver_spirv::SpirvOptions;
use tgsi_driver_spirv::options::Locations;

use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::ShaderStage;

use crate::blame::{blamed, blamed_by_library};
use crate::error::{Located, TextError};
use crate::language::Language;
use crate::refuse::refuse;

/// The driver for a language.
#[derive(Clone, Copy, Debug)]
pub struct Text(Language);

/// The driver for WGSL.
pub static WGSL: Text = Text(Language::Wgsl);
/// The driver for GLSL.
#[cfg(feature = "spirv-cross")]
pub static GLSL: Text = Text(Language::Glsl);
/// The driver for GLSL ES.
#[cfg(feature = "spirv-cross")]
pub static ESSL: Text = Text(Language::Essl);
/// The driver for the language of Metal.
#[cfg(feature = "spirv-cross")]
pub static MSL: Text = Text(Language::Msl);
/// The driver for the language of Direct3D.
#[cfg(feature = "spirv-cross")]
pub static HLSL: Text = Text(Language::Hlsl);

/// Options shared with the SPIR-V driver.
const SHARED: &[&str] = &[
    "robust",
    "no_names",
    "depth_minus_one_to_one",
    "flip_y",
    "flat_shading",
    "two_sided",
    "point_size",
    "base_instance_is_zero",
    "base_vertex_is_zero",
    "eight_color_buffers",
    "dual_source",
    "harness",
];

static OPTIONS: LazyLock<Vec<DriverOption>> = LazyLock::new(|| {
    let own =
        DriverOption { name: "contract", about: "Sums of products may be fused, also where the source forbids it." };
    let shared = SpirvOptions::OPTIONS.iter().filter(|option| SHARED.contains(&option.name)).copied();
    [own].into_iter().chain(shared).collect()
});

static PROFILES: [LazyLock<Vec<DriverOption>>; 5] = [
    LazyLock::new(|| profiles_of(Language::Wgsl)),
    LazyLock::new(|| profiles_of(Language::Glsl)),
    LazyLock::new(|| profiles_of(Language::Essl)),
    LazyLock::new(|| profiles_of(Language::Msl)),
    LazyLock::new(|| profiles_of(Language::Hlsl)),
];

fn profiles_of(language: Language) -> Vec<DriverOption> {
    language.versions().iter().map(|(option, _)| *option).collect()
}

impl Driver for Text {
    fn name(&self) -> &'static str {
        match self.0 {
            Language::Wgsl => "wgsl",
            Language::Glsl => "glsl",
            Language::Essl => "essl",
            Language::Msl => "msl",
            Language::Hlsl => "hlsl",
        }
    }

    fn about(&self) -> &'static str {
        match self.0 {
            Language::Wgsl => "WGSL for WebGPU, by way of SPIR-V",
            Language::Glsl => "GLSL for OpenGL, by way of SPIR-V",
            Language::Essl => "GLSL ES for OpenGL ES, by way of SPIR-V",
            Language::Msl => "The language of Metal, by way of SPIR-V",
            Language::Hlsl => "The language of Direct3D, by way of SPIR-V",
        }
    }

    fn file_extension(&self) -> &'static str {
        match self.0 {
            Language::Wgsl => "wgsl",
            Language::Glsl => "glsl",
            Language::Essl => "essl",
            Language::Msl => "metal",
            Language::Hlsl => "hlsl",
        }
    }

    fn options(&self) -> &'static [DriverOption] {
        &OPTIONS
    }

    fn profiles(&self) -> &'static [DriverOption] {
        &PROFILES[self.0 as usize]
    }

    fn error_codes(&self) -> &'static [ErrorCode] {
        TextError::CODES
    }

    fn explanations(&self) -> &'static str {
        include_str!("explanations.txt")
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        let version = self.0.versions().first().map_or(0, |(_, number)| *number);
        let mut target = TextTarget {
            language: self.0,
            version,
            contract: false,
            spirv: SpirvOptions::default(),
            first_bindings: FirstBindings::default(),
        };
        target.spirv.set(self.0.profile())?;
        for &name in options {
            if let Some((_, number)) = self.0.versions().iter().find(|(option, _)| option.name == name) {
                target.version = *number;
            } else if name == "contract" {
                target.contract = true;
            } else if SHARED.contains(&name) {
                target.spirv.set(name)?;
            } else {
                return Err(UnknownOption { name: name.to_owned(), options: self.options(), problem: None });
            }
        }
        Ok(Box::new(target))
    }
}

/// A driver with its options set.
#[derive(Clone, Debug)]
pub struct TextTarget {
    /// The language.
    pub language: Language,
    /// Its version.
    pub version: u16,
    /// Sums of products may be fused anywhere.
    pub contract: bool,
    /// The options for the SPIR-V driver.
    pub spirv: SpirvOptions,
    /// The first bindings of GLSL and ESSL: lower ones belong to other stages of the program.
    pub first_bindings: FirstBindings,
}

/// The first binding of a shader for each kind of resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FirstBindings {
    /// Uniform buffers.
    pub uniform_buffer: u32,
    /// Storage buffers.
    pub storage_buffer: u32,
    /// Images.
    pub image: u32,
    /// Textures.
    pub texture: u32,
}

impl FirstBindings {
    /// Returns the binding of a kind, by its name in the comments of a text.
    pub fn of(&mut self, kind: &str) -> Option<&mut u32> {
        match kind {
            "uniform buffer" => Some(&mut self.uniform_buffer),
            "storage buffer" => Some(&mut self.storage_buffer),
            "image" => Some(&mut self.image),
            "texture" => Some(&mut self.texture),
            _ => None,
        }
    }

    /// Returns the bindings after those of a text, which its comments list.
    fn behind(mut self, text: &str) -> FirstBindings {
        for line in text.lines().skip(1).map_while(|line| line.strip_prefix("// ")) {
            let entry = line.split_once(": ").and_then(|(entry, _)| entry.rsplit_once(' '));
            if let Some((kind, number)) = entry
                && let (Some(first), Ok(number)) = (self.of(kind), number.parse::<u32>())
            {
                *first = (*first).max(number.saturating_add(1));
            }
        }
        self
    }
}

impl Target for TextTarget {
    fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        self.spirv.compiler_options(stage)
    }

    fn with_locations(
        &self,
        inputs: Option<&SlotLocations>,
        outputs: Option<&SlotLocations>,
    ) -> Option<Box<dyn Target>> {
        let mut target = self.clone();
        target.spirv.locations = Locations { inputs: inputs.cloned(), outputs: outputs.cloned() };
        Some(Box::new(target))
    }

    fn behind(&self, code: &Code) -> Option<Box<dyn Target>> {
        match (self.language, code) {
            (Language::Glsl | Language::Essl, Code::Text(text)) => {
                Some(Box::new(TextTarget { first_bindings: self.first_bindings.behind(text), ..self.clone() }))
            }
            _ => None,
        }
    }

    fn lower(&self, shader: &mut tgsi_ir::Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        // The harness turns every shader into a compute shader.
        if !self.spirv.harness && !self.language.has_stage(shader.stage) {
            return Err(TextError::Stage(shader.stage, self.language.name()).into());
        }
        Target::lower(&self.spirv, shader, passes)
    }

    fn emit(
        &self,
        lowered: tgsi_ir::Shader,
        interface: Option<&tgsi::Shader>,
        _passes: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>> {
        let module = self.spirv.emit_module(lowered, interface)?;
        if let Err((error, at)) = refuse(&module.words, self) {
            return Err(Located { error, subject: blamed(&module.words, at, &module.origins) }.into());
        }
        let text = self.written(&module.words).map_err(|error| {
            let subject = match &error {
                TextError::Lacks(_, what) => blamed_by_library(&module.words, what, &module.origins),
                _ => Subject::Shader,
            };
            Located { error, subject }
        })?;
        Ok(Code::Text(text))
    }

    fn size(&self, code: &Code) -> CodeSize {
        let Code::Text(text) = code else { return CodeSize::default() };
        let statements = text.lines().filter(|line| line.trim_end().ends_with(';')).count();
        CodeSize { instructions: u32::try_from(statements).unwrap_or(u32::MAX), ..CodeSize::default() }
    }
}

impl TextTarget {
    /// Translates a module that the language supports.
    fn written(&self, words: &[u32]) -> Result<String, TextError> {
        match self.language {
            Language::Wgsl => caught("naga", || crate::by_naga::translate(words, self)),
            #[cfg(feature = "spirv-cross")]
            _ => caught("SPIRV-Cross", || crate::by_cross::translate(words, self)),
            #[cfg(not(feature = "spirv-cross"))]
            _ => Err(TextError::Writer("this build", "it is without SPIRV-Cross".to_owned())),
        }
    }
}

/// Runs a library, turning a panic into an error.
fn caught(library: &'static str, run: impl FnOnce() -> Result<String, TextError>) -> Result<String, TextError> {
    // No state that a panic leaves behind is used again.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| payload.downcast_ref::<&str>().map(|&text| text.to_owned()))
            .unwrap_or_default();
        Err(TextError::Panic(library, message))
    })
}
