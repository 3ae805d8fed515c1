//! The compilation pipeline from TGSI or IR to target code.
//!
//! ```text
//! tgsi::Shader ──to_ir──┐
//!                       ├─> parsed ──into_ssa──> ssa ──optimize──> opt ──lower──> registers ──emit──> code
//! tgsi_ir::Shader ──────┘                                          └── the target ─────────────┘
//! ```
//!
//! - A [`FrontEnd`](front_end::FrontEnd) describes a language; its [`Reader`](front_end::Reader) reads and checks
//!   shaders.
//! - A [`Driver`] has a name and options. With its options set it is a [`Target`], which supplies the optimiser's
//!   options, the lowering and the code generation.
//! - A [`Compiler`] combines a target, an optimisation level, limits and the passes to skip. It compiles any number of
//!   shaders, on any number of threads.
//! - A [`Fit`] records how much of each limit of its consumer the code uses, and where it first exceeds one.
//! - A [`Compilation`] is the compilation of one shader. It can be advanced from [`Stage`] to stage and inspected in
//!   between.
//! - A [`HostCompiler`] translates shader texts sent to a host that reads TGSI.
//! - [`Compiler::link`] compiles the shaders of a pipeline together and fits their interfaces to each other.
//!
//! The order of these steps is defined only in `compiler.rs`. A driver is a crate that implements [`Driver`] and
//! [`Target`], and one row of the registry; a front end likewise (package `tgsi-registry`).

mod compiler;
mod driver;
mod driver_options;
mod error;
mod fit;
pub mod front_end;
mod host;
mod link;
pub mod reflection;
mod runner;
mod source_map;

pub use compiler::{Budget, Compilation, Compiler, Source, Stage};
pub use driver::{
    AuxiliaryFile, Code, CodeSize, Driver, DriverOption, Fidelity, LinkedSlot, ObjectFile, SlotLocations, Target,
    TextureLimits, UnknownOption, UnknownProfile, profile_named,
};
pub use error::{CompileError, Located, Subject, TargetError, Unsupported};
pub use fit::{Cost, Excess, Fit, FitFinding, FitReport, LimitUse, LineCosts, Measurement, Verdict};
pub use host::{HostCompiler, HostError, HostTranslation};
pub use link::{LinkError, Linked, Program};
pub use runner::{RunError, RunTargetFn, Runner, RunnerFn};
pub use source_map::SourceMap;
pub use tgsi_environment::{EVERY_REGISTER, InterfaceIntegers, is_integer};

// What `driver_options!` names.
#[doc(hidden)]
pub use tgsi_ir::options::CompilerOptions;
