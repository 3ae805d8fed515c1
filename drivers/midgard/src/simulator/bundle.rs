//! Bundles of the ALU on a thread: two stages, and the condition of the branch.
//!
//! The first stage reads the registers as they are before the bundle, the second stage as they are after the first.
//! r24, r25 and r31 last for the bundle; r31 begins with the program counter and the stack pointer.

use super::alu::{self, Operands, Write};
use super::{Registers, Trap};
use crate::isa::alu::{
    AluBundle, AluOp, Branch, Condition, ScalarOperand, ScalarSource, UnitInstruction, VectorOperand, VectorSource,
    repeat,
};
use crate::isa::{Chip, Register, Resources, Role};

/// The state of a bundle.
pub(super) struct BundleState<'a> {
    bundle: &'a AluBundle,
    index: usize,
    resources: Resources,
    registers: &'a mut Registers,
    pipeline: [u128; 2],
    condition: Write,
    /// The written bits of r1, which a write-out reads.
    state: u128,
}

impl<'a> BundleState<'a> {
    /// The state before a bundle. `counter` is the value of r31.
    pub(super) fn new(
        (index, bundle): (usize, &'a AluBundle),
        resources: Resources,
        registers: &'a mut Registers,
        counter: u128,
    ) -> BundleState<'a> {
        let condition = Write { bits: counter, mask: 0 };
        BundleState { bundle, index, resources, registers, pipeline: [0; 2], condition, state: 0 }
    }

    /// Executes the units.
    pub(super) fn run(&mut self) -> Result<(), Trap> {
        let bundle = self.bundle;
        let mut writes = [(Register::UNUSED, Write::default()); 3];
        for stage in [false, true] {
            let mut count = 0;
            for (_, instruction) in bundle.instructions().filter(|(unit, _)| unit.is_second_stage() == stage) {
                writes[count] = self.execute(instruction)?;
                count += 1;
            }
            for (register, write) in &writes[..count] {
                self.write(*register, write, stage)?;
            }
        }
        Ok(())
    }

    fn execute(&self, instruction: UnitInstruction<'_>) -> Result<(Register, Write), Trap> {
        let (op, destination) = match instruction {
            UnitInstruction::Vector(vector) => (vector.op, vector.destination),
            UnitInstruction::Scalar(scalar) => (scalar.op, scalar.destination),
        };
        self.check_condition(op)?;
        let undefined = Trap::Undefined(self.index, op.row().name);
        let [first, second] = op.reads();
        let write = match instruction {
            UnitInstruction::Vector(vector) => {
                let operands = |source: &VectorSource| {
                    alu::vector_source(self.read(source.register)?, source, vector.width).ok_or(undefined)
                };
                let a = if first { operands(&vector.first)? } else { Operands::default() };
                let b = match &vector.second {
                    VectorOperand::Immediate(value) => alu::immediate(*value, vector.width),
                    VectorOperand::Source(source) if second => operands(source)?,
                    VectorOperand::Source(_) => Operands::default(),
                };
                alu::vector(vector, &a, &b, self.condition.bits)
            }
            UnitInstruction::Scalar(scalar) => {
                let operand =
                    |source: &ScalarSource| alu::scalar_source(self.read(source.register)?, source).ok_or(undefined);
                let a = if first { operand(&scalar.first)? } else { Default::default() };
                let b = match &scalar.second {
                    ScalarOperand::Immediate(value) => alu::scalar_immediate(*value),
                    ScalarOperand::Source(source) if second => operand(source)?,
                    ScalarOperand::Source(_) => Default::default(),
                };
                alu::scalar(scalar, a, b, self.condition.bits)
            }
        };
        Ok((destination, write.ok_or(undefined)?))
    }

    /// Returns an error for a selection whose condition no unit has written.
    fn check_condition(&self, op: AluOp) -> Result<(), Trap> {
        let is_written = match op {
            AluOp::Icsel | AluOp::Fcsel => self.has_condition(),
            AluOp::IcselV | AluOp::FcselV => self.condition.mask != 0,
            _ => true,
        };
        if is_written { Ok(()) } else { Err(Trap::Undefined(self.index, "a condition that no unit writes")) }
    }

