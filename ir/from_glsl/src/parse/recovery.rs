//! Reports of errors, and the search for the end of text that the parser cannot read.

use tgsi_diagnostics::Focus;

use super::{ParseError, Parser, words};
use crate::keyword::Keyword;
use crate::token::{Punct, TokenKind, TokenRange};

/// Characters of a token in a message. Tokens may be as long as the text.
const MAX_QUOTE: usize = 40;

impl Parser<'_> {
    /// A token as text for messages.
    pub(super) fn quote(&self, token: u32) -> String {
        let Some(token) = self.tokens.get(token) else { return "the end of the text".to_owned() };
        match token.kind {
            TokenKind::End => "the end of the text".to_owned(),
            TokenKind::Punct(punct) => format!("`{}`", punct.text()),
            TokenKind::Identifier | TokenKind::Keyword(_) | TokenKind::Number => {
                let spelling = self.interner.spelling(token.symbol);
                match spelling.char_indices().nth(MAX_QUOTE) {
                    Some((end, _)) => format!("`{}...`", spelling.get(..end).unwrap_or_default()),
                    None => format!("`{spelling}`"),
                }
            }
        }
    }

    /// Reports a finding that does not disturb the parser.
    pub(super) fn report(&mut self, error: &ParseError, range: TokenRange) {
        self.findings.add_at(error, range, self.tokens, self.interner);
    }

    /// Reports a syntax error, unless one was reported for the same statement or token, or a reserved word or a number
    /// without value was reported in the statement.
    pub(super) fn fail(&mut self, error: &ParseError, range: TokenRange) {
        if self.failed {
            return;
        }
        self.failed = true;
        let is_end = self.peek(0) == TokenKind::End;
        let has_bad_number = self.bad_number.is_some_and(|at| at >= self.statement);
        let is_known = self.reported == Some(self.at) || has_bad_number || self.has_reserved_word();
        if !self.is_cut_off && !is_known {
            self.report(error, self.visible(range));
        }
        self.reported = Some(self.at);
        self.is_cut_off |= is_end;
    }

    /// The last token of the text for its end, otherwise the same range.
    fn visible(&self, range: TokenRange) -> TokenRange {
        let is_end = self.tokens.get(range.first).is_none_or(|token| token.kind == TokenKind::End);
        if is_end { TokenRange::at(range.first.saturating_sub(1)) } else { range }
    }

    /// Reports that another token is needed in place of the next one.
    pub(super) fn fail_expected(&mut self, expected: &'static str) {
        self.fail(&ParseError::Expected { expected, found: self.quote(self.at) }, self.here());
    }

    /// Whether the statement has a reserved word up to the next token.
    fn has_reserved_word(&self) -> bool {
        let words = (self.statement..=self.at).filter_map(|at| self.tokens.get(at));
        let mut names = words.filter(|token| token.kind == TokenKind::Identifier);
        names.any(|token| token.symbol.keyword().is_some_and(|keyword| self.is_reserved(keyword)))
    }

    /// Steps over a closing token. If another token is next, reports it.
    pub(super) fn close(&mut self, close: Punct, open: TokenRange, expected: &'static str) {
        if self.failed || self.eat(close) {
            return;
        }
        if self.peek(0) == TokenKind::End {
            self.fail_unclosed(open);
        } else {
            self.fail_expected(expected);
        }
    }

    /// Reports at the end of the text that a token is not closed.
    pub(super) fn fail_unclosed(&mut self, open: TokenRange) {
        let text = match self.tokens.get(open.first).map(|token| token.kind) {
            Some(TokenKind::Punct(punct)) => punct.text(),
            _ => "{",
        };
        if !(self.failed || self.is_cut_off || self.is_unbalanced || self.has_reserved_word()) {
            let error = ParseError::Unclosed { open: text };
            let span = self.tokens.span(open);
            let place = self.visible(self.here());
            let found = self.findings.add_at(&error, place, self.tokens, self.interner);
            if let Some(found) = found {
                found.note(span, Focus::Whole, "it is opened here");
            }
        }
        (self.failed, self.is_cut_off) = (true, true);
    }

    /// Steps to the end of the text without further reports.
    pub(super) fn abandon(&mut self) {
        self.at = self.end.saturating_sub(1).max(self.at);
        self.is_cut_off = true;
    }

    /// Whether the next tokens begin a statement or declaration, and cannot continue an expression.
    pub(super) fn is_statement_start(&self) -> bool {
        let Some(word) = self.keyword(0) else { return false };
        let next = self.peek(1);
        let is_next = |puncts: &[Punct]| matches!(next, TokenKind::Punct(punct) if puncts.contains(&punct));
        match word {
            Keyword::If | Keyword::For | Keyword::While | Keyword::Switch => is_next(&[Punct::LeftParen]),
            Keyword::Break | Keyword::Continue | Keyword::Discard | Keyword::Demote => is_next(&[Punct::Semicolon]),
            Keyword::Default => is_next(&[Punct::Colon]),
            Keyword::Layout | Keyword::Subroutine if is_next(&[Punct::LeftParen]) => true,
            Keyword::Struct if is_next(&[Punct::LeftBrace]) => true,
            _ if words::is_type(word) => match self.peek(2) {
                // In parentheses, a list follows more often than a declaration.
                TokenKind::Punct(Punct::Comma | Punct::LeftParen) => self.open == 0 && self.identifier(1).is_some(),
                TokenKind::Punct(Punct::Assign | Punct::Semicolon | Punct::LeftBracket) => self.identifier(1).is_some(),
                _ => false,
            },
            _ if words::is_declaration(word) => matches!(next, TokenKind::Identifier | TokenKind::Keyword(_)),
            _ => words::is_statement(word),
        }
    }

    /// After a syntax error, steps over the rest of the statement or member: to after its `;`, or to before a `}`, a
    /// `{` or a token that begins a statement.
    pub(super) fn recover(&mut self) {
        // Parentheses that follow. Those before may never be closed.
        let mut open = 0u32;
        loop {
            match self.peek(0) {
                TokenKind::End | TokenKind::Punct(Punct::LeftBrace | Punct::RightBrace) => break,
                TokenKind::Punct(Punct::Semicolon) => {
                    self.bump();
                    break;
                }
                TokenKind::Punct(Punct::LeftParen | Punct::LeftBracket) => open += 1,
                TokenKind::Punct(Punct::RightParen | Punct::RightBracket) => open = open.saturating_sub(1),
                TokenKind::Identifier | TokenKind::Keyword(_) if open == 0 && self.is_statement_start() => break,
                _ => {}
            }
            self.bump();
        }
        (self.failed, self.open) = (false, 0);
    }

    /// After a syntax error at global scope, steps over the rest of the declaration, and over a body in braces.
    pub(super) fn recover_global(&mut self) {
        self.recover();
        if self.is(Punct::LeftBrace) {
            self.skip_braces();
            self.eat(Punct::Semicolon);
        } else if self.eat(Punct::RightBrace) {
            self.eat(Punct::Semicolon);
        }
    }

    /// Steps over braces and all between them.
    pub(super) fn skip_braces(&mut self) {
        let mut open = 0u32;
        loop {
            match self.peek(0) {
                TokenKind::End => {
                    self.is_cut_off = true;
                    return;
                }
                TokenKind::Punct(Punct::LeftBrace) => open += 1,
                TokenKind::Punct(Punct::RightBrace) => open = open.saturating_sub(1),
                _ => {}
            }
            self.bump();
            if open == 0 {
                return;
            }
        }
    }

    /// Steps over the `)` of a condition or parameter list. After a syntax error, to after that `)`, or to before a
    /// token that is in no such list. `has_semicolons` is set for the head of a `for`.
    pub(super) fn close_list(&mut self, open: TokenRange, expected: &'static str, has_semicolons: bool) {
        self.close(Punct::RightParen, open, expected);
        if !self.failed {
            return;
        }
        let mut open = 0u32;
        loop {
            match self.peek(0) {
                // The list is in a block that ends here: the statement has no more parts.
                TokenKind::End | TokenKind::Punct(Punct::RightBrace) => return,
                TokenKind::Punct(Punct::LeftBrace) => break,
                TokenKind::Punct(Punct::Semicolon) if !has_semicolons => break,
                TokenKind::Punct(Punct::LeftParen) => open += 1,
                TokenKind::Punct(Punct::RightParen) if open == 0 => {
                    self.bump();
                    break;
                }
                TokenKind::Punct(Punct::RightParen) => open -= 1,
                TokenKind::Keyword(word) if words::is_statement(word) && self.is_statement_start() => break,
                _ => {}
            }
            self.bump();
        }
        (self.failed, self.open) = (false, 0);
    }
}
