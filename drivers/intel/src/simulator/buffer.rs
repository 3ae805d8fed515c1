//! Messages to the data cache and to read-only caches: blocks and scattered numbers.
//!
//! Blocks access a word if the channel of the same number in the registers is enabled. Those of surface 255 and the
//! messages for scratch blocks access the scratch space of the thread.

use super::message::{Request, Unit, Words};
use super::registers::word;
use super::surface::{self, untyped_atomic, untyped_read, untyped_write};
use super::{BufferAccess, Simd, Trap};
use crate::isa::Chip;

/// The surface of memory without surface, which for blocks is the scratch space.
const STATELESS: u8 = 255;

/// A message to a read-only cache.
pub(super) fn constant(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    match request.field(17, 14) {
        0 | 1 => block(unit, request, false),
        2 => dual_block(unit, request, false),
        3 => scattered(unit, request, 4, false),
        _ => Err(request.undefined()),
    }
}

/// A message to the data cache.
pub(super) fn data(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    if request.field(18, 18) != 0 {
        return scratch_block(unit, request);
    }
    let is_gen7 = unit.surroundings.chip == Chip::Gen7;
    let simd = if request.field(12, 12) != 0 { Simd::X8 } else { Simd::X16 };
    match request.field(17, 14) {
        0 | 1 => block(unit, request, false),
        2 => dual_block(unit, request, false),
        3 => scattered(unit, request, 4, false),
        4 => scattered(unit, request, byte_size(request)?, false),
        5 if is_gen7 => untyped_read(unit, request),
        6 if is_gen7 => untyped_atomic(unit, request, simd),
        7 => Ok(()),
        8 => block(unit, request, true),
        10 => dual_block(unit, request, true),
        11 => scattered(unit, request, 4, true),
        12 => scattered(unit, request, byte_size(request)?, true),
        13 if is_gen7 => untyped_write(unit, request),
        _ => Err(request.undefined()),
    }
}

/// The size of the numbers of a message for bytes.
fn byte_size(request: &Request) -> Result<u8, Trap> {
    match request.field(11, 10) {
        3 => Err(request.undefined()),
        code => Ok(1 << code),
    }
}

impl Unit<'_> {
    /// Loads a word of a block.
    fn load_word(&mut self, request: &Request, address: u32) -> Result<u32, Trap> {
        let surface = request.surface();
        if surface != STATELESS {
            let access = BufferAccess { function: request.function, surface, lane: 0, address, size: 4 };
            return Ok(self.environment.load(&access));
        }
        self.load_scratch(address)
    }

    fn store_word(&mut self, request: &Request, address: u32, value: u32) -> Result<(), Trap> {
        let surface = request.surface();
        if surface != STATELESS {
            let access = BufferAccess { function: request.function, surface, lane: 0, address, size: 4 };
            self.environment.store(&access, value);
            return Ok(());
        }
        self.store_scratch(address, value)
    }

    /// The end of a word of the scratch space.
    fn scratch_end(&self, address: u32) -> Result<usize, Trap> {
        let end = u64::from(address) + 4;
        let is_inside = end <= self.surroundings.scratch.into();
        if is_inside { Ok(end as usize) } else { Err(Trap::Scratch(self.state.at, address.into())) }
    }

    fn load_scratch(&mut self, address: u32) -> Result<u32, Trap> {
        self.scratch_end(address)?;
        Ok(word(self.scratch.get(address as usize..).unwrap_or_default()))
    }

    fn store_scratch(&mut self, address: u32, value: u32) -> Result<(), Trap> {
        let end = self.scratch_end(address)?;
        if self.scratch.len() < end {
            self.scratch.resize(end, 0);
        }
        self.scratch[end - 4..end].copy_from_slice(&value.to_le_bytes());
        Ok(())
    }
}

/// Whether the channel of a word of consecutive registers is enabled.
fn is_enabled(request: &Request, word: u32) -> bool {
    request.enabled >> (word % request.channels.clamp(8, 16)) & 1 != 0
}

