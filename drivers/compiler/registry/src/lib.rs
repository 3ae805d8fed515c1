//! The registry: one row for each front end and one for each driver. The command line, the C library, fixtures, fuzz
//! targets, `verify` and `smith` find front ends and drivers here and nowhere else.
//!
//! To add a front end, add its package to this package's `Cargo.toml` and a row to the table of front ends; to add a
//! driver, likewise with the table of drivers. Programs outside of this repository call [`extend`] instead.

use std::sync::OnceLock;

use tgsi_compiler::front_end::{FrontEnd, IR_TEXT, TGSI_TEXT, TGSI_TOKENS};
use tgsi_compiler::{Code, Compiler, Driver, RunError, RunTargetFn, Runner, RunnerFn, Target};

/// The front ends. The first one reads inputs that no other one recognises.
static FRONT_ENDS: &[&dyn FrontEnd] = &[
    &TGSI_TEXT,
    // It has a magic number; any other binary input may be tokens.
    #[cfg(feature = "spirv-in")]
    &tgsi_from_spirv::SPIRV,
    &TGSI_TOKENS,
    &IR_TEXT,
    #[cfg(feature = "glsl")]
    &tgsi_glsl::GLSL,
];

/// Converts binary code to text; `None` for code of another driver.
pub type Disassembler = fn(&Code) -> Option<Result<String, String>>;

/// A driver, and what programs that run or print its code need.
#[derive(Clone, Copy, Debug)]
pub struct DriverRow {
    /// The driver.
    pub driver: &'static dyn Driver,
    /// Runs its code. Without one, checks of results stop before the code.
    pub runner: Option<RunnerFn>,
    /// Returns targets whose code `runner` runs, if it does not run the code of all targets.
    pub run_target: Option<RunTargetFn>,
    /// Converts its binary code to text.
    pub disassembler: Option<Disassembler>,
}

impl DriverRow {
    /// Returns the row of a driver without runner and disassembler.
    pub const fn new(driver: &'static dyn Driver) -> DriverRow {
        DriverRow { driver, runner: None, run_target: None, disassembler: None }
    }
}

/// The drivers. The first one is the default.
static DRIVERS: &[DriverRow] = &[
    DriverRow { runner: Some(tgsi_driver_tgsi::runner), ..DriverRow::new(&tgsi_driver_tgsi::DRIVER) },
    #[cfg(feature = "cpu")]
    DriverRow {
        runner: Some(tgsi_driver_cpu::runner),
        run_target: Some(tgsi_driver_cpu::run_target),
        ..DriverRow::new(&tgsi_driver_cpu::DRIVER)
    },
    #[cfg(feature = "intel")]
    DriverRow {
        runner: Some(tgsi_driver_intel::runner),
        run_target: Some(tgsi_driver_intel::run_target),
        ..DriverRow::new(&tgsi_driver_intel::DRIVER)
    },
    #[cfg(feature = "midgard")]
    DriverRow {
        runner: Some(tgsi_driver_midgard::runner),
        run_target: Some(tgsi_driver_midgard::run_target),
        ..DriverRow::new(&tgsi_driver_midgard::DRIVER)
    },
    #[cfg(feature = "nv40")]
    DriverRow {
        runner: Some(tgsi_driver_nv40::runner),
        run_target: Some(tgsi_driver_nv40::run_target),
        ..DriverRow::new(&tgsi_driver_nv40::DRIVER)
    },
    #[cfg(feature = "spirv")]
    DriverRow {
        #[cfg(feature = "vulkan")]
        runner: Some(tgsi_spirv_vulkan::runner),
        // Its code can be run, but not by this build.
        #[cfg(not(feature = "vulkan"))]
        runner: Some(|_, _| None),
        #[cfg(feature = "vulkan")]
        run_target: Some(tgsi_spirv_vulkan::run_target),
        disassembler: Some(tgsi_driver_spirv::disassemble),
        ..DriverRow::new(&tgsi_driver_spirv::DRIVER)
    },
    #[cfg(feature = "text")]
    DriverRow::new(&tgsi_driver_spirv_text::WGSL),
    #[cfg(feature = "spirv-cross")]
    DriverRow::new(&tgsi_driver_spirv_text::GLSL),
    #[cfg(feature = "spirv-cross")]
    DriverRow::new(&tgsi_driver_spirv_text::ESSL),
    #[cfg(feature = "spirv-cross")]
    DriverRow::new(&tgsi_driver_spirv_text::MSL),
    #[cfg(feature = "spirv-cross")]
    DriverRow::new(&tgsi_driver_spirv_text::HLSL),
];

/// The rows that a program has added.
static EXTENSION: OnceLock<(Vec<&dyn FrontEnd>, Vec<DriverRow>)> = OnceLock::new();

