//! Functions: prototypes and definitions.

use super::memory::MemoryObject;
use super::qualifiers::{Qualifiers, StorageQualifier};
use super::scopes::Entity;
use super::subroutines::SubroutineRole;
use super::type_specs::ARRAY_TYPES;
use super::{Analyzer, CurrentFunction, SemanticError};
use crate::ast::{self, Prototype};
use crate::builtins::functions::Overloads;
use crate::keyword::Keyword;
use crate::program::{Direction, Function, FunctionId, Parameter, Storage};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{TypeData, TypeId};
use crate::version::Since;

/// Overloads of a name. Each call considers all.
const MAX_OVERLOADS: usize = 1024;

impl Analyzer<'_> {
    /// Declares a function, or finds its earlier declaration. `end` is the end of its body, if it has one.
    pub(super) fn prototype(&mut self, prototype: &Prototype, end: Option<TokenRange>) -> FunctionId {
        let subroutine = self.subroutine_qualifiers(prototype.qualifiers, end.is_some());
        let result = self.type_spec(&prototype.result);
        self.check_result(result, prototype);
        let mut parameters = Vec::new();
        let ast = self.ast;
        for parameter in ast.list(prototype.parameters) {
            parameters.push(self.parameter(parameter));
        }
        match subroutine {
            SubroutineRole::Type => self.subroutine_type(prototype, result, parameters),
            SubroutineRole::None => self.ordinary_prototype(prototype, result, parameters, end),
            SubroutineRole::Function { types, index } => {
                let id = self.ordinary_prototype(prototype, result, parameters, end);
                self.implement(id, &types, index, prototype.tokens);
                id
            }
        }
    }

    /// Declares a function that is not a subroutine type.
    fn ordinary_prototype(
        &mut self,
        prototype: &Prototype,
        result: TypeId,
        parameters: Vec<Parameter>,
        end: Option<TokenRange>,
    ) -> FunctionId {
        let name = prototype.name;
        let spelling = self.spelling(name);
        if spelling == "main" && (result != TypeId::VOID || !parameters.is_empty()) && !result.is_error() {
            self.report(SemanticError::MainSignature, prototype.tokens);
        }
        self.check_builtin_name(prototype, &parameters);
        let precision = self.precision_of(prototype.qualifiers, result);
        if let Some(id) = self.declared_function(prototype, result, &parameters) {
            self.check_repeated(prototype, id, precision, end.is_some());
            if let (Some(function), Some(_)) = (self.program.arenas.function.get_mut(id.0 as usize), end) {
                function.parameters = parameters;
                function.result = result;
                function.tokens = prototype.tokens;
            }
            return id;
        }
        let tokens = prototype.tokens;
        if let Some(id) = self.earlier_function(name, result, &parameters, tokens) {
            if let (Some(function), Some(_)) = (self.program.arenas.function.get_mut(id.0 as usize), end) {
                function.parameters = parameters;
                function.tokens = tokens;
            }
            self.declare_function(name, id, tokens);
            return id;
        }
        let id = self.add_function(name, result, parameters, precision, tokens);
        if spelling == "main" {
            self.program.main = Some(id);
        }
        self.declare_function(name, id, tokens);
        id
    }

    /// Adds a function to the program.
    pub(super) fn add_function(
        &mut self,
        name: Symbol,
        result: TypeId,
        parameters: Vec<Parameter>,
        precision: Option<Keyword>,
        tokens: TokenRange,
    ) -> FunctionId {
        let id = FunctionId(self.program.arenas.function.len() as u32);
        let (body, callees, subroutine) = (None, Vec::new(), None);
        self.program.arenas.function.push(Function { name, result, parameters, body, callees, subroutine, tokens });
        self.effects.push(None);
        self.result_precisions.push(precision);
        id
    }

    /// Declares a function in the innermost scope.
    fn declare_function(&mut self, name: Symbol, id: FunctionId, tokens: TokenRange) {
        match self.scopes.functions_here(name) {
            Some(functions) if functions.len() < MAX_OVERLOADS => functions.push(id),
            Some(_) => {
                let limit = MAX_OVERLOADS as u64;
                self.report(SemanticError::Limit { what: "functions with one name", limit }, tokens);
            }
            None => self.declare(name, Entity::Functions(vec![id]), tokens),
        }
    }

    fn check_result(&mut self, result: TypeId, prototype: &Prototype) {
        let tokens = prototype.result.tokens;
        self.check_size(result, tokens);
        let summary = self.program.types.summary(result);
        if summary.has_opaque {
            let error = SemanticError::TypeNotAllowed {
                what: "the result of a function",
                ty: self.type_name(result),
                hint: Some("pass samplers, images and counters as parameters"),
            };
            self.report(error, tokens);
        } else if summary.has_array && !self.has(&ARRAY_TYPES) {
            self.require(&ARRAY_TYPES, "a function that returns an array", tokens);
        } else if matches!(self.program.types.get(result), TypeData::Array { length: None, .. }) {
            self.report(SemanticError::Unsized { what: "the result of a function" }, tokens);
        }
        if result != TypeId::VOID {
            let qualifiers = self.ast.list(prototype.qualifiers);
            let has_precision = qualifiers.iter().any(|qualifier| self.is_precision(qualifier));
            self.check_precision(result, has_precision, tokens);
        }
    }

    /// The earlier declaration of a function with the same parameters.
    fn declared_function(
        &mut self,
        prototype: &Prototype,
        result: TypeId,
        parameters: &[Parameter],
    ) -> Option<FunctionId> {
        let functions = self.scopes.functions(prototype.name);
        let same = |id: &&FunctionId| {
            let other = &self.program.function(**id).parameters;
            other.len() == parameters.len() && other.iter().zip(parameters).all(|(a, b)| a.ty == b.ty)
        };
        let id = *functions.iter().find(same)?;
        let other = self.program.function(id);
        let what = if other.result != result && !result.is_error() && !other.result.is_error() {
            Some("another result")
        } else if other.parameters.iter().zip(parameters).any(|(a, b)| a.direction != b.direction) {
            Some("other directions of parameters")
        } else if other.parameters.iter().zip(parameters).any(|(a, b)| a.is_const != b.is_const || a.access != b.access)
        {
            Some("other qualifiers of parameters")
        } else {
            None
        };
        if let Some(what) = what {
            let (name, first) = (self.spelling(prototype.name), other.tokens);
            let error = SemanticError::FunctionMismatch { name, what };
            self.report_with(error, prototype.tokens, first, "the first declaration");
        }
        Some(id)
    }

    /// Checks a declaration of a function that was declared before: version 1.00 es allows one prototype, before the
    /// definition, and ES versions have one precision of the result.
    fn check_repeated(
        &mut self,
        prototype: &Prototype,
        id: FunctionId,
        precision: Option<Keyword>,
        is_definition: bool,
    ) {
        if !self.version().is_es() {
            return;
        }
        let (name, first) = (self.spelling(prototype.name), self.program.function(id).tokens);
        let is_other = self.result_precisions.get(id.0 as usize).is_some_and(|&other| other != precision);
        if !is_definition && self.version().number < 300 {
            self.report_with(SemanticError::Redeclared { name }, prototype.tokens, first, "the first declaration");
        } else if is_other {
            let error = SemanticError::FunctionMismatch { name, what: "another precision of the result" };
            self.report_with(error, prototype.tokens, first, "the first declaration");
        }
    }

    /// Functions of the language may be replaced in desktop versions only, and get further overloads also in 1.00 es.
    fn check_builtin_name(&mut self, prototype: &Prototype, parameters: &[Parameter]) {
        let version = self.version();
        if !version.is_es() {
            return;
        }
        let overloads = self.overloads(prototype.name);
        let Overloads::Found(signatures) = &*overloads else { return };
        let is_same = signatures.iter().any(|signature| {
            signature.parameters.len() == parameters.len()
                && signature.parameters.iter().zip(parameters).all(|(&(ty, _), parameter)| ty == parameter.ty)
        });
        if version.number >= 300 || is_same {
            let name = self.spelling(prototype.name);
            self.report(SemanticError::Redeclared { name }, prototype.tokens);
        }
    }

    fn parameter(&mut self, parameter: &ast::Parameter) -> Parameter {
        let found = self.qualifiers(parameter.qualifiers, false);
        let base = self.type_spec(&parameter.ty);
        let ty = self.declared_type(base, parameter.dimensions);
        let direction = self.direction(&found, parameter.tokens);
        self.check_parameter_qualifiers(&found, parameter.tokens);
        let is_const = found.is_const || found.storage == StorageQualifier::Const;
        self.check_memory(&found, ty, MemoryObject::Parameter, parameter.tokens);
        let access = found.traits.access;
        if ty == TypeId::VOID || self.is_subroutine(ty) {
            let ty = self.type_name(ty);
            let error = SemanticError::TypeNotAllowed { what: "a parameter", ty, hint: None };
            self.report(error, parameter.tokens);
            return Parameter { ty: TypeId::ERROR, direction, is_const, access, variable: None };
        }
        if matches!(self.program.types.get(ty), TypeData::Array { length: None, .. }) {
            self.report(SemanticError::Unsized { what: "a parameter" }, parameter.tokens);
            return Parameter { ty: TypeId::ERROR, direction, is_const, access, variable: None };
        }
        if !self.check_size(ty, parameter.tokens) {
            return Parameter { ty: TypeId::ERROR, direction, is_const, access, variable: None };
        }
        if direction.writes() {
            let summary = self.program.types.summary(ty);
            if summary.has_opaque {
                let what = match self.program.types.get(self.program.types.without_arrays(ty)) {
                    TypeData::Image(_) => "images are `in` parameters only",
                    TypeData::AtomicUint => "atomic counters are `in` parameters only",
                    _ => "samplers are `in` parameters only",
                };
                self.report(SemanticError::Opaque { what }, parameter.tokens);
            }
            if matches!(self.program.types.get(ty), TypeData::Array { .. }) {
                self.require(&Since::new(120, 100), "an array as an `out` parameter", parameter.tokens);
            }
        }
        self.check_precision(base, found.precision.is_some(), parameter.ty.tokens);
        if matches!(parameter.ty.name, ast::TypeName::Struct(_)) {
            let error = SemanticError::TypeNotAllowed {
                what: "a parameter",
                ty: "a struct that is defined in it".to_owned(),
                hint: Some("define the struct before"),
            };
            self.report(error, parameter.ty.tokens);
        }
        Parameter { ty, direction, is_const, access, variable: None }
    }

    /// Reports qualifiers that only variables between stages have.
    fn check_parameter_qualifiers(&mut self, found: &Qualifiers, tokens: TokenRange) {
        let keywords = [
            found.interpolation,
            found.traits.centroid.then_some(Keyword::Centroid),
            found.traits.sample.then_some(Keyword::Sample),
            found.traits.invariant.then_some(Keyword::Invariant),
        ];
        let has_layout = found.traits.location.is_some() || found.origin_upper_left || found.pixel_center_integer;
        let keyword = keywords.into_iter().flatten().next().or(has_layout.then_some(Keyword::Layout));
        if let Some(keyword) = keyword {
            let qualifier = keyword.name().to_owned();
            self.report(SemanticError::QualifierNotAllowed { qualifier, place: "for a parameter" }, tokens);
        }
    }

    fn direction(&mut self, found: &Qualifiers, tokens: TokenRange) -> Direction {
        match found.storage {
            StorageQualifier::None | StorageQualifier::In | StorageQualifier::Const => Direction::In,
            StorageQualifier::Out => Direction::Out,
            StorageQualifier::InOut => Direction::InOut,
            _ => {
                let qualifier = match found.storage {
                    StorageQualifier::Uniform => "uniform",
                    StorageQualifier::Attribute => "attribute",
                    StorageQualifier::Varying => "varying",
                    _ => "this qualifier",
                };
                let error =
                    SemanticError::QualifierNotAllowed { qualifier: qualifier.to_owned(), place: "for a parameter" };
                self.report(error, tokens);
                Direction::In
            }
        }
    }

    /// Analyses the definition of a function.
    pub(super) fn function(&mut self, prototype: &Prototype, body: ast::List<ast::StmtId>, end: TokenRange) {
        let id = self.prototype(prototype, Some(end));
        if let Some(first) = self.definitions.insert(id, prototype.tokens) {
            let error = SemanticError::FunctionDefinedTwice { name: self.spelling(prototype.name) };
            self.report_with(error, prototype.tokens, first, "the first definition");
        }
        // Parameters and body are one scope, except in version 1.00 es, where variables of the body hide parameters.
        let has_outer_scope = self.version().is_es() && self.version().number < 300;
        self.scopes.push();
        self.precisions.push();
        let ast = self.ast;
        let count = self.program.function(id).parameters.len();
        for (number, source) in ast.list(prototype.parameters).iter().enumerate().take(count) {
            let Some(parameter) = self.program.function(id).parameters.get(number).copied() else { continue };
            let Some(name) = source.name else {
                self.report(SemanticError::UnnamedParameter, source.tokens);
                continue;
            };
            let storage =
                if parameter.is_const && !parameter.direction.writes() { Storage::Const } else { Storage::Local };
            let variable = self.add_variable(name, parameter.ty, storage, source.tokens);
            if let Some(variable) = self.variable_mut(variable) {
                variable.is_written = parameter.direction.reads();
                variable.traits.access = parameter.access;
            }
            self.declare(name, Entity::Variable(variable), source.tokens);
            let function = self.program.arenas.function.get_mut(id.0 as usize);
            if let Some(parameter) = function.and_then(|function| function.parameters.get_mut(number)) {
                parameter.variable = Some(variable);
            }
        }
        let result = self.program.function(id).result;
        self.function = Some(CurrentFunction {
            id,
            result,
            returns: false,
            breakable: Vec::new(),
            has_effects: false,
            nesting: 0,
            has_return: false,
        });
        if has_outer_scope {
            self.scopes.push();
        }
        let stmts = self.statements(ast.list(body));
        let function = self.function.take();
        self.precisions.pop();
        self.scopes.pop();
        if has_outer_scope {
            self.scopes.pop();
        }
        if let Some(function) = function {
            if result != TypeId::VOID && !result.is_error() && !function.returns {
                let name = self.spelling(prototype.name);
                self.report(SemanticError::NoReturn { name }, prototype.tokens);
            }
            if let Some(effects) = self.effects.get_mut(id.0 as usize) {
                *effects = Some(function.has_effects);
            }
        }
        if let Some(function) = self.program.arenas.function.get_mut(id.0 as usize) {
            function.body = Some(stmts);
        }
    }
}
