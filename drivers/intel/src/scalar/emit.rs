//! Instructions of the machine for those of a program.

use arrayvec::ArrayVec;
use tgsi_vec4::simple::{Destination as To, File, Source};

use super::copies::in_order;
use super::layout::Layout;
use super::operands::{Operands, Place};
use super::operation::FragmentOp;
use crate::error::IntelError;
use crate::isa::{
    self, AccessMode, Branch, Chip, Destination, Detail, ExecutionSize, Flag, Form, Immediate, Instruction, Opcode,
    Operand, Predicate, Region, Register, ThreadControl, Type, WriteMask, arf,
};
use crate::machine::{Alu, COPY, MachineInstruction, Op, Product, Program, UNLESS_SET};
use crate::program::{Bindings, FragmentInterface};
use crate::vec4::branches::{LoopStart, set_targets};

/// Where comparisons that write a register write flags, which nothing reads.
const UNUSED_FLAG: Flag = SAME;
/// The flags of lanes that are live: neither helpers nor killed.
pub(super) const LIVE: Flag = Flag::F0_1;
/// The flags that choose lanes for messages.
pub(super) const CHOSEN: Flag = Flag::F1_0;
/// The flags of lanes with the same index of a surface.
pub(super) const SAME: Flag = Flag::F1_1;

/// Appends instructions.
pub(super) struct Emitter<'a> {
    pub(super) chip: Chip,
    pub(super) operands: Operands<'a>,
    pub(super) interface: &'a FragmentInterface,
    pub(super) bindings: Bindings,
    pub(super) instructions: Vec<Instruction>,
    /// Whether the flags of live lanes are set.
    pub(super) has_live: bool,
    /// The first register of scratch space for spilled components.
    pub(super) spill_start: u32,
    loops: Vec<LoopStart>,
}

/// An align1 instruction for eight lanes.
pub(super) fn lanes(opcode: Opcode, to: Destination, sources: impl IntoIterator<Item = isa::Source>) -> Instruction {
    Instruction::new(opcode, AccessMode::Align1, to, sources)
}

/// An instruction on one word, whatever lanes are enabled.
pub(super) fn word(opcode: Opcode, to: Destination, sources: impl IntoIterator<Item = isa::Source>) -> Instruction {
    lanes(opcode, to, sources).with_size(ExecutionSize::X1).with_no_mask()
}

/// The first 16 bits of a flag register.
pub(super) fn flag_word(flag: Flag) -> Register {
    Register::architecture(arf::FLAG + flag.register).at(flag.half * 2)
}