/// Adds front ends and drivers to those of this package. To be called once, at the start of a program, before anything
/// is looked up; a later call has no effect.
pub fn extend(front_ends: &[&'static dyn FrontEnd], drivers: &[DriverRow]) {
    let _ = EXTENSION.set(([FRONT_ENDS, front_ends].concat(), [DRIVERS, drivers].concat()));
}

/// Returns all front ends. The first one reads inputs that no other one recognises.
pub fn front_ends() -> &'static [&'static dyn FrontEnd] {
    EXTENSION.get().map_or(FRONT_ENDS, |(front_ends, _)| front_ends)
}

/// Returns the rows of all drivers. The first one is the default.
pub fn driver_rows() -> &'static [DriverRow] {
    EXTENSION.get().map_or(DRIVERS, |(_, drivers)| drivers)
}

/// Returns all drivers. The first one is the default.
pub fn drivers() -> impl Iterator<Item = &'static dyn Driver> + Clone {
    driver_rows().iter().map(|row| row.driver)
}

/// Returns the default driver.
pub fn default_driver() -> &'static dyn Driver {
    DRIVERS[0].driver
}

/// Looks up the row of a driver by name.
pub fn find_row(name: &str) -> Option<&'static DriverRow> {
    driver_rows().iter().find(|row| row.driver.name() == name)
}

/// Looks up a driver by name.
pub fn find(name: &str) -> Option<&'static dyn Driver> {
    find_row(name).map(|row| row.driver)
}

/// Looks up a front end by name.
pub fn find_front_end(name: &str) -> Option<&'static dyn FrontEnd> {
    front_ends().iter().copied().find(|front_end| front_end.name() == name)
}

/// Returns a compiler like this one whose code [`runner`] runs.
pub fn compiler_for_runs(compiler: Compiler) -> Compiler {
    let mut changes = driver_rows().iter().filter_map(|row| row.run_target);
    match changes.find_map(|change| change(compiler.target())) {
        Some(target) => compiler.with_target(target.into()),
        None => compiler,
    }
}

/// Creates the runner of code of a target; `None` if nothing runs it.
///
/// # Errors
/// The code cannot be run.
pub fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, RunError>> {
    driver_rows().iter().filter_map(|row| row.runner).find_map(|runner| runner(target, code))
}

/// Converts binary code to text; `None` if no driver has a text for it.
///
/// # Errors
/// The code is damaged.
pub fn disassembly(code: &Code) -> Option<Result<String, String>> {
    driver_rows().iter().filter_map(|row| row.disassembler).find_map(|disassemble| disassemble(code))
}

/// Returns whether there is a runner for code of a driver.
pub fn can_run(driver: &dyn Driver) -> bool {
    find_row(driver.name()).is_some_and(|row| row.runner.is_some())
}

/// Returns the reason why code of a driver cannot be run on this machine, if something to run it on is missing.
pub fn cannot_run(driver: &dyn Driver) -> Option<String> {
    #[cfg(feature = "vulkan")]
    if driver.name() == tgsi_driver_spirv::DRIVER.name() {
        return tgsi_spirv_vulkan::unavailable();
    }
    #[cfg(all(feature = "spirv", not(feature = "vulkan")))]
    if driver.name() == tgsi_driver_spirv::DRIVER.name() {
        return Some("code of spirv runs on Vulkan, which this build lacks (feature `vulkan`)".to_owned());
    }
    (!can_run(driver)).then(|| format!("nothing runs code of {}", driver.name()))
}

/// Runs code for devices in child processes of this command, which call [`serve_runs`]. Call this once, at the start.
/// Code that hangs a device then fails alone, and later runs still work.
#[cfg_attr(not(feature = "vulkan"), allow(unused_variables, reason = "there are no devices"))]
pub fn run_in_processes(command: fn() -> std::io::Result<std::process::Command>) {
    #[cfg(feature = "vulkan")]
    tgsi_spirv_vulkan::run_in_processes(command);
}

/// Runs code for the parent process until that closes standard input.
///
/// # Errors
/// Standard output cannot be written.
pub fn serve_runs() -> std::io::Result<()> {
    #[cfg(feature = "vulkan")]
    tgsi_spirv_vulkan::serve()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_ends_have_distinct_names() {
        for (number, front_end) in front_ends().iter().enumerate() {
            let is_same = |other: &&dyn FrontEnd| other.name() == front_end.name();
            assert_eq!(front_ends().iter().position(is_same), Some(number));
            assert!(!front_end.about().is_empty() && !front_end.file_extensions().is_empty());
        }
    }

    #[test]
    fn names_are_distinct_and_options_are_known() {
        for (number, driver) in drivers().enumerate() {
            let is_same = |other: &dyn Driver| other.name() == driver.name();
            assert_eq!(drivers().position(is_same), Some(number));
            for option in driver.options() {
                assert!(driver.target(&[option.name]).is_ok(), "{} {}", driver.name(), option.name);
                assert!(!option.about.is_empty(), "{} {}", driver.name(), option.name);
            }
            for variant in driver.variants() {
                let options: Vec<&str> = variant.split(',').collect();
                assert!(driver.target(&options).is_ok(), "{} {variant}", driver.name());
            }
            let error = driver.target(&["no_such_option"]).expect_err("an error");
            assert!(error.to_string().contains("no_such_option"));
        }
    }
}
