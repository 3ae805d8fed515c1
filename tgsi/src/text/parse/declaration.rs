//! `DCL`.
//!
//! The register is followed by a list of attributes. Mesa's parser requires a fixed order; this one accepts each
//! attribute once, in any order. An ambiguous word (`COLOR` is a semantic and an interpolation mode, `BUFFER` a file
//! and a target) is read as the first meaning, in Mesa's order, that is still missing.

use super::{Parse, Parser};
use crate::limits::{MAX_ARRAY_ID, MAX_DECLARED_INDEX, MAX_OLD_DECLARATIONS};
use crate::shader::{
    Declaration, DeclarationImage, DeclarationInterpolation, DeclarationSamplerView, DeclarationSemantic,
};
use crate::tables::{
    File, ImmediateType, Interpolation, InterpolationLocation, MemoryType, PixelFormat, ReturnType, Semantic,
    TextureTarget,
};
use crate::text::error::ParseErrorKind;
use crate::text::legacy::{self, LegacyFile};
use crate::text::names;
use tgsi_diagnostics::Span;

/// The file of a declaration: a current one, or one of old texts.
#[derive(Clone, Copy, PartialEq)]
enum DeclaredFile {
    File(File),
    Legacy(LegacyFile),
}

/// Content of a bracket.
#[derive(Clone, Copy)]
enum Range {
    /// `[]`.
    Empty,
    /// `[first]` or `[first..last]`.
    Of(u16, u16),
}

/// Register part of a declaration.
struct RegisterDeclaration {
    file: DeclaredFile,
    brackets: [Option<Range>; 3],
    span: Span,
}

/// The attributes that have been read.
#[derive(Default)]
struct Attributes {
    array_id: Option<u16>,
    local: bool,
    invariant: bool,
    atomic: bool,
    memory_type: Option<MemoryType>,
    semantic: Option<(Semantic, u16)>,
    streams: Option<([u8; 4], Span)>,
    mode: Option<Interpolation>,
    location: Option<(InterpolationLocation, Span)>,
    target: Option<TextureTarget>,
    return_types: Vec<ReturnType>,
    format: Option<PixelFormat>,
    writable: bool,
    raw: bool,
    /// The positions of array number, streams, mode, memory type, semantic and location.
    positions: [Span; 6],
}

impl Attributes {
    /// Returns the interpolation word, which exists if there is a mode.
    fn interpolation(&self) -> Option<DeclarationInterpolation> {
        let location = self.location.map_or(InterpolationLocation::Center, |(location, _)| location);
        self.mode.map(|mode| DeclarationInterpolation { mode, location })
    }

    fn return_types(&self) -> [ReturnType; 4] {
        match self.return_types.as_slice() {
            &[x, y, z, w] => [x, y, z, w],
            // Mesa uses the first for all, however many are given.
            &[first, ..] => [first; 4],
            [] => [ReturnType::Unorm; 4],
        }
    }
}

/// Sets an attribute at `span`.
///
/// # Errors
/// It was already set, at `position`.
fn once<T>(attribute: &mut Option<T>, value: T, position: &mut Span, span: Span, what: &'static str) -> Parse<()> {
    let first = std::mem::replace(position, span);
    match attribute.replace(value) {
        Some(_) => Err(Box::new(ParseErrorKind::DuplicateAttribute(what).at(span).with_note(first, "the first one"))),
        None => Ok(()),
    }
}

