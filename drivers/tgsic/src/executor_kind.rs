//! Parses the executor of `--via`.

use tgsi_compiler::Stage;
use tgsi_verify::ExecutorKind;

/// Looks up an executor by name.
///
/// # Errors
/// There is no such executor.
pub fn executor_kind(name: &str) -> Result<ExecutorKind, String> {
    let drivers = tgsi_registry::drivers().map(|driver| ExecutorKind::Driver(driver.name()));
    let all: Vec<ExecutorKind> =
        [ExecutorKind::Tgsi].into_iter().chain(Stage::ALL.map(ExecutorKind::Stage)).chain(drivers).collect();
    all.iter().copied().find(|via| via.to_string() == name).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(ExecutorKind::to_string).collect();
        format!("no such executor; there are {}", names.join(", "))
    })
}
