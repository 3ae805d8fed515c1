//! Constant evaluation of ALU opcodes.
//!
//! The row of an opcode specifies its evaluation after `=>`: how operands are supplied, their names, and the value.
//!
//! | kind | operands | value |
//! |---|---|---|
//! | `each` | the current component of each source | one component of the result |
//! | `each_real` | the same; the unsized type is a float | the same |
//! | `each_bits` | the same as raw bits | bits of one component |
//! | `whole` | each source as an array of its components | written to every component of the result |
//! | `whole_real` | the same; the unsized type is a float | the same |
//! | `vector` | each source as an array of its components | array of the components of the result |
//! | `gather` | | component i of the result is source i |
//!
//! The types of the row determine the conversion between bits and Rust values: `int` is `i64`, sign-extended; `uint` is
//! `u64`, zero-extended; `bool` is `bool` (true if any bit is set); floats are `f64` in 64 bits and `f32` in 16 and 32.
//! Results are truncated to the size of the output type; floats are rounded to it, and denormals are flushed, according
//! to the execution mode. A row with unsized floats is compiled once for each float size. A name after `;` gives the
//! value access to the [`Context`].

mod functions;
mod numbers;

use std::array;
use std::f64::consts::PI;

use super::table::alu_opcodes;
use super::{AluOp, ExecutionMode, half};
use functions::{
    bitfield_extract, bitfield_extract_sm5, bitfield_insert, bytes, cube_coordinates, dot, extract, extract_signed,
    find_msb, from_top, halves, insert, masked_absolute_differences, modulo, pack, quad_masked_absolute_differences,
    saturate_i32, saturate_u32, signed_bytes, signed_halves, unordered,
};
use numbers::{Bits, Bool, F16, F32, F64, HALF_MIN_NORMAL, Int, Number, Uint};

/// The inputs of an evaluation other than the operands.
pub(crate) struct Context<'a> {
    /// Size of the unsized types.
    pub bit_size: u32,
    /// Round a float result toward zero.
    pub rtz: bool,
    /// Flush a denormal float result to zero.
    pub flush: bool,
    mode: ExecutionMode,
    sources: &'a [&'a [u64]],
}

impl Context<'_> {
    /// The context for float results of this size (0 if the result is not a float), with rounding and flushing set.
    #[inline]
    fn for_output(&self, float_size: u8) -> Self {
        let (rtz, flush) = (self.mode.rounds_toward_zero(float_size), self.mode.flushes_denormals(float_size));
        Context { rtz, flush, ..*self }
    }

    /// Masks a shift count to the bit size.
    #[inline]
    pub fn shift(&self, count: u64) -> u32 {
        count as u32 & (self.bit_size - 1)
    }

    /// Rotates a value of the unsized type left by 0 up to its size, inclusive.
    #[inline]
    pub fn rotate_left(&self, value: u64, count: u32) -> u64 {
        let size = self.bit_size;
        value.checked_shl(count).unwrap_or(0) | value.checked_shr(size - count).unwrap_or(0)
    }

    /// Clamps to the signed range of the unsized type.
    #[inline]
    pub fn saturate_signed(&self, value: i128) -> i64 {
        let limit = 1i128 << (self.bit_size - 1);
        value.clamp(-limit, limit - 1) as i64
    }

    /// Flushes an intermediate 32-bit float according to the execution mode.
    #[inline]
    fn flushed(&self, value: f32) -> f32 {
        if self.flush && value.is_subnormal() { 0f32.copysign(value) } else { value }
    }

    /// The sum of 32-bit floats, rounded as a separate operation.
    #[inline]
    pub fn add(&self, a: f32, b: f32) -> f32 {
        self.flushed(a.rounded_add(b, self.rtz))
    }

    /// The product of 32-bit floats, rounded as a separate operation.
    #[inline]
    pub fn multiply(&self, a: f32, b: f32) -> f32 {
        self.flushed(a.rounded_mul(b, self.rtz))
    }

    /// Like [`multiply`](Self::multiply), but zero times anything is zero.
    #[inline]
    pub fn multiply_or_zero(&self, a: f32, b: f32) -> f32 {
        if a == 0.0 || b == 0.0 { 0.0 } else { self.multiply(a, b) }
    }

    /// Sums the products, starting with the first one.
    #[inline]
    pub fn dot<const N: usize>(&self, a: [f32; N], b: [f32; N], multiply: impl Fn(f32, f32) -> f32) -> f32 {
        let products = a.into_iter().zip(b).map(|(a, b)| multiply(a, b));
        products.reduce(|sum, product| self.add(sum, product)).unwrap_or_default()
    }

    /// Converts the 16-bit float in the low bits, with denormals flushed if the execution mode flushes them in 16 bits.
    #[inline]
    pub fn widen_half(&self, bits: u64) -> f32 {
        let bits = bits as u16;
        let denormal = bits & 0x7c00 == 0;
        half::to_f32(if denormal && self.mode.flushes_denormals(16) { bits & 0x8000 } else { bits })
    }
}

