//! The compilation pipeline from TGSI or IR to target code.
//!
//! ```text
//! tgsi::Shader ──to_ir──┐
//!                       ├─> parsed ──into_ssa──> ssa ──optimize──> opt ──lower──> registers ──emit──> code
//! tgsi_ir::Shader ──────┘                                          └── the target ─────────────┘
//! ```
//!
//! - A [`FrontEnd`](front_end::FrontEnd) reads the shaders of a language, and checks what the compiler relies on.
//! - A [`Driver`] has a name and options. With the options set it is a [`Target`]: what the optimiser must know of it,
//!   the lowering, and the emission of code.
//! - A [`Compiler`] is a target, a level, limits and the passes that are left out. It takes any number of shaders, on
//!   any number of threads.
//! - A [`Fit`] says what code uses of each limit of its consumer, and where it first exceeds one.
//! - A [`Compilation`] is one shader on its way. It can be taken from [`Stage`] to stage and looked at in between.
//! - A [`HostCompiler`] translates texts on their way to a host that reads TGSI.
//! - [`Compiler::link`] takes the shaders of a pipeline together: what goes between them is fitted to both.
//!
//! Nothing else spells out the order of these steps. A driver is a crate that implements the two traits, and one row of
//! the registry (package `tgsi-registry`).

mod compiler;
mod driver;
mod error;
mod fit;
pub mod front_end;
mod host;
mod interface_integers;
mod link;
mod source_map;

pub use compiler::{Budget, Compilation, Compiler, Source, Stage};
pub use driver::{
    Code, CodeSize, Companion, Driver, DriverOption, LinkedSlot, ObjectFile, Runner, RunnerFn, SlotLocations, Target,
    UnknownOption, UnknownProfile, profile_named,
};
pub use error::{CompileError, Subject, TargetError};
pub use fit::{Excess, Fit, FitFinding, LimitUse, Measurement, Verdict};
pub use host::{HostCompiler, HostError, HostTranslation};
pub use interface_integers::{EVERY_REGISTER, InterfaceIntegers, is_integer};
pub use link::{LinkError, Linked, Program};
pub use source_map::SourceMap;
