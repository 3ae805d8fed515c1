//! The registry of drivers: one row each. The command line, fixtures, `verify`, `smith` and benchmarks find drivers
//! here and nowhere else. To add one, add its package to this package's `Cargo.toml` and a row to [`DRIVERS`].

use tgsi_compiler::{Code, Driver, Runner, RunnerFn, Target};

/// All drivers. The first is the default.
pub static DRIVERS: &[&dyn Driver] = &[
    &tgsi_driver_tgsi::DRIVER,
    #[cfg(feature = "cpu")]
    &tgsi_driver_cpu::DRIVER,
    #[cfg(feature = "spirv")]
    &tgsi_driver_spirv::DRIVER,
    #[cfg(feature = "text")]
    &tgsi_driver_spirv_text::WGSL,
    #[cfg(feature = "spirv-cross")]
    &tgsi_driver_spirv_text::GLSL,
    #[cfg(feature = "spirv-cross")]
    &tgsi_driver_spirv_text::ESSL,
    #[cfg(feature = "spirv-cross")]
    &tgsi_driver_spirv_text::MSL,
    #[cfg(feature = "spirv-cross")]
    &tgsi_driver_spirv_text::HLSL,
];

/// What runs the code of drivers: a function of each that has something to run it with.
static RUNNERS: &[RunnerFn] = &[
    tgsi_driver_tgsi::runner,
    #[cfg(feature = "cpu")]
    tgsi_driver_cpu::runner,
    #[cfg(feature = "vulkan")]
    tgsi_spirv_vulkan::runner,
];

/// What runs code of a target; `None` if there is nothing.
///
/// # Errors
/// The code cannot be run.
pub fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, String>> {
    RUNNERS.iter().find_map(|runner| runner(target, code))
}

/// Makes the text of binary code; `None` for code of another driver.
type Disassembler = fn(&Code) -> Option<Result<String, String>>;

/// Makes texts of binary code: a function of each driver whose code is binary. Each knows its own code.
static DISASSEMBLERS: &[Disassembler] = &[
    #[cfg(feature = "spirv")]
    tgsi_driver_spirv::disassemble,
];

/// The text of binary code; `None` if no driver has a text for it.
///
/// # Errors
/// The code is damaged.
pub fn disassembly(code: &Code) -> Option<Result<String, String>> {
    DISASSEMBLERS.iter().find_map(|disassemble| disassemble(code))
}

/// Why no code of a driver can be run on this machine, if that is for want of something to run it on.
pub fn cannot_run(driver: &dyn Driver) -> Option<String> {
    #[cfg(feature = "vulkan")]
    if driver.name() == tgsi_driver_spirv::DRIVER.name() {
        return tgsi_spirv_vulkan::unavailable();
    }
    #[cfg(all(feature = "spirv", not(feature = "vulkan")))]
    if driver.name() == tgsi_driver_spirv::DRIVER.name() {
        return Some("code of spirv runs on Vulkan, which this build leaves out (feature `vulkan`)".to_owned());
    }
    (!driver.can_run()).then(|| format!("nothing runs code of {}", driver.name()))
}

/// Lets code that devices run be run in processes of this command, which calls [`serve_runs`]. To be called once, at the
/// start. Code that hangs a device is then an error of its own, and no later run is lost.
#[cfg_attr(not(feature = "vulkan"), allow(unused_variables, reason = "there are no devices"))]
pub fn run_in_processes(command: fn() -> std::io::Result<std::process::Command>) {
    #[cfg(feature = "vulkan")]
    tgsi_spirv_vulkan::run_in_processes(command);
}

/// Runs code for the process that started this one, until that closes standard input.
///
/// # Errors
/// Nothing can be written to standard output.
pub fn serve_runs() -> std::io::Result<()> {
    #[cfg(feature = "vulkan")]
    tgsi_spirv_vulkan::serve()?;
    Ok(())
}

/// Looks up a driver by name.
pub fn find(name: &str) -> Option<&'static dyn Driver> {
    DRIVERS.iter().copied().find(|driver| driver.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_options_are_known() {
        for (number, driver) in DRIVERS.iter().enumerate() {
            let is_same = |other: &&dyn Driver| other.name() == driver.name();
            assert_eq!(DRIVERS.iter().position(is_same), Some(number));
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

/// The examples of the project's README, which must compile and hold.
#[cfg(all(doctest, feature = "cpu"))]
#[doc = include_str!("../../../../README.md")]
struct Readme;
