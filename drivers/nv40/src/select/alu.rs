//! ALU instructions.

use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Inst, ShaderStage};
use tgsi_registers::chase;
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::operands::{Target, absolute, lane, negated};
use super::{Selector, guard};
use crate::Nv40Error;
use crate::isa::fragment::Scale;
use crate::isa::{Chip, Condition};
use crate::machine::{CONDITIONS, Code, Op};

/// Operations that are one instruction on each component, if the chip has it.
fn componentwise(op: AluOp) -> Option<Code> {
    Some(match op {
        AluOp::Mov | AluOp::B2f32 | AluOp::F2i32 | AluOp::Fneg | AluOp::Fabs | AluOp::Fsat => Code::Mov,
        AluOp::Fadd => Code::Add,
        AluOp::Fmul => Code::Mul,
        AluOp::Fmad => Code::Mad,
        AluOp::Fmin => Code::Min,
        AluOp::Fmax => Code::Max,
        AluOp::Slt => Code::Slt,
        AluOp::Sge => Code::Sge,
        AluOp::Seq => Code::Seq,
        AluOp::Sne => Code::Sne,
        AluOp::Ffract => Code::Frc,
        AluOp::Ffloor => Code::Flr,
        AluOp::Fsign => Code::Ssg,
        AluOp::FlrpMad => Code::Lrp,
        _ => return None,
    })
}

/// Dot products, with the components of the operands.
fn dot_product(op: AluOp) -> Option<(Code, u8)> {
    use AluOp::{
        Fdot2, Fdot2Mad, Fdot2MadReplicated, Fdot2Replicated, Fdot3, Fdot3Mad, Fdot3MadReplicated, Fdot3Replicated,
        Fdot4, Fdot4Mad, Fdot4MadReplicated, Fdot4Replicated, Fdph, FdphReplicated,
    };
    Some(match op {
        Fdot2 | Fdot2Mad | Fdot2Replicated | Fdot2MadReplicated => (Code::Dp2, 0b0011),
        Fdot3 | Fdot3Mad | Fdot3Replicated | Fdot3MadReplicated => (Code::Dp3, 0b0111),
        Fdot4 | Fdot4Mad | Fdot4Replicated | Fdot4MadReplicated => (Code::Dp4, 0b1111),
        Fdph | FdphReplicated => (Code::Dph, 0b1111),
        _ => return None,
    })
}

/// Operations on one component.
fn scalar(op: AluOp) -> Option<Code> {
    Some(match op {
        AluOp::Frcp => Code::Rcp,
        AluOp::Frsq => Code::Rsq,
        AluOp::Fexp2 => Code::Ex2,
        AluOp::Flog2 => Code::Lg2,
        AluOp::Fsin => Code::Sin,
        AluOp::Fcos => Code::Cos,
        _ => return None,
    })
}

/// The factor of the result that is a product with a word.
fn scale_of(word: u32) -> Option<Scale> {
    let value = f32::from_bits(word & 0x7fff_ffff);
    let scales = [Scale::Two, Scale::Four, Scale::Eight, Scale::Half, Scale::Quarter, Scale::Eighth];
    scales.into_iter().find(|scale| scale.factor() == value)
}

