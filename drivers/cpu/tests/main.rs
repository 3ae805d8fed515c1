//! The integration tests of this crate, as one program. Each module tests one subject.

#[path = "../../../tgsi/tests/common/mod.rs"]
mod common;
mod indirect;
#[path = "../../../ir/tests/support/layers.rs"]
mod layer_rules;
mod lookups;

mod agreement;
mod interface;
mod known_units;
mod large;
mod layers;
mod memory;
mod objects;
mod opcodes;
mod textures;
