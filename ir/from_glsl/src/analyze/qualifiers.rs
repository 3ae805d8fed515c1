//! Qualifiers of declarations, and default precisions.

use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::shader::ShaderStage;

use super::layouts::{LAYOUT_EXPRESSIONS, Row};
use super::{Analyzer, SemanticError};
use crate::ast::{self, Qualifier, QualifierKind};
use crate::extension::Extension;
use crate::keyword::Keyword;
use crate::program::{Capture, Interpolation, Packing, Primitive, StageLayout, Traits};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{Scalar, TypeData, TypeId, image_of, sampler_of};
use crate::version::{NEVER, Since, Version};

/// Layouts of blocks, of which the last one counts in all versions.
const BLOCK_LAYOUT_NAMES: &[&str] = &["shared", "packed", "std140", "std430", "row_major", "column_major"];

/// Default precisions in the open scopes. Desktop versions have a default for all types.
#[derive(Debug)]
pub(super) struct Precisions {
    /// By scope: types with their default precision.
    scopes: Vec<Vec<(Keyword, Keyword)>>,
    /// Whether a type without a precision is an error.
    is_checked: bool,
}

impl Precisions {
    pub(super) fn new(stage: ShaderStage, version: Version) -> Precisions {
        use Keyword as K;
        let is_fragment = stage == ShaderStage::Fragment;
        let mut known = vec![
            (K::Int, if is_fragment { K::Mediump } else { K::Highp }),
            (K::Sampler2D, K::Lowp),
            (K::SamplerCube, K::Lowp),
            (K::SamplerExternalOES, K::Lowp),
            (K::AtomicUint, K::Highp),
        ];
        if !is_fragment {
            known.push((K::Float, K::Highp));
        }
        Precisions { scopes: vec![known], is_checked: version.is_es() }
    }

    pub(super) fn push(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(super) fn pop(&mut self) {
        self.scopes.pop();
    }

    fn set(&mut self, ty: Keyword, precision: Keyword) {
        let Some(scope) = self.scopes.last_mut() else { return };
        match scope.iter_mut().find(|(other, _)| *other == ty) {
            Some((_, other)) => *other = precision,
            None => scope.push((ty, precision)),
        }
    }

    fn get(&self, ty: Keyword) -> Option<Keyword> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.iter().find(|&&(other, _)| other == ty));
        found.map(|&(_, precision)| precision)
    }

    fn has(&self, ty: Keyword) -> bool {
        !self.is_checked || self.get(ty).is_some()
    }

    /// Whether floats have a default precision.
    pub(super) fn has_float(&self) -> bool {
        self.has(Keyword::Float)
    }

    /// Whether a sampler or image type has a default precision.
    pub(super) fn has_opaque(&self, ty: Keyword) -> bool {
        self.has(ty)
    }
}

/// The storage qualifier of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum StorageQualifier {
    #[default]
    None,
    Const,
    Uniform,
    Attribute,
    Varying,
    In,
    Out,
    InOut,
    Buffer,
    Shared,
}

