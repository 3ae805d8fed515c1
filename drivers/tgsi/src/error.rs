//! Errors of the driver, and their positions in a TGSI source.

use tgsi::builder::BuildError;
use tgsi::tables::{File, Opcode};
use tgsi_compiler::{Subject, TargetError};
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::JumpKind;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::shader::Stage;
use tgsi_ir::{Body, Inst, Shader};
use thiserror::Error;

/// Why a shader has no translation.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DriverError {
    /// There is no function to translate.
    #[error("the shader has no entry point")]
    NoEntryPoint,
    /// TGSI has no such stage.
    #[error("TGSI has no {0:?} shaders")]
    Stage(Stage),
    /// An operation that TGSI cannot express.
    #[error("{inst}: {op} has no TGSI form")]
    UnsupportedAlu {
        /// The instruction.
        inst: Inst,
        /// Its opcode.
        op: AluOp,
    },
    /// Part of the interface that is read as an integer here and as a float there, where the target has no integers.
    #[error("{inst}: what it loads is read both as an integer and as a float")]
    IntegerAndFloat {
        /// The instruction.
        inst: Inst,
    },
    /// An intrinsic that TGSI cannot express.
    #[error("{inst}: {op} has no TGSI form")]
    UnsupportedIntrinsic {
        /// The instruction.
        inst: Inst,
        /// Its opcode.
        op: IntrinsicOp,
    },
    /// An atomic operation that TGSI cannot express.
    #[error("{inst}: the atomic operation has no TGSI form")]
    UnsupportedAtomic {
        /// The instruction.
        inst: Inst,
    },
    /// A texture operation that TGSI cannot express.
    #[error("{inst}: a texture instruction with {what} has no TGSI form")]
    UnsupportedTexture {
        /// The instruction.
        inst: Inst,
        /// The obstacle.
        what: &'static str,
    },
    /// Values that TGSI has no registers for.
    #[error("{inst}: values of {bits} bits")]
    BitSize {
        /// The instruction.
        inst: Inst,
        /// Bits of its result.
        bits: u8,
    },
    /// Something that the lowering should have removed.
    #[error("{inst}: {what} is left")]
    NotLowered {
        /// The instruction.
        inst: Inst,
        /// Its description.
        what: &'static str,
    },
    /// A loop with a continue construct.
    #[error("a loop has a continue construct")]
    ContinueConstruct,
    /// A jump that TGSI does not have.
    #[error("{0:?} is left")]
    Jump(JumpKind),
    /// An access by a run-time index to a file that the target cannot address so, where direct accesses would be too
    /// many; or a constant beyond those that operands can name.
    #[error("the target cannot address {} indirectly, and the shader cannot do without", .0.name())]
    Indirect(File),
    /// More temporaries than operands can name.
    #[error("{0} temporaries are too many")]
    TooManyTemporaries(u32),
    /// An opcode that the dialect does not have.
    #[error("{} is not part of the dialect", opcode.info().name)]
    UnsupportedOpcode {
        /// The opcode.
        opcode: Opcode,
    },
    /// A register file that the dialect does not have.
    #[error("registers of {} are not part of the dialect", file.name())]
    UnsupportedFile {
        /// The file.
        file: File,
    },
    /// More immediates than readers of the dialect have room for.
    #[error("{0} immediates are too many")]
    TooManyImmediates(usize),
    /// More declarations, units or buffers than readers of the dialect have room for.
    #[error("hosts of virgl have {most} {what}")]
    HostLimit {
        /// How many there are.
        most: u32,
        /// What is counted.
        what: &'static str,
    },
    /// A register that is used but not declared where the declarations are to be kept.
    #[error("the interface has no {}[{register}]", file.name())]
    Interface {
        /// Its file.
        file: File,
        /// Its number.
        register: u16,
    },
    /// A loop, for a target without loops.
    #[error("the loop cannot be unrolled, and the target has no loops")]
    Loop {
        /// An instruction of it.
        inst: Option<Inst>,
    },
    /// An instruction that must not run unless its condition holds, for a target without branches.
    #[error("{inst} must not run unless its condition holds, and the target has no branches")]
    Conditional {
        /// The instruction.
        inst: Inst,
    },
    /// The shader does not fit TGSI's limits.
    #[error("{0}")]
    Build(#[from] BuildError),
}

