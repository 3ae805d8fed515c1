//! Instructions of the machine for those of a program.

use tgsi_vec4::simple::{File, Guard, Source};

use super::branches::{LoopStart, set_targets};
use super::layout::Layout;
use super::operands::{Operands, immediate};
use crate::error::IntelError;
use crate::isa::{
    AccessMode, Branch, Chip, Destination, Flag, Form, Immediate, Instruction, Opcode, Operand, Predicate,
    PredicateControl, Region, Register, Swizzle, ThreadControl, Type, WriteMask, arf,
};
use crate::machine::{Alu, COPY, FLAG, MachineInstruction, Op, Product, Program, UNLESS_SET, small_floats};

/// Appends instructions.
pub(super) struct Emitter<'a> {
    pub(super) chip: Chip,
    pub(super) operands: Operands<'a>,
    pub(super) instructions: Vec<Instruction>,
    loops: Vec<LoopStart>,
    /// The size of control data of geometry programs.
    pub(super) control_size: u32,
}

/// The predicate of a condition of control flow.
fn predicate_of(guard: Guard) -> Predicate {
    Predicate { inverse: guard.condition == UNLESS_SET, ..Predicate::NORMAL }
}

/// The opcode of a jump in a loop.
fn jump_opcode(op: Op) -> Option<Opcode> {
    match op {
        Op::Break => Some(Opcode::Break),
        Op::Continue => Some(Opcode::Cont),
        _ => None,
    }
}

/// Where comparisons that write a register write flags, which nothing reads.
pub(super) const UNUSED_FLAG: Flag = Flag::F0_1;

