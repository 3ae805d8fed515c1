//! Rules about declarations and immediates.

use hashbrown::HashMap;

use super::declared::{DeclaredRegisters, Key, key, outer};
use super::registers::RegisterSet;
use super::{Findings, Rule, note};
use crate::limits;
use crate::shader::{Declaration, Shader};
use crate::tables::{File, MemoryType, Processor, Semantic, TextureTarget};
use tgsi_diagnostics::Focus;
use tgsi_diagnostics::Span;

/// Applies the rules to each declaration and immediate.
pub(super) fn check(shader: &Shader, declared: &DeclaredRegisters<'_>, findings: &mut Findings) {
    for d in &shader.declarations {
        one(shader.processor, d, findings);
    }
    overlaps(shader, findings);
    vertex_and_patch(shader, findings);
    arrays(shader, declared, findings);
    limits_of_files(shader, findings);
    for (number, immediate) in shader.immediates.iter().enumerate() {
        if immediate.words.len() != 4 {
            let words = immediate.words.len();
            findings.report(Rule::ShortImmediate, immediate.span, || format!("IMM[{number}] has {words} words"));
        }
    }
}

/// `FILE[first..last]`, for messages.
fn show(d: &Declaration) -> String {
    let dimension = d.dimension.map(|o| format!("[{o}]")).unwrap_or_default();
    if d.first == d.last {
        format!("{}{dimension}[{}]", d.file, d.first)
    } else {
        format!("{}{dimension}[{}..{}]", d.file, d.first, d.last)
    }
}

fn one(stage: Processor, d: &Declaration, findings: &mut Findings) {
    let mut report = |rule, message: &dyn Fn() -> String| {
        findings.report(rule, (d.span, focus_of(rule, d)), message);
    };
    if d.first > d.last {
        report(Rule::BackwardsRange, &|| format!("range {}..{} ends before it begins", d.first, d.last));
    }
    if matches!(d.file, File::Null | File::Immediate) {
        report(Rule::UndeclarableFile, &|| format!("registers of file {} cannot be declared", d.file));
        return;
    }
    if d.usage_mask & 0xf == 0 {
        report(Rule::EmptyUsageMask, &|| format!("{} has no components", show(d)));
    }
    if d.dimension.is_some() && !matches!(d.file, File::Constant | File::HwAtomic) {
        report(Rule::DeclaredDimension, &|| format!("{} is declared with two indices", show(d)));
    }
    if d.interpolation.is_some() && !(d.file == File::Input && stage == Processor::Fragment) {
        report(Rule::InterpolationIgnored, &|| format!("{} is not interpolated", show(d)));
    }
    if d.semantic.is_some_and(|s| s.streams != [0; 4]) && !(d.file == File::Output && stage == Processor::Geometry) {
        report(Rule::StreamsIgnored, &|| format!("{} belongs to no vertex stream", show(d)));
    }
    if let Some(target) = match d.file {
        File::Image => d.image.map(|i| i.target).filter(|t| t.is_shadow() || *t == TextureTarget::Unknown),
        File::SamplerView => d.sampler_view.map(|v| v.target).filter(|t| *t == TextureTarget::Unknown),
        _ => None,
    } {
        report(Rule::ResourceTarget, &|| format!("{} cannot have target {target}", show(d)));
    }
    if d.file == File::Memory
        && matches!(d.memory_type, MemoryType::Shared | MemoryType::Input)
        && !matches!(stage, Processor::Compute | Processor::Task | Processor::Mesh)
    {
        report(Rule::MemoryStage, &|| format!("{} memory in a {stage} shader", d.memory_type));
    }
    if matches!(d.file, File::Input | File::Output | File::SystemValue) {
        semantic(stage, d, &mut report);
    }
}

/// Returns the relevant token of a declaration for a rule.
fn focus_of(rule: Rule, d: &Declaration) -> Focus {
    match rule {
        Rule::UnusualSemantic | Rule::StageSemantic => {
            d.semantic.map_or(Focus::Register, |s| Focus::Word(s.name.name()))
        }
        Rule::InterpolationIgnored => d.interpolation.map_or(Focus::Register, |i| Focus::Word(i.mode.name())),
        Rule::StreamsIgnored => Focus::Word("STREAM"),
        Rule::ResourceTarget => {
            let target = d.image.map(|i| i.target).or(d.sampler_view.map(|v| v.target));
            target.map_or(Focus::Register, |target| Focus::Word(target.name()))
        }
        Rule::MemoryStage => Focus::Word(d.memory_type.name()),
        _ => Focus::Register,
    }
}

