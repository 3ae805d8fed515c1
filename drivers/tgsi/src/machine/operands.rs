//! Asking instructions what they read and write, and changing operands.

use std::sync::LazyLock;

use tgsi::scan::needed_channels;
use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode, OperandType, OutputMode};

use super::Immediates;

/// Opcodes that read of every source the channels that they write, by number.
static READS_WHAT_IT_WRITES: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let plain = |opcode: Opcode| {
        let mut instruction = Instruction::new(opcode);
        let info = opcode.info();
        if info.num_dst != 1 {
            return false;
        }
        instruction.src.extend((0..info.num_src).map(|_| Src::new(Register::new(File::Temporary, 0))));
        (0..16).all(|mask| {
            instruction.dst.clear();
            instruction.dst.push(Dst::new(Register::new(File::Temporary, 0)).masked(mask));
            (0..instruction.src.len()).all(|source| needed_channels(&instruction, source) == mask)
        })
    };
    let mut table = vec![false; 256];
    for &opcode in Opcode::ALL {
        table[opcode as usize] = is_componentwise(opcode) && plain(opcode);
    }
    table
});

/// Components that a source reads, after the swizzle.
pub(crate) fn source_mask(instruction: &Instruction, source: usize) -> u8 {
    let Some(src) = instruction.src.get(source) else { return 0 };
    let channels = match instruction.dst.first() {
        Some(dst) if READS_WHAT_IT_WRITES[instruction.opcode as usize] => dst.write_mask,
        _ => needed_channels(instruction, source),
    };
    let bit = |channel: usize| (channels >> channel & 1) << (src.swizzle[channel] & 3);
    bit(0) | bit(1) | bit(2) | bit(3)
}

/// Calls `f` with file, index and components of everything that an instruction reads: sources, texel offsets, index registers. Registers
/// that are addressed by a run-time index are not reported themselves.
pub(crate) fn for_each_read(instruction: &Instruction, mut f: impl FnMut(File, i32, u8)) {
    let index_registers = |register: &Register, f: &mut dyn FnMut(File, i32, u8)| {
        for indirect in [register.indirect, register.dimension.and_then(|d| d.indirect)].into_iter().flatten() {
            f(indirect.file, indirect.index, 1 << indirect.component);
        }
    };
    for (number, src) in instruction.src.iter().enumerate() {
        index_registers(&src.register, &mut f);
        if src.register.indirect.is_none() {
            let mask = source_mask(instruction, number);
            if mask != 0 {
                f(src.register.file, src.register.index, mask);
            }
        }
    }
    for dst in &instruction.dst {
        index_registers(&dst.register, &mut f);
        // A handle in a register is the destination of a store.
        if instruction.opcode == Opcode::Store && dst.register.file == File::Temporary {
            f(File::Temporary, dst.register.index, 0x3);
        }
    }
    for offset in instruction.texture.iter().flat_map(|t| &t.offsets) {
        let mask = offset.swizzle.iter().fold(0, |mask, &c| mask | 1 << c);
        f(offset.file, offset.index, mask);
    }
}

/// File, index and components that an instruction writes; none if it writes no register, or one behind a run-time index.
pub(crate) fn written(instruction: &Instruction) -> Option<(File, i32, u8)> {
    let dst = instruction.dst.first()?;
    (instruction.opcode != Opcode::Store && dst.register.indirect.is_none() && dst.register.dimension.is_none())
        .then_some((dst.register.file, dst.register.index, dst.write_mask))
}

/// Whether each channel of the result depends on the same channel of the sources alone, and all of them have 32 bits.
pub(crate) fn is_componentwise(opcode: Opcode) -> bool {
    let info = opcode.info();
    info.output_mode == OutputMode::Componentwise
        && !info.dst_type.is_64bit()
        && !info.src_types.iter().any(|t| t.is_64bit())
        && !matches!(
            opcode,
            Opcode::ReadInvoc
                | Opcode::ReadHelper
                | Opcode::VoteAll
                | Opcode::VoteAny
                | Opcode::VoteEq
                | Opcode::ReadFirst
        )
}

/// Whether every channel of the result is the same.
pub(crate) fn is_replicated(opcode: Opcode) -> bool {
    opcode.info().output_mode == OutputMode::Replicate
}

/// Whether components of the result may be moved to other components of the destination by changing swizzles and mask.
pub(crate) fn is_permutable(opcode: Opcode) -> bool {
    is_componentwise(opcode) || is_replicated(opcode)
}

/// Whether the operand takes float modifiers.
pub(crate) fn takes_modifiers(opcode: Opcode, source: usize) -> bool {
    let info = opcode.info();
    let arithmetic = matches!(info.output_mode, OutputMode::Componentwise | OutputMode::Replicate)
        || matches!(opcode, Opcode::KillIf | Opcode::If);
    arithmetic
        && matches!(info.src_types.get(source), Some(OperandType::Float | OperandType::Untyped))
        && !matches!(
            opcode,
            Opcode::ReadInvoc | Opcode::ReadFirst | Opcode::VoteAll | Opcode::VoteAny | Opcode::VoteEq | Opcode::Ballot
        )
}

/// Whether a source is a value (and not a sampler, image, buffer, ...).
pub(crate) fn is_value(src: &Src) -> bool {
    matches!(
        src.register.file,
        File::Temporary
            | File::Input
            | File::Output
            | File::Constant
            | File::Immediate
            | File::SystemValue
            | File::Address
    )
}

/// Whether two sources name the same register with the same modifiers.
pub(crate) fn same_register(a: &Src, b: &Src) -> bool {
    a.register == b.register && a.absolute == b.absolute && a.negate == b.negate
}

/// Changes the channels of a componentwise or replicated instruction: the result that was channel `from[c]` becomes channel `c`, for the channels of
/// `mask`.
pub(crate) fn permute(instruction: &mut Instruction, mask: u8, from: [u8; 4]) {
    if is_componentwise(instruction.opcode) {
        let first = (0..4).find(|c| mask & 1 << c != 0).unwrap_or(0);
        for src in &mut instruction.src {
            let old = src.swizzle;
            for c in 0..4 {
                let channel = if mask & 1 << c != 0 { c } else { first };
                src.swizzle[c] = old[usize::from(from[channel] & 3)];
            }
        }
    }
    if let Some(dst) = instruction.dst.first_mut() {
        dst.write_mask = mask;
    }
}

/// Words that a source reads, if it is an immediate without modifiers.
pub(crate) fn immediate_words(immediates: &Immediates, src: &Src) -> Option<[u32; 4]> {
    (src.register.file == File::Immediate && !src.absolute && !src.negate).then(|| {
        let row = immediates.row(src.register.index);
        src.swizzle.map(|c| row[usize::from(c & 3)])
    })
}

/// Whether an instruction begins, divides or ends a block of straight code.
pub(crate) fn is_flow(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, If | Uif | Else | Endif | Bgnloop | Endloop | Brk | Cont | End)
}

/// Whether something happens besides writing the destination.
pub(crate) fn has_effect(instruction: &Instruction) -> bool {
    let info = instruction.opcode.info();
    info.num_dst == 0 || info.is_store || is_flow(instruction.opcode)
}

/// 64-bit instructions all of whose operands are pairs: both halves of everything can be swapped together.
pub(crate) fn moves_in_pairs(opcode: Opcode) -> bool {
    let info = opcode.info();
    info.output_mode == OutputMode::Componentwise
        && info.dst_type.is_64bit()
        && info.src_types.iter().all(|t| t.is_64bit())
        && !matches!(opcode, Opcode::U64shl | Opcode::I64shr | Opcode::U64shr)
}
