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
    /// Its name, the same as that of its function and its file.
    pub name: &'static str,
    /// Its effect, in one sentence.
    pub about: &'static str,
    /// Runs it, with the most usual choice where its function takes options.
    pub run: PassFn,
}

const fn row(name: &'static str, about: &'static str, run: PassFn) -> PassInfo {
    PassInfo { name, about, run }
}

/// The passes into registers, in the order in which backends run them.
pub static PASSES: &[PassInfo] = &[
    row("convert_from_ssa", "Phis become registers.", |s, _| {
        crate::convert_from_ssa(s, ConvertFromSsaOptions::default())
    }),
    row("move_vec_src_uses_to_dest", "Reads of what a vector is made of read the vector.", |s, _| {
        crate::move_vec_src_uses_to_dest(s, MoveVecSrcOptions::default())
    }),
    row("lower_vec_to_regs", "Vectors that are put together become masked writes of registers.", |s, _| {
        crate::lower_vec_to_regs(s, None)
    }),
    row("lower_locals_to_regs", "Arrays become register arrays.", |s, _| crate::lower_locals_to_regs(s, 1)),
    row("trivialize_registers", "Register accesses can be folded into what uses or makes the value.", trivialize),
    row("legacy_trivialize", "The same, after float modifiers went into loads and stores.", |s, _| {
        crate::legacy_trivialize(s, ModifierPolicy::ALL, NO_OPERANDS)
    }),
];

fn trivialize(shader: &mut Shader, _: &CompilerOptions) -> bool {
    crate::trivialize_registers(shader, NO_OPERANDS)
}
