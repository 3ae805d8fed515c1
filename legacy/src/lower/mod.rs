//! Lowers optimised SSA to trivial register accesses for vec4 machines: [`lower_for_floats`] does all of it for
//! machines that have floats only.
//!
//! # The order, and why
//!
//! | | step | reason for its place |
//! |---|---|---|
//! | 1 | inlines remaining functions, unrolls loops for machines without branches | constant indices must be constant before step 2 turns the others into conditions |
//! | 2 | accesses through run-time indices, to files that have none; inputs and outputs to slots; variables to values | everything below works on values |
//! | 3 | flattens branches, for machines without | needs values, and booleans of one bit: on 32-bit conditions it makes `b32csel` |
//! | 4 | sine and cosine; inverted conditions; differences and selections | need booleans of one bit |
//! | 5 | integers, then the integers of the interface, then booleans to floats | the interface is found by the conversions that the first leaves; comparisons of integers are booleans |
//! | 6 | comparisons and selections to the form of `CMP` | there are only floats now |
//! | 7 | copies, constants, common values, operations of scalar units, indices | the steps before leave such work; an index is a float now |
//! | 8 | operands: splits and shares vectors, forms dot products | last of the passes on values: the passes of step 7 would undo it |
//! | 9 | phis, vectors, arrays to registers; dead code; [`legacy_trivialize()`] | modifiers fold into accesses that exist |
//!
//! Steps 1 to 4 are [`lower_structure`], steps 7 to 9 [`lower_to_registers`]: a target with integers runs its own
//! passes between them.

mod form_dot_products;
mod fuse_sums;
mod lower_control_flow;
mod lower_float_comparisons;
mod lower_interface_integers;
mod lower_periodic;
mod lower_truncated_indices;
mod narrow_broadcasts;
mod nest_selections;
mod reuse_differences;
mod reuse_vectors;
mod split_operands;
mod split_scalar_ops;
mod swap_inverted_sides;

use tgsi_environment::InterfaceIntegers;
use tgsi_ir::alu::AluOp;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline::{finish, into_ssa};
use tgsi_ir::passes::{
    lower_bool_to_float, lower_global_vars_to_local, lower_indirect_derefs, lower_indirect_io,
    lower_indirect_registers, lower_int_to_float, lower_io, lower_vars_to_ssa, opt_constant_folding, opt_copy_prop,
    opt_cse, opt_dce, remove_dead_variables,
};
use tgsi_ir::shader::NO_INLINE;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Inst, Shader};

use crate::convert_from_ssa::ConvertFromSsaOptions;
use crate::modifiers::ModifierPolicy;
use crate::{IsOperand, NO_OPERANDS, convert_from_ssa, legacy_trivialize, lower_locals_to_regs, lower_vec_to_regs};

use form_dot_products::form_dot_products;
pub use fuse_sums::fuse_sums;
use lower_control_flow::{flatten_branches, unroll_loops};
use lower_float_comparisons::{compare_instead_of_select, lower_float_comparisons, make_selections_boolean};
#[doc(hidden)]
pub use lower_interface_integers::is_interface_load;
use lower_interface_integers::lower_interface_integers;
use lower_periodic::lower_periodic;
use lower_truncated_indices::lower_truncated_indices;
use narrow_broadcasts::narrow_broadcasts;
use nest_selections::{Selections, nest_selections};
use reuse_differences::reuse_differences;
use reuse_vectors::reuse_vectors;
use split_operands::{Costs, split_operands};
use split_scalar_ops::split_scalar_ops;
use swap_inverted_sides::swap_inverted_sides;

/// The maximum length of an array of temporaries that is split into values. Longer arrays become registers, because a
/// write through an index needs a number of phis logarithmic in the length.
const LONGEST_SPLIT_ARRAY: u32 = 64;

