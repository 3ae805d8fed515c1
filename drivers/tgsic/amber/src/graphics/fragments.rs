//! The fragment stage: quads of pixels, tests of depths, and writes to the attachments.

use tgsi_driver_cpu::sampler::Compare;
use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, Outputs, SystemValue};
use tgsi_ir::slots::{FragResult, VaryingSlot};
use tgsi_raster::setup::{Piece, Weights};
use tgsi_raster::workgroups::set_subgroups;

use super::link::register_of;
use super::stage::Stage;
use crate::buffer::Buffer;
use crate::error::Refusal;
use crate::script::Pipeline;

/// Quads of a run.
const MAX_QUADS: usize = MAX_LANES / 4;

/// The pixels of a quad in the order of lanes.
const OFFSETS: [[i64; 2]; 4] = [[0, 0], [1, 0], [0, 1], [1, 1]];

/// The component of the depth in its output: that of a position.
const DEPTH_COMPONENT: usize = 2;

/// A colour attachment: a buffer, a level, and the register of the output.
struct Color {
    buffer: usize,
    level: u32,
    register: Option<usize>,
}

/// The fragment stage of a draw.
pub(crate) struct Fragments<'s, 'p> {
    stage: Option<&'s Stage<'p>>,
    pipeline: &'s Pipeline,
    colors: Vec<Color>,
    depth_register: Option<usize>,
    mask_register: Option<usize>,
    is_early: bool,
    /// Whether depths are limited to 0 to 1.
    limits_depths: bool,
    /// The sample that is drawn, and its place in pixels.
    sample: (u32, [f32; 2]),
    quads: Vec<Quad>,
}

#[derive(Clone)]
struct Quad {
    x: i64,
    y: i64,
    coverage: u8,
    /// Inputs: `[slot][component][lane]`.
    varyings: Vec<[[u32; 4]; 4]>,
    weights: [Weights; 4],
    depths: [f32; 4],
    point: [[f32; 2]; 4],
    is_front: bool,
    primitive: u32,
}

impl<'s, 'p> Fragments<'s, 'p> {
    pub(crate) fn new(stage: Option<&'s Stage<'p>>, pipeline: &'s Pipeline, limits_depths: bool) -> Fragments<'s, 'p> {
        let outputs = stage.map_or(&[][..], |stage| &stage.outputs);
        let register = |location: i32| register_of(outputs, location);
        let colors = pipeline.colors.iter().map(|target| {
            let location = i32::from(FragResult::DATA0).saturating_add_unsigned(target.location);
            Color { buffer: target.buffer, level: target.level, register: register(location) }
        });
        Fragments {
            stage,
            pipeline,
            colors: colors.collect(),
            depth_register: register(FragResult::DEPTH.into()),
            mask_register: register(FragResult::SAMPLE_MASK.into()),
            limits_depths,
            sample: (0, [0.5; 2]),
            is_early: stage.is_some_and(|stage| stage.ir().info.fs.early_fragment_tests),
            quads: Vec::with_capacity(MAX_QUADS),
        }
    }

    /// Chooses the sample to draw.
    pub(crate) fn set_sample(&mut self, sample: u32, position: [f32; 2]) {
        self.sample = (sample, position);
    }

    /// Draws a piece of a primitive.
    pub(crate) fn draw(&mut self, piece: &Piece, buffers: &mut [Buffer]) -> Result<(), Refusal> {
        let [[left, right], [top, bottom]] = piece.triangle.bounds;
        let columns = left..=right;
        let rows = top..=bottom;
        for y in (top & !1..=bottom).step_by(2) {
            for x in (left & !1..=right).step_by(2) {
                let mut coverage = piece.triangle.coverage(x, y);
                for (lane, [dx, dy]) in OFFSETS.into_iter().enumerate() {
                    if !columns.contains(&(x + dx)) || !rows.contains(&(y + dy)) {
                        coverage &= !(1 << lane);
                    }
                }
                if coverage == 0 {
                    continue;
                }
                let mut quad = self.quad(piece, x, y, coverage);
                if self.is_early {
                    self.test_early(&mut quad, buffers);
                }
                if quad.coverage == 0 {
                    continue;
                }
                self.quads.push(quad);
                if self.quads.len() == MAX_QUADS {
                    self.flush(buffers)?;
                }
            }
        }
        Ok(())
    }

