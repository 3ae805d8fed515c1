//! Machine code compiled ahead of time: an object file, or the code as text.
//!
//! Supports every processor that Cranelift is built for. Operations that cannot be compiled for it stay with the
//! interpreter.

use std::fmt::Write;
use std::mem::offset_of;
use std::str::FromStr;

use cranelift_codegen::Context;
use cranelift_codegen::ir::Endianness;
use cranelift_codegen::isa;
use cranelift_codegen::settings::Configurable;
use cranelift_module::{DataDescription, DataId, FuncId, Linkage, Module, ModuleError};
use cranelift_object::{ObjectBuilder, ObjectModule};
use target_lexicon::{Architecture, PointerWidth, Triple};
use tgsi_ir::run::Program;

use super::analysis::regions::{self, Region};
use super::emission::processor::{Processor, has};
use super::emission::translator::FunctionTranslator;
use crate::form::CodeForm;
use crate::object::{Extensions, ObjectContents, ObjectData, ObjectFunction};
use crate::options::Options;

/// Creates a processor from its triple (`aarch64-unknown-linux-gnu`); `None` for this one. Code may use these
/// extensions; with `None` the fewest that vector code needs.
///
/// # Errors
/// The triple does not exist, has no object files, or is not supported by this build of Cranelift.
pub(crate) fn processor(triple: Option<&str>, extensions: Option<Extensions>) -> Result<Processor, String> {
    let triple = match triple {
        Some(name) => Triple::from_str(name).map_err(|error| format!("`{name}`: {error}"))?,
        None => Triple::host(),
    };
    if triple.pointer_width() != Ok(PointerWidth::U64) {
        return Err(format!("addresses of {triple} do not have 64 bits"));
    }
    let is_x86 = triple.architecture == Architecture::X86_64;
    let mut builder = isa::lookup(triple.clone()).map_err(|error| format!("{triple}: {error}"))?;
    if is_x86 {
        // Cranelift's minimum for vector code.
        builder.enable("x86-64-v2").map_err(|error| error.to_string())?;
        if extensions == Some(Extensions::X86_64V3) {
            for name in ["has_avx", "has_avx2", "has_bmi1", "has_bmi2", "has_fma", "has_lzcnt"] {
                builder.enable(name).map_err(|error| error.to_string())?;
            }
        }
    } else if extensions.is_some() {
        return Err(format!("{triple} has no extensions of x86-64"));
    }
    let processor = Processor::new(builder).map_err(|error| format!("{triple}: {error}"))?;
    ObjectBuilder::new(processor.isa().clone(), "", cranelift_module::default_libcall_names())
        .map_err(|error| format!("{triple}: {error}"))?;
    Ok(processor)
}

/// A function in an object file.
struct PlacedFunction {
    start: u32,
    end: u32,
    id: FuncId,
}

/// Compiles a program to an object file or text; `text` is the text of its shader. The object file exports it under the
/// name `symbol`.
///
/// # Errors
/// The object file cannot be written.
pub(crate) fn write_object(
    program: &Program,
    text: &str,
    processor: &Processor,
    symbol: &str,
    form: CodeForm,
    options: Options,
) -> Result<Vec<u8>, String> {
    regions::in_parts(|most| write_object_in_parts(program, text, processor, symbol, form, options, most))
}

/// The same, with regions of weight at most `most`; also returns whether all of them became code.
fn write_object_in_parts(
    program: &Program,
    text: &str,
    processor: &Processor,
    symbol: &str,
    form: CodeForm,
    options: Options,
    most: u32,
) -> Result<(Vec<u8>, bool), String> {
    let keep_inactive = options.keep_inactive;
    let regions = if options.machine_code { regions::find(program, keep_inactive, most) } else { Vec::new() };
    let isa = processor.isa();
    let builder = ObjectBuilder::new(isa.clone(), symbol, cranelift_module::default_libcall_names());
    let mut module = ObjectModule::new(builder.map_err(|error| error.to_string())?);
    let mut listing = String::new();
    let mut placed: Vec<PlacedFunction> = Vec::with_capacity(regions.len());
    let mut is_complete = true;
    let visit = |region: Option<&Region>, context: &mut Context| {
        // Without known units all functions are regions.
        let Some(region) = region else { return Ok(()) };
        context.set_disasm(form == CodeForm::Assembly);
        let ir = if form == CodeForm::Code { context.func.display().to_string() } else { String::new() };
        if let Err(error) = processor.compile(context, options.quick) {
            log::warn!("operations {:?} stay with the interpreter: {error}", region.range);
            is_complete = false;
            return Ok(());
        }
        let Some(code) = context.compiled_code() else { return Ok(()) };
        if form != CodeForm::Object {
            let function = code.vcode.as_deref().unwrap_or(&ir);
            let _ = writeln!(listing, "; operations {:?}\n{function}", region.range);
            return Ok(());
        }
        let name = format!("{symbol}.{}", placed.len());
        let id = module.declare_function(&name, Linkage::Local, &context.func.signature)?;
        processor.define(&mut module, id, context)?;
        placed.push(PlacedFunction { start: region.range.start, end: region.range.end, id });
        Ok::<(), Box<ModuleError>>(())
    };
    let translator = FunctionTranslator::new(program, keep_inactive, &[], &**isa);
    let instructions = translator.for_each(&regions, visit).map_err(|error| error.to_string())?;
    if form != CodeForm::Object {
        return Ok((listing.into_bytes(), is_complete));
    }
    define_data(&mut module, program, text, symbol, &placed, &instructions).map_err(|error| error.to_string())?;
    let bytes = module.finish().emit().map_err(|error| error.to_string())?;
    Ok((bytes, is_complete))
}

