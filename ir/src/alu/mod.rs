//! ALU opcodes: their table, their types and their constant evaluation.
//!
//! Values are untyped bit patterns; only the opcode of an instruction gives them a type. `table.rs` declares the
//! properties of each opcode; [`AluOp`], [`AluInfo`] and [`evaluate`] are generated from it.

mod evaluate;
pub(crate) mod half;
mod table;

use hashbrown::HashMap;
use std::fmt;
use std::sync::LazyLock;

pub use evaluate::evaluate;
pub(crate) use evaluate::sign_extend;
pub(crate) use half::fma_single;
use table::alu_opcodes;

use tgsi_environment::named_enum;

named_enum! {
    /// The interpretation of the bits of a value.
    BaseType {
        Invalid = 0 "invalid" "No type; what an unset `src_type` or `dest_type` index holds.",
        Int = 1 "int" "Two's complement integer.",
        Uint = 2 "uint" "Unsigned integer.",
        Bool = 3 "bool" "Boolean: 0/1 in 1 bit, 0/all ones in wider sizes.",
        Float = 4 "float" "IEEE 754 binary floating point of 16, 32 or 64 bits.",
    }
}

/// Type of an operand of an ALU instruction, or of the data of an intrinsic or texture instruction.
///
/// `bit_size` is 1, 8, 16, 32 or 64, or 0 for an unsized type, which gets its size from the operands of the
/// instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct AluType {
    /// Interpretation of the bits.
    pub base: BaseType,
    /// Size of a component in bits; 0 if unsized.
    pub bit_size: u8,
}

macro_rules! alu_types {
    ($($constant:ident = $base:ident $size:literal $name:literal;)*) => {
        impl AluType {
            $(
                #[doc = concat!("`", $name, "`")]
                pub const $constant: AluType = AluType { base: BaseType::$base, bit_size: $size };
            )*
            /// All types, including the invalid one.
            pub const ALL: &'static [AluType] = &[$(AluType::$constant),*];

            /// The name in the text form (`float32`, `uint`, `invalid`); types that do not exist (`float7`) are
            /// `invalid`.
            pub const fn name(self) -> &'static str {
                match (self.base, self.bit_size) {
                    $((BaseType::$base, $size) => $name,)*
                    _ => "invalid",
                }
            }

            /// Returns the type with this name: a base type, with or without a size.
            pub fn from_name(name: &str) -> Option<AluType> {
                match name {
                    $($name => Some(AluType::$constant),)*
                    _ => None,
                }
            }
        }
    };
}

alu_types! {
    INVALID = Invalid 0 "invalid";
    INT = Int 0 "int";
    INT1 = Int 1 "int1";
    INT8 = Int 8 "int8";
    INT16 = Int 16 "int16";
    INT32 = Int 32 "int32";
    INT64 = Int 64 "int64";
    UINT = Uint 0 "uint";
    UINT1 = Uint 1 "uint1";
    UINT8 = Uint 8 "uint8";
    UINT16 = Uint 16 "uint16";
    UINT32 = Uint 32 "uint32";
    UINT64 = Uint 64 "uint64";
    BOOL = Bool 0 "bool";
    BOOL1 = Bool 1 "bool1";
    BOOL8 = Bool 8 "bool8";
    BOOL16 = Bool 16 "bool16";
    BOOL32 = Bool 32 "bool32";
    FLOAT = Float 0 "float";
    FLOAT16 = Float 16 "float16";
    FLOAT32 = Float 32 "float32";
    FLOAT64 = Float 64 "float64";
}

impl AluType {
    /// The type with this base type and size (0 for unsized).
    pub const fn new(base: BaseType, bit_size: u8) -> AluType {
        AluType { base, bit_size }
    }

    /// Whether the instruction determines the size.
    pub const fn is_unsized(self) -> bool {
        self.bit_size == 0
    }

    /// The value stored in a constant index (`src_type`, `dest_type`): the size in bits 0..8, the number of the base
    /// type (invalid 0, int 1, uint 2, bool 3, float 4) in bits 8..11.
    pub const fn to_i32(self) -> i32 {
        ((self.base as i32) << 8) | self.bit_size as i32
    }