    fn quad(&self, piece: &Piece, x: i64, y: i64, coverage: u8) -> Quad {
        let triangle = &piece.triangle;
        let weights = OFFSETS.map(|[dx, dy]| triangle.weights(x + dx, y + dy));
        let slots = self.stage.map_or(&[][..], |stage| &stage.inputs);
        let varyings = slots.iter().enumerate().map(|(number, slot)| {
            [0, 1, 2, 3].map(|component| {
                let mode = slot.interpolation[component];
                weights.each_ref().map(|weights| triangle.interpolate(mode, number, component, weights).to_bits())
            })
        });
        let point = OFFSETS.map(|[dx, dy]| match piece.sprite {
            None => [0.0; 2],
            Some(sprite) => [(x + dx, 0), (y + dy, 1)]
                .map(|(at, axis)| (0.5 + (at as f64 + 0.5 - sprite.center[axis]) / sprite.size) as f32),
        });
        Quad {
            x,
            y,
            coverage,
            varyings: varyings.collect(),
            depths: weights.each_ref().map(|weights| (weights.depth + piece.bias) as f32),
            weights,
            point,
            is_front: triangle.is_front,
            primitive: triangle.primitive,
        }
    }

    /// Limits a depth, by the state of the pipeline.
    fn limited(&self, depth: f32) -> f32 {
        if !self.pipeline.depth.clamp {
            return if self.limits_depths { depth.clamp(0.0, 1.0) } else { depth };
        }
        let [near, far] = self.pipeline.viewport.map_or([0.0, 1.0], |viewport| viewport.depths);
        depth.clamp(near.min(far), near.max(far).max(near.min(far)))
    }

    /// Tests depths before the shader runs.
    fn test_early(&self, quad: &mut Quad, buffers: &mut [Buffer]) {
        for (lane, [dx, dy]) in OFFSETS.into_iter().enumerate() {
            if quad.coverage >> lane & 1 == 1 && !self.test(quad.x + dx, quad.y + dy, quad.depths[lane], buffers) {
                quad.coverage &= !(1 << lane);
            }
        }
    }

    /// Tests a depth, and stores it. Returns whether the pixel is visible.
    fn test(&self, x: i64, y: i64, depth: f32, buffers: &mut [Buffer]) -> bool {
        let state = &self.pipeline.depth;
        let target = self.pipeline.depth_target.and_then(|target| buffers.get_mut(target));
        let Some(target) = target.filter(|_| state.test) else { return true };
        let Some(texel) = pixel(target, 0, x, y, self.sample.0) else { return false };
        let (Some(format), Some(bytes)) = (&target.format, target.bytes.get_mut(texel)) else { return false };
        let depth = self.limited(depth);
        let before = f32::from_bits(format.decode(bytes)[0]);
        // The format limits and rounds the depth.
        let mut after = bytes.to_vec();
        format.encode([depth.to_bits(), 0, 0, 0], &mut after);
        let depth = f32::from_bits(format.decode(&after)[0]);
        let is_visible = match state.compare {
            Compare::Never => false,
            Compare::Less => depth < before,
            Compare::Equal => depth == before,
            Compare::LessOrEqual => depth <= before,
            Compare::Greater => depth > before,
            Compare::NotEqual => depth != before,
            Compare::GreaterOrEqual => depth >= before,
            Compare::Always => true,
        };
        if is_visible && state.write {
            bytes.copy_from_slice(&after);
        }
        is_visible
    }

    /// Shades the quads that are left.
    pub(crate) fn flush(&mut self, buffers: &mut [Buffer]) -> Result<(), Refusal> {
        let quads = std::mem::take(&mut self.quads);
        if quads.is_empty() {
            return Ok(());
        }
        let outputs = match self.stage {
            Some(stage) => Some(stage.run(&mut inputs(stage, &quads, self.sample), buffers)?),
            None => None,
        };
        for (number, quad) in quads.iter().enumerate() {
            for (lane, [dx, dy]) in OFFSETS.into_iter().enumerate() {
                let at = 4 * number + lane;
                let is_live = outputs.as_ref().is_none_or(|outputs| outputs.live.get(at).copied().unwrap_or(true));
                if quad.coverage >> lane & 1 == 1 && is_live {
                    self.write(quad.x + dx, quad.y + dy, quad.depths[lane], outputs.as_ref(), at, buffers);
                }
            }
        }
        self.quads = quads;
        self.quads.clear();
        Ok(())
    }

