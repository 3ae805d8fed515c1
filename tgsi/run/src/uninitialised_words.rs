//! Result words of a vector that depend on uninitialised memory of the recording interpreter.
//!
//! The recording interpreter handed uninitialised words to the sampler in some fetches and let some buffer indices
//! reach buffers that the record does not hold ([`depends_on_uninitialised_memory`]). Which words of a result depend on
//! that is found by experiment: the shader is run several times with different values in the place of what is unknown;
//! a word that changes is no fact about the shader, and nobody can be asked to reproduce it. All other words are
//! compared as always.

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

/// Words put in the place of unknown ones: small, large, negative, and such as are no numbers.
const UNKNOWN: [u32; 5] = [0, 3, 0x0012_3457, 0xffff_d5a1, 0x7fc1_2345];

/// Finds the result words that depend on uninitialised memory, for the vectors of one shader.
pub struct UninitialisedWords {
    /// The shader in a form in which every unknown buffer is the one after the last declared; none if no word depends
    /// on uninitialised memory.
    probe: Option<(Program, usize)>,
}

impl UninitialisedWords {
    /// Prepares a shader (as [`as_recorded`](super::vectors::as_recorded) gives it).
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

    /// The words that depend on uninitialised memory, by the position that a comparison gives them.
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

/// The shader with every run-time buffer index clamped to the number of declared buffers, and that number.
fn probe(shader: &Shader) -> (Shader, usize) {
    let mut probe = shader.clone();
    let buffers = probe.declarations.iter().filter(|d| d.file == File::Buffer);
    let count = buffers.map(|d| u32::from(d.last) + 1).max().unwrap_or(0);
    let limit = probe.push_immediate(Immediate::new(ImmediateType::Uint32, [count; 4]));
    // The buffer after the last one stands for all that the record does not hold.
    let last = probe.declarations.iter().filter(|d| d.file == File::Buffer).map(|d| d.last).max().unwrap_or(0);
    if let Some(declaration) = probe.declarations.iter_mut().find(|d| d.file == File::Buffer && d.last == last) {
        declaration.last = declaration.last.saturating_add(1);
    }
    rewrite(&mut probe, |instruction, scratch| replace_buffer_index(instruction, limit, Opcode::Umin, scratch));
    probe.forget_encoding();
    (probe, count as usize)
}

/// Textures that see `word` in every coordinate that the recording interpreter left uninitialised.
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
            // Different in every lane, as memory is.
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
