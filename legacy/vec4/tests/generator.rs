//! Random programs for the test machine.

use tgsi_vec4::simple::{Destination, File, Guard, Source, push_legal};

use super::interpreter::{INPUTS, OUTPUTS};
use super::machine::{ADDRESS, FLAGS, Instruction, Op, Program, Toy};

/// A simple random number generator.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }

    pub fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

const FIXED: u32 = 3;

struct Generator {
    random: Random,
    program: Program,
    temps: Vec<u32>,
    /// The components of temporaries that are written on every path so far, by number.
    written: Vec<u8>,
    emits: bool,
    budget: u32,
}

/// Generates the program of a seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let emits = random.one_in(3);
    let count = random.below(8) + 3;
    let mut program = Program::new(Toy, FIXED);
    let temps = (0..count).map(|_| program.new_temp()).collect();
    let mut generator = Generator { random, program, temps, written: Vec::new(), emits, budget: 60 };
    generator.list(0, false);
    generator.end();
    generator.program
}

impl Generator {
    fn push(&mut self, op: Op, dst: Option<Destination>, src: &[Source]) {
        self.push_instruction(Instruction::new(op, dst, src.iter().copied()));
    }

    /// Appends an instruction, copying operands that it does not take.
    fn push_instruction(&mut self, instruction: Instruction) {
        if let Some(Destination { file: File::Temporary, index, relative: None, mask }) = instruction.destination {
            let index = index as usize;
            self.written.resize(self.written.len().max(index + 1), 0);
            // A guard keeps what may be undefined.
            self.written[index] |= if instruction.guard.is_some() { 0 } else { mask };
        }
        push_legal(&mut self.program, instruction);
    }

    /// A guarded write, after the flags have been computed.
    fn guarded(&mut self) {
        // A result for a guarded copy.
        let sunk = self.random.one_in(2).then(|| {
            let (temp, operands) = (self.program.new_temp() as i32, [self.source(), self.source()]);
            let op = [Op::Add, Op::Dot, Op::Load][self.random.below(3) as usize];
            self.push(op, Some(Destination::new(File::Temporary, temp, 0xf)), &operands[..op.operands()]);
            Source::new(File::Temporary, temp)
        });
        let flags = Destination::new(File::Special, FLAGS.into(), 0xf);
        let test = [Op::Mov, Op::Add, Op::Less][self.random.below(3) as usize];
        let operands = [self.source(), self.source()];
        // Backward propagation finds the producer.
        if self.random.one_in(2) {
            let temp = self.program.new_temp() as i32;
            self.push(test, Some(Destination::new(File::Temporary, temp, 0xf)), &operands[..test.operands()]);
            self.push(Op::Mov, Some(flags), &[Source::new(File::Temporary, temp)]);
        } else {
            self.push(test, Some(flags), &operands[..test.operands()]);
        }
        for _ in 0..self.random.below(3) + 1 {
            let op = [Op::Mov, Op::Add, Op::Mul, Op::Dot, Op::Load][self.random.below(5) as usize];
            let operands = [self.source(), self.source()];
            let dst = self.destination();
            let mut instruction = Instruction::new(op, Some(dst), operands[..op.operands()].iter().copied());
            let swizzle = [0; 4].map(|_: u8| self.random.below(4) as u8);
            let condition = self.random.below(2) as u8;
            instruction.guard = Some(Guard { register: FLAGS, condition, swizzle });
            self.push_instruction(instruction);
        }
        if let Some(sunk) = sunk {
            let mut copy = Instruction::new(Op::Mov, Some(self.destination()), [sunk]);
            copy.guard = Some(Guard { register: FLAGS, condition: 0, swizzle: [0, 1, 2, 3] });
            self.push_instruction(copy);
        }
    }

    fn temp(&mut self) -> i32 {
        let number = self.random.below(self.temps.len() as u64) as usize;
        // Passes work on separate values.
        if self.random.one_in(3) {
            self.temps[number] = self.program.new_temp();
        }
        self.temps[number] as i32
    }

