//! ALU instructions of 32 bits.

use tgsi::shader::{Dst, Src};
use tgsi::tables::{File, Opcode};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::AluFlags;
use tgsi_ir::{Def, Inst, Swizzle};
use tgsi_registers::chase;
use tgsi_registers::chase::Operand;
use tgsi_to_ir::opcodes::{Form, from_ir};

use super::{Selector, Value, lane_mask};
use crate::DriverError;

/// Comparisons of whole vectors: per-component comparison, how results combine, components.
const fn vector_comparison(op: AluOp) -> Option<(Opcode, Opcode, usize)> {
    Some(match op {
        AluOp::B32allFequal2 => (Opcode::Fseq, Opcode::And, 2),
        AluOp::B32allFequal3 => (Opcode::Fseq, Opcode::And, 3),
        AluOp::B32allFequal4 => (Opcode::Fseq, Opcode::And, 4),
        AluOp::B32anyFnequal2 => (Opcode::Fsne, Opcode::Or, 2),
        AluOp::B32anyFnequal3 => (Opcode::Fsne, Opcode::Or, 3),
        AluOp::B32anyFnequal4 => (Opcode::Fsne, Opcode::Or, 4),
        AluOp::FallEqual2 => (Opcode::Seq, Opcode::Min, 2),
        AluOp::FallEqual3 => (Opcode::Seq, Opcode::Min, 3),
        AluOp::FallEqual4 => (Opcode::Seq, Opcode::Min, 4),
        AluOp::FanyNequal2 => (Opcode::Sne, Opcode::Max, 2),
        AluOp::FanyNequal3 => (Opcode::Sne, Opcode::Max, 3),
        AluOp::FanyNequal4 => (Opcode::Sne, Opcode::Max, 4),
        AluOp::B32allIequal2 => (Opcode::Useq, Opcode::And, 2),
        AluOp::B32allIequal3 => (Opcode::Useq, Opcode::And, 3),
        AluOp::B32allIequal4 => (Opcode::Useq, Opcode::And, 4),
        AluOp::B32anyInequal2 => (Opcode::Usne, Opcode::Or, 2),
        AluOp::B32anyInequal3 => (Opcode::Usne, Opcode::Or, 3),
        AluOp::B32anyInequal4 => (Opcode::Usne, Opcode::Or, 4),
        _ => return None,
    })
}

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
pub(super) fn operand(source: &(Value, Swizzle)) -> Src {
    first_channels(source, 4)
}

/// Like `operand` for the first `count` channels; the others repeat the first one.
fn first_channels((value, swizzle): &(Value, Swizzle), count: usize) -> Src {
    value.source([0, 1, 2, 3].map(|c| swizzle.get(if c < count { c } else { 0 }) & 3))
}

