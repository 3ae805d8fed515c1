//! Simplifies control flow.
//!
//! ```text
//! UIF c  ENDIF                                  (nothing)
//! UIF c  A  ELSE  ENDIF                   =>    UIF c  A  ENDIF
//! UIF c  ELSE  B  ENDIF                   =>    USEQ t, c, 0  UIF t  B  ENDIF     (fuses with the producer of c)
//! UIF c  A  BRK  ELSE  B  ENDIF           =>    UIF c  A  BRK  ENDIF  B           (likewise CONT)
//! CONT  ENDLOOP                           =>    ENDLOOP
//! ```

use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};

use crate::consumers::options::TgsiOptions;
use crate::machine::Program;

/// Simplifies control flow. Without native integers no integer opcode is created, and without comparisons either, no
/// condition is negated. Returns whether anything changed.
pub(crate) fn simplify_cfg(program: &mut Program, options: &TgsiOptions) -> bool {
    if !has_work(program) {
        return false;
    }
    let mut changed = false;
    // The code after a dropped ELSE is moved out of its construct: constructs with an ENDIF already emitted.
    let mut closed_early: Vec<bool> = Vec::new();
    // Kept instructions move to the front: each added instruction is preceded by a dropped one.
    let mut kept = 0;
    for index in 0..program.accesses().len() {
        let next = program.accesses().get(index + 1).map(|a| a.opcode);
        let last = program.accesses()[..kept].last().map(|a| a.opcode);
        match program.accesses()[index].opcode {
            Opcode::If | Opcode::Uif => closed_early.push(false),
            Opcode::Else => match last {
                _ if next == Some(Opcode::Endif) => {
                    changed = true;
                    continue;
                }
                Some(Opcode::Brk | Opcode::Cont) => {
                    program.set(kept, Instruction::new(Opcode::Endif));
                    kept += 1;
                    if let Some(closed) = closed_early.last_mut() {
                        *closed = true;
                    }
                    changed = true;
                    continue;
                }
                Some(Opcode::If | Opcode::Uif) if options.native_integers || options.has_comparisons => {
                    negate_condition(program, kept - 1, options.native_integers);
                    kept += 1;
                    changed = true;
                    continue;
                }
                _ => {}
            },
            Opcode::Endif => {
                if closed_early.pop() == Some(true) {
                    continue;
                }
                if matches!(last, Some(Opcode::If | Opcode::Uif)) {
                    kept -= 1;
                    changed = true;
                    continue;
                }
            }
            Opcode::Cont if next == Some(Opcode::Endloop) => {
                changed = true;
                continue;
            }
            _ => {}
        }
        program.swap(kept, index);
        kept += 1;
    }
    program.truncate(kept);
    changed
}

/// Replaces a branch and the next instruction by a comparison with zero and a branch on its result.
fn negate_condition(program: &mut Program, index: usize, native_integers: bool) {
    let condition = &program.instructions()[index];
    let (opcode, test) = match (native_integers, condition.opcode == Opcode::If) {
        (false, _) => (Opcode::Seq, Opcode::If),
        (true, true) => (Opcode::Fseq, Opcode::Uif),
        (true, false) => (Opcode::Useq, Opcode::Uif),
    };
    let mut compare = Instruction::new(opcode);
    compare.src.extend(condition.src.first().copied());
    let number = program.constants.intern([0; 4]);
    let register = Register::new(File::Temporary, program.new_temp() as i32);
    compare.dst.push(Dst::new(register).masked(1));
    compare.src.push(Src::new(Register::new(File::Immediate, number)));
    program.set(index, compare);
    let mut branch = Instruction::new(test);
    branch.src.push(Src::new(register).swizzled([0; 4]));
    program.set(index + 1, branch);
}

/// Whether there are adjacent flow instructions that can be simplified. Every simplification begins with such a pair.
fn has_work(program: &Program) -> bool {
    use Opcode::{Brk, Cont, Else, Endif, Endloop, If, Uif};
    program.accesses().windows(2).any(|pair| {
        matches!(
            (pair[0].opcode, pair[1].opcode),
            (If | Uif, Else | Endif) | (Else, Endif) | (Brk | Cont, Else) | (Cont, Endloop)
        )
    })
}
