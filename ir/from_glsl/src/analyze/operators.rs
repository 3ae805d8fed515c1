//! Types of operators.

use super::{Analyzer, SemanticError};
use crate::ast::{BinaryOp, UnaryOp};
use crate::compute::fold;
use crate::program::{Expr, ExprId, ExprKind};
use crate::token::TokenRange;
use crate::types::{Scalar, TypeData, TypeId};

impl Analyzer<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: ExprId, tokens: TokenRange) -> ExprId {
        let ty = self.ty(operand);
        if ty.is_error() {
            return self.error_expr(tokens);
        }
        let scalar = self.program.types.scalar(ty);
        let fits = match op {
            UnaryOp::Plus | UnaryOp::Minus => scalar.is_some_and(Scalar::is_numeric),
            UnaryOp::Not => ty == TypeId::BOOL,
            UnaryOp::Complement => scalar.is_some_and(Scalar::is_integer),
        };
        if !fits {
            let operand = self.type_name(ty);
            self.report(SemanticError::Operand { op: op.text(), operand }, tokens);
            return self.error_expr(tokens);
        }
        let value = self.constant_of(operand).and_then(|value| fold::unary(&self.program.types, op, value));
        self.add_folded(ExprKind::Unary(op, operand), ty, tokens, &[operand], value)
    }

    pub(super) fn step(&mut self, operand: ExprId, decrement: bool, postfix: bool, tokens: TokenRange) -> ExprId {
        let ty = self.ty(operand);
        if !self.target(operand, true) {
            return self.error_expr(tokens);
        }
        if !self.program.types.scalar(ty).is_some_and(Scalar::is_numeric) {
            let (op, operand) = (if decrement { "--" } else { "++" }, self.type_name(ty));
            self.report(SemanticError::Operand { op, operand }, tokens);
            return self.error_expr(tokens);
        }
        let kind = ExprKind::Step { operand, decrement, postfix };
        self.add_expr(Expr { kind, ty, constant: None, has_effects: true, tokens })
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId, tokens: TokenRange) -> ExprId {
        if self.ty(left).is_error() || self.ty(right).is_error() {
            return self.error_expr(tokens);
        }
        let Some((left, right, ty)) = self.operands(op, left, right, tokens) else { return self.error_expr(tokens) };
        let folded = match (self.constant_of(left), self.constant_of(right)) {
            (Some(a), Some(b)) => fold::binary(&self.program.types, op, ty, a, b),
            _ => None,
        };
        let divides_by_zero = folded.as_ref().is_some_and(|folded| folded.divides_by_zero);
        let value = folded.map(|folded| folded.constant);
        if divides_by_zero {
            self.report(SemanticError::DivisionByZero, tokens);
        }
        let (left, right) =
            if op == BinaryOp::Mul && value.is_none() { self.regrouped(left, right) } else { (left, right) };
        self.add_folded(ExprKind::Binary(op, left, right), ty, tokens, &[left, right], value)
    }

    /// The operands of a binary operator with their types converted, and the type of the result. Reports an error if
    /// the operator does not accept these operands.
    fn operands(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        tokens: TokenRange,
    ) -> Option<(ExprId, ExprId, TypeId)> {
        let (a, b) = (self.ty(left), self.ty(right));
        let result = match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                (a == TypeId::BOOL && b == TypeId::BOOL).then_some((left, right, TypeId::BOOL))
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let same = self.same_type(left, right);
                if let Some((left, _)) = same
                    && !(self.check_copy(self.ty(left), "comparison", tokens) && self.count_copy(self.ty(left), tokens))
                {
                    return None;
                }
                same.map(|(left, right)| (left, right, TypeId::BOOL))
            }
            BinaryOp::Less | BinaryOp::Greater | BinaryOp::LessEqual | BinaryOp::GreaterEqual => {
                let are_scalars = [a, b].iter().all(|&ty| {
                    self.program.types.as_vector(ty).is_some_and(|(scalar, count)| count == 1 && scalar.is_numeric())
                });
                let same = if are_scalars { self.unify_scalars(left, right) } else { None };
                same.map(|(left, right)| (left, right, TypeId::BOOL))
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                let is_wide = self.program.types.scalar(b).is_some_and(Scalar::is_wide);
                // Counts have 32 bits.
                let count = if is_wide {
                    let narrow = self.program.types.with_scalar(b, Scalar::Uint);
                    self.convert_components(right, narrow)
                } else {
                    right
                };
                self.shift(a, b).then_some((left, count, a))
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Mod
            | BinaryOp::BitAnd
            | BinaryOp::BitXor
            | BinaryOp::BitOr => {
                let fits = |scalar: Scalar| {
                    if is_bit_operator(op) { scalar.is_integer() } else { scalar.is_numeric() }
                };
                let fit = [a, b].iter().all(|&ty| self.program.types.scalar(ty).is_some_and(fits));
                let same = if fit { self.unify_scalars(left, right) } else { None };
                same.and_then(|(left, right)| {
                    let ty = self.arithmetic_type(op, self.ty(left), self.ty(right))?;
                    Some((left, right, ty))
                })
            }
        };
        if result.is_none() {
            let (left, right) = (self.type_name(a), self.type_name(b));
            self.report(SemanticError::Operands { op: op.text(), left, right }, tokens);
        }
        result
    }

    /// Both operands with the same type.
    fn same_type(&mut self, left: ExprId, right: ExprId) -> Option<(ExprId, ExprId)> {
        let (a, b) = (self.ty(left), self.ty(right));
        if a == TypeId::VOID || b == TypeId::VOID {
            None
        } else if a == b {
            Some((left, right))
        } else if self.converts(a, b) {
            self.converted(left, b).map(|left| (left, right))
        } else if self.converts(b, a) {
            self.converted(right, a).map(|right| (left, right))
        } else {
            None
        }
    }

    /// Whether a value can be shifted by another.
    fn shift(&self, a: TypeId, b: TypeId) -> bool {
        let of = |ty| self.program.types.as_vector(ty).filter(|(scalar, _)| scalar.is_integer());
        matches!((of(a), of(b)), (Some((_, n)), Some((_, m))) if m == 1 || n == m)
    }

    /// The type of an arithmetic result of operands with the same scalar.
    fn arithmetic_type(&mut self, op: BinaryOp, a: TypeId, b: TypeId) -> Option<TypeId> {
        use TypeData::{Matrix, Vector};
        let types = &mut self.program.types;
        let is_product = op == BinaryOp::Mul;
        match (types.get(a), types.get(b)) {
            (Vector { components: 1, .. }, Vector { .. } | Matrix { .. }) => Some(b),
            (Vector { .. } | Matrix { .. }, Vector { components: 1, .. }) => Some(a),
            (Vector { components: n, .. }, Vector { components: m, .. }) => (n == m).then_some(a),
            (Matrix { scalar, columns: inner, rows }, Matrix { columns, rows: other, .. }) if is_product => {
                (inner == other).then(|| types.intern(Matrix { scalar, columns, rows }))
            }
            (Matrix { .. }, Matrix { .. }) => (a == b).then_some(a),
            (Vector { scalar, components }, Matrix { columns, rows, .. }) if is_product => {
                (components == rows).then(|| TypeId::vector(scalar, columns))
            }
            (Matrix { scalar, columns, rows }, Vector { components, .. }) if is_product => {
                (columns == components).then(|| TypeId::vector(scalar, rows))
            }
            _ => None,
        }
    }

    /// The operand of `target op= value`, with its scalar converted; `None` after an error.
    pub(super) fn update_operand(
        &mut self,
        op: BinaryOp,
        target: ExprId,
        value: ExprId,
        tokens: TokenRange,
    ) -> Option<ExprId> {
        let ty = self.ty(target);
        let (_, converted, result) = self.operands(op, target, value, tokens)?;
        let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let agrees = is_shift || self.program.types.scalar(self.ty(converted)) == self.program.types.scalar(ty);
        if result != ty || !agrees {
            let (left, right) = (self.type_name(ty), self.type_name(self.ty(value)));
            self.report(SemanticError::Operands { op: update_name(op), left, right }, tokens);
            return None;
        }
        Some(converted)
    }
}

fn is_bit_operator(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Mod | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::BitOr)
}

fn update_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "*=",
        BinaryOp::Div => "/=",
        BinaryOp::Mod => "%=",
        BinaryOp::Add => "+=",
        BinaryOp::Sub => "-=",
        BinaryOp::Shl => "<<=",
        BinaryOp::Shr => ">>=",
        BinaryOp::BitAnd => "&=",
        BinaryOp::BitXor => "^=",
        BinaryOp::BitOr => "|=",
        other => other.text(),
    }
}
