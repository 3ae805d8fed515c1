//! Tests passes that replace operations on numbers: their output must compute the results of the opcode table.
//!
//! [`Check`] builds a shader of one instruction, runs the pass, and executes the shader on every case, 4,096 at a time
//! (four components, 1,024 lanes); each result is compared with [`evaluate`].

mod bit_size;
mod booleans;
mod division;
mod doubles;
mod int64;
mod large;
mod shape;
mod small;
mod small_types;
mod software;
mod switches;

use crate::alu::{AluOp, AluType, BaseType, ExecutionMode, evaluate};
use crate::body::{InstData, Shape, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::entities::Def;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::run::Program;
use crate::shader::{Shader, ShaderStage};
use crate::validate::validate;
use tgsi_environment::special;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, MAX_LANES, RunLimits};

/// Registers per source: four components of 64 bits.
const REGISTERS: usize = 2;
const COMPONENTS: u8 = 4;
/// Number of cases per run.
const CASES: usize = COMPONENTS as usize * MAX_LANES;

/// A pass with its options.
pub type Pass<'a> = &'a dyn Fn(&mut Shader) -> bool;

/// An operation that a pass must replace.
pub struct Check<'a> {
    pub op: AluOp,
    /// The bit size that the opcode leaves open.
    pub bit_size: u8,
    pub mode: ExecutionMode,
    pub pass: Pass<'a>,
    /// Whether the second result is acceptable in place of the first, which is the table's.
    pub same: &'a dyn Fn(u64, u64) -> bool,
}

impl<'a> Check<'a> {
    pub fn new(op: AluOp, bit_size: u8, pass: Pass<'a>) -> Check<'a> {
        Check { op, bit_size, mode: ExecutionMode::DEFAULT, pass, same: &|a, b| a == b }
    }

    fn source_bits(&self, number: usize) -> u8 {
        let ty = self.op.info().input_types[number];
        if ty.is_unsized() { self.bit_size } else { ty.bit_size }
    }

    fn result_bits(&self) -> u8 {
        let ty = self.op.info().output_type;
        if ty.is_unsized() { self.bit_size } else { ty.bit_size }
    }

    /// Builds the instruction on four components, reversed so that swizzles matter. A constant source has its value in
    /// the last place.
    pub fn shader(&self, constants: &[Option<[u64; COMPONENTS as usize]>]) -> Shader {
        let mut shader = Shader::new(ShaderStage::Vertex);
        shader.info.float_controls_execution_mode = self.mode;
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let sources: Vec<AluSrc> = (0..self.op.info().input_types.len())
            .map(|number| {
                let bits = self.source_bits(number);
                let def = match constants.get(number) {
                    Some(Some(values)) => b.constant(bits, values),
                    _ => {
                        let indices = [(IndexKind::Base, (self.registers() * number) as i32)];
                        // There are no inputs of one bit.
                        let shape = Shape::new(COMPONENTS, if bits == 1 { 32 } else { bits });
                        let load = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &indices, shape);
                        if bits == 1 {
                            b.alu_sized(AluOp::Ine, COMPONENTS, &[load.into(), AluSrc::component(zero, 0)])
                        } else {
                            load
                        }
                    }
                };
                AluSrc::new(def, Swizzle::new(&[3, 2, 1, 0]))
            })
            .collect();
        let value = b.alu_sized(self.op, COMPONENTS, &sources);
        self.store(&mut b, zero, value);
        shader
    }

    /// Stores the result to outputs.
    fn store(&self, b: &mut Builder<'_>, zero: Def, value: Def) {
        // Outputs are words.
        let (value, ty) = match self.result_bits() {
            64 => (value, AluType::UINT64),
            32 => (value, AluType::UINT32),
            1 => (b.alu(AluOp::B2i32, &[value]), AluType::UINT32),
            _ => (b.alu(AluOp::U2u32, &[value]), AluType::UINT32),
        };
        let mask = (1 << b.body.num_components(value)) - 1;
        let indices = [(IndexKind::Base, 0), (IndexKind::WriteMask, mask), (IndexKind::SrcType, ty.to_i32())];
        b.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
    }

    /// Builds the shader and runs the pass, which must replace the instruction.
    fn lowered(&self, constants: &[Option<[u64; COMPONENTS as usize]>]) -> Shader {
        self.lower(self.shader(constants))
    }

    fn lower(&self, mut shader: Shader) -> Shader {
        assert!((self.pass)(&mut shader), "{} of {} bits is not lowered", self.op, self.bit_size);
        validate(&shader).unwrap_or_else(|errors| panic!("{}: {errors}\n{}", self.op, crate::text::print(&shader)));
        assert!(!(self.pass)(&mut shader), "{} of {} bits: lowering is not idempotent", self.op, self.bit_size);
        assert!(!has_op(&shader, self.op, self.bit_size), "{} of {} bits remains", self.op, self.bit_size);
        shader
    }

