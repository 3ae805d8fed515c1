//! Processes many shaders on all cores, with a progress bar on a terminal and results in input order.

use std::path::{Path, PathBuf};

use indicatif::{ParallelProgressIterator, ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

use crate::front_ends;
use crate::input::{InputPath, STDIN, Source};
use crate::status::Failure;

/// Applies `work` to every item on all cores and returns the results in the order of the items. On a terminal, it shows
/// a progress bar for more than a handful of items.
pub fn for_each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if let [item] = items {
        return vec![work(item)];
    }
    let bar = progress_bar(items.len());
    let results = items.par_iter().progress_with(bar.clone()).map(work).collect();
    bar.finish_and_clear();
    results
}

fn progress_bar(length: usize) -> ProgressBar {
    // Draws on standard error, and only on a terminal.
    let target = if length < 16 { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(length as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} shaders, {eta} left") {
        bar.set_style(style);
    }
    bar
}

/// Returns the inputs named on the command line; without any, standard input. A file with several shaders is several
/// inputs.
///
/// # Errors
/// Standard input occurs more than once: the second reader would find nothing.
pub fn inputs(files: &[PathBuf]) -> Result<Vec<InputPath>, Failure> {
    if files.is_empty() {
        return Ok(vec![Path::new(STDIN).into()]);
    }
    if files.iter().filter(|file| *file == Path::new(STDIN)).count() > 1 {
        return Err(Failure::Usage("standard input can be read only once".into()));
    }
    Ok(files.iter().flat_map(|file| shaders(file)).collect())
}

/// The shaders of a file: one, or those of a file with several. A file that cannot be read is reported where it is used.
fn shaders(file: &Path) -> Vec<InputPath> {
    let stages = match front_ends::of_extension(file) {
        Some(front_end) if !front_ends::names_stage() => {
            Source::read_file(file).map(|source| front_end.stages(&source.bytes)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    if stages.len() < 2 {
        return vec![file.into()];
    }
    stages.into_iter().map(|stage| InputPath { file: file.to_owned(), stage: Some(stage) }).collect()
}

/// Replaces each folder by the files below it that have a file extension of a front end, sorted by path. If the command
/// line names the language, only its extensions count. Links to folders are not followed: they could form a cycle.
///
/// # Errors
/// A folder cannot be read, or has no shaders.
pub fn shaders_in_folders(files: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut inputs = Vec::with_capacity(files.len());
    for file in files {
        if *file == Path::new(STDIN) || !file.is_dir() {
            inputs.push(file.clone());
            continue;
        }
        let mut found = Vec::new();
        let mut pending = vec![file.clone()];
        while let Some(folder) = pending.pop() {
            let failure = |error| Failure::Read { path: folder.clone(), error };
            for entry in std::fs::read_dir(&folder).map_err(failure)? {
                let entry = entry.map_err(failure)?;
                let path = entry.path();
                if entry.file_type().map_err(failure)?.is_dir() {
                    pending.push(path);
                } else if front_ends::has_extension_of_any(&path) && path.is_file() {
                    found.push(path);
                }
            }
        }
        if found.is_empty() {
            let message = format!("no file below {} has a file extension of a language of shaders", file.display());
            return Err(Failure::Usage(message));
        }
        found.sort();
        inputs.append(&mut found);
    }
    Ok(inputs)
}
