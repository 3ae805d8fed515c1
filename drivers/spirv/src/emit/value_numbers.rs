//! Value numbering of pure instructions, scoped by dominance, for instructions that the emitter adds (casts,
//! components, pointers, guards). The optimiser has done it for the instructions of the IR.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::Op;

use crate::module::Id;

type Key = SmallVec<[u32; 8]>;

/// A stack of scopes.
#[derive(Debug, Default)]
pub struct ValueNumbers {
    ids: FxHashMap<Key, Id>,
    /// Keys in order of insertion.
    order: Vec<Key>,
    /// Length of `order` at the start of each scope.
    scopes: Vec<usize>,
}

impl ValueNumbers {
    fn key(op: Op, ty: Id, operands: &[u32]) -> Key {
        [op as u32, ty.0].into_iter().chain(operands.iter().copied()).collect()
    }

    /// Returns the result of an instruction, if a scope contains it.
    pub fn get(&self, op: Op, ty: Id, operands: &[u32]) -> Option<Id> {
        self.ids.get(&Self::key(op, ty, operands)).copied()
    }

    /// Adds an instruction that no scope contains to the innermost one.
    pub fn insert(&mut self, op: Op, ty: Id, operands: &[u32], id: Id) {
        let key = Self::key(op, ty, operands);
        self.ids.insert(key.clone(), id);
        self.order.push(key);
    }

    /// Opens a scope.
    pub fn enter(&mut self) {
        self.scopes.push(self.order.len());
    }

    /// Closes the innermost scope and forgets its instructions.
    pub fn leave(&mut self) {
        let start = self.scopes.pop().unwrap_or(0);
        for key in self.order.drain(start..) {
            self.ids.remove(&key);
        }
    }
}
