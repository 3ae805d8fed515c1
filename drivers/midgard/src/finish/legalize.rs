//! Instructions that exist: one component for operations of scalar units, four words of constants, immediates second.

use std::collections::{HashMap, HashSet};

use tgsi_vec4::simple::{Destination, File, Instruction, Results, SimpleMachine, Source};

use crate::isa::alu::Property;
use crate::machine::{Machine, MachineInstruction, MachineProgram, Op, texel_register};
use crate::schedule::{Embedded, channels, is_scalar_only};

/// Legalizes all instructions.
pub(super) fn legalize(program: &mut MachineProgram) {
    let is_read = read_temps(program);
    let instructions = program.take_instructions();
    program.reserve(instructions.len());
    for mut instruction in instructions {
        exchange(&mut instruction);
        // A result without uses would share its register with any other.
        let is_unused = |to: &Destination| to.file == File::Temporary && !is_read.contains(&to.index);
        if instruction.op == Op::Atomic && instruction.destination.as_ref().is_some_and(is_unused) {
            instruction.destination = None;
        }
        copy_constants(program, &mut instruction);
        if is_scalar_only(&instruction) && instruction.mask().count_ones() > 1 {
            split(program, &instruction);
        } else {
            program.push(instruction);
        }
    }
}

/// Copies results of textures that are read after a write-out, which overwrites r0 and r1: on some chips these
/// registers hold the results.
pub(super) fn keep_texels(program: &mut MachineProgram) {
    // For each register the instruction that writes its value, and whether a write-out follows.
    let mut values: [(Option<usize>, bool); 2] = [(None, false); 2];
    // For reads, the register and the instruction that writes the value.
    let mut reads: Vec<(usize, usize, usize)> = Vec::new();
    let mut kept: HashSet<usize> = HashSet::new();
    for (index, instruction) in program.instructions().iter().enumerate() {
        for (number, source) in instruction.sources.iter().enumerate() {
            let Some(register) = texel_register(source.file, source.index) else { continue };
            // The colour is written before depth and stencil value.
            let is_overwritten = number > 0 && matches!(instruction.op, Op::WriteOut { .. });
            if let (Some(write), is_late) = values[register] {
                reads.push((index, register, write));
                kept.extend((is_late || is_overwritten).then_some(write));
            }
        }
        if matches!(instruction.op, Op::WriteOut { .. }) {
            values.iter_mut().for_each(|value| value.1 = true);
        }
        if let Some(register) = instruction.destination.and_then(|to| texel_register(to.file, to.index)) {
            values[register] = (Some(index), false);
        }
    }
    if kept.is_empty() {
        return;
    }
    let mut reads = reads.into_iter().filter(|(.., write)| kept.contains(write)).peekable();
    let mut temps: HashMap<usize, i32> = HashMap::new();
    for (index, mut instruction) in program.take_instructions().into_iter().enumerate() {
        while let Some((_, register, write)) = reads.next_if(|read| read.0 == index) {
            let Some(&temp) = temps.get(&write) else { continue };
            for source in &mut instruction.sources {
                if texel_register(source.file, source.index) == Some(register) {
                    (source.file, source.index) = (File::Temporary, temp);
                }
            }
        }
        let written = instruction.destination.filter(|_| kept.contains(&index));
        program.push(instruction);
        if let Some(to) = written {
            let temp = program.new_temp() as i32;
            temps.insert(index, temp);
            let kept = Destination::new(File::Temporary, temp, to.mask);
            program.push(Instruction::new(Op::Mov, Some(kept), [Source::new(to.file, to.index)]));
        }
    }
}

/// The temporaries that an instruction reads.
fn read_temps(program: &MachineProgram) -> HashSet<i32> {
    let sources = program.instructions().iter().flat_map(|instruction| &instruction.sources);
    sources.filter(|source| source.file == File::Temporary).map(|source| source.index).collect()
}

/// Makes a constant the second operand of an operation that permits it.
fn exchange(instruction: &mut MachineInstruction) {
    let Op::Alu(op) = instruction.op else { return };
    let is_constant = |number: usize| instruction.sources.get(number).is_some_and(|s| s.file == File::Constant);
    if op.row().property == Property::Commutes && is_constant(0) && !is_constant(1) {
        instruction.sources.swap(0, 1);
    }
}

/// Copies constants, if there are more words than a bundle has.
fn copy_constants(program: &mut MachineProgram, instruction: &mut MachineInstruction) {
    for number in (0..instruction.sources.len()).rev() {
        let fits = Embedded::default().add(instruction, &program.constants, |source| channels(instruction, source));
        // The condition of a selection is copied in the same bundle.
        let is_condition = instruction.op == Op::Select && number == 0;
        let source = instruction.sources[number];
        if source.file == File::Constant && (!fits || is_condition) && instruction.op != Op::Mov {
            let temp = program.new_temp() as i32;
            let read = tgsi_vec4::access::swizzled(channels(instruction, number), source.swizzle);
            let to = Destination::new(File::Temporary, temp, read);
            program.push(Instruction::new(Op::Mov, Some(to), [Source::new(File::Constant, source.index)]));
            instruction.sources[number] = Source { file: File::Temporary, index: temp, ..source };
        }
    }
}

/// Splits an instruction into one for each component.
fn split(program: &mut MachineProgram, instruction: &MachineInstruction) {
    let Some(to) = instruction.destination else { return };
    let info = Machine::info(instruction.op);
    let components = (0..4).filter(|c| to.mask >> c & 1 != 0);
    // One component is computed, and the others are copies of it.
    if info.results == Results::Replicated {
        let first = to.mask.trailing_zeros() as u8 & 3;
        let temp = program.new_temp() as i32;
        let one = Destination::new(File::Temporary, temp, 1 << first);
        program.push(Instruction { destination: Some(one), ..instruction.clone() });
        let value = Source::new(File::Temporary, temp).swizzled([first; 4]);
        program.push(Instruction::new(Op::Mov, Some(to), [value]));
        return;
    }
    let is_read = |source: &Source| source.file == to.file && source.index == to.index;
    let overlaps = instruction.sources.iter().any(is_read);
    let temp = if overlaps { program.new_temp() as i32 } else { to.index };
    let file = if overlaps { File::Temporary } else { to.file };
    for c in components {
        let one = Destination { file, index: temp, mask: 1 << c, ..to };
        program.push(Instruction { destination: Some(one), ..instruction.clone() });
    }
    if overlaps {
        program.push(Instruction::new(Op::Mov, Some(to), [Source::new(File::Temporary, temp)]));
    }
}
