//! Executes programs over virtual registers on quads.

use tgsi_vec4::simple::{File, Guard, Source};

use crate::fragment::convert::{opcode, predicate};
use crate::isa::fragment::FragmentOp;
use crate::isa::{Predicate, Swizzle};
use crate::machine::{Code, Lookup, MachineInstruction, Program, Sample};
use crate::program::TextureKind;
use crate::simulator::{SignClass, evaluate_fragment, round_to_half};

/// The data of a run.
#[derive(Clone)]
pub struct Data {
    /// By lane.
    pub inputs: [Vec<[f32; 4]>; 4],
    pub uniforms: Vec<[u32; 4]>,
}

/// The results of a run.
pub struct Results {
    /// By lane: the outputs.
    pub outputs: [[[f32; 4]; 5]; 4],
    pub killed: [bool; 4],
    /// Whether all results are values of H registers.
    pub is_half: bool,
}

#[derive(Clone, Default)]
struct Lane {
    temps: Vec<[f32; 4]>,
    outputs: [[f32; 4]; 5],
    conditions: [[SignClass; 4]; 2],
    killed: bool,
}

struct Run<'a> {
    program: &'a Program,
    data: &'a Data,
    lanes: [Lane; 4],
    is_half: bool,
    steps: u32,
}

/// The sample of a texture in tests: a function of the coordinates that the lookup reads.
pub fn sample(sample: Sample, coordinate: [f32; 4], ddx: [f32; 4], ddy: [f32; 4], level: f32) -> [f32; 4] {
    let dimensions = match sample.kind {
        TextureKind::D1 => 1,
        TextureKind::D2 | TextureKind::Rect => 2,
        TextureKind::D3 | TextureKind::Cube => 3,
    };
    let mut sums = [0.0; 3];
    for (sum, vector) in sums.iter_mut().zip([coordinate, ddx, ddy]) {
        *sum = vector[..dimensions].iter().zip([1.0, 3.0, 5.0]).map(|(value, factor)| value * factor).sum::<f32>();
    }
    let reference = match (sample.is_shadow, sample.kind) {
        (false, _) => 0.0,
        (true, TextureKind::Cube | TextureKind::D3) => coordinate[3],
        (true, _) => coordinate[2],
    };
    [sums[0] + f32::from(sample.unit), sums[1] - sums[2], level * 0.5, reference]
}

/// Runs a program. All registers are initially zero.
pub fn run(program: &Program, data: &Data) -> Results {
    let lane = Lane { temps: vec![[0.0; 4]; program.num_temps() as usize], ..Lane::default() };
    let lanes = [lane.clone(), lane.clone(), lane.clone(), lane];
    let mut run = Run { program, data, lanes, is_half: true, steps: 0 };
    let mut at = 0;
    while at < program.instructions().len() {
        let instruction = &program.instructions()[at];
        if matches!(instruction.op.code, Code::If | Code::Loop) {
            let end = end_of(program.instructions(), at) + 1;
            (0..4).for_each(|lane| run.construct(lane, at, end));
            at = end;
            continue;
        }
        if instruction.op.code == Code::End {
            break;
        }
        let operands = [0, 1, 2, 3].map(|lane| run.operands(lane, instruction));
        (0..4).for_each(|lane| run.step(lane, instruction, &operands));
        at += 1;
    }
    Results {
        outputs: run.lanes.each_ref().map(|lane| lane.outputs),
        killed: run.lanes.each_ref().map(|lane| lane.killed),
        is_half: run.is_half,
    }
}

