//! Tests of the whole crate.

mod mesa;
