//! Options, target, lowering and errors.

use tgsi_compiler::{
    Code, CodeSize, CompilerOptions, Driver, DriverOption, Fidelity, InterfaceIntegers, Target, TargetError,
    UnknownOption,
};
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Def, Inst, Shader, ShaderStage};
use tgsi_registers::legalize_operands;
use tgsi_registers::legalize_operands::{OperandClasses, OperandLimits, classes_of, rows_of_words};
use tgsi_registers::lower::{LowerError, Vec4Target, interface_integers, lower_for_floats};
use tgsi_registers::modifiers::ModifierPolicy;
use tgsi_registry::DriverRow;
use tgsi_vec4::branches::BadNesting;

use crate::machine::{Op, SCALAR};
use crate::{code, select, simulator};

tgsi_compiler::driver_options! {
    /// Options of the driver.
    pub struct Vec4Options {
        /// Instruction selection yields registers of the machine. Otherwise it yields virtual temporaries, which the
        /// passes of `tgsi_vec4` optimise and allocate.
        registers: bool = false, "registers" = true, "Values are registers at once; the vec4 passes do not run.";
        fuse_mad: bool = true, "no_mad" = false, "Products and sums stay separate.", sets [fuse_mad];
    }
}

/// The row of the driver.
pub const ROW: DriverRow = DriverRow {
    runner: Some(simulator::runner),
    disassembler: Some(code::DISASSEMBLER),
    ..DriverRow::new(&Vec4Driver)
};

/// Registers for temporaries.
pub(crate) const TEMPORARIES: u32 = 32;
pub(crate) const MODIFIERS: ModifierPolicy<'static> = ModifierPolicy::ALL;
const LIMITS: OperandLimits<'static> = OperandLimits { reads: &rows_of_words, ..OperandLimits::ONE_OF_EACH };

/// Whether instructions read a value in place: a literal, and an input or uniform without run-time index.
pub(crate) fn is_operand(body: &Body, def: Def) -> bool {
    let classes = classes_of(body, def);
    classes != OperandClasses::NONE && !classes.intersects(OperandClasses::INDEXED)
}

/// The reason why the machine cannot execute a shader.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Vec4Error {
    #[error("the machine has no programs for this stage")]
    Stage,
    #[error(transparent)]
    Lower(LowerError),
    #[error("{0}: the machine has no {1}")]
    Missing(Inst, String),
    #[error("{0} temporaries are needed, the machine has {TEMPORARIES}")]
    Temporaries(u32, Option<Inst>),
    #[error("instruction {0} reads too many literals")]
    Literals(usize),
    #[error(transparent)]
    Nesting(#[from] BadNesting),
}

impl Vec4Error {
    tgsi_diagnostics::error_codes! {
        Stage => "T9000" "stage",
        Lower => "T9001" "not-floats",
        Missing => "T9002" "missing",
        Temporaries => "T9003" "temporaries",
        Literals => "T9004" "literals",
        Nesting => "T9005" "nesting",
    }
}

impl TargetError for Vec4Error {
    fn code(&self) -> ErrorCode {
        self.code()
    }

    fn inst(&self) -> Option<Inst> {
        match self {
            Vec4Error::Stage | Vec4Error::Literals(_) | Vec4Error::Nesting(_) => None,
            Vec4Error::Lower(error) => error.inst(),
            Vec4Error::Missing(inst, _) => Some(*inst),
            Vec4Error::Temporaries(_, inst) => *inst,
        }
    }
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
        Vec4Error::CODES
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
        let files = VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT).union(VariableModes::FUNCTION_TEMP);
        let mut compiler = CompilerOptions {
            source_modifiers: true,
            fuse_scmp: true,
            lower_fdot_mad: false,
            fdot_replicates: true,
            lower_fdiv: true,
            lower_fsqrt: true,
            lower_fpow: true,
            lower_fsign: true,
            lower_fceil: true,
            lower_fround_even: true,
            lower_ffma: true,
            lower_fmulz: true,
            lower_bitops: true,
            no_indirect: files.union(VariableModes::SHADER_TEMP),
            ..CompilerOptions::default()
        };
        self.set_switches(&mut compiler);
        compiler
    }

    fn fidelity(&self, _: ShaderStage) -> Fidelity {
        let mut fidelity = Fidelity::default();
        fidelity.lacks_integers = true;
        fidelity.approximations = &[AluOp::Fpow, AluOp::Fsin, AluOp::Fcos];
        fidelity
    }

    fn interface_integers(&self, shader: &Shader) -> Result<Option<InterfaceIntegers>, Box<dyn TargetError>> {
        let mut copy = shader.clone();
        let integers = interface_integers(&mut copy, &self.machine(shader.stage));
        integers.map(Some).map_err(|error| Vec4Error::Lower(error).located(&copy))
    }

    fn lower(&self, shader: &mut Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        if !matches!(shader.stage, ShaderStage::Vertex | ShaderStage::Fragment) {
            return Err(Vec4Error::Stage.into());
        }
        let lowered = lower_for_floats(shader, &self.machine(shader.stage), passes);
        lowered.map_err(|error| Vec4Error::Lower(error).located(shader))?;
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
        let program = select::select(lowered.main(), self.registers);
        let words = program.and_then(|program| code::encode(program, self.registers));
        words.map(Code::Binary).map_err(|error| error.located(&lowered))
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
            is_operand: &is_operand,
            is_scalar: &|op| Op::of(op).is_some_and(|op| op.info() == SCALAR),
            single_constant_operand: true,
            single_input_operand: true,
            has_vector_registers: self.registers,
            compiler,
            ..Vec4Target::default()
        }
    }
}
