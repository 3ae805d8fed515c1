//! Assigns locations to all registers and values, without spilling, and counts the locations needed.
//!
//! Must be the last pass before instruction selection. Hardware registers are numbered from 0; each holds one register
//! of the IR, one element of an array, or one SSA value, whatever its shape.
//!
//! 1. A register of the IR is live from its first to its last access in program order. An access in a loop extends the
//!    interval to the whole outermost loop: the content may be live across iterations.
//! 2. The elements of an array have consecutive locations, live for the whole body.
//! 3. A value in SSA form is live from its definition to its last use. A use in a loop that does not contain the
//!    definition extends the interval to the end of the outermost such loop. A value read through folded modifiers is
//!    used where the modifiers' result is used; a folded saturation is the destination of its producer.
//! 4. Values that the backend does not keep in registers (uniforms as operands, derefs) have no location:
//!    [`AssignOptions::needs_location`] selects the values that do. It need not exclude handles of registers, folded
//!    loads, values stored to a register, folded modifiers, constants (`load_const`) and undefined values: these never
//!    have one.
//! 5. A result shares a location with an operand that ends at the same instruction only if the machine reads all
//!    operands of the instruction before it writes ([`AssignOptions::reads_first`]); backends may expand one
//!    instruction into several. Nothing else that is live at the same time shares a location.
//! 6. A register of the IR is undefined before its first store: the code comes from SSA, where zeros are explicit.
//! 7. If there are not enough locations, the error names the first instruction in program order after which too many
//!    are live, and the peak. Nothing is spilled.
//!
//! Linear scan over intervals without holes (Poletto and Sarkar, "Linear Scan Register Allocation", 1999): for
//! intervals the number of locations is minimal. O(n log n).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cranelift_entity::SecondaryMap;
use tgsi_ir::alu::AluOp;
use tgsi_ir::analysis::{InstOrder, LoopTree};
use tgsi_ir::{Block, Body, Def, Inst, InstData, Use, User};
use thiserror::Error;

use crate::chase::{accessed_register, is_register_access, load_reg_for_def, store_reg_for_def};
use crate::registers::{reg_decls, reg_loads, reg_stores};

/// The number of folded modifiers followed: one `fneg` and one `fabs`.
const MAX_MODIFIERS: usize = 2;

/// The locations of all registers and values.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    /// By value or handle: the location (that of element 0 for an array), if any.
    locations: SecondaryMap<Def, Option<u32>>,
    /// The number of locations in use.
    pub peak: u32,
}

impl Assignment {
    /// Returns the location of an SSA value, or of a register given by its handle.
    pub fn location(&self, def: Def) -> Option<u32> {
        self.locations[def]
    }
}

/// There are too few registers.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{peak} registers are needed, and there are {limit}")]
pub struct TooManyRegisters {
    /// The first instruction after which too many registers are live.
    pub inst: Inst,
    /// The instruction of the source that it comes from, if it is known ([`Body::nearest_origin`]).
    pub origin: Option<u32>,
    /// The number of registers that the whole body needs.
    pub peak: u32,
    /// The number of registers available.
    pub limit: u32,
}

/// The live interval of a register or value. Positions are twice those of the program order, so that there is one
/// before and one after each instruction.
struct Interval {
    def: Def,
    start: u32,
    end: u32,
}

/// The machine for [`assign_registers`].
#[derive(Clone, Copy)]
pub struct AssignOptions<'a> {
    /// The number of registers.
    pub limit: u32,
    /// Selects the modifiers that need no code: [`chase::is_folded`](crate::chase::is_folded) with the target's policy,
    /// or the decision of a backend that folds modifiers itself, which may read a register later than the modifier only
    /// if [`LaterReads`](crate::later_reads::LaterReads) allows it.
    pub is_folded: &'a dyn Fn(&Body, Inst) -> bool,
    /// Selects the values kept in registers.
    pub needs_location: &'a dyn Fn(&Body, Def) -> bool,
    /// Selects the instructions of which all operands are read before the result is written: its location may be that
    /// of an operand without later uses. Not for operations that the backend expands into several instructions.
    /// `&|_, _| false` if results have locations apart from operands.
    pub reads_first: &'a dyn Fn(&Body, Inst) -> bool,
}

