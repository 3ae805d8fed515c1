//! The messages between a process that requests runs and one that executes them: 32-bit words, little-endian, and byte
//! strings preceded by their length.

use tgsi_compiler::RunError;

use crate::code::{DeviceProperties, SizedCode};
use crate::dispatch::{Bound, BoundBuffer};
use crate::module::{Binding, BindingKind};

/// An answer to a job.
#[derive(PartialEq, Eq, Debug)]
pub enum JobResult {
    /// The bytes of the storage buffers, in the order of the parts.
    Parts(Vec<Vec<u8>>),
    /// The run failed.
    Failure(RunError),
}

/// Code of a job, with its bindings.
pub type NewCode = (Vec<u32>, Vec<Binding>);

const DONE: u32 = 0;
const FAILED: u32 = 1;
const TIMED_OUT: u32 = 2;

/// Encodes the properties of a device, or the error.
pub fn write_properties(properties: &Result<DeviceProperties, String>) -> Vec<u8> {
    let mut out = Writer::default();
    match properties {
        Err(message) => {
            out.word(FAILED);
            out.bytes(message.as_bytes());
        }
        Ok(DeviceProperties {
            name,
            subgroup_size,
            max_invocations,
            max_uniform_bytes,
            keeps_special,
            keeps_denormals,
        }) => {
            let max_uniform_bytes = u32::try_from(*max_uniform_bytes).unwrap_or(u32::MAX);
            let kept = [*keeps_special, *keeps_denormals].map(u32::from);
            let numbers = [DONE, *subgroup_size, *max_invocations, max_uniform_bytes];
            numbers.into_iter().chain(kept).for_each(|word| out.word(word));
            out.bytes(name.as_bytes());
        }
    }
    out.0
}

/// Decodes them.
///
/// # Errors
/// There is no device, or the message is malformed.
pub fn read_properties(message: &[u8]) -> Result<DeviceProperties, String> {
    let mut from = Reader(message);
    if from.word()? != DONE {
        return Err(from.text()?);
    }
    let (subgroup_size, max_invocations, max_uniform_bytes) = (from.word()?, from.word()?, from.word()?);
    let (keeps_special, keeps_denormals) = (from.word()? != 0, from.word()? != 0);
    let max_uniform_bytes = max_uniform_bytes.into();
    Ok(DeviceProperties {
        name: from.text()?,
        subgroup_size,
        max_invocations,
        max_uniform_bytes,
        keeps_special,
        keeps_denormals,
    })
}

/// Encodes a run of new code, or of the code of the previous job.
pub fn write_job(code: Option<&SizedCode>, parts: &[BoundBuffer]) -> Vec<u8> {
    let mut out = Writer::default();
    out.word(u32::from(code.is_some()));
    if let Some(code) = code {
        let words: Vec<u8> = code.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        out.bytes(&words);
        out.word(code.bindings.len() as u32);
        for &Binding { set, binding, count, kind } in &code.bindings {
            [set, binding, count, kind as u32].into_iter().for_each(|word| out.word(word));
        }
    }
    out.word(parts.len() as u32);
    for BoundBuffer { bound: Bound { set, binding, element, kind }, index, bytes } in parts {
        [*set, *binding, *element, *kind as u32, *index].into_iter().for_each(|word| out.word(word));
        out.bytes(bytes);
    }
    out.0
}

/// Decodes it.
///
/// # Errors
/// The message is malformed.
pub fn read_job(message: &[u8]) -> Result<(Option<NewCode>, Vec<BoundBuffer>), String> {
    let mut from = Reader(message);
    let mut code = None;
    if from.word()? != 0 {
        let bytes = from.bytes()?.chunks_exact(4);
        let words = bytes.map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect();
        let mut bindings = Vec::new();
        for _ in 0..from.word()? {
            let (set, binding, count) = (from.word()?, from.word()?, from.word()?);
            bindings.push(Binding { set, binding, count, kind: from.kind()? });
        }
        code = Some((words, bindings));
    }
    let mut parts = Vec::new();
    for _ in 0..from.word()? {
        let (set, binding, element) = (from.word()?, from.word()?, from.word()?);
        let bound = Bound { set, binding, element, kind: from.kind()? };
        parts.push(BoundBuffer { bound, index: from.word()?, bytes: from.bytes()?.to_vec() });
    }
    Ok((code, parts))
}

