//! Decisions made before anything is emitted.

mod classes;

use tgsi_ir::{Shader, ShaderStage};

pub use classes::Classes;

/// Returns whether invocations form quads; other shaders have derivatives of zero.
pub fn has_derivatives(shader: &Shader) -> bool {
    match shader.stage {
        ShaderStage::Fragment => true,
        ShaderStage::Compute => shader.info.derivative_group != 0,
        _ => false,
    }
}
