//! The dependences between the instructions of a block.

use std::collections::HashMap;

use tgsi_vec4::access::RegisterAccess;
use tgsi_vec4::simple::File;

use crate::isa::load_store::{Class, LoadStoreOp};
use crate::machine::{MachineInstruction, Op, Operation, texel_register};

/// The reason why an instruction follows another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edge {
    /// The later one reads a result.
    Result,
    /// The later one is a selection or a branch on the result, or writes it out.
    Condition,
    /// The later one overwrites an operand.
    Operand,
    /// Both write the same components.
    Overwrite,
    /// The order of effects.
    Order,
}

/// An instruction of a block.
#[derive(Clone, Default, Debug)]
pub(super) struct Node {
    /// The instructions that follow, in ascending order.
    pub(super) successors: Vec<(u32, Edge)>,
    /// The instructions that precede, each once an edge.
    pub(super) predecessors: Vec<u32>,
}

/// The accesses to a component of a register so far.
#[derive(Default)]
struct Last {
    writer: Option<u32>,
    readers: Vec<u32>,
}

/// The accesses to memory, and other effects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    None,
    /// Memory is read.
    Reads,
    /// An effect that is in order with others.
    Ordered,
}

/// The effect of an instruction. Write-outs overwrite the results of textures if `aliases_texels`.
fn effect(instruction: &MachineInstruction, operations: &[Operation], aliases_texels: bool) -> Effect {
    let operation = instruction.sources.first().filter(|source| source.file == File::Input);
    let operation = operation.and_then(|source| operations.get(source.index as usize));
    match (instruction.op, operation) {
        (Op::Store, Some(Operation::LoadStore(store))) if store.op == LoadStoreOp::StVaryF32 => Effect::None,
        (Op::Store | Op::Atomic | Op::Discard | Op::WriteOut { .. } | Op::Barrier, _) => Effect::Ordered,
        (Op::Load, Some(Operation::LoadStore(load))) => match load.op.row().class {
            Class::Load | Class::Image | Class::TileBuffer => Effect::Reads,
            _ => Effect::None,
        },
        _ if aliases_texels
            && instruction.sources.iter().any(|source| texel_register(source.file, source.index).is_some()) =>
        {
            Effect::Reads
        }
        _ => Effect::None,
    }
}

/// The sources that only a condition, or a write-out, reads.
fn is_condition(op: Op, source: usize) -> bool {
    match op {
        Op::Select => source == 0,
        Op::If | Op::Discard | Op::WriteOut { .. } => true,
        _ => false,
    }
}

/// Returns the dependences of a block.
pub(super) fn graph(
    instructions: &[MachineInstruction],
    accesses: &[RegisterAccess<Op>],
    first_temp: u32,
    operations: &[Operation],
    aliases_texels: bool,
) -> Vec<Node> {
    let mut nodes = vec![Node::default(); instructions.len()];
    let mut last: HashMap<(usize, u8), Last> = HashMap::new();
    let mut last_effect: Option<u32> = None;
    let mut reads_since: Vec<u32> = Vec::new();
    for (number, (instruction, access)) in instructions.iter().zip(accesses).enumerate() {
        let number = number as u32;
        let mut edges: Vec<(u32, Edge)> = Vec::new();
        // Conditions are told from other operands by the sources.
        for (index, source) in instruction.sources.iter().enumerate() {
            let register = match source.file {
                File::Temporary => tgsi_vec4::Reg::numbered(source.index as u32, first_temp),
                File::Special => match tgsi_vec4::Reg::special(source.index as u32) {
                    Some(register) => register,
                    None => continue,
                },
                _ => continue,
            };
            let Some(row) = register.dense() else { continue };
            let mask = access.mask(index);
            let edge = if is_condition(instruction.op, index) { Edge::Condition } else { Edge::Result };
            for c in (0..4).filter(|c| mask >> c & 1 != 0) {
                let last = last.entry((row, c)).or_default();
                edges.extend(last.writer.map(|writer| (writer, edge)));
                if last.readers.last() != Some(&number) {
                    last.readers.push(number);
                }
            }
        }
        if let Some(written) = access.written()
            && let Some(row) = written.dense()
        {
            for c in (0..4).filter(|c| written.mask() >> c & 1 != 0) {
                let last = last.entry((row, c)).or_default();
                edges.extend(last.writer.map(|writer| (writer, Edge::Overwrite)));
                let readers = last.readers.iter().filter(|&&reader| reader != number);
                edges.extend(readers.map(|&reader| (reader, Edge::Operand)));
                last.readers.clear();
                last.writer = Some(number);
            }
        }
        match effect(instruction, operations, aliases_texels) {
            Effect::None => {}
            Effect::Reads => {
                edges.extend(last_effect.map(|effect| (effect, Edge::Order)));
                reads_since.push(number);
            }
            Effect::Ordered => {
                edges.extend(last_effect.map(|effect| (effect, Edge::Order)));
                edges.extend(reads_since.drain(..).map(|read| (read, Edge::Order)));
                last_effect = Some(number);
            }
        }
        edges.sort_unstable_by_key(|&(from, edge)| (from, edge as u8));
        edges.dedup();
        for (from, edge) in edges {
            if from != number {
                nodes[from as usize].successors.push((number, edge));
                nodes[number as usize].predecessors.push(from);
            }
        }
    }
    nodes
}
