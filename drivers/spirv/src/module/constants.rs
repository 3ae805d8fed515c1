//! Constants, each declared once per type.

use spirv::Op;

use super::{Class, Id, Key, Module, ValueType, push};

impl Module {
    /// Declares a constant with the given opcode, type and operands (literals or parts).
    pub fn constant_of(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let key: Key = [op as u32, ty.0].into_iter().chain(operands.iter().copied()).collect();
        if let Some(&id) = self.constants.get(&key) {
            return id;
        }
        let id = self.id();
        self.constants.insert(key, id);
        let words: Key = [ty.0, id.0].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.globals, op, &words);
        id
    }

    /// Declares a constant of all zeros, of any type.
    pub fn null(&mut self, ty: Id) -> Id {
        self.constant_of(Op::ConstantNull, ty, &[])
    }

    /// Declares a 32-bit unsigned integer.
    pub fn uint(&mut self, value: u32) -> Id {
        self.scalar(ValueType::UINT, u64::from(value))
    }

    /// Declares a 32-bit signed integer.
    pub fn int(&mut self, value: i32) -> Id {
        self.scalar(ValueType::INT, u64::from(value as u32))
    }

    /// Declares a 32-bit float.
    pub fn float(&mut self, value: f32) -> Id {
        self.scalar(ValueType::FLOAT, u64::from(value.to_bits()))
    }

    /// Declares a boolean.
    pub fn bool(&mut self, value: bool) -> Id {
        self.scalar(ValueType::BOOL, u64::from(value))
    }

    /// Declares a scalar of the class and size of a type, from its bits.
    pub fn scalar(&mut self, ty: ValueType, bits: u64) -> Id {
        let scalar = ty.scalar();
        let id = self.value_type(scalar);
        match (scalar.class, scalar.bits) {
            (Class::Bool, _) => {
                self.constant_of(if bits & 1 != 0 { Op::ConstantTrue } else { Op::ConstantFalse }, id, &[])
            }
            (_, 64) => self.constant_of(Op::Constant, id, &[bits as u32, (bits >> 32) as u32]),
            (Class::Int, size @ (8 | 16)) => {
                // Narrow signed literals are sign-extended.
                let shift = 64 - u32::from(size);
                self.constant_of(Op::Constant, id, &[((bits << shift) as i64 >> shift) as u32])
            }
            (_, size) => self.constant_of(Op::Constant, id, &[(bits & ((1 << size) - 1)) as u32]),
        }
    }

    /// Declares a scalar or vector from the bits of its components.
    pub fn constant(&mut self, ty: ValueType, bits: &[u64]) -> Id {
        if ty.components <= 1 {
            return self.scalar(ty, bits.first().copied().unwrap_or(0));
        }
        let id = self.value_type(ty);
        if bits.iter().all(|&bits| bits == 0) {
            return self.null(id);
        }
        let parts: Key = bits.iter().map(|&bits| self.scalar(ty, bits).0).collect();
        self.constant_of(Op::ConstantComposite, id, &parts)
    }

    /// Declares a constant with the same bits in all components.
    pub fn splat(&mut self, ty: ValueType, bits: u64) -> Id {
        self.constant(ty, &[bits; 4][..usize::from(ty.components).clamp(1, 4)])
    }
}

/// Returns whether the float with these bits has a decimal literal in every language: not NaN, infinite or denormal.
pub fn is_plain_float(bits: u32) -> bool {
    let value = f32::from_bits(bits);
    value == 0.0 || value.is_normal()
}
