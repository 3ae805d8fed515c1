//! From primitives to triangles in the framebuffer.

use tgsi::tables::Interpolation;
use tgsi_environment::Vec4;
use tgsi_ir::slots::VaryingSlot;
use tgsi_raster::setup::{DepthRange, MAX_DISTANCES, ShadedVertex, Triangle, Viewport, clip};

use super::link::{Registers, Slot, register_of};
use super::primitives::Primitive;
use super::vertices::floats;
use crate::script::{DepthBias, Pipeline, PolygonMode};

/// Smallest and largest size of a point.
const POINT_SIZES: (f32, f32) = (1.0, 64.0);

/// A point: its place and size in pixels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Sprite {
    pub center: [f64; 2],
    pub size: f64,
}

/// A triangle of a primitive.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Piece {
    pub triangle: Triangle,
    /// The point that it is a part of.
    pub sprite: Option<Sprite>,
    /// Added to depths.
    pub bias: f64,
}

/// The source of an input of the fragment shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Output(usize),
    PrimitiveNumber,
    Nothing,
}

/// The state of the rasteriser.
pub(crate) struct Setup<'a> {
    viewport: Viewport,
    /// The viewport without clipping at its sides.
    open_viewport: Viewport,
    corner: [f64; 2],
    mode: PolygonMode,
    bias: Option<DepthBias>,
    /// The difference of two depths in a format with integers.
    resolution: Option<f64>,
    inputs: &'a [Slot],
    sources: Vec<Source>,
    position: Option<usize>,
    point_size: Option<usize>,
    distances: [Option<usize>; 2],
    cull_distances: [Option<usize>; 2],
    num_distances: [usize; 2],
}

/// The numbers of clip and cull distances.
pub(crate) type Distances = [usize; 2];

/// The pixels whose centres are between two coordinates.
fn pixels(start: f64, end: f64, last: u32) -> [i64; 2] {
    let (start, end) = (start.min(end), start.max(end));
    let last = i64::from(last);
    [((start - 0.5).ceil() as i64).clamp(0, last), ((end - 0.5).ceil() as i64 - 1).clamp(-1, last)]
}

