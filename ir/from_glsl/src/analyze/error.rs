//! Errors and warnings of semantic analysis.

use tgsi_diagnostics::ErrorCode;
use thiserror::Error;

use crate::findings::Finding;

/// An error or warning about the meaning of a unit. Types are printed as in the source.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum SemanticError {
    /// A name that nothing declares.
    #[error("`{name}` is not declared")]
    Undeclared {
        /// The name.
        name: String,
        /// The closest declared name.
        near: Option<String>,
    },
    /// A name that is declared twice in a scope.
    #[error("`{name}` is declared twice in this scope")]
    Redeclared {
        /// The name.
        name: String,
    },
    /// A name of something else where a type is needed.
    #[error("`{name}` is not a type")]
    NotAType {
        /// The name.
        name: String,
    },
    /// A call of something that is not a function.
    #[error("`{name}` is not a function")]
    NotAFunction {
        /// The name.
        name: String,
    },
    /// A function or type used as a value.
    #[error("`{name}` is not a variable")]
    NotAVariable {
        /// The name.
        name: String,
    },
    /// Operands that an operator does not take.
    #[error("`{op}` does not take {left} and {right}")]
    Operands {
        /// The operator.
        op: &'static str,
        /// Type of the left operand.
        left: String,
        /// Type of the right operand.
        right: String,
    },
    /// An operand that an operator does not take.
    #[error("`{op}` does not take {operand}")]
    Operand {
        /// The operator.
        op: &'static str,
        /// Type of the operand.
        operand: String,
    },
    /// A value of another type than needed.
    #[error("{what} has the type {found}, not {expected}")]
    WrongType {
        /// The value.
        what: &'static str,
        /// Its type.
        found: String,
        /// The type that is needed.
        expected: String,
        /// The version that converts, or the constructor.
        hint: Option<String>,
    },
    /// No overload takes the arguments.
    #[error("no function `{name}` takes ({arguments})")]
    NoOverload {
        /// The function.
        name: String,
        /// The types of the arguments.
        arguments: String,
        /// The overloads.
        candidates: Option<String>,
    },
    /// Several overloads take the arguments equally well.
    #[error("the call of `{name}` with ({arguments}) is ambiguous")]
    Ambiguous {
        /// The function.
        name: String,
        /// The types of the arguments.
        arguments: String,
        /// The overloads.
        candidates: Option<String>,
    },
    /// A target that cannot be written.
    #[error("{what} cannot be written")]
    NotWritable {
        /// The reason.
        what: String,
    },
    /// A shader without a layout that its stage needs.
    #[error("the shader does not state {what}")]
    MissingLayout {
        /// The layout, with an example.
        what: &'static str,
    },
    /// An array whose length is not the number of vertices of the stage.
    #[error("the array has {found} elements, but the primitive or patch {vertices} vertices")]
    VertexCount {
        /// The length.
        found: u32,
        /// The number of vertices.
        vertices: u32,
    },
    /// An expression that must be constant.
    #[error("{what} must be constant")]
    NotConstant {
        /// The expression.
        what: &'static str,
    },
    /// A feature that the version lacks.
    #[error("{what} is not in version {version}")]
    NeedsVersion {
        /// The feature.
        what: String,
        /// The version.
        version: String,
        /// The versions and extensions that have it.
        remedy: String,
    },
    /// A field selection that is not a swizzle.
    #[error("`{name}` does not select components of {ty}")]
    Swizzle {
        /// The selection.
        name: String,
        /// The type.
        ty: String,
    },
    /// A field that a struct does not have.
    #[error("{ty} has no field `{name}`")]
    NoField {
        /// The type.
        ty: String,
        /// The field.
        name: String,
        /// The closest field.
        near: Option<String>,
    },
    /// An index into something without elements.
    #[error("{ty} cannot be indexed")]
    NotIndexable {
        /// The type.
        ty: String,
    },
    /// A constant index past the end.
    #[error("index {index} is out of range: {ty} has {length} elements")]
    IndexRange {
        /// The index.
        index: i64,
        /// The type.
        ty: String,
        /// The number of elements.
        length: u32,
    },
    /// An array length that is not a positive integer.
    #[error("the length of an array must be a positive integer{}", instead(found.as_ref()))]
    ArrayLength {
        /// The value or type.
        found: Option<String>,
    },
    /// An array without a length where it is needed.
    #[error("{what} needs an array with a length")]
    Unsized {
        /// The use.
        what: &'static str,
    },
    /// A constructor with too few components.
    #[error("the constructor of {ty} needs {needed} components, it has {found}")]
    TooFewComponents {
        /// The type.
        ty: String,
        /// The number needed.
        needed: u32,
        /// The number given.
        found: u32,
    },
    /// A constructor argument that is not used.
    #[error("the constructor of {ty} does not use this argument")]
    UnusedArgument {
        /// The type.
        ty: String,
    },
    /// A constructor with a wrong number of arguments.
    #[error("the constructor of {ty} takes {needed} arguments, it has {found}")]
    ArgumentCount {
        /// The type.
        ty: String,
        /// The number needed.
        needed: u32,
        /// The number given.
        found: u32,
    },
    /// A type without a constructor.
    #[error("{ty} has no constructor")]
    NoConstructor {
        /// The type.
        ty: String,
    },
    /// A type in a place where it is not allowed.
    #[error("{what} cannot have the type {ty}")]
    TypeNotAllowed {
        /// The place.
        what: &'static str,
        /// The type.
        ty: String,
        /// The remedy.
        hint: Option<&'static str>,
    },
    /// A qualifier in a place where it is not allowed.
    #[error("`{qualifier}` is not allowed {place}")]
    QualifierNotAllowed {
        /// The qualifier.
        qualifier: String,
        /// The place.
        place: &'static str,
    },
    /// Two qualifiers that exclude each other.
    #[error("`{qualifier}` conflicts with `{other}`")]
    QualifierConflict {
        /// The second one.
        qualifier: String,
        /// The first one.
        other: String,
    },
    /// A constant without a value.
    #[error("the constant `{name}` needs an initialiser")]
    MissingInitializer {
        /// The name.
        name: String,
    },
    /// An initialiser where none is allowed.
    #[error("{what} cannot be initialised")]
    InitializerNotAllowed {
        /// The variable.
        what: &'static str,
    },
    /// A type without default precision.
    #[error("{ty} has no default precision in fragment shaders")]
    MissingPrecision {
        /// The type.
        ty: String,
    },
    /// A jump outside of the statements that it leaves or continues.
    #[error("`{jump}` is not inside of {place}")]
    JumpOutside {
        /// The jump.
        jump: &'static str,
        /// The statement that it needs.
        place: &'static str,
    },
    /// A statement or function that the stage lacks.
    #[error("{what} only exists in {stages}")]
    WrongStage {
        /// The feature.
        what: String,
        /// The stages.
        stages: String,
    },
    /// A `return` with a value in a function without result, or without a value in one with a result.
    #[error("{what}")]
    Return {
        /// The mistake.
        what: &'static str,
    },
    /// A function with a result and no `return`.
    #[error("`{name}` returns no value")]
    NoReturn {
        /// The function.
        name: String,
    },
    /// A function that calls itself.
    #[error("`{name}` calls itself{}", through.as_ref().map(|f| format!(" through `{f}`")).unwrap_or_default())]
    Recursion {
        /// The function.
        name: String,
        /// Another function of the cycle.
        through: Option<String>,
    },
    /// A function that is defined twice.
    #[error("`{name}` is defined twice")]
    FunctionDefinedTwice {
        /// The function.
        name: String,
    },
    /// Two declarations of a function that do not agree.
    #[error("this declaration of `{name}` has {what}")]
    FunctionMismatch {
        /// The function.
        name: String,
        /// The difference.
        what: &'static str,
    },
    /// A function that is called and not defined.
    #[error("`{name}` is called, but not defined")]
    FunctionUndefined {
        /// The function.
        name: String,
    },
    /// A `main` with parameters or a result.
    #[error("`main` must be `void main()`")]
    MainSignature,
    /// A unit without `main`.
    #[error("there is no `main`")]
    NoMain,
    /// A label of a `switch`.
    #[error("{what}")]
    Label {
        /// The mistake.
        what: &'static str,
    },
    /// Writes of both kinds of colour outputs.
    #[error("`{first}` and `{second}` are both written")]
    BothOutputs {
        /// The first one.
        first: String,
        /// The second one.
        second: String,
    },
    /// A layout identifier that does not exist, or not here.
    #[error("the layout `{name}` is not allowed {place}")]
    Layout {
        /// The identifier.
        name: String,
        /// The place.
        place: &'static str,
    },
    /// A layout with a wrong value.
    #[error("the layout `{name}` needs {needed}")]
    LayoutValue {
        /// The identifier.
        name: String,
        /// The values that it takes.
        needed: &'static str,
    },
    /// A name that the language reserves.
    #[error("`{name}` begins with `gl_`, which is reserved for the language")]
    ReservedName {
        /// The name.
        name: String,
    },
    /// An assignment, call or statement on a sampler.
    #[error("{what}")]
    Opaque {
        /// The mistake.
        what: &'static str,
    },
    /// Something that exceeds a limit.
    #[error("{what} exceed the limit of {limit}")]
    Limit {
        /// The things counted.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A declaration about a variable that was used before it.
    #[error("`{name}` is used before this declaration")]
    UsedBefore {
        /// The name.
        name: String,
    },
    /// A parameter without a name in a definition.
    #[error("this parameter has no name")]
    UnnamedParameter,
    /// A precision where none is possible.
    #[error("{ty} has no precision")]
    PrecisionNotAllowed {
        /// The type.
        ty: String,
    },
    /// Qualifiers in an order that the version does not have.
    #[error("`{qualifier}` must come before `{other}` in version {version}")]
    QualifierOrder {
        /// The later one.
        qualifier: String,
        /// The earlier one.
        other: String,
        /// The version.
        version: String,
    },
    /// A variable for which there are not enough slots or units.
    #[error("`{name}` does not fit: it takes {needed} of the {limit} {slots}")]
    TooFewSlots {
        /// The variable.
        name: String,
        /// The consecutive slots that it takes.
        needed: u32,
        /// The number of slots.
        limit: u32,
        /// The kind of slots.
        slots: &'static str,
    },
    /// Two variables with one location.
    #[error("`{name}` has a location of `{other}`")]
    LocationOverlap {
        /// The second one.
        name: String,
        /// The first one.
        other: String,
    },
    /// One of several outputs without a location.
    #[error("`{name}` needs a location, because the shader has other outputs")]
    MissingLocation {
        /// The output.
        name: String,
    },
    /// Something that is not an input, where one is needed.
    #[error("only an input can be interpolated")]
    NotAnInput,
    /// A memory qualifier of an image or buffer that a use of it contradicts.
    #[error("the memory is `{qualifier}`, but {needed}")]
    MemoryQualifier {
        /// The qualifier.
        qualifier: &'static str,
        /// The use.
        needed: &'static str,
    },
    /// A format of an image that does not suit it, or a missing one.
    #[error("{what}")]
    ImageFormat {
        /// The mistake.
        what: &'static str,
    },
    /// An atomic operation on memory that only one invocation has.
    #[error("atomic operations need a member of a buffer or a `shared` variable")]
    NotSharedMemory,
    /// Two counters with common bytes.
    #[error("`{name}` has bytes of another counter")]
    CounterOverlap {
        /// The second one.
        name: String,
    },
    /// A barrier of a tessellation control shader, or an interlock of a fragment shader, that not all invocations
    /// execute.
    #[error("`{name}` must be in `main`, outside of other statements and before each `return`")]
    BarrierPlace {
        /// The function.
        name: &'static str,
    },
    /// The begin or end of an interlock that occurs twice, or in the wrong order.
    #[error("`{name}` {problem}")]
    InterlockOrder {
        /// The function.
        name: &'static str,
        /// The mistake.
        problem: &'static str,
    },
    /// A wrong subroutine type, function or uniform.
    #[error("{what}")]
    Subroutine {
        /// The mistake.
        what: &'static str,
    },
    /// Two units of a program that declare one name differently.
    #[error("`{name}` differs from its declaration in another unit of the program")]
    UnitMismatch {
        /// The name.
        name: String,
    },
    /// Warning: a name with two underscores.
    #[error("`{name}` contains `__`, which is reserved")]
    ReservedUnderscores {
        /// The name.
        name: String,
    },
    /// Warning: a variable that is read before anything writes it.
    #[error("`{name}` is read before it is written")]
    Uninitialized {
        /// The name.
        name: String,
    },
    /// Warning: a division by zero in a constant expression.
    #[error("division by zero")]
    DivisionByZero,
    /// Warning: a feature that the version no longer has.
    #[error("{what} is deprecated in version {version}")]
    Deprecated {
        /// The feature.
        what: String,
        /// The version.
        version: String,
    },
    /// Warning: a declaration without a name.
    #[error("the declaration declares nothing")]
    EmptyDeclaration,
    /// Warning: a feature that compilers accept although the version lacks it.
    #[error("{what} is not in version {version}, but commonly accepted")]
    Lenient {
        /// The feature.
        what: &'static str,
        /// The version.
        version: String,
    },
}

