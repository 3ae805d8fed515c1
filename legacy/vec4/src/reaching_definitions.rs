//! The last write to each component within a block, at the current instruction of a forward walk.
//!
//! The instruction at index `i` is stored as `i + 1`; 0 means none. Entries of earlier blocks are below the start of
//! the current block and need not be cleared.

use super::access::{Reg, RegisterAccess, Traits};
use super::{Machine, Program};

/// The last writes to special registers and virtual temporaries.
pub struct ReachingDefinitions {
    /// By register and component.
    last_write: Vec<[u32; 4]>,
    /// The last write to any fixed register.
    fixed_write: u32,
    block_start: usize,
}

impl ReachingDefinitions {
    /// Creates the state before any write.
    pub fn new<M: Machine>(program: &Program<M>) -> ReachingDefinitions {
        ReachingDefinitions { last_write: vec![[0; 4]; program.registers()], fixed_write: 0, block_start: 0 }
    }

    /// Starts the block that begins at an index.
    #[inline]
    pub fn enter_block(&mut self, start: usize) {
        self.block_start = start;
    }

    /// Records the write of the instruction at an index.
    #[inline]
    pub fn record<Opcode>(&mut self, index: usize, access: &RegisterAccess<Opcode>) {
        if let Some((register, mask)) = access.written().and_then(|w| Some((w.dense()?, w.mask()))) {
            for (c, last) in self.last_write[register].iter_mut().enumerate() {
                if mask & 1 << c != 0 {
                    *last = index as u32 + 1;
                }
            }
        } else if access.traits.any(Traits::WRITES_FIXED) {
            self.fixed_write = index as u32 + 1;
        }
    }

    /// The index of the last write to a component within the block.
    #[inline]
    pub fn definition(&self, register: Reg, component: u8) -> Option<usize> {
        let last = self.last_write.get(register.dense()?)?[usize::from(component & 3)];
        let index = last.checked_sub(1)? as usize;
        (index >= self.block_start).then_some(index)
    }

    /// The index of the instruction of the block that wrote all of these components, if it is a single one.
    pub fn single_definition(&self, register: Reg, mask: u8) -> Option<usize> {
        let mut found = None;
        for c in (0..4u8).filter(|c| mask & 1 << c != 0) {
            let index = self.definition(register, c)?;
            if found.is_some_and(|f| f != index) {
                return None;
            }
            found = Some(index);
        }
        found
    }

    /// Whether components of a register still hold the values that the instruction at `since` read. Returns false for
    /// outputs.
    #[inline]
    pub fn is_kept(&self, register: Reg, mask: u8, since: usize) -> bool {
        if register.as_fixed().is_some() {
            return self.are_fixed_kept(since);
        }
        let Some(last) = register.dense().and_then(|dense| self.last_write.get(dense)) else { return false };
        (0..4).filter(|c| mask & 1 << c != 0).all(|c| last[c] as usize <= since)
    }

    /// Whether no fixed register has been written since `since`.
    #[inline]
    pub fn are_fixed_kept(&self, since: usize) -> bool {
        self.fixed_write as usize <= since
    }
}
