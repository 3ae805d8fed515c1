//! The driver: implements the compiler's `Driver` and `Target`. Its code is an object file with a C header, or a text:
//! either the lowered shader, which is compiled when it is run, or machine code in readable form.

use std::any::Any;
use std::sync::OnceLock;

use tgsi_compiler::{Code, CodeSize, Driver, DriverOption, Runner, Target, TargetError, UnknownOption};
use tgsi_diagnostics::ErrorCode;

use tgsi_environment::{Inputs, Outputs, Resources, RunLimits};
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::ShaderStage;

use crate::error::CpuError;
use crate::lower::{compiler_options, lower};
use crate::program::{Options, Program, compile, compile_with};

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

    fn can_run(&self) -> bool {
        true
    }

    fn run_options(&self) -> &'static [&'static str] {
        &[IR]
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
        include_str!("explanations.txt")
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        let mut target = CpuTarget::default();
        for &option in options {
            let known = match option {
                IR => {
                    target.form = Form::Ir;
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
                option => target.made.set(option, &mut target.form).map_err(|problem| UnknownOption {
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
        target.made.check().map_err(|problem| UnknownOption {
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

/// The form of the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// The lowered shader as text.
    Ir,
    #[cfg(feature = "machine-code")]
    Made(crate::native::Form),
}

impl Default for Form {
    #[cfg(feature = "machine-code")]
    fn default() -> Self {
        Form::Made(crate::native::Form::Object)
    }

    #[cfg(not(feature = "machine-code"))]
    fn default() -> Self {
        Form::Ir
    }
}

/// The driver with its options.
#[derive(Clone, Debug, Default)]
pub struct CpuTarget {
    options: Options,
    form: Form,
    #[cfg(feature = "machine-code")]
    made: made::Made,
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
            Form::Ir => {
                drop(program);
                Ok(Code::Text(text))
            }
            #[cfg(feature = "machine-code")]
            Form::Made(form) => {
                let code = self.made.emit(form, &text, &program, self.options);
                code.map_err(|error| error.located(&lowered))
            }
        }
    }

    fn text_extension(&self) -> Option<&'static str> {
        match self.form {
            Form::Ir => Some(IR),
            #[cfg(feature = "machine-code")]
            Form::Made(crate::native::Form::Code) => Some("clif"),
            #[cfg(feature = "machine-code")]
            Form::Made(crate::native::Form::Assembly) => Some("asm"),
            #[cfg(feature = "machine-code")]
            Form::Made(crate::native::Form::Object) => None,
        }
    }

    fn size(&self, code: &Code) -> CodeSize {
        if let Code::Object(object) = code {
            return object.size;
        }
        let plain = CpuTarget { options: Options { machine_code: false, ..self.options }, ..self.clone() };
        plain.program(code).and_then(Result::ok).map_or_else(CodeSize::default, |program| size_of(&program))
    }
}

/// Returns the size of the executed program.
fn size_of(program: &Program) -> CodeSize {
    let program = &program.program;
    let immediates = program.constants().len() as u32;
    let planes = program.num_value_planes() + program.num_register_planes();
    CodeSize { instructions: program.ops().len() as u32, temporaries: planes.saturating_sub(immediates), immediates }
}

impl CpuTarget {
    fn program(&self, code: &Code) -> Option<Result<Program, String>> {
        let shader = self.shader(code)?;
        Some(shader.and_then(|shader| compile(&shader, self.options).map_err(|error| error.to_string())))
    }

    fn shader(&self, code: &Code) -> Option<Result<tgsi_ir::Shader, String>> {
        let (Code::Text(text), Form::Ir) = (code, self.form) else { return None };
        let shader = tgsi_ir::text::parse(text);
        Some(shader.map_err(|errors| errors.first().map(ToString::to_string).unwrap_or_default()))
    }
}

/// Code that is compiled ahead of time.
#[cfg(feature = "machine-code")]
mod made {
    use tgsi_compiler::{Code, Companion, ObjectFile};

    use super::{Form as CodeForm, size_of};
    use crate::error::CpuError;
    use crate::native::{Form, make, processor};
    use crate::object::{Extensions, header};
    use crate::program::{Options, Program, compile};

    /// The target of the code.
    #[derive(Clone, Default, Debug)]
    pub(super) struct Made {
        symbol: Option<String>,
        /// The processor and system; those of this process if `None`.
        triple: Option<String>,
        extensions: Option<Extensions>,
    }

    impl Made {
        /// Sets an option; returns whether the option exists.
        ///
        /// # Errors
        /// The value is invalid for the option.
        pub fn set(&mut self, option: &str, form: &mut CodeForm) -> Result<bool, String> {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let value = Some(value).filter(|value| !value.is_empty());
            match (name, value) {
                ("code", None) => *form = CodeForm::Made(Form::Code),
                ("assembly", None) => *form = CodeForm::Made(Form::Assembly),
                ("symbol", Some(symbol)) if !is_identifier(symbol) => {
                    return Err(format!("symbol={symbol}: not an identifier of C"));
                }
                ("symbol", symbol) => self.symbol = symbol.map(str::to_owned),
                ("target_triple", triple) => self.triple = triple.map(str::to_owned),
                ("target_cpu", None) => self.extensions = None,
                ("target_cpu", Some("x86-64-v2")) => self.extensions = Some(Extensions::X86_64V2),
                ("target_cpu", Some("x86-64-v3")) => self.extensions = Some(Extensions::X86_64V3),
                ("target_cpu", Some(other)) => {
                    return Err(format!("target_cpu={other}: the choices are x86-64-v2 and x86-64-v3"));
                }
                _ => return Ok(false),
            }
            Ok(true)
        }

        /// Checks that code can be generated for the processor.
        ///
        /// # Errors
        /// The reason.
        pub fn check(&self) -> Result<(), String> {
            match (&self.triple, self.extensions) {
                // This process's processor is checked when code is generated.
                (None, None) => Ok(()),
                (triple, extensions) => processor(triple.as_deref(), extensions).map(drop),
            }
        }

        /// Generates the code. `text` is the text of the program's shader.
        pub fn emit(&self, form: Form, text: &str, program: &Program, options: Options) -> Result<Code, CpuError> {
            let symbol = self.symbol.clone().unwrap_or_else(|| {
                let stage = program.stage().name().to_lowercase();
                format!("tgsic_{stage}_shader")
            });
            let processor = processor(self.triple.as_deref(), self.extensions).map_err(CpuError::NotWritten)?;
            // The loader compiles the text, so the code must be generated from it: all numbers must match.
            let shader = tgsi_ir::text::parse(text)
                .map_err(|errors| CpuError::NotWritten(errors.first().map(ToString::to_string).unwrap_or_default()))?;
            let read = compile(&shader, Options { machine_code: false, ..options })?;
            let bytes = make(&read.program, text, &processor, &symbol, form, options).map_err(CpuError::NotWritten)?;
            if form != Form::Object {
                return Ok(Code::Text(String::from_utf8_lossy(&bytes).into_owned()));
            }
            let header = header(&symbol, program.stage(), &processor.isa().triple().to_string());
            let companions = vec![Companion { extension: "h", text: header }];
            Ok(Code::Object(Box::new(ObjectFile { bytes, size: size_of(&read), companions })))
        }
    }

    /// Returns whether a name is an identifier of C and C++ that is not reserved.
    fn is_identifier(name: &str) -> bool {
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
            && !KEYWORDS.split(' ').any(|keyword| keyword == name)
    }

    /// Reserved words of C and C++.
    const KEYWORDS: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t \
        char16_t char32_t class compl concept const consteval constexpr constinit const_cast continue co_await \
        co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern false \
        float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or \
        or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof \
        static static_assert static_cast struct switch template this thread_local throw true try typedef typeid \
        typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq";
}

/// Returns a runner for code of this driver.
///
/// # Errors
/// The code is malformed.
pub fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, String>> {
    let target: &CpuTarget = (target as &dyn Any).downcast_ref()?;
    let made = target.shader(code)?.and_then(|shader| {
        let plain = Options { machine_code: false, ..target.options };
        let interpreted = compile(&shader, plain).map_err(|error| error.to_string())?;
        Ok(Lanes { shader, interpreted, options: target.options, program: OnceLock::new() })
    });
    Some(made.map(|lanes| Box::new(lanes) as Box<dyn Runner>))
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
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, String> {
        self.program(resources).run_together(inputs, resources, limits).map_err(|error| error.to_string())
    }
}
