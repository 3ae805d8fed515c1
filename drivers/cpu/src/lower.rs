//! Lowering: the passes of the IR that bring optimised SSA into the form that [`crate::program`] takes.

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

/// What the optimiser must know of the target.
pub fn compiler_options() -> CompilerOptions {
    CompilerOptions { vector_target: false, has_bfe: true, has_bfi: true, has_bfm: true, ..CompilerOptions::default() }
}

/// Lowers optimised SSA.
pub fn lower(shader: &mut Shader, passes: &mut Passes<'_>) {
    let options = compiler_options();
    // There are no calls here, whatever another target wanted.
    for function in shader.functions.values_mut() {
        function.remarks.retain(|remark| remark != NO_INLINE);
    }
    for &pass in PASSES {
        passes.run(shader, pass, &options);
    }
    // Arrays that are left have run-time indices.
    let name = "cpu:lower_locals_to_regs";
    let lowered = passes.run_driver(name, || run_pass(shader, name, |s| lower_locals_to_regs(s, 32)));
    if lowered {
        passes.run(shader, opt_dce, &options);
    }
}
