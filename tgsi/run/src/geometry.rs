//! Emission of vertices and primitives by geometry shaders.

use tgsi_environment::Vec4;

use super::machine::Machine;
use super::program::Op;
use super::{MAX_EMITTED_WORDS, RunError};
use tgsi::tables::{File, Opcode};

/// Additional words counted for a vertex or primitive, besides its registers.
const OVERHEAD: usize = 8;

/// A primitive: a list of vertices, each with all output registers.
type Primitive = Vec<Vec<Vec4>>;

/// The vertices that one lane has emitted to one stream.
#[derive(Clone, Debug, Default)]
struct Stream {
    done: Vec<Primitive>,
    open: Primitive,
}

/// The vertices that all lanes have emitted.
#[derive(Clone, Debug, Default)]
pub(super) struct Emission {
    lanes: Vec<[Stream; 4]>,
    words: usize,
}

impl Emission {
    pub(super) fn new(lanes: usize) -> Emission {
        Emission { lanes: vec![Default::default(); lanes], words: 0 }
    }
}

impl Machine<'_> {
    /// `EMIT` and `ENDPRIM`. `EMIT` resets the outputs of the lane to zero.
    pub(super) fn emit(&mut self, number: usize, op: &Op) -> Result<(), RunError> {
        let registers = self.program.layout.count(File::Output);
        let first_row = self.program.layout.file(File::Output).first_row;
        for lane in 0..self.lanes {
            if self.exec[lane] == 0 {
                continue;
            }
            let stream = if op.sources.is_empty() { 0 } else { self.scratch[0][lane] };
            let Some(stream) = self.emission.lanes.get_mut(lane).and_then(|streams| streams.get_mut(stream as usize))
            else {
                continue;
            };
            if op.opcode == Opcode::Endprim {
                let primitive = std::mem::take(&mut stream.open);
                stream.done.push(primitive);
                self.emission.words += OVERHEAD;
            } else {
                let mut vertex = vec![[0; 4]; registers];
                for (register, words) in vertex.iter_mut().enumerate() {
                    for (component, word) in words.iter_mut().enumerate() {
                        let position = (first_row + register * 4 + component) * self.lanes + lane;
                        *word = std::mem::take(&mut self.registers[position]);
                    }
                }
                // A vertex beyond the limit is dropped, but it resets the outputs as well.
                if stream.open.len() < self.program.max_output_vertices {
                    stream.open.push(vertex);
                    self.emission.words += registers * 4 + OVERHEAD;
                }
            }
            if self.emission.words > MAX_EMITTED_WORDS {
                return Err(RunError::TooMuchOutput { instruction: number as u32, span: op.span });
            }
        }
        Ok(())
    }

    /// Takes all emitted primitives by stream, lane after lane; open primitives are ended.
    pub(super) fn take_emitted(&mut self) -> [Vec<Primitive>; 4] {
        let mut emitted: [Vec<Primitive>; 4] = Default::default();
        for streams in std::mem::take(&mut self.emission.lanes) {
            for (all, stream) in emitted.iter_mut().zip(streams) {
                all.extend(stream.done);
                if !stream.open.is_empty() {
                    all.push(stream.open);
                }
            }
        }
        emitted
    }
}
