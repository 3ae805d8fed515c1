//! Tests that the modules of the program form layers: no two top-level modules of `src` depend on each other, directly
//! or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Returns the top-level modules that each top-level module uses. A folder counts as one module.
fn dependencies(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in crate::common::files_below(source, "rs") {
        let relative = path.strip_prefix(source).expect("a path below the folder");
        let module = relative.components().next().expect("a name").as_os_str().to_string_lossy();
        let module = module.trim_end_matches(".rs").to_owned();
        let found = uses.entry(module.clone()).or_default();
        found.extend(
            crate::module_paths::named(&crate::module_paths::code(&path)).into_iter().filter(|name| *name != module),
        );
    }
    uses
}

#[test]
fn no_circular_dependencies() {
    let mut uses = dependencies(&crate::common::repository().join("drivers/tgsic/src"));
    assert!(uses.len() > 10 && uses["commands"].contains("plan"), "{uses:?}");
    // Removes modules that use nothing, until only cycles and their users are left.
    while let Some(leaf) = uses.iter().find(|(_, used)| used.is_empty()).map(|(name, _)| name.clone()) {
        uses.remove(&leaf);
        for used in uses.values_mut() {
            used.remove(&leaf);
        }
    }
    assert!(uses.is_empty(), "these modules use each other in a circle: {uses:#?}");
}
