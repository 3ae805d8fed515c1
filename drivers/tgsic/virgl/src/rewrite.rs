//! The shaders of a connection, replaced in its buffers of commands.
//!
//! A shader that comes in several packets is held until its text is whole; nothing can use it before. Its packets are
//! taken out of the buffers that they came in, and the shader is put where the last of them was, as it came if the
//! filter left it unchanged. All other commands stay where they are. A buffer in which nothing changes is not copied.
//!
//! A command that the host would refuse ends all this: what is held goes out as it came, then the rest, unread. The
//! host then says what it would have said without us.

use std::collections::BTreeMap;

use crate::commands::{Command, SHADER, SubContexts, command_at, number, put_set_sub_context};
use crate::error::CommandError;
use crate::limits::{MAX_HELD_BYTES, MAX_TEXT_BYTES};
use crate::shader::{Filter, Filtered, Head, Packet, Part, SHADER_COMMAND, ShaderObject, Stage};

/// A shader whose text is not whole yet.
#[derive(Clone, Debug)]
struct Unfinished {
    handle: u32,
    /// Bytes of the text with its NUL.
    length: u32,
    /// Bytes that came, whole words.
    stored: u32,
    /// The text held back; `None` if it is too long to hold and is passed on as it comes.
    held: Option<Held>,
}

#[derive(Clone, Debug)]
struct Held {
    head: Head,
    text: Vec<u8>,
    /// The packets as they came.
    packets: Vec<u8>,
}

impl Held {
    /// Bytes taken.
    fn bytes(&self) -> usize {
        self.text.len() + self.packets.len()
    }
}

/// The result of rewriting a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewritten {
    /// The new commands; `None` if nothing changed.
    pub commands: Option<Vec<u8>>,
    /// The error, with its offset in the buffer. The rest must be passed on unread.
    pub error: Option<(usize, CommandError)>,
}

/// The shaders of a connection.
#[derive(Debug)]
pub struct Rewriter<F> {
    filter: F,
    contexts: SubContexts,
    /// At most one for a sub-context and stage.
    unfinished: BTreeMap<(u32, Stage), Unfinished>,
    held_bytes: usize,
}

/// A buffer on its way: what was read of it, and what is written once something differs.
struct Buffer<'a> {
    input: &'a [u8],
    out: Option<Vec<u8>>,
}

impl Buffer<'_> {
    /// Starts the output with everything before an offset.
    fn from(&mut self, start: usize) -> &mut Vec<u8> {
        self.out.get_or_insert_with(|| self.input[..start].to_vec())
    }

    /// Keeps a part as it is.
    fn keep(&mut self, start: usize, end: usize) {
        if let Some(out) = &mut self.out {
            out.extend_from_slice(&self.input[start..end]);
        }
    }
}

impl<F: Filter> Rewriter<F> {
    /// One that gives shaders to a filter.
    pub fn new(filter: F) -> Rewriter<F> {
        Rewriter { filter, contexts: SubContexts::default(), unfinished: BTreeMap::new(), held_bytes: 0 }
    }

    /// The filter.
    pub fn filter(&self) -> &F {
        &self.filter
    }

    /// Rewrites a buffer.
    pub fn rewrite(&mut self, input: &[u8]) -> Rewritten {
        let mut buffer = Buffer { input, out: None };
        let mut at = 0;
        let error = loop {
            let command = match command_at(input, at) {
                Ok(Some(command)) => command,
                Ok(None) => break None,
                Err(error) => break Some((at, error)),
            };
            if let Err(error) = self.command(&command, &mut buffer) {
                break Some((at, error));
            }
            at = command.end;
        };
        if error.is_some() {
            if self.is_holding() {
                self.release_all(buffer.from(at));
            }
            buffer.keep(at, input.len());
        }
        Rewritten { commands: buffer.out, error }
    }

    /// Whether there are packets that have not gone out.
    pub fn is_holding(&self) -> bool {
        self.held_bytes > 0
    }

