//! Pairs the shaders of two runs and sums up their statistics.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::run::{CompilerRun, Key, Shader};
use super::statistics::{more_is_better, stage_rank};

/// A statistic of both runs.
#[derive(Clone, Copy, Debug)]
pub struct Statistic<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether a greater value is better.
    pub more_is_better: bool,
}

/// A value before and after.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Change {
    /// In the old run.
    pub old: u64,
    /// In the new one.
    pub new: u64,
}

impl Change {
    fn add(&mut self, other: Change) {
        self.old = self.old.saturating_add(other.old);
        self.new = self.new.saturating_add(other.new);
    }

    /// Returns the change relative to the old value, or the new value if the old one is 0.
    fn relative(self) -> f64 {
        let difference = self.new.abs_diff(self.old) as f64;
        if self.old == 0 { difference } else { difference / self.old as f64 }
    }
}

/// The effect on a statistic of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It is the same.
    Same,
    /// It is better.
    Helped,
    /// It is worse.
    Hurt,
}

/// A shader of either run.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// Its key.
    pub key: &'a Key,
    /// In the old run.
    pub old: Option<&'a Shader>,
    /// In the new run.
    pub new: Option<&'a Shader>,
    /// The statistics that it has in both runs, in the order of [`Comparison::statistics`].
    pub changes: Vec<Option<Change>>,
}

/// A statistic over the shaders that have it in both runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StatisticTotal {
    /// The index in [`Comparison::statistics`].
    pub statistic: usize,
    /// Over all of these shaders.
    pub shared: Change,
    /// Over those with a changed value.
    pub affected: Change,
    /// Shaders with a better value.
    pub helped: usize,
    /// Shaders with a worse value.
    pub hurt: usize,
}

/// The shaders of one stage, or all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary<'a> {
    /// The stage; `None` for all.
    pub stage: Option<&'a str>,
    /// Shaders in both runs.
    pub shared: usize,
    /// Shaders only in the old run.
    pub lost: usize,
    /// Shaders only in the new run.
    pub gained: usize,
    /// Totals of the statistics that are not zero everywhere.
    pub totals: Vec<StatisticTotal>,
}

/// Two runs, compared.
pub struct Comparison<'a> {
    /// The old run.
    pub old: &'a CompilerRun,
    /// The new run.
    pub new: &'a CompilerRun,
    /// The statistics that both runs have.
    pub statistics: Vec<Statistic<'a>>,
    /// The shaders in the order of the old run, then those that only the new run has.
    pub programs: Vec<Program<'a>>,
    /// All shaders, then those of each stage if there are several.
    pub summaries: Vec<Summary<'a>>,
}

impl<'a> Comparison<'a> {
    /// Compares two runs.
    pub fn new(old: &'a CompilerRun, new: &'a CompilerRun) -> Comparison<'a> {
        // The index of each statistic in both runs.
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (place, name) in old.statistics.iter().enumerate() {
            places.extend(new.statistics.iter().position(|other| other == name).map(|other| (place, other)));
        }
        let name = |&(place, _): &(usize, usize)| old.statistics[place].as_str();
        let statistics = places.iter().map(name).map(|name| Statistic { name, more_is_better: more_is_better(name) });
        let statistics: Vec<Statistic<'_>> = statistics.collect();

        let by_key: HashMap<&Key, &Shader> = new.shaders.iter().map(|shader| (&shader.key, shader)).collect();
        let mut programs: Vec<Program<'_>> = Vec::with_capacity(old.shaders.len());
        for shader in &old.shaders {
            let other = by_key.get(&shader.key).copied();
            let change = |&(place, other_place): &(usize, usize)| {
                let value = |shader: &Shader, place: usize| shader.values.get(place).copied().flatten();
                Some(Change { old: value(shader, place)?, new: value(other?, other_place)? })
            };
            let changes = places.iter().map(change).collect();
            programs.push(Program { key: &shader.key, old: Some(shader), new: other, changes });
        }
        let known: HashSet<&Key> = old.shaders.iter().map(|shader| &shader.key).collect();
        let gained = new.shaders.iter().filter(|shader| !known.contains(&shader.key));
        let nothing = vec![None; statistics.len()];
        programs.extend(gained.map(|shader| Program {
            key: &shader.key,
            old: None,
            new: Some(shader),
            changes: nothing.clone(),
        }));

