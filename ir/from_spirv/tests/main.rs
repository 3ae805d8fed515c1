//! The integration tests of this crate, as one program. Each module tests one subject.

#[path = "../../../tgsi/tests/common/mod.rs"]
mod common;

mod round_trip;
