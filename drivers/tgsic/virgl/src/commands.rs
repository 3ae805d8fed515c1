//! The inner protocol, virgl: commands in the body of SUBMIT_CMD.
//!
//! A command is a header word and a payload: `command | object type << 8 | words of payload << 16`. Commands never span
//! two messages. Objects belong to a sub-context, which commands select; [`SubContexts`] tracks the current one like
//! the host.

use std::collections::HashSet;

use crate::error::CommandError;
use crate::limits::MAX_SUB_CONTEXTS;
use crate::vtest::word;

/// Numbers of the commands that the proxy interprets.
pub mod number {
    /// Creates an object.
    pub const CREATE_OBJECT: u8 = 1;
    /// Binds an object.
    pub const BIND_OBJECT: u8 = 2;
    /// Destroys an object.
    pub const DESTROY_OBJECT: u8 = 3;
    /// Selects the current sub-context.
    pub const SET_SUB_CTX: u8 = 28;
    /// Creates a sub-context and makes it current.
    pub const CREATE_SUB_CTX: u8 = 29;
    /// Destroys a sub-context.
    pub const DESTROY_SUB_CTX: u8 = 30;
    /// Binds a shader.
    pub const BIND_SHADER: u8 = 31;
}

/// Object type of shaders.
pub const SHADER: u8 = 4;

/// Returns the header of a command.
pub fn header(command: u8, object: u8, words: usize) -> u32 {
    debug_assert!(words <= usize::from(u16::MAX), "{words} words");
    u32::from(command) | u32::from(object) << 8 | (words as u32) << 16
}

/// A command of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command<'a> {
    /// The header word.
    pub header: u32,
    /// The payload.
    pub payload: &'a [u8],
    /// Offset of the header in the buffer.
    pub start: usize,
    /// Offset of the next command.
    pub end: usize,
}

impl Command<'_> {
    /// Returns the number of the command.
    pub fn number(&self) -> u8 {
        self.header as u8
    }

    /// Returns the object type.
    pub fn object(&self) -> u8 {
        (self.header >> 8) as u8
    }

    /// Returns a word of the payload, from 0; 0 beyond the end.
    pub fn word(&self, index: usize) -> u32 {
        word(self.payload, index * 4)
    }

    /// Returns the number of payload words.
    pub fn words(&self) -> usize {
        self.payload.len() / 4
    }

    /// Returns an error if there are fewer than `needed` words.
    pub fn need(&self, needed: usize) -> Result<(), CommandError> {
        if self.words() >= needed {
            return Ok(());
        }
        Err(CommandError::TooShort { command: self.header, words: self.words() as u32, needed: needed as u32 })
    }
}

/// Returns the command at an offset of a buffer; `None` at its end.
pub fn command_at(buffer: &[u8], start: usize) -> Result<Option<Command<'_>>, CommandError> {
    let Some(rest) = buffer.get(start..).filter(|rest| rest.len() >= 4) else { return Ok(None) };
    let header = word(rest, 0);
    let bytes = (header >> 16) as usize * 4;
    match rest.get(4..4 + bytes) {
        Some(payload) => Ok(Some(Command { header, payload, start, end: start + 4 + bytes })),
        None => Err(CommandError::Overlong { command: header, words: header >> 16, left: (rest.len() / 4 - 1) as u32 }),
    }
}

/// Writes words.
pub fn put_words(out: &mut Vec<u8>, words: &[u32]) {
    out.reserve(words.len() * 4);
    for word in words {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

/// Writes a command that selects a sub-context.
pub fn put_set_sub_context(out: &mut Vec<u8>, id: u32) {
    put_words(out, &[header(number::SET_SUB_CTX, 0, 1), id]);
}

/// The sub-contexts of a connection, as the host keeps them: number 0 always exists, creating one makes it current,
/// destroying the current one selects 0, and selecting one that does not exist changes nothing.
#[derive(Clone, Debug, Default)]
pub struct SubContexts {
    others: HashSet<u32>,
    current: u32,
}

impl SubContexts {
    /// Returns the current sub-context.
    pub fn current(&self) -> u32 {
        self.current
    }

    /// Applies a command.
    pub fn follow(&mut self, command: &Command<'_>) -> Result<(), CommandError> {
        let id = command.word(0);
        match command.number() {
            number::SET_SUB_CTX => {
                command.need(1)?;
                if id == 0 || self.others.contains(&id) {
                    self.current = id;
                }
            }
            number::CREATE_SUB_CTX => {
                command.need(1)?;
                if id != 0 && !self.others.contains(&id) {
                    if self.others.len() >= MAX_SUB_CONTEXTS {
                        return Err(CommandError::TooManySubContexts);
                    }
                    self.others.insert(id);
                    self.current = id;
                }
            }
            number::DESTROY_SUB_CTX => {
                command.need(1)?;
                if self.others.remove(&id) && self.current == id {
                    self.current = 0;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(words: &[u32]) -> Vec<u8> {
        let mut out = Vec::new();
        put_words(&mut out, words);
        out
    }

    #[test]
    fn commands_follow_each_other() {
        let bytes = buffer(&[0, 0x0002_0401, 7, 8, 0x0001_001c, 5]);
        let first = command_at(&bytes, 0).expect("valid").expect("a command");
        assert_eq!((first.number(), first.words(), first.end), (0, 0, 4));
        let second = command_at(&bytes, first.end).expect("valid").expect("a command");
        assert_eq!((second.number(), second.object(), second.word(1), second.word(2)), (1, SHADER, 8, 0));
        let third = command_at(&bytes, second.end).expect("valid").expect("a command");
        assert_eq!((third.number(), third.word(0)), (number::SET_SUB_CTX, 5));
        assert_eq!(command_at(&bytes, third.end), Ok(None));
    }

    #[test]
    fn a_payload_beyond_the_end_is_an_error() {
        let bytes = buffer(&[0x0003_0401, 7, 8]);
        assert_eq!(command_at(&bytes, 0), Err(CommandError::Overlong { command: 0x0003_0401, words: 3, left: 2 }));
    }

    #[test]
    fn sub_contexts_as_the_host_has_them() {
        let mut contexts = SubContexts::default();
        let mut follow = |number: u8, id: u32| {
            let bytes = buffer(&[header(number, 0, 1), id]);
            contexts.follow(&command_at(&bytes, 0).expect("valid").expect("a command")).expect("followed");
            contexts.current()
        };
        assert_eq!(follow(number::SET_SUB_CTX, 3), 0, "it does not exist yet");
        assert_eq!(follow(number::CREATE_SUB_CTX, 3), 3);
        assert_eq!(follow(number::CREATE_SUB_CTX, 4), 4);
        assert_eq!(follow(number::CREATE_SUB_CTX, 3), 4, "it exists");
        assert_eq!(follow(number::SET_SUB_CTX, 3), 3);
        assert_eq!(follow(number::DESTROY_SUB_CTX, 4), 3);
        assert_eq!(follow(number::SET_SUB_CTX, 4), 3, "it was destroyed");
        assert_eq!(follow(number::DESTROY_SUB_CTX, 3), 0);
        assert_eq!(follow(number::DESTROY_SUB_CTX, 0), 0);
    }

    #[test]
    fn a_choice_of_nothing_is_an_error() {
        let bytes = buffer(&[header(number::SET_SUB_CTX, 0, 0)]);
        let command = command_at(&bytes, 0).expect("valid").expect("a command");
        assert!(matches!(SubContexts::default().follow(&command), Err(CommandError::TooShort { .. })));
    }
}