        let mut comparison = Comparison { old, new, statistics, programs, summaries: Vec::new() };
        comparison.summaries.push(comparison.summary(None));
        let stages = comparison.stages();
        if stages.len() > 1 {
            let of_stages: Vec<Summary<'_>> = stages.into_iter().map(|stage| comparison.summary(Some(stage))).collect();
            comparison.summaries.extend(of_stages);
        }
        comparison
    }

    /// Returns the stages, in pipeline order.
    pub fn stages(&self) -> Vec<&'a str> {
        let names: BTreeSet<(usize, &str)> =
            self.programs.iter().map(|program| &*program.key.stage).map(|name| (stage_rank(name), name)).collect();
        names.into_iter().map(|(_, name)| name).collect()
    }

    fn summary(&self, stage: Option<&'a str>) -> Summary<'a> {
        let mut summary = Summary { stage, shared: 0, lost: 0, gained: 0, totals: Vec::new() };
        let mut totals: Vec<StatisticTotal> = (0..self.statistics.len())
            .map(|statistic| StatisticTotal { statistic, ..StatisticTotal::default() })
            .collect();
        for program in self.programs.iter().filter(|program| stage.is_none_or(|stage| program.key.stage == stage)) {
            match (program.old, program.new) {
                (Some(_), Some(_)) => summary.shared += 1,
                (Some(_), None) => summary.lost += 1,
                (None, _) => summary.gained += 1,
            }
            for (total, change) in totals.iter_mut().zip(&program.changes) {
                let Some(change) = *change else { continue };
                total.shared.add(change);
                match self.effect(total.statistic, change) {
                    Effect::Same => continue,
                    Effect::Helped => total.helped += 1,
                    Effect::Hurt => total.hurt += 1,
                }
                total.affected.add(change);
            }
        }
        totals.retain(|total| total.shared != Change::default());
        summary.totals = totals;
        summary
    }

    /// Returns the effect of a change of a statistic.
    pub fn effect(&self, statistic: usize, change: Change) -> Effect {
        let more_is_better = self.statistics.get(statistic).is_some_and(|statistic| statistic.more_is_better);
        match change.new.cmp(&change.old) {
            Ordering::Equal => Effect::Same,
            Ordering::Less if more_is_better => Effect::Hurt,
            Ordering::Greater if more_is_better => Effect::Helped,
            Ordering::Less => Effect::Helped,
            Ordering::Greater => Effect::Hurt,
        }
    }

    /// Returns the shaders on which a statistic had an effect, sorted by decreasing relative change.
    pub fn affected(&self, statistic: usize, effect: Effect) -> Vec<(&'a Key, Change)> {
        let change = |program: &Program<'a>| Some((program.key, program.changes.get(statistic).copied().flatten()?));
        let mut found: Vec<(&Key, Change)> = self.programs.iter().filter_map(change).collect();
        found.retain(|(_, change)| self.effect(statistic, *change) == effect);
        found.sort_by(|(key, a), (other, b)| b.relative().total_cmp(&a.relative()).then_with(|| key.cmp(other)));
        found
    }

    /// Returns the shaders that only the old run has, by name.
    pub fn lost(&self) -> Vec<&'a Key> {
        self.keys(|program| program.new.is_none())
    }

    /// Returns the shaders that only the new run has, by name.
    pub fn gained(&self) -> Vec<&'a Key> {
        self.keys(|program| program.old.is_none())
    }

    fn keys(&self, wanted: impl Fn(&Program<'a>) -> bool) -> Vec<&'a Key> {
        let mut keys: Vec<&Key> = self.programs.iter().filter(|p| wanted(p)).map(|program| program.key).collect();
        keys.sort();
        keys
    }

    /// Returns the files with different results in the two runs, with both results. Files without a result in one of
    /// the runs are left out.
    pub fn different_results(&self) -> Vec<(&'a str, &'a str, &'a str)> {
        let pair = |(file, old): (&'a String, &'a String)| Some((&**file, &**old, &**self.new.results.get(file)?));
        self.old.results.iter().filter_map(pair).filter(|(_, old, new)| old != new).collect()
    }

    /// Returns the number of files with each pair of results.
    pub fn result_counts(&self) -> BTreeMap<(&'a str, &'a str), usize> {
        let mut counts = BTreeMap::new();
        for (file, old) in &self.old.results {
            if let Some(new) = self.new.results.get(file) {
                *counts.entry((&**old, &**new)).or_insert(0) += 1;
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const OLD: &str = "a - VS shader: 100 inst, 0 spills, 4 threads\nb - FS shader: 10 inst, 0 spills, 8 threads\n\
                       c - FS shader: 0 inst\nd - FS shader: 7 inst\nRESULT a ok\nRESULT b ok\nRESULT z ok\n";
    const NEW: &str = "x - CS shader: 1 inst\nc - FS shader: 2 inst\nb - FS shader: 12 inst, 0 spills, 16 threads\n\
                       a - VS shader: 90 inst, 0 spills, 2 threads\nRESULT a ok\nRESULT b nolink\n";

    #[test]
    fn shaders_are_paired_and_summed() {
        let (old, new) = (parse("old", OLD.as_bytes(), false).unwrap(), parse("new", NEW.as_bytes(), false).unwrap());
        let comparison = Comparison::new(&old, &new);
        let stages: Vec<_> = comparison.summaries.iter().map(|s| (s.stage, s.shared, s.lost, s.gained)).collect();
        assert_eq!(stages, [(None, 3, 1, 1), (Some("VS"), 1, 0, 0), (Some("FS"), 2, 1, 0), (Some("CS"), 0, 0, 1)]);
        let inst = StatisticTotal {
            statistic: 0,
            shared: Change { old: 110, new: 104 },
            affected: Change { old: 110, new: 104 },
            helped: 1,
            hurt: 2,
        };
        // Spills are zero everywhere.
        assert_eq!(comparison.summaries[0].totals.len(), 2);
        assert_eq!(comparison.summaries[0].totals[0], inst);
        let threads = comparison.summaries[0].totals[1];
        assert_eq!((threads.helped, threads.hurt), (1, 1));
        let keys = |found: Vec<(&Key, Change)>| found.iter().map(|(key, _)| key.name.clone()).collect::<Vec<_>>();
        assert_eq!(keys(comparison.affected(0, Effect::Hurt)), ["c", "b"]);
        assert_eq!(keys(comparison.affected(2, Effect::Helped)), ["b"]);
        assert_eq!((comparison.lost()[0].name.as_str(), comparison.gained()[0].name.as_str()), ("d", "x"));
        assert_eq!(comparison.different_results(), [("b", "ok", "nolink")]);
        assert_eq!(comparison.result_counts()[&("ok", "ok")], 1);
    }
}
