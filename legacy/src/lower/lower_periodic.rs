//! Replaces sine and cosine by a polynomial, for targets without `SIN` and `COS`.
//!
//! ```text
//! t = fract(x / (2 pi) + 0.25) - 0.5         (cosine: + 0.5)
//! g = 0.25 - |t|                             turns from the nearest zero, in [-0.25, 0.25]
//! s = g * g
//! sin x = g * (c1 + s * (c3 + s * (c5 + s * c7)))
//! ```
//!
//! `sin(2 pi (g + n)) = sin(2 pi g)` and `sin(pi - x) = sin x` reduce any angle to a quarter turn. The polynomial is
//! the minimax approximation of its degree (Remez) among those that are 1 at a quarter turn: sine and cosine are exact
//! at multiples of it, and within [-1, 1]. Its error is below 8e-7. The error of the angle grows with the angle, as in
//! hardware.
//!
//! The operations are exact, so that rules do not transform them. Cost: linear.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::AluFlags;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Inst, Shader};

/// Coefficients of the polynomial in `s`, the constant one first, rounded so that its value at 1/16 is 4.
const COEFFICIENTS: [f32; 4] = [6.283_161, -41.336_708, 81.324_37, -70.821_27];

/// Replaces all sines and cosines. Returns whether there were any.
pub(super) fn lower_periodic(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                let shift = match body.alu_op(inst) {
                    Some(AluOp::Fsin) => 0.25,
                    Some(AluOp::Fcos) => 0.5,
                    _ => continue,
                };
                progress |= lower(body, inst, shift).is_some();
            }
        }
    }
    progress
}

fn lower(body: &mut Body, inst: Inst, shift: f32) -> Option<()> {
    let def = body.inst_def(inst).filter(|&def| body.bit_size(def) == 32)?;
    let angle = AluSrc::of(body, body.source(inst, 0));
    let count = body.num_components(def);
    let mut b = Builder::new(body, Cursor::Before(inst));
    b.flags = AluFlags::EXACT;
    let constant = |b: &mut Builder<'_>, value: f32| AluSrc::component(b.f32_const(value), 0);
    let turn = constant(&mut b, std::f32::consts::FRAC_1_PI / 2.0);
    let shift = constant(&mut b, shift);
    let turns = b.alu_sized(AluOp::Fmad, count, &[angle, turn, shift]);
    let fraction = b.alu_sized(AluOp::Ffract, count, &[turns.into()]);
    let half = constant(&mut b, -0.5);
    let centred = b.alu_sized(AluOp::Fadd, count, &[fraction.into(), half]);
    let distance = b.alu_sized(AluOp::Fabs, count, &[centred.into()]);
    let opposite = b.alu_sized(AluOp::Fneg, count, &[distance.into()]);
    let quarter = constant(&mut b, 0.25);
    let g: AluSrc = b.alu_sized(AluOp::Fadd, count, &[quarter, opposite.into()]).into();
    let square: AluSrc = b.alu_sized(AluOp::Fmul, count, &[g, g]).into();
    let [c1, c3, c5, c7] = COEFFICIENTS.map(|coefficient| constant(&mut b, coefficient));
    let mut sum = c7;
    for coefficient in [c5, c3, c1] {
        sum = b.alu_sized(AluOp::Fmad, count, &[square, sum, coefficient]).into();
    }
    let sine = b.alu_sized(AluOp::Fmul, count, &[g, sum]);
    body.replace_all_uses(def, sine);
    body.remove_inst(inst);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The polynomial, as the code computes it.
    fn sine(g: f32) -> f32 {
        let square = g * g;
        let [c1, c3, c5, c7] = COEFFICIENTS;
        g * (square * (square * (square * c7 + c5) + c3) + c1)
    }

    #[test]
    fn the_polynomial_is_close_and_within_one() {
        assert_eq!((sine(0.0), sine(0.25), sine(-0.25)), (0.0, 1.0, -1.0));
        for step in 0..=10_000u16 {
            let g = f32::from(step) / 40_000.0;
            let error = f64::from(sine(g)) - (std::f64::consts::TAU * f64::from(g)).sin();
            assert!(error.abs() < 8e-7 && sine(g) <= 1.0, "{g}: {error}");
        }
    }
}
