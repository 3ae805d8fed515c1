//! Comparisons, selections and conditions of control flow.
//!
//! A comparison that selects or branches writes the flags and no register. Its operands are read at the later place if
//! they are values in SSA form, which have not changed.

use tgsi_ir::alu::AluOp;
use tgsi_ir::{Inst, Use};
use tgsi_registers::chase;
use tgsi_vec4::simple::{Destination, File, Guard, Instruction, Source};

use super::Selector;
use super::operands::{Target, composed, lane};
use crate::isa::{Condition, Opcode, Type};
use crate::machine::{Alu, FLAG, IF_SET, Op};

/// The comparison of an operation with a result of 32 bits.
pub(super) fn comparison(op: AluOp) -> Option<Alu> {
    let (ty, condition) = match op {
        AluOp::Flt32 => (Type::F, Condition::L),
        AluOp::Fge32 => (Type::F, Condition::Ge),
        AluOp::Feq32 => (Type::F, Condition::Z),
        AluOp::Fneu32 => (Type::F, Condition::Nz),
        AluOp::Ilt32 => (Type::D, Condition::L),
        AluOp::Ige32 => (Type::D, Condition::Ge),
        AluOp::Ieq32 => (Type::D, Condition::Z),
        AluOp::Ine32 => (Type::D, Condition::Nz),
        AluOp::Ult32 => (Type::Ud, Condition::L),
        AluOp::Uge32 => (Type::Ud, Condition::Ge),
        _ => return None,
    };
    Some(Alu::with(Opcode::Cmp, ty, condition))
}

/// The guard that passes for channels whose flag is set.
pub(super) const SET: Guard = Guard { register: FLAG, condition: IF_SET, swizzle: [0, 1, 2, 3] };

impl Selector<'_> {
    /// Compares into the flags of the channels of a mask.
    pub(super) fn compare(&mut self, alu: Alu, mask: u8, sources: [Source; 2]) {
        self.emit(alu, Destination::new(File::Special, FLAG.into(), mask), sources);
    }

    /// Sets the flags of the channels of a mask where components of a boolean hold: channel c tests `components[c]`.
    fn test(&mut self, boolean: Use, components: [u8; 4], mask: u8, is_alu: Option<(Inst, usize)>) {
        let body = self.body;
        let producer = body.def_inst(body.src_def(boolean));
        if let Some(alu) = body.alu_op(producer).and_then(comparison)
            && self.keeps_operands(producer)
        {
            let sources = [0, 1].map(|number| self.alu_source_at(producer, number, components));
            self.compare(alu, mask, sources);
            return;
        }
        let value = match is_alu {
            Some((inst, number)) => {
                let source = chase::chase_alu_src(body, inst, number, self.policy);
                self.operand(source.operand)
            }
            None => self.source_of(boolean),
        };
        let zero = self.word(0);
        self.compare(Alu::with(Opcode::Cmp, Type::D, Condition::Nz), mask, [composed(value, components), zero]);
    }

    /// The guard that passes if a scalar boolean holds.
    pub(super) fn test_boolean(&mut self, boolean: Use) -> Guard {
        self.test(boolean, [0; 4], 15, None);
        SET
    }

    /// Whether the operands of a comparison hold the same values at a later instruction.
    fn keeps_operands(&self, comparison: Inst) -> bool {
        let body = self.body;
        let is_value = |number: usize| {
            let source = chase::chase_alu_src(body, comparison, number, self.policy);
            matches!(source.operand, chase::Operand::Ssa(_))
        };
        is_value(0) && is_value(1)
    }

    /// Selects `a ? b : c` for each channel.
    pub(super) fn select_selection(&mut self, inst: Inst, target: Target) {
        let body = self.body;
        let mask = target.mask();
        let boolean = body.source(inst, 0);
        let components = body.swizzle(boolean).of_channels(mask.into()).map(|c| c & 3);
        let chosen = self.alu_source(inst, 1, mask);
        let other = self.alu_source(inst, 2, mask);
        let groups = Self::groups(mask, |c| components[usize::from(c)]);
        let is_one = groups.len() == 1;
        let (components, tested) = if is_one { ([groups[0].1; 4], 1) } else { (components, mask) };
        // Before the test: copies of operands do not change flags, but they are loads of arrays, perhaps.
        self.test(boolean, components, tested, Some((inst, 0)));
        let flag = Source::new(File::Special, FLAG.into());
        let (op, flag) = if is_one { (Op::SelectByOne, flag.swizzled([0; 4])) } else { (Op::Select, flag) };
        self.push(Instruction::new(op, Some(target.to), [flag, chosen, other]));
    }

    /// Selects by flags of the same channels.
    pub(super) fn select_by_flags(&mut self, to: Destination, chosen: Source, other: Source) {
        let flag = Source::new(File::Special, FLAG.into());
        if to.mask.count_ones() == 1 {
            let flag = lane(flag, to.mask.trailing_zeros() as u8);
            self.push(Instruction::new(Op::SelectByOne, Some(to), [flag, chosen, other]));
            return;
        }
        self.push(Instruction::new(Op::Select, Some(to), [flag, chosen, other]));
    }
}