impl<'a> Parser<'a> {
    pub(super) fn declaration(&mut self, keyword: Span) -> Parse<()> {
        let start = keyword.start as usize;
        let declared = self.declared_register(0)?;
        let usage_mask = self.mask()?;
        if matches!(declared.file, DeclaredFile::Legacy(_)) && self.legacy.is_full() {
            return self.fail(ParseErrorKind::TooManyOldDeclarations(MAX_OLD_DECLARATIONS), declared.span);
        }
        if declared.file == DeclaredFile::Legacy(LegacyFile::ImmediateArray) {
            return self.immediate_array(&declared);
        }
        let attributes = self.attributes(declared.file)?;
        if let (Some((_, span)), None) = (attributes.location, attributes.mode) {
            self.warn(ParseErrorKind::LocationWithoutMode, span);
        }
        if let (Some((_, span)), None) = (attributes.streams, attributes.semantic) {
            self.warn(ParseErrorKind::StreamWithoutSemantic, span);
        }
        let file = match declared.file {
            DeclaredFile::File(file) => file,
            DeclaredFile::Legacy(LegacyFile::Resource) if !attributes.return_types.is_empty() => File::SamplerView,
            DeclaredFile::Legacy(LegacyFile::Resource) => match attributes.target {
                None | Some(TextureTarget::Buffer) => File::Buffer,
                Some(_) => File::Image,
            },
            DeclaredFile::Legacy(LegacyFile::Memory(_)) => File::Memory,
            DeclaredFile::Legacy(_) => File::Temporary,
        };
        let (dimension, (first, last)) = self.declared_range(&declared)?;
        let span = self.span_from(start);
        match declared.file {
            DeclaredFile::Legacy(LegacyFile::Resource) => {
                self.legacy.declare_resource(first, last, file, attributes.target);
            }
            DeclaredFile::Legacy(file @ (LegacyFile::TempArray | LegacyFile::Predicate)) => {
                self.legacy.declare_temporaries(file, dimension.unwrap_or(0), first, last);
                return Ok(());
            }
            DeclaredFile::Legacy(LegacyFile::Memory(memory)) => {
                self.legacy.memory(memory);
                return Ok(());
            }
            _ => {}
        }
        let mut declaration = Declaration::new(file, first, last);
        declaration.usage_mask = usage_mask;
        declaration.dimension = dimension;
        declaration.array_id = attributes.array_id;
        declaration.local = attributes.local;
        declaration.invariant = attributes.invariant;
        declaration.atomic = attributes.atomic;
        declaration.memory_type = attributes.memory_type.unwrap_or(MemoryType::Global);
        declaration.interpolation = attributes.interpolation();
        declaration.semantic = attributes.semantic.map(|(name, index)| DeclarationSemantic {
            name,
            index,
            streams: attributes.streams.map_or([0; 4], |(streams, _)| streams),
        });
        let target = attributes.target.unwrap_or(TextureTarget::Buffer);
        if file == File::Image {
            declaration.image = Some(DeclarationImage {
                target,
                raw: attributes.raw,
                writable: attributes.writable,
                format: attributes.format.unwrap_or(PixelFormat::NONE),
            });
        }
        if file == File::SamplerView {
            let return_types = attributes.return_types();
            declaration.sampler_view = Some(DeclarationSamplerView { target, return_types });
        }
        declaration.span = span;
        self.shader.push_declaration(declaration);
        Ok(())
    }

    /// Parses file and brackets; a macro name is replaced by its definition.
    fn declared_register(&mut self, depth: usize) -> Parse<RegisterDeclaration> {
        let (word, span) = self.expect_word("a register file")?;
        let file = match File::from_word(word) {
            Some(file) => DeclaredFile::File(file),
            None => match self.preprocessor.definition(word) {
                Some(body) => {
                    if depth >= crate::limits::MAX_MACRO_DEPTH {
                        return self.fail(ParseErrorKind::MacroDepth(word.as_str().to_owned()), span);
                    }
                    let outside = self.enter(body.start as usize, body.end as usize);
                    let result = self.declared_register(depth + 1);
                    self.enter(outside.0, outside.1);
                    return result.map_err(|mut diagnostic| {
                        diagnostic.span = span;
                        diagnostic
                    });
                }
                None => match legacy::file(word) {
                    Some(file) => DeclaredFile::Legacy(file),
                    None => {
                        let known = File::ALL.iter().map(|f| f.name());
                        return self.fail_name(ParseErrorKind::UnknownFile(self.quote(span)), span, known);
                    }
                },
            },
        };
        let mut brackets = [None; 3];
        if !matches!(file, DeclaredFile::Legacy(LegacyFile::Memory(_))) {
            for (position, bracket) in brackets.iter_mut().enumerate() {
                let more = self.peek_ahead() == Some(b'[');
                if position == 0 || more {
                    *bracket = Some(self.declared_bracket()?);
                } else {
                    break;
                }
            }
        }
        Ok(RegisterDeclaration { file, brackets, span: self.span_from(span.start as usize) })
    }

    fn declared_bracket(&mut self) -> Parse<Range> {
        self.expect(b'[')?;
        self.skip();
        let start = self.at;
        if self.accept(b']') {
            return Ok(Range::Empty);
        }
        let first = self.number("register index", 0, MAX_DECLARED_INDEX as i64)?;
        self.skip();
        let mut last = first;
        if let Some(rest) = self.rest().strip_prefix(b"..") {
            self.advance_to(rest);
            last = self.number("register index", 0, MAX_DECLARED_INDEX as i64)?;
        }
        let span = self.span_from(start);
        self.expect(b']')?;
        if last < first {
            let (first, last) = (first as u64, last as u64);
            return self.fail(ParseErrorKind::RangeBackwards { first, last }, span);
        }
        Ok(Range::Of(first as u16, last as u16))
    }

