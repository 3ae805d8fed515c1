//! The integration tests of this crate, as one program. Each module tests one subject.

#[path = "../../harness/tests/runs/mod.rs"]
mod runs;

mod alu;
mod drawn;
mod picture;
mod raster;
mod shaders;
