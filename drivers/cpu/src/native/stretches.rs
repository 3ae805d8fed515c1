//! Selection of the operations that become machine code: stretches, and the planes that are inputs and outputs of each.
//!
//! A stretch is a maximal sequence of ALU instructions, copies, accesses to registers, loads from constants, buffers
//! and shared memory, derivatives, texture instructions, kills, and `If`s and loops that contain nothing else. A loop
//! is included only with all of its jumps, so no jump enters or leaves a stretch.

use std::ops::Range;

use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::program::{Copy, Intrinsic, Leave, Op, Program, Span, Value};

use rustc_hash::FxHashSet;

use super::{arrays, gathers, invariants, slots, uniforms};

/// Fewest operations that are worth a call.
const FEWEST: u32 = 2;

/// Most weight of a stretch's operations, see [`weights`]: some steps of compilation take more than linear time in the
/// size of the function. The smaller limits are tried if a function needs too much stack for its values.
const MOST: [u32; 3] = [4000, 1000, 250];

/// A plane of values, or, numbered after these, of registers.
pub(super) type Plane = u32;

/// A sequence of operations that becomes a function.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    /// Its operations.
    pub range: Range<u32>,
    /// Planes to load before it.
    pub inputs: Vec<Plane>,
    /// Planes to store after it.
    pub outputs: Vec<Plane>,
    /// Operations with the same result in all quads; see [`invariants`].
    pub invariants: FxHashSet<u32>,
}

