//! Errors and warnings of the parser.

use tgsi_diagnostics::ErrorCode;
use thiserror::Error;

use super::feature::Feature;
use crate::findings::Finding;
use crate::version::Version;

/// A finding of the parser. Tokens in messages are quoted already.
#[derive(Debug, Error)]
pub(crate) enum ParseError {
    /// Another token is needed.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The tokens that may follow.
        expected: &'static str,
        /// The token found.
        found: String,
    },
    /// A statement or declaration without `;`.
    #[error("expected `;`, found {found}")]
    MissingSemicolon {
        /// The token found.
        found: String,
        /// The token before it.
        after: String,
    },
    /// A token that begins no expression.
    #[error("expected an expression, found {found}")]
    ExpectedExpression {
        /// The token found.
        found: String,
    },
    /// A token that begins no declaration, at global scope.
    #[error("expected a declaration, found {found}")]
    ExpectedDeclaration {
        /// The token found.
        found: String,
    },
    /// A keyword where a name is needed.
    #[error("{word} is a keyword and cannot be a name")]
    KeywordAsName {
        /// The keyword.
        word: String,
    },
    /// A declaration without a type.
    #[error("{name} is declared without a type")]
    MissingType {
        /// The name.
        name: String,
    },
    /// A brace, parenthesis or bracket that is not closed before the end.
    #[error("`{open}` is not closed")]
    Unclosed {
        /// The opening token.
        open: &'static str,
    },
    /// A closing token without an opening one.
    #[error("{close} closes nothing")]
    Unopened {
        /// The closing token.
        close: String,
    },
    /// Too deep nesting.
    #[error("more than {limit} levels of nested parentheses, operators, blocks or structs")]
    TooDeep {
        /// The limit.
        limit: u32,
    },
    /// Syntax that the version lacks.
    #[error("{} in GLSL {version}", .feature.message())]
    NotInVersion {
        /// The syntax.
        feature: Feature,
        /// The version.
        version: Version,
        /// The versions and extensions that have it.
        remedy: String,
    },
    /// A word that is a keyword in other versions only.
    #[error("`{word}` is not a keyword in GLSL {version}")]
    KeywordNotInVersion {
        /// The word.
        word: &'static str,
        /// The version.
        version: Version,
        /// The versions and extensions in which it is a keyword.
        remedy: String,
    },
    /// A statement outside functions.
    #[error("a statement is outside of any function")]
    StatementOutsideFunction,
    /// A function with a body in another function.
    #[error("{name} is defined inside another function")]
    NestedFunction {
        /// The name.
        name: String,
    },
    /// A struct or block without members.
    #[error("the {what} has no members")]
    NoMembers {
        /// `struct` or `block`.
        what: &'static str,
    },
    /// A member with an initialiser.
    #[error("the member {name} has an initialiser")]
    MemberInitializer {
        /// The name.
        name: String,
    },
    /// A block without storage qualifier.
    #[error("the block {name} has no storage qualifier")]
    UnqualifiedBlock {
        /// The name.
        name: String,
    },
    /// `base[]`.
    #[error("the index is missing")]
    MissingIndex,
    /// Braces that are not an initialiser.
    #[error("a list in braces is only an initialiser, not an operand")]
    MisplacedBraces,
    /// `case` or `default` that is not directly in the braces of a `switch`.
    #[error("the label is not directly inside a `switch`")]
    MisplacedLabel,
    /// A statement of a `switch` before its first label.
    #[error("a statement of the `switch` precedes its first label")]
    StatementBeforeLabel,
    /// `else` without `if`.
    #[error("`else` belongs to no `if`")]
    LonelyElse,
    /// The declaration of a loop's condition without initialiser.
    #[error("the condition declares {name} without a value")]
    ConditionWithoutValue {
        /// The name.
        name: String,
    },
    /// Warning: `;` at global scope.
    #[error("`;` at global scope")]
    ExtraSemicolon,
    /// Warning: array dimensions after the type, in a version that has them after the name only.
    #[error("array dimensions follow the type in GLSL {version}")]
    EarlyArrayType {
        /// The version.
        version: Version,
        /// The versions that have it.
        remedy: String,
    },
}

impl ParseError {
    tgsi_diagnostics::error_codes! {
        Expected => "G0200" "expected-token",
        MissingSemicolon => "G0201" "missing-semicolon",
        ExpectedExpression => "G0202" "expected-expression",
        ExpectedDeclaration => "G0203" "expected-declaration",
        KeywordAsName => "G0204" "keyword-as-name",
        MissingType => "G0205" "missing-type",
        Unclosed => "G0206" "unclosed",
        Unopened => "G0207" "unopened",
        TooDeep => "G0208" "nested-too-deep",
        NotInVersion => "G0209" "not-in-version",
        StatementOutsideFunction => "G0210" "statement-outside-function",
        NestedFunction => "G0211" "nested-function",
        NoMembers => "G0212" "no-members",
        MemberInitializer => "G0213" "member-initializer",
        UnqualifiedBlock => "G0214" "unqualified-block",
        MissingIndex => "G0215" "missing-index",
        MisplacedBraces => "G0216" "misplaced-braces",
        MisplacedLabel => "G0217" "misplaced-label",
        StatementBeforeLabel => "G0218" "statement-before-label",
        LonelyElse => "G0219" "else-without-if",
        ConditionWithoutValue => "G0220" "condition-without-value",
        KeywordNotInVersion => "G0221" "keyword-not-in-version",
        ExtraSemicolon => "G0290" "extra-semicolon",
        EarlyArrayType => "G0291" "early-array-type",
    }
}

impl Finding for ParseError {
    fn code(&self) -> ErrorCode {
        self.code()
    }

    fn is_warning(&self) -> bool {
        matches!(self, ParseError::ExtraSemicolon | ParseError::EarlyArrayType { .. })
    }

    fn hint(&self) -> Option<String> {
        let fixed = match self {
            ParseError::MissingSemicolon { after, .. } => return Some(format!("add `;` after {after}")),
            ParseError::NotInVersion { remedy, .. }
            | ParseError::KeywordNotInVersion { remedy, .. }
            | ParseError::EarlyArrayType { remedy, .. } => return Some(remedy.clone()),
            ParseError::KeywordAsName { .. } => "use another name",
            ParseError::MissingType { .. } => "write the type before the name",
            ParseError::NestedFunction { .. } => "close the function before it with `}`, or move the definition out",
            ParseError::StatementOutsideFunction => "move it into a function; an extra `}` may have closed one",
            ParseError::NoMembers { .. } => "declare a member",
            ParseError::MemberInitializer { .. } => "initialise the variable, not the member",
            ParseError::UnqualifiedBlock { .. } => "write `uniform`, `in`, `out` or `buffer` before the name",
            ParseError::MisplacedBraces => "use a constructor: `type(...)` or `type[](...)`",
            ParseError::ConditionWithoutValue { .. } => "add `= value`",
            ParseError::ExtraSemicolon => "remove it",
            ParseError::Expected { .. }
            | ParseError::ExpectedExpression { .. }
            | ParseError::ExpectedDeclaration { .. }
            | ParseError::Unclosed { .. }
            | ParseError::Unopened { .. }
            | ParseError::TooDeep { .. }
            | ParseError::MissingIndex
            | ParseError::MisplacedLabel
            | ParseError::StatementBeforeLabel
            | ParseError::LonelyElse => return None,
        };
        Some(fixed.to_owned())
    }
}
