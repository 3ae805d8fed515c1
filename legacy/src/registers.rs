//! The declarations, loads and stores of registers.
//!
//! For backends that need all of them at once: to assign storage before walking the code, or to translate register
//! accesses directly. (`nir_foreach_reg_decl`, `nir_foreach_reg_load`, `nir_foreach_reg_store`.)
//!
//! 1. Every register is declared in the start block; [`reg_decls`] returns each once, in program order.
//! 2. [`reg_loads`] and [`reg_stores`] return each access to a handle once, direct and indirect ones, in no order. They
//!    walk the uses of the handle, in linear time.
//! 3. The iterators borrow the body. To change the accesses, collect them first.

use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Def, Inst, Shape};

use crate::chase::{is_load_reg, is_store_reg};

/// A declared register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterDecl {
    /// The instruction.
    pub inst: Inst,
    /// The handle that loads and stores refer to.
    pub handle: Def,
    /// Components and bits of an element.
    pub shape: Shape,
    /// The number of elements; 0 for a register that is not an array.
    pub num_array_elems: u32,
    /// Whether the content may differ between invocations that run together.
    pub divergent: bool,
}

/// Returns the registers of a body.
pub fn reg_decls(body: &Body) -> impl Iterator<Item = RegisterDecl> + '_ {
    let is_decl = |&inst: &Inst| body.intrinsic(inst) == Some(IntrinsicOp::DeclReg);
    body.insts(body.start_block()).filter(is_decl).filter_map(|inst| reg_decl(body, body.inst_def(inst)?))
}

/// Returns the declaration of a handle; none if the value is not a handle.
pub fn reg_decl(body: &Body, handle: Def) -> Option<RegisterDecl> {
    let inst = body.def_inst(handle);
    (body.intrinsic(inst) == Some(IntrinsicOp::DeclReg)).then(|| RegisterDecl {
        inst,
        handle,
        shape: body.register_shape(handle),
        num_array_elems: body.index(inst, IndexKind::NumArrayElems) as u32,
        divergent: body.index(inst, IndexKind::Divergent) != 0,
    })
}

/// Returns the instructions that read a register.
pub fn reg_loads(body: &Body, handle: Def) -> impl Iterator<Item = Inst> + '_ {
    accesses(body, handle, 0, is_load_reg)
}

/// Returns the instructions that write a register.
pub fn reg_stores(body: &Body, handle: Def) -> impl Iterator<Item = Inst> + '_ {
    accesses(body, handle, 1, is_store_reg)
}

/// The users of a given kind that have the handle as source `number`.
fn accesses(
    body: &Body,
    handle: Def,
    number: usize,
    is_kind: fn(&Body, Inst) -> bool,
) -> impl Iterator<Item = Inst> + '_ {
    body.uses_of(handle)
        .filter(move |&source| body.source_number(source) == number)
        .filter_map(|source| body.user(source).inst())
        .filter(move |&inst| is_kind(body, inst))
}
