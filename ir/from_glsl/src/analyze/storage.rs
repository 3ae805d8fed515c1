//! Storage of variables by their qualifiers, and the types and layouts that each storage allows.

use tgsi_ir::shader::ShaderStage;

use super::qualifiers::{Qualifiers, StorageQualifier};
use super::{Analyzer, SemanticError};
use crate::extension::Extension;
use crate::keyword::Keyword;
use crate::program::{Interpolation, Storage};
use crate::token::TokenRange;
use crate::types::{Scalar, TypeData, TypeId};
use crate::version::{NEVER, Since};

/// Versions of `layout(location = ...)` for vertex inputs and fragment outputs.
const ATTRIBUTE_LOCATIONS: Since = Since::new(330, 300).or(&[
    Extension::ARBExplicitAttribLocation,
    Extension::ARBSeparateShaderObjects,
    Extension::EXTSeparateShaderObjects,
]);

/// Versions of `layout(location = ...)` between stages.
const VARYING_LOCATIONS: Since =
    Since::new(410, 310).or(&[Extension::ARBSeparateShaderObjects, Extension::EXTSeparateShaderObjects]);

/// Versions of `layout(location = ...)` for uniforms.
const UNIFORM_LOCATIONS: Since = Since::new(430, 310).or(&[Extension::ARBExplicitUniformLocation]);

/// Versions with reads of the framebuffer.
const FETCHES: Since = Since::new(NEVER, NEVER)
    .or(&[Extension::EXTShaderFramebufferFetch, Extension::EXTShaderFramebufferFetchNonCoherent]);

/// Versions with reads of the framebuffer in the order of primitives.
const COHERENT_FETCHES: Since = Since::new(NEVER, NEVER).or(&[Extension::EXTShaderFramebufferFetch]);

/// Versions with vertex inputs of doubles.
const DOUBLE_INPUTS: Since = Since::new(410, NEVER).or(&[Extension::ARBVertexAttrib64bit]);

/// Versions with inputs of integers.
const INTEGER_INPUTS: Since = Since::new(130, 300).or(&[Extension::EXTGpuShader4]);

