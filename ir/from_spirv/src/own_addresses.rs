//! Addresses in modules of the SPIR-V driver: storage buffers and shared memory are arrays of words there, whose
//! indices are addresses of TGSI divided by 4.
//!
//! ```text
//! before:                                  after:
//!     %2 = ushr %1, 2                          %5 = iadd %1, 4
//!     %3 = iadd %2, 1                          %6 = @load_ssbo (0, %5)
//!     %4 = imul %3, 4
//!     %6 = @load_ssbo (0, %4)
//! ```
//!
//! Addresses of TGSI and sizes of buffers are multiples of 4, so the division loses no bits. Accesses to adjacent words
//! are merged, as the source may have them; a merged load that is partly out of range gives zeros.

use tgsi_ir::Body;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::Builder;
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::{Def, Inst};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::passes::{
    lower_explicit_access, lower_var_copies, opt_constant_folding, opt_cse, opt_load_store_vectorize,
};
use tgsi_ir::shader::Shader;
use tgsi_ir::variable::VariableModes;

/// Most additions to an index.
const MAX_SUMS: usize = 16;

pub(crate) fn lower_addresses(shader: &mut Shader) {
    let memory = VariableModes::MEM_SSBO.union(VariableModes::MEM_SHARED);
    if shader.globals_with(memory).next().is_none() {
        return;
    }
    lower_var_copies(shader);
    lower_explicit_access(shader);
    opt_constant_folding(shader);
    for body in shader.functions.values_mut().filter_map(|function| function.body.as_mut()) {
        body.visit_insts(lower);
    }
    // Accesses with the same resource have one constant for it.
    opt_constant_folding(shader);
    opt_cse(shader);
    opt_load_store_vectorize(shader);
}

/// The operand that is the address of an access.
fn address_operand(op: IntrinsicOp) -> Option<usize> {
    Some(match op {
        IntrinsicOp::LoadSsbo | IntrinsicOp::SsboAtomic | IntrinsicOp::SsboAtomicSwap => 1,
        IntrinsicOp::StoreSsbo => 2,
        IntrinsicOp::LoadShared | IntrinsicOp::SharedAtomic | IntrinsicOp::SharedAtomicSwap => 0,
        IntrinsicOp::StoreShared => 1,
        _ => return None,
    })
}

fn lower(body: &mut Body, inst: Inst) -> bool {
    if let Some(def) = body.inst_def(inst)
        && let Some(size) = size_of(body, def)
    {
        body.replace_all_uses(def, size);
        return true;
    }
    let Some(operand) = body.intrinsic(inst).and_then(address_operand) else { return false };
    let Some((address, added)) = address_of(body, body.src(inst, operand)) else { return false };
    let source = body.source(inst, operand);
    let mut b = Builder::new(body, Cursor::Before(inst));
    let mut address = address;
    if added != 0 {
        let added = b.constant(32, &[added.into()]);
        address = b.alu(AluOp::Iadd, &[address, added]);
    }
    body.set_src(source, address);
    true
}

/// The scalar operand of an instruction with a constant operand, and the constant.
fn with_constant(body: &Body, def: Def, op: AluOp) -> Option<(Def, u64)> {
    let inst = body.def_inst(def);
    if body.alu_op(inst) != Some(op) || body.num_components(def) != 1 {
        return None;
    }
    let is_swappable = matches!(op, AluOp::Iadd | AluOp::Imul | AluOp::Umax);
    (0..if is_swappable { 2 } else { 1 }).find_map(|number| {
        let other = body.source(inst, 1 - number);
        let constant = body.constant_component(body.src_def(other), usize::from(body.swizzle(other).get(0)))?;
        let def = body.src(inst, number);
        (body.num_components(def) == 1).then_some((def, constant))
    })
}

/// The size of a buffer in bytes, if a value is four times the length of its array of words.
fn size_of(body: &Body, bytes: Def) -> Option<Def> {
    let (length, _) = with_constant(body, bytes, AluOp::Imul).filter(|&(_, size)| size == 4)?;
    let (mut size, _) = with_constant(body, length, AluOp::Udiv).filter(|&(_, size)| size == 4)?;
    // The array starts at the first byte.
    for op in [AluOp::Iadd, AluOp::Umax] {
        if let Some((rest, 0)) = with_constant(body, size, op) {
            size = rest;
        }
    }
    (body.intrinsic(body.def_inst(size)) == Some(IntrinsicOp::GetSsboSize)).then_some(size)
}

/// The address whose fourth part plus a number is an index, and four times the number.
fn address_of(body: &Body, bytes: Def) -> Option<(Def, u32)> {
    let scaled = with_constant(body, bytes, AluOp::Imul).filter(|&(_, size)| size == 4);
    let scaled = scaled.or_else(|| with_constant(body, bytes, AluOp::Ishl).filter(|&(_, count)| count == 2));
    let (mut index, mut sum) = (scaled?.0, 0u32);
    for _ in 0..MAX_SUMS {
        if let Some((address, 2)) = with_constant(body, index, AluOp::Ushr) {
            return Some((address, sum.wrapping_mul(4)));
        }
        let (rest, added) = with_constant(body, index, AluOp::Iadd)?;
        (index, sum) = (rest, sum.wrapping_add(added as u32));
    }
    None
}
