//! Interface blocks: of uniforms, storage buffers, inputs and outputs.

use rustc_hash::FxHashMap;
use tgsi_ir::intrinsics::indices::AccessFlags;

use super::implied::ImpliedBlock;
use super::layouts::Places;
use super::qualifiers::Qualifiers;
use super::scopes::Entity;
use super::{Analyzer, SemanticError};
use crate::ast::{self, Declarator, List, Members, TypeName};
use crate::packing::align_up;
use crate::program::{Block, BlockId, ExprId, ExprKind, Member, Packing, Storage, Traits, VariableId};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{Field, StructType, TypeData, TypeId};

/// Members of a block. Each selection considers all.
const MAX_MEMBERS: usize = 4096;

/// A block in the source.
#[derive(Clone, Copy)]
pub(super) struct BlockSource {
    pub(super) name: Symbol,
    pub(super) members: List<Members>,
    pub(super) instance: Option<Declarator>,
    pub(super) tokens: TokenRange,
}

/// The fields of a block, and the qualifiers and layouts of each.
#[derive(Default)]
struct Declared {
    fields: Vec<Field>,
    qualifiers: Vec<Qualifiers>,
}

impl Declared {
    /// The offsets that members state.
    fn offsets(&self) -> Vec<Option<u32>> {
        self.qualifiers.iter().map(|own| own.traits.offset).collect()
    }
}

