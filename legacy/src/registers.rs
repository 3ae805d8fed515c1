//! The declarations, loads and stores of registers.
//!
//! For backends that want all of them at once: to assign storage before the code is walked, or to translate register
//! accesses directly. (`nir_foreach_reg_decl`, `nir_foreach_reg_load`, `nir_foreach_reg_store`.)
//!
//! 1. Every register is declared in the start block; [`reg_decls`] has each once, in program order.
//! 2. [`reg_loads`] and [`reg_stores`] have each access of a handle once, direct and indirect ones, in no order. They
//!    walk the uses of the handle and cost no more than there are.
//! 3. A body may be asked while nothing is being changed. To change the accesses, collect them first.

use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Def, Inst, Shape};

use crate::chase::{is_load_reg, is_store_reg};

/// A declared register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterDecl {
    /// The instruction.
    pub inst: Inst,
    /// The handle that loads and stores name.
    pub handle: Def,
    /// Components and bits of an element.
    pub shape: Shape,
    /// Elements; 0 for a register that is no array.
    pub num_array_elems: u32,
    /// Whether the content may differ between invocations that run together.
    pub divergent: bool,
}

/// The registers of a body.
pub fn reg_decls(body: &Body) -> impl Iterator<Item = RegisterDecl> + '_ {
    let is_decl = |&inst: &Inst| body.intrinsic(inst) == Some(IntrinsicOp::DeclReg);
    body.insts(body.start_block()).filter(is_decl).filter_map(|inst| reg_decl(body, body.inst_def(inst)?))
}

/// The declaration of a handle; none if the value is no handle.
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

/// The instructions that read a register.
pub fn reg_loads(body: &Body, handle: Def) -> impl Iterator<Item = Inst> + '_ {
    accesses(body, handle, 0, is_load_reg)
}

/// The instructions that write a register.
pub fn reg_stores(body: &Body, handle: Def) -> impl Iterator<Item = Inst> + '_ {
    accesses(body, handle, 1, is_store_reg)
}

/// The users of a handle that have it as source `number`, if they are of a kind.
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
