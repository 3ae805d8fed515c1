//! Images: loads, stores, sizes, atomic operations.

use super::Row;
use super::op::{AtomicKind as A, BuiltinOp as Op, ImageOp};
use crate::extension::Extension as E;
use crate::version::{NEVER, Since};

const IMAGES: Since = Since::new(420, 310).or(&[E::ARBShaderImageLoadStore, E::EXTShaderImageLoadStore]);
const SIZES: Since = Since::new(430, 310).or(&[E::ARBShaderImageSize]);
const SAMPLES: Since = Since::new(450, NEVER).or(&[E::ARBShaderTextureImageSamples]);
const ATOMICS: Since =
    Since::new(420, 320).or(&[E::ARBShaderImageLoadStore, E::EXTShaderImageLoadStore, E::OESShaderImageAtomic]);
const FLOAT_EXCHANGE: Since =
    Since::new(450, 320).or(&[E::ARBES31Compatibility, E::OESShaderImageAtomic, E::NVShaderAtomicFloat]);
const FLOAT_ADD: Since = Since::new(NEVER, NEVER).or(&[E::NVShaderAtomicFloat]);
const FLOAT_MIN_MAX: Since = Since::new(NEVER, NEVER).or(&[E::INTELShaderAtomicFloatMinmax]);
const WRAPPING: Since = Since::new(NEVER, NEVER).or(&[E::EXTShaderImageLoadStore]);

const fn row(name: &'static str, op: ImageOp, signatures: &'static [&'static str], since: Since) -> Row {
    Row::new(name, Op::Image(op), signatures, since)
}

const fn atomic(name: &'static str, kind: A, signatures: &'static [&'static str], since: Since) -> Row {
    row(name, ImageOp::Atomic(kind), signatures, since)
}

/// An operation on integers.
const INTEGERS: &[&str] =
    &["g mi:1D|2D|3D|2DRect|Cube|Buffer|1DArray|2DArray|CubeArray Pm g", "g mi:2DMS|2DMSArray Pm sample g"];
/// An operation on floats.
const FLOATS: &[&str] =
    &["g mf:1D|2D|3D|2DRect|Cube|Buffer|1DArray|2DArray|CubeArray Pm g", "g mf:2DMS|2DMSArray Pm sample g"];
/// A compare and swap of integers.
const INTEGER_SWAPS: &[&str] =
    &["g mi:1D|2D|3D|2DRect|Cube|Buffer|1DArray|2DArray|CubeArray Pm g g", "g mi:2DMS|2DMSArray Pm sample g g"];
/// A compare and swap of floats.
const FLOAT_SWAPS: &[&str] =
    &["g mf:1D|2D|3D|2DRect|Cube|Buffer|1DArray|2DArray|CubeArray Pm g g", "g mf:2DMS|2DMSArray Pm sample g g"];
/// An operation on unsigned integers.
const UNSIGNED: &[&str] =
    &["g mu:1D|2D|3D|2DRect|Cube|Buffer|1DArray|2DArray|CubeArray Pm g", "g mu:2DMS|2DMSArray Pm sample g"];

pub(super) const ROWS: &[Row] = &[
    row(
        "imageLoad",
        ImageOp::Load,
        &["g4 m:1D|2D|3D|2DRect|Cube|Buffer|1DArray|2DArray|CubeArray Pm", "g4 m:2DMS|2DMSArray Pm sample"],
        IMAGES,
    ),
    row(
        "imageStore",
        ImageOp::Store,
        &["v m:1D|2D|3D|2DRect|Cube|Buffer|1DArray|2DArray|CubeArray Pm g4", "v m:2DMS|2DMSArray Pm sample g4"],
        IMAGES,
    ),
    row(
        "imageSize",
        ImageOp::Size,
        &["size m:1D|2D|3D|2DRect|Cube|Buffer|1DArray|2DArray|CubeArray|2DMS|2DMSArray"],
        SIZES,
    ),
    row("imageSamples", ImageOp::Samples, &["i m:2DMS|2DMSArray"], SAMPLES),
    atomic("imageAtomicAdd", A::Add, INTEGERS, ATOMICS),
    atomic("imageAtomicAdd", A::Add, FLOATS, FLOAT_ADD),
    atomic("imageAtomicMin", A::Min, INTEGERS, ATOMICS),
    atomic("imageAtomicMin", A::Min, FLOATS, FLOAT_MIN_MAX),
    atomic("imageAtomicMax", A::Max, INTEGERS, ATOMICS),
    atomic("imageAtomicMax", A::Max, FLOATS, FLOAT_MIN_MAX),
    atomic("imageAtomicAnd", A::And, INTEGERS, ATOMICS),
    atomic("imageAtomicOr", A::Or, INTEGERS, ATOMICS),
    atomic("imageAtomicXor", A::Xor, INTEGERS, ATOMICS),
    atomic("imageAtomicExchange", A::Exchange, INTEGERS, ATOMICS),
    atomic("imageAtomicExchange", A::Exchange, FLOATS, FLOAT_EXCHANGE),
    atomic("imageAtomicCompSwap", A::CompSwap, INTEGER_SWAPS, ATOMICS),
    atomic("imageAtomicCompSwap", A::CompSwap, FLOAT_SWAPS, FLOAT_MIN_MAX),
    atomic("imageAtomicIncWrap", A::IncWrap, UNSIGNED, WRAPPING),
    atomic("imageAtomicDecWrap", A::DecWrap, UNSIGNED, WRAPPING),
];
