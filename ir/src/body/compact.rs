//! Renumbers the live entities of a large body in program order, so that they are contiguous in memory.
//!
//! Passes keep tables by number and follow lists through the arenas. The cost of both, in memory and cache lines,
//! depends on the number of entities ever created, and entities created out of order (phis) are far apart. Blocks,
//! `if`s and loops keep their numbers.

use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{EntityRef, PrimaryMap};

use super::{Body, DefNode, InstData, InstNode, UseNode};
use crate::entities::{Def, Inst, Use};

/// The number of instructions from which a body is [large](Body::is_large).
const MIN_INSTS: usize = 1 << 16;

impl Body {
    /// Whether a body exceeds the caches, so that fewer walks over it outweigh some bookkeeping.
    pub(crate) fn is_large(&self) -> bool {
        self.insts.len() >= MIN_INSTS
    }

    /// Renumbers the instructions, values and uses of a large body. Returns whether it did; all ids that were stored
    /// elsewhere are then invalid. With `is_last`, tables reserve little space for new entities.
    ///
    /// Each old table is dropped before the next new one is allocated, largest first, so that the new one can reuse its
    /// memory.
    pub fn compact(&mut self, is_last: bool) -> bool {
        if !self.is_large() {
            return false;
        }
        let size = self.size();
        // Reserved memory that is never touched costs nothing, while growing a table needs twice its memory for a
        // while.
        let capacity = |entries: usize| entries + if is_last { entries / 8 } else { entries / 2 };
        let numbers = self.compact_uses(capacity(size.uses));
        self.compact_insts(&numbers, capacity(size.insts), capacity(size.defs));
        self.rebuild_use_lists(&numbers);
        if self.insts.values().all(|node| !matches!(node.data, InstData::ParallelCopy(_))) {
            self.copies = PrimaryMap::new();
        }
        for node in self.copies.values_mut().flatten() {
            node.dest = node.dest.expand().and_then(|def| numbers[def.index()].expand()).into();
        }
        self.changed_insts();
        true
    }

    /// Number of entries in use.
    fn size(&self) -> Size {
        let mut size = Size { insts: 0, defs: 0, uses: self.ifs.len() };
        for node in self.insts.values().filter(|node| node.block.is_some()) {
            size.insts += 1;
            size.defs += usize::from(node.def.is_some());
            size.uses += node.num_sources as usize;
        }
        size.defs += self.copies.values().map(Vec::len).sum::<usize>();
        size
    }

    /// Makes the table of uses in program order, with the new numbers of instructions and the old numbers of values.
    /// Returns the new numbers of values.
    fn compact_uses(&mut self, capacity: usize) -> Vec<PackedOption<Def>> {
        let mut numbers: Vec<PackedOption<Def>> = vec![PackedOption::default(); self.defs.len()];
        let mut uses: PrimaryMap<Use, UseNode> = PrimaryMap::with_capacity(capacity);
        // A removed `if` has no condition.
        let mut conditions = vec![Use::reserved_value(); self.ifs.len()];
        let (mut num_insts, mut num_defs) = (0, 0);
        for block in self.blocks() {
            for inst in self.insts(block) {
                for def in self.defs_of(inst) {
                    numbers[def.index()] = Def::new(num_defs).into();
                    num_defs += 1;
                }
                for source in self.sources(inst) {
                    uses.push(UseNode { user: num_insts, ..self.uses[source] });
                }
                num_insts += 1;
            }
            if let Some(id) = self.following_if(block) {
                conditions[id.index()] = uses.push(self.uses[self.if_condition(id)]);
            }
        }
        self.uses = uses;
        for (node, condition) in self.ifs.values_mut().zip(conditions) {
            node.condition = condition;
        }
        numbers
    }

    /// Makes the tables of instructions and values from renumbered uses.
    fn compact_insts(&mut self, numbers: &[PackedOption<Def>], capacity_insts: usize, capacity_defs: usize) {
        let mut insts: PrimaryMap<Inst, InstNode> = PrimaryMap::with_capacity(capacity_insts);
        let mut defs: PrimaryMap<Def, DefNode> = PrimaryMap::with_capacity(capacity_defs);
        let mut first_source = 0;
        // Removed blocks have no instructions.
        let mut ends = vec![(PackedOption::default(), PackedOption::default()); self.blocks.len()];
        for block in self.blocks() {
            let first = insts.next_key();
            for old in self.insts(block) {
                let node = &self.insts[old];
                let inst = insts.next_key();
                for def in self.defs_of(old) {
                    defs.push(DefNode { inst: inst.into(), first_use: PackedOption::default(), ..self.defs[def] });
                }
                insts.push(InstNode {
                    prev: Some(inst).filter(|&inst| inst != first).map(|inst| Inst::new(inst.index() - 1)).into(),
                    next: node.next.expand().map(|_| Inst::new(inst.index() + 1)).into(),
                    def: node.def.expand().and_then(|def| numbers[def.index()].expand()).into(),
                    first_source,
                    ..*node
                });
                first_source += node.num_sources;
            }
            if insts.next_key() != first {
                ends[block.index()] = (first.into(), Inst::new(insts.len() - 1).into());
            }
            first_source += u32::from(self.following_if(block).is_some());
        }
        (self.insts, self.defs) = (insts, defs);
        for (node, (first, last)) in self.blocks.values_mut().zip(ends) {
            (node.first_inst, node.last_inst) = (first, last);
        }
    }