    /// Inverse of [`AluType::to_i32`]; any other number gives [`AluType::INVALID`].
    pub const fn from_i32(value: i32) -> AluType {
        let base = match value >> 8 {
            1 => BaseType::Int,
            2 => BaseType::Uint,
            3 => BaseType::Bool,
            4 => BaseType::Float,
            _ => return AluType::INVALID,
        };
        let bit_size = (value & 0xff) as u8;
        match bit_size {
            0 | 16 | 32 => AluType { base, bit_size },
            1 | 8 if !matches!(base, BaseType::Float) => AluType { base, bit_size },
            64 if !matches!(base, BaseType::Bool) => AluType { base, bit_size },
            _ => AluType::INVALID,
        }
    }
}

impl fmt::Display for AluType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Float controls of a shader.
///
/// Three bits for each property, for 16, 32 and 64 bits in this order: signed zero preserve (bits 0..3), infinity
/// preserve (3..6), NaN preserve (6..9), denormal preserve (9..12), denormal flush to zero (12..15), round to nearest
/// even (15..18), round toward zero (18..21). The preserve bits restrict passes; only the flush and round-toward-zero
/// bits affect [`evaluate`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub struct ExecutionMode(pub u32);

impl ExecutionMode {
    /// Nothing needs to be preserved; rounding to nearest even, denormals kept.
    pub const DEFAULT: ExecutionMode = ExecutionMode(0);

    const fn size_bit(self, first: u32, bit_size: u8) -> bool {
        let index = match bit_size {
            16 => 0,
            32 => 1,
            64 => 2,
            _ => return false,
        };
        self.0 >> (first + index) & 1 != 0
    }

    /// Whether the sign of zero must be preserved for floats of this size.
    pub const fn preserves_signed_zero(self, bit_size: u8) -> bool {
        self.size_bit(0, bit_size)
    }

    /// Whether infinities must be preserved for floats of this size.
    pub const fn preserves_infinity(self, bit_size: u8) -> bool {
        self.size_bit(3, bit_size)
    }

    /// Whether NaNs must be preserved for floats of this size.
    pub const fn preserves_nan(self, bit_size: u8) -> bool {
        self.size_bit(6, bit_size)
    }

    /// Whether denormal results of this size are flushed to zero.
    pub const fn flushes_denormals(self, bit_size: u8) -> bool {
        self.size_bit(12, bit_size)
    }

    /// Whether results of this size are rounded toward zero instead of to nearest even.
    pub const fn rounds_toward_zero(self, bit_size: u8) -> bool {
        self.size_bit(18, bit_size)
    }
}

/// Possible bit sizes of an unsized float.
const FLOATS: &[u8] = &[16, 32, 64];
/// Possible bit sizes of an unsized integer.
const INTS: &[u8] = &[1, 8, 16, 32, 64];
/// Possible bit sizes of an unsized boolean.
const BOOLS: &[u8] = &[1, 8, 16, 32];
/// Every type has a size.
const FIXED: &[u8] = &[];

const COMMUTATIVE01: u8 = 1;
const ASSOCIATIVE: u8 = 2;
const SELECTION: u8 = 4;
const NUMERIC_CONVERSION: u8 = 8;

/// A row of the table of opcodes.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AluInfo {
    /// Name in the text form.
    pub name: &'static str,
    /// Number of sources, 1 to 16.
    pub num_inputs: u8,
    /// Number of components of the result; 0 means per component, as many as the instruction's result has.
    pub output_size: u8,
    /// Type of the result.
    pub output_type: AluType,
    /// Number of components of each source; 0 means per component, as many as the instruction's result has.
    pub input_sizes: &'static [u8],
    /// Type of each source.
    pub input_types: &'static [AluType],
    /// Possible sizes of the unsized types; empty if no type is unsized.
    pub bit_sizes: &'static [u8],
    /// The first two sources may be swapped.
    pub commutative01: bool,
    /// `op(op(a, b), c)` equals `op(a, op(b, c))` (for floats: up to rounding).
    pub associative: bool,
    /// Source 0 selects source 1 or source 2.
    pub selection: bool,
    /// The opcode converts a value from one type to another.
    pub numeric_conversion: bool,
    /// Family of the opcode (`float-binary`, `convert`, ...).
    pub group: &'static str,
}

macro_rules! operand_size {
    () => {
        0
    };
    ($size:literal) => {
        $size
    };
}