/// The machine that a shader is lowered for, apart from its [`CompilerOptions`]. The default is a machine with floats
/// only, all of the instructions named here, and all modifiers.
#[derive(Clone)]
pub struct Vec4Target<'a> {
    /// The options of the optimiser for the stage. [`no_indirect`](CompilerOptions::no_indirect) lists the files
    /// without run-time indices.
    pub compiler: CompilerOptions,
    /// Whether passes that are not necessary run.
    pub optimize: bool,
    /// Floats are rounded as in the source.
    pub keep_rounding: bool,
    /// Subroutines stay; otherwise they are inlined.
    pub has_subroutines: bool,
    /// Branches and loops exist. Otherwise loops are unrolled and branches flattened.
    pub has_branches: bool,
    /// Sine and cosine exist. Otherwise a polynomial replaces them, with an error of about 1e-6 for angles of few
    /// turns.
    pub has_periodic: bool,
    /// A selection by sign (`a < 0 ? b : c`) exists.
    pub has_cmp: bool,
    /// Comparisons with the result 1.0 or 0.0 exist. Otherwise a comparison is a selection by a difference.
    pub has_comparisons: bool,
    /// Run-time indices can be truncated or rounded down, by separate instructions or by selections.
    pub has_truncation: bool,
    /// Operands of lookups can be swizzled.
    pub has_swizzled_lookups: bool,
    /// The modifiers of operands and results.
    pub modifiers: ModifierPolicy<'a>,
    /// The values that instructions read in place, such as uniforms and inputs.
    pub is_operand: IsOperand<'a>,
    /// An instruction can read only one constant or immediate; others are copied.
    pub single_constant_operand: bool,
    /// An instruction can read only one input; others are copied.
    pub single_input_operand: bool,
    /// An operand can negate components separately: a vector of components of one value and their negations is an
    /// operand.
    pub per_component_negation: bool,
    /// A later pass joins the copies that form one vector.
    pub merges_copies: bool,
    /// The number of instructions for a selection by sign.
    pub selection_cost: usize,
    /// The number of instructions for a comparison with `==` or `!=`.
    pub equality_cost: usize,
    /// A product that is used only by a sum fuses with the sum into one instruction.
    pub fuses_sums: bool,
    /// Such products fuse here, into `fmad`. Otherwise a later pass fuses them.
    pub forms_multiply_adds: bool,
    /// Operations that the machine computes for one component only: others are split.
    pub is_scalar: &'a dyn Fn(AluOp) -> bool,
    /// Operations that do the same in every component are narrowed to one: the machine pairs instructions on vectors
    /// with instructions on scalars.
    pub narrows_broadcasts: bool,
    /// Dot products may replace sums of products.
    pub forms_dot_products: bool,
    /// Vectors become registers that their components are written to, see [`lower_vec_to_regs`](fn@lower_vec_to_regs).
    pub has_vector_registers: bool,
}

impl Default for Vec4Target<'_> {
    fn default() -> Self {
        Vec4Target {
            compiler: CompilerOptions::default(),
            optimize: true,
            keep_rounding: false,
            has_subroutines: false,
            has_branches: true,
            has_periodic: true,
            has_cmp: true,
            has_comparisons: true,
            has_truncation: true,
            has_swizzled_lookups: true,
            modifiers: ModifierPolicy::ALL,
            is_operand: NO_OPERANDS,
            single_constant_operand: false,
            single_input_operand: false,
            per_component_negation: false,
            merges_copies: false,
            selection_cost: 1,
            equality_cost: 1,
            fuses_sums: false,
            forms_multiply_adds: false,
            is_scalar: &|_| false,
            narrows_broadcasts: false,
            forms_dot_products: true,
            has_vector_registers: false,
        }
    }
}

impl Vec4Target<'_> {
    fn lacks_indirect(&self, mode: VariableModes) -> bool {
        self.compiler.no_indirect.0 & mode.0 != 0
    }
}

