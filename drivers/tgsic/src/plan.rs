//! Creates the compiler from the arguments.

use std::borrow::Cow;
use std::sync::Arc;

use tgsi_compiler::{Compiler, Driver, UnknownOption};
use tgsi_ir::passes::pipeline::{self, OptLevel};
use tgsi_ir::passes::table::{PassId, PassSet};
use tgsi_verify::{Checker, ExecutorKind};

use crate::args::{DialectName, DriverOptions, OptimizationLevel, PassArguments};
use crate::limits;
use crate::output::FileFormat;
use crate::status::Failure;

/// A driver with its options, and the compiler for it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The driver.
    pub driver: &'static dyn Driver,
    /// The options that are set.
    options: Vec<String>,
    /// The compiler.
    pub compiler: Compiler,
}

impl Plan {
    /// Creates the plan for a driver with the named target profiles and options.
    ///
    /// # Errors
    /// The driver has no such profile or option.
    pub fn new(driver: &'static dyn Driver, options: Vec<String>) -> Result<Plan, UnknownOption> {
        let names: Vec<&str> = options.iter().map(String::as_str).collect();
        let target = Arc::from(driver.target(&names)?);
        let compiler = Compiler::for_target(target).with_limits(limits::current());
        Ok(Plan { driver, options, compiler })
    }

    /// Creates the plan from the arguments.
    ///
    /// # Errors
    /// [`Failure::Usage`]: the driver has no such option.
    pub fn from_arguments(arguments: &PassArguments) -> Result<Plan, Failure> {
        let level = match arguments.level {
            OptimizationLevel::LowerOnly => OptLevel::LowerOnly,
            OptimizationLevel::NoSizeGrowth => OptLevel::NoSizeGrowth,
            OptimizationLevel::Full => OptLevel::Full,
        };
        let skipped: Vec<_> = arguments.skip.iter().filter_map(|name| pass_named(name)).collect();
        Ok(Plan::for_driver(&arguments.driver_options)?.with_level(level).without_passes(PassSet::of(&skipped)))
    }

    /// Like [`from_arguments`](Self::from_arguments), with the target for runs. If the arguments name no driver, it is
    /// that of the executor.
    ///
    /// # Errors
    /// As before, or nothing on this machine can run the code.
    pub fn to_be_run(arguments: &PassArguments, via: Option<ExecutorKind>) -> Result<Plan, Failure> {
        let mut arguments = Cow::Borrowed(arguments);
        if let Some(ExecutorKind::Driver(name)) = via
            && arguments.driver_options.driver.is_none()
        {
            arguments.to_mut().driver_options.driver = Some(name.to_owned());
        }
        let plan = Plan::from_arguments(&arguments)?;
        if tgsi_registry::can_run(plan.driver)
            && let Some(reason) = tgsi_registry::cannot_run(plan.driver)
        {
            return Err(Failure::Usage(reason));
        }
        Ok(Plan { compiler: tgsi_registry::compiler_for_runs(plan.compiler), ..plan })
    }

    /// Like [`from_arguments`](Self::from_arguments), with the options that turn binary code into text.
    ///
    /// # Errors
    /// As before.
    pub fn to_be_printed(arguments: &PassArguments) -> Result<Plan, Failure> {
        let plan = Plan::from_arguments(arguments)?;
        let options = plan.options.iter().map(String::as_str).chain(plan.driver.assembly_options().iter().copied());
        let target = plan.driver.target(&options.collect::<Vec<_>>());
        let target = target.map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(Plan { compiler: plan.compiler.with_target(target.into()), ..plan })
    }

    /// Returns the extension of files with the code and whether it is binary; `as_text` if it is printed as text.
    pub fn form(&self, as_text: bool) -> FileFormat {
        match self.compiler.target().text_extension() {
            Some(extension) => FileFormat { extension, binary: false },
            None if as_text && self.driver.is_binary() => FileFormat { extension: "asm", binary: false },
            None => FileFormat { extension: self.driver.file_extension(), binary: self.driver.is_binary() },
        }
    }

    /// Creates the plan for a driver at the default level.
    ///
    /// # Errors
    /// [`Failure::Usage`]: the driver has no such target or option.
    pub fn for_driver(arguments: &DriverOptions) -> Result<Plan, Failure> {
        let named = arguments.driver.as_deref().and_then(tgsi_registry::find);
        let driver: &'static dyn Driver = named.unwrap_or(tgsi_registry::default_driver());
        let mut names = Vec::new();
        if let Some(target) = &arguments.target {
            let profile = tgsi_compiler::profile_named(driver, target);
            names.push(profile.map_err(|error| Failure::Usage(error.to_string()))?.to_owned());
        }
        names.extend_from_slice(&arguments.names);
        if let Some(entries) = &arguments.stream_output {
            names.push(format!("stream_output={entries}"));
        }
        if arguments.dialect == Some(DialectName::Virgl) {
            names.push(VIRGL.to_owned());
        }
        if arguments.fast {
            names.push("fast".to_owned());
        }
        Plan::new(driver, names).map_err(|error| Failure::Usage(error.to_string()))
    }

    /// Sets the optimisation level.
    pub fn with_level(self, level: OptLevel) -> Plan {
        Plan { compiler: self.compiler.with_level(level), ..self }
    }

    /// Skips some passes.
    pub fn without_passes(self, skipped: PassSet) -> Plan {
        Plan { compiler: self.compiler.without_passes(skipped), ..self }
    }

    /// Returns the checker of translations with this plan.
    pub fn checker(&self) -> Checker {
        let runner = tgsi_registry::find_row(self.driver.name()).and_then(|row| row.runner);
        Checker::new(self.compiler.clone(), self.driver, runner)
    }

    /// Returns the end of a summary of checks, which notes if nothing can run the code of the driver.
    pub fn code_not_run(&self) -> String {
        if tgsi_registry::can_run(self.driver) {
            String::new()
        } else {
            format!(", code of {} not run", self.driver.name())
        }
    }

    /// Returns the plan with the default options of the same driver for virgl hosts; `None` if this is such a plan, or
    /// the driver has no such option.
    pub fn for_virgl(&self) -> Option<Plan> {
        let is_virgl = self.options.iter().any(|option| option == VIRGL);
        let other = (!is_virgl).then(|| Plan::new(self.driver, vec![VIRGL.to_owned()]))?.ok()?;
        Some(other.with_level(self.compiler.level()))
    }
}

/// The option for virgl hosts.
pub const VIRGL: &str = "virgl";

/// Looks up a pass of the pipelines by name.
pub fn pass_named(name: &str) -> Option<PassId> {
    pipeline::passes().into_iter().find(|pass| pass.info().name == name)
}
