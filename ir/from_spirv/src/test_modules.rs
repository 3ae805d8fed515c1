//! Modules as text, for unit tests: `%a = OpFAdd %float %b %c`, a line for each instruction. `%void`, `%float`, `%v4`,
//! and the like need no declaration.

use std::str::FromStr;

use rspirv::grammar::INSTRUCTION_TABLE;
use rustc_hash::FxHashMap;
use tgsi_ir::shader::ShaderStage;

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

/// The words of a string.
fn string(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() + 4) / 4 * 4, 0);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// The words of an instruction.
fn assemble(line: &str, ids: &mut FxHashMap<String, u32>) -> Vec<u32> {
    let mut id = |name: &str| {
        let next = ids.len() as u32 + 1;
        *ids.entry(name.to_owned()).or_insert(next)
    };
    let (result, rest) = line.split_once(" = ").map_or((None, line), |(result, rest)| (Some(result), rest));
    let mut tokens = rest.split_whitespace();
    let name = tokens.next().and_then(|name| name.strip_prefix("Op")).expect("an opcode");
    let inst = INSTRUCTION_TABLE.iter().find(|inst| inst.opname == name).unwrap_or_else(|| panic!("{name}"));
    let has_type = inst.operands.iter().any(|operand| operand.kind == rspirv::grammar::OperandKind::IdResultType);
    let mut words = Vec::new();
    if has_type {
        words.push(id(tokens.next().expect("a type")));
    }
    words.extend(result.map(&mut id));
    for token in tokens {
        if token.starts_with('%') {
            words.push(id(token));
        } else if let Some(text) = token.strip_prefix('"') {
            words.extend(string(text.trim_end_matches('"')));
        } else if let Ok(number) = token.parse::<u32>() {
            words.push(number);
        } else if let Ok(number) = token.parse::<f32>() {
            words.push(number.to_bits());
        } else {
            words.push(enumerant(token).unwrap_or_else(|| panic!("{token}")));
        }
    }
    words.insert(0, (words.len() as u32 + 1) << 16 | inst.opcode as u32);
    words
}

/// The bytes of a module. Names and decorations precede types, so that text may begin with them.
pub(crate) fn module(text: &str) -> Vec<u8> {
    let mut ids = FxHashMap::default();
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let all = lines(text);
    let is_annotation = |line: &&String| {
        let op = line.split(" = ").last().unwrap_or_default();
        ["OpCapability", "OpEntry", "OpExecution", "OpName", "OpMember", "OpDecorate"].iter().any(|n| op.starts_with(n))
    };
    let (first, rest): (Vec<&String>, Vec<&String>) = all.iter().partition(is_annotation);
    let types = lines(TYPES);
    let mut words: Vec<u32> = Vec::new();
    for line in first.into_iter().chain(&types).chain(rest) {
        words.extend(assemble(line, &mut ids));
    }
    let mut all = vec![0x0723_0203, 0x0001_0500, 0, ids.len() as u32 + 1, 0];
    all.extend(words);
    all.iter().flat_map(|word| word.to_le_bytes()).collect()
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
