//! The header of the text form: one table for the printer and the parser.

mod lines;

use std::fmt::Write;

use crate::shader::{Shader, ShaderInfo, ShaderStage};
use lines::NumberFormat::{Always, AlwaysHex, Decimal, Flag, Hex, Ranges, Words};
use lines::{Content, HeaderField, LINES};

/// Maximum size of the constant data in a header, in bytes.
const MAX_CONSTANT_DATA: usize = 1 << 24;

/// Prefix of the name of a stage.
const STAGE_PREFIX: &str = "MESA_SHADER_";

/// Appends a text without the control characters that would end the header line.
fn push_line_text(out: &mut String, text: &str) {
    out.extend(text.chars().map(|c| if c.is_control() { '_' } else { c }));
}

/// Appends the header, with additional lines unless `mesa`.
pub(super) fn print_header(out: &mut String, shader: &Shader, mesa: bool) {
    let _ = writeln!(out, "shader: {STAGE_PREFIX}{}", shader.stage.name());
    for line in LINES {
        // Mesa omits fields of other stages; if they are set, they are printed unless `mesa`.
        let foreign = !(line.stages)(shader.stage);
        if mesa && (line.own || foreign) {
            continue;
        }
        if shader.stage == ShaderStage::Task && line.key == "inputs" {
            let _ = writeln!(out, "Unhandled stage {}", ShaderStage::Task as u32);
        }
        print_line(out, shader, line, foreign);
    }
    if !mesa && !shader.constant_data.is_empty() {
        out.push_str("constant_data: 0x");
        for byte in &shader.constant_data {
            let _ = write!(out, "{byte:02x}");
        }
        out.push('\n');
    }
}

fn print_line(out: &mut String, shader: &Shader, line: &HeaderField, foreign: bool) {
    let key = line.key;
    match &line.content {
        Content::Number { form, get, .. } => {
            let value = get(shader);
            if value == 0 && (foreign || !matches!(form, Always | AlwaysHex)) {
                return;
            }
            let _ = write!(out, "{key}: ");
            match *form {
                Decimal | Always => {
                    let _ = write!(out, "{value}");
                }
                Flag => out.push_str("true"),
                Ranges => push_ranges(out, value),
                Hex(digits) => {
                    let _ = write!(out, "0x{value:0digits$x}");
                }
                AlwaysHex => {
                    let _ = write!(out, "0x{value:02x}");
                }
                Words(count) => {
                    out.push_str("0x");
                    for i in (0..count).rev() {
                        let _ = write!(out, "{:08x}", (value >> (32 * i)) as u32);
                        if i > 0 {
                            out.push('\'');
                        }
                    }
                }
            }
            out.push('\n');
        }
        Content::Text { get, unknown, .. } => {
            let text = get(shader);
            if text.is_empty() && (!unknown || foreign) {
                return;
            }
            let _ = write!(out, "{key}: ");
            push_line_text(out, if text.is_empty() { "UNKNOWN" } else { text });
            out.push('\n');
        }
        Content::List { get, hex, .. } => {
            let values = get(shader);
            if values.iter().all(|&v| v == 0) {
                return;
            }
            let _ = write!(out, "{key}: {{");
            for (i, value) in values.iter().enumerate() {
                let separator = if i > 0 { ", " } else { "" };
                let _ = match hex {
                    true => write!(out, "{separator}0x{value:08x}"),
                    false => write!(out, "{separator}{value}"),
                };
            }
            out.push_str("}\n");
        }
        Content::WorkgroupSize => {
            let ShaderInfo { workgroup_size: [x, y, z], workgroup_size_variable, .. } = shader.info;
            if foreign && [x, y, z] == [0; 3] && !workgroup_size_variable {
                return;
            }
            let variable = if workgroup_size_variable { " (variable)" } else { "" };
            let _ = writeln!(out, "{key}: {x}, {y}, {z}{variable}");
        }
        Content::NextStage => {
            if let Some(stage) = shader.info.next_stage {
                let _ = writeln!(out, "{key}: {STAGE_PREFIX}{}", stage.name());
            }
        }
        Content::Constants => {
            if !shader.constant_data.is_empty() {
                let _ = writeln!(out, "{key}: {}", shader.constant_data.len());
            }
        }
    }
}