/// The qualifiers of a declaration, checked against each other.
#[derive(Clone, Default, Debug)]
pub(super) struct Qualifiers {
    pub(super) storage: StorageQualifier,
    /// The token of the storage qualifier.
    pub(super) storage_tokens: TokenRange,
    /// `const` beside `in`, for parameters.
    pub(super) is_const: bool,
    pub(super) precision: Option<Keyword>,
    /// The qualifier of the interpolation.
    pub(super) interpolation: Option<Keyword>,
    pub(super) is_subroutine: bool,
    pub(super) traits: Traits,
    /// `origin_upper_left`, `pixel_center_integer`, `early_fragment_tests`, each with whether it occurs.
    pub(super) origin_upper_left: bool,
    pub(super) pixel_center_integer: bool,
    pub(super) early_fragment_tests: bool,
    pub(super) post_depth_coverage: bool,
    pub(super) inner_coverage: bool,
    /// `noncoherent` of reads of the framebuffer.
    pub(super) noncoherent: bool,
    /// `viewport_relative` of `gl_Layer`.
    pub(super) viewport_relative: bool,
    /// The layout of `gl_FragDepth`; 0 without one.
    pub(super) depth_layout: u32,
    /// The layout of a block in memory.
    pub(super) packing: Option<Packing>,
    pub(super) is_std430: bool,
    /// `row_major` or `column_major`.
    pub(super) row_major: Option<bool>,
    pub(super) align: Option<u32>,
    /// `xfb_buffer`, `xfb_offset`, `xfb_stride`
    pub(super) capture: Capture,
    /// A primitive of `in;` or `out;`.
    pub(super) primitive: Option<Primitive>,
    /// Other layouts of `in;` and `out;`.
    pub(super) stage: StageLayout,
    /// All layouts, for the check of their place.
    pub(super) layouts: Vec<(&'static Row, TokenRange)>,
}

/// Versions in which qualifiers have any order.
const FREE_ORDER: Since = Since::new(420, 310).or(&[Extension::ARBShadingLanguage420pack]);

/// Names of a layout that are compared with others.
const MAX_LAYOUT_NAMES: usize = 32;

/// Versions of `varying in` and `varying out`.
const DIRECTED_VARYINGS: Since = Since::new(NEVER, NEVER).or(&[Extension::EXTGpuShader4]);

impl Analyzer<'_> {
    /// The name of a qualifier for messages.
    pub(super) fn qualifier_name(&self, qualifier: &Qualifier) -> String {
        match qualifier.kind {
            QualifierKind::Keyword(keyword) => keyword.name().to_owned(),
            QualifierKind::Layout(_) => "layout".to_owned(),
            QualifierKind::Subroutine(_) => "subroutine".to_owned(),
        }
    }

    pub(super) fn is_precision(&self, qualifier: &Qualifier) -> bool {
        matches!(qualifier.kind, QualifierKind::Keyword(Keyword::Lowp | Keyword::Mediump | Keyword::Highp))
    }

    /// Reads the qualifiers of a declaration. Conflicts are reported; whether they suit the declaration is checked by
    /// the caller.
    pub(super) fn qualifiers(&mut self, list: ast::List<Qualifier>, at_global_scope: bool) -> Qualifiers {
        let ast = self.ast;
        let mut found = Qualifiers::default();
        let mut seen: Vec<Keyword> = Vec::new();
        let mut layouts: Option<Vec<Symbol>> = None;
        self.check_order(ast.list(list));
        for qualifier in ast.list(list) {
            match qualifier.kind {
                QualifierKind::Keyword(keyword) => {
                    if seen.contains(&keyword) {
                        let name = keyword.name().to_owned();
                        let error = SemanticError::QualifierConflict { qualifier: name.clone(), other: name };
                        self.report(error, qualifier.tokens);
                        continue;
                    }
                    self.keyword_qualifier(keyword, qualifier.tokens, at_global_scope, &seen, &mut found);
                    seen.push(keyword);
                }
                QualifierKind::Layout(items) => {
                    self.check_repeated_layouts(&mut layouts, ast.list(items), qualifier.tokens);
                    for item in ast.list(items) {
                        self.layout_item(item, &mut found);
                    }
                }
                QualifierKind::Subroutine(_) => {
                    let what = "`subroutine(...)` needs a function with a body";
                    self.report(SemanticError::Subroutine { what }, qualifier.tokens);
                }
            }
        }
        // The default is that of the place of the declaration; a later one does not change it.
        if at_global_scope
            && found.storage == StorageQualifier::Out
            && self.program.stage == ShaderStage::Geometry
            && found.traits.stream.is_none()
        {
            found.traits.stream = self.program.layout.stage.stream;
        }
        found
    }

