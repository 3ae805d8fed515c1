//! Rewrites a selected program so that the [rules](crate::consumers::virgl::rules) allow every instruction of it,
//! before any other pass.
//!
//! ```text
//! DADD TEMP[3], TEMP[1], IN[0]          =>     MOV TEMP[4], IN[0]
//!                                              DADD TEMP[3].xy, TEMP[1].xyxy, TEMP[4].xyxy
//!                                              DADD TEMP[3].zw, TEMP[1].zwzw, TEMP[4].zwzw
//!
//! MOV OUT[1].x, a    (CLIPDIST)                MOV TEMP[9], 0
//! MOV OUT[1].y, b                       =>     MOV TEMP[9].x, a     MOV TEMP[9].y, b     MOV OUT[1], TEMP[9]
//! ```
//!
//! Linear in the length of the program.

use std::collections::{BTreeMap, BTreeSet};

use arrayvec::ArrayVec;
use hashbrown::HashMap;
use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode, OperandType};
use tgsi_ir::shader::ShaderStage;

use crate::consumers::opcodes::{is_flow, is_narrowing};
use crate::consumers::virgl::doubles::{is_of_doubles, is_readable, pair_of};
use crate::consumers::virgl::rules::{OutputForm, Rules};
use crate::machine::Program;

/// Returns whether the rules allow every instruction. True for selected programs after [`legalize`].
pub(crate) fn is_legal(program: &Program) -> bool {
    program.instructions().iter().all(|i| program.machine.rules.allows(i))
}

/// Rewrites a program to satisfy `rules`, and stores them in it. Programs that do not come from selection may keep
/// forbidden instructions. Returns whether there are rules.
pub(super) fn legalize(program: &mut Program, stage: ShaderStage, rules: Rules) -> bool {
    if rules.allow_all() {
        return false;
    }
    program.machine.rules = rules.clone();
    let old = program.take_instructions();
    let collected = collected_outputs(&old, &rules);
    let repeated = inputs_of_many_blocks(&old);
    let mut legalizer =
        Legalizer { program, rules, stage, collected: BTreeMap::new(), copies: HashMap::new(), inputs: HashMap::new() };
    for &register in &collected {
        let temp = legalizer.program.new_temp();
        legalizer.collected.insert(register, temp);
        let zero = legalizer.program.constants.intern([0; 4]);
        let zero = Src::new(Register::new(File::Immediate, zero));
        legalizer.push(Opcode::Mov, Dst::new(temporary(temp)), &[zero]);
    }
    for register in repeated {
        let temp = legalizer.new_temp();
        legalizer.push(Opcode::Mov, Dst::new(temp), &[Src::new(register)]);
        legalizer.inputs.insert(register, temp);
    }
    for instruction in old {
        legalizer.instruction(instruction);
    }
    if !matches!(stage, ShaderStage::Geometry | ShaderStage::TessCtrl) {
        legalizer.store_collected();
    }
    true
}

fn temporary(number: u32) -> Register {
    Register::new(File::Temporary, number as i32)
}

/// Outputs that are written in parts but must be written whole; each is collected in a temporary.
fn collected_outputs(instructions: &[Instruction], rules: &Rules) -> BTreeSet<i32> {
    let written = instructions.iter().filter_map(|i| i.dst.first()).filter(|d| d.register.file == File::Output);
    let in_parts = written.filter(|dst| {
        dst.write_mask != 0xf
            && dst.register.indirect.is_none()
            && rules.output_form(dst.register.index) == OutputForm::Whole
    });
    in_parts.map(|dst| dst.register.index).collect()
}

/// Inputs that opcodes of doubles read in more than one block.
fn inputs_of_many_blocks(instructions: &[Instruction]) -> Vec<Register> {
    let mut first: HashMap<Register, Option<usize>> = HashMap::new();
    let mut found = Vec::new();
    let mut block = 0;
    for instruction in instructions {
        block += usize::from(is_flow(instruction.opcode));
        let types = instruction.opcode.info().src_types;
        for (src, _) in instruction.src.iter().zip(types).filter(|(_, ty)| **ty == OperandType::Double) {
            let register = src.register;
            if register.file != File::Input || !is_constant(&register) {
                continue;
            }
            let known = first.entry(register).or_insert(Some(block));
            if known.is_some_and(|b| b != block) {
                *known = None;
                found.push(register);
            }
        }
    }
    found
}

/// Whether the content of a register never changes.
fn is_constant(register: &Register) -> bool {
    matches!(register.file, File::Input | File::Immediate | File::SystemValue)
        && register.indirect.is_none()
        && register.dimension.is_none_or(|d| d.indirect.is_none())
}

