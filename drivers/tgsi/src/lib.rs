//! IR to TGSI, in the style of a backend that uses the register helpers of [`tgsi_registers`].
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
//! one. What is not about TGSI in the machine passes is [`tgsi_vec4`].
//!
//! Functions that are called go through these steps by themselves and are put together then; what they share has a
//! fixed register ([`TgsiOptions::subroutines`]).

mod driver;
mod emit;
mod error;
mod lower;
mod machine;
mod passes;
mod select;
mod target;

pub use driver::{DRIVER, Tgsi, runner};
pub use error::{DriverError, Located};
pub use passes::named::{MACHINE_PASSES, MachinePassError, run_machine_pass};
pub use target::options::{Dialect, IndirectFiles, TgsiOptions};

use emit::interface::Interface;
use tgsi_ir::passes::pass_manager::Passes;

use select::Selected;
use select::declared::IoFile;
use target::virgl::rules::Rules;

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
) -> Result<tgsi::Shader, Located> {
    let selected = select(&shader, options, passes)?;
    // Large shaders need the room.
    for function in shader.functions.values_mut() {
        function.body = None;
    }
    finish_selected(&shader, selected, interface, options, passes)
}

fn select(shader: &tgsi_ir::Shader, options: &TgsiOptions, passes: &mut Passes<'_>) -> Result<Selected, Located> {
    let mut selected = Err(DriverError::NoEntryPoint.into());
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
) -> Result<tgsi::Shader, Located> {
    let Selected { mut parts, declared, arrays } = selected;
    if !options.has_continue {
        passes.run_driver("tgsi:lower_continues", || {
            parts.iter_mut().fold(false, |progress, part| {
                passes::lower_continues::lower_continues(&mut part.program, options.native_integers) | progress
            })
        });
    }
    if options.dialect == Dialect::Virgl {
        let rules = Rules::of_virgl(
            shader.stage,
            declared.semantics(shader.stage, IoFile::Output),
            declared.semantics(shader.stage, IoFile::Input),
            declared.system_values(),
            interface.map_or(&[], Interface::converted_outputs),
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
        part.program.machine.has_derivatives_of_xy = options.derivatives_of_xy;
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
