//! The trait of sinks, and functions that set up a sink.

use arrayvec::ArrayVec;
use tgsi_ir::Swizzle;
use tgsi_ir::alu::{self, AluOp, ExecutionMode};

use crate::MAX;

/// A receiver of ALU instructions.
pub trait Sink {
    /// A vector of 1 to 4 components of one bit size.
    type Value: Copy + PartialEq;

    /// Number of components.
    fn components(&self, value: Self::Value) -> u8;

    /// Bits of a component.
    fn bit_size(&self, value: Self::Value) -> u8;

    /// A vector from the bits of its components.
    fn constant(&mut self, bit_size: u8, bits: &[u64]) -> Self::Value;

    /// An instruction. The result has `components` components where the opcode leaves that open.
    fn alu(&mut self, op: AluOp, components: u8, sources: &[(Self::Value, Swizzle)]) -> Self::Value;

    /// Sets whether results must be exact (`precise`). Returns the former setting.
    fn set_exact(&mut self, exact: bool) -> bool;

    /// Whether results must be exact.
    fn is_exact(&self) -> bool;

    /// The factors, if a value is a product of 32-bit floats that is as exact as the next result.
    fn factors(&self, value: Self::Value) -> Option<[(Self::Value, Swizzle); 2]>;

    /// A value as a source: all components, or the only one for every component of the result.
    fn repeated(&self, value: Self::Value) -> (Self::Value, Swizzle) {
        let is_scalar = self.components(value) == 1;
        (value, if is_scalar { Swizzle::replicate(0) } else { Swizzle::IDENTITY })
    }

    /// An instruction per component. Scalars are repeated to the size of the other operands.
    fn each(&mut self, op: AluOp, sources: &[Self::Value]) -> Self::Value {
        let components = sources.iter().map(|&source| self.components(source)).max().unwrap_or(1);
        let sources: ArrayVec<(Self::Value, Swizzle), 4> =
            sources.iter().take(4).map(|&source| self.repeated(source)).collect();
        self.alu(op, components, &sources)
    }

    /// An instruction on one operand.
    fn one(&mut self, op: AluOp, a: Self::Value) -> Self::Value {
        self.each(op, &[a])
    }

    /// An instruction on two operands.
    fn two(&mut self, op: AluOp, a: Self::Value, b: Self::Value) -> Self::Value {
        self.each(op, &[a, b])
    }

    /// Selected components of a vector.
    fn select(&mut self, value: Self::Value, components: &[u8]) -> Self::Value {
        let swizzle = Swizzle::new(components);
        if usize::from(self.components(value)) == components.len() && swizzle.is_identity(components.len()) {
            return value;
        }
        self.alu(AluOp::Mov, components.len() as u8, &[(value, swizzle)])
    }

    /// A vector from components of vectors.
    fn gather(&mut self, components: &[(Self::Value, u8)]) -> Self::Value {
        // Components of one vector need no `vec` instruction.
        if let Some(&(first, _)) = components.first()
            && components.iter().all(|&(value, _)| value == first)
        {
            let selected: ArrayVec<u8, MAX> = components.iter().take(MAX).map(|&(_, component)| component).collect();
            return self.select(first, &selected);
        }
        let Some(op) = AluOp::vec(components.len() as u8) else { return self.constant(32, &[0]) };
        let sources: ArrayVec<(Self::Value, Swizzle), 4> =
            components.iter().take(4).map(|&(value, component)| (value, Swizzle::replicate(component))).collect();
        self.alu(op, components.len() as u8, &sources)
    }

    /// A float constant in the bit size of a value, rounded to nearest even.
    fn float(&mut self, like: Self::Value, value: f64) -> Self::Value {
        let bit_size = self.bit_size(like);
        let bits = match bit_size {
            64 => value.to_bits(),
            16 => {
                let mut bits = [0];
                alu::evaluate(AluOp::F2f16, 64, 1, &[&[value.to_bits()]], ExecutionMode::DEFAULT, &mut bits);
                bits[0]
            }
            _ => u64::from((value as f32).to_bits()),
        };
        self.constant(bit_size, &[bits])
    }
}

/// Runs code whose results must be exact.
pub fn exactly<S: Sink + ?Sized, R>(sink: &mut S, compute: impl FnOnce(&mut S) -> R) -> R {
    let former = sink.set_exact(true);
    let value = compute(sink);
    sink.set_exact(former);
    value
}

/// Computes a function of floats. Those of 16 bits are computed in 32 bits, and the result is rounded.
pub(crate) fn in_single<S: Sink, const N: usize>(
    sink: &mut S,
    operands: [S::Value; N],
    compute: impl FnOnce(&mut S, [S::Value; N]) -> S::Value,
) -> S::Value {
    if operands.first().is_none_or(|&first| sink.bit_size(first) != 16) {
        return compute(sink, operands);
    }
    let wide = operands.map(|operand| sink.one(AluOp::F2f32, operand));
    let value = compute(sink, wide);
    sink.one(AluOp::F2f16, value)
}
