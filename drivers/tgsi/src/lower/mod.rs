//! Lowering: from optimised SSA to IR in register form of which every instruction has a TGSI form. What comes out is still IR and can be run.

mod choose_boolean_form;
mod lower_boolean_words;
mod lower_outside_integers;
mod lower_wide_vectors;

use tgsi_ir::options::{CompilerOptions, Int64Ops};
use tgsi_ir::passes::pipeline::finish;
use tgsi_ir::passes::{
    lower_bool_to_float, lower_bool_to_int32, lower_frexp, lower_global_vars_to_local, lower_indirect_derefs,
    lower_indirect_io, lower_indirect_registers, lower_int_to_float, lower_int64, lower_io, lower_pack,
    lower_vars_to_ssa, opt_copy_prop, opt_cse, opt_dce, remove_dead_variables,
};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Inst, Shader};
use tgsi_legacy::{convert_from_ssa, legacy_trivialize, lower_locals_to_regs, lower_vec_to_regs};

use crate::DriverError;
use crate::options::{Dialect, IndirectFiles, TgsiOptions};

pub(crate) use lower_outside_integers::comes_from_outside;
pub use lower_outside_integers::{EVERY_REGISTER, OutsideIntegers};

/// Longest array of temporaries of which each element becomes values: beyond it they become registers, because a write to any of them takes as many phis as the
/// array's length has bits.
const LONGEST_SPLIT_ARRAY: u32 = 64;

/// Makes accesses by run-time indices direct where the target cannot address the file otherwise. Returns whether there were any.
fn lower_indirect(shader: &mut Shader, files: &IndirectFiles) -> bool {
    let mode = |can: bool, modes: VariableModes| if can { VariableModes::NONE } else { modes };
    let inputs = mode(files.inputs, VariableModes::SHADER_IN);
    let outputs = mode(files.outputs, VariableModes::SHADER_OUT);
    let constants = mode(files.constants, VariableModes::UNIFORM.union(VariableModes::MEM_UBO));
    let mut progress = lower_indirect_derefs(shader, inputs.union(outputs), u32::MAX);
    progress |= lower_indirect_io(shader, inputs.union(outputs).union(constants));
    if !files.temporaries {
        progress |= lower_indirect_derefs(shader, VariableModes::FUNCTION_TEMP, LONGEST_SPLIT_ARRAY);
    }
    progress
}

/// What a target without integers must find floats in to run what [`translate`](crate::translate) makes of a shader in SSA form for it.
///
/// # Errors
/// [`DriverError`]: what floats cannot compute.
pub fn outside_integers(shader: &Shader, options: &TgsiOptions) -> Result<OutsideIntegers, DriverError> {
    let mut shader = shader.clone();
    lower_variables(&mut shader, options);
    lower_to_floats(&mut shader)
}

/// Accesses to inputs and outputs name slots, other variables become SSA values, indices that the target cannot use are gone.
fn lower_variables(shader: &mut Shader, options: &TgsiOptions) {
    let files = &options.indirect;
    lower_global_vars_to_local(shader);
    let direct = lower_indirect(shader, files);
    lower_io(shader, VariableModes(VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0));
    lower_vars_to_ssa(shader);
    if direct {
        // Conditions that are the same, elements that nobody writes, and sides that make the same.
        finish(shader, &options.compiler_options());
    }
    lower_wide_vectors::lower_wide_vectors(shader);
    if options.dialect == Dialect::Virgl && lower_unknown_words(shader) {
        finish(shader, &options.compiler_options());
    }
    if !files.temporaries {
        lower_locals_to_regs(shader, 1);
        lower_indirect_registers(shader);
    }
}

/// What virgl's hosts have no words for: integers of 64 bits, packed numbers, fractions and exponents.
fn lower_unknown_words(shader: &mut Shader) -> bool {
    let options = CompilerOptions {
        lower_int64: Int64Ops::ALL,
        lower_frexp: true,
        lower_pack_vectors: true,
        ..CompilerOptions::default()
    };
    let mut progress = lower_frexp(shader, &options);
    progress |= lower_int64(shader, &options);
    progress | lower_pack(shader, &options)
}

/// No integers and booleans.
fn lower_to_floats(shader: &mut Shader) -> Result<OutsideIntegers, DriverError> {
    lower_int_to_float(shader).map_err(|error| DriverError::UnsupportedAlu { inst: error.inst, op: error.op })?;
    let outside = lower_outside_integers::lower_outside_integers(shader)?;
    lower_bool_to_float(shader);
    Ok(outside)
}

/// Lowers a shader in SSA form for selection, up to and including the trivialisation of register accesses.
///
/// # Errors
/// [`DriverError`]: what a target without integers cannot compute.
pub fn lower(shader: &mut Shader, options: &TgsiOptions) -> Result<(), DriverError> {
    lower_variables(shader, options);
    if options.native_integers {
        lower_bool_to_int32(shader);
    } else {
        lower_to_floats(shader)?;
    }
    loop {
        let mut progress = options.native_integers && lower_boolean_words::lower_boolean_words(shader);
        progress |= opt_copy_prop(shader);
        if !progress {
            break;
        }
        opt_dce(shader);
    }
    if options.native_integers && choose_boolean_form::choose_boolean_form(shader) {
        opt_copy_prop(shader);
    }
    opt_cse(shader);
    opt_dce(shader);
    remove_dead_variables(shader, VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0));

    let mut progress = convert_from_ssa(shader);
    if options.vec_to_regs {
        // A register holds two 64-bit values, so what works on them is not to be widened.
        let narrow = |body: &Body, maker: Inst, _: u32| {
            body.inst_def(maker)
                .into_iter()
                .chain(body.sources(maker).map(|s| body.src_def(s)))
                .all(|def| body.bit_size(def) != 64)
        };
        progress |= lower_vec_to_regs(shader, Some(&narrow));
    }
    progress |= lower_locals_to_regs(shader, 32);
    if progress {
        opt_dce(shader);
        for body in shader.bodies_mut() {
            body.compact();
        }
    }
    legacy_trivialize(shader, options.fuse_fabs);
    Ok(())
}
