//! Structs that begin with their size.
//!
//! The caller sets the field `size` to the size that the struct has in the header it was compiled with. Fields are only
//! ever added at the end, and zero is the default of every field. So a struct of an older caller reads as if the fields
//! that it lacks were zero, and one of a newer caller is taken if the fields that this library does not know are zero.

use std::ffi::c_void;
use std::mem::MaybeUninit;

/// A struct of the interface.
///
/// # Safety
/// It is `repr(C)`, its first field is the `usize` named `size`, it has no padding that is read, and all of it being zero
/// is a valid value.
pub(crate) unsafe trait SizedStruct: Copy {}

/// Why a struct cannot be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SizeError {
    /// The size is not that of any version of the struct.
    Size,
    /// A field that a later version has is not zero.
    Unknown,
}

impl SizeError {
    /// For messages.
    pub(crate) fn message(self, name: &str) -> String {
        match self {
            SizeError::Size => format!("`size` of {name} is not set"),
            SizeError::Unknown => format!("{name} has fields set that this version of the library does not know"),
        }
    }
}

/// Sizes above this are not those of a struct of the interface.
const MAX_SIZE: usize = 4096;

/// Reads a struct.
///
/// # Safety
/// `pointer` is aligned for `T` and points to a `usize`; if that is at most [`MAX_SIZE`], so many bytes can be read there.
///
/// # Errors
/// [`SizeError`].
pub(crate) unsafe fn read<T: SizedStruct>(pointer: *const T) -> Result<T, SizeError> {
    let own = size_of::<T>();
    // SAFETY: the caller says so.
    let size = unsafe { pointer.cast::<usize>().read() };
    if !(size_of::<usize>()..=MAX_SIZE).contains(&size) {
        return Err(SizeError::Size);
    }
    if size > own {
        // SAFETY: within the `size` bytes that can be read.
        let start = unsafe { pointer.cast::<u8>().add(own) };
        // SAFETY: likewise.
        let rest = unsafe { std::slice::from_raw_parts(start, size - own) };
        if rest.iter().any(|&byte| byte != 0) {
            return Err(SizeError::Unknown);
        }
    }
    let mut value = MaybeUninit::<T>::zeroed();
    let target = value.as_mut_ptr().cast::<u8>();
    // SAFETY: both have so many bytes, and one of them is on our stack.
    unsafe { std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), target, size.min(own)) };
    // SAFETY: bytes that were not copied are zero, which `SizedStruct` says is a valid value.
    Ok(unsafe { value.assume_init() })
}

/// Writes as much of a struct as the caller has room for. Its `size` stays as the caller set it.
///
/// # Safety
/// As for [`read`], and the bytes can be written.
///
/// # Errors
/// [`SizeError::Size`].
pub(crate) unsafe fn write<T: SizedStruct>(pointer: *mut T, value: &T) -> Result<(), SizeError> {
    const SIZE_FIELD: usize = size_of::<usize>();
    // SAFETY: the caller says so.
    let size = unsafe { pointer.cast::<usize>().read() };
    if !(SIZE_FIELD..=MAX_SIZE).contains(&size) {
        return Err(SizeError::Size);
    }
    let count = size.min(size_of::<T>()) - SIZE_FIELD;
    // SAFETY: `T` is at least as large as its first field.
    let source = unsafe { std::ptr::from_ref(value).cast::<u8>().add(SIZE_FIELD) };
    // SAFETY: the caller's struct has at least `size` bytes.
    let target = unsafe { pointer.cast::<u8>().add(SIZE_FIELD) };
    // SAFETY: both have so many bytes after their first field, and one of them is ours.
    unsafe { std::ptr::copy_nonoverlapping(source, target, count) };
    Ok(())
}

/// Bytes that C passed in.
///
/// # Safety
/// Unless `size` is 0, so many bytes can be read at `data` for as long as the result is used.
pub(crate) unsafe fn bytes<'a>(data: *const c_void, size: usize) -> Option<&'a [u8]> {
    if size == 0 {
        return Some(&[]);
    }
    if data.is_null() || size > isize::MAX as usize {
        return None;
    }
    // SAFETY: it is not NULL, the length is possible, and the caller says that they can be read.
    Some(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) })
}

/// An array that C passed in, of at most so many elements.
///
/// # Safety
/// Unless the count is 0, so many can be read at the pointer for as long as the result is used.
pub(crate) unsafe fn array<'a, T>(pointer: *const T, count: usize, most: usize) -> Option<&'a [T]> {
    if count == 0 {
        return Some(&[]);
    }
    if pointer.is_null() || !pointer.is_aligned() || count > most || count > isize::MAX as usize / size_of::<T>().max(1)
    {
        return None;
    }
    // SAFETY: it is aligned, not NULL, the length is possible, and the caller says that they can be read.
    Some(unsafe { std::slice::from_raw_parts(pointer, count) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    struct Two {
        size: usize,
        first: usize,
        second: usize,
    }

    // SAFETY: three words.
    unsafe impl SizedStruct for Two {}

    fn read_words(words: &[usize]) -> Result<Two, SizeError> {
        // SAFETY: each test states a size that the words have, or one that is refused.
        unsafe { read(words.as_ptr().cast::<Two>()) }
    }

    #[test]
    fn older_and_newer_callers() {
        let word = size_of::<usize>();
        assert_eq!(read_words(&[2 * word, 5]), Ok(Two { size: 2 * word, first: 5, second: 0 }));
        assert_eq!(read_words(&[3 * word, 5, 6]), Ok(Two { size: 3 * word, first: 5, second: 6 }));
        assert_eq!(read_words(&[4 * word, 5, 6, 0]), Ok(Two { size: 4 * word, first: 5, second: 6 }));
        assert_eq!(read_words(&[4 * word, 5, 6, 1]), Err(SizeError::Unknown));
        assert_eq!(read_words(&[0, 5, 6]), Err(SizeError::Size));
        assert_eq!(read_words(&[usize::MAX, 5, 6]), Err(SizeError::Size));
        let mut words = [2 * word, 1, 1, 1];
        let value = Two { size: 9, first: 7, second: 8 };
        // SAFETY: there are four words.
        assert_eq!(unsafe { write(words.as_mut_ptr().cast::<Two>(), &value) }, Ok(()));
        assert_eq!(words, [2 * word, 7, 1, 1]);
        words[0] = 4 * word;
        // SAFETY: likewise.
        assert_eq!(unsafe { write(words.as_mut_ptr().cast::<Two>(), &value) }, Ok(()));
        assert_eq!(words, [4 * word, 7, 8, 1]);
    }
}
