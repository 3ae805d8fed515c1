//! IR to TGSI, in the style of a backend that uses the register helpers of [`tgsi_legacy`].
//!
//! 1. `lower`: what TGSI cannot express is lowered, the shader leaves SSA, register accesses become trivial. The result
//!    is still IR and can be run.
//! 2. `select`: each instruction becomes TGSI over virtual temporaries. The chase functions find registers, masks and
//!    modifiers.
//! 3. `passes`: the machine passes propagate copies, form multiply-adds and conditions, merge equal work on several
//!    components, and allocate temporaries. Constants of many branches are copied once before them, unless that needs
//!    too many temporaries.
//! 4. `emit`: the builder of the `tgsi` crate declares what is used and packs the immediates.
//!
//! The folders stand in this order, after `target` (options and rules) and `machine` (the program); none uses a later
//! one. What is not about TGSI in the machine passes is [`tgsi_legacy::vec4`].
//!
//! Functions that are called go through these steps by themselves and are put together then; what they share has a
//! fixed register ([`TgsiOptions::subroutines`]).

mod driver;
mod emit;
mod lower;
mod machine;
mod passes;
mod select;
mod target;

pub use driver::{DRIVER, Tgsi, runner};
pub use passes::named::{MACHINE_PASSES, MachinePassError, run_machine_pass};
pub use target::options::{Dialect, IndirectFiles, TgsiOptions};

use emit::interface::Interface;
use tgsi::builder::BuildError;
use tgsi::tables::{File, Opcode};
use tgsi_compiler::{Subject, TargetError};
use tgsi_ir::Inst;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::JumpKind;
use tgsi_ir::error_codes::Code;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::Stage;
use thiserror::Error;

use select::Selected;
use select::declared::IoFile;
use target::virgl::rules::Rules;

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
    /// A register that is used but not declared where the declarations are to be kept.
    #[error("the interface has no {}[{register}]", file.name())]
    Interface {
        /// Its file.
        file: File,
        /// Its number.
        register: u16,
    },
    /// The shader does not fit TGSI's limits.
    #[error("{0}")]
    Build(#[from] BuildError),
}

impl DriverError {
    tgsi_ir::error_codes! {
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
    }
}

impl TargetError for DriverError {
    fn code(&self) -> Code {
        self.code()
    }

    fn subject(&self) -> Subject {
        match self {
            DriverError::TooManyTemporaries(_) => Subject::Temporaries,
            _ => Subject::Shader,
        }
    }
}

/// TGSI for what [`lower`] has lowered with the same options, which fit the stage. With an interface, declarations of
/// all that others see, and properties, are those of the interface, whether the code uses them or not. The observer
/// hears of every pass; `liveness` is that of the whole program, and what a pass asks for of a program of its own is
/// part of the pass.
///
/// # Errors
/// [`DriverError`]: what TGSI cannot express.
fn emit(
    mut shader: tgsi_ir::Shader,
    interface: Option<&Interface>,
    options: &TgsiOptions,
    passes: &mut Passes<'_>,
) -> Result<tgsi::Shader, DriverError> {
    let selected = select(&shader, options, passes)?;
    // Large shaders need the room.
    for function in shader.functions.values_mut() {
        function.body = None;
    }
    finish_selected(&shader, selected, interface, options, passes)
}

fn select(shader: &tgsi_ir::Shader, options: &TgsiOptions, passes: &mut Passes<'_>) -> Result<Selected, DriverError> {
    let mut selected = Err(DriverError::NoEntryPoint);
    passes.run_driver("tgsi:select", || {
        selected = select::select(shader, options);
        true
    });
    selected
}

/// All that comes after selection. Of the shader only what it declares is looked at.
fn finish_selected(
    shader: &tgsi_ir::Shader,
    selected: Selected,
    interface: Option<&Interface>,
    options: &TgsiOptions,
    passes: &mut Passes<'_>,
) -> Result<tgsi::Shader, DriverError> {
    let Selected { mut parts, declared, arrays } = selected;
    if options.dialect == Dialect::Virgl {
        let rules = Rules::of_virgl(
            shader.stage,
            declared.semantics(shader.stage, IoFile::Output),
            declared.semantics(shader.stage, IoFile::Input),
            declared.system_values(),
        );
        for part in &mut parts {
            passes::legalize_virgl::legalize(&mut part.program, shader.stage, rules.clone());
        }
    }
    for part in &mut parts {
        part.program.machine.has_whole_results = options.whole_results;
        part.program.machine.has_whole_textures = options.whole_texture_writes;
        part.program.machine.has_plain_coordinates = options.plain_coordinates;
        part.program.machine.has_halves_in_turn = options.halves_in_turn;
        part.program.machine.has_own_allocator = options.unoptimized_ra;
        passes::pipeline::run(&mut part.program, shader.stage, options, passes);
    }
    let program = passes::join::join(parts).ok_or(DriverError::NoEntryPoint)?;
    emit::finish::check_indirect(&program, options)?;
    let mut built = Err(DriverError::NoEntryPoint);
    passes.run_driver("tgsi:build", || {
        built = emit::finish::build(shader, &declared, &arrays, program, options);
        true
    });
    let mut finished = built?;
    if let Some(interface) = interface {
        interface.apply(&mut finished)?;
    }
    if options.dialect == Dialect::Virgl {
        emit::finish_virgl::adapt_to_hosts(&mut finished)?;
    }
    Ok(finished)
}
