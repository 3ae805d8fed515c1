//! From bytes to IR.

use spirv::{Decoration, ExecutionModel, StorageClass};
use tgsi_compiler::front_end::Interface;
use tgsi_diagnostics::{Diagnostic, Span};
use tgsi_ir::passes::into_ssa::repair_ssa;
use tgsi_ir::shader::{Shader, ShaderStage};

use crate::emit::{Context, emit};
use crate::error::{Finding, Findings, SpirvError};
use crate::grammar;
use crate::module::Module as SpirvModule;
use crate::options::{Environment, SpirvOptions};
use crate::own_addresses::lower_addresses;
use crate::types::TypeData;
use crate::words::Words;

/// A shader that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Module {
    /// The IR: typed variables, functions without parameters, registers.
    pub shader: Shader,
    /// By [origin](tgsi_ir::Body::origin): the words of the instruction.
    pub origins: Vec<Span>,
    /// The values that the application sets, and those that stages share.
    pub interface: Interface,
}

/// The result of reading a module.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The shader; `None` if there are errors.
    pub module: Option<Module>,
    /// Errors and warnings. Spans count words.
    pub findings: Vec<Diagnostic>,
}

/// The stage of an execution model.
pub(crate) fn stage_of(model: u32) -> Option<ShaderStage> {
    Some(match ExecutionModel::from_u32(model)? {
        ExecutionModel::Vertex => ShaderStage::Vertex,
        ExecutionModel::TessellationControl => ShaderStage::TessCtrl,
        ExecutionModel::TessellationEvaluation => ShaderStage::TessEval,
        ExecutionModel::Geometry => ShaderStage::Geometry,
        ExecutionModel::Fragment => ShaderStage::Fragment,
        ExecutionModel::GLCompute => ShaderStage::Compute,
        _ => return None,
    })
}

/// Reads the entry point of a module that the options name, or the only one of the stage.
pub fn compile(bytes: &[u8], stage: Option<ShaderStage>, options: &SpirvOptions) -> Compiled {
    let mut findings = Findings::default();
    let words = match Words::read(bytes, &options.limits) {
        Ok((words, warnings)) => {
            warnings.into_iter().for_each(|warning| findings.push(warning));
            words
        }
        Err(finding) => {
            findings.push(finding);
            return Compiled { module: None, findings: findings.into_diagnostics(|_, _| {}) };
        }
    };
    let mut module = SpirvModule::read(words, options, &mut findings);
    let entry = match choose_entry(&module, stage, options) {
        Ok(entry) => Some(entry),
        Err(finding) => {
            findings.push(finding);
            None
        }
    };
    let mut result = None;
    if let Some((entry, stage)) = entry.filter(|_| !findings.has_errors()) {
        let environment = options.environment.unwrap_or_else(|| infer_environment(&module));
        let context = Context::new(&mut module, options, &mut findings, environment, entry, stage);
        let mut context = emit(context);
        context.finish_interface();
        context.finish_resources();
        let (mut shader, interface) = context.into_parts();
        if !findings.has_errors() {
            repair_ssa(&mut shader);
            if environment == Environment::Tgsic {
                lower_addresses(&mut shader);
            }
            let origins = origins(&module);
            result = Some(Module { shader, origins, interface });
        }
    }
    let findings = findings.into_diagnostics(|finding, diagnostic| note(&module, finding, diagnostic));
    Compiled { module: result, findings }
}

/// The entry point to compile.
fn choose_entry(
    module: &SpirvModule,
    stage: Option<ShaderStage>,
    options: &SpirvOptions,
) -> Result<(usize, ShaderStage), Finding> {
    let start = Span::new(0, 1);
    let all = || module.entry_points.iter().map(|entry| entry.name.as_str());
    let list = |names: Vec<&str>| names.join(", ");
    if module.entry_points.is_empty() {
        return Err(Finding { error: SpirvError::NoEntryPoint, span: start });
    }
    let fits = |number: &usize| {
        let entry = &module.entry_points[*number];
        let has_name = options.entry.as_ref().is_none_or(|name| *name == entry.name);
        has_name && stage.is_none_or(|stage| stage_of(entry.model) == Some(stage))
    };
    let found: Vec<usize> = (0..module.entry_points.len()).filter(fits).collect();
    match (found.as_slice(), &options.entry) {
        (&[number], _) => {
            let entry = &module.entry_points[number];
            let name = ExecutionModel::from_u32(entry.model).map(|model| format!("{model:?}"));
            let error = SpirvError::ExecutionModel { name: name.unwrap_or_else(|| entry.model.to_string()) };
            stage_of(entry.model).map(|stage| (number, stage)).ok_or(Finding { error, span: entry.span })
        }
        ([], Some(name)) => {
            let error = SpirvError::UnknownEntryPoint { name: name.clone(), names: list(all().collect()) };
            Err(Finding { error, span: start })
        }
        ([], None) => {
            let stage = stage.map_or("", |stage| stage.name()).to_ascii_lowercase();
            Err(Finding { error: SpirvError::NoStage { stage }, span: start })
        }
        (several, _) => {
            let names = several.iter().map(|&number| module.entry_points[number].name.as_str()).collect();
            Err(Finding { error: SpirvError::SeveralEntryPoints { names: list(names) }, span: start })
        }
    }
}

/// OpenGL if the module has something that only OpenGL has.
fn infer_environment(module: &SpirvModule) -> Environment {
    use spirv::BuiltIn;
    let is_gl = |global: &crate::module::Global| {
        let built_in = module.decorations.value(global.id, Decoration::BuiltIn);
        if matches!(built_in.and_then(BuiltIn::from_u32), Some(BuiltIn::VertexId | BuiltIn::InstanceId)) {
            return true;
        }
        let has_set = module.decorations.has(global.id, Decoration::DescriptorSet);
        match StorageClass::from_u32(global.class) {
            Some(StorageClass::AtomicCounter) => true,
            Some(StorageClass::Output) => module.is_fragment_data(global),
            Some(StorageClass::UniformConstant) => {
                let ty = module.types.without_arrays(global.ty);
                !has_set || matches!(module.types.get(ty), TypeData::Vector { .. } | TypeData::Matrix { .. })
            }
            _ => false,
        }
    };
    if module.globals.iter().any(is_gl) { Environment::OpenGl } else { Environment::Vulkan }
}

/// The words of each instruction, by number.
fn origins(module: &SpirvModule) -> Vec<Span> {
    module.words.instructions().map_while(Result::ok).map(|inst| inst.span()).collect()
}

/// Adds the instruction as text, and the line of the source.
fn note(module: &SpirvModule, finding: &Finding, diagnostic: &mut Diagnostic) {
    let Some(inst) = module.words.instructions().map_while(Result::ok).find(|inst| inst.at == finding.span.start)
    else {
        return;
    };
    diagnostic.note(finding.span, tgsi_diagnostics::Focus::Whole, grammar::text(&inst));
    let line = module.lines.partition_point(|line| line.number <= inst.number).checked_sub(1);
    if let Some(line) = line.and_then(|line| module.lines.get(line)).filter(|line| line.file != 0) {
        let file = module.strings.get(&line.file).map_or("?", String::as_str);
        let text = format!("{file}, line {}, column {}", line.line, line.column);
        diagnostic.note(finding.span, tgsi_diagnostics::Focus::Whole, text);
    }
}
