//! The text of fragment programs.

use super::{line, masked, operand};
use crate::isa::fragment::{
    Clamp, Class, Flow, FragmentOp, Instruction, Precision, Read, Register, Scale, Source, SourceKind, decode,
};
use crate::isa::{Chip, Condition};

use std::collections::BTreeMap;

/// The target of a texture unit, which the state of the unit decides, not the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TextureTarget {
    /// One dimension.
    D1,
    /// Two dimensions.
    #[default]
    D2,
    /// Three dimensions.
    D3,
    /// A cube map.
    Cube,
    /// Two dimensions, with coordinates in texels.
    Rectangle,
}

impl TextureTarget {
    fn name(self) -> &'static str {
        match self {
            TextureTarget::D1 => "1D",
            TextureTarget::D2 => "2D",
            TextureTarget::D3 => "3D",
            TextureTarget::Cube => "CUBE",
            TextureTarget::Rectangle => "RECT",
        }
    }
}

/// Returns the text of a program. The texture units have these targets.
pub fn fragment(words: &[u32], chip: Chip, targets: &[TextureTarget; 16]) -> String {
    let option = if chip == Chip::Nv30 { "" } else { "2" };
    let mut text = format!("!!ARBfp1.0\nOPTION NV_fragment_program{option};\n");
    // The ends of constructs by slot, outer ones first.
    let mut ends: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    let add_end = |ends: &mut BTreeMap<u32, Vec<&str>>, slot, end| ends.entry(slot).or_default().push(end);
    let mut labels: BTreeMap<u32, String> = BTreeMap::new();
    let instructions = instructions(words, chip);
    for (_, instruction) in &instructions {
        if let Ok(Instruction { flow: Some(Flow::Call { target }), .. }) = instruction {
            labels.insert(*target, String::new());
        }
    }
    for (number, label) in labels.values_mut().enumerate() {
        *label = format!("BB{}", number + 1);
    }
    let slots = words.len() as u32 / 4;
    for (slot, instruction) in &instructions {
        while let Some(entry) = ends.first_entry().filter(|entry| entry.key() <= slot) {
            text.extend(entry.remove().into_iter().rev());
        }
        if let Some(label) = labels.get(slot) {
            text += &format!("{label}:\n");
        }
        let instruction = match instruction {
            Ok(instruction) => instruction,
            Err(comment) => {
                text += comment;
                continue;
            }
        };
        match instruction.flow {
            Some(Flow::If { otherwise, end }) => {
                add_end(&mut ends, end, "ENDIF;\n");
                if otherwise != end {
                    add_end(&mut ends, otherwise, "ELSE;\n");
                }
            }
            Some(Flow::Repeat { end, .. }) => {
                let is_loop = instruction.op == FragmentOp::Loop;
                add_end(&mut ends, end, if is_loop { "ENDLOOP;\n" } else { "ENDREP;\n" });
            }
            Some(Flow::Call { .. }) | None => {}
        }
        let is_last = slot + instruction.slots() == slots;
        text += &print(instruction, targets, &labels, instruction.end && !is_last);
    }
    text.extend(ends.into_values().flat_map(|ends| ends.into_iter().rev()));
    for (slot, label) in labels.range(slots..) {
        text += &format!("{label}: # slot {slot}\n");
    }
    text + "END\n"
}

/// Decodes all instructions, with their slots. Words that are not an instruction are a comment.
fn instructions(words: &[u32], chip: Chip) -> Vec<(u32, Result<Instruction, String>)> {
    let mut instructions = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let instruction = decode(&words[at..], chip);
        let end = at + instruction.map_or(4, |instruction| instruction.slots() as usize * 4);
        let comment = |error| format!("# {:08x?}: {error}\n", &words[at..end.min(words.len())]);
        instructions.push(((at / 4) as u32, instruction.map_err(comment)));
        at = end;
    }
    instructions
}

/// The name of an input.
fn input(instruction: &Instruction) -> String {
    if instruction.indexes_input {
        return format!("f[TEX[A0.x + {}]]", instruction.input_offset);
    }
    match instruction.input.unwrap_or(0) {
        0 => "f[WPOS]".to_owned(),
        1 => "f[COL0]".to_owned(),
        2 => "f[COL1]".to_owned(),
        3 => "f[FOGC]".to_owned(),
        14 => "f[FACE]".to_owned(),
        number => format!("f[TEX{}]", number - 4),
    }
}

