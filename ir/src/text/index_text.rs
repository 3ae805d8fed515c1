//! Prints and parses constant indices of intrinsics.
//!
//! A number without a name is printed in decimal and parsed unchanged, so that no value of an index is lost.

use std::fmt::Write;

use super::lexer::parse_number;
use super::slot_names::{io_mode, slot_from_name, slot_name};
use crate::alu::{AluOp, AluType};
use crate::intrinsics::indices::{
    AccessFlags, AtomicOp, DescType, InterpMode, IoSemantics, IoXfb, IoXfbOut, MemorySemantics, RoundingMode, Scope,
};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::ShaderStage;
use crate::variable::VariableModes;
use tgsi_environment::PixelFormat;
use tgsi_environment::SamplerDim;

/// Letters of components: `xyzw` for up to four components, `a` to `p` for more.
pub(super) fn component_letters(num_components: usize) -> &'static [u8; 16] {
    if num_components > 4 { b"abcdefghijklmnop" } else { b"xyzwefghijklmnop" }
}

/// The component of a letter of either alphabet.
pub(super) fn letter_component(letter: u8) -> Option<u8> {
    match letter {
        b'x' => Some(0),
        b'y' => Some(1),
        b'z' => Some(2),
        b'w' => Some(3),
        b'a'..=b'p' => Some(letter - b'a'),
        _ => None,
    }
}

fn word_or_number(out: &mut String, word: Option<&str>, value: i32) {
    match word {
        Some(word) => out.push_str(word),
        None => {
            let _ = write!(out, "{value}");
        }
    }
}

/// Appends `name=value`.
pub(super) fn push_index(
    out: &mut String,
    stage: ShaderStage,
    op: IntrinsicOp,
    num_components: u8,
    kind: IndexKind,
    value: i32,
) {
    match kind {
        IndexKind::IoSemantics => return push_io_semantics(out, stage, op, value),
        IndexKind::IoXfb => return push_xfb(out, "xfb", 0, value),
        IndexKind::IoXfb2 => return push_xfb(out, "xfb2", 2, value),
        _ => {}
    }
    out.push_str(kind.name());
    out.push('=');
    match kind {
        IndexKind::WriteMask => push_write_mask(out, num_components, value),
        IndexKind::ReductionOp => {
            let op = usize::try_from(value).ok().and_then(|v| AluOp::ALL.get(v));
            word_or_number(out, op.map(|op| op.name()), value);
        }
        IndexKind::AtomicOp => word_or_number(out, AtomicOp::from_i32(value).map(AtomicOp::name), value),
        IndexKind::ImageDim => word_or_number(out, SamplerDim::from_i32(value).map(SamplerDim::name), value),
        IndexKind::ImageArray => {
            let word = match value {
                0 => Some("false"),
                1 => Some("true"),
                _ => None,
            };
            word_or_number(out, word, value);
        }
        IndexKind::Format => match u32::try_from(value).ok().and_then(PixelFormat::from_value) {
            Some(format) => push_format(out, format),
            None => word_or_number(out, None, value),
        },
        IndexKind::DescType => word_or_number(out, DescType::from_i32(value).map(DescType::name), value),
        IndexKind::SrcType | IndexKind::DestType => {
            let ty = AluType::from_i32(value);
            word_or_number(out, (ty.to_i32() == value).then(|| ty.name()), value);
        }
        IndexKind::MemorySemantics => {
            let _ = match value {
                0..=15 => write!(out, "{}", MemorySemantics::from_i32(value)),
                _ => write!(out, "{value}"),
            };
        }
        IndexKind::MemoryModes => {
            let known = VariableModes::ALL.iter().fold(0, |all, (mode, ..)| all | mode.0);
            match value as u32 & !known {
                0 if value != 0 => push_modes(out, VariableModes(value as u32)),
                _ => word_or_number(out, None, value),
            }
        }
        IndexKind::ExecutionScope | IndexKind::MemoryScope => {
            word_or_number(out, Scope::from_i32(value).map(Scope::name), value);
        }
        IndexKind::Access => {
            let known = AccessFlags::FLAGS.iter().fold(0, |all, (flag, _)| all | flag.0);
            let _ = match value as u32 & !known {
                0 => write!(out, "{}", AccessFlags::from_i32(value)),
                _ => write!(out, "{value}"),
            };
        }
        IndexKind::InterpMode => match InterpMode::from_i32(value) {
            Some(mode) => {
                let _ = write!(out, "{}{}", InterpMode::PRINT_PREFIX, mode.name());
            }
            None => word_or_number(out, None, value),
        },
        IndexKind::RoundingMode => word_or_number(out, RoundingMode::from_i32(value).map(RoundingMode::name), value),
        _ => word_or_number(out, None, value),
    }
}

