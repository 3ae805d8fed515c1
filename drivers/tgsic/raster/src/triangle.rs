//! Triangle set-up for rasterisation: edges in fixed-point numbers, and the data for interpolation.
//!
//! Window coordinates have 8 fractional bits. A pixel belongs to a triangle if its centre is inside; a centre on an
//! edge belongs to the triangle that has it as a top or left edge, so that adjacent triangles cover each pixel once
//! (Pineda, A parallel algorithm for polygon rasterization, 1988).

use tgsi::tables::Interpolation;

use crate::clip::{DepthRange, ShadedVertex};

/// The number of fractional bits.
const SUBPIXEL: u32 = 8;

/// An edge: a function of the pixel that is not negative inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Edge {
    /// The change from a pixel to the next in x and y.
    step: [i64; 2],
    /// The value at the centre of pixel (0, 0).
    origin: i64,
    /// Subtracted on edges that do not own the pixels on them.
    bias: i64,
}

impl Edge {
    fn new([ax, ay]: [i64; 2], [bx, by]: [i64; 2]) -> Edge {
        let (dx, dy) = (bx - ax, by - ay);
        let half = 1 << (SUBPIXEL - 1);
        let owns = dy < 0 || dy == 0 && dx > 0;
        Edge {
            step: [-dy << SUBPIXEL, dx << SUBPIXEL],
            origin: dx * (half - ay) - dy * (half - ax),
            bias: i64::from(!owns),
        }
    }

    fn at(&self, x: i64, y: i64) -> i64 {
        self.origin + self.step[0] * x + self.step[1] * y
    }
}

/// The place of clip space in a picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Viewport {
    /// The corner with the coordinates -1, -1, in pixels from the top left.
    pub corner: [f64; 2],
    /// The size in pixels. The height is negative if y points up.
    pub extent: [f64; 2],
    /// The depths at the near and the far plane.
    pub depths: [f64; 2],
    /// The depths in clip space.
    pub range: DepthRange,
    /// The first and last pixel in x and y that may be drawn.
    pub bounds: [[i64; 2]; 2],
}

impl Viewport {
    /// The viewport of OpenGL for a whole picture: y points up.
    pub fn of_picture((width, height): (u32, u32)) -> Viewport {
        Viewport {
            corner: [0.0, height.into()],
            extent: [width.into(), -f64::from(height)],
            depths: [0.0, 1.0],
            range: DepthRange::Symmetric,
            bounds: [width, height].map(|side| [0, i64::from(side) - 1]),
        }
    }

    /// Returns the window coordinates of a position: x and y in pixels, and the depth.
    pub fn window(&self, [x, y, z, w]: [f32; 4]) -> [f64; 3] {
        let [x, y, z, w] = [x, y, z, w].map(f64::from);
        let place = |value: f64, axis: usize| self.corner[axis] + (value / w * 0.5 + 0.5) * self.extent[axis];
        let depth = if self.range == DepthRange::Symmetric { z / w * 0.5 + 0.5 } else { z / w };
        let [near, far] = self.depths;
        [place(x, 0), place(y, 1), near + (far - near) * depth]
    }
}

/// A triangle in the window.
#[derive(Clone, PartialEq, Debug)]
pub struct Triangle {
    /// The edge opposite each vertex.
    edges: [Edge; 3],
    /// Twice the area, in fixed-point units.
    area: i64,
    /// The first and last pixel in x and y, limited to the picture.
    pub bounds: [[i64; 2]; 2],
    /// Depths in the window.
    depth: [f64; 3],
    /// 1 / w.
    inverse_w: [f64; 3],
    /// Inputs of the fragment shader at the vertices: `[slot][vertex]`.
    varyings: Vec<[[f32; 4]; 3]>,
    /// Whether it is front-facing.
    pub is_front: bool,
    /// The index of the triangle in the mesh.
    pub primitive: u32,
}

