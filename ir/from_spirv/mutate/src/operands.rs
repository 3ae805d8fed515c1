//! Which words of an instruction in a function are ids.

use spirv::Op;

/// The words before the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Results {
    /// None.
    None,
    /// The result id.
    Id,
    /// The type and the result id.
    Typed,
}

/// The words of an opcode.
///
/// Operands are a pattern: `i` is an id, `l` a literal; at the end, `I` is any number of ids, `L` of literals, `M` are
/// memory operands (a mask, an alignment, ids), `P` image operands (a mask and ids), `S` the cases of a switch.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The words before the operands.
    pub results: Results,
    /// The operands.
    pub operands: &'static str,
}

/// The bit of memory operands that a literal follows.
const ALIGNED: u32 = 2;

/// Returns the shape of an opcode that occurs in functions; `None` if it is unknown.
pub fn shape(op: Op) -> Option<Shape> {
    use Results::{Id, None as Nothing, Typed};
    let (results, operands) = match op {
        Op::Nop
        | Op::FunctionEnd
        | Op::Kill
        | Op::Return
        | Op::Unreachable
        | Op::EmitVertex
        | Op::EndPrimitive
        | Op::TerminateInvocation
        | Op::DemoteToHelperInvocation
        | Op::BeginInvocationInterlockEXT
        | Op::EndInvocationInterlockEXT => (Nothing, ""),
        Op::Label => (Id, ""),
        Op::Function => (Typed, "li"),
        Op::FunctionParameter | Op::Undef | Op::IsHelperInvocationEXT => (Typed, ""),
        Op::Variable => (Typed, "lI"),
        Op::Load => (Typed, "iM"),
        Op::Store => (Nothing, "iiM"),
        Op::CopyMemory => (Nothing, "iiM"),
        Op::ExtInst => (Typed, "ilI"),
        Op::ArrayLength => (Typed, "il"),
        Op::VectorShuffle | Op::CompositeInsert => (Typed, "iiL"),
        Op::CompositeExtract => (Typed, "iL"),
        Op::SDot | Op::UDot | Op::SUDot => (Typed, "iiL"),
        Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => (Typed, "iiiL"),
        Op::ImageSampleImplicitLod
        | Op::ImageSampleExplicitLod
        | Op::ImageSampleProjImplicitLod
        | Op::ImageSampleProjExplicitLod
        | Op::ImageFetch
        | Op::ImageRead
        | Op::ImageSparseSampleImplicitLod
        | Op::ImageSparseSampleExplicitLod
        | Op::ImageSparseFetch
        | Op::ImageSparseRead => (Typed, "iiP"),
        Op::ImageSampleDrefImplicitLod
        | Op::ImageSampleDrefExplicitLod
        | Op::ImageSampleProjDrefImplicitLod
        | Op::ImageSampleProjDrefExplicitLod
        | Op::ImageGather
        | Op::ImageDrefGather
        | Op::ImageSparseSampleDrefImplicitLod
        | Op::ImageSparseSampleDrefExplicitLod
        | Op::ImageSparseGather
        | Op::ImageSparseDrefGather => (Typed, "iiiP"),
        Op::ImageWrite => (Nothing, "iiiP"),
        Op::EmitStreamVertex | Op::EndStreamPrimitive | Op::ControlBarrier | Op::MemoryBarrier | Op::AtomicStore => {
            (Nothing, "I")
        }
        Op::LoopMerge => (Nothing, "iiL"),
        Op::SelectionMerge => (Nothing, "il"),
        Op::Branch | Op::ReturnValue => (Nothing, "i"),
        Op::BranchConditional => (Nothing, "iiiL"),
        Op::Switch => (Nothing, "iiS"),
        Op::GroupNonUniformBallotBitCount => (Typed, "ilI"),
        Op::FunctionCall
        | Op::AccessChain
        | Op::InBoundsAccessChain
        | Op::PtrAccessChain
        | Op::InBoundsPtrAccessChain
        | Op::ImageTexelPointer
        | Op::VectorExtractDynamic
        | Op::VectorInsertDynamic
        | Op::CompositeConstruct
        | Op::CopyObject
        | Op::Transpose
        | Op::SampledImage
        | Op::Image
        | Op::ImageSparseTexelsResident
        | Op::Phi
        | Op::CopyLogical
        | Op::PtrEqual
        | Op::PtrNotEqual
        | Op::PtrDiff
        | Op::SubgroupBallotKHR
        | Op::SubgroupFirstInvocationKHR
        | Op::SubgroupAllKHR
        | Op::SubgroupAnyKHR
        | Op::SubgroupAllEqualKHR
        | Op::GroupNonUniformRotateKHR
        | Op::SubgroupReadInvocationKHR
        | Op::ReadClockKHR
        | Op::AtomicFAddEXT
        | Op::AtomicFMinEXT
        | Op::AtomicFMaxEXT => (Typed, "I"),
        op => match op as u32 {
            // Queries of images, conversions, arithmetic, logic, comparisons, bits, derivatives, atomics.
            101..=107 | 109..=152 | 154..=191 | 194..=205 | 207..=215 | 227 | 229..=242 => (Typed, "I"),
            // Votes, ballots, shuffles, quads.
            333..=341 | 343..=348 | 365..=366 => (Typed, "I"),
            // Reductions.
            349..=364 => (Typed, "ilI"),
            _ => return None,
        },
    };
    Some(Shape { results, operands })
}

/// Returns the places of the ids among the operands, which are `words` without type and result. A switch with literals
/// of 64 bits is `wide`.
pub fn id_places(operands: &str, words: &[u32], wide: bool) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 0;
    for kind in operands.bytes() {
        match kind {
            b'i' => {
                places.push(at);
                at += 1;
            }
            b'l' => at += 1,
            b'I' => places.extend(at..words.len()),
            b'M' => {
                // The second set of OpCopyMemory follows the first one.
                while let Some(&mask) = words.get(at) {
                    at += 1 + usize::from(mask & ALIGNED != 0);
                    let ids = (mask & !0x7).count_ones() as usize - (mask & 0x20).count_ones() as usize;
                    places.extend(at..at + ids);
                    at += ids;
                }
            }
            b'P' => places.extend(at + 1..words.len().max(at + 1)),
            b'S' => {
                let literal = if wide { 2 } else { 1 };
                places.extend((at + literal..words.len()).step_by(literal + 1));
            }
            _ => {}
        }
    }
    places.retain(|&place| place < words.len());
    places
}
