//! The rules of the check: one row a rule, from which the codes, severities and hints come.

use crate::diagnostic::Severity;

macro_rules! rules {
    ($($variant:ident = $severity:ident $code:literal, $hint:literal;)+) => {
        /// A rule of the check.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Rule { $(#[doc = concat!("`", $code, "`; hint: `", $hint, "`.")] $variant),+ }

        impl Rule {
            /// All rules.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant),+];

            /// Name in kebab case.
            pub const fn code(self) -> &'static str {
                match self { $(Rule::$variant => $code),+ }
            }

            /// How bad it is to break the rule.
            pub const fn severity(self) -> Severity {
                match self { $(Rule::$variant => Severity::$severity),+ }
            }

            /// How to put it right.
            pub const fn hint(self) -> &'static str {
                match self { $(Rule::$variant => $hint),+ }
            }
        }
    };
}

rules! {
    // The stage.
    UnsupportedStage = Error "unsupported-stage", "there is no driver and no API for TGSI shaders of this stage";

    // Control structure.
    BlockNotOpened = Error "block-not-opened", "blocks are closed and divided by instructions of their own kind";
    BlockNotClosed = Error "block-not-closed", "add the instruction that closes the block";
    BlocksCrossed = Error "blocks-crossed", "close the inner block first";
    DividedTwice = Error "divided-twice", "a block has one ELSE or DEFAULT at most";
    BadCall = Error "bad-call", "the label of CAL is the number of a BGNSUB instruction";
    Recursion = Error "recursion", "subroutines cannot call themselves, not even through others";
    CallsTooMany = Error "calls-too-many", "call less, or in a loop: every call is replaced by the code of its subroutine";
    NestedSubroutine = Error "nested-subroutine", "subroutines follow the main program's END";
    NestingTooDeep = Error "nesting-too-deep", "move inner blocks out, or select values instead of branching";
    MissingEnd = Error "missing-end", "the main program ends with END";
    NoMainProgram = Warning "no-main-program", "without a main program the first subroutine is run";
    EndInsideBlock = Warning "end-inside-block", "END inside a block stops the invocations that get there; the main program still ends at its own END";
    CodeAfterEnd = Error "code-after-end", "only subroutines may follow END";
    LabelOutOfRange = Warning "label-out-of-range", "labels are instruction numbers; the nesting is what counts";
    LateDeclaration = Warning "late-declaration", "declarations, immediates and properties come before the first instruction";
    StageOpcode = Error "stage-opcode", "use the opcode in the stage that it is made for";

    // Declarations.
    BackwardsRange = Error "backwards-range", "write the lower register first";
    UndeclarableFile = Error "undeclarable-file", "immediates are declared with IMM, NULL is not declared at all";
    OverlappingRegisters = Warning "overlapping-registers", "declare every register once";
    DuplicateSemantic = Warning "duplicate-semantic", "give every register a semantic of its own";
    DuplicateArray = Warning "duplicate-array", "number the arrays of a file differently";
    EmptyUsageMask = Warning "empty-usage-mask", "a register without components is of no use";
    StageFile = Error "stage-file", "compute shaders read memory and system values";
    StageSemantic = Error "stage-semantic", "the stage does not know this semantic here";
    UnusualSemantic = Warning "unusual-semantic", "drivers may ignore the register";
    MissingSemantic = Warning "missing-semantic", "name the semantic, drivers match registers by it";
    SystemValueWithoutSemantic = Error "system-value-without-semantic", "name the system value";
    InterpolationIgnored = Warning "interpolation-ignored", "only fragment inputs are interpolated";
    StreamsIgnored = Warning "streams-ignored", "only geometry outputs belong to vertex streams";
    DeclaredDimension = Warning "declared-dimension", "only CONST and HWATOMIC are declared with two indices";
    ResourceTarget = Error "resource-target", "name a target without comparison";
    MemoryStage = Warning "memory-stage", "shared memory and kernel inputs exist in compute shaders only";
    DriverLimit = Warning "driver-limit", "drivers take fewer registers of this file";
    ShortImmediate = Warning "short-immediate", "immediates have four words";
    UnusedDeclaration = Warning "unused-declaration", "drop the declaration";

    // Properties.
    PropertyValue = Error "property-value", "see the table of properties for the values";
    UnusualPropertyValue = Warning "unusual-property-value", "drivers may not support the value";
    PropertyStage = Warning "property-stage", "the property has no meaning in this stage";
    RepeatedProperty = Warning "repeated-property", "the last value counts";
    PropertyWords = Warning "property-words", "properties have one word";
    MissingProperty = Warning "missing-property", "drivers need the property";

    // Operands.
    OperandCount = Error "operand-count", "see the opcode table";
    InvalidComponent = Error "invalid-component", "components are x, y, z, w";
    UndeclaredRegister = Error "undeclared-register", "declare the register, or widen the range that is declared";
    DeadUndeclaredRegister = Warning "dead-undeclared-register", "the instruction writes nothing; drop it";
    UndeclaredFile = Error "undeclared-file", "declare the registers that the index may reach";
    UnknownArray = Error "unknown-array", "declare the array with ARRAY(n)";
    IndexRegisterFile = Error "index-register-file", "an index is a value, normally in an ADDR register";
    MissingDimension = Error "missing-dimension", "name the vertex first, as in IN[0][1]";
    UnexpectedDimension = Error "unexpected-dimension", "write one index";
    DimensionIgnored = Warning "dimension-ignored", "the register is not per vertex; write one index";
    VertexOutOfRange = Warning "vertex-out-of-range", "reading past the last vertex gives 0";
    NotWritable = Error "not-writable", "write to OUT, TEMP, ADDR or NULL";
    NotReadable = Error "not-readable", "read CONST, IN, OUT, TEMP, ADDR, IMM or SV";
    NotAResource = Error "not-a-resource", "name an IMAGE, BUFFER, MEMORY, ... register, or give a handle and the image's target";
    NotASampler = Error "not-a-sampler", "name a SAMP register or a register with a handle";
    NotAView = Error "not-a-view", "name an SVIEW register";
    NotAnInput = Error "not-an-input", "only inputs can be interpolated; name an IN register";
    NotAnOutput = Error "not-an-output", "name the OUT register of the render target";
    EmptyWriteMask = Warning "empty-write-mask", "an instruction that writes nothing can be dropped";
    SplitPair = Warning "split-pair", "64-bit values live in xy and zw";
    ModifierIgnored = Warning "modifier-ignored", "negation and absolute value have no effect here";
    AbsoluteOfInteger = Warning "absolute-of-integer", "use IABS; what |x| does to an integer is not defined";
    SaturateIgnored = Warning "saturate-of-integer", "saturation clamps the bits as if they were a float";

    // Textures, memory.
    MissingTarget = Error "missing-target", "name the texture target after the sampler";
    TextureTarget = Error "texture-target", "see the table of opcodes and targets";
    CubeFetch = Warning "cube-fetch", "a fetch takes a face as a layer here; drivers may not";
    ExtraOperandTarget = Error "extra-operand-target", "the coordinates have no room for the extra operand; use the two-operand form (TEX2, TXB2, TXL2)";
    StrayTexture = Warning "stray-texture", "the opcode takes no texture target";
    OffsetCount = Warning "offset-count", "a texture instruction takes one offset, a gather one or four";
    ViewTarget = Warning "view-target", "the target of the instruction and of the declared view should agree";
    MixedSampling = Warning "mixed-sampling", "use either the TEX family or the SAMPLE family in a shader";
    ImageTarget = Warning "image-target", "the target of the instruction and of the declared image should agree";
    ImageNotWritable = Warning "image-not-writable", "declare the image with WR";
    StrayMemory = Warning "stray-memory", "the opcode accesses no memory";
}
