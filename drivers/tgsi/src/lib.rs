//! IR to TGSI, in the style of a backend that uses the register helpers of [`tgsi_legacy`].
//!
//! 1. [`lower`]: what TGSI has no word for is lowered, the shader leaves SSA, register accesses are made trivial. The result is still IR and can be run.
//! 2. Selection: each instruction becomes TGSI over virtual temporaries; the chase functions find registers, masks and modifiers.
//! 3. The machine passes: copies propagated, multiply-adds and conditions combined, results written where they are wanted, equal work on several
//!    components merged.
//! 4. Allocation: copies coalesced, values packed into the components of few temporaries. Where constants of many branches could be copied once before them, they are, unless that
//!    needs too many temporaries.
//! 5. The builder of the `tgsi` crate declares what is used and packs the immediates.
//!
//! Functions that are called go through 2 to 4 by themselves and are put together then; what they share has a fixed
//! place ([`TgsiOptions::subroutines`]).
//!
//! [`translate_tgsi`] is the whole way from TGSI to TGSI; large shaders take it in [`Pieces`].

mod declarations;
pub(crate) mod dialect;
mod finish;
mod lower;
mod machine;
mod options;
mod pieces;
mod properties;
mod select;

pub use dialect::interface::Interface;
pub use dialect::reading::read_dialect;
pub use lower::{EVERY_REGISTER, OutsideIntegers, lower, lower_with, outside_integers};
pub use options::{Dialect, IndirectFiles, TgsiOptions, UnknownOption};
pub use pieces::{Pieces, TranslateError, translate_tgsi};

use tgsi::builder::BuildError;
use tgsi::tables::{File, Opcode};
use tgsi_ir::Inst;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::JumpKind;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::Stage;
use thiserror::Error;

use select::Selected;

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
    /// Something from outside that is read as an integer here and as a float there, where the target has no integers.
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
        /// What is in the way.
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
        /// What it is.
        what: &'static str,
    },
    /// A loop with a continue construct.
    #[error("a loop has a continue construct")]
    ContinueConstruct,
    /// A jump that TGSI does not have.
    #[error("{0:?} is left")]
    Jump(JumpKind),
    /// An access by a run-time index to a file that the target cannot address so, where direct accesses would be too many; or a constant beyond those that
    /// operands can name.
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

/// Translates a shader in SSA form. The shader itself is not changed.
///
/// # Errors
/// [`DriverError`]: what TGSI cannot express.
pub fn translate(shader: &tgsi_ir::Shader, options: &TgsiOptions) -> Result<tgsi::Shader, DriverError> {
    translate_owned(shader.clone(), options)
}

/// Translates a shader in SSA form that nobody needs any more.
///
/// # Errors
/// [`DriverError`]: what TGSI cannot express.
pub fn translate_owned(shader: tgsi_ir::Shader, options: &TgsiOptions) -> Result<tgsi::Shader, DriverError> {
    translate_within(shader, None, options)
}

/// The same within an interface, which must be that of the shader which this one was made from: declarations of all that others see, and properties, are those of the interface,
/// whether the code uses them or not.
///
/// # Errors
/// [`DriverError`]: what TGSI cannot express.
pub fn translate_within(
    shader: tgsi_ir::Shader,
    interface: Option<&Interface>,
    options: &TgsiOptions,
) -> Result<tgsi::Shader, DriverError> {
    translate_with(shader, interface, options, &mut Passes::default())
}

/// The same under the eyes of an observer, who hears of every pass of the driver
/// ([`after_driver`](tgsi_ir::passes::pass_manager::PassObserver::after_driver)): the lowering, `select`, the machine passes and `build`. `liveness` is that of the whole program;
/// what a pass asks for of a program of its own is part of the pass. No pass is left out.
///
/// # Errors
/// [`DriverError`]: what TGSI cannot express.
pub fn translate_with(
    mut shader: tgsi_ir::Shader,
    interface: Option<&Interface>,
    options: &TgsiOptions,
    passes: &mut Passes<'_>,
) -> Result<tgsi::Shader, DriverError> {
    let options = &options.fitted(shader.stage);
    lower_with(&mut shader, options, passes)?;
    #[cfg(debug_assertions)]
    if let Err(violations) = tgsi_legacy::check::check(&shader, options.modifiers()) {
        log::error!("register accesses are not trivial: {violations:?}");
        debug_assert!(false, "register accesses are not trivial: {violations:?}");
    }
    let selected = select(&shader, options, passes)?;
    // Large shaders need the room.
    for function in shader.functions.values_mut() {
        function.body = None;
    }
    finish_selected(&shader, selected, interface, options, passes)
}

/// Translates what [`lower`] has lowered with the same options.
///
/// # Errors
/// [`DriverError`]: what TGSI cannot express.
pub fn translate_lowered(shader: &tgsi_ir::Shader, options: &TgsiOptions) -> Result<tgsi::Shader, DriverError> {
    let options = &options.fitted(shader.stage);
    let mut passes = Passes::default();
    let selected = select(shader, options, &mut passes)?;
    finish_selected(shader, selected, None, options, &mut passes)
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
        let rules = dialect::rules::Rules::of_virgl(shader.stage, &declared);
        for part in &mut parts {
            dialect::legalize::legalize(&mut part.program, shader.stage, rules.clone());
        }
    }
    for part in &mut parts {
        part.program.has_whole_results = options.whole_results;
        part.program.has_halves_in_turn = options.halves_in_turn;
        finish_program(&mut part.program, shader.stage, options, passes);
    }
    let program = machine::join::join(parts).ok_or(DriverError::NoEntryPoint)?;
    finish::check_indirect(&program, options)?;
    let mut built = Err(DriverError::NoEntryPoint);
    passes.run_driver("tgsi:build", || {
        built = finish::finish(shader, &declared, &arrays, program, options);
        true
    });
    let mut finished = built?;
    if let Some(interface) = interface {
        interface.apply(&mut finished)?;
    }
    if options.dialect == Dialect::Virgl {
        dialect::finish::finish(&mut finished)?;
    }
    Ok(finished)
}