impl Analyzer<'_> {
    /// The storage of a variable by its qualifiers.
    pub(super) fn storage_of(&mut self, found: &Qualifiers, is_global: bool, tokens: TokenRange) -> Storage {
        let at_entry = self.program.stage == ShaderStage::Vertex;
        let storage = match found.storage {
            StorageQualifier::None if is_global => Storage::Global,
            StorageQualifier::None => Storage::Local,
            StorageQualifier::Const => Storage::Const,
            StorageQualifier::Uniform => Storage::Uniform,
            StorageQualifier::Attribute | StorageQualifier::In => Storage::Input,
            StorageQualifier::Out => Storage::Output,
            StorageQualifier::Varying if self.program.stage == ShaderStage::Fragment => Storage::Input,
            StorageQualifier::Varying => Storage::Output,
            StorageQualifier::InOut if self.has_fetch() => {
                self.check_coherence(found, tokens);
                Storage::Output
            }
            StorageQualifier::InOut => Storage::Global,
            StorageQualifier::Shared if self.program.stage == ShaderStage::Compute => Storage::Shared,
            StorageQualifier::Buffer | StorageQualifier::Shared => {
                let (qualifier, place) = match found.storage {
                    StorageQualifier::Buffer => ("buffer", "outside of a block"),
                    _ => ("shared", "for a variable of this stage"),
                };
                let error = SemanticError::QualifierNotAllowed { qualifier: qualifier.to_owned(), place };
                self.report(error, found.storage_tokens);
                Storage::Global
            }
        };
        if !is_global && !matches!(storage, Storage::Local | Storage::Const) {
            let error = SemanticError::QualifierNotAllowed {
                qualifier: storage_name(found.storage).to_owned(),
                place: "in a function",
            };
            self.report(error, found.storage_tokens);
            return Storage::Local;
        }
        if self.program.stage == ShaderStage::Compute && matches!(storage, Storage::Input | Storage::Output) {
            let qualifier = storage_name(found.storage).to_owned();
            let place = "for a variable of compute shaders";
            self.report(SemanticError::QualifierNotAllowed { qualifier, place }, found.storage_tokens);
        }
        self.check_interpolation(found, storage, tokens);
        let has_invariant_inputs = !(at_entry || self.version().is_at_least(NEVER, 300));
        if found.traits.invariant && storage != Storage::Output && !(storage == Storage::Input && has_invariant_inputs)
        {
            let error = SemanticError::QualifierNotAllowed {
                qualifier: "invariant".to_owned(),
                place: "for a variable that is not an output",
            };
            self.report(error, tokens);
        }
        self.check_location(found, storage, tokens);
        self.check_patch(found, storage, tokens);
        if found.origin_upper_left || found.pixel_center_integer {
            let name = if found.origin_upper_left { "origin_upper_left" } else { "pixel_center_integer" };
            let error = SemanticError::Layout { name: name.to_owned(), place: "except for `gl_FragCoord`" };
            self.report(error, tokens);
        }
        if found.noncoherent && found.storage != StorageQualifier::InOut {
            let place = "except for an `inout` output";
            self.report(SemanticError::Layout { name: "noncoherent".to_owned(), place }, tokens);
        }
        if found.viewport_relative {
            let error = SemanticError::Layout { name: "viewport_relative".to_owned(), place: "except for `gl_Layer`" };
            self.report(error, tokens);
        }
        if found.depth_layout != 0 {
            let error = SemanticError::Layout { name: "depth_*".to_owned(), place: "except for `gl_FragDepth`" };
            self.report(error, tokens);
        }
        storage
    }

    /// Whether outputs of the stage may begin as the value of the framebuffer.
    pub(super) fn has_fetch(&self) -> bool {
        self.program.stage == ShaderStage::Fragment && self.has(&FETCHES)
    }

    /// Checks that a read of the framebuffer is qualified if the extension has only reads without order.
    pub(super) fn check_coherence(&mut self, found: &Qualifiers, tokens: TokenRange) {
        if !found.noncoherent {
            self.require(&COHERENT_FETCHES, "a read of the framebuffer without `layout(noncoherent)`", tokens);
        }
    }

    /// Checks qualifiers of the interpolation between stages.
    pub(super) fn check_interpolation(&mut self, found: &Qualifiers, storage: Storage, tokens: TokenRange) {
        let stage = self.program.stage;
        let place = match storage {
            Storage::Input if stage == ShaderStage::Vertex => Some("for a vertex input"),
            Storage::Output if stage == ShaderStage::Fragment => Some("for a fragment output"),
            Storage::Input | Storage::Output => None,
            _ => Some("for a variable that is not an input or output"),
        };
        let is_old = found.storage == StorageQualifier::Varying
            && self.version().number >= 130
            && !self.unit.enabled.contains(Extension::EXTGpuShader4);
        let of_interpolation = if is_old { Some("with `varying`") } else { place };
        let all = [
            (found.interpolation, of_interpolation),
            (found.traits.centroid.then_some(Keyword::Centroid), place),
            (found.traits.sample.then_some(Keyword::Sample), place),
        ];
        for (keyword, place) in all {
            if let (Some(keyword), Some(place)) = (keyword, place) {
                let qualifier = keyword.name().to_owned();
                self.report(SemanticError::QualifierNotAllowed { qualifier, place }, tokens);
                return;
            }
        }
    }

    /// Whether a struct has fields that are structs or arrays.
    fn has_aggregate_fields(&self, ty: TypeId) -> bool {
        let types = &self.program.types;
        let is_aggregate = |ty| matches!(types.get(ty), TypeData::Struct(_) | TypeData::Array { .. });
        types.fields(ty).iter().any(|field| is_aggregate(field.ty))
    }

    /// Checks the explicit location of a variable.
    fn check_location(&mut self, found: &Qualifiers, storage: Storage, tokens: TokenRange) {
        let stage = self.program.stage;
        if found.traits.index.is_some() && (found.traits.location.is_none() || storage != Storage::Output) {
            let place = "without `location`, or except for an output of fragment shaders";
            self.report(SemanticError::Layout { name: "index".to_owned(), place }, tokens);
        }
        if let Some(component) = found.traits.component {
            if found.traits.location.is_none() {
                let place = "without `location`";
                self.report(SemanticError::Layout { name: "component".to_owned(), place }, tokens);
            } else if component > 3 {
                let needed = "a value from 0 to 3";
                self.report(SemanticError::LayoutValue { name: "component".to_owned(), needed }, tokens);
            }
        }
        if found.traits.location.is_none() {
            return;
        }
        let (since, what) = match storage {
            Storage::Input if stage == ShaderStage::Vertex => (&ATTRIBUTE_LOCATIONS, "the location of a vertex input"),
            Storage::Output if stage == ShaderStage::Fragment => {
                (&ATTRIBUTE_LOCATIONS, "the location of a fragment output")
            }
            Storage::Input | Storage::Output => (&VARYING_LOCATIONS, "a location between stages"),
            Storage::Uniform => (&UNIFORM_LOCATIONS, "the location of a uniform"),
            _ => {
                let place = "for a variable that is not an input, output or uniform";
                self.report(SemanticError::Layout { name: "location".to_owned(), place }, tokens);
                return;
            }
        };
        let is_old = matches!(found.storage, StorageQualifier::Attribute | StorageQualifier::Varying);
        if is_old && self.version().number < 330 {
            let place = "with `attribute` and `varying`";
            self.report(SemanticError::Layout { name: "location".to_owned(), place }, tokens);
            return;
        }
        self.require(since, what, tokens);
    }

    /// Checks that the components of a variable from its first one on are in its location.
    pub(super) fn check_component(&mut self, ty: TypeId, found: &Qualifiers, tokens: TokenRange) {
        let Some(component) = found.traits.component.filter(|_| !ty.is_error()) else { return };
        let types = &self.program.types;
        let Some((scalar, count)) = types.as_vector(types.without_arrays(ty)) else {
            let place = "for a matrix or struct";
            self.report(SemanticError::Layout { name: "component".to_owned(), place }, tokens);
            return;
        };
        let is_wide = scalar.is_wide();
        let words = u32::from(count) * if is_wide { 2 } else { 1 };
        let needed = match () {
            () if is_wide && count > 2 => "no value: the type takes more than a location",
            () if is_wide && component % 2 != 0 => "0 or 2",
            () if component.saturating_add(words) > 4 => "a component from which on the type fits",
            () => return,
        };
        self.report(SemanticError::LayoutValue { name: "component".to_owned(), needed }, tokens);
    }

    /// Checks the type of a variable against its storage.
    pub(super) fn checked_type(
        &mut self,
        ty: TypeId,
        storage: Storage,
        found: &Qualifiers,
        tokens: TokenRange,
    ) -> TypeId {
        if ty.is_error() {
            return ty;
        }
        let types = &self.program.types;
        let summary = types.summary(ty);
        let name = || types.name(ty, self.interner);
        let allowed = |what: &'static str, hint: Option<&'static str>| {
            let error = SemanticError::TypeNotAllowed { what, ty: name(), hint };
            Some(error)
        };
        let inner = types.without_arrays(ty);
        let is_struct = matches!(types.get(inner), TypeData::Struct(_));
        let scalar = types.scalar(inner);
        let version = self.unit.version;
        let is_subroutine = matches!(types.get(inner), TypeData::Subroutine(_));
        let error = if types.get(inner) == TypeData::Void {
            allowed("a variable", None)
        } else if is_subroutine != found.is_subroutine || is_subroutine && storage != Storage::Uniform {
            Some(SemanticError::Subroutine { what: "`subroutine uniform` and a subroutine type need each other" })
        } else if summary.has_opaque && storage != Storage::Uniform {
            allowed(
                "a variable that is not a uniform",
                Some("declare samplers, images and counters as `uniform`, or as parameters"),
            )
        } else if summary.registers > self.unit.max_registers && !may_be_unused(storage) {
            Some(self.too_large())
        } else if matches!(storage, Storage::Input | Storage::Output) {
            let attribute = storage == Storage::Input && self.program.stage == ShaderStage::Vertex;
            let old = matches!(found.storage, StorageQualifier::Attribute | StorageQualifier::Varying);
            let is_color = storage == Storage::Output && self.program.stage == ShaderStage::Fragment;
            let of_vertex = match types.get(ty) {
                TypeData::Array { element, .. } if self.is_per_vertex(storage, found.traits.patch) => element,
                _ => ty,
            };
            match scalar {
                _ if is_struct && attribute => allowed("a vertex attribute", None),
                _ if is_struct && is_color => allowed("an output of fragment shaders", None),
                _ if is_color && types.as_matrix(inner).is_some() => {
                    allowed("an output of fragment shaders", Some("write the columns to several outputs"))
                }
                _ if is_struct && !version.is_at_least(150, 300) => {
                    allowed("an input or output", Some("structs pass between stages from #version 150 on"))
                }
                _ if is_struct && version.is_es() && (inner != of_vertex || self.has_aggregate_fields(of_vertex)) => {
                    allowed(
                        "an input or output",
                        Some("a struct between stages cannot be in an array, or have fields of structs and arrays"),
                    )
                }
                Some(Scalar::Bool) => allowed("an input or output", None),
                Some(Scalar::Int | Scalar::Uint)
                    if old && attribute && version.number < 120 && !self.has(&INTEGER_INPUTS) =>
                {
                    allowed("a vertex attribute", Some("integers are inputs from #version 130 on"))
                }
                Some(Scalar::Int | Scalar::Uint) if old && !attribute && !self.has(&INTEGER_INPUTS) => {
                    allowed("a varying", Some("integers pass between stages from #version 130 on"))
                }
                _ if summary.has_flat
                    && self.program.stage == ShaderStage::Fragment
                    && storage == Storage::Input
                    && found.traits.interpolation != Interpolation::Flat =>
                {
                    allowed("an interpolated input", Some("write `flat` before it"))
                }
                Some(Scalar::Int64 | Scalar::Uint64) if attribute => allowed("a vertex attribute", None),
                Some(Scalar::Double | Scalar::Int64 | Scalar::Uint64) if is_color => {
                    allowed("an output of fragment shaders", None)
                }
                Some(Scalar::Double) if attribute && !self.has(&DOUBLE_INPUTS) => {
                    allowed("a vertex attribute", Some("doubles are inputs from #version 410 on"))
                }
                _ if attribute && summary.has_array && (version.is_es() || version.number < 150) => {
                    allowed("a vertex attribute", Some("declare the elements one by one"))
                }
                _ => None,
            }
        } else {
            None
        };
        let warns_about_integers = error.is_none()
            && found.storage == StorageQualifier::Attribute
            && scalar.is_some_and(Scalar::is_integer)
            && !self.has(&INTEGER_INPUTS);
        match error {
            Some(error) => {
                self.report(error, tokens);
                TypeId::ERROR
            }
            None => {
                if warns_about_integers {
                    let version = version.to_string();
                    self.report(SemanticError::Lenient { what: "an integer attribute", version }, tokens);
                }
                if matches!(self.program.types.get(ty), TypeData::Array { length: None, .. })
                    && (version.is_es() || self.function.is_some() && storage == Storage::Const)
                {
                    self.report(SemanticError::Unsized { what: "this variable" }, tokens);
                    return TypeId::ERROR;
                }
                ty
            }
        }
    }
}

impl Analyzer<'_> {
    /// The error of a variable with more registers than the limit.
    pub(super) fn too_large(&self) -> SemanticError {
        SemanticError::Limit { what: "registers of a variable", limit: self.unit.max_registers.into() }
    }
}

/// Whether only the accesses to a variable count as its uses.
pub(super) fn may_be_unused(storage: Storage) -> bool {
    matches!(storage, Storage::Local | Storage::Global)
}

/// The word of a storage qualifier.
pub(super) fn storage_name(storage: StorageQualifier) -> &'static str {
    match storage {
        StorageQualifier::None => "",
        StorageQualifier::Const => "const",
        StorageQualifier::Uniform => "uniform",
        StorageQualifier::Attribute => "attribute",
        StorageQualifier::Varying => "varying",
        StorageQualifier::In => "in",
        StorageQualifier::Out => "out",
        StorageQualifier::InOut => "inout",
        StorageQualifier::Buffer => "buffer",
        StorageQualifier::Shared => "shared",
    }
}
