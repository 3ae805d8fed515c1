//! Rules about textures, images and buffers: targets, views, offsets, access.

use super::declared::DeclaredRegisters;
use super::role::computes;
use super::{Findings, Rule, note, position};
use crate::shader::{Instruction, Shader};
use crate::tables::{File, Opcode, TextureTarget};
use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, Focus};

/// Applies the rules.
pub(super) fn check(shader: &Shader, declared: &DeclaredRegisters<'_>, findings: &mut Findings) {
    let mut families: [Option<Span>; 2] = [None; 2];
    for instruction in &shader.instructions {
        let info = instruction.opcode.info();
        if computes(info.output_mode) && instruction.texture.is_none() && instruction.memory.is_none() {
            continue;
        }
        let family = if info.is_sample_family || matches!(instruction.opcode, Opcode::Sviewinfo | Opcode::Lod) {
            Some(1)
        } else {
            info.is_tex.then_some(0)
        };
        if let Some(family) = family
            && families[family].replace(instruction.span).is_none()
            && let Some(other) = families[1 - family]
        {
            let opcode = instruction.opcode;
            let finding = findings.report(Rule::MixedSampling, (instruction.span, Focus::Mnemonic), || {
                format!("{opcode} belongs to the other family than the textures before it")
            });
            note(finding, other, Focus::Mnemonic, "of the other family");
        }
        texture(instruction, declared, findings);
        memory(instruction, declared, findings);
    }
}

/// Whether an opcode supports a target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Support {
    /// The lookup is defined.
    Defined,
    /// The form with an extra operand is needed.
    ExtraOperand,
    /// Not in the tables of targets, but used by blit shaders.
    CubeFetch,
    /// The lookup has no meaning.
    Undefined,
}

/// Looks up an opcode and a target in the table.
pub fn support(opcode: Opcode, target: TextureTarget) -> Support {
    use Opcode::*;
    use TextureTarget::*;
    let when = |defined: bool| if defined { Support::Defined } else { Support::Undefined };
    // Bias and level are in w unless the coordinates or the reference value occupy it.
    let full = matches!(target, Shadow2DArray | ShadowCube | CubeArray | ShadowCubeArray);
    let unsampled = matches!(target, Buffer | Texture2DMsaa | Texture2DArrayMsaa | Unknown);
    match opcode {
        Samp2hnd | Txq | Txqs => when(target != Unknown),
        Txf | TxfLz | SampleI | SampleIMs if matches!(target, Cube | ShadowCube | CubeArray | ShadowCubeArray) => {
            Support::CubeFetch
        }
        Txf | TxfLz | SampleI | SampleIMs => when(target != Unknown),
        _ if unsampled => Support::Undefined,
        Tex if target == ShadowCubeArray => Support::ExtraOperand,
        TexLz if target == ShadowCubeArray => Support::Undefined,
        Txp => when(!target.is_array() && target != ShadowCube),
        Txb | Txl if full => Support::ExtraOperand,
        Txd => when(target != ShadowCubeArray),
        Tg4 | Gather4 => when(!matches!(target, Texture1D | Texture3D | Shadow1D | Texture1DArray | Shadow1DArray)),
        _ => Support::Defined,
    }
}

fn texture(i: &Instruction, declared: &DeclaredRegisters<'_>, findings: &mut Findings) {
    let info = i.opcode.info();
    let opcode = i.opcode;
    if info.is_sample_family || opcode == Opcode::Lod {
        sampled(i, declared, findings);
    }
    let Some(texture) = &i.texture else {
        if info.is_tex {
            findings.report(Rule::MissingTarget, (i.span, Focus::Mnemonic), || {
                format!("{opcode} without a texture target")
            });
        }
        return;
    };
    if !info.is_tex {
        if !info.is_sample_family {
            findings
                .report(Rule::StrayTexture, (i.span, Focus::Mnemonic), || format!("{opcode} with a texture target"));
        }
        return;
    }
    let target = texture.target;
    supported(opcode, target, (i.span, Focus::Word(target.name())), findings);
    let offsets = texture.offsets.len();
    if offsets > 1 && !(opcode == Opcode::Tg4 && offsets == 4) {
        findings.report(Rule::OffsetCount, (i.span, Focus::Mnemonic), || format!("{opcode} with {offsets} offsets"));
    }
    if let Some(sampler) = i.src.last()
        && sampler.register.file == File::Sampler
        && sampler.register.indirect.is_none()
        && let Some(declaration) = declared.declaration(File::SamplerView, sampler.register.index)
        && let Some(view) = declaration.sampler_view
        && view.target != target
        && view.target != TextureTarget::Unknown
        // Sizes do not depend on the comparison, and TXF ignores it.
        && !matches!(opcode, Opcode::Txq | Opcode::Txqs | Opcode::Txf | Opcode::TxfLz)
    {
        let index = sampler.register.index;
        let finding = findings.report(Rule::ViewTarget, (i.span, Focus::Word(target.name())), || {
            format!("{opcode} with {target}, but SVIEW[{index}] is {}", view.target)
        });
        note(finding, declaration.span, Focus::Word(view.target.name()), "the view is declared here");
    }
}

