//! Rules of load/store and texture bundles.

use super::{Resources, Rule, check_written};
use crate::isa::alu::UnitInstruction;
use crate::isa::load_store::{Class, LoadStore, LoadStoreBundle, LoadStoreOp, Operand};
use crate::isa::texture::{Texture, TextureOp};
use crate::isa::{Body, Bundle, LoadStoreRegister, Register};

/// Whether the class writes its register.
fn writes(instruction: &LoadStore) -> bool {
    use LoadStoreOp::{
        StSpecialF16, StSpecialF32, StSpecialS32, StSpecialU32, StTileBufferF16, StTileBufferF32, StTileBufferRaw,
    };
    let class = instruction.op.row().class;
    !class.is_store()
        && class != Class::Trap
        && !matches!(instruction.op, StSpecialF32 | StSpecialF16 | StSpecialU32 | StSpecialS32)
        && !matches!(instruction.op, StTileBufferF32 | StTileBufferF16 | StTileBufferRaw)
}

/// Whether an instruction reads r26 or r27.
fn reads(instruction: &LoadStore, register: Register) -> bool {
    let code = u32::from(register.number()).wrapping_sub(Register::CONSTANTS.number().into());
    let is_same = |read: LoadStoreRegister| code < 2 && read.code() == code;
    let is_read = |operand: Option<Operand>| operand.is_some_and(|operand| is_same(operand.register));
    // Other classes have numbers in these fields.
    let argument = Some(instruction.argument).filter(|_| instruction.uniform_buffer().is_none());
    let has_operands = !matches!(instruction.op.row().class, Class::TileBuffer | Class::Trap);
    instruction.stored_register().is_some_and(is_same)
        || is_read(instruction.atomic_operand())
        || has_operands && (is_read(argument) || is_read(Some(instruction.index)))
}

pub(super) fn check_load_store(bundle: &LoadStoreBundle, resources: &Resources) -> Result<(), Rule> {
    for instruction in bundle.0.iter().flatten().filter(|instruction| writes(instruction)) {
        check_written(instruction.register, resources)?;
    }
    let [Some(first), Some(second)] = &bundle.0 else { return Ok(()) };
    if (first.op == LoadStoreOp::StVaryF32) != (second.op == LoadStoreOp::StVaryF32) {
        return Err(Rule::StoreVarying);
    }
    let is_written = |by: &LoadStore, other: &LoadStore| writes(by) && by.mask != 0 && reads(other, by.register);
    let is_same = writes(first) && writes(second) && first.register == second.register && first.mask & second.mask != 0;
    if is_same || is_written(first, second) {
        return Err(Rule::Hazard(first.register.number()));
    }
    if is_written(second, first) { Err(Rule::Hazard(second.register.number())) } else { Ok(()) }
}

/// Checks the number of bundles that may execute before the end of a bundle.
pub(super) fn check_order(out_of_order: u8, resources: &Resources) -> Result<(), Rule> {
    let is_valid = out_of_order == 0 || resources.chip.executes_out_of_order();
    if is_valid { Ok(()) } else { Err(Rule::OutOfOrder(out_of_order)) }
}

pub(super) fn check_texture(texture: &Texture, following: &[Bundle], resources: &Resources) -> Result<(), Rule> {
    check_order(texture.out_of_order, resources)?;
    if texture.op == TextureOp::Derivative {
        let mut written = (0..4).filter(|index| texture.mask >> index & 1 != 0);
        if written.any(|index| texture.swizzle.get(index) > 1) {
            return Err(Rule::Derivative);
        }
    }
    let count = usize::from(texture.out_of_order);
    let first = if resources.chip.aliases_texture_registers() { 0 } else { 28 };
    let destination = Register::new(first + (texture.destination.index() & 1)).unwrap_or(Register::UNUSED);
    let may_precede = |bundle: &Bundle| match &bundle.body {
        Body::Alu(alu) => {
            let reads = |(_, instruction)| match instruction {
                UnitInstruction::Vector(vector) => vector.sources().any(|source| source == destination),
                UnitInstruction::Scalar(scalar) => scalar.sources().any(|source| source == destination),
            };
            alu.branch.is_none() && !alu.instructions().any(reads)
        }
        Body::LoadStore(_) => true,
        Body::Texture(_) | Body::Barrier(_) => false,
    };
    let is_valid = following.len() >= count && following[..count.min(following.len())].iter().all(may_precede);
    if is_valid { Ok(()) } else { Err(Rule::OutOfOrder(texture.out_of_order)) }
}
