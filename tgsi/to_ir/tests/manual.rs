//! The manual (`tgsi/manual`) against the code: its tables have the same rows as the code's tables, its examples are
//! valid shaders, its links have targets. `TGSIC_BLESS=1` rewrites the generated parts.

#[path = "../../../ir/tests/support/manual.rs"]
mod support;

use support::{check_pages, code, page, pages, table};
use tgsi::MalformedShader;
use tgsi::check::{Rule, check};
use tgsi::limits::{Limits, driver_registers};
use tgsi::tables::{
    BlockPart, File, ImmediateType, Interpolation, InterpolationLocation, MemoryQualifiers, MemoryType, Opcode,
    OperandType, OutputMode, Primitive, Processor, PropertyName, ReturnType, Semantic, TextureTarget,
};
use tgsi::text::{ParseErrorKind, parse};
use tgsi::tokens::{DecodeError, EncodeError, encode};
use tgsi_environment::PixelFormat;
use tgsi_run::RunError;
use tgsi_to_ir::slots::{FIRST_EXTENDED_LOCATION, location_of};

const FOLDER: &str = "../manual";

/// Compares a table of a page; the cells of each row must be those of the code.
fn compare(name: &str, table: &str, key: usize, expected: impl IntoIterator<Item = Vec<String>>) {
    page(FOLDER, name).check_table(table, key, &expected.into_iter().collect::<Vec<_>>());
}

fn numbered(number: impl ToString, name: &str) -> Vec<String> {
    vec![number.to_string(), code(name)]
}

#[test]
fn pages_are_in_order() {
    check_pages(FOLDER);
}

#[test]
fn stages_and_files() {
    compare("model.md", "processors", 1, Processor::ALL.iter().map(|p| numbered(p.value(), p.name())));
    compare("model.md", "files", 1, File::ALL.iter().map(|f| numbered(f.value(), f.name())));
}

#[test]
fn declarations() {
    let name = "declarations.md";
    compare(name, "semantics", 1, Semantic::ALL.iter().map(|s| numbered(s.value(), s.name())));
    compare(name, "interpolation", 1, Interpolation::ALL.iter().map(|i| numbered(i.value(), i.name())));
    compare(name, "locations", 1, InterpolationLocation::ALL.iter().map(|l| numbered(l.value(), l.name())));
    compare(name, "memory-types", 1, MemoryType::ALL.iter().map(|m| numbered(m.value(), m.name())));
    compare(name, "return-types", 1, ReturnType::ALL.iter().map(|t| numbered(t.value(), t.name())));
    compare(name, "properties", 1, PropertyName::ALL.iter().map(|p| numbered(p.value(), p.name())));
    let immediates = ImmediateType::ALL.iter().map(|t| {
        let words = if t.is_64bit() { 2 } else { 1 };
        [numbered(t.value(), t.name()), vec![(4 / words).to_string(), words.to_string()]].concat()
    });
    compare(name, "immediate-types", 1, immediates);
    let primitives =
        Primitive::ALL.iter().map(|p| [numbered(p.value(), p.name()), vec![p.input_vertices().to_string()]].concat());
    compare(name, "primitives", 1, primitives);
}

/// Names of formats, in rows of four.
#[test]
fn formats() {
    let names: Vec<String> = (0..).map_while(PixelFormat::from_value).map(|f| code(f.short_name())).collect();
    let rows = names.chunks(4).zip((0..).step_by(4)).map(|(names, first): (_, u32)| {
        let mut row = vec![first.to_string()];
        row.extend_from_slice(names);
        row.resize(5, "-".to_owned());
        row
    });
    page(FOLDER, "formats.md").check_generated("formats", &table(&["First", "+0", "+1", "+2", "+3"], rows));
}

