//! The integration tests of this crate, as one program. Each module tests one subject.

mod alu_cases;
#[path = "../../../tgsi/tests/common/mod.rs"]
mod common;
#[path = "../../../ir/tests/support/layers.rs"]
mod module_paths;

mod alu;
mod corpus;
mod generated;
mod interface;
mod layers;
mod link;
mod memory;
mod textures;