fn semantic(stage: Processor, d: &Declaration, report: &mut dyn FnMut(Rule, &dyn Fn() -> String)) {
    if stage == Processor::Compute && d.file != File::SystemValue {
        report(Rule::StageFile, &|| format!("{} in a compute shader", show(d)));
        return;
    }
    let Some(semantic) = d.semantic.map(|s| s.name) else {
        match (d.file, stage) {
            (File::SystemValue, _) => {
                report(Rule::SystemValueWithoutSemantic, &|| format!("{} has no semantic", show(d)))
            }
            (File::Input, Processor::Vertex) => {}
            _ => report(Rule::MissingSemantic, &|| format!("{} has no semantic", show(d))),
        }
        return;
    };
    let fit = match d.file {
        File::SystemValue => system_value(stage, semantic),
        File::Input => input(stage, semantic),
        _ => output(stage, semantic),
    };
    match fit {
        SemanticFit::Fits => {}
        SemanticFit::Unusual => {
            report(Rule::UnusualSemantic, &|| format!("{semantic} is unusual for {} in a {stage} shader", d.file))
        }
        SemanticFit::Impossible => {
            report(Rule::StageSemantic, &|| format!("{} cannot be {semantic} in a {stage} shader", show(d)))
        }
    }
}

enum SemanticFit {
    Fits,
    Unusual,
    Impossible,
}

fn fit(fits: bool) -> SemanticFit {
    if fits { SemanticFit::Fits } else { SemanticFit::Impossible }
}

fn system_value(stage: Processor, semantic: Semantic) -> SemanticFit {
    use Processor::*;
    use Semantic::*;
    match semantic {
        SubgroupSize | SubgroupInvocation | SubgroupEqMask | SubgroupGeMask | SubgroupGtMask | SubgroupLeMask
        | SubgroupLtMask => SemanticFit::Fits,
        InstanceId | VertexId | VertexIdNoBase | BaseVertex | BaseInstance => fit(stage == Vertex),
        DrawId => fit(matches!(stage, Vertex | Task | Mesh)),
        Position | Face | SampleId | SamplePosition | SampleMask | HelperInvocation | PointCoord => {
            fit(stage == Fragment)
        }
        Layer | ViewportIndex => match stage {
            Fragment => SemanticFit::Unusual,
            _ => SemanticFit::Impossible,
        },
        PrimitiveId => fit(matches!(stage, Geometry | Fragment | TessControl | TessEval)),
        InvocationId => fit(matches!(stage, Geometry | TessControl)),
        VerticesIn => fit(matches!(stage, TessControl | TessEval)),
        TessCoord | TessOuter | TessInner => fit(stage == TessEval),
        TessDefaultOuterLevel | TessDefaultInnerLevel => fit(stage == TessControl),
        GridSize | BlockId | BlockSize | ThreadId | WorkDim | CsUserDataAmd => {
            fit(matches!(stage, Compute | Task | Mesh))
        }
        Color | BackColor | Fog | PointSize | Generic | Normal | EdgeFlag | Stencil | ClipDistance | ClipVertex
        | TexCoord | Patch | ViewportMask => SemanticFit::Impossible,
    }
}

/// Whether a semantic only exists for system values.
fn only_system_value(semantic: Semantic) -> bool {
    use Semantic::*;
    let other_files =
        matches!(semantic, Position | Face | PrimitiveId | PointCoord | SampleMask | TessOuter | TessInner);
    semantic.system_value().is_some() && !other_files
}

fn input(stage: Processor, semantic: Semantic) -> SemanticFit {
    use Processor::*;
    use Semantic::*;
    // Vertex attributes are matched by register; their semantics do not matter.
    if stage == Vertex {
        return if semantic == EdgeFlag { SemanticFit::Fits } else { SemanticFit::Unusual };
    }
    match semantic {
        _ if only_system_value(semantic) => SemanticFit::Impossible,
        Patch | TessOuter | TessInner => fit(stage == TessEval),
        Stencil => SemanticFit::Impossible,
        Face | PointCoord if stage == Fragment => SemanticFit::Fits,
        SampleMask | PointSize | ClipVertex | ViewportMask | BackColor if stage == Fragment => SemanticFit::Unusual,
        SampleMask => SemanticFit::Impossible,
        EdgeFlag | Face | PointCoord | ViewportMask => SemanticFit::Unusual,
        _ => SemanticFit::Fits,
    }
}

