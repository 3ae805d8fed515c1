//! The manual (`manual`) against the code: its tables are generated from those of the crate, and the registers below
//! its examples are those of the compiler. `TGSIC_BLESS=1` rewrites the generated parts.

#[path = "../../tests/support/manual.rs"]
mod support;

use support::{check_pages, page, pages, table};
use tgsi_compiler::front_end::{Interface, ResourceKind};
use tgsi_ir::ShaderStage;
use tgsi_ir::slots::{FragResult, VaryingSlot, VertAttrib};

use crate::builtins::manual::short;
use crate::builtins::{functions, variables};
use crate::extension::Extension;
use crate::keyword::Keyword;
use crate::options::GlslLimits;
use crate::version::Version;
use crate::{GlslOptions, compile};

const FOLDER: &str = "manual";

#[test]
fn pages_are_in_order() {
    check_pages(FOLDER);
}

#[test]
fn function_tables() {
    let page = page(FOLDER, "functions.md");
    let head = ["Functions", "GLSL", "ES", "Extensions", "Stages"];
    for (name, rows) in functions::manual::tables() {
        page.check_generated(name, &table(&head, rows));
    }
}

#[test]
fn variable_tables() {
    let of_variables = page(FOLDER, "variables.md");
    let head = ["Variable", "Type", "Role", "GLSL", "ES", "Extensions", "Stages"];
    of_variables.check_generated("variables", &table(&head, variables::manual::variables()));
    let head = ["Constant", "GLSL", "Value", "ES", "Value", "Extensions"];
    of_variables.check_generated("constants", &table(&head, variables::manual::constants()));
    let of_state = page(FOLDER, "state.md");
    let head = ["Variable", "Type", "Registers", "Profiles"];
    of_state.check_generated("state", &table(&head, variables::manual::state()));
    let head = ["Struct", "Field", "Register", "Initial value"];
    of_state.check_generated("fields", &table(&head, variables::manual::state_fields()));
}

#[test]
fn extension_table() {
    let es = |number: u16| Version { number, profile: crate::Profile::Es };
    let rows = Extension::ALL.iter().map(|&extension| {
        let is_desktop = extension.exists_in(Version { number: 110, ..Version::DEFAULT });
        let first_es = Version::ES.iter().find(|&&number| extension.exists_in(es(number)));
        let of_es = first_es.map(|number| format!("ES {}.{:02}", number / 100, number % 100));
        let languages: Vec<String> = is_desktop.then(|| "GLSL".to_owned()).into_iter().chain(of_es).collect();
        let keywords = Keyword::ALL.iter().filter(|keyword| keyword.since().extensions.contains(&extension));
        let mut names: Vec<&str> = keywords.map(|keyword| keyword.name()).collect();
        names.extend(functions::manual::names_of(extension));
        names.extend(variables::manual::names_of(extension));
        let mut seen: Vec<String> = Vec::new();
        for name in names.iter().map(|name| format!("`{name}`")) {
            if !seen.contains(&name) {
                seen.push(name);
            }
        }
        let adds = if seen.is_empty() { "-".to_owned() } else { seen.join(" ") };
        let state = extension.remark().unwrap_or("complete").to_owned();
        vec![format!("`{}`", short(extension.name())), languages.join(", "), adds, state]
    });
    let head = ["Extension", "Language", "Names", "State"];
    page(FOLDER, "languages.md").check_generated("extensions", &table(&head, rows));
}

#[test]
fn limits() {
    let limits = GlslLimits::default();
    let rows = [
        ("bytes of a text", limits.text_bytes),
        ("tokens after expansion", limits.tokens),
        ("nested parentheses, blocks, structs and conditional groups", limits.nesting.into()),
        ("registers of a variable", limits.registers.into()),
        ("registers of copied arrays and structs", crate::analyze::MAX_COPIED_REGISTERS),
        ("components of constant arrays and matrices", crate::analyze::MAX_COMPONENTS),
        ("copies of functions, for different samplers", crate::emit::MAX_SPECIALIZATIONS),
        ("slots of vertex attributes", crate::slots::ATTRIBUTES.into()),
        ("slots between stages", crate::slots::VARYINGS.into()),
        ("units of samplers", crate::slots::UNITS.into()),
    ];
    let rows: Vec<Vec<String>> = rows.iter().map(|(what, limit)| vec![(*what).to_owned(), limit.to_string()]).collect();
    page(FOLDER, "limits.md").check_table("limits", 0, &rows);
}

/// The registers of a shader, one a line.
fn registers(interface: &Interface, stage: ShaderStage) -> String {
    let range = |first: u32, count: u32| match count {
        0 | 1 => first.to_string(),
        _ => format!("{first}..{}", first + count - 1),
    };
    let mut text = String::new();
    let mut line = |place: String, ty: &str, name: &str| text.push_str(&format!("{place:<22} {ty} {name}\n"));
    for uniform in &interface.uniforms {
        line(format!("CONST[0][{}]", range(uniform.register, uniform.num_registers)), &uniform.ty, &uniform.name);
    }
    for sampler in &interface.samplers {
        line(format!("SAMP[{}]", range(sampler.unit, sampler.num_units)), &sampler.ty, &sampler.name);
    }
    for resource in &interface.resources {
        let file = match resource.kind {
            ResourceKind::UniformBlock => "CONST",
            ResourceKind::StorageBlock => "BUFFER",
            ResourceKind::Image => "IMAGE",
            ResourceKind::CounterBuffer => "HWATOMIC",
            _ => continue,
        };
        let range = range(resource.register, resource.num_registers);
        let byte = match resource.kind {
            ResourceKind::CounterBuffer => format!(" byte {}", resource.offset),
            _ => String::new(),
        };
        line(format!("{file}[{range}]{byte}"), resource.kind_name(), &resource.name);
        for member in &resource.members {
            line(format!("  byte {}", member.offset), "member", &member.path);
        }
    }
    for subroutine in &interface.subroutines {
        line(format!("number {}", subroutine.index), "subroutine", &subroutine.name);
    }
    let is_vertex = stage == ShaderStage::Vertex;
    for (list, file, is_input) in [(&interface.inputs, "IN", true), (&interface.outputs, "OUT", false)] {
        for variable in list {
            let slot = u8::try_from(variable.location).unwrap_or(u8::MAX);
            let slot = match (is_vertex, is_input) {
                (true, true) => VertAttrib::name(slot),
                (false, false) => FragResult::name(slot),
                _ => VaryingSlot::name(slot),
            };
            let place = format!("{file}[{}] {}", variable.register, slot.unwrap_or_default());
            line(place, &variable.ty, &variable.name);
        }
    }
    for name in &interface.unused {
        line("unused".to_owned(), "uniform", name);
    }
    text
}

/// Each example of these pages has its registers in a generated part after it, with the name of the heading.
#[test]
fn examples_have_their_registers() {
    let mut count = 0;
    for page in pages(FOLDER) {
        for (number, example) in page.examples("glsl").iter().enumerate() {
            let is_vertex = example.text.contains("gl_Position");
            let stage = if is_vertex { ShaderStage::Vertex } else { ShaderStage::Fragment };
            let compiled = compile(example.text.as_bytes(), stage, &GlslOptions::default());
            let messages: Vec<&String> = compiled.findings.iter().map(|finding| &finding.message).collect();
            let module = compiled.module.unwrap_or_else(|| panic!("{}: {messages:?}", example.place));
            let expected = format!("```text\n{}```\n", registers(&module.interface, stage));
            page.check_generated(&format!("example {}", number + 1), &expected);
            count += 1;
        }
    }
    assert!(count >= 6, "only {count} examples");
}
