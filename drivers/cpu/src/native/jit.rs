//! Machine code compiled at run time, in memory made executable for it. Pages of code are never writable and executable
//! at once.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use cranelift_codegen::CodegenError;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError};
use tgsi_ir::run::Program;

use super::analysis::regions;
use super::emission::processor::Processor;
use super::emission::translator::FunctionTranslator;
use super::limits::MAX_KNOWN;
use super::runtime::code::{Code, Function};
use super::runtime::context::LookUp;
use crate::options::{Options, Report};
use crate::sampler::KnownUnitState;

/// Memory with code. It is released when dropped.
struct Memory(Mutex<Option<JITModule>>);

impl Drop for Memory {
    fn drop(&mut self) {
        let module = self.0.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: the functions are only reachable through the `Code` that owns this memory, and none runs while
            // that is dropped.
            unsafe { module.free_memory() };
        }
    }
}

/// Compiles a program to machine code, if the system allows it.
pub(crate) fn compile(program: &mut Program, options: Options, known: &[KnownUnitState]) -> Report {
    let mut report = Report { total: program.ops().len(), ..Report::default() };
    match regions::in_parts(|most| translate(program, most, options, known)) {
        Ok(Some(made)) => {
            report.functions = made.ranges.len();
            report.operations = made.ranges.iter().map(|range| range.len()).sum();
            (report.bytes, report.evaluated) = (made.bytes, made.evaluated);
            program.set_native(&made.ranges, Arc::new(made.code));
        }
        Ok(None) => {}
        Err(error) => {
            log::warn!("no machine code: {error}");
            report.refused = Some(error.to_string());
        }
    }
    report
}

/// The code of a program.
struct CompiledRegions {
    code: Code,
    /// The operations of each function.
    ranges: Vec<Range<u32>>,
    bytes: usize,
    /// Instructions that are evaluated by calls.
    evaluated: usize,
}

fn unsupported(what: impl ToString) -> Box<ModuleError> {
    Box::new(ModuleError::Compilation(CodegenError::Unsupported(what.to_string())))
}

/// Returns the code of a program with regions of weight at most `most`, if there are any; and whether all of them
/// became code.
fn translate(
    program: &Program,
    most: u32,
    options: Options,
    known: &[KnownUnitState],
) -> Result<(Option<CompiledRegions>, bool), Box<ModuleError>> {
    let regions = regions::find(program, options.keep_inactive, most);
    if regions.is_empty() {
        return Ok((None, true));
    }
    let known: Vec<KnownUnitState> = known.iter().copied().take(MAX_KNOWN).collect();
    let builder = cranelift_native::builder().map_err(unsupported)?;
    let processor = Processor::new(builder).map_err(unsupported)?;
    let isa = processor.isa();
    let mut module = JITModule::new(JITBuilder::with_isa(isa.clone(), cranelift_module::default_libcall_names()));
    let (mut lookups, mut functions): (Vec<FuncId>, Vec<FuncId>) = (Vec::new(), Vec::with_capacity(regions.len()));
    let mut ranges: Vec<Range<u32>> = Vec::with_capacity(regions.len());
    let mut bytes = 0;
    let translator = FunctionTranslator::new(program, options.keep_inactive, &known, &**isa);
    let instructions = translator.for_each(&regions, |region, context| {
        if let Err(error) = processor.compile(context, options.quick) {
            let Some(region) = region else { return Err(unsupported(error)) };
            log::warn!("operations {:?} stay with the interpreter: {error}", region.range);
            return Ok(());
        }
        let id = module.declare_anonymous_function(&context.func.signature)?;
        processor.define(&mut module, id, context)?;
        bytes += context.compiled_code().map_or(0, |code| code.code_buffer().len());
        match region {
            Some(region) => {
                functions.push(id);
                ranges.push(region.range.clone());
            }
            None => lookups.push(id),
        }
        Ok(())
    })?;
    module.finalize_definitions()?;
    let functions = functions
        .into_iter()
        .map(|id| {
            let address = module.get_finalized_function(id);
            // SAFETY: the function at this address was generated with the signature of `Function`.
            unsafe { std::mem::transmute::<*const u8, Function>(address) }
        })
        .collect();
    let lookups = lookups
        .into_iter()
        .map(|id| {
            let address = module.get_finalized_function(id);
            // SAFETY: the function at this address was generated with the signature of `LookUp`.
            unsafe { std::mem::transmute::<*const u8, LookUp>(address) }
        })
        .collect();
    let is_complete = ranges.len() == regions.len();
    let uses_lane_vectors = !is_complete || regions::use_lane_vectors(program, &regions);
    let memory: Option<Box<dyn Send + Sync>> = Some(Box::new(Memory(Mutex::new(Some(module)))));
    // SAFETY: they were generated above, for this program, and are in this memory.
    let code = unsafe { Code::new(program, functions, &instructions, known, lookups, uses_lane_vectors, memory) };
    let code = code.ok_or_else(|| unsupported("an instruction that the program lacks"))?;
    Ok((Some(CompiledRegions { code, ranges, bytes, evaluated: instructions.len() }), is_complete))
}
