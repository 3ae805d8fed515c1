//! The list scheduler of a block, from the end to the start.
//!
//! An instruction is ready when all that follow it are in bundles. Of the ready ones, the scheduler prefers those that
//! reduce the number of live components, then the latest.

use std::collections::BTreeSet;

use arrayvec::ArrayVec;
use tgsi_vec4::Constants;
use tgsi_vec4::simple::{Destination, File, Instruction, Results, SimpleMachine, Source};

use super::bundle::{ADDED, AluMembers, Bundle, Condition, Member};
use super::graph::{Edge, Node};
use super::stays_between;
use super::units::{can_execute, channels, is_vector_selection};
use crate::isa::alu::{AluOp, Unit};
use crate::isa::load_store::LoadStoreOp;
use crate::machine::{CONDITION, DEPTH_ONLY, Machine, MachineInstruction, Op, Operation, WRITE_OUT, texel_register};

/// The number of ready instructions that are compared.
const WINDOW: usize = 48;

/// The number of instructions that access each temporary.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Uses {
    pub(super) reads: u32,
    pub(super) writes: u32,
}

/// Facts about the program.
pub(super) struct Context<'a> {
    pub(super) constants: &'a Constants,
    pub(super) operations: &'a [Operation],
    pub(super) uses: &'a [Uses],
    pub(super) first_temp: u32,
    /// The row of zeros.
    pub(super) zero: Source,
    /// Whether bundles have more than one instruction.
    pub(super) packs: bool,
    /// The number of live components beyond which the scheduler fills no unit with an instruction that adds some.
    pub(super) pressure: i32,
    /// Whether values are never in r0 and r1.
    pub(super) has_reserved: bool,
    /// Whether r0 and r1 are results of textures.
    pub(super) aliases_texels: bool,
}

/// The kind of bundle of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Alu,
    LoadStore,
    Texture,
    Barrier,
}

fn kind(op: Op) -> Kind {
    match op {
        Op::Load | Op::Store | Op::Atomic => Kind::LoadStore,
        Op::Texture => Kind::Texture,
        Op::Barrier => Kind::Barrier,
        _ => Kind::Alu,
    }
}

/// The scheduler of a block.
pub(super) struct Scheduler<'a> {
    context: &'a Context<'a>,
    instructions: &'a [MachineInstruction],
    nodes: &'a [Node],
    /// Edges to instructions that are not in bundles.
    remaining: Vec<u32>,
    ready: BTreeSet<u32>,
    /// The live components of each temporary.
    live: Vec<u8>,
    /// Their number.
    live_count: i32,
    bundles: Vec<Bundle>,
}

