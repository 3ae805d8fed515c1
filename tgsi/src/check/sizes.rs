//! Rules about sizes. A shader that exceeds a limit is not checked further, because the limit bounds the work on it.

use super::{Findings, Rule};
use crate::shader::Shader;
use tgsi_diagnostics::Focus;

/// Applies the rules; returns whether a limit is exceeded.
pub(super) fn check(shader: &Shader, findings: &mut Findings) -> bool {
    let limits = findings.limits;
    let before = findings.diagnostics.len();
    let first_beyond = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    if let Some(beyond) = shader.instructions.get(first_beyond(limits.instructions)) {
        findings.report(Rule::TooManyInstructions, (beyond.span, Focus::Mnemonic), || {
            format!("{} instructions; {} is the limit", shader.instructions.len(), limits.instructions)
        });
    }
    if let Some(beyond) = shader.immediates.get(first_beyond(limits.immediates)) {
        findings.report(Rule::TooManyImmediates, beyond.span, || {
            format!("{} immediates; {} is the limit", shader.immediates.len(), limits.immediates)
        });
    }
    let declarations = shader.declarations.iter().map(|d| d.span).chain(shader.properties.iter().map(|p| p.span));
    let count = shader.declarations.len().saturating_add(shader.properties.len());
    if count as u64 > limits.declarations
        && let Some(beyond) = declarations.clone().nth(first_beyond(limits.declarations))
    {
        findings.report(Rule::TooManyDeclarations, beyond, || {
            format!("{count} declarations and properties; {} is the limit", limits.declarations)
        });
    }
    let mut registers = [0u64; 15];
    for d in shader.declarations.iter().filter(|d| d.first <= d.last) {
        let sum = &mut registers[d.file as usize];
        let within = *sum <= limits.registers;
        *sum = sum.saturating_add(u64::from(d.last - d.first) + 1);
        if within && *sum > limits.registers {
            findings.report(Rule::TooManyRegisters, (d.span, Focus::Register), || {
                format!("more than {} registers of file {}", limits.registers, d.file)
            });
        }
    }
    findings.diagnostics.len() > before
}
