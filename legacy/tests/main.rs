//! The integration tests of this crate, one module per subject.

mod programs;

mod many_readers;
mod random_programs;
mod random_targets;
mod select;
