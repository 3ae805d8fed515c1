//! ALU instructions of 32 bits.

mod expansions;
mod vectors;

use tgsi::shader::{Dst, Src};
use tgsi::tables::Opcode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::AluFlags;
use tgsi_ir::{Def, Inst, Swizzle};
use tgsi_to_ir::opcodes::{OperandForm, from_ir};

use super::{Selector, Value};
use crate::DriverError;
use vectors::vector_comparison;

/// The operands of an instruction: value and swizzle of each source.
pub(super) type Sources = arrayvec::ArrayVec<(Value, Swizzle), 4>;

/// The words of a constant operand, for the components in use.
pub(super) fn known(
    immediates: &crate::machine::Immediates,
    src: &Src,
    mask: u8,
) -> Option<arrayvec::ArrayVec<u32, 4>> {
    let words = crate::machine::operands::immediate_words(immediates, src)?;
    Some((0..4).filter(|c| mask & 1 << c != 0).map(|c| words[c]).collect())
}

/// The operand with component `swizzle[c]` in channel c.
pub(super) fn operand((value, swizzle): &(Value, Swizzle)) -> Src {
    value.source(swizzle.of_channels(0xf))
}

/// Like `operand` for the first `count` channels; the others repeat the first one.
fn first_channels((value, swizzle): &(Value, Swizzle), count: usize) -> Src {
    value.source(swizzle.of_channels((1 << count) - 1))
}

