//! The comparison as a self-contained HTML [page](crate::page).
//!
//! Numbers are embedded as JSON. The texts of each shader are compressed in a separate element, which the page
//! unpacks when the shader is opened, so that runs of thousands of shaders open at once.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::compare::{Comparison, Program};
use super::run::{CompilerRun, Shader};
use crate::page;

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");

/// Formats the page.
pub fn format(comparison: &Comparison<'_>) -> String {
    let mut texts = PackedTexts::default();
    let data = data(comparison, &mut texts).to_string();
    page::fill(PAGE, |name, page| match name {
        "style" => page.push_str(page::STYLE),
        "common" => page.push_str(page::COMMON),
        "script" => page.push_str(SCRIPT),
        "data" => page.push_str(&page::in_script(&data)),
        "texts" => texts.write(page),
        _ => {}
    })
}

/// Distinct texts.
#[derive(Default)]
struct PackedTexts<'a> {
    texts: Vec<&'a str>,
    places: HashMap<&'a str, usize>,
}

impl<'a> PackedTexts<'a> {
    /// Returns the index of the texts of a shader; `None` if it has none.
    fn place(&mut self, shader: Option<&'a Shader>) -> Option<usize> {
        let text = shader?.texts.as_deref()?;
        Some(*self.places.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() - 1
        }))
    }

    /// Base64 needs no escaping.
    fn write(&self, page: &mut String) {
        for (place, text) in self.texts.iter().enumerate() {
            page.push_str(&format!("<script type=\"application/gzip\" id=\"text-{place}\">{text}</script>\n"));
        }
    }
}

/// Returns the data of the page without the texts. Programs are arrays, because there may be thousands.
fn data<'a>(comparison: &Comparison<'a>, texts: &mut PackedTexts<'a>) -> Value {
    let run =
        |run: &CompilerRun| json!({ "name": run.name, "shaders": run.shaders.len(), "microseconds": run.microseconds });
    let stages = comparison.stages();
    let places: HashMap<&str, usize> = stages.iter().enumerate().map(|(place, stage)| (*stage, place)).collect();
    let statistics: Vec<Value> = comparison
        .statistics
        .iter()
        .map(|statistic| json!({ "name": statistic.name, "moreIsBetter": statistic.more_is_better }))
        .collect();
    let summaries = comparison.summaries.iter().map(|summary| {
        let totals = summary.totals.iter().map(|total| {
            json!([
                total.statistic,
                total.shared.old,
                total.shared.new,
                total.affected.old,
                total.affected.new,
                total.helped,
                total.hurt
            ])
        });
        json!({
            "stage": summary.stage, "shared": summary.shared, "lost": summary.lost, "gained": summary.gained,
            "totals": totals.collect::<Vec<_>>(),
        })
    });
    let summaries: Vec<Value> = summaries.collect();
    let program = |program: &Program<'a>| {
        json!([
            program.key.name,
            places.get(&*program.key.stage),
            program.key.number,
            values(comparison, comparison.old, program.old),
            values(comparison, comparison.new, program.new),
            texts.place(program.old),
            texts.place(program.new),
        ])
    };
    let programs: Vec<Value> = comparison.programs.iter().map(program).collect();
    json!({
        "old": run(comparison.old), "new": run(comparison.new), "statistics": statistics, "stages": stages,
        "summaries": summaries, "results": comparison.different_results(), "programs": programs,
    })
}

/// Returns the values of a shader in the order of the common statistics.
fn values(comparison: &Comparison<'_>, run: &CompilerRun, shader: Option<&Shader>) -> Value {
    let Some(shader) = shader else { return Value::Null };
    let value = |name: &str| {
        let place = run.statistics.iter().position(|known| known == name)?;
        shader.values.get(place).copied().flatten()
    };
    comparison.statistics.iter().map(|statistic| json!(value(statistic.name))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::run::RunBuilder;
    use super::*;

    #[test]
    fn hostile_names_stay_names() {
        let name = "</script><script>alert(1)</script><!--{{texts}}\u{2028}&amp;\"'";
        let mut builder = RunBuilder::new(name);
        builder.shader(name, "</script>", [("</script>", 1)], Some("H4sI".into())).unwrap();
        let run = builder.finish();
        let page = format(&Comparison::new(&run, &run));
        // The data, one text, and the program each end a script.
        assert_eq!(page.matches("</script>").count(), 3);
        assert!(!page.contains("<!--{{") && !page.contains('\u{2028}'));
        let start = page.find("id=\"data\">").unwrap() + 10;
        let data = &page[start..start + page[start..].find("</script>").unwrap()];
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["programs"][0], json!([name, 0, 0, [1], [1], 0, 0]));
    }

    #[test]
    fn the_page_refers_to_nothing() {
        page::assert_self_contained(PAGE);
        page::assert_self_contained(SCRIPT);
    }
}