/// Assigns locations, see the [module](self).
///
/// # Errors
/// The body needs more registers than the limit.
pub fn assign_registers(body: &Body, options: AssignOptions<'_>) -> Result<Assignment, TooManyRegisters> {
    let limit = options.limit;
    let mut assignment = Assignment::default();
    let lives = Intervals { body, options, order: &body.inst_order(), loops: &body.loop_tree() };
    let mut intervals = Vec::new();
    for register in reg_decls(body) {
        if register.num_array_elems > 0 {
            assignment.locations[register.handle] = Some(assignment.peak);
            assignment.peak = assignment.peak.saturating_add(register.num_array_elems);
        } else {
            intervals.extend(lives.of_register(register.handle));
        }
    }
    let arrays = assignment.peak;
    for block in body.blocks() {
        for inst in body.insts(block) {
            intervals.extend(lives.of_value(inst));
        }
    }
    intervals.sort_unstable_by_key(|interval| (interval.start, interval.def));
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut live: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    let mut excess = (arrays > limit).then(|| body.first_inst(body.start_block())).flatten();
    for interval in &intervals {
        while let Some(&Reverse((end, location))) = live.peek()
            && end < interval.start
        {
            live.pop();
            free.push(Reverse(location));
        }
        let location = free.pop().map_or(assignment.peak, |Reverse(location)| location);
        assignment.peak = assignment.peak.max(location + 1);
        assignment.locations[interval.def] = Some(location);
        live.push(Reverse((interval.end, location)));
        if location >= limit {
            excess = excess.or_else(|| lives.inst_at(interval.start));
        }
    }
    match excess {
        Some(inst) => Err(TooManyRegisters { inst, origin: body.nearest_origin(inst), peak: assignment.peak, limit }),
        None => Ok(assignment),
    }
}

/// Computes live intervals.
struct Intervals<'a> {
    body: &'a Body,
    options: AssignOptions<'a>,
    order: &'a InstOrder,
    loops: &'a LoopTree,
}

