//! The drivers: one for each language.

use std::sync::LazyLock;

use tgsi_compiler::{Driver, DriverOption, Target, UnknownOption};
use tgsi_diagnostics::ErrorCode;
use tgsi_driver_spirv::SpirvOptions;

use crate::error::TextError;
use crate::language::Language;
use crate::options::TextOptions;
use crate::target::{TextTarget, translate};
use crate::unsupported::check_support;

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
        include_str!("../explanations.txt")
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        let mut target = TextTarget { options: TextOptions::new(self.0), spirv: SpirvOptions::default() };
        target.spirv.set(self.0.profile())?;
        for &name in options {
            if let Some((_, number)) = self.0.versions().iter().find(|(option, _)| option.name == name) {
                target.options.version = *number;
            } else if name == "contract" {
                target.options.contract = true;
            } else if SHARED.contains(&name) {
                target.spirv.set(name)?;
            } else {
                return Err(UnknownOption { name: name.to_owned(), options: self.options(), problem: None });
            }
        }
        Ok(Box::new(target))
    }
}

impl Text {
    /// Translates a module of the SPIR-V driver with the language's profile, for tests.
    ///
    /// # Errors
    /// [`TextError`].
    #[doc(hidden)]
    pub fn translate_module(&self, words: &[u32]) -> Result<String, TextError> {
        let options = TextOptions::new(self.0);
        check_support(words, &options).map_err(|(error, _)| error)?;
        translate(words, &options)
    }
}
