//! Emission of machine code: from the regions of a program to functions of Cranelift.
//!
//! | file | contents |
//! |---|---|
//! | `rules`, `wide` | ALU opcodes of 32 and of 64 bits |
//! | `masks`, `emitter` | the state of a function's code; access to lane vectors and memory |
//! | `areas` | calls |
//! | `control`, `alu`, `gathers`, `arrays`, `intrinsics`, `textures` | operations |
//! | `lookups` | texture lookups without calls |
//! | `function` | the function of a region |
//! | `processor` | target processors |
//! | `translator` | all functions of a program |

mod alu;
mod areas;
mod arrays;
mod control;
mod emitter;
mod function;
mod gathers;
mod intrinsics;
mod lookups;
mod masks;
pub(super) mod processor;
mod rules;
mod textures;
pub(super) mod translator;
mod wide;
