//! The values of operators, constructors and functions of the language, computed once for two sinks.
//!
//! A [`Sink`] takes ALU instructions of the IR on vectors. The [builder](ir) of the IR emits them; the [folder](fold)
//! evaluates them on constants. A constant therefore has the value that the shader would compute.
//!
//! Booleans are 1-bit values, matrices are lists of columns.

pub(crate) mod constructors;
pub(crate) mod fold;
pub(crate) mod functions;
mod inverse;
pub(crate) mod ir;
pub(crate) mod operators;
mod trigonometry;

use arrayvec::ArrayVec;
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;

use crate::types::Scalar;

/// The largest number of components of a vector and columns of a matrix.
pub(crate) const MAX: usize = 4;

/// Takes ALU instructions.
pub(crate) trait Sink {
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

    /// An instruction per component. Scalars are repeated to the size of the other operands.
    fn each(&mut self, op: AluOp, sources: &[Self::Value]) -> Self::Value {
        let components = sources.iter().map(|&source| self.components(source)).max().unwrap_or(1);
        let sources: ArrayVec<(Self::Value, Swizzle), 4> = sources
            .iter()
            .take(4)
            .map(|&source| {
                let is_scalar = self.components(source) == 1;
                (source, if is_scalar { Swizzle::replicate(0) } else { Swizzle::IDENTITY })
            })
            .collect();
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

    /// A float constant in the bit size of a value.
    fn float(&mut self, like: Self::Value, value: f64) -> Self::Value {
        let bit_size = self.bit_size(like);
        let bits = if bit_size == 64 { value.to_bits() } else { u64::from((value as f32).to_bits()) };
        self.constant(bit_size, &[bits])
    }
}

/// A scalar or vector, or the columns of a matrix.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Operand<V> {
    /// A scalar or vector.
    Vector(V),
    /// 2 to 4 columns.
    Matrix(ArrayVec<V, MAX>),
}

impl<V: Copy> Operand<V> {
    /// The vectors: one, or the columns.
    pub(crate) fn vectors(&self) -> &[V] {
        match self {
            Operand::Vector(value) => std::slice::from_ref(value),
            Operand::Matrix(columns) => columns,
        }
    }

    /// The scalar or vector.
    pub(crate) fn vector(&self) -> Option<V> {
        match self {
            Operand::Vector(value) => Some(*value),
            Operand::Matrix(_) => None,
        }
    }

    /// Computes each vector.
    pub(crate) fn map(&self, mut compute: impl FnMut(V) -> V) -> Operand<V> {
        match self {
            Operand::Vector(value) => Operand::Vector(compute(*value)),
            Operand::Matrix(columns) => Operand::Matrix(columns.iter().map(|&column| compute(column)).collect()),
        }
    }
}

/// Bits of a component of a value.
pub(crate) fn bits_of(scalar: Scalar) -> u8 {
    match scalar {
        Scalar::Bool => 1,
        Scalar::Int | Scalar::Uint | Scalar::Float => 32,
        Scalar::Double => 64,
    }
}
