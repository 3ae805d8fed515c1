//! The last reads and writes of registers in a block, from which the distance that an instruction may move up is found
//! by a few lookups, independent of the distance.
//!
//! The instruction at index `i` has the stamp `i + 1`; 0 means never. Stamps of earlier blocks are below the start of
//! the current block and need not be cleared.

use super::access::{Components, RegisterAccess, Traits};
use super::{Machine, Program};

/// The last accesses to the components of temporaries, special registers, fixed registers and outputs.
pub struct LastAccesses {
    /// The first row of fixed registers, and of outputs.
    fixed: usize,
    outputs: usize,
    rows: Vec<Row>,
    output_read: u32,
    output_written: u32,
    /// The last instruction that reads all outputs, or may write any.
    output_barrier: u32,
    fixed_read: u32,
    fixed_written: u32,
    indirect_written: u32,
}

/// The stamps of the last reads and writes of the components of a register.
#[derive(Clone, Copy, Default)]
struct Row {
    read: [u32; 4],
    written: [u32; 4],
}

/// Instructions with further stamps besides those of their registers.
const SPECIAL: Traits = Traits::READS_FIXED
    .with(Traits::WRITES_FIXED)
    .with(Traits::WRITES_INDIRECT)
    .with(Traits::READS_OUTPUT)
    .with(Traits::WRITES_OUTPUT)
    .with(Traits::OUTPUT_BARRIER);

impl LastAccesses {
    /// Creates the state before any access.
    pub fn new<M: Machine>(program: &Program<M>) -> LastAccesses {
        let written = program.access.iter().filter_map(|access| access.written()?.register().as_output());
        let count = written.map(|output| output + 1).max().unwrap_or(0);
        let fixed = program.registers();
        let outputs = fixed + program.first_temp() as usize;
        LastAccesses {
            fixed,
            outputs,
            rows: vec![Row::default(); outputs + count],
            output_read: 0,
            output_written: 0,
            output_barrier: 0,
            fixed_read: 0,
            fixed_written: 0,
            indirect_written: 0,
        }
    }

    /// The row of a register in tables; outputs that are never written have none.
    #[inline]
    pub fn row_of(&self, components: Components) -> usize {
        let register = components.register();
        if let Some(dense) = register.dense() {
            dense
        } else if let Some(output) = register.as_output() {
            self.outputs + output
        } else {
            self.fixed + register.as_fixed().unwrap_or_default()
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    #[inline]
    fn row(&self, components: Components) -> Option<&Row> {
        self.rows.get(self.row_of(components))
    }

    /// Records the accesses of the instruction at an index.
    pub fn record<M: Machine>(&mut self, machine: &M, access: &RegisterAccess<M::Opcode>, index: usize) {
        let stamp = index as u32 + 1;
        for &read in access.reads() {
            let row = self.row_of(read);
            if let Some(row) = self.rows.get_mut(row) {
                mark(&mut row.read, read.mask(), stamp);
            }
        }
        if let Some(written) = access.written() {
            let row = self.row_of(written);
            if let Some(row) = self.rows.get_mut(row) {
                let is_whole = access.traits.any(Traits::STORES_WHOLE) && machine.stores_whole(access);
                mark(&mut row.written, if is_whole { 0xf } else { written.mask() }, stamp);
            }
        }
        if !access.traits.any(SPECIAL) {
            return;
        }
        let note = |latest: &mut u32, traits: Traits| {
            if access.traits.any(traits) {
                *latest = stamp.max(*latest);
            }
        };
        note(&mut self.output_read, Traits::READS_OUTPUT);
        note(&mut self.output_written, Traits::WRITES_OUTPUT);
        note(&mut self.output_barrier, Traits::OUTPUT_BARRIER);
        note(&mut self.fixed_read, Traits::READS_FIXED);
        note(&mut self.fixed_written, Traits::WRITES_FIXED);
        note(&mut self.indirect_written, Traits::WRITES_INDIRECT);
    }

    /// The first index at which an instruction may be merged into another one without changing its operands, the
    /// operands of others and the final results.
    pub fn limit<Opcode>(&self, access: &RegisterAccess<Opcode>) -> usize {
        // After the last write of its operands.
        let mut limit = 0;
        for &read in access.reads() {
            if let Some(row) = self.row(read) {
                limit = limit.max(latest(&row.written, read.mask()));
            }
        }
        if access.traits.any(Traits::READS_OUTPUT) {
            limit = limit.max(self.output_written);
        }
        if access.traits.any(Traits::READS_FIXED) {
            limit = limit.max(self.fixed_written);
        }
        // Not before the last read of its destination: the instruction there may be the reader itself.
        let mut not_before = 0;
        if let Some(written) = access.written()
            && let Some(row) = self.row(written)
        {
            limit = limit.max(latest(&row.written, written.mask()));
            not_before = latest(&row.read, written.mask());
            if written.register().as_output().is_some() {
                not_before = not_before.max(self.output_read).max(self.output_barrier);
            }
        }
        if access.traits.any(Traits::WRITES_FIXED) {
            not_before = not_before.max(self.fixed_read).max(self.indirect_written);
        }
        limit.max(not_before.saturating_sub(1)) as usize
    }
}

#[inline]
fn mark(stamps: &mut [u32; 4], mask: u8, stamp: u32) {
    for (component, known) in stamps.iter_mut().enumerate() {
        if mask >> component & 1 != 0 {
            *known = stamp.max(*known);
        }
    }
}

#[inline]
fn latest(stamps: &[u32; 4], mask: u8) -> u32 {
    let mut latest = 0;
    for (component, &stamp) in stamps.iter().enumerate() {
        if mask >> component & 1 != 0 {
            latest = stamp.max(latest);
        }
    }
    latest
}
