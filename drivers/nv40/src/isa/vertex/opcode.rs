//! The opcodes of vertex programs.

use crate::isa::{Chip, Chips};

/// A bit for each operand S0, S1, S2.
const S0: u8 = 1;
const S1: u8 = 2;
const S2: u8 = 4;

const ALL: Chips = Chips::All;
const NV40: Chips = Chips::Nv40;
const NONE: BranchFields = BranchFields::None;
const TARGET: BranchFields = BranchFields::Target;
const BOOLEAN: BranchFields = BranchFields::Boolean;

/// Use of the branch fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BranchFields {
    /// None.
    None,
    /// The target.
    Target,
    /// The target and a boolean.
    Boolean,
}

/// A row of the table of vector opcodes.
#[derive(Clone, Copy, Debug)]
pub struct VecRow {
    /// The opcode.
    pub op: VecOp,
    /// The number in the words.
    pub code: u8,
    /// The name in listings.
    pub name: &'static str,
    /// The operands that are read, a bit for each.
    pub sources: u8,
    /// The chips that have it.
    pub chips: Chips,
}

/// A row of the table of scalar opcodes.
#[derive(Clone, Copy, Debug)]
pub struct ScaRow {
    /// The opcode.
    pub op: ScaOp,
    /// The number in the words.
    pub code: u8,
    /// The name in listings.
    pub name: &'static str,
    /// The operands that are read, a bit for each: S2 or none.
    pub sources: u8,
    /// Whether only the first component of the operand is read, and the result is replicated.
    pub scalar: bool,
    /// The branch fields in use.
    pub branch: BranchFields,
    /// The chips that have it.
    pub chips: Chips,
}

macro_rules! opcodes {
    ($(#[$doc:meta])* $op:ident $row:ident $table:ident {
        $($variant:ident $code:literal $name:literal $($field:ident $value:expr),*; $description:literal)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $op {
            $(#[doc = $description] $variant,)*
        }

        const $table: &[$row] = &[$($row { op: $op::$variant, code: $code, name: $name, $($field: $value),* }),*];

        impl $op {
            /// All rows of the table, in the order of the variants.
            pub fn table() -> &'static [$row] {
                $table
            }

            /// Returns the row of the table.
            pub fn row(self) -> &'static $row {
                &$table[self as usize]
            }

            /// Returns the opcode of a number, if the chip has it.
            pub fn from_code(code: u32, chip: Chip) -> Option<$op> {
                $table.iter().find(|row| u32::from(row.code) == code && chip.is_in(row.chips)).map(|row| row.op)
            }
        }
    };
}

opcodes! {
    /// An opcode of the vector unit.
    VecOp VecRow VEC {
        Nop 0x00 "NOP" sources 0, chips ALL; "No operation."
        Mov 0x01 "MOV" sources S0, chips ALL; "S0."
        Mul 0x02 "MUL" sources S0 | S1, chips ALL; "S0 * S1."
        Add 0x03 "ADD" sources S0 | S2, chips ALL; "S0 + S2."
        Mad 0x04 "MAD" sources S0 | S1 | S2, chips ALL; "S0 * S1 + S2, with a rounded product."
        Dp3 0x05 "DP3" sources S0 | S1, chips ALL; "The dot product of three components, replicated."
        Dph 0x06 "DPH" sources S0 | S1, chips ALL; "The dot product of (S0.xyz, 1) and S1, replicated."
        Dp4 0x07 "DP4" sources S0 | S1, chips ALL; "The dot product of four components, replicated."
        Dst 0x08 "DST" sources S0 | S1, chips ALL; "(1, S0.y * S1.y, S0.z, S1.w)."
        Min 0x09 "MIN" sources S0 | S1, chips ALL; "The minimum."
        Max 0x0a "MAX" sources S0 | S1, chips ALL; "The maximum."
        Slt 0x0b "SLT" sources S0 | S1, chips ALL; "1 if S0 < S1, otherwise 0."
        Sge 0x0c "SGE" sources S0 | S1, chips ALL; "1 if S0 >= S1, otherwise 0."
        Arl 0x0d "ARL" sources S0, chips ALL; "Loads an address register, rounded down."
        Frc 0x0e "FRC" sources S0, chips ALL; "The difference of S0 and its floor."
        Flr 0x0f "FLR" sources S0, chips ALL; "The floor."
        Seq 0x10 "SEQ" sources S0 | S1, chips ALL; "1 if S0 = S1, otherwise 0."
        Sfl 0x11 "SFL" sources 0, chips ALL; "0."
        Sgt 0x12 "SGT" sources S0 | S1, chips ALL; "1 if S0 > S1, otherwise 0."
        Sle 0x13 "SLE" sources S0 | S1, chips ALL; "1 if S0 <= S1, otherwise 0."
        Sne 0x14 "SNE" sources S0 | S1, chips ALL; "1 if S0 and S1 differ, otherwise 0."
        Str 0x15 "STR" sources 0, chips ALL; "1."
        Ssg 0x16 "SSG" sources S0, chips ALL; "The sign of S0: -1, 0 or 1."
        Arr 0x17 "ARR" sources S0, chips ALL; "Loads an address register, rounded to nearest even."
        Ara 0x18 "ARA" sources 0, chips ALL; "Loads (x + z, y + w, x + z, y + w) of an address register."
        Txl 0x19 "TXL" sources S0, chips NV40; "Samples a texture at S0.xyz with level of detail S0.w."
    }
}