/// A mask of the low `bits` bits; `bits` is at most 64.
#[inline]
pub(crate) fn mask(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}

/// Sign-extends the low `bits` bits; `bits` is at most 64, and 0 gives 0.
#[inline]
pub(crate) fn sign_extend(value: u64, bits: u32) -> i64 {
    if bits == 0 { 0 } else { ((value << (64 - bits)) as i64) >> (64 - bits) }
}

/// Radians per turn, as the opcodes that count in turns define it.
#[allow(clippy::approx_constant, reason = "results for large operands depend on the digits")]
const TURN: f64 = 6.2831853;

/// Float operations of the table beyond the methods that `f32` and `f64` have in common.
trait FloatArithmetic: Copy {
    /// The product computed in 64 bits and narrowed to 32.
    fn scaled(self, factor: f64) -> f32;
    /// Minimum; the other operand if one is NaN; -0 is less than +0.
    fn min_number(self, other: Self) -> Self;
    /// Maximum; the other operand if one is NaN; +0 is greater than -0.
    fn max_number(self, other: Self) -> Self;
    /// -1, 1, the same zero, or +0 for NaN.
    fn sign(self) -> Self;
    fn rounded_add(self, other: Self, rtz: bool) -> Self;
    fn rounded_mul(self, other: Self, rtz: bool) -> Self;
    fn rounded_fma(self, factor: Self, summand: Self, context: &Context<'_>) -> Self;
    /// Floor computed in 32 bits.
    fn floor_single(self) -> Self;
    /// Truncation computed in 32 bits.
    fn trunc_single(self) -> Self;
    /// Whether the value is a normal float of `bit_size` bits.
    fn is_normal_in(self, bit_size: u32) -> bool;
    /// Rounds to a 16-bit float and flushes denormals to zero.
    fn quantize_to_half(self) -> Self;
    /// Fraction of magnitude in [0.5, 1) and exponent; zero, infinity and NaN are returned with exponent 0.
    fn frexp(self) -> (Self, i64);
    /// `self * 2^exponent` if that is a normal number, otherwise zero with the sign of `self`.
    fn ldexp_normal(self, exponent: i64) -> Self;
    /// Narrows to 32 bits.
    fn to_single(self, rtz: bool) -> f32;
    /// Narrows to 32 bits such that a second rounding to 16 bits is correct.
    fn to_single_odd(self) -> f32;
}

macro_rules! real_common {
    ($float:ident, $int:ident) => {
        #[inline]
        fn scaled(self, factor: f64) -> f32 {
            (factor * self as f64) as f32
        }
        #[inline]
        fn min_number(self, other: $float) -> $float {
            if self < other || other.is_nan() {
                self
            } else if self == other && (self.to_bits() as $int) < other.to_bits() as $int {
                self
            } else {
                other
            }
        }
        #[inline]
        fn max_number(self, other: $float) -> $float {
            if self > other || other.is_nan() {
                self
            } else if self == other && self.to_bits() as $int > other.to_bits() as $int {
                self
            } else {
                other
            }
        }
        #[inline]
        fn sign(self) -> $float {
            if self.is_nan() {
                0.0
            } else if self == 0.0 {
                self
            } else {
                self.signum()
            }
        }
        #[inline]
        fn floor_single(self) -> $float {
            (self as f32).floor() as $float
        }
        #[inline]
        fn trunc_single(self) -> $float {
            (self as f32).trunc() as $float
        }
        #[inline]
        fn is_normal_in(self, bit_size: u32) -> bool {
            self.is_normal() && (bit_size != 16 || self.abs() >= HALF_MIN_NORMAL as $float)
        }
        #[inline]
        fn quantize_to_half(self) -> $float {
            if self.abs() < HALF_MIN_NORMAL as $float {
                (0.0 as $float).copysign(self)
            } else {
                half::to_f32(half::from_f64(self as f64, false)) as $float
            }
        }
        #[inline]
        fn frexp(self) -> ($float, i64) {
            // Every 32-bit value is normal in 64 bits, every 64-bit value after scaling.
            let wide = self as f64;
            let (wide, bias) = if wide.is_subnormal() { (wide * 2f64.powi(64), 1022 + 64) } else { (wide, 1022) };
            let bits = wide.to_bits();
            match (bits >> 52 & 0x7ff) as i64 {
                0 | 0x7ff => (self, 0),
                exponent => (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52) as $float, exponent - bias),
            }
        }
        #[inline]
        fn ldexp_normal(self, exponent: i64) -> $float {
            let (fraction, own) = self.frexp();
            // Far out of the range of normal numbers, the exact exponent does not matter. The first half of the scaling
            // is exact, so that only the last step rounds.
            let exponent = (own + exponent).clamp(-1100, 1100) as i32;
            let half = exponent / 2;
            let scaled = (f64::from(fraction) * 2f64.powi(half) * 2f64.powi(exponent - half)) as $float;
            if scaled.is_normal() { scaled } else { (0.0 as $float).copysign(self) }
        }
    };
}

