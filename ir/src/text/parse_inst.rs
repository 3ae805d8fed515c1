//! Parses instructions.

use cranelift_entity::packed_option::ReservedValue;

use super::error::TextErrorKind;
use super::index_text::{letter_component, parse_index, parse_io_semantics, parse_modes, parse_xfb};
use super::lexer::{Failure, Outcome, Scanner, did_you_mean};
use super::parse_body::{BodyParser, Dest, InstLine};
use super::print::{mask_to, parse_float, sign_extend};
use super::reconstruct::guess_num_components;
use crate::alu::{AluOp, AluType};
use crate::body::{
    AluFlags, CastLayout, DerefKind, InstData, MAX_COMPONENTS, MAX_INDICES, SourceSpec, Swizzle, TexData, TexOp,
    TexSrcKind,
};
use crate::entities::{Cast, Inst, Type};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::variable::VariableModes;
use tgsi_environment::SamplerDim;

/// Maximum number of sources of an instruction. (A parallel copy has two for an entry that writes a register.)
const MAX_SOURCES: usize = 30_000;

const NEEDS_VALUE: &str = "this instruction must define a value";
const MAKES_NO_VALUE: &str = "this instruction does not define a value";

impl<'a> BodyParser<'_, 'a> {
    /// Creates the instruction of a line. It is not in any block yet.
    pub(super) fn inst(&mut self, line: &InstLine<'a>) -> Outcome<Inst> {
        let mut s = line.rest;
        let start = s;
        let text = s.rest().trim_start();
        if text.starts_with(['%', '*']) {
            return self.parallel_copy(line, s);
        }
        if text.starts_with('(') {
            return self.tex(line, s);
        }
        if s.eat("@") {
            return self.intrinsic(line, s);
        }
        let Some(word) = s.identifier() else { return start.fail(TextErrorKind::Expected("an instruction")) };
        if word == "call" {
            return self.call(line, s);
        }
        let dest = self.needs_value(line, &start)?;
        match word {
            "undefined" => {
                s.finish()?;
                Ok(self.make(InstData::Undef, &[], dest))
            }
            "load_const" => self.load_const(dest, s),
            "phi" => self.phi(dest, s),
            "deref_var" | "deref_array" | "deref_ptr_as_array" | "deref_struct" | "deref_cast" => {
                self.deref(line, dest, word, s)
            }
            _ => self.alu(line, dest, word, &start, s),
        }
    }

    fn needs_value(&self, line: &InstLine<'a>, s: &Scanner<'a>) -> Outcome<Dest> {
        line.dest.map_or_else(|| s.fail(TextErrorKind::Destination(NEEDS_VALUE)), Ok)
    }

    fn make(&mut self, data: InstData, sources: &[SourceSpec], dest: Dest) -> Inst {
        self.body.create_inst_with_def(data, sources, Some(dest.shape), Some(dest.def))
    }

    fn alu(
        &mut self,
        line: &InstLine<'a>,
        dest: Dest,
        word: &str,
        start: &Scanner<'a>,
        mut s: Scanner<'a>,
    ) -> Outcome<Inst> {
        let Some(op) = AluOp::from_name(word) else {
            let hint = self.hint(|| did_you_mean(word, AluOp::ALL.iter().map(|op| op.name())));
            return with_hint(start.fail(TextErrorKind::UnknownOpcode(word.to_string())), hint);
        };
        let mut flags = AluFlags::NONE;
        if s.eat("!") {
            flags = flags.union(AluFlags::EXACT);
        }
        if s.eat(".nsw") {
            flags = flags.union(AluFlags::NO_SIGNED_WRAP);
        }
        if s.eat(".nuw") {
            flags = flags.union(AluFlags::NO_UNSIGNED_WRAP);
        }
        let expected = usize::from(op.info().num_inputs);
        let mut sources: arrayvec::ArrayVec<SourceSpec, MAX_COMPONENTS> = arrayvec::ArrayVec::new();
        let mut found = 0;
        if !s.is_done() {
            loop {
                let number = found;
                found += 1;
                let operand = s;
                let def = self.value(&mut s)?;
                let used = usize::from(op.input_components(number, dest.shape.num_components));
                let size = usize::from(self.body.num_components(def));
                let swizzle = if s.rest().starts_with('.') {
                    s.eat(".");
                    self.swizzle(&mut s, used, def)?
                } else if size < used {
                    return operand.fail(TextErrorKind::OperandTooSmall { size, used });
                } else {
                    Swizzle::IDENTITY
                };
                if sources.len() < sources.capacity() {
                    sources.push(SourceSpec::alu(def, swizzle));
                }
                if !s.eat(",") {
                    break;
                }
            }
        }
        s.finish()?;
        if found != expected {
            return start.fail(TextErrorKind::WrongSourceCount { name: op.name(), expected, found });
        }
        for word in self.parser.lines[line.line].comment_words() {
            if let Some(digits) = word.strip_prefix("fast_math=0x") {
                match u16::from_str_radix(digits, 16).ok().filter(|bits| bits >> 9 == 0) {
                    Some(bits) => flags = flags.union(AluFlags(bits << AluFlags::FAST_MATH_SHIFT)),
                    None => return s.fail(TextErrorKind::BadIndexValue("fast_math".to_string())),
                }
            }
        }
        Ok(self.make(InstData::Alu { op, flags }, &sources, dest))
    }

    fn swizzle(&self, s: &mut Scanner<'a>, used: usize, def: crate::entities::Def) -> Outcome<Swizzle> {
        let start = *s;
        let letters = s.letters();
        let size = self.body.num_components(def);
        let mut selectors: arrayvec::ArrayVec<u8, MAX_COMPONENTS> = arrayvec::ArrayVec::new();
        for letter in letters.bytes() {
            // Sources of more than four components have different letters.
            let fits = (size > 4) == (letter < b'q');
            match letter_component(letter).filter(|&c| fits && c < size && selectors.len() < MAX_COMPONENTS) {
                Some(component) => selectors.push(component),
                None => return start.fail(TextErrorKind::BadSwizzle(letters.to_string())),
            }
        }
        if selectors.len() != used {
            return start.fail(TextErrorKind::BadSwizzle(letters.to_string()));
        }
        Ok(Swizzle::new(&selectors))
    }

    /// Computes a hint, unless there are too many errors for hints to be useful.
    fn hint(&self, make: impl FnOnce() -> Option<String>) -> Option<String> {
        if self.parser.errors.len() < 20 { make() } else { None }
    }

    fn load_const(&mut self, dest: Dest, mut s: Scanner<'a>) -> Outcome<Inst> {
        s.expect("(", "`(`")?;
        let bits = dest.shape.bit_size;
        let expected = usize::from(dest.shape.num_components);
        let mut values: arrayvec::ArrayVec<u64, MAX_COMPONENTS> = arrayvec::ArrayVec::new();
        let mut found = 0;
        let start = s;
        loop {
            let at = s;
            let text = s.rest().trim_start();
            let end = text.find([',', ')', ' ', '=']).unwrap_or(text.len());
            let (word, rest) = text.split_at(end);
            s = Scanner::new(rest, s.offset() + (s.rest().len() - rest.len()));
            match constant_value(word, bits) {
                Some(value) => {
                    found += 1;
                    let _ = values.try_push(value);
                }
                None => return at.fail(TextErrorKind::BadConstant(word.to_string(), bits)),
            }
            if !s.eat(",") {
                break;
            }
        }
        if found != expected {
            return start.fail(TextErrorKind::WrongConstantCount { expected, found });
        }
        // Other interpretations of the same bits follow: `= 1.5 = 3)`, `) = (1.5, 2.5)`.
        if !s.eat("=") {
            s.expect(")", "`)`")?;
            if !s.eat("=") {
                s.finish()?;
            }
        }
        let start = self.body.push_constants(&values);
        Ok(self.make(InstData::LoadConst { start }, &[], dest))
    }

    fn phi(&mut self, dest: Dest, mut s: Scanner<'a>) -> Outcome<Inst> {
        let mut sources = Vec::new();
        if !s.is_done() {
            loop {
                let predecessor = self.block_at(&mut s)?;
                s.expect(":", "`:`")?;
                let def = self.value(&mut s)?;
                sources.push(SourceSpec::phi(predecessor, def));
                if sources.len() > MAX_SOURCES {
                    return s.fail(TextErrorKind::TooManySources);
                }
                if !s.eat(",") {
                    break;
                }
            }
        }
        s.finish()?;
        Ok(self.make(InstData::Phi, &sources, dest))
    }

    fn deref(&mut self, line: &InstLine<'a>, dest: Dest, word: &str, mut s: Scanner<'a>) -> Outcome<Inst> {
        let mut sources: arrayvec::ArrayVec<SourceSpec, 2> = arrayvec::ArrayVec::new();
        let mut index = None;
        let start = s;
        let kind = match word {
            "deref_var" => {
                s.expect("&", "`&`")?;
                let Some(name) = s.split_last_group() else {
                    return s.fail(TextErrorKind::Expected("modes and type in parentheses"));
                };
                let text = name.rest().trim();
                match self.parser.variables.get(text) {
                    Some(&variable) => DerefKind::Var(variable),
                    None => return name.fail(TextErrorKind::UnknownVariable(text.to_string())),
                }
            }
            "deref_cast" => {
                // The type of the pointer is repeated later.
                s.group()?;
                sources.push(self.plain(&mut s)?);
                // Its layout comes last.
                DerefKind::Cast(Cast::reserved_value())
            }
            "deref_struct" => {
                s.expect("&", "`&`")?;
                let parent = self.value(&mut s)?;
                sources.push(SourceSpec::plain(parent));
                s.expect("->", "`->`")?;
                let Some(name) = s.split_last_group() else {
                    return s.fail(TextErrorKind::Expected("modes and type in parentheses"));
                };
                let text = name.rest().trim();
                match self.deref_type(parent).and_then(|ty| self.parser.field(ty, text)) {
                    Some(field) => DerefKind::Struct(field),
                    None => return name.fail(TextErrorKind::UnknownField(text.to_string())),
                }
            }
            _ => {
                s.expect("&", "`&`")?;
                s.expect("(*", "`(*`")?;
                sources.push(self.plain(&mut s)?);
                s.expect(")", "`)`")?;
                s.expect("[", "`[`")?;
                let pointer = word == "deref_ptr_as_array";
                let mut kind = if pointer { DerefKind::PtrAsArray } else { DerefKind::Array };
                if !pointer && s.eat("*") {
                    kind = DerefKind::ArrayWildcard;
                } else if s.rest().starts_with('%') {
                    sources.push(self.plain(&mut s)?);
                } else {
                    let start = s;
                    let value: i64 = s.number("an index")?;
                    let bits = dest.shape.bit_size;
                    let masked = mask_to(bits, value as u64);
                    if sign_extend(bits, masked) != value {
                        return start.fail(TextErrorKind::BadConstant(value.to_string(), bits));
                    }
                    // Resolved when all constants are known; until then the deref itself is a placeholder for its
                    // index.
                    sources.push(SourceSpec::plain(dest.def));
                    index = Some(masked);
                }
                s.expect("]", "`]`")?;
                kind
            }
        };
        let inside = s.group()?;
        let (modes, mut ty) = self.modes_and_type(inside)?;
        let kind = match kind {
            DerefKind::Cast(_) => {
                let layout = cast_layout(&mut s)?;
                DerefKind::Cast(self.body.push_cast(layout))
            }
            kind => kind,
        };
        s.finish()?;
        for word in self.parser.lines[line.line].comment_words() {
            if let Some(name) = word.strip_prefix("type=") {
                ty = self.parser.type_at(&start, name)?;
            } else if let Some(number) = word.strip_prefix("index=")
                && index.take().is_some()
            {
                let def = self.value(&mut Scanner::new(number, s.offset()))?;
                sources.truncate(1);
                sources.push(SourceSpec::plain(def));
            }
        }
        let inst = self.make(InstData::Deref { kind, modes, ty }, &sources, dest);
        if let Some(value) = index {
            self.wanted.push((inst, (dest.shape.bit_size, value)));
        }
        Ok(inst)
    }

    /// The type that an already parsed deref points to.
    fn deref_type(&self, def: crate::entities::Def) -> Option<Type> {
        match *self.body.inst(self.body.try_def_inst(def)?) {
            InstData::Deref { ty, .. } => Some(ty),
            _ => None,
        }
    }

    /// Parses `function_temp|shared float[3]`.
    fn modes_and_type(&mut self, s: Scanner<'a>) -> Outcome<(VariableModes, Type)> {
        let Some((modes, name)) = s.rest().split_once(' ') else {
            return s.fail(TextErrorKind::Expected("modes and a type"));
        };
        let parsed = if modes.is_empty() { Some(VariableModes::NONE) } else { parse_modes(modes) };
        let Some(parsed) = parsed else { return s.fail(TextErrorKind::UnknownMode(modes.to_string())) };
        let ty = self.parser.type_at(&s, name)?;
        Ok((parsed, ty))
    }

    fn call(&mut self, line: &InstLine<'a>, mut s: Scanner<'a>) -> Outcome<Inst> {
        if line.dest.is_some() {
            return s.fail(TextErrorKind::Destination(MAKES_NO_VALUE));
        }
        let start = s;
        let name = s.word().unwrap_or("");
        let Some(&callee) = self.parser.functions.get(name) else {
            return start.fail(TextErrorKind::UnknownFunction(name.to_string()));
        };
        let mut sources = Vec::new();
        let indirect = s.eat("(indirect ");
        if indirect {
            sources.push(self.plain(&mut s)?);
            s.expect(")", "`)`")?;
        }
        while let Some(at) = s.rest().find('%') {
            s = Scanner::new(&s.rest()[at..], s.offset() + at);
            sources.push(self.plain(&mut s)?);
            if sources.len() > MAX_SOURCES {
                return s.fail(TextErrorKind::TooManySources);
            }
            if !s.eat(",") {
                break;
            }
        }
        s.finish()?;
        Ok(self.body.create_inst(InstData::Call { callee, indirect }, &sources, None))
    }

    fn parallel_copy(&mut self, line: &InstLine<'a>, mut s: Scanner<'a>) -> Outcome<Inst> {
        let inst = self.body.create_parallel_copy();
        // The first value of the line was parsed already.
        let mut dest = line.dest;
        let mut entries = 0usize;
        loop {
            entries += 1;
            if entries > MAX_SOURCES {
                return s.fail(TextErrorKind::TooManySources);
            }
            let mut handle = None;
            if entries > 1 || dest.is_none() {
                dest = None;
                if s.eat("*") {
                    handle = Some(self.value(&mut s)?);
                    s.expect("=", "`=`")?;
                } else {
                    dest = Some(self.copy_destination(&mut s)?);
                }
            }
            let is_register = s.eat("*");
            let source = self.value(&mut s)?;
            match (dest, handle) {
                (Some(dest), _) => self.body.add_copy_to(inst, source, dest.def, dest.shape),
                (None, Some(handle)) => self.body.add_copy_to_register(inst, source, handle),
                (None, None) => return s.fail(TextErrorKind::Destination(NEEDS_VALUE)),
            }
            if is_register {
                self.body.set_copy_source_register(inst, entries - 1, source);
            }
            if !s.eat(";") {
                break;
            }
        }
        s.finish()?;
        Ok(inst)
    }

    /// Parses `32x4 %7 =` in a parallel copy; the value was reserved with its shape when the tree was parsed.
    fn copy_destination(&mut self, s: &mut Scanner<'a>) -> Outcome<Dest> {
        let divergent = s.eat_word("div");
        let marked = divergent || s.eat_word("con");
        let _: u32 = s.number("a bit size")?;
        if s.rest().starts_with('x') {
            s.eat("x");
            let _: u32 = s.number("a number of components")?;
        }
        let def = self.value(s)?;
        s.expect("=", "`=`")?;
        Ok(Dest { def, shape: self.body.shape(def), divergent: marked.then_some(divergent) })
    }

    fn tex(&mut self, line: &InstLine<'a>, mut s: Scanner<'a>) -> Outcome<Inst> {
        let start = s;
        let dest = self.needs_value(line, &start)?;
        let inside = s.group()?;
        let Some(dest_type) = AluType::from_name(inside.rest()) else {
            return inside.fail(TextErrorKind::UnknownAluType(inside.rest().to_string()));
        };
        let name_start = s;
        let name = s.identifier().unwrap_or("");
        let Some(op) = TexOp::from_name(name) else {
            let hint = self.hint(|| did_you_mean(name, TexOp::ALL.iter().map(|op| op.name())));
            return with_hint(name_start.fail(TextErrorKind::UnknownTexOp(name.to_string())), hint);
        };
        let mut tex = TexData::new(op, SamplerDim::Dim2D, dest_type);
        let mut sources = Vec::new();
        while let Some(mut piece) = s.piece() {
            if piece.rest().trim_start().starts_with('%') {
                let def = self.value(&mut piece)?;
                let inside = piece.group()?;
                match TexSrcKind::from_name(inside.rest()) {
                    Some(kind) => sources.push(SourceSpec::tex(kind, def)),
                    None => return inside.fail(TextErrorKind::UnknownTexSource(inside.rest().to_string())),
                }
                if sources.len() > MAX_SOURCES {
                    return piece.fail(TextErrorKind::TooManySources);
                }
            } else {
                tex_extra(&mut piece, &mut tex)?;
            }
            piece.finish()?;
        }
        let tex = self.body.push_tex(tex);
        let inst = self.make(InstData::Tex(tex), &sources, dest);
        self.texs.push((inst, line.line));
        Ok(inst)
    }

    fn intrinsic(&mut self, line: &InstLine<'a>, mut s: Scanner<'a>) -> Outcome<Inst> {
        let start = s;
        let name = s.identifier().unwrap_or("");
        let Some(op) = IntrinsicOp::from_name(name) else {
            let hint = self.hint(|| did_you_mean(name, IntrinsicOp::ALL.iter().map(|op| op.name())));
            return with_hint(start.fail(TextErrorKind::UnknownIntrinsic(name.to_string())), hint);
        };
        let info = op.info();
        if info.has_dest() != line.dest.is_some() {
            let message = if info.has_dest() { NEEDS_VALUE } else { MAKES_NO_VALUE };
            return start.fail(TextErrorKind::Destination(message));
        }
        let mut sources: arrayvec::ArrayVec<SourceSpec, 16> = arrayvec::ArrayVec::new();
        let mut found = 0;
        if s.rest().trim_start().starts_with("(%") {
            s.expect("(", "`(`")?;
            loop {
                found += 1;
                let source = self.plain(&mut s)?;
                let _ = sources.try_push(source);
                if !s.eat(",") {
                    break;
                }
            }
            s.expect(")", "`)`")?;
        }
        let expected = info.num_srcs();
        if found != expected {
            return start.fail(TextErrorKind::WrongSourceCount { name: op.name(), expected, found });
        }
        let mut indices = [0; MAX_INDICES];
        if !s.is_done() {
            let mut inside = s.group()?;
            while let Some(piece) = inside.piece() {
                intrinsic_index(op, piece, &mut indices)?;
            }
        }
        s.finish()?;
        let source = |i: usize| sources.get(i).map(|s| self.body.num_components(s.def));
        let mut num_components = guess_num_components(op, line.dest.map(|d| d.shape.num_components), source);
        for word in self.parser.lines[line.line].comment_words() {
            if let Some(number) = word.strip_prefix("num_components=") {
                match number.parse() {
                    Ok(number) => num_components = number,
                    Err(_) => return s.fail(TextErrorKind::BadIndexValue("num_components".to_string())),
                }
            }
        }
        let indices = self.body.push_indices(indices);
        let data = InstData::Intrinsic { op, num_components, indices };
        Ok(match line.dest {
            Some(dest) => self.make(data, &sources, dest),
            None => self.body.create_inst(data, &sources, None),
        })
    }
}

