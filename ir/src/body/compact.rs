//! Numbers anew: what is left of a large body comes to stand close together, in the order of the text.
//!
//! Passes keep tables by number, and walk lists through the arenas: both cost what was ever made, in memory and in cache lines, and what was made one register
//! after the other (phis) stands far apart. Blocks, `if`s and loops keep their numbers, and lists of uses their order.

use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{EntityRef, PrimaryMap};

use super::{Body, InstData, InstNode, UseNode};
use crate::entities::{Def, Inst, Use};

/// Bodies of fewer instructions are left alone: they fit the caches as they are.
const MIN_INSTS: usize = 1 << 16;

/// New numbers by old ones.
struct Numbers {
    insts: Vec<PackedOption<Inst>>,
    defs: Vec<PackedOption<Def>>,
    uses: Vec<PackedOption<Use>>,
}

impl Numbers {
    fn inst(&self, old: PackedOption<Inst>) -> PackedOption<Inst> {
        old.expand().and_then(|inst| self.insts[inst.index()].expand()).into()
    }

    fn def(&self, old: PackedOption<Def>) -> PackedOption<Def> {
        old.expand().and_then(|def| self.defs[def.index()].expand()).into()
    }
}

impl Body {
    /// Gives new numbers to the instructions, values and uses of a large body. Returns whether it did. All numbers that someone has noted are void then.
    pub fn compact(&mut self) -> bool {
        if self.insts.len() < MIN_INSTS {
            return false;
        }
        let mut order: Vec<Inst> = Vec::new();
        for block in self.blocks() {
            order.extend(self.insts(block));
        }
        let numbers = self.number_anew(&order);
        let mut defs = PrimaryMap::with_capacity(order.len());
        let mut insts: PrimaryMap<Inst, InstNode> = PrimaryMap::with_capacity(order.len());
        let mut uses: PrimaryMap<Use, UseNode> = PrimaryMap::new();
        for &old in &order {
            let node = &self.insts[old];
            for def in self.defs_of(old) {
                let mut node = self.defs[def];
                node.inst = numbers.inst(node.inst);
                node.first_use = PackedOption::default();
                defs.push(node);
            }
            let first_source = uses.len() as u32;
            for source in self.sources(old) {
                uses.push(UseNode { user: insts.len() as u32, ..self.uses[source] });
            }
            insts.push(InstNode {
                prev: numbers.inst(node.prev),
                next: numbers.inst(node.next),
                def: numbers.def(node.def),
                first_source,
                touched: false,
                ..*node
            });
        }
        for block in self.blocks_vec() {
            if let Some(id) = self.following_if(block) {
                uses.push(self.uses[self.ifs[id].condition]);
            }
        }
        self.link_anew(&order, &numbers, &mut defs, &mut uses);
        for node in self.copies.values_mut().flatten() {
            node.dest = numbers.def(node.dest);
        }
        for node in self.blocks.values_mut() {
            node.first_inst = numbers.inst(node.first_inst);
            node.last_inst = numbers.inst(node.last_inst);
        }
        for node in self.ifs.values_mut() {
            // One that is gone has none, and may have had none before.
            let known = numbers.uses.get(node.condition.index()).and_then(|number| number.expand());
            node.condition = known.unwrap_or(Use::reserved_value());
        }
        (self.insts, self.defs, self.uses) = (insts, defs, uses);
        self.touched.clear();
        self.simplified_for = None;
        self.forget_unused();
        self.changed_insts();
        true
    }

    /// The values that an instruction makes.
    fn defs_of(&self, inst: Inst) -> impl Iterator<Item = Def> + '_ {
        let copies = match self.insts[inst].data {
            InstData::ParallelCopy(id) => self.copies[id].as_slice(),
            _ => &[],
        };
        self.inst_def(inst).into_iter().chain(copies.iter().filter_map(|copy| copy.dest.expand()))
    }

    fn number_anew(&self, order: &[Inst]) -> Numbers {
        let mut numbers = Numbers {
            insts: vec![PackedOption::default(); self.insts.len()],
            defs: vec![PackedOption::default(); self.defs.len()],
            uses: vec![PackedOption::default(); self.uses.len()],
        };
        let (mut next_def, mut next_use) = (0, 0);
        for (number, &inst) in order.iter().enumerate() {
            numbers.insts[inst.index()] = Inst::new(number).into();
            for def in self.defs_of(inst) {
                numbers.defs[def.index()] = Def::from_u32(next_def).into();
                next_def += 1;
            }
            for source in self.sources(inst) {
                numbers.uses[source.index()] = Use::from_u32(next_use).into();
                next_use += 1;
            }
        }
        for block in self.blocks() {
            if let Some(id) = self.following_if(block) {
                numbers.uses[self.ifs[id].condition.index()] = Use::from_u32(next_use).into();
                next_use += 1;
            }
        }
        numbers
    }

    /// Makes the lists of uses of the new values like those of the old ones.
    fn link_anew(
        &self,
        order: &[Inst],
        numbers: &Numbers,
        defs: &mut PrimaryMap<Def, super::DefNode>,
        uses: &mut PrimaryMap<Use, UseNode>,
    ) {
        for &inst in order {
            for old in self.defs_of(inst) {
                let Some(new) = numbers.defs[old.index()].expand() else { continue };
                let mut before: PackedOption<Use> = PackedOption::default();
                for source in self.uses_of(old) {
                    // An instruction that was made and never placed is nobody's user.
                    let Some(source) = numbers.uses[source.index()].expand() else { continue };
                    match before.expand() {
                        Some(before) => uses[before].next = source.into(),
                        None => defs[new].first_use = source.into(),
                    }
                    let node = &mut uses[source];
                    (node.def, node.prev, node.next) = (new.into(), before, PackedOption::default());
                    before = source.into();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::entities::User;
    use crate::intrinsics::IntrinsicOp;
    use crate::shader::{Shader, Stage};
    use crate::text::print;
    use crate::validate::validate;

    #[test]
    fn what_is_left_keeps_its_order_and_its_users() {
        let mut shader = Shader::new(Stage::Compute);
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
            body.uses_of(first).map(|u| body.user(u).inst().and_then(|user| body.alu_op(user))).collect()
        };
        let before = users(&shader);
        assert!(shader.main_mut().compact());
        assert!(!shader.main_mut().compact());
        validate(&shader).unwrap();
        assert_eq!(users(&shader), before);
        assert_eq!((shader.main().num_insts(), shader.main().num_defs()), (7, 6));
        let text = print(&shader);
        assert!(text.contains("%4 = imul %0 (0x1), %3\n"), "{text}");
        assert!(matches!(shader.main().user(shader.main().uses_of(Def::from_u32(2)).next().unwrap()), User::If(_)));
    }
}
