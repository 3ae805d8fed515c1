//! ALU instructions.

use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Inst};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::conditions::comparison;
use super::operands::{Target, absolute, lane, negated, words_of};
use super::{Selector, alu};
use crate::error::IntelError;
use crate::isa::{Condition, MathFunction, Opcode, Type};
use crate::machine::{Alu, COPY, Op, Product};

/// Operations that are one instruction, and the place of each operand.
fn instruction(op: AluOp) -> Option<(Alu, &'static [usize])> {
    use Type::{D, F, Ud};
    const ONE: &[usize] = &[0];
    const TWO: &[usize] = &[0, 1];
    let math = |function| Alu::math(function, F);
    Some(match op {
        AluOp::Mov => (alu(Opcode::Mov, F), ONE),
        AluOp::Fadd => (alu(Opcode::Add, F), TWO),
        AluOp::Fmul => (alu(Opcode::Mul, F), TWO),
        AluOp::Ffma => (alu(Opcode::Mad, F), &[2, 0, 1]),
        AluOp::Fmin => (Alu::with(Opcode::Sel, F, Condition::L), TWO),
        AluOp::Fmax => (Alu::with(Opcode::Sel, F, Condition::Ge), TWO),
        AluOp::Ffloor => (alu(Opcode::Rndd, F), ONE),
        AluOp::Ftrunc => (alu(Opcode::Rndz, F), ONE),
        AluOp::FroundEven => (alu(Opcode::Rnde, F), ONE),
        AluOp::Ffract => (alu(Opcode::Frc, F), ONE),
        AluOp::Frcp => (math(MathFunction::Inv), ONE),
        AluOp::Frsq => (math(MathFunction::Rsq), ONE),
        AluOp::Fsqrt => (math(MathFunction::Sqrt), ONE),
        AluOp::Fexp2 => (math(MathFunction::Exp), ONE),
        AluOp::Flog2 => (math(MathFunction::Log), ONE),
        AluOp::Fsin => (math(MathFunction::Sin), ONE),
        AluOp::Fcos => (math(MathFunction::Cos), ONE),
        AluOp::Fpow => (math(MathFunction::Pow), TWO),
        AluOp::Fdiv => (math(MathFunction::Fdiv), TWO),
        AluOp::Iadd => (alu(Opcode::Add, D), TWO),
        AluOp::Isub => (Alu { negated: 0b10, ..alu(Opcode::Add, D) }, TWO),
        AluOp::Ineg => (Alu { negated: 0b01, ..alu(Opcode::Mov, D) }, ONE),
        AluOp::Iabs => (Alu { absolute: true, ..alu(Opcode::Mov, D) }, ONE),
        AluOp::Imin => (Alu::with(Opcode::Sel, D, Condition::L), TWO),
        AluOp::Imax => (Alu::with(Opcode::Sel, D, Condition::Ge), TWO),
        AluOp::Umin => (Alu::with(Opcode::Sel, Ud, Condition::L), TWO),
        AluOp::Umax => (Alu::with(Opcode::Sel, Ud, Condition::Ge), TWO),
        AluOp::Inot => (alu(Opcode::Not, Ud), ONE),
        AluOp::Iand => (alu(Opcode::And, Ud), TWO),
        AluOp::Ior => (alu(Opcode::Or, Ud), TWO),
        AluOp::Ixor => (alu(Opcode::Xor, Ud), TWO),
        AluOp::Ishl => (alu(Opcode::Shl, Ud), TWO),
        AluOp::Ishr => (alu(Opcode::Asr, D), TWO),
        AluOp::Ushr => (alu(Opcode::Shr, Ud), TWO),
        AluOp::F2i32 => (Alu::convert(Opcode::Mov, D, F), ONE),
        AluOp::F2u32 => (Alu::convert(Opcode::Mov, Ud, F), ONE),
        AluOp::I2f32 => (Alu::convert(Opcode::Mov, F, D), ONE),
        AluOp::U2f32 => (Alu::convert(Opcode::Mov, F, Ud), ONE),
        AluOp::UnpackHalf2x16SplitX => (Alu::convert(Opcode::F16to32, F, Ud), ONE),
        AluOp::BitfieldReverse => (alu(Opcode::Bfrev, Ud), ONE),
        AluOp::BitCount => (alu(Opcode::Cbit, Ud), ONE),
        AluOp::FindLsb => (alu(Opcode::Fbl, Ud), ONE),
        AluOp::UfindMsbRev => (alu(Opcode::Fbh, Ud), ONE),
        AluOp::IfindMsbRev => (Alu::convert(Opcode::Fbh, Ud, D), ONE),
        AluOp::Uclz => (alu(Opcode::Lzd, Ud), ONE),
        AluOp::Bfm => (alu(Opcode::Bfi1, Ud), TWO),
        AluOp::Bfi => (alu(Opcode::Bfi2, Ud), &[0, 1, 2]),
        // Width, offset, value.
        AluOp::Ubfe => (alu(Opcode::Bfe, Ud), &[2, 1, 0]),
        AluOp::Ibfe => (alu(Opcode::Bfe, D), &[2, 1, 0]),
        _ => return None,
    })
}

