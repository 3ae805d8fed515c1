//! Executes fragment programs on quads.

mod alu;
mod flow;

use super::arithmetic::{Arithmetic, Stage};
use super::half;
use super::{Conditions, Lookup, Registers, Rules, TextureFetch, Trap, UNDEFINED, passing, set_conditions};
use crate::isa::fragment::{Class, FragmentOp, Instruction, Register, SourceKind, decode};
use crate::isa::{Chip, FragmentLimits};
use flow::Open;

/// A decoded program.
#[derive(Clone, Debug)]
pub struct FragmentSimulator {
    /// The instruction of each slot; `None` for constants.
    slots: Vec<Option<Instruction>>,
    limits: &'static FragmentLimits,
}

/// The data of a quad. Lanes are numbered by rows: 1 is right of 0, 2 below 0.
pub struct QuadInputs<'a> {
    /// The inputs of each lane by number. Others are zero.
    pub inputs: [&'a [[f32; 4]]; 4],
    /// Executes a fetch.
    pub texture: &'a dyn Fn(&TextureFetch) -> [f32; 4],
    /// The rules of arithmetic.
    pub rules: Rules,
    /// The number of instructions after which the run ends with [`Trap::Steps`].
    pub steps: u32,
}

impl Default for QuadInputs<'_> {
    fn default() -> Self {
        QuadInputs { inputs: [&[]; 4], texture: &|_| [0.0; 4], rules: Rules::Ieee, steps: 1 << 20 }
    }
}

/// The state at the end of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct FragmentResult {
    /// The registers of each lane.
    pub registers: [Registers; 4],
    /// The killed lanes.
    pub killed: [bool; 4],
    /// The number of issued instructions.
    pub steps: u32,
}

impl FragmentResult {
    /// Returns colour output `number`: of H0, H4, H6, H8, or with `is_full` of R0, R2, R3, R4.
    pub fn colour(&self, lane: usize, number: usize, is_full: bool) -> [f32; 4] {
        let number = number.min(3);
        let register = if is_full { Register::R([0, 2, 3, 4][number]) } else { Register::H([0, 4, 6, 8][number]) };
        self.registers[lane].get(register)
    }

    /// Returns the depth, R1.z.
    pub fn depth(&self, lane: usize) -> f32 {
        self.registers[lane].get(Register::R(1))[2]
    }
}

/// A fragment of the quad.
#[derive(Default)]
struct Lane {
    registers: Registers,
    conditions: Conditions,
    /// The next slot; `None` at the end of the program.
    at: Option<u32>,
    is_killed: bool,
    /// Constructs that surround the next slot, outermost first.
    open: Vec<Open>,
}

struct Quad<'a> {
    inputs: &'a QuadInputs<'a>,
    limits: &'static FragmentLimits,
    arithmetic: Arithmetic,
    lanes: [Lane; 4],
}

/// The operands of the four lanes.
type Operands = [[[f32; 4]; 3]; 4];

impl FragmentSimulator {
    /// Decodes a program.
    pub fn new(words: &[u32], chip: Chip) -> Result<FragmentSimulator, Trap> {
        let mut slots = Vec::new();
        while slots.len() * 4 < words.len() {
            let error = |error| Trap::Decode(slots.len() as u32, error);
            let instruction = decode(&words[slots.len() * 4..], chip).map_err(error)?;
            slots.push(Some(instruction));
            slots.extend(instruction.constant.map(|_| None));
        }
        Ok(FragmentSimulator { slots, limits: &chip.limits().fragment })
    }

    /// Returns the instructions with their slots.
    pub fn instructions(&self) -> impl Iterator<Item = (u32, &Instruction)> {
        (0..).zip(&self.slots).filter_map(|(slot, instruction)| Some((slot, instruction.as_ref()?)))
    }

    /// Executes the program from slot 0 to an instruction with the end bit in each lane. Lanes in different slots take
    /// turns: the lowest slot is first.
    pub fn run(&self, inputs: &QuadInputs<'_>) -> Result<FragmentResult, Trap> {
        let mut quad = Quad {
            inputs,
            limits: self.limits,
            arithmetic: Arithmetic { rules: inputs.rules, stage: Stage::Fragment },
            lanes: [(); 4].map(|()| Lane { at: Some(0), ..Lane::default() }),
        };
        let mut steps = 0;
        while let Some(at) = quad.lanes.iter().filter_map(|lane| lane.at).min() {
            if steps >= inputs.steps {
                return Err(Trap::Steps);
            }
            steps += 1;
            let instruction = self.slots.get(at as usize).and_then(Option::as_ref).ok_or(Trap::Slot(at))?;
            quad.step(at, instruction)?;
        }
        let killed = quad.lanes.each_ref().map(|lane| lane.is_killed);
        Ok(FragmentResult { registers: quad.lanes.map(|lane| lane.registers), killed, steps })
    }
}

