//! Lowering: the IR passes that convert optimised SSA to the form that `program` expects.

use tgsi_ir::Shader;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::{Passes, run_pass};
use tgsi_ir::passes::table::Pass;
use tgsi_ir::passes::table::rows::*;
use tgsi_ir::shader::NO_INLINE;
use tgsi_registers::lower_locals_to_regs;

/// The passes, in order.
const PASSES: &[Pass] = &[
    inline_functions,
    lower_returns,
    lower_global_vars_to_local,
    lower_var_copies,
    opt_large_constants,
    lower_io,
    lower_bool_to_int32,
    opt_copy_prop,
    opt_constant_folding,
    opt_cse,
    opt_dce,
];

/// Returns the properties of the target for the optimiser.
pub(crate) fn compiler_options() -> CompilerOptions {
    CompilerOptions { vector_target: false, has_bfe: true, has_bfi: true, has_bfm: true, ..CompilerOptions::default() }
}

/// Lowers optimised SSA.
pub(crate) fn lower(shader: &mut Shader, passes: &mut Passes<'_>) {
    let options = compiler_options();
    // Generated code has no calls: functions that another target keeps out of line are inlined, too.
    for function in shader.functions.values_mut() {
        function.attributes.retain(|attribute| attribute != NO_INLINE);
    }
    for &pass in PASSES {
        passes.run(shader, pass, &options);
    }
    // The remaining arrays have dynamic indices.
    let name = "cpu:lower_locals_to_regs";
    let lowered = passes.run_driver(name, || run_pass(shader, name, |s| lower_locals_to_regs(s, 32)));
    if lowered {
        passes.run(shader, opt_dce, &options);
    }
}
