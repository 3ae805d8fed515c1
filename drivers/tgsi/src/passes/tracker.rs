//! Where in a block registers were last read and written: how far up an instruction may move is then a few look-ups, however far that is.
//!
//! Places are stamped as place + 1, so that 0 is never. Stamps of earlier blocks lie below the start of the block at hand and need not be cleared.

use crate::machine::Program;
use crate::machine::access::{ARRAYS, Access, Components, OUTPUTS, Traits};

/// Stamps of the components of temporaries, address registers and outputs.
pub(super) struct Tracker {
    /// Places of the elements of arrays, and of outputs.
    arrays: usize,
    outputs: usize,
    has_whole_results: bool,
    stamps: Vec<Stamps>,
    output_read: u32,
    output_written: u32,
    /// Something that sees all outputs, or may write any.
    output_barrier: u32,
    array_read: u32,
    array_written: u32,
    indirect_written: u32,
}

/// When the components of a register were last read and written.
#[derive(Clone, Copy, Default)]
struct Stamps {
    read: [u32; 4],
    written: [u32; 4],
}

/// Instructions with stamps of their own, besides those of their registers.
const SPECIAL: Traits = Traits::READS_ARRAY
    .with(Traits::WRITES_ARRAY)
    .with(Traits::WRITES_INDIRECT)
    .with(Traits::READS_OUTPUT)
    .with(Traits::WRITES_OUTPUT)
    .with(Traits::OUTPUT_BARRIER);

impl Tracker {
    pub(super) fn new(program: &Program) -> Tracker {
        let written = program.access.iter().filter_map(Access::written).filter(|w| w.is_output());
        let count = written.map(|w| w.register() - OUTPUTS as usize + 1).max().unwrap_or(0);
        let arrays = program.registers();
        let outputs = arrays + program.first_temp as usize;
        Tracker {
            arrays,
            outputs,
            has_whole_results: program.has_whole_results,
            stamps: vec![Stamps::default(); outputs + count],
            output_read: 0,
            output_written: 0,
            output_barrier: 0,
            array_read: 0,
            array_written: 0,
            indirect_written: 0,
        }
    }

    /// Place of a register in tables; outputs that nobody writes have none.
    pub(super) fn place_of(&self, components: Components) -> usize {
        let register = components.register();
        if components.is_dense() {
            register
        } else if components.is_output() {
            self.outputs + (register - OUTPUTS as usize)
        } else {
            self.arrays + (register - ARRAYS as usize)
        }
    }

    /// How many registers are followed.
    pub(super) fn len(&self) -> usize {
        self.stamps.len()
    }

    fn stamps(&self, components: Components) -> Option<&Stamps> {
        self.stamps.get(self.place_of(components))
    }

    /// Notes what an instruction at a place reads and writes.
    pub(super) fn record(&mut self, access: &Access, place: usize) {
        let stamp = place as u32 + 1;
        for &read in access.reads() {
            let place = self.place_of(read);
            if let Some(stamps) = self.stamps.get_mut(place) {
                mark(&mut stamps.read, read.mask(), stamp);
            }
        }
        if let Some(written) = access.written() {
            let place = self.place_of(written);
            let is_whole = self.has_whole_results && access.traits.any(Traits::STORES_WHOLE);
            if let Some(stamps) = self.stamps.get_mut(place) {
                mark(&mut stamps.written, if is_whole { 0xf } else { written.mask() }, stamp);
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
        note(&mut self.array_read, Traits::READS_ARRAY);
        note(&mut self.array_written, Traits::WRITES_ARRAY);
        note(&mut self.indirect_written, Traits::WRITES_INDIRECT);
    }

    /// The first place at which another instruction may take an instruction in without a change of what it reads, what others read and what is there in the
    /// end.
    pub(super) fn limit(&self, access: &Access) -> usize {
        // Beyond the last write of what it reads.
        let mut limit = 0;
        for &read in access.reads() {
            if let Some(stamps) = self.stamps(read) {
                limit = limit.max(latest(&stamps.written, read.mask()));
            }
        }
        if access.traits.any(Traits::READS_OUTPUT) {
            limit = limit.max(self.output_written);
        }
        if access.traits.any(Traits::READS_ARRAY) {
            limit = limit.max(self.array_written);
        }
        // Not before the last read of what it writes: the instruction there may be the reader itself.
        let mut not_before = 0;
        if let Some(written) = access.written()
            && let Some(stamps) = self.stamps(written)
        {
            limit = limit.max(latest(&stamps.written, written.mask()));
            not_before = latest(&stamps.read, written.mask());
            if written.is_output() {
                not_before = not_before.max(self.output_read).max(self.output_barrier);
            }
        }
        if access.traits.any(Traits::WRITES_ARRAY) {
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
    let mut latest = 0;
    for (component, &stamp) in stamps.iter().enumerate() {
        if mask >> component & 1 != 0 {
            latest = stamp.max(latest);
        }
    }
    latest
}