    /// Rebuilds the lists of uses after values were renumbered to `numbers`, last in program order first, as in newly
    /// built code.
    ///
    /// Following the old lists would access memory at random for every use, and passes do not depend on the order.
    fn rebuild_use_lists(&mut self, numbers: &[PackedOption<Def>]) {
        let (defs, uses) = (&mut self.defs, &mut self.uses);
        for number in 0..uses.len() {
            let source = Use::new(number);
            let node = &mut uses[source];
            let def = node.def.expand().and_then(|def| numbers[def.index()].expand());
            (node.def, node.prev, node.next) = (def.into(), PackedOption::default(), PackedOption::default());
            let Some(def) = def else { continue };
            let first = std::mem::replace(&mut defs[def].first_use, source.into());
            uses[source].next = first;
            if let Some(first) = first.expand() {
                uses[first].prev = source.into();
            }
        }
    }

    /// The values that an instruction defines.
    fn defs_of(&self, inst: Inst) -> impl Iterator<Item = Def> + '_ {
        let copies = match self.insts[inst].data {
            InstData::ParallelCopy(id) => self.copies[id].as_slice(),
            _ => &[],
        };
        self.inst_def(inst).into_iter().chain(copies.iter().filter_map(|copy| copy.dest.expand()))
    }
}

/// Numbers of entries.
struct Size {
    insts: usize,
    defs: usize,
    uses: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::entities::User;
    use crate::intrinsics::IntrinsicOp;
    use crate::shader::{Shader, ShaderStage};
    use crate::text::print;
    use crate::validate::validate;

    #[test]
    fn what_is_left_keeps_its_order_and_its_users() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let mut dead = Vec::new();
        let (x, y) = (b.u32_const(1), b.u32_const(2));
        let runtime = b.alu(AluOp::Ult, &[x, y]);
        let id = b.push_if(runtime);
        let sum = b.alu(AluOp::Iadd, &[x, y]);
        for _ in 0..MIN_INSTS {
            let gone = b.alu(AluOp::Ineg, &[x]);
            dead.push(b.body.def_inst(gone));
        }
        let block = b.block();
        let last = b.alu(AluOp::Imul, &[x, sum]);
        b.end_if(id);
        let phi = b.phi(crate::body::Shape::new(1, 32), &[(block, last)]);
        let other = b.body.else_list(id).first;
        b.body.add_phi_source(b.body.def_inst(phi), other, x);
        b.intrinsic(IntrinsicOp::StorePreamble, &[phi], &[], None);
        shader.main_mut().remove_insts(&dead);
        let users = |shader: &Shader| -> Vec<Option<AluOp>> {
            let body = shader.main();
            let first = body.inst_def(body.first_inst(body.start_block()).unwrap()).unwrap();
            let mut users: Vec<_> =
                body.uses_of(first).map(|u| body.user(u).inst().and_then(|user| body.alu_op(user))).collect();
            users.sort_unstable();
            users
        };
        let before = users(&shader);
        assert!(shader.main_mut().compact(true));
        assert!(!shader.main_mut().compact(true));
        validate(&shader).unwrap();
        assert_eq!(users(&shader), before);
        assert_eq!((shader.main().num_insts(), shader.main().num_defs()), (7, 6));
        let text = print(&shader);
        assert!(text.contains("%4 = imul %0 (0x1), %3\n"), "{text}");
        assert!(matches!(shader.main().user(shader.main().uses_of(Def::from_u32(2)).next().unwrap()), User::If(_)));
    }

    #[test]
    fn again_and_again() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.u32_const(1);
        let mut sum = x;
        for _ in 0..MIN_INSTS {
            sum = b.alu(AluOp::Iadd, &[sum, x]);
        }
        b.intrinsic(IntrinsicOp::StorePreamble, &[sum], &[], None);
        let text = print(&shader);
        for is_last in [false, false, true] {
            let body = shader.main_mut();
            let dead = Builder::at_end(body).alu(AluOp::Ineg, &[x]);
            let dead = body.def_inst(dead);
            body.remove_insts(&[dead]);
            assert!(body.compact(is_last));
            validate(&shader).unwrap();
            assert_eq!(print(&shader), text);
        }
    }
}
