//! Statements. Their nesting is bounded by the parser.

use tgsi_ir::shader::ShaderStage;

use super::{Analyzer, Breakable, SemanticError};
use crate::ast::{self, StmtKind as Source};
use crate::extension::Extension;
use crate::program::{Condition, StmtId, StmtKind};
use crate::token::TokenRange;
use crate::types::TypeId;
use crate::version::Since;
use rustc_hash::FxHashSet;

/// Versions with `switch`.
const SWITCH: Since = Since::new(130, 300).or(&[Extension::EXTGpuShader4]);

/// Versions in which results are converted.
const RESULT_CONVERSIONS: Since =
    Since::new(420, 310).or(&[Extension::ARBShadingLanguage420pack, Extension::EXTShaderImplicitConversions]);

impl Analyzer<'_> {
    /// Analyses statements in the current scope.
    pub(super) fn statements(&mut self, list: &[ast::StmtId]) -> Vec<StmtId> {
        let mut stmts = Vec::with_capacity(list.len());
        for &id in list {
            if self.findings.is_full() {
                break;
            }
            self.statement_into(id, &mut stmts);
        }
        stmts
    }

    /// Enters or leaves a side of an `if`.
    fn nest(&mut self, change: i32) {
        if let Some(function) = &mut self.function {
            function.nesting = function.nesting.saturating_add_signed(change);
        }
    }

    /// Analyses a statement that has its own scope.
    fn scoped(&mut self, id: ast::StmtId) -> StmtId {
        let tokens = self.source(id).map_or(TokenRange::default(), |stmt| stmt.tokens);
        self.open_scope();
        self.nest(1);
        let mut stmts = Vec::new();
        self.statement_into(id, &mut stmts);
        self.nest(-1);
        self.close_scope();
        self.one(stmts, tokens)
    }

    /// Analyses the body of a loop whose head opened a scope: a block is part of that scope.
    fn body(&mut self, id: ast::StmtId) -> StmtId {
        let Some(&stmt) = self.source(id) else { return self.one(Vec::new(), TokenRange::default()) };
        let stmts = match stmt.kind {
            Source::Block(list) => {
                let ast = self.ast;
                self.statements(ast.list(list))
            }
            _ => {
                let mut stmts = Vec::new();
                self.statement_into(id, &mut stmts);
                stmts
            }
        };
        self.one(stmts, stmt.tokens)
    }

    fn source(&self, id: ast::StmtId) -> Option<&'_ ast::Stmt> {
        self.ast.stmts.get(id.0 as usize)
    }

    fn open_scope(&mut self) {
        self.scopes.push();
        self.precisions.push();
    }

    fn close_scope(&mut self) {
        self.precisions.pop();
        self.scopes.pop();
    }

    /// One statement from several.
    fn one(&mut self, stmts: Vec<StmtId>, tokens: TokenRange) -> StmtId {
        match stmts.as_slice() {
            &[only] => only,
            _ => self.add_stmt(StmtKind::Block(stmts), tokens),
        }
    }

    /// Analyses a statement, and adds the typed ones.
    fn statement_into(&mut self, id: ast::StmtId, stmts: &mut Vec<StmtId>) {
        let Some(&ast::Stmt { kind, tokens }) = self.source(id) else { return };
        let ast = self.ast;
        let kind = match kind {
            Source::Empty | Source::Error => return,
            Source::Expr(expr) => StmtKind::Expr(self.expression(expr)),
            Source::Declaration(declaration) => return stmts.extend(self.declaration(declaration)),
            Source::Block(list) => {
                self.open_scope();
                let inner = self.statements(ast.list(list));
                self.close_scope();
                StmtKind::Block(inner)
            }
            Source::If { arms, otherwise } => {
                let mut typed = Vec::new();
                for &(condition, body) in ast.list(arms) {
                    let condition = self.expression(condition);
                    let condition = self.condition(condition);
                    typed.push((condition, self.scoped(body)));
                }
                let otherwise = otherwise.map(|body| self.scoped(body));
                StmtKind::If(typed, otherwise)
            }
            Source::While(condition, body) => {
                self.open_scope();
                let condition = self.loop_condition(condition);
                let body = self.loop_body(body, true);
                self.close_scope();
                StmtKind::For { start: None, condition: Some(condition), step: None, body }
            }
            Source::Do(body, condition) => {
                let body = self.loop_body(body, false);
                let condition = self.expression(condition);
                StmtKind::Do(body, self.condition(condition))
            }
            Source::For { start, condition, step, body } => {
                self.open_scope();
                let mut before = Vec::new();
                self.statement_into(start, &mut before);
                let start = (!before.is_empty()).then(|| self.one(before, tokens));
                let condition = condition.map(|condition| self.loop_condition(condition));
                let step = step.map(|step| self.expression(step));
                let body = self.loop_body(body, true);
                self.close_scope();
                StmtKind::For { start, condition, step, body }
            }
            Source::Switch(value, list) => match self.switch(value, list, tokens) {
                Some(kind) => kind,
                None => return,
            },
            Source::Case(value) => match self.case(value, tokens) {
                Some(kind) => kind,
                None => return,
            },
            Source::Break => {
                if self.function.as_ref().is_none_or(|function| function.breakable.is_empty()) {
                    self.report(SemanticError::JumpOutside { jump: "break", place: "a loop or switch" }, tokens);
                    return;
                }
                StmtKind::Break
            }
            Source::Continue => {
                let is_loop = |breakable: &Breakable| matches!(breakable, Breakable::Loop);
                if !self.function.as_ref().is_some_and(|function| function.breakable.iter().any(is_loop)) {
                    self.report(SemanticError::JumpOutside { jump: "continue", place: "a loop" }, tokens);
                    return;
                }
                StmtKind::Continue
            }
            Source::Return(value) => {
                if let Some(function) = &mut self.function {
                    function.has_return = true;
                }
                match self.return_statement(value, tokens) {
                    Some(kind) => kind,
                    None => return,
                }
            }
            Source::Discard | Source::Demote => {
                let is_discard = matches!(kind, Source::Discard);
                let what = if is_discard { "`discard`" } else { "`demote`" };
                if self.program.stage != ShaderStage::Fragment {
                    let (what, stages) = (what.to_owned(), "fragment shaders".to_owned());
                    self.report(SemanticError::WrongStage { what, stages }, tokens);
                    return;
                }
                if let Some(function) = &mut self.function {
                    function.has_effects = true;
                }
                if is_discard { StmtKind::Discard } else { StmtKind::Demote }
            }
        };
        stmts.push(self.add_stmt(kind, tokens));
    }

    fn loop_condition(&mut self, condition: ast::Condition) -> Condition {
        match condition {
            ast::Condition::Expr(expr) => {
                let test = self.expression(expr);
                Condition { declaration: None, test: self.condition(test) }
            }
            ast::Condition::Declaration(declaration) => {
                let stmts = self.declaration(declaration);
                let tokens = TokenRange::default();
                let declared = stmts.last().and_then(|&stmt| match self.program.stmt(stmt).kind {
                    StmtKind::Declare(variable, _) => Some(variable),
                    _ => None,
                });
                let test = match declared {
                    Some(variable) => {
                        let at = self.program.variable(variable).tokens;
                        self.read(variable, at)
                    }
                    None => self.error_expr(tokens),
                };
                Condition { declaration: Some(self.one(stmts, tokens)), test: self.condition(test) }
            }
        }
    }

    /// Analyses the body of a loop. `shares_scope`: its head declares names in the same scope.
    fn loop_body(&mut self, body: ast::StmtId, shares_scope: bool) -> StmtId {
        if let Some(function) = &mut self.function {
            function.breakable.push(Breakable::Loop);
        }
        let body = if shares_scope { self.body(body) } else { self.scoped(body) };
        if let Some(function) = &mut self.function {
            function.breakable.pop();
        }
        body
    }

    fn switch(&mut self, value: ast::ExprId, list: ast::List<ast::StmtId>, tokens: TokenRange) -> Option<StmtKind> {
        self.require(&SWITCH, "`switch`", tokens);
        let value = self.expression(value);
        let ty = self.ty(value);
        if ty != TypeId::INT && ty != TypeId::UINT && !ty.is_error() {
            let found = self.type_name(ty);
            let (what, expected) = ("the value of a `switch`", "int".to_owned());
            let error = SemanticError::WrongType { what, found, expected, hint: None };
            self.report(error, self.tokens_of(value));
        }
        let ast = self.ast;
        let list = ast.list(list);
        let source = |id: &ast::StmtId| ast.stmts.get(id.0 as usize);
        let is_label = |id: &ast::StmtId| matches!(source(id).map(|s| s.kind), Some(Source::Case(_)));
        if let Some(last) = list.last()
            && is_label(last)
            && (self.version().is_es() || self.version().number < 460)
        {
            let tokens = source(last).map_or(tokens, |stmt| stmt.tokens);
            self.report(SemanticError::Label { what: "the last label of a `switch` has no statement" }, tokens);
        }
        if let Some(function) = &mut self.function {
            function.breakable.push(Breakable::Switch { ty, labels: FxHashSet::default(), has_default: false });
        }
        self.open_scope();
        let stmts = self.statements(list);
        self.close_scope();
        if let Some(function) = &mut self.function {
            function.breakable.pop();
        }
        Some(StmtKind::Switch(value, stmts))
    }

    fn case(&mut self, value: Option<ast::ExprId>, tokens: TokenRange) -> Option<StmtKind> {
        let value = value.map(|value| self.expression(value));
        let ty = match self.function.as_ref().and_then(|function| function.breakable.last()) {
            Some(Breakable::Switch { ty, .. }) => *ty,
            _ => {
                let jump = if value.is_some() { "case" } else { "default" };
                self.report(SemanticError::JumpOutside { jump, place: "a `switch`" }, tokens);
                return None;
            }
        };
        let constant = match value {
            None => None,
            Some(value) => {
                let value = self.convert_to(value, ty, "the label");
                if self.ty(value).is_error() {
                    return None;
                }
                let Some(constant) = self.program.expr(value).constant else {
                    self.report(SemanticError::NotConstant { what: "a label" }, tokens);
                    return None;
                };
                Some(constant)
            }
        };
        let bits = constant.and_then(|constant| self.program.constant(constant).bits.first().copied());
        let function = self.function.as_mut();
        let Some(Breakable::Switch { labels, has_default, .. }) = function.and_then(|f| f.breakable.last_mut()) else {
            return None;
        };
        let is_duplicate = match bits {
            Some(bits) => !labels.insert(bits),
            None => std::mem::replace(has_default, true),
        };
        if is_duplicate {
            self.report(SemanticError::Label { what: "this label occurs twice in the `switch`" }, tokens);
        }
        Some(StmtKind::Case(constant))
    }

    fn return_statement(&mut self, value: Option<ast::ExprId>, tokens: TokenRange) -> Option<StmtKind> {
        let value = value.map(|value| self.expression(value));
        let result = self.function.as_ref().map_or(TypeId::ERROR, |function| function.result);
        let at = self.function.as_ref().map(|function| self.program.function(function.id).tokens).unwrap_or_default();
        match value {
            None => {
                if result != TypeId::VOID && !result.is_error() {
                    let error = SemanticError::Return { what: "the function returns a value, this `return` has none" };
                    self.report_with(error, tokens, at, "the function");
                    return None;
                }
                Some(StmtKind::Return(None))
            }
            Some(value) => {
                if let Some(function) = &mut self.function {
                    function.returns = true;
                }
                if self.ty(value).is_error() {
                    return None;
                }
                if result == TypeId::VOID {
                    let error = SemanticError::Return { what: "the function returns no value" };
                    self.report_with(error, tokens, at, "the function");
                    return None;
                }
                let needs_conversion = self.ty(value) != result && !result.is_error();
                let value = self.convert_to(value, result, "the result");
                // The text of versions before 4.20 leaves results out; some compilers convert them nevertheless.
                if needs_conversion && !self.ty(value).is_error() && !self.has(&RESULT_CONVERSIONS) {
                    let (what, version) = ("a conversion of the result", self.version().to_string());
                    self.report(SemanticError::Lenient { what, version }, tokens);
                }
                (!self.ty(value).is_error()).then_some(StmtKind::Return(Some(value)))
            }
        }
    }
}
