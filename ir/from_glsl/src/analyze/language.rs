//! Variables of the language: their declaration by the first use, and declarations of the shader about them.

use tgsi_ir::shader::ShaderStage;

use super::layouts::Places;
use super::qualifiers::{Qualifiers, StorageQualifier};
use super::scopes::Entity;
use super::storage::storage_name;
use super::{Analyzer, SemanticError, UnitInfo};
use crate::ast;
use crate::builtins::variables::{self, BuiltinVariable, Found, Role};
use crate::program::{ExprId, ExprKind, Storage, VariableId};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{TypeData, TypeId};
use crate::version::NEVER;

impl Analyzer<'_> {
    /// A redeclaration of a variable of the language: its length, or qualifiers.
    pub(super) fn redeclare_builtin(&mut self, found: &Qualifiers, ty: TypeId, declarator: &ast::Declarator) {
        let name = self.spelling(declarator.name);
        let known = match self.scopes.find(declarator.name) {
            Some(&Entity::Variable(id)) => Some(id),
            _ => self.builtin(declarator.name, declarator.tokens),
        };
        let Some(id) = known else {
            self.report(SemanticError::ReservedName { name }, declarator.tokens);
            return;
        };
        let variable = self.program.variable(id);
        let Storage::Builtin(builtin) = variable.storage else { return };
        if !builtin.is_redeclarable() {
            self.report(SemanticError::Redeclared { name }, declarator.tokens);
            return;
        }
        self.check_layouts(found, Places::VARIABLE);
        let is_framebuffer = builtin.role(self.unit.version) == Role::Framebuffer;
        if is_framebuffer {
            self.check_coherence(found, declarator.tokens);
        } else if found.noncoherent {
            let place = "except for `gl_LastFragData`";
            self.report(SemanticError::Layout { name: "noncoherent".to_owned(), place }, declarator.tokens);
        }
        let storage = match found.storage {
            StorageQualifier::None if is_framebuffer => Some(StorageQualifier::In),
            StorageQualifier::Varying if self.program.stage == ShaderStage::Fragment => Some(StorageQualifier::In),
            StorageQualifier::Varying => Some(StorageQualifier::Out),
            StorageQualifier::In | StorageQualifier::Out => Some(found.storage),
            _ => None,
        };
        let needed = match builtin.role(self.unit.version) {
            Role::Output(_) | Role::Private => StorageQualifier::Out,
            _ => StorageQualifier::In,
        };
        if storage != Some(needed) {
            let qualifier = storage_name(found.storage).to_owned();
            let error = match needed {
                _ if qualifier.is_empty() => SemanticError::Redeclared { name },
                StorageQualifier::Out => {
                    SemanticError::QualifierNotAllowed { qualifier, place: "for an output of the language" }
                }
                _ => SemanticError::QualifierNotAllowed { qualifier, place: "for an input of the language" },
            };
            self.report(error, declarator.tokens);
            return;
        }
        if let TypeData::Array { length: Some(length), .. } = self.program.types.get(ty) {
            let limit = self.max_length(id);
            if length > limit {
                let what = "elements of a variable of the language";
                self.report(SemanticError::Limit { what, limit: limit.into() }, declarator.tokens);
                return;
            }
        }
        let variable = self.program.variable(id);
        let types = &self.program.types;
        let agrees = match (types.get(variable.ty), types.get(ty)) {
            (TypeData::Array { element, .. }, TypeData::Array { element: other, .. }) => element == other,
            _ => variable.ty == ty,
        };
        if !agrees && !ty.is_error() {
            let (found, expected) = (self.type_name(ty), self.type_name(variable.ty));
            let error = SemanticError::WrongType { what: "the variable", found, expected, hint: None };
            self.report(error, declarator.tokens);
            return;
        }
        if !ty.is_error() && !self.check_length(id, ty, declarator.tokens) {
            return;
        }
        let is_coordinate = builtin.name() == "gl_FragCoord";
        if (found.origin_upper_left || found.pixel_center_integer) && !is_coordinate {
            let name = if found.origin_upper_left { "origin_upper_left" } else { "pixel_center_integer" };
            let error = SemanticError::Layout { name: name.to_owned(), place: "except for `gl_FragCoord`" };
            self.report(error, declarator.tokens);
        }
        if is_coordinate {
            // Only the first declaration precedes all uses.
            if self.coordinate_layout.is_none() && self.is_used_here(id) {
                self.report(SemanticError::UsedBefore { name: name.clone() }, declarator.tokens);
            }
            let layout = (found.origin_upper_left, found.pixel_center_integer);
            if let Some(other) = self.coordinate_layout.replace(layout)
                && other != layout
            {
                self.report(SemanticError::Redeclared { name: name.clone() }, declarator.tokens);
            }
        }
        let is_layer = builtin.name() == "gl_Layer";
        if found.viewport_relative && !is_layer {
            let error = SemanticError::Layout { name: "viewport_relative".to_owned(), place: "except for `gl_Layer`" };
            self.report(error, declarator.tokens);
        }
        if is_layer
            && let Some(other) = self.program.layout.viewport_relative.replace(found.viewport_relative)
            && other != found.viewport_relative
        {
            self.report(SemanticError::Redeclared { name: name.clone() }, declarator.tokens);
        }
        if found.depth_layout != 0 {
            if builtin.name() == "gl_FragDepth" {
                if self.is_used_here(id) {
                    self.report(SemanticError::UsedBefore { name: name.clone() }, declarator.tokens);
                }
                let depth = std::mem::replace(&mut self.program.layout.depth, found.depth_layout);
                if depth != 0 && depth != found.depth_layout {
                    self.report(self.other_declaration(name), declarator.tokens);
                }
            } else {
                let error = SemanticError::Layout { name: "depth_*".to_owned(), place: "except for `gl_FragDepth`" };
                self.report(error, declarator.tokens);
            }
        }
        self.program.layout.origin_upper_left |= found.origin_upper_left;
        self.program.layout.pixel_center_integer |= found.pixel_center_integer;
        let traits = found.traits;
        let is_member = variables::members_of("gl_in").any(|member| member == builtin.name());
        if is_member && self.redeclared_per_vertex.contains(&(self.program.stage == ShaderStage::Fragment)) {
            self.report(SemanticError::Redeclared { name: builtin.name().to_owned() }, declarator.tokens);
            return;
        }
        let is_sized = !matches!(self.program.types.get(ty), TypeData::Array { length: None, .. });
        if let Some(variable) = self.variable_mut(id) {
            variable.is_redeclared = true;
            variable.traits.invariant |= traits.invariant;
            variable.traits.centroid |= traits.centroid;
            variable.traits.interpolation = traits.interpolation;
            variable.traits.has_interpolation = traits.has_interpolation;
            if is_sized && !ty.is_error() {
                variable.ty = ty;
            }
        }
    }

    /// Checks a declaration of an array of the language: only one has a length, which is more than all indices so far.
    fn check_length(&mut self, id: VariableId, ty: TypeId, tokens: TokenRange) -> bool {
        let variable = self.program.variable(id);
        let TypeData::Array { length: earlier, .. } = self.program.types.get(variable.ty) else { return true };
        let TypeData::Array { length, .. } = self.program.types.get(ty) else { return true };
        let index = variable.max_index.filter(|&index| length.is_some_and(|length| index >= length));
        let error = match (earlier, index, length) {
            (Some(_), ..) => SemanticError::Redeclared { name: self.spelling(variable.name) },
            (None, Some(index), Some(length)) => {
                SemanticError::IndexRange { index: index.into(), ty: self.type_name(ty), length }
            }
            _ => return true,
        };
        self.report(error, tokens);
        false
    }

    /// Adds qualifiers to declared names, or to the shader.
    pub(super) fn requalify(&mut self, found: &Qualifiers, names: &[(Symbol, TokenRange)], tokens: TokenRange) {
        if names.is_empty() {
            self.default_layouts(found, tokens);
        } else {
            self.check_layouts(found, Places::OTHER);
        }
        if !names.is_empty() && self.function.is_some() && found.traits.invariant {
            let error =
                SemanticError::QualifierNotAllowed { qualifier: "invariant".to_owned(), place: "in a function" };
            self.report(error, tokens);
            return;
        }
        for &(name, at) in names {
            let id = match self.scopes.find(name) {
                Some(&Entity::Variable(id)) => id,
                Some(_) => {
                    let name = self.spelling(name);
                    self.report(SemanticError::NotAVariable { name }, at);
                    continue;
                }
                None => match self.builtin(name, at) {
                    Some(id) => id,
                    None => {
                        self.undeclared(name, at);
                        continue;
                    }
                },
            };
            let is_outer = self.function.is_some() && self.scopes.find_here(name, &Entity::Variable(id)).is_none();
            if found.traits.precise && is_outer {
                let place = "in a function, for a variable of an outer scope";
                self.report(SemanticError::QualifierNotAllowed { qualifier: "precise".to_owned(), place }, at);
                continue;
            }
            self.make_invariant(id, found, at);
        }
    }

    fn make_invariant(&mut self, id: VariableId, found: &Qualifiers, tokens: TokenRange) {
        let variable = self.program.variable(id);
        if found.traits.invariant && (variable.is_read || variable.is_written) {
            let name = self.spelling(variable.name);
            self.report(SemanticError::UsedBefore { name }, tokens);
            return;
        }
        let is_allowed = match variable.storage {
            Storage::Output => true,
            Storage::Input => self.program.stage != ShaderStage::Vertex && !self.version().is_at_least(NEVER, 300),
            Storage::Builtin(builtin) => {
                builtin.is_writable()
                    || matches!(builtin.role(self.unit.version), Role::Input(_) | Role::SystemValue(_))
                        && self.program.stage != ShaderStage::Vertex
            }
            _ => found.traits.precise && !found.traits.invariant,
        };
        if !is_allowed {
            let error = SemanticError::QualifierNotAllowed {
                qualifier: "invariant".to_owned(),
                place: "for a variable that is not an output",
            };
            self.report_with(error, tokens, self.program.variable(id).tokens, "its declaration");
            return;
        }
        if let Some(variable) = self.variable_mut(id) {
            variable.traits.invariant |= found.traits.invariant;
            variable.traits.precise |= found.traits.precise;
            variable.traits.centroid |= found.traits.centroid;
        }
    }

    /// The variable of the language with a name, if the version has it.
    pub(super) fn builtin(&mut self, name: Symbol, tokens: TokenRange) -> Option<VariableId> {
        if let Some(array) = self.vertex_array(name, tokens) {
            return Some(array);
        }
        if self.hidden_members.contains(&name) {
            return None;
        }
        let spelling = self.spelling(name);
        match self.find_builtin(&spelling) {
            Found::Unknown => None,
            Found::Variable { variable, ty, removed } => Some(self.add_builtin(name, variable, ty, removed, tokens)),
            found => Some(self.report_unavailable(name, &spelling, found, tokens)),
        }
    }

    /// Looks up a variable of the language.
    pub(super) fn find_builtin(&mut self, spelling: &str) -> Found {
        let UnitInfo { version, stage, enabled, constants, .. } = self.unit;
        let types = &mut self.program.types;
        variables::lookup(spelling, version, enabled, stage, constants, types, self.interner)
    }

    /// Reports a variable that the version or stage lacks.
    pub(super) fn report_unavailable(
        &mut self,
        name: Symbol,
        spelling: &str,
        found: Found,
        tokens: TokenRange,
    ) -> VariableId {
        let version = self.unit.version;
        let (what, shown) = (format!("`{}`", self.interner.spelling(name)), version.to_string());
        let error = match found {
            Found::Unavailable(since) => {
                SemanticError::NeedsVersion { what, version: shown, remedy: since.remedy(version) }
            }
            Found::Compatibility => {
                let remedy = "needs the compatibility profile: `#version 150 compatibility`".to_owned();
                SemanticError::NeedsVersion { what, version: shown, remedy }
            }
            Found::Removed(since) => {
                SemanticError::NeedsVersion { what, version: shown, remedy: format!("version {since} removed it") }
            }
            Found::OtherStage(stages) => SemanticError::WrongStage { what, stages: stages.to_string() },
            Found::Unknown | Found::Variable { .. } => {
                SemanticError::Undeclared { name: spelling.to_owned(), near: None }
            }
        };
        self.unavailable(name, error, tokens)
    }

    /// Adds a variable of the language at its first use.
    fn add_builtin(
        &mut self,
        name: Symbol,
        variable: BuiltinVariable,
        ty: TypeId,
        removed: Option<u16>,
        tokens: TokenRange,
    ) -> VariableId {
        let version = self.unit.version;
        if let Some(removed) = removed {
            let version = format!("{}.{:02}", removed / 100, removed % 100);
            let what = format!("`{}`", self.interner.spelling(name));
            self.report(SemanticError::Deprecated { what, version }, tokens);
        }
        let id = self.add_variable(name, ty, Storage::Builtin(variable), TokenRange::default());
        if variable.name() == "gl_WorkGroupSize" {
            self.set_workgroup_size(id, ty, tokens);
        }
        if let Role::Constant(values) = variable.role(version) {
            let chosen = self.unit.constants.get(variable.name()).map(|value| [value]);
            let values = chosen.as_ref().map_or(values, |value| value);
            let bits = values.iter().map(|&value| u64::from(value as u32)).collect();
            let value = self.add_constant(crate::program::Constant { ty, bits });
            if let Some(variable) = self.variable_mut(id) {
                variable.value = Some(value);
            }
        }
        let is_second_source = variable.name().starts_with("gl_SecondaryFrag");
        if is_second_source && let Some(variable) = self.variable_mut(id) {
            variable.traits.index = Some(1);
        }
        self.program.globals.push(id);
        self.scopes.declare_builtin(name, Entity::Variable(id));
        id
    }

    /// Gives `gl_WorkGroupSize` its value, which the layout before states.
    fn set_workgroup_size(&mut self, id: VariableId, ty: TypeId, tokens: TokenRange) {
        let sizes = self.program.layout.stage.local_size;
        if sizes == [None; 3] {
            self.report(SemanticError::MissingLayout { what: "the size of workgroups before this use" }, tokens);
            return;
        }
        let bits = sizes.iter().map(|size| u64::from(size.unwrap_or(1))).collect();
        let value = self.add_constant(crate::program::Constant { ty, bits });
        if let Some(variable) = self.variable_mut(id) {
            variable.value = Some(value);
        }
    }

    /// Declares a name of the language that the version lacks, so that the error is reported once.
    fn unavailable(&mut self, name: Symbol, error: SemanticError, tokens: TokenRange) -> VariableId {
        self.report(error, tokens);
        let id = self.add_variable(name, TypeId::ERROR, Storage::Global, tokens);
        self.scopes.declare_builtin(name, Entity::Variable(id));
        id
    }

    /// Notes the use of a member of `gl_PerVertex`. Those of arrays have names with the array.
    fn note_member_use(&mut self, builtin: BuiltinVariable) {
        let (name, stage) = (builtin.name(), self.program.stage);
        match builtin.role(self.program.version) {
            Role::Input(_) if name.starts_with("gl_in.") => self.note_vertex_use(true),
            Role::Output(_) if name.starts_with("gl_out.") => self.note_vertex_use(false),
            Role::Output(_)
                if stage != ShaderStage::Fragment && variables::members_of("gl_out").any(|member| member == name) =>
            {
                self.note_vertex_use(false);
            }
            _ => {}
        }
    }

    /// Reads a variable: an expression of its value.
    pub(super) fn read(&mut self, id: VariableId, tokens: TokenRange) -> ExprId {
        let variable = self.program.variable(id);
        let (ty, value) = (variable.ty, variable.value);
        let is_constant = match variable.storage {
            Storage::Const => true,
            Storage::Builtin(_) => value.is_some(),
            _ => false,
        };
        if matches!(self.program.types.get(ty), TypeData::Array { .. }) {
            *self.whole_uses.entry(id).or_default() += 1;
        }
        if let Storage::Builtin(builtin) = variable.storage {
            self.note_member_use(builtin);
        }
        self.reads.push((id, tokens));
        let expr = self.add(ExprKind::Variable(id), ty, tokens, &[]);
        if is_constant && let Some(expr) = self.program.arenas.expr.get_mut(expr.0 as usize) {
            expr.constant = value;
        }
        expr
    }
}