/// Encodes the result of a job.
pub fn write_answer(result: &Result<Vec<BoundBuffer>, RunError>) -> Vec<u8> {
    let mut out = Writer::default();
    match result {
        Ok(parts) => {
            let stored = || parts.iter().filter(|part| part.bound.kind == BindingKind::Storage);
            out.word(DONE);
            out.word(stored().count() as u32);
            stored().for_each(|part| out.bytes(&part.bytes));
        }
        Err(failure) => {
            out.word(if matches!(failure, RunError::DeviceLost(_)) { TIMED_OUT } else { FAILED });
            out.bytes(failure.to_string().as_bytes());
        }
    }
    out.0
}

/// Decodes it.
///
/// # Errors
/// The message is malformed.
pub fn read_answer(message: &[u8]) -> Result<JobResult, String> {
    let mut from = Reader(message);
    let status = from.word()?;
    if status != DONE {
        let failure = if status == TIMED_OUT { RunError::DeviceLost } else { RunError::Failed };
        return Ok(JobResult::Failure(failure(from.text()?)));
    }
    let parts: Result<_, String> = (0..from.word()?).map(|_| Ok(from.bytes()?.to_vec())).collect();
    parts.map(JobResult::Parts)
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn word(&mut self, word: u32) {
        self.0.extend(word.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u32);
        self.0.extend(bytes);
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (first, rest) =
            self.0.split_at_checked(length).ok_or("a message between the Vulkan processes is malformed")?;
        self.0 = rest;
        Ok(first)
    }

    fn word(&mut self) -> Result<u32, String> {
        self.take(4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn bytes(&mut self) -> Result<&'a [u8], String> {
        let length = self.word()?;
        self.take(length as usize)
    }

    fn text(&mut self) -> Result<String, String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    fn kind(&mut self) -> Result<BindingKind, String> {
        let word = self.word()?;
        Ok(if word == BindingKind::Constant as u32 { BindingKind::Constant } else { BindingKind::Storage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_and_damaged_ones_are_errors() {
        let properties = DeviceProperties {
            name: "a device".to_owned(),
            subgroup_size: 8,
            max_invocations: 1024,
            max_uniform_bytes: 1 << 16,
            keeps_special: true,
            keeps_denormals: false,
        };
        assert_eq!(read_properties(&write_properties(&Ok(properties.clone()))), Ok(properties));
        assert_eq!(read_properties(&write_properties(&Err("none".to_owned()))), Err("none".to_owned()));

        let part = |kind, bytes: &[u8]| {
            let bound = Bound { set: 2, binding: 5, element: 1, kind };
            BoundBuffer { bound, index: 6, bytes: bytes.to_vec() }
        };
        let parts = vec![part(BindingKind::Constant, &[1, 2, 3]), part(BindingKind::Storage, &[])];
        let bindings = vec![Binding { set: 2, binding: 5, count: 2, kind: BindingKind::Storage }];
        let code = SizedCode::new(vec![7, 8, 9], bindings.clone());
        let message = write_job(Some(&code), &parts);
        let (read, read_parts) = read_job(&message).expect("a job");
        assert_eq!(read, Some((vec![7, 8, 9], bindings)));
        assert_eq!(format!("{read_parts:?}"), format!("{parts:?}"));
        assert!((0..message.len()).all(|length| read_job(&message[..length]).is_err()));
        assert_eq!(read_job(&write_job(None, &[])).map(|(code, parts)| (code, parts.len())), Ok((None, 0)));

        assert_eq!(read_answer(&write_answer(&Ok(parts))), Ok(JobResult::Parts(vec![vec![]])));
        let failure = RunError::DeviceLost("late".to_owned());
        assert_eq!(read_answer(&write_answer(&Err(failure.clone()))), Ok(JobResult::Failure(failure)));
    }
}
