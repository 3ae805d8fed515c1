//! Rules about what there is too much of. A shader that breaks one is not looked at further: whoever set the limit does not want to spend time on it.

use super::{Findings, Rule};
use crate::diagnostic::Focus;
use crate::shader::Shader;
use crate::tables::{File, Opcode, Processor};

/// Applies the rules; returns whether one is broken.
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
    stores(shader, findings);
    merges(shader, findings);
    findings.diagnostics.len() > before
}

/// What would come of outputs: they are stored at the end, at every EMIT, and before every RET of the main program. Tessellation control shaders store at once.
fn stores(shader: &Shader, findings: &mut Findings) {
    if shader.processor == Processor::TessControl {
        return;
    }
    let limit = findings.limits.expansion;
    let outputs = shader.declarations.iter().filter(|d| d.file == File::Output && d.first <= d.last);
    let outputs = outputs.fold(0u64, |sum, d| sum.saturating_add(u64::from(d.last - d.first) + 1));
    // Nearly all shaders have few of one or the other.
    if outputs.saturating_mul(shader.instructions.len() as u64 + 1) <= limit {
        return;
    }
    let main = shader.instructions.iter().take_while(|i| i.opcode != Opcode::Bgnsub);
    let ends = main.filter(|i| matches!(i.opcode, Opcode::Emit | Opcode::Ret));
    let in_subroutines = shader.instructions.iter().skip_while(|i| i.opcode != Opcode::Bgnsub);
    let mut ends = ends.chain(in_subroutines.filter(|i| i.opcode == Opcode::Emit));
    let most = limit.checked_div(outputs).unwrap_or(u64::MAX);
    // One is the end of the shader.
    if most == 0 || ends.nth(usize::try_from(most - 1).unwrap_or(usize::MAX)).is_some() {
        let place =
            shader.declarations.iter().filter(|d| d.file == File::Output).max_by_key(|d| d.last - d.first.min(d.last));
        findings.report(Rule::TooManyStores, (place.map(|d| d.span).unwrap_or_default(), Focus::Register), || {
            format!("{outputs} outputs are stored more often than {most} times; {limit} stores are the limit")
        });
    }
}

/// What would come of temporaries: behind every block those that were written inside of it have a value that depends on the way, behind and in front of a loop as
/// well. How deep blocks nest times how many temporaries are written is a bound.
fn merges(shader: &Shader, findings: &mut Findings) {
    /// Blocks of a loop count for so many others.
    const LOOP: u64 = 4;
    let limit = findings.limits.expansion.saturating_mul(2);
    if (shader.instructions.len() as u64).saturating_mul(LOOP) < limit / 64 {
        return;
    }
    let (mut depth, mut deepest, mut place) = (0u64, 0u64, None);
    let mut written: Vec<bool> = Vec::new();
    let mut count = 0u64;
    for i in &shader.instructions {
        match i.opcode {
            Opcode::If | Opcode::Uif | Opcode::Switch => depth += 1,
            Opcode::Bgnloop => depth += LOOP,
            Opcode::Endif | Opcode::Endswitch => depth = depth.saturating_sub(1),
            Opcode::Endloop => depth = depth.saturating_sub(LOOP),
            _ => {}
        }
        if depth > deepest {
            (deepest, place) = (depth, Some(i.span));
        }
        // Only what is written inside of blocks is merged.
        for dst in i.dst.iter().filter(|dst| depth > 0 && dst.register.file == File::Temporary) {
            let Ok(index) = usize::try_from(dst.register.index) else { continue };
            if written.len() <= index {
                written.resize(index + 1, false);
            }
            count += u64::from(!std::mem::replace(&mut written[index], true));
        }
    }
    if deepest.saturating_mul(count) > limit
        && let Some(place) = place
    {
        findings.report(Rule::TooManyMerges, (place, Focus::Mnemonic), || {
            format!("{count} temporaries are written in blocks as deep as this; they may need more than {limit} values")
        });
    }
}
