//! Numbers anew: what is left of a large body comes to stand close together, in the order of the text.
//!
//! Passes keep tables by number, and walk lists through the arenas: both cost what was ever made, in memory and in cache lines, and what was made one register
//! after the other (phis) stands far apart. Blocks, `if`s and loops keep their numbers.

use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{EntityRef, PrimaryMap};

use super::{Body, DefNode, InstData, InstNode, UseNode};
use crate::entities::{Def, Inst, Use};

/// Bodies of fewer instructions are left alone: they fit the caches as they are.
const MIN_INSTS: usize = 1 << 16;

/// New numbers by old ones.
struct Numbers {
    insts: Vec<PackedOption<Inst>>,
    defs: Vec<PackedOption<Def>>,
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
        let (order, numbers) = self.number_anew();
        // With room for as many again, which costs nothing before it is used: to grow is to have all of it twice for a while.
        let mut defs = PrimaryMap::with_capacity(2 * numbers.defs.len());
        let mut insts: PrimaryMap<Inst, InstNode> = PrimaryMap::with_capacity(2 * order.len());
        let mut uses: PrimaryMap<Use, UseNode> = PrimaryMap::with_capacity(2 * self.uses.len());
        // An `if` that is gone has no condition.
        let gone = Use::reserved_value();
        let conditions: Vec<Use> =
            self.ifs.values_mut().map(|node| std::mem::replace(&mut node.condition, gone)).collect();
        let mut next_block = Some(self.start_block());
        let mut next_inst = 0;
        while let Some(block) = next_block {
            next_block = self.next_block(block);
            while let Some(&old) = order.get(next_inst).filter(|&&inst| self.insts[inst].block.expand() == Some(block))
            {
                next_inst += 1;
                let node = &self.insts[old];
                for def in self.defs_of(old) {
                    let mut node = self.defs[def];
                    node.inst = numbers.inst(node.inst);
                    node.first_use = PackedOption::default();
                    defs.push(node);
                }
                let first_source = uses.len() as u32;
                for source in self.sources(old) {
                    let node = &self.uses[source];
                    uses.push(UseNode { user: insts.len() as u32, def: numbers.def(node.def), ..*node });
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
            if let Some(id) = self.following_if(block) {
                let node = &self.uses[conditions[id.index()]];
                self.ifs[id].condition = uses.push(UseNode { def: numbers.def(node.def), ..*node });
            }
        }
        link_anew(&mut defs, &mut uses);
        if order.iter().all(|&inst| !matches!(self.insts[inst].data, InstData::ParallelCopy(_))) {
            self.copies = PrimaryMap::new();
        }
        for node in self.copies.values_mut().flatten() {
            node.dest = numbers.def(node.dest);
        }
        for node in self.blocks.values_mut() {
            node.first_inst = numbers.inst(node.first_inst);
            node.last_inst = numbers.inst(node.last_inst);
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

    /// The instructions in the order of the text, and what their numbers will be.
    fn number_anew(&self) -> (Vec<Inst>, Numbers) {
        let mut order: Vec<Inst> = Vec::new();
        let mut numbers = Numbers {
            insts: vec![PackedOption::default(); self.insts.len()],
            defs: vec![PackedOption::default(); self.defs.len()],
        };
        let mut next_def = 0;
        for block in self.blocks() {
            for inst in self.insts(block) {
                numbers.insts[inst.index()] = Inst::new(order.len()).into();
                order.push(inst);
                for def in self.defs_of(inst) {
                    numbers.defs[def.index()] = Def::from_u32(next_def).into();
                    next_def += 1;
                }
            }
        }
        (order, numbers)
    }
}

/// Makes the lists of uses, the last of the text first: as if the text had just been built.
///
/// To follow the old lists would be a jump through memory for every use, and a pass goes along with any order.
fn link_anew(defs: &mut PrimaryMap<Def, DefNode>, uses: &mut PrimaryMap<Use, UseNode>) {
    for number in 0..uses.len() {
        let source = Use::new(number);
        let node = &mut uses[source];
        (node.prev, node.next) = (PackedOption::default(), PackedOption::default());
        let Some(def) = node.def.expand() else { continue };
        let first = std::mem::replace(&mut defs[def].first_use, source.into());
        uses[source].next = first;
        if let Some(first) = first.expand() {
            uses[first].prev = source.into();
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
            let mut users: Vec<_> =
                body.uses_of(first).map(|u| body.user(u).inst().and_then(|user| body.alu_op(user))).collect();
            users.sort_unstable();
            users
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
