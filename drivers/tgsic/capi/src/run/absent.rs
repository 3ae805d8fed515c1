//! Replaces the running of shaders in builds without it: the functions exist and return an error, so that programs can
//! be linked with either build.

use super::{RunKind, Slices, tgsic_program_info};
use crate::compiler::tgsic_compiler;
use crate::failure::Failure;
use crate::result::tgsic_result;

/// There are no programs.
pub(super) enum Program {}

/// There are no objects.
pub(super) enum Object {}

/// There are no threads.
pub(super) enum Threads {}

fn absent() -> Failure {
    Failure::argument("this build of the library does not run shaders: it lacks the feature `run`")
}

pub(super) fn compile(_: &tgsic_compiler, _: &[u8], _: &mut tgsic_result) -> Result<Program, Failure> {
    Err(absent())
}

/// # Safety
/// None.
pub(super) unsafe fn load(_: *const Object) -> Result<Program, Failure> {
    Err(absent())
}

pub(super) fn start_threads(_: usize) -> Result<Threads, Failure> {
    Err(absent())
}

pub(super) fn info(program: &Program) -> tgsic_program_info {
    match *program {}
}

pub(super) fn run(program: &Program, _: Slices<'_>, _: Option<&Threads>, _: RunKind) -> Result<(), Failure> {
    match *program {}
}
