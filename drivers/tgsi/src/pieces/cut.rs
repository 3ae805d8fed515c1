//! Where a shader may be cut, and what carries registers from piece to piece.

use bitvec::prelude::{BitVec, bitvec};
use tgsi::Shader;
use tgsi::limits::MAX_OPERAND_INDEX;
use tgsi::shader::{Declaration, Indirect, Instruction, Register};
use tgsi::tables::{BlockPart, File, Opcode, Processor};

use crate::options::{Dialect, TgsiOptions};

/// Carried registers above which pieces are larger than asked for, by as much: each that a piece writes may cost it a copy.
const MANY_REGISTERS: usize = 256;

/// What carries the registers of a shader from piece to piece. Temporaries come first, by number; outputs behind them.
pub(super) struct Carriers {
    temporaries: u32,
    outputs: u32,
    /// The constant buffer that stands for them before a piece.
    buffer: u16,
    /// The first of the buffers that stand for their components after it.
    memory: u16,
}

impl Carriers {
    /// How many registers are carried.
    pub(super) fn count(&self) -> usize {
        (self.temporaries + self.outputs) as usize
    }

    /// Number of a temporary or output that is carried.
    pub(super) fn number(&self, register: &Register) -> Option<usize> {
        let index = u32::try_from(register.index).ok()?;
        match register.file {
            File::Temporary => (index < self.temporaries).then_some(index as usize),
            File::Output => (index < self.outputs).then_some((self.temporaries + index) as usize),
            _ => None,
        }
    }

    /// The numbers of outputs.
    pub(super) fn outputs(&self) -> std::ops::Range<usize> {
        self.temporaries as usize..self.count()
    }

    /// The output that a number stands for.
    pub(super) fn output(&self, number: usize) -> Option<Register> {
        let index = number.checked_sub(self.temporaries as usize)?;
        Some(Register::new(File::Output, index as i32))
    }

    /// The constant buffer.
    pub(super) fn buffer(&self) -> u16 {
        self.buffer
    }

    /// What stands for a register before a piece.
    pub(super) fn constant(&self, number: usize) -> Register {
        Register::new_2d(File::Constant, self.buffer.into(), number as i32)
    }

    /// The buffer that stands for a component after a piece.
    pub(super) fn memory(&self, number: usize, component: usize) -> u16 {
        self.memory + (4 * number + component) as u16
    }

    /// The number of the register for which a constant stands.
    pub(super) fn of_constant(&self, register: &Register) -> Option<usize> {
        let is_carrier =
            register.file == File::Constant && register.dimension.is_some_and(|d| d.index == i32::from(self.buffer));
        if is_carrier { usize::try_from(register.index).ok().filter(|&number| number < self.count()) } else { None }
    }

    /// The number and component for which a buffer stands.
    pub(super) fn of_memory(&self, register: &Register) -> Option<(usize, usize)> {
        let word = usize::try_from(register.index.checked_sub(self.memory.into())?).ok()?;
        (register.file == File::Buffer && word < 4 * self.count()).then_some((word / 4, word % 4))
    }

    /// Whether a declaration is of what carries registers.
    pub(super) fn holds(&self, declaration: &Declaration) -> bool {
        match declaration.file {
            File::Constant => declaration.dimension == Some(self.buffer),
            File::Buffer => declaration.first >= self.memory,
            _ => false,
        }
    }
}

/// Whether a shader is so large that it is cut if it can be.
pub(super) fn is_large(shader: &Shader, options: &TgsiOptions) -> bool {
    options.piece_size > 0 && shader.instructions.len() / 2 >= options.piece_size
}

/// The parts of a shader, and what carries its registers; none if it stays whole.
pub(super) fn cut(shader: &Shader, options: &TgsiOptions) -> Option<(Vec<Step>, Carriers)> {
    let size = options.piece_size;
    // Small pieces of a shader that declares much would be made of declarations.
    if !is_large(shader, options) || shader.declarations.len() > size.max(256) {
        return None;
    }
    if options.dialect != Dialect::Mesa || !options.native_integers {
        return None;
    }
    if matches!(shader.processor, Processor::Geometry | Processor::TessControl) {
        return None;
    }
    let carriers = carriers(shader, options)?;
    let size = size.max(size.saturating_mul(carriers.count()) / MANY_REGISTERS);
    if shader.instructions.len() / 2 < size {
        return None;
    }
    let (last, others) = shader.instructions.split_last()?;
    if last.opcode != Opcode::End
        || !others.iter().all(|i| can_be_carried(i, shader, &carriers))
        || asks_who_was_killed(others)
    {
        return None;
    }
    let steps = steps(others, size)?;
    if steps.len() == 1 { None } else { Some((steps, carriers)) }
}

