//! Result words of a vector that depend on uninitialised memory of the recording interpreter.
//!
//! In some fetches, the recording interpreter passed uninitialised words to the sampler, and some buffer indices
//! addressed buffers that are not in the record ([`depends_on_uninitialised_memory`]). The words of a result that
//! depend on this are found by experiment: the shader is run several times with different values for the unknown ones.
//! A word that changes is not a property of the shader and is not compared; all other words are.

use std::collections::BTreeSet;

use tgsi_environment::SamplerDim;
use tgsi_environment::{
    AnalyticResources, ImageTexel, Outputs, Resources, RunLimits, TextureLookup, TextureRequest, TextureSize, Vec4,
};

use super::recording_interpreter::{depends_on_uninitialised_memory, replace_buffer_index, rewrite};
use super::vectors::{Comparison, Vector};
use super::{Program, run};
use tgsi::shader::{Immediate, Shader};
use tgsi::tables::{File, ImmediateType, Opcode};

/// Substitutes for unknown words: small, large, negative, and NaN.
const UNKNOWN: [u32; 5] = [0, 3, 0x0012_3457, 0xffff_d5a1, 0x7fc1_2345];

/// Finds the result words that depend on uninitialised memory, for the vectors of one shader.
pub struct UninitialisedWords {
    /// The shader with every unknown buffer replaced by the one after the last declared; none if no word depends on
    /// uninitialised memory.
    probe: Option<(Program, usize)>,
}

impl UninitialisedWords {
    /// Prepares a shader (as rewritten by [`as_recorded`](super::vectors::as_recorded)).
    pub fn new(shader: &Shader) -> UninitialisedWords {
        let probe = depends_on_uninitialised_memory(shader).then(|| probe(shader));
        UninitialisedWords { probe: probe.and_then(|(shader, buffers)| Some((Program::new(&shader).ok()?, buffers))) }
    }

    /// Removes the words that depend on uninitialised memory from the differences of a comparison. Returns their
    /// number.
    pub fn excuse(&self, shader: &Shader, vector: &Vector, comparison: &mut Comparison) -> usize {
        if comparison.different.is_empty() {
            return 0;
        }
        let positions = self.undetermined(shader, vector);
        let before = comparison.different.len();
        comparison.different.retain(|difference| !positions.contains(&difference.position));
        before - comparison.different.len()
    }

    /// Returns the words that depend on uninitialised memory, by their position in a comparison.
    pub fn undetermined(&self, shader: &Shader, vector: &Vector) -> BTreeSet<String> {
        let mut positions = BTreeSet::new();
        if self.probe.is_none() {
            return positions;
        }
        let mut first: Option<Vector> = None;
        for word in UNKNOWN {
            let Some(outputs) = self.run(shader, vector, word) else { continue };
            match &first {
                None => first = Some(vector.with_results(&outputs)),
                Some(first) => {
                    let differences = first.compare(&outputs).different;
                    positions.extend(differences.into_iter().map(|difference| difference.position));
                }
            }
        }
        positions
    }

    fn run(&self, shader: &Shader, vector: &Vector, word: u32) -> Option<Outputs> {
        let (program, buffers) = self.probe.as_ref()?;
        let mut inputs = vector.inputs(shader);
        inputs.buffers.resize(*buffers, Vec::new());
        inputs.buffers.push(word.to_le_bytes().repeat(256));
        let mut resources = UnknownCoordinates { word, inner: AnalyticResources::default() };
        run(program, &inputs, &mut resources, RunLimits::default()).ok()
    }
}

/// Returns the shader with every run-time buffer index clamped to the number of declared buffers, and that number.
fn probe(shader: &Shader) -> (Shader, usize) {
    let mut probe = shader.clone();
    let buffers = probe.declarations.iter().filter(|d| d.file == File::Buffer);
    let count = buffers.map(|d| u32::from(d.last) + 1).max().unwrap_or(0);
    let limit = probe.push_immediate(Immediate::new(ImmediateType::Uint32, [count; 4]));
    // The buffer after the last one represents all buffers that are not in the record.
    let last = probe.declarations.iter().filter(|d| d.file == File::Buffer).map(|d| d.last).max().unwrap_or(0);
    if let Some(declaration) = probe.declarations.iter_mut().find(|d| d.file == File::Buffer && d.last == last) {
        declaration.last = declaration.last.saturating_add(1);
    }
    rewrite(&mut probe, |instruction, scratch| replace_buffer_index(instruction, limit, Opcode::Umin, scratch));
    probe.forget_encoding();
    (probe, count as usize)
}

/// Resources in which lookups see `word` in every coordinate that the recording interpreter left uninitialised.
struct UnknownCoordinates {
    word: u32,
    inner: AnalyticResources,
}

impl Resources for UnknownCoordinates {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        if request.lookup != TextureLookup::Fetch {
            return self.inner.texture(request);
        }
        let mut request = request.clone();
        let known = match request.dim {
            SamplerDim::Cube => 0,
            dim => usize::from(dim.num_coords()) + usize::from(request.is_array),
        };
        for component in request.coordinate.iter_mut().take(3).skip(known) {
            // Different in every lane, like uninitialised memory.
            *component = std::array::from_fn(|lane| self.word.wrapping_mul(2 * lane as u32 + 1));
        }
        self.inner.texture(&request)
    }

    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.inner.texture_size(texture, level, dim, is_array)
    }

    fn image_load(&mut self, texel: ImageTexel) -> Vec4 {
        self.inner.image_load(texel)
    }

    fn image_store(&mut self, texel: ImageTexel, value: Vec4) {
        self.inner.image_store(texel, value);
    }

    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.inner.image_size(image, dim, is_array)
    }

    fn stored_texels(&self) -> std::collections::BTreeMap<ImageTexel, Vec4> {
        self.inner.stored_texels()
    }
}
