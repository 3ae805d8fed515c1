//! Comparisons and construction of vectors.

use tgsi::shader::{Dst, Src};
use tgsi::tables::Opcode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Inst};
use tgsi_registers::chase;
use tgsi_registers::chase::Operand;

use super::{Sources, operand};
use crate::DriverError;
use crate::select::{Selector, Value, lane_mask};

/// Comparisons of whole vectors: per-component comparison, how results combine, components.
pub(super) const fn vector_comparison(op: AluOp) -> Option<(Opcode, Opcode, usize)> {
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

impl Selector<'_> {
    pub(super) fn compare_vectors(
        &mut self,
        dst: Dst,
        compare: Opcode,
        combine: Opcode,
        count: usize,
        sources: &Sources,
    ) {
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
    pub(super) fn select_vector(&mut self, inst: Inst, def: Def, op: AluOp) -> Result<(), DriverError> {
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
pub(super) fn same(a: &Value, b: &Value) -> bool {
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
