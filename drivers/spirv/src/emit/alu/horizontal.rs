//! Sums over the components of vectors.

use spirv::Op;
use tgsi_ir::alu::AluOp;

use super::{Alu, Emitter, TypedId};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

/// The order in which products are summed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    FirstFirst,
    LastFirst,
}

impl Emitter<'_> {
    /// Emits dot products and sums. Inexact ones may be summed in any order, as by `OpDot`.
    pub(super) fn horizontal(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        let a = self.source(alu, 0, Class::Float)?;
        let vector = self.source_type(alu, 0, Class::Float);
        let scalar = vector.scalar();
        let sum = match alu.op {
            Fsum2 | Fsum3 | Fsum4 => self.sum(alu, vector, a, Order::FirstFirst),
            Fdot2 | Fdot3 | Fdot4 | Fdot2Replicated | Fdot3Replicated | Fdot4Replicated => {
                let b = self.source(alu, 1, Class::Float)?;
                self.dot(alu, vector, (a, b), Order::LastFirst)
            }
            Fdot2Mad | Fdot3Mad | Fdot4Mad | Fdot2MadReplicated | Fdot3MadReplicated | Fdot4MadReplicated => {
                let b = self.source(alu, 1, Class::Float)?;
                self.dot(alu, vector, (a, b), Order::FirstFirst)
            }
            Fdot2Madz | Fdot3Madz | Fdot4Madz | Fdot2MadzReplicated | Fdot3MadzReplicated | Fdot4MadzReplicated => {
                let products = self.product_or_zero(alu, vector)?;
                self.sum(alu, vector, products, Order::FirstFirst)
            }
            Fdph | FdphReplicated => {
                let b_type = self.source_type(alu, 1, Class::Float);
                let b = self.source(alu, 1, Class::Float)?;
                let first = self.take(b, b_type, tgsi_ir::Swizzle::IDENTITY, 3);
                let dot = self.dot(alu, vector, (a, first), Order::FirstFirst);
                let last = self.part(b, b_type, 3);
                self.rounded(alu.exact, Op::FAdd, scalar, &[dot, last])
            }
            _ => return Err(self.no_form(alu)),
        };
        Ok((self.repeat(sum, scalar, self.body.num_components(alu.def)), Class::Float))
    }

    fn dot(&mut self, alu: &Alu, ty: ValueType, (a, b): (Id, Id), order: Order) -> Id {
        // A reader that knows the order of the sum needs no products.
        let is_known = self.options.unguarded && order == Order::FirstFirst;
        if !alu.exact || is_known {
            return self.rounded(alu.exact, Op::Dot, ty.scalar(), &[a, b]);
        }
        let products = self.rounded(true, Op::FMul, ty, &[a, b]);
        self.sum(alu, ty, products, order)
    }

    fn sum(&mut self, alu: &Alu, ty: ValueType, vector: Id, order: Order) -> Id {
        let number = |index: u8| if order == Order::FirstFirst { index } else { ty.components - 1 - index };
        let mut sum = self.part(vector, ty, number(0));
        for index in 1..ty.components {
            let part = self.part(vector, ty, number(index));
            sum = self.rounded(alu.exact, Op::FAdd, ty.scalar(), &[sum, part]);
        }
        sum
    }
}
