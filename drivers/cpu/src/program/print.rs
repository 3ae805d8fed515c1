//! The text of a lane program, for people.

use std::fmt::{self, Display, Formatter};

use super::{Leave, Op, Program, Value};

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.plane)?;
        if self.planes() > 1 {
            write!(f, "..{}", self.plane + self.planes() - 1)?;
        }
        Ok(())
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}: {} planes of values, {} of state", self.stage, self.value_planes, self.state_planes)?;
        for (plane, word) in &self.constants {
            writeln!(f, "    p{plane} = {word:#x}")?;
        }
        let mut depth = 1usize;
        for (at, &op) in self.ops.iter().enumerate() {
            let closes = matches!(op, Op::Else { .. } | Op::EndIf { .. } | Op::EndLoop { .. });
            depth -= usize::from(closes && depth > 1);
            // Deep nesting is shown as such up to a width that can be read.
            write!(f, "{at:5} {:indent$}", "", indent = 4 * depth.min(16))?;
            self.print_op(f, op)?;
            writeln!(f)?;
            depth += usize::from(matches!(op, Op::If { .. } | Op::Else { .. } | Op::Loop));
        }
        Ok(())
    }
}

impl Program {
    fn print_op(&self, f: &mut Formatter<'_>, op: Op) -> fmt::Result {
        match op {
            Op::Lane { op, masked, dest, sources } => {
                write!(f, "p{dest} = {op}{}", if masked { " masked" } else { "" })?;
                sources.iter().take(op.info().num_inputs.into()).try_for_each(|source| write!(f, " p{source}"))
            }
            Op::General(number) => {
                let general = &self.generals[number as usize];
                write!(f, "{} = {} {}", general.dest, general.op, general.bit_size)?;
                general.sources.iter().try_for_each(|(planes, _)| {
                    write!(f, " (")?;
                    let mut planes = planes.iter();
                    if let Some(plane) = planes.next() {
                        write!(f, "p{plane}")?;
                    }
                    planes.try_for_each(|plane| write!(f, " p{plane}"))?;
                    write!(f, ")")
                })
            }
            Op::Copies(number) => {
                let copies = &self.copies[number as usize];
                copies.iter().enumerate().try_for_each(|(number, copy)| {
                    write!(f, "{}p{} <- p{}", if number == 0 { "" } else { ", " }, copy.dest, copy.source)
                })
            }
            Op::Intrinsic(number) => {
                let intrinsic = &self.intrinsics[number as usize];
                if intrinsic.dest.components != 0 {
                    write!(f, "{} = ", intrinsic.dest)?;
                }
                write!(f, "@{}", intrinsic.op)?;
                intrinsic.sources().iter().try_for_each(|source| write!(f, " {source}"))?;
                intrinsic.op.info().indices.iter().try_for_each(|&kind| {
                    let value = intrinsic.index(kind);
                    if value == 0 { Ok(()) } else { write!(f, " {kind}={value}") }
                })
            }
            Op::Texture(number) => {
                let texture = &self.textures[number as usize];
                write!(f, "{} = {}", texture.dest, texture.data.op.name())?;
                texture.sources.iter().filter(|s| s.components != 0).try_for_each(|source| write!(f, " {source}"))
            }
            Op::Step(number) => {
                let step = self.steps[number as usize];
                write!(f, "{} = step {} [{}] * {}", step.dest, step.parent, step.index, step.stride)
            }
            Op::If { condition, otherwise } => write!(f, "if p{condition}  # else {otherwise}"),
            Op::Else { end } => write!(f, "else  # end {end}"),
            Op::EndIf { nobody } => write!(f, "endif  # nobody {nobody}"),
            Op::Loop => write!(f, "loop"),
            Op::Continue => write!(f, "continue construct"),
            Op::EndLoop { head, nobody } => write!(f, "endloop {head}  # nobody {nobody}"),
            Op::Jump { kind: Leave::Break, end } => write!(f, "break  # {end}"),
            Op::Jump { kind: Leave::Continue, end } => write!(f, "continue  # {end}"),
            Op::Jump { kind: Leave::Shader, end } => write!(f, "exit  # {end}"),
            Op::End => write!(f, "end"),
        }
    }
}
