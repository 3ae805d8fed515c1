//! The manual (`manual`) against the code: its tables are generated from those of the crate, or compared with them.
//! `TGSIC_BLESS=1` rewrites the generated parts.

#[path = "../../tests/support/manual.rs"]
mod support;

use spirv::BuiltIn;
use support::{check_pages, code, page, table};
use tgsi_compiler::front_end::FrontEnd;
use tgsi_ir::shader::ShaderStage;

use crate::error::SpirvError;
use crate::interface::built_ins;
use crate::limits::SpirvLimits;
use crate::module::REFUSED;
use crate::{EXPLANATIONS, SPIRV};

const FOLDER: &str = "manual";

const STAGES: [ShaderStage; 6] = [
    ShaderStage::Vertex,
    ShaderStage::TessCtrl,
    ShaderStage::TessEval,
    ShaderStage::Geometry,
    ShaderStage::Fragment,
    ShaderStage::Compute,
];

#[test]
fn pages_are_in_order() {
    check_pages(FOLDER);
}

#[test]
fn capability_table() {
    let mut names: Vec<String> = REFUSED.iter().map(|capability| format!("{capability:?}")).collect();
    names.sort();
    let rows = names.into_iter().map(|name| vec![code(name)]);
    page(FOLDER, "modules.md").check_generated("capabilities", &table(&["Capability"], rows));
}

#[test]
fn built_in_table() {
    // Numbers of built-ins: those of the core and of extensions.
    let all = (0..8192).filter_map(BuiltIn::from_u32);
    let rows = all.filter_map(|built_in| {
        let names = |is_output| {
            let stages = STAGES.iter().filter(|stage| built_ins::place(built_in, **stage, is_output).is_some());
            let names: Vec<String> = stages.map(|stage| stage.name().to_ascii_lowercase()).collect();
            match names.len() {
                0 => "-".to_owned(),
                6 => "all".to_owned(),
                _ => names.join(", "),
            }
        };
        let [inputs, outputs] = [false, true].map(names);
        let mut places: Vec<String> = Vec::new();
        for is_output in [false, true] {
            for stage in STAGES {
                let place = built_ins::place(built_in, stage, is_output);
                if let Some(place) = place.filter(|place| !places.contains(place)) {
                    places.push(place);
                }
            }
        }
        let row = vec![code(format!("{built_in:?}")), inputs, outputs, places.join(", ")];
        (!places.is_empty()).then_some(row)
    });
    let head = ["Built-in", "Input of", "Output of", "Where"];
    page(FOLDER, "interface.md").check_generated("built-ins", &table(&head, rows));
}

#[test]
fn limits() {
    let limits = SpirvLimits::default();
    let rows = [
        ("words of a module", limits.words),
        ("ids of a module", limits.ids),
        ("nested types and constructs of control flow", limits.nesting.into()),
        ("scalars and vectors of one value", limits.leaves.into()),
        ("scalars of all variables that are not resources, inputs or outputs", limits.scalars),
        ("copies of functions", limits.functions.into()),
        ("variables that a pointer may lead to", limits.targets.into()),
        ("instructions of all copies of functions", limits.instructions),
    ];
    let rows: Vec<Vec<String>> = rows.iter().map(|(what, limit)| vec![(*what).to_owned(), limit.to_string()]).collect();
    page(FOLDER, "limits.md").check_table("limits", 0, &rows);
}

#[test]
fn error_table() {
    let rows = SpirvError::CODES.iter().map(|known| {
        let heading = |severity: &str| format!("== {} {severity} {}\n", known.id, known.name);
        let find =
            |severity: &str| EXPLANATIONS.split_once(&heading(severity)).map(|(_, rest)| (severity.to_owned(), rest));
        let (severity, rest) = find("error").or_else(|| find("warning")).expect("a page for each code");
        vec![known.id.to_owned(), code(known.name), severity, rest.lines().next().unwrap_or_default().to_owned()]
    });
    page(FOLDER, "errors.md").check_generated("errors", &table(&["Code", "Name", "Severity", "Title"], rows));
}

/// Each option of the front end is in the README.
#[test]
fn options_are_described() {
    let readme = include_str!("../README.md");
    for option in SPIRV.options() {
        let is_described =
            readme.contains(&format!("| `{}`", option.name)) || readme.contains(&format!("| `{}=", option.name));
        assert!(is_described, "README.md lacks the option {}", option.name);
    }
}
