//! Random programs of the machine.

use tgsi_environment::Random;
use tgsi_ir::ShaderStage;
use tgsi_vec4::simple::{Destination, File, Guard, Relative, Source, push_legal};

use crate::isa::Chip;
use crate::machine::{Code, Lookup, Machine, MachineInstruction, Program, Sample, Selected};
use crate::program::{Texture, TextureKind, Varying};

pub(super) const INPUTS: usize = 4;
pub(super) const UNIFORMS: usize = 8;

/// A source of choices.
pub(super) struct Choice(Random);

impl Choice {
    pub(super) fn new(seed: u64) -> Choice {
        Choice(Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.0.bits() as u32 >> 4) as usize % limit
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(super) fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// A value, special ones among them.
    pub(super) fn float(&mut self) -> f32 {
        match self.below(16) {
            0 => 0.0,
            1 => 1.0,
            2 => -1.0,
            3 => self.of(&[f32::NAN, f32::INFINITY, -0.0, f32::NEG_INFINITY]),
            4 => self.below(9) as f32 - 4.0,
            _ => (self.below(4001) as f32 - 2000.0) / 250.0,
        }
    }
}

struct Generator {
    choice: Choice,
    program: Program,
    temps: Vec<u32>,
    /// The components of temporaries that are written on every path so far, by number; then the special registers.
    written: Vec<u8>,
    special: [u8; 4],
    budget: usize,
}

/// Generates the program of a seed.
pub(super) fn selected(seed: u64, chip: Chip) -> Selected {
    let mut choice = Choice::new(seed);
    let mut program = Program::new(Machine { chip, stage: ShaderStage::Vertex }, 0);
    let temps = (0..choice.below(8) + 3).map(|_| program.new_temp()).collect();
    let budget = choice.of(&[8, 20, 40]);
    let mut generator = Generator { choice, program, temps, written: Vec::new(), special: [0; 4], budget };
    generator.list(0, false);
    generator.outputs();
    let varying = |number: usize, mask: u8| Varying {
        register: number as u32,
        location: number as i32,
        number: number as u8,
        component: 0,
        mask,
    };
    let textures = if chip == Chip::Nv30 { 0 } else { 2 };
    Selected {
        program: generator.program,
        inputs: (0..INPUTS).map(|number| varying(number, 15)).collect(),
        outputs: (0..chip.limits().vertex.outputs.into()).map(|number| varying(number, 15)).collect(),
        textures: (0..textures).map(|unit| Texture { unit, kind: TextureKind::D2, is_shadow: false }).collect(),
        uniforms: UNIFORMS as u16,
    }
}

impl Generator {
    fn chip(&self) -> Chip {
        self.program.machine.chip
    }

    fn push(&mut self, mut instruction: MachineInstruction) {
        // No copy makes a move legal that has two indices.
        let is_indexed = instruction.sources.iter().any(|source| source.relative.is_some());
        if let Some(to) = instruction.destination.as_mut().filter(|_| is_indexed) {
            to.relative = None;
        }
        if let Some(to) = instruction.destination
            && instruction.guard.is_none()
        {
            match to.file {
                File::Temporary => {
                    let index = to.index as usize;
                    self.written.resize(self.written.len().max(index + 1), 0);
                    self.written[index] |= to.mask;
                }
                File::Special => self.special[to.index as usize] |= to.mask,
                _ => {}
            }
        }
        push_legal(&mut self.program, instruction);
    }

    fn emit(&mut self, code: Code, to: Destination, sources: &[Source]) {
        self.push(MachineInstruction::new(code.into(), Some(to), sources.iter().copied()));
    }

    fn flow(&mut self, code: Code, guard: Option<Guard>) {
        let mut instruction = MachineInstruction::new(code.into(), None, []);
        instruction.guard = guard;
        self.push(instruction);
    }

    fn component_of(&mut self, mask: u8) -> u8 {
        let count = mask.count_ones() as usize;
        let number = self.choice.below(count);
        (0..4).filter(|c| mask >> c & 1 != 0).nth(number).unwrap_or(0)
    }

    fn mask(&mut self) -> u8 {
        if self.choice.one_in(3) { 15 } else { self.choice.below(15) as u8 + 1 }
    }

    fn address(&mut self) -> Option<Relative> {
        let register = self.choice.of(&[2, 3]);
        let mask = self.special[usize::from(register)];
        (mask != 0).then(|| Relative { register, component: self.component_of(mask) })
    }

    fn literal(&mut self) -> Source {
        let row = [0; 4].map(|_: u8| {
            let values = [0.0f32, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 4.0, 7.0];
            self.choice.of(&values).to_bits()
        });
        let row = if self.choice.one_in(3) { [row[0]; 4] } else { row };
        Source::new(File::Constant, self.program.constants.intern(row))
    }

