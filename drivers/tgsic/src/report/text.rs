//! The comparison as text, in the format of shader-db's `report.py`.

use std::fmt::Write;

use super::compare::{Comparison, Effect, Summary};
use super::run::{Key, Printable};
use super::statistics::change;

/// Names are padded to this width, as in `report.py`.
const NAME_WIDTH: usize = 50;

/// Formats the comparison: for each statistic the shaders helped and hurt most, `most` of each; the shaders that only
/// one run has; totals of each stage; totals of all.
pub fn format(comparison: &Comparison<'_>, most: usize) -> String {
    let mut text = String::new();
    for (place, statistic) in comparison.statistics.iter().enumerate() {
        for (effect, label) in [(Effect::Helped, "helped:"), (Effect::Hurt, "HURT:")] {
            let found = comparison.affected(place, effect);
            for (key, values) in found.iter().take(most) {
                let name = format!("{key}: ");
                let label = format!("{} {label}", Printable(statistic.name));
                let _ = writeln!(text, "{label}   {name:NAME_WIDTH$}{}", change(values.old, values.new));
            }
            end_list(&mut text, found.len(), most);
        }
    }
    for (keys, label) in [(comparison.lost(), "LOST:  "), (comparison.gained(), "GAINED:")] {
        list(&mut text, &keys, label, most);
    }
    let differences = comparison.different_results();
    for (file, old, new) in differences.iter().take(most) {
        let _ = writeln!(text, "RESULT: {}: {} -> {}", Printable(file), Printable(old), Printable(new));
    }
    end_list(&mut text, differences.len(), most);
    // The totals of all shaders are last, because they must be visible on a terminal.
    for summary in comparison.summaries.iter().skip(1).chain(comparison.summaries.first()) {
        write_summary(&mut text, comparison, summary);
    }
    let counts = comparison.result_counts();
    if !counts.is_empty() {
        let counts: Vec<String> = counts
            .iter()
            .map(|((old, new), count)| format!("{} -> {} {count}", Printable(old), Printable(new)))
            .collect();
        let _ = writeln!(text, "results of files: {}", counts.join(", "));
    }
    if let (Some(old), Some(new)) = (comparison.old.microseconds, comparison.new.microseconds) {
        let seconds = |microseconds: u64| microseconds as f64 / 1e6;
        let _ = writeln!(text, "Total CPU time (seconds): {:.2} -> {:.2}", seconds(old), seconds(new));
    }
    text
}

fn list(text: &mut String, keys: &[&Key], label: &str, most: usize) {
    for key in keys.iter().take(most) {
        let _ = writeln!(text, "{label} {key}");
    }
    end_list(text, keys.len(), most);
}

/// Notes how much of a list was left out, and adds a blank line.
fn end_list(text: &mut String, length: usize, most: usize) {
    if length > most && most > 0 {
        let _ = writeln!(text, "({} more)", length - most);
    }
    if length > 0 && most > 0 {
        text.push('\n');
    }
}

fn write_summary(text: &mut String, comparison: &Comparison<'_>, summary: &Summary<'_>) {
    let name = summary.stage.map_or("all".to_owned(), |stage| Printable(stage).to_string());
    let _ = writeln!(text, "== {name}: {} shaders in both runs", summary.shared);
    let mut changed = false;
    for total in &summary.totals {
        let name = comparison.statistics.get(total.statistic).map_or("", |statistic| statistic.name);
        let name = Printable(name);
        changed |= total.helped + total.hurt > 0;
        let _ = writeln!(
            text,
            "total {name} in shared programs: {}\n{name} in affected programs: {}\nhelped: {}\nHURT: {}\n",
            change(total.shared.old, total.shared.new),
            change(total.affected.old, total.affected.new),
            total.helped,
            total.hurt
        );
    }
    if summary.lost + summary.gained > 0 {
        let _ = writeln!(text, "LOST:   {}\nGAINED: {}\n", summary.lost, summary.gained);
    } else if !changed {
        text.push_str("No changes.\n\n");
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn the_form_of_shader_db() {
        let old =
            "a - FS shader: 100 inst\nb - FS shader: 10 inst\nc - FS shader: 5 inst\nd\u{7} - FS shader: 5 inst\n";
        let new = "a - FS shader: 90 inst\nb - FS shader: 12 inst\nc - FS shader: 6 inst\n";
        let (old, new) = (parse("old", old.as_bytes(), false).unwrap(), parse("new", new.as_bytes(), false).unwrap());
        let name = |name: &str| format!("{name:50}");
        let expected = format!(
            "inst helped:   {}100 -> 90 (-10.00%)\n\ninst HURT:   {}10 -> 12 (20.00%)\n(1 more)\n\nLOST:   d\\u{{7}} FS\n\n\
             == all: 3 shaders in both runs\n\
             total inst in shared programs: 115 -> 108 (-6.09%)\ninst in affected programs: 115 -> 108 (-6.09%)\n\
             helped: 1\nHURT: 2\n\nLOST:   1\nGAINED: 0\n\n",
            name("a FS: "),
            name("b FS: "),
        );
        assert_eq!(format(&Comparison::new(&old, &new), 1), expected);
        let same = format(&Comparison::new(&new, &new), 10);
        assert!(same.ends_with("HURT: 0\n\nNo changes.\n\n"), "{same}");
        assert!(format(&Comparison::new(&old, &new), 0).starts_with("== all"));
    }
}
