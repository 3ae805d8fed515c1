//! The integration tests of this crate, as one program. Each module tests one subject.

mod agreement;
mod pair;
mod values;
