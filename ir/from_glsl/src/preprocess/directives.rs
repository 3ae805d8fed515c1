//! Directives, except conditional groups.

use tgsi_diagnostics::{Span, suggest};

use super::Preprocessor;
use super::error::{PreprocessError, shown};
use super::lexer::{PpKind, PpToken};
use crate::extension::Extension;
use crate::token::Punct;
use crate::version::{Profile, Version};

macro_rules! directives {
    ($($variant:ident $name:literal,)+) => {
        /// A directive.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Directive { $(#[doc = concat!("`#", $name, "`")] $variant,)+ }

        impl Directive {
            const ALL: &'static [Directive] = &[$(Directive::$variant,)+];

            /// The name, without `#`.
            pub(super) const fn name(self) -> &'static str {
                match self { $(Directive::$variant => $name,)+ }
            }
        }
    };
}

directives! {
    Define "define", Undef "undef", If "if", Ifdef "ifdef", Ifndef "ifndef", Elif "elif", Else "else", Endif "endif",
    Error "error", Pragma "pragma", Extension "extension", Version "version", Line "line", Include "include",
}

impl Preprocessor<'_> {
    /// The directive with a name.
    pub(super) fn directive_of(&self, name: &PpToken) -> Option<Directive> {
        if name.kind != PpKind::Identifier {
            return None;
        }
        let text = self.interner.spelling(name.symbol);
        Directive::ALL.iter().copied().find(|directive| directive.name() == text)
    }

    /// Executes the directive after a `#`.
    pub(super) fn directive(&mut self, hash: &PpToken) {
        let name = self.lexer.next(self.interner, &self.spellings);
        if name.ends_line() {
            self.begin();
            return;
        }
        let directive = self.directive_of(&name);
        if directive == Some(Directive::Version) {
            self.version_directive(hash, &name);
            return;
        }
        self.begin();
        match directive {
            Some(directive @ (Directive::If | Directive::Ifdef | Directive::Ifndef)) => {
                self.begin_group(directive, &name);
            }
            Some(directive @ (Directive::Elif | Directive::Else | Directive::Endif)) => {
                self.end_branch(directive, &name);
            }
            Some(Directive::Define) => {
                let line = self.read_line();
                self.define(&line, &name, false);
            }
            Some(Directive::Undef) => self.undef(&name),
            Some(Directive::Error) => {
                let message = self.rest_of_line();
                self.findings.add(&PreprocessError::UserError { message }, enclosing(hash.span, name.span));
            }
            Some(Directive::Pragma) => self.pragma(&name),
            Some(Directive::Extension) => self.extension(&name),
            Some(Directive::Line) => self.line_directive(&name),
            Some(Directive::Include) => {
                self.read_line();
                self.findings.add(&PreprocessError::Include, enclosing(hash.span, name.span));
            }
            Some(Directive::Version) => {}
            None => {
                self.read_line();
                let text = self.text_of(name.symbol);
                let suggestion = suggest(&text, Directive::ALL.iter().map(|directive| directive.name()));
                let error = PreprocessError::UnknownDirective { name: text, suggestion };
                self.findings.add(&error, enclosing(hash.span, name.span));
            }
        }
    }

    /// The tokens up to the end of the line.
    pub(super) fn read_line(&mut self) -> Vec<PpToken> {
        let mut line = Vec::new();
        if self.lexer.is_at_line_start() {
            return line;
        }
        loop {
            let token = self.lexer.next(self.interner, &self.spellings);
            if token.ends_line() || self.spend(1) {
                return line;
            }
            line.push(token);
        }
    }

    /// The text up to the end of the line.
    fn rest_of_line(&mut self) -> String {
        let line = self.read_line();
        let (Some(first), Some(last)) = (line.first(), line.last()) else { return String::new() };
        shown(&String::from_utf8_lossy(self.lexer.slice(enclosing(first.span, last.span))))
    }

    /// Reports tokens before the end of the line: `#endif` often has a name there.
    pub(super) fn expect_end_of_line(&mut self, directive: Directive) {
        let line = self.read_line();
        if let (Some(first), Some(last)) = (line.first(), line.last()) {
            let directive_name = directive.name();
            let error = match directive {
                Directive::Endif => PreprocessError::IgnoredTokens { directive: directive_name },
                _ => PreprocessError::TrailingTokens { directive: directive_name },
            };
            self.findings.add(&error, enclosing(first.span, last.span));
        }
    }

    /// `#version`.
    fn version_directive(&mut self, hash: &PpToken, name: &PpToken) {
        let line = self.read_line();
        let span = enclosing(hash.span, line.last().unwrap_or(name).span);
        if self.has_begun {
            self.findings.add(&PreprocessError::VersionNotFirst, span);
            return;
        }
        match self.read_version(&line, name) {
            Ok(version) => self.version = version,
            Err((error, span)) => {
                self.findings.add(&error, span);
            }
        }
        self.begin();
    }

    /// The version that the tokens after `#version` name.
    fn read_version(&mut self, line: &[PpToken], name: &PpToken) -> Result<Version, (PreprocessError, Span)> {
        let Some(number) = line.first().filter(|token| token.kind == PpKind::Number) else {
            return Err((PreprocessError::VersionSyntax, line.first().unwrap_or(name).span));
        };
        let text = self.text_of(number.symbol);
        let parsed = text.parse::<u16>().ok().filter(|number| {
            !text.starts_with('0') && (Version::DESKTOP.contains(number) || Version::ES.contains(number))
        });
        let Some(value) = parsed else {
            return Err((PreprocessError::UnknownVersion { number: text }, number.span));
        };
        let is_es = Version::ES.contains(&value);
        let mut profile = match value {
            _ if is_es => Profile::Es,
            150.. => Profile::Core,
            _ => Profile::Compatibility,
        };
        match line.get(1) {
            None if is_es && value != 100 => {
                self.findings.add(&PreprocessError::MissingEs { number: value }, number.span);
            }
            None => {}
            Some(word) => match (word.kind, self.interner.spelling(word.symbol)) {
                (PpKind::Identifier, "es") if is_es && value != 100 => {}
                (PpKind::Identifier, "core") if !is_es && value >= 150 => {}
                (PpKind::Identifier, "compatibility") if !is_es && value >= 150 => profile = Profile::Compatibility,
                (_, text) => {
                    let error = PreprocessError::UnknownProfile { number: value, profile: shown(text) };
                    self.findings.add(&error, word.span);
                }
            },
        }
        if let Some(extra) = line.get(2) {
            self.findings.add(&PreprocessError::TrailingTokens { directive: "version" }, extra.span);
        }
        self.check_offered(value, is_es, number.span);
        Ok(Version { number: value, profile })
    }

    /// Reports a version that the target's driver does not offer.
    fn check_offered(&mut self, number: u16, is_es: bool, span: Span) {
        let (most, language) = match is_es {
            true => (self.options.max_es_version, "GLSL ES"),
            false => (self.options.max_version, "GLSL"),
        };
        if let Some(most) = most.filter(|&most| number > most) {
            let offered = format!("{}.{:02}", most / 100, most % 100);
            let error = PreprocessError::VersionBeyondTarget { number, language, offered };
            self.findings.add(&error, span);
            self.is_beyond_target = true;
        }
    }

    /// `#pragma`.
    fn pragma(&mut self, directive: &PpToken) {
        let line = self.read_line();
        let words: Vec<&str> = line.iter().take(6).map(|token| self.interner.spelling(token.symbol)).collect();
        match *words.as_slice() {
            ["STDGL", "invariant", "(", "all", ")"] => {
                let last = line.last().unwrap_or(directive);
                let span = enclosing(line.first().unwrap_or(directive).span, last.span);
                self.invariant_all.get_or_insert(span);
            }
            [name @ ("optimize" | "debug"), "(", "on" | "off", ")"] if self.open_braces > 0 => {
                let error = PreprocessError::InnerPragma { name: name.to_owned() };
                let last = line.last().unwrap_or(directive);
                self.findings.add(&error, enclosing(line.first().unwrap_or(directive).span, last.span));
            }
            // RetroArch shows `parameter NAME "text" ...` to users as the setting of a uniform.
            ["optimize" | "debug", "(", "on" | "off", ")"] | ["once"] | ["parameter", _, ..] | [] => {}
            _ => {
                let last = line.last().unwrap_or(directive);
                let span = enclosing(line.first().unwrap_or(directive).span, last.span);
                let text = shown(&String::from_utf8_lossy(self.lexer.slice(span)));
                self.findings.add(&PreprocessError::UnknownPragma { text }, span);
            }
        }
    }

    /// `#extension`.
    fn extension(&mut self, directive: &PpToken) {
        let line = self.read_line();
        let (name, behaviour) = match line.as_slice() {
            [name, colon, behaviour, rest @ ..]
                if name.kind == PpKind::Identifier
                    && colon.is(Punct::Colon)
                    && behaviour.kind == PpKind::Identifier =>
            {
                if let Some(extra) = rest.first() {
                    self.findings.add(&PreprocessError::TrailingTokens { directive: "extension" }, extra.span);
                }
                (name, behaviour)
            }
            _ => {
                let span = line
                    .first()
                    .map_or(directive.span, |first| enclosing(first.span, line.last().unwrap_or(first).span));
                self.findings.add(&PreprocessError::ExtensionSyntax, span);
                return;
            }
        };
        let behaviour_text = self.text_of(behaviour.symbol);
        let (is_enabled, is_warned) = match behaviour_text.as_str() {
            "require" | "enable" => (true, false),
            "warn" => (true, true),
            "disable" => (false, false),
            _ => {
                let error = PreprocessError::UnknownBehaviour { behaviour: behaviour_text };
                self.findings.add(&error, behaviour.span);
                return;
            }
        };
        if self.tokens.tokens.len() > self.first {
            let error = match self.version.is_es() {
                true => PreprocessError::LateExtensionEs,
                false => PreprocessError::LateExtension,
            };
            self.findings.add(&error, directive.span);
        }
        let text = self.text_of(name.symbol);
        if text == "all" {
            if is_enabled && !is_warned {
                self.findings.add(&PreprocessError::AllExtensions, behaviour.span);
                return;
            }
            for &extension in Extension::ALL {
                if self.has_extension(extension) {
                    self.set_extension(extension, is_enabled, is_warned);
                }
            }
            return;
        }
        match Extension::from_name(&text).filter(|&extension| self.has_extension(extension)) {
            Some(extension) => {
                for &implied in extension.implied() {
                    if self.has_extension(implied) {
                        self.set_extension(implied, is_enabled, is_warned);
                    }
                }
                self.set_extension(extension, is_enabled, is_warned);
            }
            None => {
                let (remedy, version) = (self.extension_remedy(&text), self.version);
                let error = match behaviour_text.as_str() {
                    "require" => PreprocessError::RequiredExtension { name: text, version, remedy },
                    _ => PreprocessError::UnknownExtension { name: text, version, remedy },
                };
                self.findings.add(&error, name.span);
            }
        }
    }

    /// Whether an extension exists in the version and for the options.
    pub(super) fn has_extension(&self, extension: Extension) -> bool {
        // After the error about the version, those about extensions would only repeat it.
        extension.exists_in(self.version) && (self.is_beyond_target || self.options.extensions.contains(extension))
    }

    /// The reason why an extension does not exist, or one with a similar name.
    fn extension_remedy(&self, name: &str) -> Option<String> {
        match Extension::from_name(name) {
            Some(extension) if extension.exists_in(self.version) => {
                let is_of_target = self.options.max_version.is_some() || self.options.max_es_version.is_some();
                let subject =
                    if is_of_target { "the target's driver does not have it" } else { "the options exclude it" };
                Some(subject.to_owned())
            }
            Some(extension) => Some(extension.remedy(self.version)),
            None => {
                let existing = Extension::ALL.iter().filter(|&&extension| self.has_extension(extension));
                let similar = suggest(name, existing.map(|extension| extension.name()))?;
                Some(format!("did you mean `{similar}`?"))
            }
        }
    }

    /// Sets the behaviour of an extension.
    fn set_extension(&mut self, extension: Extension, is_enabled: bool, is_warned: bool) {
        self.enabled.set(extension, is_enabled);
        self.warned.set(extension, is_warned);
        if is_enabled {
            self.ever_enabled.set(extension, true);
        }
    }

    /// `#line`.
    fn line_directive(&mut self, directive: &PpToken) {
        let line = self.read_line();
        let tokens = self.expand_line(line);
        let numbers = self.line_numbers(&tokens);
        let Some((line, source)) = numbers else {
            let span = match (tokens.first(), tokens.last()) {
                (Some(first), Some(last)) if first.span.end > 0 && last.span.end >= first.span.start => {
                    enclosing(first.span, last.span)
                }
                _ => directive.span,
            };
            self.findings.add(&PreprocessError::LineSyntax, span);
            return;
        };
        // Up to 1.50, the number is that of the line of the directive.
        let next = if self.version.is_at_least(330, 100) { line } else { line.wrapping_add(1) };
        self.lines.change(self.lexer.position(), next, source);
    }

    /// One or two non-negative numbers.
    fn line_numbers(&mut self, tokens: &[PpToken]) -> Option<(u32, Option<u32>)> {
        if tokens.is_empty() || tokens.iter().any(|token| token.kind == PpKind::Identifier) {
            return None;
        }
        let (line, length) = self.evaluate(tokens)?;
        let line = u32::try_from(line).ok()?;
        let rest = tokens.get(length..).unwrap_or_default();
        if rest.is_empty() {
            return Some((line, None));
        }
        let (source, length) = self.evaluate(rest)?;
        (length == rest.len()).then_some((line, Some(u32::try_from(source).ok()?)))
    }
}

/// The span from the start of one to the end of another.
fn enclosing(first: Span, last: Span) -> Span {
    Span::new(first.start, last.end.max(first.start))
}
