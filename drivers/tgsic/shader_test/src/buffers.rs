//! Commands for buffers: their parser, and their effect on memory.

use crate::memory::Memory;
use crate::words::Words;

/// The most bytes of a buffer.
const MAX_BYTES: usize = 1 << 24;

/// The type of numbers in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    Float,
    Double,
    Int,
    Uint,
}

impl Number {
    pub(crate) fn parse(name: &str) -> Option<Number> {
        Some(match name {
            "float" => Number::Float,
            "double" => Number::Double,
            "int" => Number::Int,
            "uint" => Number::Uint,
            _ => return None,
        })
    }

    pub(crate) fn size(self) -> usize {
        if self == Number::Double { 8 } else { 4 }
    }

    fn bytes(self, value: f64) -> Vec<u8> {
        match self {
            Number::Float => (value as f32).to_le_bytes().to_vec(),
            Number::Double => value.to_le_bytes().to_vec(),
            // Both ranges: 0xffffffff is -1.
            Number::Int | Number::Uint => (value as i64 as u32).to_le_bytes().to_vec(),
        }
    }

    /// Writes numbers that follow each other; the buffer grows to hold them.
    pub(crate) fn write(self, values: &[f64], at: usize, buffer: &mut Vec<u8>) {
        let bytes: Vec<u8> = values.iter().flat_map(|&value| self.bytes(value)).collect();
        let end = at.saturating_add(bytes.len());
        if end <= MAX_BYTES {
            buffer.resize(buffer.len().max(end), 0);
            buffer[at..end].copy_from_slice(&bytes);
        }
    }

    /// The number at a place; `None` beyond the end.
    pub(crate) fn read(self, buffer: &[u8], at: usize) -> Option<f64> {
        let bytes = buffer.get(at..at.checked_add(self.size())?)?;
        let word = || bytes.try_into().ok().map(u32::from_le_bytes);
        Some(match self {
            Number::Float => f32::from_bits(word()?).into(),
            Number::Double => f64::from_le_bytes(bytes.try_into().ok()?),
            Number::Int => (word()? as i32).into(),
            Number::Uint => word()?.into(),
        })
    }
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Relation {
    fn parse(text: &str) -> Option<Relation> {
        Some(match text {
            "==" => Relation::Equal,
            "!=" => Relation::NotEqual,
            "<" => Relation::Less,
            "<=" => Relation::LessEqual,
            ">" => Relation::Greater,
            ">=" => Relation::GreaterEqual,
            _ => return None,
        })
    }

    fn holds(self, found: f64, expected: f64) -> bool {
        match self {
            Relation::Equal => found == expected,
            Relation::NotEqual => found != expected,
            Relation::Less => found < expected,
            Relation::LessEqual => found <= expected,
            Relation::Greater => found > expected,
            Relation::GreaterEqual => found >= expected,
        }
    }
}

/// A command for buffers.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum BufferCommand {
    /// Creates a storage buffer: binding, bytes.
    Storage(u32, usize),
    /// Writes to a storage buffer: binding, type, byte offset, values.
    StorageData(u32, Number, usize, Vec<f64>),
    /// Compares a number of a storage buffer: binding, type, byte offset, relation, value.
    ProbeStorage(u32, Number, usize, Relation, f64),
    /// Creates a buffer of counters: binding, number of counters.
    Counters(u32, usize),
    /// Sets a counter: binding, number, value.
    Counter(u32, usize, u32),
    /// Compares a counter: binding, number, relation, value.
    ProbeCounter(u32, usize, Relation, u32),
}

impl BufferCommand {
    /// Parses the words after `ssbo`.
    pub(crate) fn storage(words: &mut Words) -> Option<BufferCommand> {
        let binding = words.uint()?;
        if words.eat("subdata") {
            let number = Number::parse(&words.next()?)?;
            return Some(BufferCommand::StorageData(binding, number, words.index()?, words.rest()?));
        }
        let size = words.index().filter(|&size| size <= MAX_BYTES)?;
        Some(BufferCommand::Storage(binding, size)).filter(|_| words.is_done())
    }

    /// Parses the words after `atomic`.
    pub(crate) fn counters(words: &mut Words) -> Option<BufferCommand> {
        let size = |words: &mut Words| words.index().filter(|&count| count <= MAX_BYTES / 4);
        if words.eat("counters") {
            return Some(BufferCommand::Counters(0, size(words)?));
        }
        if words.eat("counter buffer") {
            return Some(BufferCommand::Counters(words.uint()?, size(words)?));
        }
        words.eat("counter").then_some(())?;
        Some(BufferCommand::Counter(words.uint()?, words.index()?, words.uint()?))
    }

    /// Parses the words after `probe`.
    pub(crate) fn probe(words: &mut Words) -> Option<BufferCommand> {
        if words.eat("ssbo") {
            let number = Number::parse(&words.next()?)?;
            let (binding, offset) = (words.uint()?, words.index()?);
            let relation = Relation::parse(&words.next()?)?;
            return Some(BufferCommand::ProbeStorage(binding, number, offset, relation, words.number()?));
        }
        let (binding, counter) = if words.eat("atomic counter buffer") {
            (words.uint()?, words.index().filter(|offset| offset % 4 == 0)? / 4)
        } else {
            words.eat("atomic counter").then_some(())?;
            (0, words.index()?)
        };
        Some(BufferCommand::ProbeCounter(binding, counter, Relation::parse(&words.next()?)?, words.uint()?))
    }

    /// Whether it compares something.
    pub(crate) fn is_probe(&self) -> bool {
        matches!(self, BufferCommand::ProbeStorage(..) | BufferCommand::ProbeCounter(..))
    }

    /// Plays the command.
    ///
    /// # Errors
    /// A value is not the expected one, or there is no such buffer.
    pub(crate) fn play(&self, memory: &mut Memory) -> Result<(), String> {
        let missing = |binding: &u32| format!("binding {binding} has no such value");
        match self {
            BufferCommand::Storage(binding, size) => {
                memory.storage.insert(*binding, vec![0; *size]);
            }
            BufferCommand::StorageData(binding, number, at, values) => {
                let buffer = memory.storage.get_mut(binding).ok_or_else(|| missing(binding))?;
                let size = buffer.len();
                if at.saturating_add(values.len() * number.size()) > size {
                    return Err(format!("the buffer has {size} bytes"));
                }
                number.write(values, *at, buffer);
            }
            BufferCommand::ProbeStorage(binding, number, at, relation, expected) => {
                let found = memory.storage.get(binding).and_then(|buffer| number.read(buffer, *at));
                let found = found.ok_or_else(|| missing(binding))?;
                if !relation.holds(found, *expected) {
                    return Err(format!("expected {expected}, found {found}"));
                }
            }
            BufferCommand::Counters(binding, count) => {
                memory.counters.insert(*binding, vec![0; *count]);
            }
            BufferCommand::Counter(binding, number, value) => {
                let counter = memory.counters.get_mut(binding).and_then(|counters| counters.get_mut(*number));
                *counter.ok_or_else(|| missing(binding))? = *value;
            }
            BufferCommand::ProbeCounter(binding, number, relation, expected) => {
                let found = memory.counters.get(binding).and_then(|counters| counters.get(*number));
                let found = *found.ok_or_else(|| missing(binding))?;
                if !relation.holds(found.into(), (*expected).into()) {
                    return Err(format!("expected {expected}, found {found}"));
                }
            }
        }
        Ok(())
    }
}
