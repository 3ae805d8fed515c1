//! Rows of the variables in the manual.

use tgsi_ir::slots::{FragResult, VaryingSlot, VertAttrib};

use super::{Role, Row, RowRole, Values, constants, interface, state};
use crate::builtins::manual::availability;
use crate::builtins::stages::Stages;
use crate::extension::Extension;

/// A type of a table as in the source.
fn type_name(text: &str) -> String {
    let (element, length) = text.split_once('[').unwrap_or((text, ""));
    let length = length.trim_end_matches(']');
    let length = match length.strip_prefix('<') {
        Some(largest) => format!("[]`, at most `{largest}"),
        None if length.is_empty() => String::new(),
        None => format!("[{length}]"),
    };
    let (first, size) = element.split_at_checked(1).unwrap_or((element, ""));
    let name = match (first, size) {
        _ if element.starts_with("gl_") => element.to_owned(),
        ("m", size) => format!("mat{size}"),
        ("f", "") => "float".to_owned(),
        ("i", "") => "int".to_owned(),
        ("u", "") => "uint".to_owned(),
        ("b", "") => "bool".to_owned(),
        ("k", "") => "uint64_t".to_owned(),
        ("f", size) => format!("vec{size}"),
        (first, size) => format!("{first}vec{size}"),
    };
    format!("`{name}{length}`")
}

fn is_shown(row: &Row) -> bool {
    row.stages.meets(Stages::VERTEX.or(Stages::FRAGMENT))
}

fn versions(row: &Row) -> [String; 3] {
    let [mut desktop, es, extensions] = availability(&row.since, (row.lacking_core, row.lacking_es));
    if row.is_fixed_function {
        desktop.push_str(", compatibility");
    }
    [desktop, es, extensions]
}

/// The inputs, outputs and system values.
pub(crate) fn variables() -> Vec<Vec<String>> {
    let rows = [interface::VERTEX, interface::FRAGMENT, interface::OTHER].concat();
    let shown = rows.iter().filter(|row| is_shown(row));
    let cells = shown.map(|row| {
        let is_vertex = row.stages.meets(Stages::VERTEX);
        let slot = match row.role {
            RowRole::Is(Role::Input(slot)) if is_vertex => {
                format!("input `{}`", VertAttrib::name(slot).unwrap_or_default())
            }
            RowRole::Is(Role::Input(slot)) => format!("input `{}`", VaryingSlot::name(slot).unwrap_or_default()),
            RowRole::Is(Role::Output(slot)) if is_vertex => {
                format!("output `{}`", VaryingSlot::name(slot).unwrap_or_default())
            }
            RowRole::Is(Role::Output(slot)) => format!("output `{}`", FragResult::name(slot).unwrap_or_default()),
            RowRole::Is(Role::Framebuffer) => "framebuffer".to_owned(),
            RowRole::Is(Role::SystemValue(_)) => "system value".to_owned(),
            _ => String::new(),
        };
        let [desktop, es, extensions] = versions(row);
        vec![format!("`{}`", row.name), type_name(row.ty), slot, desktop, es, extensions, row.stages.to_string()]
    });
    cells.collect()
}

/// `128, from 300: 256`
fn values(values: Values) -> String {
    let shown = values.iter().enumerate().map(|(number, &(version, values))| {
        let value = values.iter().map(i32::to_string).collect::<Vec<_>>().join(" ");
        if number == 0 { value } else { format!("from {version}: {value}") }
    });
    let text = shown.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "-".to_owned() } else { text }
}

/// The constants with their values.
pub(crate) fn constants() -> Vec<Vec<String>> {
    let mut cells: Vec<Vec<String>> = Vec::new();
    for row in constants::ROWS {
        let RowRole::Limit(desktop, es) = row.role else { continue };
        let [first, first_es, extensions] = versions(row);
        cells.push(vec![format!("`{}`", row.name), first, values(desktop), first_es, values(es), extensions]);
    }
    cells
}

/// Fixed-function state with its registers, in their order.
pub(crate) fn state() -> Vec<Vec<String>> {
    let cells = state::ROWS.iter().enumerate().map(|(number, row)| {
        let first = interface::VERTEX.len() + interface::FRAGMENT.len() + interface::OTHER.len();
        let variable = super::BuiltinVariable((first + number) as u16);
        let registers = variable.state_registers();
        let of = if row.ty.contains('[') { " for each element" } else { "" };
        let fixed = if row.is_fixed_function { "compatibility" } else { "all" };
        vec![format!("`{}`", row.name), type_name(row.ty), format!("{registers}{of}"), fixed.to_owned()]
    });
    cells.collect()
}

/// The fields of structs of state: register and components, and the initial value.
pub(crate) fn state_fields() -> Vec<Vec<String>> {
    let mut cells = Vec::new();
    for data in state::STRUCTS {
        for field in data.fields {
            let lanes: String = "xyzw".chars().skip(field.component.into()).take(field.components.into()).collect();
            let initial: Vec<String> =
                field.initial.iter().take(field.components.into()).map(|value| format!("{value:?}")).collect();
            cells.push(vec![
                format!("`{}`", data.name),
                format!("`{}`", field.name),
                format!("{}`.{lanes}`", field.register),
                initial.join(" "),
            ]);
        }
    }
    cells
}

/// The variables that an extension adds.
pub(crate) fn names_of(extension: Extension) -> Vec<&'static str> {
    let rows = super::ROWS.iter().filter(|row| row.since.extensions.contains(&extension) && is_shown(row));
    rows.map(|row| row.name).collect()
}
