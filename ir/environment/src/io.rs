//! The inputs and outputs of a run, shared by the TGSI interpreter, the IR interpreter and every driver that can
//! execute code, so that their results can be compared word by word.
//!
//! All invocations of a run execute in lock-step, as lanes. Lanes `4k .. 4k+3` form a quad (0 top left, 1 top right, 2
//! bottom left, 3 bottom right) and also a subgroup. A compute workgroup runs with all its lanes at once, so that all
//! of them pass a barrier together; a geometry shader runs one lane per primitive and invocation; a tessellation
//! control shader one lane per output vertex.
//!
//! All values are 32-bit words. Registers are identified by their *driver location*: the register index in TGSI, the
//! `driver_location` of a variable and the `base` of lowered I/O in the IR.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::sampler_dim::SamplerDim;
use crate::system_value::SystemValue;

/// Maximum number of lanes of one run.
pub const MAX_LANES: usize = 1024;
/// Number of lanes of a subgroup (votes, ballots, reads of other lanes).
pub const SUBGROUP_SIZE: usize = 4;
/// Steps of a run after which a quad leaves a loop where only killed lanes of it are left: they have no effect, and the
/// loop may have no other end.
pub const KILLED_STEPS: u64 = 1 << 14;

/// A file of 4-component registers with one word per lane: `[register][component][lane]`. Reads beyond the end give 0.
///
/// Each component ends with padding, so that whole quads can be read up to the last lane, and so that the distance
/// between components is not a power of two, which would map them all to the same cache lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LaneRegisters {
    lanes: usize,
    /// Distance between components, in words.
    stride: usize,
    words: Vec<u32>,
}

/// Size of a cache line, in words.
const LINE: usize = 16;

fn stride_of(lanes: usize) -> usize {
    // Files of few lanes fit in a few cache lines anyway.
    if lanes < 8 * LINE { lanes.next_multiple_of(4) } else { (lanes.div_ceil(LINE) | 1) * LINE }
}

impl LaneRegisters {
    /// Makes a file of `registers` zeroed registers for `lanes` lanes.
    pub fn new(lanes: usize, registers: usize) -> LaneRegisters {
        let stride = stride_of(lanes);
        LaneRegisters { lanes, stride, words: vec![0; stride * 4 * registers] }
    }

    /// Makes a file for `lanes` lanes from words laid out as four components per register,
    /// [`stride_of`](Self::stride_of) words each. An incomplete register at the end is dropped.
    pub fn from_words(lanes: usize, mut words: Vec<u32>) -> LaneRegisters {
        let stride = stride_of(lanes);
        words.truncate(words.len() - words.len() % (4 * stride).max(1));
        LaneRegisters { lanes, stride, words }
    }

    /// Reuses the memory of this file for a file of another shape. The words are kept if the shape is the same and are
    /// zero otherwise.
    pub fn reshaped(mut self, lanes: usize, registers: usize) -> LaneRegisters {
        let stride = stride_of(lanes);
        let words = stride * 4 * registers;
        if self.words.capacity() == 0 {
            return LaneRegisters::new(lanes, registers);
        }
        // Nothing writes padding, so it is still zero if the shape is the same.
        if (self.lanes, self.words.len()) != (lanes, words) {
            self.words.clear();
            self.words.resize(words, 0);
        }
        LaneRegisters { lanes, stride, words: self.words }
    }

    /// Zeroes the words of some lanes in all components that are not marked in `except`.
    pub fn clear_lanes(&mut self, lanes: Range<usize>, except: &[bool]) {
        let components = self.words.chunks_exact_mut(self.stride.max(1));
        for (component, _) in components.zip(except).filter(|(_, is_exempt)| !**is_exempt) {
            if let Some(words) = component.get_mut(lanes.clone()) {
                words.fill(0);
            }
        }
    }

