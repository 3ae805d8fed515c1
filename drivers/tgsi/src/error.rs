//! The errors of the driver, and their positions in a TGSI source.

use tgsi::builder::BuildError;
use tgsi::tables::{File, Opcode};
use tgsi_compiler::{Subject, TargetError};
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::JumpKind;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::{Body, Inst, Shader};
use tgsi_registers::lower::LowerError;
use thiserror::Error;

/// The reason why a shader cannot be translated.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DriverError {
    /// There is no function to translate.
    #[error("the shader has no entry point")]
    NoEntryPoint,
    /// TGSI has no such stage.
    #[error("TGSI has no {0:?} shaders")]
    Stage(ShaderStage),
    /// An operation that TGSI cannot express.
    #[error("{op} has no TGSI form")]
    UnsupportedAlu {
        /// The instruction.
        inst: Inst,
        /// Its opcode.
        op: AluOp,
    },
    /// A register used as an integer by one instruction and as a float by another, on a target without integers.
    #[error("the loaded value is used both as an integer and as a float")]
    IntegerAndFloat {
        /// The instruction.
        inst: Inst,
    },
    /// An intrinsic that TGSI cannot express.
    #[error("{op} has no TGSI form")]
    UnsupportedIntrinsic {
        /// The instruction.
        inst: Inst,
        /// Its opcode.
        op: IntrinsicOp,
    },
    /// An atomic operation that TGSI cannot express.
    #[error("the atomic operation has no TGSI form")]
    UnsupportedAtomic {
        /// The instruction.
        inst: Inst,
    },
    /// A texture operation that TGSI cannot express.
    #[error("a texture instruction with {what} has no TGSI form")]
    UnsupportedTexture {
        /// The instruction.
        inst: Inst,
        /// The obstacle.
        what: &'static str,
    },
    /// Values of a size that TGSI registers cannot hold.
    #[error("values of {bits} bits are not supported")]
    BitSize {
        /// The instruction.
        inst: Inst,
        /// The size of its result in bits.
        bits: u8,
    },
    /// A construct that lowering should have removed.
    #[error("{what} was not lowered")]
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
    #[error("{0:?} was not lowered")]
    Jump(JumpKind),
    /// An access through a run-time index to a file that the target cannot address indirectly, where there would be too
    /// many direct accesses; or a constant beyond the range of operands.
    #[error("the target cannot address {} indirectly, and the accesses cannot be made direct", .0.name())]
    Indirect(File),
    /// More temporaries than operands can address.
    #[error("too many temporaries: {0}")]
    TooManyTemporaries(u32),
    /// An opcode that does not exist in the dialect.
    #[error("{} is not part of the dialect", opcode.info().name)]
    UnsupportedOpcode {
        /// The opcode.
        opcode: Opcode,
    },
    /// A register file that does not exist in the dialect.
    #[error("registers of {} are not part of the dialect", file.name())]
    UnsupportedFile {
        /// The file.
        file: File,
    },
    /// More immediates than consumers of the dialect support.
    #[error("too many immediates: {0}")]
    TooManyImmediates(usize),
    /// More declarations, units or buffers than consumers of the dialect support.
    #[error("virgl hosts support at most {most} {what}")]
    HostLimit {
        /// The maximum.
        most: u32,
        /// The kind of object that is counted.
        what: &'static str,
    },
    /// A register that is used but not declared, where the declarations are kept.
    #[error("the interface does not declare {}[{register}]", file.name())]
    Interface {
        /// Its file.
        file: File,
        /// Its number.
        register: u16,
    },
    /// A loop, for a target without loops.
    #[error("the loop cannot be unrolled, and the target has no loops")]
    Loop {
        /// An instruction in the loop.
        inst: Option<Inst>,
    },
    /// An instruction that must not be executed unconditionally, for a target without branches.
    #[error("an instruction must not run unless its condition holds, and the target has no branches")]
    Conditional {
        /// The instruction.
        inst: Inst,
    },
    /// The shader exceeds a limit of TGSI.
    #[error("{0}")]
    Build(#[from] BuildError),
}

impl From<LowerError> for DriverError {
    fn from(error: LowerError) -> Self {
        match error {
            LowerError::UnsupportedAlu { inst, op } => DriverError::UnsupportedAlu { inst, op },
            LowerError::IntegerAndFloat { inst } => DriverError::IntegerAndFloat { inst },
            LowerError::Loop { inst } => DriverError::Loop { inst },
            LowerError::Conditional { inst } => DriverError::Conditional { inst },
        }
    }
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
    /// The instruction of the IR at which the error occurred.
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

    /// Adds the source instruction of the error, found by its origin in `body`.
    pub(crate) fn in_body(self, body: &Body, native_integers: bool) -> Located {
        let instruction = self.inst().and_then(|inst| body.nearest_origin(inst));
        Located { error: self, instruction, native_integers }
    }

    /// Adds the source instruction, found in the entry point of a shader.
    pub(crate) fn in_shader(self, shader: &Shader, native_integers: bool) -> Located {
        match shader.entry_point().and_then(|entry| shader.functions[entry].body.as_ref()) {
            Some(body) => self.in_body(body, native_integers),
            None => self.into(),
        }
    }
}

/// An error, and the source instruction at which it occurred.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("{error}")]
pub struct Located {
    /// The error.
    pub error: DriverError,
    /// The index of the source instruction, from 0.
    pub instruction: Option<u32>,
    /// Whether the target has integers.
    native_integers: bool,
}

impl From<DriverError> for Located {
    fn from(error: DriverError) -> Located {
        Located { error, instruction: None, native_integers: true }
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
            // This file never occurs in a source operand: `LOAD` reads it.
            (DriverError::UnsupportedFile { file: File::ConstantBuffer }, _) => Subject::Opcode(Opcode::Load),
            (DriverError::UnsupportedFile { file }, _) => Subject::Operand { file: *file, is_indirect: false },
            (DriverError::UnsupportedOpcode { opcode }, _) => Subject::Opcode(*opcode),
            (DriverError::Loop { .. }, Some(number)) => Subject::Loop(number),
            (_, Some(number)) => Subject::Instruction(number),
            (_, None) => Subject::Shader,
        }
    }

    fn message_at(&self, opcode: Option<Opcode>) -> Option<String> {
        use DriverError as E;
        let name = match (opcode, &self.error) {
            (Some(opcode), _) => opcode.name().to_owned(),
            (None, E::UnsupportedAlu { op, .. }) => format!("`{op}`"),
            (None, E::UnsupportedIntrinsic { op, .. }) => format!("`{op}`"),
            (None, _) => return None,
        };
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
            E::BitSize { bits, .. } => format!("{name} needs values of {bits} bits, which the target does not support"),
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
                "bound the number of iterations by a constant: at most 1024 iterations and 65536 instructions in total"
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
