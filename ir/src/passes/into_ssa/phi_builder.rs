//! A helper, not a pass: builds SSA values for a location that is written in several blocks.
//!
//! ```text
//! before, where the location is a register:     after:
//!     if %c { store_reg %1 } else { }               if %c { b1: } else { b2: }
//!     %2 = load_reg                                 %3 = phi b1: %1, b2: %zero
//! ```
//!
//! The blocks where values of different writes meet are the iterated dominance frontier of the writing blocks (Cytron
//! et al.). Phis are created on demand, also for the sources of phis. A read before any write gives zero, because
//! registers and temporaries start as zero, or an undefined value ([`Initial`]).
//!
//! One value is handled at a time, with reused scratch data: a value costs its frontier and the blocks that the walks
//! from its reads visit, whatever the size of the body.
//!
//! Order of calls: [`PhiBuilder::start`]; then, in program order, [`PhiBuilder::get`] for reads and [`PhiBuilder::set`]
//! for writes; then [`PhiBuilder::finish`].

use std::sync::Arc;

use cranelift_entity::SecondaryMap;

use crate::analysis::{Dominance, Frontiers};
use crate::body::{Body, InstData, Shape, SourceSpec};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst};
use crate::passes::into_ssa::opt_unwritten_outputs::INITIAL;

/// The value before any write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Initial {
    /// Zero.
    Zero,
    /// Undefined: no use that matters reads it.
    Undefined,
}

/// The value at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Entry {
    /// Unknown: it is the value of the immediate dominator.
    #[default]
    Inherited,
    /// Values meet at the start of the block, but the phi has not been needed so far.
    NeedsPhi,
    /// This value.
    Known(Def),
}

/// Zero constants at the top of a body, one per shape, marked as initial values ([`INITIAL`]).
#[derive(Default)]
pub(crate) struct Zeros(Vec<(Shape, Def)>);

impl Zeros {
    pub(crate) fn get(&mut self, body: &mut Body, shape: Shape) -> Def {
        if let Some(&(_, def)) = self.0.iter().find(|(s, _)| *s == shape) {
            return def;
        }
        let start = body.start_block();
        let mut b = crate::Builder::new(body, Cursor::BlockStart(start));
        let def = b.constant(shape.bit_size, &[0; 16][..usize::from(shape.num_components)]);
        body.set_pass_flags(body.def_inst(def), INITIAL);
        self.0.push((shape, def));
        def
    }
}

/// See the [module](self).
pub struct PhiBuilder {
    dominance: Arc<Dominance>,
    frontiers: Arc<Frontiers>,
    /// Entries, valid if their generation is the current one.
    entries: SecondaryMap<Block, (u32, Entry)>,
    generation: u32,
    shape: Shape,
    initial: Initial,
    /// Phis created for the current value, not inserted yet.
    phis: Vec<(Inst, Block)>,
    zeros: Zeros,
    /// The undefined values at the top of the body, one per shape.
    undefs: Vec<(Shape, Def)>,
    work: Vec<Block>,
}

impl PhiBuilder {
    /// Creates a builder for a body. The body's control flow must not change from now on.
    pub fn new(body: &Body) -> PhiBuilder {
        PhiBuilder {
            dominance: body.dominance(),
            frontiers: body.frontiers(),
            entries: SecondaryMap::with_capacity(body.num_blocks()),
            generation: 0,
            shape: Shape::new(1, 32),
            initial: Initial::Zero,
            phis: Vec::new(),
            zeros: Zeros::default(),
            undefs: Vec::new(),
            work: Vec::new(),
        }
    }

    /// Starts a new value, which is written in `blocks`.
    pub fn start(&mut self, shape: Shape, initial: Initial, blocks: impl IntoIterator<Item = Block>) {
        self.generation += 1;
        self.shape = shape;
        self.initial = initial;
        self.phis.clear();
        self.work.clear();
        self.work.extend(blocks);
        while let Some(block) = self.work.pop() {
            for &meet in self.frontiers.of(block) {
                let entry = &mut self.entries[meet];
                if *entry != (self.generation, Entry::NeedsPhi) {
                    *entry = (self.generation, Entry::NeedsPhi);
                    self.work.push(meet);
                }
            }
        }
    }

    fn entry(&self, block: Block) -> Entry {
        match self.entries[block] {
            (generation, entry) if generation == self.generation => entry,
            _ => Entry::Inherited,
        }
    }