    /// Returns all words, including padding, for reuse by [`from_words`](Self::from_words).
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }

    /// Distance between components, in words, in a file for this number of lanes.
    pub fn stride_of(lanes: usize) -> usize {
        stride_of(lanes)
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Number of registers.
    pub fn len(&self) -> usize {
        if self.lanes == 0 { 0 } else { self.words.len() / (4 * self.stride) }
    }

    /// Whether there are no registers.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words of all lanes of one component; empty if out of range.
    pub fn component(&self, register: usize, component: usize) -> &[u32] {
        let start = (register * 4 + component) * self.stride;
        self.words.get(start..start + self.lanes).unwrap_or(&[])
    }

    /// The words of all lanes of one component; the file grows to hold the register.
    pub fn component_mut(&mut self, register: usize, component: usize) -> &mut [u32] {
        let (stride, lanes) = (self.stride, self.lanes);
        &mut self.register_mut(register)[component * stride..][..lanes]
    }

    /// The components of a register, including padding; the file grows to hold it.
    fn register_mut(&mut self, register: usize) -> &mut [u32] {
        let size = 4 * self.stride;
        let (start, end) = (register * size, (register + 1) * size);
        if self.words.len() < end {
            self.words.resize(end, 0);
        }
        &mut self.words[start..end]
    }

    /// Sets the four words of a register in successive lanes, from the first lane on, to `words` of successive rows,
    /// such as the vertices of a buffer. The file grows to hold the register; rows beyond the last lane are ignored.
    pub fn set_lanes<T>(&mut self, register: usize, rows: &[T], words: impl Fn(&T) -> Vec4) {
        let (stride, count) = (self.stride, rows.len().min(self.lanes));
        let (rows, file) = (&rows[..count], self.register_mut(register));
        let components = [0, 1, 2, 3].map(|component| component * stride..component * stride + count);
        let Ok([x, y, z, w]) = file.get_disjoint_mut(components) else { return };
        // Chunks of four rows compile to a vector transposition.
        let (quads, rest) = rows.as_chunks::<4>();
        let [(x, x_rest), (y, y_rest), (z, z_rest), (w, w_rest)] = [x, y, z, w].map(|c| c.as_chunks_mut::<4>());
        for ((((x, y), z), w), rows) in x.iter_mut().zip(y).zip(z).zip(w).zip(quads) {
            let (a, b, c, d) = (words(&rows[0]), words(&rows[1]), words(&rows[2]), words(&rows[3]));
            *x = [a[0], b[0], c[0], d[0]];
            *y = [a[1], b[1], c[1], d[1]];
            *z = [a[2], b[2], c[2], d[2]];
            *w = [a[3], b[3], c[3], d[3]];
        }
        for ((((x, y), z), w), row) in x_rest.iter_mut().zip(y_rest).zip(z_rest).zip(w_rest).zip(rest) {
            [*x, *y, *z, *w] = words(row);
        }
    }

    /// All words from a lane of the first component on, and the distance between components.
    pub fn words_from(&self, lane: usize) -> (&[u32], usize) {
        (self.words.get(lane..).unwrap_or(&[]), self.stride)
    }

    /// Like [`words_from`](Self::words_from), but mutable.
    pub fn words_from_mut(&mut self, lane: usize) -> (&mut [u32], usize) {
        (self.words.get_mut(lane..).unwrap_or(&mut []), self.stride)
    }

    /// Copies some lanes into a file of this number of registers. Missing registers become zeros.
    pub fn extended(&self, lanes: Range<usize>, registers: usize) -> LaneRegisters {
        let mut copy = LaneRegisters::new(lanes.len(), registers);
        for number in 0..registers.min(self.len()) * 4 {
            if let Some(words) = self.component(number / 4, number % 4).get(lanes.clone()) {
                copy.component_mut(number / 4, number % 4).copy_from_slice(words);
            }
        }
        copy
    }

    /// Returns one word, or 0 if out of range.
    pub fn get(&self, register: usize, component: usize, lane: usize) -> u32 {
        self.component(register, component).get(lane).copied().unwrap_or(0)
    }

    /// Sets one word; the file grows to hold the register. A lane beyond the last is ignored.
    pub fn set(&mut self, register: usize, component: usize, lane: usize, word: u32) {
        if let Some(slot) = self.component_mut(register, component).get_mut(lane) {
            *slot = word;
        }
    }
}

