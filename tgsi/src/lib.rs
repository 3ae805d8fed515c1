//! TGSI, the token IR of Mesa's Gallium drivers: tables, shader model, text, tokens, check, scan, interpreter, and the way into the IR.

pub mod builder;
pub mod check;
pub mod diagnostic;
pub mod limits;
pub mod run;
pub mod scan;
pub mod shader;
pub mod slots;
pub mod span;
pub mod structure;
pub mod tables;
pub mod text;
pub mod to_ir;
pub mod tokens;

pub use shader::Shader;
pub use span::Span;
