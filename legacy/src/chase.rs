//! Finds the register, the write mask and the modifiers of a value.
//!
//! For use during instruction selection, after [`legacy_trivialize`](crate::legacy_trivialize()): folding is sound only
//! then. A backend
//!
//! - skips `decl_reg`, `load_reg*` and `store_reg*` themselves, and every instruction for which [`is_folded`] holds;
//! - emits nothing for values that it reads in place, such as uniforms that are operands of the machine; trivialisation
//!   must know of them ([`IsOperand`](crate::IsOperand)), or stores of them are lost;
//! - uses [`chase_alu_src`] and [`chase_alu_dest`] for ALU instructions, [`chase_src`] and [`chase_dest`] for all
//!   others.
//!
//! Masks are those of the IR: `u32`, one bit for each of up to 16 components. A machine with four channels has masks of
//! 8 bits, as `tgsi-vec4`. [`AluDestination::channels`] converts a destination to them; for a source,
//! `source.swizzle.of_channels(body.alu_src_channels(inst, number, destination.write_mask))` is the component that each
//! of the four channels reads.
//!
//! A source means `negate(absolute(value.swizzle))`; a destination means "write the components of the mask, clamped to
//! \[0, 1\] if `saturate`".

use tgsi_ir::alu::{AluOp, AluType, BaseType};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Def, Inst, InstData, Swizzle, Use, User};

use crate::modifiers::ModifierPolicy;

/// A register operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register {
    /// Handle: the value of the `decl_reg`.
    pub handle: Def,
    /// Element of an array; 0 for a plain register.
    pub base: u32,
    /// Run-time index, added to `base`.
    pub indirect: Option<Def>,
}

/// The register or value that a source reads, or a destination writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A value in SSA form.
    Ssa(Def),
    /// A register.
    Register(Register),
}

/// A source of an ALU instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AluSource {
    /// The value or register that is read.
    pub operand: Operand,
    /// The components selected.
    pub swizzle: Swizzle,
    /// Absolute value, before negation.
    pub absolute: bool,
    /// Negation.
    pub negate: bool,
}

/// The destination of an ALU instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AluDestination {
    /// The value or register that is written. An SSA value may differ from the instruction's own result: it is the
    /// result of a folded saturation.
    pub operand: Operand,
    /// Components written, bit 0 = first.
    pub write_mask: u32,
    /// Clamp to \[0, 1\].
    pub saturate: bool,
}

impl AluDestination {
    /// The write mask of a machine with four channels. Masks of the IR have 16 components; a value that such a machine
    /// holds in one register has up to four.
    pub fn channels(&self) -> u8 {
        (self.write_mask & 0xf) as u8
    }
}

/// Returns the `load_reg` or `load_reg_indirect` that defines a value, if one does.
pub fn load_reg_for_def(body: &Body, def: Def) -> Option<Inst> {
    let inst = body.def_inst(def);
    is_load_reg(body, inst).then_some(inst)
}

/// Returns the `store_reg` or `store_reg_indirect` that is the only use of a value, if there is one. (Trivialisation
/// ensures that the store can be folded into the producer.)
pub fn store_reg_for_def(body: &Body, def: Def) -> Option<Inst> {
    let source = body.single_use(def)?;
    let inst = body.user(source).inst()?;
    (is_store_reg(body, inst) && body.source_number(source) == 0).then_some(inst)
}

/// Whether an instruction reads a register.
pub(crate) fn is_load_reg(body: &Body, inst: Inst) -> bool {
    matches!(body.intrinsic(inst), Some(IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect))
}

/// Whether an instruction writes a register.
pub fn is_store_reg(body: &Body, inst: Inst) -> bool {
    matches!(body.intrinsic(inst), Some(IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect))
}

/// Whether an instruction declares, reads or writes a register.
pub fn is_register_access(body: &Body, inst: Inst) -> bool {
    matches!(
        body.intrinsic(inst),
        Some(
            IntrinsicOp::DeclReg
                | IntrinsicOp::LoadReg
                | IntrinsicOp::LoadRegIndirect
                | IntrinsicOp::StoreReg
                | IntrinsicOp::StoreRegIndirect
        )
    )
}

