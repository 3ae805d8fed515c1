//! Code in two sinks, whose results must be equal. The tests of front ends include this file.

use arrayvec::ArrayVec;
use tgsi_arithmetic::fold::{Folder, Known};
use tgsi_arithmetic::{Columns, Kind, Operand, Scalar, Sink};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Random, RunLimits};
use tgsi_ir::alu::{AluOp, AluType};
use tgsi_ir::builder::Builder;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Shader, ShaderStage};

/// A shader that stores its results, and the results as bits.
pub struct Pair<'a> {
    pub builder: Builder<'a>,
    random: Random,
    registers: i32,
    expected: Vec<Expected>,
}

/// A component that the shader stores.
struct Expected {
    what: String,
    bit_size: u8,
    bits: u64,
}

impl Pair<'_> {
    /// The bits of a component: special values, small numbers, and any bits.
    fn component(&mut self, scalar: Scalar) -> u64 {
        let choice = self.random.bits();
        let number = (self.random.bits() % 2001) as f64 / 250.0 - 4.0;
        let mask = u64::MAX >> (64 - scalar.bits);
        let sign = 1 << (scalar.bits - 1);
        match (scalar.kind, scalar.bits) {
            (Kind::Bool, _) => choice & 1,
            (Kind::Float, 16) => match choice % 8 {
                0 => self.random.bits() & mask,
                1 => [0, 0x8000, 0x7c00, 0x3c00, 0xbc00][choice as usize / 8 % 5],
                _ => [0x3400, 0x3855, 0x3e01, 0x4100, 0x4431][choice as usize / 8 % 5] | choice >> 32 & sign,
            },
            (Kind::Float, 32) => match choice % 8 {
                0 => self.random.bits() & mask,
                1 => [0, 0x8000_0000, 0x7f80_0000, 0x3f80_0000, 0xbf80_0000][choice as usize / 8 % 5],
                _ => u64::from((number as f32).to_bits()),
            },
            (Kind::Float, _) => match choice % 8 {
                0 => self.random.bits(),
                _ => number.to_bits(),
            },
            (Kind::Int | Kind::Uint, _) => match choice % 4 {
                0 => self.random.bits() & mask,
                1 => [0, 1, mask, sign, sign - 1][choice as usize / 4 % 5],
                _ => (number as i64) as u64 & mask,
            },
        }
    }

    /// The same vector in both sinks.
    pub fn vector(&mut self, scalar: Scalar, components: u8) -> (Def, Known) {
        let bits: ArrayVec<u64, 4> = (0..components).map(|_| self.component(scalar)).collect();
        (Sink::constant(&mut self.builder, scalar.bits, &bits), Known::new(scalar.bits, &bits))
    }

    /// The same matrix in both sinks.
    pub fn matrix(&mut self, scalar: Scalar, columns: u8, rows: u8) -> (Columns<Def>, Columns<Known>) {
        let pairs: ArrayVec<(Def, Known), 4> = (0..columns).map(|_| self.vector(scalar, rows)).collect();
        (pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect())
    }

    /// Stores a result, and keeps the expected value.
    pub fn compare(&mut self, what: &str, emitted: &Operand<Def>, known: &Operand<Known>) {
        assert_eq!(emitted.vectors().len(), known.vectors().len(), "{what}");
        for (&def, known) in emitted.vectors().iter().zip(known.vectors()) {
            let (components, bit_size) = (self.builder.components(def), Sink::bit_size(&self.builder, def));
            assert_eq!((components, bit_size), (Folder.components(*known), Folder.bit_size(*known)), "{what}");
            for component in 0..components {
                let value = self.builder.channel(def, component);
                let words = match bit_size {
                    1 => self.builder.alu(AluOp::B2i32, &[value]),
                    8 | 16 => self.builder.alu(AluOp::U2u32, &[value]),
                    64 => self.builder.alu(AluOp::Unpack642x32, &[value]),
                    _ => value,
                };
                self.store(words);
                let bits = known.bits()[usize::from(component)];
                self.expected.push(Expected { what: what.to_owned(), bit_size, bits });
            }
        }
    }

    fn store(&mut self, value: Def) {
        let zero = self.builder.u32_const(0);
        let mask = (1 << self.builder.body.num_components(value)) - 1;
        let ty = AluType::UINT32.to_i32();
        let indices = [(IndexKind::Base, self.registers), (IndexKind::WriteMask, mask), (IndexKind::SrcType, ty)];
        self.builder.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
        self.registers += 1;
    }
}

/// NaNs may have any payload.
fn is_same(bit_size: u8, a: u64, b: u64) -> bool {
    let is_nan = |bits: u64| match bit_size {
        16 => bits & 0x7fff > 0x7c00,
        32 => f32::from_bits(bits as u32).is_nan(),
        64 => f64::from_bits(bits).is_nan(),
        _ => false,
    };
    a == b || is_nan(a) && is_nan(b)
}

/// Builds code, runs it, and compares. Returns the number of results.
pub fn check(seed: u64, build: impl FnOnce(&mut Pair<'_>)) -> usize {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut pair = Pair {
        builder: Builder::at_end(shader.main_mut()),
        random: Random::new(seed),
        registers: 0,
        expected: Vec::new(),
    };
    build(&mut pair);
    let expected = pair.expected;
    shader.num_outputs = expected.len() as u32;
    let errors = tgsi_ir::validate::find_errors(&shader);
    assert!(errors.is_empty(), "{errors:?}");
    let inputs = Inputs { lanes: 1, inputs: LaneRegisters::new(1, 1), ..Inputs::default() };
    let ran = tgsi_ir::run::run(&shader, &inputs, &mut AnalyticResources::default(), RunLimits::of_steps(1 << 24));
    let outputs = ran.unwrap_or_else(|error| panic!("{error}")).outputs;
    for (register, Expected { what, bit_size, bits }) in expected.iter().enumerate() {
        let word = |component| u64::from(outputs.get(register, component, 0));
        let ran = if *bit_size == 64 { word(0) | word(1) << 32 } else { word(0) };
        assert!(
            is_same(*bit_size, ran, *bits),
            "{what}, seed {seed}: {ran:x} in the shader, {bits:x} as constant, {bit_size} bits"
        );
    }
    expected.len()
}