    /// Runs all cases. Each holds one number per source.
    pub fn run(&self, cases: &[Vec<u64>]) {
        assert!(!cases.is_empty());
        let shader = self.lowered(&[]);
        let program = Program::new(&shader).expect("a shader without control flow");
        for part in cases.chunks(CASES) {
            self.run_part(&program, part);
        }
    }

    /// Runs with constants as the second source: all dividends with each.
    pub fn run_with_constants(&self, values: &[u64], constants: &[u64]) {
        assert!(!values.is_empty() && !constants.is_empty());
        for four in constants.chunks(4) {
            let four: [u64; 4] = std::array::from_fn(|i| four[i % four.len()]);
            let shader = self.lowered(&[None, Some(four)]);
            let program = Program::new(&shader).expect("a shader without control flow");
            // Component i of the result reads component 3 - i of both sources.
            for part in values.chunks(MAX_LANES) {
                let cases: Vec<Vec<u64>> =
                    part.iter().flat_map(|&value| four.iter().rev().map(move |&d| vec![value, d])).collect();
                self.run_part(&program, &cases);
            }
        }
    }

    /// Runs an opcode with whole vectors as operands or result: each case holds the components of every source, one
    /// case per lane.
    pub fn run_vectors(&self, cases: &[Vec<Vec<u64>>]) {
        assert!(!cases.is_empty() && self.op.info().output_size != 0);
        let shader = self.lower(self.vector_shader());
        let program = Program::new(&shader).expect("a shader without control flow");
        self.run_vectors_of(&program, cases);
    }

    /// Builds the instruction on whole vectors.
    fn vector_shader(&self) -> Shader {
        let info = self.op.info();
        let mut shader = Shader::new(ShaderStage::Vertex);
        shader.info.float_controls_execution_mode = self.mode;
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let registers = self.registers();
        let sources: Vec<Def> = (0..info.input_types.len())
            .map(|number| {
                let bits = self.source_bits(number);
                let shape = Shape::new(info.input_sizes[number].max(1), if bits == 1 { 32 } else { bits });
                let indices = [(IndexKind::Base, (registers * number) as i32)];
                let load = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &indices, shape);
                if bits == 1 {
                    b.alu_sized(AluOp::Ine, shape.num_components, &[load.into(), AluSrc::component(zero, 0)])
                } else {
                    load
                }
            })
            .collect();
        let sources: Vec<AluSrc> = sources.into_iter().map(AluSrc::from).collect();
        let value = b.alu_sized(self.op, info.output_size.max(1), &sources);
        self.store(&mut b, zero, value);
        shader
    }

    /// Returns the number of registers per source: those of four components, or as many as a wide vector takes.
    fn registers(&self) -> usize {
        let info = self.op.info();
        let words = (0..info.input_types.len())
            .map(|number| usize::from(info.input_sizes[number]) * usize::from(self.source_bits(number)).div_ceil(32));
        words.max().unwrap_or(0).div_ceil(4).max(REGISTERS)
    }

    /// Runs the lowered form of an instruction on whole vectors.
    fn run_vectors_of(&self, program: &Program, cases: &[Vec<Vec<u64>>]) {
        let info = self.op.info();
        let sources = info.input_types.len();
        for part in cases.chunks(MAX_LANES) {
            let lanes = part.len();
            let registers = LaneRegisters::new(lanes, self.registers() * sources);
            let mut inputs = Inputs { lanes, inputs: registers, ..Inputs::default() };
            for (lane, case) in part.iter().enumerate() {
                for (source, components) in case.iter().enumerate() {
                    for (at, &value) in components.iter().enumerate() {
                        self.set(&mut inputs.inputs, source, at, lane, value);
                    }
                }
            }
            let outputs = program
                .run(&inputs, &mut AnalyticResources::default(), RunLimits::default())
                .unwrap_or_else(|error| panic!("{}: {error}", self.op));
            for (lane, case) in part.iter().enumerate() {
                let operands: Vec<&[u64]> = case.iter().map(Vec::as_slice).collect();
                let mut expected = [0; 16];
                let count = info.output_size.max(1);
                evaluate(self.op, self.bit_size, count, &operands, self.mode, &mut expected);
                for (component, &expected) in expected.iter().enumerate().take(count.into()) {
                    self.compare(expected, self.get(&outputs.outputs, component, lane), &operands);
                }
            }
        }
    }

    /// Sets a component of a source.
    fn set(&self, inputs: &mut LaneRegisters, source: usize, at: usize, lane: usize, value: u64) {
        let registers = self.registers();
        let mut set = |at: usize, word: u32| inputs.set(registers * source + at / 4, at % 4, lane, word);
        match self.source_bits(source) {
            64 => {
                set(2 * at, value as u32);
                set(2 * at + 1, (value >> 32) as u32);
            }
            1 => set(at, if value & 1 != 0 { u32::MAX } else { 0 }),
            _ => set(at, value as u32),
        }
    }

    /// Returns a component of the result.
    fn get(&self, outputs: &LaneRegisters, component: usize, lane: usize) -> u64 {
        let word = |at: usize| u64::from(outputs.get(at / 4, at % 4, lane));
        match self.result_bits() {
            64 => word(2 * component) | word(2 * component + 1) << 32,
            1 => u64::from(word(component) != 0),
            bits => word(component) & ((1 << bits) - 1),
        }
    }

    fn compare(&self, expected: u64, found: u64, operands: &[&[u64]]) {
        let is_float = self.op.info().output_type.base == BaseType::Float;
        let bits = self.result_bits();
        let same = (self.same)(expected, found) || is_float && is_nan(expected, bits) && is_nan(found, bits);
        assert!(same, "{} of {} bits on {operands:x?}: {expected:x} expected, {found:x} found", self.op, self.bit_size);
    }

    /// Case `4 * lane + i` is in component `i` of the result.
    fn run_part(&self, program: &Program, cases: &[Vec<u64>]) {
        let lanes = cases.len().div_ceil(usize::from(COMPONENTS));
        let sources = self.op.info().input_types.len();
        let mut inputs =
            Inputs { lanes, inputs: LaneRegisters::new(lanes, self.registers() * sources), ..Inputs::default() };
        let place = |case: usize| (case / usize::from(COMPONENTS), case % usize::from(COMPONENTS));
        for (number, case) in cases.iter().enumerate() {
            let (lane, component) = place(number);
            for (source, &value) in case.iter().enumerate() {
                self.set(&mut inputs.inputs, source, usize::from(COMPONENTS) - 1 - component, lane, value);
            }
        }
        let outputs = program
            .run(&inputs, &mut AnalyticResources::default(), RunLimits::default())
            .unwrap_or_else(|error| panic!("{}: {error}", self.op));
        for (number, case) in cases.iter().enumerate() {
            let (lane, component) = place(number);
            let operands: Vec<&[u64]> = case.iter().map(std::slice::from_ref).collect();
            let mut expected = [0];
            evaluate(self.op, self.bit_size, 1, &operands, self.mode, &mut expected);
            self.compare(expected[0], self.get(&outputs.outputs, component, lane), &operands);
        }
    }
}

