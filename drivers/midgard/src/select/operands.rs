//! Values, sources and destinations.

use tgsi_ir::{Def, Inst, InstData, Use};
use tgsi_registers::chase::{accessed_register, load_reg_for_def, store_reg_for_def};
use tgsi_vec4::simple::{Destination, File, Source};

use super::Selector;
use crate::machine::Op;

/// The source with the components that a swizzle selects from its components.
pub(super) fn swizzled(source: Source, swizzle: [u8; 4]) -> Source {
    source.swizzled(swizzle.map(|c| source.swizzle[usize::from(c & 3)]))
}

/// The source with one component in all channels.
pub(super) fn lane(source: Source, component: u8) -> Source {
    swizzled(source, [component; 4])
}

/// The source, so that components from `first` on have the values of its first ones.
pub(super) fn shifted(source: Source, first: u8) -> Source {
    swizzled(source, [0, 1, 2, 3].map(|c: u8| c.saturating_sub(first)))
}

/// The negated source.
pub(super) fn negated(source: Source) -> Source {
    Source { negate: !source.negate, ..source }
}

impl Selector<'_> {
    /// The temporary of a value or of a register, given by its handle.
    pub(super) fn temp_of(&mut self, def: Def) -> Source {
        let temp = match self.temps[def] {
            Some(temp) => temp,
            None => {
                let temp = self.program.new_temp() as i32;
                self.temps[def] = Some(temp);
                temp
            }
        };
        Source::new(File::Temporary, temp)
    }

    /// The operand that holds a value in SSA form.
    pub(super) fn value(&mut self, def: Def) -> Source {
        let body = self.body;
        let inst = body.def_inst(def);
        match body.inst(inst) {
            InstData::LoadConst { .. } => {
                let words = body.constant(inst).unwrap_or_default();
                let last = words.len().saturating_sub(1);
                let word = |c: usize| words.get(c.min(last)).copied().unwrap_or(0) as u32;
                Source::new(File::Constant, self.program.constants.intern([0, 1, 2, 3].map(word)))
            }
            InstData::Undef => self.word(0),
            _ => self.uniform_in_place(def).unwrap_or_else(|| self.temp_of(def)),
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
        swizzled(operand, [0, 1, 2, 3].map(|c| swizzle.get(c)))
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
        let is_read = |source: &Source| source.file == File::Temporary && source.index == target.index;
        if !sources.iter().any(is_read) {
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
