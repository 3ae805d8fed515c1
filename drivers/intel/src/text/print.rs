//! Programs as text.

use super::line::Line;
use super::{message, operand};
use crate::isa::{
    AccessMode, Branch, Descriptor, Detail, ExecutionSize, Form, Instruction, Message, Opcode, Source, message_word,
    positions, target,
};

use std::fmt::{Display, Formatter, Result};

/// A program with a form as text, in which branches lead to labels.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'i>(pub &'i [Instruction]);

impl Display for Listing<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let labels = Labels::new(self.0);
        for (index, instruction) in self.0.iter().enumerate() {
            if let Some(label) = labels.numbers[index] {
                write!(f, "\nLABEL{label}:\n")?;
            }
            f.write_str(&line(instruction, &|distance| labels.name(index, distance)))?;
        }
        match labels.numbers.last() {
            Some(Some(label)) => write!(f, "\nLABEL{label}:\n"),
            _ => Ok(()),
        }
    }
}

/// A single instruction as text; branches state distances.
impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(line(self, &|distance| distance.to_string()).trim_end())
    }
}

/// The labels of a program.
struct Labels {
    positions: Vec<i64>,
    /// The label of each instruction and of the end.
    numbers: Vec<Option<u32>>,
}

impl Labels {
    fn new(instructions: &[Instruction]) -> Labels {
        let positions = positions(instructions);
        let mut numbers = vec![None; positions.len()];
        let mut count = 0;
        for (index, instruction) in instructions.iter().enumerate() {
            let Some(Branch { jip, uip }) = instruction.branch() else { continue };
            let uip = instruction.opcode.has_uip().then_some(uip);
            for distance in uip.into_iter().chain([jip]) {
                if let Some(target) = target(&positions, index, distance) {
                    numbers[target].get_or_insert_with(|| {
                        count += 1;
                        count - 1
                    });
                }
            }
        }
        Labels { positions, numbers }
    }

    /// The label at a distance of an instruction, or the distance if no instruction is there.
    fn name(&self, index: usize, distance: i16) -> String {
        match target(&self.positions, index, distance).and_then(|target| self.numbers[target]) {
            Some(label) => format!("LABEL{label}"),
            None => distance.to_string(),
        }
    }
}

/// The text of an instruction with its line feed. `label` returns the name of a target.
fn line(instruction: &Instruction, label: &dyn Fn(i16) -> String) -> String {
    let mut line = Line::default();
    head(&mut line, instruction);
    operands(&mut line, instruction, label);
    if let Some(message) = instruction.message() {
        put_message(&mut line, message, instruction.access);
    }
    line.pad(64);
    options(&mut line, instruction);
    line.put(";");
    line.newline();
    line.finish()
}

fn head(line: &mut Line, instruction: &Instruction) {
    let Instruction { opcode, flag, .. } = *instruction;
    if let Some(predicate) = instruction.predicate {
        let sign = if predicate.inverse { '-' } else { '+' };
        line.put(&format!("({sign}f{}.{}{}) ", flag.register, flag.half, predicate.control.suffix()));
    }
    line.put(opcode.name());
    if instruction.saturate {
        line.put(".sat");
    }
    if instruction.breakpoint {
        line.put(".breakpoint");
    }
    if let Some(function) = instruction.math_function() {
        line.put(&format!(" {}", function.name()));
    }
    if let Some(condition) = instruction.condition {
        line.put(&format!(".{}", condition.name()));
        if opcode.writes_flag() {
            line.put(&format!(".f{}.{}", flag.register, flag.half));
        }
    }
    if opcode.form() != Form::Nop {
        line.put(&format!("({})", instruction.size.name()));
    }
}

fn operands(line: &mut Line, instruction: &Instruction, label: &dyn Fn(i16) -> String) {
    let opcode = instruction.opcode;
    if let Detail::Branch(branch) = instruction.detail {
        line.pad(16);
        line.put("JIP: ");
        line.put(&format!(" {}", label(branch.jip)));
        if opcode.has_uip() {
            line.pad(38);
            line.put("UIP: ");
            line.put(&format!(" {}", label(branch.uip)));
        }
        return;
    }
    if opcode == Opcode::Jmpi {
        if let Some(distance) = instruction.sources.get(1) {
            line.pad(16);
            operand::source(line, distance);
        }
        return;
    }
    let is_ternary = opcode.form() == Form::Ternary;
    if let Some(destination) = &instruction.destination {
        line.pad(16);
        line.put(&operand::destination(destination, instruction.access));
    }
    if opcode == Opcode::Wait {
        return;
    }
    for (index, source) in instruction.sources.iter().enumerate() {
        line.pad(32 + 16 * index);
        match source {
            Source::Register(register) if is_ternary => line.put(&operand::operand(register, true)),
            _ => operand::source(line, source),
        }
    }
}

fn put_message(line: &mut Line, message: &Message, access: AccessMode) {
    let end = u32::from(message.end_of_thread) << 31;
    line.pad(48);
    let word = match &message.descriptor {
        Descriptor::Immediate(bits) => bits | end,
        Descriptor::Register(register) => {
            line.put(&operand::operand(register, false));
            line.pad(64);
            message_word(message, access).unwrap_or(0)
        }
    };
    line.put_uncounted(&format!("0x{word:08x}"));
    line.newline();
    line.pad(16);
    line.put_uncounted("            ");
    line.put(message.function.name());
    line.put(" MsgDesc:");
    match message.descriptor {
        Descriptor::Register(_) => line.put(" indirect"),
        Descriptor::Immediate(bits) => {
            message::descriptor(line, message.function, bits, true);
            line.put(&format!(" mlen {}", bits >> 25 & 15));
            line.put(&format!(" rlen {}", bits >> 20 & 31));
        }
    }
}

fn options(line: &mut Line, instruction: &Instruction) {
    let Instruction { access, group, dependency, .. } = *instruction;
    if instruction.opcode.form() == Form::Nop {
        if instruction.compacted {
            line.put("{ compacted }");
        }
        return;
    }
    line.put("{ ");
    line.put(match access {
        AccessMode::Align1 => "align1",
        AccessMode::Align16 => "align16",
    });
    let mut option = |name: &str| {
        if !name.is_empty() {
            line.put(" ");
            line.put(name);
        }
    };
    option(if instruction.no_mask { "WE_all" } else { "" });
    option(match (dependency.no_clear, dependency.no_check) {
        (false, false) => "",
        (true, false) => "NoDDClr",
        (false, true) => "NoDDChk",
        (true, true) => "NoDDClr,NoDDChk",
    });
    let quarter = group.quarter & 3;
    option(&match instruction.size {
        _ if group.nibble || instruction.size < ExecutionSize::X8 => {
            format!("{}N", quarter * 2 + u8::from(group.nibble) + 1)
        }
        ExecutionSize::X16 if quarter % 2 == 0 => format!("{}H", quarter / 2 + 1),
        ExecutionSize::X32 if quarter == 0 => String::new(),
        _ => format!("{}Q", quarter + 1),
    });
    option(if instruction.compacted { "compacted" } else { "" });
    option(instruction.thread.name());
    option(if instruction.accumulator_write { "AccWrEnable" } else { "" });
    option(if instruction.message().is_some_and(|message| message.end_of_thread) { "EOT" } else { "" });
    line.put(" }");
}
