//! Computes sample positions from the number of samples with the standard patterns, for targets without `sample_pos`.
//!
//! ```text
//! 32x2 %2 = (float32)sample_pos %1 (ms_index), 3 (texture)
//! =>
//! 32   %3 = (int32)texture_samples 3 (texture)
//! 32x2 %4 = bcsel (ieq %3, 4), (0x0000a2e6, 0x0000ea62), ...     (one selection for each standard pattern)
//! 32x2 %5 = iand (ushr %4, (ishl %1, 2)), 15
//! 32x2 %6 = bcsel (ult %1, %3), %5, 8                            (the centre, if the sample does not exist)
//! 32x2 %2 = fmul (u2f32 %6), 1/16
//! ```
//!
//! Cost: linear.

use arrayvec::ArrayVec;

use crate::alu::{AluOp, AluType};
use crate::body::{Body, TexData, TexOp, TexSrcKind};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::shader::Shader;
use tgsi_environment::sample_positions::{CENTRE, SAMPLE_POSITIONS};

/// Number of sample positions in a word.
const SAMPLES_IN_WORD: u64 = 8;

/// See the [module](self).
pub fn lower_sample_positions(shader: &mut Shader) -> bool {
    shader.bodies_mut().fold(false, |progress, body| body.visit_insts(lower) | progress)
}

fn lower(body: &mut Body, inst: Inst) -> bool {
    let Some(&tex) = body.tex(inst).filter(|tex| tex.op == TexOp::SamplePos) else { return false };
    let Some(number) = body.tex_src(inst, TexSrcKind::MsIndex).map(|source| body.src_def(source)) else { return false };
    let sources = body.sources(inst).map(|source| (body.tex_src_kind(source), body.src_def(source)));
    let named: ArrayVec<(TexSrcKind, Def), { TexSrcKind::ALL.len() }> =
        sources.filter(|&(kind, _)| kind != TexSrcKind::MsIndex).collect();
    let mut b = Builder::new(body, Cursor::Before(inst));
    let query = TexData { op: TexOp::TextureSamples, dest_type: AluType::INT32, ..tex };
    let samples = b.texture(query, &named);
    let position = position(&mut b, samples, number);
    let Some(old) = body.inst_def(inst) else { return false };
    body.replace_all_uses(old, position);
    body.remove_inst(inst);
    true
}

fn position(b: &mut Builder<'_>, samples: Def, number: Def) -> Def {
    let scalar = |def| AluSrc::component(def, 0);
    let select = |b: &mut Builder<'_>, condition: Def, then: Def, otherwise: Def| {
        b.alu_sized(AluOp::Bcsel, 2, &[scalar(condition), then.into(), otherwise.into()])
    };
    let is_high = {
        let first = b.constant(32, &[SAMPLES_IN_WORD]);
        b.alu(AluOp::Uge, &[number, first])
    };
    let mut pattern = b.constant(32, &[0x8888_8888; 2]);
    for (count, x, y) in SAMPLE_POSITIONS {
        let mut own = b.constant(32, &[x, y].map(|places| places & 0xffff_ffff));
        if u64::from(count) > SAMPLES_IN_WORD {
            let high = b.constant(32, &[x, y].map(|places| places >> 32));
            own = select(b, is_high, high, own);
        }
        let count = b.u32_const(count);
        let is_own = b.alu(AluOp::Ieq, &[samples, count]);
        pattern = select(b, is_own, own, pattern);
    }
    // A shift uses its distance modulo 32.
    let two = b.u32_const(2);
    let distance = b.alu(AluOp::Ishl, &[number, two]);
    let shifted = b.alu_sized(AluOp::Ushr, 2, &[pattern.into(), scalar(distance)]);
    let mask = b.u32_const(15);
    let place = b.alu_sized(AluOp::Iand, 2, &[shifted.into(), scalar(mask)]);
    let exists = b.alu(AluOp::Ult, &[number, samples]);
    let centre = b.constant(32, &[CENTRE; 2]);
    let place = select(b, exists, place, centre);
    let place = b.alu(AluOp::U2f32, &[place]);
    let scale = b.f32_const(1.0 / 16.0);
    b.alu_sized(AluOp::Fmul, 2, &[place.into(), scalar(scale)])
}
