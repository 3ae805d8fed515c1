//! Parts of the compilation, for tests of one of them.

#![allow(dead_code, reason = "each test program uses some of them")]

use tgsi::Shader;
use tgsi_compiler::{CompileError, Compiler, Stage};
use tgsi_driver_tgsi::{DriverError, Located, TgsiOptions};
use tgsi_ir::passes::pipeline::OptLevel;

fn of_driver(error: CompileError) -> DriverError {
    error.of_target::<Located>().map(|located| located.error.clone()).unwrap_or_else(|| panic!("{error}"))
}

/// Translates optimised SSA.
pub fn translate(ir: &tgsi_ir::Shader, options: &TgsiOptions) -> Result<Shader, DriverError> {
    emit(ir.clone(), Stage::Opt, options)
}

/// Translates IR that [`lower`] has lowered.
pub fn translate_lowered(ir: &tgsi_ir::Shader, options: &TgsiOptions) -> Result<Shader, DriverError> {
    emit(ir.clone(), Stage::Registers, options)
}

fn emit(ir: tgsi_ir::Shader, stage: Stage, options: &TgsiOptions) -> Result<Shader, DriverError> {
    let compiler = Compiler::new(options.clone());
    let code = compiler.resume(ir, stage).finish().map_err(of_driver)?;
    Ok(code.into_tgsi().expect("TGSI"))
}

/// Lowers optimised SSA.
pub fn lower(ir: &mut tgsi_ir::Shader, options: &TgsiOptions) -> Result<(), DriverError> {
    let compiler = Compiler::new(options.clone());
    let mut compilation = compiler.resume(ir.clone(), Stage::Opt);
    compilation.advance(Stage::Registers).map_err(of_driver)?;
    *ir = compilation.into_ir();
    Ok(())
}

/// Compiles a TGSI shader.
pub fn compile(source: &Shader, options: &TgsiOptions, level: OptLevel) -> Result<Shader, CompileError> {
    let code = Compiler::new(options.clone()).with_level(level).compile(source)?;
    Ok(code.into_tgsi().expect("TGSI"))
}
