//! Fuses instructions with the producer of an operand, if it has no other use, or if it can be fused into all its
//! users.
//!
//! ```text
//! MUL t, a, b;  ADD d, t, c          =>  MAD d, a, b, c        (not where rounding is kept: some consumers round once)
//! MUL t, a, b;  ADD d, t, c;  ADD e, -t, f    =>  MAD d, a, b, c;  MAD e, -a, b, f
//! UMUL t, a, b; UADD d, t, c         =>  UMAD d, a, b, c
//! ADD t, b, -c; MAD d, a, t, c       =>  LRP d, a, b, c        (its definition; not if precise or rounding is kept)
//! INEG t, b;    UADD d, a, t         =>  UADD d, a, -b
//! FSLT t, x, 0; UCMP d, t, a, b      =>  CMP d, x, a, b
//! USNE t, x, 0; UCMP d, t, a, b      =>  UCMP d, x, a, b
//! USEQ t, x, 0; UCMP d, t, a, b      =>  UCMP d, x, b, a
//! FSLT t, a, b; AND d, t, 1.0        =>  SLT d, a, b           (likewise FSGE, FSEQ, FSNE)
//! USEQ t, a, b; NOT d, t             =>  USNE d, a, b          (likewise others but FSLT and FSGE; USEQ d, t, 0)
//! USNE t, x, 0; UIF t                =>  UIF x;  FSNE t, x, 0; UIF t  =>  IF x
//! FLR t, x; F2I u, t; UARL d, u      =>  ARL d, x
//! ```

use tgsi::shader::{Instruction, Src};
use tgsi::tables::{File, Opcode};
use tgsi_vec4::blocks::block_from;
use tgsi_vec4::reaching_definitions::ReachingDefinitions;
use tgsi_vec4::{AccessCounts, Reg};

use crate::consumers::options::TgsiOptions;
use crate::machine::operands::{immediate_words, is_plain};
use crate::machine::propagate::is_kept;
use crate::machine::{Immediates, Program, RegisterAccess, register};

/// Sign bit of a float.
const SIGN: u32 = 0x8000_0000;

/// Fuses instructions. The producers remain until dead code is removed. Returns whether anything changed.
pub(crate) fn combine(program: &mut Program, options: &TgsiOptions) -> bool {
    if !program.accesses().iter().any(|access| combines(access.opcode, options)) {
        return false;
    }
    let mut definitions = ReachingDefinitions::new(program);
    let readers = count_readers(program);
    let summed = find_summed(program, options);
    let mut changed = false;
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        definitions.enter_block(block.start);
        for index in block {
            // A fused instruction may fuse again: AND of NOT, UIF of USNE of a comparison.
            for _ in 0..4 {
                if !combines(program.accesses()[index].opcode, options) {
                    break;
                }
                let at = CombineContext {
                    instructions: program.instructions(),
                    access: program.accesses(),
                    immediates: &program.constants,
                    definitions: &definitions,
                    first_temp: program.first_temp(),
                    readers: &readers,
                    summed: &summed,
                    index,
                    options,
                };
                let Some(new) = at.combined().filter(|new| program.machine.rules.may_make(new)) else { break };
                program.set(index, new);
                changed = true;
            }
            definitions.record(index, &program.accesses()[index]);
        }
    }
    changed
}

/// Whether instructions of an opcode may fuse with the producer of an operand.
fn combines(opcode: Opcode, options: &TgsiOptions) -> bool {
    match opcode {
        Opcode::Add => options.fuse_mad && !options.keep_rounding,
        Opcode::Mad => options.has_lrp && !options.keep_rounding,
        Opcode::Uadd | Opcode::Ucmp | Opcode::And | Opcode::Not | Opcode::Useq | Opcode::Uif | Opcode::Uarl => true,
        _ => false,
    }
}

