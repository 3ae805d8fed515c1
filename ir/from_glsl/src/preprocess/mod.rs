//! Preprocessor: from bytes to tokens.
//!
//! One pass over the text. The lexer splits it into preprocessing tokens; directives are executed where their line
//! begins, macros are expanded, and each token that leaves gets its kind: a word is a keyword or not by the version and
//! the extensions that are enabled at its place.
//!
//! # Invariants
//!
//! - All work is linear in the text and the tokens of expansions, whose sum is limited.
//! - No recursion: groups, invocations and expressions use stacks on the heap.

mod condition;
mod definitions;
mod directives;
mod error;
mod expand;
mod groups;
mod lexer;
mod lines;
mod macros;
mod number;
#[cfg(test)]
mod tests;

pub(crate) use error::PreprocessError;
pub(crate) use lines::LineMap;
pub(crate) use number::{Literal, Number, parse_number};

use rustc_hash::FxHashSet;
use tgsi_diagnostics::Span;

use crate::extension::{Extension, Extensions};
use crate::findings::Findings;
use crate::keyword::Meaning;
use crate::options::GlslOptions;
use crate::symbol::{Interner, Symbol};
use crate::token::{ExpansionId, Punct, Token, TokenKind, TokenRange, Tokens};
use crate::version::{NEVER, Profile, Version};
use expand::{Frame, Invocation};
use groups::Group;
use lexer::{Lexer, PpKind, PpToken, Spellings};
use macros::{Macros, Origin};

/// An estimate for allocations.
const BYTES_PER_TOKEN: usize = 6;

/// Names have at most this many bytes, by the specifications of the ES language.
const MAX_NAME: usize = 1024;

/// A unit after preprocessing.
#[derive(Debug)]
pub(crate) struct Preprocessed {
    /// The tokens, after those of other units. If the limits are exceeded, only the end.
    pub(crate) tokens: Tokens,
    /// The index of the first token.
    pub(crate) first: u32,
    /// The version: that of `#version`, otherwise of the options.
    pub(crate) version: Version,
    /// The extensions that are enabled anywhere, also with `warn`.
    pub(crate) extensions: Extensions,
    /// The first `#pragma STDGL invariant(all)`.
    pub(crate) invariant_all: Option<Span>,
    /// Lines, with the effect of `#line`.
    pub(crate) lines: LineMap,
}

/// Converts a text to tokens.
#[cfg(test)]
pub(crate) fn preprocess(
    text: &[u8],
    options: &GlslOptions,
    interner: &mut Interner,
    findings: &mut Findings,
) -> Preprocessed {
    preprocess_from(text, 0, Tokens::default(), options, interner, findings)
}

/// Converts the text from an offset on to tokens, which are added to those of other units.
pub(crate) fn preprocess_from(
    text: &[u8],
    start: u32,
    tokens: Tokens,
    options: &GlslOptions,
    interner: &mut Interner,
    findings: &mut Findings,
) -> Preprocessed {
    let limit = options.limits.text_bytes.min(u64::from(u32::MAX / 2));
    let is_too_long = text.len() as u64 > limit;
    if is_too_long {
        findings.add(&PreprocessError::TextTooLong { length: text.len(), limit }, Span::new(0, 1));
    }
    let (text, start) = if is_too_long { (&[][..], 0) } else { (text, start) };
    let mut tokens = tokens;
    tokens.tokens.reserve((text.len() - (start as usize).min(text.len())) / BYTES_PER_TOKEN);
    let mut preprocessor = Preprocessor::new(text, start, tokens, options, interner, findings);
    loop {
        let token = preprocessor.next_expanded();
        if token.kind == PpKind::End || preprocessor.findings.is_full() {
            break;
        }
        preprocessor.emit(&token);
    }
    preprocessor.finish(text)
}

/// Names with a special meaning.
struct Names {
    defined: Symbol,
}

