//! Executes programs of the machine, before and after passes.

use tgsi_vec4::simple::{File, Guard, Relative, Source};

use crate::isa::Condition;
use crate::machine::{Code, MachineInstruction, Program};
use crate::simulator::SignClass;

/// The state of a run.
struct Run<'a> {
    program: &'a Program,
    inputs: &'a [[f32; 4]],
    uniforms: &'a [[f32; 4]],
    temporaries: Vec<[f32; 4]>,
    conditions: [[SignClass; 4]; 2],
    addresses: [[i32; 4]; 2],
    /// The outputs; (0, 0, 0, 1) where unwritten.
    outputs: Vec<[f32; 4]>,
    /// Whether a read was after the last uniform, where literals may be.
    is_undefined: bool,
}

/// A texture that depends on all coordinates.
pub(super) fn texel(unit: u8, [s, t, r, level]: [f32; 4]) -> [f32; 4] {
    let unit = f32::from(unit);
    // Only the components of a lookup in two dimensions.
    let _ = r;
    [s + unit, t * 2.0, s - t, level]
}

/// Runs a program, and returns its outputs; `None` if it reads after the last uniform.
pub(super) fn run(program: &Program, inputs: &[[f32; 4]], uniforms: &[[f32; 4]]) -> Option<Vec<[f32; 4]>> {
    let limits = &program.machine.chip.limits().vertex;
    let mut run = Run {
        program,
        inputs,
        uniforms,
        temporaries: vec![[0.0; 4]; program.num_temps() as usize],
        conditions: [[SignClass::Equal; 4]; 2],
        addresses: [[0; 4]; 2],
        outputs: vec![[0.0, 0.0, 0.0, 1.0]; limits.outputs.into()],
        is_undefined: false,
    };
    let (mut at, mut steps) = (0, 0);
    while let Some(instruction) = program.instructions().get(at) {
        steps += 1;
        assert!(steps < 20_000, "the program does not end");
        at = match instruction.op.code {
            Code::If if !run.passes(instruction.guard).contains(&true) => run.after(at, true),
            Code::Else => run.after(at, false),
            Code::Brk => run.end_of_loop(at) + 1,
            Code::Cont => run.end_of_loop(at),
            Code::EndLoop => run.start_of_loop(at) + 1,
            Code::End => break,
            Code::If | Code::EndIf | Code::Loop => at + 1,
            _ => {
                run.step(instruction);
                at + 1
            }
        };
    }
    (!run.is_undefined).then_some(run.outputs)
}

