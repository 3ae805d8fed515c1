//! Errors of the validator: their table, and the report.

use std::fmt;

use crate::alu::AluType;
use crate::body::{Body, JumpKind, Shape, TexSrcKind};
use crate::entities::{Block, Def, Function, If, Inst, Loop, Use, Variable};
use crate::shader::Shader;
use crate::text::{Annotation, AnnotationTarget, print_annotated};
use crate::variable::VariableModes;
use tgsi_diagnostics::ErrorCode;

/// Maximum number of errors in a report; further ones are summarised as "and more".
pub const MAX_ERRORS: usize = 64;

macro_rules! kinds {
    ($($rule:literal $id:literal $name:literal $variant:ident $({ $($field:ident: $ty:ty),+ })? $message:literal;)+) => {
        /// Kinds of errors. Each belongs to a numbered rule of [the module](super).
        #[derive(Clone, PartialEq, Debug, thiserror::Error)]
        #[expect(missing_docs, reason = "the message describes the variant and its fields")]
        #[non_exhaustive]
        pub enum ValidationErrorKind {
            $(#[error($message)] $variant $({ $($field: $ty),+ })?,)+
        }

        impl ValidationErrorKind {
            /// All kinds: rule number and code.
            pub const CODES: &'static [(u8, ErrorCode)] = &[$(($rule, ErrorCode::new($id, $name))),+];

            /// Returns the code.
            pub const fn code(&self) -> ErrorCode {
                match self { $(Self::$variant { .. } => ErrorCode::new($id, $name),)+ }
            }

            /// Returns the number of the rule.
            pub const fn rule(&self) -> u8 {
                match self { $(Self::$variant { .. } => $rule,)+ }
            }
        }
    };
}

kinds! {
    // Uses and values.
    1 "T1100" "def-producer" DefProducer { def: Def } "{def} records another instruction as its definition";
    1 "T1101" "def-missing" DefMissing "the instruction must define a value, but does not";
    1 "T1102" "def-unexpected" DefUnexpected "the instruction must not define a value";
    1 "T1103" "def-components" DefComponents { found: u8 } "no value has {found} components";
    1 "T1104" "def-bits" DefBits { found: u8 } "no value has {found} bits";
    2 "T1105" "use-list" UseList { def: Def, entry: Use } "the list of uses of {def} is broken at {entry}";
    2 "T1106" "use-unlisted" UseUnlisted { entry: Use } "{entry} is not in any list of uses";
    2 "T1107" "use-stray" UseStray { def: Def, entry: Use } "{entry} of {def} is not a source of any code";
    2 "T1108" "use-undefined" UseUndefined { number: usize } "source {number} reads a value that no code defines";
    2 "T1109" "source-count" SourceCount { expected: usize, found: usize } "expected {expected} sources, found {found}";
    3 "T1110" "use-owner" UseOwner { entry: Use } "{entry} records another owner";
    4 "T1111" "dominance" Dominance { def: Def } "{def} is not defined on every path to this use";
    4 "T1112" "dominance-phi" DominancePhi { def: Def, predecessor: BlockName }
        "{def} is not defined on every path through predecessor {predecessor}";
    // ALU.
    5 "T1113" "alu-source-bits" AluSourceBits { number: usize, expected: u8, found: u8 }
        "source {number} has {found} bits, the opcode takes {expected}";
    5 "T1114" "alu-sizes-differ" AluSizesDiffer { number: usize, expected: u8, found: u8 }
        "source {number} has {found} bits, another source of open size has {expected}";
    5 "T1115" "alu-dest-bits" AluDestBits { expected: u8, found: u8 } "the result has {found} bits instead of {expected}";
    5 "T1116" "alu-float-bits" AluFloatBits { found: u8 } "there are no floats of {found} bits";
    5 "T1117" "alu-open-bits" AluOpenBits { found: u8 } "the opcode does not exist for {found} bits";
    6 "T1119" "alu-swizzle" AluSwizzle { number: usize, channel: usize }
        "channel {channel} of source {number} selects a component that the value does not have";
    7 "T1120" "alu-dest-components" AluDestComponents { expected: u8, found: u8 }
        "the result has {found} components, the opcode gives {expected}";
    // Derefs.
    8 "T1121" "deref-var-modes" DerefVarModes "the modes differ from the modes of the variable";
    8 "T1122" "deref-var-type" DerefVarType "the type differs from the type of the variable";
    8 "T1123" "deref-var-undeclared" DerefVarUndeclared { variable: Variable } "{variable} is declared neither in the shader nor in this function";
    8 "T1124" "deref-type" DerefType "the type does not exist in this shader";
    9 "T1125" "cast-modes" CastModes "a cast outside the generic modes has exactly one mode";
    9 "T1126" "cast-no-modes" CastNoModes "a cast of a plain value needs a mode";
    9 "T1127" "cast-parent-modes" CastParentModes "the cast has no mode in common with its parent";
    9 "T1128" "cast-align" CastAlign { align_mul: u32, align_offset: u32 } "impossible alignment {align_offset} mod {align_mul}";
    10 "T1129" "deref-parent" DerefParent "the parent is not a deref";
    10 "T1130" "deref-parent-shape" DerefParentShape "the deref and its parent have different shapes";
    10 "T1131" "deref-parent-modes" DerefParentModes "the deref and its parent have different modes";
    10 "T1132" "deref-not-struct" DerefNotStruct "the type of the parent is not a struct";
    10 "T1133" "deref-field" DerefField { field: u32 } "the struct has no field {field}";
    10 "T1134" "deref-field-type" DerefFieldType "the type differs from the type of the field";
    10 "T1135" "deref-not-array" DerefNotArray "the parent's type cannot be indexed in this mode";
    10 "T1136" "deref-element-type" DerefElementType "the type differs from the element type";
    10 "T1137" "deref-index" DerefIndex "the index must be one component of the size of the deref";
    10 "T1138" "deref-ptr-parent" DerefPtrParent "the parent of pointer arithmetic must be an array element, pointer arithmetic or a cast";
    11 "T1139" "deref-condition" DerefCondition "a deref cannot be a condition";
    11 "T1140" "deref-phi" DerefPhi { def: Def } "{def} points to an input, output or uniform and cannot be a source of a phi";
    // Intrinsics.
    12 "T1141" "intrinsic-source" IntrinsicSource { number: usize, expected: u8, found: u8 }
        "source {number} has {found} components instead of {expected}";
    12 "T1142" "intrinsic-dest" IntrinsicDest { expected: u8, found: u8 } "the result has {found} components instead of {expected}";
    12 "T1143" "intrinsic-dest-bits" IntrinsicDestBits { found: u8 } "the result cannot have {found} bits";
    13 "T1144" "intrinsic-components" IntrinsicComponents { found: u8 } "this intrinsic cannot have {found} components";
    14 "T1145" "write-mask" WriteMask { mask: u32, num_components: u8 } "write mask {mask:#b} reaches beyond {num_components} components";
    15 "T1146" "register-place" RegisterPlace "registers are declared in the first block";
    15 "T1147" "register-declaration" RegisterDeclaration "impossible shape or number of elements of a register";
    15 "T1148" "register-handle" RegisterHandle "the operand is not the handle of a register";
    15 "T1149" "register-shape" RegisterShape { expected: ShapeName, found: ShapeName } "the value is {found}, the register {expected}";
    15 "T1150" "register-base" RegisterBase { base: i32 } "the register is not an array and has no element {base}";
    15 "T1151" "register-use" RegisterUse { def: Def } "{def} is a register handle and cannot be used as a value";
    16 "T1152" "convert-types" ConvertTypes { from: AluType, to: AluType } "the values do not have the types {from} and {to}";
    16 "T1153" "param-index" ParamIndex { index: i32 } "the function has no parameter {index}";
    16 "T1154" "param-shape" ParamShape "the value does not have the shape of the parameter";
    17 "T1155" "access-no-deref" AccessNoDeref { number: usize } "source {number} must be a deref";
    17 "T1156" "access-type" AccessType "only scalars and vectors are loaded and stored";
    17 "T1157" "access-shape" AccessShape "the value does not have the shape that the deref points to";
    17 "T1158" "access-read-only" AccessReadOnly { modes: ModeNames } "{modes} cannot be written";
    17 "T1159" "copy-types" CopyTypes "a copy needs equal types on both sides";
    18 "T1160" "ubo-vec4" UboVec4 "the access crosses the end of the vec4, or the value is smaller than a byte";
    18 "T1161" "ubo-range" UboRange "the range of a uniform buffer access must not be 0";
    18 "T1162" "memory-align" MemoryAlign { align_mul: i32, align_offset: i32 } "impossible alignment {align_offset} mod {align_mul}";
    18 "T1163" "memory-bits" MemoryBits "memory holds values of 8 bits or more";
    19 "T1164" "barycentric" Barycentric { mode: i32 } "there are no barycentrics of interpolation mode {mode}";
    20 "T1165" "output-bits" OutputBits { found: u8 } "an output of this stage cannot have {found} bits";
    20 "T1166" "output-type" OutputType { expected: AluType, found: u8 } "the value has {found} bits, its type is {expected}";
    21 "T1167" "single-mode" SingleMode "the intrinsic tests exactly one mode";
    22 "T1168" "image-atomic" ImageAtomic { format: &'static str } "the operation does not exist on texels of format {format}";
    22 "T1169" "image-atomic-bits" ImageAtomicBits { expected: u8, found: u8 } "the result has {found} bits, a texel {expected}";
    23 "T1170" "xfb-overlap" XfbOverlap { component: usize } "component {component} is captured twice";
    23 "T1171" "output-no-effect" OutputNoEffect "the store has no effect: nothing reads the output";
    23 "T1172" "io-flag" IoFlag { flag: &'static str } "{flag} does not exist here";
    // Texture.
    24 "T1173" "tex-source-kind" TexSourceKind { number: usize } "source {number} does not have a kind of texture source";
    24 "T1174" "tex-source-twice" TexSourceTwice { kind: TexSrcName } "more than one source of kind {kind}";
    24 "T1175" "tex-source-size" TexSourceSize { kind: TexSrcName, expected: u8, found: u8 }
        "{kind} has {found} components instead of {expected}";
    24 "T1176" "tex-source" TexSource { kind: TexSrcName } "the operation takes no {kind}";
    24 "T1177" "tex-deref" TexDeref { kind: TexSrcName } "{kind} does not point to a suitable texture or sampler";
    24 "T1178" "tex-result-type" TexResultType { found: AluType } "the result cannot have type {found}";
    24 "T1179" "tex-dim" TexDim "the operation does not exist for this dimensionality";
    24 "T1180" "tex-component" TexComponent { component: u8 } "component {component} cannot be selected";
    24 "T1181" "tex-offsets" TexOffsets "explicit offsets are only valid for gathers without an offset source";
    24 "T1182" "tex-gather-lod" TexGatherLod "an implicit level is only valid for gathers";
    24 "T1183" "tex-dest" TexDest { expected: ShapeName, found: ShapeName } "the result is {found} instead of {expected}";
    // Others.
    25 "T1184" "call-callee" CallCallee "the function does not exist";
    25 "T1185" "call-count" CallCount { expected: usize, found: usize } "the function takes {expected} parameters, not {found}";
    25 "T1186" "call-shape" CallShape { number: usize } "parameter {number} has another shape";
    25 "T1187" "call-indirect" CallIndirect "a function with code must be called directly";
    26 "T1188" "constant-pool" ConstantPool "the constant lies outside the pool";
    26 "T1189" "constant-bits" ConstantBits { component: usize } "component {component} has bits beyond its size";
    27 "T1190" "phi-missing" PhiMissing { predecessor: BlockName } "no source for predecessor {predecessor}";
    27 "T1191" "phi-extra" PhiExtra { predecessor: BlockName } "a source for {predecessor}, which is not a predecessor";
    27 "T1192" "phi-twice" PhiTwice { predecessor: BlockName } "two sources for predecessor {predecessor}";
    27 "T1193" "phi-shape" PhiShape { def: Def } "{def} does not have the shape of the phi";
    27 "T1194" "phi-place" PhiPlace "phis must be at the top of their block";
    27 "T1195" "copy-entry" CopyEntry { entry: usize } "entry {entry} of the parallel copy is malformed";
    28 "T1196" "jump-place" JumpPlace "a jump must be the last instruction of its block";
    28 "T1197" "jump-followed" JumpFollowed "nothing may follow a block that ends in a jump in its list";
    28 "T1198" "jump-outside-loop" JumpOutsideLoop "the jump is not inside a loop";
    28 "T1199" "jump-in-continue" JumpInContinue "the jump is not allowed in a continue construct";
    28 "T1200" "jump-structured" JumpStructured { jump: JumpKind } "structured code has no {jump:?}";
    28 "T1201" "jump-target" JumpTarget { target: BlockName } "{target} is not in the code";
    // Control flow.
    29 "T1202" "block-parent" BlockParent "the block records another list as its parent";
    29 "T1203" "block-twice" BlockTwice "the block is in the tree twice";
    29 "T1204" "block-links" BlockLinks "the block and its neighbour in the list disagree";
    29 "T1205" "block-adjacent" BlockAdjacent "two blocks are adjacent";
    29 "T1206" "block-list-end" BlockListEnd "the list does not end at its last block";
    29 "T1207" "inst-links" InstLinks "the list of instructions of the block is broken";
    29 "T1208" "successors" Successors "the successors do not match the tree";
    29 "T1209" "successors-equal" SuccessorsEqual "both successors are the same";
    29 "T1210" "successor-outside" SuccessorOutside { successor: BlockName } "successor {successor} is not in the code";
    29 "T1211" "successor-unlisted" SuccessorUnlisted { successor: BlockName } "{successor} does not list the block as its predecessor";
    29 "T1212" "predecessor-extra" PredecessorExtra { predecessor: BlockName } "{predecessor} is listed as a predecessor but is not one";
    29 "T1213" "start-predecessor" StartPredecessor "the first block has predecessors";
    30 "T1214" "node-links" NodeLinks "the node and its neighbours or its list disagree";
    30 "T1215" "condition" Condition "a condition must be one boolean component";
    31 "T1216" "end-block" EndBlock "the end block must be empty, outside of the tree and without successors";
    32 "T1217" "entry-point" EntryPoint "the shader has no entry point with code";
    32 "T1218" "entry-point-parameters" EntryPointParameters "an entry point cannot have parameters";
    // Variables and shader.
    33 "T1219" "variable-mode" VariableMode { modes: ModeNames } "a variable in this list cannot have mode {modes}";
    33 "T1220" "variable-twice" VariableTwice "the variable is declared twice";
    33 "T1221" "variable-unknown" VariableUnknown "the variable does not exist";
    33 "T1222" "variable-type" VariableType "the type does not exist in this shader";
    33 "T1223" "variable-compact" VariableCompact "only an array of scalars can be compact";
    33 "T1224" "variable-per-view" VariablePerView "a per-view variable must be an array";
    33 "T1225" "variable-per-vertex" VariablePerVertex "a per-vertex variable must be an arrayed input or output in a stage that has them";
    33 "T1226" "variable-image" VariableImage "a variable of mode image must be a bound image";
    33 "T1227" "variable-component" VariableComponent { component: u8 } "a slot has no component {component}";
    33 "T1228" "variable-initializer" VariableInitializer "the initialiser does not fit the type";
    34 "T1229" "xfb-stage" XfbStage "the stage has no transform feedback";
    // Analyses.
    35 "T1230" "stale-analysis" StaleAnalysis { name: &'static str } "the cached {name} does not match the changed code";
    33 "T1231" "type-stride" TypeStride { stride: u32, bytes: u32 } "a stride of {stride} bytes is less than the {bytes} of a column or row";
}

/// A shape in the form of printed destinations: `32x4`, `1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShapeName(pub Shape);

impl fmt::Display for ShapeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Shape { num_components: 1, bit_size } => write!(f, "{bit_size}"),
            Shape { num_components, bit_size } => write!(f, "{bit_size}x{num_components}"),
        }
    }
}

/// A block, named by its number in the text form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockName {
    /// The block.
    pub block: Block,
    /// Its number in program order; `None` if it is not in the tree.
    pub number: Option<u32>,
}