/// A word of a register, as a destination.
pub(super) fn dword(register: u8, number: u8, ty: Type) -> Destination {
    Destination::new(Register::general(register).at(number * 4), ty)
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        chip: Chip,
        layout: &'a Layout,
        push: &'a [u16],
        constants: &'a tgsi_vec4::Constants,
        interface: &'a FragmentInterface,
        bindings: Bindings,
        spill_start: u32,
    ) -> Emitter<'a> {
        let operands = Operands { layout, push, constants };
        let (instructions, loops) = (Vec::new(), Vec::new());
        Emitter { chip, operands, interface, bindings, instructions, has_live: false, spill_start, loops }
    }

    /// The instructions of a program.
    pub(super) fn program(mut self, program: &Program) -> Result<Vec<Instruction>, IntelError> {
        self.has_live = self.needs_live(program);
        if self.has_live {
            self.set_live();
        }
        for instruction in program.instructions() {
            if self.emit(instruction).is_none() {
                let what = format!("form of an instruction after allocation: {instruction}");
                return Err(IntelError::Lacks { inst: None, chip: self.chip, what });
            }
        }
        self.write_targets();
        set_targets(&mut self.instructions, &self.loops)?;
        Ok(self.instructions)
    }

    /// Appends an instruction.
    pub(super) fn push(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
    }

    fn emit(&mut self, instruction: &MachineInstruction) -> Option<()> {
        match instruction.destination {
            Some(to) if to.mask.count_ones() > 1 && has_one_result(instruction.op) => {
                self.emit_components(instruction, to)
            }
            _ => self.emit_component(instruction),
        }
    }

    /// Emits an instruction for each component. Those with the same operands are copies.
    fn emit_components(&mut self, instruction: &MachineInstruction, to: To) -> Option<()> {
        let mut emitted: ArrayVec<(u8, u8), 4> = ArrayVec::new();
        for c in channels(to.mask) {
            if to.file == File::Special && c != to.mask.trailing_zeros() as u8 {
                // All components have one flag.
                break;
            }
            let is_same = |known: u8| {
                let component = |source: &Source, c: u8| source.swizzle[usize::from(c & 3)];
                let is_fragment = matches!(instruction.op, Op::Fragment(_));
                let flags = usize::from(matches!(instruction.op, Op::Select | Op::SelectByOne));
                is_fragment && !matches!(instruction.op, Op::Fragment(FragmentOp::Derivative { .. }))
                    || instruction
                        .sources
                        .iter()
                        .skip(flags)
                        .all(|source| component(source, c) == component(source, known))
            };
            let register = |s: &Self, c: u8| s.operands.register(&to, c);
            if let Some(&(_, from)) = emitted.iter().find(|&&(known, _)| is_same(known)) {
                let operand = Operand::linear(from, Type::Ud);
                self.push(lanes(Opcode::Mov, Destination::general(register(self, c)?, Type::Ud), [operand.into()]));
                continue;
            }
            // Operands of this component must not be results of others.
            let is_overwritten = instruction.sources.iter().any(|source| {
                let place = self.operands.source_place(source, c);
                emitted.iter().any(|&(_, written)| place == Some(Place::Lanes(written)))
            });
            if is_overwritten {
                return None;
            }
            let destination = Some(To { mask: 1 << c, ..to });
            self.emit_component(&MachineInstruction { destination, ..instruction.clone() })?;
            if to.file != File::Special {
                emitted.push((c, register(self, c)?));
            }
        }
        Some(())
    }

    fn emit_component(&mut self, instruction: &MachineInstruction) -> Option<()> {
        match instruction.op {
            Op::Alu(_) if instruction.op == COPY => self.copy(instruction),
            Op::Alu(alu) => self.alu(instruction, alu),
            Op::Select | Op::SelectByOne => self.select(instruction),
            Op::Product(product) => self.product(instruction, product),
            Op::Message(message) => self.message(instruction, message),
            Op::Fragment(op) => self.fragment(instruction, op),
            Op::Header(_) => None,
            Op::If => {
                let guard = instruction.guard?;
                let predicate = Predicate { inverse: guard.condition == UNLESS_SET, ..Predicate::NORMAL };
                self.branch(Opcode::If, Some(predicate))
            }
            Op::Else => self.branch(Opcode::Else, None),
            Op::EndIf => self.branch(Opcode::Endif, None),
            Op::Loop => {
                self.begin_loop();
                Some(())
            }
            Op::EndLoop => self.branch(Opcode::While, None),
            Op::Break => self.branch(Opcode::Break, None),
            Op::Continue => self.branch(Opcode::Cont, None),
        }
    }

    /// Begins a loop.
    pub(super) fn begin_loop(&mut self) {
        self.loops.push(LoopStart(self.instructions.len()));
    }

    /// Ends a loop, which lanes leave for which the predicate does not hold.
    pub(super) fn end_loop(&mut self, predicate: Predicate, flag: Flag) {
        let end = Instruction::branch_to(Opcode::While, AccessMode::Align1, Branch::default());
        self.push(end.with_predicate(predicate).with_flag(flag));
    }

    fn branch(&mut self, opcode: Opcode, predicate: Option<Predicate>) -> Option<()> {
        let mut branch = Instruction::branch_to(opcode, AccessMode::Align1, Branch::default());
        branch.predicate = predicate;
        self.push(branch);
        Some(())
    }

    /// A copy: the words of any type, or floats with modifiers.
    fn copy(&mut self, instruction: &MachineInstruction) -> Option<()> {
        let source = *instruction.sources.first()?;
        let to = instruction.destination?;
        let is_plain = (source.is_plain() || source.file == File::Constant) && !instruction.saturate;
        let ty = if is_plain { Type::Ud } else { Type::F };
        let mut copies: ArrayVec<(u8, Option<u8>, u8), 4> = ArrayVec::new();
        for channel in channels(to.mask) {
            let from = match self.operands.source_place(&source, channel) {
                Some(Place::Lanes(register)) => Some(register),
                _ => None,
            };
            let register = self.operands.register(&to, channel)?;
            if from == Some(register) && !is_plain {
                // A component that stays in its place, with modifiers.
                let operand = self.operands.source(&source, ty, channel)?;
                let copy = lanes(Opcode::Mov, Destination::general(register, ty), [operand]);
                self.push(Instruction { saturate: instruction.saturate, ..copy });
                continue;
            }
            copies.push((register, from, channel));
        }
        let spare = self.operands.layout.memory;
        let mut emitted: ArrayVec<(u8, Option<u8>, Option<u8>), 8> = ArrayVec::new();
        in_order(copies, spare, |to, from, channel| {
            let _ = emitted.try_push((to, from, channel));
        });
        for (to, from, channel) in emitted {
            let operand: isa::Source = match (from, channel) {
                (Some(register), None) => Operand::linear(register, Type::Ud).into(),
                (Some(register), Some(_)) => {
                    let operand = Operand::linear(register, ty);
                    Operand { absolute: source.absolute, negate: source.negate, ..operand }.into()
                }
                (None, channel) => self.operands.source(&source, ty, channel?)?,
            };
            let ty = if channel.is_none() { Type::Ud } else { ty };
            let saturate = instruction.saturate && channel.is_some();
            self.push(Instruction { saturate, ..lanes(Opcode::Mov, Destination::general(to, ty), [operand]) });
        }
        Some(())
    }

    /// An instruction on a component.
    fn alu(&mut self, instruction: &MachineInstruction, alu: Alu) -> Option<()> {
        let to = instruction.destination?;
        let to_flag = to.file == File::Special;
        let channel = channels(to.mask).next()?;
        // Comparisons have the type of their operands.
        let to_type = if alu.opcode == Opcode::Cmp { alu.from } else { alu.to };
        let is_ternary = alu.opcode.form() == Form::Ternary;
        // Conversions of half floats have no restrictions there.
        let is_vector = is_ternary || matches!(alu.opcode, Opcode::F16to32 | Opcode::F32to16);
        let destination = if to_flag {
            Destination::null(to_type)
        } else {
            Destination::general(self.operands.register(&to, channel)?, to_type)
        };
        let access = if is_vector { AccessMode::Align16 } else { AccessMode::Align1 };
        let mut emitted = Instruction::new(alu.opcode, access, destination.masked(WriteMask::XYZW), []);
        for (number, source) in instruction.sources.iter().enumerate() {
            let mut operand = if is_vector && source.file != File::Constant {
                self.operands.vector_operand(source, alu.from, channel, is_ternary)?.into()
            } else if alu.opcode == Opcode::Mul && alu.from == Type::D && source.file == File::Constant {
                // A factor of 16 bits.
                self.operands.source(source, Type::Uw, channel)?
            } else {
                self.operands.source(source, alu.from, channel)?
            };
            match &mut operand {
                isa::Source::Register(operand) => {
                    operand.absolute |= alu.absolute && number == 0;
                    operand.negate |= alu.negated >> number & 1 != 0;
                }
                isa::Source::Immediate(Immediate::D(value)) => {
                    if alu.absolute && number == 0 {
                        *value = value.wrapping_abs();
                    }
                    if alu.negated >> number & 1 != 0 {
                        *value = value.wrapping_neg();
                    }
                }
                isa::Source::Immediate(_) => {}
            }
            emitted.sources.try_push(operand).ok()?;
        }
        if let Some(function) = alu.math {
            emitted.detail = Detail::Math(function);
            if emitted.sources.len() < 2 {
                emitted.sources.try_push(Operand::null(AccessMode::Align1, Type::F).into()).ok()?;
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
        self.push(emitted);
        Some(())
    }

    /// A selection by flags.
    fn select(&mut self, instruction: &MachineInstruction) -> Option<()> {
        let [_, chosen, other] = instruction.sources.as_slice() else { return None };
        let to = instruction.destination?;
        let channel = channels(to.mask).next()?;
        let destination = Destination::general(self.operands.register(&to, channel)?, Type::Ud);
        let sources =
            [self.operands.source(chosen, Type::Ud, channel)?, self.operands.source(other, Type::Ud, channel)?];
        self.push(lanes(Opcode::Sel, destination, sources).with_predicate(Predicate::NORMAL));
        Some(())
    }

    /// A product of integers: the accumulator has the product with the lower half of the second factor, to which `mach`
    /// adds that with the upper half.
    fn product(&mut self, instruction: &MachineInstruction, product: Product) -> Option<()> {
        let ty = if product == Product::HighUnsigned { Type::Ud } else { Type::D };
        let [a, b] = instruction.sources.as_slice() else { return None };
        let to: To = instruction.destination?;
        let channel = channels(to.mask).next()?;
        let sources = [self.operands.source(a, ty, channel)?, self.operands.source(b, ty, channel)?];
        let to = Destination::general(self.operands.register(&to, channel)?, ty);
        let accumulator = Register::architecture(arf::ACCUMULATOR);
        self.push(lanes(Opcode::Mul, Destination::new(accumulator, ty), sources));
        let high = if product == Product::Low { Destination::null(ty) } else { to };
        let mut mach = lanes(Opcode::Mach, high, sources);
        mach.accumulator_write = true;
        self.push(mach);
        if product == Product::Low {
            let low = Operand::new(accumulator, ty, Region::LINEAR);
            self.push(lanes(Opcode::Mov, to, [low.into()]));
        }
        Some(())
    }

    /// Copies a channel of a source to a register of a payload.
    pub(super) fn load_payload(&mut self, register: u8, source: &Source, channel: u8) -> Option<()> {
        let operand = self.operands.source(source, Type::Ud, channel)?;
        self.push(lanes(Opcode::Mov, Destination::general(register, Type::Ud), [operand]));
        Some(())
    }
}

/// Whether an operation writes one component at a time.
fn has_one_result(op: Op) -> bool {
    match op {
        Op::Alu(_) => op != COPY,
        Op::Select | Op::SelectByOne | Op::Product(_) => true,
        Op::Fragment(op) => {
            !matches!(op, FragmentOp::Lookup(_) | FragmentOp::Typed(_) | FragmentOp::Interpolate { .. })
        }
        _ => false,
    }
}

/// The numbers of the channels of a mask.
pub(super) fn channels(mask: u8) -> impl Iterator<Item = u8> {
    (0..4).filter(move |channel| mask >> channel & 1 != 0)
}