/// `, not found`
fn instead(found: Option<&String>) -> String {
    found.map(|found| format!(", not {found}")).unwrap_or_default()
}

impl SemanticError {
    tgsi_diagnostics::error_codes! {
        Undeclared => "G0300" "undeclared",
        Redeclared => "G0301" "redeclared",
        NotAType => "G0302" "not-a-type",
        NotAFunction => "G0303" "not-a-function",
        NotAVariable => "G0304" "not-a-variable",
        Operands => "G0305" "operands",
        Operand => "G0306" "operand",
        WrongType => "G0307" "wrong-type",
        NoOverload => "G0308" "no-overload",
        Ambiguous => "G0309" "ambiguous-call",
        NotWritable => "G0310" "not-writable",
        NotConstant => "G0311" "not-constant",
        NeedsVersion => "G0312" "needs-version",
        Swizzle => "G0313" "bad-swizzle",
        NoField => "G0314" "no-field",
        NotIndexable => "G0315" "not-indexable",
        IndexRange => "G0316" "index-range",
        ArrayLength => "G0317" "array-length",
        Unsized => "G0318" "unsized-array",
        TooFewComponents => "G0319" "too-few-components",
        UnusedArgument => "G0320" "unused-argument",
        ArgumentCount => "G0321" "argument-count",
        NoConstructor => "G0322" "no-constructor",
        TypeNotAllowed => "G0323" "type-not-allowed",
        QualifierNotAllowed => "G0324" "qualifier-not-allowed",
        QualifierConflict => "G0325" "qualifier-conflict",
        MissingInitializer => "G0326" "missing-initializer",
        InitializerNotAllowed => "G0327" "initializer-not-allowed",
        MissingPrecision => "G0328" "missing-precision",
        JumpOutside => "G0329" "jump-outside",
        WrongStage => "G0330" "wrong-stage",
        Return => "G0331" "return-value",
        NoReturn => "G0332" "no-return",
        Recursion => "G0333" "recursion",
        FunctionDefinedTwice => "G0334" "function-defined-twice",
        FunctionMismatch => "G0335" "function-mismatch",
        FunctionUndefined => "G0336" "function-undefined",
        MainSignature => "G0337" "main-signature",
        NoMain => "G0338" "no-main",
        Label => "G0339" "switch-label",
        BothOutputs => "G0340" "both-outputs",
        Layout => "G0341" "layout",
        LayoutValue => "G0342" "layout-value",
        ReservedName => "G0343" "reserved-name",
        Opaque => "G0344" "opaque-use",
        Limit => "G0345" "glsl-limit",
        UsedBefore => "G0346" "used-before",
        UnnamedParameter => "G0347" "unnamed-parameter",
        PrecisionNotAllowed => "G0348" "precision-not-allowed",
        QualifierOrder => "G0349" "qualifier-order",
        LocationOverlap => "G0350" "location-overlap",
        NotAnInput => "G0351" "not-an-input",
        TooFewSlots => "G0352" "too-few-slots",
        VertexCount => "G0353" "vertex-count",
        MissingLayout => "G0354" "missing-layout",
        UnitMismatch => "G0360" "unit-mismatch",
        MissingLocation => "G0361" "missing-location",
        MemoryQualifier => "G0370" "memory-qualifier",
        ImageFormat => "G0371" "image-format",
        NotSharedMemory => "G0372" "not-shared-memory",
        CounterOverlap => "G0373" "counter-overlap",
        Subroutine => "G0374" "subroutine",
        BarrierPlace => "G0375" "barrier-place",
        InterlockOrder => "G0376" "interlock-order",
        ReservedUnderscores => "G0500" "reserved-underscores",
        Uninitialized => "G0501" "uninitialized",
        DivisionByZero => "G0502" "constant-division-by-zero",
        Deprecated => "G0503" "deprecated",
        EmptyDeclaration => "G0504" "empty-declaration",
        Lenient => "G0505" "lenient",
    }
}

