//! Emits the finished shader: declarations, properties, packed immediates, labels, and adaptation to the dialect.

mod declarations;
pub(crate) mod finish;
pub(crate) mod finish_virgl;
pub(crate) mod interface;
mod properties;
