//! Finds the source of an error: for an instruction of a module that a language does not support, the TGSI property
//! that caused it, or the TGSI instruction of the first code that uses its result.

use std::collections::{HashMap, HashSet};

use spirv::{BuiltIn, Capability, Decoration, Dim, ExecutionMode, Op, StorageClass};
use tgsi::tables::{PropertyName, Semantic};
use tgsi_compiler::Subject;

/// An instruction of a module: its index in the words, its opcode and its operands.
#[derive(Clone, Copy)]
struct Instruction<'m> {
    at: usize,
    opcode: u32,
    operands: &'m [u32],
}

impl Instruction<'_> {
    fn is(&self, op: Op) -> bool {
        self.opcode == op as u32
    }

    /// Returns whether an operand that may be an id is one of these.
    fn names(&self, ids: &HashSet<u32>) -> bool {
        let is_any = |ops: &[Op]| ops.iter().any(|&op| self.is(op));
        // The index of the first literal, and of a single literal that precedes ids.
        let (ids_end, literal) = match () {
            () if is_any(&[Op::Store]) => (2, None),
            () if is_any(&[Op::Load, Op::CompositeExtract]) => (3, None),
            () if is_any(&[Op::CompositeInsert, Op::VectorShuffle]) => (4, None),
            () if is_any(&[Op::ExtInst, Op::ImageWrite]) => (usize::MAX, Some(3)),
            () if is_any(&[Op::ImageSampleImplicitLod, Op::ImageSampleExplicitLod, Op::ImageFetch, Op::ImageRead]) => {
                (usize::MAX, Some(4))
            }
            () if is_any(&[Op::ImageSampleDrefImplicitLod, Op::ImageSampleDrefExplicitLod])
                || is_any(&[Op::ImageGather, Op::ImageDrefGather]) =>
            {
                (usize::MAX, Some(5))
            }
            () if is_any(&[Op::Line, Op::SelectionMerge, Op::LoopMerge, Op::Switch]) => (0, None),
            () => (usize::MAX, None),
        };
        let operands = self.operands.iter().enumerate().take(ids_end);
        operands.filter(|&(number, _)| Some(number) != literal).any(|(_, id)| ids.contains(id))
    }

    fn operand(&self, number: usize) -> Option<u32> {
        self.operands.get(number).copied()
    }
}

/// Iterates over the instructions of a module.
fn instructions(words: &[u32]) -> impl Iterator<Item = Instruction<'_>> {
    let mut at = 5;
    std::iter::from_fn(move || {
        let first = *words.get(at)?;
        let length = (first >> 16).max(1) as usize;
        let operands = words.get(at + 1..at + length).unwrap_or_default();
        let found = Instruction { at, opcode: first & 0xffff, operands };
        at += length;
        Some(found)
    })
}

/// Returns the source of the instruction at an index of a module's words. `origins` are the module's: pairs of a word
/// index and the number of the source instruction.
pub fn source_of_instruction(words: &[u32], at: usize, origins: &[(u32, u32)]) -> Subject {
    let Some(rejected) = instructions(words).find(|instruction| instruction.at == at) else { return Subject::Shader };
    if let Some(property) = property_of(rejected) {
        return Subject::Property(property);
    }
    let mut is_in_function = false;
    let mut named: HashSet<u32> = HashSet::new();
    let mut built_ins: HashMap<u32, BuiltIn> = HashMap::new();
    for instruction in instructions(words) {
        is_in_function |= instruction.is(Op::Function);
        let is_used = match is_in_function {
            true => at == instruction.at || at < instruction.at && instruction.names(&named),
            false => {
                let found = declared(instruction, rejected, &named);
                named.extend(found);
                built_ins.extend(built_in_of(instruction));
                let built_in = found.filter(|_| instruction.is(Op::Variable)).and_then(|id| built_ins.get(&id));
                if let Some(semantic) = built_in.and_then(|&built_in| semantic_of(built_in)) {
                    let is_output = instruction.operand(2) == Some(StorageClass::Output as u32);
                    return Subject::Declaration { is_output, semantic };
                }
                false
            }
        };
        if is_used || is_in_function && needs(instruction, rejected) {
            return subject_at(origins, instruction.at);
        }
    }
    Subject::Shader
}

