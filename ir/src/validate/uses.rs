//! Rules 1 to 4: values, their uses, and dominance.

use bitvec::vec::BitVec;

use super::control_flow::Tree;
use super::{BlockName, Checker, Location, ValidationErrorKind, is_component_count};
use crate::body::{CfNode, InstData, Shape};
use crate::entities::{Block, Def, If, Inst, Use, User};
use crate::intrinsics::IntrinsicOp;

impl Checker<'_> {
    /// Checks that the lists of uses contain exactly the sources of the code.
    ///
    /// Every list is walked once, and its entries are marked. Then the mark of every source of the code must be set,
    /// and is cleared.
    pub(super) fn check_uses(&mut self, tree: &Tree) {
        let body = self.body;
        let mut listed: BitVec = BitVec::repeat(false, body.num_uses());
        for number in 0..body.num_defs() {
            let def = Def::from_u32(number as u32);
            let mut prev = None;
            let mut next = body.first_use(def);
            while let Some(source) = next {
                let Some(raw) = body.raw_use(source) else {
                    self.report(Location::Def(def), ValidationErrorKind::UseList { def, entry: source });
                    break;
                };
                let index = source.as_u32() as usize;
                // An entry that was visited before means that lists are joined or cyclic: stop walking this one.
                if raw.def != Some(def) || raw.prev != prev || listed[index] {
                    self.report(Location::Def(def), ValidationErrorKind::UseList { def, entry: source });
                    break;
                }
                listed.set(index, true);
                prev = Some(source);
                next = raw.next;
            }
        }
        for block in body.blocks() {
            for inst in body.insts(block) {
                if !body.has_sources_in_arena(inst) {
                    continue;
                }
                for source in body.sources(inst) {
                    self.check_listed(Location::Inst(inst), User::Inst(inst), source, &mut listed);
                }
            }
        }
        for &id in &tree.ifs {
            self.check_listed(Location::If(id), User::If(id), body.if_condition(id), &mut listed);
        }
        for index in listed.iter_ones() {
            let source = Use::from_u32(index as u32);
            if let Some(def) = body.checked_src_def(source) {
                self.report(Location::Def(def), ValidationErrorKind::UseStray { def, entry: source });
            }
        }
    }

    fn check_listed(&mut self, location: Location, owner: User, source: Use, listed: &mut BitVec) {
        match listed.get_mut(source.as_u32() as usize) {
            Some(mut bit) if *bit => *bit = false,
            _ => self.report(location, ValidationErrorKind::UseUnlisted { entry: source }),
        }
        if self.body.raw_use(source).is_some_and(|raw| raw.user != owner) {
            self.report(location, ValidationErrorKind::UseOwner { entry: source });
        }
    }

    /// The sources of an instruction: number, values, dominance. Returns whether further checks may read them.
    pub(super) fn check_sources(&mut self, block: Block, inst: Inst) -> bool {
        let body = self.body;
        let found = body.num_sources(inst);
        if !body.has_sources_in_arena(inst) {
            self.report_inst(inst, ValidationErrorKind::SourceCount { expected: 0, found });
            return false;
        }
        if let Some(expected) = self.expected_sources(inst)
            && expected != found
        {
            self.report_inst(inst, ValidationErrorKind::SourceCount { expected, found });
            return false;
        }
        let is_phi = body.is_phi(inst);
        let mut sound = true;
        for (number, source) in body.sources(inst).enumerate() {
            let Some((def, producer)) = self.producer_in_code(source) else {
                self.report_inst(inst, ValidationErrorKind::UseUndefined { number });
                sound = false;
                continue;
            };
            let Some(from) = body.inst_block(producer) else { continue };
            if is_phi {
                let predecessor = body.phi_predecessor(source);
                if body.has_block(predecessor) && !self.block_dominates(from, predecessor) {
                    let predecessor = BlockName::new(body, predecessor);
                    self.report_inst(inst, ValidationErrorKind::DominancePhi { def, predecessor });
                }
            } else {
                let available =
                    if from == block { self.made[def.as_u32() as usize] } else { self.block_dominates(from, block) };
                self.expect(inst, available, ValidationErrorKind::Dominance { def });
            }
            if matches!(body.inst(producer), InstData::Intrinsic { op: IntrinsicOp::DeclReg, .. })
                && !self.takes_register(inst, number)
            {
                self.report_inst(inst, ValidationErrorKind::RegisterUse { def });
            }
        }
        sound
    }

    fn block_dominates(&self, from: Block, to: Block) -> bool {
        self.dominance.as_ref().is_none_or(|d| d.dominates(from, to))
    }

    /// The value that a source reads and its defining instruction, if that is in the code.
    fn producer_in_code(&self, source: Use) -> Option<(Def, Inst)> {
        let def = self.body.checked_src_def(source)?;
        let producer = self.body.checked_def_inst(def)?;
        // A block without a parent is not in the tree.
        self.body.block_parent(self.body.inst_block(producer)?)?;
        Some((def, producer))
    }

    /// The condition of the `if` that follows a block.
    pub(super) fn check_condition(&mut self, block: Block) {
        let Some(CfNode::If(id)) = self.body.node_after(block) else { return };
        let Some((def, producer)) = self.producer_in_code(self.body.if_condition(id)) else {
            return self.report(Location::If(id), ValidationErrorKind::UseUndefined { number: 0 });
        };
        let available = match self.body.inst_block(producer) {
            Some(from) if from == block => self.made[def.as_u32() as usize],
            Some(from) => self.block_dominates(from, block),
            None => true,
        };
        if !available {
            self.report(Location::If(id), ValidationErrorKind::Dominance { def });
        }
        self.check_condition_value(id, def, producer);
    }

    fn check_condition_value(&mut self, id: If, def: Def, producer: Inst) {
        // Booleans may also be lowered to 8 or 16 bits.
        let Shape { num_components, bit_size } = self.body.shape(def);
        if num_components != 1 || !matches!(bit_size, 1 | 8 | 16 | 32) {
            self.report(Location::If(id), ValidationErrorKind::Condition);
        }
        match self.body.inst(producer) {
            InstData::Deref { .. } => self.report(Location::If(id), ValidationErrorKind::DerefCondition),
            InstData::Intrinsic { op: IntrinsicOp::DeclReg, .. } => {
                self.report(Location::If(id), ValidationErrorKind::RegisterUse { def });
            }
            _ => {}
        }
    }

    /// Checks the result of an instruction. Returns whether further checks may read it.
    pub(super) fn check_def(&mut self, inst: Inst) -> bool {
        let body = self.body;
        let def = body.inst_def(inst).filter(|d| (d.as_u32() as usize) < body.num_defs());
        match (def, self.makes_value(inst)) {
            (Some(def), true) => {
                if body.checked_def_inst(def) != Some(inst) {
                    self.report_inst(inst, ValidationErrorKind::DefProducer { def });
                }
                let Shape { num_components, bit_size } = body.shape(def);
                if !is_component_count(num_components) {
                    self.report_inst(inst, ValidationErrorKind::DefComponents { found: num_components });
                    return false;
                }
                if !matches!(bit_size, 1 | 8 | 16 | 32 | 64) {
                    self.report_inst(inst, ValidationErrorKind::DefBits { found: bit_size });
                    return false;
                }
                true
            }
            (None, true) => {
                self.report_inst(inst, ValidationErrorKind::DefMissing);
                false
            }
            (Some(_), false) => {
                self.report_inst(inst, ValidationErrorKind::DefUnexpected);
                false
            }
            (None, false) => true,
        }
    }
}