/// Returns whether an instruction with this opcode works on `bit_size` bits.
pub fn has_op(shader: &Shader, op: AluOp, bit_size: u8) -> bool {
    let body = shader.main();
    let is_it = |inst| {
        matches!(body.inst(inst), InstData::Alu { op: other, .. } if *other == op) && {
            let sized = op.info().bit_sizes.is_empty();
            sized || body.alu_bit_size(inst) == bit_size
        }
    };
    body.blocks().any(|block| body.insts(block).any(is_it))
}

/// Returns the values of all instructions of the main function.
pub fn values(shader: &Shader) -> Vec<Def> {
    let body = shader.main();
    body.blocks().flat_map(|block| body.insts(block)).filter_map(|inst| body.inst_def(inst)).collect()
}

pub fn is_nan(bits: u64, size: u8) -> bool {
    match size {
        16 => bits & 0x7fff > 0x7c00,
        32 => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits).is_nan(),
    }
}

pub const fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// xorshift64*, all 64 bits.
pub struct Words(u64);

impl Words {
    pub fn new(seed: u64) -> Words {
        Words(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns an integer of any magnitude and either sign.
    pub fn integer(&mut self, bits: u8) -> u64 {
        let shift = self.word() % u64::from(bits);
        let value = (self.word() & mask(bits)) >> shift;
        let value = if self.word().is_multiple_of(2) { value } else { value.wrapping_neg() };
        value & mask(bits)
    }
}

/// Integers at which operations differ: around 0, around powers of two and their negatives, patterns.
pub fn special_integers(bits: u8) -> Vec<u64> {
    let mut values = vec![0, 3, 5, 7, 10, 0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa, 0x1234_5678_9abc_def0];
    for shift in 0..u32::from(bits) {
        let power = 1u64 << shift;
        for value in [power - 1, power, power.wrapping_add(1)] {
            values.extend([value, value.wrapping_neg()]);
        }
    }
    values.extend(special::INTEGERS.iter().map(|&value| u64::from(value)));
    for value in &mut values {
        *value &= mask(bits);
    }
    values.sort_unstable();
    values.dedup();
    values
}

/// All pairs of two lists.
pub fn pairs(a: &[u64], b: &[u64]) -> Vec<Vec<u64>> {
    a.iter().flat_map(|&x| b.iter().map(move |&y| vec![x, y])).collect()
}

/// `count` random pairs of integers.
pub fn random_pairs(bits: u8, count: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut words = Words::new(seed);
    (0..count).map(|_| vec![words.integer(bits), words.integer(bits)]).collect()
}

/// Pairs of integers of one size: all of them in 8 bits, otherwise the special ones with each other and many random
/// ones.
pub fn integer_pairs(bits: u8) -> Vec<Vec<u64>> {
    if bits == 8 {
        let all: Vec<u64> = (0..256).collect();
        return pairs(&all, &all);
    }
    let special = special_integers(bits);
    let mut cases = pairs(&special, &special);
    cases.extend(random_pairs(bits, 20_000, u64::from(bits)));
    cases
}

/// Integers of one size: all of them in 8 and 16 bits.
pub fn integers(bits: u8) -> Vec<Vec<u64>> {
    if bits <= 16 {
        return (0..=mask(bits)).map(|value| vec![value]).collect();
    }
    let mut words = Words::new(bits.into());
    let random = (0..30_000).map(|_| words.integer(bits)).collect::<Vec<_>>();
    special_integers(bits).into_iter().chain(random).map(|value| vec![value]).collect()
}

/// Floats at which operations differ: zeros, denormals, infinities, NaN, around powers of two and halves; all floats in
/// 16 bits.
pub fn special_floats(bits: u8) -> Vec<u64> {
    let (mantissa, bias) = match bits {
        16 => (10, 15),
        32 => (23, 127),
        _ => (52, 1023),
    };
    let top = 2 * bias + 1;
    let mut values = vec![0, 1, 2, 3];
    let exponents = (0..=top).filter(|e: &u64| bits == 16 || e.abs_diff(bias) <= 70 || *e < 3 || *e + 3 > top);
    for exponent in exponents {
        let power = exponent << mantissa;
        values.extend([
            power,
            power + 1,
            power.wrapping_sub(1),
            power + (1 << (mantissa - 1)),
            power + (1 << (mantissa - 2)),
        ]);
    }
    match bits {
        16 => {}
        32 => values.extend(special::FLOATS.iter().map(|value| u64::from(value.abs().to_bits()))),
        _ => values.extend(special::DOUBLES.iter().map(|value| value.abs().to_bits())),
    }
    // Numbers with a few fraction bits.
    for quarters in 0..36u32 {
        let value = f64::from(quarters) / 4.0;
        values.push(match bits {
            16 => continue,
            32 => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        });
    }
    values.retain(|&value| value <= mask(bits) >> 1);
    let negative: Vec<u64> = values.iter().map(|value| value | 1 << (bits - 1)).collect();
    values.extend(negative);
    values.sort_unstable();
    values.dedup();
    values
}

/// Returns a float of any exponent, more often one near 1.
pub fn random_float(words: &mut Words, bits: u8) -> u64 {
    let word = words.word() & mask(bits);
    let (mantissa, bias, spread) = match bits {
        16 => (10, 15, 12),
        32 => (23, 127, 70),
        _ => (52, 1023, 70),
    };
    if words.word().is_multiple_of(3) {
        return word;
    }
    let exponent = bias - spread + words.word() % (2 * spread);
    let fraction = if words.word().is_multiple_of(4) { word & 0xff << (mantissa - 8) } else { word & mask(mantissa) };
    word & 1 << (bits - 1) | exponent << mantissa | fraction
}

/// Floats of one size: all of 16 bits, otherwise the special ones and many random ones.
pub fn floats(bits: u8) -> Vec<Vec<u64>> {
    if bits == 16 {
        return integers(16);
    }
    let mut words = Words::new(u64::from(bits) + 1);
    let random = (0..40_000).map(|_| random_float(&mut words, bits)).collect::<Vec<_>>();
    special_floats(bits).into_iter().chain(random).map(|value| vec![value]).collect()
}

/// Pairs of floats: the special ones with each other and many random ones.
pub fn float_pairs(bits: u8) -> Vec<Vec<u64>> {
    let mut special = special_floats(bits);
    if special.len() > 300 {
        special = special.into_iter().step_by(3).collect();
    }
    let (infinity, one) = match bits {
        16 => (0x7c00, 0x3c00),
        32 => (f32::INFINITY.to_bits().into(), 1f32.to_bits().into()),
        _ => (f64::INFINITY.to_bits(), 1f64.to_bits()),
    };
    for value in [0, 1, one, infinity - 1, infinity, infinity + 1] {
        special.extend([value, value | 1 << (bits - 1)]);
    }
    let mut cases = pairs(&special, &special);
    let mut words = Words::new(u64::from(bits) + 2);
    cases.extend((0..30_000).map(|_| vec![random_float(&mut words, bits), random_float(&mut words, bits)]));
    cases
}
