//! Stream output: buffers that outputs of the vertex shader are captured in.

use std::collections::BTreeMap;

use tgsi_driver_spirv::StreamOutput;
use tgsi_environment::LaneRegisters;

use crate::buffers::Number;
use crate::words::Words;

/// The most bytes of a buffer, and the most vertices of a draw.
const MAX_BYTES: usize = 1 << 24;
const MAX_VERTICES: usize = 1 << 16;

/// The largest difference of floats that are equal, relative to the expected one: shaders may round differently.
const PRECISION: f64 = 1e-6;

/// A command for stream output.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum StreamCommand {
    /// Creates a buffer: number, bytes.
    Buffer(u32, usize),
    /// Draws without pixels: vertices of a primitive, first vertex, number of vertices.
    Draw(usize, usize, usize),
    /// Compares a number of a buffer: type, buffer, number in it, value.
    Probe(Number, u32, usize, f64),
}

impl StreamCommand {
    /// Parses the words after `xfb`.
    pub(crate) fn parse(words: &mut Words) -> Option<StreamCommand> {
        if words.eat("buffer object") {
            let (buffer, size) = (words.uint()?, words.index()?);
            return (size <= MAX_BYTES).then_some(StreamCommand::Buffer(buffer, size));
        }
        words.eat("draw arrays").then_some(())?;
        let vertices = match words.next()?.as_str() {
            "GL_POINTS" => 1,
            "GL_LINES" => 2,
            "GL_TRIANGLES" => 3,
            _ => return None,
        };
        let (first, count) = (words.index()?, words.index()?);
        (first.saturating_add(count) <= MAX_VERTICES).then_some(StreamCommand::Draw(vertices, first, count))
    }

    /// Parses the words after `probe xfb buffer`.
    pub(crate) fn probe(words: &mut Words) -> Option<StreamCommand> {
        let number = Number::parse(&words.next()?)?;
        Some(StreamCommand::Probe(number, words.uint()?, words.index()?, words.number()?))
    }
}

/// Primitives of the last draw.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Primitives {
    /// All of them.
    pub generated: u32,
    /// Those that the buffers hold.
    pub written: u32,
}

/// Buffers by number.
#[derive(Clone, Default, Debug)]
pub(crate) struct Streams {
    pub buffers: BTreeMap<u32, Vec<u8>>,
    pub primitives: Primitives,
}

impl Streams {
    /// Captures the outputs of a draw, a lane for each vertex. Vertices of an incomplete primitive are omitted.
    ///
    /// # Errors
    /// The description of captures is wrong, or a buffer is missing.
    pub(crate) fn capture(
        &mut self,
        description: &str,
        outputs: &LaneRegisters,
        vertices: usize,
    ) -> Result<(), String> {
        let streams = StreamOutput::parse(description).map_err(|error| error.to_string())?;
        self.primitives = Primitives::default();
        let lanes: Vec<usize> = (0..outputs.lanes()).collect();
        for (number, primitive) in lanes.chunks_exact(vertices.max(1)).enumerate() {
            self.primitives.generated += 1;
            let end = (number + 1) * vertices;
            let mut fits = true;
            for capture in &streams.captures {
                let buffer = self.buffers.get(&capture.buffer);
                let buffer = buffer.ok_or_else(|| format!("there is no buffer {}", capture.buffer))?;
                fits &= end * streams.strides[capture.buffer as usize] as usize <= buffer.len();
            }
            if !fits || self.primitives.written + 1 < self.primitives.generated {
                continue;
            }
            self.primitives.written += 1;
            for &lane in primitive {
                for capture in &streams.captures {
                    let start = lane * streams.strides[capture.buffer as usize] as usize + capture.offset as usize;
                    let Some(buffer) = self.buffers.get_mut(&capture.buffer) else { continue };
                    for at in 0..usize::from(capture.components) {
                        let word = outputs.get(capture.register as usize, usize::from(capture.component) + at, lane);
                        if let Some(bytes) = buffer.get_mut(start + 4 * at..start + 4 * at + 4) {
                            bytes.copy_from_slice(&word.to_le_bytes());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares a captured number.
    ///
    /// # Errors
    /// It is another one, or beyond the end.
    pub(crate) fn probe(&self, number: Number, buffer: u32, at: usize, expected: f64) -> Result<(), String> {
        let bytes = self.buffers.get(&buffer).map_or(&[][..], Vec::as_slice);
        let found = number.read(bytes, at.saturating_mul(number.size()));
        let found = found.ok_or_else(|| format!("buffer {buffer} has {} bytes", bytes.len()))?;
        let difference = (found - expected).abs();
        if difference.is_nan() || difference > PRECISION * expected.abs() {
            return Err(format!("expected {expected}, found {found}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn whole_primitives_that_fit_are_captured() {
        let mut outputs = LaneRegisters::new(5, 1);
        for lane in 0..5 {
            outputs.set(0, 1, lane, (lane as f32).to_bits());
        }
        let mut streams = Streams::default();
        streams.buffers.insert(0, vec![0; 40]);
        assert!(streams.capture("OUT[0].y->1@4/8", &outputs, 1).is_err());
        streams.capture("OUT[0].y->0@4/8", &outputs, 2).expect("captures");
        assert_eq!(streams.primitives, Primitives { generated: 2, written: 2 });
        assert_eq!(streams.probe(Number::Float, 0, 7, 3.0), Ok(()));
        assert_eq!(streams.probe(Number::Float, 0, 9, 4.0), Err("expected 4, found 0".to_owned()));
        streams.capture("OUT[0].y->0@4/16", &outputs, 1).expect("captures");
        assert_eq!(streams.primitives, Primitives { generated: 5, written: 2 });
    }
}
