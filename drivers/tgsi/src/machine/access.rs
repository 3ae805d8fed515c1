//! The registers that a TGSI instruction reads and writes.

use std::sync::LazyLock;

use tgsi::scan::needed_channels;
use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};
use tgsi_vec4::Traits;

use super::{RegisterAccess, register};
use crate::consumers::opcodes::{
    has_effect, is_componentwise, is_flow, is_permutable, is_replicated, moves_in_pairs, reads_resource,
};

/// For every source, reads the channels that it writes.
pub(super) const PLAIN: Traits = Traits::own(0);

fn of_opcode(opcode: Opcode) -> Traits {
    let info = opcode.info();
    let wide = info.dst_type.is_64bit() || info.src_types.iter().any(|t| t.is_64bit());
    let mut traits = Traits::NONE;
    traits.add(Traits::COMPONENTWISE, is_componentwise(opcode));
    traits.add(Traits::REPLICATED, is_replicated(opcode));
    traits.add(Traits::PAIRS, moves_in_pairs(opcode));
    traits.add(Traits::FLOW, is_flow(opcode));
    traits.add(Traits::EFFECT, has_effect(opcode));
    traits.add(Traits::COPY, opcode == Opcode::Mov);
    traits.add(PLAIN, is_componentwise(opcode) && reads_what_it_writes(opcode));
    let is_derivative = matches!(opcode, Opcode::Ddx | Opcode::Ddy);
    let fixes =
        is_derivative || !is_permutable(opcode) || info.is_tex || reads_resource(opcode) || opcode == Opcode::Store;
    traits.add(Traits::CONSTRAINS, fixes || wide);
    let narrows = is_permutable(opcode) || (!info.is_store && !wide);
    traits.add(Traits::NARROWS, narrows && opcode != Opcode::Clock);
    let shows = matches!(opcode, Opcode::Emit | Opcode::Endprim | Opcode::Barrier | Opcode::Fbfetch | Opcode::Cal);
    traits.add(Traits::OUTPUT_BARRIER, shows);
    // Atomic operations on buffers and on shared memory do, and so do narrow lookups.
    traits.add(Traits::STORES_WHOLE, info.is_tex || info.is_store && opcode != Opcode::Store);
    traits
}

fn reads_what_it_writes(opcode: Opcode) -> bool {
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
}

/// The properties of each opcode.
static OPCODES: LazyLock<Vec<Traits>> = LazyLock::new(|| {
    let mut table = vec![Traits::NONE; 256];
    for &opcode in Opcode::ALL {
        table[opcode as usize] = of_opcode(opcode);
    }
    table
});

/// The channels of a source on which the result depends; `written` are the channels of the result, for [`PLAIN`]
/// opcodes.
#[inline]
pub(super) fn channels(instruction: &Instruction, source: usize, written: Option<u8>) -> u8 {
    written.unwrap_or_else(|| needed_channels(instruction, source))
}

/// Computes the access of an instruction. Temporaries below `first_temp` are elements of arrays.
pub(super) fn of(instruction: &Instruction, first_temp: u32) -> RegisterAccess {
    let mut access = RegisterAccess::new(instruction.opcode, OPCODES[instruction.opcode as usize]);
    let resource = instruction.src.first().map(|src| src.register.file);
    let is_whole = match instruction.opcode.info().is_tex {
        true => instruction.dst.first().is_some_and(|dst| dst.write_mask == 0xf),
        false => !matches!(resource, Some(File::Buffer | File::Memory)),
    };
    if is_whole {
        access.traits = access.traits.without(Traits::STORES_WHOLE);
    }
    let plain = instruction.dst.first().filter(|_| access.traits.any(PLAIN)).map(|dst| dst.write_mask & 0xf);
    for (source, src) in instruction.src.iter().enumerate() {
        let mask = access.source(source, channels(instruction, source, plain), src.swizzle);
        index_registers(&mut access, &src.register, first_temp);
        let is_direct = src.register.indirect.is_none();
        match src.register.file {
            File::Temporary if !is_direct || src.register.index < first_temp as i32 => {
                access.traits = access.traits.with(Traits::READS_FIXED);
            }
            File::Output => access.traits = access.traits.with(Traits::READS_OUTPUT),
            File::Temporary | File::Address => {}
            _ => continue,
        }
        if is_direct && mask != 0 {
            read(&mut access, src.register.file, src.register.index, mask, first_temp);
        }
    }
    for dst in &instruction.dst {
        let register = &dst.register;
        index_registers(&mut access, register, first_temp);
        // A handle in a register is the destination operand of a store.
        if instruction.opcode == Opcode::Store && register.file == File::Temporary {
            read(&mut access, File::Temporary, register.index, 0x3, first_temp);
        }
        let is_indirect = register.indirect.is_some();
        access.traits.add(Traits::WRITES_INDIRECT, is_indirect);
        match register.file {
            File::Temporary => {
                access.traits.add(Traits::WRITES_FIXED, is_indirect || register.index < first_temp as i32);
            }
            File::Output => {
                access.traits.add(Traits::WRITES_OUTPUT, true);
                let somewhere = Traits::OUTPUT_BARRIER.with(Traits::WRITES_OUTPUT_SOMEWHERE);
                access.traits.add(somewhere, is_indirect || register.dimension.is_some());
            }
            _ => {}
        }
    }
    if let Some(dst) = instruction.dst.first()
        && instruction.opcode != Opcode::Store
        && dst.register.indirect.is_none()
        && dst.register.dimension.is_none()
        && let Some(written) = register(dst.register.file, dst.register.index, first_temp)
    {
        access.write(written, dst.write_mask);
    }
    for offset in instruction.texture.iter().flat_map(|t| &t.offsets) {
        let mask = offset.swizzle.iter().fold(0, |mask, &c| mask | 1 << (c & 3));
        read(&mut access, offset.file, offset.index, mask, first_temp);
    }
    access
}

fn index_registers(access: &mut RegisterAccess, register: &Register, first_temp: u32) {
    if let Some(indirect) = register.indirect {
        read(access, indirect.file, indirect.index, 1 << (indirect.component & 3), first_temp);
    }
    if let Some(indirect) = register.dimension.and_then(|d| d.indirect) {
        read(access, indirect.file, indirect.index, 1 << (indirect.component & 3), first_temp);
    }
}

#[inline]
fn read(access: &mut RegisterAccess, file: File, index: i32, mask: u8, first_temp: u32) {
    if let Some(read) = register(file, index, first_temp) {
        access.read(read, mask);
    }
}
