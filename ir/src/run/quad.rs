//! Executes a texture instruction for one quad: converts the words of its lanes to a [`TextureRequest`], and the result
//! back to words. The interpreter and machine code share it.

use super::layout::NULL;
use super::ops::{Texture, Value};
use crate::alu::{AluOp, BaseType, ExecutionMode, evaluate};
use crate::body::{DEFAULT_TG4_OFFSETS, TexOp, TexSrcKind};
use tgsi_environment::sample_positions::sample_position;
use tgsi_environment::{Resources, TextureLookup, TextureRequest};

/// Lane vectors of words, and the position of a quad in them. Missing lanes read as 0.
#[derive(Clone, Copy, Debug)]
pub struct QuadWords<'w> {
    /// The lane vectors that [`Value::vector`] refers to.
    pub words: &'w [u32],
    /// Number of words of a lane vector.
    pub width: usize,
    /// First lane of the quad.
    pub first: usize,
    /// Number of lanes.
    pub lanes: usize,
}

impl QuadWords<'_> {
    /// Bits of a component in a lane of the quad; 0 for a missing component or lane.
    #[inline]
    fn get(self, value: Value, component: usize, lane: usize) -> u64 {
        let lane = self.first + lane;
        if component >= usize::from(value.components) || lane >= self.lanes {
            return 0;
        }
        let at = (value.vector as usize + component) * self.width + lane;
        let word = |at: usize| u64::from(self.words.get(at).copied().unwrap_or(0));
        if value.bits == 64 { word(at) | word(at + usize::from(value.components) * self.width) << 32 } else { word(at) }
    }

    fn integer(self, value: Value, component: usize, lane: usize) -> u32 {
        let bits = self.get(value, component, lane);
        match value.bits {
            8 => bits as i8 as u32,
            16 => bits as i16 as u32,
            _ => bits as u32,
        }
    }

    fn float(self, value: Value, component: usize, lane: usize) -> u32 {
        let bits = self.get(value, component, lane);
        if value.bits == 32 {
            return bits as u32;
        }
        let mut result = [0];
        evaluate(AluOp::F2f32, value.bits, 1, &[&[bits]], ExecutionMode::DEFAULT, &mut result);
        result[0] as u32
    }

    /// Words of a component in all lanes, converted to 32-bit floats.
    ///
    /// Fast path for the most common case: 32-bit floats of a whole quad.
    fn floats(self, value: Value, component: usize) -> [u32; 4] {
        let at = (value.vector as usize + component) * self.width + self.first;
        if value.bits == 32
            && component < usize::from(value.components)
            && self.first + 4 <= self.lanes
            && let Some(&[a, b, c, d]) = self.words.get(at..at + 4)
        {
            return [a, b, c, d];
        }
        std::array::from_fn(|lane| self.float(value, component, lane))
    }

    fn integers(self, value: Value, component: usize) -> [u32; 4] {
        std::array::from_fn(|lane| self.integer(value, component, lane))
    }
}

/// The bits of a bindless handle, which has 64 bits or fewer, or two words.
pub(super) fn handle_bits(handle: Value, mut get: impl FnMut(usize) -> u64) -> u64 {
    let low = get(0);
    if handle.bits == 32 && handle.components == 2 { low | get(1) << 32 } else { low }
}

fn divide(words: [u32; 4], divisor: [f32; 4]) -> [u32; 4] {
    std::array::from_fn(|lane| (f32::from_bits(words[lane]) / divisor[lane]).to_bits())
}