fn output(stage: Processor, semantic: Semantic) -> SemanticFit {
    use Processor::*;
    use Semantic::*;
    if stage == Fragment {
        return fit(matches!(semantic, Color | Position | Stencil | SampleMask));
    }
    match semantic {
        _ if only_system_value(semantic) => SemanticFit::Impossible,
        Patch | TessOuter | TessInner => fit(stage == TessControl),
        Stencil | SampleMask => SemanticFit::Impossible,
        EdgeFlag if stage == Vertex => SemanticFit::Fits,
        EdgeFlag | Face | PointCoord => SemanticFit::Unusual,
        _ => SemanticFit::Fits,
    }
}

/// A range of numbers with components, to search for overlaps.
struct DeclaredRange<'a> {
    /// The numbering to which the range belongs.
    space: (File, Option<Semantic>),
    first: Key,
    last: Key,
    components: u8,
    declaration: &'a Declaration,
}

/// Reports registers and semantics that are declared more than once, by a sweep over the claims, component by
/// component.
fn overlaps(shader: &Shader, findings: &mut Findings) {
    let valid = || shader.declarations.iter().filter(|d| d.first <= d.last);
    let registers = valid().map(|d| DeclaredRange {
        space: (d.file, None),
        first: key(outer(d), d.first),
        last: key(outer(d), d.last),
        // Only values have components: a mask does not split a resource or a system value.
        components: if matches!(d.file, File::Input | File::Output | File::Temporary) { d.usage_mask } else { 15 },
        declaration: d,
    });
    sweep(registers.collect(), &mut |earlier, later| {
        let position = (later.span, Focus::Register);
        let message = || format!("{} overlaps {}", show(later), show(earlier));
        if let Some(finding) = findings.report(Rule::OverlappingRegisters, position, message) {
            finding.note(earlier.span, Focus::Register, "declared here first");
        }
    });
    let semantics = valid().filter(|d| matches!(d.file, File::Input | File::Output | File::SystemValue));
    let semantics = semantics.filter_map(|d| {
        let semantic = d.semantic?;
        let first = Key::from(semantic.index);
        // A range of system values shares the slot of its first register.
        let length = if d.file == File::SystemValue { 0 } else { Key::from(d.last - d.first) };
        let space = (d.file, Some(semantic.name));
        Some(DeclaredRange { space, first, last: first + length, components: d.usage_mask, declaration: d })
    });
    sweep(semantics.collect(), &mut |earlier, later| {
        // Overlapping registers were reported above.
        if earlier.first > later.last || later.first > earlier.last {
            let focus = |d: &Declaration| d.semantic.map_or(Focus::Whole, |s| Focus::Word(s.name.name()));
            let finding = findings.report(Rule::DuplicateSemantic, (later.span, focus(later)), || {
                format!("{} shares a semantic with {}", show(later), show(earlier))
            });
            note(finding, earlier.span, focus(earlier), "the other one");
        }
    });
}

/// Reports registers that are declared both per vertex and per patch: these are different variables, and only the
/// former is addressed by vertex.
fn vertex_and_patch(shader: &Shader, findings: &mut Findings) {
    let file = match shader.processor {
        Processor::TessControl => File::Output,
        Processor::TessEval => File::Input,
        _ => return,
    };
    let mut declarations: Vec<&Declaration> =
        shader.declarations.iter().filter(|d| d.file == file && d.first <= d.last).collect();
    declarations.sort_by_key(|d| d.first);
    // The range with the highest end, of each kind.
    let mut reach: [Option<&Declaration>; 2] = [None; 2];
    for declaration in declarations {
        let is_patch = declaration.semantic.is_some_and(|semantic| semantic.name.is_patch());
        if let Some(other) = reach[usize::from(!is_patch)].filter(|other| other.last >= declaration.first) {
            let message = || match is_patch {
                true => format!("{} is per patch, {} per vertex", show(declaration), show(other)),
                false => format!("{} is per vertex, {} per patch", show(declaration), show(other)),
            };
            let finding = findings.report(Rule::VertexAndPatch, (declaration.span, Focus::Register), message);
            note(finding, other.span, Focus::Register, "the other one");
        }
        let own = &mut reach[usize::from(is_patch)];
        if own.is_none_or(|own| own.last < declaration.last) {
            *own = Some(declaration);
        }
    }
}

