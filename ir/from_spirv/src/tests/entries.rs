//! Modules with an entry point of any stage: operands may be names of enumerants, and `%void`, `%float`, `%v4`, and the
//! like need no declaration.

use std::str::FromStr;

use tgsi_ir::shader::ShaderStage;

use super::assemble;
use crate::compile::{Compiled, Module, compile};
use crate::options::SpirvOptions;

/// Declarations of types, pointers and constants that tests use.
const TYPES: &str = "
    %void = OpTypeVoid
    %fn = OpTypeFunction %void
    %bool = OpTypeBool
    %int = OpTypeInt 32 1
    %uint = OpTypeInt 32 0
    %float = OpTypeFloat 32
    %double = OpTypeFloat 64
    %v2 = OpTypeVector %float 2
    %v3 = OpTypeVector %float 3
    %v4 = OpTypeVector %float 4
    %d3 = OpTypeVector %double 3
    %u3 = OpTypeVector %uint 3
    %m2 = OpTypeMatrix %v2 2
    %0 = OpConstant %uint 0
    %1 = OpConstant %uint 1
    %2 = OpConstant %uint 2
    %3 = OpConstant %uint 3
    %4 = OpConstant %uint 4
    %8 = OpConstant %uint 8
    %f0 = OpConstant %float 0.0
    %f1 = OpConstant %float 1.0
    %ones = OpConstantComposite %v4 %f1 %f1 %f1 %f1";

/// The number of an enumerant.
fn enumerant(name: &str) -> Option<u32> {
    let number = |found: Result<u32, ()>| found.ok();
    number(spirv::BuiltIn::from_str(name).map(|value| value as u32))
        .or_else(|| number(spirv::Decoration::from_str(name).map(|value| value as u32)))
        .or_else(|| number(spirv::StorageClass::from_str(name).map(|value| value as u32)))
        .or_else(|| number(spirv::ExecutionModel::from_str(name).map(|value| value as u32)))
        .or_else(|| number(spirv::ExecutionMode::from_str(name).map(|value| value as u32)))
        .or_else(|| number(spirv::Capability::from_str(name).map(|value| value as u32)))
}

/// Replaces names of enumerants by their numbers, and double quotes by single ones.
fn with_numbers(line: &str) -> String {
    let mut words = line.split_whitespace().map(|word| match word {
        word if word.starts_with(['%', '"', '=']) || word.starts_with("Op") => word.replace('"', "'"),
        word => enumerant(word).map_or_else(|| word.to_owned(), |number| number.to_string()),
    });
    let first = words.next().unwrap_or_default();
    words.fold(first, |line, word| line + " " + &word)
}

/// The bytes of a module. Names and decorations precede types, so that text may begin with them.
pub(crate) fn module(text: &str) -> Vec<u8> {
    let is_annotation = |line: &&str| {
        let op = line.split(" = ").last().unwrap_or_default().trim();
        ["OpCapability", "OpEntry", "OpExecution", "OpName", "OpMember", "OpDecorate"].iter().any(|n| op.starts_with(n))
    };
    let (first, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(is_annotation);
    let all = first.into_iter().chain(TYPES.lines()).chain(rest);
    assemble(&all.map(with_numbers).fold(String::new(), |text, line| text + &line + "\n"))
}

/// Reads a module.
pub(crate) fn read_with(text: &str, options: &SpirvOptions) -> Compiled {
    compile(&module(text), None, options)
}

/// Reads a module that has no errors, and checks the IR.
pub(crate) fn read(text: &str) -> Module {
    let compiled = read_with(text, &SpirvOptions::default());
    let module = compiled.module.unwrap_or_else(|| panic!("{:?}", compiled.findings));
    tgsi_ir::validate::validate(&module.shader).expect("valid IR");
    module
}

/// The codes of the findings of a module.
pub(crate) fn codes(text: &str) -> Vec<&'static str> {
    read_with(text, &SpirvOptions::default()).findings.iter().map(|finding| finding.code.id).collect()
}

/// A module of a stage with an entry point: annotations and declarations, and the code of its block.
pub(crate) fn entry(stage: ShaderStage, interface: &str, declarations: &str, code: &str) -> String {
    let model = match stage {
        ShaderStage::Vertex => "Vertex",
        ShaderStage::TessCtrl => "TessellationControl",
        ShaderStage::TessEval => "TessellationEvaluation",
        ShaderStage::Geometry => "Geometry",
        ShaderStage::Fragment => "Fragment",
        _ => "GLCompute",
    };
    format!(
        "OpEntryPoint {model} %main \"main\" {interface}
        {declarations}
        %main = OpFunction %void 0 %fn
        %start = OpLabel
        {code}
        OpReturn
        OpFunctionEnd"
    )
}
