//! The opcodes of the ALU.

/// A unit of the ALU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// Vector multiplier, first stage.
    Vmul,
    /// Scalar adder, first stage.
    Sadd,
    /// Vector adder, second stage.
    Vadd,
    /// Scalar multiplier, second stage.
    Smul,
    /// Table functions, second stage.
    Vlut,
}

impl Unit {
    /// All units, in the order of their words.
    pub const ALL: [Unit; 5] = [Unit::Vmul, Unit::Sadd, Unit::Vadd, Unit::Smul, Unit::Vlut];

    /// The name in listings.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Vmul => "vmul",
            Unit::Sadd => "sadd",
            Unit::Vadd => "vadd",
            Unit::Smul => "smul",
            Unit::Vlut => "lut",
        }
    }

    /// Whether instructions of the unit have the form of scalar ones.
    pub fn is_scalar(self) -> bool {
        matches!(self, Unit::Sadd | Unit::Smul)
    }

    /// Whether the unit belongs to the second stage.
    pub fn is_second_stage(self) -> bool {
        matches!(self, Unit::Vadd | Unit::Smul | Unit::Vlut)
    }

    /// The bit of the control word that enables the unit.
    pub(crate) fn enable(self) -> u32 {
        1 << (17 + 2 * self as u32)
    }
}

/// A set of units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Units(u8);

impl Units {
    const VMUL: Units = Units::of(&[Unit::Vmul]);
    const VADD: Units = Units::of(&[Unit::Vadd]);
    pub(crate) const LUT: Units = Units::of(&[Unit::Vlut]);
    const MUL: Units = Units::of(&[Unit::Vmul, Unit::Smul]);
    const MUL_LUT: Units = Units::of(&[Unit::Vmul, Unit::Smul, Unit::Vlut]);
    const ADD: Units = Units::of(&[Unit::Vadd, Unit::Sadd]);
    const MOST: Units = Units::of(&[Unit::Vmul, Unit::Sadd, Unit::Vadd, Unit::Smul]);
    const ALL: Units = Units::of(&Unit::ALL);
    const VECTOR: Units = Units::of(&[Unit::Vmul, Unit::Vadd]);
    const SELECT: Units = Units::of(&[Unit::Vadd, Unit::Smul]);
    const SELECT_V: Units = Units::VADD;
    const NONE: Units = Units(0);

    const fn of(units: &[Unit]) -> Units {
        let mut bits = 0;
        let mut index = 0;
        while index < units.len() {
            bits |= 1 << units[index] as u8;
            index += 1;
        }
        Units(bits)
    }

    /// Whether a unit is in the set.
    pub fn contains(self, unit: Unit) -> bool {
        self.0 >> unit as u8 & 1 != 0
    }
}

/// The interpretation of sources. It decides on modifiers and on the text of constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// Floats.
    Float,
    /// Integers, signed in listings.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Bits, hexadecimal in listings.
    Bits,
}

impl Input {
    /// Whether sources have the modifiers of integers.
    pub fn is_integer(self) -> bool {
        self != Input::Float
    }
}

/// The interpretation of the result, which decides on output modifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// A float.
    Float,
    /// An integer, or a truth value of 0 or all bits.
    Integer,
}

/// A property beyond the other columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Property {
    /// None.
    None,
    /// The sources may be exchanged.
    Commutes,
    /// The only source is the second one.
    Second,
    /// The first source is doubled.
    Doubles,
    /// The condition in r31 is read, which an earlier unit of the bundle writes.
    Condition,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct AluRow {
    /// The opcode.
    pub op: AluOp,
    /// The number.
    pub code: u8,
    /// The name in listings. Signed and unsigned forms share names.
    pub name: &'static str,
    /// The units on which the opcode is known to work.
    pub units: Units,
    /// The interpretation of sources.
    pub input: Input,
    /// The interpretation of the result.
    pub output: Output,
    /// The number of sources with a meaning.
    pub sources: u8,
    /// The number of components that are reduced to one, or 0 for opcodes by component.
    pub reduces: u8,
    /// A further property.
    pub property: Property,
}