/// Calls `found` with the declarations of two claims that share a number and a component, once for each later claim.
fn sweep<'a>(mut claims: Vec<DeclaredRange<'a>>, found: &mut dyn FnMut(&'a Declaration, &'a Declaration)) {
    claims.sort_by_key(|c| (c.space, c.first));
    let mut space = None;
    // The claim with the highest end, per component.
    let mut reach: [Option<(Key, &Declaration)>; 4] = [None; 4];
    for claim in &claims {
        if space != Some(claim.space) {
            space = Some(claim.space);
            reach = [None; 4];
        }
        let mut earlier = None;
        for component in (0..4).filter(|c| claim.components & 1 << c != 0) {
            let slot = &mut reach[component];
            match *slot {
                Some((last, declaration)) if last >= claim.first => {
                    earlier.get_or_insert(declaration);
                    if claim.last > last {
                        *slot = Some((claim.last, claim.declaration));
                    }
                }
                _ => *slot = Some((claim.last, claim.declaration)),
            }
        }
        if let Some(other) = earlier {
            // In stream order, which is the order in the vector that contains both.
            if std::ptr::from_ref(other) < std::ptr::from_ref(claim.declaration) {
                found(other, claim.declaration);
            } else {
                found(claim.declaration, other);
            }
        }
    }
}

fn arrays(shader: &Shader, declared: &DeclaredRegisters<'_>, findings: &mut Findings) {
    for d in &shader.declarations {
        if let Some(array) = d.array()
            && let Some(first) = declared.array(d.file, array)
            && !std::ptr::eq(first, d)
        {
            let finding = findings.report(Rule::DuplicateArray, (d.span, Focus::Word("ARRAY")), || {
                format!("array {array} of file {} is already {}", d.file, show(first))
            });
            note(finding, first.span, Focus::Word("ARRAY"), format!("the first array {array}"));
        }
    }
}

/// Reports, once per file, registers (for constants and atomic counters: outer indices) beyond the limits of drivers.
fn limits_of_files(shader: &Shader, findings: &mut Findings) {
    let mut reported = [false; 15];
    for d in &shader.declarations {
        let Some(limit) = limits::driver_registers(d.file) else { continue };
        let highest = match d.file {
            File::Constant | File::HwAtomic => u32::from(d.dimension.unwrap_or(0)),
            _ => u32::from(d.last),
        };
        if highest >= limit && !std::mem::replace(&mut reported[d.file as usize], true) {
            findings.report(Rule::DriverLimit, (d.span, Focus::Register), || {
                format!("{}: drivers support at most {limit}", show(d))
            });
        }
    }
}

/// The registers and resources used by the instructions of a shader.
#[derive(Default)]
pub(super) struct UsedRegisters {
    /// Registers named directly, per file.
    pub(super) direct: [RegisterSet; 15],
    /// Files addressed indirectly without an array number.
    pub(super) files: [bool; 15],
    /// Arrays addressed indirectly.
    pub(super) arrays: HashMap<(File, u16), ()>,
}

/// Reports declarations without any used register. Outputs are results, used or not, and views are used through
/// samplers.
pub(super) fn check_unused(shader: &Shader, used: UsedRegisters, findings: &mut Findings) {
    let immediates_are_known = !findings.may_be_declared(File::Immediate);
    let direct = used.direct.each_ref().map(RegisterSet::sorted);
    let is_used = |file: File, first: Key, last: Key| {
        let direct = &direct[file as usize];
        direct.get(direct.partition_point(|&register| register < first)).is_some_and(|&register| register <= last)
    };
    let mut unused = |span: Span, what: &dyn Fn() -> String| {
        findings.report(Rule::UnusedDeclaration, (span, Focus::Register), || format!("{} is never used", what()));
    };
    for d in &shader.declarations {
        let exempt = matches!(
            d.file,
            File::Output | File::SamplerView | File::Memory | File::ConstantBuffer | File::Null | File::Immediate
        );
        if exempt || used.files[d.file as usize] || d.first > d.last {
            continue;
        }
        let by_array = d.array().is_some_and(|array| used.arrays.contains_key(&(d.file, array)));
        if !by_array && !is_used(d.file, key(outer(d), d.first), key(outer(d), d.last)) {
            unused(d.span, &|| show(d));
        }
    }
    if !used.files[File::Immediate as usize] && immediates_are_known {
        for (number, immediate) in shader.immediates.iter().enumerate() {
            if !is_used(File::Immediate, number as Key, number as Key) {
                unused(immediate.span, &|| format!("IMM[{number}]"));
            }
        }
    }
}