    fn write(&self, x: i64, y: i64, depth: f32, outputs: Option<&Outputs>, at: usize, buffers: &mut [Buffer]) {
        let read = |register: usize| {
            outputs.map_or([0; 4], |outputs| [0, 1, 2, 3].map(|component| outputs.outputs.get(register, component, at)))
        };
        if self.mask_register.is_some_and(|register| read(register)[0].checked_shr(self.sample.0).unwrap_or(0) & 1 == 0)
        {
            return;
        }
        if !self.is_early {
            let written = self.depth_register.map(|register| f32::from_bits(read(register)[DEPTH_COMPONENT]));
            if !self.test(x, y, written.unwrap_or(depth), buffers) {
                return;
            }
        }
        for color in &self.colors {
            let (Some(register), Some(buffer)) = (color.register, buffers.get_mut(color.buffer)) else { continue };
            let Some(texel) = pixel(buffer, color.level, x, y, self.sample.0) else { continue };
            if let (Some(format), Some(bytes)) = (&buffer.format, buffer.bytes.get_mut(texel)) {
                format.encode(read(register), bytes);
            }
        }
    }
}

/// The bytes of a sample of a pixel.
fn pixel(buffer: &Buffer, level: u32, x: i64, y: i64, sample: u32) -> Option<std::ops::Range<usize>> {
    let [width, height, _] = buffer.level_size(level);
    let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
    if x >= width || y >= height || sample >= buffer.samples {
        return None;
    }
    let (stride, samples) = (buffer.layout.stride, buffer.samples as usize);
    let number = (y as usize * width as usize + x as usize) * samples + sample as usize;
    let start = buffer.level_range(level).start + number * stride;
    Some(start..start + stride)
}

fn inputs(stage: &Stage<'_>, quads: &[Quad], (sample, position): (u32, [f32; 2])) -> Inputs {
    let lanes = 4 * quads.len();
    let registers = stage.inputs.iter().map(|slot| slot.register + 1).max().unwrap_or(0);
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, registers), ..Inputs::default() };
    let rows = |value: &dyn Fn(&Quad, usize) -> u32| -> Vec<u32> {
        quads.iter().flat_map(|quad| (0..4).map(move |lane| value(quad, lane))).collect()
    };
    let coordinate = |component: usize| {
        rows(&|quad, lane| {
            let [dx, dy] = OFFSETS[lane];
            let value = match component {
                0 => (quad.x + dx) as f32 + position[0],
                1 => (quad.y + dy) as f32 + position[1],
                2 => quad.depths[lane],
                _ => quad.weights[lane].inverse_w as f32,
            };
            value.to_bits()
        })
    };
    let coordinates = [0, 1, 2, 3].map(coordinate);
    for (number, slot) in stage.inputs.iter().enumerate() {
        for (component, coordinates) in coordinates.iter().enumerate() {
            let row = inputs.inputs.component_mut(slot.register, component);
            if slot.location == i32::from(VaryingSlot::POS) {
                row.copy_from_slice(coordinates);
                continue;
            }
            let (chunks, _) = row.as_chunks_mut::<4>();
            for (to, quad) in chunks.iter_mut().zip(quads) {
                *to = quad.varyings.get(number).map_or([0; 4], |slot| slot[component]);
            }
        }
    }
    let bit = |quad: &Quad, lane: usize| u32::from(quad.coverage >> lane & 1);
    let values = &mut inputs.system_values;
    values.insert(SystemValue::FragCoord, coordinates.to_vec());
    values.insert(SystemValue::FrontFace, vec![rows(&|quad, _| 0u32.wrapping_sub(quad.is_front.into()))]);
    values.insert(SystemValue::PrimitiveId, vec![rows(&|quad, _| quad.primitive)]);
    values.insert(
        SystemValue::PointCoord,
        [0, 1].map(|axis| rows(&|quad, lane| quad.point[lane][axis].to_bits())).to_vec(),
    );
    values.insert(SystemValue::SampleId, vec![vec![sample; lanes]]);
    values.insert(SystemValue::SamplePos, position.map(|at| vec![at.to_bits(); lanes]).to_vec());
    values
        .insert(SystemValue::SampleMaskIn, vec![rows(&|quad, lane| bit(quad, lane).checked_shl(sample).unwrap_or(0))]);
    values.insert(SystemValue::HelperInvocation, vec![rows(&|quad, lane| bit(quad, lane).wrapping_sub(1))]);
    inputs.helpers = quads.iter().flat_map(|quad| (0..4).map(move |lane| quad.coverage >> lane & 1 == 0)).collect();
    set_subgroups(&mut inputs);
    inputs
}