/// Appends the short name of a format in lower case.
pub(super) fn push_format(out: &mut String, format: PixelFormat) {
    out.extend(format.short_name().chars().map(|c| c.to_ascii_lowercase()));
}

fn push_write_mask(out: &mut String, num_components: u8, mask: i32) {
    let count = usize::from(num_components.min(16));
    if mask as u32 >> count != 0 {
        let _ = write!(out, "0x{mask:x}");
        return;
    }
    let letters = component_letters(count);
    out.extend((0..count).filter(|i| mask >> i & 1 != 0).map(|i| char::from(letters[i])));
}

/// Appends the names of modes, joined by `|`.
pub(super) fn push_modes(out: &mut String, modes: VariableModes) {
    for (i, name) in modes.names().enumerate() {
        if i > 0 {
            out.push('|');
        }
        out.push_str(name);
    }
}

fn push_io_semantics(out: &mut String, stage: ShaderStage, op: IntrinsicOp, value: i32) {
    let semantics = IoSemantics::from_i32(value);
    let mode = io_mode(op);
    out.push_str("io location=");
    word_or_number(out, slot_name(stage, mode, i32::from(semantics.location)), i32::from(semantics.location));
    let _ = write!(out, " slots={}", semantics.num_slots);
    for flag in semantics.flag_names() {
        out.push(' ');
        out.push_str(flag);
    }
    let store = mode == VariableModes::SHADER_OUT && op.info().index_slot(IndexKind::WriteMask).is_some();
    if stage == ShaderStage::Geometry && store || semantics.gs_streams != 0 {
        let stream = |i: u32| semantics.gs_streams >> (2 * i) & 3;
        let _ = write!(out, " gs_streams(x={} y={} z={} w={})", stream(0), stream(1), stream(2), stream(3));
    }
}

fn push_xfb(out: &mut String, word: &str, first: u8, value: i32) {
    let xfb = IoXfb::from_i32(value);
    out.push_str(word);
    out.push('(');
    if xfb.out.iter().any(|o| o.num_components == 0 && (o.buffer != 0 || o.offset != 0)) {
        let _ = write!(out, "raw=0x{value:x}");
    } else {
        let mut separator = "";
        for (i, entry) in xfb.out.iter().enumerate().filter(|(_, o)| o.num_components != 0) {
            let start = first + i as u8;
            out.push_str(separator);
            separator = ", ";
            let _ = match entry.num_components {
                1 => write!(out, "component={start}"),
                n => write!(out, "components={start}..{}", start + n - 1),
            };
            let _ = write!(out, " buffer={} offset={}", entry.buffer, u32::from(entry.offset) * 4);
        }
    }
    out.push(')');
}

