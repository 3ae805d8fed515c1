//! The version of the library.

use std::ffi::{CStr, c_char};

/// The version that the header belongs to: major in bits 16 to 31, minor in 8 to 15, patch in 0 to 7.
pub const TGSIC_VERSION: u32 = 0x0000_0100;

const VERSION_TEXT: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(text) => text,
    Err(_) => c"",
};

const BUILD_ID: &CStr = match CStr::from_bytes_with_nul(concat!(env!("TGSIC_BUILD_ID"), "\0").as_bytes()) {
    Ok(text) => text,
    Err(_) => c"",
};

/// Returns the version of the loaded library, in the form of `TGSIC_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn tgsic_version() -> u32 {
    TGSIC_VERSION
}

/// Returns the version of the loaded library as text: `0.1.0`. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tgsic_version_string() -> *const c_char {
    VERSION_TEXT.as_ptr()
}

/// Returns a text that changes with the source of the library, for the keys of caches. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tgsic_build_id() -> *const c_char {
    BUILD_ID.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_text_agree() {
        let parts: Vec<u32> =
            env!("CARGO_PKG_VERSION").split('.').map(|part| part.parse().expect("a number")).collect();
        assert_eq!(TGSIC_VERSION, parts[0] << 16 | parts[1] << 8 | parts[2]);
        assert_eq!(VERSION_TEXT.to_str(), Ok(env!("CARGO_PKG_VERSION")));
        assert_eq!(BUILD_ID.count_bytes(), 16);
    }
}
