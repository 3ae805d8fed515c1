//! Memory outside of the shader: memory qualifiers, formats of images, offsets of atomic counters, and the arguments of
//! functions that access it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tgsi_ir::intrinsics::indices::AccessFlags;

use super::qualifiers::Qualifiers;
use super::{Analyzer, SemanticError};
use crate::ast;
use crate::builtins::functions::{BuiltinOp, ImageOp};
use crate::extension::Extension;
use crate::program::{ExprId, ExprKind, Storage, VariableId};
use crate::token::TokenRange;
use crate::types::{ImageType, TypeData, TypeId};
use crate::version::{NEVER, Since};

/// Versions in which images need a format unless they are only written.
const FORMATS: Since = Since::new(420, 310).or(&[Extension::ARBShaderImageLoadStore]);

/// Extensions with loads from images without a format.
const FORMATTED_LOADS: Since = Since::new(NEVER, NEVER).or(&[Extension::EXTShaderImageLoadFormatted]);

/// Bindings of buffers of counters.
const COUNTER_BUFFERS: u32 = 1 << 12;

/// Bytes of a buffer of counters.
const COUNTER_BYTES: u32 = 1 << 26;

/// Bytes of a counter.
const COUNTER_SIZE: u32 = 4;

/// The memory qualifiers with their names.
const QUALIFIERS: [(AccessFlags, &str); 5] = [
    (AccessFlags::COHERENT, "coherent"),
    (AccessFlags::VOLATILE, "volatile"),
    (AccessFlags::RESTRICT, "restrict"),
    (AccessFlags::NON_WRITEABLE, "readonly"),
    (AccessFlags::NON_READABLE, "writeonly"),
];

/// An object that may have memory qualifiers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryObject {
    Variable(Storage),
    Parameter,
}

/// The places of atomic counters in their buffers.
#[derive(Debug, Default)]
pub(super) struct CounterLayout {
    /// By buffer: the offset of the next counter without `offset`.
    next: FxHashMap<u32, u32>,
    /// By buffer and offset of counters: the offset after them, and their declaration.
    taken: BTreeMap<(u32, u32), (u32, TokenRange)>,
}

/// The first of some memory qualifiers.
fn first_name(flags: AccessFlags) -> Option<&'static str> {
    QUALIFIERS.iter().find(|(flag, _)| flags.contains(*flag)).map(|&(_, name)| name)
}

