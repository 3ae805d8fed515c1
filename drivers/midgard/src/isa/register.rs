//! Registers, and what selects parts of them.

use super::bits::enumeration;

/// A register of the ALU: 128 bits, as 2, 4, 8 or 16 components.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Register(u8);

/// The use of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// r0 to r7: work registers.
    Work,
    /// r8 to r15: work registers or uniforms, by the number of mapped uniforms.
    WorkOrUniform,
    /// r16 to r23: uniforms, from r23 down.
    Uniform,
    /// r24, r25: results of the first stage, for the second stage of the bundle; also unused operands.
    Pipeline,
    /// r26, r27: sources are embedded constants (r26), results are operands of load/store instructions.
    LoadStore,
    /// r28, r29: sources are results of the texture unit, results are its operands.
    Texture,
    /// r30: not known.
    Unknown,
    /// r31: conditions of selections and branches.
    Condition,
}

/// The rows of the register file: role, first and last register.
const ROLES: [(Role, u8, u8); 8] = [
    (Role::Work, 0, 7),
    (Role::WorkOrUniform, 8, 15),
    (Role::Uniform, 16, 23),
    (Role::Pipeline, 24, 25),
    (Role::LoadStore, 26, 27),
    (Role::Texture, 28, 29),
    (Role::Unknown, 30, 30),
    (Role::Condition, 31, 31),
];

impl Register {
    /// The register of embedded constants, as a source.
    pub const CONSTANTS: Register = Register(26);
    /// The register of unused operands, and of the first result that only the second stage reads.
    pub const UNUSED: Register = Register(24);
    /// The register of conditions.
    pub const CONDITION: Register = Register(31);

    /// Returns a register, if the number is below 32.
    pub fn new(number: u8) -> Option<Register> {
        (number < 32).then_some(Register(number))
    }

    /// A register from five bits.
    pub(crate) fn from_bits(bits: u32) -> Register {
        Register(bits as u8 & 31)
    }

    /// The number.
    pub fn number(self) -> u8 {
        self.0
    }

    /// The use of the register.
    pub fn role(self) -> Role {
        ROLES.iter().find(|&&(_, _, last)| self.0 <= last).map_or(Role::Unknown, |&(role, ..)| role)
    }

    /// The distance to the first register with the same role.
    pub fn index_in_role(self) -> u8 {
        ROLES.iter().find(|&&(_, _, last)| self.0 <= last).map_or(0, |&(_, first, _)| self.0 - first)
    }
}

enumeration! {
    /// A register that load/store instructions read.
    LoadStoreRegister {
        L0 = 0 "AL0" "r26.";
        L1 = 1 "AL1" "r27.";
        ProgramCounter = 2 "PC_SP" "Program counter in xy, stack pointer in zw.";
        LocalStorage = 3 "LOCAL_STORAGE_PTR" "Thread storage in xy, workgroup storage in zw.";
        LocalThread = 4 "LOCAL_THREAD_ID" "The thread in its workgroup.";
        Group = 5 "GROUP_ID" "The workgroup.";
        GlobalThread = 6 "GLOBAL_THREAD_ID" "The thread in the grid.";
        Zero = 7 "0" "Zero.";
    }
}

enumeration! {
    /// The width of a component.
    Width {
        W8 = 0 "8" "16 components of 8 bits.";
        W16 = 1 "16" "8 components of 16 bits.";
        W32 = 2 "32" "4 components of 32 bits.";
        W64 = 3 "64" "2 components of 64 bits.";
    }
}

impl Width {
    /// The number of bits.
    pub fn bits(self) -> u32 {
        8 << self.code()
    }

    /// The number of components of a register.
    pub fn components(self) -> u32 {
        128 / self.bits()
    }

    /// The width with half of the bits.
    pub fn half(self) -> Option<Width> {
        self.code().checked_sub(1).and_then(Width::from_code)
    }
}

/// Four selectors of two bits each, the first in the lowest bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Swizzle(pub u8);

impl Swizzle {
    /// Each component selects itself.
    pub const IDENTITY: Swizzle = Swizzle(0xe4);

    /// Packs selectors, modulo 4.
    pub fn new(selectors: [u8; 4]) -> Swizzle {
        Swizzle(selectors.iter().rev().fold(0, |bits, &selector| bits << 2 | selector & 3))
    }

    /// Returns a selector; the selectors repeat after four.
    pub fn get(self, component: u32) -> u32 {
        u32::from(self.0) >> (component % 4 * 2) & 3
    }
}

impl Default for Swizzle {
    fn default() -> Swizzle {
        Swizzle::IDENTITY
    }
}
