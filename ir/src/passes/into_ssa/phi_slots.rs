//! A helper, not a pass: builds phis, in program order, for many locations at once that are written in
//! several blocks.
//!
//! ```text
//! before, where the location is a register:     after:
//!     if %c { store_reg %1 } else { }               if %c { b1: } else { b2: }
//!     %2 = load_reg                                 %3 = phi b1: %1, b2: %zero
//! ```
//!
//! The algorithm is that of Cytron et al.: where values of different writes meet (the iterated dominance frontier of
//! the writing blocks) a location has a **slot**; one walk over the dominator tree then tracks the current value of
//! each location. A slot becomes a phi only on demand, also for the sources of phis.
//!
//! [`PhiBuilder`](crate::passes::into_ssa::phi_builder::PhiBuilder) handles one location at a time and needs no memory
//! per slot. Here, phis are numbered next to the surrounding code, so later walks over large bodies access memory in
//! order.
//!
//! Order of calls: [`PhiSlots::add`] for each location, [`PhiSlots::settle`]; then, for each block in the pre-order of
//! the dominator tree, [`PhiSlots::at`], [`PhiSlots::get`] and [`PhiSlots::leave`]; then [`PhiSlots::finish`].

use std::ops::Range;
use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::analysis::{Dominance, Frontiers};
use crate::body::{Body, InstData, Shape, SourceSpec};
use crate::cursor::Cursor;
use crate::entities::{Block, Def};
use crate::passes::into_ssa::phi_builder::Zeros;

/// The value of a location at some point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Value {
    /// Not written: zero.
    #[default]
    Initial,
    /// This value.
    Def(Def),
    /// The value of a slot.
    Slot(u32),
}

/// A block where the values of a location meet.
#[derive(Clone, Copy, Debug)]
struct Slot {
    block: Block,
    location: u32,
    /// The value of the phi, once it has been needed.
    phi: PackedOption<Def>,
    /// Index plus 1 of the last entry in its list of incoming values.
    last_incoming: u32,
}

/// The value that enters a slot from a predecessor.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    predecessor: Block,
    value: Value,
    /// Index plus 1 of the previous entry in the list of the slot.
    before: u32,
}

/// See the [module](self).
pub(crate) struct PhiSlots {
    dominance: Arc<Dominance>,
    frontiers: Arc<Frontiers>,
    slots: Vec<Slot>,
    /// The range of the slots of a block.
    by_block: SecondaryMap<Block, (u32, u32)>,
    incoming: Vec<Incoming>,
    /// Slots that became phis.
    asked: Vec<u32>,
    /// For each block, 1 plus the last location found to meet there.
    met: SecondaryMap<Block, u32>,
    work: Vec<Block>,
    zeros: Zeros,
}

impl PhiSlots {
    /// Creates slots for a body. The body's control flow must not change from now on.
    pub(crate) fn new(body: &Body) -> PhiSlots {
        PhiSlots {
            dominance: body.dominance(),
            frontiers: body.frontiers(),
            slots: Vec::new(),
            by_block: SecondaryMap::new(),
            incoming: Vec::new(),
            asked: Vec::new(),
            met: SecondaryMap::with_capacity(body.num_blocks()),
            work: Vec::new(),
            zeros: Zeros::default(),
        }
    }

    /// Returns the number of slots so far.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Creates the slots of a location that is written in `blocks`. Call it once per location.
    pub(crate) fn add(&mut self, location: u32, blocks: &[Block]) {
        self.work.clear();
        self.work.extend_from_slice(blocks);
        while let Some(block) = self.work.pop() {
            for &meet in self.frontiers.of(block) {
                if std::mem::replace(&mut self.met[meet], location + 1) != location + 1 {
                    self.slots.push(Slot { block: meet, location, phi: PackedOption::default(), last_incoming: 0 });
                    self.work.push(meet);
                }
            }
        }
    }

    /// Sorts the slots into the order of the walk.
    pub(crate) fn settle(&mut self) {
        let dominance = &self.dominance;
        self.slots.sort_unstable_by_key(|slot| (dominance.pre_index(slot.block), slot.location));
        for (number, slot) in (0..).zip(&self.slots) {
            let range = &mut self.by_block[slot.block];
            if range.0 == range.1 {
                *range = (number, number);
            }
            range.1 += 1;
        }
    }

    /// Returns the slots of a block, each with its location.
    pub(crate) fn at(&self, block: Block) -> impl Iterator<Item = (u32, Value)> + '_ {
        let range = self.range(block);
        (range.start as u32..).zip(&self.slots[range]).map(|(number, slot)| (slot.location, Value::Slot(number)))
    }

    fn range(&self, block: Block) -> Range<usize> {
        let (start, end) = self.by_block[block];
        start as usize..end as usize
    }

    /// Ends a block: records its values in the slots of its successors.
    pub(crate) fn leave(&mut self, body: &Body, block: Block, current: &[Value]) {
        for successor in body.successors(block) {
            let range = self.range(successor);
            for slot in &mut self.slots[range] {
                let value = current[slot.location as usize];
                self.incoming.push(Incoming { predecessor: block, value, before: slot.last_incoming });
                slot.last_incoming = self.incoming.len() as u32;
            }
        }
    }

    /// Materialises the value of a slot with this shape.
    pub(crate) fn get(&mut self, body: &mut Body, value: Value, shape: Shape) -> Def {
        let number = match value {
            Value::Initial => return self.zeros.get(body, shape),
            Value::Def(def) => return def,
            Value::Slot(number) => number,
        };
        let slot = &mut self.slots[number as usize];
        if let Some(def) = slot.phi.expand() {
            return def;
        }
        let phi = body.create_inst(InstData::Phi, &[], Some(shape));
        body.insert_inst(Cursor::BlockStart(slot.block), phi);
        self.asked.push(number);
        slot.phi = body.inst_def(phi).into();
        slot.phi.expand().unwrap_or_else(|| self.zeros.get(body, shape))
    }

    /// Adds the sources of the phis, and clears all slots.
    pub(crate) fn finish(&mut self, body: &mut Body, shape_of: impl Fn(&Body, u32) -> Shape) {
        let mut done = 0;
        let mut sources: Vec<SourceSpec> = Vec::new();
        // This may create more phis.
        while let Some(&number) = self.asked.get(done) {
            done += 1;
            let slot = self.slots[number as usize];
            let shape = shape_of(body, slot.location);
            sources.clear();
            let mut next = slot.last_incoming;
            while let Some(&incoming) = (next as usize).checked_sub(1).and_then(|index| self.incoming.get(index)) {
                next = incoming.before;
                sources.push(SourceSpec::phi(incoming.predecessor, self.get(body, incoming.value, shape)));
            }
            if let Some(phi) = slot.phi.expand() {
                let phi = body.def_inst(phi);
                for &source in sources.iter().rev() {
                    body.push_source(phi, source);
                }
            }
        }
        self.slots.clear();
        self.by_block.clear();
        self.incoming.clear();
        self.asked.clear();
    }
}
