//! Loop-invariant code motion for a stretch: operations that depend only on constants and uniforms have the same result
//! in all lanes of all quads. They are executed once, before the loop over the quads, even if they are in an `If` or a
//! loop of the shader: they have no side effects, and reads are checked.
//!
//! Cranelift hoists operations that it knows to be pure. This adds calls, and loads with dynamic indices.

use std::ops::Range;

use rustc_hash::FxHashSet;
use tgsi_ir::run::program::{Op, Program, Value};

use super::context::Memory;
use super::emit::Emitter;
use super::stretches::{Mention, Plane, Stretch, mentions};
use super::{gathers, uniforms};

/// Returns for each plane how many operations of the program write it, at most 2.
pub(super) fn writes(program: &Program) -> Vec<u8> {
    let mut writes = vec![0u8; (program.num_value_planes() + program.num_register_planes()) as usize];
    for &op in program.ops() {
        mentions(program, op, &mut |mention| {
            if let Mention::Write { plane, .. } = mention {
                let count = &mut writes[plane as usize];
                *count = (*count + 1).min(2);
            }
        });
    }
    writes
}

/// Returns the invariant operations of a range, given the counts of [`writes`], and which planes are constant. Each is
/// the only one to write its planes, with the same words in the whole run, so that inactive lanes may have them as
/// well.
pub(super) fn find(program: &Program, writes: &[u8], constant: &[bool], range: Range<u32>) -> FxHashSet<u32> {
    let mut planes: FxHashSet<Plane> = FxHashSet::default();
    let mut found = FxHashSet::default();
    for at in range {
        let (is_candidate, dest) = match program.ops()[at as usize] {
            Op::Alu(number) => (true, program.alus()[number as usize].dest),
            Op::Intrinsic(number) => {
                let intrinsic = &program.intrinsics()[number as usize];
                let place = uniforms::place(program, intrinsic).map(|place| place.memory);
                let memory = place.or_else(|| gathers::gather(program, intrinsic).map(|gather| gather.memory));
                // Memory that a run may write may differ when the stretch is executed again, for lanes that are still
                // active.
                let is_fixed = memory.is_some_and(|memory| matches!(memory, Memory::Constants(_) | Memory::Vertex(_)));
                (is_fixed, intrinsic.dest)
            }
            _ => continue,
        };
        let mut is_invariant = is_candidate && written(dest).all(|plane| writes[plane as usize] == 1);
        mentions(program, program.ops()[at as usize], &mut |mention| {
            if let Mention::Read(plane) = mention {
                is_invariant &= constant[plane as usize] || planes.contains(&plane);
            }
        });
        if is_invariant {
            found.insert(at);
            planes.extend(written(dest));
        }
    }
    found
}

fn written(value: Value) -> Range<Plane> {
    value.plane..value.plane + value.planes()
}

impl Emitter<'_, '_> {
    /// Emits the code before the loop over the quads: uniforms, operations that depend on them, and the addresses of
    /// other memory.
    pub(super) fn invariants(&mut self, stretch: &Stretch) {
        self.before_quads = true;
        let program = self.program;
        for at in stretch.range.clone() {
            match program.ops()[at as usize] {
                Op::Alu(number) if stretch.invariants.contains(&at) => self.alu(number),
                Op::Intrinsic(number) => {
                    let intrinsic = &program.intrinsics()[number as usize];
                    if stretch.invariants.contains(&at) {
                        self.load_memory(intrinsic);
                    } else if let Some(place) = uniforms::place(program, intrinsic) {
                        for word in 0..intrinsic.dest.planes() {
                            self.uniform(place, word);
                        }
                    } else if let Some(gather) = gathers::gather(program, intrinsic) {
                        self.memory(gather.memory);
                    }
                }
                _ => {}
            }
        }
        self.before_quads = false;
    }
}
