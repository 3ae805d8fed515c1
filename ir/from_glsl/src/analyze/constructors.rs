//! Constructors.

use super::{Analyzer, SemanticError};
use crate::ast;
use crate::compute::fold;
use crate::program::{ExprId, ExprKind};
use crate::token::TokenRange;
use crate::types::{TypeData, TypeId};

impl Analyzer<'_> {
    /// The type of `type(...)`, whose dimensions are typed already.
    pub(super) fn constructed_type(&mut self, spec: &ast::TypeSpec) -> TypeId {
        let before = std::mem::replace(&mut self.takes_lengths, true);
        let ty = self.type_spec(spec);
        self.takes_lengths = before;
        ty
    }

    /// A type whose open dimensions have the lengths of those of a value; the type itself if they do not match.
    pub(super) fn fitted_type(&mut self, ty: TypeId, value: TypeId) -> TypeId {
        let mut lengths = Vec::new();
        let (mut inner, mut of_value) = (ty, value);
        while let (TypeData::Array { element, length }, TypeData::Array { element: other, length: known }) =
            (self.program.types.get(inner), self.program.types.get(of_value))
        {
            lengths.push(length.or(known));
            (inner, of_value) = (element, other);
        }
        if inner != of_value {
            return ty;
        }
        for length in lengths.into_iter().rev() {
            inner = self.program.types.array(inner, length);
        }
        inner
    }

    /// Types a constructor.
    pub(super) fn constructor(&mut self, ty: TypeId, arguments: &[ExprId], tokens: TokenRange) -> ExprId {
        if ty.is_error() || arguments.iter().any(|&argument| self.ty(argument).is_error()) {
            return self.error_expr(tokens);
        }
        match self.program.types.get(ty) {
            TypeData::Vector { .. } | TypeData::Matrix { .. } => self.vector_constructor(ty, arguments, tokens),
            TypeData::Struct(_) => {
                let needed: Vec<TypeId> = self.program.types.fields(ty).iter().map(|field| field.ty).collect();
                self.aggregate_constructor(ty, &needed, arguments, tokens)
            }
            TypeData::Array { element, length } => {
                let length = length.unwrap_or(arguments.len() as u32);
                if length as usize != arguments.len() || length == 0 {
                    let (ty, found) = (self.type_name(ty), arguments.len() as u32);
                    self.report(SemanticError::ArgumentCount { ty, needed: length.max(1), found }, tokens);
                    return self.error_expr(tokens);
                }
                // The first argument has the lengths of open inner dimensions.
                let of_first = arguments.first().map_or(element, |&argument| self.ty(argument));
                let element = self.fitted_type(element, of_first);
                let ty = self.program.types.array(element, Some(length));
                let needed = vec![element; arguments.len()];
                self.aggregate_constructor(ty, &needed, arguments, tokens)
            }
            TypeData::Error
            | TypeData::Void
            | TypeData::Sampler(_)
            | TypeData::Image(_)
            | TypeData::AtomicUint
            | TypeData::Subroutine(_) => {
                let ty = self.type_name(ty);
                self.report(SemanticError::NoConstructor { ty }, tokens);
                self.error_expr(tokens)
            }
        }
    }

    fn aggregate_constructor(
        &mut self,
        ty: TypeId,
        needed: &[TypeId],
        arguments: &[ExprId],
        tokens: TokenRange,
    ) -> ExprId {
        if needed.len() != arguments.len() {
            let (ty, found) = (self.type_name(ty), arguments.len() as u32);
            self.report(SemanticError::ArgumentCount { ty, needed: needed.len() as u32, found }, tokens);
            return self.error_expr(tokens);
        }
        if self.program.types.summary(ty).has_opaque {
            let ty = self.type_name(ty);
            self.report(SemanticError::NoConstructor { ty }, tokens);
            return self.error_expr(tokens);
        }
        let converted: Vec<ExprId> = arguments
            .iter()
            .zip(needed)
            .map(|(&argument, &needed)| self.convert_to(argument, needed, "the argument"))
            .collect();
        if converted.iter().any(|&argument| self.ty(argument).is_error()) {
            return self.error_expr(tokens);
        }
        self.construct(ty, &converted, tokens)
    }

    /// A scalar, vector or matrix.
    fn vector_constructor(&mut self, ty: TypeId, arguments: &[ExprId], tokens: TokenRange) -> ExprId {
        let types = &self.program.types;
        let Some(scalar) = types.scalar(ty) else { return self.error_expr(tokens) };
        let needed = types.summary(ty).components;
        let is_matrix = types.as_matrix(ty).is_some();
        let mut found = 0u32;
        for &argument in arguments {
            let of_argument = self.ty(argument);
            let at = self.tokens_of(argument);
            if self.program.types.scalar(of_argument).is_none() {
                let error = SemanticError::TypeNotAllowed {
                    what: "an argument of a constructor",
                    ty: self.type_name(of_argument),
                    hint: None,
                };
                self.report(error, at);
                return self.error_expr(tokens);
            }
            if is_matrix && self.program.types.as_matrix(of_argument).is_some() {
                let since = crate::version::Since::new(120, 100);
                if !self.require(&since, "a matrix from a matrix", at) {
                    return self.error_expr(tokens);
                }
                if arguments.len() > 1 {
                    let ty = self.type_name(ty);
                    self.report(SemanticError::ArgumentCount { ty, needed: 1, found: arguments.len() as u32 }, tokens);
                    return self.error_expr(tokens);
                }
                found = needed;
                continue;
            }
            if found >= needed {
                let ty = self.type_name(ty);
                self.report(SemanticError::UnusedArgument { ty }, at);
                return self.error_expr(tokens);
            }
            found += self.program.types.summary(of_argument).components;
        }
        let is_single_scalar = arguments.len() == 1 && found == 1;
        if found < needed && !is_single_scalar {
            let ty = self.type_name(ty);
            self.report(SemanticError::TooFewComponents { ty, needed, found }, tokens);
            return self.error_expr(tokens);
        }
        let converted: Vec<ExprId> = arguments
            .iter()
            .map(|&argument| {
                let of_argument = self.ty(argument);
                let to = self.program.types.with_scalar(of_argument, scalar);
                self.convert_components(argument, to)
            })
            .collect();
        match converted.as_slice() {
            // Only a conversion, and not the argument itself, which may be a target.
            &[only] if self.ty(only) == ty && !arguments.contains(&only) => only,
            _ => self.construct(ty, &converted, tokens),
        }
    }

    /// A value from operands of the right types.
    pub(super) fn construct(&mut self, ty: TypeId, operands: &[ExprId], tokens: TokenRange) -> ExprId {
        if !self.check_size(ty, tokens) {
            return self.error_expr(tokens);
        }
        let constants: Option<Vec<_>> = operands.iter().map(|&operand| self.constant_of(operand)).collect();
        let value = constants.and_then(|constants| fold::construct(&self.program.types, ty, &constants));
        let list = self.add_list(operands);
        self.add_folded(ExprKind::Construct(list), ty, tokens, operands, value)
    }
}