impl Selector<'_> {
    /// Emits `CMP` for a comparison with 0 on a target without comparisons. Those for kills are left to `KILL_IF`, which
    /// cannot test an operand in a register that changes in between. `IF` takes a comparison.
    fn compared_by_selection(&mut self, inst: Inst, def: Def, sources: &Sources) -> bool {
        let body = self.body;
        if self.options.native_integers || self.options.has_comparisons || body.is_used_by_if(def) {
            return false;
        }
        let count = usize::from(body.num_components(def));
        let is_zero = |number: usize| {
            let source = body.source(inst, number);
            (0..count).all(|c| {
                let component = usize::from(body.swizzle(source).get(c));
                body.constant_component(body.src_def(source), component).is_some_and(|word| word & 0x7fff_ffff == 0)
            })
        };
        // 0 < x where -x < 0.
        let compared = match sources.as_slice() {
            [value, _] if is_zero(1) => operand(value),
            [_, value] if is_zero(0) => operand(value).negated(),
            _ => return false,
        };
        let (one, zero) = (self.float(1.0), self.float(0.0));
        let (dst, saturate) = self.alu_destination(def);
        self.emit_saturated(Opcode::Cmp, dst, &[compared, one, zero], saturate);
        true
    }

    pub(super) fn select_alu(&mut self, inst: Inst, op: AluOp) -> Result<(), DriverError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let unsupported = DriverError::UnsupportedAlu { inst, op };
        if Selector::is_move(op) {
            return if self.recognized_vector(inst, def, op) { Ok(()) } else { self.select_vector(inst, def, op) };
        }
        let wide = body.bit_size(def) == 64 || body.sources(inst).any(|s| body.bit_size(body.src_def(s)) == 64);
        if body.num_components(def) > 4 || body.num_sources(inst) > 4 {
            return Err(unsupported);
        }
        if !wide
            && (![32].contains(&body.bit_size(def)) || body.sources(inst).any(|s| body.bit_size(body.src_def(s)) != 32))
        {
            return Err(DriverError::BitSize { inst, bits: body.bit_size(def) });
        }
        if matches!(op, AluOp::U2f32 | AluOp::I2f32) && self.float_count(inst)? {
            return Ok(());
        }
        let mut sources = Sources::new();
        for number in 0..body.num_sources(inst) {
            sources.push(self.alu_source(inst, number));
        }
        if wide {
            return self.select_alu64(inst, def, op, &sources);
        }
        if !self.options.native_integers && self.is_float_already(def, op) {
            let (dst, saturate) = self.alu_destination(def);
            self.emit_saturated(Opcode::Mov, dst, &[operand(&sources[0])], saturate);
            return Ok(());
        }
        match op {
            // Words that consist of other words: no code if the value stays SSA.
            AluOp::UnpackHalf2x16SplitX | AluOp::UnpackHalf2x16SplitY => {
                let (dst, saturate) = self.alu_destination(def);
                let channel = u8::from(op == AluOp::UnpackHalf2x16SplitY);
                for c in (0..4).filter(|c| dst.write_mask & 1 << c != 0) {
                    let halves = self.computed(Opcode::Up2h, 3, &[sources[0].0.lane(sources[0].1.get(c))]);
                    self.emit_saturated(Opcode::Mov, dst.masked(1 << c), &[halves.swizzled([channel; 4])], saturate);
                }
                return Ok(());
            }
            AluOp::PackHalf2x16Split => {
                let (dst, saturate) = self.alu_destination(def);
                let temp = self.temp();
                for (channel, source) in sources.iter().take(2).enumerate() {
                    self.emit(Opcode::Mov, Dst::new(temp).masked(1 << channel), &[source.0.lane(source.1.get(0))]);
                }
                self.emit_saturated(Opcode::Pk2h, dst, &[Src::new(temp).swizzled([0, 1, 0, 0])], saturate);
                return Ok(());
            }
            AluOp::B32csel if self.recognized(inst, def) => return Ok(()),
            AluOp::Slt if self.compared_by_selection(inst, def, &sources) => return Ok(()),
            AluOp::Fadd => {
                let count = usize::from(body.num_components(def));
                if let Some(source) = self.recognized_sign(inst, count) {
                    let (dst, saturate) = self.alu_destination(def);
                    self.emit_saturated(Opcode::Ssg, dst, &[operand(&source)], saturate);
                    return Ok(());
                }
            }
            AluOp::PackSnorm4x8 => {
                let packed = match self.recognized_pack(inst) {
                    Some(source) => source,
                    // NaN packs as -1 in the IR, as 0 in TGSI: the maximum with -1 maps NaN to -1, and changes no other
                    // result.
                    None => {
                        let least = self.float(-1.0);
                        self.computed(Opcode::Max, 0xf, &[operand(&sources[0]), least])
                    }
                };
                let (dst, saturate) = self.alu_destination(def);
                self.emit_saturated(Opcode::Pk4b, dst, &[packed], saturate);
                return Ok(());
            }
            AluOp::Bfi | AluOp::Bfm | AluOp::Ubfe | AluOp::Ibfe => {
                self.select_bit_field(inst, def, op, &sources);
                return Ok(());
            }
            AluOp::Umod | AluOp::Udiv | AluOp::Irem | AluOp::Imod => return self.select_division(def, op, &sources),
            _ => {}
        }
        let (dst, saturate) = self.alu_destination(def);
        match op {
            // Not lowered before selection, because addresses take the floor anyway.
            AluOp::Ffloor if !self.options.has_flr => {
                self.emit_floor(dst, operand(&sources[0]), saturate);
                return Ok(());
            }
            AluOp::Ftrunc if !self.options.has_trunc => {
                self.emit_truncation(dst, operand(&sources[0]), saturate);
                return Ok(());
            }
            _ => {}
        }
        if let Some((form, opcode)) = from_ir(op) {
            if form == OperandForm::Replicated {
                self.per_channel(opcode, dst, &sources, saturate);
                return Ok(());
            }
            let count = if let OperandForm::Horizontal(count) = form { usize::from(count) } else { 4 };
            let operands: arrayvec::ArrayVec<Src, 4> = sources.iter().map(|s| first_channels(s, count)).collect();
            self.emit_saturated(opcode, dst, &operands, saturate);
            return Ok(());
        }
        if let Some((compare, combine, count)) = vector_comparison(op) {
            self.compare_vectors(dst, compare, combine, count, &sources);
            return Ok(());
        }
        let flags = body.alu(inst).map_or(AluFlags::NONE, |(_, flags)| flags);
        let src = |number: usize| sources.get(number).map(operand).ok_or(unsupported.clone());
        match op {
            AluOp::Fneg => self.emit_saturated(Opcode::Mov, dst, &[negated(src(0)?)], saturate),
            AluOp::Fabs if self.options.fuse_fabs => {
                self.emit_saturated(Opcode::Mov, dst, &[absolute(src(0)?)], saturate);
            }
            AluOp::Fabs => self.emit_saturated(Opcode::Max, dst, &[src(0)?, negated(src(0)?)], saturate),
            AluOp::Fsat => self.emit_saturated(Opcode::Mov, dst, &[src(0)?], true),
            // A property of the shader selects the rule for products with zero.
            AluOp::Fmulz if self.shader.info.use_legacy_math_rules => {
                self.emit_saturated(Opcode::Mul, dst, &[src(0)?, src(1)?], saturate);
            }
            AluOp::Ffmaz if self.shader.info.use_legacy_math_rules => {
                let opcode = if self.options.has_fma { Opcode::Fma } else { Opcode::Mad };
                self.emit_saturated(opcode, dst, &[src(0)?, src(1)?, src(2)?], saturate);
            }
            AluOp::Fmulz => self.emit_multiply_or_zero(dst, src(0)?, src(1)?, saturate),
            AluOp::Fmadz if self.shader.info.use_legacy_math_rules => {
                self.emit_saturated(Opcode::Mad, dst, &[src(0)?, src(1)?, src(2)?], saturate);
            }
            AluOp::FlrpMadz if self.shader.info.use_legacy_math_rules => {
                self.emit_saturated(Opcode::Lrp, dst, &[src(0)?, src(1)?, src(2)?], saturate);
            }
            AluOp::Fmadz => self.multiply_or_zero_and_add(dst, [src(0)?, src(1)?, src(2)?], saturate),
            AluOp::FlrpMadz => {
                let difference = self.computed(Opcode::Add, dst.write_mask, &[src(1)?, negated(src(2)?)]);
                self.multiply_or_zero_and_add(dst, [src(0)?, difference, src(2)?], saturate);
            }
            AluOp::Fdot2Madz
            | AluOp::Fdot3Madz
            | AluOp::Fdot4Madz
            | AluOp::Fdot2MadzReplicated
            | AluOp::Fdot3MadzReplicated
            | AluOp::Fdot4MadzReplicated => self.emit_dot_or_zero(dst, op, &sources, saturate),
            // Rounded once, like the sum; without a product the result is the addend.
            AluOp::Ffmaz if self.options.has_fma && (self.options.native_integers || self.options.has_cmp) => {
                let sum = self.computed(Opcode::Fma, dst.write_mask, &[src(0)?, src(1)?, src(2)?]);
                let counts = self.both_factors_count(src(0)?, src(1)?, dst.write_mask);
                self.select_negative(dst, [negated(counts), sum, src(2)?], saturate);
            }
            AluOp::Ffmaz => self.multiply_or_zero_and_add(dst, [src(0)?, src(1)?, src(2)?], saturate),
            AluOp::BitfieldSelect => {
                let chosen = self.computed(Opcode::And, dst.write_mask, &[src(0)?, src(1)?]);
                let inverse = self.computed(Opcode::Not, dst.write_mask, &[src(0)?]);
                let others = self.computed(Opcode::And, dst.write_mask, &[inverse, src(2)?]);
                self.emit(Opcode::Or, dst, &[chosen, others]);
            }
            AluOp::Fsub => self.emit_saturated(Opcode::Add, dst, &[src(0)?, negated(src(1)?)], saturate),
            AluOp::Isub => {
                let negative = self.computed(Opcode::Ineg, dst.write_mask, &[src(1)?]);
                self.emit(Opcode::Uadd, dst, &[src(0)?, negative]);
            }
            // `LRP` computes the difference of the endpoints first: it rounds differently, and gives NaN for
            // infinities.
            AluOp::Flrp if flags.contains(AluFlags::EXACT) => {
                let (m, one) = (dst.write_mask, self.float(1.0));
                let rest = self.computed(Opcode::Add, m, &[one, negated(src(2)?)]);
                let first = self.computed(Opcode::Mul, m, &[src(0)?, rest]);
                let second = self.computed(Opcode::Mul, m, &[src(1)?, src(2)?]);
                self.emit_saturated(Opcode::Add, dst, &[first, second], saturate);
            }
            AluOp::Flrp => self.emit_saturated(Opcode::Lrp, dst, &[src(2)?, src(1)?, src(0)?], saturate),
            AluOp::B2f32 => {
                let one = self.float(1.0);
                self.emit(Opcode::And, dst, &[src(0)?, one]);
            }
            AluOp::B2i32 => {
                let one = self.word(1);
                self.emit(Opcode::And, dst, &[src(0)?, one]);
            }
            // Targets without integers have booleans here, as 0.0 and 1.0.
            AluOp::Fcsel if !self.options.native_integers => {
                self.select_by_float(dst, [src(0)?, src(1)?, src(2)?], saturate);
            }
            // NaN is not equal to 0.
            AluOp::Fcsel => {
                self.select_where((Opcode::Fsne, Opcode::Sne), dst, [src(0)?, src(1)?, src(2)?], saturate);
            }
            // NaN is not greater than 0.
            AluOp::FcselGt => self.select_negative(dst, [negated(src(0)?), src(1)?, src(2)?], saturate),
            // NaN is not greater or equal, so the inverted comparison would be wrong.
            AluOp::FcselGe => {
                self.select_where((Opcode::Fsge, Opcode::Sge), dst, [src(0)?, src(1)?, src(2)?], saturate);
            }
            AluOp::UbitfieldExtract | AluOp::IbitfieldExtract | AluOp::BitfieldInsert => {
                self.emit_bit_field_in_range(dst, op, &sources);
            }
            AluOp::ExtractU8 | AluOp::ExtractI8 | AluOp::ExtractU16 | AluOp::ExtractI16 => {
                let bits = if matches!(op, AluOp::ExtractU8 | AluOp::ExtractI8) { 8 } else { 16 };
                let signed = matches!(op, AluOp::ExtractI8 | AluOp::ExtractI16);
                let (shift, width) = (self.word(if bits == 8 { 3 } else { 4 }), self.word(bits));
                let m = dst.write_mask;
                let start = self.computed(Opcode::Shl, m, &[src(1)?, shift]);
                let operands = [src(0)?, start, width];
                let opcode = if signed { Opcode::Ibfe } else { Opcode::Ubfe };
                let count = 32 / bits;
                if known(&self.program.constants, &src(1)?, m).is_some_and(|words| words.iter().all(|&w| w < count)) {
                    self.emit(opcode, dst, &operands);
                    return Ok(());
                }
                // Beyond the last part the result is the sign, or 0.
                let count = self.word(count);
                let part = self.computed(opcode, m, &operands);
                let exists = self.computed(Opcode::Uslt, m, &[src(1)?, count]);
                if signed {
                    let most = self.word(31);
                    let sign = self.computed(Opcode::Ishr, m, &[src(0)?, most]);
                    self.emit(Opcode::Ucmp, dst, &[exists, part, sign]);
                } else {
                    self.emit(Opcode::And, dst, &[part, exists]);
                }
            }
            AluOp::Iadd3 => {
                let sum = self.computed(Opcode::Uadd, dst.write_mask, &[src(0)?, src(1)?]);
                self.emit(Opcode::Uadd, dst, &[sum, src(2)?]);
            }
            AluOp::UaddCarry => {
                // On overflow the sum is less than a summand.
                let one = self.word(1);
                let sum = self.computed(Opcode::Uadd, dst.write_mask, &[src(0)?, src(1)?]);
                let less = self.computed(Opcode::Uslt, dst.write_mask, &[sum, src(0)?]);
                self.emit(Opcode::And, dst, &[less, one]);
            }
            AluOp::UsubBorrow => {
                let one = self.word(1);
                let less = self.computed(Opcode::Uslt, dst.write_mask, &[src(0)?, src(1)?]);
                self.emit(Opcode::And, dst, &[less, one]);
            }
            AluOp::Fsum2 | AluOp::Fsum3 | AluOp::Fsum4 => {
                let (opcode, count) = match op {
                    AluOp::Fsum2 => (Opcode::Dp2, 2),
                    AluOp::Fsum3 => (Opcode::Dp3, 3),
                    _ => (Opcode::Dp4, 4),
                };
                let one = self.float(1.0);
                self.emit_saturated(opcode, dst, &[first_channels(&sources[0], count), one], saturate);
            }
            _ => return Err(unsupported),
        }
        Ok(())
    }
}

pub(super) fn negated(src: Src) -> Src {
    src.negated()
}

pub(super) fn absolute(src: Src) -> Src {
    src.absolute_value()
}
