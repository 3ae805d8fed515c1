//! ALU operations on 16-bit floats.
//!
//! The operation on 32-bit floats is followed by a rounding. The table evaluates 16-bit operations in the same way, so
//! the results are equal. That the result is rounded twice makes no difference for sums, differences, products,
//! quotients and square roots (32-bit floats have more than twice the digits). It would for `ffma`, whose sum is
//! rounded to odd first.

use arrayvec::ArrayVec;

use super::values::{Form, Lowering, pack, pack_pairs};
use crate::alu::{AluOp, BaseType};
use crate::body::AluFlags;
use crate::builder::AluSrc;
use crate::entities::{Def, Inst};
use crate::passes::lower_numbers::arithmetic::Arithmetic;
use crate::passes::lower_numbers::lower_fp16_casts::{narrow_to_word, to_odd};

impl Lowering<'_> {
    /// Lowers an instruction with a 16-bit float as its result, or whose meaning depends on the size of floats.
    pub fn lower_float(&mut self, inst: Inst, op: AluOp, flags: AluFlags) -> bool {
        use AluOp as O;
        let info = op.info();
        let Some(def) = self.body.inst_def(inst) else { return false };
        let components = self.body.num_components(def);
        if op == O::Fisnormal {
            let a = self.operand(inst, 0, Form::Float);
            let mut m = self.arithmetic(inst, components);
            let (least, infinity) = (m.int((1.0f32 / 16384.0).to_bits()), m.int(f32::INFINITY.to_bits()));
            m.exact();
            let magnitude = m.fabs(a);
            let (large, finite) = (m.fge(magnitude, least), m.flt(magnitude, infinity));
            let value = m.iand(large, finite);
            self.replace_alu(inst, Form::Word, value);
            return true;
        }
        if info.output_type.base != BaseType::Float || !self.is_small(def) {
            return false;
        }
        let is_cast = matches!(op, O::F2f16 | O::F2f16Rtne | O::F2f16Rtz | O::F2fmp);
        let from = self.body.src(inst, 0);
        if is_cast && self.is_small(from) && !self.mode.flushes_denormals(16) {
            let value = self.operand(inst, 0, Form::Word);
            self.replace_alu(inst, Form::Word, value);
            return true;
        }
        let forms = info.input_types.iter().map(|ty| match ty.base {
            BaseType::Float => Form::Float,
            BaseType::Int | BaseType::Bool => Form::Sign,
            _ => Form::Zero,
        });
        let forms: ArrayVec<Form, 16> = forms.take(16).collect();
        let sources: ArrayVec<Def, 16> = forms.iter().enumerate().map(|(n, &f)| self.operand(inst, n, f)).collect();
        let toward_zero = match op {
            O::F2f16Rtz => true,
            O::F2f16Rtne => false,
            _ => self.mode.rounds_toward_zero(16),
        };
        let by_odd = self.mode.rounds_toward_zero(16) || self.mode.rounds_toward_zero(32);
        let mut m = self.arithmetic(inst, components);
        m.builder.flags = flags;
        let value = match (op, &sources[..]) {
            (_, &[a]) if is_cast => {
                if m.bits(a) == 64 {
                    m.exact();
                    to_odd(&mut m, a)
                } else {
                    a
                }
            }
            (O::I2f16 | O::I2fmp, &[a]) => m.op(O::I2f32, &[a]),
            (O::U2f16 | O::U2fmp, &[a]) => m.op(O::U2f32, &[a]),
            (O::B2f16, &[a]) => m.op(O::B2f32, &[a]),
            (O::Fadd, &[a, b]) if by_odd => sum_to_odd(&mut m, a, b),
            (O::Fsub, &[a, b]) if by_odd => {
                let b = m.fneg(b);
                sum_to_odd(&mut m, a, b)
            }
            // The product of two 16-bit floats is exact; the sum has up to 33 digits, and a tie of 16-bit floats may be
            // among the 32-bit floats next to it.
            (O::Ffma, &[a, b, c]) => {
                m.exact();
                let product = m.fmul(a, b);
                sum_to_odd(&mut m, product, c)
            }
            (_, sources) => {
                let operands: ArrayVec<AluSrc, 16> = sources.iter().map(|&source| source.into()).collect();
                m.builder.alu_sized(op, components, &operands)
            }
        };
        let flushes = self.mode.flushes_denormals(16);
        if is_representable(op) && !flushes {
            self.replace_alu(inst, Form::Float, value);
            return true;
        }
        let mode = self.mode;
        let width = self.body.num_components(value);
        // Several components at once, if they are all results.
        if !toward_zero && !flushes && width > 1 && width == components {
            let word = pack_pairs(&mut self.arithmetic(inst, width).builder, value);
            self.set_paired(def);
            self.replace_alu(inst, Form::Word, word);
            return true;
        }
        let mut m = self.arithmetic(inst, width);
        let word = if toward_zero {
            m.exact();
            narrow_to_word(&mut m, value, true, mode)
        } else {
            let word = pack(&mut m.builder, value);
            if flushes { flushed(&mut m, word) } else { word }
        };
        self.replace_alu(inst, Form::Zero, word);
        true
    }

    /// Where 16-bit denormals are flushed, flushes the results of an unpacking, as the mode will not apply any more.
    pub fn flush_unpacked(&mut self, inst: Inst, op: AluOp) -> bool {
        use AluOp as O;
        if !matches!(op, O::UnpackHalf2x16 | O::UnpackHalf2x16SplitX | O::UnpackHalf2x16SplitY) {
            return false;
        }
        let Some(def) = self.body.inst_def(inst) else { return false };
        let cursor = crate::cursor::Cursor::After(inst);
        let components = self.body.num_components(def);
        let mut b = crate::builder::Builder::new(self.body, cursor);
        let exponents = b.u32_const(0x7fff_ffff);
        let least = b.u32_const((1.0f32 / 16384.0).to_bits());
        let sign = b.u32_const(0x8000_0000);
        let all = |def: Def| AluSrc::component(def, 0);
        let magnitude = b.alu_sized(O::Iand, components, &[def.into(), all(exponents)]);
        let is_small = b.alu_sized(O::Ult, components, &[magnitude.into(), all(least)]);
        let zero = b.alu_sized(O::Iand, components, &[def.into(), all(sign)]);
        let value = b.alu_sized(O::Bcsel, components, &[is_small.into(), zero.into(), def.into()]);
        let readers = [magnitude, zero, value].map(|value| self.body.def_inst(value));
        for source in self.body.uses_vec(def) {
            if !readers.iter().any(|&reader| self.body.user(source) == crate::entities::User::Inst(reader)) {
                self.body.set_src(source, value);
            }
        }
        self.progress = true;
        true
    }
}

