//! Copies of several components at once.
//!
//! Instructions copy one component each: a component that is still to be read is not overwritten. Components that are
//! exchanged in a cycle need a further register.

use arrayvec::ArrayVec;

/// Orders copies `(to, from)` of registers so that none overwrites the source of a later one; `spare` is a further
/// register. Calls `copy` for each with the register written, the register read, and the number of the copy whose source
/// it reads.
pub(super) fn in_order<T: Copy>(
    mut copies: ArrayVec<(u8, Option<u8>, T), 4>,
    spare: u8,
    mut copy: impl FnMut(u8, Option<u8>, Option<T>),
) {
    copies.retain(|(to, from, _)| *from != Some(*to));
    while !copies.is_empty() {
        let is_free = |&(to, ..): &(u8, Option<u8>, T)| copies.iter().all(|&(_, from, _)| from != Some(to));
        match copies.iter().position(is_free) {
            Some(number) => {
                let (to, from, operand) = copies.remove(number);
                copy(to, from, Some(operand));
            }
            None => {
                // A cycle: one of its sources moves away.
                let (_, from, _) = copies[0];
                copy(spare, from, None);
                for (_, other, _) in copies.iter_mut().filter(|(_, other, _)| *other == from) {
                    *other = Some(spare);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(copies: &[(u8, u8)]) -> Vec<u8> {
        let mut registers: Vec<u8> = (0..10).collect();
        let copies: ArrayVec<(u8, Option<u8>, ()), 4> = copies.iter().map(|&(to, from)| (to, Some(from), ())).collect();
        in_order(copies, 9, |to, from, _| registers[usize::from(to)] = registers[usize::from(from.unwrap())]);
        registers
    }

    #[test]
    fn copies_read_all_sources_first() {
        assert_eq!(run(&[(0, 1), (1, 2), (2, 3)])[..4], [1, 2, 3, 3]);
        assert_eq!(run(&[(0, 1), (1, 0), (2, 0), (3, 3)])[..4], [1, 0, 0, 3]);
        assert_eq!(run(&[(0, 1), (1, 0), (2, 3), (3, 2)])[..4], [1, 0, 3, 2]);
        assert_eq!(run(&[(0, 3), (1, 0), (2, 1), (3, 2)])[..4], [3, 0, 1, 2]);
    }
}