impl Intervals<'_> {
    fn is_folded(&self, inst: Inst) -> bool {
        (self.options.is_folded)(self.body, inst)
    }

    /// The position before an instruction; the one after it is greater by 1.
    fn number(&self, inst: Inst) -> u32 {
        self.order.index(inst).saturating_mul(2)
    }

    /// The instruction at a position, or the next one.
    fn inst_at(&self, number: u32) -> Option<Inst> {
        let is_after = |block: &Block| self.order.block_end(*block).saturating_mul(2) >= number;
        let block = self.body.blocks().find(is_after)?;
        self.body.insts(block).find(|&inst| self.number(inst) + 1 >= number).or_else(|| self.body.last_inst(block))
    }

    /// The positions of the outermost loop that contains `block` but not `without`.
    fn outermost(&self, block: Block, without: Option<Block>) -> Option<(u32, u32)> {
        let mut found = None;
        let mut around = self.loops.innermost(block);
        while let Some(id) = around.filter(|&id| without.is_none_or(|other| !self.loops.contains(id, other))) {
            found = Some(id);
            around = self.loops.info(id).parent.expand();
        }
        let list = self.body.loop_body(found?);
        let bounds = (self.order.block_start(list.first), self.order.block_end(list.last));
        Some((bounds.0.saturating_mul(2), bounds.1.saturating_mul(2)))
    }

    /// Accesses count where a backend executes them: a folded load at its uses, a folded store at the producer.
    fn of_register(&self, handle: Def) -> Option<Interval> {
        let body = self.body;
        let (mut start, mut end) = (u32::MAX, 0);
        let mut add = |block: Option<Block>, from: u32, to: u32| {
            (start, end) = (start.min(from), end.max(to));
            if let Some((first, last)) = block.and_then(|block| self.outermost(block, None)) {
                (start, end) = (start.min(first), end.max(last));
            }
        };
        for store in reg_stores(body, handle) {
            let mut producer = body.def_inst(body.src(store, 0));
            if self.is_folded(producer) && body.alu_op(producer) == Some(AluOp::Fsat) {
                producer = body.def_inst(body.src(producer, 0));
            }
            add(body.inst_block(store), self.number(store), self.number(store) + 1);
            add(body.inst_block(producer), self.number(producer) + 1, self.number(producer) + 1);
        }
        for load in reg_loads(body, handle) {
            add(body.inst_block(load), self.number(load), self.number(load) + 1);
            if let Some(def) = body.inst_def(load) {
                let mut open = vec![(def, MAX_MODIFIERS)];
                while let Some((value, modifiers)) = open.pop() {
                    for source in body.uses_of(value) {
                        let (block, number) = self.read_at(source)?;
                        add(Some(block), number, number);
                        open.extend(self.modified(source).filter(|_| modifiers > 0).map(|def| (def, modifiers - 1)));
                    }
                }
            }
        }
        (start <= end).then_some(Interval { def: handle, start, end })
    }

    /// The block and position at which a source is read: the position after an instruction, so that its result gets
    /// another location, or the one before it if its operands are read first.
    fn read_at(&self, source: Use) -> Option<(Block, u32)> {
        match self.body.user(source) {
            User::Inst(inst) => {
                let is_first = (self.options.reads_first)(self.body, inst);
                Some((self.body.inst_block(inst)?, self.number(inst) + u32::from(!is_first)))
            }
            User::If(id) => {
                let block = self.body.block_before_if(id);
                Some((block, self.order.block_end(block).saturating_mul(2)))
            }
        }
    }

    /// The result of the folded modifier that a source belongs to, if any.
    fn modified(&self, source: Use) -> Option<Def> {
        let user = self.body.user(source).inst()?;
        self.is_folded(user).then(|| self.body.inst_def(user))?
    }

    fn is_saturation(&self, source: Use) -> bool {
        self.body.user(source).inst().and_then(|user| self.body.alu_op(user)) == Some(AluOp::Fsat)
    }

    /// The interval of the result of an instruction, if it is kept in SSA form.
    fn of_value(&self, inst: Inst) -> Option<Interval> {
        let body = self.body;
        let mut def = body.inst_def(inst)?;
        let is_silent = is_register_access(body, inst)
            || self.is_folded(inst)
            || matches!(body.inst(inst), InstData::Undef | InstData::LoadConst { .. })
            || !(self.options.needs_location)(body, def);
        if is_silent {
            return None;
        }
        if body.alu_op(inst).is_some() {
            let saturated = body.single_use(def).filter(|&source| self.is_saturation(source));
            def = saturated.and_then(|source| self.modified(source)).unwrap_or(def);
        }
        if store_reg_for_def(body, def).is_some() {
            return None;
        }
        let home = body.inst_block(inst)?;
        let start = self.number(inst) + 1;
        let mut end = start;
        let mut open = vec![(def, MAX_MODIFIERS)];
        while let Some((value, modifiers)) = open.pop() {
            for source in body.uses_of(value) {
                let (block, mut number) = self.read_at(source)?;
                if let Some((_, last)) = self.outermost(block, Some(home)) {
                    number = number.max(last);
                }
                end = end.max(number);
                let Some(user) = body.user(source).inst() else { continue };
                let Some(result) = body.inst_def(user) else { continue };
                let is_modifier = self.modified(source).is_some() && modifiers > 0;
                // The index of a folded load is read where the load is.
                let is_index = load_reg_for_def(body, result).and_then(|load| accessed_register(body, load)).is_some();
                if is_modifier || is_index {
                    open.push((result, modifiers - usize::from(is_modifier)));
                }
            }
        }
        Some(Interval { def, start, end })
    }
}
