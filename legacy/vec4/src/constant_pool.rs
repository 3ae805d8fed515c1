//! Packs constants of the code into rows of four words.
//!
//! An operand reads one row through a swizzle, and many machines read one row per instruction. So all words of an
//! operand are in one row, and [`ConstantPool::place_together`] puts all constants of an instruction into one: what
//! one operand counts as must be the same for the pool and for the limits that instructions were legalised with.
//!
//! Rows share equal words, by bits. Best fit among rows with a common word, then among the newest rows with free words:
//! bounded work for each operand.

use arrayvec::ArrayVec;
use rustc_hash::FxHashMap;

/// The number of rows tried for an operand, of each kind.
const MAX_CANDIDATES: usize = 16;

/// Words in one row, each component with the component of the row.
pub type Placed = (u32, ArrayVec<u8, 4>);

/// Rows of constants, from a first one on.
#[derive(Clone, Debug, Default)]
pub struct ConstantPool {
    rows: Vec<ArrayVec<u32, 4>>,
    /// The rows that contain a word, the newest last.
    by_word: FxHashMap<u32, Vec<u32>>,
    /// The newest rows with free words, the newest last.
    open: ArrayVec<u32, MAX_CANDIDATES>,
}

impl ConstantPool {
    /// Puts up to four words into one row, and returns it with the component of each word.
    ///
    /// Returns `None` for more than four different words.
    pub fn place(&mut self, words: &[u32]) -> Option<Placed> {
        let row = self.row_for(words)?;
        let component = |word: &u32| self.rows[row as usize].iter().position(|other| other == word);
        words
            .iter()
            .map(|word| component(word).map(|c| c as u8))
            .collect::<Option<_>>()
            .map(|components| (row, components))
    }

    /// Puts the constants of an instruction into one row, and returns the row with the components of each constant.
    ///
    /// Returns `None` if they have more than four different words, or one has more than four words.
    pub fn place_together(&mut self, constants: &[&[u32]]) -> Option<(u32, Vec<ArrayVec<u8, 4>>)> {
        let mut words: ArrayVec<u32, 4> = ArrayVec::new();
        for &word in constants.iter().copied().flatten() {
            if !words.contains(&word) {
                words.try_push(word).ok()?;
            }
        }
        let (row, components) = self.place(&words)?;
        let component = |word: &u32| words.iter().position(|other| other == word).map(|i| components[i]);
        let of_constant = |constant: &&[u32]| {
            (constant.len() <= 4).then(|| constant.iter().map(component).collect::<Option<_>>()).flatten()
        };
        constants.iter().map(of_constant).collect::<Option<_>>().map(|each| (row, each))
    }

    /// The rows, those of the last with 0 for missing words.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = [u32; 4]> + '_ {
        self.rows.iter().map(|row| std::array::from_fn(|c| row.get(c).copied().unwrap_or(0)))
    }

    /// The row that all words are added to.
    fn row_for(&mut self, words: &[u32]) -> Option<u32> {
        let mut different: ArrayVec<u32, 4> = ArrayVec::new();
        for word in words {
            if !different.contains(word) {
                different.try_push(*word).ok()?;
            }
        }
        let newest = |rows: &'_ [u32]| rows.iter().rev().take(MAX_CANDIDATES).copied().collect::<Vec<_>>();
        let sharing = different.iter().filter_map(|word| self.by_word.get(word)).flat_map(|rows| newest(rows));
        let candidates = sharing.chain(newest(&self.open));
        let missing = |row: u32| {
            let row = &self.rows[row as usize];
            let missing = different.iter().filter(|word| !row.contains(word)).count();
            (missing <= row.remaining_capacity()).then_some((missing, row.remaining_capacity()))
        };
        let best = candidates.filter_map(|row| missing(row).map(|cost| (cost, row))).min();
        let row = best.map_or(self.rows.len() as u32, |(_, row)| row);
        if best.is_none() {
            self.rows.push(ArrayVec::new());
            if self.open.is_full() {
                self.open.remove(0);
            }
            self.open.push(row);
        }
        for word in different {
            let content = &mut self.rows[row as usize];
            if !content.contains(&word) {
                content.push(word);
                self.by_word.entry(word).or_default().push(row);
            }
        }
        if self.rows[row as usize].is_full() {
            self.open.retain(|other| *other != row);
        }
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::ConstantPool;

    #[test]
    fn words_of_an_operand_are_in_one_row() {
        let mut pool = ConstantPool::default();
        assert_eq!(pool.place(&[1, 2, 1]).map(|(row, c)| (row, c.to_vec())), Some((0, vec![0, 1, 0])));
        assert_eq!(pool.place(&[3, 4, 5]).map(|(row, c)| (row, c.to_vec())), Some((1, vec![0, 1, 2])));
        // A row with common words is filled first.
        assert_eq!(pool.place(&[2, 6]).map(|(row, c)| (row, c.to_vec())), Some((0, vec![1, 2])));
        assert_eq!(pool.place(&[7]).map(|(row, c)| (row, c.to_vec())), Some((0, vec![3])));
        assert_eq!(pool.place(&[1, 2, 3, 4, 5]), None);
        assert_eq!(pool.rows().collect::<Vec<_>>(), [[1, 2, 6, 7], [3, 4, 5, 0]]);
    }

    /// Two operands of one instruction read the same row, though one of them alone would fit another.
    #[test]
    fn constants_of_an_instruction_are_in_one_row() {
        let mut pool = ConstantPool::default();
        pool.place(&[1, 2, 3, 4]);
        let (row, each) = pool.place_together(&[&[5, 1], &[1, 1, 6, 5]]).unwrap();
        assert_eq!(row, 1);
        let rows: Vec<_> = pool.rows().collect();
        let read = |components: &[u8]| components.iter().map(|&c| rows[1][usize::from(c)]).collect::<Vec<_>>();
        assert_eq!(each.iter().map(|components| read(components)).collect::<Vec<_>>(), [vec![5, 1], vec![1, 1, 6, 5]]);
        assert_eq!(pool.place_together(&[&[1, 2, 3], &[4, 5]]), None);
    }

    #[test]
    fn many_constants_take_linear_work() {
        let mut pool = ConstantPool::default();
        for word in 0..100_000 {
            pool.place(&[word, word + 1, word + 2]);
            pool.place(&[0, word]);
        }
        assert!(pool.rows().len() <= 100_000);
    }
}
