//! ALU instructions with 64-bit values: one or two components, each a pair of channels.
//!
//! | operation | channels written |
//! |---|---|
//! | 64 bits to 64 bits, 32 to 64 | the pairs of the components |
//! | 64 bits to 32 | the first channels of the mask, in order |
//! | comparisons | the first channel of each pair |

use tgsi::shader::{Dst, Src};
use tgsi::tables::Opcode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Inst, Swizzle};
use tgsi_registers::chase;
use tgsi_registers::chase::Operand;
use tgsi_to_ir::opcodes::{OperandForm, from_ir_wide, from_ir_widening};

use super::alu::Sources;
use super::{Selector, Value, lane_mask};
use crate::DriverError;
use crate::consumers::options::Dialect;

/// Returns the pairs of the components selected by a swizzle.
fn pairs(source: &(Value, Swizzle), count: usize) -> Src {
    let component = |k: usize| source.1.get(if k < count { k } else { 0 }) & 1;
    let (a, b) = (component(0), component(1));
    source.0.source([2 * a, 2 * a + 1, 2 * b, 2 * b + 1])
}

/// Returns a 32-bit component for each pair, in both channels.
fn words(source: &(Value, Swizzle), count: usize) -> Src {
    let component = |k: usize| source.1.get(if k < count { k } else { 0 }) & 3;
    let (a, b) = (component(0), component(1));
    source.0.source([a, a, b, b])
}

