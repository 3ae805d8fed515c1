//! Types as declarations write them: names, dimensions, definitions of structs.

use super::scopes::Entity;
use super::{Analyzer, SemanticError};
use crate::ast::{self, TypeName};
use crate::builtins::{functions, variables};
use crate::program::ExprId;
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{self, Field, Scalar, StructType, TypeData, TypeId};
use crate::version::Since;

/// Versions with arrays as types: constructors, assignments, dimensions after the type.
pub(super) const ARRAY_TYPES: Since = Since::new(120, 300);

/// Registers of values whose copies are not counted.
const MAX_SMALL_COPY: u64 = 16;

/// Registers of all other values that are copied.
pub(crate) const MAX_COPIED_REGISTERS: u64 = 1 << 18;

/// Fields of a struct. Each selection considers all.
const MAX_FIELDS: usize = 4096;

impl Analyzer<'_> {
    /// The type without the dimensions of a declarator. Defines its struct, if it has one.
    pub(super) fn type_spec(&mut self, spec: &ast::TypeSpec) -> TypeId {
        let element = match spec.name {
            TypeName::Error => TypeId::ERROR,
            TypeName::Keyword(keyword) => match types::of_keyword(&mut self.program.types, keyword) {
                Some(ty) => ty,
                None => {
                    let what = format!("`{}`", keyword.name());
                    let version = self.version().to_string();
                    let remedy = "this type needs a later version".to_owned();
                    self.report(SemanticError::NeedsVersion { what, version, remedy }, spec.tokens);
                    TypeId::ERROR
                }
            },
            TypeName::Named(name) => match self.scopes.find(name) {
                Some(&Entity::Type(ty)) => ty,
                Some(_) => {
                    let name = self.spelling(name);
                    self.report(SemanticError::NotAType { name }, spec.tokens);
                    TypeId::ERROR
                }
                None => self.language_struct(name).unwrap_or_else(|| {
                    self.undeclared(name, spec.tokens);
                    TypeId::ERROR
                }),
            },
            TypeName::Struct(id) => self.struct_spec(id),
        };
        // The parser warns of dimensions of types in versions without them.
        self.with_dimensions(element, spec.dimensions)
    }

    /// A struct of the language, such as `gl_FogParameters`.
    fn language_struct(&mut self, name: Symbol) -> Option<TypeId> {
        let spelling = self.spelling(name);
        let is_available = spelling == "gl_DepthRangeParameters" || variables::has_fixed_function(self.unit.version);
        is_available.then(|| variables::state::struct_type(&spelling, &mut self.program.types, self.interner)).flatten()
    }

    /// An array type with dimensions in the order of the source, outermost first.
    pub(super) fn with_dimensions(&mut self, element: TypeId, dimensions: ast::List<ast::Dimension>) -> TypeId {
        let mut ty = element;
        let ast = self.ast;
        let dimensions = ast.list(dimensions);
        // Lengths are typed in the order of the source, arrays are made from the innermost dimension.
        let lengths: Vec<_> = dimensions.iter().map(|dimension| self.array_length(dimension)).collect();
        for (dimension, length) in dimensions.iter().zip(lengths).rev() {
            let Ok(length) = length else { return TypeId::ERROR };
            if self.program.types.get(ty) == TypeData::Void {
                let error = SemanticError::TypeNotAllowed { what: "an element", ty: "void".to_owned(), hint: None };
                self.report(error, dimension.tokens);
                return TypeId::ERROR;
            }
            if matches!(self.program.types.get(ty), TypeData::Array { length: None, .. }) && !self.takes_lengths {
                self.report(SemanticError::Unsized { what: "an array of arrays" }, dimension.tokens);
                return TypeId::ERROR;
            }
            ty = self.program.types.array(ty, length);
        }
        ty
    }

    /// The length of a dimension; `None` for `[]`.
    fn array_length(&mut self, dimension: &ast::Dimension) -> Result<Option<u32>, ()> {
        let Some(length) = dimension.length else { return Ok(None) };
        let expr = self.expression(length);
        if self.has(&ARRAY_TYPES)
            && let Some(tokens) = self.comma_in(length).filter(|_| !self.ty(expr).is_error())
        {
            let what = "the length of an array (`,` is not a constant operator)";
            self.report(SemanticError::NotConstant { what }, tokens);
            return Err(());
        }
        self.length_of(expr).map(Some)
    }

    /// The value of a constant expression as the length of an array.
    fn length_of(&mut self, expr: ExprId) -> Result<u32, ()> {
        let ty = self.ty(expr);
        let tokens = self.tokens_of(expr);
        if ty.is_error() {
            return Err(());
        }
        if ty != TypeId::INT && ty != TypeId::UINT {
            let found = Some(self.type_name(ty));
            self.report(SemanticError::ArrayLength { found }, tokens);
            return Err(());
        }
        let Some(value) = self.integer_of(expr) else {
            self.report(SemanticError::NotConstant { what: "the length of an array" }, tokens);
            return Err(());
        };
        match u32::try_from(value) {
            Ok(length) if length > 0 => Ok(length),
            _ => {
                self.report(SemanticError::ArrayLength { found: Some(value.to_string()) }, tokens);
                Err(())
            }
        }
    }

    /// Defines a struct.
    fn struct_spec(&mut self, id: ast::StructId) -> TypeId {
        let ast = self.ast;
        let Some(spec) = ast.structs.get(id.0 as usize) else { return TypeId::ERROR };
        let mut fields: Vec<Field> = Vec::new();
        for members in ast.list(spec.members) {
            for qualifier in ast.list(members.qualifiers) {
                if !self.is_precision(qualifier) {
                    let qualifier_name = self.qualifier_name(qualifier);
                    let place = "for a field of a struct";
                    self.report(
                        SemanticError::QualifierNotAllowed { qualifier: qualifier_name, place },
                        qualifier.tokens,
                    );
                }
            }
            if (self.version().is_es() || self.version().number > 110) && matches!(members.ty.name, TypeName::Struct(_))
            {
                let error = SemanticError::TypeNotAllowed {
                    what: "a field",
                    ty: "a struct that is defined in it".to_owned(),
                    hint: Some("define the struct before"),
                };
                self.report(error, members.ty.tokens);
            }
            let base = self.type_spec(&members.ty);
            let has_precision = ast.list(members.qualifiers).iter().any(|qualifier| self.is_precision(qualifier));
            self.check_precision(base, has_precision, members.ty.tokens);
            if has_precision {
                self.check_has_precision(base, members.ty.tokens);
            }
            for declarator in ast.list(members.declarators) {
                if fields.len() >= MAX_FIELDS {
                    let error = SemanticError::Limit { what: "fields of a struct", limit: MAX_FIELDS as u64 };
                    self.report(error, declarator.tokens);
                    if let Some(name) = spec.name {
                        self.declare(name, Entity::Type(TypeId::ERROR), spec.tokens);
                    }
                    return TypeId::ERROR;
                }
                let ty = self.declared_type(base, declarator.dimensions);
                self.check_name(declarator.name, declarator.tokens);
                if let Some(initializer) = declarator.initializer {
                    let initializer = self.expression(initializer);
                    let tokens = self.tokens_of(initializer);
                    self.report(SemanticError::InitializerNotAllowed { what: "a field of a struct" }, tokens);
                }
                self.check_field(ty, declarator, &fields);
                let precision = self.precision_of(members.qualifiers, ty);
                fields.push(Field { name: declarator.name, ty, precision, tokens: declarator.tokens });
            }
        }
        let ty = match self.earlier_struct(spec.name, &fields) {
            Some(ty) => ty,
            None => {
                let data = StructType { name: spec.name, fields, tokens: spec.tokens, block: None };
                self.program.types.add_struct(data)
            }
        };
        if let Some(name) = spec.name {
            self.declare(name, Entity::Type(ty), spec.tokens);
        }
        ty
    }

    fn check_field(&mut self, ty: TypeId, declarator: &ast::Declarator, others: &[Field]) {
        if let Some(other) = others.iter().find(|other| other.name == declarator.name) {
            let error = SemanticError::Redeclared { name: self.spelling(declarator.name) };
            self.report_with(error, declarator.tokens, other.tokens, "the first declaration");
        }
        match self.program.types.get(ty) {
            TypeData::Void => {
                let error = SemanticError::TypeNotAllowed { what: "a field", ty: "void".to_owned(), hint: None };
                self.report(error, declarator.tokens);
            }
            TypeData::Array { length: None, .. } => {
                self.report(SemanticError::Unsized { what: "a field of a struct" }, declarator.tokens);
            }
            _ if self.program.types.summary(ty).counters > 0 || self.is_subroutine(ty) => {
                let error = SemanticError::TypeNotAllowed {
                    what: "a field",
                    ty: self.type_name(ty),
                    hint: Some("declare it as `uniform`"),
                };
                self.report(error, declarator.tokens);
            }
            _ => {}
        }
    }

    /// The type of a declarator: the dimensions after its name are outside of those of the type.
    pub(super) fn declared_type(&mut self, base: TypeId, dimensions: ast::List<ast::Dimension>) -> TypeId {
        self.with_dimensions(base, dimensions)
    }

    /// Reports a name that nothing declares.
    pub(super) fn undeclared(&mut self, name: Symbol, tokens: TokenRange) {
        let spelling = self.spelling(name);
        let near = self.near(&spelling);
        self.report(SemanticError::Undeclared { name: spelling, near }, tokens);
    }

    /// Checks that a value or variable of a type is not too large.
    pub(super) fn check_size(&mut self, ty: TypeId, tokens: TokenRange) -> bool {
        let limit = self.unit.max_registers;
        let fits = self.program.types.summary(ty).registers <= limit;
        if !fits {
            self.report(SemanticError::Limit { what: "registers of a variable or value", limit: limit.into() }, tokens);
        }
        fits
    }

    /// The closest name: one in scope, or of the language.
    fn near(&self, spelling: &str) -> Option<String> {
        // Names that were reported have variables with the error type.
        let is_declared = |entity: &Entity| match entity {
            Entity::Variable(id) | Entity::Member(id, _) => !self.program.variable(*id).ty.is_error(),
            Entity::Type(_) | Entity::Functions(_) => true,
            Entity::Block(_) => false,
        };
        let own = self.scopes.names().filter(|&(_, entity)| is_declared(entity));
        let own = own.map(|(name, _)| self.interner.spelling(name)).filter(|&name| name != spelling);
        let of_language = functions::names().chain(variables::names());
        tgsi_diagnostics::suggest(spelling, own.chain(of_language.map(|name| name as &str))).map(str::to_owned)
    }

    /// Whether values of a type can be copied: assigned, returned, passed, compared.
    pub(super) fn check_copy(&mut self, ty: TypeId, what: &'static str, tokens: TokenRange) -> bool {
        let summary = self.program.types.summary(ty);
        if summary.has_opaque {
            let what = match self.program.types.get(self.program.types.without_arrays(ty)) {
                TypeData::Image(_) => "images cannot be copied or compared",
                TypeData::AtomicUint => "atomic counters cannot be copied or compared",
                TypeData::Subroutine(_) => "subroutines cannot be copied or compared",
                _ => "samplers cannot be copied or compared",
            };
            self.report(SemanticError::Opaque { what }, tokens);
            return false;
        }
        if self.program.types.block_of(self.program.types.without_arrays(ty)).is_some() {
            self.report(SemanticError::Opaque { what: "blocks cannot be copied or compared" }, tokens);
            return false;
        }
        let is_array = matches!(self.program.types.get(ty), TypeData::Array { .. });
        // Version 1.10 copies structs that contain arrays.
        if (is_array || summary.has_array && self.version().is_es()) && !self.has(&ARRAY_TYPES) {
            return self.require(&ARRAY_TYPES, format!("{what} of arrays"), tokens);
        }
        true
    }

    /// Counts a copy of a value. Copies of large values become a load and a store of each register.
    pub(super) fn count_copy(&mut self, ty: TypeId, tokens: TokenRange) -> bool {
        let registers = u64::from(self.program.types.summary(ty).registers);
        if registers <= MAX_SMALL_COPY || self.copied_registers > MAX_COPIED_REGISTERS {
            return true;
        }
        if let Some(function) = &self.function {
            *self.copies.entry(function.id).or_default() += registers;
        }
        self.copied_registers += registers;
        let fits = self.copied_registers <= MAX_COPIED_REGISTERS;
        if !fits {
            let what = "registers of copied arrays and structs";
            self.report(SemanticError::Limit { what, limit: MAX_COPIED_REGISTERS }, tokens);
        }
        fits
    }

    /// Checks that a type with floats or samplers has a precision, where the version has no default for it.
    pub(super) fn check_precision(&mut self, ty: TypeId, has_precision: bool, tokens: TokenRange) {
        if has_precision || ty.is_error() {
            return;
        }
        let inner = self.program.types.without_arrays(ty);
        let missing = match self.program.types.get(inner) {
            TypeData::Vector { scalar: Scalar::Float, .. } | TypeData::Matrix { scalar: Scalar::Float, .. } => {
                !self.precisions.has_float()
            }
            TypeData::Sampler(sampler) => !self.precisions.has_opaque(sampler.name),
            TypeData::Image(image) => !self.precisions.has_opaque(image.name),
            _ => false,
        };
        if missing {
            let ty = match self.program.types.get(inner) {
                TypeData::Sampler(_) | TypeData::Image(_) => self.type_name(inner),
                _ => "float".to_owned(),
            };
            self.report(SemanticError::MissingPrecision { ty }, tokens);
        }
    }
}