fn push_ranges(out: &mut String, mask: u128) {
    let mut bit = 0;
    let mut separator = "";
    while bit < 128 {
        if mask >> bit & 1 == 0 {
            bit += 1;
            continue;
        }
        let start = bit;
        while bit < 128 && mask >> bit & 1 == 1 {
            bit += 1;
        }
        let _ = match bit - start {
            1 => write!(out, "{separator}{start}"),
            _ => write!(out, "{separator}{start}-{}", bit - 1),
        };
        separator = ",";
    }
}

fn parse_ranges(text: &str) -> Option<u128> {
    let mut mask = 0;
    for part in text.split(',') {
        let (start, end) = part.split_once('-').unwrap_or((part, part));
        let (start, end) = (start.trim().parse::<u32>().ok()?, end.trim().parse::<u32>().ok()?);
        if start > end || end > 127 {
            return None;
        }
        mask |= (u128::MAX >> (127 - (end - start))) << start;
    }
    Some(mask)
}

fn parse_wide(text: &str) -> Option<u128> {
    match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Parses the stage in a `shader:` or `next_stage:` line.
pub(super) fn parse_stage(text: &str) -> Option<ShaderStage> {
    text.strip_prefix(STAGE_PREFIX).and_then(ShaderStage::from_name)
}

/// Result of parsing a header line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HeaderLine {
    /// The line was applied.
    Known,
    /// The key is unknown; the line is ignored.
    Unknown,
    /// The value is invalid.
    BadValue,
}

/// Parses and applies a line after `shader:`.
pub(super) fn parse_header_line(shader: &mut Shader, key: &str, value: &str) -> HeaderLine {
    if key == "constant_data" {
        return match parse_bytes(value) {
            Some(bytes) => {
                shader.constant_data = bytes;
                HeaderLine::Known
            }
            None => HeaderLine::BadValue,
        };
    }
    let Some(line) = LINES.iter().find(|l| l.key == key) else { return HeaderLine::Unknown };
    if parse_value(shader, &line.content, value).is_some() { HeaderLine::Known } else { HeaderLine::BadValue }
}

fn parse_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    if digits.len() % 2 != 0 {
        return None;
    }
    let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

