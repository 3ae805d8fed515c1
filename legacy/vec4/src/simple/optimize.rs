//! The passes in their usual order.

use super::SimpleMachine;
use crate::Program;
use crate::dead_code::remove_dead_code;
use crate::merge::merge_instructions;
use crate::propagate_backward::propagate_backward;
use crate::propagate_copies::propagate_copies;
use crate::vectorize::vectorize;

/// The maximum number of rounds. Programs rarely need more than four.
const ROUNDS: usize = 8;

/// Propagates copies in both directions, removes dead code, and merges instructions, until nothing changes.
/// [`allocate`](crate::allocate::allocate) follows.
pub fn optimize<M: SimpleMachine>(program: &mut Program<M>) {
    for _ in 0..ROUNDS {
        let progress = propagate_copies(program)
            | remove_dead_code(program)
            | propagate_backward(program)
            | merge_instructions(program)
            | vectorize(program);
        if !progress {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simple::{Destination, File, Info, Instruction, Source};

    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    enum Op {
        Mov,
        Add,
    }

    struct Machine;

    impl SimpleMachine for Machine {
        type Op = Op;
        const COPY: Op = Op::Mov;

        fn info(_: Op) -> Info {
            Info::COMPONENTWISE
        }
    }

    #[test]
    fn copies_of_components_become_one_instruction() {
        let mut program = Program::new(Machine, 0);
        let [sum, vector] = [0, 1].map(|_| program.new_temp() as i32);
        let (input, temp) = (Source::new(File::Input, 0), |index| Source::new(File::Temporary, index));
        let to = |index, mask| Some(Destination::new(File::Temporary, index, mask));
        program.push(Instruction::new(Op::Add, to(sum, 0b0011), [input, input]));
        program.push(Instruction::new(Op::Mov, to(vector, 0b0001), [temp(sum).swizzled([1; 4])]));
        program.push(Instruction::new(Op::Mov, to(vector, 0b0010), [temp(sum).swizzled([0; 4])]));
        program.push(Instruction::new(Op::Mov, Some(Destination::new(File::Output, 0, 0b0011)), [temp(vector)]));
        optimize(&mut program);
        let text: Vec<_> = program.instructions().iter().map(ToString::to_string).collect();
        assert_eq!(text, ["Add Output[0].xy, Input[0].yxyy, Input[0].yxyy"]);
    }
}
