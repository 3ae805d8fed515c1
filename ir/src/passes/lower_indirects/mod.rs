//! Lowers run-time indices.

pub mod index_tree;
pub mod lower_indirect_derefs;
pub mod lower_indirect_io;
pub mod lower_indirect_registers;

pub use lower_indirect_derefs::lower_indirect_derefs;
pub use lower_indirect_io::lower_indirect_io;
pub use lower_indirect_registers::lower_indirect_registers;
