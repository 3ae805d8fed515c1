//! The languages.

use tgsi_compiler::DriverOption;
use tgsi_ir::ShaderStage;

/// A text language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Language {
    /// WGSL of WebGPU.
    #[default]
    Wgsl,
    /// GLSL of OpenGL.
    Glsl,
    /// GLSL of OpenGL ES.
    Essl,
    /// Metal's language.
    Msl,
    /// Direct3D's language.
    Hlsl,
}

impl Language {
    /// Returns its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Language::Wgsl => "WGSL",
            Language::Glsl => "GLSL",
            Language::Essl => "ESSL",
            Language::Msl => "MSL",
            Language::Hlsl => "HLSL",
        }
    }

    /// Returns the SPIR-V driver's profile for modules to translate.
    pub const fn profile(self) -> &'static str {
        match self {
            Language::Wgsl => "portable",
            Language::Glsl => "glsl",
            Language::Essl => "essl",
            Language::Msl => "msl",
            Language::Hlsl => "hlsl",
        }
    }

    /// Returns its versions, multiplied by 100; the first is the default.
    pub const fn versions(self) -> &'static [(DriverOption, u16)] {
        macro_rules! versions {
            ($($name:literal $about:literal $number:literal),*) => {
                &[$((DriverOption { name: $name, about: $about }, $number)),*]
            };
        }
        match self {
            Language::Wgsl => &[],
            Language::Glsl => versions!["glsl450" "GLSL 4.50 (the default)." 450, "glsl430" "GLSL 4.30." 430,
                "glsl460" "GLSL 4.60." 460],
            Language::Essl => versions!["essl320" "GLSL ES 3.20 (the default)." 320, "essl310" "GLSL ES 3.10." 310],
            Language::Msl => versions!["msl2.4" "Metal 2.4 (the default)." 204, "msl3.0" "Metal 3.0." 300],
            Language::Hlsl => versions!["sm6.0" "Shader model 6.0 (the default)." 600, "sm5.1" "Shader model 5.1." 501,
                "sm6.7" "Shader model 6.7." 607],
        }
    }

    /// Returns whether shaders of a stage can be translated to the language.
    pub const fn has_stage(self, stage: ShaderStage) -> bool {
        match stage {
            ShaderStage::Vertex | ShaderStage::Fragment | ShaderStage::Compute => true,
            // Metal has no geometry shaders; SPIRV-Cross would print them as functions without effect.
            ShaderStage::Geometry => matches!(self, Language::Glsl | Language::Essl | Language::Hlsl),
            ShaderStage::TessCtrl | ShaderStage::TessEval => {
                matches!(self, Language::Glsl | Language::Essl | Language::Msl)
            }
            _ => false,
        }
    }
}
