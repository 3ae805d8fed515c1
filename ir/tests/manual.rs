//! Compares the manual (`ir/manual`) with the code: its tables have the rows of the code's tables, its examples are
//! valid shaders, its links have targets. `TGSIC_BLESS=1` regenerates the generated parts.

#[path = "support/manual.rs"]
mod support;

use support::{check_pages, code, page, pages, table};
use tgsi_environment::SamplerDim;
use tgsi_environment::SystemValue;
use tgsi_ir::ShaderStage;
use tgsi_ir::alu::{AluInfo, AluOp, AluType};
use tgsi_ir::body::{DEFAULT_TG4_OFFSETS, TexOp, TexSrcKind};
use tgsi_ir::intrinsics::indices::{
    AccessFlags, AtomicOp, DescType, InterpMode, IoSemantics, MemorySemantics, RoundingMode, Scope,
};
use tgsi_ir::intrinsics::{DestBits, DestComponents, IndexKind, IntrinsicKind, IntrinsicOp, SrcComponents};
use tgsi_ir::options::{Bound, CompilerOptions, SWITCHES};
use tgsi_ir::passes::pipeline;
use tgsi_ir::passes::table::{PASSES, PassId};
use tgsi_ir::run::RunError;
use tgsi_ir::slots;
use tgsi_ir::text::{TextErrorKind, parse, print};
use tgsi_ir::validate::{ValidationErrorKind, validate};
use tgsi_ir::variable::VariableModes;

const FOLDER: &str = "manual";

/// Compares a table of a page; the first cells of each row come from the code.
fn compare(name: &str, table: &str, key: usize, expected: impl IntoIterator<Item = Vec<String>>) {
    page(FOLDER, name).check_table(table, key, &expected.into_iter().collect::<Vec<_>>());
}

fn numbered(number: impl ToString, name: &str) -> Vec<String> {
    vec![number.to_string(), code(name)]
}

/// Returns the text, or a dash if it is empty.
fn or_dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

#[test]
fn pages_are_in_order() {
    check_pages(FOLDER);
}

#[test]
fn examples_are_valid() {
    let mut count = 0;
    for example in pages(FOLDER).iter().flat_map(|page| page.examples("ir")) {
        count += 1;
        let shader = parse(&example.text).unwrap_or_else(|e| panic!("{}: {e:?}", example.place));
        if let Err(errors) = validate(&shader) {
            panic!("{}: {errors}", example.place);
        }
        assert_eq!(print(&shader).trim_end(), example.text.trim_end(), "{}: as it is printed", example.place);
    }
    assert!(count >= 5, "only {count} examples");
}

/// An operand: its type, an open size as `N`, and its components if they are fixed.
fn operand(ty: AluType, components: u8) -> String {
    let size = if ty.is_unsized() { "N" } else { "" };
    let count = if components == 0 { String::new() } else { format!("[{components}]") };
    format!("{ty}{size}{count}")
}

/// Lists operands, merging equal ones with their number.
fn operands(info: &AluInfo) -> String {
    let all: Vec<String> =
        info.input_types.iter().zip(info.input_sizes).map(|(&ty, &components)| operand(ty, components)).collect();
    match all.as_slice() {
        [first, .., last] if all.len() > 3 && first == last => format!("{} x {first}", all.len()),
        _ => all.join(", "),
    }
}

fn alu_row(op: AluOp) -> Vec<String> {
    let info = op.info();
    let sizes: Vec<String> = info.bit_sizes.iter().map(u8::to_string).collect();
    let flags =
        [(info.commutative01, "C"), (info.associative, "A"), (info.selection, "S"), (info.numeric_conversion, "V")];
    let flags: String = flags.into_iter().filter_map(|(on, letter)| on.then_some(letter)).collect();
    vec![
        code(info.name),
        operand(info.output_type, info.output_size),
        operands(info),
        or_dash(sizes.join(" ")),
        or_dash(flags),
        code(op.formula()),
    ]
}