#[test]
fn textures_and_memory() {
    let targets = TextureTarget::ALL.iter().map(|t| {
        let reference = match t.comparator_position() {
            None => "-",
            Some(2) => "a.z",
            Some(3) => "a.w",
            Some(_) => "b.x",
        };
        let more = [
            t.coordinate_components().to_string(),
            if t.is_array() { "last" } else { "-" }.to_owned(),
            reference.to_owned(),
            code(t.sampler_dim().name()),
        ];
        [numbered(t.value(), t.name()), more.to_vec()].concat()
    });
    compare("textures.md", "targets", 1, targets);
    let qualifiers = MemoryQualifiers::NAMES.into_iter().map(|(bit, name)| numbered(bit.0, name));
    compare("memory.md", "qualifiers", 1, qualifiers);
}

#[test]
fn opcodes() {
    let type_name = |t: &OperandType| match t {
        OperandType::None => "-",
        OperandType::Untyped => "untyped",
        OperandType::Float => "float",
        OperandType::Int => "int",
        OperandType::Uint => "uint",
        OperandType::Double => "double",
        OperandType::Int64 => "int64",
        OperandType::Uint64 => "uint64",
    };
    let or_none = |words: Vec<&str>, separator: &str| match words.is_empty() {
        true => "-".to_owned(),
        false => words.join(separator),
    };
    let expected = Opcode::ALL.iter().map(|opcode| {
        let info = opcode.info();
        let mode = match info.output_mode {
            OutputMode::Componentwise => "componentwise",
            OutputMode::Replicate => "replicate",
            OutputMode::ChannelDependent => "channels",
            OutputMode::Other => "other",
            OutputMode::NoOutput => "none",
        };
        let flags = [
            (info.is_tex, "target"),
            (info.is_sample_family, "view"),
            (info.has_memory, "memory"),
            (info.is_store, "store"),
            (info.is_branch, "label"),
            (info.block == Some(BlockPart::Opens), "opens"),
            (info.block == Some(BlockPart::Divides), "divides"),
            (info.block == Some(BlockPart::Closes), "closes"),
            (info.indents, "indents"),
            (info.dedents, "dedents"),
        ];
        assert_eq!(info.num_dst, u8::from(info.dst_type != OperandType::None), "{opcode}");
        let sources = info.src_types.iter().map(type_name).collect();
        let more = [
            type_name(&info.dst_type).to_owned(),
            or_none(sources, ", "),
            mode.to_owned(),
            or_none(flags.into_iter().filter_map(|(on, name)| on.then_some(name)).collect(), " "),
        ];
        [numbered(opcode.value(), info.name), more.to_vec()].concat()
    });
    compare("opcodes.md", "opcodes", 1, expected);
}

/// Every code of the crate has an explanation, so the list of explained codes is complete.
#[test]
fn codes() {
    let pages = tgsi::explain::pages();
    let own = pages.iter().filter(|page| page.id < "T0700");
    let expected = own.map(|page| vec![page.id.to_owned(), page.severity.to_string(), code(page.name)]);
    compare("check.md", "codes", 0, expected);
    let rules = Rule::ALL.iter().map(|rule| rule.code());
    let lists =
        [ParseErrorKind::CODES, DecodeError::CODES, EncodeError::CODES, MalformedShader::CODES, RunError::CODES]
            .concat();
    for code in rules.chain(lists) {
        assert!(pages.iter().any(|page| page.id == code.id && page.name == code.name), "{code} is not explained");
    }
}

#[test]
fn limits() {
    let files = File::ALL.iter().filter_map(|&f| Some(vec![code(f.name()), driver_registers(f)?.to_string()]));
    compare("limits.md", "driver-limits", 0, files);
    let rows =
        Limits::TABLE.iter().map(|limit| vec![code(limit.name), limit.default.to_string(), limit.reason.to_owned()]);
    page(FOLDER, "limits.md").check_generated("limits", &table(&["name", "default", "quantity and reason"], rows));
}

/// Returns the strings of the rows `("NAME", Enum::Variant...` between two positions of a source, with the text after
/// the comma.
fn source_rows<'a>(source: &'a str, from: &str, to: &str) -> Vec<(&'a str, &'a str)> {
    let (_, rest) = source.split_once(from).unwrap_or_else(|| panic!("there is no {from}"));
    let (part, _) = rest.split_once(to).unwrap_or_else(|| panic!("there is no {to} after {from}"));
    let row = |line: &'a str| line.trim().strip_prefix("(\"")?.split_once("\", ");
    part.lines().filter_map(row).collect()
}