fn with_hint<T>(outcome: Outcome<T>, hint: Option<String>) -> Outcome<T> {
    outcome.map_err(|failure| Failure { hint, ..failure })
}

/// Parses a component of a constant: hexadecimal, `true`, or (in handwritten text) a decimal number.
fn constant_value(word: &str, bits: u8) -> Option<u64> {
    let fits = |value: u64| (mask_to(bits, value) == value).then_some(value);
    match word {
        "true" if bits == 1 => return Some(1),
        "false" if bits == 1 => return Some(0),
        _ => {}
    }
    if let Some(digits) = word.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().and_then(fits);
    }
    if let Ok(value) = word.parse::<u64>() {
        return fits(value);
    }
    if let Ok(value) = word.parse::<i64>() {
        let masked = mask_to(bits, value as u64);
        return (sign_extend(bits, masked) == value).then_some(masked);
    }
    if bits >= 16 { parse_float(word, bits) } else { None }
}

/// Parses `(ptr_stride=0, align_mul=0, align_offset=0)`.
fn cast_layout(s: &mut Scanner<'_>) -> Outcome<CastLayout> {
    let mut numbers = [0u32; 3];
    if !s.is_done() {
        s.expect("(", "`(`")?;
        for (i, name) in ["ptr_stride=", "align_mul=", "align_offset="].into_iter().enumerate() {
            if i > 0 {
                s.expect(",", "`,`")?;
            }
            s.expect(name, "the layout of a pointer")?;
            numbers[i] = s.number("a number")?;
        }
        s.expect(")", "`)`")?;
    }
    let [ptr_stride, align_mul, align_offset] = numbers;
    Ok(CastLayout { ptr_stride, align_mul, align_offset })
}

