//! The stream of a client's messages: receives pieces of any size, and writes the messages with their shaders replaced.
//!
//! Received bytes are kept in one buffer and sent from it without another copy, as soon as they are known not to
//! change: short messages without commands whole, bodies of long ones as they arrive. A SUBMIT_CMD must be complete,
//! and only one with a changed shader is rewritten.
//!
//! If the stream is malformed, held packets are sent and the rest is passed on unread: the host then closes the
//! connection as it would without a proxy, or accepts the message. [`Stream::error`] returns the error.

use std::io;

use crate::error::{ErrorKind, StreamError};
use crate::limits::{FIRST_RECEIVE_BYTES, KEPT_BYTES, MAX_GATHERED_BYTES, MAX_SUBMIT_BYTES, RECEIVE_BYTES};
use crate::rewrite::Rewriter;
use crate::shader::Filter;
use crate::vtest::{Action, HEADER_BYTES, action, submit_header, word};

/// The output of a stream.
pub trait Sink {
    /// Writes parts in order.
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()>;
}

impl Sink for Vec<u8> {
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        for part in parts {
            self.extend_from_slice(part);
        }
        Ok(())
    }
}

/// The traffic of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StreamCounts {
    /// Bytes received.
    pub bytes: u64,
    /// Messages with a complete header.
    pub messages: u64,
    /// Command buffers among these.
    pub submits: u64,
    /// Command buffers that were rewritten.
    pub rewritten: u64,
}

/// The messages of a client.
#[derive(Debug)]
pub struct Stream<F> {
    rewriter: Rewriter<F>,
    buffer: Vec<u8>,
    /// Start of the bytes that were received and not yet sent.
    start: usize,
    /// End of these bytes.
    end: usize,
    /// Bytes of the stream before `start`.
    offset: u64,
    /// Number of bytes from `start` on that belong to a message body that is passed on.
    passing: u64,
    /// The current message.
    message: u32,
    /// Whether messages are parsed; if not, everything is passed on.
    reading: bool,
    error: Option<StreamError>,
    counts: StreamCounts,
}

impl<F: Filter> Stream<F> {
    /// Creates a stream with a filter for its shaders.
    pub fn new(filter: F) -> Stream<F> {
        Stream {
            rewriter: Rewriter::new(filter),
            buffer: vec![0; FIRST_RECEIVE_BYTES],
            start: 0,
            end: 0,
            offset: 0,
            passing: 0,
            message: 0,
            reading: true,
            error: None,
            counts: StreamCounts::default(),
        }
    }

    /// Returns the error after which messages are no longer parsed.
    pub fn error(&self) -> Option<StreamError> {
        self.error
    }

    /// Returns the traffic.
    pub fn counts(&self) -> StreamCounts {
        self.counts
    }

    /// Returns free space for receiving, never empty.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            // The last receive filled the buffer, so there are probably more bytes.
            let was_full = self.end == self.buffer.len();
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > KEPT_BYTES {
                self.buffer.truncate(RECEIVE_BYTES);
                self.buffer.shrink_to_fit();
            } else if was_full && self.buffer.len() < RECEIVE_BYTES {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        } else if self.has_little_room() {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            // A message may announce bytes that never come, so the buffer grows only with the bytes received.
            if self.has_little_room() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        &mut self.buffer[self.end..]
    }

    fn has_little_room(&self) -> bool {
        self.buffer.len() - self.end < self.buffer.len().min(RECEIVE_BYTES) / 4
    }

