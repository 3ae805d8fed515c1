//! The positions of all fields of vertex instructions.

use crate::isa::Chip;
use crate::isa::bits::Field;

/// The positions for a chip.
pub(super) struct Layout {
    pub(super) address_component: Field,
    pub(super) address_register: Field,
    pub(super) condition_swizzle: Field,
    pub(super) condition: Field,
    pub(super) tests_condition: Field,
    pub(super) writes_condition: Field,
    pub(super) abs: [Field; 3],
    /// The scalar opcode, from its lowest bits up.
    pub(super) sca: &'static [Field],
    pub(super) vec: Field,
    pub(super) constant: Field,
    pub(super) input: Field,
    /// The operands, from their lowest bits up.
    pub(super) sources: [&'static [Field]; 3],
    /// The width of register numbers in operands.
    pub(super) register_bits: u32,
    /// The register of the vector unit; that of both units on GeForce FX. All bits set: none.
    pub(super) vec_register: Field,
    pub(super) vec_mask: Field,
    pub(super) sca_mask: Field,
    pub(super) output: Field,
    pub(super) indexes_constant: Field,
    pub(super) end: Field,
    /// Fields of the chips after GeForce FX.
    pub(super) curie: Option<Curie>,
    /// Fields of GeForce FX.
    pub(super) rankine: Option<Rankine>,
    /// Bits without a known meaning, in each word.
    pub(super) reserved: [u32; 4],
}

/// Fields of GeForce 6 and 7.
pub(super) struct Curie {
    pub(super) condition_register: Field,
    pub(super) saturate: Field,
    pub(super) indexes_input: Field,
    pub(super) indexes_output: Field,
    /// Whether the vector unit writes the condition register.
    pub(super) vec_writes_condition: Field,
    /// Whether the vector unit writes the output.
    pub(super) vec_writes_output: Field,
    pub(super) sca_register: Field,
}

/// Fields of GeForce FX.
pub(super) struct Rankine {
    /// Whether the output is an output; otherwise it is a constant.
    pub(super) output_enable: Field,
    pub(super) vec_output_mask: Field,
    pub(super) sca_output_mask: Field,
}

static NV40: Layout = Layout {
    address_component: Field::new(0, 0, 2),
    address_register: Field::bit(0, 24),
    condition_swizzle: Field::new(0, 2, 8),
    condition: Field::new(0, 10, 3),
    tests_condition: Field::bit(0, 13),
    writes_condition: Field::bit(0, 14),
    abs: [Field::bit(0, 21), Field::bit(0, 22), Field::bit(0, 23)],
    sca: &[Field::new(1, 27, 5)],
    vec: Field::new(1, 22, 5),
    constant: Field::new(1, 12, 10),
    input: Field::new(1, 8, 4),
    sources: [
        &[Field::new(2, 23, 9), Field::new(1, 0, 8)],
        &[Field::new(2, 6, 17)],
        &[Field::new(3, 21, 11), Field::new(2, 0, 6)],
    ],
    register_bits: 6,
    vec_register: Field::new(0, 15, 6),
    vec_mask: Field::new(3, 13, 4),
    sca_mask: Field::new(3, 17, 4),
    output: Field::new(3, 2, 5),
    indexes_constant: Field::bit(3, 1),
    end: Field::bit(3, 0),
    curie: Some(Curie {
        condition_register: Field::bit(0, 25),
        saturate: Field::bit(0, 26),
        indexes_input: Field::bit(0, 27),
        indexes_output: Field::bit(0, 28),
        vec_writes_condition: Field::bit(0, 29),
        vec_writes_output: Field::bit(0, 30),
        sca_register: Field::new(3, 7, 6),
    }),
    rankine: None,
    reserved: [0x8000_0000, 0, 0, 0],
};

static NV30: Layout = Layout {
    address_component: Field::new(0, 1, 2),
    address_register: Field::bit(0, 24),
    condition_swizzle: Field::new(0, 3, 8),
    condition: Field::new(0, 11, 3),
    tests_condition: Field::bit(0, 14),
    writes_condition: Field::bit(0, 15),
    abs: [Field::bit(0, 21), Field::bit(0, 22), Field::bit(0, 23)],
    sca: &[Field::new(1, 28, 4), Field::bit(0, 0)],
    vec: Field::new(1, 23, 5),
    constant: Field::new(1, 14, 9),
    input: Field::new(1, 9, 4),
    sources: [
        &[Field::new(2, 26, 6), Field::new(1, 0, 9)],
        &[Field::new(2, 11, 15)],
        &[Field::new(3, 28, 4), Field::new(2, 0, 11)],
    ],
    register_bits: 4,
    vec_register: Field::new(0, 16, 5),
    vec_mask: Field::new(3, 20, 4),
    sca_mask: Field::new(3, 24, 4),
    output: Field::new(3, 2, 5),
    indexes_constant: Field::bit(3, 1),
    end: Field::bit(3, 0),
    curie: None,
    rankine: Some(Rankine {
        output_enable: Field::bit(3, 11),
        vec_output_mask: Field::new(3, 12, 4),
        sca_output_mask: Field::new(3, 16, 4),
    }),
    reserved: [0xfe00_0000, 0x0000_2000, 0, 0x0000_0780],
};

impl Layout {
    pub(super) fn of(chip: Chip) -> &'static Layout {
        match chip {
            Chip::Nv30 => &NV30,
            Chip::Nv40 | Chip::Rsx => &NV40,
        }
    }

    /// The position of the swizzle in an operand. Branch targets are at the same place of S2.
    pub(super) fn swizzle_shift(&self) -> u32 {
        2 + self.register_bits
    }

    /// The position of the negation in an operand.
    pub(super) fn negate_shift(&self) -> u32 {
        self.swizzle_shift() + 8
    }

    /// An operand that no opcode reads: type 0 is invalid, so that it is an input.
    pub(super) fn unread(&self) -> u32 {
        INPUT | 0x1b << self.swizzle_shift()
    }
}

/// The types of operands.
pub(super) const TEMPORARY: u32 = 1;
pub(super) const INPUT: u32 = 2;
pub(super) const CONSTANT: u32 = 3;
/// The bits of a branch target within S2. On GeForce 6 and 7, the bit of its absolute value adds one.
pub(super) const TARGET_BITS: u32 = 9;
/// The position of the texture unit within S1.
pub(super) const TEXTURE_SHIFT: u32 = 2;
/// The position of the number of a boolean within S2; the value that takes the branch follows.
pub(super) const BOOLEAN_SHIFT: u32 = 2;
