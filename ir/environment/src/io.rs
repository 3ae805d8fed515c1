//! The inputs and outputs of a run: the common ground of the TGSI interpreter, the IR interpreter
//! and every driver that can run code, so that their results can be compared word by word.
//!
//! All invocations of a run go in lock-step, as lanes. Lanes `4k .. 4k+3` form a quad (0 top left, 1 top right, 2
//! bottom left, 3 bottom right) and also a subgroup. A compute workgroup is run as all its lanes at once, so that a
//! barrier is passed by all of them together; a geometry shader runs one lane a primitive and invocation; a
//! tessellation control shader one lane an output vertex.
//!
//! Everything is 32-bit words. Registers are named by their *driver location*: the register index in TGSI, the
//! `driver_location` of a variable and the `base` of lowered I/O in the IR.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::sampler_dim::SamplerDim;
use crate::system_value::SystemValue;

/// Most lanes of one run.
pub const MAX_LANES: usize = 1024;
/// Lanes of a subgroup (votes, ballots, reads of other lanes).
pub const SUBGROUP_SIZE: usize = 4;

/// A file of 4-component registers, one word a lane: `[register][component][lane]`. Reads beyond the end give 0.
///
/// The words of a component end with padding: whole quads can be read up to the last lane, and components do not all
/// fall into the same lines of a cache, as they would if their distance was a power of two.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LaneRegisters {
    lanes: usize,
    /// Words from one component to the next.
    stride: usize,
    words: Vec<u32>,
}

/// Words of a line of a cache.
const LINE: usize = 16;

fn stride_of(lanes: usize) -> usize {
    // Few lanes take a few lines anyway.
    if lanes < 8 * LINE { lanes.next_multiple_of(4) } else { (lanes.div_ceil(LINE) | 1) * LINE }
}

impl LaneRegisters {
    /// `registers` registers of zeros for `lanes` lanes.
    pub fn new(lanes: usize, registers: usize) -> LaneRegisters {
        let stride = stride_of(lanes);
        LaneRegisters { lanes, stride, words: vec![0; stride * 4 * registers] }
    }

    /// The file for `lanes` lanes that has these words: [`stride_of`](Self::stride_of) for each component, four
    /// components for each register. Words that do not make a whole register are dropped.
    pub fn from_words(lanes: usize, mut words: Vec<u32>) -> LaneRegisters {
        let stride = stride_of(lanes);
        words.truncate(words.len() - words.len() % (4 * stride).max(1));
        LaneRegisters { lanes, stride, words }
    }

    /// A file in the memory of this one. Its words are zeros, or those of this one if that has the same form.
    pub fn reshaped(mut self, lanes: usize, registers: usize) -> LaneRegisters {
        let stride = stride_of(lanes);
        let words = stride * 4 * registers;
        if self.words.capacity() == 0 {
            return LaneRegisters::new(lanes, registers);
        }
        // Padding is nobody's to write, so it is zero as before where it is in the same place.
        if (self.lanes, self.words.len()) != (lanes, words) {
            self.words.clear();
            self.words.resize(words, 0);
        }
        LaneRegisters { lanes, stride, words: self.words }
    }

    /// Makes the words of some lanes zero, in all components but those that are named.
    pub fn clear_lanes(&mut self, lanes: Range<usize>, except: &[bool]) {
        let components = self.words.chunks_exact_mut(self.stride.max(1));
        for (component, _) in components.zip(except).filter(|(_, is_exempt)| !**is_exempt) {
            if let Some(words) = component.get_mut(lanes.clone()) {
                words.fill(0);
            }
        }
    }

