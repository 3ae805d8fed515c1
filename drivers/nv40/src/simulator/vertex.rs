//! Executes vertex programs.

use super::arithmetic::{Arithmetic, Comparison, Stage, map2, xyz};
use super::{Conditions, Rules, Trap, passing, saturate, set_conditions};
use crate::isa::vertex::{BranchFields, Part, ScaOp, Slot, Source, SourceKind, Unit, VecOp, decode};
use crate::isa::{Chip, Mask, VertexLimits};

/// The chips kill a program that executes more instructions.
const STEPS: u32 = 65_536;

/// A decoded program.
#[derive(Clone, Debug)]
pub struct VertexSimulator {
    slots: Vec<Slot>,
    limits: &'static VertexLimits,
}

/// The data of a vertex.
pub struct VertexInputs<'a> {
    /// The inputs by number.
    pub inputs: &'a [[f32; 4]],
    /// The constants by number. Others are zero.
    pub constants: &'a [[f32; 4]],
    /// The booleans, a bit for each.
    pub booleans: u32,
    /// Samples a unit at coordinates with the level of detail in w.
    pub texture: &'a dyn Fn(u8, [f32; 4]) -> [f32; 4],
    /// The rules of arithmetic.
    pub rules: Rules,
    /// The number of instructions after which the run ends with [`Trap::Steps`]; at most the limit of the chips.
    pub steps: u32,
}

impl Default for VertexInputs<'_> {
    fn default() -> Self {
        VertexInputs {
            inputs: &[],
            constants: &[],
            booleans: 0,
            texture: &|_, _| [0.0; 4],
            rules: Rules::Ieee,
            steps: STEPS,
        }
    }
}

/// The state at the end of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct VertexResult {
    /// The outputs by number; (0, 0, 0, 1) where unwritten.
    pub outputs: Vec<[f32; 4]>,
    /// The written components of the outputs.
    pub written: Vec<Mask>,
    /// The temporaries.
    pub temporaries: Vec<[f32; 4]>,
    /// The number of executed instructions.
    pub steps: u32,
}

/// An entry of the stack.
enum Saved {
    Return(u32),
    Address([i32; 4]),
}

/// The instruction after this one.
enum Next {
    Following,
    Slot(u32),
    End,
}

struct Machine<'a> {
    inputs: &'a VertexInputs<'a>,
    limits: &'static VertexLimits,
    arithmetic: Arithmetic,
    result: VertexResult,
    addresses: [[i32; 4]; 2],
    conditions: Conditions,
    stack: Vec<Saved>,
    at: u32,
}

impl VertexSimulator {
    /// Decodes a program.
    pub fn new(words: &[[u32; 4]], chip: Chip) -> Result<VertexSimulator, Trap> {
        let decoded = |(at, words)| decode(words, chip).map_err(|error| Trap::Decode(at, error));
        let slots = (0..).zip(words).map(decoded).collect::<Result<_, _>>()?;
        Ok(VertexSimulator { slots, limits: &chip.limits().vertex })
    }

    /// Returns the instructions.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Executes the program from slot 0 to an instruction with the end bit.
    pub fn run(&self, inputs: &VertexInputs<'_>) -> Result<VertexResult, Trap> {
        let limits = self.limits;
        let mut machine = Machine {
            inputs,
            limits,
            arithmetic: Arithmetic { rules: inputs.rules, stage: Stage::Vertex },
            result: VertexResult {
                outputs: vec![[0.0, 0.0, 0.0, 1.0]; limits.outputs.into()],
                written: vec![Mask::NONE; limits.outputs.into()],
                temporaries: vec![[0.0; 4]; limits.temporaries.into()],
                steps: 0,
            },
            addresses: [[0; 4]; 2],
            conditions: Conditions::default(),
            stack: Vec::new(),
            at: 0,
        };
        while let Some(slot) = self.slots.get(machine.at as usize) {
            if machine.result.steps >= inputs.steps.min(STEPS) {
                return Err(Trap::Steps);
            }
            machine.result.steps += 1;
            match machine.step(slot)? {
                Next::Slot(next) => machine.at = next,
                Next::Following if !slot.end => machine.at += 1,
                Next::Following | Next::End => return Ok(machine.result),
            }
        }
        Err(Trap::Slot(machine.at))
    }
}

