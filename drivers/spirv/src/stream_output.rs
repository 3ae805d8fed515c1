//! Stream output: which components of outputs go to which buffers. TGSI's shaders do not say it; it is state.
//!
//! As text, an entry is `OUT[1].xyz->0@16/32`: components `xyz` of output register 1 go to buffer 0, 16 bytes from the
//! start of each vertex, of which the buffer has one every 32 bytes. `:2` behind it names the vertex stream of a
//! geometry shader. Without components all four go; without `/32` the distance is that of another entry of the buffer.

use thiserror::Error;

/// Buffers, and vertex streams.
const MOST: u32 = 4;
/// Bytes that a vertex takes at most, as devices have it.
const MOST_BYTES: u32 = 2048;

/// Components that go to a buffer.
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
    /// Where the components stand, in bytes from the start of a vertex.
    pub offset: u32,
    /// The vertex stream.
    pub stream: u32,
}

/// What goes to buffers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StreamOutput {
    /// The components.
    pub captures: Vec<Capture>,
    /// Bytes from a vertex to the next, by buffer.
    pub strides: [u32; MOST as usize],
}

/// What is wrong with the text of stream output.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("stream output `{entry}`: {what} (as in `OUT[1].xyz->0@16/32`)")]
pub struct StreamOutputError {
    /// The entry.
    pub entry: String,
    /// What is wrong with it.
    pub what: &'static str,
}

impl StreamOutput {
    /// Reads entries with commas between.
    ///
    /// # Errors
    /// [`StreamOutputError`]: the first entry that is none, or that contradicts one before.
    pub fn parse(text: &str) -> Result<StreamOutput, StreamOutputError> {
        let mut output = StreamOutput::default();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            output.add(entry).map_err(|what| StreamOutputError { entry: entry.to_owned(), what })?;
        }
        let without = output.captures.iter().find(|capture| output.strides[capture.buffer as usize] == 0);
        match without {
            Some(capture) => Err(StreamOutputError {
                entry: format!("OUT[{}]", capture.register),
                what: "no entry of its buffer says how far vertices are apart",
            }),
            None => Ok(output),
        }
    }

    fn add(&mut self, entry: &str) -> Result<(), &'static str> {
        let (source, place) = entry.split_once("->").ok_or("there is no `->`")?;
        let (register, components) = match source.trim().split_once('.') {
            Some((register, components)) => (register, components),
            None => (source.trim(), "xyzw"),
        };
        let register = register.trim().strip_prefix("OUT[").and_then(|rest| rest.strip_suffix(']'));
        let register = number(register.ok_or("it begins with `OUT[`, a number, `]`")?)?;
        let component = "xyzw".find(components).filter(|_| !components.is_empty());
        let component = component.ok_or("components follow each other: x, xy, yzw, ...")? as u8;
        let (place, stream) = place.split_once(':').map_or((place, "0"), |(place, stream)| (place, stream));
        let (place, stride) = match place.split_once('/') {
            Some((place, stride)) => (place, Some(number(stride)?)),
            None => (place, None),
        };
        let (buffer, offset) = place.split_once('@').ok_or("a buffer and an offset have `@` between")?;
        let capture = Capture {
            register,
            component,
            components: components.len() as u8,
            buffer: number(buffer)?,
            offset: number(offset)?,
            stream: number(stream)?,
        };
        if capture.buffer >= MOST || capture.stream >= MOST {
            return Err("there are four buffers and four streams");
        }
        let is_word = |bytes: u32| bytes.is_multiple_of(4);
        if !is_word(capture.offset) || stride.is_some_and(|stride| !is_word(stride) || stride == 0) {
            return Err("offsets and distances are multiples of four");
        }
        let own = &mut self.strides[capture.buffer as usize];
        let stride = stride.unwrap_or(*own);
        if *own != 0 && stride != *own {
            return Err("the distance differs from that of an entry before");
        }
        *own = stride;
        let end = capture.offset.saturating_add(4 * u32::from(capture.components));
        if end > MOST_BYTES || stride > MOST_BYTES || (stride != 0 && end > stride) {
            return Err("it goes beyond the end of a vertex");
        }
        let overlaps = |other: &Capture| {
            other.buffer == capture.buffer
                && capture.offset < other.offset + 4 * u32::from(other.components)
                && other.offset < end
        };
        if self.captures.iter().any(overlaps) {
            return Err("it goes where an entry before goes");
        }
        if self.captures.iter().any(|other| other.buffer == capture.buffer && other.stream != capture.stream) {
            return Err("a buffer has vertices of one stream");
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
    fn what_is_wrong_is_said() {
        for (text, what) in [
            ("OUT[0]", "no `->`"),
            ("TEMP[0]->0@0/16", "begins with"),
            ("OUT[0].xz->0@0/16", "follow each other"),
            ("OUT[0].->0@0/16", "follow each other"),
            ("OUT[x]->0@0/16", "number"),
            ("OUT[0]->0/16", "`@`"),
            ("OUT[0]->4@0/16", "four buffers"),
            ("OUT[0]->0@2/16", "multiples"),
            ("OUT[0]->0@0/16,OUT[1]->0@16/32", "differs"),
            ("OUT[0]->0@4/16", "beyond"),
            ("OUT[0]->0@0/32,OUT[1]->0@12", "where"),
            ("OUT[0].x->0@0/32,OUT[1].x->0@12:1", "one stream"),
            ("OUT[0]->0@0", "how far"),
        ] {
            let error = StreamOutput::parse(text).expect_err(text).to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