impl<'a> Emitter<'a> {
    pub(super) fn new(
        chip: Chip,
        layout: &'a Layout,
        push: &'a [u16],
        constants: &'a tgsi_vec4::Constants,
    ) -> Emitter<'a> {
        let operands = Operands { layout, push, constants };
        Emitter { chip, operands, instructions: Vec::new(), loops: Vec::new(), control_size: 0 }
    }

    /// The instructions of a vertex program.
    pub(super) fn vertex_program(mut self, program: &Program) -> Result<Vec<Instruction>, IntelError> {
        self.body(program)?;
        self.write_vertex();
        self.finish()
    }

    /// The instructions of a geometry program.
    pub(super) fn geometry_program(
        mut self,
        program: &Program,
        control_size: u32,
    ) -> Result<Vec<Instruction>, IntelError> {
        self.control_size = control_size;
        self.clear_header();
        self.body(program)?;
        self.finish()
    }

    fn finish(mut self) -> Result<Vec<Instruction>, IntelError> {
        set_targets(&mut self.instructions, &self.loops)?;
        Ok(self.instructions)
    }

    /// The instructions of a program, without its end.
    fn body(&mut self, program: &Program) -> Result<(), IntelError> {
        // Parts of the header that the program does not write are zeros.
        if let Some(header) = self.operands.layout.slot(0) {
            let to = Destination::vectors(header, Type::Ud, WriteMask::XYZW);
            self.instructions.push(Instruction::vector(Opcode::Mov, to, [Immediate::Ud(0).into()]));
        }
        let list = program.instructions();
        // The instructions that a jump under a condition has taken the place of.
        let mut skipped = 0;
        for (number, instruction) in list.iter().enumerate() {
            if number < skipped {
                continue;
            }
            let channels = |source: usize| program.accesses()[number].channels(source);
            if let [MachineInstruction { op: Op::If, guard: Some(guard), .. }, jump, end, ..] = &list[number..]
                && let Some(opcode) = jump_opcode(jump.op)
                && end.op == Op::EndIf
            {
                self.branch(opcode, Some(predicate_of(*guard)));
                skipped = number + 3;
                continue;
            }
            if self.emit(instruction, channels).is_none() {
                let what = format!("form of an instruction after allocation: {instruction}");
                return Err(IntelError::Lacks { inst: None, chip: self.chip, what });
            }
        }
        Ok(())
    }

    fn emit(&mut self, instruction: &MachineInstruction, channels: impl Fn(usize) -> u8) -> Option<()> {
        match instruction.op {
            Op::Alu(_) if instruction.op == COPY => self.copy(instruction, &channels),
            Op::Alu(alu) => self.alu(instruction, alu, &channels),
            Op::Select | Op::SelectByOne => self.select(instruction, &channels),
            Op::Product(product) => self.product(instruction, product, &channels),
            Op::Message(message) => self.message(instruction, message),
            Op::Fragment(_) => None,
            Op::Header(value) => self.header_value(instruction, value),
            Op::If => {
                self.branch(Opcode::If, Some(predicate_of(instruction.guard?)));
                Some(())
            }
            Op::Else => self.plain_branch(Opcode::Else),
            Op::EndIf => self.plain_branch(Opcode::Endif),
            Op::Loop => {
                self.loops.push(LoopStart(self.instructions.len()));
                Some(())
            }
            Op::EndLoop => self.plain_branch(Opcode::While),
            Op::Break => self.plain_branch(Opcode::Break),
            Op::Continue => self.plain_branch(Opcode::Cont),
        }
    }

    fn plain_branch(&mut self, opcode: Opcode) -> Option<()> {
        self.branch(opcode, None);
        Some(())
    }

    fn branch(&mut self, opcode: Opcode, predicate: Option<Predicate>) {
        let mut branch = Instruction::branch_to(opcode, AccessMode::Align16, Branch::default());
        branch.predicate = predicate;
        self.instructions.push(branch);
    }

    /// A copy: the words of any type, or floats with modifiers.
    fn copy(&mut self, instruction: &MachineInstruction, channels: &impl Fn(usize) -> u8) -> Option<()> {
        let source = instruction.sources.first()?;
        let to = instruction.destination?;
        if source.file == File::Constant {
            return self.copy_constants(instruction, source);
        }
        let is_plain = source.is_plain() && !instruction.saturate;
        let ty = if is_plain { Type::Ud } else { Type::F };
        let source = self.operands.source(source, ty, channels(0))?;
        let mut copy = Instruction::vector(Opcode::Mov, self.operands.destination(&to, ty)?, [source]);
        copy.saturate = instruction.saturate;
        self.instructions.push(copy);
        Some(())
    }

    /// Copies of constants: one for components with small floats, and one for each other word.
    fn copy_constants(&mut self, instruction: &MachineInstruction, source: &Source) -> Option<()> {
        let to = instruction.destination?;
        let mut words = self.operands.words(source);
        if instruction.saturate {
            // NaN becomes 0.
            words = words.map(|word| {
                if f32::from_bits(word).is_nan() { 0 } else { f32::from_bits(word).clamp(0.0, 1.0).to_bits() }
            });
        }
        let is_small = |c: usize| small_floats([words[c]; 4]).is_some();
        let mut left = to.mask & 15;
        let small = (0..4).filter(|&c| left >> c & 1 != 0 && is_small(c)).fold(0u8, |mask, c| mask | 1 << c);
        let mut moves: Vec<(u8, Immediate, Type)> = Vec::new();
        let differ = (0..4).any(|c| small >> c & 1 != 0 && words[c] != words[small.trailing_zeros() as usize & 3]);
        if differ {
            let row = [0, 1, 2, 3].map(|c: usize| if small >> c & 1 != 0 { words[c] } else { 0 });
            moves.push((small, Immediate::Vf(small_floats(row)?), Type::F));
            left &= !small;
        }
        while left != 0 {
            let word = words[left.trailing_zeros() as usize & 3];
            let mask = (0..4).filter(|&c| left >> c & 1 != 0 && words[c] == word).fold(0u8, |mask, c| mask | 1 << c);
            moves.push((mask, immediate(word, Type::Ud), Type::Ud));
            left &= !mask;
        }
        for (mask, constant, ty) in moves {
            let to = self.operands.destination(&tgsi_vec4::simple::Destination { mask, ..to }, ty)?;
            self.instructions.push(Instruction::vector(Opcode::Mov, to, [constant.into()]));
        }
        Some(())
    }

    /// An instruction on components.
    fn alu(&mut self, instruction: &MachineInstruction, alu: Alu, channels: &impl Fn(usize) -> u8) -> Option<()> {
        let to = instruction.destination?;
        let to_flag = to.file == File::Special;
        // Comparisons have the type of their operands.
        let to_type = if alu.opcode == Opcode::Cmp { alu.from } else { alu.to };
        let destination = self.operands.destination(&to, to_type)?;
        let is_ternary = alu.opcode.form() == Form::Ternary;
        let mut emitted = Instruction::vector(alu.opcode, destination, []);
        for (number, source) in instruction.sources.iter().enumerate() {
            let mut operand = if is_ternary {
                self.operands.ternary_operand(source, alu.from, channels(number))?.into()
            } else if alu.opcode == Opcode::Mul && alu.from == Type::D && source.file == File::Constant {
                // A factor of 16 bits.
                self.operands.source(source, Type::Uw, channels(number))?
            } else {
                self.operands.source(source, alu.from, channels(number))?
            };
            match &mut operand {
                crate::isa::Source::Register(operand) => {
                    operand.absolute |= alu.absolute && number == 0;
                    operand.negate |= alu.negated >> number & 1 != 0;
                }
                crate::isa::Source::Immediate(constant) => {
                    if let Immediate::D(value) = constant {
                        if alu.absolute && number == 0 {
                            *value = value.wrapping_abs();
                        }
                        if alu.negated >> number & 1 != 0 {
                            *value = value.wrapping_neg();
                        }
                    }
                }
            }
            emitted.sources.try_push(operand).ok()?;
        }
        if let Some(function) = alu.math {
            emitted.detail = crate::isa::Detail::Math(function);
            if emitted.sources.len() < 2 {
                emitted.sources.try_push(Operand::null(AccessMode::Align16, Type::F).into()).ok()?;
            }
        }
        emitted.saturate = instruction.saturate;
        emitted.condition = alu.condition;
        if alu.opcode == Opcode::Cmp {
            if to_flag {
                // A restriction of comparisons that write flags only.
                emitted.thread = ThreadControl::Switch;
            } else {
                emitted.flag = UNUSED_FLAG;
            }
        }
        self.instructions.push(emitted);
        Some(())
    }

    /// A selection by flags.
    fn select(&mut self, instruction: &MachineInstruction, channels: &impl Fn(usize) -> u8) -> Option<()> {
        let [flag, chosen, other] = instruction.sources.as_slice() else { return None };
        let to = self.operands.destination(&instruction.destination?, Type::Ud)?;
        let sources =
            [self.operands.source(chosen, Type::Ud, channels(1))?, self.operands.source(other, Type::Ud, channels(2))?];
        let control = if instruction.op == Op::Select {
            PredicateControl::Normal
        } else {
            match flag.swizzle[0] & 3 {
                0 => PredicateControl::X,
                1 => PredicateControl::Y,
                2 => PredicateControl::Z,
                _ => PredicateControl::W,
            }
        };
        debug_assert_eq!(flag.index, i32::from(FLAG));
        let select = Instruction::vector(Opcode::Sel, to, sources);
        self.instructions.push(select.with_predicate(Predicate { control, inverse: false }));
        Some(())
    }

    /// A product of integers: the accumulator has the product with the lower half of the second factor, to which `mach`
    /// adds that with the upper half.
    fn product(
        &mut self,
        instruction: &MachineInstruction,
        product: Product,
        channels: &impl Fn(usize) -> u8,
    ) -> Option<()> {
        let ty = if product == Product::HighUnsigned { Type::Ud } else { Type::D };
        let [a, b] = instruction.sources.as_slice() else { return None };
        let sources = [self.operands.source(a, ty, channels(0))?, self.operands.source(b, ty, channels(1))?];
        let to = self.operands.destination(&instruction.destination?, ty)?;
        let accumulator = Register::architecture(arf::ACCUMULATOR);
        let first = Destination::new(accumulator, ty).masked(WriteMask(to.mask.0));
        self.instructions.push(Instruction::vector(Opcode::Mul, first, sources));
        let high = if product == Product::Low { Destination::null(ty).masked(to.mask) } else { to };
        let mut mach = Instruction::vector(Opcode::Mach, high, sources);
        mach.accumulator_write = true;
        self.instructions.push(mach);
        if product == Product::Low {
            let low = Operand::new(accumulator, ty, Region::swizzled(Swizzle::IDENTITY));
            self.instructions.push(Instruction::vector(Opcode::Mov, to, [low.into()]));
        }
        Some(())
    }
}
