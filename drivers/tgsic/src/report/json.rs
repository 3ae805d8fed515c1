//! The comparison as JSON.

use serde_json::{Map, Value, json};

use super::compare::{Change, Comparison, Effect, Program, Summary};
use super::run::{CompilerRun, Key};

/// Formats one object: runs, summaries, programs, results of files.
pub fn format(comparison: &Comparison<'_>) -> Value {
    let programs: Vec<Value> = comparison.programs.iter().map(|program| of_program(comparison, program)).collect();
    let summaries: Vec<Value> = comparison.summaries.iter().map(|summary| of_summary(comparison, summary)).collect();
    let results = comparison.different_results();
    let results: Vec<Value> =
        results.iter().map(|(file, old, new)| json!({ "f": file, "old": old, "new": new })).collect();
    json!({
        "old": of_run(comparison.old),
        "new": of_run(comparison.new),
        "summaries": summaries,
        "lost": comparison.lost().into_iter().map(of_key).collect::<Vec<_>>(),
        "gained": comparison.gained().into_iter().map(of_key).collect::<Vec<_>>(),
        "results": results,
        "programs": programs,
    })
}

fn of_run(run: &CompilerRun) -> Value {
    json!({ "f": run.name, "shaders": run.shaders.len(), "microseconds": run.microseconds })
}

fn of_key(key: &Key) -> Value {
    json!({ "f": key.name, "stage": key.stage, "number": key.number })
}

fn of_summary(comparison: &Comparison<'_>, summary: &Summary<'_>) -> Value {
    let totals = summary.totals.iter().filter_map(|total| {
        let name = comparison.statistics.get(total.statistic)?.name;
        let object = json!({
            "old": total.shared.old, "new": total.shared.new,
            "affected_old": total.affected.old, "affected_new": total.affected.new,
            "helped": total.helped, "hurt": total.hurt,
        });
        Some((name.to_owned(), object))
    });
    let totals: Map<String, Value> = totals.collect();
    json!({
        "stage": summary.stage, "shared": summary.shared, "lost": summary.lost, "gained": summary.gained,
        "totals": totals,
    })
}

fn of_program(comparison: &Comparison<'_>, program: &Program<'_>) -> Value {
    let values = |run: &CompilerRun, shader: Option<&super::run::Shader>| {
        shader.map(|shader| {
            let known = run.statistics.iter().zip(&shader.values);
            known.filter_map(|(name, value)| Some((name.clone(), Value::from((*value)?)))).collect::<Map<_, _>>()
        })
    };
    let names = |effect: Effect| {
        let has = |place: usize, change: &Option<Change>| change.is_some_and(|c| comparison.effect(place, c) == effect);
        let places = program.changes.iter().enumerate().filter(|&(place, change)| has(place, change));
        places.filter_map(|(place, _)| Some(comparison.statistics.get(place)?.name)).collect::<Vec<_>>()
    };
    json!({
        "f": program.key.name, "stage": program.key.stage, "number": program.key.number,
        "old": values(comparison.old, program.old), "new": values(comparison.new, program.new),
        "helped": names(Effect::Helped), "hurt": names(Effect::Hurt),
    })
}
