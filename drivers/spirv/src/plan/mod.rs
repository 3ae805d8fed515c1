//! What is decided before anything is emitted.

mod classes;

pub use classes::Classes;
