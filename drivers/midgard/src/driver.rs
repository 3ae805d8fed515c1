//! The driver: implements the compiler's `Driver` and `Target`.
//!
//! The code is an object file with the words; the program as JSON accompanies it. The runner reads the JSON.

use std::any::Any;

use tgsi_compiler::{
    AuxiliaryFile, Code, CodeSize, Driver, DriverOption, Fidelity, ObjectFile, RunError, Runner, Target, TargetError,
    UnknownOption,
};
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::{Shader, ShaderStage};

use crate::container::{program_json, read_program_json};
use crate::error::MidgardError;
use crate::finish::finish;
use crate::isa::{Body, decode_program};
use crate::options::{Form, MidgardOptions};
use crate::program::{Program, Stage};
use crate::runner::run_program;
use crate::select::{LAST_LEVEL, select};
use crate::text::{Listing, Options};

/// The driver for Mali T600 to T880.
#[derive(Clone, Copy, Debug)]
pub struct Midgard;

/// The driver's only instance.
pub static DRIVER: Midgard = Midgard;

/// The extension of files with programs as JSON.
const JSON: &str = "midgard.json";

impl Driver for Midgard {
    fn name(&self) -> &'static str {
        "midgard"
    }

    fn about(&self) -> &'static str {
        "machine code for Mali T600 to T880"
    }

    fn file_extension(&self) -> &'static str {
        "mdg"
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn assembly_options(&self) -> &'static [&'static str] {
        &["listing"]
    }

    fn options(&self) -> &'static [DriverOption] {
        MidgardOptions::OPTIONS
    }

    fn profiles(&self) -> &'static [DriverOption] {
        MidgardOptions::PROFILES
    }

    fn error_codes(&self) -> &'static [ErrorCode] {
        MidgardError::CODES
    }

    fn explanations(&self) -> &'static str {
        include_str!("../explanations.txt")
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        Ok(Box::new(MidgardTarget { options: MidgardOptions::of_names(options)? }))
    }

    fn variants(&self) -> &'static [&'static str] {
        &["unoptimized", "no_schedule", "no_uniform_registers", "t720", "t860"]
    }
}

/// The driver with its options.
#[derive(Clone, Debug)]
struct MidgardTarget {
    options: MidgardOptions,
}

fn stage_of(stage: ShaderStage) -> Result<Stage, MidgardError> {
    match stage {
        ShaderStage::Vertex => Ok(Stage::Vertex),
        ShaderStage::Fragment => Ok(Stage::Fragment),
        ShaderStage::Compute => Ok(Stage::Compute),
        stage => Err(MidgardError::Stage { stage }),
    }
}

impl MidgardTarget {
    fn program(&self, lowered: &Shader, passes: &mut Passes<'_>) -> Result<Program, MidgardError> {
        let stage = stage_of(lowered.stage)?;
        let mut selected = Err(MidgardError::NoEntryPoint);
        passes.run_driver("midgard:select", || {
            selected = select(lowered, &self.options);
            true
        });
        let selected = selected?;
        let mut program = Err(MidgardError::NoEntryPoint);
        passes.run_driver("midgard:finish", || {
            program = finish(selected, stage, &self.options);
            true
        });
        program
    }
}

/// The text of a program.
fn listing(program: &Program) -> String {
    let bundles = decode_program(&program.words).unwrap_or_default();
    Listing { bundles: &bundles, options: Options::new(program.chip) }.to_string()
}

impl Target for MidgardTarget {
    fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        self.options.compiler_options(stage)
    }

    fn fidelity(&self, _: ShaderStage) -> Fidelity {
        let mut fidelity = Fidelity::default();
        fidelity.approximations = &[AluOp::Fpow, AluOp::Fsin, AluOp::Fcos, AluOp::Fdiv];
        fidelity.loads_words = true;
        fidelity.textures.coordinate_bits = Some(16);
        fidelity.textures.last_level = Some(LAST_LEVEL);
        fidelity.textures.lacks_gradients = true;
        fidelity
    }

    fn lower(&self, shader: &mut Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        stage_of(shader.stage).map_err(|error| error.located(shader))?;
        self.options.lower(shader, passes).map_err(|error| MidgardError::from(error).located(shader))
    }

    fn emit(
        &self,
        lowered: Shader,
        _: Option<&tgsi::Shader>,
        passes: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>> {
        let program = self.program(&lowered, passes).map_err(|error| error.located(&lowered))?;
        if self.options.form == Form::Listing {
            return Ok(Code::Text(listing(&program)));
        }
        let bytes = program.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let json = AuxiliaryFile { extension: JSON, text: program_json(&program) };
        Ok(Code::Object(Box::new(ObjectFile { bytes, size: size_of(&program), auxiliary_files: vec![json] })))
    }

    fn text_extension(&self) -> Option<&'static str> {
        (self.options.form == Form::Listing).then_some("txt")
    }

    fn size(&self, code: &Code) -> CodeSize {
        if let Code::Object(object) = code { object.size } else { CodeSize::default() }
    }
}

/// The bundles, work registers, and quadwords of embedded constants of a program.
fn size_of(program: &Program) -> CodeSize {
    let bundles = decode_program(&program.words).unwrap_or_default();
    let has_constants = |body: &Body| matches!(body, Body::Alu(alu) if alu.constants.is_some());
    CodeSize {
        instructions: bundles.len() as u32,
        temporaries: program.work_registers.into(),
        immediates: bundles.iter().filter(|bundle| has_constants(&bundle.body)).count() as u32,
    }
}

/// Returns the target for runs: with the program as JSON.
pub fn run_target(target: &dyn Target) -> Option<Box<dyn Target>> {
    let target: &MidgardTarget = (target as &dyn Any).downcast_ref()?;
    let options = MidgardOptions { form: Form::Words, ..target.options };
    Some(Box::new(MidgardTarget { options }))
}

/// Runs programs by the simulator of this package.
///
/// # Errors
/// The program is damaged.
pub fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, RunError>> {
    let _: &MidgardTarget = (target as &dyn Any).downcast_ref()?;
    let json = code.auxiliary_files().iter().find(|file| file.extension == JSON)?;
    Some(match read_program_json(&json.text) {
        Ok(program) => run_program(program),
        Err(error) => Err(RunError::Code(error.to_string())),
    })
}