impl Analyzer<'_> {
    /// Checks memory qualifiers and formats of a variable or parameter.
    pub(super) fn check_memory(&mut self, found: &Qualifiers, ty: TypeId, object: MemoryObject, tokens: TokenRange) {
        let traits = found.traits;
        let inner = self.program.types.without_arrays(ty);
        let image = match self.program.types.get(inner) {
            TypeData::Error => return,
            TypeData::Image(image) => image,
            _ => {
                let is_memory = matches!(object, MemoryObject::Variable(storage) if storage.is_shared_memory());
                if let Some(qualifier) = first_name(traits.access).filter(|_| !is_memory) {
                    let place = "for a variable that is not an image or memory of a buffer";
                    self.report(SemanticError::QualifierNotAllowed { qualifier: qualifier.to_owned(), place }, tokens);
                }
                if let Some(format) = traits.format {
                    let place = "for a variable that is not an image";
                    self.report(SemanticError::Layout { name: format.name.to_owned(), place }, tokens);
                }
                if traits.binding.is_some() && !self.program.types.summary(ty).has_opaque {
                    let place = "for a variable that is not a sampler, image or atomic counter";
                    self.report(SemanticError::Layout { name: "binding".to_owned(), place }, tokens);
                }
                if traits.offset.is_some() && self.program.types.get(inner) != TypeData::AtomicUint {
                    let place = "for a variable that is not an atomic counter";
                    self.report(SemanticError::Layout { name: "offset".to_owned(), place }, tokens);
                }
                return;
            }
        };
        match object {
            MemoryObject::Parameter => {
                if let Some(format) = traits.format {
                    let error = SemanticError::Layout { name: format.name.to_owned(), place: "for a parameter" };
                    self.report(error, tokens);
                }
            }
            MemoryObject::Variable(_) => self.check_format(found, &image, tokens),
        }
    }

    /// Checks the format of an image.
    fn check_format(&mut self, found: &Qualifiers, image: &ImageType, tokens: TokenRange) {
        let access = found.traits.access;
        let is_es = self.version().is_es();
        let is_written_only = access.contains(AccessFlags::NON_READABLE);
        let Some(format) = found.traits.format else {
            let may_lack = is_written_only || self.has(&FORMATTED_LOADS) || !self.has(&FORMATS);
            if is_es || !may_lack {
                self.report(SemanticError::ImageFormat { what: "the image needs a format, such as `rgba8`" }, tokens);
            }
            return;
        };
        if !format.fits(image.texel) {
            let what = "the format has components of another type than the image";
            self.report(SemanticError::ImageFormat { what }, tokens);
        } else if is_es && !format.is_single_word() && !is_written_only && !access.contains(AccessFlags::NON_WRITEABLE)
        {
            let what = "an image that is read and written needs the format `r32f`, `r32i` or `r32ui`";
            self.report(SemanticError::ImageFormat { what }, tokens);
        }
    }

    /// The offset of atomic counters in their buffer: the one of the layout, else that after the counters declared
    /// before.
    pub(super) fn counter_offset(
        &mut self,
        found: &Qualifiers,
        ty: TypeId,
        declarator: &ast::Declarator,
    ) -> Option<u32> {
        let tokens = declarator.tokens;
        if self.program.types.get(self.program.types.without_arrays(ty)) != TypeData::AtomicUint {
            return found.traits.offset;
        }
        if let TypeData::Array { length: None, .. } = self.program.types.get(ty) {
            self.report(SemanticError::Unsized { what: "an atomic counter" }, tokens);
            return None;
        }
        if found.traits.location.is_some() && self.version().is_es() {
            let place = "for an atomic counter in GLSL ES";
            self.report(SemanticError::Layout { name: "location".to_owned(), place }, tokens);
            return None;
        }
        let binding = self.counter_binding(found, tokens)?;
        let next = self.counters.next.get(&binding).copied().unwrap_or(0);
        let start = found.traits.offset.unwrap_or(next);
        if !start.is_multiple_of(COUNTER_SIZE) {
            let error = SemanticError::LayoutValue { name: "offset".to_owned(), needed: "a multiple of 4" };
            self.report(error, tokens);
            return None;
        }
        let size = self.program.types.summary(ty).counters.saturating_mul(COUNTER_SIZE);
        let end = start.saturating_add(size);
        if end > COUNTER_BYTES {
            let error = SemanticError::Limit { what: "bytes of a buffer of counters", limit: COUNTER_BYTES.into() };
            self.report(error, tokens);
            return None;
        }
        // Counters do not overlap, so those that begin last before the end are the only ones that may.
        let before = self.counters.taken.range((binding, 0)..(binding, end)).next_back();
        if let Some((_, &(other_end, other))) = before
            && other_end > start
        {
            let error = SemanticError::CounterOverlap { name: self.spelling(declarator.name) };
            self.report_with(error, tokens, other, "the other counter");
            return None;
        }
        self.counters.taken.insert((binding, start), (end, tokens));
        self.counters.next.insert(binding, end);
        Some(start)
    }

    /// A declaration without a name sets the offset of the next counter.
    pub(super) fn default_offset(&mut self, found: &Qualifiers, tokens: TokenRange) {
        let Some(binding) = self.counter_binding(found, tokens) else { return };
        if let Some(offset) = found.traits.offset {
            self.counters.next.insert(binding, offset);
        }
    }

    fn counter_binding(&mut self, found: &Qualifiers, tokens: TokenRange) -> Option<u32> {
        match found.traits.binding {
            Some(binding) if binding < COUNTER_BUFFERS => Some(binding),
            Some(_) => {
                let error = SemanticError::Limit { what: "buffers of counters", limit: COUNTER_BUFFERS.into() };
                self.report(error, tokens);
                None
            }
            None => {
                let needed = "a value: atomic counters have a binding";
                self.report(SemanticError::LayoutValue { name: "binding".to_owned(), needed }, tokens);
                None
            }
        }
    }

    /// The variable that an expression is an element or field of.
    pub(super) fn root_variable(&self, mut expr: ExprId) -> Option<VariableId> {
        loop {
            expr = match self.program.expr(expr).kind {
                ExprKind::Variable(id) => return Some(id),
                ExprKind::Index(base, _) | ExprKind::Field(base, _) | ExprKind::Swizzle(base, _) => base,
                _ => return None,
            };
        }
    }

    /// Checks that a parameter has the memory qualifiers of its argument.
    pub(super) fn check_argument_access(&mut self, argument: ExprId, parameter: AccessFlags) -> bool {
        if !self.program.types.summary(self.ty(argument)).has_image {
            return true;
        }
        let access = self.root_variable(argument).map(|id| self.program.variable(id).traits.access);
        let lost = AccessFlags(access.unwrap_or_default().0 & !parameter.0);
        let Some(qualifier) = first_name(lost) else { return true };
        let error = SemanticError::MemoryQualifier { qualifier, needed: "the parameter is not" };
        self.report(error, self.tokens_of(argument));
        false
    }

    /// Checks what functions of the language need of the memory that they access. Returns whether it has it.
    pub(super) fn check_memory_operands(&mut self, op: BuiltinOp, operands: &[ExprId]) -> bool {
        let Some(&first) = operands.first() else { return true };
        let tokens = self.tokens_of(first);
        let variable = self.root_variable(first);
        match op {
            BuiltinOp::Image(op) => {
                let Some(variable) = variable else {
                    self.report(SemanticError::Opaque { what: "the operand is not an image variable" }, tokens);
                    return false;
                };
                let traits = self.program.variable(variable).traits;
                let (reads, writes) = match op {
                    ImageOp::Load => (true, false),
                    ImageOp::Store => (false, true),
                    ImageOp::Size | ImageOp::Samples => (false, false),
                    ImageOp::Atomic(_) => (true, true),
                };
                for (is_needed, flag, needed) in [
                    (reads, AccessFlags::NON_READABLE, "the function reads it"),
                    (writes, AccessFlags::NON_WRITEABLE, "the function writes it"),
                ] {
                    if let Some(qualifier) = first_name(flag).filter(|_| is_needed && traits.access.contains(flag)) {
                        self.report(SemanticError::MemoryQualifier { qualifier, needed }, tokens);
                        return false;
                    }
                }
                if matches!(op, ImageOp::Atomic(_)) && traits.format.is_some_and(|format| !format.is_single_word()) {
                    let what = "atomic operations need the format `r32i`, `r32ui` or `r32f`";
                    self.report(SemanticError::ImageFormat { what }, tokens);
                    return false;
                }
                true
            }
            BuiltinOp::Counter(_) if variable.is_none() => {
                self.report(SemanticError::Opaque { what: "the operand is not an atomic counter" }, tokens);
                false
            }
            BuiltinOp::Atomic(_) => {
                let is_shared = variable.is_some_and(|id| self.program.variable(id).storage.is_shared_memory());
                if !is_shared {
                    self.report(SemanticError::NotSharedMemory, tokens);
                }
                is_shared
            }
            _ => true,
        }
    }
}
