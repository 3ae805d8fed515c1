//! Parses derefs.

use cranelift_entity::packed_option::ReservedValue;

use crate::body::{CastLayout, DerefKind, InstData, SourceSpec};
use crate::entities::{Cast, Inst, Type};
use crate::text::error::TextErrorKind;
use crate::text::index_text::parse_modes;
use crate::text::lexer::{ParseResult, Scanner};
use crate::text::parse_body::{BodyParser, Dest, InstLine};
use crate::text::print::{mask_to, sign_extend};
use crate::variable::VariableModes;

impl<'a> BodyParser<'_, 'a> {
    pub(super) fn deref(
        &mut self,
        line: &InstLine<'a>,
        dest: Dest,
        word: &str,
        mut s: Scanner<'a>,
    ) -> ParseResult<Inst> {
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
    fn modes_and_type(&mut self, s: Scanner<'a>) -> ParseResult<(VariableModes, Type)> {
        let Some((modes, name)) = s.rest().split_once(' ') else {
            return s.fail(TextErrorKind::Expected("modes and a type"));
        };
        let parsed = if modes.is_empty() { Some(VariableModes::NONE) } else { parse_modes(modes) };
        let Some(parsed) = parsed else { return s.fail(TextErrorKind::UnknownMode(modes.to_string())) };
        let ty = self.parser.type_at(&s, name)?;
        Ok((parsed, ty))
    }
}

/// Parses `(ptr_stride=0, align_mul=0, align_offset=0)`.
fn cast_layout(s: &mut Scanner<'_>) -> ParseResult<CastLayout> {
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