    /// All words, padding included: the memory, for [`from_words`](Self::from_words).
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }

    /// Words from one component to the next in a file for so many lanes.
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

    /// The words of all lanes of one component; empty beyond the end.
    pub fn component(&self, register: usize, component: usize) -> &[u32] {
        let start = (register * 4 + component) * self.stride;
        self.words.get(start..start + self.lanes).unwrap_or(&[])
    }

    /// The words of all lanes of one component; the file grows to hold the register.
    pub fn component_mut(&mut self, register: usize, component: usize) -> &mut [u32] {
        let (stride, lanes) = (self.stride, self.lanes);
        &mut self.register_mut(register)[component * stride..][..lanes]
    }

    /// The components of a register, padding included; the file grows to hold it.
    fn register_mut(&mut self, register: usize) -> &mut [u32] {
        let size = 4 * self.stride;
        let (start, end) = (register * size, (register + 1) * size);
        if self.words.len() < end {
            self.words.resize(end, 0);
        }
        &mut self.words[start..end]
    }

    /// Gives the lanes of a register four words each, from the first lane on: `words` of the rows, such as the vertices
    /// of a buffer. The file grows to hold the register; rows beyond the last lane are ignored.
    pub fn set_lanes<T>(&mut self, register: usize, rows: &[T], words: impl Fn(&T) -> Vec4) {
        let (stride, count) = (self.stride, rows.len().min(self.lanes));
        let (rows, file) = (&rows[..count], self.register_mut(register));
        let components = [0, 1, 2, 3].map(|component| component * stride..component * stride + count);
        let Ok([x, y, z, w]) = file.get_disjoint_mut(components) else { return };
        // Four at a time, which becomes a transposition of vectors.
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

    /// All words from a lane of the first component on, and the distance of components.
    pub fn words_from(&self, lane: usize) -> (&[u32], usize) {
        (self.words.get(lane..).unwrap_or(&[]), self.stride)
    }

    /// The same, to change.
    pub fn words_from_mut(&mut self, lane: usize) -> (&mut [u32], usize) {
        (self.words.get_mut(lane..).unwrap_or(&mut []), self.stride)
    }

    /// A copy of some lanes with so many registers, those that there are not as zeros.
    pub fn extended(&self, lanes: Range<usize>, registers: usize) -> LaneRegisters {
        let mut copy = LaneRegisters::new(lanes.len(), registers);
        for number in 0..registers.min(self.len()) * 4 {
            if let Some(words) = self.component(number / 4, number % 4).get(lanes.clone()) {
                copy.component_mut(number / 4, number % 4).copy_from_slice(words);
            }
        }
        copy
    }

    /// One word, 0 beyond the end.
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

/// Four words: a register of one vertex or patch.
pub type Vec4 = [u32; 4];

/// The inputs of a run. Whatever is absent reads as 0.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Inputs {
    /// Number of invocations, at most [`MAX_LANES`]. Fragment shaders need a multiple of 4.
    pub lanes: usize,
    /// Per-lane inputs (fragment inputs are used as they are: already interpolated; a flat or patch input repeats the
    /// value in every lane).
    pub inputs: LaneRegisters,
    /// Inputs with a vertex index (geometry, tessellation): `[vertex][register]`, the same for all lanes.
    pub vertices: Vec<Vec<Vec4>>,
    /// System values, `[component][lane]`; 64-bit ones as (low, high) words, booleans as 0 / all ones.
    pub system_values: BTreeMap<SystemValue, Vec<Vec<u32>>>,
    /// Constant buffers: words from vec4 0. A read beyond the end gives 0.
    pub constants: Vec<Vec<u32>>,
    /// Storage buffers: bytes.
    pub buffers: Vec<Vec<u8>>,
    /// Hardware atomic counters, per buffer.
    pub counters: Vec<Vec<u32>>,
    /// Bytes of shared memory, zero at the start.
    pub shared_size: usize,
    /// Lanes that are helper invocations from the start (fragment shaders): their memory writes have no effect.
    pub helpers: Vec<bool>,
    /// Colours already in the framebuffer, by output register (for framebuffer fetch).
    pub framebuffer: LaneRegisters,
}

/// The outputs of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outputs {
    /// Per-lane outputs as after the last instruction. In a tessellation control shader: the patch outputs, the same in
    /// every lane.
    pub outputs: LaneRegisters,
    /// Lanes that were neither killed nor demoted.
    pub live: Vec<bool>,
    /// Per-vertex outputs of a tessellation control shader: `[vertex][register]`.
    pub vertices: Vec<Vec<Vec4>>,
    /// Geometry shader: per stream, the primitives, each its vertices, each all output registers.
    pub emitted: [Vec<Vec<Vec<Vec4>>>; 4],
    /// Storage buffers after the run.
    pub buffers: Vec<Vec<u8>>,
    /// Hardware atomic counters after the run.
    pub counters: Vec<Vec<u32>>,
    /// Shared memory after the run.
    pub shared: Vec<u8>,
    /// Instructions executed (one for all lanes together).
    pub steps: u64,
}

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Most instructions executed before the run is given up as endless.
    pub steps: u64,
    /// Most bytes for the registers and values of all lanes.
    pub memory: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        RunLimits { steps: 4_000_000, memory: 1 << 28 }
    }
}