    fn source(&mut self) -> Source {
        let mut source = match self.choice.below(12) {
            0 | 1 => Source::new(File::Input, self.choice.below(INPUTS) as i32),
            2 => Source::new(File::Uniform, self.choice.below(UNIFORMS) as i32),
            3 => {
                let relative = self.address();
                Source { relative, ..Source::new(File::Uniform, self.choice.below(UNIFORMS) as i32) }
            }
            4 if self.chip() != Chip::Nv30 && self.choice.one_in(3) => {
                let relative = self.address();
                Source { relative, ..Source::new(File::Input, self.choice.below(INPUTS) as i32) }
            }
            4 | 5 => self.literal(),
            _ => Source::new(File::Temporary, self.choice.of(&self.temps.clone()) as i32),
        };
        let mut mask = 15;
        if source.file == File::Temporary {
            mask = self.written.get(source.index as usize).copied().unwrap_or(0);
            if mask == 0 {
                (source, mask) = (Source::new(File::Input, 0), 15);
            }
        }
        source.negate = self.choice.one_in(5);
        source.absolute = self.choice.one_in(8);
        if mask != 15 || !self.choice.one_in(3) {
            let first = self.component_of(mask);
            source.swizzle = [first; 4];
            if !self.choice.one_in(3) {
                source.swizzle = [0; 4].map(|_: u8| self.component_of(mask));
            }
        }
        source
    }

    fn temp(&mut self) -> i32 {
        let number = self.choice.below(self.temps.len());
        // Passes work on separate values.
        if self.choice.one_in(3) {
            self.temps[number] = self.program.new_temp();
        }
        self.temps[number] as i32
    }

    fn destination(&mut self) -> Destination {
        let mask = self.mask();
        match self.choice.below(14) {
            0 | 1 => Destination::new(File::Output, self.choice.below(8) as i32, mask),
            2 if self.chip() != Chip::Nv30 && self.choice.one_in(4) => {
                let relative = self.address();
                Destination { relative, ..Destination::new(File::Output, self.choice.below(8) as i32, mask) }
            }
            _ => Destination::new(File::Temporary, self.temp(), mask),
        }
    }

    fn guard(&mut self) -> Option<Guard> {
        let register = self.condition_register();
        let mask = self.special[usize::from(register)];
        (mask != 0).then(|| {
            let condition = self.choice.of(&[1, 2, 3, 4, 5, 6, 5, 2]);
            Guard { register, condition, swizzle: [0; 4].map(|_: u8| self.component_of(mask)) }
        })
    }

    fn condition_register(&mut self) -> u8 {
        if self.chip() != Chip::Nv30 && self.choice.one_in(4) { 1 } else { 0 }
    }

    fn operation(&mut self) -> MachineInstruction {
        const CODES: [(Code, usize); 30] = [
            (Code::Mov, 1),
            (Code::Mov, 1),
            (Code::Mov, 1),
            (Code::Mul, 2),
            (Code::Mul, 2),
            (Code::Add, 2),
            (Code::Add, 2),
            (Code::Mad, 3),
            (Code::Dp3, 2),
            (Code::Dp4, 2),
            (Code::Dph, 2),
            (Code::Dst, 2),
            (Code::Min, 2),
            (Code::Max, 2),
            (Code::Slt, 2),
            (Code::Sge, 2),
            (Code::Sne, 2),
            (Code::Sfl, 0),
            (Code::Str, 0),
            (Code::Frc, 1),
            (Code::Flr, 1),
            (Code::Ssg, 1),
            (Code::Rcp, 1),
            (Code::Rcp, 1),
            (Code::Rsq, 1),
            (Code::Ex2, 1),
            (Code::Lg2, 1),
            (Code::Sin, 1),
            (Code::Cos, 1),
            (Code::Lit, 1),
        ];
        let (code, count) = self.choice.of(&CODES);
        let sources: Vec<Source> = (0..count).map(|_| self.source()).collect();
        let to = self.destination();
        let mut instruction = MachineInstruction::new(code.into(), Some(to), sources);
        instruction.saturate = self.chip() != Chip::Nv30 && self.choice.one_in(8);
        instruction
    }

    /// A comparison, directly or through a temporary.
    fn test(&mut self) {
        let code = self.choice.of(&[Code::Slt, Code::Sge, Code::Seq, Code::Add, Code::Mov]);
        let register = self.condition_register();
        let mask = self.mask();
        let to = Destination::new(File::Special, register.into(), mask);
        let sources = [self.source(), self.source()];
        let sources = &sources[..if code == Code::Mov { 1 } else { 2 }];
        if self.choice.one_in(2) {
            let temp = self.program.new_temp();
            self.emit(code, Destination::new(File::Temporary, temp as i32, mask), sources);
            self.emit(Code::Mov, to, &[Source::new(File::Temporary, temp as i32)]);
            if self.choice.one_in(2) {
                self.temps.push(temp);
            }
        } else {
            self.emit(code, to, sources);
        }
    }