    /// Writes all packets that are held, as they came.
    pub fn release_all(&mut self, out: &mut Vec<u8>) {
        let current = self.contexts.current();
        let mut last = current;
        for ((context, _), unfinished) in std::mem::take(&mut self.unfinished) {
            let Some(held) = unfinished.held else { continue };
            if last != context {
                put_set_sub_context(out, context);
                last = context;
            }
            out.extend_from_slice(&held.packets);
        }
        if last != current {
            put_set_sub_context(out, current);
        }
        self.held_bytes = 0;
    }

    /// Takes a command. On an error nothing has been written of it, and nothing of what is held has changed.
    fn command(&mut self, command: &Command<'_>, buffer: &mut Buffer<'_>) -> Result<(), CommandError> {
        match command.number() {
            number::CREATE_OBJECT if command.header & 0xffff == SHADER_COMMAND => return self.shader(command, buffer),
            number::BIND_SHADER | number::DESTROY_OBJECT => self.check_use(command)?,
            number::BIND_OBJECT if command.object() == SHADER => self.check_use(command)?,
            number::SET_SUB_CTX | number::CREATE_SUB_CTX => self.contexts.follow(command)?,
            number::DESTROY_SUB_CTX => {
                // The host frees what is unfinished there.
                self.contexts.follow(command)?;
                let id = command.word(0);
                if id != 0 {
                    for stage in Stage::ALL {
                        self.take((id, stage));
                    }
                }
            }
            _ => {}
        }
        buffer.keep(command.start, command.end);
        Ok(())
    }

    /// An object that is used must not be unfinished.
    fn check_use(&self, command: &Command<'_>) -> Result<(), CommandError> {
        let (context, handle) = (self.contexts.current(), command.word(0));
        let is_unfinished = |stage| self.unfinished.get(&(context, stage)).is_some_and(|u| u.handle == handle);
        // Nearly always there is nothing unfinished at all.
        if !self.unfinished.is_empty() && handle != 0 && Stage::ALL.into_iter().any(is_unfinished) {
            return Err(CommandError::UsedUnfinished { handle });
        }
        Ok(())
    }

    fn take(&mut self, key: (u32, Stage)) -> Option<Unfinished> {
        let unfinished = self.unfinished.remove(&key)?;
        self.held_bytes -= unfinished.held.as_ref().map_or(0, Held::bytes);
        Some(unfinished)
    }

    fn shader(&mut self, command: &Command<'_>, buffer: &mut Buffer<'_>) -> Result<(), CommandError> {
        let packet = Packet::decode(command)?;
        let Packet { handle, stage, .. } = packet;
        let key = (self.contexts.current(), stage);
        let words = (packet.text.len() / 4) as u32;
        match (packet.part, self.unfinished.get(&key)) {
            (Part::First(_), Some(other)) => Err(CommandError::StillUnfinished { handle, unfinished: other.handle }),
            (Part::First(0), None) => Err(CommandError::EmptyText { handle }),
            (Part::First(length), None) => {
                if words > length.div_ceil(4) {
                    return Err(CommandError::TooMuchText { handle, words, length });
                }
                if words == length.div_ceil(4) {
                    return self.whole(&packet, command, buffer);
                }
                let hold = length as usize <= MAX_TEXT_BYTES;
                if hold && self.held_bytes > MAX_HELD_BYTES {
                    return Err(CommandError::TooMuchHeld);
                }
                let held = hold.then(|| Held {
                    head: Head::of(&packet),
                    text: packet.text.to_vec(),
                    packets: buffer.input[command.start..command.end].to_vec(),
                });
                self.held_bytes += held.as_ref().map_or(0, Held::bytes);
                self.unfinished.insert(key, Unfinished { handle, length, stored: words * 4, held });
                self.hold_or_keep(hold, command, buffer);
                Ok(())
            }
            (Part::From(_), None) => Err(CommandError::NotUnfinished { handle }),
            (Part::From(offset), Some(so_far)) => {
                if so_far.handle != handle {
                    return Err(CommandError::NotUnfinished { handle });
                }
                let (length, stored) = (so_far.length, so_far.stored);
                if offset != stored {
                    return Err(CommandError::WrongOffset { handle, offset, stored });
                }
                let left = length.div_ceil(4) - stored / 4;
                if words > left {
                    return Err(CommandError::TooMuchText { handle, words: stored / 4 + words, length });
                }
                if words == left {
                    return self.last_part(key, &packet, command, buffer);
                }
                if self.held_bytes > MAX_HELD_BYTES {
                    return Err(CommandError::TooMuchHeld);
                }
                let Some(so_far) = self.unfinished.get_mut(&key) else { return Ok(()) };
                so_far.stored += words * 4;
                let hold = if let Some(held) = &mut so_far.held {
                    let before = held.bytes();
                    held.text.extend_from_slice(packet.text);
                    held.packets.extend_from_slice(&buffer.input[command.start..command.end]);
                    self.held_bytes += held.bytes() - before;
                    true
                } else {
                    false
                };
                self.hold_or_keep(hold, command, buffer);
                Ok(())
            }
        }
    }