/// Returns the source of a feature that the writing library does not support: the first subgroup operation, or the
/// first query of sizes.
pub fn source_of_missing_feature(words: &[u32], what: &str, origins: &[(u32, u32)]) -> Subject {
    let communicates = Op::GroupNonUniformElect as u32..=Op::GroupNonUniformQuadSwap as u32;
    let is_source = |instruction: &Instruction<'_>| match () {
        () if what.contains("subgroups") => communicates.contains(&instruction.opcode),
        () if what.starts_with("sizes of images") => {
            instruction.is(Op::ImageQuerySize) || instruction.is(Op::ImageQuerySizeLod)
        }
        () => false,
    };
    instructions(words).find(is_source).map_or(Subject::Shader, |found| subject_at(origins, found.at))
}

/// Returns the source instruction of the code at an index.
fn subject_at(origins: &[(u32, u32)], at: usize) -> Subject {
    let following = origins.partition_point(|&(first, _)| first as usize <= at);
    let origin = following.checked_sub(1).and_then(|last| origins.get(last));
    origin.map_or(Subject::Shader, |&(_, number)| Subject::Instruction(number))
}

/// Returns the property that caused an instruction.
fn property_of(rejected: Instruction<'_>) -> Option<PropertyName> {
    let is_mode = |mode: ExecutionMode| rejected.is(Op::ExecutionMode) && rejected.operand(1) == Some(mode as u32);
    let needs = |capability: Capability| rejected.is(Op::Capability) && rejected.operand(0) == Some(capability as u32);
    match () {
        () if is_mode(ExecutionMode::Invocations) => Some(PropertyName::GsInvocations),
        () if is_mode(ExecutionMode::Isolines) => Some(PropertyName::TesPrimMode),
        () if built_in_of(rejected).is_some_and(|(_, built_in)| built_in == BuiltIn::CullDistance) => {
            Some(PropertyName::NumCulldistEnabled)
        }
        () if needs(Capability::SampleMaskPostDepthCoverage) => Some(PropertyName::FsPostDepthCoverage),
        () => None,
    }
}

/// Returns the variable that an instruction decorates as a built-in, and the built-in.
fn built_in_of(instruction: Instruction<'_>) -> Option<(u32, BuiltIn)> {
    match *instruction.operands {
        [id, decoration, built_in] if instruction.is(Op::Decorate) && decoration == Decoration::BuiltIn as u32 => {
            Some((id, BuiltIn::from_u32(built_in)?))
        }
        _ => None,
    }
}

/// Returns the semantic of the TGSI declaration that becomes a built-in; `None` for built-ins that opcodes require.
const fn semantic_of(built_in: BuiltIn) -> Option<Semantic> {
    Some(match built_in {
        BuiltIn::PointSize => Semantic::PointSize,
        BuiltIn::PointCoord => Semantic::PointCoord,
        BuiltIn::ClipDistance => Semantic::ClipDistance,
        BuiltIn::SamplePosition => Semantic::SamplePosition,
        BuiltIn::Layer => Semantic::Layer,
        BuiltIn::ViewportIndex => Semantic::ViewportIndex,
        BuiltIn::ViewportMaskNV => Semantic::ViewportMask,
        BuiltIn::FragDepth => Semantic::Position,
        BuiltIn::FragStencilRefEXT => Semantic::Stencil,
        BuiltIn::InvocationId => Semantic::InvocationId,
        _ => return None,
    })
}

