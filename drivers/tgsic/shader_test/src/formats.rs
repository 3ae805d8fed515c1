//! Formats of textures and images by their names in OpenGL.

use tgsi_raster::format::PixelFormat;

/// Names without the prefix `GL_`, with those of the pixel formats.
const FORMATS: &[(&str, &str)] = &[
    ("R8", "R8_UNORM"),
    ("RG8", "R8G8_UNORM"),
    ("RGB", "R8G8B8A8_UNORM"),
    ("RGB8", "R8G8B8A8_UNORM"),
    ("RGBA", "R8G8B8A8_UNORM"),
    ("RGBA8", "R8G8B8A8_UNORM"),
    ("COMPRESSED_RGB", "R8G8B8A8_UNORM"),
    ("COMPRESSED_RGBA", "R8G8B8A8_UNORM"),
    ("SRGB8_ALPHA8", "R8G8B8A8_SRGB"),
    ("R8_SNORM", "R8_SNORM"),
    ("RG8_SNORM", "R8G8_SNORM"),
    ("RGBA8_SNORM", "R8G8B8A8_SNORM"),
    ("RGBA8UI", "R8G8B8A8_UINT"),
    ("RGBA8I", "R8G8B8A8_SINT"),
    ("R16F", "R16_SFLOAT"),
    ("RG16F", "R16G16_SFLOAT"),
    ("RGBA16F", "R16G16B16A16_SFLOAT"),
    ("R32F", "R32_SFLOAT"),
    ("RG32F", "R32G32_SFLOAT"),
    ("RGBA32F", "R32G32B32A32_SFLOAT"),
    ("R32I", "R32_SINT"),
    ("RG32I", "R32G32_SINT"),
    ("RGBA32I", "R32G32B32A32_SINT"),
    ("R32UI", "R32_UINT"),
    ("RG32UI", "R32G32_UINT"),
    ("RGBA32UI", "R32G32B32A32_UINT"),
    ("R11F_G11F_B10F", "B10G11R11_UFLOAT_PACK32"),
    ("RGB10_A2", "A2B10G10R10_UNORM_PACK32"),
    ("RGB565", "R5G6B5_UNORM_PACK16"),
];

/// The format with a name: `GL_RGBA8`. Components that OpenGL lacks are stored, and compressed formats are not
/// compressed.
pub(crate) fn pixel_format(name: &str) -> Option<PixelFormat> {
    let name = name.strip_prefix("GL_")?;
    let (_, known) = FORMATS.iter().find(|(known, _)| *known == name)?;
    PixelFormat::from_name(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_textures() {
        for (name, _) in FORMATS {
            let format = pixel_format(&format!("GL_{name}")).expect("a format");
            assert!(format.sampled().is_some(), "{name}");
        }
        assert_eq!(pixel_format("GL_ALPHA8"), None);
    }
}
