//! The integration tests of this crate, as one program. Each module tests one subject.

#[path = "../../../tgsi/tests/common/mod.rs"]
mod common;
mod indirect;
mod lookups;

mod agreement;
mod interface;
mod known_units;
mod large;
mod memory;
mod objects;
mod opcodes;
mod textures;