/// The machine passes and allocation.
fn finish_program(program: &mut machine::Program, stage: Stage, options: &TgsiOptions, passes: &mut Passes<'_>) {
    let is_large = program.instructions().len() > LARGE;
    optimize(program, options, if is_large { EARLY } else { ALL }, passes);
    // Outputs of these stages are seen by others before the end, or again and again.
    let outputs_wait = !matches!(stage, Stage::Geometry | Stage::TessCtrl);
    let mut hoisted = None;
    if options.optimize && !options.unoptimized_ra {
        passes.run_driver("tgsi:hoist_constants", || {
            hoisted = machine::hoist_constants::hoist_constants(program);
            hoisted.is_some()
        });
    }
    let (hoisted, fewest_temps) = hoisted.unzip();
    let more_temps = |count: u32| count + count / 8 + 1;
    let rest = if is_large { ALL & !EARLY } else { 0 };
    if let Some(mut hoisted) = hoisted {
        // Branches may be empty now.
        optimize(&mut hoisted, options, ALL, passes);
        allocate(&mut hoisted, options, outputs_wait, passes);
        if fewest_temps.is_none_or(|fewest| hoisted.num_temps > more_temps(fewest)) {
            optimize(program, options, rest, passes);
            allocate(program, options, outputs_wait, passes);
        }
        let is_shorter = hoisted.instructions().len() < program.instructions().len();
        if is_shorter && hoisted.num_temps <= more_temps(program.num_temps) {
            *program = hoisted;
        }
    } else {
        optimize(program, options, rest, passes);
        allocate(program, options, outputs_wait, passes);
    }
}

/// What the next pass asks for first, as a pass of its own.
fn find_liveness(program: &mut machine::Program, passes: &mut Passes<'_>) {
    passes.run_driver("tgsi:liveness", || {
        program.liveness();
        false
    });
}

/// Allocation, and what it makes possible.
fn allocate(
    program: &mut machine::Program,
    options: &TgsiOptions,
    may_write_outputs_early: bool,
    passes: &mut Passes<'_>,
) {
    find_liveness(program, passes);
    passes.run_driver("tgsi:allocate", || {
        machine::allocate::allocate(program, !options.unoptimized_ra, may_write_outputs_early && options.optimize);
        true
    });
    if options.optimize {
        // Neighbours may have become mergeable.
        passes.run_driver(MERGE, || machine::merge::merge_instructions(program));
    }
}

const DEAD_CODE: &str = "tgsi:remove_dead_code";
const MERGE: &str = "tgsi:merge_instructions";

/// Times that the list of machine passes is gone through at most.
const MAX_ROUNDS: usize = 4;

/// All machine passes, by place in the list of [`optimize`].
const ALL: u8 = 0b111_1111;

/// The propagation of copies: what is read then shows which copies are of constants.
const EARLY: u8 = 0b000_0010;

/// Instructions above which only [`EARLY`] passes run before constants are hoisted: the others have less to do afterwards.
const LARGE: usize = 2000;

/// The machine passes, until none that is due has anything left to do.
fn optimize(program: &mut machine::Program, options: &TgsiOptions, mut due: u8, passes: &mut Passes<'_>) {
    if !options.optimize {
        return;
    }
    // Each pass with those, by place, that its changes leave something to.
    type Pass = fn(&mut machine::Program, &TgsiOptions) -> bool;
    let machine_passes: [(&str, Pass, u8); 7] = [
        (
            "tgsi:tidy_flow",
            |program, options| machine::tidy_flow::tidy_flow(program, options.native_integers),
            0b111_1111,
        ),
        ("tgsi:propagate_copies", |program, _| machine::propagate::propagate_copies(program), 0b000_1110),
        ("tgsi:combine", machine::combine::combine, 0b000_1110),
        (DEAD_CODE, |program, _| machine::dead_code::remove_dead_code(program), 0b000_0000),
        ("tgsi:forward_results", |program, _| machine::forward::forward_results(program), 0b110_0000),
        (MERGE, |program, _| machine::merge::merge_instructions(program), 0b100_0000),
        ("tgsi:vectorize", |program, _| machine::vectorize::vectorize(program), 0b111_1000),
    ];
    let only = if due == EARLY { EARLY } else { ALL };
    for _ in 0..MAX_ROUNDS {
        if due == 0 {
            break;
        }
        for (place, (name, pass, leaves)) in machine_passes.into_iter().enumerate() {
            if due >> place & 1 != 0 {
                due &= !(1 << place);
                if name == DEAD_CODE {
                    find_liveness(program, passes);
                }
                if passes.run_driver(name, || pass(program, options)) {
                    due |= leaves & only;
                }
            }
        }
    }
}

/// The example of the project's README, which must compile and hold.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
