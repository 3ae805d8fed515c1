//! The flow of a thread: channels, predicates and branches.

use super::execute::Execution;
use super::message;
use super::registers::REGISTER;
use super::state::{CHANNELS, State};
use super::{Environment, Launch, Registers, RunResult, Simulator, Status, Trap};
use crate::isa::{
    AccessMode, Branch, Chip, File, Instruction, Opcode, Predicate, PredicateControl, Register, arf, target,
};

/// Facts about the pipeline that messages depend on.
#[derive(Clone, Copy)]
pub(super) struct Surroundings {
    pub(super) chip: Chip,
    pub(super) has_sample_mask: bool,
    /// The size of the scratch space in bytes.
    pub(super) scratch: u32,
}

/// A thread that executes a program, see [`Simulator::thread`].
pub struct Thread<'s> {
    simulator: &'s Simulator,
    surroundings: Surroundings,
    flush_denormals: bool,
    limit: u32,
    state: State,
    /// The scratch space, up to the last written byte.
    scratch: Vec<u8>,
    /// The index of the next instruction.
    at: usize,
    /// The channels that wait, and the index of the instruction at which each of them is enabled again.
    waiting: u32,
    targets: [usize; CHANNELS as usize],
    steps: u32,
    executed: u32,
    has_ended: bool,
}

/// The bits of the first channels.
fn first_channels(count: u32) -> u32 {
    u32::MAX.checked_shr(CHANNELS.saturating_sub(count)).unwrap_or(0)
}

/// Combines the flags of groups of channels: all channels of a group get whether any or all of its flags are set.
fn grouped(flags: u32, size: u32, is_any: bool) -> u32 {
    let group = first_channels(size);
    (0..CHANNELS / size).map(|index| group << (index * size)).fold(0, |result, group| {
        let holds = if is_any { flags & group != 0 } else { flags & group == group };
        if holds { result | group } else { result }
    })
}

/// The flags of one component for all four components of each vector.
fn component(flags: u32, component: u32) -> u32 {
    (flags >> component & 0x1111_1111) * 15
}