impl RunLimits {
    /// The default ones but for the steps.
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
    /// Level-of-detail query.
    QueryLod,
}

/// A lookup by the lanes of one quad. Floats and integers are bit patterns; unused values are 0.
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
    /// Coordinates, `[component][lane]`, layer last, projection done.
    pub coordinate: [[u32; 4]; 4],
    /// Reference value.
    pub comparator: [u32; 4],
    /// Bias (float), explicit level (float) or integer level / sample index of a fetch.
    pub lod: [u32; 4],
    /// Derivatives by x, `[component][lane]`.
    pub ddx: [[u32; 4]; 3],
    /// Derivatives by y.
    pub ddy: [[u32; 4]; 3],
    /// Texel offset, `[component][lane]`, integers.
    pub offset: [[i32; 4]; 3],
    /// Offsets of the four texels of a gather, `[texel][component][lane]`: result component i is then the texel at
    /// offset i, as component w of a gather with that offset would be.
    pub gather_offsets: Option<[[[i32; 4]; 2]; 4]>,
}

impl TextureRequest {
    /// A lookup in unit 0 with all operands 0, of a texture that is no array, without a comparison.
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

/// Sizes of a texture or image at one level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TextureSize {
    /// Width, height, depth; layers follow the last dimension as a size query returns them.
    pub size: [u32; 3],
    /// Levels.
    pub levels: u32,
    /// Samples.
    pub samples: u32,
}

/// A texel of an image: unit, integer coordinates, sample.
pub type ImageTexel = (u32, [u32; 3], u32);

/// Textures and images, which a run reaches through this trait. The default, [`AnalyticResources`], needs no data.
pub trait Resources {
    /// Four result words for each lane of a quad: `[component][lane]`.
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4];
    /// Sizes of a texture at a level.
    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize;
    /// The texel as four words.
    fn image_load(&mut self, texel: ImageTexel) -> Vec4;
    /// Stores a texel.
    fn image_store(&mut self, texel: ImageTexel, value: Vec4);
    /// Sizes of an image.
    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize;
    /// Every texel that was stored, for comparing runs.
    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4>;
    /// The 64-bit handle of a texture or image unit, as bindless operands carry it.
    fn handle(&mut self, unit: u32) -> u64 {
        u64::from(unit)
    }
    /// The unit that a handle stands for.
    fn unit_of_handle(&mut self, handle: u64) -> u32 {
        handle as u32
    }
    /// The texture and the sampler of two units in a form that machine code knows, for lookups that are made in the
    /// code itself. It is shared and does not change. Without one, lookups come to [`texture`](Self::texture).
    fn known(&mut self, texture: u32, sampler: u32) -> Option<Arc<dyn Any + Send + Sync>> {
        let _ = (texture, sampler);
        None
    }
}

/// A stand-in for real textures: sampling is a linear function of its arguments, so that small rounding differences
/// stay small, and sizes are simple functions of unit and level. Images start as a function of their coordinates and
/// keep what is stored.
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
                // One NaN for all, so that no shader sees which of several was handed on.
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

/// The linear stand-in texture for one lane. With `k = 0.0625 * (1 + (unit & 7))` and the arguments s, t, r, c0, level:
/// `x = k + 0.5 s + 0.25 t + 0.125 r`, `y = k + 0.25 s + 0.5 t - 0.125 r`, `z = k - 0.125 s + 0.25 t + 0.5 r`,
/// `w = k + 0.125 (s + t + r) + 0.25 level + 0.0625 c0`, computed in 32-bit floats from left to right.
fn analytic_sample(request: &TextureRequest, lane: usize) -> [f32; 4] {
    let fetch = request.lookup == TextureLookup::Fetch;
    // Eight bits hold every offset that hardware takes; the recorded results have the others cut to them.
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