opcodes! {
    /// An opcode of the scalar unit. It reads S2.
    ScaOp ScaRow SCA {
        Nop 0x00 "NOP" sources 0, scalar false, branch NONE, chips ALL; "No operation."
        Mov 0x01 "MOV" sources S2, scalar false, branch NONE, chips ALL; "All components of S2."
        Rcp 0x02 "RCP" sources S2, scalar true, branch NONE, chips ALL; "1 / x."
        Rcc 0x03 "RCC" sources S2, scalar true, branch NONE, chips ALL; "1 / x, of a magnitude in 2^-64 to 2^64."
        Rsq 0x04 "RSQ" sources S2, scalar true, branch NONE, chips ALL; "1 / sqrt(x)."
        Exp 0x05 "EXP" sources S2, scalar true, branch NONE, chips ALL; "(2^floor(x), x - floor(x), 2^x to 11 bits, 1)."
        Log 0x06 "LOG" sources S2, scalar true, branch NONE, chips ALL; "(exponent, mantissa, log2(|x|) to 11 bits, 1)."
        Lit 0x07 "LIT" sources S2, scalar false, branch NONE, chips ALL; "Coefficients of lighting, to 11 bits."
        BraA 0x08 "BRA" sources 0, scalar false, branch NONE, chips ALL; "Branches to the slot in an address register."
        Bra 0x09 "BRA" sources 0, scalar false, branch TARGET, chips ALL; "Branches."
        Cal 0x0b "CAL" sources 0, scalar false, branch TARGET, chips ALL; "Calls a subroutine; its number is uncertain."
        Ret 0x0c "RET" sources 0, scalar false, branch NONE, chips ALL; "Returns from a subroutine."
        Lg2 0x0d "LG2" sources S2, scalar true, branch NONE, chips ALL; "log2(x)."
        Ex2 0x0e "EX2" sources S2, scalar true, branch NONE, chips ALL; "2^x."
        Sin 0x0f "SIN" sources S2, scalar true, branch NONE, chips ALL; "sin(x), in radians."
        Cos 0x10 "COS" sources S2, scalar true, branch NONE, chips ALL; "cos(x), in radians."
        Brb 0x11 "BRB" sources 0, scalar false, branch BOOLEAN, chips NV40; "Branches by a boolean."
        Clb 0x12 "CLB" sources 0, scalar false, branch BOOLEAN, chips NV40; "Calls a subroutine by a boolean."
        Pusha 0x13 "PUSHA" sources 0, scalar false, branch NONE, chips NV40; "Pushes an address register."
        Popa 0x14 "POPA" sources 0, scalar false, branch NONE, chips NV40; "Pops an address register."
    }
}

impl VecOp {
    /// Whether the destination is an address register.
    pub fn writes_address(self) -> bool {
        matches!(self, VecOp::Arl | VecOp::Arr | VecOp::Ara)
    }

    /// Whether the opcode itself reads the address component of the slot.
    pub fn reads_address(self) -> bool {
        self == VecOp::Ara
    }
}

impl ScaOp {
    /// Whether the opcode itself uses the address component of the slot.
    pub fn uses_address(self) -> bool {
        matches!(self, ScaOp::BraA | ScaOp::Pusha | ScaOp::Popa)
    }
}
