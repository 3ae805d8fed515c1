//! Constants that depend on specialisation constants.

use crate::constants::Known;
use crate::error::SpirvError;
use crate::module::Module;
use crate::types::TypeId;
use crate::words::Inst;

/// The value of `OpSpecConstantOp`.
///
/// # Errors
/// The operation is not one of constants, or its operands do not fit.
pub(crate) fn evaluate(_module: &mut Module, inst: &Inst<'_>, _ty: TypeId) -> Result<Known, SpirvError> {
    Err(SpirvError::Instruction { name: crate::grammar::name(inst.word(2) as u16), why: "it is not one of constants" })
}
