//! ALU operations on small integers and booleans.

use arrayvec::ArrayVec;

use super::values::{Form, Lowering};
use crate::alu::{AluInfo, AluOp, BaseType};
use crate::body::AluFlags;
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::passes::lower_numbers::arithmetic::Arithmetic;

/// The operands of an instruction as 32-bit values (those that are not small keep their size).
type Operands = ArrayVec<Def, 16>;

impl Lowering<'_> {
    /// Lowers an ALU instruction with a small operand or result.
    pub fn lower_alu(&mut self, inst: Inst) {
        let (Some((op, flags)), Some(def)) = (self.body.alu(inst), self.body.inst_def(inst)) else { return };
        let takes = self.body.sources(inst).any(|source| self.is_small(self.body.src_def(source)));
        if self.mode.flushes_denormals(16) && self.flush_unpacked(inst, op) {
            return;
        }
        if !takes && !self.is_small(def) || self.is_bridge(inst, op) {
            return;
        }
        if self.lower_move(inst, op) || self.lower_float(inst, op, flags) {
            return;
        }
        let shape = self.body.shape(def);
        let bits = self.open_bits(inst, op);
        let Some((value, form)) = self.special(inst, op, bits, shape.num_components) else {
            return self.lower_plainly(inst, op, flags);
        };
        self.replace_alu(inst, form, value);
    }

    /// Returns the size that the opcode leaves open, before operands were widened.
    fn open_bits(&self, inst: Inst, op: AluOp) -> u32 {
        let mut open = op.info().input_types.iter().zip(self.body.sources(inst)).filter(|(ty, _)| ty.is_unsized());
        let Some((_, source)) = open.next() else { return 32 };
        let def = self.body.src_def(source);
        u32::from(if self.is_small(def) { self.bits(def) } else { self.body.bit_size(def) })
    }

    /// Records the result of a lowered ALU instruction.
    pub fn replace_alu(&mut self, inst: Inst, form: Form, value: Def) {
        let Some(def) = self.body.inst_def(inst) else { return };
        let count = self.body.num_components(def);
        let value = if self.body.num_components(value) == count {
            value
        } else {
            // One value for all components.
            Builder::new(self.body, Cursor::Before(inst)).mov(AluSrc::component(value, 0), count)
        };
        if self.is_small(def) {
            self.replace(inst, form, value);
        } else {
            self.body.replace_all_uses(def, value);
            self.body.remove_inst(inst);
            self.progress = true;
        }
    }

    /// Emits the same operation on operands that are extended as the opcode interprets them.
    fn lower_plainly(&mut self, inst: Inst, op: AluOp, flags: AluFlags) {
        let info = op.info();
        let forms = info.input_types.iter().map(|ty| match ty.base {
            _ if low_bits_suffice(op) => Form::Word,
            BaseType::Int | BaseType::Bool => Form::Sign,
            BaseType::Float => Form::Float,
            _ => Form::Zero,
        });
        let forms: ArrayVec<Form, 16> = forms.take(16).collect();
        let sources: Operands = forms.iter().enumerate().map(|(n, &form)| self.operand(inst, n, form)).collect();
        let mut m = self.arithmetic(inst, 1);
        m.components = m.builder.body.inst_def(inst).map_or(1, |def| m.builder.body.num_components(def));
        m.builder.flags = flags;
        let operands: ArrayVec<AluSrc, 16> = sources.iter().map(|&source| source.into()).collect();
        let components = m.components;
        let value = m.builder.alu_sized(word_form(op), components, &operands);
        self.replace_alu(inst, result_form(op), value);
    }

    /// Lowers operations that only move bits.
    fn lower_move(&mut self, inst: Inst, op: AluOp) -> bool {
        use AluOp as O;
        let (first, selects_by_word) = match op {
            O::B8csel | O::B16csel | O::B32csel | O::B32fcselMdg => (1, true),
            O::Bcsel => (1, false),
            _ if op.is_vec_or_mov() => (0, false),
            _ => return false,
        };
        let Some(def) = self.body.inst_def(inst) else { return false };
        let mut values = (first..self.body.num_sources(inst)).map(|number| self.body.src(inst, number));
        let is_float = values.clone().any(|value| self.is_float(value))
            && values.all(|value| self.is_float(value) || self.is_number(value));
        let form = if is_float { Form::Float } else { Form::Word };
        let mut sources: ArrayVec<AluSrc, 16> = ArrayVec::new();
        for number in 0..self.body.num_sources(inst) {
            let source = self.body.source(inst, number);
            let swizzle = self.body.swizzle(source);
            let value = self.source(inst, number, if number < first { Form::Zero } else { form });
            sources.push(AluSrc::new(value, swizzle));
        }
        let count = self.body.num_components(def);
        let op = if selects_by_word { O::B32csel } else { op };
        let value = Builder::new(self.body, Cursor::Before(inst)).alu_sized(op, count, &sources);
        self.replace_alu(inst, form, value);
        true
    }

    /// Lowers operations whose form depends on the size.
    fn special(&mut self, inst: Inst, op: AluOp, bits: u32, components: u8) -> Option<(Def, Form)> {
        use AluOp as O;
        let info = op.info();
        let mask = |bits: u32| (1u64 << bits) - 1;
        Some(match op {
            O::Ishl | O::Ishr | O::Ushr => {
                let form = match op {
                    O::Ishl => Form::Word,
                    O::Ishr => Form::Sign,
                    _ => Form::Zero,
                };
                let (a, count) = (self.operand(inst, 0, form), self.operand(inst, 1, Form::Zero));
                let mut m = self.arithmetic(inst, components);
                let count = m.iand_imm(count, u64::from(bits - 1));
                (m.op(op, &[a, count]), form)
            }
            O::Urol | O::Uror => {
                let (a, count) = (self.operand(inst, 0, Form::Zero), self.operand(inst, 1, Form::Zero));
                let mut m = self.arithmetic(inst, components);
                let back = m.ineg(count);
                let [count, back] = [count, back].map(|count| m.iand_imm(count, u64::from(bits - 1)));
                let (left, right) = if op == O::Urol { (count, back) } else { (back, count) };
                let (left, right) = (m.ishl(a, left), m.ushr(a, right));
                (m.ior(left, right), Form::Word)
            }
            _ if info.group == "compare-bit" && matches!(bits, 8 | 16) => {
                let (a, count) = (self.operand(inst, 0, Form::Word), self.operand(inst, 1, Form::Zero));
                let mut m = self.arithmetic(inst, components);
                let count = m.iand_imm(count, u64::from(bits - 1));
                (m.op(word_form(op), &[a, count]), Form::Sign)
            }
            O::ImulHigh | O::UmulHigh => {
                let form = if op == O::ImulHigh { Form::Sign } else { Form::Zero };
                let (a, b) = (self.operand(inst, 0, form), self.operand(inst, 1, form));
                let mut m = self.arithmetic(inst, components);
                // The whole product fits.
                let product = m.imul(a, b);
                let high = if op == O::ImulHigh { m.ishr_imm(product, bits) } else { m.ushr_imm(product, bits) };
                (high, form)
            }
            O::IaddSat | O::IsubSat => {
                let (a, b) = (self.operand(inst, 0, Form::Sign), self.operand(inst, 1, Form::Sign));
                let mut m = self.arithmetic(inst, components);
                let sum = if op == O::IaddSat { m.iadd(a, b) } else { m.isub(a, b) };
                (clamp_signed(&mut m, sum, bits), Form::Sign)
            }
            O::UaddSat | O::UaddCarry => {
                let (a, b) = (self.operand(inst, 0, Form::Zero), self.operand(inst, 1, Form::Zero));
                let mut m = self.arithmetic(inst, components);
                let sum = m.iadd(a, b);
                let value = if op == O::UaddSat {
                    let most = m.constant(32, mask(bits));
                    m.op(O::Umin, &[sum, most])
                } else {
                    m.ushr_imm(sum, bits)
                };
                (value, Form::Zero)
            }
            O::UsubSat => {
                let (a, b) = (self.operand(inst, 0, Form::Zero), self.operand(inst, 1, Form::Zero));
                let mut m = self.arithmetic(inst, components);
                let (difference, zero) = (m.isub(a, b), m.int(0));
                (m.op(O::Imax, &[difference, zero]), Form::Zero)
            }
            O::UabsIsub | O::UabsUsub => {
                let form = if op == O::UabsIsub { Form::Sign } else { Form::Zero };
                let (a, b) = (self.operand(inst, 0, form), self.operand(inst, 1, form));
                let mut m = self.arithmetic(inst, components);
                let difference = m.isub(a, b);
                (m.iabs(difference), Form::Zero)
            }
            O::Ihadd | O::Uhadd | O::Irhadd | O::Urhadd => {
                let form = if matches!(op, O::Ihadd | O::Irhadd) { Form::Sign } else { Form::Zero };
                let (a, b) = (self.operand(inst, 0, form), self.operand(inst, 1, form));
                let mut m = self.arithmetic(inst, components);
                let mut sum = m.iadd(a, b);
                if matches!(op, O::Irhadd | O::Urhadd) {
                    sum = m.iadd_imm(sum, 1);
                }
                (if form == Form::Sign { m.ishr_imm(sum, 1) } else { m.ushr_imm(sum, 1) }, form)
            }
            O::UfindMsbRev => {
                let a = self.operand(inst, 0, Form::Zero);
                let mut m = self.arithmetic(inst, components);
                let bit = m.op(O::UfindMsb, &[a]);
                let none = m.is_negative(bit);
                let top = m.int(bits - 1);
                let from_top = m.isub(top, bit);
                (m.bcsel(none, bit, from_top), Form::Word)
            }
            O::IcselEqz => {
                let condition = self.operand(inst, 0, Form::Zero);
                let (a, b) = (self.operand(inst, 1, Form::Word), self.operand(inst, 2, Form::Word));
                (self.arithmetic(inst, components).op(op, &[condition, a, b]), Form::Word)
            }
            O::I2i8 | O::I2i16 | O::U2u8 | O::U2u16 | O::I2imp => self.resized(inst, op, components),
            O::F2i8 | O::F2i16 | O::F2imp | O::F2u8 | O::F2u16 | O::F2ump => {
                let a = self.operand(inst, 0, Form::Float);
                let bits = u32::from(info.output_type.bit_size);
                let mut m = self.arithmetic(inst, components);
                if info.output_type.base == BaseType::Int {
                    let number = m.op(O::F2i32, &[a]);
                    (clamp_signed(&mut m, number, bits), Form::Sign)
                } else {
                    let number = m.op(O::F2u32, &[a]);
                    let most = m.constant(32, mask(bits));
                    (m.op(O::Umin, &[number, most]), Form::Zero)
                }
            }
            O::F2f32 => (self.operand(inst, 0, Form::Float), Form::Float),
            O::I2i32 => (self.operand(inst, 0, Form::Sign), Form::Word),
            O::U2u32 => (self.operand(inst, 0, Form::Zero), Form::Word),
            O::B2i8 | O::B2i16 => {
                let a = self.operand(inst, 0, Form::Sign);
                (self.arithmetic(inst, components).op(O::B2i32, &[a]), Form::Zero)
            }
            O::B2b8 | O::B2b16 => {
                let a = self.operand(inst, 0, Form::Sign);
                (self.arithmetic(inst, components).op(O::B2b32, &[a]), Form::Sign)
            }
            O::Pack324x8Split | O::Pack322x16Split => {
                let bits = u32::from(info.input_types[0].bit_size);
                let parts: Operands = self.parts(inst, info);
                (side_by_side(&mut self.arithmetic(inst, components), &parts, bits), Form::Word)
            }
            O::Pack324x8 | O::Pack322x16 | O::Pack644x16 => {
                let bits = u32::from(info.input_types[0].bit_size);
                let a = self.operand(inst, 0, Form::Word);
                let a = (0..info.input_sizes[0]).map(|c| Builder::new(self.body, Cursor::Before(inst)).channel(a, c));
                let parts: Operands = a.collect();
                let mut m = self.arithmetic(inst, 1);
                let low = side_by_side(&mut m, &parts[..(32 / bits) as usize], bits);
                if op != O::Pack644x16 {
                    return Some((low, Form::Word));
                }
                let high = side_by_side(&mut m, &parts[2..], bits);
                (m.op(O::Pack642x32Split, &[low, high]), Form::Word)
            }
            O::Unpack322x16SplitX => (self.operand(inst, 0, Form::Word), Form::Word),
            O::Unpack322x16SplitY => {
                let a = self.operand(inst, 0, Form::Word);
                (self.arithmetic(inst, components).ushr_imm(a, 16), Form::Zero)
            }
            O::Unpack322x16 | O::Unpack324x8 | O::Unpack644x16 => {
                let bits = u32::from(info.output_type.bit_size);
                let a = self.operand(inst, 0, Form::Word);
                let mut m = self.arithmetic(inst, 1);
                let words: Operands = if op == O::Unpack644x16 {
                    [O::Unpack642x32SplitX, O::Unpack642x32SplitY].map(|half| m.op(half, &[a])).into_iter().collect()
                } else {
                    [a].into_iter().collect()
                };
                let places = words.iter().flat_map(|&word| (0..32 / bits).map(move |part| (word, part * bits)));
                let parts: Operands = places.map(|(word, place)| m.ushr_imm(word, place)).collect();
                (m.builder.vec_of(&parts), Form::Word)
            }
            _ => return None,
        })
    }

    /// Returns the operands of an opcode that packs scalars, as words.
    fn parts(&mut self, inst: Inst, info: &AluInfo) -> Operands {
        (0..info.input_types.len()).map(|number| self.operand(inst, number, Form::Word)).collect()
    }

    /// Lowers a conversion of an integer to a small size.
    fn resized(&mut self, inst: Inst, op: AluOp, components: u8) -> (Def, Form) {
        let info = op.info();
        let form = if info.output_type.base == BaseType::Int { Form::Sign } else { Form::Zero };
        let wide = if form == Form::Sign { AluOp::I2i32 } else { AluOp::U2u32 };
        let from = self.body.bit_size(self.body.src(inst, 0));
        let small = self.bits(self.body.src(inst, 0));
        if small != 0 && small < info.output_type.bit_size {
            return (self.operand(inst, 0, form), form);
        }
        let value = self.operand(inst, 0, Form::Word);
        match if small != 0 { 32 } else { from } {
            32 => (value, Form::Word),
            // The sign of a number of one bit is in all bits of the word.
            1 => (self.arithmetic(inst, components).op(wide, &[value]), form),
            _ => (self.arithmetic(inst, components).op(wide, &[value]), Form::Word),
        }
    }

    /// Returns whether an instruction only converts a word for one that is not lowered, or the other way.
    fn is_bridge(&self, inst: Inst, op: AluOp) -> bool {
        let Some(def) = self.body.inst_def(inst) else { return false };
        match op {
            AluOp::U2u32 => self.is_kept(self.body.src(inst, 0)),
            AluOp::U2u8 | AluOp::U2u16 => self.is_kept(def),
            _ => false,
        }
    }

    /// Converts the words of the small operands of an instruction that is not lowered back.
    pub fn keep_sources(&mut self, inst: Inst) {
        for number in 0..self.body.num_sources(inst) {
            let source = self.body.source(inst, number);
            let def = self.body.src_def(source);
            if !self.is_small(def) || self.is_kept(def) {
                continue;
            }
            let narrow = if self.bits(def) == 8 { AluOp::U2u8 } else { AluOp::U2u16 };
            let word = self.form(def, Form::Word);
            let value = Builder::new(self.body, Cursor::Before(inst)).alu(narrow, &[word]);
            self.body.set_src(source, value);
            self.progress = true;
        }
    }
}

