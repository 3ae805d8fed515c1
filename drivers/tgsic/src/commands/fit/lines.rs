//! The annotated source of `fit --lines`: each line with the instructions that come from it.

use tgsi_compiler::{LineCosts, Measurement};

/// Renders the source of a measurement: before each line its costs, and at the end those without a line and the totals.
pub(super) fn render(measurement: &Measurement) -> String {
    let costs = measurement.line_costs();
    let units: Vec<(&str, u32)> = measurement.units().map(|limit| (limit.name, limit.used)).collect();
    let text = String::from_utf8_lossy(measurement.listed_text());
    let lines: Vec<&str> = text.lines().collect();
    let heading: Vec<&str> = units.iter().map(|(name, _)| short(name)).collect();
    let widths: Vec<usize> =
        units.iter().zip(&heading).map(|((_, used), name)| name.len().max(used.to_string().len())).collect();
    let width = lines.len().to_string().len();
    let columns = |cells: Vec<String>| {
        cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}  ")).collect::<String>()
    };
    let counts = |costs: &LineCosts| {
        let cell = |(name, _): &(&str, u32)| match costs.count(name) {
            0 => String::new(),
            used => used.to_string(),
        };
        columns(units.iter().map(cell).collect())
    };
    let none = LineCosts::default();
    let mut rendered = columns(heading.iter().map(|&name| name.to_owned()).collect()).trim_end().to_owned() + "\n";
    let mut of_lines = costs.iter().filter(|costs| costs.line.is_some()).peekable();
    for (number, line) in (1u32..).zip(&lines) {
        let own = of_lines.next_if(|costs| costs.line == Some(number)).unwrap_or(&none);
        rendered += format!("{}{number:>width$}  {line}", counts(own)).trim_end();
        rendered.push('\n');
    }
    if let Some(without) = costs.iter().find(|costs| costs.line.is_none()) {
        rendered += &format!("{}{:>width$}  without a line\n", counts(without), "");
    }
    let total = columns(units.iter().map(|(_, used)| used.to_string()).collect());
    rendered + &format!("{total}{:>width$}  total\n", "")
}

/// The name of a limit without the word that all of them have.
pub(super) fn short(name: &str) -> &str {
    name.strip_suffix("-instructions").unwrap_or(name)
}
