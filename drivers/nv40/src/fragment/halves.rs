//! The values that 16 bits suffice for: those that only colours exported from H registers depend on, through
//! operations that do not magnify errors.

use tgsi_vec4::simple::File;

use super::live::OUTPUTS;
use crate::machine::{Code, DEPTH, MachineInstruction, Program};

/// Whether an operation computes about the same with rounded operands. Operands of comparisons, floors, reciprocals
/// and lookups need all bits.
fn tolerates(code: Code) -> bool {
    use Code::{Add, Dp2, Dp2a, Dp3, Dp4, Lrp, Mad, Max, Min, Mov, Mul};
    matches!(code, Mov | Mul | Add | Mad | Min | Max | Lrp | Dp2 | Dp2a | Dp3 | Dp4)
}

/// Marks the virtual temporaries that may be H registers.
pub(super) fn halves(program: &Program) -> Vec<bool> {
    let temps = program.temps();
    let first = program.first_temp() as i32;
    let temp_of = |file: File, index: i32| {
        let is_temp = file == File::Temporary && index >= first;
        is_temp.then_some((index - first) as usize).filter(|&temp| temp < temps)
    };
    let sources = |instruction: &MachineInstruction| {
        let sources = instruction.sources.clone();
        sources.into_iter().filter_map(move |source| temp_of(source.file, source.index))
    };
    let mut is_half = vec![true; temps];
    let mut operands: Vec<Vec<u32>> = vec![Vec::new(); temps];
    let mut lost: Vec<usize> = Vec::new();
    for instruction in program.instructions() {
        let keeps = tolerates(instruction.op.code);
        let to = instruction.destination;
        match to.and_then(|to| temp_of(to.file, to.index)) {
            Some(temp) if keeps => operands[temp].extend(sources(instruction).map(|source| source as u32)),
            _ => {
                let is_colour =
                    to.is_some_and(|to| to.file == File::Output && to.index != DEPTH && (to.index as usize) < OUTPUTS);
                if !is_colour || !keeps {
                    lost.extend(sources(instruction));
                }
            }
        }
    }
    while let Some(temp) = lost.pop() {
        if std::mem::replace(&mut is_half[temp], false) {
            lost.extend(operands[temp].iter().map(|&source| source as usize));
        }
    }
    is_half
}
