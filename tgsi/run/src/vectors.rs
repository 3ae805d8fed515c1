//! Recorded results of another interpreter, one JSON object per line, and the comparison of our results with them.
//!
//! A line holds the inputs and results of one run of four lanes (of one lane for a geometry shader): the keys `f`,
//! `seed`, `in`, `gs_in`, `sv`, `const`, `buf_in` are inputs; `out`, `live`, `emit`, `buf_out`, `mem_out` are results.
//! Words are hexadecimal, eight digits each; a register of a per-lane file has 16 words, component by component.
//!
//! A shader must be run as rewritten by [`as_recorded`]. The lanes in `live` are compared; a [`Comparison`] counts the
//! words by [`Agreement`].

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tgsi_environment::SystemValue;
use tgsi_environment::{Inputs, LaneRegisters, Outputs, Vec4};
use thiserror::Error;

use tgsi::shader::Shader;
use tgsi::tables::{File, Processor, Semantic};

pub use super::recording_interpreter::{as_recorded, depends_on_uninitialised_memory};
pub use super::uninitialised_words::UninitialisedWords;

/// Lanes of a recorded run.
const LANES: usize = 4;

/// An error in a line of a vector file.
#[derive(Debug, Error)]
pub enum VectorError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A key is missing, or its value has another form.
    #[error("key {key:?}: {problem}")]
    Form {
        /// The key.
        key: &'static str,
        /// The error.
        problem: &'static str,
    },
}

/// One recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// Path of the shader.
    pub file: String,
    /// Number of the set of inputs.
    pub seed: u64,
    /// `in`: by register, 16 words.
    inputs: BTreeMap<usize, Vec<u32>>,
    /// `gs_in`: by vertex, by register.
    vertices: Option<Vec<BTreeMap<usize, Vec<u32>>>>,
    /// `sv`: by register, 16 words.
    system_values: BTreeMap<usize, Vec<u32>>,
    constants: BTreeMap<usize, Vec<u32>>,
    buffers_before: BTreeMap<usize, Vec<u32>>,
    outputs: BTreeMap<usize, Vec<u32>>,
    live: u64,
    buffers_after: BTreeMap<usize, Vec<u32>>,
    shared_after: Option<Vec<u32>>,
    /// `emit`: by stream; primitives of vertices of words.
    emitted: Option<BTreeMap<usize, Vec<Vec<Vec<u32>>>>>,
}

/// The agreement of a word with the recorded word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// The same bits.
    Exact,
    /// Both NaN, or both zero or normal floats that differ by at most a thousandth of the larger, or by 1e-5.
    Close,
    /// Neither.
    Different,
}

/// A word that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The location, such as `OUT[0].x lane 2`.
    pub position: String,
    /// The recorded word, or none if there should not be one.
    pub expected: Option<u32>,
    /// Our word, or none if it is missing.
    pub found: Option<u32>,
}

/// The agreement of all words of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Words with the same bits.
    pub exact: usize,
    /// Words that are close.
    pub close: usize,
    /// Words that differ.
    pub different: Vec<Difference>,
}

impl Agreement {
    /// Compares a word with the recorded one.
    pub fn of(expected: u32, found: u32) -> Agreement {
        if expected == found {
            return Agreement::Exact;
        }
        let (a, b) = (f32::from_bits(expected), f32::from_bits(found));
        let comparable = |value: f32| value == 0.0 || value.is_normal();
        let difference = (f64::from(a) - f64::from(b)).abs();
        let close = (a.is_nan() && b.is_nan())
            || comparable(a)
                && comparable(b)
                && (difference <= 1e-5 || difference <= 1e-3 * f64::from(a).abs().max(f64::from(b).abs()));
        if close { Agreement::Close } else { Agreement::Different }
    }
}

impl Comparison {
    /// Returns the worst agreement of any word.
    pub fn verdict(&self) -> Agreement {
        if !self.different.is_empty() {
            Agreement::Different
        } else if self.close > 0 {
            Agreement::Close
        } else {
            Agreement::Exact
        }
    }

    fn word(&mut self, position: impl FnOnce() -> String, expected: Option<u32>, found: Option<u32>) {
        match expected.zip(found).map(|(expected, found)| Agreement::of(expected, found)) {
            Some(Agreement::Exact) => self.exact += 1,
            Some(Agreement::Close) => self.close += 1,
            _ => self.different.push(Difference { position: position(), expected, found }),
        }
    }
}

