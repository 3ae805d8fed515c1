//! Merges accesses to adjacent memory within each block.
//!
//! ```text
//! before:                                          after:
//!     %2 = @load_ssbo (%0, %1) (align_mul=16)          %2 = @load_ssbo (%0, %1) (align_mul=16)   // two components
//!     %3 = iadd %1, 4                                  %4 = fadd %2.x, %2.y
//!     %4 = @load_ssbo (%0, %3) (align_mul=4)
//!     %5 = fadd %2, %4
//! ```
//!
//! Handles accesses to uniform and storage buffers, shared and scratch memory. Two accesses that differ only by a
//! constant in their addresses are merged if
//!
//! 1. no access in between may conflict with the one that moves: a load moves up to the first of the two and must not
//!    pass a store that may write its memory; a store moves down to the second and must not pass an access that may
//!    read or write its memory. Two addresses may be equal unless they differ by a large enough constant, or belong to
//!    different resources, one of which is marked as restricted;
//! 2. there is no barrier, call or other effect on that memory in between, and for stores no end of the invocation;
//! 3. neither is volatile, atomic, or marked to be kept scalar;
//! 4. both are of words, and the result is a vector of at most four words, aligned to words and without gaps, which
//!    most targets support.
//!
//! Accesses past the end of memory may give other results than before. The value of a merged load is split again; where
//! two stores overlap, the later one wins.
//!
//! Addresses are sums of values times constants; the common part is a key, and accesses with equal keys are sorted by
//! their constants. Only neighbours are tried, at most 16 each, and with at most 128 accesses in between, so the cost
//! is dominated by sorting.

mod address;
mod merge;

use cranelift_entity::SecondaryMap;

use crate::body::{Body, InstData};
use crate::entities::{Block, Inst};
use crate::intrinsics::indices::{AccessFlags, MemorySemantics, Scope};
use crate::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use crate::shader::Shader;
use crate::variable::VariableModes;
use address::{Entry, Keys};
use merge::MergedAccess;

/// Maximum number of neighbours to try per access.
const MAX_PARTNERS: usize = 16;
/// Maximum number of accesses between two that are merged.
const MAX_BETWEEN: usize = 128;
/// Maximum number of rounds over a group: vectors double with each.
const MAX_ROUNDS: usize = 6;

/// Maximum size of an access in words.
const MAX_WORDS: i64 = 4;

/// All kinds of memory that the pass handles.
const MODES: VariableModes = VariableModes(
    VariableModes::MEM_UBO.0 | VariableModes::MEM_SSBO.0 | VariableModes::MEM_SHARED.0 | VariableModes::FUNCTION_TEMP.0,
);

/// See the [module](self).
pub fn opt_load_store_vectorize(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        let mut pass = Vectorizer::default();
        for block in body.blocks_vec() {
            pass.block(body, block);
        }
        progress |= pass.progress;
    }
    progress
}

/// A key, and whether the group contains stores, as a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct GroupKey(u32);

cranelift_entity::entity_impl!(GroupKey);

#[derive(Default)]
struct Vectorizer {
    keys: Keys,
    /// Accesses since the last barrier of their mode, in program order.
    entries: Vec<Entry>,
    groups: Vec<(GroupKey, Vec<usize>)>,
    /// Index in `groups` plus 1.
    group_of: SecondaryMap<GroupKey, u32>,
    progress: bool,
}

/// The accesses that must not move across an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fence {
    Nothing,
    /// Stores.
    Stores,
    /// All accesses to memory of these modes.
    All(VariableModes),
}

/// Memory that other invocations access.
const SHARED_WITH_OTHERS: VariableModes = VariableModes(VariableModes::MEM_SSBO.0 | VariableModes::MEM_SHARED.0);

