//! Lowering: the passes of the IR that take away what the target lacks, and those of this driver.

use tgsi_ir::Shader;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::profiles::Profile;

use crate::error::SpirvError;
use crate::options::SpirvOptions;

/// Lowers optimised SSA to what [`emit`](crate::emit) takes.
///
/// # Errors
/// [`SpirvError`].
pub fn lower(shader: &mut Shader, options: &SpirvOptions, passes: &mut Passes<'_>) -> Result<(), SpirvError> {
    let compiler_options = options.compiler_options(shader.stage);
    if !options.float64 || !options.int64 {
        if let Some(narrow) = Profile::from_name("narrow") {
            narrow.run(shader, &compiler_options, passes);
        }
    }
    Ok(())
}
