//! Structured control flow as branches, for machines that address instructions by number.
//!
//! ```text
//! IF c             branch 3 unless c
//! a                a
//! ELSE       =>    branch 4
//! b                b                   (3)
//! ENDIF                                (4)
//! ```
//!
//! Each instruction with [`Flow`] becomes at most one branch; the ends of constructs need none. Linear.

use thiserror::Error;

use crate::Flow;

/// An element of a program with branches. Targets are numbers of elements of the same list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// An instruction without control flow, or a call, by its number in the structured program.
    Instruction(usize),
    /// A branch taken if the condition of an [`Flow::If`], by its number, does not hold.
    Unless(usize, usize),
    /// A branch taken always: its number in the structured program, the target.
    Always(usize, usize),
    /// The end of the program, by its number.
    End(usize),
}

/// The constructs are not nested properly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("instruction {0} does not match the constructs around it")]
pub struct BadNesting(
    /// The number of the instruction.
    pub usize,
);

/// A construct that is open.
enum Open {
    /// A condition, with the branch to the other side, or to the end.
    If(usize),
    /// A loop: its first element, and the branches to its end.
    Loop(usize, Vec<usize>),
}

/// Lists the steps of a program, given the control flow of each instruction.
///
/// # Errors
/// [`BadNesting`].
pub fn branches(flow: impl IntoIterator<Item = Option<Flow>>) -> Result<Vec<Step>, BadNesting> {
    let mut steps: Vec<Step> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    // The innermost loops, as indices of `open`.
    let mut loops: Vec<usize> = Vec::new();
    let mut last = 0;
    for (number, flow) in flow.into_iter().enumerate() {
        last = number;
        let wrong = BadNesting(number);
        match flow {
            None | Some(Flow::Call) => steps.push(Step::Instruction(number)),
            Some(Flow::End) => steps.push(Step::End(number)),
            Some(Flow::If) => {
                open.push(Open::If(steps.len()));
                steps.push(Step::Unless(number, usize::MAX));
            }
            Some(Flow::Else) => {
                let Some(Open::If(branch)) = open.last_mut() else { return Err(wrong) };
                let other = std::mem::replace(branch, steps.len());
                steps.push(Step::Always(number, usize::MAX));
                set_target(&mut steps, other);
            }
            Some(Flow::EndIf) => {
                let Some(Open::If(branch)) = open.pop() else { return Err(wrong) };
                set_target(&mut steps, branch);
            }
            Some(Flow::Loop) => {
                loops.push(open.len());
                open.push(Open::Loop(steps.len(), Vec::new()));
            }
            Some(Flow::EndLoop) => {
                let Some(Open::Loop(first, exits)) = open.pop() else { return Err(wrong) };
                loops.pop();
                steps.push(Step::Always(number, first));
                exits.into_iter().for_each(|exit| set_target(&mut steps, exit));
            }
            Some(kind @ (Flow::Break | Flow::Continue)) => {
                let Some(Open::Loop(first, exits)) = loops.last().and_then(|&id| open.get_mut(id)) else {
                    return Err(wrong);
                };
                let target = if kind == Flow::Continue { *first } else { usize::MAX };
                if kind == Flow::Break {
                    exits.push(steps.len());
                }
                steps.push(Step::Always(number, target));
            }
        }
    }
    if open.is_empty() { Ok(steps) } else { Err(BadNesting(last)) }
}

/// Makes the end of the list the target of a branch.
fn set_target(steps: &mut [Step], branch: usize) {
    let end = steps.len();
    if let Step::Unless(_, target) | Step::Always(_, target) = &mut steps[branch] {
        *target = end;
    }
}

#[cfg(test)]
mod tests {
    use super::Step::{Always, Instruction, Unless};
    use super::*;

    #[test]
    fn constructs_become_branches() {
        use Flow::*;
        // loop { if c { break } else { a } b } end
        let flow =
            [Some(Loop), Some(If), Some(Break), Some(Else), None, Some(EndIf), None, Some(EndLoop), Some(Flow::End)];
        let expected =
            [Unless(1, 3), Always(2, 6), Always(3, 4), Instruction(4), Instruction(6), Always(7, 0), Step::End(8)];
        assert_eq!(branches(flow), Ok(expected.into()));
        // loop { if c { continue } a } without else
        let flow = [Some(Loop), Some(If), Some(Continue), Some(EndIf), None, Some(EndLoop)];
        assert_eq!(branches(flow), Ok(vec![Unless(1, 2), Always(2, 0), Instruction(4), Always(5, 0)]));
    }

    #[test]
    fn wrong_nesting_is_an_error() {
        use Flow::*;
        assert_eq!(branches([Some(If), None]), Err(BadNesting(1)));
        assert_eq!(branches([Some(Loop), Some(EndIf)]), Err(BadNesting(1)));
        assert_eq!(branches([Some(If), Some(Break), Some(EndIf)]), Err(BadNesting(1)));
        assert_eq!(branches([Some(Else)]), Err(BadNesting(0)));
    }
}