impl Machine<'_> {
    /// Executes an instruction.
    fn step(&mut self, slot: &Slot) -> Result<Next, Trap> {
        let sources = [0, 1, 2].map(|at| slot.sources[at].map_or([0.0; 4], |source| self.read(slot, source)));
        let passing = slot.predicate.map_or(Mask::ALL, |predicate| passing(&self.conditions, predicate));
        let vec = slot.vec.map(|part| (part, self.vector(slot, part.op, sources)));
        let sca = slot.sca.map(|part| (part, self.scalar(part.op, sources[2])));
        let clamp = |values: [f32; 4]| if slot.saturate { values.map(saturate) } else { values };
        let output = slot.output.map(|number| i32::from(number) + self.index(slot, slot.indexes_output));
        // Opcodes that use an address register read it before the vector unit writes it.
        let before = self.addresses;
        if let Some((part, values)) = vec {
            let values = clamp(values);
            if part.op.writes_address() {
                let values = self.address(slot, part.op, values, before);
                let register = part.register.map(|register| &mut self.addresses[usize::from(register & 1)]);
                write(register, values.map(|value| value as i32), part.mask.and(passing));
                self.finish(slot, Unit::Vec, Part { register: None, ..part }, values, passing, output);
            } else {
                self.finish(slot, Unit::Vec, part, values, passing, output);
            }
        }
        if let Some((part, values)) = sca {
            self.finish(slot, Unit::Sca, part, clamp(values), passing, output);
            return self.branch(slot, part.op, passing, before);
        }
        Ok(Next::Following)
    }

    /// Writes a result to registers.
    fn finish<O>(
        &mut self,
        slot: &Slot,
        unit: Unit,
        part: Part<O>,
        values: [f32; 4],
        passing: Mask,
        output: Option<i32>,
    ) {
        let temporary = part.register.and_then(|number| self.result.temporaries.get_mut(usize::from(number)));
        write(temporary, values, part.mask.and(passing));
        if let Some(number) = output.and_then(|number| usize::try_from(number).ok()) {
            let mask = part.output_mask.and(passing);
            write(self.result.outputs.get_mut(number), values, mask);
            if let Some(written) = self.result.written.get_mut(number) {
                *written = written.or(mask);
            }
        }
        if let Some(write) = slot.writes_condition.filter(|write| write.unit == unit) {
            let mask = part.mask.or(part.output_mask).and(passing);
            set_conditions(&mut self.conditions, write.register, values, mask);
        }
    }

    /// The address component of the slot, or zero.
    fn index(&self, slot: &Slot, is_indexed: bool) -> i32 {
        let address = slot.address.filter(|_| is_indexed);
        address
            .map_or(0, |address| self.addresses[usize::from(address.register & 1)][usize::from(address.component & 3)])
    }

    fn read(&self, slot: &Slot, source: Source) -> [f32; 4] {
        let row = |rows: &[[f32; 4]], number: i32| {
            usize::try_from(number).ok().and_then(|number| rows.get(number)).copied().unwrap_or_default()
        };
        let value = match source.kind {
            SourceKind::Temporary(number) => row(&self.result.temporaries, number.into()),
            SourceKind::Input => {
                let number = i32::from(slot.input.unwrap_or(0));
                row(self.inputs.inputs, number + self.index(slot, slot.indexes_input))
            }
            SourceKind::Constant => {
                let number = i32::from(slot.constant.unwrap_or(0));
                row(self.inputs.constants, number + self.index(slot, slot.indexes_constant))
            }
        };
        source.swizzle.apply(value).map(|value| {
            let value = if source.abs { value.abs() } else { value };
            if source.negate { -value } else { value }
        })
    }

    fn vector(&self, slot: &Slot, op: VecOp, [a, b, c]: [[f32; 4]; 3]) -> [f32; 4] {
        let math = self.arithmetic;
        let compare = |comparison| map2(a, b, |a, b| math.compare(comparison, a, b));
        match op {
            VecOp::Nop | VecOp::Ara => [0.0; 4],
            VecOp::Mov | VecOp::Arl | VecOp::Arr => a,
            VecOp::Mul => map2(a, b, |a, b| math.multiply(a, b)),
            VecOp::Add => map2(a, c, |a, c| math.add(a, c)),
            VecOp::Mad => [0, 1, 2, 3].map(|i| math.multiply_add(a[i], b[i], c[i])),
            VecOp::Dp3 => [math.dot(xyz(a), xyz(b)); 4],
            VecOp::Dph => [math.dot([a[0], a[1], a[2], 1.0], b); 4],
            VecOp::Dp4 => [math.dot(a, b); 4],
            VecOp::Dst => math.distance(a, b),
            VecOp::Min => map2(a, b, |a, b| math.minimum(a, b)),
            VecOp::Max => map2(a, b, |a, b| math.maximum(a, b)),
            VecOp::Slt => compare(Comparison::Less),
            VecOp::Sge => compare(Comparison::GreaterEqual),
            VecOp::Seq => compare(Comparison::Equal),
            VecOp::Sgt => compare(Comparison::Greater),
            VecOp::Sle => compare(Comparison::LessEqual),
            VecOp::Sne => compare(Comparison::NotEqual),
            VecOp::Sfl => [0.0; 4],
            VecOp::Str => [1.0; 4],
            VecOp::Frc => a.map(|a| math.fraction(a)),
            VecOp::Flr => a.map(|a| math.floor(a)),
            VecOp::Ssg => a.map(|a| if a == 0.0 || a.is_nan() { a + 0.0 } else { a.signum() }),
            VecOp::Txl => (self.inputs.texture)(slot.texture.unwrap_or(0), a),
        }
    }

    /// The values of an address register, as floats.
    fn address(&self, slot: &Slot, op: VecOp, values: [f32; 4], addresses: [[i32; 4]; 2]) -> [f32; 4] {
        let (lowest, greatest) = self.limits.address;
        let values = match op {
            VecOp::Ara => {
                let register = slot.address.map_or(0, |address| address.register & 1);
                let [x, y, z, w] = addresses[usize::from(register)].map(|value| value as f32);
                [x + z, y + w, x + z, y + w]
            }
            VecOp::Arr => values.map(f32::round_ties_even),
            _ => values.map(f32::floor),
        };
        values.map(|value| value.clamp(lowest as f32, greatest as f32))
    }

    fn scalar(&self, op: ScaOp, s2: [f32; 4]) -> [f32; 4] {
        let math = self.arithmetic;
        let x = s2[0];
        match op {
            ScaOp::Mov => s2,
            ScaOp::Rcp => [math.reciprocal(x); 4],
            ScaOp::Rcc => {
                let value = math.reciprocal(x);
                let magnitude = value.abs().clamp(2f32.powi(-64), 2f32.powi(64));
                [magnitude.copysign(value); 4]
            }
            ScaOp::Rsq => [math.reciprocal_root(x); 4],
            ScaOp::Exp => math.partial_exponential(x),
            ScaOp::Log => math.partial_logarithm(x),
            ScaOp::Lit => math.lighting(s2),
            ScaOp::Lg2 => [math.logarithm(x); 4],
            ScaOp::Ex2 => [math.exponential(x); 4],
            ScaOp::Sin => [math.sine(x); 4],
            ScaOp::Cos => [math.cosine(x); 4],
            ScaOp::Nop
            | ScaOp::BraA
            | ScaOp::Bra
            | ScaOp::Cal
            | ScaOp::Ret
            | ScaOp::Brb
            | ScaOp::Clb
            | ScaOp::Pusha
            | ScaOp::Popa => [0.0; 4],
        }
    }

    fn push(&mut self, entry: Saved) -> Result<(), Trap> {
        if self.stack.len() >= self.limits.stack.into() {
            return Err(Trap::Stack(self.at));
        }
        self.stack.push(entry);
        Ok(())
    }

    /// Executes the effect of a scalar opcode on flow and stack.
    fn branch(&mut self, slot: &Slot, op: ScaOp, passing: Mask, addresses: [[i32; 4]; 2]) -> Result<Next, Trap> {
        let is_taken = !passing.is_empty()
            && match (op.row().branch, slot.branch.and_then(|branch| branch.boolean)) {
                (BranchFields::Boolean, Some(boolean)) => {
                    (self.inputs.booleans >> (boolean.number & 31) & 1 != 0) == boolean.taken_if
                }
                _ => true,
            };
        if !is_taken {
            return Ok(Next::Following);
        }
        let target = slot.branch.map_or(0, |branch| branch.target.into());
        let register = slot.address.map_or(0, |address| usize::from(address.register & 1));
        match op {
            ScaOp::Bra | ScaOp::Brb => Ok(Next::Slot(target)),
            ScaOp::BraA => {
                let component = slot.address.map_or(0, |address| usize::from(address.component & 3));
                let target = addresses[register][component];
                u32::try_from(target).map(Next::Slot).map_err(|_| Trap::Slot(target as u32))
            }
            ScaOp::Cal | ScaOp::Clb => {
                self.push(Saved::Return(self.at + 1))?;
                Ok(Next::Slot(target))
            }
            ScaOp::Ret => match self.stack.pop() {
                Some(Saved::Return(target)) => Ok(Next::Slot(target)),
                Some(Saved::Address(_)) => Err(Trap::Stack(self.at)),
                None => Ok(Next::End),
            },
            ScaOp::Pusha => self.push(Saved::Address(addresses[register])).map(|()| Next::Following),
            ScaOp::Popa => match self.stack.pop() {
                Some(Saved::Address(values)) => {
                    self.addresses[register] = values;
                    Ok(Next::Following)
                }
                _ => Err(Trap::Stack(self.at)),
            },
            ScaOp::Nop
            | ScaOp::Mov
            | ScaOp::Rcp
            | ScaOp::Rcc
            | ScaOp::Rsq
            | ScaOp::Exp
            | ScaOp::Log
            | ScaOp::Lit
            | ScaOp::Lg2
            | ScaOp::Ex2
            | ScaOp::Sin
            | ScaOp::Cos => Ok(Next::Following),
        }
    }
}

/// Writes the masked components of a register, if there is one.
fn write<T: Copy>(register: Option<&mut [T; 4]>, values: [T; 4], mask: Mask) {
    for (component, value) in register.into_iter().flatten().enumerate() {
        if mask.has(component) {
            *value = values[component];
        }
    }
}
