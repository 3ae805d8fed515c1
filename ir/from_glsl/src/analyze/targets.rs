//! Targets: expressions that can be written.

use super::{Analyzer, SemanticError};
use crate::ast;
use crate::builtins::variables::Role;
use crate::program::{ExprId, ExprKind, Storage, VariableId};
use crate::token::TokenRange;
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::shader::ShaderStage;

impl Analyzer<'_> {
    /// Checks that an expression can be written, and records the write. `also_reads` tells whether the old value is
    /// needed. Returns whether it can be written.
    pub(super) fn target(&mut self, expr: ExprId, also_reads: bool) -> bool {
        if self.ty(expr).is_error() {
            return false;
        }
        let (what, at) = match self.target_variable(expr) {
            Ok(variable) => match self.read_only(variable) {
                None if self.has_access(expr, AccessFlags::NON_WRITEABLE) => {
                    ("a `readonly` member of a block".to_owned(), self.program.variable(variable).tokens)
                }
                None => {
                    self.record_write(variable, expr, also_reads);
                    return self.check_own_vertex(variable, expr);
                }
                Some(what) => (what, self.program.variable(variable).tokens),
            },
            Err(what) => (what.to_owned(), TokenRange::default()),
        };
        let tokens = self.tokens_of(expr);
        self.report_with(SemanticError::NotWritable { what }, tokens, at, "its declaration");
        false
    }

    /// The variable of a target, or the kind of expression that is not a target.
    fn target_variable(&self, mut expr: ExprId) -> Result<VariableId, &'static str> {
        loop {
            expr = match self.program.expr(expr).kind {
                ExprKind::Variable(variable) => return Ok(variable),
                ExprKind::Index(base, _) | ExprKind::Field(base, _) => base,
                ExprKind::Swizzle(base, lanes) => {
                    let count = self.program.types.as_vector(self.ty(expr)).map_or(1, |(_, count)| usize::from(count));
                    let used = lanes.iter().take(count);
                    let mask = used.clone().fold(0u8, |mask, &lane| mask | 1 << (lane & 7));
                    if mask.count_ones() as usize != used.len() {
                        return Err("a swizzle that repeats a component");
                    }
                    base
                }
                ExprKind::Select(..) => return Err("the result of `?:`"),
                ExprKind::Call(..) | ExprKind::CallSubroutine(..) | ExprKind::Builtin(..) => {
                    return Err("the result of a function");
                }
                ExprKind::Constant | ExprKind::Construct(_) => return Err("a constant or constructor"),
                ExprKind::Assign(..) | ExprKind::Update(..) | ExprKind::Step { .. } => {
                    return Err("the result of an assignment");
                }
                _ => return Err("the result of an operator"),
            };
        }
    }

    /// The reason why a variable cannot be written.
    fn read_only(&self, id: VariableId) -> Option<String> {
        let variable = self.program.variable(id);
        let name = self.interner.spelling(variable.name);
        let what = match variable.storage {
            Storage::Local | Storage::Global | Storage::Output | Storage::Buffer | Storage::Shared => return None,
            Storage::Const => "a constant",
            Storage::Uniform => "a uniform",
            Storage::Input if self.program.stage == ShaderStage::Vertex => "a vertex attribute",
            Storage::Input => "an input of this stage",
            Storage::Builtin(builtin) => match builtin.role(self.unit.version) {
                Role::Output(_) | Role::Private => return None,
                Role::State => "state of the pipeline",
                Role::Framebuffer => "the framebuffer",
                Role::Constant(_) => "a constant",
                _ => "an input of this stage",
            },
        };
        Some(format!("`{name}`, {what},"))
    }

    fn record_write(&mut self, id: VariableId, expr: ExprId, also_reads: bool) {
        // The base name was recorded as read; a write of the whole variable needs no old value, and one of a part
        // leaves the rest as it was.
        if !also_reads
            && let Some(at) = self
                .reads
                .iter()
                .rposition(|&(variable, tokens)| variable == id && tokens.first >= self.program.expr(expr).tokens.first)
        {
            self.reads.swap_remove(at);
        }
        let is_outside = !matches!(self.program.variable(id).storage, Storage::Local);
        if let Some(function) = &mut self.function {
            function.has_effects |= is_outside;
        }
        if let Some(variable) = self.variable_mut(id) {
            variable.is_written = true;
        }
    }

    /// Types an assignment, `++` or `--`.
    pub(super) fn assignment(
        &mut self,
        op: Option<ast::BinaryOp>,
        target: ExprId,
        value: ExprId,
        tokens: TokenRange,
    ) -> ExprId {
        let ty = self.ty(target);
        let is_target = self.target(target, op.is_some());
        if ty.is_error() || self.ty(value).is_error() || !is_target {
            return self.error_expr(tokens);
        }
        let kind = match op {
            None => {
                if !self.check_copy(ty, "assignment", tokens) || !self.count_copy(ty, tokens) {
                    return self.error_expr(tokens);
                }
                let value = self.convert_to(value, ty, "the value");
                if self.ty(value).is_error() {
                    return self.error_expr(tokens);
                }
                ExprKind::Assign(target, value)
            }
            Some(op) => {
                let Some(value) = self.update_operand(op, target, value, tokens) else {
                    return self.error_expr(tokens);
                };
                ExprKind::Update(op, target, value)
            }
        };
        let expr = self.add(kind, ty, tokens, &[]);
        self.set_effects(expr);
        expr
    }

    pub(super) fn set_effects(&mut self, expr: ExprId) {
        if let Some(expr) = self.program.arenas.expr.get_mut(expr.0 as usize) {
            expr.has_effects = true;
        }
    }
}
