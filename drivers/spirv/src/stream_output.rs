//! Stream output: the assignment of output components to buffers. It is API state, not part of a TGSI shader.
//!
//! As text, an entry is `OUT[1].xyz->0@16/32`: components `xyz` of output register 1 are captured in buffer 0, at byte
//! 16 of each vertex; the buffer has one vertex every 32 bytes. A suffix `:2` selects the vertex stream of a geometry
//! shader. Without components all four are captured; without `/32` the stride is that of another entry for the buffer.

use thiserror::Error;

/// The number of buffers, and of vertex streams.
const MOST: u32 = 4;
/// Most bytes of a vertex, as devices allow.
const MAX_BYTES: u32 = 2048;

/// Output components that are captured in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capture {
    /// The output register.
    pub register: u32,
    /// The first component.
    pub component: u8,
    /// Number of components.
    pub components: u8,
    /// The buffer.
    pub buffer: u32,
    /// The offset in bytes from the start of a vertex.
    pub offset: u32,
    /// The vertex stream.
    pub stream: u32,
}

/// The captured components.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StreamOutput {
    /// The entries.
    pub captures: Vec<Capture>,
    /// The stride in bytes between vertices, by buffer.
    pub strides: [u32; MOST as usize],
}

/// A malformed text of stream output.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("stream output `{entry}`: {what} (as in `OUT[1].xyz->0@16/32`)")]
pub struct StreamOutputError {
    /// The entry.
    pub entry: String,
    /// The problem.
    pub what: &'static str,
}

impl StreamOutput {
    /// Parses entries separated by commas.
    ///
    /// # Errors
    /// [`StreamOutputError`]: the first malformed entry, or one that contradicts an earlier one.
    pub fn parse(text: &str) -> Result<StreamOutput, StreamOutputError> {
        let mut output = StreamOutput::default();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            output.add(entry).map_err(|what| StreamOutputError { entry: entry.to_owned(), what })?;
        }
        let without = output.captures.iter().find(|capture| output.strides[capture.buffer as usize] == 0);
        match without {
            Some(capture) => Err(StreamOutputError {
                entry: format!("OUT[{}]", capture.register),
                what: "no entry of its buffer has a stride",
            }),
            None => Ok(output),
        }
    }

    fn add(&mut self, entry: &str) -> Result<(), &'static str> {
        let (source, place) = entry.split_once("->").ok_or("`->` is missing")?;
        let (register, components) = match source.trim().split_once('.') {
            Some((register, components)) => (register, components),
            None => (source.trim(), "xyzw"),
        };
        let register = register.trim().strip_prefix("OUT[").and_then(|rest| rest.strip_suffix(']'));
        let register = number(register.ok_or("it must begin with `OUT[`, a number, `]`")?)?;
        let component = "xyzw".find(components).filter(|_| !components.is_empty());
        let component = component.ok_or("components must be consecutive: x, xy, yzw, ...")? as u8;
        let (place, stream) = place.split_once(':').map_or((place, "0"), |(place, stream)| (place, stream));
        let (place, stride) = match place.split_once('/') {
            Some((place, stride)) => (place, Some(number(stride)?)),
            None => (place, None),
        };
        let (buffer, offset) = place.split_once('@').ok_or("`@` between buffer and offset is missing")?;
        let capture = Capture {
            register,
            component,
            components: components.len() as u8,
            buffer: number(buffer)?,
            offset: number(offset)?,
            stream: number(stream)?,
        };
        if capture.buffer >= MOST || capture.stream >= MOST {
            return Err("buffers and streams are numbered 0 to 3");
        }
        let is_word = |bytes: u32| bytes.is_multiple_of(4);
        if !is_word(capture.offset) || stride.is_some_and(|stride| !is_word(stride) || stride == 0) {
            return Err("offsets and strides must be multiples of four");
        }
        let own = &mut self.strides[capture.buffer as usize];
        let stride = stride.unwrap_or(*own);
        if *own != 0 && stride != *own {
            return Err("the stride differs from that of an earlier entry");
        }
        *own = stride;
        let end = capture.offset.saturating_add(4 * u32::from(capture.components));
        if end > MAX_BYTES || stride > MAX_BYTES || (stride != 0 && end > stride) {
            return Err("it exceeds the end of a vertex");
        }
        let overlaps = |other: &Capture| {
            other.buffer == capture.buffer
                && capture.offset < other.offset + 4 * u32::from(other.components)
                && other.offset < end
        };
        if self.captures.iter().any(overlaps) {
            return Err("it overlaps an earlier entry");
        }
        if self.captures.iter().any(|other| other.buffer == capture.buffer && other.stream != capture.stream) {
            return Err("a buffer can only hold vertices of one stream");
        }
        self.captures.push(capture);
        Ok(())
    }
}

fn number(text: &str) -> Result<u32, &'static str> {
    text.trim().parse().map_err(|_| "a number is missing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read() {
        let output = StreamOutput::parse("OUT[1].yz->0@16/32, OUT[0]->0@0,OUT[3].w -> 2@4/8:1").expect("entries");
        assert_eq!(output.strides, [32, 0, 8, 0]);
        let first = Capture { register: 1, component: 1, components: 2, buffer: 0, offset: 16, stream: 0 };
        let last = Capture { register: 3, component: 3, components: 1, buffer: 2, offset: 4, stream: 1 };
        assert_eq!((output.captures.len(), output.captures[0], output.captures[2]), (3, first, last));
        assert_eq!(output.captures[1].components, 4);
    }

    #[test]
    fn malformed_entries_are_errors() {
        for (text, message) in [
            ("OUT[0]", "`->` is missing"),
            ("TEMP[0]->0@0/16", "must begin with"),
            ("OUT[0].xz->0@0/16", "consecutive"),
            ("OUT[0].->0@0/16", "consecutive"),
            ("OUT[x]->0@0/16", "a number is missing"),
            ("OUT[0]->0/16", "`@` between"),
            ("OUT[0]->4@0/16", "numbered 0 to 3"),
            ("OUT[0]->0@2/16", "multiples"),
            ("OUT[0]->0@0/16,OUT[1]->0@16/32", "differs"),
            ("OUT[0]->0@4/16", "exceeds the end"),
            ("OUT[0]->0@0/32,OUT[1]->0@12", "overlaps"),
            ("OUT[0].x->0@0/32,OUT[1].x->0@12:1", "one stream"),
            ("OUT[0]->0@0", "has a stride"),
        ] {
            let error = StreamOutput::parse(text).expect_err(text).to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
