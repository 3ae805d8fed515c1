//! Files of the tests that several examples read.

use std::path::{Path, PathBuf};

/// Finds the files below a folder that have one of the extensions, in the order of their paths. Folders that cannot be
/// read have none.
pub fn find_files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| extensions.iter().any(|&wanted| found == wanted)) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
