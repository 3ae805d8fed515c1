//! Splits ALU instructions into scalar ones.
//!
//! ```text
//! 32x4 %3 = fadd %1, %2.wzyx     =>     32   %4 = fadd %1.x, %2.w
//!                                       32   %5 = fadd %1.y, %2.z
//!                                       32   %6 = fadd %1.z, %2.y
//!                                       32   %7 = fadd %1.w, %2.x
//!                                       32x4 %3 = vec4 %4, %5, %6, %7
//! ```
//!
//! - Operations across components become a chain of scalar operations: `ball_*` and `bany_*` of all encodings,
//!   `fall_equal*`, `fany_nequal*` (from the first component on), `fdot*`, `fdph`, `fsum*` (in the order of the opcode
//!   table, so that exact ones keep their bits). With [`fuse_ffma`](CompilerOptions::fuse_ffma) the products of an
//!   inexact dot product are fused into the sum.
//! - Packing of two 16-bit floats uses their components; packing of integers becomes shifts. With
//!   [`lower_pack_vectors`](CompilerOptions::lower_pack_vectors) the other opcodes that
//!   [`lower_pack`](mod@crate::passes::lower_numbers::lower_pack) lowers are split too.
//! - Component-wise operations are split into one per component.
//! - Vectors of scalars are kept, to collect the results. A `mov` of a vector becomes such a vector.
//!
//! Opcodes without a scalar equivalent are kept: `fdot*_replicated` (emitted only for targets that have them) and those
//! with vector operands or results of a fixed size.
//!
//! Cost: linear in instructions times components.

use arrayvec::ArrayVec;

use crate::alu::{AluOp, BaseType};
use crate::body::MAX_COMPONENTS;
use crate::builder::AluSrc;
use crate::entities::Def;
use crate::options::CompilerOptions;
use crate::passes::lower_numbers::arithmetic::{Arithmetic, replace_alu};
use crate::passes::lower_numbers::lower_pack;
use crate::shader::Shader;

type Components = ArrayVec<AluSrc, MAX_COMPONENTS>;

/// See the [module](self).
pub fn lower_alu_to_scalar(shader: &mut Shader, options: &CompilerOptions) -> bool {
    replace_alu(shader, |op, m| lower(m, op, options))
}

fn lower(m: &mut Arithmetic<'_>, op: AluOp, options: &CompilerOptions) -> Option<Def> {
    use AluOp as O;
    let info = op.info();
    match op {
        O::Mov if m.components > 1 => {
            let parts = components(m, 0);
            return Some(m.builder.vec(&parts));
        }
        O::PackHalf2x16 | O::UnpackHalf2x16 | O::PackUvec2ToUint | O::PackUvec4ToUint => {
            return lower_pack::by_components(m, op, options);
        }
        O::Fsum2 | O::Fsum3 | O::Fsum4 | O::Fdph => return sum(m, op, options),
        O::Fdot2 | O::Fdot3 | O::Fdot4 | O::Fdot5 | O::Fdot8 | O::Fdot16 => return sum(m, op, options),
        O::Fdot2Mad | O::Fdot3Mad | O::Fdot4Mad => return dot_forward(m, O::Fmul),
        O::Fdot2Madz | O::Fdot3Madz | O::Fdot4Madz => return dot_forward(m, O::Fmulz),
        _ if info.group == "compare-horizontal" => return compare_all(m, op),
        _ => {}
    }
    if info.group == "pack" && (info.output_size | info.input_sizes.iter().fold(0, |a, &b| a | b)) > 1 {
        return if options.lower_pack_vectors { lower_pack::by_components(m, op, options) } else { None };
    }
    if info.output_size != 0 || info.input_sizes.iter().any(|&size| size > 1) || op == O::Mov {
        return None;
    }
    by_components(m, op)
}

/// Returns the components that a source reads as separate operands.
fn components(m: &Arithmetic<'_>, number: usize) -> Components {
    let (operand, count) = m.operand(number);
    operand.swizzle.iter(count.into()).map(|component| AluSrc::component(operand.def, component)).collect()
}

fn scalar(m: &mut Arithmetic<'_>, op: AluOp, sources: &[AluSrc]) -> AluSrc {
    AluSrc::component(m.builder.alu_sized(op, 1, sources), 0)
}

/// `op(op(op(a, b), c), d)`
fn chain(m: &mut Arithmetic<'_>, terms: Components, op: AluOp) -> Option<Def> {
    terms.into_iter().reduce(|sum, term| scalar(m, op, &[sum, term])).map(|sum| sum.def)
}

