//! Errors of IR text.

/// An error of IR text, with its line and column.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {kind}")]
#[non_exhaustive]
pub struct TextError {
    /// Line, starting at 1.
    pub line: u32,
    /// Column in characters, starting at 1.
    pub column: u32,
    /// Byte offset.
    pub offset: usize,
    /// The error.
    pub kind: TextErrorKind,
    /// A suggestion for a correction.
    pub hint: Option<String>,
}

/// The edges of a block that a comment states.
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

tgsi_diagnostics::error_table! {
    /// Kinds of errors.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[non_exhaustive]
    pub enum TextErrorKind {
        "T1000" "expected" Expected(&'static str) "expected {0}";
        "T1001" "trailing" Trailing "unexpected text at the end of the line";
        "T1002" "no-stage" NoStage "the text does not begin with `shader:` and a stage";
        "T1003" "bad-header-value" BadHeaderValue(String) "`{0}` has a value that cannot be read";
        "T1004" "unknown-opcode" UnknownOpcode(String) "unknown opcode `{0}`";
        "T1005" "unknown-intrinsic" UnknownIntrinsic(String) "unknown intrinsic `{0}`";
        "T1006" "unknown-tex-op" UnknownTexOp(String) "unknown texture operation `{0}`";
        "T1007" "unknown-tex-source" UnknownTexSource(String) "unknown kind of texture source `{0}`";
        "T1008" "unknown-alu-type" UnknownAluType(String) "unknown type `{0}`";
        "T1009" "unknown-index" UnknownIndex { intrinsic: &'static str, index: String }
            "`{intrinsic}` has no index `{index}`";
        "T1010" "bad-index-value" BadIndexValue(String) "index `{0}` has a value that cannot be read";
        "T1011" "wrong-source-count" WrongSourceCount { name: &'static str, expected: usize, found: usize }
            "`{name}` takes {expected} sources, not {found}";
        "T1012" "too-many-sources" TooManySources "more sources than an instruction can have";
        "T1013" "bad-shape" BadShape { bits: u32, components: u32 }
            "no value has {components} components of {bits} bits";
        "T1014" "bad-swizzle" BadSwizzle(String) "swizzle `{0}` does not fit its operand";
        "T1015" "operand-too-small" OperandTooSmall { size: usize, used: usize }
            "the operand has {size} components, {used} are read";
        "T1016" "duplicate-value" DuplicateValue(u32) "value %{0} is defined twice";
        "T1017" "undefined-value" UndefinedValue(u32) "value %{0} is used but never defined";
        "T1018" "value-number-too-large" ValueNumberTooLarge(u64) "value number {0} is too large";
        "T1019" "destination" Destination(&'static str) "{0}";
        "T1020" "bad-constant" BadConstant(String, u8) "constant `{0}` cannot be read, or does not fit in {1} bits";
        "T1021" "wrong-constant-count" WrongConstantCount { expected: usize, found: usize }
            "the constant has {found} components, its value has {expected}";
        "T1022" "duplicate-block" DuplicateBlock(u32) "block b{0} is defined twice";
        "T1023" "unknown-block" UnknownBlock(u32) "there is no block b{0}";
        "T1024" "edge-mismatch" EdgeMismatch { block: u32, side: EdgeSide, stated: String, actual: String }
            "the {side} of block b{block} are stated as `{stated}`, but are `{actual}`";
        "T1025" "missing-block" MissingBlock "expected a block";
        "T1026" "block-after-block" BlockAfterBlock "a block may only follow an `if` or a loop";
        "T1027" "after-jump" AfterJump "nothing may follow a jump in its list";
        "T1028" "outside-loop" OutsideLoop "not inside a loop";
        "T1029" "unexpected-close" UnexpectedClose "this does not match an open `if` or loop";
        "T1030" "unclosed" Unclosed "the text ends before `}}`";
        "T1031" "nesting-too-deep" NestingTooDeep(usize) "ifs and loops are nested more than {0} deep";
        "T1032" "unknown-variable" UnknownVariable(String) "unknown variable `{0}`";
        "T1033" "duplicate-variable" DuplicateVariable(String) "variable `{0}` is declared twice";
        "T1034" "bad-type" BadType(String) "`{0}` is not a type";
        "T1035" "unknown-mode" UnknownMode(String) "`{0}` is not a variable mode";
        "T1036" "unknown-slot" UnknownSlot(String) "`{0}` is not a location";
        "T1037" "bad-initializer" BadInitializer "the initialiser does not fit the type";
        "T1038" "unknown-function" UnknownFunction(String) "unknown function `{0}`";
        "T1039" "duplicate-function" DuplicateFunction(String) "function `{0}` is declared or defined twice";
        "T1040" "unknown-field" UnknownField(String) "unknown field `{0}`";
        "T1041" "too-many" TooMany "too many errors, the rest is not shown";
    }
}
