//! Findings about shaders, in one form for all languages: front ends, the compiler and drivers report [`Diagnostic`]s
//! with a [`Span`] of the source, a [`ErrorCode`], notes and a hint.
//!
//! # Invariants
//!
//! - A span counts bytes of a text, or words of a binary form; which of the two depends on the language of the source.
//! - A [`ErrorCode`] is never reused for another kind of error.

mod code;
mod diagnostic;
mod span;
mod suggest;

pub use code::ErrorCode;
pub use diagnostic::{Diagnostic, Focus, LineIndex, Note, Severity, sort_by_start};
pub use span::Span;
pub use suggest::suggest;

#[doc(hidden)]
pub use thiserror;
