//! Compares liveness with the textbook algorithm: block by block to a fixpoint.

use tgsi_vec4::blocks::Block;
use tgsi_vec4::liveness::Liveness;
use tgsi_vec4::simple::{Destination, File, Source};
use tgsi_vec4::{Flow, RegisterAccess};

use super::generator::Random;
use super::machine::{Instruction, Op, Program, Toy};

const TEMPS: u64 = 6;

fn push(program: &mut Program, op: Op, random: &mut Random) {
    let is_add = op == Op::Add;
    let temp = |random: &mut Random| random.below(TEMPS) as i32;
    let dst = is_add.then(|| {
        let (index, mask) = (temp(random), random.below(15) as u8 + 1);
        Destination { file: File::Temporary, index, relative: None, mask }
    });
    let mut src = Vec::new();
    for _ in 0..if is_add { 2 } else { usize::from(op == Op::If) } {
        let swizzle = [0; 4].map(|_: u8| random.below(4) as u8);
        src.push(Source { swizzle, ..Source::new(File::Temporary, temp(random)) });
    }
    program.push(Instruction::new(op, dst, src));
}

fn list(program: &mut Program, random: &mut Random, depth: u32, in_loop: bool) {
    for _ in 0..random.below(5) {
        match random.below(8) {
            0 | 1 if depth < 5 => {
                push(program, Op::If, random);
                list(program, random, depth + 1, in_loop);
                if random.below(2) == 0 {
                    push(program, Op::Else, random);
                    list(program, random, depth + 1, in_loop);
                }
                push(program, Op::EndIf, random);
            }
            2 if depth < 5 => {
                push(program, Op::Loop, random);
                list(program, random, depth + 1, true);
                push(program, Op::If, random);
                push(program, Op::Break, random);
                push(program, Op::EndIf, random);
                list(program, random, depth + 1, true);
                push(program, Op::EndLoop, random);
            }
            3 if in_loop && random.below(3) == 0 => {
                let jump = if random.below(2) == 0 { Op::Break } else { Op::Continue };
                push(program, jump, random);
            }
            _ if random.below(3) != 0 => push(program, Op::Add, random),
            _ => {}
        }
    }
}

fn step(access: &RegisterAccess<Op>, live: &mut [u8]) {
    if let Some(written) = access.written() {
        live[written.dense().unwrap()] &= !written.mask();
    }
    for read in access.reads() {
        live[read.dense().unwrap()] |= read.mask();
    }
}

/// The registers live at the start and at the end of each block.
fn by_iteration(program: &Program, blocks: &[Block]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let none = vec![0u8; program.registers()];
    let (mut live_in, mut live_out) = (vec![none.clone(); blocks.len()], vec![none; blocks.len()]);
    let mut changed = true;
    while changed {
        changed = false;
        for (number, block) in blocks.iter().enumerate().rev() {
            for successor in block.successors() {
                for (out, &next) in live_out[number].iter_mut().zip(&live_in[successor]) {
                    *out |= next;
                }
            }
            let mut live = live_out[number].clone();
            program.accesses()[block.start..block.end].iter().rev().for_each(|access| step(access, &mut live));
            changed |= live != live_in[number];
            live_in[number] = live;
        }
    }
    (live_in, live_out)
}

/// Whether each block is reachable; the comparison is restricted to these.
fn reachable(blocks: &[Block]) -> Vec<bool> {
    let mut found = vec![false; blocks.len()];
    let mut work = vec![0];
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut found[block], true) {
            work.extend(blocks[block].successors());
        }
    }
    found
}

#[test]
fn a_walk_with_the_changes_knows_what_is_live() {
    let mut random = Random(1);
    let mut exact = 0;
    for round in 0..3000 {
        let mut program = Program::new(Toy, 0);
        program.set_num_temps(TEMPS as u32);
        for _ in 0..random.below(4) {
            list(&mut program, &mut random, 0, false);
        }
        let liveness = Liveness::of(&program);
        let (live_in, live_out) = by_iteration(&program, &liveness.blocks);
        let is_reachable = reachable(&liveness.blocks);
        // A register that is live after an endless loop may count as live in it.
        let ends_loop = |block: &Block| program.flow(block.end - 1) == Some(Flow::EndLoop);
        let last = liveness.blocks.len() - 1;
        let is_exact = (0..last).all(|b| !ends_loop(&liveness.blocks[b]) || is_reachable[b + 1]);
        exact += usize::from(is_exact);
        let is_right = |found: &[u8], expected: &[u8]| match is_exact {
            true => found == expected,
            false => found.iter().zip(expected).all(|(found, expected)| expected & !found == 0),
        };
        let mut live = vec![0u8; program.registers()];
        for (number, block) in liveness.blocks.iter().enumerate().rev() {
            for &(register, mask) in liveness.changes(number) {
                live[register as usize] = mask;
            }
            if is_reachable[number] {
                assert!(is_right(&live, &live_out[number]), "round {round}, end of block {number}");
            }
            program.accesses()[block.start..block.end].iter().rev().for_each(|access| step(access, &mut live));
            if is_reachable[number] {
                assert!(is_right(&live, &live_in[number]), "round {round}, start of block {number}");
            }
        }
        let mut at_start = vec![0u8; program.registers()];
        liveness.at_start(&program).iter().for_each(|&(register, mask)| at_start[register as usize] = mask);
        assert!(is_right(&at_start, &live_in[0]), "round {round}");
    }
    assert!(exact > 1000, "{exact}");
}
