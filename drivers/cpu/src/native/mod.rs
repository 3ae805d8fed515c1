//! Machine code, by Cranelift: the stretches of a program that need nothing but planes, constants and textures. The
//! interpreter of the IR executes the rest, in the same order as without machine code; see [`tgsi_ir::run::native`].
//!
//! A value is one vector of four 32-bit lanes for each quad. There are no wider vectors in Cranelift, and no operation
//! that can trap is ever made.
//!
//! `unsafe` stands in three places: the call of a function, what code calls (`calls`, `sampling`), and the release of
//! memory. What code can reach is in `context`: planes at offsets that are known when it is made, and constant buffers
//! behind a check of the length, and texels of textures that a run was asked for, behind a clamp. Pages of code are never writable and executable at once.

mod alu;
mod calls;
mod context;
mod emit;
mod lookups;
mod sampling;
mod slots;
mod stretches;
mod uniforms;
mod wide;

use std::ops::Range;
use std::sync::{Arc, Mutex};

use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, ir, isa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError};
use rustc_hash::FxHashMap;
use tgsi_ir::run::native::{NativeCode, NativeState};
use tgsi_ir::run::program::Program;

use calls::General;
use context::Context;
use emit::{Emitter, signature};
use lookups::MAX_KNOWN;
use sampling::{Host, Plan};

use crate::program::{Options, Report};
use crate::sampler::{Known, Sampled};

/// A function of a stretch: returns the operations that the longest quad executed.
type Function = unsafe extern "C" fn(*const Context) -> u64;

/// The functions of a program, and the memory that they stand in.
struct Code {
    functions: Vec<Function>,
    /// Texture instructions by their numbers.
    plans: Vec<Plan>,
    /// Units that code looks up in by itself.
    known: Vec<Known>,
    /// Instructions that are evaluated through calls.
    generals: Vec<General>,
    /// Taken only when the code is released.
    module: Mutex<Option<JITModule>>,
    /// What functions may touch: planes of values, of registers, components of inputs and outputs.
    planes: (usize, usize),
    inputs: usize,
    outputs: usize,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("functions", &self.functions.len()).finish_non_exhaustive()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        let module = self.module.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: the functions are reached through this value only, and none runs while it is dropped.
            unsafe { module.free_memory() };
        }
    }
}

impl NativeCode for Code {
    fn input_registers(&self) -> usize {
        self.inputs / 4
    }

    fn execute(&self, stretch: u32, state: &mut NativeState<'_>) -> u64 {
        let Some(function) = self.functions.get(stretch as usize) else { return 0 };
        // The lengths that code relies on.
        let width = state.width;
        let enough = state.words.len() >= self.planes.0 * width
            && state.registers.len() >= self.planes.1 * width
            && state.active.len() >= width
            && state.exists.len() >= width
            && holds(state.inputs.len(), state.input_stride, self.inputs, state.lanes)
            && holds(state.outputs.len(), state.output_stride, self.outputs, state.lanes);
        let lanes = state.lanes;
        if lanes == 0 || !lanes.is_multiple_of(4) || lanes > width || !enough {
            debug_assert!(false, "planes are too short");
            return 0;
        }
        let mut context = Context::new(state, &self.generals);
        // What is there must be what the code was made for. It lives, and nobody changes it, until the code returns.
        let mut sampled: Vec<Arc<Sampled>> = Vec::new();
        for (number, known) in self.known.iter().enumerate() {
            let found = state.resources.known(known.texture, known.sampler);
            let found = found.and_then(|found| found.downcast::<Sampled>().ok());
            if let Some(found) = found.filter(|found| known.is_that_of(found)) {
                context.set_known(number, &found.texture);
                sampled.push(found);
            }
        }
        let mut host =
            Host { plans: &self.plans, resources: &mut *state.resources, live: &mut *state.live, panic: None };
        context.set_host(&raw mut host);
        // SAFETY: the function takes this argument; the planes have the lengths that it relies on, and `state` is borrowed
        // until it returns. The host is used by what the function calls only.
        let steps = unsafe { function(&raw const context) };
        if let Some(panic) = host.panic.take() {
            std::panic::resume_unwind(panic);
        }
        steps
    }
}

/// Whether a file of so many words has room for so many components of `lanes` lanes.
fn holds(words: usize, stride: usize, components: usize, lanes: usize) -> bool {
    components == 0 || (components - 1) * stride + lanes <= words
}

