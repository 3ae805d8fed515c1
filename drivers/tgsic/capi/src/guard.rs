//! Stops panics at the boundary to C.
//!
//! A panic in the library is a defect of the library, not of the shader. It becomes an [`InternalError`] with the
//! position in the source; nothing is printed.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Number of calls of the library on the stack of this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The position of the current panic.
    static POSITION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A defect of the library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct InternalError {
    /// The message of the panic, with its position in the source.
    pub message: String,
}

/// Runs the body of a function of the interface.
///
/// # Errors
/// It panicked.
pub(crate) fn guarded<T>(body: impl FnOnce() -> T) -> Result<T, InternalError> {
    silence_panics();
    DEPTH.set(DEPTH.get() + 1);
    // Values that the body was changing are dropped and never used again.
    let result = catch_unwind(AssertUnwindSafe(body));
    DEPTH.set(DEPTH.get() - 1);
    result.map_err(|payload| InternalError { message: message(&*payload) })
}

/// Marks a thread as running only the library, so that panics print nothing there either.
#[cfg(feature = "run")]
pub(crate) fn is_of_library() {
    DEPTH.set(1);
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned());
    match POSITION.take() {
        Some(position) => format!("internal error at {position}: {text}"),
        None => format!("internal error: {text}"),
    }
}

/// Silences panics inside the library. Panics of other Rust code in a program that links the static library are printed
/// as before.
fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            if DEPTH.get() == 0 {
                previous(info);
            } else {
                POSITION.set(info.location().map(ToString::to_string));
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_a_position() {
        let error = guarded(|| -> u32 { panic!("number {}", 7) }).expect_err("an error");
        assert!(error.message.starts_with("internal error at "), "{error:?}");
        assert!(error.message.contains("guard.rs:") && error.message.ends_with(": number 7"), "{error:?}");
        assert_eq!(guarded(|| 3), Ok(3));
        assert_eq!(DEPTH.get(), 0);
    }
}
