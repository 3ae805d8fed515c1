//! Derefs of samplers and images, and registers of inputs and outputs.

use tgsi::builder::BuildError;
use tgsi::shader::Register;
use tgsi::tables::Opcode;
use tgsi_ir::body::DerefKind;
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::{Def, Inst, Use};

use super::address::AddressUse;
use super::declared::ArrayKey;
use super::declared::IoFile;
use super::values::Value;
use super::{MAX_REGISTERS, Selector, Unit};
use crate::DriverError;

impl Selector<'_> {
    /// Selects derefs of samplers and images.
    pub(super) fn select_deref(&mut self, inst: Inst, kind: DerefKind) {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return };
        match kind {
            DerefKind::Var(variable) => {
                let base = self.shader.variables[variable].binding;
                self.units[def] = Some(Unit { variable, base, dynamic: None });
            }
            DerefKind::Array => {
                let Some(parent) = self.units[body.src(inst, 0)] else { return };
                let stride = body.deref_type(def).map_or(1, |ty| self.shader.types.array_elements(ty).max(1));
                let mut unit = parent;
                // A constant beyond the array is treated like a run-time index: no operand may refer to the register
                // that it would reach.
                let length = body.deref_type(body.src(inst, 0)).map(|ty| self.shader.types.array_elements(ty) / stride);
                let named = body
                    .constant_component(body.src(inst, 1), 0)
                    .filter(|&index| length.is_none_or(|length| index < u64::from(length)))
                    .map(|index| u64::from(unit.base).saturating_add(index.saturating_mul(u64::from(stride))))
                    .filter(|&base| base <= tgsi::limits::MAX_OPERAND_INDEX as u64);
                match named {
                    Some(base) => unit.base = base as u32,
                    None => {
                        // The index is read here: a register may change before the deref is used.
                        let mut index = self.source(inst, 1);
                        self.note_index(body.src(inst, 1));
                        if let Some((value, offset)) = self.offset_of_unit(body.src(inst, 1), &unit, stride) {
                            index = value;
                            unit.base = unit.base.wrapping_add_signed(offset);
                        }
                        let (multiply, add) = match self.options.native_integers {
                            true => (Opcode::Umul, Opcode::Uadd),
                            false => (Opcode::Mul, Opcode::Add),
                        };
                        let mut sum = if stride == 1 {
                            self.computed(Opcode::Mov, 1, &[index.lane(0)])
                        } else {
                            let stride = self.number(stride);
                            self.computed(multiply, 1, &[index.lane(0), stride])
                        };
                        if let Some(outer) = unit.dynamic {
                            sum = self.computed(add, 1, &[outer.lane(0), sum.swizzled([0; 4])]);
                        }
                        unit.dynamic = Some(Value::new(sum.register));
                    }
                }
                self.units[def] = Some(unit);
            }
            _ => {}
        }
    }

    /// The unit that a deref refers to.
    pub(super) fn unit(&self, inst: Inst, deref: Def) -> Result<Unit, DriverError> {
        self.units[deref].ok_or(DriverError::NotLowered { inst, what: "a deref of a value other than a variable" })
    }

    /// Whether a run-time offset may lead to registers of several variables.
    pub(super) fn reaches_others(&self, file: IoFile, inst: Inst) -> bool {
        let range = self.body.index(inst, IndexKind::Range);
        self.declared.reaches_others(file, self.body.index(inst, IndexKind::Base), range)
    }

    /// An input or output register: `base + offset`. With a run-time offset it is in the array of the variable, or in
    /// the whole file if the access exceeds the variable. None where there is no register: an access by a constant
    /// beyond the file.
    pub(super) fn io_register(
        &mut self,
        file: IoFile,
        inst: Inst,
        offset: Use,
    ) -> Result<Option<Register>, DriverError> {
        let tgsi_file = file.tgsi();
        let base = self.body.index(inst, IndexKind::Base);
        let def = self.body.src_def(offset);
        let named = |add: i32| {
            let index = i64::from(base) + i64::from(add);
            // The limit of an operand in a token; with an address, the constant part may be below the file.
            i16::try_from(index).map(i32::from).map_err(|_| BuildError::TooManyRegisters(tgsi_file))
        };
        // A variable beyond the range of operands; an access that reaches there from another one finds no register.
        if base as u32 >= MAX_REGISTERS && self.declared.has_register(file, base as u32) {
            return Err(BuildError::TooManyRegisters(tgsi_file).into());
        }
        Ok(match self.body.constant_component(def, 0) {
            Some(constant) => {
                named(constant as i32).ok().filter(|&index| index >= 0).map(|index| Register::new(tgsi_file, index))
            }
            None => {
                // An access that reaches several variables refers to the one in the source.
                let reaches_others = self.reaches_others(file, inst);
                let range = if reaches_others { i64::MIN..i64::MAX } else { self.declared.offsets_within(file, base) };
                let (slot, add) = match self.register_that_hosts_index(file, base, def).filter(|_| reaches_others) {
                    Some(add) => (self.load_difference(def, add), add),
                    None => self.load_address_of_source(offset, AddressUse::Index, range),
                };
                let array = if reaches_others {
                    0
                } else {
                    let first = self.declared.array_of(file, base as u32);
                    self.declared.array_number(ArrayKey { file, first })
                };
                Some(Register::new(tgsi_file, named(add)?).indexed_by(slot.0, slot.1, array))
            }
        })
    }
}