#[test]
fn alu_opcodes() {
    let head = ["Opcode", "Result", "Sources", "N", "Flags", "Computes"];
    let mut groups: Vec<&str> = Vec::new();
    for &op in AluOp::ALL {
        if !groups.contains(&op.info().group) {
            groups.push(op.info().group);
        }
    }
    let page = page(FOLDER, "alu.md");
    for group in groups {
        let ops = AluOp::ALL.iter().filter(|op| op.info().group == group);
        page.check_generated(group, &table(&head, ops.map(|&op| alu_row(op))));
    }
    let types = AluType::ALL.iter().map(|ty| vec![format!("0x{:03x}", ty.to_i32()), code(ty.name())]);
    page.check_generated("types", &table(&["Number", "Type"], types));
}

fn intrinsic_row(op: IntrinsicOp) -> Vec<String> {
    let info = op.info();
    let sources = info.src_components.iter().zip(info.src_roles).map(|(components, role)| match components {
        SrcComponents::Fixed(count) => format!("{count} {role}"),
        SrcComponents::NumComponents => format!("N {role}"),
        SrcComponents::Any => format!("any {role}"),
    });
    let bits = match info.dest_bits {
        DestBits::Any => String::new(),
        DestBits::Sizes(sizes) => {
            let sizes: Vec<String> = sizes.iter().map(u8::to_string).collect();
            format!(" of {} bits", sizes.join(" or "))
        }
        DestBits::SameAsSource(source) => format!(" of the size of source {source}"),
    };
    let result = match info.dest_components {
        DestComponents::None => "-".to_owned(),
        DestComponents::Fixed(count) => format!("{count}{bits}"),
        DestComponents::NumComponents => format!("N{bits}"),
    };
    let indices: Vec<&str> = info.indices.iter().map(|kind| kind.identifier()).collect();
    let flags = [(info.can_eliminate, "E"), (info.can_reorder, "R")];
    let flags: String = flags.into_iter().filter_map(|(on, letter)| on.then_some(letter)).collect();
    vec![
        code(info.name),
        or_dash(sources.collect::<Vec<_>>().join(", ")),
        result,
        or_dash(indices.join(", ")),
        or_dash(flags),
        op.meaning().to_owned(),
    ]
}

#[test]
fn intrinsics() {
    let page = page(FOLDER, "intrinsics.md");
    let head = ["Intrinsic", "Sources", "Result", "Constant indices", "Flags", "Meaning"];
    for kind in IntrinsicKind::ALL {
        let rows = IntrinsicOp::ALL.iter().copied().filter(|op| op.info().kind == *kind).map(intrinsic_row);
        page.check_generated(kind.name(), &table(&head, rows));
    }
}

