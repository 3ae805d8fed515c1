//! Instructions that do the same to different components of a register become one.
//!
//! ```text
//! MUL TEMP[3].x, TEMP[1].yyyy, CONST[0][2].xxxx
//! MUL TEMP[3].z, TEMP[1].wwww, CONST[0][2].yyyy     =>     MUL TEMP[3].xz, TEMP[1].yyww, CONST[0][2].xxyy
//! ```
//!
//! The later instruction moves up to the earlier one, past at most [`WINDOW`] others that it does not depend on;
//! a [`Tracker`] knows how far that is.

use arrayvec::ArrayVec;
use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::File;

use super::tracker::Tracker;
use crate::machine::access::{Access, Traits};
use crate::machine::flow::block_from;
use crate::machine::operands::{immediate_value, is_immediate_value, same_register};
use crate::machine::{Immediates, Program};

/// How far an instruction may move.
const WINDOW: usize = 48;

/// Instructions that may be merged.
const MERGEABLE: Traits = Traits::COMPONENTWISE.with(Traits::REPLICATED).with(Traits::PAIRS);

/// No place.
const NONE: u32 = u32::MAX;

/// Merges instructions. Returns whether anything changed.
pub(crate) fn merge_instructions(program: &mut Program) -> bool {
    let mut dead: Vec<bool> = Vec::new();
    let mut tracker = Tracker::new(program);
    // The last place that writes a register, and for each place the one before.
    let mut last_writer = vec![NONE; tracker.len()];
    let mut earlier_writer = vec![NONE; program.instructions.len()];
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        for place in block.clone() {
            let access = &program.access[place];
            let Some(register) = access.written().map(|w| tracker.place_of(w)) else {
                tracker.record(access, place);
                continue;
            };
            let mut merges = false;
            if access.traits.any(MERGEABLE) {
                let first = block.start.max(place.saturating_sub(WINDOW));
                // How far up it may move is asked for only if there is something there.
                let mut limit = None;
                let mut candidate = last_writer[register];
                while candidate != NONE && candidate as usize >= first {
                    let earlier = candidate as usize;
                    candidate = earlier_writer[earlier];
                    if program.access[earlier].opcode != access.opcode {
                        continue;
                    }
                    if earlier < *limit.get_or_insert_with(|| tracker.limit(access)) {
                        break;
                    }
                    let (a, b) = (&program.instructions[earlier], &program.instructions[place]);
                    if let Some(both) = merged(program, (a, &program.access[earlier]), b) {
                        tracker.record(access, earlier);
                        let both = with_new_rows(&mut program.immediates, both);
                        program.set(earlier, both);
                        dead.resize(program.instructions.len(), false);
                        dead[place] = true;
                        merges = true;
                        break;
                    }
                }
            }
            if !merges {
                tracker.record(&program.access[place], place);
                earlier_writer[place] = std::mem::replace(&mut last_writer[register], place as u32);
            }
        }
    }
    if !dead.is_empty() {
        program.remove(&dead);
    }
    !dead.is_empty()
}

/// Sources that need a new immediate, with its words.
pub(super) type NewRows = ArrayVec<(usize, [u32; 4]), 5>;

/// The instruction with its new immediates.
pub(super) fn with_new_rows(
    immediates: &mut Immediates,
    (mut instruction, rows): (Instruction, NewRows),
) -> Instruction {
    for (source, words) in rows {
        let src = &mut instruction.src[source];
        src.register = Register::new(File::Immediate, immediates.intern(words));
        src.swizzle = [0, 1, 2, 3];
        (src.absolute, src.negate) = (false, false);
    }
    instruction
}

/// One instruction for both, if they fit.
pub(super) fn merged(
    program: &Program,
    (a, access): (&Instruction, &Access),
    b: &Instruction,
) -> Option<(Instruction, NewRows)> {
    let immediates = &program.immediates;
    if a.opcode != b.opcode || a.saturate != b.saturate || a.precise != b.precise || a.src.len() != b.src.len() {
        return None;
    }
    let (da, db) = (a.dst.first()?, b.dst.first()?);
    if da.register != db.register || da.write_mask & db.write_mask != 0 || da.register.dimension.is_some() {
        return None;
    }
    let is_replicated = access.traits.any(Traits::REPLICATED);
    let fits = a.src.iter().zip(&b.src).enumerate().all(|(s, (x, y))| {
        if is_replicated {
            let channels = access.channels(s);
            same_register(x, y) && (0..4).all(|c| channels & 1 << c == 0 || x.swizzle[c] == y.swizzle[c])
        } else {
            same_register(x, y) || is_immediate_value(a.opcode, s, x) && is_immediate_value(a.opcode, s, y)
        }
    });
    if !fits {
        return None;
    }
    if !program.rules.allows_mask(a, da.write_mask | db.write_mask) {
        return None;
    }
    let mut merged = a.clone();
    merged.dst[0].write_mask |= db.write_mask;
    let mut rows = NewRows::new();
    if is_replicated {
        return Some((merged, rows));
    }
    for s in 0..a.src.len() {
        let (x, y): (&Src, &Src) = (&a.src[s], &b.src[s]);
        if same_register(x, y) {
            for c in (0..4).filter(|c| da.write_mask & 1 << c == 0) {
                merged.src[s].swizzle[c] = y.swizzle[c];
            }
        } else {
            let mut words = immediate_value(immediates, a.opcode, s, x)?;
            let other = immediate_value(immediates, a.opcode, s, y)?;
            for c in (0..4).filter(|c| db.write_mask & 1 << c != 0) {
                words[c] = other[c];
            }
            rows.push((s, words));
        }
    }
    (!program.overwrites_itself(&merged)).then_some((merged, rows))
}