/// Parses the value after `name=` for an index of a plain form.
pub(super) fn parse_index(kind: IndexKind, text: &str) -> Option<i32> {
    let word = match kind {
        IndexKind::WriteMask => return parse_write_mask(text),
        IndexKind::ReductionOp => AluOp::from_name(text).map(|op| op as i32),
        IndexKind::AtomicOp => AtomicOp::from_name(text).map(AtomicOp::to_i32),
        IndexKind::ImageDim => return SamplerDim::from_name(text).map(SamplerDim::to_i32).or_else(|| number(text)),
        IndexKind::ImageArray => match text {
            "false" => Some(0),
            "true" => Some(1),
            _ => None,
        },
        IndexKind::Format => PixelFormat::from_short_name(text).map(|f| i32::from(f.value())),
        IndexKind::DescType => DescType::from_name(text).map(DescType::to_i32),
        IndexKind::SrcType | IndexKind::DestType => AluType::from_name(text).map(AluType::to_i32),
        IndexKind::MemorySemantics => MemorySemantics::parse(text).map(MemorySemantics::to_i32),
        IndexKind::MemoryModes => parse_modes(text).map(|modes| modes.0 as i32),
        IndexKind::ExecutionScope | IndexKind::MemoryScope => Scope::from_name(text).map(Scope::to_i32),
        IndexKind::Access => AccessFlags::parse(text).map(AccessFlags::to_i32),
        IndexKind::InterpMode => {
            text.strip_prefix(InterpMode::PRINT_PREFIX).and_then(InterpMode::from_name).map(InterpMode::to_i32)
        }
        IndexKind::RoundingMode => RoundingMode::from_name(text).map(RoundingMode::to_i32),
        IndexKind::IoSemantics | IndexKind::IoXfb | IndexKind::IoXfb2 => return None,
        _ => None,
    };
    word.or_else(|| number(text))
}

fn number(text: &str) -> Option<i32> {
    text.parse::<i32>().ok().or_else(|| parse_number(text).map(|number| number as i32))
}

fn parse_write_mask(text: &str) -> Option<i32> {
    if text.starts_with("0x") {
        return number(text);
    }
    text.bytes().try_fold(0, |mask, letter| Some(mask | 1 << letter_component(letter)?))
}

/// Parses mode names joined by `|`.
pub(super) fn parse_modes(text: &str) -> Option<VariableModes> {
    text.split('|').try_fold(VariableModes::NONE, |modes, word| {
        VariableModes::ALL.iter().find(|(_, name, _)| *name == word).map(|&(mode, ..)| modes.union(mode))
    })
}

/// Parses `location=... slots=... words [gs_streams(...)]` (the text after `io `).
pub(super) fn parse_io_semantics(text: &str) -> Option<i32> {
    let (text, streams) = match text.split_once(" gs_streams(") {
        Some((head, tail)) => (head, Some(tail.strip_suffix(')')?)),
        None => (text, None),
    };
    let mut words = text.split_ascii_whitespace();
    let location = words.next()?.strip_prefix("location=")?;
    let location = slot_from_name(location).or_else(|| number(location)).filter(|v| (0..128).contains(v))?;
    let slots = words.next()?.strip_prefix("slots=")?.parse::<u8>().ok().filter(|&v| v < 64)?;
    let mut semantics = IoSemantics::new(location as u8, slots);
    for word in words {
        if !semantics.set_flag(word) {
            return None;
        }
    }
    for (i, part) in streams.into_iter().flat_map(|s| s.split_ascii_whitespace()).enumerate() {
        let stream = part.split_once('=').filter(|(name, _)| "xyzw".get(i..=i) == Some(name))?.1;
        let stream = stream.parse::<u8>().ok().filter(|&s| s < 4)?;
        semantics.gs_streams |= stream << (2 * i);
    }
    Some(semantics.to_i32())
}