/// Numbers that the source does not use; none if there are not enough.
fn carriers(shader: &Shader, options: &TgsiOptions) -> Option<Carriers> {
    let declared = |file: File| shader.declarations.iter().filter(move |d| d.file == file);
    let count = |file: File| declared(file).map(|d| u32::from(d.last) + 1).max().unwrap_or(0);
    let buffers = declared(File::Constant).map(|d| d.dimension.unwrap_or(0));
    let buffers = buffers.chain(declared(File::ConstantBuffer).map(|d| d.last));
    let carriers = Carriers {
        temporaries: count(File::Temporary),
        outputs: count(File::Output),
        buffer: buffers.max().unwrap_or(0).checked_add(1)?,
        memory: u16::try_from(count(File::Buffer)).ok()?,
    };
    let count = carriers.count() as i64;
    let fits = count - 1 <= i64::from(options.max_constant_index)
        && i64::from(carriers.buffer) <= MAX_OPERAND_INDEX
        && i64::from(carriers.memory) + 4 * count - 1 <= MAX_OPERAND_INDEX;
    fits.then_some(carriers)
}

/// Whether all that an instruction does to registers is done to those that are carried, one by one.
fn can_be_carried(instruction: &Instruction, shader: &Shader, carriers: &Carriers) -> bool {
    let is_immediate = |index: i32| usize::try_from(index).is_ok_and(|i| i < shader.immediates.len());
    let is_direct = |r: &Register| r.indirect.is_none() && r.dimension.is_none();
    let is_known = |register: &Register| match register.file {
        File::Temporary | File::Output => is_direct(register) && carriers.number(register).is_some(),
        File::Immediate => is_direct(register) && is_immediate(register.index),
        // An index may lead to any buffer.
        File::Constant => register.dimension.is_none_or(|d| d.indirect.is_none()),
        File::ConstantBuffer | File::Buffer => register.indirect.is_none(),
        _ => true,
    };
    let mut registers = instruction.src.iter().map(|s| &s.register).chain(instruction.dst.iter().map(|d| &d.register));
    let mut offsets = instruction.texture.iter().flat_map(|texture| &texture.offsets);
    !matches!(instruction.opcode, Opcode::Cal | Opcode::Ret | Opcode::Bgnsub | Opcode::End | Opcode::Fbfetch)
        && registers.all(|r| is_known(r) && indices(r).all(|index| index.file == File::Address))
        && instruction.src.iter().all(|s| s.register.file != File::Output)
        && offsets.all(|offset| offset.file == File::Immediate && is_immediate(offset.index))
}

/// Whether what a piece does may depend on who was killed in one before. (Atomic operations that the target lacks become loops, which killed invocations must not enter.)
fn asks_who_was_killed(instructions: &[Instruction]) -> bool {
    let kills = |i: &Instruction| matches!(i.opcode, Opcode::Kill | Opcode::KillIf);
    let asks = |i: &Instruction| {
        i.opcode == Opcode::ReadHelper || i.opcode.info().is_store && !i.src.is_empty() && i.opcode != Opcode::Store
    };
    instructions.iter().any(kills) && instructions.iter().any(asks)
}

fn indices(register: &Register) -> impl Iterator<Item = Indirect> + use<> {
    register.indirect.into_iter().chain(register.dimension.and_then(|d| d.indirect))
}

/// A part of a shader, in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// A piece: it begins here.
    Piece(usize),
    /// An `IF` that is so large that its sides are in pieces of their own.
    If,
    /// Its `ELSE`.
    Else,
    /// Its `ENDIF`.
    Endif,
}

/// What is to be known of the blocks of a shader.
struct Blocks {
    /// Of an instruction that opens or divides a block: where the block is divided next, or closed. Of others nothing.
    next: Vec<u32>,
    /// Whether no address register is in use before an instruction, and at the end.
    is_free: BitVec,
}