/// Parses a property after the sources of a texture instruction.
fn tex_extra(s: &mut Scanner<'_>, tex: &mut TexData) -> Outcome<()> {
    let start = *s;
    if s.eat("implicit lod") {
        tex.is_gather_implicit_lod = true;
    } else if s.eat("texture non-uniform") {
        tex.texture_non_uniform = true;
    } else if s.eat("sampler non-uniform") {
        tex.sampler_non_uniform = true;
    } else if s.eat_word("sparse") {
        tex.is_sparse = true;
    } else if s.eat("{") {
        for (i, pair) in tex.tg4_offsets.iter_mut().enumerate() {
            if i > 0 {
                s.expect(",", "`,`")?;
            }
            s.expect("(", "`(`")?;
            let x = s.number("an offset")?;
            s.expect(",", "`,`")?;
            *pair = [x, s.number("an offset")?];
            s.expect(")", "`)`")?;
        }
        s.expect("}", "`}`")?;
        s.expect("(offsets)", "`(offsets)`")?;
    } else {
        let number: u32 = s.number("a source or property of a texture instruction")?;
        let inside = s.group()?;
        match inside.rest() {
            "texture" => tex.texture_index = number,
            "sampler" => tex.sampler_index = number,
            "gather_component" => match u8::try_from(number) {
                Ok(component) => tex.component = component,
                Err(_) => return start.fail(TextErrorKind::Expected("a component")),
            },
            other => return inside.fail(TextErrorKind::UnknownTexSource(other.to_string())),
        }
    }
    Ok(())
}

