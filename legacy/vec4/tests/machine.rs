//! A small machine with vectors of four words: the definitions that a backend must provide, in as few lines as
//! possible.
//!
//! It has the features that make real machines hard: write masks, swizzles, a negation and a saturation, opcodes that
//! work channel by channel, on pairs or in other ways, results that are stored whole, pairs that are computed in
//! sequence, arrays with an address register, and outputs that are visible before the end.

use rustc_hash::FxHasher;
use tgsi_vec4::reaching_definitions::ReachingDefinitions;
use tgsi_vec4::{
    Allocate, Constants, Flow, HoistConstants, Location, Machine, Merge, PropagateBackward, PropagateCopies, Reg,
    RegisterAccess, RegisterCopy, SwizzleConstraint, Traits, Vectorize,
};

use std::fmt;
use std::hash::Hasher;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Mov,
    Add,
    Mul,
    Less,
    /// All channels are the sum of the products of all components.
    Dot,
    /// Channel `c` is a word of memory at x of the source plus `c`.
    Load,
    /// x and y are computed from x and y of the sources, then z and w from z and w.
    Twist,
    /// Adds x of the source to a counter; the result, in x, is the previous value, and is stored to all components.
    Atomic,
    /// Loads the address register.
    Address,
    /// Writes to the log.
    Store,
    /// Writes all outputs to the log.
    Emit,
    If,
    Else,
    EndIf,
    Loop,
    EndLoop,
    Break,
    Continue,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum File {
    Temp,
    Output,
    Input,
    Constant,
    Address,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dst {
    pub file: File,
    pub index: u32,
    /// Whether the address register is added.
    pub indirect: bool,
    pub mask: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Src {
    pub file: File,
    pub index: u32,
    pub indirect: bool,
    pub swizzle: [u8; 4],
    pub negate: bool,
}

impl Src {
    pub fn new(file: File, index: u32) -> Src {
        Src { file, index, indirect: false, swizzle: [0, 1, 2, 3], negate: false }
    }

    fn is_same_register(&self, other: &Src) -> bool {
        Src { swizzle: other.swizzle, ..*self } == *other
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    pub op: Op,
    pub saturate: bool,
    pub dst: Option<Dst>,
    pub src: Vec<Src>,
}

impl Instruction {
    pub fn new(op: Op, dst: Option<Dst>, src: &[Src]) -> Instruction {
        Instruction { op, saturate: false, dst, src: src.to_vec() }
    }

    fn mask(&self) -> u8 {
        self.dst.map_or(0, |dst| dst.mask)
    }

    /// The channels of its sources on which the result depends.
    fn channels(&self) -> u8 {
        match self.op {
            Op::Load | Op::Atomic | Op::If => 1,
            Op::Dot | Op::Store => 0xf,
            Op::Twist => [0, 3, 12, 15][usize::from(self.mask() & 3 != 0) + 2 * usize::from(self.mask() & 12 != 0)],
            _ => self.mask(),
        }
    }

    /// Moves channel `from[c]` to channel `c`, for the channels of `mask`.
    fn permute(&mut self, mask: u8, from: [u8; 4]) {
        if componentwise(self.op) {
            for src in &mut self.src {
                let old = src.swizzle;
                for c in (0..4).filter(|c| mask >> c & 1 != 0) {
                    src.swizzle[c] = old[usize::from(from[c])];
                }
            }
        }
        if let Some(dst) = &mut self.dst {
            dst.mask = mask;
        }
    }
}

pub fn componentwise(op: Op) -> bool {
    matches!(op, Op::Mov | Op::Add | Op::Mul | Op::Less)
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Toy;

pub type Program = tgsi_vec4::Program<Toy>;

fn register(file: File, index: u32, first_temp: u32) -> Option<Reg> {
    match file {
        File::Temp => Some(Reg::numbered(index, first_temp)),
        File::Output => Some(Reg::output(index)),
        File::Address => Reg::special(index),
        File::Input | File::Constant => None,
    }
}

fn temp(file: File, index: u32, first_temp: u32) -> Option<usize> {
    (file == File::Temp).then(|| index.checked_sub(first_temp))?.map(|temp| temp as usize)
}

impl Machine for Toy {
    type Instruction = Instruction;
    type Opcode = Op;

    fn access(&self, instruction: &Instruction, first_temp: u32) -> RegisterAccess<Op> {
        let op = instruction.op;
        let mut traits = Traits::NONE;
        traits.add(Traits::COMPONENTWISE, componentwise(op));
        traits.add(Traits::REPLICATED, op == Op::Dot);
        traits.add(Traits::PAIRS, op == Op::Twist);
        traits.add(Traits::COPY, op == Op::Mov);
        traits.add(Traits::FLOW, Toy::flow(op).is_some());
        traits.add(Traits::EFFECT, Toy::flow(op).is_some() || matches!(op, Op::Atomic | Op::Store | Op::Emit));
        traits.add(Traits::CONSTRAINS, matches!(op, Op::Load | Op::Twist | Op::Atomic));
        traits.add(Traits::NARROWS, !matches!(op, Op::Twist | Op::Atomic));
        traits.add(Traits::OUTPUT_BARRIER, op == Op::Emit);
        traits.add(Traits::STORES_WHOLE, op == Op::Atomic);
        let mut access = RegisterAccess::new(op, traits);
        for (number, src) in instruction.src.iter().enumerate() {
            let mask = access.source(number, instruction.channels(), src.swizzle);
            if src.indirect {
                access.read(Reg::special(0).unwrap(), 1);
                access.traits.add(Traits::READS_FIXED, true);
                continue;
            }
            let Some(register) = register(src.file, src.index, first_temp) else { continue };
            access.traits.add(Traits::READS_FIXED, register.as_fixed().is_some());
            access.traits.add(Traits::READS_OUTPUT, register.as_output().is_some());
            access.read(register, mask);
        }
        if let Some(dst) = instruction.dst {
            let register = register(dst.file, dst.index, first_temp).unwrap();
            access.traits.add(Traits::WRITES_OUTPUT, dst.file == File::Output);
            access.traits.add(Traits::WRITES_FIXED, dst.indirect || register.as_fixed().is_some());
            access.traits.add(Traits::WRITES_INDIRECT, dst.indirect);
            if dst.indirect {
                access.read(Reg::special(0).unwrap(), 1);
            } else {
                access.write(register, dst.mask);
            }
        }
        access
    }

    fn flow(op: Op) -> Option<Flow> {
        Some(match op {
            Op::If => Flow::If,
            Op::Else => Flow::Else,
            Op::EndIf => Flow::EndIf,
            Op::Loop => Flow::Loop,
            Op::EndLoop => Flow::EndLoop,
            Op::Break => Flow::Break,
            Op::Continue => Flow::Continue,
            _ => return None,
        })
    }

    fn register_copy(&self, copy: &Instruction, first_temp: u32) -> Option<RegisterCopy> {
        let (dst, src) = (copy.dst.filter(|dst| !dst.indirect)?, copy.src[0]);
        if src.negate || src.indirect {
            return None;
        }
        Some(RegisterCopy {
            to: register(dst.file, dst.index, first_temp)?,
            from: register(src.file, src.index, first_temp)?,
            mask: dst.mask,
            swizzle: src.swizzle,
            saturates: copy.saturate,
        })
    }

    fn narrowed(&self, _: &Instruction, needed: u8) -> Option<u8> {
        Some(needed)
    }

    fn set_mask(&self, instruction: &mut Instruction, mask: u8) {
        instruction.dst.as_mut().unwrap().mask = mask;
    }

    fn stores_whole(&self, _: &RegisterAccess<Op>) -> bool {
        true
    }
}

impl Allocate for Toy {
    fn constrain(
        &self,
        instruction: &Instruction,
        access: &RegisterAccess<Op>,
        _: u32,
        mut narrow: impl FnMut(usize, SwizzleConstraint),
    ) {
        let written = access.written().and_then(|w| w.temp());
        match instruction.op {
            Op::Load | Op::Atomic => written.into_iter().for_each(|temp| narrow(temp, SwizzleConstraint::Fixed)),
            Op::Twist => written.into_iter().for_each(|temp| narrow(temp, SwizzleConstraint::Pairs)),
            _ => {}
        }
    }

    fn rename_reads(
        &self,
        instruction: &mut Instruction,
        first_temp: u32,
        mut location: impl FnMut(usize) -> Option<Location>,
    ) {
        for src in instruction.src.iter_mut().filter(|src| !src.indirect) {
            if let Some(new) = temp(src.file, src.index, first_temp).and_then(&mut location) {
                (src.file, src.index) = named(new, first_temp);
                src.swizzle = src.swizzle.map(|c| new.components[usize::from(c)]);
            }
        }
    }

    fn rename(
        &self,
        instruction: &mut Instruction,
        access: &mut RegisterAccess<Op>,
        first_temp: u32,
        location: impl Fn(usize) -> Location,
    ) -> bool {
        self.rename_reads(instruction, first_temp, |temp| Some(location(temp)));
        if let Some(dst) = instruction.dst.filter(|dst| !dst.indirect)
            && let Some(new) = temp(dst.file, dst.index, first_temp).map(location)
        {
            let mask = tgsi_vec4::access::swizzled(dst.mask, new.components);
            let mut from = [0; 4];
            (0..4).for_each(|c| from[usize::from(new.components[c])] = c as u8);
            if instruction.op == Op::Twist && new.components == [2, 3, 0, 1] {
                instruction.src.iter_mut().for_each(|src| src.swizzle.rotate_left(2));
            }
            instruction.permute(mask, from);
            let (file, index) = named(new, first_temp);
            instruction.dst = Some(Dst { file, index, mask, ..dst });
        }
        *access = self.access(instruction, first_temp);
        true
    }

    fn redirect(&self, instruction: &mut Instruction, temp: u32) -> Option<Instruction> {
        let old = instruction.dst?;
        instruction.dst = Some(Dst { file: File::Temp, index: temp, indirect: false, mask: old.mask });
        Some(Instruction::new(Op::Mov, Some(old), &[Src::new(File::Temp, temp)]))
    }

    fn late_reads(
        &self,
        instruction: &Instruction,
        _: &RegisterAccess<Op>,
        first_temp: u32,
        mut read: impl FnMut(usize, u8),
    ) {
        if instruction.op == Op::Twist && instruction.channels() == 0xf {
            for src in &instruction.src {
                if let Some(temp) = temp(src.file, src.index, first_temp).filter(|_| !src.indirect) {
                    read(temp, tgsi_vec4::access::swizzled(0b1100, src.swizzle));
                }
            }
        }
    }

    fn overwrites_itself(&self, instruction: &Instruction) -> bool {
        let Some(dst) = instruction.dst.filter(|_| instruction.op == Op::Twist && instruction.channels() == 0xf) else {
            return false;
        };
        instruction.src.iter().any(|src| {
            let may_be_same = src.file == dst.file && (src.index == dst.index || src.indirect || dst.indirect);
            may_be_same && tgsi_vec4::access::swizzled(0b1100, src.swizzle) & dst.mask & 3 != 0
        })
    }
}

fn named(location: Location, first_temp: u32) -> (File, u32) {
    match location.register.as_output() {
        Some(output) => (File::Output, output as u32),
        None => (File::Temp, first_temp + location.register.as_temp().unwrap() as u32),
    }
}

impl PropagateCopies for Toy {
    type Source = Src;

    fn sources(&self, instruction: &Instruction) -> usize {
        instruction.src.len()
    }

    fn replaceable(&self, instruction: &Instruction, source: usize, first_temp: u32) -> Option<(Reg, [u8; 4])> {
        let src = instruction.src[source];
        temp(src.file, src.index, first_temp).filter(|_| !src.indirect)?;
        Some((register(src.file, src.index, first_temp)?, src.swizzle))
    }

    fn copied_component(&self, copy: &Instruction, component: u8) -> Option<u8> {
        (!copy.saturate && copy.src[0].file != File::Output).then(|| copy.src[0].swizzle[usize::from(component)])
    }

    fn is_kept(
        &self,
        copy: &Instruction,
        component: u8,
        since: usize,
        definitions: &ReachingDefinitions,
        first_temp: u32,
    ) -> bool {
        let src = copy.src[0];
        if src.indirect {
            return definitions.are_fixed_kept(since) && definitions.is_kept(Reg::special(0).unwrap(), 1, since);
        }
        register(src.file, src.index, first_temp).is_none_or(|r| definitions.is_kept(r, 1 << component, since))
    }

    fn propagated(
        &self,
        _: &mut Constants,
        instruction: &Instruction,
        source: usize,
        copies: &[Option<(&Instruction, u8)>; 4],
    ) -> Option<Src> {
        let (first, _) = copies.iter().flatten().next()?;
        let mut new = first.src[0];
        for (c, copy) in copies.iter().enumerate() {
            if let Some((copy, component)) = copy {
                if !copy.src[0].is_same_register(&first.src[0]) {
                    return None;
                }
                new.swizzle[c] = *component;
            }
        }
        new.negate ^= instruction.src[source].negate;
        Some(new)
    }

    fn set_source(&self, instruction: &mut Instruction, source: usize, new: Src) {
        instruction.src[source] = new;
    }
}

impl PropagateBackward for Toy {
    fn may_take_copy(&self, producer: &Instruction, copy: &Instruction, mask: u8, from: [u8; 4]) -> bool {
        let is_in_place = mask == producer.mask() && (0..4).all(|c| mask >> c & 1 == 0 || usize::from(from[c]) == c);
        let is_permutable = componentwise(producer.op) || producer.op == Op::Dot;
        is_permutable || is_in_place && producer.op == Op::Load && !copy.saturate
    }

    fn may_split(&self, _: &Instruction) -> bool {
        true
    }

    fn take_copy(&self, producer: &mut Instruction, copy: &Instruction, mask: u8, from: [u8; 4]) {
        producer.permute(mask, from);
        producer.dst = copy.dst.map(|dst| Dst { mask, ..dst });
        producer.saturate |= copy.saturate;
    }
}

impl Merge for Toy {
    fn merged(
        &self,
        constants: &mut Constants,
        a: &Instruction,
        _: &RegisterAccess<Op>,
        b: &Instruction,
    ) -> Option<Instruction> {
        let (to, other) = (a.dst?, b.dst?);
        let is_same_register = Dst { mask: to.mask, ..other } == to && !to.indirect;
        if a.op != b.op || a.saturate != b.saturate || !is_same_register || to.mask & other.mask != 0 {
            return None;
        }
        let mut both = a.clone();
        both.dst = Some(Dst { mask: to.mask | other.mask, ..to });
        if a.op == Op::Dot {
            return (a.src == b.src).then_some(both);
        }
        let of_b = if a.op == Op::Twist { b.channels() } else { other.mask };
        if a.op == Op::Twist && a.channels() & of_b != 0 {
            return None;
        }
        for (x, y) in both.src.iter_mut().zip(&b.src) {
            if x.is_same_register(y) {
                (0..4).filter(|c| of_b >> c & 1 != 0).for_each(|c| x.swizzle[c] = y.swizzle[c]);
            } else if x.file == File::Constant && y.file == File::Constant && x.negate == y.negate {
                let words = |src: &Src| src.swizzle.map(|c| constants.row(src.index as i32)[usize::from(c)]);
                let (mut row, from) = (words(x), words(y));
                (0..4).filter(|c| of_b >> c & 1 != 0).for_each(|c| row[c] = from[c]);
                *x = Src { negate: x.negate, ..Src::new(File::Constant, constants.intern(row) as u32) };
            } else {
                return None;
            }
        }
        (!self.overwrites_itself(&both)).then_some(both)
    }
}

impl Vectorize for Toy {
    fn hash(&self, instruction: &Instruction) -> u32 {
        let mut hasher = FxHasher::default();
        hasher.write_u64(instruction.op as u64);
        for src in &instruction.src {
            hasher.write_u64(src.file as u64 | if src.file == File::Constant { 0 } else { u64::from(src.index) << 8 });
        }
        hasher.finish() as u32
    }

    fn moved_to(&self, instruction: &Instruction, other: &Instruction, mask: u8, from: [u8; 4]) -> Instruction {
        let mut moved = instruction.clone();
        moved.permute(mask, from);
        moved.dst = other.dst.map(|dst| Dst { mask, ..dst });
        moved
    }
}

impl HoistConstants for Toy {
    fn constant_copy(&self, constants: &Constants, copy: &Instruction) -> Option<[u32; 4]> {
        let src = copy.src[0];
        let is_plain = src.file == File::Constant && !src.negate && !copy.saturate;
        is_plain.then(|| src.swizzle.map(|c| constants.row(src.index as i32)[usize::from(c)]))
    }

    fn new_constant_copy(&self, constants: &mut Constants, temp: u32, mask: u8, words: [u32; 4]) -> Instruction {
        let dst = Dst { file: File::Temp, index: temp, indirect: false, mask };
        let row = constants.intern(words) as u32;
        Instruction::new(Op::Mov, Some(dst), &[Src::new(File::Constant, row)])
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters =
            |swizzle: [u8; 4]| swizzle.map(|c| ['x', 'y', 'z', 'w'][usize::from(c)]).iter().collect::<String>();
        let register = |file: File, index: u32, indirect: bool| match indirect {
            true => format!("{file:?}[address + {index}]"),
            false => format!("{file:?}[{index}]"),
        };
        write!(f, "{:?}{}", self.op, if self.saturate { "_sat" } else { "" })?;
        if let Some(dst) = self.dst {
            let mask: String = (0..4).filter(|c| dst.mask >> c & 1 != 0).map(|c| ['x', 'y', 'z', 'w'][c]).collect();
            write!(f, " {}.{mask}", register(dst.file, dst.index, dst.indirect))?;
        }
        for src in &self.src {
            let sign = if src.negate { "-" } else { "" };
            write!(f, ", {sign}{}.{}", register(src.file, src.index, src.indirect), letters(src.swizzle))?;
        }
        Ok(())
    }
}

/// Prints a program for messages.
pub fn text(program: &Program) -> String {
    program.instructions().iter().map(|instruction| format!("{instruction}\n")).collect()
}