/// Returns whether the low bits of the result depend only on the low bits of the operands.
fn low_bits_suffice(op: AluOp) -> bool {
    use AluOp as O;
    matches!(
        op,
        O::Iadd | O::Isub | O::Imul | O::Amul | O::Ineg | O::Inot | O::Iand | O::Ior | O::Ixor | O::Iadd3 | O::Imad
    ) || matches!(op, O::BitfieldSelect | O::I2i1 | O::U2u1)
}

/// Returns the form of the result of an operation on extended operands.
fn result_form(op: AluOp) -> Form {
    use AluOp as O;
    match op {
        O::Imin | O::Imax | O::Irem | O::Imod | O::Isign | O::ExtractI8 | O::ExtractI16 => Form::Sign,
        O::Umin | O::Umax | O::Udiv | O::Umod | O::UsubBorrow | O::UdivAligned4 | O::ExtractU8 | O::ExtractU16 => {
            Form::Zero
        }
        _ if op.info().output_type.base == BaseType::Bool => Form::Sign,
        _ => Form::Word,
    }
}

/// Returns the form with a 32-bit result of an opcode with a boolean result of 8 or 16 bits; other opcodes unchanged.
pub(super) fn word_form(op: AluOp) -> AluOp {
    let info = op.info();
    if info.output_type.base != BaseType::Bool || !matches!(info.output_type.bit_size, 8 | 16) {
        return op;
    }
    let name = info.name;
    let mut wide = arrayvec::ArrayString::<32>::new();
    let parts = if info.group == "compare-horizontal" {
        ["b32", name.trim_start_matches("b16").trim_start_matches("b8")]
    } else {
        [name.trim_end_matches("16").trim_end_matches('8'), "32"]
    };
    for part in parts {
        if wide.try_push_str(part).is_err() {
            return op;
        }
    }
    AluOp::from_name(&wide).unwrap_or(op)
}

/// Clamps a word to the range of signed integers of a small size.
fn clamp_signed(m: &mut Arithmetic<'_>, value: Def, bits: u32) -> Def {
    let most = m.constant(32, (1 << (bits - 1)) - 1);
    let least = m.constant(32, !0 << (bits - 1));
    let value = m.op(AluOp::Imin, &[value, most]);
    m.op(AluOp::Imax, &[value, least])
}

/// Places the low bits of words in one word, the first in the lowest bits.
pub(super) fn side_by_side(m: &mut Arithmetic<'_>, parts: &[Def], bits: u32) -> Def {
    let mut result = None;
    for (&part, number) in parts.iter().zip(0..) {
        // Bits above the word are shifted out.
        let is_last = (number + 1) * bits == 32;
        let part = if is_last { part } else { m.iand_imm(part, (1 << bits) - 1) };
        let part = m.ishl_imm(part, number * bits);
        result = Some(match result {
            Some(word) => m.ior(word, part),
            None => part,
        });
    }
    match result {
        Some(word) => word,
        None => m.int(0),
    }
}