impl Selector<'_> {
    pub(super) fn select_alu64(
        &mut self,
        inst: Inst,
        def: Def,
        op: AluOp,
        sources: &Sources,
    ) -> Result<(), DriverError> {
        let body = self.body;
        let count = usize::from(body.num_components(def));
        let source_bits = body.sources(inst).next().map_or(32, |s| body.bit_size(body.src_def(s)));
        let unsupported = DriverError::UnsupportedAlu { inst, op };
        if count > 2 && !matches!(op, AluOp::Unpack642x32) {
            return Err(unsupported);
        }
        match op {
            AluOp::Pack642x32Split
            | AluOp::Pack642x32
            | AluOp::Unpack642x32SplitX
            | AluOp::Unpack642x32SplitY
            | AluOp::Unpack642x32
            | AluOp::I2i32
            | AluOp::U2u32 => {
                self.rearrange(inst, def, op, sources, count);
                return Ok(());
            }
            _ => {}
        }
        if op == AluOp::Fadd
            && let Some(source) = self.recognized_sign(inst, count)
        {
            let (dst, _) = self.alu_destination(def);
            self.emit(Opcode::Dssg, dst, &[pairs(&source, count)]);
            return Ok(());
        }
        let row = if source_bits == 64 { from_ir_wide(op) } else { from_ir_widening(op) };
        if let Some((form, opcode)) = row {
            return match form {
                OperandForm::Narrow | OperandForm::WideTruth => {
                    let operands: arrayvec::ArrayVec<Src, 4> = sources.iter().map(|s| pairs(s, count)).collect();
                    let (mask, lanes) = match form {
                        OperandForm::Narrow => ((1u8 << count) - 1, [0, 1, 0, 0]),
                        _ => (if count > 1 { 0b101 } else { 1 }, [0, 2, 0, 0]),
                    };
                    let result = self.computed(opcode, mask, &operands);
                    self.bind_alu(def, Value { lanes, ..Value::new(result.register) });
                    Ok(())
                }
                _ => {
                    let operands: arrayvec::ArrayVec<Src, 4> = sources
                        .iter()
                        .enumerate()
                        .map(|(number, source)| match form {
                            OperandForm::ByWord if number == 1 => words(source, count),
                            OperandForm::Widen => {
                                let (a, b) = (source.1.get(0) & 3, source.1.get(if count > 1 { 1 } else { 0 }) & 3);
                                source.0.source([a, b, a, b])
                            }
                            _ => pairs(source, count),
                        })
                        .collect();
                    let remainder = matches!(op, AluOp::Udiv | AluOp::Umod | AluOp::Irem);
                    // A widening with a partial destination would permute the words read.
                    let (register, _) = self.alu_destination(def);
                    let full = lane_mask((1 << count) - 1, 64);
                    let is_partial = form == OperandForm::Widen && register.write_mask != full;
                    let dst = if is_partial { Dst::new(self.temp()).masked(full) } else { register };
                    if remainder {
                        self.emit_divide64(opcode, dst, operands[0], operands[1], count);
                    } else if opcode == Opcode::Dsqrt && self.options.dialect == Dialect::Virgl {
                        // Hosts write all four components of a square root, regardless of the mask.
                        let root = self.computed(Opcode::Drsq, dst.write_mask, &operands);
                        self.emit(Opcode::Drcp, dst, &[root]);
                    } else {
                        self.emit(opcode, dst, &operands);
                    }
                    if is_partial {
                        self.emit(Opcode::Mov, register, &[Src::new(dst.register)]);
                    }
                    Ok(())
                }
            };
        }
        match op {
            AluOp::Fsat => {
                let (zero, one) = (self.wide_constant(0), self.wide_constant(1f64.to_bits()));
                let (dst, _) = self.alu_destination(def);
                let low = self.computed(Opcode::Dmax, dst.write_mask, &[pairs(&sources[0], count), zero]);
                self.emit(Opcode::Dmin, dst, &[low, one]);
                Ok(())
            }
            AluOp::Fsub | AluOp::Isub => {
                let (dst, _) = self.alu_destination(def);
                let (negate, add) = match op {
                    AluOp::Fsub => (Opcode::Dneg, Opcode::Dadd),
                    _ => (Opcode::I64neg, Opcode::U64add),
                };
                let negative = self.computed(negate, dst.write_mask, &[pairs(&sources[1], count)]);
                self.emit(add, dst, &[pairs(&sources[0], count), negative]);
                Ok(())
            }
            AluOp::Iand | AluOp::Ior | AluOp::Ixor | AluOp::Inot => {
                let (dst, _) = self.alu_destination(def);
                let opcode = match op {
                    AluOp::Iand => Opcode::And,
                    AluOp::Ior => Opcode::Or,
                    AluOp::Ixor => Opcode::Xor,
                    _ => Opcode::Not,
                };
                let operands: arrayvec::ArrayVec<Src, 4> = sources.iter().map(|s| pairs(s, count)).collect();
                self.emit(opcode, dst, &operands);
                Ok(())
            }
            AluOp::B32csel => {
                let (dst, _) = self.alu_destination(def);
                let operands = [words(&sources[0], count), pairs(&sources[1], count), pairs(&sources[2], count)];
                self.emit(Opcode::Ucmp, dst, &operands);
                Ok(())
            }
            AluOp::B2f64 | AluOp::B2i64 => {
                let (dst, _) = self.alu_destination(def);
                let one = self.wide_constant(if op == AluOp::B2f64 { 1f64.to_bits() } else { 1 });
                self.emit(Opcode::And, dst, &[words(&sources[0], count), one]);
                Ok(())
            }
            _ => Err(unsupported),
        }
    }

    fn wide_constant(&mut self, word: u64) -> Src {
        let (low, high) = (word as u32, (word >> 32) as u32);
        self.immediate([low, high, low, high]).source([0, 1, 2, 3])
    }

    /// Division by zero gives 0 in the IR, all ones in TGSI.
    fn emit_divide64(&mut self, opcode: Opcode, dst: Dst, a: Src, b: Src, count: usize) {
        let never_zero = crate::machine::operands::immediate_words(&self.program.constants, &b)
            .is_some_and(|w| w[0] | w[1] != 0 && (count == 1 || w[2] | w[3] != 0));
        if never_zero {
            self.emit(opcode, dst, &[a, b]);
            return;
        }
        let zero = self.wide_constant(0);
        let quotient = self.computed(opcode, dst.write_mask, &[a, b]);
        let nonzero = self.computed(Opcode::U64sne, dst.write_mask & 0b101, &[b, zero]);
        self.emit(Opcode::Ucmp, dst, &[nonzero.swizzled([0, 0, 2, 2]), quotient, zero]);
    }

    /// Binds an ALU result to an existing value, or moves that to its register.
    pub(super) fn bind_alu(&mut self, def: Def, value: Value) {
        let dest = chase::chase_alu_dest(self.body, def, self.options.modifiers());
        if let Operand::Ssa(result) = dest.operand
            && !dest.saturate
        {
            self.values.set(result, value);
            return;
        }
        let (dst, saturate) = self.alu_destination(def);
        self.emit_saturated(Opcode::Mov, dst, &[value.source([0, 1, 2, 3])], saturate);
    }

    /// Combines or splits words: binds the result to the existing words if it stays SSA.
    fn rearrange(&mut self, inst: Inst, def: Def, op: AluOp, sources: &Sources, count: usize) {
        // The source and lane of each lane of the result.
        let mut lanes: arrayvec::ArrayVec<(usize, u8), 4> = arrayvec::ArrayVec::new();
        match op {
            AluOp::Pack642x32Split => {
                for k in 0..count {
                    lanes.push((0, sources[0].1.get(k) & 3));
                    lanes.push((1, sources[1].1.get(k) & 3));
                }
            }
            AluOp::Pack642x32 => {
                lanes.push((0, sources[0].1.get(0) & 3));
                lanes.push((0, sources[0].1.get(1) & 3));
            }
            AluOp::Unpack642x32 => {
                let k = sources[0].1.get(0) & 1;
                lanes.push((0, 2 * k));
                lanes.push((0, 2 * k + 1));
            }
            _ => {
                let high = u8::from(op == AluOp::Unpack642x32SplitY);
                for k in 0..count {
                    lanes.push((0, 2 * (sources[0].1.get(k) & 1) + high));
                }
            }
        }
        let fixed = |number: usize| {
            let chased = chase::chase_alu_src(self.body, inst, number, self.options.modifiers());
            matches!(chased.operand, Operand::Ssa(_))
        };
        let first = sources[0].0;
        let together = lanes.iter().all(|&(number, _)| {
            let value = &sources[number].0;
            fixed(number) && value.register == first.register && !value.absolute && !value.negate
        }) && first.register.indirect.is_none();
        if together {
            let mut value = Value::new(first.register);
            for (to, &(number, lane)) in value.lanes.iter_mut().zip(&lanes) {
                *to = sources[number].0.lanes[usize::from(lane)];
            }
            self.bind_alu(def, value);
            return;
        }
        let temp = self.temp();
        for number in 0..sources.len() {
            let mut channels = [0; 4];
            let mut mask = 0u8;
            for (channel, &(_, lane)) in lanes.iter().enumerate().filter(|(_, l)| l.0 == number) {
                channels[channel] = lane;
                mask |= 1 << channel;
            }
            if mask != 0 {
                self.emit(Opcode::Mov, Dst::new(temp).masked(mask), &[sources[number].0.source(channels)]);
            }
        }
        self.bind_alu(def, Value::new(temp));
    }
}