/// The end of the construct that begins at an instruction.
fn end_of(instructions: &[MachineInstruction], start: usize) -> usize {
    let mut depth = 0;
    for (at, instruction) in instructions.iter().enumerate().skip(start) {
        match instruction.op.code {
            Code::If | Code::Loop => depth += 1,
            Code::EndIf | Code::EndLoop => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("constructs nest")
}

impl Run<'_> {
    /// Executes a construct in one lane.
    fn construct(&mut self, lane: usize, start: usize, end: usize) {
        let instructions = self.program.instructions();
        let mut loops: Vec<usize> = Vec::new();
        let mut at = start;
        while at < end {
            self.steps += 1;
            assert!(self.steps < 10_000_000, "the program does not end");
            let instruction = &instructions[at];
            at = match instruction.op.code {
                Code::If if !self.passes(lane, instruction.guard) => self.other_side(at),
                Code::If | Code::EndIf => at + 1,
                Code::Else => {
                    // From the end of the first side to the end of the construct.
                    let mut depth = 1;
                    let mut to = at;
                    while depth > 0 {
                        to += 1;
                        match instructions[to].op.code {
                            Code::If => depth += 1,
                            Code::EndIf => depth -= 1,
                            _ => {}
                        }
                    }
                    to + 1
                }
                Code::Loop => {
                    loops.push(at);
                    at + 1
                }
                Code::EndLoop => loops.last().unwrap() + 1,
                Code::Brk => end_of(instructions, loops.pop().unwrap()) + 1,
                _ => {
                    let operands = [0, 1, 2, 3].map(|lane| self.operands(lane, instruction));
                    self.step(lane, instruction, &operands);
                    at + 1
                }
            };
        }
    }

    fn other_side(&self, at: usize) -> usize {
        let mut depth = 0;
        for (index, instruction) in self.program.instructions().iter().enumerate().skip(at) {
            match instruction.op.code {
                Code::If => depth += 1,
                Code::Else if depth == 1 => return index + 1,
                Code::EndIf if depth == 1 => return index + 1,
                Code::EndIf => depth -= 1,
                _ => {}
            }
        }
        panic!("constructs nest")
    }

    fn mask(&self, lane: usize, test: Predicate) -> u8 {
        let classes = test.swizzle.apply(self.lanes[lane].conditions[usize::from(test.register)]);
        (0..4).filter(|&c| classes[c].passes(test.condition)).fold(0, |mask, c| mask | 1 << c)
    }

    fn passes(&self, lane: usize, guard: Option<Guard>) -> bool {
        self.mask(lane, predicate(guard)) != 0
    }

    fn operands(&self, lane: usize, instruction: &MachineInstruction) -> [[f32; 4]; 3] {
        let mut operands = [[0.0; 4]; 3];
        for (operand, source) in operands.iter_mut().zip(&instruction.sources) {
            *operand = self.operand(lane, source);
        }
        operands
    }

    fn operand(&self, lane: usize, source: &Source) -> [f32; 4] {
        let index = source.index as usize;
        let value = match source.file {
            File::Temporary => self.lanes[lane].temps[index],
            File::Input => self.data.inputs[lane][index],
            File::Uniform => self.data.uniforms[index].map(f32::from_bits),
            File::Constant => self.program.constants.row(source.index).map(f32::from_bits),
            File::Output | File::Special => panic!("not generated"),
        };
        Swizzle(source.swizzle).apply(value).map(|value| {
            let value = if source.absolute { value.abs() } else { value };
            if source.negate { -value } else { value }
        })
    }

    fn step(&mut self, lane: usize, instruction: &MachineInstruction, operands: &[[[f32; 4]; 3]; 4]) {
        let passing = self.mask(lane, predicate(instruction.guard));
        if instruction.op.code == Code::Kil {
            self.lanes[lane].killed |= passing != 0;
            return;
        }
        let difference = |lane: usize, axis: usize, map: &dyn Fn([f32; 4]) -> [f32; 4]| {
            let (low, high) = (map(operands[lane & !axis][0]), map(operands[lane | axis][0]));
            [0, 1, 2, 3].map(|c| high[c] - low[c])
        };
        let [s0, s1, s2] = operands[lane];
        let result = match instruction.op.code {
            Code::Sample(what) => {
                let is_projected = what.lookup == Lookup::Txp;
                let project =
                    |[x, y, z, w]: [f32; 4]| if is_projected { [x / w, y / w, z / w, 1.0] } else { [x, y, z, w] };
                let (ddx, ddy, level) = match what.lookup {
                    Lookup::Txl => ([0.0; 4], [0.0; 4], s1[0]),
                    Lookup::Txd => (s1, s2, 0.0),
                    _ => {
                        let bias = if what.lookup == Lookup::Txb { s1[0] } else { 0.0 };
                        (difference(lane, 1, &project), difference(lane, 2, &project), bias)
                    }
                };
                sample(what, project(s0), ddx, ddy, level)
            }
            Code::Ddx => difference(lane | 2, 1, &|v| v),
            Code::Ddy => difference(lane & !1, 2, &|v| v),
            code => evaluate_fragment(opcode(code).unwrap_or(FragmentOp::Nop), operands[lane]).expect("an operation"),
        };
        let scale = instruction.op.scale.factor();
        let result = result.map(|value| {
            let value = if scale == 1.0 { value } else { value * scale };
            match instruction.saturate {
                true if value > 0.0 => value.min(1.0),
                true => 0.0,
                false => value,
            }
        });
        let Some(to) = instruction.destination else { return };
        let lane = &mut self.lanes[lane];
        for c in (0..4).filter(|c| (to.mask & passing) >> c & 1 != 0) {
            self.is_half &= result[c].is_nan() || round_to_half(result[c]).to_bits() == result[c].to_bits();
            match to.file {
                File::Temporary => lane.temps[to.index as usize][c] = result[c],
                File::Output => lane.outputs[to.index as usize][c] = result[c],
                _ => lane.conditions[to.index as usize][c] = SignClass::of(result[c]),
            }
        }
    }
}