impl Texture {
    /// Executes the instruction for a quad with active lanes. Returns words by component and lane. The first active
    /// lane determines the units.
    pub fn execute(&self, quad: QuadWords<'_>, active: [bool; 4], resources: &mut dyn Resources) -> [[u32; 4]; 5] {
        let leader = active.iter().position(|&active| active).unwrap_or(0);
        let kinds = [TexSrcKind::TextureDeref, TexSrcKind::TextureHandle, TexSrcKind::TextureOffset];
        let unit = self.unit(kinds, self.data.texture_index, quad, leader, resources);
        let kinds = [TexSrcKind::SamplerDeref, TexSrcKind::SamplerHandle, TexSrcKind::SamplerOffset];
        let sampler = self.unit(kinds, self.data.sampler_index, quad, leader, resources);
        // A pointer beyond the end of an array of textures or samplers gives zero for everything, and no samples.
        let (Some(unit), true) = (unit, sampler.is_some() || !self.data.op.needs_sampler()) else {
            let mut words = [[0; 4]; 5];
            if self.data.op == TexOp::SamplePos {
                let position = sample_position(0, 0).map(f32::to_bits);
                (words[0], words[1]) = ([position[0]; 4], [position[1]; 4]);
            }
            return words;
        };
        match self.lookup() {
            Some(lookup) => self.look_up(lookup, quad, unit, sampler.unwrap_or(0), resources),
            None => self.query(quad, active, unit, resources),
        }
    }

    /// Converts a word to the bits of a result component.
    pub fn result_bits(&self, word: u32) -> u64 {
        let float = self.data.dest_type.base == BaseType::Float;
        match (float, self.dest.bits) {
            (true, 16 | 64) => {
                let mut result = [0];
                let op = if self.dest.bits == 16 { AluOp::F2f16 } else { AluOp::F2f64 };
                evaluate(op, 32, 1, &[&[word.into()]], ExecutionMode::DEFAULT, &mut result);
                result[0]
            }
            (false, 64) if self.data.dest_type.base == BaseType::Int => i64::from(word as i32) as u64,
            _ => word.into(),
        }
    }

    /// The unit given by a deref, handle or index; `None` for a null pointer.
    fn unit(
        &self,
        kinds: [TexSrcKind; 3],
        index: u32,
        quad: QuadWords<'_>,
        lane: usize,
        resources: &mut dyn Resources,
    ) -> Option<u32> {
        let [deref, handle, offset] = kinds;
        let unit = if let Some(deref) = self.source(deref) {
            let unit = quad.get(deref, 0, lane) as u32;
            if unit == NULL {
                return None;
            }
            unit
        } else if let Some(handle) = self.source(handle) {
            resources.unit_of_handle(handle_bits(handle, |component| quad.get(handle, component, lane)))
        } else {
            index
        };
        let offset = self.source(offset).map_or(0, |value| quad.get(value, 0, lane) as u32);
        Some(unit.wrapping_add(offset))
    }