fn fence(body: &Body, inst: Inst) -> Fence {
    match *body.inst(inst) {
        InstData::Call { .. } => Fence::All(MODES),
        InstData::Intrinsic { op, .. } => {
            let info = op.info();
            match op {
                IntrinsicOp::Barrier => {
                    let index = |kind| body.index(inst, kind);
                    let scope = index(IndexKind::MemoryScope);
                    let semantics = MemorySemantics::from_i32(index(IndexKind::MemorySemantics));
                    if scope <= Scope::Invocation as i32 || semantics == MemorySemantics::NONE {
                        return Fence::Nothing;
                    }
                    Fence::All(VariableModes(index(IndexKind::MemoryModes) as u32))
                }
                IntrinsicOp::Terminate | IntrinsicOp::TerminateIf | IntrinsicOp::Demote | IntrinsicOp::DemoteIf => {
                    Fence::Stores
                }
                // Other fragments change memory before the begin and after the end.
                IntrinsicOp::BeginInvocationInterlock | IntrinsicOp::EndInvocationInterlock => Fence::All(MODES),
                _ if info.index_slot(IndexKind::Access).is_some()
                    && AccessFlags::from_i32(body.index(inst, IndexKind::Access)).contains(AccessFlags::VOLATILE) =>
                {
                    Fence::All(MODES)
                }
                // Accesses that the pass checks individually.
                _ if address::sources(op).is_some() => Fence::Nothing,
                IntrinsicOp::StoreDeref | IntrinsicOp::CopyDeref => {
                    let modes = body.deref_modes(body.src(inst, 0));
                    let memory = VariableModes(modes.0 & (SHARED_WITH_OTHERS.0 | VariableModes::MEM_GLOBAL.0));
                    if memory == VariableModes::NONE { Fence::Nothing } else { Fence::All(SHARED_WITH_OTHERS) }
                }
                IntrinsicOp::LoadDeref => {
                    let modes = body.deref_modes(body.src(inst, 0));
                    if modes.intersects(SHARED_WITH_OTHERS) { Fence::Stores } else { Fence::Nothing }
                }
                IntrinsicOp::LoadGlobal | IntrinsicOp::LoadGlobal2x32 => Fence::Stores,
                _ if info.can_eliminate => Fence::Nothing,
                _ => match info.kind {
                    IntrinsicKind::Io | IntrinsicKind::Register | IntrinsicKind::AtomicCounter => Fence::Nothing,
                    IntrinsicKind::Geometry => Fence::Nothing,
                    _ => Fence::All(SHARED_WITH_OTHERS),
                },
            }
        }
        _ => Fence::Nothing,
    }
}

impl Vectorizer {
    fn block(&mut self, body: &mut Body, block: Block) {
        for (position, inst) in body.insts_vec(block).into_iter().enumerate() {
            match fence(body, inst) {
                Fence::Nothing => {}
                Fence::Stores => self.process(body, |entry| entry.writes()),
                Fence::All(modes) => self.process(body, |entry| modes.intersects(entry.sources.mode)),
            }
            let Some(entry) = self.keys.entry(body, inst, position as u32) else { continue };
            let number = self.entries.len();
            self.entries.push(entry);
            let kept = entry.access.contains(AccessFlags::VOLATILE) || entry.access.contains(AccessFlags::KEEP_SCALAR);
            if entry.sources.is_atomic || kept || entry.bit_size != 32 {
                continue;
            }
            let key = GroupKey(entry.key * 2 + u32::from(entry.is_store()));
            match self.group_of[key] {
                0 => {
                    self.groups.push((key, vec![number]));
                    self.group_of[key] = self.groups.len() as u32;
                }
                group => self.groups[group as usize - 1].1.push(number),
            }
        }
        self.process(body, |_| true);
        self.entries.clear();
    }

