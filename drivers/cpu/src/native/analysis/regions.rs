//! Selection of the operations that become machine code: regions, and the lane vectors that are inputs and outputs of
//! each.
//!
//! A region is a maximal sequence of ALU instructions, copies, accesses to registers, loads from constants, buffers
//! and shared memory, derivatives, texture instructions, kills, and `If`s and loops that contain nothing else. A loop
//! is included only with all of its jumps, so no jump enters or leaves a region.

use std::ops::Range;

use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::Program;
use tgsi_ir::run::native::{Intrinsic, JumpTarget, Op};

use rustc_hash::FxHashSet;

use super::accesses::{LaneVector, VectorAccess, vectors_in_memory, visit_accesses, writes};
use super::{gathers, invariants, slots, uniforms};
use crate::native::limits::{MAX_WEIGHTS, MIN_OPERATIONS};

/// A sequence of operations that becomes a function.
#[derive(Clone, Debug)]
pub(in crate::native) struct Region {
    /// Its operations.
    pub range: Range<u32>,
    /// Lane vectors to load before it.
    pub inputs: Vec<LaneVector>,
    /// Lane vectors to store after it.
    pub outputs: Vec<LaneVector>,
    /// Operations with the same result in all quads; see [`invariants`].
    pub invariants: FxHashSet<u32>,
}

/// Returns whether code is generated for an intrinsic.
fn is_native(program: &Program, intrinsic: &Intrinsic) -> bool {
    use IntrinsicOp as I;
    match intrinsic.op {
        I::LoadReg | I::LoadRegIndirect => matches!(intrinsic.dest.bits, 64 | 32 | 1),
        I::StoreReg | I::StoreRegIndirect => {
            let value = program.sources_of(intrinsic)[0];
            let register = program.registers()[intrinsic.extra as usize];
            let saturates = intrinsic.index(IndexKind::LegacyFsat) != 0;
            match register.bits {
                64 => value.bits == 64 && !saturates,
                _ => matches!(value.bits, 32 | 1),
            }
        }
        I::Ddx | I::DdxFine | I::DdxCoarse | I::Ddy | I::DdyFine | I::DdyCoarse => intrinsic.dest.bits == 32,
        I::LoadInput | I::StoreOutput => slots::is_native(program, intrinsic),
        I::Terminate | I::Demote | I::TerminateIf | I::DemoteIf => true,
        I::LoadUniform | I::LoadUbo | I::LoadUboVec4 | I::LoadPerVertexInput | I::LoadSsbo | I::LoadShared => {
            uniforms::place(program, intrinsic).is_some() || gathers::gather(program, intrinsic).is_some()
        }
        _ => false,
    }
}

/// A construct that has not been closed yet.
struct OpenConstruct {
    start: usize,
    is_loop: bool,
    /// All operations inside are native.
    good: bool,
    /// A jump inside leaves it.
    escapes: bool,
}

/// Returns for each operation the end of the item that begins there, if all of it is native; else 0. An item is an
/// operation, or a construct with its contents.
fn items(program: &Program) -> Vec<u32> {
    let ops = program.ops();
    let mut ends = vec![0u32; ops.len()];
    let mut open: Vec<OpenConstruct> = Vec::new();
    for (at, &op) in ops.iter().enumerate() {
        let good = match op {
            Op::Alu(_) | Op::Copies { .. } => true,
            Op::Intrinsic(number) => is_native(program, &program.intrinsics()[number as usize]),
            Op::If { .. } | Op::Loop => {
                open.push(OpenConstruct { start: at, is_loop: matches!(op, Op::Loop), good: true, escapes: false });
                continue;
            }
            Op::Else { .. } | Op::Continue => continue,
            Op::EndIf { .. } | Op::EndLoop { .. } => {
                let Some(closed) = open.pop() else { continue };
                let escapes = closed.escapes && !closed.is_loop;
                if closed.good && !escapes {
                    ends[closed.start] = at as u32 + 1;
                }
                if let Some(outer) = open.last_mut() {
                    outer.good &= closed.good;
                    outer.escapes |= escapes;
                }
                continue;
            }
            Op::Jump { kind: JumpTarget::Break | JumpTarget::Continue, .. } => {
                if let Some(outer) = open.last_mut() {
                    outer.escapes = true;
                }
                continue;
            }
            Op::Texture(number) => program.textures()[number as usize].is_lowered(),
            Op::Jump { .. } | Op::Call(_) | Op::Deref(_) | Op::Native { .. } | Op::End => false,
        };
        if good {
            ends[at] = at as u32 + 1;
        } else if let Some(outer) = open.last_mut() {
            outer.good = false;
        }
    }
    ends
}

/// Returns for each lane vector whether it stays in memory.
fn in_memory(program: &Program) -> impl Fn(LaneVector) -> bool + use<> {
    let in_memory = vectors_in_memory(program);
    let values = program.num_value_vectors();
    move |vector| vector.checked_sub(values).is_some_and(|register| in_memory[register as usize])
}

/// Returns for each operation the total weight of those before it: each written lane vector becomes a value, and
/// another one at the end of each construct around it.
fn weights(program: &Program) -> Vec<u32> {
    let stays = in_memory(program);
    let (mut depth, mut sum) = (1u32, 0u32);
    let mut weights = Vec::with_capacity(program.ops().len() + 1);
    weights.push(0);
    for &op in program.ops() {
        match op {
            Op::If { .. } | Op::Loop => depth += 1,
            Op::EndIf { .. } | Op::EndLoop { .. } => depth -= 1,
            _ => {}
        }
        let mut written = 0u32;
        visit_accesses(program, op, &mut |access| {
            written += u32::from(matches!(access, VectorAccess::Write { vector, .. } if !stays(vector)));
        });
        sum = sum.saturating_add(written.max(1).saturating_mul(depth));
        weights.push(sum);
    }
    weights
}