macro_rules! declare_opcodes {
    ($($group:literal { $(
        $variant:ident $name:literal: $output:ident $([$output_size:literal])? =
            [$($input:ident $([$input_size:literal])?),*], $bit_sizes:ident, [$($property:ident)*], $formula:expr
            => $kind:ident $(|$($argument:ident),* $(; $context:ident)?| $value:expr)?;
    )* })*) => {
        /// Opcode of an ALU instruction.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum AluOp {
            $($(
                #[doc = concat!("`", $name, "`: `", $formula, "`")]
                $variant,
            )*)*
        }

        impl AluOp {
            /// All opcodes, in the order of the table; `ALL[op as usize] == op`.
            pub const ALL: &'static [AluOp] = &[$($(AluOp::$variant,)*)*];
        }

        static INFO: [AluInfo; AluOp::COUNT] = [$($(
            AluInfo {
                name: $name,
                num_inputs: [$(stringify!($input)),*].len() as u8,
                output_size: operand_size!($($output_size)?),
                output_type: AluType::$output,
                input_sizes: &[$(operand_size!($($input_size)?)),*],
                input_types: &[$(AluType::$input),*],
                bit_sizes: $bit_sizes,
                commutative01: (0 $(| $property)*) & COMMUTATIVE01 != 0,
                associative: (0 $(| $property)*) & ASSOCIATIVE != 0,
                selection: (0 $(| $property)*) & SELECTION != 0,
                numeric_conversion: (0 $(| $property)*) & NUMERIC_CONVERSION != 0,
                group: $group,
            },
        )*)*];

        static FORMULAS: [&str; AluOp::COUNT] = [$($($formula,)*)*];
    };
}

alu_opcodes!(declare_opcodes);

static BY_NAME: LazyLock<HashMap<&'static str, AluOp>> =
    LazyLock::new(|| AluOp::ALL.iter().map(|&op| (op.name(), op)).collect());

impl AluOp {
    /// Number of opcodes.
    pub const COUNT: usize = AluOp::ALL.len();

    /// The row of the table.
    #[inline]
    pub fn info(self) -> &'static AluInfo {
        &INFO[self as usize]
    }

    /// The result, in the notation of `ir/manual/alu.md`. It is not part of [`AluInfo`] because only manuals need it.
    pub fn formula(self) -> &'static str {
        FORMULAS[self as usize]
    }

    /// Name in the text form.
    #[inline]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the opcode with this name.
    pub fn from_name(name: &str) -> Option<AluOp> {
        BY_NAME.get(name).copied()
    }

    /// Whether the opcode combines scalars into a vector (`vec2` ... `vec16`).
    pub const fn is_vec(self) -> bool {
        matches!(self, AluOp::Vec2 | AluOp::Vec3 | AluOp::Vec4 | AluOp::Vec5 | AluOp::Vec8 | AluOp::Vec16)
    }

    /// The opcode that combines `count` scalars: `mov` for 1, `vec2` ... `vec16` for more; `None` if no value has this
    /// number of components.
    pub const fn vec(num_components: u8) -> Option<AluOp> {
        Some(match num_components {
            1 => AluOp::Mov,
            2 => AluOp::Vec2,
            3 => AluOp::Vec3,
            4 => AluOp::Vec4,
            5 => AluOp::Vec5,
            8 => AluOp::Vec8,
            16 => AluOp::Vec16,
            _ => return None,
        })
    }

    /// Whether the opcode only moves bits: `mov` and `vec2` ... `vec16`.
    pub const fn is_vec_or_mov(self) -> bool {
        matches!(self, AluOp::Mov) || self.is_vec()
    }

    /// Whether the opcode compares two values per component and returns a boolean (`flt`, `ieq32`, `bitnz`, ...).
    pub fn is_comparison(self) -> bool {
        matches!(self.info().group, "compare-float" | "compare-int" | "compare-bit")
    }

    /// Whether the opcode converts a value from one type to another (`f2i32`, `b2f32`, `i2imp`, ...).
    pub fn is_conversion(self) -> bool {
        self.info().numeric_conversion
    }

    /// Whether the first two sources may be swapped.
    pub fn is_commutative01(self) -> bool {
        self.info().commutative01
    }

    /// Whether source 0 selects source 1 or source 2.
    pub fn is_selection(self) -> bool {
        self.info().selection
    }

    /// Whether each component of the result depends only on the same component of all sources.
    pub fn is_componentwise(self) -> bool {
        let info = self.info();
        info.output_size == 0 && info.input_sizes.iter().all(|&size| size == 0)
    }

    /// Number of components that source `input` supplies if the result has `num_components`.
    pub fn input_components(self, input: usize, num_components: u8) -> u8 {
        match self.info().input_sizes.get(input) {
            Some(0) => num_components,
            Some(&size) => size,
            None => 0,
        }
    }
}

impl fmt::Display for AluOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
pub(crate) mod tests;