fn form(key: &'static str, problem: &'static str) -> VectorError {
    VectorError::Form { key, problem }
}

/// Parses a string of hexadecimal digits into words, eight digits each.
fn words(key: &'static str, value: &Value) -> Result<Vec<u32>, VectorError> {
    let text = value.as_str().ok_or(form(key, "not a string"))?;
    text.as_bytes()
        .chunks(8)
        .map(|digits| {
            std::str::from_utf8(digits)
                .ok()
                .filter(|digits| digits.len() == 8)
                .and_then(|digits| u32::from_str_radix(digits, 16).ok())
                .ok_or(form(key, "not words of eight hexadecimal digits"))
        })
        .collect()
}

fn register_number(key: &'static str, name: &str) -> Result<usize, VectorError> {
    // Register numbers have 16 bits; a larger one must not cause a large allocation.
    name.parse::<u16>().map(usize::from).map_err(|_| form(key, "a key that is not a register number"))
}

/// Parses an object that maps numbers to words; empty if the key is absent.
fn registers(object: &Map<String, Value>, key: &'static str) -> Result<BTreeMap<usize, Vec<u32>>, VectorError> {
    match object.get(key) {
        None => Ok(BTreeMap::new()),
        Some(Value::Object(map)) => register_words(key, map),
        Some(_) => Err(form(key, "not an object")),
    }
}

fn register_words(key: &'static str, map: &Map<String, Value>) -> Result<BTreeMap<usize, Vec<u32>>, VectorError> {
    map.iter().map(|(name, value)| Ok((register_number(key, name)?, words(key, value)?))).collect()
}

fn array<'a>(key: &'static str, value: &'a Value) -> Result<&'a [Value], VectorError> {
    value.as_array().map(Vec::as_slice).ok_or(form(key, "not an array"))
}

impl Vector {
    /// Parses a line.
    ///
    /// # Errors
    /// [`VectorError`] if it is not JSON or does not have the form described in the module.
    pub fn parse(line: &str) -> Result<Vector, VectorError> {
        let value: Value = serde_json::from_str(line)?;
        let object = value.as_object().ok_or(form("", "not an object"))?;
        let vertices = match object.get("gs_in") {
            None => None,
            Some(value) => Some(
                array("gs_in", value)?
                    .iter()
                    .map(|vertex| {
                        register_words("gs_in", vertex.as_object().ok_or(form("gs_in", "a non-object vertex"))?)
                    })
                    .collect::<Result<_, _>>()?,
            ),
        };
        let emitted = match object.get("emit") {
            None => None,
            Some(Value::Object(streams)) => {
                let mut emitted = BTreeMap::new();
                for (stream, primitives) in streams {
                    let primitives = array("emit", primitives)?
                        .iter()
                        .map(|primitive| array("emit", primitive)?.iter().map(|vertex| words("emit", vertex)).collect())
                        .collect::<Result<_, _>>()?;
                    emitted.insert(register_number("emit", stream)?, primitives);
                }
                Some(emitted)
            }
            Some(_) => return Err(form("emit", "not an object")),
        };
        Ok(Vector {
            file: object.get("f").and_then(Value::as_str).ok_or(form("f", "not a string"))?.to_owned(),
            seed: object.get("seed").and_then(Value::as_u64).ok_or(form("seed", "not a number"))?,
            inputs: registers(object, "in")?,
            vertices,
            system_values: registers(object, "sv")?,
            constants: registers(object, "const")?,
            buffers_before: registers(object, "buf_in")?,
            outputs: registers(object, "out")?,
            live: object.get("live").and_then(Value::as_u64).ok_or(form("live", "not a number"))?,
            buffers_after: registers(object, "buf_out")?,
            shared_after: object.get("mem_out").map(|value| words("mem_out", value)).transpose()?,
            emitted,
        })
    }

    /// Whether the inputs are special values (infinities, NaN, denormals, extremes); such results are binding for the
    /// TGSI interpreter only.
    pub fn has_special_values(&self) -> bool {
        matches!(self.seed, 4 | 9 | 14 | 19 | 24)
    }

