//! Lowers `CONT` to an inner loop, for targets without it.
//!
//! ```text
//! BGNLOOP  UIF c  CONT  ENDIF                  BGNLOOP  MOV f, 0  BGNLOOP  UIF c  BRK  ENDIF
//!   UIF d  BRK  ENDIF  ENDLOOP          =>       UIF d  MOV f, -1  BRK  ENDIF  BRK  ENDLOOP
//!                                                UIF f  BRK  ENDIF  ENDLOOP
//! ```
//!
//! Without integers the flag is 0.0 or 1.0. Linear in the length of the program.

use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};

use crate::machine::Program;

/// See the [module](self). Returns whether there was a `CONT`.
pub(crate) fn lower_continues(program: &mut Program, native_integers: bool) -> bool {
    let with_continue = loops_with_continue(program.instructions());
    if !with_continue.contains(&true) {
        return false;
    }
    let (set, test) = if native_integers { (u32::MAX, Opcode::Uif) } else { (1f32.to_bits(), Opcode::If) };
    // For each open loop with a `CONT`: the flag for leaving it.
    let mut loops: Vec<Option<Register>> = Vec::new();
    for (instruction, has_continue) in program.take_instructions().into_iter().zip(with_continue) {
        match instruction.opcode {
            Opcode::Bgnloop => {
                let flag = has_continue.then(|| Register::new(File::Temporary, program.new_temp() as i32));
                loops.push(flag);
                program.push(instruction);
                if let Some(flag) = flag {
                    set_flag(program, flag, 0);
                    program.push(Instruction::new(Opcode::Bgnloop));
                }
            }
            Opcode::Endloop => {
                if let Some(flag) = loops.pop().flatten() {
                    program.push(Instruction::new(Opcode::Brk));
                    program.push(Instruction::new(Opcode::Endloop));
                    let mut condition = Instruction::new(test);
                    condition.src.push(Src::new(flag).swizzled([0; 4]));
                    program.push(condition);
                    program.push(Instruction::new(Opcode::Brk));
                    program.push(Instruction::new(Opcode::Endif));
                }
                program.push(instruction);
            }
            Opcode::Brk => {
                if let Some(flag) = loops.last().copied().flatten() {
                    set_flag(program, flag, set);
                }
                program.push(instruction);
            }
            Opcode::Cont => program.push(Instruction::new(Opcode::Brk)),
            _ => program.push(instruction),
        }
    }
    true
}

fn set_flag(program: &mut Program, flag: Register, word: u32) {
    let row = program.constants.intern([word; 4]);
    let mut copy = Instruction::new(Opcode::Mov);
    copy.dst.push(Dst::new(flag).masked(1));
    copy.src.push(Src::new(Register::new(File::Immediate, row)));
    program.push(copy);
}

/// Whether each `BGNLOOP`, by index, has a `CONT`.
fn loops_with_continue(instructions: &[Instruction]) -> Vec<bool> {
    let mut found = vec![false; instructions.len()];
    let mut open: Vec<usize> = Vec::new();
    for (index, instruction) in instructions.iter().enumerate() {
        match instruction.opcode {
            Opcode::Bgnloop => open.push(index),
            Opcode::Endloop => {
                open.pop();
            }
            Opcode::Cont => {
                if let Some(&begin) = open.last() {
                    found[begin] = true;
                }
            }
            _ => {}
        }
    }
    found
}
