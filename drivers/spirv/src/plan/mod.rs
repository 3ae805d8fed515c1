//! Decisions made before anything is emitted.

mod classes;

pub use classes::Classes;