/// A property of a shader that a machine with floats only, or without branches, cannot execute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum LowerError {
    /// Floats cannot compute an operation.
    #[error("floats cannot compute {}", op.name())]
    UnsupportedAlu {
        /// The instruction.
        inst: Inst,
        /// Its operation.
        op: AluOp,
    },
    /// A register is used both as an integer and as a float.
    #[error("the loaded value is used both as an integer and as a float")]
    IntegerAndFloat {
        /// A load of the register.
        inst: Inst,
    },
    /// A loop cannot be unrolled.
    #[error("the loop cannot be unrolled, and the target has no loops")]
    Loop {
        /// An instruction in the loop.
        inst: Option<Inst>,
    },
    /// An instruction must not be executed unconditionally.
    #[error("an instruction must not run unless its condition holds, and the target has no branches")]
    Conditional {
        /// The instruction.
        inst: Inst,
    },
}

impl LowerError {
    /// The instruction of the shader that the error is about, if there is one. The compiler finds its place in the
    /// source if `TargetError::inst` returns it.
    pub fn inst(&self) -> Option<Inst> {
        match *self {
            LowerError::UnsupportedAlu { inst, .. }
            | LowerError::IntegerAndFloat { inst }
            | LowerError::Conditional { inst } => Some(inst),
            LowerError::Loop { inst } => inst,
        }
    }
}

/// Lowers a shader in SSA form for a machine with floats only, up to and including the trivialisation of register
/// accesses. Returns the integers of the interface that are floats now.
///
/// # Errors
/// [`LowerError`]. The shader must not be used then.
pub fn lower_for_floats(
    shader: &mut Shader,
    target: &Vec4Target<'_>,
    passes: &mut Passes<'_>,
) -> Result<InterfaceIntegers, LowerError> {
    lower_structure(shader, target, passes)?;
    let interface = lower_to_floats(shader, target, passes)?;
    lower_to_registers(shader, target, passes);
    Ok(interface)
}

/// Lists the integers of a shader in SSA form that [`lower_for_floats`] makes floats.
///
/// # Errors
/// [`LowerError`].
pub fn interface_integers(shader: &mut Shader, target: &Vec4Target<'_>) -> Result<InterfaceIntegers, LowerError> {
    let mut passes = Passes::default();
    lower_variables(shader, target, &mut passes);
    lower_to_floats(shader, target, &mut passes)
}

/// Steps 1 to 4 of the [order](self): control flow, variables and selections.
///
/// # Errors
/// [`LowerError`], for loops and branches.
pub fn lower_structure(
    shader: &mut Shader,
    target: &Vec4Target<'_>,
    passes: &mut Passes<'_>,
) -> Result<(), LowerError> {
    if !target.has_subroutines && shader.functions.len() > 1 {
        // Subroutines kept for another target.
        for function in shader.functions.values_mut() {
            function.attributes.retain(|attribute| attribute != NO_INLINE);
        }
        passes.run_on(shader, "registers:inline_functions", |s| into_ssa(s) | finish(s, &target.compiler));
    }
    if !target.has_branches {
        // Before indices become trees of conditions: many are constant in straight-line code. Counters next to an
        // indexed array are values only after the indices have become conditions.
        let _ = unroll_loops(shader, target, passes);
    }
    lower_variables(shader, target, passes);
    if !target.has_branches {
        unroll_loops(shader, target, passes)?;
        flatten_branches(shader, target, passes)?;
    }
    if !target.has_periodic {
        passes.run_on(shader, "registers:lower_periodic", lower_periodic);
    }
    if target.optimize {
        passes.run_on(shader, "registers:swap_inverted_sides", swap_inverted_sides);
    }
    if target.optimize && target.has_cmp {
        let has_comparisons = target.has_comparisons;
        if !target.keep_rounding {
            passes.run_on(shader, "registers:reuse_differences", |s| reuse_differences(s, has_comparisons));
        }
        let selections = Selections { has_comparisons, cost: target.selection_cost };
        passes.run_on(shader, "registers:nest_selections", |s| nest_selections(s, selections));
    }
    Ok(())
}

