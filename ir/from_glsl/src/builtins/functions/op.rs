//! The operations of functions of the language.

use tgsi_ir::body::TexOp;

use crate::types::SamplerType;

/// The operation of a function. The types of the arguments select between floats, integers and booleans.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum BuiltinOp {
    Radians,
    Degrees,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    /// One or two arguments.
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Pow,
    Exp,
    Log,
    Exp2,
    Log2,
    Sqrt,
    InverseSqrt,
    Abs,
    Sign,
    Floor,
    Trunc,
    Round,
    RoundEven,
    Ceil,
    Fract,
    Mod,
    /// The second argument receives the integral part.
    Modf,
    Min,
    Max,
    Min3,
    Max3,
    /// The second greatest of three.
    Mid3,
    Clamp,
    /// The third argument is a number or a boolean.
    Mix,
    Step,
    Smoothstep,
    IsNan,
    IsInf,
    /// Bits of one scalar type as another.
    Bitcast,
    Fma,
    /// The second argument receives the exponent.
    Frexp,
    Ldexp,
    PackUnorm2x16,
    PackSnorm2x16,
    PackUnorm4x8,
    PackSnorm4x8,
    PackHalf2x16,
    /// Two words as a number of 64 bits.
    PackDouble2x32,
    UnpackUnorm2x16,
    UnpackSnorm2x16,
    UnpackUnorm4x8,
    UnpackSnorm4x8,
    UnpackHalf2x16,
    /// The words of a number of 64 bits.
    UnpackDouble2x32,
    Length,
    Distance,
    Dot,
    Cross,
    Normalize,
    /// The position of a vertex by the fixed-function transformation. Depends on state.
    Ftransform,
    FaceForward,
    Reflect,
    Refract,
    MatrixCompMult,
    OuterProduct,
    Transpose,
    Determinant,
    Inverse,
    LessThan,
    LessThanEqual,
    GreaterThan,
    GreaterThanEqual,
    Equal,
    NotEqual,
    Any,
    All,
    Not,
    BitfieldExtract,
    BitfieldInsert,
    BitfieldReverse,
    BitCount,
    FindLsb,
    FindMsb,
    /// The third argument receives the carry.
    UaddCarry,
    /// The third argument receives the borrow.
    UsubBorrow,
    /// No result; the third argument receives the high word, the fourth the low word.
    MulExtended,
    /// The exact absolute difference of integers, unsigned.
    AbsoluteDifference,
    /// A sum that does not wrap around.
    AddSaturate,
    /// A difference that does not wrap around.
    SubtractSaturate,
    /// Half of a sum without overflow, rounded down.
    Average,
    /// Half of a sum without overflow, rounded up.
    AverageRounded,
    /// The product with the low 16 bits of the second argument.
    Multiply32x16,
    CountLeadingZeros,
    CountTrailingZeros,
    /// Always zero.
    Noise,
    /// Whether the invocation is a helper now, after demotion too.
    HelperInvocation,
    /// Derivative along x.
    DFdx(Detail),
    /// Derivative along y.
    DFdy(Detail),
    /// Sum of the absolute derivatives.
    Fwidth(Detail),
    /// An input interpolated at the centroid. The argument is the input.
    InterpolateAtCentroid,
    /// An input interpolated at a sample.
    InterpolateAtSample,
    /// An input interpolated at an offset from the centre.
    InterpolateAtOffset,
    /// Ends a vertex; the argument, if there is one, is the stream.
    EmitVertex,
    /// Ends a primitive; the argument, if there is one, is the stream.
    EndPrimitive,
    /// Waits for the other invocations of the patch or workgroup.
    Barrier,
    /// Orders accesses to all memory.
    MemoryBarrier,
    /// Orders accesses to atomic counters.
    MemoryBarrierAtomicCounter,
    /// Orders accesses to buffers.
    MemoryBarrierBuffer,
    /// Orders accesses to images.
    MemoryBarrierImage,
    /// Orders accesses to shared memory.
    MemoryBarrierShared,
    /// Orders accesses to all memory within the workgroup.
    GroupMemoryBarrier,
    /// Whether the argument holds in any invocation of the subgroup.
    AnyInvocation,
    /// Whether the argument holds in all invocations of the subgroup.
    AllInvocations,
    /// Whether the argument is the same in all invocations of the subgroup.
    AllInvocationsEqual,
    /// The invocations of the subgroup in which the argument holds, as a mask of 64 bits.
    Ballot,
    /// The first argument of the invocation whose number is the second one.
    ReadInvocation,
    /// The argument of the first active invocation.
    ReadFirstInvocation,
    /// A counter of time: two words or a number of 64 bits, by the type of the result.
    Clock,
    /// Begins the critical section, which the fragments of a pixel execute in sequence.
    BeginInterlock,
    /// Ends the critical section.
    EndInterlock,
    /// A lookup, fetch, gather or query.
    Texture(TextureOp),
    /// An access to an image. The first argument is the image, the second the coordinate; images of several samples
    /// have the sample next.
    Image(ImageOp),
    /// A change of memory of a buffer or workgroup, which the first argument names. The value is the old one.
    Atomic(AtomicKind),
    /// An access to an atomic counter, the first argument.
    Counter(CounterOp),
}

/// An access to an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ImageOp {
    Load,
    Store,
    Size,
    Samples,
    /// Changes a texel. The value is the old one.
    Atomic(AtomicKind),
}

