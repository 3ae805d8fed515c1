//! The table of passes, for the command line and the manual.

use tgsi_ir::Shader;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::table::PassFn;

use crate::convert_from_ssa::ConvertFromSsaOptions;
use crate::modifiers::ModifierPolicy;
use crate::move_vec_src_uses_to_dest::MoveVecSrcOptions;
use crate::trivialize_registers::NO_OPERANDS;

/// A row of the table.
#[derive(Debug)]
pub struct PassInfo {
    /// The name of the pass, its function and its file.
    pub name: &'static str,
    /// One sentence about its effect.
    pub about: &'static str,
    /// Runs it, with the usual options where its function takes any.
    pub run: PassFn,
}

const fn row(name: &'static str, about: &'static str, run: PassFn) -> PassInfo {
    PassInfo { name, about, run }
}

/// The register passes, in the order in which backends run them.
pub static PASSES: &[PassInfo] = &[
    row("convert_from_ssa", "Converts phis to registers.", |s, _| {
        crate::convert_from_ssa(s, ConvertFromSsaOptions::default())
    }),
    row("move_vec_src_uses_to_dest", "Replaces uses of the sources of a vector by the vector.", |s, _| {
        crate::move_vec_src_uses_to_dest(s, MoveVecSrcOptions::default())
    }),
    row("lower_vec_to_regs", "Lowers `vecN` instructions to masked register writes.", |s, _| {
        crate::lower_vec_to_regs(s, None)
    }),
    row("lower_locals_to_regs", "Lowers arrays to register arrays.", |s, _| crate::lower_locals_to_regs(s, 1)),
    row("trivialize_registers", "Makes register accesses trivial to fold.", trivialize),
    row("legacy_trivialize", "Folds float modifiers, then makes accesses trivial.", |s, _| {
        crate::legacy_trivialize(s, ModifierPolicy::ALL, NO_OPERANDS)
    }),
];

fn trivialize(shader: &mut Shader, _: &CompilerOptions) -> bool {
    crate::trivialize_registers(shader, NO_OPERANDS)
}