impl<'s> Thread<'s> {
    pub(super) fn new(simulator: &'s Simulator, launch: &Launch) -> Thread<'s> {
        Thread {
            simulator,
            surroundings: Surroundings {
                chip: simulator.chip,
                has_sample_mask: launch.has_sample_mask,
                scratch: launch.scratch,
            },
            flush_denormals: launch.flush_denormals,
            limit: launch.steps,
            state: State::new(simulator.chip, launch.registers.clone(), launch.dispatch_mask),
            scratch: Vec::new(),
            at: 0,
            waiting: 0,
            targets: [0; CHANNELS as usize],
            steps: 0,
            executed: 0,
            has_ended: false,
        }
    }

    /// Executes the thread up to its end, or to a `wait` without a notification. A thread that has ended, or that
    /// returned a trap, must not be resumed.
    pub fn resume(&mut self, environment: &mut dyn Environment) -> Result<Status, Trap> {
        loop {
            if let Some(status) = self.step(environment)? {
                return Ok(status);
            }
        }
    }

    /// Executes one instruction, unless the thread has ended or waits. As [`Thread::resume`] otherwise.
    pub fn step(&mut self, environment: &mut dyn Environment) -> Result<Option<Status>, Trap> {
        let simulator = self.simulator;
        let next = simulator.instructions.get(self.at).filter(|_| !self.has_ended);
        let Some(instruction) = next else { return Ok(Some(Status::Ended)) };
        if !instruction.has_form() {
            return Err(Trap::Form(self.at));
        }
        if instruction.opcode == Opcode::Wait && !self.take_notification(instruction)? {
            return Ok(Some(Status::Waiting));
        }
        if self.steps >= self.limit {
            return Err(Trap::Steps);
        }
        self.steps += 1;
        self.execute(instruction, environment)?;
        Ok(None)
    }

    /// Notifies the thread: its next `wait` ends.
    pub fn notify(&mut self) {
        self.state.notifications[0] = self.state.notifications[0].wrapping_add(1);
    }

    /// The index of the next instruction.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The general registers.
    pub fn registers(&self) -> &Registers {
        &self.state.registers
    }

    /// The channels that are enabled, before those that wait for the next instruction.
    pub fn active(&self) -> u32 {
        self.state.active
    }

    /// The state of the thread.
    pub fn result(self) -> RunResult {
        RunResult {
            registers: self.state.registers,
            flags: self.state.flags,
            steps: self.steps,
            executed: self.executed,
            has_ended: self.has_ended,
        }
    }

    /// Decrements the notification counter that `wait` states, unless it is zero.
    fn take_notification(&mut self, instruction: &Instruction) -> Result<bool, Trap> {
        let counter = match instruction.destination.map(|destination| destination.register) {
            Some(Register::Direct { file: File::Arf, number, .. }) if number & 0xf0 == arf::NOTIFICATION => {
                self.state.notifications.get_mut(usize::from(number & 15))
            }
            _ => None,
        };
        let counter = counter.ok_or(Trap::Undefined(self.at, "a wait for the register"))?;
        let is_notified = *counter != 0;
        *counter = counter.saturating_sub(1);
        Ok(is_notified)
    }

    /// The channels of an instruction for which its predicate holds. The lowest bit is the first channel of the group.
    fn predicate(&self, instruction: &Instruction) -> u32 {
        let Some(Predicate { control, inverse }) = instruction.predicate else { return u32::MAX };
        let flags = self.state.flag(instruction.flag);
        let other = crate::isa::Flag { register: instruction.flag.register ^ 1, ..instruction.flag };
        let first = instruction.group.first_channel();
        let bits = match control {
            PredicateControl::Normal => flags,
            PredicateControl::X => component(flags, 0),
            PredicateControl::Y => component(flags, 1),
            PredicateControl::Z => component(flags, 2),
            PredicateControl::W => component(flags, 3),
            PredicateControl::AnyV => flags | self.state.flag(other),
            PredicateControl::AllV => flags & self.state.flag(other),
            PredicateControl::Any2 => grouped(flags, 2, true),
            PredicateControl::All2 => grouped(flags, 2, false),
            PredicateControl::Any4 => grouped(flags, 4, true),
            PredicateControl::All4 => grouped(flags, 4, false),
            PredicateControl::Any8 => grouped(flags, 8, true),
            PredicateControl::All8 => grouped(flags, 8, false),
            PredicateControl::Any16 => grouped(flags, 16, true),
            PredicateControl::All16 => grouped(flags, 16, false),
            PredicateControl::Any32 => grouped(flags, 32, true),
            PredicateControl::All32 => grouped(flags, 32, false),
        };
        (if inverse { !bits } else { bits }) >> first
    }

    fn execute(&mut self, instruction: &Instruction, environment: &mut dyn Environment) -> Result<(), Trap> {
        let at = self.at;
        self.enable_waiting();
        self.state.at = at;
        self.state.position = (self.simulator.positions[at] * 8) as u32;
        let first = instruction.group.first_channel();
        let existing = first_channels(instruction.size.channels());
        let channels = if instruction.no_mask { existing } else { self.state.active >> first & existing };
        let predicate = self.predicate(instruction);
        let enabled = channels & predicate;
        self.executed += u32::from(enabled != 0);
        let mut next = at + 1;
        match instruction.opcode {
            Opcode::Nop | Opcode::Wait => {}
            Opcode::Illegal => return Err(Trap::Illegal(at)),
            Opcode::Jmpi => {
                if enabled != 0 {
                    next = self.jump(instruction)?;
                }
            }
            Opcode::If | Opcode::Else | Opcode::Endif | Opcode::While | Opcode::Break | Opcode::Cont | Opcode::Halt => {
                next = self.branch(instruction, channels << first, enabled << first)?
            }
            Opcode::Brd | Opcode::Brc | Opcode::Call | Opcode::Calla | Opcode::Ret => {
                return Err(Trap::Undefined(at, instruction.opcode.name()));
            }
            Opcode::Send | Opcode::Sendc => {
                let mut unit = message::Unit {
                    state: &mut self.state,
                    scratch: &mut self.scratch,
                    surroundings: self.surroundings,
                    environment,
                };
                self.has_ended = unit.send(instruction, enabled)?;
            }
            _ => {
                let plane = place_of_plane(instruction).and_then(|(register, word)| {
                    environment.plane(register, word, &self.coordinates_of_plane(instruction))
                });
                let mut execution = Execution {
                    state: &mut self.state,
                    instruction,
                    channels,
                    predicate,
                    flush_denormals: self.flush_denormals,
                    plane,
                };
                execution.run()?;
            }
        }
        self.at = next;
        Ok(())
    }

    /// The coordinates that `pln` reads for eight channels.
    fn coordinates_of_plane(&self, instruction: &Instruction) -> [super::Lanes; 2] {
        use crate::isa::Register;
        let register = instruction.sources.get(1).and_then(|source| source.operand()).map(|operand| operand.register);
        let Some(Register::Direct { number, .. }) = register else { return [[0; 16]; 2] };
        [number, number.saturating_add(1)].map(|number| {
            let mut lanes = [0; 16];
            lanes[..8].copy_from_slice(&self.state.registers.words(number));
            lanes
        })
    }

    /// Enables the channels that wait for the next instruction.
    fn enable_waiting(&mut self) {
        let mut rest = self.waiting;
        while rest != 0 {
            let channel = rest.trailing_zeros();
            rest &= rest - 1;
            if self.targets[channel as usize] == self.at {
                self.waiting &= !(1 << channel);
                self.state.active |= 1 << channel;
            }
        }
    }

    /// Disables channels up to an instruction.
    fn leave(&mut self, channels: u32, target: usize) {
        let leaving = channels & self.state.active;
        self.state.active &= !leaving;
        self.waiting |= leaving;
        for (channel, place) in self.targets.iter_mut().enumerate() {
            if leaving >> channel & 1 != 0 {
                *place = target;
            }
        }
    }

    /// The index of the instruction at a distance.
    fn target(&self, distance: i16) -> Result<usize, Trap> {
        let positions = &self.simulator.positions;
        target(positions, self.at, distance)
            .ok_or_else(|| Trap::Target(self.at, positions[self.at] + i64::from(distance)))
    }

    /// Executes a branch of channels of the thread, of which some have a predicate that holds. Returns the index of the
    /// next instruction.
    fn branch(&mut self, instruction: &Instruction, channels: u32, holds: u32) -> Result<usize, Trap> {
        let Branch { jip, uip } = instruction.branch().unwrap_or_default();
        let next = self.at + 1;
        match instruction.opcode {
            Opcode::If => self.leave(channels & !holds, self.target(jip)?),
            Opcode::Else => self.leave(channels, self.target(jip)?),
            Opcode::While => {
                let is_taken = holds & self.state.active != 0;
                let start = self.target(jip)?;
                if is_taken {
                    self.leave(channels & !holds, next);
                    return Ok(start);
                }
                return Ok(next);
            }
            Opcode::Break => {
                // The update instruction pointer is that of `while`, and the channels continue after it.
                let end = self.target(uip)?;
                let is_loop = self.simulator.instructions.get(end).is_some_and(|end| end.opcode == Opcode::While);
                if !is_loop {
                    return Err(Trap::Undefined(self.at, "break without while"));
                }
                self.leave(holds, end + 1);
            }
            Opcode::Cont | Opcode::Halt => self.leave(holds, self.target(uip)?),
            _ => {}
        }
        let is_next_empty = self.state.active == 0 && !self.is_waited_for(next);
        if is_next_empty { self.target(jip) } else { Ok(next) }
    }

    /// Whether channels wait for an instruction.
    fn is_waited_for(&self, target: usize) -> bool {
        (0..CHANNELS).any(|channel| self.waiting >> channel & 1 != 0 && self.targets[channel as usize] == target)
    }

    /// The index of the target of `jmpi`: a distance from the next instruction, in units of 64 bits, on Gen7.5 bytes.
    fn jump(&mut self, instruction: &Instruction) -> Result<usize, Trap> {
        let distance = self.state.source(&instruction.sources[1], 0)?.integer();
        let positions = &self.simulator.positions;
        let start = positions[self.at + 1];
        let units = match self.simulator.chip {
            Chip::Gen7 => distance,
            Chip::Gen75 if distance % 8 == 0 => distance / 8,
            Chip::Gen75 => return Err(Trap::Target(self.at, start)),
        };
        let position = start.wrapping_add(units);
        positions.binary_search(&position).map_err(|_| Trap::Target(self.at, position))
    }
}

/// The register and the dword of the coefficients of `pln`.
fn place_of_plane(instruction: &Instruction) -> Option<(u8, u8)> {
    if instruction.opcode != Opcode::Pln {
        return None;
    }
    use crate::isa::{File, Register};
    match instruction.sources.first()?.operand()?.register {
        Register::Direct { file: File::Grf, number, offset } => Some((number, offset / 4)),
        _ => None,
    }
}

/// The number of channels that an instruction executes at a time.
pub(super) fn part(instruction: &Instruction) -> u32 {
    let channels = instruction.size.channels();
    let written = instruction.destination.iter().map(|destination| destination.ty.size());
    let read = instruction.read_sources().iter().filter_map(|source| source.operand()).map(|operand| operand.ty.size());
    let is_wide = written.chain(read).any(|size| size >= 4);
    if is_wide && channels > 8 {
        return 8;
    }
    let spans_two = instruction.destination.is_some_and(|destination| match destination.register {
        Register::Direct { file: File::Grf, offset, .. } if instruction.access == AccessMode::Align1 => {
            let size = destination.ty.size();
            u32::from(offset) + (channels - 1) * destination.stride.elements() * size + size > REGISTER as u32
        }
        _ => false,
    });
    if spans_two && channels > 1 { channels / 2 } else { channels }
}
