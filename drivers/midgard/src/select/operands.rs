//! Values, sources and destinations.

use tgsi_ir::{Def, Inst, InstData, Use};
use tgsi_registers::chase::{accessed_register, load_reg_for_def, store_reg_for_def};
use tgsi_registers::select::constant_words;
use tgsi_vec4::simple::{Destination, File, Source};
pub(super) use tgsi_vec4::simple::{composed, lane, negated};

use super::Selector;
use crate::machine::Op;

/// The source, so that components from `first` on have the values of its first ones.
pub(super) fn shifted(source: Source, first: u8) -> Source {
    composed(source, [0, 1, 2, 3].map(|c: u8| c.saturating_sub(first)))
}

impl Selector<'_> {
    /// The temporary of a value or of a register, given by its handle.
    pub(super) fn temp_of(&mut self, def: Def) -> Source {
        self.temps.of(def, &mut self.program)
    }

    /// The operand that holds a value in SSA form.
    pub(super) fn value(&mut self, def: Def) -> Source {
        match constant_words(self.body, def) {
            Some(words) => Source::new(File::Constant, self.program.constants.intern(words)),
            None => self.uniform_in_place(def).unwrap_or_else(|| self.temp_of(def)),
        }
    }

    /// The operand of a definition: of a load of a register, the register.
    pub(super) fn source_of_def(&mut self, def: Def) -> Source {
        // Elements of arrays are loaded to the temporary of the load.
        match load_reg_for_def(self.body, def).and_then(|load| accessed_register(self.body, load)) {
            Some(register) if self.arrays[register.handle].is_none() => self.temp_of(register.handle),
            _ => self.value(def),
        }
    }

    /// The operand of a source that is not one of an ALU instruction.
    pub(super) fn source_of(&mut self, source: Use) -> Source {
        self.source_of_def(self.body.src_def(source))
    }

    /// The operand of a source of an ALU instruction.
    pub(super) fn alu_source(&mut self, inst: Inst, number: usize) -> Source {
        let source = self.body.source(inst, number);
        let swizzle = self.body.swizzle(source);
        let operand = self.source_of(source);
        composed(operand, [0, 1, 2, 3].map(|c| swizzle.get(c)))
    }

    /// The destination of a result, with the components that a store to a register writes. An element of an array is
    /// stored from a temporary, by the store.
    pub(super) fn target(&mut self, def: Def) -> Destination {
        let mut mask = self.body.full_mask(def) as u8 & 15;
        let mut temp = def;
        if let Some(store) = store_reg_for_def(self.body, def)
            && let Some(register) = accessed_register(self.body, store)
        {
            mask &= self.body.write_mask(store) as u8;
            if self.arrays[register.handle].is_none() {
                temp = register.handle;
            }
        }
        Destination::new(File::Temporary, self.temp_of(temp).index, mask)
    }

    /// A destination apart from the operands: results in several instructions must not overwrite them. The second value
    /// is to be given to [`deliver`](Self::deliver).
    pub(super) fn apart(&mut self, target: Destination, sources: &[Source]) -> (Destination, Option<Destination>) {
        if !sources.iter().any(|source| target.is_read_by(source)) {
            return (target, None);
        }
        (Destination { index: self.new_temp().index, ..target }, Some(target))
    }

    /// Copies a result that was computed apart.
    pub(super) fn deliver(&mut self, from: Destination, to: Option<Destination>) {
        if let Some(to) = to {
            self.emit(Op::Mov, to, [Source::new(File::Temporary, from.index)]);
        }
    }

    /// Whether a value is undefined.
    pub(super) fn is_undef(&self, def: Def) -> bool {
        matches!(self.body.inst(self.body.def_inst(def)), InstData::Undef)
    }

    /// The constant of a source.
    pub(super) fn constant_of(&self, source: Use) -> Option<u32> {
        self.body.constant_component(self.body.src_def(source), 0).map(|value| value as u32)
    }
}
