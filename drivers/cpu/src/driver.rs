//! The driver as the compiler sees it. Its code is the text of the lowered shader; the program is made when the code is
//! run, because it holds nothing that the text does not.

use std::any::Any;
use std::sync::OnceLock;

use tgsi_compiler::{Code, CodeSize, Driver, DriverOption, Runner, Target, TargetError, UnknownOption};
use tgsi_ir::error_codes;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::run::{Inputs, Outputs, Resources, RunLimits};
use tgsi_ir::shader::Stage;

use crate::error::CpuError;
use crate::lower::{compiler_options, lower};
use crate::program::{Options, Program, compile, compile_with};

/// The driver.
#[derive(Clone, Copy, Debug)]
pub struct Cpu;

/// The driver.
pub static DRIVER: Cpu = Cpu;

impl Driver for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn about(&self) -> &'static str {
        "runs on the processor, many invocations side by side, as machine code"
    }

    fn file_extension(&self) -> &'static str {
        "ir"
    }

    fn can_run(&self) -> bool {
        true
    }

    fn options(&self) -> &'static [DriverOption] {
        &[
            DriverOption { name: "code", about: "The text is the machine code in Cranelift's form; it cannot be run." },
            DriverOption { name: "interpret", about: "No machine code is made when the shader is run." },
            DriverOption {
                name: "keep_inactive",
                about: "Inactive lanes keep their values, which derivatives in divergent control flow see.",
            },
        ]
    }

    fn error_codes(&self) -> &'static [error_codes::Code] {
        CpuError::CODES
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        let mut target = CpuTarget::default();
        for &name in options {
            match name {
                "code" => target.options.text = true,
                "interpret" => target.options.machine_code = false,
                "keep_inactive" => target.options.keep_inactive = true,
                name => return Err(UnknownOption { name: name.to_owned(), options: self.options(), problem: None }),
            }
        }
        Ok(Box::new(target))
    }

    fn variants(&self) -> &'static [&'static str] {
        &["keep_inactive", "interpret"]
    }
}

/// The driver with its options set.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTarget {
    options: Options,
}

impl Target for CpuTarget {
    fn compiler_options(&self, _: Stage) -> CompilerOptions {
        compiler_options()
    }

    fn lower(&self, shader: &mut tgsi_ir::Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        lower(shader, passes);
        Ok(())
    }

    fn emit(
        &self,
        lowered: tgsi_ir::Shader,
        _: Option<&tgsi::Shader>,
        _: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>> {
        // Machine code is made here only to be shown.
        let options = Options { machine_code: self.options.text, ..self.options };
        let program = compile(&lowered, options).map_err(|error| error.located(&lowered))?;
        Ok(Code::Text(if self.options.text { program.report().text.clone() } else { tgsi_ir::text::print(&lowered) }))
    }

    fn size(&self, code: &Code) -> CodeSize {
        let plain = CpuTarget { options: Options { machine_code: false, ..self.options } };
        let Some(program) = plain.program(code).and_then(Result::ok) else { return CodeSize::default() };
        let program = &program.program;
        let immediates = program.constants().len() as u32;
        let planes = program.num_value_planes() + program.num_register_planes();
        CodeSize {
            instructions: program.ops().len() as u32,
            temporaries: planes.saturating_sub(immediates),
            immediates,
        }
    }
}

impl CpuTarget {
    fn program(&self, code: &Code) -> Option<Result<Program, String>> {
        let shader = self.shader(code)?;
        Some(shader.and_then(|shader| compile(&shader, self.options).map_err(|error| error.to_string())))
    }

    fn shader(&self, code: &Code) -> Option<Result<tgsi_ir::Shader, String>> {
        let (Code::Text(text), false) = (code, self.options.text) else { return None };
        let shader = tgsi_ir::text::parse(text);
        Some(shader.map_err(|errors| errors.first().map(ToString::to_string).unwrap_or_default()))
    }
}

/// Runs code of this driver.
///
/// # Errors
/// The code is damaged.
pub fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, String>> {
    let target: &CpuTarget = (target as &dyn Any).downcast_ref()?;
    let plain = CpuTarget { options: Options { machine_code: false, ..target.options } };
    let made = target.shader(code)?.and_then(|shader| {
        let interpreted = compile(&shader, plain.options).map_err(|error| error.to_string())?;
        Ok(Lanes { shader, interpreted, options: target.options, program: OnceLock::new() })
    });
    Some(made.map(|lanes| Box::new(lanes) as Box<dyn Runner>))
}

/// A program and how it is run for checks and pictures, by one thread at a time or several.
struct Lanes {
    shader: tgsi_ir::Shader,
    /// The program without machine code, which says what units there are.
    interpreted: Program,
    options: Options,
    /// The program as it is run, made when the first run says what textures there are.
    program: OnceLock<Option<Program>>,
}

impl Lanes {
    fn program(&self, resources: &mut dyn Resources) -> &Program {
        let program = self.program.get_or_init(|| {
            let known = self.interpreted.known_units(resources);
            self.options.machine_code.then(|| compile_with(&self.shader, self.options, &known).ok()).flatten()
        });
        program.as_ref().unwrap_or(&self.interpreted)
    }
}

impl Runner for Lanes {
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, String> {
        self.program(resources).run_together(inputs, resources, limits).map_err(|error| error.to_string())
    }
}
