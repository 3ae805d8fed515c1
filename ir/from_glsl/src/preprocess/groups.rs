//! Conditional groups: `#if` to `#endif`.

use tgsi_diagnostics::{Focus, Span};

use super::Preprocessor;
use super::directives::Directive;
use super::error::PreprocessError;
use super::lexer::{PpKind, PpToken};
use crate::token::Punct;

/// A conditional group that is not ended.
pub(super) struct Group {
    /// The name of the directive that began it.
    span: Span,
    /// Whether one of its branches was read, or none will be because it is inside a branch that is skipped.
    is_done: bool,
    /// The `#else`.
    otherwise: Option<Span>,
}

impl Preprocessor<'_> {
    /// `#if`, `#ifdef` or `#ifndef` in a branch that is read.
    pub(super) fn begin_group(&mut self, directive: Directive, name: &PpToken) {
        let is_true = match directive {
            Directive::If => self.condition(directive, name),
            _ => self.is_defined(directive, name) == (directive == Directive::Ifdef),
        };
        self.push_group(name.span, is_true);
        if !is_true {
            self.skip_branches();
        }
    }

    /// `#elif`, `#else` or `#endif` after a branch that was read.
    pub(super) fn end_branch(&mut self, directive: Directive, name: &PpToken) {
        if directive == Directive::Endif {
            self.end_group(name);
            return;
        }
        let Some(group) = self.groups.last_mut() else {
            self.findings.add(&PreprocessError::WithoutIf { directive: directive.name() }, name.span);
            self.read_line();
            return;
        };
        group.is_done = true;
        self.check_branch(directive, name);
        if directive == Directive::Else {
            self.expect_end_of_line(directive);
        }
        self.skip_branches();
    }

    /// Skips branches of the innermost group up to one whose condition is true, or behind its `#endif`.
    fn skip_branches(&mut self) {
        let depth = self.groups.len();
        while let Some(hash) = self.lexer.next_directive(&self.spellings) {
            self.position = hash.span;
            if self.spend(1) {
                return;
            }
            let name = self.lexer.next(self.interner, &self.spellings);
            let directive = self.directive_of(&name);
            let is_own = self.groups.len() == depth;
            match directive {
                Some(Directive::If | Directive::Ifdef | Directive::Ifndef) => self.push_group(name.span, true),
                Some(directive @ (Directive::Elif | Directive::Else)) => {
                    self.check_branch(directive, &name);
                    let is_candidate = is_own && self.groups.last().is_some_and(|group| !group.is_done);
                    if directive == Directive::Else && is_own {
                        self.expect_end_of_line(directive);
                    }
                    if is_candidate && (directive == Directive::Else || self.condition(directive, &name)) {
                        if let Some(group) = self.groups.last_mut() {
                            group.is_done = true;
                        }
                        return;
                    }
                }
                Some(Directive::Endif) => {
                    if is_own {
                        self.end_group(&name);
                        return;
                    }
                    self.groups.pop();
                }
                _ => {}
            }
        }
    }

    /// Begins a group.
    fn push_group(&mut self, span: Span, is_done: bool) {
        self.groups.push(Group { span, is_done, otherwise: None });
        let limit = self.options.limits.nesting;
        if self.groups.len() > limit as usize && !std::mem::replace(&mut self.has_deep_groups, true) {
            self.findings.add(&PreprocessError::NestedTooDeep { limit }, span);
        }
    }

    /// Ends the innermost group.
    fn end_group(&mut self, name: &PpToken) {
        if self.groups.pop().is_none() {
            self.findings.add(&PreprocessError::WithoutIf { directive: "endif" }, name.span);
        }
        self.expect_end_of_line(Directive::Endif);
    }

    /// Reports `#elif` and `#else` after `#else`.
    fn check_branch(&mut self, directive: Directive, name: &PpToken) {
        let Some(group) = self.groups.last_mut() else { return };
        match group.otherwise {
            Some(otherwise) => {
                group.is_done = true;
                let error = PreprocessError::AfterElse { directive: directive.name() };
                if let Some(finding) = self.findings.add(&error, name.span) {
                    finding.note(otherwise, Focus::Whole, "the `#else`");
                }
            }
            None if directive == Directive::Else => group.otherwise = Some(name.span),
            None => {}
        }
    }

    /// The value of an expression up to the end of the line; false if it has none.
    fn condition(&mut self, directive: Directive, name: &PpToken) -> bool {
        let line = self.read_line();
        if line.is_empty() {
            self.findings.add(&PreprocessError::MissingExpression { directive: directive.name() }, name.span);
            return false;
        }
        self.in_condition = true;
        let tokens = self.expand_line(line);
        self.in_condition = false;
        if std::mem::take(&mut self.has_bad_defined) {
            return false;
        }
        if tokens.is_empty() {
            if !self.is_exhausted {
                self.findings.add(&PreprocessError::MissingExpression { directive: directive.name() }, name.span);
            }
            return false;
        }
        let Some((value, length)) = self.evaluate(&tokens) else { return false };
        if let Some(token) = tokens.get(length) {
            self.report_expected("an operator", Some(token), token);
            return false;
        }
        value != 0
    }

    /// Whether the name after `#ifdef` or `#ifndef` is a macro.
    fn is_defined(&mut self, directive: Directive, name: &PpToken) -> bool {
        let line = self.read_line();
        let Some(macro_name) = line.first().filter(|token| token.kind == PpKind::Identifier) else {
            let span = line.first().map_or(name.span, |token| token.span);
            self.findings.add(&PreprocessError::MissingName { directive: directive.name() }, span);
            return false;
        };
        if let Some(extra) = line.get(1) {
            self.findings.add(&PreprocessError::TrailingTokens { directive: directive.name() }, extra.span);
        }
        self.macros.find(macro_name.symbol).is_some()
    }

    /// Reports groups that the end of the text leaves open.
    pub(super) fn check_groups(&mut self) {
        if let Some(group) = self.groups.last() {
            let error = PreprocessError::UnterminatedGroup { count: self.groups.len() };
            if let Some(finding) = self.findings.add(&error, group.span)
                && let Some(otherwise) = group.otherwise
            {
                finding.note(otherwise, Focus::Whole, "the `#else`");
            }
        }
    }

    /// Whether a token is the `#` of a directive.
    pub(super) fn is_directive(token: &PpToken) -> bool {
        token.line_start && token.is(Punct::Hash)
    }
}
