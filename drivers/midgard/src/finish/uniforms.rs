//! Maps rows of uniform buffers to registers. Loads replace the others.

use std::collections::HashMap;

use tgsi_vec4::Flow;
use tgsi_vec4::simple::{Destination, File, Instruction, SimpleMachine, Source};

use super::is_uniform;
use crate::machine::{Machine, Op, Operation, Selected};
use crate::program::UniformRow;
use crate::select::uniform_load;

/// Maps up to `count` rows, those with most uses first. Returns them, by the number that operands have afterwards.
pub(super) fn map_uniforms(selected: &mut Selected, count: usize) -> Vec<UniformRow> {
    let mut uses: HashMap<i32, u32> = HashMap::new();
    for instruction in selected.program.instructions() {
        for source in instruction.sources.iter().filter(|source| is_uniform(source)) {
            *uses.entry(source.index).or_default() += 1;
        }
    }
    let mut rows: Vec<i32> = uses.keys().copied().collect();
    rows.sort_unstable_by_key(|row| (std::cmp::Reverse(uses[row]), *row));
    let registers: HashMap<i32, i32> =
        rows.iter().take(count).zip(0..).map(|(&row, register)| (row, register)).collect();
    let row_of = |number: i32| selected.uniforms.get(number as usize).copied();
    let mapped = rows.iter().take(count).filter_map(|&row| row_of(row)).collect();

    // The temporaries of rows that the block has loaded.
    let mut loaded: HashMap<i32, i32> = HashMap::new();
    let instructions = selected.program.take_instructions();
    for mut instruction in instructions {
        for number in 0..instruction.sources.len() {
            let source = instruction.sources[number];
            if !is_uniform(&source) {
                continue;
            }
            if let Some(&register) = registers.get(&source.index) {
                instruction.sources[number].index = register;
                continue;
            }
            let temp = match loaded.get(&source.index) {
                Some(&temp) => temp,
                None => {
                    let temp = selected.program.new_temp() as i32;
                    let row = selected.uniforms.get(source.index as usize).copied();
                    let UniformRow { buffer, row } = row.unwrap_or(UniformRow { buffer: 0, row: 0 });
                    selected.operations.push(Operation::LoadStore(uniform_load(buffer, (row * 16) as i32)));
                    let operation = Source::new(File::Input, (selected.operations.len() - 1) as i32);
                    let to = Destination::new(File::Temporary, temp, 15);
                    selected.program.push(Instruction::new(Op::Load, Some(to), [operation]));
                    loaded.insert(source.index, temp);
                    temp
                }
            };
            instruction.sources[number] = Source { file: File::Temporary, index: temp, ..source };
        }
        let flow = Machine::info(instruction.op).flow;
        selected.program.push(instruction);
        // A load is in the block that uses it.
        if matches!(
            flow,
            Some(Flow::If | Flow::Else | Flow::EndIf | Flow::Loop | Flow::EndLoop | Flow::Break | Flow::Continue)
        ) {
            loaded.clear();
        }
    }
    tgsi_vec4::dead_code::remove_dead_code(&mut selected.program);
    mapped
}
