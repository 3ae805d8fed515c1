//! Runs programs of the test machine.

use tgsi_vec4::simple::{Destination, File, Relative, SimpleMachine, Source};

use super::machine::{Instruction, Op, Program, Toy};

/// The visible effects of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VisibleEffects {
    pub outputs: Vec<[u32; 4]>,
    pub log: Vec<[u32; 4]>,
}

struct MachineState<'a> {
    program: &'a Program,
    /// Registers are allocated: results are stored whole, and pairs are computed in sequence.
    is_allocated: bool,
    temps: Vec<[u32; 4]>,
    address: u32,
    flags: [u32; 4],
    counter: u32,
    seen: VisibleEffects,
}

pub const OUTPUTS: usize = 4;
pub const INPUTS: u32 = 3;

/// Runs a program. All registers are initially zero.
pub fn run(program: &Program, is_allocated: bool) -> VisibleEffects {
    let instructions = program.instructions();
    let seen = VisibleEffects { outputs: vec![[0; 4]; OUTPUTS], log: Vec::new() };
    let temps = vec![[0; 4]; program.num_temps() as usize];
    let mut state = MachineState { program, is_allocated, temps, address: 0, flags: [0; 4], counter: 7, seen };
    let (mut at, mut steps) = (0, 0);
    while let Some(instruction) = instructions.get(at) {
        steps += 1;
        assert!(steps < 1_000_000, "the program does not end");
        at = match instruction.op {
            Op::If if state.source(&instruction.sources[0])[0] & 1 == 0 => after(instructions, at, true),
            Op::Else => after(instructions, at, false),
            Op::Break => loop_end(instructions, at) + 1,
            Op::Continue => loop_end(instructions, at),
            Op::EndLoop => loop_start(instructions, at) + 1,
            _ => {
                state.step(instruction);
                at + 1
            }
        };
    }
    state.seen
}

/// The index after the `Else` of a construct, if `stops_at_else`, or else after its `EndIf`.
fn after(instructions: &[Instruction], at: usize, stops_at_else: bool) -> usize {
    let mut depth = 0;
    for (index, instruction) in instructions.iter().enumerate().skip(at + 1) {
        match instruction.op {
            Op::If => depth += 1,
            Op::Else if depth == 0 && stops_at_else => return index + 1,
            Op::EndIf if depth == 0 => return index + 1,
            Op::EndIf => depth -= 1,
            _ => {}
        }
    }
    panic!("constructs nest")
}

fn loop_end(instructions: &[Instruction], at: usize) -> usize {
    let mut depth = 0;
    for (index, instruction) in instructions.iter().enumerate().skip(at) {
        match instruction.op {
            Op::Loop => depth += 1,
            Op::EndLoop if depth == 0 => return index,
            Op::EndLoop => depth -= 1,
            _ => {}
        }
    }
    panic!("constructs nest")
}

fn loop_start(instructions: &[Instruction], at: usize) -> usize {
    let mut depth = 0;
    for index in (0..at).rev() {
        match instructions[index].op {
            Op::EndLoop => depth += 1,
            Op::Loop if depth == 0 => return index,
            Op::Loop => depth -= 1,
            _ => {}
        }
    }
    panic!("constructs nest")
}

impl MachineState<'_> {
    /// The temporary that an operand addresses: indices wrap around within the array.
    fn temp(&self, index: i32, relative: Option<Relative>) -> usize {
        let (index, fixed) = (index as u32, self.program.first_temp());
        (if relative.is_some() { (index.wrapping_add(self.address)) % fixed } else { index }) as usize
    }

    fn source(&self, src: &Source) -> [u32; 4] {
        let words = match src.file {
            File::Temporary => self.temps[self.temp(src.index, src.relative)],
            File::Output => self.seen.outputs[src.index as usize],
            File::Input => [0, 1, 2, 3].map(|c| (src.index as u32 + 1) * 1000 + c * 17 + 5),
            File::Constant => self.program.constants.row(src.index),
            File::Uniform | File::Special => unreachable!("not generated"),
        };
        let sign = |word: u32| if src.negate { word.wrapping_neg() } else { word };
        src.swizzle.map(|c| sign(words[usize::from(c)]))
    }

    fn step(&mut self, instruction: &Instruction) {
        assert!(Toy.accepts(instruction), "the machine lacks {instruction}");
        if instruction.op == Op::Twist && self.is_allocated {
            for half in [3, 12] {
                let destination = instruction.destination.map(|dst| Destination { mask: dst.mask & half, ..dst });
                self.compute(&Instruction { destination, ..instruction.clone() });
            }
        } else {
            self.compute(instruction);
        }
    }

    fn compute(&mut self, instruction: &Instruction) {
        let src: Vec<[u32; 4]> = instruction.sources.iter().map(|source| self.source(source)).collect();
        let each = |of: &dyn Fn(usize) -> u32| [0, 1, 2, 3].map(of);
        let mut result = match instruction.op {
            Op::Mov => src[0],
            Op::Add => each(&|c| src[0][c].wrapping_add(src[1][c])),
            Op::Mul => each(&|c| src[0][c].wrapping_mul(src[1][c])),
            Op::Less => each(&|c| u32::from(src[0][c] < src[1][c])),
            Op::Dot => {
                let products = (0..4).map(|c| src[0][c].wrapping_mul(src[1][c]));
                [products.fold(0, u32::wrapping_add); 4]
            }
            Op::Load => each(&|c| src[0][0].wrapping_add(c as u32).wrapping_mul(0x9e37_79b9)),
            Op::Twist => each(&|c| src[0][c].wrapping_mul(3).wrapping_add(src[1][c ^ 1])),
            Op::Atomic => {
                let before = self.counter;
                self.counter = self.counter.wrapping_add(src[0][0]);
                [before, !before, !before, !before]
            }
            Op::Address => src[0],
            Op::Store => return self.seen.log.push(src[0]),
            Op::Emit => return self.seen.log.extend(self.seen.outputs.clone()),
            _ => return,
        };
        if instruction.saturate {
            result = result.map(|word| word.min(0xffff));
        }
        let Some(dst) = instruction.destination else { return };
        let is_whole = self.is_allocated && instruction.op == Op::Atomic;
        let passes = |c: usize| {
            instruction
                .guard
                .is_none_or(|guard| self.flags[usize::from(guard.swizzle[c])] & 1 != u32::from(guard.condition))
        };
        let passes = [0, 1, 2, 3].map(passes);
        let register = match dst.file {
            File::Special => &mut self.flags,
            File::Output => &mut self.seen.outputs[dst.index as usize],
            _ => {
                let temp = self.temp(dst.index, dst.relative);
                &mut self.temps[temp]
            }
        };
        for c in (0..4).filter(|&c| passes[c] && (is_whole || dst.mask >> c & 1 != 0)) {
            register[c] = result[c];
        }
    }
}
