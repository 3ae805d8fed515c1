//! The modifiers that the instructions of a target take, by operation and operand.
//!
//! A [`ModifierPolicy`] is handed to [`legacy_trivialize`](crate::legacy_trivialize()), to the functions of
//! [`chase`](crate::chase) and to [`check`](crate::check::check); all of them must get the same one. A modifier folds
//! if
//!
//! 1. it folds as far as types and readers are concerned: [`float_mod_folds`] for `fneg` and `fabs`, [`fsat_folds`]
//!    for `fsat`. No policy can allow more than that;
//! 2. the policy allows it in every operand that reads it. A modifier that nobody reads folds if a `mov` could take
//!    it;
//! 3. an `fabs` that an `fneg` reads, which folds itself: the policy allows absolute values where the `fneg` is read,
//!    too, since those operands then read `-|x|`;
//! 4. for `fsat`: the policy allows saturation for the operation that makes its source;
//! 5. a modifier that would go onto a register access: the policy allows it for a `mov` as well, because
//!    trivialisation may have to put one between the access and the rest.
//!
//! The presets say what an instruction set has in all its float instructions. A target with exceptions writes a
//! function of its own:
//!
//! ```
//! use tgsi_ir::alu::AluOp;
//! use tgsi_registers::modifiers::{ModifierPolicy, SourceModifiers};
//!
//! // Transcendental functions take no absolute value.
//! const POLICY: ModifierPolicy = ModifierPolicy {
//!     source: |op, _| match op {
//!         AluOp::Frcp | AluOp::Frsq => SourceModifiers::NEGATE,
//!         _ => SourceModifiers::ALL,
//!     },
//!     ..ModifierPolicy::ALL
//! };
//! assert!(!POLICY.source_of(AluOp::Frcp, 0).absolute);
//! ```

use tgsi_ir::alu::AluOp;
use tgsi_ir::{Body, Def, Inst, Use};

use crate::chase::{float_mod_folds, fsat_folds, load_reg_for_def, store_reg_for_def};

/// Readers of a modifier, and of the negations of an absolute value, with which it may fold. Each of them asks whether
/// it does, which depends on all. Real shaders have fewer.
const MAX_READERS: usize = 256;

/// The modifiers that an operand takes. Both together mean `-|x|`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceModifiers {
    /// Negation.
    pub negate: bool,
    /// Absolute value.
    pub absolute: bool,
}

impl SourceModifiers {
    /// Neither.
    pub const NONE: SourceModifiers = SourceModifiers { negate: false, absolute: false };
    /// Negation.
    pub const NEGATE: SourceModifiers = SourceModifiers { negate: true, absolute: false };
    /// Both.
    pub const ALL: SourceModifiers = SourceModifiers { negate: true, absolute: true };

    /// Whether the modifier that an instruction stands for (`fneg`, `fabs`) is among them.
    fn has(self, modifier: AluOp) -> bool {
        match modifier {
            AluOp::Fneg => self.negate,
            AluOp::Fabs => self.absolute,
            _ => false,
        }
    }
}

/// The modifiers that a target has, for each operation and operand. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct ModifierPolicy {
    /// The modifiers of an operand: operation, number of the source. Asked for operands of float type only.
    pub source: fn(AluOp, usize) -> SourceModifiers,
    /// Whether the result of an operation can be clamped to \[0, 1\].
    pub saturate: fn(AluOp) -> bool,
}

impl ModifierPolicy {
    /// Everything: TGSI, D3D9 shader model 3, etnaviv, a2xx, the fragment processors of lima and r300, nv40.
    pub const ALL: ModifierPolicy = ModifierPolicy { source: |_, _| SourceModifiers::ALL, saturate: |_| true };

    /// Negation and saturation, no absolute value: ARB fragment programs, i915.
    pub const NO_ABSOLUTE: ModifierPolicy =
        ModifierPolicy { source: |_, _| SourceModifiers::NEGATE, ..ModifierPolicy::ALL };

