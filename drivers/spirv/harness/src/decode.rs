//! Reads the outputs of a run from the harness buffer.

use tgsi_environment::{Inputs, LaneRegisters, Outputs, Resources, Vec4};
use tgsi_ir::shader::ShaderStage;

use crate::encode::out_vertices;
use crate::layout::{
    FLAG_ENDLESS, Header, Layout, TAG_VERTEX, TEXEL_HASH, TEXEL_KEY, TEXEL_VALUE, TEXEL_WORDS, header_word,
};

/// Reads the outputs from the buffer after the run, and stores the stored texels in `resources`. `buffers` are the
/// storage buffers after the run.
///
/// # Errors
/// The run did not terminate, or its results exceeded the buffer.
pub fn decode(
    layout: &Layout,
    inputs: &Inputs,
    words: &[u32],
    buffers: Vec<Vec<u8>>,
    resources: &mut dyn Resources,
) -> Result<Outputs, String> {
    let buffer = BufferContents { words };
    if buffer.header(Header::Flags) as u32 & FLAG_ENDLESS != 0 {
        return Err("did not terminate".to_owned());
    }
    let lanes = inputs.lanes;
    let registers = layout.output_registers as usize;
    let mut outputs = Outputs { outputs: LaneRegisters::new(lanes, registers), buffers, ..Outputs::default() };
    let first = buffer.place(Header::Outputs);
    let shared = layout.stage == ShaderStage::TessCtrl;
    for register in 0..registers {
        for component in 0..4 {
            let row = register * 4 + component;
            for lane in 0..lanes {
                let at = if shared { first + row } else { first + row * lanes + lane };
                outputs.outputs.set(register, component, lane, buffer.word(at));
            }
        }
    }
    outputs.vertices = (0..out_vertices(layout, lanes))
        .map(|vertex| {
            let first = buffer.place(Header::OutVertices) + vertex * registers * 4;
            (0..registers).map(|register| buffer.register(first + register * 4)).collect()
        })
        .collect();
    let live = buffer.place(Header::Live);
    outputs.live = (0..lanes).map(|lane| buffer.word(live + lane) != 0).collect();
    for lane in 0..lanes {
        for stream in 0..4 {
            if layout.streams[stream] {
                buffer.emissions(layout, lane * 4 + stream, &mut outputs.emitted[stream])?;
            }
        }
    }
    let list = buffer.place(Header::Counters);
    outputs.counters = (0..inputs.counters.len())
        .map(|number| {
            let (at, count) =
                (buffer.word(list + 2 * number) as usize / 4, buffer.word(list + 2 * number + 1) as usize);
            (0..count).map(|counter| buffer.word(at + counter)).collect()
        })
        .collect();
    outputs.shared = vec![0; inputs.shared_size];
    if layout.shared {
        let first = buffer.place(Header::Shared);
        for (number, bytes) in outputs.shared.chunks_mut(4).enumerate() {
            let word = buffer.word(first + number).to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
    }
    if layout.stores_texels {
        buffer.texels(resources);
    }
    Ok(outputs)
}

/// The buffer after a run. Words beyond its end read as 0.
struct BufferContents<'a> {
    words: &'a [u32],
}

impl BufferContents<'_> {
    fn word(&self, at: usize) -> u32 {
        self.words.get(at).copied().unwrap_or(0)
    }

    fn header(&self, word: Header) -> usize {
        header_word(self.words, word)
    }

    /// Returns the index of the first word of a part.
    fn place(&self, word: Header) -> usize {
        self.header(word) / 4
    }

    fn register(&self, at: usize) -> Vec4 {
        std::array::from_fn(|component| self.word(at + component))
    }

    /// Reads the primitives that a lane emitted to a stream.
    fn emissions(&self, layout: &Layout, number: usize, done: &mut Vec<Vec<Vec<Vec4>>>) -> Result<(), String> {
        let size = self.header(Header::EmissionBytes) / 4;
        let area = self.place(Header::Emissions) + number * size;
        let used = self.word(area) as usize;
        if used + 1 > size {
            return Err("more vertices are emitted than the harness can hold".to_owned());
        }
        let limit = if layout.vertices_out == 0 { usize::MAX } else { layout.vertices_out as usize };
        let registers = layout.output_registers as usize;
        let mut open: Vec<Vec<Vec4>> = Vec::new();
        let mut at = 0;
        while at < used {
            let tag = self.word(area + 1 + at);
            at += 1;
            if tag == TAG_VERTEX {
                let first = area + 1 + at;
                if open.len() < limit {
                    open.push((0..registers).map(|register| self.register(first + register * 4)).collect());
                }
                at += registers * 4;
            } else {
                done.push(std::mem::take(&mut open));
            }
        }
        if !open.is_empty() {
            done.push(open);
        }
        Ok(())
    }

    fn texels(&self, resources: &mut dyn Resources) {
        let table = self.place(Header::Texels);
        for slot in 0..=self.header(Header::TexelMask) {
            let at = |word: u32| table + slot * TEXEL_WORDS as usize + word as usize;
            if self.word(at(TEXEL_HASH)) == 0 {
                continue;
            }
            let key: [u32; 5] = std::array::from_fn(|number| self.word(at(TEXEL_KEY) + number));
            let [unit, x, y, z, sample] = key;
            resources.image_store((unit, [x, y, z], sample), self.register(at(TEXEL_VALUE)));
        }
    }
}
