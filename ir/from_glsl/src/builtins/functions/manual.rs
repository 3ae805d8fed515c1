//! Rows of the functions in the manual.

use super::{Row, TABLES};
use crate::builtins::manual::availability;
use crate::builtins::stages::Stages;
use crate::extension::Extension;

/// The words of a pattern as the manual writes them.
fn word(token: &str) -> String {
    let (prefix, token) = if let Some(rest) = token.strip_prefix("<>") {
        ("inout ", rest)
    } else if let Some(rest) = token.strip_prefix('>') {
        ("out ", rest)
    } else {
        ("", token)
    };
    if let Some((kind @ ("m" | "mf" | "mi" | "mu"), names)) = token.split_once(':') {
        let prefix = match kind {
            "m" => "g",
            "mi" => "i/u",
            "mu" => "u",
            _ => "",
        };
        let names: Vec<String> = names.split('|').map(|name| format!("{prefix}image{name}")).collect();
        return names.join(" or ");
    }
    if let Some((kind, names)) = token.split_once(':') {
        let generic = if kind == "g" { "g" } else { "" };
        let names: Vec<String> = names.split('|').map(|name| format!("{generic}sampler{name}")).collect();
        return names.join(" or ");
    }
    let name = match token {
        "v" => "void",
        "f" => "float",
        "i" => "int",
        "u" => "uint",
        "b" => "bool",
        "d" => "double",
        "F" => "genFType",
        "I" => "genIType",
        "U" => "genUType",
        "B" => "genBType",
        "D" => "genDType",
        "l" => "int64_t",
        "k" => "uint64_t",
        "L" => "genI64Type",
        "K" => "genU64Type",
        "Lv" => "i64vec",
        "Kv" => "u64vec",
        "Fv" => "vec",
        "Iv" => "ivec",
        "Uv" => "uvec",
        "Bv" => "bvec",
        "Dv" => "dvec",
        "M" | "Mq" => "mat",
        "Mt" => "transposed mat",
        "Mc" => "column",
        "Mr" => "row",
        "N" | "Nq" => "dmat",
        "Nt" => "transposed dmat",
        "Nc" => "dcolumn",
        "Nr" => "drow",
        "g4" => "gvec4",
        "g" => "component",
        "c" => "atomic_uint",
        "Pm" => "integer P",
        "size" => "ivec",
        "P" => "P",
        "Pf" => "P without reference",
        "Pi" => "integer P",
        "Pl" => "P without layer and reference",
        "Q" => "Q",
        "Q4" => "vec4 Q",
        "lod" => "float lod",
        "level" => "int lod",
        "dx" => "dPdx",
        "dy" => "dPdy",
        "off" => "offset",
        "offs" => "offset[4]",
        "cmp" => "float reference",
        "sample" => "int sample",
        "comp" => "int component",
        _ => "",
    };
    let sized = |letter: &str| match letter {
        "f" => "vec",
        "i" => "ivec",
        "u" => "uvec",
        "b" => "bvec",
        "l" => "i64vec",
        "k" => "u64vec",
        _ => "dvec",
    };
    let name = if name.is_empty() {
        let (letter, size) = token.split_at_checked(1).unwrap_or((token, ""));
        format!("{}{size}", sized(letter))
    } else {
        name.to_owned()
    };
    format!("{prefix}{name}")
}

fn signature(name: &str, pattern: &str) -> String {
    let mut tokens = pattern.split(' ');
    let result = word(tokens.next().unwrap_or_default());
    let mut text = String::new();
    for (number, token) in tokens.enumerate() {
        let separator = if number == 0 { "" } else { ", " };
        match token {
            "~bias" => text.push_str(&format!("[{separator}float bias]")),
            token => text.push_str(&format!("{separator}{}", word(token))),
        }
    }
    format!("`{result} {name}({text})`")
}

/// Whether vertex or fragment shaders have a row.
fn is_shown(row: &Row) -> bool {
    let shown = Stages::VERTEX.or(Stages::FRAGMENT);
    row.stages.meets(shown)
}

/// The rows of each table: the name of the table, and signatures, versions and stages.
pub(crate) fn tables() -> Vec<(&'static str, Vec<Vec<String>>)> {
    const NAMES: [&str; 8] = ["math", "geometric", "integer", "stage", "texture-old", "texture", "image", "memory"];
    let rows = |table: &[Row]| {
        let shown = table.iter().filter(|row| is_shown(row));
        let cells = shown.map(|row| {
            let signatures: Vec<String> = row.signatures.iter().map(|pattern| signature(row.name, pattern)).collect();
            let lacking = (row.lacking_core, row.lacking_es);
            let [desktop, es, extensions] = availability(&row.since, lacking);
            let stages = if row.stages == Stages::ALL { "all".to_owned() } else { row.stages.to_string() };
            vec![signatures.join("<br>"), desktop, es, extensions, stages]
        });
        cells.collect()
    };
    NAMES.iter().zip(TABLES).map(|(&name, table)| (name, rows(table))).collect()
}

/// The functions that an extension adds.
pub(crate) fn names_of(extension: Extension) -> Vec<&'static str> {
    let rows = super::rows().filter(|row| row.since.extensions.contains(&extension) && is_shown(row));
    rows.map(|row| row.name).collect()
}