/// Returns the number of a plane of a file.
pub(super) fn plane_of(program: &Program, span: Span) -> Plane {
    if span.register { program.num_value_planes() + span.plane } else { span.plane }
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
struct Open {
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
    let mut open: Vec<Open> = Vec::new();
    for (at, &op) in ops.iter().enumerate() {
        let good = match op {
            Op::Alu(_) | Op::Copies { .. } => true,
            Op::Intrinsic(number) => is_native(program, &program.intrinsics()[number as usize]),
            Op::If { .. } | Op::Loop => {
                open.push(Open { start: at, is_loop: matches!(op, Op::Loop), good: true, escapes: false });
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
            Op::Jump { kind: Leave::Break | Leave::Continue, .. } => {
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

/// Returns for each plane whether it stays in memory.
fn in_memory(program: &Program) -> impl Fn(Plane) -> bool + use<> {
    let in_memory = arrays::planes_in_memory(program);
    let values = program.num_value_planes();
    move |plane| plane.checked_sub(values).is_some_and(|register| in_memory[register as usize])
}

/// Returns for each operation the total weight of those before it: each written plane becomes a value, and another one
/// at the end of each construct around it.
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
        mentions(program, op, &mut |mention| {
            written += u32::from(matches!(mention, Mention::Write { plane, .. } if !stays(plane)));
        });
        sum = sum.saturating_add(written.max(1).saturating_mul(depth));
        weights.push(sum);
    }
    weights
}

/// Calls `make` with a maximum weight of stretches. If not all of them become code, tries smaller ones.
pub(super) fn in_parts<T, E>(mut make: impl FnMut(u32) -> Result<(T, bool), E>) -> Result<T, E> {
    let [first, rest @ ..] = MOST;
    let (mut made, mut is_complete) = make(first)?;
    for most in rest {
        if is_complete {
            break;
        }
        (made, is_complete) = make(most)?;
    }
    Ok(made)
}

/// Returns the stretches of a program with weight at most `most`, in order.
pub(super) fn find(program: &Program, keep_inactive: bool, most: u32) -> Vec<Stretch> {
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
        } else if at - start >= FEWEST {
            ranges.push(start..at);
        }
    }
    planes(program, ranges, keep_inactive)
}

/// Returns whether any of the stretches of a program reads or writes planes in memory.
pub(super) fn use_planes(program: &Program, stretches: &[Stretch]) -> bool {
    arrays::planes_in_memory(program).contains(&true)
        || stretches.iter().any(|stretch| !stretch.inputs.is_empty() || !stretch.outputs.is_empty())
}

/// The access of an operation to a plane.
pub(super) enum Mention {
    Read(Plane),
    /// Writes the plane in the active lanes; `masked` if it must keep the others.
    Write {
        plane: Plane,
        masked: bool,
    },
}

fn read_value(value: Value, visit: &mut dyn FnMut(Mention)) {
    (value.plane..value.plane + value.planes()).for_each(|plane| visit(Mention::Read(plane)));
}

fn write_value(value: Value, visit: &mut dyn FnMut(Mention)) {
    (value.plane..value.plane + value.planes()).for_each(|plane| visit(Mention::Write { plane, masked: false }));
}

/// Calls `visit` for the planes of an operation, reads first. Arguments passed by other functions are not visited:
/// programs with calls have no stretches in the called functions.
pub(super) fn mentions(program: &Program, op: Op, visit: &mut dyn FnMut(Mention)) {
    match op {
        Op::Alu(number) => {
            let alu = &program.alus()[number as usize];
            for source in 0..usize::from(alu.num_sources) {
                let high = u32::from(program.alu_source_high(alu, source));
                for &plane in program.alu_source_planes(alu, source) {
                    visit(Mention::Read(plane));
                    if high != 0 {
                        visit(Mention::Read(plane + high));
                    }
                }
            }
            write_value(alu.dest, visit);
        }
        Op::Copies { start, count } => {
            let copies = &program.copies()[start as usize..(start + count) as usize];
            let planes = |span: Span, copy: &Copy| {
                let first = plane_of(program, span);
                first..first + copy.planes
            };
            for copy in copies {
                planes(copy.source, copy).for_each(|plane| visit(Mention::Read(plane)));
            }
            for copy in copies {
                planes(copy.dest, copy).for_each(|plane| visit(Mention::Write { plane, masked: true }));
            }
        }
        Op::Intrinsic(number) => {
            let intrinsic = &program.intrinsics()[number as usize];
            for &source in program.sources_of(intrinsic) {
                read_value(source, visit);
            }
            let register = || {
                let register = program.registers()[intrinsic.extra as usize];
                let first = program.num_value_planes() + register.plane;
                (register, first)
            };
            match intrinsic.op {
                IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect => {
                    let (register, first) = register();
                    (first..first + register.elements * register.stride()).for_each(|p| visit(Mention::Read(p)));
                }
                IntrinsicOp::StoreReg => {
                    let (register, first) = register();
                    if let Some(element) = register.element(intrinsic.base as u32) {
                        let first = first - register.plane + element.plane;
                        for (_, plane) in written_planes(program, intrinsic) {
                            visit(Mention::Write { plane: first + plane, masked: true });
                        }
                    }
                }
                IntrinsicOp::StoreRegIndirect => {
                    let (register, first) = register();
                    for plane in first..first + register.elements * register.stride() {
                        visit(Mention::Write { plane, masked: true });
                    }
                }
                _ => {}
            }
            write_value(intrinsic.dest, visit);
        }
        Op::Texture(number) => {
            let texture = &program.textures()[number as usize];
            for &source in &texture.sources {
                read_value(source, visit);
            }
            write_value(texture.dest, visit);
        }
        Op::Deref(number) => {
            for value in program.deref_values(number) {
                read_value(value, visit);
            }
        }
        Op::Call(number) => {
            for &value in program.call_values(number) {
                read_value(value, visit);
            }
        }
        Op::If { condition, .. } => read_value(condition, visit),
        Op::Else { .. }
        | Op::EndIf { .. }
        | Op::Loop
        | Op::Continue
        | Op::EndLoop { .. }
        | Op::Jump { .. }
        | Op::Native { .. }
        | Op::End => {}
    }
}

/// Returns the planes that a store to a register writes: the plane of the value, and the plane of the element for it.
pub(super) fn written_planes(program: &Program, intrinsic: &Intrinsic) -> impl Iterator<Item = (Plane, u32)> {
    let value = program.sources_of(intrinsic)[0];
    let register = program.registers()[intrinsic.extra as usize];
    let (of_value, of_element) = (u32::from(value.components), u32::from(register.components));
    let mask = intrinsic.write_mask;
    let components = (0..of_value.min(of_element)).filter(move |component| mask >> component & 1 != 0);
    let halves = if value.bits == 64 { 2 } else { 1 };
    components.flat_map(move |component| {
        (0..halves).map(move |half| (value.plane + component + half * of_value, component + half * of_element))
    })
}

/// Used by no stretch; used by several, or by the interpreter.
const NOBODY: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;

/// Computes the inputs and outputs of stretches.
fn planes(program: &Program, ranges: Vec<Range<u32>>, keep_inactive: bool) -> Vec<Stretch> {
    let values = program.num_value_planes() as usize;
    let count = values + program.num_register_planes() as usize;
    // Planes that stay in memory are neither inputs nor outputs.
    let stays = in_memory(program);
    // The stretch that uses each plane.
    let mut user = vec![NOBODY; count];
    let mut next = 0;
    for (at, &op) in (0u32..).zip(program.ops()) {
        while ranges.get(next).is_some_and(|range| range.end <= at) {
            next += 1;
        }
        let here = ranges.get(next).filter(|range| range.contains(&at)).map_or(MANY, |_| next as u32);
        mentions(program, op, &mut |mention| {
            let (Mention::Read(plane) | Mention::Write { plane, .. }) = mention;
            if stays(plane) {
                return;
            }
            let user = &mut user[plane as usize];
            *user = if *user == NOBODY || *user == here { here } else { MANY };
        });
    }
    let mut constant = vec![false; count];
    for &(plane, _) in program.constants() {
        constant[plane as usize] = true;
    }
    let writes = invariants::writes(program);
    // By plane: one plus the number of the stretch that last had it as an input, or wrote it.
    let (mut is_input, mut is_written) = (vec![0u32; count], vec![0u32; count]);
    let mut stretches = Vec::with_capacity(ranges.len());
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
            mentions(program, op, &mut |mention| {
                let (plane, needs_old) = match mention {
                    Mention::Read(plane) => (plane, true),
                    Mention::Write { plane, masked } => {
                        let kept = keep_inactive
                            || plane >= program.num_value_planes()
                            || program.kept().get(plane as usize).copied().unwrap_or(true);
                        // A masked copy at the top level may be one side of a phi outside of the stretch.
                        (plane, (kept && !found.contains(&at)) || (masked && depth == 0))
                    }
                };
                if stays(plane) {
                    return;
                }
                let place = plane as usize;
                if needs_old && !constant[place] && is_input[place] != number && is_written[place] != number {
                    is_input[place] = number;
                    inputs.push(plane);
                }
                if matches!(mention, Mention::Write { .. }) && is_written[place] != number {
                    is_written[place] = number;
                    written.push(plane);
                }
            });
        }
        let outputs =
            written.into_iter().filter(|&p| user[p as usize] == MANY || is_input[p as usize] == number).collect();
        stretches.push(Stretch { range, inputs, outputs, invariants: found });
    }
    stretches
}
