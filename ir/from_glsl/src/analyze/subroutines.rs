//! Subroutines: types, the functions that implement them, and their numbers.
//!
//! A subroutine type is a function without a body, which has the parameters and the result. The functions that it calls
//! are those that implement the type, so that recursion through a subroutine is found as any other.

use rustc_hash::{FxHashMap, FxHashSet};

use super::scopes::Entity;
use super::{Analyzer, SemanticError};
use crate::ast::{self, Prototype, Qualifier, QualifierKind};
use crate::extension::Extension;
use crate::keyword::Keyword;
use crate::program::{FunctionId, Parameter};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{SubroutineType, TypeData, TypeId};
use crate::version::{NEVER, Since};

/// Versions of `layout(index = ...)` for subroutines.
const SUBROUTINE_INDEX: Since = Since::new(430, NEVER).or(&[Extension::ARBExplicitUniformLocation]);

/// Functions at all calls of subroutines: each call has code for all functions of the type.
const MAX_SUBROUTINE_CALLS: u64 = 1 << 16;

/// The number of a subroutine that gets the next free one at the end.
const UNNUMBERED: u32 = u32::MAX;

/// The role of a function among the subroutines, from its qualifiers.
pub(super) enum SubroutineRole {
    /// An ordinary function.
    None,
    /// `subroutine`: a type.
    Type,
    /// `subroutine(...)`: an implementation of types.
    Function {
        /// The types, each with its place.
        types: Vec<(Symbol, TokenRange)>,
        /// The number, if it is given.
        index: Option<u32>,
    },
}