/// Lowers accesses to inputs and outputs to slots, other variables to SSA values, and indices that the target does not
/// support.
fn lower_variables(shader: &mut Shader, target: &Vec4Target<'_>, passes: &mut Passes<'_>) {
    let unshared = passes.run_on(shader, "registers:lower_global_vars_to_local", lower_global_vars_to_local)
        && shader.functions.len() > 1;
    let direct = lower_indirect(shader, target, passes);
    let interface = VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT);
    passes.run_on(shader, "registers:lower_io", |s| lower_io(s, interface));
    passes.run_on(shader, "registers:lower_vars_to_ssa", lower_vars_to_ssa);
    if direct || unshared {
        // Cleans up equal conditions, elements that are never written, and sides that compute the same.
        passes.run_on(shader, "registers:finish", |s| finish(s, &target.compiler));
    }
    if target.lacks_indirect(VariableModes::FUNCTION_TEMP) {
        passes.run_on(shader, "registers:lower_locals_to_regs", |s| lower_locals_to_regs(s, 1));
        passes.run_on(shader, "registers:lower_indirect_registers", lower_indirect_registers);
    }
}

/// Makes accesses through run-time indices direct where the target cannot address the file indirectly. Returns whether
/// there were any.
fn lower_indirect(shader: &mut Shader, target: &Vec4Target<'_>, passes: &mut Passes<'_>) -> bool {
    let missing = target.compiler.no_indirect;
    let interface = VariableModes(missing.0 & (VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0));
    let mut progress =
        passes.run_on(shader, "registers:lower_indirect_derefs", |s| lower_indirect_derefs(s, interface, u32::MAX));
    progress |= passes.run_on(shader, "registers:lower_indirect_io", |s| lower_indirect_io(s, missing));
    if target.lacks_indirect(VariableModes::FUNCTION_TEMP) {
        let temporaries = VariableModes::FUNCTION_TEMP;
        progress |= passes.run_on(shader, "registers:lower_indirect_derefs", |s| {
            lower_indirect_derefs(s, temporaries, LONGEST_SPLIT_ARRAY)
        });
    }
    progress
}

/// Lowers integers and booleans to floats: steps 5 and 6 of the [order](self).
fn lower_to_floats(
    shader: &mut Shader,
    target: &Vec4Target<'_>,
    passes: &mut Passes<'_>,
) -> Result<InterfaceIntegers, LowerError> {
    let mut lowered = Ok(false);
    // Indices are truncated numbers, and an address register takes the floor: keep truncations until selection.
    let compiler = CompilerOptions { lower_ftrunc: false, ..target.compiler.clone() };
    passes.run_on(shader, "registers:lower_int_to_float", |s| {
        lowered = lower_int_to_float(s, &compiler);
        matches!(lowered, Ok(true))
    });
    lowered.map_err(|error| LowerError::UnsupportedAlu { inst: error.inst, op: error.op })?;
    let mut interface = Ok(InterfaceIntegers::default());
    passes.run_on(shader, "registers:lower_interface_integers", |s| {
        interface = lower_interface_integers(s);
        interface.is_ok()
    });
    let interface = interface?;
    passes.run_on(shader, "registers:make_selections_boolean", make_selections_boolean);
    passes.run_on(shader, "registers:lower_bool_to_float", lower_bool_to_float);
    if target.has_cmp {
        passes.run_on(shader, "registers:lower_float_comparisons", |s| {
            lower_float_comparisons(s, target.has_comparisons)
        });
    }
    Ok(interface)
}

