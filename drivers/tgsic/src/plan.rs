//! The compiler that the arguments ask for.

use std::borrow::Cow;
use std::sync::Arc;

use tgsi_compiler::{Compiler, Driver, UnknownOption};
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::passes::pipeline::{self, Level};
use tgsi_ir::passes::table::{PassId, PassSet};

use crate::args::{DialectName, DriverOptions, OptimizationLevel, PassArguments};
use crate::executor_kind::ExecutorKind;
use crate::limits;
use crate::output::Form;
use crate::status::Failure;

/// A driver with its options, and the compiler for it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The driver.
    pub driver: &'static dyn Driver,
    /// The names of the options that are set.
    options: Vec<String>,
    /// The compiler.
    pub compiler: Compiler,
}

impl Plan {
    /// The plan for a driver with the target profiles and options of these names.
    ///
    /// # Errors
    /// The driver has no such profile or option.
    pub fn new(driver: &'static dyn Driver, options: Vec<String>) -> Result<Plan, UnknownOption> {
        let names: Vec<&str> = options.iter().map(String::as_str).collect();
        let target = Arc::from(driver.target(&names)?);
        let compiler = Compiler::for_target(target).with_limits(limits::current());
        Ok(Plan { driver, options, compiler })
    }

    /// The plan that the arguments ask for.
    ///
    /// # Errors
    /// [`Failure::Usage`]: the driver has no such option.
    pub fn from_arguments(arguments: &PassArguments) -> Result<Plan, Failure> {
        let level = match arguments.level {
            OptimizationLevel::Finish => Level::Finish,
            OptimizationLevel::NoGrowth => Level::NoGrowth,
            OptimizationLevel::All => Level::All,
        };
        let skipped: Vec<_> = arguments.skip.iter().filter_map(|name| pass_named(name)).collect();
        Ok(Plan::for_driver(&arguments.driver_options)?.with_level(level).without_passes(PassSet::of(&skipped)))
    }

    /// The same, with the options that code of the driver needs to be run. The driver is that of the executor, if the
    /// arguments name none.
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
        if plan.driver.can_run()
            && let Some(reason) = tgsi_registry::cannot_run(plan.driver)
        {
            return Err(Failure::Usage(reason));
        }
        let options = plan.driver.run_options();
        plan.with_options(options)
    }

    /// The same, with the options that make text of code that is binary.
    ///
    /// # Errors
    /// As before.
    pub fn to_be_printed(arguments: &PassArguments) -> Result<Plan, Failure> {
        let plan = Plan::from_arguments(arguments)?;
        let options = plan.driver.assembly_options();
        plan.with_options(options)
    }

    /// Sets more options.
    fn with_options(self, more: &[&str]) -> Result<Plan, Failure> {
        if more.is_empty() {
            return Ok(self);
        }
        let options = self.options.into_iter().chain(more.iter().map(|&option| option.to_owned())).collect();
        let (level, skipped) = (self.compiler.level(), self.compiler.skipped());
        let plan = Plan::new(self.driver, options).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(plan.with_level(level).without_passes(skipped))
    }

    /// The extension of files with the code, and whether it is binary; `as_text` if it is to be printed.
    pub fn form(&self, as_text: bool) -> Form {
        match self.compiler.target().text_extension() {
            Some(extension) => Form { extension, binary: false },
            None if as_text && self.driver.is_binary() => Form { extension: "asm", binary: false },
            None => Form { extension: self.driver.file_extension(), binary: self.driver.is_binary() },
        }
    }

    /// The plan for a driver at the default level.
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
    pub fn with_level(self, level: Level) -> Plan {
        Plan { compiler: self.compiler.with_level(level), ..self }
    }

    /// Leaves out some passes.
    pub fn without_passes(self, skipped: PassSet) -> Plan {
        Plan { compiler: self.compiler.without_passes(skipped), ..self }
    }

    /// Whether code of the driver is run by a device that may round some operations otherwise.
    pub fn is_run_by_device(&self) -> bool {
        !self.driver.approximate_ops().is_empty()
    }

    /// Whether the target has integers in the stage of a shader.
    pub fn has_integers(&self, shader: &tgsi::Shader) -> bool {
        self.compiler.target().has_integers(tgsi_to_ir::slots::stage_of(shader.processor))
    }

    /// Whether a shader has operations that what runs the driver's code may round otherwise.
    pub fn is_approximate(&self, shader: &tgsi_ir::Shader) -> bool {
        has_any(shader, self.driver.approximate_ops())
    }

    /// Whether a shader has operations that lowering [approximates](tgsi_compiler::Target::approximations).
    pub fn is_approximated(&self, shader: &tgsi_ir::Shader) -> bool {
        has_any(shader, self.compiler.target().approximations(shader.stage))
    }

    /// Whether results of a shader depend on what a device leaves open where operands are special: it has
    /// [approximate](Self::is_approximate) operations, or such as make bits of a NaN visible: halves in a word, and
    /// numbers of 64 bits, which are two words.
    pub fn depends_on_device(&self, shader: &tgsi_ir::Shader) -> bool {
        let mut bodies = shader.functions.values().filter_map(|function| function.body.as_ref());
        let shows_nan = bodies.any(|body| {
            let mut insts = body.blocks().flat_map(|block| body.insts(block));
            insts.any(|inst| {
                body.alu_op(inst).is_some_and(|op| {
                    let is_float = op.info().output_type.base == BaseType::Float;
                    let is_wide = body.inst_def(inst).is_some_and(|def| body.bit_size(def) == 64);
                    is_float && is_wide || op.name().starts_with("pack_half")
                })
            })
        });
        shows_nan || self.is_approximate(shader)
    }

    /// The end of a summary of checks: says so if nothing can run the code of the driver.
    pub fn code_not_run(&self) -> String {
        if self.driver.can_run() { String::new() } else { format!(", code of {} not run", self.driver.name()) }
    }

    /// The default options of the same driver for hosts of virgl; `None` if this plan is for those, or the driver has
    /// no such option.
    pub fn for_virgl(&self) -> Option<Plan> {
        let is_virgl = self.options.iter().any(|option| option == VIRGL);
        let other = (!is_virgl).then(|| Plan::new(self.driver, vec![VIRGL.to_owned()]))?.ok()?;
        Some(other.with_level(self.compiler.level()))
    }
}

/// The option for hosts of virgl.
pub const VIRGL: &str = "virgl";

/// Looks up a pass of the pipelines by name.
pub fn pass_named(name: &str) -> Option<PassId> {
    pipeline::passes().into_iter().find(|pass| pass.info().name == name)
}

/// Whether a shader has one of these operations.
fn has_any(shader: &tgsi_ir::Shader, ops: &[AluOp]) -> bool {
    let mut bodies = shader.functions.values().filter_map(|function| function.body.as_ref());
    !ops.is_empty()
        && bodies.any(|body| {
            let mut insts = body.blocks().flat_map(|block| body.insts(block));
            insts.any(|inst| body.alu_op(inst).is_some_and(|op| ops.contains(&op)))
        })
}
