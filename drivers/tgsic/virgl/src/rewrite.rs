//! Replaces the shaders of a connection in its command buffers.
//!
//! A shader that comes in several packets is held until its text is complete; nothing can use it earlier. Its packets
//! are taken out of their buffers, and the shader is written in place of the last of them: unchanged if the filter left
//! it so. All other commands stay in place. A buffer without changes is not copied.
//!
//! A command that the host would reject ends this: the held packets are written unchanged, then the rest, unread. The
//! host then reports the same error as without a proxy.

use std::collections::BTreeMap;

use crate::commands::{Command, SHADER, SubContexts, command_at, number, put_set_sub_context};
use crate::error::CommandError;
use crate::limits::{MAX_HELD_BYTES, MAX_TEXT_BYTES};
use crate::shader::{Filter, Filtered, Head, Packet, SHADER_COMMAND, ShaderObject, TextSegment, WireStage};

/// A shader with an incomplete text.
#[derive(Clone, Debug)]
struct Unfinished {
    handle: u32,
    /// Bytes of the text with its NUL.
    length: u32,
    /// Bytes received, in whole words.
    stored: u32,
    /// The text held back; `None` if it is too long to hold and is passed on as it arrives.
    held: Option<HeldShader>,
}

#[derive(Clone, Debug)]
struct HeldShader {
    head: Head,
    text: Vec<u8>,
    /// The original packets.
    packets: Vec<u8>,
}

impl HeldShader {
    /// Returns the memory that is used.
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
    /// At most one for each sub-context and stage.
    unfinished: BTreeMap<(u32, WireStage), Unfinished>,
    held_bytes: usize,
}

/// A buffer being rewritten: the input, and the output once they differ.
struct Buffer<'a> {
    input: &'a [u8],
    out: Option<Vec<u8>>,
}

impl Buffer<'_> {
    /// Starts the output with everything before an offset.
    fn from(&mut self, start: usize) -> &mut Vec<u8> {
        self.out.get_or_insert_with(|| self.input[..start].to_vec())
    }

    /// Copies a part unchanged.
    fn keep(&mut self, start: usize, end: usize) {
        if let Some(out) = &mut self.out {
            out.extend_from_slice(&self.input[start..end]);
        }
    }
}

impl<F: Filter> Rewriter<F> {
    /// Creates a rewriter with a filter.
    pub fn new(filter: F) -> Rewriter<F> {
        Rewriter { filter, contexts: SubContexts::default(), unfinished: BTreeMap::new(), held_bytes: 0 }
    }

    /// Returns the filter.
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

    /// Returns whether there are packets that have not been written.
    pub fn is_holding(&self) -> bool {
        self.held_bytes > 0
    }

    /// Writes all held packets unchanged.
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

    /// Handles a command. On an error, nothing of it has been written, and the held packets are unchanged.
    fn command(&mut self, command: &Command<'_>, buffer: &mut Buffer<'_>) -> Result<(), CommandError> {
        match command.number() {
            number::CREATE_OBJECT if command.header & 0xffff == SHADER_COMMAND => return self.shader(command, buffer),
            number::BIND_SHADER | number::DESTROY_OBJECT => self.check_use(command)?,
            number::BIND_OBJECT if command.object() == SHADER => self.check_use(command)?,
            number::SET_SUB_CTX | number::CREATE_SUB_CTX => self.contexts.follow(command)?,
            number::DESTROY_SUB_CTX => {
                // The host frees incomplete shaders of the sub-context.
                self.contexts.follow(command)?;
                let id = command.word(0);
                if id != 0 {
                    for stage in WireStage::ALL {
                        self.take((id, stage));
                    }
                }
            }
            _ => {}
        }
        buffer.keep(command.start, command.end);
        Ok(())
    }

    /// Checks that an object in use is not incomplete.
    fn check_use(&self, command: &Command<'_>) -> Result<(), CommandError> {
        let (context, handle) = (self.contexts.current(), command.word(0));
        let is_unfinished = |stage| self.unfinished.get(&(context, stage)).is_some_and(|u| u.handle == handle);
        // There is rarely an incomplete shader.
        if !self.unfinished.is_empty() && handle != 0 && WireStage::ALL.into_iter().any(is_unfinished) {
            return Err(CommandError::UsedUnfinished { handle });
        }
        Ok(())
    }

    fn take(&mut self, key: (u32, WireStage)) -> Option<Unfinished> {
        let unfinished = self.unfinished.remove(&key)?;
        self.held_bytes -= unfinished.held.as_ref().map_or(0, HeldShader::bytes);
        Some(unfinished)
    }

    fn shader(&mut self, command: &Command<'_>, buffer: &mut Buffer<'_>) -> Result<(), CommandError> {
        let packet = Packet::decode(command)?;
        let Packet { handle, stage, .. } = packet;
        let key = (self.contexts.current(), stage);
        let words = (packet.text.len() / 4) as u32;
        match (packet.part, self.unfinished.get(&key)) {
            (TextSegment::First(_), Some(other)) => {
                Err(CommandError::StillUnfinished { handle, unfinished: other.handle })
            }
            (TextSegment::First(0), None) => Err(CommandError::EmptyText { handle }),
            (TextSegment::First(length), None) => {
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
                let held = hold.then(|| HeldShader {
                    head: Head::of(&packet),
                    text: packet.text.to_vec(),
                    packets: buffer.input[command.start..command.end].to_vec(),
                });
                self.held_bytes += held.as_ref().map_or(0, HeldShader::bytes);
                self.unfinished.insert(key, Unfinished { handle, length, stored: words * 4, held });
                self.hold_or_keep(hold, command, buffer);
                Ok(())
            }
            (TextSegment::From(_), None) => Err(CommandError::NotUnfinished { handle }),
            (TextSegment::From(offset), Some(so_far)) => {
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

    /// Takes a packet out of a buffer, or keeps it.
    fn hold_or_keep(&self, hold: bool, command: &Command<'_>, buffer: &mut Buffer<'_>) {
        if hold {
            buffer.from(command.start);
        } else {
            buffer.keep(command.start, command.end);
        }
    }

    /// Handles a shader in a single packet.
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

    /// Handles the last packet of a shader.
    fn last_part(
        &mut self,
        key: (u32, WireStage),
        packet: &Packet<'_>,
        command: &Command<'_>,
        buffer: &mut Buffer<'_>,
    ) -> Result<(), CommandError> {
        // A packet without NUL is an error, and the held packets must stay to be released.
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

    /// Returns the filter's replacement for a text, if any.
    fn filtered(&self, head: &Head, text: &[u8]) -> Option<Vec<u8>> {
        match self.filter.filter(&ShaderObject::new(head, text)) {
            Filtered::Unchanged => None,
            Filtered::Changed(new) if new.contains(&0) || new.len() >= MAX_TEXT_BYTES => {
                log::warn!("a new text of {} bytes cannot be sent, the shader is passed on unchanged", new.len());
                None
            }
            Filtered::Changed(new) => Some(new),
        }
    }
}

/// Returns the text before its NUL, which must be in the last word.
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
