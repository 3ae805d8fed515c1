//! Names in scope.

use rustc_hash::FxHashMap;

use crate::program::{FunctionId, VariableId};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::TypeId;

/// The object of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Entity {
    /// A variable.
    Variable(VariableId),
    /// A member of a block in memory without instance name: the variable of the block, and the number.
    Member(VariableId, u32),
    /// The name of an interface block, which is nothing else at global scope.
    Block(TokenRange),
    /// A struct.
    Type(TypeId),
    /// The functions of the name, in order of declaration.
    Functions(Vec<FunctionId>),
}

/// A name in a scope.
#[derive(Debug)]
struct Entry {
    depth: u32,
    entity: Entity,
}

/// Names that can hide each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Space {
    Values,
    /// Functions, in the versions in which no variable hides them.
    Functions,
}

/// The names in all open scopes. Depth 0 is that of the language, 1 that of the shader.
#[derive(Debug)]
pub(crate) struct Scopes {
    /// By name: the declarations in open scopes, innermost last.
    entries: FxHashMap<(Symbol, Space), Vec<Entry>>,
    /// By open scope: the names that it declares.
    names: Vec<Vec<(Symbol, Space)>>,
    /// Whether a function and a variable may have one name in a scope.
    has_function_names: bool,
}

impl Scopes {
    /// No open scopes. `has_function_names`: the names of functions are separate, as in version 1.10.
    pub(crate) fn new(has_function_names: bool) -> Scopes {
        Scopes { entries: FxHashMap::default(), names: Vec::new(), has_function_names }
    }

    /// Whether a function and a variable may have one name in a scope.
    pub(crate) fn has_function_names(&self) -> bool {
        self.has_function_names
    }

    fn space_of_functions(&self) -> Space {
        if self.has_function_names { Space::Functions } else { Space::Values }
    }

    /// Opens a scope.
    pub(crate) fn push(&mut self) {
        self.names.push(Vec::new());
    }

    /// Closes the innermost scope.
    pub(crate) fn pop(&mut self) {
        for name in self.names.pop().unwrap_or_default() {
            if let Some(entries) = self.entries.get_mut(&name) {
                entries.pop();
            }
        }
    }

    /// The depth of the innermost scope.
    pub(crate) fn depth(&self) -> u32 {
        (self.names.len() as u32).saturating_sub(1)
    }

    fn last(&self, name: Symbol, space: Space) -> Option<&Entry> {
        self.entries.get(&(name, space))?.last()
    }

    /// The innermost object of a name, without functions where their names are separate.
    pub(crate) fn find(&self, name: Symbol) -> Option<&Entity> {
        self.last(name, Space::Values).map(|entry| &entry.entity)
    }

    /// The functions of a name, if nothing else hides it.
    pub(crate) fn functions(&self, name: Symbol) -> &[FunctionId] {
        match self.last(name, self.space_of_functions()).map(|entry| &entry.entity) {
            Some(Entity::Functions(functions)) => functions,
            _ => &[],
        }
    }

    /// The object of a name in the innermost scope with which another declaration of the name conflicts.
    pub(crate) fn find_here(&self, name: Symbol, entity: &Entity) -> Option<&Entity> {
        let here =
            |space| self.last(name, space).filter(|entry| entry.depth == self.depth()).map(|entry| &entry.entity);
        let value = here(Space::Values);
        match entity {
            Entity::Variable(_) | Entity::Member(..) | Entity::Block(_) => value,
            Entity::Type(_) => value.or(here(self.space_of_functions())),
            Entity::Functions(_) => {
                let is_type = |entity: &&Entity| matches!(entity, Entity::Type(_) | Entity::Block(_));
                value.filter(|value| !self.has_function_names || is_type(value)).or(here(self.space_of_functions()))
            }
        }
    }

    /// The functions of a name in the innermost scope.
    pub(crate) fn functions_here(&mut self, name: Symbol) -> Option<&mut Vec<FunctionId>> {
        let (depth, space) = (self.depth(), self.space_of_functions());
        let entry = self.entries.get_mut(&(name, space))?.last_mut()?;
        match &mut entry.entity {
            Entity::Functions(functions) if entry.depth == depth => Some(functions),
            _ => None,
        }
    }

    /// Declares a name in the innermost scope.
    pub(crate) fn declare(&mut self, name: Symbol, entity: Entity) {
        let depth = self.depth();
        let space = if matches!(entity, Entity::Functions(_)) { self.space_of_functions() } else { Space::Values };
        self.entries.entry((name, space)).or_default().push(Entry { depth, entity });
        if let Some(names) = self.names.last_mut() {
            names.push((name, space));
        }
    }

    /// Declares a name in the outermost scope, that of the language, where nothing hides it yet.
    pub(crate) fn declare_builtin(&mut self, name: Symbol, entity: Entity) {
        let key = (name, Space::Values);
        self.entries.entry(key).or_default().insert(0, Entry { depth: 0, entity });
        if let Some(names) = self.names.first_mut() {
            names.push(key);
        }
    }

    /// All names in scope with their innermost objects.
    pub(crate) fn names(&self) -> impl Iterator<Item = (Symbol, &Entity)> {
        self.entries.iter().filter_map(|(&(name, _), entries)| entries.last().map(|entry| (name, &entry.entity)))
    }
}