    fn look_up(
        &self,
        lookup: TextureLookup,
        quad: QuadWords<'_>,
        unit: u32,
        sampler: u32,
        resources: &mut dyn Resources,
    ) -> [[u32; 4]; 5] {
        let data = &self.data;
        let fetch = lookup == TextureLookup::Fetch;
        let mut request = TextureRequest {
            texture: unit,
            sampler,
            is_array: data.is_array,
            is_shadow: data.is_shadow,
            ..TextureRequest::new(lookup, data.dim)
        };
        let coordinates = usize::from(data.coord_components).min(4);
        if let Some(value) = self.source(TexSrcKind::Coord) {
            for component in 0..coordinates {
                request.coordinate[component] =
                    if fetch { quad.integers(value, component) } else { quad.floats(value, component) };
            }
        }
        if let Some(value) = self.source(TexSrcKind::Comparator) {
            request.comparator = quad.floats(value, 0);
        }
        if let Some(value) = self.source(TexSrcKind::Projector) {
            let projector = quad.floats(value, 0).map(f32::from_bits);
            let layer = if data.is_array { coordinates.checked_sub(1) } else { None };
            let divided = (0..coordinates).filter(|&component| Some(component) != layer);
            for component in divided {
                request.coordinate[component] = divide(request.coordinate[component], projector);
            }
            request.comparator = divide(request.comparator, projector);
        }
        let lod = match data.op {
            TexOp::Txf => self.source(TexSrcKind::Lod).map(|value| quad.integers(value, 0)),
            TexOp::TxfMs | TexOp::TxfMsFb => self.source(TexSrcKind::MsIndex).map(|value| quad.integers(value, 0)),
            _ => self.source(TexSrcKind::Lod).or(self.source(TexSrcKind::Bias)).map(|value| quad.floats(value, 0)),
        };
        request.lod = lod.unwrap_or([0; 4]);
        for (kind, gradient) in [(TexSrcKind::Ddx, &mut request.ddx), (TexSrcKind::Ddy, &mut request.ddy)] {
            if let Some(value) = self.source(kind) {
                for (component, words) in gradient.iter_mut().enumerate() {
                    *words = quad.floats(value, component);
                }
            }
        }
        if let Some(value) = self.source(TexSrcKind::Offset) {
            for (component, offset) in request.offset.iter_mut().enumerate() {
                *offset = quad.integers(value, component).map(|word| word as i32);
            }
        }
        if let Some(value) = self.source(TexSrcKind::MinLod) {
            clamp_lod(&mut request, quad.floats(value, 0), resources);
        }
        if data.op == TexOp::Tg4 && data.tg4_offsets != DEFAULT_TG4_OFFSETS {
            request.gather_offsets = Some(data.tg4_offsets.map(|texel| texel.map(|offset| [offset.into(); 4])));
        }
        let mut words = [[0; 4]; 5];
        words[..4].copy_from_slice(&resources.texture(&request));
        if data.is_sparse {
            // Everything is resident.
            words[usize::from(self.dest.components).clamp(1, 5) - 1] = [1; 4];
        }
        words
    }

    fn query(&self, quad: QuadWords<'_>, active: [bool; 4], unit: u32, resources: &mut dyn Resources) -> [[u32; 4]; 5] {
        let data = &self.data;
        let mut words = [[0; 4]; 5];
        let lod = self.source(TexSrcKind::Lod);
        for lane in (0..4).filter(|&lane| active[lane]) {
            let level = lod.map_or(0, |value| quad.get(value, 0, lane) as u32);
            let size = resources.texture_size(unit, level, data.dim, data.is_array);
            match data.op {
                TexOp::Txs => {
                    for (words, &size) in words.iter_mut().zip(&size.size) {
                        words[lane] = size;
                    }
                }
                TexOp::QueryLevels => words[0][lane] = size.levels,
                TexOp::TextureSamples => words[0][lane] = size.samples,
                TexOp::SamplePos => {
                    let number = self.source(TexSrcKind::MsIndex).map_or(0, |value| quad.get(value, 0, lane) as u32);
                    let position = sample_position(size.samples, number).map(f32::to_bits);
                    (words[0][lane], words[1][lane]) = (position[0], position[1]);
                }
                // It is always valid to return false for identical samples.
                _ => {}
            }
        }
        words
    }
}

/// Clamps the level of a lookup to a minimum: queries the level, and uses it explicitly.
fn clamp_lod(request: &mut TextureRequest, minimum: [u32; 4], resources: &mut dyn Resources) {
    let minimum = minimum.map(f32::from_bits);
    let bias = request.lod.map(f32::from_bits);
    let level = match request.lookup {
        TextureLookup::Explicit => bias,
        TextureLookup::Implicit | TextureLookup::Bias | TextureLookup::Gradient => {
            let query = TextureRequest { lookup: TextureLookup::QueryLod, ..request.clone() };
            let levels = resources.texture(&query)[1].map(f32::from_bits);
            std::array::from_fn(|lane| levels[lane] + bias[lane])
        }
        _ => return,
    };
    request.lookup = TextureLookup::Explicit;
    request.lod = std::array::from_fn(|lane| level[lane].max(minimum[lane]).to_bits());
}
