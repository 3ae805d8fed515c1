//! Random programs on registers, and their results.

#![allow(dead_code, reason = "each test uses some of it")]

use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, RunLimits};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::JumpKind;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::run::run;
use tgsi_ir::types::ScalarType;
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_ir::{Builder, Def, Shader, ShaderStage, Shape, Swizzle};
use tgsi_registers::modifiers::{ModifierPolicy, SourceModifiers};

/// A source of random choices.
pub struct Random(pub tgsi_environment::Random);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.0.bits() >> 20) % bound
    }
}

const VEC4: Shape = Shape::new(4, 32);
const REGISTERS: usize = 5;

/// Generates a program on vec4 registers and an array, as a translator would: values are not in SSA form across
/// statements.
struct Generator<'a> {
    random: Random,
    builder: Builder<'a>,
    registers: Vec<Def>,
    counters: Vec<Def>,
    array: (tgsi_ir::Variable, tgsi_ir::Type, tgsi_ir::Type),
    budget: u32,
    in_loop: bool,
    has_loops: bool,
}

impl Generator<'_> {
    fn swizzle(&mut self) -> Swizzle {
        let s: Vec<u8> = (0..4).map(|_| self.random.below(4) as u8).collect();
        Swizzle::new(&s)
    }

    fn operand(&mut self) -> AluSrc {
        let def = match self.random.below(8) {
            0 => {
                let values: Vec<u64> =
                    (0..4).map(|_| u64::from((self.random.below(9) as f32 - 4.0).to_bits())).collect();
                self.builder.constant(32, &values)
            }
            1 => {
                let index = self.index();
                let (variable, array, element) = self.array;
                let root = self.builder.deref_var(variable, VariableModes::SHADER_TEMP, array);
                let deref = self.builder.deref_array(root, index, element);
                self.builder.load_deref(deref, VEC4)
            }
            _ => {
                let register = self.registers[self.random.below(REGISTERS as u64) as usize];
                self.builder.load_reg(register, 0)
            }
        };
        let def = match self.random.below(6) {
            0 => self.builder.alu(AluOp::Fneg, &[def]),
            1 => self.builder.alu(AluOp::Fabs, &[def]),
            2 => {
                let def = self.builder.alu(AluOp::Fabs, &[def]);
                self.builder.alu(AluOp::Fneg, &[def])
            }
            _ => def,
        };
        let swizzle = self.swizzle();
        AluSrc::new(def, swizzle)
    }

    fn index(&mut self) -> Def {
        if self.random.below(2) == 0 {
            let constant = self.random.below(5) as u32;
            return self.builder.u32_const(constant);
        }
        let register = self.registers[self.random.below(REGISTERS as u64) as usize];
        let value = self.builder.load_reg(register, 0);
        let component = self.random.below(4) as u8;
        let value = self.builder.channel(value, component);
        self.builder.alu(AluOp::F2i32, &[value])
    }

    fn value(&mut self) -> Def {
        let (a, b, c) = (self.operand(), self.operand(), self.operand());
        let def = match self.random.below(9) {
            0 | 1 => self.builder.alu_sized(AluOp::Fadd, 4, &[a, b]),
            2 => self.builder.alu_sized(AluOp::Fmul, 4, &[a, b]),
            3 => self.builder.alu_sized(AluOp::Fmax, 4, &[a, b]),
            4 => {
                let test = self.builder.alu_sized(AluOp::Flt, 4, &[a, b]);
                self.builder.alu_sized(AluOp::Bcsel, 4, &[test.into(), c, a])
            }
            5 => {
                let dot = self.builder.alu_sized(AluOp::Fdot3, 1, &[a, b]);
                self.builder.mov(AluSrc::component(dot, 0), 4)
            }
            6 => {
                let parts: Vec<AluSrc> = [a, b, c, a]
                    .iter()
                    .map(|s| {
                        let component = s.swizzle.get(self.random.below(4) as usize);
                        AluSrc::component(s.def, component)
                    })
                    .collect();
                self.builder.vec(&parts)
            }
            7 => self.builder.alu_sized(AluOp::Mov, 4, &[a]),
            _ => self.builder.alu_sized(AluOp::Ffloor, 4, &[a]),
        };
        if self.random.below(5) == 0 { self.builder.alu(AluOp::Fsat, &[def]) } else { def }
    }

    fn condition(&mut self) -> Def {
        let (a, b) = (self.operand(), self.operand());
        self.builder.alu_sized(AluOp::Flt, 1, &[a, b])
    }

    fn statements(&mut self, depth: u32) {
        let count = 1 + self.random.below(5);
        for _ in 0..count {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.random.below(12) {
                0 if depth < 4 => {
                    let condition = self.condition();
                    let id = self.builder.push_if(condition);
                    self.statements(depth + 1);
                    self.builder.push_else(id);
                    if self.random.below(2) == 0 {
                        self.statements(depth + 1);
                    }
                    self.builder.end_if(id);
                }
                1 if depth < 3 && self.has_loops => self.counted_loop(depth),
                2 if self.in_loop => {
                    let condition = self.condition();
                    let id = self.builder.push_if(condition);
                    let kind = if self.random.below(3) == 0 { JumpKind::Break } else { JumpKind::Continue };
                    self.builder.jump(kind);
                    self.builder.end_if(id);
                }
                3 => {
                    let value = self.value();
                    let index = self.index();
                    let (variable, array, element) = self.array;
                    let root = self.builder.deref_var(variable, VariableModes::SHADER_TEMP, array);
                    let deref = self.builder.deref_array(root, index, element);
                    let mask = 1 + self.random.below(15) as u32;
                    self.builder.store_deref(deref, value, mask);
                }
                4 => {
                    // A swap: the phis of a loop around it form a cycle.
                    let (i, k) = (self.random.below(5) as usize, self.random.below(5) as usize);
                    let (x, y) =
                        (self.builder.load_reg(self.registers[i], 0), self.builder.load_reg(self.registers[k], 0));
                    self.builder.store_reg(x, self.registers[k], 0, 15);
                    self.builder.store_reg(y, self.registers[i], 0, 15);
                }
                _ => {
                    let value = self.value();
                    let register = self.registers[self.random.below(REGISTERS as u64) as usize];
                    let mask = if self.random.below(2) == 0 { 15 } else { 1 + self.random.below(15) as u32 };
                    self.builder.store_reg(value, register, 0, mask);
                }
            }
        }
    }

    /// A loop of at most five iterations.
    fn counted_loop(&mut self, depth: u32) {
        let counter = self.counters[depth as usize];
        let zero = self.builder.u32_const(0);
        self.builder.store_reg(zero, counter, 0, 1);
        let outer = std::mem::replace(&mut self.in_loop, true);
        let id = self.builder.push_loop();
        let value = self.builder.load_reg(counter, 0);
        let limit = 1 + self.random.below(5) as u32;
        let limit = self.builder.u32_const(limit);
        let done = self.builder.alu(AluOp::Uge, &[value, limit]);
        let exit = self.builder.push_if(done);
        self.builder.jump(JumpKind::Break);
        self.builder.end_if(exit);
        let one = self.builder.u32_const(1);
        let next = self.builder.alu(AluOp::Iadd, &[value, one]);
        self.builder.store_reg(next, counter, 0, 1);
        self.statements(depth + 1);
        self.builder.end_loop(id);
        self.in_loop = outer;
    }
}

