//! The errors and warnings of the text parser.

use thiserror::Error;

use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, Severity};

/// An error or warning of the text parser. [`ParseErrorKind::code`] names the variant in a [`Diagnostic`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ParseErrorKind {
    /// An empty text.
    #[error("the text is empty; a shader begins with the name of its stage")]
    Empty,
    /// The first word is not a stage.
    #[error("unknown stage `{0}`")]
    UnknownStage(String),
    /// A mnemonic that TGSI never had.
    #[error("unknown opcode `{0}`")]
    UnknownOpcode(String),
    /// A former mnemonic of TGSI with a meaning that cannot be preserved.
    #[error("the opcode {name} is no longer part of TGSI: {reason}")]
    RemovedOpcode {
        /// The mnemonic.
        name: &'static str,
        /// The reason that it cannot be rewritten.
        reason: &'static str,
    },
    /// A word that is not a register file, where one is expected.
    #[error("unknown register file `{0}`")]
    UnknownFile(String),
    /// An unknown word in a declaration.
    #[error("unknown semantic or attribute `{0}` in a declaration")]
    UnknownAttribute(String),
    /// An attribute that occurs twice in a declaration.
    #[error("a second {0} in the same declaration")]
    DuplicateAttribute(&'static str),
    /// An unknown property.
    #[error("unknown property `{0}`")]
    UnknownProperty(String),
    /// A property with a value of another type.
    #[error("`{value}` is not a value of the property {property}")]
    PropertyValue {
        /// The property.
        property: &'static str,
        /// The text that was found.
        value: String,
    },
    /// A word that is not a texture target, where one is expected.
    #[error("unknown texture target `{0}`")]
    UnknownTarget(String),
    /// A texture instruction without a target.
    #[error("{0} needs a texture target after its operands")]
    MissingTarget(&'static str),
    /// A sampler view declaration with a missing or unknown return type.
    #[error("unknown return type `{0}`")]
    UnknownReturnType(String),
    /// A word after the operands that is not a memory qualifier, target or format.
    #[error("unknown memory qualifier, texture target or format `{0}`")]
    UnknownModifier(String),
    /// An unknown type of an immediate.
    #[error("unknown type of an immediate `{0}`")]
    UnknownImmediateType(String),
    /// A value that an immediate of this type cannot have.
    #[error("`{value}` is not a value of type {data_type}")]
    ImmediateValue {
        /// Type of the immediate.
        data_type: &'static str,
        /// The text that was found.
        value: String,
    },
    /// More values than an immediate can hold.
    #[error("an immediate of type {data_type} has at most {limit} values")]
    ImmediateCount {
        /// Type of the immediate.
        data_type: &'static str,
        /// Maximum number of values.
        limit: usize,
    },
    /// An immediate with a number other than its position.
    #[error("found IMM[{number}] where IMM[{expected}] should be declared")]
    ImmediateOrder {
        /// The number in the text.
        number: u64,
        /// Its position.
        expected: usize,
    },
    /// A required character is missing.
    #[error("expected `{expected}`, found {found}")]
    ExpectedCharacter {
        /// The expected character.
        expected: char,
        /// The text that was found.
        found: String,
    },
    /// A required word or number is missing.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The expected text.
        expected: &'static str,
        /// The text that was found.
        found: String,
    },
    /// A number out of the range of its field.
    #[error("{what} {value} is out of range, {low} to {high} are possible")]
    OutOfRange {
        /// The kind of number.
        what: &'static str,
        /// The number as written.
        value: String,
        /// Minimum value.
        low: i64,
        /// Maximum value.
        high: i64,
    },
    /// A range of registers that ends before it begins.
    #[error("the range {first}..{last} ends before it begins")]
    RangeBackwards {
        /// First register.
        first: u64,
        /// Last register.
        last: u64,
    },
    /// `[]` on a register without vertices.
    #[error("`[]` has no meaning here")]
    EmptyBrackets,
    /// Invalid components after a destination or in a declaration.
    #[error("`.{0}` is not a write mask")]
    WriteMask(String),
    /// Invalid components after a source.
    #[error("`.{0}` is not a swizzle")]
    Swizzle(String),
    /// An absolute value without a closing bar.
    #[error("the absolute value has no closing `|`")]
    UnclosedAbsolute,
    /// Too few operands.
    #[error("{opcode} needs {expected} operands, there are {found}")]
    TooFewOperands {
        /// The mnemonic.
        opcode: &'static str,
        /// Number of operands of the opcode.
        expected: usize,
        /// Number of operands in the text.
        found: usize,
    },
    /// A register after the last operand.
    #[error("{opcode} has only {expected} operands")]
    TooManyOperands {
        /// The mnemonic.
        opcode: &'static str,
        /// Number of operands of the opcode.
        expected: usize,
    },
    /// A word after the operands that is not valid for the opcode.
    #[error("unexpected `{found}` after the operands of {opcode}")]
    UnexpectedModifier {
        /// The mnemonic.
        opcode: &'static str,
        /// The word.
        found: String,
    },
    /// More texture offsets than an instruction can have.
    #[error("an instruction has at most {0} texture offsets")]
    TooManyOffsets(usize),
    /// Two statements that touch, or garbage after one.
    #[error("unexpected {0} after the statement")]
    AfterStatement(String),
    /// A statement that begins with an unknown token.
    #[error("expected DCL, IMM, PROPERTY or an instruction, found {0}")]
    ExpectedStatement(String),
    /// `#else` or `#endif` without `#ifdef`, or vice versa.
    #[error("`#{0}` without its counterpart")]
    UnbalancedConditional(&'static str),
    /// Macros that are recursive, nested too deeply, or too many.
    #[error("the definition of `{0}` is recursive or too deep")]
    MacroDepth(String),
    /// More temporary registers than free register numbers.
    #[error("the shader leaves no register numbers for its {0}")]
    NoRegisters(&'static str),
    /// More declarations of a file that no longer exists than any shader had.
    #[error("at most {0} declarations of files that TGSI no longer has are read")]
    TooManyOldDeclarations(usize),
    /// The text is too long.
    #[error("the text has {length} bytes, at most {limit} are read")]
    TooLong {
        /// The length of the text.
        length: u64,
        /// The limit.
        limit: u64,
    },
    /// The parser gave up after too many errors.
    #[error("too many errors, giving up")]
    TooManyErrors,
    /// A text that the parser of Mesa 25 does not accept, where it must.
    #[error("the parser of Mesa 25 stops here, expecting {0}")]
    NotMesa25(&'static str),
    /// Warning: an interpolation location without a mode is dropped.
    #[error("the interpolation location has no effect without an interpolation mode")]
    LocationWithoutMode,
    /// Warning: streams without a semantic are dropped.
    #[error("STREAM has no effect without a semantic")]
    StreamWithoutSemantic,
    /// Warning: cylindrical wrapping no longer exists.
    #[error("cylindrical wrapping is no longer part of TGSI and is ignored")]
    CylindricalWrap,
    /// Warning: `(null)` is ambiguous.
    #[error("Mesa prints several unnamed values as `(null)`; this one is read as {0}")]
    NullName(&'static str),
    /// Warning: an old compute text without a main program.
    #[error("the text has no main program; it now calls the subroutine at instruction {0}")]
    NoMain(u32),
    /// Warning: the opcode does not support this suffix.
    #[error("saturation has no meaning on {0} and is ignored")]
    NoSaturation(&'static str),
}

impl ParseErrorKind {
    tgsi_diagnostics::error_codes! {
        Empty => "T0001" "empty-text",
        UnknownStage => "T0002" "unknown-stage",
        UnknownOpcode => "T0003" "unknown-opcode",
        RemovedOpcode => "T0004" "removed-opcode",
        UnknownFile => "T0005" "unknown-file",
        UnknownAttribute => "T0006" "unknown-attribute",
        DuplicateAttribute => "T0007" "duplicate-attribute",
        UnknownProperty => "T0008" "unknown-property",
        PropertyValue => "T0370" "property-value",
        UnknownTarget => "T0009" "unknown-target",
        MissingTarget => "T0450" "missing-target",
        UnknownReturnType => "T0010" "unknown-return-type",
        UnknownModifier => "T0011" "unknown-modifier",
        UnknownImmediateType => "T0012" "unknown-immediate-type",
        ImmediateValue => "T0013" "immediate-value",
        ImmediateCount => "T0014" "immediate-count",
        ImmediateOrder => "T0015" "immediate-order",
        ExpectedCharacter => "T0016" "expected-character",
        Expected => "T0017" "expected",
        OutOfRange => "T0018" "out-of-range",
        RangeBackwards => "T0019" "range-backwards",
        EmptyBrackets => "T0020" "empty-brackets",
        WriteMask => "T0021" "write-mask",
        Swizzle => "T0022" "swizzle",
        UnclosedAbsolute => "T0023" "unclosed-absolute",
        TooFewOperands => "T0024" "too-few-operands",
        TooManyOperands => "T0025" "too-many-operands",
        TooManyOffsets => "T0026" "too-many-offsets",
        AfterStatement => "T0027" "after-statement",
        ExpectedStatement => "T0028" "expected-statement",
        UnbalancedConditional => "T0029" "unbalanced-conditional",
        MacroDepth => "T0103" "macro-depth",
        NoRegisters => "T0030" "no-registers",
        TooManyOldDeclarations => "T0102" "too-many-old-declarations",
        TooLong => "T0100" "text-too-long",
        TooManyErrors => "T0101" "too-many-errors",
        UnexpectedModifier => "T0031" "unexpected-modifier",
        NotMesa25 => "T0060" "not-mesa-25",
        LocationWithoutMode => "T0090" "location-without-mode",
        StreamWithoutSemantic => "T0091" "stream-without-semantic",
        CylindricalWrap => "T0092" "cylindrical-wrap",
        NullName => "T0093" "null-name",
        NoMain => "T0094" "no-main",
        NoSaturation => "T0095" "no-saturation",
    }

    /// The severity: whether a text with this problem still has a meaning.
    pub fn severity(&self) -> Severity {
        use ParseErrorKind::*;
        match self {
            LocationWithoutMode
            | StreamWithoutSemantic
            | CylindricalWrap
            | NullName(_)
            | NoMain(_)
            | NoSaturation(_) => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Returns the diagnostic for this error at `span`.
    pub fn at(self, span: Span) -> Diagnostic {
        Diagnostic::new(self.severity(), self.code(), span, self.to_string())
    }
}
