//! The rules of the check: one row per rule with its code, severity and hint.

use tgsi_diagnostics::{ErrorCode, Severity};

macro_rules! rules {
    ($($variant:ident = $severity:ident $id:literal $name:literal, $hint:literal;)+) => {
        /// A rule of the check.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Rule { $(#[doc = concat!($id, " `", $name, "`; hint: `", $hint, "`.")] $variant),+ }

        impl Rule {
            /// All rules.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant),+];

            /// Returns the number and name.
            pub const fn code(self) -> ErrorCode {
                match self { $(Rule::$variant => ErrorCode::new($id, $name)),+ }
            }

            /// Returns the severity of a violation.
            pub const fn severity(self) -> Severity {
                match self { $(Rule::$variant => Severity::$severity),+ }
            }

            /// Returns the suggested remedy.
            pub const fn hint(self) -> &'static str {
                match self { $(Rule::$variant => $hint),+ }
            }
        }
    };
}

rules! {
    // Limits.
    TooManyInstructions = Error "T0104" "too-many-instructions", "split the work, or raise the limit `instructions`";
    TooManyDeclarations = Error "T0105" "too-many-declarations", "declare ranges, or raise the limit `declarations`";
    TooManyImmediates = Error "T0106" "too-many-immediates", "read constants from CONST, or raise the limit `immediates`";
    TooManyStores = Error "T0109" "too-many-stores", "declare only the outputs that are written, or raise the limit `expansion`";
    TooManyMerges = Error "T0110" "too-many-merges", "reduce the nesting, use fewer temporaries, or raise the limit `expansion`";
    TooManyReached = Error "T0111" "too-many-reached", "declare the indexed registers in one range, as an array, or raise the limit `expansion`";
    TooManyRegisters = Error "T0107" "too-many-registers", "declare only the registers that are used, or raise the limit `registers`";

    // The stage.
    UnsupportedStage = Error "T0300" "unsupported-stage", "there is no driver and no API for TGSI shaders of this stage";

    // Control structure.
    BlockNotOpened = Error "T0301" "block-not-opened", "each kind of block has its own closing and dividing instructions";
    BlockNotClosed = Error "T0302" "block-not-closed", "add the instruction that closes the block";
    BlocksCrossed = Error "T0303" "blocks-crossed", "close the inner block first";
    DividedTwice = Error "T0304" "divided-twice", "a block has one ELSE or DEFAULT at most";
    BadCall = Error "T0305" "bad-call", "the label of CAL is the number of a BGNSUB instruction";
    Recursion = Error "T0306" "recursion", "subroutines cannot call themselves, not even through others";
    CallsTooMany = Error "T0307" "calls-too-many", "call in a loop, raise the limit `expansion`, or translate for a target that has subroutines: without them every call is inlined";
    NestedSubroutine = Error "T0308" "nested-subroutine", "subroutines follow the main program's END";
    NestingTooDeep = Error "T0309" "nesting-too-deep", "move inner blocks out, or select values instead of branching";
    MissingEnd = Error "T0310" "missing-end", "the main program ends with END";
    NoMainProgram = Warning "T0510" "no-main-program", "without a main program the first subroutine is run";
    EndInsideBlock = Warning "T0511" "end-inside-block", "END inside a block stops the invocations that reach it; the main program still ends at its own END";
    CodeAfterEnd = Error "T0311" "code-after-end", "only subroutines may follow END";
    LabelOutOfRange = Warning "T0512" "label-out-of-range", "labels are instruction numbers; only the nesting matters";
    LateDeclaration = Warning "T0513" "late-declaration", "declarations, immediates and properties come before the first instruction";
    StageOpcode = Error "T0312" "stage-opcode", "use the opcode only in stages that support it";

    // Declarations.
    BackwardsRange = Error "T0330" "backwards-range", "write the lower register first";
    UndeclarableFile = Error "T0331" "undeclarable-file", "immediates are declared with IMM, NULL is not declared at all";
    OverlappingRegisters = Warning "T0514" "overlapping-registers", "declare every register once";
    VertexAndPatch = Error "T0336" "vertex-and-patch", "a register cannot be both per vertex and per patch: use another one";
    DuplicateSemantic = Warning "T0515" "duplicate-semantic", "give every register its own semantic";
    DuplicateArray = Warning "T0516" "duplicate-array", "number the arrays of a file differently";
    EmptyUsageMask = Warning "T0517" "empty-usage-mask", "a register without components is of no use";
    StageFile = Error "T0332" "stage-file", "compute shaders read memory and system values";
    StageSemantic = Error "T0333" "stage-semantic", "the stage does not support this semantic here";
    UnusualSemantic = Warning "T0518" "unusual-semantic", "drivers may ignore the register";
    MissingSemantic = Warning "T0519" "missing-semantic", "name the semantic, drivers match registers by it";
    SystemValueWithoutSemantic = Error "T0334" "system-value-without-semantic", "name the system value";
    InterpolationIgnored = Warning "T0520" "interpolation-ignored", "only fragment inputs are interpolated";
    StreamsIgnored = Warning "T0521" "streams-ignored", "only geometry outputs belong to vertex streams";
    DeclaredDimension = Warning "T0522" "declared-dimension", "only CONST and HWATOMIC are declared with two indices";
    ResourceTarget = Error "T0335" "resource-target", "name a target without comparison";
    MemoryStage = Warning "T0523" "memory-stage", "shared memory and kernel inputs exist in compute shaders only";
    DriverLimit = Warning "T0524" "driver-limit", "drivers support fewer registers of this file";
    ShortImmediate = Warning "T0525" "short-immediate", "immediates have four words";
    // Lints.
    NeverWritten = Warning "T0501" "never-written", "write it first; temporaries and addresses begin as 0";
    NeverRead = Warning "T0502" "never-read", "drop the instruction, or write to where the value is read";
    Unreachable = Warning "T0503" "unreachable-code", "drop the code, or put a condition around the jump before it";
    UncalledSubroutine = Warning "T0504" "uncalled-subroutine", "drop the subroutine, or call it with CAL";
    UnusedDeclaration = Warning "T0500" "unused-declaration", "drop the declaration";

    // Properties.
    PropertyValue = Error "T0370" "property-value", "see the table of properties for the values";
    UnusualPropertyValue = Warning "T0526" "unusual-property-value", "drivers may not support the value";
    PropertyStage = Warning "T0527" "property-stage", "the property has no meaning in this stage";
    RepeatedProperty = Warning "T0528" "repeated-property", "the last value counts";
    PropertyWords = Warning "T0529" "property-words", "properties have one word";
    MissingProperty = Warning "T0530" "missing-property", "drivers need the property";

    // Operands.
    OperandCount = Error "T0400" "operand-count", "see the opcode table";
    InvalidComponent = Error "T0401" "invalid-component", "components are x, y, z, w";
    UndeclaredRegister = Error "T0402" "undeclared-register", "declare the register, or widen the range that is declared";
    DeadUndeclaredRegister = Warning "T0531" "dead-undeclared-register", "the instruction writes nothing; drop it";
    UndeclaredFile = Error "T0403" "undeclared-file", "declare the registers that the index may reach";
    UnknownArray = Error "T0404" "unknown-array", "declare the array with ARRAY(n)";
    IndexRegisterFile = Error "T0405" "index-register-file", "an index is a value, normally in an ADDR register";
    MissingDimension = Error "T0406" "missing-dimension", "name the vertex first, as in IN[0][1]";
    UnexpectedDimension = Error "T0407" "unexpected-dimension", "write one index";
    DimensionIgnored = Warning "T0532" "dimension-ignored", "the register is not per vertex; write one index";
    VertexOutOfRange = Warning "T0533" "vertex-out-of-range", "reading past the last vertex gives 0";
    NotWritable = Error "T0408" "not-writable", "write to OUT, TEMP, ADDR or NULL";
    NotReadable = Error "T0409" "not-readable", "read CONST, IN, OUT, TEMP, ADDR, IMM or SV";
    NotAResource = Error "T0410" "not-a-resource", "name an IMAGE, BUFFER, MEMORY, ... register, or give a handle and the image's target";
    NotASampler = Error "T0411" "not-a-sampler", "name a SAMP register or a register with a handle";
    NotAView = Error "T0412" "not-a-view", "name an SVIEW register";
    NotAnInput = Error "T0413" "not-an-input", "only inputs can be interpolated; name an IN register";
    NotAnOutput = Error "T0414" "not-an-output", "name the OUT register of the render target";
    EmptyWriteMask = Warning "T0534" "empty-write-mask", "an instruction that writes nothing can be dropped";
    SplitPair = Warning "T0535" "split-pair", "64-bit values are in xy and zw";
    ModifierIgnored = Warning "T0536" "modifier-ignored", "negation and absolute value have no effect here";
    AbsoluteOfInteger = Warning "T0537" "absolute-of-integer", "use IABS; |x| of an integer is not defined";
    SaturateIgnored = Warning "T0538" "saturate-of-integer", "saturation clamps the bits as if they were a float";

    // Textures, memory.
    MissingTarget = Error "T0450" "missing-target", "name the texture target after the sampler";
    TextureTarget = Error "T0451" "texture-target", "see the table of opcodes and targets";
    CubeFetch = Warning "T0539" "cube-fetch", "a fetch treats a face as a layer here; drivers may not";
    ExtraOperandTarget = Error "T0452" "extra-operand-target", "the extra operand does not fit into the coordinates; use the two-operand form (TEX2, TXB2, TXL2)";
    StrayTexture = Warning "T0540" "stray-texture", "the opcode takes no texture target";
    OffsetCount = Warning "T0541" "offset-count", "a texture instruction takes one offset, a gather one or four";
    ViewTarget = Warning "T0542" "view-target", "the target of the instruction and of the declared view should agree";
    MixedSampling = Warning "T0543" "mixed-sampling", "use either the TEX family or the SAMPLE family in a shader";
    ImageTarget = Warning "T0544" "image-target", "the target of the instruction and of the declared image should agree";
    ImageNotWritable = Warning "T0545" "image-not-writable", "declare the image with WR";
    StrayMemory = Warning "T0546" "stray-memory", "the opcode accesses no memory";
}
