//! Rules about the order of a shader: nesting of blocks, END, labels, positions of declarations, opcodes by stage.

use super::{Findings, Rule, expansion, note};
use crate::shader::{ItemKind, Shader, ShaderItem};
use crate::structure::{StructureError, structure};
use crate::tables::{BlockPart, Opcode, Processor};
use tgsi_diagnostics::Focus;
use tgsi_diagnostics::Span;

/// Applies the rules.
pub(super) fn check(shader: &Shader, findings: &mut Findings) {
    // The tables have numbers for these stages, but TGSI lacks their specific features: outputs and launch of a mesh.
    if matches!(shader.processor, Processor::Task | Processor::Mesh) {
        findings.report(Rule::UnsupportedStage, shader.processor_span, || {
            format!("TGSI cannot express {} shaders", shader.processor)
        });
    }
    // If the blocks are malformed, their contents are a guess.
    if nesting(shader, findings) || !shader.instructions.iter().any(|i| i.opcode == Opcode::End) {
        end(shader, findings);
    }
    order(shader, findings);
    for (number, instruction) in shader.instructions.iter().enumerate() {
        let opcode = instruction.opcode;
        if !stages(opcode).is_none_or(|stages| stages.contains(&shader.processor)) {
            let position = (instruction.span, Focus::Mnemonic);
            let finding = findings.report(Rule::StageOpcode, position, || {
                let name = shader.written.mnemonic(number as u32, opcode);
                format!("{name} is not allowed in {} shaders", shader.processor)
            });
            note(finding, shader.processor_span, Focus::Whole, "the stage");
        }
        if let Some(label) = instruction.label
            && label as usize > shader.instructions.len()
            && opcode != Opcode::Cal
        {
            findings.report(Rule::LabelOutOfRange, instruction.span, || {
                let (label, number) = (shader.written.number(label), shader.written.number(number as u32));
                format!("label {label} of instruction {number} is past the last instruction")
            });
        }
    }
}

/// Returns whether the blocks are well nested.
fn nesting(shader: &Shader, findings: &mut Findings) -> bool {
    let errors = match structure(shader) {
        Ok(structure) => {
            let limit = findings.limits.nesting;
            if u64::from(structure.max_depth) > limit {
                let span = deepest(shader, limit).unwrap_or_default();
                findings.report(Rule::NestingTooDeep, (span, Focus::Mnemonic), || {
                    format!("blocks are nested {} deep; {} is the limit", structure.max_depth, limit)
                });
            }
            expansion::check(shader, &structure, findings);
            return true;
        }
        Err(errors) => errors,
    };
    let at = |number: u32| {
        let instruction = shader.instructions.get(number as usize)?;
        Some((shader.written.mnemonic(number, instruction.opcode), instruction.span))
    };
    for error in errors {
        let rule = match error {
            StructureError::Unopened { .. } => Rule::BlockNotOpened,
            StructureError::Unclosed { .. } => Rule::BlockNotClosed,
            StructureError::Crossed { .. } => Rule::BlocksCrossed,
            StructureError::Repeated { .. } => Rule::DividedTwice,
            StructureError::BadCall { .. } => Rule::BadCall,
            StructureError::Recursion { .. } => Rule::Recursion,
            StructureError::NestedSubroutine { .. } => Rule::NestedSubroutine,
        };
        let message = || error.message(&shader.written);
        let Some(finding) = findings.report(rule, (error.span(), Focus::Mnemonic), message) else {
            continue;
        };
        let (other, says): (_, fn(&str) -> String) = match error {
            StructureError::Crossed { open_instruction, .. } => {
                (Some(open_instruction), |open| format!("this {open} is still open"))
            }
            StructureError::Unopened { inside, .. } => {
                (inside, |open| format!("the open block is that of this {open}"))
            }
            StructureError::Repeated { first, .. } => (Some(first), |opcode| format!("the first {opcode}")),
            StructureError::NestedSubroutine { inside, .. } => (Some(inside), |open| format!("inside this {open}")),
            StructureError::Recursion { subroutine, .. } => (Some(subroutine), |_| "the called subroutine".to_owned()),
            StructureError::BadCall { target, .. } => (target, |opcode| format!("the label names this {opcode}")),
            StructureError::Unclosed { .. } => (None, |_| String::new()),
        };
        // One old instruction may have become both. A call may be its label's target.
        let is_itself =
            |span: Span| span.start == error.span().start && !matches!(error, StructureError::BadCall { .. });
        if let Some((name, span)) = other.and_then(at).filter(|&(_, span)| !is_itself(span)) {
            finding.note(span, Focus::Mnemonic, says(name));
        }
    }
    false
}

