//! Coordinates of cubes, which the load/store unit computes from a direction and the texture unit reads.
//!
//! The encoding of the chips is not known. Here the two words are the coordinates on the face, from 0 to 1, with the
//! face in the two highest bits of each. The directions are kept beside them, because they cannot be computed back.

use std::collections::HashMap;

/// The directions of coordinates, by thread and words.
#[derive(Default)]
pub(super) struct Directions(HashMap<(usize, [u32; 2]), [f32; 3]>);

/// The bits of a word without those of the face.
const COORDINATE: u32 = 0x3fff_ffff;

/// Returns the face and the coordinates of a direction.
fn project([x, y, z]: [f32; 3]) -> (u8, [f32; 2]) {
    let [ax, ay, az] = [x, y, z].map(f32::abs);
    let (face, s, t, major) = if az >= ax && az >= ay {
        if z >= 0.0 { (4, x, -y, az) } else { (5, -x, -y, az) }
    } else if ay >= ax {
        if y >= 0.0 { (2, x, z, ay) } else { (3, x, -z, ay) }
    } else if x >= 0.0 {
        (0, -z, -y, ax)
    } else {
        (1, z, -y, ax)
    };
    let coordinate = |value: f32| {
        let coordinate = (value / major + 1.0) * 0.5;
        if coordinate > 0.0 { coordinate.min(1.0) } else { 0.0 }
    };
    (face, [coordinate(s), coordinate(t)])
}

/// Converts a direction of a thread to words.
pub(super) fn encode(directions: &mut Directions, lane: usize, direction: [f32; 3]) -> [u32; 4] {
    let (face, [s, t]) = project(direction);
    let words = [s.to_bits() | u32::from(face & 3) << 30, t.to_bits() | u32::from(face >> 2) << 30];
    directions.0.insert((lane, words), direction);
    [words[0], words[1], 0, 0]
}

/// Converts words of a thread to the face, the coordinates and the direction.
pub(super) fn decode(directions: &Directions, lane: usize, words: [u32; 2]) -> (u8, [f32; 2], [f32; 3]) {
    let face = (words[0] >> 30 | (words[1] >> 30 & 1) << 2) as u8;
    let [s, t] = words.map(|word| f32::from_bits(word & COORDINATE));
    let [u, v] = [s, t].map(|coordinate| coordinate * 2.0 - 1.0);
    let computed = match face {
        0 => [1.0, -v, -u],
        1 => [-1.0, -v, u],
        2 => [u, 1.0, v],
        3 => [u, -1.0, -v],
        4 => [u, -v, 1.0],
        _ => [-u, -v, -1.0],
    };
    (face.min(5), [s, t], directions.0.get(&(lane, words)).copied().unwrap_or(computed))
}
