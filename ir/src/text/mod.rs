//! The text form of the IR: printer and parser.
//!
//! The form is Mesa's print of NIR. A shader printed by Mesa can be parsed, and prints again identically. Data of this
//! IR that Mesa's form omits is added by [`print()`] as comments at the ends of lines (`// dim=2D array coords=3`), and
//! as additional header lines. Both are added only where the plain form would be parsed differently, so that most lines
//! are the same in both forms. [`PrintOptions::mesa`] disables the additions.
//!
//! - Values and blocks keep their numbers, including gaps in the numbering of values and the width that numbers are
//!   padded to. Blocks are numbered in program order.
//! - A constant in parentheses after a value (`%5 (0x1)`) is only a comment; the `load_const` line is authoritative.
//! - A constant array index (`[2]`) refers to the last scalar `load_const` of this value that dominates the deref. If
//!   no such constant exists, or the index is another one, the comment `// index=%7` gives it; without the comment,
//!   the parser creates a hidden constant.
//! - A struct that is known by its name only has the fields that derefs in the text use, numbered in order of
//!   appearance. Text printed by this module defines structs in `type` lines.
//! - Scratch bits of passes and results of analyses (loop invariance; divergence unless `divergence_analysis_run` is
//!   set) are not part of the text.
//!
//! | Comment | Follows |
//! |---|---|
//! | `fast_math=0x..` | ALU: the fast-math bits |
//! | `dim=2D array shadow new_style coords=3 lowered_cube backend_flags=0x1 texture=2 sampler=3 component=1` | texture instruction: the first five replace inferred properties, the others are additional |
//! | `num_components=4` | intrinsic with operands that do not determine it |
//! | `index=%7` | deref with a constant index |
//! | `type=float[2:16]` | variable or deref of a type with strides |
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

#[doc(hidden)]
pub use error::EdgeSide;
pub use error::{TextError, TextErrorKind};
pub use parse::parse;
#[doc(hidden)]
pub use parse::{SourceMap, parse_with_source_map};

use crate::body::Body;
use crate::entities::{Block, Function, If, Inst, Loop, Variable};
use crate::shader::Shader;

/// Options of the printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PrintOptions {
    /// Print exactly like Mesa: no additional comments or header lines, and locations truncated to three digits.
    pub mesa: bool,
}

/// The subject of an [`Annotation`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[doc(hidden)]
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

/// A message to be printed after its subject.
#[derive(Clone, PartialEq, Eq, Debug)]
#[doc(hidden)]
pub struct Annotation {
    /// Its subject. The message of a subject that is not printed comes at the end.
    pub target: AnnotationTarget,
    /// The text, shown after `// `.
    pub text: String,
}

/// Prints a shader as text that [`parse`] can read.
pub fn print(shader: &Shader) -> String {
    print_with(shader, PrintOptions::default())
}

/// Prints a shader.
pub fn print_with(shader: &Shader, options: PrintOptions) -> String {
    print::Printer::new(shader, options, &[]).print_shader()
}

/// Prints a shader with messages: each is a comment line after its subject.
#[doc(hidden)]
pub fn print_annotated(shader: &Shader, annotations: &[Annotation]) -> String {
    print::Printer::new(shader, PrintOptions::default(), annotations).print_shader()
}

/// Prints one instruction without indentation, padding and line end. Constants are printed independently of their uses
/// in the rest of the body, so this is cheap enough for messages and logs.
pub fn print_inst(shader: &Shader, body: &Body, inst: Inst) -> String {
    print::Printer::new(shader, PrintOptions::default(), &[]).print_one_inst(body, inst)
}
