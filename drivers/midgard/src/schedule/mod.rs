//! Scheduling: instructions become members of bundles.
//!
//! Blocks are scheduled from the last to the first over virtual registers. The result is again a list of instructions
//! for the passes of [`tgsi_vec4`], in the order in which units execute them, with the bundle and the unit of each:
//! register allocation follows.

mod block;
mod bundle;
mod constants;
mod graph;
mod units;

use tgsi_vec4::Program;
use tgsi_vec4::access::swizzled;
use tgsi_vec4::simple::{File, Info, Instruction, Results, SimpleMachine, Source};

use crate::isa::alu::Unit;
use crate::machine::{CONDITION, Machine, MachineInstruction, MachineProgram, Op, Operation, PIPELINE};

use block::{Context, Scheduler, Uses};
use bundle::{AluMembers, Bundle, Condition};
pub(crate) use constants::{Embedded, immediate, is_float_copy};
pub(crate) use units::{channels, clamp, is_scalar_only, is_vector_selection, opcode};

/// The place of an instruction in its bundle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    /// A unit of the ALU.
    Unit(Unit),
    /// The branch of a bundle of the ALU.
    Branch,
    /// The load/store unit.
    LoadStore,
    /// The texture unit.
    Texture,
    /// Control flow, outside of bundles.
    Flow,
}

/// An opcode, with its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Placed {
    pub(crate) op: Op,
    /// The number of the bundle.
    pub(crate) bundle: u32,
    pub(crate) place: Place,
    /// Of selections, whether each component has a condition.
    pub(crate) is_vector: bool,
}

/// The machine of instructions in bundles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bundled;

/// A scheduled program.
pub(crate) type BundledProgram = Program<Bundled>;

/// An instruction of a scheduled program.
pub(crate) type BundledInstruction = Instruction<Placed>;

impl SimpleMachine for Bundled {
    type Op = Placed;
    const COPY: Placed = Placed { op: Op::Mov, bundle: u32::MAX, place: Place::Flow, is_vector: false };

    fn info(placed: Placed) -> Info {
        let info = Machine::info(placed.op);
        // The components of r31 are those of the result.
        if placed.is_vector { Info { results: Results::Fixed, ..info } } else { info }
    }
}

/// Schedules a program for a number of work registers, besides those that are reserved.
pub(crate) fn schedule(
    program: &mut MachineProgram,
    operations: &[Operation],
    packs: bool,
    registers: u32,
    reserved: u32,
) -> BundledProgram {
    let zero = Source::new(File::Constant, program.constants.intern([0; 4]));
    let liveness = program.liveness();
    let first_temp = program.first_temp();
    let uses = uses(program);
    // Values are not packed perfectly.
    let pressure = registers as i32 * 3;
    let context = Context {
        constants: &program.constants,
        operations,
        uses: &uses,
        first_temp,
        zero,
        packs,
        pressure,
        has_reserved: reserved > 0,
        aliases_texels: program.machine.chip.aliases_texture_registers(),
    };
    let mut live = vec![0u8; program.temps()];
    let mut blocks = Vec::new();
    for (number, block) in liveness.blocks.iter().enumerate().rev() {
        for &(row, mask) in liveness.changes(number) {
            let temp = tgsi_vec4::Reg::temp(0).dense().and_then(|first| (row as usize).checked_sub(first));
            if let Some(live) = temp.and_then(|temp| live.get_mut(temp)) {
                *live = mask;
            }
        }
        let range = block.start..block.end;
        // Of control flow, only conditions are in bundles.
        let last = program.instructions()[range.clone()].last();
        let flow = last.filter(|last| Machine::info(last.op).flow.is_some());
        let is_plain_flow = flow.is_some_and(|flow| flow.op != Op::If);
        let range = if is_plain_flow { range.start..range.end - 1 } else { range };
        let instructions = &program.instructions()[range.clone()];
        let accesses = &program.accesses()[range.clone()];
        let nodes = graph::graph(instructions, accesses, first_temp, operations, context.aliases_texels);
        let bundles = Scheduler::new(&context, instructions, &nodes, live.clone()).run();
        for access in program.accesses()[range].iter().rev() {
            if let Some(written) = access.written()
                && let Some(temp) = written.temp()
            {
                live[temp] &= !written.mask();
            }
            for read in access.reads() {
                if let Some(temp) = read.temp() {
                    live[temp] |= read.mask();
                }
            }
        }
        blocks.push((bundles, flow.cloned()));
    }
    blocks.reverse();
    let mut result = BundledProgram::new(Bundled, first_temp);
    result.constants = program.constants.clone();
    result.set_num_temps(program.num_temps());
    let mut writer = Writer { program: &mut result, uses: &uses, first_temp, bundle: 0 };
    for (bundles, flow) in blocks {
        bundles.into_iter().for_each(|bundle| writer.bundle(bundle));
        if let Some(flow) = flow {
            writer.push(Instruction { sources: Default::default(), ..flow }, Place::Flow, false);
        }
    }
    result
}

