//! Random programs.

use tgsi_environment::Random;
use tgsi_ir::ShaderStage;
use tgsi_vec4::simple::{Destination, File, Guard, Source, push_legal};

use crate::isa::Chip;
use crate::isa::fragment::Scale;
use crate::machine::{Code, DEPTH, Lookup, Machine, MachineInstruction, Op, Program, Sample, Selected};
use crate::program::{Texture, TextureKind, Varying};

pub const INPUTS: [u8; 5] = [0, 1, 4, 5, 14];
pub const UNIFORMS: u16 = 4;
const UNITS: [(TextureKind, bool); 4] =
    [(TextureKind::D2, false), (TextureKind::Cube, false), (TextureKind::D2, true), (TextureKind::D1, false)];
const VALUES: [f32; 12] = [0.0, 1.0, 0.5, 2.0, -1.0, 3.0, -0.25, 4.0, 0.0, 1.0, 1e-9, f32::INFINITY];

/// The components that are written on every path.
#[derive(Clone, Default)]
struct Written {
    temps: Vec<u8>,
    conditions: [u8; 2],
}

impl Written {
    fn and(&mut self, other: &Written) {
        for (mask, other) in self.temps.iter_mut().zip(other.temps.iter().copied().chain(std::iter::repeat(0))) {
            *mask &= other;
        }
        (0..2).for_each(|register| self.conditions[register] &= other.conditions[register]);
    }
}

struct Generator {
    random: Random,
    program: Program,
    temps: Vec<u32>,
    written: Written,
    outputs: Vec<i32>,
    budget: u32,
    chip: Chip,
    loops: u32,
}

/// The unit of a texture as a sample.
pub fn unit(number: u8, lookup: Lookup) -> Sample {
    let (kind, is_shadow) = UNITS[usize::from(number) % UNITS.len()];
    Sample { lookup, unit: number, kind, is_shadow }
}

/// Generates the program of a seed.
pub fn selected(seed: u64, chip: Chip) -> Selected {
    let mut random = Random::new(seed);
    let program = Program::new(Machine { chip, stage: ShaderStage::Fragment }, 0);
    let mut outputs = vec![0];
    if chip != Chip::Nv30 {
        outputs.extend((1..4).filter(|_| random.bits().is_multiple_of(3)));
    }
    if random.bits().is_multiple_of(3) {
        outputs.push(DEPTH);
    }
    let budget = random.bits() as u32 % 40 + 3;
    let mut generator =
        Generator { random, program, temps: Vec::new(), written: Written::default(), outputs, budget, chip, loops: 0 };
    for _ in 0..generator.below(6) + 2 {
        let temp = generator.program.new_temp();
        generator.temps.push(temp);
    }
    generator.list(0);
    generator.results();
    if generator.one_in(2) {
        generator.push(Code::End, None, &[]);
    }
    let varying = |register: usize, number: u8| Varying {
        register: register as u32,
        location: 0,
        number,
        component: 0,
        mask: if i32::from(number) == DEPTH { 4 } else { 15 },
    };
    Selected {
        inputs: INPUTS.iter().enumerate().map(|(register, &number)| varying(register, number)).collect(),
        outputs: generator.outputs.iter().enumerate().map(|(r, &number)| varying(r, number as u8)).collect(),
        textures: (0..4)
            .map(|number| {
                let sample = unit(number, Lookup::Tex);
                Texture { unit: number, kind: sample.kind, is_shadow: sample.is_shadow }
            })
            .collect(),
        uniforms: UNIFORMS,
        program: generator.program,
    }
}