    /// Excuses words that a device may compute differently: those of lanes that read values it need not preserve
    /// (denormals, infinities, NaN), or numbers beyond 2^24, for which functions such as the sine have no error bound.
    /// Words without a lane are excused if any lane reads such a value. The caller must know that the shader has
    /// operations for which this matters. Returns the number of excused words.
    pub fn excuse_device(&self, comparison: &mut Comparison) -> usize {
        let before = comparison.different.len();
        comparison.different.retain(|difference| {
            let lane = difference.position.rsplit_once(" lane ").and_then(|(_, lane)| lane.parse().ok());
            !self.reads_unbounded(lane)
        });
        before - comparison.different.len()
    }

    /// Returns the recorded output words of live lanes: register, component, lane and word.
    pub fn live_outputs(&self) -> impl Iterator<Item = (usize, usize, usize, u32)> {
        let words = self.outputs.iter().flat_map(|(&register, words)| {
            words.iter().enumerate().map(move |(at, &word)| (register, at / LANES, at % LANES, word))
        });
        words.filter(|&(_, _, lane, _)| self.live >> lane & 1 != 0)
    }

    /// Whether a lane, or any lane, reads a word that, as a float, is neither zero nor a normal number below 2^24.
    pub fn reads_unbounded(&self, lane: Option<usize>) -> bool {
        let is_unbounded = |word: &u32| {
            let value = f32::from_bits(*word);
            value != 0.0 && !(value.is_normal() && value.abs() <= 16_777_216.0)
        };
        let by_lane = self.inputs.values().chain(self.system_values.values()).any(|words| {
            words.iter().enumerate().any(|(at, word)| lane.is_none_or(|lane| at % LANES == lane) && is_unbounded(word))
        });
        let vertices = self.vertices.iter().flatten().flat_map(BTreeMap::values);
        let shared = self.constants.values().chain(self.buffers_before.values()).chain(vertices);
        by_lane || shared.flatten().any(is_unbounded)
    }

    /// Returns the inputs to run `shader` with. A fragment shader's `FACE` input is given as system value too.
    pub fn inputs(&self, shader: &Shader) -> Inputs {
        let lanes = if shader.processor == Processor::Geometry { 1 } else { LANES };
        let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 0), ..Inputs::default() };
        for (&register, words) in &self.inputs {
            for (position, &word) in words.iter().enumerate().take(16) {
                inputs.inputs.set(register, position / LANES, position % LANES, word);
            }
        }
        if let Some(vertices) = &self.vertices {
            inputs.vertices = vertices
                .iter()
                .map(|vertex| {
                    let count = vertex.last_key_value().map_or(0, |(&register, _)| register + 1);
                    let mut registers = vec![Vec4::default(); count];
                    for (&register, words) in vertex {
                        for (to, &from) in registers[register].iter_mut().zip(words) {
                            *to = from;
                        }
                    }
                    registers
                })
                .collect();
        }
        let columns = |words: &[u32]| -> Vec<Vec<u32>> {
            words
                .chunks(LANES)
                .map(|lanes_of_component| lanes_of_component[..lanes.min(lanes_of_component.len())].to_vec())
                .collect()
        };
        for declaration in &shader.declarations {
            let Some(semantic) = declaration.semantic else { continue };
            let register = usize::from(declaration.first);
            match declaration.file {
                File::SystemValue => {
                    if let Some(value) = semantic.name.system_value()
                        && let Some(words) = self.system_values.get(&register)
                    {
                        inputs.system_values.insert(value, columns(words));
                    }
                }
                File::Input if semantic.name == Semantic::Face && shader.processor == Processor::Fragment => {
                    let front = inputs.inputs.component(register, 0).iter();
                    let words = front.map(|&x| if f32::from_bits(x) > 0.0 { u32::MAX } else { 0 }).collect();
                    inputs.system_values.insert(SystemValue::FrontFace, vec![words]);
                }
                _ => {}
            }
        }
        inputs.constants = by_number(&self.constants, <[u32]>::to_vec);
        inputs.buffers = by_number(&self.buffers_before, |words| words.iter().flat_map(|w| w.to_le_bytes()).collect());
        inputs.shared_size = self.shared_after.as_ref().map_or(1024, |words| words.len() * 4);
        inputs
    }

    /// Returns the same inputs with `outputs` as the recorded results.
    pub fn with_results(&self, outputs: &Outputs) -> Vector {
        let mut vector = self.clone();
        for (&register, words) in &mut vector.outputs {
            for (position, word) in words.iter_mut().enumerate() {
                *word = outputs.outputs.get(register, position / LANES, position % LANES);
            }
        }
        vector.live = outputs.live.iter().enumerate().fold(0, |live, (lane, &is)| live | u64::from(is) << lane);
        if let Some(streams) = &mut vector.emitted {
            *streams = outputs
                .emitted
                .iter()
                .enumerate()
                .map(|(stream, primitives)| {
                    let words = |vertex: &Vec<Vec4>| vertex.as_flattened().to_vec();
                    (stream, primitives.iter().map(|vertices| vertices.iter().map(words).collect()).collect())
                })
                .collect();
        }
        let words =
            |bytes: &[u8]| bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        for (&buffer, recorded) in &mut vector.buffers_after {
            *recorded = outputs.buffers.get(buffer).map(|bytes| words(bytes)).unwrap_or_default();
        }
        if let Some(recorded) = &mut vector.shared_after {
            *recorded = words(&outputs.shared);
        }
        vector
    }

    /// Compares the results of a run with the recorded ones.
    pub fn compare(&self, outputs: &Outputs) -> Comparison {
        let mut comparison = Comparison::default();
        for (lane, &live) in outputs.live.iter().enumerate() {
            let expected = self.live >> lane & 1 != 0;
            if live != expected {
                comparison.different.push(Difference {
                    position: format!("live lane {lane}"),
                    expected: Some(u32::from(expected)),
                    found: Some(u32::from(live)),
                });
            }
        }
        if let Some(streams) = &self.emitted {
            for (stream, found) in outputs.emitted.iter().enumerate() {
                let expected = streams.get(&stream).map(Vec::as_slice).unwrap_or_default();
                compare_primitives(&mut comparison, stream, expected, found);
            }
        } else {
            for (&register, words) in &self.outputs {
                for (position, &word) in words.iter().enumerate() {
                    let (component, lane) = (position / LANES, position % LANES);
                    if self.live >> lane & 1 != 0 {
                        comparison.word(
                            || format!("OUT[{register}].{} lane {lane}", ["x", "y", "z", "w"][component & 3]),
                            Some(word),
                            Some(outputs.outputs.get(register, component, lane)),
                        );
                    }
                }
            }
        }
        for (&buffer, words) in &self.buffers_after {
            let bytes = outputs.buffers.get(buffer).map(Vec::as_slice).unwrap_or_default();
            compare_bytes(&mut comparison, &format!("BUFFER[{buffer}]"), words, bytes);
        }
        if let Some(words) = &self.shared_after {
            compare_bytes(&mut comparison, "MEMORY", words, &outputs.shared);
        }
        comparison
    }
}