/// The register that a load or store accesses.
pub fn accessed_register(body: &Body, inst: Inst) -> Option<Register> {
    let (handle, indirect) = match body.intrinsic(inst)? {
        IntrinsicOp::LoadReg => (body.src(inst, 0), None),
        IntrinsicOp::LoadRegIndirect => (body.src(inst, 0), Some(body.src(inst, 1))),
        IntrinsicOp::StoreReg => (body.src(inst, 1), None),
        IntrinsicOp::StoreRegIndirect => (body.src(inst, 1), Some(body.src(inst, 2))),
        _ => return None,
    };
    Some(Register { handle, base: body.base(inst), indirect })
}

/// Whether a float modifier (`fabs` or `fneg`) can become a source modifier at every use: every use is an ALU source of
/// float type, and the value is not 64 bits wide. A value without uses folds. Whether the target supports the modifier
/// is up to the [policy](ModifierPolicy::folds_source).
pub fn float_mod_folds(body: &Body, modifier: Inst) -> bool {
    let Some(def) = body.inst_def(modifier) else { return false };
    if body.bit_size(def) == 64 {
        return false;
    }
    body.uses_of(def).all(|source| match body.user(source) {
        User::If(_) => false,
        User::Inst(user) => body.alu_op(user).is_some_and(|op| {
            op.info().input_types.get(body.source_number(source)).is_some_and(|ty| ty.base == BaseType::Float)
        }),
    })
}

/// Whether a saturation (`fsat`) can become a flag of the instruction that defines its source.
///
/// That instruction must be an ALU instruction other than a modifier or saturation, with a result of unsized float
/// type. The value must have no other use and not be 64 bits wide, and the saturation must read all of it without
/// swizzle.
pub fn fsat_folds(body: &Body, fsat: Inst) -> bool {
    let Some(result) = body.inst_def(fsat) else { return false };
    let source = body.source(fsat, 0);
    let def = body.src_def(source);
    let Some(op) = body.alu_op(body.def_inst(def)) else { return false };
    body.bit_size(def) != 64
        && body.single_use(def).is_some()
        && op.info().output_type == AluType::FLOAT
        && !matches!(op, AluOp::Fabs | AluOp::Fneg | AluOp::Fsat)
        && body.num_components(def) == body.num_components(result)
        && body.swizzle(source).is_identity(usize::from(body.num_components(def)))
}

/// Whether an ALU instruction needs no code, because it folds into its neighbours as the policy allows: a modifier into
/// all its users, a saturation into its source.
pub fn is_folded(body: &Body, inst: Inst, policy: ModifierPolicy<'_>) -> bool {
    match body.alu_op(inst) {
        Some(AluOp::Fneg | AluOp::Fabs) => modifier_is_chased(body, inst, policy),
        Some(AluOp::Fsat) => policy.folds_saturation(body, inst),
        _ => false,
    }
}

/// Whether every user of a foldable modifier looks through it. [`chase_alu_src`] follows one `fneg` and, after it, one
/// `fabs`; a modifier used by another modifier that is not followed further must be emitted. A modifier without uses is
/// never needed.
fn modifier_is_chased(body: &Body, inst: Inst, policy: ModifierPolicy<'_>) -> bool {
    if !policy.folds_source(body, inst) {
        return false;
    }
    let Some(def) = body.inst_def(inst) else { return false };
    let is_fneg = body.alu_op(inst) == Some(AluOp::Fneg);
    body.uses_of(def).all(|source| {
        let Some(user) = body.user(source).inst() else { return false };
        match body.alu_op(user) {
            // Users that read this modifier through another folded one: fneg(fabs x) is followed, the other
            // combinations are not.
            Some(AluOp::Fneg) if policy.folds_source(body, user) => !is_fneg,
            Some(AluOp::Fabs) if policy.folds_source(body, user) => false,
            _ => true,
        }
    })
}