/// Parses one `name=value` of an intrinsic.
fn intrinsic_index(op: IntrinsicOp, s: Scanner<'_>, indices: &mut [i32; MAX_INDICES]) -> Outcome<()> {
    let text = s.rest().trim();
    let xfb = |word: &str| text.strip_prefix(word).and_then(|t| t.strip_prefix('(')).and_then(|t| t.strip_suffix(')'));
    let (name, kind, value) = if let Some(rest) = text.strip_prefix("io ") {
        ("io", Some(IndexKind::IoSemantics), parse_io_semantics(rest))
    } else if let Some(inside) = xfb("xfb") {
        ("xfb", Some(IndexKind::IoXfb), parse_xfb(0, inside))
    } else if let Some(inside) = xfb("xfb2") {
        ("xfb2", Some(IndexKind::IoXfb2), parse_xfb(2, inside))
    } else {
        let Some((name, value)) = text.split_once('=') else {
            return s.fail(TextErrorKind::Expected("a constant index, `name=value`"));
        };
        let kind = IndexKind::from_name(name);
        (name, kind, kind.and_then(|kind| parse_index(kind, value)))
    };
    let Some(slot) = kind.and_then(|kind| op.info().index_slot(kind)) else {
        let hint = did_you_mean(name, op.info().indices.iter().map(|i| i.name()));
        return with_hint(s.fail(TextErrorKind::UnknownIndex { intrinsic: op.name(), index: name.to_string() }), hint);
    };
    match value {
        Some(value) => {
            indices[slot] = value;
            Ok(())
        }
        None => s.fail(TextErrorKind::BadIndexValue(name.to_string())),
    }
}
