//! ALU instructions.

use tgsi_ir::Inst;
use tgsi_ir::alu::AluOp as Ir;
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::Selector;
use super::operands::{composed, lane, negated};
use crate::MidgardError;
use crate::isa::alu::{AluOp, Clamp};
use crate::machine::Op;

/// Operations that are one instruction on each component. The flag exchanges the operands.
fn componentwise(op: Ir) -> Option<(AluOp, bool)> {
    let (alu, is_exchanged) = match op {
        Ir::Fadd => (AluOp::Fadd, false),
        Ir::Fmul => (AluOp::Fmul, false),
        Ir::Fmin => (AluOp::Fmin, false),
        Ir::Fmax => (AluOp::Fmax, false),
        Ir::Ftrunc => (AluOp::Ftrunc, false),
        Ir::Fceil => (AluOp::Fceil, false),
        Ir::Ffloor => (AluOp::Ffloor, false),
        Ir::FroundEven => (AluOp::Froundeven, false),
        Ir::Frcp => (AluOp::Frcp, false),
        Ir::Frsq => (AluOp::Frsqrt, false),
        Ir::Fsqrt => (AluOp::Fsqrt, false),
        Ir::Fexp2 => (AluOp::Fexp2, false),
        Ir::Flog2 => (AluOp::Flog2, false),
        Ir::FsinMdg => (AluOp::Fsinpi, false),
        Ir::FcosMdg => (AluOp::Fcospi, false),
        Ir::Flt32 => (AluOp::Flt, false),
        Ir::Fge32 => (AluOp::Fle, true),
        Ir::Feq32 => (AluOp::Feq, false),
        Ir::Fneu32 => (AluOp::Fne, false),
        Ir::Ilt32 => (AluOp::Ilt, false),
        Ir::Ige32 => (AluOp::Ile, true),
        Ir::Ieq32 => (AluOp::Ieq, false),
        Ir::Ine32 => (AluOp::Ine, false),
        Ir::Ult32 => (AluOp::Ult, false),
        Ir::Uge32 => (AluOp::Ule, true),
        Ir::Iadd => (AluOp::Iadd, false),
        Ir::Isub => (AluOp::Isub, false),
        Ir::Imul | Ir::Amul => (AluOp::Imul, false),
        Ir::Imin => (AluOp::Imin, false),
        Ir::Imax => (AluOp::Imax, false),
        Ir::Umin => (AluOp::Umin, false),
        Ir::Umax => (AluOp::Umax, false),
        Ir::Iand => (AluOp::Iand, false),
        Ir::Ior => (AluOp::Ior, false),
        Ir::Ixor => (AluOp::Ixor, false),
        Ir::Ishl => (AluOp::Ishl, false),
        Ir::Ishr => (AluOp::Iasr, false),
        Ir::Ushr => (AluOp::Ilsr, false),
        Ir::Uclz => (AluOp::Iclz, false),
        Ir::F2i32 => (AluOp::F2iRtz, false),
        Ir::F2u32 => (AluOp::F2uRtz, false),
        Ir::I2f32 => (AluOp::I2f, false),
        Ir::U2f32 => (AluOp::U2f, false),
        _ => return None,
    };
    Some((alu, is_exchanged))
}

/// Comparisons of vectors, with the number of components.
fn reduction(op: Ir) -> Option<(AluOp, u8)> {
    Some(match op {
        Ir::B32allFequal2 => (AluOp::FallEq, 2),
        Ir::B32allFequal3 => (AluOp::FallEq, 3),
        Ir::B32allFequal4 => (AluOp::FallEq, 4),
        Ir::B32anyFnequal2 => (AluOp::FanyNe, 2),
        Ir::B32anyFnequal3 => (AluOp::FanyNe, 3),
        Ir::B32anyFnequal4 => (AluOp::FanyNe, 4),
        Ir::B32allIequal2 => (AluOp::IallEq, 2),
        Ir::B32allIequal3 => (AluOp::IallEq, 3),
        Ir::B32allIequal4 => (AluOp::IallEq, 4),
        Ir::B32anyInequal2 => (AluOp::IanyNe, 2),
        Ir::B32anyInequal3 => (AluOp::IanyNe, 3),
        Ir::B32anyInequal4 => (AluOp::IanyNe, 4),
        Ir::Fdot3 | Ir::Fdot3Replicated => (AluOp::Fdot3, 3),
        Ir::Fdot4 | Ir::Fdot4Replicated => (AluOp::Fdot4, 4),
        _ => return None,
    })
}

