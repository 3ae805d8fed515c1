//! Running shaders: the environment that all executors share.

pub mod environment;
