//! Messages to the URB.
//!
//! An entry consists of rows of 128 bits. Interleaved messages have a row of the first entry in the lower half of each
//! register, and one of the second entry in the upper half. Others have two consecutive rows of the first entry.
//! Components are accessed if the channel of the same word is enabled, writes also need the mask of the header.

use super::message::{Request, Unit};
use super::{Trap, UrbRow, UrbWrite};

/// The entries and rows that a message accesses.
struct Place {
    handles: [u32; 2],
    /// The first row of each entry.
    rows: [u32; 2],
    is_interleaved: bool,
    /// Whether registers of messages that are not interleaved have two rows.
    has_pairs: bool,
}

impl Place {
    /// The entry and the row of half a register.
    fn of(&self, register: u32, half: usize) -> (u32, u32) {
        if self.is_interleaved {
            (self.handles[half], self.rows[half].wrapping_add(register))
        } else {
            let distance = if self.has_pairs { register * 2 + half as u32 } else { register };
            (self.handles[0], self.rows[0].wrapping_add(distance))
        }
    }

    /// The halves of a register that have a row.
    fn halves(&self) -> usize {
        if self.is_interleaved || self.has_pairs { 2 } else { 1 }
    }
}

/// Executes a message.
pub(super) fn access(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    let header = request.needed_header()?;
    let opcode = request.field(2, 0);
    let has_pairs = opcode & 1 == 0;
    let unit_rows = if has_pairs { 2 } else { 1 };
    let offset = request.field(13, 3);
    let has_slot_offsets = request.field(16, 16) != 0;
    let rows = [header[3], header[4]].map(|slot| {
        let slot = if has_slot_offsets { slot } else { 0 };
        slot.wrapping_add(offset).wrapping_mul(unit_rows)
    });
    let is_interleaved = request.field(14, 14) != 0;
    let handles = [header[0], header[1]];
    let place = Place { handles, rows, is_interleaved, has_pairs };
    let is_complete = request.field(15, 15) != 0;
    match opcode {
        0 | 1 => {
            let rows = written_rows(request, &place, header[5] >> 8 & request.enabled);
            let end_of_thread = request.end_of_thread;
            unit.environment.urb_write(&UrbWrite { rows, handles, is_interleaved, is_complete, end_of_thread });
        }
        2 | 3 => {
            for register in 0..request.response {
                for half in 0..place.halves() {
                    let mask = request.enabled >> (4 * half) & 15;
                    if mask == 0 {
                        continue;
                    }
                    let (handle, row) = place.of(register as u32, half);
                    let data = unit.environment.urb_read(handle, row);
                    let mut words = [0; 8];
                    words[4 * half..4 * half + 4].copy_from_slice(&data);
                    unit.respond(request, register, &words, mask << (4 * half));
                }
            }
            if is_complete {
                unit.environment.urb_release(handles);
            }
        }
        _ => return Err(request.undefined()),
    }
    Ok(())
}

fn written_rows(request: &Request, place: &Place, mask: u32) -> Vec<UrbRow> {
    let mut rows = Vec::with_capacity(request.payload.len() * 2);
    for (register, words) in (0..).zip(&request.payload) {
        for half in 0..place.halves() {
            let mask = (mask >> (4 * half) & 15) as u8;
            if mask == 0 {
                continue;
            }
            let (handle, row) = place.of(register, half);
            let data = std::array::from_fn(|component| words[4 * half + component]);
            rows.push(UrbRow { handle, row, mask, data });
        }
    }
    rows
}
