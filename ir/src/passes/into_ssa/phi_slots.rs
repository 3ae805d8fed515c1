//! A helper, not a pass: phis for many things at once that are written in several blocks, made in program
//! order.
//!
//! ```text
//! before, with the "thing" a register:          after:
//!     if %c { store_reg %1 } else { }               if %c { b1: } else { b2: }
//!     %2 = load_reg                                 %3 = phi b1: %1, b2: %zero
//! ```
//!
//! The algorithm is that of Cytron et al.: where values of different writers meet (the iterated dominance frontier of
//! the blocks that write) the thing has a **slot**; then one walk over the dominator tree keeps what each thing is at
//! the moment. A slot becomes a phi only when somebody asks for it, which also holds for the sources of phis.
//!
//! [`PhiBuilder`](crate::passes::into_ssa::phi_builder::PhiBuilder) does one thing after the other and needs nothing by
//! slot; here phis get their numbers next to those of the code around them, and everything that walks over large bodies
//! later on goes along memory.
//!
//! Order of calls: [`PhiSlots::add`] for each thing, [`PhiSlots::settle`]; then, block by block in the pre-order of
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

/// The value of a thing at some point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Value {
    /// Nothing wrote it: zero.
    #[default]
    Initial,
    /// This.
    Def(Def),
    /// The value that meets in a slot.
    Slot(u32),
}

/// A block where the values of a thing meet.
#[derive(Clone, Copy, Debug)]
struct Slot {
    block: Block,
    thing: u32,
    /// The value of the phi, once somebody has asked.
    phi: PackedOption<Def>,
    /// The last entry of its list of incoming values, plus 1.
    last_incoming: u32,
}

/// The value that comes into a slot from a block.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    predecessor: Block,
    value: Value,
    /// The entry before in the list of the slot, plus 1.
    before: u32,
}

/// See the [module](self).
pub(crate) struct PhiSlots {
    dominance: Arc<Dominance>,
    frontiers: Arc<Frontiers>,
    slots: Vec<Slot>,
    /// Numbers of the slots of a block.
    by_block: SecondaryMap<Block, (u32, u32)>,
    incoming: Vec<Incoming>,
    /// Slots that became phis.
    asked: Vec<u32>,
    /// The thing, plus 1, that was last found to meet in a block.
    met: SecondaryMap<Block, u32>,
    work: Vec<Block>,
    zeros: Zeros,
}

impl PhiSlots {
    /// Slots for a body, whose control flow must not change from now on.
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

    /// Number of slots so far.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Makes the slots of a thing that is written in `blocks`. Each thing once.
    pub(crate) fn add(&mut self, thing: u32, blocks: &[Block]) {
        self.work.clear();
        self.work.extend_from_slice(blocks);
        while let Some(block) = self.work.pop() {
            for &meet in self.frontiers.of(block) {
                if std::mem::replace(&mut self.met[meet], thing + 1) != thing + 1 {
                    self.slots.push(Slot { block: meet, thing, phi: PackedOption::default(), last_incoming: 0 });
                    self.work.push(meet);
                }
            }
        }
    }

    /// Brings the slots into the order of the walk.
    pub(crate) fn settle(&mut self) {
        let dominance = &self.dominance;
        self.slots.sort_unstable_by_key(|slot| (dominance.pre_index(slot.block), slot.thing));
        for (number, slot) in (0..).zip(&self.slots) {
            let range = &mut self.by_block[slot.block];
            if range.0 == range.1 {
                *range = (number, number);
            }
            range.1 += 1;
        }
    }

    /// The slots of a block, each with its thing.
    pub(crate) fn at(&self, block: Block) -> impl Iterator<Item = (u32, Value)> + '_ {
        let range = self.range(block);
        (range.start as u32..).zip(&self.slots[range]).map(|(number, slot)| (slot.thing, Value::Slot(number)))
    }

    fn range(&self, block: Block) -> Range<usize> {
        let (start, end) = self.by_block[block];
        start as usize..end as usize
    }

    /// The end of a block is reached: notes what comes from it into the slots of its successors.
    pub(crate) fn leave(&mut self, body: &Body, block: Block, current: &[Value]) {
        for successor in body.successors(block) {
            let range = self.range(successor);
            for slot in &mut self.slots[range] {
                let value = current[slot.thing as usize];
                self.incoming.push(Incoming { predecessor: block, value, before: slot.last_incoming });
                slot.last_incoming = self.incoming.len() as u32;
            }
        }
    }

    /// Makes a value of a thing of this shape out of what is known of it.
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

    /// Gives the phis their sources, and forgets all slots.
    pub(crate) fn finish(&mut self, body: &mut Body, shape_of: impl Fn(&Body, u32) -> Shape) {
        let mut done = 0;
        let mut sources: Vec<SourceSpec> = Vec::new();
        // More phis may be asked for on the way.
        while let Some(&number) = self.asked.get(done) {
            done += 1;
            let slot = self.slots[number as usize];
            let shape = shape_of(body, slot.thing);
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
