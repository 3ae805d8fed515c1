//! Machine code that is made at run time, in memory that is made executable for it. Pages of code are never writable
//! and executable at once.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use cranelift_codegen::CodegenError;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError};
use tgsi_ir::run::program::Program;

use super::code::{Code, Function};
use super::context::MAX_KNOWN;
use super::for_each_stretch;
use super::processor::Processor;
use super::stretches::{self, Stretch};
use crate::program::{Options, Report};
use crate::sampler::Known;

/// Memory with code. It is taken only when it is released.
struct Memory(Mutex<Option<JITModule>>);

impl Drop for Memory {
    fn drop(&mut self) {
        let module = self.0.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: the functions are reached through the `Code` that has this memory only, and none runs while that
            // is dropped.
            unsafe { module.free_memory() };
        }
    }
}

/// Makes machine code for a program, if the system allows it.
pub(crate) fn compile(program: &mut Program, options: Options, known: &[Known]) -> Report {
    let mut report = Report { total: program.ops().len(), ..Report::default() };
    let stretches = stretches::find(program, options.keep_inactive);
    if stretches.is_empty() {
        return report;
    }
    match translate(program, &stretches, options, known, &mut report) {
        Ok((ranges, code)) => {
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

fn translate(
    program: &Program,
    stretches: &[Stretch],
    options: Options,
    known: &[Known],
    report: &mut Report,
) -> Result<(Vec<Range<u32>>, Code), Box<ModuleError>> {
    let known: Vec<Known> = known.iter().copied().take(MAX_KNOWN).collect();
    let builder = cranelift_native::builder().map_err(unsupported)?;
    let processor = Processor::new(builder).map_err(unsupported)?;
    let isa = processor.isa();
    let mut module = JITModule::new(JITBuilder::with_isa(isa.clone(), cranelift_module::default_libcall_names()));
    let mut ids: Vec<FuncId> = Vec::with_capacity(stretches.len());
    let mut ranges: Vec<Range<u32>> = Vec::with_capacity(stretches.len());
    let instructions =
        for_each_stretch(program, stretches, options.keep_inactive, &known, &**isa, |stretch, context| {
            if let Err(error) = processor.compile(context, options.quick) {
                log::warn!("operations {:?} stay with the interpreter: {error}", stretch.range);
                return Ok(());
            }
            let id = module.declare_anonymous_function(&context.func.signature)?;
            processor.define(&mut module, id, context)?;
            report.bytes += context.compiled_code().map_or(0, |code| code.code_buffer().len());
            ids.push(id);
            ranges.push(stretch.range.clone());
            Ok::<(), Box<ModuleError>>(())
        })?;
    module.finalize_definitions()?;
    let functions = ids
        .into_iter()
        .map(|id| {
            let address = module.get_finalized_function(id);
            // SAFETY: the function at this address was made with the signature of `Function`.
            unsafe { std::mem::transmute::<*const u8, Function>(address) }
        })
        .collect();
    report.evaluated = instructions.len();
    let memory = Memory(Mutex::new(Some(module)));
    let uses_planes = ranges.len() < stretches.len() || stretches::use_planes(program, stretches);
    // SAFETY: they were made above, for this program, and stand in this memory.
    let code = unsafe { Code::new(program, functions, &instructions, known, uses_planes, Some(Box::new(memory))) };
    let code = code.ok_or_else(|| unsupported("an instruction that the program lacks"))?;
    Ok((ranges, code))
}