    fn source(&mut self) -> Source {
        let mut src = match self.random.below(16) {
            0 | 1 => Source::new(File::Input, self.random.below(INPUTS.into()) as i32),
            2..=4 => {
                let row = [0; 4].map(|_: u32| self.random.below(3) as u32);
                Source::new(File::Constant, self.program.constants.intern(row))
            }
            5 => Source::new(File::Temporary, self.random.below(FIXED.into()) as i32),
            6 => Source {
                relative: Some(ADDRESS),
                ..Source::new(File::Temporary, self.random.below(FIXED.into()) as i32)
            },
            7 if self.random.one_in(4) => Source::new(File::Output, self.random.below(OUTPUTS as u64) as i32),
            _ => {
                let number = self.random.below(self.temps.len() as u64) as usize;
                Source::new(File::Temporary, self.temps[number] as i32)
            }
        };
        let mut mask = 0xf;
        if src.file == File::Temporary && src.index >= FIXED as i32 {
            mask = self.written.get(src.index as usize).copied().unwrap_or(0);
            if mask == 0 {
                (src, mask) = (Source::new(File::Input, 0), 0xf);
            }
        }
        src.negate = self.random.one_in(5);
        if mask != 0xf || !self.random.one_in(3) {
            src.swizzle = [0; 4].map(|_: u8| {
                loop {
                    let component = self.random.below(4) as u8;
                    if mask >> component & 1 != 0 {
                        break component;
                    }
                }
            });
        }
        src
    }

    fn destination(&mut self) -> Destination {
        let (file, index, relative) = match self.random.below(16) {
            0 => (File::Temporary, self.random.below(FIXED.into()) as i32, None),
            1 => (File::Temporary, self.random.below(FIXED.into()) as i32, Some(ADDRESS)),
            2 => (File::Output, self.random.below(OUTPUTS as u64) as i32, None),
            _ => (File::Temporary, self.temp(), None),
        };
        let mask = if self.random.one_in(3) { 0xf } else { self.random.below(15) as u8 + 1 };
        Destination { file, index, relative, mask }
    }

    fn operation(&mut self) {
        let op = match self.random.below(24) {
            0..=6 => Op::Mov,
            7..=10 => Op::Add,
            11..=13 => Op::Mul,
            14 => Op::Less,
            15 => Op::Dot,
            16 => Op::Load,
            17 | 18 => Op::Twist,
            19 => Op::Atomic,
            20 => Op::Address,
            21 => Op::Store,
            _ if self.emits => Op::Emit,
            _ => Op::Add,
        };
        let (a, b) = (self.source(), self.source());
        match op {
            Op::Address => {
                let dst = Destination::new(File::Special, ADDRESS.register.into(), 1);
                self.push(op, Some(dst), &[Source { negate: false, ..a }]);
            }
            Op::Store => self.push(op, None, &[a]),
            Op::Emit => self.push(op, None, &[]),
            Op::Mov | Op::Load | Op::Atomic => {
                let dst = self.destination();
                let saturate = op == Op::Mov && self.random.one_in(8);
                self.push(op, Some(dst), &[a]);
                let last = self.program.instructions().len() - 1;
                self.program.edit(last, |copy| copy.saturate = saturate);
            }
            _ => {
                let dst = self.destination();
                if self.random.one_in(3) {
                    return self.in_parts(op, dst, [a, b]);
                }
                self.push(op, Some(dst), &[a, b]);
                // The same operation on other values.
                for _ in 0..self.random.below(3) {
                    let again =
                        Destination { index: self.temp(), file: File::Temporary, relative: None, mask: dst.mask };
                    let number = self.random.below(4) as usize;
                    let swizzle = [a.swizzle[number]; 4];
                    self.push(op, Some(again), &[Source { swizzle, ..a }, b]);
                }
            }
        }
    }

