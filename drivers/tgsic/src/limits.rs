//! The limits that the command line sets, for the whole process.

use std::sync::OnceLock;

use tgsi::limits::Limits;

/// The limits of this process, which apply to all inputs.
static LIMITS: OnceLock<Limits> = OnceLock::new();

/// A limit set on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    name: &'static str,
    value: u64,
}

/// Parses `NAME=VALUE`.
///
/// # Errors
/// The limit is unknown, or the value is not a number.
pub fn setting(argument: &str) -> Result<Setting, String> {
    let (name, value) = argument.split_once('=').ok_or("expected a name, `=` and a number")?;
    let value = value.parse().map_err(|_| format!("`{value}` is not a 64-bit number"))?;
    let mut limits = Limits::default();
    limits.set(name, value).map_err(|error| match error.near {
        Some(_) => error.to_string(),
        None => format!("{error}; `tgsic limits` lists them"),
    })?;
    let info = Limits::TABLE.iter().find(|info| info.name == name);
    info.map(|info| Setting { name: info.name, value }).ok_or_else(|| format!("no limit `{name}`"))
}

/// Returns the default limits changed by these settings; the last setting of a limit counts.
pub fn with(settings: &[Setting]) -> Limits {
    let mut limits = Limits::default();
    for setting in settings {
        let known = limits.set(setting.name, setting.value);
        debug_assert!(known.is_ok(), "settings name limits");
    }
    limits
}

/// Sets the limits. Call this once, at the start.
pub fn set(settings: &[Setting]) {
    // Only a second call from this program could fail.
    let _ = LIMITS.set(with(settings));
}

/// Returns the limits of this process.
pub fn current() -> Limits {
    LIMITS.get().copied().unwrap_or_default()
}

/// Formats a table of all limits: name, value, reason.
pub fn table() -> String {
    let limits = current();
    let row = |info: &tgsi::limits::LimitInfo| {
        let value = limits.get(info.name).unwrap_or(info.default);
        format!("{:13} {value:>9}  {}\n", info.name, info.reason)
    };
    Limits::TABLE.iter().map(row).collect()
}
