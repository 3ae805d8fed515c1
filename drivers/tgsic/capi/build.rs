//! The build identifier: a hash of the source files of the repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders of the repository with the source of the library.
const SOURCES: [&str; 4] = ["tgsi", "ir", "legacy", "drivers"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut files = BTreeSet::from([root.join("Cargo.lock")]);
    for folder in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        collect(&root.join(folder), &mut files);
    }
    // FNV-1a, 64 bits: <http://www.isthe.com/chongo/tech/comp/fnv/>.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for file in files {
        for byte in std::fs::read(&file).unwrap_or_default() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=TGSIC_BUILD_ID={hash:016x}");
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "rules") {
            files.insert(path);
        }
    }
}