/// Emits sums and dot products. The opcode table rounds 16-bit floats once, at the end: exact ones are added in 32
/// bits.
fn sum(m: &mut Arithmetic<'_>, op: AluOp, options: &CompilerOptions) -> Option<Def> {
    use AluOp as O;
    let flags = m.flags();
    m.builder.flags = flags;
    let by_words = flags.is_exact() && m.result_bits() == 16;
    let mut a = components(m, 0);
    let mut b = if op.info().num_inputs == 2 { components(m, 1) } else { ArrayVec::new() };
    if by_words {
        for part in a.iter_mut().chain(&mut b) {
            *part = scalar(m, O::F2f32, &[*part]);
        }
    }
    let sum = match op {
        O::Fsum2 | O::Fsum3 | O::Fsum4 => chain(m, a, O::Fadd)?,
        O::Fdph => {
            let last = b.pop()?;
            let mut terms = Components::new();
            for (a, b) in a.into_iter().zip(b) {
                terms.push(scalar(m, O::Fmul, &[a, b]));
            }
            terms.push(last);
            chain(m, terms, O::Fadd)?
        }
        _ => dot(m, a, b, options.fuse_ffma && !flags.is_exact())?,
    };
    Some(if by_words { m.builder.alu(O::F2f16, &[sum]) } else { sum })
}

/// Emits a dot product. As in the opcode table, the last product comes first: `fdot(a, vec4(b, 1.0))` then begins with
/// `a.w`, to which fused products are added.
fn dot(m: &mut Arithmetic<'_>, a: Components, b: Components, fuse: bool) -> Option<Def> {
    let mut pairs = a.into_iter().zip(b).rev();
    let (a, b) = pairs.next()?;
    let mut sum = scalar(m, AluOp::Fmul, &[a, b]);
    for (a, b) in pairs {
        sum = if fuse {
            scalar(m, AluOp::Ffma, &[a, b, sum])
        } else {
            let product = scalar(m, AluOp::Fmul, &[a, b]);
            scalar(m, AluOp::Fadd, &[sum, product])
        };
    }
    Some(sum.def)
}

/// Emits a dot product. The first product comes first.
fn dot_forward(m: &mut Arithmetic<'_>, multiply: AluOp) -> Option<Def> {
    m.builder.flags = m.flags();
    let (a, b) = (components(m, 0), components(m, 1));
    let products = a.into_iter().zip(b).map(|(a, b)| scalar(m, multiply, &[a, b])).collect();
    chain(m, products, AluOp::Fadd)
}

/// Emits whether all components are equal, or any differ, in the boolean encoding of the opcode.
fn compare_all(m: &mut Arithmetic<'_>, op: AluOp) -> Option<Def> {
    use AluOp as O;
    let info = op.info();
    let encoding = |ops: [AluOp; 4]| match info.output_type.bit_size {
        1 => ops[0],
        8 => ops[1],
        16 => ops[2],
        _ => ops[3],
    };
    let is_any = info.name.contains("any");
    let (compare, combine) = match (info.output_type.base, info.input_types[0].base, is_any) {
        (BaseType::Float, _, false) => (O::Seq, O::Fmin),
        (BaseType::Float, _, true) => (O::Sne, O::Fmax),
        (_, BaseType::Float, false) => (encoding([O::Feq, O::Feq8, O::Feq16, O::Feq32]), O::Iand),
        (_, BaseType::Float, true) => (encoding([O::Fneu, O::Fneu8, O::Fneu16, O::Fneu32]), O::Ior),
        (.., false) => (encoding([O::Ieq, O::Ieq8, O::Ieq16, O::Ieq32]), O::Iand),
        (.., true) => (encoding([O::Ine, O::Ine8, O::Ine16, O::Ine32]), O::Ior),
    };
    m.builder.flags = m.flags();
    let (a, b) = (components(m, 0), components(m, 1));
    let tests = a.into_iter().zip(b).map(|(a, b)| scalar(m, compare, &[a, b])).collect();
    chain(m, tests, combine)
}

/// Emits the same opcode for each component.
fn by_components(m: &mut Arithmetic<'_>, op: AluOp) -> Option<Def> {
    if m.components == 1 {
        return None;
    }
    m.builder.flags = m.flags();
    let parts = (0..m.components).map(|component| {
        let source = |number: usize| {
            let (AluSrc { def, swizzle }, _) = m.operand(number);
            let is_scalar = op.info().input_sizes.get(number) == Some(&1);
            AluSrc::component(def, swizzle.get(if is_scalar { 0 } else { component.into() }))
        };
        let sources: Components = (0..m.builder.body.num_sources(m.inst())).map(source).collect();
        scalar(m, op, &sources)
    });
    let parts: Components = parts.collect();
    Some(m.builder.vec(&parts))
}
