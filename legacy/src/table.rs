//! The table of passes, for the command line and the manual.

use tgsi_ir::Shader;
use tgsi_ir::options::CompilerOptions;

use crate::convert_from_ssa::ConvertFromSsaOptions;
use crate::modifiers::ModifierPolicy;
use crate::move_vec_src_uses_to_dest::MoveVecSrcOptions;
use crate::trivialize_registers::NO_OPERANDS;

// The passes into registers, in the order in which backends run them.
tgsi_ir::pass_table! {
    Shader, CompilerOptions, "":
    registers {
        convert_from_ssa again [] "Converts phis to registers."
            |s, _| crate::convert_from_ssa(s, ConvertFromSsaOptions::default());
        move_vec_src_uses_to_dest again [] "Replaces uses of the sources of a vector by the vector."
            |s, _| crate::move_vec_src_uses_to_dest(s, MoveVecSrcOptions::default());
        lower_vec_to_regs again [] "Lowers `vecN` instructions to masked register writes."
            |s, _| crate::lower_vec_to_regs(s, None);
        lower_locals_to_regs again [] "Lowers arrays to register arrays." |s, _| crate::lower_locals_to_regs(s, 1);
        trivialize_registers again [] "Makes register accesses trivial to fold."
            |s, _| crate::trivialize_registers(s, NO_OPERANDS);
        legacy_trivialize again [] "Folds float modifiers, then makes accesses trivial."
            |s, _| crate::legacy_trivialize(s, ModifierPolicy::ALL, NO_OPERANDS);
    }
}