/// A float of a constant; infinities and NaN are their bits.
fn float(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if !value.is_finite() {
        format!("{bits:#010x}")
    } else if value == 0.0 || (1e-4..1e9).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

fn source(instruction: &Instruction, source: Source, is_scalar: bool) -> String {
    let register = match source.kind {
        SourceKind::Register(register) => register_name(register),
        SourceKind::Input => input(instruction),
        SourceKind::Constant => {
            format!("{{{}}}", instruction.constant.unwrap_or_default().map(float).join(", "))
        }
    };
    operand(&register, source.swizzle, source.abs, source.negate, is_scalar)
}

fn register_name(register: Register) -> String {
    match register {
        Register::R(number) => format!("R{number}"),
        Register::H(number) => format!("H{number}"),
    }
}

/// Facts that the syntax lacks.
fn notes(instruction: &Instruction) -> Vec<String> {
    let mut notes = Vec::new();
    let class = instruction.op.row().class;
    match instruction.precision {
        Precision::Fx9 => notes.push("fx9".to_owned()),
        Precision::Fp16 if class == Class::Texture => notes.push("fp16".to_owned()),
        Precision::Fx12 if class == Class::Texture => notes.push("fx12".to_owned()),
        _ => {}
    }
    if instruction.scale != Scale::One {
        notes.push(format!("result * {}", instruction.scale.factor()));
    }
    if instruction.expands {
        notes.push("result * 2 - 1".to_owned());
    }
    for (number, source) in instruction.sources.iter().enumerate() {
        let range = match source.clamp {
            Clamp::None => continue,
            Clamp::Fp16 => "to fp16",
            Clamp::Two => "to [-2, 2)",
            Clamp::One => "to [-1, 1)",
            Clamp::Unit => "to [0, 1]",
            Clamp::Five => "by mode 5",
        };
        notes.push(format!("S{number} clamped {range}"));
    }
    if instruction.disables_perspective {
        notes.push("input / w".to_owned());
    }
    notes
}

/// The operands of a flow instruction.
fn flow(instruction: &Instruction, labels: &BTreeMap<u32, String>, notes: &mut Vec<String>) -> String {
    let is_always = instruction.predicate.condition == Condition::TR;
    let predicate =
        if is_always && instruction.op != FragmentOp::If { String::new() } else { instruction.predicate.to_string() };
    match instruction.flow {
        Some(Flow::Repeat { count, start, step, .. }) if instruction.op == FragmentOp::Loop => {
            format!("{{{count}, {start}, {step}}}")
        }
        Some(Flow::Repeat { count, start, step, .. }) => {
            if (start, step) != (count, count) {
                notes.push(format!("start {start}, step {step}"));
            }
            format!("{{{count}}}")
        }
        Some(Flow::Call { target }) => format!("{}{predicate}", labels.get(&target).map_or("", String::as_str)),
        Some(Flow::If { .. }) | None => predicate,
    }
}

/// The line of an instruction.
fn print(
    instruction: &Instruction,
    targets: &[TextureTarget; 16],
    labels: &BTreeMap<u32, String>,
    ends: bool,
) -> String {
    let row = instruction.op.row();
    let mut notes = notes(instruction);
    if ends {
        notes.push("end".to_owned());
    }
    if row.class == Class::Flow {
        let operand = flow(instruction, labels, &mut notes);
        return line(row.name, &[operand], &notes);
    }
    if row.class == Class::Control {
        let operands = if instruction.op == FragmentOp::Kil { vec![instruction.predicate.to_string()] } else { vec![] };
        return line(row.name, &operands, &notes);
    }
    let precision = match instruction.precision {
        _ if row.class != Class::Arithmetic => "",
        Precision::Fp32 => "R",
        Precision::Fp16 => "H",
        Precision::Fx12 | Precision::Fx9 => "X",
    };
    let update = match instruction.writes_condition {
        Some(0) => "C",
        Some(_) => "C1",
        None => "",
    };
    let saturate = if instruction.saturate { "_SAT" } else { "" };
    let none = if instruction.precision == Precision::Fp16 { "HC" } else { "RC" };
    let destination = instruction.destination.map_or_else(|| none.to_owned(), register_name);
    let mut destination = masked(&destination, instruction.mask, &mut notes);
    if instruction.predicate.condition != Condition::TR {
        destination += &instruction.predicate.to_string();
    }
    let mut operands = vec![destination];
    for (read, operand) in row.reads.into_iter().zip(instruction.sources) {
        match read {
            Read::No => {}
            Read::Vector => operands.push(source(instruction, operand, false)),
            Read::Scalar => operands.push(source(instruction, operand, true)),
        }
    }
    if let Some(unit) = instruction.texture {
        let target = targets[usize::from(unit & 15)].name();
        operands.extend([format!("TEX{unit}"), target.to_owned()]);
    }
    line(&format!("{}{precision}{update}{saturate}", row.name), &operands, &notes)
}
