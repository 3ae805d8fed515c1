//! Names, literals and the types of constructors.

use super::scope::NameKind;
use super::{ParseError, Parser, words};
use crate::ast::{ExprKind, TypeSpec};
use crate::keyword::Keyword;
use crate::preprocess::{Literal, Number, parse_number};
use crate::token::{Punct, TokenKind};

impl Parser<'_> {
    /// Parses the type of a constructor, if the next tokens are one.
    pub(super) fn constructor_type(&mut self) -> Option<TypeSpec> {
        let follows = self.peek(1);
        let is_called = follows == TokenKind::Punct(Punct::LeftParen);
        let has_dimensions = follows == TokenKind::Punct(Punct::LeftBracket);
        let is_type = match (self.peek(0), self.keyword(0)) {
            (_, Some(Keyword::Unsigned)) => self.keyword(1) == Some(Keyword::Int),
            (TokenKind::Keyword(word), _) => words::is_type(word) && (is_called || has_dimensions),
            // A reserved word in place of a type: its call means nothing.
            (_, Some(word)) => is_called || has_dimensions && words::is_type(word),
            (_, None) => {
                let name = self.identifier(0)?;
                let kind = self.scopes.get(name);
                let is_later = kind.is_none() && name.keyword().is_some_and(words::is_type);
                has_dimensions && kind == Some(NameKind::Type) || is_later && (is_called || has_dimensions)
            }
        };
        is_type.then(|| self.type_spec())
    }

    /// Parses a name or literal, and makes it the operand.
    pub(super) fn leaf(&mut self) {
        let here = self.here();
        let kind = match self.peek(0) {
            TokenKind::Identifier => match (self.keyword(0), self.word(0)) {
                // A reserved word that was reported.
                (Some(_), _) | (_, None) => ExprKind::Error,
                (None, Some(name)) => ExprKind::Name(name),
            },
            TokenKind::Keyword(Keyword::True) => ExprKind::Bool(true),
            TokenKind::Keyword(Keyword::False) => ExprKind::Bool(false),
            TokenKind::Number => self.number(),
            TokenKind::Keyword(_) | TokenKind::Punct(_) | TokenKind::End => {
                let error = ParseError::ExpectedExpression { found: self.quote(self.at) };
                self.fail(&error, here);
                return;
            }
        };
        self.bump();
        self.push_node(kind, here);
    }

    /// The literal of the next token; an error node for one without value, which is reported.
    fn number(&mut self) -> ExprKind {
        let here = self.here();
        let Some(token) = self.tokens.get(self.at) else { return ExprKind::Error };
        let literal = parse_number(self.interner.spelling(token.symbol), self.version, self.extensions);
        let mut add = |finding| self.findings.add_at(&finding, here, self.tokens, self.interner).is_some();
        match literal {
            Ok(Literal { number, warning }) => {
                warning.map(&mut add);
                match number {
                    Number::Int { bits, unsigned } => ExprKind::Int { bits, unsigned },
                    Number::Int64 { bits, unsigned } => ExprKind::Int64 { bits, unsigned },
                    Number::Float(value) => ExprKind::Float(value),
                    Number::Double(value) => ExprKind::Double(value),
                }
            }
            Err(error) => {
                add(error);
                self.bad_number = Some(self.at);
                ExprKind::Error
            }
        }
    }
}
