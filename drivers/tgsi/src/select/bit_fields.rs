//! Bit fields: those whose offset and width count modulo 32, and those that may be as wide as the word.

use tgsi::shader::{Dst, Src};
use tgsi::tables::Opcode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Inst};
use tgsi_legacy::chase;

use super::alu::{Sources, known, operand};
use super::{Selector, Value, lane_mask};

impl Selector<'_> {
    /// Bit fields with the IR's conventions: widths count modulo 32, where TGSI's opcodes know a width of 32.
    pub(super) fn bit_field(&mut self, inst: Inst, def: Def, op: AluOp, sources: &Sources) {
        let body = self.body;
        let all = [0, 1, 2, 3];
        if op == AluOp::Bfi
            && body.alu_op(body.def_inst(body.src(inst, 0))) == Some(AluOp::Bfm)
            && let Some((offset, width)) = self.mask_parts(inst)
        {
            let (register, mask, _) = self.alu_destination(def);
            let dst = Dst::new(register).masked(lane_mask(mask, 32));
            let width = self.narrow_width(width, dst.write_mask);
            self.emit(Opcode::Bfi, dst, &[operand(&sources[2]), operand(&sources[1]), offset, width]);
            return;
        }
        let (register, mask, _) = self.alu_destination(def);
        let dst = Dst::new(register).masked(lane_mask(mask, 32));
        let m = dst.write_mask;
        match op {
            AluOp::Ubfe | AluOp::Ibfe => {
                let opcode = if op == AluOp::Ubfe { Opcode::Ubfe } else { Opcode::Ibfe };
                let width = self.narrow_width(operand(&sources[2]), m);
                self.emit(opcode, dst, &[operand(&sources[0]), operand(&sources[1]), width]);
            }
            AluOp::Bfm => {
                let (one, minus_one) = (self.word(1), self.word(u32::MAX));
                let (power, ones) = (self.temp(), self.temp());
                self.emit(Opcode::Shl, Dst::new(power).masked(m), &[one, operand(&sources[0])]);
                self.emit(Opcode::Uadd, Dst::new(ones).masked(m), &[Value::new(power).source(all), minus_one]);
                self.emit(Opcode::Shl, dst, &[Value::new(ones).source(all), operand(&sources[1])]);
            }
            _ => {
                let selector = operand(&sources[0]);
                // A run of ones is a field.
                if let Some(words) = known(&self.program.constants, &selector, m)
                    && words
                        .iter()
                        .all(|&w| w != 0 && (w >> w.trailing_zeros()).wrapping_add(1) & (w >> w.trailing_zeros()) == 0)
                {
                    let (mut offsets, mut widths) = ([0; 4], [0; 4]);
                    for (c, &word) in (0..4).filter(|c| m & 1 << c != 0).zip(&words) {
                        offsets[c] = word.trailing_zeros();
                        widths[c] = word.count_ones();
                    }
                    let (offsets, widths) = (self.immediate(offsets).source(all), self.immediate(widths).source(all));
                    self.emit(Opcode::Bfi, dst, &[operand(&sources[2]), operand(&sources[1]), offsets, widths]);
                    return;
                }
                let (lowest, shifted, chosen, inverse, kept) =
                    (self.temp(), self.temp(), self.temp(), self.temp(), self.temp());
                self.emit(Opcode::Lsb, Dst::new(lowest).masked(m), &[selector]);
                let count = Value::new(lowest).source(all);
                self.emit(Opcode::Shl, Dst::new(shifted).masked(m), &[operand(&sources[1]), count]);
                self.emit(Opcode::And, Dst::new(chosen).masked(m), &[Value::new(shifted).source(all), selector]);
                self.emit(Opcode::Not, Dst::new(inverse).masked(m), &[selector]);
                let operands = [operand(&sources[2]), Value::new(inverse).source(all)];
                self.emit(Opcode::And, Dst::new(kept).masked(m), &operands);
                self.emit(Opcode::Or, dst, &[Value::new(chosen).source(all), Value::new(kept).source(all)]);
            }
        }
    }

    /// Bit fields that are 0 as a whole where they reach beyond the word, but for those without any bits. Within it
    /// TGSI's opcodes mean the same.
    pub(super) fn bit_field_in_range(&mut self, dst: Dst, op: AluOp, sources: &Sources) {
        let operands: arrayvec::ArrayVec<Src, 4> = sources.iter().map(operand).collect();
        let [.., offset, width] = operands.as_slice() else { return };
        let opcode = match op {
            AluOp::UbitfieldExtract => Opcode::Ubfe,
            AluOp::IbitfieldExtract => Opcode::Ibfe,
            _ => Opcode::Bfi,
        };
        let m = dst.write_mask;
        let words = |src| known(&self.program.constants, src, m);
        let is_within = |(&offset, &width): (&u32, &u32)| width == 0 || width <= 32 && offset <= 32 - width;
        if let (Some(offsets), Some(widths)) = (words(offset), words(width))
            && offsets.iter().zip(&widths).all(is_within)
        {
            self.emit(opcode, dst, &operands);
            return;
        }
        let [field, end, farther, farthest, fits] = [(); 5].map(|()| self.temp());
        let to = |register| Dst::new(register).masked(m);
        let read = |register| Value::new(register).source([0, 1, 2, 3]);
        let beyond = self.word(33);
        self.emit(opcode, to(field), &operands);
        // The sum is that of small numbers if neither is a large one, which negative ones are.
        self.emit(Opcode::Uadd, to(end), &[*offset, *width]);
        self.emit(Opcode::Umax, to(farther), &[*offset, *width]);
        self.emit(Opcode::Umax, to(farthest), &[read(end), read(farther)]);
        self.emit(Opcode::Uslt, to(fits), &[read(farthest), beyond]);
        match operands.as_slice() {
            [base, _, _, width] => {
                let inserted = self.temp();
                self.emit(Opcode::And, to(inserted), &[read(field), read(fits)]);
                self.emit(Opcode::Ucmp, dst, &[*width, read(inserted), *base]);
            }
            _ => self.emit(Opcode::And, dst, &[read(field), read(fits)]),
        }
    }

    /// Offset and width of the `bfm` that makes the mask of a `bfi`, if they do not change.
    fn mask_parts(&mut self, inst: Inst) -> Option<(Src, Src)> {
        let body = self.body;
        let source = body.source(inst, 0);
        let producer = body.def_inst(body.src_def(source));
        let outer = body.swizzle(source);
        let mut parts: arrayvec::ArrayVec<Src, 2> = arrayvec::ArrayVec::new();
        for number in [1, 0] {
            let part = body.source(producer, number);
            let def = body.src_def(part);
            if chase::load_reg_for_def(body, def).is_some() {
                return None;
            }
            let swizzle = outer.compose(body.swizzle(part));
            parts.push(self.value(def).source([0, 1, 2, 3].map(|c| swizzle.get(c) & 3)));
        }
        Some((*parts.first()?, *parts.get(1)?))
    }

    /// A width modulo 32.
    fn narrow_width(&mut self, width: Src, mask: u8) -> Src {
        let fits = crate::machine::operands::immediate_words(&self.program.constants, &width)
            .is_some_and(|words| (0..4).all(|c| mask & 1 << c == 0 || words[c] != 32));
        if fits {
            return width;
        }
        let (narrow, low) = (self.temp(), self.word(31));
        self.emit(Opcode::And, Dst::new(narrow).masked(mask), &[width, low]);
        Value::new(narrow).source([0, 1, 2, 3])
    }
}
