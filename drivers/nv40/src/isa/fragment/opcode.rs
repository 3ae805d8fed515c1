//! The opcodes of fragment programs.

use crate::isa::{Chip, Chips};

/// The use of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Read {
    /// It is not read.
    No,
    /// All components are read, for each component of the result or together.
    Vector,
    /// The first component is read.
    Scalar,
}

/// The part of a pass that executes an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// The top half.
    Top,
    /// The bottom half.
    Bottom,
    /// Either half.
    Any,
    /// The texture side.
    Texture,
    /// None: flow, hints and `KIL`.
    None,
}

/// The kind of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Arithmetic with a precision.
    Arithmetic,
    /// Numbers packed into a component.
    Pack,
    /// Numbers unpacked from a component.
    Unpack,
    /// Texture fetch.
    Texture,
    /// No result.
    Control,
    /// Flow, with targets in the words of S1 and S2.
    Flow,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct FragmentRow {
    /// The opcode.
    pub op: FragmentOp,
    /// The number, with the seventh bit of flow opcodes.
    pub code: u8,
    /// The name in listings, without suffixes.
    pub name: &'static str,
    /// The use of S0, S1, S2.
    pub reads: [Read; 3],
    /// The unit.
    pub unit: Unit,
    /// The kind.
    pub class: Class,
    /// The chips that have it.
    pub chips: Chips,
}

macro_rules! reads {
    (-) => {
        Read::No
    };
    (V) => {
        Read::Vector
    };
    (S) => {
        Read::Scalar
    };
}

macro_rules! opcodes {
    ($($variant:ident $code:literal $name:literal $s0:tt $s1:tt $s2:tt $unit:ident $class:ident $chips:ident
       $description:literal;)*) => {
        /// An opcode.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum FragmentOp {
            $(#[doc = $description] $variant,)*
        }

        const TABLE: &[FragmentRow] = &[$(FragmentRow {
            op: FragmentOp::$variant,
            code: $code,
            name: $name,
            reads: [reads!($s0), reads!($s1), reads!($s2)],
            unit: Unit::$unit,
            class: Class::$class,
            chips: Chips::$chips,
        }),*];
    };
}

