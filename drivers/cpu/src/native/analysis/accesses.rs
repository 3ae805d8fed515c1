//! The lane vectors that operations read and write.

use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::run::Program;
use tgsi_ir::run::native::{Copy, Intrinsic, Op, Span, Value};

/// A lane vector of values, or, numbered after these, of registers.
pub(in crate::native) type LaneVector = u32;

/// Returns the number of a lane vector of a file.
pub(in crate::native) fn lane_vector_of(program: &Program, span: Span) -> LaneVector {
    if span.register { program.num_value_vectors() + span.vector } else { span.vector }
}

/// Returns for each lane vector of registers whether it stays in memory.
pub(in crate::native) fn vectors_in_memory(program: &Program) -> Vec<bool> {
    let mut in_memory = vec![false; program.num_register_vectors() as usize];
    let indirect = |op: IntrinsicOp| matches!(op, IntrinsicOp::LoadRegIndirect | IntrinsicOp::StoreRegIndirect);
    for intrinsic in program.intrinsics().iter().filter(|intrinsic| indirect(intrinsic.op)) {
        let register = program.registers()[intrinsic.extra as usize];
        let vectors = register.vector as usize..(register.vector + register.elements * register.stride()) as usize;
        if let Some(vectors) = in_memory.get_mut(vectors) {
            vectors.fill(true);
        }
    }
    in_memory
}

/// The access of an operation to a lane vector.
pub(in crate::native) enum VectorAccess {
    Read(LaneVector),
    /// Writes the lane vector in the active lanes; `masked` if it must keep the others.
    Write {
        vector: LaneVector,
        masked: bool,
    },
}

fn read_value(value: Value, visit: &mut dyn FnMut(VectorAccess)) {
    (value.vector..value.vector + value.vectors()).for_each(|vector| visit(VectorAccess::Read(vector)));
}

fn write_value(value: Value, visit: &mut dyn FnMut(VectorAccess)) {
    (value.vector..value.vector + value.vectors())
        .for_each(|vector| visit(VectorAccess::Write { vector, masked: false }));
}

/// Calls `visit` for the lane vectors of an operation, reads first. Arguments passed by other functions are not
/// visited: programs with calls have no regions in the called functions.
pub(in crate::native) fn visit_accesses(program: &Program, op: Op, visit: &mut dyn FnMut(VectorAccess)) {
    match op {
        Op::Alu(number) => {
            let alu = &program.alus()[number as usize];
            for source in 0..usize::from(alu.num_sources) {
                let high = u32::from(program.alu_source_high(alu, source));
                for &vector in program.alu_source_vectors(alu, source) {
                    visit(VectorAccess::Read(vector));
                    if high != 0 {
                        visit(VectorAccess::Read(vector + high));
                    }
                }
            }
            write_value(alu.dest, visit);
        }
        Op::Copies { start, count } => {
            let copies = &program.copies()[start as usize..(start + count) as usize];
            let vectors = |span: Span, copy: &Copy| {
                let first = lane_vector_of(program, span);
                first..first + copy.vectors
            };
            for copy in copies {
                vectors(copy.source, copy).for_each(|vector| visit(VectorAccess::Read(vector)));
            }
            for copy in copies {
                vectors(copy.dest, copy).for_each(|vector| visit(VectorAccess::Write { vector, masked: true }));
            }
        }
        Op::Intrinsic(number) => {
            let intrinsic = &program.intrinsics()[number as usize];
            for &source in program.sources_of(intrinsic) {
                read_value(source, visit);
            }
            let register = || {
                let register = program.registers()[intrinsic.extra as usize];
                let first = program.num_value_vectors() + register.vector;
                (register, first)
            };
            match intrinsic.op {
                IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect => {
                    let (register, first) = register();
                    (first..first + register.elements * register.stride()).for_each(|p| visit(VectorAccess::Read(p)));
                }
                IntrinsicOp::StoreReg => {
                    let (register, first) = register();
                    if let Some(element) = register.element(intrinsic.base as u32) {
                        let first = first - register.vector + element.vector;
                        for (_, vector) in written_vectors(program, intrinsic) {
                            visit(VectorAccess::Write { vector: first + vector, masked: true });
                        }
                    }
                }
                IntrinsicOp::StoreRegIndirect => {
                    let (register, first) = register();
                    for vector in first..first + register.elements * register.stride() {
                        visit(VectorAccess::Write { vector, masked: true });
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

/// Returns the lane vectors that a store to a register writes: the lane vector of the value, and the lane vector of the
/// element for it.
pub(in crate::native) fn written_vectors(
    program: &Program,
    intrinsic: &Intrinsic,
) -> impl Iterator<Item = (LaneVector, u32)> {
    let value = program.sources_of(intrinsic)[0];
    let register = program.registers()[intrinsic.extra as usize];
    let (of_value, of_element) = (u32::from(value.components), u32::from(register.components));
    let mask = intrinsic.write_mask;
    let components = (0..of_value.min(of_element)).filter(move |component| mask >> component & 1 != 0);
    let halves = if value.bits == 64 { 2 } else { 1 };
    components.flat_map(move |component| {
        (0..halves).map(move |half| (value.vector + component + half * of_value, component + half * of_element))
    })
}

/// Returns for each lane vector how many operations of the program write it, at most 2.
pub(in crate::native) fn writes(program: &Program) -> Vec<u8> {
    let mut writes = vec![0u8; (program.num_value_vectors() + program.num_register_vectors()) as usize];
    for &op in program.ops() {
        visit_accesses(program, op, &mut |access| {
            if let VectorAccess::Write { vector, .. } = access {
                let count = &mut writes[vector as usize];
                *count = (*count + 1).min(2);
            }
        });
    }
    writes
}
