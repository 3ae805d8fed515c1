//! Instructions as text, for messages.

use std::fmt::{self, Debug, Display, Formatter};

use super::{Destination, File, Guard, Instruction, Relative, Source};

const LETTERS: [char; 4] = ['x', 'y', 'z', 'w'];

fn letter(component: u8) -> char {
    LETTERS[usize::from(component & 3)]
}

/// `.wzyx`, or nothing for the identity.
fn write_swizzle(f: &mut Formatter<'_>, swizzle: [u8; 4]) -> fmt::Result {
    if swizzle == [0, 1, 2, 3] {
        return Ok(());
    }
    write!(f, ".{}", swizzle.map(letter).iter().collect::<String>())
}

fn write_register(f: &mut Formatter<'_>, file: File, index: i32, relative: Option<Relative>) -> fmt::Result {
    match relative {
        Some(Relative { register, component }) => {
            write!(f, "{file:?}[Special[{register}].{} + {index}]", letter(component))
        }
        None => write!(f, "{file:?}[{index}]"),
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bar = if self.absolute { "|" } else { "" };
        write!(f, "{}{bar}", if self.negate { "-" } else { "" })?;
        write_register(f, self.file, self.index, self.relative)?;
        write_swizzle(f, self.swizzle)?;
        f.write_str(bar)
    }
}

impl Display for Destination {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_register(f, self.file, self.index, self.relative)?;
        if self.mask & 0xf == 0xf {
            return Ok(());
        }
        let letters: String = (0..4).filter(|c| self.mask >> c & 1 != 0).map(letter).collect();
        write!(f, ".{letters}")
    }
}

impl Display for Guard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "(Special[{}] {}", self.register, self.condition)?;
        write_swizzle(f, self.swizzle)?;
        f.write_str(")")
    }
}

impl<Op: Debug> Display for Instruction<Op> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.op, if self.saturate { "_sat" } else { "" })?;
        let mut separator = " ";
        if let Some(to) = &self.destination {
            write!(f, " {to}")?;
            separator = ", ";
        }
        if let Some(guard) = &self.guard {
            write!(f, " {guard}")?;
        }
        for source in &self.sources {
            write!(f, "{separator}{source}")?;
            separator = ", ";
        }
        Ok(())
    }
}
