//! Layouts of the texels of images.

use tgsi_environment::{PixelFormat, SamplerDim};

use crate::extension::Extension as E;
use crate::types::{ImageType, Scalar};
use crate::version::{NEVER, Since};

/// A layout of texels.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct ImageFormat {
    /// The identifier of the layout.
    pub(crate) name: &'static str,
    /// The type of the components of images that have it; `None` if it only states the number and size of the
    /// components.
    texel: Option<Scalar>,
    /// The pixel format, or its name without the type of the components.
    pixels: &'static str,
    /// Availability.
    pub(crate) since: Since,
}

const DESKTOP: Since = Since::new(420, NEVER).or(&[E::ARBShaderImageLoadStore, E::NVImageFormats]);
const NORMALIZED: Since = Since::new(420, NEVER).or(&[E::ARBShaderImageLoadStore]);
const ALL: Since = Since::new(420, 310).or(&[E::ARBShaderImageLoadStore]);
const SIZES: Since = Since::new(NEVER, NEVER).or(&[E::EXTShaderImageLoadStore]);

const fn float(name: &'static str, pixels: &'static str, since: Since) -> ImageFormat {
    ImageFormat { name, texel: Some(Scalar::Float), pixels, since }
}

const fn int(name: &'static str, pixels: &'static str, since: Since) -> ImageFormat {
    ImageFormat { name, texel: Some(Scalar::Int), pixels, since }
}

const fn uint(name: &'static str, pixels: &'static str, since: Since) -> ImageFormat {
    ImageFormat { name, texel: Some(Scalar::Uint), pixels, since }
}

const fn size(name: &'static str, pixels: &'static str) -> ImageFormat {
    ImageFormat { name, texel: None, pixels, since: SIZES }
}

/// All, by the type of components.
static FORMATS: [ImageFormat; 44] = [
    float("rgba32f", "R32G32B32A32_FLOAT", ALL),
    float("rgba16f", "R16G16B16A16_FLOAT", ALL),
    float("rg32f", "R32G32_FLOAT", DESKTOP),
    float("rg16f", "R16G16_FLOAT", DESKTOP),
    float("r11f_g11f_b10f", "R11G11B10_FLOAT", DESKTOP),
    float("r32f", "R32_FLOAT", ALL),
    float("r16f", "R16_FLOAT", DESKTOP),
    float("rgba16", "R16G16B16A16_UNORM", NORMALIZED),
    float("rgb10_a2", "R10G10B10A2_UNORM", DESKTOP),
    float("rgba8", "R8G8B8A8_UNORM", ALL),
    float("rg16", "R16G16_UNORM", NORMALIZED),
    float("rg8", "R8G8_UNORM", DESKTOP),
    float("r16", "R16_UNORM", NORMALIZED),
    float("r8", "R8_UNORM", DESKTOP),
    float("rgba16_snorm", "R16G16B16A16_SNORM", NORMALIZED),
    float("rgba8_snorm", "R8G8B8A8_SNORM", ALL),
    float("rg16_snorm", "R16G16_SNORM", NORMALIZED),
    float("rg8_snorm", "R8G8_SNORM", DESKTOP),
    float("r16_snorm", "R16_SNORM", NORMALIZED),
    float("r8_snorm", "R8_SNORM", DESKTOP),
    int("rgba32i", "R32G32B32A32_SINT", ALL),
    int("rgba16i", "R16G16B16A16_SINT", ALL),
    int("rgba8i", "R8G8B8A8_SINT", ALL),
    int("rg32i", "R32G32_SINT", DESKTOP),
    int("rg16i", "R16G16_SINT", DESKTOP),
    int("rg8i", "R8G8_SINT", DESKTOP),
    int("r32i", "R32_SINT", ALL),
    int("r16i", "R16_SINT", DESKTOP),
    int("r8i", "R8_SINT", DESKTOP),
    uint("rgba32ui", "R32G32B32A32_UINT", ALL),
    uint("rgba16ui", "R16G16B16A16_UINT", ALL),
    uint("rgb10_a2ui", "R10G10B10A2_UINT", DESKTOP),
    uint("rgba8ui", "R8G8B8A8_UINT", ALL),
    uint("rg32ui", "R32G32_UINT", DESKTOP),
    uint("rg16ui", "R16G16_UINT", DESKTOP),
    uint("rg8ui", "R8G8_UINT", DESKTOP),
    uint("r32ui", "R32_UINT", ALL),
    uint("r16ui", "R16_UINT", DESKTOP),
    uint("r8ui", "R8_UINT", DESKTOP),
    size("size1x8", "R8_"),
    size("size1x16", "R16_"),
    size("size1x32", "R32_"),
    size("size2x32", "R32G32_"),
    size("size4x32", "R32G32B32A32_"),
];

/// The layout with a name.
pub(crate) fn image_format(name: &str) -> Option<&'static ImageFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

impl ImageFormat {
    /// Whether images with components of this type have it.
    pub(crate) fn fits(&self, texel: Scalar) -> bool {
        self.texel.is_none_or(|own| own == texel)
    }

    /// Whether it has one component of 32 bits.
    pub(crate) fn is_single_word(&self) -> bool {
        self.pixels.starts_with("R32_")
    }

    /// The pixel format of images with components of this type.
    fn pixel_format(&self, texel: Scalar) -> PixelFormat {
        let found = match (self.texel, texel) {
            (Some(_), _) => PixelFormat::from_short_name(self.pixels),
            (None, Scalar::Int) => PixelFormat::from_short_name(&format!("{}SINT", self.pixels)),
            (None, Scalar::Uint) => PixelFormat::from_short_name(&format!("{}UINT", self.pixels)),
            // No image has floats of 8 bits.
            (None, _) if self.pixels == "R8_" => PixelFormat::from_short_name("R8_UNORM"),
            (None, _) => PixelFormat::from_short_name(&format!("{}FLOAT", self.pixels)),
        };
        found.unwrap_or(PixelFormat::NONE)
    }
}

/// The pixel format of an image; [`PixelFormat::NONE`] if the application determines it.
pub(crate) fn pixel_format(image: &ImageType, format: Option<&'static ImageFormat>) -> PixelFormat {
    format.map_or(PixelFormat::NONE, |format| format.pixel_format(image.texel))
}

/// Whether an image has several samples.
pub(crate) fn is_multisampled(image: &ImageType) -> bool {
    image.dim == SamplerDim::Ms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_exist() {
        for format in &FORMATS {
            for texel in [Scalar::Float, Scalar::Int, Scalar::Uint].into_iter().filter(|&texel| format.fits(texel)) {
                let found = format.pixel_format(texel);
                assert_ne!(found, PixelFormat::NONE, "{}", format.name);
                assert_eq!((found.is_sint(), found.is_uint()), (texel == Scalar::Int, texel == Scalar::Uint));
            }
        }
    }
}
