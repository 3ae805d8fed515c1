//! The text of vertex programs.

use super::{line, masked, operand};
use crate::isa::vertex::{BranchFields, Part, ScaOp, Slot, Source, SourceKind, Unit, decode};
use crate::isa::{Chip, LETTERS, Mask};

use std::collections::BTreeMap;

/// The name of an output. The numbers of colours differ between the chips.
fn output(number: u8, chip: Chip) -> String {
    let colours = if chip == Chip::Nv30 { ["BFC0", "BFC1", "COL0", "COL1"] } else { ["COL0", "COL1", "BFC0", "BFC1"] };
    let texture = if chip == Chip::Nv30 { 8 } else { 7 };
    match number {
        0 => "HPOS".to_owned(),
        1..=4 => colours[usize::from(number) - 1].to_owned(),
        5 => "FOGC".to_owned(),
        6 => "PSZ".to_owned(),
        17..=22 if chip == Chip::Nv30 => format!("CLP{}", number - 17),
        _ if number >= texture => format!("TEX{}", number - texture),
        _ => number.to_string(),
    }
}

/// The labels of branch targets, by slot.
type Labels = BTreeMap<u32, String>;

/// The parts of a line.
struct Line {
    name: String,
    operands: Vec<String>,
    notes: Vec<String>,
}

struct Printer<'a> {
    slot: &'a Slot,
    chip: Chip,
    labels: &'a Labels,
}

/// Returns the text of a program.
pub fn vertex(words: &[[u32; 4]], chip: Chip) -> String {
    let slots: Vec<_> = words.iter().map(|words| decode(words, chip)).collect();
    let targets = slots.iter().flatten().filter_map(|slot| Some((slot.branch?.target.into(), String::new())));
    let mut labels: Labels = targets.collect();
    for (number, label) in labels.values_mut().enumerate() {
        *label = format!("BB{}", number + 1);
    }
    let version = if chip == Chip::Nv30 { 2 } else { 3 };
    let mut text = format!("!!ARBvp1.0\nOPTION NV_vertex_program{version};\n");
    for ((at, slot), words) in (0..).zip(&slots).zip(words) {
        if let Some(label) = labels.get(&at) {
            text += &format!("{label}:\n");
        }
        match slot {
            Ok(slot) => {
                let printer = Printer { slot, chip, labels: &labels };
                let is_last = at as usize + 1 == slots.len();
                text += &printer.lines(slot.end && !is_last);
            }
            Err(error) => text += &format!("# {words:08x?}: {error}\n"),
        }
    }
    for (slot, label) in labels.range(slots.len() as u32..) {
        text += &format!("{label}: # slot {slot}\n");
    }
    text + "END\n"
}