fn load_operand(body: &Body, def: Def) -> Option<(Operand, Inst)> {
    let load = load_reg_for_def(body, def)?;
    accessed_register(body, load).map(|register| (Operand::Register(register), load))
}

/// Finds the register and the modifiers of source `number` of an ALU instruction.
pub fn chase_alu_src(body: &Body, inst: Inst, number: usize, policy: ModifierPolicy<'_>) -> AluSource {
    let source = body.source(inst, number);
    let mut def = body.src_def(source);
    let mut swizzle = body.swizzle(source);
    let (mut absolute, mut negate) = (false, false);
    let step = |op: AluOp, def: &mut Def, swizzle: &mut Swizzle| {
        let producer = body.def_inst(*def);
        let found = body.alu_op(producer) == Some(op) && policy.folds_source(body, producer);
        if found {
            let inner = body.source(producer, 0);
            *swizzle = swizzle.compose(body.swizzle(inner));
            *def = body.src_def(inner);
        }
        found
    };
    if let InstData::Alu { .. } = body.inst(body.def_inst(def)) {
        negate = step(AluOp::Fneg, &mut def, &mut swizzle);
        absolute = step(AluOp::Fabs, &mut def, &mut swizzle);
        return AluSource { operand: Operand::Ssa(def), swizzle, absolute, negate };
    }
    let operand = match load_operand(body, def) {
        Some((operand, load)) => {
            absolute = body.index(load, IndexKind::LegacyFabs) != 0;
            negate = body.index(load, IndexKind::LegacyFneg) != 0;
            operand
        }
        None => Operand::Ssa(def),
    };
    AluSource { operand, swizzle, absolute, negate }
}

/// Finds the register and the saturation of an ALU instruction's result.
pub fn chase_alu_dest(body: &Body, def: Def, policy: ModifierPolicy<'_>) -> AluDestination {
    let all = body.full_mask(def);
    if body.bit_size(def) != 64
        && let Some(user) = body.single_use(def).and_then(|u| body.user(u).inst())
        && body.alu_op(user) == Some(AluOp::Fsat)
        && policy.folds_saturation(body, user)
        && let Some(result) = body.inst_def(user)
    {
        return AluDestination { operand: Operand::Ssa(result), write_mask: all, saturate: true };
    }
    if let Some(store) = store_reg_for_def(body, def)
        && let Some(register) = accessed_register(body, store)
    {
        return AluDestination {
            operand: Operand::Register(register),
            write_mask: body.write_mask(store),
            saturate: body.index(store, IndexKind::LegacyFsat) != 0,
        };
    }
    AluDestination { operand: Operand::Ssa(def), write_mask: all, saturate: false }
}

/// Finds the register of a source of a non-ALU instruction (or of an `if`). There are no modifiers: trivialisation puts
/// them only on loads that ALU instructions alone read.
pub fn chase_src(body: &Body, source: Use) -> Operand {
    let def = body.src_def(source);
    match load_operand(body, def) {
        Some((operand, load)) => {
            debug_assert!(
                body.index(load, IndexKind::LegacyFabs) == 0 && body.index(load, IndexKind::LegacyFneg) == 0,
                "a load with modifiers is used by a non-ALU instruction"
            );
            operand
        }
        None => Operand::Ssa(def),
    }
}

/// Finds the destination of a non-ALU instruction. Trivialisation ensures that it writes all components, without
/// saturation.
pub fn chase_dest(body: &Body, def: Def) -> Operand {
    match store_reg_for_def(body, def).and_then(|store| accessed_register(body, store).map(|r| (store, r))) {
        Some((store, register)) => {
            debug_assert!(
                body.index(store, IndexKind::LegacyFsat) == 0 && body.write_mask(store) == body.full_mask(def),
                "a partial or saturating store of the result of a non-ALU instruction"
            );
            Operand::Register(register)
        }
        None => Operand::Ssa(def),
    }
}