    /// Processes `bytes` received bytes at the front of [`Self::space`].
    pub fn received(&mut self, bytes: usize, sink: &mut impl Sink) -> io::Result<()> {
        self.end = self.buffer.len().min(self.end + bytes);
        self.counts.bytes += bytes as u64;
        // Bytes from here to `start` are sent unchanged.
        let mut clean = self.start;
        loop {
            let left = self.end - self.start;
            if self.passing > 0 {
                let now = self.passing.min(left as u64);
                self.passing -= now;
                self.advance(now as usize);
                if self.passing > 0 {
                    break;
                }
                continue;
            }
            if left == 0 {
                break;
            }
            if !self.reading {
                self.advance(left);
                break;
            }
            let unread = &self.buffer[self.start..self.end];
            let action = action(unread);
            if unread.len() >= HEADER_BYTES {
                self.message = word(unread, 4);
            }
            match action {
                Ok(Action::Need(_)) => break,
                // Clients send header and body of a message separately. Sent together, they wake the host once.
                Ok(Action::Pass(all)) if all <= MAX_GATHERED_BYTES && (left as u64) < all => break,
                Ok(Action::Pass(all)) => {
                    self.counts.messages += 1;
                    self.passing = all;
                }
                Ok(Action::PassAll) => {
                    self.counts.messages += 1;
                    log::debug!("byte {}: message {}, everything is passed on from here", self.offset, self.message);
                    self.pass_all(&mut clean, sink)?;
                }
                Ok(Action::Submit(length)) if length > MAX_SUBMIT_BYTES as u64 => {
                    self.fail(self.offset, ErrorKind::SubmitTooLong { bytes: length });
                    self.pass_all(&mut clean, sink)?;
                }
                Ok(Action::Submit(length)) => {
                    let all = HEADER_BYTES + length as usize;
                    let Some(commands) = unread.get(HEADER_BYTES..all) else { break };
                    self.counts.messages += 1;
                    self.counts.submits += 1;
                    let rewritten = self.rewriter.rewrite(commands);
                    if let Some(commands) = &rewritten.commands {
                        self.counts.rewritten += 1;
                        sink.put(&[&self.buffer[clean..self.start], &submit_header(commands.len()), commands])?;
                        clean = self.start + all;
                    }
                    if let Some((at, error)) = rewritten.error {
                        self.fail(self.offset + (HEADER_BYTES + at) as u64, ErrorKind::Command(error));
                        self.reading = false;
                    }
                    self.advance(all);
                }
                Err(kind) => {
                    self.fail(self.offset, kind);
                    self.pass_all(&mut clean, sink)?;
                }
            }
        }
        if clean < self.start {
            sink.put(&[&self.buffer[clean..self.start]])?;
        }
        Ok(())
    }

    /// Processes bytes that are not in [`Self::space`].
    pub fn push(&mut self, mut bytes: &[u8], sink: &mut impl Sink) -> io::Result<()> {
        while !bytes.is_empty() {
            let space = self.space();
            let (now, later) = bytes.split_at(bytes.len().min(space.len()));
            space[..now.len()].copy_from_slice(now);
            self.received(now.len(), sink)?;
            bytes = later;
        }
        Ok(())
    }

    /// Accounts for a byte that came with descriptors. Between messages it belongs to none. Within a message that is
    /// being parsed its meaning is unknown, so everything is passed on.
    pub fn byte_with_descriptors(&mut self, sink: &mut impl Sink) -> io::Result<()> {
        if self.passing > 0 {
            self.passing -= 1;
        } else if self.start < self.end {
            let mut clean = self.start;
            self.pass_all(&mut clean, sink)?;
            self.advance(self.end - self.start);
            sink.put(&[&self.buffer[clean..self.start]])?;
        }
        self.offset += 1;
        self.counts.bytes += 1;
        Ok(())
    }

    /// Ends the stream. Returns an error if it ended within a message or was malformed.
    pub fn finish(&self) -> Result<(), StreamError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let left = (self.end - self.start) as u64;
        let needed = match action(&self.buffer[self.start..self.end]) {
            _ if self.passing > 0 => self.passing,
            _ if left == 0 || !self.reading => return Ok(()),
            Ok(Action::Need(bytes)) => bytes as u64,
            Ok(Action::Submit(length)) => HEADER_BYTES as u64 + length,
            Ok(Action::Pass(all)) => all,
            Ok(Action::PassAll) | Err(_) => return Ok(()),
        };
        let missing = needed.saturating_sub(left);
        Err(StreamError { offset: self.offset + left, message: self.message, kind: ErrorKind::Truncated { missing } })
    }

    fn advance(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    fn fail(&mut self, offset: u64, kind: ErrorKind) {
        self.error = Some(StreamError { offset, message: self.message, kind });
    }

    /// Stops parsing. Held packets are sent in a separate message before the current one.
    fn pass_all(&mut self, clean: &mut usize, sink: &mut impl Sink) -> io::Result<()> {
        self.reading = false;
        if self.rewriter.is_holding() {
            let mut commands = Vec::new();
            self.rewriter.release_all(&mut commands);
            sink.put(&[&self.buffer[*clean..self.start], &submit_header(commands.len()), &commands])?;
            *clean = self.start;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
