//! Processes many shaders on all cores, with a progress bar on a terminal and results in input order.

use std::path::{Path, PathBuf};

use indicatif::{ParallelProgressIterator, ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

use crate::input::STDIN;
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

/// Returns the inputs named on the command line; without any, standard input.
///
/// # Errors
/// Standard input occurs more than once: the second reader would find nothing.
pub fn inputs(files: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    if files.is_empty() {
        return Ok(vec![PathBuf::from(STDIN)]);
    }
    if files.iter().filter(|file| *file == Path::new(STDIN)).count() > 1 {
        return Err(Failure::Usage("standard input can be read only once".into()));
    }
    Ok(files.to_vec())
}