/// The number of reads of each component of each register.
fn count_readers(program: &Program) -> Vec<AccessCounts> {
    let mut readers = vec![AccessCounts::default(); program.registers()];
    for read in program.accesses().iter().flat_map(RegisterAccess::reads) {
        if let Some(register) = read.dense() {
            readers[register].add(read.mask());
        }
    }
    readers
}

/// For each register the components read only by sums of one block, each of which may absorb a product. Empty where a
/// sum of three operands costs more than one of two.
fn find_summed(program: &Program, options: &TgsiOptions) -> Vec<u8> {
    // A third operand may be a second constant or input, which costs a copy.
    if !options.fuse_mad || options.keep_rounding || options.single_constant_operand || options.single_input_operand {
        return Vec::new();
    }
    let mut summed = vec![0u8; program.registers()];
    let mut others = vec![0u8; program.registers()];
    let mut block_of_sums = vec![0usize; program.registers()];
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        for index in block.clone() {
            let (instruction, access) = (&program.instructions()[index], &program.accesses()[index]);
            let is_sum = access.opcode == Opcode::Add;
            if is_sum {
                for (number, src) in instruction.src.iter().enumerate().filter(|(_, src)| !src.absolute) {
                    let read = register(src.register.file, src.register.index, program.first_temp());
                    if let Some(register) = read.and_then(|read| read.dense()) {
                        let is_first = summed[register] == 0;
                        if src.register.indirect.is_some() || !is_first && block_of_sums[register] != block.end {
                            others[register] = 0xf;
                        }
                        summed[register] |= access.mask(number);
                        block_of_sums[register] = block.end;
                    }
                }
            }
            let is_taken = is_sum && instruction.src.iter().all(|src| !src.absolute && src.register.indirect.is_none());
            for read in access.reads().iter().filter(|_| !is_taken) {
                if let Some(register) = read.dense() {
                    others[register] |= read.mask();
                }
            }
        }
    }
    summed.iter().zip(others).map(|(summed, others)| summed & !others).collect()
}

struct CombineContext<'a> {
    instructions: &'a [Instruction],
    access: &'a [RegisterAccess],
    immediates: &'a Immediates,
    definitions: &'a ReachingDefinitions,
    first_temp: u32,
    readers: &'a [AccessCounts],
    /// The result of [`find_summed`].
    summed: &'a [u8],
    index: usize,
    options: &'a TgsiOptions,
}

