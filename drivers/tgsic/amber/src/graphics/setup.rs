//! From primitives to triangles in the framebuffer.

use tgsi::tables::Interpolation;
use tgsi_environment::Vec4;
use tgsi_ir::slots::VaryingSlot;
use tgsi_raster::primitives::{PolygonMode, Primitive};
use tgsi_raster::setup::{DepthRange, MAX_DISTANCES, Piece, Pieces, ShadedVertex, Triangle, Viewport};
use tgsi_raster::stages::Registers;

use super::link::{Slot, register_of};
use super::vertices::floats;
use crate::script::{DepthBias, Pipeline};

/// Smallest and largest size of a point.
const POINT_SIZES: (f32, f32) = (1.0, 64.0);

/// The source of an input of the fragment shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Output(usize),
    PrimitiveNumber,
    Nothing,
}

/// The state of the rasteriser.
pub(crate) struct Setup {
    pieces: Pieces,
    corner: [f64; 2],
    mode: PolygonMode,
    bias: Option<DepthBias>,
    /// The difference of two depths in a format with integers.
    resolution: Option<f64>,
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

impl Setup {
    /// The state for a pipeline: `outputs` are those of the last stage before it, `inputs` those of the fragment shader.
    pub(crate) fn new(
        pipeline: &Pipeline,
        outputs: &[Slot],
        num_distances: Distances,
        inputs: &[Slot],
        resolution: Option<f64>,
    ) -> Setup {
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
            pieces: Pieces {
                viewport: Viewport { bounds: inside, ..open_viewport },
                open_viewport,
                flat: inputs
                    .iter()
                    .map(|slot| slot.interpolation.map(|mode| mode == Interpolation::Constant))
                    .collect(),
            },
            corner,
            mode: pipeline.polygon_mode,
            bias: pipeline.depth.bias,
            resolution,
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
        (self.pieces.viewport.corner, self.pieces.open_viewport.corner) = (corner, corner);
    }

    /// Returns the triangles of a primitive.
    pub(crate) fn pieces(&self, primitive: &Primitive, vertices: &[Registers], number: u32) -> Vec<Piece> {
        let Some(found) =
            primitive.places().iter().map(|&place| vertices.get(place)).collect::<Option<Vec<&Registers>>>()
        else {
            return Vec::new();
        };
        if self.is_culled(&found) {
            return Vec::new();
        }
        let shaded: Vec<ShadedVertex> = found.iter().map(|registers| self.shaded(registers, number)).collect();
        let size = |at: usize| found.get(at).map_or(1.0, |registers| self.size_of(registers));
        let Some(provoking) = shaded.first() else { return Vec::new() };
        match shaded.as_slice() {
            [a] => self.pieces.point(a, size(0), provoking, number),
            [a, b] => self.pieces.line([a, b], provoking, number),
            [a, b, c] => {
                let corners = [a, b, c];
                let is_front = self.faces(corners);
                if self.mode == PolygonMode::Fill {
                    return self.triangle(corners, provoking, number);
                }
                let sizes = [0, 1, 2].map(size);
                let mut pieces = self.pieces.polygon(corners, self.mode, sizes, provoking, number);
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
    fn triangle(&self, corners: [&ShadedVertex; 3], provoking: &ShadedVertex, number: u32) -> Vec<Piece> {
        let mut pieces = self.pieces.triangle(corners, provoking, number, &self.pieces.viewport);
        for piece in &mut pieces {
            piece.bias = self.bias_of(piece.triangle.depth_slopes(), corners);
        }
        pieces
    }

    /// Returns the change of the depth of a triangle from a pixel to the next.
    fn slope(&self, corners: [&ShadedVertex; 3]) -> [f64; 2] {
        Triangle::new(corners, &self.pieces.open_viewport, 0).map_or([0.0; 2], |triangle| triangle.depth_slopes())
    }

    fn faces(&self, corners: [&ShadedVertex; 3]) -> bool {
        Triangle::new(corners, &self.pieces.open_viewport, 0).is_none_or(|triangle| triangle.is_front)
    }

    fn bias_of(&self, slopes: [f64; 2], corners: [&ShadedVertex; 3]) -> f64 {
        let Some(DepthBias { constant, clamp, slope }) = self.bias else { return 0.0 };
        let steepest = slopes.iter().fold(0.0f64, |most, slope| most.max(slope.abs()));
        let resolution = self.resolution.unwrap_or_else(|| {
            // The difference of neighbouring floats near the greatest depth.
            let depths = corners.map(|corner| self.pieces.open_viewport.window(corner.position)[2].abs());
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
}
