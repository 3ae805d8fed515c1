//! Targets of control flow.
//!
//! | instruction | JIP | UIP |
//! |---|---|---|
//! | `if` | after `else`, or `endif` | `endif` |
//! | `else` | `endif` | - |
//! | `endif` | the end of the surrounding block | - |
//! | `while` | the first instruction of the loop | - |
//! | `break`, `cont` | the end of the surrounding block | `while` |
//! | `halt` | the end of the surrounding block, without one the last `halt` | the last `halt` |
//! | the last `halt` | the next instruction | the next instruction |
//!
//! The end of a block is its `else`, `endif` or `while`; without one, the next instruction.

use crate::isa::{Branch, Detail, Instruction, Opcode, ProgramError};

/// A construct that is open.
enum Open {
    /// The `if` and the `else`.
    If(usize, Option<usize>),
    /// The first instruction, and the instructions that leave or continue it.
    Loop(usize, Vec<usize>),
}

/// The start of a loop: it has no instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopStart(pub(crate) usize);

/// Sets the targets of instructions of 128 bits. `loops` has the first instruction of each loop, in their order.
pub(crate) fn set_targets(instructions: &mut [Instruction], loops: &[LoopStart]) -> Result<(), ProgramError> {
    let mut open: Vec<Open> = Vec::new();
    // The innermost loops, as indices of `open`.
    let mut open_loops: Vec<usize> = Vec::new();
    // Instructions that wait for the end of the block, by depth.
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new()];
    let mut starts = loops.iter().peekable();
    let mut jips: Vec<(usize, usize)> = Vec::new();
    let mut uips: Vec<(usize, usize)> = Vec::new();
    let last_halt = instructions.iter().rposition(|instruction| instruction.opcode == Opcode::Halt);
    for (index, instruction) in instructions.iter().enumerate() {
        while let Some(&LoopStart(start)) = starts.next_if(|start| start.0 == index) {
            open_loops.push(open.len());
            open.push(Open::Loop(start, Vec::new()));
            waiting.push(Vec::new());
        }
        match instruction.opcode {
            Opcode::If => {
                open.push(Open::If(index, None));
                waiting.push(Vec::new());
            }
            Opcode::Else => {
                jips.extend(waiting.last_mut().into_iter().flat_map(std::mem::take).map(|at| (at, index)));
                if let Some(Open::If(_, other)) = open.last_mut() {
                    *other = Some(index);
                }
            }
            Opcode::Endif => {
                jips.extend(waiting.pop().into_iter().flatten().map(|at| (at, index)));
                if let Some(Open::If(start, other)) = open.pop() {
                    jips.push((start, other.map_or(index, |other| other + 1)));
                    uips.push((start, index));
                    jips.extend(other.map(|other| (other, index)));
                }
                if let Some(waiting) = waiting.last_mut() {
                    waiting.push(index);
                }
            }
            Opcode::While => {
                jips.extend(waiting.pop().into_iter().flatten().map(|at| (at, index)));
                open_loops.pop();
                if let Some(Open::Loop(start, exits)) = open.pop() {
                    jips.push((index, start));
                    uips.extend(exits.into_iter().map(|exit| (exit, index)));
                }
            }
            Opcode::Halt => {
                if let Some(waiting) = waiting.last_mut() {
                    waiting.push(index);
                }
                let last = last_halt.unwrap_or(index);
                uips.push((index, if last == index { index + 1 } else { last }));
            }
            Opcode::Break | Opcode::Cont => {
                if let Some(waiting) = waiting.last_mut() {
                    waiting.push(index);
                }
                if let Some(Open::Loop(_, exits)) = open_loops.last().and_then(|&at| open.get_mut(at)) {
                    exits.push(index);
                }
            }
            _ => {}
        }
    }
    // The outermost block has no end.
    let outermost = |at: usize| match last_halt {
        Some(last) if at < last && instructions[at].opcode == Opcode::Halt => last,
        _ => at + 1,
    };
    jips.extend(waiting.into_iter().flatten().map(|at| (at, outermost(at))));
    let distance =
        |from: usize, to: usize| i16::try_from((to as i64 - from as i64) * 2).map_err(|_| ProgramError::TooFar(from));
    let mut branches = vec![Branch::default(); instructions.len()];
    for (from, to) in jips {
        branches[from].jip = distance(from, to)?;
    }
    for (from, to) in uips {
        branches[from].uip = distance(from, to)?;
    }
    for (instruction, branch) in instructions.iter_mut().zip(branches) {
        if let Detail::Branch(targets) = &mut instruction.detail {
            *targets = branch;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::AccessMode;
    use pretty_assertions::assert_eq;

    fn with_targets(opcodes: &[Opcode], loops: &[usize]) -> Vec<(i16, i16)> {
        let instruction = |&opcode: &Opcode| match opcode {
            Opcode::Nop => Instruction::nop(),
            opcode => Instruction::branch_to(opcode, AccessMode::Align16, Branch::default()),
        };
        let mut instructions: Vec<Instruction> = opcodes.iter().map(instruction).collect();
        let loops: Vec<LoopStart> = loops.iter().copied().map(LoopStart).collect();
        set_targets(&mut instructions, &loops).unwrap();
        assert_eq!(crate::isa::check_program(&instructions), Ok(()));
        // In instructions of 128 bits.
        let targets = |instruction: &Instruction| instruction.branch().map_or((0, 0), |b| (b.jip / 2, b.uip / 2));
        instructions.iter().map(targets).collect()
    }

    #[test]
    fn sides_of_conditions() {
        use Opcode::{Else, Endif, If, Nop};
        assert_eq!(with_targets(&[If, Nop, Endif, Nop], &[]), [(2, 2), (0, 0), (1, 0), (0, 0)]);
        // The end of the inner construct leads to the other side of the outer one.
        let nested = [If, If, Nop, Endif, Else, Nop, Endif];
        assert_eq!(with_targets(&nested, &[]), [(5, 6), (2, 2), (0, 0), (1, 0), (2, 0), (0, 0), (1, 0)]);
    }

    #[test]
    fn exits_of_loops() {
        use Opcode::{Break, Cont, Endif, If, Nop, While};
        let simple = [Nop, If, Break, Endif, Cont, While, Nop];
        let targets = [(0, 0), (2, 2), (1, 3), (2, 0), (1, 1), (-4, 0), (0, 0)];
        assert_eq!(with_targets(&simple, &[1]), targets);
        // Two loops that begin at one instruction.
        let nested = [Break, While, Break, While];
        assert_eq!(with_targets(&nested, &[0, 0]), [(1, 1), (-1, 0), (1, 1), (-3, 0)]);
    }
}
