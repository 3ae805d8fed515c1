//! The order of instructions within blocks: few passes, lookups early.
//!
//! Instructions are chosen one by one among those with computed operands: first one that fits into the current
//! pass, otherwise the one with the longest way to the end of the block. The number of candidates is bounded, which
//! keeps the pass near linear.

use std::collections::BTreeSet;

use tgsi_vec4::access::SPECIAL_REGISTERS;
use tgsi_vec4::blocks::block_from;
use tgsi_vec4::{Reg, Traits};

use super::convert::opcode;
use super::cost::{After, Passes, Work};
use super::live::OUTPUTS;
use crate::isa::fragment::Precision;
use crate::machine::{Code, Program};
use tgsi_vec4::simple::File;

/// The candidates that are compared.
const WINDOW: usize = 32;

/// The instructions after a lookup that it takes to hide it.
const LOOKUP: u32 = 8;

/// The accesses of a component since its last write.
#[derive(Clone, Default)]
struct Accesses {
    write: Option<u32>,
    reads: Vec<u32>,
}

/// An instruction of a block.
#[derive(Clone, Default)]
struct Node {
    /// The instructions that depend on it, and whether they need its result.
    users: Vec<(u32, bool)>,
    /// Instructions before it that are not placed yet.
    waits: u32,
    /// The length of the way to the end.
    height: u32,
    /// The latest operand in the current pass, and the number of the pass.
    after: (u32, After),
}

/// Orders the instructions of all blocks. With `is_narrow`, candidates keep their order unless one fits into the
/// current pass, so that fewer values are live.
pub(super) fn schedule(program: &mut Program, is_narrow: bool) {
    let mut order: Vec<u32> = Vec::with_capacity(program.instructions().len());
    let mut rows: Vec<[Accesses; 4]> = vec![Default::default(); program.registers() + OUTPUTS];
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        let has_flow = program.accesses()[block.end - 1].traits.any(Traits::FLOW);
        let end = block.end - usize::from(has_flow);
        let mut nodes = nodes(program, block.start, end, &mut rows);
        place(program, block.start, &mut nodes, is_narrow, &mut order);
        if has_flow {
            order.push(end as u32);
        }
    }
    let mut old: Vec<_> = program.take_instructions().into_iter().map(Some).collect();
    for index in order {
        if let Some(instruction) = old[index as usize].take() {
            program.push(instruction);
        }
    }
}

/// The row of a register.
fn row(register: Reg, outputs_at: usize) -> Option<usize> {
    register
        .dense()
        .or_else(|| register.as_output().filter(|&output| output < OUTPUTS).map(|output| outputs_at + output))
}

/// The dependencies of a block.
fn nodes(program: &Program, start: usize, end: usize, rows: &mut [[Accesses; 4]]) -> Vec<Node> {
    let outputs_at = program.temps() + SPECIAL_REGISTERS as usize;
    let mut nodes = vec![Node::default(); end - start];
    let mut touched: Vec<usize> = Vec::new();
    let link = |nodes: &mut Vec<Node>, from: u32, to: u32, is_result: bool| {
        nodes[from as usize].users.push((to, is_result));
        nodes[to as usize].waits += 1;
    };
    for number in 0..nodes.len() as u32 {
        let access = &program.accesses()[start + number as usize];
        for read in access.reads() {
            let Some(row) = row(read.register(), outputs_at) else { continue };
            touched.push(row);
            for c in (0..4).filter(|c| read.mask() >> c & 1 != 0) {
                if let Some(write) = rows[row][c].write {
                    link(&mut nodes, write, number, true);
                }
                rows[row][c].reads.push(number);
            }
        }
        if let Some(written) = access.written()
            && let Some(row) = row(written.register(), outputs_at)
        {
            touched.push(row);
            for c in (0..4).filter(|c| written.mask() >> c & 1 != 0) {
                let Accesses { write, reads } = std::mem::take(&mut rows[row][c]);
                for read in reads.into_iter().filter(|&read| read != number) {
                    link(&mut nodes, read, number, false);
                }
                if let Some(write) = write {
                    link(&mut nodes, write, number, true);
                }
                rows[row][c].write = Some(number);
            }
        }
    }
    for row in touched {
        rows[row] = Default::default();
    }
    for number in (0..nodes.len()).rev() {
        let is_lookup = matches!(program.instructions()[start + number].op.code, Code::Sample(_));
        let weight = if is_lookup { LOOKUP } else { 1 };
        let users = nodes[number].users.iter();
        let height = users.map(|&(user, is_result)| nodes[user as usize].height + u32::from(is_result) * weight).max();
        nodes[number].height = height.unwrap_or(weight);
    }
    nodes
}

/// The demands of an instruction.
fn work(program: &Program, index: usize) -> Work {
    let instruction = &program.instructions()[index];
    let Some(op) = opcode(instruction.op.code) else { return Work::Free };
    let reads_input = instruction.sources.first().is_some_and(|source| source.file == File::Input);
    Work::of(op, instruction.mask().count_ones() as u8, Precision::Fp32, reads_input)
}

/// Places the instructions of a block.
fn place(program: &Program, start: usize, nodes: &mut [Node], is_narrow: bool, order: &mut Vec<u32>) {
    let key = |node: &Node, number: u32| (if is_narrow { 0 } else { u32::MAX - node.height }, number);
    let mut ready: BTreeSet<(u32, u32)> = BTreeSet::new();
    for (number, node) in nodes.iter().enumerate().filter(|(_, node)| node.waits == 0) {
        ready.insert(key(node, number as u32));
    }
    let mut passes = Passes::default();
    // The number of the current pass, from 1.
    let mut pass = 1;
    while let Some(&first) = ready.first() {
        let after = |node: &Node| if node.after.0 == pass { node.after.1 } else { After::Start };
        let fits = |&&(_, number): &&(u32, u32)| {
            let mut current = passes.current;
            let node = &nodes[number as usize];
            current.add(work(program, start + number as usize), after(node)).is_some()
        };
        let chosen = ready.iter().take(WINDOW).find(fits).copied().unwrap_or(first);
        ready.remove(&chosen);
        let number = chosen.1;
        let (place, is_first) = passes.add(work(program, start + number as usize), after(&nodes[number as usize]));
        pass += u32::from(is_first);
        order.push(start as u32 + number);
        for (user, is_result) in std::mem::take(&mut nodes[number as usize].users) {
            let node = &mut nodes[user as usize];
            node.waits -= 1;
            if is_result {
                let known = if node.after.0 == pass { node.after.1 } else { After::Start };
                node.after = (pass, known.max(place));
            }
            if node.waits == 0 {
                ready.insert(key(node, user));
            }
        }
    }
}