impl Blocks {
    /// None if blocks are not closed.
    fn of(instructions: &[Instruction]) -> Option<Blocks> {
        let mut next = vec![0; instructions.len()];
        let mut is_free = bitvec![1; instructions.len() + 1];
        // Components of address registers that are read before they are written; registers beyond these count as the last one.
        let mut addresses = 0u64;
        let bit = |index: i32, component: u8| 1u64 << (4 * index.clamp(0, 15) + i32::from(component & 3));
        // Blocks that are open, from the end: where they were divided or closed, and the components in use behind them, and on the other side of an `IF`.
        let mut open: Vec<(usize, u64, Option<u64>)> = Vec::new();
        // Of those, how many are not left by their end alone.
        let mut loops = 0usize;
        let is_loop = |opcode: Opcode| matches!(opcode, Opcode::Bgnloop | Opcode::Switch);
        for (place, instruction) in instructions.iter().enumerate().rev() {
            match instruction.opcode.block() {
                Some(BlockPart::Closes) => {
                    loops += usize::from(matches!(instruction.opcode, Opcode::Endloop | Opcode::Endswitch));
                    open.push((place, addresses, None));
                }
                Some(BlockPart::Divides) => {
                    let (end, behind, other) = open.last_mut()?;
                    next[place] = std::mem::replace(end, place) as u32;
                    if instruction.opcode == Opcode::Else {
                        *other = Some(std::mem::replace(&mut addresses, *behind));
                    }
                }
                Some(BlockPart::Opens) => {
                    loops = loops.saturating_sub(usize::from(is_loop(instruction.opcode)));
                    let (end, behind, other) = open.pop()?;
                    next[place] = end as u32;
                    addresses |= other.unwrap_or(behind);
                }
                None => {}
            }
            for dst in instruction.dst.iter().filter(|d| d.register.file == File::Address && loops == 0) {
                if (0..15).contains(&dst.register.index) {
                    for c in (0..4).filter(|c| dst.write_mask >> c & 1 != 0) {
                        addresses &= !bit(dst.register.index, c);
                    }
                }
            }
            let sources = instruction.src.iter().map(|s| &s.register);
            for register in sources.clone().chain(instruction.dst.iter().map(|d| &d.register)) {
                for index in indices(register) {
                    addresses |= bit(index.index, index.component);
                }
            }
            for register in sources.filter(|r| r.file == File::Address) {
                addresses |= (0..4).fold(0, |bits, c| bits | bit(register.index, c));
            }
            is_free.set(place, addresses == 0);
        }
        open.is_empty().then_some(Blocks { next, is_free })
    }

    /// Whether an `IF` can be taken apart: no address register is in use where its sides begin and end, and its condition is there.
    fn can_be_opened(&self, instructions: &[Instruction], place: usize) -> bool {
        let divided = self.next[place] as usize;
        let end = if instructions[divided].opcode == Opcode::Else { self.next[divided] as usize } else { divided };
        let is_direct = |r: &Register| r.indirect.is_none() && r.dimension.is_none_or(|d| d.indirect.is_none());
        matches!(instructions[place].opcode, Opcode::If | Opcode::Uif)
            && instructions[place].src.iter().all(|s| is_direct(&s.register))
            && [place, place + 1, divided + 1, end + 1].iter().all(|&at| self.is_free[at])
    }
}

