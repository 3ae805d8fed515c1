//! Formats.

use super::*;

/// Fetches the only texel of a texture.
fn texel(format: Format, bytes: &[u8]) -> [u32; 4] {
    let texture = Texture::with_texels(Shape::D2, format, Size::of_image(1, 1), 1, bytes.to_vec()).expect("a texture");
    let textures = with(texture, nearest());
    let words =
        HostResources::texture(&textures, &request(TextureLookup::Fetch, SamplerDim::Dim2D, &[])).map(|row| row[0]);
    // A filtered lookup of one texel gives the same.
    let looked_up = HostResources::texture(&textures, &explicit(SamplerDim::Dim2D, &[0.5, 0.5])).map(|row| row[2]);
    assert_eq!(words, looked_up, "{format:?}");
    words
}

fn value(format: Format, bytes: &[u8]) -> [f32; 4] {
    texel(format, bytes).map(f32::from_bits)
}

#[test]
fn bytes_are_normalised() {
    assert_eq!(value(Format::R8Unorm, &[51]), [0.2, 0.0, 0.0, 1.0]);
    assert_eq!(value(Format::Rg8Unorm, &[255, 102]), [1.0, 0.4, 0.0, 1.0]);
    assert_eq!(value(Format::Rgba8Unorm, &[0, 51, 102, 255]), [0.0, 0.2, 0.4, 1.0]);
    assert_eq!(value(Format::Bgra8Unorm, &[0, 51, 102, 204]), [0.4, 0.2, 0.0, 0.8]);
    assert_eq!(value(Format::R8Snorm, &[127]), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(value(Format::Rg8Snorm, &[0x81, 0x80]), [-1.0, -1.0, 0.0, 1.0]);
    assert_eq!(value(Format::Rgba8Snorm, &[0, 127, 0xff, 1]), [0.0, 1.0, -1.0 / 127.0, 1.0 / 127.0]);
    for byte in 0..=255u8 {
        assert_eq!(value(Format::R8Unorm, &[byte])[0], f32::from(byte) / 255.0);
    }
}

#[test]
fn colours_on_the_srgb_curve_are_linear_afterwards() {
    // 0.5019608 on the curve is 0.2158605, and 10 / 255 lies on its straight part.
    let [r, g, b, a] = value(Format::Rgba8Srgb, &[128, 10, 255, 128]);
    assert!((r - 0.215_860_5).abs() < 1e-6 && (g - 10.0 / 255.0 / 12.92).abs() < 1e-7, "{r} {g}");
    assert_eq!((b, a), (1.0, 128.0 / 255.0));
    assert_eq!(value(Format::Bgra8Srgb, &[128, 10, 255, 128]), [b, g, r, a]);
}

#[test]
fn floats_of_all_sizes_are_read() {
    assert_eq!(value(Format::R16Float, &[0x00, 0x3c]), [1.0, 0.0, 0.0, 1.0]);
    // The largest half, and the smallest denormal.
    assert_eq!(value(Format::Rg16Float, &[0xff, 0x7b, 0x01, 0x80]), [65504.0, -1.0 / 16_777_216.0, 0.0, 1.0]);
    let [r, g, b, a] = value(Format::Rgba16Float, &[0x00, 0x7c, 0x00, 0xfc, 0x01, 0x7c, 0x00, 0xc0]);
    assert_eq!((r, g, a), (f32::INFINITY, f32::NEG_INFINITY, -2.0));
    assert!(b.is_nan());
    let words = [0.1f32, -2.5, 3.0, 1e30];
    let bytes: Vec<u8> = words.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(value(Format::R32Float, &bytes[..4]), [0.1, 0.0, 0.0, 1.0]);
    assert_eq!(value(Format::Rg32Float, &bytes[..8]), [0.1, -2.5, 0.0, 1.0]);
    assert_eq!(value(Format::Rgba32Float, &bytes), words);
    assert_eq!(value(Format::D32Float, &bytes[..4]), [0.1, 0.0, 0.0, 1.0]);
}

#[test]
fn packed_numbers_are_taken_apart() {
    // 1.0 is exponent 15: 15 << 6 in eleven bits, 15 << 5 in ten. 0.5 is exponent 14; 1.5 has the highest bit of the
    // mantissa too.
    let word = (15u32 << 6 | 1 << 5) | (14 << 6) << 11 | (15 << 5) << 22;
    assert_eq!(value(Format::R11G11B10Float, &word.to_le_bytes()), [1.5, 0.5, 1.0, 1.0]);
    let word = 1023u32 | 341 << 10 | 2 << 30;
    assert_eq!(value(Format::Rgb10A2Unorm, &word.to_le_bytes()), [1.0, 1.0 / 3.0, 0.0, 2.0 / 3.0]);
    let word = 31u16 << 11 | 21 << 5;
    assert_eq!(value(Format::Rgb565Unorm, &word.to_le_bytes()), [1.0, 1.0 / 3.0, 0.0, 1.0]);
    assert_eq!(value(Format::D16Unorm, &13107u16.to_le_bytes()), [0.2, 0.0, 0.0, 1.0]);
}

#[test]
fn integers_stay_integers() {
    assert_eq!(texel(Format::Rgba8Uint, &[1, 2, 3, 255]), [1, 2, 3, 255]);
    assert_eq!(texel(Format::Rgba8Sint, &[1, 2, 3, 255]), [1, 2, 3, u32::MAX]);
    assert_eq!(texel(Format::R32Int, &0xdead_beefu32.to_le_bytes()), [0xdead_beef, 0, 0, 1]);
    assert_eq!(texel(Format::Rg32Int, &[1, 0, 0, 0, 0, 0, 0, 0x80]), [1, 0x8000_0000, 0, 1]);
    assert_eq!(texel(Format::Rgba32Int, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]), [1, 2, 3, 4]);
}
