//! Reading sources and writing destinations.
//!
//! [`Machine::fetch_sources`] copies all sources of an instruction, with swizzles and modifiers applied, into the
//! machine's scratch rows before anything is written; [`Machine::write_result`] saturates and stores the result under
//! the execution mask.

use super::kernel::{channels, f};
use super::machine::Machine;
use super::program::{Address, Cell, IndexRegister, Op, Operand, Source};

impl Source {
    /// Applies the operand's modifiers to a word.
    pub(super) fn modified(&self, word: u32) -> u32 {
        let changed = word & self.and ^ self.xor;
        if self.negate_integer { changed.wrapping_neg() } else { changed }
    }
}

impl<'a> Machine<'a> {
    /// Fetches all sources of `op` that have values.
    pub(super) fn fetch_sources(&mut self, op: &Op) {
        for (slot, source) in op.sources.iter().enumerate() {
            self.fetch(slot, source);
        }
    }

    fn fetch(&mut self, slot: usize, source: &Source) {
        let lanes = self.lanes;
        // The rows are moved out so that they can be filled from other parts of the machine.
        let mut words = std::mem::take(&mut self.scratch[slot]);
        match source.operand {
            Operand::Resource => {}
            Operand::Direct(cell) => {
                if matches!(cell, Cell::Constant { .. }) && self.observer.is_some() {
                    for lane in 0..lanes {
                        self.observe_register(&source.address, cell, lane);
                    }
                }
                for channel in channels(source.channels) {
                    let component = usize::from(source.swizzle[channel]);
                    let target = &mut words[channel * lanes..][..lanes];
                    match cell {
                        Cell::Row(row) => {
                            target.copy_from_slice(&self.registers[(row + component) * lanes..][..lanes]);
                        }
                        _ => target.fill(self.cell_word(cell, component, 0)),
                    }
                }
            }
            Operand::Indirect(address) => {
                for lane in 0..lanes {
                    let cell = self.locate(&address, lane);
                    self.observe_register(&address, cell, lane);
                    for channel in channels(source.channels) {
                        let component = usize::from(source.swizzle[channel]);
                        words[channel * lanes + lane] = self.cell_word(cell, component, lane);
                    }
                }
            }
        }
        if source.and != u32::MAX || source.xor != 0 || source.negate_integer {
            for channel in channels(source.channels) {
                for word in &mut words[channel * lanes..][..lanes] {
                    *word = source.modified(*word);
                }
            }
        }
        self.scratch[slot] = words;
    }

    /// The cell that an indirect operand refers to in a lane. Lanes that do not execute use index 0.
    pub(super) fn locate(&self, address: &Address, lane: usize) -> Cell {
        let active = self.exec[lane] != 0;
        let index = self.index(address.index, address.index_register, lane, active);
        let outer = address.outer.map(|outer| i64::from(self.index(outer, address.outer_register, lane, active)));
        self.program.layout.cell(address.file, outer, i64::from(index), address.bounds)
    }

    fn index(&self, base: i32, register: Option<IndexRegister>, lane: usize, active: bool) -> i32 {
        match register {
            Some(_) if !active => 0,
            Some(register) => {
                let offset = self.cell_word(register.cell, usize::from(register.component), lane);
                base.wrapping_add(offset as i32)
            }
            None => base,
        }
    }

    /// The number of a resource in `lane`: index and outer index (0 if it has none). A unit need not be declared; its
    /// binding determines whether it exists, and negative units have none.
    pub(super) fn resource_number(&self, address: &Address, lane: usize) -> (i32, i32) {
        let index = self.index(address.index, address.index_register, lane, true);
        let outer = self.index(address.outer.unwrap_or(0), address.outer_register, lane, true);
        (index, outer)
    }

