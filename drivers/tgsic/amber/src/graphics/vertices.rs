//! The vertex stage: attributes of vertices, and runs of the vertex shader.

use std::collections::HashMap;

use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, SystemValue, Vec4};

use super::stage::Stage;
use crate::buffer::{Buffer, Number};
use crate::error::Refusal;
use crate::script::{Pipeline, Shape};
use tgsi_raster::format::{Encoding, PixelFormat};
use tgsi_raster::primitives::Topology;
use tgsi_raster::stages::{Registers, registers_of_lanes};
use tgsi_raster::workgroups::set_subgroups;

/// Most vertices of an instance, and most instances.
const MAX_VERTICES: usize = 1 << 22;
const MAX_INSTANCES: u32 = 1 << 16;

/// A source of an input register.
struct Attribute {
    register: usize,
    format: PixelFormat,
    bytes: Vec<u8>,
    offset: usize,
    stride: usize,
    is_per_instance: bool,
}

impl Attribute {
    /// The words of a vertex; 64-bit components take two each. Beyond the end of the buffer they are zero.
    fn words(&self, number: u32) -> Vec<u32> {
        let at = (number as usize).saturating_mul(self.stride).saturating_add(self.offset);
        let end = at.saturating_add(self.format.bytes);
        let Some(bytes) = self.bytes.get(at..end) else { return vec![0; 4] };
        if self.format.parts.iter().all(|part| part.bits == 64) {
            return bytes
                .chunks_exact(4)
                .map(|word| word.iter().rev().fold(0, |all, b| all << 8 | u32::from(*b)))
                .collect();
        }
        self.format.decode(bytes).to_vec()
    }
}

/// The vertices of a draw: those of each instance, in the order of the draw.
pub(crate) struct Vertices {
    /// Numbers of vertices, in order.
    numbers: Vec<u32>,
    attributes: Vec<Attribute>,
    first_instance: u32,
    instances: u32,
    /// The first vertex of a draw without indices.
    base: u32,
    /// How they form primitives.
    pub topology: Topology,
}

impl Vertices {
    /// The vertices of a draw.
    pub(crate) fn new(
        shape: &Shape,
        pipeline: &Pipeline,
        buffers: &[Buffer],
        line: usize,
    ) -> Result<Vertices, Refusal> {
        let attributes = pipeline.vertex_data.iter().filter_map(|data| {
            Some(Attribute {
                register: data.location as usize,
                format: data.format.clone(),
                bytes: buffers.get(data.buffer)?.bytes.clone(),
                offset: data.offset,
                stride: data.stride,
                is_per_instance: data.is_per_instance,
            })
        });
        let attributes: Vec<Attribute> = attributes.collect();
        match shape {
            Shape::Positions(positions, topology) => {
                let bytes = positions.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
                let format = PixelFormat::of_numbers(Encoding::Sfloat, 32, 2);
                let position = Attribute { register: 0, format, bytes, offset: 0, stride: 8, is_per_instance: false };
                Ok(Vertices {
                    numbers: (0..positions.len() as u32).collect(),
                    attributes: vec![position],
                    first_instance: 0,
                    instances: 1,
                    base: 0,
                    topology: *topology,
                })
            }
            &Shape::Arrays { topology, is_indexed, first, count, first_instance, instances } => {
                let indices = if is_indexed { pipeline.indices.and_then(|indices| buffers.get(indices)) } else { None };
                let available = match indices {
                    Some(indices) => indices.elements(),
                    None => {
                        let data = pipeline.vertex_data.iter().find(|data| !data.is_per_instance);
                        data.and_then(|data| buffers.get(data.buffer)).map_or(0, Buffer::elements)
                    }
                };
                let rest = available.saturating_sub(first as usize);
                let count = count.map_or(rest, |count| count as usize);
                if count > MAX_VERTICES || instances > MAX_INSTANCES {
                    return Err(Refusal::syntax(line, format!("a draw of {count} vertices")));
                }
                let numbers = (first..).take(count).map(|at| match indices {
                    None => at,
                    Some(indices) => index(indices, at),
                });
                let base = if is_indexed { 0 } else { first };
                Ok(Vertices { numbers: numbers.collect(), attributes, first_instance, instances, base, topology })
            }
        }
    }

    /// The number of instances.
    pub(crate) fn instances(&self) -> u32 {
        self.instances
    }

    /// Runs the vertex shader for an instance. Returns the outputs for each vertex of the draw; vertices that are drawn
    /// twice are processed once.
    pub(crate) fn run(&self, instance: u32, stage: &Stage, buffers: &mut [Buffer]) -> Result<Vec<Registers>, Refusal> {
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut distinct: Vec<u32> = Vec::new();
        for &number in &self.numbers {
            places.entry(number).or_insert_with(|| {
                distinct.push(number);
                distinct.len() - 1
            });
        }
        let mut shaded: Vec<Registers> = Vec::with_capacity(distinct.len());
        for batch in distinct.chunks(MAX_LANES) {
            shaded.extend(self.run_batch(instance, batch, stage, buffers)?);
        }
        let of = |number: &u32| places.get(number).and_then(|&place| shaded.get(place)).cloned().unwrap_or_default();
        Ok(self.numbers.iter().map(of).collect())
    }

    fn run_batch(
        &self,
        instance: u32,
        batch: &[u32],
        stage: &Stage,
        buffers: &mut [Buffer],
    ) -> Result<Vec<Registers>, Refusal> {
        let lanes = batch.len();
        let registers = self.attributes.iter().map(|attribute| attribute.register + 2).max().unwrap_or(0).min(256);
        let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, registers), ..Inputs::default() };
        for attribute in &self.attributes {
            for (lane, &number) in batch.iter().enumerate() {
                let number = if attribute.is_per_instance { self.first_instance + instance } else { number };
                for (at, word) in attribute.words(number).into_iter().enumerate() {
                    if attribute.register + at / 4 < registers {
                        inputs.inputs.set(attribute.register + at / 4, at % 4, lane, word);
                    }
                }
            }
        }
        let all = |word: u32| vec![vec![word; lanes]];
        let values = &mut inputs.system_values;
        values.insert(SystemValue::VertexId, vec![batch.to_vec()]);
        values.insert(
            SystemValue::VertexIdZeroBase,
            vec![batch.iter().map(|number| number.wrapping_sub(self.base)).collect()],
        );
        values.insert(SystemValue::BaseVertex, all(self.base));
        values.insert(SystemValue::FirstVertex, all(self.base));
        values.insert(SystemValue::InstanceId, all(instance));
        values.insert(SystemValue::BaseInstance, all(self.first_instance));
        values.insert(SystemValue::DrawId, all(0));
        set_subgroups(&mut inputs);
        let outputs = stage.run(&mut inputs, buffers)?;
        Ok(registers_of_lanes(&outputs.outputs, lanes))
    }
}

/// The index at a place of an index buffer.
fn index(buffer: &Buffer, at: u32) -> u32 {
    let segment = buffer.layout.segments.first();
    let element = (at as usize).saturating_mul(buffer.layout.stride);
    let found = segment.and_then(|segment| Number::read(&buffer.bytes, segment, element));
    match found {
        Some(Number::Unsigned(value)) => value as u32,
        Some(Number::Signed(value)) => value as u32,
        _ => 0,
    }
}

/// The words of a register as floats.
pub(crate) fn floats(words: Vec4) -> [f32; 4] {
    words.map(f32::from_bits)
}