impl Quad<'_> {
    /// Executes the instruction of a slot in the lanes that have reached it.
    fn step(&mut self, at: u32, instruction: &Instruction) -> Result<(), Trap> {
        if matches!(instruction.op, FragmentOp::Pkg | FragmentOp::Upg) {
            return Err(Trap::Undefined(at, instruction.op.row().name));
        }
        let operands = [0, 1, 2, 3].map(|lane| self.operands(lane, instruction));
        for lane in (0..4).filter(|&lane| self.lanes[lane].at == Some(at)).collect::<Vec<_>>() {
            let passing = passing(&self.lanes[lane].conditions, instruction.predicate);
            if instruction.op.row().class == Class::Flow {
                self.lanes[lane].flow(instruction, at, !passing.is_empty(), self.limits)?;
                continue;
            }
            if let Some(values) = self.result(lane, instruction, &operands) {
                let mask = instruction.mask.and(passing);
                let lane = &mut self.lanes[lane];
                let stored = match instruction.destination {
                    Some(Register::H(_)) => values.map(half::round),
                    _ => values,
                };
                if let Some(register) = instruction.destination {
                    lane.registers.set(register, values, mask);
                }
                if let Some(register) = instruction.writes_condition {
                    set_conditions(&mut lane.conditions, register, stored, mask);
                }
            }
            let lane = &mut self.lanes[lane];
            lane.is_killed |= instruction.op == FragmentOp::Kil && !passing.is_empty();
            lane.advance(at + instruction.slots(), instruction.end);
        }
        Ok(())
    }

    /// Reads the operands of a lane.
    fn operands(&self, lane: usize, instruction: &Instruction) -> [[f32; 4]; 3] {
        [0, 1, 2].map(|number| {
            let source = instruction.sources[number];
            let value = match source.kind {
                SourceKind::Register(register) => self.lanes[lane].registers.get(register),
                SourceKind::Input => self.input(lane, instruction),
                SourceKind::Constant => instruction.constant.unwrap_or_default().map(f32::from_bits),
            };
            // MAD has only the clamp of the first operand.
            let has_clamp = number == 0 || instruction.op != FragmentOp::Mad;
            source.swizzle.apply(value).map(|value| {
                let value = if source.abs { value.abs() } else { value };
                let value = if has_clamp { alu::clamp(value, source.clamp) } else { value };
                if source.negate { -value } else { value }
            })
        })
    }

    fn input(&self, lane: usize, instruction: &Instruction) -> [f32; 4] {
        let inputs = self.inputs.inputs[lane];
        let number = if instruction.indexes_input {
            usize::from(instruction.input_offset) + 4 + self.lanes[lane].counter() as usize
        } else {
            instruction.input.unwrap_or(0).into()
        };
        let value = inputs.get(number).copied().unwrap_or_default();
        // The position and the facing have no perspective.
        if instruction.disables_perspective && (1..14).contains(&number) {
            let factor = inputs.first().map_or(0.0, |position| position[3]);
            value.map(|value| value * factor)
        } else {
            value
        }
    }

    /// Computes the result of a lane, or returns `None` for opcodes without one.
    fn result(&self, lane: usize, instruction: &Instruction, operands: &Operands) -> Option<[f32; 4]> {
        let values = match instruction.op {
            FragmentOp::Ddx => derivative(operands, self.row(lane), 1),
            FragmentOp::Ddy => derivative(operands, self.column(lane), 2),
            op if op.row().class == Class::Texture => self.fetch(lane, instruction, operands),
            op => alu::evaluate(self.arithmetic, op, operands[lane])?,
        };
        if instruction.op.row().class == Class::Pack {
            return Some(values);
        }
        let undefined = matches!(instruction.op, FragmentOp::Ddx | FragmentOp::Ddy);
        let [x, y, z, w] = values.map(|value| alu::finish(instruction, value));
        Some(if undefined { [x, y, UNDEFINED, UNDEFINED] } else { [x, y, z, w] })
    }

    /// A lane in the row of which derivatives along x are taken.
    fn row(&self, lane: usize) -> usize {
        if self.inputs.rules == Rules::Ieee { lane | 2 } else { lane }
    }

    /// A lane in the column of which derivatives along y are taken.
    fn column(&self, lane: usize) -> usize {
        if self.inputs.rules == Rules::Ieee { lane & !1 } else { lane }
    }

    fn fetch(&self, lane: usize, instruction: &Instruction, operands: &Operands) -> [f32; 4] {
        let is_projected = instruction.op == FragmentOp::Txp;
        let project = |[x, y, z, w]: [f32; 4]| if is_projected { [x / w, y / w, z / w, 1.0] } else { [x, y, z, w] };
        let coordinates = operands.map(|[s0, s1, s2]| [project(s0), s1, s2]);
        let [coordinate, s1, s2] = coordinates[lane];
        let lookup = match instruction.op {
            FragmentOp::Txd => Lookup::Gradient { ddx: s1, ddy: s2 },
            FragmentOp::Txl => Lookup::Level(s1[0]),
            op => Lookup::Implicit {
                ddx: derivative(&coordinates, lane, 1),
                ddy: derivative(&coordinates, lane, 2),
                bias: if op == FragmentOp::Txb { s1[0] } else { 0.0 },
            },
        };
        let unit = instruction.texture.unwrap_or(0);
        (self.inputs.texture)(&TextureFetch { unit, lane, coordinate, quad: coordinates.map(|[s0, ..]| s0), lookup })
    }
}

/// Computes the result of an opcode with operands, by IEEE 754.
#[cfg(test)]
pub(crate) fn evaluate(op: FragmentOp, operands: [[f32; 4]; 3]) -> Option<[f32; 4]> {
    alu::evaluate(Arithmetic { rules: Rules::Ieee, stage: Stage::Fragment }, op, operands)
}

/// The difference of S0 to the neighbour along x (axis 1) or y (axis 2).
fn derivative(operands: &Operands, lane: usize, axis: usize) -> [f32; 4] {
    let (low, high) = (operands[lane & !axis][0], operands[lane | axis][0]);
    [0, 1, 2, 3].map(|component| high[component] - low[component])
}