/// Parses the content of `xfb(...)` (`first` 0) or `xfb2(...)` (`first` 2).
pub(super) fn parse_xfb(first: u8, text: &str) -> Option<i32> {
    if let Some(raw) = text.strip_prefix("raw=") {
        return number(raw);
    }
    let mut xfb = IoXfb::default();
    for entry in text.split(", ").filter(|e| !e.is_empty()) {
        let mut words = entry.split_ascii_whitespace();
        let components = words.next()?;
        let (start, end) = match components.strip_prefix("components=") {
            Some(range) => {
                let (start, end) = range.split_once("..")?;
                (start.parse::<u8>().ok()?, end.parse::<u8>().ok()?)
            }
            None => {
                let start = components.strip_prefix("component=")?.parse::<u8>().ok()?;
                (start, start)
            }
        };
        let index = usize::from(start.checked_sub(first)?);
        let num_components = end.checked_sub(start)?.checked_add(1).filter(|&n| n < 16)?;
        let buffer = words.next()?.strip_prefix("buffer=")?.parse::<u8>().ok().filter(|&b| b < 16)?;
        let offset = words.next()?.strip_prefix("offset=")?.parse::<u32>().ok().filter(|o| o % 4 == 0)? / 4;
        *xfb.out.get_mut(index)? = IoXfbOut { num_components, buffer, offset: u8::try_from(offset).ok()? };
        if words.next().is_some() {
            return None;
        }
    }
    Some(xfb.to_i32())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every valid number of each kind of index, with and without a name.
    #[test]
    fn every_index_reads_back() {
        let mut seen = std::collections::HashSet::new();
        for &op in IntrinsicOp::ALL {
            for &kind in op.info().indices {
                seen.insert(kind);
                for value in (-2..40).chain([0x1ff, 0x10000, 1 << 20, i32::MIN, i32::MAX, AluType::FLOAT32.to_i32()]) {
                    let mut text = String::new();
                    push_index(&mut text, ShaderStage::Geometry, op, 4, kind, value);
                    let back = match kind {
                        IndexKind::IoSemantics => parse_io_semantics(text.strip_prefix("io ").expect("io")),
                        IndexKind::IoXfb | IndexKind::IoXfb2 => {
                            let first = if kind == IndexKind::IoXfb { 0 } else { 2 };
                            parse_xfb(first, text.split_once('(').and_then(|t| t.1.strip_suffix(')')).expect("parens"))
                        }
                        _ => parse_index(kind, text.split_once('=').expect("=").1),
                    };
                    assert_eq!(back, Some(value), "{text}");
                }
            }
        }
        // Kinds of indices that no intrinsic of the table has are printed in the plain form.
        for &kind in IndexKind::ALL {
            assert!(seen.contains(&kind) || !kind.name().contains("io"), "{kind}");
        }
    }

    #[test]
    fn forms() {
        let form = |op, kind, value| {
            let mut text = String::new();
            push_index(&mut text, ShaderStage::Fragment, op, 4, kind, value);
            text
        };
        use IntrinsicOp as I;
        assert_eq!(form(I::StoreOutput, IndexKind::WriteMask, 0b1010), "wrmask=yw");
        assert_eq!(form(I::StoreOutput, IndexKind::WriteMask, 0b11010), "wrmask=0x1a");
        assert_eq!(form(I::ImageDerefLoad, IndexKind::Format, 13), "format=r32_float");
        assert_eq!(form(I::Barrier, IndexKind::MemoryModes, 1 << 4 | 1 << 9), "mem_modes=image|ssbo");
        assert_eq!(form(I::Barrier, IndexKind::MemorySemantics, 7), "mem_semantics=ACQ|REL|AVAILABLE");
        let mut xfb = IoXfb::default();
        xfb.out[0] = IoXfbOut { num_components: 4, buffer: 1, offset: 4 };
        xfb.out[1] = IoXfbOut { num_components: 1, buffer: 0, offset: 1 };
        assert_eq!(
            form(I::StoreOutput, IndexKind::IoXfb, xfb.to_i32()),
            "xfb(components=0..3 buffer=1 offset=16, component=1 buffer=0 offset=4)"
        );
        let io = IoSemantics { medium_precision: true, ..IoSemantics::new(5, 1) };
        assert_eq!(
            form(I::StoreOutput, IndexKind::IoSemantics, io.to_i32()),
            "io location=FRAG_RESULT_DATA1 slots=1 mediump"
        );
    }
}
