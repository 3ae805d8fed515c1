//! The integration tests of this crate, as one program. Each module tests one subject.

mod programs;

mod many_readers;
mod random_programs;
mod random_targets;
