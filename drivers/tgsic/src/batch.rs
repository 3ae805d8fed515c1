//! Many shaders at once: all cores, a progress bar on a terminal, results in the order of the inputs.

use std::path::PathBuf;

use indicatif::{ParallelProgressIterator, ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

/// Applies `work` to every item on all cores; results come in the order of the items. With more than a handful of items a terminal shows a bar.
pub fn for_each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if items.len() == 1 {
        return vec![work(&items[0])];
    }
    let bar = progress_bar(items.len());
    let results = items.par_iter().progress_with(bar.clone()).map(work).collect();
    bar.finish_and_clear();
    results
}

fn progress_bar(length: usize) -> ProgressBar {
    // Draws on standard error, and only if that is a terminal.
    let target = if length < 16 { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(length as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} shaders, {eta} left") {
        bar.set_style(style);
    }
    bar
}

/// The inputs named on the command line; standard input if there are none.
pub fn inputs(files: &[PathBuf]) -> Vec<PathBuf> {
    if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() }
}
