//! What can be wrong with a text.

/// An error of a text, with its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {kind}")]
pub struct TextError {
    /// Line, from 1.
    pub line: u32,
    /// Column, in characters from 1.
    pub column: u32,
    /// Byte offset.
    pub offset: usize,
    /// What is wrong.
    pub kind: TextErrorKind,
    /// How it might be put right.
    pub hint: Option<String>,
}

/// Which edges of a block a remark states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeSide {
    /// `preds:`.
    Predecessors,
    /// `succs:`.
    Successors,
}

impl std::fmt::Display for EdgeSide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            EdgeSide::Predecessors => "predecessors",
            EdgeSide::Successors => "successors",
        })
    }
}

/// Kinds of errors.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TextErrorKind {
    /// Something else should stand here.
    #[error("expected {0}")]
    Expected(&'static str),
    /// More text on the line than belongs there.
    #[error("unexpected text behind the end of the line's content")]
    Trailing,
    /// The first line is not `shader: MESA_SHADER_...`.
    #[error("the text does not begin with `shader:` and a stage")]
    NoStage,
    /// The value of a header line cannot be read.
    #[error("`{0}` has a value that cannot be read")]
    BadHeaderValue(String),
    /// No ALU opcode.
    #[error("unknown opcode `{0}`")]
    UnknownOpcode(String),
    /// No intrinsic.
    #[error("unknown intrinsic `{0}`")]
    UnknownIntrinsic(String),
    /// No texture operation.
    #[error("unknown texture operation `{0}`")]
    UnknownTexOp(String),
    /// No kind of texture source.
    #[error("unknown kind of texture source `{0}`")]
    UnknownTexSource(String),
    /// No ALU type.
    #[error("unknown type `{0}`")]
    UnknownAluType(String),
    /// The intrinsic has no such index.
    #[error("`{intrinsic}` has no index `{index}`")]
    UnknownIndex {
        /// The intrinsic.
        intrinsic: &'static str,
        /// The index.
        index: String,
    },
    /// The value of a constant index cannot be read.
    #[error("index `{0}` has a value that cannot be read")]
    BadIndexValue(String),
    /// An instruction has the wrong number of sources.
    #[error("`{name}` takes {expected} sources, not {found}")]
    WrongSourceCount {
        /// The opcode.
        name: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// More sources than an instruction can have.
    #[error("more sources than an instruction can have")]
    TooManySources,
    /// Bit size or number of components of a value.
    #[error("no value has {components} components of {bits} bits")]
    BadShape {
        /// Bits.
        bits: u32,
        /// Components.
        components: u32,
    },
    /// A swizzle with the wrong number of letters, or letters beyond the source.
    #[error("swizzle `{0}` does not fit its operand")]
    BadSwizzle(String),
    /// An operand without swizzle that has too few components.
    #[error("the operand has {size} components, {used} are read")]
    OperandTooSmall {
        /// Components of the operand.
        size: usize,
        /// Components that are read.
        used: usize,
    },
    /// A value is made twice.
    #[error("value %{0} is made twice")]
    DuplicateValue(u32),
    /// A value is read but never made.
    #[error("value %{0} is read but never made")]
    UndefinedValue(u32),
    /// A value's number is out of all proportion.
    #[error("value number {0} is too large")]
    ValueNumberTooLarge(u64),
    /// The instruction makes no value, or must make one.
    #[error("{0}")]
    Destination(&'static str),
    /// A constant does not fit its size.
    #[error("constant `{0}` cannot be read, or does not fit in {1} bits")]
    BadConstant(String, u8),
    /// A constant has too few or too many components.
    #[error("the constant has {found} components, its value {expected}")]
    WrongConstantCount {
        /// Components of the value.
        expected: usize,
        /// Components in the text.
        found: usize,
    },
    /// Two blocks with the same number.
    #[error("block b{0} stands here twice")]
    DuplicateBlock(u32),
    /// A block that does not exist.
    #[error("there is no block b{0}")]
    UnknownBlock(u32),
    /// What the text says of a block's edges is not what its place in the text makes them.
    #[error("the {side} of block b{block} are stated as `{stated}`, but are `{actual}`")]
    EdgeMismatch {
        /// The block.
        block: u32,
        /// Which.
        side: EdgeSide,
        /// In the text.
        stated: String,
        /// By structure.
        actual: String,
    },
    /// A list of the control tree must begin, and go on after each node, with a block.
    #[error("a block must stand here")]
    MissingBlock,
    /// Two blocks follow each other.
    #[error("a block may only follow an `if` or a loop")]
    BlockAfterBlock,
    /// Something stands behind a jump.
    #[error("nothing of the list may follow a jump")]
    AfterJump,
    /// `break` or `continue` outside.
    #[error("no loop is open here")]
    OutsideLoop,
    /// A brace that nothing opened, or not in this form.
    #[error("this closes nothing that is open")]
    UnexpectedClose,
    /// The text ends within a function.
    #[error("the text ends before `}}`")]
    Unclosed,
    /// Ifs and loops are nested too deeply.
    #[error("ifs and loops are nested more than {0} deep")]
    NestingTooDeep(usize),
    /// No variable of this name.
    #[error("unknown variable `{0}`")]
    UnknownVariable(String),
    /// Two variables of this name.
    #[error("variable `{0}` is declared twice")]
    DuplicateVariable(String),
    /// Text that is no type.
    #[error("`{0}` is no type")]
    BadType(String),
    /// No variable mode.
    #[error("`{0}` is no mode of variables")]
    UnknownMode(String),
    /// No slot, system value or number.
    #[error("`{0}` is no location")]
    UnknownSlot(String),
    /// An initialiser that does not fit its type.
    #[error("the initialiser does not fit the type")]
    BadInitializer,
    /// A function that is not declared.
    #[error("unknown function `{0}`")]
    UnknownFunction(String),
    /// A function that is declared or defined twice.
    #[error("function `{0}` stands here twice")]
    DuplicateFunction(String),
    /// A field that the struct does not have.
    #[error("unknown field `{0}`")]
    UnknownField(String),
    /// The rest of the errors is not listed.
    #[error("too many errors, the rest is not shown")]
    TooMany,
}

impl TextErrorKind {
    crate::error_codes! {
        Expected => "T1000" "expected",
        Trailing => "T1001" "trailing",
        NoStage => "T1002" "no-stage",
        BadHeaderValue => "T1003" "bad-header-value",
        UnknownOpcode => "T1004" "unknown-opcode",
        UnknownIntrinsic => "T1005" "unknown-intrinsic",
        UnknownTexOp => "T1006" "unknown-tex-op",
        UnknownTexSource => "T1007" "unknown-tex-source",
        UnknownAluType => "T1008" "unknown-alu-type",
        UnknownIndex => "T1009" "unknown-index",
        BadIndexValue => "T1010" "bad-index-value",
        WrongSourceCount => "T1011" "wrong-source-count",
        TooManySources => "T1012" "too-many-sources",
        BadShape => "T1013" "bad-shape",
        BadSwizzle => "T1014" "bad-swizzle",
        OperandTooSmall => "T1015" "operand-too-small",
        DuplicateValue => "T1016" "duplicate-value",
        UndefinedValue => "T1017" "undefined-value",
        ValueNumberTooLarge => "T1018" "value-number-too-large",
        Destination => "T1019" "destination",
        BadConstant => "T1020" "bad-constant",
        WrongConstantCount => "T1021" "wrong-constant-count",
        DuplicateBlock => "T1022" "duplicate-block",
        UnknownBlock => "T1023" "unknown-block",
        EdgeMismatch => "T1024" "edge-mismatch",
        MissingBlock => "T1025" "missing-block",
        BlockAfterBlock => "T1026" "block-after-block",
        AfterJump => "T1027" "after-jump",
        OutsideLoop => "T1028" "outside-loop",
        UnexpectedClose => "T1029" "unexpected-close",
        Unclosed => "T1030" "unclosed",
        NestingTooDeep => "T1031" "nesting-too-deep",
        UnknownVariable => "T1032" "unknown-variable",
        DuplicateVariable => "T1033" "duplicate-variable",
        BadType => "T1034" "bad-type",
        UnknownMode => "T1035" "unknown-mode",
        UnknownSlot => "T1036" "unknown-slot",
        BadInitializer => "T1037" "bad-initializer",
        UnknownFunction => "T1038" "unknown-function",
        DuplicateFunction => "T1039" "duplicate-function",
        UnknownField => "T1040" "unknown-field",
        TooMany => "T1041" "too-many",
    }
}