impl<'a> Scheduler<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        instructions: &'a [MachineInstruction],
        nodes: &'a [Node],
        live: Vec<u8>,
    ) -> Scheduler<'a> {
        let remaining: Vec<u32> = nodes.iter().map(|node| node.successors.len() as u32).collect();
        let live_count = live.iter().map(|mask| mask.count_ones() as i32).sum();
        let ready = (0..nodes.len() as u32).filter(|&node| remaining[node as usize] == 0).collect();
        Scheduler { context, instructions, nodes, remaining, ready, live, live_count, bundles: Vec::new() }
    }

    /// Schedules all instructions. Returns the bundles in order.
    pub(super) fn run(mut self) -> Vec<Bundle> {
        // Control flow is last.
        let last = (self.nodes.len() as u32).checked_sub(1);
        if let Some(last) = last.filter(|&last| self.instruction(last).op == Op::If) {
            self.alu(last);
        }
        while let Some(next) = self.choose(|_| true, |_| 0) {
            let next = self.prefer_pairs(next);
            match kind(self.instruction(next).op) {
                Kind::Alu => self.alu(next),
                Kind::LoadStore => self.load_store(next),
                Kind::Texture => {
                    let member = self.take(next);
                    self.bundles.push(Bundle::Texture(member));
                }
                Kind::Barrier => {
                    let member = self.take(next);
                    self.bundles.push(Bundle::Barrier(member));
                }
            }
        }
        self.bundles.reverse();
        self.bundles
    }

    fn instruction(&self, node: u32) -> &'a MachineInstruction {
        &self.instructions[node as usize]
    }

    fn temp(&self, file: File, index: i32) -> Option<usize> {
        let first = self.context.first_temp as i32;
        (file == File::Temporary && index >= first).then(|| (index - first) as usize)
    }

    /// The change of the number of live components if an instruction is scheduled.
    fn effect(&self, node: u32) -> i32 {
        let instruction = self.instruction(node);
        let mut effect = 0;
        if let Some(to) = instruction.destination
            && let Some(temp) = self.temp(to.file, to.index)
        {
            effect -= (self.live[temp] & to.mask).count_ones() as i32;
        }
        for (number, source) in instruction.sources.iter().enumerate() {
            let Some(temp) = self.temp(source.file, source.index) else { continue };
            let is_known = instruction.sources[..number].iter().any(|other| other.is_same_register(source));
            if !is_known {
                let read = tgsi_vec4::access::swizzled(channels(instruction, number), source.swizzle);
                effect += (read & !self.live[temp]).count_ones() as i32;
            }
        }
        effect
    }

    /// The best ready instruction that passes a test: by rank, then by its effect, then by its place.
    fn choose(&self, passes: impl Fn(u32) -> bool, rank: impl Fn(u32) -> i32) -> Option<u32> {
        let candidates = self.ready.iter().rev().take(WINDOW).copied().filter(|&node| passes(node));
        candidates.min_by_key(|&node| (rank(node), self.effect(node), std::cmp::Reverse(node)))
    }

    /// Another instruction instead of a single load or store, while no second one is ready.
    fn prefer_pairs(&self, chosen: u32) -> u32 {
        let is_load_store = |node: u32| kind(self.instruction(node).op) == Kind::LoadStore;
        if !self.context.packs || !is_load_store(chosen) {
            return chosen;
        }
        let window = || self.ready.iter().rev().take(WINDOW).copied();
        if window().filter(|&node| self.may_share(node, chosen)).count() > 0 {
            return chosen;
        }
        let is_other = |node: u32| kind(self.instruction(node).op) == Kind::Alu && self.effect(node) <= 0;
        self.choose(is_other, |_| 0).unwrap_or(chosen)
    }

    /// Puts a node into the current bundle: those before it may become ready.
    fn take(&mut self, node: u32) -> Member {
        self.ready.remove(&node);
        let instruction = self.instruction(node);
        if let Some(to) = instruction.destination
            && let Some(temp) = self.temp(to.file, to.index)
        {
            self.live_count -= (self.live[temp] & to.mask).count_ones() as i32;
            self.live[temp] &= !to.mask;
        }
        for (number, source) in instruction.sources.iter().enumerate() {
            if let Some(temp) = self.temp(source.file, source.index) {
                let read = tgsi_vec4::access::swizzled(channels(instruction, number), source.swizzle);
                self.live_count += (read & !self.live[temp]).count_ones() as i32;
                self.live[temp] |= read;
            }
        }
        for &before in &self.nodes[node as usize].predecessors {
            let remaining = &mut self.remaining[before as usize];
            *remaining -= 1;
            if *remaining == 0 {
                self.ready.insert(before);
            }
        }
        (node, instruction.clone())
    }

    /// Whether two instructions of the load/store unit may share a bundle.
    fn may_share(&self, node: u32, other: u32) -> bool {
        if node == other || kind(self.instruction(node).op) != Kind::LoadStore {
            return false;
        }
        let stores_varying = |node: u32| {
            let operation = self.instruction(node).sources.first();
            let operation = operation.and_then(|source| self.context.operations.get(source.index as usize));
            matches!(operation, Some(Operation::LoadStore(access)) if access.op == LoadStoreOp::StVaryF32)
        };
        // The rules of the machine do not tell components of operand registers apart.
        let reads_result = |reader: u32, writer: u32| {
            let to = self.instruction(writer).destination.filter(|to| to.file == File::Special);
            to.is_some_and(|to| {
                let sources = &self.instruction(reader).sources;
                sources.iter().any(|source| source.file == to.file && source.index == to.index)
            })
        };
        stores_varying(node) == stores_varying(other)
            && self.nodes[node as usize].successors.iter().all(|edge| edge.0 != other)
            && !reads_result(node, other)
            && !reads_result(other, node)
    }

    fn load_store(&mut self, last: u32) {
        let mut members = ArrayVec::new();
        members.push(self.take(last));
        if self.context.packs
            && let Some(first) = self.choose(|node| self.may_share(node, last), |_| 0)
        {
            members.insert(0, self.take(first));
        }
        self.bundles.push(Bundle::LoadStore(members));
    }

    /// Whether a node may execute on a unit beside the instructions of a bundle that depend on it.
    fn fits(&self, node: u32, unit: Unit, bundle: &AluMembers) -> bool {
        let is_branch = |successor: u32| bundle.branch.as_ref().is_some_and(|branch| branch.0 == successor);
        self.nodes[node as usize].successors.iter().all(|&(successor, edge)| {
            if is_branch(successor) {
                return false;
            }
            let Some(other) = bundle.unit_of(successor) else { return true };
            let is_earlier_stage = !unit.is_second_stage() && other.is_second_stage();
            match edge {
                Edge::Result | Edge::Overwrite => is_earlier_stage,
                Edge::Operand => (unit as u8) < other as u8,
                Edge::Condition | Edge::Order => false,
            }
        })
    }

    fn alu(&mut self, first: u32) {
        let mut bundle = AluMembers::default();
        match self.instruction(first).op {
            Op::If | Op::Discard => self.branch(&mut bundle, first),
            Op::WriteOut { .. } => self.write_out(&mut bundle, first),
            _ => {}
        }
        let is_branch = bundle.branch.is_some();
        const ORDER: [(Unit, bool); 6] = [
            (Unit::Smul, true),
            (Unit::Vlut, false),
            (Unit::Vadd, true),
            (Unit::Vlut, true),
            (Unit::Sadd, true),
            (Unit::Vmul, true),
        ];
        for (unit, takes_copies) in ORDER {
            let is_full = !self.context.packs && (is_branch || bundle.has_members());
            if is_full {
                break;
            }
            self.fill(&mut bundle, unit, takes_copies);
        }
        self.bundles.push(Bundle::Alu(Box::new(bundle)));
    }

    /// Gives a unit the best instruction for it.
    fn fill(&mut self, bundle: &mut AluMembers, unit: Unit, takes_copies: bool) {
        if !bundle.is_free(unit) {
            return;
        }
        // A write-out would read a result in r1: results must be those that stay between the stages.
        let is_write_out = |branch: &Member| matches!(branch.1.op, Op::WriteOut { .. });
        let writes_out = !self.context.has_reserved && bundle.branch.as_ref().is_some_and(is_write_out);
        let passes = |node: u32| {
            let instruction = self.instruction(node);
            (takes_copies || instruction.op != Op::Mov)
                && can_execute(unit, instruction)
                && self.fits(node, unit, bundle)
                && (!writes_out || self.stays_between(bundle, instruction))
                && (bundle.is_empty() || self.has_registers(node))
                && bundle.has_constants(instruction, self.context.constants)
                && (instruction.op != Op::Select || self.has_condition(bundle, instruction))
        };
        let rank = |node: u32| {
            let instruction = self.instruction(node);
            let is_narrow = !unit.is_scalar() && instruction.mask().count_ones() == 1 && unit != Unit::Vlut;
            i32::from(instruction.op == Op::Mov) * 2 + i32::from(is_narrow)
        };
        let Some(node) = self.choose(passes, rank) else { return };
        let instruction = self.instruction(node);
        if instruction.op == Op::Select && !self.place_condition(bundle, node) {
            return;
        }
        let member = self.take(node);
        // The constants of the condition may have taken the place.
        let is_added = bundle.add(unit, member, self.context.constants);
        debug_assert!(is_added, "the constants of a selection and its condition fit together");
    }

    /// Whether a result stays between the stages of a bundle.
    fn stays_between(&self, bundle: &AluMembers, instruction: &MachineInstruction) -> bool {
        let temp = instruction.destination.and_then(|to| self.temp(to.file, to.index));
        let uses = temp.and_then(|temp| self.context.uses.get(temp));
        uses.is_some_and(|uses| stays_between(bundle, instruction, *uses))
    }

    /// Whether an instruction beside others leaves enough registers.
    fn has_registers(&self, node: u32) -> bool {
        let effect = self.effect(node);
        effect <= 0 || self.live_count + effect <= self.context.pressure
    }

    /// Whether r31 can hold the condition of a selection.
    fn has_condition(&self, bundle: &AluMembers, selection: &MachineInstruction) -> bool {
        let Some(&condition) = selection.sources.first() else { return false };
        match bundle.condition {
            Condition::None => {
                let vmul = bundle.is_free(Unit::Vmul);
                let free = if is_vector_selection(selection) { vmul } else { vmul || bundle.is_free(Unit::Sadd) };
                // A copy of the condition takes one word at most, or is an immediate.
                let mut copy = Instruction::new(Op::Mov, None, [condition]);
                copy.destination = Some(Destination::new(File::Special, CONDITION.into(), selection.mask()));
                let mut both = bundle.clone();
                let copy_fits = both.add(Unit::Vmul, (ADDED, copy.clone()), self.context.constants)
                    || both.add(Unit::Sadd, (ADDED, copy), self.context.constants);
                free && copy_fits && both.has_constants(selection, self.context.constants)
            }
            Condition::Selection(known) => {
                !is_vector_selection(selection)
                    && known.is_same_register(&condition)
                    && scalar_of(selection, known) == scalar_of(selection, condition)
            }
            Condition::Branch => false,
        }
    }

    /// Writes the condition of a selection to r31 in the first stage.
    fn place_condition(&mut self, bundle: &mut AluMembers, selection: u32) -> bool {
        let instruction = self.instruction(selection);
        let Some(&condition) = instruction.sources.first() else { return false };
        if bundle.condition != Condition::None {
            return true;
        }
        let is_vector = is_vector_selection(instruction);
        let mask = instruction.mask();
        // Of r31, scalar selections read w.
        let (to, from) = if is_vector {
            (mask, condition.swizzle)
        } else {
            let first = mask.trailing_zeros() as usize & 3;
            (0b1000, [condition.swizzle[first]; 4])
        };
        let units: &[Unit] = if is_vector { &[Unit::Vmul] } else { &[Unit::Sadd, Unit::Vmul] };
        let is_placed = self.fuse(bundle, selection, condition, to, from, units)
            || self.copy_condition(bundle, condition, to, from, units);
        if is_placed {
            let kept = if is_vector { condition } else { condition.swizzled(from) };
            bundle.condition = Condition::Selection(kept);
        }
        is_placed
    }

    /// Copies a condition to r31.
    fn copy_condition(
        &self,
        bundle: &mut AluMembers,
        condition: Source,
        mask: u8,
        from: [u8; 4],
        units: &[Unit],
    ) -> bool {
        let to = Destination::new(File::Special, CONDITION.into(), mask);
        let copy: MachineInstruction = Instruction::new(Op::Mov, Some(to), [condition.swizzled(from)]);
        units
            .iter()
            .any(|&unit| can_execute(unit, &copy) && bundle.add(unit, (ADDED, copy.clone()), self.context.constants))
    }

    /// Makes the only instruction that computes a condition write r31, if nothing else reads it.
    fn fuse(
        &mut self,
        bundle: &mut AluMembers,
        reader: u32,
        condition: Source,
        mask: u8,
        from: [u8; 4],
        units: &[Unit],
    ) -> bool {
        let Some(temp) = self.temp(condition.file, condition.index) else { return false };
        let uses = self.context.uses.get(temp).copied().unwrap_or_default();
        if uses.reads != 1 || uses.writes != 1 {
            return false;
        }
        let before = &self.nodes[reader as usize].predecessors;
        let writes = |node: u32| {
            let to = self.instruction(node).destination;
            to.is_some_and(|to| to.file == condition.file && to.index == condition.index)
        };
        let Some(&producer) = before.iter().find(|&&node| writes(node)) else { return false };
        // The reader has not been taken yet.
        let edges = self.nodes[producer as usize].successors.iter().filter(|edge| edge.0 == reader).count() as u32;
        if self.remaining[producer as usize] != edges {
            return false;
        }
        let Some(instruction) = moved(self.instruction(producer), mask, from) else { return false };
        let unit = units.iter().copied().find(|&unit| {
            bundle.is_free(unit)
                && can_execute(unit, &instruction)
                && self.fits_except(producer, unit, bundle, reader)
                && bundle.has_constants(&instruction, self.context.constants)
        });
        let Some(unit) = unit else { return false };
        // Both instructions must fit.
        let mut both = bundle.clone();
        both.add(unit, (producer, instruction.clone()), self.context.constants);
        if !both.has_constants(self.instruction(reader), self.context.constants) {
            return false;
        }
        self.remaining[producer as usize] = 0;
        self.take_fused(producer, reader);
        bundle.add(unit, (producer, instruction), self.context.constants)
    }

    /// Takes a producer whose reader is about to be taken.
    fn take_fused(&mut self, producer: u32, reader: u32) {
        let edges = self.nodes[producer as usize].successors.iter().filter(|edge| edge.0 == reader).count() as u32;
        let _ = self.take(producer);
        // The edges of the reader must not make it ready again.
        self.remaining[producer as usize] = edges + 1;
    }

    /// Like [`fits`](Self::fits), with any dependence of one node.
    fn fits_except(&self, node: u32, unit: Unit, bundle: &AluMembers, reader: u32) -> bool {
        self.nodes[node as usize].successors.iter().all(|&(successor, edge)| {
            let Some(other) = bundle.unit_of(successor).filter(|_| successor != reader) else { return true };
            edge == Edge::Operand && (unit as u8) < other as u8
        })
    }

    /// Places a branch on a condition.
    fn branch(&mut self, bundle: &mut AluMembers, node: u32) {
        const UNITS: [Unit; 4] = [Unit::Smul, Unit::Sadd, Unit::Vadd, Unit::Vmul];
        let instruction = self.instruction(node);
        if let Some(&condition) = instruction.sources.first() {
            let from = [condition.swizzle[0]; 4];
            let _ = self.fuse(bundle, node, condition, 0b1000, from, &UNITS)
                || self.copy_condition(bundle, condition, 0b1000, from, &UNITS);
            bundle.condition = Condition::Branch;
        }
        let member = self.take(node);
        bundle.branch = Some(member);
    }

    /// Places a write-out: r0 has the colour, r1 depth, stencil value, target, and the address to return to.
    fn write_out(&mut self, bundle: &mut AluMembers, node: u32) {
        let instruction = self.instruction(node);
        let Op::WriteOut { target, has_depth, has_stencil } = instruction.op else { return };
        bundle.condition = Condition::Branch;
        let state = |mask: u8| Destination::new(File::Special, i32::from(WRITE_OUT) + 1, mask);
        let mut parts = instruction.sources.iter().skip(1);
        let mut copies: Vec<(Unit, MachineInstruction)> = Vec::new();
        if has_depth && let Some(&depth) = parts.next() {
            copies.push((Unit::Smul, Instruction::new(Op::Mov, Some(state(0b0001)), [depth])));
        }
        if has_stencil && let Some(&stencil) = parts.next() {
            copies.push((Unit::Vlut, Instruction::new(Op::Mov, Some(state(0b0010)), [stencil])));
        }
        let has_number = target != 0;
        let colour = Destination::new(File::Special, WRITE_OUT.into(), 0b1111);
        let is_simple = !has_depth && !has_stencil && !has_number && target != DEPTH_ONLY;
        let (direct, return_unit) =
            is_simple.then(|| self.colour_writers(node)).flatten().unwrap_or((ArrayVec::new(), Unit::Vadd));
        let counter = Source::new(File::Special, CONDITION.into()).swizzled([0; 4]);
        let sum = Op::Alu(AluOp::Iadd);
        copies.push((return_unit, Instruction::new(sum, Some(state(0b1000)), [counter, self.context.zero])));
        if has_number {
            // The number of the target is an immediate that emission adds.
            copies.push((Unit::Sadd, Instruction::new(Op::Mov, Some(state(0b0100)), [self.context.zero])));
        }
        if direct.is_empty()
            && let Some(&value) = instruction.sources.first()
        {
            copies.push((Unit::Vmul, Instruction::new(Op::Mov, Some(colour), [value])));
        }
        for (writer, unit) in direct {
            let mut written = self.instruction(writer).clone();
            written.destination = Some(Destination { mask: written.mask(), ..colour });
            self.remaining[writer as usize] = 0;
            self.take_fused(writer, node);
            bundle.add(unit, (writer, written), self.context.constants);
        }
        for (unit, copy) in copies {
            let is_added = bundle.add(unit, (ADDED, copy), self.context.constants);
            debug_assert!(is_added, "a write-out reads few constants");
        }
        let member = self.take(node);
        bundle.branch = Some(member);
    }

    /// The instructions that compute a colour with their units, if nothing else reads it and they fit into the bundle;
    /// and the unit for the address to return to.
    fn colour_writers(&self, write_out: u32) -> Option<(Writers, Unit)> {
        let colour = self.instruction(write_out).sources.first()?;
        let temp = self.temp(colour.file, colour.index).filter(|_| colour.swizzle == [0, 1, 2, 3])?;
        let uses = self.context.uses.get(temp)?;
        let mut writers: ArrayVec<u32, 3> = ArrayVec::new();
        let mut written = 0;
        let mut before: Vec<u32> = self.nodes[write_out as usize].predecessors.clone();
        before.dedup();
        for node in before {
            let instruction = self.instruction(node);
            let Some(to) = instruction.destination else { continue };
            if to.file == colour.file && to.index == colour.index {
                let successors = &self.nodes[node as usize].successors;
                let is_last = successors.iter().all(|edge| edge.0 == write_out);
                let is_ready = self.remaining[node as usize] == successors.len() as u32;
                if !is_last || !is_ready || instruction.op == Op::Select || written & to.mask != 0 {
                    return None;
                }
                writers.try_push(node).ok()?;
                written |= to.mask;
            }
        }
        let is_whole = written == 15 && uses.reads == 1 && uses.writes == writers.len() as u32;
        if !is_whole || !self.constants_fit(&writers) {
            return None;
        }
        self.colour_units(&writers, ArrayVec::new())
    }

    fn constants_fit(&self, nodes: &[u32]) -> bool {
        let mut bundle = AluMembers::default();
        nodes
            .iter()
            .zip(Unit::ALL)
            .all(|(&node, unit)| bundle.add(unit, (node, self.instruction(node).clone()), self.context.constants))
    }

    /// Units for the remaining instructions of a colour, after those that have units. Unless r0 and r1 hold no values,
    /// an instruction must not read a value after a unit has written one of them.
    fn colour_units(&self, writers: &[u32], chosen: Writers) -> Option<(Writers, Unit)> {
        let Some(&next) = writers.get(chosen.len()) else {
            let reads = |node: u32| {
                let Context { has_reserved, aliases_texels, .. } = *self.context;
                let mut sources = self.instruction(node).sources.iter();
                sources.any(|source| {
                    let is_texel = texel_register(source.file, source.index).is_some();
                    !has_reserved && source.file == File::Temporary || aliases_texels && is_texel
                })
            };
            let last_read = chosen.iter().filter(|(node, _)| reads(*node)).map(|(_, unit)| *unit as u8).max();
            let first_write = chosen.iter().map(|(_, unit)| *unit as u8).min();
            if last_read.is_some() && last_read > first_write {
                return None;
            }
            let is_free = |unit: &Unit| {
                chosen.iter().all(|(_, taken)| taken != unit) && last_read.is_none_or(|last| last < *unit as u8)
            };
            let unit = [Unit::Sadd, Unit::Smul, Unit::Vadd, Unit::Vmul].into_iter().find(is_free)?;
            return Some((chosen, unit));
        };
        let instruction = self.instruction(next);
        // The first stage is left to operands.
        const UNITS: [Unit; 5] = [Unit::Vlut, Unit::Smul, Unit::Vadd, Unit::Sadd, Unit::Vmul];
        let free = UNITS
            .into_iter()
            .filter(|unit| chosen.iter().all(|(_, taken)| taken != unit) && can_execute(*unit, instruction));
        free.into_iter().find_map(|unit| {
            let mut chosen = chosen.clone();
            chosen.push((next, unit));
            self.colour_units(writers, chosen)
        })
    }
}

/// The instructions that compute a colour, with their units.
type Writers = ArrayVec<(u32, Unit), 3>;

/// The component of the condition of a selection with one condition.
fn scalar_of(selection: &MachineInstruction, condition: Source) -> u8 {
    condition.swizzle[selection.mask().trailing_zeros() as usize & 3]
}

/// An instruction with its results moved to components of r31.
fn moved(instruction: &MachineInstruction, mask: u8, from: [u8; 4]) -> Option<MachineInstruction> {
    let info = Machine::info(instruction.op);
    if !instruction.op.is_alu() || instruction.op == Op::Select {
        return None;
    }
    let mut moved = instruction.clone();
    let old = instruction.mask();
    let needed = (0..4).filter(|c| mask >> c & 1 != 0).fold(0, |needed, c: usize| needed | 1u8 << (from[c] & 3));
    if needed & !old != 0 {
        return None;
    }
    if info.results == Results::Componentwise {
        for source in &mut moved.sources {
            let swizzle = source.swizzle;
            source.swizzle = from.map(|c| swizzle[usize::from(c & 3)]);
        }
    } else if mask.count_ones() != 1 {
        return None;
    }
    moved.destination = Some(Destination::new(File::Special, CONDITION.into(), mask));
    Some(moved)
}