/// The operation of a read-modify-write access. The types of the arguments select between floats and integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum AtomicKind {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    /// Stores the second operand if the old value equals the first.
    CompSwap,
    /// `old >= limit ? 0 : old + 1`
    IncWrap,
    /// `old == 0 || old > limit ? limit : old - 1`
    DecWrap,
}

/// An access to an atomic counter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum CounterOp {
    Read,
    /// The value is the old one.
    Increment,
    /// The value is the new one.
    Decrement,
    /// The value is the old one.
    Subtract,
    /// The value is the old one.
    Change(AtomicKind),
}

/// The detail of a derivative.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Detail {
    /// Either.
    Any,
    /// Of each pair of pixels.
    Fine,
    /// One for the quad.
    Coarse,
}

/// The largest number of parameters of a texture function.
const MAX_ARGUMENTS: usize = 7;

/// A lookup, fetch, gather or query.
///
/// The type of the first argument determines dimensionality, array, comparison and the type of the components. The
/// result of a comparison has four components if the type of the expression has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TextureOp {
    /// The operation. [`TexOp::Tex`] outside fragment shaders means level 0.
    pub(crate) op: TexOp,
    /// Whether the last component of the coordinate divides the others, the comparator included. The third component
    /// of a `vec4` for two dimensions, and the second and third for one dimension, are ignored.
    pub(crate) is_projective: bool,
    arguments: [TextureArgument; MAX_ARGUMENTS],
}

/// The meaning of an argument of a texture function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum TextureArgument {
    /// No argument.
    None,
    /// The sampler.
    Sampler,
    /// The coordinate, then the layer, then the comparator ([`TextureOp::comparator`]), then the projector.
    Coordinate,
    /// The comparator, where the coordinate has no component left for it.
    Comparator,
    /// Added to the level.
    Bias,
    /// The level: a float, or an integer for fetches and size queries.
    Lod,
    /// The gradient along x.
    Ddx,
    /// The gradient along y.
    Ddy,
    /// The offset in texels.
    Offset,
    /// An array of four offsets of a gather.
    Offsets,
    /// The sample.
    Sample,
    /// The gathered component.
    Component,
}

impl TextureOp {
    /// An operation with arguments of these meanings.
    pub(crate) fn new(op: TexOp, is_projective: bool, meanings: &[TextureArgument]) -> TextureOp {
        let mut arguments = [TextureArgument::None; MAX_ARGUMENTS];
        for (argument, &meaning) in arguments.iter_mut().zip(meanings) {
            *argument = meaning;
        }
        TextureOp { op, is_projective, arguments }
    }

    /// The meanings of the arguments in order.
    pub(crate) fn arguments(&self) -> &[TextureArgument] {
        let count = self.arguments.iter().take_while(|&&argument| argument != TextureArgument::None).count();
        self.arguments.get(..count).unwrap_or_default()
    }

    /// The argument with a meaning.
    pub(crate) fn argument(&self, meaning: TextureArgument) -> Option<usize> {
        self.arguments().iter().position(|&argument| argument == meaning)
    }

    /// Components of the coordinate, with the layer.
    pub(crate) fn coordinates(sampler: &SamplerType) -> u8 {
        sampler.dim.num_coords() + u8::from(sampler.array)
    }

    /// The component of the coordinate that is the comparator; `None` without comparison, if the comparator is an
    /// argument, and for queries.
    pub(crate) fn comparator(&self, sampler: &SamplerType) -> Option<u8> {
        let has_comparator = sampler.shadow
            && !matches!(self.op, TexOp::Lod)
            && self.argument(TextureArgument::Coordinate).is_some()
            && self.argument(TextureArgument::Comparator).is_none();
        has_comparator.then(|| TextureOp::coordinates(sampler).max(2))
    }
}

impl BuiltinOp {
    /// The number of parameters, the last ones, that receive results.
    pub(crate) fn num_outputs(self) -> usize {
        match self {
            BuiltinOp::Modf | BuiltinOp::Frexp | BuiltinOp::UaddCarry | BuiltinOp::UsubBorrow => 1,
            BuiltinOp::MulExtended => 2,
            _ => 0,
        }
    }

    /// Whether a call does more than compute its results, or its results depend on which invocations execute it.
    pub(crate) fn has_effects(self) -> bool {
        match self {
            BuiltinOp::EmitVertex
            | BuiltinOp::EndPrimitive
            | BuiltinOp::Barrier
            | BuiltinOp::MemoryBarrier
            | BuiltinOp::MemoryBarrierAtomicCounter
            | BuiltinOp::MemoryBarrierBuffer
            | BuiltinOp::MemoryBarrierImage
            | BuiltinOp::MemoryBarrierShared
            | BuiltinOp::GroupMemoryBarrier
            | BuiltinOp::AnyInvocation
            | BuiltinOp::AllInvocations
            | BuiltinOp::AllInvocationsEqual
            | BuiltinOp::Ballot
            | BuiltinOp::ReadInvocation
            | BuiltinOp::ReadFirstInvocation
            | BuiltinOp::Clock
            | BuiltinOp::BeginInterlock
            | BuiltinOp::EndInterlock
            | BuiltinOp::Atomic(_) => true,
            BuiltinOp::Image(op) => matches!(op, ImageOp::Store | ImageOp::Atomic(_)),
            BuiltinOp::Counter(op) => op != CounterOp::Read,
            _ => false,
        }
    }
}
