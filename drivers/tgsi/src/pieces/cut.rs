//! Where a shader may be cut, and what carries registers from piece to piece.

use tgsi::Shader;
use tgsi::limits::MAX_OPERAND_INDEX;
use tgsi::shader::{Declaration, Indirect, Instruction, Register};
use tgsi::tables::{BlockPart, File, Opcode, Processor};

use crate::options::{Dialect, TgsiOptions};

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

/// Where the pieces of a shader begin, but for the first one, and what carries its registers; none if it stays whole.
pub(super) fn cuts(shader: &Shader, options: &TgsiOptions) -> Option<(Vec<usize>, Carriers)> {
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
    let (last, others) = shader.instructions.split_last()?;
    if last.opcode != Opcode::End
        || !others.iter().all(|i| can_be_carried(i, shader, &carriers))
        || asks_who_was_killed(others)
    {
        return None;
    }
    let cuts = places(others, size);
    if cuts.is_empty() { None } else { Some((cuts, carriers)) }
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

/// The places between instructions where no block is open and no address register is in use, so far apart; ascending.
fn places(instructions: &[Instruction], size: usize) -> Vec<usize> {
    let mut places = Vec::new();
    let mut end = instructions.len();
    let mut depth = 0usize;
    // Components of address registers that are read before they are written; registers beyond these count as the last one.
    let mut addresses = 0u64;
    let bit = |index: i32, component: u8| 1u64 << (4 * index.clamp(0, 15) + i32::from(component & 3));
    for (place, instruction) in instructions.iter().enumerate().rev() {
        match instruction.opcode.block() {
            Some(BlockPart::Closes) => depth += 1,
            Some(BlockPart::Opens) => depth = depth.saturating_sub(1),
            _ => {}
        }
        for dst in instruction.dst.iter().filter(|d| d.register.file == File::Address && depth == 0) {
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
        if depth == 0 && addresses == 0 && end - place >= size && place >= size {
            places.push(place);
            end = place;
        }
    }
    places.reverse();
    places
}
