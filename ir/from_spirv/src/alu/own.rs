//! Operations of modules of the SPIR-V driver: those of TGSI that it writes as one instruction.

use tgsi_ir::alu::AluOp;
use tgsi_ir::analysis::integer_range::integer_range;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::IntrinsicOp;

use super::Term;
use crate::emit::Emitter;
use crate::options::Environment;

/// Most moves between a number and its use.
const MAX_MOVES: usize = 8;

impl Emitter<'_, '_, '_> {
    /// Whether the module is one of the SPIR-V driver.
    fn is_own(&self) -> bool {
        self.context.environment == Environment::Tgsic
    }

    /// The value of an instruction that has another meaning in modules of the SPIR-V driver: sums of products that
    /// round each product, from the first, fields with sizes below 32, and numbers of vertices without base.
    pub(super) fn own_operation(&mut self, op: spirv::Op, terms: &[Term<Def>]) -> Option<Def> {
        if !self.is_own() || terms.iter().any(|term| self.b.body.bit_size(term.value) != 32) {
            return None;
        }
        match (op, terms) {
            (spirv::Op::Dot, &[a, b]) if self.b.flags.is_exact() => {
                let count = self.b.body.num_components(a.value);
                let op = match count {
                    2 => AluOp::Fdot2Mad,
                    3 => AluOp::Fdot3Mad,
                    4 => AluOp::Fdot4Mad,
                    _ => return None,
                };
                (self.b.body.num_components(b.value) == count).then(|| self.b.alu(op, &[a.value, b.value]))
            }
            (spirv::Op::BitFieldUExtract | spirv::Op::BitFieldSExtract, &[base, offset, size]) => {
                let op = if op == spirv::Op::BitFieldSExtract { AluOp::Ibfe } else { AluOp::Ubfe };
                let size = self.count_below_32(size.value)?;
                if self.b.body.num_components(base.value) != 1 {
                    return None;
                }
                let offset = self.count_below_32(offset.value).unwrap_or(offset.value);
                Some(self.b.alu(op, &[base.value, offset, size]))
            }
            (spirv::Op::ISub, &[index, base]) => {
                let loads = |term: Term<Def>, op: IntrinsicOp| {
                    let (def, _) = self.moved_from(term.value, 0);
                    self.b.body.intrinsic(self.b.body.def_inst(def)) == Some(op)
                };
                let is_id = loads(index, IntrinsicOp::LoadVertexId) && loads(base, IntrinsicOp::LoadBaseVertex);
                let op = IntrinsicOp::LoadVertexIdZeroBase;
                is_id.then(|| self.b.intrinsic_def(op, &[], &[], Shape::new(1, 32)))
            }
            _ => None,
        }
    }

    /// A number whose remainder by 32 a scalar is, if that is known.
    fn count_below_32(&mut self, count: Def) -> Option<Def> {
        let (def, component) = self.moved_from(count, 0);
        let body = &self.b.body;
        let range = integer_range(body, def, component);
        if range.low >= 0 && range.high < 32 && body.alu_op(body.def_inst(def)) != Some(AluOp::Iand) {
            return Some(count);
        }
        let inst = body.def_inst(def);
        if body.alu_op(inst) != Some(AluOp::Iand) {
            return None;
        }
        let is_small = range.low >= 0 && range.high < 32;
        let part = |number: usize| {
            let source = body.source(inst, number);
            self.moved_from(body.src_def(source), usize::from(body.swizzle(source).get(component)))
        };
        let is_mask = |&number: &usize| {
            let (mask, component) = part(number);
            body.constant_component(mask, component) == Some(31)
        };
        match (0..2).find(is_mask) {
            Some(mask) => {
                let (whole, component) = part(1 - mask);
                Some(self.b.channel(whole, component as u8))
            }
            None => is_small.then_some(count),
        }
    }

    /// The value and component that moves copy to a component.
    fn moved_from(&self, def: Def, component: usize) -> (Def, usize) {
        let (mut def, mut component) = (def, component);
        let body = &self.b.body;
        for _ in 0..MAX_MOVES {
            let inst = body.def_inst(def);
            let (number, part) = match body.alu_op(inst) {
                Some(AluOp::Mov) => (0, component),
                Some(op) if op.is_vec_or_mov() => (component, 0),
                _ => break,
            };
            let source = body.source(inst, number);
            (def, component) = (body.src_def(source), usize::from(body.swizzle(source).get(part)));
        }
        (def, component)
    }

    /// The interpolation between two vectors, with the rounding of TGSI's.
    pub(crate) fn own_mix(&mut self, terms: &[Term<Def>]) -> Option<Def> {
        let &[x, y, a] = terms else { return None };
        let count = self.b.body.num_components(x.value);
        let is_alike = |term: &Term<Def>| {
            (self.b.body.num_components(term.value), self.b.body.bit_size(term.value)) == (count, 32)
        };
        (self.is_own() && terms.iter().all(is_alike)).then(|| self.b.alu(AluOp::FlrpMad, &[a.value, y.value, x.value]))
    }
}