impl FloatArithmetic for f32 {
    real_common!(f32, i32);
    #[inline]
    fn rounded_add(self, other: f32, rtz: bool) -> f32 {
        // The sum is first rounded to nearest in 64 bits, so bits lost there do not affect the rounding toward zero.
        // NIR's `fadd` does the same.
        if rtz { half::single_toward_zero(f64::from(self) + f64::from(other)) } else { self + other }
    }
    #[inline]
    fn rounded_mul(self, other: f32, rtz: bool) -> f32 {
        // The product of two 32-bit floats is exact in 64 bits.
        if rtz { half::single_toward_zero(f64::from(self) * f64::from(other)) } else { self * other }
    }
    #[inline]
    fn rounded_fma(self, factor: f32, summand: f32, context: &Context<'_>) -> f32 {
        if context.rtz {
            half::single_toward_zero(half::fma_toward_zero(self.into(), factor.into(), summand.into()))
        } else if context.bit_size == 16 {
            // 64 bits have more than the digits of any sum that is finite in 16 bits, and to odd nothing is rounded twice.
            half::single_to_odd(f64::from(self).mul_add(factor.into(), summand.into()))
        } else {
            half::fma_single(self, factor, summand)
        }
    }
    #[inline]
    fn to_single(self, _: bool) -> f32 {
        self
    }
    #[inline]
    fn to_single_odd(self) -> f32 {
        self
    }
}