impl Selector<'_> {
    pub(super) fn alu(&mut self, inst: Inst, op: AluOp) -> Result<(), DriverError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let unsupported = DriverError::UnsupportedAlu { inst, op };
        if Selector::is_move(op) {
            return if self.recognized_vector(inst, def, op) { Ok(()) } else { self.vector(inst, def, op) };
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
            return self.alu64(inst, def, op, &sources);
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
                self.bit_field(inst, def, op, &sources);
                return Ok(());
            }
            AluOp::Umod | AluOp::Udiv | AluOp::Irem | AluOp::Imod => return self.division(def, op, &sources),
            _ => {}
        }
        let (dst, saturate) = self.alu_destination(def);
        match op {
            // Not lowered before selection, because addresses take the floor anyway.
            AluOp::Ffloor if !self.options.has_flr => {
                self.floor(dst, operand(&sources[0]), saturate);
                return Ok(());
            }
            AluOp::Ftrunc if !self.options.has_trunc => {
                self.truncated(dst, operand(&sources[0]), saturate);
                return Ok(());
            }
            _ => {}
        }
        if let Some((form, opcode)) = from_ir(op) {
            if form == Form::Replicated {
                self.per_channel(opcode, dst, &sources, saturate);
                return Ok(());
            }
            let count = if let Form::Horizontal(count) = form { usize::from(count) } else { 4 };
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
            AluOp::Fmulz => self.multiply_or_zero(dst, src(0)?, src(1)?, saturate),
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
            AluOp::Fdot2Madz | AluOp::Fdot3Madz | AluOp::Fdot4Madz => self.dot_or_zero(dst, op, &sources, saturate),
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
                self.bit_field_in_range(dst, op, &sources);
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

    /// Emits an instruction per distinct source channel.
    fn per_channel(&mut self, opcode: Opcode, dst: Dst, sources: &Sources, saturate: bool) {
        // The destination may be a register that the sources read: later parts must not read results of earlier ones.
        let selected = |c: usize| -> arrayvec::ArrayVec<u8, 4> { sources.iter().map(|s| s.1.get(c) & 3).collect() };
        let mut parts: arrayvec::ArrayVec<(u8, usize), 4> = arrayvec::ArrayVec::new();
        for c in (0..4).filter(|c| dst.write_mask & 1 << c != 0) {
            match parts.iter_mut().find(|p| selected(p.1) == selected(c)) {
                Some(part) => part.0 |= 1 << c,
                None => parts.push((1 << c, c)),
            }
        }
        let overlaps = parts.len() > 1 && sources.iter().any(|s| s.0.register == dst.register);
        let target = if overlaps { self.temp() } else { dst.register };
        for &(mask, channel) in &parts {
            let operands: arrayvec::ArrayVec<Src, 4> =
                sources.iter().map(|(value, swizzle)| value.lane(swizzle.get(channel) & 3)).collect();
            if opcode == Opcode::Sqrt && !self.options.has_sqrt {
                self.square_root(Dst::new(target).masked(mask), operands[0], saturate);
            } else {
                self.emit_saturated(opcode, Dst::new(target).masked(mask), &operands, saturate);
            }
        }
        if overlaps {
            self.emit(Opcode::Mov, dst, &[Src::new(target)]);
        }
    }

    /// Emits the largest integer that is not greater than an operand.
    fn floor(&mut self, dst: Dst, src: Src, saturate: bool) {
        if self.options.has_flr {
            self.emit_saturated(Opcode::Flr, dst, &[src], saturate);
            return;
        }
        // The fraction of an infinity is NaN, which clamps to 0, so that the infinity is kept.
        let m = dst.write_mask;
        let fraction = self.temp();
        self.emit_saturated(Opcode::Frc, Dst::new(fraction).masked(m), &[src], self.options.has_sat);
        let mut fraction = Src::new(fraction);
        if !self.options.has_sat {
            let zero = self.float(0.0);
            fraction = self.computed(Opcode::Max, m, &[fraction, zero]);
        }
        self.emit_saturated(Opcode::Add, dst, &[src, negated(fraction)], saturate);
    }

    /// Emits an operand without its fraction.
    fn truncated(&mut self, dst: Dst, src: Src, saturate: bool) {
        let m = dst.write_mask;
        let magnitude = match self.options.fuse_fabs {
            true => absolute(src),
            false => self.computed(Opcode::Max, m, &[src, negated(src)]),
        };
        let whole = self.temp();
        self.floor(Dst::new(whole).masked(m), magnitude, false);
        self.select_negative(dst, [src, negated(Src::new(whole)), Src::new(whole)], saturate);
    }

    /// `CMP`: the second operand where the first is negative, else the third.
    fn select_negative(&mut self, dst: Dst, operands: [Src; 3], saturate: bool) {
        let (zero, m) = (self.float(0.0), dst.write_mask);
        if self.options.has_cmp {
            let [a, b, c] = operands;
            if self.options.narrow_cmp && are_different_temporaries(&operands) {
                // Adding -0 preserves every value.
                let none = negated(zero);
                let first = self.computed(Opcode::Cmp, m, &[a, b, none]);
                let second = self.computed(Opcode::Cmp, m, &[a, none, c]);
                self.emit_saturated(Opcode::Add, dst, &[first, second], saturate);
            } else {
                self.emit_saturated(Opcode::Cmp, dst, &operands, saturate);
            }
            return;
        }
        if self.options.native_integers {
            let is_negative = self.computed(Opcode::Fslt, m, &[operands[0], zero]);
            self.emit_saturated(Opcode::Ucmp, dst, &[is_negative, operands[1], operands[2]], saturate);
            return;
        }
        let is_negative = self.computed(Opcode::Slt, m, &[operands[0], zero]);
        self.select_by_float(dst, [is_negative, operands[1], operands[2]], saturate);
    }

    /// Emits the second operand where the first compares with 0 as given, else the third. The comparison gives an
    /// integer or a float, depending on the target.
    fn select_where(&mut self, compare: (Opcode, Opcode), dst: Dst, [a, b, c]: [Src; 3], saturate: bool) {
        let zero = self.float(0.0);
        if self.options.native_integers {
            let is_so = self.computed(compare.0, dst.write_mask, &[a, zero]);
            self.emit_saturated(Opcode::Ucmp, dst, &[is_so, b, c], saturate);
        } else {
            let is_so = self.computed(compare.1, dst.write_mask, &[a, zero]);
            self.select_by_float(dst, [is_so, b, c], saturate);
        }
    }

    /// The second operand where the first is 1.0, the third where it is 0.0.
    fn select_by_float(&mut self, dst: Dst, [factor, b, c]: [Src; 3], saturate: bool) {
        if self.options.has_cmp || self.options.native_integers {
            self.select_negative(dst, [negated(factor), b, c], saturate);
            return;
        }
        // One of the products is 0; `LRP` would lose a small value next to a large one.
        let m = dst.write_mask;
        if self.is_zero(&c, m) {
            self.emit_saturated(Opcode::Mul, dst, &[factor, b], saturate);
            return;
        }
        let one = self.float(1.0);
        let rest = self.computed(Opcode::Add, m, &[one, negated(factor)]);
        if self.is_zero(&b, m) {
            self.emit_saturated(Opcode::Mul, dst, &[rest, c], saturate);
            return;
        }
        let other = self.computed(Opcode::Mul, m, &[rest, c]);
        if self.options.fuse_mad {
            // The result is not rounded: one of the products is 0.
            self.emit_saturated(Opcode::Mad, dst, &[factor, b, other], saturate);
        } else {
            let first = self.computed(Opcode::Mul, m, &[factor, b]);
            self.emit_saturated(Opcode::Add, dst, &[first, other], saturate);
        }
    }

    /// Whether the components of a mask are zeros.
    fn is_zero(&self, src: &Src, mask: u8) -> bool {
        crate::machine::operands::immediate_words(&self.program.constants, src)
            .is_some_and(|words| (0..4).all(|c| mask & 1 << c == 0 || words[c] << 1 == 0))
    }

    /// Emits 1.0 where both factors are non-zero, else 0.0.
    fn both_factors_count(&mut self, a: Src, b: Src, mask: u8) -> Src {
        let zero = self.float(0.0);
        let first = self.computed(Opcode::Sne, mask, &[a, zero]);
        let second = self.computed(Opcode::Sne, mask, &[b, zero]);
        self.computed(Opcode::Mul, mask, &[first, second])
    }

    /// `fmulz(a, b) + c`.
    fn multiply_or_zero_and_add(&mut self, dst: Dst, [a, b, c]: [Src; 3], saturate: bool) {
        let product = self.temp();
        self.multiply_or_zero(Dst::new(product).masked(dst.write_mask), a, b, false);
        self.emit_saturated(Opcode::Add, dst, &[Src::new(product), c], saturate);
    }

    /// Emits a dot product in which zero times anything is zero. The shader's property implies that for `DP2` to `DP4`;
    /// without it the products are summed.
    fn dot_or_zero(&mut self, dst: Dst, op: AluOp, sources: &Sources, saturate: bool) {
        let count: usize = match op {
            AluOp::Fdot2Madz => 2,
            AluOp::Fdot3Madz => 3,
            _ => 4,
        };
        let [a, b] = [0, 1].map(|number| first_channels(&sources[number], count));
        if self.shader.info.use_legacy_math_rules {
            let opcode = [Opcode::Dp2, Opcode::Dp3, Opcode::Dp4][count - 2];
            self.emit_saturated(opcode, dst, &[a, b], saturate);
            return;
        }
        let products = self.temp();
        self.multiply_or_zero(Dst::new(products).masked((1 << count) - 1), a, b, false);
        let product = |lane: u8| Value::new(products).lane(lane);
        let (mut sum, last) = (product(0), count as u8 - 1);
        for lane in 1..last {
            sum = self.computed(Opcode::Add, 1, &[sum, product(lane)]).swizzled([0; 4]);
        }
        self.emit_saturated(Opcode::Add, dst, &[sum, product(last)], saturate);
    }

    /// Emits a product that is 0 where a factor is 0, whatever the other factor is.
    fn multiply_or_zero(&mut self, dst: Dst, a: Src, b: Src, saturate: bool) {
        let (zero, m) = (self.float(0.0), dst.write_mask);
        let product = self.computed(Opcode::Mul, m, &[a, b]);
        let counts = self.both_factors_count(a, b, m);
        if self.options.has_cmp || self.options.native_integers {
            self.select_negative(dst, [negated(counts), product, zero], saturate);
            return;
        }
        // The product may be NaN where it does not count, and would make any sum NaN: clamp it, to 0 there and to
        // infinities elsewhere.
        let one = self.float(1.0);
        let rest = self.computed(Opcode::Add, m, &[one, negated(counts)]);
        let inverse = self.temp();
        for channel in (0..4u8).filter(|c| m & 1 << c != 0) {
            self.emit(Opcode::Rcp, Dst::new(inverse).masked(1 << channel), &[rest.swizzled([channel; 4])]);
        }
        let most = self.computed(Opcode::Add, m, &[Src::new(inverse), negated(one)]);
        let least = self.computed(Opcode::Add, m, &[one, negated(Src::new(inverse))]);
        // Of two zeros the first one is returned, which is not negative.
        let above = self.computed(Opcode::Max, m, &[least, product]);
        self.emit_saturated(Opcode::Min, dst, &[most, above], saturate);
    }

    /// The square root without `SQRT`: the reciprocal of the reciprocal root, which is also correct for zero and
    /// infinity.
    fn square_root(&mut self, dst: Dst, src: Src, saturate: bool) {
        let root = self.computed(Opcode::Rsq, 1, &[src]);
        self.emit_saturated(Opcode::Rcp, dst, &[root.swizzled([0; 4])], saturate);
    }

    /// `UDIV`, `UMOD` and `MOD` by zero give all ones, the IR gives 0; and the IR's `imod` takes the divisor's sign.
    fn division(&mut self, def: Def, op: AluOp, sources: &Sources) -> Result<(), DriverError> {
        let (dst, _) = self.alu_destination(def);
        let (a, b) = (operand(&sources[0]), operand(&sources[1]));
        let opcode = match op {
            AluOp::Udiv => Opcode::Udiv,
            AluOp::Umod => Opcode::Umod,
            _ => Opcode::Mod,
        };
        let never_zero = crate::machine::operands::immediate_words(&self.program.constants, &b)
            .is_some_and(|words| (0..4).all(|c| dst.write_mask & 1 << c == 0 || words[c] != 0));
        if never_zero && op != AluOp::Imod {
            self.emit(opcode, dst, &[a, b]);
            return Ok(());
        }
        let m = dst.write_mask;
        let mut result = self.computed(opcode, m, &[a, b]);
        let zero = self.word(0);
        if op == AluOp::Imod {
            // remainder + divisor where the remainder is not 0 and the signs differ.
            let sum = self.computed(Opcode::Uadd, m, &[result, b]);
            let sign = self.computed(Opcode::Xor, m, &[result, b]);
            let negative = self.computed(Opcode::Islt, m, &[sign, zero]);
            let adjust = self.computed(Opcode::Ucmp, m, &[result, negative, zero]);
            result = self.computed(Opcode::Ucmp, m, &[adjust, sum, result]);
        }
        self.emit(Opcode::Ucmp, dst, &[b, result, zero]);
        Ok(())
    }

    fn compare_vectors(&mut self, dst: Dst, compare: Opcode, combine: Opcode, count: usize, sources: &Sources) {
        let operands: arrayvec::ArrayVec<Src, 4> = sources.iter().map(operand).collect();
        let parts = self.computed(compare, (1 << count) - 1, &operands);
        let part = |lane: u8| parts.swizzled([lane; 4]);
        if count == 4 {
            // Two halves at once.
            let (low, high) = (parts.swizzled([0, 1, 0, 0]), parts.swizzled([2, 3, 2, 2]));
            let halves = self.computed(combine, 3, &[low, high]);
            self.emit(combine, dst, &[0, 1].map(|lane| halves.swizzled([lane; 4])));
            return;
        }
        let (mut sum, last) = (part(0), count as u8 - 1);
        for lane in 1..last {
            sum = self.computed(combine, 1, &[sum, part(lane)]).swizzled([0; 4]);
        }
        self.emit(combine, dst, &[sum, part(last)]);
    }

    /// `mov` and `vecN`.
    fn vector(&mut self, inst: Inst, def: Def, op: AluOp) -> Result<(), DriverError> {
        let body = self.body;
        let wide = body.bit_size(def) == 64;
        let count = usize::from(body.num_components(def));
        if count > 4 || (wide && count > 2) || !matches!(body.bit_size(def), 32 | 64) {
            return Err(DriverError::BitSize { inst, bits: body.bit_size(def) });
        }
        // The source and component of each component of the result; none if undefined.
        let mut parts: arrayvec::ArrayVec<Option<(Value, u8, bool)>, 4> = arrayvec::ArrayVec::new();
        for c in 0..count {
            let (number, selector) = if op == AluOp::Mov { (0, c) } else { (c, 0) };
            let source = body.source(inst, number);
            if self.is_undef(body.src_def(source)) {
                parts.push(None);
                continue;
            }
            let chased = chase::chase_alu_src(body, inst, number, self.options.modifiers());
            let (value, swizzle) = self.alu_source(inst, number);
            let stays = matches!(chased.operand, Operand::Ssa(_)) && !chased.absolute && !chased.negate;
            parts.push(Some((value, swizzle.get(selector), stays)));
        }
        let dest = chase::chase_alu_dest(body, def, self.options.modifiers());
        if let Operand::Ssa(result) = dest.operand
            && !dest.saturate
            && let Some(value) = common_value(&parts, wide)
        {
            self.values.set(result, value);
            return Ok(());
        }
        let (dst, saturate) = self.alu_destination(def);
        let mut target = dst.register;
        let reads_itself = parts.iter().flatten().any(|p| p.0.register == dst.register);
        let distinct = parts.iter().flatten().any(|p| parts.iter().flatten().any(|q| !same(&p.0, &q.0)));
        if reads_itself && distinct {
            target = self.temp();
        }
        let lanes_of = |component: usize| lane_mask(1 << component, body.bit_size(def)) & dst.write_mask;
        let mut done = 0u8;
        for c in 0..count {
            let Some((value, _, _)) = parts[c] else { continue };
            if lanes_of(c) & !done == 0 {
                continue;
            }
            let mut channels = [0u8; 4];
            let mut lanes = 0u8;
            for k in c..count {
                let Some((other, component, _)) = parts[k] else { continue };
                if lanes_of(k) == 0 || !same(&other, &value) {
                    continue;
                }
                lanes |= lanes_of(k);
                if wide {
                    channels[2 * k] = 2 * component;
                    channels[2 * k + 1] = 2 * component + 1;
                } else {
                    channels[k] = component;
                }
            }
            done |= lanes;
            let first = channels[lanes.trailing_zeros() as usize & 3];
            for (channel, lane) in channels.iter_mut().enumerate() {
                if lanes & 1 << channel == 0 {
                    *lane = first;
                }
            }
            let src = value.source(channels);
            self.emit_saturated(Opcode::Mov, Dst::new(target).masked(lanes), &[src], saturate);
        }
        if target != dst.register {
            self.emit(Opcode::Mov, dst.masked(done), &[Src::new(target)]);
        }
        Ok(())
    }
}

