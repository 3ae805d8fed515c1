//! The driver: implements the compiler's `Driver` and `Target`.
//!
//! The code is an object file in the form that the options choose; the program as JSON accompanies it, except of the
//! form `binary`. The runner reads the JSON, or the array of numbers.

use std::any::Any;
use std::sync::Arc;

use tgsi_compiler::front_end::Interface;
use tgsi_compiler::{
    AuxiliaryFile, Code, CodeSize, Driver, DriverOption, Fidelity, Fit, InterfaceIntegers, Located, ObjectFile,
    RunError, Runner, SlotLocations, Subject, Target, TargetError, UnknownOption,
};
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::{Shader, ShaderStage};
use tgsi_registers::lower::interface_integers;

use crate::container::{
    ReadError, program_json, read_binary, read_program_json, write_binary, write_c, write_cg, write_fpo, write_vpo,
};
use crate::error::Nv40Error;
use crate::fit::fit;
use crate::fragment::{self, FragmentOptions};
use crate::isa::Chip;
use crate::isa::fragment::{pc_bytes, ps3_bytes};
use crate::listing;
use crate::options::{Form, Nv40Options};
use crate::program::Program;
use crate::runner::run_program;
use crate::select::{LinkedSlots, select};
use crate::vertex::{self, VertexOptions};

/// The driver for GeForce FX, GeForce 6 and 7 and the PlayStation 3.
#[derive(Clone, Copy, Debug)]
pub struct Nv40;

/// The driver's only instance.
pub static DRIVER: Nv40 = Nv40;

impl Driver for Nv40 {
    fn name(&self) -> &'static str {
        "nv40"
    }

    fn about(&self) -> &'static str {
        "machine code for GeForce FX, 6 and 7 and the PlayStation 3"
    }

    fn file_extension(&self) -> &'static str {
        "po"
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn assembly_options(&self) -> &'static [&'static str] {
        &["listing"]
    }

    fn options(&self) -> &'static [DriverOption] {
        Nv40Options::OPTIONS
    }

    fn profiles(&self) -> &'static [DriverOption] {
        Nv40Options::PROFILES
    }

    fn error_codes(&self) -> &'static [ErrorCode] {
        Nv40Error::CODES
    }

    fn explanations(&self) -> &'static str {
        include_str!("../explanations.txt")
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        Ok(Box::new(Nv40Target {
            options: Nv40Options::of_names(options)?,
            names: Arc::default(),
            linked: LinkedSlots::default(),
        }))
    }

    fn variants(&self) -> &'static [&'static str] {
        &["chase", "unoptimized", "no_pairs", "full,binary", "rsx", "nv30", "rsx,chase", "nv30,chase"]
    }
}

/// The extensions of files with programs as JSON: the files of both stages may have one name.
const VERTEX_JSON: &str = "vpo.json";
const FRAGMENT_JSON: &str = "fpo.json";

/// The driver with its options.
#[derive(Clone, Debug)]
struct Nv40Target {
    options: Nv40Options,
    /// The names of uniforms, samplers and inputs; empty for languages without names.
    names: Arc<Interface>,
    linked: LinkedSlots,
}

impl Nv40Options {
    fn vertex_options(&self) -> VertexOptions {
        VertexOptions {
            pairs: self.pairs,
            optimize: self.optimize && !self.chase,
            vector_beside_branch: self.vector_beside_branch,
            all_temporaries: self.all_temporaries,
        }
    }

    fn fragment_options(&self) -> FragmentOptions {
        FragmentOptions {
            exports_full: self.full,
            half: self.half,
            optimize: self.optimize && !self.chase,
            schedule: self.optimize && !self.chase,
        }
    }
}

impl Nv40Target {
    fn check_stage(&self, stage: ShaderStage) -> Result<(), Nv40Error> {
        let has_stage = matches!(stage, ShaderStage::Vertex | ShaderStage::Fragment);
        if has_stage { Ok(()) } else { Err(Nv40Error::Stage { chip: self.options.chip, stage }) }
    }