/// Steps 7 to 9 of the [order](self): from values without one-bit booleans to trivial register accesses.
pub fn lower_to_registers(shader: &mut Shader, target: &Vec4Target<'_>, passes: &mut Passes<'_>) {
    while passes.run_on(shader, "registers:opt_copy_prop", opt_copy_prop) {
        passes.run_on(shader, "registers:opt_dce", opt_dce);
    }
    // Lowered comparisons have become differences, perhaps of negated constants.
    if !target.has_comparisons {
        passes.run_on(shader, "registers:opt_constant_folding", opt_constant_folding);
    }
    if target.optimize
        && target.narrows_broadcasts
        && passes.run_on(shader, "registers:narrow_broadcasts", narrow_broadcasts)
    {
        passes.run_on(shader, "registers:opt_copy_prop", opt_copy_prop);
        passes.run_on(shader, "registers:opt_dce", opt_dce);
    }
    if passes.run_on(shader, "registers:split_scalar_ops", |s| split_scalar_ops(s, target.is_scalar)) {
        // Single components of the vectors are read directly.
        passes.run_on(shader, "registers:opt_copy_prop", opt_copy_prop);
    }
    passes.run_on(shader, "registers:opt_cse", opt_cse);
    if target.optimize && !target.has_truncation {
        passes.run_on(shader, "registers:lower_truncated_indices", lower_truncated_indices);
    }
    if target.optimize {
        simplify_operands(shader, target, passes);
    }
    if target.optimize && target.fuses_sums && target.forms_multiply_adds {
        passes.run_on(shader, "registers:fuse_sums", |s| fuse_sums(s, AluOp::Fmad));
    }
    passes.run_on(shader, "registers:opt_dce", opt_dce);
    let temporaries = VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP);
    passes.run_on(shader, "registers:remove_dead_variables", |s| remove_dead_variables(s, temporaries));

    let no_divergence = ConvertFromSsaOptions::default();
    let mut progress = passes.run_on(shader, "registers:convert_from_ssa", |s| convert_from_ssa(s, no_divergence));
    if target.has_vector_registers {
        // A register holds two 64-bit values, so instructions on them must not be widened.
        let narrow = |body: &Body, producer: Inst, _: u32| {
            let sources = body.sources(producer).map(|source| body.src_def(source));
            body.inst_def(producer).into_iter().chain(sources).all(|def| body.bit_size(def) != 64)
        };
        progress |= passes.run_on(shader, "registers:lower_vec_to_regs", |s| lower_vec_to_regs(s, Some(&narrow)));
    }
    progress |= passes.run_on(shader, "registers:lower_locals_to_regs", |s| lower_locals_to_regs(s, 32));
    if progress {
        passes.run_on(shader, "registers:opt_dce", opt_dce);
        passes.run_on(shader, "registers:compact", |s| {
            s.bodies_mut().fold(false, |progress, body| body.compact(true) | progress)
        });
    }
    passes.run_on(shader, "registers:legacy_trivialize", |s| legacy_trivialize(s, target.modifiers, target.is_operand));
    #[cfg(debug_assertions)]
    if let Err(violations) = crate::check::check(shader, target.modifiers, target.is_operand) {
        log::error!("register accesses are not trivial: {violations:?}");
        debug_assert!(false, "register accesses are not trivial: {violations:?}");
    }
}

/// Step 8 of the [order](self).
fn simplify_operands(shader: &mut Shader, target: &Vec4Target<'_>, passes: &mut Passes<'_>) {
    let costs = Costs {
        single_constant_operand: target.single_constant_operand,
        single_input_operand: target.single_input_operand,
        per_component_negation: target.per_component_negation,
        merges_copies: target.merges_copies,
        selection: target.selection_cost,
        equality: target.equality_cost,
        fuses_sums: target.fuses_sums,
    };
    let swizzled_lookups = target.has_swizzled_lookups;
    // Vectors that are shared must not be split.
    let reused = passes.run_on(shader, "registers:reuse_vectors", |s| reuse_vectors(s, swizzled_lookups));
    let mut progress = passes.run_on(shader, "registers:split_operands", |s| split_operands(s, costs));
    progress |= target.selection_cost > 1
        && passes.run_on(shader, "registers:compare_instead_of_select", compare_instead_of_select);
    if progress {
        passes.run_on(shader, "registers:opt_copy_prop", opt_copy_prop);
    }
    if reused || progress {
        passes.run_on(shader, "registers:reuse_vectors", |s| reuse_vectors(s, swizzled_lookups));
    }
    if target.forms_dot_products {
        passes.run_on(shader, "registers:form_dot_products", |s| form_dot_products(s, target.compiler.fdot_replicates));
    }
}
