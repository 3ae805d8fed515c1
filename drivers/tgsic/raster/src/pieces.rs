//! Points, lines and triangles as triangles in the framebuffer.

use crate::clip::{DepthRange, ShadedVertex, clip};
use crate::primitives::PolygonMode;
use crate::triangle::{Triangle, Viewport};

/// A point: its place and size in pixels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sprite {
    /// The centre.
    pub center: [f64; 2],
    /// The length of a side.
    pub size: f64,
}

/// A triangle of a primitive.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    /// The triangle.
    pub triangle: Triangle,
    /// The point that it is a part of.
    pub sprite: Option<Sprite>,
    /// Added to depths.
    pub bias: f64,
}

impl From<Triangle> for Piece {
    fn from(triangle: Triangle) -> Piece {
        Piece { triangle, sprite: None, bias: 0.0 }
    }
}

/// The set-up of primitives.
#[derive(Clone, PartialEq, Debug)]
pub struct Pieces {
    /// The place of clip space.
    pub viewport: Viewport,
    /// The same, of which all pixels may be drawn: parts of points that are outside are kept.
    pub open_viewport: Viewport,
    /// Whether each component of each input of the fragment shader is that of the provoking vertex.
    pub flat: Vec<[bool; 4]>,
}

impl Pieces {
    /// Returns the parts of a triangle that are inside of clip space.
    pub fn triangle(
        &self,
        corners: [&ShadedVertex; 3],
        provoking: &ShadedVertex,
        number: u32,
        viewport: &Viewport,
    ) -> Vec<Piece> {
        let mut polygon = clip(corners, viewport.range);
        for (at, is_flat) in self.flat.iter().enumerate() {
            for (component, _) in is_flat.iter().enumerate().filter(|(_, is_flat)| **is_flat) {
                for vertex in &mut polygon {
                    if let (Some(to), Some(from)) = (vertex.varyings.get_mut(at), provoking.varyings.get(at)) {
                        to[component] = from[component];
                    }
                }
            }
        }
        let Some((first, rest)) = polygon.split_first() else { return Vec::new() };
        let pairs =
            rest.windows(2).filter_map(|pair| Triangle::new([first, pair.first()?, pair.get(1)?], viewport, number));
        pairs.map(Piece::from).collect()
    }

    /// A line of one pixel: a parallelogram with sides along x or y.
    pub fn line(&self, [a, b]: [&ShadedVertex; 2], provoking: &ShadedVertex, number: u32) -> Vec<Piece> {
        let extent = self.open_viewport.extent;
        let ends = [a, b].map(|end| {
            let [x, y, _, w] = end.position.map(f64::from);
            [x / w * extent[0], y / w * extent[1]]
        });
        let is_steep = (ends[1][1] - ends[0][1]).abs() > (ends[1][0] - ends[0][0]).abs();
        let axis = usize::from(!is_steep);
        let moved = |end: &ShadedVertex, sign: f32| {
            let mut moved = end.clone();
            moved.position[axis] += sign * end.position[3] / extent[axis].abs() as f32;
            moved
        };
        let corners = [moved(a, -1.0), moved(b, -1.0), moved(b, 1.0), moved(a, 1.0)];
        self.quadrilateral(corners.each_ref(), provoking, number, &self.viewport)
    }

    /// A square around a point of which the centre is inside of clip space.
    pub fn point(&self, point: &ShadedVertex, size: f32, provoking: &ShadedVertex, number: u32) -> Vec<Piece> {
        let [x, y, z, w] = point.position;
        let is_near = match self.viewport.range {
            DepthRange::Clamped => true,
            DepthRange::Positive => (0.0..=w).contains(&z),
            DepthRange::Symmetric => (-w..=w).contains(&z),
        };
        if !(w > 0.0 && x.abs() <= w && y.abs() <= w && is_near) {
            return Vec::new();
        }
        let extent = self.open_viewport.extent;
        let corner = |dx: f32, dy: f32| {
            let mut moved = point.clone();
            moved.position[0] += dx * size * w / extent[0].abs() as f32;
            moved.position[1] += dy * size * w / extent[1].abs() as f32;
            moved
        };
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        let mut pieces = self.quadrilateral(corners.each_ref(), provoking, number, &self.open_viewport);
        let [x, y, _] = self.open_viewport.window(point.position);
        for piece in &mut pieces {
            piece.sprite = Some(Sprite { center: [x, y], size: size.into() });
        }
        pieces
    }

    /// The part of a triangle that a polygon mode draws. Corners have sizes as points.
    pub fn polygon(
        &self,
        corners: [&ShadedVertex; 3],
        mode: PolygonMode,
        sizes: [f32; 3],
        provoking: &ShadedVertex,
        number: u32,
    ) -> Vec<Piece> {
        let [a, b, c] = corners;
        match mode {
            PolygonMode::Fill => self.triangle(corners, provoking, number, &self.viewport),
            PolygonMode::Line => {
                let edges = [[a, b], [b, c], [c, a]];
                edges.iter().flat_map(|&edge| self.line(edge, provoking, number)).collect()
            }
            PolygonMode::Point => {
                let each = corners.into_iter().zip(sizes);
                each.flat_map(|(corner, size)| self.point(corner, size, provoking, number)).collect()
            }
            PolygonMode::Rectangle => rectangle(corners).map_or_else(Vec::new, |corners| {
                self.quadrilateral(corners.each_ref(), provoking, number, &self.viewport)
            }),
        }
    }

