//! A complete backend for a made-up machine, as a model for real ones. `docs/porting.md` explains it step by step.
//!
//! The machine has 32 temporaries of four floats, inputs, outputs, uniforms, and rows of literals. An instruction writes
//! components of one register, clamped to 0..1 if needed, and reads up to three operands with swizzle, absolute value
//! and negation: of them at most one input, and one register of uniforms or literals. A scalar unit computes
//! reciprocals, roots and powers of x. A selection chooses by the sign of its first operand, branches go to instructions
//! by number, and one address register indexes uniforms.
//!
//! | file | contents | Mesa's place for it |
//! |---|---|---|
//! | `machine.rs` | the operations: operands, results, arithmetic | tables of `isa.xml`, `ir2`, `ppir` |
//! | `driver.rs` | options, target, lowering, errors | `*_screen.c`, `nir_shader_compiler_options` |
//! | `select.rs` | instruction selection in both styles | `emit_alu`, `emit_intrinsic`, `emit_cf_list` |
//! | `code.rs` | passes, rows of literals, words and listing | assembler, disassembler |
//! | `simulator.rs` | runs words | none |

#![forbid(unsafe_code)]

mod code;
mod driver;
mod machine;
mod select;
mod simulator;

pub use driver::{ROW, Vec4Options};
