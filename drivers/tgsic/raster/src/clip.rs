//! Clips triangles at the planes of clip space and where clip distances are negative (Sutherland and Hodgman, Reentrant
//! polygon clipping, 1974).
//!
//! The sides are clipped only far outside of the picture, so that coordinates fit the fixed-point numbers of the
//! set-up.

/// Most clip distances of a vertex.
pub const MAX_DISTANCES: usize = 8;
/// The distance of the side planes, relative to the width of the picture.
const GUARD_BAND: f32 = 32.0;
/// The smallest w to divide by.
const SMALLEST_W: f32 = 1e-6;

/// The depths inside clip space.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum DepthRange {
    /// z is between -w and w, as in OpenGL.
    #[default]
    Symmetric,
    /// z is between 0 and w, as in Vulkan.
    Positive,
    /// The same as [`Positive`](Self::Positive), but no depth is outside: depths are limited later.
    Clamped,
}

/// A vertex after the vertex stage.
#[derive(Clone, PartialEq, Debug)]
pub struct ShadedVertex {
    /// Position in clip space.
    pub position: [f32; 4],
    /// Clip distances; zero for missing ones.
    pub distances: [f32; MAX_DISTANCES],
    /// The inputs of the fragment shader, in the order of their slots.
    pub varyings: Vec<[f32; 4]>,
}

impl ShadedVertex {
    /// Interpolates between two vertices.
    fn between(a: &ShadedVertex, b: &ShadedVertex, part: f32) -> ShadedVertex {
        let mix = |a: f32, b: f32| a + (b - a) * part;
        let varyings = a.varyings.iter().zip(&b.varyings);
        ShadedVertex {
            position: std::array::from_fn(|c| mix(a.position[c], b.position[c])),
            distances: std::array::from_fn(|c| mix(a.distances[c], b.distances[c])),
            varyings: varyings.map(|(a, b)| std::array::from_fn(|c| mix(a[c], b[c]))).collect(),
        }
    }

    /// Returns the distance from plane number `plane`; negative outside.
    fn distance(&self, plane: usize, range: DepthRange) -> f32 {
        let [x, y, z, w] = self.position;
        match plane {
            0 => w - SMALLEST_W,
            1 | 2 if range == DepthRange::Clamped => 0.0,
            1 if range == DepthRange::Positive => z,
            1 => w + z,
            2 => w - z,
            3 => GUARD_BAND * w - x,
            4 => GUARD_BAND * w + x,
            5 => GUARD_BAND * w - y,
            6 => GUARD_BAND * w + y,
            _ => self.distances.get(plane - 7).copied().unwrap_or(0.0),
        }
    }
}

/// Returns the part of a triangle that is inside, as a convex polygon; empty if it is outside.
pub fn clip(triangle: [&ShadedVertex; 3], range: DepthRange) -> Vec<ShadedVertex> {
    let mut polygon: Vec<ShadedVertex> = triangle.into_iter().cloned().collect();
    for plane in 0..7 + MAX_DISTANCES {
        // NaN counts as outside.
        let is_inside = |vertex: &ShadedVertex| vertex.distance(plane, range) >= 0.0;
        if polygon.iter().all(is_inside) {
            continue;
        }
        let mut cut = Vec::with_capacity(polygon.len() + 1);
        for (at, vertex) in polygon.iter().enumerate() {
            let next = &polygon[(at + 1) % polygon.len()];
            let (here, there) = (vertex.distance(plane, range), next.distance(plane, range));
            if is_inside(vertex) {
                cut.push(vertex.clone());
            }
            if is_inside(vertex) != is_inside(next) {
                let part = here / (here - there);
                if part.is_finite() {
                    cut.push(ShadedVertex::between(vertex, next, part));
                }
            }
        }
        polygon = cut;
        if polygon.len() < 3 {
            return Vec::new();
        }
    }
    polygon
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(position: [f32; 4]) -> ShadedVertex {
        ShadedVertex { position, distances: [0.0; MAX_DISTANCES], varyings: vec![position] }
    }

    #[test]
    fn what_is_inside_stays() {
        let [a, b, c] = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]].map(vertex);
        assert_eq!(clip([&a, &b, &c], DepthRange::Symmetric), [a.clone(), b.clone(), c.clone()]);
    }

    #[test]
    fn corners_behind_the_viewer_are_cut_off() {
        let [a, b, c] = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, -3.0, 1.0]].map(vertex);
        let polygon = clip([&a, &b, &c], DepthRange::Symmetric);
        assert_eq!(polygon.len(), 4);
        assert!(polygon.iter().all(|v| v.position[2] >= -1.0 - 1e-6 && v.varyings[0] == v.position));
        let behind = [[0.0, 0.0, 0.0, -1.0], [1.0, 0.0, 0.0, -1.0], [0.0, 1.0, 0.0, f32::NAN]].map(vertex);
        assert!(clip([&behind[0], &behind[1], &behind[2]], DepthRange::Symmetric).is_empty());
    }

    #[test]
    fn depths_are_inside_by_range() {
        let corners = [[-1.0, -1.0, -0.5, 1.0], [1.0, -1.0, 0.5, 1.0], [0.0, 1.0, 1.5, 1.0]].map(vertex);
        let [a, b, c] = corners.each_ref();
        for (range, low, high) in
            [(DepthRange::Symmetric, -0.5, 1.0), (DepthRange::Positive, 0.0, 1.0), (DepthRange::Clamped, -0.5, 1.5)]
        {
            let depths: Vec<f32> = clip([a, b, c], range).iter().map(|vertex| vertex.position[2]).collect();
            let found = (depths.iter().copied().fold(2.0, f32::min), depths.iter().copied().fold(-2.0, f32::max));
            assert_eq!(found, (low, high), "{range:?}");
        }
    }

    #[test]
    fn negative_clip_distances_are_cut_off() {
        let mut corners = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]].map(vertex);
        corners[0].distances[3] = -1.0;
        corners[1].distances[3] = 1.0;
        corners[2].distances[3] = 1.0;
        let polygon = clip([&corners[0], &corners[1], &corners[2]], DepthRange::Symmetric);
        let mut positions: Vec<[f32; 2]> = polygon.iter().map(|v| [v.position[0], v.position[1]]).collect();
        positions.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        assert_eq!(positions, [[0.0, 0.5], [0.0, 1.0], [0.5, 0.0], [1.0, 0.0]]);
    }
}