/// The state of preprocessing.
struct Preprocessor<'a> {
    lexer: Lexer<'a>,
    options: &'a GlslOptions,
    interner: &'a mut Interner,
    findings: &'a mut Findings,
    spellings: Spellings,
    names: Names,
    lines: LineMap,
    version: Version,
    /// Whether the target's driver does not have the version.
    is_beyond_target: bool,
    /// Whether the version is fixed and predefined macros exist.
    has_begun: bool,
    enabled: Extensions,
    warned: Extensions,
    ever_enabled: Extensions,
    invariant_all: Option<Span>,
    macros: Macros,
    groups: Vec<Group>,
    frames: Vec<Frame>,
    invocations: Vec<Invocation>,
    /// Whether `defined` is an operator.
    in_condition: bool,
    /// Whether its operand was missing, so that the condition has no value.
    has_bad_defined: bool,
    /// Tokens read and substituted so far.
    steps: u64,
    is_exhausted: bool,
    /// Words whose use was reported.
    reported_words: FxHashSet<Symbol>,
    /// The place of the last token of the text, for errors about its expansion.
    position: Span,
    /// Whether these were reported.
    is_too_deep: bool,
    has_deep_groups: bool,
    has_old_paste: bool,
    /// Braces of the result that are open.
    open_braces: u32,
    /// The result, after the tokens of other units.
    tokens: Tokens,
    /// The number of those.
    first: usize,
}