/// Four words: one register of a vertex or patch.
pub type Vec4 = [u32; 4];

/// The inputs of a run. Anything absent reads as 0.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Inputs {
    /// Number of invocations, at most [`MAX_LANES`]. Fragment shaders need a multiple of 4.
    pub lanes: usize,
    /// Per-lane inputs. Fragment inputs are already interpolated; a flat or patch input has the same value in every
    /// lane.
    pub inputs: LaneRegisters,
    /// Inputs with a vertex index (geometry, tessellation): `[vertex][register]`, the same for all lanes.
    pub vertices: Vec<Vec<Vec4>>,
    /// System values, `[component][lane]`; 64-bit ones as (low, high) words, booleans as 0 / all ones.
    pub system_values: BTreeMap<SystemValue, Vec<Vec<u32>>>,
    /// Constant buffers, as words from vec4 0 on. Reads beyond the end give 0.
    pub constants: Vec<Vec<u32>>,
    /// Storage buffers, as bytes.
    pub buffers: Vec<Vec<u8>>,
    /// Hardware atomic counters, per buffer.
    pub counters: Vec<Vec<u32>>,
    /// Size of shared memory in bytes. It is zeroed at the start.
    pub shared_size: usize,
    /// Lanes that start as helper invocations (fragment shaders): their memory writes have no effect.
    pub helpers: Vec<bool>,
    /// Existing colours of the framebuffer, by output register (for framebuffer fetch).
    pub framebuffer: LaneRegisters,
}

/// The outputs of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outputs {
    /// Per-lane outputs after the last instruction. For a tessellation control shader: the patch outputs, the same in
    /// every lane.
    pub outputs: LaneRegisters,
    /// Lanes that were not killed or demoted.
    pub live: Vec<bool>,
    /// Per-vertex outputs of a tessellation control shader: `[vertex][register]`.
    pub vertices: Vec<Vec<Vec4>>,
    /// Geometry shader: for each stream its primitives, for each primitive its vertices, for each vertex all output
    /// registers.
    pub emitted: [Vec<Vec<Vec<Vec4>>>; 4],
    /// Storage buffers after the run.
    pub buffers: Vec<Vec<u8>>,
    /// Hardware atomic counters after the run.
    pub counters: Vec<Vec<u32>>,
    /// Shared memory after the run.
    pub shared: Vec<u8>,
    /// Number of executed instructions (one for all lanes together).
    pub steps: u64,
}

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Maximum number of executed instructions; a run that exceeds it counts as endless.
    pub steps: u64,
    /// Maximum number of bytes for the registers and values of all lanes.
    pub memory: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        RunLimits { steps: 4_000_000, memory: 1 << 28 }
    }
}

impl RunLimits {
    /// The default limits, with this limit of steps.
    pub fn of_steps(steps: u64) -> RunLimits {
        RunLimits { steps, ..RunLimits::default() }
    }
}

/// The kind of a texture lookup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextureLookup {
    /// Filtered, level of detail from the quad's derivatives.
    Implicit,
    /// Filtered, implicit level plus a bias (in [`TextureRequest::lod`]).
    Bias,
    /// Filtered at an explicit level.
    Explicit,
    /// Filtered, level from explicit derivatives.
    Gradient,
    /// Four texels of one component.
    Gather {
        /// The component, 0 to 3.
        component: u8,
    },
    /// One texel by integer coordinates; `lod` holds the integer level (or the sample index of a multisampled texture).
    Fetch,
    /// Query of the level of detail.
    QueryLod,
}

