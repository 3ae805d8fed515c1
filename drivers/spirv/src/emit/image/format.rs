//! Formats of storage images.

use spirv::ImageFormat;
use tgsi_environment::PixelFormat;

use crate::module::Class;

/// Returns the SPIR-V format of a pixel format; `Unknown` if SPIR-V lacks it.
pub fn image_format(format: PixelFormat) -> ImageFormat {
    match format.short_name() {
        "R32G32B32A32_FLOAT" => ImageFormat::Rgba32f,
        "R16G16B16A16_FLOAT" => ImageFormat::Rgba16f,
        "R32_FLOAT" => ImageFormat::R32f,
        "R8G8B8A8_UNORM" => ImageFormat::Rgba8,
        "R8G8B8A8_SNORM" => ImageFormat::Rgba8Snorm,
        "R32G32_FLOAT" => ImageFormat::Rg32f,
        "R16G16_FLOAT" => ImageFormat::Rg16f,
        "R11G11B10_FLOAT" => ImageFormat::R11fG11fB10f,
        "R16_FLOAT" => ImageFormat::R16f,
        "R16G16B16A16_UNORM" => ImageFormat::Rgba16,
        "R10G10B10A2_UNORM" => ImageFormat::Rgb10A2,
        "R16G16_UNORM" => ImageFormat::Rg16,
        "R8G8_UNORM" => ImageFormat::Rg8,
        "R16_UNORM" => ImageFormat::R16,
        "R8_UNORM" => ImageFormat::R8,
        "R16G16B16A16_SNORM" => ImageFormat::Rgba16Snorm,
        "R16G16_SNORM" => ImageFormat::Rg16Snorm,
        "R8G8_SNORM" => ImageFormat::Rg8Snorm,
        "R16_SNORM" => ImageFormat::R16Snorm,
        "R8_SNORM" => ImageFormat::R8Snorm,
        "R32G32B32A32_SINT" => ImageFormat::Rgba32i,
        "R16G16B16A16_SINT" => ImageFormat::Rgba16i,
        "R8G8B8A8_SINT" => ImageFormat::Rgba8i,
        "R32_SINT" => ImageFormat::R32i,
        "R32G32_SINT" => ImageFormat::Rg32i,
        "R16G16_SINT" => ImageFormat::Rg16i,
        "R8G8_SINT" => ImageFormat::Rg8i,
        "R16_SINT" => ImageFormat::R16i,
        "R8_SINT" => ImageFormat::R8i,
        "R32G32B32A32_UINT" => ImageFormat::Rgba32ui,
        "R16G16B16A16_UINT" => ImageFormat::Rgba16ui,
        "R8G8B8A8_UINT" => ImageFormat::Rgba8ui,
        "R32_UINT" => ImageFormat::R32ui,
        "R10G10B10A2_UINT" => ImageFormat::Rgb10a2ui,
        "R32G32_UINT" => ImageFormat::Rg32ui,
        "R16G16_UINT" => ImageFormat::Rg16ui,
        "R8G8_UINT" => ImageFormat::Rg8ui,
        "R16_UINT" => ImageFormat::R16ui,
        "R8_UINT" => ImageFormat::R8ui,
        _ => ImageFormat::Unknown,
    }
}

/// Returns whether every device of Vulkan has a format. These are the formats of GLSL ES as well; others need
/// `StorageImageExtendedFormats`.
pub fn is_in_every_device(format: ImageFormat) -> bool {
    use ImageFormat::*;
    matches!(
        format,
        Rgba32f
            | Rgba16f
            | R32f
            | Rgba8
            | Rgba8Snorm
            | Rgba32i
            | Rgba16i
            | Rgba8i
            | R32i
            | Rgba32ui
            | Rgba16ui
            | Rgba8ui
            | R32ui
    )
}

/// Returns the format of an image of words that atomics access.
pub fn atomic_format(class: Class) -> ImageFormat {
    match class {
        Class::Int => ImageFormat::R32i,
        Class::Float => ImageFormat::R32f,
        Class::Uint | Class::Bool => ImageFormat::R32ui,
    }
}