    /// Returns a word of a cell.
    pub(super) fn cell_word(&self, cell: Cell, component: usize, lane: usize) -> u32 {
        match cell {
            Cell::Nowhere => 0,
            Cell::Row(row) => self.registers[(row + component) * self.lanes + lane],
            Cell::Immediate(words) => words[component],
            Cell::Constant { buffer, vector } => self
                .inputs
                .constants
                .get(buffer)
                .and_then(|words| words.get(vector.checked_mul(4)?.checked_add(component)?))
                .copied()
                .unwrap_or(0),
            Cell::Vertex { vertex, register } => self
                .inputs
                .vertices
                .get(vertex)
                .and_then(|registers| registers.get(register))
                .map_or(0, |words| words[component]),
            Cell::OutputVertex { vertex, register } => self
                .vertices
                .get(vertex)
                .and_then(|registers| registers.get(register))
                .map_or(0, |words| words[component]),
            Cell::PatchOutput { register } => self.patch.get(register).map_or(0, |words| words[component]),
        }
    }

    fn set_cell_word(&mut self, cell: Cell, component: usize, lane: usize, word: u32) {
        match cell {
            Cell::Row(row) => self.registers[(row + component) * self.lanes + lane] = word,
            Cell::OutputVertex { vertex, register } => {
                if let Some(words) = self.vertices.get_mut(vertex).and_then(|registers| registers.get_mut(register)) {
                    words[component] = word;
                }
            }
            Cell::PatchOutput { register } => {
                if let Some(words) = self.patch.get_mut(register) {
                    words[component] = word;
                }
            }
            // Not writable.
            Cell::Nowhere | Cell::Immediate(_) | Cell::Constant { .. } | Cell::Vertex { .. } => {}
        }
    }

    /// Stores the channels of `mask` of the result in the executing lanes.
    pub(super) fn write_result(&mut self, op: &Op, mask: u8) {
        let Some(destination) = &op.destination else { return };
        if !matches!(
            destination.file,
            tgsi::tables::File::Temporary | tgsi::tables::File::Output | tgsi::tables::File::Address
        ) {
            return;
        }
        if op.saturate {
            self.saturate(op, mask);
        }
        let lanes = self.lanes;
        match destination.operand {
            Operand::Direct(Cell::Row(row)) => {
                for channel in channels(mask) {
                    let from = &self.result[channel * lanes..][..lanes];
                    let to = &mut self.registers[(row + channel) * lanes..][..lanes];
                    if self.all_execute {
                        to.copy_from_slice(from);
                    } else {
                        for ((to, &from), &executes) in to.iter_mut().zip(from).zip(&self.exec) {
                            *to = *to & !executes | from & executes;
                        }
                    }
                }
            }
            Operand::Direct(cell) => {
                for lane in 0..lanes {
                    self.write_lane(cell, mask, lane);
                }
            }
            Operand::Indirect(address) => {
                for lane in 0..lanes {
                    if self.exec[lane] != 0 {
                        let cell = self.locate(&address, lane);
                        self.observe_register(&address, cell, lane);
                        self.write_lane(cell, mask, lane);
                    }
                }
            }
            Operand::Resource => {}
        }
    }

    fn write_lane(&mut self, cell: Cell, mask: u8, lane: usize) {
        if self.exec[lane] != 0 {
            for channel in channels(mask) {
                let word = self.result[channel * self.lanes + lane];
                self.set_cell_word(cell, channel, lane, word);
            }
        }
    }

    fn saturate(&mut self, op: &Op, mask: u8) {
        let lanes = self.lanes;
        if op.opcode.info().dst_type.is_64bit() {
            for pair in [0, 2].into_iter().filter(|pair| mask >> pair & 3 == 3) {
                for lane in 0..lanes {
                    let low = self.result[pair * lanes + lane];
                    let high = self.result[(pair + 1) * lanes + lane];
                    let value = f64::from_bits(u64::from(high) << 32 | u64::from(low));
                    // -0 is not less than 0, so it is kept.
                    let clamped = if value.is_nan() || value < 0.0 { 0.0 } else { value.min(1.0) };
                    let bits = clamped.to_bits();
                    self.result[pair * lanes + lane] = bits as u32;
                    self.result[(pair + 1) * lanes + lane] = (bits >> 32) as u32;
                }
            }
            return;
        }
        for channel in channels(mask) {
            for word in &mut self.result[channel * lanes..][..lanes] {
                // NaN fails the comparison, and so does -0.
                *word = if f(*word) > 0.0 { f(*word).min(1.0).to_bits() } else { 0 };
            }
        }
    }
}
