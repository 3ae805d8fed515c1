//! The parser: tokens to a syntax tree.
//!
//! Statements and declarations are parsed by recursive descent, expressions with an explicit stack of operators. Each
//! level of nesting counts towards one limit, so the depth of recursion and of the tree is bounded.
//!
//! # Invariants
//!
//! - After a syntax error, `failed` is set and nothing is reported until the parser has found the end of the statement,
//!   member, parameter list or condition. Functions that parse a part return the result so far; loops end when `failed`
//!   is set.
//! - Only a syntax error sets `failed`. Syntax that the version lacks is reported and parsed.
//! - Words that are reserved in the version were reported by the lexer: the parser treats them as the keywords of other
//!   versions, and reports no syntax error about a statement that has one.
//! - The tree has all declarations whose names were read, and nodes of kind [`Error`](crate::ast::ExprKind::Error) for
//!   the rest. Expressions with an error are replaced as a whole.

mod declaration;
mod error;
mod expression;
mod feature;
mod function;
mod operator;
mod primary;
#[cfg(test)]
mod print;
mod qualifier;
mod recovery;
mod scope;
mod statement;
#[cfg(test)]
mod tests;
mod types;
mod words;

use std::ops::Range;

use crate::ast::Ast;
use crate::extension::Extensions;
use crate::findings::Findings;
use crate::keyword::{Keyword, Meaning};
use crate::options::GlslLimits;
use crate::symbol::{Interner, Symbol};
use crate::token::{Punct, TokenKind, TokenRange, Tokens};
use crate::version::Version;
pub(crate) use error::ParseError;
use feature::Feature;
use scope::Scopes;

/// Parses the unit of a range of tokens. The tree has the parts that could be read; `findings` has errors for text that could not be read.
pub(crate) fn parse(
    tokens: &Tokens,
    range: Range<u32>,
    version: Version,
    extensions: &Extensions,
    limits: &GlslLimits,
    interner: &Interner,
    findings: &mut Findings,
) -> Ast {
    let mut parser = Parser {
        tokens,
        version,
        extensions,
        interner,
        findings,
        ast: Ast::default(),
        scopes: Scopes::default(),
        at: range.start,
        end: range.end,
        statement: range.start,
        depth: 0,
        limit: limits.nesting,
        failed: false,
        is_cut_off: false,
        is_unbalanced: false,
        open: 0,
        reported: None,
        bad_number: None,
        later_keywords: Vec::new(),
        frames: Vec::new(),
        operands: Vec::new(),
    };
    parser.unit();
    parser.ast
}

/// The state of the parser.
struct Parser<'a> {
    tokens: &'a Tokens,
    version: Version,
    extensions: &'a Extensions,
    interner: &'a Interner,
    findings: &'a mut Findings,
    ast: Ast,
    scopes: Scopes,
    /// The next token.
    at: u32,
    /// The token after the last one of the unit.
    end: u32,
    /// The first token of the statement, member or global declaration.
    statement: u32,
    /// The number of open blocks, structs, parentheses and operators that nest to the right.
    depth: u32,
    limit: u32,
    /// A syntax error was reported and its end not yet found.
    failed: bool,
    /// The rest of the text is missing or is not parsed, which was reported.
    is_cut_off: bool,
    /// An error about braces was reported, from which a missing `}` at the end follows.
    is_unbalanced: bool,
    /// Parentheses and brackets that were open where an expression failed.
    open: u32,
    /// The token at which a syntax error was reported last.
    reported: Option<u32>,
    /// The last number without value, which was reported.
    bad_number: Option<u32>,
    /// Keywords of later versions that were reported.
    later_keywords: Vec<Keyword>,
    /// Open groups and operators of all expressions being parsed.
    frames: Vec<expression::Frame>,
    /// Their operands.
    operands: Vec<expression::Operand>,
}

