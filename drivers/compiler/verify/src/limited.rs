//! The analytic textures and images with the limits of a target, so that a source and its code select the same levels
//! and texels.

use std::collections::BTreeMap;

use tgsi_compiler::TextureLimits;
use tgsi_environment::{
    AnalyticResources, ImageTexel, Resources, SamplerDim, TextureLookup, TextureRequest, TextureSize,
};

/// Analytic resources with limits.
pub struct LimitedResources<'a> {
    /// The resources.
    pub resources: &'a mut AnalyticResources,
    /// The limits.
    pub limits: TextureLimits,
}

impl LimitedResources<'_> {
    /// Limits the coordinates of a texel.
    fn limited(&self, (image, coordinates, sample): ImageTexel) -> ImageTexel {
        let bits = self.limits.coordinate_bits.unwrap_or(32).clamp(1, 32);
        let last = i32::MAX >> (32 - bits);
        (image, coordinates.map(|coordinate| (coordinate as i32).clamp(!last, last) as u32), sample)
    }

    fn has_image(&self, image: u32) -> bool {
        self.limits.images.is_none_or(|images| image < images)
    }

    /// The level that the gradients of a lane select.
    fn level(&mut self, request: &TextureRequest, lane: usize) -> f32 {
        let float = |words: &[[u32; 4]], component: usize| f32::from_bits(words[component][lane]);
        let gradients = [&request.ddx, &request.ddy].map(|words| [0, 1, 2].map(|component| float(words, component)));
        let size = self.resources.texture_size(request.texture, 0, request.dim, request.is_array).size;
        if request.dim == SamplerDim::Cube {
            let direction = [0, 1, 2].map(|component| float(&request.coordinate, component));
            let lengths = gradients.map(|gradient| length_on_face(direction, gradient, [size[0], size[1]]));
            return lengths[0].max(lengths[1]).log2() * 0.5 - 1.0;
        }
        let count = usize::from(request.dim.num_coords());
        let is_scaled = request.dim != SamplerDim::Rect;
        let lengths = gradients.map(|gradient| {
            let texels = |component: usize| gradient[component] * if is_scaled { size[component] as f32 } else { 1.0 };
            (0..count).map(|component| texels(component) * texels(component)).sum::<f32>()
        });
        lengths[0].max(lengths[1]).log2() * 0.5
    }
}

/// The square of the length of a gradient on the face of a cube, from -1 to 1, in texels.
fn length_on_face(direction: [f32; 3], gradient: [f32; 3], size: [u32; 2]) -> f32 {
    let [x, y, z] = direction.map(f32::abs);
    let [first, second, axis] = if z >= x.max(y) {
        [0, 1, 2]
    } else if y >= x.max(z) {
        [0, 2, 1]
    } else {
        [1, 2, 0]
    };
    let factor = 1.0 / direction[axis];
    let texels = |component: usize, size: u32| {
        (gradient[component] - direction[component] * factor * gradient[axis]) * factor * size as f32
    };
    let [s, t] = [texels(first, size[0]), texels(second, size[1])];
    s * s + t * t
}

impl Resources for LimitedResources<'_> {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        if !self.limits.lacks_gradients || request.lookup != TextureLookup::Gradient {
            return self.resources.texture(request);
        }
        let lod = [0, 1, 2, 3].map(|lane| self.level(request, lane).to_bits());
        self.resources.texture(&TextureRequest { lookup: TextureLookup::Explicit, lod, ..request.clone() })
    }

    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        let level = level.min(self.limits.last_level.unwrap_or(u32::MAX));
        self.resources.texture_size(texture, level, dim, is_array)
    }

    fn image_load(&mut self, texel: ImageTexel) -> [u32; 4] {
        if !self.has_image(texel.0) {
            return [0; 4];
        }
        let texel = self.limited(texel);
        self.resources.image_load(texel)
    }

    fn image_store(&mut self, texel: ImageTexel, value: [u32; 4]) {
        if self.has_image(texel.0) {
            let texel = self.limited(texel);
            self.resources.image_store(texel, value);
        }
    }

    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        if self.has_image(image) { self.resources.image_size(image, dim, is_array) } else { TextureSize::default() }
    }

    fn stored_texels(&self) -> BTreeMap<ImageTexel, [u32; 4]> {
        self.resources.stored_texels()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use pretty_assertions::assert_eq;

    fn limited(resources: &mut AnalyticResources) -> LimitedResources<'_> {
        let mut limits = TextureLimits::default();
        limits.coordinate_bits = Some(16);
        limits.last_level = Some(15);
        limits.lacks_gradients = true;
        LimitedResources { resources, limits }
    }

    #[test]
    fn far_texels_are_one() {
        let mut resources = AnalyticResources::default();
        let mut limited = limited(&mut resources);
        limited.image_store((0, [32767, 5, u32::MAX], 2), [1; 4]);
        limited.image_store((0, [1 << 20, 5, u32::MAX], 2), [2; 4]);
        limited.image_store((0, [0x8000_0000, 5, 0], 0), [3; 4]);
        let texels: Vec<_> = resources.stored_texels().into_iter().collect();
        let expected = [((0, [32767, 5, u32::MAX], 2), [2; 4]), ((0, [0xffff_8000, 5, 0], 0), [3; 4])];
        assert_eq!(texels, expected);
    }

    #[test]
    fn levels_of_gradients() {
        let mut resources = AnalyticResources::default();
        let mut limited = limited(&mut resources);
        // Level 0 has 64 by 32 texels.
        let mut request = TextureRequest::new(TextureLookup::Gradient, SamplerDim::Dim2D);
        request.ddx = [[0.25_f32.to_bits(); 4], [0; 4], [0; 4]];
        request.ddy = [[0; 4], [0.25_f32.to_bits(); 4], [0; 4]];
        assert_eq!(limited.level(&request, 1), 4.0);
        request.dim = SamplerDim::Rect;
        assert_eq!(limited.level(&request, 1), -2.0);
        request.dim = SamplerDim::Cube;
        request.coordinate[2] = [(-2_f32).to_bits(); 4];
        assert_eq!(limited.level(&request, 1), 2.0);
        // A change along the axis does not move the place in the middle of the face.
        request.ddx = [[0; 4], [0; 4], [1_f32.to_bits(); 4]];
        assert_eq!(limited.level(&request, 1), 1.0);
        assert_eq!(limited.texture_size(0, 16, SamplerDim::Dim2D, false).size[0], 0);
    }

    #[test]
    fn images_beyond_the_last_do_not_exist() {
        let mut resources = AnalyticResources::default();
        let mut limits = TextureLimits::default();
        limits.images = Some(2);
        let mut limited = LimitedResources { resources: &mut resources, limits };
        for image in [1, 2, u32::MAX] {
            limited.image_store((image, [3, 4, 0], 0), [5; 4]);
        }
        assert_eq!(limited.image_load((1, [3, 4, 0], 0)), [5; 4]);
        assert_eq!(limited.image_load((2, [3, 4, 0], 0)), [0; 4]);
        assert_eq!(limited.image_size(2, SamplerDim::Dim2D, false), TextureSize::default());
        assert_ne!(limited.image_size(1, SamplerDim::Dim2D, false), TextureSize::default());
        assert_eq!(resources.stored_texels().len(), 1);
    }
}
