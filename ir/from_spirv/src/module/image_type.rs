//! Types of images.

use spirv::{Dim, ImageFormat};
use tgsi_environment::{PixelFormat, SamplerDim};
use tgsi_ir::types::ScalarType;

use super::declare::Reader;
use crate::types::{ImageType, TypeData};
use crate::words::Inst;

impl Reader<'_> {
    /// The type that `OpTypeImage` declares.
    pub(super) fn image_type(&mut self, inst: &Inst<'_>) -> TypeData {
        let sampled = self.type_at(inst, 1);
        let sampled = match self.module.types.as_vector(sampled) {
            Some((scalar @ (ScalarType::Float | ScalarType::Int | ScalarType::Uint), 1)) => scalar,
            Some((ScalarType::Float16, 1)) => ScalarType::Float,
            Some((ScalarType::Int16, 1)) => ScalarType::Int,
            Some((ScalarType::Uint16, 1)) => ScalarType::Uint,
            _ => return self.refused(inst, "an image of such texels".to_owned()),
        };
        let is_multisampled = inst.word(5) != 0;
        let (dim, is_subpass) = match (Dim::from_u32(inst.word(2)), is_multisampled) {
            (Some(Dim::Dim1D), false) => (SamplerDim::Dim1D, false),
            (Some(Dim::Dim2D), false) => (SamplerDim::Dim2D, false),
            (Some(Dim::Dim2D), true) => (SamplerDim::Ms, false),
            (Some(Dim::Dim3D), false) => (SamplerDim::Dim3D, false),
            (Some(Dim::DimCube), false) => (SamplerDim::Cube, false),
            (Some(Dim::DimRect), false) => (SamplerDim::Rect, false),
            (Some(Dim::DimBuffer), false) => (SamplerDim::Buf, false),
            (Some(Dim::DimSubpassData), false) => (SamplerDim::Dim2D, true),
            (Some(Dim::DimSubpassData), true) => (SamplerDim::Ms, true),
            _ => return self.refused(inst, "an image of such dimensions".to_owned()),
        };
        TypeData::Image(ImageType {
            sampled,
            dim,
            is_array: inst.word(4) != 0,
            is_multisampled,
            is_storage: inst.word(6) == 2 && !is_subpass,
            is_subpass,
            format: pixel_format(inst.word(7)),
        })
    }
}

/// The format with a number of SPIR-V.
fn pixel_format(number: u32) -> PixelFormat {
    use ImageFormat as F;
    let name = match ImageFormat::from_u32(number) {
        None | Some(F::Unknown) => return PixelFormat::NONE,
        Some(format) => match format {
            F::Unknown => "NONE",
            F::Rgba32f => "R32G32B32A32_FLOAT",
            F::Rgba16f => "R16G16B16A16_FLOAT",
            F::R32f => "R32_FLOAT",
            F::Rgba8 => "R8G8B8A8_UNORM",
            F::Rgba8Snorm => "R8G8B8A8_SNORM",
            F::Rg32f => "R32G32_FLOAT",
            F::Rg16f => "R16G16_FLOAT",
            F::R11fG11fB10f => "R11G11B10_FLOAT",
            F::R16f => "R16_FLOAT",
            F::Rgba16 => "R16G16B16A16_UNORM",
            F::Rgb10A2 => "R10G10B10A2_UNORM",
            F::Rg16 => "R16G16_UNORM",
            F::Rg8 => "R8G8_UNORM",
            F::R16 => "R16_UNORM",
            F::R8 => "R8_UNORM",
            F::Rgba16Snorm => "R16G16B16A16_SNORM",
            F::Rg16Snorm => "R16G16_SNORM",
            F::Rg8Snorm => "R8G8_SNORM",
            F::R16Snorm => "R16_SNORM",
            F::R8Snorm => "R8_SNORM",
            F::Rgba32i => "R32G32B32A32_SINT",
            F::Rgba16i => "R16G16B16A16_SINT",
            F::Rgba8i => "R8G8B8A8_SINT",
            F::R32i => "R32_SINT",
            F::Rg32i => "R32G32_SINT",
            F::Rg16i => "R16G16_SINT",
            F::Rg8i => "R8G8_SINT",
            F::R16i => "R16_SINT",
            F::R8i => "R8_SINT",
            F::Rgba32ui => "R32G32B32A32_UINT",
            F::Rgba16ui => "R16G16B16A16_UINT",
            F::Rgba8ui => "R8G8B8A8_UINT",
            F::R32ui => "R32_UINT",
            F::Rgb10a2ui => "R10G10B10A2_UINT",
            F::Rg32ui => "R32G32_UINT",
            F::Rg16ui => "R16G16_UINT",
            F::Rg8ui => "R8G8_UINT",
            F::R16ui => "R16_UINT",
            F::R8ui => "R8_UINT",
            F::R64ui => "R64_UINT",
            F::R64i => "R64_SINT",
        },
    };
    PixelFormat::from_short_name(name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formats_exist() {
        for number in 1..=39 {
            assert_ne!(pixel_format(number), PixelFormat::NONE, "{number}");
        }
    }
}