/// The parts of a shader: pieces of a size or more, and `IF`s that are larger than two of them around pieces of theirs. The last one is a piece, if an empty one.
/// None if blocks are not closed.
fn steps(instructions: &[Instruction], size: usize) -> Option<Vec<Step>> {
    let blocks = Blocks::of(instructions)?;
    let mut steps = Vec::new();
    // Ends of the lists that are in pieces: of the whole, of sides of `IF`s.
    let mut ends = vec![instructions.len()];
    let (mut start, mut place) = (0, 0);
    let close = |steps: &mut Vec<Step>, start: usize, end: usize| {
        if start < end {
            steps.push(Step::Piece(start));
        }
    };
    while place < instructions.len() {
        let opcode = instructions[place].opcode;
        match opcode.block() {
            Some(BlockPart::Opens) => {
                let mut end = blocks.next[place] as usize;
                let divided = end;
                while instructions[end].opcode.block() == Some(BlockPart::Divides) {
                    end = blocks.next[end] as usize;
                }
                if end - place >= 2 * size && blocks.can_be_opened(instructions, place) {
                    close(&mut steps, start, place);
                    steps.push(Step::If);
                    ends.push(divided);
                    place += 1;
                    start = place;
                    continue;
                }
                place = end + 1;
            }
            // What is not taken apart was passed over.
            Some(BlockPart::Divides) => {
                close(&mut steps, start, place);
                steps.push(Step::Else);
                ends.pop();
                ends.push(blocks.next[place] as usize);
                place += 1;
                start = place;
                continue;
            }
            Some(BlockPart::Closes) => {
                close(&mut steps, start, place);
                steps.push(Step::Endif);
                ends.pop();
                place += 1;
                start = place;
                continue;
            }
            None => place += 1,
        }
        let end = ends.last().copied().unwrap_or(place);
        if place - start >= size && end - place >= size && blocks.is_free[place] {
            close(&mut steps, start, place);
            start = place;
        }
    }
    steps.push(Step::Piece(start));
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_of(code: &str, size: usize) -> Vec<Step> {
        let declarations = "VERT\nDCL IN[0]\nDCL OUT[0], GENERIC[0]\nDCL CONST[0..7]\nDCL TEMP[0..3]\nDCL ADDR[0]\n";
        let text = format!("{declarations}{}\nEND\n", code.replace("; ", "\n"));
        let shader = tgsi::text::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{e:?}")).shader;
        steps(&shader.instructions[..shader.instructions.len() - 1], size).expect("closed blocks")
    }

    #[test]
    fn large_branches_are_taken_apart() {
        use Step::*;
        let code = "MOV TEMP[0], IN[0]; UIF TEMP[0].xxxx; MOV TEMP[1], IN[0]; MOV TEMP[2], IN[0]; ELSE; MOV TEMP[1], TEMP[0]; \
                    MOV TEMP[2], TEMP[0]; ENDIF; MOV OUT[0], TEMP[1]";
        assert_eq!(steps_of(code, 3), [Piece(0), If, Piece(2), Else, Piece(5), Endif, Piece(8)]);
        assert_eq!(steps_of(code, 2), [Piece(0), If, Piece(2), Else, Piece(5), Endif, Piece(8)]);
        assert_eq!(steps_of(code, 4), [Piece(0)]);
        let code = "MOV TEMP[0], IN[0]; BGNLOOP; UIF TEMP[0].xxxx; BRK; ENDIF; UADD TEMP[0], TEMP[0], IN[0]; ENDLOOP";
        assert_eq!(steps_of(code, 1), [Piece(0), Piece(1)]);
        let code = "MOV TEMP[0], IN[0]; UIF TEMP[0].xxxx; MOV TEMP[1], IN[0]; ENDIF";
        assert_eq!(steps_of(code, 1), [Piece(0), If, Piece(2), Endif, Piece(4)]);
    }

    #[test]
    fn address_registers_stay_in_a_piece() {
        use Step::*;
        let code = "UARL ADDR[0].x, IN[0].xxxx; MOV TEMP[0], IN[0]; MOV TEMP[1], CONST[ADDR[0].x]; MOV OUT[0], TEMP[1]";
        assert_eq!(steps_of(code, 1), [Piece(0), Piece(3)]);
        // Written on one side only: what it was before is read.
        let code = "UARL ADDR[0].x, IN[0].xxxx; UIF IN[0].xxxx; UARL ADDR[0].x, IN[0].yyyy; ENDIF; MOV OUT[0], CONST[ADDR[0].x]";
        assert_eq!(steps_of(code, 1), [Piece(0)]);
        let code = "UIF IN[0].xxxx; UARL ADDR[0].x, IN[0].yyyy; MOV TEMP[0], CONST[ADDR[0].x]; ELSE; MOV TEMP[0], IN[0]; ENDIF; MOV OUT[0], TEMP[0]";
        assert_eq!(steps_of(code, 1), [If, Piece(1), Else, Piece(4), Endif, Piece(6)]);
    }
}