impl<'a> Setup<'a> {
    /// The state for a pipeline: `outputs` are those of the last stage before it, `inputs` those of the fragment shader.
    pub(crate) fn new(
        pipeline: &Pipeline,
        outputs: &[Slot],
        num_distances: Distances,
        inputs: &'a [Slot],
        resolution: Option<f64>,
    ) -> Setup<'a> {
        let [width, height] = pipeline.size;
        let (corner, size, depths) = match pipeline.viewport {
            Some(viewport) => (viewport.corner, viewport.size, viewport.depths),
            None => ([0.0; 2], [width as f32, height as f32], [0.0, 1.0]),
        };
        let range = if pipeline.depth.clamp { DepthRange::Clamped } else { DepthRange::Positive };
        let (corner, extent) = (corner.map(f64::from), size.map(f64::from));
        let bounds = [width, height].map(|side| [0, i64::from(side) - 1]);
        let open_viewport = Viewport { corner, extent, depths: depths.map(f64::from), range, bounds };
        let last = [width - 1, height - 1];
        let inside = [0, 1].map(|axis| pixels(corner[axis], corner[axis] + extent[axis], last[axis]));
        let source = |slot: &Slot| match register_of(outputs, slot.location) {
            Some(register) => Source::Output(register),
            None if slot.location == i32::from(VaryingSlot::PRIMITIVE_ID) => Source::PrimitiveNumber,
            None => Source::Nothing,
        };
        let register = |slot: u8| register_of(outputs, slot.into());
        Setup {
            viewport: Viewport { bounds: inside, ..open_viewport },
            open_viewport,
            corner,
            mode: pipeline.polygon_mode,
            bias: pipeline.depth.bias,
            resolution,
            inputs,
            sources: inputs.iter().map(source).collect(),
            position: register(VaryingSlot::POS),
            point_size: register(VaryingSlot::PSIZ),
            distances: [VaryingSlot::CLIP_DIST0, VaryingSlot::CLIP_DIST1].map(register),
            cull_distances: [VaryingSlot::CULL_DIST0, VaryingSlot::CULL_DIST1].map(register),
            num_distances,
        }
    }

    /// Moves the framebuffer so that a place in each pixel becomes its centre.
    pub(crate) fn set_sample(&mut self, position: [f32; 2]) {
        let corner = [0, 1].map(|axis| self.corner[axis] + 0.5 - f64::from(position[axis]));
        (self.viewport.corner, self.open_viewport.corner) = (corner, corner);
    }

    /// Returns the triangles of a primitive.
    pub(crate) fn pieces(&self, primitive: &Primitive, vertices: &[Registers], number: u32) -> Vec<Piece> {
        let places: &[usize] = match primitive {
            Primitive::Point(places) => places,
            Primitive::Line(places) => places,
            Primitive::Triangle(places) => places,
        };
        let Some(found) = places.iter().map(|&place| vertices.get(place)).collect::<Option<Vec<&Registers>>>() else {
            return Vec::new();
        };
        if self.is_culled(&found) {
            return Vec::new();
        }
        let shaded: Vec<ShadedVertex> = found.iter().map(|registers| self.shaded(registers, number)).collect();
        let size = |at: usize| found.get(at).map_or(1.0, |registers| self.size_of(registers));
        let Some(provoking) = shaded.first() else { return Vec::new() };
        match shaded.as_slice() {
            [a] => self.point(a, size(0), provoking, number),
            [a, b] => self.line([a, b], provoking, number),
            [a, b, c] => {
                let corners = [a, b, c];
                let is_front = self.faces(corners);
                let mut pieces = match self.mode {
                    PolygonMode::Fill => return self.triangle(corners, provoking, number, &self.viewport, true),
                    PolygonMode::Line => {
                        let edges = [[a, b], [b, c], [c, a]];
                        edges.iter().flat_map(|&edge| self.line(edge, provoking, number)).collect::<Vec<Piece>>()
                    }
                    PolygonMode::Point => {
                        let each = corners.iter().enumerate();
                        each.flat_map(|(at, corner)| self.point(corner, size(at), provoking, number)).collect()
                    }
                };
                let bias = self.bias_of(self.slope(corners), corners);
                for piece in &mut pieces {
                    piece.triangle.is_front = is_front;
                    piece.bias = bias;
                }
                pieces
            }
            _ => Vec::new(),
        }
    }

    fn shaded(&self, registers: &Registers, number: u32) -> ShadedVertex {
        let read = |register: Option<usize>| register.and_then(|register| registers.get(register)).copied();
        let [low, high] = self.distances.map(|register| floats(read(register).unwrap_or_default()));
        let mut distances = [0.0; MAX_DISTANCES];
        let [num_clip, _] = self.num_distances;
        distances.iter_mut().zip(low.into_iter().chain(high)).take(num_clip).for_each(|(to, from)| *to = from);
        let varying = |source: &Source| -> Vec4 {
            match *source {
                Source::Output(register) => registers.get(register).copied().unwrap_or_default(),
                Source::PrimitiveNumber => [number, 0, 0, 0],
                Source::Nothing => [0; 4],
            }
        };
        ShadedVertex {
            position: floats(read(self.position).unwrap_or_default()),
            distances,
            varyings: self.sources.iter().map(|source| floats(varying(source))).collect(),
        }
    }

    /// Whether a cull distance is negative at all vertices.
    fn is_culled(&self, vertices: &[&Registers]) -> bool {
        let [_, count] = self.num_distances;
        (0..count.min(MAX_DISTANCES)).any(|at| {
            let distance = |registers: &&Registers| {
                let words = self.cull_distances[at / 4].and_then(|register| registers.get(register));
                words.map_or(0.0, |words| f32::from_bits(words[at % 4]))
            };
            vertices.iter().all(|registers| distance(registers) < 0.0)
        })
    }

    fn size_of(&self, registers: &Registers) -> f32 {
        let written = self.point_size.and_then(|register| registers.get(register));
        let (smallest, largest) = POINT_SIZES;
        written.map_or(smallest, |words| f32::from_bits(words[0]).clamp(smallest, largest))
    }

    /// Returns the parts of a triangle that are inside of clip space.
    fn triangle(
        &self,
        corners: [&ShadedVertex; 3],
        provoking: &ShadedVertex,
        number: u32,
        viewport: &Viewport,
        is_biased: bool,
    ) -> Vec<Piece> {
        let mut polygon = clip(corners, viewport.range);
        for (at, slot) in self.inputs.iter().enumerate() {
            let is_flat = slot.interpolation.iter().map(|mode| *mode == Interpolation::Constant);
            for (component, _) in is_flat.enumerate().filter(|(_, is_flat)| *is_flat) {
                for vertex in &mut polygon {
                    if let (Some(to), Some(from)) = (vertex.varyings.get_mut(at), provoking.varyings.get(at)) {
                        to[component] = from[component];
                    }
                }
            }
        }
        let mut pieces = Vec::new();
        for pair in polygon.get(1..).unwrap_or_default().windows(2) {
            let (Some(a), [b, c]) = (polygon.first(), pair) else { continue };
            if let Some(triangle) = Triangle::new([a, b, c], viewport, number) {
                let slope = triangle.depth_slopes();
                let bias = if is_biased { self.bias_of(slope, corners) } else { 0.0 };
                pieces.push(Piece { triangle, sprite: None, bias });
            }
        }
        pieces
    }

    /// Returns the change of the depth of a triangle from a pixel to the next.
    fn slope(&self, corners: [&ShadedVertex; 3]) -> [f64; 2] {
        Triangle::new(corners, &self.open_viewport, 0).map_or([0.0; 2], |triangle| triangle.depth_slopes())
    }

    fn faces(&self, corners: [&ShadedVertex; 3]) -> bool {
        Triangle::new(corners, &self.open_viewport, 0).is_none_or(|triangle| triangle.is_front)
    }

    fn bias_of(&self, slopes: [f64; 2], corners: [&ShadedVertex; 3]) -> f64 {
        let Some(DepthBias { constant, clamp, slope }) = self.bias else { return 0.0 };
        let steepest = slopes.iter().fold(0.0f64, |most, slope| most.max(slope.abs()));
        let resolution = self.resolution.unwrap_or_else(|| {
            // The difference of neighbouring floats near the greatest depth.
            let depths = corners.map(|corner| self.open_viewport.window(corner.position)[2].abs());
            let greatest = depths.into_iter().fold(0.0, f64::max) as f32;
            2f64.powi(greatest.to_bits().checked_shr(23).unwrap_or(0) as i32 - 127 - 23)
        });
        let bias = steepest * f64::from(slope) + resolution * f64::from(constant);
        let clamp = f64::from(clamp);
        if clamp > 0.0 {
            bias.min(clamp)
        } else if clamp < 0.0 {
            bias.max(clamp)
        } else {
            bias
        }
    }

    /// A line of one pixel: a parallelogram with sides along x or y.
    fn line(&self, [a, b]: [&ShadedVertex; 2], provoking: &ShadedVertex, number: u32) -> Vec<Piece> {
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

    fn point(&self, point: &ShadedVertex, size: f32, provoking: &ShadedVertex, number: u32) -> Vec<Piece> {
        let [x, y, z, w] = point.position;
        let is_inside = w > 0.0
            && x.abs() <= w
            && y.abs() <= w
            && (self.viewport.range == DepthRange::Clamped || (0.0..=w).contains(&z));
        if !is_inside {
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

    fn quadrilateral(
        &self,
        [a, b, c, d]: [&ShadedVertex; 4],
        provoking: &ShadedVertex,
        number: u32,
        viewport: &Viewport,
    ) -> Vec<Piece> {
        let mut pieces = self.triangle([a, b, c], provoking, number, viewport, false);
        pieces.extend(self.triangle([a, c, d], provoking, number, viewport, false));
        for piece in &mut pieces {
            piece.triangle.is_front = true;
        }
        pieces
    }
}
