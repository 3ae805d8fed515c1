//! The integration tests of this crate, one module per subject.

#[path = "../../../tgsi/tests/common/mod.rs"]
mod common;
mod compile;
#[path = "../../../ir/tests/support/layers.rs"]
mod module_paths;

mod accesses;
mod constructs;
mod corpus;
mod damaged;
mod errors;
mod every_alu_op;
mod fit;
mod indirect;
mod large;
mod layers;
mod schedules;
mod stores;
mod virgl_host;
