//! Runners of compiled programs, by the simulators.

mod vertex;

pub use vertex::VertexRunner;
