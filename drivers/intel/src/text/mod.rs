//! Programs as text, in the form of Mesa's `elk_asm` and `elk_disasm`.
//!
//! [`Listing`] writes a program, and [`assemble`] reads one. A listing that is read again gives the same instructions,
//! except for facts that the form lacks: the flag of an instruction without predicate and condition, the stride of a
//! destination in align16, the operands that Mesa's compiler gives to branches, `jmpi` and `wait`. The manual of the
//! package lists the differences from Mesa's tools.

mod cursor;
mod error;
mod line;
mod message;
mod number;
mod operand;
mod parse;
mod parse_operand;
mod print;

pub use error::{ParseError, Problem};
pub use parse::assemble;
pub use print::Listing;