    /// A result that is written component by component, or pair by pair.
    fn in_parts(&mut self, op: Op, dst: Destination, src: [Source; 2]) {
        let parts: &[u8] = if op == Op::Twist { &[3, 12] } else { &[1, 2, 4, 8] };
        for part in parts.iter().filter(|&part| dst.mask & part != 0) {
            self.push(op, Some(Destination { mask: dst.mask & part, ..dst }), &src);
            if self.random.one_in(3) {
                let (aside, value) = (self.program.new_temp(), self.source());
                self.push(
                    Op::Mov,
                    Some(Destination { file: File::Temporary, index: aside as i32, relative: None, mask: 1 }),
                    &[value],
                );
                self.temps.push(aside);
            }
        }
    }

    fn list(&mut self, depth: u32, in_loop: bool) {
        for _ in 0..self.random.below(12) + 1 {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.random.below(15) {
                0 | 1 if depth < 4 => self.conditional(depth, in_loop),
                2 if depth < 3 => self.rounds(depth),
                4 => {
                    let temp = self.program.new_temp();
                    let mask = self.random.below(15) as u8 + 1;
                    self.choice(Destination { file: File::Temporary, index: temp as i32, relative: None, mask }, 3);
                    self.temps.push(temp);
                }
                3 if in_loop && self.random.one_in(3) => {
                    let jump = if self.random.one_in(2) { Op::Break } else { Op::Continue };
                    self.push(jump, None, &[]);
                }
                5 => self.guarded(),
                _ => self.operation(),
            }
        }
    }

    fn conditional(&mut self, depth: u32, in_loop: bool) {
        let condition = self.source();
        let written = self.written.clone();
        self.push(Op::If, None, &[condition]);
        self.list(depth + 1, in_loop);
        self.written.clone_from(&written);
        if !self.random.one_in(3) {
            self.push(Op::Else, None, &[]);
            self.list(depth + 1, in_loop);
            self.written = written;
        }
        self.push(Op::EndIf, None, &[]);
    }

    /// A value that depends on conditions, with the same constant on many sides, as left by phis.
    fn choice(&mut self, dst: Destination, depth: u32) {
        if depth == 0 || self.random.one_in(6) {
            let row = Source::new(File::Constant, self.program.constants.intern([5; 4]));
            let src = if self.random.one_in(3) { self.source() } else { row };
            return self.push(Op::Mov, Some(dst), &[src]);
        }
        let condition = self.source();
        self.push(Op::If, None, &[condition]);
        self.choice(dst, depth - 1);
        self.push(Op::Else, None, &[]);
        self.choice(dst, depth - 1);
        self.push(Op::EndIf, None, &[]);
    }

    /// A loop of a few iterations, ended by a counter that has no other writes.
    fn rounds(&mut self, depth: u32) {
        let (counter, condition) = (self.program.new_temp(), self.program.new_temp());
        let component = self.random.below(4) as u8;
        let dst = |index: u32| Destination {
            file: File::Temporary,
            index: index as i32,
            relative: None,
            mask: 1 << component,
        };
        let read = |index: u32| Source::new(File::Temporary, index as i32).swizzled([component; 4]);
        let [zero, one] = [[0; 4], [1; 4]].map(|row| Source::new(File::Constant, self.program.constants.intern(row)));
        let row = [self.random.below(4) as u32; 4];
        let limit = Source::new(File::Constant, self.program.constants.intern(row));
        self.push(Op::Mov, Some(dst(counter)), &[zero]);
        self.push(Op::Loop, None, &[]);
        self.push(Op::Less, Some(dst(condition)), &[limit, read(counter)]);
        self.push(Op::Add, Some(dst(counter)), &[read(counter), one]);
        self.push(Op::If, None, &[read(condition)]);
        self.push(Op::Break, None, &[]);
        self.push(Op::EndIf, None, &[]);
        let written = self.written.clone();
        self.list(depth + 1, true);
        self.written = written;
        self.push(Op::EndLoop, None, &[]);
    }

    /// Makes some of the results visible.
    fn end(&mut self) {
        for output in 0..OUTPUTS as i32 {
            let src = self.source();
            let mask = self.random.below(15) as u8 + 1;
            self.push(Op::Mov, Some(Destination { file: File::Output, index: output, relative: None, mask }), &[src]);
        }
    }
}
