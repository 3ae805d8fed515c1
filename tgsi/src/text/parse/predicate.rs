//! `(PRED[0].xyzw)` before an instruction: a component of the destination is written only if the selected component of
//! the predicate register is not 0 (with `!`, is 0). TGSI no longer has predicates; predicate registers become
//! temporaries, the instruction writes to a scratch register, and the result is moved under a condition. An instruction
//! without a result is executed under the condition of the first component.

use arrayvec::ArrayVec;

use super::{Parse, Parser};
use crate::shader::{Dst, Instruction, Register, Src};
use crate::tables::{File, ImmediateType, Opcode};
use crate::text::error::ParseErrorKind;
use crate::text::legacy::{LegacyFile, Suffixes};
use tgsi_diagnostics::Span;

/// The predicate of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Predicate {
    /// The register, with a component for each component of the destination.
    src: Src,
    negated: bool,
}

/// Scratch registers for the results; the rewrites of old opcodes use others.
const RESULTS: [i32; 2] = [5, 6];

/// Values to move from scratch registers: the destination, and the register with its value.
pub(super) type ScratchValues = ArrayVec<(Dst, Register), 2>;

impl<'a> Parser<'a> {
    /// Parses the predicate before an instruction, if there is one.
    #[inline]
    pub(super) fn predicate(&mut self) -> Parse<Option<Predicate>> {
        if self.accept(b'(') { self.after_parenthesis().map(Some) } else { Ok(None) }
    }

    #[cold]
    fn after_parenthesis(&mut self) -> Parse<Predicate> {
        let negated = self.accept(b'!');
        let (src, _) = self.src()?;
        self.expect(b')')?;
        let declared = self.legacy.is_array_of(LegacyFile::Predicate, src.register);
        if !declared {
            return self.fail(ParseErrorKind::UnknownFile(self.quote(src.span)), src.span);
        }
        Ok(Predicate { src, negated })
    }

    /// Replaces destinations with scratch registers.
    pub(super) fn hold(&mut self, dst: &mut [Dst]) -> ScratchValues {
        let mut held = ScratchValues::new();
        for (dst, scratch) in dst.iter_mut().zip(RESULTS) {
            let register = self.legacy.scratch(scratch);
            held.push((*dst, register));
            dst.register = register;
        }
        held
    }

    /// Moves held results to their destinations under the predicate.
    pub(super) fn release(&mut self, predicate: &Predicate, held: &ScratchValues, span: Span) {
        for &(dst, register) in held {
            for component in 0..4 {
                // Components of the destination that this component of the predicate controls.
                let decided = (0..4).filter(|&c| predicate.src.swizzle[c as usize] == component);
                let mask = decided.fold(0, |mask, c| mask | 1 << c) & dst.write_mask;
                if mask == 0 {
                    continue;
                }
                self.open(predicate, component, span);
                let opcode = if dst.register.file == File::Address { Opcode::Uarl } else { Opcode::Mov };
                self.emit(opcode, Some(dst.masked(mask)), &[Src::new(register)], span);
                self.emit(Opcode::Endif, None, &[], span);
            }
        }
    }

    /// Whether an instruction without a result can be put under a condition.
    pub(super) fn can_be_conditional(opcode: Opcode) -> bool {
        use Opcode::*;
        matches!(opcode, Kill | KillIf | Demote | Brk | Cont | Ret | Cal | Emit | Endprim | Membar)
    }

    /// Opens the block that the first component of the predicate controls.
    pub(super) fn open_first(&mut self, predicate: &Predicate, span: Span) {
        self.open(predicate, predicate.src.swizzle[0], span);
    }

    /// Closes the block.
    pub(super) fn close(&mut self, span: Span) {
        self.emit(Opcode::Endif, None, &[], span);
    }

    fn open(&mut self, predicate: &Predicate, component: u8, span: Span) {
        let mut condition = predicate.src.swizzled([component; 4]);
        if predicate.negated {
            let scratch = self.legacy.scratch(4);
            let zero = self.legacy.constant(ImmediateType::Uint32, [0; 4]);
            self.emit(Opcode::Useq, Some(Dst::new(scratch).masked(1)), &[condition, zero], span);
            condition = Src::new(scratch).swizzled([0; 4]);
        }
        self.emit(Opcode::Uif, None, &[condition], span);
    }

    fn emit(&mut self, opcode: Opcode, dst: Option<Dst>, src: &[Src], span: Span) {
        let instruction = Instruction { span, ..Instruction::with_operands(opcode, dst, src) };
        self.legacy.push(&mut self.shader, instruction, Suffixes::default());
    }
}
