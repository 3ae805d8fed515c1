//! The registers that hold the SSA values: most are temporaries, so that the table takes one word per value.

use cranelift_entity::SecondaryMap;
use tgsi::shader::{Register, Src};
use tgsi::tables::File;
use tgsi_ir::Def;

/// The register that holds a value. Lane `i` is component `i` of a 32-bit value; component `k` of a 64-bit value has
/// lanes `2k` and `2k + 1`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Value {
    pub(crate) register: Register,
    pub(crate) lanes: [u8; 4],
    pub(crate) absolute: bool,
    pub(crate) negate: bool,
}

impl Value {
    pub(super) fn new(register: Register) -> Value {
        Value { register, lanes: [0, 1, 2, 3], absolute: false, negate: false }
    }

    /// The source operand with lane `channels[c]` in channel `c`.
    pub(super) fn source(&self, channels: [u8; 4]) -> Src {
        Src {
            absolute: self.absolute,
            negate: self.negate,
            ..Src::new(self.register).swizzled(channels.map(|c| self.lanes[usize::from(c & 3)]))
        }
    }

    /// Lane `lane` in all channels.
    pub(super) fn lane(&self, lane: u8) -> Src {
        self.source([lane; 4])
    }
}

/// The registers that hold SSA values.
pub(super) struct Values {
    /// For each value 0 if it has no register, `2n + 1` for temporary `n`, `2n + 2` for entry `n` of `others`.
    holders: SecondaryMap<Def, u32>,
    others: Vec<Value>,
}

impl Values {
    /// Creates a table for `count` values without registers.
    pub(super) fn new(count: usize) -> Values {
        let mut holders = SecondaryMap::new();
        holders.resize(count);
        Values { holders, others: Vec::new() }
    }

    /// The temporary or operand that holds a value.
    #[inline]
    pub(super) fn get(&self, def: Def) -> Option<Value> {
        let holder = self.holders[def];
        let number = holder.checked_sub(1)? >> 1;
        if holder & 1 != 0 {
            return Some(Value::new(Register::new(File::Temporary, number as i32)));
        }
        self.others.get(number as usize).copied()
    }

    /// Sets the register of a value.
    pub(super) fn set(&mut self, def: Def, value: Value) {
        let index = value.register.index;
        self.holders[def] = if index >= 0 && value == Value::new(Register::new(File::Temporary, index)) {
            2 * index as u32 + 1
        } else {
            self.others.push(value);
            2 * self.others.len() as u32
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_last() {
        let mut values = Values::new(3);
        let [a, b, c] = [0, 1, 2].map(Def::from_u32);
        let temporary = Value::new(Register::new(File::Temporary, i32::MAX));
        let constant = Value { lanes: [1; 4], ..Value::new(Register::new_2d(File::Constant, 1, 2)) };
        let negated = Value { negate: true, ..temporary };
        values.set(a, temporary);
        values.set(b, constant);
        assert_eq!([a, b, c].map(|def| values.get(def)), [Some(temporary), Some(constant), None]);
        values.set(a, negated);
        values.set(b, temporary);
        assert_eq!([a, b, c].map(|def| values.get(def)), [Some(negated), Some(temporary), None]);
    }
}
