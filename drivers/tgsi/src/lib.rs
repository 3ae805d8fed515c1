//! IR to TGSI, in the style of a backend that uses the register helpers of [`tgsi_registers`].
//!
//! 1. `lower`: lowers constructs that TGSI lacks, leaves SSA, and makes register accesses trivial. The result is still
//!    IR and can be run.
//! 2. `select`: each instruction becomes TGSI over virtual temporaries. The chase functions find registers, masks and
//!    modifiers.
//! 3. `passes`: the machine passes propagate copies, form multiply-adds and conditions, merge equal work on several
//!    components, and allocate temporaries. Constants of many branches are copied once before them, unless that needs
//!    too many temporaries.
//! 4. `emit`: the builder of the `tgsi` crate declares the registers used and packs the immediates.
//!
//! The folders are in this order, after `consumers` (options and rules) and `machine` (the program); none uses a
//! later one. The parts of the machine passes that do not depend on TGSI are in [`tgsi_vec4`].
//!
//! Called functions pass these steps separately and are joined then; values that they share have a fixed register
//! ([`TgsiOptions::subroutines`]).

mod consumers;
mod driver;
mod emit;
mod error;
mod lower;
mod machine;
mod passes;
mod pipeline;
mod select;

pub use consumers::options::{Dialect, TgsiOptions};
pub use driver::{DRIVER, Tgsi, runner};
pub use error::{DriverError, Located};
pub use passes::named::{MachinePassError, machine_passes, run_machine_pass};
