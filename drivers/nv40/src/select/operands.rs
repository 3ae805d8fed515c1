//! Values, sources and destinations.

use arrayvec::ArrayVec;
use tgsi_ir::{Def, Inst, Use};
use tgsi_registers::chase::{self, Operand};
use tgsi_registers::select::constant_words;
use tgsi_vec4::simple::{Destination, File, Source};
pub(super) use tgsi_vec4::simple::{Target, absolute, composed, lane, negated};

use super::Selector;

impl Selector<'_> {
    /// The temporary of a value or of a register, given by its handle.
    pub(super) fn temp_of(&mut self, def: Def) -> Source {
        if let Some(location) = self.assignment.as_ref().and_then(|assignment| assignment.location(def)) {
            return Source::new(File::Temporary, location as i32);
        }
        self.temps.of(def, &mut self.program)
    }

    /// The operand that holds a value in SSA form.
    pub(super) fn value(&mut self, def: Def) -> Source {
        match constant_words(self.body, def) {
            Some(words) => Source::new(File::Constant, self.program.constants.intern(words)),
            None => self.operand_in_place(def).unwrap_or_else(|| self.temp_of(def)),
        }
    }

    /// The operand of a value or register.
    fn operand(&mut self, operand: Operand) -> Source {
        match operand {
            Operand::Ssa(def) => self.value(def),
            Operand::Register(register) => self.temp_of(register.handle),
        }
    }

    /// The operand of a source that is not one of an ALU instruction.
    pub(super) fn source_of(&mut self, source: Use) -> Source {
        let operand = chase::chase_src(self.body, source);
        self.operand(operand)
    }

    /// The operand of a source of an ALU instruction, with its modifiers, for the channels of a mask.
    pub(super) fn alu_source(&mut self, inst: Inst, number: usize, mask: u8) -> Source {
        let source = chase::chase_alu_src(self.body, inst, number, self.policy);
        let operand = self.operand(source.operand);
        let value = composed(operand, source.swizzle.of_channels(mask.into()));
        Source { absolute: source.absolute, negate: source.negate, ..value }
    }

    /// The destination of the result of an ALU instruction.
    pub(super) fn alu_target(&mut self, def: Def) -> Target {
        let destination = chase::chase_alu_dest(self.body, def, self.policy);
        let to = match destination.operand {
            Operand::Ssa(def) => self.temp_of(def),
            Operand::Register(register) => self.temp_of(register.handle),
        };
        self.conditions.forget_register(to.index);
        self.addresses.forget_register(to.index);
        Target {
            to: Destination::new(File::Temporary, to.index, destination.channels()),
            saturate: destination.saturate,
        }
    }

    /// The destination of the result of another instruction.
    pub(super) fn target(&mut self, def: Def) -> Target {
        let to = match chase::chase_dest(self.body, def) {
            Operand::Ssa(def) => self.temp_of(def),
            Operand::Register(register) => self.temp_of(register.handle),
        };
        self.conditions.forget_register(to.index);
        self.addresses.forget_register(to.index);
        let mask = self.body.full_mask(def) as u8 & 15;
        Target { to: Destination::new(File::Temporary, to.index, mask), saturate: false }
    }

    /// A target apart from the operands: results in several instructions must not overwrite them. The second value
    /// is to be given to [`deliver`](Self::deliver).
    pub(super) fn apart(&mut self, target: Target, sources: &[Source]) -> (Target, Option<Target>) {
        if !sources.iter().any(|source| target.to.is_read_by(source)) {
            return (target, None);
        }
        let temp = self.new_temp();
        let to = Destination::new(File::Temporary, temp.index, target.to.mask);
        (Target { to, saturate: target.saturate }, Some(target))
    }

    /// Copies a result that was computed apart.
    pub(super) fn deliver(&mut self, from: Target, to: Option<Target>) {
        if let Some(to) = to {
            let copy = Source::new(File::Temporary, from.to.index);
            self.emit(crate::machine::Code::Mov, to.to, [copy]);
        }
    }

    /// The channels of a mask, in groups that a function maps to equal keys.
    pub(super) fn groups<K: PartialEq>(mask: u8, key: impl Fn(u8) -> K) -> ArrayVec<(u8, K), 4> {
        let mut groups: ArrayVec<(u8, K), 4> = ArrayVec::new();
        for c in (0..4).filter(|c| mask >> c & 1 != 0) {
            let key = key(c);
            match groups.iter_mut().find(|(_, known)| *known == key) {
                Some((members, _)) => *members |= 1 << c,
                None => groups.push((1 << c, key)),
            }
        }
        groups
    }
}