/// A lookup by the lanes of one quad. Floats and integers are given as bit patterns; unused operands are 0.
#[derive(Clone, PartialEq, Debug)]
pub struct TextureRequest {
    /// Texture (sampler view) unit.
    pub texture: u32,
    /// Sampler unit.
    pub sampler: u32,
    /// Kind of lookup.
    pub lookup: TextureLookup,
    /// Dimensionality.
    pub dim: SamplerDim,
    /// Whether the last coordinate is a layer.
    pub is_array: bool,
    /// Whether the result is a comparison with [`comparator`](Self::comparator).
    pub is_shadow: bool,
    /// Coordinates, `[component][lane]`, with the layer last, after projection.
    pub coordinate: [[u32; 4]; 4],
    /// Reference value.
    pub comparator: [u32; 4],
    /// Bias (float), explicit level (float) or integer level / sample index of a fetch.
    pub lod: [u32; 4],
    /// Derivatives in x, `[component][lane]`.
    pub ddx: [[u32; 4]; 3],
    /// Derivatives in y, `[component][lane]`.
    pub ddy: [[u32; 4]; 3],
    /// Integer texel offset, `[component][lane]`.
    pub offset: [[i32; 4]; 3],
    /// Offsets of the four texels of a gather, `[texel][component][lane]`. Result component i is the texel at offset i,
    /// which is component w of a gather with that offset.
    pub gather_offsets: Option<[[[i32; 4]; 2]; 4]>,
}

impl TextureRequest {
    /// A lookup in unit 0 without comparison, with all operands 0, of a texture that is not an array.
    pub fn new(lookup: TextureLookup, dim: SamplerDim) -> TextureRequest {
        TextureRequest {
            texture: 0,
            sampler: 0,
            lookup,
            dim,
            is_array: false,
            is_shadow: false,
            coordinate: [[0; 4]; 4],
            comparator: [0; 4],
            lod: [0; 4],
            ddx: [[0; 4]; 3],
            ddy: [[0; 4]; 3],
            offset: [[0; 4]; 3],
            gather_offsets: None,
        }
    }
}

/// Dimensions of a texture or image at one level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TextureSize {
    /// Width, height, depth; the number of layers follows the last dimension, as a size query returns it.
    pub size: [u32; 3],
    /// Number of levels.
    pub levels: u32,
    /// Number of samples.
    pub samples: u32,
}

/// A texel of an image: unit, integer coordinates, sample.
pub type ImageTexel = (u32, [u32; 3], u32);

/// Access of a run to textures and images. The default, [`AnalyticResources`], needs no data.
pub trait Resources {
    /// Returns four result words for each lane of a quad: `[component][lane]`.
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4];
    /// Returns the size of a texture at a level.
    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize;
    /// Loads a texel as four words.
    fn image_load(&mut self, texel: ImageTexel) -> Vec4;
    /// Stores a texel.
    fn image_store(&mut self, texel: ImageTexel, value: Vec4);
    /// Returns the size of an image.
    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize;
    /// Returns every texel that was stored, for comparing runs.
    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4>;
    /// Returns the 64-bit handle of a texture or image unit, as bindless operands carry it.
    fn handle(&mut self, unit: u32) -> u64 {
        u64::from(unit)
    }
    /// Returns the unit of a handle.
    fn unit_of_handle(&mut self, handle: u64) -> u32 {
        handle as u32
    }
    /// Returns the texture and sampler of two units in a form that machine code can access, for lookups compiled into
    /// the code. The data is shared and does not change. Without it, lookups call [`texture`](Self::texture).
    fn known(&mut self, texture: u32, sampler: u32) -> Option<Arc<dyn Any + Send + Sync>> {
        let _ = (texture, sampler);
        None
    }
}

/// A substitute for real textures. Sampling is a linear function of its arguments, so that small rounding differences
/// stay small; sizes are simple functions of unit and level. Texels of images are initially a function of their
/// coordinates and keep stored values.
#[derive(Clone, Debug, Default)]
pub struct AnalyticResources {
    stored: BTreeMap<ImageTexel, Vec4>,
}