fn parse_value(shader: &mut Shader, content: &Content, value: &str) -> Option<()> {
    match content {
        Content::Number { form, set, .. } => {
            let number = match form {
                Flag => match value {
                    "true" => 1,
                    "false" => 0,
                    _ => return None,
                },
                Ranges => parse_ranges(value)?,
                Words(_) => {
                    let digits: String = value.strip_prefix("0x")?.chars().filter(|&c| c != '\'').collect();
                    u128::from_str_radix(&digits, 16).ok()?
                }
                Decimal | Always | Hex(_) | AlwaysHex => parse_wide(value)?,
            };
            set(shader, number).then_some(())
        }
        Content::Text { set, unknown, .. } => {
            set(shader, if *unknown && value == "UNKNOWN" { "" } else { value });
            Some(())
        }
        Content::List { get_mut, .. } => {
            let inner = value.strip_prefix('{')?.strip_suffix('}')?;
            let elements = get_mut(shader);
            let mut count = 0;
            for part in inner.split(',') {
                *elements.get_mut(count)? = u32::try_from(parse_wide(part.trim())?).ok()?;
                count += 1;
            }
            (count == elements.len()).then_some(())
        }
        Content::WorkgroupSize => {
            let (sizes, variable) = match value.strip_suffix("(variable)") {
                Some(sizes) => (sizes.trim_end(), true),
                None => (value, false),
            };
            let mut parts = sizes.split(',').map(|p| p.trim().parse::<u32>().ok());
            let size = [parts.next()??, parts.next()??, parts.next()??];
            if parts.next().is_some() {
                return None;
            }
            shader.info.workgroup_size = size;
            shader.info.workgroup_size_variable = variable;
            Some(())
        }
        Content::NextStage => {
            shader.info.next_stage = Some(parse_stage(value)?);
            Some(())
        }
        Content::Constants => {
            let size = value.parse::<usize>().ok().filter(|&s| s <= MAX_CONSTANT_DATA)?;
            // Text printed by Mesa does not have the bytes, so they are zero.
            shader.constant_data = vec![0; size];
            Some(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(content: &Content) -> &'static str {
        match content {
            Content::Number { form, .. } => match form {
                Decimal | Always => "7",
                Flag => "true",
                Ranges => "0,4-7,31-33,63",
                Hex(2) => "0xa5",
                Hex(4) => "0x12cd",
                Hex(_) => "0x0012cdef",
                AlwaysHex => "0x0b",
                Words(1) => "0x89abcdef",
                Words(2) => "0x80000001'00000000",
                Words(_) => "0x80000001'00000000'00000002'7fffffff",
            },
            Content::Text { unknown: true, .. } => "TRIANGLE_STRIP",
            Content::Text { .. } => "some text: with // anything",
            Content::List { get, hex: true, .. } => {
                assert_eq!(get(&Shader::without_functions(ShaderStage::Vertex)).len(), 8);
                "{0x00000001, 0x00000000, 0xffffffff, 0x00000004, 0x00000005, 0x00000006, 0x00000007, 0x00000008}"
            }
            Content::List { get, .. } => match get(&Shader::without_functions(ShaderStage::Vertex)).len() {
                3 => "{1, 0, 4294967295}",
                _ => "{1, 0, 4294967295, 9}",
            },
            Content::WorkgroupSize => "8, 4, 1 (variable)",
            Content::NextStage => "MESA_SHADER_TESS_CTRL",
            Content::Constants => "5",
        }
    }

    /// Every line of the table, in every stage (lines of other stages are only in the extended form).
    #[test]
    fn every_line_reads_back() {
        for &stage in ShaderStage::ALL {
            let mut all = Shader::without_functions(stage);
            for line in LINES {
                let mut shader = Shader::without_functions(stage);
                let value = sample(&line.content);
                assert_eq!(parse_header_line(&mut shader, line.key, value), HeaderLine::Known, "{}", line.key);
                let mut text = String::new();
                print_header(&mut text, &shader, false);
                let printed = format!("{}: {value}\n", line.key);
                assert!(text.contains(&printed), "{printed} not in {text}");
                assert_eq!(parse_header_line(&mut all, line.key, value), HeaderLine::Known);
                let mut mesa = String::new();
                print_header(&mut mesa, &shader, true);
                assert_eq!(mesa.contains(&printed), (line.stages)(stage) && !line.own, "{printed}");
            }
            all.constant_data = vec![1, 2, 0xff];
            let mut text = String::new();
            print_header(&mut text, &all, false);
            let again = super::super::parse(&text).expect("a header");
            assert_eq!(again.stage, stage);
            assert_eq!(again.info, all.info);
            assert_eq!(again.constant_data, all.constant_data);
            assert_eq!((again.num_inputs, again.num_outputs, again.num_uniforms, again.scratch_size), (7, 7, 7, 7));
        }
    }

    #[test]
    fn defaults_read_back() {
        for &stage in ShaderStage::ALL {
            let shader = Shader::without_functions(stage);
            let mut text = String::new();
            print_header(&mut text, &shader, false);
            let again = super::super::parse(&text).expect("a header");
            assert_eq!((again.stage, again.info), (stage, shader.info));
            assert_eq!(text.contains("Unhandled stage 6"), stage == ShaderStage::Task);
        }
    }

    #[test]
    fn wrong_values() {
        let mut shader = Shader::without_functions(ShaderStage::Vertex);
        for (key, value) in [
            ("num_ubos", "x"),
            ("num_ubos", "4294967296"),
            ("internal", "1"),
            ("inputs_read", "3-1"),
            ("inputs_read", "64"),
            ("inputs_read", "0-128"),
            ("textures_used", "12"),
            ("xfb_stride", "{1, 2}"),
            ("xfb_stride", "{1, 2, 3, 4, 5}"),
            ("workgroup_size", "1, 2"),
            ("next_stage", "VERTEX"),
            ("constants", "99999999999"),
            ("constant_data", "0x123"),
            ("constant_data", "0xzz"),
        ] {
            assert_eq!(parse_header_line(&mut shader, key, value), HeaderLine::BadValue, "{key}: {value}");
        }
        assert_eq!(parse_header_line(&mut shader, "of_the_future", "x"), HeaderLine::Unknown);
    }
}
