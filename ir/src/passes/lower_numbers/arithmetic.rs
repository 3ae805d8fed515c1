//! Arithmetic helpers for passes that replace an ALU instruction by a sequence of simpler ones.
//!
//! [`Arithmetic`] is a [`Builder`] with a number of components: each method emits one instruction with that many
//! components and broadcasts scalar operands, so constants are scalars. A constant is emitted only once per replaced
//! instruction. [`replace_alu`] visits every ALU instruction once; replacements are not visited, so the work is linear
//! whatever a pass emits.

use arrayvec::ArrayVec;

use crate::alu::AluOp;
use crate::body::{AluFlags, Body, MAX_COMPONENTS, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::shader::Shader;

/// Maximum number of constants to reuse per instruction; more are emitted again.
const MAX_CONSTANTS: usize = 16;

/// See the [module](self).
pub(crate) struct Arithmetic<'a> {
    /// The builder, with its cursor at the insertion point.
    pub builder: Builder<'a>,
    /// Number of components of the results.
    pub components: u8,
    inst: Inst,
    constants: ArrayVec<(u8, u64, Def), MAX_CONSTANTS>,
}

macro_rules! instructions {
    ($($name:ident $op:ident($($argument:ident),+);)+) => {
        impl Arithmetic<'_> {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub fn $name(&mut self, $($argument: Def),+) -> Def {
                    self.op(AluOp::$op, &[$($argument),+])
                }
            )+
        }
    };
}

instructions! {
    iadd Iadd(a, b);
    isub Isub(a, b);
    imul Imul(a, b);
    imul_high ImulHigh(a, b);
    umul_high UmulHigh(a, b);
    ineg Ineg(a);
    iabs Iabs(a);
    inot Inot(a);
    iand Iand(a, b);
    ior Ior(a, b);
    ixor Ixor(a, b);
    ishl Ishl(a, count);
    ishr Ishr(a, count);
    ushr Ushr(a, count);
    ieq Ieq(a, b);
    ine Ine(a, b);
    ilt Ilt(a, b);
    ige Ige(a, b);
    ult Ult(a, b);
    uge Uge(a, b);
    bcsel Bcsel(condition, a, b);
    b2i32 B2i32(a);
    fneg Fneg(a);
    fabs Fabs(a);
    fadd Fadd(a, b);
    fsub Fsub(a, b);
    fmul Fmul(a, b);
    ffma Ffma(a, b, c);
    frcp Frcp(a);
    flt Flt(a, b);
    fge Fge(a, b);
    feq Feq(a, b);
    fneu Fneu(a, b);
}

