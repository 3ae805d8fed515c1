//! Makes one access of several to neighbouring memory, in each block.
//!
//! ```text
//! before:                                          after:
//!     %2 = @load_ssbo (%0, %1) (align_mul=16)          %2 = @load_ssbo (%0, %1) (align_mul=16)   // two components
//!     %3 = iadd %1, 4                                  %4 = fadd %2.x, %2.y
//!     %4 = @load_ssbo (%0, %3) (align_mul=4)
//!     %5 = fadd %2, %4
//! ```
//!
//! Accesses to uniform and storage buffers, shared and scratch memory. Two that are alike but for their addresses,
//! which differ by a constant, become one if
//!
//! 1. nothing in between may touch what moves: a load moves up to the first of both and must not pass a store that may
//!    write what it reads, a store moves down to the second and must not pass anything that may read or write the same.
//!    Two addresses may be the same unless they differ by a constant that is large enough, or are of different
//!    resources one of which is said to be restricted;
//! 2. no barrier, call or other effect on that memory is in between, and for stores no end of the invocation;
//! 3. neither is volatile, atomic, or to be kept scalar;
//! 4. the target takes it: [`VectorizeOptions::may`] is asked with alignment, size and hole of each [`Candidate`];
//! 5. in the modes of [`VectorizeOptions::robust_modes`], the merger gives what the parts gave also where they are out
//!    of bounds. Here, a load of several components of a storage buffer gives 0 if not all are inside: these are not
//!    merged then; neither are addresses that may wrap around in between, nor stores that would be cut to smaller
//!    components. Uniform buffers that are read by whole vec4s give 0 word by word, and what is known to be within
//!    shared or scratch memory cannot be out of bounds.
//!
//! The values of a merged load are taken apart again, by shifts if sizes of components differ; of two stores that
//! overlap the later one wins.
//!
//! Addresses are sums of values times constants; what they have in common is a key, and accesses with one key are
//! sorted by their constants. Only neighbours are tried, at most 16 each, and only 128 accesses in between are looked
//! at, so that the cost is that of sorting.

mod address;
mod merge;

use cranelift_entity::SecondaryMap;

use crate::body::{Body, InstData};
use crate::entities::{Block, Inst};
use crate::intrinsics::indices::{Access, MemorySemantics, Scope};
use crate::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use crate::shader::Shader;
use crate::variable::VariableModes;
use address::{Entry, Keys, memory_bits};
use merge::Merged;

/// Neighbours that an access is tried to merge with.
const MAX_PARTNERS: usize = 16;
/// Accesses between two that are looked at before they are left as they are.
const MAX_BETWEEN: usize = 128;
/// Most bytes from the end of a load to the start of one that it is merged with.
const MAX_HOLE: i64 = 28;
/// Rounds over a group: vectors double with each.
const MAX_ROUNDS: usize = 6;

/// An access that two would become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// A store.
    pub is_store: bool,
    /// What is accessed.
    pub mode: VariableModes,
    /// The address is `align_offset` modulo this power of two.
    pub align_mul: u32,
    /// See [`align_mul`](Self::align_mul).
    pub align_offset: u32,
    /// Bits of a component.
    pub bit_size: u8,
    /// Components.
    pub num_components: u8,
    /// Bytes between the two that neither touches; negative if they overlap.
    pub hole_size: i64,
    /// The instruction with the lower address.
    pub low: Inst,
    /// The instruction with the higher address.
    pub high: Inst,
}

impl Candidate {
    /// Whether it is a vector of up to four components of 32 bits (or of two of 64), aligned to its components and
    /// without a hole: what most targets take.
    pub fn is_plain(&self) -> bool {
        let bytes = u32::from(self.bit_size) / 8;
        let alignment = if self.align_offset == 0 { self.align_mul } else { 1 << self.align_offset.trailing_zeros() };
        self.bit_size >= 32 && u32::from(self.num_components) * bytes <= 16 && self.hole_size <= 0 && alignment >= bytes
    }
}

/// What may be merged.
pub struct VectorizeOptions<'a> {
    /// Memory to look at.
    pub modes: VariableModes,
    /// Memory in which accesses beyond the end must stay what they are.
    pub robust_modes: VariableModes,
    /// Whether the target has such an access.
    pub may: &'a dyn Fn(&Candidate) -> bool,
}

impl VectorizeOptions<'_> {
    /// Every kind of memory that is looked at.
    pub const MODES: VariableModes = VariableModes(
        VariableModes::MEM_UBO.0
            | VariableModes::MEM_SSBO.0
            | VariableModes::MEM_SHARED.0
            | VariableModes::FUNCTION_TEMP.0,
    );
}