impl BlockName {
    /// Returns the name of a block in a body with a sound tree.
    pub(super) fn new(body: &Body, block: Block) -> BlockName {
        let number = body.block_order().index(block);
        BlockName { block, number: (number != u32::MAX).then_some(number) }
    }
}

impl fmt::Display for BlockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "b{number}"),
            None => write!(f, "a block outside the code"),
        }
    }
}

/// Modes by their names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModeNames(pub VariableModes);

impl fmt::Display for ModeNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == VariableModes::NONE {
            return f.write_str("no mode");
        }
        for (i, name) in self.0.names().enumerate() {
            write!(f, "{}{name}", if i == 0 { "" } else { "|" })?;
        }
        Ok(())
    }
}

/// A kind of texture source by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TexSrcName(pub TexSrcKind);

impl fmt::Display for TexSrcName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

/// The subject of an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Location {
    /// The shader as a whole.
    Shader,
    /// A variable.
    Variable(Variable),
    /// A function as a whole.
    Function,
    /// A block.
    Block(Block),
    /// An instruction.
    Inst(Inst),
    /// An `if`.
    If(If),
    /// A loop.
    Loop(Loop),
    /// A value.
    Def(Def),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Shader => f.write_str("shader"),
            Location::Variable(id) => id.fmt(f),
            Location::Function => f.write_str("function"),
            Location::Block(id) => id.fmt(f),
            Location::Inst(id) => id.fmt(f),
            Location::If(id) => id.fmt(f),
            Location::Loop(id) => id.fmt(f),
            Location::Def(id) => id.fmt(f),
        }
    }
}

