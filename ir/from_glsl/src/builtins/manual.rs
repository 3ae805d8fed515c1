//! Shared parts of the tables in the manual.

use crate::version::{NEVER, Since};

/// The versions and extensions of a row: desktop, ES, extensions.
pub(crate) fn availability(since: &Since, (lacking_core, lacking_es): (u16, u16)) -> [String; 3] {
    let versions = |first: u16, end: u16| match (first, end) {
        (NEVER, _) => "-".to_owned(),
        (first, NEVER) => first.to_string(),
        (first, end) => format!("{first}, not core from {end}"),
    };
    let names: Vec<String> =
        since.extensions.iter().map(|extension| format!("`{}`", short(extension.name()))).collect();
    let extensions = if names.is_empty() { "-".to_owned() } else { names.join(" ") };
    [
        versions(since.desktop, lacking_core),
        versions(since.es, lacking_es).replace("not core from", "not from"),
        extensions,
    ]
}

/// The name of an extension without `GL_`.
pub(crate) fn short(name: &str) -> &str {
    name.strip_prefix("GL_").unwrap_or(name)
}
