//! A complete backend for a made-up machine, as a model for real ones. `docs/porting.md` explains it step by step.
//!
//! The machine has 32 temporaries of four floats, inputs, outputs, uniforms, and rows of literals. An instruction
//! writes components of one register, clamped to 0..1 if needed, and reads up to three operands with swizzle, absolute
//! value and negation: of them at most one input, and one register of uniforms or literals. A scalar unit computes
//! reciprocals, roots and powers of x. A selection chooses by the sign of its first operand, branches go to
//! instructions by number, and one address register indexes uniforms.
//!
//! This file has the driver, its options, and the lowering.

#![forbid(unsafe_code)]

mod code;
mod machine;

use tgsi_compiler::{Code, CodeSize, CompilerOptions, Driver, DriverOption, Fidelity, InterfaceIntegers};
use tgsi_compiler::{Target, TargetError, UnknownOption, Unsupported};
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Shader, ShaderStage};
use tgsi_registers::legalize_operands::{OperandLimits, legalize_operands, rows_of_words};
use tgsi_registers::lower::{LowerError, Vec4Target, interface_integers, lower_for_floats};
use tgsi_registers::modifiers::ModifierPolicy;
use tgsi_registers::select::{Selection, select};
use tgsi_registry::DriverRow;

use machine::{Machine, Op, SCALAR};

tgsi_compiler::driver_options! {
    /// Options of the driver.
    pub struct Vec4Options {
        /// Instruction selection yields registers of the machine. Otherwise it yields virtual temporaries, which the
        /// passes of `tgsi_vec4` optimise and allocate.
        registers: bool = false, "registers" = true, "Values are registers at once; the vec4 passes do not run.";
        fuse_mad: bool = true, "no_mad" = false, "Products and sums stay separate.", sets [fuse_mad];
        /// The other facts about the machine.
        facts: bool = true, sets [source_modifiers fuse_scmp fdot_replicates lower_bitops lower_fceil lower_fdiv
            lower_ffma lower_fmulz lower_fround_even lower_fsign lower_fsqrt], clears [lower_fdot_mad];
    }
}

/// The row of the driver.
pub const ROW: DriverRow =
    DriverRow { runner: Some(code::runner), disassembler: Some(code::disassemble), ..DriverRow::new(&Vec4Driver) };

/// The number of temporaries.
pub(crate) const TEMPORARIES: u32 = 32;
const MODIFIERS: ModifierPolicy<'static> = ModifierPolicy::ALL;
const LIMITS: OperandLimits<'static> = OperandLimits { reads: &rows_of_words, ..OperandLimits::ONE_OF_EACH };

const MISSING: ErrorCode = ErrorCode::new("T9000", "missing");
pub(crate) const TOO_LARGE: ErrorCode = ErrorCode::new("T9001", "too-large");

fn not_floats(error: &LowerError, shader: &Shader) -> Box<dyn TargetError> {
    Unsupported::new(MISSING, error.inst(), error).located(shader)
}

#[derive(Debug)]
struct Vec4Driver;

impl Driver for Vec4Driver {
    fn name(&self) -> &'static str {
        "vec4"
    }

    fn about(&self) -> &'static str {
        "Code for an imaginary machine"
    }

    fn file_extension(&self) -> &'static str {
        "vec4"
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn options(&self) -> &'static [DriverOption] {
        Vec4Options::OPTIONS
    }

    fn error_codes(&self) -> &'static [ErrorCode] {
        &[MISSING, TOO_LARGE]
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        let mut target = Vec4Options::default();
        match options.iter().find(|name| !target.set_option(name)) {
            Some(unknown) => Err(UnknownOption::new(unknown, Vec4Options::OPTIONS)),
            None => Ok(Box::new(target)),
        }
    }
}

impl Target for Vec4Options {
    fn compiler_options(&self, _: ShaderStage) -> CompilerOptions {
        let unindexed = [VariableModes::SHADER_IN, VariableModes::SHADER_OUT, VariableModes::FUNCTION_TEMP];
        let no_indirect = unindexed.into_iter().fold(VariableModes::SHADER_TEMP, VariableModes::union);
        let mut compiler = CompilerOptions { no_indirect, ..CompilerOptions::default() };
        self.set_switches(&mut compiler);
        compiler
    }

    fn fidelity(&self, _: ShaderStage) -> Fidelity {
        let mut fidelity = Fidelity::default();
        fidelity.lacks_integers = true;
        fidelity.approximations = &[AluOp::Fsin, AluOp::Fcos];
        fidelity
    }

    fn interface_integers(&self, optimized: &Shader) -> Result<Option<InterfaceIntegers>, Box<dyn TargetError>> {
        let (mut shader, machine) = (optimized.clone(), self.machine(optimized.stage));
        interface_integers(&mut shader, &machine).map(Some).map_err(|e| not_floats(&e, &shader))
    }

    fn lower(&self, shader: &mut Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        if !matches!(shader.stage, ShaderStage::Vertex | ShaderStage::Fragment) {
            return Err(Unsupported::new(MISSING, None, "the machine has vertex and fragment programs").into());
        }
        lower_for_floats(shader, &self.machine(shader.stage), passes).map_err(|e| not_floats(&e, shader))?;
        if self.registers {
            passes.run_on(shader, "vec4:legalize_operands", |s| legalize_operands(s, &LIMITS, MODIFIERS));
        }
        Ok(())
    }

    fn emit(
        &self,
        lowered: Shader,
        _: Option<&tgsi::Shader>,
        _: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>> {
        let selected = select(Machine, lowered.main(), MODIFIERS, self.registers.then_some(TEMPORARIES));
        let selected = selected.map_err(|error| Unsupported::new(MISSING, error.inst(), error));
        selected.and_then(|program| code::emit(program, self.registers)).map_err(|error| error.located(&lowered))
    }

    fn size(&self, code: &Code) -> CodeSize {
        code::size(code).unwrap_or_default()
    }
}

impl Vec4Options {
    fn machine(&self, stage: ShaderStage) -> Vec4Target<'static> {
        let compiler = self.compiler_options(stage);
        Vec4Target {
            keep_rounding: compiler.keeps_rounding(stage),
            fuses_sums: self.fuse_mad && !compiler.keeps_rounding(stage),
            has_periodic: false,
            modifiers: MODIFIERS,
            is_operand: &|body, def| Machine.operand(body, def).is_some(),
            is_scalar: &|op| Op::of(op).is_some_and(|op| op.info() == SCALAR),
            single_constant_operand: true,
            single_input_operand: true,
            has_vector_registers: self.registers,
            compiler,
            ..Vec4Target::default()
        }
    }
}
