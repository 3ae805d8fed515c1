//! Arguments that choose a driver, its options and the level of optimisation.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::pass_names;

/// The driver and its options.
#[derive(Clone, Debug, Default, Args)]
pub struct DriverOptions {
    /// The driver.
    #[arg(long, value_name = "DRIVER", value_parser = PossibleValuesParser::new(driver_names()))]
    pub driver: Option<String>,
    /// Target: a consumer of the code that is known to the driver. It sets all options that fit it.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(profile_names()))]
    pub target: Option<String>,
    /// Set an option of the driver, such as a feature that the target lacks; may be repeated. Added to the options of
    /// `--target`. A wrong name lists the options of the driver. Some take a value: `symbol=NAME`.
    #[arg(long = "driver-option", value_name = "NAME[=VALUE]", hide_possible_values = true,
          value_parser = DriverOptionParser)]
    pub names: Vec<String>,
    /// Stream output (driver spirv): the components of output registers that are written to buffers, separated by
    /// commas, such as `OUT[1].xyz->0@16/32`: to buffer 0, 16 bytes from the start of each vertex, with a stride of 32
    /// bytes. A suffix `:1` selects vertex stream 1.
    #[arg(long, value_name = "ENTRIES")]
    pub stream_output: Option<String>,
    /// Dialect of TGSI. With `virgl`, text is read as virgl hosts read it, and results keep the declarations and
    /// properties of the source. The proxy accepts only `virgl`.
    ///
    /// [default: mesa; for the proxy virgl]
    #[arg(long, value_enum, value_name = "DIALECT")]
    pub dialect: Option<DialectName>,
    /// Allow different rounding of sums and products where that saves instructions, in every stage. By default, vertex,
    /// tessellation and geometry shaders keep the rounding of the source, so that every program computes the same
    /// position. With `--dialect virgl` all shaders do, so that images stay the same.
    #[arg(long)]
    pub fast: bool,
}

fn driver_names() -> Vec<PossibleValue> {
    tgsi_registry::drivers().map(|driver| PossibleValue::new(driver.name()).help(driver.about())).collect()
}

fn profile_names() -> Vec<PossibleValue> {
    let profiles = tgsi_registry::drivers().flat_map(|driver| driver.profiles());
    profiles.map(|profile| PossibleValue::new(profile.name).help(profile.about)).collect()
}

fn option_names() -> Vec<PossibleValue> {
    let options = tgsi_registry::drivers().flat_map(|driver| driver.options());
    let mut seen = BTreeSet::new();
    let distinct = options.filter(|option| seen.insert(option.name));
    distinct.map(|option| PossibleValue::new(option.name).help(option.about)).collect()
}

/// Names the options of all drivers for completions. The driver checks the option, because the names depend on it.
#[derive(Clone, Copy, Debug)]
struct DriverOptionParser;

impl TypedValueParser for DriverOptionParser {
    type Value = String;

    fn parse_ref(&self, _: &clap::Command, _: Option<&clap::Arg>, value: &OsStr) -> Result<String, clap::Error> {
        Ok(value.to_string_lossy().into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(option_names().into_iter()))
    }
}

/// Parses names of targets, separated by commas.
#[derive(Clone, Copy, Debug)]
pub(super) struct TargetListParser;

impl TypedValueParser for TargetListParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let list = value.to_string_lossy();
        for name in list.split(',') {
            PossibleValuesParser::new(profile_names()).parse_ref(command, argument, OsStr::new(name))?;
        }
        Ok(list.into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(profile_names().into_iter()))
    }
}

/// Dialects of TGSI.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DialectName {
    /// The TGSI of Mesa's own drivers
    Mesa,
    /// The TGSI of virgl hosts
    Virgl,
}

/// Options of the optimiser.
#[derive(Clone, Debug, Args)]
pub struct PassArguments {
    /// Optimisation level.
    #[arg(short = 'O', value_enum, default_value_t = OptimizationLevel::Full, value_name = "LEVEL")]
    pub level: OptimizationLevel,
    /// Skip a pass; may be repeated. A wrong name lists all passes.
    #[arg(long, value_name = "PASS", hide_possible_values = true, value_parser = PossibleValuesParser::new(pass_names()))]
    pub skip: Vec<String>,
    #[command(flatten)]
    pub driver_options: DriverOptions,
}

/// The optimisation level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum OptimizationLevel {
    /// Only lower to forms that the target supports
    #[value(name = "0")]
    LowerOnly,
    /// Nothing that can increase code size (no unrolling)
    #[value(name = "1")]
    NoSizeGrowth,
    /// Everything
    #[value(name = "2")]
    Full,
}
