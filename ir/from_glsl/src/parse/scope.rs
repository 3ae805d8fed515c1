//! Names in scope, with the property that the grammar depends on: whether a name is that of a type.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::symbol::Symbol;

/// Kind of a declared name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameKind {
    /// A struct.
    Type,
    /// A variable, parameter or function.
    Value,
}

/// A scope, to close it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopeMark(usize);

/// The names in scope.
#[derive(Default)]
pub(super) struct Scopes {
    names: HashMap<Symbol, NameKind, FxBuildHasher>,
    /// The kinds of names that the declarations of open scopes hide, in their order.
    hidden: Vec<(Symbol, Option<NameKind>)>,
}

impl Scopes {
    /// Opens a scope.
    pub(super) fn open(&self) -> ScopeMark {
        ScopeMark(self.hidden.len())
    }

    /// Closes a scope and those opened in it.
    pub(super) fn close(&mut self, mark: ScopeMark) {
        while self.hidden.len() > mark.0
            && let Some((name, before)) = self.hidden.pop()
        {
            match before {
                Some(kind) => self.names.insert(name, kind),
                None => self.names.remove(&name),
            };
        }
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: Symbol, kind: NameKind) {
        let before = self.names.insert(name, kind);
        self.hidden.push((name, before));
    }

    /// The kind of a declared name.
    pub(super) fn get(&self, name: Symbol) -> Option<NameKind> {
        self.names.get(&name).copied()
    }
}