/// Dot products, with the components of both operands.
fn dot_product(op: AluOp) -> Option<(Opcode, [u8; 2])> {
    Some(match op {
        AluOp::Fdot2 | AluOp::Fdot2Replicated => (Opcode::Dp2, [0b0011; 2]),
        AluOp::Fdot3 | AluOp::Fdot3Replicated => (Opcode::Dp3, [0b0111; 2]),
        AluOp::Fdot4 | AluOp::Fdot4Replicated => (Opcode::Dp4, [0b1111; 2]),
        AluOp::Fdph | AluOp::FdphReplicated => (Opcode::Dph, [0b0111, 0b1111]),
        _ => return None,
    })
}

impl Selector<'_> {
    fn has_no_form(&self, inst: Inst, op: AluOp) -> IntelError {
        self.lacks(inst, &format!("form of `{}`", op.name()))
    }

    pub(super) fn select_alu(&mut self, inst: Inst, op: AluOp) -> Result<(), IntelError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let has_words = body.bit_size(def) == 32 && body.sources(inst).all(|s| body.bit_size(body.src_def(s)) == 32);
        if body.num_components(def) > 4 || !has_words {
            return Err(self.has_no_form(inst, op));
        }
        if op.is_vec_or_mov() && op != AluOp::Mov {
            if body.num_sources(inst) > 4 {
                return Err(self.has_no_form(inst, op));
            }
            self.select_vector(inst, def);
            return Ok(());
        }
        let target = self.alu_target(def);
        let mask = target.mask();
        if op == AluOp::B32csel {
            self.select_selection(inst, target);
            return Ok(());
        }
        if let Some((opcode, channels)) = dot_product(op) {
            let sources = [0, 1].map(|number| self.alu_source(inst, number, channels[number]));
            self.emit_to(alu(opcode, Type::F), target, sources);
            return Ok(());
        }
        let mut sources = [self.word(0); 3];
        for (number, source) in sources.iter_mut().enumerate().take(body.num_sources(inst)) {
            *source = self.alu_source(inst, number, mask);
        }
        if let Some(alu) = comparison(op) {
            self.emit_to(alu, target, [sources[0], sources[1]]);
            return Ok(());
        }
        if let Some((alu, places)) = instruction(op) {
            let mut selected = Instruction::new(alu.into(), Some(target.to), []);
            selected.sources.extend(places.iter().map(|&place| sources[place]));
            selected.saturate = target.saturate;
            self.push(selected);
            return Ok(());
        }
        let [a, b, c] = sources;
        match op {
            AluOp::Fneg => self.emit_to(COPY, target, [negated(a)]),
            AluOp::Fabs => self.emit_to(COPY, target, [absolute(a)]),
            AluOp::Fsat => self.emit_to(COPY, Target { saturate: true, ..target }, [a]),
            AluOp::Fsub => self.emit_to(alu(Opcode::Add, Type::F), target, [a, negated(b)]),
            // Rounded twice, other than `mad`.
            AluOp::Fmad => {
                let product = self.computed(alu(Opcode::Mul, Type::F), mask, [a, b]);
                self.emit_to(alu(Opcode::Add, Type::F), target, [product, c]);
            }
            AluOp::B2f32 => {
                let one = self.word(1.0f32.to_bits());
                self.emit_to(alu(Opcode::And, Type::Ud), target, [a, one]);
            }
            AluOp::B2i32 => {
                let one = self.word(1);
                self.emit_to(alu(Opcode::And, Type::Ud), target, [a, one]);
            }
            AluOp::Imul | AluOp::Amul => self.select_product(target, a, b),
            AluOp::ImulHigh => self.select_high_product(Product::HighSigned, target, a, b),
            AluOp::UmulHigh => self.select_high_product(Product::HighUnsigned, target, a, b),
            AluOp::Udiv => self.select_division(MathFunction::IntDiv, Type::Ud, target, a, b),
            AluOp::Umod => self.select_division(MathFunction::IntMod, Type::Ud, target, a, b),
            AluOp::Idiv => self.select_division(MathFunction::IntDiv, Type::D, target, a, b),
            AluOp::Irem => self.select_division(MathFunction::IntMod, Type::D, target, a, b),
            AluOp::Imod => self.select_modulo(target, a, b),
            AluOp::UnpackHalf2x16SplitY => {
                let bits = self.word(16);
                let half = self.computed(alu(Opcode::Shr, Type::Ud), mask, [a, bits]);
                self.emit_to(Alu::convert(Opcode::F16to32, Type::F, Type::Ud), target, [half]);
            }
            AluOp::PackHalf2x16Split => {
                let half = Alu::convert(Opcode::F32to16, Type::Ud, Type::F);
                let [low, high] = [a, b].map(|value| self.computed(half, mask, [value]));
                let bits = self.word(16);
                let high = self.computed(alu(Opcode::Shl, Type::Ud), mask, [high, bits]);
                self.emit_to(alu(Opcode::Or, Type::Ud), target, [high, low]);
            }
            _ => return Err(self.has_no_form(inst, op)),
        }
        Ok(())
    }

    /// A vector of components: a move for each value.
    fn select_vector(&mut self, inst: Inst, def: Def) {
        let target = self.alu_target(def);
        let mut lanes = [Source::new(File::Constant, 0); 4];
        for (number, part) in lanes.iter_mut().enumerate().take(self.body.num_sources(inst)) {
            *part = self.alu_source(inst, number, 1);
        }
        let (to, after) = self.apart(target, &lanes);
        self.move_lanes(to, &lanes);
        self.deliver(to, after);
    }

    /// Moves the first channel of operands to the components of a target.
    pub(super) fn move_lanes(&mut self, to: Target, lanes: &[Source; 4]) {
        let is_constant = |c: u8| lanes[usize::from(c)].file == File::Constant;
        // Constants are one row.
        let words = [0, 1, 2, 3]
            .map(|c: usize| if is_constant(c as u8) { words_of(&self.program.constants, &lanes[c])[0] } else { 0 });
        let key = |c: u8| (!is_constant(c)).then(|| Source { swizzle: [0; 4], ..lanes[usize::from(c)] });
        for (mask, register) in Self::groups(to.mask(), key) {
            let source = match register {
                None => Source::new(File::Constant, self.program.constants.intern(words)),
                Some(register) => {
                    let first = (0..4).find(|c| mask >> c & 1 != 0).unwrap_or(0);
                    let lane = |c: usize| lanes[if mask >> c & 1 != 0 { c } else { first }].swizzle[0];
                    register.swizzled([0, 1, 2, 3].map(lane))
                }
            };
            self.emit_to(COPY, to.masked(mask), [source]);
        }
    }

    /// Appends an operation with a target.
    pub(super) fn emit_to<const N: usize>(&mut self, op: impl Into<Op>, target: Target, sources: [Source; N]) {
        let mut instruction = Instruction::new(op.into(), Some(target.to), sources);
        instruction.saturate = target.saturate;
        self.push(instruction);
    }

    /// The word of a constant that is the same in the channels of a mask.
    fn uniform_word(&self, source: Source, mask: u8) -> Option<u32> {
        if source.file != File::Constant {
            return None;
        }
        let words = words_of(&self.program.constants, &source);
        let mut read = (0..4).filter(|c| mask >> c & 1 != 0).map(|c: usize| words[c]);
        let first = read.next()?;
        read.all(|word| word == first).then_some(first)
    }

    /// The lower half of a product of integers: one instruction if a factor has 16 bits.
    fn select_product(&mut self, target: Target, a: Source, b: Source) {
        let is_half = |source: Source| self.uniform_word(source, target.mask()).is_some_and(|word| word < 1 << 16);
        if is_half(a) || is_half(b) {
            let factors = if is_half(b) { [a, b] } else { [b, a] };
            if factors[0].file != File::Constant {
                self.emit_to(alu(Opcode::Mul, Type::D), target, factors);
                return;
            }
        }
        self.emit_to(Op::Product(Product::Low), target, [a, b]);
    }

    fn select_high_product(&mut self, product: Product, target: Target, a: Source, b: Source) {
        self.emit_to(Op::Product(product), target, [a, b]);
    }

    /// A quotient or remainder, which is 0 for the divisor 0.
    fn select_division(&mut self, function: MathFunction, ty: Type, target: Target, a: Source, b: Source) {
        let mask = target.mask();
        let division = Alu::math(function, ty);
        let word = self.uniform_word(b, mask);
        if word.is_some_and(|word| word != 0) {
            self.emit_to(division, target, [a, b]);
            return;
        }
        let quotient = self.computed(division, mask, [a, b]);
        self.zero_where_zero(target, quotient, b);
    }

    /// Copies a value where another one is not zero, and zero elsewhere.
    fn zero_where_zero(&mut self, target: Target, value: Source, tested: Source) {
        let mask = target.mask();
        let zero = self.word(0);
        self.compare(Alu::with(Opcode::Cmp, Type::D, Condition::Nz), mask, [tested, zero]);
        self.select_by_flags(target.to, value, zero);
    }

    /// The remainder with the sign of the divisor.
    fn select_modulo(&mut self, target: Target, a: Source, b: Source) {
        let mask = target.mask();
        let zero = self.word(0);
        let remainder = self.computed(Alu::math(MathFunction::IntMod, Type::D), mask, [a, b]);
        let sum = self.computed(alu(Opcode::Add, Type::D), mask, [remainder, b]);
        // The signs differ, and the remainder is not 0.
        let signs = self.computed(alu(Opcode::Xor, Type::Ud), mask, [a, b]);
        let differ = self.computed(Alu::with(Opcode::Cmp, Type::D, Condition::L), mask, [signs, zero]);
        let masked = self.computed(alu(Opcode::And, Type::Ud), mask, [differ, remainder]);
        self.compare(Alu::with(Opcode::Cmp, Type::D, Condition::Nz), mask, [masked, zero]);
        let temp = self.new_temp();
        self.select_by_flags(Destination::new(File::Temporary, temp.index, mask), sum, remainder);
        self.zero_where_zero(target, temp, b);
    }

    /// A vector with components of an operand, and zeros in the others.
    pub(super) fn packed(&mut self, lanes: [Option<Source>; 4]) -> Source {
        let zero = self.word(0);
        let temp = self.new_temp();
        let to = Target { to: Destination::new(File::Temporary, temp.index, 15), saturate: false };
        self.move_lanes(to, &lanes.map(|part| part.map_or(zero, |part| lane(part, 0))));
        temp
    }
}
