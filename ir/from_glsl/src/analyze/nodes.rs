//! Adds nodes to the program: expressions, constants, statements, variables.

use super::{Analyzer, MAX_COMPONENTS, SemanticError};
use crate::program::{
    Constant, ConstantId, Expr, ExprId, ExprKind, ExprList, Stmt, StmtId, StmtKind, Storage, Traits, Variable,
    VariableId,
};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::TypeId;

/// Components of constants that are not counted: those of a matrix.
const MAX_SMALL_CONSTANT: usize = 16;

impl Analyzer<'_> {
    pub(super) fn add_expr(&mut self, expr: Expr) -> ExprId {
        self.program.arenas.expr.push(expr);
        ExprId(self.program.arenas.expr.len() as u32 - 1)
    }

    /// Adds an expression whose effects are those of its operands.
    pub(super) fn add(&mut self, kind: ExprKind, ty: TypeId, tokens: TokenRange, operands: &[ExprId]) -> ExprId {
        let has_effects = operands.iter().any(|&operand| self.program.expr(operand).has_effects);
        self.add_expr(Expr { kind, ty, constant: None, has_effects, tokens })
    }

    /// Adds an expression that may be constant.
    pub(super) fn add_folded(
        &mut self,
        kind: ExprKind,
        ty: TypeId,
        tokens: TokenRange,
        operands: &[ExprId],
        value: Option<Constant>,
    ) -> ExprId {
        let expr = self.add(kind, ty, tokens, operands);
        if let Some(value) = value.filter(|value| self.spend_components(value.bits.len(), tokens)) {
            let constant = self.add_constant(value);
            if let Some(expr) = self.program.arenas.expr.get_mut(expr.0 as usize) {
                expr.constant = Some(constant);
            }
        }
        expr
    }

    /// Whether constants may have these further components. Each use of a part of a large constant is another constant.
    pub(super) fn spend_components(&mut self, count: usize, tokens: TokenRange) -> bool {
        if count <= MAX_SMALL_CONSTANT || self.folded_components > MAX_COMPONENTS {
            return count <= MAX_SMALL_CONSTANT;
        }
        self.folded_components += count as u64;
        let fits = self.folded_components <= MAX_COMPONENTS;
        if !fits {
            let what = "components of constant expressions";
            self.report(SemanticError::Limit { what, limit: MAX_COMPONENTS }, tokens);
        }
        fits
    }

    /// Gives an expression the value of an operand, if that has one.
    pub(super) fn set_constant_of(&mut self, expr: ExprId, operand: ExprId) {
        let constant = self.program.expr(operand).constant;
        if let Some(expr) = self.program.arenas.expr.get_mut(expr.0 as usize) {
            expr.constant = constant;
        }
    }

    /// Adds a constant expression.
    pub(super) fn add_value(&mut self, value: Constant, tokens: TokenRange) -> ExprId {
        let ty = value.ty;
        let constant = Some(self.add_constant(value));
        self.add_expr(Expr { kind: ExprKind::Constant, ty, constant, has_effects: false, tokens })
    }

    pub(super) fn add_constant(&mut self, value: Constant) -> ConstantId {
        let scalar = match value.bits.as_slice() {
            &[bits] => Some((value.ty, bits)),
            _ => None,
        };
        if let Some(&constant) = scalar.as_ref().and_then(|key| self.constants.get(key)) {
            return constant;
        }
        self.program.arenas.constant.push(value);
        let id = ConstantId(self.program.arenas.constant.len() as u32 - 1);
        if let Some(key) = scalar {
            self.constants.insert(key, id);
        }
        id
    }

    /// Adds an expression with an error that was reported.
    pub(super) fn error_expr(&mut self, tokens: TokenRange) -> ExprId {
        self.add(ExprKind::Error, TypeId::ERROR, tokens, &[])
    }

    pub(super) fn add_list(&mut self, exprs: &[ExprId]) -> ExprList {
        let start = self.program.lists.len() as u32;
        self.program.lists.extend_from_slice(exprs);
        ExprList { start, len: exprs.len() as u32 }
    }

    pub(super) fn add_stmt(&mut self, kind: StmtKind, tokens: TokenRange) -> StmtId {
        self.program.arenas.stmt.push(Stmt { kind, tokens });
        StmtId(self.program.arenas.stmt.len() as u32 - 1)
    }

    pub(super) fn add_variable(
        &mut self,
        name: Symbol,
        ty: TypeId,
        storage: Storage,
        tokens: TokenRange,
    ) -> VariableId {
        let variable = Variable {
            name,
            ty,
            storage,
            traits: Traits::default(),
            block: None,
            capture: None,
            is_redeclared: false,
            is_inout: false,
            max_inner_index: None,
            is_per_vertex: false,
            value: None,
            tokens,
            max_index: None,
            is_indexed: false,
            is_packed: false,
            is_read: false,
            is_written: false,
        };
        self.program.arenas.variable.push(variable);
        VariableId(self.program.arenas.variable.len() as u32 - 1)
    }

    pub(super) fn variable_mut(&mut self, id: VariableId) -> Option<&mut Variable> {
        self.program.arenas.variable.get_mut(id.0 as usize)
    }
}
