//! Inputs and outputs with an element for each vertex, and `gl_PerVertex`: `gl_in`, `gl_out`, and its redeclaration.

use rustc_hash::FxHashSet;
use tgsi_ir::shader::ShaderStage;

use super::blocks::BlockSource;
use super::qualifiers::{Qualifiers, StorageQualifier};
use super::scopes::Entity;
use super::storage::storage_name;
use super::{Analyzer, SemanticError};
use crate::builtins::variables::{self, Found};
use crate::program::{Block, BlockId, ExprId, ExprKind, Member, Packing, Storage, VariableId};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{Field, StructType, TypeData, TypeId};

/// The elements of inputs of tessellation shaders: `gl_MaxPatchVertices`.
const PATCH_VERTICES: u32 = 32;

/// A member of `gl_PerVertex` that a shader redeclares.
struct Redeclared {
    name: Symbol,
    ty: TypeId,
    found: Qualifiers,
    tokens: TokenRange,
}

impl Analyzer<'_> {
    /// Whether variables of a storage have an element for each vertex.
    pub(super) fn is_per_vertex(&self, storage: Storage, is_patch: bool) -> bool {
        let is_arrayed = match self.program.stage {
            ShaderStage::Geometry | ShaderStage::TessEval => storage == Storage::Input,
            ShaderStage::TessCtrl => matches!(storage, Storage::Input | Storage::Output),
            _ => false,
        };
        is_arrayed && !is_patch
    }

    /// The number of vertices of inputs or outputs, if it is known yet.
    fn vertices(&self, is_input: bool) -> Option<u32> {
        let layout = &self.program.layout.stage;
        match (self.program.stage, is_input) {
            (ShaderStage::Geometry, true) => layout.input.and_then(crate::program::Primitive::vertices),
            (ShaderStage::TessCtrl, false) => layout.vertices,
            (ShaderStage::TessCtrl | ShaderStage::TessEval, true) => Some(PATCH_VERTICES),
            _ => None,
        }
    }

    /// The type of a variable with an element for each vertex, whose array gets the number of vertices.
    pub(super) fn sized_by_stage(
        &mut self,
        ty: TypeId,
        storage: Storage,
        is_patch: bool,
        tokens: TokenRange,
    ) -> TypeId {
        if !self.is_per_vertex(storage, is_patch) {
            return ty;
        }
        let TypeData::Array { element, length } = self.program.types.get(ty) else { return ty };
        // Without a layout yet, the first length counts.
        let is_input = storage == Storage::Input;
        if self.vertices(is_input).is_none()
            && let Some(found) = length
        {
            let vertices = *self.first_lengths.entry(is_input).or_insert(found);
            if found != vertices {
                self.report(SemanticError::VertexCount { found, vertices }, tokens);
            }
        }
        match (length, self.vertices(is_input)) {
            (None, Some(vertices)) => self.program.types.array(element, Some(vertices)),
            (Some(found), Some(vertices)) if found != vertices => {
                self.report(SemanticError::VertexCount { found, vertices }, tokens);
                ty
            }
            _ => ty,
        }
    }

    /// Checks that a variable with an element for each vertex is an array.
    pub(super) fn check_per_vertex_array(
        &mut self,
        ty: TypeId,
        storage: Storage,
        found: &Qualifiers,
        tokens: TokenRange,
    ) {
        let is_array = matches!(self.program.types.get(ty), TypeData::Array { .. } | TypeData::Error);
        if self.is_per_vertex(storage, found.traits.patch) && !is_array {
            let what = if storage == Storage::Input { "an input of this stage" } else { "an output of this stage" };
            let hint = Some("declare an array, with an element for each vertex");
            self.report(SemanticError::TypeNotAllowed { what, ty: self.type_name(ty), hint }, tokens);
        }
    }

    /// Checks the qualifier `patch`.
    pub(super) fn check_patch(&mut self, found: &Qualifiers, storage: Storage, tokens: TokenRange) {
        let is_allowed = matches!(
            (self.program.stage, storage),
            (ShaderStage::TessCtrl, Storage::Output) | (ShaderStage::TessEval, Storage::Input)
        );
        if found.traits.patch && !is_allowed {
            let (qualifier, place) = ("patch".to_owned(), "for a variable of this stage");
            self.report(SemanticError::QualifierNotAllowed { qualifier, place }, tokens);
        }
    }

    /// Gives inputs that were declared without a length the number of vertices of the input primitive.
    pub(super) fn size_inputs(&mut self, tokens: TokenRange) {
        self.size_vertices(true, tokens);
    }

    /// Gives outputs that were declared without a length the number of vertices of the output patch.
    pub(super) fn size_outputs(&mut self, tokens: TokenRange) {
        self.size_vertices(false, tokens);
    }

    fn size_vertices(&mut self, is_input: bool, tokens: TokenRange) {
        let Some(vertices) = self.vertices(is_input) else { return };
        for at in 0..self.per_vertex.len() {
            let Some(&id) = self.per_vertex.get(at) else { break };
            let variable = self.program.variable(id);
            let of_input = match variable.storage {
                Storage::Builtin(builtin) => !builtin.is_writable(),
                storage => storage == Storage::Input,
            };
            let TypeData::Array { element, length } = self.program.types.get(variable.ty) else { continue };
            if of_input != is_input {
                continue;
            }
            let (max_index, first) = (variable.max_index, variable.tokens);
            if let Some(found) = length.filter(|&length| length != vertices) {
                let error = SemanticError::VertexCount { found, vertices };
                self.report_with(error, tokens, first, "the declaration");
            } else if let Some(index) = max_index.filter(|&index| index >= vertices) {
                let ty = self.type_name(variable.ty);
                let error = SemanticError::IndexRange { index: index.into(), ty, length: vertices };
                self.report_with(error, tokens, first, "the declaration");
            }
            let sized = self.program.types.array(element, Some(vertices));
            if let Some(variable) = self.variable_mut(id) {
                variable.ty = sized;
            }
        }
    }

    /// The variable `gl_in` or `gl_out`, if the version and stage have it; its members exist then.
    pub(super) fn vertex_array(&mut self, name: Symbol, tokens: TokenRange) -> Option<VariableId> {
        let spelling = self.spelling(name);
        if !matches!(spelling.as_str(), "gl_in" | "gl_out") {
            return None;
        }
        // The position is in all versions of the array.
        match self.find_builtin(&format!("{spelling}.gl_Position")) {
            Found::Variable { .. } => {}
            found => return Some(self.report_unavailable(name, &spelling, found, tokens)),
        }
        let members: Vec<(Symbol, Found)> = variables::members_of(&spelling)
            .map(|member| (self.interner.intern(member), self.find_builtin(&format!("{spelling}.{member}"))))
            .collect();
        let members = members.into_iter().filter_map(|(member, found)| match found {
            Found::Variable { variable, ty, .. } => Some((member, variable, ty, TokenRange::default())),
            _ => None,
        });
        let members: Vec<_> = members.collect();
        Some(self.add_vertex_array(name, &members))
    }

    /// Adds `gl_in` or `gl_out` with some members.
    fn add_vertex_array(
        &mut self,
        name: Symbol,
        members: &[(Symbol, variables::BuiltinVariable, TypeId, TokenRange)],
    ) -> VariableId {
        let spelling = self.spelling(name);
        let is_input = spelling == "gl_in";
        let storage = if is_input { Storage::Input } else { Storage::Output };
        let vertices = self.vertices(is_input);
        let id = BlockId(self.program.arenas.block.len() as u32);
        let (mut fields, mut block_members) = (Vec::new(), Vec::new());
        for &(member, builtin, ty, tokens) in members {
            let of_vertices = self.program.types.array(ty, vertices);
            let full_name = format!("{spelling}.{}", self.interner.spelling(member));
            let full_name = self.interner.intern(&full_name);
            let variable = self.add_variable(full_name, of_vertices, Storage::Builtin(builtin), tokens);
            if let Some(variable) = self.variable_mut(variable) {
                variable.block = Some(id);
                variable.is_per_vertex = true;
            }
            self.program.globals.push(variable);
            self.per_vertex.push(variable);
            fields.push(Field { name: member, ty, precision: None, tokens });
            let traits = crate::program::Traits::default();
            block_members.push(Member { variable: Some(variable), row_major: false, offset: 0, traits });
        }
        let block_name = self.interner.intern("gl_PerVertex");
        let tokens = TokenRange::default();
        let data = StructType { name: Some(block_name), fields, tokens, block: Some(id) };
        let structure = self.program.types.add_struct(data);
        let ty = self.program.types.array(structure, vertices);
        let variable = self.add_variable(name, ty, storage, tokens);
        if let Some(variable) = self.variable_mut(variable) {
            variable.block = Some(id);
            variable.is_per_vertex = true;
        }
        self.per_vertex.push(variable);
        self.program.arenas.block.push(Block {
            name: block_name,
            storage,
            packing: Packing::default(),
            members: block_members,
            variable,
            has_instance: true,
            size: 0,
            tokens,
        });
        self.scopes.declare_builtin(name, Entity::Variable(variable));
        variable
    }

    /// A redeclaration of `gl_PerVertex`: the members that the shader uses, and the lengths of arrays.
    pub(super) fn redeclare_per_vertex(&mut self, found: &Qualifiers, source: &BlockSource) {
        let stage = self.program.stage;
        let is_input = found.storage == StorageQualifier::In;
        let is_array = self.is_per_vertex(if is_input { Storage::Input } else { Storage::Output }, false);
        let is_allowed = match (found.storage, stage) {
            (StorageQualifier::In, ShaderStage::Vertex | ShaderStage::Compute) => false,
            (StorageQualifier::Out, ShaderStage::Fragment | ShaderStage::Compute) => false,
            (StorageQualifier::In | StorageQualifier::Out, _) => true,
            _ => false,
        };
        if !is_allowed {
            let qualifier = storage_name(found.storage).to_owned();
            let place = "for `gl_PerVertex` in this stage";
            self.report(SemanticError::QualifierNotAllowed { qualifier, place }, source.tokens);
            return;
        }
        let expected = if is_input { "gl_in" } else { "gl_out" };
        match (is_array, source.instance) {
            (true, Some(instance))
                if self.interner.spelling(instance.name) == expected && instance.dimensions.len == 1 => {}
            (false, None) => {}
            _ => {
                self.report(SemanticError::Redeclared { name: "gl_PerVertex".to_owned() }, source.tokens);
                return;
            }
        }
        self.redeclared_per_vertex.insert(is_input);
        let members = self.redeclared_members(source);
        let types = members.iter().map(|member| (member.name, member.ty)).collect();
        if self.earlier_vertex_block(is_input, types, source.tokens).is_some() {
            return;
        }
        if let Some(names) = self.program.per_vertex.get_mut(usize::from(is_input)) {
            *names = Some(members.iter().map(|member| member.name).collect());
        }
        match source.instance {
            Some(instance) => self.redeclare_vertex_array(&instance, &members),
            None => self.redeclare_outputs(&members, is_input),
        }
    }

    fn redeclared_members(&mut self, source: &BlockSource) -> Vec<Redeclared> {
        let ast = self.ast;
        let mut all = Vec::new();
        for members in ast.list(source.members) {
            let found = self.qualifiers(members.qualifiers, true);
            let base = self.type_spec(&members.ty);
            for declarator in ast.list(members.declarators) {
                let ty = self.declared_type(base, declarator.dimensions);
                let (name, tokens) = (declarator.name, declarator.tokens);
                if all.iter().any(|other: &Redeclared| other.name == name) {
                    self.report(SemanticError::Redeclared { name: self.spelling(name) }, tokens);
                    continue;
                }
                all.push(Redeclared { name, ty, found: found.clone(), tokens });
            }
        }
        all
    }

    /// The type of a redeclared member: that of the language, or an array of its elements.
    fn agreed_type(&mut self, member: &Redeclared, of_language: TypeId, limit: Option<u32>) -> Option<TypeId> {
        let types = &self.program.types;
        let agrees = match (types.get(of_language), types.get(member.ty)) {
            (TypeData::Array { element, .. }, TypeData::Array { element: other, length }) => {
                if let (Some(length), Some(limit)) = (length, limit)
                    && length > limit
                {
                    let what = "elements of a variable of the language";
                    self.report(SemanticError::Limit { what, limit: limit.into() }, member.tokens);
                    return None;
                }
                element == other
            }
            _ => of_language == member.ty,
        };
        if agrees {
            return Some(member.ty);
        }
        if !member.ty.is_error() {
            let (found, expected) = (self.type_name(member.ty), self.type_name(of_language));
            let error = SemanticError::WrongType { what: "the member", found, expected, hint: None };
            self.report(error, member.tokens);
        }
        None
    }

    fn redeclare_vertex_array(&mut self, instance: &crate::ast::Declarator, members: &[Redeclared]) {
        let spelling = self.spelling(instance.name);
        if self.scopes.find(instance.name).is_some() {
            self.report(SemanticError::UsedBefore { name: spelling }, instance.tokens);
            return;
        }
        let mut known = Vec::new();
        for member in members {
            let name = self.spelling(member.name);
            match self.find_builtin(&format!("{spelling}.{name}")) {
                Found::Variable { variable, ty, .. } => {
                    let unit = self.unit;
                    let limit = variable.max_length(unit.version, unit.enabled, unit.constants);
                    if let Some(ty) = self.agreed_type(member, ty, limit) {
                        known.push((member.name, variable, ty, member.tokens));
                    }
                }
                _ => {
                    let ty = "gl_PerVertex".to_owned();
                    self.report(SemanticError::NoField { ty, name, near: None }, member.tokens);
                }
            }
        }
        // The dimension of the declaration, if it has one, is that of the stage.
        let dimensioned = self.declared_type(TypeId::FLOAT, instance.dimensions);
        let is_input = spelling == "gl_in";
        let storage = if is_input { Storage::Input } else { Storage::Output };
        let sized = self.sized_by_stage(dimensioned, storage, false, instance.tokens);
        let id = self.add_vertex_array(instance.name, &known);
        if let TypeData::Array { length: Some(length), .. } = self.program.types.get(sized)
            && self.vertices(is_input).is_none()
        {
            let ids = self.program.variable(id).block.map(|block| self.program.block(block).members.clone());
            let ids = ids.unwrap_or_default().into_iter().filter_map(|member| member.variable).chain([id]);
            for id in ids.collect::<Vec<_>>() {
                let TypeData::Array { element, .. } = self.program.types.get(self.program.variable(id).ty) else {
                    continue;
                };
                let ty = self.program.types.array(element, Some(length));
                if let Some(variable) = self.variable_mut(id) {
                    variable.ty = ty;
                }
            }
        }
    }

    /// Redeclares the members that are variables. Others are not available any more.
    fn redeclare_outputs(&mut self, members: &[Redeclared], is_input: bool) {
        let array = if is_input { "gl_in" } else { "gl_out" };
        let mut names: FxHashSet<Symbol> = FxHashSet::default();
        for member in members {
            let spelling = self.spelling(member.name);
            // Extensions have further members.
            let is_member = variables::members_of(array).any(|other| other == spelling)
                || matches!(spelling.as_str(), "gl_Layer" | "gl_ViewportIndex" | "gl_ViewportMask");
            let known = match self.scopes.find(member.name) {
                Some(&Entity::Variable(id)) => Some(id),
                _ if is_member => self.builtin(member.name, member.tokens),
                _ => None,
            };
            let Some(id) = known.filter(|_| is_member) else {
                let ty = "gl_PerVertex".to_owned();
                self.report(SemanticError::NoField { ty, name: spelling, near: None }, member.tokens);
                continue;
            };
            names.insert(member.name);
            let variable = self.program.variable(id);
            if variable.is_redeclared {
                self.report(SemanticError::Redeclared { name: spelling }, member.tokens);
                continue;
            }
            if variable.is_read || variable.is_written {
                self.report(SemanticError::UsedBefore { name: spelling }, member.tokens);
                continue;
            }
            let (of_language, limit) = (variable.ty, self.max_length(id));
            let Some(ty) = self.agreed_type(member, of_language, Some(limit)) else { continue };
            let traits = member.found.traits;
            if let Some(variable) = self.variable_mut(id) {
                variable.ty = ty;
                variable.traits.invariant |= traits.invariant;
                variable.traits.interpolation = traits.interpolation;
                variable.traits.has_interpolation = traits.has_interpolation;
            }
        }
        for member in variables::members_of(array) {
            let name = self.interner.intern(member);
            if names.contains(&name) {
                continue;
            }
            if let Some(&Entity::Variable(id)) = self.scopes.find(name) {
                let variable = self.program.variable(id);
                if variable.is_redeclared || variable.is_read || variable.is_written {
                    let tokens = variable.tokens;
                    self.report(SemanticError::UsedBefore { name: member.to_owned() }, tokens);
                }
            } else {
                self.hidden_members.insert(name);
            }
        }
    }

    /// Checks that a tessellation control shader writes only the outputs of its vertex.
    pub(super) fn check_own_vertex(&mut self, variable: VariableId, target: ExprId) -> bool {
        let data = self.program.variable(variable);
        if self.program.stage != ShaderStage::TessCtrl || !data.is_per_vertex {
            return true;
        }
        let mut outermost = None;
        let mut at = target;
        loop {
            at = match self.program.expr(at).kind {
                ExprKind::Index(base, index) => {
                    outermost = Some(index);
                    base
                }
                ExprKind::Field(base, _) | ExprKind::Swizzle(base, _) => base,
                _ => break,
            };
        }
        let is_own = outermost.is_some_and(|index| match self.program.expr(index).kind {
            ExprKind::Variable(id) => match self.program.variable(id).storage {
                Storage::Builtin(builtin) => builtin.name() == "gl_InvocationID",
                _ => false,
            },
            _ => false,
        });
        if !is_own {
            let what = "an output of another vertex".to_owned();
            let tokens = self.tokens_of(target);
            self.report(SemanticError::NotWritable { what }, tokens);
        }
        is_own
    }
}
