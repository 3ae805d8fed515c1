//! Interned spellings: identifiers, keywords, numbers.

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

use crate::keyword::Keyword;

/// An interned spelling. Equal spellings of one compilation have equal symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Symbol(u32);

impl Symbol {
    /// The keyword with this spelling, in any version.
    pub(crate) fn keyword(self) -> Option<Keyword> {
        Keyword::ALL.get(self.0 as usize).copied()
    }
}

impl From<Keyword> for Symbol {
    fn from(keyword: Keyword) -> Symbol {
        Symbol(keyword as u32)
    }
}

/// The spellings of one compilation. The first symbols are those of the keywords, in the order of their table.
pub(crate) struct Interner {
    /// All spellings in a row.
    text: String,
    /// By symbol: the end of its spelling in `text`.
    ends: Vec<u32>,
    symbols: HashTable<Symbol>,
}

impl Interner {
    /// Interns the keywords.
    pub(crate) fn new() -> Interner {
        let mut interner = Interner { text: String::new(), ends: Vec::new(), symbols: HashTable::new() };
        for keyword in Keyword::ALL {
            interner.intern(keyword.name());
        }
        interner
    }

    /// The symbol of a spelling.
    pub(crate) fn intern(&mut self, spelling: &str) -> Symbol {
        let Interner { text, ends, symbols } = self;
        let hash = hash(spelling);
        if let Some(&symbol) = symbols.find(hash, |&symbol| spelling_of(text, ends, symbol) == spelling) {
            return symbol;
        }
        let symbol = Symbol(ends.len() as u32);
        text.push_str(spelling);
        ends.push(text.len() as u32);
        symbols.insert_unique(hash, symbol, |&other| self::hash(spelling_of(text, ends, other)));
        symbol
    }

    /// The spelling of a symbol.
    pub(crate) fn spelling(&self, symbol: Symbol) -> &str {
        spelling_of(&self.text, &self.ends, symbol)
    }
}

fn spelling_of<'t>(text: &'t str, ends: &[u32], symbol: Symbol) -> &'t str {
    let index = symbol.0 as usize;
    let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(index).copied().unwrap_or(start);
    text.get(start as usize..end as usize).unwrap_or_default()
}

fn hash(spelling: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(spelling.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_spellings_are_one_symbol() {
        let mut interner = Interner::new();
        let first = interner.intern("color");
        assert_eq!(interner.intern("color"), first);
        assert_ne!(interner.intern("colour"), first);
        assert_eq!(interner.spelling(first), "color");
        assert_eq!(first.keyword(), None);
    }

    #[test]
    fn keywords_come_first() {
        let mut interner = Interner::new();
        for &keyword in Keyword::ALL {
            let symbol = interner.intern(keyword.name());
            assert_eq!((symbol, symbol.keyword()), (keyword.into(), Some(keyword)));
        }
    }
}