    /// Checks that a declaration has one layout, and each name in it once, in versions without an order of layouts.
    /// Later ones count.
    fn check_repeated_layouts(
        &mut self,
        known: &mut Option<Vec<Symbol>>,
        items: &[ast::LayoutItem],
        tokens: TokenRange,
    ) {
        if known.is_some() && !self.has(&FREE_ORDER) {
            let (qualifier, other) = ("layout".to_owned(), "layout".to_owned());
            self.report(SemanticError::QualifierConflict { qualifier, other }, tokens);
        }
        let names = known.insert(Vec::new());
        for item in items {
            let is_layout_of_block = BLOCK_LAYOUT_NAMES.contains(&self.interner.spelling(item.name));
            if names.contains(&item.name) && !is_layout_of_block && !self.has(&LAYOUT_EXPRESSIONS) {
                let name = self.spelling(item.name);
                self.report(SemanticError::QualifierConflict { qualifier: name.clone(), other: name }, item.tokens);
                return;
            }
            if names.len() < MAX_LAYOUT_NAMES {
                names.push(item.name);
            }
        }
    }

    /// Checks the order of qualifiers, which is free only in later versions.
    fn check_order(&mut self, qualifiers: &[Qualifier]) {
        if self.has(&FREE_ORDER) {
            return;
        }
        let mut last: Option<&Qualifier> = None;
        for qualifier in qualifiers {
            if let Some(last) = last
                && rank(qualifier) < rank(last)
                && !(rank(last) == 2 && self.unit.enabled.contains(Extension::EXTGpuShader4))
            {
                let (other, version) = (self.qualifier_name(last), self.version().to_string());
                let error = SemanticError::QualifierOrder { qualifier: self.qualifier_name(qualifier), other, version };
                self.report(error, qualifier.tokens);
                return;
            }
            last = Some(qualifier);
        }
    }

    fn keyword_qualifier(
        &mut self,
        keyword: Keyword,
        tokens: TokenRange,
        at_global_scope: bool,
        seen: &[Keyword],
        found: &mut Qualifiers,
    ) {
        use Keyword as K;
        let storage = match keyword {
            K::Const => StorageQualifier::Const,
            K::Uniform => StorageQualifier::Uniform,
            K::Attribute => StorageQualifier::Attribute,
            K::Varying => StorageQualifier::Varying,
            K::In => StorageQualifier::In,
            K::Out => StorageQualifier::Out,
            K::Inout => StorageQualifier::InOut,
            K::Buffer => StorageQualifier::Buffer,
            K::Shared => StorageQualifier::Shared,
            K::Lowp | K::Mediump | K::Highp => {
                if let Some(other) = seen.iter().find(|other| matches!(other, K::Lowp | K::Mediump | K::Highp)) {
                    let (qualifier, other) = (keyword.name().to_owned(), other.name().to_owned());
                    self.report(SemanticError::QualifierConflict { qualifier, other }, tokens);
                }
                found.precision = Some(keyword);
                return;
            }
            K::Flat | K::Smooth | K::Noperspective => {
                if let Some(other) = seen.iter().find(|other| matches!(other, K::Flat | K::Smooth | K::Noperspective)) {
                    let (qualifier, other) = (keyword.name().to_owned(), other.name().to_owned());
                    self.report(SemanticError::QualifierConflict { qualifier, other }, tokens);
                }
                found.interpolation = Some(keyword);
                found.traits.has_interpolation = true;
                found.traits.interpolation = match keyword {
                    K::Flat => Interpolation::Flat,
                    K::Noperspective => Interpolation::Noperspective,
                    _ => Interpolation::Smooth,
                };
                return;
            }
            K::Centroid | K::Sample => {
                if let Some(other) = seen.iter().find(|other| matches!(other, K::Centroid | K::Sample)) {
                    let (qualifier, other) = (keyword.name().to_owned(), other.name().to_owned());
                    self.report(SemanticError::QualifierConflict { qualifier, other }, tokens);
                }
                found.traits.centroid |= keyword == K::Centroid;
                found.traits.sample |= keyword == K::Sample;
                return;
            }
            K::Coherent | K::Volatile | K::Restrict | K::Readonly | K::Writeonly => {
                found.traits.access = found.traits.access.union(access_flag(keyword));
                return;
            }
            K::Subroutine => return found.is_subroutine = true,
            K::Patch => return found.traits.patch = true,
            K::Invariant => return found.traits.invariant = true,
            K::Precise => return found.traits.precise = true,
            _ => {
                let error = SemanticError::QualifierNotAllowed {
                    qualifier: keyword.name().to_owned(),
                    place: "for this declaration",
                };
                self.report(error, tokens);
                return;
            }
        };
        // Extensions of old versions write `varying in` and `varying out`.
        let directions = [StorageQualifier::In, StorageQualifier::Out];
        let is_directed = found.storage == StorageQualifier::Varying && directions.contains(&storage)
            || storage == StorageQualifier::Varying && directions.contains(&found.storage);
        if is_directed && self.has(&DIRECTED_VARYINGS) {
            if storage != StorageQualifier::Varying {
                found.storage = storage;
            }
            return;
        }
        // `const in` qualifies parameters.
        if storage == StorageQualifier::In && found.storage == StorageQualifier::Const && !at_global_scope {
            found.is_const = true;
            found.storage = storage;
            return;
        }
        if storage == StorageQualifier::Const
            && found.storage == StorageQualifier::In
            && !at_global_scope
            && self.has(&FREE_ORDER)
        {
            found.is_const = true;
            return;
        }
        if found.storage != StorageQualifier::None {
            let other = seen.iter().find(|other| is_storage(**other)).map_or("", |other| other.name());
            let (qualifier, other) = (keyword.name().to_owned(), other.to_owned());
            self.report(SemanticError::QualifierConflict { qualifier, other }, tokens);
            return;
        }
        if at_global_scope {
            self.check_global_storage(keyword, storage, tokens);
        }
        found.storage = storage;
        found.storage_tokens = tokens;
    }

