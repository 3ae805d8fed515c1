//! Instructions that do the same to different components of a register become one.
//!
//! ```text
//! MUL TEMP[3].x, TEMP[1].yyyy, CONST[0][2].xxxx
//! MUL TEMP[3].z, TEMP[1].wwww, CONST[0][2].yyyy     =>     MUL TEMP[3].xz, TEMP[1].yyww, CONST[0][2].xxyy
//! ```
//!
//! The later instruction moves up to the earlier one, past at most [`WINDOW`] others that it does not depend on.

use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, Opcode};

use super::flow::blocks;
use super::operands::{
    for_each_read, immediate_words, is_componentwise, is_replicated, moves_in_pairs, same_register, written,
};
use super::{Immediates, Program};

/// How far an instruction may move.
const WINDOW: usize = 48;

/// Merges instructions. Returns whether anything changed.
pub(crate) fn merge_instructions(program: &mut Program) -> bool {
    let mut dead = vec![false; program.instructions.len()];
    let mut changed = false;
    for block in blocks(&program.instructions) {
        for place in block.start..block.end {
            let instruction = &program.instructions[place];
            let mergeable = is_componentwise(instruction.opcode)
                || is_replicated(instruction.opcode)
                || moves_in_pairs(instruction.opcode);
            let Some((file, _, _)) = written(instruction) else { continue };
            if !mergeable || !matches!(file, File::Temporary | File::Output | File::Address) {
                continue;
            }
            for earlier in (block.start.max(place.saturating_sub(WINDOW))..place).rev() {
                if dead[earlier] {
                    continue;
                }
                let (a, b) = (&program.instructions[earlier], &program.instructions[place]);
                let depends = depends_on(program, a, b);
                if !depends && let Some(merged) = merged(&program.immediates, a, b) {
                    program.instructions[earlier] = with_new_rows(&mut program.immediates, merged);
                    dead[place] = true;
                    changed = true;
                    break;
                }
                if depends || hinders(program, a, b) {
                    break;
                }
            }
        }
    }
    if changed {
        program.remove(&dead);
    }
    changed
}

fn in_array(program: &Program, register: &Register) -> bool {
    register.file == File::Temporary && (register.indirect.is_some() || register.index < program.first_temp as i32)
}

/// Whether `earlier` writes what `later` reads.
pub(super) fn depends_on(program: &Program, earlier: &Instruction, later: &Instruction) -> bool {
    let Some(dst) = earlier.dst.first() else { return false };
    if in_array(program, &dst.register) {
        return later.src.iter().any(|s| in_array(program, &s.register));
    }
    if dst.register.file == File::Output && later.src.iter().any(|s| s.register.file == File::Output) {
        return true;
    }
    let Some((file, index, mask)) = written(earlier) else { return false };
    let mut found = false;
    for_each_read(later, |f, i, m| found |= f == file && i == index && m & mask != 0);
    found
}

/// Whether `earlier` reads or writes what `later` writes, or must see outputs before `later` changes them.
pub(super) fn hinders(program: &Program, earlier: &Instruction, later: &Instruction) -> bool {
    let Some((file, index, mask)) = written(later) else { return true };
    if file == File::Output
        && (matches!(earlier.opcode, Opcode::Emit | Opcode::Endprim | Opcode::Barrier | Opcode::Fbfetch)
            || earlier.src.iter().any(|s| s.register.file == File::Output)
            || earlier.dst.first().is_some_and(|d| {
                d.register.file == File::Output && (d.register.indirect.is_some() || d.register.dimension.is_some())
            }))
    {
        return true;
    }
    if later.dst.first().is_some_and(|d| in_array(program, &d.register))
        && (earlier.src.iter().any(|s| in_array(program, &s.register))
            || earlier.dst.iter().any(|d| d.register.indirect.is_some()))
    {
        return true;
    }
    let mut found = false;
    for_each_read(earlier, |f, i, m| found |= f == file && i == index && m & mask != 0);
    found || written(earlier).is_some_and(|(f, i, m)| f == file && i == index && m & mask != 0)
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
