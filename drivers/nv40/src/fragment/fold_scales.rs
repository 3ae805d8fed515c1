//! Multiplications by powers of two as factors of the instructions that compute the operand.
//!
//! ```text
//! MUL R0, a, b               MUL_m2 R0, a, b
//! MOV_m2 R1, R0       =>     MOV R1, R0
//! ```
//!
//! Copy propagation removes the copy. All that the producers write must be used by the multiplication only. Linear.

use tgsi_vec4::AccessCounts;
use tgsi_vec4::blocks::block_from;
use tgsi_vec4::simple::File;

use crate::isa::fragment::Scale;
use crate::machine::{Code, MachineInstruction, Program};

/// Returns the product of two factors, if the chip has it.
fn product(a: Scale, b: Scale) -> Option<Scale> {
    use Scale::{Eight, Eighth, Four, Half, One, Quarter, Two};
    let factor = a.factor() * b.factor();
    [One, Two, Four, Eight, Half, Quarter, Eighth].into_iter().find(|scale| scale.factor() == factor)
}

/// Whether the chip scales the result of an operation.
fn scales(code: Code) -> bool {
    use Code::{Ddx, Ddy, Kil, Lif, Lit, Nrm, Sample, Sfl, Str};
    !matches!(code, Sample(_) | Nrm | Ddx | Ddy | Lit | Lif | Sfl | Str | Kil)
}

/// The writes and reads of a temporary, and its last write in the block, as index plus one, by component.
#[derive(Clone, Copy, Default)]
struct Uses {
    reads: AccessCounts,
    writes: AccessCounts,
    last_write: [u32; 4],
}

/// Folds factors. Returns whether anything changed.
pub(super) fn fold_scales(program: &mut Program) -> bool {
    let is_factor = |instruction: &MachineInstruction| {
        instruction.op.code == Code::Mov && instruction.op.scale != Scale::One && instruction.guard.is_none()
    };
    if !program.instructions().iter().any(is_factor) {
        return false;
    }
    let mut uses = vec![Uses::default(); program.temps()];
    for access in program.accesses() {
        for read in access.reads() {
            if let Some(temp) = read.temp() {
                uses[temp].reads.add(read.mask());
            }
        }
        if let Some((temp, mask)) = access.written().and_then(|written| Some((written.temp()?, written.mask()))) {
            uses[temp].writes.add(mask);
        }
    }
    let mut changed = false;
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        for index in block.clone() {
            if is_factor(&program.instructions()[index])
                && let Some(producers) = producers(program, &uses, block.start, index)
            {
                let scale = program.instructions()[index].op.scale;
                for producer in producers {
                    program.edit(producer, |instruction| {
                        instruction.op.scale = product(instruction.op.scale, scale).unwrap_or_default();
                    });
                }
                program.edit(index, |instruction| instruction.op.scale = Scale::One);
                changed = true;
            }
            let access = &program.accesses()[index];
            if let Some((temp, mask)) = access.written().and_then(|written| Some((written.temp()?, written.mask()))) {
                for c in (0..4).filter(|c| mask >> c & 1 != 0) {
                    uses[temp].last_write[c] = index as u32 + 1;
                }
            }
        }
    }
    changed
}

/// The instructions that compute the operand of a multiplication, if all of them can multiply.
fn producers(program: &Program, uses: &[Uses], block_start: usize, index: usize) -> Option<Vec<usize>> {
    let instruction = &program.instructions()[index];
    let source = instruction.sources.first().filter(|source| source.file == File::Temporary)?;
    let temp = usize::try_from(source.index).ok()?.checked_sub(program.first_temp() as usize)?;
    let of_temp = uses.get(temp)?;
    let mask = program.accesses()[index].mask(0);
    let mut producers = Vec::new();
    for c in (0..4).filter(|c| mask >> c & 1 != 0) {
        let producer = (of_temp.last_write[c] as usize).checked_sub(1).filter(|&at| at >= block_start)?;
        if !producers.contains(&producer) {
            producers.push(producer);
        }
    }
    let fits = |&producer: &usize| {
        let other = &program.instructions()[producer];
        scales(other.op.code)
            && !other.saturate
            && other.guard.is_none()
            && product(other.op.scale, instruction.op.scale).is_some()
            && other.mask() & !mask == 0
            && of_temp.writes.are_one(other.mask())
            && of_temp.reads.are_one(other.mask())
    };
    producers.iter().all(fits).then_some(producers)
}
