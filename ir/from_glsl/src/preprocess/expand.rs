//! Expansion of macros.
//!
//! Tokens come from a stack of frames: expansions that are being read, arguments, and at the bottom the text. The names
//! of macros whose expansions are on the stack are not expanded, and stay so (`painted`). Arguments are expanded before
//! they are substituted: a frame with the argument is a barrier, and the tokens expanded up to its end are collected in
//! the innermost unfinished invocation. Both stacks are on the heap, so that nesting needs no recursion.
//!
//! Each token that is read or substituted is a step, and the number of steps is limited: macros that double each other
//! take exponential time even if the result is empty.

use std::rc::Rc;
use tgsi_diagnostics::Span;

use super::Preprocessor;
use super::error::{PreprocessError, shown};
use super::lexer::{PpKind, PpToken, single_token};
use super::macros::{BodyToken, MacroId, Origin, is_name};
use crate::symbol::Symbol;
use crate::token::{Expansion, ExpansionId, Punct};

/// Tokens to be read.
pub(super) struct Frame {
    tokens: Vec<PpToken>,
    next: usize,
    kind: FrameKind,
}

/// The meaning of the end of a frame.
#[derive(Clone, Copy)]
enum FrameKind {
    /// An expansion of a macro, whose name may be expanded again after it.
    Expansion(MacroId),
    /// An argument or a line of a directive: reading ends here.
    Barrier,
    /// A token that was read too early.
    PutBack,
}

/// An invocation with arguments that are being expanded.
pub(super) struct Invocation {
    id: MacroId,
    expansion: ExpansionId,
    arguments: Vec<Vec<PpToken>>,
    /// By argument, up to the one that is being expanded.
    expanded: Vec<Vec<PpToken>>,
    /// The expansion so far of the one that is being expanded.
    output: Vec<PpToken>,
}