impl Selector<'_> {
    fn is_fragment(&self) -> bool {
        self.shader.stage == ShaderStage::Fragment
    }

    /// Whether the shader is a fragment shader of a chip after GeForce FX.
    fn is_curie_fragment(&self) -> bool {
        self.is_fragment() && self.options.chip != Chip::Nv30
    }

    fn has_no_form(&self, inst: Inst, op: AluOp) -> Nv40Error {
        self.lacks(inst, &format!("form of `{}`", op.name()))
    }

    pub(super) fn select_alu(&mut self, inst: Inst, op: AluOp) -> Result<(), Nv40Error> {
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
        match op {
            AluOp::Fcsel | AluOp::FcselGt | AluOp::FcselGe => {
                self.select_selection(inst, op, target);
                return Ok(());
            }
            AluOp::Ftrunc => {
                self.select_truncation(inst, target);
                return Ok(());
            }
            AluOp::Fdiv if self.is_curie_fragment() => {
                let dividend = self.alu_source(inst, 0, mask);
                let divisor = self.alu_source(inst, 1, mask);
                match self.reciprocal_literals(divisor) {
                    Some(factors) => self.emit_to(Code::Mul, target, [dividend, factors]),
                    None => self.select_quotient(Code::Div, target, dividend, divisor),
                }
                return Ok(());
            }
            AluOp::Fpow if self.is_fragment() && !self.is_curie_fragment() => {
                let sources = [self.alu_source(inst, 0, mask), self.alu_source(inst, 1, mask)];
                self.select_scalar(Code::Pow, target, &sources);
                return Ok(());
            }
            // Without the opcode: not a number for 0 to the power of 0, which GLSL leaves undefined.
            AluOp::Fpow => {
                let [base, exponent] = [0, 1].map(|number| self.alu_source(inst, number, mask));
                let logarithm = Destination::new(File::Temporary, self.new_temp().index, mask);
                let logarithm = Target { to: logarithm, saturate: false };
                self.select_scalar(Code::Lg2, logarithm, &[base]);
                let logarithm = Source::new(File::Temporary, logarithm.to.index);
                let product = self.computed(Code::Mul, mask, [logarithm, exponent]);
                self.select_scalar(Code::Ex2, target, &[product]);
                return Ok(());
            }
            AluOp::Fmul if self.is_curie_fragment() && self.is_normalized(inst, target) => return Ok(()),
            AluOp::Fadd if self.is_curie_fragment() && self.is_dot_sum(inst, target) => return Ok(()),
            AluOp::Fmul | AluOp::Fadd if self.is_fragment() && self.is_scaled(inst, op, target) => return Ok(()),
            _ => {}
        }
        if let Some(code) = componentwise(op) {
            let mut instruction = Instruction::new(code.into(), Some(target.to), []);
            for number in 0..body.num_sources(inst) {
                let _ = instruction.sources.try_push(self.alu_source(inst, number, mask));
            }
            if let (AluOp::Fneg | AluOp::Fabs, Some(source)) = (op, instruction.sources.first_mut()) {
                *source = if op == AluOp::Fneg { negated(*source) } else { absolute(*source) };
            }
            instruction.saturate = target.saturate || op == AluOp::Fsat;
            self.push(instruction);
            return Ok(());
        }
        if let Some((code, components)) = dot_product(op) {
            let first = if code == Code::Dph { 0b0111 } else { components };
            let (a, b) = (self.alu_source(inst, 0, first), self.alu_source(inst, 1, components));
            self.select_dot_product(code, target, a, b);
            return Ok(());
        }
        if let Some(code) = scalar(op) {
            let source = self.alu_source(inst, 0, mask);
            if code == Code::Rsq && self.is_curie_fragment() && !self.options.has_rsq {
                let one = self.float(1.0);
                self.select_quotient(Code::Divsq, target, one, source);
            } else {
                self.select_scalar(code, target, &[source]);
            }
            return Ok(());
        }
        Err(self.has_no_form(inst, op))
    }

    /// A vector of components: a move for each value.
    fn select_vector(&mut self, inst: Inst, def: Def) {
        let target = self.alu_target(def);
        let mut lanes = [Source::new(File::Constant, 0); 4];
        for (number, part) in lanes.iter_mut().enumerate().take(self.body.num_sources(inst)) {
            *part = self.alu_source(inst, number, 1);
        }
        let (to, after) = self.apart(target, &lanes);
        let key = |c: u8| Source { swizzle: [0; 4], ..lanes[usize::from(c)] };
        for (mask, _) in Self::groups(target.mask(), key) {
            let first = (0..4).find(|c| mask >> c & 1 != 0).unwrap_or(0);
            let mut source = lanes[first];
            for c in 0..4 {
                source.swizzle[c] = lanes[if mask >> c & 1 != 0 { c } else { first }].swizzle[0];
            }
            self.emit_to(Code::Mov, to.masked(mask), [source]);
        }
        self.deliver(to, after);
    }

    /// Appends an operation with a target.
    pub(super) fn emit_to<const N: usize>(&mut self, op: impl Into<Op>, target: Target, sources: [Source; N]) {
        let mut instruction = Instruction::new(op.into(), Some(target.to), sources);
        instruction.saturate = target.saturate;
        self.push(instruction);
    }

    /// An operation on x of its operands, once for each component that differs.
    fn select_scalar(&mut self, code: Code, target: Target, sources: &[Source]) {
        let key = |c: u8| sources.iter().map(|source| source.swizzle[usize::from(c)]).collect::<Vec<_>>();
        let groups = Self::groups(target.mask(), key);
        let (to, after) = if groups.len() > 1 { self.apart(target, sources) } else { (target, None) };
        for (mask, components) in groups {
            let scalars = sources.iter().zip(components).map(|(source, c)| source.swizzled([c; 4]));
            let mut instruction = Instruction::new(code.into(), Some(to.masked(mask).to), scalars);
            instruction.saturate = target.saturate;
            self.push(instruction);
        }
        self.deliver(to, after);
    }

    /// An operation on a vector and x of the second operand.
    fn select_quotient(&mut self, code: Code, target: Target, dividend: Source, divisor: Source) {
        let groups = Self::groups(target.mask(), |c| divisor.swizzle[usize::from(c)]);
        let (to, after) = if groups.len() > 1 { self.apart(target, &[dividend, divisor]) } else { (target, None) };
        for (mask, component) in groups {
            self.emit_to(code, to.masked(mask), [dividend, divisor.swizzled([component; 4])]);
        }
        self.deliver(to, after);
    }

    /// The reciprocals of literals: a product has a divisor for each component.
    fn reciprocal_literals(&mut self, divisor: Source) -> Option<Source> {
        if divisor.file != File::Constant {
            return None;
        }
        let row = self.program.constants.row(divisor.index);
        let signed = |value: f32| {
            let value = if divisor.absolute { value.abs() } else { value };
            if divisor.negate { -value } else { value }
        };
        let factors = divisor.swizzle.map(|c| signed(f32::from_bits(row[usize::from(c & 3)])).recip());
        let are_normal = factors.iter().all(|factor| factor.is_normal() && factor.recip().is_normal());
        let index = || self.program.constants.intern(factors.map(f32::to_bits));
        are_normal.then(index).map(|index| Source::new(File::Constant, index))
    }

    fn select_dot_product(&mut self, code: Code, target: Target, a: Source, b: Source) {
        if code == Code::Dp2 && !self.is_curie_fragment() {
            // The second product is added to the first.
            let component = |source: Source, c: usize| source.swizzled([source.swizzle[c]; 4]);
            let first = self.computed(Code::Mul, 1, [component(a, 0), component(b, 0)]);
            self.emit_to(Code::Mad, target, [component(a, 1), component(b, 1), lane(first, 0)]);
            return;
        }
        self.emit_to(code, target, [a, b]);
    }

    /// The floor of the magnitude, with the sign of the operand.
    fn select_truncation(&mut self, inst: Inst, target: Target) {
        let mask = target.mask();
        let source = self.alu_source(inst, 0, mask);
        let (to, after) = self.apart(target, &[source]);
        self.emit_to(Code::Flr, Target { saturate: false, ..to }, [absolute(source)]);
        let floor = Source::new(File::Temporary, to.to.index);
        self.conditions.forget();
        let register = CONDITIONS;
        self.emit(Code::Mov, Destination::new(File::Special, register.into(), mask), [source]);
        let mut choice = Instruction::new(Code::Mov.into(), Some(to.to), [negated(floor)]);
        choice.guard = Some(guard(register, Condition::LT, [0, 1, 2, 3]));
        self.push(choice);
        if target.saturate {
            self.emit_to(Code::Mov, to, [floor]);
        }
        self.deliver(to, after);
    }

    /// Selects a product with a power of two, or a sum of equal operands, as a move with a factor.
    fn is_scaled(&mut self, inst: Inst, op: AluOp, target: Target) -> bool {
        let mask = target.mask();
        let (a, b) = (self.alu_source(inst, 0, mask), self.alu_source(inst, 1, mask));
        let (source, scale) = if op == AluOp::Fadd {
            if a != b {
                return false;
            }
            (a, Scale::Two)
        } else {
            let constant = |source: Source| {
                let row = (source.file == File::Constant && source.is_plain()).then(|| {
                    let row = self.program.constants.row(source.index);
                    source.swizzle.map(|c| row[usize::from(c & 3)])
                })?;
                (row == [row[0]; 4]).then_some(row[0]).filter(|&word| scale_of(word).is_some())
            };
            let (source, word) = match (constant(a), constant(b)) {
                (_, Some(word)) => (a, word),
                (Some(word), None) => (b, word),
                (None, None) => return false,
            };
            let Some(scale) = scale_of(word) else { return false };
            (if word >> 31 != 0 { negated(source) } else { source }, scale)
        };
        self.emit_to(Op { code: Code::Mov, scale }, target, [source]);
        true
    }

    /// Selects the sum of a scalar and a dot product of two components that has no other use.
    fn is_dot_sum(&mut self, inst: Inst, target: Target) -> bool {
        let body = self.body;
        let mask = target.mask();
        for number in 0..2 {
            let source = body.source(inst, number);
            let dot = body.src_def(source);
            let producer = body.def_inst(dot);
            let is_dot = body.alu_op(producer).and_then(dot_product).is_some_and(|(code, _)| code == Code::Dp2);
            if !is_dot || self.assignment.is_some() || body.single_use(dot).is_none() {
                continue;
            }
            let addend = self.alu_source(inst, 1 - number, mask);
            if addend.swizzle != [addend.swizzle[0]; 4] {
                continue;
            }
            let (a, b) = (self.alu_source(producer, 0, 0b0011), self.alu_source(producer, 1, 0b0011));
            self.emit_to(Code::Dp2a, target, [a, b, addend]);
            return true;
        }
        false
    }

    /// Selects a product with a reciprocal square root that has no other use: a normalisation, or a quotient by the
    /// root.
    fn is_normalized(&mut self, inst: Inst, target: Target) -> bool {
        let body = self.body;
        let mask = target.mask();
        for number in 0..2 {
            let source = body.source(inst, number);
            let root = body.src_def(source);
            let producer = body.def_inst(root);
            let is_root = body.alu_op(producer) == Some(AluOp::Frsq) && body.num_components(root) == 1;
            if !is_root || self.assignment.is_some() || chase::store_reg_for_def(body, root).is_some() {
                continue;
            }
            let square = chase::chase_alu_src(body, producer, 0, self.policy);
            let chase::Operand::Ssa(sum) = square.operand else { continue };
            let other = chase::chase_alu_src(body, inst, 1 - number, self.policy);
            if self.is_square_of(sum, &other) && mask & 0b1000 == 0 && !square.negate {
                let vector = self.alu_source(inst, 1 - number, 0b0111);
                self.emit_to(Code::Nrm, target, [vector]);
                return true;
            }
            if body.single_use(root).is_some() {
                let dividend = self.alu_source(inst, 1 - number, mask);
                let divisor = self.alu_source(producer, 0, 1);
                self.emit_to(Code::Divsq, target, [dividend, divisor]);
                return true;
            }
        }
        false
    }

    /// Whether a value is the dot product of three components of an operand with themselves.
    fn is_square_of(&self, sum: Def, vector: &chase::AluSource) -> bool {
        let body = self.body;
        let inst = body.def_inst(sum);
        let is_dot = body.alu_op(inst).and_then(dot_product).is_some_and(|(code, _)| code == Code::Dp3);
        is_dot && matches!(vector.operand, chase::Operand::Ssa(_)) && {
            let sides = [0, 1].map(|number| chase::chase_alu_src(body, inst, number, self.policy));
            let is_same = |side: &chase::AluSource| {
                side.operand == vector.operand && (0..3).all(|c| side.swizzle.get(c) == vector.swizzle.get(c))
            };
            sides.iter().all(is_same)
                && (sides[0].absolute, sides[0].negate) == (sides[1].absolute, sides[1].negate)
                && vector.swizzle.is_identity(3)
        }
    }
}