impl Analyzer<'_> {
    /// Whether a type is that of a subroutine uniform, or of an array of them.
    pub(super) fn is_subroutine(&self, ty: TypeId) -> bool {
        let types = &self.program.types;
        matches!(types.get(types.without_arrays(ty)), TypeData::Subroutine(_))
    }

    /// Reads the qualifiers of a function, and reports those that functions do not have.
    pub(super) fn subroutine_qualifiers(&mut self, qualifiers: ast::List<Qualifier>, has_body: bool) -> SubroutineRole {
        let ast = self.ast;
        let (mut role, mut index, mut layout) = (SubroutineRole::None, None, None);
        for qualifier in ast.list(qualifiers) {
            match qualifier.kind {
                _ if self.is_precision(qualifier) => {}
                QualifierKind::Keyword(Keyword::Subroutine) if matches!(role, SubroutineRole::None) => {
                    role = SubroutineRole::Type;
                    if has_body {
                        let what = "a subroutine type has no body";
                        self.report(SemanticError::Subroutine { what }, qualifier.tokens);
                    }
                }
                QualifierKind::Subroutine(names) if matches!(role, SubroutineRole::None) => {
                    let types = ast.list(names).iter().map(|&name| (name, qualifier.tokens)).collect();
                    role = SubroutineRole::Function { types, index: None };
                    if !has_body {
                        let what = "`subroutine(...)` needs a function with a body";
                        self.report(SemanticError::Subroutine { what }, qualifier.tokens);
                    }
                }
                QualifierKind::Layout(items) => {
                    layout = Some(qualifier.tokens);
                    for item in ast.list(items) {
                        index = self.subroutine_index(item);
                    }
                }
                QualifierKind::Keyword(_) | QualifierKind::Subroutine(_) => {
                    let error = SemanticError::QualifierNotAllowed {
                        qualifier: self.qualifier_name(qualifier),
                        place: "for the result of a function",
                    };
                    self.report(error, qualifier.tokens);
                }
            }
        }
        match (&mut role, layout) {
            (SubroutineRole::Function { index: of_function, .. }, _) => *of_function = index,
            (_, Some(tokens)) => {
                let qualifier = "layout".to_owned();
                let place = "for the result of a function";
                self.report(SemanticError::QualifierNotAllowed { qualifier, place }, tokens);
            }
            _ => {}
        }
        role
    }

    /// The number of a subroutine in a layout.
    fn subroutine_index(&mut self, item: &ast::LayoutItem) -> Option<u32> {
        let name = self.spelling(item.name);
        if name != "index" {
            self.report(SemanticError::Layout { name, place: "for a function" }, item.tokens);
            return None;
        }
        self.require(&SUBROUTINE_INDEX, "the layout `index` of a subroutine", item.tokens);
        let value = item.value.map(|value| self.expression(value));
        let index = value.and_then(|value| self.integer_of(value)).and_then(|index| u32::try_from(index).ok());
        let index = index.filter(|&index| index != UNNUMBERED);
        if index.is_none() {
            let needed = "a value that is not negative";
            self.report(SemanticError::LayoutValue { name, needed }, item.tokens);
        }
        index
    }

    /// Declares a subroutine type. Units of a program may declare one type each.
    pub(super) fn subroutine_type(
        &mut self,
        prototype: &Prototype,
        result: TypeId,
        parameters: Vec<Parameter>,
    ) -> FunctionId {
        let (name, tokens) = (prototype.name, prototype.tokens);
        let known = self.subroutine_types.get(&name).map(|&ty| (ty, self.program.types.get(ty)));
        if let Some((ty, TypeData::Subroutine(data))) = known
            && self.has_signature(FunctionId(data.function), result, &parameters)
        {
            self.declare(name, Entity::Type(ty), tokens);
            return FunctionId(data.function);
        }
        let precision = self.precision_of(prototype.qualifiers, result);
        let id = self.add_function(name, result, parameters, precision, tokens);
        let ty = self.program.types.intern(TypeData::Subroutine(SubroutineType { name, function: id.0 }));
        self.subroutine_types.insert(name, ty);
        self.declare(name, Entity::Type(ty), tokens);
        id
    }

    /// Whether a function has these parameters and this result.
    fn has_signature(&self, id: FunctionId, result: TypeId, parameters: &[Parameter]) -> bool {
        let function = self.program.function(id);
        let same = |(a, b): (&Parameter, &Parameter)| a.ty == b.ty && a.direction == b.direction;
        function.result == result
            && function.parameters.len() == parameters.len()
            && function.parameters.iter().zip(parameters).all(same)
    }

    /// Makes a function an implementation of subroutine types.
    pub(super) fn implement(
        &mut self,
        id: FunctionId,
        types: &[(Symbol, TokenRange)],
        index: Option<u32>,
        tokens: TokenRange,
    ) {
        let (result, parameters) = (self.program.function(id).result, self.program.function(id).parameters.clone());
        let mut seen = FxHashSet::default();
        for &(name, at) in types {
            let found = match self.scopes.find(name) {
                Some(&Entity::Type(ty)) => self.program.types.get(ty),
                _ => TypeData::Error,
            };
            let TypeData::Subroutine(ty) = found else {
                self.report(SemanticError::Subroutine { what: "this is not a subroutine type" }, at);
                continue;
            };
            let of_type = FunctionId(ty.function);
            if !self.has_signature(of_type, result, &parameters) {
                let what = "the function has other parameters or another result than the subroutine type";
                let declared = self.program.function(of_type).tokens;
                self.report_with(SemanticError::Subroutine { what }, tokens, declared, "the type");
                continue;
            }
            if let Some(function) = self.program.arenas.function.get_mut(ty.function as usize)
                && seen.insert(ty.function)
            {
                function.callees.push((id, tokens));
            }
        }
        if let Some(function) = self.program.arenas.function.get_mut(id.0 as usize) {
            function.subroutine = Some(index.unwrap_or(UNNUMBERED));
        }
    }

    /// Numbers subroutines in the order of their definitions, and checks that they have no overloads.
    pub(super) fn finish_subroutines(&mut self) {
        let functions = &self.program.arenas.function;
        if functions.iter().all(|function| function.subroutine.is_none()) {
            return;
        }
        let mut counts: FxHashMap<Symbol, u32> = FxHashMap::default();
        for function in functions {
            *counts.entry(function.name).or_default() += 1;
        }
        let (mut taken, mut errors) = (FxHashSet::default(), Vec::new());
        for function in functions {
            let Some(index) = function.subroutine else { continue };
            if counts.get(&function.name).is_some_and(|&count| count > 1) {
                errors.push(("subroutines have no overloads", function.tokens));
            }
            if index != UNNUMBERED && !taken.insert(index) {
                errors.push(("two subroutines have one index", function.tokens));
            }
        }
        let mut next = 0;
        for function in self.program.arenas.function.iter_mut().filter(|f| f.subroutine == Some(UNNUMBERED)) {
            while taken.contains(&next) {
                next += 1;
            }
            function.subroutine = Some(next);
            next += 1;
        }
        // Only subroutine types have callees and no body.
        let functions_of = |callee: FunctionId| {
            let callee = self.program.function(callee);
            if callee.body.is_none() { callee.callees.len() as u64 } else { 0 }
        };
        let calls = self.calls.iter().map(|(&(_, callee), &count)| count.saturating_mul(functions_of(callee)));
        let number = calls.fold(0u64, u64::saturating_add);
        for (what, tokens) in errors {
            self.report(SemanticError::Subroutine { what }, tokens);
        }
        if number > MAX_SUBROUTINE_CALLS {
            let what = "functions at calls of subroutines";
            let tokens = self.program.main.map(|main| self.program.function(main).tokens).unwrap_or_default();
            self.report(SemanticError::Limit { what, limit: MAX_SUBROUTINE_CALLS }, tokens);
        }
    }
}
