//! Rules about properties: values, stages, presence.

use super::{Findings, Rule, note};
use crate::limits;
use crate::shader::Shader;
use crate::tables::{Primitive, Processor, PropertyName};
use tgsi_diagnostics::Focus;

/// Applies the rules.
pub(super) fn check(shader: &Shader, findings: &mut Findings) {
    let mut seen = [None; 256];
    for property in &shader.properties {
        let (name, span) = (property.name, property.span);
        match seen[name as usize] {
            None => seen[name as usize] = Some(span),
            Some(first) => {
                let position = (span, Focus::Word(name.name()));
                let finding =
                    findings.report(Rule::RepeatedProperty, position, || format!("{name} is set more than once"));
                note(finding, first, Focus::Word(name.name()), "set here first");
            }
        }
        if property.data.len() != 1 {
            let words = property.data.len();
            findings.report(Rule::PropertyWords, span, || format!("{name} has {words} words"));
        }
        if !stages(name).is_none_or(|stages| stages.contains(&shader.processor)) {
            let stage = shader.processor;
            findings.report(Rule::PropertyStage, (span, Focus::Word(name.name())), || {
                format!("{name} in a {stage} shader")
            });
        }
        let value = property.data.first().copied().unwrap_or(0);
        match judge(name, value) {
            Verdict::Fits => {}
            Verdict::Unusual => {
                findings.report(Rule::UnusualPropertyValue, (span, Focus::Last), || {
                    format!("{value} is an unusual value of {name}")
                });
            }
            Verdict::Wrong => {
                findings.report(Rule::PropertyValue, (span, Focus::Last), || format!("{value} is invalid for {name}"));
            }
        }
    }

    let distances = |name| shader.property(name).unwrap_or(0);
    let clip = distances(PropertyName::NumClipdistEnabled);
    let cull = distances(PropertyName::NumCulldistEnabled);
    if clip.saturating_add(cull) > limits::MAX_CLIP_AND_CULL_DISTANCES && clip.max(cull) <= 8 {
        let is_distance = |name| matches!(name, PropertyName::NumClipdistEnabled | PropertyName::NumCulldistEnabled);
        let mut both = shader.properties.iter().rev().filter(|p| is_distance(p.name));
        let last = both.next();
        let finding =
            findings.report(Rule::PropertyValue, (last.map(|p| p.span).unwrap_or_default(), Focus::Last), || {
                format!("{clip} clip and {cull} cull distances; 8 in all is the limit")
            });
        if let (Some(finding), Some(other)) = (finding, both.find(|p| last.is_some_and(|last| last.name != p.name))) {
            finding.note(other.span, Focus::Last, "and these");
        }
    }

    let needed: &[PropertyName] = match shader.processor {
        Processor::Geometry => {
            &[PropertyName::GsInputPrimitive, PropertyName::GsOutputPrimitive, PropertyName::GsMaxOutputVertices]
        }
        Processor::TessControl => &[PropertyName::TcsVerticesOut],
        Processor::TessEval => &[PropertyName::TesPrimMode],
        _ => &[],
    };
    for &name in needed {
        if seen[name as usize].is_none() {
            findings.report(Rule::MissingProperty, shader.processor_span, || format!("{name} is not set"));
        }
    }
}

enum Verdict {
    Fits,
    Unusual,
    Wrong,
}

fn judge(name: PropertyName, value: u32) -> Verdict {
    use PropertyName::*;
    let (fits, unusual) = match name {
        GsInputPrimitive | GsOutputPrimitive => (Primitive::from_value(value).is_some(), false),
        GsMaxOutputVertices => ((1..=limits::MAX_GEOMETRY_OUTPUT_VERTICES).contains(&value), true),
        GsInvocations => ((1..=limits::MAX_GEOMETRY_INVOCATIONS).contains(&value), value != 0),
        TcsVerticesOut => ((1..=limits::MAX_PATCH_VERTICES).contains(&value), value == 0),
        FsCoordOrigin | FsCoordPixelCenter => (value <= 1, false),
        FsDepthLayout => (value <= 4, false),
        TesPrimMode => (matches!(value, 1 | 4 | 7), false),
        TesSpacing => (value <= 2, false),
        NumClipdistEnabled | NumCulldistEnabled => (value <= limits::MAX_CLIP_AND_CULL_DISTANCES, false),
        NextShader => (Processor::from_value(value).is_some(), false),
        FsColor0WritesAllCbufs
        | VsProhibitUcps
        | VsWindowSpacePosition
        | TesVertexOrderCw
        | TesPointMode
        | FsEarlyDepthStencil
        | FsPostDepthCoverage
        | LegacyMathRules
        | LayerViewportRelative
        | SeparableProgram => (value <= 1, true),
        CsFixedBlockWidth | CsFixedBlockHeight | CsFixedBlockDepth => (value <= 0xffff, true),
        VsBlitSgprsAmd | CsUserDataComponentsAmd | FsBlendEquationAdvanced => (true, true),
    };
    match (fits, unusual) {
        (true, _) => Verdict::Fits,
        (false, true) => Verdict::Unusual,
        (false, false) => Verdict::Wrong,
    }
}

/// Returns the stages in which a property has a meaning, or none if that is all.
fn stages(name: PropertyName) -> Option<&'static [Processor]> {
    use Processor::*;
    use PropertyName::*;
    Some(match name {
        GsInputPrimitive | GsOutputPrimitive | GsMaxOutputVertices | GsInvocations => &[Geometry],
        FsCoordOrigin
        | FsCoordPixelCenter
        | FsColor0WritesAllCbufs
        | FsDepthLayout
        | FsEarlyDepthStencil
        | FsPostDepthCoverage
        | FsBlendEquationAdvanced => &[Fragment],
        VsWindowSpacePosition | VsBlitSgprsAmd => &[Vertex],
        VsProhibitUcps | NumClipdistEnabled | NumCulldistEnabled | LayerViewportRelative => {
            &[Vertex, TessEval, Geometry, Mesh]
        }
        TcsVerticesOut => &[TessControl],
        TesPrimMode | TesSpacing | TesVertexOrderCw | TesPointMode => &[TessEval],
        CsFixedBlockWidth | CsFixedBlockHeight | CsFixedBlockDepth | CsUserDataComponentsAmd => &[Compute, Task, Mesh],
        NextShader | LegacyMathRules | SeparableProgram => return None,
    })
}