/// See the [module](self).
pub fn opt_load_store_vectorize(shader: &mut Shader, options: &VectorizeOptions<'_>) -> bool {
    let sizes = (shader.info.shared_size, shader.scratch_size);
    let mut progress = false;
    for body in shader.bodies_mut() {
        let mut pass = Vectorizer {
            options,
            shared_size: sizes.0,
            scratch_size: sizes.1,
            keys: Keys::default(),
            entries: Vec::new(),
            groups: Vec::new(),
            group_of: SecondaryMap::new(),
            progress: false,
        };
        for block in body.blocks_vec() {
            pass.block(body, block);
        }
        progress |= pass.progress;
    }
    progress
}

/// A key and whether it is about stores, as a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct GroupKey(u32);

cranelift_entity::entity_impl!(GroupKey);

struct Vectorizer<'a> {
    options: &'a VectorizeOptions<'a>,
    shared_size: u32,
    scratch_size: u32,
    keys: Keys,
    /// Accesses since the last barrier of their mode, in program order.
    entries: Vec<Entry>,
    groups: Vec<(GroupKey, Vec<usize>)>,
    /// Place in `groups`, + 1.
    group_of: SecondaryMap<GroupKey, u32>,
    progress: bool,
}

/// What an instruction stands in the way of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fence {
    Nothing,
    /// Stores.
    Stores,
    /// All accesses to these.
    All(VariableModes),
}

/// Memory that others see.
const SHARED_WITH_OTHERS: VariableModes = VariableModes(VariableModes::MEM_SSBO.0 | VariableModes::MEM_SHARED.0);

