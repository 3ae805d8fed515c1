//! Functions: heads, parameters and bodies.

use super::declaration::{Declared, Place};
use super::scope::NameKind;
use super::statement::Labels;
use super::{ParseError, Parser, words};
use crate::ast::{Declaration, List, Parameter, Prototype, Qualifier, StmtId, TypeSpec};
use crate::keyword::Keyword;
use crate::token::{Punct, TokenKind, TokenRange};

/// A function with its body.
pub(super) struct Definition {
    pub(super) prototype: Prototype,
    pub(super) body: List<StmtId>,
    pub(super) end: TokenRange,
}

impl Parser<'_> {
    /// Parses a function from its name.
    pub(super) fn function(&mut self, qualifiers: List<Qualifier>, result: TypeSpec, place: Place) -> Declared {
        let tokens = self.here();
        let Some(name) = self.expect_name("the name of a function") else { return Declared::Nothing };
        self.scopes.declare(name, NameKind::Value);
        let scope = self.scopes.open();
        let parameters = self.parameters();
        let prototype = Prototype { qualifiers, result, name, parameters, tokens };
        let declared = if self.failed {
            Declared::Declaration(Declaration::Prototype(prototype))
        } else if place == Place::Global && self.is_body_without_brace() {
            let error = ParseError::Expected { expected: "`;` or `{`", found: self.quote(self.at) };
            self.report(&error, self.here());
            let (body, end) = self.statements_to_brace(Labels::Misplaced, tokens);
            Declared::Function(Definition { prototype, body, end })
        } else if self.is(Punct::LeftBrace) {
            if place == Place::Function {
                self.report(&ParseError::NestedFunction { name: self.quote(tokens.first) }, tokens);
                // Probably the braces of the outer function are not balanced.
                self.is_unbalanced = true;
            }
            let (body, end) = self.braces_of_statements(Labels::Misplaced);
            match place {
                Place::Global => Declared::Function(Definition { prototype, body, end }),
                Place::Function => Declared::Nothing,
            }
        } else {
            self.expect_semicolon(if place == Place::Global { "`;` or `{`" } else { "`;`" });
            Declared::Declaration(Declaration::Prototype(prototype))
        };
        self.scopes.close(scope);
        declared
    }

    /// Whether a statement follows the head of a function, so that probably the `{` is missing.
    fn is_body_without_brace(&self) -> bool {
        let is_statement = match self.keyword(0) {
            Some(word) => words::is_statement(word) && word != Keyword::Else && self.is_statement_start(),
            None => self.is_global_statement(),
        };
        is_statement && self.reported != Some(self.at)
    }

    /// Parses the parameters in their parentheses.
    fn parameters(&mut self) -> List<Parameter> {
        let open = self.here();
        if !self.expect(Punct::LeftParen, "`(`") {
            return List::EMPTY;
        }
        let is_void = self.keyword(0) == Some(Keyword::Void) && self.peek(1) == TokenKind::Punct(Punct::RightParen);
        if is_void {
            self.bump();
        }
        let mut parameters = Vec::new();
        if !self.is(Punct::RightParen) {
            parameters.push(self.parameter());
            while !self.failed && self.eat(Punct::Comma) {
                parameters.push(self.parameter());
            }
        }
        self.close_list(open, "`)` or `,`", false);
        self.ast.add_list(&parameters)
    }

    /// Parses one parameter.
    fn parameter(&mut self) -> Parameter {
        let first = self.at;
        let qualifiers = self.qualifiers();
        let ty = self.declared_type();
        let is_named = matches!(self.peek(0), TokenKind::Identifier | TokenKind::Keyword(_));
        let name = if is_named { self.expect_name("a name") } else { None };
        let dimensions = self.dimensions();
        self.check_array_of_array(&ty, dimensions);
        if let Some(name) = name {
            self.scopes.declare(name, NameKind::Value);
        }
        Parameter { qualifiers, ty, name, dimensions, tokens: self.since(first) }
    }
}