    /// Checks a storage qualifier of a global variable against version and stage.
    fn check_global_storage(&mut self, keyword: Keyword, storage: StorageQualifier, tokens: TokenRange) {
        let version = self.version();
        match storage {
            StorageQualifier::Attribute | StorageQualifier::Varying => {
                let what = format!("`{}`", keyword.name());
                if storage == StorageQualifier::Attribute && self.program.stage != ShaderStage::Vertex {
                    self.report(SemanticError::WrongStage { what, stages: "vertex shaders".to_owned() }, tokens);
                } else if version.is_es() && version.number >= 300 {
                    let remedy = "write `in` or `out`".to_owned();
                    let version = version.to_string();
                    self.report(SemanticError::NeedsVersion { what, version, remedy }, tokens);
                } else if !version.is_es() && version.number >= 420 && version.profile == crate::version::Profile::Core
                {
                    self.report(SemanticError::Deprecated { what, version: version.to_string() }, tokens);
                }
            }
            StorageQualifier::InOut if !self.has_fetch() => {
                let error =
                    SemanticError::QualifierNotAllowed { qualifier: "inout".to_owned(), place: "at global scope" };
                self.report(error, tokens);
            }
            _ => {}
        }
    }

    /// The precision of a type by qualifiers, or by default; `None` for types without precision, and in desktop
    /// versions.
    pub(super) fn precision_of(&self, qualifiers: ast::List<Qualifier>, ty: TypeId) -> Option<Keyword> {
        let written = self.ast.list(qualifiers).iter().find_map(|qualifier| match qualifier.kind {
            QualifierKind::Keyword(keyword @ (Keyword::Lowp | Keyword::Mediump | Keyword::Highp)) => Some(keyword),
            _ => None,
        });
        self.precision_or_default(written, ty)
    }

