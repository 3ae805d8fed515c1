//! The driver: implements the compiler's `Driver` and `Target`. Its code is an object file with a C header, or a text:
//! either the lowered shader, which is compiled when it is run, or machine code in readable form.

use std::any::Any;
use std::sync::OnceLock;

use tgsi_compiler::{Code, CodeSize, Driver, DriverOption, RunError, Runner, Target, TargetError, UnknownOption};
use tgsi_diagnostics::ErrorCode;

use tgsi_environment::{Inputs, Outputs, Resources, RunLimits};
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::ShaderStage;

#[cfg(feature = "machine-code")]
use crate::ahead_of_time::AheadOfTime;
use crate::error::CpuError;
use crate::form::CodeForm;
use crate::lower::{compiler_options, lower};
use crate::options::Options;
use crate::program::{Program, compile, compile_with};

/// The CPU driver.
#[derive(Clone, Copy, Debug)]
pub struct Cpu;

/// The CPU driver's only instance.
pub static DRIVER: Cpu = Cpu;

/// The option for the lowered shader as text. Without the feature `machine-code`, it is the only form.
const IR: &str = "ir";

impl Driver for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn about(&self) -> &'static str {
        "machine code for the CPU, many invocations side by side"
    }

    fn file_extension(&self) -> &'static str {
        if self.is_binary() { "o" } else { IR }
    }

    fn is_binary(&self) -> bool {
        cfg!(feature = "machine-code")
    }

    #[cfg(feature = "machine-code")]
    fn assembly_options(&self) -> &'static [&'static str] {
        &["assembly"]
    }

    fn options(&self) -> &'static [DriverOption] {
        &[
            DriverOption { name: IR, about: "The code is the lowered shader as text, which can be run." },
            #[cfg(feature = "machine-code")]
            DriverOption { name: "code", about: "The code is text: the functions in Cranelift's IR." },
            #[cfg(feature = "machine-code")]
            DriverOption {
                name: "assembly",
                about: "The code is text: the machine instructions of the functions, as printed by Cranelift.",
            },
            #[cfg(feature = "machine-code")]
            DriverOption {
                name: "symbol",
                about: "`symbol=NAME`: the object's name in C; by default that of its stage (tgsic_vertex_shader).",
            },
            #[cfg(feature = "machine-code")]
            DriverOption {
                name: "target_triple",
                about: "`target_triple=TRIPLE`: the target processor and system, such as x86_64-apple-darwin.",
            },
            #[cfg(feature = "machine-code")]
            DriverOption {
                name: "target_cpu",
                about: "`target_cpu=x86-64-v3`: the object needs a processor with AVX2; the default is x86-64-v2.",
            },
            DriverOption { name: "interpret", about: "No machine code is generated." },
            DriverOption {
                name: "keep_inactive",
                about: "Inactive lanes keep their values, which derivatives in divergent control flow read.",
            },
            DriverOption {
                name: "quick",
                about: "Code is generated faster and runs slower: registers are allocated in a single pass.",
            },
        ]
    }

    fn error_codes(&self) -> &'static [ErrorCode] {
        CpuError::CODES
    }

    fn explanations(&self) -> &'static str {
        include_str!("../explanations.txt")
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        let mut target = CpuTarget::default();
        for &option in options {
            let known = match option {
                IR => {
                    target.form = CodeForm::Ir;
                    true
                }
                "interpret" => {
                    target.options.machine_code = false;
                    true
                }
                "keep_inactive" => {
                    target.options.keep_inactive = true;
                    true
                }
                "quick" => {
                    target.options.quick = true;
                    true
                }
                #[cfg(feature = "machine-code")]
                option => target.ahead_of_time.set(option, &mut target.form).map_err(|problem| UnknownOption {
                    name: option.to_owned(),
                    options: self.options(),
                    problem: Some(problem),
                })?,
                #[cfg(not(feature = "machine-code"))]
                _ => false,
            };
            if !known {
                return Err(UnknownOption { name: option.to_owned(), options: self.options(), problem: None });
            }
        }
        #[cfg(feature = "machine-code")]
        target.ahead_of_time.check().map_err(|problem| UnknownOption {
            name: "target_triple".to_owned(),
            options: self.options(),
            problem: Some(problem),
        })?;
        Ok(Box::new(target))
    }

    fn variants(&self) -> &'static [&'static str] {
        &["keep_inactive", "quick", "interpret"]
    }
}