    /// Returns the outer index and the range that the brackets denote.
    fn declared_range(&self, declared: &RegisterDeclaration) -> Parse<(Option<u16>, (u16, u16))> {
        let vertices = match declared.file {
            DeclaredFile::File(file) => self.shader.processor.has_vertices(file),
            DeclaredFile::Legacy(_) => false,
        };
        let outer = |range: Range| match range {
            Range::Of(first, _) => Ok(Some(first)),
            Range::Empty => self.fail(ParseErrorKind::EmptyBrackets, declared.span),
        };
        let inner = |range: Range| match range {
            Range::Of(first, last) => Ok((first, last)),
            Range::Empty => match self.vertices.checked_sub(1) {
                Some(last) => Ok((0, last as u16)),
                None => self.fail(ParseErrorKind::EmptyBrackets, declared.span),
            },
        };
        match (declared.brackets, vertices) {
            ([Some(range), None, _], _) => Ok((None, inner(range)?)),
            // The vertex bracket has no meaning.
            ([Some(_), Some(range), None], true) => Ok((None, inner(range)?)),
            ([Some(dimension), Some(range), None], false) | ([Some(_), Some(dimension), Some(range)], true) => {
                Ok((outer(dimension)?, inner(range)?))
            }
            ([Some(_), Some(_), Some(_)], false) => {
                let kind = ParseErrorKind::Expected { expected: "one or two brackets", found: "three".to_owned() };
                self.fail(kind, declared.span)
            }
            ([None, ..], _) => Ok((None, (0, 0))),
        }
    }

    /// Parses the attributes after the register.
    fn attributes(&mut self, file: DeclaredFile) -> Parse<Attributes> {
        let mut attributes = Attributes::default();
        while self.accept(b',') {
            self.attribute(file, &mut attributes)?;
        }
        Ok(attributes)
    }

    fn attribute(&mut self, file: DeclaredFile, a: &mut Attributes) -> Parse<()> {
        self.skip();
        if self.rest().get(..6) == Some(b"(null)") {
            return self.null_attribute(file, a);
        }
        let (word, span) = self.expect_word("a semantic or attribute")?;
        let twice = |first: Span, what| -> Parse<()> {
            Err(Box::new(ParseErrorKind::DuplicateAttribute(what).at(span).with_note(first, "the first one")))
        };
        let is = |name: &str| word.is(name);
        let resource = file == DeclaredFile::Legacy(LegacyFile::Resource);
        let image = file == DeclaredFile::File(File::Image) || resource;
        let view = file == DeclaredFile::File(File::SamplerView) || resource;
        if is("ARRAY") {
            self.expect(b'(')?;
            let id = self.number("array number", 0, MAX_ARRAY_ID as i64)? as u16;
            self.expect(b')')?;
            return once(&mut a.array_id, id, &mut a.positions[0], span, "array number");
        }
        for (name, flag) in [("LOCAL", &mut a.local), ("INVARIANT", &mut a.invariant), ("ATOMIC", &mut a.atomic)] {
            if is(name) {
                *flag = true;
                return Ok(());
            }
        }
        if is("STREAM") {
            let mut streams = [0; 4];
            self.expect(b'(')?;
            for (component, stream) in streams.iter_mut().enumerate() {
                if component > 0 {
                    self.expect(b',')?;
                }
                *stream = self.number("vertex stream", 0, 3)? as u8;
            }
            self.expect(b')')?;
            return once(&mut a.streams, (streams, span), &mut a.positions[1], span, "STREAM");
        }
        if is("INTERPOLATE") {
            self.expect(b'(')?;
            let (word, span) = self.expect_word("an interpolation mode")?;
            let Some(mode) = Interpolation::from_word(word) else {
                let known = Interpolation::ALL.iter().map(|m| m.name());
                return self.fail_name(ParseErrorKind::UnknownAttribute(self.quote(span)), span, known);
            };
            self.expect(b')')?;
            if a.mode.replace(mode).is_some() {
                return twice(a.positions[2], "interpolation mode");
            }
            a.positions[2] = span;
            return Ok(());
        }
        if word.split_at(8).0.is("CYLWRAP_") {
            self.warn(ParseErrorKind::CylindricalWrap, span);
            return Ok(());
        }
        if (image || view)
            && a.target.is_none()
            && let Some(target) = names::texture_target(word)
        {
            a.target = Some(target);
            // A sampler view has a target and a type, or neither.
            if view && !resource && !self.accept(b',') {
                let (found, span) = self.found_ahead();
                return self.fail(ParseErrorKind::Expected { expected: "a return type", found }, span);
            }
            if view && !resource {
                self.skip();
                if self.rest().get(..6) == Some(b"(null)") {
                    return self.null_attribute(file, a);
                }
                let (word, span) = self.expect_word("a return type")?;
                let Some(return_type) = ReturnType::from_word(word) else {
                    let known = ReturnType::ALL.iter().map(|t| t.name());
                    return self.fail_name(ParseErrorKind::UnknownReturnType(self.quote(span)), span, known);
                };
                a.return_types.push(return_type);
            }
            return Ok(());
        }
        if view
            && a.target.is_some()
            && a.return_types.len() < 4
            && let Some(return_type) = ReturnType::from_word(word)
        {
            a.return_types.push(return_type);
            return Ok(());
        }
        if image {
            for (name, flag) in [("WR", &mut a.writable), ("RAW", &mut a.raw)] {
                if is(name) {
                    *flag = true;
                    return Ok(());
                }
            }
            if let Some(format) = names::pixel_format(word) {
                a.format = Some(format);
                return Ok(());
            }
        }
        if let Some(memory_type) = MemoryType::from_word(word) {
            return once(&mut a.memory_type, memory_type, &mut a.positions[3], span, "memory type");
        }
        if a.semantic.is_none()
            && let Some(semantic) = names::semantic(word)
        {
            let index = self.semantic_index()?;
            a.semantic = Some((semantic, index));
            a.positions[4] = span;
            return Ok(());
        }
        if let Some(mode) = Interpolation::from_word(word) {
            return once(&mut a.mode, mode, &mut a.positions[2], span, "interpolation mode");
        }
        if let Some(location) = InterpolationLocation::from_word(word) {
            return once(&mut a.location, (location, span), &mut a.positions[5], span, "interpolation location");
        }
        if names::semantic(word).is_some() {
            return twice(a.positions[4], "semantic");
        }
        if (image || view) && a.target.is_none() && !resource {
            let known = TextureTarget::ALL.iter().map(|t| t.name());
            return self.fail_name(ParseErrorKind::UnknownTarget(self.quote(span)), span, known);
        }
        let semantics = Semantic::ALL.iter().map(|s| s.name());
        let modes = Interpolation::ALL.iter().map(|m| m.name());
        let locations = InterpolationLocation::ALL.iter().map(|l| l.name());
        let others = ["ARRAY", "LOCAL", "STREAM", "INVARIANT", "ATOMIC", "WR", "RAW"];
        let memory_types = MemoryType::ALL.iter().map(|m| m.name());
        let known = semantics.chain(modes).chain(locations).chain(others).chain(memory_types);
        self.fail_name(ParseErrorKind::UnknownAttribute(self.quote(span)), span, known)
    }

