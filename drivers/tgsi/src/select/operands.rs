//! Values as operands and destinations of instructions.

use tgsi::shader::{Dst, Register, Src};
use tgsi::tables::{File, Opcode};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::InstData;
use tgsi_ir::{Def, Inst, Use};
use tgsi_registers::chase;
use tgsi_registers::chase::Operand;

use super::address::AddressUse;
use super::values::Value;
use super::{RegisterStorage, Selector};

/// The lanes that a component mask covers for values of `bits` bits.
pub(super) fn lane_mask(components: u32, bits: u8) -> u8 {
    if bits == 64 {
        (0..2).filter(|c| components & 1 << c != 0).fold(0, |m, c| m | 3 << (2 * c))
    } else {
        (components & 0xf) as u8
    }
}

impl Selector<'_> {
    /// Creates a temporary.
    pub(super) fn temp(&mut self) -> Register {
        let index = self.program.new_temp();
        Register::new(File::Temporary, index as i32)
    }

    /// Creates an immediate.
    pub(super) fn immediate(&mut self, words: [u32; 4]) -> Value {
        let number = self.program.constants.intern(words);
        Value::new(Register::new(File::Immediate, number))
    }

    /// Creates an immediate with one word in all channels.
    pub(super) fn word(&mut self, word: u32) -> Src {
        self.immediate([word; 4]).source([0, 1, 2, 3])
    }

    /// Creates a number for computing indices: a float where there are no integers.
    pub(super) fn number(&mut self, value: u32) -> Src {
        if self.options.native_integers { self.word(value) } else { self.float(value as f32) }
    }

    pub(super) fn float(&mut self, value: f32) -> Src {
        self.word(value.to_bits())
    }

    /// The register that holds an SSA value.
    pub(super) fn value(&mut self, def: Def) -> Value {
        if let Some(value) = self.values.get(def) {
            return value;
        }
        let body = self.body;
        let value = match body.inst(body.def_inst(def)) {
            InstData::LoadConst { .. } => {
                let words = body.def_constant(def).unwrap_or(&[]);
                let mut row = [0; 4];
                if body.bit_size(def) == 64 {
                    for (k, &word) in words.iter().take(2).enumerate() {
                        row[2 * k] = word as u32;
                        row[2 * k + 1] = (word >> 32) as u32;
                    }
                } else {
                    for (lane, &word) in row.iter_mut().zip(words) {
                        *lane = word as u32;
                    }
                }
                self.immediate(row)
            }
            data => {
                // Undefined: use zero.
                debug_assert!(matches!(data, InstData::Undef), "{def:?} has uses but was not selected");
                self.immediate([0; 4])
            }
        };
        self.values.set(def, value);
        value
    }

    pub(super) fn is_undef(&self, def: Def) -> bool {
        matches!(self.body.inst(self.body.def_inst(def)), InstData::Undef)
    }

    /// Binds a value to a new temporary and returns the temporary.
    fn bind_temp(&mut self, def: Def) -> Register {
        let register = self.temp();
        self.values.set(def, Value::new(register));
        register
    }

    /// The value of a register operand of the IR. Loads the address register if needed.
    pub(super) fn register_value(&mut self, register: chase::Register) -> Value {
        match self.storage[register.handle] {
            Some(RegisterStorage::Temp(temp)) => Value::new(Register::new(File::Temporary, temp as i32)),
            Some(RegisterStorage::Array(first, elements, array)) => {
                let operand = self.array_element(first, elements, array, register);
                let value = operand.map_or_else(|| self.immediate([0; 4]), Value::new);
                if self.options.has_single_addresses() && value.register.indirect.is_some() {
                    // The next operand needs the address register.
                    return Value::new(self.computed(Opcode::Mov, 0xf, &[value.source([0, 1, 2, 3])]).register);
                }
                value
            }
            None => self.immediate([0; 4]),
        }
    }

    /// An element of an array of temporaries; none if it is outside.
    fn array_element(&mut self, first: u32, elements: u32, array: u16, register: chase::Register) -> Option<Register> {
        match register.indirect {
            None if register.base < elements => Some(Register::new(File::Temporary, (first + register.base) as i32)),
            None => None,
            Some(index) => {
                let base = i64::from(register.base as i32);
                let range = -base..i64::from(elements) - base;
                let (slot, offset) = self.load_address_within(index, AddressUse::Index, range);
                let base = i64::from(first) + i64::from(register.base as i32) + i64::from(offset);
                Some(Register::new(File::Temporary, base as i32).indexed_by(slot.0, slot.1, array))
            }
        }
    }

    /// An operand of a non-ALU instruction.
    pub(super) fn operand(&mut self, source: Use) -> Value {
        match chase::chase_src(self.body, source) {
            Operand::Ssa(def) => self.value(def),
            Operand::Register(register) => self.register_value(register),
        }
    }

    /// Source `number` of an intrinsic or texture instruction.
    pub(super) fn source(&mut self, inst: Inst, number: usize) -> Value {
        self.operand(self.body.source(inst, number))
    }

    /// Source `number` of an ALU instruction with its modifiers, and its swizzle.
    pub(super) fn alu_source(&mut self, inst: Inst, number: usize) -> (Value, tgsi_ir::Swizzle) {
        let chased = chase::chase_alu_src(self.body, inst, number, self.options.modifiers());
        let mut swizzle = chased.swizzle;
        let mut value = match chased.operand {
            Operand::Ssa(def) => match self.long_constant(def, swizzle) {
                Some(value) => {
                    swizzle = tgsi_ir::Swizzle::IDENTITY;
                    value
                }
                None => self.value(def),
            },
            Operand::Register(register) => self.register_value(register),
        };
        if chased.absolute {
            value.absolute = true;
            value.negate = false;
        }
        value.negate ^= chased.negate;
        (value, swizzle)
    }

    /// The components that a swizzle selects of a constant with more than two components of 64 bits, which exceeds an
    /// immediate; `None` for other values.
    fn long_constant(&mut self, def: Def, swizzle: tgsi_ir::Swizzle) -> Option<Value> {
        let body = self.body;
        if body.bit_size(def) != 64 || body.num_components(def) <= 2 {
            return None;
        }
        let words = body.def_constant(def)?;
        let [first, second] = [0, 1].map(|at| words.get(usize::from(swizzle.get(at))).copied().unwrap_or(0));
        let [low, high] = [first, second].map(|word| [word as u32, (word >> 32) as u32]);
        Some(self.immediate([low[0], low[1], high[0], high[1]]))
    }

    /// The destination of an ALU instruction's result, with a mask of lanes, and whether it is saturated. SSA values
    /// get a temporary.
    pub(super) fn alu_destination(&mut self, def: Def) -> (Dst, bool) {
        let dest = chase::chase_alu_dest(self.body, def, self.options.modifiers());
        let register = match dest.operand {
            Operand::Ssa(def) => self.bind_temp(def),
            Operand::Register(register) => self.destination_register(register),
        };
        (Dst::new(register).masked(lane_mask(dest.write_mask, self.body.bit_size(def))), dest.saturate)
    }

    fn destination_register(&mut self, register: chase::Register) -> Register {
        match self.storage[register.handle] {
            Some(RegisterStorage::Temp(temp)) => Register::new(File::Temporary, temp as i32),
            Some(RegisterStorage::Array(first, elements, array)) => {
                match self.array_element(first, elements, array, register) {
                    Some(element) => element,
                    // Writes outside an array are dropped: the temporary is never read.
                    None => self.temp(),
                }
            }
            None => self.temp(),
        }
    }

    /// The destination of a non-ALU instruction's result.
    pub(super) fn destination(&mut self, def: Def) -> Register {
        match chase::chase_dest(self.body, def) {
            Operand::Ssa(def) => self.bind_temp(def),
            Operand::Register(register) => self.destination_register(register),
        }
    }

    /// Sets a value to the content of a register: by binding if it stays SSA, by a `MOV` otherwise.
    pub(super) fn bind_or_move(&mut self, def: Def, value: Value) {
        if let Operand::Ssa(_) = chase::chase_dest(self.body, def) {
            self.values.set(def, value);
            return;
        }
        let register = self.destination(def);
        let mask = self.full_lanes(def);
        self.emit(Opcode::Mov, Dst::new(register).masked(mask), &[value.source([0, 1, 2, 3])]);
    }

    /// Like [`Selector::bind_or_move`] for a register that may change: always copies.
    pub(super) fn copy_to(&mut self, def: Def, mut value: Value) {
        let mask = self.full_lanes(def);
        let is_indexed = matches!(chase::chase_dest(self.body, def), Operand::Register(r) if r.indirect.is_some());
        if self.options.has_single_addresses() && is_indexed && value.register.indirect.is_some() {
            // The destination needs the address register.
            value = Value::new(self.computed(Opcode::Mov, mask, &[value.source([0, 1, 2, 3])]).register);
        }
        let register = self.destination(def);
        self.emit(Opcode::Mov, Dst::new(register).masked(mask), &[value.source([0, 1, 2, 3])]);
    }

    /// The mask of the components of a value, as lanes.
    pub(super) fn full_lanes(&self, def: Def) -> u8 {
        lane_mask(self.body.full_mask(def), self.body.bit_size(def))
    }

    /// Whether an ALU opcode only moves bits.
    pub(super) fn is_move(op: AluOp) -> bool {
        op.is_vec_or_mov()
    }

    /// Binds a value to zero.
    pub(super) fn bind_zero(&mut self, def: Def) {
        let zero = self.immediate([0; 4]);
        self.bind_or_move(def, zero);
    }
}
