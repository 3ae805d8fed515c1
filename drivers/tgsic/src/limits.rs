//! The limits that the command line sets, for the whole process.

use std::sync::OnceLock;

use tgsi::limits::Limits;

/// The limits of this run of the program: they hold for whatever is read.
static LIMITS: OnceLock<Limits> = OnceLock::new();

/// A limit that is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    name: &'static str,
    value: u64,
}

/// Reads `NAME=VALUE`.
///
/// # Errors
/// There is no such limit, or the value is no number.
pub fn setting(argument: &str) -> Result<Setting, String> {
    let (name, value) = argument.split_once('=').ok_or("it takes a name, `=` and a number")?;
    let value = value.parse().map_err(|_| format!("`{value}` is no number of 64 bits"))?;
    let mut limits = Limits::default();
    limits.set(name, value).map_err(|near| match near {
        Some(near) => format!("no limit `{name}`; did you mean `{near}`?"),
        None => format!("no limit `{name}`; `tgsic limits` lists them"),
    })?;
    let info = Limits::TABLE.iter().find(|info| info.name == name);
    info.map(|info| Setting { name: info.name, value }).ok_or_else(|| format!("no limit `{name}`"))
}

/// The default limits with those that are set; the last setting of one counts.
pub fn with(settings: &[Setting]) -> Limits {
    let mut limits = Limits::default();
    for setting in settings {
        let known = limits.set(setting.name, setting.value);
        debug_assert!(known.is_ok(), "settings name limits");
    }
    limits
}

/// Sets the limits; to be called once, at the start.
pub fn set(settings: &[Setting]) {
    // A second call could only come from this program itself.
    let _ = LIMITS.set(with(settings));
}

/// The limits of this run of the program.
pub fn current() -> Limits {
    LIMITS.get().copied().unwrap_or_default()
}

/// A table of all limits: name, value, reason.
pub fn table() -> String {
    let limits = current();
    let row = |info: &tgsi::limits::LimitInfo| {
        let value = limits.get(info.name).unwrap_or(info.default);
        format!("{:13} {value:>9}  {}\n", info.name, info.reason)
    };
    Limits::TABLE.iter().map(row).collect()
}