impl Preprocessor<'_> {
    /// The next token after expansion.
    pub(super) fn next_expanded(&mut self) -> PpToken {
        loop {
            let token = self.pull();
            if token.kind == PpKind::End {
                if self.invocations.is_empty() {
                    return token;
                }
                self.end_argument();
                continue;
            }
            let mut token = token;
            if is_name(&token) {
                if self.in_condition && token.symbol == self.names.defined {
                    token = self.defined(&token);
                } else if let Some(id) = self.macros.find(token.symbol)
                    && self.invoke(&token, id)
                {
                    continue;
                }
            }
            match self.invocations.last_mut() {
                Some(invocation) => invocation.output.push(token),
                None => return token,
            }
        }
    }

    /// The tokens of a line after expansion.
    pub(super) fn expand_line(&mut self, tokens: Vec<PpToken>) -> Vec<PpToken> {
        self.frames.push(Frame { tokens, next: 0, kind: FrameKind::Barrier });
        let mut expanded = Vec::new();
        loop {
            let token = self.next_expanded();
            if token.kind == PpKind::End {
                self.frames.pop();
                return expanded;
            }
            expanded.push(token);
        }
    }

    /// Counts steps. Returns whether the limit is exceeded; then no more tokens are read.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps as u64);
        let limit = self.options.limits.tokens;
        if self.steps > limit && !self.is_exhausted {
            self.is_exhausted = true;
            self.frames.clear();
            self.invocations.clear();
            self.findings.add(&PreprocessError::TooManyTokens { limit }, self.position);
        }
        self.is_exhausted
    }

    /// The next token before expansion, from the innermost frame.
    fn pull(&mut self) -> PpToken {
        if self.spend(1) {
            return self.end_token();
        }
        while let Some(frame) = self.frames.last_mut() {
            if let Some(&token) = frame.tokens.get(frame.next) {
                frame.next += 1;
                let mut token = token;
                if is_name(&token) && self.macros.is_active(token.symbol) {
                    token.painted = true;
                }
                return token;
            }
            match frame.kind {
                FrameKind::Barrier => return self.end_token(),
                FrameKind::Expansion(id) => {
                    if let Some(definition) = self.macros.get_mut(id) {
                        definition.is_active = false;
                    }
                }
                FrameKind::PutBack => {}
            }
            self.frames.pop();
        }
        let token = self.raw();
        self.position = token.span;
        token
    }

    /// Makes the token read last the next one again.
    fn put_back(&mut self, token: PpToken) {
        match self.frames.last_mut() {
            _ if token.kind == PpKind::End => {}
            Some(frame) => frame.next = frame.next.saturating_sub(1),
            None => self.frames.push(Frame { tokens: vec![token], next: 0, kind: FrameKind::PutBack }),
        }
    }

    /// Begins the expansion of a macro. Returns whether its name is an invocation.
    fn invoke(&mut self, name: &PpToken, id: MacroId) -> bool {
        let Some(definition) = self.macros.get(id) else { return false };
        let (origin, parameters, body) =
            (definition.origin, definition.parameters.clone(), Rc::clone(&definition.body));
        let Some(parameters) = parameters else {
            let expansion = self.expansion_of(name);
            let tokens = match origin {
                Origin::Line | Origin::File => vec![self.computed(origin, name)],
                Origin::User | Origin::Predefined => self.substitute(&body, &[], &[], expansion),
            };
            self.enter(id, expansion, tokens);
            return true;
        };
        let next = self.pull();
        if !next.is(Punct::LeftParen) {
            self.put_back(next);
            return false;
        }
        let expansion = self.expansion_of(name);
        let Some(mut arguments) = self.collect_arguments(name, id, expansion) else { return true };
        let is_empty = arguments.len() == 1 && arguments.first().is_some_and(Vec::is_empty);
        let found = if parameters.is_empty() && is_empty { 0 } else { arguments.len() };
        if found != parameters.len() {
            let name_text = self.text_of(name.symbol);
            let error = PreprocessError::ArgumentCount { name: name_text, expected: parameters.len(), found };
            self.report_invocation(&error, name, expansion, id);
        }
        if self.spend(parameters.len()) {
            return true;
        }
        arguments.resize_with(parameters.len(), Vec::new);
        let limit = self.options.limits.nesting;
        if self.invocations.len() >= limit as usize {
            if !std::mem::replace(&mut self.is_too_deep, true) {
                self.report_invocation(&PreprocessError::InvocationsTooDeep { limit }, name, expansion, id);
            }
            return true;
        }
        let (expanded, output) = (Vec::with_capacity(arguments.len()), Vec::new());
        self.invocations.push(Invocation { id, expansion, arguments, expanded, output });
        self.continue_invocation();
        true
    }

    /// The outermost invocation of a name that is expanded: that which produced it, or a new one.
    fn expansion_of(&mut self, name: &PpToken) -> ExpansionId {
        if name.expansion != ExpansionId(0) {
            return name.expansion;
        }
        self.tokens.expansions.push(Expansion { name: name.symbol, invocation: name.span });
        ExpansionId(self.tokens.expansions.len() as u32)
    }

    /// The value of `__LINE__` or `__FILE__`.
    fn computed(&mut self, origin: Origin, name: &PpToken) -> PpToken {
        let outermost = (name.expansion.0 as usize).checked_sub(1).and_then(|at| self.tokens.expansions.get(at));
        let at = outermost.map_or(name.span, |expansion| expansion.invocation);
        let (line, source) = self.lines.line(at.start);
        let value = if origin == Origin::Line { line } else { source };
        self.number_token(u64::from(value))
    }

    /// Reads the arguments after the opening parenthesis. Without an end, reports it and returns `None`.
    fn collect_arguments(&mut self, name: &PpToken, id: MacroId, expansion: ExpansionId) -> Option<Vec<Vec<PpToken>>> {
        let mut arguments = Vec::new();
        let mut argument = Vec::new();
        let mut depth = 0u32;
        loop {
            let token = self.pull();
            match token.kind {
                PpKind::End => {
                    if !self.is_exhausted {
                        let name_text = self.text_of(name.symbol);
                        let error = PreprocessError::UnterminatedInvocation { name: name_text };
                        self.report_invocation(&error, name, expansion, id);
                    }
                    return None;
                }
                PpKind::Punct(Punct::RightParen) if depth == 0 => {
                    if token.expansion == ExpansionId(0)
                        && let Some(outermost) = self.tokens.expansions.get_mut((expansion.0 as usize).wrapping_sub(1))
                    {
                        outermost.invocation.end = outermost.invocation.end.max(token.span.end);
                    }
                    arguments.push(argument);
                    return Some(arguments);
                }
                PpKind::Punct(Punct::Comma) if depth == 0 => {
                    arguments.push(std::mem::take(&mut argument));
                    continue;
                }
                PpKind::Punct(Punct::LeftParen) => depth += 1,
                PpKind::Punct(Punct::RightParen) => depth -= 1,
                _ => {}
            }
            argument.push(token);
        }
    }

    /// Takes the expansion of an argument that has been read to its end.
    fn end_argument(&mut self) {
        self.frames.pop();
        if let Some(invocation) = self.invocations.last_mut() {
            let output = std::mem::take(&mut invocation.output);
            invocation.expanded.push(output);
        }
        self.continue_invocation();
    }

    /// Begins to expand the next argument of the innermost invocation. If none is left, substitutes them.
    fn continue_invocation(&mut self) {
        let Some(invocation) = self.invocations.last_mut() else { return };
        let Some(definition) = self.macros.get(invocation.id) else { return };
        while let Some(argument) = invocation.arguments.get_mut(invocation.expanded.len()) {
            let uses = definition.uses.get(invocation.expanded.len()).copied().unwrap_or_default();
            if !uses.expanded {
                invocation.expanded.push(Vec::new());
                continue;
            }
            let mut tokens = if uses.raw { argument.clone() } else { std::mem::take(argument) };
            let is_final = |token: &PpToken| {
                let is_operator = self.in_condition && token.symbol == self.names.defined;
                !is_name(token) || self.macros.find(token.symbol).is_none() && !is_operator
            };
            if tokens.iter().all(is_final) {
                invocation.expanded.push(tokens);
                continue;
            }
            for token in &mut tokens {
                token.expansion = invocation.expansion;
            }
            self.frames.push(Frame { tokens, next: 0, kind: FrameKind::Barrier });
            return;
        }
        let body = Rc::clone(&definition.body);
        let Some(Invocation { id, expansion, arguments, expanded, .. }) = self.invocations.pop() else { return };
        let tokens = self.substitute(&body, &arguments, &expanded, expansion);
        self.enter(id, expansion, tokens);
    }

    /// Makes an expansion the innermost frame.
    fn enter(&mut self, id: MacroId, expansion: ExpansionId, mut tokens: Vec<PpToken>) {
        if self.is_exhausted {
            return;
        }
        for token in &mut tokens {
            token.expansion = expansion;
        }
        if let Some(definition) = self.macros.get_mut(id) {
            definition.is_active = true;
        }
        self.frames.push(Frame { tokens, next: 0, kind: FrameKind::Expansion(id) });
    }

    /// The tokens of a definition, with arguments in place of parameters, and operands of `##` joined.
    fn substitute(
        &mut self,
        body: &[BodyToken],
        arguments: &[Vec<PpToken>],
        expanded: &[Vec<PpToken>],
        expansion: ExpansionId,
    ) -> Vec<PpToken> {
        let mut result: Vec<PpToken> = Vec::with_capacity(body.len());
        let mut is_joined = false;
        // Whether the left side of `##` has no token.
        let mut is_empty = true;
        for item in body {
            let source = if is_joined || item.is_pasted { arguments } else { expanded };
            let operand = match item.parameter {
                Some(parameter) => source.get(parameter as usize).map(Vec::as_slice).unwrap_or_default(),
                None => std::slice::from_ref(&item.token),
            };
            if self.spend(operand.len().max(1)) {
                return Vec::new();
            }
            if is_joined
                && !is_empty
                && let Some((&first, rest)) = operand.split_first()
            {
                if let Some(left) = result.pop() {
                    self.paste(left, first, expansion, &mut result);
                }
                result.extend_from_slice(rest);
            } else {
                result.extend_from_slice(operand);
            }
            is_empty = operand.is_empty() && (is_empty || !is_joined);
            is_joined = item.is_pasted;
        }
        result
    }

    /// Joins two tokens, or keeps both with an error.
    fn paste(&mut self, left: PpToken, right: PpToken, expansion: ExpansionId, result: &mut Vec<PpToken>) {
        let text = [self.interner.spelling(left.symbol), self.interner.spelling(right.symbol)].concat();
        if self.spend(text.len()) {
            return;
        }
        if let Some(token) = single_token(&text, self.interner, &self.spellings) {
            result.push(PpToken { kind: token.kind, symbol: token.symbol, painted: false, ..left });
            return;
        }
        let error = PreprocessError::BadPaste { text: shown(&text) };
        self.report_token(&error, &PpToken { expansion, ..left });
        result.extend([left, right]);
    }

    /// The value of `defined NAME` or `defined(NAME)`, whose first token is given.
    fn defined(&mut self, token: &PpToken) -> PpToken {
        let mut name = self.pull();
        let in_parentheses = name.is(Punct::LeftParen);
        if in_parentheses {
            name = self.pull();
        }
        let mut last = name;
        let is_name = name.kind == PpKind::Identifier;
        if is_name && in_parentheses {
            last = self.pull();
        }
        if !is_name || in_parentheses && !last.is(Punct::RightParen) {
            if !self.is_exhausted {
                self.put_back(last);
                if !std::mem::replace(&mut self.has_bad_defined, true) {
                    self.report_token(&PreprocessError::DefinedSyntax, token);
                }
            }
            return self.number_token(0);
        }
        let value = self.macros.find(name.symbol).is_some();
        PpToken { span: token.span, expansion: token.expansion, ..self.number_token(u64::from(value)) }
    }

    /// Reports an error about an invocation, with a note at the definition.
    fn report_invocation(&mut self, error: &PreprocessError, name: &PpToken, expansion: ExpansionId, id: MacroId) {
        let outermost = self.tokens.expansions.get((expansion.0 as usize).wrapping_sub(1));
        let span = outermost.map_or(name.span, |expansion| expansion.invocation);
        let definition = self.macros.get(id).map_or(Span::default(), |definition| definition.span);
        if let Some(finding) = self.findings.add(error, span) {
            let message = format!("`{}` is defined here", shown(self.interner.spelling(name.symbol)));
            finding.note(definition, tgsi_diagnostics::Focus::Whole, message);
        }
    }

    /// A number with a value, without a position.
    pub(super) fn number_token(&mut self, value: u64) -> PpToken {
        let symbol = self.interner.intern(&value.to_string());
        PpToken { kind: PpKind::Number, symbol, ..self.end_token() }
    }

    /// The end of a text, line or argument.
    pub(super) fn end_token(&self) -> PpToken {
        let (span, expansion) = (Span::default(), ExpansionId(0));
        let symbol = self.spellings.empty;
        PpToken { kind: PpKind::End, symbol, span, expansion, space: false, line_start: false, painted: false }
    }

    /// The spelling of a symbol, for a message.
    pub(super) fn text_of(&self, symbol: Symbol) -> String {
        shown(self.interner.spelling(symbol))
    }
}
