//! The integration tests of this crate, as one program. Each module tests one subject.

#[path = "../../../../tgsi/tests/common/mod.rs"]
mod common;
mod read_back;

mod corpus;
mod execution;
mod linkers;
mod places;
mod texts;
