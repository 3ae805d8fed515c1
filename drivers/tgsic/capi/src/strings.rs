//! Strings for C.

use std::ffi::{CString, c_char};

use serde::Serialize;

use crate::failure::Failure;

/// Creates a string without embedded NULs.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default())
}

/// Returns a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::internal(error.to_string()))
}

/// The strings that the fields of a struct point to.
pub(crate) struct CStrings(Vec<CString>);

impl CStrings {
    pub(crate) fn new<'s>(texts: impl Iterator<Item = &'s str>) -> CStrings {
        CStrings(texts.map(c_string).collect())
    }

    /// Returns the string of this index; NULL if there are fewer.
    pub(crate) fn pointer(&self, index: usize) -> *const c_char {
        self.0.get(index).map_or(std::ptr::null(), |string| string.as_ptr())
    }
}