    /// Returns a zero of a shape, at the top of the body.
    pub fn zero(&mut self, body: &mut Body, shape: Shape) -> Def {
        self.zeros.get(body, shape)
    }

    /// Returns the value before any write.
    fn initial(&mut self, body: &mut Body) -> Def {
        let shape = self.shape;
        if self.initial == Initial::Zero {
            return self.zero(body, shape);
        }
        if let Some(&(_, def)) = self.undefs.iter().find(|(s, _)| *s == shape) {
            return def;
        }
        let start = body.start_block();
        let mut b = crate::Builder::new(body, Cursor::BlockStart(start));
        let def = b.undef(shape.num_components, shape.bit_size);
        self.undefs.push((shape, def));
        def
    }

    /// Sets the value to `def` from here to the end of the block.
    pub fn set(&mut self, block: Block, def: Def) {
        self.entries[block] = (self.generation, Entry::Known(def));
    }

    /// Returns the value at this point of the block: the last one set in it, or the incoming one.
    pub fn get(&mut self, body: &mut Body, block: Block) -> Def {
        let shape = self.shape;
        // An unreachable block has no dominators, and its reads do not matter.
        if !self.dominance.is_reachable(block) {
            return match self.entry(block) {
                Entry::Known(def) => def,
                _ => self.initial(body),
            };
        }
        let mut found = block;
        let def = loop {
            match self.entry(found) {
                Entry::Known(def) => break def,
                Entry::NeedsPhi => {
                    let phi = body.create_inst(InstData::Phi, &[], Some(shape));
                    self.phis.push((phi, found));
                    let def = body.inst_def(phi).unwrap_or_else(|| self.initial(body));
                    break def;
                }
                Entry::Inherited => match self.dominance.idom(found) {
                    Some(up) => found = up,
                    None => break self.initial(body),
                },
            }
        };
        let mut walked = block;
        loop {
            self.entries[walked] = (self.generation, Entry::Known(def));
            if walked == found {
                return def;
            }
            match self.dominance.idom(walked) {
                Some(up) => walked = up,
                None => return def,
            }
        }
    }

    /// Adds the sources of the phis and inserts them. Returns their number.
    pub fn finish(&mut self, body: &mut Body) -> usize {
        let mut done = 0;
        let mut sources: Vec<SourceSpec> = Vec::new();
        // This may create more phis.
        while let Some(&(phi, block)) = self.phis.get(done) {
            done += 1;
            sources.clear();
            for pred in body.predecessors(block).to_vec() {
                sources.push(SourceSpec::phi(pred, self.get(body, pred)));
            }
            for &source in &sources {
                body.push_source(phi, source);
            }
            body.insert_inst(Cursor::BlockStart(block), phi);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::body::JumpKind;

    #[test]
    fn a_read_after_an_if_meets_zero_and_the_write() {
        let mut body = Body::new();
        let mut b = Builder::at_end(&mut body);
        let c = b.bool_const(true);
        let x = b.u32_const(7);
        let id = b.push_if(c);
        let writer = b.block();
        b.end_if(id);
        let after = b.block();
        let mut phis = PhiBuilder::new(&body);
        phis.start(Shape::new(1, 32), Initial::Zero, [writer]);
        phis.set(writer, x);
        let value = phis.get(&mut body, after);
        assert_eq!(phis.finish(&mut body), 1);
        let phi = body.def_inst(value);
        assert!(body.is_phi(phi) && body.inst_block(phi) == Some(after));
        let source = body.phi_source_for(phi, writer).unwrap();
        assert_eq!(body.src_def(source), x);
        let other = body.phi_sources(phi).find(|(b, _)| *b != writer).unwrap().1;
        assert_eq!(body.def_constant(body.src_def(other)), Some(&[0u64][..]));
    }

    #[test]
    fn a_loop_without_a_write_needs_no_phi() {
        let mut body = Body::new();
        let mut b = Builder::at_end(&mut body);
        let c = b.bool_const(true);
        let start = b.block();
        let id = b.push_loop();
        let exit = b.push_if(c);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        b.end_loop(id);
        let after = b.block();
        let x = b.u32_const(7);
        let mut phis = PhiBuilder::new(&body);
        phis.start(Shape::new(1, 32), Initial::Zero, [start]);
        phis.set(start, x);
        assert_eq!(phis.get(&mut body, after), x);
        assert_eq!(phis.finish(&mut body), 0);
    }
}
