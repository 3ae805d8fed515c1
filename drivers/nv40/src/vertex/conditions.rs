//! Facts about the condition registers of a program.

use tgsi_vec4::simple::File;

use crate::isa::Predicate;
use crate::machine::{CONDITIONS, Code, Program};

/// The condition registers that may hold the class of NaN.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conditions([bool; 2]);

impl Conditions {
    pub(super) fn of(program: &Program) -> Conditions {
        use Code::{Seq, Sfl, Sge, Slt, Sne, Str};
        let mut conditions = Conditions::default();
        for instruction in program.instructions() {
            let to = instruction.destination.filter(|to| to.file == File::Special);
            let register = to.and_then(|to| usize::try_from(to.index - i32::from(CONDITIONS)).ok());
            if let Some(has_nan) = register.and_then(|number| conditions.0.get_mut(number)) {
                *has_nan |= !matches!(instruction.op.code, Slt | Sge | Seq | Sne | Sfl | Str);
            }
        }
        conditions
    }

    /// Whether a test may be of the class of NaN.
    pub(super) fn may_test_nan(&self, predicate: Predicate) -> bool {
        self.0[usize::from(predicate.register & 1)]
    }
}