opcodes! {
    Nop 0x00 "NOP" - - - Any Control All "No operation.";
    Mov 0x01 "MOV" V - - Any Arithmetic All "S0.";
    Mul 0x02 "MUL" V V - Any Arithmetic All "S0 * S1.";
    Add 0x03 "ADD" V V - Any Arithmetic All "S0 + S1.";
    Mad 0x04 "MAD" V V V Any Arithmetic All "S0 * S1 + S2, with a rounded product.";
    Dp3 0x05 "DP3" V V - Any Arithmetic All "The dot product of three components, replicated.";
    Dp4 0x06 "DP4" V V - Any Arithmetic All "The dot product of four components, replicated.";
    Dst 0x07 "DST" V V - Bottom Arithmetic All "(1, S0.y * S1.y, S0.z, S1.w).";
    Min 0x08 "MIN" V V - Any Arithmetic All "The minimum.";
    Max 0x09 "MAX" V V - Any Arithmetic All "The maximum.";
    Slt 0x0a "SLT" V V - Any Arithmetic All "1 if S0 < S1, otherwise 0.";
    Sge 0x0b "SGE" V V - Any Arithmetic All "1 if S0 >= S1, otherwise 0.";
    Sle 0x0c "SLE" V V - Any Arithmetic All "1 if S0 <= S1, otherwise 0.";
    Sgt 0x0d "SGT" V V - Any Arithmetic All "1 if S0 > S1, otherwise 0.";
    Sne 0x0e "SNE" V V - Any Arithmetic All "1 if S0 and S1 differ, otherwise 0.";
    Seq 0x0f "SEQ" V V - Any Arithmetic All "1 if S0 = S1, otherwise 0.";
    Frc 0x10 "FRC" V - - Bottom Arithmetic All "The difference of S0 and its floor.";
    Flr 0x11 "FLR" V - - Bottom Arithmetic All "The floor.";
    Kil 0x12 "KIL" - - - None Control All "Kills the fragment if any component passes the test.";
    Pk4b 0x13 "PK4B" V - - Bottom Pack All "Packs four signed bytes.";
    Up4b 0x14 "UP4B" S - - Texture Unpack All "Unpacks four signed bytes.";
    Ddx 0x15 "DDX" V - - Texture Arithmetic All "The derivative along x, of two components.";
    Ddy 0x16 "DDY" V - - Texture Arithmetic All "The derivative along y, of two components.";
    Tex 0x17 "TEX" V - - Texture Texture All "Samples a texture.";
    Txp 0x18 "TXP" V - - Texture Texture All "Samples a texture at S0 / S0.w.";
    Txd 0x19 "TXD" V V V Texture Texture Nv40 "Samples a texture with derivatives S1 and S2.";
    Rcp 0x1a "RCP" S - - Top Arithmetic All "1 / x.";
    Rsq 0x1b "RSQ" S - - Top Arithmetic All "1 / sqrt(|x|).";
    Ex2 0x1c "EX2" S - - Bottom Arithmetic All "2^x.";
    Lg2 0x1d "LG2" S - - Bottom Arithmetic All "log2(x).";
    Lit 0x1e "LIT" V - - Bottom Arithmetic Nv30 "Coefficients of lighting.";
    Lrp 0x1f "LRP" V V V Bottom Arithmetic All "S0 * S1 + (1 - S0) * S2.";
    Str 0x20 "STR" - - - Any Arithmetic All "1.";
    Sfl 0x21 "SFL" - - - Any Arithmetic All "0.";
    Cos 0x22 "COS" S - - Bottom Arithmetic All "cos(x), in radians.";
    Sin 0x23 "SIN" S - - Bottom Arithmetic All "sin(x), in radians.";
    Pk2h 0x24 "PK2H" V - - Bottom Pack All "Packs two half floats.";
    Up2h 0x25 "UP2H" S - - Texture Unpack All "Unpacks two half floats.";
    Pow 0x26 "POW" S S - Bottom Arithmetic Nv30 "S0.x to the power of S1.x.";
    Pk4ub 0x27 "PK4UB" V - - Bottom Pack All "Packs four unsigned bytes.";
    Up4ub 0x28 "UP4UB" S - - Texture Unpack All "Unpacks four unsigned bytes.";
    Pk2us 0x29 "PK2US" V - - Bottom Pack All "Packs two unsigned shorts.";
    Up2us 0x2a "UP2US" S - - Texture Unpack All "Unpacks two unsigned shorts.";
    X2d 0x2b "X2D" V V V Texture Arithmetic Nv30 "Transforms two coordinates: S0 + S1.x * S2.xz + S1.y * S2.yw.";
    Pkg 0x2c "PKG" V - - Bottom Pack All "Packs colours, in a format that is not known here.";
    Upg 0x2d "UPG" S - - Texture Unpack All "Unpacks colours, in a format that is not known here.";
    Dp2a 0x2e "DP2A" V V S Any Arithmetic Nv40 "The dot product of two components, plus S2.x.";
    Txl 0x2f "TXL" V S - Texture Texture Nv40 "Samples a texture with level of detail S1.x.";
    Txb 0x31 "TXB" V S - Texture Texture All "Samples a texture with bias S1.x.";
    Rfl 0x36 "RFL" V V - Bottom Arithmetic All "Reflects S1 at the axis S0.";
    Dp2 0x38 "DP2" V V - Any Arithmetic Nv40 "The dot product of two components, replicated.";
    Nrm 0x39 "NRM" V - - Texture Arithmetic Nv40 "S0.xyz divided by its length.";
    Div 0x3a "DIV" V S - Top Arithmetic Nv40 "S0 / S1.x.";
    Divsq 0x3b "DIVSQ" V S - Top Arithmetic Nv40 "S0 / sqrt(|S1.x|).";
    Lif 0x3c "LIF" V - - Bottom Arithmetic Nv40 "(1, y, 2^w if y > 0, 1): the last step of lighting.";
    Fenct 0x3d "FENCT" - - - None Control All "Ends the top half of a pass.";
    Fencb 0x3e "FENCB" - - - None Control All "Ends the bottom half of a pass.";
    Brk 0x40 "BRK" - - - None Flow Nv40 "Leaves the loop if any component passes the test.";
    Cal 0x41 "CAL" - - - None Flow Nv40 "Calls a subroutine if any component passes the test.";
    If 0x42 "IF" - - - None Flow Nv40 "Chooses the then part if any component passes the test.";
    Loop 0x43 "LOOP" - - - None Flow Nv40 "Repeats, with a counter for the index of inputs.";
    Rep 0x44 "REP" - - - None Flow Nv40 "Repeats.";
    Ret 0x45 "RET" - - - None Flow Nv40 "Returns if any component passes the test.";
}

impl FragmentOp {
    /// All rows of the table, in the order of the variants.
    pub fn table() -> &'static [FragmentRow] {
        TABLE
    }

    /// Returns the row of the table.
    pub fn row(self) -> &'static FragmentRow {
        &TABLE[self as usize]
    }

    /// Returns the opcode of a number, if the chip has it.
    pub fn from_code(code: u32, chip: Chip) -> Option<FragmentOp> {
        TABLE.iter().find(|row| u32::from(row.code) == code && chip.is_in(row.chips)).map(|row| row.op)
    }
}
