//! Lowers inputs, outputs, system values, uniforms, counters and textures.

pub mod lower_atomics_to_ssbo;
pub mod lower_explicit_access;
pub mod lower_gradients;
pub mod lower_io;
pub mod lower_sample_positions;
pub mod lower_samplers;
pub mod lower_samples_identical;
pub mod lower_system_values;
pub mod lower_uniforms_to_ubo;
pub mod lower_wide_io;
pub mod texture_edit;

pub use lower_atomics_to_ssbo::lower_atomics_to_ssbo;
pub use lower_explicit_access::lower_explicit_access;
pub use lower_gradients::lower_gradients;
pub use lower_io::{lower_io, lower_io_where};
pub use lower_sample_positions::lower_sample_positions;
pub use lower_samplers::lower_samplers;
pub use lower_samples_identical::lower_samples_identical;
pub use lower_system_values::lower_system_values;
pub use lower_uniforms_to_ubo::lower_uniforms_to_ubo;
pub use lower_wide_io::lower_wide_io;
