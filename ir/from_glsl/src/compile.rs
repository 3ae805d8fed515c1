//! The phases in order: text to IR.

use tgsi_diagnostics::{Diagnostic, Span};
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::table::{PassId, PassSet};
use tgsi_ir::passes::{self, pipeline};
use tgsi_ir::shader::{Shader, ShaderStage};

use crate::analyze::{SemanticError, UnitInfo, analyze, find_errors};
use crate::assign::assign;
use crate::emit::{EmitError, emit};
use crate::findings::Findings;
use crate::interface::Interface;
use crate::options::GlslOptions;
use crate::parse::parse;
use crate::preprocess::{LineMap, preprocess};
use crate::symbol::Interner;
use crate::token::TokenRange;

/// A shader that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Module {
    /// The IR, in SSA form, with inputs and outputs as variables and uniforms in registers.
    pub shader: Shader,
    /// By [origin](tgsi_ir::Body::origin): the statement in the text.
    pub origins: Vec<Span>,
    /// The values that the application sets and other stages share.
    pub interface: Interface,
}

/// The result of reading a text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The module; `None` if there are errors.
    pub module: Option<Module>,
    /// Errors and warnings.
    pub findings: Vec<Diagnostic>,
}

/// Checks a unit of a stage, without the requirements of a complete shader: it may lack `main`, and call functions that
/// are defined in another unit.
pub fn check(text: &[u8], stage: ShaderStage, options: &GlslOptions) -> Vec<Diagnostic> {
    run(text, stage, options, false).findings
}

/// Reads a shader of a stage.
pub fn compile(text: &[u8], stage: ShaderStage, options: &GlslOptions) -> Compiled {
    run(text, stage, options, true)
}

fn run(text: &[u8], stage: ShaderStage, options: &GlslOptions, is_complete: bool) -> Compiled {
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let unit = preprocess(text, options, &mut interner, &mut findings);
    let ast = parse(&unit.tokens, unit.version, &unit.extensions, &options.limits, &interner, &mut findings);
    let info = UnitInfo {
        tokens: &unit.tokens,
        version: unit.version,
        enabled: &unit.extensions,
        stage,
        invariant_all: unit.invariant_all,
        max_registers: options.limits.registers,
    };
    let program = analyze(&ast, info, &mut interner, &mut findings);
    let report = |findings: &mut Findings, error: SemanticError, tokens: TokenRange| {
        findings.add_at(&error, tokens, &unit.tokens, &interner);
    };
    let missing = if is_complete { find_errors(&program, &interner) } else { Vec::new() };
    for (error, tokens) in missing {
        report(&mut findings, error, tokens);
    }
    let main = program.main.filter(|_| is_complete && !findings.has_errors());
    let emitted = main.map(|main| emit(&program, &interner, main));
    let emitted = match emitted {
        Some(Ok(emitted)) => emitted,
        Some(Err(error)) => {
            let (error, tokens) = match error {
                EmitError::Undefined(function, tokens) => {
                    let name = interner.spelling(program.function(function).name).to_owned();
                    (SemanticError::FunctionUndefined { name }, tokens)
                }
                EmitError::TooManyCopies(tokens) => (
                    SemanticError::Limit { what: "copies of functions", limit: crate::emit::MAX_SPECIALIZATIONS },
                    tokens,
                ),
            };
            report(&mut findings, error, tokens);
            return Compiled { module: None, findings: with_lines(findings, &unit.lines) };
        }
        None => return Compiled { module: None, findings: with_lines(findings, &unit.lines) },
    };
    let mut shader = emitted.shader;
    // Registers and units are assigned to the remaining uniforms, and only then replace them.
    let resources = PassSet::of_numbers(&[PassId::lower_samplers as u32, PassId::lower_explicit_access as u32]);
    pipeline::into_ssa_with(&mut shader, &mut Passes::default().without(resources));
    let interface = assign(&mut shader, &program, &interner, &emitted.interface);
    passes::lower_samplers(&mut shader);
    passes::lower_explicit_access(&mut shader);
    let origins = emitted.origins.iter().map(|&tokens| unit.tokens.span(tokens)).collect();
    Compiled { module: Some(Module { shader, origins, interface }), findings: with_lines(findings, &unit.lines) }
}

/// The findings, with the numbers that `#line` gives their lines, where these differ.
fn with_lines(findings: Findings, lines: &LineMap) -> Vec<Diagnostic> {
    let mut findings = findings.into_vec();
    if lines.has_changes() {
        for finding in findings.iter_mut().filter(|finding| finding.span.end > finding.span.start) {
            let (line, source) = lines.line(finding.span.start);
            if (line, source) != (lines.physical_line(finding.span.start), 0) {
                finding.message.push_str(&format!(" (line {line} of source {source} by `#line`)"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(text: &str, stage: ShaderStage) -> Module {
        let compiled = compile(text.as_bytes(), stage, &GlslOptions::default());
        let findings: Vec<String> =
            compiled.findings.iter().map(|finding| format!("{finding} {:?}", finding.span)).collect();
        compiled.module.unwrap_or_else(|| panic!("{text}: {findings:#?}"))
    }

    #[test]
    fn a_fragment_shader_becomes_valid_ir() {
        let text = "uniform vec4 tint; uniform sampler2D image; varying vec2 at;\n\
                    vec4 twice(vec4 a) { return a * 2.0; }\n\
                    void main() {\n  vec4 c = texture2D(image, at);\n  if (c.a < 0.5) discard;\n\
                    for (int i = 0; i < 4; i++) c.xy += float(i) * at.yx;\n  gl_FragColor = twice(c) * tint;\n}\n";
        let module = module(text, ShaderStage::Fragment);
        let errors = tgsi_ir::validate::find_errors(&module.shader);
        assert!(errors.is_empty(), "{errors:?}\n{}", tgsi_ir::text::print(&module.shader));
        assert_eq!(module.interface.uniforms.len(), 1);
        assert_eq!(module.interface.samplers.len(), 1);
    }

    #[test]
    fn matrices_and_structs_are_whole_in_the_interface() {
        let text = "attribute mat3 turn; uniform struct { mat2 m; float f; } parts; varying mat2 product;\n\
                    void main() { product = parts.m * parts.f; gl_Position = vec4(turn[1], product[0][0]); }\n";
        let mut module = module(text, ShaderStage::Vertex);
        let names = |list: &[crate::InterfaceVariable]| {
            list.iter()
                .map(|variable| format!("{} {} {}", variable.ty, variable.name, variable.register))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&module.interface.inputs), ["mat3 turn 0"]);
        assert_eq!(names(&module.interface.outputs), ["vec4 gl_Position 0", "mat2 product 1"]);
        assert_eq!((module.interface.uniforms[0].register, module.interface.uniforms[0].num_registers), (0, 3));
        // The compiler's pipeline splits them by their registers.
        pipeline::into_ssa(&mut module.shader);
        let registers = |mode| {
            let variables = module.shader.variables.values().filter(|data| data.mode == mode);
            variables.map(|data| (data.name.clone(), data.driver_location)).collect::<Vec<_>>()
        };
        let outputs = registers(tgsi_ir::variable::VariableModes::SHADER_OUT);
        assert_eq!(registers(tgsi_ir::variable::VariableModes::SHADER_IN).len(), 1);
        assert!(outputs.iter().any(|(_, register)| *register == 1), "{outputs:?}");
    }
}
