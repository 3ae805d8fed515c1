//! Errors and warnings about modules.

use tgsi_diagnostics::{Diagnostic, ErrorCode, Severity, Span};
use thiserror::Error;

/// An error about a module.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum SpirvError {
    #[error("this is not a SPIR-V module: {length} bytes without its first word, or not a multiple of 4")]
    NotSpirv { length: usize },
    #[error("the module ends within an instruction")]
    Truncated,
    #[error("id %{id} is not below the bound {bound}")]
    BadId { id: u32, bound: u32 },
    #[error("%{id} is {found}, not {expected}")]
    WrongKind { id: u32, found: &'static str, expected: &'static str },
    #[error("there is no entry point")]
    NoEntryPoint,
    #[error("there are several entry points: {names}")]
    SeveralEntryPoints { names: String },
    #[error("there is no entry point `{name}`; there are {names}")]
    UnknownEntryPoint { name: String, names: String },
    #[error("opcode {op} is not known")]
    UnknownOpcode { op: u16 },
    #[error("{op} has {found} words, and needs at least {expected}")]
    OperandCount { op: String, found: usize, expected: usize },
    #[error("%{id} is defined twice")]
    Redefined { id: u32 },
    #[error("version {major}.{minor} is newer than 1.6; it is read as 1.6")]
    Version { major: u32, minor: u32 },
    #[error("{what} is not a type of shaders that can be compiled")]
    Type { what: String },
    #[error("no target has the capability {name}")]
    Capability { name: String },
    #[error("no target has the built-in {name}")]
    BuiltIn { name: String },
    #[error("{name} cannot be compiled{}", reason(.why))]
    Instruction { name: String, why: &'static str },
    #[error("the capability {number} is not known")]
    UnknownCapability { number: u32 },
    #[error("the execution model {name} is not one of the graphics and compute stages")]
    ExecutionModel { name: String },
    #[error("the extended instruction {name} is not known")]
    ExtendedInstruction { name: String },
    #[error("image operands 0x{bits:x} are not known")]
    ImageOperand { bits: u32 },
    #[error("the storage class {name} does not exist in shaders that can be compiled")]
    StorageClass { name: String },
    #[error("{what} has the value {value}")]
    Value { what: &'static str, value: u64 },
    #[error("the branch to %{target} leaves constructs in a way that structured control flow does not allow")]
    Unstructured { target: u32 },
    #[error("the function %{id} calls itself")]
    Recursion { id: u32 },
    #[error("%{id} is used where it is not defined")]
    Undefined { id: u32 },
    #[error("the types of {op} do not fit: {why}")]
    Types { op: String, why: &'static str },
    #[error("the pointer %{id} is not known when the shader is compiled")]
    Pointer { id: u32 },
    #[error("the phi %{id} has no value for the predecessor %{predecessor}")]
    Phi { id: u32, predecessor: u32 },
    #[error("{what} lacks {decoration}")]
    Layout { what: String, decoration: &'static str },
    #[error("there is no specialisation constant {id}")]
    NoSpecId { id: u32 },
    #[error("the length of the array %{id} is not a constant greater than 0")]
    ArrayLength { id: u32 },
    #[error("{mode} has no effect: targets cannot express it")]
    FloatMode { mode: String },
    #[error("the fragment input {name} has integers or doubles, and is not decorated Flat")]
    Interpolation { name: String },
    #[error("{count} pairs of textures and samplers are more than {limit}")]
    Pairs { count: u64, limit: u64 },
    #[error("the array of descriptors {name} has no length")]
    UnsizedArray { name: String },
    #[error("BaseVertex is 0 in draws without indices")]
    BaseVertex,
    #[error("no resource has set {set}, binding {binding}")]
    NoResource { set: u32, binding: u32 },
    #[error("{count} {what} are more than {limit}")]
    TooLarge { what: &'static str, count: u64, limit: u64 },
    #[error("the module has no stage {stage}")]
    NoStage { stage: String },
}

fn reason(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

impl SpirvError {
    tgsi_diagnostics::error_codes! {
        NotSpirv => "T1500" "not-spirv",
        Truncated => "T1501" "spirv-truncated",
        BadId => "T1502" "bad-id",
        WrongKind => "T1503" "wrong-kind-of-id",
        NoEntryPoint => "T1504" "no-entry-point",
        SeveralEntryPoints => "T1505" "several-entry-points",
        UnknownOpcode => "T1506" "unknown-opcode",
        OperandCount => "T1507" "operand-count",
        Redefined => "T1508" "redefined-id",
        Version => "T1509" "spirv-version",
        Type => "T1510" "spirv-type",
        Capability => "T1511" "spirv-capability",
        BuiltIn => "T1512" "spirv-built-in",
        Instruction => "T1513" "spirv-instruction",
        UnknownCapability => "T1514" "unknown-capability",
        ExecutionModel => "T1515" "execution-model",
        ExtendedInstruction => "T1516" "extended-instruction",
        ImageOperand => "T1517" "image-operand",
        StorageClass => "T1518" "storage-class",
        Value => "T1519" "decoration-value",
        Unstructured => "T1521" "unstructured-branch",
        Recursion => "T1522" "spirv-recursion",
        Undefined => "T1523" "use-without-definition",
        Types => "T1524" "types-do-not-fit",
        Pointer => "T1525" "unknown-pointer",
        Phi => "T1526" "phi-and-predecessors",
        UnknownEntryPoint => "T1527" "unknown-entry-point",
        NoStage => "T1528" "no-such-stage",
        Layout => "T1530" "no-layout",
        NoSpecId => "T1531" "no-such-spec-id",
        ArrayLength => "T1532" "array-length",
        FloatMode => "T1533" "float-mode",
        Interpolation => "T1534" "not-flat",
        Pairs => "T1535" "too-many-pairs",
        UnsizedArray => "T1536" "unsized-array",
        BaseVertex => "T1537" "base-vertex",
        NoResource => "T1539" "no-such-resource",
        TooLarge => "T1540" "spirv-too-large",
    }

    /// Whether the module still has a meaning.
    pub(crate) fn is_warning(&self) -> bool {
        matches!(
            self,
            SpirvError::Version { .. }
                | SpirvError::UnknownCapability { .. }
                | SpirvError::FloatMode { .. }
                | SpirvError::BaseVertex
        )
    }

    /// The remedy, if there is one.
    fn hint(&self) -> Option<&'static str> {
        Some(match self {
            SpirvError::NotSpirv { .. } => "assemble SPIR-V text with `spirv-as`",
            SpirvError::SeveralEntryPoints { .. } => "choose one by `--front-end-option entry=NAME`",
            SpirvError::UnsizedArray { .. } => "state it by `--front-end-option count=SET:BINDING:N`",
            SpirvError::Interpolation { .. } => "decorate it Flat",
            _ => return None,
        })
    }
}

/// An error or warning, with its place in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finding {
    pub(crate) error: SpirvError,
    pub(crate) span: Span,
}

/// Findings beyond this number are not collected: most follow from the first ones.
const MAX_FINDINGS: usize = 200;

/// The findings so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    all: Vec<Finding>,
    has_errors: bool,
}

impl Findings {
    /// Adds a finding.
    pub(crate) fn add(&mut self, error: SpirvError, span: Span) {
        self.push(Finding { error, span });
    }

    /// Adds a finding.
    pub(crate) fn push(&mut self, finding: Finding) {
        let is_error = !finding.error.is_warning();
        if self.all.len() < MAX_FINDINGS || is_error && !self.has_errors {
            self.all.push(finding);
        }
        self.has_errors |= is_error;
    }

    /// Whether a finding is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.has_errors
    }

    /// Whether no more findings are collected.
    pub(crate) fn is_full(&self) -> bool {
        self.all.len() >= MAX_FINDINGS
    }

    /// The findings, by position, each once. `note` adds to each.
    pub(crate) fn into_diagnostics(mut self, note: impl Fn(&Finding, &mut Diagnostic)) -> Vec<Diagnostic> {
        self.all.sort_by_key(|finding| (finding.span.start, finding.error.code().id));
        self.all.dedup();
        self.all
            .iter()
            .map(|finding| {
                let severity = if finding.error.is_warning() { Severity::Warning } else { Severity::Error };
                let code: ErrorCode = finding.error.code();
                let mut diagnostic = Diagnostic::new(severity, code, finding.span, finding.error.to_string());
                diagnostic.hint = finding.error.hint().map(str::to_owned);
                note(finding, &mut diagnostic);
                diagnostic
            })
            .collect()
    }
}
