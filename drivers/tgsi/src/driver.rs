//! The driver as the compiler sees it.

use std::any::Any;

use tgsi::check::check_for;
use tgsi::text::PrintOptions;
use tgsi_compiler::{
    Code, CodeSize, Driver, DriverOption, Fidelity, Fit, InterfaceIntegers, RunError, Runner, Target, TargetError,
    UnknownOption,
};
use tgsi_diagnostics::ErrorCode;
use tgsi_diagnostics::{Diagnostic, Focus};
use tgsi_ir::alu::AluOp;
use tgsi_to_ir::ToIrOptions;
use tgsi_to_ir::slots::processor_of;

use tgsi_environment::{Inputs, Outputs, Resources, RunLimits};
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline::OptLevel;
use tgsi_ir::shader::ShaderStage;

use crate::DriverError;
use crate::consumers::fit::{fit, has_textures};
use crate::consumers::language;
use crate::consumers::options::{Dialect, TgsiOptions};
use crate::consumers::profiles::Profile;
use crate::consumers::virgl::limits::{LimitExcess, excesses};
use crate::consumers::virgl::reading::read_dialect;
use crate::emit::interface::Interface;
use crate::lower::{interface_integers, lower};
use crate::pipeline::emit;

/// The driver for TGSI.
#[derive(Clone, Copy, Debug)]
pub struct Tgsi;

/// The driver for TGSI.
pub static DRIVER: Tgsi = Tgsi;

impl Driver for Tgsi {
    fn name(&self) -> &'static str {
        "tgsi"
    }

    fn about(&self) -> &'static str {
        "TGSI again"
    }

    fn file_extension(&self) -> &'static str {
        "tgsi"
    }

    fn options(&self) -> &'static [DriverOption] {
        TgsiOptions::OPTIONS
    }

    fn profiles(&self) -> &'static [DriverOption] {
        Profile::NAMED
    }

    fn error_codes(&self) -> &'static [ErrorCode] {
        DriverError::CODES
    }

    fn explanations(&self) -> &'static str {
        include_str!("../explanations.txt")
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        let mut target = TgsiOptions::default();
        for name in options {
            target.set(name)?;
        }
        Ok(Box::new(target))
    }

    fn variants(&self) -> &'static [&'static str] {
        // Each option alone, and those that affect each other together. `no_trunc`, `no_round`, `no_ssg` and `no_sat`
        // are missing: the replacements of these opcodes may turn -0 into 0. That takes fewer instructions, and GLSL
        // allows it, but results are compared bit by bit here.
        &[
            "no_fabs",
            "no_cmp",
            "no_sqrt",
            "no_lz",
            "no_sample_queries",
            "return_types",
            "tg4_swizzle",
            "no_mad",
            "no_lrp",
            "free_scaling,presubtract",
            "tex_ignores_write_mask,unswizzled_coordinates,lookup_phases",
            "slow_cmp,single_constant_operand,single_input_operand",
            "two_component_derivatives",
            "cmp_reads_two_temporaries",
            "slow_equality",
            "comparisons_return_masks",
            "slow_branches",
            "single_constant_operand,inline_zero_and_one,merges_copies,per_component_negation,unoptimized_ra",
            "max_constant_index_31",
            "single_address_register",
            "offsets_in_array",
            "masked_results,wide_reads_before_writes",
            "unoptimized_ra",
            "unoptimized_ra,pairing_scheduler",
            "vec_to_regs",
            "unoptimized",
            "no_indirect_inputs",
            "no_indirect_outputs",
            "no_indirect_temporaries",
            "no_indirect_constants",
            "no_indirect_inputs,no_indirect_outputs,no_indirect_temporaries,no_indirect_constants",
            "vec_to_regs,no_fabs,no_cmp,no_mad,single_address_register",
            "unoptimized,unoptimized_ra,no_lz",
            "virgl",
            "virgl,unoptimized",
        ]
    }
}

impl Target for TgsiOptions {
    fn read(&self, source: &mut tgsi::Shader) {
        read_dialect(source, self.dialect);
    }