fn fence(body: &Body, inst: Inst) -> Fence {
    match *body.inst(inst) {
        InstData::Call { .. } => Fence::All(VectorizeOptions::MODES),
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
                IntrinsicOp::Terminate
                | IntrinsicOp::TerminateIf
                | IntrinsicOp::Demote
                | IntrinsicOp::DemoteIf
                | IntrinsicOp::BeginInvocationInterlock
                | IntrinsicOp::EndInvocationInterlock => Fence::Stores,
                _ if info.index_slot(IndexKind::Access).is_some()
                    && Access::from_i32(body.index(inst, IndexKind::Access)).contains(Access::VOLATILE) =>
                {
                    Fence::All(VectorizeOptions::MODES)
                }
                // Those that are looked at themselves.
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

impl Vectorizer<'_> {
    fn block(&mut self, body: &mut Body, block: Block) {
        for (place, inst) in body.insts_vec(block).into_iter().enumerate() {
            match fence(body, inst) {
                Fence::Nothing => {}
                Fence::Stores => self.process(body, |entry| entry.writes()),
                Fence::All(modes) => self.process(body, |entry| modes.intersects(entry.sources.mode)),
            }
            let Some(entry) = self.keys.entry(body, inst, place as u32) else { continue };
            let number = self.entries.len();
            self.entries.push(entry);
            let kept = entry.access.contains(Access::VOLATILE) || entry.access.contains(Access::KEEP_SCALAR);
            let stored_boolean = entry.is_store() && entry.bit_size == 1;
            if entry.sources.is_atomic || kept || stored_boolean || !self.options.modes.contains(entry.sources.mode) {
                continue;
            }
            let key = GroupKey(entry.key * 2 + u32::from(entry.is_store()));
            match self.group_of[key] {
                0 => {
                    self.groups.push((key, vec![number]));
                    self.group_of[key] = self.groups.len() as u32;
                }
                place => self.groups[place as usize - 1].1.push(number),
            }
        }
        self.process(body, |_| true);
        self.entries.clear();
    }

    /// Merges what there is of some accesses, and forgets it.
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
        members.sort_by_key(|&number| (self.entries[number].offset, self.entries[number].place));
        for _ in 0..MAX_ROUNDS {
            let count = members.len();
            // Members before `low` are done; those that became part of another one are dropped behind it.
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
                    let hole = y.offset - x.offset - x.bytes();
                    if hole > if x.is_store() { 0 } else { MAX_HOLE } {
                        break;
                    }
                    tried += 1;
                    match self.merge(body, a, b) {
                        // What is merged may have more neighbours, those passed over as well.
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

    /// Makes one access of two and returns its place; none if that must not be.
    fn merge(&mut self, body: &mut Body, low: usize, high: usize) -> Option<usize> {
        let (a, b) = (self.entries[low], self.entries[high]);
        if a.op != b.op || a.access != b.access {
            return None;
        }
        let (first, second) = if a.place < b.place { (low, high) } else { (high, low) };
        let moves = if a.is_store() { first } else { second };
        if !self.may_move(moves, first, second) {
            return None;
        }
        let merged = self.shape(&a, &b)?;
        let robust = self.options.robust_modes.intersects(a.sources.mode);
        if robust && !self.stays_in_bounds(body, &a, &b, merged) {
            return None;
        }
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

    // ---- aliasing
    // --------------------------------------------------------------------------------------------------------

    /// Whether an access may pass everything between two.
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

    // ---- shapes
    // ----------------------------------------------------------------------------------------------------------

    /// What the two become, if the target takes it.
    fn shape(&self, low: &Entry, high: &Entry) -> Option<Merged> {
        let distance = high.offset - low.offset;
        let bytes = low.bytes().max(distance + high.bytes());
        let (x, y) = (memory_bits(low.bit_size), memory_bits(high.bit_size));
        // What is stored is cut to pieces, not put together.
        let sizes = if low.is_store() { [x.min(y); 3] } else { [x, y, 32] };
        sizes.into_iter().find_map(|bit_size| {
            let size = i64::from(bit_size) / 8;
            if distance % size != 0 || bytes % size != 0 || bytes / size > 16 {
                return None;
            }
            let count = (bytes / size) as u8;
            let num_components = match count {
                0..=5 | 8 | 16 => count,
                // Components beyond the end are read, or not written.
                6 | 7 => 8,
                _ => 16,
            };
            let candidate = Candidate {
                is_store: low.is_store(),
                mode: low.sources.mode,
                align_mul: low.align_mul,
                align_offset: low.align_offset,
                bit_size,
                num_components,
                hole_size: distance - low.bytes(),
                low: low.inst,
                high: high.inst,
            };
            let taken = (self.options.may)(&candidate);
            taken.then_some(Merged { bit_size, num_components, distance: distance as u32 * 8 })
        })
    }

    /// Whether the merged access gives what the two gave even where they are out of bounds.
    fn stays_in_bounds(&self, body: &Body, low: &Entry, high: &Entry, merged: Merged) -> bool {
        let bytes = i64::from(merged.num_components) * i64::from(merged.bit_size) / 8;
        let start = i64::from(low.offset as u32);
        let wraps = if low.has_terms {
            i64::from(low.align_offset) + bytes > i64::from(low.align_mul)
        } else {
            start + bytes > 1 << 32
        };
        if wraps {
            return false;
        }
        if low.is_store() {
            // A component that is not all inside is not written at all.
            return low.bit_size == merged.bit_size && high.bit_size == merged.bit_size;
        }
        let inside = |size: u32| !low.has_terms && start + bytes <= i64::from(size);
        match low.sources.mode {
            VariableModes::MEM_SHARED => inside(self.shared_size),
            VariableModes::FUNCTION_TEMP => inside(self.scratch_size),
            VariableModes::MEM_UBO => {
                // As the executors see it: only what is stated counts.
                let by_words = |entry: &Entry| {
                    let index = |kind| body.index(entry.inst, kind) as u32;
                    let vectors = index(IndexKind::AlignMul) >= 16 && index(IndexKind::AlignOffset) & 15 == 0;
                    entry.bit_size == merged.bit_size && (vectors || entry.num_components == 1)
                };
                low.align_mul >= 16 && low.align_offset & 15 == 0 && by_words(low) && by_words(high)
            }
            _ => false,
        }
    }
}

fn may_alias(a: &Entry, b: &Entry) -> bool {
    if a.sources.mode != b.sources.mode
        || a.access.contains(Access::CAN_REORDER)
        || b.access.contains(Access::CAN_REORDER)
    {
        return false;
    }
    if a.key == b.key {
        // Of values modulo 2^32.
        let distance = (b.offset as u32).wrapping_sub(a.offset as u32);
        let back = (a.offset as u32).wrapping_sub(b.offset as u32);
        return i64::from(distance) < a.bytes() || i64::from(back) < b.bytes();
    }
    // Two units may be bound to the same buffer.
    let is_restricted = a.access.contains(Access::RESTRICT) || b.access.contains(Access::RESTRICT);
    let are_different = a.resource.is_some() && b.resource.is_some() && a.resource != b.resource;
    !(is_restricted && are_different)
}

#[cfg(test)]
mod tests;
