//! Operators and functions of shader languages, computed once for two sinks.
//!
//! A [`Sink`] takes ALU instructions of the IR on vectors. The builder of the IR ([`tgsi_ir::Builder`]) emits them; the
//! [folder](fold) evaluates them on constants. A constant therefore has the value that the shader would compute.
//!
//! Booleans are 1-bit values, matrices are lists of columns. Functions take vectors of 1 to 4 components, and compute
//! each component unless they state something else. Where sizes differ, scalars are repeated; otherwise sizes must be
//! equal, which front ends check. Functions of several vectors, as of matrices, return `None` if sizes do not fit.
//!
//! | module | contents |
//! |---|---|
//! | [`operators`] | sums, products of all shapes, shifts, comparisons |
//! | [`convert`] | conversions between kinds and sizes of components |
//! | [`common`] | bounds, interpolation, parts of floats, properties of floats, wide products |
//! | [`exponential`] | `exp`, `log` |
//! | [`angle`] | angles, trigonometric and hyperbolic functions |
//! | [`geometry`] | lengths and directions of vectors |
//! | [`matrix`] | transposes, determinants, inverses |
//!
//! ```
//! use tgsi_arithmetic::fold::{Folder, Known};
//! use tgsi_arithmetic::geometry;
//!
//! let vector = Known::new(32, &[3f32, 4f32].map(|component| u64::from(component.to_bits())));
//! let length = geometry::length(&mut Folder, vector);
//! assert_eq!(length.bits(), [u64::from(5f32.to_bits())]);
//! ```
//!
//! A function that is one instruction, such as a sine, is [`Sink::one`] or [`Sink::each`] with its opcode.
//!
//! Functions of floats take 16, 32 and 64 bits. Exponentials, angles, lengths and directions, whose intermediate results
//! need more precision or range than 16 bits, compute 16-bit floats in 32 bits, and round the result. In 64 bits as well,
//! polynomials and the opcodes of exponentials have errors of 32 bits or more.

pub mod angle;
pub mod common;
pub mod convert;
pub mod exponential;
pub mod fold;
pub mod geometry;
mod ir;
pub mod matrix;
mod operand;
pub mod operators;
mod scalar;
mod sink;

pub use operand::{Columns, MAX, Operand};
pub use scalar::{Kind, Scalar};
pub use sink::{Sink, exactly};
