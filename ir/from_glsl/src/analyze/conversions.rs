//! Implicit conversions.

use super::{Analyzer, SemanticError};
use crate::compute::fold;
use crate::extension::Extension;
use crate::program::{ExprId, ExprKind};
use crate::types::{Scalar, TypeData, TypeId};

impl Analyzer<'_> {
    /// Whether values of a scalar type become another one where needed.
    pub(super) fn converts_scalar(&self, from: Scalar, to: Scalar) -> bool {
        if from == to {
            return true;
        }
        let version = self.version();
        if version.is_es() {
            return self.unit.enabled.contains(Extension::EXTShaderImplicitConversions)
                && matches!((from, to), (Scalar::Int, Scalar::Uint | Scalar::Float) | (Scalar::Uint, Scalar::Float));
        }
        let shader4 = self.unit.enabled.contains(Extension::EXTGpuShader4);
        match (from, to) {
            (Scalar::Int, Scalar::Float) => version.number >= 120,
            (Scalar::Uint, Scalar::Float) => version.number >= 130 || shader4,
            (Scalar::Int, Scalar::Uint) => {
                version.number >= 400
                    || [Extension::ARBGpuShader5, Extension::MESAShaderIntegerFunctions]
                        .iter()
                        .any(|&extension| self.unit.enabled.contains(extension))
            }
            (Scalar::Int | Scalar::Uint | Scalar::Float, Scalar::Double) => {
                version.number >= 400 || self.unit.enabled.contains(Extension::ARBGpuShaderFp64)
            }
            (Scalar::Int, Scalar::Int64)
            | (Scalar::Int | Scalar::Uint | Scalar::Int64, Scalar::Uint64)
            | (Scalar::Int64 | Scalar::Uint64, Scalar::Double) => true,
            _ => false,
        }
    }

    /// Whether values of a type become another one where needed.
    pub(super) fn converts(&self, from: TypeId, to: TypeId) -> bool {
        if from == to || from.is_error() || to.is_error() {
            return true;
        }
        let types = &self.program.types;
        let (a, b) = match (types.get(from), types.get(to)) {
            (TypeData::Vector { scalar: a, components: n }, TypeData::Vector { scalar: b, components: m })
                if n == m =>
            {
                (a, b)
            }
            (
                TypeData::Matrix { scalar: a, columns: n, rows: i },
                TypeData::Matrix { scalar: b, columns: m, rows: j },
            ) if (n, i) == (m, j) => (a, b),
            _ => return false,
        };
        self.converts_scalar(a, b)
    }

    /// The expression with its type converted; `None` if there is no such conversion.
    pub(super) fn converted(&mut self, expr: ExprId, to: TypeId) -> Option<ExprId> {
        let from = self.ty(expr);
        if from == to || from.is_error() || to.is_error() {
            return Some(expr);
        }
        self.converts(from, to).then(|| self.convert_components(expr, to))
    }

    /// The expression with its components converted to the scalar of a type, as constructors do.
    pub(super) fn convert_components(&mut self, expr: ExprId, to: TypeId) -> ExprId {
        if self.ty(expr) == to {
            return expr;
        }
        let value = self.constant_of(expr).and_then(|value| fold::convert(&self.program.types, to, value));
        self.add_folded(ExprKind::Convert(expr), to, self.tokens_of(expr), &[expr], value)
    }

    /// The expression converted to the type that something needs; reports an error if it does not convert.
    pub(super) fn convert_to(&mut self, expr: ExprId, to: TypeId, what: &'static str) -> ExprId {
        if let Some(converted) = self.converted(expr, to) {
            return converted;
        }
        let tokens = self.tokens_of(expr);
        let (found, expected) = (self.type_name(self.ty(expr)), self.type_name(to));
        let hint = self.conversion_hint(self.ty(expr), to);
        self.report(SemanticError::WrongType { what, found, expected, hint }, tokens);
        self.error_expr(tokens)
    }

    /// The remedy for a missing conversion.
    fn conversion_hint(&self, from: TypeId, to: TypeId) -> Option<String> {
        let (from, to_scalar) = (self.program.types.as_vector(from)?, self.program.types.as_vector(to)?);
        if from.1 != to_scalar.1 || from.0 == to_scalar.0 {
            return None;
        }
        let constructor = format!("write `{}(...)`", self.type_name(to));
        if from.0 == Scalar::Int && to_scalar.0 == Scalar::Float && self.version().number < 120 {
            return Some(format!("{constructor}; integers convert to floats from #version 120 on"));
        }
        Some(constructor)
    }

    /// Both expressions with one scalar type, if one converts to that of the other.
    pub(super) fn unify_scalars(&mut self, left: ExprId, right: ExprId) -> Option<(ExprId, ExprId)> {
        let (a, b) = (self.program.types.scalar(self.ty(left))?, self.program.types.scalar(self.ty(right))?);
        if a == b {
            Some((left, right))
        } else if self.converts_scalar(a, b) {
            let ty = self.ty(left);
            let to = self.program.types.with_scalar(ty, b);
            Some((self.convert_components(left, to), right))
        } else if self.converts_scalar(b, a) {
            let ty = self.ty(right);
            let to = self.program.types.with_scalar(ty, a);
            Some((left, self.convert_components(right, to)))
        } else {
            None
        }
    }
}
