//! Condition registers.
//!
//! A comparison that selects, kills or branches writes a condition register and no other. Components of a value are
//! tested in the same components of the condition register. The content of a register is known until the end of the
//! block, or until it or the value changes.

use tgsi_ir::alu::AluOp;
use tgsi_ir::{Inst, Use};
use tgsi_registers::chase;
use tgsi_vec4::simple::{Destination, File, Guard, Instruction, Source};

use super::operands::{Target, lane};
use super::{Selector, guard};
use crate::isa::{Chip, Condition};
use crate::machine::{CONDITIONS, Code};

/// The guard that always passes.
pub(super) const ALWAYS: Guard = Guard { register: CONDITIONS, condition: Condition::TR.0, swizzle: [0; 4] };

/// The values that the condition registers hold: the operation and the operands that were tested.
pub(super) struct Conditions {
    known: Vec<Option<(Code, Vec<Source>, u8)>>,
    /// The register that is written next.
    next: usize,
}

impl Conditions {
    pub(super) fn of(chip: Chip) -> Conditions {
        let count = usize::from(chip.limits().vertex.conditions.min(chip.limits().fragment.conditions));
        Conditions { known: vec![None; count], next: 0 }
    }

    /// Forgets all values, at the start of a block.
    pub(super) fn forget(&mut self) {
        self.known.iter_mut().for_each(|known| *known = None);
    }

    /// Forgets values that were computed from a temporary that changes.
    pub(super) fn forget_register(&mut self, index: i32) {
        for known in &mut self.known {
            let reads = |source: &Source| source.file == File::Temporary && source.index == index;
            known.take_if(|(_, sources, _)| sources.iter().any(reads));
        }
    }
}

impl Selector<'_> {
    /// Computes an operation into components of a condition register. Returns its number.
    fn compare<const N: usize>(&mut self, code: Code, mask: u8, sources: [Source; N]) -> u8 {
        let wanted = (code, sources.to_vec(), mask);
        if let Some(found) = self.conditions.known.iter().position(|known| known.as_ref() == Some(&wanted)) {
            return CONDITIONS + found as u8;
        }
        let number = self.conditions.next;
        self.conditions.next = (number + 1) % self.conditions.known.len().max(1);
        if let Some(known) = self.conditions.known.get_mut(number) {
            *known = Some(wanted);
        }
        let register = CONDITIONS + number as u8;
        self.emit(code, Destination::new(File::Special, register.into(), mask), sources);
        register
    }

    /// The guard that passes if a scalar boolean holds, which is 1.0 or 0.0.
    pub(super) fn test_boolean(&mut self, boolean: Use) -> Guard {
        let body = self.body;
        let producer = body.def_inst(body.src_def(boolean));
        if let Some((value, condition)) = self.comparison_with_zero(producer, 1) {
            let register = self.compare(Code::Mov, 1, [value]);
            return guard(register, condition, [0; 4]);
        }
        let value = self.source_of(boolean);
        let register = self.compare(Code::Mov, 1, [lane(value, 0)]);
        guard(register, Condition::NE, [0; 4])
    }

    /// The value that a comparison compares with zero in these components, and the class of values for which it holds:
    /// a condition register needs no constant for the comparison.
    fn comparison_with_zero(&mut self, comparison: Inst, components: u8) -> Option<(Source, Condition)> {
        let [if_second, if_first] = match self.body.alu_op(comparison)? {
            AluOp::Slt => [Condition::LT, Condition::GT],
            AluOp::Sge => [Condition::GE, Condition::LE],
            AluOp::Seq => [Condition::EQ; 2],
            AluOp::Sne => [Condition::NE; 2],
            _ => return None,
        };
        if !self.keeps_operands(comparison) {
            return None;
        }
        let [a, b] = [0, 1].map(|number| self.alu_source(comparison, number, components));
        let is_zero = |source: &Source| {
            source.file == File::Constant && {
                let row = self.program.constants.row(source.index);
                let mut words = (0..4).filter(|c| components >> c & 1 != 0).map(|c: usize| source.swizzle[c]);
                words.all(|c| row[usize::from(c & 3)] << 1 == 0)
            }
        };
        match (is_zero(&a), is_zero(&b)) {
            (_, true) => Some((a, if_second)),
            (true, false) => Some((b, if_first)),
            (false, false) => None,
        }
    }

    /// The guard that passes in the channels of a mask in which an operand of a selection holds.
    fn selection_guard(&mut self, inst: Inst, op: AluOp, mask: u8) -> Guard {
        let body = self.body;
        let source = body.source(inst, 0);
        let producer = body.def_inst(body.src_def(source));
        let comparison = match body.alu_op(producer) {
            Some(AluOp::Slt) => Some(Code::Slt),
            Some(AluOp::Sge) => Some(Code::Sge),
            Some(AluOp::Seq) => Some(Code::Seq),
            Some(AluOp::Sne) => Some(Code::Sne),
            _ => None,
        };
        if op == AluOp::Fcsel
            && let Some(code) = comparison
            && self.keeps_operands(producer)
        {
            // The comparison is repeated for the condition register; without other uses its result is not computed.
            let selection = body.swizzle(source);
            let channels = selection.of_channels(mask.into());
            let tested = channels.iter().enumerate().filter(|(c, _)| mask >> c & 1 != 0);
            let components = tested.fold(0u8, |all, (_, &c)| all | 1 << c);
            if let Some((value, condition)) = self.comparison_with_zero(producer, components) {
                let register = self.compare(Code::Mov, components, [value]);
                return guard(register, condition, channels);
            }
            let a = self.alu_source(producer, 0, components);
            let b = self.alu_source(producer, 1, components);
            let register = self.compare(code, components, [a, b]);
            return guard(register, Condition::NE, channels);
        }
        let condition = match op {
            AluOp::FcselGt => Condition::GT,
            AluOp::FcselGe => Condition::GE,
            _ => Condition::NE,
        };
        let value = self.alu_source(inst, 0, mask);
        let is_one = value.swizzle == [value.swizzle[0]; 4];
        if is_one {
            let register = self.compare(Code::Mov, 1, [value]);
            return guard(register, condition, [0; 4]);
        }
        let register = self.compare(Code::Mov, mask, [value]);
        guard(register, condition, [0, 1, 2, 3])
    }

    /// Whether the operands of a comparison hold the same values at a later instruction: they are not registers of the
    /// IR, and no register was assigned to them for shorter.
    fn keeps_operands(&self, comparison: Inst) -> bool {
        let body = self.body;
        let is_value = |number: usize| {
            let source = chase::chase_alu_src(body, comparison, number, self.policy);
            matches!(source.operand, chase::Operand::Ssa(_))
        };
        self.assignment.is_none() && is_value(0) && is_value(1)
    }

    /// `a ? b : c` for each channel.
    pub(super) fn select_selection(&mut self, inst: Inst, op: AluOp, target: Target) {
        let mask = target.mask();
        let guard = self.selection_guard(inst, op, mask);
        let (chosen, other) = (self.alu_source(inst, 1, mask), self.alu_source(inst, 2, mask));
        let (to, after) = self.apart(target, &[chosen]);
        let mut otherwise = Instruction::new(Code::Mov.into(), Some(to.to), [other]);
        otherwise.saturate = target.saturate;
        let mut choice = Instruction::new(Code::Mov.into(), Some(to.to), [chosen]);
        choice.saturate = target.saturate;
        choice.guard = Some(guard);
        self.push(otherwise);
        self.push(choice);
        self.deliver(to, after);
    }
}