/// Returns whether the results of an operation on 16-bit floats, computed in 32 bits, are 16-bit floats.
fn is_representable(op: AluOp) -> bool {
    use AluOp as O;
    matches!(op, O::Fneg | O::Fabs | O::Fsat | O::FsatSigned | O::FclampPos | O::Fsign | O::Fmin | O::Fmax | O::B2f16)
        || matches!(op, O::Ftrunc | O::Fceil | O::Ffloor | O::FroundEven | O::Fquantize2f16 | O::FrexpSig)
        || op.info().group == "compare-to-float"
}

/// Replaces the bits of denormal numbers by zeros.
fn flushed(m: &mut Arithmetic<'_>, word: Def) -> Def {
    let exponent = m.iand_imm(word, 0x7c00);
    let sign = m.iand_imm(word, 0x8000);
    let is_small = m.is_zero(exponent);
    m.bcsel(is_small, sign, word)
}

/// Returns the sum of two numbers, of which one has at most 22 digits and the other at most 11: inexact sums are
/// replaced by the neighbour with an odd last bit, so that a second rounding in any direction is correct, whatever the
/// rounding mode of 32-bit floats is.
fn sum_to_odd(m: &mut Arithmetic<'_>, a: Def, b: Def) -> Def {
    m.exact();
    let sum = m.fadd(a, b);
    let (magnitude_a, magnitude_b) = (m.fabs(a), m.fabs(b));
    let in_order = m.fge(magnitude_a, magnitude_b);
    let (large, small) = (m.bcsel(in_order, a, b), m.bcsel(in_order, b, a));
    let added = m.fsub(sum, large);
    let error = m.fsub(small, added);
    // Not for NaN.
    let zero = m.int(0);
    let (above, below) = (m.flt(zero, error), m.flt(error, zero));
    let is_inexact = m.ior(above, below);
    let is_even = m.iand_imm(sum, 1);
    let is_even = m.is_zero(is_even);
    let changes = m.iand(is_inexact, is_even);
    let signs = m.ixor(sum, error);
    let toward_zero = m.is_negative(signs);
    let (more, less) = (m.iadd_imm(sum, 1), m.iadd_imm(sum, u64::from(u32::MAX)));
    let neighbour = m.bcsel(toward_zero, less, more);
    m.bcsel(changes, neighbour, sum)
}
