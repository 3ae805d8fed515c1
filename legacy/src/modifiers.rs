//! The modifiers that the instructions of a target support, by operation and operand.
//!
//! A [`ModifierPolicy`] is passed to [`legacy_trivialize`](crate::legacy_trivialize()), to the functions of
//! [`chase`](crate::chase) and to [`check`](crate::check::check); all of them must get the same one. A modifier folds
//! if
//!
//! 1. types and uses permit it: [`float_mod_folds`] for `fneg` and `fabs`, [`fsat_folds`] for `fsat`. No policy can
//!    allow more than that;
//! 2. the policy allows it in every operand that uses it. A modifier without uses folds if a `mov` supports it;
//! 3. for an `fabs` used by an `fneg` that folds: the policy also allows absolute values where the `fneg` is used,
//!    since those operands then read `-|x|`;
//! 4. for `fsat`: the policy allows saturation for the operation that defines its source;
//! 5. for a modifier that would be folded into a register access: the policy allows it for a `mov` as well, because
//!    trivialisation may have to insert one next to the access.
//!
//! The presets describe what an instruction set supports in all its float instructions. A target with exceptions
//! defines its own functions:
//!
//! ```
//! use tgsi_ir::alu::AluOp;
//! use tgsi_registers::modifiers::{ModifierPolicy, SourceModifiers};
//!
//! let is_first_generation = true;
//! // Transcendental functions of the first generation support no absolute value.
//! let source = |op, _| match op {
//!     AluOp::Frcp | AluOp::Frsq if is_first_generation => SourceModifiers::NEGATE,
//!     _ => SourceModifiers::ALL,
//! };
//! let policy = ModifierPolicy { source: &source, ..ModifierPolicy::ALL };
//! assert!(!policy.source_of(AluOp::Frcp, 0).absolute);
//! ```

use tgsi_ir::alu::AluOp;
use tgsi_ir::{Body, Def, Inst, Use};

use crate::chase::{float_mod_folds, fsat_folds, load_reg_for_def, store_reg_for_def};

/// Maximum number of uses of a modifier, including the uses of negations of an absolute value. The decision for one use
/// depends on all others, so it is not attempted beyond that. Real shaders have fewer.
const MAX_READERS: usize = 256;

/// The modifiers that an operand supports. Both together mean `-|x|`.
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

    /// Whether the set contains the modifier of an instruction (`fneg`, `fabs`).
    fn has(self, modifier: AluOp) -> bool {
        match modifier {
            AluOp::Fneg => self.negate,
            AluOp::Fabs => self.absolute,
            _ => false,
        }
    }
}

/// The modifiers that a target has, for each operation and operand. See the [module](self).
#[derive(Clone, Copy)]
pub struct ModifierPolicy<'a> {
    /// The modifiers of an operand, given the operation and the number of the source. Called for operands of float type
    /// only.
    pub source: &'a dyn Fn(AluOp, usize) -> SourceModifiers,
    /// Whether the result of an operation can be clamped to \[0, 1\].
    pub saturate: &'a dyn Fn(AluOp) -> bool,
}

impl ModifierPolicy<'static> {
    /// All modifiers: TGSI, D3D9 shader model 3, etnaviv, a2xx, the fragment processors of lima and r300, nv40.
    pub const ALL: ModifierPolicy<'static> =
        ModifierPolicy { source: &|_, _| SourceModifiers::ALL, saturate: &|_| true };

    /// Negation and saturation, no absolute value: ARB fragment programs, i915.
    pub const NO_ABSOLUTE: ModifierPolicy<'static> =
        ModifierPolicy { source: &|_, _| SourceModifiers::NEGATE, ..ModifierPolicy::ALL };

    /// Negation and absolute value, no saturation: vertex processors that lack it.
    pub const NO_SATURATE: ModifierPolicy<'static> = ModifierPolicy { saturate: &|_| false, ..ModifierPolicy::ALL };

    /// Negation only: ARB vertex programs, vertex shader model 2, PICA200.
    pub const NEGATE_ONLY: ModifierPolicy<'static> =
        ModifierPolicy { saturate: &|_| false, ..ModifierPolicy::NO_ABSOLUTE };

    /// No modifiers: `fneg`, `fabs` and `fsat` stay instructions. For Midgard and Intel, where later passes fold them.
    pub const NONE: ModifierPolicy<'static> =
        ModifierPolicy { source: &|_, _| SourceModifiers::NONE, saturate: &|_| false };
}

impl ModifierPolicy<'_> {
    /// Returns the modifiers of an operand.
    pub fn source_of(&self, op: AluOp, number: usize) -> SourceModifiers {
        (self.source)(op, number)
    }

    /// Whether the result of an operation can be clamped to \[0, 1\].
    pub fn saturates(&self, op: AluOp) -> bool {
        (self.saturate)(op)
    }

    /// Whether `fneg` or `fabs` becomes a modifier at each of its uses. One with more than `MAX_READERS` uses does
    /// not, as the decision for each use depends on all.
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
            // A folded negation passes the value on to its own users.
            kind != AluOp::Fabs
                || negation_by(body, source).is_none_or(|negated| {
                    !self.folds_source(body, body.def_inst(negated))
                        || body.uses_of(negated).all(|source| self.takes(body, source, AluOp::Fabs))
                })
        })
    }

    /// Whether `fsat` becomes a flag of the instruction that defines its source.
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

/// The result of the negation that a source belongs to, if any.
fn negation_by(body: &Body, source: Use) -> Option<Def> {
    let user = body.user(source).inst()?;
    (body.alu_op(user) == Some(AluOp::Fneg)).then(|| body.inst_def(user))?
}

/// Whether the uses of a modifier are within [`MAX_READERS`].
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

impl Default for ModifierPolicy<'_> {
    /// [`ModifierPolicy::ALL`].
    fn default() -> Self {
        ModifierPolicy::ALL
    }
}
