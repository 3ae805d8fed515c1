//! Cross-lane statements, and statements of a single stage.

use super::Features;
use super::generator::{Context, Generator};
use super::memory::{EXCHANGE, STRIDE};
use super::operands::{Destination, Target};
use super::registers::RegisterType;
use tgsi::shader::{Dst, Indirect, Instruction, InstructionMemory, Register, Src};
use tgsi::tables::{MemoryQualifiers, MemoryType, Opcode, Processor};

/// The iterations of a loop, at most.
const MAX_ITERATIONS: u32 = 4;

impl Generator<'_> {
    /// Emits votes, derivatives, or reads of a lane given by number.
    pub(super) fn lanes(&mut self, context: Context) {
        use Opcode::*;
        let together = self.together(context);
        let fragment = self.stage == Processor::Fragment;
        match self.choices.below(8) {
            0..3 if fragment && together => {
                let opcode = self.choices.of([Ddx, Ddy, DdxFine, DdyFine]);
                self.simple(opcode, RegisterType::Float, &[RegisterType::Float]);
            }
            3 if together && !self.kills => {
                let value = self.source(RegisterType::Float, 15);
                // An existing lane.
                let lanes = match self.stage {
                    Processor::Geometry => 1,
                    Processor::TessControl => self.patch_vertices.into(),
                    Processor::Compute => self.block.iter().product(),
                    _ => 4u32,
                };
                let lane = self.choices.below(lanes.clamp(1, 4) as usize) as u32;
                let lane = self.builder.immediate_u32(&[lane]).replicated(0);
                let destination = self.destination(RegisterType::Float);
                self.put_to(ReadInvoc, destination, &[value, lane]);
            }
            4 if fragment => self.simple(ReadHelper, RegisterType::Integer, &[]),
            5 if !self.kills => {
                let kind = self.choices.of([RegisterType::Integer, RegisterType::Float]);
                let destination = self.destination(kind);
                let source = self.source(kind, destination.dst.write_mask);
                self.put_to(ReadFirst, destination, &[source]);
            }
            _ if !self.kills => {
                let opcode = self.choices.of([VoteAny, VoteAll, VoteEq, Ballot]);
                self.simple(opcode, RegisterType::Integer, &[RegisterType::Integer]);
            }
            _ => self.small_expression(),
        }
    }

    /// Emits an instruction with operands of given kinds.
    fn simple(&mut self, opcode: Opcode, dst: RegisterType, src: &[RegisterType]) {
        let destination = self.destination(dst);
        let sources: Vec<Src> = src.iter().map(|&kind| self.source(kind, 15)).collect();
        self.put_to(opcode, destination, &sources);
    }

    /// Emits a statement that only one stage supports.
    pub(super) fn special(&mut self, context: Context) {
        match self.stage {
            Processor::Fragment if !self.integers => self.kill(),
            _ if !self.integers => self.small_expression(),
            Processor::Fragment => self.fragment_special(),
            Processor::Geometry => self.geometry_special(context),
            Processor::TessControl if self.together(context) => self.exchange_outputs(),
            Processor::Compute if self.together(context) && self.features.contains(Features::MEMORY) => {
                self.exchange_shared();
            }
            _ => self.nothing(),
        }
    }

    /// Emits a statement without an observable effect.
    pub(super) fn nothing(&mut self) {
        match self.choices.below(3) {
            0 => self.emit(Opcode::Nop, None, &[]),
            1 => {
                let kinds = self.builder.immediate_u32(&[7]).replicated(0);
                self.emit(Opcode::Membar, None, &[kinds]);
            }
            _ => {
                let position = self.temporary_to_write(RegisterType::Scrap);
                let destination = self.to_temporary(position, 3);
                self.put_to(Opcode::Clock, destination, &[]);
            }
        }
    }

    /// Discards some lanes, if the shader may do that.
    fn kill(&mut self) {
        if !self.kills {
            return self.small_expression();
        }
        self.diverged = true;
        match self.choices.below(4) {
            0 | 1 => {
                let source = self.modified_source(self.comparable(), 15);
                self.emit(Opcode::KillIf, None, &[source]);
            }
            way => {
                self.condition();
                let opcode = if way == 2 || !self.integers { Opcode::Kill } else { Opcode::Demote };
                self.emit(opcode, None, &[]);
                self.builder.endif();
            }
        }
    }

    fn fragment_special(&mut self) {
        match self.choices.below(6) {
            0 => {
                let colors: Vec<Register> = self
                    .outputs
                    .iter()
                    .filter(|output| output.components == 15)
                    .map(|output| output.array.at(0))
                    .collect();
                let Some(color) = self.choices.pick(&colors) else { return };
                let destination = self.destination(RegisterType::Float);
                self.put_to(Opcode::Fbfetch, destination, &[Src::new(color)]);
            }
            1 | 2 if self.kills => self.kill(),
            3.. => {
                let fits: Vec<_> = self.inputs.iter().copied().filter(|input| input.components == 15).collect();
                let Some(input) = self.choices.pick(&fits) else { return };
                let size = usize::from(input.array.size);
                let mut register = input.array.at(self.choices.below(size) as u16);
                if size > 1
                    && let Some((index, bound)) = self.index(input.array.size)
                {
                    register = input.array.at(self.choices.below(size - usize::from(bound)) as u16);
                    register.indirect = Some(Indirect { array_id: input.array.array_id, ..index });
                }
                let mut source = Src::new(register);
                source.swizzle = std::array::from_fn(|_| self.choices.below(4) as u8);
                source.negate = self.choices.one_in(4);
                let opcode = self.choices.of([Opcode::InterpCentroid, Opcode::InterpSample, Opcode::InterpOffset]);
                let mut sources = vec![source];
                match opcode {
                    Opcode::InterpSample => sources.push(self.source(RegisterType::Integer, 1)),
                    Opcode::InterpOffset => sources.push(self.source(RegisterType::Small, 3)),
                    _ => {}
                }
                let destination = self.destination(RegisterType::Float);
                self.put_to(opcode, destination, &sources);
            }
            _ => self.small_expression(),
        }
    }

    /// Emits a vertex, after writing all outputs, which are undefined after `EMIT`.
    fn geometry_special(&mut self, context: Context) {
        let stream = self.builder.immediate_u32(&[0]).replicated(0);
        if self.choices.one_in(3) {
            self.emit(Opcode::Endprim, None, &[stream]);
            self.emitted.ends_primitives = true;
        } else {
            self.results();
            // Loops have up to four iterations; a subroutine may be called several times.
            let repetitions = MAX_ITERATIONS.pow(context.loops.min(4)) << (context.subroutine.is_some() as u32 * 4);
            self.emitted.bound += repetitions - 1;
        }
    }

    /// One invocation of a patch reads an output that another one writes.
    fn exchange_outputs(&mut self) {
        let fits: Vec<usize> = (0..self.outputs.len())
            .filter(|&o| self.outputs[o].per_vertex && self.outputs[o].kind == RegisterType::Float)
            .collect();
        let Some(position) = self.choices.pick(&fits) else { return };
        let register = self.output_register(position, 0);
        let value = self.source(RegisterType::Float, 15);
        self.emit(Opcode::Mov, Some(Dst::new(register)), &[value]);
        self.barrier();
        let vertex = self.choices.below(usize::from(self.patch_vertices)) as i32;
        let other = Src::new(self.outputs[position].array.at(0).in_dimension(vertex));
        let destination = self.destination_but_outputs(RegisterType::Float);
        self.put_to(Opcode::Mov, destination, &[other]);
        self.barrier();
    }

    /// Returns a destination that no other invocation reads.
    fn destination_but_outputs(&mut self, kind: RegisterType) -> Destination {
        let destination = self.destination(kind);
        if matches!(destination.target, Target::Output(_)) {
            let position = self.temporary_to_write(kind);
            return self.to_temporary(position, destination.dst.write_mask);
        }
        destination
    }

    /// One invocation of a workgroup reads shared memory that another one writes.
    fn exchange_shared(&mut self) {
        let memory = self.builder.memory(MemoryType::Shared);
        let base = self.lane_base();
        let first = self.builder.immediate_u32(&[EXCHANGE]).replicated(0);
        let own = self.compute(RegisterType::Integer, Opcode::Uadd, &[base, first]).replicated(0);
        let value = self.source(RegisterType::Integer, 15);
        self.access(Opcode::Store, Some(Dst::new(memory)), &[own, value]);
        self.barrier();
        let lanes: u32 = self.block.iter().product();
        let other = self.choices.below(lanes as usize) as u32 * STRIDE + EXCHANGE;
        let other = self.builder.immediate_u32(&[other]).replicated(0);
        let destination = self.destination(RegisterType::Integer);
        self.access(Opcode::Load, Some(destination.dst), &[Src::new(memory), other]);
        self.written(destination, destination.dst.write_mask);
        self.barrier();
    }

    fn barrier(&mut self) {
        self.access(Opcode::Barrier, None, &[]);
    }

    /// Emits a memory instruction on a resource other than an image.
    pub(super) fn access(&mut self, opcode: Opcode, dst: Option<Dst>, sources: &[Src]) {
        let mut instruction = Instruction::with_operands(opcode, dst, sources);
        if opcode.info().has_memory {
            let coherent = self.choices.one_in(6) && opcode != Opcode::Barrier;
            let qualifiers = if coherent { MemoryQualifiers::COHERENT } else { MemoryQualifiers::default() };
            instruction.memory = Some(InstructionMemory { qualifiers, ..InstructionMemory::default() });
        }
        self.put(instruction);
    }
}
