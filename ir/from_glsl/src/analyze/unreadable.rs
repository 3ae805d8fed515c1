//! Reads of `writeonly` memory of storage blocks.
//!
//! An expression names memory before it is known whether it reads, writes or only measures it, so the check follows at
//! the end of the program.

use tgsi_ir::intrinsics::indices::AccessFlags;

use super::{Analyzer, SemanticError};
use crate::builtins::functions::BuiltinOp;
use crate::program::{ExprId, ExprKind, FunctionId, StmtKind};

impl Analyzer<'_> {
    /// Reports reads of memory that is `writeonly`.
    pub(super) fn check_unreadable(&mut self) {
        let members = self.program.arenas.block.iter().flat_map(|block| &block.members);
        let mut members = members.map(|member| member.traits.access);
        if !members.any(|access| access.contains(AccessFlags::NON_READABLE)) {
            return;
        }
        let is_read = self.reads_of_memory();
        for (number, is_read) in is_read.into_iter().enumerate() {
            let expr = ExprId(number as u32);
            if is_read && self.has_access(expr, AccessFlags::NON_READABLE) {
                let error =
                    SemanticError::MemoryQualifier { qualifier: "writeonly", needed: "the expression reads it" };
                self.report(error, self.tokens_of(expr));
            }
        }
    }

    /// By expression: whether it names memory whose value is used.
    fn reads_of_memory(&self) -> Vec<bool> {
        let is_place =
            |kind: ExprKind| matches!(kind, ExprKind::Index(..) | ExprKind::Field(..) | ExprKind::Swizzle(..));
        let exprs = &self.program.arenas.expr;
        let mut is_read: Vec<bool> = exprs.iter().map(|expr| is_place(expr.kind)).collect();
        let mut exclude = |expr: ExprId| {
            if let Some(is_read) = is_read.get_mut(expr.0 as usize) {
                *is_read = false;
            }
        };
        for expr in exprs {
            match expr.kind {
                ExprKind::Index(base, _)
                | ExprKind::Field(base, _)
                | ExprKind::Swizzle(base, _)
                | ExprKind::Length(base)
                | ExprKind::Assign(base, _) => exclude(base),
                ExprKind::Call(function, list) => self.written(function, list).for_each(&mut exclude),
                ExprKind::CallSubroutine(_, function, list) => self.written(function, list).for_each(&mut exclude),
                // Each reads and writes; the call is checked elsewhere.
                ExprKind::Builtin(BuiltinOp::Atomic(_), list) => {
                    self.program.list(list).first().copied().into_iter().for_each(&mut exclude);
                }
                // Results besides the value follow the operands.
                ExprKind::Builtin(op, list) => {
                    let outputs = op.num_outputs();
                    self.program.list(list).iter().rev().take(outputs).copied().for_each(&mut exclude);
                }
                _ => {}
            }
        }
        for stmt in &self.program.arenas.stmt {
            if let StmtKind::Expr(expr) = stmt.kind {
                exclude(expr);
            }
        }
        is_read
    }

    /// The arguments of a call that the function only writes.
    fn written(&self, function: FunctionId, list: crate::program::ExprList) -> impl Iterator<Item = ExprId> + use<'_> {
        let parameters = self.program.function(function).parameters.iter();
        let arguments = self.program.list(list).iter().copied();
        arguments.zip(parameters).filter(|(_, parameter)| !parameter.direction.reads()).map(|(argument, _)| argument)
    }
}
