//! The driver: implements the compiler's `Driver` and `Target`.
//!
//! The code is an object file with the words; the program as JSON, with the facts that a driver of the hardware needs,
//! accompanies it. The runner reads the JSON.

use std::any::Any;

use tgsi_compiler::{
    AuxiliaryFile, Code, CodeSize, Driver, DriverOption, Fidelity, Fit, Located, ObjectFile, RunError, Runner, Subject,
    Target, TargetError, UnknownOption,
};
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::{Shader, ShaderStage};

use crate::container::{ReadError, program_json, read_program_json, words_to_bytes};
use crate::error::IntelError;
use crate::fit::{fit, instructions};
use crate::isa::{Chip, decode_program};
use crate::options::{Form, IntelOptions};
use crate::program::Program;
use crate::runner::run_program;
use crate::scalar;
use crate::select::{RUN_UNITS, Selection, select};
use crate::text::Listing;
use crate::vec4;

/// The driver for Intel's Gen7 and Gen7.5.
#[derive(Clone, Copy, Debug)]
pub struct Intel;

/// The driver's only instance.
pub static DRIVER: Intel = Intel;

impl Driver for Intel {
    fn name(&self) -> &'static str {
        "intel"
    }

    fn about(&self) -> &'static str {
        "machine code for Intel's Ivy Bridge, Bay Trail and Haswell"
    }

    fn file_extension(&self) -> &'static str {
        "eu"
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn assembly_options(&self) -> &'static [&'static str] {
        &["listing"]
    }

    fn options(&self) -> &'static [DriverOption] {
        IntelOptions::OPTIONS
    }

    fn profiles(&self) -> &'static [DriverOption] {
        IntelOptions::PROFILES
    }

    fn error_codes(&self) -> &'static [ErrorCode] {
        IntelError::CODES
    }

    fn explanations(&self) -> &'static str {
        include_str!("../explanations.txt")
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        Ok(Box::new(IntelTarget { options: IntelOptions::of_names(options)? }))
    }

    fn variants(&self) -> &'static [&'static str] {
        &["unoptimized", "no_compaction", "no_push", "few_registers", "hsw", "hsw,unoptimized", "hsw,few_registers"]
    }
}

/// The extension of the file with the program as JSON.
const JSON: &str = "eu.json";

/// The driver with its options.
#[derive(Clone, Debug)]
struct IntelTarget {
    options: IntelOptions,
}

impl IntelTarget {
    fn check_stage(&self, stage: ShaderStage) -> Result<(), IntelError> {
        let has_stage = matches!(stage, ShaderStage::Vertex | ShaderStage::Geometry | ShaderStage::Fragment);
        if has_stage { Ok(()) } else { Err(IntelError::Stage { chip: self.options.chip, stage }) }
    }

    fn program(&self, lowered: &Shader, passes: &mut Passes<'_>) -> Result<Program, Located<IntelError>> {
        let options = &self.options;
        let mut selected = Err(IntelError::NoEntryPoint);
        passes.run_driver("intel:select", || {
            selected = select(lowered, options);
            true
        });
        let program = selected.and_then(|selected| {
            let mut program = Err(IntelError::NoEntryPoint);
            passes.run_driver("intel:finish", || {
                program = match selected {
                    Selection::Scalars(selected) => scalar::finish(selected, options),
                    Selection::Vectors(selected) => vec4::finish(selected, options),
                };
                true
            });
            program
        });
        program.map_err(|error| Located { subject: Subject::of_inst(lowered, error.inst()), error })
    }
}

impl Target for IntelTarget {
    fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        self.options.compiler_options(stage)
    }

    fn fidelity(&self, stage: ShaderStage) -> Fidelity {
        let mut fidelity = Fidelity::default();
        fidelity.loads_words = true;
        fidelity.aligns_addresses = true;
        if stage == ShaderStage::Fragment {
            fidelity.textures.images = Some(RUN_UNITS.into());
            if self.options.fuse_mad {
                fidelity.approximations = &[AluOp::Fadd, AluOp::Fdot2, AluOp::Fdot3, AluOp::Fdot4];
            }
            return fidelity;
        }
        // The simulator rounds these from 64 bits.
        fidelity.approximations = &[AluOp::Fpow, AluOp::Frsq, AluOp::Fsin, AluOp::Fcos, AluOp::Fexp2, AluOp::Flog2];
        fidelity
    }

    fn lower(&self, shader: &mut Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        self.check_stage(shader.stage).map_err(|error| error.located(shader))?;
        self.options.lower(shader, passes).map_err(|error| IntelError::from(error).located(shader))
    }

    fn emit(
        &self,
        lowered: Shader,
        _: Option<&tgsi::Shader>,
        passes: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>> {
        let program = self.program(&lowered, passes)?;
        let kernel = program.kernel();
        if self.options.form == Form::Listing {
            let instructions = decode_program(&kernel.words, kernel.chip).unwrap_or_default();
            return Ok(Code::Text(Listing(&instructions).to_string()));
        }
        let bytes = words_to_bytes(&kernel.words);
        let json = AuxiliaryFile { extension: JSON, text: program_json(&program) };
        let size = size_of(&program);
        Ok(Code::Object(Box::new(ObjectFile { bytes, size, auxiliary_files: vec![json] })))
    }

    fn text_extension(&self) -> Option<&'static str> {
        (self.options.form == Form::Listing).then_some("txt")
    }

    fn size(&self, code: &Code) -> CodeSize {
        if let Code::Object(object) = code { object.size } else { CodeSize::default() }
    }

    fn fit(&self, code: &Code) -> Option<Fit> {
        let program = program_of(code)?.ok()?;
        let name = match self.options.chip {
            Chip::Gen7 => "ivb",
            Chip::Gen75 => "hsw",
        };
        Some(fit(name, &program))
    }
}

/// The instructions and registers of a program.
fn size_of(program: &Program) -> CodeSize {
    CodeSize { instructions: instructions(program), temporaries: program.kernel().registers.into(), immediates: 0 }
}

/// Returns the target for runs: vertices know their number in a group, as in interpreters.
pub fn run_target(target: &dyn Target) -> Option<Box<dyn Target>> {
    let target: &IntelTarget = (target as &dyn Any).downcast_ref()?;
    let options = IntelOptions { has_lanes: true, form: Form::Words, ..target.options };
    Some(Box::new(IntelTarget { options }))
}

/// Runs programs by the simulator of this package.
///
/// # Errors
/// The program is damaged.
pub fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, RunError>> {
    let _: &IntelTarget = (target as &dyn Any).downcast_ref()?;
    Some(match program_of(code)? {
        Ok(program) => run_program(program),
        Err(error) => Err(RunError::Code(error.to_string())),
    })
}

/// Reads the program of code; `None` for a listing.
fn program_of(code: &Code) -> Option<Result<Program, ReadError>> {
    let json = code.auxiliary_files().iter().find(|file| file.extension == JSON)?;
    Some(read_program_json(&json.text))
}