macro_rules! property {
    (NONE) => {
        Property::None
    };
    (COMMUTES) => {
        Property::Commutes
    };
    (SECOND) => {
        Property::Second
    };
    (DOUBLES) => {
        Property::Doubles
    };
    (CONDITION) => {
        Property::Condition
    };
}

macro_rules! opcodes {
    ($($variant:ident $code:literal $name:literal $units:ident $input:ident $output:ident $sources:literal
       $reduces:literal $property:tt $description:literal;)*) => {
        /// An opcode; a and b are the sources.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum AluOp {
            $(#[doc = $description] $variant = $code,)*
        }

        const TABLE: &[AluRow] = &[$(AluRow {
            op: AluOp::$variant,
            code: $code,
            name: $name,
            units: Units::$units,
            input: Input::$input,
            output: Output::$output,
            sources: $sources,
            reduces: $reduces,
            property: property!($property),
        }),*];

        impl AluOp {
            /// Returns the opcode with a number.
            pub fn from_code(code: u32) -> Option<AluOp> {
                match code {
                    $($code => Some(AluOp::$variant),)*
                    _ => None,
                }
            }

            /// Returns the row of the table.
            pub fn row(self) -> &'static AluRow {
                match self {
                    $(AluOp::$variant => const { &TABLE[index_of($code)] },)*
                }
            }
        }
    };
}

/// The index of the row with a number.
const fn index_of(code: u8) -> usize {
    let mut index = 0;
    while TABLE[index].code != code {
        index += 1;
    }
    index
}

