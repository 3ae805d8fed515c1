//! 1-bit integers, which are booleans.

use spirv::Op;
use tgsi_ir::alu::AluOp;

use super::{Alu, Emitter, TypedId};
use crate::error::SpirvError;
use crate::module::{Class, Id};

impl Emitter<'_> {
    /// Emits 1-bit arithmetic. As a signed number a set bit is -1.
    pub(super) fn logic(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        let ty = self.type_of(alu.def, Class::Bool);
        let a = self.source(alu, 0, Class::Bool)?;
        let id = match alu.op {
            Iadd | Isub | Ixor | UabsUsub | UabsIsub => self.joined(alu, a, Op::LogicalNotEqual)?,
            Imul | Amul | Iand | Idiv | Udiv | UaddCarry | Umin | Imax | Uhadd | Irhadd => {
                self.joined(alu, a, Op::LogicalAnd)?
            }
            Ior | Umax | Imin | UaddSat | IaddSat | Ihadd | Urhadd => self.joined(alu, a, Op::LogicalOr)?,
            Iadd3 | Imad => {
                let op = if alu.op == Iadd3 { Op::LogicalNotEqual } else { Op::LogicalAnd };
                let (first, c) = (self.joined(alu, a, op)?, self.source(alu, 2, Class::Bool)?);
                self.pure_of(Op::LogicalNotEqual, ty, &[first, c])
            }
            Inot => self.pure_of(Op::LogicalNot, ty, &[a]),
            // The only valid shift count of a 1-bit number is 0, and sign extension repeats the bit.
            Ineg | Iabs | Isign | Ishl | Ishr | Ushr | Urol | Uror | ExtractI8 | ExtractI16 => a,
            Irem | Imod | Umod | ImulHigh | UmulHigh | UdivAligned4 => self.splat(ty, 0),
            UsubBorrow => {
                let not = self.pure_of(Op::LogicalNot, ty, &[a]);
                self.joined(alu, not, Op::LogicalAnd)?
            }
            UsubSat | IsubSat | ExtractU8 | ExtractU16 | InsertU8 | InsertU16 => {
                let b = self.source(alu, 1, Class::Bool)?;
                let not = self.pure_of(Op::LogicalNot, ty, &[b]);
                self.pure_of(Op::LogicalAnd, ty, &[a, not])
            }
            BitfieldSelect => {
                let (b, c) = (self.source(alu, 1, Class::Bool)?, self.source(alu, 2, Class::Bool)?);
                self.pure_of(Op::Select, ty, &[a, b, c])
            }
            _ => return Err(self.no_form(alu)),
        };
        Ok((id, Class::Bool))
    }

    fn joined(&mut self, alu: &Alu, a: Id, op: Op) -> Result<Id, SpirvError> {
        let b = self.source(alu, 1, Class::Bool)?;
        Ok(self.pure_of(op, self.type_of(alu.def, Class::Bool), &[a, b]))
    }

    /// Emits 1-bit comparisons.
    pub(super) fn boolean_comparison(&mut self, alu: &Alu) -> Result<Id, SpirvError> {
        use AluOp::*;
        let ty = self.source_type(alu, 0, Class::Bool);
        let (a, b) = (self.source(alu, 0, Class::Bool)?, self.source(alu, 1, Class::Bool)?);
        Ok(match alu.op {
            Ieq | Ieq32 => self.pure_of(Op::LogicalEqual, ty, &[a, b]),
            Ine | Ine32 => self.pure_of(Op::LogicalNotEqual, ty, &[a, b]),
            Ilt | Ilt32 | Uge | Uge32 => {
                let not = self.pure_of(Op::LogicalNot, ty, &[b]);
                let op = if matches!(alu.op, Ilt | Ilt32) { Op::LogicalAnd } else { Op::LogicalOr };
                self.pure_of(op, ty, &[a, not])
            }
            Ige | Ige32 | Ult | Ult32 => {
                let not = self.pure_of(Op::LogicalNot, ty, &[a]);
                let op = if matches!(alu.op, Ult | Ult32) { Op::LogicalAnd } else { Op::LogicalOr };
                self.pure_of(op, ty, &[not, b])
            }
            _ => return Err(self.no_form(alu)),
        })
    }
}
