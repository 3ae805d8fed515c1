//! The front ends of a compiler: the one of the options, or that of each shader by its first bytes.

use std::borrow::Cow;
use std::ffi::c_char;

use tgsi_compiler::Source;
use tgsi_compiler::front_end::{FrontEnd, Interface, Reader, Reading, TGSI_TEXT, TGSI_TOKENS, detect};

use crate::compiler::{text, tgsic_options};
use crate::failure::Failure;
use crate::result::tgsic_result;
use crate::sized;
use crate::strings::{c_string, json};

/// Maximum number of options of a front end.
const MAX_OPTIONS: usize = 4096;

/// Front ends that not every build has, and the feature of this package that adds each.
const OF_FEATURES: &[(&str, &str)] = &[("glsl", "glsl"), ("spirv", "spirv-in")];

/// The choice of front ends by the options of a compiler.
pub(crate) struct FrontEnds {
    /// The front end of all shaders; `None` to recognise each.
    named: Option<&'static dyn FrontEnd>,
    /// Its options.
    options: Vec<String>,
    is_strict: bool,
}

impl FrontEnds {
    /// Reads the options, and checks those of the front end.
    ///
    /// # Safety
    /// As for `tgsic_compiler_new`.
    pub(crate) unsafe fn new(options: &tgsic_options, is_strict: bool) -> Result<FrontEnds, Failure> {
        // SAFETY: the caller guarantees that strings end.
        let name = unsafe { text(options.front_end) }?;
        let named = name.map(front_end_named).transpose()?;
        // SAFETY: the caller guarantees that there are this many.
        let given = unsafe { sized::array(options.front_end_options, options.num_front_end_options, MAX_OPTIONS) };
        let given: &[*const c_char] =
            given.ok_or_else(|| Failure::argument("`front_end_options` is NULL, not aligned, or too long"))?;
        let mut texts = Vec::new();
        for &option in given {
            // SAFETY: the caller guarantees that it is a string.
            let option = unsafe { text(option) }?;
            texts.push(option.ok_or_else(|| Failure::argument("an option of the front end is NULL"))?.to_owned());
        }
        if named.is_none() && !texts.is_empty() {
            return Err(Failure::argument("`front_end_options` without `front_end`"));
        }
        let front_ends = FrontEnds { named, options: texts, is_strict };
        if let Some(front_end) = named {
            front_ends.reader(front_end)?;
        }
        Ok(front_ends)
    }

    /// The front end of an input, and its bytes as files have them: tokens in memory have the byte order of the host.
    pub(crate) fn of<'b>(&self, bytes: &'b [u8]) -> (&'static dyn FrontEnd, Cow<'b, [u8]>) {
        let is_tokens = self.named.is_none_or(|front_end| front_end.name() == TGSI_TOKENS.name());
        if is_tokens && cfg!(target_endian = "big") && bytes.len().is_multiple_of(4) && bytes.first() == Some(&0) {
            let words = bytes.as_chunks::<4>().0.iter();
            return (&TGSI_TOKENS, words.flat_map(|&[a, b, c, d]| [d, c, b, a]).collect());
        }
        let front_end = self.named.or_else(|| detect(tgsi_registry::front_ends(), None, bytes));
        (front_end.unwrap_or(&TGSI_TEXT), bytes.into())
    }

    /// A front end with its options set.
    pub(crate) fn reader(&self, front_end: &dyn FrontEnd) -> Result<Box<dyn Reader>, Failure> {
        let mut options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        if self.is_strict && front_end.options().iter().any(|option| option.name == "strict") {
            options.push("strict");
        }
        front_end.reader(&options).map_err(|error| Failure::argument(error.to_string()))
    }
}

fn front_end_named(name: &str) -> Result<&'static dyn FrontEnd, Failure> {
    tgsi_registry::find_front_end(name).ok_or_else(|| {
        let names: Vec<&str> = tgsi_registry::front_ends().iter().map(|front_end| front_end.name()).collect();
        let names = names.join(", ");
        match OF_FEATURES.iter().find(|(front_end, _)| *front_end == name) {
            Some((_, feature)) => Failure::argument(format!(
                "this library has no front end `{name}`: it was built without the feature `{feature}`; there are {names}"
            )),
            None => Failure::argument(format!("no front end `{name}`; there are {names}")),
        }
    })
}

/// Moves the findings and the interface of a reading to a result, and returns the source.
///
/// # Errors
/// A finding is an error.
pub(crate) fn take_reading(
    reading: Reading,
    bytes: &[u8],
    front_end: &dyn FrontEnd,
    result: &mut tgsic_result,
) -> Result<Source<'static>, Failure> {
    let Reading { source, findings, interface, .. } = reading;
    result.add_findings(bytes, front_end, findings)?;
    if interface != Interface::default() {
        result.interface = Some(c_string(&json(&interface)?));
    }
    source.ok_or_else(|| Failure::internal("there is no shader and no error"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_front_ends_name_their_feature() {
        let message = |name| front_end_named(name).err().and_then(|failure| failure.message).unwrap_or_default();
        assert_eq!(message("tgsi"), "");
        assert!(message("glsk").starts_with("no front end `glsk`; there are tgsi, "));
        for (name, feature) in OF_FEATURES {
            let is_missing = message(name).contains(&format!("built without the feature `{feature}`"));
            assert_eq!(is_missing, tgsi_registry::find_front_end(name).is_none());
        }
    }
}