    fn program(&self, lowered: &Shader, passes: &mut Passes<'_>) -> Result<Program, Located<Nv40Error>> {
        let options = &self.options;
        let mut selected = Err(Nv40Error::NoEntryPoint);
        passes.run_driver("nv40:select", || {
            selected = select(lowered, options, &self.linked);
            true
        });
        let program = selected.and_then(|selected| {
            let mut program = Err(Nv40Error::NoEntryPoint);
            passes.run_driver("nv40:finish", || {
                program = if lowered.stage == ShaderStage::Vertex {
                    vertex::finish(selected, &options.vertex_options()).map(Program::Vertex)
                } else {
                    fragment::finish(selected, &options.fragment_options()).map(Program::Fragment)
                };
                true
            });
            program
        });
        program.map_err(|error| Located { subject: Subject::of_inst(lowered, error.inst()), error })
    }

    fn bytes(&self, program: &Program) -> Result<Vec<u8>, Nv40Error> {
        let chip = self.options.chip;
        let words = |words: &[u32], swaps: bool| match (chip, swaps) {
            (Chip::Rsx, true) => ps3_bytes(words),
            (Chip::Rsx, false) => words.iter().flat_map(|word| word.to_be_bytes()).collect(),
            _ => pc_bytes(words),
        };
        Ok(match (self.options.form, program) {
            (Form::Loader, Program::Vertex(vertex)) => write_vpo(vertex, &self.names)?,
            (Form::Loader, Program::Fragment(fragment)) => write_fpo(fragment, &self.names)?,
            (Form::Cg, program) => write_cg(program, &self.names)?,
            (Form::Words, Program::Vertex(vertex)) => words(vertex.slots.as_flattened(), false),
            (Form::Words, Program::Fragment(fragment)) => words(&fragment.program.words, true),
            (Form::Binary, program) => write_binary(program)?,
            (Form::Header, program) => write_c(program, &self.names, "program")?.into_bytes(),
            (Form::Listing, Program::Vertex(vertex)) => listing::vertex(&vertex.slots, chip).into_bytes(),
            (Form::Listing, Program::Fragment(fragment)) => {
                listing::fragment(&fragment.program.words, chip, &fragment.texture_targets()).into_bytes()
            }
        })
    }
}

impl Target for Nv40Target {
    fn with_locations(
        &self,
        inputs: Option<&SlotLocations>,
        outputs: Option<&SlotLocations>,
    ) -> Option<Box<dyn Target>> {
        let slots = |slots: Option<&SlotLocations>| {
            let keys = slots.into_iter().flat_map(|slots| slots.keys());
            keys.filter(|(is_patch, _)| !is_patch).filter_map(|&(_, slot)| u8::try_from(slot).ok()).collect()
        };
        let linked = LinkedSlots { inputs: slots(inputs), outputs: slots(outputs) };
        Some(Box::new(Nv40Target { linked, ..self.clone() }))
    }

    fn with_names(&self, names: &Interface) -> Option<Box<dyn Target>> {
        Some(Box::new(Nv40Target { names: Arc::new(names.clone()), ..self.clone() }))
    }

    fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        self.options.compiler_options(stage)
    }

    fn fidelity(&self, stage: ShaderStage) -> Fidelity {
        let is_fragment = stage == ShaderStage::Fragment;
        let mut fidelity = Fidelity::default();
        fidelity.lacks_integers = true;
        fidelity.approximations = match (is_fragment, self.options.has_lrp) {
            (false, _) => &[AluOp::Fpow],
            (true, false) => &[AluOp::Fpow, AluOp::Frsq],
            (true, true) => &[AluOp::Fpow, AluOp::Frsq, AluOp::FlrpMad],
        };
        fidelity
    }

    fn has_textures(&self, stage: ShaderStage) -> bool {
        stage == ShaderStage::Fragment || self.options.chip != Chip::Nv30
    }

    fn interface_integers(&self, optimized: &Shader) -> Result<Option<InterfaceIntegers>, Box<dyn TargetError>> {
        let mut shader = optimized.clone();
        let integers = interface_integers(&mut shader, &self.options.vec4_target(optimized.stage));
        integers.map(Some).map_err(|error| Nv40Error::from(error).located(&shader))
    }

    fn lower(&self, shader: &mut Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        self.check_stage(shader.stage).map_err(|error| error.located(shader))?;
        self.options.lower(shader, passes).map_err(|error| Nv40Error::from(error).located(shader))
    }

    fn emit(
        &self,
        lowered: Shader,
        _: Option<&tgsi::Shader>,
        passes: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>> {
        let program = self.program(&lowered, passes)?;
        let bytes = self.bytes(&program).map_err(|error| error.located(&lowered))?;
        let size = size_of(&program);
        if self.options.form == Form::Listing {
            return Ok(Code::Text(String::from_utf8(bytes).unwrap_or_default()));
        }
        // The array has all facts itself.
        let has_json = self.options.form != Form::Binary;
        let extension = if lowered.stage == ShaderStage::Vertex { VERTEX_JSON } else { FRAGMENT_JSON };
        let json = || AuxiliaryFile { extension, text: program_json(&program, &self.names) };
        let auxiliary_files = has_json.then(json).into_iter().collect();
        Ok(Code::Object(Box::new(ObjectFile { bytes, size, auxiliary_files })))
    }

    fn text_extension(&self) -> Option<&'static str> {
        matches!(self.options.form, Form::Listing | Form::Header).then_some("txt")
    }

    fn size(&self, code: &Code) -> CodeSize {
        if let Code::Object(object) = code { object.size } else { CodeSize::default() }
    }

    fn fit(&self, code: &Code) -> Option<Fit> {
        let program = program_of(code)?.ok()?;
        let name = match self.options.chip {
            Chip::Nv30 => "nv30",
            Chip::Nv40 => "nv40",
            Chip::Rsx => "rsx",
        };
        let limits = &self.options.chip.limits().vertex;
        let temporaries = if self.options.all_temporaries { limits.temporaries } else { limits.usual_temporaries };
        Some(fit(name, &program, temporaries))
    }
}

/// The instructions, temporary registers and rows of constants of a program.
fn size_of(program: &Program) -> CodeSize {
    match program {
        Program::Vertex(vertex) => CodeSize {
            instructions: vertex.slots.len() as u32,
            temporaries: vertex.temporaries.into(),
            immediates: vertex.literals.len() as u32,
        },
        Program::Fragment(fragment) => {
            let instructions = fragment.program.instructions(fragment.chip);
            CodeSize {
                instructions,
                temporaries: fragment.registers.into(),
                immediates: fragment.program.slots().saturating_sub(instructions),
            }
        }
    }
}

/// Returns the target for runs: with the program as JSON, and colours that are not rounded to 16 bits unless the
/// options ask for values that are.
pub fn run_target(target: &dyn Target) -> Option<Box<dyn Target>> {
    let target: &Nv40Target = (target as &dyn Any).downcast_ref()?;
    let options =
        Nv40Options { form: Form::Words, full: target.options.full || !target.options.half, ..target.options };
    Some(Box::new(Nv40Target { options, ..target.clone() }))
}

/// Whether a file has a program as JSON.
fn is_json(file: &AuxiliaryFile) -> bool {
    [VERTEX_JSON, FRAGMENT_JSON].contains(&file.extension)
}

/// Runs programs by the simulators of this package.
///
/// # Errors
/// The program is damaged.
pub fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, RunError>> {
    let _: &Nv40Target = (target as &dyn Any).downcast_ref()?;
    Some(match program_of(code)? {
        Ok(program) => run_program(program),
        Err(error) => Err(RunError::Code(error.to_string())),
    })
}

/// Reads the program of code; `None` for a listing.
fn program_of(code: &Code) -> Option<Result<Program, ReadError>> {
    let json = code.auxiliary_files().iter().find(|file| is_json(file));
    match (json, code) {
        (Some(json), _) => Some(read_program_json(&json.text)),
        (None, Code::Object(object)) => Some(read_binary(&object.bytes)),
        (None, _) => None,
    }
}