    fn check(&self, source: &tgsi::Shader) -> Vec<Diagnostic> {
        if self.dialect == Dialect::Mesa {
            return Vec::new();
        }
        let finding = |LimitExcess { declaration, most, what }: LimitExcess<'_>| {
            let error = DriverError::HostLimit { most, what };
            Diagnostic::error(error.code(), declaration.span, error.to_string()).with_focus(Focus::Register)
        };
        excesses(source).map(finding).collect()
    }

    fn to_ir_options(&self, level: OptLevel) -> ToIrOptions {
        ToIrOptions::default().with_keep_subroutines(self.keep_subroutines(level))
    }

    fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        self.for_stage(stage).compiler_options_of_any_stage()
    }

    fn fidelity(&self, stage: ShaderStage) -> Fidelity {
        let options = self.for_stage(stage);
        let mut fidelity = Fidelity::default();
        fidelity.lacks_integers = !options.native_integers;
        fidelity.lacks_selections = !(options.native_integers || options.has_cmp || options.has_branches);
        fidelity.lacks_comparisons = !(options.native_integers || options.has_comparisons);
        fidelity.approximations = match (options.has_pow, options.has_periodic) {
            (true, true) => &[],
            (false, true) => &[AluOp::Fpow],
            (true, false) => &[AluOp::Fsin, AluOp::Fcos],
            (false, false) => &[AluOp::Fpow, AluOp::Fsin, AluOp::Fcos],
        };
        fidelity
    }

    fn has_textures(&self, stage: ShaderStage) -> bool {
        has_textures(self.consumer(), processor_of(stage))
    }

    fn interface_integers(
        &self,
        optimized: &tgsi_ir::Shader,
    ) -> Result<Option<InterfaceIntegers>, Box<dyn TargetError>> {
        let options = self.for_stage_and_rounding(optimized.stage);
        if options.native_integers {
            return Ok(None);
        }
        let mut shader = optimized.clone();
        let integers = interface_integers(&mut shader, &options);
        Ok(Some(integers.map_err(|error| error.in_shader(&shader, options.native_integers))?))
    }

    fn lower(&self, shader: &mut tgsi_ir::Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        let options = self.for_stage_and_rounding(shader.stage);
        let lowered = lower(shader, &options, passes);
        Ok(lowered.map_err(|error| error.in_shader(shader, options.native_integers))?)
    }

    fn keeps_interface(&self) -> bool {
        self.dialect == Dialect::Virgl
    }

    fn keeps_source(&self) -> bool {
        self.dialect == Dialect::Virgl
    }

    fn emit(
        &self,
        lowered: tgsi_ir::Shader,
        interface: Option<&tgsi::Shader>,
        passes: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>> {
        let options = self.for_stage_and_rounding(lowered.stage);
        let interface = interface.map(Interface::of);
        let shader = emit(lowered, interface.as_ref(), &options, passes)?;
        let hex_floats = self.dialect == Dialect::Virgl;
        Ok(Code::Tgsi(Box::new(shader), PrintOptions::default().with_hex_floats(hex_floats)))
    }

    fn size(&self, code: &Code) -> CodeSize {
        if let Code::Tgsi(shader, _) = code { CodeSize::from(&**shader) } else { CodeSize::default() }
    }

    fn fit(&self, code: &Code) -> Option<Fit> {
        let Code::Tgsi(shader, _) = code else { return None };
        Some(fit(self.consumer(), shader))
    }

    fn language_options(&self, front_end: &str) -> Vec<String> {
        language::options(self.profile, front_end)
    }
}

/// The interpreter of the `tgsi` crate on the code of this driver.
///
/// # Errors
/// The code does not pass the check.
pub fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, RunError>> {
    let options: &TgsiOptions = (target as &dyn Any).downcast_ref()?;
    let Code::Tgsi(shader, _) = code else { return None };
    Some(options.run_by_interpreter(shader))
}

impl TgsiOptions {
    /// The profile whose limits code must fit.
    fn consumer(&self) -> Profile {
        if self.dialect == Dialect::Virgl { Profile::Virgl } else { self.profile }
    }

    fn run_by_interpreter(&self, shader: &tgsi::Shader) -> Result<Box<dyn Runner>, RunError> {
        let keep = self.keep_subroutines(OptLevel::Full);
        let report = check_for(shader, &tgsi::text::SkippedParts::default(), &tgsi::limits::Limits::default(), keep);
        if let Some(error) = report.errors().next() {
            let message = format!("the result does not pass the check: {} {error}", error.code.name);
            return Err(RunError::Code(message));
        }
        let program =
            tgsi_run::Program::new(&self.as_run(shader)).map_err(|error| RunError::Code(error.to_string()))?;
        Ok(Box::new(Interpreter { program }))
    }
}

/// The interpreter of the `tgsi` crate.
struct Interpreter {
    program: tgsi_run::Program,
}

impl Runner for Interpreter {
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        tgsi_run::run(&self.program, inputs, resources, limits).map_err(|error| match error {
            tgsi_run::RunError::StepLimit { .. } => RunError::StepLimit(error.to_string()),
            _ => RunError::Failed(error.to_string()),
        })
    }
}