impl Analyzer<'_> {
    /// Analyses the declaration of a block.
    pub(super) fn block(&mut self, qualifiers: List<ast::Qualifier>, source: &BlockSource) {
        let found = self.qualifiers(qualifiers, true);
        if self.function.is_some() {
            let (qualifier, place) = ("a block".to_owned(), "in a function");
            self.report(SemanticError::QualifierNotAllowed { qualifier, place }, source.tokens);
        }
        self.check_layouts(&found, Places::BLOCK);
        if self.interner.spelling(source.name) == "gl_PerVertex" {
            self.redeclare_per_vertex(&found, source);
            return;
        }
        let storage = self.block_storage(&found, source.tokens);
        let declared = self.members(storage, &found, source);
        self.check_name(source.name, source.tokens);
        let Some(storage) = storage else {
            self.declare_broken(&declared, source);
            return;
        };
        if let Some(other) = self.blocks.get(&(source.name, storage_key(storage))).copied() {
            let first = self.program.block(other).tokens;
            let error = SemanticError::Redeclared { name: self.spelling(source.name) };
            self.report_with(error, source.tokens, first, "the first declaration");
        }
        // Blocks of several interfaces may have one name.
        let here = self.scopes.find_here(source.name, &Entity::Block(source.tokens));
        if !matches!(here, Some(Entity::Block(_))) {
            self.declare(source.name, Entity::Block(source.tokens), source.tokens);
        }
        if let Some(earlier) = self.earlier_block(storage, &declared.fields, &declared.offsets(), source) {
            self.blocks.insert((source.name, storage_key(storage)), earlier);
            self.declare_block(earlier, source);
            return;
        }
        self.add_block(storage, &found, declared, source);
    }

    /// Whether an expression is part of a member of a storage block with a memory qualifier.
    pub(super) fn has_access(&self, mut expr: ExprId, flag: AccessFlags) -> bool {
        loop {
            expr = match self.program.expr(expr).kind {
                ExprKind::Field(base, number) => {
                    let block = self.program.types.block_of(self.ty(base)).map(|block| self.program.block(block));
                    if let Some(member) = block.and_then(|block| block.members.get(number as usize)) {
                        return member.traits.access.contains(flag);
                    }
                    base
                }
                ExprKind::Index(base, _) | ExprKind::Swizzle(base, _) => base,
                _ => return false,
            };
        }
    }

    /// Reads the members of a block.
    fn members(&mut self, storage: Option<Storage>, block: &Qualifiers, source: &BlockSource) -> Declared {
        let ast = self.ast;
        let mut declared = Declared::default();
        let lists = ast.list(source.members);
        for (number, members) in lists.iter().enumerate() {
            let found = self.qualifiers(members.qualifiers, true);
            let found = self.member_qualifiers(found, storage, block, members.ty.tokens);
            if matches!(members.ty.name, TypeName::Struct(_)) {
                let error = SemanticError::TypeNotAllowed {
                    what: "a member",
                    ty: "a struct that is defined in it".to_owned(),
                    hint: Some("define the struct before"),
                };
                self.report(error, members.ty.tokens);
            }
            let base = self.type_spec(&members.ty);
            self.check_precision(base, found.precision.is_some(), members.ty.tokens);
            if found.precision.is_some() {
                self.check_has_precision(base, members.ty.tokens);
            }
            let declarators = ast.list(members.declarators);
            for (at, declarator) in declarators.iter().enumerate() {
                let is_last = number + 1 == lists.len() && at + 1 == declarators.len();
                let ty = self.declared_type(base, declarator.dimensions);
                self.check_name(declarator.name, declarator.tokens);
                if let Some(initializer) = declarator.initializer {
                    let initializer = self.expression(initializer);
                    let tokens = self.tokens_of(initializer);
                    self.report(SemanticError::InitializerNotAllowed { what: "a member of a block" }, tokens);
                }
                let ty = self.member_type(ty, storage, &found, declarator, is_last);
                self.check_component(ty, &found, declarator.tokens);
                if let Some(other) = declared.fields.iter().find(|other| other.name == declarator.name) {
                    let error = SemanticError::Redeclared { name: self.spelling(declarator.name) };
                    self.report_with(error, declarator.tokens, other.tokens, "the first declaration");
                    continue;
                }
                if declared.fields.len() >= MAX_MEMBERS {
                    let error = SemanticError::Limit { what: "members of a block", limit: MAX_MEMBERS as u64 };
                    self.report(error, declarator.tokens);
                    return declared;
                }
                let precision = self.precision_or_default(found.precision, ty);
                declared.fields.push(Field { name: declarator.name, ty, precision, tokens: declarator.tokens });
                declared.qualifiers.push(found.clone());
            }
        }
        declared
    }

    /// Declares the names of a block with errors.
    fn declare_broken(&mut self, declared: &Declared, source: &BlockSource) {
        let names: Vec<(Symbol, TokenRange)> = match source.instance {
            Some(instance) => vec![(instance.name, instance.tokens)],
            None => declared.fields.iter().map(|field| (field.name, field.tokens)).collect(),
        };
        for (name, tokens) in names {
            let id = self.add_variable(name, TypeId::ERROR, Storage::Global, tokens);
            self.declare(name, Entity::Variable(id), tokens);
        }
    }

    /// Adds a block, and declares its names.
    fn add_block(&mut self, storage: Storage, found: &Qualifiers, declared: Declared, source: &BlockSource) {
        let id = BlockId(self.program.arenas.block.len() as u32);
        let Declared { fields, qualifiers } = declared;
        let is_broken = fields.iter().any(|field| field.ty.is_error());
        let data = StructType { name: Some(source.name), fields, tokens: source.tokens, block: Some(id) };
        let structure = self.program.types.add_struct(data);
        let ty = match source.instance {
            Some(instance) => self.instance_type(structure, storage, found, &instance),
            None => {
                self.check_per_vertex_array(structure, storage, found, source.tokens);
                structure
            }
        };
        let (name, tokens) = match source.instance {
            Some(instance) => (instance.name, instance.tokens),
            None => (source.name, source.tokens),
        };
        let variable = self.add_variable(name, ty, storage, tokens);
        let defaults = if storage == Storage::Buffer { self.buffer_defaults } else { self.uniform_defaults };
        let packing = found.packing.unwrap_or(defaults.0);
        let row_major = found.row_major.unwrap_or(defaults.1);
        let mut block = Block {
            name: source.name,
            storage,
            packing,
            members: Vec::with_capacity(qualifiers.len()),
            variable,
            has_instance: source.instance.is_some(),
            size: 0,
            tokens: source.tokens,
        };
        let is_placed = found.align.is_some() || qualifiers.iter().any(|own| own.align.or(own.traits.offset).is_some());
        if is_placed && matches!(packing, Packing::Shared | Packing::Packed) && is_memory(storage) {
            let place = "for a block without `std140` or `std430`";
            self.report(SemanticError::Layout { name: "align or offset".to_owned(), place }, source.tokens);
        }
        self.check_member_locations(ty, storage, found, &qualifiers, source.tokens);
        for member in &qualifiers {
            let row_major = member.row_major.unwrap_or(row_major);
            block.members.push(Member { variable: None, row_major, offset: 0, traits: member.traits });
        }
        if is_memory(storage) {
            if !is_broken && self.has_implied_length(structure) {
                let (members, lengths) = (qualifiers.clone(), FxHashMap::default());
                self.implied.insert(id, ImpliedBlock { members, of_block: found.clone(), lengths });
            } else if !is_broken {
                self.place_members(structure, &mut block, &qualifiers, found);
            }
            self.program.globals.push(variable);
        } else {
            self.add_member_variables(ty, structure, found, &mut block, id);
            if storage == Storage::Output {
                let members = block.members.iter().zip(&qualifiers);
                let members = members.filter_map(|(member, own)| {
                    let id = member.variable?;
                    Some((id, own.capture, self.program.variable(id).ty))
                });
                let members: Vec<_> = members.collect();
                self.capture_members(&members, &found.capture, source.tokens);
            }
        }
        let is_per_vertex = self.is_per_vertex(storage, found.traits.patch);
        let access = block_access(found, &qualifiers);
        if let Some(variable) = self.variable_mut(variable) {
            variable.traits = found.traits;
            variable.traits.access = access;
            variable.block = Some(id);
            variable.is_per_vertex = is_per_vertex;
        }
        self.program.arenas.block.push(block);
        self.blocks.insert((source.name, storage_key(storage)), id);
        self.declare_block(id, source);
    }

    /// The type of the variable of a block.
    fn instance_type(
        &mut self,
        structure: TypeId,
        storage: Storage,
        found: &Qualifiers,
        instance: &Declarator,
    ) -> TypeId {
        let ty = self.declared_type(structure, instance.dimensions);
        if ty.is_error() {
            return structure;
        }
        let ty = self.sized_by_stage(ty, storage, found.traits.patch, instance.tokens);
        self.check_per_vertex_array(ty, storage, found, instance.tokens);
        let types = &self.program.types;
        let is_nested = matches!(types.get(ty), TypeData::Array { element, .. } if element != structure);
        if is_nested && is_memory(storage) && self.version().is_es() {
            let (ty, hint) = (self.type_name(ty), Some("arrays of blocks have one dimension in GLSL ES"));
            self.report(SemanticError::TypeNotAllowed { what: "a block", ty, hint }, instance.tokens);
            return structure;
        }
        let is_open = matches!(self.program.types.get(ty), TypeData::Array { length: None, .. });
        if is_open && !self.is_per_vertex(storage, found.traits.patch) {
            self.report(SemanticError::Unsized { what: "an array of blocks" }, instance.tokens);
            return structure;
        }
        if !self.check_size(ty, instance.tokens) {
            return structure;
        }
        ty
    }

    /// Places the members of a block in memory.
    pub(super) fn place_members(
        &mut self,
        structure: TypeId,
        block: &mut Block,
        own: &[Qualifiers],
        found: &Qualifiers,
    ) {
        let fields = self.program.types.fields(structure).to_vec();
        let mut end = 0u32;
        let packing = block.placement();
        for ((field, member), own) in fields.iter().zip(&mut block.members).zip(own) {
            let place = self.packer.place(&self.program.types, field.ty, packing, member.row_major);
            if let Some(offset) = own.traits.offset {
                let needed = match () {
                    () if offset % place.align != 0 => Some("a multiple of the alignment of the type"),
                    () if offset < end => Some("an offset behind the member before"),
                    () => None,
                };
                if let Some(needed) = needed {
                    let error = SemanticError::LayoutValue { name: "offset".to_owned(), needed };
                    self.report(error, field.tokens);
                }
            }
            // The smallest offset that both alignments divide.
            let align = place.align.max(own.align.or(found.align).unwrap_or(1));
            member.offset = align_up(own.traits.offset.unwrap_or(end), align);
            end = member.offset.saturating_add(place.bytes);
        }
        block.size = align_up(end, if packing == Packing::Std430 { 4 } else { 16 });
    }

    /// Adds the variables of the members of a block of inputs or outputs.
    fn add_member_variables(
        &mut self,
        ty: TypeId,
        structure: TypeId,
        found: &Qualifiers,
        block: &mut Block,
        id: BlockId,
    ) {
        let per_vertex = self.is_per_vertex(block.storage, found.traits.patch);
        let block_name = self.spelling(block.name);
        let fields = self.program.types.fields(structure).to_vec();
        let mut location = found.traits.location;
        for (field, member) in fields.iter().zip(&mut block.members) {
            let member_name = self.spelling(field.name);
            let name = self.interner.intern(&format!("{block_name}.{member_name}"));
            let dimensioned = self.with_dimensions_of(ty, field.ty);
            let variable = self.add_variable(name, dimensioned, block.storage, field.tokens);
            member.traits.location = member.traits.location.or(location);
            if let Some(first) = member.traits.location {
                let slots = self.program.types.summary(field.ty).registers.max(1);
                location = location.map(|_| first.saturating_add(slots));
            }
            let traits = Traits { precision: field.precision, ..member.traits };
            if let Some(variable) = self.variable_mut(variable) {
                variable.traits = traits;
                variable.block = Some(id);
                variable.is_per_vertex = per_vertex;
            }
            member.variable = Some(variable);
            self.program.globals.push(variable);
            if per_vertex {
                self.per_vertex.push(variable);
            }
        }
        if per_vertex {
            self.per_vertex.push(block.variable);
        }
    }

    /// A type inside the array dimensions of another type.
    pub(super) fn with_dimensions_of(&mut self, outer: TypeId, inner: TypeId) -> TypeId {
        let mut lengths = Vec::new();
        let mut ty = outer;
        while let TypeData::Array { element, length } = self.program.types.get(ty) {
            lengths.push(length);
            ty = element;
        }
        lengths.into_iter().rev().fold(inner, |ty, length| self.program.types.array(ty, length))
    }

    /// Declares the instance name of a block, or the names of its members.
    fn declare_block(&mut self, id: BlockId, source: &BlockSource) {
        let block = self.program.block(id);
        let variable = block.variable;
        if let Some(instance) = source.instance {
            self.declare(instance.name, Entity::Variable(variable), instance.tokens);
            return;
        }
        let members: Vec<Option<VariableId>> = block.members.iter().map(|member| member.variable).collect();
        let structure = self.program.variable(variable).ty;
        let fields = self.program.types.fields(structure).to_vec();
        for (number, (field, member)) in fields.iter().zip(members).enumerate() {
            let entity = match member {
                Some(member) => Entity::Variable(member),
                None => Entity::Member(variable, number as u32),
            };
            self.declare(field.name, entity, field.tokens);
        }
    }

    /// A member of a block in memory that has no instance name.
    pub(super) fn member_of(&mut self, variable: VariableId, number: u32, tokens: TokenRange) -> ExprId {
        let base = self.read(variable, tokens);
        let field = self.program.types.fields(self.ty(base)).get(number as usize).copied();
        match field {
            Some(field) if !field.ty.is_error() => self.add(ExprKind::Field(base, number), field.ty, tokens, &[base]),
            _ => self.error_expr(tokens),
        }
    }

    /// A member of an element of a block of inputs or outputs: its variable, with the indices of the block; `None` for
    /// blocks in memory.
    pub(super) fn block_member(
        &mut self,
        base: ExprId,
        block: BlockId,
        number: u32,
        tokens: TokenRange,
    ) -> Option<ExprId> {
        let variable = self.program.block(block).members.get(number as usize)?.variable?;
        let mut indices = Vec::new();
        let mut at = base;
        while let ExprKind::Index(of, index) = self.program.expr(at).kind {
            indices.push(index);
            at = of;
        }
        let mut expr = self.read(variable, tokens);
        for index in indices.into_iter().rev() {
            expr = self.index(expr, index, tokens);
        }
        Some(expr)
    }
}

/// The memory qualifiers of accesses to a block: those of the block, and of members all orders of accesses. Which members
/// may be written and read is checked for each.
fn block_access(found: &Qualifiers, members: &[Qualifiers]) -> AccessFlags {
    let ordered = AccessFlags::COHERENT.union(AccessFlags::VOLATILE);
    let of_members = members.iter().fold(0, |flags, member| flags | member.traits.access.0 & ordered.0);
    let all_readonly = members.iter().all(|member| member.traits.access.contains(AccessFlags::NON_WRITEABLE));
    let readonly = if all_readonly { AccessFlags::NON_WRITEABLE.0 } else { 0 };
    AccessFlags(found.traits.access.0 | of_members | readonly)
}

/// Whether a block is in memory.
pub(super) fn is_memory(storage: Storage) -> bool {
    matches!(storage, Storage::Uniform | Storage::Buffer)
}

/// The interface of a storage: names of blocks are separate for each.
pub(super) fn storage_key(storage: Storage) -> u8 {
    match storage {
        Storage::Uniform => 0,
        Storage::Buffer => 1,
        Storage::Input => 2,
        _ => 3,
    }
}
