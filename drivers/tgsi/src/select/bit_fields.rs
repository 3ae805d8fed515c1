//! Bit fields: those with offset and width modulo 32, and those that may be as wide as the word.

use tgsi::shader::{Dst, Src};
use tgsi::tables::Opcode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Inst};
use tgsi_registers::chase;

use super::Selector;
use super::alu::{Sources, known, operand};

impl Selector<'_> {
    /// Emits bit fields with the IR's conventions: widths are modulo 32, whereas TGSI's opcodes support a width of 32.
    pub(super) fn select_bit_field(&mut self, inst: Inst, def: Def, op: AluOp, sources: &Sources) {
        let body = self.body;
        if op == AluOp::Bfi
            && body.alu_op(body.def_inst(body.src(inst, 0))) == Some(AluOp::Bfm)
            && let Some((offset, width)) = self.mask_parts(inst)
        {
            let (dst, _) = self.alu_destination(def);
            let width = self.narrow_width(width, dst.write_mask);
            self.emit(Opcode::Bfi, dst, &[operand(&sources[2]), operand(&sources[1]), offset, width]);
            return;
        }
        let (dst, _) = self.alu_destination(def);
        let m = dst.write_mask;
        match op {
            AluOp::Ubfe | AluOp::Ibfe => {
                let opcode = if op == AluOp::Ubfe { Opcode::Ubfe } else { Opcode::Ibfe };
                let width = self.narrow_width(operand(&sources[2]), m);
                self.emit(opcode, dst, &[operand(&sources[0]), operand(&sources[1]), width]);
            }
            AluOp::Bfm => {
                let (one, minus_one) = (self.word(1), self.word(u32::MAX));
                let power = self.computed(Opcode::Shl, m, &[one, operand(&sources[0])]);
                let ones = self.computed(Opcode::Uadd, m, &[power, minus_one]);
                self.emit(Opcode::Shl, dst, &[ones, operand(&sources[1])]);
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
                    let [offsets, widths] = [offsets, widths].map(|row| self.immediate(row).source([0, 1, 2, 3]));
                    self.emit(Opcode::Bfi, dst, &[operand(&sources[2]), operand(&sources[1]), offsets, widths]);
                    return;
                }
                let lowest = self.computed(Opcode::Lsb, m, &[selector]);
                let shifted = self.computed(Opcode::Shl, m, &[operand(&sources[1]), lowest]);
                let chosen = self.computed(Opcode::And, m, &[shifted, selector]);
                let inverse = self.computed(Opcode::Not, m, &[selector]);
                let kept = self.computed(Opcode::And, m, &[operand(&sources[2]), inverse]);
                self.emit(Opcode::Or, dst, &[chosen, kept]);
            }
        }
    }

    /// Emits bit fields that are 0 where they exceed the word, except empty ones. Within the word TGSI's opcodes are
    /// equivalent.
    pub(super) fn emit_bit_field_in_range(&mut self, dst: Dst, op: AluOp, sources: &Sources) {
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
        let beyond = self.word(33);
        let field = self.computed(opcode, m, &operands);
        // The sum cannot wrap unless one of them is large, as negative numbers are.
        let end = self.computed(Opcode::Uadd, m, &[*offset, *width]);
        let farther = self.computed(Opcode::Umax, m, &[*offset, *width]);
        let farthest = self.computed(Opcode::Umax, m, &[end, farther]);
        let fits = self.computed(Opcode::Uslt, m, &[farthest, beyond]);
        match operands.as_slice() {
            [base, _, _, width] => {
                let inserted = self.computed(Opcode::And, m, &[field, fits]);
                self.emit(Opcode::Ucmp, dst, &[*width, inserted, *base]);
            }
            _ => self.emit(Opcode::And, dst, &[field, fits]),
        }
    }

    /// The offset and width of the `bfm` that defines the mask of a `bfi`, if they do not change.
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
            parts.push(self.value(def).source(swizzle.of_channels(0xf)));
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
        let low = self.word(31);
        self.computed(Opcode::And, mask, &[width, low])
    }
}
