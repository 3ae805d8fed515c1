//! Groups independent texture lookups, for targets that execute lookups in few phases.
//!
//! ```text
//! MOV TEMP[0].xy, IN[0].zwww            MOV TEMP[0].xy, IN[0].zwww
//! TEX TEMP[1], TEMP[0], SAMP[0], 2D     MUL TEMP[2].xy, IN[1], CONST[0]
//! MUL TEMP[2].xy, IN[1], CONST[0]   =>  TEX TEMP[1], TEMP[0], SAMP[0], 2D
//! TEX TEMP[3], TEMP[2], SAMP[1], 2D     TEX TEMP[3], TEMP[2], SAMP[1], 2D
//! ```
//!
//! i915 begins a phase where the coordinate of a lookup was computed in the current phase, and supports four phases.
//! The operands of a lookup belong to an earlier phase than the lookup, uses of its result to the same or a later one.
//! The instructions are sorted by phase, lookups first, which preserves every dependency.

use tgsi::tables::{File, Opcode};
use tgsi_vec4::Traits;

use crate::machine::{Program, RegisterAccess};

/// Longer programs are not changed: they do not fit the targets that need it.
const MAX_INSTRUCTIONS: usize = 1024;

/// Whether the target implements an opcode as a lookup: kills are lookups too.
fn is_lookup(opcode: Opcode) -> bool {
    opcode.info().is_tex || matches!(opcode, Opcode::Kill | Opcode::KillIf)
}

/// The number of phases of the program in its present order.
pub(crate) fn phases(program: &Program) -> u32 {
    let mut phase = 1;
    let mut written = vec![0u32; program.registers()];
    for (access, instruction) in program.accesses().iter().zip(program.instructions()) {
        if is_lookup(access.opcode) {
            let is_dependent = access.reads().iter().any(|r| r.dense().is_some_and(|r| written[r] == phase));
            let to_output = instruction.dst.first().is_some_and(|dst| dst.register.file == File::Output);
            phase += u32::from(is_dependent) + u32::from(to_output);
        }
        if let Some(register) = access.written().and_then(|w| w.dense()) {
            written[register] = phase;
        }
    }
    phase
}

/// Returns the program with lookups grouped; none if that saves no phase, or if it has control flow.
pub(crate) fn group_lookups(program: &Program) -> Option<Program> {
    let accesses = program.accesses();
    let is_straight = |access: &RegisterAccess| !access.traits.any(Traits::FLOW) || access.opcode == Opcode::End;
    if accesses.len() > MAX_INSTRUCTIONS || !accesses.iter().all(is_straight) {
        return None;
    }
    let before = phases(program);
    let mut order: Vec<usize> = (0..accesses.len()).collect();
    let phase_of = earliest_phases(program);
    order.sort_by_key(|&index| {
        let is_end = accesses[index].opcode == Opcode::End;
        (is_end, phase_of[index], !is_lookup(accesses[index].opcode))
    });
    let mut grouped = program.clone();
    let instructions = grouped.take_instructions();
    for index in order {
        grouped.push(instructions[index].clone());
    }
    (phases(&grouped) < before).then_some(grouped)
}

/// The last accesses to the components of a register.
#[derive(Clone, Copy, Default)]
struct Last {
    /// The phase of the last write of each component.
    write: [u32; 4],
    /// The phase of the last reads since.
    read: [u32; 4],
}

/// The first phase in which each instruction can be executed.
fn earliest_phases(program: &Program) -> Vec<u32> {
    let mut last = vec![Last::default(); program.registers()];
    // Accesses to outputs, and accesses that may alias, stay in order.
    let mut others = 1;
    let mut phase_of = Vec::with_capacity(program.accesses().len());
    for access in program.accesses() {
        let is_lookup = is_lookup(access.opcode);
        // A lookup needs a later phase than its dependencies, as other instructions of a phase follow its lookups.
        let after = |phase: u32| phase + u32::from(is_lookup && phase > 0);
        let mut phase = 1;
        for read in access.reads() {
            match read.dense() {
                Some(register) => {
                    for c in (0..4).filter(|c| read.mask() & 1 << c != 0) {
                        phase = phase.max(after(last[register].write[c]));
                    }
                }
                None => phase = phase.max(after(others)),
            }
        }
        let is_ordered = access.traits.any(Traits::EFFECT) && !is_lookup || access.traits.any(Traits::READS_FIXED);
        if is_ordered {
            phase = phase.max(after(others));
        }
        if let Some(written) = access.written() {
            match written.dense() {
                Some(register) => {
                    for c in (0..4).filter(|c| written.mask() & 1 << c != 0) {
                        let Last { write, read } = last[register];
                        phase = phase.max(after(write[c])).max(after(read[c]));
                    }
                }
                None => phase = phase.max(if is_lookup { after(others) } else { others }),
            }
        }
        for read in access.reads() {
            let Some(register) = read.dense() else { continue };
            for c in (0..4).filter(|c| read.mask() & 1 << c != 0) {
                let slot = &mut last[register].read[c];
                *slot = (*slot).max(phase);
            }
        }
        match access.written().map(|w| (w.dense(), w.mask())) {
            Some((Some(register), mask)) => {
                for c in (0..4).filter(|c| mask & 1 << c != 0) {
                    last[register].write[c] = phase;
                    last[register].read[c] = 0;
                }
            }
            Some((None, _)) => others = others.max(phase),
            None if is_ordered => others = others.max(phase),
            None => {}
        }
        phase_of.push(phase);
    }
    phase_of
}