struct Legalizer<'a> {
    program: &'a mut Program,
    rules: Rules,
    stage: ShaderStage,
    /// The temporary in which an output is collected.
    collected: BTreeMap<i32, u32>,
    /// The copies of registers made in this block.
    copies: HashMap<Register, Register>,
    /// The copies of inputs made at the start of the program.
    inputs: HashMap<Register, Register>,
}

impl Legalizer<'_> {
    fn push(&mut self, opcode: Opcode, dst: Dst, src: &[Src]) {
        let mut instruction = Instruction::new(opcode);
        instruction.dst.push(dst);
        instruction.src.extend(src.iter().copied().take(5));
        self.program.push(instruction);
    }

    fn new_temp(&mut self) -> Register {
        temporary(self.program.new_temp())
    }

    /// Stores collected outputs whole.
    fn store_collected(&mut self) {
        for (register, temp) in self.collected.clone() {
            let dst = Dst::new(Register::new(File::Output, register));
            self.push(Opcode::Mov, dst, &[Src::new(temporary(temp))]);
        }
    }

    fn instruction(&mut self, instruction: Instruction) {
        if is_flow(instruction.opcode) {
            self.copies.clear();
        }
        match instruction.opcode {
            Opcode::Emit => {
                self.store_collected();
                self.program.push(instruction);
            }
            _ if instruction.dst.first().is_some_and(|d| d.register.file == File::Output) => self.output(instruction),
            _ => self.operation(instruction),
        }
    }

    /// Legalises a write to an output.
    fn output(&mut self, mut instruction: Instruction) {
        let Some(&dst) = instruction.dst.first() else { return };
        if let Some(&temp) = self.collected.get(&dst.register.index).filter(|_| dst.register.indirect.is_none()) {
            instruction.dst[0].register = temporary(temp);
            self.operation(instruction);
            if self.stage == ShaderStage::TessCtrl {
                // There every write needs a store, since other invocations read the output; each invocation writes only
                // its own vertex.
                self.push(Opcode::Mov, Dst { write_mask: 0xf, ..dst }, &[Src::new(temporary(temp))]);
            }
            return;
        }
        match self.rules.output_form(dst.register.index) {
            OutputForm::OneComponent if dst.write_mask.count_ones() > 1 => {
                for c in (0..4u8).filter(|c| dst.write_mask & 1 << c != 0) {
                    let mut one = instruction.clone();
                    one.dst[0].write_mask = 1 << c;
                    for src in &mut one.src {
                        src.swizzle = [src.swizzle[usize::from(c)]; 4];
                    }
                    self.operation(one);
                }
            }
            _ => self.operation(instruction),
        }
    }

    /// Legalises an instruction that computes a value.
    fn operation(&mut self, mut instruction: Instruction) {
        if is_of_doubles(instruction.opcode) && !self.rules.allows(&instruction) {
            return self.doubles(instruction);
        }
        self.copy_operands(&mut instruction);
        let Some(&dst) = instruction.dst.first() else { return self.program.push(instruction) };
        if self.rules.allows_mask(&instruction, dst.write_mask) {
            return self.program.push(instruction);
        }
        // One component at a time; not directly into the destination if it is also an operand.
        let overlaps = instruction.src.iter().any(|s| s.register == dst.register) || dst.register.file == File::Output;
        let target = if overlaps { self.new_temp() } else { dst.register };
        for c in (0..4u8).filter(|c| dst.write_mask & 1 << c != 0) {
            let mut one = instruction.clone();
            one.dst[0] = Dst::new(target).masked(1 << c);
            for src in &mut one.src {
                src.swizzle = [src.swizzle[usize::from(c)]; 4];
            }
            self.program.push(one);
        }
        if overlaps {
            self.push(Opcode::Mov, dst, &[Src::new(target)]);
        }
    }

    /// Copies operands that are not allowed to temporaries; their modifiers stay.
    fn copy_operands(&mut self, instruction: &mut Instruction) {
        for number in 0..instruction.src.len() {
            if instruction.opcode.info().src_types.get(number) == Some(&OperandType::Double) {
                continue;
            }
            let src = instruction.src[number];
            let counts = instruction.src[0].register.file == File::HwAtomic;
            let by_other = counts && number == 2 && !self.is_step(instruction, &src);
            if !by_other && self.rules.allows_operand(instruction, number, &src) {
                continue;
            }
            let copy = self.new_temp();
            self.push(Opcode::Mov, Dst::new(copy), &[Src::new(src.register)]);
            instruction.src[number].register = copy;
        }
    }

    /// Whether a counter is incremented or decremented by one.
    fn is_step(&self, instruction: &Instruction, src: &Src) -> bool {
        let word = self.program.constants.row(src.register.index)[usize::from(src.swizzle[0] & 3)];
        src.register.file != File::Immediate || instruction.opcode == Opcode::Atomuadd && matches!(word, 1 | u32::MAX)
    }

    /// Splits an instruction with doubles into one per result.
    fn doubles(&mut self, instruction: Instruction) {
        let Some(&dst) = instruction.dst.first() else { return };
        let opcode = instruction.opcode;
        let info = opcode.info();
        let is_wide = info.dst_type == OperandType::Double;
        // The components written, and the half of the operands that they are computed from.
        let mut results: ArrayVec<(u8, usize), 4> = ArrayVec::new();
        if is_wide {
            results.extend((0..2).map(|half| (dst.write_mask & 3 << (2 * half), half)).filter(|r| r.0 != 0));
        } else {
            let channels = (0..4u8).filter(|c| dst.write_mask & 1 << c != 0);
            let half = |k: usize, c: u8| if is_narrowing(opcode) { k & 1 } else { usize::from(c / 2) };
            results.extend(channels.enumerate().map(|(k, c)| (1 << c, half(k, c))));
        }
        let mut made: ArrayVec<(u8, Instruction), 4> = ArrayVec::new();
        for &(mask, half) in &results {
            let mut one = instruction.clone();
            for (number, src) in one.src.iter_mut().enumerate() {
                *src = if info.src_types.get(number) == Some(&OperandType::Double) {
                    self.double_operand(*src, pair_of(src, half))
                } else {
                    Src { swizzle: [src.swizzle[half]; 4], ..*src }
                };
            }
            self.copy_operands(&mut one);
            made.push((mask, one));
        }
        // The first result must not overwrite the operands of the second.
        let is_array =
            |register: &Register| register.indirect.is_some() || register.index < self.program.first_temp() as i32;
        let overlaps = |src: &Src| {
            src.register.file == File::Temporary
                && (src.register.index == dst.register.index || is_array(&src.register) && is_array(&dst.register))
        };
        let direct = dst.register.file == File::Temporary
            && (made.len() == 1 || !made.iter().flat_map(|(_, one)| &one.src).any(overlaps));
        let mut copies: ArrayVec<(u8, Register), 4> = ArrayVec::new();
        for (mask, mut one) in made {
            one.dst[0].write_mask = mask;
            if !direct {
                let target = self.new_temp();
                one.dst[0] = Dst::new(target).masked(if is_wide { 0b11 } else { 1 });
                copies.push((mask, target));
            }
            self.program.push(one);
        }
        for (mask, from) in copies {
            let swizzle = if is_wide { [0, 1, 0, 1] } else { [0; 4] };
            self.push(Opcode::Mov, Dst { write_mask: mask, ..dst }, &[Src::new(from).swizzled(swizzle)]);
        }
    }

    /// Returns a temporary with a copy of the whole register, if it never changes: shared within a block, or
    /// everywhere.
    fn whole_copy(&mut self, register: &Register) -> Option<Register> {
        if !is_constant(register) {
            return None;
        }
        if let Some(&copy) = self.inputs.get(register).or_else(|| self.copies.get(register)) {
            return Some(copy);
        }
        let copy = self.new_temp();
        self.push(Opcode::Mov, Dst::new(copy), &[Src::new(*register)]);
        self.copies.insert(*register, copy);
        Some(copy)
    }

    /// Returns a double in a form that opcodes support, without modifiers.
    fn double_operand(&mut self, src: Src, [a, b]: [u8; 2]) -> Src {
        let (absolute, negate) = (src.absolute, src.negate);
        let plain = Src { absolute: false, negate: false, swizzle: [a, b, a, b], ..src };
        let in_place = matches!(src.register.file, File::Temporary | File::Constant) && is_readable([a, b]);
        if in_place && !absolute && !negate {
            return plain;
        }
        let mut value = plain;
        if !in_place {
            let copy = self.whole_copy(&src.register).filter(|_| is_readable([a, b]));
            value = match copy {
                Some(copy) => Src::new(copy).swizzled(plain.swizzle),
                None => {
                    let copy = self.new_temp();
                    self.push(Opcode::Mov, Dst::new(copy).masked(0b11), &[plain]);
                    Src::new(copy).swizzled([0, 1, 0, 1])
                }
            };
        }
        for (wanted, opcode) in [(absolute, Opcode::Dabs), (negate, Opcode::Dneg)] {
            if wanted {
                let changed = self.new_temp();
                self.push(opcode, Dst::new(changed).masked(0b11), &[value]);
                value = Src::new(changed).swizzled([0, 1, 0, 1]);
            }
        }
        value
    }
}