/// Sums of components and of products of components, with the number of components.
fn sum(op: Ir) -> Option<u8> {
    Some(match op {
        Ir::Fdot2 | Ir::Fdot2Replicated | Ir::Fsum2 => 2,
        Ir::Fsum3 => 3,
        Ir::Fsum4 => 4,
        _ => return None,
    })
}

/// The reciprocal of pi.
const FRAC_1_PI: f32 = std::f32::consts::FRAC_1_PI;

impl Selector<'_> {
    fn has_no_form(&self, inst: Inst, op: Ir) -> MidgardError {
        self.lacks(inst, &format!("form of `{}`", op.name()))
    }

    pub(super) fn select_alu(&mut self, inst: Inst, op: Ir) -> Result<(), MidgardError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let is_word = |bits: u8| bits == 32;
        let is_half = matches!(op, Ir::F2f32 | Ir::F2f16 | Ir::F2f16Rtne);
        let has_words =
            is_word(body.bit_size(def)) && body.sources(inst).all(|s| is_word(body.bit_size(body.src_def(s))));
        if body.num_components(def) > 4 || !has_words && !is_half {
            return Err(self.has_no_form(inst, op));
        }
        let target = self.target(def);
        let sources: Vec<Source> = (0..body.num_sources(inst)).map(|number| self.alu_source(inst, number)).collect();
        if op.is_vec_or_mov() && op != Ir::Mov {
            return self.select_vector(inst, op, target, &sources);
        }
        let [a, b, c] = [0, 1, 2].map(|number| sources.get(number).or(sources.first()).copied());
        let (Some(a), Some(b), Some(c)) = (a, b, c) else { return Err(self.has_no_form(inst, op)) };
        if let Some((alu, is_exchanged)) = componentwise(op) {
            let mut instruction = Instruction::new(Op::Alu(alu), Some(target), sources.iter().copied());
            if is_exchanged {
                instruction.sources.reverse();
            }
            self.push(instruction);
            return Ok(());
        }
        if let Some((alu, count)) = reduction(op) {
            // Operations on four components compare the first one again.
            let used = |source: Source| composed(source, [0, 1, 2, 3].map(|c: u8| if c < count { c } else { 0 }));
            self.emit(alu, target, [used(a), used(b)]);
            return Ok(());
        }
        if let Some(count) = sum(op) {
            self.select_sum(op, target, [a, b], count);
            return Ok(());
        }
        self.select_special(op, target, [a, b, c]).ok_or_else(|| self.has_no_form(inst, op))
    }

    /// Selects operations that are several instructions, or an instruction of another form.
    fn select_special(&mut self, op: Ir, target: Destination, [a, b, c]: [Source; 3]) -> Option<()> {
        let mask = target.mask;
        match op {
            Ir::Mov | Ir::B2b32 => self.emit(Op::Mov, target, [a]),
            Ir::Fneg => self.emit(Op::Mov, target, [negated(a)]),
            Ir::Fabs => self.emit(Op::Mov, target, [Source { absolute: true, negate: false, ..a }]),
            Ir::Fsub => self.emit(AluOp::Fadd, target, [a, negated(b)]),
            Ir::Fsat => {
                let mut instruction = Instruction::new(Op::Mov, Some(target), [a]);
                instruction.saturate = true;
                self.push(instruction);
            }
            Ir::FclampPos => self.emit(Op::Clamped(Clamp::Positive), target, [a]),
            Ir::FsatSigned => self.emit(Op::Clamped(Clamp::Signed), target, [a]),
            Ir::Fsin | Ir::Fcos => {
                let factor = self.word(FRAC_1_PI.to_bits());
                let turns = self.computed(AluOp::Fmul, mask, [a, factor]);
                self.emit(if op == Ir::Fsin { AluOp::Fsinpi } else { AluOp::Fcospi }, target, [turns]);
            }
            Ir::Ineg => {
                let zero = self.word(0);
                self.emit(AluOp::Isub, target, [zero, a]);
            }
            Ir::Inot => self.emit(AluOp::Inor, target, [a, a]),
            Ir::Iabs => {
                let zero = self.word(0);
                self.emit(AluOp::Iabsdiff, target, [a, zero]);
            }
            Ir::UfindMsb => {
                let last = self.word(31);
                let zeros = self.computed(AluOp::Iclz, mask, [a]);
                self.emit(AluOp::Isub, target, [last, zeros]);
            }
            Ir::B2f32 | Ir::B2i32 => {
                let one = self.word(if op == Ir::B2f32 { 1f32.to_bits() } else { 1 });
                self.emit(AluOp::Iand, target, [a, one]);
            }
            Ir::B32csel => self.emit(Op::Select, target, [a, b, c]),
            Ir::PackHalf2x16Split | Ir::PackHalf2x16 => {
                let high = if op == Ir::PackHalf2x16 { lane(a, 1) } else { b };
                let (ones, bits) = (self.word(0xffff), self.word(16));
                let lower = self.computed(Op::ToHalf, mask, [a]);
                let upper = self.computed(Op::ToHalf, mask, [high]);
                let lower = self.computed(AluOp::Iand, mask, [lower, ones]);
                let upper = self.computed(AluOp::Ishl, mask, [upper, bits]);
                self.emit(AluOp::Ior, target, [lower, upper]);
            }
            Ir::UnpackHalf2x16SplitX => self.emit(Op::FromHalf { is_upper: false }, target, [a]),
            Ir::UnpackHalf2x16SplitY => self.emit(Op::FromHalf { is_upper: true }, target, [a]),
            Ir::UnpackHalf2x16 => {
                let word = lane(a, 0);
                let (to, late) = self.apart(target, &[a]);
                for c in (0..2).filter(|c| mask >> c & 1 != 0) {
                    self.emit(Op::FromHalf { is_upper: c == 1 }, Destination { mask: 1 << c, ..to }, [word]);
                }
                self.deliver(to, late);
            }
            _ => return None,
        }
        Some(())
    }

    /// A sum of components from the last one on, of products if the operation is a dot product.
    fn select_sum(&mut self, op: Ir, target: Destination, [a, b]: [Source; 2], count: u8) {
        let is_dot = matches!(op, Ir::Fdot2 | Ir::Fdot2Replicated);
        let terms = if is_dot { self.computed(AluOp::Fmul, (1 << count) - 1, [a, b]) } else { a };
        let mut sum = lane(terms, count - 1);
        for c in (0..count - 1).rev() {
            if c == 0 {
                self.emit(AluOp::Fadd, target, [sum, lane(terms, 0)]);
            } else {
                sum = lane(self.computed(AluOp::Fadd, 1, [sum, lane(terms, c)]), 0);
            }
        }
    }

    /// A vector of components.
    fn select_vector(
        &mut self,
        inst: Inst,
        op: Ir,
        target: Destination,
        sources: &[Source],
    ) -> Result<(), MidgardError> {
        if sources.len() > 4 {
            return Err(self.has_no_form(inst, op));
        }
        let (to, late) = self.apart(target, sources);
        for (c, &source) in sources.iter().enumerate().filter(|(c, _)| target.mask >> c & 1 != 0) {
            if !self.is_undef(self.body.src(inst, c)) {
                self.emit(Op::Mov, Destination { mask: 1 << c, ..to }, [lane(source, 0)]);
            }
        }
        self.deliver(to, late);
        Ok(())
    }

    /// A copy of the first components of an operand.
    pub(super) fn copy(&mut self, target: Destination, source: Source) {
        debug_assert!(target.file != File::Input, "inputs are not written");
        self.emit(Op::Mov, target, [source]);
    }
}
