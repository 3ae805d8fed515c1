//! Facts about the condition registers of a program.

use tgsi_vec4::simple::File;

use crate::isa::Predicate;
use crate::machine::{CONDITIONS, Code, Program};

/// The facts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conditions {
    /// The registers that may hold the class of NaN.
    has_nan: [bool; 2],
    /// The components that are tested.
    tested: [u8; 2],
}

impl Conditions {
    pub(super) fn of(program: &Program) -> Conditions {
        use Code::{Seq, Sfl, Sge, Sgt, Sle, Slt, Sne, Str};
        let mut conditions = Conditions::default();
        for instruction in program.instructions() {
            let to = instruction.destination.filter(|to| to.file == File::Special);
            let register = to.and_then(|to| usize::try_from(to.index - i32::from(CONDITIONS)).ok());
            if let Some(has_nan) = register.and_then(|number| conditions.has_nan.get_mut(number)) {
                *has_nan |= !matches!(instruction.op.code, Slt | Sge | Sgt | Sle | Seq | Sne | Sfl | Str);
            }
            if let Some(guard) = instruction.guard {
                let tested = &mut conditions.tested[usize::from(guard.register & 1)];
                guard.swizzle.iter().for_each(|component| *tested |= 1 << (component & 3));
            }
        }
        conditions
    }

    /// Whether a test may be of the class of NaN.
    pub(super) fn may_test_nan(&self, predicate: Predicate) -> bool {
        self.has_nan[usize::from(predicate.register & 1)]
    }

    /// The components of a register that are tested.
    pub(super) fn tested(&self, register: u8) -> u8 {
        self.tested[usize::from(register & 1)]
    }
}
