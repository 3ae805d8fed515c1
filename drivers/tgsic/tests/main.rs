//! The integration tests of this crate, as one program. Each module tests one subject.

mod common;
#[path = "../../../ir/tests/support/layers.rs"]
mod module_paths;

mod commands;
mod draw;
mod extract;
mod files;
mod fit;
mod fit_language;
mod fit_lines;
mod fit_variants;
mod generated;
mod hostile;
mod invariance;
mod ir_text;
mod languages;
mod layers;
mod limits;
mod link;
mod messages;
mod objects;
mod output;
mod passes;
mod proxy;
mod report;
mod robustness;
mod shader_tests;
mod smith;
mod spirv_tests;
mod targets;
mod vulkan;