impl Parser<'_> {
    /// The kind of the token after `skip` others.
    fn peek(&self, skip: u32) -> TokenKind {
        self.tokens.get(self.at.saturating_add(skip)).map_or(TokenKind::End, |token| token.kind)
    }

    /// The spelling of the token after `skip` others, if it is a word.
    fn word(&self, skip: u32) -> Option<Symbol> {
        match self.tokens.get(self.at.saturating_add(skip)) {
            Some(token) if matches!(token.kind, TokenKind::Identifier | TokenKind::Keyword(_)) => Some(token.symbol),
            _ => None,
        }
    }

    /// The identifier after `skip` other tokens.
    fn identifier(&self, skip: u32) -> Option<Symbol> {
        self.word(skip).filter(|_| self.peek(skip) == TokenKind::Identifier)
    }

    /// The keyword after `skip` other tokens: one of this version, or a reserved word that is not declared.
    fn keyword(&self, skip: u32) -> Option<Keyword> {
        match self.peek(skip) {
            TokenKind::Keyword(keyword) => Some(keyword),
            TokenKind::Identifier => {
                let symbol = self.word(skip)?;
                let keyword = symbol.keyword()?;
                let is_keyword = self.is_reserved(keyword) && self.scopes.get(symbol).is_none();
                is_keyword.then_some(keyword)
            }
            TokenKind::Number | TokenKind::Punct(_) | TokenKind::End => None,
        }
    }

    /// Whether the lexer reported a word as reserved.
    fn is_reserved(&self, keyword: Keyword) -> bool {
        keyword.meaning(self.version, self.extensions) == Meaning::Reserved
    }

    /// Whether the next token is a certain operator or separator.
    fn is(&self, punct: Punct) -> bool {
        self.peek(0) == TokenKind::Punct(punct)
    }

    /// The range of the next token.
    fn here(&self) -> TokenRange {
        TokenRange::at(self.at)
    }

    /// The range of the token before.
    fn before(&self) -> TokenRange {
        TokenRange::at(self.at.saturating_sub(1))
    }

    /// From a token to the one before the next.
    fn since(&self, first: u32) -> TokenRange {
        TokenRange { first, last: self.at.saturating_sub(1).max(first) }
    }

    /// Steps over a token. Does not step over the last one.
    fn bump(&mut self) {
        if self.peek(0) != TokenKind::End {
            self.at += 1;
        }
    }

    /// Steps over a certain operator or separator, if it is next.
    fn eat(&mut self, punct: Punct) -> bool {
        let is = self.is(punct);
        if is {
            self.at += 1;
        }
        is
    }

    /// Steps over a certain operator or separator; another token is a syntax error.
    fn expect(&mut self, punct: Punct, expected: &'static str) -> bool {
        if self.failed {
            return false;
        }
        let is = self.eat(punct);
        if !is {
            self.fail_expected(expected);
        }
        is
    }

    /// Steps over the `;` of a statement.
    fn expect_semicolon(&mut self, expected: &'static str) {
        if self.failed || self.eat(Punct::Semicolon) {
            return;
        }
        let is_next_statement = self.is(Punct::RightBrace) || self.is_statement_start();
        if is_next_statement && self.at > self.statement {
            let after = self.quote(self.at - 1);
            self.fail(&ParseError::MissingSemicolon { found: self.quote(self.at), after }, self.here());
        } else {
            self.fail_expected(expected);
        }
    }

    /// Steps over a name. A keyword in its place is a separate syntax error.
    fn expect_name(&mut self, expected: &'static str) -> Option<Symbol> {
        if self.failed {
            return None;
        }
        match self.peek(0) {
            TokenKind::Identifier => {
                let name = self.word(0);
                self.bump();
                return name;
            }
            // Otherwise, the keyword begins something else and the name is missing.
            TokenKind::Keyword(_) if matches!(self.peek(1), TokenKind::Punct(_)) => {
                self.fail(&ParseError::KeywordAsName { word: self.quote(self.at) }, self.here());
                self.bump();
            }
            _ => self.fail_expected(expected),
        }
        None
    }

    /// Enters a level of nesting; `false` and a syntax error if there are too many.
    fn enter(&mut self) -> bool {
        if self.depth >= self.limit {
            self.fail(&ParseError::TooDeep { limit: self.limit }, self.here());
            // Later tokens would only repeat the error.
            self.abandon();
            return false;
        }
        self.depth += 1;
        true
    }

    /// Leaves a level of nesting.
    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Reports syntax that the version lacks.
    fn need(&mut self, feature: Feature, range: TokenRange) {
        let since = feature.since();
        if !since.holds(self.version, self.extensions) {
            let (version, remedy) = (self.version, since.remedy(self.version));
            self.report(&ParseError::NotInVersion { feature, version, remedy }, range);
        }
    }

    /// Reports a word that is not a keyword of this version, once.
    fn need_keyword(&mut self, keyword: Keyword, range: TokenRange) {
        let is_precision = words::is_precision(keyword);
        let is_known = |&known: &Keyword| known == keyword || is_precision && words::is_precision(known);
        if self.later_keywords.iter().any(is_known) {
            return;
        }
        self.later_keywords.push(keyword);
        let (version, mut remedy) = (self.version, keyword.since().remedy(self.version));
        if is_precision {
            remedy =
                format!("a shader in GLSL ES needs `#version 100` or the option `--glsl es100`; otherwise it {remedy}");
        }
        self.report(&ParseError::KeywordNotInVersion { word: keyword.name(), version, remedy }, range);
    }
}