pub fn program(seed: u64) -> Shader {
    program_with(seed, true)
}

pub fn program_with(seed: u64, has_loops: bool) -> Shader {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let element = shader.types.vector(ScalarType::Float, 4);
    let array_type = shader.types.array(element, 4);
    let array = shader.add_variable(VariableData::new("arr", array_type, VariableModes::SHADER_TEMP));
    let input = shader.add_variable(VariableData::new("in", element, VariableModes::SHADER_IN));
    let outputs: Vec<_> = (0..REGISTERS as u32)
        .map(|i| {
            let mut data = VariableData::new(format!("out_{i}"), element, VariableModes::SHADER_OUT);
            data.driver_location = i;
            data.location = 32 + i as i32;
            shader.add_variable(data)
        })
        .collect();
    let body = shader.main_mut();
    let mut builder = Builder::at_end(body);
    let registers: Vec<Def> = (0..REGISTERS).map(|_| builder.decl_reg(VEC4, 0)).collect();
    let counters: Vec<Def> = (0..4).map(|_| builder.decl_reg(Shape::new(1, 32), 0)).collect();
    let deref = builder.deref_var(input, VariableModes::SHADER_IN, element);
    let value = builder.load_deref(deref, VEC4);
    builder.store_reg(value, registers[0], 0, 15);
    builder.store_reg(value, registers[1], 0, 3);
    let mut generator = Generator {
        random: Random(tgsi_environment::Random::new(seed)),
        builder,
        registers,
        counters,
        array: (array, array_type, element),
        budget: 30,
        in_loop: false,
        has_loops,
    };
    for _ in 0..4 {
        generator.statements(0);
    }
    let Generator { mut builder, registers, .. } = generator;
    for (output, register) in outputs.into_iter().zip(registers) {
        let value = builder.load_reg(register, 0);
        let deref = builder.deref_var(output, VariableModes::SHADER_OUT, element);
        builder.store_deref(deref, value, 15);
    }
    shader
}

pub fn execute(shader: &Shader) -> Outputs {
    let mut inputs = Inputs { lanes: 4, inputs: LaneRegisters::new(4, 1), ..Inputs::default() };
    for component in 0..4 {
        for lane in 0..4 {
            let value = (component as f32 - 1.5) * (lane as f32 + 0.25);
            inputs.inputs.set(0, component, lane, value.to_bits());
        }
    }
    run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("the program ends")
}

/// Asserts that the words are equal; all NaNs are considered equal.
pub fn assert_same(expected: &Outputs, found: &Outputs, seed: u64, stage: &str) {
    for register in 0..REGISTERS {
        for component in 0..4 {
            for lane in 0..4 {
                let (e, f) =
                    (expected.outputs.get(register, component, lane), found.outputs.get(register, component, lane));
                let nan = f32::from_bits(e).is_nan() && f32::from_bits(f).is_nan();
                assert!(
                    e == f || nan,
                    "seed {seed} after {stage}: out {register}.{component} lane {lane}: {e:08x} {f:08x}"
                );
            }
        }
    }
}

/// Cycles through the policies, including one that allows some modifiers on some operands.
pub fn policy(seed: u64) -> ModifierPolicy<'static> {
    const SOME: ModifierPolicy<'static> = ModifierPolicy {
        source: &|op, number| SourceModifiers {
            negate: op != AluOp::Fmax && !(op as usize + number).is_multiple_of(3),
            absolute: number == 1 || op == AluOp::Fneg,
        },
        saturate: &|op| op != AluOp::Fadd,
    };
    [ModifierPolicy::ALL, ModifierPolicy::NO_ABSOLUTE, SOME, ModifierPolicy::NONE, SOME][(seed % 5) as usize]
}
