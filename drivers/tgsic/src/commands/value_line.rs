//! Formats the inputs of a run as the left side of a fixture's `; value:` line, with all words in hexadecimal.

use std::fmt::Write;

use tgsi::Shader;
use tgsi::tables::{File, Opcode, Processor};
use tgsi_environment::{Inputs, LaneRegisters};

/// Writes the inputs of a shader, without zeros at the end of a list and registers of zeros, which are the default.
pub fn of_inputs(shader: &Shader, inputs: &Inputs) -> String {
    let mut line = String::from("; value:");
    let lanes = if shader.processor == Processor::Fragment { 4 } else { 1 };
    if inputs.lanes != lanes {
        let _ = write!(line, " lanes={}", inputs.lanes);
    }
    if inputs.helpers.contains(&true) {
        let helpers = inputs.helpers.iter().enumerate().filter(|(_, is_helper)| **is_helper);
        let helpers: Vec<String> = helpers.map(|(lane, _)| lane.to_string()).collect();
        let _ = write!(line, " helpers={{{}}}", helpers.join(" "));
    }
    if shader.declarations.iter().any(|d| d.file == File::Memory) {
        let _ = write!(line, " memory={}", inputs.shared_size);
    }
    by_lane(&mut line, "IN", &inputs.inputs);
    for (vertex, registers) in inputs.vertices.iter().enumerate() {
        for (register, words) in registers.iter().enumerate() {
            list(&mut line, &format!("IN[{vertex}][{register}]"), words);
        }
    }
    for (value, components) in &inputs.system_values {
        let components: Vec<String> = components.iter().map(|lanes| component(lanes)).collect();
        let _ = write!(line, " SV[{}]=({})", value.name(), components.join(" "));
    }
    for (buffer, words) in inputs.constants.iter().enumerate() {
        list(&mut line, &format!("CONST[{buffer}][0]"), words);
    }
    for (buffer, bytes) in inputs.buffers.iter().enumerate() {
        // The length of a buffer decides which accesses are out of bounds, so its zeros are kept.
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let _ = write!(line, " BUFFER[{buffer}]=({})", hexadecimal(words.iter()));
    }
    for (buffer, counters) in inputs.counters.iter().enumerate() {
        let _ = write!(line, " HWATOMIC[{buffer}]=({})", hexadecimal(counters.iter()));
    }
    if shader.instructions.iter().any(|i| i.opcode == Opcode::Fbfetch) {
        by_lane(&mut line, "FB", &inputs.framebuffer);
    }
    line + " ->\n"
}

/// Writes registers that have a word for each lane.
fn by_lane(line: &mut String, name: &str, registers: &LaneRegisters) {
    for register in 0..registers.len() {
        let lanes = [0, 1, 2, 3].map(|component| registers.component(register, component));
        if lanes.iter().any(|lanes| lanes.iter().any(|&word| word != 0)) {
            let _ = write!(line, " {name}[{register}]=({})", lanes.map(component).join(" "));
        }
    }
}

/// Formats a component: one word if it is the same in all lanes.
fn component(lanes: &[u32]) -> String {
    match lanes {
        [first, rest @ ..] if rest.iter().all(|word| word == first) => format!("{first:#x}"),
        lanes => format!("{{{}}}", hexadecimal(lanes.iter())),
    }
}

/// Writes a list of words that is the same for all lanes.
fn list(line: &mut String, name: &str, words: &[u32]) {
    let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
    if used > 0 {
        let _ = write!(line, " {name}=({})", hexadecimal(words[..used].iter()));
    }
}

fn hexadecimal<'w>(words: impl Iterator<Item = &'w u32>) -> String {
    words.map(|word| format!("{word:#x}")).collect::<Vec<_>>().join(" ")
}