/// Converts a map from numbers to a vector; absent numbers become empty.
fn by_number<T: Clone + Default>(map: &BTreeMap<usize, Vec<u32>>, convert: impl Fn(&[u32]) -> T) -> Vec<T> {
    let mut all = vec![T::default(); map.last_key_value().map_or(0, |(&number, _)| number + 1)];
    for (&number, words) in map {
        all[number] = convert(words);
    }
    all
}

fn compare_bytes(comparison: &mut Comparison, name: &str, expected: &[u32], found: &[u8]) {
    for (position, &word) in expected.iter().enumerate() {
        let ours = found.get(4 * position..4 * position + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
        comparison.word(|| format!("{name} word {position}"), Some(word), ours);
    }
}

fn compare_primitives(
    comparison: &mut Comparison,
    stream: usize,
    expected: &[Vec<Vec<u32>>],
    found: &[Vec<Vec<Vec4>>],
) {
    for primitive in 0..expected.len().max(found.len()) {
        let expected = expected.get(primitive).map(Vec::as_slice);
        let found = found.get(primitive).map(Vec::as_slice);
        let (Some(expected), Some(found)) = (expected, found) else {
            comparison.different.push(Difference {
                position: format!("stream {stream} primitive {primitive}, number of vertices"),
                expected: expected.map(|vertices| vertices.len() as u32),
                found: found.map(|vertices| vertices.len() as u32),
            });
            continue;
        };
        for vertex in 0..expected.len().max(found.len()) {
            let expected = expected.get(vertex).map(Vec::as_slice).unwrap_or_default();
            let found = found.get(vertex).map(|registers| registers.as_flattened()).unwrap_or_default();
            for word in 0..expected.len().max(found.len()) {
                comparison.word(
                    || format!("stream {stream} primitive {primitive} vertex {vertex} word {word}"),
                    expected.get(word).copied(),
                    found.get(word).copied(),
                );
            }
        }
    }
}
