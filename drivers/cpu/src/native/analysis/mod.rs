//! The operations that become machine code, and the memory that they access. No file here knows Cranelift.

#[cfg(feature = "machine-code")]
pub(super) mod accesses;
#[cfg(feature = "machine-code")]
pub(super) mod gathers;
#[cfg(feature = "machine-code")]
mod invariants;
#[cfg(feature = "machine-code")]
pub(super) mod known_units;
#[cfg(feature = "machine-code")]
pub(super) mod regions;
pub(super) mod slots;
#[cfg(feature = "machine-code")]
pub(super) mod uniforms;