/// The bytes of a struct in the layout of the processor.
struct Fields {
    bytes: Vec<u8>,
    is_little: bool,
}

impl Fields {
    fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    fn put_word(&mut self, offset: usize, word: u32) {
        self.put(offset, &if self.is_little { word.to_le_bytes() } else { word.to_be_bytes() });
    }

    fn put_long(&mut self, offset: usize, long: u64) {
        self.put(offset, &if self.is_little { long.to_le_bytes() } else { long.to_be_bytes() });
    }
}

/// Adds the [`ObjectData`] and the data it points to to an object file.
fn define_data(
    module: &mut ObjectModule,
    program: &Program,
    text: &str,
    symbol: &str,
    placed: &[PlacedFunction],
    instructions: &[u32],
) -> Result<(), Box<ModuleError>> {
    let is_little = module.isa().endianness() == Endianness::Little;
    let extensions = extensions_of(module);
    let fields = |count: usize, size: usize| Fields { bytes: vec![0; count * size], is_little };

    let mut functions = fields(placed.len(), size_of::<ObjectFunction>());
    let mut description = DataDescription::new();
    for (number, function) in placed.iter().enumerate() {
        let at = number * size_of::<ObjectFunction>();
        functions.put_word(at + offset_of!(ObjectFunction, start), function.start);
        functions.put_word(at + offset_of!(ObjectFunction, end), function.end);
        let reference = module.declare_func_in_data(function.id, &mut description);
        description.write_function_addr((at + offset_of!(ObjectFunction, function)) as u32, reference);
    }
    let functions = define(module, description, functions.bytes)?;
    let mut numbers = fields(instructions.len(), size_of::<u32>());
    for (number, &instruction) in instructions.iter().enumerate() {
        numbers.put_word(number * size_of::<u32>(), instruction);
    }
    let numbers = define(module, DataDescription::new(), numbers.bytes)?;
    let characters = define(module, DataDescription::new(), text.as_bytes().to_vec())?;

    let regions = placed.iter().map(|function| (function.start, function.end)).collect();
    let contents = ObjectContents { extensions, regions, instructions, text };
    let mut data = fields(1, size_of::<ObjectData>());
    data.put(offset_of!(ObjectData, magic), &ObjectData::MAGIC);
    data.put_word(offset_of!(ObjectData, layout), ObjectData::LAYOUT);
    data.put_word(offset_of!(ObjectData, extensions), extensions as u32);
    data.put(offset_of!(ObjectData, version), &ObjectData::VERSION);
    data.put_long(offset_of!(ObjectData, hash), contents.hash(program));
    data.put_long(offset_of!(ObjectData, num_functions), placed.len() as u64);
    data.put_long(offset_of!(ObjectData, num_instructions), instructions.len() as u64);
    data.put_long(offset_of!(ObjectData, num_characters), text.len() as u64);
    let mut description = DataDescription::new();
    for (offset, place) in [
        (offset_of!(ObjectData, functions), functions),
        (offset_of!(ObjectData, instructions), numbers),
        (offset_of!(ObjectData, text), characters),
    ] {
        if let Some(place) = place {
            let reference = module.declare_data_in_data(place, &mut description);
            description.write_data_addr(offset as u32, reference, 0);
        }
    }
    description.define(data.bytes.into());
    description.set_align(align_of::<ObjectData>() as u64);
    let id = module.declare_data(symbol, Linkage::Export, false, false)?;
    Ok(module.define_data(id, &description)?)
}

/// Defines data without a name; `None` if it is empty.
fn define(
    module: &mut ObjectModule,
    mut description: DataDescription,
    bytes: Vec<u8>,
) -> Result<Option<DataId>, Box<ModuleError>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    description.define(bytes.into());
    description.set_align(align_of::<ObjectFunction>() as u64);
    let id = module.declare_anonymous_data(false, false)?;
    module.define_data(id, &description)?;
    Ok(Some(id))
}

/// Returns the extensions that code of a module may use.
fn extensions_of(module: &ObjectModule) -> Extensions {
    let isa = module.isa();
    match isa.triple().architecture {
        Architecture::X86_64 if has(isa, "has_avx2") => Extensions::X86_64V3,
        Architecture::X86_64 => Extensions::X86_64V2,
        _ => Extensions::None,
    }
}
