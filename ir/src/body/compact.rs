//! Numbers anew: what is left of a large body comes to stand close together, in the order of the text.
//!
//! Passes keep tables by number, and walk lists through the arenas: both cost what was ever made, in memory and in cache lines, and what was made one register
//! after the other (phis) stands far apart. Blocks, `if`s and loops keep their numbers.

use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{EntityRef, PrimaryMap};

use super::{Body, DefNode, InstData, InstNode, UseNode};
use crate::entities::{Def, Inst, Use};

/// Bodies of fewer instructions are not [large](Body::is_large).
const MIN_INSTS: usize = 1 << 16;

/// Tables of a body that were left behind: what comes next takes their room, which has been touched already.
#[derive(Default, Debug)]
pub(super) struct Spare {
    insts: PrimaryMap<Inst, InstNode>,
    defs: PrimaryMap<Def, DefNode>,
    uses: PrimaryMap<Use, UseNode>,
}

impl Clone for Spare {
    fn clone(&self) -> Spare {
        Spare::default()
    }
}

impl Spare {
    /// Empty tables for as many entries as there are, and more: to grow is to have all of it twice for a while, and room that is not used costs nothing.
    fn take(&mut self, insts: usize, defs: usize, uses: usize) -> Spare {
        let Spare { insts: old_insts, defs: old_defs, uses: old_uses } = std::mem::take(self);
        Spare { insts: emptied(old_insts, insts), defs: emptied(old_defs, defs), uses: emptied(old_uses, uses) }
    }
}

/// A table that was about as large, without its entries, or a new one. Of the `entries` that there are some will not be taken over.
fn emptied<K: EntityRef, V>(mut table: PrimaryMap<K, V>, entries: usize) -> PrimaryMap<K, V> {
    if 2 * table.len() >= entries {
        table.clear();
        return table;
    }
    PrimaryMap::with_capacity(entries + entries / 2)
}

impl Body {
    /// Whether a body does not fit the caches, so that what spares walks along it is worth its while.
    pub(crate) fn is_large(&self) -> bool {
        self.insts.len() >= MIN_INSTS
    }

    /// Gives new numbers to the instructions, values and uses of a large body. Returns whether it did. All numbers that someone has noted are void then. `is_last`: nothing
    /// will be added to speak of, and what is left behind is of no use. Otherwise the body keeps it, until it is used again or [released](Self::release_spare).
    pub fn compact(&mut self, is_last: bool) -> bool {
        if !self.is_large() {
            return false;
        }
        let Spare { mut insts, mut defs, mut uses } = if is_last {
            self.release_spare();
            self.exact_tables()
        } else {
            self.spare.take(self.insts.len(), self.defs.len(), self.uses.len())
        };
        let mut numbers: Vec<PackedOption<Def>> = vec![PackedOption::default(); self.defs.len()];
        // An `if` that is gone has no condition.
        let gone = Use::reserved_value();
        let conditions: Vec<Use> =
            self.ifs.values_mut().map(|node| std::mem::replace(&mut node.condition, gone)).collect();
        // Blocks that are gone have no instructions.
        let mut gone_blocks = vec![true; self.blocks.len()];
        let mut next_block = Some(self.start_block());
        while let Some(block) = next_block {
            next_block = self.next_block(block);
            gone_blocks[block.index()] = false;
            let first = insts.next_key();
            let mut next = self.blocks[block].first_inst;
            while let Some(old) = next.expand() {
                let node = &self.insts[old];
                next = node.next;
                let inst = insts.next_key();
                for def in self.defs_of(old) {
                    let new = DefNode { inst: inst.into(), first_use: PackedOption::default(), ..self.defs[def] };
                    numbers[def.index()] = defs.push(new).into();
                }
                let first_source = uses.len() as u32;
                // What they read may have no new number yet.
                for source in self.sources(old) {
                    uses.push(UseNode { user: inst.as_u32(), ..self.uses[source] });
                }
                insts.push(InstNode {
                    prev: Some(inst).filter(|&inst| inst != first).map(|inst| Inst::new(inst.index() - 1)).into(),
                    next: next.expand().map(|_| Inst::new(inst.index() + 1)).into(),
                    def: node.def.expand().and_then(|def| numbers[def.index()].expand()).into(),
                    first_source,
                    touched: false,
                    ..*node
                });
            }
            let last = insts.next_key();
            let is_empty = first == last;
            let node = &mut self.blocks[block];
            node.first_inst = Some(first).filter(|_| !is_empty).into();
            node.last_inst = Some(last).filter(|_| !is_empty).map(|inst| Inst::new(inst.index() - 1)).into();
            if let Some(id) = self.following_if(block) {
                self.ifs[id].condition = uses.push(self.uses[conditions[id.index()]]);
            }
        }
        for (node, _) in self.blocks.values_mut().zip(gone_blocks).filter(|(_, is_gone)| *is_gone) {
            (node.first_inst, node.last_inst) = (PackedOption::default(), PackedOption::default());
        }
        link_anew(&mut defs, &mut uses, &numbers);
        if insts.values().all(|node| !matches!(node.data, InstData::ParallelCopy(_))) {
            self.copies = PrimaryMap::new();
        }
        for node in self.copies.values_mut().flatten() {
            node.dest = node.dest.expand().and_then(|def| numbers[def.index()].expand()).into();
        }
        let old = Spare {
            insts: std::mem::replace(&mut self.insts, insts),
            defs: std::mem::replace(&mut self.defs, defs),
            uses: std::mem::replace(&mut self.uses, uses),
        };
        if !is_last {
            self.spare = old;
        }
        self.renumber_changes();
        self.forget_unused();
        self.changed_insts();
        true
    }

    /// Forgets the tables that the last compaction left behind: to be called before much else needs room.
    pub fn release_spare(&mut self) {
        self.spare = Spare::default();
    }

    /// Tables with room for what is in use: they fit where memory was given back.
    fn exact_tables(&self) -> Spare {
        let (mut insts, mut defs, mut uses) = (0, 0, self.ifs.len());
        for node in self.insts.values().filter(|node| node.block.is_some()) {
            insts += 1;
            defs += usize::from(node.def.is_some());
            uses += node.num_sources as usize;
        }
        defs += self.copies.values().map(Vec::len).sum::<usize>();
        Spare {
            insts: PrimaryMap::with_capacity(insts),
            defs: PrimaryMap::with_capacity(defs),
            uses: PrimaryMap::with_capacity(uses),
        }
    }

    /// The values that an instruction makes.
    fn defs_of(&self, inst: Inst) -> impl Iterator<Item = Def> + '_ {
        let copies = match self.insts[inst].data {
            InstData::ParallelCopy(id) => self.copies[id].as_slice(),
            _ => &[],
        };
        self.inst_def(inst).into_iter().chain(copies.iter().filter_map(|copy| copy.dest.expand()))
    }
}

/// Makes the lists of uses of values that had other `numbers`, the last of the text first: as if the text had just been built.
///
/// To follow the old lists would be a jump through memory for every use, and a pass goes along with any order.
fn link_anew(defs: &mut PrimaryMap<Def, DefNode>, uses: &mut PrimaryMap<Use, UseNode>, numbers: &[PackedOption<Def>]) {
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
    fn tables_that_were_left_behind() {
        let mut shader = Shader::new(Stage::Compute);
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
            assert_eq!(shader.main().spare.insts.is_empty(), is_last);
        }
    }
}
