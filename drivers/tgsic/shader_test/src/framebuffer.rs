//! The framebuffer: the window, or a texture.
//!
//! Draws change a picture. That of a texture is read from the texture before, and pixels that a draw changed are written
//! to it after: its texels may also change as those of an image. Textures have no depth.

use tgsi_raster::Picture;
use tgsi_raster::format::PixelFormat;

use crate::images;
use crate::memory::Memory;
use crate::play::Player;
use crate::words::Words;

/// The layers of a framebuffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layers {
    /// One layer.
    One(u32),
    /// All of the texture, which primitives select.
    All,
}

/// A framebuffer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Framebuffer {
    #[default]
    Window,
    /// The texture of a unit.
    Texture(u32, Layers),
}

impl Framebuffer {
    /// Parses the words after `fb`.
    pub(crate) fn parse(words: &mut Words) -> Option<Framebuffer> {
        let framebuffer = if words.eat("winsys") {
            Framebuffer::Window
        } else if words.eat("tex 2d") {
            Framebuffer::Texture(words.uint()?, Layers::One(0))
        } else if words.eat("tex layered") {
            Framebuffer::Texture(words.uint()?, Layers::All)
        } else {
            words.eat("tex slice 2DArray").then_some(())?;
            let (unit, 0, layer) = (words.uint()?, words.uint()?, words.uint()?) else { return None };
            Framebuffer::Texture(unit, Layers::One(layer))
        };
        words.is_done().then_some(framebuffer)
    }

    /// The layers that a draw changes; `None` is the window.
    pub(crate) fn targets(self, memory: &Memory) -> Vec<Option<(u32, u32)>> {
        match self {
            Framebuffer::Window => vec![None],
            Framebuffer::Texture(unit, Layers::One(layer)) => vec![Some((unit, layer))],
            Framebuffer::Texture(unit, Layers::All) => {
                let texture = memory.textures.get(&unit);
                let level = texture.and_then(|(_, texture)| texture.texels().levels().first());
                (0..level.map_or(0, |level| level.images)).map(|layer| Some((unit, layer))).collect()
            }
        }
    }

    /// Whether primitives select a layer.
    pub(crate) fn is_layered(self) -> bool {
        matches!(self, Framebuffer::Texture(_, Layers::All))
    }
}

/// The picture of a layer of a texture; its first row is the last one of the picture.
///
/// # Errors
/// There is no such layer, or it has integers.
pub(crate) fn load(memory: &Memory, (unit, layer): (u32, u32)) -> Result<Picture, String> {
    let (_, texture) = memory.textures.get(&unit).ok_or_else(|| format!("unit {unit} has no texture"))?;
    let texels = texture.texels();
    let format = PixelFormat::of_sampled(texels.format()).filter(|format| !format.is_integer());
    let format = format.ok_or("framebuffers of integers are not drawn")?;
    let level = texels.levels().first().filter(|level| layer < level.images);
    let level = level.ok_or_else(|| format!("the texture has no layer {layer}"))?;
    let mut picture = Picture::new((level.width, level.height), [0; 4]);
    let (pixels, _) = picture.pixels.as_chunks_mut::<4>();
    let places = (0..level.height).rev().flat_map(|row| (0..level.width).map(move |column| [column, row, layer]));
    for (pixel, at) in pixels.iter_mut().zip(places) {
        let texel = images::place(texels, at).and_then(|place| texels.texels().get(place)).unwrap_or_default();
        *pixel = format.decode(texel).map(|word| (f32::from_bits(word).clamp(0.0, 1.0) * 255.0).round() as u8);
    }
    Ok(picture)
}

/// Writes the pixels of a picture that differ from the texels of a layer.
///
/// # Errors
/// As [`load`].
pub(crate) fn store(memory: &mut Memory, (unit, layer): (u32, u32), picture: &Picture) -> Result<(), String> {
    let before = load(memory, (unit, layer))?;
    let Some((_, texture)) = memory.textures.get_mut(&unit) else { return Ok(()) };
    let Some(format) = PixelFormat::of_sampled(texture.texels().format()) else { return Ok(()) };
    let (width, height) = before.size;
    let (old, new) = (before.pixels.as_chunks::<4>().0, picture.pixels.as_chunks::<4>().0);
    for (at, (_, pixel)) in (0..).zip(old.iter().zip(new)).filter(|(_, (old, new))| old != new) {
        let place = [at % width, height - 1 - at / width, layer];
        let texels = texture.texels_mut();
        let texel = images::place(texels, place).and_then(|place| texels.texels_mut().get_mut(place));
        if let Some(texel) = texel {
            format.encode(pixel.map(|byte| (f32::from(byte) / 255.0).to_bits()), texel);
        }
    }
    Ok(())
}

impl Player<'_> {
    /// Selects the framebuffer.
    pub(crate) fn select(&mut self, framebuffer: Framebuffer) -> Result<(), String> {
        if self.framebuffer == Framebuffer::Window {
            self.window.clone_from(&self.picture);
        }
        self.framebuffer = framebuffer;
        if framebuffer == Framebuffer::Window {
            self.picture.clone_from(&self.window);
        }
        self.refresh()
    }

    /// Reads the picture from the texture of the framebuffer.
    pub(crate) fn refresh(&mut self) -> Result<(), String> {
        if let Some(&Some(target)) = self.framebuffer.targets(&self.memory).first() {
            self.picture = load(&self.memory, target)?;
        }
        Ok(())
    }

    /// Clears all layers of the framebuffer.
    pub(crate) fn clear(&mut self) -> Result<(), String> {
        let size = self.picture.size;
        self.picture = Picture::new(size, self.clear_color);
        self.picture.depths.fill(self.clear_depth);
        for target in self.framebuffer.targets(&self.memory).into_iter().flatten() {
            store(&mut self.memory, target, &self.picture)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::textures::TextureKind;
    use pretty_assertions::assert_eq;

    #[test]
    fn pixels_are_texels() {
        let mut memory = Memory::default();
        let (unit, kind) = TextureKind::parse(&mut Words::new("rgbw 5 (2, 2) GL_RGBA32F")).expect("a texture");
        let texture = kind.create().expect("a texture");
        memory.textures.insert(unit, (kind, texture));
        let mut picture = load(&memory, (5, 0)).expect("a picture");
        let rows = [[0, 0, 255, 255], [255; 4], [255, 0, 0, 255], [0, 255, 0, 255]];
        assert_eq!(picture.pixels, rows.as_flattened());
        picture.pixels[..4].fill(51);
        store(&mut memory, (5, 0), &picture).expect("a texture");
        assert_eq!(load(&memory, (5, 0)).map(|found| found.pixels), Ok(picture.pixels));
        let texels = memory.textures[&5].1.texels().texels();
        assert_eq!(texels[32..36], 0.2f32.to_le_bytes());
        assert_eq!(load(&memory, (5, 1)).err(), Some("the texture has no layer 1".to_owned()));
        assert_eq!(load(&memory, (4, 0)).err(), Some("unit 4 has no texture".to_owned()));
    }

    #[test]
    fn framebuffers_are_read() {
        for (line, expected) in [
            ("tex 2d 1", Some(Framebuffer::Texture(1, Layers::One(0)))),
            ("tex layered 2", Some(Framebuffer::Texture(2, Layers::All))),
            ("tex slice 2DArray 0 0 3", Some(Framebuffer::Texture(0, Layers::One(3)))),
            ("tex slice 2DArray 0 1 3", None),
            ("winsys", Some(Framebuffer::Window)),
        ] {
            assert_eq!(Framebuffer::parse(&mut Words::new(line)), expected, "{line}");
        }
    }
}
