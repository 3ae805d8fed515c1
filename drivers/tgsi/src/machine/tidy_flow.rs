//! Control flow that says the same with fewer instructions.
//!
//! ```text
//! UIF c  ENDIF                                  (nothing)
//! UIF c  A  ELSE  ENDIF                   =>    UIF c  A  ENDIF
//! UIF c  ELSE  B  ENDIF                   =>    USEQ t, c, 0  UIF t  B  ENDIF     (combines with a comparison that makes c)
//! UIF c  A  BRK  ELSE  B  ENDIF           =>    UIF c  A  BRK  ENDIF  B           (likewise CONT)
//! CONT  ENDLOOP                           =>    ENDLOOP
//! ```

use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};

use super::Program;

/// Tidies. Without native integers no integer opcode is made. Returns whether anything changed.
pub(crate) fn tidy_flow(program: &mut Program, native_integers: bool) -> bool {
    if !has_work(program) {
        return false;
    }
    let mut changed = false;
    // What follows an ELSE that is dropped is let out of its construct: constructs whose ENDIF has come already.
    let mut closed_early: Vec<bool> = Vec::new();
    let old = std::mem::take(&mut program.instructions);
    program.access.clear();
    program.note_change();
    let mut new: Vec<Instruction> = Vec::with_capacity(old.len());
    let mut rest = old.into_iter().peekable();
    while let Some(instruction) = rest.next() {
        let next = rest.peek().map(|i| i.opcode);
        match instruction.opcode {
            Opcode::If | Opcode::Uif => closed_early.push(false),
            Opcode::Else => {
                let last = new.last().map(|i| i.opcode);
                match last {
                    _ if next == Some(Opcode::Endif) => {
                        changed = true;
                        continue;
                    }
                    Some(Opcode::Brk | Opcode::Cont) => {
                        new.push(Instruction::new(Opcode::Endif));
                        if let Some(closed) = closed_early.last_mut() {
                            *closed = true;
                        }
                        changed = true;
                        continue;
                    }
                    Some(Opcode::If | Opcode::Uif) => {
                        if let Some(condition) = new.pop() {
                            let is_float = condition.opcode == Opcode::If;
                            let number = program.immediates.intern([0; 4]);
                            let temp = program.num_temps;
                            program.num_temps += 1;
                            let register = Register::new(File::Temporary, temp as i32);
                            let (opcode, test) = match (native_integers, is_float) {
                                (false, _) => (Opcode::Seq, Opcode::If),
                                (true, true) => (Opcode::Fseq, Opcode::Uif),
                                (true, false) => (Opcode::Useq, Opcode::Uif),
                            };
                            let mut compare = Instruction::new(opcode);
                            compare.dst.push(Dst::new(register).masked(1));
                            compare.src.extend(condition.src.first().copied());
                            compare.src.push(Src::new(Register::new(File::Immediate, number)));
                            new.push(compare);
                            let mut branch = Instruction::new(test);
                            branch.src.push(Src::new(register).swizzled([0; 4]));
                            new.push(branch);
                            changed = true;
                            continue;
                        }
                    }
                    _ => {}
                }
            }
            Opcode::Endif => {
                if closed_early.pop() == Some(true) {
                    continue;
                }
                if matches!(new.last().map(|i| i.opcode), Some(Opcode::If | Opcode::Uif)) {
                    new.pop();
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
        new.push(instruction);
    }
    for instruction in new {
        program.push(instruction);
    }
    changed
}

/// Whether flow instructions stand side by side that say something in a roundabout way. All that is tidied begins with such a pair.
fn has_work(program: &Program) -> bool {
    use Opcode::{Brk, Cont, Else, Endif, Endloop, If, Uif};
    program.access.windows(2).any(|pair| {
        matches!(
            (pair[0].opcode, pair[1].opcode),
            (If | Uif, Else | Endif) | (Else, Endif) | (Brk | Cont, Else) | (Cont, Endloop)
        )
    })
}