    /// Takes a packet out of a buffer, or leaves it in.
    fn hold_or_keep(&self, hold: bool, command: &Command<'_>, buffer: &mut Buffer<'_>) {
        if hold {
            buffer.from(command.start);
        } else {
            buffer.keep(command.start, command.end);
        }
    }

    /// A shader in a single packet.
    fn whole(
        &mut self,
        packet: &Packet<'_>,
        command: &Command<'_>,
        buffer: &mut Buffer<'_>,
    ) -> Result<(), CommandError> {
        let text = text_of(packet.handle, packet.text)?;
        let head = Head::of(packet);
        match self.filtered(&head, text) {
            Some(new) => head.put(buffer.from(command.start), &new),
            None => buffer.keep(command.start, command.end),
        }
        Ok(())
    }

    /// The last packet of a shader.
    fn last_part(
        &mut self,
        key: (u32, Stage),
        packet: &Packet<'_>,
        command: &Command<'_>,
        buffer: &mut Buffer<'_>,
    ) -> Result<(), CommandError> {
        // Without its NUL it is refused, and what is held stays to be released.
        text_of(packet.handle, &packet.text[packet.text.len().saturating_sub(4)..])?;
        let Some(Unfinished { held: Some(mut held), .. }) = self.take(key) else {
            buffer.keep(command.start, command.end);
            return Ok(());
        };
        held.text.extend_from_slice(packet.text);
        let text = text_of(packet.handle, &held.text)?;
        let out = buffer.from(command.start);
        match self.filtered(&held.head, text) {
            Some(new) => held.head.put(out, &new),
            None => {
                out.extend_from_slice(&held.packets);
                buffer.keep(command.start, command.end);
            }
        }
        Ok(())
    }

    /// The text that takes the place of another.
    fn filtered(&self, head: &Head, text: &[u8]) -> Option<Vec<u8>> {
        match self.filter.filter(&ShaderObject::new(head, text)) {
            Filtered::Unchanged => None,
            Filtered::Changed(new) if new.contains(&0) || new.len() >= MAX_TEXT_BYTES => {
                log::warn!("a new text of {} bytes cannot be sent, the shader stays as it is", new.len());
                None
            }
            Filtered::Changed(new) => Some(new),
        }
    }
}

/// The text before its NUL, which must be in the last word.
fn text_of(handle: u32, words: &[u8]) -> Result<&[u8], CommandError> {
    let last = words.len().saturating_sub(4);
    if !words[last..].contains(&0) {
        return Err(CommandError::NotTerminated { handle });
    }
    let end = words.iter().position(|&b| b == 0).unwrap_or(words.len());
    Ok(&words[..end])
}

#[cfg(test)]
mod tests;