    /// A choice of two values, each computed before.
    fn selection(&mut self) {
        let Some(guard) = self.guard() else { return self.test() };
        let mask = self.mask();
        let [a, b] = [0; 2].map(|_: u8| self.program.new_temp() as i32);
        for temp in [a, b] {
            let mut instruction = self.operation();
            instruction.destination = Some(Destination::new(File::Temporary, temp, mask));
            self.push(instruction);
        }
        let to = self.destination();
        let to = Destination { mask, ..to };
        self.emit(Code::Mov, to, &[Source::new(File::Temporary, a)]);
        let mut copy = MachineInstruction::new(Code::Mov.into(), Some(to), [Source::new(File::Temporary, b)]);
        copy.guard = Some(guard);
        self.push(copy);
    }

    fn lookup(&mut self) {
        if self.chip() == Chip::Nv30 {
            return;
        }
        let unit = self.choice.below(2) as u8;
        let sample = Sample { lookup: Lookup::Txl, unit, kind: TextureKind::D2, is_shadow: false };
        let (source, to) = (self.source(), self.destination());
        self.emit(Code::Sample(sample), to, &[source]);
    }

    fn list(&mut self, depth: u32, in_loop: bool) {
        for _ in 0..self.choice.below(12) + 1 {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.choice.below(20) {
                0 | 1 if depth < 4 => self.conditional(depth, in_loop),
                2 if depth < 3 => self.rounds(depth),
                3 if in_loop => {
                    let code = self.choice.of(&[Code::Brk, Code::Cont]);
                    if let Some(guard) = self.guard() {
                        self.flow(Code::If, Some(guard));
                        self.flow(code, None);
                        self.flow(Code::EndIf, None);
                    }
                }
                4 => self.test(),
                5 => self.selection(),
                6 => {
                    let code = self.choice.of(&[Code::Arl, Code::Arr]);
                    let to = Destination::new(File::Special, self.choice.of(&[2, 3]), self.choice.of(&[1, 2, 4, 9]));
                    let source = self.source();
                    self.emit(code, to, &[source]);
                }
                7 => self.lookup(),
                8 if depth > 0 && self.choice.one_in(6) => self.flow(Code::End, None),
                _ => {
                    let mut instruction = self.operation();
                    if self.choice.one_in(4) {
                        instruction.guard = self.guard();
                    }
                    self.push(instruction);
                }
            }
        }
    }

    fn conditional(&mut self, depth: u32, in_loop: bool) {
        self.test();
        let Some(mut guard) = self.guard() else { return };
        if !self.choice.one_in(4) {
            guard.swizzle = [guard.swizzle[0]; 4];
        }
        self.flow(Code::If, Some(guard));
        let (written, special) = (self.written.clone(), self.special);
        self.list(depth + 1, in_loop);
        (self.written, self.special) = (written.clone(), special);
        if self.choice.one_in(2) {
            self.flow(Code::Else, None);
            self.list(depth + 1, in_loop);
            (self.written, self.special) = (written, special);
        }
        self.flow(Code::EndIf, None);
    }

    /// A loop of a few iterations, ended by a counter that has no other writes.
    fn rounds(&mut self, depth: u32) {
        let counter = self.program.new_temp() as i32;
        let component = self.choice.below(4) as u8;
        let to = Destination::new(File::Temporary, counter, 1 << component);
        let read = Source::new(File::Temporary, counter).swizzled([component; 4]);
        let count = self.choice.below(4) as f32;
        let [zero, one, limit] = [0.0f32, 1.0, count]
            .map(|value| Source::new(File::Constant, self.program.constants.intern([value.to_bits(); 4])));
        self.emit(Code::Mov, to, &[zero]);
        self.flow(Code::Loop, None);
        self.emit(Code::Sge, Destination::new(File::Special, 0, 1), &[read, limit]);
        self.flow(Code::If, Some(Guard { register: 0, condition: 5, swizzle: [0; 4] }));
        self.flow(Code::Brk, None);
        self.flow(Code::EndIf, None);
        self.emit(Code::Add, to, &[read, one]);
        let (written, special) = (self.written.clone(), self.special);
        self.list(depth + 1, true);
        (self.written, self.special) = (written, special);
        self.flow(Code::EndLoop, None);
    }

    /// Makes some of the results visible.
    fn outputs(&mut self) {
        for _ in 0..4 {
            let (source, mask) = (self.source(), self.mask());
            let to = Destination::new(File::Output, self.choice.below(8) as i32, mask);
            self.emit(Code::Mov, to, &[source]);
        }
    }
}