/// Private tables of the crate are read from its source.
#[test]
fn texts_of_older_versions() {
    let names = include_str!("../../src/text/names.rs");
    let mut expected = Vec::new();
    let mut add = |kind: &str, from: &str, all: Vec<(String, &'static str)>| {
        for (old, variant) in source_rows(names, from, "];") {
            let variant = variant.trim_end_matches("),").split("::").last().unwrap_or_default();
            let new = all.iter().find(|(name, _)| name == variant).unwrap_or_else(|| panic!("{variant}")).1;
            expected.push(vec![kind.to_owned(), code(old), code(new)]);
        }
    };
    add("semantic", "fn semantic(", Semantic::ALL.iter().map(|s| (format!("{s:?}"), s.name())).collect());
    add("target", "fn texture_target(", TextureTarget::ALL.iter().map(|t| (format!("{t:?}"), t.name())).collect());
    add("property", "fn property(", PropertyName::ALL.iter().map(|p| (format!("{p:?}"), p.name())).collect());
    assert!(expected.len() > 20, "the source of names has another form");
    compare("text.md", "old-names", 1, expected);

    let legacy = include_str!("../../src/text/legacy_table.rs");
    let files = source_rows(legacy, "const FILES:", "];");
    assert!(files.len() > 5, "the source of files has another form");
    compare("text.md", "old-files", 0, files.into_iter().map(|(name, _)| vec![code(name)]));

    let (_, rest) = legacy.split_once("\nlegacy_opcodes! {").expect("a table of old opcodes");
    let (rows, _) = rest.split_once("\n}").expect("its end");
    let opcodes = rows.lines().filter_map(|line| {
        let (name, rest) = line.trim().strip_prefix('"')?.split_once("\" ")?;
        let counts: Vec<String> = rest.split(' ').take(2).map(str::to_owned).collect();
        Some([vec![code(name)], counts].concat())
    });
    compare("text.md", "old-opcodes", 0, opcodes);
}

#[test]
fn slots() {
    let expected = Semantic::ALL.iter().filter_map(|&semantic| {
        let location = |index| location_of(Processor::Vertex, File::Output, semantic, index);
        let count = (0..).take_while(|&index| location(index) < FIRST_EXTENDED_LOCATION).count();
        let first = u8::try_from(location(0)).ok().filter(|_| count > 0)?;
        let indices = if count == 1 { "0".to_owned() } else { format!("0-{}", count - 1) };
        Some(vec![code(semantic.name()), indices, code(tgsi_ir::slots::VaryingSlot::name(first)?), first.to_string()])
    });
    compare("conversion.md", "varying-slots", 0, expected);
}

#[test]
fn examples() {
    let mut found = 0;
    for page in pages(FOLDER) {
        let examples = page.examples("tgsi");
        let words = page.examples("words");
        assert!(words.is_empty() || words.len() == examples.len(), "{}: examples with and without words", page.name);
        for (place, example) in examples.iter().enumerate() {
            found += 1;
            let at = &example.place;
            let shader = parse(example.text.as_bytes()).unwrap_or_else(|e| panic!("{at}: {e:?}")).shader;
            let report = check(&shader);
            let errors: Vec<_> = report.errors().collect();
            assert!(errors.is_empty(), "{at}: {errors:?}");
            tgsi_to_ir::to_ir(&shader, &Default::default()).unwrap_or_else(|e| panic!("{at}: {e}"));
            let Some(words) = words.get(place) else { continue };
            let is_word = |word: &&str| word.len() == 8 && word.bytes().all(|b| b.is_ascii_hexdigit());
            let words: Vec<&str> = words.text.lines().flat_map(|line| line.split(' ').take_while(is_word)).collect();
            let encoded: Vec<String> =
                encode(&shader).expect("encodes").iter().map(|word| format!("{word:08x}")).collect();
            assert_eq!(words, encoded, "{at}: its words");
        }
    }
    assert!(found >= 8, "only {found} examples");
}
