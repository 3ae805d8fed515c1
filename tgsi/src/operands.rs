//! Lists of operands with inline storage for the usual number of operands.
//!
//! Shaders are lists of instructions, so the size of an instruction determines the memory of a large shader, and the
//! time to walk it. Two destinations, and four or five sources, are rare enough to be stored out of line.

use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;
use thiserror::Error;

use crate::tables::Opcode;
use tgsi_diagnostics::Span;

/// An instruction with other operands than its opcode needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(
    "{opcode} (instruction {instruction}) needs {} destinations and {} sources",
    .opcode.info().num_dst,
    .opcode.info().num_src
)]
pub struct OperandCountError {
    /// The opcode.
    pub opcode: Opcode,
    /// Number of the instruction.
    pub instruction: u32,
    /// Its position.
    pub span: Span,
}

/// A list of at most `MOST` operands, `USUAL` of which are stored inline.
#[derive(PartialEq, Debug)]
pub struct Operands<T, const USUAL: usize, const MOST: usize>(SmallVec<[T; USUAL]>);

impl<T, const USUAL: usize, const MOST: usize> Operands<T, USUAL, MOST> {
    /// Creates an empty list.
    #[inline]
    pub fn new() -> Self {
        Operands(SmallVec::new())
    }

    /// Returns the maximum number of operands.
    pub const fn capacity(&self) -> usize {
        MOST
    }

    /// Whether the list has the maximum number of operands.
    pub fn is_full(&self) -> bool {
        self.len() >= MOST
    }

    /// Appends an operand.
    ///
    /// # Panics
    /// If the list is full.
    #[inline]
    pub fn push(&mut self, operand: T) {
        assert!(!self.is_full(), "an instruction has no more than {MOST} such operands");
        self.0.push(operand);
    }

    /// Appends an operand.
    ///
    /// # Errors
    /// The operand, if the list is full.
    pub fn try_push(&mut self, operand: T) -> Result<(), T> {
        if self.is_full() {
            return Err(operand);
        }
        self.0.push(operand);
        Ok(())
    }

    /// Inserts an operand before the one at `position`.
    ///
    /// # Panics
    /// If the list is full, or if there is no such position.
    pub fn insert(&mut self, position: usize, operand: T) {
        assert!(!self.is_full(), "an instruction has no more than {MOST} such operands");
        self.0.insert(position, operand);
    }

    /// Removes and returns the last operand.
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Removes and returns an operand.
    ///
    /// # Panics
    /// If there is no such operand.
    pub fn remove(&mut self, position: usize) -> T {
        self.0.remove(position)
    }

    /// Keeps the first `count` operands.
    pub fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    /// Removes all operands.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<T: Copy, const USUAL: usize, const MOST: usize> Clone for Operands<T, USUAL, MOST> {
    #[inline]
    fn clone(&self) -> Self {
        Operands(SmallVec::from_slice(&self.0))
    }
}

impl<T, const USUAL: usize, const MOST: usize> Default for Operands<T, USUAL, MOST> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const USUAL: usize, const MOST: usize> Deref for Operands<T, USUAL, MOST> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const USUAL: usize, const MOST: usize> DerefMut for Operands<T, USUAL, MOST> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// # Panics
/// If the capacity is exceeded.
impl<T, const USUAL: usize, const MOST: usize> Extend<T> for Operands<T, USUAL, MOST> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, operands: I) {
        operands.into_iter().for_each(|operand| self.push(operand));
    }
}

/// # Panics
/// If the capacity is exceeded.
impl<T, const USUAL: usize, const MOST: usize> FromIterator<T> for Operands<T, USUAL, MOST> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(operands: I) -> Self {
        let mut list = Self::new();
        list.extend(operands);
        list
    }
}

impl<'a, T, const USUAL: usize, const MOST: usize> IntoIterator for &'a Operands<T, USUAL, MOST> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T, const USUAL: usize, const MOST: usize> IntoIterator for &'a mut Operands<T, USUAL, MOST> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T, const USUAL: usize, const MOST: usize> IntoIterator for Operands<T, USUAL, MOST> {
    type Item = T;
    type IntoIter = smallvec::IntoIter<[T; USUAL]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::Instruction;

    #[test]
    fn no_more_than_there_may_be() {
        let mut list: Operands<u32, 1, 2> = Operands::new();
        assert_eq!((list.try_push(1), list.try_push(2), list.try_push(3)), (Ok(()), Ok(()), Err(3)));
        assert_eq!((list.capacity(), list.is_full(), &list[..]), (2, true, &[1, 2][..]));
        assert!(std::panic::catch_unwind(|| [1, 2, 3].into_iter().collect::<Operands<u32, 1, 2>>()).is_err());
        assert_eq!((list.remove(0), list.pop(), list.pop()), (1, Some(2), None));
    }

    #[test]
    fn size_in_memory() {
        assert!(size_of::<Instruction>() <= 240, "{}", size_of::<Instruction>());
    }
}