impl Run<'_> {
    fn code(&self, at: usize) -> Code {
        self.program.instructions()[at].op.code
    }

    /// The instruction after the `Else` of a construct, if `stops_at_else`, or else after its `EndIf`.
    fn after(&self, at: usize, stops_at_else: bool) -> usize {
        let mut depth = 0;
        for index in at + 1.. {
            match self.code(index) {
                Code::If => depth += 1,
                Code::Else if depth == 0 && stops_at_else => return index + 1,
                Code::EndIf if depth == 0 => return index + 1,
                Code::EndIf => depth -= 1,
                _ => {}
            }
        }
        unreachable!()
    }

    fn end_of_loop(&self, at: usize) -> usize {
        let mut depth = 0;
        for index in at + 1.. {
            match self.code(index) {
                Code::Loop => depth += 1,
                Code::EndLoop if depth == 0 => return index,
                Code::EndLoop => depth -= 1,
                _ => {}
            }
        }
        unreachable!()
    }

    fn start_of_loop(&self, at: usize) -> usize {
        let mut depth = 0;
        for index in (0..at).rev() {
            match self.code(index) {
                Code::EndLoop => depth += 1,
                Code::Loop if depth == 0 => return index,
                Code::Loop => depth -= 1,
                _ => {}
            }
        }
        unreachable!()
    }

    fn passes(&self, guard: Option<Guard>) -> [bool; 4] {
        let Some(guard) = guard else { return [true; 4] };
        let classes = self.conditions[usize::from(guard.register)];
        guard.swizzle.map(|c| classes[usize::from(c)].passes(Condition(guard.condition)))
    }

    fn index(&self, relative: Option<Relative>) -> i32 {
        relative.map_or(0, |index| self.addresses[usize::from(index.register - 2)][usize::from(index.component)])
    }

    fn source(&mut self, source: &Source) -> [f32; 4] {
        let index = source.index + self.index(source.relative);
        self.is_undefined |= source.file == File::Uniform && index >= self.uniforms.len() as i32;
        let row = |rows: &[[f32; 4]]| {
            usize::try_from(index).ok().and_then(|index| rows.get(index)).copied().unwrap_or_default()
        };
        let value = match source.file {
            File::Temporary => row(&self.temporaries),
            File::Input => row(self.inputs),
            File::Uniform => row(self.uniforms),
            File::Constant => self.program.constants.row(index).map(f32::from_bits),
            File::Output | File::Special => unreachable!(),
        };
        source.swizzle.map(|c| {
            let value = value[usize::from(c)];
            let value = if source.absolute { value.abs() } else { value };
            if source.negate { -value } else { value }
        })
    }

    fn step(&mut self, instruction: &MachineInstruction) {
        let mut s = [[0.0; 4]; 3];
        for (value, source) in s.iter_mut().zip(&instruction.sources) {
            *value = self.source(source);
        }
        let [a, b, c] = s;
        let each = |function: &dyn Fn(usize) -> f32| [0, 1, 2, 3].map(function);
        let test = |function: &dyn Fn(f32, f32) -> bool| each(&|i| f32::from(u8::from(function(a[i], b[i]))));
        let mut result = match instruction.op.code {
            Code::Mov => a,
            Code::Mul => each(&|i| a[i] * b[i]),
            Code::Add => each(&|i| a[i] + b[i]),
            Code::Mad => each(&|i| a[i] * b[i] + c[i]),
            Code::Dp3 => [a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; 4],
            Code::Dp4 => [a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]; 4],
            Code::Dph => [a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + b[3]; 4],
            Code::Dst => [1.0, a[1] * b[1], a[2], b[3]],
            Code::Min => each(&|i| if a[i] < b[i] || b[i].is_nan() { a[i] } else { b[i] }),
            Code::Max => each(&|i| if a[i] > b[i] || b[i].is_nan() { a[i] } else { b[i] }),
            Code::Slt => test(&|a, b| a < b),
            Code::Sge => test(&|a, b| a >= b),
            Code::Seq => test(&|a, b| a == b),
            Code::Sne => test(&|a, b| a != b),
            Code::Sfl => [0.0; 4],
            Code::Str => [1.0; 4],
            Code::Frc => each(&|i| a[i] - a[i].floor()),
            Code::Flr => a.map(f32::floor),
            Code::Ssg => a.map(|a| {
                if a > 0.0 {
                    1.0
                } else if a < 0.0 {
                    -1.0
                } else {
                    a + 0.0
                }
            }),
            Code::Rcp => [1.0 / a[0]; 4],
            Code::Rsq if a[0] == 0.0 => [f32::INFINITY.copysign(a[0]); 4],
            Code::Rsq => [1.0 / a[0].sqrt(); 4],
            Code::Ex2 => [a[0].exp2(); 4],
            Code::Lg2 => [a[0].log2(); 4],
            Code::Sin => [a[0].sin(); 4],
            Code::Cos => [a[0].cos(); 4],
            Code::Lit => {
                let power = f64::from(a[1].max(0.0)).powf(f64::from(a[3].clamp(-128.0, 128.0))) as f32;
                [1.0, if a[0] > 0.0 { a[0] } else { 0.0 }, if a[0] > 0.0 { power } else { 0.0 }, 1.0]
            }
            Code::Sample(sample) => texel(sample.unit, a),
            Code::Arl => a.map(f32::floor),
            Code::Arr => a.map(f32::round_ties_even),
            code => unreachable!("{code:?} is not generated"),
        };
        if instruction.saturate {
            result = result.map(|value| if value > 0.0 { value.min(1.0) } else { 0.0 });
        }
        let passes = self.passes(instruction.guard);
        let to = instruction.destination.expect("a destination");
        let index = (to.index + self.index(to.relative)) as usize;
        let (lowest, greatest) = self.program.machine.chip.limits().vertex.address;
        for component in (0..4).filter(|&component| to.mask >> component & 1 != 0 && passes[component]) {
            let value = result[component];
            match to.file {
                File::Temporary => self.temporaries[index][component] = value,
                File::Output => {
                    if let Some(output) = self.outputs.get_mut(index) {
                        output[component] = value;
                    }
                }
                File::Special if index < 2 => self.conditions[index][component] = SignClass::of(value),
                File::Special => {
                    let value = value.clamp(lowest as f32, greatest as f32) as i32;
                    self.addresses[index - 2][component] = value;
                }
                _ => unreachable!(),
            }
        }
    }
}
