//! NIR-style SSA intermediate representation.

pub mod alu;
pub mod analysis;
pub mod body;
pub mod builder;
pub mod cursor;
pub mod entities;
pub mod intrinsics;
pub mod passes;
pub mod pixel_format;
pub mod run;
pub mod shader;
pub mod slots;
pub mod system_value;
pub mod text;
pub mod types;
pub mod validate;
pub mod variable;

pub use body::{AluFlags, Body, InstData, Shape, SourceSpec, Swizzle};
pub use builder::Builder;
pub use cursor::Cursor;
pub use entities::{Block, Def, Function, If, Inst, Loop, Type, Use, User, Variable};
pub use pixel_format::PixelFormat;
pub use shader::{Shader, Stage};