impl Generator {
    fn below(&mut self, count: u32) -> u32 {
        (self.random.bits() as u32) % count
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize]
    }

    fn push(&mut self, code: impl Into<Op>, to: Option<Destination>, sources: &[Source]) {
        self.push_instruction(MachineInstruction::new(code.into(), to, sources.iter().copied()));
    }

    fn push_instruction(&mut self, instruction: MachineInstruction) {
        if let Some(to) = instruction.destination.filter(|_| instruction.guard.is_none()) {
            let index = to.index as usize;
            match to.file {
                File::Temporary => {
                    self.written.temps.resize(self.written.temps.len().max(index + 1), 0);
                    self.written.temps[index] |= to.mask;
                }
                File::Special => self.written.conditions[index] |= to.mask,
                _ => {}
            }
        }
        push_legal(&mut self.program, instruction);
    }

    fn mask(&mut self) -> u8 {
        if self.one_in(3) { 15 } else { self.below(15) as u8 + 1 }
    }

    fn temp(&mut self) -> i32 {
        let number = self.below(self.temps.len() as u32) as usize;
        if self.one_in(3) {
            self.temps[number] = self.program.new_temp();
        }
        self.temps[number] as i32
    }

    fn destination(&mut self) -> Destination {
        let mask = self.mask();
        match self.below(10) {
            0 => {
                let output = self.of(&self.outputs.clone());
                Destination::new(File::Output, output, if output == DEPTH { 4 } else { mask })
            }
            _ => Destination::new(File::Temporary, self.temp(), mask),
        }
    }

    fn row(&mut self) -> i32 {
        let row = [0; 4].map(|_: u32| self.of(&VALUES).to_bits());
        let row = if self.one_in(2) { [row[0]; 4] } else { row };
        self.program.constants.intern(row)
    }

    fn source(&mut self) -> Source {
        let mut mask = 15;
        let mut source = match self.below(12) {
            0 | 1 => {
                let inputs = if self.chip == Chip::Nv30 { &INPUTS[..4] } else { &INPUTS };
                Source::new(File::Input, self.of(inputs).into())
            }
            2 | 3 => Source::new(File::Constant, self.row()),
            4 => Source::new(File::Uniform, self.below(UNIFORMS.into()) as i32),
            _ => {
                let temp = self.of(&self.temps.clone());
                mask = self.written.temps.get(temp as usize).copied().unwrap_or(0);
                Source::new(File::Temporary, temp as i32)
            }
        };
        if mask == 0 {
            (source, mask) = (Source::new(File::Input, 4), 15);
        }
        source.negate = self.one_in(6);
        source.absolute = self.one_in(10);
        source.swizzle = self.swizzle(mask);
        source
    }

    /// A swizzle that reads components of a mask.
    fn swizzle(&mut self, mask: u8) -> [u8; 4] {
        if mask == 15 && self.one_in(2) {
            return [0, 1, 2, 3];
        }
        let components: Vec<u8> = (0..4).filter(|c| mask >> c & 1 != 0).collect();
        let is_replicated = self.one_in(3);
        let first = self.of(&components);
        [0; 4].map(|_: u8| if is_replicated { first } else { self.of(&components) })
    }

    fn code(&mut self) -> (Code, usize) {
        use Code::*;
        const ALL: [(Code, usize); 27] = [
            (Mov, 1),
            (Mov, 1),
            (Mul, 2),
            (Mul, 2),
            (Add, 2),
            (Add, 2),
            (Mad, 3),
            (Mad, 3),
            (Dp3, 2),
            (Dp4, 2),
            (Dst, 2),
            (Min, 2),
            (Max, 2),
            (Slt, 2),
            (Sge, 2),
            (Seq, 2),
            (Sne, 2),
            (Frc, 1),
            (Flr, 1),
            (Rcp, 1),
            (Rsq, 1),
            (Ex2, 1),
            (Lg2, 1),
            (Lrp, 3),
            (Sin, 1),
            (Sfl, 0),
            (Str, 0),
        ];
        const NV40: [(Code, usize); 6] = [(Dp2, 2), (Dp2a, 3), (Lif, 1), (Nrm, 1), (Div, 2), (Divsq, 2)];
        const NV30: [(Code, usize); 2] = [(Lit, 1), (Pow, 2)];
        match (self.one_in(8), self.chip) {
            (false, _) => self.of(&ALL),
            (true, Chip::Nv30) => self.of(&NV30),
            (true, _) => self.of(&NV40),
        }
    }

    fn operation(&mut self, to: Destination, guard: Option<Guard>) {
        let (code, count) = self.code();
        let sources: Vec<Source> = (0..count).map(|_| self.source()).collect();
        let mut to = to;
        if code == Code::Nrm {
            to.mask &= 7;
            if to.mask == 0 {
                return;
            }
        }
        let mut instruction = MachineInstruction::new(code.into(), Some(to), sources);
        instruction.saturate = self.one_in(6);
        let scales = !matches!(code, Code::Nrm | Code::Lif | Code::Lit);
        if scales && self.one_in(if code == Code::Mov { 4 } else { 16 }) {
            instruction.op.scale = self.of(&[Scale::Two, Scale::Four, Scale::Half, Scale::Eighth]);
        }
        instruction.guard = guard;
        self.push_instruction(instruction);
    }

    /// Writes a condition register. Returns a guard that tests it.
    fn condition(&mut self) -> Guard {
        let registers = self.chip.limits().fragment.conditions;
        let register = if self.one_in(4) { self.below(registers.into()) as u8 } else { 0 };
        if self.written.conditions[usize::from(register)] == 0 || !self.one_in(3) {
            let mask = self.mask() & Self::free(register);
            let special = Destination::new(File::Special, register.into(), mask);
            if mask == 0 {
                return self.condition();
            }
            if self.one_in(2) {
                let temp = self.temp();
                self.operation(Destination::new(File::Temporary, temp, 7), None);
                let mask = self.written.temps.get(temp as usize).copied().unwrap_or(0) & mask;
                if mask != 0 {
                    let to = Destination { mask, ..special };
                    self.push(Code::Mov, Some(to), &[Source::new(File::Temporary, temp)]);
                }
            }
            if self.written.conditions[usize::from(register)] == 0 || self.one_in(2) {
                let operands = [self.source(), self.source()];
                let code = self.of(&[Code::Slt, Code::Add, Code::Sge]);
                self.push(code, Some(special), &operands);
            }
        }
        let swizzle = self.swizzle(self.written.conditions[usize::from(register)]);
        Guard { register, condition: self.below(7) as u8, swizzle }
    }

    /// The components of a condition register that the program may use: long loops take some.
    fn free(register: u8) -> u8 {
        if register == 1 { 3 } else { 15 }
    }

    fn lookup(&mut self, depth: u32) {
        let lookups: &[Lookup] = match (self.chip, depth) {
            (Chip::Nv30, 0) => &[Lookup::Tex, Lookup::Txp, Lookup::Txb],
            (Chip::Nv30, _) => &[],
            (_, 0) => &[Lookup::Tex, Lookup::Tex, Lookup::Txp, Lookup::Txb, Lookup::Txl, Lookup::Txd],
            _ => &[Lookup::Txl, Lookup::Txd],
        };
        if lookups.is_empty() {
            return;
        }
        let lookup = self.of(lookups);
        let what = unit(self.below(4) as u8, lookup);
        let count = match lookup {
            Lookup::Tex | Lookup::Txp => 1,
            Lookup::Txb | Lookup::Txl => 2,
            Lookup::Txd => 3,
        };
        let sources: Vec<Source> = (0..count).map(|_| self.source()).collect();
        let to = self.destination();
        self.push(Code::Sample(what), Some(to), &sources);
    }

    fn list(&mut self, depth: u32) {
        let has_flow = self.chip != Chip::Nv30 && depth < 4;
        for _ in 0..self.below(12) + 1 {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.below(20) {
                0 if has_flow => self.branch(depth),
                1 if has_flow && self.loops < 2 => self.repeat(depth),
                2 => {
                    let guard = self.condition();
                    let mut kill = MachineInstruction::new(Code::Kil.into(), None, []);
                    kill.guard = Some(Guard { condition: self.below(2) as u8 * 4, ..guard });
                    self.push_instruction(kill);
                }
                3 if depth == 0 => {
                    let to = Destination::new(File::Temporary, self.temp(), self.below(3) as u8 + 1);
                    let (code, source) = (self.of(&[Code::Ddx, Code::Ddy]), self.source());
                    self.push(code, Some(to), &[source]);
                }
                4..=6 => {
                    let guard = self.condition();
                    for _ in 0..self.below(3) + 1 {
                        let to = self.destination();
                        let swizzle = self.swizzle(self.written.conditions[usize::from(guard.register)]);
                        self.operation(to, Some(Guard { swizzle, ..guard }));
                    }
                }
                7 | 8 => self.lookup(depth),
                9 => self.scaled(),
                10 => self.tested(),
                _ => {
                    let to = self.destination();
                    self.operation(to, None);
                }
            }
        }
    }

    /// A result that is multiplied, and perhaps used otherwise.
    fn scaled(&mut self) {
        let temp = self.program.new_temp() as i32;
        let mask = self.mask();
        self.operation(Destination::new(File::Temporary, temp, mask), None);
        let mask = self.written.temps.get(temp as usize).copied().unwrap_or(0);
        if mask == 0 {
            return;
        }
        for _ in 0..self.below(2) + 1 {
            let scale = self.of(&[Scale::Two, Scale::One, Scale::Quarter]);
            let (to, swizzle) = (self.destination(), self.swizzle(mask));
            let mut copy = MachineInstruction::new(
                Op { code: Code::Mov, scale },
                Some(to),
                [Source { negate: self.one_in(4), ..Source::new(File::Temporary, temp).swizzled(swizzle) }],
            );
            copy.saturate = self.one_in(4);
            self.push_instruction(copy);
        }
    }

    /// A result, written under a condition or not, that is tested and used.
    fn tested(&mut self) {
        let guard = self.condition();
        let temp = self.program.new_temp() as i32;
        let to = Destination::new(File::Temporary, temp, 7);
        self.operation(to, None);
        if self.one_in(2) {
            self.operation(Destination { mask: 3, ..to }, Some(guard));
        }
        let mask = self.written.temps.get(temp as usize).copied().unwrap_or(0) & self.mask();
        if mask != 0 {
            let special = Destination::new(File::Special, 0, mask);
            self.push(Code::Mov, Some(special), &[Source::new(File::Temporary, temp)]);
            let (to, swizzle) = (self.destination(), self.swizzle(mask));
            self.push(Code::Mov, Some(to), &[Source::new(File::Temporary, temp).swizzled(swizzle)]);
            let guard = Guard { register: 0, condition: guard.condition, swizzle: self.swizzle(mask) };
            let to = self.destination();
            self.operation(to, Some(guard));
        }
    }

    fn flow(&mut self, code: Code, guard: Option<Guard>) {
        let mut instruction = MachineInstruction::new(code.into(), None, []);
        instruction.guard = guard;
        self.push_instruction(instruction);
    }

    fn branch(&mut self, depth: u32) {
        let guard = self.condition();
        self.flow(Code::If, Some(guard));
        let before = self.written.clone();
        if !self.one_in(8) {
            self.list(depth + 1);
        }
        let mut after = before.clone();
        if self.one_in(2) {
            after = std::mem::replace(&mut self.written, before);
            self.flow(Code::Else, None);
            self.list(depth + 1);
        }
        self.flow(Code::EndIf, None);
        self.written.and(&after);
    }

    fn repeat(&mut self, depth: u32) {
        self.loops += 1;
        let counter = self.program.new_temp() as i32;
        let to = Destination::new(File::Temporary, counter, 1);
        let read = Source::new(File::Temporary, counter).swizzled([0; 4]);
        let [zero, one] = [0.0f32, 1.0].map(|value| {
            let row = self.program.constants.intern([value.to_bits(); 4]);
            Source::new(File::Constant, row)
        });
        let count = if depth == 0 && self.one_in(8) { 300 } else { self.below(5) + 1 };
        let count = Source::new(File::Constant, self.program.constants.intern([(count as f32).to_bits(); 4]));
        self.push(Code::Mov, Some(to), &[zero]);
        let before = self.written.clone();
        // Iterations after the first find what later instructions of the body have written, too.
        self.flow(Code::Loop, None);
        let is_early = self.one_in(2);
        if !is_early {
            self.list(depth + 1);
        }
        self.push(Code::Add, Some(to), &[read, one]);
        let register = self.below(2) as i32;
        let component = if Self::free(register as u8) == 15 { self.below(4) } else { self.below(2) } as u8;
        let flag = Destination::new(File::Special, register, 1 << component);
        self.push(Code::Sge, Some(flag), &[read, count]);
        let guard = Guard { register: register as u8, condition: 5, swizzle: [component; 4] };
        self.flow(Code::If, Some(guard));
        self.flow(Code::Brk, None);
        self.flow(Code::EndIf, None);
        if is_early {
            self.list(depth + 1);
        }
        if self.one_in(3) {
            let guard = self.condition();
            self.flow(Code::If, Some(guard));
            self.list(depth + 1);
            self.flow(Code::Brk, None);
            self.flow(Code::EndIf, None);
        }
        self.flow(Code::EndLoop, None);
        self.written = before;
        self.loops -= 1;
    }

    /// Writes the outputs.
    fn results(&mut self) {
        for output in self.outputs.clone() {
            let mask = if output == DEPTH { 4 } else { self.mask() };
            let source = self.source();
            let is_one = self.one_in(2);
            let mut copy =
                MachineInstruction::new(Code::Mov.into(), Some(Destination::new(File::Output, output, mask)), [source]);
            copy.saturate = self.one_in(3);
            self.push_instruction(copy);
            if is_one && output != DEPTH {
                self.operation(Destination::new(File::Output, output, 8), None);
            }
        }
    }
}
