//! Statements.

use super::declaration::{Declared, Place, Start};
use super::expression::Allow;
use super::{ParseError, Parser, operator, words};
use crate::ast::{ExprId, ExprKind, List, StmtId, StmtKind};
use crate::keyword::Keyword;
use crate::token::{Punct, TokenKind, TokenRange};

/// Whether `case` and `default` are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Labels {
    /// Directly in the braces of a `switch`.
    Allowed,
    /// Elsewhere.
    Misplaced,
}

impl Parser<'_> {
    /// Parses statements in braces. Returns them and the closing brace.
    pub(super) fn braces_of_statements(&mut self, labels: Labels) -> (List<StmtId>, TokenRange) {
        let open = self.here();
        self.bump();
        self.statements_to_brace(labels, open)
    }

    /// Parses statements and the `}` after them. Returns them and the brace.
    pub(super) fn statements_to_brace(&mut self, labels: Labels, open: TokenRange) -> (List<StmtId>, TokenRange) {
        let scope = self.scopes.open();
        let mut statements = Vec::new();
        let mut has_label = false;
        loop {
            if self.eat(Punct::RightBrace) {
                break;
            }
            if self.peek(0) == TokenKind::End {
                self.fail_unclosed(open);
                break;
            }
            if self.findings.is_full() {
                self.abandon();
                break;
            }
            let first = self.at;
            if labels == Labels::Allowed && !has_label {
                has_label = self.is_label();
                if !has_label {
                    self.report(&ParseError::StatementBeforeLabel, self.here());
                    has_label = true;
                }
            }
            statements.push(self.statement(labels));
            if self.failed {
                self.recover();
                if self.at == first {
                    self.bump();
                }
            }
        }
        self.scopes.close(scope);
        (self.ast.add_list(&statements), self.before())
    }

    /// Parses a statement that is a part of another one, with its own scope. Returns after its end even if it has
    /// a syntax error.
    fn part(&mut self) -> StmtId {
        if self.failed {
            return self.ast.add_stmt(StmtKind::Error, self.here());
        }
        let scope = self.scopes.open();
        let statement = self.statement(Labels::Misplaced);
        self.scopes.close(scope);
        if self.failed && !self.is_cut_off {
            self.recover();
        }
        statement
    }

    /// Parses a statement.
    fn statement(&mut self, labels: Labels) -> StmtId {
        let first = self.at;
        self.statement = first;
        if !self.enter() {
            return self.ast.add_stmt(StmtKind::Error, TokenRange::at(first));
        }
        let (kind, tokens) = match (self.peek(0), self.keyword(0)) {
            (TokenKind::Punct(Punct::LeftBrace), _) => {
                (StmtKind::Block(self.braces_of_statements(Labels::Misplaced).0), TokenRange::at(first))
            }
            (TokenKind::Punct(Punct::Semicolon), _) => {
                self.bump();
                (StmtKind::Empty, TokenRange::at(first))
            }
            (_, Some(word)) if words::is_statement(word) => self.keyword_statement(word, labels),
            (TokenKind::Punct(punct), _) if operator::prefix(punct).is_none() && punct != Punct::LeftParen => {
                if matches!(punct, Punct::RightParen | Punct::RightBracket) {
                    self.fail(&ParseError::Unopened { close: self.quote(first) }, self.here());
                } else {
                    self.fail_expected("a statement");
                }
                (StmtKind::Error, self.here())
            }
            // `case` is not a reserved word where `switch` is already one.
            _ if labels == Labels::Allowed && self.is_label() => self.label(labels),
            _ => {
                let kind = self.simple_statement();
                (kind, self.since(first))
            }
        };
        self.leave();
        self.ast.add_stmt(kind, tokens)
    }

    /// Whether `case` or `default` is next, also in versions in which they are not keywords.
    fn is_label(&self) -> bool {
        let word = self.keyword(0).or(self.identifier(0).and_then(|name| self.later_keyword(name)));
        matches!(word, Some(Keyword::Case | Keyword::Default))
    }

    /// Parses a declaration or an expression, with its `;`.
    fn simple_statement(&mut self) -> StmtKind {
        let exprs = self.ast.exprs.len();
        let declared = match self.start() {
            Start::Expression => {
                let expr = self.expression(Allow::Comma);
                return self.expression_statement(expr);
            }
            Start::Type => {
                let ty = self.type_spec();
                if !self.failed && self.is(Punct::LeftParen) {
                    let expr = self.expression_with_type(ty, exprs);
                    return self.expression_statement(expr);
                }
                self.declaration_of_type(List::EMPTY, ty, Place::Function)
            }
            Start::Declaration => self.declaration(Place::Function),
        };
        match declared {
            Declared::Declaration(declaration) => StmtKind::Declaration(self.ast.add_declaration(declaration)),
            Declared::Function(_) | Declared::Nothing => StmtKind::Error,
        }
    }

    /// Ends the statement of an expression.
    fn expression_statement(&mut self, expr: ExprId) -> StmtKind {
        self.expect_semicolon("`;` or an operator");
        match self.ast.exprs.get(expr.0 as usize).map(|expr| expr.kind) {
            Some(ExprKind::Error) | None => StmtKind::Error,
            Some(_) => StmtKind::Expr(expr),
        }
    }

    /// Parses a statement that begins with a keyword. Returns its kind and the tokens of its head.
    fn keyword_statement(&mut self, word: Keyword, labels: Labels) -> (StmtKind, TokenRange) {
        let first = self.at;
        let kind = match word {
            Keyword::If => return self.if_statement(),
            Keyword::While => return self.while_statement(),
            Keyword::Do => return (self.do_statement(), TokenRange::at(first)),
            Keyword::For => return self.for_statement(),
            Keyword::Switch => return self.switch_statement(),
            Keyword::Case | Keyword::Default => return self.label(labels),
            Keyword::Break => self.jump(StmtKind::Break),
            Keyword::Continue => self.jump(StmtKind::Continue),
            Keyword::Discard => self.jump(StmtKind::Discard),
            Keyword::Demote => self.jump(StmtKind::Demote),
            Keyword::Return => {
                self.bump();
                let value = (!self.is(Punct::Semicolon)).then(|| self.expression(Allow::Comma));
                self.expect_semicolon("`;` or an operator");
                StmtKind::Return(value)
            }
            _ => {
                self.fail(&ParseError::LonelyElse, self.here());
                self.bump();
                StmtKind::Error
            }
        };
        (kind, self.since(first))
    }

    fn jump(&mut self, kind: StmtKind) -> StmtKind {
        self.bump();
        self.expect_semicolon("`;`");
        kind
    }

    /// Parses an expression in parentheses.
    fn parenthesized(&mut self) -> ExprId {
        let open = self.here();
        self.expect(Punct::LeftParen, "`(`");
        let expr = self.expression(Allow::Comma);
        self.close_list(open, "`)` or an operator", false);
        expr
    }

    /// Parses `if`, each `else if` and `else`.
    fn if_statement(&mut self) -> (StmtKind, TokenRange) {
        let first = self.at;
        let mut head = TokenRange::at(first);
        let mut arms = Vec::new();
        let otherwise = loop {
            self.statement = self.at;
            self.bump();
            let condition = self.parenthesized();
            if arms.is_empty() {
                head = self.since(first);
            }
            arms.push((condition, self.part()));
            if self.failed || self.keyword(0) != Some(Keyword::Else) {
                break None;
            }
            self.bump();
            if self.keyword(0) != Some(Keyword::If) {
                break Some(self.part());
            }
        };
        (StmtKind::If { arms: self.ast.add_list(&arms), otherwise }, head)
    }

    fn while_statement(&mut self) -> (StmtKind, TokenRange) {
        let first = self.at;
        self.bump();
        let open = self.here();
        let scope = self.scopes.open();
        self.expect(Punct::LeftParen, "`(`");
        let condition = self.condition();
        self.close_list(open, "`)` or an operator", false);
        let head = self.since(first);
        let body = self.part();
        self.scopes.close(scope);
        (StmtKind::While(condition, body), head)
    }

    fn do_statement(&mut self) -> StmtKind {
        self.bump();
        let body = self.part();
        if !self.failed && self.keyword(0) != Some(Keyword::While) {
            self.fail_expected("`while`");
        }
        if self.failed {
            return StmtKind::Error;
        }
        self.statement = self.at;
        self.bump();
        let condition = self.parenthesized();
        self.expect_semicolon("`;`");
        StmtKind::Do(body, condition)
    }

    fn for_statement(&mut self) -> (StmtKind, TokenRange) {
        let first = self.at;
        self.bump();
        let open = self.here();
        let scope = self.scopes.open();
        self.expect(Punct::LeftParen, "`(`");
        let start = self.for_start();
        let is_empty = |parser: &Self, end| parser.failed || parser.is(end);
        let condition = if is_empty(self, Punct::Semicolon) { None } else { Some(self.condition()) };
        self.expect(Punct::Semicolon, "`;` or an operator");
        let step = if is_empty(self, Punct::RightParen) { None } else { Some(self.expression(Allow::Comma)) };
        self.close_list(open, "`)` or an operator", true);
        let head = self.since(first);
        let body = self.part();
        self.scopes.close(scope);
        (StmtKind::For { start, condition, step, body }, head)
    }

    /// Parses the first part of a `for`, with its `;`.
    fn for_start(&mut self) -> StmtId {
        let first = self.at;
        let kind = if self.failed {
            StmtKind::Error
        } else if self.eat(Punct::Semicolon) {
            StmtKind::Empty
        } else {
            self.simple_statement()
        };
        let tokens = self.since(first);
        self.ast.add_stmt(kind, tokens)
    }

    fn switch_statement(&mut self) -> (StmtKind, TokenRange) {
        let first = self.at;
        self.bump();
        let value = self.parenthesized();
        let head = self.since(first);
        if !self.failed && !self.is(Punct::LeftBrace) {
            self.fail_expected("`{`");
            self.recover();
        }
        if self.failed || !self.is(Punct::LeftBrace) {
            return (StmtKind::Error, head);
        }
        let (statements, _) = self.braces_of_statements(Labels::Allowed);
        (StmtKind::Switch(value, statements), head)
    }

    /// Parses `case value:` or `default:`.
    fn label(&mut self, labels: Labels) -> (StmtKind, TokenRange) {
        let first = self.at;
        let is_case = self.word(0) == Some(Keyword::Case.into());
        self.bump();
        let value = is_case.then(|| self.expression(Allow::Comma));
        self.expect(Punct::Colon, "`:`");
        let tokens = self.since(first);
        if labels == Labels::Misplaced && !self.failed {
            self.report(&ParseError::MisplacedLabel, tokens);
            return (StmtKind::Error, tokens);
        }
        (StmtKind::Case(value), tokens)
    }
}