impl CombineContext<'_> {
    fn instruction(&self) -> &Instruction {
        &self.instructions[self.index]
    }

    fn access(&self) -> &RegisterAccess {
        &self.access[self.index]
    }

    /// The temporary or address register that a source reads directly.
    fn register(&self, src: &Src) -> Option<Reg> {
        let read = register(src.register.file, src.register.index, self.first_temp)?;
        read.dense().filter(|_| src.register.indirect.is_none()).map(|_| read)
    }

    /// Whether the operand read by an instruction at `since` is unchanged.
    fn is_kept(&self, src: &Src, mask: u8, since: usize) -> bool {
        is_kept(&src.register, mask, since, self.definitions, self.first_temp)
    }

    /// The single producer of all components that a source reads.
    fn producer(&self, source: usize) -> Option<(usize, &Instruction)> {
        let read = self.register(self.instruction().src.get(source)?)?;
        let index = self.definitions.single_definition(read, self.access().mask(source))?;
        let producer = self.instructions.get(index)?;
        (!producer.saturate).then_some((index, producer))
    }

    /// The same, if it has no other uses.
    fn only_producer(&self, source: usize) -> Option<(usize, &Instruction)> {
        let found = self.producer(source)?;
        let src = &self.instruction().src[source];
        self.readers.get(self.register(src)?.dense()?)?.are_one(self.access().mask(source)).then_some(found)
    }

    /// Whether a source reads the whole result of its producer, and is its only use.
    fn is_only_reader(&self, source: usize, producer: &Instruction) -> bool {
        let written = producer.dst.first().map_or(0, |dst| dst.write_mask);
        written & !self.access().mask(source) == 0 && self.only_producer(source).is_some()
    }

    /// The producer of a source that is used only by sums.
    fn producer_of_sums(&self, source: usize) -> Option<(usize, &Instruction)> {
        let read = self.register(&self.instruction().src[source])?;
        // A sum with both components cannot absorb both products.
        let other = self.instruction().src.get(1 - source).and_then(|other| self.register(other));
        if other == Some(read) {
            return None;
        }
        let (register, mask) = (read.dense()?, self.access().mask(source));
        self.producer(source).filter(|_| self.summed.get(register).is_some_and(|summed| summed & mask == mask))
    }

    /// Source `number` of a producer, with the swizzle of source `source` of the instruction (but without its
    /// modifiers); none if it has changed since. The producer must be componentwise.
    fn through(&self, source: usize, producer: (usize, &Instruction), number: usize) -> Option<Src> {
        let outer = &self.instruction().src[source];
        let mut inner = *producer.1.src.get(number)?;
        let channels = self.access().channels(source);
        let first = (0..4usize).find(|c| channels & 1 << c != 0)?;
        let of = inner.swizzle;
        let mut mask = 0;
        for c in 0..4 {
            let channel = if channels & 1 << c != 0 { c } else { first };
            inner.swizzle[c] = of[usize::from(outer.swizzle[channel] & 3)] & 3;
            mask |= 1 << inner.swizzle[c];
        }
        self.is_kept(&inner, mask, producer.0).then_some(inner)
    }

    /// Whether a source (already composed for the instruction) is the constant `word` in all channels read.
    fn is_constant(&self, src: &Src, channels: u8, word: u32) -> bool {
        immediate_words(self.immediates, src)
            .is_some_and(|words| (0..4).filter(|c| channels & 1 << c != 0).all(|c| words[c] == word))
    }

    fn is_float_zero(&self, src: &Src, channels: u8) -> bool {
        src.register.file == File::Immediate && {
            let row = self.immediates.row(src.register.index);
            (0..4usize)
                .filter(|c| channels & 1 << c != 0)
                .all(|c| row[usize::from(src.swizzle[c] & 3)] & 0x7fff_ffff == 0)
        }
    }

    fn combined(&self) -> Option<Instruction> {
        match self.instruction().opcode {
            Opcode::Add => self.multiply_add(Opcode::Mul, Opcode::Mad),
            Opcode::Mad => self.interpolation(),
            Opcode::Uadd => self.multiply_add(Opcode::Umul, Opcode::Umad).or_else(|| self.subtract()),
            Opcode::Ucmp => self.select(),
            Opcode::And => self.truth_as_float(),
            Opcode::Not => self.inverse(),
            Opcode::Useq => self.inverse_by_zero(),
            Opcode::Uif => self.condition(),
            Opcode::Uarl => self.address(),
            _ => None,
        }
    }

    /// The current instruction with another opcode and other sources.
    fn as_opcode(&self, opcode: Opcode, sources: &[Src]) -> Instruction {
        let mut new = self.instruction().clone();
        new.opcode = opcode;
        new.src.clear();
        new.src.extend(sources.iter().copied());
        new
    }

    fn multiply_add(&self, multiply: Opcode, fused: Opcode) -> Option<Instruction> {
        let instruction = self.instruction();
        for source in [0, 1] {
            let outer = &instruction.src[source];
            if outer.absolute || (outer.negate && multiply == Opcode::Umul) {
                continue;
            }
            let producer = self.only_producer(source).or_else(|| self.producer_of_sums(source));
            let Some(producer) = producer.filter(|m| m.1.opcode == multiply) else { continue };
            let (Some(mut a), Some(b)) = (self.through(source, producer, 0), self.through(source, producer, 1)) else {
                continue;
            };
            if (a.negate || b.negate || instruction.src[1 - source].negate) && multiply == Opcode::Umul {
                continue;
            }
            a.negate ^= outer.negate;
            let mut new = self.as_opcode(fused, &[a, b, instruction.src[1 - source]]);
            new.precise |= producer.1.precise;
            return Some(new);
        }
        None
    }

    fn interpolation(&self) -> Option<Instruction> {
        let instruction = self.instruction();
        if instruction.precise {
            return None;
        }
        let channels = instruction.dst.first()?.write_mask;
        let end = instruction.src[2];
        for source in [0, 1] {
            let outer = &instruction.src[source];
            let Some(producer) = self.only_producer(source).filter(|m| m.1.opcode == Opcode::Add) else { continue };
            if outer.absolute || producer.1.precise {
                continue;
            }
            let (Some(a), Some(b)) = (self.through(source, producer, 0), self.through(source, producer, 1)) else {
                continue;
            };
            // A negation may have moved from the difference to the factor: (-a - c) * b is (a + c) * -b.
            let ends = [(a, b, false), (b, a, false), (a, b, true), (b, a, true)];
            let found = ends.into_iter().find(|(_, other, negates)| {
                let other = Src { negate: other.negate != *negates, ..*other };
                self.are_opposite(&other, &end, channels)
            });
            let Some((mut start, _, negates)) = found else { continue };
            start.negate ^= negates;
            let mut factor = instruction.src[1 - source];
            factor.negate ^= outer.negate ^ negates;
            return Some(self.as_opcode(Opcode::Lrp, &[factor, start, end]));
        }
        None
    }

    /// Whether one source is the negation of the other in all of these channels.
    fn are_opposite(&self, a: &Src, b: &Src, channels: u8) -> bool {
        let mut channels = (0..4usize).filter(|c| channels & 1 << c != 0);
        if a.register.file == File::Immediate && b.register.file == File::Immediate {
            let word = |src: &Src, c: usize| {
                let word = self.immediates.row(src.register.index)[usize::from(src.swizzle[c] & 3)];
                let magnitude = if src.absolute { word & !SIGN } else { word };
                if src.negate { magnitude ^ SIGN } else { magnitude }
            };
            return channels.all(|c| word(a, c) == word(b, c) ^ SIGN);
        }
        a.register == b.register
            && a.absolute == b.absolute
            && a.negate != b.negate
            && channels.all(|c| a.swizzle[c] & 3 == b.swizzle[c] & 3)
    }

    fn subtract(&self) -> Option<Instruction> {
        let instruction = self.instruction();
        for source in [0, 1] {
            let Some(producer) = self.only_producer(source).filter(|m| m.1.opcode == Opcode::Ineg) else { continue };
            let Some(mut value) = self.through(source, producer, 0) else { continue };
            if value.absolute || instruction.src[source].absolute {
                continue;
            }
            value.negate ^= !instruction.src[source].negate;
            let mut new = instruction.clone();
            new.src[source] = value;
            return Some(new);
        }
        None
    }

    fn select(&self) -> Option<Instruction> {
        let instruction = self.instruction();
        if !is_plain(&instruction.src[0]) {
            return None;
        }
        let producer = self.producer(0)?;
        let channels = instruction.dst.first()?.write_mask;
        let (a, b) = (self.through(0, producer, 0)?, self.through(0, producer, 1));
        let mut new = instruction.clone();
        match producer.1.opcode {
            Opcode::Fslt if self.options.has_cmp => {
                let b = b?;
                if self.options.comparisons_return_masks && !self.is_only_reader(0, producer.1) {
                    return None;
                }
                new.opcode = Opcode::Cmp;
                if self.is_float_zero(&b, channels) {
                    new.src[0] = a;
                } else if self.is_float_zero(&a, channels) {
                    new.src[0] = Src { negate: !b.negate, ..b };
                } else {
                    return None;
                }
            }
            Opcode::Usne if self.is_constant(&b?, channels, 0) && is_plain(&a) => new.src[0] = a,
            Opcode::Useq if self.is_constant(&b?, channels, 0) && is_plain(&a) => {
                new.src[0] = a;
                new.src.swap(1, 2);
            }
            _ => return None,
        }
        Some(new)
    }

    fn truth_as_float(&self) -> Option<Instruction> {
        const ONE: u32 = 0x3f80_0000;
        let instruction = self.instruction();
        let channels = instruction.dst.first()?.write_mask;
        for source in [0, 1] {
            if !self.is_constant(&instruction.src[1 - source], channels, ONE) {
                continue;
            }
            if !is_plain(&instruction.src[source]) {
                continue;
            }
            let producer = self.only_producer(source)?;
            let opcode = match producer.1.opcode {
                Opcode::Fslt => Opcode::Slt,
                Opcode::Fsge => Opcode::Sge,
                Opcode::Fseq => Opcode::Seq,
                Opcode::Fsne => Opcode::Sne,
                _ => return None,
            };
            let (a, b) = (self.through(source, producer, 0)?, self.through(source, producer, 1)?);
            return Some(self.as_opcode(opcode, &[a, b]));
        }
        None
    }

    /// `USEQ t, c, 0` of a boolean `c` inverts it.
    fn inverse_by_zero(&self) -> Option<Instruction> {
        let instruction = self.instruction();
        let channels = instruction.dst.first()?.write_mask;
        (self.is_constant(&instruction.src[1], channels, 0) && is_plain(&instruction.src[0])).then(|| self.inverse())?
    }

    fn inverse(&self) -> Option<Instruction> {
        let producer = self.only_producer(0)?;
        let opcode = match producer.1.opcode {
            Opcode::Useq => Opcode::Usne,
            Opcode::Usne => Opcode::Useq,
            Opcode::Uslt => Opcode::Usge,
            Opcode::Usge => Opcode::Uslt,
            Opcode::Islt => Opcode::Isge,
            Opcode::Isge => Opcode::Islt,
            Opcode::Fseq => Opcode::Fsne,
            Opcode::Fsne => Opcode::Fseq,
            _ => return None,
        };
        let (a, b) = (self.through(0, producer, 0)?, self.through(0, producer, 1)?);
        Some(self.as_opcode(opcode, &[a, b]))
    }

    fn condition(&self) -> Option<Instruction> {
        let instruction = self.instruction();
        let producer = self.producer(0)?;
        let (a, b) = (self.through(0, producer, 0)?, self.through(0, producer, 1)?);
        let mut new = instruction.clone();
        match producer.1.opcode {
            Opcode::Usne if self.is_constant(&b, 1, 0) && is_plain(&a) => new.src[0] = a,
            Opcode::Fsne if self.is_float_zero(&b, 1) => {
                new.opcode = Opcode::If;
                new.src[0] = a;
            }
            _ => return None,
        }
        Some(new)
    }

    fn address(&self) -> Option<Instruction> {
        let producer = self.producer(0)?;
        if producer.1.opcode != Opcode::F2i {
            return None;
        }
        // The floor that F2I reads, as seen from this instruction.
        let floored = self.through(0, producer, 0)?;
        let channels = self.instruction().dst.first()?.write_mask;
        let component = |c: usize| floored.swizzle[c] & 3;
        let mask = (0..4).filter(|c| channels & 1 << c != 0).fold(0, |mask, c| mask | 1 << component(c));
        let index = self.definitions.single_definition(self.register(&floored)?, mask)?;
        let floor = self.instructions.get(index)?;
        if floor.opcode != Opcode::Flr || floor.saturate || floored.negate || floored.absolute {
            return None;
        }
        let mut value = *floor.src.first()?;
        let of = value.swizzle;
        let mut mask = 0;
        for c in 0..4 {
            value.swizzle[c] = of[usize::from(component(c))] & 3;
            mask |= 1 << value.swizzle[c];
        }
        if !self.is_kept(&value, mask, index) {
            return None;
        }
        let mut new = self.instruction().clone();
        new.opcode = Opcode::Arl;
        new.src[0] = value;
        Some(new)
    }
}