    /// Whether r31.w is written.
    fn has_condition(&self) -> bool {
        self.condition.mask >> 96 != 0
    }

    fn read(&self, register: Register) -> Result<u128, Trap> {
        let trap = Trap::Register(self.index, register.number());
        let aliases = self.resources.chip.aliases_texture_registers();
        match register.role() {
            _ if self.resources.is_work(register) || self.resources.is_uniform(register) => {
                Ok(self.registers.get(register))
            }
            Role::Pipeline => Ok(self.pipeline[usize::from(register.index_in_role() & 1)]),
            Role::LoadStore if register == Register::CONSTANTS => {
                self.bundle.constants.map(|constants| super::registers::from_words(constants.0)).ok_or(trap)
            }
            Role::Texture if aliases => self.read(Register::new(register.index_in_role()).ok_or(trap)?),
            Role::Texture => Ok(self.registers.get(register)),
            Role::Condition => Ok(self.condition.bits),
            _ => Err(trap),
        }
    }

    fn write(&mut self, register: Register, write: &Write, is_second_stage: bool) -> Result<(), Trap> {
        let trap = Trap::Register(self.index, register.number());
        if register.number() == 1 {
            self.state |= write.mask;
        }
        match register.role() {
            _ if self.resources.is_work(register) => write.apply(self.registers.get_mut(register)),
            // In the second stage, the registers are those of unused results.
            Role::Pipeline if is_second_stage => {}
            Role::Pipeline => write.apply(&mut self.pipeline[usize::from(register.index_in_role() & 1)]),
            Role::LoadStore => write.apply(self.registers.get_mut(register)),
            Role::Texture => {
                write.apply(texture_operand(self.registers, register.index_in_role(), self.resources.chip))
            }
            Role::Condition => {
                write.apply(&mut self.condition.bits);
                self.condition.mask |= write.mask;
            }
            _ => return Err(trap),
        }
        Ok(())
    }

    /// Whether the condition of the branch holds.
    pub(super) fn holds(&self, branch: &Branch) -> Result<bool, Trap> {
        let condition = match *branch {
            Branch::Jump { .. } => Condition::Always,
            Branch::Conditional { condition, .. } => condition,
            Branch::Extended { conditions, .. } => {
                let simple = Condition::ALL.iter().find(|&&condition| repeat(condition) == conditions);
                *simple.ok_or(Trap::Undefined(self.index, "a branch on several conditions"))?
            }
        };
        match condition {
            Condition::Write0 => Ok(false),
            Condition::Always => Ok(true),
            _ if !self.has_condition() => Err(Trap::Undefined(self.index, "a condition that no unit writes")),
            _ => Ok((self.condition.bits >> 96 != 0) == (condition == Condition::True)),
        }
    }

    /// The operands of a write-out: colour, and the components of r1 that the bundle has written.
    pub(super) fn write_out(&self) -> ([u32; 4], [Option<u32>; 4]) {
        let [colour, state] =
            [0, 1].map(|number| Register::new(number).map_or([0; 4], |register| self.registers.words(register)));
        let written =
            |component: usize| (self.state >> (32 * component) & 0xffff_ffff != 0).then_some(state[component]);
        (colour, [0, 1, 2, 3].map(written))
    }
}

/// The bits of an operand of the texture unit, 0 or 1, which other units write.
pub(super) fn texture_operand(registers: &mut Registers, index: u8, chip: Chip) -> &mut u128 {
    match Register::new(Register::CONSTANTS.number() + (index & 1)) {
        Some(register) if chip.aliases_texture_registers() => registers.get_mut(register),
        _ => registers.texture_operand_mut(index),
    }
}

/// Whether an instruction reads a register.
pub(super) fn reads_register(instruction: UnitInstruction<'_>, register: Register) -> bool {
    match instruction {
        UnitInstruction::Vector(vector) => vector.sources().any(|source| source == register),
        UnitInstruction::Scalar(scalar) => scalar.sources().any(|source| source == register),
    }
}