impl DriverError {
    tgsi_diagnostics::error_codes! {
        NoEntryPoint => "T0700" "no-entry-point",
        Stage => "T0701" "stage",
        UnsupportedAlu => "T0702" "unsupported-alu",
        IntegerAndFloat => "T0703" "integer-and-float",
        Indirect => "T0704" "indirect",
        UnsupportedIntrinsic => "T0705" "unsupported-intrinsic",
        UnsupportedAtomic => "T0706" "unsupported-atomic",
        UnsupportedTexture => "T0707" "unsupported-texture",
        BitSize => "T0708" "bit-size",
        NotLowered => "T0709" "not-lowered",
        ContinueConstruct => "T0710" "continue-construct",
        Jump => "T0711" "jump",
        TooManyTemporaries => "T0712" "too-many-temporaries",
        UnsupportedOpcode => "T0713" "unsupported-opcode",
        UnsupportedFile => "T0714" "unsupported-file",
        TooManyImmediates => "T0715" "too-many-immediates",
        Interface => "T0716" "interface",
        Build => "T0717" "build",
        Loop => "T0718" "loop",
        Conditional => "T0719" "conditional",
        HostLimit => "T0720" "host-limit",
    }
}

impl DriverError {
    /// The instruction of the IR that the error is about.
    fn inst(&self) -> Option<Inst> {
        use DriverError as E;
        match *self {
            E::UnsupportedAlu { inst, .. }
            | E::IntegerAndFloat { inst }
            | E::UnsupportedIntrinsic { inst, .. }
            | E::UnsupportedAtomic { inst }
            | E::UnsupportedTexture { inst, .. }
            | E::BitSize { inst, .. }
            | E::NotLowered { inst, .. }
            | E::Conditional { inst } => Some(inst),
            E::Loop { inst } => inst,
            E::NoEntryPoint
            | E::Stage(_)
            | E::ContinueConstruct
            | E::Jump(_)
            | E::Indirect(_)
            | E::TooManyTemporaries(_)
            | E::UnsupportedOpcode { .. }
            | E::UnsupportedFile { .. }
            | E::TooManyImmediates(_)
            | E::HostLimit { .. }
            | E::Interface { .. }
            | E::Build(_) => None,
        }
    }

    /// The error with the instruction of the source that it is about, which `body` knows.
    pub(crate) fn in_body(self, body: &Body, native_integers: bool) -> Located {
        let instruction = self.inst().and_then(|inst| origin(body, inst));
        Located { error: self, instruction, native_integers }
    }

    /// The same for the entry point of a shader.
    pub(crate) fn in_shader(self, shader: &Shader, native_integers: bool) -> Located {
        match shader.entry_point().and_then(|entry| shader.functions[entry].body.as_ref()) {
            Some(body) => self.in_body(body, native_integers),
            None => self.into(),
        }
    }
}

/// Most instructions that are searched for an origin.
const MOST_NEIGHBOURS: usize = 64;

/// The instruction of the source that an instruction comes from, or the first one found among its users and operands.
fn origin(body: &Body, inst: Inst) -> Option<u32> {
    let mut known = vec![inst];
    let mut next = 0;
    while let Some(&inst) = known.get(next) {
        if let Some(origin) = body.origin(inst) {
            return Some(origin);
        }
        next += 1;
        let users = body.inst_def(inst).into_iter().flat_map(|def| body.uses_of(def));
        let users = users.filter_map(|source| body.user(source).inst());
        let operands = body.sources(inst).map(|source| body.src_inst(source));
        let room = MOST_NEIGHBOURS.saturating_sub(known.len());
        known.extend(users.chain(operands).take(room));
    }
    None
}

