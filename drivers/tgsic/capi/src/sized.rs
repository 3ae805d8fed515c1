//! Structs that begin with their size.
//!
//! The caller sets the field `size` to the size of the struct in the header it was compiled with. Fields are only ever
//! added at the end, and zero is the default of every field. So a struct of an older caller reads as if the missing
//! fields were zero, and one of a newer caller is accepted if the fields that this library does not know are zero.

use std::ffi::c_int;
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// A struct of the interface.
///
/// # Safety
/// It is `repr(C)`, its first field is the `usize` named `size`, it has no padding that is read, and all zeros is a
/// valid value.
pub(crate) unsafe trait SizedStruct: Copy {}

/// The reason why a struct is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SizeError {
    /// The size is not that of any version of the struct.
    Size,
    /// A field of a later version is not zero.
    Unknown,
}

impl SizeError {
    /// Returns the message.
    pub(crate) fn message(self, name: &str) -> String {
        match self {
            SizeError::Size => format!("`size` of {name} is not set"),
            SizeError::Unknown => format!("{name} has fields set that this version of the library does not know"),
        }
    }
}

/// The size above which structs are rejected: no struct of the interface is as large.
const MAX_SIZE: usize = 4096;

/// Reads a struct.
///
/// # Safety
/// `pointer` is aligned for `T` and points to a `usize`; if that is at most [`MAX_SIZE`], this many bytes can be read
/// there.
///
/// # Errors
/// [`SizeError`].
pub(crate) unsafe fn read<T: SizedStruct>(pointer: *const T) -> Result<T, SizeError> {
    let own = size_of::<T>();
    // SAFETY: guaranteed by the caller.
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
    // SAFETY: both have this many bytes, and one of them is on this stack.
    unsafe { std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), target, size.min(own)) };
    // SAFETY: bytes that were not copied are zero, which is a valid value by the contract of `SizedStruct`.
    Ok(unsafe { value.assume_init() })
}

/// Writes as much of a struct as the caller's struct can hold. Its `size` stays as the caller set it.
///
/// # Safety
/// As for [`read`], and the bytes can be written.
///
/// # Errors
/// [`SizeError::Size`].
pub(crate) unsafe fn write<T: SizedStruct>(pointer: *mut T, value: &T) -> Result<(), SizeError> {
    const SIZE_FIELD: usize = size_of::<usize>();
    // SAFETY: guaranteed by the caller.
    let size = unsafe { pointer.cast::<usize>().read() };
    if !(SIZE_FIELD..=MAX_SIZE).contains(&size) {
        return Err(SizeError::Size);
    }
    let count = size.min(size_of::<T>()) - SIZE_FIELD;
    // SAFETY: `T` is at least as large as its first field.
    let source = unsafe { std::ptr::from_ref(value).cast::<u8>().add(SIZE_FIELD) };
    // SAFETY: the caller's struct has at least `size` bytes.
    let target = unsafe { pointer.cast::<u8>().add(SIZE_FIELD) };
    // SAFETY: both have this many bytes after their first field, and one of them is local.
    unsafe { std::ptr::copy_nonoverlapping(source, target, count) };
    Ok(())
}

/// Returns bytes that C passed in.
///
/// # Safety
/// Unless `size` is 0, this many bytes can be read at `data` while the result is used.
pub(crate) unsafe fn bytes<'a>(data: *const c_void, size: usize) -> Option<&'a [u8]> {
    if size == 0 {
        return Some(&[]);
    }
    if data.is_null() || size > isize::MAX as usize {
        return None;
    }
    // SAFETY: it is not NULL, the length is possible, and the caller guarantees that they can be read.
    Some(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) })
}

/// Returns an array that C passed in, of at most `most` elements.
///
/// # Safety
/// Unless the count is 0, this many can be read at the pointer while the result is used.
pub(crate) unsafe fn array<'a, T>(pointer: *const T, count: usize, most: usize) -> Option<&'a [T]> {
    if count == 0 {
        return Some(&[]);
    }
    if pointer.is_null() || !pointer.is_aligned() || count > most || count > isize::MAX as usize / size_of::<T>().max(1)
    {
        return None;
    }
    // SAFETY: it is aligned, not NULL, the length is possible, and the caller guarantees that they can be read.
    Some(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Writes a struct for C.
///
/// # Safety
/// The pointer is NULL, or points to a struct of the size that it states.
pub(crate) unsafe fn write_struct<T: SizedStruct>(target: *mut T, value: Option<&T>) -> c_int {
    let Some(value) = value.filter(|_| !target.is_null() && target.is_aligned()) else { return 0 };
    // SAFETY: it is aligned and not NULL, and the caller guarantees the size that it states.
    unsafe { write(target, value) }.is_ok().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    struct TwoNumbers {
        size: usize,
        first: usize,
        second: usize,
    }

    // SAFETY: three words.
    unsafe impl SizedStruct for TwoNumbers {}

    fn read_words(words: &[usize]) -> Result<TwoNumbers, SizeError> {
        // SAFETY: each test states a size that the words have, or one that is rejected.
        unsafe { read(words.as_ptr().cast::<TwoNumbers>()) }
    }

    #[test]
    fn older_and_newer_callers() {
        let word = size_of::<usize>();
        assert_eq!(read_words(&[2 * word, 5]), Ok(TwoNumbers { size: 2 * word, first: 5, second: 0 }));
        assert_eq!(read_words(&[3 * word, 5, 6]), Ok(TwoNumbers { size: 3 * word, first: 5, second: 6 }));
        assert_eq!(read_words(&[4 * word, 5, 6, 0]), Ok(TwoNumbers { size: 4 * word, first: 5, second: 6 }));
        assert_eq!(read_words(&[4 * word, 5, 6, 1]), Err(SizeError::Unknown));
        assert_eq!(read_words(&[0, 5, 6]), Err(SizeError::Size));
        assert_eq!(read_words(&[usize::MAX, 5, 6]), Err(SizeError::Size));
        let mut words = [2 * word, 1, 1, 1];
        let value = TwoNumbers { size: 9, first: 7, second: 8 };
        // SAFETY: there are four words.
        assert_eq!(unsafe { write(words.as_mut_ptr().cast::<TwoNumbers>(), &value) }, Ok(()));
        assert_eq!(words, [2 * word, 7, 1, 1]);
        words[0] = 4 * word;
        // SAFETY: likewise.
        assert_eq!(unsafe { write(words.as_mut_ptr().cast::<TwoNumbers>(), &value) }, Ok(()));
        assert_eq!(words, [4 * word, 7, 8, 1]);
    }
}