impl Resources for AnalyticResources {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        let mut result = [[0; 4]; 4];
        if let Some(offsets) = request.gather_offsets {
            for (words, [x, y]) in result.iter_mut().zip(offsets) {
                let single = TextureRequest { offset: [x, y, [0; 4]], gather_offsets: None, ..request.clone() };
                *words = self.texture(&single)[3];
            }
            return result;
        }
        #[expect(clippy::needless_range_loop, reason = "a transposition")]
        for lane in 0..4 {
            let sample = analytic_sample(request, lane);
            for (component, value) in sample.into_iter().enumerate() {
                // Return one canonical NaN, so that the result does not depend on which NaN was propagated.
                result[component][lane] = if value.is_nan() { f32::NAN } else { value }.to_bits();
            }
        }
        result
    }

    fn texture_size(&mut self, texture: u32, level: u32, _dim: SamplerDim, _is_array: bool) -> TextureSize {
        let shift = level & 7;
        TextureSize { size: [64 >> shift, 32 >> shift, 4u32.wrapping_add(texture)], levels: 7, samples: 4 }
    }

    fn image_load(&mut self, texel: ImageTexel) -> Vec4 {
        self.stored.get(&texel).copied().unwrap_or_else(|| {
            let (image, [x, y, z], sample) = texel;
            [x, y, z, sample.wrapping_add(image)]
        })
    }

    fn image_store(&mut self, texel: ImageTexel, value: Vec4) {
        self.stored.insert(texel, value);
    }

    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.texture_size(image, 0, dim, is_array)
    }

    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4> {
        self.stored.clone()
    }
}

/// Samples the linear substitute texture for one lane. With `k = 0.0625 * (1 + (unit & 7))` and the arguments s, t, r,
/// c0, level: `x = k + 0.5 s + 0.25 t + 0.125 r`, `y = k + 0.25 s + 0.5 t - 0.125 r`, `z = k - 0.125 s + 0.25 t + 0.5
/// r`, `w = k + 0.125 (s + t + r) + 0.25 level + 0.0625 c0`, computed in 32-bit floats from left to right.
fn analytic_sample(request: &TextureRequest, lane: usize) -> [f32; 4] {
    let fetch = request.lookup == TextureLookup::Fetch;
    // Eight bits hold every offset that hardware supports; the recorded results truncate larger offsets to them.
    let offset = |component: usize| i32::from(request.offset[component][lane] as i8);
    let mut arguments = [0f32; 5];
    for (component, argument) in arguments.iter_mut().take(4).enumerate() {
        let word = request.coordinate[component][lane];
        *argument = if fetch {
            let offset = if component < 3 { offset(component) } else { 0 };
            (word as i32).wrapping_add(offset) as f32
        } else {
            f32::from_bits(word)
        };
    }
    if request.is_shadow && !fetch {
        let position = match (request.dim, request.is_array) {
            (SamplerDim::Cube, true) => 4,
            (SamplerDim::Cube, false) | (SamplerDim::Dim2D, true) => 3,
            _ => 2,
        };
        arguments[position] = f32::from_bits(request.comparator[lane]);
    }
    let [mut s, mut t, mut r, c0, _] = arguments;
    if !fetch {
        s += 0.125 * offset(0) as f32;
        t += 0.125 * offset(1) as f32;
        r += 0.125 * offset(2) as f32;
    }
    let lod = request.lod[lane];
    let level = match request.lookup {
        TextureLookup::Bias | TextureLookup::Explicit => f32::from_bits(lod),
        TextureLookup::Fetch => lod as i32 as f32,
        _ => 0.0,
    };
    if request.lookup == TextureLookup::QueryLod {
        // The level does not depend on the layer.
        let t = if request.is_array && request.dim == SamplerDim::Dim1D { 0.0 } else { t };
        return [0.5 * s + 1.0, 0.25 * t + 2.0, 0.0, 0.0];
    }
    let k = 0.0625 * (1 + (request.texture & 7)) as f32;
    let c0_term = if fetch { 0.0 } else { 0.0625 * c0 };
    [
        k + 0.5 * s + 0.25 * t + 0.125 * r,
        k + 0.25 * s + 0.5 * t - 0.125 * r,
        k - 0.125 * s + 0.25 * t + 0.5 * r,
        k + 0.125 * (s + t + r) + 0.25 * level + c0_term,
    ]
}
