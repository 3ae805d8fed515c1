//! Parses constants, properties of texture instructions and indices of intrinsics.

use super::with_hint;
use crate::body::{MAX_INDICES, TexData};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::text::error::TextErrorKind;
use crate::text::index_text::{parse_index, parse_io_semantics, parse_xfb};
use crate::text::lexer::{ParseResult, Scanner, did_you_mean};
use crate::text::print::{mask_to, parse_float, sign_extend};

/// Parses a component of a constant: hexadecimal, `true`, or (in handwritten text) a decimal number.
pub(super) fn constant_value(word: &str, bits: u8) -> Option<u64> {
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

/// Parses a property after the sources of a texture instruction.
pub(super) fn tex_extra(s: &mut Scanner<'_>, tex: &mut TexData) -> ParseResult<()> {
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
pub(super) fn intrinsic_index(op: IntrinsicOp, s: Scanner<'_>, indices: &mut [i32; MAX_INDICES]) -> ParseResult<()> {
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