impl<'a> Arithmetic<'a> {
    /// Creates a helper for arithmetic with `components` components before an instruction.
    pub fn before(body: &'a mut Body, inst: Inst, components: u8) -> Arithmetic<'a> {
        let builder = Builder::new(body, Cursor::Before(inst));
        Arithmetic { builder, components, inst, constants: ArrayVec::new() }
    }

    /// Returns a source of the instruction with its swizzle applied.
    pub fn source(&mut self, number: usize) -> Def {
        let (operand, components) = self.operand(number);
        self.builder.mov(operand, components)
    }

    /// Returns a source of the instruction with its swizzle, and the number of components that it reads.
    pub fn operand(&self, number: usize) -> (AluSrc, u8) {
        let body = &self.builder.body;
        let source = body.source(self.inst, number);
        let operand = AluSrc::new(body.src_def(source), body.swizzle(source));
        (operand, body.alu_src_components(self.inst, number) as u8)
    }

    /// Returns the components of a source that the instruction reads if they are constant.
    pub fn constant_source(&self, number: usize) -> Option<ArrayVec<u64, MAX_COMPONENTS>> {
        let body = &self.builder.body;
        let source = body.source(self.inst, number);
        let (def, swizzle) = (body.src_def(source), body.swizzle(source));
        let selectors = swizzle.iter(body.alu_src_components(self.inst, number));
        selectors.map(|component| body.constant_component(def, component.into())).collect()
    }

    /// Returns the bit size of a source of the instruction.
    pub fn source_bits(&self, number: usize) -> u8 {
        self.builder.body.bit_size(self.builder.body.src(self.inst, number))
    }

    /// Returns the bit size of the instruction's result.
    pub fn result_bits(&self) -> u8 {
        let body = &self.builder.body;
        body.inst_def(self.inst).map_or(0, |def| body.bit_size(def))
    }

    /// Returns the bit size that the instruction has where the opcode leaves it open.
    #[cfg(test)]
    pub fn small_bits(&self) -> u8 {
        self.builder.body.alu_bit_size(self.inst)
    }

    /// Returns the bit size of a value.
    pub fn bits(&self, def: Def) -> u8 {
        self.builder.body.bit_size(def)
    }

    /// Returns the instruction.
    pub fn inst(&self) -> Inst {
        self.inst
    }

    /// Returns the flags of the instruction.
    pub fn flags(&self) -> AluFlags {
        self.builder.body.alu(self.inst).map(|(_, flags)| flags).unwrap_or_default()
    }

    /// Makes all instructions emitted from here on exact.
    pub fn exact(&mut self) {
        self.builder.flags = self.builder.flags.union(AluFlags::EXACT);
    }

    /// Returns a constant of any size, for all components.
    pub fn constant(&mut self, bit_size: u8, value: u64) -> Def {
        let value = if bit_size >= 64 { value } else { value & ((1 << bit_size) - 1) };
        if let Some(&(.., def)) = self.constants.iter().find(|&&(bits, word, _)| (bits, word) == (bit_size, value)) {
            return def;
        }
        let def = self.builder.constant(bit_size, &[value]);
        // A constant beyond the limit is not remembered.
        let _ = self.constants.try_push((bit_size, value, def));
        def
    }

    /// Returns a 32-bit integer constant.
    pub fn int(&mut self, value: u32) -> Def {
        self.constant(32, value.into())
    }

    /// Emits an instruction on all components.
    pub fn op(&mut self, op: AluOp, sources: &[Def]) -> Def {
        let sources: ArrayVec<AluSrc, 16> = sources
            .iter()
            .take(16)
            .map(|&def| match self.builder.body.num_components(def) {
                1 => AluSrc::component(def, 0),
                _ => def.into(),
            })
            .collect();
        self.builder.alu_sized(op, self.components, &sources)
    }

    /// `a + constant`
    pub fn iadd_imm(&mut self, a: Def, constant: u64) -> Def {
        if constant == 0 {
            return a;
        }
        let constant = self.constant(self.bits(a), constant);
        self.iadd(a, constant)
    }

    /// `a & constant`
    pub fn iand_imm(&mut self, a: Def, constant: u64) -> Def {
        let constant = self.constant(self.bits(a), constant);
        self.iand(a, constant)
    }

    /// `a << count`
    pub fn ishl_imm(&mut self, a: Def, count: u32) -> Def {
        self.shift_imm(AluOp::Ishl, a, count)
    }

    /// `a >> count`, filled with zeros
    pub fn ushr_imm(&mut self, a: Def, count: u32) -> Def {
        self.shift_imm(AluOp::Ushr, a, count)
    }

    /// `a >> count`, filled with the sign
    pub fn ishr_imm(&mut self, a: Def, count: u32) -> Def {
        self.shift_imm(AluOp::Ishr, a, count)
    }

    fn shift_imm(&mut self, op: AluOp, a: Def, count: u32) -> Def {
        if count == 0 {
            return a;
        }
        let count = self.int(count);
        self.op(op, &[a, count])
    }

    /// Returns whether an integer is negative.
    pub fn is_negative(&mut self, a: Def) -> Def {
        let zero = self.constant(self.bits(a), 0);
        self.ilt(a, zero)
    }

    /// Returns whether an integer is 0.
    pub fn is_zero(&mut self, a: Def) -> Def {
        let zero = self.constant(self.bits(a), 0);
        self.ieq(a, zero)
    }

    /// `condition ? 0 : a`
    pub fn zero_if(&mut self, condition: Def, a: Def) -> Def {
        let zero = self.constant(self.bits(a), 0);
        self.bcsel(condition, zero, a)
    }
}

/// Visits every ALU instruction and replaces its value by the one that `lower` returns. If `lower` returns `None`, it
/// must not have emitted anything.
pub(crate) fn replace_alu(
    shader: &mut Shader,
    mut lower: impl FnMut(AluOp, &mut Arithmetic<'_>) -> Option<Def>,
) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| {
            let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
            let shape = body.shape(def);
            let mut arithmetic = Arithmetic::before(body, inst, shape.num_components);
            let Some(new) = lower(op, &mut arithmetic) else { return false };
            replace(body, (inst, def), new, shape);
            true
        });
    }
    progress
}

fn replace(body: &mut Body, (inst, def): (Inst, Def), mut new: Def, shape: Shape) {
    if body.num_components(new) != shape.num_components {
        // A scalar for all components.
        let source = AluSrc::component(new, 0);
        new = Builder::new(body, Cursor::Before(inst)).mov(source, shape.num_components);
    }
    debug_assert_eq!(body.shape(new), shape, "{inst}: a value of another shape");
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
}