/// Makes machine code for a program, if the system allows it.
pub fn compile(program: &mut Program, options: Options, known: &[Known]) -> Report {
    let mut report = Report { total: program.ops().len(), ..Report::default() };
    let stretches = stretches::find(program, options.keep_inactive);
    if stretches.is_empty() {
        return report;
    }
    match translate(program, &stretches, options, known, &mut report) {
        Ok(code) => {
            let ranges: Vec<Range<u32>> = stretches.into_iter().map(|stretch| stretch.range).collect();
            report.functions = ranges.len();
            report.operations = ranges.iter().map(|range| range.len()).sum();
            program.set_native(&ranges, Arc::new(code));
        }
        Err(error) => {
            log::warn!("no machine code: {error}");
            report.refused = Some(error.to_string());
        }
    }
    report
}

fn unsupported(what: impl ToString) -> Box<ModuleError> {
    Box::new(ModuleError::Compilation(CodegenError::Unsupported(what.to_string())))
}

fn flags() -> Result<settings::Flags, settings::SetError> {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed")?;
    flags.set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" })?;
    flags.set("enable_probestack", "false")?;
    flags.set("unwind_info", "false")?;
    flags.set("is_pic", "false")?;
    Ok(settings::Flags::new(flags))
}

fn module() -> Result<JITModule, Box<ModuleError>> {
    let flags = flags().map_err(unsupported)?;
    let isa = cranelift_native::builder().map_err(unsupported)?;
    let isa = isa.finish(flags).map_err(unsupported)?;
    Ok(JITModule::new(JITBuilder::with_isa(isa, cranelift_module::default_libcall_names())))
}

/// Makes the code of a program for another processor, by its triple (`aarch64-unknown-linux-gnu`), which shows that it
/// can be made; it cannot be run. Returns the bytes of code. Cranelift must be built with support for the processor.
///
/// # Errors
/// Cranelift does not know the processor, or refuses an operation for it.
pub fn size_for(program: &Program, triple: &str) -> Result<usize, String> {
    let isa = isa::lookup_by_name(triple).map_err(|error| error.to_string())?;
    let isa = isa.finish(flags().map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
    let constants: FxHashMap<u32, u32> = program.constants().iter().copied().collect();
    let mut generals = Vec::new();
    let mut builder_context = FunctionBuilderContext::new();
    let mut context = cranelift_codegen::Context::new();
    let mut bytes = 0;
    for stretch in stretches::find(program, false) {
        context.func.signature = signature(isa.default_call_conv());
        let builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
        Emitter::new(program, builder, false, &constants, &mut generals, isa.default_call_conv()).function(&stretch);
        let code = context.compile(&*isa, &mut Default::default()).map_err(|error| format!("{:?}", error.inner))?;
        bytes += code.code_buffer().len();
        context.clear();
    }
    Ok(bytes)
}

fn translate(
    program: &Program,
    stretches: &[stretches::Stretch],
    options: Options,
    known: &[Known],
    report: &mut Report,
) -> Result<Code, Box<ModuleError>> {
    let known: Vec<Known> = known.iter().copied().filter(Known::has_code).take(MAX_KNOWN).collect();
    let mut module = module()?;
    let call_conv = module.target_config().default_call_conv;
    let constants: FxHashMap<u32, u32> = program.constants().iter().copied().collect();
    let mut generals = Vec::new();
    let mut builder_context = FunctionBuilderContext::new();
    let mut context = module.make_context();
    let mut ids: Vec<FuncId> = Vec::with_capacity(stretches.len());
    for stretch in stretches {
        context.func.signature = signature(call_conv);
        context.func.name = ir::UserFuncName::user(0, stretch.range.start);
        let builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
        let mut emitter = Emitter::new(program, builder, options.keep_inactive, &constants, &mut generals, call_conv);
        emitter.known = &known;
        emitter.function(stretch);
        if options.text {
            use std::fmt::Write;
            let _ = writeln!(report.text, "; operations {:?}\n{}", stretch.range, context.func.display());
        }
        let id = module.declare_anonymous_function(&context.func.signature)?;
        module.define_function(id, &mut context)?;
        report.bytes += context.compiled_code().map_or(0, |code| code.code_buffer().len());
        module.clear_context(&mut context);
        ids.push(id);
    }
    module.finalize_definitions()?;
    let functions = ids
        .into_iter()
        .map(|id| {
            let address = module.get_finalized_function(id);
            // SAFETY: the function at this address was made with the signature of `Function`.
            unsafe { std::mem::transmute::<*const u8, Function>(address) }
        })
        .collect();
    report.evaluated = generals.len();
    Ok(Code {
        functions,
        plans: Plan::all(program),
        known,
        generals: generals.iter().map(|&number| General::new(program, &program.alus()[number as usize])).collect(),
        module: Mutex::new(Some(module)),
        planes: (program.num_value_planes() as usize, program.num_register_planes() as usize),
        inputs: slots::input_registers(program) * 4,
        outputs: program.output_registers() * 4,
    })
}