/// Returns the id that a declaration defines, if it is the rejected one or depends on ids in `named`.
fn declared(instruction: Instruction<'_>, rejected: Instruction<'_>, named: &HashSet<u32>) -> Option<u32> {
    let Instruction { operands, .. } = instruction;
    let is_refused = instruction.at == rejected.at;
    if instruction.is(Op::Decorate) {
        let is_needed =
            built_in_of(instruction).is_some_and(|(_, built_in)| built_ins_of(rejected).contains(&built_in));
        return operands.first().copied().filter(|_| is_refused || is_needed);
    }
    let (id, parts): (usize, &[u32]) = match operands {
        [_, parts @ ..] if instruction.is(Op::TypeStruct) => (0, parts),
        [_, part, ..]
            if [Op::TypeVector, Op::TypeArray, Op::TypeRuntimeArray, Op::TypeImage, Op::TypeSampledImage]
                .into_iter()
                .any(|op| instruction.is(op)) =>
        {
            (0, std::slice::from_ref(part))
        }
        [_, _, part] if instruction.is(Op::TypePointer) => (0, std::slice::from_ref(part)),
        [_, ..] if instruction.is(Op::TypeInt) || instruction.is(Op::TypeFloat) => (0, &[]),
        [_, id, ..] if instruction.is(Op::Variable) && named.contains(id) => (1, std::slice::from_ref(id)),
        [ty, _, ..] if [Op::Variable, Op::Constant, Op::ConstantComposite].into_iter().any(|op| instruction.is(op)) => {
            (1, std::slice::from_ref(ty))
        }
        _ => return None,
    };
    let reads_pixels = || instruction.is(Op::TypeImage) && instruction.operand(2) == Some(Dim::DimSubpassData as u32);
    let is_needed = rejected.operand(0) == Some(Capability::InputAttachment as u32) && rejected.is(Op::Capability);
    let is_named = is_refused || parts.iter().any(|part| named.contains(part)) || is_needed && reads_pixels();
    operands.get(id).copied().filter(|_| is_named)
}

/// Returns the built-ins that need a capability or an execution mode.
fn built_ins_of(rejected: Instruction<'_>) -> &'static [BuiltIn] {
    let is = |op: Op, number: usize, word: u32| rejected.is(op) && rejected.operand(number) == Some(word);
    let needs = |capability: Capability| is(Op::Capability, 0, capability as u32);
    match () {
        () if is(Op::ExecutionMode, 1, ExecutionMode::DepthReplacing as u32) => &[BuiltIn::FragDepth],
        () if needs(Capability::StencilExportEXT) => &[BuiltIn::FragStencilRefEXT],
        () if needs(Capability::ShaderViewportMaskNV) => &[BuiltIn::ViewportMaskNV],
        () if needs(Capability::MultiViewport) || needs(Capability::ShaderViewportIndexLayerEXT) => {
            &[BuiltIn::ViewportIndex, BuiltIn::Layer]
        }
        () => &[],
    }
}

/// Returns whether code needs the rejected capability.
fn needs(instruction: Instruction<'_>, rejected: Instruction<'_>) -> bool {
    if !rejected.is(Op::Capability) {
        return false;
    }
    let is_any = |ops: &[Op]| ops.iter().any(|&op| instruction.is(op));
    match rejected.operand(0).and_then(Capability::from_u32) {
        // `InterpolateAtCentroid` to `InterpolateAtOffset` of GLSL.std.450.
        Some(Capability::InterpolationFunction) => {
            instruction.is(Op::ExtInst) && instruction.operand(3).is_some_and(|number| (76..=78).contains(&number))
        }
        Some(Capability::ShaderClockKHR) => is_any(&[Op::ReadClockKHR]),
        Some(Capability::GeometryStreams) => is_any(&[Op::EmitStreamVertex, Op::EndStreamPrimitive]),
        Some(Capability::DerivativeControl) => {
            is_any(&[Op::DPdxFine, Op::DPdyFine, Op::FwidthFine, Op::DPdxCoarse, Op::DPdyCoarse, Op::FwidthCoarse])
        }
        _ => false,
    }
}
