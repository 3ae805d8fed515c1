//! Programs as text, in the form of Mesa's disassembler.
//!
//! Differences: tags that do not match are not reported ([`check_program`](crate::isa::check_program) does), some
//! names are corrected, and embedded constants are those that the components of an instruction read. The manual of the
//! package lists them.

mod alu;
mod constant;
mod load_store;
mod number;
mod texture;

use crate::isa::{Body, Bundle, Chip, Tag};

use std::fmt::{Display, Formatter, Result, Write};

/// Options of listings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The chip, which decides on the names of texture registers.
    pub chip: Chip,
    /// Whether names of units and addresses of zero are shown.
    pub verbose: bool,
}

impl Options {
    /// Options for a chip.
    pub fn new(chip: Chip) -> Options {
        Options { chip, verbose: false }
    }
}

/// A program with a form as text. As in Mesa, the text ends with the first bundle whose next tag is [`Tag::Break`],
/// unless the last branch leads forward.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'b> {
    /// The bundles.
    pub bundles: &'b [Bundle],
    /// The options.
    pub options: Options,
}

impl Display for Listing<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut printer = Printer { options: self.options, written: 0 };
        let mut is_forward = false;
        for bundle in self.bundles {
            printer.body(f, &bundle.body)?;
            if let Body::Alu(alu) = &bundle.body {
                is_forward = alu.branch.is_some_and(|branch| branch.offset() >= 0);
            }
            match bundle.next {
                Tag::Break if is_forward => writeln!(f, "break\n")?,
                Tag::Break => return writeln!(f),
                _ => writeln!(f)?,
            }
        }
        Ok(())
    }
}

/// The state of a listing.
struct Printer {
    options: Options,
    /// The work registers that a preceding instruction writes, one bit each; others from r8 on are uniforms.
    written: u16,
}

impl Printer {
    fn body(&mut self, f: &mut dyn Write, body: &Body) -> Result {
        match body {
            Body::Alu(bundle) => self.alu(f, bundle),
            Body::LoadStore(bundle) => self.load_store(f, bundle),
            Body::Texture(texture) => self.texture(f, texture),
            Body::Barrier(barrier) => self.barrier(f, barrier),
        }
    }
}