/// A violation of a rule.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{location}: {kind} [{}]", .kind.code())]
#[non_exhaustive]
pub struct ValidationError {
    /// The function that contains the error; `None` for the shader and its variables.
    pub function: Option<Function>,
    /// The location within the function or shader.
    pub location: Location,
    /// Kind of error.
    pub kind: ValidationErrorKind,
}

/// The errors of a shader, at most [`MAX_ERRORS`].
#[derive(Clone, PartialEq, Debug)]
pub struct ValidationErrors {
    /// The errors in order of discovery. Never empty.
    pub errors: Vec<ValidationError>,
    /// Whether there were more errors.
    pub truncated: bool,
    text: String,
}

impl ValidationErrors {
    /// The codes of the errors.
    pub fn codes(&self) -> impl Iterator<Item = ErrorCode> + '_ {
        self.errors.iter().map(|e| e.kind.code())
    }
}

impl fmt::Display for ValidationErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ValidationErrors {}

/// Collects errors up to the maximum.
#[derive(Default)]
pub(super) struct Collector {
    errors: Vec<ValidationError>,
    truncated: bool,
    /// Whether lists or ids are broken, so that the code cannot be printed.
    unprintable: bool,
}

impl Collector {
    pub fn push(&mut self, function: Option<Function>, location: Location, kind: ValidationErrorKind) {
        // Neither checks nor the printer can follow broken links.
        self.unprintable |= match kind.rule() {
            1 | 2 | 3 | 29 | 30 | 31 => !matches!(
                kind,
                ValidationErrorKind::DefComponents { .. }
                    | ValidationErrorKind::DefBits { .. }
                    | ValidationErrorKind::Condition
            ),
            _ => matches!(
                kind,
                ValidationErrorKind::VariableUnknown
                    | ValidationErrorKind::VariableType
                    | ValidationErrorKind::DerefType
                    | ValidationErrorKind::DerefVarUndeclared { .. }
                    | ValidationErrorKind::CallCallee
                    | ValidationErrorKind::ConstantPool
                    | ValidationErrorKind::TexSourceKind { .. }
                    | ValidationErrorKind::CopyEntry { .. }
                    | ValidationErrorKind::JumpTarget { .. }
                    | ValidationErrorKind::PhiExtra { .. }
            ),
        };
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(ValidationError { function, location, kind });
        } else {
            self.truncated = true;
        }
    }

    /// The errors.
    pub fn into_errors(self) -> Vec<ValidationError> {
        self.errors
    }

    /// Returns the errors with the report.
    pub fn finish(self, shader: &Shader) -> Result<(), ValidationErrors> {
        if self.errors.is_empty() {
            return Ok(());
        }
        let mut errors = ValidationErrors { errors: self.errors, truncated: self.truncated, text: String::new() };
        errors.text = render(&errors, shader, !self.unprintable);
        Err(errors)
    }
}

