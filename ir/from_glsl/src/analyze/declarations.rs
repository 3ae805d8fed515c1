//! Declarations of variables, with their initialisers.

use super::blocks::BlockSource;
use super::layouts::Places;
use super::memory::MemoryObject;
use super::qualifiers::{Qualifiers, StorageQualifier};
use super::scopes::Entity;
use super::storage::may_be_unused;
use super::{Analyzer, SemanticError};
use crate::ast::{self, Declaration, DeclarationId};
use crate::extension::Extension;
use crate::program::{ExprId, StmtId, StmtKind, Storage, Traits, VariableId};
use crate::types::{TypeData, TypeId};
use crate::version::{NEVER, Since};

/// Versions with initialisers of uniforms.
const UNIFORM_INITIALIZERS: Since = Since::new(120, NEVER);

/// Versions in which constants may have initialisers that are not constant.
const CONST_OF_ANYTHING: Since = Since::new(420, NEVER).or(&[Extension::ARBShadingLanguage420pack]);

impl Analyzer<'_> {
    /// Analyses a declaration, and returns the statements that initialise its variables.
    pub(super) fn declaration(&mut self, id: DeclarationId) -> Vec<StmtId> {
        let ast = self.ast;
        match ast.declarations.get(id.0 as usize).copied() {
            Some(Declaration::Variables { qualifiers, ty, declarators }) => {
                let found = self.qualifiers(qualifiers, self.function.is_none());
                self.variables(&found, &ty, ast.list(declarators))
            }
            Some(Declaration::Precision { precision, ty, tokens }) => {
                self.precision(precision, &ty, tokens);
                Vec::new()
            }
            Some(Declaration::Qualifiers { qualifiers, names, tokens }) => {
                let found = self.qualifiers(qualifiers, true);
                self.requalify(&found, ast.list(names), tokens);
                Vec::new()
            }
            Some(Declaration::Block { qualifiers, name, members, instance, tokens }) => {
                self.block(qualifiers, &BlockSource { name, members, instance, tokens });
                Vec::new()
            }
            Some(Declaration::Prototype(prototype)) => {
                if self.function.is_some() {
                    self.nested_prototype(&prototype);
                }
                self.prototype(&prototype, None);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn nested_prototype(&mut self, prototype: &ast::Prototype) {
        let version = self.version().to_string();
        if self.version().is_es() {
            let (what, remedy) = ("a function declared in a function".to_owned(), "declare it before".to_owned());
            self.report(SemanticError::NeedsVersion { what, version, remedy }, prototype.tokens);
        } else {
            let what = "a function declared in a function";
            self.report(SemanticError::Lenient { what, version }, prototype.tokens);
        }
    }

    fn variables(&mut self, found: &Qualifiers, spec: &ast::TypeSpec, declarators: &[ast::Declarator]) -> Vec<StmtId> {
        let has_initializer = declarators.iter().any(|declarator| declarator.initializer.is_some());
        let before = std::mem::replace(&mut self.takes_lengths, has_initializer);
        let base = self.type_spec(spec);
        self.takes_lengths = before;
        let is_definition = matches!(spec.name, ast::TypeName::Struct(_));
        if found.precision.is_some() {
            self.check_has_precision(base, spec.tokens);
        }
        if declarators.is_empty() {
            if self.program.types.get(base) == TypeData::AtomicUint {
                self.default_offset(found, spec.tokens);
            } else if matches!(self.program.types.get(base), TypeData::Array { length: None, .. })
                && self.version().is_es()
            {
                self.report(SemanticError::Unsized { what: "this declaration" }, spec.tokens);
            } else if !is_definition {
                self.report(SemanticError::EmptyDeclaration, spec.tokens);
            }
            return Vec::new();
        }
        self.check_precision(base, found.precision.is_some(), spec.tokens);
        let mut stmts = Vec::new();
        let mut found = found.clone();
        for declarator in declarators {
            let before = std::mem::replace(&mut self.takes_lengths, declarator.initializer.is_some());
            let ty = self.declared_type(base, declarator.dimensions);
            self.takes_lengths = before;
            stmts.extend(self.variable(&found, ty, declarator));
            if self.program.types.get(base) == TypeData::AtomicUint {
                // The offset is that of the first counter; the others are behind it.
                found.traits.offset = None;
            }
        }
        stmts
    }

    /// Declares a variable, and returns the statement that initialises it.
    fn variable(&mut self, found: &Qualifiers, ty: TypeId, declarator: &ast::Declarator) -> Option<StmtId> {
        let is_global = self.function.is_none();
        if is_global && self.interner.spelling(declarator.name).starts_with("gl_") {
            self.redeclare_builtin(found, ty, declarator);
            return None;
        }
        self.check_layouts(found, Places::VARIABLE);
        let storage = self.storage_of(found, is_global, declarator.tokens);
        let is_patch = found.traits.patch;
        let ty = self.sized_by_stage(ty, storage, is_patch, declarator.tokens);
        // The name is in scope after its initialiser.
        let (ty, value) = self.initializer(ty, storage, declarator);
        self.check_per_vertex_array(ty, storage, found, declarator.tokens);
        self.check_component(ty, found, declarator.tokens);
        let ty = self.checked_type(ty, storage, found, declarator.tokens);
        self.check_memory(found, ty, MemoryObject::Variable(storage), declarator.tokens);
        if let Some(variable) = self.resized(declarator, ty, storage) {
            return value.map(|value| self.add_stmt(StmtKind::Declare(variable, Some(value)), declarator.tokens));
        }
        let constant = value.and_then(|value| self.program.expr(value).constant);
        if is_global && let Some(id) = self.earlier_variable(found, ty, storage, declarator) {
            let is_new = self.earlier_value(id, value, constant, declarator);
            self.declare(declarator.name, Entity::Variable(id), declarator.tokens);
            let is_initialized = is_new && storage == Storage::Global;
            return value
                .filter(|_| is_initialized)
                .map(|value| self.add_stmt(StmtKind::Declare(id, Some(value)), declarator.tokens));
        }
        let offset = self.counter_offset(found, ty, declarator);
        let id = self.add_variable(declarator.name, ty, storage, declarator.tokens);
        let is_large = may_be_unused(storage) && self.program.types.summary(ty).registers > self.unit.max_registers;
        if is_large {
            self.large.push(id);
        }
        let keeps_value = matches!(storage, Storage::Const | Storage::Uniform);
        let precision = self.precision_or_default(found.precision, ty);
        let is_per_vertex = self.is_per_vertex(storage, is_patch);
        if is_per_vertex {
            self.per_vertex.push(id);
        }
        if let Some(variable) = self.variable_mut(id) {
            variable.traits = Traits { precision, offset, ..found.traits };
            variable.is_per_vertex = is_per_vertex;
            variable.is_inout = storage == Storage::Output && found.storage == StorageQualifier::InOut;
            variable.value = constant.filter(|_| keeps_value);
            // Also by a value with an error.
            variable.is_written = declarator.initializer.is_some();
        }
        if is_global {
            self.program.globals.push(id);
            self.note_value(id, value, constant);
        }
        if storage == Storage::Output {
            self.capture(id, &found.capture, declarator.tokens);
        }
        self.declare(declarator.name, Entity::Variable(id), declarator.tokens);
        if keeps_value && (constant.is_some() || value.is_none()) || is_large {
            return None;
        }
        // A constant of a value that is not constant is a variable that nothing else writes.
        let is_variable = matches!(storage, Storage::Local | Storage::Global | Storage::Const);
        is_variable.then(|| self.add_stmt(StmtKind::Declare(id, value), declarator.tokens))
    }

    /// Types the initialiser of a declarator. An array without a length gets that of its initialiser.
    fn initializer(&mut self, ty: TypeId, storage: Storage, declarator: &ast::Declarator) -> (TypeId, Option<ExprId>) {
        let Some(initializer) = declarator.initializer else {
            if storage == Storage::Const {
                let name = self.spelling(declarator.name);
                self.report(SemanticError::MissingInitializer { name }, declarator.tokens);
            }
            // The type of other declarators may have open dimensions.
            if let TypeData::Array { element, .. } = self.program.types.get(ty)
                && self.has_open_dimension(element)
            {
                self.report(SemanticError::Unsized { what: "an array of arrays" }, declarator.tokens);
                return (TypeId::ERROR, None);
            }
            return (ty, None);
        };
        let value = self.expression(initializer);
        let tokens = self.tokens_of(value);
        let what = match storage {
            Storage::Input => Some("an input"),
            Storage::Output => Some("an output"),
            Storage::Uniform if self.program.types.summary(ty).has_opaque => {
                Some(match self.program.types.get(self.program.types.without_arrays(ty)) {
                    TypeData::Image(_) => "an image",
                    TypeData::AtomicUint => "an atomic counter",
                    _ => "a sampler",
                })
            }
            // Its type is the error.
            _ if self.program.types.summary(ty).has_opaque => return (ty, None),
            _ => None,
        };
        if let Some(what) = what {
            self.report(SemanticError::InitializerNotAllowed { what }, tokens);
            return (ty, None);
        }
        if storage == Storage::Uniform && !self.require(&UNIFORM_INITIALIZERS, "an initialiser of a uniform", tokens) {
            return (ty, None);
        }
        let value = self.braced(initializer, value, ty);
        let ty = self.fitted_type(ty, self.ty(value));
        if self.ty(value).is_error() && self.has_open_dimension(ty) {
            return (TypeId::ERROR, None);
        }
        if let TypeData::Array { element, .. } = self.program.types.get(ty)
            && self.has_open_dimension(element)
        {
            self.report(SemanticError::Unsized { what: "an array of arrays" }, declarator.tokens);
            return (TypeId::ERROR, None);
        }
        let value = self.convert_to(value, ty, "the initialiser");
        if self.ty(value).is_error() {
            return (ty, None);
        }
        let is_copied = matches!(storage, Storage::Local | Storage::Global);
        if !self.check_copy(ty, "initialisation", tokens) || is_copied && !self.count_copy(ty, tokens) {
            return (ty, None);
        }
        let is_constant = self.program.expr(value).constant.is_some();
        let must_be_constant = match storage {
            Storage::Const => !(self.has(&CONST_OF_ANYTHING) && self.function.is_some()),
            Storage::Uniform => true,
            Storage::Global => self.version().is_es(),
            _ => false,
        };
        if must_be_constant && !is_constant {
            self.report(SemanticError::NotConstant { what: "the initialiser" }, tokens);
            return (ty, None);
        }
        (ty, Some(value))
    }

    /// The value of an initialiser in braces for a type; other values as they are.
    fn braced(&mut self, source: ast::ExprId, value: ExprId, ty: TypeId) -> ExprId {
        let ast = self.ast;
        let Some(ast::ExprKind::Braces(elements)) = ast.exprs.get(source.0 as usize).map(|expr| expr.kind) else {
            return value;
        };
        let tokens = self.tokens_of(value);
        if ty.is_error() {
            return self.error_expr(tokens);
        }
        let elements = ast.list(elements);
        let count = elements.len() as u32;
        let element = match self.program.types.get(ty) {
            TypeData::Struct(_) => None,
            _ => match self.program.types.element(ty) {
                Some(element) => Some(element),
                None => {
                    let (what, ty) = ("an initialiser in braces", self.type_name(ty));
                    let error = SemanticError::TypeNotAllowed { what, ty, hint: Some("leave out the braces") };
                    self.report(error, tokens);
                    return self.error_expr(tokens);
                }
            },
        };
        let fields = self.program.types.fields(ty).len() as u32;
        let number = element.map_or(fields, |(_, length)| length.unwrap_or(count));
        if number != count {
            let ty = self.type_name(ty);
            self.report(SemanticError::ArgumentCount { ty, needed: number, found: count }, tokens);
            return self.error_expr(tokens);
        }
        let is_open = element.is_some_and(|(element, _)| self.has_open_dimension(element));
        let mut needed: Vec<TypeId> = match element {
            Some((element, _)) => vec![element; elements.len()],
            None => self.program.types.fields(ty).iter().map(|field| field.ty).collect(),
        };
        let mut values = Vec::with_capacity(elements.len());
        for (number, &element) in elements.iter().enumerate() {
            let Some(&ty) = needed.get(number) else { break };
            let value = self.typed.get(element.0 as usize).copied().unwrap_or(ExprId(0));
            // Nesting of braces is bounded by the parser.
            let value = self.braced(element, value, ty);
            // The first element has the lengths of open dimensions.
            if is_open && number == 0 {
                let fitted = self.fitted_type(ty, self.ty(value));
                needed.fill(fitted);
            }
            let ty = needed.get(number).copied().unwrap_or(ty);
            values.push(self.convert_to(value, ty, "the element"));
        }
        if values.iter().any(|&value| self.ty(value).is_error()) {
            return self.error_expr(tokens);
        }
        let ty = match self.program.types.get(ty) {
            TypeData::Array { element, .. } => {
                let element = needed.first().copied().unwrap_or(element);
                self.program.types.array(element, Some(count))
            }
            _ => ty,
        };
        self.construct(ty, &values, tokens)
    }

    /// Whether a type is an array with a dimension without a length.
    fn has_open_dimension(&self, mut ty: TypeId) -> bool {
        while let TypeData::Array { element, length } = self.program.types.get(ty) {
            if length.is_none() {
                return true;
            }
            ty = element;
        }
        false
    }

    /// A redeclaration that gives an array its length: the variable that it is about.
    fn resized(&mut self, declarator: &ast::Declarator, ty: TypeId, storage: Storage) -> Option<VariableId> {
        let found = self.scopes.find_here(declarator.name, &Entity::Variable(VariableId(0)));
        let Some(&Entity::Variable(id)) = found else { return None };
        let variable = self.program.variable(id);
        let TypeData::Array { element, length: None } = self.program.types.get(variable.ty) else { return None };
        let TypeData::Array { element: other, length } = self.program.types.get(ty) else { return None };
        if element != other || variable.storage != storage {
            return None;
        }
        let (max_index, first) = (variable.max_index, variable.tokens);
        if let (Some(length), Some(max_index)) = (length, max_index)
            && max_index >= length
        {
            let ty = self.type_name(ty);
            let error = SemanticError::IndexRange { index: max_index.into(), ty, length };
            self.report_with(error, declarator.tokens, first, "the first declaration");
        }
        if let Some(variable) = self.variable_mut(id)
            && length.is_some()
        {
            variable.ty = ty;
        }
        Some(id)
    }
}