/// Reads or writes words of consecutive memory, from a word of the registers on.
fn consecutive(
    unit: &mut Unit<'_>,
    request: &Request,
    address: u32,
    words: std::ops::Range<u32>,
    write: bool,
    is_scratch: bool,
) -> Result<(), Trap> {
    let mut registers: Vec<Words> = vec![[0; 8]; words.end.div_ceil(8) as usize];
    let mut masks = vec![0; registers.len()];
    for index in words.clone() {
        if !is_enabled(request, index) {
            continue;
        }
        let place = address.wrapping_add(4 * (index - words.start));
        let (register, lane) = ((index / 8) as usize, (index % 8) as usize);
        if write {
            let value = request.register(register)?[lane];
            match is_scratch {
                true => unit.store_scratch(place, value)?,
                false => unit.store_word(request, place, value)?,
            }
        } else {
            registers[register][lane] = match is_scratch {
                true => unit.load_scratch(place)?,
                false => unit.load_word(request, place)?,
            };
            masks[register] |= 1 << lane;
        }
    }
    for (index, (words, mask)) in registers.iter().zip(masks).enumerate() {
        unit.respond(request, index, words, mask);
    }
    Ok(())
}

/// A block of 16 bytes or more. The header states the place, in units of 16 bytes, of unaligned blocks in bytes.
fn block(unit: &mut Unit<'_>, request: &Request, write: bool) -> Result<(), Trap> {
    let offset = request.needed_header()?[2];
    let is_unaligned = request.field(17, 14) == 1;
    let address = if is_unaligned { offset } else { offset.wrapping_mul(16) };
    let words = match request.field(10, 8) {
        0 => 0..4,
        1 => 4..8,
        2 => 0..8,
        3 => 0..16,
        4 => 0..32,
        _ => return Err(request.undefined()),
    };
    consecutive(unit, request, address, words, write, false)
}

/// Registers at an offset of 32 bytes, which the descriptor states.
fn scratch_block(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    request.needed_header()?;
    let registers = request.field(13, 12) + 1;
    let address = request.field(11, 0) * 32;
    consecutive(unit, request, address, 0..registers * 8, request.field(17, 17) != 0, true)
}

/// One or four rows of 16 bytes for each of two vectors. The first register after the header has the places of both in
/// units of 16 bytes.
fn dual_block(unit: &mut Unit<'_>, request: &Request, write: bool) -> Result<(), Trap> {
    let base = request.header.map_or(0, |header| header[2]);
    let places = request.register(0)?;
    let rows = match request.field(9, 8) {
        0 => 1,
        2 => 4,
        _ => return Err(request.undefined()),
    };
    for row in 0..rows {
        let mut words = [0; 8];
        for (index, word) in words.iter_mut().enumerate() {
            if request.enabled >> index & 1 == 0 {
                continue;
            }
            let place = places[index & 4].wrapping_add(base).wrapping_add(row as u32);
            let address = place.wrapping_mul(16).wrapping_add(4 * (index as u32 & 3));
            if write {
                unit.store_word(request, address, request.register(1 + row)?[index])?;
            } else {
                *word = unit.load_word(request, address)?;
            }
        }
        if !write {
            unit.respond(request, row, &words, request.enabled);
        }
    }
    Ok(())
}

/// A number for each channel. Places are in bytes, those of words in units of words.
fn scattered(unit: &mut Unit<'_>, request: &Request, size: u8, write: bool) -> Result<(), Trap> {
    let is_words = matches!(request.field(17, 14), 3 | 11);
    let simd = if request.field(8, 8) != 0 { Simd::X16 } else { Simd::X8 };
    let base = request.header.map_or(0, |header| header[2]);
    let places = request.lanes(0, simd)?;
    let values = if write { request.lanes(simd.registers(), simd)? } else { [0; 16] };
    let active = request.active(simd);
    let mut results = [0; 16];
    for lane in surface::lanes(active) {
        let place = places[lane].wrapping_add(base);
        let address = if is_words { place.wrapping_mul(4) } else { place };
        let (function, surface) = (request.function, request.surface());
        let access = BufferAccess { function, surface, lane: lane as u8, address, size };
        if write {
            unit.environment.store(&access, values[lane]);
        } else {
            results[lane] = unit.environment.load(&access);
        }
    }
    if !write {
        unit.respond_lanes(request, 0, simd, &results, active);
    }
    Ok(())
}
