//! The standard sample positions within a pixel.

/// The standard sample patterns of Direct3D and Vulkan for 1, 2, 4, 8 and 16 samples, as (number of samples, x, y).
/// Coordinates are in sixteenths of a pixel from the left and top edges, four bits per sample, first sample in the
/// lowest bits.
pub const SAMPLE_POSITIONS: [(u32, u64, u64); 5] = [
    (1, 0x8, 0x8),
    (2, 0x4c, 0x4c),
    (4, 0xa2e6, 0xea62),
    (8, 0xfb13_5d79, 0x1f7d_39b5),
    (16, 0x1ef0_2486_bda3_c579, 0x0f48_c21e_3bd6_7a59),
];

/// The centre of a pixel, in sixteenths of a pixel.
pub const CENTRE: u64 = 8;

/// Returns the x and y position of a sample in the standard pattern for `samples` samples. A sample that does not exist
/// and a sample count without a pattern give the centre.
pub fn sample_position(samples: u32, number: u32) -> [f32; 2] {
    let pattern = SAMPLE_POSITIONS.iter().find(|&&(count, ..)| count == samples && number < count);
    let sixteenths = match pattern {
        Some(&(_, x, y)) => [x, y].map(|places| places >> (4 * number) & 15),
        None => [CENTRE; 2],
    };
    sixteenths.map(|place| place as f32 / 16.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions() {
        assert_eq!(sample_position(1, 0), [0.5, 0.5]);
        assert_eq!(sample_position(2, 1), [0.25, 0.25]);
        assert_eq!(sample_position(4, 0), [0.375, 0.125]);
        assert_eq!(sample_position(16, 15), [1.0 / 16.0, 0.0]);
        for (samples, number) in [(4, 4), (3, 0), (0, 0), (16, 16), (16, u32::MAX)] {
            assert_eq!(sample_position(samples, number), [0.5, 0.5], "{samples}, {number}");
        }
    }
}