/// Weights of the three vertices at a pixel.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Weights {
    /// Linear in the window.
    linear: [f64; 3],
    /// Perspective-correct.
    perspective: [f64; 3],
    /// 1 / w.
    pub inverse_w: f64,
    /// Depth in the window.
    pub depth: f64,
}

impl Triangle {
    /// Creates a triangle from three clipped vertices; `None` if it covers no area of the picture.
    pub fn new(vertices: [&ShadedVertex; 3], viewport: &Viewport, primitive: u32) -> Option<Triangle> {
        let scale = f64::from(1u32 << SUBPIXEL);
        let places = vertices.map(|vertex| viewport.window(vertex.position));
        let window = places.map(|[x, y, _]| [x, y].map(|at| (at * scale).round() as i64));
        let cross =
            |a: [i64; 2], b: [i64; 2], c: [i64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
        let area = cross(window[0], window[1], window[2]);
        // Counter-clockwise is negative, since y points down. The order below is clockwise.
        let order = match area {
            0 => return None,
            1.. => [0, 1, 2],
            _ => [0, 2, 1],
        };
        let [a, b, c] = order.map(|at| window[at]);
        let bounds = |axis: usize| {
            let values = window.map(|at| at[axis] >> SUBPIXEL);
            let (low, high) = (values.iter().min()?, values.iter().max()?);
            let [first, last] = viewport.bounds[axis];
            Some([(*low).max(first), (*high).min(last)])
        };
        let bounds = [bounds(0)?, bounds(1)?];
        let depth = order.map(|at| places[at][2]);
        let vertices = order.map(|at| vertices[at]);
        let slots = vertices[0].varyings.len();
        Some(Triangle {
            edges: [Edge::new(b, c), Edge::new(c, a), Edge::new(a, b)],
            area: area.abs(),
            bounds,
            depth,
            inverse_w: vertices.map(|v| 1.0 / f64::from(v.position[3])),
            varyings: (0..slots).map(|slot| vertices.map(|v| v.varyings[slot])).collect(),
            is_front: area < 0,
            primitive,
        })
    }

    /// Returns the covered pixels of a quad, one bit each in the order of lanes.
    pub fn coverage(&self, x: i64, y: i64) -> u8 {
        let mut mask = 0xf;
        for edge in &self.edges {
            let value = edge.at(x, y) - edge.bias;
            let values = [value, value + edge.step[0], value + edge.step[1], value + edge.step[0] + edge.step[1]];
            for (lane, value) in values.into_iter().enumerate() {
                mask &= !(u8::from(value < 0) << lane);
            }
        }
        mask
    }

    /// Returns the weights at the centre of a pixel, inside or not.
    pub fn weights(&self, x: i64, y: i64) -> Weights {
        let linear = [0, 1, 2].map(|v| self.edges[v].at(x, y) as f64 / self.area as f64);
        let scaled = [0, 1, 2].map(|v| linear[v] * self.inverse_w[v]);
        let inverse_w: f64 = scaled.iter().sum();
        let depth = (0..3).map(|v| linear[v] * self.depth[v]).sum();
        Weights { linear, perspective: scaled.map(|part| part / inverse_w), inverse_w, depth }
    }

    /// Returns the change of the depth from a pixel to the next in x and in y.
    pub fn depth_slopes(&self) -> [f64; 2] {
        [0, 1].map(|axis| {
            let change = |v: usize| self.edges[v].step[axis] as f64 / self.area as f64 * self.depth[v];
            (0..3).map(change).sum()
        })
    }

    /// Returns a component of an input, given by its number, at a pixel.
    pub fn interpolate(&self, mode: Interpolation, number: usize, component: usize, weights: &Weights) -> f32 {
        let values = self.varyings[number].map(|value| value[component]);
        let weights = match mode {
            Interpolation::Constant => return values[0],
            Interpolation::Linear => &weights.linear,
            Interpolation::Perspective | Interpolation::Color => &weights.perspective,
        };
        // Interpolating differences preserves values that are equal at all vertices.
        let [a, b, c] = values.map(f64::from);
        (a + (b - a) * weights[1] + (c - a) * weights[2]) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::MAX_DISTANCES;

    fn vertex(x: f32, y: f32) -> ShadedVertex {
        ShadedVertex { position: [x, y, 0.0, 1.0], distances: [0.0; MAX_DISTANCES], varyings: vec![[x, y, 7.0, 1.0]] }
    }

    fn count(triangles: &[Triangle], size: u32) -> Vec<u32> {
        let mut covered = vec![0; (size * size) as usize];
        for triangle in triangles {
            for y in (0..size).step_by(2) {
                for x in (0..size).step_by(2) {
                    let mask = triangle.coverage(x.into(), y.into());
                    for lane in (0..4).filter(|lane| mask >> lane & 1 == 1) {
                        covered[((y + lane / 2) * size + x + lane % 2) as usize] += 1;
                    }
                }
            }
        }
        covered
    }

    /// Fans around a point, at pixel centres and elsewhere, cover each pixel once.
    #[test]
    fn neighbours_cover_each_pixel_once() {
        let viewport = Viewport::of_picture((16, 16));
        let corners = [vertex(-1.0, -1.0), vertex(1.0, -1.0), vertex(1.0, 1.0), vertex(-1.0, 1.0)];
        for middle in [vertex(0.0, 0.0), vertex(0.0625, 0.0625), vertex(0.3, -0.71), vertex(0.5, 0.9375)] {
            let sides =
                (0..4).filter_map(|i| Triangle::new([&middle, &corners[i], &corners[(i + 1) % 4]], &viewport, 0));
            let triangles: Vec<Triangle> = sides.collect();
            assert_eq!(count(&triangles, 16), vec![1; 256]);
            // With reversed winding they are back-facing and cover the same pixels.
            let back =
                (0..4).filter_map(|i| Triangle::new([&middle, &corners[(i + 1) % 4], &corners[i]], &viewport, 0));
            let back: Vec<Triangle> = back.collect();
            assert!(triangles.iter().all(|t| t.is_front) && back.iter().all(|t| !t.is_front));
            assert_eq!(count(&back, 16), vec![1; 256]);
        }
    }

    #[test]
    fn values_are_interpolated_and_equal_ones_kept() {
        let [a, b, c] = [vertex(-1.0, -1.0), vertex(3.0, -1.0), vertex(-1.0, 3.0)];
        let viewport = Viewport::of_picture((4, 4));
        let triangle = Triangle::new([&a, &b, &c], &viewport, 0).expect("a triangle");
        let weights = triangle.weights(3, 0);
        let mode = Interpolation::Perspective;
        let value = [0, 1, 2, 3].map(|component| triangle.interpolate(mode, 0, component, &weights));
        assert_eq!(value, [0.75, 0.75, 7.0, 1.0]);
        assert_eq!(weights.depth, 0.5);
        assert!(Triangle::new([&a, &b, &b], &viewport, 0).is_none());
    }

    #[test]
    fn viewports_turn_and_move_pictures() {
        let viewport = Viewport {
            corner: [8.0, 2.0],
            extent: [4.0, 8.0],
            depths: [1.0, 0.5],
            range: DepthRange::Positive,
            bounds: [[0, 15], [0, 15]],
        };
        assert_eq!(viewport.window([-2.0, 2.0, 1.0, 2.0]), [8.0, 10.0, 0.75]);
        assert_eq!(Viewport::of_picture((16, 16)).window([-2.0, 2.0, 1.0, 2.0]), [0.0, 0.0, 0.75]);
        let mut corners = [vertex(-1.0, -1.0), vertex(1.0, -1.0), vertex(-1.0, 1.0)];
        corners[1].position[2] = 1.0;
        let triangle = Triangle::new([&corners[0], &corners[1], &corners[2]], &viewport, 0).expect("a triangle");
        assert_eq!(triangle.bounds, [[8, 12], [2, 10]]);
        // From 1 to 0.5 in four pixels.
        assert_eq!(triangle.depth_slopes(), [-0.125, 0.0]);
    }
}