/// The driver with its options.
#[derive(Clone, Debug, Default)]
struct CpuTarget {
    options: Options,
    form: CodeForm,
    #[cfg(feature = "machine-code")]
    ahead_of_time: AheadOfTime,
}

impl Target for CpuTarget {
    fn compiler_options(&self, _: ShaderStage) -> CompilerOptions {
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
        let plain = Options { machine_code: false, ..self.options };
        let program = compile(&lowered, plain).map_err(|error| error.located(&lowered))?;
        let text = tgsi_ir::text::print(&lowered);
        match self.form {
            CodeForm::Ir => {
                drop(program);
                Ok(Code::Text(text))
            }
            #[cfg(feature = "machine-code")]
            form => {
                let code = self.ahead_of_time.emit(form, &text, &program, self.options);
                code.map_err(|error| error.located(&lowered))
            }
        }
    }

    fn text_extension(&self) -> Option<&'static str> {
        match self.form {
            CodeForm::Ir => Some(IR),
            #[cfg(feature = "machine-code")]
            CodeForm::Code => Some("clif"),
            #[cfg(feature = "machine-code")]
            CodeForm::Assembly => Some("asm"),
            #[cfg(feature = "machine-code")]
            CodeForm::Object => None,
        }
    }

    fn size(&self, code: &Code) -> CodeSize {
        if let Code::Object(object) = code {
            return object.size;
        }
        let program = self.interpreted(code).and_then(Result::ok);
        program.map_or_else(CodeSize::default, |(_, program)| program.size())
    }
}

impl CpuTarget {
    /// Returns the shader that code contains, and its program without machine code; `None` for other forms of code.
    fn interpreted(&self, code: &Code) -> Option<Result<(tgsi_ir::Shader, Program), RunError>> {
        let (Code::Text(text), CodeForm::Ir) = (code, self.form) else { return None };
        let program = tgsi_ir::text::parse(text)
            .map_err(|errors| errors.first().map(ToString::to_string).unwrap_or_default())
            .and_then(|shader| {
                let program = compile(&shader, Options { machine_code: false, ..self.options });
                Ok((shader, program.map_err(|error| error.to_string())?))
            });
        Some(program.map_err(RunError::Code))
    }
}

/// Returns the target for runs, whose code is the lowered shader as text.
pub fn run_target(target: &dyn Target) -> Option<Box<dyn Target>> {
    let target: &CpuTarget = (target as &dyn Any).downcast_ref()?;
    Some(Box::new(CpuTarget { form: CodeForm::Ir, ..target.clone() }))
}

/// Returns a runner for code of this driver.
///
/// # Errors
/// The code is malformed.
pub fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, RunError>> {
    let target: &CpuTarget = (target as &dyn Any).downcast_ref()?;
    let program = target.interpreted(code)?;
    Some(program.map(|(shader, interpreted)| {
        Box::new(Lanes { shader, interpreted, options: target.options, program: OnceLock::new() }) as Box<dyn Runner>
    }))
}

/// A program for checks and pictures; several threads may use it at once.
struct Lanes {
    shader: tgsi_ir::Shader,
    /// The program without machine code, from which the texture units are determined.
    interpreted: Program,
    options: Options,
    /// The executed program, compiled when the first run determines the textures.
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
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        Ok(self.program(resources).run_together(inputs, resources, limits)?)
    }
}
