//! Errors and warnings of the preprocessor, the lexer and the conversion of numbers.

use tgsi_diagnostics::ErrorCode;
use thiserror::Error;

use crate::findings::Finding;
use crate::version::Version;

/// An error or warning.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum PreprocessError {
    /// A text beyond the limit.
    #[error("the text has {length} bytes, at most {limit} are read")]
    TextTooLong { length: usize, limit: u64 },
    /// A byte or character that the language does not have.
    #[error("{text} is not in the character set of the language")]
    BadCharacter { text: String },
    /// A `/*` without `*/`.
    #[error("the comment does not end")]
    UnterminatedComment,
    /// Warning: `\` at the end of a line in a version without line continuations.
    #[error("GLSL {version} has no line continuations")]
    LineContinuation { version: Version },
    /// A word that the version reserves.
    #[error("`{name}` is a reserved word in GLSL {version}")]
    ReservedWord { name: &'static str, version: Version, remedy: String },
    /// A name beyond 1024 bytes.
    #[error("a name has {length} characters, at most 1024 are allowed")]
    NameTooLong { length: usize },
    /// `#` or `##` outside of a directive.
    #[error("`{text}` outside of a directive")]
    StrayHash { text: &'static str },
    /// Too many tokens.
    #[error("more than {limit} tokens with those of macro expansions")]
    TooManyTokens { limit: u64 },
    /// Warning: a keyword that exists by an extension with `warn`.
    #[error("`{name}` is a keyword of an extension")]
    KeywordOfExtension { name: &'static str },

    /// `#version` after tokens or directives.
    #[error("`#version` is not the first directive")]
    VersionNotFirst,
    /// `#version` without a number.
    #[error("`#version` without a number")]
    VersionSyntax,
    /// A number that is not a version.
    #[error("there is no version {number} of the language")]
    UnknownVersion { number: String },
    /// A profile that the version does not have.
    #[error("version {number} has no profile `{profile}`")]
    UnknownProfile { number: u16, profile: String },
    /// A version of the ES language without `es`.
    #[error("version {number} needs the profile `es`")]
    MissingEs { number: u16 },

    /// A version above those of the target's driver.
    #[error("version {number} is not supported by the target; its driver has {language} up to {offered}")]
    VersionBeyondTarget { number: u16, language: &'static str, offered: String },

    /// An unknown directive.
    #[error("unknown directive `#{name}`")]
    UnknownDirective { name: String, suggestion: Option<&'static str> },
    /// `#include`.
    #[error("the language has no `#include`")]
    Include,
    /// A directive without a name.
    #[error("`#{directive}` without a name")]
    MissingName { directive: &'static str },
    /// Tokens after a complete directive.
    #[error("tokens after `#{directive}`")]
    TrailingTokens { directive: &'static str },
    /// Warning: tokens after `#else` or `#endif`.
    #[error("tokens after `#{directive}` are ignored")]
    IgnoredTokens { directive: &'static str },
    /// `#error`.
    #[error("#error{}{message}", if message.is_empty() { "" } else { ": " })]
    UserError { message: String },
    /// A malformed `#line`.
    #[error("`#line` needs one or two integers")]
    LineSyntax,
    /// Warning: an unknown `#pragma`.
    #[error("unknown pragma `{text}` is ignored")]
    UnknownPragma { text: String },

    /// `#pragma optimize` or `#pragma debug` within braces.
    #[error("`#pragma {name}` inside braces")]
    InnerPragma { name: String },

    /// A malformed `#extension`.
    #[error("`#extension` needs a name, `:` and a behaviour")]
    ExtensionSyntax,
    /// An unknown behaviour.
    #[error("unknown behaviour `{behaviour}` of an extension")]
    UnknownBehaviour { behaviour: String },
    /// `require` of an extension that does not exist.
    #[error("extension `{name}` does not exist in GLSL {version}")]
    RequiredExtension { name: String, version: Version, remedy: Option<String> },
    /// Warning: another behaviour of an extension that does not exist.
    #[error("extension `{name}` does not exist in GLSL {version}")]
    UnknownExtension { name: String, version: Version, remedy: Option<String> },
    /// `all` with `require` or `enable`.
    #[error("`all` can only have the behaviours `warn` and `disable`")]
    AllExtensions,
    /// Warning: `#extension` after other tokens.
    #[error("`#extension` after other code")]
    LateExtension,
    /// `#extension` after other tokens, in the ES language.
    #[error("`#extension` after other code")]
    LateExtensionEs,

    /// A group without `#endif`.
    #[error("{}", if *count == 1 { "the group does not end".to_owned() } else { format!("{count} groups do not end") })]
    UnterminatedGroup { count: usize },
    /// `#elif`, `#else` or `#endif` without `#if`.
    #[error("`#{directive}` without `#if`")]
    WithoutIf { directive: &'static str },
    /// `#elif` or `#else` after `#else`.
    #[error("`#{directive}` after `#else`")]
    AfterElse { directive: &'static str },
    /// Too many nested groups.
    #[error("more than {limit} nested `#if`s")]
    NestedTooDeep { limit: u32 },
    /// An `#if` without an expression.
    #[error("`#{directive}` without an expression")]
    MissingExpression { directive: &'static str },
    /// A token that cannot be at its place in an expression.
    #[error("{expected} expected in the expression, not {found}")]
    Expression { expected: &'static str, found: String },
    /// A name that is not a macro, in the ES language.
    #[error("`{name}` is not a macro")]
    UndefinedName { name: String },
    /// Warning: a name that is not a macro.
    #[error("`{name}` is not a macro and counts as 0")]
    UndefinedIsZero { name: String },
    /// Division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// `defined` without a name.
    #[error("`defined` without the name of a macro")]
    DefinedSyntax,

    /// Definition or removal of a predefined name.
    #[error("`{name}` is predefined and cannot be {}", if *undefine { "removed" } else { "defined" })]
    PredefinedName { name: String, undefine: bool },
    /// A name that begins with `GL_`.
    #[error("macro names that begin with `GL_` are reserved")]
    ReservedPrefix { name: String },
    /// Warning: `defined` as the name of a macro, in the ES language.
    #[error("`defined` as the name of a macro")]
    DefinedAsName,
    /// Warning: a name with `__`.
    #[error("names with `__` are reserved")]
    DoubleUnderscore,
    /// A different definition of a macro.
    #[error("`{name}` is already defined differently")]
    Redefinition { name: String },
    /// A malformed list of parameters.
    #[error("{expected} expected in the parameters of a macro")]
    ParameterList { expected: &'static str },
    /// Two parameters with one name.
    #[error("two parameters with the name `{name}`")]
    DuplicateParameter { name: String },
    /// An invocation with the wrong number of arguments.
    #[error("`{name}` takes {expected} argument{}, not {found}", if *expected == 1 { "" } else { "s" })]
    ArgumentCount { name: String, expected: usize, found: usize },
    /// An invocation without `)`.
    #[error("the arguments of `{name}` do not end")]
    UnterminatedInvocation { name: String },
    /// Invocations nested too deep in arguments.
    #[error("more than {limit} macro invocations nested in arguments")]
    InvocationsTooDeep { limit: u32 },
    /// `##` at an end of a definition.
    #[error("`##` at the {} of a definition", if *start { "start" } else { "end" })]
    PasteAtEdge { start: bool },
    /// `##` of tokens that are not one token together.
    #[error("`{text}` is not a token")]
    BadPaste { text: String },
    /// Warning: `##` in a version without it.
    #[error("GLSL {version} has no `##`")]
    OldPaste { version: Version },
    /// `##` in the ES language.
    #[error("GLSL ES has no `##`")]
    PasteEs,
    /// `#` in a definition.
    #[error("`#` in the definition of a macro")]
    Stringification,
    /// A definition of the options that is not one.
    #[error("the option `{text}` does not define a macro")]
    BadDefinition { text: String },

    /// A malformed number.
    #[error("`{text}` is not a number")]
    BadNumber { text: String },
    /// A digit beyond 7 in an octal number.
    #[error("`{text}` is octal and has a digit beyond 7")]
    BadOctal { text: String },
    /// An integer beyond 32 bits (64 with a suffix).
    #[error("`{text}` does not fit in {bits} bits")]
    IntegerTooLarge { text: String, bits: u32 },
    /// A suffix that the version does not have.
    #[error("GLSL {version} has no suffix `{suffix}`")]
    Suffix { suffix: &'static str, version: Version, remedy: String },
    /// Warning: the suffix `f` in a version without it.
    #[error("GLSL {version} has no suffix `f`")]
    OldFloatSuffix { version: Version },
}

impl PreprocessError {
    tgsi_diagnostics::error_codes! {
        TextTooLong => "G0100" "text-too-long",
        BadCharacter => "G0101" "bad-character",
        UnterminatedComment => "G0102" "unterminated-comment",
        LineContinuation => "G0103" "line-continuation",
        ReservedWord => "G0104" "reserved-word",
        NameTooLong => "G0105" "name-too-long",
        StrayHash => "G0106" "stray-hash",
        TooManyTokens => "G0107" "too-many-tokens",
        KeywordOfExtension => "G0108" "keyword-of-extension",
        VersionNotFirst => "G0110" "version-not-first",
        VersionSyntax => "G0111" "version-syntax",
        UnknownVersion => "G0112" "unknown-version",
        UnknownProfile => "G0113" "unknown-profile",
        MissingEs => "G0114" "missing-es",
        VersionBeyondTarget => "G0115" "version-beyond-target",
        UnknownDirective => "G0120" "unknown-directive",
        Include => "G0121" "include",
        MissingName => "G0122" "missing-macro-name",
        TrailingTokens => "G0123" "trailing-tokens",
        IgnoredTokens => "G0124" "ignored-tokens",
        UserError => "G0125" "error-directive",
        LineSyntax => "G0126" "line-syntax",
        UnknownPragma => "G0127" "unknown-pragma",
        InnerPragma => "G0128" "inner-pragma",
        ExtensionSyntax => "G0130" "extension-syntax",
        UnknownBehaviour => "G0131" "unknown-behaviour",
        RequiredExtension => "G0132" "required-extension",
        UnknownExtension => "G0133" "unknown-extension",
        AllExtensions => "G0134" "all-extensions",
        LateExtension => "G0135" "late-extension",
        LateExtensionEs => "G0136" "late-extension-es",
        UnterminatedGroup => "G0140" "unterminated-group",
        WithoutIf => "G0141" "without-if",
        AfterElse => "G0142" "after-else",
        NestedTooDeep => "G0143" "groups-too-deep",
        MissingExpression => "G0144" "missing-expression",
        Expression => "G0145" "bad-expression",
        UndefinedName => "G0146" "undefined-name",
        UndefinedIsZero => "G0147" "undefined-is-zero",
        DivisionByZero => "G0148" "division-by-zero",
        DefinedSyntax => "G0149" "defined-syntax",
        PredefinedName => "G0150" "predefined-name",
        ReservedPrefix => "G0151" "reserved-prefix",
        DoubleUnderscore => "G0152" "double-underscore",
        Redefinition => "G0153" "macro-redefinition",
        ParameterList => "G0154" "parameter-list",
        DuplicateParameter => "G0155" "duplicate-parameter",
        ArgumentCount => "G0156" "macro-argument-count",
        UnterminatedInvocation => "G0157" "unterminated-invocation",
        InvocationsTooDeep => "G0158" "invocations-too-deep",
        PasteAtEdge => "G0159" "paste-at-edge",
        BadPaste => "G0160" "bad-paste",
        OldPaste => "G0161" "old-paste",
        BadDefinition => "G0162" "bad-definition",
        Stringification => "G0163" "stringification",
        DefinedAsName => "G0164" "defined-as-name",
        PasteEs => "G0165" "paste-es",
        BadNumber => "G0170" "bad-number",
        BadOctal => "G0171" "bad-octal",
        IntegerTooLarge => "G0172" "integer-too-large",
        Suffix => "G0173" "number-suffix",
        OldFloatSuffix => "G0174" "old-float-suffix",
    }
}

impl Finding for PreprocessError {
    fn code(&self) -> ErrorCode {
        PreprocessError::code(self)
    }

    fn is_warning(&self) -> bool {
        use PreprocessError::*;
        matches!(
            self,
            LineContinuation { .. }
                | KeywordOfExtension { .. }
                | IgnoredTokens { .. }
                | UnknownPragma { .. }
                | UnknownExtension { .. }
                | LateExtension
                | UndefinedIsZero { .. }
                | DoubleUnderscore
                | OldPaste { .. }
                | DefinedAsName
                | OldFloatSuffix { .. }
        )
    }

    fn hint(&self) -> Option<String> {
        use PreprocessError::*;
        let text = match self {
            BadCharacter { text } if text == "`\\`" => "a line continuation is `\\` directly before the newline",
            BadCharacter { .. } => {
                "comments may have any character, code only those of ASCII without $ @ ' \" ` and \\"
            }
            UnterminatedComment => "end it with `*/`",
            LineContinuation { .. } => "from `#version 420` or `#version 300 es`, lines may end with `\\`",
            ReservedWord { name, version, .. }
                if !version.is_es() && matches!(&**name, "precision" | "lowp" | "mediump" | "highp") =>
            {
                "precisions need `#version 130`, or `#version 100` for GLSL ES"
            }
            ReservedWord { remedy, .. } if remedy.starts_with("needs") => {
                return Some(format!("choose another name; as a keyword, it {remedy}"));
            }
            ReservedWord { .. } => "choose another name",
            StrayHash { text: "#" } => "a directive must be the first on its line",
            StrayHash { .. } => "`##` joins tokens in definitions of macros only",
            TooManyTokens { .. } => "a macro that uses another one twice doubles its tokens",
            VersionNotFirst => "move it to the start; only blanks and comments may precede it",
            VersionSyntax => "for example: `#version 120`, `#version 330 core`, `#version 300 es`",
            UnknownVersion { .. } => {
                let list = |versions: &[u16]| versions.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
                return Some(format!("the versions are {}, and in ES {}", list(Version::DESKTOP), list(Version::ES)));
            }
            UnknownProfile { number, .. } if Version::ES.contains(number) && *number != 100 => "its profile is `es`",
            UnknownProfile { number, .. } if *number >= 150 => "its profiles are `core` and `compatibility`",
            UnknownProfile { number, .. } => return Some(format!("write `#version {number}`")),
            MissingEs { number } => return Some(format!("write `#version {number} es`")),
            UnknownDirective { suggestion: Some(name), .. } => return Some(format!("did you mean `#{name}`?")),
            RequiredExtension { remedy, .. } | UnknownExtension { remedy, .. } => return remedy.clone(),
            Include => "insert the text of the file before compilation",
            ExtensionSyntax => "for example: `#extension GL_ARB_draw_buffers : require`",
            UnknownBehaviour { .. } => "the behaviours are `require`, `enable`, `warn` and `disable`",
            AllExtensions => "name each extension",
            LateExtension => "move it to the start: other compilers refuse it here",
            LateExtensionEs => "move it to the start",
            UnterminatedGroup { .. } => "end it with `#endif`",
            UndefinedName { .. } => "test it with `defined` first; `&&` and `||` skip their second operand",
            InnerPragma { .. } => "move it before the function",
            ReservedPrefix { .. } => "choose another name",
            Redefinition { .. } => "remove the first definition with `#undef`",
            BadPaste { .. } => "both sides of `##` must form one name, number or operator",
            OldPaste { .. } => "`##` exists from `#version 130`",
            PasteEs => "write the definition without it, or use desktop GLSL from `#version 130`",
            DefinedAsName => "choose another name: in `#if` it remains the operator",
            Stringification => "there are no strings in the language",
            BadOctal { .. } => "a number that begins with 0 is octal",
            Suffix { remedy, .. } => return Some(remedy.clone()),
            OldFloatSuffix { .. } => "omit it: a number with a point or exponent is a float",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// A text for a message: only its beginning if it is long.
pub(super) fn shown(text: &str) -> String {
    const MAX: usize = 80;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