#[test]
fn constant_indices() {
    let name = "intrinsics.md";
    compare(name, "indices", 0, IndexKind::ALL.iter().map(|k| vec![code(k.identifier()), code(k.name())]));
    let access = AccessFlags::FLAGS.iter().map(|(flag, name)| numbered(flag.0.trailing_zeros(), name));
    compare(name, "access", 1, access);
    let atomics = AtomicOp::ALL.iter().map(|op| {
        let ty = if op.is_swap() { format!("{}, swap", op.data_type()) } else { op.data_type().to_string() };
        [numbered(op.to_i32(), op.name()), vec![ty]].concat()
    });
    compare(name, "atomics", 1, atomics);
    let dims =
        SamplerDim::ALL.iter().map(|d| [numbered(d.to_i32(), d.name()), vec![d.num_coords().to_string()]].concat());
    compare("textures.md", "dims", 1, dims);
    compare(name, "scopes", 1, Scope::ALL.iter().map(|s| numbered(s.to_i32(), s.name())));
    let interpolations = InterpMode::ALL
        .iter()
        .map(|mode| numbered(mode.to_i32(), &format!("{}{}", InterpMode::PRINT_PREFIX, mode.name())));
    compare(name, "interpolation", 1, interpolations);
    compare(name, "rounding", 1, RoundingMode::ALL.iter().map(|m| numbered(m.to_i32(), m.name())));
    compare(name, "descriptors", 1, DescType::ALL.iter().map(|d| numbered(d.to_i32(), d.name())));
    let semantics = [
        MemorySemantics::NONE,
        MemorySemantics::ACQUIRE,
        MemorySemantics::RELEASE,
        MemorySemantics::ACQ_REL,
        MemorySemantics::MAKE_AVAILABLE,
        MemorySemantics::MAKE_VISIBLE,
    ];
    let word = |s: MemorySemantics| s.to_string().trim_start_matches("NONE|").to_owned();
    compare(name, "memory-semantics", 1, semantics.iter().map(|&s| numbered(s.0, &word(s))));
    let flags = (21..32).map(|bit| {
        let flags = IoSemantics::from_i32((1u32 << bit) as i32);
        numbered(bit, flags.flag_names().next().unwrap_or_default())
    });
    compare(name, "io-flags", 1, flags);
}

#[test]
fn textures() {
    let name = "textures.md";
    let ops = TexOp::ALL.iter().map(|op| {
        let sampler = if op.needs_sampler() { "yes" } else { "no" };
        let query = if op.is_query() { "yes" } else { "no" };
        vec![code(op.name()), sampler.to_owned(), query.to_owned()]
    });
    compare(name, "operations", 0, ops);
    compare(name, "sources", 1, TexSrcKind::ALL.iter().map(|kind| numbered(*kind as u8, kind.name())));
    let offsets = DEFAULT_TG4_OFFSETS.map(|[x, y]| format!("({x}, {y})")).join(", ");
    assert!(page(FOLDER, name).text.contains(&offsets), "the default offsets are {offsets}");
}

#[test]
fn modes_and_stages() {
    let name = "data-model.md";
    let modes = VariableModes::ALL.iter().map(|(mode, name, declaration)| {
        let declaration = if declaration.is_empty() { "(nothing)".to_owned() } else { code(declaration) };
        vec![mode.0.trailing_zeros().to_string(), code(name), declaration]
    });
    compare(name, "modes", 1, modes);
    compare(name, "stages", 1, ShaderStage::ALL.iter().map(|s| numbered(*s as u8, s.name())));
    let values = SystemValue::ALL.iter().map(|value| {
        let shape = format!("{} x {}", value.num_components(), value.bit_size());
        let intrinsic = IntrinsicOp::load_of(*value).map_or("-".to_owned(), |op| code(op.name()));
        vec![code(value.name()), shape, intrinsic]
    });
    let head = ["`SYSTEM_VALUE_`...", "Components x bits", "Intrinsic"];
    page(FOLDER, name).check_generated("system-values", &table(&head, values));
}

/// Splits a name at a number at its end or in the middle.
fn split_name(name: &str) -> Option<(&str, u32, &str)> {
    let start = name.find(|c: char| c.is_ascii_digit())?;
    let end = name[start..].find(|c: char| !c.is_ascii_digit()).map_or(name.len(), |length| start + length);
    Some((&name[..start], name[start..end].parse().ok()?, &name[end..]))
}

/// Lists slots with their names; consecutive numbers are merged into one row.
fn slot_rows(name_of: impl Fn(u8) -> Option<String>) -> String {
    let mut ranges: Vec<(u8, u8, String, String)> = Vec::new();
    for (slot, name) in (0..128).filter_map(|slot| Some((slot, name_of(slot)?))) {
        let follows = |last: &str| {
            let (a, b) = (split_name(last), split_name(&name));
            a.zip(b).is_some_and(|(a, b)| a.0 == b.0 && a.2 == b.2 && a.1 + 1 == b.1)
        };
        match ranges.last_mut() {
            Some((_, last, _, last_name)) if *last + 1 == slot && follows(last_name) => {
                *last = slot;
                *last_name = name;
            }
            _ => ranges.push((slot, slot, name.clone(), name)),
        }
    }
    let row = |(first, last, name, last_name): (u8, u8, String, String)| {
        if first == last {
            vec![first.to_string(), code(name)]
        } else {
            vec![format!("{first} to {last}"), format!("{} to {}", code(name), code(last_name))]
        }
    };
    table(&["Slot", "Name"], ranges.into_iter().map(row))
}