/// Returns the instruction that exceeds the maximum nesting depth.
fn deepest(shader: &Shader, limit: u64) -> Option<Span> {
    let mut depth = 0u64;
    let beyond = shader.instructions.iter().find(|i| {
        match i.opcode.block() {
            Some(BlockPart::Opens) => depth += 1,
            Some(BlockPart::Closes) => depth = depth.saturating_sub(1),
            Some(BlockPart::Divides) | None => {}
        }
        depth > limit
    });
    beyond.map(|i| i.span)
}

/// Checks that there is one END outside blocks, followed only by subroutines. An END inside a block stops invocations
/// early. Old compute kernels consist of subroutines only.
fn end(shader: &Shader, findings: &mut Findings) {
    let mut depth = 0u32;
    let mut ended = None;
    let mut outermost = None;
    let mut main_instructions = 0usize;
    let mut reported = false;
    for (number, instruction) in shader.instructions.iter().enumerate() {
        match instruction.opcode.block() {
            Some(BlockPart::Opens) => {
                if depth == 0 {
                    outermost = Some(instruction.span);
                    main_instructions += usize::from(instruction.opcode != Opcode::Bgnsub);
                }
                depth += 1;
                if !(depth == 1 && ended.is_some() && instruction.opcode != Opcode::Bgnsub) {
                    continue;
                }
            }
            Some(BlockPart::Closes) => {
                depth = depth.saturating_sub(1);
                continue;
            }
            _ if depth > 0 && instruction.opcode == Opcode::End => {
                let finding =
                    findings.report(Rule::EndInsideBlock, instruction.span, || "END inside a block".to_owned());
                if let (Some(finding), Some(outermost)) = (finding, outermost) {
                    finding.note(outermost, Focus::Mnemonic, "the outermost block begins here");
                }
                continue;
            }
            _ if depth > 0 => continue,
            _ => main_instructions += 1,
        }
        if let Some(end) = ended
            && !reported
        {
            let name = shader.written.mnemonic(number as u32, instruction.opcode);
            let finding = findings.report(Rule::CodeAfterEnd, (instruction.span, Focus::Mnemonic), || {
                format!("{name} after END, outside of a subroutine")
            });
            note(finding, end, Focus::Mnemonic, "the main program ends here");
            reported = true;
        }
        if instruction.opcode == Opcode::End {
            ended.get_or_insert(instruction.span);
        }
    }
    if ended.is_some() {
        return;
    }
    // The last item, if there is no instruction.
    let items = shader.declarations.iter().map(|d| d.span).chain(shader.immediates.iter().map(|i| i.span));
    let last = items.chain(shader.properties.iter().map(|p| p.span)).max_by_key(|span| span.end);
    let span = shader.instructions.last().map(|i| i.span).or(last).unwrap_or(shader.processor_span);
    let only_subroutines = main_instructions == 0 && shader.instructions.iter().any(|i| i.opcode == Opcode::Bgnsub);
    if only_subroutines {
        findings.report(Rule::NoMainProgram, span, || "the shader consists of subroutines only".to_owned());
    } else {
        findings.report(Rule::MissingEnd, span, || "there is no END".to_owned());
    }
}

fn order(shader: &Shader, findings: &mut Findings) {
    let mut kinds = shader.order.iter().skip_while(|&&kind| kind != ItemKind::Instruction);
    if kinds.all(|&kind| kind == ItemKind::Instruction) {
        return;
    }
    let mut begun = None;
    for item in shader.items() {
        let (what, span) = match item {
            ShaderItem::Instruction(_, instruction) => {
                begun.get_or_insert(instruction.span);
                continue;
            }
            ShaderItem::Declaration(_, d) => ("declaration", d.span),
            ShaderItem::Immediate(_, i) => ("immediate", i.span),
            ShaderItem::Property(_, p) => ("property", p.span),
        };
        if let Some(first) = begun {
            let finding =
                findings.report(Rule::LateDeclaration, span, || format!("{what} after the first instruction"));
            note(finding, first, Focus::Mnemonic, "the first instruction");
        }
    }
}

/// Returns the stages that support an opcode, or none if all do.
fn stages(opcode: Opcode) -> Option<&'static [Processor]> {
    use Opcode::*;
    match opcode {
        Ddx | Ddy | DdxFine | DdyFine | Kill | KillIf | Demote | ReadHelper | Fbfetch | InterpCentroid
        | InterpSample | InterpOffset => Some(&[Processor::Fragment]),
        Emit | Endprim => Some(&[Processor::Geometry]),
        Barrier => Some(&[Processor::Compute, Processor::TessControl, Processor::Task, Processor::Mesh]),
        _ => None,
    }
}
