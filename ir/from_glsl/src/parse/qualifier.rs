//! Qualifiers of declarations, parameters and members.

use super::expression::Allow;
use super::{Parser, words};
use crate::ast::{LayoutItem, List, Qualifier, QualifierKind};
use crate::keyword::Keyword;
use crate::symbol::Symbol;
use crate::token::{Punct, TokenKind, TokenRange};

impl Parser<'_> {
    /// Parses qualifiers, of which there may be none.
    pub(super) fn qualifiers(&mut self) -> List<Qualifier> {
        let mut qualifiers = Vec::new();
        while !self.failed {
            let first = self.at;
            let keyword = match self.keyword(0) {
                Some(keyword) if words::is_qualifier(keyword) => keyword,
                Some(_) if self.is_reserved_prefix() => {
                    self.bump();
                    continue;
                }
                Some(_) => break,
                None => match self.later_qualifier() {
                    Some(keyword) => {
                        self.need_keyword(keyword, self.here());
                        keyword
                    }
                    None => break,
                },
            };
            self.bump();
            let is_list = self.is(Punct::LeftParen);
            let kind = match keyword {
                Keyword::Layout => QualifierKind::Layout(self.layout()),
                Keyword::Subroutine if is_list => QualifierKind::Subroutine(self.subroutine_types()),
                _ => QualifierKind::Keyword(keyword),
            };
            qualifiers.push(Qualifier { kind, tokens: self.since(first) });
        }
        self.ast.add_list(&qualifiers)
    }

    /// Whether the next token is a reserved word without meaning in any version before the rest of a declaration, such
    /// as `static` or `inline`.
    pub(super) fn is_reserved_prefix(&self) -> bool {
        let is_reserved = self.peek(0) == TokenKind::Identifier
            && self.keyword(0).is_some_and(|word| !words::is_declaration(word) && !words::is_statement(word));
        let is_followed = match self.peek(1) {
            TokenKind::Keyword(_) => self.keyword(1).is_some_and(words::is_declaration),
            TokenKind::Identifier => self.identifier(2).is_some(),
            TokenKind::Number | TokenKind::Punct(_) | TokenKind::End => false,
        };
        is_reserved && is_followed
    }

    /// The next token if it is a qualifier in a later version only and can be nothing else here.
    pub(super) fn later_qualifier(&self) -> Option<Keyword> {
        let keyword = self.identifier(0).and_then(|name| self.later_keyword(name))?;
        let is_qualifier = match self.peek(1) {
            TokenKind::Keyword(_) => self.keyword(1).is_some_and(words::is_declaration),
            // A name after the word may be that of a variable whose type is the word.
            TokenKind::Identifier => {
                let has_type = matches!(self.peek(2), TokenKind::Identifier | TokenKind::Punct(Punct::LeftBrace));
                has_type || matches!(keyword, Keyword::Invariant | Keyword::Precise)
            }
            TokenKind::Punct(Punct::LeftParen) => matches!(keyword, Keyword::Layout | Keyword::Subroutine),
            TokenKind::Number | TokenKind::Punct(_) | TokenKind::End => false,
        };
        (is_qualifier && words::is_qualifier(keyword)).then_some(keyword)
    }

    /// Parses `(item, ...)` of a layout.
    fn layout(&mut self) -> List<LayoutItem> {
        let open = self.here();
        if !self.expect(Punct::LeftParen, "`(`") {
            return List::EMPTY;
        }
        let mut items = Vec::new();
        while !self.failed {
            let first = self.at;
            let name = match self.peek(0) {
                TokenKind::Keyword(Keyword::Shared) => {
                    self.bump();
                    Keyword::Shared.into()
                }
                _ => match self.expect_name("the name of a layout qualifier") {
                    Some(name) => name,
                    None => break,
                },
            };
            let value = self.eat(Punct::Assign).then(|| self.expression(Allow::Assignment));
            items.push(LayoutItem { name, value, tokens: self.since(first) });
            if self.failed || !self.eat(Punct::Comma) {
                break;
            }
        }
        self.close_list(open, "`)` or `,`", false);
        self.ast.add_list(&items)
    }

    /// Parses `(type, ...)` of a subroutine.
    fn subroutine_types(&mut self) -> List<Symbol> {
        let open = self.here();
        self.bump();
        let mut names = Vec::new();
        while let Some(name) = self.expect_name("the name of a subroutine type") {
            names.push(name);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.close_list(open, "`)` or `,`", false);
        self.ast.add_list(&names)
    }

    /// The first of some keywords among qualifiers, and its place.
    pub(super) fn find_qualifier(&self, list: List<Qualifier>, words: &[Keyword]) -> Option<(Keyword, TokenRange)> {
        self.ast.list(list).iter().find_map(|qualifier| match qualifier.kind {
            QualifierKind::Keyword(word) if words.contains(&word) => Some((word, qualifier.tokens)),
            _ => None,
        })
    }
}
