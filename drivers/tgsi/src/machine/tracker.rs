//! Where in a block registers were last read and written: how far up an instruction may move is then a few look-ups, however far that is.
//!
//! Places are stamped as place + 1, so that 0 is never. Stamps of earlier blocks lie below the start of the block at hand and need not be cleared.

use tgsi::shader::{Instruction, Register};
use tgsi::tables::{File, Opcode};

use super::Program;
use super::operands::{for_each_read, written};

/// Address registers that are told apart.
const ADDRESS_REGISTERS: u32 = 8;

/// Stamps of the components of temporaries, address registers and outputs.
pub(super) struct Tracker {
    first_temp: i32,
    temps: u32,
    outputs: u32,
    read: Vec<[u32; 4]>,
    written: Vec<[u32; 4]>,
    output_read: u32,
    output_written: u32,
    /// Something that sees all outputs, or may write any.
    output_barrier: u32,
    array_read: u32,
    array_written: u32,
    indirect_written: u32,
}

impl Tracker {
    pub(super) fn new(program: &Program) -> Tracker {
        let outputs = program.instructions.iter().flat_map(|i| &i.dst).map(|d| &d.register);
        let outputs = outputs.filter(|r| r.file == File::Output && r.indirect.is_none());
        let outputs = outputs.map(|r| u32::try_from(r.index).unwrap_or(0) + 1).max().unwrap_or(0);
        let temps = program.num_temps;
        let count = (temps + ADDRESS_REGISTERS + outputs) as usize;
        Tracker {
            first_temp: program.first_temp as i32,
            temps,
            outputs,
            read: vec![[0; 4]; count],
            written: vec![[0; 4]; count],
            output_read: 0,
            output_written: 0,
            output_barrier: 0,
            array_read: 0,
            array_written: 0,
            indirect_written: 0,
        }
    }

    /// Number of a register that is followed.
    pub(super) fn number(&self, file: File, index: i32) -> Option<usize> {
        let index = u32::try_from(index).ok()?;
        let (base, count) = match file {
            File::Temporary => (0, self.temps),
            File::Address => (self.temps, ADDRESS_REGISTERS),
            File::Output => (self.temps + ADDRESS_REGISTERS, self.outputs),
            _ => return None,
        };
        (index < count).then_some((base + index) as usize)
    }

    /// How many registers are followed.
    pub(super) fn len(&self) -> usize {
        self.read.len()
    }

    fn in_array(&self, register: &Register) -> bool {
        register.file == File::Temporary && (register.indirect.is_some() || register.index < self.first_temp)
    }

    /// Notes what an instruction at a place reads and writes.
    pub(super) fn record(&mut self, instruction: &Instruction, place: usize) {
        let stamp = place as u32 + 1;
        for_each_read(instruction, |file, index, mask| {
            if let Some(number) = self.number(file, index) {
                mark(&mut self.read[number], mask, stamp);
            }
        });
        if let Some((file, index, mask)) = written(instruction)
            && let Some(number) = self.number(file, index)
        {
            mark(&mut self.written[number], mask, stamp);
        }
        for src in &instruction.src {
            if src.register.file == File::Output {
                self.output_read = self.output_read.max(stamp);
            }
            if self.in_array(&src.register) {
                self.array_read = self.array_read.max(stamp);
            }
        }
        for dst in &instruction.dst {
            if dst.register.file == File::Output {
                self.output_written = self.output_written.max(stamp);
                if dst.register.indirect.is_some() || dst.register.dimension.is_some() {
                    self.output_barrier = self.output_barrier.max(stamp);
                }
            }
            if self.in_array(&dst.register) {
                self.array_written = self.array_written.max(stamp);
            }
            if dst.register.indirect.is_some() {
                self.indirect_written = self.indirect_written.max(stamp);
            }
        }
        if matches!(instruction.opcode, Opcode::Emit | Opcode::Endprim | Opcode::Barrier | Opcode::Fbfetch) {
            self.output_barrier = self.output_barrier.max(stamp);
        }
    }

    /// The first place at which another instruction may take an instruction in without a change of what it reads, what others read and what is there in the
    /// end.
    pub(super) fn limit(&self, instruction: &Instruction) -> usize {
        // Beyond the last write of what it reads.
        let mut limit = 0;
        for_each_read(instruction, |file, index, mask| {
            if let Some(number) = self.number(file, index) {
                limit = limit.max(latest(&self.written[number], mask));
            }
        });
        for src in &instruction.src {
            if src.register.file == File::Output {
                limit = limit.max(self.output_written);
            }
            if self.in_array(&src.register) {
                limit = limit.max(self.array_written);
            }
        }
        // Not before the last read of what it writes: the instruction there may be the reader itself.
        let mut not_before = 0;
        if let Some((file, index, mask)) = written(instruction)
            && let Some(number) = self.number(file, index)
        {
            limit = limit.max(latest(&self.written[number], mask));
            not_before = latest(&self.read[number], mask);
            if file == File::Output {
                not_before = not_before.max(self.output_read).max(self.output_barrier);
            }
        }
        if instruction.dst.first().is_some_and(|d| self.in_array(&d.register)) {
            not_before = not_before.max(self.array_read).max(self.indirect_written);
        }
        limit.max(not_before.saturating_sub(1)) as usize
    }
}

fn mark(stamps: &mut [u32; 4], mask: u8, stamp: u32) {
    for (component, place) in stamps.iter_mut().enumerate() {
        if mask >> component & 1 != 0 {
            *place = stamp.max(*place);
        }
    }
}

fn latest(stamps: &[u32; 4], mask: u8) -> u32 {
    stamps.iter().enumerate().filter(|(c, _)| mask >> c & 1 != 0).map(|(_, &s)| s).max().unwrap_or(0)
}
