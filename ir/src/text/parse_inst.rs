//! Parses instructions.

mod deref;
mod operands;

use super::error::TextErrorKind;
use super::index_text::letter_component;
use super::lexer::{Failure, ParseResult, Scanner, did_you_mean};
use super::parse_body::{BodyParser, Dest, InstLine};
use super::reconstruct::guess_num_components;
use crate::alu::{AluOp, AluType};
use crate::body::{AluFlags, InstData, MAX_COMPONENTS, MAX_INDICES, SourceSpec, Swizzle, TexData, TexOp, TexSrcKind};
use crate::entities::Inst;
use crate::intrinsics::IntrinsicOp;
use operands::{constant_value, intrinsic_index, tex_extra};
use tgsi_environment::SamplerDim;

/// Maximum number of sources of an instruction. (A parallel copy has two for an entry that writes a register.)
const MAX_SOURCES: usize = 30_000;

const NEEDS_VALUE: &str = "this instruction must define a value";
const MAKES_NO_VALUE: &str = "this instruction does not define a value";

impl<'a> BodyParser<'_, 'a> {
    /// Creates the instruction of a line. It is not in any block yet.
    pub(super) fn inst(&mut self, line: &InstLine<'a>) -> ParseResult<Inst> {
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

    fn needs_value(&self, line: &InstLine<'a>, s: &Scanner<'a>) -> ParseResult<Dest> {
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
    ) -> ParseResult<Inst> {
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

    fn swizzle(&self, s: &mut Scanner<'a>, used: usize, def: crate::entities::Def) -> ParseResult<Swizzle> {
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

    fn load_const(&mut self, dest: Dest, mut s: Scanner<'a>) -> ParseResult<Inst> {
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

    fn phi(&mut self, dest: Dest, mut s: Scanner<'a>) -> ParseResult<Inst> {
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

    fn call(&mut self, line: &InstLine<'a>, mut s: Scanner<'a>) -> ParseResult<Inst> {
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

    fn parallel_copy(&mut self, line: &InstLine<'a>, mut s: Scanner<'a>) -> ParseResult<Inst> {
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
    fn copy_destination(&mut self, s: &mut Scanner<'a>) -> ParseResult<Dest> {
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

    fn tex(&mut self, line: &InstLine<'a>, mut s: Scanner<'a>) -> ParseResult<Inst> {
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

    fn intrinsic(&mut self, line: &InstLine<'a>, mut s: Scanner<'a>) -> ParseResult<Inst> {
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

fn with_hint<T>(outcome: ParseResult<T>, hint: Option<String>) -> ParseResult<T> {
    outcome.map_err(|failure| Failure { hint, ..failure })
}
