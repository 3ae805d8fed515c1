//! Indices of arrays, matrices and vectors, and the lengths that follow from them.

use super::blocks::is_memory;
use super::{Analyzer, SemanticError};
use crate::compute::fold;
use crate::extension::Extension;
use crate::program::{ExprId, ExprKind, Program, Storage, VariableId};
use crate::token::TokenRange;
use crate::types::{TypeData, TypeId};
use crate::version::{NEVER, Since};

/// Versions in which sampler arrays take indices that are not constant, besides those before 1.30.
const SAMPLER_INDICES: Since = Since::new(400, 320).or(&[Extension::ARBGpuShader5, Extension::EXTGpuShader5]);

/// Versions in which image arrays take indices that are not constant, in the ES language.
const IMAGE_INDICES: Since = Since::new(NEVER, 320).or(&[Extension::EXTGpuShader5, Extension::OESGpuShader5]);

impl Analyzer<'_> {
    /// An element of an array, a column of a matrix, or a component of a vector.
    pub(super) fn index(&mut self, base: ExprId, index: ExprId, tokens: TokenRange) -> ExprId {
        let (ty, index_ty) = (self.ty(base), self.ty(index));
        if ty.is_error() || index_ty.is_error() {
            return self.error_expr(tokens);
        }
        if index_ty != TypeId::INT && index_ty != TypeId::UINT {
            let found = self.type_name(index_ty);
            let hint = (index_ty == TypeId::FLOAT).then(|| "write `int(...)`".to_owned());
            let error = SemanticError::WrongType { what: "the index", found, expected: "int".to_owned(), hint };
            self.report(error, self.tokens_of(index));
            return self.error_expr(tokens);
        }
        let Some((element, length)) = self.program.types.element(ty) else {
            let ty = self.type_name(ty);
            self.report(SemanticError::NotIndexable { ty }, tokens);
            return self.error_expr(tokens);
        };
        let constant = self.integer_of(index);
        if let Some(index) = constant
            && (index < 0 || length.is_some_and(|length| index >= i64::from(length)))
        {
            let ty = self.type_name(ty);
            let error = SemanticError::IndexRange { index, ty, length: length.unwrap_or(0) };
            self.report(error, tokens);
            return self.error_expr(tokens);
        }
        if length.is_none()
            && !self.is_open(base)
            && let Some(index) = constant
            && let Some(limit) = self.exceeded_length(base, index)
        {
            let ty = self.type_name(ty);
            self.report(SemanticError::IndexRange { index, ty, length: limit }, tokens);
            return self.error_expr(tokens);
        }
        if let ExprKind::Variable(id) = self.program.expr(base).kind
            && matches!(self.program.types.get(ty), TypeData::Array { .. })
        {
            if let Some(uses) = self.whole_uses.get_mut(&id) {
                *uses = uses.saturating_sub(1);
            }
            if let Some(variable) = self.variable_mut(id) {
                match constant.and_then(|index| u32::try_from(index).ok()) {
                    Some(index) => variable.max_index = Some(variable.max_index.map_or(index, |max| max.max(index))),
                    None => variable.is_indexed = true,
                }
            }
        }
        if length.is_none()
            && let Some(index) = constant.and_then(|index| u32::try_from(index).ok())
        {
            self.note_member_index(base, index);
        }
        // Distances in an element for each vertex, and members of arrays of blocks.
        if length.is_none()
            && let Some(id) = self.indexed_variable(base)
            && let Some(index) = constant.and_then(|index| u32::try_from(index).ok())
            && let Some(variable) = self.variable_mut(id)
        {
            variable.max_inner_index = Some(variable.max_inner_index.map_or(index, |max| max.max(index)));
        }
        if constant.is_none() && length.is_none() && !self.is_open(base) {
            self.report(SemanticError::Unsized { what: "an index that is not constant" }, tokens);
            return self.error_expr(tokens);
        }
        let block = self.program.types.block_of(self.program.types.without_arrays(element));
        let is_memory_block = block.is_some_and(|block| is_memory(self.program.block(block).storage));
        if constant.is_none()
            && is_memory_block
            && !self.require(&SAMPLER_INDICES, "an index of blocks that is not constant", tokens)
        {
            return self.error_expr(tokens);
        }
        if constant.is_none() && self.program.types.summary(element).has_opaque {
            let version = self.version();
            let is_allowed = match self.program.types.get(self.program.types.without_arrays(element)) {
                TypeData::AtomicUint | TypeData::Subroutine(_) => true,
                TypeData::Image(_) => {
                    !version.is_es() || self.require(&IMAGE_INDICES, "an index of images that is not constant", tokens)
                }
                _ => {
                    let before = !version.is_es() && version.number < 130 || version.is_es() && version.number < 300;
                    before || self.require(&SAMPLER_INDICES, "an index of samplers that is not constant", tokens)
                }
            };
            if !is_allowed {
                return self.error_expr(tokens);
            }
        }
        let value = match (self.program.expr(base).constant, constant) {
            (Some(value), Some(index)) => {
                let Program { arenas, types, .. } = &mut self.program;
                arenas.constant.get(value.0 as usize).and_then(|value| fold::index(types, value, index as u64))
            }
            _ => None,
        };
        self.add_folded(ExprKind::Index(base, index), element, tokens, &[base, index], value)
    }

    /// Whether an array without length is at the end of a storage block: its length is known at run time.
    pub(super) fn is_open(&self, expr: ExprId) -> bool {
        self.member_of_buffer(expr).is_some_and(|(_, _, is_last)| is_last)
    }

    /// The largest length of an array without length, if an index exceeds it.
    pub(super) fn exceeded_length(&self, base: ExprId, index: i64) -> Option<u32> {
        let largest = match self.program.expr(base).kind {
            ExprKind::Variable(id) => self.max_length(id),
            ExprKind::Index(outer, _) => match self.program.expr(outer).kind {
                ExprKind::Variable(id) => self.max_length(id),
                _ => self.unit.max_registers,
            },
            _ => self.unit.max_registers,
        };
        (index >= i64::from(largest)).then_some(largest)
    }

    /// The largest length that an array without length may get.
    pub(super) fn max_length(&self, id: VariableId) -> u32 {
        match self.program.variable(id).storage {
            Storage::Builtin(builtin) => builtin.max_length(self.unit.version, self.unit.enabled, self.unit.constants),
            _ => None,
        }
        .unwrap_or(self.unit.max_registers)
    }

    /// The variable of which an expression is an element.
    fn indexed_variable(&self, mut expr: ExprId) -> Option<VariableId> {
        let ExprKind::Index(..) = self.program.expr(expr).kind else { return None };
        while let ExprKind::Index(base, _) = self.program.expr(expr).kind {
            expr = base;
        }
        match self.program.expr(expr).kind {
            ExprKind::Variable(id) => Some(id),
            _ => None,
        }
    }
}