    /// Merges the accesses of the groups that match, and drops these groups.
    fn process(&mut self, body: &mut Body, concerns: impl Fn(&Entry) -> bool) {
        let mut kept: Vec<(GroupKey, Vec<usize>)> = Vec::new();
        for (key, mut members) in std::mem::take(&mut self.groups) {
            self.group_of[key] = 0;
            if !members.first().is_some_and(|&first| concerns(&self.entries[first])) {
                kept.push((key, members));
                self.group_of[key] = kept.len() as u32;
            } else if members.len() > 1 {
                self.group(body, &mut members);
            }
        }
        self.groups = kept;
    }

    fn group(&mut self, body: &mut Body, members: &mut Vec<usize>) {
        members.sort_unstable_by_key(|&number| (self.entries[number].offset, self.entries[number].position));
        for _ in 0..MAX_ROUNDS {
            let count = members.len();
            // Members before `low` are done; merged ones are dropped after it.
            for low in 0..count {
                let mut high = low + 1;
                let mut tried = 0;
                while high < count && tried < MAX_PARTNERS && self.entries[members[low]].is_alive {
                    let (a, b) = (members[low], members[high]);
                    if !self.entries[b].is_alive {
                        high += 1;
                        continue;
                    }
                    let (x, y) = (self.entries[a], self.entries[b]);
                    if y.offset - x.offset > x.bytes() {
                        break;
                    }
                    tried += 1;
                    match self.merge(body, a, b) {
                        // The result may have more neighbours, including skipped ones.
                        Some(merged) => {
                            members[low] = merged;
                            members[high] = if merged == a { b } else { a };
                            high = low + 1;
                        }
                        None => high += 1,
                    }
                }
            }
            members.retain(|&number| self.entries[number].is_alive);
            if members.len() == count || members.len() < 2 {
                break;
            }
        }
    }

    /// Merges two accesses and returns the index of the result; `None` if that is not allowed.
    fn merge(&mut self, body: &mut Body, low: usize, high: usize) -> Option<usize> {
        let (a, b) = (self.entries[low], self.entries[high]);
        if a.op != b.op || a.access != b.access {
            return None;
        }
        let (first, second) = if a.position < b.position { (low, high) } else { (high, low) };
        let moves = if a.is_store() { first } else { second };
        if !self.may_move(moves, first, second) {
            return None;
        }
        let merged = MergedAccess::of(&a, &b)?;
        let entry = if a.is_store() {
            merge::merge_stores(body, &a, &b, merged)
        } else {
            merge::merge_loads(body, &a, &b, merged)
        };
        let (kept, lost) = if a.is_store() { (second, first) } else { (first, second) };
        self.entries[kept] = entry;
        self.entries[lost].is_alive = false;
        self.progress = true;
        Some(kept)
    }

    /// Returns whether an access may pass everything between two others.
    fn may_move(&self, moves: usize, first: usize, second: usize) -> bool {
        let moved = &self.entries[moves];
        if moved.sources.mode == VariableModes::MEM_UBO {
            return true;
        }
        if second - first > MAX_BETWEEN {
            return false;
        }
        self.entries[first + 1..second].iter().all(|other| {
            let matters = other.is_alive && (moved.writes() || other.writes());
            !matters || !may_alias(moved, other)
        })
    }
}

fn may_alias(a: &Entry, b: &Entry) -> bool {
    if a.sources.mode != b.sources.mode
        || a.access.contains(AccessFlags::CAN_REORDER)
        || b.access.contains(AccessFlags::CAN_REORDER)
    {
        return false;
    }
    if a.key == b.key {
        // Addresses are modulo 2^32.
        let distance = (b.offset as u32).wrapping_sub(a.offset as u32);
        let back = (a.offset as u32).wrapping_sub(b.offset as u32);
        return i64::from(distance) < a.bytes() || i64::from(back) < b.bytes();
    }
    // Two units may be bound to the same buffer.
    let is_restricted = a.access.contains(AccessFlags::RESTRICT) || b.access.contains(AccessFlags::RESTRICT);
    let are_different = a.resource.is_some() && b.resource.is_some() && a.resource != b.resource;
    !(is_restricted && are_different)
}

#[cfg(test)]
mod tests;
