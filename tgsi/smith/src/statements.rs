//! Statements in sequence. The other modules have the kinds of statements.

use super::Features;
use super::generator::{Context, Generator};
use super::registers::RegisterType;
use super::signature::{Rounding, Signature, shows_sign_of_zero, signature};
use tgsi::scan::needed_channels;
use tgsi::shader::{Instruction, Src};
use tgsi::tables::{Opcode, OperandType};

impl Generator<'_> {
    /// Appends a statement.
    pub(super) fn statement(&mut self, context: Context) {
        let has = |feature| self.features.contains(feature);
        match self.choices.below(40) {
            0..15 => self.arithmetic(),
            15..19 => self.small_expression(),
            19 if has(Features::WIDE) && self.choices.one_in(2) => self.small_doubles(),
            19..21 => self.copy(),
            21..24 => self.set_index(),
            24..29 => self.flow(context),
            29..32 if has(Features::TEXTURES) => self.texture(),
            32..35 if has(Features::MEMORY) => self.memory(),
            35 | 36 if has(Features::IMAGES) => self.image(),
            37 if has(Features::LANES) => self.lanes(context),
            38 | 39 if has(Features::STAGE) => self.special(context),
            _ => self.arithmetic(),
        }
    }

    /// Emits statements inside a block.
    pub(super) fn block(&mut self, context: Context) {
        for _ in 0..self.some_of_budget() {
            if self.wants_more() {
                self.statement(context);
            }
        }
    }

    /// Emits a computing instruction.
    fn arithmetic(&mut self) {
        let Some(opcode) = self.choices.pick(Opcode::ALL) else { return };
        let Some(signature) = signature(opcode) else { return };
        if !self.integers {
            let is_float =
                signature.dst == RegisterType::Float && signature.src.iter().all(|&kind| kind == RegisterType::Float);
            // Without integers, division and square root are excluded too: both are computed with products, which
            // round.
            if !is_float || matches!(opcode, Opcode::Fma | Opcode::Div | Opcode::Sqrt) {
                return;
            }
        }
        if matches!(opcode, Opcode::Fma | Opcode::Dfma | Opcode::Dsqrt) && !self.features.contains(Features::FUSED) {
            return;
        }
        if matches!(opcode, Opcode::Sin | Opcode::Cos) && !self.features.contains(Features::PERIODIC) {
            return;
        }
        if matches!(opcode, Opcode::Lg2 | Opcode::Log) {
            return self.logarithm(opcode);
        }
        let wide = signature.dst.is_wide() || signature.src.iter().any(|kind| kind.is_wide());
        if wide && !self.features.contains(Features::WIDE) {
            return;
        }
        if opcode == Opcode::Mov {
            return self.copy();
        }
        self.compute_with(opcode, signature);
    }

    fn compute_with(&mut self, opcode: Opcode, signature: Signature) {
        let Signature { mut dst, mut src, rounding } = signature;
        if !self.integers && (compares_or_rounds(opcode) || opcode == Opcode::Exp) {
            src.fill(RegisterType::Finite);
            if opcode != Opcode::Exp {
                dst = RegisterType::Finite;
            }
        }
        // Selections accept any kind of value.
        if matches!(opcode, Opcode::Ucmp | Opcode::Cmp) && self.choices.one_in(2) {
            dst = if opcode == Opcode::Ucmp { RegisterType::Integer } else { RegisterType::Small };
            let selector = src[0];
            src.fill(dst);
            src[0] = selector;
        }
        let mut precise = self.choices.one_in(4);
        match rounding {
            Rounding::Fixed => {}
            Rounding::Sum if is_single_sum(opcode) && self.choices.one_in(3) => {
                // No operand may be decomposable, and no other sum may read the result.
                precise = false;
                dst = RegisterType::Leaf;
            }
            Rounding::Sum => precise = true,
            Rounding::Root if dst == RegisterType::Float && self.choices.one_in(3) => {
                precise = false;
                src.fill(RegisterType::Small);
            }
            Rounding::Root => precise = true,
        }
        // Precise instructions, and those that are not sums, accept operands with any rounding.
        if (precise || rounding == Rounding::Fixed) && src.contains(&RegisterType::Float) && self.choices.one_in(4) {
            src.iter_mut().filter(|kind| **kind == RegisterType::Float).for_each(|kind| *kind = RegisterType::Leaf);
            if dst == RegisterType::Float {
                dst = RegisterType::Leaf;
            }
        }
        let info = opcode.info();
        let mut destination = self.destination(dst);
        let mut instruction = Instruction::new(opcode);
        instruction.precise = precise;
        instruction.saturate = match dst {
            _ if dst.is_float() => info.dst_type.is_float() && self.choices.one_in(6),
            RegisterType::Double => self.choices.one_in(9),
            _ => false,
        };
        // The lowest component gets the first pair, the next one the second; there is no third.
        if info.src_types.first().is_some_and(|ty| ty.is_64bit()) && !info.dst_type.is_64bit() {
            while destination.dst.write_mask.count_ones() > 2 {
                destination.dst.write_mask &= destination.dst.write_mask - 1;
            }
            // A comparison writes one component of each pair.
            let mask = destination.dst.write_mask;
            if is_wide_comparison(opcode) && (mask & 3 == 3 || mask & 12 == 12) {
                destination.dst.write_mask = mask & 5;
            }
        }
        instruction.dst.push(destination.dst);
        for (number, &kind) in src.iter().enumerate() {
            let needed = needed_channels(&instruction, number);
            let typed = info.src_types.get(number).copied().unwrap_or(OperandType::Float);
            // For moved bits, modifiers would treat them as floats.
            let moves_bits =
                kind == RegisterType::Integer && if opcode == Opcode::Ucmp { number > 0 } else { typed.is_float() };
            let mut source = if moves_bits { self.source(kind, needed) } else { self.modified_source(kind, needed) };
            if shows_sign_of_zero(opcode, number) {
                source = self.without_sign_of_zero(kind, source);
            }
            instruction.src.push(source);
        }
        // Operands may have required additional instructions, which come first.
        let mask = instruction.dst[0].write_mask;
        self.put(instruction);
        self.written(destination, mask);
    }

    /// Emits sums and products of small 64-bit floats, which are not rounded either.
    fn small_doubles(&mut self) {
        let values = [0, 1, 2].map(|_| {
            let value = self.source(RegisterType::Small, 3);
            let position = self.new_scratch();
            let destination = self.to_temporary(position, 15);
            self.put_to(Opcode::F2d, destination, &[value]);
            Src::new(self.temporaries[position].register)
        });
        let opcode = self.choices.of([Opcode::Dadd, Opcode::Dmul, Opcode::Dmad, Opcode::Dfma]);
        let count = usize::from(opcode.info().num_src);
        let first = self.new_scratch();
        let inner = self.to_temporary(first, 15);
        self.put_to(opcode, inner, &values[..count]);
        let first = Src::new(self.temporaries[first].register);
        let outer = self.choices.of([Opcode::Dadd, Opcode::Dmul, Opcode::Dmad]);
        let count = usize::from(outer.info().num_src);
        let destination = self.destination(RegisterType::Double);
        let sources = [first, values[1], values[2]];
        self.put_to(outer, destination, &sources[..count]);
    }

    /// Emits a logarithm of a small power of two, because only these are exact for every implementation.
    fn logarithm(&mut self, opcode: Opcode) {
        let power = if self.integers {
            let count = self.source(RegisterType::Integer, 15);
            let three = self.builder.immediate_u32(&[3]).replicated(0);
            let count = self.compute(RegisterType::Integer, Opcode::And, &[count, three]);
            let one = self.builder.immediate_f32(&[1.0]).replicated(0);
            self.compute(RegisterType::Small, Opcode::Ldexp, &[one, count])
        } else {
            let value = self.modified_source(RegisterType::Small, 15);
            let powers = [self.choices.of([1.0, 2.0]), self.choices.of([4.0, 0.5, 8.0])];
            let powers = powers.map(|power| self.builder.immediate_f32(&[power]).replicated(0));
            self.compute(RegisterType::Small, Opcode::Cmp, &[value, powers[0], powers[1]])
        };
        let power = power.replicated(self.choices.below(4));
        let destination = self.destination(RegisterType::Float);
        let mut instruction = Instruction::with_operands(opcode, None, &[power]);
        instruction.precise = true;
        instruction.saturate = self.choices.one_in(6);
        self.put_instruction(instruction, destination);
    }

    /// Returns 64-bit floats with negative zeros replaced by 0. Uses a selection, because executors may differ on the
    /// absolute value of a negative zero.
    pub(super) fn with_positive_zero(&mut self, source: Src) -> Src {
        let zero = self.builder.immediate_f64(&[0.0]);
        let is_zero = self.compute(RegisterType::Integer, Opcode::Dseq, &[source, zero]).swizzled([0, 0, 2, 2]);
        // The source may be in the next scratch register.
        let position = self.new_scratch();
        let destination = self.to_temporary(position, 15);
        self.put_to(Opcode::Ucmp, destination, &[is_zero, zero, source]);
        Src::new(self.temporaries[position].register)
    }

    /// Returns the value or its absolute value, without negative zeros.
    pub(super) fn without_sign_of_zero(&mut self, kind: RegisterType, source: Src) -> Src {
        if kind == RegisterType::Double {
            self.with_positive_zero(source)
        } else if self.integers {
            source.absolute_value()
        } else {
            // The absolute value may be computed as a maximum, which can return either zero.
            let tiny = self.builder.immediate_f32(&[1e-30]).replicated(0);
            self.compute(RegisterType::Float, Opcode::Max, &[source.absolute_value(), tiny])
        }
    }

    /// Emits a `MOV` of some kind.
    fn copy(&mut self) {
        let kinds = [
            RegisterType::Float,
            RegisterType::Integer,
            RegisterType::Small,
            RegisterType::Leaf,
            RegisterType::Long,
            RegisterType::Double,
        ];
        let mut kind = self.choices.of(kinds);
        kind = self.available(kind);
        if kind.is_wide() && !self.features.contains(Features::WIDE) {
            kind = RegisterType::Float;
        }
        let destination = self.destination(kind);
        let needed = destination.dst.write_mask;
        let source = match kind {
            _ if kind.is_float() => self.modified_source(kind, needed),
            _ => self.source(kind, needed),
        };
        let mut instruction = Instruction::with_operands(Opcode::Mov, None, &[source]);
        instruction.saturate = kind.is_float() && self.choices.one_in(6);
        instruction.precise = self.choices.one_in(8);
        self.put_instruction(instruction, destination);
    }
}

/// Opcodes that hardware may compute with other comparisons and fractions, which changes infinities and NaN.
fn compares_or_rounds(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Slt | Sge | Sgt | Sle | Seq | Sne | Cmp | Min | Max | Ssg | Frc | Flr | Ceil | Trunc | Round)
}

/// Sums and products that can only be computed in one way.
fn is_single_sum(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Add | Opcode::Mul | Opcode::Mad | Opcode::Fma)
}

/// Comparisons of 64-bit values.
fn is_wide_comparison(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Dseq | Dsne | Dslt | Dsge | U64seq | U64sne | U64slt | U64sge | I64slt | I64sge)
}
