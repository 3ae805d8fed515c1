//! The finished shader: declarations, properties, packed immediates, labels, and the last word of a dialect on all of
//! it.

mod declarations;
pub(crate) mod finish;
pub(crate) mod finish_virgl;
pub(crate) mod interface;
mod properties;