/// Reports that an opcode does not support a target.
fn supported(
    opcode: Opcode,
    target: TextureTarget,
    position: (Span, Focus),
    findings: &mut Findings,
) -> Option<&mut Diagnostic> {
    let (rule, what) = match support(opcode, target) {
        Support::Defined => return None,
        Support::ExtraOperand => (Rule::ExtraOperandTarget, "cannot access"),
        Support::CubeFetch => (Rule::CubeFetch, "of single texels of"),
        Support::Undefined => (Rule::TextureTarget, "is not defined for"),
    };
    findings.report(rule, position, || format!("{opcode} {what} {target}"))
}

/// Checks an instruction of the `SAMPLE` family, which uses the target of the view.
fn sampled(i: &Instruction, declared: &DeclaredRegisters<'_>, findings: &mut Findings) {
    if let Some(target) = i.texture.as_ref().map(|texture| texture.target)
        && target != TextureTarget::Unknown
    {
        supported(i.opcode, target, (i.span, Focus::Word(target.name())), findings);
        return;
    }
    // With an index, the first of the views that it may address is checked.
    if let Some(view) = i.src.get(1)
        && view.register.file == File::SamplerView
        && let index = view.register.index
        && let Some(declaration) = declared.declaration(File::SamplerView, index)
        && let Some(target) = declaration.sampler_view.map(|view| view.target)
        && target != TextureTarget::Unknown
        && let Some(finding) = supported(i.opcode, target, (position(view.span, i), Focus::Whole), findings)
    {
        finding.note(declaration.span, Focus::Word(target.name()), "the view is declared here");
    }
}

fn memory(i: &Instruction, declared: &DeclaredRegisters<'_>, findings: &mut Findings) {
    let opcode = i.opcode;
    let info = opcode.info();
    if !(info.has_memory || info.is_store) {
        // MEMBAR may have qualifiers.
        if i.memory.is_some() && opcode != Opcode::Membar {
            findings.report(Rule::StrayMemory, (i.span, Focus::Mnemonic), || format!("{opcode} with a memory word"));
        }
        return;
    }
    let resource = match opcode {
        Opcode::Store => i.dst.first().map(|d| (d.register, d.span)),
        Opcode::Barrier | Opcode::Samp2hnd => None,
        _ => i.src.first().map(|s| (s.register, s.span)),
    };
    let Some((register, span)) = resource.filter(|(register, _)| register.file == File::Image) else { return };
    let span = position(span, i);
    if let Some(target) = i.memory.map(|m| m.target).filter(|t| t.is_shadow() || *t == TextureTarget::Unknown) {
        findings.report(Rule::TextureTarget, (i.span, Focus::Word(target.name())), || {
            format!("{opcode} is not defined for {target}")
        });
    }
    if register.indirect.is_some() {
        return;
    }
    let Some(declaration) = declared.declaration(File::Image, register.index) else { return };
    let Some(image) = declaration.image else { return };
    let index = register.index;
    if info.is_store && !image.writable {
        let finding = findings.report(Rule::ImageNotWritable, span, || format!("{opcode} writes IMAGE[{index}]"));
        note(finding, declaration.span, Focus::Register, "declared without WR");
    }
    if let Some(target) = i.memory.map(|m| m.target)
        && target != image.target
    {
        let position =
            if i.span.end > i.span.start { (i.span, Focus::Word(target.name())) } else { (span, Focus::Whole) };
        let finding = findings.report(Rule::ImageTarget, position, || {
            format!("{opcode} with {target}, but IMAGE[{index}] is {}", image.target)
        });
        note(finding, declaration.span, Focus::Word(image.target.name()), "the image is declared here");
    }
}