#[test]
fn slots_have_their_names() {
    let page = page(FOLDER, "data-model.md");
    page.check_generated("varying-slots", &slot_rows(slots::VaryingSlot::name));
    page.check_generated("frag-results", &slot_rows(slots::FragResult::name));
    page.check_generated("vert-attribs", &slot_rows(slots::VertAttrib::name));
}

/// The text between the first two quotes.
fn quoted(line: &str) -> Option<&str> {
    line.split('"').nth(1)
}

/// The table of header lines is private to the text module, so this reads its source.
#[test]
fn header_lines() {
    let source = include_str!("../src/text/header/lines.rs");
    let lines = source.split_once("static LINES").and_then(|(_, rest)| rest.split_once("\n];")).expect("a table").0;
    let rows = lines.lines().filter_map(|line| {
        let (form, rest) = line.trim().split_once("!(")?;
        let key = quoted(rest)?;
        let mut fields = rest.split_once("\", ")?.1.trim_end_matches("),").split(", ");
        let stages = match fields.next()? {
            "any" => "-",
            "vertex" => "VERTEX",
            "tessellation" => "TESS_CTRL, TESS_EVAL",
            "geometry" => "GEOMETRY",
            "fragment" => "FRAGMENT",
            "compute" => "COMPUTE, KERNEL",
            "mesh" => "MESH",
            "task_or_mesh" => "TASK, MESH",
            "ShaderStage::has_workgroups" => "COMPUTE, TASK, MESH, KERNEL",
            other => panic!("stages {other} have no name in the manual"),
        };
        let second = fields.next()?;
        let form = match (form, second) {
            ("number", "Decimal") => "decimal".to_owned(),
            ("number", "Always") => "decimal, always".to_owned(),
            ("number", "AlwaysHex") => "hex 2, always".to_owned(),
            ("number", "Flag") => "flag".to_owned(),
            ("number", "Ranges") => "ranges".to_owned(),
            ("number", hex) if hex.starts_with("Hex(") => hex.replace("Hex(", "hex ").replace(')', ""),
            ("number", words) => words.replace("Words(", "words ").replace(')', ""),
            ("text", "true") => "text, `UNKNOWN` if empty".to_owned(),
            ("text", _) => "text".to_owned(),
            ("list", "true") => "list of hex 8".to_owned(),
            ("list", _) => "list".to_owned(),
            ("special", "WorkgroupSize") => "three numbers, ` (variable)`".to_owned(),
            ("special", "NextStage") => "stage".to_owned(),
            ("special", "Constants") => "bytes of `constant_data`".to_owned(),
            other => panic!("form {other:?} has no name in the manual"),
        };
        let own = if fields.next() == Some("true") { "yes" } else { "-" };
        Some(vec![code(key), form, stages.to_owned(), own.to_owned()])
    });
    let head = ["Key", "Form", "Stages", "Own"];
    page(FOLDER, "text.md").check_generated("header", &table(&head, rows));
}

/// Rows `NAME = VALUE, "meaning";` of a table in a source file.
fn source_rows(source: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    source.lines().filter_map(|line| {
        let (name, rest) = line.trim().split_once(" = ")?;
        let (value, meaning) = rest.split_once(", \"")?;
        Some((name, value, meaning.strip_suffix("\";")?))
    })
}