/// Whether two values are the same register with the same modifiers.
fn same(a: &Value, b: &Value) -> bool {
    a.register == b.register && a.absolute == b.absolute && a.negate == b.negate && a.lanes == b.lanes
}

/// The value of a vector with all components in one register that does not change.
fn common_value(parts: &[Option<(Value, u8, bool)>], wide: bool) -> Option<Value> {
    let (first, _, _) = parts.iter().flatten().next().copied()?;
    let mut lanes = [0u8; 4];
    for (k, part) in parts.iter().enumerate() {
        let (value, component, stays) = match part {
            Some(part) => *part,
            None => (first, 0, true),
        };
        if !stays
            || value.register != first.register
            || value.register.indirect.is_some()
            || value.absolute != first.absolute
            || value.negate != first.negate
        {
            return None;
        }
        if wide {
            lanes[(2 * k) & 3] = value.lanes[usize::from((2 * component) & 3)];
            lanes[(2 * k + 1) & 3] = value.lanes[usize::from((2 * component + 1) & 3)];
        } else {
            lanes[k] = value.lanes[usize::from(component & 3)];
        }
    }
    Some(Value { lanes, ..first })
}

/// Whether the operands are three different temporaries.
fn are_different_temporaries([a, b, c]: &[Src; 3]) -> bool {
    let is_temporary = |src: &Src| src.register.file == File::Temporary;
    let differ = |a: &Src, b: &Src| a.register != b.register;
    [a, b, c].into_iter().all(is_temporary) && differ(a, b) && differ(b, c) && differ(a, c)
}

pub(super) fn negated(src: Src) -> Src {
    src.negated()
}

pub(super) fn absolute(src: Src) -> Src {
    src.absolute_value()
}