/// An error, and the instruction of the source that it is about.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("{error}")]
pub struct Located {
    /// The error.
    pub error: DriverError,
    /// The number of the instruction of the source, from 0.
    pub instruction: Option<u32>,
    /// Whether the target has integers.
    native_integers: bool,
}

impl From<DriverError> for Located {
    fn from(error: DriverError) -> Located {
        Located { error, instruction: None, native_integers: true }
    }
}

impl From<Located> for Box<dyn TargetError> {
    fn from(error: Located) -> Self {
        Box::new(error)
    }
}

impl TargetError for Located {
    fn code(&self) -> ErrorCode {
        self.error.code()
    }

    fn subject(&self) -> Subject {
        match (&self.error, self.instruction) {
            (DriverError::TooManyTemporaries(_), _) => Subject::Temporaries,
            (DriverError::Indirect(file), _) => Subject::Operand { file: *file, is_indirect: true },
            // No source names this file in an operand: `LOAD` reads it.
            (DriverError::UnsupportedFile { file: File::ConstantBuffer }, _) => Subject::Opcode(Opcode::Load),
            (DriverError::UnsupportedFile { file }, _) => Subject::Operand { file: *file, is_indirect: false },
            (DriverError::UnsupportedOpcode { opcode }, _) => Subject::Opcode(*opcode),
            (DriverError::Loop { .. }, Some(number)) => Subject::Loop(number),
            (_, Some(number)) => Subject::Instruction(number),
            (_, None) => Subject::Shader,
        }
    }

    fn message_at(&self, opcode: Opcode) -> Option<String> {
        use DriverError as E;
        let name = opcode.name();
        Some(match &self.error {
            E::UnsupportedAlu { .. } | E::UnsupportedIntrinsic { .. } | E::UnsupportedTexture { .. }
                if !self.native_integers =>
            {
                format!("{name} needs integers, and the target has none")
            }
            E::NotLowered { what: "an integer operation", .. } => {
                format!("{name} needs integers, and the target has none")
            }
            E::UnsupportedAlu { .. } | E::UnsupportedIntrinsic { .. } | E::UnsupportedAtomic { .. } => {
                format!("the target has no instructions for {name}")
            }
            E::UnsupportedTexture { what, .. } => format!("the target has no instructions for {name} with {what}"),
            E::IntegerAndFloat { .. } => format!(
                "{name} reads a register as an integer that is read as a float elsewhere, or the other way round, and \
                 the target has no integers"
            ),
            E::BitSize { bits, .. } => format!("{name} takes values of {bits} bits, which the target does not have"),
            E::Conditional { .. } => {
                format!("{name} must not run unless its condition holds, and the target has no branches")
            }
            E::UnsupportedFile { file } => format!("{name} reads {}, which is not part of the dialect", file.name()),
            E::Loop { .. }
            | E::NotLowered { .. }
            | E::NoEntryPoint
            | E::Stage(_)
            | E::ContinueConstruct
            | E::Jump(_)
            | E::Indirect(_)
            | E::TooManyTemporaries(_)
            | E::UnsupportedOpcode { .. }
            | E::TooManyImmediates(_)
            | E::HostLimit { .. }
            | E::Interface { .. }
            | E::Build(_) => return None,
        })
    }

    fn hint(&self) -> Option<String> {
        let hint = match &self.error {
            DriverError::Loop { .. } => {
                "let a constant bound the number of iterations: at most 1024 of them, and 65536 instructions in all"
            }
            DriverError::Conditional { .. } => "take it out of the branch",
            DriverError::IntegerAndFloat { .. } => {
                "use two registers: one for integers, which arrive as floats, and one for floats"
            }
            DriverError::Indirect(_) => "use constant indices, or a smaller array",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