impl Printer<'_> {
    /// The lines of a slot.
    fn lines(&self, ends: bool) -> String {
        let slot = self.slot;
        let mut lines = Vec::new();
        if let Some(part) = slot.vec {
            let row = part.op.row();
            let mut operands = self.operands(row.sources, false);
            if part.op.reads_address() {
                operands.push(format!("A{}", self.register()));
            }
            if let Some(unit) = slot.texture {
                operands.extend([format!("texture[{unit}]"), "2D".to_owned()]);
            }
            let registers = if part.op.writes_address() { "A" } else { "R" };
            lines.extend(self.writes(row.name, part, Unit::Vec, registers, &operands));
        }
        if let Some(part) = slot.sca {
            let row = part.op.row();
            if row.sources == 0 && part.op != ScaOp::Nop {
                let operands = vec![self.flow(part.op, row.branch)];
                lines.push(Line { name: row.name.to_owned(), operands, notes: Vec::new() });
            } else {
                let operands = self.operands(row.sources, row.scalar);
                lines.extend(self.writes(row.name, part, Unit::Sca, "R", &operands));
            }
        }
        if lines.is_empty() {
            lines.push(Line { name: "NOP".to_owned(), operands: Vec::new(), notes: Vec::new() });
        }
        if ends {
            lines[0].notes.push("end".to_owned());
        }
        for paired in &mut lines[1..] {
            paired.notes.push("paired".to_owned());
        }
        lines.iter().map(|each| line(&each.name, &each.operands, &each.notes)).collect()
    }

    /// Returns a line for each destination of an operation.
    fn writes<O>(&self, name: &str, part: Part<O>, unit: Unit, registers: &str, operands: &[String]) -> Vec<Line> {
        let slot = self.slot;
        let update = match slot.writes_condition.filter(|write| write.unit == unit) {
            Some(write) if write.register == 0 => "C",
            Some(_) => "C1",
            None => "",
        };
        let output = slot.output.filter(|_| !part.output_mask.is_empty());
        let mut destinations = Vec::new();
        if let Some(number) = part.register {
            destinations.push((format!("{registers}{number}"), part.mask));
        }
        if let Some(number) = output {
            let name = output_name(number, self.chip, slot.indexes_output.then(|| self.address()));
            destinations.push((name, part.output_mask));
        }
        if destinations.is_empty() {
            destinations.push(("RC".to_owned(), part.mask));
        }
        let saturate = if slot.saturate { "_SAT" } else { "" };
        let predicate = slot.predicate.map_or_else(String::new, |predicate| predicate.to_string());
        let line = |(at, (register, mask)): (usize, (String, Mask))| {
            let mut notes = Vec::new();
            let destination = masked(&register, mask, &mut notes) + &predicate;
            let update = if at == 0 { update } else { "" };
            let operands = std::iter::once(destination).chain(operands.iter().cloned()).collect();
            Line { name: format!("{name}{update}{saturate}"), operands, notes }
        };
        destinations.into_iter().enumerate().map(line).collect()
    }

    /// The operands with a bit in `reads`. Scalar operations name the first component.
    fn operands(&self, reads: u8, is_scalar: bool) -> Vec<String> {
        let used = (0..3).filter(|at| reads >> at & 1 != 0);
        used.filter_map(|at| self.slot.sources[at]).map(|source| self.source(source, is_scalar)).collect()
    }

    fn source(&self, source: Source, is_scalar: bool) -> String {
        let slot = self.slot;
        let indexed = |file: &str, number: u16, is_indexed: bool| {
            if is_indexed { format!("{file}[{} + {number}]", self.address()) } else { format!("{file}[{number}]") }
        };
        let register = match source.kind {
            SourceKind::Temporary(number) => format!("R{number}"),
            SourceKind::Input => indexed("v", slot.input.unwrap_or(0).into(), slot.indexes_input),
            SourceKind::Constant => indexed("c", slot.constant.unwrap_or(0), slot.indexes_constant),
        };
        operand(&register, source.swizzle, source.abs, source.negate, is_scalar)
    }

    /// The address component of the slot.
    fn address(&self) -> String {
        let component = self.slot.address.map_or(0, |address| address.component & 3);
        format!("A{}.{}", self.register(), LETTERS[usize::from(component)])
    }

    fn register(&self) -> u8 {
        self.slot.address.map_or(0, |address| address.register)
    }

    /// The operand of a branch, call or stack operation.
    fn flow(&self, op: ScaOp, fields: BranchFields) -> String {
        let slot = self.slot;
        let predicate = slot.predicate.map_or_else(String::new, |predicate| predicate.to_string());
        let label = slot.branch.and_then(|branch| self.labels.get(&branch.target.into()));
        let label = label.map_or("", String::as_str);
        match fields {
            BranchFields::Target => format!("{label}{predicate}"),
            BranchFields::Boolean => {
                let boolean = slot.branch.and_then(|branch| branch.boolean).unwrap_or_default();
                let not = if boolean.taken_if { "" } else { "!" };
                format!("{label}{predicate}, {not}b[{}]", boolean.number)
            }
            BranchFields::None if op == ScaOp::BraA => format!("[{}]{predicate}", self.address()),
            BranchFields::None if op == ScaOp::Ret => predicate,
            BranchFields::None => format!("A{}{predicate}", self.register()),
        }
    }
}

fn output_name(number: u8, chip: Chip, index: Option<String>) -> String {
    match index {
        Some(address) => format!("o[{address} + {}]", output(number, chip)),
        None => format!("o[{}]", output(number, chip)),
    }
}
