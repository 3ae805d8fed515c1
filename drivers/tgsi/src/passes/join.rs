//! Joins functions, which are optimised separately, to one program: the entry point, `END`, and the subroutines.
//!
//! Fixed locations are the same in all functions. The temporaries of a called function differ from those of its
//! callers; functions that are never active at the same time share temporaries.

use tgsi::shader::{Instruction, Register};
use tgsi::tables::{File, Opcode};

use crate::machine::Program;
use crate::select::SelectedFunction;

/// Returns the joined program; none if there is no function.
pub(crate) fn join(parts: Vec<SelectedFunction>) -> Option<Program> {
    // The first temporary of each call depth.
    let mut starts: Vec<u32> = Vec::new();
    let mut next = parts.first()?.program.first_temp();
    for depth in 0..=parts.iter().map(|part| part.depth).max()? {
        starts.push(next);
        let counts = parts.iter().filter(|part| part.depth == depth).map(|part| part.program.temps() as u32);
        next = next.saturating_add(counts.max().unwrap_or(0));
    }
    let has_subroutines = parts.len() > 1;
    let mut labels: Vec<(u32, u32)> = Vec::new();
    let mut parts = parts.into_iter();
    let mut whole = parts.next()?.program;
    if has_subroutines {
        whole.push(Instruction::new(Opcode::End));
    }
    for SelectedFunction { function, depth, mut program } in parts {
        labels.push((function.as_u32(), whole.instructions().len() as u32));
        whole.push(Instruction::new(Opcode::Bgnsub));
        let (first, start) = (program.first_temp(), starts.get(depth as usize).copied().unwrap_or(next));
        let temp = |index: i32| if index < first as i32 { index } else { index - first as i32 + start as i32 };
        for mut instruction in program.take_instructions() {
            let sources = instruction.src.iter_mut().map(|src| &mut src.register);
            for register in sources.chain(instruction.dst.iter_mut().map(|dst| &mut dst.register)) {
                match register.file {
                    File::Temporary => register.index = temp(register.index),
                    File::Immediate => {
                        let row = program.constants.row(register.index);
                        *register = Register::new(File::Immediate, whole.constants.intern(row));
                    }
                    _ => {}
                }
            }
            for offset in instruction.texture.iter_mut().flat_map(|texture| &mut texture.offsets) {
                match offset.file {
                    File::Temporary => offset.index = temp(offset.index),
                    File::Immediate => offset.index = whole.constants.intern(program.constants.row(offset.index)),
                    _ => {}
                }
            }
            whole.push(instruction);
        }
        whole.push(Instruction::new(Opcode::Endsub));
    }
    whole.set_num_temps(next);
    labels.sort_unstable();
    for index in 0..whole.instructions().len() {
        if whole.instructions()[index].opcode == Opcode::Cal {
            whole.edit(index, |call| {
                let callee = call.label.and_then(|function| labels.binary_search_by_key(&function, |p| p.0).ok());
                call.label = callee.and_then(|number| labels.get(number)).map(|p| p.1);
            });
        }
    }
    Some(whole)
}