/// The report: one line per error, and then, if the shader can be printed, the shader with each message after its
/// subject.
fn render(errors: &ValidationErrors, shader: &Shader, printable: bool) -> String {
    use fmt::Write;
    let mut text = String::new();
    for error in &errors.errors {
        if let Some(function) = error.function.and_then(|f| shader.functions.get(f)) {
            let _ = write!(text, "{}: ", function.name);
        }
        let _ = writeln!(text, "{error}");
    }
    if errors.truncated {
        text.push_str("and more\n");
    }
    if printable {
        let annotations: Vec<Annotation> = errors.errors.iter().map(annotation).collect();
        text.push_str(&print_annotated(shader, &annotations));
    }
    text
}

impl ValidationError {
    /// The subject of the error, in the form used by the text module.
    pub fn target(&self) -> AnnotationTarget {
        match (self.location, self.function) {
            (Location::Variable(variable), _) => AnnotationTarget::Variable(variable),
            (Location::Shader, _) | (_, None) => AnnotationTarget::Shader,
            (Location::Function | Location::Def(_), Some(function)) => AnnotationTarget::Function(function),
            (Location::Block(block), Some(function)) => AnnotationTarget::Block(function, block),
            (Location::Inst(inst), Some(function)) => AnnotationTarget::Inst(function, inst),
            (Location::If(id), Some(function)) => AnnotationTarget::If(function, id),
            (Location::Loop(id), Some(function)) => AnnotationTarget::Loop(function, id),
        }
    }
}

fn annotation(error: &ValidationError) -> Annotation {
    Annotation { target: error.target(), text: format!("error[{}]: {}", error.kind.code(), error.kind) }
}