/// Calls `make` with a maximum weight of regions. If not all of them become code, tries smaller ones.
pub(in crate::native) fn in_parts<T, E>(mut make: impl FnMut(u32) -> Result<(T, bool), E>) -> Result<T, E> {
    let [first, rest @ ..] = MAX_WEIGHTS;
    let (mut made, mut is_complete) = make(first)?;
    for most in rest {
        if is_complete {
            break;
        }
        (made, is_complete) = make(most)?;
    }
    Ok(made)
}

/// Returns the regions of a program with weight at most `most`, in order.
pub(in crate::native) fn find(program: &Program, keep_inactive: bool, most: u32) -> Vec<Region> {
    let ends = items(program);
    let weights = weights(program);
    let weight = |start: u32, end: u32| weights[end as usize] - weights[start as usize];
    let mut ranges: Vec<Range<u32>> = Vec::new();
    let mut at = 0u32;
    while let Some(&end) = ends.get(at as usize) {
        if end == 0 {
            at += 1;
            continue;
        }
        let start = at;
        at = end;
        while let Some(&end) = ends.get(at as usize)
            && end != 0
            && weight(start, end) <= most
        {
            at = end;
        }
        // If a single item is too heavy, a construct is entered; too heavy operations are rare.
        if weight(start, at) > most && at - start > 1 {
            at = start + 1;
        } else if at - start >= MIN_OPERATIONS {
            ranges.push(start..at);
        }
    }
    with_accesses(program, ranges, keep_inactive)
}

/// Returns whether any of the regions of a program reads or writes lane vectors in memory.
pub(in crate::native) fn use_lane_vectors(program: &Program, regions: &[Region]) -> bool {
    vectors_in_memory(program).contains(&true)
        || regions.iter().any(|region| !region.inputs.is_empty() || !region.outputs.is_empty())
}

/// The user of a lane vector.
#[derive(Clone, Copy, PartialEq, Eq)]
enum User {
    None,
    Region(usize),
    /// Several regions, or the interpreter.
    Several,
}

/// Creates the regions with these operations: computes their inputs and outputs.
fn with_accesses(program: &Program, ranges: Vec<Range<u32>>, keep_inactive: bool) -> Vec<Region> {
    let values = program.num_value_vectors() as usize;
    let count = values + program.num_register_vectors() as usize;
    // Lane vectors that stay in memory are neither inputs nor outputs.
    let stays = in_memory(program);
    // The region that uses each lane vector.
    let mut user = vec![User::None; count];
    let mut next = 0;
    for (at, &op) in (0u32..).zip(program.ops()) {
        while ranges.get(next).is_some_and(|range| range.end <= at) {
            next += 1;
        }
        let here = ranges.get(next).filter(|range| range.contains(&at)).map_or(User::Several, |_| User::Region(next));
        visit_accesses(program, op, &mut |access| {
            let (VectorAccess::Read(vector) | VectorAccess::Write { vector, .. }) = access;
            if stays(vector) {
                return;
            }
            let user = &mut user[vector as usize];
            *user = if *user == User::None || *user == here { here } else { User::Several };
        });
    }
    let mut constant = vec![false; count];
    for &(vector, _) in program.constants() {
        constant[vector as usize] = true;
    }
    let writes = writes(program);
    // By lane vector: one plus the number of the region that last had it as an input, or wrote it.
    let (mut is_input, mut is_written) = (vec![0u32; count], vec![0u32; count]);
    let mut regions = Vec::with_capacity(ranges.len());
    for (number, range) in (1u32..).zip(ranges) {
        let (mut inputs, mut written) = (Vec::new(), Vec::new());
        let mut depth = 0u32;
        let found = if keep_inactive {
            FxHashSet::default()
        } else {
            invariants::find(program, &writes, &constant, range.clone())
        };
        for (at, &op) in range.clone().zip(&program.ops()[range.start as usize..range.end as usize]) {
            match op {
                Op::If { .. } | Op::Loop => depth += 1,
                Op::EndIf { .. } | Op::EndLoop { .. } => depth -= 1,
                _ => {}
            }
            visit_accesses(program, op, &mut |access| {
                let (vector, needs_old) = match access {
                    VectorAccess::Read(vector) => (vector, true),
                    VectorAccess::Write { vector, masked } => {
                        let kept = keep_inactive
                            || vector >= program.num_value_vectors()
                            || program.kept().get(vector as usize).copied().unwrap_or(true);
                        // A masked copy at the top level may be one side of a phi outside of the region.
                        (vector, (kept && !found.contains(&at)) || (masked && depth == 0))
                    }
                };
                if stays(vector) {
                    return;
                }
                let place = vector as usize;
                if needs_old && !constant[place] && is_input[place] != number && is_written[place] != number {
                    is_input[place] = number;
                    inputs.push(vector);
                }
                if matches!(access, VectorAccess::Write { .. }) && is_written[place] != number {
                    is_written[place] = number;
                    written.push(vector);
                }
            });
        }
        let outputs = written
            .into_iter()
            .filter(|&p| user[p as usize] == User::Several || is_input[p as usize] == number)
            .collect();
        regions.push(Region { range, inputs, outputs, invariants: found });
    }
    regions
}