    /// The precision of a type: the one that is written, else the default. Desktop versions have none.
    pub(super) fn precision_or_default(&self, written: Option<Keyword>, ty: TypeId) -> Option<Keyword> {
        if !self.version().is_es() {
            return None;
        }
        let types = &self.program.types;
        let inner = types.without_arrays(ty);
        let default = match (types.get(inner), types.scalar(inner)) {
            (TypeData::Sampler(sampler), _) => Some(sampler.name),
            (TypeData::Image(image), _) => Some(image.name),
            (TypeData::AtomicUint, _) => Some(Keyword::AtomicUint),
            (_, Some(Scalar::Float)) => Some(Keyword::Float),
            (_, Some(Scalar::Int | Scalar::Uint)) => Some(Keyword::Int),
            _ => None,
        };
        written.or_else(|| self.precisions.get(default?))
    }

    /// Checks that a type with a precision can have one.
    pub(super) fn check_has_precision(&mut self, ty: TypeId, tokens: TokenRange) {
        let types = &self.program.types;
        let inner = types.without_arrays(ty);
        let is_allowed = match (types.get(inner), types.scalar(inner)) {
            (TypeData::Error | TypeData::Sampler(_) | TypeData::Image(_) | TypeData::AtomicUint, _) => true,
            (_, scalar) => matches!(scalar, Some(Scalar::Float | Scalar::Int | Scalar::Uint)),
        };
        if !is_allowed {
            let ty = self.type_name(ty);
            self.report(SemanticError::PrecisionNotAllowed { ty }, tokens);
        }
    }

    /// Sets a default precision.
    pub(super) fn precision(&mut self, precision: Keyword, spec: &ast::TypeSpec, tokens: TokenRange) {
        let keyword = match spec.name {
            ast::TypeName::Keyword(keyword) if spec.dimensions.len == 0 => keyword,
            _ => {
                let error = SemanticError::TypeNotAllowed {
                    what: "a default precision",
                    ty: "a struct or array".to_owned(),
                    hint: Some("`float`, `int` and samplers have one"),
                };
                self.report(error, tokens);
                return;
            }
        };
        let is_opaque = sampler_of(keyword).is_some() || image_of(keyword).is_some();
        if !matches!(keyword, Keyword::Float | Keyword::Int | Keyword::AtomicUint) && !is_opaque {
            let error = SemanticError::TypeNotAllowed {
                what: "a default precision",
                ty: keyword.name().to_owned(),
                hint: Some("`float`, `int` and samplers have one"),
            };
            self.report(error, tokens);
            return;
        }
        self.precisions.set(keyword, precision);
    }
}

/// The flag of a memory qualifier.
fn access_flag(keyword: Keyword) -> AccessFlags {
    match keyword {
        Keyword::Coherent => AccessFlags::COHERENT,
        Keyword::Volatile => AccessFlags::VOLATILE,
        Keyword::Restrict => AccessFlags::RESTRICT,
        Keyword::Readonly => AccessFlags::NON_WRITEABLE,
        Keyword::Writeonly => AccessFlags::NON_READABLE,
        _ => AccessFlags::NONE,
    }
}

/// The place of a qualifier among others.
fn rank(qualifier: &Qualifier) -> u8 {
    use Keyword as K;
    match qualifier.kind {
        QualifierKind::Keyword(K::Precise | K::Invariant) => 0,
        QualifierKind::Layout(_) | QualifierKind::Subroutine(_) => 1,
        QualifierKind::Keyword(K::Subroutine) => 1,
        QualifierKind::Keyword(K::Flat | K::Smooth | K::Noperspective) => 1,
        QualifierKind::Keyword(K::Centroid | K::Sample | K::Patch) => 2,
        QualifierKind::Keyword(K::Lowp | K::Mediump | K::Highp) => 4,
        QualifierKind::Keyword(_) => 3,
    }
}

fn is_storage(keyword: Keyword) -> bool {
    use Keyword as K;
    matches!(
        keyword,
        K::Const | K::Uniform | K::Attribute | K::Varying | K::In | K::Out | K::Inout | K::Buffer | K::Shared
    )
}