    fn quadrilateral(
        &self,
        [a, b, c, d]: [&ShadedVertex; 4],
        provoking: &ShadedVertex,
        number: u32,
        viewport: &Viewport,
    ) -> Vec<Piece> {
        let mut pieces = self.triangle([a, b, c], provoking, number, viewport);
        pieces.extend(self.triangle([a, c, d], provoking, number, viewport));
        for piece in &mut pieces {
            piece.triangle.is_front = true;
        }
        pieces
    }
}

/// The corners of the smallest rectangle around a triangle in the window, with the values that the plane of the triangle
/// has there. `None` if it has no area, or a corner is behind the viewer.
fn rectangle(corners: [&ShadedVertex; 3]) -> Option<[ShadedVertex; 4]> {
    let places = corners.map(|corner| {
        let [x, y, _, w] = corner.position.map(f64::from);
        [x / w, y / w]
    });
    let cross =
        |[ax, ay]: [f64; 2], [bx, by]: [f64; 2], [cx, cy]: [f64; 2]| (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
    let [a, b, c] = places;
    let area = cross(a, b, c);
    let is_visible = area.is_finite() && area != 0.0 && corners.iter().all(|corner| corner.position[3] > 0.0);
    let least = |axis: usize| places.iter().map(|place| place[axis]).fold(f64::INFINITY, f64::min);
    let most = |axis: usize| places.iter().map(|place| place[axis]).fold(f64::NEG_INFINITY, f64::max);
    let (left, right, low, high) = (least(0), most(0), least(1), most(1));
    is_visible.then(|| {
        [[left, low], [right, low], [right, high], [left, high]].map(|place| {
            // Weights in the window are those of positions divided by w.
            let weights = [cross(place, b, c), cross(a, place, c), cross(a, b, place)];
            let scaled = std::array::from_fn(|at| weights[at] / area / f64::from(corners[at].position[3]));
            mixed(corners, scaled)
        })
    })
}

/// The sum of vertices with weights, which are scaled to the sum 1.
fn mixed(corners: [&ShadedVertex; 3], weights: [f64; 3]) -> ShadedVertex {
    let sum: f64 = weights.iter().sum();
    let mix = |value: &dyn Fn(&ShadedVertex) -> f32| -> f32 {
        let each = corners.iter().zip(weights);
        each.map(|(corner, weight)| f64::from(value(corner)) * weight / sum).sum::<f64>() as f32
    };
    let mut result = corners[0].clone();
    for (at, component) in result.position.iter_mut().enumerate() {
        *component = mix(&|vertex| vertex.position[at]);
    }
    for (at, distance) in result.distances.iter_mut().enumerate() {
        *distance = mix(&|vertex| vertex.distances[at]);
    }
    for (at, varying) in result.varyings.iter_mut().enumerate() {
        for (component, value) in varying.iter_mut().enumerate() {
            *value = mix(&|vertex| vertex.varyings.get(at).map_or(0.0, |varying| varying[component]));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::MAX_DISTANCES;
    use pretty_assertions::assert_eq;

    fn vertex(position: [f32; 4], varying: f32) -> ShadedVertex {
        ShadedVertex { position, distances: [0.0; MAX_DISTANCES], varyings: vec![[varying; 4]] }
    }

    #[test]
    fn rectangles_continue_the_plane_of_a_triangle() {
        let corners = [
            vertex([-0.5, -0.5, 0.0, 1.0], 0.0),
            vertex([1.0, -1.0, 0.0, 2.0], 1.0),
            vertex([-0.5, 0.5, 0.0, 1.0], 2.0),
        ];
        let found = rectangle(corners.each_ref()).expect("a rectangle");
        let places = found.each_ref().map(|corner| {
            let [x, y, _, w] = corner.position;
            [x / w, y / w]
        });
        assert_eq!(places, [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]);
        assert_eq!([0, 1, 3].map(|at| found[at].varyings[0][0]), [0.0, 1.0, 2.0]);
        let flat = [0, 0, 1].map(|at| &corners[at]);
        assert_eq!(rectangle(flat), None);
    }

    #[test]
    fn polygons_are_edges_or_corners() {
        let viewport = Viewport::of_picture((16, 16));
        let pieces = Pieces { viewport, open_viewport: viewport, flat: vec![[false; 4]] };
        let corners = [[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5]].map(|[x, y]| vertex([x, y, 0.0, 1.0], 0.0));
        let count = |mode| {
            let pieces = pieces.polygon(corners.each_ref(), mode, [1.0; 3], &corners[0], 7);
            assert!(pieces.iter().all(|piece| piece.triangle.primitive == 7));
            pieces.len()
        };
        let modes = [PolygonMode::Fill, PolygonMode::Line, PolygonMode::Point, PolygonMode::Rectangle];
        assert_eq!(modes.map(count), [1, 6, 6, 2]);
    }
}
