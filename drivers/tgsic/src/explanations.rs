//! The pages of all error codes: those of [`tgsi::explain`], and those of the drivers and front ends of the registry.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use tgsi::explain::{self, Page};

/// Returns all pages, ordered by code.
pub fn pages() -> &'static [Page] {
    static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
        let of_drivers = tgsi_registry::drivers().map(|driver| driver.explanations());
        let of_front_ends = tgsi_registry::front_ends().iter().map(|front_end| front_end.explanations());
        // The drivers of a crate have the same pages.
        let files: BTreeSet<&str> = of_drivers.chain(of_front_ends).collect();
        let mut pages = explain::pages().to_vec();
        pages.extend(files.into_iter().flat_map(explain::parse));
        pages.sort_by_key(|page| page.id);
        pages
    });
    &PAGES
}