// Variant, number, name, units, input, output, sources, reduced components, property, description.
opcodes! {
    Fadd 0x10 "FADD" ADD Float Float 2 0 COMMUTES "a + b, rounded to nearest even.";
    FaddRtz 0x11 "FADD.rtz" ADD Float Float 2 0 COMMUTES "a + b, rounded to zero.";
    FaddRtn 0x12 "FADD.rtn" ADD Float Float 2 0 COMMUTES "a + b, rounded down.";
    FaddRtp 0x13 "FADD.rtp" ADD Float Float 2 0 COMMUTES "a + b, rounded up.";
    Fmul 0x14 "FMUL" MUL_LUT Float Float 2 0 COMMUTES "a * b, rounded to nearest even.";
    FmulRtz 0x15 "FMUL.rtz" MUL_LUT Float Float 2 0 COMMUTES "a * b, rounded to zero.";
    FmulRtn 0x16 "FMUL.rtn" MUL_LUT Float Float 2 0 COMMUTES "a * b, rounded down.";
    FmulRtp 0x17 "FMUL.rtp" MUL_LUT Float Float 2 0 COMMUTES "a * b, rounded up.";
    Fmin 0x28 "FMIN" MOST Float Float 2 0 COMMUTES "min(a, b), the other if one is NaN.";
    FminNan 0x29 "FMIN.nan" MOST Float Float 2 0 COMMUTES "min(a, b), NaN if one is NaN.";
    Fabsmin 0x2a "FABSMIN" MOST Float Float 2 0 COMMUTES "min(|a|, |b|), the other if one is NaN.";
    FabsminNan 0x2b "FABSMIN.nan" MOST Float Float 2 0 COMMUTES "min(|a|, |b|), NaN if one is NaN.";
    Fmax 0x2c "FMAX" MOST Float Float 2 0 COMMUTES "max(a, b), the other if one is NaN.";
    FmaxNan 0x2d "FMAX.nan" MOST Float Float 2 0 COMMUTES "max(a, b), NaN if one is NaN.";
    Fabsmax 0x2e "FABSMAX" MOST Float Float 2 0 COMMUTES "max(|a|, |b|), the other if one is NaN.";
    FabsmaxNan 0x2f "FABSMAX.nan" MOST Float Float 2 0 COMMUTES "max(|a|, |b|), NaN if one is NaN.";
    Fmov 0x30 "FMOV" ALL Float Float 1 0 SECOND "b, rounded to nearest even.";
    FmovRtz 0x31 "FMOV.rtz" ALL Float Float 1 0 SECOND "b, rounded to zero.";
    FmovRtn 0x32 "FMOV.rtn" ALL Float Float 1 0 SECOND "b, rounded down.";
    FmovRtp 0x33 "FMOV.rtp" ALL Float Float 1 0 SECOND "b, rounded up.";
    Froundeven 0x34 "FROUNDEVEN" ADD Float Float 1 0 NONE "a as an integer, rounded to nearest even.";
    Ftrunc 0x35 "FTRUNC" ADD Float Float 1 0 NONE "a as an integer, rounded to zero.";
    Ffloor 0x36 "FFLOOR" ADD Float Float 1 0 NONE "a as an integer, rounded down.";
    Fceil 0x37 "FCEIL" ADD Float Float 1 0 NONE "a as an integer, rounded up.";
    Ffma 0x38 "FMA" LUT Float Float 2 0 NONE "a.x * a.y + b, rounded to nearest even.";
    FfmaRtz 0x39 "FMA.rtz" LUT Float Float 2 0 NONE "a.x * a.y + b, rounded to zero.";
    FfmaRtn 0x3a "FMA.rtn" LUT Float Float 2 0 NONE "a.x * a.y + b, rounded down.";
    FfmaRtp 0x3b "FMA.rtp" LUT Float Float 2 0 NONE "a.x * a.y + b, rounded up.";
    Fdot3 0x3c "FDOT3" VMUL Float Float 2 3 COMMUTES "The dot product of three components.";
    Fdot3r 0x3d "FDOT3R" VMUL Float Float 2 3 COMMUTES "The dot product of three components; not known how it differs.";
    Fdot4 0x3e "FDOT4" VMUL Float Float 2 4 COMMUTES "The dot product of four components.";
    Freduce 0x3f "FREDUCE" NONE Float Float 2 0 NONE "Not known.";
    Iadd 0x40 "ADD" MOST Signed Integer 2 0 COMMUTES "a + b.";
    Ishladd 0x41 "ADD" MUL Signed Integer 2 0 DOUBLES "(a << 1) + b.";
    Isub 0x46 "SUB" MOST Signed Integer 2 0 NONE "a - b.";
    Ishlsub 0x47 "SUB" MUL Signed Integer 2 0 DOUBLES "(a << 1) - b.";
    Iaddsat 0x48 "ADDSAT" ADD Signed Integer 2 0 COMMUTES "a + b, saturated, signed.";
    Uaddsat 0x49 "ADDSAT" ADD Unsigned Integer 2 0 COMMUTES "a + b, saturated, unsigned.";
    Isubsat 0x4e "SUBSAT" ADD Signed Integer 2 0 NONE "a - b, saturated, signed.";
    Usubsat 0x4f "SUBSAT" ADD Unsigned Integer 2 0 NONE "a - b, saturated, unsigned.";
    Imul 0x58 "MUL" MUL Signed Integer 2 0 COMMUTES "a * b, the low half.";
    Iwmul 0x59 "WMUL.s" VMUL Signed Integer 2 0 COMMUTES "a * b with twice the width, both signed.";
    Uwmul 0x5a "WMUL.u" VMUL Unsigned Integer 2 0 COMMUTES "a * b with twice the width, both unsigned.";
    Iuwmul 0x5b "WMUL.su" VMUL Signed Integer 2 0 COMMUTES "a * b with twice the width, signed and unsigned.";
    Imin 0x60 "MIN" MOST Signed Integer 2 0 COMMUTES "min(a, b), signed.";
    Umin 0x61 "MIN" MOST Unsigned Integer 2 0 COMMUTES "min(a, b), unsigned.";
    Imax 0x62 "MAX" MOST Signed Integer 2 0 COMMUTES "max(a, b), signed.";
    Umax 0x63 "MAX" MOST Unsigned Integer 2 0 COMMUTES "max(a, b), unsigned.";
    Iavg 0x64 "AVG.rtz" ADD Signed Integer 2 0 COMMUTES "(a + b) >> 1, signed.";
    Uavg 0x65 "AVG.rtz" ADD Unsigned Integer 2 0 COMMUTES "(a + b) >> 1, unsigned.";
    Iravg 0x66 "AVG.round" ADD Signed Integer 2 0 COMMUTES "(a + b + 1) >> 1, signed.";
    Uravg 0x67 "AVG.round" ADD Unsigned Integer 2 0 COMMUTES "(a + b + 1) >> 1, unsigned.";
    Iasr 0x68 "ASR" ADD Signed Integer 2 0 NONE "a >> b, signed.";
    Ilsr 0x69 "LSR" ADD Signed Integer 2 0 NONE "a >> b, unsigned.";
    Ishlsat 0x6c "SHL.sat" ADD Signed Integer 2 0 NONE "a << b, saturated, signed.";
    Ushlsat 0x6d "SHL.sat" ADD Unsigned Integer 2 0 NONE "a << b, saturated, unsigned.";
    Ishl 0x6e "SHL" ADD Signed Integer 2 0 NONE "a << b.";
    Iand 0x70 "AND" MOST Bits Integer 2 0 COMMUTES "a & b.";
    Ior 0x71 "OR" MOST Bits Integer 2 0 COMMUTES "a | b.";
    Inand 0x72 "NAND" MOST Bits Integer 2 0 COMMUTES "!(a & b).";
    Inor 0x73 "NOR" MOST Bits Integer 2 0 COMMUTES "!(a | b).";
    Iandnot 0x74 "ANDNOT" MOST Bits Integer 2 0 NONE "a & !b.";
    Iornot 0x75 "ORNOT" MOST Bits Integer 2 0 NONE "a | !b.";
    Ixor 0x76 "XOR" MOST Bits Integer 2 0 COMMUTES "a ^ b.";
    Inxor 0x77 "NXOR" MOST Bits Integer 2 0 COMMUTES "!(a ^ b).";
    Iclz 0x78 "CLZ" ADD Bits Integer 1 0 NONE "The number of leading zero bits.";
    Ipopcnt 0x7a "POPCNT" VADD Bits Integer 1 0 NONE "The number of set bits.";
    Imov 0x7b "MOV" ALL Signed Integer 1 0 SECOND "b.";
    Iabsdiff 0x7c "ABSDIFF" ADD Signed Integer 2 0 NONE "|a - b|, signed.";
    Uabsdiff 0x7d "ABSDIFF" ADD Unsigned Integer 2 0 NONE "|a - b|, unsigned.";
    Ichoose 0x7e "CHOOSE" ADD Signed Integer 2 0 NONE "The components of a with the numbers in b.";
    Feq 0x80 "FCMP.eq" MOST Float Integer 2 0 COMMUTES "All bits set where a = b.";
    Fne 0x81 "FCMP.ne" MOST Float Integer 2 0 COMMUTES "All bits set where a and b differ.";
    Flt 0x82 "FCMP.lt" MOST Float Integer 2 0 NONE "All bits set where a < b.";
    Fle 0x83 "FCMP.le" MOST Float Integer 2 0 NONE "All bits set where a <= b.";
    FallEq 0x88 "FCMP.all.eq" VECTOR Float Integer 2 4 COMMUTES "All bits set if a = b in all components.";
    FallNe 0x89 "FCMP.all.ne" VECTOR Float Integer 2 4 COMMUTES "All bits set if a and b differ in all components.";
    FallLt 0x8a "FCMP.all.lt" VECTOR Float Integer 2 4 NONE "All bits set if a < b in all components.";
    FallLe 0x8b "FCMP.all.le" VECTOR Float Integer 2 4 NONE "All bits set if a <= b in all components.";
    FanyEq 0x90 "FCMP.any.eq" VECTOR Float Integer 2 4 COMMUTES "All bits set if a = b in any component.";
    FanyNe 0x91 "FCMP.any.ne" VECTOR Float Integer 2 4 COMMUTES "All bits set if a and b differ in any component.";
    FanyLt 0x92 "FCMP.any.lt" VECTOR Float Integer 2 4 NONE "All bits set if a < b in any component.";
    FanyLe 0x93 "FCMP.any.le" VECTOR Float Integer 2 4 NONE "All bits set if a <= b in any component.";
    F2i 0x98 "F2I" ADD Float Integer 1 0 NONE "a as a signed integer, rounded to nearest even.";
    F2iRtz 0x99 "F2I.rtz" ADD Float Integer 1 0 NONE "a as a signed integer, rounded to zero.";
    F2iRtn 0x9a "F2I.rtn" ADD Float Integer 1 0 NONE "a as a signed integer, rounded down.";
    F2iRtp 0x9b "F2I.rtp" ADD Float Integer 1 0 NONE "a as a signed integer, rounded up.";
    F2u 0x9c "F2U" ADD Float Integer 1 0 NONE "a as an unsigned integer, rounded to nearest even.";
    F2uRtz 0x9d "F2U.rtz" ADD Float Integer 1 0 NONE "a as an unsigned integer, rounded to zero.";
    F2uRtn 0x9e "F2U.rtn" ADD Float Integer 1 0 NONE "a as an unsigned integer, rounded down.";
    F2uRtp 0x9f "F2U.rtp" ADD Float Integer 1 0 NONE "a as an unsigned integer, rounded up.";
    Ieq 0xa0 "CMP.eq" MOST Signed Integer 2 0 COMMUTES "All bits set where a = b.";
    Ine 0xa1 "CMP.ne" MOST Signed Integer 2 0 COMMUTES "All bits set where a and b differ.";
    Ult 0xa2 "CMP.lt" MOST Unsigned Integer 2 0 NONE "All bits set where a < b, unsigned.";
    Ule 0xa3 "CMP.le" MOST Unsigned Integer 2 0 NONE "All bits set where a <= b, unsigned.";
    Ilt 0xa4 "CMP.lt" MOST Signed Integer 2 0 NONE "All bits set where a < b, signed.";
    Ile 0xa5 "CMP.le" MOST Signed Integer 2 0 NONE "All bits set where a <= b, signed.";
    IallEq 0xa8 "CMP.all.eq" VECTOR Signed Integer 2 4 COMMUTES "All bits set if a = b in all components.";
    IallNe 0xa9 "CMP.all.ne" VECTOR Signed Integer 2 4 COMMUTES "All bits set if a and b differ in all components.";
    UallLt 0xaa "CMP.all.lt" VECTOR Unsigned Integer 2 4 NONE "All bits set if a < b, unsigned, in all components.";
    UallLe 0xab "CMP.all.le" VECTOR Unsigned Integer 2 4 NONE "All bits set if a <= b, unsigned, in all components.";
    IallLt 0xac "CMP.all.lt" VECTOR Signed Integer 2 4 NONE "All bits set if a < b, signed, in all components.";
    IallLe 0xad "CMP.all.le" VECTOR Signed Integer 2 4 NONE "All bits set if a <= b, signed, in all components.";
    IanyEq 0xb0 "CMP.any.eq" VECTOR Signed Integer 2 4 COMMUTES "All bits set if a = b in any component.";
    IanyNe 0xb1 "CMP.any.ne" VECTOR Signed Integer 2 4 COMMUTES "All bits set if a and b differ in any component.";
    UanyLt 0xb2 "CMP.any.lt" VECTOR Unsigned Integer 2 4 NONE "All bits set if a < b, unsigned, in any component.";
    UanyLe 0xb3 "CMP.any.le" VECTOR Unsigned Integer 2 4 NONE "All bits set if a <= b, unsigned, in any component.";
    IanyLt 0xb4 "CMP.any.lt" VECTOR Signed Integer 2 4 NONE "All bits set if a < b, signed, in any component.";
    IanyLe 0xb5 "CMP.any.le" VECTOR Signed Integer 2 4 NONE "All bits set if a <= b, signed, in any component.";
    I2f 0xb8 "I2F" ADD Signed Float 1 0 NONE "Signed a as a float, rounded to nearest even.";
    I2fRtz 0xb9 "I2F.rtz" ADD Signed Float 1 0 NONE "Signed a as a float, rounded to zero.";
    I2fRtn 0xba "I2F.rtn" ADD Signed Float 1 0 NONE "Signed a as a float, rounded down.";
    I2fRtp 0xbb "I2F.rtp" ADD Signed Float 1 0 NONE "Signed a as a float, rounded up.";
    U2f 0xbc "U2F" ADD Unsigned Float 1 0 NONE "Unsigned a as a float, rounded to nearest even.";
    U2fRtz 0xbd "U2F.rtz" ADD Unsigned Float 1 0 NONE "Unsigned a as a float, rounded to zero.";
    U2fRtn 0xbe "U2F.rtn" ADD Unsigned Float 1 0 NONE "Unsigned a as a float, rounded down.";
    U2fRtp 0xbf "U2F.rtp" ADD Unsigned Float 1 0 NONE "Unsigned a as a float, rounded up.";
    IcselV 0xc0 "CSEL.vector" SELECT_V Signed Integer 2 0 CONDITION "The bits of a where the vector condition has set bits, otherwise of b.";
    Icsel 0xc1 "CSEL.scalar" SELECT Signed Integer 2 0 CONDITION "The bits of a where the scalar condition has set bits, otherwise of b.";
    FcselV 0xc4 "FCSEL.vector" SELECT_V Float Float 2 0 CONDITION "a where the vector condition is true, otherwise b.";
    Fcsel 0xc5 "FCSEL.scalar" SELECT Float Float 2 0 CONDITION "a if the scalar condition is true, otherwise b.";
    Froundaway 0xc6 "FROUNDAWAY" ADD Float Float 1 0 NONE "a as an integer, rounded to nearest, halves away from zero.";
    Fatan2Pt2 0xe8 "FATAN2_PT2" LUT Float Float 2 0 NONE "The second part of atan2(a, b).";
    FpowPt1 0xec "FPOW_PT1" LUT Float Float 2 0 NONE "The first part of pow(a, b).";
    FpownPt1 0xed "FPOWN_PT1" LUT Float Float 2 0 NONE "The first part of pow(a, b) with an integer b.";
    FpowrPt1 0xee "FPOWR_PT1" LUT Float Float 2 0 NONE "The first part of pow(a, b) with a >= 0.";
    Frcp 0xf0 "FRCP" LUT Float Float 1 0 NONE "1 / a.";
    Frsqrt 0xf2 "FRSQRT" LUT Float Float 1 0 NONE "1 / sqrt(a).";
    Fsqrt 0xf3 "FSQRT" LUT Float Float 1 0 NONE "sqrt(a).";
    Fexp2 0xf4 "FEXP2" LUT Float Float 1 0 NONE "2 to the power of a.";
    Flog2 0xf5 "FLOG2" LUT Float Float 1 0 NONE "The binary logarithm of a.";
    Fsinpi 0xf6 "FSINPI" LUT Float Float 1 0 NONE "sin(pi * a).";
    Fcospi 0xf7 "FCOSPI" LUT Float Float 1 0 NONE "cos(pi * a).";
    Fatan2Pt1 0xf9 "FATAN2_PT1" LUT Float Float 2 0 NONE "The first part of atan2(a, b).";
}

impl AluOp {
    /// Whether the first and the second source have a meaning.
    pub fn reads(self) -> [bool; 2] {
        let row = self.row();
        [row.property != Property::Second, row.sources == 2 || row.property == Property::Second]
    }

    /// All rows of the table, in the order of the numbers.
    pub fn table() -> &'static [AluRow] {
        TABLE
    }
}