impl<'a> Preprocessor<'a> {
    /// The state before the first token.
    fn new(
        text: &'a [u8],
        start: u32,
        tokens: Tokens,
        options: &'a GlslOptions,
        interner: &'a mut Interner,
        findings: &'a mut Findings,
    ) -> Preprocessor<'a> {
        let spellings = Spellings::new(interner);
        let names = Names { defined: interner.intern("defined") };
        Preprocessor {
            lexer: Lexer::new(text, start),
            options,
            interner,
            findings,
            spellings,
            names,
            lines: LineMap::new(text, start),
            version: options.default_version,
            is_beyond_target: false,
            has_begun: false,
            enabled: Extensions::default(),
            warned: Extensions::default(),
            ever_enabled: Extensions::default(),
            invariant_all: None,
            macros: Macros::default(),
            groups: Vec::new(),
            frames: Vec::new(),
            invocations: Vec::new(),
            in_condition: false,
            has_bad_defined: false,
            steps: 0,
            is_exhausted: false,
            reported_words: FxHashSet::default(),
            position: Span::default(),
            is_too_deep: false,
            has_deep_groups: false,
            has_old_paste: false,
            open_braces: 0,
            first: tokens.tokens.len(),
            tokens,
        }
    }

    /// The next token of the text outside of directives and skipped groups.
    fn raw(&mut self) -> PpToken {
        loop {
            let token = self.lexer.next(self.interner, &self.spellings);
            if token.kind == PpKind::Newline {
                continue;
            }
            if Self::is_directive(&token) {
                self.position = token.span;
                self.directive(&token);
                if self.is_exhausted || self.findings.is_full() {
                    return self.end_token();
                }
                continue;
            }
            self.begin();
            return token;
        }
    }

    /// Fixes the version before anything that depends on it, and defines macros.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let version = self.version;
        let (number, es) = (version.number, version.is_es());
        let one = self.number_token(1);
        let profile = match version.profile {
            Profile::Core => "GL_core_profile",
            Profile::Compatibility => "GL_compatibility_profile",
            Profile::Es => "GL_es_profile",
        };
        let constants = [
            ("GL_ES", es),
            (profile, version.is_at_least(150, 300)),
            ("GL_FRAGMENT_PRECISION_HIGH", version.is_at_least(130, 100)),
        ];
        for (name, exists) in constants {
            if exists {
                self.macros.predefine(self.interner.intern(name), Origin::Predefined, &[one]);
            }
        }
        // Compilers of desktop versions have it without a directive.
        if !es && self.has_extension(Extension::ARBTextureRectangle) {
            self.enabled.set(Extension::ARBTextureRectangle, true);
            self.ever_enabled.set(Extension::ARBTextureRectangle, true);
        }
        for &extension in Extension::ALL {
            if self.has_extension(extension) {
                self.macros.predefine(self.interner.intern(extension.name()), Origin::Predefined, &[one]);
                if extension.is_enabled_by_default(version) {
                    self.enabled.set(extension, true);
                    self.ever_enabled.set(extension, true);
                }
            }
        }
        let number = self.number_token(u64::from(number));
        self.macros.predefine(self.interner.intern("__VERSION__"), Origin::Predefined, &[number]);
        self.macros.predefine(self.interner.intern("__LINE__"), Origin::Line, &[]);
        self.macros.predefine(self.interner.intern("__FILE__"), Origin::File, &[]);
        for (name, replacement) in &self.options.definitions {
            self.define_option(name, replacement);
        }
    }

    /// Adds a token to the result.
    fn emit(&mut self, token: &PpToken) {
        match token.kind {
            PpKind::Identifier => self.emit_word(token),
            PpKind::Number => self.push(token, TokenKind::Number),
            PpKind::Punct(punct @ (Punct::Hash | Punct::HashHash)) => {
                self.report_token(&PreprocessError::StrayHash { text: punct.text() }, token);
            }
            PpKind::Punct(punct) => self.push(token, TokenKind::Punct(punct)),
            PpKind::Other => {
                let spelling = self.interner.spelling(token.symbol);
                let text = match spelling.chars().next() {
                    Some('\0') => "a NUL byte".to_owned(),
                    Some(char::REPLACEMENT_CHARACTER) => "a byte that is not ASCII".to_owned(),
                    Some(control) if control.is_ascii_control() => {
                        format!("a control character ({:#04x})", control as u32)
                    }
                    _ => format!("`{}`", spelling.chars().take(20).collect::<String>()),
                };
                self.report_token(&PreprocessError::BadCharacter { text }, token);
            }
            PpKind::Newline | PpKind::End => {}
        }
    }

    /// Adds a name or keyword.
    fn emit_word(&mut self, token: &PpToken) {
        let Some(keyword) = token.symbol.keyword() else {
            let length = self.interner.spelling(token.symbol).len();
            if length > MAX_NAME && self.version.is_at_least(NEVER, 300) {
                self.report_token(&PreprocessError::NameTooLong { length }, token);
            }
            self.push(token, TokenKind::Identifier);
            return;
        };
        let (name, version) = (keyword.name(), self.version);
        let (kind, finding) = match keyword.meaning(version, &self.enabled) {
            Meaning::Keyword => {
                let is_warned = self.warned != Extensions::default()
                    && keyword.meaning(version, &self.enabled.without(&self.warned)) != Meaning::Keyword;
                let warning = || PreprocessError::KeywordOfExtension { name };
                (TokenKind::Keyword(keyword), is_warned.then(warning))
            }
            Meaning::Reserved => {
                let remedy = keyword.since().remedy(version);
                (TokenKind::Identifier, Some(PreprocessError::ReservedWord { name, version, remedy }))
            }
            Meaning::Identifier => (TokenKind::Identifier, None),
        };
        // Further uses follow from the first one.
        if let Some(finding) = finding
            && self.reported_words.insert(token.symbol)
        {
            self.report_token(&finding, token);
        }
        self.push(token, kind);
    }

    /// Adds a token with its kind.
    fn push(&mut self, token: &PpToken, kind: TokenKind) {
        match kind {
            TokenKind::Punct(Punct::LeftBrace) => self.open_braces += 1,
            TokenKind::Punct(Punct::RightBrace) => self.open_braces = self.open_braces.saturating_sub(1),
            _ => {}
        }
        let PpToken { symbol, span, expansion, .. } = *token;
        self.tokens.tokens.push(Token { kind, symbol, span, expansion });
    }

    /// Reports an error at a token: at the invocation of a macro that produced it, with a note at its spelling.
    fn report_token(&mut self, error: &PreprocessError, token: &PpToken) {
        let range = TokenRange::at(self.tokens.tokens.len() as u32);
        self.push(token, TokenKind::Number);
        self.findings.add_at(error, range, &self.tokens, self.interner);
        self.tokens.tokens.pop();
    }

    /// Reports open comments and groups, and ends the tokens.
    fn finish(mut self, text: &[u8]) -> Preprocessed {
        self.begin();
        if !self.is_exhausted && !self.findings.is_full() {
            if let Some(span) = self.lexer.open_comment {
                self.findings.add(&PreprocessError::UnterminatedComment, span);
            }
            self.check_groups();
        }
        if let Some(span) = self.lexer.continuation
            && !self.version.is_at_least(420, 300)
        {
            self.findings.add(&PreprocessError::LineContinuation { version: self.version }, span);
        }
        if self.is_exhausted {
            self.tokens.tokens.truncate(self.first);
        }
        let end = text.len() as u32;
        let (symbol, span) = (self.spellings.empty, Span::new(end, end));
        self.tokens.tokens.push(Token { kind: TokenKind::End, symbol, span, expansion: ExpansionId(0) });
        Preprocessed {
            first: self.first as u32,
            tokens: self.tokens,
            version: self.version,
            extensions: self.ever_enabled,
            invariant_all: self.invariant_all,
            lines: self.lines,
        }
    }
}