    /// Negation and absolute value, no saturation: vertex processors that lack it.
    pub const NO_SATURATE: ModifierPolicy = ModifierPolicy { saturate: |_| false, ..ModifierPolicy::ALL };

    /// Negation only: ARB vertex programs, vertex shader model 2, PICA200.
    pub const NEGATE_ONLY: ModifierPolicy = ModifierPolicy { saturate: |_| false, ..ModifierPolicy::NO_ABSOLUTE };

    /// Nothing: `fneg`, `fabs` and `fsat` stay instructions. For Midgard and Intel, whose own passes fold them later.
    pub const NONE: ModifierPolicy = ModifierPolicy { source: |_, _| SourceModifiers::NONE, saturate: |_| false };

    /// The modifiers of an operand.
    pub fn source_of(&self, op: AluOp, number: usize) -> SourceModifiers {
        (self.source)(op, number)
    }

    /// Whether the result of an operation can be clamped to \[0, 1\].
    pub fn saturates(&self, op: AluOp) -> bool {
        (self.saturate)(op)
    }

    /// Whether `fneg` or `fabs` becomes a modifier of everything that reads it. One with very many readers does not, as
    /// each of them asks about all.
    pub fn folds_source(&self, body: &Body, modifier: Inst) -> bool {
        let (Some(kind), Some(def)) = (body.alu_op(modifier), body.inst_def(modifier)) else { return false };
        if !matches!(kind, AluOp::Fneg | AluOp::Fabs)
            || !has_few_readers(body, kind, def)
            || !float_mod_folds(body, modifier)
        {
            return false;
        }
        let is_load = load_reg_for_def(body, body.src(modifier, 0)).is_some();
        if (is_load || body.is_unused(def)) && !self.source_of(AluOp::Mov, 0).has(kind) {
            return false;
        }
        body.uses_of(def).all(|source| {
            if !self.takes(body, source, kind) {
                return false;
            }
            // What a negation reads that folds is read by the readers of that.
            kind != AluOp::Fabs
                || negation_by(body, source).is_none_or(|negated| {
                    !self.folds_source(body, body.def_inst(negated))
                        || body.uses_of(negated).all(|source| self.takes(body, source, AluOp::Fabs))
                })
        })
    }

    /// Whether `fsat` becomes a flag of the instruction that makes its source.
    pub fn folds_saturation(&self, body: &Body, fsat: Inst) -> bool {
        let is_stored = || body.inst_def(fsat).is_some_and(|def| store_reg_for_def(body, def).is_some());
        fsat_folds(body, fsat)
            && body.alu_op(body.def_inst(body.src(fsat, 0))).is_some_and(|op| self.saturates(op))
            && (self.saturates(AluOp::Mov) || !is_stored())
    }

    fn takes(&self, body: &Body, source: Use, modifier: AluOp) -> bool {
        body.user(source)
            .inst()
            .and_then(|user| body.alu_op(user))
            .is_some_and(|op| self.source_of(op, body.source_number(source)).has(modifier))
    }
}

/// The negation that a source belongs to.
fn negation_by(body: &Body, source: Use) -> Option<Def> {
    let user = body.user(source).inst()?;
    (body.alu_op(user) == Some(AluOp::Fneg)).then(|| body.inst_def(user))?
}

/// Whether the readers of a modifier are within [`MAX_READERS`].
fn has_few_readers(body: &Body, kind: AluOp, def: Def) -> bool {
    let mut left = MAX_READERS;
    body.uses_of(def).all(|source| {
        let negated = if kind == AluOp::Fabs { negation_by(body, source) } else { None };
        let readers = 1 + negated.map_or(0, |def| body.uses_of(def).take(left).count());
        let is_within = readers <= left;
        left = left.saturating_sub(readers);
        is_within
    })
}

impl Default for ModifierPolicy {
    /// [`ModifierPolicy::ALL`].
    fn default() -> ModifierPolicy {
        ModifierPolicy::ALL
    }
}
