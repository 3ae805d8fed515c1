//! Pure instructions that a scope has: value numbering over what the emitter adds (casts, components, pointers,
//! guards). The optimiser has done it for the instructions of the IR.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::Op;

use crate::module::Id;

type Key = SmallVec<[u32; 8]>;

/// A stack of scopes.
#[derive(Debug, Default)]
pub struct Known {
    ids: FxHashMap<Key, Id>,
    /// Keys in the order in which they came.
    order: Vec<Key>,
    /// Length of `order` at the start of each scope.
    scopes: Vec<usize>,
}

impl Known {
    fn key(op: Op, ty: Id, operands: &[u32]) -> Key {
        [op as u32, ty.0].into_iter().chain(operands.iter().copied()).collect()
    }

    /// The result of an instruction, if a scope has it.
    pub fn get(&self, op: Op, ty: Id, operands: &[u32]) -> Option<Id> {
        self.ids.get(&Self::key(op, ty, operands)).copied()
    }

    /// Adds an instruction that no scope has to the innermost one.
    pub fn insert(&mut self, op: Op, ty: Id, operands: &[u32], id: Id) {
        let key = Self::key(op, ty, operands);
        self.ids.insert(key.clone(), id);
        self.order.push(key);
    }

    /// Opens a scope.
    pub fn enter(&mut self) {
        self.scopes.push(self.order.len());
    }

    /// Closes the innermost scope, and forgets what it added.
    pub fn leave(&mut self) {
        let start = self.scopes.pop().unwrap_or(0);
        for key in self.order.drain(start..) {
            self.ids.remove(&key);
        }
    }
}