#[test]
fn passes() {
    let in_pipelines = pipeline::passes();
    let page = page(FOLDER, "passes.md");
    let mut groups: Vec<&str> = PASSES.iter().map(|pass| pass.group).collect();
    groups.dedup();
    for group in groups {
        let passes = PassId::ALL.iter().filter(|pass| pass.info().group == group);
        let rows = passes.map(|pass| {
            let star = if in_pipelines.contains(pass) { "yes" } else { "-" };
            vec![code(pass.info().name), star.to_owned(), pass.info().about.to_owned()]
        });
        page.check_generated(group, &table(&["Pass", "In pipelines", "Does"], rows));
    }
}

#[test]
fn options() {
    let page = page(FOLDER, "options.md");
    let switches = SWITCHES.iter().map(|switch| {
        let by = match switch.by {
            "hint" | "rules" => switch.by.to_owned(),
            pass => {
                assert!(PassId::from_name(pass).is_some(), "{}: there is no pass {pass}", switch.name);
                format!("pass {}", code(pass))
            }
        };
        let result = match switch.bound {
            _ if switch.replaced.is_empty() => "-".to_owned(),
            Bound::Exact => "exact".to_owned(),
            Bound::Zeros => "zeros".to_owned(),
            Bound::Near(units) => format!("{units} ulp"),
        };
        let default = if switch.default { "on" } else { "off" };
        vec![code(switch.name), default.to_owned(), by, result, switch.about.to_owned()]
    });
    page.check_generated("switches", &table(&["Switch", "Default", "By", "Result", "Meaning"], switches));
    let families = include_str!("../src/options/wide.rs");
    for name in ["Int64Ops", "DoubleOps", "Fp16Casts"] {
        let (_, rest) = families.split_once(&format!("\n    {name}:\n")).expect("a set of families");
        let rows = source_rows(rest.split_once("\n}").expect("an end").0)
            .map(|(name, bit, meaning)| vec![bit.to_owned(), code(name), meaning.to_owned()]);
        page.check_generated(name, &table(&["Bit", "Family", "Operations"], rows));
    }
    let defaults = CompilerOptions::default();
    let numbers = [
        ("max_unroll_iterations", defaults.max_unroll_iterations),
        ("max_unroll_iterations_aggressive", defaults.max_unroll_iterations_aggressive),
        ("max_unroll_growth", defaults.max_unroll_growth),
        ("peephole_select_limit", defaults.peephole_select_limit),
    ];
    compare("options.md", "numbers", 0, numbers.map(|(name, value)| vec![code(name), value.to_string()]));
}

/// The predicate names of rules are private to the build script, so this reads its source.
#[test]
fn conditions_of_rules() {
    let source = include_str!("../build/sized_rules.rs");
    let part = |start: &str| source.split_once(start).and_then(|(_, rest)| rest.split_once("];")).expect(start).0;
    let variables = part("VARIABLE_PREDICATES: &[(&str, bool)] = &[").lines().filter_map(|line| {
        let constant = if line.contains("true") { "constant" } else { "any" };
        Some(vec![code(quoted(line)?), constant.to_owned()])
    });
    compare("rules.md", "variable-predicates", 0, variables);
    let roots = part("ROOT_PREDICATES: &[&str] =").split('"').skip(1).step_by(2).map(|name| vec![code(name)]);
    compare("rules.md", "root-predicates", 0, roots);
}

#[test]
fn error_codes() {
    let name = "errors.md";
    let rows =
        |codes: &'static [tgsi_diagnostics::ErrorCode]| codes.iter().map(|c| vec![c.id.to_owned(), code(c.name)]);
    compare(name, "text", 0, rows(TextErrorKind::CODES));
    compare(name, "runs", 0, rows(RunError::CODES));
    let rules =
        ValidationErrorKind::CODES.iter().map(|(rule, c)| vec![c.id.to_owned(), code(c.name), rule.to_string()]);
    compare(name, "validator", 0, rules);
}