impl FloatArithmetic for f64 {
    real_common!(f64, i64);
    #[inline]
    fn rounded_add(self, other: f64, rtz: bool) -> f64 {
        if rtz { half::fma_toward_zero(self, 1.0, other) } else { self + other }
    }
    #[inline]
    fn rounded_mul(self, other: f64, rtz: bool) -> f64 {
        if rtz { half::mul_toward_zero(self, other) } else { self * other }
    }
    #[inline]
    fn rounded_fma(self, factor: f64, summand: f64, context: &Context<'_>) -> f64 {
        if context.rtz { half::fma_toward_zero(self, factor, summand) } else { self.mul_add(factor, summand) }
    }
    #[inline]
    fn to_single(self, rtz: bool) -> f32 {
        if rtz { half::single_toward_zero(self) } else { self as f32 }
    }
    #[inline]
    fn to_single_odd(self) -> f32 {
        half::single_to_odd(self)
    }
}

#[inline]
fn component(source: &[u64], index: usize) -> u64 {
    source.get(index).copied().unwrap_or(0)
}

/// Reads a source as an array of its components. A separate function, so that it is compiled once for each type and
/// size instead of once for each operand of the table.
fn components<T: Number, const N: usize>(source: &[u64], context: &Context<'_>) -> [T::Value; N] {
    array::from_fn(|i| T::read(component(source, i), context))
}

/// Writes the components of a result.
fn write_components<T: Number, const N: usize>(values: [T::Value; N], context: &Context<'_>, dest: &mut [u64]) {
    for (i, result) in dest.iter_mut().enumerate() {
        *result = values.get(i).map_or(0, |value| T::write(*value, context));
    }
}

/// Maps a type of the table to a type that implements `Number`; `$float` replaces the unsized float.
macro_rules! number {
    (FLOAT, $float:ident) => { $float };
    (FLOAT16, $float:ident) => { F16 };
    (FLOAT32, $float:ident) => { F32 };
    (FLOAT64, $float:ident) => { F64 };
    (INT, $float:ident) => { Int<0> };
    (INT1, $float:ident) => { Int<1> };
    (INT8, $float:ident) => { Int<8> };
    (INT16, $float:ident) => { Int<16> };
    (INT32, $float:ident) => { Int<32> };
    (INT64, $float:ident) => { Int<64> };
    (UINT, $float:ident) => { Uint<0> };
    (UINT1, $float:ident) => { Uint<1> };
    (UINT8, $float:ident) => { Uint<8> };
    (UINT16, $float:ident) => { Uint<16> };
    (UINT32, $float:ident) => { Uint<32> };
    (UINT64, $float:ident) => { Uint<64> };
    (BOOL, $float:ident) => { Bool<0> };
    (BOOL1, $float:ident) => { Bool<1> };
    (BOOL8, $float:ident) => { Bool<8> };
    (BOOL16, $float:ident) => { Bool<16> };
    (BOOL32, $float:ident) => { Bool<32> };
}

