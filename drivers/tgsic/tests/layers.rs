//! The modules of the program form layers: no two top-level modules of `src` depend on each other, directly or through
//! others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

mod common;

/// The top-level modules that each top-level module uses. A folder counts as one module.
fn dependencies(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in common::files_below(source, "rs") {
        let relative = path.strip_prefix(source).expect("a path below the folder");
        let module = relative.components().next().expect("a name").as_os_str().to_string_lossy();
        let module = module.trim_end_matches(".rs").to_owned();
        let text = std::fs::read_to_string(&path).expect("a source file");
        // Unit tests may use everything.
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let found = uses.entry(module.clone()).or_default();
        for rest in code.split("crate::").skip(1) {
            found.extend(first_segments(rest).into_iter().filter(|name| *name != module));
        }
    }
    uses
}

/// The first segments of a path, or of each path of a group in braces.
fn first_segments(path: &str) -> Vec<String> {
    let segment =
        |path: &str| -> String { path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let Some(group) = path.strip_prefix('{') else { return vec![segment(path)] };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                found.push(segment(&group[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn groups_are_split() {
    assert_eq!(first_segments("input::{A, B};"), ["input"]);
    assert_eq!(first_segments("{batch, input::{A, B}, output};\nuse x, y"), ["batch", "input", "output"]);
}

#[test]
fn no_circular_dependencies() {
    let mut uses = dependencies(&common::repository().join("drivers/tgsic/src"));
    assert!(uses.len() > 10 && uses["commands"].contains("verify"), "{uses:?}");
    // Modules that use nothing are removed until only circles, and what uses them, are left.
    while let Some(leaf) = uses.iter().find(|(_, used)| used.is_empty()).map(|(name, _)| name.clone()) {
        uses.remove(&leaf);
        for used in uses.values_mut() {
            used.remove(&leaf);
        }
    }
    assert!(uses.is_empty(), "these modules use each other in a circle: {uses:#?}");
}