impl Finding for SemanticError {
    fn code(&self) -> ErrorCode {
        SemanticError::code(self)
    }

    fn is_warning(&self) -> bool {
        matches!(
            self,
            SemanticError::ReservedUnderscores { .. }
                | SemanticError::Uninitialized { .. }
                | SemanticError::DivisionByZero
                | SemanticError::Deprecated { .. }
                | SemanticError::EmptyDeclaration
                | SemanticError::Lenient { .. }
        )
    }

    fn hint(&self) -> Option<String> {
        match self {
            SemanticError::Undeclared { near, .. } | SemanticError::NoField { near, .. } => {
                near.as_ref().map(|near| format!("did you mean `{near}`?"))
            }
            SemanticError::WrongType { hint, .. } => hint.clone(),
            SemanticError::NoOverload { candidates, .. } | SemanticError::Ambiguous { candidates, .. } => {
                candidates.clone()
            }
            SemanticError::NeedsVersion { remedy, .. } => Some(remedy.clone()),
            SemanticError::TypeNotAllowed { hint, .. } => hint.map(str::to_owned),
            SemanticError::MissingPrecision { ty } => {
                Some(format!("write `precision mediump {ty};`, or the precision before the type"))
            }
            SemanticError::TooFewSlots { needed: 2.., .. } => {
                Some("each element of an array and each column of a matrix takes one".to_owned())
            }
            SemanticError::IndexRange { .. } => Some("indices begin at 0".to_owned()),
            _ => None,
        }
    }
}