/// The accesses to each temporary.
fn uses(program: &MachineProgram) -> Vec<Uses> {
    let mut uses = vec![Uses::default(); program.temps()];
    for access in program.accesses() {
        for read in access.reads() {
            if let Some(temp) = read.temp() {
                uses[temp].reads += 1;
            }
        }
        if let Some(temp) = access.written().and_then(|written| written.temp()) {
            uses[temp].writes += 1;
        }
    }
    uses
}

/// The units of the second stage.
const SECOND_STAGE: [Unit; 3] = [Unit::Vadd, Unit::Smul, Unit::Vlut];

/// Whether only the second stage of a bundle reads the result of an instruction of the first one, which alone writes
/// it.
fn stays_between(members: &AluMembers, instruction: &MachineInstruction, uses: Uses) -> bool {
    let Some(to) = instruction.destination.filter(|to| to.file == File::Temporary) else { return false };
    let readers = SECOND_STAGE.iter().filter_map(|&unit| members.units[unit as usize].as_ref());
    let reads = readers.map(|(_, reader)| {
        let first = usize::from(reader.op == Op::Select);
        let sources = reader.sources.iter().enumerate().skip(first).filter(|(_, source)| to.is_read_by(source));
        // Components that are not written are undefined.
        let written =
            sources.filter(|&(number, source)| swizzled(channels(reader, number), source.swizzle) & !to.mask == 0);
        written.count() as u32
    });
    // Half of a word stays undefined.
    instruction.op != Op::ToHalf && uses.writes == 1 && reads.sum::<u32>() == uses.reads
}

/// Appends bundles to a program.
struct Writer<'a> {
    program: &'a mut BundledProgram,
    uses: &'a [Uses],
    first_temp: u32,
    bundle: u32,
}

impl Writer<'_> {
    fn push(&mut self, instruction: MachineInstruction, place: Place, is_vector: bool) {
        let Instruction { op, saturate, guard, destination, sources } = instruction;
        let op = Placed { op, bundle: self.bundle, place, is_vector };
        self.program.push(Instruction { op, saturate, guard, destination, sources });
    }

    fn bundle(&mut self, bundle: Bundle) {
        match bundle {
            Bundle::Alu(members) => self.alu(*members),
            Bundle::LoadStore(members) => {
                for (_, instruction) in members {
                    self.push(instruction, Place::LoadStore, false);
                }
            }
            Bundle::Texture((_, instruction)) | Bundle::Barrier((_, instruction)) => {
                self.push(instruction, Place::Texture, false);
            }
        }
        self.bundle += 1;
    }

    fn alu(&mut self, mut members: AluMembers) {
        self.use_pipeline(&mut members);
        for unit in Unit::ALL {
            let Some((_, mut instruction)) = members.units[unit as usize].take() else { continue };
            let is_vector = is_vector_selection(&instruction);
            if instruction.op == Op::Select
                && let Some(condition) = instruction.sources.first_mut()
            {
                let swizzle = if is_vector { [0, 1, 2, 3] } else { [3; 4] };
                *condition = Source::new(File::Special, CONDITION.into()).swizzled(swizzle);
            }
            self.push(instruction, Place::Unit(unit), is_vector);
        }
        if let Some((_, mut branch)) = members.branch {
            let is_conditional = members.condition == Condition::Branch && !branch.sources.is_empty();
            branch.sources.clear();
            if branch.op == Op::Discard && is_conditional {
                branch.sources.push(Source::new(File::Special, CONDITION.into()).swizzled([3; 4]));
            }
            // The branch of a conditional construct is control flow.
            if branch.op != Op::If {
                self.push(branch, Place::Branch, false);
            }
        }
    }

    /// Keeps values between the stages in r24 and r25, if nothing else reads them.
    fn use_pipeline(&mut self, members: &mut AluMembers) {
        let mut next = 0;
        for unit in [Unit::Vmul, Unit::Sadd] {
            let Some((_, instruction)) = &members.units[unit as usize] else { continue };
            let Some(to) = instruction.destination.filter(|to| to.file == File::Temporary) else { continue };
            let Some(uses) = (to.index as usize).checked_sub(self.first_temp as usize).and_then(|t| self.uses.get(t))
            else {
                continue;
            };
            if !stays_between(members, instruction, *uses) {
                continue;
            }
            let is_read = |source: &Source| to.is_read_by(source);
            let register = i32::from(PIPELINE) + next;
            next += 1;
            for unit in SECOND_STAGE {
                if let Some((_, reader)) = &mut members.units[unit as usize] {
                    for source in reader.sources.iter_mut().filter(|source| is_read(source)) {
                        (source.file, source.index) = (File::Special, register);
                    }
                }
            }
            if let Some((_, instruction)) = &mut members.units[unit as usize]
                && let Some(to) = &mut instruction.destination
            {
                (to.file, to.index) = (File::Special, register);
            }
        }
    }
}
