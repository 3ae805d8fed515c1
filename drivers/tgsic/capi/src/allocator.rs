//! Memory that the caller keeps: from its allocator, or from `malloc`.

use std::ffi::c_void;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
}

/// Allocates memory that is aligned for any type, as `malloc` does. Returns NULL if there is no memory.
pub type tgsic_allocate_function = Option<unsafe extern "C" fn(user: *mut c_void, size: usize) -> *mut c_void>;

/// Allocates the memory that `tgsic_result_copy` returns.
///
/// The function may be called from each thread that uses the compiler, at the same time. All zero means `malloc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_allocator {
    /// The function; NULL for `malloc`.
    pub allocate: tgsic_allocate_function,
    /// Its first argument.
    pub user: *mut c_void,
}

// SAFETY: the interface requires that the function may be called from any thread; the pointer is only passed to it.
unsafe impl Send for tgsic_allocator {}
// SAFETY: likewise.
unsafe impl Sync for tgsic_allocator {}

impl tgsic_allocator {
    /// Returns a copy of some bytes for the caller to free; NULL if there is no memory.
    pub(crate) fn copy(&self, bytes: &[u8]) -> *mut c_void {
        // `malloc(0)` may be NULL.
        let size = bytes.len().max(1);
        let memory = match self.allocate {
            // SAFETY: the caller passed the function for this.
            Some(allocate) => unsafe { allocate(self.user, size) },
            // SAFETY: `malloc` accepts any size.
            None => unsafe { malloc(size) },
        };
        if !memory.is_null() {
            // SAFETY: it has `size` bytes, is not NULL, and is not shared yet.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.cast::<u8>(), bytes.len()) };
        }
        memory
    }
}
