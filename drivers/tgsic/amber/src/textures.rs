//! Buffers as textures of the built-in sampler.

use tgsi_driver_cpu::sampler::{Format, Shape, Size, Texture};

use crate::buffer::{Buffer, Dimension};

/// Returns a texture of the levels of a buffer from a level on; `None` if it has no texels, or is too large. Texels in
/// other formats are converted.
pub(crate) fn texture(buffer: &Buffer, level: u32, is_texel_buffer: bool) -> Option<Texture> {
    let format = buffer.format.as_ref()?;
    let first = level.min(buffer.levels.saturating_sub(1));
    let [width, height, depth] =
        if is_texel_buffer { [u32::try_from(buffer.elements()).ok()?, 1, 1] } else { buffer.level_size(first) };
    let shape = match buffer.dimension {
        _ if is_texel_buffer => Shape::Buffer,
        Dimension::One => Shape::D1,
        Dimension::Two => Shape::D2,
        Dimension::Three => Shape::D3,
    };
    let size = Size { width, height, depth, layers: 1 };
    let is_exact = buffer.samples == 1 && buffer.layout.stride == format.bytes;
    let (to, is_same) = match format.sampled().filter(|_| is_exact) {
        Some(known) => (known, true),
        None if format.has_depth() => (Format::D32Float, false),
        None if format.is_integer() => (Format::Rgba32Int, false),
        None => (Format::Rgba32Float, false),
    };
    let mut texture = Texture::new(shape, to, size, buffer.levels - first)?;
    let stride = buffer.layout.stride.max(1);
    for number in 0..texture.levels().len() {
        let range = if is_texel_buffer { 0..buffer.bytes.len() } else { buffer.level_range(first + number as u32) };
        let bytes = buffer.bytes.get(range)?;
        let texels = texture.level_texels_mut(number);
        if is_same {
            let count = texels.len().min(bytes.len());
            texels.get_mut(..count)?.copy_from_slice(bytes.get(..count)?);
            continue;
        }
        // Of several samples, the first.
        let each = bytes.chunks_exact(stride * buffer.samples as usize);
        for (texel, bytes) in texels.chunks_exact_mut(to.bytes()).zip(each) {
            let words = format.decode(bytes).map(u32::to_le_bytes);
            texel.iter_mut().zip(words.as_flattened()).for_each(|(to, from)| *to = *from);
        }
    }
    Some(texture)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Value;
    use crate::layout::{DataType, Layout, Rules};
    use pretty_assertions::assert_eq;

    fn buffer(name: &str, values: &[u64]) -> Buffer {
        let ty = DataType::from_name(name).expect("a type");
        let layout = Layout::new(&ty, false, Rules::Std430).expect("a layout");
        let mut buffer = Buffer::new("b", name.to_owned(), &ty, layout.clone());
        let values: Vec<Value> = values.iter().map(|&value| Value::Integer(value)).collect();
        assert!(buffer.write(&layout, 0, &values));
        buffer
    }

    #[test]
    fn known_formats_stay() {
        let mut image = buffer("B8G8R8A8_UNORM", &[1, 2, 3, 4, 5, 6, 7, 8]);
        image.size = Some([1, 2, 1]);
        let texture = texture(&image, 0, false).expect("a texture");
        assert_eq!((texture.format(), texture.levels()[0].height), (Format::Bgra8Unorm, 2));
    }

    #[test]
    fn other_formats_are_converted() {
        let texels = texture(&buffer("R8G8_UINT", &[1, 2, 3, 4]), 0, true).expect("a texture");
        assert_eq!((texels.format(), texels.levels()[0].width), (Format::Rgba32Int, 2));
        let mut texels = texels;
        let words: Vec<u8> = [3u32, 4, 0, 1].into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(texels.level_texels_mut(0)[16..], words);
    }
}
