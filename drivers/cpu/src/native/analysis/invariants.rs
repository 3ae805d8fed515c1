//! Loop-invariant code motion for a region: operations that depend only on constants and uniforms have the same result
//! in all lanes of all quads. They are executed once, before the loop over the quads, even if they are in an `If` or a
//! loop of the shader: they have no side effects, and reads are checked.
//!
//! Cranelift hoists operations that it knows to be pure. This adds calls, and loads with dynamic indices.

use std::ops::Range;

use rustc_hash::FxHashSet;
use tgsi_ir::run::Program;
use tgsi_ir::run::native::{Op, Value};

use super::accesses::{LaneVector, VectorAccess, visit_accesses};
use super::gathers;
use super::uniforms::{self, Memory};

/// Returns the invariant operations of a range, given the counts of [`writes`](super::accesses::writes), and which lane
/// vectors are constant. Each is the only one to write its lane vectors, with the same words in the whole run, so that
/// inactive lanes may have them as well.
pub(in crate::native) fn find(
    program: &Program,
    writes: &[u8],
    constant: &[bool],
    range: Range<u32>,
) -> FxHashSet<u32> {
    let mut vectors: FxHashSet<LaneVector> = FxHashSet::default();
    let mut found = FxHashSet::default();
    for at in range {
        let (is_candidate, dest) = match program.ops()[at as usize] {
            Op::Alu(number) => (true, program.alus()[number as usize].dest),
            Op::Intrinsic(number) => {
                let intrinsic = &program.intrinsics()[number as usize];
                let place = uniforms::place(program, intrinsic).map(|place| place.memory);
                let memory = place.or_else(|| gathers::gather(program, intrinsic).map(|gather| gather.memory));
                // Memory that a run may write may differ when the region is executed again, for lanes that are still
                // active.
                let is_fixed = memory.is_some_and(|memory| matches!(memory, Memory::Constants(_) | Memory::Vertex(_)));
                (is_fixed, intrinsic.dest)
            }
            _ => continue,
        };
        let mut is_invariant = is_candidate && written(dest).all(|vector| writes[vector as usize] == 1);
        visit_accesses(program, program.ops()[at as usize], &mut |access| {
            if let VectorAccess::Read(vector) = access {
                is_invariant &= constant[vector as usize] || vectors.contains(&vector);
            }
        });
        if is_invariant {
            found.insert(at);
            vectors.extend(written(dest));
        }
    }
    found
}

fn written(value: Value) -> Range<LaneVector> {
    value.vector..value.vector + value.vectors()
}
