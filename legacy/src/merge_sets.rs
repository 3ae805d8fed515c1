//! Sets of values that will share a register, and the question whether two of them may become one.
//!
//! The values of a set do not interfere with each other: no two are live at once. Whether those of a union would not either is decided, after Boissinot et al., by
//! looking at each value and the nearest value of the union that dominates it: a value that lives past another one lives past everything between them.
//!
//! A set is kept in dominance order (blocks in pre-order of the dominator tree, instructions in order), in which everything that a value dominates stands in one
//! run behind it; and each value knows the nearest value of its set that dominates it. So the smaller of two sets is looked up in the larger one, and joining n values
//! costs O(n log² n) for all merges together, however long the chains of phis are.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use tgsi_ir::analysis::{Dominance, InstOrder, Liveness};
use tgsi_ir::{Body, Def};

/// Place of a value in dominance order: block, instruction, number.
type Key = (u32, u32, u32);

/// The set of each value.
#[derive(Default)]
pub(crate) struct SetOf {
    /// Number of the set, plus one; 0 = none.
    number: SecondaryMap<Def, u32>,
    /// Whether the set becomes a register.
    is_web: Vec<bool>,
}

impl SetOf {
    /// The set of a value, if it becomes a register.
    pub(crate) fn web(&self, def: Def) -> Option<usize> {
        let set = (self.number[def] as usize).checked_sub(1)?;
        self.is_web[set].then_some(set)
    }
}

/// Disjoint sets of values.
pub(crate) struct MergeSets<'a> {
    body: &'a Body,
    dominance: Arc<Dominance>,
    liveness: Arc<Liveness>,
    order: Arc<InstOrder>,
    set_of: SetOf,
    sets: Vec<BTreeMap<Key, Def>>,
    /// The nearest value of the same set that dominates a value.
    parent: SecondaryMap<Def, PackedOption<Def>>,
}

impl<'a> MergeSets<'a> {
    pub(crate) fn new(body: &'a Body) -> Self {
        MergeSets {
            body,
            dominance: body.dominance(),
            liveness: body.liveness(),
            order: body.inst_order(),
            set_of: SetOf::default(),
            sets: Vec::new(),
            parent: SecondaryMap::new(),
        }
    }

    /// Number of sets ever made.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Forgets everything but which value is in which set.
    pub(crate) fn finish(self) -> SetOf {
        self.set_of
    }

    /// The set of a value; a new one if it is in none.
    fn set(&mut self, def: Def) -> usize {
        if self.set_of.number[def] == 0 {
            self.sets.push(BTreeMap::from([(self.key(def), def)]));
            self.set_of.is_web.push(false);
            self.set_of.number[def] = self.sets.len() as u32;
        }
        self.set_of.number[def] as usize - 1
    }

    /// The set of this value becomes a register.
    pub(crate) fn make_web(&mut self, def: Def) {
        let set = self.set(def);
        self.set_of.is_web[set] = true;
    }

    /// Joins the sets of two values, which must not interfere.
    pub(crate) fn merge(&mut self, a: Def, b: Def) {
        let (a, b) = (self.set(a), self.set(b));
        if a == b {
            return;
        }
        let (into, from) = if self.sets[a].len() >= self.sets[b].len() { (a, b) } else { (b, a) };
        let is_web = self.set_of.is_web[a] || self.set_of.is_web[b];
        self.set_of.is_web[into] = is_web;
        for (key, def) in std::mem::take(&mut self.sets[from]) {
            self.set_of.number[def] = into as u32 + 1;
            self.parent[def] = self.nearest_dominator(into, key, def).into();
            for below in self.nearest_dominated(into, key, def).collect::<Vec<_>>() {
                self.parent[below] = def.into();
            }
            self.sets[into].insert(key, def);
        }
    }

    /// Whether a value of one's set interferes with a value of the other's.
    pub(crate) fn interfere(&mut self, a: Def, b: Def) -> bool {
        let (a, b) = (self.set(a), self.set(b));
        if a == b {
            return false;
        }
        let (large, small) = if self.sets[a].len() >= self.sets[b].len() { (a, b) } else { (b, a) };
        self.sets[small].iter().any(|(&key, &def)| {
            let above = self.nearest_dominator(large, key, def).filter(|&above| {
                // Behind a nearer value of its own set it has been asked about already.
                self.parent[def].expand().is_none_or(|own| self.key(own) < self.key(above))
            });
            above.is_some_and(|above| self.defs_interfere(above, def))
                || self.nearest_dominated(large, key, def).any(|below| self.defs_interfere(def, below))
        })
    }

    fn key(&self, def: Def) -> Key {
        let inst = self.body.def_inst(def);
        let block = self.body.inst_block(inst).map_or(0, |b| self.dominance.pre_index(b));
        (block, self.order.index(inst), def.as_u32())
    }

    /// The nearest value of a set that dominates `def`, which is not in it.
    fn nearest_dominator(&self, set: usize, key: Key, def: Def) -> Option<Def> {
        // What stands right before it is either the one, or dominated by it.
        let mut candidate = self.sets[set].range(..key).next_back().map(|(_, &d)| d);
        while let Some(c) = candidate {
            if self.dominates(c, def) {
                break;
            }
            candidate = self.parent[c].expand();
        }
        candidate
    }

    /// The values of a set that `def`, which is not in it, dominates with none of them in between.
    fn nearest_dominated(&self, set: usize, key: Key, def: Def) -> impl Iterator<Item = Def> + '_ {
        let mut start = Excluded(key);
        std::iter::from_fn(move || {
            let (&below_key, &below) = self.sets[set].range((start, Unbounded)).next()?;
            if !self.dominates(def, below) {
                return None;
            }
            // On behind everything that this one dominates.
            let block = self.body.inst_block(self.body.def_inst(below));
            let end = (block.map_or(0, |b| self.dominance.subtree_end(b)), 0, 0);
            start = if end > below_key { Included(end) } else { Excluded(below_key) };
            Some(below)
        })
    }

    fn dominates(&self, a: Def, b: Def) -> bool {
        let (x, y) = (self.body.def_inst(a), self.body.def_inst(b));
        match (self.body.inst_block(x), self.body.inst_block(y)) {
            (Some(from), Some(to)) if from == to => self.order.index(x) <= self.order.index(y),
            (Some(from), Some(to)) => self.dominance.dominates(from, to),
            _ => false,
        }
    }

    /// Whether two values, of which `a` dominates `b`, hold different things at the same time.
    fn defs_interfere(&self, a: Def, b: Def) -> bool {
        let (x, y) = (self.body.def_inst(a), self.body.def_inst(b));
        x == y || self.liveness.is_live_after(self.body, a, y)
    }
}
