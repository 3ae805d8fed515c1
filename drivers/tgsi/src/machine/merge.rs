//! Instructions that do the same to different components of a register become one.
//!
//! ```text
//! MUL TEMP[3].x, TEMP[1].yyyy, CONST[0][2].xxxx
//! MUL TEMP[3].z, TEMP[1].wwww, CONST[0][2].yyyy     =>     MUL TEMP[3].xz, TEMP[1].yyww, CONST[0][2].xxyy
//! ```
//!
//! The later instruction moves up to the earlier one, past at most [`WINDOW`] others that it does not depend on;
//! a [`Tracker`] knows how far that is.

use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::File;

use super::flow::blocks;
use super::operands::{immediate_words, is_componentwise, is_replicated, moves_in_pairs, same_register, written};
use super::tracker::Tracker;
use super::{Immediates, Program};

/// How far an instruction may move.
const WINDOW: usize = 48;

/// Merges instructions. Returns whether anything changed.
pub(crate) fn merge_instructions(program: &mut Program) -> bool {
    let mut dead = vec![false; program.instructions.len()];
    let mut changed = false;
    let mut tracker = Tracker::new(program);
    // The last place that writes a register, and for each place the one before.
    let mut last_writer = vec![None; tracker.len()];
    let mut earlier_writer = vec![None; program.instructions.len()];
    for block in blocks(&program.instructions) {
        for place in block.start..block.end {
            let instruction = &program.instructions[place];
            let register = written(instruction).and_then(|(file, index, _)| tracker.number(file, index));
            let Some(register) = register else {
                tracker.record(instruction, place);
                continue;
            };
            let mergeable = is_componentwise(instruction.opcode)
                || is_replicated(instruction.opcode)
                || moves_in_pairs(instruction.opcode);
            if mergeable {
                let limit = tracker.limit(instruction).max(block.start).max(place.saturating_sub(WINDOW));
                let mut candidate = last_writer[register];
                while let Some(earlier) = candidate.filter(|&c| c >= limit) {
                    let (a, b) = (&program.instructions[earlier], &program.instructions[place]);
                    if let Some(both) = merged(&program.immediates, a, b) {
                        tracker.record(b, earlier);
                        program.instructions[earlier] = with_new_rows(&mut program.immediates, both);
                        dead[place] = true;
                        changed = true;
                        break;
                    }
                    candidate = earlier_writer[earlier];
                }
            }
            if !dead[place] {
                tracker.record(&program.instructions[place], place);
                earlier_writer[place] = last_writer[register].replace(place);
            }
        }
    }
    if changed {
        program.remove(&dead);
    }
    changed
}

/// Sources that need a new immediate, with its words.
pub(super) type NewRows = Vec<(usize, [u32; 4])>;

/// The instruction with its new immediates.
pub(super) fn with_new_rows(
    immediates: &mut Immediates,
    (mut instruction, rows): (Instruction, NewRows),
) -> Instruction {
    for (source, words) in rows {
        instruction.src[source].register = Register::new(File::Immediate, immediates.intern(words));
        instruction.src[source].swizzle = [0, 1, 2, 3];
    }
    instruction
}

/// One instruction for both, if they fit.
pub(super) fn merged(immediates: &Immediates, a: &Instruction, b: &Instruction) -> Option<(Instruction, NewRows)> {
    if a.opcode != b.opcode || a.saturate != b.saturate || a.precise != b.precise || a.src.len() != b.src.len() {
        return None;
    }
    let (da, db) = (a.dst.first()?, b.dst.first()?);
    if da.register != db.register || da.write_mask & db.write_mask != 0 || da.register.dimension.is_some() {
        return None;
    }
    let mut merged = a.clone();
    merged.dst[0].write_mask |= db.write_mask;
    if is_replicated(a.opcode) {
        let same = (0..a.src.len()).all(|s| {
            let channels = tgsi::scan::needed_channels(a, s);
            same_register(&a.src[s], &b.src[s])
                && (0..4).all(|c| channels & 1 << c == 0 || a.src[s].swizzle[c] == b.src[s].swizzle[c])
        });
        return same.then_some((merged, Vec::new()));
    }
    let mut rows = Vec::new();
    for s in 0..a.src.len() {
        let (x, y): (&Src, &Src) = (&a.src[s], &b.src[s]);
        if same_register(x, y) {
            for c in (0..4).filter(|c| da.write_mask & 1 << c == 0) {
                merged.src[s].swizzle[c] = y.swizzle[c];
            }
        } else {
            let (mut words, other) = (immediate_words(immediates, x)?, immediate_words(immediates, y)?);
            for c in (0..4).filter(|c| db.write_mask & 1 << c != 0) {
                words[c] = other[c];
            }
            rows.push((s, words));
        }
    }
    Some((merged, rows))
}
