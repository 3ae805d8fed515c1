//! System values, and the rows that a loader computes.

use std::collections::BTreeMap;

use tgsi_environment::sample_positions::sample_position;
use tgsi_environment::{Inputs, SamplerDim, SystemValue};

use super::environment::Surroundings;
use super::memory;
use crate::program::{FragmentOutput, FragmentResult, Program, Slot, SystemRow, Texture, Varying};
use crate::simulator::Vec4;

/// The tables of a program by number.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    pub(super) inputs: BTreeMap<u32, Slot>,
    pub(super) outputs: BTreeMap<u32, Varying>,
    pub(super) textures: BTreeMap<u32, Texture>,
    pub(super) images: BTreeMap<u32, Texture>,
    /// Colours by render target.
    pub(super) colours: BTreeMap<u32, FragmentOutput>,
}

impl Tables {
    pub(super) fn new(program: &Program) -> Tables {
        let textures = |list: &[Texture]| list.iter().map(|&texture| (texture.number, texture)).collect();
        let colour = |output: &FragmentOutput| match output.result {
            FragmentResult::Colour(target) => Some((target, *output)),
            _ => None,
        };
        Tables {
            inputs: program.inputs.iter().map(|input| (input.number, input.slot)).collect(),
            outputs: program.outputs.iter().map(|&output| (output.number, output)).collect(),
            textures: textures(&program.textures),
            images: textures(&program.images),
            colours: program.results.iter().filter_map(colour).collect(),
        }
    }
}

impl Tables {
    /// The entry of a texture or image. An index beyond an array reaches entries of the same kind: a number that the
    /// program does not list has the entry before it. Negative numbers have none, as in the interpreter.
    pub(super) fn listed(table: &BTreeMap<u32, Texture>, number: u32) -> Option<&Texture> {
        let mut before = table.range(..=number).rev();
        before.next().filter(|_| number.cast_signed() >= 0).map(|(_, texture)| texture)
    }
}

/// The samples of a pixel, for their positions, if the inputs do not state a position.
const SAMPLES: u32 = 4;

/// Returns a word of a system value, if the inputs have the value.
pub(super) fn given(inputs: &Inputs, value: SystemValue, component: usize, lane: usize) -> Option<u32> {
    let components = inputs.system_values.get(&value)?;
    Some(components.get(component).and_then(|lanes| lanes.get(lane)).copied().unwrap_or(0))
}

/// Returns a word of a system value: 0 if the inputs do not have it. As in the interpreter, some values follow from
/// others.
pub(super) fn system_value(inputs: &Inputs, value: SystemValue, component: usize, lane: usize) -> u32 {
    use SystemValue as S;
    if let Some(word) = given(inputs, value, component, lane) {
        return word;
    }
    let other = |value| given(inputs, value, component, lane).unwrap_or(0);
    match value {
        S::GlobalInvocationId if component < 3 => {
            let first = other(S::WorkgroupId).wrapping_mul(other(S::WorkgroupSize));
            first.wrapping_add(other(S::LocalInvocationId))
        }
        S::VertexId if component == 0 => other(S::VertexIdZeroBase).wrapping_add(stated_first_vertex(inputs, lane)),
        _ => 0,
    }
}

/// Returns the components of a system value.
pub(super) fn system_vector(inputs: &Inputs, value: SystemValue, lane: usize) -> Vec4 {
    [0, 1, 2, 3].map(|component| system_value(inputs, value, component, lane))
}

/// The first vertex of the draw by the inputs.
fn stated_first_vertex(inputs: &Inputs, lane: usize) -> u32 {
    let values = [SystemValue::FirstVertex, SystemValue::BaseVertex];
    values.into_iter().find_map(|value| given(inputs, value, 0, lane)).unwrap_or(0)
}

/// The first vertex of the draw: the difference of the numbers of the vertex with and without it, if the inputs have
/// the number without it.
fn first_vertex(inputs: &Inputs, lane: usize) -> u32 {
    match given(inputs, SystemValue::VertexIdZeroBase, 0, lane) {
        Some(number) => system_value(inputs, SystemValue::VertexId, 0, lane).wrapping_sub(number),
        None => stated_first_vertex(inputs, lane),
    }
}

/// The two words of an address.
pub(super) fn address_words(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

impl Surroundings<'_, '_> {
    /// A row of the buffer of system values, for a lane.
    pub(super) fn row(&mut self, lane: usize, row: SystemRow) -> Vec4 {
        use SystemValue as S;
        let inputs = self.inputs;
        match row {
            SystemRow::StorageBuffer(number) => {
                let [low, high] = address_words(memory::storage_buffer(number));
                let size = self.memory.buffers.get(number as usize).map_or(0, Vec::len);
                [low, high, size as u32, 0]
            }
            SystemRow::Counters(number) => {
                let [low, high] = address_words(memory::counters(number));
                [low, high, 0, 0]
            }
            SystemRow::TextureSize { texture, level } => {
                let Some((dim, is_array)) = dimensions(&self.tables.textures, texture) else { return [0; 4] };
                let size = self.resources.texture_size(texture, level, dim, is_array);
                let [x, y, z] = size.size;
                [x, y, z, size.levels]
            }
            SystemRow::TextureSamples(number) => {
                let Some((dim, is_array)) = dimensions(&self.tables.textures, number) else { return [0; 4] };
                [self.resources.texture_size(number, 0, dim, is_array).samples, 0, 0, 0]
            }
            SystemRow::ImageSize(number) => {
                let Some((dim, is_array)) = dimensions(&self.tables.images, number) else { return [0; 4] };
                let size = self.resources.image_size(number, dim, is_array);
                let [x, y, z] = size.size;
                [x, y, z, size.samples]
            }
            SystemRow::Zero => [0; 4],
            SystemRow::Workgroups => system_vector(inputs, S::NumWorkgroups, lane),
            SystemRow::WorkgroupSize => match self.program.workgroup {
                Some([x, y, z]) if !inputs.system_values.contains_key(&S::WorkgroupSize) => [x, y, z, 0],
                _ => system_vector(inputs, S::WorkgroupSize, lane),
            },
            SystemRow::Draw => {
                let word = |value| system_value(inputs, value, 0, lane);
                [first_vertex(inputs, lane), word(S::BaseInstance), word(S::DrawId), word(S::BaseVertex)]
            }
            SystemRow::SamplePosition(number) => {
                if inputs.system_values.contains_key(&S::SamplePos) {
                    return system_vector(inputs, S::SamplePos, lane);
                }
                let [x, y] = sample_position(SAMPLES, number).map(f32::to_bits);
                [x, y, 0, 0]
            }
        }
    }
}

/// The dimensions of a texture or image, and whether it has layers. `None` if it does not exist.
fn dimensions(table: &BTreeMap<u32, Texture>, number: u32) -> Option<(SamplerDim, bool)> {
    Tables::listed(table, number).map(|texture| (texture.dimensions.into(), texture.is_array))
}
