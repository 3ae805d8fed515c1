//! A run: compiled shaders with their statistics.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// Maximum number of statistics of a run. shader-db's drivers print about ten.
pub const MAX_STATISTICS: usize = 64;

/// The identity of a shader in a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// The file.
    pub name: String,
    /// The stage, as shader-db names it: `VS`, `FS`, ...
    pub stage: String,
    /// The index among the shaders of one file and stage, from 0.
    pub number: u32,
}

impl fmt::Display for Key {
    /// Writes the name, the stage, and a number from the second shader on. Control characters are escaped, because
    /// names are printed on terminals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Printable(&self.name), Printable(&self.stage))?;
        if self.number > 0 {
            write!(f, " #{}", u64::from(self.number) + 1)?;
        }
        Ok(())
    }
}

/// A text with its control characters escaped.
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}

/// A shader of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shader {
    /// Its key.
    pub key: Key,
    /// Its statistics, in the order of [`CompilerRun::statistics`]; it may have fewer.
    pub values: Vec<Option<u64>>,
    /// Its texts, [packed](super::texts::Texts::pack).
    pub texts: Option<String>,
    /// The number of times that its file had been begun before.
    beginning: u32,
}

/// A run of a compiler over shaders.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CompilerRun {
    /// The name of the file that it was read from.
    pub name: String,
    /// The names of the statistics, in order of first occurrence.
    pub statistics: Vec<String>,
    /// The compiled shaders, in order of first occurrence.
    pub shaders: Vec<Shader>,
    /// The results of files: `ok`, `nolink`, ...
    pub results: BTreeMap<String, String>,
    /// The total compile time, if the run has it.
    pub microseconds: Option<u64>,
}

/// The run has more than [`MAX_STATISTICS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyStatistics;

/// Builds a [`CompilerRun`] from shaders in the order of the file.
#[derive(Default)]
pub struct RunBuilder {
    run: CompilerRun,
    /// The next number by name and stage, with the beginning of the file for which it counts.
    numbers: HashMap<(String, String), (u32, u32)>,
    /// The number of times that each file was begun again.
    beginnings: HashMap<String, u32>,
    /// The indices of shaders.
    places: HashMap<Key, usize>,
}

impl RunBuilder {
    /// Creates a run without shaders.
    pub fn new(name: &str) -> RunBuilder {
        RunBuilder { run: CompilerRun { name: name.to_owned(), ..CompilerRun::default() }, ..RunBuilder::default() }
    }

    /// Begins a file. If the file exists, its new shaders replace the old ones.
    pub fn begin_file(&mut self, name: &str) {
        self.beginnings.entry(name.to_owned()).and_modify(|count| *count += 1).or_insert(0);
    }

    /// Records the result of a file.
    pub fn result(&mut self, name: &str, result: &str) {
        self.run.results.insert(name.to_owned(), result.to_owned());
    }

    /// Adds to the compile time.
    pub fn add_time(&mut self, microseconds: u64) {
        let sum = self.run.microseconds.unwrap_or(0).saturating_add(microseconds);
        self.run.microseconds = Some(sum);
    }

    /// Adds a shader. If a statistic occurs twice, the last value counts.
    ///
    /// # Errors
    /// The run would have too many statistics.
    pub fn shader<'a>(
        &mut self,
        name: &str,
        stage: &str,
        statistics: impl IntoIterator<Item = (&'a str, u64)>,
        texts: Option<String>,
    ) -> Result<(), TooManyStatistics> {
        let mut values = vec![None; self.run.statistics.len()];
        for (statistic, value) in statistics {
            let known = self.run.statistics.iter().position(|known| known == statistic);
            let place = known.unwrap_or(self.run.statistics.len());
            if known.is_none() {
                if place == MAX_STATISTICS {
                    return Err(TooManyStatistics);
                }
                self.run.statistics.push(statistic.to_owned());
                values.push(None);
            }
            values[place] = Some(value);
        }
        let beginning = self.beginnings.get(name).copied().unwrap_or(0);
        let next = self.numbers.entry((name.to_owned(), stage.to_owned())).or_insert((0, beginning));
        if next.1 != beginning {
            *next = (0, beginning);
        }
        let key = Key { name: name.to_owned(), stage: stage.to_owned(), number: next.0 };
        next.0 = next.0.saturating_add(1);
        let shader = Shader { key: key.clone(), values, texts, beginning };
        let place = *self.places.entry(key).or_insert(self.run.shaders.len());
        match self.run.shaders.get_mut(place) {
            Some(before) => *before = shader,
            None => self.run.shaders.push(shader),
        }
        Ok(())
    }

    /// Returns the run.
    pub fn finish(self) -> CompilerRun {
        let RunBuilder { mut run, beginnings, .. } = self;
        // Removes shaders that occurred only in an earlier beginning of their file.
        run.shaders.retain(|shader| beginnings.get(&shader.key.name).is_none_or(|&last| last == shader.beginning));
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(builder: RunBuilder) -> Vec<(String, Vec<Option<u64>>)> {
        builder.finish().shaders.into_iter().map(|shader| (shader.key.to_string(), shader.values)).collect()
    }

    #[test]
    fn shaders_of_one_name_are_numbered() {
        let mut builder = RunBuilder::new("run");
        for (name, stage, value) in [("a", "FS", 1), ("a", "FS", 2), ("a", "VS", 3), ("b\u{1b}[", "FS", 4)] {
            builder.shader(name, stage, [("inst", value)], None).unwrap();
        }
        let expected = [("a FS", 1), ("a FS #2", 2), ("a VS", 3), ("b\\u{1b}[ FS", 4)];
        assert_eq!(keys(builder), expected.map(|(key, value)| (key.to_owned(), vec![Some(value)])));
    }

    #[test]
    fn the_last_beginning_of_a_file_counts() {
        let mut builder = RunBuilder::new("run");
        builder.begin_file("a");
        builder.shader("a", "FS", [("inst", 1)], None).unwrap();
        builder.shader("a", "FS", [("inst", 2)], None).unwrap();
        builder.begin_file("a");
        builder.shader("a", "FS", [("inst", 3)], None).unwrap();
        assert_eq!(keys(builder), [("a FS".to_owned(), vec![Some(3)])]);
    }

    #[test]
    fn statistics_may_come_later_but_not_without_end() {
        let mut builder = RunBuilder::new("run");
        builder.shader("a", "FS", [("inst", 1), ("inst", 2)], None).unwrap();
        builder.shader("b", "FS", [("temps", 1)], None).unwrap();
        let names: Vec<String> = (0..MAX_STATISTICS).map(|i| format!("s{i}")).collect();
        let many = names.iter().map(|name| (name.as_str(), 1));
        assert_eq!(builder.shader("c", "FS", many, None), Err(TooManyStatistics));
        assert_eq!(keys(builder)[..2], [("a FS".into(), vec![Some(2)]), ("b FS".into(), vec![None, Some(1)])]);
    }
}
