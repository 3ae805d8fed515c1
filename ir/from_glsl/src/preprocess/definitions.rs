//! Definitions of macros: `#define`, `#undef` and options.

use std::rc::Rc;
use tgsi_diagnostics::{Focus, Span};

use super::Preprocessor;
use super::error::{PreprocessError, shown};
use super::lexer::{Lexer, PpKind, PpToken};
use super::macros::{BodyToken, Macro, Origin, uses_of_parameters};
use crate::symbol::Symbol;
use crate::token::Punct;
use crate::version::NEVER;

impl Preprocessor<'_> {
    /// `#define`, from the name. Definitions of options may define everything except names with a special meaning.
    pub(super) fn define(&mut self, line: &[PpToken], directive: &PpToken, is_option: bool) {
        let Some((name, mut rest)) = line.split_first().filter(|(name, _)| name.kind == PpKind::Identifier) else {
            let span = line.first().unwrap_or(directive).span;
            self.findings.add(&PreprocessError::MissingName { directive: "define" }, span);
            return;
        };
        if !self.check_name(name, false, is_option) {
            return;
        }
        let mut parameters = None;
        if let Some(open) = rest.first().filter(|token| token.is(Punct::LeftParen) && !token.space) {
            let Some((names, body)) = self.parameters(open, rest.get(1..).unwrap_or_default()) else { return };
            (parameters, rest) = (Some(Rc::<[Symbol]>::from(names)), body);
        }
        let Some(body) = self.body(rest, parameters.as_deref().unwrap_or_default()) else { return };
        let uses = uses_of_parameters(parameters.as_ref().map_or(0, |parameters| parameters.len()), &body);
        let (name, span, origin, body) = (name.symbol, name.span, Origin::User, body.into());
        let definition = Macro { name, span, origin, parameters, body, uses, is_active: false };
        if let Err(first) = self.macros.define(definition) {
            let error = PreprocessError::Redefinition { name: self.text_of(name) };
            if let Some(finding) = self.findings.add(&error, span) {
                finding.note(first, Focus::Whole, "the first definition");
            }
        }
    }

    /// The names of parameters after `(`, and the tokens after `)`.
    fn parameters<'l>(&mut self, open: &PpToken, line: &'l [PpToken]) -> Option<(Vec<Symbol>, &'l [PpToken])> {
        let mut names = Vec::new();
        let mut known = rustc_hash::FxHashSet::default();
        let mut at = 0;
        if line.first().is_some_and(|token| token.is(Punct::RightParen)) {
            return Some((names, line.get(1..).unwrap_or_default()));
        }
        let mut last = open;
        loop {
            let name = line.get(at);
            let Some(name) = name.filter(|token| token.kind == PpKind::Identifier) else {
                let span = name.unwrap_or(last).span;
                self.findings.add(&PreprocessError::ParameterList { expected: "a name" }, span);
                return None;
            };
            names.push(name.symbol);
            if !known.insert(name.symbol) {
                let error = PreprocessError::DuplicateParameter { name: self.text_of(name.symbol) };
                self.findings.add(&error, name.span);
                return None;
            }
            let next = line.get(at + 1);
            at += 2;
            match next {
                Some(token) if token.is(Punct::RightParen) => {
                    return Some((names, line.get(at..).unwrap_or_default()));
                }
                Some(token) if token.is(Punct::Comma) => last = token,
                _ => {
                    let span = next.unwrap_or(name).span;
                    self.findings.add(&PreprocessError::ParameterList { expected: "`,` or `)`" }, span);
                    return None;
                }
            }
        }
    }

    /// The replacement of a macro: parameters found, `##` applied to its operands.
    fn body(&mut self, line: &[PpToken], parameters: &[Symbol]) -> Option<Vec<BodyToken>> {
        let by_name: rustc_hash::FxHashMap<Symbol, u32> =
            parameters.iter().enumerate().map(|(index, &name)| (name, index as u32)).collect();
        let mut body: Vec<BodyToken> = Vec::with_capacity(line.len());
        for (index, token) in line.iter().enumerate() {
            if token.is(Punct::Hash) {
                self.findings.add(&PreprocessError::Stringification, token.span);
                return None;
            }
            if !token.is(Punct::HashHash) {
                let parameter = by_name.get(&token.symbol).copied().filter(|_| token.kind == PpKind::Identifier);
                body.push(BodyToken { token: *token, parameter, is_pasted: false });
                continue;
            }
            match body.last_mut() {
                Some(left) if index + 1 < line.len() => left.is_pasted = true,
                left => {
                    self.findings.add(&PreprocessError::PasteAtEdge { start: left.is_none() }, token.span);
                    return None;
                }
            }
            let error = match self.version.is_es() {
                true => PreprocessError::PasteEs,
                false => PreprocessError::OldPaste { version: self.version },
            };
            if !self.version.is_at_least(130, NEVER) && !std::mem::replace(&mut self.has_old_paste, true) {
                self.findings.add(&error, token.span);
            }
        }
        Some(body)
    }

    /// Reports a macro name that must not be defined or removed. Returns whether it may.
    fn check_name(&mut self, name: &PpToken, undefine: bool, is_option: bool) -> bool {
        let text = self.text_of(name.symbol);
        let existing = self.macros.find(name.symbol).and_then(|id| self.macros.get(id));
        if text == "defined" && self.version.is_at_least(NEVER, 300) {
            self.findings.add(&PreprocessError::DefinedAsName, name.span);
            return true;
        }
        if text == "defined" || existing.is_some_and(|definition| definition.origin != Origin::User) {
            self.findings.add(&PreprocessError::PredefinedName { name: text, undefine }, name.span);
            return false;
        }
        if text.starts_with("GL_") && !is_option {
            self.findings.add(&PreprocessError::ReservedPrefix { name: text }, name.span);
            return false;
        }
        if self.interner.spelling(name.symbol).contains("__") && !undefine && !is_option {
            self.findings.add(&PreprocessError::DoubleUnderscore, name.span);
        }
        true
    }

    /// `#undef`.
    pub(super) fn undef(&mut self, directive: &PpToken) {
        let line = self.read_line();
        let Some(name) = line.first().filter(|token| token.kind == PpKind::Identifier) else {
            let span = line.first().unwrap_or(directive).span;
            self.findings.add(&PreprocessError::MissingName { directive: "undef" }, span);
            return;
        };
        if let Some(extra) = line.get(1) {
            self.findings.add(&PreprocessError::TrailingTokens { directive: "undef" }, extra.span);
        }
        if self.check_name(name, true, false) {
            self.macros.undefine(name.symbol);
        }
    }

    /// Defines a macro of the options: a name, possibly with parameters, and its replacement.
    pub(super) fn define_option(&mut self, name: &str, replacement: &str) {
        let text = format!("{name} {replacement}");
        let mut lexer = Lexer::new(text.as_bytes(), 0);
        let mut line = Vec::new();
        loop {
            let mut token = lexer.next(self.interner, &self.spellings);
            if token.kind == PpKind::End || self.spend(1) {
                break;
            }
            if token.kind == PpKind::Newline {
                continue;
            }
            token.span = Span::default();
            line.push(token);
        }
        let is_valid = line.first().is_some_and(|token| token.kind == PpKind::Identifier)
            && lexer.open_comment.is_none()
            && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        if !is_valid {
            self.findings.add(&PreprocessError::BadDefinition { text: shown(name) }, Span::default());
            return;
        }
        let directive = self.end_token();
        self.define(&line, &directive, true);
    }
}
