//! Rules on interface blocks and their members: storage, qualifiers, layouts and types.

use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::shader::ShaderStage;

use super::blocks::is_memory;
use super::layouts::Places;
use super::qualifiers::{Qualifiers, StorageQualifier};
use super::storage::storage_name;
use super::{Analyzer, SemanticError};
use crate::ast::Declarator;
use crate::extension::Extension as E;
use crate::keyword::Keyword;
use crate::program::Storage;
use crate::token::TokenRange;
use crate::types::{TypeData, TypeId};
use crate::version::Since;

/// Versions of `layout(location = ...)` for blocks and their members.
const BLOCK_LOCATIONS: Since = Since::new(440, 320).or(&[
    E::ARBEnhancedLayouts,
    E::ARBSeparateShaderObjects,
    E::OESShaderIoBlocks,
    E::EXTShaderIoBlocks,
]);

impl Analyzer<'_> {
    /// The storage of a block, if it may have its qualifiers.
    pub(super) fn block_storage(&mut self, found: &Qualifiers, tokens: TokenRange) -> Option<Storage> {
        let stage = self.program.stage;
        let is_compute = stage == ShaderStage::Compute;
        let (storage, place) = match found.storage {
            StorageQualifier::Uniform => (Some(Storage::Uniform), None),
            StorageQualifier::Buffer => (Some(Storage::Buffer), None),
            StorageQualifier::In if stage == ShaderStage::Vertex || is_compute => {
                (None, Some("for a block of this stage"))
            }
            StorageQualifier::Out if stage == ShaderStage::Fragment || is_compute => {
                (None, Some("for a block of this stage"))
            }
            StorageQualifier::In => (Some(Storage::Input), None),
            StorageQualifier::Out => (Some(Storage::Output), None),
            // The parser reports blocks without a qualifier.
            StorageQualifier::None => (None, None),
            _ => (None, Some("for an interface block")),
        };
        if let Some(place) = place {
            let qualifier = storage_name(found.storage).to_owned();
            self.report(SemanticError::QualifierNotAllowed { qualifier, place }, found.storage_tokens);
            return None;
        }
        let storage = storage?;
        self.check_interpolation(found, storage, tokens);
        self.check_patch(found, storage, tokens);
        let keyword = [
            found.precision,
            found.traits.invariant.then_some(Keyword::Invariant),
            found.traits.precise.then_some(Keyword::Precise),
        ];
        if let Some(keyword) = keyword.into_iter().flatten().next() {
            let qualifier = keyword.name().to_owned();
            let place = "for an interface block";
            self.report(SemanticError::QualifierNotAllowed { qualifier, place }, tokens);
        }
        self.check_block_layouts(found, storage, tokens);
        self.check_block_access(found, storage, tokens);
        self.check_block_format(found, tokens);
        Some(storage)
    }

    fn check_block_layouts(&mut self, found: &Qualifiers, storage: Storage, tokens: TokenRange) {
        let is_memory = is_memory(storage);
        let wrong = match () {
            () if found.is_std430 && storage != Storage::Buffer => Some("std430"),
            () if found.traits.binding.is_some() && !is_memory => Some("binding"),
            () if found.traits.location.is_some() && is_memory => Some("location"),
            () if (found.packing.is_some() || found.row_major.is_some()) && !is_memory => Some("std140 or row_major"),
            () if found.align.is_some() && !is_memory => Some("align"),
            () => None,
        };
        if let Some(name) = wrong {
            self.report(SemanticError::Layout { name: name.to_owned(), place: "for this block" }, tokens);
        }
        if found.traits.location.is_some() {
            self.require(&BLOCK_LOCATIONS, "the location of a block", tokens);
        }
        self.check_align(found, tokens);
    }

    /// Checks that only storage blocks and their members have memory qualifiers.
    fn check_block_access(&mut self, found: &Qualifiers, storage: Storage, tokens: TokenRange) {
        if found.traits.access != AccessFlags::NONE && storage != Storage::Buffer {
            let qualifier = "a memory qualifier".to_owned();
            let place = "except for storage blocks and images";
            self.report(SemanticError::QualifierNotAllowed { qualifier, place }, tokens);
        }
    }

    /// Checks that a block or member, which holds no image, has no format.
    fn check_block_format(&mut self, found: &Qualifiers, tokens: TokenRange) {
        if let Some(format) = found.traits.format {
            let place = "for a variable that is not an image";
            self.report(SemanticError::Layout { name: format.name.to_owned(), place }, tokens);
        }
    }

    /// Checks that an alignment is a power of two.
    fn check_align(&mut self, found: &Qualifiers, tokens: TokenRange) {
        if found.align.is_some_and(|align| !align.is_power_of_two()) {
            let needed = "a power of two";
            self.report(SemanticError::LayoutValue { name: "align".to_owned(), needed }, tokens);
        }
    }

    /// The qualifiers of a member, with those of the block.
    pub(super) fn member_qualifiers(
        &mut self,
        mut found: Qualifiers,
        storage: Option<Storage>,
        block: &Qualifiers,
        tokens: TokenRange,
    ) -> Qualifiers {
        self.check_layouts(&found, Places::MEMBER);
        if found.storage != StorageQualifier::None && found.storage != block.storage {
            let qualifier = storage_name(found.storage).to_owned();
            let place = "for a member of this block";
            self.report(SemanticError::QualifierNotAllowed { qualifier, place }, found.storage_tokens);
        }
        found.storage = block.storage;
        let Some(storage) = storage else { return found };
        self.check_interpolation(&found, storage, tokens);
        if found.traits.patch && !block.traits.patch {
            let (qualifier, place) = ("patch".to_owned(), "for a member of this block");
            self.report(SemanticError::QualifierNotAllowed { qualifier, place }, tokens);
        }
        if found.traits.invariant && storage != Storage::Output {
            let (qualifier, place) = ("invariant".to_owned(), "for a member of this block");
            self.report(SemanticError::QualifierNotAllowed { qualifier, place }, tokens);
        }
        self.check_block_access(&found, storage, tokens);
        self.check_block_format(&found, tokens);
        found.traits.access = found.traits.access.union(block.traits.access);
        let is_memory = is_memory(storage);
        let wrong = match () {
            () if found.row_major.is_some() && !is_memory => Some("row_major"),
            () if (found.traits.offset.is_some() || found.align.is_some()) && !is_memory => Some("offset"),
            () if found.traits.location.is_some() && is_memory => Some("location"),
            () => None,
        };
        if let Some(name) = wrong {
            self.report(SemanticError::Layout { name: name.to_owned(), place: "for a member of this block" }, tokens);
        }
        if found.traits.location.is_some() {
            self.require(&BLOCK_LOCATIONS, "the location of a member", tokens);
        }
        if found.traits.stream.is_some_and(|stream| stream != block.traits.stream.unwrap_or(0)) {
            let (qualifier, other) = ("stream".to_owned(), "that of the block".to_owned());
            self.report(SemanticError::QualifierConflict { qualifier, other }, tokens);
        }
        self.check_align(&found, tokens);
        if found.interpolation.is_none() {
            found.interpolation = block.interpolation;
            found.traits.interpolation = block.traits.interpolation;
        }
        found.traits.centroid |= block.traits.centroid;
        found.traits.sample |= block.traits.sample;
        found.traits.patch |= block.traits.patch;
        found.traits.stream = found.traits.stream.or(block.traits.stream);
        found
    }

    /// Checks the type of a member.
    pub(super) fn member_type(
        &mut self,
        ty: TypeId,
        storage: Option<Storage>,
        found: &Qualifiers,
        declarator: &Declarator,
        is_last: bool,
    ) -> TypeId {
        let types = &self.program.types;
        let inner = types.without_arrays(ty);
        if types.summary(ty).has_opaque || types.get(inner) == TypeData::Void {
            let (ty, hint) = (self.type_name(ty), None);
            self.report(SemanticError::TypeNotAllowed { what: "a member of a block", ty, hint }, declarator.tokens);
            return TypeId::ERROR;
        }
        match storage {
            Some(storage @ (Storage::Input | Storage::Output)) => {
                self.checked_type(ty, storage, found, declarator.tokens)
            }
            Some(storage) => {
                let is_open = matches!(types.get(ty), TypeData::Array { length: None, .. });
                let may_be_open = storage == Storage::Buffer && (is_last || !self.version().is_es());
                if is_open && !may_be_open {
                    self.report(SemanticError::Unsized { what: "a member of a block" }, declarator.tokens);
                    return TypeId::ERROR;
                }
                if self.check_size(ty, declarator.tokens) { ty } else { TypeId::ERROR }
            }
            None => ty,
        }
    }

    /// Checks the locations of members: all have one or none has, unless the block has one, and members of arrays of
    /// blocks have none.
    pub(super) fn check_member_locations(
        &mut self,
        ty: TypeId,
        storage: Storage,
        found: &Qualifiers,
        members: &[Qualifiers],
        tokens: TokenRange,
    ) {
        let stated = members.iter().filter(|member| member.traits.location.is_some()).count();
        if stated == 0 {
            return;
        }
        if found.traits.location.is_none() && stated < members.len() {
            let needed = "a value for all members or none, or one for the block";
            self.report(SemanticError::LayoutValue { name: "location".to_owned(), needed }, tokens);
        }
        let per_vertex = self.is_per_vertex(storage, found.traits.patch);
        let inner = match self.program.types.get(ty) {
            TypeData::Array { element, .. } if per_vertex => element,
            _ => ty,
        };
        if matches!(self.program.types.get(inner), TypeData::Array { .. }) {
            let place = "for a member of an array of blocks";
            self.report(SemanticError::Layout { name: "location".to_owned(), place }, tokens);
        }
    }
}
