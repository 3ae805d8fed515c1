//! The text form of the IR, printed and parsed.
//!
//! The form is the one that Mesa prints for NIR. A shader that Mesa printed is read, and prints again as it was. What
//! Mesa's form leaves out but this IR keeps is added by [`print()`] as remarks at the end of lines (`// dim=2D array
//! coords=3`), and as lines of our own in the header; both only where the plain form would read back as something else,
//! so that most lines are the same in both. [`PrintOptions::mesa`] switches the additions off.
//!
//! - Values and blocks keep their numbers; gaps in the numbering of values stay, as does the width that numbers are
//!   padded to. Blocks are numbered in program order.
//! - A constant in parentheses after a value (`%5 (0x1)`) is a remark for people; the `load_const` line counts.
//! - A constant array index (`[2]`) stands for the last scalar `load_const` of this value that dominates it; if there
//!   is none (or the printed code reads another one) the remark `// index=%7` says which, and without it a hidden
//!   constant is made.
//! - A struct that is known by name only has the fields that derefs of the text name, numbered in the order of their
//!   appearance. Our own prints define structs by `type` lines.
//! - Scratch of passes and results of analyses (loop-invariance; divergence unless `divergence_analysis_run` is set)
//!   are not part of the text.
//!
//! | Remark | Follows |
//! |---|---|
//! | `fast_math=0x..` | ALU: the fast-math bits |
//! | `dim=2D array shadow new_style coords=3 lowered_cube backend_flags=0x1 texture=2 sampler=3 component=1` | texture instruction: the first five replace what would be concluded, the others add to it |
//! | `num_components=4` | intrinsic whose operands do not tell |
//! | `index=%7` | deref with a constant index |
//! | `type=float[2:16]` | variable or deref whose type has strides |
//! | `unroll`, `dont_unroll`, `divergent_continue`, `divergent_break` | loop |
//! | `name="..." location=.. location_frac=.. driver_location=.. binding=.. set=.. index=.. streams=0x.. format=.. compact per_vertex` | variable |

#[cfg(test)]
mod tests;

mod error;
mod header;
mod index_text;
mod infer;
mod lexer;
mod parse;
mod parse_body;
mod parse_declarations;
mod parse_inst;
mod parse_types;
mod print;
mod print_inst;
mod print_names;
mod print_variables;
mod reconstruct;
mod slot_names;
mod type_names;

pub use error::{EdgeSide, TextError, TextErrorKind};
pub use parse::{SourceMap, parse, parse_with_source_map};

use crate::body::Body;
use crate::entities::{Block, Function, If, Inst, Loop, Variable};
use crate::shader::Shader;

/// Options of a print.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PrintOptions {
    /// Exactly what Mesa prints: no remarks and header lines of our own, locations cut to three digits.
    pub mesa: bool,
}

/// The subject of an [`Annotation`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AnnotationTarget {
    /// An instruction of a function.
    Inst(Function, Inst),
    /// A block of a function.
    Block(Function, Block),
    /// An `if` of a function.
    If(Function, If),
    /// A loop of a function.
    Loop(Function, Loop),
    /// A variable.
    Variable(Variable),
    /// A function.
    Function(Function),
    /// The shader.
    Shader,
}

/// A message to be shown beside what it speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// Its subject. Something that the print does not show gets its message at the end.
    pub target: AnnotationTarget,
    /// The text, shown after `// `.
    pub text: String,
}

/// The whole shader as text that [`parse`] reads back.
pub fn print(shader: &Shader) -> String {
    print_with(shader, PrintOptions::default())
}

/// The whole shader as text.
pub fn print_with(shader: &Shader, options: PrintOptions) -> String {
    print::Printer::new(shader, options, &[]).print_shader()
}

/// The whole shader with messages: a comment line after the subject of each.
pub fn print_annotated(shader: &Shader, annotations: &[Annotation]) -> String {
    print::Printer::new(shader, PrintOptions::default(), annotations).print_shader()
}

/// One instruction on a line of its own, without indentation, padding and line end. Constants are shown without regard
/// to how the rest of the body uses them, so this is cheap enough for messages and logs.
pub fn print_inst(shader: &Shader, body: &Body, inst: Inst) -> String {
    print::Printer::new(shader, PrintOptions::default(), &[]).print_one_inst(body, inst)
}