/// Body of the function that evaluates one row.
macro_rules! row {
    // Rows that do not depend on the size of an unsized float.
    (each $($row:tt)*) => { row!(@each F32 $($row)*) };
    (whole $($row:tt)*) => { row!(@whole F32 $($row)*) };
    (vector $($row:tt)*) => { row!(@vector F32 $($row)*) };
    // Rows compiled for each float size.
    (each_real $context:ident $($row:tt)*) => {
        match $context.bit_size {
            16 => row!(@each F16 $context $($row)*),
            32 => row!(@each F32 $context $($row)*),
            _ => row!(@each F64 $context $($row)*),
        }
    };
    (whole_real $context:ident $($row:tt)*) => {
        match $context.bit_size {
            16 => row!(@whole F16 $context $($row)*),
            32 => row!(@whole F32 $context $($row)*),
            _ => row!(@whole F64 $context $($row)*),
        }
    };
    (each_bits $context:ident $dest:ident $output:ident [$($input:ident $size:tt)*]
        |$($argument:ident),*| $value:expr) => {{
        let mut sources = $context.sources.iter().copied();
        $(let $argument = sources.next().unwrap_or_default();)*
        for (i, result) in $dest.iter_mut().enumerate() {
            $(let $argument = Bits::read(component($argument, i), $context);)*
            *result = Bits::write($value, $context);
        }
    }};
    (gather $context:ident $dest:ident $output:ident $inputs:tt) => {{
        for (i, result) in $dest.iter_mut().enumerate() {
            let source = $context.sources.get(i).copied().unwrap_or_default();
            *result = component(source, 0) & mask($context.bit_size);
        }
    }};
    (@each $float:ident $context:ident $dest:ident $output:ident [$($input:ident $size:tt)*]
        |$($argument:ident),* $(; $access:ident)?| $value:expr) => {{
        type Output = number!($output, $float);
        let context = &$context.for_output(Output::FLOAT_SIZE);
        $(let $access = context;)?
        let mut sources = context.sources.iter().copied();
        $(let $argument = sources.next().unwrap_or_default();)*
        for (i, result) in $dest.iter_mut().enumerate() {
            $(let $argument = <number!($input, $float)>::read(component($argument, i), context);)*
            *result = Output::write($value, context);
        }
    }};
    (@whole $float:ident $context:ident $dest:ident $output:ident [$($input:ident [$size:literal])*]
        |$($argument:ident),* $(; $access:ident)?| $value:expr) => {{
        type Output = number!($output, $float);
        let context = &$context.for_output(Output::FLOAT_SIZE);
        $(let $access = context;)?
        let mut sources = context.sources.iter().copied();
        $(
            let source = sources.next().unwrap_or_default();
            let $argument = components::<number!($input, $float), $size>(source, context);
        )*
        $dest.fill(Output::write($value, context));
    }};
    (@vector $float:ident $context:ident $dest:ident $output:ident [$($input:ident [$size:literal])*]
        |$($argument:ident),* $(; $access:ident)?| $value:expr) => {{
        type Output = number!($output, $float);
        let context = &$context.for_output(Output::FLOAT_SIZE);
        $(let $access = context;)?
        let mut sources = context.sources.iter().copied();
        $(
            let source = sources.next().unwrap_or_default();
            let $argument = components::<number!($input, $float), $size>(source, context);
        )*
        write_components::<Output, _>($value, context, $dest);
    }};
}

macro_rules! declare_evaluation {
    ($($group:literal { $(
        $variant:ident $name:literal: $output:ident $([$output_size:literal])? =
            [$($input:ident $([$input_size:literal])?),*], $bit_sizes:ident, [$($property:ident)*], $formula:expr
            => $kind:ident $(|$($argument:ident),* $(; $access:ident)?| $value:expr)?;
    )* })*) => {
        fn dispatch(op: AluOp, context: &Context<'_>, dest: &mut [u64]) {
            match op {
                $($(AluOp::$variant => {
                    fn evaluate_row(context: &Context<'_>, dest: &mut [u64]) {
                        row!($kind context dest $output [$($input [$($input_size)?])*]
                            $(|$($argument),* $(; $access)?| $value)?)
                    }
                    evaluate_row(context, dest)
                })*)*
            }
        }
    };
}

alu_opcodes!(declare_evaluation);

/// Evaluates `op`.
///
/// `bit_size` is the size of the unsized types (arbitrary if the opcode has none), `num_components` the number of
/// components of the result. `sources[i]` holds the components of source i after swizzling: as many as the input size
/// if that is not 0, otherwise `num_components`. Values are zero-extended bit patterns, 1-bit booleans 0 or 1. The
/// result is written to the first `num_components` elements of `dest`, or to all if `dest` is shorter.
///
/// Never panics: missing components read as 0, and a bit size that the opcode does not support gives 0.
pub fn evaluate(
    op: AluOp,
    bit_size: u8,
    num_components: u8,
    sources: &[&[u64]],
    mode: ExecutionMode,
    dest: &mut [u64],
) {
    let written = usize::from(num_components).min(dest.len());
    let dest = &mut dest[..written];
    let bit_sizes = op.info().bit_sizes;
    if !bit_sizes.is_empty() && !bit_sizes.contains(&bit_size) {
        dest.fill(0);
        return;
    }
    let context = Context { bit_size: bit_size.into(), rtz: false, flush: false, mode, sources };
    dispatch(op, &context, dest);
}
