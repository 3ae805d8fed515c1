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
        convert_from_ssa again [] "Phis become registers."
            |s, _| crate::convert_from_ssa(s, ConvertFromSsaOptions::default());
        move_vec_src_uses_to_dest again [] "Reads of what a vector is made of read the vector."
            |s, _| crate::move_vec_src_uses_to_dest(s, MoveVecSrcOptions::default());
        lower_vec_to_regs again [] "Vectors that are put together become masked writes of registers."
            |s, _| crate::lower_vec_to_regs(s, None);
        lower_locals_to_regs again [] "Arrays become register arrays." |s, _| crate::lower_locals_to_regs(s, 1);
        trivialize_registers again [] "Register accesses can be folded into what uses or makes the value."
            |s, _| crate::trivialize_registers(s, NO_OPERANDS);
        legacy_trivialize again [] "The same, after float modifiers went into loads and stores."
            |s, _| crate::legacy_trivialize(s, ModifierPolicy::ALL, NO_OPERANDS);
    }
}