    /// `[n]` after a semantic.
    fn semantic_index(&mut self) -> Parse<u16> {
        if !self.accept(b'[') {
            return Ok(0);
        }
        let index = self.number("semantic index", 0, MAX_DECLARED_INDEX as i64)? as u16;
        self.expect(b']')?;
        Ok(index)
    }

    /// Parses `(null)`, which Mesa prints for unnamed values.
    fn null_attribute(&mut self, file: DeclaredFile, a: &mut Attributes) -> Parse<()> {
        let start = self.at;
        self.at += 6;
        let span = self.span_from(start);
        match file {
            DeclaredFile::File(File::SamplerView) if a.target.is_some() => {
                if a.return_types.len() >= 4 {
                    return self.fail(ParseErrorKind::DuplicateAttribute("return type"), span);
                }
                a.return_types.push(ReturnType::Unknown);
            }
            DeclaredFile::File(File::Image) => {
                self.warn(ParseErrorKind::NullName("no format"), span);
                a.format = Some(PixelFormat::NONE);
            }
            _ if a.semantic.is_some() => return self.fail(ParseErrorKind::DuplicateAttribute("semantic"), span),
            _ => {
                let semantic = Semantic::TessDefaultOuterLevel;
                self.warn(ParseErrorKind::NullName(semantic.name()), span);
                let index = self.semantic_index()?;
                a.semantic = Some((semantic, index));
            }
        }
        Ok(())
    }

    /// `DCL IMMX[a..b] {{...}, {...}}`: an array of immediates.
    fn immediate_array(&mut self, declared: &RegisterDeclaration) -> Parse<()> {
        let (_, (first, last)) = self.declared_range(declared)?;
        self.expect(b'{')?;
        self.legacy.declare_elements(first, last);
        for index in first..=last {
            if index > first {
                self.expect(b',')?;
            }
            let words = self.braced_values(ImmediateType::Float32)?;
            self.legacy.push_element(words, declared.span);
        }
        self.expect(b'}')
    }
}
