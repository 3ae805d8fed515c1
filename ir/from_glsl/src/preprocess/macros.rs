//! Definitions of macros.

use rustc_hash::FxHashMap;
use std::rc::Rc;
use tgsi_diagnostics::Span;

use super::lexer::{PpKind, PpToken};
use crate::symbol::Symbol;

/// The number of a definition. Definitions that `#undef` removed keep theirs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MacroId(u32);

/// How a macro was defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// By `#define` or an option.
    User,
    /// By the version or as the name of an extension.
    Predefined,
    /// `__LINE__`.
    Line,
    /// `__FILE__`.
    File,
}

/// A token of a definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyToken {
    pub(super) token: PpToken,
    /// The parameter that it names.
    pub(super) parameter: Option<u32>,
    /// Whether `##` follows.
    pub(super) is_pasted: bool,
}

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    pub(super) name: Symbol,
    /// The name in its definition.
    pub(super) span: Span,
    pub(super) origin: Origin,
    /// The names of the parameters; `None` for a macro without parentheses.
    pub(super) parameters: Option<Rc<[Symbol]>>,
    pub(super) body: Rc<[BodyToken]>,
    /// By parameter: the forms of its argument that the body needs.
    pub(super) uses: Rc<[Uses]>,
    /// Whether an expansion of it is being read: its name is then not expanded.
    pub(super) is_active: bool,
}

impl Macro {
    /// Whether a definition is the same: token by token, with blanks at the same places.
    fn equals(&self, other: &Macro) -> bool {
        let key = |(index, body): (usize, &BodyToken)| {
            let has_space = index > 0 && body.token.space;
            (body.token.kind, body.token.symbol, has_space, body.parameter, body.is_pasted)
        };
        self.parameters == other.parameters
            && self.body.iter().enumerate().map(key).eq(other.body.iter().enumerate().map(key))
    }
}

/// The macros.
#[derive(Default)]
pub(super) struct Macros {
    all: Vec<Macro>,
    by_name: FxHashMap<Symbol, MacroId>,
}

impl Macros {
    /// The macro with a name.
    pub(super) fn find(&self, name: Symbol) -> Option<MacroId> {
        self.by_name.get(&name).copied()
    }

    /// Whether an expansion of the macro with a name is being read.
    pub(super) fn is_active(&self, name: Symbol) -> bool {
        self.find(name).and_then(|id| self.get(id)).is_some_and(|definition| definition.is_active)
    }

    /// A definition.
    pub(super) fn get(&self, id: MacroId) -> Option<&Macro> {
        self.all.get(id.0 as usize)
    }

    /// A definition, to be changed.
    pub(super) fn get_mut(&mut self, id: MacroId) -> Option<&mut Macro> {
        self.all.get_mut(id.0 as usize)
    }

    /// Adds a definition. Returns the name's place in the definition that differs from it, if one exists.
    pub(super) fn define(&mut self, definition: Macro) -> Result<(), Span> {
        if let Some(existing) = self.find(definition.name).and_then(|id| self.get(id)) {
            return if existing.equals(&definition) { Ok(()) } else { Err(existing.span) };
        }
        self.by_name.insert(definition.name, MacroId(self.all.len() as u32));
        self.all.push(definition);
        Ok(())
    }

    /// Removes a definition.
    pub(super) fn undefine(&mut self, name: Symbol) {
        self.by_name.remove(&name);
    }

    /// Adds a macro with one number as its body, or with a computed one.
    pub(super) fn predefine(&mut self, name: Symbol, origin: Origin, body: &[PpToken]) {
        let body = body.iter().map(|&token| BodyToken { token, parameter: None, is_pasted: false }).collect();
        let (span, uses) = (Span::default(), Rc::default());
        let definition = Macro { name, span, origin, parameters: None, body, uses, is_active: false };
        let id = MacroId(self.all.len() as u32);
        self.by_name.insert(name, id);
        self.all.push(definition);
    }
}

/// The forms of an argument that a body needs.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Uses {
    /// As it is: beside `##`.
    pub(super) raw: bool,
    /// After expansion.
    pub(super) expanded: bool,
}

/// The uses of each parameter in a body.
pub(super) fn uses_of_parameters(count: usize, body: &[BodyToken]) -> Rc<[Uses]> {
    let mut all = vec![Uses::default(); count];
    let mut after_paste = false;
    for item in body {
        let is_operand = std::mem::replace(&mut after_paste, item.is_pasted) || item.is_pasted;
        if let Some(uses) = item.parameter.and_then(|parameter| all.get_mut(parameter as usize)) {
            uses.raw |= is_operand;
            uses.expanded |= !is_operand;
        }
    }
    all.into()
}

/// Whether a token can be expanded at all.
pub(super) fn is_name(token: &PpToken) -> bool {
    token.kind == PpKind::Identifier && !token.painted
}
